//! A function that is ready to be compiled: the result of analysis, with all that back ends need to
//! know about it.

use std::sync::{Arc, OnceLock};

use cranelift_entity::PrimaryMap;
use rustc_hash::FxHashSet;
use warploom_analysis::{Execution, Firings, Flow, Launched, Liveness, Optimized, Rules};
use warploom_interp::{InterpError, Interpreter};
use warploom_ir::layout::RegLayout;
use warploom_ir::{BlockId, Function, Op, Reg};

use crate::plan::BlockPlan;
use crate::{Effort, JitError};

/// The largest register file with its spill slots, in bytes.
const MAX_REGISTER_FILE: usize = 1 << 25;

/// A function after analysis, for one class of launches.
pub struct Prepared {
    function: Arc<Function>,
    flow: Flow,
    in_loops: PrimaryMap<BlockId, bool>,
    execution: Execution,
    read_first: Vec<Reg>,
    liveness: Liveness,
    firings: Firings,
    one_worker: bool,
    /// Registers that are written in loops.
    written_in_loops: OnceLock<FxHashSet<Reg>>,
    /// Plans of each block, for quick code and for code made for speed.
    plans: [OnceLock<PrimaryMap<BlockId, BlockPlan>>; 2],
    /// Executes blocks that have no code, and instructions that code leaves to it.
    interpreter: Arc<Interpreter>,
}

impl Prepared {
    /// # Errors
    /// The function does not verify, or its registers are too large.
    pub fn new(
        function: &Function,
        execution: Execution,
        one_worker: bool,
    ) -> Result<Prepared, JitError> {
        let rules = Rules::of_environment()?;
        let Optimized { function, flow, read_first, liveness, firings } =
            warploom_analysis::optimize_by(function, rules).map_err(InterpError::from)?;
        if cfg!(debug_assertions)
            && let Err(problem) = warploom_analysis::verify_normal_form(&function)
        {
            panic!("analysis leaves no normal form: {problem}");
        }
        let function = Arc::new(function);
        let interpreter = Arc::new(Interpreter::new(function.clone())?);
        let in_loops = warploom_analysis::in_loops(&function, &flow);
        Ok(Prepared {
            function,
            flow,
            in_loops,
            execution,
            read_first,
            liveness,
            firings,
            one_worker,
            written_in_loops: OnceLock::new(),
            plans: Default::default(),
            interpreter,
        })
    }

    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Returns the place of each register in the register file. All engines use this layout, since
    /// a warp may go on in another engine.
    pub fn layout(&self) -> &RegLayout {
        self.interpreter.layout()
    }

    /// Returns all that code depends on, except the back end, as text.
    pub fn identity(&self) -> String {
        format!("{:?} {}\n{}", self.execution.launch, self.one_worker, self.function)
    }

    /// The interpreter of this function.
    pub fn interpreter(&self) -> &Arc<Interpreter> {
        &self.interpreter
    }

    /// Returns the launches that code is for.
    pub fn launch(&self) -> Launched {
        self.execution.launch
    }

    /// Returns how often each rule of analysis has rewritten something.
    pub fn firings(&self) -> &Firings {
        &self.firings
    }

    /// Returns whether one worker thread runs all warps, so that no other thread sees memory.
    pub fn one_worker(&self) -> bool {
        self.one_worker
    }

    /// Returns the registers that a fresh warp may read before it writes them.
    pub fn read_first(&self) -> &[Reg] {
        &self.read_first
    }

    pub fn liveness(&self) -> &Liveness {
        &self.liveness
    }

    /// Returns whether control may come back to a block.
    pub fn is_in_loop(&self, block: BlockId) -> bool {
        self.in_loops[block]
    }

    /// Returns the decisions about each block.
    pub fn plans(&self, effort: Effort) -> &PrimaryMap<BlockId, BlockPlan> {
        self.plans[usize::from(effort.is_fast())].get_or_init(|| {
            // Only operations on a whole warp at once rely on facts.
            let facts = effort
                .is_fast()
                .then(|| warploom_analysis::facts(&self.function, &self.flow, self.execution));
            let plan = |index: usize| {
                let facts = facts.as_ref().map(|facts| &facts[index]);
                let id = BlockId(index as u32);
                BlockPlan::of(
                    &self.function,
                    self.layout(),
                    id,
                    self.in_loops[id],
                    self.execution,
                    facts,
                )
            };
            (0..self.function.blocks.len()).map(plan).collect()
        })
    }

    /// Returns the registers that are written in loops.
    pub fn written_in_loops(&self) -> &FxHashSet<Reg> {
        self.written_in_loops.get_or_init(|| {
            let blocks = self.function.blocks.iter().zip(self.in_loops.values());
            let insts = blocks.filter(|&(_, &in_loop)| in_loop).flat_map(|(block, _)| &block.insts);
            insts
                .filter_map(
                    |inst| if let Op::RfWrite { reg, .. } = inst.op { Some(reg) } else { None },
                )
                .collect()
        })
    }

    /// Returns the bytes of the register file that code of these blocks needs.
    ///
    /// # Errors
    /// The register file would be too large.
    pub fn register_bytes(&self, blocks: &[BlockId], effort: Effort) -> Result<u64, JitError> {
        let bytes = self.wanted_register_bytes(blocks, effort);
        self.check_register_file(bytes)?;
        Ok(bytes as u64)
    }

    /// Returns the bytes of the register file that code of these blocks wants, without a limit.
    pub fn wanted_register_bytes(&self, blocks: &[BlockId], effort: Effort) -> usize {
        let plans = self.plans(effort);
        blocks.iter().map(|&block| plans[block].bytes).max().unwrap_or(0)
    }

    /// Returns the bytes of the register file that quick code of any block needs. Warps begin with
    /// a register file of this size.
    ///
    /// # Errors
    /// The register file would be too large.
    pub(crate) fn register_file_bytes(&self) -> Result<usize, JitError> {
        let slots = self.plans(Effort::Quick).values().map(|plan| plan.bytes).max();
        let bytes = slots.unwrap_or(self.layout().bytes() as usize).next_multiple_of(64);
        self.check_register_file(bytes)?;
        Ok(bytes)
    }

    /// Checks the size of a register file.
    ///
    /// # Errors
    /// A register file of so many bytes is too large.
    pub(crate) fn check_register_file(&self, bytes: usize) -> Result<(), JitError> {
        let kernel = || self.function.name.clone();
        let max = MAX_REGISTER_FILE;
        if bytes <= max {
            Ok(())
        } else {
            Err(JitError::RegisterFile { kernel: kernel(), bytes, max })
        }
    }
}
