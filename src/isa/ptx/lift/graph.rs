//! The control flow of a kernel: nodes of consecutive statements, cut at labels and at what ends a block.

use rustc_hash::FxHashSet;
use warploom_ir::Service;

use super::VariableAddresses;
use super::call_graph::CallGraph;
use super::inline::Builder;
use crate::module::{Body, FunctionId, Module, Operand, Statement};

/// A function in the place of one call, or one that is called from several places, or the kernel.
#[derive(Clone, Debug)]
pub struct Instance {
    pub function: FunctionId,
    pub places: VariableAddresses,
    /// The function with a frame that it is part of; none in what the kernel itself executes.
    pub outline: Option<usize>,
    /// Whether it takes stack, which is its own.
    pub takes_stack: bool,
}

/// A function that has a frame of local memory for each activation, and goes back to where its caller has said.
#[derive(Clone, Debug)]
pub struct Outline {
    pub instance: usize,
    /// Its first node.
    pub entry: usize,
    /// Bytes of its frame, with those of the functions that are put into it.
    pub frame_bytes: u64,
    /// Where its callers go on: lanes know the number.
    pub sites: Vec<usize>,
}

/// Consecutive statements of an instance, and what comes after.
#[derive(Clone, Debug)]
pub struct Node {
    pub instance: usize,
    /// Where the first statement, or what ends it, stands in the text.
    pub at: u32,
    /// Values that something gave, which are moved first.
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
    /// The same of a function with frames; `site` is its number among the callers.
    Enter {
        statement: u32,
        outline: usize,
        site: usize,
    },
    /// Lanes go to the function that a register names.
    Indirect {
        statement: u32,
        targets: Vec<(FunctionId, usize)>,
    },
    /// From a function with frames.
    Return {
        outline: usize,
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
    /// `apart`: where lanes go on that have come to the barrier one after the other.
    Barrier {
        statement: u32,
        next: usize,
        apart: usize,
    },
    /// Lanes that a statement of the warp names come together: at once at `next`, before it, else at `apart`, behind it.
    Meet {
        statement: u32,
        next: usize,
        apart: usize,
    },
    /// What is not executed.
    Trap {
        statement: u32,
    },
}

/// Values to move: those of a statement, and what has given them.
#[derive(Clone, Copy, Debug)]
pub struct Returned {
    pub statement: u32,
    pub from: Giver,
}

#[derive(Clone, Copy, Debug)]
pub enum Giver {
    /// A function in the place of its call.
    Instance(usize),
    Outline(usize),
    Host,
    Barrier,
    /// What lanes of the warp did that came from different places.
    Meeting,
}

/// The statements at which lanes of a warp may have to wait for each other.
pub type Meetings = FxHashSet<(FunctionId, u32)>;

/// All nodes of a kernel; it begins with the first.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub instances: Vec<Instance>,
    pub outlines: Vec<Outline>,
    pub nodes: Vec<Node>,
    /// Bytes of local memory that a lane needs but for frames of outlines.
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
            [Operand::List(returns), callee, Operand::List(arguments), ..] => {
                Some(Call { returns, callee, arguments })
            }
            _ => None,
        }
    }
}

impl Node {
    /// Instructions that are counted.
    pub fn cost(&self) -> u32 {
        let ends = self.ending().is_some() && !matches!(self.end, End::Meet { .. });
        self.last - self.first + u32::from(ends)
    }

    /// The statement that ends a node.
    pub fn ending(&self) -> Option<u32> {
        match self.end {
            End::Split { statement, .. }
            | End::Table { statement, .. }
            | End::Call { statement, .. }
            | End::Enter { statement, .. }
            | End::Indirect { statement, .. }
            | End::Service { statement, .. }
            | End::Barrier { statement, .. }
            | End::Meet { statement, .. }
            | End::Trap { statement }
            | End::Exit { statement: Some(statement), .. } => Some(statement),
            End::Jump(_) | End::Return { .. } | End::Exit { statement: None, .. } => None,
        }
    }
}

impl Graph {
    /// The nodes of a kernel. `places` are the addresses that do not depend on calls.
    pub fn new(
        module: &Module,
        kernel: FunctionId,
        places: &VariableAddresses,
        calls: &CallGraph,
        meetings: &Meetings,
    ) -> Graph {
        let mut graph = Graph::default();
        Builder::new(module, places, calls, meetings, &mut graph).kernel(kernel);
        graph
    }

    pub fn body<'m>(&self, module: &'m Module, node: &Node) -> &'m Body {
        let function = module.function(self.instances[node.instance].function);
        function.body.as_ref().expect("an instance has a body")
    }

    /// Whether any function takes stack.
    pub fn takes_stack(&self) -> bool {
        self.instances.iter().any(|instance| instance.takes_stack)
    }

    /// Where lanes may go from a node, in the order of the text as far as it has one.
    pub fn successors(&self, node: usize) -> Vec<usize> {
        match &self.nodes[node].end {
            End::Jump(next) | End::Service { next, .. } => vec![*next],
            End::Barrier { next, apart, .. } | End::Meet { next, apart, .. } if next == apart => {
                vec![*next]
            }
            End::Barrier { next, apart, .. } | End::Meet { next, apart, .. } => vec![*next, *apart],
            End::Split { taken, next, .. } => vec![*next, *taken],
            End::Table { targets, .. } => targets.clone(),
            End::Indirect { targets, .. } => targets.iter().map(|&(_, node)| node).collect(),
            End::Call { entry, .. } => vec![*entry],
            End::Enter { outline, .. } => vec![self.outlines[*outline].entry],
            End::Return { outline } => self.outlines[*outline].sites.clone(),
            End::Exit { next, .. } => next.iter().copied().collect(),
            End::Trap { .. } => vec![],
        }
    }
}
