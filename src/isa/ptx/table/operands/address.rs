//! Addresses.

use super::{Check, Checked};
use crate::module::{Address, AddressOf, Base, Operand, Register};
use crate::types::{Kind, StateSpace, Ty};
use crate::word::Word;

impl Check<'_> {
    /// Returns the state space that the form's words name; `None` is generic.
    pub fn space(&self) -> Option<StateSpace> {
        self.form.space()
    }

    pub fn address(&self, operand: &Operand, space: Option<StateSpace>) -> Checked {
        let Operand::Address(Address { base, index, .. }) = operand else {
            return Err("expected an address in brackets".into());
        };
        if let Some(register) = index {
            self.address_register(*register)?;
        }
        match *base {
            Base::Register(register) => self.address_register(register),
            Base::Symbol(of) => self.named(of, space),
            Base::None if space == Some(StateSpace::Local) => Ok(()),
            Base::None => Err("found a constant address, which only local memory has".into()),
        }
    }

    /// Checks that a register can address memory: it has 16, 32 or 64 bits and is not a float.
    fn address_register(&self, register: Register) -> Checked {
        let ty = self.register_type(register);
        match ty.kind() {
            Kind::Bits | Kind::Unsigned | Kind::Signed if matches!(ty.bits(), 16 | 32 | 64) => {
                Ok(())
            }
            _ => Err(format!("found a register of type .{}, which holds no address", ty.name())),
        }
    }

    /// Checks that a named item lies in a space.
    pub fn named(&self, of: AddressOf, space: Option<StateSpace>) -> Checked {
        let AddressOf::Variable(id) = of else {
            return Err("found a function, expected a variable".into());
        };
        let variable = self.module.variable(id);
        if matches!(variable.ty, Ty::Texref | Ty::Samplerref | Ty::Surfref) {
            return Err(format!("found `{}`, which is .{}", variable.name, variable.ty.name()));
        }
        let fits = match space {
            None => variable.space != StateSpace::Param,
            Some(space) => variable.space == space,
        };
        match fits {
            true => Ok(()),
            false => Err(format!("found `{}`, which lies in another state space", variable.name)),
        }
    }

    /// Checks `[map, {x, y}]`.
    pub fn tensor(&self, operand: &Operand) -> Checked {
        let axes = self.axes();
        let Operand::Bracket(all) = operand else {
            return Err("expected `[map, {coordinates}]`".into());
        };
        match &all[..] {
            [map, Operand::Vector(coordinates)] if coordinates.len() == axes => {
                match map {
                    Operand::Register(register) => self.address_register(*register)?,
                    Operand::Symbol(..) => {}
                    _ => return Err("expected the address of a tensor map".into()),
                }
                coordinates
                    .iter()
                    .try_for_each(|coordinate| self.source(coordinate, Ty::S32, false))
            }
            _ => Err(format!("expected `[map, {{coordinates}}]` with {axes} coordinates")),
        }
    }

    /// Returns the number of coordinates in a tensor. A gather or scatter of four rows has a column
    /// and four rows.
    pub fn axes(&self) -> usize {
        if self.form.one_of(&[Word::TileGather4, Word::TileScatter4]).is_some() {
            return 5;
        }
        let axes = [Word::D1, Word::D2, Word::D3, Word::D4, Word::D5];
        axes.iter().position(|&axis| self.form.has(axis)).map_or(0, |n| n + 1)
    }

    pub fn offsets(&self, operand: &Operand) -> Checked {
        let count = if self.form.has(Word::Im2col) { self.axes().saturating_sub(2) } else { 2 };
        match operand {
            Operand::Vector(all) if all.len() == count && count > 0 => {
                all.iter().try_for_each(|offset| self.source(offset, Ty::B16, false))
            }
            _ => Err(format!("expected {count} offsets in braces")),
        }
    }
}
