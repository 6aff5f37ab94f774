//! How the bytes of roots are accessed: noted while a kernel is lifted for the first time.

use rustc_hash::FxHashMap;

use super::variables::RootId;

/// All accesses, in the order that they are lifted in.
#[derive(Default)]
pub struct Survey {
    pub roots: FxHashMap<RootId, Vec<Access>>,
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
}
