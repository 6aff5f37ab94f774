//! Arithmetic and comparison of pairs of F16 or BF16.
//!
//! BF16 is computed in F32, which rounds sums and products as one rounding would (see the PTX
//! guest). Source: the same PTX through this guest and the PTX guest.

use warploom_guest::brain::fused_bf16;
use warploom_guest::divergence::Mask;
use warploom_ir::{FloatAttrs, Round, Type, Value};
use warploom_sass::lift::Cx;
use warploom_sass::lift::float::{fused, product};
use warploom_sass::{Part, Role, Source};

use super::compare::{combine, compare_floats, set_predicates};
use super::convert::{brain, of_brain, without_negatives};
use super::float::{flushing, min_max};
use super::flow::{Flow, Lifted, Unsupported};
use super::operand::{set, set_pred};
use crate::Instruction;
use crate::field::HalfType;

/// The low value and the high value. BF16 values are F32.
type Pair = [Value; 2];

/// Returns both halves of a source, or one half twice.
fn pair(cx: &mut Cx<'_>, source: Source, is_brain: bool) -> Result<Pair, Unsupported> {
    if source.part == Part::Float {
        if is_brain {
            return Err(Unsupported);
        }
        // `cvt.rz.f16.f32` compiles to an addition of -0.
        let attrs = FloatAttrs { round: Round::Zero, ..FloatAttrs::IEEE };
        let single = cx.f32(source);
        let half = cx.b.fconvert(Type::F16, attrs, single);
        return Ok([half; 2]);
    }
    let word = cx.raw(source);
    let mut half = |number| {
        let value = if is_brain { of_brain(cx, word, number) } else { cx.f16(word, number) };
        cx.float_modifiers(source, value)
    };
    Ok(match source.part {
        Part::Half(number) => [half(number); 2],
        _ => [half(0), half(1)],
    })
}

/// Writes both results.
fn finish(cx: &mut Cx<'_>, i: &Instruction, is_brain: bool, [low, high]: Pair) -> Lifted {
    let mut bits = |value| {
        if is_brain {
            let bits = brain(cx, Round::Nearest, value);
            cx.b.zero_extend(Type::I32, bits)
        } else {
            cx.low_half(value)
        }
    };
    let (low, high) = (bits(low), bits(high));
    let high = cx.shl(high, 16);
    let result = cx.b.or(low, high);
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Writes the low result as F32.
fn finish_single(cx: &mut Cx<'_>, i: &Instruction, low: Value) -> Lifted {
    let result = cx.b.fconvert(Type::F32, FloatAttrs::IEEE, low);
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts HADD2: A + B. With `.F32` the result is the low sum, as F32.
pub fn hadd2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let attrs = FloatAttrs { flush: i.ftz(), saturate: i.sat(), ..FloatAttrs::IEEE };
    let (a, b) = (pair(cx, i.a(), false)?, pair(cx, i.b(), false)?);
    let sums = [0, 1].map(|n| cx.b.fadd(attrs, a[n], b[n]));
    match i.half_type() {
        HalfType::F16 => finish(cx, i, false, sums),
        HalfType::F32 => finish_single(cx, i, sums[0]),
        _ => Err(Unsupported),
    }
}

/// Lifts HMUL2: A * B.
pub fn hmul2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (flush, zero_wins) = flushing(i.flush())?;
    let attrs = FloatAttrs { flush, saturate: i.sat(), ..FloatAttrs::IEEE };
    let (a, b) = (pair(cx, i.a(), false)?, pair(cx, i.b(), false)?);
    let products = [0, 1].map(|n| product(cx, attrs, zero_wins, a[n], b[n]));
    match i.half_type() {
        HalfType::F16 => finish(cx, i, false, products),
        HalfType::F32 => finish_single(cx, i, products[0]),
        _ => Err(Unsupported),
    }
}

/// Lifts HFMA2 and HFMA2.MMA: A * B + C, rounded once.
pub fn hfma2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (flush, zero_wins) = flushing(i.flush())?;
    let attrs = FloatAttrs { flush, saturate: i.sat(), ..FloatAttrs::IEEE };
    let is_brain = match i.half_type() {
        HalfType::F16 => false,
        HalfType::Bf16 => true,
        _ => return Err(Unsupported),
    };
    // With `.RELU` the text shows a predicate, whose meaning is unknown.
    if is_brain && (flush || i.sat()) || !i.ps().is_true() && !i.ps().is_false() {
        return Err(Unsupported);
    }
    let mut factors = [i.a(), i.b(), i.c()].map(|source| pair(cx, source, is_brain));
    let mut results = [0, 1].map(|n| {
        let operands: Result<Vec<Value>, Unsupported> =
            factors.iter_mut().map(|pair| pair.map(|pair| pair[n])).collect();
        let [a, b, c] = operands?[..] else { return Err(Unsupported) };
        Ok(if is_brain {
            fused_bf16(cx, Round::Nearest, [a, b, c])
        } else {
            fused(cx, attrs, zero_wins, [a, b, c])
        })
    });
    if i.relu() {
        results = results.map(|result| result.map(|value| without_negatives(cx, value)));
    }
    let [low, high] = results;
    finish(cx, i, is_brain, [low?, high?])
}

/// Lifts HMNMX2: minimum if P, else maximum.
pub fn hmnmx2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let is_brain = match i.half_type() {
        HalfType::F16 => false,
        HalfType::Bf16 => true,
        _ => return Err(Unsupported),
    };
    let attrs = FloatAttrs { flush: i.ftz(), ..FloatAttrs::IEEE };
    let least = cx.pred(i.ps());
    let (a, b) = (pair(cx, i.a(), is_brain)?, pair(cx, i.b(), is_brain)?);
    let results = [0, 1].map(|n| min_max(cx, attrs, i.nan(), least, a[n], b[n]));
    finish(cx, i, is_brain, results)
}

/// Returns the lanes where the low halves compare, and the lanes where the high halves compare.
fn comparisons(cx: &mut Cx<'_>, i: &Instruction) -> Result<[Mask; 2], Unsupported> {
    let (a, b) = (pair(cx, i.a(), false)?, pair(cx, i.b(), false)?);
    Ok([0, 1].map(|n| compare_floats(cx, i.float_compare(), i.ftz(), a[n], b[n])))
}

/// Lifts HSET2: sets each half of a register to all ones (with `.BF` 1.0) or 0.
pub fn hset2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = comparisons(cx, i)?;
    let with = cx.pred(i.ps());
    let truth: u32 = if i.bool_float() { 0x3c00 } else { 0xffff };
    let [low, high] = holds.map(|holds| combine(cx, i.half_bool_op(), holds, with));
    let mut half = |holds, lo| {
        let (set, clear) = (cx.int(truth << lo), cx.int(0));
        cx.select(holds, set, clear)
    };
    let (low, high) = (half(low?, 0), half(high?, 16));
    let result = cx.b.or(low, high);
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts HSETP2: sets a predicate for each half. With `.H_AND`, the first predicate says that both
/// halves compare, the second that not both do.
pub fn hsetp2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let [low, high] = comparisons(cx, i)?;
    let op = i.half_bool_op();
    if i.h_and() {
        let both = cx.and(low, high);
        return set_predicates(cx, i, op, both);
    }
    let with = cx.pred(i.ps());
    let (low, high) = (combine(cx, op, low, with)?, combine(cx, op, high, with)?);
    set_pred(cx, i, Role::Pd, low);
    set_pred(cx, i, Role::Pe, high);
    Ok(Flow::Next)
}
