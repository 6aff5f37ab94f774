//! Fusion: 64-bit values that 32-bit code computes in halves, and 32-bit products that it computes in 16-bit parts.
//!
//! The shapes are those that lifters produce on purpose; each rule says which code makes it. The rules apply while a
//! block is rebuilt by the [`Editor`], so an operand has been fused before its user is looked at.

use super::editor::Editor;
use crate::ir::{BinaryOp, ConvertOp, Op, Type, Value, Window};

impl Editor {
    /// `concat(lo, hi)` as one 64-bit operation.
    pub(super) fn simplify_concat(&mut self, lo: Value, hi: Value, window: Window) -> Option<Value> {
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
        if let (Some(l), Some(h)) = (self.constant(lo), self.constant(hi))
            && self.ty(lo).is_uniform()
            && self.ty(hi).is_uniform()
        {
            return Some(self.iconst(Type::I64, l | h << 32));
        }
        if self.constant(hi) == Some(0) && (self.ty(hi).is_uniform() || !self.ty(lo).is_uniform()) {
            return Some(self.convert(ConvertOp::ZeroExtend, Type::I64, lo, window));
        }
        self.fuse_carry_chain(lo, hi, window)
            .or_else(|| self.fuse_sign(lo, hi, window))
            .or_else(|| self.fuse_shift(lo, hi, window))
    }

    /// `add.cc` then `addc`: the sum of two pairs.
    fn fuse_carry_chain(&mut self, lo: Value, hi: Value, window: Window) -> Option<Value> {
        let (lo_at, lo_result) = self.def_at(lo);
        let (hi_at, hi_result) = self.def_at(hi);
        if lo_result != 0 || hi_result != 0 {
            return None;
        }
        let (Op::AddCarry { a: a0, b: b0, carry: None }, Op::AddCarry { a: a1, b: b1, carry: Some(carry) }) =
            (self.insts[lo_at].op.clone(), self.insts[hi_at].op.clone())
        else {
            return self.fuse_subtract_chain(lo_at, hi_at, window);
        };
        if self.def_at(carry) != (lo_at, 1) || self.insts[lo_at].window != window {
            return None;
        }
        let a = self.concat(a0, a1, window);
        let b = self.concat(b0, b1, window);
        Some(self.binary(BinaryOp::Add, a, b, window))
    }

    /// `sub.cc` then `subc`, lifted as `a + ~b + 1` and `a + ~b + carry`: the difference of two pairs.
    fn fuse_subtract_chain(&mut self, lo_at: usize, hi_at: usize, window: Window) -> Option<Value> {
        let (Op::AddCarry { a: a0, b: b0, carry: Some(one) }, Op::AddCarry { a: a1, b: b1, carry: Some(carry) }) =
            (self.insts[lo_at].op.clone(), self.insts[hi_at].op.clone())
        else {
            return None;
        };
        let inverted = |v: Value| match *self.def(v) {
            Op::Unary { op: crate::ir::UnaryOp::Not, a } => Some(a),
            _ => None,
        };
        if self.constant(one) != Some(u64::MAX) || self.def_at(carry) != (lo_at, 1) {
            return None;
        }
        let (b0, b1) = (inverted(b0)?, inverted(b1)?);
        let a = self.concat(a0, a1, window);
        let b = self.concat(b0, b1, window);
        Some(self.binary(BinaryOp::Sub, a, b, window))
    }

    /// `(x, x >> 31)`: a sign-extended word.
    fn fuse_sign(&mut self, lo: Value, hi: Value, window: Window) -> Option<Value> {
        match *self.def(hi) {
            Op::Binary { op: BinaryOp::ShrS, a, b } if a == lo && self.constant(b) == Some(31) => {
                Some(self.convert(ConvertOp::SignExtend, Type::I64, lo, window))
            }
            _ => None,
        }
    }

    /// `(x << k, x >> 32 - k)`: an extended word shifted left; with a funnel `(x << k, high(x:y << k))` a pair.
    fn fuse_shift(&mut self, lo: Value, hi: Value, window: Window) -> Option<Value> {
        let Op::Binary { op: BinaryOp::Shl, a: x, b: count } = *self.def(lo) else { return None };
        let k = self.constant(count)?;
        match *self.def(hi) {
            Op::Binary { op: op @ (BinaryOp::ShrS | BinaryOp::ShrU), a, b }
                if a == x && (1..32).contains(&k) && self.constant(b) == Some(32 - k) =>
            {
                let extend = if op == BinaryOp::ShrS { ConvertOp::SignExtend } else { ConvertOp::ZeroExtend };
                let wide = self.convert(extend, Type::I64, x, window);
                let count = self.iconst(Type::I64, k);
                Some(self.binary(BinaryOp::Shl, wide, count, window))
            }
            Op::Convert { op: ConvertOp::HighHalf, a: shifted, .. } => match *self.def(shifted) {
                Op::Binary { op: BinaryOp::Shl, a: pair, b } if self.constant(b) == Some(k) && self.low_is(pair, x) => {
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

    /// Maxwell's 32-bit product: `XMAD t = A*B + C; XMAD.MRG u = A*B.H1; XMAD.PSL.CBCC r = A.H1*u.H1 + t`, lifted as
    /// `r = (hi(A)*hi(u) << 16) + (t + (u << 16))` with `u = (lo(A)*hi(B) & 0xffff) | (B << 16)` and
    /// `t = lo(A)*lo(B) + C`, is `A*B + C`.
    pub(super) fn fuse_multiply(&mut self, p: Value, q: Value, window: Window) -> Option<Value> {
        let (a, u) = {
            let shifted = self.matches_shift(p, 16)?;
            let (x, y) = self.matches_binary(shifted, BinaryOp::Mul)?;
            (self.high_part(x)?, self.high_part(y)?)
        };
        let (t, u16) = self.matches_binary(q, BinaryOp::Add)?;
        if self.matches_shift(u16, 16)? != u {
            return None;
        }
        let (product, shifted_b) = self.matches_binary(u, BinaryOp::Or)?;
        let b = self.matches_shift(shifted_b, 16)?;
        // u's low half: the product of lo(A) and hi(B), plus nothing.
        let low = self.low_part(product)?;
        let (x, y) = self.matches_binary(low, BinaryOp::Mul)?;
        if self.low_part(x)? != a || self.high_part(y)? != b {
            return None;
        }
        // t = lo(A) * lo(B) + C, or the bare product.
        let is_low_product = |e: &Editor, v: Value| {
            e.matches_binary(v, BinaryOp::Mul)
                .is_some_and(|(x, y)| e.low_part(x) == Some(a) && e.low_part(y) == Some(b))
        };
        let addend = if is_low_product(self, t) {
            None
        } else {
            let (x, y) = self.matches_binary(t, BinaryOp::Add)?;
            if !is_low_product(self, x) {
                return None;
            }
            Some(y)
        };
        let full = self.binary(BinaryOp::Mul, a, b, window);
        Some(match addend {
            Some(c) => self.binary(BinaryOp::Add, full, c, window),
            None => full,
        })
    }

    fn matches_binary(&self, v: Value, wanted: BinaryOp) -> Option<(Value, Value)> {
        match *self.def(v) {
            Op::Binary { op, a, b } if op == wanted => Some((a, b)),
            _ => None,
        }
    }

    fn matches_shift(&self, v: Value, count: u64) -> Option<Value> {
        let (a, b) = self.matches_binary(v, BinaryOp::Shl)?;
        (self.constant(b) == Some(count)).then_some(a)
    }

    /// `x` of `x >> 16`.
    fn high_part(&self, v: Value) -> Option<Value> {
        let (a, b) = self.matches_binary(v, BinaryOp::ShrU)?;
        (self.constant(b) == Some(16)).then_some(a)
    }

    /// `x` of `x & 0xffff`.
    fn low_part(&self, v: Value) -> Option<Value> {
        let (a, b) = self.matches_binary(v, BinaryOp::And)?;
        (self.constant(b) == Some(0xffff)).then_some(a)
    }
}
