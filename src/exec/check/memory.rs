//! Accesses of global memory outside of allocations that the host knows.

use std::collections::BTreeMap;

use warploom_runtime::memory::PAGE_BYTES;

use super::super::services::HEAP_ALIGN;
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
    /// Memory that device code has allocated, in that order, and the last of it at each address.
    heap: Vec<Block>,
    by_address: BTreeMap<u64, usize>,
}

/// Memory that device code has allocated.
#[derive(Debug)]
struct Block {
    allocation: Allocation,
    is_live: bool,
    by: By,
}

impl Block {
    /// Returns the address behind the block, which nothing else uses before.
    fn end(&self) -> u64 {
        let Allocation { address, bytes, .. } = self.allocation;
        address.saturating_add(bytes.max(1).next_multiple_of(HEAP_ALIGN))
    }
}

/// The lane that allocates memory, and the site.
#[derive(Clone, Copy, Debug)]
pub struct By {
    pub warp: Warp,
    pub lane: u32,
    pub site: u32,
}

/// The first number of memory that device code has allocated.
const HEAP: usize = 1 << 32;

impl Memory {
    /// Returns the check of these allocations, and of those that have been freed.
    pub fn new(Allocations { live, freed, .. }: &Allocations) -> Memory {
        let mut all: Vec<(Allocation, bool)> = live.iter().map(|one| (one.clone(), true)).collect();
        all.sort_by_key(|(one, _)| one.address);
        // An address may have been given out again.
        let is_gone = |one: &&Allocation| {
            let behind = all.partition_point(|(new, _)| new.address < one.end());
            behind.checked_sub(1).is_none_or(|last| all[last].0.end() <= one.address)
        };
        let gone: Vec<_> = freed.iter().filter(is_gone).map(|one| (one.clone(), false)).collect();
        all.extend(gone);
        all.sort_by_key(|(one, _)| one.address);
        Memory { all, last: 0, heap: vec![], by_address: BTreeMap::new() }
    }

    pub fn allocation(&self, number: usize) -> Option<&Allocation> {
        match number.checked_sub(HEAP) {
            Some(number) => self.heap.get(number).map(|block| &block.allocation),
            None => self.all.get(number).map(|(one, _)| one),
        }
    }

    pub fn allocated(&mut self, address: u64, bytes: u64, by: By) {
        let allocation = Allocation { name: format!("the memory at {address:#x}"), address, bytes };
        let block = Block { allocation, is_live: true, by };
        // The heap gives memory again that was freed in other parts.
        let before = self.by_address.range(..block.end()).rev();
        let gone = before.take_while(|(_, number)| self.heap[**number].end() > address);
        for start in gone.map(|(&start, _)| start).collect::<Vec<u64>>() {
            self.by_address.remove(&start);
        }
        self.by_address.insert(address, self.heap.len());
        self.heap.push(block);
    }

    pub fn freed(&mut self, address: u64) {
        if let Some(&number) = self.by_address.get(&address) {
            self.heap[number].is_live = false;
        }
    }

    /// Reports the memory that is not freed at the end of the launch.
    pub fn end(&self, reports: &mut Reports) {
        for (block, number) in self.heap.iter().zip(HEAP..).filter(|(block, _)| block.is_live) {
            let By { warp, lane, site } = block.by;
            let Allocation { address, bytes, .. } = block.allocation;
            let place = (site, MemoryKind::Global, address, bytes);
            reports.note(&warp, place, lane, Raw::Leaked(number));
        }
    }

    /// Returns what is wrong with an access of the heap, or `None` if it is not of the heap. An
    /// access is not wrong if the answer has nothing.
    fn of_heap(&self, address: u64, end: u64) -> Option<Option<Raw>> {
        let (_, &number) = self.by_address.range(..end).next_back()?;
        let block @ Block { allocation, is_live, .. } = &self.heap[number];
        if address >= block.end() {
            return None;
        }
        Some(match is_live {
            false => Some(Raw::Freed(HEAP + number)),
            true => (end > allocation.end()).then_some(Raw::PastEnd(HEAP + number)),
        })
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
            if let Some(wrong) = self.of_heap(address, end) {
                if let Some(raw) = wrong {
                    reports.add(warp, at, lane, raw);
                }
                continue;
            }
            // The allocation that the last byte lies in or behind.
            let after = self.all.partition_point(|(one, _)| one.address < end);
            let Some(number) = after.checked_sub(1) else { continue };
            // A variable may begin right behind another, whose end the access passes.
            let before = number.checked_sub(1).filter(|&before| {
                address < self.all[number].0.address && address < self.all[before].0.end()
            });
            let number = before.unwrap_or(number);
            let (found, is_live) = &self.all[number];
            let past = end.saturating_sub(found.end());
            if *is_live && past == 0 {
                self.last = number;
            } else if past <= found.rest() {
                let raw = if *is_live { Raw::PastEnd(number) } else { Raw::Freed(number) };
                reports.add(warp, at, lane, raw);
            }
        }
    }
}

impl Allocation {
    fn end(&self) -> u64 {
        self.address.saturating_add(self.bytes)
    }

    /// The bytes behind it that belong to nothing else: allocations begin with a page.
    fn rest(&self) -> u64 {
        self.end().next_multiple_of(PAGE_BYTES) - self.end()
    }
}
