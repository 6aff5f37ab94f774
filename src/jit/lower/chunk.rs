//! One chunk of lanes: where its rows lie, and the values it has in registers.

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value as Clif, types};

use super::super::abi;
use super::super::forms::{Lanes, MaskForm, clif_type, parts};
use super::block::BlockLowerer;
use super::int::constant;
use super::vector;
use crate::analysis::{CHUNK, Class};
use crate::ir::{CellKind, ConvertOp, Op, Reg, Special, Type, Value};

/// Values of the chunk that is being lowered. Cloned where control splits, so that a value computed on one side is not
/// taken for one that the other side has.
#[derive(Clone)]
pub struct Chunk {
    /// Number of the chunk, `i64`.
    pub index: Clif,
    /// The register file, advanced to the chunk's lanes in rows of 4-byte and of 8-byte cells.
    pub rows: [Clif; 2],
    pub lanes: HashMap<Value, Lanes>,
    /// Lane 0 of affine values; with it, for inexact ones, whether they are affine in this chunk (`i8`).
    pub bases: HashMap<Value, (Clif, Option<Clif>)>,
    pub masks: HashMap<Value, MaskForm>,
}

impl Chunk {
    pub fn new(index: Clif, rows: [Clif; 2]) -> Self {
        Chunk { index, rows, lanes: HashMap::new(), bases: HashMap::new(), masks: HashMap::new() }
    }
}

pub fn flags() -> MemFlagsData {
    MemFlagsData::trusted()
}

impl BlockLowerer<'_, '_, '_> {
    pub(super) fn chunk(&mut self) -> &mut Chunk {
        self.chunk.as_mut().expect("inside a chunk loop")
    }

    /// Whether the step being lowered computes this value.
    fn is_home(&self, v: Value) -> bool {
        self.plan.home[v.0 as usize] as usize == self.step
    }

    /// The lanes of a varying value.
    pub(super) fn lanes(&mut self, v: Value) -> Lanes {
        if let Some(lanes) = self.chunk().lanes.get(&v) {
            return lanes.clone();
        }
        let ty = self.ty(v);
        let lanes = match self.classes.get(v) {
            Class::Uniform => {
                let scalar = self.scalar(v);
                let splat = self.b.ins().splat(clif_type(ty, true), scalar);
                Lanes::from_elem(splat, parts(ty))
            }
            Class::Affine { step, exact: true } => self.affine_lanes(v, ty, step),
            Class::Affine { exact: false, .. } => self.pure_lanes(self.def(v)),
            Class::Varying => match self.def_op(v) {
                Op::RfRead { reg, .. } if self.is_home(v) || !self.slots.is_stored(v) => {
                    let reg = *reg;
                    self.load_row(reg)
                }
                _ if self.is_home(v) => self.pure_lanes(self.def(v)),
                _ => self.load_slot(v),
            },
        };
        self.chunk().lanes.insert(v, lanes.clone());
        lanes
    }

    /// Lane 0, plus lane number times step.
    fn affine_lanes(&mut self, v: Value, ty: Type, step: i64) -> Lanes {
        let (base, _) = self.base(v);
        let splat = self.b.ins().splat(clif_type(ty, true), base);
        if step == 0 {
            return Lanes::from_elem(splat, parts(ty));
        }
        (0..parts(ty))
            .map(|part| {
                let offsets = if ty.bits() == 64 {
                    let at = |i: usize| (step.wrapping_mul((part * 2 + i) as i64)) as u64;
                    vector::longs(self.b, [at(0), at(1)])
                } else {
                    let at = |i: usize| (step.wrapping_mul((part * 4 + i) as i64)) as u32;
                    vector::words(self.b, [at(0), at(1), at(2), at(3)])
                };
                self.b.ins().iadd(splat, offsets)
            })
            .collect()
    }

    /// Lane 0 of a value that is uniform or affine in the chunk, and whether it is affine at all if that is in doubt.
    pub(super) fn base(&mut self, v: Value) -> (Clif, Option<Clif>) {
        if self.classes.get(v) == Class::Uniform {
            return (self.scalar(v), None);
        }
        if let Some(&base) = self.chunk().bases.get(&v) {
            return base;
        }
        let inst = self.def(v);
        let base = match inst.op {
            Op::LaneId => {
                let first = self.first_lane();
                (self.b.ins().ireduce(types::I32, first), None)
            }
            Op::Special(Special::Tid(axis)) => (self.tid(axis), None),
            ref op => {
                let mut doubt: Option<Clif> = None;
                let mut args = Vec::new();
                for operand in op.operands() {
                    let (base, affine) = self.base(operand);
                    args.push(base);
                    doubt = self.both(doubt, affine);
                }
                if let Op::Convert { op: op @ (ConvertOp::SignExtend | ConvertOp::ZeroExtend), a, .. } = *op {
                    let wrap_free = self.wrap_free(op, a, args[0]);
                    doubt = self.both(doubt, wrap_free);
                }
                let scalar = self.pure_scalar(op, &args, self.ty(v));
                (scalar, doubt)
            }
        };
        self.chunk().bases.insert(v, base);
        base
    }

    fn both(&mut self, a: Option<Clif>, b: Option<Clif>) -> Option<Clif> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.b.ins().band(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// Whether the 32-bit lanes `base + i * step` of the chunk stay in range, so that extending them is affine too.
    fn wrap_free(&mut self, op: ConvertOp, a: Value, base: Clif) -> Option<Clif> {
        let (step, _) = self.classes.get(a).affine()?;
        if step == 0 {
            return None;
        }
        let wide = |lowerer: &mut Self, v| match op {
            ConvertOp::SignExtend => lowerer.b.ins().sextend(types::I64, v),
            _ => lowerer.b.ins().uextend(types::I64, v),
        };
        let span = step.wrapping_mul(i64::from(CHUNK) - 1);
        let last = self.b.ins().iadd_imm_s(base, i64::from(span as i32));
        let (wide_base, wide_last) = (wide(self, base), wide(self, last));
        let expected = self.b.ins().iadd_imm_s(wide_base, span);
        Some(self.b.ins().icmp(IntCC::Equal, wide_last, expected))
    }

    /// Number of the chunk's first lane, `i64`.
    pub(super) fn first_lane(&mut self) -> Clif {
        let index = self.chunk().index;
        self.b.ins().ishl_imm_u(index, i64::from(CHUNK.trailing_zeros()))
    }

    /// Address of the chunk's entries in the table of thread indices.
    fn tid_address(&mut self, axis: u8) -> Clif {
        let table = self.ctx_load(types::I64, abi::TID_TABLE);
        let stride = self.ctx_load(types::I64, abi::TID_STRIDE);
        let warp = self.ctx_load(types::I32, abi::WARP);
        let warp = self.b.ins().uextend(types::I64, warp);
        let first = self.b.ins().imul_imm_s(warp, i64::from(self.function.lanes));
        let lane = self.first_lane();
        let mut index = self.b.ins().iadd(first, lane);
        if axis > 0 {
            let skipped = self.b.ins().imul_imm_s(stride, i64::from(axis));
            index = self.b.ins().iadd(index, skipped);
        }
        let bytes = self.b.ins().ishl_imm_u(index, 2);
        self.b.ins().iadd(table, bytes)
    }

    fn tid(&mut self, axis: u8) -> Clif {
        let address = self.tid_address(axis);
        self.b.ins().load(types::I32, flags(), address, 0)
    }

    pub(super) fn tid_lanes(&mut self, axis: u8) -> Lanes {
        let address = self.tid_address(axis);
        (0..2).map(|i| self.b.ins().load(types::I32X4, flags(), address, i * 16)).collect()
    }

    /// The chunk's cells of a row at an offset in the register file.
    fn row(&mut self, ty: Type, offset: u32) -> (Clif, i32) {
        let base = self.chunk().rows[usize::from(ty.bits() == 64)];
        (base, offset as i32)
    }

    fn load_cells(&mut self, ty: Type, offset: u32) -> Lanes {
        let (base, offset) = self.row(ty, offset);
        let clif = clif_type(ty, true);
        (0..parts(ty) as i32).map(|i| self.b.ins().load(clif, flags(), base, offset + i * 16)).collect()
    }

    pub(super) fn store_cells(&mut self, ty: Type, offset: u32, lanes: &[Clif]) {
        let (base, offset) = self.row(ty, offset);
        for (i, &part) in lanes.iter().enumerate() {
            self.b.ins().store(flags(), part, base, offset + i as i32 * 16);
        }
    }

    pub(super) fn load_row(&mut self, reg: Reg) -> Lanes {
        let CellKind::Lane(ty) = self.function.bank(reg.bank).kind else { unreachable!("lane register") };
        let offset = self.layout.offset(reg);
        self.load_cells(ty, offset)
    }

    pub(super) fn load_slot(&mut self, v: Value) -> Lanes {
        let slot = self.slots.row(v);
        self.load_cells(self.ty(v), slot)
    }

    pub(super) fn store_slot(&mut self, v: Value) {
        let slot = self.slots.row(v);
        let lanes = self.lanes(v);
        self.store_cells(self.ty(v), slot, &lanes);
    }

    /// Writes the lanes of a mask (all lanes without one) to a register's row.
    pub(super) fn write_row(&mut self, reg: Reg, v: Value, mask: Option<Value>) {
        let CellKind::Lane(ty) = self.function.bank(reg.bank).kind else { unreachable!("lane register") };
        let offset = self.layout.offset(reg);
        let new = self.lanes(v);
        let lanes = match mask {
            None => new,
            Some(mask) => {
                let old = self.load_cells(ty, offset);
                self.merge(mask, &new, &old, ty)
            }
        };
        self.store_cells(ty, offset, &lanes);
    }

    /// Lane by lane `new` where the mask is set, else `old`.
    pub(super) fn merge(&mut self, mask: Value, new: &[Clif], old: &[Clif], ty: Type) -> Lanes {
        let conditions: Lanes = if ty.bits() == 64 {
            self.mask_longs(mask).into_iter().collect()
        } else {
            self.mask_words(mask).into_iter().collect()
        };
        conditions
            .iter()
            .zip(new.iter().zip(old))
            .map(|(&condition, (&new, &old))| vector::blend(self.b, condition, new, old))
            .collect()
    }

    /// The chunk's form of a mask that was computed outside the chunk loop, or in it.
    fn mask(&mut self, v: Value) -> MaskForm {
        if let Some(&form) = self.chunk().masks.get(&v) {
            return form;
        }
        let form = if !self.in_chunk.contains(&v) && (self.scalars[v.0 as usize].is_some() || !self.is_home(v)) {
            let whole = self.scalar(v);
            let first = self.first_lane();
            let shifted = self.b.ins().ushr(whole, first);
            MaskForm { bits: Some(self.b.ins().band_imm_u(shifted, 0xff)), ..MaskForm::default() }
        } else {
            self.pure_mask(self.def(v), v)
        };
        self.chunk().masks.insert(v, form);
        form
    }

    pub(super) fn mask_bits(&mut self, v: Value) -> Clif {
        let form = self.mask(v);
        if let Some(bits) = form.bits {
            return bits;
        }
        let words = self.mask_words(v);
        let bits = vector::mask_bits(self.b, words);
        self.chunk().masks.get_mut(&v).expect("just made").bits = Some(bits);
        bits
    }

    pub(super) fn mask_words(&mut self, v: Value) -> [Clif; 2] {
        let form = self.mask(v);
        if let Some(words) = form.words {
            return words;
        }
        let words = match form.longs {
            Some(longs) => vector::halves(self.b, &longs, false),
            None => {
                let bits = form.bits.expect("a mask has some form");
                vector::mask_words(self.b, bits)
            }
        };
        self.chunk().masks.get_mut(&v).expect("just made").words = Some(words);
        words
    }

    pub(super) fn mask_longs(&mut self, v: Value) -> [Clif; 4] {
        if let Some(longs) = self.mask(v).longs {
            return longs;
        }
        let words = self.mask_words(v);
        let longs = vector::interleave(self.b, &words, &words);
        self.chunk().masks.get_mut(&v).expect("just made").longs = Some(longs);
        longs
    }

    /// Whether a mask is best combined as vectors: it has been computed as such.
    pub(super) fn has_words(&mut self, v: Value) -> bool {
        let form = self.mask(v);
        form.words.is_some() || form.longs.is_some()
    }

    pub(super) fn zero_lanes(&mut self, ty: Type) -> Lanes {
        let zero = constant(self.b, ty, 0, true);
        Lanes::from_elem(zero, parts(ty))
    }
}
