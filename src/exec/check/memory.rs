//! Accesses of global memory outside of allocations that the host knows.

use warploom_runtime::memory::PAGE_BYTES;

use super::Allocations;
use super::finding::{Allocation, MemoryKind};
use super::watch::{At, Raw, Reports, Warp};

/// The allocations of a launch.
#[derive(Debug)]
pub struct Memory {
    /// Sorted by address. Later ones are newer.
    all: Vec<(Allocation, bool)>,
    /// The allocation that was accessed last.
    last: usize,
}

impl Memory {
    /// Returns the check of these allocations, and of those that have been freed.
    pub fn new(Allocations { live, freed }: &Allocations) -> Memory {
        // An address may have been given out again.
        let is_gone = |one: &&Allocation| !live.iter().any(|new| new.overlaps(one));
        let gone = freed.iter().filter(is_gone).map(|one| (one.clone(), false));
        let live = live.iter().map(|one| (one.clone(), true));
        let mut all: Vec<(Allocation, bool)> = live.chain(gone).collect();
        all.sort_by_key(|(one, _)| one.address);
        Memory { all, last: 0 }
    }

    pub fn allocation(&self, number: usize) -> Option<&Allocation> {
        self.all.get(number).map(|(one, _)| one)
    }

    pub fn access(&mut self, warp: &Warp, at: &At<'_>, reports: &mut Reports) {
        if at.memory != MemoryKind::Global {
            return;
        }
        if let Some((last, true)) = self.all.get(self.last)
            && at.lies_in(last.address, last.end())
        {
            return;
        }
        for lane in at.lanes() {
            let (address, bytes) = (at.address(lane), at.bytes(lane));
            let end = address.saturating_add(bytes);
            if let Some((last, true)) = self.all.get(self.last)
                && (last.address..=last.end()).contains(&address)
                && end <= last.end()
            {
                continue;
            }
            // The allocation that the last byte lies in or behind.
            let after = self.all.partition_point(|(one, _)| one.address < end);
            let Some(number) = after.checked_sub(1) else { continue };
            let (found, is_live) = &self.all[number];
            let past = end.saturating_sub(found.end());
            if *is_live && past == 0 {
                self.last = number;
            } else if past == 0 {
                reports.add(warp, at, lane, Raw::Freed(number));
            } else if past <= found.rest() && *is_live {
                reports.add(warp, at, lane, Raw::PastEnd(number));
            }
        }
    }
}

impl Allocation {
    fn end(&self) -> u64 {
        self.address.saturating_add(self.bytes)
    }

    fn overlaps(&self, other: &Allocation) -> bool {
        self.address < other.end() && other.address < self.end()
    }

    /// The bytes behind it that belong to nothing else: allocations begin with a page.
    fn rest(&self) -> u64 {
        self.end().next_multiple_of(PAGE_BYTES) - self.end()
    }
}
