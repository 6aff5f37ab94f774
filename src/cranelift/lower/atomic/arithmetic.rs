//! The operation of an atomic on one element of memory, with or without a lock.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    self as clif_ir, AtomicRmwOp, BlockArg, InstBuilder, Value as Clif, types,
};
use warploom_ir::{AtomicOp, Extend, FloatAttrs, FloatBinaryOp, Type};
use warploom_runtime::mbarrier::{
    BYTES_AT, BYTES_BITS, COUNT_BITS, CountingBarrier, EXPECTED_AT, PHASE_AT,
};

use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::{float, int, vector};
use crate::forms::clif_type;

/// Returns Cranelift's operation for an atomic, if there is one.
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

/// Returns the integer type of the size that a value has in memory.
fn cell_type(ty: Type) -> clif_ir::Type {
    if ty.bits() == 16 { types::I16 } else { clif_type(ty.as_int(), false) }
}

impl BlockLowerer<'_, '_, '_> {
    /// Performs one lane's atomic at a host address. Returns the old value.
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

    fn unlocked(
        &mut self,
        op: AtomicOp,
        ty: Type,
        host: Clif,
        operand: Clif,
        expected: Option<Clif>,
    ) -> Clif {
        let old = self.load_element(ty, Extend::Unsigned, host, 0);
        let new = self.updated(op, ty, old, operand, expected);
        self.store_element(ty, new, host, 0);
        old
    }

    /// Performs a locked atomic: as one host instruction if there is one, else as a
    /// compare-and-swap loop.
    fn locked(
        &mut self,
        op: AtomicOp,
        ty: Type,
        host: Clif,
        operand: Clif,
        expected: Option<Clif>,
    ) -> Clif {
        let clif = cell_type(ty);
        let extreme =
            matches!(op, AtomicOp::MinS | AtomicOp::MinU | AtomicOp::MaxS | AtomicOp::MaxU);
        if let Some(direct) = direct(op).filter(|_| !extreme) {
            let operand = self.as_cell(ty, operand);
            let old = self.b.ins().atomic_rmw(clif, flags(), direct, host, operand);
            return self.of_cell(ty, old);
        }
        if let (AtomicOp::CompareExchange, Some(expected)) = (op, expected) {
            let (expected, operand) = (self.as_cell(ty, expected), self.as_cell(ty, operand));
            let old = self.b.ins().atomic_cas(flags(), host, expected, operand);
            return self.of_cell(ty, old);
        }
        let (again, done) = (self.b.create_block(), self.b.create_block());
        let seen = self.b.append_block_param(again, clif);
        let result = self.b.append_block_param(done, clif);
        let first = self.b.ins().load(clif, flags(), host, 0);
        self.b.ins().jump(again, &[BlockArg::Value(first)]);
        self.b.switch_to_block(again);
        let old = self.of_cell(ty, seen);
        let new = self.updated(op, ty, old, operand, expected);
        let new = self.as_cell(ty, new);
        if extreme {
            // Mostly memory keeps its value. Then threads only read it, and need not own its cache
            // line. (Atomics order no other accesses.)
            let changes = self.b.ins().icmp(IntCC::NotEqual, new, seen);
            let write = self.b.create_block();
            self.b.ins().brif(changes, write, &[], done, &[BlockArg::Value(seen)]);
            self.b.switch_to_block(write);
        }
        let found = self.b.ins().atomic_cas(flags(), host, seen, new);
        let swapped = self.b.ins().icmp(IntCC::Equal, found, seen);
        self.b.ins().brif(
            swapped,
            done,
            &[BlockArg::Value(found)],
            again,
            &[BlockArg::Value(found)],
        );
        self.b.switch_to_block(done);
        self.of_cell(ty, result)
    }

    /// Returns a value as an integer of the size that it has in memory.
    fn as_cell(&mut self, ty: Type, v: Clif) -> Clif {
        let v = vector::cast(self.b, clif_type(ty.as_int(), false), v);
        if cell_type(ty) == types::I16 { self.b.ins().ireduce(types::I16, v) } else { v }
    }

    fn of_cell(&mut self, ty: Type, cell: Clif) -> Clif {
        let v =
            if cell_type(ty) == types::I16 { self.b.ins().uextend(types::I32, cell) } else { cell };
        vector::cast(self.b, clif_type(ty, false), v)
    }

    /// Returns the new value that the atomic stores. The bits above a narrow type are arbitrary.
    fn updated(
        &mut self,
        op: AtomicOp,
        ty: Type,
        old: Clif,
        operand: Clif,
        expected: Option<Clif>,
    ) -> Clif {
        let pick = |lowerer: &mut Self, cc| {
            // Shift the sign of a narrow number to the sign bit of the word.
            let unused = if ty.bits() < 32 { 32 - i64::from(ty.bits()) } else { 0 };
            let [x, y] = [old, operand].map(|v| match unused {
                0 => v,
                unused => lowerer.b.ins().ishl_imm_u(v, unused),
            });
            let first = lowerer.b.ins().icmp(cc, x, y);
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
                let (get, capacity) =
                    (self.b.ins().ushr_imm_u(old, half), self.b.ins().ushr_imm_u(operand, half));
                let filled = self.b.ins().isub(old, get);
                let (filled, count) =
                    (self.b.ins().band_imm_u(filled, low), self.b.ins().band_imm_u(operand, low));
                let needed = self.b.ins().iadd(filled, count);
                let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, needed, capacity);
                let sum = self.b.ins().iadd(old, operand);
                let (put, get) =
                    (self.b.ins().band_imm_u(sum, low), self.b.ins().ishl_imm_u(get, half));
                let advanced = self.b.ins().bor(get, put);
                self.b.ins().select(fits, advanced, old)
            }
            AtomicOp::CompareExchange => {
                let clif = clif_type(ty.as_int(), false);
                let (x, y) = (
                    vector::cast(self.b, clif, old),
                    vector::cast(self.b, clif, expected.expect("verified")),
                );
                let equal = self.b.ins().icmp(IntCC::Equal, x, y);
                self.b.ins().select(equal, operand, old)
            }
            AtomicOp::FCompareExchange => {
                let [x, y] =
                    [old, expected.expect("verified")].map(|v| self.compared(ty, false, v, false));
                let equal = self.b.ins().fcmp(FloatCC::Equal, x, y);
                self.b.ins().select(equal, operand, old)
            }
            AtomicOp::ReverseSub => self.b.ins().isub(operand, old),
            AtomicOp::MaskedOr => {
                let kept = self.b.ins().band_not(old, expected.expect("verified"));
                self.b.ins().bor(kept, operand)
            }
            AtomicOp::Wrap => {
                let (less, more) = (
                    self.b.ins().isub(old, operand),
                    self.b.ins().iadd(old, expected.expect("verified")),
                );
                let wraps = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, old, operand);
                self.b.ins().select(wraps, less, more)
            }
            AtomicOp::Arrive { drop } => {
                self.arrived(drop, old, operand, expected.expect("verified"))
            }
            AtomicOp::ArriveCounting => self.arrived_counting(old, operand),
            AtomicOp::FAdd { flush } | AtomicOp::PairFAdd { flush } => {
                self.floats_updated(op, FloatBinaryOp::Add, flush, ty, [old, operand])
            }
            AtomicOp::BrainFAdd => {
                self.floats_updated(op, FloatBinaryOp::Add, false, ty, [old, operand])
            }
            AtomicOp::FMin | AtomicOp::PairFMin | AtomicOp::BrainFMin => {
                self.floats_updated(op, FloatBinaryOp::Min, false, ty, [old, operand])
            }
            AtomicOp::FMax | AtomicOp::PairFMax | AtomicOp::BrainFMax => {
                self.floats_updated(op, FloatBinaryOp::Max, false, ty, [old, operand])
            }
        }
    }

    /// Returns a barrier in memory after threads have arrived: [`CountingBarrier::arrive`].
    fn arrived_counting(&mut self, barrier: Clif, threads: Clif) -> Clif {
        let at = i64::from(CountingBarrier::COUNT_AT);
        let threads = self.b.ins().ishl_imm_u(threads, at);
        let arrived = self.b.ins().iadd(barrier, threads);
        let anew = self.b.ins().iadd_imm_s(barrier, i64::from(CountingBarrier::NONE));
        let anew = self.b.ins().band_imm_u(anew, i64::from(CountingBarrier::COUNT));
        let anew = self.b.ins().ishl_imm_u(anew, at);
        let anew = self.b.ins().bor(arrived, anew);
        let left = self.b.ins().ishl_imm_u(arrived, 1);
        let left = self.b.ins().ushr_imm_u(left, at + 1);
        let is_done = self.b.ins().icmp_imm_u(IntCC::Equal, left, 0);
        self.b.ins().select(is_done, anew, arrived)
    }

    /// Returns a barrier in memory after threads and bytes have arrived: [`MemoryBarrier::arrive`].
    ///
    /// [`MemoryBarrier::arrive`]: warploom_runtime::mbarrier::MemoryBarrier::arrive
    fn arrived(&mut self, drop: bool, barrier: Clif, threads: Clif, bytes: Clif) -> Clif {
        let mask = |bits: u32| (1_i64 << bits) - 1;
        let at =
            |lowerer: &mut Self, place: u32| lowerer.b.ins().ushr_imm_u(barrier, i64::from(place));
        let (mut expected, left, phase) =
            (at(self, EXPECTED_AT), at(self, BYTES_AT), at(self, PHASE_AT));
        if drop {
            expected = self.b.ins().isub(expected, threads);
        }
        let expected = self.b.ins().band_imm_u(expected, mask(COUNT_BITS));
        let pending = self.b.ins().isub(barrier, threads);
        let pending = self.b.ins().band_imm_u(pending, mask(COUNT_BITS));
        let left = self.b.ins().isub(left, bytes);
        let left = self.b.ins().band_imm_u(left, mask(BYTES_BITS));
        let missing = self.b.ins().bor(pending, left);
        let next_phase = self.b.ins().iadd_imm_s(phase, 1);
        let is_done = self.b.ins().icmp_imm_u(IntCC::Equal, missing, 0);
        let (phase, pending) = (
            self.b.ins().select(is_done, next_phase, phase),
            self.b.ins().select(is_done, expected, pending),
        );
        let parts = [(phase, PHASE_AT), (left, BYTES_AT), (expected, EXPECTED_AT)];
        parts.into_iter().fold(pending, |barrier, (part, place)| {
            let part = self.b.ins().ishl_imm_u(part, i64::from(place));
            self.b.ins().bor(barrier, part)
        })
    }

    /// Returns the new value of a float atomic, for one float or for both halves of a word.
    fn floats_updated(
        &mut self,
        op: AtomicOp,
        kind: FloatBinaryOp,
        flush: bool,
        ty: Type,
        args: [Clif; 2],
    ) -> Clif {
        let attrs = FloatAttrs { flush, ..FloatAttrs::IEEE };
        let [x, y] = args;
        if op.is_of_pairs() || op.is_of_brain() {
            let half = |lowerer: &mut Self, args: [Clif; 2]| match op.is_of_brain() {
                true => lowerer.brain_updated(kind, args),
                false => lowerer.half(false).binary(kind, attrs, args[0], args[1]),
            };
            if ty == Type::I16 {
                return half(self, args);
            }
            let low = args.map(|v| self.b.ins().band_imm_u(v, 0xffff));
            let high = args.map(|v| self.b.ins().ushr_imm_u(v, 16));
            let (low, high) = (half(self, low), half(self, high));
            let high = self.b.ins().ishl_imm_u(high, 16);
            return self.b.ins().bor(low, high);
        }
        if ty == Type::F16 {
            return self.half(false).binary(kind, attrs, x, y);
        }
        let v = float::binary(self.b, kind, attrs, ty, x, y, false);
        float::canonical(self.b, ty, self.facts.function.nan.canonical(ty), v, false)
    }

    /// Returns the new value of an atomic on a `bf16`, the upper half of an `f32`. As with `f16`, a
    /// sum that is rounded twice equals a sum that is rounded once.
    fn brain_updated(&mut self, kind: FloatBinaryOp, args: [Clif; 2]) -> Clif {
        const NAN: i64 = 0x7fff;
        let [x, y] = args.map(|v| {
            let bits = self.b.ins().ishl_imm_u(v, 16);
            vector::cast(self.b, types::F32, bits)
        });
        let v = float::binary(self.b, kind, FloatAttrs::IEEE, Type::F32, x, y, false);
        let is_nan = self.b.ins().fcmp(FloatCC::Unordered, v, v);
        let bits = vector::cast(self.b, types::I32, v);
        let kept = self.b.ins().ushr_imm_u(bits, 16);
        let odd = self.b.ins().band_imm_u(kept, 1);
        let rounded = self.b.ins().iadd_imm_s(bits, 0x7fff);
        let rounded = self.b.ins().iadd(rounded, odd);
        let rounded = self.b.ins().ushr_imm_u(rounded, 16);
        let nan = self.b.ins().iconst(types::I32, NAN);
        self.b.ins().select(is_nan, nan, rounded)
    }
}
