//! Properties of a launch that a translation relies on: the shape of its blocks, and their number.

use warploom_runtime::launch::{MAX_BLOCK_LANES, MAX_GRID};

use super::Class;

/// How a function is executed.
#[derive(Clone, Copy, Debug)]
pub struct Execution {
    /// The launches that code is for.
    pub launch: Launched,
    /// The number of lanes that the back end executes at a time.
    pub chunk: u32,
}

/// The properties of a launch that a translation relies on. They never depend on parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Launched {
    pub block: LaunchClass,
    pub grid: GridClass,
}

impl Launched {
    pub fn of(grid: [u32; 3], block: [u32; 3], lanes: u32, chunk: u32) -> Launched {
        Launched { block: LaunchClass::of(block, lanes, chunk), grid: GridClass::of(grid, block) }
    }
}

/// Blocks of this class in grids of any size.
impl From<LaunchClass> for Launched {
    fn from(block: LaunchClass) -> Launched {
        Launched { block, grid: GridClass::Any }
    }
}

/// Bounds of the number of blocks along x and of the lanes of a block.
///
/// Where these bounds prove that `ctaid.x * ntid.x + tid.x` stays below 2^31, values that are
/// evenly spaced in 32 bits are evenly spaced in 64 bits too, whichever type the source has for
/// indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GridClass {
    /// At most 2^14 blocks of any valid size.
    Small,
    /// At most 2^20 blocks of at most 2^10 lanes.
    Medium,
    Any,
}

impl GridClass {
    pub fn of(grid: [u32; 3], block: [u32; 3]) -> GridClass {
        let lanes = block.iter().copied().map(u64::from).product::<u64>();
        let holds =
            |class: &GridClass| u64::from(grid[0]) <= class.blocks() && lanes <= class.lanes();
        [GridClass::Small, GridClass::Medium].into_iter().find(holds).unwrap_or(GridClass::Any)
    }

    /// The most blocks along x of a grid of this class.
    pub fn blocks(self) -> u64 {
        match self {
            GridClass::Small => 1 << 14,
            GridClass::Medium => 1 << 20,
            GridClass::Any => MAX_GRID[0].into(),
        }
    }

    /// The most lanes of a block of this class.
    pub fn lanes(self) -> u64 {
        match self {
            GridClass::Small | GridClass::Any => MAX_BLOCK_LANES.into(),
            GridClass::Medium => 1 << 10,
        }
    }
}

/// The property of a launch's block size that a translation relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaunchClass {
    /// One-dimensional blocks of any size: x runs on from lane to lane, y and z are 0.
    Line,
    /// x is a multiple of the warp: y and z are uniform.
    Warp,
    /// x is a multiple of the chunk: y and z are the same in a chunk.
    Chunk,
    Any,
}

impl LaunchClass {
    pub const ALL: [LaunchClass; 4] =
        [LaunchClass::Line, LaunchClass::Warp, LaunchClass::Chunk, LaunchClass::Any];

    /// Returns the class of blocks of this size, for warps of so many lanes in chunks of `chunk`.
    pub fn of(block: [u32; 3], lanes: u32, chunk: u32) -> LaunchClass {
        if block[1] == 1 && block[2] == 1 {
            LaunchClass::Line
        } else if block[0].is_multiple_of(lanes) && lanes.is_multiple_of(chunk) {
            LaunchClass::Warp
        } else if block[0].is_multiple_of(chunk) && lanes.is_multiple_of(chunk) {
            LaunchClass::Chunk
        } else {
            LaunchClass::Any
        }
    }

    /// Returns the class of the thread index along an axis.
    pub(super) fn tid(self, axis: u8) -> Class {
        match (self, axis) {
            (LaunchClass::Any, _) => Class::Varying,
            (_, 0) => Class::Affine { step: 1, exact: true },
            (LaunchClass::Line | LaunchClass::Warp, _) => Class::Uniform,
            (LaunchClass::Chunk, _) => Class::SAME_IN_CHUNK,
        }
    }
}
