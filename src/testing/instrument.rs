//! Adds code to a function that loads registers from memory at the start and stores them at the
//! end, so that a test can set and read registers without access to an engine's register file.

use warploom_ir::*;

/// The places of a run's register values in guest memory.
#[derive(Debug)]
pub struct Buffers {
    /// The address of the values to set, [`row_bytes`] for each register.
    pub input: u64,
    pub set: Vec<Reg>,
    /// The address of the values at the end, [`row_bytes`] for each register and warp: all
    /// registers of warp 0, then of warp 1, ...
    pub output: u64,
    pub read: Vec<Reg>,
}

/// Returns the bytes of a register in the buffers: its cells, side by side, and padding to a
/// multiple of 8.
pub fn row_bytes(function: &Function, reg: Reg) -> u64 {
    (cell_bytes(function, reg) * cells(function, reg)).next_multiple_of(8)
}

fn cell_bytes(function: &Function, reg: Reg) -> u64 {
    match function.bank(reg.bank).kind {
        CellKind::Lane(ty) => ty.bytes().into(),
        CellKind::Uniform(_) | CellKind::Mask => 8,
        CellKind::Bytes(_) => 1,
    }
}

/// Returns a register's row in the buffers, from the value of each cell.
pub fn row(function: &Function, reg: Reg, values: &[u64]) -> Vec<u8> {
    let bytes = cell_bytes(function, reg) as usize;
    let mut row: Vec<u8> =
        values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(bytes)).collect();
    row.resize(row_bytes(function, reg) as usize, 0);
    row
}

/// Returns the value of each cell of a register, from its row in the buffers.
pub fn values(function: &Function, reg: Reg, row: &[u8]) -> Vec<u64> {
    let bytes = cell_bytes(function, reg) as usize;
    let value =
        |cell: &[u8]| cell.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
    row.chunks_exact(bytes).take(cells(function, reg) as usize).map(value).collect()
}

/// Returns the number of a register's cells: one for each lane, one for each byte of a byte array,
/// or one for a uniform register or a mask.
pub fn cells(function: &Function, reg: Reg) -> u64 {
    match function.bank(reg.bank).kind {
        CellKind::Lane(_) => function.lanes.into(),
        CellKind::Uniform(_) | CellKind::Mask => 1,
        CellKind::Bytes(bytes) => bytes.into(),
    }
}

/// Returns the function with new blocks before its own and after its exits.
pub fn instrument(function: &Function, buffers: &Buffers) -> Function {
    let mut f = FunctionBuilder::new(function.name.clone(), function.lanes, function.nan);
    for bank in &function.banks {
        f.bank(bank.name.clone(), bank.kind, bank.count);
    }
    f.set_active(function.active);
    let counter = f.bank("copied", CellKind::Uniform(Type::I32), 1).reg(0);

    let input = |b: &mut BlockBuilder<'_>| b.iconst(Type::I64, buffers.input);
    let loaded = copy_all(
        &mut f,
        function,
        &buffers.set,
        counter,
        Copies { pc: 0, address: &input, load: true },
    );
    let before = loaded.0 + 1;
    f.at(loaded).jump(BlockId(before));

    let stride = buffers.read.iter().map(|&reg| row_bytes(function, reg)).sum();
    let output = |b: &mut BlockBuilder<'_>| {
        let warp = b.special(Special::WarpId);
        let warp = b.zero_extend(Type::I64, warp);
        let stride = b.iconst(Type::I64, stride);
        let shift = b.mul(warp, stride);
        let address = b.iconst(Type::I64, buffers.output);
        b.add(address, shift)
    };
    let stored = copy_all(
        &mut f,
        function,
        &buffers.read,
        counter,
        Copies { pc: u64::MAX, address: &output, load: false },
    );
    f.at(stored).exit();

    let mut instrumented = f.finish().expect("the harness makes well-typed code");
    let mut after = instrumented.blocks.split_off(before as usize);
    let count = function.blocks.len() as u32;
    for block in &function.blocks {
        let mut block = block.clone();
        block.join = block.join.map(|join| BlockId(join.0 + before));
        block.term.map_targets(|target| BlockId(target.0 + before));
        if block.term == Terminator::Exit {
            block.term = Terminator::Jump(BlockId(before + count));
        }
        instrumented.blocks.push(block);
    }
    after.iter_mut().for_each(|block| block.term.map_targets(|target| BlockId(target.0 + count)));
    instrumented.blocks.extend(after);
    instrumented
}

/// Registers that are copied together.
enum Copied {
    One(Reg),
    /// Registers that a loop copies, which is far less code. The function indexes them anyway:
    /// analysis gives up on indexed registers.
    Many {
        first: Reg,
        count: u32,
    },
}

/// The number of registers that are worth a loop.
const MANY: u32 = 16;

fn in_parts(function: &Function, registers: &[Reg]) -> Vec<Copied> {
    let indexed: Vec<(BankId, std::ops::Range<u32>)> = function
        .blocks
        .iter()
        .flat_map(|block| &block.insts)
        .filter_map(|inst| match inst.op {
            Op::RfGather { bank, first, count, .. } | Op::RfScatter { bank, first, count, .. } => {
                Some((bank, first..first + count))
            }
            _ => None,
        })
        .collect();
    let is_indexed = |reg: Reg| {
        indexed.iter().any(|(bank, range)| *bank == reg.bank && range.contains(&reg.index))
    };
    registers
        .chunk_by(|&a, &b| b == a.bank.reg(a.index + 1) && is_indexed(a) && is_indexed(b))
        .flat_map(|run| match run.len() as u32 {
            count if count >= MANY => vec![Copied::Many { first: run[0], count }],
            _ => run.iter().map(|&reg| Copied::One(reg)).collect(),
        })
        .collect()
}

/// The direction of a copy of registers, and its place.
struct Copies<'a> {
    pc: u64,
    /// Emits the address of the first cell.
    address: &'a dyn Fn(&mut BlockBuilder<'_>) -> Value,
    load: bool,
}

/// Loads or stores registers one after the other, in new blocks. Returns the last block.
fn copy_all(
    f: &mut FunctionBuilder,
    function: &Function,
    registers: &[Reg],
    counter: Reg,
    Copies { pc, address, load }: Copies<'_>,
) -> BlockId {
    let mut block = f.new_block(pc);
    let (mut from, mut at) = (None, 0);
    for part in in_parts(function, registers) {
        match part {
            Copied::One(reg) => {
                let mut b = f.at(block);
                let from = *from.get_or_insert_with(|| address(&mut b));
                copy(&mut b, function, reg, (from, at), load);
                at += row_bytes(function, reg);
            }
            Copied::Many { first, count } => {
                let (around, next) = (f.new_block(pc), f.new_block(pc));
                let mut b = f.at(block);
                let zero = b.iconst(Type::I32, 0);
                b.rf_write(counter, zero);
                b.jump(around);

                let mut b = f.at(around);
                let index = b.rf_read(counter);
                let row = b.iconst(Type::I64, row_bytes(function, first));
                let wide = b.zero_extend(Type::I64, index);
                let shift = b.mul(wide, row);
                let from_here = address(&mut b);
                let from_here = b.add(from_here, shift);
                copy_indexed(&mut b, function, (first, count, index), (from_here, at), load);
                let one = b.iconst(Type::I32, 1);
                let done = b.add(index, one);
                b.rf_write(counter, done);
                let all = b.iconst(Type::I32, count.into());
                let left = b.sub(all, done);
                b.branch(left, around, next);

                (block, from) = (next, None);
                at += row_bytes(function, first) * u64::from(count);
            }
        }
    }
    block
}

/// Loads or stores the register at an index, in all lanes.
fn copy_indexed(
    b: &mut BlockBuilder<'_>,
    function: &Function,
    (first, count, index): (Reg, u32, Value),
    (from, at): (Value, u64),
    load: bool,
) {
    b.set_nomask(true);
    let (ty, address) = cell(b, function, first, (from, at));
    if load {
        let value = b.load(Space::Global, ty, Extend::None, address, 0);
        let value = loaded(b, function, first, value);
        b.rf_scatter(first.bank, first.index, count, index, value);
    } else {
        let value = b.rf_gather(first.bank, first.index, count, index);
        let value = stored(b, value);
        b.store(Space::Global, ty, address, 0, value);
    }
}

/// Returns the type of a register's cells and each lane's address. The register is no byte array.
fn cell(
    b: &mut BlockBuilder<'_>,
    function: &Function,
    reg: Reg,
    (from, at): (Value, u64),
) -> (Type, Value) {
    let at = b.iconst(Type::I64, at);
    let address = b.add(from, at);
    match function.bank(reg.bank).kind {
        CellKind::Lane(ty) => {
            let lane = b.lane_id();
            let lane = b.zero_extend(Type::I64, lane);
            let size = b.iconst(Type::I64, ty.bytes().into());
            let offset = b.mul(lane, size);
            (ty, b.add(address, offset))
        }
        CellKind::Uniform(ty) => (ty, address),
        CellKind::Mask => (Type::I64, address),
        CellKind::Bytes(_) => unreachable!("no byte array"),
    }
}

/// Converts a number from memory to a register's value: a mask register takes its bits.
fn loaded(b: &mut BlockBuilder<'_>, function: &Function, reg: Reg, value: Value) -> Value {
    if function.bank(reg.bank).kind == CellKind::Mask { b.to_mask(value) } else { value }
}

/// Converts a register's value to a number in memory: a mask gives its bits.
fn stored(b: &mut BlockBuilder<'_>, value: Value) -> Value {
    if b.ty(value).ty == Type::Mask { b.from_mask(value) } else { value }
}

/// Loads or stores a register at `from + at`, in all lanes.
fn copy(
    b: &mut BlockBuilder<'_>,
    function: &Function,
    reg: Reg,
    (from, at): (Value, u64),
    load: bool,
) {
    b.set_nomask(true);
    let CellKind::Bytes(bytes) = function.bank(reg.bank).kind else {
        let (ty, address) = cell(b, function, reg, (from, at));
        if load {
            let value = b.load(Space::Global, ty, Extend::None, address, 0);
            let value = loaded(b, function, reg, value);
            b.rf_write(reg, value);
        } else {
            let value = b.rf_read(reg);
            let value = stored(b, value);
            b.store(Space::Global, ty, address, 0, value);
        }
        return;
    };
    let at = b.iconst(Type::I64, at);
    let address = b.add(from, at);
    b.set_window(Window { first: 0, count: 1 });
    for byte in 0..bytes {
        let region = Region::packed(byte);
        if load {
            let value = b.load(Space::Global, Type::I8, Extend::None, address, byte as i32);
            b.region_write(reg, region, value);
        } else {
            let value = b.region_read_uniform(reg, region, Type::I8);
            b.store(Space::Global, Type::I8, address, byte as i32, value);
        }
    }
    b.set_window(Window::all(function.lanes));
}
