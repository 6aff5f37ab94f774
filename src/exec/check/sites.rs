//! The places of a kernel that tell of what a warp does, and the operations that tell it.

use warploom_ir::{
    Access, AtomicOp, BarrierCounts, BarrierKind, BinaryOp, Block, BlockId, Function, Inst, Op,
    Part, Reg, Service, Space, Special, Terminator, Type, Value, ValueType, Values, WideOp, Window,
    observe,
};

use rustc_hash::FxHashMap;

use super::finding::Action;
use super::order::{Order, Scope};

/// A place in the code.
#[derive(Clone, Debug)]
pub struct Site {
    pub pc: u64,
    pub action: Action,
    /// The bytes of an access, 0 if an operand has them.
    pub bytes: u32,
    pub event: SiteEvent,
}

/// What a warp does at a site, and the operands of the operation that tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteEvent {
    /// Active lanes, address; bytes, if the site has none.
    Access {
        space: Space,
        order: Order,
        scalar: bool,
    },
    Fence(Scope),
    /// [`observe::ACQUIRE`]
    Acquire,
    /// Barrier, threads (0: all).
    Arrive {
        kind: BarrierKind,
    },
    /// The warp goes on after a barrier: the released lanes.
    Pass,
    /// The warp ends.
    Exit,
    /// The lanes ask the host to allocate or free memory.
    Heap,
    /// [`observe::MEET`]
    Meet,
    /// [`observe::APART`]
    Apart,
}

/// The memories whose accesses are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    pub global: bool,
    pub shared: bool,
    pub local: bool,
    /// Whether barriers, fences and ends of warps are told of.
    pub order: bool,
}

/// The orders of the accesses of instructions, by the addresses of these.
pub type Orders<'a> = dyn Fn(u64) -> Order + 'a;

/// Lets a function tell of what its warps do. Returns the sites in it.
pub fn instrument(function: &mut Function, told: Told, orders: &Orders<'_>) -> Vec<Site> {
    let mut sites = vec![];
    let resumes: FxHashMap<BlockId, bool> = function.blocks.iter().filter_map(resume).collect();
    let (lanes, active) = (function.lanes, function.active);
    for (number, block) in (0..).zip(&mut function.blocks) {
        let empty = Block { insts: vec![], values: vec![], cost: 0, ..block.clone() };
        let original = std::mem::replace(block, empty);
        let whole = Window::all(lanes);
        let at = |pc, window| Place { told, lanes, active, pc, window };
        if let Some(&by_lanes) = resumes.get(&BlockId(number)).filter(|_| told.order) {
            Writer { block, sites: &mut sites, at: at(original.pc, whole) }.pass(by_lanes);
        }
        let mut insts = original.insts.iter();
        block.append(&original, |block, op| {
            let Some(inst) = insts.next() else { return };
            let at = at(inst.pc, inst.window);
            Writer { block, sites: &mut sites, at }.operation(op, orders);
        });
        let last = original.insts.last().map_or(original.pc, |inst| inst.pc);
        Writer { block, sites: &mut sites, at: at(last, whole) }.end();
    }
    sites
}

/// Returns the block in which a warp goes on after a barrier, and whether lanes are released one by
/// one.
fn resume(block: &Block) -> Option<(BlockId, bool)> {
    match block.term {
        Terminator::Barrier { barrier, resume } => {
            Some((resume, barrier.counts == BarrierCounts::Lanes))
        }
        Terminator::Lanes { resume, .. } => Some((resume, true)),
        _ => None,
    }
}

/// Writes operations that tell of sites.
struct Writer<'a> {
    block: &'a mut Block,
    sites: &'a mut Vec<Site>,
    at: Place,
}

/// Where a writer is, in which function.
#[derive(Clone, Copy)]
struct Place {
    told: Told,
    lanes: u8,
    active: Reg,
    pc: u64,
    window: Window,
}

impl Writer<'_> {
    /// Writes what an operation of the guest does, in front of it.
    fn operation(&mut self, op: &mut Op, orders: &Orders<'_>) {
        match op {
            Op::Load { access, .. } => self.access(access, Action::Load, orders),
            Op::Store { access, .. } => self.access(access, Action::Store, orders),
            Op::Atomic { access, op, .. } => {
                self.access(access, Action::Atomic, &|pc| match op {
                    // Arrivals at barriers in memory.
                    AtomicOp::Arrive { .. } | AtomicOp::ArriveCounting => {
                        Order { arrives: true, scope: Scope::Block, ..Order::BOTH }
                    }
                    _ => Order { strong: true, ..orders(pc) },
                });
            }
            Op::Wide { op, args, guard, nomask } => {
                self.wide(*op, args, (*guard, *nomask), orders);
            }
            Op::Fence if self.at.told.order => {
                let event = SiteEvent::Fence(Scope::Device);
                let site = Site { pc: self.at.pc, action: Action::Sync, bytes: 0, event };
                let active = self.active();
                self.observe(site, vec![active]);
            }
            Op::Observe { site, .. } => {
                let (event, action) = match *site {
                    observe::MEET => (SiteEvent::Meet, Action::Sync),
                    observe::APART => (SiteEvent::Apart, Action::Barrier),
                    observe::ACQUIRE => (SiteEvent::Acquire, Action::Sync),
                    _ => (SiteEvent::Fence(Scope::Block), Action::Sync),
                };
                *site = self.sites.len() as u32;
                self.sites.push(Site { pc: self.at.pc, action, bytes: 0, event });
            }
            _ => {}
        }
    }

    fn access(&mut self, access: &Access, action: Action, orders: &Orders<'_>) {
        let Told { global, shared, local, .. } = self.at.told;
        let is_told = match access.space {
            Space::Global => global,
            Space::Shared => shared,
            Space::Local => local,
            Space::Generic => global || shared || local,
            Space::Const(_) => false,
        };
        if !is_told {
            return;
        }
        let order = orders(self.at.pc);
        let scalar = self.block.ty(access.address).is_uniform();
        let wide = self.block.ty(access.address).ty == Type::I64;
        let mut address = access.address;
        if access.offset != 0 {
            let ty = if wide { Type::I64 } else { Type::I32 };
            let bits =
                i64::from(access.offset) as u64 & if wide { u64::MAX } else { u32::MAX.into() };
            let offset = self.push(Op::Const { ty, bits }, ValueType::uniform(ty));
            let shape = self.block.ty(address);
            let add = Op::Binary { op: BinaryOp::Add, a: address, b: offset };
            address = self.push(add, shape);
        }
        let event = SiteEvent::Access { space: access.space, order, scalar };
        let site = Site { pc: self.at.pc, action, bytes: access.bytes(), event };
        let active = self.active();
        self.tell(site, vec![active, address], (access.guard, access.nomask));
    }

    fn wide(
        &mut self,
        op: WideOp,
        args: &[Value],
        masking: (Option<Value>, bool),
        orders: &Orders<'_>,
    ) {
        let Told { global, shared, local, .. } = self.at.told;
        if !global && !shared && !local {
            return;
        }
        let pc = self.at.pc;
        let mut range = |address: Value, bytes: Option<Value>, action: Action, order: Order| {
            let event = SiteEvent::Access { space: Space::Generic, order, scalar: false };
            let active = self.active();
            let mut operands = vec![active, address];
            operands.extend(bytes);
            let size = if bytes.is_some() { 0 } else { 16 };
            self.tell(Site { pc: self.at.pc, action, bytes: size, event }, operands, masking);
        };
        let strong = Order { strong: true, ..orders(pc) };
        match (op, args) {
            (WideOp::Copy, &[to, from, bytes]) => {
                range(from, Some(bytes), Action::Load, Order::PLAIN);
                range(to, Some(bytes), Action::Store, Order::PLAIN);
            }
            (WideOp::Reduce { .. }, &[to, from, bytes]) => {
                range(from, Some(bytes), Action::Load, Order::PLAIN);
                range(to, Some(bytes), Action::Atomic, strong);
            }
            (WideOp::Zero, &[to, bytes]) => range(to, Some(bytes), Action::Store, Order::PLAIN),
            (WideOp::Exchange | WideOp::CompareExchange, &[address, ..]) => {
                range(address, None, Action::Atomic, strong);
            }
            _ => {}
        }
    }

    /// Writes that the warp goes on after a barrier.
    fn pass(&mut self, by_lanes: bool) {
        let released = if by_lanes { Special::BarrierReleased } else { Special::LaunchMask };
        let lanes = self.push(Op::Special(released), ValueType::MASK);
        let site =
            Site { pc: self.at.pc, action: Action::Barrier, bytes: 0, event: SiteEvent::Pass };
        self.observe(site, vec![lanes]);
    }

    /// Writes what the end of the block does.
    fn end(&mut self) {
        let site = |pc, action, event| Site { pc, action, bytes: 0, event };
        match self.block.term {
            Terminator::Barrier { barrier, .. } if self.at.told.order => {
                let none = ValueType::uniform(Type::I32);
                let threads = barrier
                    .threads
                    .unwrap_or_else(|| self.push(Op::Const { ty: Type::I32, bits: 0 }, none));
                let event = SiteEvent::Arrive { kind: barrier.kind };
                let arrive = site(self.at.pc, Action::Barrier, event);
                self.observe(arrive, vec![barrier.id, threads]);
            }
            Terminator::Service { service, lanes, .. } if self.at.told.global => {
                let action = match service {
                    Service::Allocate => Action::Allocate,
                    Service::Free => Action::Free,
                    _ => return,
                };
                self.observe(site(self.at.pc, action, SiteEvent::Heap), vec![lanes]);
            }
            Terminator::Exit if self.at.told.order => {
                let active = self.active();
                self.observe(site(self.at.pc, Action::Sync, SiteEvent::Exit), vec![active]);
            }
            _ => {}
        }
    }

    /// Writes that the warp is at a site, whatever lanes are active.
    fn observe(&mut self, site: Site, args: Vec<Value>) {
        self.at.window = Window::all(self.at.lanes);
        self.tell(site, args, (None, true));
    }

    fn tell(&mut self, site: Site, args: Vec<Value>, (guard, nomask): (Option<Value>, bool)) {
        let number = self.sites.len() as u32;
        self.sites.push(site);
        let op = Op::Observe { site: number, args, guard, nomask };
        self.block.insts.push(Inst {
            op,
            results: Values::new(),
            window: self.at.window,
            pc: self.at.pc,
        });
    }

    fn active(&mut self) -> Value {
        self.push(Op::RfRead { reg: self.at.active, part: Part::Whole }, ValueType::MASK)
    }

    fn push(&mut self, op: Op, ty: ValueType) -> Value {
        let value = Value(self.block.values.len() as u32);
        self.block.values.push(ty);
        let results = [value].into_iter().collect();
        self.block.insts.push(Inst { op, results, window: self.at.window, pc: self.at.pc });
        value
    }
}
