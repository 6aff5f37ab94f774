//! The configuration of a launch, and the reasons to refuse it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::context::ZERO_BANK;
use crate::observe::Observer;
use crate::warp::{CONST_BANK_BYTES, CONST_BANKS};
use crate::window::WINDOW_BYTES;

/// Blocks of a grid along x, and along y and z (CUDA's limits).
pub const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];

/// The most lanes of a block that any launch can allow. Engines rely on it.
pub const MAX_BLOCK_LANES: u32 = 1 << 16;

pub const MAX_THREADS: usize = 1024;

/// A constant bank: 64 KiB, zero after its content.
pub struct ConstBank {
    /// `None` only while the bank is dropped.
    bytes: Option<Box<BankBytes>>,
    content: usize,
}

#[repr(align(64))]
struct BankBytes([u8; CONST_BANK_BYTES]);

/// Banks that are zero again, for reuse: clearing one takes as long as a short launch.
static SPARE_BANKS: Mutex<Vec<Box<BankBytes>>> = Mutex::new(Vec::new());
const MAX_SPARE_BANKS: usize = 64;

impl ConstBank {
    pub fn new(content: &[u8]) -> Result<Arc<ConstBank>, LaunchError> {
        if content.len() > CONST_BANK_BYTES {
            return Err(LaunchError::ConstBankTooLong { bytes: content.len() });
        }
        let spare = SPARE_BANKS.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut bytes = spare.unwrap_or_else(|| Box::new(BankBytes([0; CONST_BANK_BYTES])));
        bytes.0[..content.len()].copy_from_slice(content);
        Ok(Arc::new(ConstBank { bytes: Some(bytes), content: content.len() }))
    }

    pub fn bytes(&self) -> &[u8; CONST_BANK_BYTES] {
        self.bytes.as_ref().map_or(&ZERO_BANK, |bytes| &bytes.0)
    }
}

impl Drop for ConstBank {
    fn drop(&mut self) {
        let Some(mut bytes) = self.bytes.take() else { return };
        bytes.0[..self.content].fill(0);
        let mut spare = SPARE_BANKS.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MAX_SPARE_BANKS {
            spare.push(bytes);
        }
    }
}

impl std::fmt::Debug for ConstBank {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ConstBank({} bytes)", self.content)
    }
}

/// The configuration of a launch. [`LaunchConfig::new`] has the defaults; callers then set the
/// fields.
#[derive(Clone, Debug)]
pub struct LaunchConfig {
    /// Blocks per axis.
    pub grid: [u32; 3],
    /// Lanes of a block per axis.
    pub block: [u32; 3],
    /// Shared memory of a block in bytes, static and dynamic; zeroed for each block.
    pub shared_bytes: u32,
    /// Local memory of a lane in bytes; rounded up to a multiple of 16 and zeroed for each warp.
    pub local_bytes: u32,
    /// Worker threads, 1 to [`MAX_THREADS`]. With one, everything happens in the same order each
    /// time.
    pub threads: usize,
    /// Guest instructions that the launch may count; with n workers, up to n times as many.
    ///
    /// If a warp loops without counted instructions, its back edges and barriers count instead.
    pub instruction_limit: Option<u64>,
    pub time_limit: Option<Duration>,
    /// All blocks are resident at once and take turns, so that they may wait for each other.
    pub cooperative: bool,
    /// The constant banks. An unset bank reads 0.
    pub constants: [Option<Arc<ConstBank>>; CONST_BANKS],
    /// The most lanes that a block may have, up to [`MAX_BLOCK_LANES`].
    pub max_block_lanes: u32,
    /// The most host memory, in bytes, that register files, shared and local memory may need at
    /// once.
    pub max_resident_bytes: u64,
    /// Blocks that may be set aside, so that others run, in addition to the blocks that run at
    /// once.
    pub aside_blocks: u64,
    /// The launch ends with a deadlock when no block has been able to go on for this time.
    ///
    /// The time is more than 0 if others change the memory meanwhile.
    pub deadlock_after: Duration,
    /// Hears of the events that code tells of.
    pub observer: Option<Arc<dyn Observer>>,
    /// Back edges after which a warp that runs for the first time yields. A warp that has yielded
    /// gets a sixteenth while others can run.
    pub back_edges: u64,
}

impl LaunchConfig {
    /// Returns a configuration with one thread, no limits, blocks of up to 1024 lanes and 2 GiB of
    /// resident state.
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> LaunchConfig {
        LaunchConfig {
            grid,
            block,
            shared_bytes: 0,
            local_bytes: 0,
            threads: 1,
            instruction_limit: None,
            time_limit: None,
            cooperative: false,
            constants: [const { None }; CONST_BANKS],
            max_block_lanes: 1024,
            max_resident_bytes: 2 << 30,
            aside_blocks: 4096,
            deadlock_after: Duration::ZERO,
            observer: None,
            back_edges: 1 << 14,
        }
    }

    /// Returns the number of worker threads that the launch uses.
    ///
    /// With one worker, no other thread touches the guest's memory on its behalf, and an engine may
    /// do without atomic instructions.
    pub fn workers(&self) -> usize {
        self.threads.min(usize::try_from(self.blocks()).unwrap_or(usize::MAX))
    }

    /// Blocks of the grid; less than 2^63 once [`LaunchConfig::check`] has passed.
    pub(super) fn blocks(&self) -> u64 {
        self.grid.iter().fold(1, |product, &n| product.saturating_mul(u64::from(n)))
    }

    /// Blocks that may be alive at once.
    pub(super) fn resident_blocks(&self) -> u64 {
        if self.cooperative { self.blocks() } else { self.workers() as u64 }
    }

    /// Blocks that may be set aside at once.
    pub(super) fn blocks_aside(&self) -> u64 {
        // One worker may have all blocks, of which it runs one.
        if self.cooperative { 0 } else { self.aside_blocks.min(self.blocks().saturating_sub(1)) }
    }

    /// Returns a bound of `WarpContext::slot` in a launch whose warps have `lanes` lanes.
    pub fn warp_slots(&self, lanes: u32) -> u64 {
        self.resident_blocks()
            .saturating_add(self.blocks_aside())
            .saturating_mul(self.block_warps(lanes))
    }

    /// Limits the blocks that may be set aside, so that the memory that each warp has by its slot,
    /// `warp_bytes`, stays small beside the memory of the blocks that run at once.
    pub fn limit_aside(&mut self, warp_bytes: u64, lanes: u32) {
        const MOST: u64 = 16 << 20;
        let block = warp_bytes.saturating_mul(self.block_warps(lanes));
        self.aside_blocks = self.aside_blocks.min(MOST.checked_div(block).unwrap_or(u64::MAX));
    }

    /// Warps of a block.
    fn block_warps(&self, lanes: u32) -> u64 {
        let block =
            self.block.iter().fold(1, |product: u64, &n| product.saturating_mul(u64::from(n)));
        block.div_ceil(u64::from(lanes.max(1)))
    }

    /// Lanes of a block.
    pub(super) fn block_lanes(&self) -> u32 {
        self.block.iter().product()
    }

    /// Checks all conditions that do not depend on the engine.
    pub(super) fn check(&self) -> Result<(), LaunchError> {
        if self.grid.contains(&0) || self.block.contains(&0) {
            return Err(LaunchError::Empty { grid: self.grid, block: self.block });
        }
        if self.grid.iter().zip(MAX_GRID).any(|(&n, max)| n > max) {
            return Err(LaunchError::GridTooLarge { grid: self.grid });
        }
        let lanes =
            self.block.iter().fold(1u64, |product, &n| product.saturating_mul(u64::from(n)));
        let limit = self.max_block_lanes.min(MAX_BLOCK_LANES);
        if lanes > u64::from(limit) {
            return Err(LaunchError::BlockTooLarge { block: self.block, lanes, limit });
        }
        for (what, bytes) in [("shared", self.shared_bytes), ("local", self.local_bytes)] {
            if u64::from(bytes) > WINDOW_BYTES {
                return Err(LaunchError::WindowExceeded { what, bytes });
            }
        }
        if !(1..=MAX_THREADS).contains(&self.threads) {
            return Err(LaunchError::BadThreads { threads: self.threads });
        }
        Ok(())
    }
}

/// Why a launch did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    #[error("a grid of {grid:?} blocks of {block:?} lanes: no dimension may be 0")]
    Empty { grid: [u32; 3], block: [u32; 3] },
    #[error("a grid of {grid:?} blocks is more than {MAX_GRID:?}")]
    GridTooLarge { grid: [u32; 3] },
    #[error("a block of {block:?} has {lanes} lanes, more than {limit}")]
    BlockTooLarge { block: [u32; 3], lanes: u64, limit: u32 },
    #[error("{bytes} bytes of {what} memory are more than its window of 16 MiB")]
    WindowExceeded { what: &'static str, bytes: u32 },
    #[error("{threads} worker threads: a launch needs 1 to {MAX_THREADS}")]
    BadThreads { threads: usize },
    #[error("a warp of {lanes} lanes: an engine's warps have 1 to 64")]
    BadLanes { lanes: u32 },
    #[error("{bytes} bytes do not fit in a constant bank of 64 KiB")]
    ConstBankTooLong { bytes: usize },
    #[error(
        "{blocks} resident blocks need {needed} bytes of registers, shared and local memory, more than {limit}"
    )]
    ResidentTooLarge { blocks: u64, needed: u64, limit: u64 },
    #[error("the host has no {bytes} bytes of memory left for registers, shared and local memory")]
    HostOutOfMemory { bytes: u64 },
}
