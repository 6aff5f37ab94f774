//! A block that is running: its warps that have been suspended, its barriers, its shared memory.

use super::barrier::{Arrival, Barriers, CLUSTER};
use super::config::LaunchError;
use super::lanes::{LaneArrival, LaneBarriers, Lanes, Released};
use super::outcome::Waiting;
use crate::warp::{BarrierCounts, BarrierKind, LOCAL_PADDING, SHARED_PADDING};
use crate::zeroed::Zeroed;

/// Register file and local memory of one warp: allocations of their own, so that debug builds have a fence between them.
pub(super) struct WarpStorage {
    /// `WarpContext::slot` of the warps that use it.
    pub slot: u32,
    registers: Zeroed,
    local: Zeroed,
    local_bytes: u64,
    /// Whether a warp has used the local memory, which begins zeroed.
    used: bool,
}

impl WarpStorage {
    /// Sizes in bytes, of the whole warp.
    pub(super) fn new(slot: u32, register_bytes: u64, local_bytes: u64) -> Result<WarpStorage, LaunchError> {
        let local = allocate(padded_local_bytes(local_bytes))?;
        Ok(WarpStorage { slot, registers: allocate(register_bytes)?, local, local_bytes, used: false })
    }

    pub(super) fn registers(&self) -> *mut u8 {
        self.registers.pointer().as_ptr()
    }

    pub(super) fn register_bytes(&self) -> u64 {
        self.registers.bytes()
    }

    pub(super) fn local(&self) -> *mut u8 {
        self.local.pointer().as_ptr()
    }

    /// Makes the register file larger. What it holds stays.
    pub(super) fn grow(&mut self, register_bytes: u64) -> Result<(), LaunchError> {
        let larger = allocate(register_bytes.max(self.register_bytes()))?;
        // SAFETY: both allocations have as many bytes as the smaller one, and no warp uses them at the moment.
        unsafe { larger.pointer().copy_from_nonoverlapping(self.registers.pointer(), self.register_bytes() as usize) };
        self.registers = larger;
        Ok(())
    }

    /// Zeroes the local memory for a fresh warp.
    pub(super) fn clear_local(&mut self) {
        if self.used {
            // SAFETY: the allocation has these bytes, and no warp uses it at the moment.
            unsafe { self.local().write_bytes(0, self.local_bytes as usize) };
        }
        self.used = true;
    }
}

/// Bytes that a warp's local memory takes.
pub(super) fn padded_local_bytes(local_bytes: u64) -> u64 {
    if local_bytes == 0 { 0 } else { local_bytes.saturating_add(LOCAL_PADDING) }
}

/// Memory as compiled code wants it.
fn allocate(bytes: u64) -> Result<Zeroed, LaunchError> {
    Zeroed::new(bytes, 64).ok_or(LaunchError::HostOutOfMemory { bytes })
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Can go on. `yielded`: it gave up its turn the last time.
    Ready {
        yielded: bool,
    },
    Waiting {
        barrier: u32,
        kind: BarrierKind,
    },
    /// All its lanes wait, or it said that it has nothing to do until some are released.
    WaitingForLanes,
    Done,
}

/// A warp that has waited or yielded.
pub(super) struct Suspended {
    pub warp: u32,
    pub state: State,
    /// Block number to go on at.
    pub resume: u32,
    pub launch_mask: u64,
    pub barrier_result: u32,
    /// Bit set of the barriers at which it has arrived since they were last complete.
    pub arrived: u32,
    pub lanes: Lanes,
    /// The lanes that were handed back to it last.
    pub released: u64,
    /// `None` once it is done. Boxed, since it changes hands for every warp.
    pub storage: Option<Box<WarpStorage>>,
}

impl Suspended {
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Lanes that have neither exited nor wait.
    fn free_lanes(&self) -> u64 {
        self.launch_mask & !self.lanes.exited & !self.lanes.waiting()
    }

    /// It came to a barrier at which all others have arrived.
    pub(super) fn come_through(&mut self, resume: u32) {
        self.state = State::Ready { yielded: false };
        self.released = self.launch_mask;
        self.resume = resume;
    }

    /// Hands back what the next complete barrier has released, if there is one.
    fn hand_over(&mut self) {
        let released = self.lanes.take_released().unwrap_or(Released { lanes: 0, result: None });
        self.released = released.lanes;
        self.barrier_result = released.result.unwrap_or(self.barrier_result);
    }
}

pub(super) struct Block {
    /// Index in the grid, x fastest.
    pub index: u64,
    pub ctaid: [u32; 3],
    /// Blocks after it up to this `ctaid[0]` may be run in the same call.
    row_end: u32,
    pub warps: u32,
    /// Warps below have started.
    pub started: u32,
    /// In ascending order. Warps that finish in their first turn never appear here.
    pub suspended: Vec<Suspended>,
    /// Of `suspended`, those not yet done, and those that can go on.
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
            live: 0,
            ready: 0,
            barriers: Barriers::default(),
            lane_barriers: LaneBarriers::default(),
            shared,
            shared_bytes,
        })
    }

    /// Becomes another block of the grid, which `following` others along x may follow in the same call. The last one has finished.
    #[inline]
    pub(super) fn begin(&mut self, index: u64, ctaid: [u32; 3], following: u32) {
        self.index = index;
        self.ctaid = ctaid;
        self.row_end = ctaid[0] + 1 + following;
        self.started = 0;
        if !self.suspended.is_empty() {
            self.suspended.clear();
            self.barriers.clear();
            self.lane_barriers.clear();
        }
        if self.shared_bytes > 0 {
            // SAFETY: the allocation has these bytes, and no warp runs.
            unsafe { self.shared.pointer().as_ptr().write_bytes(0, self.shared_bytes as usize) };
        }
    }

    /// Up to which `ctaid[0]` a call of the engine may go that begins with a warp: others of the block may run as well.
    #[inline]
    pub(super) fn row_end(&self, first_warp: u32) -> u32 {
        if first_warp == 0 { self.row_end } else { self.ctaid[0] + 1 }
    }

    /// Becomes a block after it along x, to which the engine went on.
    pub(super) fn pass(&mut self, blocks: u32) {
        self.index += u64::from(blocks);
        self.ctaid[0] += blocks;
    }

    pub(super) fn shared(&self) -> *mut u8 {
        self.shared.pointer().as_ptr()
    }

    pub(super) fn is_done(&self) -> bool {
        self.started == self.warps && self.live == 0
    }

    /// Warps that are done.
    fn exited(&self) -> u32 {
        self.started - self.live
    }

    /// Enters a warp that has just returned from its first turn. It can go on until it is said to wait.
    pub(super) fn suspend(&mut self, warp: Suspended) -> usize {
        debug_assert!(self.suspended.last().is_none_or(|last| last.warp < warp.warp));
        self.suspended.push(warp);
        self.live += 1;
        self.ready += 1;
        self.suspended.len() - 1
    }

    /// A suspended warp is done: gives back its storage.
    pub(super) fn finish(&mut self, slot: usize) -> Option<Box<WarpStorage>> {
        let warp = &mut self.suspended[slot];
        warp.state = State::Done;
        if !warp.lanes.are_together() {
            warp.lanes = Lanes::default();
        }
        self.live -= 1;
        self.ready -= 1;
        self.barriers.exit(warp.arrived);
        let storage = warp.storage.take();
        self.release();
        storage
    }

    /// A suspended warp arrives at a barrier, which `arrival.first` does not say yet.
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

    /// A suspended warp arrives at the barrier of the cluster, and goes on.
    pub(super) fn arrive_at_cluster(&mut self, slot: usize) {
        self.arrive(slot, Arrival { kind: BarrierKind::Arrive, ..Arrival::at_whole(CLUSTER) });
    }

    /// A suspended warp waits for the others at the barrier of the cluster, if that is not complete since it has arrived.
    pub(super) fn wait_for_cluster(&mut self, slot: usize) {
        let warp = &mut self.suspended[slot];
        if warp.arrived >> CLUSTER & 1 == 0 {
            warp.state = State::Ready { yielded: false };
        } else {
            warp.state = State::Waiting { barrier: CLUSTER, kind: BarrierKind::Sync };
            self.ready -= 1;
        }
    }

    /// Whether all warps have started, those not done can go on, and none has arrived at a barrier.
    pub(super) fn may_go_in_step(&self) -> bool {
        let none_arrived = self.barriers.active().next().is_none() && self.lane_barriers.is_idle();
        self.started == self.warps && self.ready == self.live && none_arrived
    }

    /// Lanes of a suspended warp arrive at a barrier. It goes on with those that do not wait, or that are released.
    pub(super) fn arrive_lanes(&mut self, slot: usize, arrival: &LaneArrival) {
        self.lane_barriers.arrive(&mut self.suspended[slot], arrival);
        let warp = &self.suspended[slot];
        let waits = arrival.kind.waits() && warp.free_lanes() == 0;
        self.leave_to_lanes(slot, waits);
    }

    /// Lanes of a suspended warp have exited, while others go on.
    pub(super) fn exit_lanes(&mut self, slot: usize, lanes: u64) {
        self.suspended[slot].lanes.exit(lanes);
        self.leave_to_lanes(slot, false);
    }

    /// A suspended warp goes on with what has been released; before something has, if it need not wait for it.
    pub(super) fn leave_to_lanes(&mut self, slot: usize, waits: bool) {
        self.ready -= 1;
        self.suspended[slot].state = State::WaitingForLanes;
        self.release_lanes();
        let warp = &mut self.suspended[slot];
        // Those that yield let others have their turns.
        if warp.state == State::WaitingForLanes && !waits {
            warp.hand_over();
            warp.state = State::Ready { yielded: true };
            self.ready += 1;
        }
    }

    /// Lets the warps go on that wait for lanes of which some are released now.
    fn release_lanes(&mut self) {
        self.lane_barriers.release(&mut self.suspended, self.started == self.warps);
        for warp in &mut self.suspended {
            if warp.state == State::WaitingForLanes && warp.lanes.has_released() {
                warp.hand_over();
                warp.state = State::Ready { yielded: false };
                self.ready += 1;
            }
        }
    }

    /// The warps of the slots below this one that are not done arrive at a barrier of the whole block, which counts warps or lanes.
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
                    warp.barrier_result = self.barriers.result(barrier, kind).unwrap_or(warp.barrier_result);
                    self.ready += 1;
                }
                _ => {}
            }
        }
        self.barriers.reset(barrier);
    }

    /// The warps that wait; `pc` tells where a block number lies.
    pub(super) fn waiting(&self, pc: impl Fn(u32) -> u64) -> Vec<Waiting> {
        let mut waiting = Vec::new();
        for warp in &self.suspended {
            if let State::Waiting { barrier, .. } = warp.state {
                let barrier = (barrier != CLUSTER).then_some(barrier);
                waiting.push(Waiting { warp: warp.warp, lanes: None, barrier, pc: pc(warp.resume) });
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
