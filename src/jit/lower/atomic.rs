//! Atomics of a chunk: lane by lane inline. Shared memory belongs to one host thread while its block runs, and with one
//! worker so does all guest memory: then no lock is needed.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{AtomicRmwOp, BlockArg, InstBuilder, Value as Clif, types};

use super::super::abi;
use super::super::forms::{Lanes, clif_type, parts};
use super::super::helpers::{AccessKind, STAGED_COMPARE, STAGED_VALUES};
use super::address::Rights;
use super::block::BlockLowerer;
use super::chunk::flags;
use super::gather_scatter::Window;
use super::staging::Unreached;
use super::{float, vector};
use crate::analysis::{CHUNK, Class};
use crate::ir::{Access, AtomicOp, FloatAttrs, FloatBinaryOp, Op, Space, Type, Value};

/// The same as Cranelift has it.
fn direct(op: AtomicOp) -> Option<AtomicRmwOp> {
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
    pub(super) fn atomic(&mut self, index: usize) {
        let inst = &self.block.insts[index];
        let Op::Atomic { access, op, value, compare, sparse } = inst.op else { unreachable!() };
        self.catch_up_on_loads();
        let guard = access.guard.expect("analysis makes masks explicit");
        let locked = access.space != Space::Shared && !self.region.one_worker;
        let inline = matches!(access.ty, Type::I32 | Type::I64 | Type::F32 | Type::F64)
            && u32::from(access.align) >= access.ty.bytes()
            && matches!(access.space, Space::Shared | Space::Global | Space::Generic);
        let generic = access.space == Space::Generic;
        let at_once = inline && compare.is_none() && self.region.effort.is_fast() && (!locked || direct(op).is_some());
        let run = (at_once && access.space != Space::Shared).then(|| self.region.next_run());
        let desc = self.describe(index, AccessKind::Atomic { op }, run);
        let bits = self.mask_bits(guard);
        let (result, wanted) = (inst.results[0], self.result_is_used(inst.results[0]));
        let done = self.b.create_block();
        let clif = clif_type(access.ty, true);
        let merged: Lanes =
            (0..if wanted { parts(access.ty) } else { 0 }).map(|_| self.b.append_block_param(done, clif)).collect();
        let status = sparse.then(|| self.b.append_block_param(done, types::I64));
        let saved = self.chunk.clone();
        let in_shared = compare.is_none()
            && access.space == Space::Shared
            && matches!(access.ty, Type::I32 | Type::F32)
            && self.classes.get(access.address) == Class::Varying;
        if in_shared || run.is_some() {
            let general = self.b.create_block();
            if self.settled_mask(guard) != Some(true) {
                let full = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0xff);
                self.require(full, general);
            }
            let finish = |lowerer: &mut Self, old: Lanes| {
                let none = status.map(|_| lowerer.b.ins().iconst(types::I64, 0));
                let args: Vec<BlockArg> = old.into_iter().chain(none).map(BlockArg::Value).collect();
                lowerer.b.ins().jump(done, &args);
                lowerer.chunk.clone_from(&saved);
            };
            if generic && matches!(access.ty, Type::I32 | Type::F32) {
                let (window, global) = (self.b.create_block(), self.b.create_block());
                let looks = self.looks_in_a_window(&access);
                self.b.ins().brif(looks, window, &[], global, &[]);
                self.b.switch_to_block(window);
                let offsets = self.offsets_in_window(Window::Shared, &access, general);
                let old = self.atomic_at_offsets((op, access.ty), value, wanted, offsets);
                finish(self, old);
                self.b.switch_to_block(global);
            }
            let old = match run {
                Some(run) => self.atomic_in_a_run(&access, op, value, wanted, (run, locked), general),
                None => {
                    let offsets = self.offsets(&access, None, general);
                    self.atomic_at_offsets((op, access.ty), value, wanted, offsets)
                }
            };
            finish(self, old);
            self.b.switch_to_block(general);
        }
        self.stage(&access, &[value]);
        if let Some(compare) = compare {
            self.stage_compare(compare);
        }
        if sparse {
            self.clear_status();
        }
        let ty = access.ty;
        let performed = self.b.create_block();
        if let Some(run) = run {
            // The helper finds a run.
            let [_, bytes, _] = self.run(run, Rights::WRITE);
            let empty = self.b.ins().icmp_imm_u(IntCC::Equal, bytes, 0);
            let full = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0xff);
            let mut unknown = self.b.ins().band(empty, full);
            if generic {
                // There is no run of shared memory to be found.
                let looks = self.looks_in_a_window(&access);
                unknown = self.b.ins().band_not(unknown, looks);
                self.chunk.clone_from(&saved);
            }
            let (find, known) = (self.cold_block(), self.b.create_block());
            self.b.ins().brif(unknown, find, &[], known, &[]);
            self.b.switch_to_block(find);
            self.call_access(desc, bits, false);
            self.b.ins().jump(performed, &[]);
            self.b.switch_to_block(known);
        }
        // Lanes that take no part return 0; results share the place of the values, lane by lane.
        if inline {
            self.lane_loop(&access, bits, Unreached::Scalarized(desc), |lowerer, host, lane| {
                let operand = lowerer.staged_scalar(STAGED_VALUES, lane, ty);
                let expected = compare.map(|_| lowerer.staged_scalar(STAGED_COMPARE, lane, ty));
                let old = if locked {
                    lowerer.locked(op, ty, host, operand, expected)
                } else {
                    lowerer.unlocked(op, ty, host, operand, expected)
                };
                if wanted {
                    let (at, offset) = lowerer.staged_address(STAGED_VALUES, lane, ty);
                    lowerer.b.ins().store(flags(), old, at, offset);
                }
            });
        } else {
            self.call_access(desc, bits, false);
        }
        self.b.ins().jump(performed, &[]);
        self.b.switch_to_block(performed);
        let mut args = Vec::new();
        if wanted {
            let lanes = self.staged_lanes(STAGED_VALUES, ty);
            let zero = self.zero_lanes(ty);
            args.extend(self.merge(guard, &lanes, &zero, ty).into_iter().map(BlockArg::Value));
        }
        args.extend(status.map(|_| BlockArg::Value(self.status())));
        self.b.ins().jump(done, &args);
        self.b.switch_to_block(done);
        self.chunk = saved;
        if wanted {
            self.chunk().lanes.insert(result, merged);
        }
        self.set_status(inst, status);
    }

    /// All lanes of the chunk in shared memory, at offsets that are known to be in reach: what they found, if wanted.
    fn atomic_at_offsets(
        &mut self,
        (op, ty): (AtomicOp, Type),
        value: Value,
        wanted: bool,
        offsets: [Clif; 2],
    ) -> Lanes {
        let alike = self.is_alike(value);
        let same = alike.then(|| self.base(value).0);
        let operands = if alike { Lanes::new() } else { self.lanes(value) };
        let mut old = if wanted { self.zero_lanes(ty) } else { Lanes::new() };
        let shared = self.ctx_load(types::I64, abi::SHARED);
        for lane in 0..CHUNK as usize {
            let at = self.b.ins().extractlane(offsets[lane / 4], (lane % 4) as u8);
            let at = self.b.ins().uextend(types::I64, at);
            let host = self.b.ins().iadd(shared, at);
            let operand = same.unwrap_or_else(|| self.b.ins().extractlane(operands[lane / 4], (lane % 4) as u8));
            let found = self.unlocked(op, ty, host, operand, None);
            if wanted {
                old[lane / 4] = self.b.ins().insertlane(old[lane / 4], found, (lane % 4) as u8);
            }
        }
        old
    }

    /// All lanes of the chunk in global memory, if all lie in a run: what they found, if wanted.
    fn atomic_in_a_run(
        &mut self,
        access: &Access,
        op: AtomicOp,
        value: Value,
        wanted: bool,
        (run, locked): (usize, bool),
        slow: cranelift_codegen::ir::Block,
    ) -> Lanes {
        let (distances, first) = self.in_a_run(access, run, Rights::WRITE, slow);
        let ty = access.ty;
        // As with `gather_lanes`, through the scratch area.
        self.stage_lanes(0, &distances);
        let same = self.is_alike(value).then(|| self.base(value).0);
        if same.is_none() {
            let operands = self.lanes(value);
            self.stage_lanes(STAGED_VALUES, &operands);
        }
        let per = CHUNK as usize / parts(ty);
        let mut old = if wanted { self.zero_lanes(ty) } else { Lanes::new() };
        for lane in 0..CHUNK as usize {
            let staged = |lowerer: &mut Self, word, ty: Type| {
                let offset = Self::scratch(word) + (lane as u32 * ty.cell_bytes()) as i32;
                lowerer.b.ins().load(clif_type(ty, false), flags(), lowerer.ctx, offset)
            };
            let distance = staged(self, 0, Type::I64);
            let host = self.b.ins().iadd(first, distance);
            let operand = same.unwrap_or_else(|| staged(self, STAGED_VALUES, ty));
            let found = if locked {
                self.locked(op, ty, host, operand, None)
            } else {
                self.unlocked(op, ty, host, operand, None)
            };
            if wanted {
                old[lane / per] = self.b.ins().insertlane(old[lane / per], found, (lane % per) as u8);
            }
        }
        old
    }

    /// Whether all lanes of a chunk have the same value.
    fn is_alike(&self, value: Value) -> bool {
        matches!(self.classes.get(value), Class::Uniform | Class::SAME_IN_CHUNK)
    }

    fn result_is_used(&self, result: crate::ir::Value) -> bool {
        let mut used = self.plan.escapes[result.0 as usize];
        for inst in &self.block.insts {
            inst.op.for_each_operand(|v| used |= v == result);
        }
        used
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
                let zero = super::int::constant(self.b, ty, 0, false);
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
                float::canonical(self.b, ty, self.function.nan.canonical(ty), v, false)
            }
        }
    }
}
