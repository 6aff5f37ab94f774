//! The loop over a tested strip, some chunks in each round.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use warploom_analysis::Sweep;
use warploom_ir::Op;

use super::super::block::BlockLowerer;
use super::{LANES, start_of};
use crate::tuning;

impl<'r> BlockLowerer<'_, 'r, '_> {
    /// Runs all lanes of the strip. Their number is a multiple of `chunks` chunks.
    pub(super) fn do_strip(
        &mut self,
        sweep: &Sweep,
        lanes: Clif,
        chunks: i64,
        bail: Option<ClifBlock>,
    ) {
        self.spread_masks(sweep);
        let inner = sweep.inner.as_ref().map(|inner| self.inner_lanes(inner, lanes, chunks));
        let starts = self.starts();
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let zero = self.b.ins().iconst(types::I64, 0);
        if let Some(bail) = bail {
            let none = self.cold_block();
            self.find_elements(sweep, none);
            let go = self.b.create_block();
            self.b.ins().jump(go, &[]);
            self.b.switch_to_block(none);
            self.b.ins().jump(bail, &[BlockArg::Value(zero)]);
            self.b.switch_to_block(go);
        }
        let args: Vec<BlockArg> = std::iter::once(zero)
            .chain(starts.iter().map(|start| start.0))
            .map(BlockArg::Value)
            .collect();
        self.b.ins().jump(head, &args);
        self.b.switch_to_block(head);
        let lanes_before = self.b.append_block_param(head, types::I64);
        let current: Vec<Clif> =
            starts.iter().map(|_| self.b.append_block_param(head, types::I64)).collect();
        for host in self.hosts().values_mut() {
            let at =
                starts.iter().position(|&start| start == start_of(host)).expect("listed above");
            host.firsts[0] = current[at];
        }
        let bail = bail.map(|bail| (bail, self.cold_block()));
        let strip = self.strip_mut();
        strip.lanes_before = Some(lanes_before);
        strip.bail = bail.map(|(_, here)| here);
        if let Some(inner) = inner {
            self.do_inner(sweep, inner, chunks);
        } else {
            self.do_phases(sweep, chunks);
        }
        let next = self.b.ins().iadd_imm_s(lanes_before, LANES * chunks);
        let mut args = vec![BlockArg::Value(next)];
        for (&at, &(_, step)) in current.iter().zip(&starts) {
            args.push(BlockArg::Value(self.b.ins().iadd_imm_s(at, step * LANES * chunks)));
        }
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, lanes);
        self.b.ins().brif(more, head, &args, done, &[]);
        if let Some((bail, here)) = bail {
            self.b.switch_to_block(here);
            self.b.ins().jump(bail, &[BlockArg::Value(lanes_before)]);
        }
        self.b.switch_to_block(done);
    }

    /// Returns how many chunks are lowered one by one, `most` at most.
    pub(super) fn in_turn(&self, sweep: &Sweep, most: i64) -> i64 {
        let insts = sweep.phases.iter().map(Vec::len).sum::<usize>();
        let mut chunks = most;
        while chunks % 2 == 0 && insts * chunks as usize > tuning::ONE_BY_ONE {
            chunks /= 2;
        }
        chunks
    }

    /// Runs some chunks. If all their lanes take part in all loads, they run as inner chunks.
    pub(super) fn do_inner(&mut self, sweep: &Sweep, [first, most]: [Clif; 2], chunks: i64) {
        let (inside, edge, done) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let before =
            self.strip().and_then(|strip| strip.lanes_before).expect("a strip is being lowered");
        let distance = self.b.ins().isub(before, first);
        let all = self.b.ins().icmp(IntCC::UnsignedLessThan, distance, most);
        self.b.ins().brif(all, inside, &[], edge, &[]);
        for (block, inner) in [(inside, true), (edge, false)] {
            self.b.switch_to_block(block);
            self.strip_mut().inner = inner;
            self.on_one_way(|lowerer| lowerer.do_phases(sweep, chunks));
            self.b.ins().jump(done, &[]);
        }
        self.b.switch_to_block(done);
    }

    pub(super) fn do_phases(&mut self, sweep: &Sweep, chunks: i64) {
        let mut chunks = self.first_chunks(chunks);
        for (phase, insts) in sweep.phases.iter().enumerate() {
            self.in_each(&mut chunks, |lowerer, _| {
                lowerer.chunk_body(insts);
                if phase + 1 < sweep.phases.len() {
                    lowerer.catch_up_on_loads();
                }
            });
        }
    }

    /// Finds the elements that loads may read by an index, which are the same for all lanes. Goes
    /// to `slow` if there are none.
    pub(super) fn find_elements(&mut self, sweep: &Sweep, slow: ClifBlock) {
        let block = self.facts.block;
        for &index in sweep.phases.iter().flatten() {
            if let Op::Load { access, .. } = &block.insts[index].op
                && !self.is_tested_in_group(index)
                && let Some(by) = self.index_of(access)
            {
                let run = self.run_of(index);
                let elements = self.elements(access, &by, run, slow);
                self.chunk().shared.elements.insert(index, elements);
            }
        }
    }

    /// Makes vectors of the warp's masks that lanes use. A mask is the same in all lanes of a
    /// strip.
    pub(super) fn spread_masks(&mut self, sweep: &Sweep) {
        for mask in sweep.masks_used(self.facts.block) {
            let Some(bits) = self.scope.scalars[mask] else { continue };
            if !self.chunk().shared.strip_masks.contains_key(&mask) {
                let any = self.b.ins().icmp_imm_u(IntCC::NotEqual, bits, 0);
                let word = self.b.ins().bmask(types::I32, any);
                let words = self.b.ins().splat(types::I32X4, word);
                self.chunk().shared.strip_masks.insert(mask, words);
            }
        }
    }

    /// Returns where accesses begin in host memory, each with its step from lane to lane.
    pub(super) fn starts(&mut self) -> Vec<(Clif, i64)> {
        let mut starts: Vec<(Clif, i64)> = self.hosts().values().map(start_of).collect();
        starts.sort();
        starts.dedup();
        starts
    }
}
