//! A chunk of lanes: where its rows lie, and its values in registers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value as Clif, types};
use rustc_hash::FxHashMap;
use warploom_analysis::{Class, LaunchClass};
use warploom_engine::abi;
use warploom_ir::{Op, Type, Value};

use super::address::KnownAddresses;
use super::block::BlockLowerer;
use super::gather_scatter::Elements;
use super::int::constant;
use crate::CHUNK;
use crate::forms::{Lanes, MaskForm, clif_type, parts};

/// The values of the chunk that is being lowered.
///
/// It is cloned where control splits. So a value that one side computes is not taken for a value of
/// the other side.
#[derive(Clone)]
pub struct Chunk {
    place: ChunkIndex,
    pub lanes: FxHashMap<Value, Lanes>,
    /// Lane 0 of affine values, and for inexact ones whether they are affine in this chunk (`i8`).
    pub bases: FxHashMap<Value, (Clif, Option<Clif>)>,
    pub masks: FxHashMap<Value, MaskForm>,
    /// Values that are loaded when they are needed, with the instructions that load them.
    pub put_off: FxHashMap<Value, usize>,
    pub(super) places: KnownAddresses,
    /// In a loop over a group's chunks, host addresses by chunk. The key is the host address of the
    /// warp's lane 0 with the step from lane to lane, the value is the host address of the chunk's
    /// lane 0.
    pub hosts: Vec<((Clif, i64), Clif)>,
    /// The values that chunks of a group share.
    pub shared: WarpValues,
}

/// Values of the whole warp, while a group is lowered as a whole.
#[derive(Clone, Default)]
pub struct WarpValues {
    /// Lane 0 of evenly spaced values, whose spacing has been tested where it is in doubt.
    pub bases: FxHashMap<Value, Clif>,
    /// For each chunk, lane 0 of values that are evenly spaced in it but not over the warp.
    chunks: FxHashMap<u32, FxHashMap<Value, (Clif, Option<Clif>)>>,
    /// Lane 0 of evenly spaced values in the current warp of a sweep.
    pub moved: FxHashMap<Value, Clif>,
    /// Uniform values, in all lanes of a vector.
    pub splats: FxHashMap<Value, Clif>,
    /// Masks of the whole warp that are computed without chunks, `i64`.
    pub masks: FxHashMap<Value, Clif>,
    /// The elements that loads of a strip may read by number.
    pub elements: FxHashMap<usize, Elements>,
    /// Masks that are equal in all lanes of a strip, as a vector.
    pub strip_masks: FxHashMap<Value, Clif>,
}

/// The number of the last lane of a range, counted from its first lane.
#[derive(Clone, Copy)]
pub enum Reach {
    Known(i64),
    /// A run-time value, `i64`.
    Counted(Clif),
}

/// Tells which chunk it is.
#[derive(Clone, Copy)]
enum ChunkIndex {
    /// The first lane, `i64`, and the register file advanced to the chunk's lanes, in rows of
    /// 4-byte and of 8-byte cells.
    Counted { first_lane: Clif, rows: [Clif; 2] },
    /// The chunk's number.
    Known(u32),
}

impl Chunk {
    /// Returns a chunk of a loop.
    pub fn counted(first_lane: Clif, rows: [Clif; 2]) -> Self {
        Chunk::new(ChunkIndex::Counted { first_lane, rows })
    }

    /// Returns the first chunk of a group.
    pub fn first_of_group() -> Self {
        Chunk::new(ChunkIndex::Known(0))
    }

    /// Returns another chunk of the same group, whose chunks are lowered one by one.
    pub fn in_group(self, number: u32) -> Self {
        Chunk::numbered(number, &self.shared).of_group(self.shared)
    }

    /// Returns a chunk of a group whose shared values are `shared`, but does not give it these
    /// values yet.
    pub fn numbered(number: u32, shared: &WarpValues) -> Self {
        let bases = shared.chunks.get(&number).cloned().unwrap_or_default();
        Chunk { bases, ..Chunk::new(ChunkIndex::Known(number)) }
    }

    /// Keeps the bases of evenly spaced values for the time when the group returns to this chunk.
    pub fn keep_bases(&mut self) {
        if let ChunkIndex::Known(number) = self.place {
            self.shared.chunks.insert(number, self.bases.clone());
        }
    }

    /// Turns a chunk of a loop into a chunk of a group.
    pub fn of_group(self, shared: WarpValues) -> Self {
        Chunk { shared, ..self }
    }

    /// Returns the number of the first lane, if it is known.
    pub fn known_first_lane(&self) -> Option<i64> {
        match self.place {
            ChunkIndex::Known(number) => Some(i64::from(number * CHUNK)),
            ChunkIndex::Counted { .. } => None,
        }
    }

    fn new(place: ChunkIndex) -> Self {
        Chunk {
            place,
            lanes: FxHashMap::default(),
            bases: FxHashMap::default(),
            masks: FxHashMap::default(),
            put_off: FxHashMap::default(),
            places: KnownAddresses::default(),
            hosts: Vec::new(),
            shared: WarpValues::default(),
        }
    }
}

/// Returns the flags of all accesses.
///
/// The flags do not claim that addresses are aligned: vectors of guest memory are not, and x86-64
/// without AVX would fault.
pub fn flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl BlockLowerer<'_, '_, '_> {
    /// Emits a loop over the warp's chunks that carries values from one chunk to the next. Returns
    /// the values that the last chunk leaves.
    ///
    /// Lanes are counted from `zero`, an `i64` that may also be among the values; one register is
    /// enough then.
    pub(super) fn each_chunk(
        &mut self,
        zero: Clif,
        first: &[Clif],
        body: impl FnOnce(&mut Self, &[Clif]) -> Vec<Clif>,
    ) -> Vec<Clif> {
        let (head, exit) = (self.b.create_block(), self.b.create_block());
        let first_lane = self.b.append_block_param(head, types::I64);
        let tys: Vec<_> = first.iter().map(|&v| self.b.func.dfg.value_type(v)).collect();
        let state: Vec<Clif> =
            tys.into_iter().map(|ty| self.b.append_block_param(head, ty)).collect();
        let args: Vec<BlockArg> =
            std::iter::once(zero).chain(first.iter().copied()).map(BlockArg::Value).collect();
        self.b.ins().jump(head, &args);
        self.b.switch_to_block(head);
        let chunk = self.new_chunk(first_lane);
        let after = self.in_chunk(chunk, |lowerer| body(lowerer, &state));
        let next = self.b.ins().iadd_imm_s(first_lane, i64::from(CHUNK));
        let lanes = self.facts.chunk_count() * i64::from(CHUNK);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, lanes);
        let args: Vec<BlockArg> =
            std::iter::once(next).chain(after.iter().copied()).map(BlockArg::Value).collect();
        self.b.ins().brif(more, head, &args, exit, &[]);
        self.b.switch_to_block(exit);
        after
    }

    /// Returns the chunk that begins at a lane. Its rows are advanced by 4 and 8 times the lane,
    /// factors that host addresses can scale by.
    fn new_chunk(&mut self, first_lane: Clif) -> Chunk {
        let rows = [2, 3].map(|shift| {
            let offset = self.b.ins().ishl_imm_u(first_lane, shift);
            self.b.ins().iadd(self.registers, offset)
        });
        Chunk::counted(first_lane, rows)
    }

    /// Returns whether the step being lowered computes a value.
    pub(super) fn is_home(&self, v: Value) -> bool {
        self.scope.steps.contains(&(self.facts.planned.plan.home[v] as usize))
    }

    /// Returns the lanes of a varying value.
    pub(super) fn lanes(&mut self, v: Value) -> Lanes {
        if let Some(lanes) = self.chunk().lanes.get(&v) {
            return lanes.clone();
        }
        if let Some(&index) = self.chunk().put_off.get(&v) {
            self.load_chunk(index);
            return self.chunk().lanes[&v].clone();
        }
        if let Some(places) =
            self.scope.mode.carried().and_then(|carried| carried.laid_down.get(&v))
        {
            let ty = clif_type(self.facts.ty(v), true);
            // If every use has its own load, the load may become part of the using instruction.
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
            Class::Affine { step, exact } if exact || self.is_tested(v) => {
                self.affine_lanes(v, ty, step)
            }
            // The mask of a choice is known only in the step that made it.
            Class::Affine { .. } if self.scope.classes.relies_on_choice(v) && !self.is_home(v) => {
                self.load_slot(v)
            }
            Class::Affine { .. } => self.pure_lanes(self.facts.def(v)),
            Class::Varying => match self.facts.def_op(v) {
                Op::RfRead { reg, .. }
                    if self.is_home(v) || !self.facts.planned.slots.is_stored(v) =>
                {
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

    /// Returns a uniform value in every lane of a vector.
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
        if self.scope.mode.settled().is_some() {
            self.chunk().shared.splats.insert(v, splat);
        }
        splat
    }

    /// Returns the number of the chunk's first lane, `i64`.
    pub(super) fn first_lane(&mut self) -> Clif {
        match self.chunk().place {
            ChunkIndex::Counted { first_lane, .. } => first_lane,
            ChunkIndex::Known(number) => self.b.ins().iconst(types::I64, i64::from(number * CHUNK)),
        }
    }

    /// Returns the number of the warp's first thread in its block.
    pub(super) fn first_thread(&mut self) -> Clif {
        if let Some(strip) = self.strip() {
            return strip.first_thread;
        }
        let warp = self.ctx_load(types::I32, abi::WARP);
        self.b.ins().imul_imm_s(warp, i64::from(self.facts.function.lanes))
    }

    /// Returns the address of the chunk's entries in the table of thread indices.
    fn tid_address(&mut self, axis: u8) -> Clif {
        let first = self.first_tid_address(axis);
        let lane = self.first_lane();
        let bytes = self.b.ins().ishl_imm_u(lane, 2);
        self.b.ins().iadd(first, bytes)
    }

    /// Returns the address of the warp's entries in the table of thread indices.
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

    /// Returns the thread index of lane 0.
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

    pub(super) fn tid(&mut self, axis: u8) -> Clif {
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

    /// Returns the address of the chunk's cells in a row that is at an offset in the register file.
    pub(super) fn row(&mut self, ty: Type, offset: u32) -> (Clif, i32) {
        let wide = usize::from(ty.bits() == 64);
        match self.chunk().place {
            ChunkIndex::Counted { rows, .. } => (rows[wide], offset as i32),
            ChunkIndex::Known(number) => {
                (self.registers, (offset + number * CHUNK * [4, 8][wide]) as i32)
            }
        }
    }

    pub(super) fn zero_lanes(&mut self, ty: Type) -> Lanes {
        let zero = constant(self.b, ty, 0, true);
        Lanes::from_elem(zero, parts(ty))
    }
}
