//! Runs one function on every engine: memory, registers, counts and faults must be equal.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use warploom::Printed;
use warploom::services::{Heap, Serving};
use warploom_analysis::{Firings, Launched, Rules, rewrite_function};
use warploom_engine::{Deferred, Effort, JitError, Program};
use warploom_interp::Interpreter;
use warploom_ir::{BankId, CellKind, Function, Op, Reg};
use warploom_replay::manifest::{Arg, Buffer};
use warploom_runtime::launch::{ConstBank, Engine, Fault, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, PAGE_BYTES};
use warploom_runtime::warp::SERVICE_BYTES;

use super::case;
use super::check::Reproducer;
use super::format::FORMATS;
use super::guarded::Guarded;
use super::instrument::{self, Buffers};
use crate::ir::{Limits, Source};

/// Block shapes of all launch classes: one warp, a short last warp, one lane, multiples of the warp
/// and of the chunk, and other shapes.
pub const BLOCKS: [[u32; 3]; 7] =
    [[32, 1, 1], [48, 1, 1], [80, 1, 1], [1, 1, 1], [64, 2, 1], [8, 5, 1], [5, 3, 2]];

/// The guest memory that functions work on. Its address is at 0 of constant bank 0.
pub const BUFFER: u64 = 0x10_0000_0000;
pub const BUFFER_BYTES: u32 = 4096;
/// The offset of the formats for printing in the buffer.
pub const FORMATS_AT: u32 = BUFFER_BYTES - FORMATS.len() as u32;
/// Bytes of room for printed text.
const PRINTED_BYTES: usize = 4096;
pub const SHARED_BYTES: u32 = 1024;
pub const LOCAL_BYTES: u32 = 256;
const REGISTERS_IN: u64 = 0x20_0000_0000;
const REGISTERS_OUT: u64 = 0x21_0000_0000;

/// The number of instructions after which a launch is stopped, by a fault that is equal on all
/// engines.
const INSTRUCTIONS: u64 = 400;
/// The limit of [`compare_rewritten`]. Its loops end before the limit.
const LONG: u64 = 1 << 16;
const BACK_EDGES: u64 = 5;
/// The most bytes of registers of all warps of a block. A test with more registers is not worth its
/// time.
const MAX_REGISTER_BYTES: u64 = 1 << 19;
const BLOCKS_OF_GRID: u32 = 2;

/// Returns the environment of [`compare`], for [`crate::ir`].
pub fn limits(lanes: u8, ops: u32) -> Limits {
    Limits {
        lanes,
        ops,
        buffer_bytes: BUFFER_BYTES,
        shared_bytes: SHARED_BYTES,
        local_bytes: LOCAL_BYTES,
        ..Limits::default()
    }
}

/// A way in which the JIT makes code.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    name: &'static str,
    effort: Effort,
    one_worker: bool,
    back_end: BackEnd,
}

/// The back end that makes machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BackEnd {
    Cranelift,
    /// The back end for AVX-512, in regions of one block. Cranelift makes code of blocks that it
    /// does not support.
    #[cfg(all(feature = "vector", target_arch = "x86_64"))]
    Vector,
}

/// All ways. The code for several workers has locks.
pub const WAYS: &[Way] = &[
    Way {
        name: "jit, --effort quick",
        effort: Effort::Quick,
        one_worker: true,
        back_end: BackEnd::Cranelift,
    },
    Way {
        name: "jit, --effort likely",
        effort: Effort::Likely,
        one_worker: true,
        back_end: BackEnd::Cranelift,
    },
    Way {
        name: "jit, --effort full",
        effort: Effort::Full,
        one_worker: true,
        back_end: BackEnd::Cranelift,
    },
    Way {
        name: "jit, --effort full --threads 2",
        effort: Effort::Full,
        one_worker: false,
        back_end: BackEnd::Cranelift,
    },
    #[cfg(all(feature = "vector", target_arch = "x86_64"))]
    Way {
        name: "jit, vector back end",
        effort: Effort::Full,
        one_worker: true,
        back_end: BackEnd::Vector,
    },
];

impl Way {
    fn program(self, function: &Function, launch: Launched) -> Result<Program, JitError> {
        match self.back_end {
            BackEnd::Cranelift => {
                Program::new(function, launch, self.one_worker, warploom_cranelift::backend())
            }
            #[cfg(all(feature = "vector", target_arch = "x86_64"))]
            BackEnd::Vector => Program::in_small_regions(
                function,
                launch,
                self.one_worker,
                warploom_vector::backend(),
            ),
        }
    }
}

/// Returns one of the ways, by a number. A fuzzer learns more from several times as many inputs.
pub fn one_way(number: usize) -> &'static [Way] {
    std::slice::from_ref(&WAYS[number % WAYS.len()])
}

/// A register and its content at the start of every warp: a value for each of its
/// [`instrument::cells`].
pub type Initial = (Reg, Vec<u64>);

/// A difference between two engines.
#[derive(Debug)]
pub struct Difference {
    pub engine: &'static str,
    pub block: [u32; 3],
    /// The value that was found, and the interpreter's value.
    pub what: String,
    /// The function that was run.
    pub function: Arc<Function>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, block {:?}: {}\n{}", self.engine, self.block, self.what, self.function)
    }
}

impl std::error::Error for Difference {}

/// The state that a launch left.
#[derive(Debug, PartialEq)]
pub(super) struct Left {
    pub fault: Option<Fault>,
    pub instructions: u64,
    pub lane_instructions: u64,
    pub buffer: Vec<u8>,
    pub registers: Vec<u8>,
    pub printed: Printed,
}

/// Runs two blocks of this shape on the interpreter, on the interpreter after analysis, and on the
/// JIT in these ways. Returns the first difference. An error of the interpreter is a difference
/// too.
pub fn compare(
    function: &Function,
    block: [u32; 3],
    initial: &[Initial],
    ways: &[Way],
) -> Result<(), Box<Difference>> {
    let bytes = bytes_of_registers(function, block);
    if bytes > MAX_REGISTER_BYTES {
        return Ok(());
    }
    let initial = read_by(function, initial);
    let instrumented = Arc::new(with_registers(function, &initial));
    on_all(&instrumented, [[1; 3], block], 1, ways, &|engine, _| {
        run(engine, block, function.asks_host(), &input(function, &initial), bytes, INSTRUCTIONS)
    })
}

/// Returns content for all registers of a function but the active mask: numbers that are special to
/// arithmetic, small numbers, and any bits.
pub fn any_content(function: &Function, random: &mut impl Source) -> Vec<Initial> {
    const NUMBERS: [u64; 10] =
        [0, 1, 2, 7, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 32, i64::MAX as u64, 0x3f80_0000];
    let mut content = |_| match random.below(3) {
        0 => NUMBERS[random.below(NUMBERS.len() as u32) as usize],
        1 => random.below(1000).into(),
        _ => u64::from(random.below(u32::MAX)) << 32 | u64::from(random.below(u32::MAX)),
    };
    let banks = function.banks.iter().zip(0..);
    let registers =
        banks.flat_map(|(bank, id)| (0..bank.count).map(move |index| BankId(id).reg(index)));
    let registers = registers.filter(|&reg| reg != function.active);
    registers
        .map(|reg| (reg, (0..instrument::cells(function, reg)).map(&mut content).collect()))
        .collect()
}

/// Compares a function with its form after the rules for all engines: on the interpreter, and on
/// the JIT in these ways after the rules. Returns the first difference, and whether a rule has
/// changed the function.
pub fn compare_rewritten(
    function: &Function,
    block: [u32; 3],
    initial: &[Initial],
    ways: &[Way],
) -> Result<bool, Box<Difference>> {
    const RULES: &str = "rules for all engines";
    let initial = read_by(function, initial);
    let plain = Arc::new(with_registers(function, &initial));
    let differs =
        |what| Box::new(Difference { engine: RULES, block, what, function: plain.clone() });
    let mut rewritten = (*plain).clone();
    let firings =
        rewrite_function(&mut rewritten, Rules::ALL).map_err(|e| differs(e.to_string()))?;
    if firings == Firings::default() {
        return Ok(false);
    }
    let rewritten = Arc::new(rewritten);
    let bytes = bytes_of_registers(function, block);
    let run =
        |engine: &dyn Engine, _| run(engine, block, false, &input(function, &initial), bytes, LONG);
    let interpret = |function: &Arc<Function>| {
        let interpreter = Interpreter::new(function.clone()).map_err(|e| differs(e.to_string()))?;
        run(&interpreter, 1).map_err(differs)
    };
    let (expected, found) = (interpret(&plain)?, interpret(&rewritten)?);
    if found != expected {
        return Err(differs(describe(&plain, &expected, &found)));
    }
    on_all(&rewritten, [[1; 3], block], 1, ways, &run)?;
    Ok(true)
}

/// Returns the function with its registers in memory.
fn with_registers(function: &Function, initial: &[Initial]) -> Function {
    let set = initial.iter().map(|(reg, _)| *reg).collect();
    let read = registers(function);
    let read = read.into_iter().collect();
    instrument::instrument(
        function,
        &Buffers { input: REGISTERS_IN, set, output: REGISTERS_OUT, read },
    )
}

/// Returns the bytes of all registers of all warps of a block.
fn bytes_of_registers(function: &Function, block: [u32; 3]) -> u64 {
    let warps = u64::from(block.iter().product::<u32>().div_ceil(function.lanes.into()));
    let rows: u64 =
        registers(function).iter().map(|&reg| instrument::row_bytes(function, reg)).sum();
    rows.saturating_mul(warps)
}

/// Returns the run of [`compare`] for `warploom run`, which gives warps other turns.
pub fn reproducer(function: &Function, block: [u32; 3], initial: &[Initial]) -> Reproducer {
    let initial = read_by(function, initial);
    let mut manifest = case::manifest([BLOCKS_OF_GRID, 1, 1], block, INSTRUCTIONS);
    (manifest.launch.shared_bytes, manifest.launch.stack_bytes) = (SHARED_BYTES, Some(LOCAL_BYTES));
    manifest.args = vec![Arg::Buffer("buffer".into())];
    let buffers = [
        ("buffer", BUFFER, case::bytes(&content())),
        ("registers", REGISTERS_IN, case::bytes(&input(function, &initial))),
        ("results", REGISTERS_OUT, case::zeros(bytes_of_registers(function, block).max(8))),
    ];
    for (name, address, buffer) in buffers {
        let address = i64::try_from(address).ok().map(toml::Value::Integer);
        manifest.buffers.insert(name.into(), Buffer { address, ..buffer });
    }
    Reproducer { manifest, text: with_registers(function, &initial).to_string(), ze_info: None }
}

/// Returns the initial content of guest memory.
fn content() -> Vec<u8> {
    (0..FORMATS_AT).map(|i| (i * 37 + i / 251) as u8).chain(FORMATS.iter().copied()).collect()
}

fn input(function: &Function, initial: &[Initial]) -> Vec<u8> {
    // A buffer must not be empty.
    let none = initial.is_empty().then_some([0; 8]).into_iter().flatten();
    initial
        .iter()
        .flat_map(|(reg, values)| instrument::row(function, *reg, values))
        .chain(none)
        .collect()
}

/// Runs a launch on each engine and returns the first difference. A launch that ends without a
/// fault also runs with `workers` worker threads.
pub(super) fn on_all(
    function: &Arc<Function>,
    [grid, block]: [[u32; 3]; 2],
    workers: usize,
    ways: &[Way],
    run: &dyn Fn(&dyn Engine, usize) -> Result<Left, String>,
) -> Result<(), Box<Difference>> {
    let differs =
        |engine, what| Box::new(Difference { engine, block, what, function: Arc::clone(function) });
    let interpreter =
        Interpreter::new(Arc::clone(function)).map_err(|e| differs("interp", e.to_string()))?;
    let expected = run(&interpreter, 1).map_err(|e| differs("interp", e))?;
    let compare = |name, engine: &dyn Engine, workers| match run(engine, workers) {
        Ok(found) if found == expected => Ok(()),
        Ok(found) => Err(differs(name, describe(function, &expected, &found))),
        Err(error) => Err(differs(name, error)),
    };
    let class = Launched::of(grid, block, function.lanes.into(), warploom_cranelift::CHUNK);
    for (number, &way) in ways.iter().enumerate() {
        let Way { name, effort, one_worker, .. } = way;
        let program = way.program(function, class).map_err(|e| differs(name, e.to_string()))?;
        let program = Arc::new(program);
        if number == 0 {
            let name = "interp after analysis";
            let optimized = Arc::new(program.function().clone());
            let optimized =
                Interpreter::new(optimized).map_err(|e| differs(name, e.to_string()))?;
            compare(name, &optimized, 1)?;
        }
        if effort == Effort::Quick {
            compare(
                "jit, interpreted at first",
                &Deferred { program: program.clone(), rounds: 1 },
                1,
            )?;
        }
        program.compile_all(effort).map_err(|e| differs(name, e.to_string()))?;
        compare(name, &*program, 1)?;
        if !one_worker && workers > 1 && expected.fault.is_none() {
            compare("jit on several workers", &*program, workers)?;
        }
    }
    Ok(())
}

fn run(
    engine: &dyn Engine,
    block: [u32; 3],
    asks_host: bool,
    input: &[u8],
    registers: u64,
    limit: u64,
) -> Result<Left, String> {
    let content = content();
    let ranges = [
        (BUFFER, content.len() as u64),
        (REGISTERS_IN, input.len() as u64),
        (REGISTERS_OUT, registers),
    ];
    let memory = &Memory::default();
    let guarded =
        Guarded::map(memory, &ranges.map(|(address, bytes)| (address, bytes, Access::READ_WRITE)))?;
    memory.write(BUFFER, &content).map_err(|e| e.to_string())?;
    memory.write(REGISTERS_IN, input).map_err(|e| e.to_string())?;

    let mut config = LaunchConfig::new([BLOCKS_OF_GRID, 1, 1], block);
    config.shared_bytes = SHARED_BYTES;
    config.local_bytes = LOCAL_BYTES + if asks_host { SERVICE_BYTES } else { 0 };
    config.instruction_limit = Some(limit);
    config.back_edges = BACK_EDGES;
    config.constants[0] = Some(ConstBank::new(&BUFFER.to_le_bytes()).map_err(|e| e.to_string())?);
    let heap = Heap::new(memory, 0).map_err(|e| e.to_string())?;
    let serving = Serving::new(engine, Arc::new(heap), PRINTED_BYTES, None);
    let outcome = launch(memory, &serving, &config, None).map_err(|e| e.to_string())?;
    let (printed, _) = serving.end(None);
    guarded.check()?;
    let read = |at, bytes: usize| {
        let mut content = vec![0; bytes];
        memory.read(at, &mut content).map(|()| content).map_err(|e| e.to_string())
    };
    Ok(Left {
        instructions: outcome.counts.instructions,
        lane_instructions: outcome.counts.lane_instructions,
        fault: outcome.fault,
        buffer: read(BUFFER, PAGE_BYTES as usize)?,
        registers: read(REGISTERS_OUT, registers as usize)?,
        printed,
    })
}

/// Returns the registers that a function uses.
fn registers(function: &Function) -> BTreeSet<Reg> {
    let mut registers = BTreeSet::from([function.active]);
    registers.extend(function.waiting_registers());
    let mut add = |bank: BankId, first: u32, count: u32| {
        registers.extend((first..first + count).map(|n| bank.reg(n)))
    };
    for inst in function.blocks.iter().flat_map(|block| &block.insts) {
        match inst.op {
            Op::RfRead { reg, .. }
            | Op::RfWrite { reg, .. }
            | Op::RegionRead { reg, .. }
            | Op::RegionWrite { reg, .. } => add(reg.bank, reg.index, 1),
            Op::RfGather { bank, first, count, .. } | Op::RfScatter { bank, first, count, .. } => {
                add(bank, first, count)
            }
            _ => {}
        }
    }
    registers
}

/// Returns the values that a function may read.
fn read_by(function: &Function, initial: &[Initial]) -> Vec<Initial> {
    let known = registers(function);
    initial.iter().filter(|(reg, _)| known.contains(reg)).cloned().collect()
}

/// Describes the first difference.
fn describe(function: &Function, expected: &Left, found: &Left) -> String {
    let end = |left: &Left| {
        format!("{:?} after {} and {}", left.fault, left.instructions, left.lane_instructions)
    };
    if end(expected) != end(found) {
        return format!("it ends with {}, expected {}", end(found), end(expected));
    }
    if expected.printed != found.printed {
        let text = |printed: &Printed| String::from_utf8_lossy(&printed.text).into_owned();
        let (found, expected) = (
            (text(&found.printed), found.printed.dropped),
            (text(&expected.printed), expected.printed.dropped),
        );
        return format!("it prints {found:?}, expected {expected:?}");
    }
    if let Some(at) = (0..expected.buffer.len()).find(|&i| expected.buffer[i] != found.buffer[i]) {
        return format!(
            "byte {at:#x} of memory is {:#x}, expected {:#x}",
            found.buffer[at], expected.buffer[at]
        );
    }
    let (mut expected, mut found) = (&expected.registers[..], &found.registers[..]);
    for warp in 0.. {
        for reg in registers(function) {
            let bytes = instrument::row_bytes(function, reg) as usize;
            let Some(rows) = expected.split_at_checked(bytes).zip(found.split_at_checked(bytes))
            else {
                return "nothing differs".into();
            };
            let [expected_row, found_row] =
                [rows.0.0, rows.1.0].map(|row| instrument::values(function, reg, row));
            (expected, found) = (rows.0.1, rows.1.1);
            if let Some(cell) =
                (0..found_row.len()).find(|&cell| found_row[cell] != expected_row[cell])
            {
                let bank = function.bank(reg.bank);
                let what = if matches!(bank.kind, CellKind::Bytes(_)) { "byte" } else { "lane" };
                let (name, index, found, expected) =
                    (&bank.name, reg.index, found_row[cell], expected_row[cell]);
                return format!(
                    "{name}[{index}], {what} {cell}, warp {warp}: {found:#x}, expected {expected:#x}"
                );
            }
        }
    }
    unreachable!("the rows end")
}
