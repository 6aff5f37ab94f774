//! Surfaces: SULD, SUST, SURED, SUATOM.
//!
//! Source: seeds `nvidia-suatom.txt` and `nvidia-ptx-surface.txt`; facts, `maxwell-surfaces.md`,
//! section 4.

use warploom_guest::divergence::Mask;
use warploom_guest::images::Record;
use warploom_guest::images::place::{Beyond, Unit};
use warploom_guest::images::reduction::Operation;
use warploom_ir::{AtomicOp, Type, Value};
use warploom_sass::lift::memory::{load_to, set_old};
use warploom_sass::lift::surface::{self, Surface, raw_unit};
use warploom_sass::lift::texture::Dim;

use super::atomic::{ILLEGAL, kind, reduction};
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use super::memory::store_size;
use crate::field::{self, AtomicType, Field, SurfaceAtomicType, SurfaceClamp, SurfaceDim};
use crate::{Instruction, Reg, Source, Value as Operand};

/// Returns the image record of a handle operand: a register, or the index of a word of bank 0.
fn record(cx: &mut Cx<'_>, handle: Source) -> Record {
    let handle = match handle.value {
        Operand::Imm(word) => {
            if let Some(known) = Record::known(cx, word as u32 * 4) {
                return known;
            }
            let bank = cx.handle_bank();
            cx.bank(bank, word as i32 * 4, Type::I32)
        }
        _ => cx.raw(handle),
    };
    Record::of(cx, handle)
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
    let coordinates = i.a().reg().ok_or(Unsupported)?;
    let is_buffer = i.surface_dim() == SurfaceDim::D1Buffer;
    Ok(Surface { record: record(cx, i.c()), dim, is_buffer, beyond, coordinates })
}

fn data(i: &Instruction) -> Result<Reg, Unsupported> {
    i.b().reg().ok_or(Unsupported)
}

pub fn suld(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let to = (i.d(), i.pd());
    if let Some(mask) = i.field(Field::surface_mask) {
        let surface = surface(cx, i)?;
        surface::load_formatted(cx, to, surface, mask);
        return Ok(Flow::Next);
    }
    let what = store_size(i.store_size())?;
    let place = surface(cx, i)?.place(cx, raw_unit(i.byte_address(), what.bytes()));
    let access = place.access(cx, what.ty, what.count, Mask::Always);
    load_to(cx, to, access, what);
    Ok(Flow::Next)
}

pub fn sust(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let data = data(i)?;
    if let Some(mask) = i.field(Field::surface_mask) {
        let surface = surface(cx, i)?;
        surface::store_formatted(cx, data, surface, mask);
        return Ok(Flow::Next);
    }
    let what = store_size(i.store_size())?;
    let surface = surface(cx, i)?;
    surface::store_raw(cx, data, (surface, raw_unit(i.byte_address(), what.bytes())), what);
    Ok(Flow::Next)
}

/// Returns the atomic operation. None: the seed's table of operations does not list the pair.
fn operation(op: field::AtomicOp, ty: SurfaceAtomicType) -> Option<Operation> {
    use field::AtomicOp as Op;
    let of_sign = |signed, unsigned| {
        Some(Operation::OfSign { signed: kind(op, signed)?, unsigned: kind(op, unsigned)? })
    };
    Some(Operation::One(match (ty, op) {
        (SurfaceAtomicType::U32, _) => kind(op, AtomicType::U32)?,
        (SurfaceAtomicType::S32, _) => kind(op, AtomicType::S32)?,
        (SurfaceAtomicType::U64, _) => kind(op, AtomicType::U64)?,
        (SurfaceAtomicType::S64, _) => kind(op, AtomicType::S64)?,
        (SurfaceAtomicType::F32, _) => kind(op, AtomicType::F32)?,
        (SurfaceAtomicType::Sd32, Op::Exch) => return None,
        (SurfaceAtomicType::Sd32, _) => return of_sign(AtomicType::S32, AtomicType::U32),
        (SurfaceAtomicType::Sd64, Op::Min | Op::Max) => {
            return of_sign(AtomicType::S64, AtomicType::U64);
        }
        (SurfaceAtomicType::F16x2, _) => kind(op, AtomicType::F16x2)?,
        _ => return None,
    }))
}

/// Performs an atomic operation on raw memory, and returns the old value.
fn raw(
    cx: &mut Cx<'_>,
    i: &Instruction,
    operation: Operation,
    compares: bool,
) -> Result<Value, Unsupported> {
    let target = (surface(cx, i)?, raw_unit(i.byte_address(), operation.bytes()));
    Ok(surface::perform(cx, (data(i)?, i.pd()), target, operation, compares))
}

pub fn suatom(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.field(Field::surface_atomic_type).is_none() {
        return Err(Unsupported);
    }
    let Some(operation) = operation(i.shared_atomic_op(), i.surface_atomic_type()) else {
        return ILLEGAL;
    };
    let old = raw(cx, i, operation, false)?;
    set_old(cx, i.d(), old);
    Ok(Flow::Next)
}

/// Lifts SUATOM.CAS: B holds the compare value, and behind it the value to swap in.
pub fn suatom_cas(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.field(Field::surface_atomic_type).is_none() {
        return Err(Unsupported);
    }
    let ty = match i.surface_atomic_type() {
        SurfaceAtomicType::U32 | SurfaceAtomicType::S32 => Type::I32,
        SurfaceAtomicType::U64 => Type::I64,
        _ => return ILLEGAL,
    };
    let operation = Operation::One((AtomicOp::CompareExchange, ty));
    let old = raw(cx, i, operation, true)?;
    set_old(cx, i.d(), old);
    Ok(Flow::Next)
}

/// Lifts SURED, an atomic operation without a result. Formatted reductions are for texels of 32
/// bits, whose type says whether numbers are signed.
pub fn sured(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let is_raw = i.field(Field::surface_atomic_type).is_some();
    let op = reduction(i.reduce_op());
    let ty = match op {
        _ if is_raw => i.surface_atomic_type(),
        field::AtomicOp::Inc | field::AtomicOp::Dec => SurfaceAtomicType::U32,
        _ => SurfaceAtomicType::Sd32,
    };
    let Some(operation) = operation(op, ty) else { return ILLEGAL };
    if is_raw {
        raw(cx, i, operation, false)?;
    } else {
        let target = (surface(cx, i)?, Unit::Texels);
        surface::perform(cx, (data(i)?, i.pd()), target, operation, false);
    }
    Ok(Flow::Next)
}
