//! The reference engine: executes a function operation by operation, one warp at a time.
//!
//! [`Interpreter`] is a complete engine. [`run_insts`] executes a part of a block for the JIT. Both
//! follow the documentation of [`warploom_ir::op`] to the letter, and define its meaning. `exec`
//! executes one operation, `memory` the memory operations, and `run` walks the blocks. Arithmetic
//! is in [`warploom_ir::eval`].

mod exec;
mod memory;
mod regions;
mod run;
mod sample;
mod values;
mod wide;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use exec::Executor;
pub use memory::{Actor, Elements, atomic_element, extended, load_elements, store_elements};
use warploom_ir::layout::{LayoutError, RegLayout};
use warploom_ir::verify::{self, VerifyError};
use warploom_ir::{BlockId, Function, Inst, Op, Special, Terminator, Value};
use warploom_runtime::launch::Engine;
use warploom_runtime::warp::{ExitCode, WarpContext};

/// The reason why a function cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InterpError {
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// The reference engine for one function.
#[derive(Debug)]
pub struct Interpreter {
    function: Arc<Function>,
    layout: RegLayout,
    /// Blocks that an indirect jump may go to, by pc.
    indirect: HashMap<u64, BlockId>,
    /// Whether the function reads the clock.
    is_timed: bool,
}

impl Interpreter {
    pub fn new(function: Arc<Function>) -> Result<Self, InterpError> {
        verify::verify(&function)?;
        let layout = RegLayout::new(&function)?;
        let indirect = function.indirect_targets().collect();
        let is_clock = |inst: &Inst| matches!(inst.op, Op::Special(Special::Clock));
        let is_timed = function.blocks.iter().any(|block| block.insts.iter().any(is_clock));
        Ok(Interpreter { function, layout, indirect, is_timed })
    }

    pub fn function(&self) -> &Function {
        &self.function
    }

    pub fn layout(&self) -> &RegLayout {
        &self.layout
    }

    /// Runs a warp to the end of its turn, or to the first block that `stays` refuses. In that case
    /// it returns `None`, and the context names the block. `stays` is called for each block that
    /// control comes to, with the number of instructions executed in all.
    pub fn run_while(
        &self,
        context: &mut WarpContext,
        stays: impl FnMut(BlockId, u64) -> bool,
    ) -> Option<ExitCode> {
        run::run_while(self, context, stays)
    }

    /// Returns the block that an indirect jump to this pc goes to.
    pub fn indirect_target(&self, pc: u64) -> Option<BlockId> {
        self.indirect.get(&pc).copied()
    }
}

impl Engine for Interpreter {
    fn lanes(&self) -> u32 {
        self.function.lanes.into()
    }

    fn register_file_bytes(&self) -> usize {
        self.layout.bytes() as usize
    }

    fn run(&self, context: &mut WarpContext) -> ExitCode {
        self.run_while(context, |_, _| true).expect("the warp stays in the function")
    }

    fn block_pc(&self, block: u32) -> u64 {
        self.function.blocks.get(block as usize).map_or(0, |block| block.pc)
    }

    fn outside(&self) -> Option<u64> {
        (!self.is_timed).then_some(0)
    }

    fn deadlocked(&self, context: &mut WarpContext<'_>) -> Vec<(u64, u64)> {
        let block = self.function.blocks.get(context.resume as usize);
        let Some(Terminator::Deadlock { waiting }) = block.map(|block| &block.term) else {
            return Vec::new();
        };
        let registers = context.registers();
        let lanes = |reg| {
            let at = self.layout.offset(reg) as usize;
            registers[at..].first_chunk().map_or(0, |cell| u64::from_le_bytes(*cell))
        };
        waiting.iter().map(|&(reg, pc)| (lanes(reg), pc)).filter(|&(lanes, _)| lanes != 0).collect()
    }
}

/// A value that crosses the boundary of a part of a block. It lies in the register file at
/// `offset`, as a lane row or in 8 bytes, as [`RegLayout::append_value`] reserves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub value: Value,
    pub offset: u32,
}

/// Executes the instructions `range` of a block of a verified function.
///
/// `live_in` holds every value that the instructions use and do not define. Values of `live_out`
/// are stored at the end. On a fault, the record is in the context, as if the whole block had run
/// here, and the result is [`ExitCode::Fault`].
pub fn run_insts(
    function: &Function,
    layout: &RegLayout,
    context: &mut WarpContext,
    block: BlockId,
    range: Range<usize>,
    live_in: &[Slot],
    live_out: &[Slot],
) -> Result<(), ExitCode> {
    let block = function.block(block);
    let insts = &block.insts[range];
    // Neighbours with equal pc are one guest instruction.
    context.interp_instructions += insts.chunk_by(|a, b| a.pc == b.pc).count() as u64;
    values::with_values(|values| {
        let mut executor = Executor::new(function, layout, context, values);
        executor.enter(block);
        live_in.iter().for_each(|slot| executor.fill(*slot));
        insts.iter().try_for_each(|inst| executor.execute(inst))?;
        live_out.iter().for_each(|slot| executor.spill(*slot));
        Ok(())
    })
}
