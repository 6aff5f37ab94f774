//! Moves lanes on, parks them at places, and gives places their turn.

use warploom_ir::{self as ir, BlockBuilder, BlockId, Type, Value};

use super::context::Cx;
use super::dispatcher::Dispatcher;
use super::emit::{Here, Shape};
use super::waiting::Waiting;

/// Rounds of a loop that may wait for other lanes, until those lanes get their turn: a power of
/// two.
const ROUNDS: u32 = 32;

impl Shape<'_> {
    /// Sends all active lanes to a node.
    pub fn go(&self, mut cx: Cx<'_>, node: usize, here: Here<'_>) {
        let to = self.plan.position[node];
        if here.is_alone(self.plan) || !self.plan.may_spin(here.position, to) {
            return self.go_on(cx, to, here.waiting);
        }
        let one = cx.word(1);
        let turns = cx.b.rf_read(self.turns);
        let turns = cx.b.add(turns, one);
        cx.b.rf_write(self.turns, turns);
        let limit = cx.word(ROUNDS);
        let is_long = cx.b.and(turns, limit);
        let pc = cx.b.pc();
        let (long, on) = (cx.b.function().new_block(pc), cx.b.function().new_block(pc));
        cx.b.branch(is_long, long, on);
        let mut turn = cx.in_block(long);
        let zero = turn.word(0);
        turn.b.rf_write(self.turns, zero);
        let active = turn.active();
        self.park(&mut turn.b, active, to, here.waiting);
        if let Some(dispatcher) = &self.dispatcher {
            dispatcher.choose_after(&mut turn.b, to);
        } else {
            let mut parked = here.waiting.clone();
            parked.insert(to);
            let after = turn.word(parked.iter().filter(|&place| place <= to).count() as u32);
            turn.b.dispatch(self.list(&parked), Some(after), self.done);
        }
        self.go_on(cx.in_block(on), to, here.waiting);
    }

    fn go_on(&self, mut cx: Cx<'_>, to: u32, waiting: &Waiting) {
        if let Some(dispatcher) = &self.dispatcher {
            return self.go_if_alone(cx, to, dispatcher);
        }
        let active = cx.active();
        if !waiting.any_before(to) {
            if waiting.contains(to) {
                self.join(&mut cx, active, to);
            }
            return cx.b.jump(self.blocks[to as usize]);
        }
        self.park(&mut cx.b, active, to, waiting);
        let mut waiting = waiting.clone();
        waiting.insert(to);
        self.choose(&mut cx.b, &waiting);
    }

    /// Sends all active lanes to a node. If lanes may come to it from several places, and lanes
    /// wait, the active lanes wait too, and the lanes of the first place go on.
    fn go_if_alone(&self, mut cx: Cx<'_>, to: u32, dispatcher: &Dispatcher) {
        let block = self.blocks[to as usize];
        if !self.plan.is_join(to) {
            return cx.b.jump(block);
        }
        let waiting = dispatcher.waiting(&mut cx.b);
        let pc = cx.b.pc();
        let wait = cx.b.function().new_block(pc);
        cx.b.branch(waiting, wait, block);
        let mut b = cx.b.function().at(wait);
        let active = b.read_active();
        dispatcher.park(&mut b, active, to);
        dispatcher.choose(&mut b);
    }

    /// Goes on at the first place that has lanes.
    pub fn choose(&self, b: &mut BlockBuilder<'_>, waiting: &Waiting) {
        match &self.dispatcher {
            Some(dispatcher) => dispatcher.choose(b),
            None => b.dispatch(self.list(waiting), None, self.done),
        }
    }

    /// Makes lanes that wait for a node active, together with the active lanes.
    pub fn join(&self, cx: &mut Cx<'_>, active: Value, to: u32) {
        let place = self.places[to as usize];
        let waiting = cx.b.rf_read(place);
        let all = cx.b.or(active, waiting);
        let none = cx.constant(Type::Mask, 0);
        cx.b.rf_write(place, none);
        cx.set_active(all);
    }

    /// Makes lanes wait for a node.
    pub fn park(&self, b: &mut BlockBuilder<'_>, lanes: Value, to: u32, waiting: &Waiting) {
        if let Some(dispatcher) = &self.dispatcher {
            return dispatcher.park(b, lanes, to);
        }
        let place = self.places[to as usize];
        let mut all = lanes;
        if waiting.contains(to) {
            let before = b.rf_read(place);
            all = b.or(before, lanes);
        }
        b.rf_write(place, all);
    }

    pub fn list(&self, waiting: &Waiting) -> Vec<(ir::Reg, BlockId)> {
        waiting.iter().map(|n| (self.places[n as usize], self.blocks[n as usize])).collect()
    }

    /// Returns a block from which the same lanes go on to a node.
    pub fn resume(&self, cx: &mut Cx<'_>, node: usize, here: Here<'_>) -> BlockId {
        let to = self.plan.position[node];
        let waits = match self.dispatcher {
            Some(_) => self.plan.is_join(to),
            None => here.waiting.any_before(to + 1),
        };
        if !waits && (here.is_alone(self.plan) || !self.plan.may_spin(here.position, to)) {
            return self.blocks[to as usize];
        }
        let pc = cx.b.pc();
        let block = cx.b.function().new_block(pc);
        self.go(cx.in_block(block), node, here);
        block
    }

    /// Returns a block where no lane is active, and the first place that has lanes goes on.
    pub fn next_place(&self, cx: &mut Cx<'_>, waiting: &Waiting) -> BlockId {
        if let Some(dispatcher) = &self.dispatcher {
            return dispatcher.block();
        }
        if waiting.is_empty() {
            return self.done;
        }
        let pc = cx.b.pc();
        let block = cx.b.function().new_block(pc);
        self.choose(&mut cx.b.function().at(block), waiting);
        block
    }

    /// Sends the lanes of the guard to `taken`, others to `next`. Lanes of the later node wait.
    pub fn split(
        &self,
        mut cx: Cx<'_>,
        taken: usize,
        next: usize,
        here: Here<'_>,
        may_be_empty: bool,
    ) {
        let (lanes, low, high) = self.part_lanes(&mut cx, taken, next, here);
        let mut parked = here.waiting.clone();
        parked.insert(high);
        let on = self.resume(&mut cx, low, Here { waiting: &parked, ..here });
        let rest = match parked.first() {
            Some(first) if first == high && self.dispatcher.is_none() && !may_be_empty => {
                self.only(&mut cx, high)
            }
            _ => self.next_place(&mut cx, &parked),
        };
        cx.b.branch(lanes, on, rest);
    }

    /// Parks the active lanes that go to the later of two nodes, and makes the other lanes active.
    ///
    /// Returns the now active lanes, the earlier node, and the later node's position.
    pub fn part_lanes(
        &self,
        cx: &mut Cx<'_>,
        taken: usize,
        next: usize,
        here: Here<'_>,
    ) -> (Value, usize, u32) {
        let (active, guard) = (cx.active(), cx.guard());
        let other = cx.not(guard);
        let (guard, other) = (cx.mask_value(guard), cx.mask_value(other));
        let (low, high) = self.plan.in_order(taken, next);
        let (of_low, of_high) = if low == taken { (guard, other) } else { (other, guard) };
        let lanes = cx.b.and(active, of_low);
        let late = cx.b.and(active, of_high);
        let high = self.plan.position[high];
        self.park(&mut cx.b, late, high, here.waiting);
        cx.set_active(lanes);
        (lanes, low, high)
    }

    /// Sends the active lanes to a node, if there are any.
    pub fn go_if_any(&self, mut cx: Cx<'_>, node: usize, here: Here<'_>, may_be_empty: bool) {
        if !may_be_empty {
            return self.go(cx, node, here);
        }
        let active = cx.active();
        let (on, rest) = (self.resume(&mut cx, node, here), self.next_place(&mut cx, here.waiting));
        cx.b.branch(active, on, rest);
    }

    /// Returns a block where no lane is active, and lanes wait for a node that precedes all other
    /// places.
    fn only(&self, cx: &mut Cx<'_>, to: u32) -> BlockId {
        let pc = cx.b.pc();
        let block = cx.b.function().new_block(pc);
        let mut b = cx.b.function().at(block);
        let place = self.places[to as usize];
        let lanes = b.rf_read(place);
        b.write_active(lanes);
        let none = b.lanes_of(0);
        b.rf_write(place, none);
        b.jump(self.blocks[to as usize]);
        block
    }
}
