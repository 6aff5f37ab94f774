//! Atomics of a chunk, inline and lane by lane. Shared memory belongs to one host thread while its
//! block runs. With one worker, all guest memory belongs to one host thread. In both cases no lock
//! is needed.

mod arithmetic;

use arithmetic::direct;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use warploom_analysis::Class;
use warploom_engine::abi;
use warploom_engine::descriptions::AccessId;
use warploom_engine::helpers::{STAGED_COMPARE, STAGED_VALUES};
use warploom_ir::{Access, AtomicOp, Op, Space, Type, Value};

use super::address::Rights;
use super::block::BlockLowerer;
use super::chunk::flags;
use super::gather_scatter::Window;
use super::staging::Unreached;
use crate::CHUNK;
use crate::forms::{Lanes, clif_type, parts};

/// An atomic that is being lowered.
struct Atomic {
    access: Access,
    op: AtomicOp,
    value: Value,
    compare: Option<Value>,
    guard: Value,
    /// The chunk's bits of the guard.
    bits: Clif,
    desc: AccessId,
    /// Whether there is inline code for lanes, at least one by one.
    inline: bool,
    /// Whether other threads may see the memory.
    locked: bool,
    /// The atomic's run of the TLB, if one check may cover all lanes.
    run: Option<usize>,
    /// Whether the old value is used.
    wanted: bool,
    sparse: bool,
    /// The block in which the paths join. Its parameters are the old value, if it is wanted, and
    /// the sparse status.
    done: ClifBlock,
}

impl BlockLowerer<'_, '_, '_> {
    pub(super) fn atomic(&mut self, index: usize) {
        let inst = &self.facts.block.insts[index];
        let Op::Atomic { access, op, value, compare, sparse } = inst.op else { unreachable!() };
        self.catch_up_on_loads();
        let guard = access.guard.expect("analysis makes masks explicit");
        let locked = access.space != Space::Shared && !self.region.one_worker;
        let inline = access.ty != Type::I8
            && u32::from(access.align) >= access.ty.bytes()
            && matches!(access.space, Space::Shared | Space::Global | Space::Generic);
        let at_once = inline
            && compare.is_none()
            && self.region.effort.is_fast()
            && (!locked || direct(op).is_some());
        let run = (at_once && access.space != Space::Shared).then(|| self.run_of(index));
        let desc = self.describe(index, run);
        let bits = self.mask_bits(guard);
        let (result, wanted) = (inst.results[0], self.result_is_used(inst.results[0]));
        let done = self.b.create_block();
        let clif = clif_type(access.ty, true);
        let merged: Lanes = (0..if wanted { parts(access.ty) } else { 0 })
            .map(|_| self.b.append_block_param(done, clif))
            .collect();
        let status = sparse.then(|| self.b.append_block_param(done, types::I64));
        let atomic = Atomic {
            access,
            op,
            value,
            compare,
            guard,
            bits,
            desc,
            inline,
            locked,
            run,
            wanted,
            sparse,
            done,
        };
        let in_shared = compare.is_none()
            && access.space == Space::Shared
            && matches!(access.ty, Type::I32 | Type::F32)
            && self.scope.classes.get(access.address) == Class::Varying;
        if in_shared || run.is_some() {
            let general = self.b.create_block();
            self.all_lanes_at_once(&atomic, general);
            self.b.switch_to_block(general);
        }
        self.on_one_way(|lowerer| lowerer.lane_by_lane(&atomic));
        self.b.switch_to_block(done);
        if wanted {
            self.chunk().lanes.insert(result, merged);
        }
        self.set_status(inst, status);
    }

    /// Performs the atomic of all lanes after one check, if all lanes are active; otherwise goes to
    /// `general`.
    fn all_lanes_at_once(&mut self, atomic: &Atomic, general: ClifBlock) {
        let Atomic { access, guard, run, .. } = *atomic;
        if self.settled_mask(guard) != Some(true) {
            let full = self.b.ins().icmp_imm_u(IntCC::Equal, atomic.bits, 0xff);
            self.require(full, general);
        }
        if access.space == Space::Generic && matches!(access.ty, Type::I32 | Type::F32) {
            let (window, global) = (self.b.create_block(), self.b.create_block());
            self.on_one_way(|lowerer| {
                let looks = lowerer.looks_in_a_window(&access);
                lowerer.b.ins().brif(looks, window, &[], global, &[]);
                lowerer.b.switch_to_block(window);
                let offsets = lowerer.offsets_in_window(Window::Shared, &access, general);
                let old = lowerer.atomic_at_offsets(atomic, offsets);
                lowerer.found(atomic, old);
            });
            self.b.switch_to_block(global);
        }
        self.on_one_way(|lowerer| {
            let old = match run {
                Some(run) => lowerer.atomic_in_a_run(atomic, run, general),
                None => {
                    let offsets = lowerer.offsets(&access, None, general);
                    lowerer.atomic_at_offsets(atomic, offsets)
                }
            };
            lowerer.found(atomic, old);
        });
    }

    /// Jumps to the join with old values from resident memory.
    fn found(&mut self, atomic: &Atomic, old: Lanes) {
        let none = atomic.sparse.then(|| self.b.ins().iconst(types::I64, 0));
        let args: Vec<BlockArg> = old.into_iter().chain(none).map(BlockArg::Value).collect();
        self.b.ins().jump(atomic.done, &args);
    }

    /// Performs the atomic lane by lane, or by the helper if there is no inline code.
    fn lane_by_lane(&mut self, atomic: &Atomic) {
        let Atomic { access, op, compare, bits, locked, wanted, .. } = *atomic;
        let ty = access.ty;
        self.stage(&access, &[atomic.value]);
        if let Some(compare) = compare {
            self.stage_compare(compare);
        }
        if atomic.sparse {
            self.clear_status();
        }
        let performed = self.b.create_block();
        if let Some(run) = atomic.run {
            self.atomic_that_finds_a_run(atomic, run, performed);
        }
        // Inactive lanes return 0. Results overwrite the staged values lane by lane.
        if atomic.inline {
            self.lane_loop(
                &access,
                bits,
                Unreached::CallsHelper(atomic.desc),
                |lowerer, host, lane| {
                    let operand = lowerer.staged_scalar(STAGED_VALUES, lane, ty);
                    let expected = compare.map(|_| lowerer.staged_scalar(STAGED_COMPARE, lane, ty));
                    let old = lowerer.one_lane(op, ty, locked, host, operand, expected);
                    if wanted {
                        let (at, offset) = lowerer.staged_address(STAGED_VALUES, lane, ty);
                        lowerer.b.ins().store(flags(), old, at, offset);
                    }
                },
            );
        } else {
            self.call_access(atomic.desc, bits, false);
        }
        self.b.ins().jump(performed, &[]);
        self.b.switch_to_block(performed);
        let mut args = Vec::new();
        if wanted {
            let lanes = self.staged_lanes(STAGED_VALUES, ty);
            let zero = self.zero_lanes(ty);
            args.extend(
                self.merge(atomic.guard, &lanes, &zero, ty).into_iter().map(BlockArg::Value),
            );
        }
        if atomic.sparse {
            args.push(BlockArg::Value(self.status()));
        }
        self.b.ins().jump(atomic.done, &args);
    }

    /// Calls the helper if there is no run yet and all lanes are active. The helper performs the
    /// atomic and finds a run for the next time; code then continues in `performed`.
    fn atomic_that_finds_a_run(&mut self, atomic: &Atomic, run: usize, performed: ClifBlock) {
        let [_, bytes, _] = self.run(run, Rights::WRITE);
        let empty = self.b.ins().icmp_imm_u(IntCC::Equal, bytes, 0);
        let full = self.b.ins().icmp_imm_u(IntCC::Equal, atomic.bits, 0xff);
        let mut unknown = self.b.ins().band(empty, full);
        if atomic.access.space == Space::Generic {
            // Shared memory has no run.
            let looks = self.on_one_way(|lowerer| lowerer.looks_in_a_window(&atomic.access));
            unknown = self.b.ins().band_not(unknown, looks);
        }
        let (find, known) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(unknown, find, &[], known, &[]);
        self.b.switch_to_block(find);
        self.call_access(atomic.desc, atomic.bits, false);
        self.b.ins().jump(performed, &[]);
        self.b.switch_to_block(known);
    }

    /// Performs the atomic of all lanes in shared memory, at offsets that are known to be in range.
    /// Returns the old values, if they are wanted.
    fn atomic_at_offsets(&mut self, atomic: &Atomic, offsets: [Clif; 2]) -> Lanes {
        let Atomic { op, value, wanted, access: Access { ty, .. }, .. } = *atomic;
        let alike = self.is_alike(value);
        let same = alike.then(|| self.base(value).0);
        let operands = if alike { Lanes::new() } else { self.lanes(value) };
        let mut old = if wanted { self.zero_lanes(ty) } else { Lanes::new() };
        let shared = self.ctx_load(types::I64, abi::SHARED);
        for lane in 0..CHUNK as usize {
            let at = self.b.ins().extractlane(offsets[lane / 4], (lane % 4) as u8);
            let at = self.b.ins().uextend(types::I64, at);
            let host = self.b.ins().iadd(shared, at);
            let operand = same
                .unwrap_or_else(|| self.b.ins().extractlane(operands[lane / 4], (lane % 4) as u8));
            let found = self.one_lane(op, ty, false, host, operand, None);
            if wanted {
                old[lane / 4] = self.b.ins().insertlane(old[lane / 4], found, (lane % 4) as u8);
            }
        }
        old
    }

    /// Performs the atomic of all lanes in global memory, if all lie in a run. Returns the old
    /// values, if they are wanted.
    fn atomic_in_a_run(&mut self, atomic: &Atomic, run: usize, slow: ClifBlock) -> Lanes {
        let Atomic { ref access, op, value, wanted, locked, .. } = *atomic;
        let (distances, first) = self.in_a_run(access, run, Rights::WRITE, slow);
        let ty = access.ty;
        // Distances and operands go through the scratch area, as in `scatter_lanes`.
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
            let found = self.one_lane(op, ty, locked, host, operand, None);
            if wanted {
                old[lane / per] =
                    self.b.ins().insertlane(old[lane / per], found, (lane % per) as u8);
            }
        }
        old
    }

    /// Returns whether all lanes of a chunk have the same value.
    fn is_alike(&self, value: Value) -> bool {
        matches!(self.scope.classes.get(value), Class::Uniform | Class::SAME_IN_CHUNK)
    }

    fn result_is_used(&self, result: warploom_ir::Value) -> bool {
        let mut used = self.facts.planned.plan.escapes[result];
        for inst in &self.facts.block.insts {
            inst.op.for_each_operand(|v| used |= v == result);
        }
        used
    }
}
