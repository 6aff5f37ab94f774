//! A warp's turn: a call of the engine, and what it came back for.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use super::super::barrier::Arrival;
use super::super::block::{Block, State, WarpStorage};
use super::super::config::LaunchError;
use super::super::lanes::{LaneArrival, Lanes};
use super::super::outcome::{Fault, Waiting};
use super::{CHECK_INSTRUCTIONS, PROGRESS_INTERVAL, Stop, Worker};
use crate::fault::{FaultKind, FaultRecord};
use crate::warp::{BARRIERS, BarrierCounts, BarrierKind, ExitCode, Queued};

impl Worker<'_> {
    /// Gives a suspended warp a turn.
    #[inline]
    pub(super) fn resume(&mut self, block: &mut Block, slot: usize, yielded: bool) -> Result<ExitCode, Stop> {
        let others = block.ready > 1 || block.started < block.warps;
        let warp = &mut block.suspended[slot];
        let Some(storage) = &mut warp.storage else { unreachable!("the warp is not done") };
        let context = &mut *self.context;
        context.warp = warp.warp;
        context.chain_end = warp.warp + 1;
        context.row_end = block.ctaid[0] + 1;
        context.resume = warp.resume;
        context.barrier_result = warp.barrier_result;
        context.barrier_released = warp.released;
        context.launch_mask = warp.launch_mask;
        let code = self.call(storage, self.turn(yielded, others)).map_err(Stop::Error)?;
        if self.context.running == 0 {
            assert_eq!(self.context.warp, warp.warp, "the engine went on past its chain");
            warp.resume = self.context.resume;
        }
        Ok(code)
    }

    /// Gives a suspended warp a turn, and those after it that can go on, as long as each comes to this barrier of the whole block. Those
    /// that did are as if they had been released from it. Gives the slot of the one whose turn ended the call, and how.
    pub(super) fn resume_in_turn(
        &mut self,
        block: &mut Block,
        slot: usize,
        yielded: bool,
        barrier: (u32, BarrierCounts),
    ) -> Result<(usize, ExitCode), Stop> {
        let bytes = block.suspended[slot].storage.as_ref().map(|storage| storage.register_bytes());
        let context = &mut *self.context;
        context.queue_barrier = barrier;
        for (place, warp) in block.suspended.iter().enumerate().skip(slot) {
            let (Some(storage), State::Ready { .. }) = (&warp.storage, warp.state) else { continue };
            if Some(storage.register_bytes()) != bytes || !warp.lanes.are_together() {
                break;
            }
            context.queue.push(Queued {
                registers: storage.registers(),
                local: storage.local(),
                launch_mask: warp.launch_mask,
                warp: warp.warp,
                slot: storage.slot,
                resume: warp.resume,
                barrier_result: warp.barrier_result,
                released: warp.released,
                place,
            });
        }
        let code = self.resume(block, slot, yielded);
        let context = &mut *self.context;
        let mut slot = slot;
        if context.running > 0 {
            for passed in &context.queue[..context.running] {
                block.suspended[passed.place].come_through(passed.resume);
            }
            slot = context.queue[context.running].place;
            let warp = &mut block.suspended[slot];
            assert_eq!(context.warp, warp.warp, "the engine went on past its chain");
            warp.resume = context.resume;
        }
        context.forget_queue();
        Ok((slot, code?))
    }

    /// Back edges of a turn: fewer if the warp may be waiting for another in a loop.
    pub(super) fn turn(&self, yielded: bool, others: bool) -> u64 {
        let spins = yielded && others || self.launch.config.cooperative && self.launch.blocks > 1;
        (self.launch.config.back_edges / if spins { 16 } else { 1 }).max(1)
    }

    /// Calls the engine for the context's warp, again with a larger register file if that is what it asks for.
    #[inline]
    pub(super) fn call(&mut self, storage: &mut WarpStorage, back_edges: u64) -> Result<ExitCode, LaunchError> {
        (self.context.back_edges, self.context.queue_back_edges) = (back_edges, back_edges);
        self.context.barrier_mask = u64::MAX;
        self.context.barrier_counts = BarrierCounts::Warps as u32;
        self.context.slot = storage.slot;
        self.context.local = storage.local();
        self.context.turn_began = self.context.instructions;
        let code = loop {
            self.context.registers = storage.registers();
            self.context.register_bytes = storage.register_bytes();
            let code = self.launch.engine.run(&mut self.context);
            // The caller gives another warp its turn anew.
            if code != ExitCode::Grow || self.context.running > 0 {
                break code;
            }
            self.launch.grow(storage, self.context.register_bytes_wanted)?;
        };
        if self.context.instructions == self.context.turn_began {
            self.uncounted += match code {
                ExitCode::Yield => back_edges,
                ExitCode::Barrier => 1,
                _ => 0,
            };
        }
        Ok(code)
    }

    /// What a suspended warp's turn came to.
    pub(super) fn returned(&mut self, block: &mut Block, slot: usize, code: ExitCode) -> Result<(), Stop> {
        let warp = block.suspended[slot].warp;
        match code {
            ExitCode::Done => self.free.extend(block.finish(slot)),
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
                let kind = FaultKind::from_number(kind).expect("an engine that returns a fault records its kind");
                let fault = Fault { lane, address, ..self.fault(block, warp, kind, pc) };
                let fault = if kind == FaultKind::Deadlock { self.deadlock(fault) } else { fault };
                return Err(Stop::Fault(Box::new(fault)));
            }
            ExitCode::Grow => unreachable!("the engine was called again"),
            // Nobody serves it: see `Engine::run`.
            ExitCode::Service => {
                let pc = self.launch.engine.block_pc(self.context.resume);
                return Err(Stop::Fault(Box::new(self.fault(block, warp, FaultKind::Unimplemented, pc))));
            }
            ExitCode::UnknownPc => {
                let fault = self.fault(block, warp, FaultKind::IllegalInstruction, self.context.indirect_pc);
                return Err(Stop::Fault(Box::new(fault)));
            }
        }
        Ok(())
    }

    /// The barrier that the context's warp has come to, whose lanes these are, and what it counts, if all of it waits at one for all
    /// others of the block and for nothing else.
    pub(super) fn whole_barrier(&self, lanes: &Lanes) -> Option<(u32, BarrierCounts)> {
        let is_all = |&(_, counts): &(u32, BarrierCounts)| counts == BarrierCounts::Warps || lanes.are_together();
        self.context.whole_barrier().filter(is_all)
    }

    /// The context's warp has come to a barrier.
    pub(super) fn arrive(&mut self, block: &mut Block, slot: usize) -> Result<(), Stop> {
        let context = &*self.context;
        let kind = BarrierKind::from_number(context.barrier_kind).expect("an engine sets the barrier's kind");
        let lanes = context.barrier_mask & context.launch_mask;
        let (barrier, threads, predicate) = (context.barrier_id, context.barrier_threads, context.barrier_predicate);
        match kind {
            BarrierKind::Exit => block.exit_lanes(slot, lanes),
            BarrierKind::Wait => block.leave_to_lanes(slot, true),
            BarrierKind::Poll => block.leave_to_lanes(slot, false),
            BarrierKind::ClusterArrive => block.arrive_at_cluster(slot),
            BarrierKind::ClusterWait => block.wait_for_cluster(slot),
            _ if barrier as usize >= BARRIERS => {
                let pc = self.launch.engine.block_pc(context.resume);
                let warp = block.suspended[slot].warp;
                return Err(Stop::Fault(Box::new(self.fault(block, warp, FaultKind::IllegalInstruction, pc))));
            }
            _ if context.barrier_counts() == BarrierCounts::Lanes => {
                block.arrive_lanes(slot, &LaneArrival { kind, barrier, expected: threads, lanes, predicate });
            }
            _ => {
                // Mostly the whole block, which is 0 threads and no division.
                let expected = if threads == 0 { 0 } else { threads.div_ceil(context.lanes) };
                block.arrive(slot, Arrival { kind, barrier, expected, lanes, predicate, first: true });
            }
        }
        Ok(())
    }

    /// With the lanes that wait; the first of them are what the fault names.
    pub(super) fn deadlock(&mut self, fault: Fault) -> Fault {
        let waiting = self.launch.engine.deadlocked(&mut self.context).into_iter();
        let warp = fault.warp;
        let waiting: Vec<Waiting> =
            waiting.map(|(lanes, pc)| Waiting { warp, lanes: Some(lanes), barrier: None, pc }).collect();
        let first = waiting.first().map(|first| (first.lanes.unwrap_or(0).trailing_zeros(), first.pc));
        let (lane, pc) = first.unwrap_or((fault.lane, fault.pc));
        Fault { lane, pc, waiting, ..fault }
    }

    pub(super) fn fault(&self, block: &Block, warp: u32, kind: FaultKind, pc: u64) -> Fault {
        Fault { kind, pc, block: block.ctaid, warp, lane: 0, address: 0, waiting: Vec::new() }
    }

    /// Before a warp goes on: stops if a lower block has a fault, and checks now and then ([`Worker::check`]).
    #[inline]
    pub(super) fn check_if_due(&mut self, block: &Block, warp: u32, resume: u32) -> Result<(), Stop> {
        if self.launch.is_moot(block.index) {
            return Err(Stop::Moot);
        }
        let spent = self.context.instructions.saturating_add(self.uncounted);
        let checked = if spent < self.next_check { Ok(()) } else { self.check() };
        // Engines keep to the limit in what they count.
        let exceeded = self.uncounted > 0 && spent > self.context.instruction_limit;
        let checked = checked.and(if exceeded { Err(FaultKind::BudgetExceeded) } else { Ok(()) });
        checked.map_err(|kind| {
            let pc = self.launch.engine.block_pc(resume);
            Stop::Fault(Box::new(self.fault(block, warp, kind, pc)))
        })
    }

    /// Brings the launch's sums, the instruction limit and the progress up to date. `Err` if the time is over.
    #[cold]
    pub(super) fn check(&mut self) -> Result<(), FaultKind> {
        let launch = self.launch;
        let instructions = self.context.instructions;
        self.next_check = instructions.saturating_add(self.uncounted).saturating_add(CHECK_INSTRUCTIONS);
        let new = instructions - self.reported_instructions;
        let total = launch.instructions.fetch_add(new, Relaxed) + new;
        self.reported_instructions = instructions;
        let newly_done = std::mem::take(&mut self.done);
        let done = launch.done.fetch_add(newly_done, Relaxed) + newly_done;
        if let Some(limit) = launch.config.instruction_limit {
            self.context.instruction_limit = instructions.saturating_add(limit.saturating_sub(total));
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
