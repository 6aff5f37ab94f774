//! A running block: its suspended warps, its barriers and its shared memory.

use super::barrier::{Arrival, Barriers, CLUSTER};
use super::config::LaunchError;
use super::lanes::{LaneArrival, LaneBarriers};
use super::outcome::Waiting;
use super::suspended::{State, Suspended, WarpStorage, allocate};
use crate::warp::{BarrierCounts, BarrierKind, SHARED_PADDING};
use crate::zeroed::Zeroed;

pub(super) struct Block {
    /// Index in the grid, x fastest.
    pub index: u64,
    pub ctaid: [u32; 3],
    /// Blocks after it whose `ctaid[0]` is less may run in the same call.
    row_end: u32,
    pub warps: u32,
    /// Warps with lower numbers have started.
    pub started: u32,
    /// The suspended warps in ascending order. Warps that finish in their first turn, as some of a
    /// chain, never appear here.
    pub suspended: Vec<Suspended>,
    /// Whether warps of the block have come to a barrier of the whole block. The next block's warps
    /// are expected to, as well.
    pub meets: bool,
    /// Whether the block has been set aside: it takes turns with other blocks.
    pub aside: bool,
    /// Rounds of short turns after which the block repeated its state when it was last probed; 0 if
    /// it did not.
    pub period: u32,
    /// The number of times that a barrier has let a warp go on.
    pub released: u64,
    /// Warps of `suspended` that are not done. `ready` counts the warps of `suspended` that can go
    /// on.
    pub live: u32,
    pub ready: u32,
    barriers: Barriers,
    lane_barriers: LaneBarriers,
    shared: Zeroed,
    shared_bytes: u64,
}

impl Block {
    pub(super) fn new(warps: u32, shared_bytes: u64) -> Result<Block, LaunchError> {
        let bytes = shared_bytes + SHARED_PADDING;
        let shared = allocate(bytes)?;
        Ok(Block {
            index: 0,
            ctaid: [0; 3],
            row_end: 0,
            warps,
            started: 0,
            suspended: Vec::new(),
            meets: false,
            aside: false,
            period: 0,
            released: 0,
            live: 0,
            ready: 0,
            barriers: Barriers::default(),
            lane_barriers: LaneBarriers::default(),
            shared,
            shared_bytes,
        })
    }

    /// Becomes another block of the grid. `following` later blocks along x may follow in the same
    /// call.
    ///
    /// The last block has finished, and its warps are still in `suspended`.
    #[inline]
    pub(super) fn begin(&mut self, index: u64, ctaid: [u32; 3], following: u32) {
        self.index = index;
        self.ctaid = ctaid;
        self.row_end = ctaid[0] + 1 + following;
        self.started = 0;
        (self.aside, self.period) = (false, 0);
        if !self.suspended.is_empty() {
            self.clear_barriers();
        }
        if self.shared_bytes > 0 {
            // SAFETY: the allocation has these bytes, and no warp runs.
            unsafe { self.shared.pointer().as_ptr().write_bytes(0, self.shared_bytes as usize) };
        }
    }

    /// Removes all arrivals at the barriers.
    pub(super) fn clear_barriers(&mut self) {
        self.barriers.clear();
        self.lane_barriers.clear();
    }

    /// Returns the barriers with their arrivals.
    pub(super) fn barriers(&self) -> (&Barriers, &LaneBarriers) {
        (&self.barriers, &self.lane_barriers)
    }

    /// Returns the `ctaid[0]` before which a call that begins with a warp has to end.
    ///
    /// Only a call that begins with the first warp may go on to later blocks: in other calls
    /// earlier warps of the block may not be done.
    #[inline]
    pub(super) fn row_end(&self, first_warp: u32) -> u32 {
        if first_warp == 0 { self.row_end } else { self.ctaid[0] + 1 }
    }

    /// Returns whether each warp that can go on gave up its last turn.
    pub(super) fn has_yielded(&self) -> bool {
        self.suspended.iter().all(|warp| warp.state != State::Ready { yielded: false })
    }

    /// Becomes the block that lies `blocks` further along x, to which the engine went on.
    pub(super) fn pass(&mut self, blocks: u32) {
        self.index += u64::from(blocks);
        self.ctaid[0] += blocks;
    }

    pub(super) fn shared(&self) -> *mut u8 {
        self.shared.pointer().as_ptr()
    }

    /// Returns the content of the block's shared memory.
    pub(super) fn shared_content(&self) -> &[u8] {
        // SAFETY: the allocation has these bytes, which began as zeros. Warps of the block write to
        // them, and none runs as long as the scheduler has a reference to the block.
        unsafe { std::slice::from_raw_parts(self.shared(), self.shared_bytes as usize) }
    }

    pub(super) fn is_done(&self) -> bool {
        self.started == self.warps && self.live == 0
    }

    /// Returns the number of warps that are done.
    fn exited(&self) -> u32 {
        self.started - self.live
    }

    /// Adds a warp that has just returned from its first turn, and returns its slot. The warp can
    /// go on until it is said to wait.
    pub(super) fn suspend(&mut self, warp: Suspended) -> usize {
        debug_assert!(self.suspended.last().is_none_or(|last| last.warp < warp.warp));
        self.suspended.push(warp);
        self.live += 1;
        self.ready += 1;
        self.suspended.len() - 1
    }

    /// Removes the warps of the last block, and returns their storage for other warps.
    pub(super) fn retire(&mut self) -> impl Iterator<Item = WarpStorage> {
        self.suspended.drain(..).map(|warp| warp.storage)
    }

    /// Suspends all warps of the block before they begin.
    pub(super) fn start_all(&mut self) {
        self.suspended.iter_mut().for_each(Suspended::begin_anew);
        (self.started, self.live, self.ready) = (self.warps, self.warps, self.warps);
    }

    /// Notes that a suspended warp is done.
    pub(super) fn finish(&mut self, slot: usize) {
        let warp = &mut self.suspended[slot];
        warp.finish();
        self.live -= 1;
        self.ready -= 1;
        self.barriers.exit(warp.arrived);
        self.release();
    }

    /// Counts the live warps again, since warps that went in step may be done.
    pub(super) fn count(&mut self) {
        self.live = self.suspended.iter().filter(|warp| !warp.is_done()).count() as u32;
        self.ready = self.live;
    }

    /// Notes that a suspended warp arrives at a barrier. This function sets `arrival.first`.
    pub(super) fn arrive(&mut self, slot: usize, arrival: Arrival) {
        let warp = &mut self.suspended[slot];
        let bit = 1 << arrival.barrier;
        let first = warp.arrived & bit == 0;
        warp.arrived |= bit;
        if arrival.kind == BarrierKind::Arrive {
            warp.state = State::Ready { yielded: false };
        } else {
            warp.state = State::Waiting { barrier: arrival.barrier, kind: arrival.kind };
            self.ready -= 1;
        }
        self.barriers.arrive(&Arrival { first, ..arrival });
        self.release_from(arrival.barrier);
    }

    /// Notes that a suspended warp arrives at the barrier of the cluster, and goes on.
    pub(super) fn arrive_at_cluster(&mut self, slot: usize) {
        self.arrive(slot, Arrival { kind: BarrierKind::Arrive, ..Arrival::at_whole(CLUSTER) });
    }

    /// Makes a suspended warp wait for the other warps at the barrier of the cluster, if that is
    /// not complete since the warp arrived.
    pub(super) fn wait_for_cluster(&mut self, slot: usize) {
        let warp = &mut self.suspended[slot];
        if warp.arrived >> CLUSTER & 1 == 0 {
            warp.state = State::Ready { yielded: false };
        } else {
            warp.state = State::Waiting { barrier: CLUSTER, kind: BarrierKind::Sync };
            self.ready -= 1;
        }
    }

    /// Returns whether the warps may go in step.
    ///
    /// All warps have started, and none has arrived at a barrier. Warps that are not done can go on
    /// with all their lanes, and did not yield.
    pub(super) fn may_go_in_step(&self) -> bool {
        let none_arrived = self.barriers.active().next().is_none() && self.lane_barriers.is_idle();
        let goes_on = |warp: &Suspended| match warp.state {
            State::Ready { yielded } => !yielded && warp.lanes.are_together(),
            State::Waiting { .. } | State::WaitingForLanes => false,
            State::Done => true,
        };
        self.started == self.warps && none_arrived && self.suspended.iter().all(goes_on)
    }

    /// Notes that lanes of a suspended warp arrive at a barrier. The warp goes on with lanes that
    /// do not wait, or that are released.
    pub(super) fn arrive_lanes(&mut self, slot: usize, arrival: &LaneArrival) {
        self.lane_barriers.arrive(&mut self.suspended[slot], arrival);
        let warp = &self.suspended[slot];
        let waits = arrival.kind.waits() && warp.free_lanes() == 0;
        self.leave_to_lanes(slot, waits);
    }

    /// Notes that lanes of a suspended warp have exited, while others go on.
    pub(super) fn exit_lanes(&mut self, slot: usize, lanes: u64) {
        self.suspended[slot].lanes.exit(lanes);
        self.leave_to_lanes(slot, false);
    }

    /// Lets a suspended warp go on with its released lanes. Unless `waits`, the warp goes on before
    /// any are released.
    pub(super) fn leave_to_lanes(&mut self, slot: usize, waits: bool) {
        self.ready -= 1;
        self.suspended[slot].state = State::WaitingForLanes;
        self.release_lanes();
        let warp = &mut self.suspended[slot];
        // Warps that yield let others have their turns.
        if warp.state == State::WaitingForLanes && !waits {
            warp.hand_over();
            warp.state = State::Ready { yielded: true };
            self.ready += 1;
        }
    }

    /// Lets the warps go on that wait for lanes, if some of their lanes are released now.
    fn release_lanes(&mut self) {
        self.lane_barriers.release(&mut self.suspended, self.started == self.warps);
        for warp in &mut self.suspended {
            if warp.state == State::WaitingForLanes && warp.lanes.has_released() {
                warp.hand_over();
                warp.state = State::Ready { yielded: false };
                (self.ready, self.released) = (self.ready + 1, self.released + 1);
            }
        }
    }

    /// Notes that the warps in the slots below this one that are not done arrive at a barrier of
    /// the whole block, which counts warps or lanes.
    pub(super) fn arrive_up_to(&mut self, slot: usize, (barrier, counts): (u32, BarrierCounts)) {
        for earlier in 0..slot {
            if self.suspended[earlier].is_done() {
                continue;
            }
            match counts {
                BarrierCounts::Warps => self.arrive(earlier, Arrival::at_whole(barrier)),
                BarrierCounts::Lanes => {
                    let all = self.suspended[earlier].launch_mask;
                    self.arrive_lanes(earlier, &LaneArrival::at_whole(barrier, all));
                }
            }
        }
    }

    /// Lets the warps go on whose barriers are complete now that others have exited.
    pub(super) fn release(&mut self) {
        for barrier in self.barriers.active() {
            self.release_from(barrier);
        }
        if !self.lane_barriers.is_idle() {
            self.release_lanes();
        }
    }

    /// Lets the warps go on that wait at a barrier, if it is complete.
    fn release_from(&mut self, barrier: u32) {
        if !self.barriers.is_complete(barrier, self.warps, self.exited()) {
            return;
        }
        for warp in &mut self.suspended {
            warp.arrived &= !(1 << barrier);
            match warp.state {
                State::Waiting { barrier: at, kind } if at == barrier => {
                    warp.state = State::Ready { yielded: false };
                    warp.barrier_result =
                        self.barriers.result(barrier, kind).unwrap_or(warp.barrier_result);
                    (self.ready, self.released) = (self.ready + 1, self.released + 1);
                }
                _ => {}
            }
        }
        self.barriers.reset(barrier);
    }

    /// Returns the warps and lanes that wait. `pc` returns the address of a block number.
    pub(super) fn waiting(&self, pc: impl Fn(u32) -> u64) -> Vec<Waiting> {
        let mut waiting = Vec::new();
        for warp in &self.suspended {
            if let State::Waiting { barrier, .. } = warp.state {
                let barrier = (barrier != CLUSTER).then_some(barrier);
                waiting.push(Waiting {
                    warp: warp.warp,
                    lanes: None,
                    barrier,
                    pc: pc(warp.resume),
                });
            }
            if !warp.is_done() {
                let lanes = warp.lanes.waits.iter();
                waiting.extend(lanes.map(|wait| Waiting {
                    warp: warp.warp,
                    lanes: Some(wait.lanes),
                    barrier: Some(wait.barrier),
                    pc: pc(wait.resume),
                }));
            }
        }
        waiting
    }
}
