//! Values that rounds have no use for. They are in memory, for a host has few registers, and its allocator may take one from a
//! round for a value that is needed after the last one.

use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};

use super::super::super::abi;
use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use warploom_runtime::warp::REST_BYTES;

/// Values that are kept at most.
pub const MOST: usize = REST_BYTES / 8;

/// Where an `i64` is kept.
#[derive(Clone, Copy)]
pub struct Slot(i32);

/// Places in [`warploom_runtime::warp::WarpContext::rest`].
#[derive(Clone, Copy, Default)]
pub struct Slots {
    taken: usize,
}

impl Slots {
    /// Keeps a value in a place of its own.
    pub fn keep(&mut self, lowerer: &mut BlockLowerer<'_, '_, '_>, value: Clif) -> Slot {
        assert!(self.taken < MOST, "a loop with more stays in lockstep");
        let slot = Slot(abi::REST + 8 * self.taken as i32);
        self.taken += 1;
        lowerer.keep(slot, value);
        slot
    }
}

impl BlockLowerer<'_, '_, '_> {
    pub(super) fn keep(&mut self, slot: Slot, value: Clif) {
        self.b.ins().store(flags(), value, self.ctx, slot.0);
    }

    pub(super) fn kept(&mut self, slot: Slot) -> Clif {
        self.b.ins().load(types::I64, flags(), self.ctx, slot.0)
    }
}
