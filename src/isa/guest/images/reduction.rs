//! Atomic operations on surfaces.

use warploom_ir::image::flag;
use warploom_ir::{AtomicOp, Type, Value};

use super::Lifter;
use super::place::SurfaceAccess;
use crate::divergence::Mask;

/// Operation and type of the memory operand.
pub type Kind = (AtomicOp, Type);

/// The effect of an atomic instruction: an operation and a type. Images of signed and of other
/// components may have different ones.
#[derive(Clone, Copy)]
pub enum Operation {
    One(Kind),
    OfSign { signed: Kind, unsigned: Kind },
}

impl Operation {
    /// Returns the bytes of the memory operand.
    pub fn bytes(self) -> u32 {
        let (Operation::One((_, ty)) | Operation::OfSign { signed: (_, ty), .. }) = self;
        ty.bytes()
    }

    /// Calls `once` for each kind, with the lanes of that kind. Returns the old values and the
    /// sparse status.
    pub fn perform<'a, C: Lifter<'a>>(
        self,
        cx: &mut C,
        place: &SurfaceAccess,
        mut once: impl FnMut(&mut C, Kind, Mask) -> (Value, Mask),
    ) -> (Value, Mask) {
        let (signed, unsigned) = match self {
            Operation::One(kind) => return once(cx, kind, Mask::Always),
            Operation::OfSign { signed, unsigned } => (signed, unsigned),
        };
        match place.record.has(cx, flag::SIGNED) {
            Mask::Always => once(cx, signed, Mask::Always),
            Mask::Never => once(cx, unsigned, Mask::Always),
            lanes => {
                let others = cx.others(lanes);
                let (a, b) = (once(cx, signed, lanes), once(cx, unsigned, others));
                (cx.builder().or(a.0, b.0), cx.either(a.1, b.1))
            }
        }
    }
}
