//! Places: where lanes wait while other lanes run.
//!
//! Code is cut into *nodes*, which [`Schedule`] puts into an order. A node that lanes may wait for
//! has a mask register, its *place*. The running lanes are at the first place that has lanes. So
//! lanes that come to a node while others wait for an earlier node wait as well, and lanes that
//! wait for the node itself join them. In loops that wait for other lanes, the other lanes also
//! get their turn.
//!
//! [`Places`] builds the code by which lanes part and meet.

mod chain;
mod dispatcher;
mod order;
mod schedule;
mod waiting;

pub use chain::Chain;
pub use dispatcher::Dispatcher;
pub use schedule::Schedule;
pub use waiting::{Next, Step, Waiting};

use warploom_ir::{self as ir, BlockBuilder, BlockId, CellKind, FunctionBuilder, Type, Value};

use super::divergence::Mask;

/// Rounds of a loop that may wait for other lanes, until those lanes get their turn: a power of
/// two.
const ROUNDS: u64 = 32;

/// The position that is being built, and the places where lanes may wait while it runs.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    pub position: u32,
    pub waiting: &'a Waiting,
}

/// The registers of places, and the blocks where their lanes go on.
pub struct Places<'a> {
    pub schedule: &'a Schedule,
    /// Present if lanes may wait anywhere.
    pub dispatcher: Option<Dispatcher>,
    /// By position: the mask register of the place.
    registers: Vec<ir::Reg>,
    pub blocks: Vec<BlockId>,
    /// The block that ends a warp.
    pub done: BlockId,
    /// The number of rounds in which lanes wait for others.
    turns: ir::Reg,
}

impl Here<'_> {
    /// Whether it is known that no lane waits.
    pub fn is_alone(&self, schedule: &Schedule) -> bool {
        self.waiting.is_empty() && !schedule.anywhere
    }
}

impl<'a> Places<'a> {
    /// Declares the registers of places. [`Places::blocks`] must get a block for each position.
    pub fn declare(schedule: &'a Schedule, function: &mut FunctionBuilder, pc: u64) -> Places<'a> {
        let dispatcher = schedule.anywhere.then(|| Dispatcher::declare(function, pc));
        // A dispatcher has the number of each lane's place instead.
        let positions = schedule.waiting.len() as u32;
        let count = if schedule.anywhere { 1 } else { positions.max(1) };
        let bank = function.bank("wait", CellKind::Mask, count);
        let registers = (0..positions).map(|n| bank.reg(n.min(count - 1))).collect();
        let turns = function.bank("turns", CellKind::Uniform(Type::I32), 1).reg(0);
        let done = function.new_block(pc);
        function.at(done).exit();
        Places { schedule, dispatcher, registers, blocks: vec![], done, turns }
    }

    /// Builds the dispatcher's blocks, if there is a dispatcher.
    pub fn finish(&self, function: &mut FunctionBuilder) {
        if let Some(dispatcher) = &self.dispatcher {
            dispatcher.build(function, &self.blocks, self.done);
        }
    }

    pub fn position(&self, node: usize) -> u32 {
        self.schedule.position[node]
    }

    /// Sends all active lanes to a node.
    pub fn go(&self, b: &mut BlockBuilder<'_>, node: usize, here: Here<'_>) {
        let to = self.position(node);
        if here.is_alone(self.schedule) || !self.schedule.may_spin(here.position, to) {
            return self.go_on(b, to, here.waiting);
        }
        let (one, limit) = (b.iconst(Type::I32, 1), b.iconst(Type::I32, ROUNDS));
        let turns = b.rf_read(self.turns);
        let turns = b.add(turns, one);
        b.rf_write(self.turns, turns);
        let is_long = b.and(turns, limit);
        let pc = b.pc();
        let (long, on) = (b.function().new_block(pc), b.function().new_block(pc));
        b.branch(is_long, long, on);
        let mut turn = b.function().at(long);
        let zero = turn.iconst(Type::I32, 0);
        turn.rf_write(self.turns, zero);
        let active = turn.read_active();
        self.park(&mut turn, active, to, here.waiting);
        if let Some(dispatcher) = &self.dispatcher {
            dispatcher.choose_after(&mut turn, to);
        } else {
            let mut parked = here.waiting.clone();
            parked.insert(to);
            let after = parked.iter().filter(|&place| place <= to).count() as u64;
            let after = turn.iconst(Type::I32, after);
            turn.dispatch(self.list(&parked), Some(after), self.done);
        }
        self.go_on(&mut b.function().at(on), to, here.waiting);
    }

    fn go_on(&self, b: &mut BlockBuilder<'_>, to: u32, waiting: &Waiting) {
        if let Some(dispatcher) = &self.dispatcher {
            return self.go_if_alone(b, to, dispatcher);
        }
        let active = b.read_active();
        if !waiting.any_before(to) {
            if waiting.contains(to) {
                self.join(b, active, to);
            }
            return b.jump(self.blocks[to as usize]);
        }
        self.park(b, active, to, waiting);
        let mut waiting = waiting.clone();
        waiting.insert(to);
        self.choose(b, &waiting);
    }

    /// Sends all active lanes to a node. If lanes may come to it from several places, and lanes
    /// wait, the active lanes wait too, and the lanes of the first place go on.
    fn go_if_alone(&self, b: &mut BlockBuilder<'_>, to: u32, dispatcher: &Dispatcher) {
        let block = self.blocks[to as usize];
        if !self.schedule.is_join(to) {
            return b.jump(block);
        }
        let waiting = dispatcher.waiting(b);
        let pc = b.pc();
        let wait = b.function().new_block(pc);
        b.branch(waiting, wait, block);
        let mut b = b.function().at(wait);
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

    /// Makes lanes that wait for a node active, together with the active lanes. Returns all of
    /// them.
    pub fn join(&self, b: &mut BlockBuilder<'_>, active: Value, to: u32) -> Value {
        let place = self.registers[to as usize];
        let waiting = b.rf_read(place);
        let all = b.or(active, waiting);
        let none = b.lanes_of(0);
        b.rf_write(place, none);
        b.write_active(all);
        all
    }

    /// Makes lanes wait for a node.
    pub fn park(&self, b: &mut BlockBuilder<'_>, lanes: Value, to: u32, waiting: &Waiting) {
        if let Some(dispatcher) = &self.dispatcher {
            return dispatcher.park(b, lanes, to);
        }
        let place = self.registers[to as usize];
        let mut all = lanes;
        if waiting.contains(to) {
            let before = b.rf_read(place);
            all = b.or(before, lanes);
        }
        b.rf_write(place, all);
    }

    /// Lists places with the blocks where their lanes go on.
    pub fn list(&self, waiting: &Waiting) -> Vec<(ir::Reg, BlockId)> {
        waiting.iter().map(|n| (self.registers[n as usize], self.blocks[n as usize])).collect()
    }

    /// Returns a block from which the same lanes go on to a node.
    pub fn resume(&self, b: &mut BlockBuilder<'_>, node: usize, here: Here<'_>) -> BlockId {
        let to = self.position(node);
        let waits = match self.dispatcher {
            Some(_) => self.schedule.is_join(to),
            None => here.waiting.any_before(to + 1),
        };
        let spins = !here.is_alone(self.schedule) && self.schedule.may_spin(here.position, to);
        if !waits && !spins {
            return self.blocks[to as usize];
        }
        let pc = b.pc();
        let block = b.function().new_block(pc);
        self.go(&mut b.function().at(block), node, here);
        block
    }

    /// Returns a block where no lane is active, and the first place that has lanes goes on.
    pub fn next_place(&self, b: &mut BlockBuilder<'_>, waiting: &Waiting) -> BlockId {
        if let Some(dispatcher) = &self.dispatcher {
            return dispatcher.block();
        }
        if waiting.is_empty() {
            return self.done;
        }
        let pc = b.pc();
        let block = b.function().new_block(pc);
        self.choose(&mut b.function().at(block), waiting);
        block
    }

    /// Sends the lanes of the guard to `taken`, others to `next`. Lanes of the later node wait.
    pub fn split(
        &self,
        b: &mut BlockBuilder<'_>,
        guard: Mask,
        [taken, next]: [usize; 2],
        here: Here<'_>,
        may_be_empty: bool,
    ) {
        let (lanes, low, high) = self.part(b, guard, [taken, next], here);
        let mut parked = here.waiting.clone();
        parked.insert(high);
        let on = self.resume(b, low, Here { waiting: &parked, ..here });
        let rest = match parked.first() {
            Some(first) if first == high && self.dispatcher.is_none() && !may_be_empty => {
                self.only(b, high)
            }
            _ => self.next_place(b, &parked),
        };
        b.branch(lanes, on, rest);
    }

    /// Parks the active lanes that go to the later of two nodes, `taken` under the guard, and makes
    /// the other lanes active.
    ///
    /// Returns the now active lanes, the earlier node, and the later node's position.
    pub fn part(
        &self,
        b: &mut BlockBuilder<'_>,
        guard: Mask,
        [taken, next]: [usize; 2],
        here: Here<'_>,
    ) -> (Value, usize, u32) {
        let active = b.read_active();
        let other = guard.not(b).value(b);
        let guard = guard.value(b);
        let (low, high) = self.schedule.in_order(taken, next);
        let (of_low, of_high) = if low == taken { (guard, other) } else { (other, guard) };
        let lanes = b.and(active, of_low);
        let late = b.and(active, of_high);
        let high = self.position(high);
        self.park(b, late, high, here.waiting);
        b.write_active(lanes);
        (lanes, low, high)
    }

    /// Sends the active lanes to a node, if there are any.
    pub fn go_if_any(
        &self,
        b: &mut BlockBuilder<'_>,
        node: usize,
        here: Here<'_>,
        may_be_empty: bool,
    ) {
        if !may_be_empty {
            return self.go(b, node, here);
        }
        let active = b.read_active();
        let (on, rest) = (self.resume(b, node, here), self.next_place(b, here.waiting));
        b.branch(active, on, rest);
    }

    /// Sends lanes to the node whose value, of these cases, is theirs. Returns the active lanes
    /// without a case; with `others`, these take the last case.
    pub fn table(
        &self,
        b: &mut BlockBuilder<'_>,
        value: Value,
        cases: &[(u64, usize)],
        others: bool,
        here: Here<'_>,
    ) -> (Value, Waiting) {
        let ty = b.ty(value).ty;
        let mut parked = here.waiting.clone();
        let mut rest = b.read_active();
        for (n, &(case, target)) in cases.iter().enumerate() {
            let lanes = if others && n + 1 == cases.len() {
                rest
            } else {
                let case = b.iconst(ty, case);
                let chosen = b.icmp(ir::IntCc::Eq, value, case);
                b.and(rest, chosen)
            };
            self.park(b, lanes, self.position(target), &parked);
            parked.insert(self.position(target));
            let not = b.not(lanes);
            rest = b.and(rest, not);
        }
        (rest, parked)
    }

    /// Returns a block where no lane is active, and lanes wait for a node that precedes all other
    /// places.
    fn only(&self, b: &mut BlockBuilder<'_>, to: u32) -> BlockId {
        let pc = b.pc();
        let block = b.function().new_block(pc);
        let mut b = b.function().at(block);
        let place = self.registers[to as usize];
        let lanes = b.rf_read(place);
        b.write_active(lanes);
        let none = b.lanes_of(0);
        b.rf_write(place, none);
        b.jump(self.blocks[to as usize]);
        block
    }
}
