//! The mask registers of a guest, as lifters number them, and sets of them: predicates, then the
//! bits of CC or the uniform predicates.

/// A predicate, a uniform predicate or a bit of CC. A guest has one of the latter two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flag(u8);

impl Flag {
    /// The number of flags.
    pub const COUNT: usize = 2 * Flag::PREDICATES;
    pub const PREDICATES: usize = 7;
    pub const CC_BITS: usize = 5;

    /// CC: the result is zero.
    pub const Z: Flag = Flag(7);
    /// CC: the result is negative.
    pub const S: Flag = Flag(8);
    /// CC: carry out of the addition.
    pub const C: Flag = Flag(9);
    /// CC: signed overflow.
    pub const O: Flag = Flag(10);
    /// The second bit of the carry of IADD3.CC, whose sum of three terms carries 0, 1 or 2. Its
    /// place in the hardware is unknown (facts, `maxwell-semantics.md` 2.1), and only IADD3.X reads
    /// it.
    pub const C2: Flag = Flag(11);

    /// Returns the flag of a predicate, P0 to P6.
    pub const fn predicate(index: u8) -> Flag {
        assert!((index as usize) < Flag::PREDICATES);
        Flag(index)
    }

    /// Returns the flag of a uniform predicate, UP0 to UP6.
    pub const fn uniform(index: u8) -> Flag {
        assert!((index as usize) < Flag::PREDICATES);
        Flag(Flag::PREDICATES as u8 + index)
    }

    pub fn all() -> impl Iterator<Item = Flag> {
        (0..Flag::COUNT as u8).map(Flag)
    }

    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    pub const NONE: Flags = Flags(0);
    pub const ALL: Flags = Flags((1 << Flag::COUNT) - 1);
    pub const PREDICATES: Flags = Flags((1 << Flag::PREDICATES) - 1);
    pub const CC: Flags = Flags(Flags::ALL.0 & !Flags::PREDICATES.0);

    pub const fn contains(self, flag: Flag) -> bool {
        self.0 >> flag.0 & 1 != 0
    }

    pub fn insert(&mut self, flag: Flag) {
        self.0 |= 1 << flag.0;
    }

    pub const fn union(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    pub const fn intersection(self, other: Flags) -> Flags {
        Flags(self.0 & other.0)
    }

    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
