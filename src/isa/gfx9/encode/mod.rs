//! The assembler: fields or text to bytes, for tests, generators and hand-written programs.
//!
//! [`assemble`] reads the disassembler's text. A bit that the text does not show is 0.

mod parse;
mod read;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use warploom_guest::chip::Chip;
use warploom_guest::suggest::did_you_mean;

use super::chip::has;
use super::disasm::mnemonic;
use super::instruction::Instruction;
use super::layout::{Form, Location, location};
use super::legal::reserved;
use super::operand::{Operand, VCC};
use super::row::{Encoding, Format, Modifiers, Role, Row};
use super::table::rows;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    #[error("`{text}`: the table has no `{mnemonic}`{hint}")]
    Mnemonic { text: String, mnemonic: String, hint: String },
    #[error("`{text}`: no encoding in the table prints this")]
    NoEncoding { text: String },
}

/// The rows and encodings of a mnemonic with its suffix.
static MNEMONICS: LazyLock<FxHashMap<String, Vec<Encoder>>> = LazyLock::new(|| {
    let mut found: FxHashMap<String, Vec<Encoder>> = FxHashMap::default();
    for row in rows() {
        for (encoding, format, op) in row.forms() {
            let encoder = Encoder::new(row, encoding, format, op);
            found.entry(mnemonic(row, encoding)).or_default().extend(encoder);
        }
    }
    found
});

/// Returns the bytes of the instruction whose text is `text`.
///
/// # Errors
/// No instruction has this text.
pub fn assemble(text: &str) -> Result<Vec<u8>, AssembleError> {
    assemble_for(text, Chip::Any)
}

/// Returns the bytes of the instruction of a chip whose text is `text`.
///
/// # Errors
/// The chip has no instruction of this text.
pub fn assemble_for(text: &str, chip: Chip) -> Result<Vec<u8>, AssembleError> {
    let given = text.trim();
    let none = || AssembleError::NoEncoding { text: given.into() };
    let text = chip.table_name(given).ok_or_else(none)?;
    let name = text.split(' ').next().unwrap_or_default();
    let encoders = MNEMONICS.get(name).ok_or_else(|| AssembleError::Mnemonic {
        text: given.into(),
        mnemonic: name.into(),
        hint: did_you_mean(name, MNEMONICS.keys().map(String::as_str)),
    })?;
    let rest = text[name.len()..].trim_start();
    encoders
        .iter()
        .filter(|encoder| has(chip, encoder.row))
        .find_map(|encoder| parse::instruction(*encoder, rest, &|done| done.text(0) == text))
        .ok_or_else(none)
}

/// An instruction under construction.
#[derive(Clone, Copy)]
pub struct Encoder {
    pub row: &'static Row,
    pub encoding: Encoding,
    pub format: Format,
    word: u64,
    literal: Option<u32>,
}

impl Encoder {
    /// Creates an encoder with neutral fields: 0, except for fields with another neutral value.
    ///
    /// Returns none if the format does not have the encoding.
    pub fn new(row: &'static Row, encoding: Encoding, format: Format, op: u16) -> Option<Encoder> {
        let (_, bits) = Form::find(encoding, format)?.fixed(op);
        let mut encoder = Encoder { row, encoding, format, word: bits.into(), literal: None };
        if row.has(Modifiers::LDS_ONLY) {
            encoder.word |= 1 << 16;
        }
        // LLVM gives a missing third source its usual `op_sel_hi`.
        if encoding == Encoding::Vop3p && row.slot(Role::Src2).is_none() {
            encoder.word |= 1 << 14;
        }
        // No address register.
        if encoding == Encoding::Flat && format != Format::Flat {
            encoder.word |= 0x7f << 48;
        }
        Some(encoder)
    }

    /// Creates an encoder with the fields of an instruction, without its literal.
    pub fn of(instruction: &Instruction) -> Encoder {
        let (row, encoding, format) =
            (instruction.row(), instruction.encoding(), instruction.format());
        let mask = if encoding.bytes() == 4 { u64::from(u32::MAX) } else { u64::MAX };
        Encoder { row, encoding, format, word: instruction.word() & mask, literal: None }
    }

    /// Sets `bits` bits from bit `lo` on; none if the value is too wide.
    pub fn set(&mut self, lo: u8, bits: u8, value: u64) -> Option<()> {
        let ones = u64::MAX >> (64 - u32::from(bits));
        if value & !ones != 0 {
            return None;
        }
        self.word = self.word & !(ones << lo) | value << lo;
        Some(())
    }

    /// Sets `bits` bits from bit `lo` on to a signed value; none if the value is too wide.
    pub fn set_signed(&mut self, lo: u8, bits: u8, value: i64) -> Option<()> {
        let unused = 64 - u32::from(bits);
        (value << unused >> unused == value).then_some(())?;
        self.set(lo, bits, value as u64 & u64::MAX >> unused)
    }

    /// Sets the operand of a role; none if the role cannot hold the operand.
    pub fn operand(&mut self, role: Role, operand: Operand) -> Option<()> {
        if let Operand::Literal(value) = operand {
            // The text shows a whole constant for `K`, but only the low half of the literal for
            // a 16-bit source before it.
            let half = role == Role::K && self.literal == Some(value & 0xffff);
            if !half && self.literal.is_some_and(|other| other != value) {
                return None;
            }
            self.literal = Some(value);
        }
        let number = operand.number()?;
        match location(self.encoding, self.row, role) {
            Location::None => None,
            Location::Literal => matches!(operand, Operand::Literal(_)).then_some(()),
            Location::Vcc => (operand == Operand::Scalar(VCC)).then_some(()),
            Location::Scalar { lo, bits, shift } => {
                (number < 128 && number.trailing_zeros() >= shift.into()).then_some(())?;
                self.set(lo, bits, number >> shift)
            }
            Location::ScalarSource { lo } => self.set(lo, 8, number),
            Location::Vector { lo } => {
                matches!(operand, Operand::Vector(_)).then(|| self.set(lo, 8, number & 255))?
            }
            Location::Source { lo } => self.set(lo, 9, number),
            Location::SdwaSource { lo, scalar } => {
                self.set(scalar, 1, u64::from(number < 256))?;
                self.set(lo, 8, number & 255)
            }
            Location::SdwaMask if operand == Operand::Scalar(VCC) => Some(()),
            Location::SdwaMask => {
                self.set(47, 1, 1)?;
                self.set(40, 7, number)
            }
        }
    }

    /// Returns the instruction and its bytes; none if the fields are not a legal instruction.
    pub fn finish(&self) -> Option<(Instruction, Vec<u8>)> {
        let mut bytes = self.word.to_le_bytes().to_vec();
        if self.encoding.bytes() == 4 {
            bytes.truncate(4);
            bytes.extend(self.literal.map(u32::to_le_bytes).into_iter().flatten());
        } else if self.literal.is_some() {
            return None;
        }
        let instruction = Instruction::decode(&bytes)?;
        (instruction.bytes() as usize == bytes.len()).then_some((instruction, bytes))
    }
}

impl Row {
    /// Returns an instruction of this row; none if the fields are not legal together.
    ///
    /// `random[0]` chooses the form, 0 the first form. `random[1]` gives the fields.
    pub fn random(&'static self, random: [u64; 2]) -> Option<Instruction> {
        let forms: Vec<_> = self.forms().collect();
        let (encoding, format, op) = *forms.get(random[0] as usize % forms.len().max(1))?;
        let (mask, bits) = Form::find(encoding, format)?.fixed(op);
        let word = u64::from(bits) | random[1] & !u64::from(mask) & !reserved(encoding, self);
        let instruction = Instruction::decode(&word.to_le_bytes())?;
        (std::ptr::eq(instruction.row(), self) && instruction.encoding() == encoding)
            .then_some(instruction)
    }
}
