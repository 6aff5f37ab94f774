//! The operands of instructions.

use super::row::OperandType;

/// A register (the first of several) or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    None,
    /// A scalar register by its number: 0 to 101 SGPRs, 102 flat_scratch, 104 xnack_mask, 106 vcc,
    /// 108 to 123 trap temporaries, 124 m0, 125 null (reads 0), 126 exec.
    Scalar(u8),
    Vector(u8),
    /// An inline integer, -16 to 64.
    Int(i32),
    /// An inline float by its number, 240 to 248: ±0.5, ±1, ±2, ±4, 1/(2 pi).
    Float(u8),
    Literal(u32),
    SharedBase,
    SharedLimit,
    PrivateBase,
    PrivateLimit,
    PopsExitingWaveId,
    Vccz,
    Execz,
    Scc,
    LdsDirect,
}

/// Number of VCC among the scalar registers.
pub const VCC: u8 = 106;
/// Number of M0 among the scalar registers.
pub const M0: u8 = 124;
/// Number of EXEC among the scalar registers.
pub const EXEC: u8 = 126;
/// The source number of the dword behind the instruction.
pub(super) const LITERAL: u64 = 255;

impl Operand {
    /// Returns the scalar registers from `number` on, rounded down to the hardware's alignment.
    ///
    /// Returns none if there are not `dwords` registers.
    pub(super) fn scalar_register(number: u64, dwords: u8) -> Option<Operand> {
        let number = u8::try_from(number).ok()?;
        let first = number & !(dwords.min(4).next_power_of_two() - 1);
        // LLVM knows tuples of three and more registers up to s103.
        let sgprs = if dwords > 2 { 104 } else { 102 };
        let tuple = |limit| {
            (u16::from(first) + u16::from(dwords) <= limit).then_some(Operand::Scalar(first))
        };
        match number {
            0..102 => tuple(sgprs),
            108..124 => tuple(124),
            102..108 | 126 => (dwords == 1 || dwords == 2 && number.is_multiple_of(2))
                .then_some(Operand::Scalar(number)),
            124 | 127 => (dwords == 1).then_some(Operand::Scalar(number)),
            125 => Some(Operand::Scalar(number)),
            _ => None,
        }
    }

    /// Returns the operand of an 8-bit source number other than [`LITERAL`].
    pub(super) fn scalar_source(number: u64, dwords: u8) -> Option<Operand> {
        if number < 128 {
            return Operand::scalar_register(number, dwords);
        }
        if dwords > 2 {
            return None;
        }
        Some(match number {
            128..=192 => Operand::Int(number as i32 - 128),
            193..=208 => Operand::Int(192 - number as i32),
            235 => Operand::SharedBase,
            236 => Operand::SharedLimit,
            237 => Operand::PrivateBase,
            238 => Operand::PrivateLimit,
            239 => Operand::PopsExitingWaveId,
            240..=248 => Operand::Float(number as u8),
            251 => Operand::Vccz,
            252 => Operand::Execz,
            253 => Operand::Scc,
            254 if dwords == 1 => Operand::LdsDirect,
            _ => return None,
        })
    }

    /// Returns the VGPRs from `number` on; none if there are not `dwords` registers.
    pub(super) fn vector(number: u64, dwords: u8) -> Option<Operand> {
        let number = u8::try_from(number).ok()?;
        (u16::from(number) + u16::from(dwords) <= 256).then_some(Operand::Vector(number))
    }

    /// Returns the source number of this operand, if it has one; `Vector` has bit 8 set.
    pub const fn number(self) -> Option<u64> {
        Some(match self {
            Operand::None => return None,
            Operand::Scalar(number) | Operand::Float(number) => number as u64,
            Operand::Vector(number) => 256 | number as u64,
            Operand::Int(value @ 0..=64) => 128 + value as u64,
            Operand::Int(value @ -16..0) => 192 + value.unsigned_abs() as u64,
            Operand::Int(_) => return None,
            Operand::Literal(_) => LITERAL,
            Operand::SharedBase => 235,
            Operand::SharedLimit => 236,
            Operand::PrivateBase => 237,
            Operand::PrivateLimit => 238,
            Operand::PopsExitingWaveId => 239,
            Operand::Vccz => 251,
            Operand::Execz => 252,
            Operand::Scc => 253,
            Operand::LdsDirect => 254,
        })
    }

    pub const fn is_register(self) -> bool {
        matches!(self, Operand::Scalar(_) | Operand::Vector(_))
    }
}

/// The part of a dword that SDWA reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sel {
    Byte0,
    Byte1,
    Byte2,
    Byte3,
    Word0,
    Word1,
    Dword,
}

impl Sel {
    pub(super) const ALL: [Sel; 7] =
        [Sel::Byte0, Sel::Byte1, Sel::Byte2, Sel::Byte3, Sel::Word0, Sel::Word1, Sel::Dword];
}

/// A source operand.
///
/// The modifiers apply in the order part, sign extension, absolute value, negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    pub operand: Operand,
    pub ty: OperandType,
    pub neg: bool,
    pub abs: bool,
    /// SDWA: the part is sign-extended. VOP3 and DPP: the negation bit of an integer of a float
    /// instruction.
    pub sext: bool,
    /// SDWA: the part that the instruction reads.
    pub sel: Sel,
    /// VOP3: the instruction reads the high half. VOP3P: the low result uses the high half.
    pub op_sel: bool,
    /// VOP3P: the high result uses the high half; mixed precision: the source is an F16.
    pub op_sel_hi: bool,
    /// VOP3P: negated for the high result.
    pub neg_hi: bool,
}

impl Source {
    pub const NONE: Source = Source {
        operand: Operand::None,
        ty: OperandType::Varies,
        neg: false,
        abs: false,
        sext: false,
        sel: Sel::Dword,
        op_sel: false,
        op_sel_hi: false,
        neg_hi: false,
    };
}
