//! One worker thread: runs blocks, a turn of a warp at a time.

mod aside;
mod spins;
mod turn;

use std::time::{Duration, Instant};

use spins::{LONG, Pause};

use super::block::Block;
use super::config::LaunchError;
use super::outcome::{Counts, Fault};
use super::repeats::Snapshot;
use super::schedule::Launch;
use super::suspended::{State, Suspended, WarpStorage};
use crate::fault::FaultKind;
use crate::warp::{ExitCode, Tlb, WarpContext};

/// Guest instructions after which a worker checks the clock and the other workers' progress.
/// `CHECK_ROUNDS` are rounds of turns, `CHECK_BLOCKS` are blocks of a cooperative launch.
const CHECK_INSTRUCTIONS: u64 = 1 << 18;
const CHECK_ROUNDS: u32 = 64;
const CHECK_BLOCKS: usize = 64;
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

/// Why a block does not go on.
enum Stop {
    Fault(Box<Fault>),
    /// A lower block has a fault.
    Moot,
    Error(LaunchError),
}

pub(super) struct Worker<'a> {
    launch: &'a Launch<'a>,
    context: Box<WarpContext<'a>>,
    /// Storage without a suspended warp. The fresh warps of a call use the last element, if no
    /// suspended warp runs.
    free: Vec<WarpStorage>,
    progress: Option<&'a dyn Fn(u64, u64)>,
    next_progress: Instant,
    /// Instructions that have been added to the launch's sum, and `done`: blocks that have not been
    /// added yet.
    reported_instructions: u64,
    done: u64,
    /// The spending at which the next check is due: counted instructions and `uncounted`.
    next_check: u64,
    /// Back edges and barriers of turns without counted instructions. Blocks may count for nothing,
    /// but loops of such blocks must come to a limit, too.
    uncounted: u64,
    /// The index of the list of the worker's blocks that were set aside. `shares` is its part of
    /// `Launch::busy`.
    list: u64,
    shares: u64,
    /// Blocks that are over, to take the place of blocks that were set aside.
    spare: Vec<Block>,
    /// Whether turns are as short as possible, to probe whether a block comes back to a state.
    probes: bool,
    snapshot: Snapshot,
}

impl<'a> Worker<'a> {
    /// Returns a worker with these shares.
    pub(super) fn new(
        launch: &'a Launch<'a>,
        shares: &[u64],
        progress: Option<&'a dyn Fn(u64, u64)>,
    ) -> Result<Self, LaunchError> {
        let (shape, config, windows) = (&launch.shape, launch.config, launch.memory.windows());
        let mut context = WarpContext::empty();
        // The worker owns the TLB: `Worker::drop` takes it back.
        context.tlb = Box::into_raw(Box::new(Tlb::EMPTY));
        context.memory = launch.memory;
        context.shared_bytes = shape.shared_bytes;
        context.local_bytes = shape.local_bytes;
        for (pointer, bank) in context.constants.iter_mut().zip(&config.constants) {
            if let Some(bank) = bank {
                *pointer = bank.bytes().as_ptr();
            }
        }
        context.observer = config.observer.as_deref();
        context.tid_table = shape.tid.as_ptr();
        context.tid_stride = shape.tid_stride;
        context.ntid = config.block;
        context.nctaid = config.grid;
        context.last_launch_mask = shape.last_mask;
        context.warps = shape.warps;
        context.lanes = shape.lanes;
        context.shared_window = windows.shared;
        context.local_window = windows.local;
        let mut worker = Worker {
            launch,
            context,
            free: Vec::new(),
            progress,
            next_progress: Instant::now() + PROGRESS_INTERVAL,
            reported_instructions: 0,
            done: 0,
            next_check: 0,
            uncounted: 0,
            list: shares.first().copied().unwrap_or(0),
            shares: shares.len() as u64,
            spare: Vec::new(),
            probes: false,
            snapshot: Snapshot::default(),
        };
        let _ = worker.check();
        Ok(worker)
    }

    /// Ends the worker, and returns its counts.
    pub(super) fn end(mut self) -> Counts {
        let _ = self.check();
        let WarpContext {
            instructions, lane_instructions, helper_calls, interp_instructions, ..
        } = *self.context;
        Counts { instructions, lane_instructions, helper_calls, interp_instructions }
    }

    /// Runs blocks one after the other until none is left. Blocks that do not end are set aside.
    pub(super) fn run_in_turn(&mut self) -> Result<(), LaunchError> {
        let mut own = Some(self.new_block()?);
        loop {
            let chunk = self.launch.take();
            if chunk.is_empty() {
                return self.run_aside(true).map(|_| ());
            }
            self.next_check = 0;
            let [x, y, _] = self.launch.config.grid;
            let (mut index, mut ctaid) = (chunk.start, self.launch.ctaid(chunk.start));
            while index < chunk.end {
                if own.is_none() {
                    own = self.another_block()?;
                }
                // None: the launch has ended.
                let Some(block) = &mut own else { return Ok(()) };
                let following = (chunk.end - index).min(u64::from(x - ctaid[0])) as u32 - 1;
                block.begin(index, ctaid, following);
                if std::mem::take(&mut block.meets) {
                    self.start_all(block)?;
                } else {
                    self.free.extend(block.retire());
                }
                self.context.ctaid = ctaid;
                self.context.shared = block.shared();
                let done = match self.run_block(block) {
                    Ok(pause) => pause == Pause::Done,
                    Err(stop) => return self.stopped(block.index, stop),
                };
                // The engine may have gone on to later blocks.
                (index, ctaid) = (block.index + 1, block.ctaid);
                if done {
                    self.done += 1;
                } else if let Some(mut block) = own.take() {
                    block.aside = true;
                    self.launch.aside(self.list).push(block);
                }
                ctaid[0] += 1;
                if ctaid[0] == x {
                    ctaid = if ctaid[1] + 1 == y {
                        [0, 0, ctaid[2] + 1]
                    } else {
                        [0, ctaid[1] + 1, ctaid[2]]
                    };
                }
            }
        }
    }

    fn new_block(&self) -> Result<Block, LaunchError> {
        Block::new(self.launch.shape.warps, self.launch.shape.shared_bytes)
    }

    /// Returns a block in addition to the blocks that were set aside.
    ///
    /// If no more blocks may be alive, the blocks that were set aside have turns until one is done.
    /// Returns `None` if the launch ends before that.
    #[cold]
    fn another_block(&mut self) -> Result<Option<Block>, LaunchError> {
        if self.spare.is_empty() {
            if self.launch.admit() {
                return self.new_block().map(Some);
            }
            self.run_aside(false)?;
        }
        Ok(self.spare.pop())
    }

    #[inline]
    fn run_block(&mut self, block: &mut Block) -> Result<Pause, Stop> {
        self.check_if_due(block, 0, 0)?;
        loop {
            let pause = self.run_on(block, LONG, true)?;
            if pause != Pause::Long || self.launch.has_few_aside() {
                return Ok(pause);
            }
        }
    }

    /// Runs the blocks of some shares of a cooperative launch, all of them in turns.
    pub(super) fn run_resident(&mut self, shares: &[u64]) -> Result<(), LaunchError> {
        let launch = self.launch;
        let own = (0..launch.blocks).filter(|index| shares.contains(&(index % launch.workers)));
        let mut blocks = Vec::new();
        for (number, index) in own.enumerate() {
            let mut block = self.new_block()?;
            block.begin(index, launch.ctaid(index), 0);
            block.aside = launch.blocks > 1;
            self.check_soon(number);
            if let Err(stop) = self.check_if_due(&block, 0, 0) {
                return self.stopped(block.index, stop);
            }
            blocks.push(block);
        }
        launch.aside(self.list).extend(blocks);
        self.run_aside(true).map(|_| ())
    }

    /// Makes a check due after every [`CHECK_BLOCKS`] blocks: blocks of a cooperative launch may be
    /// many and short.
    fn check_soon(&mut self, number: usize) {
        if number.is_multiple_of(CHECK_BLOCKS) {
            self.next_check = 0;
        }
    }

    /// Ends this worker's part: all blocks that it could still run are higher (or the launch is
    /// cooperative and ends as a whole).
    fn stopped(&mut self, index: u64, stop: Stop) -> Result<(), LaunchError> {
        match stop {
            Stop::Fault(fault) => self.launch.report(index, *fault),
            Stop::Moot => {}
            Stop::Error(error) => return Err(error),
        }
        Ok(())
    }

    /// Gives each warp of the context's block that can run one turn: first the suspended warps,
    /// then the fresh warps, as chains.
    #[inline]
    fn sweep(&mut self, block: &mut Block) -> Result<(), Stop> {
        if !block.suspended.is_empty() {
            self.sweep_suspended(block)?;
        }
        while block.started < block.warps {
            self.start(block)?;
        }
        Ok(())
    }

    fn sweep_suspended(&mut self, block: &mut Block) -> Result<(), Stop> {
        let ready =
            block.suspended.iter().position(|warp| matches!(warp.state, State::Ready { .. }));
        let Some(first) = ready else {
            return if block.live > 0 { Err(self.stuck(block)) } else { Ok(()) };
        };
        let rounds = &mut self.context.step.rounds;
        *rounds = rounds.saturating_sub(1);
        if *rounds == 0 {
            *rounds = CHECK_ROUNDS;
            self.next_check = 0;
        }
        self.check_if_due(block, block.suspended[first].warp, block.suspended[first].resume)?;
        // Uncounted spending is checked after each turn.
        let in_step = self.uncounted == 0 && block.may_go_in_step();
        let had_turns = if in_step { self.go_in_step(block, first)? } else { first };
        for slot in had_turns..block.suspended.len() {
            if let State::Ready { yielded } = block.suspended[slot].state {
                let code = self.resume(block, slot, yielded)?;
                self.returned(block, slot, code)?;
            }
        }
        Ok(())
    }

    /// Returns the fault of a block whose warps all wait or are done.
    #[cold]
    fn stuck(&self, block: &Block) -> Stop {
        let waiting = block.waiting(|at| self.launch.engine.block_pc(at));
        // A warp may wait for its lanes while none of them waits.
        let first = waiting.first().map(|first| (first.warp, first.pc));
        let (warp, pc) = first.unwrap_or_else(|| {
            let live = block.suspended.iter().find(|warp| !warp.is_done());
            live.map_or((0, 0), |warp| (warp.warp, self.launch.engine.block_pc(warp.resume)))
        });
        let fault = self.fault(block, warp, FaultKind::StuckBarrier, pc);
        Stop::Fault(Box::new(Fault { waiting, ..fault }))
    }

    /// Suspends the warps of a block that has begun before they run, as they will be suspended when
    /// they come to a barrier.
    fn start_all(&mut self, block: &mut Block) -> Result<(), LaunchError> {
        let shape = &self.launch.shape;
        if block.suspended.len() < block.warps as usize {
            self.free.extend(block.retire());
            for warp in 0..block.warps {
                let storage = self.free.pop().map_or_else(|| self.launch.storage(), Ok)?;
                block.suspended.push(Suspended::fresh(warp, shape.launch_mask(warp), storage));
            }
        }
        if shape.local_bytes > 0 {
            block.suspended.iter_mut().for_each(|warp| warp.storage.clear_local());
        }
        block.start_all();
        Ok(())
    }

    /// Runs fresh warps up to the first that is suspended.
    #[inline]
    fn start(&mut self, block: &mut Block) -> Result<(), Stop> {
        let shape = &self.launch.shape;
        if self.free.is_empty() {
            self.free.push(self.launch.storage().map_err(Stop::Error)?);
        }
        let first = block.started;
        self.context.step.back_edges = self.turn(block, false, true);
        let context = &mut *self.context;
        context.warp = first;
        context.resume = 0;
        context.barrier_result = 0;
        context.barrier_released = 0;
        context.launch_mask = shape.launch_mask(first);
        context.chain_end = block.warps;
        context.row_end = block.row_end(first);
        let storage = self.free.last_mut().expect("there is one");
        if shape.local_bytes > 0 {
            // Local memory is zeroed for each warp. A chain would skip that.
            context.chain_end = first + 1;
            storage.clear_local();
        }
        context.stand_at(storage.place());
        context.expect_turn();
        let code = self.call(false).map_err(Stop::Error)?;
        let first = if self.pass_blocks(block) { 0 } else { first };
        if code == ExitCode::Done {
            block.started = self.context.chain_end;
            if !block.suspended.is_empty() {
                block.release();
            }
        } else {
            let WarpContext { warp, resume, launch_mask, .. } = *self.context;
            assert!(
                (first..block.warps).contains(&warp),
                "the engine returned from warp {warp}, which did not run"
            );
            block.started = warp + 1;
            block.meets |= code == ExitCode::Barrier && self.context.whole_barrier().is_some();
            let storage = self.free.pop().expect("the engine ran in it");
            let slot =
                block.suspend(Suspended { resume, ..Suspended::fresh(warp, launch_mask, storage) });
            self.returned(block, slot, code)?;
        }
        Ok(())
    }

    /// Returns whether the engine went on to a later block. If so, `block` becomes that block.
    #[inline]
    fn pass_blocks(&mut self, block: &mut Block) -> bool {
        let passed = self.context.ctaid[0].wrapping_sub(block.ctaid[0]);
        if passed > 0 {
            assert!(
                self.context.ctaid[0] < self.context.row_end,
                "the engine went on past its row of blocks"
            );
            block.pass(passed);
            self.done += u64::from(passed);
        }
        passed > 0
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        // SAFETY: from `Box::into_raw` in `Worker::new`, and no engine is running.
        drop(unsafe { Box::from_raw(self.context.tlb) });
    }
}
