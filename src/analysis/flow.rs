//! How control passes between blocks, and what may run while lanes wait for their join.

use cranelift_entity::EntityRef;
use warploom_ir::{BlockId, Function, Terminator};

use super::places::WaitSets;

/// Steps of the search for the blocks on the way to joins, all of them together. A function with more joins than that
/// allows goes without.
const MAX_SEARCH: usize = 1 << 20;

pub struct Flow {
    /// The blocks that a block may pass control to. Behind the last block there is one that is none: all indirect jumps lead to it,
    /// and it leads to all that they may name, so that there are not as many ways as the product of the two.
    pub successors: Vec<Vec<usize>>,
    pub joins: Vec<Join>,
    /// Where lanes may wait for a dispatcher. It leads only to those of its places that may have some.
    pub places: WaitSets,
    /// Of each block, its place in `joins`.
    join_at: Vec<Option<usize>>,
}

/// A block that joins what another one pushed ([`Block::join`](warploom_ir::Block::join)).
pub struct Join {
    pub block: usize,
    pub pusher: usize,
    /// The blocks that may run in between.
    pub on_the_way: Vec<usize>,
}

impl Flow {
    pub fn of(function: &Function) -> Flow {
        let indirect: Vec<usize> =
            function.indirect_targets().map(|(_, block)| block.index()).collect();
        let places = WaitSets::of(function, &indirect);
        let successors =
            function.blocks.iter().enumerate().map(|(index, block)| match &block.term {
                Terminator::Indirect { .. } => vec![function.blocks.len()],
                Terminator::Dispatch { places: named, otherwise, .. } => {
                    let held = named
                        .iter()
                        .filter(|&&(reg, _)| places.may_hold(index, reg))
                        .map(|&(_, to)| to);
                    held.chain([*otherwise]).map(|to| to.index()).collect()
                }
                term => {
                    let mut to = Vec::new();
                    term.for_each_target(|target| to.push(target.index()));
                    to
                }
            });
        let successors: Vec<Vec<usize>> = successors.chain([indirect]).collect();
        let join_at = vec![None; successors.len()];
        let mut flow = Flow { successors, joins: Vec::new(), places, join_at };
        let joins = function.blocks.iter().filter(|block| block.join.is_some()).count();
        if joins.saturating_mul(function.blocks.len()) <= MAX_SEARCH {
            for (index, block) in function.blocks.iter().enumerate() {
                if let Some(BlockId(pusher)) = block.join {
                    let pusher = pusher as usize;
                    let on_the_way = flow.on_the_way(function, index, pusher);
                    flow.join_at[index] = Some(flow.joins.len());
                    flow.joins.push(Join { block: index, pusher, on_the_way });
                }
            }
        }
        flow
    }

    /// The blocks that may run after a block pushed and before the lanes join at `end`. As joins are nested, those entered
    /// on the way were pushed on the way, or by the same block later.
    fn on_the_way(&self, function: &Function, end: usize, pusher: usize) -> Vec<usize> {
        let mut passed = vec![false; self.successors.len()];
        // Joins whose pusher has not been passed.
        let mut waiting: Vec<(usize, usize)> = Vec::new();
        let mut next: Vec<usize> = self.successors[pusher].clone();
        let mut found = Vec::new();
        while let Some(block) = next.pop() {
            if passed[block] {
                continue;
            }
            if let Some(BlockId(by)) = function.blocks.get(block).and_then(|block| block.join)
                && !passed[by as usize]
                && !(by as usize == pusher && block > end)
            {
                waiting.push((block, by as usize));
                continue;
            }
            passed[block] = true;
            if block < function.blocks.len() {
                found.push(block);
            }
            next.extend(&self.successors[block]);
            next.extend(waiting.iter().filter(|&&(_, by)| by == block).map(|&(join, _)| join));
        }
        found
    }

    /// The join at a block, if what runs on the way to it is known.
    pub fn join(&self, block: usize) -> Option<&Join> {
        self.join_at[block].map(|at| &self.joins[at])
    }
}
