//! Fuses 64-bit values that 32-bit code computes in halves.
//!
//! Lifters produce the matched shapes on purpose; each rule says which code makes its shape. The
//! [`Editor`] applies the rules while it rebuilds a block, so operands are fused before their
//! users.

use warploom_ir::{BinaryOp, ConvertOp, IntCc, Op, Type, Value, ValueType, Window};

use super::editor::Editor;
use super::visits::visit;

/// The most pairs of words that the search for choices between halves visits.
const MOST_CHOICES: u32 = 32;

/// The deepest nesting of fused pairs.
const MOST_NESTED: u32 = 64;

impl Editor {
    /// Simplifies `concat(lo, hi)` to one 64-bit operation, if a rule applies.
    pub(super) fn simplify_concat(
        &mut self,
        lo: Value,
        hi: Value,
        window: Window,
    ) -> Option<Value> {
        let (lo, hi) = (self.current(lo), self.current(hi));
        if let Some(&known) = self.pairs.get(&(lo, hi, window)) {
            return Some(known);
        }
        if self.nested == MOST_NESTED {
            return None;
        }
        self.nested += 1;
        let fused = self.fuse_halves(lo, hi, window);
        self.nested -= 1;
        let fused = fused?;
        self.pairs.insert((lo, hi, window), fused);
        self.low_words.insert(fused, lo);
        Some(fused)
    }

    fn fuse_halves(&mut self, lo: Value, hi: Value, window: Window) -> Option<Value> {
        // The halves of one value.
        if let (
            Op::Convert { op: ConvertOp::Trunc, to: Type::I32, a: x },
            Op::Convert { op: ConvertOp::HighHalf, a: y, .. },
        ) = (self.def(lo).clone(), self.def(hi).clone())
            && x == y
            && self.ty(x).ty == Type::I64
        {
            return Some(x);
        }
        if let (Some(l), Some(h)) = (self.constant(lo), self.constant(hi)) {
            return Some(self.iconst(Type::I64, l | h << 32));
        }
        if self.constant(hi) == Some(0) && (self.ty(hi).is_uniform() || !self.ty(lo).is_uniform()) {
            return Some(self.convert(ConvertOp::ZeroExtend, Type::I64, lo, window));
        }
        self.rewrite(&Op::Concat { lo, hi }, window)
    }

    /// Whether words are the halves of a varying 64-bit value, or choices between halves of such
    /// values.
    pub(super) fn are_halves(&self, lo: Value, hi: Value) -> bool {
        self.are_halves_within(lo, hi, &mut { MOST_CHOICES })
    }

    /// Whether a search of at most `left` pairs finds that words are halves.
    ///
    /// Choices share their arms, so there are many more paths through choices than choices.
    fn are_halves_within(&self, lo: Value, hi: Value, left: &mut u32) -> bool {
        visit();
        let Some(rest) = left.checked_sub(1) else { return false };
        *left = rest;
        match (self.def(lo), self.def(hi)) {
            (
                &Op::Convert { op: ConvertOp::Trunc, to: Type::I32, a },
                &Op::Convert { op: ConvertOp::HighHalf, a: other, .. },
            ) => a == other && self.ty(a) == ValueType::varying(Type::I64),
            (&Op::Select { mask, a, b }, &Op::Select { mask: other, a: c, b: d }) => {
                mask == other
                    && self.are_halves_within(a, c, left)
                    && self.are_halves_within(b, d, left)
            }
            _ => false,
        }
    }

    /// Fuses two choices by one mask, one for each half, to a choice between 64-bit values.
    pub(super) fn fuse_choice(&mut self, lo: Value, hi: Value, window: Window) -> Option<Value> {
        let (&Op::Select { mask, a, b }, &Op::Select { mask: other, a: c, b: d }) =
            (self.def(lo), self.def(hi))
        else {
            return None;
        };
        let are_pairs = [(a, c), (b, d)].iter().all(|&(lo, hi)| {
            let uniform = self.ty(lo).is_uniform() && self.ty(hi).is_uniform();
            uniform || self.are_halves(lo, hi) || self.are_words_of_sum(lo, hi)
        });
        if mask != other || !are_pairs {
            return None;
        }
        let (a, b) = (self.concat(a, c, window), self.concat(b, d, window));
        Some(self.select(mask, a, b, window))
    }

    /// Whether `lo` is the word of a sum, and `hi` adds the carry of that sum.
    fn are_words_of_sum(&self, lo: Value, hi: Value) -> bool {
        match (self.def(lo), self.def(hi)) {
            (Op::AddCarry { .. }, &Op::AddCarry { carry: Some(carry), .. }) => {
                let (sum, result) = self.def_at(lo);
                result == 0 && self.current(self.insts[sum].results[1]) == self.current(carry)
            }
            _ => false,
        }
    }

    /// Whether `concat(lo, hi)` is likely to become one 64-bit operation: a hint.
    ///
    /// The search looks `depth` operations up.
    fn is_pair(&self, lo: Value, hi: Value, depth: u32) -> bool {
        visit();
        let (lo, hi) = (self.current(lo), self.current(hi));
        match (self.def(lo), self.def(hi)) {
            (
                Op::Convert { op: ConvertOp::Trunc, a, .. },
                Op::Convert { op: ConvertOp::HighHalf, a: b, .. },
            ) => a == b,
            (Op::Binary { op, a, b }, Op::Binary { op: other, a: c, b: d })
                if op == other && is_bitwise(*op) && depth > 0 =>
            {
                self.is_pair(*a, *c, depth - 1) || self.is_pair(*b, *d, depth - 1)
            }
            _ => {
                (self.constant(lo).is_some() && self.constant(hi).is_some())
                    || self.funnels(lo, hi).is_some()
            }
        }
    }

    /// Matches `lo` and `hi` as the halves of a pair that is shifted or rotated by a constant.
    ///
    /// Returns the operation (`Or` for a rotation), the pair's lower and upper word, and the count.
    fn funnels(&self, lo: Value, hi: Value) -> Option<(BinaryOp, (Value, Value), u64)> {
        let count = |v: Value| self.constant(v);
        match (self.funnel(lo), self.funnel(hi)) {
            (Some((upper, lower, k)), Some((lower2, upper2, k2)))
                if (upper, lower, k) == (upper2, lower2, k2) =>
            {
                Some((BinaryOp::Or, (lower, upper), k))
            }
            (Some((upper, lower, k)), None) => match *self.def(hi) {
                Op::Binary { op: op @ (BinaryOp::ShrU | BinaryOp::ShrS), a, b }
                    if self.current(a) == upper && count(b) == Some(k) =>
                {
                    Some((op, (lower, upper), k))
                }
                _ => None,
            },
            (None, Some((upper, lower, k))) => match *self.def(lo) {
                Op::Binary { op: BinaryOp::Shl, a, b }
                    if self.current(a) == lower && count(b) == Some(32 - k) =>
                {
                    Some((BinaryOp::Shl, (lower, upper), 32 - k))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns `upper`, `lower` and `count` of `upper << 32 - count | lower >> count`.
    fn funnel(&self, v: Value) -> Option<(Value, Value, u64)> {
        let (x, y) = self.matches_binary(v, BinaryOp::Or)?;
        let parts = |x: Value, y: Value| {
            let ((upper, up), (lower, down)) =
                (self.matches_binary(x, BinaryOp::Shl)?, self.matches_binary(y, BinaryOp::ShrU)?);
            let (up, down) = (self.constant(up)?, self.constant(down)?);
            let word = self.ty(v).ty == Type::I32 && up > 0 && down > 0 && up + down == 32;
            word.then(|| (self.current(upper), self.current(lower), down))
        };
        parts(x, y).or_else(|| parts(y, x))
    }

    /// Fuses `shf` by a constant and the shift that goes with it, or two `shf` (a rotation), to
    /// operations on a pair.
    pub(super) fn fuse_funnels(&mut self, lo: Value, hi: Value, window: Window) -> Option<Value> {
        let (op, (lower, upper), k) = self.funnels(lo, hi)?;
        let pair = self.concat(lower, upper, window);
        let count = self.iconst(Type::I64, k);
        if op != BinaryOp::Or {
            return Some(self.binary(op, pair, count, window));
        }
        let rest = self.iconst(Type::I64, 64 - k);
        let low = self.binary(BinaryOp::ShrU, pair, count, window);
        let high = self.binary(BinaryOp::Shl, pair, rest, window);
        Some(self.binary(BinaryOp::Or, low, high, window))
    }

    /// Fuses a bitwise operation on both halves, if at least one operand is likely to be a 64-bit
    /// value.
    pub(super) fn fuse_bitwise(&mut self, lo: Value, hi: Value, window: Window) -> Option<Value> {
        let (Op::Binary { op, a, b }, Op::Binary { op: other, a: c, b: d }) =
            (self.def(lo), self.def(hi))
        else {
            return None;
        };
        let (op, other, a, b, c, d) = (*op, *other, *a, *b, *c, *d);
        if op != other || !is_bitwise(op) || self.ty(lo).ty != Type::I32 {
            return None;
        }
        const DEPTH: u32 = 3;
        let any_pair = |c, d| self.is_pair(a, c, DEPTH) || self.is_pair(b, d, DEPTH);
        let (c, d) = if any_pair(c, d) {
            (c, d)
        } else if any_pair(d, c) {
            (d, c)
        } else {
            return None;
        };
        let (first, second) = (self.concat(a, c, window), self.concat(b, d, window));
        Some(self.binary(op, first, second, window))
    }

    /// Fuses `add.cc` then `addc` to the sum of two pairs.
    pub(super) fn fuse_carry_chain(
        &mut self,
        lo: Value,
        hi: Value,
        window: Window,
    ) -> Option<Value> {
        let ((lo_at, 0), (hi_at, 0)) = (self.def_at(lo), self.def_at(hi)) else { return None };
        let (
            Op::AddCarry { a: a0, b: b0, carry: None },
            Op::AddCarry { a: a1, b: b1, carry: Some(carry) },
        ) = (self.insts[lo_at].op.clone(), self.insts[hi_at].op.clone())
        else {
            return None;
        };
        if self.def_at(carry) != (lo_at, 1) || self.insts[lo_at].window != window {
            return None;
        }
        let known = |lo, hi| {
            self.pairs.contains_key(&(self.current(lo), self.current(hi), window))
                || self.is_pair(lo, hi, 0)
        };
        // The high words may be in the opposite order.
        let (a1, b1) = if !known(a0, a1) && !known(b0, b1) && (known(a0, b1) || known(b0, a1)) {
            (b1, a1)
        } else {
            (a1, b1)
        };
        let a = self.concat(a0, a1, window);
        let b = self.concat(b0, b1, window);
        let sum = self.binary(BinaryOp::Add, a, b, window);
        self.is_high_half(lo, hi, sum, window);
        Some(sum)
    }

    /// Replaces the upper word of a chain by the upper half of its sum, for users of the word
    /// alone: they test its sign.
    fn is_high_half(&mut self, lo: Value, hi: Value, sum: Value, window: Window) {
        let half = self.convert(ConvertOp::HighHalf, Type::I32, sum, window);
        let half = self.shaped(half, self.ty(hi), window);
        if half != hi {
            self.replace(hi, half);
            self.pairs.insert((lo, half, window), sum);
        }
    }

    /// Fuses `s_add_u32` then `s_addc_u32`: 64-bit sums of words, the first carry a compare with 0.
    pub(super) fn fuse_wide_sums(&mut self, lo: Value, hi: Value, window: Window) -> Option<Value> {
        let (low, high) = (self.truncated(lo)?, self.truncated(hi)?);
        let (a0, b0) = self.matches_binary(low, BinaryOp::Add)?;
        let (sum, carry) = self.matches_binary(high, BinaryOp::Add)?;
        let sum = match (self.is_carry_of(low, carry), self.is_carry_of(low, sum)) {
            (true, _) => sum,
            (_, true) => carry,
            _ => return None,
        };
        let zero = self.iconst(Type::I64, 0);
        let (a1, b1) = self.matches_binary(sum, BinaryOp::Add).unwrap_or((sum, zero));
        let [a0, b0, a1, b1] = [a0, b0, a1, b1].map(|v| self.extended_word(v));
        let (a0, b0, a1, b1) = (a0?, b0?, a1?, b1?);
        let (a1, b1) = if self.is_pair(a0, b1, 0) { (b1, a1) } else { (a1, b1) };
        let (a, b) = (self.concat(a0, a1, window), self.concat(b0, b1, window));
        Some(self.binary(BinaryOp::Add, a, b, window))
    }

    fn truncated(&self, v: Value) -> Option<Value> {
        match *self.def(v) {
            Op::Convert { op: ConvertOp::Trunc, to: Type::I32, a }
                if self.ty(a) == ValueType::uniform(Type::I64) =>
            {
                Some(a)
            }
            _ => None,
        }
    }

    /// Returns the word that is zero-extended to a uniform `i64`.
    fn extended_word(&mut self, v: Value) -> Option<Value> {
        match *self.def(v) {
            Op::Const { bits, .. } if bits >> 32 == 0 => Some(self.iconst(Type::I32, bits)),
            _ => self.zero_extended(v),
        }
    }

    /// Whether `carry` is 1 if `sum` exceeds 32 bits, and else 0.
    fn is_carry_of(&self, sum: Value, carry: Value) -> bool {
        let Some((flag, one)) = self.matches_binary(carry, BinaryOp::And) else { return false };
        let Op::Convert { op: ConvertOp::FromMask, a: flag, .. } = *self.def(flag) else {
            return false;
        };
        let Op::ICmp { cc: IntCc::Ne, a, b } = *self.def(flag) else { return false };
        let high =
            matches!(*self.def(a), Op::Convert { op: ConvertOp::HighHalf, a, .. } if a == sum);
        high && self.constant(b) == Some(0) && self.constant(one) == Some(1)
    }

    /// Fuses `sub.cc` then `subc`, lifted as `a + ~b + 1` and `a + ~b + carry`, to a difference of
    /// pairs.
    pub(super) fn fuse_subtract_chain(
        &mut self,
        lo: Value,
        hi: Value,
        window: Window,
    ) -> Option<Value> {
        let ((lo_at, 0), (hi_at, 0)) = (self.def_at(lo), self.def_at(hi)) else { return None };
        let (
            Op::AddCarry { a: a0, b: b0, carry: Some(one) },
            Op::AddCarry { a: a1, b: b1, carry: Some(carry) },
        ) = (self.insts[lo_at].op.clone(), self.insts[hi_at].op.clone())
        else {
            return None;
        };
        let inverted = |v: Value| match *self.def(v) {
            Op::Unary { op: warploom_ir::UnaryOp::Not, a } => Some(a),
            _ => None,
        };
        if !self.is_all_lanes(one) || self.def_at(carry) != (lo_at, 1) {
            return None;
        }
        let (b0, b1) = (inverted(b0)?, inverted(b1)?);
        let a = self.concat(a0, a1, window);
        let b = self.concat(b0, b1, window);
        Some(self.binary(BinaryOp::Sub, a, b, window))
    }

    /// Fuses `(x, x >> 31)` to a sign-extended word.
    pub(super) fn fuse_sign(&mut self, lo: Value, hi: Value, window: Window) -> Option<Value> {
        match *self.def(hi) {
            Op::Binary { op: BinaryOp::ShrS, a, b } if a == lo && self.constant(b) == Some(31) => {
                Some(self.convert(ConvertOp::SignExtend, Type::I64, lo, window))
            }
            _ => None,
        }
    }

    /// Fuses `(x << k, x >> 32 - k)` to an extended word shifted left, and, with a funnel,
    /// `(x << k, high(x:y << k))` to a shifted pair.
    pub(super) fn fuse_shift(&mut self, lo: Value, hi: Value, window: Window) -> Option<Value> {
        let (x, k) = match *self.def(lo) {
            Op::Binary { op: BinaryOp::Shl, a, b } => (a, self.constant(b)?),
            // `x + x` is `x << 1`.
            Op::Binary { op: BinaryOp::Add, a, b } if a == b => (a, 1),
            _ => return None,
        };
        match *self.def(hi) {
            Op::Binary { op: op @ (BinaryOp::ShrS | BinaryOp::ShrU), a, b }
                if a == x && (1..32).contains(&k) && self.constant(b) == Some(32 - k) =>
            {
                let extend = if op == BinaryOp::ShrS {
                    ConvertOp::SignExtend
                } else {
                    ConvertOp::ZeroExtend
                };
                let wide = self.convert(extend, Type::I64, x, window);
                let count = self.iconst(Type::I64, k);
                Some(self.binary(BinaryOp::Shl, wide, count, window))
            }
            Op::Convert { op: ConvertOp::HighHalf, a: shifted, .. } => match *self.def(shifted) {
                Op::Binary { op: BinaryOp::Shl, a: pair, b }
                    if self.constant(b) == Some(k) && self.low_is(pair, x) =>
                {
                    Some(shifted)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the low word of `pair` is `x`.
    fn low_is(&self, pair: Value, x: Value) -> bool {
        match *self.def(pair) {
            Op::Concat { lo, .. } => lo == x,
            Op::Convert { op: ConvertOp::SignExtend | ConvertOp::ZeroExtend, a, .. } => a == x,
            _ => match *self.def(x) {
                Op::Convert { op: ConvertOp::Trunc, a, .. } => a == pair,
                _ => false,
            },
        }
    }
}

fn is_bitwise(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor)
}
