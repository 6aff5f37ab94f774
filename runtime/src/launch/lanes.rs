//! Barriers that count lanes ([`BarrierCounts::Lanes`](crate::warp::BarrierCounts)): each lane
//! arrives and waits by itself.

use std::collections::VecDeque;

use super::barrier::reduction;
use super::suspended::Suspended;
use crate::warp::{BARRIERS, BarrierKind};

/// The arrivals at one barrier since it was last complete.
#[derive(Clone, Copy, Default, PartialEq)]
struct Cell {
    /// Arrivals of lanes. A lane that arrives again, without having waited, counts again.
    arrivals: u32,
    /// Arrivals that complete the barrier, as the first arrival says; 0 stands for all lanes of the
    /// block that have not exited.
    expected: u32,
    /// Lanes that arrived in reducing kinds. `set` counts the lanes whose predicate is set.
    lanes: u32,
    set: u32,
}

#[derive(Clone, Default, PartialEq)]
pub(super) struct LaneBarriers {
    cells: [Cell; BARRIERS],
    /// Bit set of the barriers at which a lane has arrived.
    active: u16,
}

/// Lanes of one warp that arrive together.
#[derive(Clone, Copy)]
pub(super) struct LaneArrival {
    pub kind: BarrierKind,
    /// Less than [`BARRIERS`].
    pub barrier: u32,
    /// The lanes that the barrier awaits; 0 stands for all lanes of the block.
    pub expected: u32,
    pub lanes: u64,
    /// Lanes whose predicate is set. Bits of lanes that do not arrive have no effect.
    pub predicate: u64,
}

impl LaneArrival {
    /// Returns the arrival of lanes that wait for all other lanes of the block, and for nothing
    /// else.
    pub(super) fn at_whole(barrier: u32, lanes: u64) -> LaneArrival {
        LaneArrival { kind: BarrierKind::Sync, barrier, expected: 0, lanes, predicate: 0 }
    }
}

/// Lanes that wait at a barrier.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Wait {
    pub barrier: u32,
    pub lanes: u64,
    /// Block number to go on at.
    pub resume: u32,
    kind: BarrierKind,
}

/// Lanes that a complete barrier hands back to their warp, and its result for them.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Released {
    pub lanes: u64,
    pub result: Option<u32>,
}

/// The state of a suspended warp's lanes at barriers that count lanes.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Lanes {
    pub waits: Vec<Wait>,
    /// Lanes that have exited while the warp goes on.
    pub exited: u64,
    /// Barriers, and the lanes that have arrived at each since it was last complete and have not
    /// exited.
    arrived: Vec<(u32, u64)>,
    released: VecDeque<Released>,
}

impl Lanes {
    /// Returns all lanes that wait.
    pub(super) fn waiting(&self) -> u64 {
        self.waits.iter().fold(0, |lanes, wait| lanes | wait.lanes)
    }

    /// Returns whether no lane has exited or come to a barrier that is not over.
    pub(super) fn are_together(&self) -> bool {
        self.exited == 0
            && self.waits.is_empty()
            && self.arrived.is_empty()
            && self.released.is_empty()
    }

    /// Takes the lanes that the next complete barrier hands back.
    pub(super) fn take_released(&mut self) -> Option<Released> {
        self.released.pop_front()
    }

    pub(super) fn has_released(&self) -> bool {
        !self.released.is_empty()
    }

    /// Notes that lanes exit.
    pub(super) fn exit(&mut self, lanes: u64) {
        self.exited |= lanes;
        self.arrived.iter_mut().for_each(|(_, arrived)| *arrived &= !lanes);
        self.waits.iter_mut().for_each(|wait| wait.lanes &= !lanes);
        self.waits.retain(|wait| wait.lanes != 0);
    }

    /// Notes that lanes arrive. If they wait, they go on at block `resume`.
    fn arrive(&mut self, arrival: &LaneArrival, resume: u32) {
        let LaneArrival { kind, barrier, lanes, .. } = *arrival;
        match self.arrived.iter_mut().find(|(at, _)| *at == barrier) {
            Some((_, arrived)) => *arrived |= lanes,
            None => self.arrived.push((barrier, lanes)),
        }
        if kind.waits() {
            self.waits.push(Wait { barrier, lanes, resume, kind });
        }
    }

    /// Returns whether all lanes of `launched` that have not exited have arrived.
    fn have_arrived(&self, barrier: u32, launched: u64) -> bool {
        let arrived =
            self.arrived.iter().find(|(at, _)| *at == barrier).map_or(0, |&(_, lanes)| lanes);
        launched & !self.exited & !arrived == 0
    }

    /// Releases the lanes that wait at a complete barrier.
    fn release(&mut self, barrier: u32, cell: &Cell) {
        self.arrived.retain(|(at, _)| *at != barrier);
        let done: Vec<Wait> = self.waits.extract_if(.., |wait| wait.barrier == barrier).collect();
        for kind in BarrierKind::ALL {
            let lanes = done
                .iter()
                .filter(|wait| wait.kind == kind)
                .fold(0, |lanes, wait| lanes | wait.lanes);
            if lanes != 0 {
                self.released
                    .push_back(Released { lanes, result: reduction(kind, cell.set, cell.lanes) });
            }
        }
    }
}

impl LaneBarriers {
    pub(super) fn clear(&mut self) {
        *self = LaneBarriers::default();
    }

    pub(super) fn is_idle(&self) -> bool {
        self.active == 0
    }

    /// Notes that lanes of a warp arrive. An arrival of no lanes has no effect.
    pub(super) fn arrive(&mut self, warp: &mut Suspended, arrival: &LaneArrival) {
        if arrival.lanes == 0 {
            return;
        }
        let cell = &mut self.cells[arrival.barrier as usize];
        if cell.arrivals == 0 {
            cell.expected = arrival.expected;
        }
        cell.arrivals = cell.arrivals.saturating_add(arrival.lanes.count_ones());
        if arrival.kind.reduces() {
            cell.lanes += arrival.lanes.count_ones();
            cell.set += (arrival.lanes & arrival.predicate).count_ones();
        }
        self.active |= 1 << arrival.barrier;
        warp.lanes.arrive(arrival, warp.resume);
    }

    /// Hands back the lanes that wait at complete barriers.
    ///
    /// `started` says whether all warps of the block have started. `warps` lacks the warps that
    /// have not started, and may lack warps that are done.
    pub(super) fn release(&mut self, warps: &mut [Suspended], started: bool) {
        for barrier in 0..BARRIERS as u32 {
            if self.active >> barrier & 1 == 0 || !self.is_complete(barrier, warps, started) {
                continue;
            }
            let cell = std::mem::take(&mut self.cells[barrier as usize]);
            self.active &= !(1 << barrier);
            warps.iter_mut().for_each(|warp| warp.lanes.release(barrier, &cell));
        }
    }

    fn is_complete(&self, barrier: u32, warps: &[Suspended], started: bool) -> bool {
        let cell = &self.cells[barrier as usize];
        if cell.expected != 0 {
            return cell.arrivals >= cell.expected;
        }
        started
            && warps
                .iter()
                .all(|warp| warp.is_done() || warp.lanes.have_arrived(barrier, warp.launch_mask))
    }
}
