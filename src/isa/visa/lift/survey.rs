//! Notes the accesses to roots' bytes while a kernel is lifted for the first time.

use rustc_hash::FxHashMap;

use super::variables::RootId;

/// All accesses, in the order in which they were lifted.
#[derive(Default)]
pub struct Survey {
    pub roots: FxHashMap<RootId, Vec<Access>>,
    /// For each root that indirect operands access, the element size if lanes only pick single
    /// elements.
    pub rows: FxHashMap<RootId, Option<u32>>,
    /// The accesses to predicates, by the predicate's number.
    pub predicates: FxHashMap<u32, Vec<PredicateAccess>>,
}

/// An access to a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredicateAccess {
    pub write: bool,
    /// The block of the access.
    pub node: u32,
    /// For a write, whether it changes the bits of all active lanes. For a read, whether only the
    /// bits of active lanes can be seen.
    pub plain: bool,
    /// For a write, whether it changes all bits, whichever lanes are active.
    pub whole: bool,
}

/// An access to some bytes of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub start: u32,
    /// The end of the bytes, exclusive.
    pub end: u32,
    pub what: What,
    pub write: bool,
    /// The block of the access.
    pub node: u32,
    /// For a write, whether it changes all its elements. For a read, whether only active lanes can
    /// be seen.
    pub plain: bool,
    /// Whether the active lanes do not mask the access.
    pub no_mask: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// One element.
    Scalar,
    /// An element of `size` bytes for each lane, `stride` bytes apart.
    Lanes { stride: u32, size: u32, first: u8, count: u8 },
    /// Any other access.
    Bytes,
}

impl Survey {
    pub fn note(&mut self, root: RootId, access: Access) {
        self.roots.entry(root).or_default().push(access);
    }

    /// Notes an indirect access in which each lane, or the warp, reads one element of `size` bytes.
    ///
    /// `size` is None for any other access.
    pub fn note_row(&mut self, root: RootId, size: Option<u32>) {
        let known = self.rows.entry(root).or_insert(size);
        *known = known.filter(|_| *known == size);
    }
}
