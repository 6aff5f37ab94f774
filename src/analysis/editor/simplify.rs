//! Simplifies operations to existing values or simpler operations.

use smallvec::SmallVec;
use warploom_ir::eval::{binary, fcmp, icmp, lanewise, single};
use warploom_ir::{
    BinaryOp, ConvertOp, FloatAttrs, FloatBinaryOp, FloatCc, IntCc, NanPolicy, Op, Type, UnaryOp,
    Value, ValueType, Window,
};

use super::super::bounds::bound;
use super::super::class::kept_bits;
use super::Editor;

impl Editor {
    /// Returns an existing or simpler value that equals the operation, if one is known.
    pub(super) fn simplify(&mut self, op: &Op, window: Window) -> Option<Value> {
        match *op {
            // Words are folded as one value before rules see them.
            Op::Concat { lo, hi } => self.simplify_concat(lo, hi, window),
            _ => self.fold(op, window).or_else(|| self.rewrite(op, window)),
        }
    }

    /// Returns a value that follows from constants and the identities of algebra.
    fn fold(&mut self, op: &Op, window: Window) -> Option<Value> {
        if let Some(inverse) = self.inverted_compare(op, window) {
            return Some(self.not_mask(inverse));
        }
        match *op {
            Op::Binary { op, a, b } => self.simplify_binary(op, a, b, window),
            Op::Unary { op: UnaryOp::Not, a } => match *self.def(a) {
                Op::Unary { op: UnaryOp::Not, a: inner } => Some(inner),
                Op::Const { ty, bits } => Some(self.iconst(ty, !bits)),
                _ => None,
            },
            Op::Splat { a } if !self.ty(a).is_uniform() => Some(a),
            Op::LaneGather { a, .. } if self.splat_of(a).is_some() => Some(a),
            Op::LaneGather { a, index } => {
                let lane = self.splat_of(index)?;
                let ty = ValueType::uniform(self.ty(a).ty);
                Some(self.pure(Op::LaneRead { a, lane }, window, &[ty])[0])
            }
            Op::LaneRead { a, .. } => self.splat_of(a),
            Op::Select { mask, a, b } => {
                if a == b && !self.ty(a).is_uniform() {
                    return Some(a);
                }
                match self.constant(mask).map(|mask| mask & window.mask()) {
                    Some(0) => return Some(b),
                    Some(mask) if mask == window.mask() => return Some(a),
                    _ => {}
                }
                // In nested selects by one mask, the operand that is never selected goes.
                if let Op::Select { mask: same, a: chosen, .. } = *self.def(a)
                    && same == mask
                    && self.insts[self.def_at(a).0].window == window
                {
                    return Some(self.select(mask, chosen, b, window));
                }
                match *self.def(b) {
                    Op::Select { mask: same, b: rest, .. }
                        if same == mask && self.insts[self.def_at(b).0].window == window =>
                    {
                        Some(self.select(mask, a, rest, window))
                    }
                    _ => None,
                }
            }
            Op::UniformSelect { cond, a, b } => match self.constant(cond) {
                Some(0) => Some(b),
                Some(_) => Some(a),
                None => (a == b).then_some(a),
            },
            Op::Convert { op, to, a } => self.simplify_convert(op, to, a, window),
            Op::FBinary { op: FloatBinaryOp::Add, attrs, a, b } => {
                self.evaluate(op).or_else(|| self.sum_of_negated(attrs, a, b, window))
            }
            Op::ICmp { cc, a, b } => self.simplify_compare(cc, a, b, window),
            _ => self.evaluate(op),
        }
    }

    /// Returns the result of an operation on constants, unless it is a NaN: a NaN's bits depend on
    /// the function.
    fn evaluate(&mut self, op: &Op) -> Option<Value> {
        let operands = op.operands();
        let from = self.ty(*operands.first()?).ty;
        let to = match *op {
            Op::Unary { .. } | Op::FUnary { .. } | Op::FBinary { .. } | Op::Fma { .. } => from,
            Op::FConvert { to, .. } | Op::IntToFloat { to, .. } | Op::FloatToInt { to, .. } => to,
            _ => return None,
        };
        let constants: SmallVec<[[u64; 1]; 3]> =
            operands.iter().map(|&v| Some([self.constant(v)?])).collect::<Option<_>>()?;
        let rows: SmallVec<[&[u64]; 3]> = constants.iter().map(|bits| &bits[..]).collect();
        let some_nan = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0x7fff << 48 };
        let mut out = [0];
        lanewise(op, from, some_nan, (self.lanes, 0), &rows, &mut out)?;
        let is_number = !to.is_float() || fcmp(FloatCc::Num, to, false, &out, &out) != 0;
        is_number.then(|| self.iconst(to, out[0]))
    }

    fn simplify_compare(&mut self, cc: IntCc, a: Value, b: Value, window: Window) -> Option<Value> {
        let (uniform, ty) = (self.ty(a).is_uniform() && self.ty(b).is_uniform(), self.ty(a).ty);
        if !uniform && self.find(&Op::LaneId, window).is_some() {
            // Fold compares of lane numbers, and of values made of lane numbers alone.
            if let (Some(a), Some(b)) = (self.fixed_lanes(a), self.fixed_lanes(b)) {
                return Some(self.lanes_of(icmp(cc, ty, &a, &b) & window.mask()));
            }
        }
        let holds = match (self.constant(a), self.constant(b)) {
            _ if a == b => icmp(cc, ty, &[0], &[0]) != 0,
            (Some(a), Some(b)) => icmp(cc, ty, &[a], &[b]) != 0,
            (None, Some(limit)) => return self.simplify_compare_with(cc, a, (b, limit), window),
            (Some(_), None) => {
                return Some(
                    self.pure(
                        Op::ICmp { cc: cc.swapped(), a: b, b: a },
                        window,
                        &[ValueType::MASK],
                    )[0],
                );
            }
            _ => return None,
        };
        let all = if uniform { u64::MAX } else { window.mask() };
        Some(self.lanes_of(if holds { all } else { 0 }))
    }

    /// Simplifies a compare with the constant `b`, whose bits are `limit`.
    fn simplify_compare_with(
        &mut self,
        cc: IntCc,
        a: Value,
        (b, limit): (Value, u64),
        window: Window,
    ) -> Option<Value> {
        match *self.def(a) {
            // Shifts and products have cleared these bits.
            Op::Binary { op: BinaryOp::And, a, b } if cc == IntCc::Ne && limit == 0 => {
                let low = self.constant(b)?;
                if let Some(mask) = (low == 1).then(|| self.mask_at_lanes(a, window)).flatten() {
                    return Some(mask);
                }
                let cleared = low < 1 << bound(|v| self.ty(v).ty, |v| self.def(v), a).zeros;
                cleared.then(|| self.lanes_of(0))
            }
            // The number was made of a mask.
            Op::Select { mask, a: x, b: y } if self.insts[self.def_at(a).0].window == window => {
                let ty = self.ty(a).ty;
                let known = |v: Value| self.constant(v).map(|v| icmp(cc, ty, &[v], &[limit]) != 0);
                let (these, of) = match (known(x), known(y)) {
                    (Some(true), Some(false)) => (mask, None),
                    (_, Some(false)) => (mask, Some(x)),
                    (Some(false), _) => (self.not_mask(mask), Some(y)),
                    _ => return None,
                };
                let holds = match of {
                    None => these,
                    Some(of) => {
                        let holds =
                            self.pure(Op::ICmp { cc, a: of, b }, window, &[ValueType::MASK])[0];
                        self.and_mask(these, holds)
                    }
                };
                // A compare has no bits beyond its lanes.
                let lanes = self.lanes_of(window.mask());
                Some(self.and_mask(holds, lanes))
            }
            _ => None,
        }
    }

    /// Makes a sum with a negated operand a difference, which is exact in every mode. Guests have
    /// negated operands; the host has none.
    fn sum_of_negated(
        &mut self,
        attrs: FloatAttrs,
        a: Value,
        b: Value,
        window: Window,
    ) -> Option<Value> {
        let negated = |v: Value| match *self.def(v) {
            Op::Unary { op: UnaryOp::FNeg, a } => Some(a),
            _ => None,
        };
        let (a, b) = match (negated(a), negated(b)) {
            (_, Some(b)) => (a, b),
            (Some(a), None) => (b, a),
            _ => return None,
        };
        let uniform = self.ty(a).is_uniform() && self.ty(b).is_uniform();
        let ty = self.ty(a).ty;
        let ty = if uniform { ValueType::uniform(ty) } else { ValueType::varying(ty) };
        Some(self.pure(Op::FBinary { op: FloatBinaryOp::Sub, attrs, a, b }, window, &[ty])[0])
    }

    fn simplify_binary(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        window: Window,
    ) -> Option<Value> {
        let ty = self.ty(a).ty;
        let (ca, cb) = (self.constant(a), self.constant(b));
        let uniform = self.ty(a).is_uniform() && self.ty(b).is_uniform();
        if let (Some(x), Some(y)) = (ca, cb) {
            let folded = single(|out| binary(op, ty, &[x], &[y], out));
            return Some(self.iconst(ty, folded));
        }
        // The kept operand must have the result's shape.
        let keeps = |kept: Value| self.ty(kept).is_uniform() == uniform;
        let ones = Some(ty.bits_of_lanes(self.lanes));
        match op {
            BinaryOp::And => {
                if a == b || (cb == ones && keeps(a)) || (cb == Some(0) && keeps(b)) {
                    return Some(if cb == Some(0) { b } else { a });
                }
                if (ca == ones && keeps(b)) || (ca == Some(0) && keeps(a)) {
                    return Some(if ca == Some(0) { a } else { b });
                }
                if let Some(kept) = cb.and_then(kept_bits)
                    && ty == Type::I32
                    && keeps(a)
                    && self.is_below(a, kept)
                {
                    return Some(a);
                }
                if ty == Type::Mask { self.simplify_mask_and(a, b) } else { None }
            }
            BinaryOp::Or | BinaryOp::Xor | BinaryOp::Add => {
                // A bit and its inverse: the expanded tables of three operands contain these.
                let inverse = |a: Value, b: Value| matches!(*self.def(a), Op::Unary { op: UnaryOp::Not, a } if a == b);
                // Analyses that know how `Not` changes lanes then know this operation too.
                if op == BinaryOp::Xor && cb == ones {
                    return Some(
                        self.pure(Op::Unary { op: UnaryOp::Not, a }, window, &[self.ty(a)])[0],
                    );
                }
                if op != BinaryOp::Add && (inverse(a, b) || inverse(b, a)) {
                    return Some(self.iconst(ty, u64::MAX));
                }
                if op == BinaryOp::Or && (a == b || (cb == ones && keeps(b))) {
                    return Some(b);
                }
                if cb == Some(0) && keeps(a) {
                    return Some(a);
                }
                if ca == Some(0) && keeps(b) {
                    return Some(b);
                }
                if op == BinaryOp::Or && ty == Type::Mask {
                    return self.simplify_mask_or(a, b);
                }
                None
            }
            BinaryOp::Sub | BinaryOp::Shl | BinaryOp::ShrU | BinaryOp::ShrS
                if cb == Some(0) && keeps(a) =>
            {
                Some(a)
            }
            BinaryOp::Mul if cb == Some(1) && keeps(a) => Some(a),
            // Analyses that know how shifts change lanes then know this product too, and hosts
            // shift faster.
            BinaryOp::Mul => {
                let (factor, other) = if cb.is_some() { (cb?, a) } else { (ca?, b) };
                let by = factor
                    .is_power_of_two()
                    .then(|| self.iconst(ty, factor.trailing_zeros().into()))?;
                Some(self.binary(BinaryOp::Shl, other, by, window))
            }
            _ => None,
        }
    }

    /// Whether a value is proven to be less than `1 << bits`.
    fn is_below(&self, v: Value, bits: u32) -> bool {
        bound(|v| self.ty(v).ty, |v| self.def(v), v).max >> bits == 0
    }

    fn simplify_convert(
        &mut self,
        op: ConvertOp,
        to: Type,
        a: Value,
        window: Window,
    ) -> Option<Value> {
        if op == ConvertOp::Bitcast && self.ty(a).ty == to {
            return Some(a);
        }
        if let Some(bits) = self.constant(a) {
            return match op {
                ConvertOp::Trunc
                | ConvertOp::ZeroExtend
                | ConvertOp::Bitcast
                | ConvertOp::FromMask
                | ConvertOp::ToMask => Some(self.iconst(to, bits)),
                ConvertOp::HighHalf => Some(self.iconst(to, bits >> 32)),
                ConvertOp::SignExtend => {
                    let shift = 64 - self.ty(a).ty.bits();
                    Some(self.iconst(to, (((bits << shift) as i64) >> shift) as u64))
                }
            };
        }
        match (op, self.def(a).clone()) {
            (ConvertOp::Bitcast, Op::Convert { op: ConvertOp::Bitcast, a: inner, .. }) => {
                Some(self.convert(ConvertOp::Bitcast, to, inner, window))
            }
            (ConvertOp::Trunc, Op::Concat { lo, hi }) if to == Type::I32 => self.half(lo, hi),
            (ConvertOp::HighHalf, Op::Concat { lo, hi }) => self.half(hi, lo),
            (ConvertOp::ToMask, Op::Convert { op: ConvertOp::FromMask, a: mask, .. }) => Some(mask),
            (ConvertOp::FromMask, Op::Convert { op: ConvertOp::ToMask, a: bits, .. }) => {
                let lanes = self.iconst(Type::I64, self.window().mask());
                Some(self.binary(BinaryOp::And, bits, lanes, window))
            }
            _ => None,
        }
    }

    /// Returns a half of a pair, if it has the shape of the pair.
    fn half(&self, half: Value, other: Value) -> Option<Value> {
        (!self.ty(half).is_uniform() || self.ty(other).is_uniform()).then_some(half)
    }
}

#[cfg(test)]
mod tests {
    use warploom_ir::parse::parse;

    use crate::{Rules, optimize_by};

    /// Proves that operations on constants become constants, but for those whose result is a NaN.
    #[test]
    fn constants_are_folded() {
        let of = |operand: &str| {
            let text = format!(
                "function \"folded\" lanes 32 nan 0x7fff 0x7fffffff 0xfff8000000000000 {{
bank active: mask x 1
bank r: lane i64 x 1
active active[0]

b0 pc 0x0 cost 1:
  v0 = const.f16 {operand}
  v1 = fneg v0
  v2 = const.f16 0x0
  v3 = fma v1, v2, v0
  v4 = fconvert.f64 v3
  v5 = bitcast.i64 v4
  v6 = splat v5
  v7 = rf.read r[0]
  store.global.i64 [v7], v6 align 8
  exit
}}
"
            );
            let function = parse(&text).unwrap();
            optimize_by(&function, Rules::ALL).unwrap().function.to_string()
        };
        let number = of("0x3c00");
        assert!(number.contains("const.i64 0x3ff0000000000000"), "{number}");
        assert!(!number.contains("fma"), "{number}");
        let nan = of("0x7e00");
        assert!(nan.contains("fma") && nan.contains("fconvert.f64"), "{nan}");
    }
}
