//! Appends the operations of checks to a block, and the record of the first bad access.

use warploom_ir::typing::{Env, op_types};
use warploom_ir::{
    Access, AtomicOp, Bank, BinaryOp, Block, ConvertOp, Inst, IntCc, Op, Space, Special, Type,
    Value, Values, Window, numbered,
};

/// The words of eight bytes of a site's record: the count of bad accesses; then of the first one the
/// address, the lane, the block's three indices, the warp, and a word of the check.
pub const WORDS: usize = 8;
pub const RECORD_BYTES: u64 = 8 * WORDS as u64;

pub struct Emitter<'b> {
    pub lanes: u8,
    pub banks: &'b [Bank],
    pub block: &'b mut Block,
    pub window: Window,
    pub pc: u64,
}

impl Emitter<'_> {
    /// Appends a store of the first bad access to the record at an address. `bad` are the lanes with
    /// bad accesses, `address` and `word` what they store.
    pub fn report(&mut self, record: u64, bad: Value, address: Value, word: Value) {
        let start = self.splat(record);
        let access = |guard, offset| Access {
            space: Space::Global,
            ty: Type::I64,
            count: 1,
            align: 8,
            address: start,
            offset,
            guard: Some(guard),
            nomask: false,
        };
        let one = self.splat(1);
        let before = self.push(Op::Atomic {
            access: access(bad, 0),
            op: AtomicOp::Add,
            value: one,
            compare: None,
            sparse: false,
        });
        let zero = self.splat(0);
        let first = self.compare(IntCc::Eq, before, zero);
        let first = self.and(first, bad);
        let lane = self.push(Op::LaneId);
        let [x, y, z] = [0, 1, 2].map(|axis| self.push(Op::Special(Special::Ctaid(axis))));
        let warp = self.push(Op::Special(Special::WarpId));
        let [lane, x, y, z, warp] = [lane, x, y, z, warp].map(|value| self.wide(value));
        for (value, offset) in
            [address, lane, x, y, z, warp, word].into_iter().zip((8..).step_by(8))
        {
            let access = access(first, offset);
            self.pushed(Op::Store { access, values: vec![value], sparse: false });
        }
    }

    pub fn compare(&mut self, cc: IntCc, a: Value, b: Value) -> Value {
        self.push(Op::ICmp { cc, a, b })
    }

    /// Returns the conjunction of two masks or numbers.
    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.push(Op::Binary { op: BinaryOp::And, a, b })
    }

    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.push(Op::Binary { op: BinaryOp::Or, a, b })
    }

    pub fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.push(Op::Select { mask, a, b })
    }

    /// Returns an `i32` as an `i64`.
    pub fn wide(&mut self, a: Value) -> Value {
        self.push(Op::Convert { op: ConvertOp::ZeroExtend, to: Type::I64, a })
    }

    /// Returns a value as a varying value.
    pub fn varying(&mut self, a: Value) -> Value {
        match self.block.values[a.0 as usize].is_uniform() {
            true => self.push(Op::Splat { a }),
            false => a,
        }
    }

    /// Returns a constant as a varying value.
    pub fn splat(&mut self, bits: u64) -> Value {
        let a = self.constant(bits);
        self.push(Op::Splat { a })
    }

    pub fn constant(&mut self, bits: u64) -> Value {
        self.push(Op::Const { ty: Type::I64, bits })
    }

    pub fn with(&mut self, op: BinaryOp, a: Value, bits: u64) -> Value {
        let b = self.constant(bits);
        self.push(Op::Binary { op, a, b })
    }

    /// Appends an operation with one result.
    pub fn push(&mut self, op: Op) -> Value {
        self.pushed(op)[0]
    }

    /// Appends an operation, and returns its results.
    pub fn pushed(&mut self, op: Op) -> Values {
        let env = Env { lanes: self.lanes, banks: self.banks, values: &self.block.values };
        let types = op_types(&op, env).expect("the operations of checks are well typed");
        let first = self.block.values.len();
        let results = numbered(first, types.len());
        self.block.values.extend(types);
        let inst = Inst { op, results: results.clone(), window: self.window, pc: self.pc };
        self.block.insts.push(inst);
        results
    }
}
