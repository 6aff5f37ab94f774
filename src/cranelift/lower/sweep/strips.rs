//! All strips of a block and of the blocks after it: code tests them first and then runs them.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use warploom_analysis::{Step, Sweep};
use warploom_engine::abi;
use warploom_ir::{Op, Value};
use warploom_runtime::warp::ExitCode;

use super::super::block::BlockLowerer;
use super::super::chunk::{Reach, flags};
use super::{LANES, Spaced, Strip, start_of};
use crate::tuning;

/// The numbers of threads and lanes of strips.
#[derive(Clone, Copy)]
struct Sizes {
    /// The number of a block's threads from one strip to the next, `i32`.
    x: Clif,
    /// The number of threads of a block, `i32`.
    threads: Clif,
    /// The number of lanes of a strip over all blocks that run, `i64`.
    lanes: Clif,
}

impl<'r> BlockLowerer<'_, 'r, '_> {
    /// Lowers the scalars that are the same in all strips.
    pub(super) fn scalars_of_all_strips(&mut self, sweep: &Sweep) {
        for number in sweep.group.steps.clone() {
            if let Step::Scalar(index) = self.facts.planned.plan.steps[number]
                && self.facts.block.insts[index]
                    .results
                    .first()
                    .is_some_and(|&result| !sweep.depends_on_strip(result))
            {
                self.step(number);
            }
        }
    }

    pub(super) fn sweep_strips(&mut self, sweep: &'r Sweep, single: ClifBlock) {
        let (warp, warps) =
            (self.ctx_load(types::I32, abi::WARP), self.ctx_load(types::I32, abi::WARPS));
        let chain_end = self.ctx_load(types::I32, abi::CHAIN_END);
        let first = self.b.ins().icmp_imm_u(IntCC::Equal, warp, 0);
        let to_the_end = self.b.ins().icmp(IntCC::Equal, chain_end, warps);
        let whole = self.b.ins().band(first, to_the_end);
        self.require(whole, single);

        let [x, y, z] = [0, 1, 2].map(|axis| self.ctx_load(types::I32, abi::NTID + 4 * axis));
        let zero = self.b.ins().iconst(types::I32, 0);
        self.begin_strip(sweep, Strip::at(zero), Reach::Known(0));
        let one = self.b.ins().iconst(types::I64, 1);
        let blocks = match &sweep.joints {
            Some(joints) => {
                let runs_on = self.runs_on(joints);
                let following = self.following_blocks();
                let blocks = self.b.ins().iadd_imm_s(following, 1);
                self.b.ins().select(runs_on, blocks, one)
            }
            None => one,
        };
        let (blocks, lanes) = self.strips_of_blocks(sweep, x, blocks, single);
        let wide_warps = self.b.ins().uextend(types::I64, warps);
        let count = self.b.ins().imul(blocks, wide_warps);
        let after = self.paid(count, single);

        let threads = self.b.ins().imul(y, z);
        let threads = self.b.ins().imul(threads, x);
        let sizes = Sizes { x, threads, lanes };
        let (starts, tested) = self.test_strips(sweep, sizes, single);
        self.on_one_scalar_way(|lowerer| lowerer.do_strips(sweep, sizes, zero, &starts, tested));

        let wide = self.b.ins().uextend(types::I64, threads);
        let swept = self.b.ins().imul(wide, blocks);
        self.count_swept(after, swept);
        let last = self.b.ins().iadd_imm_s(count, -1);
        self.move_on(sweep, zero, last);
        self.return_code(ExitCode::Done as u32);
    }

    /// Returns how many of the blocks run, and how many lanes a strip of width `x` then has. Goes
    /// to `single` if there are too few lanes.
    fn strips_of_blocks(
        &mut self,
        sweep: &'r Sweep,
        x: Clif,
        blocks: Clif,
        single: ClifBlock,
    ) -> (Clif, Clif) {
        let width = self.b.ins().uextend(types::I64, x);
        let possible = self.b.ins().imul(blocks, width);
        let possible = self.shortened(sweep, possible);
        let blocks = self.b.ins().udiv(possible, width);
        // A strip is a multiple of a chunk. A strip over four blocks is a multiple of the chunks of
        // one round.
        let low = self.b.ins().band_imm_u(x, LANES * tuning::STRIP_CHUNKS - 1);
        let fours = self.b.ins().band_imm_s(blocks, -tuning::STRIP_CHUNKS);
        let blocks = self.b.ins().select(low, fours, blocks);
        let lanes = self.b.ins().imul(blocks, width);
        let enough =
            self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, lanes, tuning::LEAST_STRIP);
        self.require(enough, single);
        (blocks, lanes)
    }

    /// Runs tested strips one by one, from the thread `first` on.
    fn do_strips(
        &mut self,
        sweep: &'r Sweep,
        Sizes { x, threads, lanes }: Sizes,
        first: Clif,
        starts: &[(Clif, i64)],
        tested: HashSet<Value>,
    ) {
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let thread = self.b.append_block_param(head, types::I32);
        let at = self.b.append_block_param(head, types::I64);
        let strips = self.b.ins().iadd_imm_s(self.ctx, i64::from(abi::STRIPS));
        self.b.ins().jump(head, &[BlockArg::Value(first), BlockArg::Value(strips)]);
        self.b.switch_to_block(head);
        let hosts = std::mem::take(self.hosts());
        self.begin_strip(
            sweep,
            Strip { spaced: Spaced::These(tested), ..Strip::at(thread) },
            Reach::Known(0),
        );
        self.scalars_of(&sweep.group);
        let firsts: Vec<Clif> = (0..starts.len())
            .map(|number| self.b.ins().load(types::I64, flags(), at, 8 * number as i32))
            .collect();
        for (index, host) in hosts {
            let start =
                starts.iter().position(|&start| start == start_of(&host)).expect("listed there");
            let firsts = [firsts[start]].into_iter().collect();
            self.hosts().insert(index, host.beginning_at(firsts));
        }
        self.do_strip(sweep, lanes, self.in_turn(sweep, tuning::STRIP_CHUNKS), None);
        let next = self.b.ins().iadd(thread, x);
        let at = self.b.ins().iadd_imm_s(at, 8 * starts.len() as i64);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, threads);
        self.b.ins().brif(more, head, &[BlockArg::Value(next), BlockArg::Value(at)], done, &[]);
        self.b.switch_to_block(done);
    }

    /// Tests all strips of the block and of the blocks after it, each with `lanes` lanes. For each
    /// strip it stores to the context where the accesses begin in host memory. Returns these
    /// starts, with the steps from lane to lane, and the values that were tested.
    fn test_strips(
        &mut self,
        sweep: &'r Sweep,
        Sizes { x, threads, lanes }: Sizes,
        single: ClifBlock,
    ) -> (Vec<(Clif, i64)>, HashSet<Value>) {
        let group = &sweep.group;
        let reach = self.b.ins().iadd_imm_s(lanes, -1);
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let thread = self.b.append_block_param(head, types::I32);
        let at = self.b.append_block_param(head, types::I64);
        let zero = self.b.ins().iconst(types::I32, 0);
        let strips = self.b.ins().iadd_imm_s(self.ctx, i64::from(abi::STRIPS));
        self.b.ins().jump(head, &[BlockArg::Value(zero), BlockArg::Value(strips)]);
        self.b.switch_to_block(head);
        let (starts, tested) = self.on_one_scalar_way(|lowerer| {
            lowerer.begin_strip(sweep, Strip::at(thread), Reach::Counted(reach));
            lowerer.scalars_of(group);
            lowerer.test_lanes(group, single);
            let tested = lowerer.chunk().shared.bases.keys().copied().collect();
            (lowerer.starts(), tested)
        });
        let bytes = 8 * starts.len() as i64;
        let end = self.b.ins().iadd_imm_s(strips, 8 * abi::STRIP_WORDS as i64 - bytes);
        let room = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, at, end);
        self.require(room, single);
        // Strips must follow each other, and no stored strip may reach into the next strip.
        let (follow, go) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(thread, follow, &[], go, &[]);
        self.b.switch_to_block(follow);
        for (number, &(first, step)) in starts.iter().enumerate() {
            let before =
                self.b.ins().load(types::I64, flags(), at, 8 * number as i32 - bytes as i32);
            let distance = self.b.ins().isub(first, before);
            let stored = self.stored_at(sweep, (first, step));
            let least = match stored {
                Some(bytes) if step == 0 => self.b.ins().iconst(types::I64, bytes),
                Some(_) => self.b.ins().imul_imm_s(lanes, step.abs()),
                None => self.b.ins().iconst(types::I64, 0),
            };
            let follows = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, distance, least);
            self.require(follows, single);
        }
        self.b.ins().jump(go, &[]);
        self.b.switch_to_block(go);
        for (number, &(first, _)) in starts.iter().enumerate() {
            self.b.ins().store(flags(), first, at, 8 * number as i32);
        }
        let next = self.b.ins().iadd(thread, x);
        let next_at = self.b.ins().iadd_imm_s(at, bytes);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, threads);
        self.b.ins().brif(
            more,
            head,
            &[BlockArg::Value(next), BlockArg::Value(next_at)],
            done,
            &[],
        );

        self.b.switch_to_block(done);
        let mut ends = HashMap::new();
        for (number, &start) in starts.iter().enumerate() {
            let ends_at = [strips, at]
                .map(|strip| self.b.ins().load(types::I64, flags(), strip, 8 * number as i32));
            ends.insert(start, ends_at);
        }
        let strips = self.hosts().clone();
        for host in self.hosts().values_mut() {
            host.firsts = ends[&start_of(host)].into_iter().collect();
        }
        self.test_disjoint(group, single);
        *self.hosts() = strips;
        (starts, tested)
    }

    /// Returns the most bytes that a lane stores at this start, if a store begins there.
    pub(super) fn stored_at(&mut self, sweep: &Sweep, start: (Clif, i64)) -> Option<i64> {
        let stores = sweep.group.accesses.iter().copied();
        let stores: Vec<usize> = stores
            .filter(|&index| matches!(self.facts.block.insts[index].op, Op::Store { .. }))
            .collect();
        let here = stores
            .into_iter()
            .filter(|index| start_of(&self.hosts()[index]) == start)
            .collect::<Vec<_>>();
        let bytes = |index: usize| {
            self.facts.block.insts[index].op.access().map(|access| i64::from(access.bytes()))
        };
        here.into_iter().filter_map(bytes).max()
    }
}
