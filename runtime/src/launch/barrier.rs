//! The named barriers of a block that count warps. The barriers in `lanes` count lanes.
//!
//! A warp arrives once, with all its lanes (facts: Maxwell semantics, "BAR"). A barrier for the
//! whole block discounts the warps that have exited. A barrier for a given number of threads does
//! not, because nothing says which warps it is for.

use crate::warp::{BARRIERS, BarrierKind};

/// Number of the barrier of the cluster, which guests cannot name.
pub(super) const CLUSTER: u32 = BARRIERS as u32;

/// The arrivals at one barrier since it was last complete.
#[derive(Clone, Copy, Default, PartialEq)]
struct Cell {
    arrivals: u32,
    /// Warps that have arrived; `arrivals` also counts a warp that arrives again without having
    /// waited.
    warps: u32,
    /// Warps that have arrived and have exited since.
    exited: u32,
    /// Arrivals that complete the barrier, as the first arrival says; 0 stands for all warps of the
    /// block.
    expected: u32,
    /// Lanes that arrived in reducing kinds. `set` counts the lanes whose predicate is set.
    lanes: u32,
    set: u32,
}

#[derive(Clone, Default, PartialEq)]
pub(super) struct Barriers {
    cells: [Cell; BARRIERS + 1],
    /// Bit set of the barriers at which a warp has arrived.
    active: u32,
}

/// One warp's arrival.
pub(super) struct Arrival {
    pub kind: BarrierKind,
    /// Less than [`BARRIERS`], or [`CLUSTER`].
    pub barrier: u32,
    /// The warps that the barrier awaits; 0 stands for all warps of the block.
    pub expected: u32,
    /// Lanes that arrive. `predicate` has the lanes whose predicate is set.
    pub lanes: u64,
    pub predicate: u64,
    /// Whether this is the warp's first arrival since the barrier was last complete.
    pub first: bool,
}

impl Arrival {
    /// Returns the arrival of a warp that waits for all other warps of the block, and for nothing
    /// else.
    pub(super) fn at_whole(barrier: u32) -> Arrival {
        Arrival {
            kind: BarrierKind::Sync,
            barrier,
            expected: 0,
            lanes: 0,
            predicate: 0,
            first: true,
        }
    }
}

impl Barriers {
    pub(super) fn clear(&mut self) {
        while let Some(barrier) = self.active().next() {
            self.reset(barrier);
        }
    }

    /// The barriers at which a warp has arrived.
    pub(super) fn active(&self) -> impl Iterator<Item = u32> + use<> {
        let mut left = self.active;
        std::iter::from_fn(move || {
            let barrier = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (barrier <= CLUSTER).then_some(barrier)
        })
    }

    pub(super) fn arrive(&mut self, arrival: &Arrival) {
        let cell = &mut self.cells[arrival.barrier as usize];
        if cell.arrivals == 0 {
            cell.expected = arrival.expected;
        }
        cell.arrivals += 1;
        cell.warps += u32::from(arrival.first);
        if arrival.kind.reduces() {
            cell.lanes += arrival.lanes.count_ones();
            cell.set += (arrival.lanes & arrival.predicate).count_ones();
        }
        self.active |= 1 << arrival.barrier;
    }

    /// Notes that a warp exits that had arrived at the barriers of this bit set.
    pub(super) fn exit(&mut self, arrived: u32) {
        for barrier in self.active() {
            self.cells[barrier as usize].exited += arrived >> barrier & 1;
        }
    }

    /// Returns whether a barrier is complete, in a block of `warps` warps of which `exited` have
    /// exited.
    pub(super) fn is_complete(&self, barrier: u32, warps: u32, exited: u32) -> bool {
        let cell = &self.cells[barrier as usize];
        if cell.expected == 0 || cell.expected == warps {
            cell.warps + (exited - cell.exited) == warps
        } else {
            cell.arrivals >= cell.expected
        }
    }

    /// Returns the barrier's result that a waiting warp reads, for the reducing kinds.
    pub(super) fn result(&self, barrier: u32, kind: BarrierKind) -> Option<u32> {
        let cell = &self.cells[barrier as usize];
        reduction(kind, cell.set, cell.lanes)
    }

    /// Removes all arrivals at a barrier.
    pub(super) fn reset(&mut self, barrier: u32) {
        self.cells[barrier as usize] = Cell::default();
        self.active &= !(1 << barrier);
    }
}

/// Returns the result of a reducing kind for `lanes` lanes, of which `set` have the predicate set.
pub(super) fn reduction(kind: BarrierKind, set: u32, lanes: u32) -> Option<u32> {
    match kind {
        BarrierKind::Popcount => Some(set),
        BarrierKind::And => Some(u32::from(set == lanes)),
        BarrierKind::Or => Some(u32::from(set != 0)),
        _ => None,
    }
}
