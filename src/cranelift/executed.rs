//! The number of host instructions that a launch executes. Code counts how often each CLIF block is
//! entered; each block's size is taken from code that does not count.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use warploom_analysis::Launched;
use warploom_engine::{Effort, JitError, Program};
use warploom_ir::Function;

use crate::lower::lower_region;
use crate::{Target, backend, compile, size};

/// A program that counts.
pub struct Counting {
    program: Program,
    blocks: Vec<Counted>,
}

/// The counter and the size of a CLIF block.
struct Counted {
    entered: Box<AtomicU64>,
    /// The number of host instructions, for the host that [`size`] counts for.
    instructions: usize,
}

impl Counting {
    /// Compiles everything at once, for one worker thread.
    ///
    /// [`size::of`] fails, or compiling fails.
    /// As of [`size::of`], or of compiling.
    pub fn new(function: &Function, launch: impl Into<Launched>) -> Result<Counting, JitError> {
        let program = Program::new(function, launch, true, backend())?;
        let (reference, host) = (size::reference()?, Target::host()?);
        let prepared = program.prepared();
        let mut blocks = Vec::new();
        for (number, region) in program.regions().enumerate() {
            let sizes = size::blocks(prepared, region, &reference)?;
            let mut lowered = lower_region(prepared, region, Effort::Full, host);
            for size in sizes {
                let entered = Box::new(AtomicU64::new(0));
                count(&mut lowered.function, size.block, &entered);
                blocks.push(Counted { entered, instructions: size.instructions });
            }
            let object = compile(prepared, region, Effort::Full, lowered)?;
            // SAFETY: the object is the code of this region, which also adds to counters. The
            // counters live as long as the program.
            unsafe { program.install(number, Effort::Full, &object)? };
        }
        Ok(Counting { program, blocks })
    }

    /// The engine to launch with.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the number of host instructions so far, without instructions of helpers.
    pub fn instructions(&self) -> u64 {
        self.blocks
            .iter()
            .map(|block| block.entered.load(Relaxed) * block.instructions as u64)
            .sum()
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
