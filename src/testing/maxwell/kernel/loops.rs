//! Loops of instructions of the table, each with the code that sets up its addresses. No
//! instruction faults.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use warploom::Effort;
use warploom_maxwell::{Opcode, Row};

use super::{COUNTER, Family, WORD, Writer, directives, end, launch, rows};
use crate::case::Case;
use crate::loops::{Guest, LIMIT, THREADS};
use crate::program::Node;

/// The rows without control flow, graphics and the driver's functions.
static ROWS: LazyLock<Vec<&'static Row>> = LazyLock::new(|| {
    use Opcode::{BarRed, BarSync, Ldc, Ldl, Stl};
    rows(|opcode| {
        Family::of(opcode) != Family::Other || matches!(opcode, BarRed | BarSync | Ldc | Ldl | Stl)
    })
});

/// The guest Maxwell.
pub const GUEST: Guest = Guest {
    name: "maxwell",
    targets: 1,
    rows: || ROWS.len(),
    instruction,
    looped,
    warps: |_| THREADS.div_ceil(32),
    longest: 20_000,
};

fn writer<'a, 'b>(u: &'a mut Unstructured<'b>, only: Option<&'static Row>) -> Writer<'a, 'b> {
    let (independent, stage) = (false, None);
    Writer { u, independent, labels: 0, nodes: 0, functions: 0, first_function: 0, stage, only }
}

fn instruction(u: &mut Unstructured<'_>, _: usize, row: usize) -> Result<Option<Node>> {
    let row = ROWS[row];
    let mut writer = writer(u, Some(row));
    let node = match Family::of(row.opcode) {
        Family::Plain => writer.plain()?,
        Family::Global => writer.global()?,
        Family::Shared => writer.shared()?,
        Family::Surface => writer.surface()?,
        Family::Texture => writer.texture()?,
        Family::Other if matches!(row.opcode, Opcode::BarRed | Opcode::BarSync) => {
            writer.barrier()?
        }
        Family::Other => writer.local()?,
    };
    Ok(Some(node).filter(|node| node.last_line() != "NOP"))
}

fn looped(
    u: &mut Unstructured<'_>,
    _: usize,
    mut nodes: Vec<Node>,
    rounds: u32,
    again: bool,
) -> Result<Case> {
    let start = writer(u, None).start(true)?;
    if again {
        nodes.insert(0, Node::lines(&start));
    }
    let open = [format!("MOV R{COUNTER}, RZ"), ".Lround:".into()];
    let close = [
        format!("IADD32I R{COUNTER}, R{COUNTER}, 0x1"),
        format!("ISETP.LT.U32.AND P6, PT, R{COUNTER}, c[0x0][{WORD:#x}], PT"),
        "@P6 BRA .Lround".into(),
    ];
    Ok(Case {
        manifest: launch(1, [THREADS, 1, 1], LIMIT, [rounds, 0x3fc0_0000], 1),
        head: [directives(), start].concat(),
        body: vec![Node::around(open, nodes, close)],
        tail: end(),
        functions: vec![],
        independent: false,
        effort: Effort::Full,
        ze_info: None,
    })
}
