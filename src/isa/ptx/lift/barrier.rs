//! Barriers of blocks and clusters.
//!
//! Source: facts, `ptx.md` 2.11.

use warploom_guest::divergence::{Mask, first_lane};
use warploom_ir::{Barrier, BarrierCounts, BarrierKind, IntCc, Special, Value};

use super::context::{Cx, Insn};
use crate::module::Operand;
use crate::types::{Kind, Ty};
use crate::word::Word;

/// Returns the barrier of an instruction.
pub fn barrier(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Option<Barrier> {
    let form = insn.form;
    if form.has(Word::Cluster) {
        let kind = if form.has(Word::Arrive) {
            BarrierKind::ClusterArrive
        } else {
            BarrierKind::ClusterWait
        };
        return Some(Barrier {
            kind,
            counts: BarrierCounts::Warps,
            id: cx.word(0),
            threads: None,
            predicate: None,
        });
    }
    let red = form.has(Word::Red);
    let kind = match form.one_of(&[Word::Popc, Word::And, Word::Or, Word::Arrive]) {
        Some(Word::Popc) => BarrierKind::Popcount,
        Some(Word::And) => BarrierKind::And,
        Some(Word::Or) => BarrierKind::Or,
        Some(Word::Arrive) => BarrierKind::Arrive,
        _ => BarrierKind::Sync,
    };
    let operands = if red { insn.operands.get(1..)? } else { insn.operands };
    let (operands, predicate) = match (red, operands) {
        (true, [rest @ .., predicate]) => (rest, Some(predicate)),
        _ => (operands, None),
    };
    let id = uniform(cx, operands.first()?);
    let threads = operands.get(1).map(|operand| uniform(cx, operand));
    let predicate = predicate.map(|operand| {
        let mask = cx.pred(operand);
        cx.mask_value(mask)
    });
    (!cx.is_refused()).then_some(Barrier {
        kind,
        counts: BarrierCounts::Warps,
        id,
        threads,
        predicate,
    })
}

/// Returns the first lane's value of an operand that is equal in all lanes.
fn uniform(cx: &mut Cx<'_>, operand: &Operand) -> Value {
    let value = cx.bits(operand, Ty::U32);
    if cx.b.ty(value).is_uniform() {
        return value;
    }
    let active = cx.active();
    let first = first_lane(&mut cx.b, active);
    cx.b.lane_read(value, first)
}

/// Writes the result of a reducing barrier.
pub fn take_result(cx: &mut Cx<'_>, operands: &[Operand]) {
    let Some(destination) = operands.first() else { return };
    let result = cx.b.special(Special::BarrierResult);
    let of_predicate =
        matches!(*destination, Operand::Register(r) if cx.register_type(r).kind() == Kind::Pred);
    if !of_predicate {
        return cx.set(destination, Ty::U32, result);
    }
    let zero = cx.word(0);
    let set = cx.b.icmp(IntCc::Ne, result, zero);
    cx.set_pred(destination, Mask::Lanes(set));
}
