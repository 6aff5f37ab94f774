//! Lanes that wait until the lanes that they name are there.
//!
//! WARPSYNC names lanes by a mask; a barrier of the block names all lanes of the warp that have not
//! exited. If all named lanes are active, the code goes on. Otherwise the active lanes wait at the
//! meeting, a place behind all others. When no other lane can go on, or it is the meeting's turn,
//! the lanes that name each other go on.

use warploom_guest::divergence::first_lane;
use warploom_guest::places::{Here, Waiting};
use warploom_ir::observe;
use warploom_ir::{self as ir, BlockId, CellKind, FunctionBuilder, IntCc, Type, Value};
use warploom_sass::lift::{Cx, Flags};

use super::control::Leaving;
use super::emit::Emitter;
use super::graph::{End, Who};
use super::plan::Plan;
use crate::Instruction;

/// The registers of the meeting.
pub struct Meeting {
    /// The lanes that have not exited.
    pub live: ir::Reg,
    /// The lanes that each waiting lane names; and its kind of wait ([`Who::kind`]).
    named: ir::Reg,
    kind: ir::Reg,
    /// All waiting lanes; the waiting lanes that may still be part of a group; and a group.
    all: ir::Reg,
    left: ir::Reg,
    group: ir::Reg,
    sites: Vec<Site>,
}

/// A node from which lanes come.
struct Site {
    node: usize,
    /// The node where the lanes go on.
    next: usize,
    came: ir::Reg,
    pc: u64,
    who: Who,
}

impl Meeting {
    pub fn declare(plan: &Plan, function: &mut FunctionBuilder) -> Meeting {
        let ends = plan.meets.iter().map(|&node| (node, &plan.graph.nodes[node].end));
        let meets: Vec<(usize, usize, u64, Who)> = ends
            .filter_map(|(node, end)| match *end {
                End::Meet { pc, next, who } => Some((node, next, pc, who)),
                _ => None,
            })
            .collect();
        let lanes = function.bank("named", CellKind::Lane(Type::I32), 2);
        let masks = function.bank("meet", CellKind::Mask, 4 + meets.len() as u32);
        let site = |(number, (node, next, pc, who))| {
            let came = masks.reg(number);
            Site { node, next, came, pc, who }
        };
        Meeting {
            live: masks.reg(0),
            named: lanes.reg(0),
            kind: lanes.reg(1),
            all: masks.reg(1),
            left: masks.reg(2),
            group: masks.reg(3),
            sites: (4..).zip(meets).map(site).collect(),
        }
    }
}

impl Meeting {
    /// Lets the lanes of a BREAK leave the register of convergence also where lanes wait that the
    /// register names.
    pub fn leave(&self, cx: &mut Cx<'_>, i: &Instruction) {
        // An instruction that is not lifted is a trap.
        let Ok(Some(leaving)) = Leaving::at(cx, i) else { return };
        let who = Who::Register(leaving.register);
        if self.sites.iter().any(|site| site.who == who) {
            let kinds = cx.b.rf_read(self.kind);
            let kind = cx.int(who.kind());
            let waiting = cx.b.icmp(IntCc::Eq, kinds, kind);
            leaving.remove(cx, self.named, Some(waiting));
        }
    }

    /// Makes a group of the waiting lanes that name the lanes, and wait in the way, of the first
    /// remaining lane. Returns the named lanes and the group.
    fn group_of_first(&self, cx: &mut Cx<'_>) -> (Value, Value) {
        let (names, kinds) = (cx.b.rf_read(self.named), cx.b.rf_read(self.kind));
        let left = cx.b.rf_read(self.left);
        let first = first_lane(&mut cx.b, left);
        let (named, kind) = (cx.b.lane_read(names, first), cx.b.lane_read(kinds, first));
        let alike = cx.b.icmp(IntCc::Eq, names, named);
        let same_kind = cx.b.icmp(IntCc::Eq, kinds, kind);
        let alike = cx.b.and(alike, same_kind);
        let all = cx.b.rf_read(self.all);
        let group = cx.b.and(all, alike);
        cx.b.rf_write(self.group, group);
        (named, group)
    }
}

impl Emitter<'_> {
    /// Ends a node whose lanes wait for the lanes that they name; `None` names all lanes.
    pub fn meet(
        &self,
        mut cx: Cx<'_>,
        number: usize,
        named: Option<Value>,
        who: Who,
        next: usize,
        here: Here<'_>,
    ) {
        self.tell(&mut cx, named, who);
        let Some(meeting) = self.meeting.as_ref().filter(|_| !here.is_alone(&self.plan.schedule))
        else {
            return self.places.go(&mut cx.b, next, here);
        };
        let live = cx.b.rf_read(meeting.live);
        let active = cx.active();
        let others = cx.b.not(active);
        let absent = cx.b.and(live, others);
        let missing = match named {
            None => absent,
            Some(named) if cx.b.ty(named).is_uniform() => {
                let named = cx.b.zero_extend(Type::I64, named);
                let named = cx.b.to_mask(named);
                cx.b.and(named, absent)
            }
            Some(named) => {
                // Lanes that name other lanes than the first are a group of their own.
                let lane = first_lane(&mut cx.b, active);
                let first = cx.b.lane_read(named, lane);
                let differs = cx.b.icmp(IntCc::Ne, named, first);
                let differs = cx.b.and(differs, active);
                let first = cx.b.zero_extend(Type::I64, first);
                let first = cx.b.to_mask(first);
                let missing = cx.b.and(first, absent);
                cx.b.or(missing, differs)
            }
        };
        let nobody = Waiting::default();
        let waiting = if who.is_everybody() { &nobody } else { here.waiting };
        let on = self.places.resume(&mut cx.b, next, Here { waiting, ..here });
        let pc = cx.b.pc();
        let apart = cx.b.function().new_block(pc);
        // The values of this block are of no use in the other.
        let kind = cx.int(who.kind());
        let named = named.unwrap_or_else(|| cx.int(u32::MAX));
        let (kind, named) = (cx.b.splat(kind), cx.b.splat(named));
        cx.b.rf_write(meeting.kind, kind);
        cx.b.rf_write(meeting.named, named);
        cx.b.branch(missing, apart, on);

        let mut b = cx.b.function().at(apart);
        let active = b.read_active();
        if let Some(site) = meeting.sites.iter().find(|site| site.node == number) {
            let came = b.rf_read(site.came);
            let came = b.or(came, active);
            b.rf_write(site.came, came);
        }
        let position = self.plan.meeting();
        self.places.park(&mut b, active, position, here.waiting);
        let mut parked = here.waiting.clone();
        parked.insert(position);
        self.places.choose(&mut b, &parked);
    }

    /// Tells an observer of a WARPSYNC.
    fn tell(&self, cx: &mut Cx<'_>, named: Option<Value>, who: Who) {
        let Some(named) = named.filter(|_| self.kernel.observed && who == Who::Named) else {
            return;
        };
        let active = cx.active();
        let live = match &self.meeting {
            Some(meeting) => cx.b.rf_read(meeting.live),
            None => active,
        };
        cx.b.observe(observe::MEET, &[named, live, active]);
    }

    /// Builds the blocks of the meeting. All its lanes are active in the first.
    pub fn meeting(&self, function: &mut FunctionBuilder, here: Here<'_>) {
        let Some(meeting) = &self.meeting else { return };
        let pc = meeting.sites.first().map_or(self.kernel.entry, |site| site.pc);
        let [search, next, fire, not_yet] = [(); 4].map(|()| function.new_block(pc));
        let mut b = function.at(self.places.blocks[here.position as usize]);
        let all = b.read_active();
        b.rf_write(meeting.all, all);
        b.rf_write(meeting.left, all);
        b.jump(search);
        self.search(self.context(function, search, Flags::NONE), meeting, [fire, next]);
        let mut b = function.at(next);
        let (left, group) = (b.rf_read(meeting.left), b.rf_read(meeting.group));
        let others = b.not(group);
        let left = b.and(left, others);
        b.rf_write(meeting.left, left);
        b.branch(left, search, not_yet);
        self.fire(function, fire, meeting, here);
        self.not_yet(function, [not_yet, fire], meeting, here, pc);
    }

    /// Tests whether all lanes are there that the first remaining lane waits for.
    fn search(&self, mut cx: Cx<'_>, meeting: &Meeting, [fire, next]: [BlockId; 2]) {
        let (named, group) = meeting.group_of_first(&mut cx);
        let live = cx.b.rf_read(meeting.live);
        let others = cx.b.not(group);
        let missing = cx.b.and(live, others);
        let named = cx.b.zero_extend(Type::I64, named);
        let named = cx.b.to_mask(named);
        let missing = cx.b.and(missing, named);
        cx.b.branch(missing, next, fire);
    }

    /// Sends a group on, each lane from its own site.
    fn fire(
        &self,
        function: &mut FunctionBuilder,
        block: BlockId,
        meeting: &Meeting,
        here: Here<'_>,
    ) {
        let mut b = function.at(block);
        let (all, group) = (b.rf_read(meeting.all), b.rf_read(meeting.group));
        let others = b.not(group);
        let rest = b.and(all, others);
        self.places.park(&mut b, rest, here.position, here.waiting);
        let mut parked = here.waiting.clone();
        parked.insert(here.position);
        parked.extend(meeting.sites.iter().map(|site| self.places.position(site.next)));
        for site in &meeting.sites {
            let came = b.rf_read(site.came);
            let left = b.and(came, others);
            b.rf_write(site.came, left);
            let lanes = b.and(came, group);
            if site.who == Who::Barrier {
                b.set_pc(site.pc);
                b.observe(observe::APART, &[group, lanes]);
            }
            self.places.park(&mut b, lanes, self.places.position(site.next), &parked);
        }
        self.places.choose(&mut b, &parked);
    }

    /// Gives other places their turn, as no group is complete. If there are none, nothing can go
    /// on.
    fn not_yet(
        &self,
        function: &mut FunctionBuilder,
        [block, fire]: [BlockId; 2],
        meeting: &Meeting,
        here: Here<'_>,
        pc: u64,
    ) {
        let [stuck, release, deadlock] = [(); 3].map(|()| function.new_block(pc));
        let waiting = meeting.sites.iter().map(|site| (site.came, site.pc)).collect();
        function.at(deadlock).deadlock(waiting);
        self.release(function, [stuck, release, fire, deadlock], meeting);
        let mut b = function.at(block);
        let all = b.rf_read(meeting.all);
        self.places.park(&mut b, all, here.position, here.waiting);
        if let Some(dispatcher) = &self.places.dispatcher {
            return dispatcher.choose_another(&mut b, all, stuck);
        }
        let others = here.waiting.iter().filter(|&place| place != here.position).collect();
        let places = self.places.list(&others);
        if places.is_empty() {
            return b.jump(stuck);
        }
        b.dispatch(places, None, stuck);
    }

    /// Lets lanes go on that wait for a register of convergence, when nothing else can go on: code
    /// may leave the region of a BSSY without a BREAK. Otherwise there is a deadlock.
    fn release(
        &self,
        function: &mut FunctionBuilder,
        [stuck, release, fire, deadlock]: [BlockId; 4],
        meeting: &Meeting,
    ) {
        let mut cx = self.context(function, stuck, Flags::NONE);
        let kinds = cx.b.rf_read(meeting.kind);
        let least = cx.int(Who::Register(0).kind());
        let converges = cx.b.icmp(IntCc::GeU, kinds, least);
        let all = cx.b.rf_read(meeting.all);
        let waiting = cx.b.and(all, converges);
        cx.b.rf_write(meeting.left, waiting);
        cx.b.branch(waiting, release, deadlock);

        let mut cx = self.context(function, release, Flags::NONE);
        meeting.group_of_first(&mut cx);
        cx.b.jump(fire);
    }
}
