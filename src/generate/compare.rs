//! One function on every engine: memory, registers, counts and faults must be equal.

use std::fmt;
use std::sync::Arc;

use warploom_runtime::launch::{ConstBank, Engine, Fault, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, Place};

use super::instrument::{self, Buffers, CELL};
use crate::analysis::LaunchClass;
use crate::interp::Interpreter;
use crate::ir::{BankId, CellKind, Function, Reg, generate::Limits};
use crate::jit::Program;

/// Block shapes of all launch classes: one warp, a short last warp, one lane, multiples of the warp and of the chunk,
/// neither.
pub const BLOCKS: [[u32; 3]; 7] = [[32, 1, 1], [48, 1, 1], [80, 1, 1], [1, 1, 1], [64, 2, 1], [8, 5, 1], [5, 3, 2]];

/// Guest memory that functions work on; its address is at 0 of constant bank 0.
pub const BUFFER: u64 = 0x10_0000_0000;
pub const BUFFER_BYTES: u32 = 4096;
pub const SHARED_BYTES: u32 = 1024;
pub const LOCAL_BYTES: u32 = 256;
const REGISTERS_IN: u64 = 0x20_0000_0000;
const REGISTERS_OUT: u64 = 0x21_0000_0000;

/// Instructions after which a launch is stopped: a fault like any other, and alike on all engines.
const INSTRUCTIONS: u64 = 400;
const BACK_EDGES: u64 = 5;
/// More register cells than this (of all warps of a block) are not worth a test's time.
const MAX_CELLS: u64 = 1 << 16;

/// The environment of [`compare`], for [`crate::ir::generate`].
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

/// A register and its content at the start of every warp: a value for each of its [`instrument::cells`].
pub type Initial = (Reg, Vec<u64>);

/// Why two engines are not the same.
#[derive(Debug)]
pub struct Difference {
    pub engine: &'static str,
    pub block: [u32; 3],
    /// What was found, and what the interpreter has.
    pub what: String,
    /// What was run.
    pub function: Arc<Function>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, block {:?}: {}\n{}", self.engine, self.block, self.what, self.function)
    }
}

impl std::error::Error for Difference {}

/// What a launch left.
#[derive(Debug, PartialEq)]
pub(super) struct Left {
    pub fault: Option<Fault>,
    pub instructions: u64,
    pub lane_instructions: u64,
    pub buffer: Vec<u8>,
    pub registers: Vec<u8>,
}

/// Runs two blocks of this shape on the interpreter, on the interpreter after analysis, and on the JIT with and without
/// locks, and returns the first difference. A function that the interpreter refuses is refused by all.
pub fn compare(function: &Function, block: [u32; 3], initial: &[Initial]) -> Result<(), Box<Difference>> {
    let read: Vec<Reg> = all_registers(function);
    let warps = u64::from(block.iter().product::<u32>().div_ceil(function.lanes.into()));
    let cells: u64 = read.iter().map(|&reg| instrument::cells(function, reg)).sum();
    if cells.saturating_mul(warps) > MAX_CELLS {
        return Ok(());
    }
    let set = initial.iter().map(|(reg, _)| *reg).collect();
    let buffers = Buffers { input: REGISTERS_IN, set, output: REGISTERS_OUT, read };
    let instrumented = Arc::new(instrument::instrument(function, &buffers));
    on_all(&instrumented, block, 1, &|engine, _| run(engine, block, initial, cells * CELL * warps))
}

/// Runs a launch on each engine, if it ends without a fault also with so many worker threads, and returns the first
/// difference.
pub(super) fn on_all(
    function: &Arc<Function>,
    block: [u32; 3],
    workers: usize,
    run: &dyn Fn(&dyn Engine, usize) -> Result<Left, String>,
) -> Result<(), Box<Difference>> {
    let differs = |engine, what| Box::new(Difference { engine, block, what, function: Arc::clone(function) });
    let interpreter = Interpreter::new(Arc::clone(function)).map_err(|e| differs("interp", e.to_string()))?;
    let expected = run(&interpreter, 1).map_err(|e| differs("interp", e))?;
    let compare = |name, engine: &dyn Engine, workers| match run(engine, workers) {
        Ok(found) if found == expected => Ok(()),
        Ok(found) => Err(differs(name, describe(function, &expected, &found))),
        Err(error) => Err(differs(name, error)),
    };
    let class = LaunchClass::of(block, function.lanes.into());
    for (name, one_worker) in [("jit", true), ("jit for several workers", false)] {
        let program = Program::new(function, class, one_worker).map_err(|e| differs(name, e.to_string()))?;
        program.compile_all().map_err(|e| differs(name, e.to_string()))?;
        if one_worker {
            let name = "interp after analysis";
            let optimized = Arc::new(program.function().clone());
            let optimized = Interpreter::new(optimized).map_err(|e| differs(name, e.to_string()))?;
            compare(name, &optimized, 1)?;
        }
        compare(name, &program, 1)?;
        if !one_worker && workers > 1 && expected.fault.is_none() {
            compare("jit on several workers", &program, workers)?;
        }
    }
    Ok(())
}

fn run(engine: &dyn Engine, block: [u32; 3], initial: &[Initial], registers: u64) -> Result<Left, String> {
    let memory = Memory::default();
    let content: Vec<u8> = (0..BUFFER_BYTES).map(|i| (i * 37 + i / 251) as u8).collect();
    let input: Vec<u8> = initial.iter().flat_map(|(_, cells)| cells).flat_map(|cell| cell.to_le_bytes()).collect();
    for (at, bytes) in [(BUFFER, content.len()), (REGISTERS_IN, input.len()), (REGISTERS_OUT, registers as usize)] {
        memory.alloc_at(Place::At(at), bytes.max(1) as u64, Access::READ_WRITE).map_err(|e| e.to_string())?;
    }
    memory.write(BUFFER, &content).map_err(|e| e.to_string())?;
    memory.write(REGISTERS_IN, &input).map_err(|e| e.to_string())?;

    let mut config = LaunchConfig::new([2, 1, 1], block);
    config.shared_bytes = SHARED_BYTES;
    config.local_bytes = LOCAL_BYTES;
    config.instruction_limit = Some(INSTRUCTIONS);
    config.back_edges = BACK_EDGES;
    config.constants[0] = Some(ConstBank::new(&BUFFER.to_le_bytes()).map_err(|e| e.to_string())?);
    let outcome = launch(&memory, engine, &config, None).map_err(|e| e.to_string())?;
    let read = |at, bytes: usize| {
        let mut content = vec![0; bytes];
        memory.read(at, &mut content).map(|()| content).map_err(|e| e.to_string())
    };
    Ok(Left {
        instructions: outcome.counts.instructions,
        lane_instructions: outcome.counts.lane_instructions,
        fault: outcome.fault,
        buffer: read(BUFFER, content.len())?,
        registers: read(REGISTERS_OUT, registers as usize)?,
    })
}

fn all_registers(function: &Function) -> Vec<Reg> {
    let banks = function.banks.iter().zip(0..);
    banks.flat_map(|(bank, id)| (0..bank.count).map(move |index| BankId(id).reg(index))).collect()
}

/// What differs first.
fn describe(function: &Function, expected: &Left, found: &Left) -> String {
    let end = |left: &Left| format!("{:?} after {} and {}", left.fault, left.instructions, left.lane_instructions);
    if end(expected) != end(found) {
        return format!("it ends with {}, expected {}", end(found), end(expected));
    }
    if let Some(at) = (0..expected.buffer.len()).find(|&i| expected.buffer[i] != found.buffer[i]) {
        return format!("byte {at:#x} of memory is {:#x}, expected {:#x}", found.buffer[at], expected.buffer[at]);
    }
    let mut cells = expected.registers.chunks_exact(CELL as usize).zip(found.registers.chunks_exact(CELL as usize));
    for warp in 0.. {
        for reg in all_registers(function) {
            let bank = function.bank(reg.bank);
            let what = if matches!(bank.kind, CellKind::Bytes(_)) { "byte" } else { "lane" };
            for cell in 0..instrument::cells(function, reg) {
                let Some((expected, found)) = cells.next() else { return "nothing differs".into() };
                if expected != found {
                    let of = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
                    let (name, index) = (&bank.name, reg.index);
                    let (found, expected) = (of(found), of(expected));
                    return format!("{name}[{index}], {what} {cell}, warp {warp}: {found:#x}, expected {expected:#x}");
                }
            }
        }
    }
    unreachable!("the cells end")
}
