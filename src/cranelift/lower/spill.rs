//! Spills values of a long segment to memory while they are not needed.
//!
//! A host has 16 vector registers, a value of a chunk takes two or four of them, and guest code
//! keeps dozens of values. The register allocator solves this, too, but at many times the cost:
//! half of all translation. So if a segment has more live values than fit, the values that are
//! needed last are stored here, and reloaded when they are needed.

use std::cmp::Reverse;

use cranelift_codegen::ir::InstBuilder;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use warploom_analysis::Class;
use warploom_engine::abi;
use warploom_ir::{ConvertOp, Op, Reg, Type, Value, ValueType};

use super::block::BlockLowerer;
use super::chunk::{Chunk, flags};
use crate::forms::{Lanes, MaskForm, clif_type, parts};
use crate::tuning;

/// The bytes of a vector.
pub const VECTOR: u32 = 16;

/// The uses of each value in a segment, or of its bits as another type: positions in ascending
/// order. Masks that the segment passes on are used at its end.
type Uses = FxHashMap<Value, SmallVec<[u32; 4]>>;

/// The spilled values of one segment.
pub struct Spills {
    uses: Uses,
    /// The position of the instruction being lowered.
    at: u32,
    /// The slots of spilled values.
    slots: FxHashMap<Value, u32>,
    /// Slots that are free again, each with its size. All memory past `end` is free.
    free: Vec<(u32, u32)>,
    end: u32,
    /// Registers whose rows no longer hold their former values.
    overwritten: Vec<Reg>,
}

impl Spills {
    fn next_use(&self, v: Value) -> Option<u32> {
        self.uses.get(&v)?.iter().copied().find(|&at| at > self.at)
    }

    fn take_slot(&mut self, bytes: u32) -> Option<u32> {
        if let Some(at) = self.free.iter().position(|&(_, size)| size == bytes) {
            return Some(self.free.swap_remove(at).0);
        }
        let offset = self.end;
        (offset + bytes <= abi::SPILL_BYTES as u32).then(|| {
            self.end += bytes;
            offset
        })
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Prepares a segment whose values do not fit. Other segments, and groups, do without spills.
    pub(super) fn spill_for(&self, insts: &[usize]) -> Option<Spills> {
        if self.scope.mode.settled().is_some() || !self.region.effort.is_fast() {
            return None;
        }
        let uses = self.uses(insts);
        let crowded = self.most_vectors(insts, &uses) > tuning::KEPT_VECTORS;
        crowded.then(|| Spills {
            uses,
            at: 0,
            slots: FxHashMap::default(),
            free: Vec::new(),
            end: 0,
            overwritten: Vec::new(),
        })
    }

    fn uses(&self, insts: &[usize]) -> Uses {
        let mut uses = Uses::default();
        let mut note = |v: Value, at: usize| {
            let (uses, at) = (uses.entry(v).or_default(), at as u32);
            if let Err(place) = uses.binary_search(&at) {
                uses.insert(place, at);
            }
        };
        for (at, &index) in insts.iter().enumerate() {
            let inst = &self.facts.block.insts[index];
            let choice = inst.results.first().and_then(|&v| self.choice_of_skipped(v));
            let made_at = choice
                .and_then(|choice| insts.iter().position(|&index| index == choice))
                .unwrap_or(at);
            inst.op.for_each_operand(|v| note(self.root(v), made_at));
        }
        let results = insts.iter().flat_map(|&index| &self.facts.block.insts[index].results);
        let passed_on =
            results.filter(|&&v| self.facts.block.ty(v) == ValueType::MASK && self.escapes(v));
        passed_on.for_each(|&v| note(v, insts.len()));
        uses
    }

    /// Returns the largest number of vectors that are alive at once.
    fn most_vectors(&self, insts: &[usize], uses: &Uses) -> usize {
        let mut change = vec![0isize; insts.len() + 1];
        for (at, &index) in insts.iter().enumerate() {
            for &result in
                self.facts.block.insts[index].results.iter().filter(|&&v| self.takes_registers(v))
            {
                if let Some(&last) = uses.get(&result).and_then(|uses| uses.last()) {
                    change[at] += self.vectors(result) as isize;
                    change[last as usize] -= self.vectors(result) as isize;
                }
            }
        }
        let alive = change.into_iter().scan(0, |alive, change| {
            *alive += change;
            Some(*alive as usize)
        });
        alive.max().unwrap_or(0)
    }

    /// Returns the value whose bits a value has.
    fn root(&self, v: Value) -> Value {
        let mut root = v;
        while let Op::Convert { op: ConvertOp::Bitcast, a, .. } = *self.facts.def_op(root) {
            root = a;
        }
        root
    }

    fn vectors(&self, v: Value) -> usize {
        if self.facts.block.ty(v) == ValueType::MASK { 2 } else { parts(self.facts.ty(v)) }
    }

    fn takes_registers(&self, v: Value) -> bool {
        if self.facts.block.ty(v) == ValueType::MASK {
            return self.is_home(v) && self.scope.scalars[v].is_none();
        }
        !self.facts.block.ty(v).is_uniform()
            && self.scope.classes.get(v) == Class::Varying
            && self.root(v) == v
    }

    /// Computes the results of an instruction of a crowded segment now, in the guest's order: this
    /// keeps few values alive.
    pub(super) fn compute_now(&mut self, results: &[Value]) {
        for &result in results {
            if !self.takes_registers(result) || self.choice_of_skipped(result).is_some() {
                continue;
            }
            if self.facts.block.ty(result) == ValueType::MASK {
                self.mask(result);
            } else {
                self.lanes(result);
            }
        }
    }

    /// Returns whether a crowded segment still uses a value. Returns true for other segments, as
    /// their uses are not known.
    pub(super) fn is_still_needed(&self, v: Value) -> bool {
        self.scope.spills.as_ref().is_none_or(|rest| rest.next_use(v).is_some())
    }

    /// Records that a register's row is written.
    pub(super) fn overwrite(&mut self, reg: Reg) {
        if let Some(rest) = &mut self.scope.spills {
            rest.overwritten.push(reg);
        }
    }

    /// Spills values after an instruction, the values needed last first, until the rest fits.
    pub(super) fn spill(&mut self, at: usize) {
        let Some(mut rest) = self.scope.spills.take() else { return };
        rest.at = at as u32;
        let Chunk { lanes, masks, .. } = self.chunk();
        let vectors = |form: &MaskForm| form.words.is_some() || form.longs.is_some();
        let masks = masks.iter().filter(|(_, form)| vectors(form)).map(|(&v, _)| v);
        let loaded: Vec<Value> = lanes.keys().copied().chain(masks).collect();
        let mut waiting: Vec<(Reverse<u32>, Value)> = Vec::new();
        let mut kept = 0;
        for v in loaded {
            match rest.next_use(self.root(v)) {
                None => self.forget(v),
                Some(next) => {
                    kept += self.own_vectors(v);
                    waiting.push((Reverse(next), v));
                }
            }
        }
        waiting.sort_unstable();
        for (Reverse(next), v) in waiting {
            if kept <= tuning::KEPT_VECTORS {
                break;
            }
            if next > rest.at + 1 && self.lay_down(&mut rest, self.root(v)) {
                kept -= self.own_vectors(v);
                self.forget(v);
            }
        }
        let over = |v: &Value| rest.uses[v].last().is_none_or(|&last| last <= rest.at);
        let over: Vec<Value> = rest.slots.keys().copied().filter(over).collect();
        for v in over {
            let offset = rest.slots.remove(&v).expect("listed");
            rest.free.push((offset, self.vectors(v) as u32 * VECTOR));
        }
        self.scope.spills = Some(rest);
    }

    /// Returns the number of vectors that only this value has. A value that has another value's
    /// bits has none.
    fn own_vectors(&self, v: Value) -> usize {
        if self.root(v) == v { self.vectors(v) } else { 0 }
    }

    fn forget(&mut self, v: Value) {
        let chunk = self.chunk();
        chunk.lanes.remove(&v);
        chunk.masks.remove(&v);
    }

    /// Makes sure that a value can be had again. Returns false if there is no room.
    fn lay_down(&mut self, rest: &mut Spills, v: Value) -> bool {
        if rest.slots.contains_key(&v) {
            return true;
        }
        let mask = self.facts.block.ty(v) == ValueType::MASK;
        let again = match self.facts.def_op(v) {
            _ if mask => !self.is_home(v) || self.scope.scalars[v].is_some(),
            Op::RfRead { reg, .. } => !rest.overwritten.contains(reg),
            _ => self.scope.classes.get(v) != Class::Varying || !self.is_home(v),
        };
        if again {
            return true;
        }
        let lanes = if mask { self.mask_lanes(v, Type::I32) } else { self.lanes(v) };
        let Some(offset) = rest.take_slot(lanes.len() as u32 * VECTOR) else { return false };
        for (i, &part) in lanes.iter().enumerate() {
            self.b.ins().store(
                flags(),
                part,
                self.ctx,
                abi::SPILLS + (offset + i as u32 * VECTOR) as i32,
            );
        }
        rest.slots.insert(v, offset);
        true
    }

    pub(super) fn is_spilled(&self, v: Value) -> bool {
        self.scope.spills.as_ref().is_some_and(|rest| rest.slots.contains_key(&v))
    }

    /// Reloads the vectors of a value that is spilled.
    fn wake(&mut self, v: Value, ty: Type) -> Option<Lanes> {
        let offset = *self.scope.spills.as_ref()?.slots.get(&v)?;
        let clif = clif_type(ty, true);
        let load = |i| {
            self.b.ins().load(clif, flags(), self.ctx, abi::SPILLS + (offset + i * VECTOR) as i32)
        };
        Some((0..parts(ty) as u32).map(load).collect())
    }

    pub(super) fn wake_lanes(&mut self, v: Value) -> Option<Lanes> {
        self.wake(v, self.facts.ty(v))
    }

    pub(super) fn wake_mask(&mut self, v: Value) -> Option<MaskForm> {
        let words = self.wake(v, Type::I32)?;
        Some(MaskForm { words: Some([words[0], words[1]]), ..MaskForm::default() })
    }
}
