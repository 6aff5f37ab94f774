//! Runs a case on an engine.

use std::collections::HashMap;
use std::sync::Arc;

use warploom_ir::{CellKind, Function, verify};
use warploom_runtime::launch::{ConstBank, Counts, LaunchConfig, Outcome, launch};
use warploom_runtime::memory::{Access, HostBuffer, Memory, PAGE_BYTES, Placement, Unbound};
use warploom_testing::instrument::{self, Buffers, cells, instrument, row_bytes};

use super::MakeEngine;
use super::case::{Case, RangeKind};

const FIRST_RANGE: u64 = 0x10_0000_0000;
const RANGE_STEP: u64 = 0x10_0000;
const REGISTERS_IN: u64 = 0x20_0000_0000;
const REGISTERS_OUT: u64 = 0x21_0000_0000;
/// A test that executes this many instructions has run away.
const LIMIT: u64 = 1 << 20;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn range_address(index: usize) -> u64 {
    FIRST_RANGE + index as u64 * RANGE_STEP
}

/// Runs a case and returns the launch's counts.
///
/// # Errors
///
/// Fails if a result differs from the case's expectations.
pub fn run_case(function: &Function, case: &Case, make: MakeEngine) -> Result<Counts, String> {
    let mut memory = Memory::default();
    prepare_ranges(&mut memory, case)?;
    let config = config(function, case)?;

    let warps = config.block.iter().product::<u32>().div_ceil(function.lanes.into());
    let buffers = Buffers {
        input: REGISTERS_IN,
        set: case.sets.iter().map(|(reg, _)| *reg).collect(),
        output: REGISTERS_OUT,
        read: case.registers.iter().map(|expectation| expectation.reg).collect(),
    };
    let mut input = Vec::new();
    for (reg, values) in &case.sets {
        input.extend(instrument::row(function, *reg, &spread(values, cells(function, *reg))?));
    }
    let stride: u64 = buffers.read.iter().map(|&reg| row_bytes(function, reg)).sum();
    for (address, bytes) in
        [(REGISTERS_IN, input.len() as u64), (REGISTERS_OUT, stride * u64::from(warps))]
    {
        memory.alloc_at(Placement::At(address), bytes.max(1), Access::READ_WRITE).map_err(text)?;
    }
    memory.write(REGISTERS_IN, &input).map_err(text)?;

    // Without registers, the unchanged function runs: engines may treat the entry block specially.
    let bare = buffers.set.is_empty() && buffers.read.is_empty();
    let instrumented = if bare { function.clone() } else { instrument(function, &buffers) };
    verify::verify(&instrumented).map_err(|e| format!("the instrumented function: {e}"))?;
    let engine = make(Arc::new(instrumented), config.block)?;
    let outcome = launch(&memory, &*engine, &config, None).map_err(text)?;
    check_outcome(case, &outcome)?;
    check_buffers(&memory, case)?;
    if outcome.fault.is_none() {
        check_registers(&memory, function, case, stride)?;
    }
    Ok(outcome.counts)
}

fn prepare_ranges(memory: &mut Memory, case: &Case) -> Result<(), String> {
    let mut buffers: HashMap<usize, Arc<HostBuffer>> = HashMap::new();
    for (i, range) in case.ranges.iter().enumerate() {
        let address = range_address(i);
        match &range.kind {
            RangeKind::Buffer { content, writable } => {
                let bytes = content.len().max(1) as u64;
                let buffer = Arc::new(HostBuffer::new(bytes).map_err(text)?);
                memory
                    .map_host(Placement::At(address), Arc::clone(&buffer), Access::READ_WRITE)
                    .map_err(text)?;
                buffers.insert(i, buffer);
                memory.write(address, content).map_err(text)?;
                if !writable {
                    let pages = bytes.next_multiple_of(PAGE_BYTES);
                    memory.protect(address, pages, Access::READ).map_err(text)?;
                }
            }
            RangeKind::Mirror { of } => {
                let buffer = buffers.get(of).ok_or("only buffers have mirrors")?;
                memory
                    .map_host(Placement::At(address), Arc::clone(buffer), Access::READ_WRITE)
                    .map_err(text)?;
            }
            RangeKind::Sparse { pages, resident } => {
                memory
                    .reserve(Placement::At(address), pages * PAGE_BYTES, Unbound::Sparse)
                    .map_err(text)?;
                for page in resident {
                    memory
                        .bind(address + page * PAGE_BYTES, PAGE_BYTES, Access::READ_WRITE)
                        .map_err(text)?;
                }
            }
        }
    }
    Ok(())
}

fn config(function: &Function, case: &Case) -> Result<LaunchConfig, String> {
    let block = case.block.unwrap_or([function.lanes.into(), 1, 1]);
    let mut config = LaunchConfig::new(case.grid.unwrap_or([1; 3]), block);
    config.shared_bytes = case.shared;
    config.local_bytes = case.local;
    config.instruction_limit = Some(case.limit.unwrap_or(LIMIT));
    config.back_edges = case.back_edges.unwrap_or(config.back_edges);
    let addresses: Vec<u8> =
        (0..case.ranges.len()).flat_map(|i| range_address(i).to_le_bytes()).collect();
    config.constants[0] = Some(ConstBank::new(&addresses).map_err(text)?);
    for (bank, content) in &case.constants {
        config.constants[*bank] = Some(ConstBank::new(content).map_err(text)?);
    }
    Ok(config)
}

/// Returns a value for each of `count` cells, from one value for all cells or one for each.
fn spread(values: &[u64], count: u64) -> Result<Vec<u64>, String> {
    match values {
        [value] => Ok(vec![*value; count as usize]),
        values if values.len() as u64 == count => Ok(values.to_vec()),
        values => Err(format!("{} values are given for {count} cells", values.len())),
    }
}

fn check_outcome(case: &Case, outcome: &Outcome) -> Result<(), String> {
    match (&case.fault, &outcome.fault) {
        (None, None) => {}
        (None, Some(fault)) => return Err(format!("it faults: {fault}")),
        (Some(expected), None) => return Err(format!("no fault, expected {expected:?}")),
        (Some(expected), Some(fault)) => {
            let holds = expected.kind == fault.kind.name()
                && expected.lane.is_none_or(|lane| lane == fault.lane)
                && expected.pc.is_none_or(|pc| pc == fault.pc)
                && expected.address.is_none_or(|address| address == fault.address)
                && expected.message.as_ref().is_none_or(|message| *message == fault.to_string());
            if !holds {
                return Err(format!("the fault is {fault:?}, `{fault}`, expected {expected:?}"));
            }
        }
    }
    let counts = [
        ("instructions", case.instructions, outcome.counts.instructions),
        ("lane instructions", case.lane_instructions, outcome.counts.lane_instructions),
    ];
    for (what, expected, found) in counts {
        if expected.is_some_and(|expected| expected != found) {
            return Err(format!("{found} {what}, expected {expected:?}"));
        }
    }
    Ok(())
}

fn check_buffers(memory: &Memory, case: &Case) -> Result<(), String> {
    for expectation in &case.buffers {
        let name = &case.ranges[expectation.range].name;
        let size = u64::from(expectation.ty.bytes());
        for (i, &expected) in expectation.values.iter().enumerate() {
            let offset = expectation.offset + i as u64 * size;
            let found = read(memory, range_address(expectation.range) + offset, size)?;
            if found != expected {
                return Err(format!(
                    "element {i} of {name} at byte {offset} is {found:#x}, expected {expected:#x}"
                ));
            }
        }
    }
    Ok(())
}

fn check_registers(
    memory: &Memory,
    function: &Function,
    case: &Case,
    stride: u64,
) -> Result<(), String> {
    let mut row = REGISTERS_OUT;
    for expectation in &case.registers {
        let reg = expectation.reg;
        let bank = function.bank(reg.bank);
        let what = if matches!(bank.kind, CellKind::Bytes(_)) { "byte" } else { "lane" };
        let mut found = vec![0; row_bytes(function, reg) as usize];
        memory.read(row + u64::from(expectation.warp) * stride, &mut found).map_err(text)?;
        let found = instrument::values(function, reg, &found);
        let expected = spread(&expectation.values, cells(function, reg))?;
        for (i, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            if found != expected {
                let warp = expectation.warp;
                return Err(format!(
                    "{}[{}], {what} {i} of warp {warp}, is {found:#x}, expected {expected:#x}",
                    bank.name, reg.index
                ));
            }
        }
        row += row_bytes(function, reg);
    }
    Ok(())
}

fn read(memory: &Memory, address: u64, bytes: u64) -> Result<u64, String> {
    let mut value = [0; 8];
    memory.read(address, &mut value[..bytes as usize]).map_err(text)?;
    Ok(u64::from_le_bytes(value))
}
