//! Sweeps: a kernel that is one group (`whole`) is done for several warps of a chain together, which share the group's
//! checks.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Clif, types};

use super::super::abi;
use super::block::BlockLowerer;
use super::chunk::Reach;
use super::whole::{Host, Whole};
use crate::analysis::{Group, LaunchClass};
use crate::ir::{Inst, Op, Special, Terminator};

impl<'r> BlockLowerer<'_, 'r, '_> {
    /// The group that all warps of a chain may do together: it is all the kernel does, warps differ in it by their
    /// thread indices only, and nothing in it can fault once it has been tested.
    pub(super) fn sweepable(&self) -> Option<&'r Group> {
        let group = self.groups.first()?;
        let ends = match self.block.term {
            Terminator::Exit => true,
            Terminator::Jump(to) => {
                let block = self.function.block(to);
                block.insts.is_empty() && block.cost == 0 && block.term == Terminator::Exit
            }
            _ => false,
        };
        let same_in_warps = |inst: &Inst| match inst.op {
            Op::LaneId | Op::Special(Special::WarpId | Special::WarpSlot | Special::Clock) => false,
            Op::RfRead { reg, .. } => reg == self.function.active,
            Op::RfWrite { reg, .. } => !self.function.is_lane(reg),
            _ => true,
        };
        let sweeps = self.number == 0
            && ends
            && !group.scattered
            && !group.loose
            && group.tiled.is_empty()
            && self.classes.launch() == LaunchClass::Line
            && group.steps == (0..self.plan.steps.len())
            && self.block.insts.iter().all(same_in_warps);
        sweeps.then_some(group)
    }

    /// Does all warps of the chain that have all their lanes, if there are several and the group can be done as a whole.
    /// Else it goes on after the scalar steps of the group, which count nothing.
    pub(super) fn sweep(&mut self, group: &'r Group) {
        self.scalars_of(group);
        let insts = self.lane_insts(group);
        let single = self.cold_block();
        let scalars = self.scalars.clone();

        let lanes = i64::from(self.function.lanes);
        let all = self.warp_mask() as i64;
        let (this, last) =
            (self.ctx_load(types::I64, abi::LAUNCH_MASK), self.ctx_load(types::I64, abi::LAST_LAUNCH_MASK));
        let full = self.b.ins().icmp_imm_s(IntCC::Equal, this, all);
        self.require(full, single);
        let warp = self.ctx_load(types::I32, abi::WARP);
        let (warps, chain_end) = (self.ctx_load(types::I32, abi::WARPS), self.ctx_load(types::I32, abi::CHAIN_END));
        let but_last = self.b.ins().iadd_imm_s(warps, -1);
        let last_full = self.b.ins().icmp_imm_s(IntCC::Equal, last, all);
        let full_warps = self.b.ins().select(last_full, warps, but_last);
        let end = self.b.ins().umin(full_warps, chain_end);
        let count = self.b.ins().isub(end, warp);
        let several = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, count, 1);
        self.require(several, single);
        let wide = self.b.ins().uextend(types::I64, count);
        let cost = self.b.ins().imul_imm_s(wide, i64::from(self.block.cost));
        let before = self.ctx_load(types::I64, abi::INSTRUCTIONS);
        let after = self.b.ins().iadd(before, cost);
        let limit = self.ctx_load(types::I64, abi::INSTRUCTION_LIMIT);
        let paid = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, after, limit);
        self.require(paid, single);
        let swept = self.b.ins().imul_imm_s(wide, lanes);
        let reach = self.b.ins().iadd_imm_s(swept, -1);
        self.whole = Some(Whole::new(group, Reach::Counted(reach)));
        self.steps = group.steps.clone();
        let classes = std::mem::replace(&mut self.classes, self.whole_classes);
        self.test(group, single);

        let (head, done) = (self.b.create_block(), self.b.create_block());
        let start = |host: &Host| (host.firsts[0], host.step);
        let mut starts: Vec<(Clif, i64)> = self.hosts().values().map(start).collect();
        starts.sort();
        starts.dedup();
        let zero = self.b.ins().iconst(types::I64, 0);
        let args: Vec<BlockArg> =
            std::iter::once(zero).chain(starts.iter().map(|start| start.0)).map(BlockArg::Value).collect();
        self.b.ins().jump(head, &args);
        self.b.switch_to_block(head);
        let lanes_before = self.b.append_block_param(head, types::I64);
        let current: Vec<Clif> = starts.iter().map(|_| self.b.append_block_param(head, types::I64)).collect();
        for host in self.hosts().values_mut() {
            let at = starts.iter().position(|&other| other == start(host)).expect("listed above");
            host.firsts[0] = current[at];
        }
        self.whole.as_mut().expect("a group is being lowered").lanes_before = Some(lanes_before);
        for number in 0..self.chunk_count() {
            self.enter_chunk(number);
            self.chunk_body(&insts);
        }
        self.chunk = None;
        self.whole = None;
        self.classes = classes;
        let next = self.b.ins().iadd_imm_s(lanes_before, lanes);
        let mut args = vec![BlockArg::Value(next)];
        for (&at, &(_, step)) in current.iter().zip(&starts) {
            args.push(BlockArg::Value(self.b.ins().iadd_imm_s(at, step * lanes)));
        }
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, swept);
        self.b.ins().brif(more, head, &args, done, &[]);

        self.b.switch_to_block(done);
        self.ctx_store(after, abi::INSTRUCTIONS);
        let lane_cost = self.b.ins().imul_imm_s(cost, lanes);
        let total = self.ctx_load(types::I64, abi::LANE_INSTRUCTIONS);
        let total = self.b.ins().iadd(total, lane_cost);
        self.ctx_store(total, abi::LANE_INSTRUCTIONS);
        let last = self.b.ins().iadd_imm_s(end, -1);
        self.ctx_store(last, abi::WARP);
        self.end_warp();

        self.b.switch_to_block(single);
        self.scalars = scalars;
    }
}
