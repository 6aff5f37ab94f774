//! [`launch`]: its checks, the state that the workers share, and the hand-out of blocks.

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

/// A launch in progress: the state that its workers share.
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
    /// The number of warps that have storage.
    slots: AtomicU32,
    /// The most host memory that resident blocks take, as far as register files have grown.
    resident_bytes: AtomicU64,
    /// Blocks that are done: a sum over the workers, updated now and then. So is `instructions`.
    pub done: AtomicU64,
    pub instructions: AtomicU64,
    /// Index of the lowest block with a fault, `u64::MAX` while there is none. Higher blocks need
    /// not run.
    pub lowest_fault: AtomicU64,
    ended: Mutex<Ended>,
    /// The blocks that each worker has set aside.
    ///
    /// A worker keeps its own list locked during a round. Only the holder of `prover` locks more
    /// than one list, in the order of the workers.
    aside: Vec<Mutex<Vec<Block>>>,
    /// The number of blocks in addition to the blocks that run at once.
    more_blocks: AtomicU64,
    /// Whether a block was found to repeat a state.
    pub spun: AtomicBool,
    /// Shares of the workers that still begin blocks.
    pub busy: AtomicU64,
    /// Held while a worker probes whether any block can go on. Other workers should wait for it.
    pub prover: Mutex<()>,
    pub is_proving: AtomicBool,
}

/// The results that workers leave when they end.
#[derive(Default)]
struct Ended {
    counts: Counts,
    fault: Option<(u64, Fault)>,
    error: Option<LaunchError>,
}

/// Properties that all blocks share.
pub(super) struct Shape {
    pub lanes: u32,
    pub warps: u32,
    /// The lanes that exist in the last warp of a block. `full_mask` has the lanes of all other
    /// warps.
    pub last_mask: u64,
    pub full_mask: u64,
    pub register_bytes: u64,
    /// Bytes of local memory per lane. `warp_local_bytes` is the size per warp.
    pub local_bytes: u64,
    pub warp_local_bytes: u64,
    pub shared_bytes: u64,
    /// Thread indices: three rows of `tid_stride`.
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

    /// Returns the lanes of a warp of the block that exist.
    pub(super) fn launch_mask(&self, warp: u32) -> u64 {
        if warp + 1 == self.warps { self.last_mask } else { self.full_mask }
    }

    /// Returns the host memory of one block whose warps are all suspended, in bytes.
    fn block_bytes(&self) -> u64 {
        let warp = self.register_bytes.saturating_add(padded_local_bytes(self.warp_local_bytes));
        let own = size_of::<Block>() as u64 + SHARED_PADDING + self.shared_bytes;
        warp.saturating_mul(u64::from(self.warps)).saturating_add(own)
    }
}

/// Returns the indices of a block's threads, and of the threads that would follow: three rows of
/// `stride`.
///
/// In a one-dimensional block the following threads go on along x, so that x is evenly spaced in
/// every warp.
fn thread_indices([x, y, z]: [u32; 3], stride: usize) -> Vec<u32> {
    let run = if y == 1 && z == 1 { stride } else { x as usize };
    let mut rows = vec![0; 3 * stride];
    let (row_x, rest) = rows.split_at_mut(stride);
    let (row_y, row_z) = rest.split_at_mut(stride);
    let (mut at_y, mut at_z, mut start) = (0, 0, 0);
    // Each iteration fills a run of equal y and z.
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

/// Runs a grid to its end, or to a fault or limit.
///
/// The calling thread is one of the workers. It calls `progress`, if given, now and then with the
/// number of blocks done and of all blocks. With one worker blocks run in order, x fastest.
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
    /// Does the work of one thread.
    ///
    /// In a cooperative launch the thread has the blocks whose index, modulo the number of workers,
    /// is in `shares`.
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

    /// Ends the hand-out of blocks, and makes the running blocks moot.
    fn abandon(&self) {
        self.lowest_fault.store(0, Relaxed);
        self.next.store(self.blocks, Relaxed);
    }

    /// Takes the next blocks to run, in ascending order. Towards the end it takes fewer at once, so
    /// that all workers end together.
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

    /// Records a fault of a block. The fault of the lowest block stays.
    pub(super) fn report(&self, block: u64, fault: Fault) {
        self.lowest_fault.fetch_min(block, Relaxed);
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.fault.as_ref().is_none_or(|&(lowest, _)| block < lowest) {
            ended.fault = Some((block, fault));
        }
    }

    /// Returns whether a block need not run on.
    #[inline]
    pub(super) fn is_moot(&self, block: &Block) -> bool {
        let lowest = self.lowest_fault.load(Relaxed);
        // A block that was set aside may wait for the block that has the fault.
        block.index > lowest || block.aside && lowest != u64::MAX
    }

    /// Locks the blocks that a worker has set aside.
    pub(super) fn aside(&self, worker: u64) -> MutexGuard<'_, Vec<Block>> {
        self.aside[worker as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a block in addition to the blocks that run at once. Returns false if a limit of
    /// blocks or memory forbids it.
    pub(super) fn admit(&self) -> bool {
        let bytes = self.shape.block_bytes();
        let sum = |sum: &AtomicU64, more: u64, most: u64| {
            let within = |sum: u64| sum.checked_add(more).filter(|&sum| sum <= most);
            sum.fetch_update(Relaxed, Relaxed, within).is_ok()
        };
        let admitted = sum(&self.more_blocks, 1, self.config.blocks_aside());
        admitted && sum(&self.resident_bytes, bytes, self.config.max_resident_bytes)
    }

    /// Returns whether the blocks that have been set aside take little memory.
    pub(super) fn has_few_aside(&self) -> bool {
        const FEW: u64 = 64 << 20;
        self.more_blocks.load(Relaxed).saturating_mul(self.shape.block_bytes()) < FEW
    }

    /// Allocates storage for one more warp.
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

    /// Returns the coordinates of a block.
    pub(super) fn ctaid(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.config.grid.map(u64::from);
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
    }
}

/// Abandons the launch when a worker panics. Else blocks of a cooperative launch would wait for
/// ever for the worker's blocks.
struct AbandonOnPanic<'a>(&'a Launch<'a>);

impl Drop for AbandonOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.abandon();
        }
    }
}
