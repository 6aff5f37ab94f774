//! Checks of launches: accesses outside of the allocations that a host knows, races, reads of memory
//! that nobody has written, wrong barriers.
//!
//! A copy of the kernel tells an observer what each warp does: `sites` writes the operations that
//! tell it. Both engines run the copy as any other function, and other launches pay nothing. The
//! checks, `memory`, `race`, `init` and `sync`, are then ordinary code that hears of all accesses and
//! barriers of all guests in one form, and changes nothing. `watch` hands events to the checks,
//! `finding` is what they report. For `race`, `order` knows what orders accesses, `clock` what warps
//! know of each other, and `cells` the last accesses to each byte.
//!
//! A launch with checks runs on one thread.

mod bits;
mod cells;
mod clock;
mod finding;
mod init;
mod memory;
mod order;
mod race;
mod sites;
mod sync;
mod watch;
mod written;

use std::sync::{Arc, Mutex};

pub use finding::{Action, Allocation, CodePlace, Finding, MemoryKind, Mistake, Who};
use order::Order;
use race::Convergence;
use sites::{Site, Told};
use warploom_container::Isa;
use watch::{Checking, Found, Raw, Watch};
pub use written::Written;

use super::translate::Translated;
use super::variant::Variant;
use super::{Arg, Error, Kernel, LaunchOptions, LaunchOutcome, lock};

/// A launch with checks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedLaunch {
    pub outcome: LaunchOutcome,
    pub findings: Vec<Finding>,
}

/// The checks of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Accesses of global memory must not pass the end of an allocation, or touch an allocation
    /// that has been freed.
    pub memory: bool,
    /// Two threads must not access a byte without an order between them, unless both read or both
    /// accesses are strong.
    pub race: bool,
    /// A block must not read bytes of shared memory that it has not written, a lane not bytes of
    /// local memory, and neither global memory that nothing has written.
    pub init: bool,
    /// Barriers must not lie in divergent code, nor differ in their threads. Masks must name the
    /// lane itself, and no lanes that have exited.
    pub sync: bool,
}

impl Checks {
    /// The names of the checks.
    pub const NAMES: [&'static str; 4] = ["memory", "race", "init", "sync"];

    pub const ALL: Checks = Checks { memory: true, race: true, init: true, sync: true };

    /// Returns the checks of a list of names with commas between them.
    pub fn named(list: &str) -> Option<Checks> {
        let mut checks = Checks::default();
        for name in list.split(',') {
            let check = match name {
                "memory" => &mut checks.memory,
                "race" => &mut checks.race,
                "init" => &mut checks.init,
                "sync" => &mut checks.sync,
                _ => return None,
            };
            *check = true;
        }
        Some(checks)
    }

    /// Returns whether there is nothing to check.
    pub fn is_empty(self) -> bool {
        self == Checks::default()
    }
}

/// A copy of a kernel that tells of what its warps do.
pub(super) struct CheckedCopy {
    told: Told,
    /// The number of addresses that indirect jumps had added to the kernel.
    discovered: usize,
    sites: Arc<[Site]>,
    variant: Variant,
}

/// The allocations that a host knows. Memory of no allocation is not checked.
#[derive(Clone, Debug, Default)]
pub struct Allocations {
    pub live: Vec<Allocation>,
    pub freed: Vec<Allocation>,
    /// The memory that has been written, if the host notes it.
    pub written: Option<Arc<Written>>,
}

impl Kernel<'_> {
    /// Launches a copy of this kernel that is checked, on one thread. The outcome is that of a
    /// launch.
    ///
    /// # Errors
    /// The launch cannot take place.
    pub fn launch_checked(
        &self,
        args: &[Arg],
        options: &LaunchOptions,
        checks: Checks,
        allocations: &Allocations,
    ) -> Result<CheckedLaunch, Error> {
        let options = &LaunchOptions { threads: 1, ..options.clone() };
        self.in_environment(args, options, |translated, environment| {
            let isa = self.program.module().isa;
            let Checks { memory, race, init, sync } = checks;
            let written = allocations.written.clone().unwrap_or_default();
            let of_global =
                !environment.scratch.is_empty() || !written.is_empty() || translated.asks_host();
            let told = Told {
                global: memory || race || init && of_global,
                shared: race || init,
                local: init,
                order: race || init || sync,
            };
            let copy = self.copy(translated, told)?;
            let guest_memory = self.program.memory();
            let range = |&address: &u64| {
                let (start, bytes) = guest_memory.range_of(address)?;
                Some(start..start + bytes)
            };
            let watch = Arc::new(Watch {
                sites: copy.sites.clone(),
                windows: guest_memory.windows(),
                private: environment.held.iter().filter_map(range).collect(),
                scratch: environment.scratch.iter().filter_map(range).collect(),
                checking: Mutex::new(Checking {
                    memory: checks.memory.then(|| memory::Memory::new(allocations)),
                    race: checks.race.then(|| race::Race::new(convergence(isa))),
                    init: checks.init.then(|| init::Init::new(written)),
                    sync: checks.sync.then(sync::Sync::default),
                    ..Checking::default()
                }),
            });
            environment.config.observer = Some(watch.clone());
            let engine = copy.variant.engine(options)?;
            let outcome = self.outcome(translated, &*engine, environment, options, None)?;
            let checking = std::mem::take(&mut *lock(&watch.checking));
            let Checking { memory, mut reports, .. } = checking;
            if let Some(memory) = memory.as_ref().filter(|_| outcome.fault.is_none()) {
                memory.end(&mut reports);
            }
            let of = |found| self.finding(found, &watch, memory.as_ref(), options.grid);
            let findings = reports.end().into_iter().map(of).collect();
            Ok(CheckedLaunch { outcome, findings })
        })
    }

    /// Returns the copy of the kernel that tells of accesses of these memories.
    fn copy(&self, translated: &Translated, told: Told) -> Result<Arc<CheckedCopy>, Error> {
        let (discovered, copies) = translated.copies();
        let mut copies = lock(copies);
        copies.retain(|copy| copy.discovered == discovered);
        if let Some(copy) = copies.iter().find(|copy| copy.told == told) {
            return Ok(copy.clone());
        }
        let isa = self.program.module().isa;
        let mut function = translated.for_checks()?;
        let sites = sites::instrument(&mut function, told, &|pc| {
            let placed = self.program.guest().instruction(translated.code(), pc);
            placed.map_or(Order::PLAIN, |at| order::of(isa, &at.mnemonic, &at.text))
        });
        let variant = Variant::new(function);
        let copy = Arc::new(CheckedCopy { told, discovered, sites: sites.into(), variant });
        copies.push(copy.clone());
        Ok(copy)
    }

    fn finding(
        &self,
        found: Found,
        watch: &Watch,
        memory: Option<&memory::Memory>,
        grid: [u32; 3],
    ) -> Finding {
        let Found { raw, site, memory: kind, address, bytes, block, warp, lane, count, .. } = found;
        let place = |site: u32| CodePlace::of(self, &watch.sites[site as usize]);
        let allocation = |number| {
            let found = memory.and_then(|memory| memory.allocation(number)).cloned();
            found.unwrap_or(Allocation { name: String::new(), address, bytes: 0 })
        };
        let mistake = match raw {
            Raw::PastEnd(number) => Mistake::PastEnd(allocation(number)),
            Raw::Freed(number) => Mistake::Freed(allocation(number)),
            Raw::Leaked(number) => Mistake::Leaked(allocation(number)),
            Raw::Race(other) => {
                let [x, y, _] = grid.map(|axis| axis.max(1));
                let number = other.block;
                let who = Who {
                    block: [number % x, number / x % y, number / x / y],
                    warp: other.warp.into(),
                    lane: (other.lanes.count_ones() == 1).then(|| other.lanes.trailing_zeros()),
                };
                Mistake::Race { other: place(other.site), who }
            }
            Raw::Unwritten => Mistake::Unwritten,
            Raw::Apart(lanes) => Mistake::Apart { lanes },
            Raw::Exited(lanes) => Mistake::Exited { lanes },
            Raw::Unnamed => Mistake::Unnamed,
            Raw::Threads { here, others } => Mistake::Threads { here, others },
        };
        let place = CodePlace { bytes: bytes as u32, ..place(site) };
        let kernel = self.name().to_owned();
        Finding { mistake, place, memory: kind, address, kernel, block, warp, lane, count }
    }
}

/// Returns how lanes of a warp that part come together again.
fn convergence(isa: Isa) -> Convergence {
    match isa {
        Isa::Ptx { sm } if sm >= 70 => Convergence::Stated,
        Isa::Turing { .. } => Convergence::Physical,
        _ => Convergence::Always,
    }
}
