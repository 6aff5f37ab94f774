//! Data about each byte of the shared memory of blocks, in global memory.

use warploom_ir::typing::MAX_ELEMENTS;
use warploom_ir::{Access, BinaryOp, IntCc, Op, Space, Special, Type, Value};

use super::emit::Emitter;

/// The most bytes of all cells, unless one block needs more.
const MOST_BYTES: u64 = 64 << 20;

/// The cells of bytes. Blocks share cells by turns, and so must know their own.
#[derive(Clone, Copy)]
pub struct Cells {
    pub address: u64,
    /// How many blocks have cells of their own at a time.
    pub blocks: u64,
    /// The bytes of shared memory of a block.
    pub shared: u64,
    /// The bytes of a cell, a power of two.
    pub bytes: u64,
    /// The generic address of shared memory.
    pub window: u64,
}

/// The cells of an access.
pub struct Found {
    /// The offset in shared memory, and the lanes whose access is within it.
    pub address: Value,
    pub guard: Value,
    /// The number of the block in the grid, along x first: uniform.
    pub number: Value,
    /// The address of the cell of the first byte.
    pub start: Value,
}

impl Found {
    /// Returns the accesses to the cells of an access. A cell has `cell` bytes, in words of eight. An
    /// access has as many words as elements allow.
    pub fn words(&self, access: &Access, cell: u64) -> impl Iterator<Item = Access> + use<> {
        let words = (cell / 8) as u32;
        let chunk = u32::from(MAX_ELEMENTS) / words;
        let (bytes, address, guard) = (access.bytes(), self.start, self.guard);
        let nomask = access.nomask;
        (0..bytes).step_by(chunk as usize).map(move |done| Access {
            space: Space::Global,
            ty: Type::I64,
            count: (words * chunk.min(bytes - done)) as u8,
            align: 8,
            address,
            offset: (u64::from(done) * cell) as i32,
            guard: Some(guard),
            nomask,
        })
    }
}

impl Cells {
    /// Returns the number of blocks of a grid that have cells at a time, and the bytes of all cells.
    pub fn room(shared: u64, bytes: u64, grid: [u32; 3]) -> (u64, u64) {
        let of_block = shared.max(1) * bytes;
        let all = grid.iter().fold(1_u64, |all, &axis| all.saturating_mul(axis.into()));
        let blocks = (MOST_BYTES / of_block).clamp(1, all.max(1));
        (blocks, blocks * of_block)
    }

    /// Returns the cells of an access, of which `guard` has the lanes that are within shared memory;
    /// or `None` if no lane can be.
    pub fn find(self, emit: &mut Emitter<'_>, access: &Access) -> Option<Found> {
        let bytes = u64::from(access.bytes());
        let most = self.shared.checked_sub(bytes)?;
        let address = emit.varying(access.address);
        let offset = i64::from(access.offset) as u64;
        let address = match access.space {
            Space::Shared => {
                let address = emit.wide(address);
                let address = emit.with(BinaryOp::Add, address, offset);
                // Addresses wrap at 32 bits.
                emit.with(BinaryOp::And, address, u32::MAX.into())
            }
            Space::Generic => emit.with(BinaryOp::Add, address, offset.wrapping_sub(self.window)),
            Space::Global | Space::Local | Space::Const(_) => return None,
        };
        let most = emit.splat(most);
        let fits = emit.compare(IntCc::LeU, address, most);
        let guard = match access.guard {
            Some(guard) => emit.and(fits, guard),
            None => fits,
        };
        let [x, y, z] = [0, 1, 2].map(|axis| emit.push(Op::Special(Special::Ctaid(axis))));
        let [width, height] = [0, 1].map(|axis| emit.push(Op::Special(Special::Nctaid(axis))));
        let [x, y, z, width, height] = [x, y, z, width, height].map(|value| emit.wide(value));
        let mut binary = |op, a, b| emit.push(Op::Binary { op, a, b });
        let rows = binary(BinaryOp::Mul, z, height);
        let rows = binary(BinaryOp::Add, rows, y);
        let number = binary(BinaryOp::Mul, rows, width);
        let number = binary(BinaryOp::Add, number, x);
        let slot = emit.with(BinaryOp::RemU, number, self.blocks);
        let start = emit.with(BinaryOp::Mul, slot, self.shared * self.bytes);
        let start = emit.with(BinaryOp::Add, start, self.address);
        let start = emit.varying(start);
        let offset = emit.with(BinaryOp::Shl, address, self.bytes.ilog2().into());
        let start = emit.push(Op::Binary { op: BinaryOp::Add, a: start, b: offset });
        Some(Found { address, guard, number, start })
    }
}
