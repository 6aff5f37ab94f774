//! Dispatches lanes that may wait anywhere. Each lane holds the position of its place in the order
//! of nodes; lanes of the first place go on.

use warploom_ir::{
    self as ir, BlockBuilder, BlockId, CellKind, FunctionBuilder, IntCc, Type, Value,
};

use crate::divergence::first_lane;

pub struct Dispatcher {
    /// The position of each lane's place, `i32`.
    place: ir::Reg,
    /// The waiting lanes; the lanes among which the first place is searched; and the lanes that
    /// cannot go on before others do.
    waiting: ir::Reg,
    left: ir::Reg,
    tried: ir::Reg,
    /// The blocks that choose among all waiting lanes, and among the lanes that are left.
    all: BlockId,
    search: BlockId,
}

impl Dispatcher {
    pub fn declare(function: &mut FunctionBuilder, pc: u64) -> Dispatcher {
        let place = function.bank("place", CellKind::Lane(Type::I32), 1).reg(0);
        let masks = function.bank("places", CellKind::Mask, 3);
        let (waiting, left, tried) = (masks.reg(0), masks.reg(1), masks.reg(2));
        let (all, search) = (function.new_block(pc), function.new_block(pc));
        Dispatcher { place, waiting, left, tried, all, search }
    }

    /// Returns the waiting lanes.
    pub fn waiting(&self, b: &mut BlockBuilder<'_>) -> Value {
        b.rf_read(self.waiting)
    }

    /// Makes lanes wait at a position.
    pub fn park(&self, b: &mut BlockBuilder<'_>, lanes: Value, to: u32) {
        let guard = b.guard();
        let position = b.iconst(Type::I32, to.into());
        let position = b.splat(position);
        b.set_guard(Some(lanes));
        b.set_nomask(true);
        b.rf_write(self.place, position);
        b.set_nomask(false);
        b.set_guard(guard);
        let waiting = b.rf_read(self.waiting);
        let waiting = b.or(waiting, lanes);
        b.rf_write(self.waiting, waiting);
    }

    /// Returns the block that no lane is active in, and from which lanes of the first place go on.
    pub fn block(&self) -> BlockId {
        self.all
    }

    /// Goes on with the lanes of the first place.
    pub fn choose(&self, b: &mut BlockBuilder<'_>) {
        b.jump(self.all);
    }

    /// Goes on with the lanes of the first place behind a position, or, if there are none, with the
    /// lanes of the first place of all.
    pub fn choose_after(&self, b: &mut BlockBuilder<'_>, position: u32) {
        let (place, waiting) = (b.rf_read(self.place), b.rf_read(self.waiting));
        let position = b.iconst(Type::I32, position.into());
        let later = b.icmp(IntCc::GtU, place, position);
        let later = b.and(later, waiting);
        let left = b.uniform_select(later, later, waiting);
        b.rf_write(self.left, left);
        let none = b.lanes_of(0);
        b.rf_write(self.tried, none);
        b.jump(self.search);
    }

    /// Goes on with other lanes, as `lanes` have just gone on but cannot. If all have been tried,
    /// goes to `stuck`.
    pub fn choose_another(&self, b: &mut BlockBuilder<'_>, lanes: Value, stuck: BlockId) {
        let (tried, waiting) = (b.rf_read(self.tried), b.rf_read(self.waiting));
        let tried = b.or(tried, lanes);
        b.rf_write(self.tried, tried);
        let others = b.not(tried);
        let left = b.and(waiting, others);
        b.rf_write(self.left, left);
        b.branch(left, self.search, stuck);
    }

    /// Builds the blocks that choose. `blocks` has the block of each position, and `done` ends a warp.
    pub fn build(&self, function: &mut FunctionBuilder, blocks: &[BlockId], done: BlockId) {
        let mut b = function.at(self.all);
        let none = b.lanes_of(0);
        b.rf_write(self.tried, none);
        let waiting = b.rf_read(self.waiting);
        b.rf_write(self.left, waiting);
        b.branch(waiting, self.search, done);
        let pc = function.at(self.search).pc();
        let found = function.new_block(pc);
        self.search(&mut function.at(self.search), found);
        let mut b = function.at(found);
        let (place, first) = self.first(&mut b);
        let waiting = b.rf_read(self.waiting);
        let alike = b.icmp(IntCc::Eq, place, first);
        let lanes = b.and(alike, waiting);
        let others = b.not(lanes);
        let waiting = b.and(waiting, others);
        b.rf_write(self.waiting, waiting);
        b.write_active(lanes);
        let cases = (0..).zip(blocks.iter().copied()).collect();
        b.switch(first, cases, done);
    }

    /// Returns the place of each lane, and the place of the first lane that is left.
    fn first(&self, b: &mut BlockBuilder<'_>) -> (Value, Value) {
        let (place, left) = (b.rf_read(self.place), b.rf_read(self.left));
        let lane = first_lane(b, left);
        (place, b.lane_read(place, lane))
    }

    /// Keeps only lanes whose place is before that of the first, as long as there are any.
    fn search(&self, b: &mut BlockBuilder<'_>, found: BlockId) {
        let (place, first) = self.first(b);
        let left = b.rf_read(self.left);
        let earlier = b.icmp(IntCc::LtU, place, first);
        let earlier = b.and(earlier, left);
        let kept = b.uniform_select(earlier, earlier, left);
        b.rf_write(self.left, kept);
        b.branch(earlier, self.search, found);
    }
}
