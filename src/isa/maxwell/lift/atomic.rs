//! Atomic operations on global and shared memory.
//!
//! Source: seed `nvidia-atom.txt`; facts, `maxwell-semantics.md` 8.

use warploom_ir::{AtomicOp, Space, TrapKind, Type, Value};
use warploom_sass::lift::memory::{atomic, operand, set_old};

use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use super::memory::address;
use crate::field::{self, AtomicType, ReduceOp, SharedAtomicType};
use crate::row::{Location, OperandSlot};
use crate::{Instruction, Reg, Role, Source};

/// Operation and type of the memory operand.
pub type Kind = (AtomicOp, Type);

/// The result for a pair of operation and type that the seed does not list.
pub const ILLEGAL: Lifted = Ok(Flow::Trap(TrapKind::IllegalInstruction));

/// Returns the kind of an operation and a type. None: the seed's table of operations does not list
/// the pair.
pub fn kind(op: field::AtomicOp, ty: AtomicType) -> Option<Kind> {
    use AtomicType::{F16x2, F32, S32, S64, U32, U64};
    use field::AtomicOp as Op;
    let signed = matches!(ty, S32 | S64);
    let kind = match (op, ty) {
        (Op::Add, U32 | S32 | U64) => AtomicOp::Add,
        (Op::Add, F32) => AtomicOp::FAdd { flush: true },
        (Op::Add, F16x2) => AtomicOp::PairFAdd { flush: true },
        (Op::Min, F16x2) => AtomicOp::PairFMin,
        (Op::Max, F16x2) => AtomicOp::PairFMax,
        (Op::Min, U32 | S32 | U64 | S64) => {
            if signed {
                AtomicOp::MinS
            } else {
                AtomicOp::MinU
            }
        }
        (Op::Max, U32 | S32 | U64 | S64) => {
            if signed {
                AtomicOp::MaxS
            } else {
                AtomicOp::MaxU
            }
        }
        (Op::Inc, U32) => AtomicOp::Inc,
        (Op::Dec, U32) => AtomicOp::Dec,
        (Op::And, U32 | S32 | U64) => AtomicOp::And,
        (Op::Or, U32 | S32 | U64) => AtomicOp::Or,
        (Op::Xor, U32 | S32 | U64) => AtomicOp::Xor,
        (Op::Exch, U32 | S32 | U64) => AtomicOp::Exchange,
        _ => return None,
    };
    let cell = match ty {
        U64 | S64 => Type::I64,
        F32 => Type::F32,
        _ => Type::I32,
    };
    Some((kind, cell))
}

/// Emits an atomic operation at the memory operand and returns the old value.
fn perform(
    cx: &mut Cx<'_>,
    i: &Instruction,
    space: Space,
    (op, ty): Kind,
    value: Value,
    compare: Option<Value>,
) -> Result<Value, Unsupported> {
    let (address, offset) = address(cx, i, space)?;
    let access = cx.b.access(space, ty, 1, address, offset);
    let (old, status) = atomic(cx, i.pd(), access, op, value, compare);
    cx.set_pred(i.pd(), status);
    Ok(old)
}

fn source(source: Source) -> Result<Reg, Unsupported> {
    source.reg().ok_or(Unsupported)
}

/// Lifts ATOM: global memory at a generic address. An address in the window of another space faults
/// (seed, Description).
pub fn atom(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let Some(kind) = kind(i.atomic_op(), i.atomic_type()) else { return ILLEGAL };
    let value = operand(cx, source(i.b())?, kind.1);
    let old = perform(cx, i, Space::Global, kind, value, None)?;
    set_old(cx, i.d(), old);
    Ok(Flow::Next)
}

/// Lifts ATOM.SAFEADD, which exists in 64 bits only (seed, table of operations).
pub fn atom_safe_add(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.atomic_type() != AtomicType::U64 {
        return ILLEGAL;
    }
    let value = operand(cx, source(i.b())?, Type::I64);
    let old = perform(cx, i, Space::Global, (AtomicOp::SafeAdd, Type::I64), value, None)?;
    set_old(cx, i.d(), old);
    Ok(Flow::Next)
}

pub fn atom_cas(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    compare_and_swap(cx, i, Space::Global)
}

/// Lifts compare and swap: compares with B and stores C. B is a register, or pair, and C the
/// register or pair behind it; or one of them is RZ.
fn compare_and_swap(cx: &mut Cx<'_>, i: &Instruction, space: Space) -> Lifted {
    let ty = if i.wide() { Type::I64 } else { Type::I32 };
    let (compare, swap) = (source(i.b())?, source(i.c())?);
    // No register follows R254.
    let behind = |slot: OperandSlot| {
        slot.role == Role::C
            && matches!(slot.location, Location::RegisterAfter { plus, .. } if plus > 0)
    };
    if swap.is_zero() && !compare.is_zero() && i.row.operands().any(behind) {
        return Err(Unsupported);
    }
    let (compare, swap) = (operand(cx, compare, ty), operand(cx, swap, ty));
    let old = perform(cx, i, space, (AtomicOp::CompareExchange, ty), swap, Some(compare))?;
    set_old(cx, i.d(), old);
    Ok(Flow::Next)
}

/// Returns the atomic operation of a reduction.
pub fn reduction(op: ReduceOp) -> field::AtomicOp {
    use field::AtomicOp as Op;
    match op {
        ReduceOp::Add => Op::Add,
        ReduceOp::Min => Op::Min,
        ReduceOp::Max => Op::Max,
        ReduceOp::Inc => Op::Inc,
        ReduceOp::Dec => Op::Dec,
        ReduceOp::And => Op::And,
        ReduceOp::Or => Op::Or,
        ReduceOp::Xor => Op::Xor,
    }
}

/// Lifts RED: an atomic operation without a result.
pub fn red(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let op = reduction(i.reduce_op());
    let Some(kind) = kind(op, i.atomic_type()) else { return ILLEGAL };
    let value = operand(cx, source(i.b())?, kind.1);
    perform(cx, i, Space::Global, kind, value, None)?;
    Ok(Flow::Next)
}

/// Lifts ATOMS: atomic operations on shared memory.
pub fn atoms(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ty = match i.shared_atomic_type() {
        SharedAtomicType::U32 => AtomicType::U32,
        SharedAtomicType::S32 => AtomicType::S32,
        SharedAtomicType::U64 => AtomicType::U64,
        SharedAtomicType::S64 => AtomicType::S64,
    };
    let Some(kind) = kind(i.shared_atomic_op(), ty) else { return ILLEGAL };
    let value = operand(cx, source(i.b())?, kind.1);
    let old = perform(cx, i, Space::Shared, kind, value, None)?;
    set_old(cx, i.d(), old);
    Ok(Flow::Next)
}

pub fn atoms_cas(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    compare_and_swap(cx, i, Space::Shared)
}
