//! Surfaces: SULD, SUST, SUATOM, SURED.
//!
//! Source: seeds `nvidia-suatom.txt` and `nvidia-ptx-surface.txt`; facts, `sass.md`, "Textures and
//! surfaces".

use warploom_guest::divergence::Mask;
use warploom_guest::images::Record;
use warploom_guest::images::place::Beyond;
use warploom_guest::images::reduction::Operation;
use warploom_ir::{AtomicOp, Type, Value};
use warploom_sass::lift::Cx;
use warploom_sass::lift::memory::{load_to, set_old};
use warploom_sass::lift::surface::{self, Surface, raw_unit};
use warploom_sass::lift::texture::Dim;
use warploom_sass::{Reg, Role};

use super::atomic::kind;
use super::flow::{Flow, Lifted, Unsupported};
use super::memory::elements;
use super::texture::{bound, uniform_handle};
use crate::Instruction;
use crate::field::{
    self, AtomicType, Field, SurfaceAtomicType, SurfaceCasType, SurfaceClamp, SurfaceDim,
    SurfaceMask,
};

/// Returns the image record of the handle: in a register, or a word of a constant bank.
fn record(cx: &mut Cx<'_>, i: &Instruction) -> Result<Record, Unsupported> {
    if let Some(word) = i.field(Field::handle) {
        let (known, handle) = bound(cx, i.field(Field::bank).ok_or(Unsupported)?, word);
        return Ok(known.unwrap_or_else(|| Record::of(cx, handle)));
    }
    let handle = match uniform_handle(i)? {
        Some(uniform) => cx.uniform(uniform),
        None => cx.raw(i.source(Role::C).ok_or(Unsupported)?),
    };
    Ok(Record::of(cx, handle))
}

/// Returns the surface that an instruction names, with coordinates.
fn surface(cx: &mut Cx<'_>, i: &Instruction) -> Result<Surface, Unsupported> {
    let dim = match i.surface_dim() {
        SurfaceDim::D1 | SurfaceDim::D1Buffer => Dim::D1,
        SurfaceDim::D1Array => Dim::ARRAY_D1,
        SurfaceDim::D2 => Dim::D2,
        SurfaceDim::D2Array => Dim::ARRAY_D2,
        SurfaceDim::D3 => Dim::D3,
        SurfaceDim::Reserved6 | SurfaceDim::Reserved7 => return Err(Unsupported),
    };
    let beyond = match i.surface_clamp() {
        SurfaceClamp::Ignore => Beyond::Nothing,
        SurfaceClamp::Near => Beyond::Nearest,
        SurfaceClamp::Trap => Beyond::Fault,
        SurfaceClamp::Reserved => return Err(Unsupported),
    };
    let coordinates = i.address().ok_or(Unsupported)?.base;
    let is_buffer = i.surface_dim() == SurfaceDim::D1Buffer;
    Ok(Surface { record: record(cx, i)?, dim, is_buffer, beyond, coordinates })
}

fn data(i: &Instruction) -> Result<Reg, Unsupported> {
    i.b().reg().ok_or(Unsupported)
}

/// Returns the components of a formatted access, if the instruction is one.
fn mask(i: &Instruction) -> Result<Option<u64>, Unsupported> {
    match (i.field(Field::surface_mask), i.surface_mask()) {
        (Some(_), SurfaceMask::Reserved) => Err(Unsupported),
        (mask, _) => Ok(mask),
    }
}

pub fn suld(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let to = (i.d(), i.pd());
    if let Some(mask) = mask(i)? {
        let surface = surface(cx, i)?;
        surface::load_formatted(cx, to, surface, mask);
        return Ok(Flow::Next);
    }
    let what = elements(i.mem_size())?;
    let place = surface(cx, i)?.place(cx, raw_unit(i.byte_address(), what.bytes()));
    let access = place.access(cx, what.ty, what.count, Mask::Always);
    load_to(cx, to, access, what);
    Ok(Flow::Next)
}

pub fn sust(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let data = data(i)?;
    if let Some(mask) = mask(i)? {
        let surface = surface(cx, i)?;
        surface::store_formatted(cx, data, surface, mask);
        return Ok(Flow::Next);
    }
    let what = elements(i.mem_size())?;
    let surface = surface(cx, i)?;
    surface::store_raw(cx, data, (surface, raw_unit(i.byte_address(), what.bytes())), what);
    Ok(Flow::Next)
}

/// Returns the atomic operation, by the sign of the image's components for the types SD32 and SD64.
fn operation(op: field::AtomicOp, ty: SurfaceAtomicType) -> Result<Operation, Unsupported> {
    use field::AtomicOp as Op;
    let of_sign = |signed, unsigned| {
        Ok(Operation::OfSign { signed: kind(op, signed)?, unsigned: kind(op, unsigned)? })
    };
    let ty = match (ty, op) {
        (SurfaceAtomicType::U32, _) => AtomicType::U32,
        (SurfaceAtomicType::S32, _) => AtomicType::S32,
        (SurfaceAtomicType::U64, _) => AtomicType::U64,
        (SurfaceAtomicType::S64, _) => AtomicType::S64,
        (SurfaceAtomicType::F32, _) => AtomicType::F32,
        (SurfaceAtomicType::F16x2, _) => AtomicType::F16x2,
        (SurfaceAtomicType::Sd32, Op::Exch) => return Err(Unsupported),
        (SurfaceAtomicType::Sd32, _) => return of_sign(AtomicType::S32, AtomicType::U32),
        (SurfaceAtomicType::Sd64, Op::Min | Op::Max) => {
            return of_sign(AtomicType::S64, AtomicType::U64);
        }
        (SurfaceAtomicType::Sd64, _) => return Err(Unsupported),
    };
    Ok(Operation::One(kind(op, ty)?))
}

/// Performs an atomic operation, and returns the old value.
fn perform(
    cx: &mut Cx<'_>,
    i: &Instruction,
    operation: Operation,
    compares: bool,
) -> Result<Value, Unsupported> {
    let data = data(i)?;
    let target = (surface(cx, i)?, raw_unit(i.byte_address(), operation.bytes()));
    Ok(surface::perform(cx, (data, i.pd()), target, operation, compares))
}

pub fn suatom(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let operation = operation(i.surface_atomic_op(), i.surface_atomic_type())?;
    let old = perform(cx, i, operation, false)?;
    set_old(cx, i.d(), old);
    Ok(Flow::Next)
}

/// Lifts SUATOM.CAS: B holds the compare value, and behind it the value to swap in.
pub fn suatom_cas(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ty = match i.surface_cas_type() {
        SurfaceCasType::U32 | SurfaceCasType::S32 => Type::I32,
        SurfaceCasType::U64 | SurfaceCasType::S64 => Type::I64,
        SurfaceCasType::Reserved => return Err(Unsupported),
    };
    let operation = Operation::One((AtomicOp::CompareExchange, ty));
    let old = perform(cx, i, operation, true)?;
    set_old(cx, i.d(), old);
    Ok(Flow::Next)
}

/// Lifts SURED, an atomic operation without a result.
pub fn sured(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let operation = operation(i.surface_reduce_op(), i.surface_atomic_type())?;
    perform(cx, i, operation, false)?;
    Ok(Flow::Next)
}
