//! How the bytes of roots are accessed: noted while a kernel is lifted for the first time.

use rustc_hash::FxHashMap;

use super::variables::RootId;

/// All accesses, in the order that they are lifted in.
#[derive(Default)]
pub struct Survey {
    pub roots: FxHashMap<RootId, Vec<Access>>,
    /// Of roots that addresses are used for: the size of the elements that lanes pick one each of, if that is all that is done.
    pub rows: FxHashMap<RootId, Option<u32>>,
    /// By number.
    pub predicates: FxHashMap<u32, Vec<PredicateAccess>>,
}

/// One access to a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredicateAccess {
    pub write: bool,
    /// Which block it is in.
    pub node: u32,
    /// Of a write: it changes the bits of all active lanes. Of a read: only bits of active lanes can be seen.
    pub plain: bool,
    /// Of a write: it changes all bits, whichever lanes are active.
    pub whole: bool,
}

/// One access to some bytes of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
    pub what: What,
    pub write: bool,
    /// Which block it is in.
    pub node: u32,
    /// Of a write: it changes all of its elements. Of a read: only lanes that are active can be seen.
    pub plain: bool,
    /// It is not masked by the active lanes.
    pub no_mask: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// One element.
    Scalar,
    /// An element for each lane, of `size` bytes, from lane to lane so many bytes.
    Lanes { stride: u32, size: u32, first: u8, count: u8 },
    /// Anything else.
    Bytes,
}

impl Survey {
    pub fn note(&mut self, root: RootId, access: Access) {
        self.roots.entry(root).or_default().push(access);
    }

    /// Lanes, or all of them together, read one element of so many bytes each; none if something else is done.
    pub fn note_row(&mut self, root: RootId, size: Option<u32>) {
        let known = self.rows.entry(root).or_insert(size);
        *known = known.filter(|_| *known == size);
    }
}
