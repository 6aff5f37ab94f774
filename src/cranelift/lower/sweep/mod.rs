//! Sweeps: kernels that run strips of lanes at once, across several warps and blocks (see
//! [`Sweep`]).
//!
//! In a launch of lines, all warps that remain of a chain form one strip. It includes the blocks
//! after it if lanes run on from block to block. In other launches, all strips of a block are
//! tested first. Strips that fail are left to warps, which the code that follows runs one by one.

mod blocks;
mod bounds;
mod strip;
mod strips;

use std::collections::HashSet;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use warploom_analysis::{LaunchClass, Sweep};
use warploom_engine::abi;
use warploom_ir::{BlockId, Value};

use super::block::BlockLowerer;
use super::chunk::{Chunk, Reach};
use super::full_warp::{Host, Settled};
use super::scope::Mode;
use crate::CHUNK;

const LANES: i64 = CHUNK as i64;

/// A strip of lanes that is being lowered.
pub(super) struct Strip {
    /// The number of its first thread in the block, `i32`.
    pub first_thread: Clif,
    /// The number of lanes before the lanes that are being lowered, `i64`.
    pub lanes_before: Option<Clif>,
    /// The values that are evenly spaced without a test: they were tested before, or need no test.
    pub spaced: Spaced,
    /// Where to go if a load with arbitrary addresses is not in reach.
    pub bail: Option<ClifBlock>,
    /// Whether the lanes that are being lowered take part in all loads.
    pub inner: bool,
}

/// Values that are known to be evenly spaced.
pub(super) enum Spaced {
    All,
    These(HashSet<Value>),
}

impl Spaced {
    pub fn contains(&self, v: Value) -> bool {
        match self {
            Spaced::All => true,
            Spaced::These(values) => values.contains(&v),
        }
    }
}

impl Strip {
    fn at(first_thread: Clif) -> Strip {
        Strip {
            first_thread,
            lanes_before: None,
            spaced: Spaced::These(HashSet::new()),
            bail: None,
            inner: false,
        }
    }
}

impl<'r> BlockLowerer<'_, 'r, '_> {
    /// Runs the remaining warps of the chain as strips of lanes, as far as that is possible.
    /// Otherwise it goes on after the scalar steps, which count nothing.
    pub(super) fn sweep(&mut self, sweep: &'r Sweep) {
        let single = self.cold_block();
        let line = self.scope.classes.launch() == LaunchClass::Line;
        if line {
            self.scalars_of(&sweep.group);
        } else {
            self.scalars_of_all_strips(sweep);
        }
        let classes = self.facts.planned.full_warp_classes();
        let scope = self.scope.inner(sweep.group.steps.clone(), classes, Mode::Masked);
        self.inside(scope, |lowerer| {
            if line {
                lowerer.sweep_line(sweep, single);
            } else {
                lowerer.sweep_strips(sweep, single);
            }
        });
        self.b.switch_to_block(single);
    }

    fn sweep_line(&mut self, sweep: &'r Sweep, single: ClifBlock) {
        let lanes = i64::from(self.facts.function.lanes);
        let all = self.facts.warp_mask() as i64;
        let (this, last) = (
            self.ctx_load(types::I64, abi::LAUNCH_MASK),
            self.ctx_load(types::I64, abi::LAST_LAUNCH_MASK),
        );
        let full = self.b.ins().icmp_imm_s(IntCC::Equal, this, all);
        self.require(full, single);
        let warp = self.ctx_load(types::I32, abi::WARP);
        let (warps, chain_end) =
            (self.ctx_load(types::I32, abi::WARPS), self.ctx_load(types::I32, abi::CHAIN_END));
        let but_last = self.b.ins().iadd_imm_s(warps, -1);
        let last_full = self.b.ins().icmp_imm_s(IntCC::Equal, last, all);
        let full_warps = self.b.ins().select(last_full, warps, but_last);
        let end = self.b.ins().umin(full_warps, chain_end);
        let own = self.b.ins().isub(end, warp);
        let own = self.b.ins().uextend(types::I64, own);

        let first_thread = self.first_thread();
        self.begin_strip(sweep, Strip::at(first_thread), Reach::Known(0));
        let most = match &sweep.joints {
            Some(joints) => {
                let whole = self.b.ins().icmp(IntCC::Equal, end, warps);
                let runs_on = self.runs_on(joints);
                let runs_on = self.b.ins().band(whole, runs_on);
                let blocks = self.following_blocks();
                let warps = self.b.ins().uextend(types::I64, warps);
                let further = self.b.ins().imul(blocks, warps);
                let none = self.b.ins().iconst(types::I64, 0);
                let further = self.b.ins().select(runs_on, further, none);
                self.b.ins().iadd(own, further)
            }
            None => own,
        };
        let possible = self.b.ins().imul_imm_s(most, lanes);
        let possible = self.shortened(sweep, possible);
        let most = self.b.ins().udiv_imm_u(possible, lanes);

        // Tries as many warps as possible first, and then only this block's warps.
        let (attempt, fail) = (self.b.create_block(), self.cold_block());
        let count = self.b.append_block_param(attempt, types::I64);
        self.b.ins().jump(attempt, &[BlockArg::Value(most)]);
        self.b.switch_to_block(attempt);
        let several = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, count, 1);
        self.require(several, single);
        let after = self.paid(count, fail);
        let swept = self.b.ins().imul_imm_s(count, lanes);
        let reach = self.b.ins().iadd_imm_s(swept, -1);
        self.settled().reach = Reach::Counted(reach);
        self.test_lanes(&sweep.group, fail);
        self.test_disjoint(&sweep.group, fail);
        let bail = sweep.group.loose.then(|| self.cold_block());
        if let Some(bail) = bail {
            self.b.append_block_param(bail, types::I64);
        }
        let in_turn = match sweep.group.loose || sweep.phases.len() > 1 {
            true => self.facts.chunk_count(),
            false => self.in_turn(sweep, self.facts.chunk_count()),
        };
        self.do_strip(sweep, swept, in_turn, bail);
        self.count_swept(after, swept);
        let last = self.b.ins().iadd_imm_s(count, -1);
        self.move_on(sweep, warp, last);
        self.end_warp();

        self.b.switch_to_block(fail);
        let more = self.b.ins().icmp(IntCC::UnsignedGreaterThan, count, own);
        self.b.ins().brif(more, attempt, &[BlockArg::Value(own)], single, &[]);
        if let Some(bail) = bail {
            self.bail(sweep, bail, warp, single);
        }
    }

    /// Moves on to the warp in which a load is not in reach, and has that warp run by itself.
    fn bail(&mut self, sweep: &Sweep, bail: ClifBlock, warp: Clif, single: ClifBlock) {
        self.b.switch_to_block(bail);
        let swept = self.b.block_params(bail)[0];
        let some = self.cold_block();
        self.b.ins().brif(swept, some, &[], single, &[]);
        self.b.switch_to_block(some);
        let count = self.b.ins().udiv_imm_u(swept, i64::from(self.facts.function.lanes));
        let after = self.cost_of(count);
        self.count_swept(after, swept);
        self.move_on(sweep, warp, count);
        let begin = self.region.block(BlockId(0)).expect("the block that is lowered");
        self.b.ins().jump(begin, &[]);
    }

    fn begin_strip(&mut self, sweep: &'r Sweep, strip: Strip, reach: Reach) {
        self.scope.mode = Mode::Strip(Settled::new(&sweep.group, reach), strip);
        self.scope.chunk = Some(Chunk::first_of_group());
    }
}

fn start_of(host: &Host) -> (Clif, i64) {
    (host.firsts[0], host.step)
}
