//! Exchange between lanes.
//!
//! Source: facts, `maxwell-semantics.md` 7.

use warploom_guest::divergence::{Mask, nonzero};
use warploom_ir::{IntCc, Type, Value};

use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use crate::field::{ShuffleMode, VoteMode};
use crate::{Instruction, Source};

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
    let (from, in_range) = match i.shuffle_mode() {
        ShuffleMode::Up => {
            let from = cx.b.sub(lane, step);
            (from, cx.b.icmp(IntCc::GeS, from, last))
        }
        ShuffleMode::Down => {
            let from = cx.b.add(lane, step);
            (from, cx.b.icmp(IntCc::LeS, from, last))
        }
        ShuffleMode::Bfly => {
            let from = cx.b.xor(lane, step);
            (from, cx.b.icmp(IntCc::LeS, from, last))
        }
        ShuffleMode::Idx => {
            let from = if whole_warp {
                step
            } else {
                let inside = cx.b.not(segment);
                let within = cx.b.and(step, inside);
                cx.b.or(first, within)
            };
            (from, cx.b.icmp(IntCc::LeS, from, last))
        }
    };
    let index = cx.b.select(in_range, from, lane);
    let result = cx.b.lane_gather(value, index);
    cx.set(i.d(), result);
    cx.set_pred(i.pd(), Mask::Lanes(in_range));
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

/// Lifts VOTE, over the executing lanes: D = the lanes where Ps holds. Pd = whether Ps holds in any
/// lane, in all lanes, or equally in all lanes.
pub fn vote(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mode = i.vote_mode();
    if mode == VoteMode::Reserved {
        return Err(Unsupported);
    }
    let voters = Mask::Lanes(cx.executing());
    let choice = cx.pred(i.ps());
    let yes = cx.and(voters, choice);
    if i.pd() != 7 {
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
        cx.set_pred(i.pd(), verdict);
    }
    let ballot = yes.value(&mut cx.b);
    let ballot = cx.b.from_mask(ballot);
    let ballot = cx.b.trunc(Type::I32, ballot);
    cx.set(i.d(), ballot);
    Ok(Flow::Next)
}

/// Returns all lanes if the mask has a lane.
fn anybody(cx: &mut Cx<'_>, mask: Mask) -> Mask {
    match mask {
        Mask::Lanes(lanes) => Mask::Lanes(nonzero(&mut cx.b, lanes)),
        known => known,
    }
}
