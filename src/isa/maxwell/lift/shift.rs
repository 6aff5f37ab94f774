//! Shifts.
//!
//! Source: facts, `maxwell-semantics.md` 2.3.

use warploom_ir::{Type, Value};

use super::cc;
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use crate::Instruction;
use crate::field::{FunnelType, FunnelWord, ShiftWord, Sign};

/// Lifts SHL: A << B. A count of 32 or more gives 0; with `.W` it is taken modulo 32.
pub fn shl(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.x() {
        return Err(Unsupported);
    }
    let (value, count) = (cx.word(i.a()), count(cx, i));
    let result = cx.b.shl(value, count);
    finish(cx, i, result)
}

/// Lifts SHR: A >> B, arithmetic unless `.U32`.
pub fn shr(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.shift_word() != ShiftWord::Only {
        return Err(Unsupported);
    }
    let (mut value, count) = (cx.word(i.a()), count(cx, i));
    if i.brev() {
        value = cx.b.bit_reverse(value);
    }
    let result = match i.sign() {
        Sign::Signed => cx.b.shr_s(value, count),
        Sign::Unsigned => cx.b.shr_u(value, count),
    };
    finish(cx, i, result)
}

fn count(cx: &mut Cx<'_>, i: &Instruction) -> Value {
    match (i.b().imm(), i.wrap()) {
        (Some(count), true) => cx.int(count as u32 & 31),
        (_, false) => cx.word(i.b()),
        (None, true) => {
            let (count, mask) = (cx.word(i.b()), cx.int(31));
            cx.b.and(count, mask)
        }
    }
}

fn finish(cx: &mut Cx<'_>, i: &Instruction, result: Value) -> Lifted {
    cc::write_result(cx, i, result);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Lifts SHF.L: the high word of (C:A) << B. `.HI` is redundant.
pub fn shf_l(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (low, high) = (cx.raw(i.a()), cx.raw(i.c()));
    let result = match funnel_count(i)? {
        Some(0) => high,
        Some(count @ 1..32) => {
            let (high, low) = (cx.shl(high, count), cx.shr(low, 32 - count));
            cx.b.or(high, low)
        }
        Some(count) => cx.shl(low, count - 32),
        None => {
            let (value, count) = (cx.b.concat(low, high), wide_count(cx, i));
            let shifted = cx.b.shl(value, count);
            cx.b.high_half(shifted)
        }
    };
    finish(cx, i, result)
}

/// Lifts SHF.R: the low word of (C:A) >> B, arithmetic with `.S64`; with `.HI` the high word.
pub fn shf_r(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.funnel_word() == FunnelWord::Hi {
        return shf_r_high(cx, i);
    }
    let (low, high) = (cx.raw(i.a()), cx.raw(i.c()));
    let signed = i.funnel_type() == FunnelType::S64;
    let result = match funnel_count(i)? {
        Some(0) => low,
        Some(count @ 1..32) => {
            let (high, low) = (cx.shl(high, 32 - count), cx.shr(low, count));
            cx.b.or(high, low)
        }
        Some(count) if signed => {
            let count = cx.int(count - 32);
            cx.b.shr_s(high, count)
        }
        Some(count) => cx.shr(high, count - 32),
        None => {
            let (value, count) = (cx.b.concat(low, high), wide_count(cx, i));
            let shifted = if signed { cx.b.shr_s(value, count) } else { cx.b.shr_u(value, count) };
            cx.b.trunc(Type::I32, shifted)
        }
    };
    finish(cx, i, result)
}

/// Lifts SHF.R with `.HI`: the high word of (C:A) >> B is C alone, shifted. ptxas of CUDA 6.5 to 8
/// builds `shr.u64` and `shr.s64` from it and `SHF.R.U64`. Without a type the shift is logical and
/// the count ends at 32: Mesa's NAK found this on hardware.
fn shf_r_high(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (wrap, _) = limits(i)?;
    let signed = i.funnel_type() == FunnelType::S64;
    let (high, count) = (cx.word(i.c()), cx.word(i.b()));
    let count = if i.wrap() {
        let mask = cx.int(wrap);
        cx.b.and(count, mask)
    } else {
        count
    };
    // In the IR too, a count of 32 or more leaves zeros or signs.
    let result = if signed { cx.b.shr_s(high, count) } else { cx.b.shr_u(high, count) };
    finish(cx, i, result)
}

/// Returns the mask of a count that wraps, and the limit at which greater counts are clamped.
fn limits(i: &Instruction) -> Result<(u32, u32), Unsupported> {
    match i.funnel_type() {
        _ if matches!(i.funnel_word(), FunnelWord::X | FunnelWord::Xhi) => Err(Unsupported),
        FunnelType::B32 => Ok((31, 32)),
        FunnelType::U64 | FunnelType::S64 => Ok((63, 64)),
        FunnelType::Reserved => Err(Unsupported),
    }
}

/// Returns the count, 0 to 64, if it is an immediate.
fn funnel_count(i: &Instruction) -> Result<Option<u32>, Unsupported> {
    let (wrap, most) = limits(i)?;
    Ok(i.b()
        .imm()
        .map(|count| if i.wrap() { count as u32 & wrap } else { (count as u32).min(most) }))
}

fn wide_count(cx: &mut Cx<'_>, i: &Instruction) -> Value {
    // The caller has already accepted the type.
    let (wrap, most) = limits(i).unwrap_or_default();
    let count = cx.word(i.b());
    let count = if i.wrap() {
        let mask = cx.int(wrap);
        cx.b.and(count, mask)
    } else {
        let most = cx.int(most);
        cx.b.min_u(count, most)
    };
    cx.b.zero_extend(Type::I64, count)
}
