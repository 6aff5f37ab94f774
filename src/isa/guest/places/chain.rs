//! Nodes that run one after the other in one block. After a branch or an exit that some lanes
//! leave by, the block goes on for the other lanes, even if none is left: its code then has no
//! effect.
//!
//! The end of the block tests whether any lane is active. So code behind `if (i < n)`, and loops
//! with several exits, are one block, as they are for guests with predicated instructions.

/// Limits of the instructions of a node that a block runs on to, and of all nodes of one block: they
/// take time even if no lane is active.
const MAX_NODE: usize = 48;
const MAX_CHAIN: usize = 160;

/// The nodes of a block.
pub struct Chain {
    pub nodes: Vec<usize>,
    /// The positions where the lanes that left wait.
    pub left: Vec<u32>,
    /// Lanes have exited.
    pub exited: bool,
    instructions: usize,
}

impl Chain {
    pub fn new(first: usize) -> Chain {
        Chain { nodes: vec![first], left: vec![], exited: false, instructions: 0 }
    }

    /// Whether perhaps no lane is active.
    pub fn may_be_empty(&self) -> bool {
        self.exited || !self.left.is_empty()
    }

    /// Whether perhaps no lane is active when the lanes that wait at a position come back.
    pub fn may_be_empty_with(&self, position: u32) -> bool {
        self.exited || self.left.iter().any(|&place| place != position)
    }

    /// Returns all nodes but the first.
    pub fn parts(mut self) -> Vec<usize> {
        self.nodes.split_off(1)
    }

    /// Whether the chain has room for the instructions of another node. If so, counts them.
    pub fn takes(&mut self, instructions: usize) -> bool {
        let takes = instructions <= MAX_NODE && self.instructions + instructions <= MAX_CHAIN;
        self.instructions += if takes { instructions } else { 0 };
        takes
    }
}
