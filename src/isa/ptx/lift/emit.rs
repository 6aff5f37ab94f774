//! IR of a kernel: a block for each node, and what lanes that part and meet need.
//!
//! A node that lanes may wait for has a mask register, its *place*. Running lanes always have the first place of all that have lanes, in
//! the order of `order`: so lanes that come to a node while others wait for an earlier one wait as well, and lanes that wait for the
//! node itself join them.

use crate::ir::{self, BlockId, CellKind, Function, FunctionBuilder, IntCc, TrapKind, Type, Value};
use crate::isa::LiftError;
use crate::isa::ptx::module::{Body, Formal, FunctionId, Module, Register};
use crate::isa::ptx::types::{Kind, Ty};

use super::context::{Banks, Cell, Counts, Cx, Insn};
use super::flow::Flow;
use super::graph::{Call, End, Graph, Node, Returned, across_nodes};
use super::order::{self, Step, Waiting};
use super::{NAN, Places, WARP_LANES, barrier, calls};

/// A kernel to lift.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    pub module: &'a Module,
    pub kernel: FunctionId,
    /// Addresses that do not depend on calls.
    pub places: &'a Places,
    /// Added to offsets in the text to make addresses of instructions.
    pub base: u64,
}

/// Bytes of local memory that a lane of a kernel needs.
pub fn local_bytes(kernel: &Kernel<'_>) -> u64 {
    Graph::new(kernel.module, kernel.kernel, kernel.places).local_bytes
}

/// The kernel with all that it calls.
///
/// # Errors
/// A lift function built an ill-typed operation: a defect.
pub fn lift_kernel(kernel: &Kernel<'_>) -> Result<Function, LiftError> {
    let name = &kernel.module.function(kernel.kernel).name;
    let graph = Graph::new(kernel.module, kernel.kernel, kernel.places);
    emit(kernel, &graph).map_err(|error| LiftError::Build { kernel: name.clone(), error })
}

/// Where nodes are in the function that is built.
struct Shape<'a> {
    kernel: &'a Kernel<'a>,
    graph: &'a Graph,
    banks: Banks,
    /// Cells of the registers of each instance.
    cells: Vec<Vec<Cell>>,
    /// Position of each node in the order, and the node at each position.
    position: Vec<u32>,
    at: Vec<usize>,
    /// By position: the place's mask register and the block.
    places: Vec<ir::Reg>,
    blocks: Vec<BlockId>,
    /// Where a warp ends.
    done: BlockId,
    /// By instance: under which number its caller's stack is kept, if it has one of its own.
    stacks: Vec<Option<u32>>,
}

/// Gives numbers to the instances that take stack, which is their own.
fn stacks(kernel: &Kernel<'_>, graph: &Graph, counts: &mut Counts) -> Vec<Option<u32>> {
    let takes = |function: FunctionId| {
        let statements = kernel.module.function(function).body.iter().flat_map(|body| &body.statements);
        let mut opcodes = statements.map(|statement| kernel.module.form(statement.form).row.opcode);
        opcodes.any(|opcode| matches!(opcode, "alloca" | "stackrestore"))
    };
    let mut number = |function| {
        takes(function).then(|| {
            counts.kept_stacks += 1;
            counts.kept_stacks - 1
        })
    };
    graph.instances.iter().map(|instance| number(instance.function)).collect()
}

/// The registers that a call's moves need in the register file.
fn forced(module: &Module, function: FunctionId) -> Vec<Register> {
    let function = module.function(function);
    let formals = function.inputs.iter().chain(&function.outputs);
    formals.filter_map(|formal| if let Formal::Reg(register, _) = *formal { Some(register) } else { None }).collect()
}

fn cells(kernel: &Kernel<'_>, graph: &Graph, counts: &mut Counts) -> Vec<Vec<Cell>> {
    let mut ranges = vec![Vec::new(); graph.instances.len()];
    for node in &graph.nodes {
        ranges[node.instance].push((node.first, node.last));
    }
    let mut all = Vec::with_capacity(graph.instances.len());
    for (instance, ranges) in graph.instances.iter().zip(&ranges) {
        let Some(body) = &kernel.module.function(instance.function).body else { continue };
        let mut forced = forced(kernel.module, instance.function);
        // What ends a node is read there, and what a call gives is written in another one.
        for statement in &body.statements {
            if Call::of(statement).is_some() {
                super::uses::each(kernel.module, statement, &mut |register, _| forced.push(register));
            }
        }
        for node in graph.nodes.iter().filter(|node| std::ptr::eq(graph.body(kernel.module, node), body)) {
            if let Some(statement) = ending(node) {
                let statement = &body.statements[statement as usize];
                let defined = node.first..node.last;
                super::uses::each(kernel.module, statement, &mut |register, _| {
                    let here = body.statements[defined.start as usize..defined.end as usize].iter();
                    let mut found = false;
                    for statement in here.filter(|statement| statement.guard.is_none()) {
                        super::uses::each(kernel.module, statement, &mut |other, written| {
                            found |= written && other == register;
                        });
                    }
                    if !found {
                        forced.push(register);
                    }
                });
            }
        }
        let across = across_nodes(kernel.module, body, ranges, &forced);
        all.push(body.registers.iter().zip(across).map(|(decl, across)| cell(decl.ty, across, counts)).collect());
    }
    all
}

fn cell(ty: Ty, across: bool, counts: &mut Counts) -> Cell {
    if !across {
        return Cell::Block;
    }
    let (count, size) = match (ty.kind(), ty.bits()) {
        (Kind::Pred, _) => (&mut counts.pred, 1),
        (_, 0..=8) => (&mut counts.b8, 1),
        (_, 9..=16) => (&mut counts.b16, 1),
        (_, 17..=32) => (&mut counts.b32, 1),
        (_, 128) => (&mut counts.b64, 2),
        _ => (&mut counts.b64, 1),
    };
    *count += size;
    Cell::File(*count - size)
}

/// The statement that is looked at when a node ends.
fn ending(node: &Node) -> Option<u32> {
    match node.end {
        End::Jump(_) | End::Trap { .. } => None,
        End::Exit { statement, .. } => statement,
        End::Split { statement, .. }
        | End::Table { statement, .. }
        | End::Call { statement, .. }
        | End::Service { statement, .. }
        | End::Barrier { statement, .. } => Some(statement),
    }
}

fn emit(kernel: &Kernel<'_>, graph: &Graph) -> Result<Function, ir::BuildError> {
    let name = &kernel.module.function(kernel.kernel).name;
    let mut function = FunctionBuilder::new(name, WARP_LANES, NAN);
    let active = function.bank("active", CellKind::Mask, 1).reg(0);
    function.set_active(active);
    let shape = Shape::new(kernel, graph, &mut function);
    let waiting = order::waiting(shape.at.len(), |position, here| shape.steps(position, here));
    for (position, waiting) in (0..).zip(&waiting) {
        match waiting {
            Some(waiting) => shape.node(&mut function, position, waiting),
            None => function.at(shape.blocks[position as usize]).exit(),
        }
    }
    function.finish()
}

impl<'a> Shape<'a> {
    fn new(kernel: &'a Kernel<'a>, graph: &'a Graph, function: &mut FunctionBuilder) -> Shape<'a> {
        let mut counts = Counts::default();
        let cells = cells(kernel, graph, &mut counts);
        let stacks = stacks(kernel, graph, &mut counts);
        let banks = Banks::declare(function, counts);
        let successors: Vec<Vec<usize>> = (0..graph.nodes.len()).map(|node| graph.successors(node)).collect();
        let position = order::positions(&successors);
        let mut at = vec![0; graph.nodes.len()];
        for (node, &position) in position.iter().enumerate() {
            at[position as usize] = node;
        }
        let pc = |node: usize| kernel.base + u64::from(graph.nodes.get(node).map_or(0, |node| node.at));
        let entry = function.new_block(pc(0));
        let bank = function.bank("wait", CellKind::Mask, at.len().max(1) as u32);
        let places = (0..at.len() as u32).map(|n| bank.reg(n)).collect();
        let blocks: Vec<BlockId> = at.iter().map(|&node| function.new_block(pc(node))).collect();
        let done = function.new_block(pc(0));
        function.at(done).exit();
        match position.first() {
            Some(&first) => function.at(entry).jump(blocks[first as usize]),
            None => function.at(entry).exit(),
        }
        Shape { kernel, graph, banks, cells, position, at, places, blocks, done, stacks }
    }

    /// The ways on from a node.
    fn steps(&self, position: u32, here: &Waiting) -> Vec<Step> {
        let to = |node: usize| Step { parked: here.clone(), to: Some(self.position[node]) };
        let parked = |nodes: &[usize]| {
            let mut parked = here.clone();
            parked.extend(nodes.iter().map(|&node| self.position[node]));
            parked
        };
        match &self.graph.nodes[self.at[position as usize]].end {
            End::Jump(next) | End::Service { next, .. } | End::Barrier { next, .. } => vec![to(*next)],
            End::Call { entry, .. } => vec![to(*entry)],
            End::Split { taken, next, .. } if taken == next => vec![to(*next)],
            End::Split { taken, next, .. } => {
                let (low, high) = self.in_order(*taken, *next);
                let parked = parked(&[high]);
                vec![Step { parked: parked.clone(), to: Some(self.position[low]) }, Step { parked, to: None }]
            }
            End::Table { targets, .. } => vec![Step { parked: parked(targets), to: None }],
            End::Exit { next: Some(next), .. } => vec![to(*next), Step { parked: here.clone(), to: None }],
            End::Exit { next: None, .. } => vec![Step { parked: here.clone(), to: None }],
            End::Trap { .. } => vec![],
        }
    }

    /// Two nodes, that with the lower position first.
    fn in_order(&self, a: usize, b: usize) -> (usize, usize) {
        if self.position[a] < self.position[b] { (a, b) } else { (b, a) }
    }

    fn node(&self, function: &mut FunctionBuilder, position: u32, waiting: &Waiting) {
        let node = &self.graph.nodes[self.at[position as usize]];
        let (module, base) = (self.kernel.module, self.kernel.base);
        let body = self.graph.body(module, node);
        let block = self.blocks[position as usize];
        let ends = u32::from(!matches!(node.end, End::Jump(_)));
        function.set_cost(block, node.last - node.first + ends);
        let places = &self.graph.instances[node.instance].places;
        let mut cx = Cx::new(function.at(block), module, places, body, &self.cells[node.instance], self.banks);
        if let Some(returned) = node.returned {
            cx.start(base + u64::from(node.at), None);
            self.take_results(&mut cx, body, returned);
        }
        for statement in &body.statements[node.first as usize..node.last as usize] {
            cx.start(base + u64::from(statement.at), statement.guard);
            let form = module.form(statement.form);
            let insn = Insn { form, operands: &statement.operands };
            let lifted = form.row.lift.map(|lift| lift(&mut cx, &insn));
            if !matches!(lifted, Some(Ok(Flow::Next))) || cx.is_refused() {
                cx.b.trap(TrapKind::Unimplemented);
                return;
            }
        }
        self.end(cx, node, body, waiting);
    }

    /// Moves what a call, a service or a barrier has given.
    fn take_results(&self, cx: &mut Cx<'_>, body: &Body, returned: Returned) {
        let statement = &body.statements[returned.statement as usize];
        match (Call::of(statement), returned.callee) {
            (Some(call), Some(callee)) => {
                if let Some(number) = self.stacks[callee] {
                    cx.restore_stack(number);
                }
                let instance = &self.graph.instances[callee];
                let function = self.kernel.module.function(instance.function);
                calls::take_returns(cx, &call, function, &instance.places, &self.cells[callee]);
            }
            (Some(call), None) => calls::take_answer(cx, &call),
            (None, _) => barrier::take_result(cx, &statement.operands),
        }
    }

    fn end(&self, mut cx: Cx<'_>, node: &Node, body: &Body, waiting: &Waiting) {
        let start = |cx: &mut Cx<'_>, statement: u32, guarded: bool| {
            let statement = &body.statements[statement as usize];
            cx.start(self.kernel.base + u64::from(statement.at), statement.guard.filter(|_| guarded));
            statement
        };
        match node.end {
            End::Jump(next) => self.go(cx, next, waiting),
            End::Split { taken, next, .. } if taken == next => self.go(cx, next, waiting),
            End::Split { statement, taken, next } => {
                start(&mut cx, statement, true);
                self.split(cx, taken, next, waiting);
            }
            End::Table { statement, ref targets } => {
                let statement = start(&mut cx, statement, false);
                let index = cx.bits(&statement.operands[0], Ty::U32);
                self.table(cx, index, targets, waiting);
            }
            End::Call { statement, callee, entry } => {
                let statement = start(&mut cx, statement, false);
                let instance = &self.graph.instances[callee];
                let function = self.kernel.module.function(instance.function);
                if let Some(number) = self.stacks[callee] {
                    cx.keep_stack(number);
                }
                if let Some(call) = Call::of(statement) {
                    calls::pass_arguments(&mut cx, &call, function, &instance.places, &self.cells[callee]);
                }
                self.go(cx, entry, waiting);
            }
            End::Service { statement, service, next } => {
                let statement = start(&mut cx, statement, false);
                if let Some(call) = Call::of(statement) {
                    calls::ask(&mut cx, &call, service);
                }
                let lanes = cx.active();
                let resume = self.resume(&mut cx, next, waiting);
                cx.b.service(service, lanes, resume);
            }
            End::Exit { statement: Some(statement), next: Some(next) } => {
                start(&mut cx, statement, true);
                let (active, guard) = (cx.active(), cx.guard());
                let stay = cx.not(guard);
                let stay = cx.mask_value(stay);
                let rest = cx.b.and(active, stay);
                cx.set_active(rest);
                let (on, gone) = (self.resume(&mut cx, next, waiting), self.next_place(&mut cx, waiting));
                cx.b.branch(rest, on, gone);
            }
            End::Exit { .. } => {
                let next = self.next_place(&mut cx, waiting);
                cx.b.jump(next);
            }
            End::Barrier { statement, next } => {
                let statement = start(&mut cx, statement, false);
                self.barrier(cx, &statement.operands, statement.form, next, waiting);
            }
            End::Trap { statement } => {
                let statement = start(&mut cx, statement, false);
                let asked = self.kernel.module.form(statement.form).row.opcode == "trap";
                cx.b.trap(if asked { TrapKind::Guest } else { TrapKind::Unimplemented });
            }
        }
    }

    /// All active lanes go to a node.
    fn go(&self, mut cx: Cx<'_>, node: usize, waiting: &Waiting) {
        let to = self.position[node];
        let active = cx.active();
        if waiting.range(..to).next().is_none() {
            if waiting.contains(&to) {
                self.join(&mut cx, active, to);
            }
            return cx.b.jump(self.blocks[to as usize]);
        }
        self.park(&mut cx, active, to, waiting);
        let mut waiting = waiting.clone();
        waiting.insert(to);
        let places = self.list(&waiting);
        cx.b.dispatch(places, None, self.done);
    }

    /// Lanes that wait for a node become active with those that are.
    fn join(&self, cx: &mut Cx<'_>, active: Value, to: u32) {
        let place = self.places[to as usize];
        let waiting = cx.b.rf_read(place);
        let all = cx.b.or(active, waiting);
        let none = cx.constant(Type::I64, 0);
        cx.b.rf_write(place, none);
        cx.set_active(all);
    }

    /// Lanes wait for a node.
    fn park(&self, cx: &mut Cx<'_>, lanes: Value, to: u32, waiting: &Waiting) {
        let place = self.places[to as usize];
        let mut all = lanes;
        if waiting.contains(&to) {
            let before = cx.b.rf_read(place);
            all = cx.b.or(before, lanes);
        }
        cx.b.rf_write(place, all);
    }

    fn list(&self, waiting: &Waiting) -> Vec<(ir::Reg, BlockId)> {
        waiting.iter().map(|&n| (self.places[n as usize], self.blocks[n as usize])).collect()
    }

    /// A block of the same lanes that goes on to a node.
    fn resume(&self, cx: &mut Cx<'_>, node: usize, waiting: &Waiting) -> BlockId {
        let to = self.position[node];
        if waiting.range(..=to).next().is_none() {
            return self.blocks[to as usize];
        }
        let pc = cx.b.pc();
        let block = cx.b.function().new_block(pc);
        let (module, places, body) = (self.kernel.module, cx.places, cx.body());
        let then = Cx::new(cx.b.function().at(block), module, places, body, &[], self.banks);
        self.go(then, node, waiting);
        block
    }

    /// A block where no lane is active: the first place that has lanes goes on.
    fn next_place(&self, cx: &mut Cx<'_>, waiting: &Waiting) -> BlockId {
        if waiting.is_empty() {
            return self.done;
        }
        let pc = cx.b.pc();
        let block = cx.b.function().new_block(pc);
        let places = self.list(waiting);
        cx.b.function().at(block).dispatch(places, None, self.done);
        block
    }

    /// The lanes of the guard go to `taken`, the others to `next`: those of the later node wait.
    fn split(&self, mut cx: Cx<'_>, taken: usize, next: usize, waiting: &Waiting) {
        let (active, guard) = (cx.active(), cx.guard());
        let other = cx.not(guard);
        let (guard, other) = (cx.mask_value(guard), cx.mask_value(other));
        let (low, high) = self.in_order(taken, next);
        let (of_low, of_high) = if low == taken { (guard, other) } else { (other, guard) };
        let lanes = cx.b.and(active, of_low);
        let late = cx.b.and(active, of_high);
        let high = self.position[high];
        self.park(&mut cx, late, high, waiting);
        cx.set_active(lanes);
        let mut parked = waiting.clone();
        parked.insert(high);
        let on = self.resume(&mut cx, low, &parked);
        let rest = match parked.first() {
            Some(&first) if first == high => self.only(&mut cx, high),
            _ => self.next_place(&mut cx, &parked),
        };
        cx.b.branch(lanes, on, rest);
    }

    /// A block where no lane is active, and lanes wait for a node that is the first of all.
    fn only(&self, cx: &mut Cx<'_>, to: u32) -> BlockId {
        let pc = cx.b.pc();
        let block = cx.b.function().new_block(pc);
        let mut b = cx.b.function().at(block);
        let place = self.places[to as usize];
        let lanes = b.rf_read(place);
        b.write_active(lanes);
        let none = b.iconst(Type::I64, 0);
        b.rf_write(place, none);
        b.jump(self.blocks[to as usize]);
        block
    }

    /// Each lane goes to the target that it names; past the last is the last.
    fn table(&self, mut cx: Cx<'_>, index: Value, targets: &[usize], waiting: &Waiting) {
        let active = cx.active();
        let mut parked = waiting.clone();
        for (n, &target) in targets.iter().enumerate() {
            let number = cx.word(n as u32);
            let relation = if n + 1 == targets.len() { IntCc::GeU } else { IntCc::Eq };
            let chosen = cx.b.icmp(relation, index, number);
            let lanes = cx.b.and(active, chosen);
            self.park(&mut cx, lanes, self.position[target], &parked);
            parked.insert(self.position[target]);
        }
        let next = self.next_place(&mut cx, &parked);
        cx.b.jump(next);
    }

    fn barrier(
        &self,
        mut cx: Cx<'_>,
        operands: &[crate::isa::ptx::module::Operand],
        form: crate::isa::ptx::module::FormId,
        next: usize,
        waiting: &Waiting,
    ) {
        let form = self.kernel.module.form(form);
        let Some(barrier) = barrier::barrier(&mut cx, &Insn { form, operands }) else {
            return cx.b.trap(TrapKind::Unimplemented);
        };
        let resume = self.resume(&mut cx, next, waiting);
        if waiting.is_empty() || self.kernel.module.target.sm < 70 {
            return cx.b.barrier(barrier, resume);
        }
        // Lanes that have parted do not come to barriers together, which is not executed.
        let mut others = cx.constant(Type::I64, 0);
        for &place in waiting {
            let lanes = cx.b.rf_read(self.places[place as usize]);
            others = cx.b.or(others, lanes);
        }
        let pc = cx.b.pc();
        let (apart, together) = (cx.b.function().new_block(pc), cx.b.function().new_block(pc));
        cx.b.function().at(apart).trap(TrapKind::Unimplemented);
        cx.b.branch(others, apart, together);
        let (module, places, body, cells) = (self.kernel.module, cx.places, cx.body(), cx.cells());
        let mut then = Cx::new(cx.b.function().at(together), module, places, body, cells, self.banks);
        match barrier::barrier(&mut then, &Insn { form, operands }) {
            Some(barrier) => then.b.barrier(barrier, resume),
            None => then.b.trap(TrapKind::Unimplemented),
        }
    }
}
