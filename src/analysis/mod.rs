//! What the JIT wants to know of a function, and the function as it wants to have it.
//!
//! [`optimize`] rebuilds every block: registers are read and written once (`ssa`), equal operations are shared
//! (`editor`), halves of 64-bit values are fused (`fuse`), what no lane can see is dropped (`demand`, `liveness`).
//! `class` says how a value varies over the lanes, `segment` cuts a block into runs that a chunk of lanes may execute
//! by itself. The result of `optimize` is ordinary IR with the same meaning: the interpreter runs it as well.

mod class;
mod demand;
mod editor;
mod fuse;
mod liveness;
mod segment;
mod ssa;

pub use class::{CHUNK, Class, Classes, LaunchClass};
pub use editor::{Masks, is_pure};
pub use liveness::Liveness;
pub use segment::{Plan, Step, Support};

use crate::ir::{Block, BlockId, Function};

/// The function with every block rebuilt.
pub fn optimize(function: &Function) -> Function {
    let liveness = Liveness::of(function);
    let blocks = (0..function.blocks.len() as u32)
        .map(|i| {
            let block = &function.blocks[i as usize];
            let (editor, mut term) = ssa::rebuild(function, BlockId(i), &liveness);
            let editor = demand::prune(&editor, &mut term);
            let editor = demand::prune(&editor, &mut term);
            Block {
                pc: block.pc,
                cost: block.cost,
                indirect_target: block.indirect_target,
                join: block.join,
                insts: editor.insts,
                values: editor.values,
                term,
            }
        })
        .collect();
    Function {
        name: function.name.clone(),
        lanes: function.lanes,
        banks: function.banks.clone(),
        active: function.active,
        nan: function.nan,
        blocks,
    }
}
