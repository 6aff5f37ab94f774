//! [`launch`]: checks, what the workers share, and the hand-out of blocks.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use super::block::Block;
use super::config::{LaunchConfig, LaunchError};
use super::engine::Engine;
use super::outcome::{Counts, Fault, Outcome};
use super::suspended::{WarpStorage, padded_local_bytes};
use super::threads;
use super::worker::Worker;
use crate::memory::Memory;
use crate::warp::SHARED_PADDING;

/// The most blocks that a worker takes at once.
const MAX_CHUNK: u64 = 64;

/// A launch in progress: what its workers share.
pub(super) struct Launch<'a> {
    pub memory: &'a Memory,
    pub engine: &'a dyn Engine,
    pub config: &'a LaunchConfig,
    pub shape: Shape,
    pub deadline: Option<Instant>,
    pub blocks: u64,
    pub workers: u64,
    /// The next block to hand out.
    next: AtomicU64,
    /// Warps that have storage.
    slots: AtomicU32,
    /// Host memory that resident blocks take at most, as far as register files have grown.
    resident_bytes: AtomicU64,
    /// Sums over the workers, brought up to date now and then.
    pub done: AtomicU64,
    pub instructions: AtomicU64,
    /// Index of the lowest block with a fault, `u64::MAX` while there is none. Higher ones need not run.
    pub lowest_fault: AtomicU64,
    ended: Mutex<Ended>,
    /// Blocks that were set aside, of each worker. A worker keeps its own locked during a round;
    /// more than one is only locked by who holds `prover`, in this order.
    aside: Vec<Mutex<Vec<Block>>>,
    /// Blocks in addition to those that run at once.
    more_blocks: AtomicU64,
    /// Whether a block was found to repeat a state.
    pub spun: AtomicBool,
    /// Shares of the workers that still begin blocks.
    pub busy: AtomicU64,
    /// Held while all blocks are asked whether one can go on, which workers should wait for.
    pub prover: Mutex<()>,
    pub is_proving: AtomicBool,
}

/// What workers leave when they end.
#[derive(Default)]
struct Ended {
    counts: Counts,
    fault: Option<(u64, Fault)>,
    error: Option<LaunchError>,
}

/// What is the same for all blocks.
pub(super) struct Shape {
    pub lanes: u32,
    pub warps: u32,
    /// Lanes of a warp that exist: in the last of a block, and in all others.
    pub last_mask: u64,
    pub full_mask: u64,
    pub register_bytes: u64,
    /// Per lane and per warp.
    pub local_bytes: u64,
    pub warp_local_bytes: u64,
    pub shared_bytes: u64,
    /// Three rows of `tid_stride`.
    pub tid: Vec<u32>,
    pub tid_stride: u64,
}

impl Shape {
    fn new(engine: &dyn Engine, config: &LaunchConfig) -> Result<Shape, LaunchError> {
        let lanes = engine.lanes();
        if !(1..=64).contains(&lanes) {
            return Err(LaunchError::BadLanes { lanes });
        }
        let block_lanes = config.block_lanes();
        let warps = block_lanes.div_ceil(lanes);
        let mask = |lanes: u32| u64::MAX >> (64 - lanes);
        let local_bytes = u64::from(config.local_bytes).next_multiple_of(16);
        // Room for the last, short warp, and for a vector of lanes that begins in it.
        let tid_stride = u64::from(warps) * u64::from(lanes) + 16;
        Ok(Shape {
            lanes,
            warps,
            last_mask: mask(block_lanes - (warps - 1) * lanes),
            full_mask: mask(lanes),
            register_bytes: engine.register_file_bytes() as u64,
            local_bytes,
            warp_local_bytes: local_bytes * u64::from(lanes),
            shared_bytes: u64::from(config.shared_bytes),
            tid: thread_indices(config.block, tid_stride as usize),
            tid_stride,
        })
    }

    /// Lanes of a warp of the block that exist.
    pub(super) fn launch_mask(&self, warp: u32) -> u64 {
        if warp + 1 == self.warps { self.last_mask } else { self.full_mask }
    }

    /// Host memory of one block whose warps are all suspended.
    fn block_bytes(&self) -> u64 {
        let warp = self.register_bytes.saturating_add(padded_local_bytes(self.warp_local_bytes));
        let own = size_of::<Block>() as u64 + SHARED_PADDING + self.shared_bytes;
        warp.saturating_mul(u64::from(self.warps)).saturating_add(own)
    }
}

/// Indices of a block's threads, and of those that would follow: three rows of `stride`. In a one-dimensional block those
/// that follow go on along x, so that x is evenly spaced in every warp.
fn thread_indices([x, y, z]: [u32; 3], stride: usize) -> Vec<u32> {
    let run = if y == 1 && z == 1 { stride } else { x as usize };
    let mut rows = vec![0; 3 * stride];
    let (row_x, rest) = rows.split_at_mut(stride);
    let (row_y, row_z) = rest.split_at_mut(stride);
    let (mut at_y, mut at_z, mut start) = (0, 0, 0);
    // A run of equal y and z at a time.
    while start < stride {
        let end = stride.min(start + run);
        for (index, at_x) in row_x[start..end].iter_mut().zip(0..) {
            *index = at_x;
        }
        row_y[start..end].fill(at_y);
        row_z[start..end].fill(at_z);
        start = end;
        at_y += 1;
        if at_y == y {
            (at_y, at_z) = (0, at_z + 1);
        }
    }
    rows
}

/// Runs a grid to its end, or to a fault or limit. `progress`, if given, is called now and then on the calling thread
/// with the blocks done and their number.
///
/// The calling thread is one of the workers. With one worker blocks run in order, x fastest.
pub fn launch(
    memory: &Memory,
    engine: &dyn Engine,
    config: &LaunchConfig,
    progress: Option<&dyn Fn(u64, u64)>,
) -> Result<Outcome, LaunchError> {
    config.check()?;
    let shape = Shape::new(engine, config)?;
    let blocks = config.blocks();
    let workers = config.workers() as u64;
    let resident = config.resident_blocks();
    let needed = shape.block_bytes().saturating_mul(resident);
    if needed > config.max_resident_bytes {
        return Err(LaunchError::ResidentTooLarge {
            blocks: resident,
            needed,
            limit: config.max_resident_bytes,
        });
    }
    let launch = Launch {
        memory,
        engine,
        config,
        shape,
        deadline: config.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
        blocks,
        workers,
        next: AtomicU64::new(0),
        slots: AtomicU32::new(0),
        resident_bytes: AtomicU64::new(needed),
        done: AtomicU64::new(0),
        instructions: AtomicU64::new(0),
        lowest_fault: AtomicU64::new(u64::MAX),
        ended: Mutex::default(),
        aside: (0..workers).map(|_| Mutex::default()).collect(),
        more_blocks: AtomicU64::new(0),
        spun: AtomicBool::new(false),
        busy: AtomicU64::new(workers),
        prover: Mutex::default(),
        is_proving: AtomicBool::new(false),
    };
    let guard = memory.begin_launch();
    threads::share_out(
        workers,
        |shares| launch.work(shares, None),
        |shares| launch.work(shares, progress),
    );
    drop(guard);
    let (blocks_done, spun) = (launch.done.into_inner(), launch.spun.into_inner());
    let Ended { counts, fault, error } =
        launch.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    match error {
        Some(error) => Err(error),
        None => Ok(Outcome { counts, blocks_done, fault: fault.map(|(_, fault)| fault), spun }),
    }
}

impl Launch<'_> {
    /// What one thread does. `shares` says which blocks of a cooperative launch it has: those whose index is one of
    /// them modulo the number of workers.
    fn work(&self, shares: &[u64], progress: Option<&dyn Fn(u64, u64)>) {
        let _guard = AbandonOnPanic(self);
        let result = Worker::new(self, shares, progress).and_then(|mut worker| {
            let result = if self.config.cooperative {
                worker.run_resident(shares)
            } else {
                worker.run_in_turn()
            };
            let counts = worker.end();
            let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
            ended.counts.instructions += counts.instructions;
            ended.counts.lane_instructions += counts.lane_instructions;
            ended.counts.helper_calls += counts.helper_calls;
            ended.counts.interp_instructions += counts.interp_instructions;
            result
        });
        if let Err(error) = result {
            self.abandon();
            self.ended.lock().unwrap_or_else(PoisonError::into_inner).error = Some(error);
        }
    }

    /// No more blocks are handed out, and those that run are moot.
    fn abandon(&self) {
        self.lowest_fault.store(0, Relaxed);
        self.next.store(self.blocks, Relaxed);
    }

    /// The next blocks to run, in ascending order: fewer at once towards the end, so that all workers end together.
    pub(super) fn take(&self) -> std::ops::Range<u64> {
        let left = self.blocks.saturating_sub(self.next.load(Relaxed));
        let chunk = if self.workers == 1 {
            MAX_CHUNK
        } else {
            (left / (self.workers * 16)).clamp(1, MAX_CHUNK)
        };
        let first = self.next.fetch_add(chunk, Relaxed);
        first.min(self.blocks)..first.saturating_add(chunk).min(self.blocks)
    }

    /// Records a fault of a block; the lowest block's stays.
    pub(super) fn report(&self, block: u64, fault: Fault) {
        self.lowest_fault.fetch_min(block, Relaxed);
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.fault.as_ref().is_none_or(|&(lowest, _)| block < lowest) {
            ended.fault = Some((block, fault));
        }
    }

    /// Whether a block need not run on.
    #[inline]
    pub(super) fn is_moot(&self, block: &Block) -> bool {
        let lowest = self.lowest_fault.load(Relaxed);
        // One that was set aside may wait for the block that has the fault.
        block.index > lowest || block.aside && lowest != u64::MAX
    }

    /// The blocks that a worker has set aside.
    pub(super) fn aside(&self, worker: u64) -> MutexGuard<'_, Vec<Block>> {
        self.aside[worker as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether memory allows a block in addition to those that run at once; then it counts.
    pub(super) fn admit(&self) -> bool {
        let bytes = self.shape.block_bytes();
        let sum = |sum: &AtomicU64, more: u64, most: u64| {
            let within = |sum: u64| sum.checked_add(more).filter(|&sum| sum <= most);
            sum.fetch_update(Relaxed, Relaxed, within).is_ok()
        };
        let admitted = sum(&self.more_blocks, 1, self.config.blocks_aside());
        admitted && sum(&self.resident_bytes, bytes, self.config.max_resident_bytes)
    }

    /// Whether few blocks, in bytes, have been set aside.
    pub(super) fn has_few_aside(&self) -> bool {
        const FEW: u64 = 64 << 20;
        self.more_blocks.load(Relaxed).saturating_mul(self.shape.block_bytes()) < FEW
    }

    /// Storage for one more warp.
    pub(super) fn storage(&self) -> Result<WarpStorage, LaunchError> {
        let slot = self.slots.fetch_add(1, Relaxed);
        WarpStorage::new(slot, self.shape.register_bytes, self.shape.warp_local_bytes)
    }

    /// Makes the register file of a warp larger, up to the limit of a launch.
    #[cold]
    pub(super) fn grow(
        &self,
        storage: &mut WarpStorage,
        register_bytes: u64,
    ) -> Result<(), LaunchError> {
        let more = register_bytes.saturating_sub(storage.register_bytes());
        let needed = self.resident_bytes.fetch_add(more, Relaxed).saturating_add(more);
        let limit = self.config.max_resident_bytes;
        if needed > limit {
            return Err(LaunchError::ResidentTooLarge {
                blocks: self.config.resident_blocks(),
                needed,
                limit,
            });
        }
        storage.grow(register_bytes)
    }

    /// Coordinates of a block.
    pub(super) fn ctaid(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.config.grid.map(u64::from);
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
    }
}

/// Blocks of a cooperative launch would wait for ever for those of a worker that panicked.
struct AbandonOnPanic<'a>(&'a Launch<'a>);

impl Drop for AbandonOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.abandon();
        }
    }
}
