//! Rebuilds a block without the values that nothing sees.

use cranelift_entity::packed_option::ReservedValue;
use warploom_ir::{BinaryOp, ConvertOp, Inst, Op, Terminator, Type, UnaryOp, Value, table};

use super::super::editor::Editor;
use super::super::narrow::{LowWords, is_low_word, low_word};
use super::super::pairs::{Pairs, pair};
use super::super::rules::{LOW_WORDS, PAIR_ACCESS};
use super::{Demand, Seen};

impl Demand<'_> {
    /// Returns an operand that equals the result in all lanes that are seen.
    pub(super) fn stand_in(&self, op: &Op, seen: &Seen) -> Option<Value> {
        let Seen::Under(masks) = seen else { return None };
        let within = |m: Value| masks.iter().all(|s| self.editor.is_subset(s, m));
        let outside = |m: Value| masks.iter().all(|s| self.editor.is_disjoint(m, s));
        match *op {
            Op::Select { mask, a, .. } if within(mask) && !self.editor.ty(a).is_uniform() => {
                Some(a)
            }
            Op::Select { mask, b, .. } if outside(mask) && !self.editor.ty(b).is_uniform() => {
                Some(b)
            }
            Op::Binary { op: BinaryOp::And, a, b } if self.is_mask_op(op) => {
                if within(b) {
                    Some(a)
                } else if within(a) {
                    Some(b)
                } else {
                    None
                }
            }
            Op::Binary { op: BinaryOp::Or, a, b } if self.is_mask_op(op) => {
                if outside(a) || within(b) {
                    Some(b)
                } else if outside(b) || within(a) {
                    Some(a)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// Whether an operation may be left out if no one sees its results.
    pub(super) fn is_removable(&self, op: &Op) -> bool {
        op.traits().reads_registers || self.editor.is_pure(op)
    }

    /// Whether no one sees a result of an instruction that has no purpose but its results.
    pub(super) fn is_needless(&self, inst: &Inst) -> bool {
        inst.results.iter().all(|&v| self.is_unseen(v)) && self.is_removable(&inst.op)
    }

    /// Returns the values of which only the low words are used.
    pub(super) fn low_words(&self) -> LowWords {
        let mut words = LowWords::new(self.editor.values.len());
        if !self.editor.rules.has(LOW_WORDS) {
            return words;
        }
        self.term.for_each_operand(|v| words.is_used(v));
        for (index, inst) in self.editor.insts.iter().enumerate().rev() {
            match inst.results[..] {
                [result] if self.alias[result].is_some() => {
                    let alias = self.alias[result].expect("just seen");
                    words.stands_for(result, alias);
                }
                _ if self.is_needless(inst) || self.is_dead(index) => {}
                _ => words.note(self.editor, &self.taken(index), &inst.results),
            }
        }
        words
    }

    /// Whether [`Demand::replay`] would emit the same instructions again: they are simplified and
    /// shared already.
    pub(super) fn keeps_all(&self, words: &LowWords, pairs: &Pairs) -> bool {
        self.dead.is_empty()
            && self.instead.is_empty()
            && !words.any()
            && !pairs.any()
            && self.alias.values().all(Option::is_none)
            && self.editor.insts.iter().all(|inst| {
                let becomes_sum = inst.results.get(1).is_some_and(|&carry| self.is_unseen(carry))
                    && plain_sum(self.editor, &inst.op).is_some();
                !becomes_sum && !self.is_needless(inst)
            })
    }

    pub(super) fn replay(&self, words: &LowWords, pairs: &Pairs) -> (Editor, Terminator) {
        let mut out = Editor::new(self.editor.lanes, self.editor.insts.len(), self.editor.rules);
        out.firings = self.editor.firings.clone();
        let mut map = table(self.editor.values.len(), Value::reserved_value());
        for (index, inst) in self.editor.insts.iter().enumerate() {
            if let [result] = inst.results[..]
                && let Some(alias) = self.alias[result]
            {
                map[result] = map[alias];
                continue;
            }
            if self.is_needless(inst) || self.is_dead(index) {
                continue;
            }
            out.pc = inst.pc;
            let taken = self.taken(index);
            let is_word_of = is_low_word(self.editor, &taken);
            if let [result] = inst.results[..]
                && (is_word_of || words.contains(result))
            {
                // The replacement of an operand may be a low word too.
                let is_word = |out: &Editor, v: Value| out.ty(out.current(map[v])).ty == Type::I32;
                if !is_word_of || taken.operands().iter().any(|&v| is_word(&out, v)) {
                    let word = |out: &mut Editor, v: Value| {
                        let new = out.current(map[v]);
                        if is_word(out, v) {
                            return new;
                        }
                        out.convert(ConvertOp::Trunc, Type::I32, new, inst.window)
                    };
                    out.firings.note(LOW_WORDS);
                    map[result] = low_word(&mut out, &taken, inst.window, word);
                    continue;
                }
            }
            let mut op = taken.into_owned();
            op.map_operands(|v| out.current(map[v]));
            if inst.results.get(1).is_some_and(|&carry| self.is_unseen(carry))
                && let Some((op, a, b)) = plain_sum(&out, &op)
            {
                let sum = out.binary(op, a, b, inst.window);
                let wanted = self.editor.ty(inst.results[0]);
                map[inst.results[0]] = out.shaped(sum, wanted, inst.window);
                continue;
            }
            if pairs.contains(index)
                && let Some(results) = pair(&mut out, &op, inst.window)
            {
                out.firings.note(PAIR_ACCESS);
                for (old, new) in inst.results.iter().zip(results) {
                    map[*old] = new;
                }
                continue;
            }
            let types = inst.types(&self.editor.values);
            let results = if out.is_pure(&op) {
                out.pure(op, inst.window, types)
            } else {
                out.push(op, inst.window, types)
            };
            for (old, new) in inst.results.iter().zip(results) {
                map[*old] = new;
            }
        }
        let mut term = self.term.clone();
        term.map_operands(|v| out.current(map[v]));
        (out, term)
    }
}

/// Returns the sum or difference that equals an addition with carry whose carry out no one reads.
///
/// The addition has no carry in, or is the difference `a + ~b + 1`.
fn plain_sum(known: &Editor, op: &Op) -> Option<(BinaryOp, Value, Value)> {
    let Op::AddCarry { a, b, carry } = *op else { return None };
    match carry {
        None => Some((BinaryOp::Add, a, b)),
        Some(carry) if known.constant(carry) == Some(0) => Some((BinaryOp::Add, a, b)),
        Some(carry) if known.is_all_lanes(carry) => match *known.def(b) {
            Op::Unary { op: UnaryOp::Not, a: b } => Some((BinaryOp::Sub, a, b)),
            _ => None,
        },
        _ => None,
    }
}
