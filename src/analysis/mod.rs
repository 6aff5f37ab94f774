//! What the JIT wants to know of a function, and the function as it wants to have it.
//!
//! [`optimize`] rebuilds every block: registers are read and written once (`ssa`), equal operations are shared
//! (`editor`), halves of 64-bit values are fused (`fuse`), what no lane can see is dropped (`demand`, `liveness`).
//! `class` says how a value varies over the lanes, `segment` cuts a block into runs that a chunk of lanes may execute
//! by itself, `group` which of these a whole warp may execute at once. The result of `optimize` is ordinary IR with the same meaning: the interpreter runs it as well.

mod bounds;
mod class;
mod demand;
mod early;
mod editor;
mod facts;
mod flow;
mod fuse;
mod group;
mod liveness;
mod loops;
mod segment;
mod ssa;

pub use bounds::{Bound, bound};
pub use class::{CHUNK, Class, Classes, LaunchClass};
pub use editor::{Masks, is_pure};
pub use facts::{Facts, facts};
pub use group::{Condition, Group, groups};
pub use liveness::Liveness;
pub use loops::in_loops;
pub use segment::{Plan, Step, Support};

use crate::ir::{BankId, BlockId, CellKind, Function, Reg, Terminator};
use editor::Editor;

/// A function as the engines of this crate like it.
pub struct Optimized {
    pub function: Function,
    /// Registers that a fresh warp may read before it writes them.
    pub read_first: Vec<Reg>,
}

/// The function with every block rebuilt.
pub fn optimize(function: &Function) -> Optimized {
    let mut blocks: Vec<(Editor, Terminator)> =
        (0..function.blocks.len() as u32).map(|i| ssa::rebuild(function, BlockId(i))).collect();
    let mut exposed: Vec<Reg> = Vec::new();
    let mut result = function.clone();
    // What is dead keeps something else alive in the first round.
    for _ in 0..2 {
        exposed = blocks.iter().flat_map(|(editor, term)| demand::exposed(function, editor, term)).collect();
        let liveness = Liveness::of(&result, &exposed);
        for (index, (editor, term)) in blocks.iter_mut().enumerate() {
            editor.drop_dead_writes(|reg| liveness.live_out(BlockId(index as u32), reg));
            *editor = demand::prune(editor, term);
            let block = &mut result.blocks[index];
            block.insts.clone_from(&editor.insts);
            block.values.clone_from(&editor.values);
            block.term = term.clone();
        }
    }
    for index in 0..result.blocks.len() {
        let insts = std::mem::take(&mut result.blocks[index].insts);
        result.blocks[index].insts = early::write_early(&result, insts);
    }
    let liveness = Liveness::of(&result, &exposed);
    let read_first = registers(&result)
        .filter(|&reg| {
            let bytes = matches!(result.bank(reg.bank).kind, CellKind::Bytes(_));
            reg != result.active && (bytes || liveness.live_in(BlockId(0), reg))
        })
        .collect();
    Optimized { function: result, read_first }
}

fn registers(function: &Function) -> impl Iterator<Item = Reg> + '_ {
    let banks = function.banks.iter().enumerate();
    banks.flat_map(|(bank, decl)| (0..decl.count).map(move |index| BankId(bank as u16).reg(index)))
}
