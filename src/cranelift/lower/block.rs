//! One block: its steps in order, and the loop over chunks of a segment.

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block as ClifBlock, InstBuilder, Type as ClifType, Value as Clif, types,
};
use cranelift_frontend::FunctionBuilder;
use warploom_analysis::Step;
use warploom_engine::abi;
use warploom_ir::{CellKind, Extend, IntCc, Op, Part, Reg, Space, Type, Value};

use super::chunk::flags;
use super::facts::BlockFacts;
use super::orders::Order;
use super::region::Region;
use super::scope::Scope;
use super::vector;
use crate::forms::clif_type;

pub struct BlockLowerer<'a, 'r, 'f> {
    pub b: &'a mut FunctionBuilder<'f>,
    pub region: &'a mut Region<'r>,
    pub facts: &'a BlockFacts<'r>,
    pub scope: Scope<'r>,
    pub ctx: Clif,
    pub registers: Clif,
    /// The addresses of constant banks.
    constant_banks: HashMap<u8, Clif>,
    /// The TLB's runs of instructions whose lanes are scattered.
    runs: HashMap<usize, usize>,
}

impl<'a, 'r, 'f> BlockLowerer<'a, 'r, 'f> {
    /// Returns the lowerer of a block whose code begins where the builder is.
    pub(super) fn new(
        b: &'a mut FunctionBuilder<'f>,
        region: &'a mut Region<'r>,
        facts: &'a BlockFacts<'r>,
        ctx: Clif,
        registers: Clif,
    ) -> Self {
        let scope = Scope::of_block(&facts.planned.classes, facts.block.values.len());
        BlockLowerer {
            b,
            region,
            facts,
            scope,
            ctx,
            registers,
            constant_banks: HashMap::new(),
            runs: HashMap::new(),
        }
    }
}

impl<'r> BlockLowerer<'_, 'r, '_> {
    pub(super) fn ctx_load(&mut self, ty: ClifType, offset: i32) -> Clif {
        self.b.ins().load(ty, flags(), self.ctx, offset)
    }

    pub(super) fn ctx_store(&mut self, v: Clif, offset: i32) {
        self.b.ins().store(flags(), v, self.ctx, offset);
    }

    /// Returns a uniform value as a scalar.
    pub(super) fn scalar(&mut self, v: Value) -> Clif {
        if let Some(scalar) = self.scope.scalars[v] {
            return scalar;
        }
        let bytes = self.facts.planned.slots.row(v);
        let ty = clif_type(self.facts.ty(v), false);
        let scalar = self.b.ins().load(ty, flags(), self.registers, bytes as i32);
        // Inside a chunk, later code may be reached on a way without this load.
        if self.scope.chunk.is_none() {
            self.scope.scalars[v] = Some(scalar);
        }
        scalar
    }

    pub(super) fn set_scalar(&mut self, v: Value, scalar: Clif) {
        self.scope.scalars[v] = Some(scalar);
        if self.facts.planned.slots.is_stored(v) && self.facts.block.ty(v).is_uniform() {
            let offset = self.facts.planned.slots.row(v) as i32;
            self.b.ins().store(flags(), scalar, self.registers, offset);
        }
    }

    pub(super) fn lower(mut self) {
        let steps = 0..self.facts.planned.plan.steps.len();
        match self.register_loop() {
            Ok(register_loop) => {
                self.note(steps, register_loop.order());
                return self.lower_register_loop(&register_loop);
            }
            Err(why) if self.facts.planned.in_loop => self.note(steps, Order::LoopInMemory(why)),
            Err(_) => {}
        }
        self.enter();
        if let Some(sweep) = &self.facts.planned.sweep {
            self.note(sweep.group.steps.clone(), Order::Strips);
            self.sweep(sweep);
        }
        self.count_block();
        let mut number = 0;
        while number < self.facts.planned.plan.steps.len() {
            match self.facts.planned.groups.iter().find(|group| group.steps.start == number) {
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
        self.terminate();
    }

    pub(super) fn step(&mut self, number: usize) {
        self.at_steps(number..number + 1, |lowerer| {
            match &lowerer.facts.planned.plan.steps[number] {
                Step::Scalar(index) => lowerer.scalar_inst(*index),
                Step::Segment(insts) => lowerer.segment(insts),
                Step::Warp(index) => lowerer.warp_inst(*index),
                Step::Interpret(index) => {
                    if !lowerer.scalar_access(*index) {
                        lowerer.interpret(*index);
                    }
                }
            }
        });
    }

    /// Returns the TLB's run of an instruction whose lanes are scattered. The run does not depend
    /// on where the instruction is lowered.
    pub(super) fn run_of(&mut self, index: usize) -> usize {
        if let Some(&run) = self.runs.get(&index) {
            return run;
        }
        let access = self.facts.block.insts[index].op.access().expect("an access");
        let run = self.run_for(access.address);
        self.runs.insert(index, run);
        run
    }

    /// Returns whether something outside the steps being lowered uses a value.
    pub(super) fn escapes(&self, v: Value) -> bool {
        match self.scope.mode.settled() {
            Some(settled) => settled.escapes(v),
            None => self.facts.planned.plan.escapes[v],
        }
    }

    fn cell(&self, reg: Reg) -> (i32, Type) {
        let ty = match self.facts.function.bank(reg.bank).kind {
            CellKind::Uniform(ty) => ty,
            _ => Type::Mask,
        };
        (self.facts.layout.offset(reg) as i32, ty)
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
        let inst = &self.facts.block.insts[index];
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
                let ty = self.facts.ty(inst.results[0]);
                let first = self.facts.layout.offset(bank.reg(*first)) as i32;
                let v = self.b.ins().load(clif_type(ty, false), flags(), at, first);
                let zero = super::int::constant(self.b, ty, 0, false);
                let v = self.b.ins().select(inside, v, zero);
                self.set_scalar(inst.results[0], v);
            }
            Op::RfScatter { .. } => self.scatter_cells(),
            Op::Load { access, extend, .. } => {
                let Space::Const(bank) = access.space else {
                    unreachable!("other scalar loads are interpreted")
                };
                let v = self.const_load(bank, access.address, access.offset, access.ty, *extend);
                self.set_scalar(inst.results[0], v);
            }
            Op::Raise { guard, .. } => {
                self.raise(index, guard.expect("analysis makes masks explicit"))
            }
            Op::Fence => {
                // With one worker, a thread sees its own accesses in order.
                if !self.region.one_worker {
                    self.b.ins().fence();
                }
            }
            Op::AddCarry { a, b, carry: None } => {
                let (x, y) = (self.scalar(*a), self.scalar(*b));
                let sum = self.b.ins().iadd(x, y);
                let sum = super::int::narrow(self.b, self.facts.ty(*a), sum, false);
                let out = super::int::compare_bit(self.b, IntCc::LtU, self.facts.ty(*a), sum, x);
                let out = self.all_lanes_if(out);
                self.set_scalar(inst.results[0], sum);
                self.set_scalar(inst.results[1], out);
            }
            op => {
                let args: Vec<Clif> = op.operands().iter().map(|&v| self.scalar(v)).collect();
                let v = self.pure_scalar(op, &args, self.wanted(inst.results[0]));
                self.set_scalar(inst.results[0], v);
            }
        }
    }

    /// Writes indexed cells. Steps that follow and write cells by the same index, as the parts of a
    /// divergence stack do, are written together with the first of them.
    fn scatter_cells(&mut self) {
        let scatter =
            |lowerer: &Self, number: usize| match lowerer.facts.planned.plan.steps.get(number) {
                Some(Step::Scalar(inst)) => match lowerer.facts.block.insts[*inst].op {
                    Op::RfScatter { bank, first, count, index, value, .. } => {
                        Some((bank.reg(first), value, (index, count)))
                    }
                    _ => None,
                },
                _ => None,
            };
        let number = self.scope.steps.start;
        let Some((_, _, key)) = scatter(self, number) else {
            unreachable!("a step that writes an indexed cell")
        };
        let alike =
            |lowerer: &Self, number| scatter(lowerer, number).filter(|&(_, _, other)| other == key);
        if number.checked_sub(1).is_some_and(|before| alike(self, before).is_some()) {
            return;
        }
        let (index, count) = key;
        let (at, inside) = self.cell_offset(count, index);
        let written: Vec<(Reg, Value)> = (number..)
            .map_while(|number| alike(self, number))
            .map(|(first, value, _)| (first, value))
            .collect();
        let values: Vec<Clif> = written.iter().map(|&(_, value)| self.scalar(value)).collect();
        let (write, done) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(inside, write, &[], done, &[]);
        self.b.switch_to_block(write);
        for ((first, value), v) in written.into_iter().zip(values) {
            let ty = self.facts.ty(value);
            self.store_cell(v, ty, at, self.facts.layout.offset(first) as i32);
        }
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Returns the address of an indexed cell, less the offset of its range's first cell, and
    /// whether the index is inside the range. If it is not, the address is the first cell's.
    fn cell_offset(&mut self, count: u32, index: Value) -> (Clif, Clif) {
        let mut index_value = self.scalar(index);
        if self.facts.ty(index).bits() < 64 {
            index_value = self.b.ins().uextend(types::I64, index_value);
        }
        let inside =
            self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, index_value, i64::from(count));
        let zero = self.b.ins().iconst(types::I64, 0);
        let safe = self.b.ins().select(inside, index_value, zero);
        let bytes = self.b.ins().ishl_imm_u(safe, 3);
        (self.b.ins().iadd(self.registers, bytes), inside)
    }

    /// Loads a scalar at a known address inside a constant bank.
    fn const_load(
        &mut self,
        bank: u8,
        address: Value,
        offset: i32,
        ty: Type,
        extend: Extend,
    ) -> Clif {
        // Only scalar steps come here, so all later steps may use the address that one computes.
        let base = match self.constant_banks.get(&bank) {
            Some(&base) => base,
            None => {
                let base = self.ctx_load(types::I64, abi::CONSTANTS + 8 * i32::from(bank));
                self.constant_banks.insert(bank, base);
                base
            }
        };
        let known = self.facts.constant(address).expect("other loads are interpreted");
        let at = (known as u32).wrapping_add(offset as u32);
        self.load_element(ty, extend, base, at as i32)
    }

    /// Creates a block and marks it as unlikely.
    pub(super) fn cold_block(&mut self) -> ClifBlock {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }
}
