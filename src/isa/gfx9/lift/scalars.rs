//! Scalar registers: by the hardware's numbers, in pairs.

use warploom_ir::{IntCc, Part, Reg, Type, Value};

use super::context::Cx;
use super::known::Known;
use crate::Operand;

/// The number of pairs. The number of a pair is half the number of its first register.
pub const PAIRS: u32 = 64;
pub use crate::operand::{EXEC, M0, VCC};

/// The bits of the inline float constants 240 to 248, of f16, f32 and f64.
const FLOATS: [(u16, u32, u64); 9] = [
    (0x3800, 0x3f00_0000, 0x3fe0 << 48),
    (0xb800, 0xbf00_0000, 0xbfe0 << 48),
    (0x3c00, 0x3f80_0000, 0x3ff0 << 48),
    (0xbc00, 0xbf80_0000, 0xbff0 << 48),
    (0x4000, 0x4000_0000, 0x4000 << 48),
    (0xc000, 0xc000_0000, 0xc000 << 48),
    (0x4400, 0x4080_0000, 0x4010 << 48),
    (0xc400, 0xc080_0000, 0xc010 << 48),
    // 1 / (2 pi)
    (0x3118, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
];

/// Returns the bits of an inline float constant as a float of this type.
pub fn float_constant(number: u8, ty: Type) -> u64 {
    let (half, single, double) =
        FLOATS[usize::from(number.saturating_sub(240)).min(FLOATS.len() - 1)];
    match ty.bits() {
        16 => half.into(),
        32 => single.into(),
        _ => double,
    }
}

/// A mask as vector instructions left it.
///
/// In lanes that were inactive then, `raw` may have bits that the register does not have.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawMask {
    pub raw: Value,
    pub exec: Value,
}

impl Cx<'_> {
    fn pair(&self, number: u8) -> Reg {
        self.banks.scalars.reg(u32::from(number / 2) % PAIRS)
    }

    /// Returns a scalar operand of 32 bits.
    pub fn scalar(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Scalar(number) if let Some(Known::Literal(bits)) = self.known.get(number) => {
                self.int(bits)
            }
            Operand::Scalar(number) => {
                let part = if number % 2 == 0 { Part::Lo } else { Part::Hi };
                let reg = self.pair(number);
                self.b.rf_read_part(reg, part)
            }
            Operand::Int(value) => self.int(value as u32),
            Operand::Float(number) => self.int(float_constant(number, Type::F32) as u32),
            Operand::Literal(bits) => self.int(bits),
            Operand::Vccz | Operand::Execz => {
                let mask = if operand == Operand::Vccz { self.vcc() } else { self.exec() };
                let empty = self.is_zero(mask);
                self.flag_bit(empty)
            }
            Operand::Scc => {
                let scc = self.scc();
                self.flag_bit(scc)
            }
            Operand::SharedBase
            | Operand::SharedLimit
            | Operand::PrivateBase
            | Operand::PrivateLimit => {
                let whole = self.scalar_pair(operand);
                self.b.trunc(Type::I32, whole)
            }
            Operand::LdsDirect => super::lds::direct(self),
            // `support` refuses `PopsExitingWaveId`, and the other operands are no scalars.
            Operand::PopsExitingWaveId | Operand::Vector(_) | Operand::None => self.int(0),
        }
    }

    /// Returns a scalar operand of 64 bits as a mask of lanes.
    ///
    /// The value of a literal depends on the operand's type: see [`Cx::long_word`].
    pub fn scalar_mask(&mut self, operand: Operand) -> Value {
        if let Operand::Scalar(number) = operand
            && number % 2 == 0
        {
            let reg = self.pair(number);
            return self.b.rf_read(reg);
        }
        let bits = self.scalar_pair(operand);
        self.mask_of(bits)
    }

    /// Returns a scalar operand of 64 bits as an `i64`.
    ///
    /// The value of a literal depends on the operand's type: see [`Cx::long_word`].
    pub fn scalar_pair(&mut self, operand: Operand) -> Value {
        let constant = match operand {
            Operand::Scalar(number) if number % 2 == 0 => {
                let mask = self.scalar_mask(operand);
                return self.b.from_mask(mask);
            }
            Operand::Scalar(number) => {
                let (low, high) =
                    (self.scalar(operand), self.scalar(Operand::Scalar(number.wrapping_add(1))));
                return self.b.concat(low, high);
            }
            Operand::Int(value) => i64::from(value) as u64,
            Operand::Float(number) => float_constant(number, Type::F64),
            Operand::SharedBase => super::apertures::SHARED,
            Operand::SharedLimit => super::apertures::SHARED | u64::from(u32::MAX),
            Operand::PrivateBase => super::apertures::PRIVATE,
            Operand::PrivateLimit => super::apertures::PRIVATE | u64::from(u32::MAX),
            _ => {
                let word = self.scalar(operand);
                return self.b.zero_extend(Type::I64, word);
            }
        };
        self.long(constant)
    }

    /// Writes a scalar register of 32 bits. A write to another operand does nothing.
    pub fn set_scalar(&mut self, operand: Operand, value: Value) {
        let Operand::Scalar(number) = operand else { return };
        let other = Operand::Scalar(number ^ 1);
        if number / 2 == EXEC / 2 {
            // The active mask is written as a whole.
            let other = self.scalar(other);
            let (low, high) = if number % 2 == 0 { (value, other) } else { (other, value) };
            let whole = self.b.concat(low, high);
            return self.set_exec(whole);
        }
        let (reg, part) = (self.pair(number), if number % 2 == 0 { Part::Lo } else { Part::Hi });
        self.raw.remove(&(number / 2));
        let literal = self.b.constant(value).map(|bits| Known::Literal(bits as u32));
        self.known.set(number, literal);
        self.b.rf_write_part(reg, part, value);
    }

    /// Returns a mask of lanes: a mask, or a uniform `i64` as a mask.
    pub fn mask_of(&mut self, value: Value) -> Value {
        match (self.b.ty(value).ty, self.b.constant(value)) {
            (Type::Mask, _) => value,
            (_, Some(bits)) => self.lanes(bits),
            _ => self.b.to_mask(value),
        }
    }

    /// Returns a number: an integer, or a mask's bits as an `i64`.
    pub fn number_of(&mut self, value: Value) -> Value {
        if self.b.ty(value).ty == Type::Mask { self.b.from_mask(value) } else { value }
    }

    /// Writes a scalar register and the next one: a mask or an `i64`.
    pub fn set_scalar_pair(&mut self, operand: Operand, value: Value) {
        match operand {
            Operand::Scalar(number) if number / 2 == EXEC / 2 => self.set_exec(value),
            Operand::Scalar(number) if number % 2 == 0 => {
                let reg = self.pair(number);
                self.raw.remove(&(number / 2));
                let bits = self.b.constant(value);
                self.known.set(number, bits.map(|bits| Known::Literal(bits as u32)));
                self.known.set(number + 1, bits.map(|bits| Known::Literal((bits >> 32) as u32)));
                let mask = self.mask_of(value);
                self.b.rf_write(reg, mask);
            }
            Operand::Scalar(number) => {
                let value = self.number_of(value);
                let (low, high) = (self.b.trunc(Type::I32, value), self.b.high_half(value));
                self.set_scalar(operand, low);
                self.set_scalar(Operand::Scalar(number.wrapping_add(1)), high);
            }
            _ => {}
        }
    }

    /// Returns the mask of active lanes.
    pub fn exec(&mut self) -> Value {
        *self.exec.get_or_insert_with(|| self.b.read_active())
    }

    /// Writes the mask of active lanes: a mask or an `i64`.
    pub fn set_exec(&mut self, value: Value) {
        let mask = self.mask_of(value);
        self.b.write_active(mask);
        self.exec = Some(mask);
    }

    /// Returns VCC, a mask of lanes.
    pub fn vcc(&mut self) -> Value {
        self.scalar_mask(Operand::Scalar(VCC))
    }

    /// Returns a mask of lanes as vector instructions use it: only bits of active lanes mean
    /// anything.
    pub fn lane_mask(&mut self, operand: Operand) -> Value {
        if let Operand::Scalar(number) = operand
            && number % 2 == 0
            && let Some(&RawMask { raw, exec }) = self.raw.get(&(number / 2))
            && self.exec == Some(exec)
        {
            return raw;
        }
        self.scalar_mask(operand)
    }

    /// Writes a mask of lanes as vector instructions do: bits of inactive lanes become 0.
    pub fn set_lane_mask(&mut self, operand: Operand, raw: Value) {
        let exec = self.exec();
        let masked = self.b.and(raw, exec);
        self.set_scalar_pair(operand, masked);
        if let Operand::Scalar(number) = operand
            && number % 2 == 0
            && number != EXEC
        {
            self.raw.insert(number / 2, RawMask { raw, exec });
        }
    }

    /// Returns SCC as all lanes or none.
    pub fn scc(&mut self) -> Value {
        self.b.rf_read(self.banks.scc)
    }

    /// Writes SCC. `value` is all lanes or none.
    pub fn set_scc(&mut self, value: Value) {
        self.b.rf_write(self.banks.scc, value);
    }

    /// Sets SCC = the uniform number, or mask, is not 0.
    pub fn set_scc_nonzero(&mut self, value: Value) {
        let value = self.number_of(value);
        let zero = self.zero_of(value);
        let scc = self.b.icmp(IntCc::Ne, value, zero);
        self.set_scc(scc);
    }

    /// Returns all lanes if a uniform number, or a mask, is 0, else none.
    pub fn is_zero(&mut self, value: Value) -> Value {
        let value = self.number_of(value);
        let zero = self.zero_of(value);
        self.b.icmp(IntCc::Eq, value, zero)
    }

    fn zero_of(&mut self, value: Value) -> Value {
        let ty = self.b.ty(value).ty;
        self.b.iconst(ty, 0)
    }

    /// Returns 1 for all lanes, 0 for none.
    pub fn flag_bit(&mut self, flag: Value) -> Value {
        let bits = self.b.from_mask(flag);
        let (low, one) = (self.b.trunc(Type::I32, bits), self.int(1));
        self.b.and(low, one)
    }
}
