//! The condition code register: tests of it, and its updates by instructions.
//!
//! Source: facts, `maxwell-semantics.md` 1 (bits and tests) and 2.1 (carry rule).

use warploom_guest::divergence::Mask;
use warploom_ir::{FloatCc, IntCc, Type, Value};

use super::context::Cx;
use super::flow::Unsupported;
use crate::Instruction;
use crate::field::CcTest;
use warploom_sass::lift::Flag;

/// Returns the lanes where a test holds.
///
/// # Errors
/// The clip-space tests, which graphics use, are not supported.
pub fn test(cx: &mut Cx<'_>, test: CcTest) -> Result<Mask, Unsupported> {
    use CcTest::*;
    Ok(match test {
        F => Mask::Never,
        T => Mask::Always,
        Nan => not_both(cx, Flag::S, Flag::Z, false),
        Num => not_both(cx, Flag::S, Flag::Z, true),
        Equ => cx.flag(Flag::Z),
        Ne => flag_not(cx, Flag::Z),
        Oft => cx.flag(Flag::O),
        Off => flag_not(cx, Flag::O),
        Sft => cx.flag(Flag::S),
        Sff => flag_not(cx, Flag::S),
        Hs => cx.flag(Flag::C),
        Lo => flag_not(cx, Flag::C),
        Ltu => less(cx),
        Ge => {
            let less = less(cx);
            cx.not(less)
        }
        Eq => {
            let (z, positive) = (cx.flag(Flag::Z), flag_not(cx, Flag::S));
            cx.and(z, positive)
        }
        Neu => {
            let (s, unequal) = (cx.flag(Flag::S), flag_not(cx, Flag::Z));
            cx.or(s, unequal)
        }
        Lt => {
            let (s, unequal, o) = (cx.flag(Flag::S), flag_not(cx, Flag::Z), cx.flag(Flag::O));
            let negative = cx.and(s, unequal);
            cx.xor(negative, o)
        }
        Geu => {
            let (positive, z, o) = (flag_not(cx, Flag::S), cx.flag(Flag::Z), cx.flag(Flag::O));
            let either = cx.or(positive, z);
            cx.xor(either, o)
        }
        Le => {
            let (s, z, o) = (cx.flag(Flag::S), cx.flag(Flag::Z), cx.flag(Flag::O));
            let either = cx.or(z, o);
            cx.xor(s, either)
        }
        Gtu => {
            let (positive, z, o) = (flag_not(cx, Flag::S), cx.flag(Flag::Z), cx.flag(Flag::O));
            let either = cx.or(z, o);
            cx.xor(positive, either)
        }
        Leu => less_or_zero(cx),
        Gt => {
            let less = less_or_zero(cx);
            cx.not(less)
        }
        Ls => {
            let (z, lower) = (cx.flag(Flag::Z), flag_not(cx, Flag::C));
            cx.or(z, lower)
        }
        Hi => {
            let (c, unequal) = (cx.flag(Flag::C), flag_not(cx, Flag::Z));
            cx.and(c, unequal)
        }
        Rle | Rgt => {
            let (s, z) = (cx.flag(Flag::S), cx.flag(Flag::Z));
            let either = cx.or(s, z);
            if test == Rle { either } else { cx.not(either) }
        }
        CsmTa | CsmTr | CsmMx | FcsmTa | FcsmTr | FcsmMx => return Err(Unsupported),
    })
}

fn flag_not(cx: &mut Cx<'_>, flag: Flag) -> Mask {
    let mask = cx.flag(flag);
    cx.not(mask)
}

fn not_both(cx: &mut Cx<'_>, x: Flag, y: Flag, not: bool) -> Mask {
    let (x, y) = (cx.flag(x), cx.flag(y));
    let both = cx.and(x, y);
    if not { cx.not(both) } else { both }
}

/// Returns the lanes where S xor O holds.
fn less(cx: &mut Cx<'_>) -> Mask {
    let (s, o) = (cx.flag(Flag::S), cx.flag(Flag::O));
    cx.xor(s, o)
}

/// Returns the lanes where (S xor O) or Z holds.
fn less_or_zero(cx: &mut Cx<'_>) -> Mask {
    let (less, z) = (less(cx), cx.flag(Flag::Z));
    cx.or(less, z)
}

/// Returns the lanes where an integer has its top bit set.
pub fn negative(cx: &mut Cx<'_>, value: Value) -> Mask {
    let ty = cx.b.ty(value).ty;
    let zero = cx.constant(ty, 0);
    Mask::Lanes(cx.b.icmp(IntCc::LtS, value, zero))
}

/// Returns the lanes where an integer is 0.
pub fn zero(cx: &mut Cx<'_>, value: Value) -> Mask {
    let ty = cx.b.ty(value).ty;
    let zero = cx.constant(ty, 0);
    Mask::Lanes(cx.b.icmp(IntCc::Eq, value, zero))
}

/// Writes CC after an addition: Z and S of the `i32` result, carry and overflow as given. With `.X`
/// the result counts as zero only if the preceding words were zero.
pub fn write_sum(
    cx: &mut Cx<'_>,
    i: &Instruction,
    result: Value,
    carry: Mask,
    overflow: impl FnOnce(&mut Cx<'_>) -> Mask,
) {
    write_integer(cx, i, result, i.x(), carry, overflow);
}

fn write_integer(
    cx: &mut Cx<'_>,
    i: &Instruction,
    result: Value,
    chained: bool,
    carry: Mask,
    overflow: impl FnOnce(&mut Cx<'_>) -> Mask,
) {
    if !i.cc() {
        return;
    }
    let z = if cx.wants(Flag::Z) { zero_with(cx, result, chained) } else { Mask::Never };
    let s = if cx.wants(Flag::S) { negative(cx, result) } else { Mask::Never };
    let o = if cx.wants(Flag::O) { overflow(cx) } else { Mask::Never };
    write(cx, [z, s, carry, o]);
}

/// Writes CC after an operation that cannot carry or overflow.
pub fn write_result(cx: &mut Cx<'_>, i: &Instruction, result: Value) {
    write_sum(cx, i, result, Mask::Never, |_| Mask::Never);
}

/// Writes CC after a comparison that gives a number. Z and S describe the number, even with `.X`:
/// there the old Z already counts in the comparison.
pub fn write_truth(cx: &mut Cx<'_>, i: &Instruction, number: Value) {
    write_integer(cx, i, number, false, Mask::Never, |_| Mask::Never);
}

/// Returns the lanes where the result is zero and, with `.X`, the old Z is set.
pub fn zero_with(cx: &mut Cx<'_>, result: Value, chained: bool) -> Mask {
    let zero = zero(cx, result);
    if chained {
        let before = cx.flag(Flag::Z);
        cx.and(zero, before)
    } else {
        zero
    }
}

/// Writes CC after a float operation: Z and S; a NaN sets both.
pub fn write_float(cx: &mut Cx<'_>, i: &Instruction, result: Value) {
    if !i.cc() {
        return;
    }
    let ty = cx.b.ty(result).ty;
    let zero = cx.constant(ty, 0);
    let mut against_zero = |flag, cc| {
        if cx.wants(flag) { Mask::Lanes(cx.b.fcmp(cc, false, result, zero)) } else { Mask::Never }
    };
    let (z, s) = (against_zero(Flag::Z, FloatCc::EqU), against_zero(Flag::S, FloatCc::LtU));
    write(cx, [z, s, Mask::Never, Mask::Never]);
}

/// Writes Z, S, C and O.
pub fn write(cx: &mut Cx<'_>, [z, s, c, o]: [Mask; 4]) {
    cx.set_flag(Flag::Z, z);
    cx.set_flag(Flag::S, s);
    cx.set_flag(Flag::C, c);
    cx.set_flag(Flag::O, o);
    cx.set_flag(Flag::C2, Mask::Never);
}

/// Returns the lanes where `result = a + b (+ carry)` overflowed as signed numbers.
pub fn overflow(cx: &mut Cx<'_>, a: Value, b: Value, result: Value) -> Mask {
    let (x, y) = (cx.b.xor(a, result), cx.b.xor(b, result));
    let both = cx.b.and(x, y);
    negative(cx, both)
}

/// Returns 0xffffffff in the lanes of the mask and 0 elsewhere, or with `float` 1.0 and 0.
pub fn boolean(cx: &mut Cx<'_>, mask: Mask, float: bool) -> Value {
    let truth = if float { 1f32.to_bits() } else { u32::MAX };
    let (truth, falsehood) = (cx.constant(Type::I32, truth.into()), cx.int(0));
    cx.select(mask, truth, falsehood)
}
