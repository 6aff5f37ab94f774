//! Warps of a block that go in step: one after the other has its turn, round after round, as long as each comes to the barrier of the
//! whole block to which those before it have come, or is done. A round that all have gone through completes the barrier, and none need be
//! entered as waiting at it.

use super::suspended::{Place, Suspended};
use crate::warp::{BarrierCounts, ExitCode, WarpContext};

/// The block's warps that have been suspended, during a call of the engine for one of them or for all.
#[derive(Default)]
pub(crate) struct Step {
    /// Of those in step all that are not done can go on, with all their lanes.
    pub(super) warps: Vec<Suspended>,
    /// The one that runs. Behind the last: the call has ended with the round.
    pub(super) running: usize,
    /// To which warps have come in this round.
    pub(super) barrier: Option<(u32, BarrierCounts)>,
    /// Counted instructions with which no further round begins, and rounds.
    pub(super) until: u64,
    pub(super) rounds: u32,
    /// Of a turn.
    pub(super) back_edges: u64,
    /// `WarpContext::instructions` when the turn began.
    pub(super) turn_began: u64,
    /// Whether an engine may go on to another warp.
    pub(super) passes: bool,
}

impl Step {
    /// The next warp, past those that are done or in the next round. Behind the last: no round begins, with so many counted instructions.
    #[inline(never)]
    fn next(&mut self, instructions: u64) -> usize {
        let left = |from: usize| self.warps[from..].iter().position(|warp| !warp.is_done()).map(|more| from + more);
        let next = left(self.running + 1).or_else(|| {
            // The next round may be to another barrier.
            let met = self.barrier.take().is_some();
            self.rounds = self.rounds.saturating_sub(1);
            if met && self.rounds > 0 && instructions < self.until { left(0) } else { None }
        });
        next.unwrap_or(self.warps.len())
    }
}

impl WarpContext<'_> {
    /// The running warp's turn has ended so. Whether another one has its turn now: `resume` is then where that one goes on. If not, the call
    /// ends with this exit code, and asking again changes nothing.
    #[inline]
    pub fn pass_on(&mut self, code: ExitCode) -> bool {
        self.step.passes && self.next_turn(code)
    }

    /// For engines that do not pass on: this call is for one warp.
    pub fn stay_in_warp(&mut self) {
        self.step.passes = false;
    }

    /// As [`WarpContext::pass_on`], of warps that go in step.
    #[inline]
    pub(super) fn next_turn(&mut self, code: ExitCode) -> bool {
        let whole = if code == ExitCode::Barrier { self.whole_barrier() } else { None };
        let step = &mut self.step;
        let Some(warp) = step.warps.get_mut(step.running) else { return false };
        // A turn that counted nothing is charged by the scheduler.
        let counted = self.instructions > step.turn_began;
        match whole {
            None if code == ExitCode::Done => warp.finish(),
            Some((_, counts)) if counted && step.barrier.is_none_or(|barrier| whole == Some(barrier)) => {
                step.barrier = whole;
                warp.come_through(counts, self.resume);
            }
            _ => return false,
        }
        let next = step.running + 1;
        let is_next = step.warps.get(next).is_some_and(|warp| !warp.is_done());
        step.running = if is_next { next } else { step.next(self.instructions) };
        let goes_on = step.running < step.warps.len();
        if goes_on {
            self.begin_turn();
        }
        goes_on
    }

    /// The running one of the suspended warps goes on.
    #[inline]
    pub(super) fn begin_turn(&mut self) {
        let warp = &self.step.warps[self.step.running];
        (self.warp, self.chain_end, self.launch_mask) = (warp.warp, warp.warp + 1, warp.launch_mask);
        (self.resume, self.barrier_result, self.barrier_released) = (warp.resume, warp.barrier_result, warp.released);
        self.stand_at(warp.storage.place());
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
    pub(super) fn stand_at(&mut self, Place { slot, registers, register_bytes, local }: Place) {
        (self.slot, self.local) = (slot, local);
        (self.registers, self.register_bytes) = (registers, register_bytes);
    }
}
