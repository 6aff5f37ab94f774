//! Lane 0 of values that are evenly spaced in a chunk, and the lanes made from it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use smallvec::SmallVec;
use warploom_analysis::{Choice, Class, LowWord, kept_bits, low_word};
use warploom_ir::{BinaryOp, ConvertOp, Op, Special, Type, Value};

use super::block::BlockLowerer;
use super::chunk::{Reach, flags};
use super::int::plus;
use super::vector;
use crate::CHUNK;
use crate::forms::{Lanes, clif_type, parts};

/// The reason why lanes that are made of evenly spaced words may not be evenly spaced.
#[derive(Clone, Copy)]
pub(super) enum Doubt {
    /// The words may wrap.
    Extended(ConvertOp),
    /// Only this many low bits are kept.
    Cut(u32),
}

impl BlockLowerer<'_, '_, '_> {
    /// Returns the lanes of an affine value: lane 0, plus lane number times step.
    pub(super) fn affine_lanes(&mut self, v: Value, ty: Type, step: i64) -> Lanes {
        let (base, _) = self.base(v);
        let splat = self.b.ins().splat(clif_type(ty, true), base);
        if step == 0 {
            return Lanes::from_elem(splat, parts(ty));
        }
        (0..parts(ty))
            .map(|part| {
                let offsets = if ty.bits() == 64 {
                    let at = |i: usize| (step.wrapping_mul((part * 2 + i) as i64)) as u64;
                    vector::longs(self.b, [at(0), at(1)])
                } else {
                    let at = |i: usize| (step.wrapping_mul((part * 4 + i) as i64)) as u32;
                    vector::words(self.b, [at(0), at(1), at(2), at(3)])
                };
                self.b.ins().iadd(splat, offsets)
            })
            .collect()
    }

    /// Returns lane 0 of a value that is uniform or affine in the chunk, and whether it is affine
    /// at all if that is in doubt.
    pub(super) fn base(&mut self, v: Value) -> (Clif, Option<Clif>) {
        if self.scope.classes.get(v) == Class::Uniform {
            return (self.scalar(v), None);
        }
        if let Some(&base) = self.chunk().bases.get(&v) {
            return base;
        }
        if let Some(base) = self.full_warp_base(v) {
            return (base, None);
        }
        let inst = self.facts.def(v);
        let base = match inst.op {
            Op::LaneId => {
                let first = self.first_lane();
                (self.b.ins().ireduce(types::I32, first), None)
            }
            Op::Special(Special::Tid(axis)) => (self.tid(axis), None),
            // The class is known of active lanes, and all lanes are active here.
            Op::RfRead { reg, .. } => {
                let ty = self.facts.ty(v);
                let (row, offset) = self.row(ty, self.facts.layout.offset(reg));
                (self.b.ins().load(clif_type(ty, false), flags(), row, offset), None)
            }
            ref op => {
                let mut doubt: Option<Clif> = None;
                let first = self.first_of(v, &mut |lowerer, operand| {
                    let (base, affine) = match (op, lowerer.scope.classes.get(operand)) {
                        (Op::Concat { .. }, Class::Varying) => {
                            let lanes = lowerer.lanes(operand);
                            let word = lowerer.b.ins().extractlane(lanes[0], 0);
                            let first = vector::first_lane(lowerer.b, lanes[0]);
                            let same = lowerer.are_spaced(&lanes, first, 0);
                            (word, Some(same))
                        }
                        _ => lowerer.base(operand),
                    };
                    doubt = lowerer.both(doubt, affine);
                    base
                });
                if let Some((why, a)) = self.doubt_of(v) {
                    let (base, _) = self.base(a);
                    let holds = self.is_spaced(why, a, base, Reach::Known(i64::from(CHUNK) - 1));
                    doubt = self.both(doubt, holds);
                }
                if let Some(Choice { cc, a, b, .. }) = self.scope.classes.choice(v) {
                    let ((first, spaced), (limit, same)) = (self.base(a), self.base(b));
                    let holds = self.holds_in_lanes(
                        cc,
                        (a, first),
                        limit,
                        Reach::Known(i64::from(CHUNK) - 1),
                    );
                    for more in [spaced, same, Some(holds)] {
                        doubt = self.both(doubt, more);
                    }
                }
                (first, doubt)
            }
        };
        self.chunk().bases.insert(v, base);
        base
    }

    /// Returns the word that an evenly spaced value is made of, if the operation on that word may
    /// make its lanes unevenly spaced.
    pub(super) fn doubt_of(&self, v: Value) -> Option<(Doubt, Value)> {
        if self.is_exact(v) {
            return None;
        }
        match *self.facts.def_op(v) {
            Op::Convert { op: op @ (ConvertOp::SignExtend | ConvertOp::ZeroExtend), a, .. } => {
                Some((Doubt::Extended(op), a))
            }
            Op::Concat { lo, .. } => Some((Doubt::Extended(ConvertOp::ZeroExtend), lo)),
            Op::Binary { op: BinaryOp::And, a, b } => {
                match (self.facts.constant(a), self.facts.constant(b)) {
                    (_, Some(bits)) => kept_bits(bits).map(|kept| (Doubt::Cut(kept), a)),
                    (Some(bits), _) => kept_bits(bits).map(|kept| (Doubt::Cut(kept), b)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns lane 0 of an evenly spaced value. `first` gives lane 0 of its operands.
    pub(super) fn first_of(
        &mut self,
        v: Value,
        first: &mut dyn FnMut(&mut Self, Value) -> Clif,
    ) -> Clif {
        let same = |&v: &Value| self.scope.classes.get(v).is_same();
        if let Some(Choice { chosen, .. }) = self.scope.classes.choice(v) {
            return first(self, chosen);
        }
        match *self.facts.def_op(v) {
            Op::Select { mask, a, b }
                if self.scope.classes.is_alike(mask) && [a, b].iter().all(same) =>
            {
                let condition = self.agreed(mask, first);
                let (a, b) = (first(self, a), first(self, b));
                self.b.ins().select(condition, a, b)
            }
            // All lanes are active, and active lanes take the first operand: otherwise the value
            // would not be evenly spaced.
            Op::Select { a, .. } => first(self, a),
            // An operand differs between lanes, so the value can be equal in all lanes only because
            // it is 0.
            Op::Convert { op: ConvertOp::HighHalf, .. } | Op::Binary { op: BinaryOp::ShrS, .. }
                if self
                    .facts
                    .def_op(v)
                    .operands()
                    .into_iter()
                    .any(|v| !self.scope.classes.get(v).is_same()) =>
            {
                let ty = clif_type(self.facts.ty(v), false);
                self.b.ins().iconst(ty, 0)
            }
            Op::AddCarry { a, b, carry: Some(carry) } => {
                let args = [first(self, a), first(self, b), self.agreed(carry, first)];
                self.base_of(v, &args)
            }
            // The number may be unevenly spaced, but its low word is evenly spaced.
            Op::Convert { op: ConvertOp::Trunc, a, .. }
                if self.is_exact(v) && !self.is_exact(a) =>
            {
                self.first_low_word(a, first)
            }
            ref op => {
                let args: SmallVec<[Clif; 4]> =
                    op.operands().into_iter().map(|v| first(self, v)).collect();
                self.base_of(v, &args)
            }
        }
    }

    fn is_exact(&self, v: Value) -> bool {
        self.scope.classes.get(v).is_exact()
    }

    /// Returns lane 0 of the low word of a number. `first` gives lane 0 of the words and numbers
    /// that make it.
    fn first_low_word(
        &mut self,
        v: Value,
        first: &mut dyn FnMut(&mut Self, Value) -> Clif,
    ) -> Clif {
        if self.is_exact(v) {
            let number = first(self, v);
            return self.b.ins().ireduce(types::I32, number);
        }
        let facts = self.facts;
        let made = low_word(facts.def_op(v), |v| facts.constant(v), |v| facts.ty(v));
        match made.expect("the low word of the number is evenly spaced") {
            LowWord::Word(word) => first(self, word),
            LowWord::Sum(a, b) => {
                let (a, b) = (self.first_low_word(a, first), self.first_low_word(b, first));
                self.b.ins().iadd(a, b)
            }
            LowWord::Difference(a, b) => {
                let (a, b) = (self.first_low_word(a, first), self.first_low_word(b, first));
                self.b.ins().isub(a, b)
            }
            LowWord::Shifted(a, bits) => {
                let a = self.first_low_word(a, first);
                self.b.ins().ishl_imm_u(a, i64::from(bits))
            }
        }
    }

    /// Returns a mask that has all lanes or none. `first` gives lane 0 of its operands.
    fn agreed(&mut self, mask: Value, first: &mut dyn FnMut(&mut Self, Value) -> Clif) -> Clif {
        match *self.facts.def_op(mask) {
            Op::Binary { op, a, b } => {
                let (a, b) = (self.agreed(a, first), self.agreed(b, first));
                match op {
                    BinaryOp::And => self.b.ins().band(a, b),
                    BinaryOp::Or => self.b.ins().bor(a, b),
                    _ => self.b.ins().bxor(a, b),
                }
            }
            Op::Unary { a, .. } => {
                let a = self.agreed(a, first);
                self.other_lanes(a)
            }
            Op::AddCarry { a, b, carry } => {
                let (a, b) = (first(self, a), first(self, b));
                let sum = self.b.ins().iadd(a, b);
                let mut out = self.b.ins().icmp(IntCC::UnsignedLessThan, sum, a);
                if let Some(carry) = carry {
                    let carry = self.agreed(carry, first);
                    let ty = self.b.func.dfg.value_type(sum);
                    let ones = self.b.ins().iconst(ty, -1);
                    let full = self.b.ins().icmp(IntCC::Equal, sum, ones);
                    let none = self.b.ins().iconst(types::I8, 0);
                    let passed = self.b.ins().select(carry, full, none);
                    out = self.b.ins().bor(out, passed);
                }
                self.all_lanes_if(out)
            }
            Op::Const { bits, .. } => self.b.ins().iconst(types::I64, bits as i64),
            // A compare.
            ref op => {
                let args: SmallVec<[Clif; 4]> =
                    op.operands().into_iter().map(|v| first(self, v)).collect();
                self.base_of(mask, &args)
            }
        }
    }

    /// Returns lane 0 of a pure operation. NaNs are canonical if any user of the value needs that.
    pub(super) fn base_of(&mut self, v: Value, args: &[Clif]) -> Clif {
        self.pure_scalar(self.facts.def_op(v), args, self.wanted(v))
    }

    /// Returns the last of evenly spaced lanes.
    pub(super) fn spread(&mut self, first: Clif, step: i64, reach: Reach) -> Clif {
        let narrow = self.b.func.dfg.value_type(first) == types::I32;
        match reach {
            Reach::Known(lanes) => {
                let span = step.wrapping_mul(lanes);
                plus(self.b, first, if narrow { i64::from(span as i32) } else { span })
            }
            Reach::Counted(lanes) => {
                let span = self.b.ins().imul_imm_s(lanes, step);
                let span = if narrow { self.b.ins().ireduce(types::I32, span) } else { span };
                self.b.ins().iadd(first, span)
            }
        }
    }

    fn both(&mut self, a: Option<Clif>, b: Option<Clif>) -> Option<Clif> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.b.ins().band(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// Returns whether the value that is made of the 32-bit lanes `base + i * step` is evenly
    /// spaced up to the last lane. Returns `None` if that is not in doubt.
    pub(super) fn is_spaced(
        &mut self,
        why: Doubt,
        a: Value,
        base: Clif,
        reach: Reach,
    ) -> Option<Clif> {
        let (step, _) = self.scope.classes.get(a).affine()?;
        if step == 0 {
            return None;
        }
        let last = self.spread(base, step, reach);
        let op = match why {
            Doubt::Extended(op) => op,
            // The lanes between the first and the last have the upper bits that these two share.
            Doubt::Cut(kept) => {
                let differ = self.b.ins().bxor(base, last);
                return Some(self.b.ins().icmp_imm_u(
                    IntCC::UnsignedLessThan,
                    differ,
                    1_i64 << kept,
                ));
            }
        };
        let wide = |lowerer: &mut Self, v| match op {
            ConvertOp::SignExtend => lowerer.b.ins().sextend(types::I64, v),
            _ => lowerer.b.ins().uextend(types::I64, v),
        };
        let (wide_base, wide_last) = (wide(self, base), wide(self, last));
        let expected = self.spread(wide_base, step, reach);
        Some(self.b.ins().icmp(IntCC::Equal, wide_last, expected))
    }
}
