//! Makes the nodes of a kernel. Functions are inlined, except functions that have frames according
//! to the call graph.

use rustc_hash::{FxHashMap, FxHashSet};
use warploom_guest::{cut_long_blocks, service};

use super::call_graph::CallGraph;
use super::graph::{Call, End, Giver, Graph, Instance, Meetings, Node, Outline, Returned};
use super::{VariableAddresses, uses};
use crate::layout;
use crate::module::{
    AddressOf, Body, Formal, FunctionId, LabelId, Module, Operand, Statement, VariableId,
};
use crate::types::StateSpace;
use crate::word::Word;

/// The limit of a kernel's statements with all functions inlined.
const MAX_STATEMENTS: usize = 1 << 20;
/// The limit of calls within calls.
const MAX_DEPTH: usize = 64;

/// The way in which a statement ends a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    No,
    Branch(LabelId),
    Table(u32),
    Call,
    Return,
    Exit,
    Barrier,
    Trap,
}

fn ends(module: &Module, statement: &Statement) -> Ends {
    let form = module.form(statement.form);
    match form.row.opcode {
        "bra" => match statement.operands.first() {
            Some(&Operand::Label(label)) => Ends::Branch(label),
            _ => Ends::Trap,
        },
        "brx.idx" => match statement.operands.get(1) {
            Some(&Operand::BranchTargets(table)) => Ends::Table(table),
            _ => Ends::Trap,
        },
        "call" => Ends::Call,
        "ret" => Ends::Return,
        "exit" => Ends::Exit,
        "trap" => Ends::Trap,
        opcode if uses::is_barrier(opcode) => Ends::Barrier,
        _ if form.row.lift.is_none() => Ends::Trap,
        _ => Ends::No,
    }
}

fn takes_stack(module: &Module, body: &Body) -> bool {
    let opcode = |statement: &Statement| module.form(statement.form).row.opcode;
    body.statements.iter().any(|statement| matches!(opcode(statement), "alloca" | "stackrestore"))
}

/// Where the lanes of a function go on when it returns.
#[derive(Clone, Copy)]
enum Continuation {
    /// The lanes exit.
    Exit,
    Node(usize),
    Outline(usize),
}

/// A function that is being added.
#[derive(Clone, Copy)]
struct Frame {
    instance: usize,
    /// Where the frames of callees begin.
    end: u64,
    continuation: Continuation,
    depth: usize,
}

pub struct Builder<'a> {
    module: &'a Module,
    places: &'a VariableAddresses,
    calls: &'a CallGraph,
    meetings: &'a Meetings,
    graph: &'a mut Graph,
    /// The variables and parameters of each function.
    owned: FxHashMap<FunctionId, Vec<VariableId>>,
    outlined: FxHashMap<FunctionId, usize>,
    /// Functions with frames that are still to be made.
    pending: Vec<FunctionId>,
    statements: usize,
}

impl<'a> Builder<'a> {
    pub fn new(
        module: &'a Module,
        places: &'a VariableAddresses,
        calls: &'a CallGraph,
        meetings: &'a Meetings,
        graph: &'a mut Graph,
    ) -> Builder<'a> {
        let mut owned: FxHashMap<FunctionId, Vec<VariableId>> = FxHashMap::default();
        for (variable, id) in module.variables.iter().zip(0..) {
            if let Some(owner) = variable.owner {
                owned.entry(owner).or_default().push(VariableId(id));
            }
        }
        let (outlined, pending) = (FxHashMap::default(), vec![]);
        Builder { module, places, calls, meetings, graph, owned, outlined, pending, statements: 0 }
    }

    pub fn kernel(&mut self, kernel: FunctionId) {
        let end = layout::module_locals(self.module).1.next_multiple_of(16);
        self.instance(kernel, None, end, FxHashMap::default(), Continuation::Exit, 0);
        let mut missing = FxHashSet::default();
        while let Some(function) = self.pending.pop() {
            let outline = self.outlined[&function];
            let continuation = Continuation::Outline(outline);
            match self.instance(function, Some(outline), 0, FxHashMap::default(), continuation, 0) {
                Some((instance, entry)) => {
                    let made = &mut self.graph.outlines[outline];
                    (made.instance, made.entry) = (instance, entry);
                }
                None => {
                    missing.insert(outline);
                }
            }
        }
        // Calls of functions that the kernel has no room for become traps.
        for node in &mut self.graph.nodes {
            if let End::Enter { statement, outline, .. } = node.end
                && missing.contains(&outline)
            {
                node.end = End::Trap { statement };
            }
        }
    }

    /// Adds an instance of a function whose local variables begin at `frame`. Returns its number
    /// and its first node. `own` has the places of parameters that the caller has made.
    fn instance(
        &mut self,
        function: FunctionId,
        outline: Option<usize>,
        frame: u64,
        mut own: FxHashMap<VariableId, u64>,
        continuation: Continuation,
        depth: usize,
    ) -> Option<(usize, usize)> {
        let body = self.module.function(function).body.as_ref()?;
        self.statements += body.statements.len() + 1;
        if self.statements > MAX_STATEMENTS || depth >= MAX_DEPTH {
            return None;
        }
        let end = self.lay_out(function, frame, &mut own);
        let number = self.graph.instances.len();
        let places = self.places.with(own, outline.is_some());
        let takes_stack = takes_stack(self.module, body);
        self.graph.instances.push(Instance { function, places, outline, takes_stack });
        let bytes = match outline {
            Some(outline) => &mut self.graph.outlines[outline].frame_bytes,
            None => &mut self.graph.local_bytes,
        };
        *bytes = (*bytes).max(end);
        let entry =
            self.nodes(body, Frame { instance: number, end, continuation, depth: depth + 1 });
        Some((number, entry))
    }

    /// Returns the outline of a function, and adds it if it is new.
    fn outline(&mut self, function: FunctionId) -> usize {
        if let Some(&outline) = self.outlined.get(&function) {
            return outline;
        }
        let outline = self.graph.outlines.len();
        self.outlined.insert(function, outline);
        self.pending.push(function);
        self.graph.outlines.push(Outline { instance: 0, entry: 0, frame_bytes: 0, sites: vec![] });
        outline
    }

    /// Assigns places to local variables and call parameters, and returns their end.
    fn lay_out(
        &self,
        function: FunctionId,
        frame: u64,
        own: &mut FxHashMap<VariableId, u64>,
    ) -> u64 {
        let kernel = self.module.function(function).kernel;
        let mut end = frame;
        for &id in self.owned.get(&function).into_iter().flatten() {
            let variable = self.module.variable(id);
            let local = variable.space == StateSpace::Local
                || (variable.space == StateSpace::Param
                    && !(kernel && self.is_formal(function, id)));
            if !local || own.contains_key(&id) {
                continue;
            }
            end = end.next_multiple_of(u64::from(variable.align.max(1)).max(4));
            own.insert(id, end);
            end += variable.size.max(1);
        }
        end.next_multiple_of(16)
    }

    fn is_formal(&self, function: FunctionId, id: VariableId) -> bool {
        self.module.function(function).inputs.contains(&Formal::Param(id))
    }

    fn push(&mut self, node: Node) -> usize {
        self.graph.nodes.push(node);
        self.graph.nodes.len() - 1
    }

    fn nodes(&mut self, body: &Body, frame: Frame) -> usize {
        let instance = frame.instance;
        let leaders = self.leaders(body, frame);
        let first = self.graph.nodes.len();
        // Make a node for each leader, in order: labels and statements find their node by its
        // leader.
        for &leader in &leaders {
            let at =
                body.statements.get(leader as usize).map_or(body.end, |statement| statement.at);
            self.push(Node {
                instance,
                at,
                returned: None,
                first: leader,
                last: leader,
                end: End::Jump(0),
            });
        }
        let block = Block { body, leaders: &leaders, first, frame };
        for (index, &leader) in leaders.iter().enumerate() {
            let node = first + index;
            let Some(&next_leader) = leaders.get(index + 1) else {
                // Falling off the end of a body is a return.
                self.graph.nodes[node].end = self.leave(None, frame.continuation);
                continue;
            };
            let (last, end) = self.end(&block, next_leader);
            if self.is_meeting(frame, leader) {
                self.meet(&block, node, leader, last, end);
            } else {
                self.graph.nodes[node].last = last;
                self.graph.nodes[node].end = end;
            }
        }
        first
    }

    fn is_meeting(&self, frame: Frame, statement: u32) -> bool {
        self.meetings.contains(&(self.graph.instances[frame.instance].function, statement))
    }

    /// Returns the statements at which nodes begin, and the end of the body.
    fn leaders(&self, body: &Body, frame: Frame) -> Vec<u32> {
        let count = body.statements.len() as u32;
        let mut leaders: Vec<u32> = body.labels.iter().map(|label| label.statement).collect();
        leaders.push(0);
        for (statement, number) in body.statements.iter().zip(0..) {
            if ends(self.module, statement) != Ends::No {
                leaders.push(number + 1);
            }
            // A block has one reading of the clock, which counts the instructions of whole blocks.
            if uses::reads_clock(statement) {
                leaders.push(number + 1);
            }
            if self.is_meeting(frame, number) {
                leaders.push(number);
                leaders.extend(statement.guard.map(|_| number + 1));
            }
        }
        leaders.retain(|&leader| leader <= count);
        leaders.push(count);
        leaders.sort_unstable();
        leaders.dedup();
        cut_long_blocks(&mut leaders, count);
        leaders
    }

    /// Returns the end of the ordinary statements before a leader, and the end of the node.
    fn end(&mut self, block: &Block<'_>, next_leader: u32) -> (u32, End) {
        let Frame { instance, continuation, .. } = block.frame;
        let last = next_leader - 1;
        let statement = &block.body.statements[last as usize];
        let kind = ends(self.module, statement);
        let next = block.node_of(next_leader);
        let end = match (statement.guard, kind) {
            (_, Ends::No) => return (next_leader, End::Jump(next)),
            (None, _) => self.action(block, kind, last, next),
            (Some(_), Ends::Exit) => End::Exit { statement: Some(last), next: Some(next) },
            (Some(_), Ends::Return) if matches!(continuation, Continuation::Exit) => {
                End::Exit { statement: Some(last), next: Some(next) }
            }
            (Some(_), Ends::Branch(label)) => {
                End::Split { statement: last, taken: block.label(label), next }
            }
            (Some(_), _) => {
                let (at, end) = (statement.at, End::Jump(next));
                let taken =
                    self.push(Node { instance, at, returned: None, first: last, last, end });
                self.graph.nodes[taken].end = self.action(block, kind, last, next);
                End::Split { statement: last, taken, next }
            }
        };
        (last, end)
    }

    /// Returns the end of a node for lanes that the statement's guard lets through.
    fn action(&mut self, block: &Block<'_>, kind: Ends, number: u32, next: usize) -> End {
        match kind {
            Ends::Branch(label) => End::Jump(block.label(label)),
            Ends::Table(table) => {
                let labels = &block.body.branch_targets[table as usize];
                End::Table {
                    statement: number,
                    targets: labels.iter().map(|&label| block.label(label)).collect(),
                }
            }
            Ends::Call => self.call(block, number, next),
            Ends::Return => self.leave(None, block.frame.continuation),
            Ends::Exit => End::Exit { statement: None, next: None },
            Ends::Barrier => self.barrier(block, number, next),
            Ends::Trap | Ends::No => End::Trap { statement: number },
        }
    }

    fn barrier(&mut self, block: &Block<'_>, number: u32, next: usize) -> End {
        let (instance, statement) = (block.frame.instance, &block.body.statements[number as usize]);
        if !self.module.form(statement.form).has(Word::Red) {
            return End::Barrier { statement: number, next, apart: next };
        }
        let mut after = |from| {
            let returned = Some(Returned { statement: number, from });
            let (at, end) = (statement.at, End::Jump(next));
            self.push(Node { instance, at, returned, first: number, last: number, end })
        };
        End::Barrier {
            statement: number,
            next: after(Giver::Barrier),
            apart: after(Giver::Meeting),
        }
    }

    /// Turns a node that begins with a statement of the warp into a node where lanes meet before
    /// it.
    ///
    /// If all named lanes are there at once, they stay together to the end of the node. Otherwise
    /// they meet again at each statement of the warp.
    fn meet(&mut self, block: &Block<'_>, node: usize, number: u32, last: u32, end: End) {
        let (instance, statement) = (block.frame.instance, &block.body.statements[number as usize]);
        let at = statement.at;
        let apart = self.apart(block, number + 1, last, &end);
        let next = match statement.guard {
            None => self.push(Node { instance, at, returned: None, first: number, last, end }),
            Some(_) => {
                let end = End::Jump(apart);
                self.push(Node {
                    instance,
                    at,
                    returned: None,
                    first: number,
                    last: number + 1,
                    end,
                })
            }
        };
        self.graph.nodes[node].end = self.meeting(block, number, next, apart);
    }

    /// Adds nodes for the statements from `first` on, for lanes that may lack other lanes that a
    /// statement of the warp names.
    fn apart(&mut self, block: &Block<'_>, first: u32, last: u32, end: &End) -> usize {
        let instance = block.frame.instance;
        let statements = &block.body.statements;
        let at = |statement: u32| {
            statements.get(statement as usize).map_or(block.body.end, |statement| statement.at)
        };
        let meet: Vec<u32> = (first..last)
            .filter(|&n| uses::is_meeting(self.module, &statements[n as usize]))
            .collect();
        let (mut upto, mut end) = (last, end.clone());
        for &number in meet.iter().rev() {
            let rest = Node {
                instance,
                at: at(number + 1),
                returned: None,
                first: number + 1,
                last: upto,
                end,
            };
            let rest = self.push(rest);
            let (first, last, to) = (number, number + 1, End::Jump(rest));
            let together =
                self.push(Node { instance, at: at(number), returned: None, first, last, end: to });
            let meeting = self.meeting(block, number, together, rest);
            let (first, last) = (number, number);
            let node = self.push(Node {
                instance,
                at: at(number),
                returned: None,
                first,
                last,
                end: meeting,
            });
            (upto, end) = (number, End::Jump(node));
        }
        self.push(Node { instance, at: at(first), returned: None, first, last: upto, end })
    }

    /// Returns the end of a node where lanes meet before a statement. They go on at `next`, which
    /// begins with the statement, or at `rest` with its results.
    fn meeting(&mut self, block: &Block<'_>, number: u32, next: usize, rest: usize) -> End {
        let (instance, statement) = (block.frame.instance, &block.body.statements[number as usize]);
        let returned = Some(Returned { statement: number, from: Giver::Meeting });
        let (at, end) = (statement.at, End::Jump(rest));
        let apart =
            self.push(Node { instance, at, returned, first: number + 1, last: number + 1, end });
        let meet = End::Meet { statement: number, next, apart };
        if statement.guard.is_none() {
            return meet;
        }
        let taken = self.push(Node {
            instance,
            at,
            returned: None,
            first: number,
            last: number,
            end: meet,
        });
        End::Split { statement: number, taken, next: rest }
    }

    fn leave(&self, statement: Option<u32>, continuation: Continuation) -> End {
        match continuation {
            Continuation::Node(next) => End::Jump(next),
            Continuation::Outline(outline) => End::Return { outline },
            Continuation::Exit => End::Exit { statement, next: None },
        }
    }

    fn call(&mut self, block: &Block<'_>, number: u32, next: usize) -> End {
        let statement = &block.body.statements[number as usize];
        let trap = End::Trap { statement: number };
        let Some(call) = Call::of(statement) else { return trap };
        let instance = block.frame.instance;
        if let &Operand::Symbol(AddressOf::Function(named), 0) = call.callee {
            let function = self.module.function(named);
            let callee = function.alias.unwrap_or(named);
            if self.module.function(callee).body.is_some() {
                return self.call_function(block, number, callee, next).unwrap_or(trap);
            }
            let Some(service) = service::by_name(&function.name) else { return trap };
            let next = self.push(after_call(statement, instance, number, Some(Giver::Host), next));
            return End::Service { statement: number, service, next };
        }
        let function = self.graph.instances[instance].function;
        let callees = self.calls.callees(self.module, function, statement);
        let mut targets = vec![];
        for callee in callees {
            let Some(end) = self.call_function(block, number, callee, next) else { return trap };
            let node = Node {
                instance,
                at: statement.at,
                returned: None,
                first: number,
                last: number,
                end,
            };
            targets.push((callee, self.push(node)));
        }
        End::Indirect { statement: number, targets }
    }

    fn call_function(
        &mut self,
        block: &Block<'_>,
        number: u32,
        callee: FunctionId,
        next: usize,
    ) -> Option<End> {
        let statement = &block.body.statements[number as usize];
        let instance = block.frame.instance;
        // The node that moves the values of the call, in front of the next statement.
        let resume = self.push(after_call(statement, instance, number, None, next));
        if self.calls.is_outlined(callee) {
            let outline = self.outline(callee);
            self.graph.nodes[resume].returned =
                Some(Returned { statement: number, from: Giver::Outline(outline) });
            let sites = &mut self.graph.outlines[outline].sites;
            sites.push(resume);
            return Some(End::Enter { statement: number, outline, site: sites.len() - 1 });
        }
        // Parameters in memory stay where the caller has put them.
        let mut own = FxHashMap::default();
        let call = Call::of(statement)?;
        let function = self.module.function(callee);
        let caller = &self.graph.instances[instance];
        let formals = function
            .inputs
            .iter()
            .zip(call.arguments)
            .chain(function.outputs.iter().zip(call.returns));
        for (formal, actual) in formals {
            if let (&Formal::Param(formal), &Operand::Symbol(AddressOf::Variable(actual), 0)) =
                (formal, actual)
            {
                own.insert(formal, caller.places.variable(actual));
            }
        }
        let (outline, Frame { end, depth, .. }) = (caller.outline, block.frame);
        let (callee, entry) =
            self.instance(callee, outline, end, own, Continuation::Node(resume), depth)?;
        self.graph.nodes[resume].returned =
            Some(Returned { statement: number, from: Giver::Instance(callee) });
        Some(End::Call { statement: number, callee, entry })
    }
}

fn after_call(
    statement: &Statement,
    instance: usize,
    number: u32,
    from: Option<Giver>,
    next: usize,
) -> Node {
    let returned = from.map(|from| Returned { statement: number, from });
    Node { instance, at: statement.at, returned, first: number, last: number, end: End::Jump(next) }
}

/// A body while its nodes are made.
struct Block<'a> {
    body: &'a Body,
    leaders: &'a [u32],
    /// The node of the first leader.
    first: usize,
    frame: Frame,
}

impl Block<'_> {
    fn node_of(&self, statement: u32) -> usize {
        self.first + self.leaders.partition_point(|&leader| leader < statement)
    }

    fn label(&self, label: LabelId) -> usize {
        self.node_of(self.body.labels[label.0 as usize].statement)
    }
}
