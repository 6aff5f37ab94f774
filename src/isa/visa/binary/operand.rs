//! Reads operands of instructions.

use super::BinaryError;
use super::stream::Stream;
use crate::module::*;
use crate::predefined;
use crate::types::{Region, Ty};

/// Classes of vector operands, in bits 0 to 2 of their tag.
pub(super) mod class {
    pub const GENERAL: u8 = 0;
    pub const ADDRESS: u8 = 1;
    pub const PREDICATE: u8 = 2;
    pub const INDIRECT: u8 = 3;
    pub const IMMEDIATE: u8 = 5;
    pub const STATE: u8 = 6;
}

/// The modifiers by their number. Number 4 is `SATURATE`, not a modifier.
pub(super) const MODIFIERS: [Option<Modifier>; 6] = [
    Some(Modifier::None),
    Some(Modifier::Abs),
    Some(Modifier::Neg),
    Some(Modifier::NegAbs),
    None,
    Some(Modifier::Not),
];
pub(super) const SATURATE: u8 = 4;
/// Bytes of a register. Binary files exist for registers of 32 bytes only.
pub(super) const REGISTER_BYTES: u32 = 32;

/// Reads operands of a routine.
pub(super) struct Operands<'a> {
    pub routine: &'a Routine,
}

impl Operands<'_> {
    pub fn variable(&self, stream: &mut Stream<'_>) -> Result<VariableId, BinaryError> {
        let at = stream.at;
        let id = VariableId(stream.index("a variable's index")?);
        match self.routine.variable_exists(id) {
            true => Ok(id),
            false => Err(BinaryError::new(at, format!("variable {}, which is not declared", id.0))),
        }
    }

    pub fn raw(&self, stream: &mut Stream<'_>) -> Result<Raw, BinaryError> {
        let variable = self.variable(stream)?;
        Ok(Raw { variable, offset: stream.word("a raw operand")?.into() })
    }

    pub fn surface(&self, stream: &mut Stream<'_>) -> Result<SurfaceId, BinaryError> {
        let at = stream.at;
        self.known_surface(at, stream.byte("a surface")?.into())
    }

    pub fn sampler(&self, stream: &mut Stream<'_>) -> Result<SamplerId, BinaryError> {
        let at = stream.at;
        self.known_sampler(at, stream.byte("a sampler")?.into())
    }

    fn known_surface(&self, at: usize, number: u16) -> Result<SurfaceId, BinaryError> {
        let id = u8::try_from(number).ok().map(SurfaceId);
        let is_known = |id: &SurfaceId| {
            id.0 < predefined::FIRST_SURFACE || self.routine.surface(*id).is_some()
        };
        id.filter(is_known)
            .ok_or_else(|| BinaryError::new(at, format!("surface {number}, which is not declared")))
    }

    fn known_sampler(&self, at: usize, number: u16) -> Result<SamplerId, BinaryError> {
        let is_known = usize::from(number) < self.routine.samplers.len()
            || number == u16::from(predefined::BINDLESS_SAMPLER);
        match u8::try_from(number) {
            Ok(id) if is_known => Ok(SamplerId(id)),
            _ => Err(BinaryError::new(at, format!("sampler {number}, which is not declared"))),
        }
    }

    pub fn predicate(&self, at: usize, number: u16) -> Result<PredicateId, BinaryError> {
        let id = PredicateId(number);
        match self.routine.predicate(id) {
            Some(_) => Ok(id),
            None => Err(BinaryError::new(at, format!("predicate {number}, which is not declared"))),
        }
    }

    pub fn address(&self, at: usize, number: u16) -> Result<AddressId, BinaryError> {
        match self.routine.addresses.get(usize::from(number)) {
            Some(_) => Ok(AddressId(number)),
            None => Err(BinaryError::new(
                at,
                format!("address variable {number}, which is not declared"),
            )),
        }
    }

    pub fn label(&self, stream: &mut Stream<'_>) -> Result<LabelId, BinaryError> {
        let at = stream.at;
        let number = stream.word("a label")?;
        match self.routine.labels.get(usize::from(number)) {
            Some(_) => Ok(LabelId(number)),
            None => Err(BinaryError::new(at, format!("label {number}, which is not declared"))),
        }
    }

    /// Reads a predicate's word; returns None if the word is 0.
    pub fn predicate_use(
        &self,
        stream: &mut Stream<'_>,
    ) -> Result<Option<PredicateUse>, BinaryError> {
        let at = stream.at;
        let word = stream.word("a predicate")?;
        if word == 0 {
            return Ok(None);
        }
        let combine = match word >> 13 & 3 {
            0 => Combine::None,
            1 => Combine::Any,
            2 => Combine::All,
            _ => {
                return Err(BinaryError::new(
                    at,
                    format!("predicate control 3 in {word:#06x}, expected 0 to 2"),
                ));
            }
        };
        if word & 0x1000 != 0 {
            return Err(BinaryError::new(
                at,
                format!("predicate {word:#06x}, expected bit 12 to be 0"),
            ));
        }
        let predicate = self.predicate(at, word & 0xfff)?;
        Ok(Some(PredicateUse { predicate, invert: word >> 15 != 0, combine }))
    }

    /// Reads a vector operand, and whether its tag says that the result saturates.
    pub fn vector(&self, stream: &mut Stream<'_>) -> Result<(Operand, bool), BinaryError> {
        let at = stream.at;
        let tag = stream.byte("an operand's tag")?;
        let (class, number) = (tag & 7, tag >> 3 & 7);
        let bad =
            |what: String| BinaryError::new(at, format!("{what} in an operand's tag {tag:#04x}"));
        if tag >> 6 != 0 {
            return Err(bad("bits 6 and 7".into()));
        }
        let saturate = number == SATURATE;
        let modifier = match MODIFIERS.get(usize::from(number)) {
            Some(modifier) => modifier.unwrap_or(Modifier::None),
            None => return Err(bad(format!("modifier {number}"))),
        };
        let plain = |operand| match modifier == Modifier::None && !saturate {
            true => Ok(operand),
            false => Err(bad("a modifier of what has none".into())),
        };
        let operand = match class {
            class::GENERAL => Operand::General(General {
                variable: self.variable(stream)?,
                row: stream.byte("an operand's row")?,
                column: stream.byte("an operand's column")?,
                region: region(stream)?,
                modifier,
            }),
            class::ADDRESS => {
                let address = self.address(at, stream.word("an address variable")?)?;
                let element = stream.byte("an address variable's element")?;
                let width = stream.byte("an address variable's width")?;
                if width > 5 {
                    return Err(BinaryError::new(
                        at,
                        format!("width {width} of an address variable, expected 0 to 5"),
                    ));
                }
                Operand::Address { address, element, width: 1 << width, modifier }
            }
            class::PREDICATE => Operand::Predicate {
                predicate: self.predicate(at, stream.word("a predicate")?)?,
                modifier,
            },
            class::INDIRECT => Operand::Indirect(Indirect {
                address: self.address(at, stream.word("an address variable")?)?,
                element: stream.byte("an address variable's element")?,
                offset: stream.word("an offset")? as i16,
                ty: ty(stream)?,
                region: region(stream)?,
                modifier,
            }),
            class::IMMEDIATE => plain(immediate(stream)?)?,
            class::STATE => plain(self.state(stream)?)?,
            _ => return Err(bad(format!("class {class}"))),
        };
        Ok((operand, saturate))
    }

    fn state(&self, stream: &mut Stream<'_>) -> Result<Operand, BinaryError> {
        let at = stream.at;
        let class = stream.byte("a state operand's class")?;
        let number = stream.word("a state operand")?;
        let state = match class {
            0 => State::Surface(self.known_surface(at, number)?),
            1 => State::Sampler(self.known_sampler(at, number)?),
            _ => {
                return Err(BinaryError::new(
                    at,
                    format!("class {class} of a state operand, expected 0 or 1"),
                ));
            }
        };
        Ok(Operand::State { state, element: stream.byte("a state operand's element")? })
    }

    /// Reads the first source of an `addr_add`.
    pub fn address_of(&self, stream: &mut Stream<'_>) -> Result<Operand, BinaryError> {
        let at = stream.at;
        Ok(match self.vector(stream)? {
            (Operand::General(General { variable, row, column, region, modifier }), false) => {
                Operand::AddressOf {
                    of: variable,
                    offset: u32::from(row) * REGISTER_BYTES
                        + u32::from(column) * self.routine.ty(variable).size(),
                    region,
                    modifier,
                }
            }
            (Operand::State { state, element }, false) => {
                Operand::AddressOfState { state, element }
            }
            (operand @ Operand::Address { .. }, false) => operand,
            _ => return Err(BinaryError::new(at, "an operand that has no address")),
        })
    }
}

fn region(stream: &mut Stream<'_>) -> Result<Region, BinaryError> {
    let at = stream.at;
    let code = stream.word("a region")?;
    Region::from_code(code)
        .ok_or_else(|| BinaryError::new(at, format!("region {code:#06x}, which is none")))
}

/// Reads a type, a byte.
fn ty(stream: &mut Stream<'_>) -> Result<Ty, BinaryError> {
    let at = stream.at;
    let code = stream.byte("a type")?;
    let known = Ty::from_code(code).filter(|_| code < 16);
    known.ok_or_else(|| BinaryError::new(at, format!("type {code}, expected 0 to 15")))
}

fn immediate(stream: &mut Stream<'_>) -> Result<Operand, BinaryError> {
    let ty = ty(stream)?;
    let bits = match ty {
        Ty::Df | Ty::Q | Ty::Uq => stream.qword("an immediate")?,
        _ => stream.dword("an immediate")?.into(),
    };
    Ok(Operand::Immediate { ty, bits })
}
