//! Loops of instructions of the table, each with the code that sets up its addresses. No
//! instruction faults.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use warploom::Effort;
use warploom_turing::table::Row;
use warploom_turing::{Opcode, table};

use super::{COUNTER, Family, MODELS, OWN_PREDICATE, WORD, Writer};
use crate::case::Case;
use crate::loops::{Guest, LIMIT, THREADS};
use crate::maxwell::launch;
use crate::program::Node;

/// The rows without control flow and the driver's functions.
static ROWS: LazyLock<Vec<&'static Row>> = LazyLock::new(|| {
    use Opcode::{Bar, Ldc, Ldl, Stl};
    let wanted = |row: &&Row| {
        row.lift.is_some()
            && (Family::of(row.opcode) != Family::Other
                || matches!(row.opcode, Bar | Ldc | Ldl | Stl))
    };
    table::TABLE.rows().filter(wanted).collect()
});

/// Turing, Ampere and Ada.
pub const GUEST: Guest = Guest {
    name: "turing",
    targets: MODELS.len(),
    rows: || ROWS.len(),
    instruction,
    looped,
    warps: |_| THREADS.div_ceil(32),
    longest: 20_000,
};

fn writer<'a, 'b>(
    u: &'a mut Unstructured<'b>,
    target: usize,
    only: Option<&'static Row>,
) -> Writer<'a, 'b> {
    let independent = false;
    Writer { u, target, independent, labels: 0, nodes: 0, functions: 0, first_function: 0, only }
}

fn instruction(u: &mut Unstructured<'_>, target: usize, row: usize) -> Result<Option<Node>> {
    let row = ROWS[row];
    if !row.models.contain(MODELS[target]) {
        return Ok(None);
    }
    let mut writer = writer(u, target, Some(row));
    let node = match Family::of(row.opcode) {
        Family::Plain => writer.plain()?,
        Family::Matrix => writer.matrices()?,
        Family::Global => writer.global()?,
        Family::Shared => writer.shared()?,
        Family::Copy => writer.copy()?,
        Family::Surface => writer.surface()?,
        Family::Texture => writer.texture()?,
        Family::Other if row.opcode == Opcode::Bar => writer.barrier()?,
        Family::Other => writer.local()?,
    };
    Ok(Some(node).filter(|node| node.last_line() != "NOP"))
}

fn looped(
    u: &mut Unstructured<'_>,
    target: usize,
    mut nodes: Vec<Node>,
    rounds: u32,
    again: bool,
) -> Result<Case> {
    let mut writer = writer(u, target, None);
    let start = writer.start(true)?;
    if again {
        nodes.insert(0, Node::lines(&start));
    }
    let open = [format!("MOV R{COUNTER}, RZ"), ".Lround:".into()];
    let close = [
        format!("IADD3 R{COUNTER}, R{COUNTER}, 0x1, RZ"),
        format!("ISETP.LT.U32.AND {OWN_PREDICATE}, PT, R{COUNTER}, c[0x0][{WORD:#x}], PT"),
        format!("@{OWN_PREDICATE} BRA .Lround"),
    ];
    Ok(Case {
        manifest: launch(1, [THREADS, 1, 1], LIMIT, [rounds, 0x3fc0_0000], 1),
        head: [writer.directives(), start].concat(),
        body: vec![Node::around(open, nodes, close)],
        tail: writer.end(),
        functions: vec![],
        independent: false,
        effort: Effort::Full,
        ze_info: None,
    })
}
