//! A program whose regions begin in the interpreter.

use std::sync::Arc;

use warploom_runtime::launch::Engine;
use warploom_runtime::warp::{ExitCode, WarpContext};

use crate::Program;

/// A program whose regions are interpreted until their instructions have been executed `rounds`
/// times, on average.
pub struct Deferred {
    pub program: Arc<Program>,
    pub rounds: u64,
}

impl Engine for Deferred {
    fn lanes(&self) -> u32 {
        self.program.lanes()
    }

    fn register_file_bytes(&self) -> usize {
        self.program.register_file_bytes()
    }

    fn outside(&self) -> Option<u64> {
        self.program.outside()
    }

    fn deadlocked(&self, context: &mut WarpContext<'_>) -> Vec<(u64, u64)> {
        self.program.deadlocked(context)
    }

    fn run(&self, context: &mut WarpContext) -> ExitCode {
        self.program.run_after(self.rounds, context)
    }

    fn block_pc(&self, block: u32) -> u64 {
        self.program.block_pc(block)
    }
}
