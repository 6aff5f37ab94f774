//! The outcome of a launch.

use std::fmt;

use crate::fault::FaultKind;

/// Sums over all worker threads; see the fields of the same names in
/// [`WarpContext`](crate::warp::WarpContext).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub instructions: u64,
    pub lane_instructions: u64,
    pub helper_calls: u64,
    pub interp_instructions: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub counts: Counts,
    /// Blocks that ended without a fault.
    pub blocks_done: u64,
    pub fault: Option<Fault>,
    /// Whether a block was found to repeat a state. The number of rounds of its loop then depends
    /// on the engine.
    pub spun: bool,
}

/// The fault of the lowest faulting block (by linear index, x fastest). A cooperative launch stops
/// at the first fault that it meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// The address of the instruction in bytes. For stuck barriers and exceeded time, the address
    /// at which the warp would go on.
    pub pc: u64,
    pub block: [u32; 3],
    pub warp: u32,
    pub lane: u32,
    /// Guest address, 0 where there is none.
    pub address: u64,
    /// For a stuck barrier or a deadlock: the warps and lanes that wait.
    pub waiting: Vec<Waiting>,
    /// For a deadlock of blocks: the number of blocks that have begun and cannot go on.
    pub spinning: u64,
}

/// A warp or lanes of it that wait at a barrier, or lanes that wait for other lanes of their warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub warp: u32,
    /// One bit for each lane that waits by itself. `None`: the warp waits as a whole.
    pub lanes: Option<u64>,
    /// The barrier's number. `None`: lanes wait for other lanes of their warp, or the warp waits at
    /// the barrier of the cluster.
    pub barrier: Option<u32>,
    /// The address at which the warp or its lanes would go on.
    pub pc: u64,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { kind, pc, block: [x, y, z], warp, lane, address, waiting, spinning } = self;
        write!(f, "{kind} at pc {pc:#x}, block ({x}, {y}, {z}), warp {warp}")?;
        match kind {
            FaultKind::Deadlock if *spinning == 1 => {
                write!(f, "; the block waits for what no other changes")
            }
            FaultKind::Deadlock if *spinning > 1 => {
                write!(f, "; {spinning} blocks wait, each for what no other changes")
            }
            FaultKind::StuckBarrier | FaultKind::Deadlock => {
                let follows = |a: &Waiting, b: &Waiting| {
                    (a.warp + 1, a.lanes, a.barrier, a.pc) == (b.warp, b.lanes, b.barrier, b.pc)
                };
                for group in waiting.chunk_by(follows) {
                    let (first, last) = (group[0], group[group.len() - 1]);
                    let warps = if group.len() == 1 { "warp" } else { "warps" };
                    write!(f, "; ")?;
                    if let Some(lanes) = first.lanes {
                        write!(f, "lanes {lanes:#x} of ")?;
                    }
                    write!(f, "{warps} {}", first.warp)?;
                    if group.len() > 1 {
                        write!(f, " to {}", last.warp)?;
                    }
                    match first.barrier {
                        Some(barrier) => {
                            write!(f, " at barrier {barrier}, before pc {:#x}", first.pc)?
                        }
                        None => write!(f, " before pc {:#x}", first.pc)?,
                    }
                }
                Ok(())
            }
            FaultKind::BudgetExceeded | FaultKind::TimeExceeded => Ok(()),
            FaultKind::MisalignedAddress
            | FaultKind::AddressOutOfRange
            | FaultKind::InvalidAddressSpace
            | FaultKind::InvalidFree => {
                write!(f, ", lane {lane}, address {address:#x}")
            }
            _ => write!(f, ", lane {lane}"),
        }
    }
}
