//! Atomic operations on global and shared memory.
//!
//! Source: seed `nvidia-atom.txt`; facts, `maxwell-semantics.md` 8.

use crate::ir::{AtomicOp, Space, Type, Value};
use crate::isa::maxwell::field::{self, AtomicType, ReduceOp, SharedAtomicType};
use crate::isa::maxwell::{Instruction, Reg, Source};

use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use super::memory::address;

/// Operation and type of the memory operand.
type Kind = (AtomicOp, Type);

fn kind(op: field::AtomicOp, ty: AtomicType) -> Result<Kind, Unsupported> {
    use field::AtomicOp as Op;
    let signed = matches!(ty, AtomicType::S32 | AtomicType::S64);
    let cell = match ty {
        AtomicType::U32 | AtomicType::S32 => Type::I32,
        AtomicType::U64 | AtomicType::S64 => Type::I64,
        AtomicType::F32 => Type::F32,
        AtomicType::U128 | AtomicType::Reserved => return Err(Unsupported),
    };
    if ty == AtomicType::F32 {
        return match op {
            Op::Add => Ok((AtomicOp::FAdd { flush: true }, Type::F32)),
            Op::Exch => Ok((AtomicOp::Exchange, Type::I32)),
            _ => Err(Unsupported),
        };
    }
    let op = match op {
        Op::Add => AtomicOp::Add,
        Op::Min if signed => AtomicOp::MinS,
        Op::Min => AtomicOp::MinU,
        Op::Max if signed => AtomicOp::MaxS,
        Op::Max => AtomicOp::MaxU,
        Op::Inc => AtomicOp::Inc,
        Op::Dec => AtomicOp::Dec,
        Op::And => AtomicOp::And,
        Op::Or => AtomicOp::Or,
        Op::Xor => AtomicOp::Xor,
        Op::Exch => AtomicOp::Exchange,
        Op::Reserved => return Err(Unsupported),
    };
    // They count in 32 bits only (seed, table of operations).
    if matches!(op, AtomicOp::Inc | AtomicOp::Dec) && cell == Type::I64 {
        return Err(Unsupported);
    }
    Ok((op, cell))
}

/// A register, or pair, as the operand of a type.
fn operand(cx: &mut Cx<'_>, reg: Reg, ty: Type) -> Value {
    let bits = if ty.bits() == 64 { cx.reg_pair(reg) } else { cx.reg(reg) };
    cx.cast(ty, bits)
}

/// Performs it; the old value.
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
    Ok(cx.b.atomic(access, op, value, compare))
}

fn set_old(cx: &mut Cx<'_>, i: &Instruction, old: Value) {
    if cx.b.ty(old).ty.bits() == 64 {
        cx.set_pair(i.d(), old);
    } else {
        cx.set(i.d(), old);
    }
}

fn source(source: Source) -> Result<Reg, Unsupported> {
    source.reg().ok_or(Unsupported)
}

/// Global memory at a generic address: in the window of another space it is a fault (seed, Description).
pub fn atom(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let kind = kind(i.atomic_op(), i.atomic_type())?;
    let value = operand(cx, source(i.b())?, kind.1);
    let old = perform(cx, i, Space::Global, kind, value, None)?;
    set_old(cx, i, old);
    Ok(Flow::Next)
}

pub fn atom_cas(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    compare_and_swap(cx, i, Space::Global)
}

/// Compares with B and stores C: a register, or pair, and the one behind it, or one of them is RZ.
fn compare_and_swap(cx: &mut Cx<'_>, i: &Instruction, space: Space) -> Lifted {
    let ty = if i.wide() { Type::I64 } else { Type::I32 };
    let (compare, swap) = (source(i.b())?, source(i.c())?);
    let (compare, swap) = (operand(cx, compare, ty), operand(cx, swap, ty));
    let old = perform(cx, i, space, (AtomicOp::CompareExchange, ty), swap, Some(compare))?;
    set_old(cx, i, old);
    Ok(Flow::Next)
}

/// An atomic whose result nobody wants.
pub fn red(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    use field::AtomicOp as Op;
    let op = match i.reduce_op() {
        ReduceOp::Add => Op::Add,
        ReduceOp::Min => Op::Min,
        ReduceOp::Max => Op::Max,
        ReduceOp::Inc => Op::Inc,
        ReduceOp::Dec => Op::Dec,
        ReduceOp::And => Op::And,
        ReduceOp::Or => Op::Or,
        ReduceOp::Xor => Op::Xor,
    };
    let kind = kind(op, i.atomic_type())?;
    let value = operand(cx, source(i.b())?, kind.1);
    perform(cx, i, Space::Global, kind, value, None)?;
    Ok(Flow::Next)
}

/// Shared memory.
pub fn atoms(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ty = match i.shared_atomic_type() {
        SharedAtomicType::U32 => AtomicType::U32,
        SharedAtomicType::S32 => AtomicType::S32,
        SharedAtomicType::U64 => AtomicType::U64,
        SharedAtomicType::S64 => AtomicType::S64,
    };
    let kind = kind(i.shared_atomic_op(), ty)?;
    let value = operand(cx, source(i.b())?, kind.1);
    let old = perform(cx, i, Space::Shared, kind, value, None)?;
    set_old(cx, i, old);
    Ok(Flow::Next)
}

pub fn atoms_cas(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    compare_and_swap(cx, i, Space::Shared)
}
