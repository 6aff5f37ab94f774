//! Operands that name surfaces, textures and samplers, and shapes that instructions take them for.
//!
//! Source: facts, `ptx.md` 6. What a variable's name and what a parameter or register stand for is the same: a handle.

use crate::ir::image::{Kind, flag, form};
use crate::ir::{LaneFault, Type, Value};
use crate::isa::divergence::Mask;
use crate::isa::images::{Lifter, Record, raise};
use crate::isa::ptx::module::Operand;
use crate::isa::ptx::table::Form;
use crate::isa::ptx::types::Ty;
use crate::isa::ptx::word::Word;

use super::context::Cx;
use super::flow::Unsupported;

/// The handle, an `i32`: what there is above does not count.
pub fn handle(cx: &mut Cx<'_>, operand: &Operand) -> Result<Value, Unsupported> {
    let handle = match operand {
        Operand::Address(address) if address.offset == 0 => cx.address(address, true).0,
        Operand::Register(_) | Operand::Symbol(_, 0) => cx.bits(operand, Ty::B64),
        _ => return Err(Unsupported),
    };
    Ok(cx.resize(handle, Type::I32, false))
}

/// What stands between brackets.
pub fn bracket(operand: &Operand) -> Result<&[Operand], Unsupported> {
    match operand {
        Operand::Bracket(inner) => Ok(inner),
        Operand::Address(_) => Ok(std::slice::from_ref(operand)),
        _ => Err(Unsupported),
    }
}

/// Faults of queries: the handle names no image.
pub fn check_present(cx: &mut Cx<'_>, record: &Record) {
    let present = record.has(cx, flag::PRESENT);
    let absent = cx.others(present);
    raise(cx, LaneFault::InvalidSurface, absent);
}

/// A word of a coordinate vector, varying.
pub fn coordinate(cx: &mut Cx<'_>, coordinates: &Operand, n: usize) -> Result<Value, Unsupported> {
    let operand = cx.elements(coordinates).get(n).ok_or(Unsupported)?;
    let value = cx.bits(operand, Ty::B32);
    Ok(cx.b.splat(value))
}

/// The shape that an instruction takes an image for.
#[derive(Clone, Copy)]
pub struct Geometry {
    pub axes: usize,
    /// An index of a layer comes before the coordinates.
    pub array: bool,
    /// Images that have it.
    kinds: &'static [(Kind, bool)],
}

impl Geometry {
    /// Of the words of an instruction.
    pub fn of(form: &Form) -> Result<Geometry, Unsupported> {
        use Word::{A1d, A2d, ACube, Cube, D1, D2, D3};
        let word = form.one_of(&[D1, D2, D3, A1d, A2d, Cube, ACube]).ok_or(Unsupported)?;
        let (axes, array, kinds): (_, _, &[(Kind, bool)]) = match word {
            D1 => (1, false, &[(Kind::D1, false), (Kind::Buffer, false)]),
            D2 => (2, false, &[(Kind::D2, false)]),
            D3 => (3, false, &[(Kind::D3, false)]),
            A1d => (1, true, &[(Kind::D1, true)]),
            // The faces of cubes are layers.
            A2d => (2, true, &[(Kind::D2, true), (Kind::Cube, false), (Kind::Cube, true)]),
            Cube => (3, false, &[(Kind::Cube, false)]),
            _ => (3, true, &[(Kind::Cube, true)]),
        };
        Ok(Geometry { axes, array, kinds })
    }

    /// The lanes whose image is not there, or has another shape: a handle that names none is always wrong.
    pub fn misfit(&self, cx: &mut Cx<'_>, record: &Record) -> Mask {
        let mut fits = Mask::Never;
        for &(kind, array) in self.kinds {
            let is = record.field_is(cx, crate::ir::image::at::FLAGS, flag::FORM, form(kind, array));
            fits = cx.either(fits, is);
        }
        let present = record.has(cx, flag::PRESENT);
        let fits = cx.both(present, fits);
        cx.others(fits)
    }
}
