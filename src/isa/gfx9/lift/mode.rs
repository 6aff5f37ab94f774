//! The part of the wave's state that is known when code is lifted.
//!
//! Source: "Vega" Instruction Set Architecture, "MODE register".

use warploom_ir::{FloatAttrs, Round, Type};

/// The part of the MODE register that changes how instructions act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mode {
    /// Bits 0 to 3: rounding of f32 (low two), and of f64 and f16. Bits 4 to 7: denormals in this
    /// order, bit 0 for operands and bit 1 for results. Bit 8: `clamp` turns a NaN into 0. Bit 9:
    /// IEEE.
    bits: u16,
    /// If m0 indexes vector registers: the indexed operands (bit 0 src0, 1 src1, 2 src2, 3
    /// destination).
    pub indexed: Option<u8>,
}

/// The bits of the register that [`Mode`] keeps.
pub const KEPT: u32 = 0x3ff;
impl Mode {
    /// Returns the mode of the low bits of the register.
    pub fn from_bits(bits: u32) -> Mode {
        Mode { bits: (bits & KEPT) as u16, indexed: None }
    }

    /// Returns the bits of the register.
    pub fn bits(self) -> u32 {
        u32::from(self.bits) | u32::from(self.indexed.is_some()) << 27
    }

    /// Returns the mode with `width` bits from bit `lo` replaced by the bits of `value`.
    pub fn with_field(self, lo: u32, width: u32, value: u32) -> Mode {
        let mask = (u32::MAX >> (32 - width)) << lo;
        Mode { bits: ((self.bits() & !mask | value << lo & mask) & KEPT) as u16, ..self }
    }

    pub fn with_indexed(self, indexed: Option<u8>) -> Mode {
        Mode { indexed, ..self }
    }

    fn round(self, ty: Type) -> Round {
        match self.bits >> if ty == Type::F32 { 0 } else { 2 } & 3 {
            0 => Round::Nearest,
            1 => Round::Up,
            2 => Round::Down,
            _ => Round::Zero,
        }
    }

    /// Returns whether denormals become zeros.
    ///
    /// If the mode flushes only operands or only results, both are flushed: `docs/fidelity.md`.
    pub fn flush(self, ty: Type) -> bool {
        self.bits >> if ty == Type::F32 { 4 } else { 6 } & 3 != 3
    }

    pub fn attrs(self, ty: Type) -> FloatAttrs {
        FloatAttrs { round: self.round(ty), flush: self.flush(ty), saturate: false }
    }

    /// Returns whether `clamp` turns a NaN into 0.
    pub fn clamps_nan(self) -> bool {
        self.bits & 0x100 != 0
    }

    /// Returns whether `omod` has an effect: not with denormal results, nor in IEEE mode.
    pub fn scales(self, ty: Type) -> bool {
        self.flush(ty) && self.bits & 0x200 == 0
    }
}
