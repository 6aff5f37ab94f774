//! What a kernel of a plain stream of GFX9 instructions has in place of a descriptor: [`RawKernel`].

use super::hsaco::{FloatMode, SystemSgpr};

/// How waves start. What no entry names is 0; no two entries overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawKernel {
    /// VGPRs of a lane, 1 to 256.
    pub vgprs: u32,
    /// Scratch of a lane in bytes. The memory itself is the caller's: waves only learn how far into it theirs begins.
    pub scratch_bytes: u32,
    pub mode: FloatMode,
    /// By first register; all registers are below 104.
    pub sgpr: Vec<(u8, ScalarStart)>,
    /// By first register; all registers are below `vgprs`.
    pub vgpr: Vec<(u8, VectorStart)>,
}

/// What SGPRs start with. Parameters are those of the [`Function`](super::Function), by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarStart {
    /// The words of a parameter, one in each register.
    Param(usize),
    System(SystemSgpr),
    /// A parameter is the address of a word for each warp of the launch.
    Warps(usize),
}

/// What VGPRs start with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorStart {
    /// The words of a parameter, one in each register, the same in all lanes.
    Param(usize),
    /// A parameter is the address of a word for each lane of the block, x fastest.
    Lanes(usize),
    /// A parameter is the address of a word for each lane of the launch, of blocks in a line.
    Row(usize),
    /// Index of the lane in its block on an axis.
    WorkItemId(u8),
}
