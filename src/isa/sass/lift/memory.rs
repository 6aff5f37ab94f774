//! Loads and atomic operations whose instruction may ask for the sparse status: the lanes that met a
//! page of a sparse image that is not resident.

use warploom_guest::divergence::Mask;
use warploom_guest::images::formatted::Elements;
use warploom_ir::{Access, AtomicOp, Extend, Type, Value, Values};

use super::{Cx, PT};
use crate::Reg;

/// Loads. Returns the values, and the lanes that met a sparse page if a predicate, `status`, gets
/// them.
pub fn load(cx: &mut Cx<'_>, status: u8, access: Access, extend: Extend) -> (Values, Mask) {
    if status == PT {
        return (cx.b.load_access(access, extend), Mask::Never);
    }
    let (values, sparse) = cx.b.load_sparse(access, extend);
    (values, Mask::Lanes(sparse))
}

/// Loads to a register and the registers behind it, and sets the sparse status.
pub fn load_to(cx: &mut Cx<'_>, (d, status): (Reg, u8), access: Access, what: Elements) {
    let (values, sparse) = load(cx, status, access, what.extend);
    cx.set_pred(status, sparse);
    for (n, &value) in (0..).zip(&values) {
        let register = cx.after(d, n);
        cx.set(register, value);
    }
}

/// Emits an atomic operation and returns the old value, with the sparse status if a predicate gets
/// it.
pub fn atomic(
    cx: &mut Cx<'_>,
    status: u8,
    access: Access,
    op: AtomicOp,
    value: Value,
    compare: Option<Value>,
) -> (Value, Mask) {
    if status == PT {
        return (cx.b.atomic(access, op, value, compare), Mask::Never);
    }
    let (old, sparse) = cx.b.atomic_sparse(access, op, value, compare);
    (old, Mask::Lanes(sparse))
}

/// Reads a register, or pair, as the operand of a type.
pub fn operand(cx: &mut Cx<'_>, reg: Reg, ty: Type) -> Value {
    let bits = if ty.bits() == 64 { cx.reg_pair(reg) } else { cx.reg(reg) };
    cx.cast(ty, bits)
}

/// Writes an old value to a register, or pair.
pub fn set_old(cx: &mut Cx<'_>, d: Reg, old: Value) {
    if cx.b.ty(old).ty.bits() == 64 {
        cx.set_pair(d, old);
    } else {
        cx.set(d, old);
    }
}
