//! Surfaces: SULD, SUST, SURED, SUATOM.
//!
//! Source: seeds `nvidia-suatom.txt` and `nvidia-ptx-surface.txt`; facts, `maxwell-surfaces.md`,
//! section 4. `surface_place` computes the place of accesses, [`texel`](warploom_ir::texel)
//! converts texels.

use warploom_guest::divergence::Mask;
use warploom_guest::images::formatted::{self, texels_of};
use warploom_guest::images::place::Unit;
use warploom_guest::images::raise;
use warploom_guest::images::reduction::Operation;
use warploom_ir::image::flag;
use warploom_ir::{Access, AtomicOp, LaneFault, Type, Value};

use super::atomic::{ILLEGAL, Kind, atomic, kind, operand, reduction, set_old};
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use super::memory::{self, store_size};
use super::surface_place::place;
use crate::Instruction;
use crate::field::{self, AtomicType, SurfaceAtomicType, SurfaceMask};

fn is_formatted(i: &Instruction) -> bool {
    i.field(field::Field::surface_mask).is_some()
}

/// Returns the unit of x in a raw access of `bytes` bytes.
fn raw_unit(i: &Instruction, bytes: u32) -> Unit {
    if i.byte_address() { Unit::Bytes(bytes) } else { Unit::Elements(bytes) }
}

/// Returns the components that a formatted access moves.
fn components(mask: SurfaceMask) -> impl Iterator<Item = usize> {
    (0..4).filter(move |component| mask as u32 >> component & 1 != 0)
}

pub fn suld(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if is_formatted(i) {
        return load_formatted(cx, i);
    }
    let what = store_size(i.store_size())?;
    let place = place(cx, i, raw_unit(i, what.bytes()))?;
    let access = place.access(cx, what.ty, what.count, Mask::Always);
    memory::load_to(cx, i, access, what);
    Ok(Flow::Next)
}

pub fn sust(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if is_formatted(i) {
        return store_formatted(cx, i);
    }
    let what = store_size(i.store_size())?;
    let data = i.b().reg().ok_or(Unsupported)?;
    let place = place(cx, i, raw_unit(i, what.bytes()))?;
    let access = place.access(cx, what.ty, what.count, Mask::Always);
    let values: Vec<Value> = (0..what.count).map(|n| cx.nth(data, n)).collect();
    cx.b.store_access(access, &values);
    Ok(Flow::Next)
}

fn load_formatted(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let place = place(cx, i, Unit::Texels)?;
    let zero = cx.int(0);
    let zero = cx.b.splat(zero);
    let mut status = Mask::Never;
    let texel = formatted::load(cx, &place, |cx, access, extend| {
        let (values, sparse) = memory::values(cx, i, access, extend);
        status = cx.or(status, sparse);
        values
    });
    cx.set_pred(i.pd(), status);
    for (n, output) in components(i.surface_mask()).enumerate() {
        // Outside the image the result is 0, not the outputs of a texel of zeros.
        let value = cx.select(place.inside, texel[output], zero);
        let register = cx.after(i.d(), n as u8);
        cx.set(register, value);
    }
    Ok(Flow::Next)
}

fn store_formatted(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let data = i.b().reg().ok_or(Unsupported)?;
    let place = place(cx, i, Unit::Texels)?;
    let given: Vec<(usize, Value)> = components(i.surface_mask())
        .zip(0..)
        .map(|(output, n)| (output, cx.nth(data, n)))
        .collect();
    formatted::store(cx, &place, &given);
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

/// Emits an atomic operation on the data register, with a second operand for a compare. Writes the
/// sparse status and returns the old value.
fn perform<'a>(
    cx: &mut Cx<'a>,
    i: &Instruction,
    (operation, unit): (Operation, Unit),
    compares: bool,
) -> Result<Value, Unsupported> {
    let data = i.b().reg().ok_or(Unsupported)?;
    let place = place(cx, i, unit)?;
    if unit == Unit::Texels {
        let words = texels_of(cx, &place.record, 2);
        let (others, present) = (cx.not(words), place.record.has(cx, flag::PRESENT));
        let others = cx.and(present, others);
        raise(cx, LaneFault::InvalidSurface, others);
    }
    let once = |cx: &mut Cx<'a>, (op, ty): Kind, lanes: Mask| {
        // The address of an atomic operation must be aligned too.
        let access = Access { align: ty.bytes() as u8, ..place.access(cx, ty, 1, lanes) };
        let first = operand(cx, data, ty);
        let first = cx.b.splat(first);
        let (value, compare) = if compares {
            let swap = cx.after(data, (ty.bytes() / 4) as u8);
            let swap = operand(cx, swap, ty);
            (cx.b.splat(swap), Some(first))
        } else {
            (first, None)
        };
        atomic(cx, i, access, op, value, compare)
    };
    let (old, status) = operation.perform(cx, &place, once);
    cx.set_pred(i.pd(), status);
    Ok(old)
}

/// Returns the unit of x in an atomic operation.
fn atomic_unit(i: &Instruction, operation: Operation) -> Unit {
    raw_unit(i, operation.bytes())
}

pub fn suatom(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.field(field::Field::surface_atomic_type).is_none() {
        return Err(Unsupported);
    }
    let Some(operation) = operation(i.shared_atomic_op(), i.surface_atomic_type()) else {
        return ILLEGAL;
    };
    let old = perform(cx, i, (operation, atomic_unit(i, operation)), false)?;
    set_old(cx, i, old);
    Ok(Flow::Next)
}

/// Lifts SUATOM.CAS: B holds the compare value, and behind it the value to swap in.
pub fn suatom_cas(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.field(field::Field::surface_atomic_type).is_none() {
        return Err(Unsupported);
    }
    let ty = match i.surface_atomic_type() {
        SurfaceAtomicType::U32 | SurfaceAtomicType::S32 => Type::I32,
        SurfaceAtomicType::U64 => Type::I64,
        _ => return ILLEGAL,
    };
    let operation = Operation::One((AtomicOp::CompareExchange, ty));
    let old = perform(cx, i, (operation, atomic_unit(i, operation)), true)?;
    set_old(cx, i, old);
    Ok(Flow::Next)
}

/// Lifts SURED, an atomic operation without a result. Formatted reductions are for texels of 32
/// bits, whose type says whether numbers are signed.
pub fn sured(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let raw = i.field(field::Field::surface_atomic_type).is_some();
    let op = reduction(i.reduce_op());
    let ty = match op {
        _ if raw => i.surface_atomic_type(),
        field::AtomicOp::Inc | field::AtomicOp::Dec => SurfaceAtomicType::U32,
        _ => SurfaceAtomicType::Sd32,
    };
    let Some(operation) = operation(op, ty) else { return ILLEGAL };
    let unit = if raw { atomic_unit(i, operation) } else { Unit::Texels };
    perform(cx, i, (operation, unit), false)?;
    Ok(Flow::Next)
}
