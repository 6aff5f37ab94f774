//! Warps of a block that go in step.
//!
//! In each round, one warp after the other runs until it reaches the block-wide barrier that the
//! earlier warps of this round reached, or is done. A round that all warps have gone through
//! completes the barrier, so no warp need be entered as waiting at it.
//!
//! During a call an engine goes through the table of [`Turn`]s. Compiled code itself goes on to the
//! next warp of a round, if the warp before it has come to the round's barrier.

use std::ptr;

use super::suspended::{StoragePointers, Suspended};
use crate::warp::{BARRIERS, BarrierCounts, ExitCode, WarpContext};

/// A warp of the table: the fields that the context has of a running warp, in the context's order,
/// and the end of the warp's last turn.
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
    /// 1 if the warp has come to a barrier in this call, else 0.
    pub came: u32,
}

/// The block to go on at of a warp that is done.
pub(crate) const DONE: u32 = u32::MAX;

/// The barrier number that stands for no barrier.
pub(crate) const NO_BARRIER: u32 = u32::MAX;

/// Added to the number of a barrier that counts lanes.
const OF_LANES: u32 = 1 << 16;

const _: () = assert!((BARRIERS as u32) < OF_LANES);

/// The suspended warps of a block, during a call of the engine for one of them or for all.
pub(crate) struct Step {
    /// The warps. `turns` has a turn for each.
    pub(super) warps: Vec<Suspended>,
    turns: Vec<Turn>,
    /// The turn of the running warp. Null or behind the last turn if no suspended warp runs, or if
    /// the call has ended with the round.
    pub(crate) turn: *mut Turn,
    /// The last turn, if an engine may go on to another warp; else null.
    pub(crate) last: *mut Turn,
    /// The number of the barrier to which warps have come in this round, or [`NO_BARRIER`].
    pub(crate) barrier: u32,
    /// The count of instructions from which on no further round begins. `rounds` is the number of
    /// rounds left.
    pub(super) until: u64,
    pub(super) rounds: u32,
    /// The back edges of a turn.
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
    /// Returns the index of the warp that has its turn, or the number of warps if there is none.
    pub(super) fn running(&self) -> usize {
        let bytes = self.turn.addr().wrapping_sub(self.turns.as_ptr().addr());
        if self.turn.is_null() { self.warps.len() } else { bytes / size_of::<Turn>() }
    }

    /// Returns the index of the next warp that is not done, in this round or in the next.
    ///
    /// The index lies behind the last warp if no round begins after `instructions` counted
    /// instructions.
    #[inline(never)]
    fn next(&mut self, running: usize, instructions: u64) -> usize {
        let count = self.turns.len();
        let left = |from: usize| (from..count).find(|&index| !self.turns[index].is_done());
        let next = left(running + 1).or_else(|| {
            // The next round may lead to another barrier.
            let met = std::mem::replace(&mut self.barrier, NO_BARRIER) != NO_BARRIER;
            self.rounds = self.rounds.saturating_sub(1);
            if met && self.rounds > 0 && instructions < self.until { left(0) } else { None }
        });
        next.unwrap_or(count)
    }

    /// Takes the barrier to which warps have come in a round that has ended too early.
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

    /// Gives the warps back to the block, in the states in which their turns ended.
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

    /// Updates a running warp's turn after its storage has moved.
    pub(super) fn move_storage(&mut self, index: usize) {
        let StoragePointers { registers, register_bytes, local, .. } =
            self.warps[index].storage.place();
        let turn = &mut self.turns[index];
        (turn.registers, turn.register_bytes, turn.local) = (registers, register_bytes, local);
    }

    /// Sets whether an engine may go on to another warp.
    pub(super) fn allow(&mut self, passes: bool) {
        let last = self.turns.len().wrapping_sub(1);
        self.last =
            if passes { self.turns.as_mut_ptr().wrapping_add(last) } else { ptr::null_mut() };
    }
}

impl WarpContext<'_> {
    /// Ends the running warp's turn with an exit code. Returns whether another warp has its turn
    /// now.
    ///
    /// If so, `resume` is the block at which that warp goes on. If not, the call ends with the exit
    /// code, and another call of this function changes nothing.
    #[inline]
    pub fn pass_on(&mut self, code: ExitCode) -> bool {
        !self.step.last.is_null() && self.next_turn(code)
    }

    /// Limits the call to one warp, for engines that do not pass on.
    pub fn stay_in_warp(&mut self) {
        self.step.last = ptr::null_mut();
    }

    /// Passes on as [`WarpContext::pass_on`], for warps that go in step.
    #[inline]
    pub(super) fn next_turn(&mut self, code: ExitCode) -> bool {
        let whole = if code == ExitCode::Barrier { self.whole_barrier() } else { None };
        let step = &mut self.step;
        let running = step.running();
        let Some(turn) = step.turns.get_mut(running) else { return false };
        // The scheduler charges a turn that counted nothing.
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

    /// Goes on with the suspended warp at `index`.
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
        // The warp is a chain of its own.
        self.chain_end = 0;
        self.expect_turn();
    }

    /// Sets the fields with which a turn begins.
    #[inline]
    pub(super) fn expect_turn(&mut self) {
        self.back_edges = self.step.back_edges;
        (self.barrier_mask, self.barrier_counts) = (u64::MAX, BarrierCounts::Warps as u32);
        self.step.turn_began = self.instructions;
    }

    /// Sets the storage of the warp.
    #[inline]
    pub(super) fn stand_at(
        &mut self,
        StoragePointers { slot, registers, register_bytes, local }: StoragePointers,
    ) {
        (self.slot, self.local) = (slot, local);
        (self.registers, self.register_bytes) = (registers, register_bytes);
    }
}
