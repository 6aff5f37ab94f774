//! Warps of a block that go in step: one after the other has its turn, round after round, as long as each comes to the barrier of the
//! whole block to which those before it have come, or is done. A round that all have gone through completes the barrier, and none need be
//! entered as waiting at it.
//!
//! During a call an engine goes through the table of [`Turn`]s. Compiled code does so by itself where the next warp of a round follows
//! one that has come to the round's barrier.

use std::ptr;

use super::suspended::{StoragePointers, Suspended};
use crate::warp::{BARRIERS, BarrierCounts, ExitCode, WarpContext};

/// A warp of the table: the fields that the context has of it while it runs, in the context's order, and how its last turn ended.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub registers: *mut u8,
    pub register_bytes: u64,
    pub local: *mut u8,
    pub launch_mask: u64,
    pub barrier_released: u64,
    pub warp: u32,
    pub slot: u32,
    pub barrier_result: u32,
    pub end: TurnEnd,
}

impl Turn {
    fn is_done(&self) -> bool {
        self.end.resume == DONE
    }
}

#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub(crate) struct TurnEnd {
    /// Block to go on at, or [`DONE`].
    pub resume: u32,
    /// 1 if it has come to a barrier in this call, else 0.
    pub came: u32,
}

/// Block to go on at: none.
pub(crate) const DONE: u32 = u32::MAX;

/// No barrier.
pub(crate) const NO_BARRIER: u32 = u32::MAX;

/// Added to the number of a barrier that counts lanes.
const OF_LANES: u32 = 1 << 16;

const _: () = assert!((BARRIERS as u32) < OF_LANES);

/// The block's warps that have been suspended, during a call of the engine for one of them or for all.
pub(crate) struct Step {
    /// The warps, and a turn for each.
    pub(super) warps: Vec<Suspended>,
    turns: Vec<Turn>,
    /// The turn of the warp that runs. Null or behind the last: the call has ended with the round.
    pub(crate) turn: *mut Turn,
    /// The last one, if an engine may go on to another warp; else null.
    pub(crate) last: *mut Turn,
    /// The number of the barrier to which warps have come in this round, or [`NO_BARRIER`].
    pub(crate) barrier: u32,
    /// Counted instructions with which no further round begins, and rounds.
    pub(super) until: u64,
    pub(super) rounds: u32,
    /// Of a turn.
    pub(crate) back_edges: u64,
    /// `WarpContext::instructions` when the turn began.
    pub(crate) turn_began: u64,
}

impl Default for Step {
    fn default() -> Step {
        Step {
            warps: Vec::new(),
            turns: Vec::new(),
            turn: ptr::null_mut(),
            last: ptr::null_mut(),
            barrier: NO_BARRIER,
            until: 0,
            rounds: 0,
            back_edges: 0,
            turn_began: 0,
        }
    }
}

fn number((barrier, counts): (u32, BarrierCounts)) -> u32 {
    barrier + if counts == BarrierCounts::Lanes { OF_LANES } else { 0 }
}

impl Step {
    /// Which warp has its turn. Behind the last: none.
    pub(super) fn running(&self) -> usize {
        let bytes = self.turn.addr().wrapping_sub(self.turns.as_ptr().addr());
        if self.turn.is_null() { self.warps.len() } else { bytes / size_of::<Turn>() }
    }

    /// The next warp, past those that are done or in the next round. Behind the last: no round begins, with so many counted instructions.
    #[inline(never)]
    fn next(&mut self, running: usize, instructions: u64) -> usize {
        let count = self.turns.len();
        let left = |from: usize| (from..count).find(|&index| !self.turns[index].is_done());
        let next = left(running + 1).or_else(|| {
            // The next round may be to another barrier.
            let met = std::mem::replace(&mut self.barrier, NO_BARRIER) != NO_BARRIER;
            self.rounds = self.rounds.saturating_sub(1);
            if met && self.rounds > 0 && instructions < self.until { left(0) } else { None }
        });
        next.unwrap_or(count)
    }

    /// The barrier to which warps have come in the round that has ended too early.
    pub(super) fn take_barrier(&mut self) -> Option<(u32, BarrierCounts)> {
        let barrier = std::mem::replace(&mut self.barrier, NO_BARRIER);
        let counts =
            if barrier & OF_LANES == 0 { BarrierCounts::Warps } else { BarrierCounts::Lanes };
        (barrier != NO_BARRIER).then_some((barrier & (OF_LANES - 1), counts))
    }

    /// Takes a block's warps for a call.
    pub(super) fn take(&mut self, warps: &mut Vec<Suspended>) {
        std::mem::swap(&mut self.warps, warps);
        self.turns.clear();
        self.turns.extend(self.warps.iter().map(Suspended::turn));
    }

    /// Gives them back, with what has become of them.
    pub(super) fn give_back(&mut self, warps: &mut Vec<Suspended>) {
        for (warp, turn) in self.warps.iter_mut().zip(&self.turns) {
            let TurnEnd { resume, came } = turn.end;
            if came != 0 {
                warp.come_through(turn.barrier_released);
            }
            if resume == DONE && !warp.is_done() {
                warp.finish();
            } else if resume != DONE {
                warp.resume = resume;
            }
        }
        std::mem::swap(&mut self.warps, warps);
        (self.turn, self.last) = (ptr::null_mut(), ptr::null_mut());
    }

    /// The warp that runs has other storage.
    pub(super) fn move_storage(&mut self, index: usize) {
        let StoragePointers { registers, register_bytes, local, .. } =
            self.warps[index].storage.place();
        let turn = &mut self.turns[index];
        (turn.registers, turn.register_bytes, turn.local) = (registers, register_bytes, local);
    }

    /// Whether an engine may go on to another warp.
    pub(super) fn allow(&mut self, passes: bool) {
        let last = self.turns.len().wrapping_sub(1);
        self.last =
            if passes { self.turns.as_mut_ptr().wrapping_add(last) } else { ptr::null_mut() };
    }
}

impl WarpContext<'_> {
    /// The running warp's turn has ended so. Whether another one has its turn now: `resume` is then where that one goes on. If not, the call
    /// ends with this exit code, and asking again changes nothing.
    #[inline]
    pub fn pass_on(&mut self, code: ExitCode) -> bool {
        !self.step.last.is_null() && self.next_turn(code)
    }

    /// For engines that do not pass on: this call is for one warp.
    pub fn stay_in_warp(&mut self) {
        self.step.last = ptr::null_mut();
    }

    /// As [`WarpContext::pass_on`], of warps that go in step.
    #[inline]
    pub(super) fn next_turn(&mut self, code: ExitCode) -> bool {
        let whole = if code == ExitCode::Barrier { self.whole_barrier() } else { None };
        let step = &mut self.step;
        let running = step.running();
        let Some(turn) = step.turns.get_mut(running) else { return false };
        // A turn that counted nothing is charged by the scheduler.
        let counted = self.instructions > step.turn_began;
        match whole {
            None if code == ExitCode::Done => turn.end.resume = DONE,
            Some(whole)
                if counted && (step.barrier == NO_BARRIER || step.barrier == number(whole)) =>
            {
                step.barrier = number(whole);
                turn.end = TurnEnd { resume: self.resume, came: 1 };
                if whole.1 == BarrierCounts::Lanes {
                    turn.barrier_released = turn.launch_mask;
                }
            }
            _ => return false,
        }
        let next = running + 1;
        let is_next = step.turns.get(next).is_some_and(|turn| !turn.is_done());
        let next = if is_next { next } else { step.next(running, self.instructions) };
        step.turn = step.turns.as_mut_ptr().wrapping_add(next);
        let goes_on = next < step.turns.len();
        if goes_on {
            self.begin_turn(next);
        }
        goes_on
    }

    /// This one of the suspended warps goes on.
    #[inline]
    pub(super) fn begin_turn(&mut self, index: usize) {
        let turns = &mut self.step.turns;
        self.step.turn = turns.as_mut_ptr().wrapping_add(index);
        let turn = turns[index];
        (self.registers, self.register_bytes) = (turn.registers, turn.register_bytes);
        (self.local, self.launch_mask, self.barrier_released) =
            (turn.local, turn.launch_mask, turn.barrier_released);
        (self.warp, self.slot, self.barrier_result) = (turn.warp, turn.slot, turn.barrier_result);
        self.resume = turn.end.resume;
        // It is a chain of its own.
        self.chain_end = 0;
        self.expect_turn();
    }

    /// A turn begins.
    #[inline]
    pub(super) fn expect_turn(&mut self) {
        self.back_edges = self.step.back_edges;
        (self.barrier_mask, self.barrier_counts) = (u64::MAX, BarrierCounts::Warps as u32);
        self.step.turn_began = self.instructions;
    }

    /// The warp has this storage.
    #[inline]
    pub(super) fn stand_at(
        &mut self,
        StoragePointers { slot, registers, register_bytes, local }: StoragePointers,
    ) {
        (self.slot, self.local) = (slot, local);
        (self.registers, self.register_bytes) = (registers, register_bytes);
    }
}
