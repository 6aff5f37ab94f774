//! Counts the instructions that a launch executes, with their exactness.
//!
//! A copy of the kernel counts, in guest memory, how often each of its blocks is left. Engines run
//! the copy as any other function, so that counts agree between engines, and launches without a
//! profile pay nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use warploom_interp::Interpreter;
use warploom_ir::{
    Access, AtomicOp, Block, Function, Inst, Op, Space, Terminator, TrapKind, Type, Value,
    ValueType, Window,
};
use warploom_runtime::launch::{Counts, Engine};

use super::guest::instructions;
use super::{Arg, EngineKind, Error, Kernel, LaunchOptions};

/// How exactly warploom executes an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FidelityClass {
    Exact,
    /// Approximate, with the bound.
    Approximate(&'static str),
    Unimplemented,
    /// No instruction of the guest.
    Illegal,
}

/// An instruction with its modifiers, such as `MUFU.RCP`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Executed {
    pub mnemonic: String,
    /// How often warps executed it.
    pub count: u64,
    pub class: FidelityClass,
}

impl Kernel<'_> {
    /// Runs the kernel as [`Kernel::launch`] does, and counts instructions. Guest memory changes as
    /// by any launch.
    pub fn profile(&self, args: &[Arg], options: &LaunchOptions) -> Result<Vec<Executed>, Error> {
        let executed = self.in_environment(args, options, |translated, environment| {
            let plain = translated.plain()?;
            let memory = self.program.memory();
            let counters = memory.alloc(8 * plain.blocks.len() as u64, 8)?;
            environment.held.push(counters);
            let function = Arc::new(counting(&plain, counters));
            let engine: Arc<dyn Engine + Send> =
                match options.engine {
                    EngineKind::Interp => Arc::new(Interpreter::new(function)?),
                    EngineKind::Jit => {
                        let program = warploom_engine::Kernel::new(function, super::backend())
                            .program(options.grid, options.block, options.threads);
                        program.map_err(|e| Error::Stage {
                            kernel: plain.name.clone(),
                            stage: "profile".into(),
                            problem: e.to_string(),
                        })?
                    }
                };
            self.run(translated, &*engine, &environment.config, options, None)?;
            let mut executed = BTreeMap::<(String, FidelityClass), u64>::new();
            for (block, i) in plain.blocks.iter().zip(0..) {
                let mut count = [0; 8];
                memory.read(counters + 8 * i, &mut count)?;
                let count = u64::from_le_bytes(count);
                if count == 0 {
                    continue;
                }
                // The instruction that a block traps at is not executed, even if only an operand or
                // a modifier is unimplemented.
                let trapped =
                    matches!(block.term, Terminator::Trap { kind: TrapKind::Unimplemented, .. });
                let placed =
                    instructions(self.program.guest(), translated.code(), block.pc, block.cost);
                for (placed, n) in placed.zip(1..) {
                    let last = trapped && n == block.cost;
                    let class = if last { FidelityClass::Unimplemented } else { placed.class };
                    *executed.entry((placed.mnemonic, class)).or_insert(0) += count;
                }
            }
            Ok(executed)
        })?;
        let entry = |((mnemonic, class), count)| Executed { mnemonic, count, class };
        let mut executed: Vec<Executed> = executed.into_iter().map(entry).collect();
        executed.sort_by_key(|e| std::cmp::Reverse(e.count));
        Ok(executed)
    }

    /// Runs the kernel by the JIT in one thread, and counts the host instructions that its code
    /// executes, as compiled for an x86-64 host with AVX2 and FMA. Instructions of helpers are not
    /// counted. Also returns a launch's counts, up to a fault if there is one.
    pub fn host_instructions(
        &self,
        args: &[Arg],
        options: &LaunchOptions,
    ) -> Result<(u64, Counts), Error> {
        let options = LaunchOptions { threads: 1, ..options.clone() };
        self.in_environment(args, &options, |translated, environment| {
            let counting = translated.counting(options.shape())?;
            let (outcome, ..) =
                self.run(translated, counting.program(), &environment.config, &options, None)?;
            Ok((counting.instructions(), outcome.counts))
        })
    }
}

/// Returns the function with a counter of eight bytes for each block, from `counters` on.
fn counting(function: &Function, counters: u64) -> Function {
    let mut function = function.clone();
    let window = Window::all(function.lanes);
    for (block, i) in function.blocks.iter_mut().zip(0..) {
        let address = constant(block, window, counters + 8 * i);
        let value = constant(block, window, 1);
        let access = Access {
            space: Space::Global,
            ty: Type::I64,
            count: 1,
            align: 8,
            address,
            offset: 0,
            guard: None,
            nomask: false,
        };
        let add = Op::Atomic { access, op: AtomicOp::Add, value, compare: None, sparse: false };
        append(block, window, add);
    }
    function
}

fn constant(block: &mut Block, window: Window, bits: u64) -> Value {
    append(block, window, Op::Const { ty: Type::I64, bits })
}

/// Adds an operation with one uniform `i64` result.
fn append(block: &mut Block, window: Window, op: Op) -> Value {
    let value = Value(block.values.len() as u32);
    block.values.push(ValueType::uniform(Type::I64));
    block.insts.push(Inst { op, results: smallvec::smallvec![value], window, pc: block.pc });
    value
}
