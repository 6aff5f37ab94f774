//! Loops of instructions of the table, each with the code that sets up its addresses. No
//! instruction faults.

use arbitrary::{Result, Unstructured};
use warploom_guest::platform::Platform;

use super::forms::FORMS;
use super::kernel::{of_shape, writer};
use super::variables::{self, UNIFORM};
use crate::case::Case;
use crate::loops::{Guest, THREADS, given};
use crate::program::Node;

const TARGETS: [(Platform, u32); 4] =
    [(Platform::Dg2, 16), (Platform::Pvc, 32), (Platform::Bmg, 16), (Platform::Skl, 8)];
/// The number of kinds of statements besides the opcodes of [`FORMS`]. Each kind stands for many
/// statements.
const KINDS: usize = 6;
const OF_EACH: usize = 24;

/// The guest vISA, without control flow.
pub const GUEST: Guest = Guest {
    name: "visa",
    targets: TARGETS.len(),
    rows: || FORMS.len() + KINDS * OF_EACH,
    instruction,
    looped,
    warps: |target| THREADS.div_ceil(TARGETS[target].1),
    longest: 20_000,
};

fn instruction(u: &mut Unstructured<'_>, target: usize, row: usize) -> Result<Option<Node>> {
    let mut writer = writer(u, TARGETS[target], false);
    Ok(Some(match FORMS.get(row) {
        Some(form) => writer.of_form(form)?,
        None => match row % KINDS {
            0 => writer.on_predicates()?,
            1 => writer.addresses()?,
            2 => writer.image()?,
            3 => writer.special()?,
            _ => writer.message()?,
        },
    }))
}

fn looped(
    u: &mut Unstructured<'_>,
    target: usize,
    nodes: Vec<Node>,
    rounds: u32,
    again: bool,
) -> Result<Case> {
    let (platform, lanes) = TARGETS[target];
    let writer = writer(u, (platform, lanes), false);
    of_shape(writer, platform, &given(rounds), &mut |writer| {
        let start =
            if again { variables::start(writer.u, writer.lanes, writer.register)? } else { vec![] };
        let nodes = [vec![Node::lines(start)], nodes.clone()].concat();
        let open = ["mov (M1_NM, 1) K4ud(0,0)<1> 0x0:ud", "ROUND:"];
        let close = [
            "add (M1_NM, 1) K4ud(0,0)<1> K4ud(0,0)<0;1,0> 0x1:ud".to_owned(),
            format!("cmp.lt (M1_NM, 1) {UNIFORM} K4ud(0,0)<0;1,0> WORDud(0,0)<0;1,0>"),
            format!("({UNIFORM}) jmp (M1, 1) ROUND"),
        ];
        Ok(vec![Node::around(open, nodes, close)])
    })
}
