//! How many host instructions a launch executes: code that counts how often each CLIF block is entered, and the size that
//! each has in the code that does not count.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};

use super::lower::lower_region;
use super::tier::Effort;
use super::{JitError, Program, Target, size};

/// A program that counts.
pub struct Counting {
    program: Program,
    blocks: Vec<Counted>,
}

/// A CLIF block.
struct Counted {
    entered: Box<AtomicU64>,
    /// Host instructions, for the host that [`size`] counts for.
    instructions: usize,
}

impl Counting {
    /// Compiles everything at once. An error as of [`size::of`], or of compiling.
    pub fn new(program: Program) -> Result<Counting, JitError> {
        let (reference, host) = (size::reference()?, Target::host()?);
        let mut blocks = Vec::new();
        for region in 0..program.regions.len() {
            let sizes = size::blocks(&program, region, &reference)?;
            let mut lowered = lower_region(&program, region, Effort::Full, host);
            for size in sizes {
                let entered = Box::new(AtomicU64::new(0));
                count(&mut lowered.function, size.block, &entered);
                blocks.push(Counted { entered, instructions: size.instructions });
            }
            let entry = program.compile(region, Effort::Full, lowered)?;
            let compiled = program.define(region, Effort::Full, &entry)?;
            let _ = program.regions[region].code[Effort::Full as usize].set(Ok(compiled));
        }
        Ok(Counting { program, blocks })
    }

    /// The engine to launch with.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Host instructions so far, without those of helpers.
    pub fn instructions(&self) -> u64 {
        self.blocks.iter().map(|block| block.entered.load(Relaxed) * block.instructions as u64).sum()
    }
}

/// Adds one to the counter whenever the block is entered. Threads may lose counts to each other.
fn count(function: &mut clif::Function, block: clif::Block, counter: &AtomicU64) {
    let mut cursor = FuncCursor::new(function).at_first_insertion_point(block);
    let flags = MemFlagsData::trusted();
    let address = cursor.ins().iconst(types::I64, counter.as_ptr() as i64);
    let before = cursor.ins().load(types::I64, flags, address, 0);
    let after = cursor.ins().iadd_imm_s(before, 1);
    cursor.ins().store(flags, after, address, 0);
}
