//! SHF and USHF: shifts of a pair of words.

use warploom_ir::{Type, Value};
use warploom_sass::Source;
use warploom_sass::lift::Cx;

use super::flow::{Flow, Lifted};
use super::operand::set;
use crate::Instruction;
use crate::field::{ShiftDirection, ShiftType};

/// The count of a shift.
#[derive(Clone, Copy)]
enum Count {
    Known(u32),
    /// An `i32` of at most the width.
    Varying(Value),
}

/// Returns the count: modulo the width with `.W`, at most the width without.
fn count(cx: &mut Cx<'_>, i: &Instruction, width: u32) -> Count {
    if let Some(count) = i.b().imm() {
        let count = count as u32;
        return Count::Known(if i.wrap() { count & (width - 1) } else { count.min(width) });
    }
    let count = cx.word(i.b());
    Count::Varying(if i.wrap() {
        let mask = cx.int(width - 1);
        cx.b.and(count, mask)
    } else {
        let most = cx.int(width);
        cx.b.min_u(count, most)
    })
}

fn is_zero(source: Source) -> bool {
    source.reg().is_some_and(|reg| reg.is_zero()) || source.imm() == Some(0)
}

/// Lifts SHF: shifts C:A by B. The result is the low word, or with `.HI` the high word.
pub fn shf(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (width, signed) = match i.shift_type() {
        ShiftType::U32 => (32, false),
        ShiftType::S32 => (32, true),
        ShiftType::U64 => (64, false),
        ShiftType::S64 => (64, true),
    };
    let right = i.shift_direction() == ShiftDirection::Right;
    let (low, high) = (cx.word(i.a()), cx.word(i.c()));
    let count = count(cx, i, width);
    let result = match (right, i.high(), count) {
        // One word is shifted alone. In the IR too, a count of 32 or more leaves zeros or signs.
        (true, true, count) => {
            let count = value(cx, count);
            if signed { cx.b.shr_s(high, count) } else { cx.b.shr_u(high, count) }
        }
        (false, false, count) => {
            let count = value(cx, count);
            cx.b.shl(low, count)
        }
        (false, true, Count::Known(count)) => match count {
            0 => high,
            1..32 => {
                let (high, low) = (cx.shl(high, count), cx.shr(low, 32 - count));
                cx.b.or(high, low)
            }
            _ => cx.shl(low, count - 32),
        },
        (true, false, Count::Known(count)) => match count {
            0 => low,
            1..32 => {
                let (high, low) = (cx.shl(high, 32 - count), cx.shr(low, count));
                cx.b.or(high, low)
            }
            _ if signed => {
                let count = cx.int(count - 32);
                cx.b.shr_s(high, count)
            }
            _ => cx.shr(high, count - 32),
        },
        // Of `SHF.R.U32 R, A, B, RZ` only A is left.
        (true, false, Count::Varying(count)) if is_zero(i.c()) => cx.b.shr_u(low, count),
        (_, _, Count::Varying(count)) => {
            let pair = cx.b.concat(low, high);
            let count = cx.b.zero_extend(Type::I64, count);
            let shifted = match (right, signed) {
                (false, _) => cx.b.shl(pair, count),
                (true, true) => cx.b.shr_s(pair, count),
                (true, false) => cx.b.shr_u(pair, count),
            };
            if i.high() { cx.b.high_half(shifted) } else { cx.b.trunc(Type::I32, shifted) }
        }
    };
    set(cx, i, result);
    Ok(Flow::Next)
}

fn value(cx: &mut Cx<'_>, count: Count) -> Value {
    match count {
        Count::Known(count) => cx.int(count),
        Count::Varying(count) => count,
    }
}
