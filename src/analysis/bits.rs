//! Sets of small numbers.

use smallvec::{SmallVec, smallvec};

/// A set with one bit for each number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bits(pub(super) SmallVec<[u64; 8]>);

impl Bits {
    /// Returns an empty set of numbers below `count`.
    pub(super) fn new(count: usize) -> Self {
        Bits(smallvec![0; count.div_ceil(64)])
    }

    pub(super) fn insert(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    pub(super) fn remove(&mut self, index: usize) {
        self.0[index / 64] &= !(1 << (index % 64));
    }

    pub(super) fn set(&mut self, index: usize, is_in: bool) {
        if is_in { self.insert(index) } else { self.remove(index) }
    }

    pub(super) fn extend(&mut self, indices: impl Iterator<Item = usize>) {
        indices.for_each(|index| self.insert(index));
    }

    pub(super) fn contains(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 != 0
    }

    /// Adds the numbers of another set. Returns whether the set has grown.
    pub(super) fn union(&mut self, other: &Bits) -> bool {
        let mut more = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            more |= *b & !*a != 0;
            *a |= b;
        }
        more
    }

    /// Keeps the numbers that another set of as many numbers has, too.
    pub(super) fn intersect(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }

    /// Removes the numbers of another set.
    pub(super) fn subtract(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= !b);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(word * 64 + bit)
            })
        })
    }
}
