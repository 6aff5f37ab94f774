//! A warp's turn: a call of the engine, and the handling of its exit code.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use super::super::barrier::Arrival;
use super::super::block::Block;
use super::super::config::LaunchError;
use super::super::lanes::LaneArrival;
use super::super::outcome::{Fault, Waiting};
use super::super::suspended::State;
use super::{CHECK_INSTRUCTIONS, PROGRESS_INTERVAL, Stop, Worker};
use crate::fault::{FaultKind, FaultRecord};
use crate::warp::{BARRIERS, BarrierCounts, BarrierKind, ExitCode};

impl Worker<'_> {
    /// Gives a suspended warp a turn.
    #[inline]
    pub(super) fn resume(
        &mut self,
        block: &mut Block,
        slot: usize,
        yielded: bool,
    ) -> Result<ExitCode, Stop> {
        let others = block.ready > 1 || block.started < block.warps;
        Ok(self.run_suspended(block, slot, self.turn(block, yielded, others), false)?.1)
    }

    /// Gives all warps turns, round after round, as long as they go in step. `first` is the first
    /// of them.
    ///
    /// Returns the slot from which on warps have had no turn in the last round.
    pub(super) fn go_in_step(&mut self, block: &mut Block, first: usize) -> Result<usize, Stop> {
        // Blocks that wait for each other may do so with barriers in between.
        let alternates = block.aside || self.probes;
        self.context.step.until = if alternates { 0 } else { self.next_check };
        let rounds = self.context.step.rounds;
        let (slot, code) = self.run_suspended(block, first, self.turn(block, false, true), true)?;
        let step = &mut self.context.step;
        let barrier = step.take_barrier();
        block.meets |= barrier.is_some() || step.rounds < rounds;
        block.count();
        if slot == block.suspended.len() {
            return Ok(slot);
        }
        if let Some(barrier) = barrier {
            block.arrive_up_to(slot, barrier);
        }
        self.returned(block, slot, code)?;
        Ok(slot + 1)
    }

    /// Calls the engine for a suspended warp, or for all warps from this one on, in step.
    ///
    /// Returns the slot of the warp that had the last turn, and the exit code. A slot behind the
    /// last means that all warps have gone through the round.
    fn run_suspended(
        &mut self,
        block: &mut Block,
        slot: usize,
        back_edges: u64,
        in_step: bool,
    ) -> Result<(usize, ExitCode), Stop> {
        let context = &mut *self.context;
        context.step.take(&mut block.suspended);
        context.step.back_edges = back_edges;
        context.row_end = block.ctaid[0] + 1;
        context.begin_turn(slot);
        let code = self.call(in_step);
        let context = &mut *self.context;
        let running = context.step.running();
        context.step.give_back(&mut block.suspended);
        if let Some(warp) = block.suspended.get_mut(running) {
            assert_eq!(context.warp, warp.warp, "the engine went on past its chain");
            warp.resume = context.resume;
        }
        Ok((running, code.map_err(Stop::Error)?))
    }

    /// Returns the back edges of a turn: fewer if the warp may be waiting for another in a loop.
    pub(super) fn turn(&self, block: &Block, yielded: bool, others: bool) -> u64 {
        if self.probes {
            return 1;
        }
        let spins = yielded && others || block.aside;
        let part = if block.period > 0 {
            32
        } else if spins {
            16
        } else {
            1
        };
        (self.launch.config.back_edges / part).max(1)
    }

    /// Calls the engine for the context's warp, and again with a larger register file if the engine
    /// asks for one.
    #[inline]
    pub(super) fn call(&mut self, in_step: bool) -> Result<ExitCode, LaunchError> {
        let code = loop {
            let context = &mut *self.context;
            context.step.allow(in_step);
            let code = self.launch.engine.run(context);
            if code == ExitCode::Grow {
                let running = context.step.running();
                let suspended = context.step.warps.get_mut(running).map(|warp| &mut warp.storage);
                let is_suspended = suspended.is_some();
                let storage =
                    suspended.or_else(|| self.free.last_mut()).expect("the engine ran in it");
                self.launch.grow(storage, context.register_bytes_wanted)?;
                let place = storage.place();
                context.stand_at(place);
                if is_suspended {
                    context.step.move_storage(running);
                }
            } else if !in_step || !context.next_turn(code) {
                break code;
            }
        };
        if self.context.instructions == self.context.step.turn_began {
            self.uncounted += match code {
                ExitCode::Yield => self.context.step.back_edges,
                ExitCode::Barrier => 1,
                _ => 0,
            };
        }
        Ok(code)
    }

    /// Handles the exit code of a suspended warp's turn.
    pub(super) fn returned(
        &mut self,
        block: &mut Block,
        slot: usize,
        code: ExitCode,
    ) -> Result<(), Stop> {
        let warp = block.suspended[slot].warp;
        match code {
            ExitCode::Done => block.finish(slot),
            ExitCode::Yield => {
                block.suspended[slot].state = State::Ready { yielded: true };
                self.check_if_due(block, warp, self.context.resume)?;
            }
            ExitCode::Barrier => {
                self.check_if_due(block, warp, self.context.resume)?;
                self.arrive(block, slot)?;
            }
            ExitCode::Fault => {
                let FaultRecord { kind, lane, pc, address } = self.context.fault;
                let kind = FaultKind::from_number(kind)
                    .expect("an engine that returns a fault records its kind");
                let fault = Fault { lane, address, ..self.fault(block, warp, kind, pc) };
                let fault = if kind == FaultKind::Deadlock { self.deadlock(fault) } else { fault };
                return Err(Stop::Fault(Box::new(fault)));
            }
            ExitCode::Grow => unreachable!("the engine was called again"),
            // Nobody serves the warp: see `Engine::run`.
            ExitCode::Service => {
                let pc = self.launch.engine.block_pc(self.context.resume);
                return Err(Stop::Fault(Box::new(self.fault(
                    block,
                    warp,
                    FaultKind::Unimplemented,
                    pc,
                ))));
            }
            ExitCode::UnknownPc => {
                let fault = self.fault(
                    block,
                    warp,
                    FaultKind::IllegalInstruction,
                    self.context.indirect_pc,
                );
                return Err(Stop::Fault(Box::new(fault)));
            }
        }
        Ok(())
    }

    /// Handles the arrival of the context's warp at a barrier.
    pub(super) fn arrive(&mut self, block: &mut Block, slot: usize) -> Result<(), Stop> {
        let context = &*self.context;
        let kind = BarrierKind::from_number(context.barrier_kind)
            .expect("an engine sets the barrier's kind");
        let lanes = context.barrier_mask & context.launch_mask;
        let (barrier, threads, predicate) =
            (context.barrier_id, context.barrier_threads, context.barrier_predicate);
        match kind {
            BarrierKind::Exit => block.exit_lanes(slot, lanes),
            BarrierKind::Wait => block.leave_to_lanes(slot, true),
            BarrierKind::Poll => block.leave_to_lanes(slot, false),
            BarrierKind::ClusterArrive => block.arrive_at_cluster(slot),
            BarrierKind::ClusterWait => block.wait_for_cluster(slot),
            _ if barrier as usize >= BARRIERS => {
                let pc = self.launch.engine.block_pc(context.resume);
                let warp = block.suspended[slot].warp;
                return Err(Stop::Fault(Box::new(self.fault(
                    block,
                    warp,
                    FaultKind::IllegalInstruction,
                    pc,
                ))));
            }
            _ if context.barrier_counts() == BarrierCounts::Lanes => {
                block.arrive_lanes(
                    slot,
                    &LaneArrival { kind, barrier, expected: threads, lanes, predicate },
                );
            }
            _ => {
                // Mostly the barrier is for the whole block, which is 0 threads and needs no
                // division.
                let expected = if threads == 0 { 0 } else { threads.div_ceil(context.lanes) };
                block.arrive(
                    slot,
                    Arrival { kind, barrier, expected, lanes, predicate, first: true },
                );
            }
        }
        Ok(())
    }

    /// Adds the waiting lanes to the fault, which then names the first of them.
    pub(super) fn deadlock(&mut self, fault: Fault) -> Fault {
        let waiting = self.launch.engine.deadlocked(&mut self.context).into_iter();
        let warp = fault.warp;
        let waiting: Vec<Waiting> = waiting
            .map(|(lanes, pc)| Waiting { warp, lanes: Some(lanes), barrier: None, pc })
            .collect();
        let first =
            waiting.first().map(|first| (first.lanes.unwrap_or(0).trailing_zeros(), first.pc));
        let (lane, pc) = first.unwrap_or((fault.lane, fault.pc));
        Fault { lane, pc, waiting, ..fault }
    }

    pub(super) fn fault(&self, block: &Block, warp: u32, kind: FaultKind, pc: u64) -> Fault {
        Fault {
            kind,
            pc,
            block: block.ctaid,
            warp,
            lane: 0,
            address: 0,
            waiting: Vec::new(),
            spinning: 0,
        }
    }

    /// Stops before a warp goes on if a lower block has a fault, and checks now and then
    /// ([`Worker::check`]).
    #[inline]
    pub(super) fn check_if_due(
        &mut self,
        block: &Block,
        warp: u32,
        resume: u32,
    ) -> Result<(), Stop> {
        if self.launch.is_moot(block) {
            return Err(Stop::Moot);
        }
        let spent = self.spent();
        let checked = if spent < self.next_check { Ok(()) } else { self.check() };
        // Engines themselves keep to the limit for counted instructions.
        let exceeded = self.uncounted > 0 && spent > self.context.instruction_limit;
        let checked = checked.and(if exceeded { Err(FaultKind::BudgetExceeded) } else { Ok(()) });
        checked.map_err(|kind| {
            let pc = self.launch.engine.block_pc(resume);
            Stop::Fault(Box::new(self.fault(block, warp, kind, pc)))
        })
    }

    /// Returns the counted instructions plus the uncounted spending.
    #[inline]
    pub(super) fn spent(&self) -> u64 {
        self.context.instructions.saturating_add(self.uncounted)
    }

    /// Updates the launch's sums, the instruction limit and the progress. Returns an error if the
    /// time is over.
    #[cold]
    pub(super) fn check(&mut self) -> Result<(), FaultKind> {
        let launch = self.launch;
        let instructions = self.context.instructions;
        self.next_check =
            instructions.saturating_add(self.uncounted).saturating_add(CHECK_INSTRUCTIONS);
        let new = instructions - self.reported_instructions;
        let total = launch.instructions.fetch_add(new, Relaxed) + new;
        self.reported_instructions = instructions;
        let newly_done = std::mem::take(&mut self.done);
        let done = launch.done.fetch_add(newly_done, Relaxed) + newly_done;
        if let Some(limit) = launch.config.instruction_limit {
            self.context.instruction_limit =
                instructions.saturating_add(limit.saturating_sub(total));
        }
        if launch.deadline.is_none() && self.progress.is_none() {
            return Ok(());
        }
        let now = Instant::now();
        if let Some(progress) = self.progress
            && now >= self.next_progress
        {
            progress(done, launch.blocks);
            self.next_progress = now + PROGRESS_INTERVAL;
        }
        match launch.deadline {
            Some(deadline) if now >= deadline => Err(FaultKind::TimeExceeded),
            _ => Ok(()),
        }
    }
}
