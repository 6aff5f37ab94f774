//! Random functions that hold every operation behave the same on all engines: memory, registers, counts and faults.

use std::sync::Arc;

use warploom::ir::generate::{self, Limits, Random, Source};
use warploom::ir::{BankId, CellKind, Function, Reg};
use warploom_runtime::launch::{ConstBank, LaunchConfig, Outcome, launch};
use warploom_runtime::memory::{Access, Memory, Place};

use super::instrument::{Buffers, instrument, row_bytes};
use super::{MakeEngine, engines};

const BUFFER: u64 = 0x10_0000_0000;
const REGISTERS_OUT: u64 = 0x21_0000_0000;

/// Shapes of blocks: whole warps, a short last warp, one lane, three axes.
const BLOCKS: [[u32; 3]; 5] = [[32, 1, 1], [80, 1, 1], [1, 1, 1], [5, 3, 2], [64, 2, 1]];

#[derive(Debug, PartialEq)]
struct Result {
    outcome: (Option<warploom_runtime::launch::Fault>, u64, u64),
    buffer: Vec<u8>,
    registers: Vec<u8>,
}

fn run(function: &Function, limits: Limits, block: [u32; 3], make: MakeEngine) -> std::result::Result<Result, String> {
    let memory = Memory::default();
    memory.alloc_at(Place::At(BUFFER), limits.buffer_bytes.into(), Access::READ_WRITE).unwrap();
    let content: Vec<u8> = (0..limits.buffer_bytes).map(|i| (i * 37 + i / 251) as u8).collect();
    memory.write(BUFFER, &content).unwrap();
    let warps = block.iter().product::<u32>().div_ceil(function.lanes.into());
    let read: Vec<Reg> = all_registers(function);
    let bytes = read.iter().map(|&reg| row_bytes(function, reg)).sum::<u64>() * u64::from(warps);
    memory.alloc_at(Place::At(REGISTERS_OUT), bytes, Access::READ_WRITE).unwrap();
    let instrumented = instrument(function, &Buffers { input: 0, set: Vec::new(), output: REGISTERS_OUT, read });

    let mut config = LaunchConfig::new([2, 1, 1], block);
    config.shared_bytes = limits.shared_bytes;
    config.local_bytes = limits.local_bytes;
    config.instruction_limit = Some(400);
    config.back_edges = 5;
    config.constants[0] = Some(ConstBank::new(&BUFFER.to_le_bytes()).unwrap());
    let engine = make(Arc::new(instrumented), block)?;
    let Outcome { counts, fault, .. } = launch(&memory, &*engine, &config, None).map_err(|e| e.to_string())?;
    let mut buffer = vec![0; limits.buffer_bytes as usize];
    memory.read(BUFFER, &mut buffer).unwrap();
    let mut registers = vec![0; bytes as usize];
    memory.read(REGISTERS_OUT, &mut registers).unwrap();
    Ok(Result { outcome: (fault, counts.instructions, counts.lane_instructions), buffer, registers })
}

fn all_registers(function: &Function) -> Vec<Reg> {
    let banks = function.banks.iter().zip(0..);
    banks.flat_map(|(bank, id)| (0..bank.count).map(move |index| BankId(id).reg(index))).collect()
}

/// What differs first.
fn difference(function: &Function, expected: &Result, found: &Result) -> String {
    if expected.outcome != found.outcome {
        return format!("it ends with {:?}, expected {:?}", found.outcome, expected.outcome);
    }
    if let Some(at) = (0..expected.buffer.len()).find(|&i| expected.buffer[i] != found.buffer[i]) {
        return format!("byte {at:#x} of memory is {:#x}, expected {:#x}", found.buffer[at], expected.buffer[at]);
    }
    let mut at = 0;
    for reg in all_registers(function).into_iter().cycle() {
        for cell in 0..row_bytes(function, reg) as usize / 8 {
            let of = |result: &Result| u64::from_le_bytes(result.registers[at..at + 8].try_into().unwrap());
            if of(expected) != of(found) {
                let bank = function.bank(reg.bank);
                let what = if matches!(bank.kind, CellKind::Bytes(_)) { "byte" } else { "lane" };
                let (name, index) = (&bank.name, reg.index);
                return format!("{name}[{index}], {what} {cell}: {:#x}, expected {:#x}", of(found), of(expected));
            }
            at += 8;
        }
        if at >= expected.registers.len() {
            break;
        }
    }
    "nothing differs".into()
}

/// `WARPLOOM_SEED` and `WARPLOOM_SEEDS`: the first and how many.
#[test]
fn random_functions_behave_alike() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = (variable("WARPLOOM_SEED").unwrap_or(0), variable("WARPLOOM_SEEDS").unwrap_or(200));
    let mut failures = Vec::new();
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let lanes = [32, 32, 64, 8, 13][random.below(5) as usize];
        let limits = Limits { lanes, ops: [4, 12, 30][random.below(3) as usize], ..Limits::default() };
        let function = generate::function(&mut random, limits);
        let block = BLOCKS[random.below(5) as usize];
        let [(_, interp), others @ ..] = engines();
        let expected = run(&function, limits, block, interp).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for (name, make) in others {
            let found = std::panic::catch_unwind(|| run(&function, limits, block, make));
            let error = match found {
                Err(_) => "it panics".into(),
                Ok(Err(error)) => error,
                Ok(Ok(found)) if found == expected => continue,
                Ok(Ok(found)) => difference(&function, &expected, &found),
            };
            if count == 1 {
                println!("{function}");
            }
            failures.push(format!("seed {seed}, {lanes} lanes, block {block:?}, {name}: {error}"));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
