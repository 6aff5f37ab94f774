//! The variables that a lane carries from round to round.

use std::collections::BTreeSet;

use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use cranelift_frontend as frontend;
use warploom_ir::{BinaryOp, ConvertOp, Op, Reg, Type, Value};

use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::register_loop::RegisterLoop;
use super::super::{float, int};
use super::ops::Lane;
use crate::forms::clif_type;
use crate::tuning;

/// A variable that a lane carries from round to round.
pub struct Variable {
    pub is: frontend::Variable,
    /// Its registers before and after the loop: one, or the registers of the low and the high word.
    pub regs: Vec<Reg>,
    /// The values that read these registers.
    pub reads: Vec<Option<Value>>,
    pub next: Next,
    pub ty: Type,
    /// The lanes that get the new value, if not all lanes in the loop.
    pub guard: Option<Value>,
}

/// The change of a variable in a round.
#[derive(Clone, Copy)]
pub enum Next {
    Value(Value),
    /// The variable grows by a constant.
    Step(i64),
}

/// A load whose address is a variable that moves on by a constant.
#[derive(Clone, Copy)]
pub struct Stream {
    /// The load's index.
    pub inst: usize,
    /// The variable's index.
    pub variable: usize,
    pub step: i64,
}

impl BlockLowerer<'_, '_, '_> {
    /// Returns the registers that the loop writes, as variables. Two registers with the halves of
    /// one value are one variable. A register with the bits of a float is a float variable.
    pub(super) fn variables(&mut self, register_loop: &RegisterLoop) -> Vec<Variable> {
        let always = |reg: &Reg| register_loop.lanes[reg].1 == Some(register_loop.active);
        let mut left: BTreeSet<Reg> = register_loop.lanes.keys().copied().collect();
        let mut variables = Vec::new();
        for &low in register_loop.lanes.keys().filter(|&reg| always(reg)) {
            let pairs = |high: &Reg| {
                *high != low
                    && always(high)
                    && self.next_of_pair(register_loop, low, *high).is_some()
            };
            let Some(high) = left.iter().copied().find(pairs).filter(|_| left.contains(&low))
            else {
                continue;
            };
            let next = self.next_of_pair(register_loop, low, high).expect("a pair");
            variables.push(self.variable(vec![low, high], next, Type::I64, None));
            left.retain(|&reg| reg != low && reg != high);
        }
        for reg in left {
            let (value, guard) = register_loop.lanes[&reg];
            let (next, ty) = match *self.facts.def_op(value) {
                Op::Convert { op: ConvertOp::Bitcast, a, .. }
                    if always(&reg) && self.facts.ty(a) == Type::F32 =>
                {
                    (Next::Value(a), Type::F32)
                }
                _ => {
                    let step = self.moves_on(reg, value).filter(|_| always(&reg));
                    (step.map_or(Next::Value(value), Next::Step), self.lane_type(reg))
                }
            };
            variables.push(self.variable(vec![reg], next, ty, guard.filter(|_| !always(&reg))));
        }
        variables
    }

    fn variable(&mut self, regs: Vec<Reg>, next: Next, ty: Type, guard: Option<Value>) -> Variable {
        let read = |&reg: &Reg| {
            let mut insts = self.facts.block.insts.iter();
            insts
                .find(|inst| matches!(inst.op, Op::RfRead { reg: read, .. } if read == reg))
                .map(|inst| inst.results[0])
        };
        let reads = regs.iter().map(read).collect();
        Variable { is: self.b.declare_var(clif_type(ty, false)), regs, reads, next, ty, guard }
    }

    pub(super) fn reads(&self, v: Value, reg: Reg) -> bool {
        matches!(*self.facts.def_op(v), Op::RfRead { reg: read, .. } if read == reg)
    }

    /// Returns the constant that a round adds to a register, if it changes the register only so.
    pub(super) fn moves_on(&self, reg: Reg, value: Value) -> Option<i64> {
        match *self.facts.def_op(value) {
            Op::Binary { op: BinaryOp::Add, a, b } | Op::AddCarry { a, b, carry: None }
                if self.facts.def(value).results[0] == value
                    && self.facts.ty(value).bits() >= 32 =>
            {
                self.moved_by(a, b, |v| self.reads(v, reg))
            }
            _ => None,
        }
    }

    /// Returns the constant in a sum of a constant and a value for which `is` holds.
    fn moved_by(&self, a: Value, b: Value, is: impl Fn(Value) -> bool) -> Option<i64> {
        let step =
            if is(a) { self.facts.constant(b) } else { self.facts.constant(a).filter(|_| is(b)) };
        let bits = self.facts.ty(a).bits();
        step.map(|step| (step << (64 - bits)) as i64 >> (64 - bits))
    }

    /// Returns the change of two registers in a round, if they hold the halves of one value.
    fn next_of_pair(&self, register_loop: &RegisterLoop, low: Reg, high: Reg) -> Option<Next> {
        let [low_value, high_value] = [low, high].map(|reg| register_loop.lanes[&reg].0);
        match (self.facts.def_op(low_value), self.facts.def_op(high_value)) {
            (
                &Op::Convert { op: ConvertOp::Trunc, a, .. },
                &Op::Convert { op: ConvertOp::HighHalf, a: other, .. },
            ) if a == other && self.facts.ty(low_value) == Type::I32 => {
                let step = match *self.facts.def_op(a) {
                    Op::Binary { op: BinaryOp::Add, a, b } => {
                        self.moved_by(a, b, |v| self.reads_pair(v, low, high))
                    }
                    _ => None,
                };
                Some(step.map_or(Next::Value(a), Next::Step))
            }
            (
                &Op::AddCarry { a, b, carry: None },
                &Op::AddCarry { a: c, b: d, carry: Some(carry) },
            ) if self.facts.ty(low_value) == Type::I32
                && self.facts.def(low_value).results[..] == [low_value, carry]
                && self.facts.def(high_value).results[0] == high_value =>
            {
                let less = self.moved_by(a, b, |v| self.reads(v, low))?;
                let more = self.moved_by(c, d, |v| self.reads(v, high))?;
                Some(Next::Step(less & 0xffff_ffff | more << 32))
            }
            _ => None,
        }
    }

    fn reads_pair(&self, v: Value, low: Reg, high: Reg) -> bool {
        matches!(*self.facts.def_op(v), Op::Concat { lo, hi } if self.reads(lo, low) && self.reads(hi, high))
    }

    /// Returns the address of a lane's cell of a register, as a base and an offset.
    pub(in super::super) fn cell_of(&mut self, number: Clif, reg: Reg) -> (Clif, i32) {
        let shift = self.lane_type(reg).cell_bytes().trailing_zeros();
        let at = self.b.ins().ishl_imm_u(number, i64::from(shift));
        (self.b.ins().iadd(self.registers, at), self.facts.layout.offset(reg) as i32)
    }

    pub(super) fn load_variable(&mut self, number: Clif, variable: &Variable) -> Clif {
        let words = |lowerer: &mut Self, reg, ty| {
            let (base, offset) = lowerer.cell_of(number, reg);
            lowerer.b.ins().load(ty, flags(), base, offset)
        };
        match variable.regs[..] {
            [reg] => words(self, reg, clif_type(variable.ty, false)),
            [low, high] => {
                let [low, high] = [low, high].map(|reg| words(self, reg, types::I32));
                int::concat(self.b, low, high)
            }
            _ => unreachable!("one register or two"),
        }
    }

    /// Stores a lane's last value of a variable.
    pub(super) fn store_variable(
        &mut self,
        register_loop: &RegisterLoop,
        number: Clif,
        variable: &Variable,
    ) {
        let mut value = self.b.use_var(variable.is);
        if register_loop.raw.contains(&variable.regs[0]) {
            let nan = self.facts.function.nan.canonical(Type::F32);
            value = float::canonical(self.b, Type::F32, nan, value, false);
        }
        for (i, &reg) in variable.regs.iter().enumerate() {
            let word = if variable.regs.len() == 1 { value } else { self.half_of(value, i == 1) };
            let (base, offset) = self.cell_of(number, reg);
            self.b.ins().store(flags(), word, base, offset);
        }
    }

    fn half_of(&mut self, value: Clif, high: bool) -> Clif {
        if high { int::high_half(self.b, value) } else { self.b.ins().ireduce(types::I32, value) }
    }

    /// Returns the loads whose addresses move on by a constant, at most one per variable.
    pub(super) fn streams(
        &self,
        register_loop: &RegisterLoop,
        variables: &[Variable],
    ) -> Vec<Stream> {
        let mut streams: Vec<Stream> = Vec::new();
        for &inst in &register_loop.body {
            let Op::Load { access, .. } = self.facts.block.insts[inst].op else { continue };
            let is_address = |variable: &Variable| match variable.regs[..] {
                [reg] => self.reads(access.address, reg),
                [low, high] => self.reads_pair(access.address, low, high),
                _ => false,
            };
            let Some(variable) = variables.iter().position(is_address) else { continue };
            let Next::Step(step) = variables[variable].next else { continue };
            let aligned = step % i64::from(access.align.max(1)) == 0;
            let first = streams.iter().all(|stream| stream.variable != variable);
            let near = (1..=tuning::MOST_STEP).contains(&step.unsigned_abs());
            if access.guard == Some(register_loop.active) && aligned && first && near {
                streams.push(Stream { inst, variable, step });
            }
        }
        streams
    }

    /// Sets the values that read a variable.
    pub(super) fn read_variable(&mut self, lane: &mut Lane, variable: &Variable, value: Clif) {
        match variable.reads[..] {
            [Some(v)] if variable.ty == Type::F32 && self.facts.ty(v) != Type::F32 => {
                lane.floats.insert(v, value);
            }
            [Some(v)] => {
                lane.values.insert(v, value);
            }
            [low, high] => {
                for (v, is_high) in [(low, false), (high, true)] {
                    let half = self.half_of(value, is_high);
                    lane.values.extend(v.map(|v| (v, half)));
                }
                if let [Some(low), Some(high)] = [low, high] {
                    lane.pairs.insert((low, high), value);
                }
            }
            _ => {}
        }
    }

    /// Sets the variables to their values after a round.
    pub(super) fn next_round(&mut self, lane: &Lane, variables: &[&Variable]) {
        let next: Vec<Clif> =
            variables.iter().map(|variable| self.next_value(lane, variable)).collect();
        for (variable, value) in variables.iter().zip(next) {
            self.b.def_var(variable.is, value);
        }
    }

    fn next_value(&mut self, lane: &Lane, variable: &Variable) -> Clif {
        let new = match variable.next {
            Next::Value(value) => self.lane_value(lane, value),
            Next::Step(step) => {
                let old = self.b.use_var(variable.is);
                self.b.ins().iadd_imm_s(old, step)
            }
        };
        let Some(guard) = variable.guard else { return new };
        let bit = self.lane_bit(lane, guard);
        let old = self.b.use_var(variable.is);
        self.b.ins().select(bit, new, old)
    }
}
