//! Exchanges of data between lanes of a warp.
//!
//! Lanes take part if they execute together and are in the mask that each of them names. Lanes with
//! other masks may execute beside them, so results are made lane by lane.
//!
//! Source: facts, `ptx.md` 2.10.

use warploom_guest::divergence::{Mask, nonzero};
use warploom_ir::{BinaryOp, FloatAttrs, FloatBinaryOp, FloatCc, IntCc, Type, Value};

use super::context::{Cx, Insn};
use super::{Lifted, Unsupported, WARP_LANES};
use crate::module::Operand;
use crate::types::Ty;
use crate::word::Word;

const ALL_LANES: u64 = 0xffff_ffff;

/// Returns the destinations of `d`, `d|p`.
fn destinations<'a>(insn: &Insn<'a>) -> (&'a Operand, Option<&'a Operand>) {
    match insn.operand(0) {
        Operand::Pair(pair) => (&pair[0], Some(&pair[1])),
        single => (single, None),
    }
}

/// Returns five bits of an operand from bit `lo` on.
fn five_bits(cx: &mut Cx<'_>, operand: &Operand, lo: u32) -> Value {
    if let Operand::Integer(bits) = *operand {
        return cx.word(bits as u32 >> lo & 31);
    }
    let (bits, mask) = (cx.bits(operand, Ty::B32), cx.word(31));
    let shifted = if lo == 0 {
        bits
    } else {
        let count = cx.word(lo);
        cx.b.shr_u(bits, count)
    };
    cx.b.and(shifted, mask)
}

/// Returns a value in each lane.
fn varying(cx: &mut Cx<'_>, operand: &Operand, ty: Ty) -> Value {
    let value = cx.bits(operand, ty);
    cx.b.splat(value)
}

/// Lifts `shfl`: the value of another lane of a segment, which may be inactive; and whether there
/// is such a lane. Without one, a lane gets its own value.
pub fn shfl(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let mode =
        insn.form.one_of(&[Word::Up, Word::Down, Word::Bfly, Word::Idx]).ok_or(Unsupported)?;
    let value = varying(cx, insn.operand(1), Ty::B32);
    let lane = cx.b.lane_id();
    let step = five_bits(cx, insn.operand(2), 0);
    let control = insn.operand(3);
    let clamp = five_bits(cx, control, 0);
    let whole_warp = matches!(*control, Operand::Integer(bits) if bits >> 8 & 31 == 0);
    let (first, inside) = if whole_warp {
        (None, None)
    } else {
        let segment = five_bits(cx, control, 8);
        (Some(cx.b.and(lane, segment)), Some(cx.b.not(segment)))
    };
    // Returns the lane of this segment whose number within it is `n`.
    let of_segment = |cx: &mut Cx<'_>, n: Value| match (first, inside) {
        (Some(first), Some(inside)) => {
            let within = cx.b.and(n, inside);
            cx.b.or(first, within)
        }
        _ => n,
    };
    let limit = of_segment(cx, clamp);
    let (from, condition) = match mode {
        Word::Up => (cx.b.sub(lane, step), IntCc::GeS),
        Word::Down => (cx.b.add(lane, step), IntCc::LeS),
        Word::Bfly => (cx.b.xor(lane, step), IntCc::LeS),
        _ => (of_segment(cx, step), IntCc::LeS),
    };
    let in_range = cx.b.icmp(condition, from, limit);
    let index = cx.b.select(in_range, from, lane);
    let result = cx.b.lane_gather(value, index);
    let (d, p) = destinations(insn);
    cx.set(d, Ty::B32, result);
    if let Some(p) = p {
        cx.set_pred(p, Mask::Lanes(in_range));
    }
    Ok(())
}

/// Returns the lanes of a warp's mask as an `i32`.
fn ballot(cx: &mut Cx<'_>, lanes: Mask) -> Value {
    let lanes = cx.mask_value(lanes);
    let lanes = cx.b.from_mask(lanes);
    cx.b.trunc(Type::I32, lanes)
}

/// Returns the membermask of a `.sync` form, or `None` if it is the whole warp.
fn members(cx: &mut Cx<'_>, operand: &Operand) -> Option<Value> {
    match *operand {
        Operand::Integer(bits) if bits & ALL_LANES == ALL_LANES => None,
        _ => Some(cx.bits(operand, Ty::B32)),
    }
}

/// Returns the lanes of `lanes` that take part with a lane: an `i32`, which varies if masks do.
fn taking_part(cx: &mut Cx<'_>, lanes: Mask, members: Option<Value>) -> Value {
    let lanes = ballot(cx, lanes);
    match members {
        Some(members) => cx.b.and(lanes, members),
        None => lanes,
    }
}

/// Whether `lanes`, an `i32`, has a lane.
fn any(cx: &mut Cx<'_>, lanes: Value) -> Mask {
    Mask::Lanes(nonzero(&mut cx.b, lanes))
}

/// Lifts `vote`: whether a predicate holds in all lanes, in any lane, or is equal in all lanes; or
/// the lanes where it holds.
pub fn vote(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let mode =
        insn.form.one_of(&[Word::All, Word::Any, Word::Uni, Word::Ballot]).ok_or(Unsupported)?;
    let choice = cx.pred(insn.operand(1));
    let members = if insn.form.has(Word::Sync) { members(cx, insn.operand(2)) } else { None };
    let voters = Mask::Lanes(cx.executing());
    let yes = cx.and(voters, choice);
    let yes = taking_part(cx, yes, members);
    if mode == Word::Ballot {
        cx.set(insn.operand(0), Ty::B32, yes);
        return Ok(());
    }
    let no = cx.not(choice);
    let no = cx.and(voters, no);
    let no = taking_part(cx, no, members);
    let (yes, no) = (any(cx, yes), any(cx, no));
    let verdict = match mode {
        Word::Any => yes,
        Word::All => cx.not(no),
        _ => {
            let both = cx.and(yes, no);
            cx.not(both)
        }
    };
    cx.set_pred(insn.operand(0), verdict);
    Ok(())
}

/// Lifts `activemask`: the lanes that execute the instruction together.
pub fn activemask(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let lanes = Mask::Lanes(cx.executing());
    let lanes = ballot(cx, lanes);
    cx.set(insn.operand(0), Ty::B32, lanes);
    Ok(())
}

/// Lifts `match`. `.any`: the lanes with this lane's value. `.all`: all lanes if they have the same
/// value, else none.
pub fn match_lanes(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = insn.form.ty(0);
    if !matches!(ty, Ty::B32 | Ty::B64) {
        return Err(Unsupported);
    }
    let value = varying(cx, insn.operand(1), ty);
    let members = members(cx, insn.operand(2));
    let executing = Mask::Lanes(cx.executing());
    let group = taking_part(cx, executing, members);
    if !insn.form.has(Word::All) {
        let equal = lanes_alike(cx, value);
        let result = cx.b.and(equal, group);
        cx.set(insn.operand(0), Ty::B32, result);
        return Ok(());
    }
    let reference = of_first(cx, value, group);
    let differs = Mask::Lanes(cx.b.icmp(IntCc::Ne, value, reference));
    let differs = cx.and(executing, differs);
    let differs = taking_part(cx, differs, members);
    let differs = any(cx, differs);
    let none = cx.word(0);
    let result = cx.select(differs, none, group);
    let (d, p) = destinations(insn);
    cx.set(d, Ty::B32, result);
    if let Some(p) = p {
        let same = cx.not(differs);
        cx.set_pred(p, same);
    }
    Ok(())
}

/// Returns, in each lane, the value of the first lane of its group.
fn of_first(cx: &mut Cx<'_>, value: Value, group: Value) -> Value {
    let first = cx.b.ctz(group);
    cx.b.lane_gather(value, first)
}

/// Returns, for each lane, the lanes of the warp that have its value.
fn lanes_alike(cx: &mut Cx<'_>, value: Value) -> Value {
    let none = cx.word(0);
    let mut result = none;
    for lane in 0..WARP_LANES {
        let number = cx.word(lane.into());
        let of_lane = cx.b.lane_read(value, number);
        let equal = cx.b.icmp(IntCc::Eq, value, of_lane);
        let bit = cx.word(1 << lane);
        let bit = cx.b.select(equal, bit, none);
        result = cx.b.or(result, bit);
    }
    result
}

/// How `redux` combines two values.
#[derive(Clone, Copy)]
enum Combine {
    Int(BinaryOp),
    /// A float operation, and whether NaNs propagate.
    Float(FloatBinaryOp, bool),
}

impl Combine {
    fn of(insn: &Insn<'_>) -> Result<Combine, Unsupported> {
        use BinaryOp::*;
        let word =
            insn.form.one_of(&[Word::Add, Word::Min, Word::Max, Word::And, Word::Or, Word::Xor]);
        let nan = insn.form.has(Word::Nan);
        Ok(match (word.ok_or(Unsupported)?, insn.form.ty(0)) {
            (Word::Add, Ty::S32 | Ty::U32) => Combine::Int(Add),
            (Word::Min, Ty::S32) => Combine::Int(MinS),
            (Word::Min, Ty::U32) => Combine::Int(MinU),
            (Word::Max, Ty::S32) => Combine::Int(MaxS),
            (Word::Max, Ty::U32) => Combine::Int(MaxU),
            (Word::And, Ty::B32) => Combine::Int(And),
            (Word::Or, Ty::B32) => Combine::Int(Or),
            (Word::Xor, Ty::B32) => Combine::Int(Xor),
            (Word::Min, Ty::F32) => Combine::Float(FloatBinaryOp::Min, nan),
            (Word::Max, Ty::F32) => Combine::Float(FloatBinaryOp::Max, nan),
            _ => return Err(Unsupported),
        })
    }

    fn apply(self, cx: &mut Cx<'_>, a: Value, b: Value) -> Value {
        match self {
            Combine::Int(op) => cx.b.binary(op, a, b),
            Combine::Float(op, nan) => {
                let result = cx.b.fbinary(op, FloatAttrs::IEEE, a, b);
                if !nan {
                    return result;
                }
                let unordered = cx.b.fcmp(FloatCc::Nan, false, a, b);
                let canonical = cx.constant(Type::F32, super::NAN.canonical(Type::F32));
                cx.b.select(unordered, canonical, result)
            }
        }
    }
}

/// Lifts `redux`: all values of a group, combined.
///
/// A group is a list, in which each lane knows the next lane. After n steps a lane knows the lane
/// 2^n places further on, and holds the combined values of the lanes from itself up to that lane,
/// exclusively. At the end the first lane holds the value of the whole group.
pub fn redux(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let combine = Combine::of(insn)?;
    let ty = insn.form.ty(0);
    let value =
        if ty == Ty::F32 { cx.float(insn.operand(1), ty) } else { cx.bits(insn.operand(1), ty) };
    let mut value = cx.b.splat(value);
    if insn.form.has(Word::AbsWord) {
        value = cx.b.fabs(value);
    }
    let members = members(cx, insn.operand(2));
    let executing = Mask::Lanes(cx.executing());
    let group = taking_part(cx, executing, members);
    let mut next = next_of_group(cx, group);
    let end = cx.word(WARP_LANES.into());
    let mut distance = 1;
    while distance < WARP_LANES {
        let is_there = Mask::Lanes(cx.b.icmp(IntCc::LtU, next, end));
        let other = cx.b.lane_gather(value, next);
        let combined = combine.apply(cx, value, other);
        value = cx.select(is_there, combined, value);
        distance *= 2;
        if distance < WARP_LANES {
            let further = cx.b.lane_gather(next, next);
            next = cx.select(is_there, further, end);
        }
    }
    let result = of_first(cx, value, group);
    cx.set(insn.operand(0), ty, result);
    Ok(())
}

/// Returns the next lane of each lane's group, which is the least lane above it; 32 for the last
/// lane.
fn next_of_group(cx: &mut Cx<'_>, group: Value) -> Value {
    let (lane, one, ones) = (cx.b.lane_id(), cx.word(1), cx.word(u32::MAX));
    let from = cx.b.shl(ones, lane);
    let above = cx.b.shl(from, one);
    let above = cx.b.and(group, above);
    let next = cx.b.ctz(above);
    cx.b.splat(next)
}

/// Lifts `elect`: the number of the lowest lane, and whether it is this lane.
pub fn elect(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let members = members(cx, insn.operand(1));
    let executing = Mask::Lanes(cx.executing());
    let group = taking_part(cx, executing, members);
    let (d, p) = destinations(insn);
    let elected = cx.b.ctz(group);
    cx.set(d, Ty::U32, elected);
    if let Some(p) = p {
        let lane = cx.b.lane_id();
        let is_it = cx.b.icmp(IntCc::Eq, lane, elected);
        cx.set_pred(p, Mask::Lanes(is_it));
    }
    Ok(())
}

/// Lifts nothing: lanes that execute together have met, and their accesses are in order already.
pub fn warp_sync(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Ok(())
}
