//! Barriers of the block and fences.
//!
//! Source: facts, `maxwell-semantics.md` 8 (BAR, MEMBAR) and 5 (B2R).

use warploom_guest::divergence::{Mask, first_lane, nonzero};
use warploom_ir::{Barrier, BarrierCounts, BarrierKind, Special, Value};

use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use crate::field::{BarrierPart, BarrierReduction, FenceLevel};
use crate::{Instruction, Role, Source};

/// Returns an operand of a barrier as one number for the warp: the number of the first lane.
fn operand(cx: &mut Cx<'_>, source: Source) -> Value {
    if let Some(imm) = source.imm() {
        return cx.int(imm as u32);
    }
    let value = cx.raw(source);
    if cx.b.ty(value).is_uniform() {
        return value;
    }
    let lanes = cx.executing();
    let lane = first_lane(&mut cx.b, lanes);
    cx.b.lane_read(value, lane)
}

fn barrier(
    cx: &mut Cx<'_>,
    i: &Instruction,
    kind: BarrierKind,
    predicate: Option<Value>,
) -> Lifted {
    let id = operand(cx, i.a());
    let bound = cx.int(15);
    let id = cx.b.and(id, bound);
    // A count of 0, or none, means all threads of the block.
    let counted = i.source(Role::B).filter(|threads| threads.imm() != Some(0));
    let threads = counted.map(|threads| operand(cx, threads));
    Ok(Flow::Barrier(Barrier { kind, counts: BarrierCounts::Warps, id, threads, predicate }))
}

pub fn bar_sync(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    barrier(cx, i, BarrierKind::Sync, None)
}

pub fn bar_arv(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    barrier(cx, i, BarrierKind::Arrive, None)
}

pub fn bar_red(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let kind = match i.barrier_reduction() {
        BarrierReduction::Popc => BarrierKind::Popcount,
        BarrierReduction::And => BarrierKind::And,
        BarrierReduction::Or => BarrierKind::Or,
        BarrierReduction::Reserved => return Err(Unsupported),
    };
    let (choice, lanes) = (cx.pred(i.ps()), Mask::Lanes(cx.executing()));
    let predicate = cx.and(lanes, choice).value(&mut cx.b);
    barrier(cx, i, kind, Some(predicate))
}

/// Lifts B2R: the result of the last BAR.RED, as a number and as a predicate that it is not 0.
pub fn b2r(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.barrier_part() != BarrierPart::Result {
        return Err(Unsupported);
    }
    let result = cx.b.special(Special::BarrierResult);
    cx.set(i.d(), result);
    let truth = nonzero(&mut cx.b, result);
    cx.set_pred(i.pd(), Mask::Lanes(truth));
    Ok(Flow::Next)
}

/// Lifts MEMBAR. The warps of a block share a host thread, which sees its own effects in order.
pub fn membar(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    match i.fence_level() {
        FenceLevel::Cta => cx.b.observe_fence(),
        _ => cx.b.fence(),
    }
    Ok(Flow::Next)
}
