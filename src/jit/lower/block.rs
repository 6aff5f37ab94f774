//! One block: its steps in order, and the loop over chunks of a segment.

use std::collections::HashMap;
use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Type as ClifType, Value as Clif, types};
use cranelift_frontend::FunctionBuilder;
use smallvec::SmallVec;

use super::super::abi;
use super::super::forms::clif_type;
use super::chunk::{Chunk, flags};
use super::full_warp::Whole;
use super::region::Region;
use super::spill::Spills;
use super::vector;
use crate::analysis::{CHUNK, Classes, Group, Liveness, Masks, Plan, Step, Sweep};
use crate::ir::{Block, CellKind, Extend, Function, Inst, IntCc, Op, Part, Reg, Space, Type, Value};
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
    pub full_warp_classes: &'r Classes,
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
    pub full_warp: Option<Whole<'r>>,
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
    /// Masks of scalar steps that a loop in registers computes in the chunk.
    pub in_chunk: std::collections::HashSet<Value>,
    /// Masks of a loop in registers that are others (see [`super::register_loop`]).
    pub equal_masks: HashMap<Value, Value>,
    /// Where values of the chunk that a loop in registers does not change rest in memory.
    pub laid_down: HashMap<Value, SmallVec<[i32; 4]>>,
    /// Addresses of constant banks.
    pub constant_banks: std::collections::HashMap<u8, Clif>,
    /// What is_in_memory in memory in the segment being lowered, if its values do not fit into registers.
    pub spills: Option<Spills>,
    /// Steps that skip chunks without active lanes.
    pub inactive: Vec<bool>,
    /// Which of the TLB's runs instructions have whose lanes are scattered.
    pub runs: HashMap<usize, usize>,
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
        if let Some(register_loop) = self.register_loop().filter(|_| self.number != 0) {
            return self.lower_register_loop(&register_loop);
        }
        self.enter();
        if let Some(sweep) = self.sweep {
            self.sweep(sweep);
        }
        self.count_block();
        self.inactive = self.inactive_steps();
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
        match &self.full_warp {
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

    /// The active mask as the block reads it at entry.
    pub(super) fn entry_mask(&self) -> Option<Value> {
        self.block.entry_mask(self.function.active)
    }

    /// Moves to a fresh block and marks it as unlikely.
    pub(super) fn cold_block(&mut self) -> ClifBlock {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }
}
