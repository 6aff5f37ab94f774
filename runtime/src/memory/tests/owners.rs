//! The memory that bindings have: random operations in both kinds of memory against a plain model.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::*;
use crate::rounds;

/// The target of a page's binding.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bound {
    /// Index of the allocation, and its page.
    storage: usize,
    page: usize,
    /// The number of the call that bound the page.
    binding: u64,
}

struct Range {
    base: u64,
    pages: Vec<Option<Bound>>,
}

struct Allocation {
    /// The allocation's own address, if it lies in the arena.
    own: Option<u64>,
    /// The number that each page holds in its first and in its last bytes.
    content: Vec<u64>,
}

struct Model {
    memory: Rc<Memory>,
    in_place: bool,
    ranges: Vec<Range>,
    storages: Vec<Allocation>,
    /// Allocations whose pages a launch may still have.
    held: BTreeSet<usize>,
    state: u64,
    next: u64,
}

impl Model {
    fn new(in_place: bool, seed: u64) -> Model {
        let memory = Memory::new(MemoryConfig {
            cap_bytes: 256 * PAGE,
            in_place,
            ..MemoryConfig::default()
        })
        .unwrap();
        let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Model {
            memory: Rc::new(memory),
            in_place,
            ranges: vec![],
            storages: vec![],
            held: BTreeSet::new(),
            state,
            next: 0,
        }
    }

    /// The memory when no launch has it.
    fn owned(&mut self) -> &mut Memory {
        Rc::get_mut(&mut self.memory).unwrap()
    }

    fn random(&mut self, below: usize) -> usize {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.state >> 33) as usize % below
    }

    fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Returns a range and a part of it, if there is a range.
    fn part(&mut self) -> Option<(usize, usize, usize)> {
        let count = self.ranges.len();
        let range = if count == 0 { return None } else { self.random(count) };
        let pages = self.ranges[range].pages.len();
        let first = self.random(pages);
        Some((range, first, 1 + self.random(pages - first)))
    }

    fn address(&self, range: usize, page: usize) -> u64 {
        self.ranges[range].base + page as u64 * PAGE
    }

    fn is_free(&self, range: usize, first: usize, count: usize) -> bool {
        self.ranges[range].pages[first..first + count].iter().all(Option::is_none)
    }

    /// Adds an allocation, whose pages read zero, for pages of a range.
    fn enter(&mut self, range: usize, first: usize, count: usize, own: Option<u64>) {
        let (storage, binding) = (self.storages.len(), self.fresh());
        self.storages.push(Allocation { own, content: vec![0; count] });
        for page in 0..count {
            self.ranges[range].pages[first + page] = Some(Bound { storage, page, binding });
        }
        self.check(range);
        for page in first..first + count {
            self.write(range, page);
        }
    }

    fn write(&mut self, range: usize, page: usize) {
        let Some(bound) = self.ranges[range].pages[page] else { return };
        let (value, at) = (self.fresh(), self.address(range, page));
        self.memory.write(at, &value.to_le_bytes()).unwrap();
        self.memory.write(at + PAGE - 8, &value.to_le_bytes()).unwrap();
        self.storages[bound.storage].content[bound.page] = value;
    }

    fn reserve(&mut self) {
        let count = 1 + self.random(6);
        // Below the arena, above it, and in it. Some places are taken.
        let slot = self.random(12) as u64;
        let place = [
            Placement::At((1 << 33) + slot * 4 * PAGE),
            Placement::At((1 << 55) + slot * 4 * PAGE),
            Placement::ANYWHERE,
        ];
        let place = place[self.random(3)];
        if let Ok(base) = self.memory.reserve(place, count as u64 * PAGE, Unbound::Faults) {
            self.ranges.push(Range { base, pages: vec![None; count] });
        }
    }

    fn alloc(&mut self) {
        let count = 1 + self.random(6);
        let Ok(base) = self.memory.alloc(count as u64 * PAGE, 1) else { return };
        self.ranges.push(Range { base, pages: vec![None; count] });
        self.enter(self.ranges.len() - 1, 0, count, self.in_place.then_some(base));
    }

    fn bind(&mut self) {
        let Some((range, first, count)) = self.part() else { return };
        let done =
            self.memory.bind(self.address(range, first), count as u64 * PAGE, Access::READ_WRITE);
        if matches!(done, Err(MapError::CapExceeded { .. })) {
            return;
        }
        assert_eq!(done.is_ok(), self.is_free(range, first, count));
        if done.is_ok() {
            self.enter(range, first, count, None);
        }
    }

    fn alias(&mut self) {
        let (Some((to, first, count)), Some((from, source, _))) = (self.part(), self.part()) else {
            return;
        };
        let (address, at) = (self.address(to, first), self.address(from, source));
        let done = self.memory.alias(address, count as u64 * PAGE, at, Access::READ_WRITE);
        let pages: Option<Vec<Bound>> =
            self.ranges[from].pages[source..].iter().take(count).copied().collect();
        let of_one = |pages: &Vec<Bound>| {
            let first = pages[0];
            let in_arena = self.storages[first.storage].own.is_some();
            in_arena
                && pages.len() == count
                && pages.iter().all(|bound| bound.binding == first.binding)
        };
        let pages = pages.filter(of_one).filter(|_| self.is_free(to, first, count));
        assert_eq!(done.is_ok(), pages.is_some(), "{done:?}");
        let binding = self.fresh();
        for (page, bound) in pages.into_iter().flatten().enumerate() {
            self.ranges[to].pages[first + page] = Some(Bound { binding, ..bound });
        }
    }

    /// Returns whether a page is not bound, or is bound to an allocation of the arena at an address
    /// that is not its own.
    fn is_alias(&self, range: usize, page: usize) -> bool {
        self.ranges[range].pages[page].is_none_or(|bound| {
            let own = self.storages[bound.storage].own;
            own.is_some_and(|own| own + bound.page as u64 * PAGE != self.address(range, page))
        })
    }

    fn unalias(&mut self, launched: bool) {
        let Some((range, first, count)) = self.part() else { return };
        let done = self.memory.unalias(self.address(range, first), count as u64 * PAGE);
        assert_eq!(
            done.is_ok(),
            (first..first + count).all(|page| self.is_alias(range, page)),
            "{done:?}"
        );
        if done.is_ok() {
            for bound in
                self.ranges[range].pages[first..first + count].iter_mut().filter_map(Option::take)
            {
                if launched {
                    self.held.insert(bound.storage);
                }
            }
        }
    }

    fn unbind(&mut self) {
        let Some((range, first, count)) = self.part() else { return };
        let at = self.address(range, first);
        self.owned().unbind(at, count as u64 * PAGE).unwrap();
        self.ranges[range].pages[first..first + count].fill(None);
    }

    fn release(&mut self) {
        let Some((range, first, _)) = self.part() else { return };
        let at = self.address(range, first);
        assert_eq!(self.owned().release(at).is_ok(), first == 0);
        if first == 0 {
            self.ranges.swap_remove(range);
        }
    }

    /// Does some operations while a launch runs.
    fn launch(&mut self) {
        let memory = self.memory.clone();
        let launch = memory.begin_launch();
        let mut released = vec![];
        for _ in 0..6 {
            match self.random(4) {
                0 => self.alloc(),
                1 => self.alias(),
                2 => self.unalias(true),
                _ => {
                    if let Some((range, ..)) = self.part()
                        && !released.contains(&self.ranges[range].base)
                    {
                        self.memory.release_later(self.ranges[range].base).unwrap();
                        released.push(self.ranges[range].base);
                    }
                }
            }
            self.check_all();
        }
        drop(launch);
        drop(memory);
        self.held.clear();
        self.ranges.retain(|range| !released.contains(&range.base));
        // Buffers stay until nobody can hold a host address.
        self.owned().reclaim();
    }

    fn check(&self, range: usize) {
        for (page, bound) in self.ranges[range].pages.iter().enumerate() {
            let at = self.address(range, page);
            let Some(bound) = bound else {
                assert_eq!(self.memory.page(at), Page::Unmapped);
                continue;
            };
            let expected = self.storages[bound.storage].content[bound.page];
            for at in [at, at + PAGE - 8] {
                let found = self.memory.load(at, 8).unwrap();
                assert_eq!(found, (expected.into(), Resident), "page {page} at {at:#x}: {bound:?}");
            }
        }
    }

    fn check_all(&self) {
        (0..self.ranges.len()).for_each(|range| self.check(range));
        let pages = self.ranges.iter().flat_map(|range| range.pages.iter().flatten());
        let used: BTreeSet<usize> =
            pages.map(|bound| bound.storage).chain(self.held.iter().copied()).collect();
        let bytes =
            used.iter().map(|&storage| self.storages[storage].content.len() as u64 * PAGE).sum();
        assert_eq!(self.memory.bytes_in_use(), bytes);
    }

    fn step(&mut self) {
        match self.random(16) {
            0..=2 => self.reserve(),
            3..=4 => self.alloc(),
            5 => self.bind(),
            6..=8 => self.alias(),
            9..=10 => self.unalias(false),
            11 => self.unbind(),
            12 => self.release(),
            13 => self.launch(),
            _ => {
                if let Some((range, page, _)) = self.part() {
                    self.write(range, page);
                }
            }
        }
        self.check_all();
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no file")]
fn random_bindings_have_the_pages_of_their_owners_only() {
    for (seed, in_place) in (0..rounds(30)).flat_map(|seed| [(seed, false), (seed, true)]) {
        let mut model = Model::new(in_place, seed);
        (0..rounds(400)).for_each(|_| model.step());
        while let Some(range) = model.ranges.pop() {
            model.owned().release(range.base).unwrap();
            model.check_all();
        }
        assert_eq!(model.memory.bytes_in_use(), 0);
    }
}
