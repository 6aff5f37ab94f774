//! The observer of a launch with checks: hands what warps do to the checks, and keeps what they find.

use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use warploom_ir::{Space, observe};
use warploom_runtime::observe::{Event, Observer};
use warploom_runtime::warp::WarpContext;
use warploom_runtime::window::{Target, WINDOW_BYTES, Windows};

use super::super::lock;
use super::super::services::{HEAP_ALIGN, linear};
use super::cells::Stamp;
use super::clock::lanes;
use super::finding::{Action, MemoryKind};
use super::init::Init;
use super::memory::{By, Memory};
use super::order::{Order, Scope};
use super::race::Race;
use super::sites::{Site, SiteEvent};
use super::sync::Sync;

/// The warp of an event.
#[derive(Clone, Copy, Debug)]
pub struct Warp {
    pub block: [u32; 3],
    /// The number of the block in the grid, along x first.
    pub number: u32,
    pub warp: u32,
    /// The warps of the block, and the lanes of a warp.
    pub warps: u32,
    pub lanes: u32,
    /// The lanes of this warp that exist.
    pub launch_mask: u64,
}

/// An access of a warp to one memory.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    pub site: u32,
    pub action: Action,
    pub memory: MemoryKind,
    pub order: Order,
    /// The lanes that run, and the lanes that access.
    pub active: u64,
    pub mask: u64,
    /// Whether the memory is the driver's, and whether each thread has its part of it.
    pub is_private: bool,
    pub is_scratch: bool,
    addresses: &'a [u64],
    bytes: u32,
    ranges: Option<&'a [u64]>,
}

/// The most lanes of a warp.
const MOST_LANES: usize = 64;

impl At<'_> {
    pub fn lanes(&self) -> impl Iterator<Item = u32> + use<> {
        lanes(self.mask)
    }

    /// The guest address of global memory, or the offset in shared or local memory.
    pub fn address(&self, lane: u32) -> u64 {
        self.addresses.get(lane as usize).copied().unwrap_or(0)
    }

    /// Returns the part of the access by lanes whose address and bytes meet a condition.
    fn of_lanes(self, fits: impl Fn(u64, u64) -> bool) -> Self {
        let fits = |lane: &u32| fits(self.address(*lane), self.bytes(*lane));
        let mask = self.lanes().filter(fits).fold(0, |mask, lane| mask | 1 << lane);
        At { mask, ..self }
    }

    /// Returns the part of the access that lies in so many bytes of memory. The rest is a fault.
    fn within(self, limit: u64) -> Self {
        self.of_lanes(|address, bytes| address.saturating_add(bytes) <= limit)
    }

    /// Returns whether the accesses of all lanes lie between two addresses. The answer may be
    /// false although they do.
    pub fn lies_in(&self, first: u64, end: u64) -> bool {
        let room = end.saturating_sub(first);
        let Some(most) = room.checked_sub(self.bytes.into()).filter(|_| self.ranges.is_none())
        else {
            return false;
        };
        let is_in = |address: &u64| address.wrapping_sub(first) <= most;
        if self.mask.count_ones() as usize == self.addresses.len() {
            return self.addresses.iter().all(is_in);
        }
        self.lanes().all(|lane| is_in(&self.address(lane)))
    }

    pub fn bytes(&self, lane: u32) -> u64 {
        self.ranges.map_or(self.bytes.into(), |bytes| bytes[lane as usize])
    }
}

/// A mistake as a check finds it.
#[derive(Clone, Copy, Debug)]
pub enum Raw {
    /// The number of the allocation.
    PastEnd(usize),
    Freed(usize),
    Leaked(usize),
    Race(Stamp),
    Unwritten,
    Apart(u64),
    Exited(u64),
    Unnamed,
    Threads {
        here: u32,
        others: u32,
    },
}

/// The first mistake of a kind at a site.
#[derive(Clone, Debug)]
pub struct Found {
    pub raw: Raw,
    pub site: u32,
    pub memory: MemoryKind,
    pub address: u64,
    pub bytes: u64,
    pub block: [u32; 3],
    pub warp: u32,
    pub lane: u32,
    pub count: u64,
    /// The number among all first mistakes.
    number: usize,
}

/// All that was found.
#[derive(Debug, Default)]
pub struct Reports(FxHashMap<(u32, std::mem::Discriminant<Raw>), Found>);

impl Reports {
    pub fn add(&mut self, warp: &Warp, at: &At<'_>, lane: u32, raw: Raw) {
        let place = (at.site, at.memory, at.address(lane), at.bytes(lane));
        self.note(warp, place, lane, raw);
    }

    pub fn note(
        &mut self,
        warp: &Warp,
        (site, memory, address, bytes): (u32, MemoryKind, u64, u64),
        lane: u32,
        raw: Raw,
    ) {
        let number = self.0.len();
        let Warp { block, warp, .. } = *warp;
        let new = Found { raw, site, memory, address, bytes, block, warp, lane, count: 0, number };
        self.0.entry((site, std::mem::discriminant(&raw))).or_insert(new).count += 1;
    }

    /// Returns what was found, in the order of sites.
    pub fn end(self) -> Vec<Found> {
        let mut all: Vec<Found> = self.0.into_values().collect();
        all.sort_by_key(|found| (found.site, found.number));
        all
    }
}

/// The checks of a launch.
#[derive(Debug, Default)]
pub struct Checking {
    pub memory: Option<Memory>,
    pub race: Option<Race>,
    pub init: Option<Init>,
    pub sync: Option<Sync>,
    pub reports: Reports,
    /// The warps that have ended, by block.
    pub ended: FxHashMap<u32, u32>,
    /// The site where the last warp asked for memory.
    pub asking: u32,
}

/// The observer of a launch.
#[derive(Debug)]
pub struct Watch {
    pub sites: Arc<[Site]>,
    pub windows: Windows,
    /// Memory that the driver lends the launch, and the memory with a part for each thread.
    pub private: Vec<Range<u64>>,
    pub scratch: Vec<Range<u64>>,
    pub checking: Mutex<Checking>,
}

impl Observer for Watch {
    fn observe(&self, context: &WarpContext<'_>, event: &Event<'_>) {
        let block = context.ctaid();
        let warp = Warp {
            block,
            number: linear(block, context.nctaid()) as u32,
            warp: context.warp(),
            warps: context.warps(),
            lanes: context.lanes(),
            launch_mask: context.launch_mask(),
        };
        let checking = &mut *lock(&self.checking);
        let Some(site) = self.sites.get(event.site as usize) else {
            return checking.heap(&warp, event);
        };
        match (site.event, event.args) {
            (SiteEvent::Access { space, order, scalar }, [active, addresses, ranges @ ..]) => {
                let mask = event.lanes & warp.launch_mask;
                let mask = if scalar { mask & mask.wrapping_neg() } else { mask };
                let told = At {
                    site: event.site,
                    action: site.action,
                    memory: MemoryKind::Global,
                    order,
                    active: active[0] & warp.launch_mask,
                    mask,
                    is_private: false,
                    is_scratch: false,
                    addresses,
                    bytes: site.bytes,
                    ranges: ranges.first().copied(),
                };
                match space {
                    Space::Global | Space::Const(_) => self.global(checking, &warp, told),
                    Space::Shared => {
                        let shared = At { memory: MemoryKind::Shared, ..told };
                        checking.access(&warp, &shared.within(context.shared_bytes()));
                    }
                    Space::Local => {
                        let local = At { memory: MemoryKind::Local, ..told };
                        checking.access(&warp, &local.within(context.local_bytes()));
                    }
                    Space::Generic => self.generic(checking, &warp, told, context),
                }
            }
            (event_of_site, args) => checking.event(&warp, (event.site, event_of_site), args),
        }
    }
}

impl Checking {
    fn access(&mut self, warp: &Warp, at: &At<'_>) {
        if at.mask == 0 {
            return;
        }
        let Checking { memory, race, init, reports, .. } = self;
        if let Some(memory) = memory {
            memory.access(warp, at, reports);
        }
        if let Some(race) = race {
            race.access(warp, at, reports);
        }
        if let Some(init) = init {
            init.access(warp, at, reports);
        }
    }

    /// The host has allocated or freed memory for a lane.
    fn heap(&mut self, warp: &Warp, event: &Event<'_>) {
        let Checking { memory, race, init, asking, .. } = self;
        match (event.site, event.args) {
            (observe::ALLOCATED, [address, bytes]) => {
                let by = By { warp: *warp, lane: event.lanes.trailing_zeros(), site: *asking };
                if let Some(memory) = memory {
                    memory.allocated(address[0], bytes[0], by);
                }
                if let Some(race) = race {
                    race.allocated(address[0], bytes[0].next_multiple_of(HEAP_ALIGN));
                }
                if let Some(init) = init {
                    init.allocated(address[0], bytes[0]);
                }
            }
            (observe::FREED, [address]) => {
                if let Some(memory) = memory {
                    memory.freed(address[0]);
                }
                if let Some(init) = init {
                    init.freed(address[0]);
                }
            }
            _ => {}
        }
    }

    fn event(&mut self, warp: &Warp, (site, event): (u32, SiteEvent), args: &[&[u64]]) {
        let Checking { race, init, sync, reports, ended, .. } = self;
        match (event, args) {
            (SiteEvent::Fence(scope), _) => {
                if let Some(race) = race {
                    race.fence(warp, scope);
                }
            }
            (SiteEvent::Acquire, _) => {
                if let Some(race) = race {
                    race.acquire(warp, Scope::Device);
                }
            }
            (SiteEvent::Arrive { kind }, [barrier, threads]) => {
                let (barrier, threads) = (barrier[0], threads[0] as u32);
                if let Some(race) = race {
                    race.arrive(warp, kind, barrier, threads);
                }
                if let Some(sync) = sync {
                    sync.arrive(warp, (site, kind), barrier, threads, reports);
                }
            }
            (SiteEvent::Pass, [lanes]) => {
                if let Some(race) = race {
                    race.pass(warp, lanes[0]);
                }
                if let Some(sync) = sync {
                    sync.pass(warp);
                }
            }
            (SiteEvent::Heap, _) => self.asking = site,
            (SiteEvent::Meet, [named, live, active]) => {
                let (live, active) = (live[0] & warp.launch_mask, active[0]);
                if let Some(race) = race {
                    // Lanes with different masks meet in groups: the union of all is too much only
                    // if the code is wrong.
                    let first = active.trailing_zeros() as usize;
                    race.meet(warp, named.get(first).copied().unwrap_or(0), live);
                }
                if let Some(sync) = sync {
                    sync.meet(warp, site, (named, live, active), reports);
                }
            }
            (SiteEvent::Apart, [all, here]) if sync.is_some() => {
                Sync::apart(warp, site, all[0], here[0], reports);
            }
            (SiteEvent::Exit, _) => {
                if let Some(init) = init {
                    init.end_warp(warp);
                }
                let ended_here = ended.entry(warp.number).or_insert(0);
                *ended_here += 1;
                if *ended_here >= warp.warps {
                    ended.remove(&warp.number);
                    let block = warp.number;
                    if let Some(race) = race {
                        race.end_block(block);
                    }
                    if let Some(init) = init {
                        init.end_block(block);
                    }
                    if let Some(sync) = sync {
                        sync.end_block(block);
                    }
                }
            }
            _ => {}
        }
    }
}

impl Watch {
    /// Checks an access to global memory.
    fn global(&self, checking: &mut Checking, warp: &Warp, at: At<'_>) {
        // A copy has shared memory on its other side, so a longer one faults.
        let at =
            if at.ranges.is_some() { at.of_lanes(|_, bytes| bytes <= WINDOW_BYTES) } else { at };
        if at.mask == 0 {
            return;
        }
        let first = at.address(at.mask.trailing_zeros());
        let is_in = |range: &Range<u64>| range.contains(&first);
        let is_scratch = self.scratch.iter().any(is_in);
        let is_private = is_scratch || self.private.iter().any(is_in);
        checking.access(warp, &At { is_private, is_scratch, ..at });
    }

    /// Checks an access by generic addresses, memory by memory.
    fn generic(&self, checking: &mut Checking, warp: &Warp, at: At<'_>, context: &WarpContext<'_>) {
        let mut masks = [0; 3];
        let mut offsets = [0; MOST_LANES];
        for lane in at.lanes() {
            let (memory, address) = match self.windows.classify(at.address(lane)) {
                Target::Global(address) => (0, address),
                Target::Shared(offset) => (1, offset.into()),
                Target::Local(offset) => (2, offset.into()),
            };
            masks[memory] |= 1 << lane;
            offsets[lane as usize] = address;
        }
        let [global, shared, local] = masks;
        if global != 0 {
            self.global(checking, warp, At { mask: global, ..at });
        }
        let others = [
            (shared, MemoryKind::Shared, context.shared_bytes()),
            (local, MemoryKind::Local, context.local_bytes()),
        ];
        for (mask, memory, bytes) in others.into_iter().filter(|(mask, ..)| *mask != 0) {
            let at = At { memory, mask, addresses: &offsets, ..at };
            checking.access(warp, &at.within(bytes));
        }
    }
}
