//! Two accesses to a byte without an order between them, at least one a write, not both strong with
//! sufficient scopes.
//!
//! Accesses are ordered by barriers of the block or of a part of it; by a release that another warp
//! acquires, with strong accesses to one address and fences, or with instructions that release or
//! acquire. Lanes of a warp are ordered by its lock step, or, if they have parted, by statements at
//! which they meet.

use rustc_hash::FxHashMap;

use warploom_ir::BarrierKind;

use super::cells::{Cells, Stamp};
use super::clock::{Clock, Lanes};
use super::finding::{Action, MemoryKind};
use super::order::{Order, Scope};
use super::watch::{At, Raw, Reports, Warp};

/// Rounds of a barrier whose clocks are kept for warps that have not gone on yet.
const ROUNDS: u32 = 8;

/// How lanes of a warp that part come together again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convergence {
    /// A warp runs in lock step.
    Always,
    /// Where code lets lanes wait for each other.
    Physical,
    /// Only at statements that say so.
    Stated,
}

#[derive(Debug)]
pub struct Race {
    convergence: Convergence,
    global: Cells,
    blocks: FxHashMap<u32, Block>,
    /// The clocks of releases for other blocks.
    released: Released,
}

/// The clocks that releases have made known, by place.
type Released = FxHashMap<(MemoryKind, u64), Clock>;

/// Returns the place of a lane's access, where releases and acquires meet: eight bytes, since code
/// may test a half of what an atomic writes.
fn place(at: &At<'_>, lane: u32) -> (MemoryKind, u64) {
    (at.memory, at.address(lane) & !7)
}

#[derive(Debug, Default)]
struct Block {
    shared: Cells,
    /// The clocks of releases for the block itself.
    released: Released,
    warps: FxHashMap<u32, State>,
    barriers: FxHashMap<u64, Rounds>,
}

/// The rounds of a barrier.
#[derive(Debug, Default)]
struct Rounds {
    now: u32,
    /// The clock of the arrivals of the current round, and their threads.
    clock: Clock,
    arrived: u32,
    done: FxHashMap<u32, Clock>,
}

/// The state of a warp.
#[derive(Debug)]
struct State {
    step: u32,
    known: Clock,
    /// The step that ended with the last fence.
    fenced: Option<(u32, Scope)>,
    /// The clock that the next acquire adds to the known one, for the block and for the device.
    seen: [Clock; 2],
    /// The barrier and the round at which the warp waits.
    waits: Option<(u64, u32)>,
    /// The lanes that run, and the lanes' knowledge if they have parted.
    running: u64,
    lanes: Option<Lanes>,
}

impl State {
    fn new(running: u64) -> State {
        State {
            step: 1,
            known: Clock::default(),
            fenced: None,
            seen: Default::default(),
            waits: None,
            running,
            lanes: None,
        }
    }

    /// Returns what others know if they know of what the warp has done up to a step.
    fn known_after(&self, warp: &Warp, step: u32) -> Clock {
        let mut clock = self.known.clone();
        clock.raise(warp.number, warp.warp, step);
        clock
    }

    /// Returns what others know if they know of all that the warp has done, and begins a new step.
    fn release(&mut self, warp: &Warp) -> Clock {
        self.step += 1;
        self.known_after(warp, self.step - 1)
    }

    /// Makes known to those who acquire it what a strong write releases.
    fn publish(&mut self, warp: &Warp, at: &At<'_>, own: &mut Released, all: &mut Released) {
        let order = at.order;
        let (clock, scope) = match &self.fenced {
            _ if order.strong && order.releases => (self.release(warp), order.scope),
            &Some((step, scope)) if order.strong || order.unknown => {
                (self.known_after(warp, step), order.scope.min(scope))
            }
            _ => return,
        };
        let all = (scope == Scope::Device).then_some(all);
        for released in [Some(own), all].into_iter().flatten() {
            for lane in at.lanes() {
                let place = released.entry(place(at, lane)).or_default();
                // Atomics go on with what the write before them released.
                if at.action == Action::Store {
                    *place = clock.clone();
                } else {
                    place.join(&clock);
                }
            }
        }
    }

    /// Returns whether an access comes before what a lane of this warp does now.
    fn comes_after(&self, other: &Stamp, now: &Stamp, lane: u32) -> bool {
        if (other.block, other.warp) != (now.block, now.warp) {
            return self.known.of(other.block, other.warp.into()) >= other.step;
        }
        match &self.lanes {
            Some(lanes) if other.step != now.step => {
                lanes.unordered(lane, other.lanes.into(), other.step).is_none()
            }
            _ => true,
        }
    }

    /// The lanes of a mask run from now on.
    fn run(&mut self, lanes: u64, convergence: Convergence) {
        if lanes == self.running || convergence == Convergence::Always {
            return;
        }
        let (before, step) = (self.running, self.step);
        let known = self.lanes.get_or_insert_with(|| Lanes::parting(step));
        known.meet(before, step);
        if convergence == Convergence::Physical {
            known.meet(lanes, step);
        }
        (self.running, self.step) = (lanes, step + 1);
    }

    /// The lanes of a mask, of which `live` have not exited, meet.
    fn meet(&mut self, lanes: u64, live: u64) {
        let step = self.step;
        if let Some(known) = &mut self.lanes {
            known.meet(self.running, step);
            known.meet(lanes, step);
            if live & !lanes == 0 {
                self.lanes = None;
                self.running = live;
            }
            self.step += 1;
        }
    }
}

impl Race {
    pub fn new(convergence: Convergence) -> Race {
        Race {
            convergence,
            global: Cells::default(),
            blocks: FxHashMap::default(),
            released: FxHashMap::default(),
        }
    }

    fn state<'b>(block: &'b mut Block, warp: &Warp) -> &'b mut State {
        block.warps.entry(warp.warp).or_insert_with(|| State::new(warp.launch_mask))
    }

    pub fn fence(&mut self, warp: &Warp, scope: Scope) {
        self.acquire(warp, scope);
        let state = Race::state(self.blocks.entry(warp.number).or_default(), warp);
        state.fenced = Some((state.step, scope));
        state.step += 1;
    }

    /// The warp learns what others have released to its strong accesses so far.
    pub fn acquire(&mut self, warp: &Warp, scope: Scope) {
        let state = Race::state(self.blocks.entry(warp.number).or_default(), warp);
        let [block, device] = &mut state.seen;
        state.known.join(&std::mem::take(block));
        if scope == Scope::Device {
            state.known.join(&std::mem::take(device));
        }
    }

    /// A warp arrives at a barrier for so many threads, 0 for all.
    pub fn arrive(&mut self, warp: &Warp, kind: BarrierKind, barrier: u64, threads: u32) {
        let block = self.blocks.entry(warp.number).or_default();
        let state = Race::state(block, warp);
        let clock = state.release(warp);
        let rounds = block.barriers.entry(barrier).or_default();
        let round = rounds.now;
        rounds.clock.join(&clock);
        rounds.arrived += warp.lanes;
        // A barrier of all threads is complete when the first warp goes on.
        if threads > 0 && rounds.arrived >= threads {
            rounds.close();
        }
        let waits = !matches!(kind, BarrierKind::Arrive | BarrierKind::ClusterArrive);
        Race::state(block, warp).waits = waits.then_some((barrier, round));
    }

    /// A warp, or lanes of it, go on after a barrier.
    pub fn pass(&mut self, warp: &Warp, lanes: u64) {
        let Some(block) = self.blocks.get_mut(&warp.number) else { return };
        let Some(state) = block.warps.get_mut(&warp.warp) else { return };
        let Some((barrier, round)) = state.waits.take() else { return };
        let rounds = block.barriers.entry(barrier).or_default();
        if rounds.now == round {
            rounds.close();
        }
        if let Some(clock) = rounds.done.get(&round) {
            state.known.join(clock);
        }
        state.meet(lanes & warp.launch_mask, warp.launch_mask);
    }

    /// Memory begins anew, so that nobody has accessed it.
    pub fn allocated(&mut self, address: u64, bytes: u64) {
        self.global.forget(address, bytes);
    }

    pub fn end_block(&mut self, block: u32) {
        self.blocks.remove(&block);
    }

    /// The lanes of a mask meet.
    pub fn meet(&mut self, warp: &Warp, lanes: u64, live: u64) {
        let convergence = self.convergence;
        if convergence != Convergence::Always {
            let state = Race::state(self.blocks.entry(warp.number).or_default(), warp);
            state.meet(lanes & live, live);
        }
    }

    pub fn access(&mut self, warp: &Warp, at: &At<'_>, reports: &mut Reports) {
        if at.memory == MemoryKind::Local || at.is_private {
            return;
        }
        let Race { convergence, global, blocks, released } = self;
        let block = blocks.entry(warp.number).or_default();
        let Block { shared, released: own, warps, .. } = block;
        let state = warps.entry(warp.warp).or_insert_with(|| State::new(warp.launch_mask));
        state.run(at.active, *convergence);
        let cells = match at.memory {
            MemoryKind::Global => global,
            _ => shared,
        };
        let Order { strong, unknown, acquires, scope, .. } = at.order;
        let key = |lane| place(at, lane);
        if (strong || unknown || acquires) && at.action != Action::Store {
            let [block, device] = &mut state.seen;
            for lane in at.lanes() {
                for (released, seen) in [(&*own, &mut *block), (&*released, &mut *device)] {
                    if let Some(before) = released.get(&key(lane)) {
                        if acquires { &mut state.known } else { seen }.join(before);
                    }
                }
            }
        }
        let mut stamp = Stamp {
            block: warp.number,
            warp: warp.warp as u16,
            step: state.step,
            site: at.site,
            lanes: 0,
            is_strong: strong,
            is_unknown: unknown,
            is_arrival: at.order.arrives,
            scope,
        };
        let mut before = None;
        for lane in at.lanes() {
            // Lanes that have not parted and read the same are as one.
            let address = Some(at.address(lane));
            let is_again = std::mem::replace(&mut before, address) == address;
            if is_again && at.action == Action::Load && state.lanes.is_none() {
                continue;
            }
            stamp.lanes = 1_u32.checked_shl(lane).unwrap_or(0);
            let mut found: Option<Stamp> = None;
            cells.each(at.address(lane), at.bytes(lane), |cell| {
                let is_before = |other: &Stamp| state.comes_after(other, &stamp, lane);
                let reads = at.action == Action::Load;
                let other = cell.enter(&stamp, reads, state.lanes.is_some(), is_before);
                found = found.or(other);
            });
            if let Some(other) = found {
                reports.add(warp, at, lane, Raw::Race(other));
            }
        }
        if at.action != Action::Load {
            state.publish(warp, at, own, released);
        }
    }
}

impl Rounds {
    fn close(&mut self) {
        self.done.insert(self.now, std::mem::take(&mut self.clock));
        self.done.remove(&self.now.wrapping_sub(ROUNDS));
        self.now = self.now.wrapping_add(1);
        self.arrived = 0;
    }
}
