//! The part of the wave's state that is known where code is lifted.
//!
//! Source: "Vega" Instruction Set Architecture, "MODE register".

use warploom_ir::{FloatAttrs, Round, Type};

/// The MODE register as far as it says how instructions act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mode {
    /// Bits 0 to 3: rounding of f32 (low two), of f64 and f16. 4 to 7: denormals of the same, bit 0 for operands and bit 1 for
    /// results. 8: `clamp` makes 0 of a NaN. 9: IEEE.
    bits: u16,
    /// Vector registers are indexed by m0: the operands that are (bit 0 src0, 1 src1, 2 src2, 3 destination).
    pub indexed: Option<u8>,
}

/// Bits of the register that [`Mode`] keeps.
pub const KEPT: u32 = 0x3ff;
impl Mode {
    /// From the low bits of the register.
    pub fn from_bits(bits: u32) -> Mode {
        Mode { bits: (bits & KEPT) as u16, indexed: None }
    }

    /// The register.
    pub fn bits(self) -> u32 {
        u32::from(self.bits) | u32::from(self.indexed.is_some()) << 27
    }

    /// With `width` bits from bit `lo` replaced by those of `value`.
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

    /// Whether denormals become zeros. Where only operands or only results would, both do: `docs/fidelity.md`.
    pub fn flush(self, ty: Type) -> bool {
        self.bits >> if ty == Type::F32 { 4 } else { 6 } & 3 != 3
    }

    pub fn attrs(self, ty: Type) -> FloatAttrs {
        FloatAttrs { round: self.round(ty), flush: self.flush(ty), saturate: false }
    }

    /// Whether `clamp` makes 0 of a NaN.
    pub fn clamps_nan(self) -> bool {
        self.bits & 0x100 != 0
    }

    /// Whether `omod` does anything: not with denormal results, nor in IEEE mode.
    pub fn scales(self, ty: Type) -> bool {
        self.flush(ty) && self.bits & 0x200 == 0
    }
}
