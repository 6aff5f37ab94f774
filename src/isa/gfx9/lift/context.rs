//! [`Cx`], the context of lift functions: operands as values, and destinations.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use warploom_guest::chip::Chip;
use warploom_ir::image::Shape;
use warploom_ir::{BankId, BlockBuilder, CellKind, FunctionBuilder, Reg, Type, Value};

use super::entry::{ConstantMemory, KnownWord};
use super::graphics::Shader;
use super::known::KnownScalars;
use super::mode::Mode;
use super::scalars::{EXEC, PAIRS, RawMask};
use crate::Instruction;

/// The registers of the function being built.
#[derive(Clone, Copy, Debug)]
pub struct Banks {
    /// The scalar registers: `Mask` cells, see [`super`].
    pub scalars: BankId,
    /// The vector registers: `Lane(I32)` cells.
    pub vectors: BankId,
    pub scc: Reg,
}

impl Banks {
    /// Declares the registers of a wave with `vectors` vector registers.
    pub fn declare(function: &mut FunctionBuilder, vectors: u32) -> Banks {
        let scalars = function.bank("s", CellKind::Mask, PAIRS);
        let scc = function.bank("scc", CellKind::Mask, 1).reg(0);
        let vectors = function.bank("v", CellKind::Lane(Type::I32), vectors);
        function.set_active(scalars.reg(u32::from(EXEC / 2)));
        Banks { scalars, vectors, scc }
    }
}

/// The state of one block while its instructions are lifted.
///
/// A lift function reads operands, makes values and writes destinations. It writes vector registers
/// in the active lanes. Before it writes anything, it must find out whether it supports the
/// instruction's modifiers.
pub struct Cx<'a> {
    pub b: BlockBuilder<'a>,
    /// The address of the instruction, and the address behind it.
    pub pc: u64,
    pub next: u64,
    pub mode: Mode,
    /// As in [`super::Kernel`].
    pub(super) chip: Chip,
    /// As in [`super::Initial`].
    pub(super) data_share: Option<u32>,
    /// The operands that m0 indexes in this instruction, as in [`Mode`].
    pub(super) relative: u8,
    pub(super) banks: Banks,
    /// The number of vector registers that exist.
    pub(super) vectors: u32,
    pub(super) exec: Option<Value>,
    /// The masks that vector instructions wrote, by pair of scalar registers.
    pub(super) raw: BTreeMap<u8, RawMask>,
    pub(super) known: KnownScalars,
    /// The vector registers that are constants, as in [`super::program::Program`].
    pub(super) constant_vectors: Option<&'a FxHashMap<u8, u32>>,
    /// As in [`super::Initial`].
    pub(super) constants: &'a [ConstantMemory],
    /// As in [`super::Initial`].
    pub(super) words: &'a [KnownWord],
    /// As in [`super::Initial`].
    pub(super) shader: Option<&'a Shader>,
    /// As in [`super::Kernel`].
    pub(super) objects: &'a [(u32, Shape)],
}

impl<'a> Cx<'a> {
    /// Creates the context at the start of a block.
    pub fn new(b: BlockBuilder<'a>, banks: Banks, vectors: u32, mode: Mode) -> Self {
        let pc = b.pc();
        Cx {
            b,
            pc,
            next: pc,
            mode,
            chip: Chip::Any,
            data_share: None,
            relative: 0,
            banks,
            vectors,
            exec: None,
            raw: BTreeMap::new(),
            known: KnownScalars::NOTHING,
            constant_vectors: None,
            constants: &[],
            words: &[],
            shader: None,
            objects: &[],
        }
    }

    /// Starts the next instruction.
    pub fn start(&mut self, insn: &Instruction, pc: u64) {
        self.pc = pc;
        self.next = pc.wrapping_add(insn.bytes().into());
        self.b.set_pc(pc);
        self.b.set_guard(None);
        self.relative =
            if insn.encoding().is_vector() { self.mode.indexed.unwrap_or(0) } else { 0 };
    }

    /// Returns an `i32` constant.
    pub fn int(&mut self, bits: u32) -> Value {
        self.b.iconst(Type::I32, bits.into())
    }

    /// Returns an `i64` constant.
    pub fn long(&mut self, bits: u64) -> Value {
        self.b.iconst(Type::I64, bits)
    }

    /// Returns a mask of these lanes.
    pub fn lanes(&mut self, bits: u64) -> Value {
        self.b.lanes_of(bits)
    }

    /// Returns a constant of the value's type.
    pub fn like(&mut self, value: Value, bits: u64) -> Value {
        let ty = self.b.ty(value).ty;
        self.b.iconst(ty, bits)
    }

    pub fn shl(&mut self, value: Value, count: u32) -> Value {
        let count = self.like(value, count.into());
        self.b.shl(value, count)
    }

    /// Emits a logical shift right.
    pub fn shr(&mut self, value: Value, count: u32) -> Value {
        let count = self.like(value, count.into());
        self.b.shr_u(value, count)
    }

    /// Emits an arithmetic shift right.
    pub fn sar(&mut self, value: Value, count: u32) -> Value {
        let count = self.like(value, count.into());
        self.b.shr_s(value, count)
    }

    pub fn and_bits(&mut self, value: Value, bits: u64) -> Value {
        let bits = self.like(value, bits);
        self.b.and(value, bits)
    }

    /// Returns the value with another type of its width.
    pub fn cast(&mut self, ty: Type, value: Value) -> Value {
        if self.b.ty(value).ty == ty { value } else { self.b.bitcast(ty, value) }
    }

    /// Returns the low `bits` bits of an `i32`, extended.
    pub fn low_bits(&mut self, value: Value, bits: u32, signed: bool) -> Value {
        if bits >= 32 {
            value
        } else if signed {
            let left = self.shl(value, 32 - bits);
            self.sar(left, 32 - bits)
        } else {
            self.and_bits(value, (1 << bits) - 1)
        }
    }
}
