//! The interface between JIT code and Rust: field offsets, exit codes, and areas for helpers.

use warploom_runtime::warp::{ENGINE_WORDS, WarpContext};

/// An entry of a region. It takes the context and the block to enter at, and returns an exit code.
pub type Entry = unsafe extern "C" fn(*mut WarpContext<'_>, u32) -> u32;

/// The exit code, beside `ExitCode`, to go on at `WarpContext::resume` in another region.
pub const CONTINUE: u32 = 64;
/// The exit code to go on at `WarpContext::resume` in code of [`crate::Effort::Quick`], until that
/// code leaves the region. Quick code keeps lanes in lockstep.
pub const CAREFUL: u32 = 65;

pub use warploom_runtime::warp::offsets::*;

/// Words of [`WarpContext::engine`] for arguments and results of helpers: addresses, then values of
/// up to 64 lanes.
pub const SCRATCH_WORDS: usize = 256;
/// Bytes behind the scratch words, for spilled values.
pub const SPILL_BYTES: usize = 1 << 11;
/// Words behind the spilled values, for host addresses of strips of lanes.
pub const STRIP_WORDS: usize = 1 << 9;

/// The word with the address of the running code's [`crate::descriptions::Descriptions`]. No helper
/// uses this word.
pub(crate) const DESCRIPTIONS: usize = 254;

pub const SCRATCH: i32 = ENGINE;
pub const SPILLS: i32 = SCRATCH + 8 * SCRATCH_WORDS as i32;
pub const STRIPS: i32 = SPILLS + SPILL_BYTES as i32;

const _: () = assert!(
    SCRATCH_WORDS + SPILL_BYTES / 8 + STRIP_WORDS <= ENGINE_WORDS,
    "the engine's area is too small"
);

/// Bytes of the host's stack for code of a region: threads may have only 2 MiB.
pub const MAX_FRAME: u32 = 1 << 18;
