//! Atomic operations on global and shared memory.
//!
//! Source: seed `nvidia-atom.txt` for operations and types; the same PTX through this guest and the
//! PTX guest.

use warploom_guest::divergence::Mask;
use warploom_ir::{AtomicOp, IntCc, Space, Type, Value};
use warploom_sass::Role;
use warploom_sass::lift::Cx;
use warploom_sass::lift::memory::{operand, set_old};

use super::flow::{Flow, Lifted, Unsupported};
use super::memory::{address, in_window};
use super::operand::{set_pred, wants};
use crate::Instruction;
use crate::driver::word;
use crate::field::{self, ArrivesKind, ArrivesSize, AtomicType, CasOp, CasType, SharedAtomicType};

/// Operation and type of the memory operand.
type Kind = (AtomicOp, Type);

/// Returns the kind of an operation and a type.
pub fn kind(op: field::AtomicOp, ty: AtomicType) -> Result<Kind, Unsupported> {
    use field::AtomicOp as Op;
    let signed = matches!(ty, AtomicType::S32 | AtomicType::S64);
    let op = match (op, ty) {
        (Op::Reserved, _) | (_, AtomicType::Reserved) => return Err(Unsupported),
        (Op::Add, AtomicType::F32) => AtomicOp::FAdd { flush: true },
        (Op::Add, AtomicType::F64) => AtomicOp::FAdd { flush: false },
        (Op::Add, AtomicType::F16x2) => AtomicOp::PairFAdd { flush: false },
        (_, AtomicType::F32 | AtomicType::F64 | AtomicType::F16x2) => return Err(Unsupported),
        (Op::Add, _) => AtomicOp::Add,
        (Op::Min, _) if signed => AtomicOp::MinS,
        (Op::Min, _) => AtomicOp::MinU,
        (Op::Max, _) if signed => AtomicOp::MaxS,
        (Op::Max, _) => AtomicOp::MaxU,
        (Op::Inc, AtomicType::U32) => AtomicOp::Inc,
        (Op::Dec, AtomicType::U32) => AtomicOp::Dec,
        (Op::And, _) => AtomicOp::And,
        (Op::Or, _) => AtomicOp::Or,
        (Op::Xor, _) => AtomicOp::Xor,
        (Op::Exch, _) => AtomicOp::Exchange,
        _ => return Err(Unsupported),
    };
    let cell = match ty {
        AtomicType::U64 | AtomicType::S64 => Type::I64,
        AtomicType::F32 => Type::F32,
        AtomicType::F64 => Type::F64,
        _ => Type::I32,
    };
    Ok((op, cell))
}

/// Emits an atomic operation at the memory operand, and writes the old value. The predicate of an
/// operation on a generic address says that the address is not in shared memory.
fn perform(
    cx: &mut Cx<'_>,
    i: &Instruction,
    space: Space,
    (op, ty): Kind,
    value: Value,
    compare: Option<Value>,
) -> Lifted {
    let (address, offset) = address(cx, i, space)?;
    let guard = cx.guard();
    if space == Space::Generic && wants(i, Role::Pd) {
        // The code that follows performs the operation in shared memory.
        let elsewhere = in_window(cx, (address, offset), word::SHARED_WINDOW).0;
        let elsewhere = cx.not(elsewhere);
        set_pred(cx, i, Role::Pd, elsewhere);
        let lanes = cx.and(guard, elsewhere);
        cx.set_guard(lanes);
    } else {
        set_pred(cx, i, Role::Pd, Mask::Always);
    }
    let access = cx.b.access(space, ty, 1, address, offset);
    let old = cx.b.atomic(access, op, value, compare);
    set_old(cx, i.d(), old);
    cx.set_guard(guard);
    Ok(Flow::Next)
}

fn with_value(cx: &mut Cx<'_>, i: &Instruction, space: Space, kind: Kind) -> Lifted {
    let value = operand(cx, i.b().reg().ok_or(Unsupported)?, kind.1);
    perform(cx, i, space, kind, value, None)
}

/// Lifts ATOM: a generic address.
pub fn atom(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let kind = kind(i.atomic_op(), i.atomic_type())?;
    with_value(cx, i, Space::Generic, kind)
}

pub fn atomg(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let kind = kind(i.global_atomic_op(), i.atomic_type())?;
    with_value(cx, i, Space::Global, kind)
}

/// Lifts RED: an atomic operation on a generic address, without a result.
pub fn red(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let kind = kind(i.reduce_op(), i.atomic_type())?;
    with_value(cx, i, Space::Generic, kind)
}

pub fn atoms(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ty = match i.shared_atomic_type() {
        SharedAtomicType::U32 => AtomicType::U32,
        SharedAtomicType::S32 => AtomicType::S32,
        SharedAtomicType::U64 => AtomicType::U64,
        SharedAtomicType::Reserved => return Err(Unsupported),
    };
    let kind = kind(i.shared_atomic_op(), ty)?;
    with_value(cx, i, Space::Shared, kind)
}

/// Lifts ATOMS.POPC.INC: adds 1 for each lane.
pub fn atoms_popc_inc(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let one = cx.int(1);
    perform(cx, i, Space::Shared, (AtomicOp::Add, Type::I32), one, None)
}

/// Lifts ATOMS.ARRIVE.
pub fn atoms_arrive(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.shared_atomic_type() != SharedAtomicType::U64 {
        return Err(Unsupported);
    }
    let one = cx.constant(Type::I64, 1);
    perform(cx, i, Space::Shared, (AtomicOp::ArriveCounting, Type::I64), one, None)
}

/// Lifts ARRIVES: copies are done in their place.
pub fn arrives(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if (i.arrives_kind(), i.arrives_size()) != (ArrivesKind::Ldgsts, ArrivesSize::B64) {
        return Err(Unsupported);
    }
    let (address, offset) = address(cx, i, Space::Shared)?;
    let one = cx.constant(Type::I64, 1);
    let access = cx.b.access(Space::Shared, Type::I64, 1, address, offset);
    cx.b.atomic(access, AtomicOp::ArriveCounting, one, None);
    Ok(Flow::Next)
}

fn compare_and_swap(cx: &mut Cx<'_>, i: &Instruction, space: Space, ty: Type) -> Lifted {
    let (compare, swap) = (i.b().reg().ok_or(Unsupported)?, i.c().reg().ok_or(Unsupported)?);
    let (compare, swap) = (operand(cx, compare, ty), operand(cx, swap, ty));
    perform(cx, i, space, (AtomicOp::CompareExchange, ty), swap, Some(compare))
}

fn cas_type(i: &Instruction) -> Result<Type, Unsupported> {
    match i.cas_type() {
        CasType::U32 | CasType::S32 => Ok(Type::I32),
        CasType::U64 => Ok(Type::I64),
        CasType::Reserved => Err(Unsupported),
    }
}

pub fn atom_cas(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if !matches!(i.cas_op(), CasOp::Cas | CasOp::Reserved) {
        return Err(Unsupported);
    }
    let ty = cas_type(i)?;
    compare_and_swap(cx, i, Space::Generic, ty)
}

pub fn atomg_cas(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ty = cas_type(i)?;
    compare_and_swap(cx, i, Space::Global, ty)
}

/// Lifts ATOMS.CAS; and ATOMS.CAST and ATOMS.CAST.SPIN, whose result is 1 if the swap happened.
pub fn atoms_cas(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ty = match i.shared_cas_type() {
        SharedAtomicType::U32 | SharedAtomicType::S32 => Type::I32,
        SharedAtomicType::U64 => Type::I64,
        SharedAtomicType::Reserved => return Err(Unsupported),
    };
    if matches!(i.shared_cas_op(), CasOp::Cas | CasOp::Reserved) {
        return compare_and_swap(cx, i, Space::Shared, ty);
    }
    let (compare, swap) = (i.b().reg().ok_or(Unsupported)?, i.c().reg().ok_or(Unsupported)?);
    let (compare, swap) = (operand(cx, compare, ty), operand(cx, swap, ty));
    let (address, offset) = address(cx, i, Space::Shared)?;
    let access = cx.b.access(Space::Shared, ty, 1, address, offset);
    let old = cx.b.atomic(access, AtomicOp::CompareExchange, swap, Some(compare));
    let swapped = cx.b.icmp(IntCc::Eq, old, compare);
    let (one, zero) = (cx.constant(ty, 1), cx.constant(ty, 0));
    let done = cx.b.select(swapped, one, zero);
    set_old(cx, i.d(), done);
    Ok(Flow::Next)
}
