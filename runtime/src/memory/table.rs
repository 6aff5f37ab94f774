//! The page table: a radix tree over page numbers whose lookups take no lock.

use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};

use super::{Access, Page};
use crate::warp::PAGE_BITS;

/// Bits of a page number per level. Page numbers have 48 bits: four levels of 12.
const LEVEL_BITS: u32 = 12;
const SLOTS: usize = 1 << LEVEL_BITS;
const LEVELS: u32 = (64 - PAGE_BITS) / LEVEL_BITS;

/// Tags in the low bits of a slot. The other bits are a pointer.
///
/// A slot of an upper level holds a child ([`NODE`]) or the state of all its pages: [`UNMAPPED`] or
/// [`SPARSE`]. So a sparse range costs no memory per page.
const NODE: usize = 1;
const SPARSE: usize = 2;
const READ: usize = 4;
const WRITE: usize = 8;
const TAGS: usize = 15;
/// The alignment of host pages, which leaves room for the tags (and suffices for the widest guest
/// access).
pub(super) const HOST_ALIGN: usize = 16;

const _: () = assert!(align_of::<Node>() > TAGS);

const UNMAPPED: *mut u8 = ptr::null_mut();

/// A node of the tree, aligned to leave room for the tags.
#[repr(align(16))]
struct Node {
    slots: Box<[AtomicPtr<u8>; SLOTS]>,
}

impl Node {
    fn filled(entry: *mut u8) -> Box<Node> {
        let slots: Box<[AtomicPtr<u8>]> = (0..SLOTS).map(|_| AtomicPtr::new(entry)).collect();
        match slots.try_into() {
            Ok(slots) => Box::new(Node { slots }),
            Err(_) => unreachable!("SLOTS slots were collected"),
        }
    }
}

/// The page table. One thread at a time writes it (the owner holds a lock), and all threads read
/// it.
///
/// A node lives as long as the table, unless [`PageTable::prune`] frees it.
pub(super) struct PageTable {
    root: Box<Node>,
}

fn is_node(entry: *mut u8) -> bool {
    entry.addr() & NODE != 0
}

/// Returns the slot of a page number in a node of this level. Level 0 holds the pages.
fn slot(page: u64, level: u32) -> usize {
    (page >> (LEVEL_BITS * level)) as usize & (SLOTS - 1)
}

fn encode(page: Page) -> *mut u8 {
    match page {
        Page::Unmapped => UNMAPPED,
        Page::Sparse => ptr::without_provenance_mut(SPARSE),
        Page::Resident { host, access } => {
            debug_assert_eq!(host.addr().get() & TAGS, 0);
            let tags = if access.read { READ } else { 0 } | if access.write { WRITE } else { 0 };
            host.as_ptr().map_addr(|address| address | tags)
        }
    }
}

#[inline]
fn decode(entry: *mut u8) -> Page {
    let tags = entry.addr() & TAGS;
    match NonNull::new(entry.map_addr(|address| address & !TAGS)) {
        Some(host) => Page::Resident {
            host,
            access: Access { read: tags & READ != 0, write: tags & WRITE != 0 },
        },
        None if tags & SPARSE != 0 => Page::Sparse,
        None => Page::Unmapped,
    }
}

impl PageTable {
    pub(super) fn new() -> PageTable {
        PageTable { root: Node::filled(UNMAPPED) }
    }

    /// The child that an entry with the tag [`NODE`] points to.
    #[inline]
    fn child(&self, entry: *mut u8) -> &Node {
        // SAFETY: only `child_or_new` makes such entries, from a leaked box. `prune` and `drop`
        // free the box. They borrow the table mutably, so that no result of this function is in use
        // then.
        unsafe { &*entry.map_addr(|address| address & !TAGS).cast::<Node>() }
    }

    /// Returns the state of the page with this number. Pages of 64-bit addresses have numbers below
    /// 2^48.
    #[inline]
    pub(super) fn lookup(&self, page: u64) -> Page {
        let mut node = &*self.root;
        for level in (1..LEVELS).rev() {
            let entry = node.slots[slot(page, level)].load(Acquire);
            if !is_node(entry) {
                return decode(entry);
            }
            node = self.child(entry);
        }
        decode(node.slots[slot(page, 0)].load(Acquire))
    }

    fn child_or_new<'a>(&'a self, at: &'a AtomicPtr<u8>) -> &'a Node {
        let entry = at.load(Acquire);
        if is_node(entry) {
            return self.child(entry);
        }
        let node =
            Box::into_raw(Node::filled(entry)).cast::<u8>().map_addr(|address| address | NODE);
        at.store(node, Release);
        self.child(node)
    }

    /// Sets one page.
    pub(super) fn set(&self, page: u64, to: Page) {
        let mut node = &*self.root;
        for level in (1..LEVELS).rev() {
            node = self.child_or_new(&node.slots[slot(page, level)]);
        }
        node.slots[slot(page, 0)].store(encode(to), Release);
    }

    /// Sets `count` pages to a state that has no host memory.
    pub(super) fn set_range(&self, first: u64, count: u64, to: Page) {
        debug_assert!(!matches!(to, Page::Resident { .. }));
        if count > 0 {
            self.set_below(&self.root, LEVELS - 1, first, first + (count - 1), encode(to));
        }
    }

    /// Sets the pages `first..=last`, all of which lie under `node`.
    fn set_below(&self, node: &Node, level: u32, first: u64, last: u64, to: *mut u8) {
        let span = 1u64 << (LEVEL_BITS * level);
        for index in slot(first, level)..=slot(last, level) {
            let at = &node.slots[index];
            let base = (first & !(span - 1)) + (index - slot(first, level)) as u64 * span;
            let (start, end) = (first.max(base), last.min(base | (span - 1)));
            let entry = at.load(Acquire);
            if level == 0 || end - start == span - 1 && !is_node(entry) {
                at.store(to, Release);
            } else if entry != to {
                self.set_below(self.child_or_new(at), level - 1, start, end, to);
            }
        }
    }

    /// Frees the nodes over `count` pages whose slots are all unmapped or all sparse.
    pub(super) fn prune(&mut self, first: u64, count: u64) {
        if count > 0 {
            prune_below(&mut self.root, LEVELS - 1, first, first + (count - 1));
        }
    }

    /// Nodes in use, the root included.
    #[cfg(test)]
    pub(super) fn nodes(&self) -> usize {
        fn below(table: &PageTable, node: &Node) -> usize {
            let entries = node.slots.iter().map(|slot| slot.load(Acquire));
            1 + entries
                .filter(|&entry| is_node(entry))
                .map(|entry| below(table, table.child(entry)))
                .sum::<usize>()
        }
        below(self, &self.root)
    }
}

/// Takes back the box behind an entry with the tag [`NODE`].
///
/// # Safety
/// The entry is from a slot of a table that the caller has for itself: no lookup and no result of
/// [`PageTable::child`] is in use.
/// The caller replaces the entry in the slot before anybody else has the table.
unsafe fn take_child(entry: *mut u8) -> Box<Node> {
    // SAFETY: `child_or_new` leaked this box; the caller's promise.
    unsafe { Box::from_raw(entry.map_addr(|address| address & !TAGS).cast::<Node>()) }
}

fn prune_below(node: &mut Node, level: u32, first: u64, last: u64) {
    if level == 0 {
        return;
    }
    for index in slot(first, level)..=slot(last, level) {
        let entry = *node.slots[index].get_mut();
        if !is_node(entry) {
            continue;
        }
        // SAFETY: the node is borrowed mutably, so nobody reads the table, and the slot is set
        // below.
        let mut child = unsafe { take_child(entry) };
        let start = if index == slot(first, level) { slot_first(first, level - 1) } else { 0 };
        let end = if index == slot(last, level) { slot_first(last, level - 1) } else { u64::MAX };
        prune_below(&mut child, level - 1, start, end);
        let same = *child.slots[0].get_mut();
        let uniform = [UNMAPPED.addr(), SPARSE].contains(&same.addr());
        let keep = !uniform || child.slots.iter_mut().any(|slot| *slot.get_mut() != same);
        *node.slots[index].get_mut() = if keep {
            Box::into_raw(child).cast::<u8>().map_addr(|address| address | NODE)
        } else {
            same
        };
    }
}

/// Returns a page number without the bits above its slot in this level.
fn slot_first(page: u64, level: u32) -> u64 {
    page & ((1 << (LEVEL_BITS * (level + 1))) - 1)
}

impl Drop for PageTable {
    fn drop(&mut self) {
        fn free(node: &mut Node) {
            for slot in node.slots.iter_mut() {
                let entry = *slot.get_mut();
                if is_node(entry) {
                    // SAFETY: the table is being dropped, so nobody reads it.
                    let mut child = unsafe { take_child(entry) };
                    free(&mut child);
                }
            }
        }
        free(&mut self.root);
    }
}
