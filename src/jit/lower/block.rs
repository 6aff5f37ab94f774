//! One block: its steps in order, and the loop over chunks of a segment.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Type as ClifType, Value as Clif, types};
use cranelift_frontend::FunctionBuilder;
use smallvec::SmallVec;

use super::super::abi;
use super::super::forms::clif_type;
use super::chunk::{Chunk, flags};
use super::region::Region;
use super::rest::Rest;
use super::vector;
use super::whole::Whole;
use crate::analysis::{CHUNK, Classes, Group, Liveness, Masks, Plan, Step, Sweep};
use crate::ir::{
    BinaryOp, Block, CellKind, Extend, Function, Inst, IntCc, Op, Part, Reg, Space, Type, UnaryOp, Value, ValueType,
};
use crate::jit::plan::Slots;

pub struct BlockLowerer<'a, 'r, 'f> {
    pub b: &'a mut FunctionBuilder<'f>,
    pub region: &'a mut Region<'r>,
    pub function: &'r Function,
    pub layout: &'r crate::ir::layout::RegLayout,
    pub number: u32,
    pub block: &'r Block,
    pub plan: &'r Plan,
    pub classes: &'r Classes,
    /// The classes while all lanes are active, for groups.
    pub whole_classes: &'r Classes,
    pub slots: &'r Slots,
    pub groups: &'r [Group],
    pub sweep: Option<&'r Sweep>,
    /// How many steps may be done again by careful code.
    pub repeatable: Option<usize>,
    /// Whether control may come back to the block.
    pub in_loop: bool,
    pub liveness: &'r Liveness,
    /// The step being lowered; several while a group is done as a whole.
    pub steps: Range<usize>,
    pub whole: Option<Whole<'r>>,
    /// Scalars that every later instruction may use.
    pub scalars: Vec<Option<Clif>>,
    pub chunk: Option<Chunk>,
    /// Index of the defining instruction, and which result, of each value.
    pub defs: &'r [(usize, usize)],
    /// How often each value is used.
    pub uses: Vec<u32>,
    /// The active mask at the block's end, if it is known.
    pub exit_mask: Option<Value>,
    /// Whether the bits of a float value can be seen, so that a NaN must be canonical.
    pub bits_used: Vec<bool>,
    /// The same of the value being made.
    pub bits_matter: bool,
    pub ctx: Clif,
    pub registers: Clif,
    /// Masks of scalar steps that a resident loop computes in the chunk.
    pub in_chunk: std::collections::HashSet<Value>,
    /// Masks of a resident loop that are others (see [`super::leavers`]).
    pub equal_masks: HashMap<Value, Value>,
    /// Where values of the chunk that a resident loop does not change rest in memory.
    pub laid_down: HashMap<Value, SmallVec<[i32; 4]>>,
    /// Addresses of constant banks.
    pub constant_banks: std::collections::HashMap<u8, Clif>,
    /// What rests in memory in the segment being lowered, if its values do not fit into registers.
    pub rest: Option<Rest>,
    /// Steps that skip chunks without active lanes.
    pub idle: Vec<bool>,
    /// Which of the TLB's runs instructions have whose lanes are scattered.
    pub runs: HashMap<usize, usize>,
}

/// A mask that a segment computes for what comes after it.
pub(super) struct Outgoing {
    pub value: Value,
    /// Its bits of chunks that are skipped and of lanes past the warp.
    pub outside: Clif,
    holds: Holds,
}

/// What a mask is in other chunks where its bits of [`Outgoing::outside`] are set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holds {
    /// Set, and only there: no compare of lanes goes into it.
    Same,
    /// Set.
    There,
    Perhaps,
}

impl<'r> BlockLowerer<'_, 'r, '_> {
    pub(super) fn ty(&self, v: Value) -> Type {
        self.block.ty(v).ty
    }

    pub(super) fn def(&self, v: Value) -> &'r Inst {
        &self.block.insts[self.defs[v.0 as usize].0]
    }

    pub(super) fn def_op(&self, v: Value) -> &'r Op {
        &self.def(v).op
    }

    pub(super) fn constant(&self, v: Value) -> Option<u64> {
        match self.def_op(v) {
            Op::Const { bits, .. } => Some(*bits),
            Op::Splat { a } => self.constant(*a),
            _ => None,
        }
    }

    pub(super) fn masks(&self) -> Masks<'_> {
        Masks::of(&self.block.insts, self.defs)
    }

    pub(super) fn ctx_load(&mut self, ty: ClifType, offset: i32) -> Clif {
        self.b.ins().load(ty, flags(), self.ctx, offset)
    }

    pub(super) fn ctx_store(&mut self, v: Clif, offset: i32) {
        self.b.ins().store(flags(), v, self.ctx, offset);
    }

    /// A value that is one for the warp.
    pub(super) fn scalar(&mut self, v: Value) -> Clif {
        if let Some(scalar) = self.scalars[v.0 as usize] {
            return scalar;
        }
        let bytes = self.slots.row(v);
        let ty = clif_type(self.ty(v), false);
        let scalar = self.b.ins().load(ty, flags(), self.registers, bytes as i32);
        // In a chunk, what follows may be reached by another way too.
        if self.chunk.is_none() {
            self.scalars[v.0 as usize] = Some(scalar);
        }
        scalar
    }

    pub(super) fn set_scalar(&mut self, v: Value, scalar: Clif) {
        self.scalars[v.0 as usize] = Some(scalar);
        if self.slots.is_stored(v) && self.block.ty(v).is_uniform() {
            let offset = self.slots.row(v) as i32;
            self.b.ins().store(flags(), scalar, self.registers, offset);
        }
    }

    pub(super) fn lower(mut self) {
        if let Some(resident) = self.resident().filter(|_| self.number != 0) {
            return self.lower_resident(&resident);
        }
        self.enter();
        if let Some(sweep) = self.sweep {
            self.sweep(sweep);
        }
        self.count_block();
        self.idle = self.idle_steps();
        self.repeatable = self.repeatable_steps();
        let mut number = 0;
        while number < self.plan.steps.len() {
            match self.groups.iter().find(|group| group.steps.start == number) {
                Some(group) => {
                    self.group(group);
                    number = group.steps.end;
                }
                None => {
                    self.step(number);
                    number += 1;
                }
            }
        }
        self.steps = 0..0;
        self.terminate();
    }

    pub(super) fn step(&mut self, number: usize) {
        self.steps = number..number + 1;
        match &self.plan.steps[number] {
            Step::Scalar(index) => self.scalar_inst(*index),
            Step::Segment(insts) => self.segment(insts),
            Step::Warp(index) => self.warp_inst(*index),
            Step::Interpret(index) => {
                if !self.scalar_access(*index) {
                    self.interpret(*index);
                }
            }
        }
    }

    /// The run of an instruction whose lanes are scattered, wherever it is lowered.
    pub(super) fn run_of(&mut self, index: usize) -> usize {
        let region = &mut *self.region;
        *self.runs.entry(index).or_insert_with(|| region.next_run())
    }

    /// Whether something outside the steps being lowered uses a value.
    pub(super) fn escapes(&self, v: Value) -> bool {
        match &self.whole {
            Some(whole) => whole.escapes(v),
            None => self.plan.escapes[v.0 as usize],
        }
    }

    fn cell(&self, reg: Reg) -> (i32, Type) {
        let ty = match self.function.bank(reg.bank).kind {
            CellKind::Uniform(ty) => ty,
            _ => Type::I64,
        };
        (self.layout.offset(reg) as i32, ty)
    }

    /// Stores a scalar to a cell of 8 bytes, zero-extended.
    fn store_cell(&mut self, v: Clif, ty: Type, address: Clif, offset: i32) {
        let bits = match ty {
            Type::F32 => vector::cast(self.b, types::I32, v),
            Type::F64 => vector::cast(self.b, types::I64, v),
            _ => v,
        };
        let wide = if ty.bits() == 64 { bits } else { self.b.ins().uextend(types::I64, bits) };
        self.b.ins().store(flags(), wide, address, offset);
    }

    pub(super) fn scalar_inst(&mut self, index: usize) {
        let inst = &self.block.insts[index];
        match &inst.op {
            Op::RfRead { reg, .. } => {
                let (offset, ty) = self.cell(*reg);
                let v = self.b.ins().load(clif_type(ty, false), flags(), self.registers, offset);
                self.set_scalar(inst.results[0], v);
            }
            Op::RfWrite { reg, value, part, .. } => {
                debug_assert_eq!(*part, Part::Whole, "analysis composes parts");
                let (offset, ty) = self.cell(*reg);
                let v = self.scalar(*value);
                self.store_cell(v, ty, self.registers, offset);
            }
            Op::RfGather { bank, first, count, index } => {
                let (at, inside) = self.cell_offset(*count, *index);
                let ty = self.ty(inst.results[0]);
                let first = self.layout.offset(bank.reg(*first)) as i32;
                let v = self.b.ins().load(clif_type(ty, false), flags(), at, first);
                let zero = super::int::constant(self.b, ty, 0, false);
                let v = self.b.ins().select(inside, v, zero);
                self.set_scalar(inst.results[0], v);
            }
            Op::RfScatter { .. } => self.scatter_cells(),
            Op::Load { access, extend, .. } => {
                let Space::Const(bank) = access.space else { unreachable!("other scalar loads are interpreted") };
                let v = self.const_load(bank, access.address, access.offset, access.ty, *extend);
                self.set_scalar(inst.results[0], v);
            }
            Op::Raise { guard, .. } => self.raise(index, guard.expect("analysis makes masks explicit")),
            Op::Fence => {
                // One thread sees what it did in order.
                if !self.region.one_worker {
                    self.b.ins().fence();
                }
            }
            Op::AddCarry { a, b, carry: None } => {
                let (x, y) = (self.scalar(*a), self.scalar(*b));
                let sum = self.b.ins().iadd(x, y);
                let sum = super::int::narrow(self.b, self.ty(*a), sum, false);
                let out = super::int::compare_scalar(self.b, IntCc::LtU, self.ty(*a), sum, x);
                let out = self.within_warp(&inst.op, out);
                self.set_scalar(inst.results[0], sum);
                self.set_scalar(inst.results[1], out);
            }
            op => {
                let args: Vec<Clif> = op.operands().iter().map(|&v| self.scalar(v)).collect();
                self.bits_matter = self.bits_used[inst.results[0].0 as usize];
                let mut v = self.pure_scalar(op, &args, self.ty(inst.results[0]));
                if matches!(op, Op::ICmp { .. } | Op::FCmp { .. }) {
                    v = self.within_warp(op, v);
                }
                self.set_scalar(inst.results[0], v);
            }
        }
    }

    /// Writes indexed cells: what follows in steps of its own and has the same index, as the parts of a divergence stack have,
    /// is written with the first of it.
    fn scatter_cells(&mut self) {
        let scatter = |lowerer: &Self, number: usize| match lowerer.plan.steps.get(number) {
            Some(Step::Scalar(inst)) => match lowerer.block.insts[*inst].op {
                Op::RfScatter { bank, first, count, index, value, .. } => {
                    Some((bank.reg(first), value, (index, count)))
                }
                _ => None,
            },
            _ => None,
        };
        let number = self.steps.start;
        let Some((_, _, key)) = scatter(self, number) else { unreachable!("a step that writes an indexed cell") };
        let alike = |lowerer: &Self, number| scatter(lowerer, number).filter(|&(_, _, other)| other == key);
        if number.checked_sub(1).is_some_and(|before| alike(self, before).is_some()) {
            return;
        }
        let (index, count) = key;
        let (at, inside) = self.cell_offset(count, index);
        let written: Vec<(Reg, Value)> =
            (number..).map_while(|number| alike(self, number)).map(|(first, value, _)| (first, value)).collect();
        let values: Vec<Clif> = written.iter().map(|&(_, value)| self.scalar(value)).collect();
        let (write, done) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(inside, write, &[], done, &[]);
        self.b.switch_to_block(write);
        for ((first, value), v) in written.into_iter().zip(values) {
            let ty = self.ty(value);
            self.store_cell(v, ty, at, self.layout.offset(first) as i32);
        }
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// The mask that an operation gives: 0 past the warp if its operands are of lanes, which are all alike here.
    fn within_warp(&mut self, op: &Op, mask: Clif) -> Clif {
        if op.operands().iter().all(|&v| self.block.ty(v).is_uniform()) {
            return mask;
        }
        self.inside_warp(mask)
    }

    /// Where a cell is in the register file from the offset of its range's first cell on, and whether it is inside the range; else
    /// that is the first one.
    fn cell_offset(&mut self, count: u32, index: Value) -> (Clif, Clif) {
        let mut index_value = self.scalar(index);
        if self.ty(index).bits() < 64 {
            index_value = self.b.ins().uextend(types::I64, index_value);
        }
        let inside = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, index_value, i64::from(count));
        let zero = self.b.ins().iconst(types::I64, 0);
        let safe = self.b.ins().select(inside, index_value, zero);
        let bytes = self.b.ins().ishl_imm_u(safe, 3);
        (self.b.ins().iadd(self.registers, bytes), inside)
    }

    /// A scalar at a known address inside a constant bank.
    fn const_load(&mut self, bank: u8, address: Value, offset: i32, ty: Type, extend: Extend) -> Clif {
        // Only scalar steps come here, so what one computes all later ones may use.
        let base = match self.constant_banks.get(&bank) {
            Some(&base) => base,
            None => {
                let base = self.ctx_load(types::I64, abi::CONSTANTS + 8 * i32::from(bank));
                self.constant_banks.insert(bank, base);
                base
            }
        };
        let known = self.constant(address).expect("other loads are interpreted");
        let at = (known as u32).wrapping_add(offset as u32);
        self.load_element(ty, extend, base, at as i32)
    }

    pub(super) fn chunk_count(&self) -> i64 {
        i64::from(u32::from(self.function.lanes).div_ceil(CHUNK))
    }

    /// All lanes of the warp as a mask.
    pub(super) fn warp_mask(&self) -> u64 {
        u64::MAX >> (64 - u32::from(self.function.lanes))
    }

    /// A mask without its bits past the warp.
    pub(super) fn inside_warp(&mut self, mask: Clif) -> Clif {
        match self.warp_mask() {
            u64::MAX => mask,
            all => self.b.ins().band_imm_s(mask, all as i64),
        }
    }

    fn segment(&mut self, insts: &[usize]) {
        let outgoing = self.outgoing(insts);
        let skip = self.skippable();
        let none = self.b.ins().iconst(types::I64, 0);
        let outside: Vec<Clif> = outgoing.iter().map(|out| out.outside).collect();
        let after = self.each_chunk(none, &outside, |lowerer, before| {
            let skipped = skip.map(|active| {
                let latch = lowerer.b.create_block();
                let bits = lowerer.mask_bits(active);
                let work = lowerer.b.create_block();
                let args: Vec<BlockArg> = before.iter().copied().map(BlockArg::Value).collect();
                lowerer.b.ins().brif(bits, work, &[], latch, &args);
                lowerer.b.switch_to_block(work);
                latch
            });
            lowerer.chunk_body(insts);
            let mut after: Vec<Clif> =
                outgoing.iter().zip(before).map(|(out, &before)| lowerer.gather(out, before)).collect();
            if let Some(latch) = skipped {
                let args: Vec<BlockArg> = after.iter().copied().map(BlockArg::Value).collect();
                lowerer.b.ins().jump(latch, &args);
                lowerer.b.switch_to_block(latch);
                after = after.iter().map(|_| lowerer.b.append_block_param(latch, types::I64)).collect();
            }
            lowerer.rest = None;
            after
        });
        let whole_chunks = u32::from(self.function.lanes).is_multiple_of(CHUNK);
        for (out, &mask) in outgoing.iter().zip(&after) {
            let v = if whole_chunks { mask } else { self.with_outside(mask, out.outside) };
            self.set_scalar(out.value, v);
        }
        if insts.iter().any(|&i| self.may_fault_later(i)) {
            self.leave_on_fault();
        }
    }

    /// The body of the loop: every instruction of the segment in order, values as they are needed.
    pub(super) fn chunk_body(&mut self, insts: &[usize]) {
        // A row is overwritten in place, and lanes of the whole warp may still be asked for after the first chunk.
        let at_once = self.whole.is_none();
        self.rest = self.rest_for(insts);
        for (at, &index) in insts.iter().enumerate() {
            let inst = &self.block.insts[index];
            match inst.op {
                Op::RfWrite { reg, value, guard, .. } if at_once => {
                    self.read_before_write(reg, index);
                    self.write_row(reg, value, guard);
                    self.overwrite(reg);
                }
                Op::RfWrite { value, guard, .. } => {
                    self.lanes(value);
                    if let Some(guard) = guard.filter(|&guard| self.settled_mask(guard) != Some(true)) {
                        self.mask(guard);
                    }
                }
                Op::Load { .. } if self.is_tested_in_group(index) => self.put_off_load(index),
                Op::Store { .. } if self.is_tested_in_group(index) => self.store_whole(index),
                Op::Load { .. } => self.load(index),
                Op::Store { .. } => self.store(index),
                Op::Atomic { .. } => self.atomic(index),
                _ if self.rest.is_some() => self.compute_now(&inst.results),
                _ => {}
            }
            for &result in &inst.results {
                if !self.escapes(result) {
                    continue;
                }
                if self.block.ty(result) == ValueType::MASK {
                    self.mask_bits(result);
                } else if self.slots.is_stored(result) && !self.block.ty(result).is_uniform() {
                    self.store_slot(result);
                }
            }
            self.put_to_rest(at);
        }
        for &index in insts.iter().filter(|_| !at_once) {
            if let Op::RfWrite { reg, value, guard, .. } = self.block.insts[index].op {
                self.write_row(reg, value, guard);
            }
        }
    }

    /// Loads what a register holds before the instruction that writes it, if something lowered later may ask for it.
    fn read_before_write(&mut self, reg: Reg, index: usize) {
        for inst in &self.block.insts[..index] {
            if let Op::RfRead { reg: read, .. } = inst.op
                && read == reg
                && (self.is_home(inst.results[0]) || !self.slots.is_stored(inst.results[0]))
                && self.is_still_needed(inst.results[0])
            {
                self.lanes(inst.results[0]);
            }
        }
    }

    /// A mask, with its bits past the warp.
    pub(super) fn with_outside(&mut self, whole: Clif, outside: Clif) -> Clif {
        let past = !self.warp_mask() as i64;
        if past == 0 {
            return whole;
        }
        let inside = self.inside_warp(whole);
        let beyond = self.b.ins().band_imm_s(outside, past);
        self.b.ins().bor(inside, beyond)
    }

    /// Masks that the segment makes for later steps.
    pub(super) fn outgoing(&mut self, insts: &[usize]) -> Vec<Outgoing> {
        let masks: Vec<Value> = insts.iter().flat_map(|&index| &self.block.insts[index].results).copied().collect();
        let masks: Vec<Value> = masks.into_iter().filter(|&v| self.block.ty(v) == ValueType::MASK).collect();
        let mut needed = HashSet::new();
        for &value in masks.iter().rev() {
            if needed.contains(&value) || self.escapes(value) {
                needed.insert(value);
                if let Op::Unary { .. } | Op::Binary { .. } = self.def_op(value) {
                    needed.extend(self.def_op(value).operands());
                }
            }
        }
        let mut outside = HashMap::new();
        for &value in masks.iter().filter(|value| needed.contains(value)) {
            let bits = self.outside(value, &outside);
            outside.insert(value, bits);
        }
        let escaping = masks.into_iter().filter(|&value| self.escapes(value));
        let outgoing = escaping.map(|value| Outgoing { value, outside: outside[&value].0, holds: outside[&value].1 });
        outgoing.collect()
    }

    /// Puts the chunk's bits of an outgoing mask among those of other chunks. What has been gathered begins as those of outside.
    fn gather(&mut self, out: &Outgoing, before: Clif) -> Clif {
        let bits = self.mask_bits(out.value);
        if out.holds != Holds::Perhaps {
            return self.add_chunk_bits(before, bits);
        }
        let outside = self.chunk_bits(out.outside);
        let changed = self.b.ins().bxor(bits, outside);
        let changed = self.in_warp(changed);
        self.b.ins().bxor(before, changed)
    }

    /// A mask of the segment where every compare made in it is taken for false, and whether it holds wherever that does, `known`
    /// being those that it is made of. That is what it is in lanes past the warp, and in chunks that `skippable` allows to skip.
    fn outside(&mut self, v: Value, known: &HashMap<Value, (Clif, Holds)>) -> (Clif, Holds) {
        if let Some(scalar) = self.scalars[v.0 as usize] {
            return (scalar, Holds::Same);
        }
        let operand = |lowerer: &mut Self, v: Value| match known.get(&v) {
            Some(&outside) => outside,
            None => (lowerer.scalar(v), Holds::Same),
        };
        match *self.def_op(v) {
            Op::Unary { op: UnaryOp::Not, a } => {
                let (a, holds) = operand(self, a);
                (self.b.ins().bnot(a), if holds == Holds::Same { holds } else { Holds::Perhaps })
            }
            Op::Binary { op, a, b } => {
                let ((a, first), (b, second)) = (operand(self, a), operand(self, b));
                let holds = first.max(second);
                match op {
                    BinaryOp::And => (self.b.ins().band(a, b), holds),
                    BinaryOp::Or => (self.b.ins().bor(a, b), holds),
                    _ => (self.b.ins().bxor(a, b), if holds == Holds::Same { holds } else { Holds::Perhaps }),
                }
            }
            _ => (self.b.ins().iconst(types::I64, 0), Holds::There),
        }
    }

    /// The active mask as the block reads it at entry.
    pub(super) fn entry_mask(&self) -> Option<Value> {
        self.block.entry_mask(self.function.active)
    }

    /// The mask without which a chunk of the current segment has nothing to do, if there is one.
    fn skippable(&self) -> Option<Value> {
        let active = self.entry_mask().filter(|active| self.scalars[active.0 as usize].is_some())?;
        self.idle[self.steps.start].then_some(active)
    }

    /// Steps that have nothing to do for a chunk without active lanes: no one sees what they compute there. A step
    /// that feeds another one must be looked at together with it.
    fn idle_steps(&self) -> Vec<bool> {
        let mut idle = vec![false; self.plan.steps.len()];
        let Some(active) = self.entry_mask() else { return idle };
        for (number, step) in self.plan.steps.iter().enumerate() {
            if let Step::Segment(insts) = step {
                idle[number] = insts.iter().all(|&index| self.is_idle(index, number, active));
            }
        }
        for number in (0..idle.len()).rev().filter(|&number| !matches!(self.plan.steps[number], Step::Scalar(_))) {
            if idle[number] {
                continue;
            }
            for &index in self.plan.steps[number].insts() {
                for v in self.block.insts[index].op.operands() {
                    let home = self.plan.home[v.0 as usize] as usize;
                    if home < number && !self.block.ty(v).is_uniform() {
                        idle[home] = false;
                    }
                }
            }
        }
        idle
    }

    /// Whether an instruction of a segment does nothing that can be seen in lanes that are not active.
    fn is_idle(&self, index: usize, step: usize, active: Value) -> bool {
        let inst = &self.block.insts[index];
        let guarded = match inst.op.masking() {
            Some((guard, _)) => guard.is_some_and(|guard| self.masks().is_subset(guard, active)),
            None => true,
        };
        let settled = |&r: &Value| {
            !self.plan.escapes[r.0 as usize] || self.block.ty(r) != ValueType::MASK || self.settled(r, step, active)
        };
        guarded && inst.results.iter().all(settled)
    }

    /// Whether a mask of a step has the bits of `outside` where `active` is empty.
    fn settled(&self, v: Value, step: usize, active: Value) -> bool {
        if self.plan.home[v.0 as usize] as usize != step || self.masks().is_subset(v, active) {
            return true;
        }
        match *self.def_op(v) {
            Op::Unary { op: UnaryOp::Not, a } => self.settled(a, step, active),
            Op::Binary { op: BinaryOp::And, a, b } => {
                let empty = |m| self.masks().is_subset(m, active);
                empty(a) || empty(b) || (self.settled(a, step, active) && self.settled(b, step, active))
            }
            Op::Binary { a, b, .. } => self.settled(a, step, active) && self.settled(b, step, active),
            _ => false,
        }
    }

    /// Moves to a fresh block and marks it as unlikely.
    pub(super) fn cold_block(&mut self) -> ClifBlock {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }
}
