//! Shared lane operations of lifters: the algebra of lane masks, with known values folded away.

use warploom_ir::{BlockBuilder, IntCc, Type, Value};

/// A lane mask in a block under construction. Most guards are constant, and so are many masks
/// combined from guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mask {
    /// No lane.
    Never,
    /// Every lane.
    Always,
    /// The lanes whose bit is set in this value.
    Lanes(Value),
}

impl Mask {
    pub const fn of(value: bool) -> Mask {
        if value { Mask::Always } else { Mask::Never }
    }

    pub fn and(self, other: Mask, b: &mut BlockBuilder<'_>) -> Mask {
        match (self, other) {
            (Mask::Never, _) | (_, Mask::Never) => Mask::Never,
            (Mask::Always, mask) | (mask, Mask::Always) => mask,
            (Mask::Lanes(x), Mask::Lanes(y)) if x == y => self,
            (Mask::Lanes(x), Mask::Lanes(y)) => Mask::Lanes(b.and(x, y)),
        }
    }

    pub fn or(self, other: Mask, b: &mut BlockBuilder<'_>) -> Mask {
        match (self, other) {
            (Mask::Always, _) | (_, Mask::Always) => Mask::Always,
            (Mask::Never, mask) | (mask, Mask::Never) => mask,
            (Mask::Lanes(x), Mask::Lanes(y)) if x == y => self,
            (Mask::Lanes(x), Mask::Lanes(y)) => Mask::Lanes(b.or(x, y)),
        }
    }

    pub fn xor(self, other: Mask, b: &mut BlockBuilder<'_>) -> Mask {
        match (self, other) {
            (Mask::Never, mask) | (mask, Mask::Never) => mask,
            (Mask::Always, mask) | (mask, Mask::Always) => mask.not(b),
            (Mask::Lanes(x), Mask::Lanes(y)) => Mask::Lanes(b.xor(x, y)),
        }
    }

    /// Returns the complement of the mask.
    pub fn not(self, b: &mut BlockBuilder<'_>) -> Mask {
        match self {
            Mask::Never => Mask::Always,
            Mask::Always => Mask::Never,
            Mask::Lanes(x) => Mask::Lanes(b.not(x)),
        }
    }

    /// Selects `self` in the lanes of `lanes`, and `other` elsewhere.
    pub fn merge(self, lanes: Mask, other: Mask, b: &mut BlockBuilder<'_>) -> Mask {
        match lanes {
            Mask::Always => self,
            Mask::Never => other,
            Mask::Lanes(_) if self == other => self,
            Mask::Lanes(_) => {
                let inside = self.and(lanes, b);
                let outside = lanes.not(b);
                let outside = other.and(outside, b);
                inside.or(outside, b)
            }
        }
    }

    /// Returns the mask as a value.
    pub fn value(self, b: &mut BlockBuilder<'_>) -> Value {
        match self {
            Mask::Never => b.lanes_of(0),
            Mask::Always => b.lanes_of(u64::MAX),
            Mask::Lanes(value) => value,
        }
    }
}

/// Returns the number of the lowest lane of a nonempty mask, as a uniform `i32`.
pub fn first_lane(b: &mut BlockBuilder<'_>, lanes: Value) -> Value {
    let bits = b.from_mask(lanes);
    let lane = b.ctz(bits);
    b.trunc(Type::I32, lane)
}

/// Returns the mask of lanes where a varying or uniform integer is not 0. Of a mask, returns all
/// lanes if the mask is not empty.
pub fn nonzero(b: &mut BlockBuilder<'_>, value: Value) -> Value {
    let value = if b.ty(value).ty == Type::Mask { b.from_mask(value) } else { value };
    let ty = b.ty(value).ty;
    let zero = b.iconst(ty, 0);
    b.icmp(IntCc::Ne, value, zero)
}
