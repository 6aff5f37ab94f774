//! Properties of each kind of operation, whatever its operands are: one table that names every
//! kind.
//!
//! A pass asks here instead of listing kinds. A question about one pattern still matches
//! operations.

use super::{Op, Special};

/// Properties of a kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpTraits {
    /// Equal operations of a block have equal results, and the operation has no other effect.
    pub pure: bool,
    /// Lane i of the result depends only on lanes i of the operands; for masks, on bits i.
    pub lane_wise: bool,
    /// Lanes receive values of other lanes.
    pub cross_lane: bool,
    /// The operation acts in the lanes of its execution mask: it has a guard, and may ignore the
    /// active mask.
    pub masked: bool,
    /// The lane of each bit uses this bit of operands that are masks, and no other bit.
    pub masks_by_lane: bool,
    /// The operation touches guest memory.
    pub memory: bool,
    /// The operation reads registers.
    pub reads_registers: bool,
    /// The operation writes registers.
    pub writes_registers: bool,
    /// The operation has an effect besides results and registers, or may raise a fault.
    pub effect: bool,
    /// A block may restart after the operation: memory and arrays are unchanged. (It may have
    /// written lane registers, each of which needs its own check.)
    pub repeatable: bool,
    /// The result tells how much has been executed.
    pub reads_clock: bool,
    /// The operation treats all NaN operands alike: it is float arithmetic.
    pub nans_alike: bool,
}

/// A computation on lanes.
const COMPUTES: OpTraits = OpTraits {
    pure: true,
    lane_wise: true,
    cross_lane: false,
    masked: false,
    masks_by_lane: false,
    memory: false,
    reads_registers: false,
    writes_registers: false,
    effect: false,
    repeatable: true,
    reads_clock: false,
    nans_alike: false,
};
/// A computation on lanes of floats.
const FLOATS: OpTraits = OpTraits { nans_alike: true, ..COMPUTES };
/// A computation of the warp as a whole.
const OF_THE_WARP: OpTraits = OpTraits { lane_wise: false, ..COMPUTES };
const EXCHANGES: OpTraits = OpTraits { cross_lane: true, ..OF_THE_WARP };
const READS: OpTraits =
    OpTraits { pure: false, lane_wise: false, reads_registers: true, ..COMPUTES };
const WRITES: OpTraits =
    OpTraits { reads_registers: false, writes_registers: true, masked: true, ..READS };
const LOADS: OpTraits = OpTraits {
    pure: false,
    lane_wise: false,
    masked: true,
    memory: true,
    effect: true,
    ..COMPUTES
};
const STORES: OpTraits = OpTraits { repeatable: false, ..LOADS };

impl Op {
    /// The properties of the operation's kind.
    pub fn traits(&self) -> OpTraits {
        match self {
            Op::Const { .. }
            | Op::Splat { .. }
            | Op::LaneId
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::ICmp { .. }
            | Op::Convert { .. }
            | Op::Concat { .. }
            | Op::IntToFloat { .. }
            | Op::Shared { .. }
            | Op::Unpack { .. }
            | Op::Pack { .. } => COMPUTES,
            Op::AddCarry { .. } | Op::Select { .. } => OpTraits { masks_by_lane: true, ..COMPUTES },
            Op::UniformSelect { .. } => OF_THE_WARP,
            Op::Special(Special::Clock) => OpTraits { reads_clock: true, ..COMPUTES },
            Op::Special(
                Special::Tid(_)
                | Special::Ctaid(_)
                | Special::Ntid(_)
                | Special::Nctaid(_)
                | Special::WarpId
                | Special::WarpSlot
                | Special::LaunchMask
                | Special::BarrierResult
                | Special::BarrierReleased
                | Special::SharedBytes,
            ) => COMPUTES,
            Op::FCmp { .. }
            | Op::FUnary { .. }
            | Op::FBinary { .. }
            | Op::Fma { .. }
            | Op::FConvert { .. }
            | Op::FloatToInt { .. } => FLOATS,
            Op::LaneGather { .. }
            | Op::LaneRead { .. }
            | Op::LaneScatter { .. }
            | Op::Product { .. } => EXCHANGES,
            Op::RfRead { .. } | Op::RfGather { .. } | Op::RegionRead { .. } => READS,
            Op::RfWrite { .. } | Op::RfScatter { .. } => WRITES,
            Op::RegionWrite { .. } => OpTraits { repeatable: false, ..WRITES },
            Op::Load { .. } => OpTraits { masks_by_lane: true, ..LOADS },
            Op::Store { .. } | Op::Atomic { .. } => OpTraits { masks_by_lane: true, ..STORES },
            Op::Wide { .. } => STORES,
            Op::Sample { .. } => LOADS,
            Op::Raise { .. } => OpTraits { memory: false, ..LOADS },
            Op::Observe { .. } => OpTraits { memory: false, ..STORES },
            Op::Fence => OpTraits { masked: false, ..LOADS },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BinaryOp, Value};

    const ALL: [(&str, OpTraits); 10] = [
        ("COMPUTES", COMPUTES),
        ("FLOATS", FLOATS),
        ("OF_THE_WARP", OF_THE_WARP),
        ("EXCHANGES", EXCHANGES),
        ("READS", READS),
        ("WRITES", WRITES),
        ("LOADS", LOADS),
        ("STORES", STORES),
        ("Raise", OpTraits { memory: false, ..LOADS }),
        ("Fence", OpTraits { masked: false, ..LOADS }),
    ];

    #[test]
    fn rows_do_not_contradict_themselves() {
        for (name, row) in ALL {
            let touches = row.effect || row.writes_registers || row.reads_registers || row.memory;
            assert!(!(row.pure && touches), "{name} is pure and does something");
            assert!(!(row.lane_wise && row.cross_lane), "{name}");
            assert!(row.pure || touches, "{name} does nothing and is not pure");
            assert!(!row.memory || row.effect, "{name} touches memory, and cannot fault");
        }
    }

    #[test]
    fn operations_with_a_guard_are_masked() {
        let (a, b) = (Value(0), Value(1));
        let raise = Op::Raise { fault: crate::LaneFault::Misaligned, guard: None, nomask: true };
        for op in
            [Op::Binary { op: BinaryOp::Add, a, b }, raise, Op::Fence, Op::LaneRead { a, lane: b }]
        {
            assert_eq!(op.traits().masked, op.masking().is_some(), "{op:?}");
        }
    }
}
