//! Destinations: a register or a uniform register, and predicates of both kinds.

use warploom_guest::divergence::Mask;
use warploom_ir::{Type, Value};
use warploom_sass::lift::{Cx, Flag, PT};
use warploom_sass::{Role, Uniform, Value as Operand};

use crate::Instruction;

/// Returns the uniform destination register, if the destination is uniform.
fn uniform_d(i: &Instruction) -> Option<Uniform> {
    match i.source(Role::D)?.value {
        Operand::Uniform(uniform) => Some(uniform),
        _ => None,
    }
}

/// Writes a 32-bit value of any type to D.
pub fn set(cx: &mut Cx<'_>, i: &Instruction, value: Value) {
    match uniform_d(i) {
        Some(uniform) => cx.set_uniform(uniform, value),
        None => cx.set(i.d(), value),
    }
}

/// Writes a 64-bit value of any type to the pair D.
pub fn set_pair(cx: &mut Cx<'_>, i: &Instruction, value: Value) {
    let value = cx.cast(Type::I64, value);
    let (low, high) = (cx.b.trunc(Type::I32, value), cx.b.high_half(value));
    set_nth(cx, i, 0, low);
    set_nth(cx, i, 1, high);
}

/// Writes a 32-bit value of any type to the `n`th register from D on.
pub fn set_nth(cx: &mut Cx<'_>, i: &Instruction, n: u8, value: Value) {
    match uniform_d(i) {
        Some(uniform) => {
            let register = cx.uniform_after(uniform, n);
            cx.set_uniform(register, value);
        }
        None => {
            let register = cx.after(i.d(), n);
            cx.set(register, value);
        }
    }
}

/// Whether the instruction writes a predicate.
pub fn wants(i: &Instruction, role: Role) -> bool {
    i.predicate(role).index != PT
}

/// Writes a destination predicate.
pub fn set_pred(cx: &mut Cx<'_>, i: &Instruction, role: Role, value: Mask) {
    let pred = i.predicate(role);
    match pred.index {
        PT => {}
        index if pred.uniform => cx.set_flag(Flag::uniform(index), value),
        index => cx.set_flag(Flag::predicate(index), value),
    }
}

/// Returns the lanes where an integer is 0.
pub fn zero(cx: &mut Cx<'_>, value: Value) -> Mask {
    let zero = cx.zero_like(value);
    Mask::Lanes(cx.b.icmp(warploom_ir::IntCc::Eq, value, zero))
}

/// Returns the lanes where an integer is not 0.
pub fn nonzero(cx: &mut Cx<'_>, value: Value) -> Mask {
    let zero = cx.zero_like(value);
    Mask::Lanes(cx.b.icmp(warploom_ir::IntCc::Ne, value, zero))
}
