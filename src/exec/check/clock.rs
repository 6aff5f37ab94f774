//! The knowledge of warps about each other: which accesses of a warp come before a point of another.
//!
//! Each warp has a clock, which counts its steps between events that order accesses. A [`Clock`]
//! has, for warps of any blocks, the last step that comes before (vector clocks, as in Flanagan and
//! Freund, "FastTrack", PLDI 2009).

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The known steps of the warps of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// By warp; of warps past the end, nothing is known.
    each: Vec<u32>,
}

impl Steps {
    pub fn of(&self, warp: u32) -> u32 {
        self.each.get(warp as usize).copied().unwrap_or(0)
    }

    pub fn raise(&mut self, warp: u32, step: u32) {
        let warp = warp as usize;
        if self.each.len() <= warp {
            self.each.resize(warp + 1, 0);
        }
        self.each[warp] = self.each[warp].max(step);
    }

    fn join(&mut self, other: &Steps) {
        if self.each.len() < other.each.len() {
            self.each.resize(other.each.len(), 0);
        }
        for (own, &other) in self.each.iter_mut().zip(&other.each) {
            *own = (*own).max(other);
        }
    }
}

/// The known steps of warps, by the numbers of their blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(Arc<FxHashMap<u32, Steps>>);

impl Clock {
    pub fn of(&self, block: u32, warp: u32) -> u32 {
        self.0.get(&block).map_or(0, |steps| steps.of(warp))
    }

    pub fn raise(&mut self, block: u32, warp: u32, step: u32) {
        Arc::make_mut(&mut self.0).entry(block).or_default().raise(warp, step);
    }

    pub fn join(&mut self, other: &Clock) {
        if Arc::ptr_eq(&self.0, &other.0) || other.0.is_empty() {
            return;
        }
        if self.0.is_empty() {
            self.0 = other.0.clone();
            return;
        }
        let news = other.0.iter().any(|(block, steps)| self.0.get(block) != Some(steps));
        if news {
            let own = Arc::make_mut(&mut self.0);
            for (&block, steps) in &*other.0 {
                own.entry(block).or_default().join(steps);
            }
        }
    }
}

/// The lanes of the warps that part, at most.
const LANES: usize = 32;

/// The knowledge of the lanes of one warp about each other, since they have parted.
#[derive(Clone, Debug)]
pub struct Lanes {
    /// By lane and other lane: the last step of the other that comes before.
    known: Box<[[u32; LANES]; LANES]>,
}

impl Lanes {
    /// Returns the knowledge of lanes that part after a step.
    pub fn parting(step: u32) -> Lanes {
        Lanes { known: Box::new([[step; LANES]; LANES]) }
    }

    /// The lanes meet after a step.
    pub fn meet(&mut self, lanes: u64, step: u32) {
        let mut all = [0; LANES];
        for lane in parted(lanes) {
            for (all, known) in all.iter_mut().zip(self.known[lane]) {
                *all = known.max(*all);
            }
        }
        for lane in parted(lanes) {
            all[lane] = step;
        }
        for lane in parted(lanes) {
            self.known[lane] = all;
        }
    }

    /// Returns a lane of `others` whose access in a step does not come before what `lane` does now.
    pub fn unordered(&self, lane: u32, others: u64, step: u32) -> Option<u32> {
        let known = &self.known[lane as usize % LANES];
        parted(others)
            .find(|&other| other != lane as usize && known[other] < step)
            .map(|other| other as u32)
    }
}

/// Returns the lanes of a mask.
pub fn lanes(mask: u64) -> impl Iterator<Item = u32> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (lane < u64::BITS).then_some(lane)
    })
}

/// Returns the lanes of a mask, of those that part.
fn parted(mask: u64) -> impl Iterator<Item = usize> {
    lanes(mask & (u64::MAX >> (64 - LANES))).map(|lane| lane as usize)
}
