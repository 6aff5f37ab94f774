//! Values that rounds do not use. They are spilled to the context: a host has few registers, and
//! its allocator may give a register that a round needs to a value that is needed after the last
//! round.

use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use warploom_engine::abi;

use super::super::block::BlockLowerer;
use super::super::chunk::flags;

/// The number of bytes for such values.
pub const MOST_BYTES: usize = abi::SPILL_BYTES;

/// The place of an `i64` in the context.
#[derive(Clone, Copy)]
pub struct Slot(i32);

/// The places in [`warploom_runtime::warp::WarpContext::spill`] that are taken.
#[derive(Clone, Copy, Default)]
pub struct Slots {
    taken: i32,
}

impl Slots {
    /// Spills a value to a place of its own.
    pub fn keep(&mut self, lowerer: &mut BlockLowerer<'_, '_, '_>, value: Clif) -> Slot {
        let slot = Slot(self.take(8));
        lowerer.keep(slot, value);
        slot
    }

    /// Takes a place of `bytes` bytes, for one value per lane. Returns its offset in the context.
    pub fn row(&mut self, bytes: u32) -> i32 {
        self.take(bytes as i32)
    }

    fn take(&mut self, bytes: i32) -> i32 {
        let at = self.taken;
        self.taken += bytes;
        assert!(self.taken as usize <= MOST_BYTES, "a loop with more stays in lockstep");
        abi::SPILLS + at
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
