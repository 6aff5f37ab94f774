//! Exchange between lanes.
//!
//! Source: facts, `ptx.md` 2.10, whose instructions compile to these.

use warploom_guest::divergence::{Mask, nonzero};
use warploom_ir::{BinaryOp, IntCc, Type, Value};
use warploom_sass::lift::Cx;
use warploom_sass::{Role, Source};

use super::WARP_LANES;
use super::flow::{Flow, Lifted, Unsupported};
use super::operand::{set, set_pred, wants};
use crate::Instruction;
use crate::field::{ReduxOp, ReduxType, ShuffleMode, VoteMode};

/// Lifts SHFL: D = A of another lane of a segment, even of an inactive lane. Pd says whether that
/// lane is in range; if not, D is the lane's own A.
pub fn shfl(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = cx.raw(i.a());
    let value = cx.b.splat(value);
    let lane = cx.b.lane_id();
    let step = bits(cx, i.b(), 0);
    let (clamp, segment) = (bits(cx, i.c(), 0), bits(cx, i.c(), 8));
    let whole_warp = i.c().imm().is_some_and(|c| c >> 8 & 31 == 0);
    let (first, last) = if whole_warp {
        (cx.int(0), clamp)
    } else {
        let (first, inside) = (cx.b.and(lane, segment), cx.b.not(segment));
        let within = cx.b.and(clamp, inside);
        (first, cx.b.or(first, within))
    };
    let (from, condition) = match i.shuffle_mode() {
        ShuffleMode::Up => (cx.b.sub(lane, step), IntCc::GeS),
        ShuffleMode::Down => (cx.b.add(lane, step), IntCc::LeS),
        ShuffleMode::Bfly => (cx.b.xor(lane, step), IntCc::LeS),
        ShuffleMode::Idx if whole_warp => (step, IntCc::LeS),
        ShuffleMode::Idx => {
            let inside = cx.b.not(segment);
            let within = cx.b.and(step, inside);
            (cx.b.or(first, within), IntCc::LeS)
        }
    };
    let in_range = cx.b.icmp(condition, from, last);
    let index = cx.b.select(in_range, from, lane);
    let result = cx.b.lane_gather(value, index);
    cx.set(i.d(), result);
    set_pred(cx, i, Role::Pd, Mask::Lanes(in_range));
    Ok(Flow::Next)
}

/// Returns five bits of a source from bit `lo` on.
fn bits(cx: &mut Cx<'_>, source: Source, lo: u32) -> Value {
    match source.imm() {
        Some(imm) => cx.int(imm as u32 >> lo & 31),
        None => {
            let word = cx.raw(source);
            cx.bit_range(word, lo, 5, false)
        }
    }
}

/// Lifts VOTE and VOTEU, over the executing lanes: D = the lanes where Ps holds. Pd = whether Ps
/// holds in any lane, in all lanes, or equally in all lanes.
pub fn vote(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mode = i.vote_mode();
    if mode == VoteMode::Reserved {
        return Err(Unsupported);
    }
    let voters = Mask::Lanes(cx.executing());
    let choice = cx.pred(i.ps());
    let yes = cx.and(voters, choice);
    if wants(i, Role::Pd) {
        let no = cx.not(choice);
        let no = cx.and(voters, no);
        let (yes, no) = (anybody(cx, yes), anybody(cx, no));
        let verdict = match mode {
            VoteMode::Any | VoteMode::Reserved => yes,
            VoteMode::All => cx.not(no),
            VoteMode::Eq => {
                let both = cx.and(yes, no);
                cx.not(both)
            }
        };
        set_pred(cx, i, Role::Pd, verdict);
    }
    let ballot = ballot(cx, yes);
    set(cx, i, ballot);
    Ok(Flow::Next)
}

/// Returns all lanes if the mask has a lane.
fn anybody(cx: &mut Cx<'_>, mask: Mask) -> Mask {
    match mask {
        Mask::Lanes(lanes) => Mask::Lanes(nonzero(&mut cx.b, lanes)),
        known => known,
    }
}

/// Returns the lanes of a mask as an `i32`.
pub fn ballot(cx: &mut Cx<'_>, lanes: Mask) -> Value {
    let lanes = lanes.value(&mut cx.b);
    let lanes = cx.b.from_mask(lanes);
    cx.b.trunc(Type::I32, lanes)
}

/// Returns A in each lane: 32 or 64 bits.
fn varying(cx: &mut Cx<'_>, i: &Instruction) -> Value {
    let value = if i.match_wide() { cx.wide(i.a()) } else { cx.raw(i.a()) };
    cx.b.splat(value)
}

/// Lifts MATCH.ANY: the executing lanes with this lane's value.
pub fn match_any(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = varying(cx, i);
    let none = cx.int(0);
    let mut alike = none;
    for lane in 0..WARP_LANES {
        let number = cx.int(lane.into());
        let of_lane = cx.b.lane_read(value, number);
        let equal = cx.b.icmp(IntCc::Eq, value, of_lane);
        let bit = cx.int(1 << lane);
        let bit = cx.b.select(equal, bit, none);
        alike = cx.b.or(alike, bit);
    }
    let executing = Mask::Lanes(cx.executing());
    let group = ballot(cx, executing);
    let result = cx.b.and(alike, group);
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts MATCH.ALL: the executing lanes if they have the same value, else none; and whether they
/// have.
pub fn match_all(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = varying(cx, i);
    let executing = cx.executing();
    let reference = super::emit::of_first_lane(cx, value);
    let differs = Mask::Lanes(cx.b.icmp(IntCc::Ne, value, reference));
    let differs = cx.and(Mask::Lanes(executing), differs);
    let differs = anybody(cx, differs);
    let (none, group) = (cx.int(0), ballot(cx, Mask::Lanes(executing)));
    let result = cx.select(differs, none, group);
    let same = cx.not(differs);
    set(cx, i, result);
    set_pred(cx, i, Role::Pd, same);
    Ok(Flow::Next)
}

/// Lifts REDUX: the values of the executing lanes, combined.
pub fn redux(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let signed = i.redux_type() == ReduxType::S32;
    let (op, neutral) = match (i.redux_op(), signed) {
        (ReduxOp::And, _) => (BinaryOp::And, u32::MAX),
        (ReduxOp::Or, _) => (BinaryOp::Or, 0),
        (ReduxOp::Xor, _) => (BinaryOp::Xor, 0),
        (ReduxOp::Sum, _) => (BinaryOp::Add, 0),
        (ReduxOp::Min, false) => (BinaryOp::MinU, u32::MAX),
        (ReduxOp::Max, false) => (BinaryOp::MaxU, 0),
        (ReduxOp::Min, true) => (BinaryOp::MinS, i32::MAX as u32),
        (ReduxOp::Max, true) => (BinaryOp::MaxS, i32::MIN as u32),
        _ => return Err(Unsupported),
    };
    let value = cx.raw(i.a());
    let (value, neutral) = (cx.b.splat(value), cx.int(neutral));
    let executing = cx.executing();
    let mut value = cx.select(Mask::Lanes(executing), value, neutral);
    let lane = cx.b.lane_id();
    let mut distance = 1;
    while distance < u32::from(WARP_LANES) {
        let step = cx.int(distance);
        let partner = cx.b.xor(lane, step);
        let other = cx.b.lane_gather(value, partner);
        value = cx.b.binary(op, value, other);
        distance *= 2;
    }
    set(cx, i, value);
    Ok(Flow::Next)
}
