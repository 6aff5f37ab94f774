//! What an atomic does to one element of memory: with or without a lock.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{AtomicRmwOp, BlockArg, InstBuilder, Value as Clif};

use super::super::super::forms::clif_type;
use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::{float, int, vector};
use crate::ir::{AtomicOp, FloatAttrs, FloatBinaryOp, Type};

/// The same as Cranelift has it.
pub(super) fn direct(op: AtomicOp) -> Option<AtomicRmwOp> {
    Some(match op {
        AtomicOp::Add => AtomicRmwOp::Add,
        AtomicOp::Sub => AtomicRmwOp::Sub,
        AtomicOp::And => AtomicRmwOp::And,
        AtomicOp::Or => AtomicRmwOp::Or,
        AtomicOp::Xor => AtomicRmwOp::Xor,
        AtomicOp::Exchange => AtomicRmwOp::Xchg,
        AtomicOp::MinS => AtomicRmwOp::Smin,
        AtomicOp::MinU => AtomicRmwOp::Umin,
        AtomicOp::MaxS => AtomicRmwOp::Smax,
        AtomicOp::MaxU => AtomicRmwOp::Umax,
        _ => return None,
    })
}

impl BlockLowerer<'_, '_, '_> {
    /// One lane's atomic at a host address. Gives what it found.
    pub(super) fn one_lane(
        &mut self,
        op: AtomicOp,
        ty: Type,
        locked: bool,
        host: Clif,
        operand: Clif,
        expected: Option<Clif>,
    ) -> Clif {
        if locked {
            self.locked(op, ty, host, operand, expected)
        } else {
            self.unlocked(op, ty, host, operand, expected)
        }
    }

    fn unlocked(&mut self, op: AtomicOp, ty: Type, host: Clif, operand: Clif, expected: Option<Clif>) -> Clif {
        let old = self.b.ins().load(clif_type(ty, false), flags(), host, 0);
        let new = self.updated(op, ty, old, operand, expected);
        self.b.ins().store(flags(), new, host, 0);
        old
    }

    /// One host instruction where there is one, else a compare-and-swap loop.
    fn locked(&mut self, op: AtomicOp, ty: Type, host: Clif, operand: Clif, expected: Option<Clif>) -> Clif {
        let int = ty.as_int();
        let clif = clif_type(int, false);
        let extreme = matches!(op, AtomicOp::MinS | AtomicOp::MinU | AtomicOp::MaxS | AtomicOp::MaxU);
        if let Some(direct) = direct(op).filter(|_| !extreme) {
            let operand = vector::cast(self.b, clif, operand);
            let old = self.b.ins().atomic_rmw(clif, flags(), direct, host, operand);
            return vector::cast(self.b, clif_type(ty, false), old);
        }
        if let (AtomicOp::CompareExchange, Some(expected)) = (op, expected) {
            let (expected, operand) = (vector::cast(self.b, clif, expected), vector::cast(self.b, clif, operand));
            let old = self.b.ins().atomic_cas(flags(), host, expected, operand);
            return vector::cast(self.b, clif_type(ty, false), old);
        }
        let (again, done) = (self.b.create_block(), self.b.create_block());
        let seen = self.b.append_block_param(again, clif);
        let result = self.b.append_block_param(done, clif);
        let first = self.b.ins().load(clif, flags(), host, 0);
        self.b.ins().jump(again, &[BlockArg::Value(first)]);
        self.b.switch_to_block(again);
        let old = vector::cast(self.b, clif_type(ty, false), seen);
        let new = self.updated(op, ty, old, operand, expected);
        let new = vector::cast(self.b, clif, new);
        if extreme {
            // Mostly what is there stays: then threads only read it, and need not have it for themselves. (Atomics order nothing else.)
            let changes = self.b.ins().icmp(IntCC::NotEqual, new, seen);
            let write = self.b.create_block();
            self.b.ins().brif(changes, write, &[], done, &[BlockArg::Value(seen)]);
            self.b.switch_to_block(write);
        }
        let found = self.b.ins().atomic_cas(flags(), host, seen, new);
        let swapped = self.b.ins().icmp(IntCC::Equal, found, seen);
        self.b.ins().brif(swapped, done, &[BlockArg::Value(found)], again, &[BlockArg::Value(found)]);
        self.b.switch_to_block(done);
        vector::cast(self.b, clif_type(ty, false), result)
    }

    /// What the atomic stores.
    fn updated(&mut self, op: AtomicOp, ty: Type, old: Clif, operand: Clif, expected: Option<Clif>) -> Clif {
        let pick = |lowerer: &mut Self, cc| {
            let first = lowerer.b.ins().icmp(cc, old, operand);
            lowerer.b.ins().select(first, old, operand)
        };
        match op {
            AtomicOp::Add => self.b.ins().iadd(old, operand),
            AtomicOp::Sub => self.b.ins().isub(old, operand),
            AtomicOp::And => self.b.ins().band(old, operand),
            AtomicOp::Or => self.b.ins().bor(old, operand),
            AtomicOp::Xor => self.b.ins().bxor(old, operand),
            AtomicOp::Exchange => operand,
            AtomicOp::MinS => pick(self, IntCC::SignedLessThan),
            AtomicOp::MinU => pick(self, IntCC::UnsignedLessThan),
            AtomicOp::MaxS => pick(self, IntCC::SignedGreaterThan),
            AtomicOp::MaxU => pick(self, IntCC::UnsignedGreaterThan),
            AtomicOp::Inc => {
                let wraps = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, old, operand);
                let more = self.b.ins().iadd_imm_s(old, 1);
                let zero = int::constant(self.b, ty, 0, false);
                self.b.ins().select(wraps, zero, more)
            }
            AtomicOp::Dec => {
                let above = self.b.ins().icmp(IntCC::UnsignedGreaterThan, old, operand);
                let zero = self.b.ins().icmp_imm_u(IntCC::Equal, old, 0);
                let wraps = self.b.ins().bor(above, zero);
                let less = self.b.ins().iadd_imm_s(old, -1);
                self.b.ins().select(wraps, operand, less)
            }
            AtomicOp::SafeAdd => {
                let half = i64::from(ty.bits() / 2);
                let low = (1 << half) - 1;
                let (get, capacity) = (self.b.ins().ushr_imm_u(old, half), self.b.ins().ushr_imm_u(operand, half));
                let filled = self.b.ins().isub(old, get);
                let (filled, count) = (self.b.ins().band_imm_u(filled, low), self.b.ins().band_imm_u(operand, low));
                let needed = self.b.ins().iadd(filled, count);
                let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, needed, capacity);
                let sum = self.b.ins().iadd(old, operand);
                let (put, get) = (self.b.ins().band_imm_u(sum, low), self.b.ins().ishl_imm_u(get, half));
                let advanced = self.b.ins().bor(get, put);
                self.b.ins().select(fits, advanced, old)
            }
            AtomicOp::CompareExchange => {
                let clif = clif_type(ty.as_int(), false);
                let (x, y) = (vector::cast(self.b, clif, old), vector::cast(self.b, clif, expected.expect("verified")));
                let equal = self.b.ins().icmp(IntCC::Equal, x, y);
                self.b.ins().select(equal, operand, old)
            }
            AtomicOp::FCompareExchange => {
                let equal = self.b.ins().fcmp(FloatCC::Equal, old, expected.expect("verified"));
                self.b.ins().select(equal, operand, old)
            }
            AtomicOp::ReverseSub => self.b.ins().isub(operand, old),
            AtomicOp::MaskedOr => {
                let kept = self.b.ins().band_not(old, expected.expect("verified"));
                self.b.ins().bor(kept, operand)
            }
            AtomicOp::Wrap => {
                let (less, more) =
                    (self.b.ins().isub(old, operand), self.b.ins().iadd(old, expected.expect("verified")));
                let wraps = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, old, operand);
                self.b.ins().select(wraps, less, more)
            }
            AtomicOp::PairFAdd { .. }
            | AtomicOp::PairFMin
            | AtomicOp::PairFMax
            | AtomicOp::BrainFAdd
            | AtomicOp::BrainFMin
            | AtomicOp::BrainFMax
            | AtomicOp::Arrive { .. } => unreachable!("these are interpreted"),
            AtomicOp::FAdd { .. } | AtomicOp::FMin | AtomicOp::FMax => {
                let flush = matches!(op, AtomicOp::FAdd { flush: true });
                let kind = match op {
                    AtomicOp::FMin => FloatBinaryOp::Min,
                    AtomicOp::FMax => FloatBinaryOp::Max,
                    _ => FloatBinaryOp::Add,
                };
                let attrs = FloatAttrs { flush, ..FloatAttrs::IEEE };
                let v = float::binary(self.b, kind, attrs, ty, old, operand, false);
                float::canonical(self.b, ty, self.facts.function.nan.canonical(ty), v, false)
            }
        }
    }
}
