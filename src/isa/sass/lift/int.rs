//! Types of integers that instructions convert.

use warploom_ir::Type;

/// An integer type.
#[derive(Clone, Copy)]
pub struct Int {
    pub bits: u32,
    pub signed: bool,
}

impl Int {
    pub fn ty(self) -> Type {
        match self.bits {
            8 => Type::I8,
            16 => Type::I16,
            32 => Type::I32,
            _ => Type::I64,
        }
    }

    /// Returns the least and the greatest value.
    pub fn range(self) -> (i64, i64) {
        if self.signed {
            (-1 << (self.bits - 1), (1 << (self.bits - 1)) - 1)
        } else {
            (0, (1 << self.bits) - 1)
        }
    }
}
