//! Operands that name surfaces, textures and samplers, and the image shapes of instructions.
//!
//! Source: facts, `ptx.md` 6. Variable names, parameters and registers all stand for a handle.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use warploom_guest::divergence::Mask;
use warploom_guest::images::{Lifter, Record, raise};
use warploom_ir::image::{self, flag, form};
use warploom_ir::{LaneFault, Type, Value};

use super::context::Cx;
use super::known::KnownRegisters;
use super::{Unsupported, VariableAddresses};
use crate::module::{
    Address, AddressOf, Base, FunctionId, Module, Operand, Register, Statement, VariableId,
};
use crate::table::Form;
use crate::types::{Kind, StateSpace, Ty};
use crate::word::Word;

/// Returns the handle, an `i32`. Bits above it do not count.
pub fn handle(cx: &mut Cx<'_>, operand: &Operand) -> Result<Value, Unsupported> {
    let handle = match operand {
        Operand::Address(address) if address.offset == 0 => cx.address(address, true).0,
        Operand::Register(_) | Operand::Symbol(_, 0) => cx.bits(operand, Ty::B64),
        _ => return Err(Unsupported),
    };
    Ok(cx.resize(handle, Type::I32, false))
}

/// Returns the handle and the image's record, of a known shape if the kernel is specialised for it.
pub fn image(cx: &mut Cx<'_>, operand: &Operand) -> Result<(Value, Record), Unsupported> {
    let handle = handle(cx, operand)?;
    let known = name(cx, operand).and_then(|name| Record::known(cx, name));
    Ok((handle, known.unwrap_or_else(|| Record::of(cx, handle))))
}

/// Returns the name of a handle that is known at launch: see [`names_in_parameters`].
fn name(cx: &Cx<'_>, operand: &Operand) -> Option<u32> {
    match handle_base(operand)? {
        Base::Register(register) => cx.known(register)?.handle(),
        Base::Symbol(AddressOf::Variable(id)) => {
            let variable = cx.module.variable(id);
            match variable.space {
                _ if variable.ty.kind() != Kind::Opaque => None,
                StateSpace::Param => Some(cx.places.variable(id) as u32),
                _ => Some(variable_name(id)),
            }
        }
        _ => None,
    }
}

fn handle_base(operand: &Operand) -> Option<Base> {
    match *operand {
        Operand::Register(register) => Some(Base::Register(register)),
        Operand::Symbol(of, 0) => Some(Base::Symbol(of)),
        Operand::Address(Address { base, offset: 0, index: None }) => Some(base),
        _ => None,
    }
}

/// Returns the name of a module variable's handle.
pub fn variable_name(id: VariableId) -> u32 {
    1 << 31 | id.0
}

/// Returns the names of handles that a kernel's parameters hold, by way of registers that hold
/// nothing else. The name of a handle is its offset among the parameters.
pub fn names_in_parameters(
    module: &Module,
    kernel: FunctionId,
    places: &VariableAddresses,
) -> BTreeSet<u32> {
    let statements = module.function(kernel).body.iter().flat_map(|body| &body.statements);
    let used: FxHashSet<Register> =
        statements.filter_map(|statement| handle_register(module, statement)).collect();
    if used.is_empty() {
        return BTreeSet::new();
    }
    let known = KnownRegisters::of(module, kernel, places);
    used.into_iter().filter_map(|register| known.get(register)?.handle()).collect()
}

/// Returns the register that an instruction uses as the handle of an image.
fn handle_register(module: &Module, statement: &Statement) -> Option<Register> {
    let opcode = module.form(statement.form).row.opcode;
    if !uses_images(opcode) {
        return None;
    }
    let handle = statement.operands.iter().find_map(|operand| match operand {
        Operand::Bracket(inner) => inner.first(),
        Operand::Address(_) => Some(operand),
        _ => None,
    });
    match handle_base(handle?)? {
        Base::Register(register) => Some(register),
        _ => None,
    }
}

/// Whether an opcode is of an instruction that reads, writes or queries images.
pub fn uses_images(opcode: &str) -> bool {
    let name = opcode.split('.').next().unwrap_or_default();
    matches!(name, "suld" | "sust" | "sured" | "suq" | "tex" | "tld4" | "txq")
}

/// Returns the operands between brackets.
pub fn bracket(operand: &Operand) -> Result<&[Operand], Unsupported> {
    match operand {
        Operand::Bracket(inner) => Ok(inner),
        Operand::Address(_) => Ok(std::slice::from_ref(operand)),
        _ => Err(Unsupported),
    }
}

/// Faults lanes of a query whose handle names no image.
pub fn check_present(cx: &mut Cx<'_>, record: &Record) {
    let present = record.has(cx, flag::PRESENT);
    let absent = cx.others(present);
    raise(cx, LaneFault::InvalidSurface, absent);
}

/// Returns a word of a coordinate vector, varying.
pub fn coordinate(cx: &mut Cx<'_>, coordinates: &Operand, n: usize) -> Result<Value, Unsupported> {
    let operand = cx.elements(coordinates).get(n).ok_or(Unsupported)?;
    let value = cx.bits(operand, Ty::B32);
    Ok(cx.b.splat(value))
}

/// The image shape that an instruction expects.
#[derive(Clone, Copy)]
pub struct Geometry {
    pub axes: usize,
    /// Whether a layer index comes before the coordinates.
    pub array: bool,
    /// Kinds of images that have this shape.
    kinds: &'static [(image::Kind, bool)],
}

impl Geometry {
    /// Returns the geometry that a form's words name.
    pub fn of(form: &Form) -> Result<Geometry, Unsupported> {
        use Word::{A1d, A2d, ACube, Cube, D1, D2, D3};
        let word = form.one_of(&[D1, D2, D3, A1d, A2d, Cube, ACube]).ok_or(Unsupported)?;
        let (axes, array, kinds): (_, _, &[(image::Kind, bool)]) = match word {
            D1 => (1, false, &[(image::Kind::D1, false), (image::Kind::Buffer, false)]),
            D2 => (2, false, &[(image::Kind::D2, false)]),
            D3 => (3, false, &[(image::Kind::D3, false)]),
            A1d => (1, true, &[(image::Kind::D1, true)]),
            // The faces of a cube are layers.
            A2d => (
                2,
                true,
                &[(image::Kind::D2, true), (image::Kind::Cube, false), (image::Kind::Cube, true)],
            ),
            Cube => (3, false, &[(image::Kind::Cube, false)]),
            _ => (3, true, &[(image::Kind::Cube, true)]),
        };
        Ok(Geometry { axes, array, kinds })
    }

    /// Returns the lanes whose image is absent or has another shape. A handle of no image never
    /// fits.
    pub fn misfit(&self, cx: &mut Cx<'_>, record: &Record) -> Mask {
        let mut fits = Mask::Never;
        for &(kind, array) in self.kinds {
            let is = record.field_is(cx, image::at::FLAGS, flag::FORM, form(kind, array));
            fits = cx.either(fits, is);
        }
        let present = record.has(cx, flag::PRESENT);
        let fits = cx.both(present, fits);
        cx.others(fits)
    }
}
