//! Loops of instructions of the table, each with the code that sets up its addresses. No
//! instruction faults.

use arbitrary::{Result, Unstructured};

use super::kernel::{CHOSEN, CONDITION, GpuAndVersion, of_shape, writer};
use super::statement::ANYWHERE;
use crate::case::Case;
use crate::loops::{Guest, THREADS, given};
use crate::program::Node;

/// The latest target of each kind, a target as old as code still is, and one of the first targets.
const TARGETS: [GpuAndVersion; 4] =
    [(90, Some('a'), (8, 8)), (100, Some('a'), (9, 2)), (75, None, (7, 5)), (35, None, (4, 3))];

/// The guest PTX, without control flow.
pub const GUEST: Guest = Guest {
    name: "ptx",
    targets: TARGETS.len(),
    // The last row is of barriers.
    rows: || ANYWHERE.len() + 1,
    instruction,
    looped,
    warps: |_| THREADS.div_ceil(32),
    longest: 20_000,
};

fn instruction(u: &mut Unstructured<'_>, target: usize, row: usize) -> Result<Option<Node>> {
    let mut writer = writer(u, TARGETS[target], false);
    writer.steady = true;
    match ANYWHERE.get(row) {
        Some(opcode) => writer.of_opcode(opcode, false),
        None => writer.barrier().map(Some),
    }
}

fn looped(
    u: &mut Unstructured<'_>,
    target: usize,
    nodes: Vec<Node>,
    rounds: u32,
    again: bool,
) -> Result<Case> {
    let mut writer = writer(u, TARGETS[target], false);
    writer.steady = true;
    of_shape(writer, &given(rounds), &mut |writer| {
        let start = if again { writer.start()? } else { vec![] };
        let nodes = [vec![Node::lines(start)], nodes.clone()].concat();
        let open = ["mov.u32 %k0, 0;", "ROUND:"];
        let close = [
            format!("ld.param.b32 {CHOSEN}, [p_word];"),
            "add.u32 %k0, %k0, 1;".into(),
            format!("setp.lt.u32 {CONDITION}, %k0, {CHOSEN};"),
            format!("@{CONDITION} bra ROUND;"),
        ];
        Ok(vec![Node::around(open, nodes, close)])
    })
}
