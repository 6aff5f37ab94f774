//! The start of a plain GFX9 stream's kernel, instead of a descriptor: [`RawKernel`].

use super::hsaco::{FloatMode, SystemSgpr};

/// How waves start. Registers that no entry names are 0; no two entries overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawKernel {
    /// The VGPRs of a lane, 1 to 256.
    pub vgprs: u32,
    /// The scratch of a lane in bytes.
    ///
    /// The caller provides the memory: waves only learn the offset of their own part.
    pub scratch_bytes: u32,
    pub mode: FloatMode,
    /// Entries by first register. All registers are below 104.
    pub sgpr: Vec<(u8, ScalarStart)>,
    /// Entries by first register. All registers are below `vgprs`.
    pub vgpr: Vec<(u8, VectorStart)>,
}

/// The initial value of SGPRs.
///
/// Parameters are the parameters of the [`Function`](super::Function), by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarStart {
    /// The words of a parameter, one in each register.
    Param(usize),
    System(SystemSgpr),
    /// A word for each warp of the launch; the parameter is the array's address.
    Warps(usize),
}

/// The initial value of VGPRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorStart {
    /// The words of a parameter, one in each register, equal in all lanes.
    Param(usize),
    /// A word for each lane of the block, x fastest; the parameter is the array's address.
    Lanes(usize),
    /// A word for each lane of the launch, blocks in a line; the parameter is the array's address.
    Row(usize),
    /// The index of the lane in its block on an axis.
    WorkItemId(u8),
}
