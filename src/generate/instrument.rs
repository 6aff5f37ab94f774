//! Lets a function load registers from memory when it starts and store them when it ends, so that a test can set and
//! read them without looking into an engine's register file.

use crate::ir::*;

/// Bytes of one lane's value in the buffers.
pub const CELL: u64 = 8;

/// Where the register values of a run lie in guest memory.
#[derive(Debug)]
pub struct Buffers {
    /// Values to set, [`row_bytes`] for each register.
    pub input: u64,
    pub set: Vec<Reg>,
    /// Values at the end, [`row_bytes`] for each register and warp: all registers of warp 0, then of warp 1, ...
    pub output: u64,
    pub read: Vec<Reg>,
}

/// Bytes of a register in the buffers: a cell for each lane, or for a byte array for each byte.
pub fn row_bytes(function: &Function, reg: Reg) -> u64 {
    CELL * cells(function, reg)
}

pub fn cells(function: &Function, reg: Reg) -> u64 {
    match function.bank(reg.bank).kind {
        CellKind::Lane(_) => function.lanes.into(),
        CellKind::Uniform(_) | CellKind::Mask => 1,
        CellKind::Bytes(bytes) => bytes.into(),
    }
}

/// The function with a new entry before its own and a new block for its exits.
pub fn instrument(function: &Function, buffers: &Buffers) -> Function {
    let mut f = FunctionBuilder::new(function.name.clone(), function.lanes, function.nan);
    for bank in &function.banks {
        f.bank(bank.name.clone(), bank.kind, bank.count);
    }
    f.set_active(function.active);

    let entry = f.new_block(0);
    let exit = f.new_block(u64::MAX);
    let mut b = f.at(entry);
    let mut at = buffers.input;
    for &reg in &buffers.set {
        copy(&mut b, function, reg, at, None, true);
        at += row_bytes(function, reg);
    }
    b.jump(BlockId(1));

    let mut b = f.at(exit);
    b.set_pc(u64::MAX);
    let warp = b.special(Special::WarpId);
    let warp = b.zero_extend(Type::I64, warp);
    let stride = b.iconst(Type::I64, buffers.read.iter().map(|&reg| row_bytes(function, reg)).sum());
    let shift = b.mul(warp, stride);
    let mut at = buffers.output;
    for &reg in &buffers.read {
        copy(&mut b, function, reg, at, Some(shift), false);
        at += row_bytes(function, reg);
    }
    b.exit();

    let mut instrumented = f.finish().expect("the harness makes well-typed code");
    let end = instrumented.blocks.pop().expect("it has two blocks");
    let last = BlockId(function.blocks.len() as u32 + 1);
    for block in &function.blocks {
        let mut block = block.clone();
        block.join = block.join.map(|join| BlockId(join.0 + 1));
        block.term.map_targets(|target| BlockId(target.0 + 1));
        if block.term == Terminator::Exit {
            block.term = Terminator::Jump(last);
        }
        instrumented.blocks.push(block);
    }
    instrumented.blocks.push(end);
    instrumented
}

/// Loads or stores a register at `address + shift`, in all lanes.
fn copy(b: &mut BlockBuilder<'_>, function: &Function, reg: Reg, address: u64, shift: Option<Value>, load: bool) {
    let address = b.iconst(Type::I64, address);
    let address = shift.map_or(address, |shift| b.add(address, shift));
    b.set_nomask(true);
    match function.bank(reg.bank).kind {
        CellKind::Lane(ty) => {
            let lane = b.lane_id();
            let lane = b.zero_extend(Type::I64, lane);
            let cell = b.iconst(Type::I64, CELL);
            let offset = b.mul(lane, cell);
            let address = b.add(address, offset);
            copy_cell(b, reg, ty, address, load);
        }
        CellKind::Uniform(ty) => copy_cell(b, reg, ty, address, load),
        CellKind::Mask => copy_cell(b, reg, Type::I64, address, load),
        CellKind::Bytes(bytes) => {
            b.set_window(Window { first: 0, count: 1 });
            for byte in 0..bytes {
                let region = Region::packed(byte);
                let offset = (u64::from(byte) * CELL) as i32;
                if load {
                    let value = b.load(Space::Global, Type::I8, Extend::None, address, offset);
                    b.region_write(reg, region, value);
                } else {
                    let value = b.region_read_uniform(reg, region, Type::I8);
                    b.store(Space::Global, Type::I8, address, offset, value);
                }
            }
            b.set_window(Window::all(function.lanes));
        }
    }
}

fn copy_cell(b: &mut BlockBuilder<'_>, reg: Reg, ty: Type, address: Value, load: bool) {
    if load {
        let value = b.load(Space::Global, ty, Extend::None, address, 0);
        b.rf_write(reg, value);
    } else {
        let value = b.rf_read(reg);
        b.store(Space::Global, ty, address, 0, value);
    }
}
