//! Surfaces: suld, sust, sured, suq.
//!
//! Source: seed `nvidia-ptx-surface.txt`; facts, `ptx.md` 6. Addresses of accesses are in
//! [`place`](warploom_guest::images::place).

use warploom_guest::divergence::Mask;
use warploom_guest::images::driver::query;
use warploom_guest::images::place::{Beyond, Slice, SurfaceAccess, Target, Unit};
use warploom_guest::images::reduction::{Kind, Operation};
use warploom_guest::images::{Table, formatted, queried};
use warploom_ir::image::at;
use warploom_ir::{Access, AtomicOp, Extend, Type, Value};

use super::context::{Cx, Insn, int_type};
use super::image::{Geometry, bracket, check_present, coordinate, image};
use super::{Lifted, Unsupported};
use crate::module::Operand;
use crate::table::Form;
use crate::types::Ty;
use crate::word::Word;

/// The limit of an access, in bytes.
const MAX_BYTES: u32 = 16;

/// Whether x counts texels (`.p`), or else elements of the instruction's type.
fn is_formatted(form: &Form) -> bool {
    form.has(Word::Formatted)
}

/// Returns the treatment of accesses out of range. `.trap` was once the only word, and is the
/// default.
fn beyond(form: &Form) -> Beyond {
    match form.one_of(&[Word::Clamp, Word::Zero]) {
        Some(Word::Clamp) => Beyond::Nearest,
        Some(_) => Beyond::Nothing,
        None => Beyond::Fault,
    }
}

/// Returns where an instruction accesses the surface of `[a, b]`. Lanes that trap fault here.
fn place(
    cx: &mut Cx<'_>,
    form: &Form,
    operand: &Operand,
    unit: Unit,
) -> Result<SurfaceAccess, Unsupported> {
    let [surface, coordinates] = bracket(operand)? else { return Err(Unsupported) };
    let geometry = Geometry::of(form)?;
    let (_, record) = image(cx, surface)?;
    // The layer index comes first.
    let first = usize::from(geometry.array);
    let axis = |cx: &mut Cx<'_>, n: usize| coordinate(cx, coordinates, first + n);
    let x = axis(cx, 0)?;
    let y = if geometry.axes > 1 { Some(axis(cx, 1)?) } else { None };
    let z = match (geometry.array, geometry.axes) {
        (true, _) => Some(Slice { number: coordinate(cx, coordinates, 0)?, signed: false }),
        (false, 3) => Some(Slice { number: axis(cx, 2)?, signed: true }),
        _ => None,
    };
    let misfit = geometry.misfit(cx, &record);
    let target = Target { record, unit, beyond: beyond(form), x, y, z, signed: true, misfit };
    Ok(SurfaceAccess::of(cx, target))
}

/// Returns the type, count and bytes that an unformatted access moves.
fn moved(form: &Form) -> Result<(Ty, Type, u8, Unit), Unsupported> {
    let (ty, count) = (form.ty(0), form.vector() as u32);
    let bytes = ty.bytes() * count;
    if !matches!(ty, Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64) || bytes > MAX_BYTES {
        return Err(Unsupported);
    }
    Ok((ty, int_type(ty.bits()), count as u8, Unit::Bytes(bytes)))
}

pub fn suld(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (ty, int, count, unit) = moved(insn.form)?;
    let place = place(cx, insn.form, insn.operand(1), unit)?;
    let access = place.access(cx, int, count, Mask::Always);
    let values = cx.b.load_access(access, Extend::None);
    for (operand, &value) in cx.elements(insn.operand(0)).iter().zip(&values) {
        cx.set(operand, ty, value);
    }
    Ok(())
}

/// Returns the first values of a vector operand, varying.
fn data(
    cx: &mut Cx<'_>,
    operand: &Operand,
    ty: Ty,
    count: usize,
) -> Result<Vec<Value>, Unsupported> {
    let elements = cx.elements(operand);
    if elements.len() < count {
        return Err(Unsupported);
    }
    let value = |operand: &Operand| {
        let value = cx.bits(operand, ty);
        cx.b.splat(value)
    };
    Ok(elements[..count].iter().map(value).collect())
}

pub fn sust(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let form = insn.form;
    if is_formatted(form) {
        let values = data(cx, insn.operand(1), Ty::B32, form.vector())?;
        let place = place(cx, form, insn.operand(0), Unit::Texels)?;
        let given: Vec<(usize, Value)> = values.into_iter().enumerate().collect();
        formatted::store(cx, &place, &given);
        return Ok(());
    }
    let (ty, int, count, unit) = moved(form)?;
    let values = data(cx, insn.operand(1), ty, count.into())?;
    let place = place(cx, form, insn.operand(0), unit)?;
    let access = place.access(cx, int, count, Mask::Always);
    cx.b.store_access(access, &values);
    Ok(())
}

/// Returns the operation of a reduction, or `None` if the seed does not list it.
fn operation(form: &Form) -> Option<Operation> {
    let ty = form.ty(0);
    let int = int_type(ty.bits());
    let kind = |op: AtomicOp| (op, int);
    let word = form.one_of(&[Word::Add, Word::Min, Word::Max, Word::And, Word::Or])?;
    let extreme = |signed: AtomicOp, unsigned: AtomicOp| match ty {
        Ty::S32 | Ty::S64 => Some(Operation::One(kind(signed))),
        Ty::U32 | Ty::U64 => Some(Operation::One(kind(unsigned))),
        // The image format says which.
        Ty::B32 | Ty::B64 if is_formatted(form) => {
            Some(Operation::OfSign { signed: kind(signed), unsigned: kind(unsigned) })
        }
        _ => None,
    };
    let one = |op: AtomicOp, types: &[Ty]| types.contains(&ty).then_some(Operation::One(kind(op)));
    match (word, is_formatted(form)) {
        (Word::Min, _) => extreme(AtomicOp::MinS, AtomicOp::MinU),
        (Word::Max, _) => extreme(AtomicOp::MaxS, AtomicOp::MaxU),
        (Word::Add, false) => one(AtomicOp::Add, &[Ty::U32, Ty::S32, Ty::U64]),
        (Word::Add, true) => one(AtomicOp::Add, &[Ty::B32, Ty::U32, Ty::S32]),
        (Word::And, _) => one(AtomicOp::And, &[Ty::B32]),
        (_, _) => one(AtomicOp::Or, &[Ty::B32]),
    }
}

pub fn sured(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let form = insn.form;
    let operation = operation(form).ok_or(Unsupported)?;
    let bytes = operation.bytes();
    let unit = if is_formatted(form) { Unit::Elements(bytes) } else { Unit::Bytes(bytes) };
    let value = data(cx, insn.operand(1), form.ty(0), 1)?[0];
    let place = place(cx, form, insn.operand(0), unit)?;
    operation.perform(cx, &place, |cx, (op, ty): Kind, lanes| {
        // The alignment of an atomic's address counts, too.
        let access = Access { align: ty.bytes() as u8, ..place.access(cx, ty, 1, lanes) };
        (cx.b.atomic(access, op, value, None), Mask::Never)
    });
    Ok(())
}

pub fn suq(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let [surface] = bracket(insn.operand(1))? else { return Err(Unsupported) };
    let asked = insn.form.words.iter().copied().find_map(|word| {
        Some(match word {
            Word::Width => Err(at::WIDTH),
            Word::Height => Err(at::HEIGHT),
            Word::Depth => Err(at::DEPTH),
            Word::ChannelDataType => Ok(query::surface::DATA_TYPE),
            Word::ChannelOrder => Ok(query::surface::ORDER),
            Word::ArraySize => Ok(query::surface::LAYERS),
            Word::MemoryLayout => Ok(query::surface::LINEAR),
            _ => return None,
        })
    });
    let asked = asked.ok_or(Unsupported)?;
    let (handle, record) = image(cx, surface)?;
    check_present(cx, &record);
    let value = match asked {
        Ok(at) => queried(cx, handle, Table::Surfaces, at),
        Err(at) => record.load(cx, at, Type::I32),
    };
    cx.set(insn.operand(0), Ty::B32, value);
    Ok(())
}
