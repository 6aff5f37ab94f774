//! Reads instructions.

use super::operand::Operands;
use super::stream::Stream;
use super::{BinaryError, lsc};
use crate::module::*;
use crate::table::{self, Field, Row};
use crate::types::{Exec, Ty, Version};

/// The first opcode that exists in texts alone.
const FIRST_TEXT_ONLY: u8 = 0x93;
const GATHER4_TYPED: u8 = 0x4b;
const SCATTER4_TYPED: u8 = 0x4c;

/// An instruction while it is being read.
struct Reading<'s, 'a, 'r> {
    stream: &'s mut Stream<'a>,
    from: &'s Operands<'r>,
    rows: &'static [&'static Row],
    made: Instruction,
    /// Whether a destination has been read.
    written: bool,
    labels: u8,
}

/// Reads the instruction that begins here.
pub(super) fn instruction(
    stream: &mut Stream<'_>,
    from: &Operands<'_>,
) -> Result<Instruction, BinaryError> {
    let at = stream.at;
    let code = stream.byte("an opcode")?;
    let rows = table::with_code(code);
    let first = match rows.first() {
        Some(first) if code < FIRST_TEXT_ONLY => *first,
        _ => return Err(BinaryError::new(at, format!("opcode {code:#04x}, which is none"))),
    };
    let made = Instruction {
        row: first,
        at: at as u32,
        exec: None,
        predicate: None,
        saturate: false,
        operands: super::super::module::Operands::new(),
    };
    let mut reading = Reading { stream, from, rows, made, written: false, labels: 0 };
    if reading.stream.version < Version::new(3, 2) && matches!(code, GATHER4_TYPED | SCATTER4_TYPED)
    {
        reading.old_typed()?;
        return Ok(reading.made);
    }
    let mut next = 0;
    // `choose` replaces the row once it has read the sub-opcode.
    while let Some(&field) = reading.made.row.fields.get(next) {
        reading.field(field)?;
        next += 1;
    }
    Ok(reading.made)
}

impl Reading<'_, '_, '_> {
    fn push(&mut self, operand: Operand) {
        self.made.operands.push(operand);
    }

    fn field(&mut self, field: Field) -> Result<(), BinaryError> {
        let version = self.stream.version;
        match field {
            Field::Exec => self.made.exec = Some(self.exec()?),
            Field::OldExec => self.made.exec = Some(self.old_exec()?),
            Field::Predicate => self.made.predicate = self.from.predicate_use(self.stream)?,
            Field::Sub => {
                let at = self.stream.at;
                let number = self.stream.byte("a sub-opcode")?;
                self.choose(at, number)?;
            }
            Field::SampleOp => self.sample_op()?,
            Field::Destination => {
                let (operand, saturate) = self.from.vector(self.stream)?;
                if !std::mem::replace(&mut self.written, true) {
                    self.made.saturate = saturate;
                }
                self.push(operand);
            }
            Field::Source => self.source()?,
            Field::AddressOf => {
                let operand = self.from.address_of(self.stream)?;
                self.push(operand);
            }
            Field::Raw => self.raw()?,
            Field::Raws => {
                let count = self.stream.byte("a count of operands")?;
                let raws =
                    (0..count).map(|_| self.from.raw(self.stream)).collect::<Result<_, _>>()?;
                self.push(Operand::Raws(raws));
            }
            Field::RenderTarget => self.render_target()?,
            Field::Paired => self.push(Operand::Raw(Raw::NULL)),
            Field::TextOnly => self.push(Operand::Number(0)),
            Field::TexelOffsets if version < Version::new(3, 4) => {
                let offsets = self.stream.word("texel offsets")?;
                self.push(Operand::Immediate { ty: Ty::Uw, bits: offsets.into() });
            }
            Field::WaitMask if version < Version::new(3, 1) => {
                self.push(Operand::Immediate { ty: Ty::Uw, bits: 0 });
            }
            Field::TexelOffsets | Field::WaitMask => self.source()?,
            Field::Ffid if version < Version::new(3, 6) => self.push(Operand::Number(0)),
            Field::Byte | Field::Ffid => {
                let number = self.stream.byte("a byte of an instruction")?;
                self.push(Operand::Number(number.into()));
            }
            Field::Word => {
                let number = self.stream.word("a word of an instruction")?;
                self.push(Operand::Number(number.into()));
            }
            Field::Dword => {
                let number = self.stream.dword("a dword of an instruction")?;
                self.push(Operand::Number(number));
            }
            Field::Surface => {
                let surface = self.from.surface(self.stream)?;
                self.push(Operand::Surface(surface));
            }
            Field::Sampler => {
                let sampler = self.from.sampler(self.stream)?;
                self.push(Operand::Sampler(sampler));
            }
            Field::Label => {
                let label = self.from.label(self.stream)?;
                self.push(Operand::Label(label));
            }
            Field::LabelCount => self.labels = self.stream.byte("a count of labels")?,
            Field::Labels => {
                let labels = (0..self.labels)
                    .map(|_| self.from.label(self.stream))
                    .collect::<Result<_, _>>()?;
                self.push(Operand::Labels(labels));
            }
            Field::Name => self.name()?,
            Field::Lsc
            | Field::LscTyped
            | Field::LscBlock
            | Field::LscTypedBlock
            | Field::LscCounter => {
                let lsc = lsc::read(self.stream, field)?;
                self.push(Operand::Lsc(Box::new(lsc)));
            }
            Field::Lifetime => self.lifetime()?,
        }
        Ok(())
    }

    fn exec(&mut self) -> Result<Exec, BinaryError> {
        let at = self.stream.at;
        let code = self.stream.byte("an execution size")?;
        Exec::from_code(code, self.stream.version).ok_or_else(|| {
            BinaryError::new(at, format!("execution size and mask {code:#04x}, which are none"))
        })
    }

    /// Reads an execution size whose bits 0 and 1 mean 8, 16 or 1 lanes.
    fn old_exec(&mut self) -> Result<Exec, BinaryError> {
        let at = self.stream.at;
        let code = self.stream.byte("an execution size")?;
        let log = match code & 15 {
            0 => 3,
            1 => 4,
            2 => 0,
            _ => {
                return Err(BinaryError::new(
                    at,
                    format!("lanes of a message {code:#04x}, expected 0 to 2"),
                ));
            }
        };
        Exec::from_code(code & 0xf0 | log, self.stream.version).ok_or_else(|| {
            BinaryError::new(at, format!("mask of a message {code:#04x}, which is none"))
        })
    }

    fn choose(&mut self, at: usize, number: u8) -> Result<(), BinaryError> {
        let row = self.rows.iter().find(|row| row.sub == Some(number));
        let code = self.made.row.code;
        self.made.row = row.ok_or_else(|| {
            BinaryError::new(
                at,
                format!("sub-opcode {number:#04x} of opcode {code:#04x}, which is none"),
            )
        })?;
        Ok(())
    }

    /// Reads the operation and flags of a sampler message.
    fn sample_op(&mut self) -> Result<(), BinaryError> {
        let at = self.stream.at;
        let (op, flags) = if self.stream.version.major < 4 {
            let byte = self.stream.byte("a sampler's operation")?;
            (byte & 31, byte >> 5)
        } else {
            let word = self.stream.word("a sampler's operation")?;
            ((word & 0xff) as u8, (word >> 8) as u8)
        };
        if flags > 7 {
            return Err(BinaryError::new(
                at,
                format!("flags {flags:#04x} of a sampler message, expected 0 to 7"),
            ));
        }
        self.choose(at, op)?;
        self.push(Operand::Number(flags.into()));
        Ok(())
    }

    fn source(&mut self) -> Result<(), BinaryError> {
        let at = self.stream.at;
        let (operand, saturate) = self.from.vector(self.stream)?;
        if saturate {
            return Err(BinaryError::new(at, "a source that saturates"));
        }
        self.push(operand);
        Ok(())
    }

    fn raw(&mut self) -> Result<(), BinaryError> {
        let raw = self.from.raw(self.stream)?;
        self.push(Operand::Raw(raw));
        Ok(())
    }

    fn name(&mut self) -> Result<(), BinaryError> {
        let at = self.stream.at;
        // Calls have a word in all versions.
        let index = match self.made.row.name {
            "FILE" => self.stream.index("a string's index")?,
            _ => self.stream.word("a string's index")?.into(),
        };
        let strings = self.from.routine.binary.as_ref().map_or(&[][..], |binary| &binary.strings);
        let name = strings.get(index as usize);
        let name = name.ok_or_else(|| {
            BinaryError::new(at, format!("string {index}, expected one of {}", strings.len()))
        })?;
        self.push(Operand::Name(name.clone()));
        Ok(())
    }

    fn lifetime(&mut self) -> Result<(), BinaryError> {
        let at = self.stream.at;
        let properties = self.stream.byte("a lifetime")?;
        let index = self.stream.index("a variable's index")?;
        let narrow =
            || u16::try_from(index).map_err(|_| BinaryError::new(at, format!("variable {index}")));
        let of = match properties >> 4 & 3 {
            0 if self.from.routine.variable_exists(VariableId(index)) => {
                Living::Variable(VariableId(index))
            }
            1 => Living::Address(self.from.address(at, narrow()?)?),
            2 => Living::Predicate(self.from.predicate(at, narrow()?)?),
            _ => {
                return Err(BinaryError::new(
                    at,
                    format!(
                        "a lifetime {properties:#04x} of variable {index}, which is not declared"
                    ),
                ));
            }
        };
        if properties & 0xce != 0 {
            return Err(BinaryError::new(
                at,
                format!("properties {properties:#04x} of a lifetime"),
            ));
        }
        self.push(Operand::Lifetime { end: properties & 1 != 0, of });
        Ok(())
    }

    /// Reads the header, then the operands that the mode announces.
    fn render_target(&mut self) -> Result<(), BinaryError> {
        let mode = match self.made.operands.first() {
            Some(&Operand::Number(mode)) => mode,
            _ => 0,
        };
        self.raw()?;
        for _ in 0..render_target_sources(mode) {
            self.source()?;
        }
        for _ in 0..render_target_raws(mode) {
            self.raw()?;
        }
        Ok(())
    }

    /// Reads a typed message from before version 3.2.
    ///
    /// It has no predicate, no level and 8 lanes. Its mask has a bit for each absent channel.
    fn old_typed(&mut self) -> Result<(), BinaryError> {
        let mask = self.stream.byte("a channel mask")?;
        let at = self.stream.at;
        let exec = self.exec()?;
        if exec.size != 1 {
            return Err(BinaryError::new(
                at,
                format!("{} lanes of a typed message, expected the number of 8", exec.size),
            ));
        }
        self.made.exec = Some(Exec { size: 8, ..exec });
        self.push(Operand::Number((!mask & 15).into()));
        let surface = self.from.surface(self.stream)?;
        self.push(Operand::Surface(surface));
        for _ in 0..3 {
            self.raw()?;
        }
        self.push(Operand::Raw(Raw::NULL));
        self.raw()
    }
}

/// Returns the number of sources that a mode announces.
///
/// Bits 11, 8 and 2: sample index, coarse pixel counter and render target index.
pub(super) fn render_target_sources(mode: u32) -> u32 {
    (mode & 0x904).count_ones()
}

/// Returns the number of raw operands that a mode announces.
///
/// These are alpha of source 0, the output mask, four channels, depth and stencil.
pub(super) fn render_target_raws(mode: u32) -> u32 {
    4 + (mode & 0x78).count_ones()
}
