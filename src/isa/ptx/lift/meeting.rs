//! Lanes that reach a statement of the warp, or a barrier, one after the other, perhaps at
//! different places of the program.
//!
//! A statement of the warp names lanes by a mask; a barrier names all lanes of the warp that have
//! not exited. If all named lanes are active, the statement executes like any other.
//!
//! Otherwise the active lanes pass its operands into staging registers of its kind, and wait at
//! that kind's place, which is behind all others. When no other lane can go on, or it is the
//! place's turn, the lanes that name each other execute the statement together.

use warploom_guest::divergence::first_lane;
use warploom_guest::places::Here;
use warploom_ir::observe;
use warploom_ir::{self as ir, BlockId, FunctionBuilder, IntCc, TrapKind, Type, Value};

use super::context::{Cell, Cx, Insn};
use super::emit::Shape;
use super::graph::End;
use super::plan::Plan;
use super::{VariableAddresses, barrier, uses};
use crate::module::{Operand, Statement};
use crate::types::Ty;

/// Registers of one kind of statement at which lanes meet.
pub struct Meeting {
    /// The cells of the staging registers.
    cells: Vec<Cell>,
    places: VariableAddresses,
    /// All waiting lanes; the waiting lanes that may still be part of a group; and a group.
    all: ir::Reg,
    left: ir::Reg,
    group: ir::Reg,
    sites: Vec<Site>,
}

/// A place in the program from which lanes come.
struct Site {
    node: usize,
    /// The position where the lanes go on.
    apart: u32,
    came: ir::Reg,
    pc: u64,
}

impl Meeting {
    pub fn all(
        plan: &Plan<'_>,
        cells: Vec<Vec<Cell>>,
        function: &mut FunctionBuilder,
    ) -> Vec<Meeting> {
        if cells.is_empty() {
            return vec![];
        }
        let bank = function.bank(
            "meet",
            ir::CellKind::Mask,
            (3 * cells.len() + plan.meeting_of.len()) as u32,
        );
        let mut count = 0;
        let mut mask = || {
            count += 1;
            bank.reg(count - 1)
        };
        let mut meetings: Vec<Meeting> = cells
            .into_iter()
            .map(|cells| {
                let (all, left, group) = (mask(), mask(), mask());
                Meeting {
                    cells,
                    places: VariableAddresses::default(),
                    all,
                    left,
                    group,
                    sites: vec![],
                }
            })
            .collect();
        for (node, end) in plan.graph.nodes.iter().map(|node| &node.end).enumerate() {
            let (End::Barrier { statement, apart, .. } | End::Meet { statement, apart, .. }) = *end
            else {
                continue;
            };
            let Some(&meeting) = plan.meeting_of.get(&node) else { continue };
            let at = plan.body(&plan.graph.nodes[node]).statements[statement as usize].at;
            let (apart, pc) = (plan.schedule.position[apart], plan.kernel.base + u64::from(at));
            meetings[meeting].sites.push(Site { node, apart, came: mask(), pc });
        }
        meetings
    }

    pub fn pc(&self) -> u64 {
        self.sites.first().map_or(0, |site| site.pc)
    }
}

impl Shape<'_> {
    /// Returns the lanes that are neither active nor have exited.
    pub fn absent(&self, cx: &mut Cx<'_>) -> Value {
        let live = cx.b.rf_read(self.live);
        let active = cx.active();
        let active = cx.b.not(active);
        cx.b.and(live, active)
    }

    /// Ends a node before a statement. The statement executes at once if all lanes that it names
    /// are there.
    pub fn meet(
        &self,
        mut cx: Cx<'_>,
        number: usize,
        statement: &Statement,
        next: usize,
        here: Here<'_>,
    ) {
        if here.is_alone(&self.plan.schedule) {
            return self.places.go(&mut cx.b, next, here);
        }
        let absent = self.absent(&mut cx);
        let mask = statement.operands.last().unwrap_or(&Operand::Sink);
        let named = cx.bits(mask, Ty::B32);
        let missing = if cx.b.ty(named).is_uniform() {
            let named = cx.b.zero_extend(Type::I64, named);
            let named = cx.b.to_mask(named);
            cx.b.and(named, absent)
        } else {
            let absent = cx.b.from_mask(absent);
            let absent = cx.b.trunc(Type::I32, absent);
            let (missing, zero) = (cx.b.and(named, absent), cx.word(0));
            let lanes = cx.b.icmp(IntCc::Ne, missing, zero);
            let active = cx.active();
            cx.b.and(lanes, active)
        };
        let on = self.places.resume(&mut cx.b, next, here);
        let pc = cx.b.pc();
        let apart = cx.b.function().new_block(pc);
        cx.b.branch(missing, apart, on);
        self.wait_to_meet(cx.b.function(), apart, number, statement, here);
    }

    /// Tells an observer of a statement that may wait for lanes.
    pub fn tell_of(&self, cx: &mut Cx<'_>, statement: &Statement) {
        if self.plan.kernel.observed && uses::is_meeting(self.module(), statement) {
            let mask = statement.operands.last().unwrap_or(&Operand::Sink);
            let named = cx.bits(mask, Ty::B32);
            let (active, executing) = (cx.active(), cx.executing());
            let live = if self.meetings.is_empty() { active } else { cx.b.rf_read(self.live) };
            cx.b.observe(observe::MEET, &[named, live, executing]);
        }
    }

    /// Tells an observer that a group meets: at which sites, and for which named lanes.
    fn tell_of_group(&self, cx: &mut Cx<'_>, which: usize, group: Value) {
        if !self.plan.kernel.observed {
            return;
        }
        let (staging, meeting, module) =
            (&self.plan.meetings[which], &self.meetings[which], self.module());
        let pc = cx.b.pc();
        for site in &meeting.sites {
            let node = &self.plan.graph.nodes[site.node];
            let (End::Barrier { statement, .. } | End::Meet { statement, .. }) = node.end else {
                continue;
            };
            let statement = &self.plan.body(node).statements[statement as usize];
            cx.b.set_pc(site.pc);
            let came = cx.b.rf_read(site.came);
            let here = cx.b.and(came, group);
            if !staging.is_barrier(module) {
                let key = meeting.cells[staging.key(module).0 as usize];
                let (named, live) = (cx.cell_value(key, Ty::B32), cx.b.rf_read(self.live));
                cx.b.observe(observe::MEET, &[named, live, here]);
            } else if uses::is_aligned(module.form(statement.form)) {
                cx.b.observe(observe::APART, &[group, here]);
            }
        }
        cx.b.set_pc(pc);
    }

    /// Builds a block in which the active lanes wait for others, to execute a statement together.
    pub fn wait_to_meet(
        &self,
        function: &mut FunctionBuilder,
        block: BlockId,
        number: usize,
        statement: &Statement,
        here: Here<'_>,
    ) {
        let which = self.plan.meeting_of[&number];
        let (meeting, position) = (&self.meetings[which], self.plan.meeting_position(which));
        let node = &self.plan.graph.nodes[number];
        let mut cx = self.context(function, block, node);
        cx.start(self.plan.kernel.base + u64::from(statement.at), None);
        self.plan.meetings[which].pass(&mut cx, statement, &meeting.cells);
        let active = cx.active();
        if let Some(site) = meeting.sites.iter().find(|site| site.node == number) {
            let came = cx.b.rf_read(site.came);
            let came = cx.b.or(came, active);
            cx.b.rf_write(site.came, came);
        }
        self.places.park(&mut cx.b, active, position, here.waiting);
        let mut parked = here.waiting.clone();
        parked.insert(position);
        if cx.is_refused() {
            return cx.b.trap(TrapKind::Unimplemented);
        }
        self.places.choose(&mut cx.b, &parked);
    }

    /// Moves the results of lanes that met.
    pub fn take_meeting(&self, cx: &mut Cx<'_>, statement: &Statement) {
        let module = self.module();
        let which =
            self.plan.meetings.iter().position(|staging| staging.is_for(module, statement.form));
        if let Some(which) = which {
            self.plan.meetings[which].give(cx, statement, &self.meetings[which].cells);
        }
    }

    fn staged<'f>(
        &'f self,
        function: &'f mut FunctionBuilder,
        block: BlockId,
        which: usize,
    ) -> Cx<'f> {
        let (staging, meeting) = (&self.plan.meetings[which], &self.meetings[which]);
        let (places, cells) = (&meeting.places, &meeting.cells);
        let mut cx =
            Cx::new(function.at(block), self.module(), places, &staging.body, cells, self.banks);
        cx.start(meeting.pc(), None);
        cx
    }

    /// Builds the blocks of the place of a kind of statement. All lanes of the place are active in
    /// it.
    pub fn meeting(&self, function: &mut FunctionBuilder, which: usize, here: Here<'_>) {
        let meeting = &self.meetings[which];
        let pc = meeting.pc();
        let [search, next, fire, not_yet] = [(); 4].map(|()| function.new_block(pc));
        let mut b = function.at(self.places.blocks[here.position as usize]);
        let all = b.read_active();
        b.rf_write(meeting.all, all);
        b.rf_write(meeting.left, all);
        b.jump(search);
        self.search(function, search, which, [fire, next]);
        let mut b = function.at(next);
        let (left, group) = (b.rf_read(meeting.left), b.rf_read(meeting.group));
        let others = b.not(group);
        let left = b.and(left, others);
        b.rf_write(meeting.left, left);
        b.branch(left, search, not_yet);
        self.fire(function, fire, which, here);
        self.not_yet(function, not_yet, which, here);
    }

    /// Tests whether all lanes are there that the first remaining lane waits for.
    fn search(
        &self,
        function: &mut FunctionBuilder,
        block: BlockId,
        which: usize,
        [fire, next]: [BlockId; 2],
    ) {
        let (staging, meeting) = (&self.plan.meetings[which], &self.meetings[which]);
        let mut cx = self.staged(function, block, which);
        let key = staging.key(self.module());
        let keys = cx.cell_value(meeting.cells[key.0 as usize], Ty::B32);
        let left = cx.b.rf_read(meeting.left);
        let first = first_lane(&mut cx.b, left);
        let named = cx.b.lane_read(keys, first);
        let alike = cx.b.icmp(IntCc::Eq, keys, named);
        let all = cx.b.rf_read(meeting.all);
        let group = cx.b.and(all, alike);
        cx.b.rf_write(meeting.group, group);
        let live = cx.b.rf_read(self.live);
        let others = cx.b.not(group);
        let mut missing = cx.b.and(live, others);
        if !staging.is_barrier(self.module()) {
            let named = cx.b.zero_extend(Type::I64, named);
            let named = cx.b.to_mask(named);
            missing = cx.b.and(missing, named);
        }
        cx.b.branch(missing, next, fire);
    }

    /// Lets a group execute the statement.
    fn fire(&self, function: &mut FunctionBuilder, block: BlockId, which: usize, here: Here<'_>) {
        let (staging, meeting) = (&self.plan.meetings[which], &self.meetings[which]);
        let module = self.module();
        let mut cx = self.staged(function, block, which);
        let (all, group) = (cx.b.rf_read(meeting.all), cx.b.rf_read(meeting.group));
        let others = cx.b.not(group);
        let rest = cx.b.and(all, others);
        self.places.park(&mut cx.b, rest, here.position, here.waiting);
        cx.set_active(group);
        self.tell_of_group(&mut cx, which, group);
        let statement = staging.statement();
        let insn = Insn { form: module.form(statement.form), operands: &statement.operands };
        if staging.is_barrier(module) {
            let Some(barrier) = barrier::barrier(&mut cx, &insn) else {
                return cx.b.trap(TrapKind::Unimplemented);
            };
            let pc = meeting.pc();
            let after = cx.b.function().new_block(pc);
            cx.b.barrier(barrier, after);
            let mut cx = self.staged(function, after, which);
            staging.take_barrier_result(&mut cx);
            return self.part(cx, which, here);
        }
        if !insn.lift(&mut cx) {
            return cx.b.trap(TrapKind::Unimplemented);
        }
        self.part(cx, which, here);
    }

    /// Sends the active lanes, which have met, on from their own sites.
    fn part(&self, mut cx: Cx<'_>, which: usize, here: Here<'_>) {
        let group = cx.active();
        let others = cx.b.not(group);
        let mut parked = here.waiting.clone();
        parked.insert(here.position);
        let sites = &self.meetings[which].sites;
        parked.extend(sites.iter().map(|site| site.apart));
        for site in sites {
            let came = cx.b.rf_read(site.came);
            let left = cx.b.and(came, others);
            cx.b.rf_write(site.came, left);
            let lanes = cx.b.and(came, group);
            self.places.park(&mut cx.b, lanes, site.apart, &parked);
        }
        self.places.choose(&mut cx.b, &parked);
    }

    /// Gives other places their turn, as no group is complete. If there are none, nothing can go
    /// on.
    fn not_yet(
        &self,
        function: &mut FunctionBuilder,
        block: BlockId,
        which: usize,
        here: Here<'_>,
    ) {
        let pc = self.meetings[which].pc();
        let stuck = function.new_block(pc);
        let waiting = self
            .meetings
            .iter()
            .flat_map(|meeting| &meeting.sites)
            .map(|site| (site.came, site.pc));
        function.at(stuck).deadlock(waiting.collect());
        let mut b = function.at(block);
        let all = b.rf_read(self.meetings[which].all);
        self.places.park(&mut b, all, here.position, here.waiting);
        if let Some(dispatcher) = &self.places.dispatcher {
            return dispatcher.choose_another(&mut b, all, stuck);
        }
        let nodes = self.plan.schedule.at.len() as u32;
        let others =
            here.waiting.iter().filter(|&place| place < nodes || place > here.position).collect();
        let places = self.places.list(&others);
        if places.is_empty() {
            return b.jump(stuck);
        }
        b.dispatch(places, None, stuck);
    }
}
