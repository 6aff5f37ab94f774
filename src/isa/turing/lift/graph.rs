//! Discovery of code, and its graph: nodes of instructions that run one after the other.
//!
//! A function that calls no other, as a division's slow path, is part of the graph once for each
//! call, so that its return has one target. Other functions, functions that are called through a
//! pointer, and functions of a kernel with very many calls are part of the graph once. Their
//! returns choose among the places behind all calls, by address: no two of these places have the
//! same address, as only functions without calls are copied.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use warploom_guest::discover::{Cut, Found, Ways};
use warploom_ir::{BlockId, FunctionBuilder, Service, TrapKind};
use warploom_sass::lift::{Banks, Cx, Flags, Touched, Usage, service};
use warploom_sass::{Pred, Role};

use super::flow::{Flow, Lifted, Unsupported};
use super::{Kernel, NAN, REGISTERS, UNIFORM_REGISTERS, WARP_LANES, control, declare, next_pc};
use crate::driver::RETURN_ADDRESS;
use crate::{Instruction, Opcode};

/// The most copies of functions that a graph has for calls of their own, and the most instructions
/// of these copies.
const MAX_COPIES: usize = 512;
const MAX_COPIED: usize = 1 << 14;

/// A place in the graph: an address in one copy of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Place {
    copy: u32,
    pc: u64,
    stage: Stage,
}

/// How far the lanes have come in the instruction at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Stage {
    Start,
    /// Its guard holds for all of them.
    Holds,
    /// The lanes that it waits for are there.
    Met,
}

/// The lanes of an instruction, as far as its word determines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    Never,
    Lanes,
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug)]
struct Decoded {
    insn: Option<Instruction>,
    when: When,
    /// The flow of control. Values in it are meaningless.
    flow: Flow,
    usage: Usage,
}

/// An instruction at its place.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub pc: u64,
    /// None: the word is illegal, or there is no word, as in a stand-in.
    pub insn: Option<Instruction>,
    pub usage: Usage,
}

/// The end of a node. `pc` is the instruction that ends it.
#[derive(Clone, Debug)]
pub enum End {
    Jump(usize),
    /// The lanes of the condition go to `taken`, the remaining lanes to `next`.
    Split {
        pc: u64,
        taken: usize,
        next: usize,
    },
    /// The lanes of the condition exit, the remaining lanes go on.
    Exit {
        pc: u64,
        next: Option<usize>,
    },
    /// Lanes go to the case that equals their address.
    Table {
        pc: u64,
        cases: Vec<(u64, usize)>,
    },
    Barrier {
        pc: u64,
        next: usize,
    },
    /// The named lanes meet, then go on.
    Meet {
        pc: u64,
        who: Who,
        next: usize,
    },
    Service {
        pc: u64,
        service: Service,
        next: usize,
    },
    Trap {
        pc: u64,
        kind: TrapKind,
    },
}

/// The lanes that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// All lanes that have not exited, before a barrier of the block.
    Barrier,
    /// All lanes that have not exited.
    All,
    /// Lanes that WARPSYNC names.
    Named,
    /// Lanes that a register of convergence names. They do not meet lanes of another register, even
    /// if it names the same lanes.
    Register(u8),
}

#[derive(Clone, Debug)]
pub struct Node {
    pub pc: u64,
    /// The copy of a function that it is in.
    pub copy: u32,
    pub steps: Vec<Step>,
    pub end: End,
    /// The flags that the instruction of the end reads.
    pub reads: Flags,
    /// The number of guest instructions.
    pub cost: u32,
    /// A loop with the node may wait for other lanes.
    pub spins: bool,
}

pub struct Graph {
    pub nodes: Vec<Node>,
    /// Registers 0 to this, exclusive, are named; and uniform registers.
    pub registers: u32,
    pub uniform: u32,
    /// Code reads registers of convergence.
    pub converges: bool,
}

/// The search for code.
struct Search<'k, 'a> {
    kernel: &'k Kernel<'a>,
    converging: &'k FxHashSet<u64>,
    decoded: FxHashMap<u64, Decoded>,
    /// By copy of a function: the places behind its calls.
    sites: Vec<Vec<Place>>,
    /// The copy of each function that serves several calls.
    shared: FxHashMap<u64, u32>,
    functions: FxHashMap<u64, Callee>,
    /// All immediates of the code, once they were asked for.
    immediates: Option<FxHashSet<u64>>,
    /// The number of instructions of copies for calls of their own.
    copied: usize,
    /// The copy that a call leads to.
    of_call: FxHashMap<(u32, u64), u32>,
    trial: Trial,
}

/// The code at the target of a call.
#[derive(Clone, Copy)]
struct Callee {
    /// Whether it is a function: a return can be reached. Compilers also use calls for jumps.
    returns: bool,
    is_leaf: bool,
    /// The number of instructions, without those of other functions.
    size: usize,
}

/// The effect of a step on the flow of control, with places.
#[derive(Clone, Debug)]
enum Way {
    Plain,
    Jump(Place),
    Split {
        taken: Place,
        next: Place,
    },
    Exit {
        next: Option<Place>,
    },
    Table(Vec<(u64, Place)>),
    /// A return: cases are known when all calls are.
    Return,
    Barrier {
        next: Place,
    },
    Meet {
        who: Who,
        next: Place,
    },
    Service {
        service: Service,
        next: Place,
    },
    Trap(TrapKind),
}

/// The function in which lift functions run to find the effects of instructions.
pub struct Trial {
    function: FunctionBuilder,
    banks: Banks,
    block: BlockId,
}

impl Trial {
    pub fn new() -> Trial {
        let mut function = FunctionBuilder::new("trial", WARP_LANES, NAN);
        let active = function.bank("active", warploom_ir::CellKind::Mask, 1).reg(0);
        function.set_active(active);
        let banks = declare(&mut function, REGISTERS, UNIFORM_REGISTERS, true);
        let block = function.new_block(0);
        Trial { function, banks, block }
    }

    /// Runs the lift function, and returns the context after it.
    fn lift(
        &mut self,
        insn: &Instruction,
        pc: u64,
        touched: Option<Box<Touched>>,
    ) -> (Lifted, Cx<'_>) {
        self.function.clear(self.block);
        let mut cx = Cx::new(self.function.at(self.block), self.banks, Flags::NONE);
        cx.touched = touched;
        cx.start(insn, pc, Flags::ALL);
        control::followers(&mut cx, insn);
        let lifted = insn.row.lift.ok_or(Unsupported).and_then(|lift| lift(&mut cx, insn));
        (lifted, cx)
    }

    /// Returns the flow of control. None: the instruction is not implemented.
    fn run(&mut self, insn: &Instruction, pc: u64) -> (Option<Flow>, Usage) {
        let (lifted, cx) = self.lift(insn, pc, None);
        (lifted.ok().filter(|_| cx.has_operands()), cx.usage)
    }

    /// Returns the registers that an instruction reads and writes.
    pub fn touched(&mut self, insn: &Instruction, pc: u64) -> Touched {
        let (_, cx) = self.lift(insn, pc, Some(Box::default()));
        cx.touched.map(|touched| *touched).unwrap_or_default()
    }

    /// Whether an instruction is executed, with its modifiers and operands.
    pub fn executes(&mut self, insn: &Instruction, pc: u64) -> bool {
        self.run(insn, pc).0.is_some()
    }
}

impl Graph {
    /// Makes the graph of a kernel. At the BSYNC of `converging` lanes wait for lanes that may come
    /// later.
    pub fn new(kernel: &Kernel<'_>, converging: &FxHashSet<u64>) -> Graph {
        let mut search = Search {
            kernel,
            decoded: FxHashMap::default(),
            // The kernel itself is copy 0.
            sites: vec![vec![]],
            shared: FxHashMap::default(),
            functions: FxHashMap::default(),
            immediates: None,
            copied: 0,
            of_call: FxHashMap::default(),
            converging,
            trial: Trial::new(),
        };
        let mut found = Found::default();
        let entry = Place { copy: 0, pc: kernel.entry, stage: Stage::Start };
        found.explore(entry, |place, ()| {
            let way = search.visit(place);
            let ways = search.ways(place, &way);
            (way, ways)
        });
        search.graph(&found, entry)
    }

    pub fn successors(&self, node: usize) -> Vec<usize> {
        self.nodes[node].end.successors()
    }
}

impl End {
    pub fn successors(&self) -> Vec<usize> {
        match self {
            &End::Jump(next)
            | &End::Service { next, .. }
            | &End::Meet { next, .. }
            | &End::Barrier { next, .. } => vec![next],
            &End::Split { taken, next, .. } => vec![taken, next],
            End::Exit { next, .. } => next.iter().copied().collect(),
            End::Table { cases, .. } => cases.iter().map(|&(_, node)| node).collect(),
            End::Trap { .. } => vec![],
        }
    }
}

impl Search<'_, '_> {
    fn decode(&mut self, pc: u64) -> Decoded {
        if let Some(&decoded) = self.decoded.get(&pc) {
            return decoded;
        }
        let trap = |insn, when, kind, usage| Decoded { insn, when, flow: Flow::Trap(kind), usage };
        let decoded = match self.kernel.instruction(pc) {
            None => trap(None, When::Always, TrapKind::IllegalInstruction, Usage::default()),
            Some(insn) => {
                let never = |pred: Pred| pred.is_false();
                let when = if never(insn.guard()) || control::conditions(&insn).any(never) {
                    When::Never
                } else if control::is_conditional(&insn) {
                    When::Lanes
                } else {
                    When::Always
                };
                match (when, self.trial.run(&insn, pc)) {
                    (When::Never, _) => {
                        let (flow, usage) = (Flow::Next, Usage::default());
                        Decoded { insn: None, when, flow, usage }
                    }
                    (_, (Some(flow), usage)) => Decoded { insn: Some(insn), when, flow, usage },
                    (_, (None, usage)) => trap(Some(insn), when, TrapKind::Unimplemented, usage),
                }
            }
        };
        self.decoded.insert(pc, decoded);
        decoded
    }

    fn service(&self, pc: u64) -> Option<Service> {
        self.kernel.services.iter().find(|&&(at, _)| at == pc).map(|&(_, service)| service)
    }

    fn visit(&mut self, place: Place) -> Way {
        let Place { copy, pc, stage } = place;
        let next = Place { copy, pc: next_pc(pc), stage: Stage::Start };
        if let Some(service) = self.service(pc) {
            return Way::Service { service, next };
        }
        if self.service(pc.wrapping_sub(crate::WORD_BYTES)).is_some() {
            return Way::Return;
        }
        let decoded = self.decode(pc);
        let conditional = decoded.when == When::Lanes && stage == Stage::Start;
        let at = |pc| Place { copy, pc, stage: Stage::Start };
        match decoded.flow {
            _ if decoded.when == When::Never => Way::Plain,
            Flow::Next => Way::Plain,
            Flow::Converge(..) if !self.converging.contains(&pc) => Way::Plain,
            Flow::Branch(target) if conditional => Way::Split { taken: at(target), next },
            Flow::Exit if conditional => Way::Exit { next: Some(next) },
            // Only lanes of the guard come to the instruction itself.
            _ if conditional => Way::Split { taken: Place { stage: Stage::Holds, ..place }, next },
            Flow::Branch(target) => Way::Jump(at(target)),
            Flow::Exit => Way::Exit { next: None },
            Flow::Call(target) if self.is_jump(pc, target) => Way::Jump(at(target)),
            Flow::Call(target) => {
                let copy = self.copy_for(copy, pc, target);
                Way::Jump(Place { copy, pc: target, stage: Stage::Start })
            }
            Flow::CallIndirect(_) => {
                let mut targets = self.kernel.targets.to_vec();
                targets.extend(self.kernel.services.iter().map(|&(at, _)| at));
                targets.sort_unstable();
                targets.dedup();
                let case = |target| {
                    let copy = self.shared_copy(copy, pc, target);
                    (target, Place { copy, pc: target, stage: Stage::Start })
                };
                Way::Table(targets.into_iter().map(case).collect())
            }
            Flow::Indirect(_) => {
                let targets = self.kernel.targets.iter().filter(|&&target| target != pc);
                Way::Table(targets.map(|&target| (target, at(target))).collect())
            }
            Flow::Return(_) => Way::Return,
            Flow::Barrier(_) if stage == Stage::Met => Way::Barrier { next },
            Flow::Barrier(_) => {
                Way::Meet { who: Who::Barrier, next: Place { stage: Stage::Met, ..place } }
            }
            Flow::Meet(_) if names_all(decoded.insn) => Way::Meet { who: Who::All, next },
            Flow::Meet(_) => Way::Meet { who: Who::Named, next },
            Flow::Converge(number, _) => Way::Meet { who: Who::Register(number), next },
            Flow::Trap(kind) => Way::Trap(kind),
        }
    }

    /// Whether a call is a jump: nothing returns from there, or the target is inside of a function
    /// and no code makes the address to return to.
    fn is_jump(&mut self, pc: u64, target: u64) -> bool {
        if !self.callee(target).returns {
            return true;
        }
        let is_function = self.kernel.targets.contains(&target) || self.service(target).is_some();
        !is_function && !self.immediates().contains(&next_pc(pc))
    }

    /// Returns all immediates of the code.
    fn immediates(&mut self) -> &FxHashSet<u64> {
        let kernel = self.kernel;
        self.immediates.get_or_insert_with(|| {
            let pcs = (0..kernel.code.len() as u64).step_by(crate::WORD_BYTES as usize);
            let sources = pcs
                .filter_map(|pc| kernel.instruction(pc))
                .flat_map(|insn| [Role::A, Role::B, Role::C].map(|role| insn.source(role)));
            sources.flatten().filter_map(|source| source.imm()).collect()
        })
    }

    fn callee(&mut self, entry: u64) -> Callee {
        if let Some(&known) = self.functions.get(&entry) {
            return known;
        }
        // A function that is being examined calls itself: it returns if it does so elsewhere.
        self.functions.insert(entry, Callee { returns: true, is_leaf: false, size: 0 });
        let (mut work, mut seen) = (vec![entry], FxHashSet::default());
        let (mut returns, mut is_leaf) = (false, true);
        while let Some(pc) = work.pop() {
            if !seen.insert(pc) {
                continue;
            }
            if self.service(pc).is_some() {
                returns = true;
                continue;
            }
            let decoded = self.decode(pc);
            let mut ends = match decoded.flow {
                _ if decoded.when == When::Never => false,
                Flow::Return(_) => {
                    returns = true;
                    true
                }
                Flow::Indirect(_) => {
                    (returns, is_leaf) = (true, false);
                    true
                }
                Flow::Branch(target) => {
                    work.push(target);
                    true
                }
                Flow::Call(target) if self.is_jump(pc, target) => {
                    work.push(target);
                    true
                }
                Flow::Exit | Flow::Trap(_) => true,
                Flow::Call(_) | Flow::CallIndirect(_) => {
                    is_leaf = false;
                    false
                }
                _ => false,
            };
            ends &= decoded.when == When::Always;
            if !ends {
                work.push(next_pc(pc));
            }
        }
        let callee = Callee { returns, is_leaf, size: seen.len() };
        self.functions.insert(entry, callee);
        callee
    }

    /// Returns the copy of a function for a call.
    fn copy_for(&mut self, caller: u32, pc: u64, target: u64) -> u32 {
        if let Some(&copy) = self.of_call.get(&(caller, pc)) {
            return copy;
        }
        let Callee { is_leaf, size, .. } = self.callee(target);
        if !is_leaf || self.sites.len() >= MAX_COPIES || self.copied + size > MAX_COPIED {
            return self.shared_copy(caller, pc, target);
        }
        self.copied += size;
        let copy = self.add_copy();
        self.call(copy, caller, pc);
        copy
    }

    /// Returns the copy of a function that all calls share.
    fn shared_copy(&mut self, caller: u32, pc: u64, target: u64) -> u32 {
        let copy = match self.shared.get(&target) {
            Some(&copy) => copy,
            None => {
                let copy = self.add_copy();
                self.shared.insert(target, copy);
                copy
            }
        };
        self.call(copy, caller, pc);
        copy
    }

    fn add_copy(&mut self) -> u32 {
        self.sites.push(vec![]);
        (self.sites.len() - 1) as u32
    }

    fn call(&mut self, copy: u32, caller: u32, pc: u64) {
        self.of_call.entry((caller, pc)).or_insert(copy);
        let site = Place { copy: caller, pc: next_pc(pc), stage: Stage::Start };
        let sites = &mut self.sites[copy as usize];
        if !sites.contains(&site) {
            sites.push(site);
        }
    }

    fn ways(&self, place: Place, way: &Way) -> Ways<Place, ()> {
        let next = Place { pc: next_pc(place.pc), stage: Stage::Start, ..place };
        let mut leaders = SmallVec::new();
        match way {
            Way::Plain => return Ways { next: Some((next, ())), leaders },
            Way::Jump(target) => {
                leaders.push(*target);
                // A function returns to the place behind its call.
                if self.of_call.contains_key(&(place.copy, place.pc)) {
                    leaders.push(next);
                }
            }
            Way::Split { taken, next } => leaders.extend([*taken, *next]),
            Way::Exit { next: Some(next) } => leaders.push(*next),
            Way::Table(cases) => {
                leaders.extend(cases.iter().map(|&(_, target)| target));
                if self.of_call.contains_key(&(place.copy, place.pc)) {
                    leaders.push(next);
                }
            }
            Way::Barrier { next } | Way::Meet { next, .. } => leaders.push(*next),
            Way::Service { next, .. } => leaders.push(*next),
            Way::Exit { next: None } | Way::Return | Way::Trap(_) => {}
        }
        Ways { next: None, leaders }
    }

    /// Makes the graph of the found code.
    fn graph(&self, found: &Found<Place, Way>, entry: Place) -> Graph {
        let mut blocks: BTreeMap<Place, (Vec<Place>, Option<Place>)> = BTreeMap::new();
        found.cut_blocks(&mut blocks, |start| {
            let mut places = Vec::new();
            let before = found.follow(start, |place, way| {
                places.push(place);
                match way {
                    Way::Plain => {
                        Cut::GoesOn(Place { pc: next_pc(place.pc), stage: Stage::Start, ..place })
                    }
                    _ => Cut::Ends,
                }
            });
            ((places, before), before)
        });
        // The entry is node 0; other nodes are in the order of addresses.
        let mut starts: Vec<Place> = blocks.keys().copied().filter(|&at| at != entry).collect();
        starts.sort_unstable_by_key(|place| (place.pc, place.copy, place.stage));
        starts.insert(0, entry);
        let number: FxHashMap<Place, usize> =
            starts.iter().enumerate().map(|(n, &place)| (place, n)).collect();
        let deciding = self.deciding();
        let nodes = starts
            .iter()
            .map(|&start| {
                let (places, before) = &blocks[&start];
                self.node(start, places, *before, found, &number, &deciding)
            })
            .collect();
        let used = |of: fn(&Usage) -> u32| {
            self.decoded.values().map(|decoded| of(&decoded.usage)).max().unwrap_or(0)
        };
        // Stand-ins also read where they return to, a pair.
        let returns = u32::from(RETURN_ADDRESS.0) + 2;
        let of_service = |&(_, service): &(u64, Service)| service::registers(service).max(returns);
        let services = self.kernel.services.iter().map(of_service).max().unwrap_or(0);
        Graph {
            nodes,
            registers: used(|usage| usage.registers).max(services),
            uniform: used(|usage| usage.uniform),
            converges: self
                .decoded
                .values()
                .any(|decoded| decoded.insn.is_some_and(|insn| insn.opcode() == Opcode::BmovFrom))
                || !self.converging.is_empty(),
        }
    }

    fn node(
        &self,
        start: Place,
        places: &[Place],
        before: Option<Place>,
        found: &Found<Place, Way>,
        number: &FxHashMap<Place, usize>,
        deciding: &FxHashSet<u64>,
    ) -> Node {
        let step = |place: &Place| {
            let decoded = self.decoded.get(&place.pc);
            Step {
                pc: place.pc,
                insn: decoded.and_then(|decoded| decoded.insn),
                usage: decoded.map_or_else(Usage::default, |decoded| decoded.usage),
            }
        };
        let last = places.last().copied().unwrap_or(start);
        let mut steps: Vec<Step> = places.iter().map(step).collect();
        let spins = places.iter().any(|place| deciding.contains(&place.pc));
        let pc = last.pc;
        let to = |place: Place| number[&place];
        let (end, plain) = match (before, found.step(last)) {
            (Some(next), _) => (End::Jump(to(next)), true),
            (None, Some(way)) => {
                let end = match way {
                    Way::Plain | Way::Trap(_) => {
                        let kind = match way {
                            Way::Trap(kind) => *kind,
                            _ => TrapKind::IllegalInstruction,
                        };
                        End::Trap { pc, kind }
                    }
                    Way::Jump(target) => End::Jump(to(*target)),
                    Way::Split { taken, next } => {
                        End::Split { pc, taken: to(*taken), next: to(*next) }
                    }
                    Way::Exit { next } => End::Exit { pc, next: next.map(to) },
                    Way::Table(cases) => {
                        let cases = cases.iter().map(|&(at, place)| (at, to(place))).collect();
                        End::Table { pc, cases }
                    }
                    Way::Return => {
                        let sites = &self.sites[start.copy as usize];
                        let cases = sites.iter().map(|&site| (site.pc, to(site))).collect();
                        End::Table { pc, cases }
                    }
                    Way::Barrier { next } => End::Barrier { pc, next: to(*next) },
                    Way::Meet { who, next } => End::Meet { pc, who: *who, next: to(*next) },
                    Way::Service { service, next } => {
                        End::Service { pc, service: *service, next: to(*next) }
                    }
                };
                (end, false)
            }
            (None, None) => (End::Trap { pc, kind: TrapKind::IllegalInstruction }, true),
        };
        let cost = steps.len() as u32;
        let mut reads = Flags::NONE;
        if !plain && let Some(step) = steps.pop() {
            reads = step.usage.reads;
        }
        Node { pc: start.pc, copy: start.copy, steps, end, reads, cost, spins }
    }

    /// Returns the addresses of instructions whose results may decide whether a loop that waits for
    /// other lanes goes on.
    fn deciding(&self) -> FxHashSet<u64> {
        let insns = || self.decoded.iter().filter_map(|(&pc, one)| Some((pc, one.insn?)));
        // Lanes that wait for a barrier in shared memory read it again and again.
        let has_barriers = insns().any(|(_, insn)| super::memory::arrives(&insn));
        let waits = |insn: &Instruction| {
            super::memory::may_wait(insn) || has_barriers && insn.opcode() == Opcode::Lds
        };
        insns().filter(|(_, insn)| waits(insn)).map(|(pc, _)| pc).collect()
    }
}

/// Whether a WARPSYNC names all lanes.
fn names_all(insn: Option<Instruction>) -> bool {
    insn.and_then(|insn| insn.b().imm()).is_some_and(|mask| mask as u32 == u32::MAX)
}

impl Who {
    /// Whether no lane waits elsewhere when the lanes have met.
    pub fn is_everybody(self) -> bool {
        matches!(self, Who::Barrier | Who::All)
    }

    /// Returns the number of this kind of wait: only lanes of one kind meet.
    pub fn kind(self) -> u32 {
        match self {
            Who::Barrier => 0,
            Who::All | Who::Named => 1,
            Who::Register(number) => 2 + u32::from(number),
        }
    }
}
