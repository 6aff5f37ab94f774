//! How control passes between blocks, and which blocks may run while lanes wait for their join.

use cranelift_entity::EntityRef;
use warploom_ir::{BlockId, Function, Terminator};

use super::places::WaitSets;

/// The most steps of the search for the blocks on the way to joins, over all joins.
///
/// A function whose joins would take more steps goes without joins.
const MAX_SEARCH: usize = 1 << 20;

pub struct Flow {
    /// The blocks that a block may pass control to.
    ///
    /// An extra node follows the last block: all indirect jumps lead to it, and it leads to all
    /// their targets. This avoids an edge for each pair of jump and target.
    pub successors: Vec<Vec<usize>>,
    pub joins: Vec<Join>,
    /// The places where lanes may wait for a dispatcher. A dispatcher leads only to places that may
    /// have lanes.
    pub places: WaitSets,
    /// The index in `joins` of each block's join.
    join_at: Vec<Option<usize>>,
}

/// A block that joins lanes which another block pushed ([`Block::join`](warploom_ir::Block::join)).
pub struct Join {
    pub block: usize,
    pub pusher: usize,
    /// The blocks that may run between the pusher and the join.
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

    /// Returns the blocks that may run after `pusher` pushed lanes and before these lanes join at
    /// `end`.
    ///
    /// Joins are nested: lanes of a join on the way were pushed on the way, or later by `pusher`.
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

    /// Returns the join at a block, if the blocks on the way to it are known.
    pub fn join(&self, block: usize) -> Option<&Join> {
        self.join_at[block].map(|at| &self.joins[at])
    }
}
