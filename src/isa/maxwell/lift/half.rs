//! Arithmetic and comparison of pairs of F16.
//!
//! Source: facts, `maxwell-semantics.md` 4.2.

use warploom_guest::divergence::Mask;
use warploom_ir::{FloatAttrs, Type, Value};
use warploom_sass::lift::float::{fused, product};

use super::compare::{combine, set_predicates};
use super::context::Cx;
use super::float::flushing;
use super::float_compare::compare;
use super::flow::{Flow, Lifted};
use crate::field::{Field, Ftz, HalfMerge};
use crate::{Instruction, Part, Source, Value as Operand};

/// The low value and the high value.
type Pair = [Value; 2];

/// Returns both halves of a source, or one value twice: a half, or an F32 rounded to the nearest
/// F16.
fn pair(cx: &mut Cx<'_>, source: Source) -> Pair {
    let is_constant = matches!(source.value, Operand::Const { .. });
    if is_constant || source.part == Part::Float {
        let single = cx.f32(source);
        let half = cx.b.fconvert(Type::F16, FloatAttrs::IEEE, single);
        return [half; 2];
    }
    let word = cx.raw(source);
    let mut half = |number| {
        let value = cx.f16(word, number);
        cx.float_modifiers(source, value)
    };
    match source.part {
        Part::Half(number) => [half(number); 2],
        _ => [half(0), half(1)],
    }
}

/// Writes one result or both.
fn finish(cx: &mut Cx<'_>, i: &Instruction, [low, high]: Pair) -> Lifted {
    let result = match i.half_merge() {
        HalfMerge::F32 => cx.b.fconvert(Type::F32, FloatAttrs::IEEE, low),
        HalfMerge::Both => {
            let (low, high) = (bits(cx, low, 0), bits(cx, high, 16));
            cx.b.or(low, high)
        }
        HalfMerge::Low => merged(cx, i, low, 0),
        HalfMerge::High => merged(cx, i, high, 16),
    };
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Places an F16 at bit `lo` of an `i32`.
fn bits(cx: &mut Cx<'_>, half: Value, lo: u32) -> Value {
    let bits = cx.low_half(half);
    if lo == 0 { bits } else { cx.shl(bits, lo) }
}

/// Replaces the half of the destination from bit `lo` on, and keeps the other half.
fn merged(cx: &mut Cx<'_>, i: &Instruction, half: Value, lo: u32) -> Value {
    let (old, mask) = (cx.reg(i.d()), cx.int(!(0xffff << lo)));
    let (kept, new) = (cx.b.and(old, mask), bits(cx, half, lo));
    cx.b.or(kept, new)
}

/// Lifts HADD2: A + B.
pub fn hadd2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let attrs = FloatAttrs { flush: i.ftz() == Ftz::Flush, saturate: i.sat(), ..FloatAttrs::IEEE };
    let (a, b) = (pair(cx, i.a()), pair(cx, i.b()));
    let sums = [0, 1].map(|n| cx.b.fadd(attrs, a[n], b[n]));
    finish(cx, i, sums)
}

/// Lifts HMUL2: A * B.
pub fn hmul2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (flush, zero_wins) = flushing(i.half_flush())?;
    let attrs = FloatAttrs { flush, saturate: i.sat(), ..FloatAttrs::IEEE };
    let (a, b) = (pair(cx, i.a()), pair(cx, i.b()));
    let products = [0, 1].map(|n| product(cx, attrs, zero_wins, a[n], b[n]));
    finish(cx, i, products)
}

/// Lifts HFMA2: A * B + C, rounded once.
pub fn hfma2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    // The field has two names, as reserved values print in two ways.
    let flush = if i.field(Field::flush).is_some() { i.flush() } else { i.half_flush() };
    let (flush, zero_wins) = flushing(flush)?;
    let attrs = FloatAttrs { flush, saturate: i.sat(), ..FloatAttrs::IEEE };
    let (a, b, c) = (pair(cx, i.a()), pair(cx, i.b()), pair(cx, i.c()));
    let results = [0, 1].map(|n| fused(cx, attrs, zero_wins, [a[n], b[n], c[n]]));
    finish(cx, i, results)
}

/// Returns the lanes where the low halves compare, and the lanes where the high halves compare.
fn comparisons(cx: &mut Cx<'_>, i: &Instruction) -> [Mask; 2] {
    let (a, b) = (pair(cx, i.a()), pair(cx, i.b()));
    [0, 1].map(|n| compare(cx, i, i.float_compare(), a[n], b[n]))
}

/// Lifts HSET2: sets each half of a register to all ones (with `.BF` 1.0) or 0.
pub fn hset2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = comparisons(cx, i);
    let with = cx.pred(i.ps());
    let truth: u32 = if i.bool_float() { 0x3c00 } else { 0xffff };
    let [low, high] = holds.map(|holds| combine(cx, i.half_bool_op(), holds, with));
    let mut half = |holds, lo| {
        let (set, clear) = (cx.int(truth << lo), cx.int(0));
        cx.select(holds, set, clear)
    };
    let (low, high) = (half(low?, 0), half(high?, 16));
    let result = cx.b.or(low, high);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Lifts HSETP2: sets a predicate for each half. With `.H_AND`, the first predicate says that both
/// halves compare, the second that not both do.
pub fn hsetp2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let [low, high] = comparisons(cx, i);
    if i.h_and() {
        let both = cx.and(low, high);
        return set_predicates(cx, i, i.bool_op(), both);
    }
    let with = cx.pred(i.ps());
    let (low, high) = (combine(cx, i.bool_op(), low, with)?, combine(cx, i.bool_op(), high, with)?);
    cx.set_pred(i.pd(), low);
    cx.set_pred(i.pe(), high);
    Ok(Flow::Next)
}
