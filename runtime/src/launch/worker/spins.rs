//! Detects blocks that spin: short turns of their warps lead back to their current state.

use std::sync::atomic::Ordering::Relaxed;

use super::super::block::Block;
use super::super::repeats::Extent;
use super::super::suspended::State;
use super::{Stop, Worker};

/// Guest instructions that a block counts before it is first probed for a repeated state. In a turn
/// of a block that was set aside, `NEXT_PROBE` instructions lie before the next probe.
const FIRST_PROBE: u64 = 1 << 15;
const NEXT_PROBE: u64 = 1 << 12;
/// Guest instructions after which a block that repeats no state is set aside.
pub(super) const LONG: u64 = 1 << 24;
/// Turns of warps, of one back edge each, within which a block that repeats a state is expected to
/// repeat it.
///
/// Loops of independent lanes that wait count 32 rounds, of some back edges each, before other
/// lanes have their turn.
const PERIOD: u32 = 512;
/// Turns after which a block that repeats a state later is expected to differ little from its first
/// state.
const SHORT: u32 = 16;

/// Why a block's turn ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    Done,
    /// The block has come back to an earlier state.
    Spins,
    /// The block has run for long.
    Long,
}

impl Worker<'_> {
    /// Gives the context's block turns until it is done, has counted `slice` instructions, or, if
    /// `is_asked`, repeats a state. Blocks that are expected to wait have one turn.
    #[inline]
    pub(super) fn run_on(
        &mut self,
        block: &mut Block,
        slice: u64,
        is_asked: bool,
    ) -> Result<Pause, Stop> {
        let began = self.spent();
        self.sweep(block)?;
        if block.is_done() {
            Ok(Pause::Done)
        } else {
            self.run_longer(block, (began, slice), is_asked)
        }
    }

    /// Goes on as [`Worker::run_on`], for a block whose first turn began at the spending `began`.
    fn run_longer(
        &mut self,
        block: &mut Block,
        (began, slice): (u64, u64),
        is_asked: bool,
    ) -> Result<Pause, Stop> {
        let cooperative = self.launch.config.cooperative;
        let waits = block.aside && (cooperative || block.period > 0);
        let mut probe = began.saturating_add(if block.aside { 0 } else { FIRST_PROBE });
        let end = began.saturating_add(slice);
        let step = if block.aside { NEXT_PROBE } else { FIRST_PROBE };
        while !block.is_done() {
            let spent = self.spent();
            // A warp that came through a barrier may go on.
            let goes_on =
                waits && !cooperative && spent - began < NEXT_PROBE && !block.has_yielded();
            if spent < probe || goes_on {
                self.sweep(block)?;
                continue;
            }
            let extent = if block.aside { Extent::Registers } else { Extent::Memory };
            if is_asked && self.repeats(block, extent)? {
                self.launch.spun.store(true, Relaxed);
                return Ok(Pause::Spins);
            }
            if spent >= end || waits {
                break;
            }
            probe = spent.saturating_add((spent - began).max(step)).min(end);
        }
        Ok(if block.is_done() { Pause::Done } else { Pause::Long })
    }

    /// Returns whether the context's block comes back to its current state when its warps have
    /// short turns.
    ///
    /// Registers that nobody reads differ between engines, and so may the answer. A launch with a
    /// limit of instructions, which ends every loop, is the same on all engines to the last
    /// instruction, so it is not probed.
    pub(super) fn repeats(&mut self, block: &mut Block, extent: Extent) -> Result<bool, Stop> {
        if self.launch.config.instruction_limit.is_some() {
            return Ok(false);
        }
        self.probes = true;
        let result = self.repeats_in_short_turns(block, extent);
        self.probes = false;
        result
    }

    fn repeats_in_short_turns(&mut self, block: &mut Block, extent: Extent) -> Result<bool, Stop> {
        let known = std::mem::take(&mut block.period);
        let period = if known > 0 && extent == Extent::Registers {
            Some(known)
        } else {
            self.period(block, extent)?
        };
        let Some(period) = period else { return Ok(false) };
        let repeats = self.comes_back(block, extent, period)?
            || self.snapshot.lacks_released(block)
                && self.comes_back(block, Extent::Memory, period)?;
        block.period = if repeats { period } else { 0 };
        Ok(repeats)
    }

    /// Returns the number of rounds of turns after which the first ready warp of the context's
    /// block is again in its current state. Mostly the function finds soon that the block goes on.
    fn period(&mut self, block: &mut Block, extent: Extent) -> Result<Option<u32>, Stop> {
        let first =
            block.suspended.iter().position(|warp| matches!(warp.state, State::Ready { .. }));
        if !first.is_some_and(|first| self.snapshot.take(block, Extent::Warp(first))) {
            return Ok(None);
        }
        let warps = block.ready.max(1);
        let most = if extent == Extent::Memory { PERIOD } else { (PERIOD / warps).max(SHORT) };
        let (mut is_near, mut came_by) = (false, false);
        for round in 1..=most {
            self.sweep(block)?;
            if block.is_done() {
                break;
            }
            if self.snapshot.is_of(block) {
                return Ok(Some(round));
            }
            if !is_near && let Some(near) = self.snapshot.is_near(block) {
                (is_near, came_by) = (near, true);
            }
            if !is_near && (round >= SHORT || came_by && round >= SHORT / warps) {
                break;
            }
        }
        Ok(None)
    }

    /// Returns whether the context's block is again in its current state after `rounds` rounds of
    /// turns.
    fn comes_back(&mut self, block: &mut Block, extent: Extent, rounds: u32) -> Result<bool, Stop> {
        if block.is_done() || !self.snapshot.take(block, extent) {
            return Ok(false);
        }
        for _ in 0..rounds {
            self.sweep(block)?;
            if block.is_done() {
                return Ok(false);
            }
        }
        Ok(self.snapshot.is_of(block))
    }
}
