//! Loops that stay in a chunk.
//!
//! A block is such a loop if it jumps back to itself while lanes are active, and if it is one
//! segment without memory operations. Each chunk runs the loop to its end before the next chunk
//! starts: no lane can see the other lanes. The loop carries lane registers and masks in machine
//! registers. A chunk runs at most as many rounds as the budget and the back edges allow. So if the
//! loop is left early, all chunks that still have active lanes have run equally many rounds, as in
//! lockstep. Some loops with loads run to their end lane by lane instead: see
//! [`super::scalarized`].

mod find;
mod rounds;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Clif, types};
use warploom_analysis::Step;
use warploom_engine::abi;
use warploom_engine::exit_masks::ExitMasks;
use warploom_ir::{BlockId, Op, Reg, Value};

use super::block::BlockLowerer;
use super::chunk::flags;
use super::orders::Order;
use super::scope::{Carried, Mode};

/// The parts of a loop in registers.
pub struct RegisterLoop {
    /// The segment's instructions, in their order.
    pub(super) body: Vec<usize>,
    /// The number of instructions in `body` that load from memory at addresses that differ by lane.
    pub(super) loads: usize,
    exit: BlockId,
    /// The active mask at entry, and after a round.
    pub(super) active: Value,
    pub(super) next_active: Value,
    /// Lane registers that the loop writes: value and guard.
    pub(super) lanes: BTreeMap<Reg, (Value, Option<Value>)>,
    /// The mask registers that the loop writes, each with its value.
    pub(super) masks: BTreeMap<Reg, Value>,
    /// The mask registers in `masks` that gather the lanes that leave. The loop does not carry
    /// them.
    pub(super) exit_masks: ExitMasks,
    /// The masks that scalar instructions outside the segment compute from carried masks.
    pub(super) carried_scalars: HashSet<Value>,
    /// Registers carried as floats whose NaNs are made canonical after the loop.
    pub(super) raw: BTreeSet<Reg>,
}

impl RegisterLoop {
    pub(super) fn order(&self) -> Order {
        if self.loads > 0 { Order::ScalarizedLoop } else { Order::RegisterLoop }
    }

    /// Whether an instruction belongs to the segment.
    pub(super) fn has(&self, index: usize) -> bool {
        self.body.binary_search(&index).is_ok()
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Lowers the block as a loop in registers. The block has been entered but is not counted yet.
    pub(super) fn lower_register_loop(&mut self, register_loop: &RegisterLoop) {
        let rounds = self.allowed_rounds();
        self.scope.mode = Mode::Carried(Carried::default());
        for &reg in &register_loop.raw {
            let (value, _) = register_loop.lanes[&reg];
            let Op::Convert { a, .. } = *self.facts.def_op(value) else {
                unreachable!("a cast of a float")
            };
            self.carried_loop().raw.insert(a);
        }
        for number in 0..self.facts.planned.plan.steps.len() {
            if let Step::Scalar(index) = self.facts.planned.plan.steps[number] {
                let inst = &self.facts.block.insts[index];
                let write = matches!(inst.op, Op::RfWrite { .. });
                if !write && !inst.results.iter().any(|r| register_loop.carried_scalars.contains(r))
                {
                    self.at_steps(number..number + 1, |lowerer| lowerer.scalar_inst(index));
                }
            }
        }
        let mut steps = self.facts.planned.plan.steps.iter();
        let step = steps
            .position(|step| matches!(step, Step::Segment(_)))
            .expect("a loop in registers has a segment");
        self.scope.steps = step..step + 1;
        self.carried_loop().in_chunk.clone_from(&register_loop.carried_scalars);

        let old_masks: Vec<Clif> = register_loop
            .masks
            .keys()
            .map(|&reg| {
                let offset = self.facts.layout.offset(reg) as i32;
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

    /// Returns to careful code if a lane is active that an exit mask says has left the loop.
    fn expect_exit_masks_inactive(&mut self, register_loop: &RegisterLoop, old_masks: &[Clif]) {
        let masks = || register_loop.masks.keys().zip(old_masks);
        let gathered = masks()
            .filter(|(reg, _)| register_loop.exit_masks.regs.contains(reg))
            .map(|(_, &mask)| mask);
        let Some(gathered) = gathered.reduce(|all, mask| self.b.ins().bor(all, mask)) else {
            return;
        };
        let active = masks()
            .find(|(reg, _)| **reg == self.facts.function.active)
            .expect("the loop writes it")
            .1;
        let both = self.b.ins().band(gathered, *active);
        let (again, idle) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(both, again, &[], idle, &[]);
        self.b.switch_to_block(again);
        self.resume_at(self.facts.id);
        self.return_code(abi::CAREFUL);
        self.b.switch_to_block(idle);
        self.carried_loop().equal_masks.clone_from(&register_loop.exit_masks.equal);
    }

    /// Emits the loop for each chunk in turn. Each chunk runs to its end, or for `rounds` rounds.
    fn chunks_to_their_end(
        &mut self,
        register_loop: &RegisterLoop,
        old_masks: &[Clif],
        rounds: Clif,
    ) -> Done {
        // The state carried over chunks: the most rounds, the lanes counted, and the masks so far.
        let mask_regs: Vec<Reg> = register_loop.masks.keys().copied().collect();
        let fixed = 2;
        let none = self.b.ins().iconst(types::I64, 0);
        let after =
            self.each_chunk(none, &vec![none; fixed + mask_regs.len()], |lowerer, state| {
                let latch = lowerer.b.create_block();
                let after: Vec<Clif> =
                    state.iter().map(|_| lowerer.b.append_block_param(latch, types::I64)).collect();
                let old_bits: Vec<Clif> =
                    old_masks.iter().map(|&old| lowerer.chunk_bits(old)).collect();
                let active = lowerer.facts.function.active;
                let active_at =
                    mask_regs.iter().position(|&reg| reg == active).expect("the loop writes it");
                let work = lowerer.b.create_block();
                let inactive_args = lowerer.place_masks(state, fixed, &old_bits);
                lowerer.b.ins().brif(old_bits[active_at], work, &[], latch, &inactive_args);
                lowerer.b.switch_to_block(work);
                let done = lowerer.rounds(register_loop, &old_bits, rounds);
                let most = lowerer.b.ins().umax(state[0], done.rounds);
                let lanes = lowerer.b.ins().iadd(state[1], done.lanes);
                let mut finished = vec![BlockArg::Value(most), BlockArg::Value(lanes)];
                finished
                    .extend(lowerer.place_masks(state, fixed, &done.masks).into_iter().skip(fixed));
                lowerer.b.ins().jump(latch, &finished);
                lowerer.b.switch_to_block(latch);
                after
            });
        Done { rounds: after[0], lanes: after[1], masks: after[fixed..].to_vec() }
    }

    /// Returns the number of rounds that the budget and the back edges allow, at least 1. If the
    /// budget allows none, its fault is raised here.
    fn allowed_rounds(&mut self) -> Clif {
        let cost = i64::from(self.facts.block.cost);
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

    /// Adds the chunk's bits of every carried mask to the masks of earlier chunks.
    fn place_masks(&mut self, state: &[Clif], fixed: usize, bits: &[Clif]) -> Vec<BlockArg> {
        let mut args: Vec<BlockArg> = state[..fixed].iter().map(|&v| BlockArg::Value(v)).collect();
        for (&before, &bits) in state[fixed..].iter().zip(bits) {
            args.push(BlockArg::Value(self.add_chunk_bits(before, bits)));
        }
        args
    }

    pub(super) fn is_mask(&self, v: Value) -> bool {
        self.facts.block.ty(v) == warploom_ir::ValueType::MASK
    }

    /// Counts the rounds, writes the masks back, and goes on.
    fn finish_rounds(&mut self, register_loop: &RegisterLoop, done: &Done) {
        let cost = i64::from(self.facts.block.cost);
        // A block that is entered without active lanes counts, too.
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
            let offset = self.facts.layout.offset(reg) as i32;
            self.b.ins().store(flags(), new, self.registers, offset);
            if reg == self.facts.function.active {
                going = Some(new);
            }
        }
        // The back edges of all rounds, without the back edge that `go` may take.
        let edges = self.ctx_load(types::I64, abi::BACK_EDGES);
        let taken = self.b.ins().iadd_imm_s(rounds, -1);
        let left = self.b.ins().isub(edges, taken);
        self.ctx_store(left, abi::BACK_EDGES);
        let (again, exit) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(going.expect("the loop writes the active mask"), again, &[], exit, &[]);
        self.b.switch_to_block(again);
        self.go(self.facts.id);
        self.b.switch_to_block(exit);
        self.go(register_loop.exit);
    }
}

/// The results of the loop of one lane, of one chunk, or of all chunks.
pub(super) struct Done {
    /// The most rounds of a lane.
    pub rounds: Clif,
    /// The number of active lanes, summed over all rounds.
    pub lanes: Clif,
    /// The masks, in the order of their registers.
    pub masks: Vec<Clif>,
}
