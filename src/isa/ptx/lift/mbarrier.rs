//! Barriers in memory.
//!
//! Source: facts, `ptx.md` 2.11. [`MemoryBarrier`] defines the content of the 8 bytes; a state is
//! the object at an earlier time. Waiting lanes ask again and again, and warps take turns
//! meanwhile.
//!
//! [`MemoryBarrier`]: warploom_runtime::mbarrier::MemoryBarrier

use warploom_guest::divergence::Mask;
use warploom_ir::{AtomicOp, Extend, IntCc, Space, Type, Value};
use warploom_runtime::mbarrier::{COUNT_BITS, EXPECTED_AT, PHASE_AT};

use super::context::{Cx, Insn};
use super::memory::{AccessTarget, address_of, place};
use super::{Lifted, Unsupported};
use crate::module::Operand;
use crate::types::Ty;
use crate::word::Word;

/// The place of a barrier in memory.
#[derive(Clone, Copy)]
pub struct Object {
    space: Space,
    address: Value,
    offset: i32,
}

impl Object {
    /// Makes an object in memory that threads share.
    pub fn new(place: AccessTarget) -> Result<Object, Unsupported> {
        match place {
            AccessTarget::Memory {
                space: space @ (Space::Shared | Space::Generic),
                address,
                offset,
            } => Ok(Object { space, address, offset }),
            _ => Err(Unsupported),
        }
    }

    /// Makes the object of an instruction's operand, in the space that the instruction names.
    fn of(cx: &mut Cx<'_>, insn: &Insn<'_>, operand: usize) -> Result<Object, Unsupported> {
        let address = address_of(insn.operand(operand)).ok_or(Unsupported)?;
        let place = place(cx, insn.form, address);
        Object::new(place)
    }

    /// Lets threads and bytes (`i64`) arrive, and returns the previous state.
    pub fn arrive(self, cx: &mut Cx<'_>, threads: Value, bytes: Value, drop: bool) -> Value {
        let access = cx.b.access(self.space, Type::I64, 1, self.address, self.offset);
        cx.b.atomic(access, AtomicOp::Arrive { drop }, threads, Some(bytes))
    }

    /// Lets bytes (`i64`) arrive.
    pub fn complete(self, cx: &mut Cx<'_>, bytes: Value) {
        let none = cx.constant(Type::I64, 0);
        self.arrive(cx, none, bytes, false);
    }
}

/// Returns a count of 32 bits as `i64`.
fn count(cx: &mut Cx<'_>, operand: &Operand) -> Value {
    let count = cx.bits(operand, Ty::U32);
    cx.resize(count, Type::I64, false)
}

/// Lifts `mbarrier.init`.
pub fn init(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let object = Object::of(cx, insn, 0)?;
    let (count, mask) = (count(cx, insn.operand(1)), cx.constant(Type::I64, (1 << COUNT_BITS) - 1));
    let pending = cx.b.and(count, mask);
    let shift = cx.constant(Type::I64, EXPECTED_AT.into());
    let expected = cx.b.shl(pending, shift);
    let fresh = cx.b.or(pending, expected);
    cx.b.store(object.space, Type::I64, object.address, object.offset, fresh);
    Ok(())
}

/// Lifts `mbarrier.arrive`.
pub fn arrive(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    arrive_or_drop(cx, insn, false)
}

/// Lifts `mbarrier.arrive_drop`.
pub fn arrive_drop(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    arrive_or_drop(cx, insn, true)
}

fn arrive_or_drop(cx: &mut Cx<'_>, insn: &Insn<'_>, drop: bool) -> Lifted {
    let object = Object::of(cx, insn, 1)?;
    let (none, one) = (cx.constant(Type::I64, 0), cx.constant(Type::I64, 1));
    let given = insn.operands.get(2).map(|operand| count(cx, operand));
    let (threads, bytes) = match given {
        // The barrier expects these bytes first.
        Some(bytes) if insn.form.has(Word::ExpectTx) => (one, cx.b.neg(bytes)),
        Some(threads) => (threads, none),
        None => (one, none),
    };
    let state = object.arrive(cx, threads, bytes, drop);
    cx.set(insn.operand(0), Ty::B64, state);
    Ok(())
}

/// Lifts `mbarrier.test_wait` and `try_wait`: whether the phase of a state, or of a parity, is
/// over.
pub fn test_wait(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let object = Object::of(cx, insn, 1)?;
    let now = cx.b.load(object.space, Type::I64, Extend::None, object.address, object.offset);
    let shift = cx.constant(Type::I64, PHASE_AT.into());
    let now = cx.b.shr_u(now, shift);
    let (now, asked) = if insn.form.has(Word::Parity) {
        let (one, parity) = (cx.constant(Type::I64, 1), count(cx, insn.operand(2)));
        (cx.b.and(now, one), cx.b.and(parity, one))
    } else {
        let state = cx.bits(insn.operand(2), Ty::B64);
        (now, cx.b.shr_u(state, shift))
    };
    let over = cx.b.icmp(IntCc::Ne, now, asked);
    cx.set_pred(insn.operand(0), Mask::Lanes(over));
    Ok(())
}

/// Lifts `mbarrier.expect_tx`.
pub fn expect_tx(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let object = Object::of(cx, insn, 0)?;
    let bytes = count(cx, insn.operand(1));
    let bytes = cx.b.neg(bytes);
    object.complete(cx, bytes);
    Ok(())
}

/// Lifts `mbarrier.complete_tx`.
pub fn complete_tx(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let object = Object::of(cx, insn, 0)?;
    let bytes = count(cx, insn.operand(1));
    object.complete(cx, bytes);
    Ok(())
}

/// Lifts `mbarrier.pending_count`: the pending count of a state.
pub fn pending_count(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (state, mask) =
        (cx.bits(insn.operand(1), Ty::B64), cx.constant(Type::I64, (1 << COUNT_BITS) - 1));
    let pending = cx.b.and(state, mask);
    let pending = cx.b.trunc(Type::I32, pending);
    cx.set(insn.operand(0), Ty::U32, pending);
    Ok(())
}
