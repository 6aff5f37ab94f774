//! Assigns cells of the register file to registers. Registers of a single block are values instead.

use super::context::{Cell, Counts};
use super::emit::Kernel;
use super::graph::{Call, End, Graph, Node};
use super::known::KnownOf;
use super::uses;
use crate::module::{Body, Formal, FunctionId, Module, Register, RegisterDecl};
use crate::types::{Kind, Ty};

/// Returns the cells of each instance's registers.
pub fn cells(
    kernel: &Kernel<'_>,
    graph: &Graph,
    known: &KnownOf,
    counts: &mut Counts,
) -> Vec<Vec<Cell>> {
    let module = kernel.module;
    let mut nodes: Vec<Vec<&Node>> = vec![Vec::new(); graph.instances.len()];
    for node in &graph.nodes {
        nodes[node.instance].push(node);
    }
    let mut all = Vec::with_capacity(graph.instances.len());
    for (instance, nodes) in graph.instances.iter().zip(&nodes) {
        let Some(body) = &module.function(instance.function).body else {
            all.push(vec![]);
            continue;
        };
        let forced = forced(module, instance.function, body, nodes);
        let across = across_nodes(module, body, nodes, &forced);
        let known = &known[&instance.function];
        let registers = body.registers.iter().zip(across).zip(0..);
        let cell = |((decl, across), number): ((&RegisterDecl, bool), u32)| {
            cell(decl.ty, across && known.get(Register(number)).is_none(), counts)
        };
        all.push(registers.map(cell).collect());
    }
    all
}

/// Returns a cell for a register of this type.
pub fn cell(ty: Ty, across: bool, counts: &mut Counts) -> Cell {
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

/// Returns the registers that must be in the file, whatever their nodes are.
fn forced(module: &Module, function: FunctionId, body: &Body, nodes: &[&Node]) -> Vec<Register> {
    let function = module.function(function);
    let formals = function.inputs.iter().chain(&function.outputs);
    let mut forced: Vec<Register> = formals
        .filter_map(
            |formal| if let Formal::Reg(register, _) = *formal { Some(register) } else { None },
        )
        .collect();
    let mut add = |statement: u32| {
        uses::each(module, &body.statements[statement as usize], &mut |register, _| {
            forced.push(register)
        });
    };
    for node in nodes {
        // A node of its own writes return values, and lanes that part read the operands that they
        // pass.
        let statement = node.returned.map(|returned| returned.statement);
        let passes = matches!(node.end, End::Barrier { .. } | End::Meet { .. });
        let called =
            node.ending().filter(|&at| passes || Call::of(&body.statements[at as usize]).is_some());
        statement.into_iter().chain(called).for_each(&mut add);
    }
    for node in nodes {
        if let Some(statement) = node.ending() {
            forced.extend(read_at_end(module, body, node, statement));
        }
    }
    forced
}

/// Returns the registers that a node's last statement reads, and that the node has not written
/// whole.
fn read_at_end(module: &Module, body: &Body, node: &Node, statement: u32) -> Vec<Register> {
    let mut read = vec![];
    uses::each(module, &body.statements[statement as usize], &mut |register, _| {
        read.push(register)
    });
    for statement in &body.statements[node.first as usize..node.last as usize] {
        if statement.guard.is_none() {
            uses::each(module, statement, &mut |register, written| {
                if written {
                    read.retain(|&other| other != register);
                }
            });
        }
    }
    read
}

/// Whether each register of a body lives across nodes.
fn across_nodes(module: &Module, body: &Body, nodes: &[&Node], forced: &[Register]) -> Vec<bool> {
    let mut across = vec![false; body.registers.len()];
    for register in forced {
        across[register.0 as usize] = true;
    }
    let mut defined = vec![u32::MAX; body.registers.len()];
    for (number, node) in (0..).zip(nodes) {
        for statement in
            body.statements.get(node.first as usize..node.last as usize).unwrap_or_default()
        {
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
