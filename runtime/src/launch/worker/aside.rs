//! Blocks that are set aside, so that others run: their rounds, and the proof that none of them can
//! go on.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::super::block::Block;
use super::super::config::LaunchError;
use super::super::outcome::Fault;
use super::super::repeats::Extent;
use super::super::suspended::{State, Suspended};
use super::spins::{LONG, Pause};
use super::{Stop, Worker};
use crate::fault::FaultKind;

/// Guest instructions of a turn of a block that was set aside.
const SLICE: u64 = 1 << 16;
/// In one of this many rounds, blocks are probed whether they still spin: a probe takes longer than
/// a turn.
const ASKED: u64 = 8;
/// Probing rounds in which nothing changes. After as many, a worker sleeps between rounds if only
/// code outside the launch can change something.
const PATIENT_ROUNDS: u32 = 16;
const PAUSE: Duration = Duration::from_micros(200);

/// The finding that no block can go on.
struct Deadlock {
    /// The memory's fingerprint.
    memory: u64,
    /// The index of the lowest block that spins.
    index: u64,
    fault: Fault,
}

/// A worker's record of the rounds behind it.
#[derive(Default)]
struct Quiet {
    /// Consecutive probing rounds in which all blocks of the worker repeated their states.
    rounds: u32,
    /// The end of the first of these rounds.
    since: Option<Instant>,
    /// The memory's fingerprint, if the last proof held.
    proof: Option<u64>,
    next_proof: Option<Instant>,
}

impl Worker<'_> {
    /// Enters a block in the context.
    fn enter(&mut self, block: &Block) {
        self.context.ctaid = block.ctaid;
        self.context.shared = block.shared();
    }

    /// Gives the worker's blocks that were set aside turns, until all are done or, if not `all`,
    /// one is. Returns false if the launch ends before that.
    pub(super) fn run_aside(&mut self, all: bool) -> Result<bool, LaunchError> {
        let launch = self.launch;
        launch.busy.fetch_sub(self.shares, SeqCst);
        let mut quiet = Quiet::default();
        for number in 1.. {
            let is_asked = number % ASKED == 0;
            if launch.is_proving.load(Relaxed) {
                // The list belongs to the proving worker until then.
                drop(launch.prover.lock().unwrap_or_else(PoisonError::into_inner));
            }
            let mut blocks = launch.aside(self.list);
            let before = blocks.len();
            let result = self.round(&mut blocks, is_asked);
            let left = blocks.len();
            if result.is_err() {
                // The launch ends at its first fault for all blocks that were set aside.
                blocks.clear();
            }
            drop(blocks);
            let is_quiet = match result {
                Ok(is_quiet) => is_quiet,
                Err((index, stop)) => return self.stopped(index, stop).map(|()| false),
            };
            if left == 0 || left < before && !all {
                break;
            }
            if !is_asked {
                continue;
            }
            quiet.rounds = if is_quiet { quiet.rounds.saturating_add(1) } else { 0 };
            if let Err((index, stop)) = self.rest(&mut quiet) {
                return self.stopped(index, stop).map(|()| false);
            }
        }
        if !all {
            launch.busy.fetch_add(self.shares, SeqCst);
        }
        Ok(true)
    }

    /// Gives each block a turn. Returns whether all blocks were probed and repeated their states.
    fn round(&mut self, blocks: &mut Vec<Block>, is_asked: bool) -> Result<bool, (u64, Stop)> {
        let slice = if blocks.len() == 1 { LONG } else { SLICE };
        let mut is_quiet = true;
        for (number, block) in blocks.iter_mut().enumerate() {
            self.check_soon(number);
            self.enter(block);
            // The sweep of a block with suspended warps checks by itself.
            let fresh = block.suspended.is_empty();
            let checked = if fresh { self.check_if_due(block, 0, 0) } else { Ok(()) };
            let pause = checked
                .and_then(|()| self.run_on(block, slice, is_asked))
                .map_err(|stop| (block.index, stop))?;
            is_quiet &= pause == Pause::Spins;
        }
        for mut block in blocks.extract_if(.., |block| block.is_done()) {
            self.free.extend(block.retire());
            block.clear_barriers();
            self.done += 1;
            self.spare.push(block);
        }
        Ok(is_quiet)
    }

    /// Tries between two rounds, now and then, to prove that no block can go on, and lets others
    /// have the processor.
    fn rest(&mut self, quiet: &mut Quiet) -> Result<(), (u64, Stop)> {
        if quiet.rounds == 0 {
            *quiet = Quiet::default();
            return Ok(());
        }
        let launch = self.launch;
        let patience = launch.config.deadlock_after;
        let now = Instant::now();
        let began = *quiet.since.get_or_insert(now);
        // A proof reads all memory. Others that change memory should not have to wait for that
        // soon.
        let is_soon = now - began < if quiet.proof.is_some() { patience } else { patience / 2 };
        let is_next = quiet.next_proof.is_none_or(|next| now >= next);
        let early = patience.is_zero() && quiet.rounds > 1 && quiet.rounds.is_power_of_two();
        if early || quiet.rounds.is_multiple_of(64) && is_next && !is_soon {
            let proof = self.prove()?;
            quiet.next_proof = now.checked_add(now.elapsed() * 16);
            let before = quiet.proof.take();
            if let Some(Deadlock { memory, index, fault }) = proof {
                if before == Some(memory) {
                    return Err((index, Stop::Fault(Box::new(fault))));
                }
                quiet.proof = Some(memory);
            }
        }
        if quiet.rounds > PATIENT_ROUNDS && quiet.proof.is_some() {
            std::thread::sleep(PAUSE);
        } else if launch.workers > 1 {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Returns a deadlock if each block that has begun repeats its state, memory stays as it is,
    /// and no other block can begin.
    ///
    /// Returns `None`, too, if another worker runs blocks or proves, or if code can observe the
    /// time.
    fn prove(&mut self) -> Result<Option<Deadlock>, (u64, Stop)> {
        let launch = self.launch;
        let prover = match launch.prover.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        let Some(outside) = launch.engine.outside() else { return Ok(None) };
        if launch.busy.load(SeqCst) != 0 {
            return Ok(None);
        }
        launch.is_proving.store(true, Relaxed);
        let mut lists: Vec<MutexGuard<'_, Vec<Block>>> =
            (0..launch.workers).map(|list| launch.aside(list)).collect();
        let memory = launch.memory.fingerprint();
        let repeated = self.all_repeat(lists.iter_mut().flat_map(|list| list.iter_mut()));
        let is_same =
            launch.memory.fingerprint() == memory && launch.engine.outside() == Some(outside);
        let is_all = launch.busy.load(SeqCst) == 0;
        let lowest = self.all_spin(lists.iter().flat_map(|list| list.iter()));
        launch.is_proving.store(false, Relaxed);
        drop((lists, prover));
        let lowest = lowest.filter(|_| is_same && is_all);
        Ok(if repeated? {
            lowest.map(|(index, fault)| Deadlock { memory, index, fault })
        } else {
            None
        })
    }

    fn all_repeat<'b>(
        &mut self,
        blocks: impl Iterator<Item = &'b mut Block>,
    ) -> Result<bool, (u64, Stop)> {
        for block in blocks {
            self.enter(block);
            let index = block.index;
            if block.is_done()
                || !self.repeats(block, Extent::Memory).map_err(|stop| (index, stop))?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the fault and the index of the lowest block that spins.
    fn all_spin<'b>(
        &self,
        blocks: impl Iterator<Item = &'b Block> + Clone,
    ) -> Option<(u64, Fault)> {
        let spinning = blocks.clone().count() as u64;
        let can_go_on = |warp: &&Suspended| matches!(warp.state, State::Ready { .. });
        let spins =
            blocks.filter_map(|block| Some((block, block.suspended.iter().find(can_go_on)?)));
        let (block, warp) = spins.min_by_key(|(block, _)| block.index)?;
        let pc = self.launch.engine.block_pc(warp.resume);
        Some((
            block.index,
            Fault { spinning, ..self.fault(block, warp.warp, FaultKind::Deadlock, pc) },
        ))
    }
}
