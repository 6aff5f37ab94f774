//! The last accesses to each byte of memory.

use rustc_hash::FxHashMap;

use super::order::Scope;

/// The number of a site that stands for no access.
const NOBODY: u32 = u32::MAX;

/// An access of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The number of the block.
    pub block: u32,
    /// The step of the warp's clock.
    pub step: u32,
    pub site: u32,
    /// The lanes that accessed the byte, of the first 32.
    pub lanes: u32,
    pub warp: u16,
    /// Whether the access is strong, may be, and for which threads it is.
    pub is_strong: bool,
    pub is_unknown: bool,
    pub is_arrival: bool,
    pub scope: Scope,
}

impl Stamp {
    const NONE: Stamp = Stamp {
        block: 0,
        warp: 0,
        step: 0,
        site: NOBODY,
        lanes: 0,
        is_strong: false,
        is_unknown: false,
        is_arrival: false,
        scope: Scope::Block,
    };

    fn is_some(&self) -> bool {
        self.site != NOBODY
    }

    /// Returns whether two accesses are no race, whatever their order.
    fn agrees_with(&self, other: &Stamp) -> bool {
        if self.is_arrival || other.is_arrival {
            return true;
        }
        let may_be_strong = |stamp: &Stamp| stamp.is_strong || stamp.is_unknown;
        let are_strong =
            self.is_strong && may_be_strong(other) || other.is_strong && may_be_strong(self);
        let is_near = self.block == other.block;
        are_strong && (is_near || self.scope.min(other.scope) == Scope::Device)
    }

    /// Returns whether two accesses are of one site in one step of a warp.
    fn is_alike(&self, other: &Stamp) -> bool {
        let of = |stamp: &Stamp| (stamp.block, stamp.warp, stamp.step, stamp.site);
        of(self) == of(other)
    }
}

/// The accesses to a word, or to a byte of a word that is accessed in parts.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The last plain write, and the last strong write after it.
    write: Stamp,
    strong: Stamp,
    /// Reads after the plain write. Of more than two unordered readers, two are known.
    reads: [Stamp; 2],
}

impl Cell {
    const EMPTY: Cell = Cell { write: Stamp::NONE, strong: Stamp::NONE, reads: [Stamp::NONE; 2] };

    /// Enters an access of a lane. `has_parted` tells whether lanes of its warp know different
    /// accesses of each other, and `is_before` whether an access comes before this access.
    /// Returns an access with which it races.
    pub fn enter(
        &mut self,
        now: &Stamp,
        reads: bool,
        has_parted: bool,
        is_before: impl Fn(&Stamp) -> bool,
    ) -> Option<Stamp> {
        let [first, second] = &mut self.reads;
        if reads && first.is_alike(now) && !has_parted {
            first.lanes |= now.lanes;
            return None;
        }
        let races =
            |other: &&Stamp| other.is_some() && !other.agrees_with(now) && !is_before(other);
        let with_write = [self.write, self.strong].iter().find(races).copied();
        if reads {
            if first.is_alike(now) {
                first.lanes |= now.lanes;
            } else if second.is_alike(now) {
                second.lanes |= now.lanes;
            } else if !first.is_some() || first.is_strong == now.is_strong && is_before(first) {
                *first = *now;
            } else {
                *second = *now;
            }
            return with_write;
        }
        let with_read = self.reads.iter().find(races).copied();
        let write = if now.is_strong { &mut self.strong } else { &mut self.write };
        if write.is_alike(now) {
            write.lanes |= now.lanes;
        } else {
            *write = *now;
        }
        if !now.is_strong {
            (self.strong, self.reads) = (Stamp::NONE, [Stamp::NONE; 2]);
        }
        with_write.or(with_read)
    }
}

/// The words of a page of cells.
const PAGE_WORDS: usize = 256;
const PAGE_BYTES: u64 = 4 * PAGE_WORDS as u64;

#[derive(Debug)]
struct Page {
    words: Box<[Cell]>,
    /// Cells of the bytes of words that were accessed in parts, by the number of the word.
    parts: FxHashMap<u16, [Cell; 4]>,
}

/// The cells of a memory. A page of cells is there once a byte of it was accessed.
#[derive(Debug, Default)]
pub struct Cells {
    pages: Vec<Page>,
    /// The indices of pages by their numbers, and the page that was accessed last.
    indices: FxHashMap<u64, usize>,
    last: (u64, usize),
}

impl Cells {
    /// Calls `visit` with each cell of an access.
    pub fn each(&mut self, address: u64, bytes: u64, mut visit: impl FnMut(&mut Cell)) {
        let (mut at, end) = (address, address.saturating_add(bytes));
        while at < end {
            let page_end = (at / PAGE_BYTES + 1).saturating_mul(PAGE_BYTES);
            let page = self.page(at / PAGE_BYTES);
            while at < end.min(page_end) {
                let number = (at % PAGE_BYTES / 4) as u16;
                let (first, last) = (at % 4, (end - (at & !3)).min(4));
                let is_whole = first == 0 && last == 4;
                let word = &mut page.words[usize::from(number)];
                if is_whole && (page.parts.is_empty() || !page.parts.contains_key(&number)) {
                    visit(word);
                } else {
                    let parts = page.parts.entry(number).or_insert([*word; 4]);
                    parts[first as usize..last as usize].iter_mut().for_each(&mut visit);
                }
                at = (at & !3) + last;
            }
        }
    }

    /// Forgets all accesses to a range of whole words.
    pub fn forget(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        let numbers = address / PAGE_BYTES..end.div_ceil(PAGE_BYTES);
        let Cells { pages, indices, .. } = self;
        let mut clear = |number: u64, index: usize| {
            let (page, base) = (&mut pages[index], number * PAGE_BYTES);
            let first = address.saturating_sub(base) / 4;
            let words = first as usize..((end - base) / 4).min(PAGE_WORDS as u64) as usize;
            page.words[words.clone()].fill(Cell::EMPTY);
            page.parts.retain(|&word, _| !words.contains(&word.into()));
        };
        // Pages that nobody has accessed need no cells.
        if numbers.end - numbers.start < indices.len() as u64 {
            numbers.filter_map(|n| Some((n, *indices.get(&n)?))).for_each(|(n, i)| clear(n, i));
        } else {
            let here = indices.iter().filter(|(number, _)| numbers.contains(number));
            here.for_each(|(&number, &index)| clear(number, index));
        }
    }

    fn page(&mut self, number: u64) -> &mut Page {
        if self.last.0 != number || self.pages.is_empty() {
            let index = *self.indices.entry(number).or_insert_with(|| {
                self.pages.push(Page {
                    words: vec![Cell::EMPTY; PAGE_WORDS].into(),
                    parts: FxHashMap::default(),
                });
                self.pages.len() - 1
            });
            self.last = (number, index);
        }
        &mut self.pages[self.last.1]
    }
}
