//! The control flow of a kernel: functions are put in the place of their calls, and cut into nodes at labels and at what ends a block.

use rustc_hash::FxHashMap;

use crate::ir::Service;
use crate::isa::ptx::module::{
    AddressOf, Body, Formal, FunctionId, LabelId, Module, Operand, Register, Statement, VariableId,
};
use crate::isa::ptx::types::StateSpace;

use super::uses;
use super::{Places, service};

/// Statements of a kernel with all functions in the place of their calls, at most.
const MAX_STATEMENTS: usize = 1 << 20;
/// Calls within calls, at most.
const MAX_DEPTH: usize = 64;

/// A function in the place of one call, or the kernel.
#[derive(Clone, Debug)]
pub struct Instance {
    pub function: FunctionId,
    pub places: Places,
}

/// Consecutive statements of an instance, and what comes after.
#[derive(Clone, Debug)]
pub struct Node {
    pub instance: usize,
    /// Where the first statement, or what ends it, stands in the text.
    pub at: u32,
    /// Values that a call gave back, which are moved first.
    pub returned: Option<Returned>,
    /// Ordinary statements: numbers in the body, the last exclusive.
    pub first: u32,
    pub last: u32,
    pub end: End,
}

/// What ends a node. Statements are numbers in the instance's body.
#[derive(Clone, Debug)]
pub enum End {
    Jump(usize),
    /// Lanes for which the guard of a statement holds go to `taken`.
    Split {
        statement: u32,
        taken: usize,
        next: usize,
    },
    /// `brx.idx`
    Table {
        statement: u32,
        targets: Vec<usize>,
    },
    /// Arguments are moved to the callee's parameters, then it runs.
    Call {
        statement: u32,
        callee: usize,
        entry: usize,
    },
    /// A function of the host's.
    Service {
        statement: u32,
        service: Service,
        next: usize,
    },
    /// Lanes have exited; those for which the statement's guard does not hold go on.
    Exit {
        statement: Option<u32>,
        next: Option<usize>,
    },
    Barrier {
        statement: u32,
        next: usize,
    },
    /// What is not executed.
    Trap {
        statement: u32,
    },
}

/// Moves of return values: the call and the instance that it called.
#[derive(Clone, Copy, Debug)]
pub struct Returned {
    pub statement: u32,
    pub callee: Option<usize>,
}

/// All nodes of a kernel; it begins with the first.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub instances: Vec<Instance>,
    pub nodes: Vec<Node>,
    /// Bytes of local memory that a lane needs.
    pub local_bytes: u64,
}

/// Operands of a call.
pub struct Call<'a> {
    pub returns: &'a [Operand],
    pub callee: &'a Operand,
    pub arguments: &'a [Operand],
}

impl<'a> Call<'a> {
    pub fn of(statement: &'a Statement) -> Option<Call<'a>> {
        match &statement.operands[..] {
            [Operand::List(returns), callee, Operand::List(arguments), ..] => Some(Call { returns, callee, arguments }),
            _ => None,
        }
    }
}

/// How a statement ends a node.
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

impl Graph {
    /// The nodes of a kernel. `places` are the addresses that do not depend on calls.
    pub fn new(module: &Module, kernel: FunctionId, places: &Places) -> Graph {
        let mut graph = Graph::default();
        let mut owned: FxHashMap<FunctionId, Vec<VariableId>> = FxHashMap::default();
        for (variable, id) in module.variables.iter().zip(0..) {
            if let Some(owner) = variable.owner {
                owned.entry(owner).or_default().push(VariableId(id));
            }
        }
        let mut builder = Builder { module, places, graph: &mut graph, owned, statements: 0 };
        let nowhere = Continuation { next: None };
        builder.instance(kernel, 0, FxHashMap::default(), nowhere, &mut vec![]);
        graph
    }

    pub fn body<'m>(&self, module: &'m Module, node: &Node) -> &'m Body {
        let function = module.function(self.instances[node.instance].function);
        function.body.as_ref().expect("an instance has a body")
    }

    /// Where lanes may go from a node, in the order of the text as far as it has one.
    pub fn successors(&self, node: usize) -> Vec<usize> {
        match &self.nodes[node].end {
            End::Jump(next) | End::Service { next, .. } | End::Barrier { next, .. } => vec![*next],
            End::Split { taken, next, .. } => vec![*next, *taken],
            End::Table { targets, .. } => targets.clone(),
            End::Call { entry, .. } => vec![*entry],
            End::Exit { next, .. } => next.iter().copied().collect(),
            End::Trap { .. } => vec![],
        }
    }
}

/// Where a function's lanes go on when it returns; a kernel's exit.
#[derive(Clone, Copy)]
struct Continuation {
    next: Option<usize>,
}

struct Builder<'a> {
    module: &'a Module,
    places: &'a Places,
    graph: &'a mut Graph,
    /// Variables and parameters of each function.
    owned: FxHashMap<FunctionId, Vec<VariableId>>,
    statements: usize,
}

impl Builder<'_> {
    /// Adds an instance of a function whose local variables begin at `frame`, and gives its number and its first node. `own` are
    /// places of parameters that the caller has made.
    fn instance(
        &mut self,
        function: FunctionId,
        frame: u64,
        mut own: FxHashMap<VariableId, u64>,
        continuation: Continuation,
        active: &mut Vec<FunctionId>,
    ) -> Option<(usize, usize)> {
        let body = self.module.function(function).body.as_ref()?;
        self.statements += body.statements.len() + 1;
        if self.statements > MAX_STATEMENTS || active.len() >= MAX_DEPTH || active.contains(&function) {
            return None;
        }
        let end = self.lay_out(function, frame, &mut own);
        let number = self.graph.instances.len();
        let places = self.places.with(own);
        self.graph.instances.push(Instance { function, places });
        self.graph.local_bytes = self.graph.local_bytes.max(end);
        active.push(function);
        let entry = self.nodes(number, body, end, continuation, active);
        active.pop();
        Some((number, entry))
    }

    /// Gives local variables and call parameters their places; where they end.
    fn lay_out(&self, function: FunctionId, frame: u64, own: &mut FxHashMap<VariableId, u64>) -> u64 {
        let kernel = self.module.function(function).kernel;
        let mut end = frame;
        for &id in self.owned.get(&function).into_iter().flatten() {
            let variable = self.module.variable(id);
            let local = variable.space == StateSpace::Local
                || (variable.space == StateSpace::Param && !(kernel && self.is_formal(function, id)));
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

    fn nodes(
        &mut self,
        instance: usize,
        body: &Body,
        frame: u64,
        continuation: Continuation,
        active: &mut Vec<FunctionId>,
    ) -> usize {
        let count = body.statements.len() as u32;
        let mut leaders: Vec<u32> = body.labels.iter().map(|label| label.statement).collect();
        leaders.push(0);
        for (statement, number) in body.statements.iter().zip(0..) {
            if ends(self.module, statement) != Ends::No {
                leaders.push(number + 1);
            }
        }
        leaders.retain(|&leader| leader <= count);
        leaders.push(count);
        leaders.sort_unstable();
        leaders.dedup();
        let first = self.graph.nodes.len();
        // A node for each leader, in order: labels and statements are found by it.
        for &leader in &leaders {
            let at = body.statements.get(leader as usize).map_or(body.end, |statement| statement.at);
            self.push(Node { instance, at, returned: None, first: leader, last: leader, end: End::Jump(0) });
        }
        let node_of = |statement: u32| first + leaders.partition_point(|&leader| leader < statement);
        for (index, &leader) in leaders.iter().enumerate() {
            let node = first + index;
            let next_leader = leaders.get(index + 1).copied();
            let Some(next_leader) = next_leader else {
                // Falling off the end of a body is a return.
                self.graph.nodes[node].end = self.leave(None, continuation);
                continue;
            };
            let last = next_leader - 1;
            let statement = &body.statements[last as usize];
            let kind = ends(self.module, statement);
            if kind == Ends::No {
                self.graph.nodes[node].last = next_leader;
                self.graph.nodes[node].end = End::Jump(node_of(next_leader));
                continue;
            }
            debug_assert!(leader <= last);
            self.graph.nodes[node].last = last;
            let next = node_of(next_leader);
            let action = |builder: &mut Self, active: &mut Vec<FunctionId>| match kind {
                Ends::Branch(label) => End::Jump(node_of(body.labels[label.0 as usize].statement)),
                Ends::Table(table) => {
                    let labels = &body.branch_targets[table as usize];
                    let targets = labels.iter().map(|label| node_of(body.labels[label.0 as usize].statement));
                    End::Table { statement: last, targets: targets.collect() }
                }
                Ends::Call => builder.call(body, last, frame, next, active),
                Ends::Return => builder.leave(None, continuation),
                Ends::Exit => End::Exit { statement: None, next: None },
                Ends::Barrier => {
                    let after = builder.results(instance, statement, last, next);
                    End::Barrier { statement: last, next: after }
                }
                Ends::Trap | Ends::No => End::Trap { statement: last },
            };
            let end = match (statement.guard, kind) {
                (None, _) => action(self, active),
                (Some(_), Ends::Exit) => End::Exit { statement: Some(last), next: Some(next) },
                (Some(_), Ends::Return) if continuation.next.is_none() => {
                    End::Exit { statement: Some(last), next: Some(next) }
                }
                (Some(_), Ends::Branch(label)) => {
                    let taken = node_of(body.labels[label.0 as usize].statement);
                    End::Split { statement: last, taken, next }
                }
                (Some(_), _) => {
                    let (at, end) = (statement.at, End::Jump(next));
                    let taken = self.push(Node { instance, at, returned: None, first: last, last, end });
                    self.graph.nodes[taken].end = action(self, active);
                    End::Split { statement: last, taken, next }
                }
            };
            self.graph.nodes[node].end = end;
        }
        first
    }

    /// A node that takes the result of a barrier, if it has one, and goes on.
    fn results(&mut self, instance: usize, statement: &Statement, number: u32, next: usize) -> usize {
        if !self.module.form(statement.form).has(crate::isa::ptx::word::Word::Red) {
            return next;
        }
        let returned = Some(Returned { statement: number, callee: None });
        self.push(Node { instance, at: statement.at, returned, first: number, last: number, end: End::Jump(next) })
    }

    fn leave(&self, statement: Option<u32>, continuation: Continuation) -> End {
        match continuation.next {
            Some(next) => End::Jump(next),
            None => End::Exit { statement, next: None },
        }
    }

    fn call(&mut self, body: &Body, number: u32, frame: u64, next: usize, active: &mut Vec<FunctionId>) -> End {
        let statement = &body.statements[number as usize];
        let trap = End::Trap { statement: number };
        let Some(call) = Call::of(statement) else { return trap };
        let &Operand::Symbol(AddressOf::Function(callee), 0) = call.callee else { return trap };
        let function = self.module.function(callee);
        let callee = function.alias.unwrap_or(callee);
        let function = self.module.function(callee);
        let at = statement.at;
        let instance = self.graph.nodes[next].instance;
        // Where the call's own values are moved: in front of what follows it.
        let after = |returned| Node { instance, at, returned, first: number, last: number, end: End::Jump(next) };
        if function.body.is_none() {
            let Some(service) = service::by_name(&function.name) else { return trap };
            let next = self.push(after(Some(Returned { statement: number, callee: None })));
            return End::Service { statement: number, service, next };
        }
        // Parameters in memory are where the caller has put them.
        let mut own = FxHashMap::default();
        let caller = &self.graph.instances[instance].places;
        let formals = function.inputs.iter().zip(call.arguments).chain(function.outputs.iter().zip(call.returns));
        for (formal, actual) in formals {
            if let (&Formal::Param(formal), &Operand::Symbol(AddressOf::Variable(actual), 0)) = (formal, actual) {
                own.insert(formal, caller.variable(actual));
            }
        }
        let resume = self.push(after(None));
        match self.instance(callee, frame, own, Continuation { next: Some(resume) }, active) {
            Some((callee, entry)) => {
                self.graph.nodes[resume].returned = Some(Returned { statement: number, callee: Some(callee) });
                End::Call { statement: number, callee, entry }
            }
            None => trap,
        }
    }
}

/// Registers that live across nodes of a body: the others are values of one node.
pub fn across_nodes(module: &Module, body: &Body, nodes: &[(u32, u32)], forced: &[Register]) -> Vec<bool> {
    let mut across = vec![false; body.registers.len()];
    for register in forced {
        across[register.0 as usize] = true;
    }
    let mut defined = vec![u32::MAX; body.registers.len()];
    for (number, &(first, last)) in (0..).zip(nodes) {
        for statement in body.statements.get(first as usize..last as usize).unwrap_or_default() {
            uses::each(module, statement, &mut |register, written| {
                let index = register.0 as usize;
                if !written && defined[index] != number {
                    across[index] = true;
                }
            });
            if statement.guard.is_none() {
                uses::each(module, statement, &mut |register, written| {
                    if written {
                        defined[register.0 as usize] = number;
                    }
                });
            }
        }
    }
    across
}
