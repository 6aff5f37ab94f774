//! Counts the instructions that a launch executes, with their exactness.
//!
//! A copy of the kernel counts, in guest memory, how often each of its blocks is left. Engines run
//! the copy as any other function, so that counts agree between engines, and launches without a
//! profile pay nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use warploom_ir::{
    Access, AtomicOp, Block, ConvertOp, Function, Inst, Op, Space, Terminator, TrapKind, Type,
    UnaryOp, Value, ValueType, Window,
};
use warploom_runtime::launch::{Counts, Engine};

use super::guest::instructions;
use super::variant::Variant;
use super::{Arg, Error, Fault, Kernel, LaunchOptions};

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

/// A copy of a kernel for one engine that counts how often each of its blocks is left, and in how
/// many lanes each of its conditions holds. It can be launched any number of times.
pub struct Counted {
    plain: Function,
    engine: Arc<dyn Engine + Send>,
    /// The guest address of the counters, 8 bytes each.
    counters: u64,
    count: usize,
}

impl Counted {
    /// Returns the number of counters: of blocks and of conditions.
    pub fn points(&self) -> usize {
        self.count
    }

    /// Returns the bits of each constant in the kernel's code, some more than once.
    pub fn constants(&self) -> impl Iterator<Item = u64> {
        let insts = self.plain.blocks.iter().flat_map(|block| &block.insts);
        insts.filter_map(|inst| match inst.op {
            Op::Const { bits, .. } => Some(bits),
            _ => None,
        })
    }
}

/// A launch of a [`Counted`] kernel.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CountedLaunch {
    pub fault: Option<Fault>,
    /// Guest instructions, and those of the counting.
    pub counts: Counts,
    /// How often warps left each block of the kernel's function; then the lanes of each condition.
    pub points: Vec<u64>,
}

impl Kernel<'_> {
    /// Makes a copy of the kernel that counts, for launches with these options. The counters lie in
    /// guest memory as long as the program.
    pub fn counted(&self, args: &[Arg], options: &LaunchOptions) -> Result<Counted, Error> {
        self.in_environment(args, options, |translated, _| {
            let plain = translated.plain()?;
            let conditions = conditions(&plain);
            let count = plain.blocks.len() + conditions.iter().map(Vec::len).sum::<usize>();
            let counters = self.program.memory().alloc(8 * count as u64, 8)?;
            let function = counting(&plain, counters, &conditions);
            let engine = Variant::new(function).engine(options)?;
            Ok(Counted { plain, engine, counters, count })
        })
    }

    /// Launches a copy of this kernel that counts. Guest memory changes as by any launch.
    pub fn launch_counted(
        &self,
        counted: &Counted,
        args: &[Arg],
        options: &LaunchOptions,
    ) -> Result<CountedLaunch, Error> {
        self.in_environment(args, options, |translated, environment| {
            let memory = self.program.memory();
            let bytes = 8 * counted.count;
            memory.fill(counted.counters, bytes as u64, 0)?;
            let (outcome, _, assertion) =
                self.run(translated, &*counted.engine, &environment.config, options, None)?;
            let mut counters = vec![0; bytes];
            memory.read(counted.counters, &mut counters)?;
            let points = counters.as_chunks::<8>().0.iter().map(|count| u64::from_le_bytes(*count));
            let fault = outcome.fault;
            Ok(CountedLaunch {
                fault: fault.map(|fault| Fault::new(fault, assertion, self.program, self.id)),
                counts: outcome.counts,
                points: points.collect(),
            })
        })
    }

    /// Runs the kernel as [`Kernel::launch`] does, and counts instructions. Guest memory changes as
    /// by any launch.
    pub fn profile(&self, args: &[Arg], options: &LaunchOptions) -> Result<Vec<Executed>, Error> {
        let executed = self.in_environment(args, options, |translated, environment| {
            let plain = translated.plain()?;
            let memory = self.program.memory();
            let counters = memory.alloc(8 * plain.blocks.len() as u64, 8)?;
            environment.held.push(counters);
            let engine = Variant::new(counting(&plain, counters, &[])).engine(options)?;
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

/// Returns the conditions of each block: the results of comparisons, and of conjunctions of masks.
fn conditions(function: &Function) -> Vec<Vec<Value>> {
    let of_block = |block: &Block| {
        let is_condition = |inst: &&Inst| {
            !matches!(inst.op, Op::RfRead { .. } | Op::Const { .. } | Op::Unary { .. })
        };
        let results = block.insts.iter().filter(is_condition).flat_map(|inst| &inst.results);
        let is_mask = |value: &&Value| block.values[value.0 as usize] == ValueType::MASK;
        results.filter(is_mask).copied().collect()
    };
    function.blocks.iter().map(of_block).collect()
}

/// Returns the function with a counter of eight bytes for each block, from `counters` on, and then
/// for each condition of a block: the number of lanes.
fn counting(function: &Function, counters: u64, conditions: &[Vec<Value>]) -> Function {
    let mut function = function.clone();
    let window = Window::all(function.lanes);
    let mut next = counters + 8 * function.blocks.len() as u64;
    for (number, block) in function.blocks.iter_mut().enumerate() {
        let one = constant(block, window, 1);
        count(block, window, counters + 8 * number as u64, one);
        for &condition in conditions.get(number).into_iter().flatten() {
            let lanes = Op::Convert { op: ConvertOp::FromMask, to: Type::I64, a: condition };
            let lanes = append(block, window, lanes);
            let lanes = append(block, window, Op::Unary { op: UnaryOp::Popcnt, a: lanes });
            count(block, window, next, lanes);
            next += 8;
        }
    }
    function
}

/// Adds a value to a counter.
fn count(block: &mut Block, window: Window, counter: u64, value: Value) {
    let address = constant(block, window, counter);
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
