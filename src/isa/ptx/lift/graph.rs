//! The control flow of a kernel: nodes of consecutive statements, cut at labels and at statements
//! that end a block.

use rustc_hash::FxHashSet;
use warploom_ir::Service;

use super::VariableAddresses;
use super::call_graph::CallGraph;
use super::inline::Builder;
use crate::module::{Body, FunctionId, Module, Operand, Statement};

/// The kernel, a function inlined at one call, or a function that is called from several places.
#[derive(Clone, Debug)]
pub struct Instance {
    pub function: FunctionId,
    pub places: VariableAddresses,
    /// The outlined function that this instance is part of; `None` for code of the kernel itself.
    pub outline: Option<usize>,
    /// Whether it takes stack, which is its own.
    pub takes_stack: bool,
}

/// A function with a frame of local memory for each activation. It returns to the place that its
/// caller has set.
#[derive(Clone, Debug)]
pub struct Outline {
    pub instance: usize,
    /// Its first node.
    pub entry: usize,
    /// Bytes of its frame, including the frames of functions inlined into it.
    pub frame_bytes: u64,
    /// The nodes where its callers go on; lanes hold an index of this list.
    pub sites: Vec<usize>,
}

/// Consecutive statements of an instance, and their continuation.
#[derive(Clone, Debug)]
pub struct Node {
    pub instance: usize,
    /// The place in the text of the first statement, or of the statement that ends the node.
    pub at: u32,
    /// Results of an earlier statement, which are moved first.
    pub returned: Option<Returned>,
    /// Ordinary statements, by their numbers in the body; the last is exclusive.
    pub first: u32,
    pub last: u32,
    pub end: End,
}

/// The end of a node. Statements are numbers in the instance's body.
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
    /// Moves arguments to the callee's parameters; then the callee runs.
    Call {
        statement: u32,
        callee: usize,
        entry: usize,
    },
    /// Calls a function with frames; `site` is its index among the callers.
    Enter {
        statement: u32,
        outline: usize,
        site: usize,
    },
    /// Lanes go to the function that a register holds.
    Indirect {
        statement: u32,
        targets: Vec<(FunctionId, usize)>,
    },
    /// Returns from a function with frames.
    Return {
        outline: usize,
    },
    /// Calls a function of the host.
    Service {
        statement: u32,
        service: Service,
        next: usize,
    },
    /// Lanes exit; lanes for which the statement's guard does not hold go on.
    Exit {
        statement: Option<u32>,
        next: Option<usize>,
    },
    /// A barrier of the block. `apart` is where lanes go on that reached it at different times.
    Barrier {
        statement: u32,
        next: usize,
        apart: usize,
    },
    /// Lanes that a statement of the warp names come together: at `next`, before it, if all are
    /// there at once; else at `apart`, behind it.
    Meet {
        statement: u32,
        next: usize,
        apart: usize,
    },
    /// A statement that is not executed.
    Trap {
        statement: u32,
    },
}

/// Results to move: the statement, and the giver of its values.
#[derive(Clone, Copy, Debug)]
pub struct Returned {
    pub statement: u32,
    pub from: Giver,
}

#[derive(Clone, Copy, Debug)]
pub enum Giver {
    /// A function inlined at its call.
    Instance(usize),
    Outline(usize),
    Host,
    Barrier,
    /// The statement of the warp that lanes from different places executed together.
    Meeting,
}

/// The statements at which lanes of a warp may have to wait for each other.
pub type Meetings = FxHashSet<(FunctionId, u32)>;

/// All nodes of a kernel, which begins with the first.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub instances: Vec<Instance>,
    pub outlines: Vec<Outline>,
    pub nodes: Vec<Node>,
    /// Bytes of local memory that a lane needs, without frames of outlines.
    pub local_bytes: u64,
}

/// The operands of a call.
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
    /// Returns the number of instructions that are counted.
    pub fn cost(&self) -> u32 {
        let ends = self.ending().is_some() && !matches!(self.end, End::Meet { .. });
        self.last - self.first + u32::from(ends)
    }

    /// Returns the statement that ends a node.
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
    /// Builds the nodes of a kernel. `places` are the addresses that do not depend on calls.
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

    /// Returns the nodes that lanes may go to from a node, in the order of the text where it has
    /// one.
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
