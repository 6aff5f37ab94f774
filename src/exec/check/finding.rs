//! Findings: what is wrong, and where.

use std::fmt::{self, Display, Formatter};

use warploom_runtime::fault::FaultKind;
use warploom_runtime::launch;

use super::super::Kernel;
use super::super::fault::Fault;
use super::super::guest::SourcePlace;
use super::sites::Site;

/// An allocation of guest memory. Its bytes are `address` and the `bytes - 1` after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    pub name: String,
    pub address: u64,
    pub bytes: u64,
}

/// The actions of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Load,
    Store,
    Atomic,
    /// A barrier of the block.
    Barrier,
    /// A statement that waits for lanes of the warp, which a mask names.
    Sync,
    /// `malloc` and `free` of device code.
    Allocate,
    Free,
}

impl Action {
    pub const fn name(self) -> &'static str {
        match self {
            Action::Load => "load",
            Action::Store => "store",
            Action::Atomic => "atomic",
            Action::Barrier => "barrier",
            Action::Sync => "sync",
            Action::Allocate => "malloc",
            Action::Free => "free",
        }
    }
}

/// The memory of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    Global,
    Shared,
    Local,
}

impl MemoryKind {
    pub const fn name(self) -> &'static str {
        match self {
            MemoryKind::Global => "global",
            MemoryKind::Shared => "shared",
            MemoryKind::Local => "local",
        }
    }
}

/// An instruction of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePlace {
    pub action: Action,
    /// The size of an access.
    pub bytes: u32,
    /// The function that contains the instruction.
    pub function: Option<String>,
    /// The offset of the instruction in its section, as in disassemblies.
    pub pc: u64,
    pub instruction: Option<String>,
    pub line: Option<SourcePlace>,
}

/// A thread of a launch, or some thread of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    pub block: [u32; 3],
    pub warp: u32,
    /// `None`: several lanes.
    pub lane: Option<u32>,
}

/// The mistake of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistake {
    /// It passes the end of this allocation.
    PastEnd(Allocation),
    /// It accesses an allocation that has been freed.
    Freed(Allocation),
    /// It allocates memory that nothing frees before the launch ends.
    Leaked(Allocation),
    /// It accesses bytes that another thread accesses, without an order between the two.
    Race { other: CodePlace, who: Who },
    /// It reads bytes that nothing has written.
    Unwritten,
    /// A barrier that all lanes of a warp must execute together, while these lanes are at another.
    Apart { lanes: u64 },
    /// The mask names lanes that have exited.
    Exited { lanes: u64 },
    /// The mask does not name the lane itself.
    Unnamed,
    /// A barrier for so many threads, which others expect to be for `others` threads. 0 stands for
    /// all.
    Threads { here: u32, others: u32 },
}

/// Mistakes of one kind by one instruction. The fields describe the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    pub mistake: Mistake,
    pub place: CodePlace,
    pub memory: MemoryKind,
    /// The guest address of global memory, the offset in shared or local memory, or the number of
    /// a barrier.
    pub address: u64,
    pub kernel: String,
    pub block: [u32; 3],
    pub warp: u32,
    pub lane: u32,
    /// How often lanes made the mistake.
    pub count: u64,
}

impl Finding {
    /// Returns the name of the check.
    pub const fn check(&self) -> &'static str {
        match self.mistake {
            Mistake::PastEnd(_) | Mistake::Freed(_) | Mistake::Leaked(_) => "memory",
            Mistake::Race { .. } => "race",
            Mistake::Unwritten => "init",
            Mistake::Apart { .. }
            | Mistake::Exited { .. }
            | Mistake::Unnamed
            | Mistake::Threads { .. } => "sync",
        }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Finding { place, address, memory, block, warp, lane, kernel, .. } = self;
        let (action, bytes) = (place.action.name(), place.bytes);
        let s = if bytes == 1 { "" } else { "s" };
        let access = format_args!("{action} of {bytes} byte{s}");
        let space = memory.name();
        match &self.mistake {
            Mistake::PastEnd(of) => write!(
                f,
                "{access} at offset {} of `{}`, which has {} bytes",
                address.wrapping_sub(of.address),
                of.name,
                of.bytes
            )?,
            Mistake::Freed(of) => write!(
                f,
                "{access} at offset {} of `{}`, which has been freed ({} bytes)",
                address.wrapping_sub(of.address),
                of.name,
                of.bytes
            )?,
            Mistake::Leaked(of) => {
                write!(f, "malloc of {} bytes that nothing frees before the launch ends", of.bytes)?
            }
            Mistake::Race { .. } if *memory == MemoryKind::Global => {
                write!(f, "race: {access} at {address:#x} of global memory")?;
            }
            Mistake::Race { .. } => {
                write!(f, "race: {access} at offset {address} of {space} memory")?;
            }
            Mistake::Unwritten if *memory == MemoryKind::Global => {
                write!(f, "{access} at {address:#x} of global memory, which nothing has written")?;
            }
            Mistake::Unwritten => {
                let writer = if *memory == MemoryKind::Local { "lane" } else { "block" };
                write!(
                    f,
                    "{access} at offset {address} of {space} memory, which the {writer} has not \
                     written"
                )?;
            }
            Mistake::Apart { lanes } => write!(
                f,
                "barrier in divergent code: lanes {lanes:#x} of the warp are at another barrier"
            )?,
            Mistake::Exited { lanes } => {
                write!(f, "the mask names lanes {lanes:#x}, which have exited")?;
            }
            Mistake::Unnamed => f.write_str("the mask does not name the lane itself")?,
            Mistake::Threads { here, others } => write!(
                f,
                "barrier {address} for {} threads, while others wait there for {}",
                Threads(*here),
                Threads(*others)
            )?,
        }
        write!(f, ": pc {:#x}, block {block:?}, warp {warp}, lane {lane}", place.pc)?;
        if let Mistake::PastEnd(_) | Mistake::Freed(_) = self.mistake {
            write!(f, ", address {address:#x}")?;
        }
        write!(f, ", in kernel `{kernel}`")?;
        place.rest(f, kernel)?;
        if let Mistake::Race { other, who } = &self.mistake {
            let other_action = match other.action {
                Action::Load => "a load",
                Action::Store => "a store",
                _ => "an atomic",
            };
            write!(f, "; with {other_action} at pc {:#x} by ", other.pc)?;
            let is_own_block = who.block == self.block;
            if !is_own_block {
                write!(f, "block {:?}, ", who.block)?;
            }
            write!(f, "warp {}", who.warp)?;
            if let Some(lane) = who.lane.filter(|_| is_own_block && who.warp == self.warp) {
                write!(f, ", lane {lane}")?;
            }
            other.rest(f, kernel)?;
            f.write_str(", without an order between them")?;
        }
        let times = match place.action {
            Action::Load | Action::Store | Action::Atomic => "accesses",
            Action::Barrier | Action::Sync | Action::Allocate | Action::Free => "times",
        };
        match self.count {
            1 => Ok(()),
            count => write!(f, " ({count} {times})"),
        }
    }
}

/// The threads of a barrier, as text.
struct Threads(u32);

impl Display for Threads {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("all"),
            threads => write!(f, "{threads}"),
        }
    }
}

impl CodePlace {
    /// Returns the place of a site.
    pub(super) fn of(kernel: &Kernel<'_>, site: &Site) -> CodePlace {
        let fault = launch::Fault {
            kind: FaultKind::AddressOutOfRange,
            pc: site.pc,
            block: [0; 3],
            warp: 0,
            lane: 0,
            address: 0,
            waiting: vec![],
            spinning: 0,
        };
        let Fault { function, offset: pc, instruction, line, .. } =
            Fault::new(fault, None, kernel.program, kernel.id);
        CodePlace { action: site.action, bytes: site.bytes, function, pc, instruction, line }
    }

    /// Writes function, line and instruction.
    fn rest(&self, f: &mut Formatter<'_>, kernel: &str) -> fmt::Result {
        if let Some(function) = self.function.as_ref().filter(|name| *name != kernel) {
            write!(f, ", function `{function}`")?;
        }
        if let Some(line) = &self.line {
            write!(f, ", {line}")?;
        }
        match &self.instruction {
            Some(text) => write!(f, ": {text}"),
            None => Ok(()),
        }
    }
}
