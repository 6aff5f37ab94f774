//! Emits the IR of a kernel: a block for each node of the plan.

use std::cell::RefCell;
use std::collections::BTreeSet;

use warploom_guest::LiftError;
use warploom_ir::{BankId, BlockId, CellKind, Function, FunctionBuilder, Reg, TrapKind, Type};

use super::chain::{Chains, Step};
use super::graph::Graph;
use super::mode::Mode;
use super::pieces::pieces;
use super::pointees::Pointees;
use super::storage::{Accessed, Storage};
use super::survey::Survey;
use super::variables::{Kernel, RootId, Roots};
use super::waiting::{Plan, Waiting};
use super::{Cx, NAN, control, entry, halves};
use crate::instruction::{Instruction, State};
use crate::module::{Module, PredicateId, Routine};
use crate::predefined::{BINDLESS_SAMPLER, FIRST_PREDICATE, FIRST_SURFACE};

/// The most lanes that a warp may have.
const MAX_LANES: u32 = 32;

/// Lifts a kernel with all routines that it calls.
///
/// # Errors Returns an error if the kernel's width is invalid, or if a lift function built an
/// ill-typed operation, which is a defect.
pub fn lift_kernel(kernel: &Kernel<'_>) -> Result<Function, LiftError> {
    let routine = &kernel.module.routines[kernel.routine];
    let lanes = routine.simd_size();
    if !lanes.is_power_of_two() || lanes > MAX_LANES {
        return Err(LiftError::Width { kernel: routine.name.clone(), lanes });
    }
    let module = halves::joined(kernel.module);
    let kernel = &Kernel { module: &module, ..*kernel };
    let graph = Graph::new(kernel.module, kernel.routine);
    let Some(plan) = Plan::new(kernel, &graph) else {
        return Err(LiftError::Places { kernel: routine.name.clone() });
    };
    let chains = Chains::new(kernel, &graph);
    let roots = Roots::new(kernel.module, &graph.routines);
    let pointees = Pointees::new(kernel.module, &graph.routines, &roots);
    let inputs = entry::inputs(kernel, &roots);
    let survey = RefCell::new(Survey::default());
    let failed = |error| LiftError::Build { kernel: routine.name.clone(), error };
    let start = || FunctionBuilder::new(&routine.name, lanes as u8, NAN);
    let mut first = start();
    let storage = Storage::general(&mut first);
    let (graph, plan, chains, roots, pointees) = (&graph, &plan, &chains, &roots, &pointees);
    let parts = Parts { kernel, graph, plan, chains, roots, pointees, lanes: lanes as u8 };
    let shape = Shape::new(parts, storage, &mut first);
    shape.emit(&mut first, Some(&survey));
    let addressed = shape.addressed.into_inner();
    first.finish().map_err(failed)?;
    let mut function = start();
    let of = Accessed { roots, survey: &survey.into_inner(), addressed: &addressed, lanes };
    let storage = Storage::new(&of, (kernel.payload, &inputs), &mut function);
    let shape = Shape::new(parts, storage, &mut function);
    shape.emit(&mut function, None);
    function.finish().map_err(failed)
}

/// Returns whether units of a kernel may call themselves, and so have frames in local memory.
pub fn has_frames(module: &Module, routine: usize) -> bool {
    module.routines.iter().any(|one| !one.kernel) && Graph::new(module, routine).is_recursive()
}

/// The parts of a kernel that are known before IR is made.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    kernel: &'a Kernel<'a>,
    graph: &'a Graph,
    plan: &'a Plan,
    chains: &'a Chains,
    roots: &'a Roots,
    pointees: &'a Pointees,
    lanes: u8,
}

/// The places of a kernel's parts in the function that is being built.
pub struct Shape<'a> {
    pub kernel: &'a Kernel<'a>,
    pub graph: &'a Graph,
    pub plan: &'a Plan,
    chains: &'a Chains,
    pub roots: &'a Roots,
    pub pointees: &'a Pointees,
    pub storage: Storage,
    pub lanes: u8,
    /// Roots whose addresses are taken.
    addressed: RefCell<BTreeSet<RootId>>,
    predicates: BankId,
    /// The predicates that have more elements than the warp has lanes, as numbers. Their indices
    /// are common to both banks.
    long_predicates: Option<BankId>,
    /// For each routine, the index of its first predicate.
    pub first_predicate: Vec<u32>,
    states: BankId,
    /// For each routine, the indices of its surfaces and samplers.
    first_state: Vec<States>,
    /// The lanes that wait for each block.
    pub waits: BankId,
    /// For each unit, the lanes that were active at its call, and (`sites`) the number of the call.
    pub callers: BankId,
    pub sites: BankId,
    /// The lanes that are active at a call, until the unit takes them.
    pub calling: Reg,
    /// The number of threads of each named barrier that this warp has signalled.
    pub named: BankId,
    /// Bytes of local memory that frames take.
    pub stack: Reg,
    /// The IR's blocks by node.
    pub blocks: Vec<BlockId>,
    /// The block where the warp ends.
    pub done: BlockId,
}

/// The indices of a routine's state variables.
struct States {
    surfaces: Vec<u32>,
    samplers: Vec<u32>,
}

impl States {
    fn new(routine: &Routine, count: &mut u32) -> States {
        let mut place = |elements: u32| {
            *count += elements.clamp(1, 256);
            *count - elements.clamp(1, 256)
        };
        let surfaces = routine.surfaces.iter().map(|one| place(one.elements)).collect();
        let samplers = routine.samplers.iter().map(|one| place(one.elements)).collect();
        States { surfaces, samplers }
    }
}

impl<'a> Shape<'a> {
    fn new(parts: Parts<'a>, storage: Storage, function: &mut FunctionBuilder) -> Shape<'a> {
        let Parts { kernel, graph, plan, chains, roots, pointees, lanes } = parts;
        let active = function.bank("active", CellKind::Mask, 1).reg(0);
        function.set_active(active);
        let routines = || graph.routines.iter().map(|&index| &kernel.module.routines[index]);
        let mut count = 0;
        let mut first_predicate = vec![];
        for routine in routines() {
            first_predicate.push(count);
            count += routine.predicates.len() as u32;
        }
        let predicates = function.bank("p", CellKind::Mask, count.max(1));
        let is_long = routines()
            .flat_map(|routine| &routine.predicates)
            .any(|one| one.elements > lanes.into());
        let long_predicates =
            is_long.then(|| function.bank("long_p", CellKind::Uniform(Type::I64), count));
        // Predefined surfaces and the bindless sampler come first.
        let mut count = u32::from(FIRST_SURFACE) + 1;
        let first_state = routines().map(|routine| States::new(routine, &mut count)).collect();
        let states = function.bank("state", CellKind::Uniform(Type::I32), count);
        let waits = function.bank("wait", CellKind::Mask, graph.blocks.len() as u32);
        let callers = function.bank("caller", CellKind::Mask, graph.units.len() as u32);
        let sites = function.bank("site", CellKind::Uniform(Type::I32), graph.units.len() as u32);
        let calling = function.bank("calling", CellKind::Mask, 1).reg(0);
        let named = function.bank("named", CellKind::Uniform(Type::I32), control::NAMED);
        let stack = function.bank("stack", CellKind::Uniform(Type::I32), 1).reg(0);
        let pc = |block: usize| {
            let block = &graph.blocks[block];
            let code = &kernel.module.routines[graph.routines[block.routine]].code;
            let insns = code.get(block.first as usize..).unwrap_or_default();
            insns
                .iter()
                .find(|insn| !is_label(insn))
                .or(insns.first())
                .map_or(0, |insn| insn.at.into())
        };
        let entry = function.new_block(pc(0));
        debug_assert_eq!(entry, BlockId(0), "the first block is the entry");
        // The kernel begins with the first node. It is part of the entry if no other block leads to
        // it.
        let blocks = plan.nodes.iter().enumerate().map(|(number, node)| match number {
            0 if !node.several => entry,
            _ => function.new_block(pc(node.block)),
        });
        let blocks = blocks.collect();
        let done = function.new_block(pc(0));
        function.at(done).exit();
        Shape {
            kernel,
            graph,
            plan,
            chains,
            roots,
            pointees,
            storage,
            lanes,
            addressed: RefCell::default(),
            predicates,
            long_predicates,
            first_predicate,
            states,
            first_state,
            waits,
            callers,
            sites,
            calling,
            named,
            stack,
            blocks,
            done,
        }
    }

    /// Returns a routine by its index among the kernel's routines.
    pub fn routine(&self, number: usize) -> &'a Routine {
        &self.kernel.module.routines[self.graph.routines[number]]
    }

    pub fn predicate(&self, routine: usize, id: PredicateId) -> Reg {
        let index = u32::from(id.0.saturating_sub(FIRST_PREDICATE));
        let bank = match self.long_predicates {
            Some(bank) if self.predicate_elements(routine, id) > self.lanes.into() => bank,
            _ => self.predicates,
        };
        bank.reg(self.first_predicate[routine] + index)
    }

    /// Returns the type of a predicate's bits in a register.
    pub fn predicate_type(&self, reg: Reg) -> Type {
        if Some(reg.bank) == self.long_predicates { Type::I64 } else { Type::Mask }
    }

    /// Returns the registers of a routine's predicates.
    pub fn predicate_registers(&self, routine: usize) -> impl Iterator<Item = Reg> + '_ {
        let count = self.routine(routine).predicates.len() as u16;
        (0..count).map(move |n| self.predicate(routine, PredicateId(FIRST_PREDICATE + n)))
    }

    pub fn predicate_elements(&self, routine: usize, id: PredicateId) -> u32 {
        self.routine(routine).predicate(id).map_or(32, |one| one.elements)
    }

    pub fn state(&self, routine: usize, state: State, element: u8) -> Reg {
        let of = &self.first_state[routine];
        let first = match state {
            State::Surface(id) => match id.0.checked_sub(FIRST_SURFACE) {
                Some(index) => {
                    of.surfaces.get(usize::from(index)).map(|&first| first + u32::from(element))
                }
                None => Some(id.0.into()),
            },
            State::Sampler(id) if id.0 == BINDLESS_SAMPLER => Some(FIRST_SURFACE.into()),
            State::Sampler(id) => {
                of.samplers.get(usize::from(id.0)).map(|&first| first + u32::from(element))
            }
        };
        self.states.reg(first.unwrap_or(0))
    }

    /// Notes that the address of a root is taken.
    pub fn take_address(&self, root: RootId) {
        self.addressed.borrow_mut().insert(root);
    }

    fn emit(&self, function: &mut FunctionBuilder, survey: Option<&RefCell<Survey>>) {
        entry::emit(self, function, survey);
        for number in 0..self.plan.nodes.len() {
            self.node(function, number, survey);
        }
    }

    fn node(
        &self,
        function: &mut FunctionBuilder,
        number: usize,
        survey: Option<&RefCell<Survey>>,
    ) {
        let node = &self.plan.nodes[number];
        if self.chains.is_inner(node.block) {
            // No block leads to an inner block.
            return function.at(self.blocks[number]).trap(TrapKind::Unimplemented);
        }
        let row = self.row(node.block);
        function.set_cost(self.blocks[number], row.iter().map(|&block| self.cost(block)).sum());
        let routine = self.graph.blocks[node.block].routine;
        let mut cx = Cx::new(
            function.at(self.blocks[number]),
            self,
            survey,
            (routine, number as u32),
            node.mode,
        );
        let (mut waiting, mut parked, number_of_node) =
            (node.waiting.clone(), Waiting::new(), number as u32);
        for (&number, place) in row.iter().zip(0..) {
            let block = &self.graph.blocks[number];
            // A value of one block must not live on in a row, where lanes come and go.
            cx.node = number_of_node | place << PLACE_SHIFT;
            let code = &self.routine(block.routine).code;
            for insn in &code[block.first as usize..block.last as usize] {
                if !self.instruction(&mut cx, insn) {
                    return control::trap(self, cx, Here { block: number, waiting: &waiting });
                }
            }
            match self.chains.step(number) {
                None => return control::end(self, cx, Here { block: number, waiting: &waiting }),
                Some(step) => {
                    control::run_on(self, &mut cx, Here { block: number, waiting: &waiting }, step)
                }
            }
            let next = number + 1;
            if let Some(Step::Leave(target) | Step::Change(target)) = self.chains.step(number) {
                waiting.insert(target);
                parked.insert(target);
            }
            waiting.remove(&next);
            parked.remove(&next);
            control::look(&mut cx, parked.is_empty());
        }
    }

    /// Returns a block with the blocks that it runs on into.
    fn row(&self, first: usize) -> Vec<usize> {
        let mut row = vec![first];
        while let Some(&last) = row.last()
            && self.chains.step(last).is_some()
        {
            row.push(last + 1);
        }
        row
    }

    /// Returns the number of instructions of a block.
    fn cost(&self, block: usize) -> u32 {
        let block = &self.graph.blocks[block];
        let code = &self.routine(block.routine).code[block.first as usize..block.last as usize];
        let ending =
            u32::from(!matches!(block.end, super::graph::End::Next | super::graph::End::Last));
        code.iter().filter(|insn| !is_label(insn)).count() as u32 + ending
    }

    /// Lifts an instruction. Returns false if it is not executed.
    fn instruction(&self, cx: &mut Cx<'_>, insn: &Instruction) -> bool {
        cx.begin(insn, insn.at.into());
        if insn.row.predicate_is_operand() {
            cx.predicate = None;
        }
        if Mode::is_written(insn) {
            let after = cx.mode.after(insn);
            cx.mode = after.unwrap_or(cx.mode);
            return after.is_ok();
        }
        let Some(lift) = insn.row.lift else { return false };
        let Some(pieces) = pieces(cx.exec, self.lanes) else { return false };
        for piece in pieces {
            cx.begin_piece(piece);
            if lift(cx, insn).is_err() {
                return false;
            }
        }
        cx.flush();
        true
    }
}

/// The block that lanes leave, and the blocks that lanes may then wait for.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    pub block: usize,
    pub waiting: &'a Waiting,
}

/// The first bit of a block's place in its row, in the number that accesses are noted with. Lower
/// bits are the node's number.
const PLACE_SHIFT: u32 = 22;

/// Returns whether an instruction is a label, which a listing does not count.
fn is_label(insn: &Instruction) -> bool {
    matches!(insn.row.name, "label" | "subroutine")
}
