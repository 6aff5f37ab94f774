//! Loops that stay in a chunk.
//!
//! A block that jumps back to itself while lanes are active, and that is one segment without memory operations, is run
//! to its end for one chunk after the other: no lane can see the others. What the loop carries, lane registers and
//! masks, stays in machine registers. A chunk runs at most as many rounds as the budget and the back edges allow, so
//! that when the loop is left early all chunks that still have active lanes have done equally many, as in lockstep.
//! Some loops that load are run so for one lane after the other: see [`super::scalarized`].

mod exit_masks;
mod find;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Clif, types};

use super::super::abi;
use super::super::forms::{Lanes, MaskForm, parts};
use super::block::BlockLowerer;
use super::chunk::flags;
use super::spill::VECTOR;
use super::{int, vector};
use crate::analysis::Step;
use crate::ir::{BinaryOp, BlockId, Op, Reg, Type, Value};
use crate::jit::tuning;
use exit_masks::ExitMasks;

/// What a loop in registers consists of.
pub struct RegisterLoop {
    /// The segment's instructions, in their order.
    pub(super) body: Vec<usize>,
    /// How many of them load from memory.
    pub(super) loads: usize,
    exit: BlockId,
    /// The active mask at entry, and after a round.
    pub(super) active: Value,
    pub(super) next_active: Value,
    /// Lane registers that the loop writes: value and guard.
    pub(super) lanes: BTreeMap<Reg, (Value, Option<Value>)>,
    /// Mask registers that it writes.
    pub(super) masks: BTreeMap<Reg, Value>,
    /// Those of them that gather the lanes that leave. They are not carried.
    pub(super) exit_masks: ExitMasks,
    /// Masks computed outside the segment from carried ones.
    pub(super) carried_scalars: HashSet<Value>,
    /// Registers carried as floats whose NaNs are made canonical after the loop.
    pub(super) raw: BTreeSet<Reg>,
}

impl RegisterLoop {
    /// Whether an instruction is one of the segment's.
    pub(super) fn has(&self, index: usize) -> bool {
        self.body.binary_search(&index).is_ok()
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Lowers the block as a loop in registers. The block has been entered and not yet counted.
    pub(super) fn lower_register_loop(&mut self, register_loop: &RegisterLoop) {
        let rounds = self.allowed_rounds();
        for &reg in &register_loop.raw {
            let (value, _) = register_loop.lanes[&reg];
            let Op::Convert { a, .. } = *self.def_op(value) else { unreachable!("a cast of a float") };
            self.bits_used[a.0 as usize] = false;
        }
        for number in 0..self.plan.steps.len() {
            if let Step::Scalar(index) = self.plan.steps[number] {
                let inst = &self.block.insts[index];
                let write = matches!(inst.op, Op::RfWrite { .. });
                if !write && !inst.results.iter().any(|r| register_loop.carried_scalars.contains(r)) {
                    self.steps = number..number + 1;
                    self.scalar_inst(index);
                }
            }
        }
        let step = self
            .plan
            .steps
            .iter()
            .position(|step| matches!(step, Step::Segment(_)))
            .expect("a register_loop loop has a segment");
        self.steps = step..step + 1;
        self.in_chunk.clone_from(&register_loop.carried_scalars);

        let old_masks: Vec<Clif> = register_loop
            .masks
            .keys()
            .map(|&reg| {
                let offset = self.layout.offset(reg) as i32;
                self.b.ins().load(types::I64, flags(), self.registers, offset)
            })
            .collect();
        self.expect_exit_masks_inactive(register_loop, &old_masks);
        let done = match register_loop.loads {
            0 => self.chunks_to_their_end(register_loop, &old_masks, rounds),
            _ => self.lanes_to_their_end(register_loop, &old_masks, rounds),
        };
        self.finish_rounds(register_loop, &done);
    }

    /// Has careful code do the loop if a lane is active that has left it.
    fn expect_exit_masks_inactive(&mut self, register_loop: &RegisterLoop, old_masks: &[Clif]) {
        let masks = || register_loop.masks.keys().zip(old_masks);
        let gathered = masks().filter(|(reg, _)| register_loop.exit_masks.regs.contains(reg)).map(|(_, &mask)| mask);
        let Some(gathered) = gathered.reduce(|all, mask| self.b.ins().bor(all, mask)) else { return };
        let active = masks().find(|(reg, _)| **reg == self.function.active).expect("the loop writes it").1;
        let both = self.b.ins().band(gathered, *active);
        let (again, idle) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(both, again, &[], idle, &[]);
        self.b.switch_to_block(again);
        self.resume_at(BlockId(self.number));
        self.return_code(abi::CAREFUL);
        self.b.switch_to_block(idle);
        self.equal_masks.clone_from(&register_loop.exit_masks.equal);
    }

    /// One chunk after the other runs the loop to its end, or to the last of `rounds`.
    fn chunks_to_their_end(&mut self, register_loop: &RegisterLoop, old_masks: &[Clif], rounds: Clif) -> Done {
        // Over chunks: most rounds so far, lanes counted so far, and the masks gathered.
        let mask_regs: Vec<Reg> = register_loop.masks.keys().copied().collect();
        let fixed = 2;
        let none = self.b.ins().iconst(types::I64, 0);
        let after = self.each_chunk(none, &vec![none; fixed + mask_regs.len()], |lowerer, state| {
            let latch = lowerer.b.create_block();
            let after: Vec<Clif> = state.iter().map(|_| lowerer.b.append_block_param(latch, types::I64)).collect();
            let old_bits: Vec<Clif> = old_masks.iter().map(|&old| lowerer.chunk_bits(old)).collect();
            let active = lowerer.function.active;
            let active_at = mask_regs.iter().position(|&reg| reg == active).expect("the loop writes it");
            let work = lowerer.b.create_block();
            let inactive_args = lowerer.place_masks(state, fixed, &old_bits);
            lowerer.b.ins().brif(old_bits[active_at], work, &[], latch, &inactive_args);
            lowerer.b.switch_to_block(work);
            let done = lowerer.rounds(register_loop, &old_bits, rounds);
            let most = lowerer.b.ins().umax(state[0], done.rounds);
            let lanes = lowerer.b.ins().iadd(state[1], done.lanes);
            let mut finished = vec![BlockArg::Value(most), BlockArg::Value(lanes)];
            finished.extend(lowerer.place_masks(state, fixed, &done.masks).into_iter().skip(fixed));
            lowerer.b.ins().jump(latch, &finished);
            lowerer.b.switch_to_block(latch);
            after
        });
        Done { rounds: after[0], lanes: after[1], masks: after[fixed..].to_vec() }
    }

    /// Rounds that the budget and the back edges allow, at least 1: else the budget's fault is raised here.
    fn allowed_rounds(&mut self) -> Clif {
        let cost = i64::from(self.block.cost);
        let before = self.ctx_load(types::I64, abi::INSTRUCTIONS);
        let limit = self.ctx_load(types::I64, abi::INSTRUCTION_LIMIT);
        let after = self.b.ins().iadd_imm_s(before, cost);
        self.leave_over_budget(after, limit);
        let room = self.b.ins().isub(limit, before);
        let paid = self.b.ins().udiv_imm_u(room, cost);
        let edges = self.ctx_load(types::I64, abi::BACK_EDGES);
        let one = self.b.ins().iconst(types::I64, 1);
        let edges = self.b.ins().smax(edges, one);
        self.b.ins().umin(paid, edges)
    }

    /// Adds the chunk's bits of every carried mask to what earlier chunks gave.
    fn place_masks(&mut self, state: &[Clif], fixed: usize, bits: &[Clif]) -> Vec<BlockArg> {
        let mut args: Vec<BlockArg> = state[..fixed].iter().map(|&v| BlockArg::Value(v)).collect();
        for (&before, &bits) in state[fixed..].iter().zip(bits) {
            args.push(BlockArg::Value(self.add_chunk_bits(before, bits)));
        }
        args
    }

    /// The loop of one chunk.
    fn rounds(&mut self, register_loop: &RegisterLoop, old_bits: &[Clif], rounds: Clif) -> Done {
        let old_masks: BTreeMap<Reg, Clif> =
            register_loop.masks.keys().copied().zip(old_bits.iter().copied()).collect();
        let mask_regs: Vec<Reg> =
            old_masks.keys().copied().filter(|reg| !register_loop.exit_masks.regs.contains(reg)).collect();
        let lane_regs: Vec<(Reg, Type)> = register_loop.lanes.keys().map(|&reg| (reg, self.lane_type(reg))).collect();
        // Guards under which raw floats have been written: those lanes are made canonical at the end.
        let mut raw_guards: Vec<Value> =
            register_loop.raw.iter().filter_map(|reg| register_loop.lanes[reg].1).collect();
        raw_guards.sort();
        raw_guards.dedup();

        let mut start: Vec<Clif> = Vec::new();
        for &(reg, _) in &lane_regs {
            start.extend(self.load_row(reg));
        }
        for reg in &mask_regs {
            start.extend(vector::mask_words(self.b, old_masks[reg]));
        }
        let zero = self.b.ins().iconst(types::I64, 0);
        start.extend(std::iter::repeat_n(zero, raw_guards.len() + 2));
        self.prepare_invariants(register_loop, &lane_regs);
        let carried = start.iter().filter(|&&v| self.b.func.dfg.value_type(v).is_vector()).count();
        self.lay_down_invariants(carried);

        let head = self.b.create_block();
        let exit = self.b.create_block();
        let tys: Vec<_> = start.iter().map(|&v| self.b.func.dfg.value_type(v)).collect();
        let params: Vec<Clif> = tys.iter().map(|&ty| self.b.append_block_param(head, ty)).collect();
        let results: Vec<Clif> = tys.iter().map(|&ty| self.b.append_block_param(exit, ty)).collect();
        let args: Vec<BlockArg> = start.iter().map(|&v| BlockArg::Value(v)).collect();
        self.b.ins().jump(head, &args);
        self.b.switch_to_block(head);

        let outer = self.chunk.clone();
        let mut at = 0;
        let mut take = |n: usize| {
            at += n;
            at - n..at
        };
        let mut carried: HashMap<Reg, Lanes> = HashMap::new();
        for &(reg, ty) in &lane_regs {
            carried.insert(reg, params[take(parts(ty))].iter().copied().collect());
        }
        let mut carried_masks: HashMap<Reg, [Clif; 2]> = HashMap::new();
        for &reg in &mask_regs {
            let range = take(2);
            carried_masks.insert(reg, [params[range.start], params[range.start + 1]]);
        }
        let written = take(raw_guards.len());
        let [went_on, round] = [take(1).start, take(1).start];
        let none = int::constant(self.b, Type::I32, 0, true);
        for inst in &self.block.insts {
            let Op::RfRead { reg, .. } = inst.op else { continue };
            let v = inst.results[0];
            if let Some(lanes) = carried.get(&reg) {
                let lanes = lanes.clone();
                self.chunk().lanes.insert(v, lanes);
            } else if register_loop.exit_masks.regs.contains(&reg) {
                self.chunk().masks.insert(v, MaskForm { words: Some([none; 2]), ..MaskForm::default() });
            } else if let Some(&words) = carried_masks.get(&reg) {
                self.chunk().masks.insert(v, MaskForm { words: Some(words), ..MaskForm::default() });
            }
        }

        let mut next: Vec<Clif> = Vec::new();
        let mut new_value = |&(reg, _): &(Reg, Type)| match self.counts_by(reg, register_loop.lanes[&reg].0) {
            Some(step) => New::Counted(step),
            None => New::Lanes(self.lanes(register_loop.lanes[&reg].0)),
        };
        let new_values: Vec<New> = lane_regs.iter().map(&mut new_value).collect();
        for (&(reg, ty), new) in lane_regs.iter().zip(&new_values) {
            let guard = register_loop.lanes[&reg].1.expect("resident writes are guarded");
            match new {
                New::Lanes(new) => next.extend(self.merge(guard, new, &carried[&reg], ty)),
                New::Counted(step) => {
                    let masks = self.mask_lanes(guard, ty);
                    let counted = carried[&reg].iter().zip(masks).map(|(&old, mask)| match step {
                        Count::Up => self.b.ins().isub(old, mask),
                        Count::Down => self.b.ins().iadd(old, mask),
                    });
                    next.extend(counted);
                }
            }
        }
        for reg in &mask_regs {
            next.extend(self.mask_words(register_loop.masks[reg]));
        }
        let going_words = self.mask_words(register_loop.next_active);
        let going = vector::mask_bit_pairs(self.b, going_words);
        for (&guard, before) in raw_guards.iter().zip(written.clone()) {
            let words = self.mask_words(guard);
            let bits = if words == going_words { going } else { vector::mask_bit_pairs(self.b, words) };
            next.push(self.b.ins().bor(params[before], bits));
        }
        let lanes = self.b.ins().popcnt(going);
        next.push(self.b.ins().iadd(params[went_on], lanes));
        let count = self.b.ins().iadd_imm_s(params[round], 1);
        next.push(count);
        let room = self.b.ins().icmp(IntCC::UnsignedLessThan, count, rounds);
        let more = self.b.ins().select(room, going, zero);
        let args: Vec<BlockArg> = next.iter().map(|&v| BlockArg::Value(v)).collect();
        self.b.ins().brif(more, head, &args, exit, &args);

        self.b.switch_to_block(exit);
        self.chunk = outer;
        self.laid_down.clear();
        let mut at = 0;
        for &(reg, ty) in &lane_regs {
            let mut lanes: Lanes = results[at..at + parts(ty)].iter().copied().collect();
            at += parts(ty);
            if register_loop.raw.contains(&reg) {
                let guard = register_loop.lanes[&reg].1.expect("resident writes are guarded");
                let which = raw_guards.iter().position(|&g| g == guard).expect("listed above");
                let written = vector::words_of_bit_pairs(self.b, results[written.start + which]);
                for (lane, written) in lanes.iter_mut().zip(written) {
                    *lane = self.canonical_where(written, *lane);
                }
            }
            let offset = self.layout.offset(reg);
            self.store_cells(ty, offset, &lanes);
        }
        let mut masks: BTreeMap<Reg, Clif> = BTreeMap::new();
        for &reg in &mask_regs {
            masks.insert(reg, vector::mask_bits(self.b, [results[at], results[at + 1]]));
            at += 2;
        }
        let (before, after) = (old_masks[&self.function.active], masks[&self.function.active]);
        let left = self.b.ins().band_not(before, after);
        for &reg in &register_loop.exit_masks.regs {
            masks.insert(reg, self.b.ins().bor(old_masks[&reg], left));
        }
        // Active are the lanes of the first round, and those that went on, but for the last time.
        let went_on = self.b.ins().ushr_imm_u(results[went_on], 1);
        let [first, last] = [before, after].map(|bits| self.b.ins().popcnt(bits));
        let lanes = self.b.ins().iadd(first, went_on);
        let lanes = self.b.ins().isub(lanes, last);
        Done { rounds: results[round], lanes, masks: masks.into_values().collect() }
    }

    /// Whether the value is that of the register and 1 or -1.
    fn counts_by(&self, reg: Reg, value: Value) -> Option<Count> {
        let Op::Binary { op: BinaryOp::Add, a, b } = *self.def_op(value) else { return None };
        let is_read = |v: Value| matches!(*self.def_op(v), Op::RfRead { reg: read, .. } if read == reg);
        let step = if is_read(a) { b } else { Some(a).filter(|_| is_read(b))? };
        match self.constant(step)? {
            1 => Some(Count::Up),
            bits if bits == self.ty(value).bit_mask() => Some(Count::Down),
            _ => None,
        }
    }

    /// Computes what is the same in every round before the first one.
    fn prepare_invariants(&mut self, register_loop: &RegisterLoop, lane_regs: &[(Reg, Type)]) {
        let mut varies: HashSet<Value> = register_loop.carried_scalars.clone();
        for &index in &register_loop.body {
            let inst = &self.block.insts[index];
            let carried = match inst.op {
                Op::RfRead { reg, .. } => lane_regs.iter().any(|&(r, _)| r == reg),
                _ => inst.op.operands().iter().any(|v| varies.contains(v)),
            };
            if carried {
                varies.extend(&inst.results);
                continue;
            }
            for &result in &inst.results {
                if !self.block.ty(result).is_uniform() {
                    self.lanes(result);
                }
            }
        }
        // Operands made outside the segment, and constants.
        for &index in &register_loop.body {
            for v in self.block.insts[index].op.operands() {
                if !varies.contains(&v) && !self.is_home(v) && !self.is_mask(v) {
                    self.lanes(v);
                }
            }
        }
    }

    /// Has what every round needs rest in memory if it does not fit into registers with what the loop carries: a host
    /// instruction may have an operand there, while what is carried would be late.
    fn lay_down_invariants(&mut self, carried: usize) {
        let lanes: BTreeMap<Value, Lanes> = self.chunk().lanes.drain().collect();
        let vectors: usize = lanes.values().map(|lanes| lanes.len()).sum();
        if !self.region.effort.is_fast() || carried + vectors <= tuning::KEPT_VECTORS {
            self.chunk().lanes.extend(lanes);
            return;
        }
        let mut places: HashMap<Clif, i32> = HashMap::new();
        for (v, lanes) in lanes {
            if (places.len() + lanes.len()) * VECTOR as usize > abi::SPILL_BYTES {
                self.chunk().lanes.insert(v, lanes);
                continue;
            }
            for &part in &lanes {
                let next = abi::SPILLS + places.len() as i32 * VECTOR as i32;
                if let Entry::Vacant(place) = places.entry(part) {
                    place.insert(next);
                    self.b.ins().store(flags(), part, self.ctx, next);
                }
            }
            self.laid_down.insert(v, lanes.iter().map(|part| places[part]).collect());
        }
    }

    pub(super) fn is_mask(&self, v: Value) -> bool {
        self.block.ty(v) == crate::ir::ValueType::MASK
    }

    /// NaNs made canonical in the lanes of a mask.
    fn canonical_where(&mut self, mask: Clif, word: Clif) -> Clif {
        let float = vector::cast(self.b, types::F32X4, word);
        let nan = self.b.ins().fcmp(FloatCC::Unordered, float, float);
        let nan = vector::cast(self.b, types::I32X4, nan);
        let replace = self.b.ins().band(nan, mask);
        let canonical = int::constant(self.b, Type::I32, self.function.nan.canonical(Type::F32), true);
        self.b.ins().bitselect(replace, canonical, word)
    }

    /// Counts what was done, writes the masks back, and goes on.
    fn finish_rounds(&mut self, register_loop: &RegisterLoop, done: &Done) {
        let cost = i64::from(self.block.cost);
        // A block entered without active lanes counts too.
        let one = self.b.ins().iconst(types::I64, 1);
        let (rounds, lanes) = (self.b.ins().umax(done.rounds, one), done.lanes);
        for (offset, amount) in [(abi::INSTRUCTIONS, rounds), (abi::LANE_INSTRUCTIONS, lanes)] {
            let added = self.b.ins().imul_imm_s(amount, cost);
            let before = self.ctx_load(types::I64, offset);
            let sum = self.b.ins().iadd(before, added);
            self.ctx_store(sum, offset);
        }
        let mut going = None;
        for (&reg, &new) in register_loop.masks.keys().zip(&done.masks) {
            let offset = self.layout.offset(reg) as i32;
            let old = self.b.ins().load(types::I64, flags(), self.registers, offset);
            let whole = self.with_outside(new, old);
            self.b.ins().store(flags(), whole, self.registers, offset);
            if reg == self.function.active {
                going = Some(whole);
            }
        }
        // All back edges but the one that `go` may take.
        let edges = self.ctx_load(types::I64, abi::BACK_EDGES);
        let taken = self.b.ins().iadd_imm_s(rounds, -1);
        let left = self.b.ins().isub(edges, taken);
        self.ctx_store(left, abi::BACK_EDGES);
        let (again, exit) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(going.expect("the loop writes the active mask"), again, &[], exit, &[]);
        self.b.switch_to_block(again);
        self.go(BlockId(self.number));
        self.b.switch_to_block(exit);
        self.go(register_loop.exit);
    }
}

/// What a round writes to a register.
enum New {
    Lanes(Lanes),
    /// What it held, and one more or less. A mask's ones are -1: so that takes one instruction, and no register for the sum.
    Counted(Count),
}

#[derive(Clone, Copy)]
enum Count {
    Up,
    Down,
}

/// What the loop of a lane, of a chunk, or of all, ends with.
pub(super) struct Done {
    /// Most rounds of a lane.
    pub rounds: Clif,
    /// Active lanes of all rounds together.
    pub lanes: Clif,
    /// In the order of their registers.
    pub masks: Vec<Clif>,
}
