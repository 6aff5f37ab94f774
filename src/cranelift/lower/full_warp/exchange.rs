//! Groups that exchange lanes. Code completes each step for all chunks before the next step, and
//! keeps the values of all chunks in machine registers.

use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use smallvec::SmallVec;
use warploom_analysis::{Group, Step};
use warploom_ir::Op;

use super::super::block::BlockLowerer;
use super::super::chunk::Chunk;
use super::super::segment::Outgoing;
use super::super::vector::shuffle_words;
use crate::CHUNK;
use crate::forms::{Lanes, parts};

/// The source of a 32-bit word: the vector, and the number of the word in it.
type Source = (usize, u8);

impl BlockLowerer<'_, '_, '_> {
    /// Lowers a group's segments and exchanges in order. Returns the masks that they compute,
    /// except masks that are known before.
    pub(super) fn between_exchanges(
        &mut self,
        group: &Group,
        insts: &[usize],
        outgoing: &[Outgoing],
    ) -> Vec<Clif> {
        let mut chunks = self.first_chunks(self.facts.chunk_count());
        let plan = &self.facts.planned.plan;
        for number in group.steps.clone() {
            match &plan.steps[number] {
                Step::Segment(insts) => self.in_each(&mut chunks, |lowerer, _| {
                    lowerer.chunk_values(insts);
                    lowerer.catch_up_on_loads();
                }),
                Step::Warp(index) => self.exchange_in_registers(*index, &mut chunks),
                Step::Scalar(_) | Step::Interpret(_) => {}
            }
        }
        let mut masks: Vec<Clif> =
            outgoing.iter().map(|_| self.b.ins().iconst(types::I64, 0)).collect();
        self.in_each(&mut chunks, |lowerer, _| {
            lowerer.write_rows(insts);
            masks = lowerer.gather_unknown(outgoing, &masks);
        });
        masks
    }

    fn exchange_in_registers(&mut self, index: usize, chunks: &mut [Chunk]) {
        let inst = &self.facts.block.insts[index];
        let Op::LaneGather { a, .. } = inst.op else {
            unreachable!("groups exchange lanes by gathers")
        };
        let (result, ty) = (inst.results[0], self.facts.ty(a));
        let mut from: Vec<Clif> = Vec::new();
        self.in_each(chunks, |lowerer, _| from.extend(lowerer.lanes(a)));
        let sources = &self.facts.planned.sources[&index];
        let words = ty.cell_bytes() / 4;
        let per_vector = 4 / words;
        let source_of = |word: u32| -> Source {
            let lane = u32::from(sources[(word / words) as usize]);
            ((lane / per_vector) as usize, (lane % per_vector * words + word % words) as u8)
        };
        self.in_each(chunks, |lowerer, number| {
            let first = number as u32 * CHUNK * words;
            let vectors = (0..parts(ty) as u32).map(|part| {
                let sources = std::array::from_fn(|word| source_of(first + part * 4 + word as u32));
                lowerer.picked(&from, sources)
            });
            let lanes: Lanes = vectors.collect();
            lowerer.chunk().lanes.insert(result, lanes);
            if lowerer.escapes(result) {
                lowerer.store_slot(result);
            }
        });
    }

    /// Returns a vector of words from several vectors.
    fn picked(&mut self, from: &[Clif], sources: [Source; 4]) -> Clif {
        let mut vectors: SmallVec<[usize; 4]> = sources.iter().map(|&(vector, _)| vector).collect();
        vectors.sort_unstable();
        vectors.dedup();
        let word_of = |at: usize, vector: usize| (sources[at].0 == vector).then_some(sources[at].1);
        let first = from[vectors[0]];
        if vectors.len() == 1
            && sources.iter().enumerate().all(|(at, &(_, word))| at == word as usize)
        {
            return first;
        }
        let Some((&second, rest)) = vectors[1..].split_first() else {
            return shuffle_words(self.b, first, first, sources.map(|(_, word)| word));
        };
        let words = std::array::from_fn(|at| match word_of(at, second) {
            Some(word) => 4 + word,
            None => word_of(at, vectors[0]).unwrap_or(at as u8),
        });
        let mut made = shuffle_words(self.b, first, from[second], words);
        for &vector in rest {
            let words =
                std::array::from_fn(|at| word_of(at, vector).map_or(at as u8, |word| 4 + word));
            made = shuffle_words(self.b, made, from[vector], words);
        }
        made
    }
}
