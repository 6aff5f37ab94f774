//! Control flow, waiting, and the stack.
//!
//! Source: facts, `ptx.md` 2.14.

use warploom_guest::divergence::Mask;
use warploom_ir::{IntCc, LaneFault, Type, Value};

use super::context::{Cx, Insn};
use super::{Lifted, Unsupported, driver};
use crate::module::Operand;
use crate::types::Ty;

/// Lifts nothing: `graph` and `emit` handle instructions that end a block.
pub fn ends_block(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

/// Lifts an instruction that has no effect here; its line in the table says why.
pub fn nothing(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Ok(())
}

/// The alignment of `alloca` memory without an operand for it, in bytes.
const STACK_ALIGN: u64 = 8;

/// Lifts `alloca`: takes local memory, starting from its end.
pub fn alloca(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let align = match insn.operands.get(2) {
        None => STACK_ALIGN,
        Some(&Operand::Integer(align)) if align.is_power_of_two() && align <= 1 << 16 => {
            align.max(4)
        }
        Some(_) => return Err(Unsupported),
    };
    let ty = insn.form.ty(0);
    if !matches!(ty, Ty::U32 | Ty::U64) {
        return Err(Unsupported);
    }
    let size = cx.bits(insn.operand(1), Ty::B64);
    let (end, frames) = (long(cx, driver::LOCAL_END), long(cx, driver::FRAMES_END));
    let used = cx.stack();
    let used = cx.resize(used, Type::I64, false);
    let top = cx.b.sub(end, used);
    let room = cx.b.sub(top, frames);
    let fits = cx.b.icmp(IntCc::LeU, size, room);
    let (start, mask) = (cx.b.sub(top, size), cx.constant(Type::I64, align.wrapping_neg()));
    let start = cx.b.and(start, mask);
    // Alignment may take the rest.
    let still = cx.b.icmp(IntCc::GeU, start, frames);
    let fits = cx.b.and(fits, still);
    let (guard, fits) = (cx.guard(), Mask::Lanes(fits));
    let over = cx.not(fits);
    let over = cx.and(guard, over);
    let over = cx.mask_value(over);
    cx.b.raise(LaneFault::StackOverflow, over);
    let taken = cx.b.sub(end, start);
    let taken = cx.b.trunc(Type::I32, taken);
    cx.set_stack(taken);
    cx.set(insn.operand(0), ty, start);
    Ok(())
}

/// Returns a word of the driver's bank, zero-extended.
fn long(cx: &mut Cx<'_>, offset: u32) -> Value {
    let word = cx.driver(offset, Type::I32);
    cx.resize(word, Type::I64, false)
}

/// Lifts `stacksave`: the address of the top of the stack.
pub fn stacksave(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (end, used) = (cx.driver(driver::LOCAL_END, Type::I32), cx.stack());
    let top = cx.b.sub(end, used);
    cx.set(insn.operand(0), Ty::U32, top);
    Ok(())
}

/// Lifts `stackrestore`: sets the top of the stack to a saved address.
pub fn stackrestore(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (end, top) = (cx.driver(driver::LOCAL_END, Type::I32), cx.bits(insn.operand(0), Ty::U32));
    let used = cx.b.sub(end, top);
    cx.set_stack(used);
    Ok(())
}
