//! The orders in which code runs the steps of blocks, and the reasons that keep loops out of
//! registers. `docs/execution-orders.md` describes the orders.

use std::fmt;
use std::ops::Range;

use warploom_ir::BlockId;

use super::block::BlockLowerer;

/// The order that code has for some steps of a block.
pub struct Ordered {
    pub block: BlockId,
    pub steps: Range<usize>,
    pub order: Order,
}

pub enum Order {
    Strips,
    FullWarp {
        /// Quick code does the block if the guard fails. If not, the steps stand beside the group.
        leaves: bool,
    },
    RegisterLoop,
    ScalarizedLoop,
    /// At most this many active lanes run one by one.
    FewLanes(i64),
    /// The rounds of the block's loop run through the register file.
    LoopInMemory(NoRegisterLoop),
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Strips => write!(f, "strips of several warps, if the guard of the group holds"),
            Order::FullWarp { leaves: true } => write!(f, "full warps, else quick code"),
            Order::FullWarp { leaves: false } => write!(f, "full warps, else step by step"),
            Order::RegisterLoop => write!(f, "loop in registers"),
            Order::ScalarizedLoop => write!(f, "scalarized loop: one lane after another"),
            Order::FewLanes(most) => write!(f, "at most {most} active lanes run one by one"),
            Order::LoopInMemory(why) => write!(f, "loop in memory: {}", why.reason),
        }
    }
}

/// Why a block is not a loop in registers.
pub struct NoRegisterLoop {
    pub reason: &'static str,
    /// The instruction that the reason is about.
    pub inst: Option<usize>,
}

impl NoRegisterLoop {
    pub(super) fn at(inst: usize, reason: &'static str) -> NoRegisterLoop {
        NoRegisterLoop { reason, inst: Some(inst) }
    }
}

impl From<&'static str> for NoRegisterLoop {
    fn from(reason: &'static str) -> NoRegisterLoop {
        NoRegisterLoop { reason, inst: None }
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Notes the order of some steps.
    pub(super) fn note(&mut self, steps: Range<usize>, order: Order) {
        self.region.orders.push(Ordered { block: self.facts.id, steps, order });
    }
}
