//! Recognizes 64-bit compares that 32-bit code makes of the difference of halves: `IADD RZ.CC` then
//! `ISETP.X` of Maxwell.

use warploom_ir::{BinaryOp, IntCc, Op, Type, UnaryOp, Value, ValueType, Window};

use super::editor::Editor;

/// `a - b` of two pairs of words, computed as `a + ~b + 1` and `a + ~b + carry`.
pub(super) struct Difference {
    pub a: [Value; 2],
    pub b: [Value; 2],
    /// The low word of the difference.
    low: Value,
}

impl Editor {
    /// Returns the difference whose upper word and carry out are the results of instruction
    /// `upper`.
    pub(super) fn difference_of_pairs(&self, upper: usize, window: Window) -> Option<Difference> {
        let Op::AddCarry { a: a1, b: b1, carry: Some(carry) } = self.insts[upper].op else {
            return None;
        };
        let (lower, result) = self.def_at(carry);
        let Op::AddCarry { a: a0, b: b0, carry: Some(one) } = self.insts[lower].op else {
            return None;
        };
        // 64-bit words would be the halves of 128-bit values.
        let same = result == 1
            && self.is_all_lanes(one)
            && [a0, a1].iter().all(|&word| self.ty(word).ty == Type::I32);
        let in_window = [lower, upper].iter().all(|&at| self.insts[at].window == window);
        (same && in_window).then(|| Difference {
            a: [a0, a1],
            b: [b0, b1],
            low: self.insts[lower].results[0],
        })
    }

    /// Returns the difference with its subtrahend in `b`, which held the inverted subtrahend.
    fn inverted_back(&mut self, difference: Difference) -> Option<Difference> {
        let mut back = difference.b;
        for word in &mut back {
            *word = match *self.def(*word) {
                Op::Unary { op: UnaryOp::Not, a } => a,
                Op::Const { ty, bits } => self.iconst(ty, !bits),
                _ => return None,
            };
        }
        Some(Difference { b: back, ..difference })
    }

    /// Returns the compare `cc` of the two pairs of a difference.
    fn compare_pairs(
        &mut self,
        cc: IntCc,
        difference: Difference,
        window: Window,
    ) -> Option<Value> {
        let Difference { a, b, .. } = self.inverted_back(difference)?;
        let [a, b] = [a, b].map(|[lo, hi]| self.concat(lo, hi, window));
        // The carry of uniform words is not a mask of lanes.
        if self.ty(a).is_uniform() && self.ty(b).is_uniform() {
            return None;
        }
        Some(self.pure(Op::ICmp { cc, a, b }, window, &[ValueType::MASK])[0])
    }

    /// Returns the unsigned compare `a >= b` that equals the carry out of a difference of pairs.
    pub(super) fn compare_of_carry(&mut self, upper: usize, window: Window) -> Option<Value> {
        let difference = self.difference_of_pairs(upper, window)?;
        self.compare_pairs(IntCc::GeU, difference, window)
    }

    /// Returns the signed compare `a < b` that equals `negative ^ overflow` of a difference of
    /// pairs.
    pub(super) fn compare_of_signs(&mut self, x: Value, y: Value, window: Window) -> Option<Value> {
        for (negative, overflow) in [(x, y), (y, x)] {
            let [Some(upper), Some(signs)] =
                [negative, overflow].map(|v| self.compared_with_zero(IntCc::LtS, v))
            else {
                continue;
            };
            let (at, 0) = self.def_at(upper) else { continue };
            let Some((p, q)) = self.matches_binary(signs, BinaryOp::And) else { continue };
            let Some(difference) = self.difference_of_pairs(at, window) else { continue };
            let [a, b] = [difference.a[1], difference.b[1]];
            let differ = |v: Value, from: Value| self.is_xor(v, from, upper);
            if (differ(p, a) && differ(q, b)) || (differ(p, b) && differ(q, a)) {
                return self.compare_pairs(IntCc::LtS, difference, window);
            }
        }
        None
    }

    /// Returns the compare `a <= b` that equals `a < b` or `a - b == 0` of two pairs.
    ///
    /// An unsigned `less` is an inverted `a >= b`.
    pub(super) fn compare_or_equal(
        &mut self,
        less: Value,
        equal: Value,
        window: Window,
    ) -> Option<Value> {
        let (inverted, less) = match *self.def(less) {
            Op::Unary { op: UnaryOp::Not, a } => (true, a),
            _ => (false, less),
        };
        let (cc, x, y) = match (inverted, self.def(less)) {
            (true, &Op::ICmp { cc: IntCc::GeU, a, b }) => (IntCc::GtU, a, b),
            (false, &Op::ICmp { cc: IntCc::LtS, a, b }) => (IntCc::LeS, a, b),
            _ => return None,
        };
        let (p, q) = self.matches_binary(equal, BinaryOp::And)?;
        for (low, high) in [(p, q), (q, p)] {
            let [Some(low), Some(high)] =
                [low, high].map(|v| self.compared_with_zero(IntCc::Eq, v))
            else {
                continue;
            };
            let (at, 0) = self.def_at(high) else { continue };
            let difference = self.difference_of_pairs(at, window).filter(|found| found.low == low);
            let Some(Difference { a, b, .. }) =
                difference.and_then(|found| self.inverted_back(found))
            else {
                continue;
            };
            let [a, b] = [a, b].map(|[lo, hi]| self.concat(lo, hi, window));
            if (a, b) == (x, y) {
                let compare = self.pure(Op::ICmp { cc, a, b }, window, &[ValueType::MASK])[0];
                return Some(if inverted { self.not_mask(compare) } else { compare });
            }
        }
        None
    }

    /// Returns the compare of pairs that equals `upper` or `rest`: `upper` compares the upper words,
    /// `rest` says that the upper words are equal and compares the low words.
    pub(super) fn compare_word_by_word(
        &mut self,
        upper: Value,
        rest: Value,
        window: Window,
    ) -> Option<Value> {
        use IntCc::{Eq, GeS, GeU, GtS, GtU, LeS, LeU, LtS, LtU};
        let &Op::ICmp { cc: of_upper, a: a1, b: b1 } = self.def(upper) else { return None };
        let (p, q) = self.matches_binary(rest, BinaryOp::And)?;
        for (equal, lower) in [(p, q), (q, p)] {
            let (&Op::ICmp { cc: Eq, a: x, b: y }, &Op::ICmp { cc, a: a0, b: b0 }) =
                (self.def(equal), self.def(lower))
            else {
                continue;
            };
            let cc = match (of_upper, cc) {
                (GtU, GtU | GeU) | (LtU, LtU | LeU) => cc,
                (GtS, GtU) => GtS,
                (GtS, GeU) => GeS,
                (LtS, LtU) => LtS,
                (LtS, LeU) => LeS,
                _ => continue,
            };
            let words = [a0, b0, a1, b1];
            let are_words = words.iter().all(|&word| self.ty(word).ty == Type::I32);
            let is_varying = words.iter().any(|&word| !self.ty(word).is_uniform());
            let in_window = [upper, rest, equal, lower]
                .iter()
                .all(|&v| self.insts[self.def_at(v).0].window == window);
            if (x, y) == (a1, b1) && are_words && is_varying && in_window {
                let [a, b] = [[a0, a1], [b0, b1]].map(|[lo, hi]| self.concat(lo, hi, window));
                return Some(self.pure(Op::ICmp { cc, a, b }, window, &[ValueType::MASK])[0]);
            }
        }
        None
    }

    /// Returns the compare of pairs that LLVM makes of selects for AMD's GPUs.
    ///
    /// The selects compare low words where the upper words are equal, and upper words elsewhere.
    /// They give numbers that are not 0 where the compare holds.
    pub(super) fn compare_of_choice(&mut self, op: &Op, window: Window) -> Option<Value> {
        let &Op::ICmp { cc: IntCc::Ne, a: number, b: zero } = op else { return None };
        let &Op::Select { mask: equal, a: lower, b: upper } = self.def(number) else { return None };
        if self.constant(zero) != Some(0) || self.insts[self.def_at(number).0].window != window {
            return None;
        }
        let mask = |v: Value| match *self.def(v) {
            Op::Select { mask, a, b } => {
                let is_number =
                    self.constant(a).is_some_and(|bits| bits != 0) && self.constant(b) == Some(0);
                is_number.then_some(self.def(mask))
            }
            _ => None,
        };
        let (
            &Op::ICmp { cc: IntCc::Eq, a: p, b: q },
            Some(&Op::ICmp { cc, a: a0, b: b0 }),
            Some(&Op::ICmp { cc: of_upper, a: a1, b: b1 }),
        ) = (self.def(equal), mask(lower), mask(upper))
        else {
            return None;
        };
        // Here the upper words differ: `>=` and `>` are equal, as are `<=` and `<`.
        let cc = match (cc, of_upper) {
            (IntCc::GeU | IntCc::GtU, IntCc::GeU | IntCc::GtU)
            | (IntCc::LeU | IntCc::LtU, IntCc::LeU | IntCc::LtU) => cc,
            _ => return None,
        };
        let is_varying = [a0, b0, a1, b1].iter().any(|&word| !self.ty(word).is_uniform());
        let are_words = [a0, a1].iter().all(|&word| self.ty(word).ty == Type::I32);
        if !is_varying || !are_words || !((p, q) == (a1, b1) || (q, p) == (a1, b1)) {
            return None;
        }
        let [a, b] = [[a0, a1], [b0, b1]].map(|[lo, hi]| self.concat(lo, hi, window));
        Some(self.pure(Op::ICmp { cc, a, b }, window, &[ValueType::MASK])[0])
    }

    /// Returns the value that a mask compares with 0 by `wanted`.
    fn compared_with_zero(&self, wanted: IntCc, mask: Value) -> Option<Value> {
        match *self.def(mask) {
            Op::ICmp { cc, a, b } if cc == wanted && self.constant(b) == Some(0) => Some(a),
            _ => None,
        }
    }

    fn is_xor(&self, v: Value, a: Value, b: Value) -> bool {
        match *self.def(v) {
            Op::Binary { op: BinaryOp::Xor, a: x, b: y } => (x, y) == (a, b) || (x, y) == (b, a),
            Op::Unary { op: UnaryOp::Not, a: x } => {
                x == b && self.constant(a) == Some(self.ty(b).ty.bit_mask())
            }
            _ => v == b && self.constant(a) == Some(0),
        }
    }
}
