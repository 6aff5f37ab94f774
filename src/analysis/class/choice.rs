//! Choices between evenly spaced lanes and one value for all lanes.

use warploom_ir::{BinaryOp, Inst, IntCc, Op, UnaryOp, Value};

use super::{Classes, Constants};

/// A choice between evenly spaced lanes and one value for all lanes.
///
/// Most warps choose the evenly spaced value in all lanes: for example, warps inside of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The evenly spaced value.
    pub chosen: Value,
    /// All lanes choose `chosen` while `a cc b` holds in all lanes. `a` is evenly spaced, and `b`
    /// is one value for all lanes.
    pub cc: IntCc,
    pub a: Value,
    pub b: Value,
}

impl Classes {
    /// Returns the choice that defines a value, if there is one.
    pub fn choice(&self, v: Value) -> Option<Choice> {
        self.choices.get(&v).copied()
    }

    /// Whether a value is evenly spaced because of a choice: its own or one that it is computed
    /// from.
    pub fn relies_on_choice(&self, v: Value) -> bool {
        self.chosen.contains(v)
    }

    pub fn has_choices(&self) -> bool {
        !self.choices.is_empty()
    }

    /// Returns the [`Choice`] that an operation is, if it is one.
    ///
    /// `def` returns definitions that can be computed again.
    pub(super) fn chooses<'b>(
        &self,
        op: &Op,
        def: impl Fn(Value) -> Option<&'b Inst>,
        constants: &Constants,
    ) -> Option<Choice> {
        let moves = |v: Value| self.get(v).stride().is_some_and(|step| step != 0);
        let (cc, [chosen, other], [a, b]) = match *op {
            Op::Select { mask, a, b } => {
                let (mask, negated) = match def(mask)?.op {
                    Op::Unary { op: UnaryOp::Not, a } => (a, true),
                    _ => (mask, false),
                };
                let Op::ICmp { cc, a: x, b: y } = def(mask)?.op else { return None };
                let (holds, lanes) = if moves(a) { (true, [a, b]) } else { (false, [b, a]) };
                (if holds == negated { cc.inverse() } else { cc }, lanes, [x, y])
            }
            Op::Binary { op, a, b } => {
                let cc = match op {
                    BinaryOp::MinS => IntCc::LeS,
                    BinaryOp::MaxS => IntCc::GeS,
                    BinaryOp::MinU => IntCc::LeU,
                    BinaryOp::MaxU => IntCc::GeU,
                    _ => return None,
                };
                let lanes = if moves(a) { [a, b] } else { [b, a] };
                (cc, lanes, lanes)
            }
            _ => return None,
        };
        let (cc, a, b) = self.spaced_compare(cc, a, b)?;
        // If another constant divides lanes, the boundary rarely lies between two warps.
        let is_bound = constants[b].is_none_or(|bits| bits <= 1);
        (moves(chosen) && self.get(other).is_same() && moves(a) && is_bound).then_some(Choice {
            chosen,
            cc,
            a,
            b,
        })
    }
}
