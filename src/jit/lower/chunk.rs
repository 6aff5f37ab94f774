//! One chunk of lanes: where its rows lie, and the values it has in registers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value as Clif, types};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::abi;
use super::super::forms::{Lanes, MaskForm, clif_type, parts};
use super::address::Places;
use super::block::BlockLowerer;
use super::gather_scatter::Elements;
use super::int::{constant, plus};
use super::vector;
use crate::analysis::{CHUNK, Class, LaunchClass};
use crate::ir::{BinaryOp, ConvertOp, Op, Special, Type, Value};

/// Values of the chunk that is being lowered. Cloned where control splits, so that a value computed on one side is not
/// taken for one that the other side has.
#[derive(Clone)]
pub struct Chunk {
    place: Place,
    pub lanes: FxHashMap<Value, Lanes>,
    /// Lane 0 of affine values; with it, for inexact ones, whether they are affine in this chunk (`i8`).
    pub bases: FxHashMap<Value, (Clif, Option<Clif>)>,
    pub masks: FxHashMap<Value, MaskForm>,
    /// Values that are loaded when they are needed, with the loads.
    pub put_off: FxHashMap<Value, usize>,
    pub(super) places: Places,
    /// In a loop over a group's chunks: host addresses of the warp's lane 0, each with the step from lane to lane, and
    /// those of the chunk's.
    pub hosts: Vec<((Clif, i64), Clif)>,
    /// What chunks of a group share.
    pub shared: WarpValues,
}

/// Values of the whole warp, while a group is done as a whole.
#[derive(Clone, Default)]
pub struct WarpValues {
    /// Lane 0 of evenly spaced values, tested to be so where that is in doubt.
    pub bases: FxHashMap<Value, Clif>,
    /// Lane 0 of the same values of each chunk, where they are not evenly spaced over the warp.
    chunks: FxHashMap<u32, FxHashMap<Value, (Clif, Option<Clif>)>>,
    /// The same of the current warp of a sweep.
    pub moved: FxHashMap<Value, Clif>,
    /// Uniform values in all lanes of a vector.
    pub splats: FxHashMap<Value, Clif>,
    /// Masks of the whole warp that need no chunk to be computed, `i64`.
    pub masks: FxHashMap<Value, Clif>,
    /// Which elements loads of a strip may read by number.
    pub elements: FxHashMap<usize, Elements>,
    /// Masks that are the same in all lanes of a strip, as a vector.
    pub strip_masks: FxHashMap<Value, Clif>,
}

/// Number of the last of some lanes, counted from the first.
#[derive(Clone, Copy)]
pub enum Reach {
    Known(i64),
    /// `i64`
    Counted(Clif),
}

/// Which chunk it is.
#[derive(Clone, Copy)]
enum Place {
    /// Its first lane, `i64`; the register file, advanced to the chunk's lanes in rows of 4-byte and of 8-byte cells.
    Counted { first_lane: Clif, rows: [Clif; 2] },
    /// Its number.
    Known(u32),
}

impl Chunk {
    /// A chunk of a loop.
    pub fn counted(first_lane: Clif, rows: [Clif; 2]) -> Self {
        Chunk::new(Place::Counted { first_lane, rows })
    }

    /// The first chunk of a group.
    pub fn first_of_group() -> Self {
        Chunk::new(Place::Known(0))
    }

    /// A chunk of the same group, whose chunks are lowered one by one.
    pub fn in_group(self, number: u32) -> Self {
        let bases = self.shared.chunks.get(&number).cloned().unwrap_or_default();
        Chunk { bases, shared: self.shared, ..Chunk::new(Place::Known(number)) }
    }

    /// Keeps what is known of evenly spaced values for when the group turns to this chunk again.
    pub fn keep_bases(&mut self) {
        if let Place::Known(number) = self.place {
            self.shared.chunks.insert(number, self.bases.clone());
        }
    }

    /// This chunk of a loop as one of a group.
    pub fn of_group(self, shared: WarpValues) -> Self {
        Chunk { shared, ..self }
    }

    /// Number of the first lane, if it is known.
    pub fn known_first_lane(&self) -> Option<i64> {
        match self.place {
            Place::Known(number) => Some(i64::from(number * CHUNK)),
            Place::Counted { .. } => None,
        }
    }

    fn new(place: Place) -> Self {
        Chunk {
            place,
            lanes: FxHashMap::default(),
            bases: FxHashMap::default(),
            masks: FxHashMap::default(),
            put_off: FxHashMap::default(),
            places: Places::default(),
            hosts: Vec::new(),
            shared: WarpValues::default(),
        }
    }
}

/// Flags of all accesses. They do not say that addresses are aligned: vectors of guest memory are not, and x86-64 without AVX would fault.
pub fn flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl BlockLowerer<'_, '_, '_> {
    /// A loop over the warp's chunks, which takes values from one to the next. Gives what the last one leaves. Lanes are counted from
    /// `zero`, an `i64` that may be among the values too: then one register is enough.
    pub(super) fn each_chunk(
        &mut self,
        zero: Clif,
        first: &[Clif],
        body: impl FnOnce(&mut Self, &[Clif]) -> Vec<Clif>,
    ) -> Vec<Clif> {
        let (head, exit) = (self.b.create_block(), self.b.create_block());
        let first_lane = self.b.append_block_param(head, types::I64);
        let tys: Vec<_> = first.iter().map(|&v| self.b.func.dfg.value_type(v)).collect();
        let state: Vec<Clif> = tys.into_iter().map(|ty| self.b.append_block_param(head, ty)).collect();
        let args: Vec<BlockArg> = std::iter::once(zero).chain(first.iter().copied()).map(BlockArg::Value).collect();
        self.b.ins().jump(head, &args);
        self.b.switch_to_block(head);
        let chunk = self.new_chunk(first_lane);
        let after = self.in_chunk(chunk, |lowerer| body(lowerer, &state));
        let next = self.b.ins().iadd_imm_s(first_lane, i64::from(CHUNK));
        let lanes = self.facts.chunk_count() * i64::from(CHUNK);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, lanes);
        let args: Vec<BlockArg> = std::iter::once(next).chain(after.iter().copied()).map(BlockArg::Value).collect();
        self.b.ins().brif(more, head, &args, exit, &[]);
        self.b.switch_to_block(exit);
        after
    }

    /// The chunk that begins with this lane. Its rows are lanes times 4 and 8, which addresses of the host can scale by.
    fn new_chunk(&mut self, first_lane: Clif) -> Chunk {
        let rows = [2, 3].map(|shift| {
            let offset = self.b.ins().ishl_imm_u(first_lane, shift);
            self.b.ins().iadd(self.registers, offset)
        });
        Chunk::counted(first_lane, rows)
    }

    /// Whether the step being lowered computes this value.
    pub(super) fn is_home(&self, v: Value) -> bool {
        self.scope.steps.contains(&(self.facts.planned.plan.home[v] as usize))
    }

    /// The lanes of a varying value.
    pub(super) fn lanes(&mut self, v: Value) -> Lanes {
        if let Some(lanes) = self.chunk().lanes.get(&v) {
            return lanes.clone();
        }
        if let Some(&index) = self.chunk().put_off.get(&v) {
            self.load_full_warp(index);
            return self.chunk().lanes[&v].clone();
        }
        if let Some(places) = self.scope.register_loop.laid_down.get(&v) {
            let ty = clif_type(self.facts.ty(v), true);
            // A load for each use may be part of what uses it.
            return places.iter().map(|&at| self.b.ins().load(ty, flags(), self.ctx, at)).collect();
        }
        if let Some(lanes) = self.wake_lanes(v) {
            self.chunk().lanes.insert(v, lanes.clone());
            return lanes;
        }
        let ty = self.facts.ty(v);
        let lanes = match self.scope.classes.get(v) {
            Class::Uniform => {
                let splat = self.splat(v);
                Lanes::from_elem(splat, parts(ty))
            }
            Class::Affine { step, exact } if exact || self.is_tested(v) => self.affine_lanes(v, ty, step),
            Class::Affine { .. } => self.pure_lanes(self.facts.def(v)),
            Class::Varying => match self.facts.def_op(v) {
                Op::RfRead { reg, .. } if self.is_home(v) || !self.facts.planned.slots.is_stored(v) => {
                    let reg = *reg;
                    self.load_row(reg)
                }
                _ if self.is_home(v) => self.pure_lanes(self.facts.def(v)),
                _ => self.load_slot(v),
            },
        };
        self.chunk().lanes.insert(v, lanes.clone());
        lanes
    }

    /// A uniform value in every lane.
    fn splat(&mut self, v: Value) -> Clif {
        if let Some(&splat) = self.chunk().shared.splats.get(&v) {
            return splat;
        }
        let splat = match self.facts.constant(v) {
            Some(bits) => constant(self.b, self.facts.ty(v), bits, true),
            None => {
                let scalar = self.scalar(v);
                let clif = clif_type(self.facts.ty(v), true);
                self.b.ins().splat(clif, scalar)
            }
        };
        if self.scope.full_warp.is_some() {
            self.chunk().shared.splats.insert(v, splat);
        }
        splat
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
        if self.scope.classes.get(v) == Class::Uniform {
            return (self.scalar(v), None);
        }
        if let Some(&base) = self.chunk().bases.get(&v) {
            return base;
        }
        if let Some(base) = self.full_warp_base(v) {
            return (base, None);
        }
        let inst = self.facts.def(v);
        let base = match inst.op {
            Op::LaneId => {
                let first = self.first_lane();
                (self.b.ins().ireduce(types::I32, first), None)
            }
            Op::Special(Special::Tid(axis)) => (self.tid(axis), None),
            // Known of active lanes, which are all.
            Op::RfRead { reg, .. } => {
                let ty = self.facts.ty(v);
                let (row, offset) = self.row(ty, self.facts.layout.offset(reg));
                (self.b.ins().load(clif_type(ty, false), flags(), row, offset), None)
            }
            ref op => {
                let mut doubt: Option<Clif> = None;
                let first = self.first_of(v, &mut |lowerer, operand| {
                    let (base, affine) = match (op, lowerer.scope.classes.get(operand)) {
                        (Op::Concat { .. }, Class::Varying) => {
                            let lanes = lowerer.lanes(operand);
                            let word = lowerer.b.ins().extractlane(lanes[0], 0);
                            let first = vector::first_lane(lowerer.b, lanes[0]);
                            let same = lowerer.are_spaced(&lanes, first, 0);
                            (word, Some(same))
                        }
                        _ => lowerer.base(operand),
                    };
                    doubt = lowerer.both(doubt, affine);
                    base
                });
                if let Some((extension, a)) = self.extended(v) {
                    let (base, _) = self.base(a);
                    let wrap_free = self.wrap_free(extension, a, base, Reach::Known(i64::from(CHUNK) - 1));
                    doubt = self.both(doubt, wrap_free);
                }
                (first, doubt)
            }
        };
        self.chunk().bases.insert(v, base);
        base
    }

    /// The word that an evenly spaced value of 64 bits is extended from, which must not wrap.
    pub(super) fn extended(&self, v: Value) -> Option<(ConvertOp, Value)> {
        match *self.facts.def_op(v) {
            Op::Convert { op: op @ (ConvertOp::SignExtend | ConvertOp::ZeroExtend), a, .. } => Some((op, a)),
            Op::Concat { lo, .. } => Some((ConvertOp::ZeroExtend, lo)),
            _ => None,
        }
    }

    /// Lane 0 of an evenly spaced value. `first` gives that of its operands.
    pub(super) fn first_of(&mut self, v: Value, first: &mut dyn FnMut(&mut Self, Value) -> Clif) -> Clif {
        let same = |&v: &Value| self.scope.classes.get(v).is_same();
        match *self.facts.def_op(v) {
            Op::Select { mask, a, b } if self.scope.classes.is_alike(mask) && [a, b].iter().all(same) => {
                let condition = self.agreed(mask, first);
                let (a, b) = (first(self, a), first(self, b));
                self.b.ins().select(condition, a, b)
            }
            // All lanes are active, and where they are it is the first operand: else it would be no evenly spaced value.
            Op::Select { a, .. } => first(self, a),
            Op::AddCarry { a, b, carry: Some(carry) } => {
                let args = [first(self, a), first(self, b), self.agreed(carry, first)];
                self.base_of(v, &args)
            }
            ref op => {
                let args: SmallVec<[Clif; 4]> = op.operands().into_iter().map(|v| first(self, v)).collect();
                self.base_of(v, &args)
            }
        }
    }

    /// A mask that has all lanes or none, as ones or zeros of `i64`. `first` gives lane 0 of what it is made of.
    fn agreed(&mut self, mask: Value, first: &mut dyn FnMut(&mut Self, Value) -> Clif) -> Clif {
        match *self.facts.def_op(mask) {
            Op::Binary { op, a, b } => {
                let (a, b) = (self.agreed(a, first), self.agreed(b, first));
                match op {
                    BinaryOp::And => self.b.ins().band(a, b),
                    BinaryOp::Or => self.b.ins().bor(a, b),
                    _ => self.b.ins().bxor(a, b),
                }
            }
            Op::Unary { a, .. } => {
                let a = self.agreed(a, first);
                self.b.ins().bnot(a)
            }
            Op::AddCarry { a, b, carry } => {
                let (a, b) = (first(self, a), first(self, b));
                let sum = self.b.ins().iadd(a, b);
                let mut out = self.b.ins().icmp(IntCC::UnsignedLessThan, sum, a);
                if let Some(carry) = carry {
                    let carry = self.agreed(carry, first);
                    let ty = self.b.func.dfg.value_type(sum);
                    let ones = self.b.ins().iconst(ty, -1);
                    let full = self.b.ins().icmp(IntCC::Equal, sum, ones);
                    let none = self.b.ins().iconst(types::I8, 0);
                    let passed = self.b.ins().select(carry, full, none);
                    out = self.b.ins().bor(out, passed);
                }
                self.b.ins().bmask(types::I64, out)
            }
            Op::Const { bits, .. } => self.b.ins().iconst(types::I64, bits as i64),
            // A compare.
            ref op => {
                let args: SmallVec<[Clif; 4]> = op.operands().into_iter().map(|v| first(self, v)).collect();
                self.base_of(mask, &args)
            }
        }
    }

    /// Lane 0 of a pure operation. Whoever asks for it may need less of it than others that it is kept for.
    pub(super) fn base_of(&mut self, v: Value, args: &[Clif]) -> Clif {
        self.pure_scalar(self.facts.def_op(v), args, self.wanted(v))
    }

    /// The last of evenly spaced lanes.
    pub(super) fn spread(&mut self, first: Clif, step: i64, reach: Reach) -> Clif {
        let narrow = self.b.func.dfg.value_type(first) == types::I32;
        match reach {
            Reach::Known(lanes) => {
                let span = step.wrapping_mul(lanes);
                plus(self.b, first, if narrow { i64::from(span as i32) } else { span })
            }
            Reach::Counted(lanes) => {
                let span = self.b.ins().imul_imm_s(lanes, step);
                let span = if narrow { self.b.ins().ireduce(types::I32, span) } else { span };
                self.b.ins().iadd(first, span)
            }
        }
    }

    fn both(&mut self, a: Option<Clif>, b: Option<Clif>) -> Option<Clif> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.b.ins().band(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// Whether the 32-bit lanes `base + i * step` up to the last one stay in range, so that extending them is affine too.
    pub(super) fn wrap_free(&mut self, op: ConvertOp, a: Value, base: Clif, reach: Reach) -> Option<Clif> {
        let (step, _) = self.scope.classes.get(a).affine()?;
        if step == 0 {
            return None;
        }
        let wide = |lowerer: &mut Self, v| match op {
            ConvertOp::SignExtend => lowerer.b.ins().sextend(types::I64, v),
            _ => lowerer.b.ins().uextend(types::I64, v),
        };
        let last = self.spread(base, step, reach);
        let (wide_base, wide_last) = (wide(self, base), wide(self, last));
        let expected = self.spread(wide_base, step, reach);
        Some(self.b.ins().icmp(IntCC::Equal, wide_last, expected))
    }

    /// Number of the chunk's first lane, `i64`.
    pub(super) fn first_lane(&mut self) -> Clif {
        match self.chunk().place {
            Place::Counted { first_lane, .. } => first_lane,
            Place::Known(number) => self.b.ins().iconst(types::I64, i64::from(number * CHUNK)),
        }
    }

    /// Number of the warp's first thread in its block.
    pub(super) fn first_thread(&mut self) -> Clif {
        if let Some(strip) = self.strip() {
            return strip.first_thread;
        }
        let warp = self.ctx_load(types::I32, abi::WARP);
        self.b.ins().imul_imm_s(warp, i64::from(self.facts.function.lanes))
    }

    /// Address of the chunk's entries in the table of thread indices.
    fn tid_address(&mut self, axis: u8) -> Clif {
        let first = self.first_tid_address(axis);
        let lane = self.first_lane();
        let bytes = self.b.ins().ishl_imm_u(lane, 2);
        self.b.ins().iadd(first, bytes)
    }

    /// The same of the warp.
    fn first_tid_address(&mut self, axis: u8) -> Clif {
        let table = self.ctx_load(types::I64, abi::TID_TABLE);
        let first = self.first_thread();
        let mut index = self.b.ins().uextend(types::I64, first);
        if axis > 0 {
            let stride = self.ctx_load(types::I64, abi::TID_STRIDE);
            let skipped = self.b.ins().imul_imm_s(stride, i64::from(axis));
            index = self.b.ins().iadd(index, skipped);
        }
        let bytes = self.b.ins().ishl_imm_u(index, 2);
        self.b.ins().iadd(table, bytes)
    }

    /// Thread index of lane 0.
    pub(super) fn first_tid(&mut self, axis: u8) -> Clif {
        match (self.scope.classes.launch(), axis) {
            (LaunchClass::Line, 0) => self.first_thread(),
            (LaunchClass::Line, _) => self.b.ins().iconst(types::I32, 0),
            _ => {
                let address = self.first_tid_address(axis);
                self.b.ins().load(types::I32, flags(), address, 0)
            }
        }
    }

    fn tid(&mut self, axis: u8) -> Clif {
        if self.scope.classes.launch() == LaunchClass::Line {
            let first = self.first_tid(axis);
            let lane = self.first_lane();
            let lane = self.b.ins().ireduce(types::I32, lane);
            return self.b.ins().iadd(first, lane);
        }
        let address = self.tid_address(axis);
        self.b.ins().load(types::I32, flags(), address, 0)
    }

    pub(super) fn tid_lanes(&mut self, axis: u8) -> Lanes {
        let address = self.tid_address(axis);
        (0..2).map(|i| self.b.ins().load(types::I32X4, flags(), address, i * 16)).collect()
    }

    /// The chunk's cells of a row at an offset in the register file.
    pub(super) fn row(&mut self, ty: Type, offset: u32) -> (Clif, i32) {
        let wide = usize::from(ty.bits() == 64);
        match self.chunk().place {
            Place::Counted { rows, .. } => (rows[wide], offset as i32),
            Place::Known(number) => (self.registers, (offset + number * CHUNK * [4, 8][wide]) as i32),
        }
    }

    pub(super) fn zero_lanes(&mut self, ty: Type) -> Lanes {
        let zero = constant(self.b, ty, 0, true);
        Lanes::from_elem(zero, parts(ty))
    }
}
