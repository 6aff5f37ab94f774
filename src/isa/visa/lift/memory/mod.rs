//! Messages that read and write memory without a format: SVM (`svm`), surfaces (`old`), LSC (`lsc`)
//! and fences.
//!
//! A message becomes ordinary accesses of the lanes, with one address for each lane. `item`
//! describes elements in memory and in registers, and `place` the memory that addresses are
//! relative to. `lanes` moves elements of lanes, `block` consecutive elements of memory. `atomic`
//! has the operations. Source: facts, `visa-semantics.md` 7.

mod atomic;
mod block;
mod fence;
mod item;
mod lanes;
mod lsc;
mod lsc_block;
mod old;
mod place;
mod svm;

pub use atomic::Operation;
pub use fence::*;
pub use item::Item;
pub use lsc::*;
pub use lsc_block::*;
pub use old::*;
pub use place::{narrowed, one_lane};
pub use svm::*;

use self::item::integer;
use self::place::{MessageTarget, Target};
use super::{Cx, Unsupported, surface};
use crate::instruction::{Instruction, Operand, Raw};
use crate::predefined;

/// Performs an operation on the elements at the addresses of lanes.
fn atomic_message(
    cx: &mut Cx<'_>,
    place: MessageTarget,
    operation: Operation,
    item: Item,
    sources: [Raw; 2],
    dst: Raw,
) {
    place.target.check(cx);
    let register = integer(item.register);
    let sources = sources.map(|source| cx.raw(source, 0, register));
    let old = place.in_lanes(cx, |cx, place| {
        let access = place.access(cx, operation.cell, 1);
        vec![operation.perform(cx, access, sources, register)]
    });
    cx.set_raw(dst, 0, old[0]);
}

/// Returns the memory that the `n`th operand, a surface, stands for.
fn surface_of(cx: &mut Cx<'_>, i: &Instruction, n: usize) -> Result<Target, Unsupported> {
    let Some(&Operand::Surface(id)) = i.operands.get(n) else { return Err(Unsupported) };
    Ok(match id {
        predefined::SLM => Target::Slm,
        predefined::SCRATCH => Target::Scratch,
        _ => Target::Surface(surface::of_variable(cx, id)),
    })
}
