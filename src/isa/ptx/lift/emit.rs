//! Builds the IR of a kernel: a block for each node, and the code by which lanes part and meet.
//!
//! A node that lanes may wait for has a mask register, its *place*. The running lanes are at the
//! first place that has lanes, in the order of `order`. So lanes that come to a node while others
//! wait for an earlier node wait as well, and lanes that wait for the node itself join them. In
//! loops that wait for other lanes, the other lanes also get their turn.

use std::collections::BTreeSet;

use warploom_guest::LiftError;
use warploom_guest::places::{Chain, Here, Places};
use warploom_ir::{
    self as ir, BlockId, CellKind, Function, FunctionBuilder, LaneFault, TrapKind, image,
};

use super::call_graph::CallGraph;
use super::calls::{self, Callee};
use super::cells::cells;
use super::context::{Banks, Cell, Counts, Cx, Insn};
use super::frames::{Calling, Frames};
use super::graph::{Call, End, Giver, Graph, Instance, Meetings, Node, Returned};
use super::image::{names_in_parameters, uses_images};
use super::known::{KnownOf, KnownRegisters};
use super::meeting::Meeting;
use super::plan::Plan;
use super::{NAN, VariableAddresses, WARP_LANES, barrier};
use crate::layout::References;
use crate::module::{Body, FunctionId, Module, Statement, Variable, VariableId};
use crate::types::{Kind, StateSpace, Ty};

/// A kernel to lift.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    pub module: &'a Module,
    pub kernel: FunctionId,
    /// Addresses that do not depend on calls.
    pub places: &'a VariableAddresses,
    /// The number that makes addresses of instructions from offsets in the text.
    pub base: u64,
    /// Images to specialise for, by the names of their handles.
    pub images: &'a [(u32, image::Shape)],
    /// Whether the code tells observers what operations do not show.
    pub observed: bool,
}

/// Local memory that a lane of a kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalMemory {
    pub bytes: u64,
    /// Whether the kernel calls functions whose frames are behind these bytes, or that take stack.
    pub has_frames: bool,
}

fn local_memory(kernel: &Kernel<'_>) -> LocalMemory {
    let calls = CallGraph::new(kernel.module, kernel.kernel);
    let graph =
        Graph::new(kernel.module, kernel.kernel, kernel.places, &calls, &Meetings::default());
    LocalMemory {
        bytes: graph.local_bytes,
        has_frames: graph.takes_stack() || !graph.outlines.is_empty(),
    }
}

/// The needs of a kernel that do not depend on its arguments.
#[derive(Clone, Debug)]
pub struct Needs {
    pub local: LocalMemory,
    /// The module's textures, samplers and surfaces that the kernel names; `None` if the module has
    /// no instruction for them.
    pub images: Option<BTreeSet<VariableId>>,
    /// The names of handles that the kernel's parameters hold.
    pub handles: BTreeSet<u32>,
    /// Whether the kernel reads the address of the system's shared memory.
    pub reserved_shared: bool,
}

impl Needs {
    pub fn of(kernel: &Kernel<'_>) -> Needs {
        let Kernel { module, kernel: id, places, .. } = *kernel;
        let uses_images = module.forms.iter().any(|form| uses_images(form.row.opcode));
        let is_image = |variable: &Variable| {
            variable.ty.kind() == Kind::Opaque && variable.space == StateSpace::Global
        };
        let references = References::new(module);
        let images = uses_images.then(|| references.named(module, id, is_image));
        let reserved_shared = references.reserved_shared(module, id);
        let handles = names_in_parameters(module, id, places);
        Needs { local: local_memory(kernel), images, handles, reserved_shared }
    }
}

/// Lifts a kernel with all functions that it calls.
///
/// # Errors
/// A lift function built an ill-typed operation: a defect.
pub fn lift_kernel(kernel: &Kernel<'_>) -> Result<Function, LiftError> {
    let name = &kernel.module.function(kernel.kernel).name;
    let plan = Plan::new(kernel);
    emit(&plan).map_err(|error| LiftError::Build { kernel: name.clone(), error })
}

/// The layout of the function that is being built.
pub(super) struct Shape<'a> {
    pub plan: &'a Plan<'a>,
    pub banks: Banks,
    /// Cells of the registers of each instance.
    cells: Vec<Vec<Cell>>,
    /// Known values of the registers of each function.
    known: KnownOf,
    frames: Frames,
    /// By instance: the number under which it keeps its caller's stack, if it has its own.
    stacks: Vec<Option<u32>>,
    pub places: Places<'a>,
    pub meetings: Vec<Meeting>,
    /// The lanes that have not exited, if there are meetings.
    pub live: ir::Reg,
}

/// Gives numbers to the instances that take stack.
fn stacks(graph: &Graph, counts: &mut Counts) -> Vec<Option<u32>> {
    let instances = graph.instances.iter();
    instances.map(|instance| instance.takes_stack.then(|| counts.keep_stack())).collect()
}

fn emit(plan: &Plan<'_>) -> Result<Function, ir::BuildError> {
    let kernel = plan.kernel;
    let name = &kernel.module.function(kernel.kernel).name;
    let mut function = FunctionBuilder::new(name, WARP_LANES, NAN);
    let active = function.bank("active", CellKind::Mask, 1).reg(0);
    function.set_active(active);
    function.set_observed(kernel.observed);
    let shape = Shape::new(plan, &mut function);
    let mut is_part = vec![false; plan.schedule.at.len()];
    for (position, waiting) in (0..).zip(&plan.schedule.waiting) {
        let node = plan.schedule.at.get(position as usize);
        let Some(waiting) = waiting.as_ref().filter(|_| !node.is_some_and(|&node| is_part[node]))
        else {
            function.at(shape.places.blocks[position as usize]).exit();
            continue;
        };
        let here = Here { position, waiting };
        match node {
            Some(&node) => shape
                .node(&mut function, node, here)
                .into_iter()
                .for_each(|part| is_part[part] = true),
            None => shape.meeting(&mut function, position as usize - plan.schedule.at.len(), here),
        }
    }
    shape.places.finish(&mut function);
    function.finish()
}

impl<'a> Shape<'a> {
    fn new(plan: &'a Plan<'a>, function: &mut FunctionBuilder) -> Shape<'a> {
        let (kernel, graph) = (plan.kernel, &plan.graph);
        let mut counts = Counts::default();
        let mut known = KnownOf::default();
        for &Instance { function, .. } in &graph.instances {
            let own = || KnownRegisters::of(kernel.module, function, kernel.places);
            known.entry(function).or_insert_with(own);
        }
        let cells = cells(kernel, graph, &known, &mut counts);
        let frames = Frames::new(kernel.module, graph, &mut counts);
        let stacks = stacks(graph, &mut counts);
        let staged =
            plan.meetings.iter().map(|staging| staging.cells(&mut counts)).collect::<Vec<_>>();
        let banks = Banks::declare(function, counts);
        let pc =
            |node: usize| kernel.base + u64::from(graph.nodes.get(node).map_or(0, |node| node.at));
        // No block leads to the entry; often the first node can be the entry.
        let entry = function.new_block(pc(0));
        let schedule = &plan.schedule;
        let only_enters =
            schedule.predecessors.first().is_some_and(Vec::is_empty) && !schedule.anywhere;
        let is_entry = only_enters && plan.meetings.is_empty();
        let mut places = Places::declare(schedule, function, pc(0));
        let live = function.bank("live", CellKind::Mask, 1).reg(0);
        let block = |&node: &usize| {
            if node == 0 && is_entry { entry } else { function.new_block(pc(node)) }
        };
        let mut blocks: Vec<BlockId> = schedule.at.iter().map(block).collect();
        let meetings = Meeting::all(plan, staged, function);
        blocks.extend(meetings.iter().map(|meeting| function.new_block(meeting.pc())));
        places.blocks = blocks;
        if !is_entry {
            let mut b = function.at(entry);
            if !meetings.is_empty() {
                let active = b.read_active();
                b.rf_write(live, active);
            }
            match schedule.position.first() {
                Some(&first) => b.jump(places.blocks[first as usize]),
                None => b.exit(),
            }
        }
        Shape { plan, banks, cells, known, frames, stacks, places, meetings, live }
    }

    pub fn module(&self) -> &'a Module {
        self.plan.kernel.module
    }

    /// Makes a context of a node's registers in a block.
    pub fn context<'f>(
        &'f self,
        function: &'f mut FunctionBuilder,
        block: BlockId,
        node: &Node,
    ) -> Cx<'f> {
        let (kernel, instance) = (self.plan.kernel, &self.plan.graph.instances[node.instance]);
        let (body, cells) = (self.plan.body(node), &self.cells[node.instance]);
        let mut cx =
            Cx::new(function.at(block), self.module(), &instance.places, body, cells, self.banks);
        cx.know(&self.known[&instance.function]);
        cx.images = kernel.images;
        cx
    }

    /// Builds the block of a node and of the further nodes that it runs on to. Returns those
    /// further nodes.
    fn node(&self, function: &mut FunctionBuilder, number: usize, here: Here<'_>) -> Vec<usize> {
        let block = self.places.blocks[here.position as usize];
        let mut cx = self.context(function, block, &self.plan.graph.nodes[number]);
        let mut chain = Chain::new(number);
        let (mut number, mut here, mut cost) = (number, here, 0);
        loop {
            let node = &self.plan.graph.nodes[number];
            cost += node.cost();
            if !self.statements(&mut cx, number) {
                cx.b.function().set_cost(block, cost);
                cx.b.trap(TrapKind::Unimplemented);
                return chain.parts();
            }
            let Some(next) = self.run_on(&mut cx, number, here, &mut chain) else { break };
            let position = self.places.position(next);
            let Some(waiting) = &self.plan.schedule.waiting[position as usize] else { break };
            (number, here) = (next, Here { position, waiting });
        }
        cx.b.function().set_cost(block, cost);
        self.end(cx, number, here, chain.may_be_empty());
        chain.parts()
    }

    /// Lifts the ordinary statements of a node. Returns false if one of them is not executed.
    fn statements(&self, cx: &mut Cx<'_>, number: usize) -> bool {
        let node = &self.plan.graph.nodes[number];
        let (module, base) = (self.module(), self.plan.kernel.base);
        let body = self.plan.body(node);
        if let Some(returned) = node.returned {
            cx.start(base + u64::from(node.at), None);
            self.take_results(cx, body, number, returned);
        }
        for statement in &body.statements[node.first as usize..node.last as usize] {
            cx.start(base + u64::from(statement.at), statement.guard);
            let form = module.form(statement.form);
            let insn = Insn { form, operands: &statement.operands };
            self.tell_of(cx, statement);
            if insn.lift(cx) {
                continue;
            }
            if statement.guard.is_none() {
                return false;
            }
            cx.forget_refusals();
            let lanes = cx.executing();
            cx.b.raise(LaneFault::Unimplemented, lanes);
        }
        true
    }

    fn calling(&self, node: &Node, outline: usize) -> Calling<'_> {
        let graph = &self.plan.graph;
        let caller = graph.instances[node.instance].outline;
        Calling { module: self.module(), graph, cells: &self.cells, caller, outline }
    }

    /// Returns an inlined function as a callee.
    fn callee(&self, instance: usize) -> Callee<'_> {
        let made = &self.plan.graph.instances[instance];
        let function = self.module().function(made.function);
        Callee { function, places: &made.places, cells: &self.cells[instance], frame: None }
    }

    /// Moves return values and other results of the statement before.
    fn take_results(&self, cx: &mut Cx<'_>, body: &Body, number: usize, returned: Returned) {
        let statement = &body.statements[returned.statement as usize];
        let call = Call::of(statement);
        match (returned.from, call) {
            (Giver::Instance(instance), Some(call)) => {
                let callee = self.callee(instance);
                let given = calls::given(cx, callee);
                calls::take_returns(cx, &call, callee, given);
                if let Some(number) = self.stacks[instance] {
                    cx.restore_stack(number);
                }
            }
            (Giver::Outline(outline), Some(call)) => {
                let node = &self.plan.graph.nodes[number];
                self.frames.resume(cx, self.calling(node, outline), &call, number);
            }
            (Giver::Host, Some(call)) => calls::take_answer(cx, &call),
            (Giver::Barrier, _) => barrier::take_result(cx, &statement.operands),
            (Giver::Meeting, _) => self.take_meeting(cx, statement),
            _ => {}
        }
    }

    /// Ends a node. If `may_be_empty`, perhaps no lane is active and others wait.
    fn end(&self, mut cx: Cx<'_>, number: usize, here: Here<'_>, may_be_empty: bool) {
        let node = &self.plan.graph.nodes[number];
        let body = self.plan.body(node);
        let start = |cx: &mut Cx<'_>, statement: u32, guarded: bool| -> &'a Statement {
            let statement = &body.statements[statement as usize];
            cx.start(
                self.plan.kernel.base + u64::from(statement.at),
                statement.guard.filter(|_| guarded),
            );
            statement
        };
        match node.end {
            End::Jump(next) => self.places.go_if_any(&mut cx.b, next, here, may_be_empty),
            End::Split { taken, next, .. } if taken == next => {
                self.places.go_if_any(&mut cx.b, next, here, may_be_empty)
            }
            End::Split { statement, taken, next } => {
                start(&mut cx, statement, true);
                let guard = cx.guard();
                self.places.split(&mut cx.b, guard, [taken, next], here, may_be_empty);
            }
            End::Table { statement, ref targets } => {
                let statement = start(&mut cx, statement, false);
                let index = cx.bits(&statement.operands[0], Ty::U32);
                let cases: Vec<(u64, usize)> = (0..).zip(targets.iter().copied()).collect();
                self.table(cx, index, &cases, true, here);
            }
            End::Call { statement, callee, entry } => {
                let statement = start(&mut cx, statement, false);
                if let Some(number) = self.stacks[callee] {
                    cx.keep_stack(number);
                }
                if let Some(call) = Call::of(statement) {
                    calls::pass_arguments(&mut cx, &call, self.callee(callee));
                }
                self.places.go(&mut cx.b, entry, here);
            }
            End::Enter { statement, outline, site } => {
                let statement = start(&mut cx, statement, false);
                if let Some(call) = Call::of(statement) {
                    self.frames.enter(&mut cx, self.calling(node, outline), &call, site);
                }
                let entry = self.plan.graph.outlines[outline].entry;
                self.places.go(&mut cx.b, entry, here);
            }
            End::Return { outline } => {
                let back = self.frames.back(&mut cx, outline);
                let cases: Vec<(u64, usize)> =
                    (0..).zip(self.plan.graph.outlines[outline].sites.iter().copied()).collect();
                self.table(cx, back, &cases, true, here);
            }
            End::Indirect { statement, ref targets } => {
                let statement = start(&mut cx, statement, false);
                let address = cx.bits(&statement.operands[1], Ty::B64);
                let cases: Vec<(u64, usize)> = targets
                    .iter()
                    .map(|&(id, node)| (self.plan.kernel.places.function(id), node))
                    .collect();
                self.table(cx, address, &cases, false, here);
            }
            End::Service { statement, service, next } => {
                let statement = start(&mut cx, statement, false);
                if let Some(call) = Call::of(statement) {
                    calls::ask(&mut cx, &call, service);
                }
                let lanes = cx.active();
                let resume = self.places.resume(&mut cx.b, next, here);
                cx.b.service(service, lanes, resume);
            }
            End::Exit { statement: Some(statement), next: Some(next) } => {
                start(&mut cx, statement, true);
                self.exit_guarded(cx, next, here);
            }
            End::Exit { .. } => {
                let lanes = cx.active();
                self.leave(&mut cx, lanes);
                if here.is_alone(&self.plan.schedule) {
                    return cx.b.exit();
                }
                let next = self.places.next_place(&mut cx.b, here.waiting);
                cx.b.jump(next);
            }
            End::Barrier { statement, next, .. } => {
                let statement = start(&mut cx, statement, false);
                self.barrier(cx, number, statement, next, here);
            }
            End::Meet { statement, next, .. } => {
                let statement = start(&mut cx, statement, false);
                self.meet(cx, number, statement, next, here);
            }
            End::Trap { statement } => {
                let statement = start(&mut cx, statement, false);
                let asked = self.module().form(statement.form).row.opcode == "trap";
                cx.b.trap(if asked { TrapKind::Guest } else { TrapKind::Unimplemented });
            }
        }
    }

    /// Lets the lanes exit for which the guard holds.
    fn exit_guarded(&self, mut cx: Cx<'_>, next: usize, here: Here<'_>) {
        let (active, guard) = (cx.active(), cx.guard());
        let going = cx.executing();
        self.leave(&mut cx, going);
        let stay = cx.not(guard);
        let stay = cx.mask_value(stay);
        let rest = cx.b.and(active, stay);
        cx.set_active(rest);
        let (on, gone) = (
            self.places.resume(&mut cx.b, next, here),
            self.places.next_place(&mut cx.b, here.waiting),
        );
        cx.b.branch(rest, on, gone);
    }

    /// Removes lanes that exit from the live lanes.
    fn leave(&self, cx: &mut Cx<'_>, lanes: ir::Value) {
        if self.meetings.is_empty() {
            return;
        }
        let live = cx.b.rf_read(self.live);
        let gone = cx.b.not(lanes);
        let live = cx.b.and(live, gone);
        cx.b.rf_write(self.live, live);
    }

    /// Ends a node with a barrier of the block, for which all lanes of the warp must be present.
    fn barrier(
        &self,
        mut cx: Cx<'_>,
        number: usize,
        statement: &Statement,
        next: usize,
        here: Here<'_>,
    ) {
        if !self.plan.meeting_of.contains_key(&number) || here.is_alone(&self.plan.schedule) {
            return self.arrive(cx, statement, next, here);
        }
        let absent = self.absent(&mut cx);
        let pc = cx.b.pc();
        let (together, apart) = (cx.b.function().new_block(pc), cx.b.function().new_block(pc));
        cx.b.branch(absent, apart, together);
        let node = &self.plan.graph.nodes[number];
        let function = cx.b.function();
        self.wait_to_meet(function, apart, number, statement, here);
        let mut then = self.context(function, together, node);
        then.start(pc, None);
        self.arrive(then, statement, next, here);
    }

    fn arrive(&self, mut cx: Cx<'_>, statement: &Statement, next: usize, here: Here<'_>) {
        let insn = Insn { form: self.module().form(statement.form), operands: &statement.operands };
        let Some(barrier) = barrier::barrier(&mut cx, &insn) else {
            return cx.b.trap(TrapKind::Unimplemented);
        };
        let resume = self.places.resume(&mut cx.b, next, here);
        cx.b.barrier(barrier, resume);
    }

    /// Sends lanes to the case that equals their value.
    ///
    /// With `others`, lanes without a case take the last case; otherwise they fault, as they call
    /// nothing.
    fn table(
        &self,
        mut cx: Cx<'_>,
        value: ir::Value,
        cases: &[(u64, usize)],
        others: bool,
        here: Here<'_>,
    ) {
        let (rest, parked) = self.places.table(&mut cx.b, value, cases, others, here);
        if !others {
            // The value is no function that could be called.
            cx.b.raise(LaneFault::IllegalInstruction, rest);
        }
        let next = self.places.next_place(&mut cx.b, &parked);
        cx.b.jump(next);
    }
}
