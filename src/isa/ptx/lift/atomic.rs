//! Atomics and reductions in memory.
//!
//! Source: facts, `ptx.md` 2.8.

use warploom_guest::divergence::Mask;
use warploom_ir::{Access, AtomicOp, IntCc, Space, Type, Value, WideOp};
use warploom_runtime::window::WINDOW_BYTES;

use super::context::{Cx, Insn, float_type, int_type};
use super::memory::{AccessTarget, address_of, fences, generic, place};
use super::{Lifted, Unsupported, driver};
use crate::module::Operand;
use crate::table::Form;
use crate::types::Ty;
use crate::word::Word;

/// An operation, and the IR's type of its cell.
#[derive(Clone, Copy)]
pub struct Kind {
    pub op: AtomicOp,
    pub cell: Type,
    /// Whether denormal numbers become zeros. They never do in shared memory.
    pub flushes: bool,
}

/// Returns the operation of a form and a type, or `None` if there is none.
pub fn kind(form: &Form, ty: Ty) -> Option<Kind> {
    use Word as W;
    let word = form.one_of(&[
        W::Add,
        W::Min,
        W::Max,
        W::And,
        W::Or,
        W::Xor,
        W::Inc,
        W::Dec,
        W::Exch,
        W::Cas,
    ])?;
    let floats = |float: AtomicOp, pair: AtomicOp, brain: AtomicOp| match ty {
        Ty::F16 | Ty::F32 | Ty::F64 => Some(float),
        Ty::F16x2 => Some(pair),
        Ty::Bf16 | Ty::Bf16x2 => Some(brain),
        _ => None,
    };
    let op = match word {
        W::Add if ty.is_float() => floats(
            AtomicOp::FAdd { flush: false },
            AtomicOp::PairFAdd { flush: false },
            AtomicOp::BrainFAdd,
        )?,
        W::Min if ty.is_float() => floats(AtomicOp::FMin, AtomicOp::PairFMin, AtomicOp::BrainFMin)?,
        W::Max if ty.is_float() => floats(AtomicOp::FMax, AtomicOp::PairFMax, AtomicOp::BrainFMax)?,
        W::Add => AtomicOp::Add,
        W::Min if ty.is_signed() => AtomicOp::MinS,
        W::Min => AtomicOp::MinU,
        W::Max if ty.is_signed() => AtomicOp::MaxS,
        W::Max => AtomicOp::MaxU,
        W::And => AtomicOp::And,
        W::Or => AtomicOp::Or,
        W::Xor => AtomicOp::Xor,
        W::Inc => AtomicOp::Inc,
        W::Dec => AtomicOp::Dec,
        W::Exch => AtomicOp::Exchange,
        _ => AtomicOp::CompareExchange,
    };
    let cell = match op {
        AtomicOp::FAdd { .. } | AtomicOp::FMin | AtomicOp::FMax => float_type(ty)?,
        _ => int_type(ty.bits()),
    };
    let flushes = ty == Ty::F32 && matches!(op, AtomicOp::FAdd { .. }) && !form.has(Word::NoFtz);
    (16..=64).contains(&ty.bits()).then_some(Kind { op, cell, flushes })
}

/// Returns the lanes whose generic address is in shared memory.
fn in_shared(cx: &mut Cx<'_>, address: Value, offset: i32) -> Value {
    let offset = cx.constant(Type::I64, offset as i64 as u64);
    let address = cx.b.add(address, offset);
    let window = cx.driver(driver::SHARED_WINDOW, Type::I64);
    let from = cx.b.sub(address, window);
    let bytes = cx.constant(Type::I64, WINDOW_BYTES);
    cx.b.icmp(IntCc::LtU, from, bytes)
}

/// Performs the operation, and returns the old value.
fn perform(
    cx: &mut Cx<'_>,
    kind: Kind,
    access: Access,
    value: Value,
    compare: Option<Value>,
) -> Value {
    let flushing = AtomicOp::FAdd { flush: true };
    match (kind.flushes, access.space) {
        (true, Space::Global) => cx.b.atomic(access, flushing, value, compare),
        (true, Space::Generic) => {
            let shared = in_shared(cx, access.address, access.offset);
            let (guard, lanes) = (cx.guard(), Mask::Lanes(shared));
            let elsewhere = cx.not(lanes);
            let (inside, outside) = (cx.and(guard, lanes), cx.and(guard, elsewhere));
            let (inside, outside) = (cx.mask_value(inside), cx.mask_value(outside));
            let kept =
                cx.b.atomic(Access { guard: Some(inside), ..access }, kind.op, value, compare);
            let flushed =
                cx.b.atomic(Access { guard: Some(outside), ..access }, flushing, value, compare);
            cx.b.select(shared, kept, flushed)
        }
        _ => cx.b.atomic(access, kind.op, value, compare),
    }
}

/// The operands of an atomic.
pub struct Operands<'a> {
    pub old: Option<&'a Operand>,
    pub address: &'a Operand,
    pub value: &'a Operand,
    pub compare: Option<&'a Operand>,
}

/// Lifts an exchange of 128 bits.
fn atomic_128(cx: &mut Cx<'_>, form: &Form, operands: &Operands<'_>) -> Lifted {
    let op = match operands.compare {
        Some(_) => WideOp::CompareExchange,
        None if form.has(Word::Exch) => WideOp::Exchange,
        None => return Err(Unsupported),
    };
    let address = address_of(operands.address).ok_or(Unsupported)?;
    let place = place(cx, form, address);
    let address = generic(cx, place).ok_or(Unsupported)?;
    let mut args = vec![address];
    args.extend(cx.bits128(operands.value));
    if let Some(compare) = operands.compare {
        args.extend(cx.bits128(compare));
    }
    if fences(form, &[Word::Release, Word::AcqRel]) {
        cx.b.fence();
    }
    let found = cx.b.wide(op, &args);
    if fences(form, &[Word::Acquire, Word::AcqRel]) {
        cx.b.fence();
    }
    if let Some(old) = operands.old {
        cx.set128(old, [found[0], found[1]]);
    }
    Ok(())
}

/// Lifts an atomic. Each element of a vector is a separate atomic.
pub fn atomic(cx: &mut Cx<'_>, form: &Form, operands: &Operands<'_>) -> Lifted {
    let (ty, elements) = (form.ty(0), form.vector());
    if ty == Ty::B128 {
        return atomic_128(cx, form, operands);
    }
    let kind = kind(form, ty).ok_or(Unsupported)?;
    let address = address_of(operands.address).ok_or(Unsupported)?;
    let values = cx.elements(operands.value);
    let olds = operands.old.map_or(&[][..], |old| cx.elements(old));
    // The result of a vector may be omitted as a whole.
    let dropped = matches!(olds, [] | [Operand::Sink]);
    if values.len() != elements
        || !(dropped || olds.len() == elements)
        || kind.op.has_compare() != operands.compare.is_some()
    {
        return Err(Unsupported);
    }
    let AccessTarget::Memory {
        space: space @ (Space::Global | Space::Shared | Space::Generic),
        address,
        offset,
    } = place(cx, form, address)
    else {
        return Err(Unsupported);
    };
    let compare = operands.compare.map(|compare| cx.bits(compare, ty));
    let values: Vec<Value> = values
        .iter()
        .map(|value| {
            let bits = cx.bits(value, ty);
            cx.cast(kind.cell, bits)
        })
        .collect();
    if fences(form, &[Word::Release, Word::AcqRel]) {
        cx.b.fence();
    }
    let whole = (ty.bytes() * elements as u32) as u8;
    let olds_found: Vec<Value> = (0..)
        .zip(&values)
        .map(|(n, &value)| {
            let access = cx.b.access(
                space,
                kind.cell,
                1,
                address,
                offset.wrapping_add(n * ty.bytes() as i32),
            );
            let align = if n == 0 { whole } else { access.align };
            perform(cx, kind, Access { align, ..access }, value, compare)
        })
        .collect();
    if fences(form, &[Word::Acquire, Word::AcqRel]) {
        cx.b.fence();
    }
    if !dropped {
        for (old, found) in olds.iter().zip(olds_found) {
            cx.set(old, ty, found);
        }
    }
    Ok(())
}

/// Lifts `atom`.
pub fn atom(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (old, address) = (Some(insn.operand(0)), insn.operand(1));
    let operands = if insn.form.has(Word::Cas) {
        Operands { old, address, value: insn.operand(3), compare: Some(insn.operand(2)) }
    } else {
        Operands { old, address, value: insn.operand(2), compare: None }
    };
    atomic(cx, insn.form, &operands)
}

/// Lifts `red`: an atomic without a result.
pub fn red(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let operands =
        Operands { old: None, address: insn.operand(0), value: insn.operand(1), compare: None };
    atomic(cx, insn.form, &operands)
}
