//! Emission of the IR of a graph: a block for each node, or for several that run one after the
//! other: see [`Chain`].

use warploom_guest::divergence::{Mask, first_lane};
use warploom_guest::places::{Chain, Here, Places};
use warploom_ir::{
    self as ir, BlockId, BuildError, CellKind, Function, FunctionBuilder, IntCc, LaneFault,
    TrapKind, Value,
};
use warploom_sass::lift::service::Frame;
use warploom_sass::lift::{Banks, Cx, Flags};

use super::flow::Flow;
use super::graph::{End, Node};
use super::meeting::Meeting;
use super::plan::Plan;
use super::{Kernel, NAN, WARP_LANES, control, declare};
use crate::driver::{RETURN_ADDRESS, word};
use crate::{Instruction, Opcode};

pub struct Emitter<'a> {
    pub kernel: &'a Kernel<'a>,
    pub plan: &'a Plan,
    pub banks: Banks,
    pub places: Places<'a>,
    pub meeting: Option<Meeting>,
}

pub fn emit(kernel: &Kernel<'_>, plan: &Plan) -> Result<Function, BuildError> {
    let mut function = FunctionBuilder::new(kernel.name, WARP_LANES, NAN);
    let banks = {
        let graph = &plan.graph;
        declare(&mut function, graph.registers, graph.uniform, graph.converges)
    };
    let active = function.bank("active", CellKind::Mask, 1).reg(0);
    function.set_active(active);
    function.set_observed(kernel.observed);
    let (schedule, nodes) = (&plan.schedule, &plan.graph.nodes);
    // No block leads to the entry; often the first node can be the entry.
    let entry = function.new_block(kernel.entry);
    let is_entry =
        schedule.predecessors[0].is_empty() && !schedule.anywhere && plan.meets.is_empty();
    let mut places = Places::declare(schedule, &mut function, kernel.entry);
    for &node in &schedule.at {
        let block = if node == 0 && is_entry { entry } else { function.new_block(nodes[node].pc) };
        places.blocks.push(block);
    }
    let meeting = (!plan.meets.is_empty()).then(|| Meeting::declare(plan, &mut function));
    if meeting.is_some() {
        places.blocks.push(function.new_block(kernel.entry));
    }
    if !is_entry {
        let first = places.blocks[places.position(0) as usize];
        let mut b = function.at(entry);
        if let Some(meeting) = &meeting {
            let active = b.read_active();
            b.rf_write(meeting.live, active);
        }
        b.jump(first);
    }
    let emitter = Emitter { kernel, plan, banks, places, meeting };
    let mut is_part = vec![false; nodes.len()];
    for (position, waiting) in (0..).zip(&schedule.waiting) {
        let node = schedule.at.get(position as usize);
        let is_part_of_other = node.is_some_and(|&node| is_part[node]);
        let Some(waiting) = waiting.as_ref().filter(|_| !is_part_of_other) else {
            function.at(emitter.places.blocks[position as usize]).exit();
            continue;
        };
        let here = Here { position, waiting };
        match node {
            Some(&node) => emitter
                .node(&mut function, node, here)
                .into_iter()
                .for_each(|part| is_part[part] = true),
            None => emitter.meeting(&mut function, here),
        }
    }
    emitter.places.finish(&mut function);
    function.finish()
}

impl Emitter<'_> {
    /// Starts a context in a block in which all flags are in registers.
    pub fn context<'f>(
        &'f self,
        function: &'f mut FunctionBuilder,
        block: BlockId,
        kept: Flags,
    ) -> Cx<'f> {
        let mut cx = Cx::new(function.at(block), self.banks, kept);
        cx.compiled = self.kernel.constants;
        cx.images = self.kernel.images;
        cx.ntid = Some(word::NTID);
        cx
    }

    /// Builds the block of a node and of the further nodes that it runs on to. Returns those
    /// further nodes.
    fn node(&self, function: &mut FunctionBuilder, number: usize, here: Here<'_>) -> Vec<usize> {
        let block = self.places.blocks[here.position as usize];
        let mut cx = self.context(function, block, self.plan.live.kept);
        let mut chain = Chain::new(number);
        let (mut number, mut here, mut cost) = (number, here, 0);
        loop {
            let node = &self.plan.graph.nodes[number];
            cost += node.cost;
            for (step, live) in node.steps.iter().zip(self.plan.live.after_steps(node)) {
                let Some(insn) = step.insn else { continue };
                cx.start(&insn, step.pc, live);
                if let (Opcode::Break, Some(meeting)) = (insn.opcode(), &self.meeting) {
                    meeting.leave(&mut cx, &insn);
                }
                if let Some(lift) = insn.row.lift {
                    // The trial run showed that the instruction is supported.
                    let _ = lift(&mut cx, &insn);
                }
            }
            cx.set_guard(Mask::Always);
            let Some(next) = self.run_on(&mut cx, number, here, &mut chain) else { break };
            let position = self.places.position(next);
            let Some(waiting) = &self.plan.schedule.waiting[position as usize] else { break };
            (number, here) = (next, Here { position, waiting });
        }
        cx.b.function().set_cost(block, cost);
        self.end(cx, number, here, chain.may_be_empty());
        chain.parts()
    }

    /// Appends another node to the same block, if possible, and returns it.
    fn run_on(
        &self,
        cx: &mut Cx<'_>,
        number: usize,
        here: Here<'_>,
        chain: &mut Chain,
    ) -> Option<usize> {
        if self.places.dispatcher.is_some() {
            return None;
        }
        let (nodes, schedule) = (&self.plan.graph.nodes, &self.plan.schedule);
        let node = &nodes[number];
        let on = match node.end {
            End::Split { pc, taken, next } if taken != next => {
                let (low, _) = schedule.in_order(taken, next);
                if !schedule.is_own_next(here, low, &[number]) || !takes(chain, &nodes[low], true) {
                    return None;
                }
                let guard = self.condition(cx, pc);
                cx.set_guard(Mask::Always);
                let (lanes, low, high) = self.places.part(&mut cx.b, guard, [taken, next], here);
                cx.now_active(lanes);
                chain.left.push(high);
                low
            }
            End::Exit { pc, next: Some(next) } => {
                if !schedule.is_own_next(here, next, &[number]) || !takes(chain, &nodes[next], true)
                {
                    return None;
                }
                self.leave(cx, pc);
                chain.exited = true;
                next
            }
            // The next reading of a clock must be later.
            End::Jump(_) if reads_clock(node) => return None,
            // Few lanes call a function behind a branch, such as a division's slow path.
            End::Jump(next) if chain.may_be_empty() && nodes[next].copy != node.copy => {
                return None;
            }
            End::Jump(next) => self.join(cx, here, next, chain)?,
            End::Meet { next, .. } if here.is_alone(schedule) && !chain.may_be_empty() => {
                self.join(cx, here, next, chain)?
            }
            _ => return None,
        };
        chain.nodes.push(on);
        Some(on)
    }

    /// Goes on in the same block at a node, where lanes of the block may wait.
    fn join(
        &self,
        cx: &mut Cx<'_>,
        here: Here<'_>,
        next: usize,
        chain: &mut Chain,
    ) -> Option<usize> {
        let to = self.places.position(next);
        let may_be_empty = chain.may_be_empty_with(to);
        if !self.plan.schedule.is_own_next(here, next, &chain.nodes)
            || !takes(chain, &self.plan.graph.nodes[next], may_be_empty)
        {
            return None;
        }
        if here.waiting.contains(to) {
            cx.settle();
            let active = cx.active();
            let all = self.places.join(&mut cx.b, active, to);
            cx.now_active(all);
            chain.left.retain(|&place| place != to);
        }
        Some(next)
    }

    /// Starts the instruction that ends a node, and returns the lanes of its condition.
    fn condition(&self, cx: &mut Cx<'_>, pc: u64) -> Mask {
        let Some(insn) = self.kernel.instruction(pc) else { return Mask::Always };
        cx.start(&insn, pc, Flags::ALL);
        control::followers(cx, &insn)
    }

    /// Lets the lanes of an exit's condition leave.
    fn leave(&self, cx: &mut Cx<'_>, pc: u64) {
        let condition = self.condition(cx, pc);
        cx.set_guard(Mask::Always);
        let active = cx.active();
        let lanes = cx.and(Mask::Lanes(active), condition).value(&mut cx.b);
        self.exited(cx, lanes);
        let gone = cx.b.not(lanes);
        let rest = cx.b.and(active, gone);
        cx.set_active(rest);
    }

    /// Removes lanes that exit from the live lanes.
    fn exited(&self, cx: &mut Cx<'_>, lanes: Value) {
        let Some(meeting) = &self.meeting else { return };
        let live = cx.b.rf_read(meeting.live);
        let gone = cx.b.not(lanes);
        let live = cx.b.and(live, gone);
        cx.b.rf_write(meeting.live, live);
    }

    /// Lifts the instruction that ends a node.
    fn lift(&self, cx: &mut Cx<'_>, pc: u64) -> Option<Flow> {
        let insn = self.kernel.instruction(pc)?;
        cx.start(&insn, pc, Flags::ALL);
        // All lanes that come here execute it.
        cx.set_guard(Mask::Always);
        insn.row.lift.and_then(|lift| lift(cx, &insn).ok())
    }

    /// Ends a node. If `may_be_empty`, perhaps no lane is active and others wait.
    fn end(&self, mut cx: Cx<'_>, number: usize, here: Here<'_>, may_be_empty: bool) {
        let node = &self.plan.graph.nodes[number];
        let after = self.plan.live.after(&node.end.successors());
        match node.end {
            End::Jump(next) => {
                cx.flush(after);
                self.places.go_if_any(&mut cx.b, next, here, may_be_empty);
            }
            End::Split { taken, next, .. } if taken == next => {
                cx.flush(after);
                self.places.go_if_any(&mut cx.b, next, here, may_be_empty);
            }
            End::Split { pc, taken, next } => {
                let guard = self.condition(&mut cx, pc);
                cx.set_guard(Mask::Always);
                cx.flush(after);
                self.places.split(&mut cx.b, guard, [taken, next], here, may_be_empty);
            }
            End::Exit { pc, next: Some(next) } => {
                self.leave(&mut cx, pc);
                cx.flush(after);
                self.places.go_if_any(&mut cx.b, next, here, true);
            }
            End::Exit { pc, next: None } => {
                cx.b.set_pc(pc);
                let lanes = cx.active();
                self.exited(&mut cx, lanes);
                cx.flush(after);
                if here.is_alone(&self.plan.schedule) {
                    return cx.b.exit();
                }
                let next = self.places.next_place(&mut cx.b, here.waiting);
                cx.b.jump(next);
            }
            End::Table { pc, ref cases } => {
                let address = match self.lift(&mut cx, pc) {
                    Some(
                        Flow::Return(address)
                        | Flow::Indirect(address)
                        | Flow::CallIndirect(address),
                    ) => address,
                    // A stand-in has no instruction that returns.
                    _ => {
                        let address = cx.reg_pair(RETURN_ADDRESS);
                        cx.b.splat(address)
                    }
                };
                cx.flush(after);
                self.table(cx, address, cases, here);
            }
            End::Barrier { pc, next } => match self.lift(&mut cx, pc) {
                Some(Flow::Barrier(barrier)) => {
                    cx.flush(after);
                    let resume = self.places.resume(&mut cx.b, next, here);
                    cx.b.barrier(barrier, resume);
                }
                _ => cx.b.trap(TrapKind::Unimplemented),
            },
            End::Meet { pc, who, next } => {
                let named = match self.lift(&mut cx, pc) {
                    Some(Flow::Meet(named) | Flow::Converge(_, named)) if !who.is_everybody() => {
                        Some(named)
                    }
                    _ => None,
                };
                cx.flush(after);
                self.meet(cx, number, named, who, next, here);
            }
            End::Service { pc, service, next } => {
                cx.b.set_pc(pc);
                cx.flush(after);
                let resume = self.places.resume(&mut cx.b, next, here);
                let answered = cx.b.function().new_block(pc);
                let frame = Frame { registers: self.banks.registers, stack_end: word::STACK };
                frame.ask(&mut cx.b, service, answered);
                let mut b = cx.b.function().at(answered);
                frame.take(&mut b, service);
                b.jump(resume);
            }
            End::Trap { pc, kind } => {
                cx.b.set_pc(pc);
                cx.b.trap(kind);
            }
        }
    }

    /// Sends lanes to the node whose address is theirs. Other lanes fault, as there is no code.
    fn table(&self, mut cx: Cx<'_>, address: Value, cases: &[(u64, usize)], here: Here<'_>) {
        if let [(at, only)] = cases[..] {
            let at = cx.constant(ir::Type::I64, at);
            let wrong = cx.b.icmp(IntCc::Ne, address, at);
            let active = cx.active();
            let wrong = cx.b.and(active, wrong);
            cx.b.raise(LaneFault::IllegalInstruction, wrong);
            return self.places.go(&mut cx.b, only, here);
        }
        let address = cx.b.splat(address);
        let (rest, parked) = self.places.table(&mut cx.b, address, cases, false, here);
        cx.b.raise(LaneFault::IllegalInstruction, rest);
        let next = self.places.next_place(&mut cx.b, &parked);
        cx.b.jump(next);
    }
}

/// Returns the value of the first executing lane, uniform.
pub fn of_first_lane(cx: &mut Cx<'_>, value: Value) -> Value {
    if cx.b.ty(value).is_uniform() {
        return value;
    }
    let lanes = cx.executing();
    let lane = first_lane(&mut cx.b, lanes);
    cx.b.lane_read(value, lane)
}

/// Whether the last step of a node reads a clock.
fn reads_clock(node: &Node) -> bool {
    let is_clock = |insn: Instruction| {
        matches!(insn.opcode(), Opcode::S2r | Opcode::Cs2r | Opcode::S2ur)
            && super::moves::is_clock(&insn)
    };
    node.steps.last().and_then(|step| step.insn).is_some_and(is_clock)
}

/// Whether a chain takes another node. `may_be_empty` says that perhaps no lane is active.
fn takes(chain: &mut Chain, node: &Node, may_be_empty: bool) -> bool {
    let ends =
        !may_be_empty || matches!(node.end, End::Jump(_) | End::Split { .. } | End::Exit { .. });
    ends && chain.takes(node.steps.len())
}
