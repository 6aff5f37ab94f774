//! Masks of a chunk's lanes, as bits and as vectors of ones and zeros.

use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use warploom_ir::{BinaryOp, FloatCc, Inst, IntCc, Op, Type, UnaryOp, Value};

use super::block::BlockLowerer;
use super::chunk::flags;
use super::int::{self, shifted_up};
use super::tables::Table;
use super::{float, vector};
use crate::CHUNK;
use crate::forms::{Lanes, MaskForm, parts};

/// For each mask of a chunk, its lanes as vectors.
pub(super) static MASK_WORDS: [[u32; CHUNK as usize]; 1 << CHUNK] = {
    let mut words = [[0; CHUNK as usize]; 1 << CHUNK];
    let mut at = 0;
    while at < CHUNK << CHUNK {
        let (bits, lane) = (at / CHUNK, at % CHUNK);
        words[bits as usize][lane as usize] = if bits >> lane & 1 != 0 { u32::MAX } else { 0 };
        at += 1;
    }
    words
};

impl BlockLowerer<'_, '_, '_> {
    /// Clears the bits past the warp, which turns an `i64` into a mask.
    pub(super) fn inside_warp(&mut self, bits: Clif) -> Clif {
        match self.facts.warp_mask() {
            u64::MAX => bits,
            all => self.b.ins().band_imm_s(bits, all as i64),
        }
    }

    /// Returns the complement of a mask of the warp.
    pub(super) fn other_lanes(&mut self, mask: Clif) -> Clif {
        match self.facts.warp_mask() {
            u64::MAX => self.b.ins().bnot(mask),
            all => self.b.ins().bxor_imm_s(mask, all as i64),
        }
    }

    /// Returns all lanes of the warp if a bit, an `i8`, is set, else none.
    pub(super) fn all_lanes_if(&mut self, bit: Clif) -> Clif {
        let ones = self.b.ins().bmask(types::I64, bit);
        self.inside_warp(ones)
    }

    /// Returns the lanes that two masks of the warp have in common.
    ///
    /// The host has one instruction that removes another mask's lanes. The complement inside the
    /// instruction may have bits past the warp.
    pub(super) fn both_masks(&mut self, (a, x): (Value, Clif), (b, y): (Value, Clif)) -> Clif {
        let inverted = |lowerer: &Self, v: Value| match *lowerer.facts.def_op(v) {
            Op::Unary { op: UnaryOp::Not, a } => lowerer.scope.scalars[a],
            _ => None,
        };
        if let Some(y) = inverted(self, b) {
            return self.b.ins().band_not(x, y);
        }
        match inverted(self, a) {
            Some(x) => self.b.ins().band_not(y, x),
            None => self.b.ins().band(x, y),
        }
    }

    /// Returns the chunk's form of a mask that was computed outside the chunk loop or in it.
    pub(super) fn mask(&mut self, v: Value) -> MaskForm {
        if let Some(&form) = self.chunk().masks.get(&v) {
            return form;
        }
        if let Some(&equal) =
            self.scope.mode.carried().and_then(|carried| carried.equal_masks.get(&v))
        {
            let form = self.mask(equal);
            self.chunk().masks.insert(v, form);
            return form;
        }
        if let Some(form) = self.wake_mask(v) {
            self.chunk().masks.insert(v, form);
            return form;
        }
        let settled = self.settled_mask(v).map(|full| if full { u8::MAX } else { 0 });
        if let Some(known) = settled.or_else(|| self.known_bits(v)) {
            let word = |lane: usize| if known >> lane & 1 != 0 { u32::MAX } else { 0 };
            let low = vector::words(self.b, std::array::from_fn(word));
            let same = known & 0xf == known >> 4;
            let high = if same {
                low
            } else {
                vector::words(self.b, std::array::from_fn(|lane| word(4 + lane)))
            };
            let bits = self.b.ins().iconst(types::I64, i64::from(known));
            let form =
                MaskForm { bits: Some(bits), words: Some([low, high]), ..MaskForm::default() };
            self.chunk().masks.insert(v, form);
            return form;
        }
        if let Some(&words) = self.chunk().shared.strip_masks.get(&v) {
            let longs = vector::cast(self.b, types::I64X2, words);
            let form = MaskForm {
                words: Some([words; 2]),
                longs: Some([longs; 4]),
                ..MaskForm::default()
            };
            self.chunk().masks.insert(v, form);
            return form;
        }
        if let Some(&whole) = self.chunk().shared.masks.get(&v) {
            let form = MaskForm { bits: Some(self.chunk_bits(whole)), ..MaskForm::default() };
            self.chunk().masks.insert(v, form);
            return form;
        }
        let is_outside = self.scope.scalars[v].is_some() || !self.is_home(v);
        if !is_outside
            || self.scope.mode.carried().is_some_and(|carried| carried.in_chunk.contains(&v))
        {
            let inst = self.facts.def(v);
            let form = self.in_order(inst, |lowerer| lowerer.pure_mask(inst, v));
            self.chunk().masks.insert(v, form);
            if !matches!(inst.op, Op::Binary { .. }) {
                self.drop_lanes_past_warp(v);
            }
            return self.chunk().masks[&v];
        }
        let whole = self.scalar(v);
        let form = MaskForm { bits: Some(self.chunk_bits(whole)), ..MaskForm::default() };
        self.chunk().masks.insert(v, form);
        form
    }

    /// Drops the lanes past the warp from a mask that the chunk has just made. A chunk has these
    /// lanes if a warp does not fill it.
    pub(super) fn drop_lanes_past_warp(&mut self, v: Value) {
        if u32::from(self.facts.function.lanes).is_multiple_of(CHUNK) {
            return;
        }
        let all = self.b.ins().iconst(types::I64, self.facts.warp_mask() as i64);
        let (bits, inside) = (self.mask_bits(v), self.chunk_bits(all));
        let bits = Some(self.b.ins().band(bits, inside));
        self.chunk().masks.insert(v, MaskForm { bits, ..MaskForm::default() });
    }

    /// Returns the chunk's bits of a constant mask, if the chunk's number is known.
    fn known_bits(&self, v: Value) -> Option<u8> {
        let first = self.scope.chunk.as_ref()?.known_first_lane()?;
        Some((self.facts.constant(v)? >> first) as u8)
    }

    /// Returns whether a mask is known to have all lanes of the chunk, or none.
    pub(super) fn settled_in_chunk(&self, v: Value) -> Option<bool> {
        self.settled_mask(v).or_else(|| match self.known_bits(v)? {
            0 => Some(false),
            u8::MAX => Some(true),
            _ => None,
        })
    }

    /// Returns the chunk's bits of a mask of the whole warp.
    pub(super) fn chunk_bits(&mut self, whole: Clif) -> Clif {
        let shifted = match self.chunk().known_first_lane() {
            Some(0) => whole,
            _ => {
                let first = self.first_lane();
                self.b.ins().ushr(whole, first)
            }
        };
        self.b.ins().band_imm_u(shifted, 0xff)
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
                let made = self.region.effort.is_fast() && self.facts.constant(v).is_none();
                if made { vector::mask_words(self.b, bits) } else { self.listed_words(bits) }
            }
        };
        self.chunk().masks.get_mut(&v).expect("just made").words = Some(words);
        words
    }

    /// Loads the lanes of ones and zeros for a chunk's bits from a table, which is less code than
    /// making them.
    fn listed_words(&mut self, bits: Clif) -> [Clif; 2] {
        let table = Table::MaskWords.in_code(self.b);
        let offset = self.b.ins().ishl_imm_u(bits, 5);
        let at = self.b.ins().iadd(table, offset);
        [0, 16].map(|bytes| self.b.ins().load(types::I32X4, flags(), at, bytes))
    }

    /// Returns a mask as ones or zeros in lanes of a type's width.
    pub(super) fn mask_lanes(&mut self, v: Value, ty: Type) -> Lanes {
        match parts(ty) {
            2 => self.mask_words(v).into_iter().collect(),
            _ => self.mask_longs(v).into_iter().collect(),
        }
    }

    /// Adds the chunk's bits of a mask to the bits of earlier chunks.
    pub(super) fn add_chunk_bits(&mut self, before: Clif, bits: Clif) -> Clif {
        let placed = self.in_warp(bits);
        self.b.ins().bor(before, placed)
    }

    /// Moves the chunk's bits to their position in a mask of the warp.
    pub(super) fn in_warp(&mut self, bits: Clif) -> Clif {
        match self.chunk().known_first_lane() {
            Some(lane) => shifted_up(self.b, bits, lane),
            None => {
                let first = self.first_lane();
                self.b.ins().ishl(bits, first)
            }
        }
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

    /// Returns whether a mask is best combined as vectors, because it has been computed as vectors.
    pub(super) fn has_words(&mut self, v: Value) -> bool {
        let form = self.mask(v);
        form.words.is_some() || form.longs.is_some()
    }

    /// Clears the lowest bit that is set.
    pub(super) fn without_first(&mut self, bits: Clif) -> Clif {
        let less = self.b.ins().iadd_imm_s(bits, -1);
        self.b.ins().band(bits, less)
    }

    /// Computes a mask in the chunk: by a compare, a carry, or bitwise operations on masks.
    pub(super) fn pure_mask(&mut self, inst: &Inst, v: Value) -> MaskForm {
        match inst.op {
            Op::ICmp { cc, a, b } => self.compare_ints(cc, a, b),
            Op::FCmp { cc, a, b, flush } => self.compare_floats(cc, a, b, flush),
            Op::AddCarry { a, b, carry } => {
                let ty = self.facts.ty(a);
                let (sum, out) = self.add_carry(a, b, carry, ty, true);
                self.chunk().lanes.insert(inst.results[0], sum);
                debug_assert_eq!(inst.results[1], v);
                mask_form(out)
            }
            Op::Unary { op: UnaryOp::Not, a } => {
                if let Some(form) = self.inverse_compare(a) {
                    return form;
                }
                if self.has_words(a) {
                    let words = self.mask_words(a).map(|x| self.b.ins().bnot(x));
                    return MaskForm { words: Some(words), ..MaskForm::default() };
                }
                let bits = self.mask_bits(a);
                MaskForm { bits: Some(self.b.ins().bxor_imm_u(bits, 0xff)), ..MaskForm::default() }
            }
            Op::Binary { op: BinaryOp::And, a, b } if self.settled_mask(a) == Some(true) => {
                self.mask(b)
            }
            Op::Binary { op: BinaryOp::And, a, b } if self.settled_mask(b) == Some(true) => {
                self.mask(a)
            }
            Op::Binary { op: BinaryOp::Or, a, b } if self.settled_mask(a) == Some(false) => {
                self.mask(b)
            }
            Op::Binary { op: BinaryOp::Or, a, b } if self.settled_mask(b) == Some(false) => {
                self.mask(a)
            }
            Op::Binary { op, a, b } => {
                if let Some(form) = self.skipping_a_condition(op, a, b) {
                    return form;
                }
                let apply = |lowerer: &mut Self, x, y| match op {
                    BinaryOp::And => lowerer.b.ins().band(x, y),
                    BinaryOp::Or => lowerer.b.ins().bor(x, y),
                    _ => lowerer.b.ins().bxor(x, y),
                };
                if self.has_words(a) || self.has_words(b) {
                    let (x, y) = (self.mask_words(a), self.mask_words(b));
                    let words = [apply(self, x[0], y[0]), apply(self, x[1], y[1])];
                    return MaskForm { words: Some(words), ..MaskForm::default() };
                }
                let (x, y) = (self.mask_bits(a), self.mask_bits(b));
                MaskForm { bits: Some(apply(self, x, y)), ..MaskForm::default() }
            }
            ref op => unreachable!("no mask form of {op:?}"),
        }
    }

    fn compare_ints(&mut self, cc: IntCc, a: Value, b: Value) -> MaskForm {
        let ty = self.facts.ty(a);
        let (x, y) = (self.lanes(a), self.lanes(b));
        mask_form(
            x.iter().zip(&y).map(|(&x, &y)| int::compare_vector(self.b, cc, ty, x, y)).collect(),
        )
    }

    fn compare_floats(&mut self, cc: FloatCc, a: Value, b: Value, flush: bool) -> MaskForm {
        let ty = self.facts.ty(a);
        let (mut x, mut y) = (self.lanes(a), self.lanes(b));
        for part in x.iter_mut().chain(&mut y) {
            *part = self.compared(ty, flush, *part, true);
        }
        mask_form(x.iter().zip(&y).map(|(&x, &y)| float::compare(self.b, cc, x, y)).collect())
    }

    /// Returns where a compare of lanes does not hold, by a single compare: the host has no
    /// complement of a vector. Returns `None` if the mask is known already or is no compare.
    fn inverse_compare(&mut self, mask: Value) -> Option<MaskForm> {
        let chunk = self.chunk();
        let known = chunk.masks.contains_key(&mask) || chunk.shared.masks.contains_key(&mask);
        let known =
            known || self.settled_mask(mask).is_some() || self.scope.scalars[mask].is_some();
        if known || self.is_spilled(mask) || !self.is_home(mask) {
            return None;
        }
        match *self.facts.def_op(mask) {
            Op::ICmp { cc, a, b } => Some(self.compare_ints(cc.inverse(), a, b)),
            Op::FCmp { cc, a, b, flush } => Some(self.compare_floats(cc.inverse(), a, b, flush)),
            _ => None,
        }
    }
}

/// Turns lanes of ones and zeros into a mask.
pub(super) fn mask_form(lanes: Lanes) -> MaskForm {
    match lanes[..] {
        [low, high] => MaskForm { words: Some([low, high]), ..MaskForm::default() },
        _ => MaskForm {
            longs: Some([lanes[0], lanes[1], lanes[2], lanes[3]]),
            ..MaskForm::default()
        },
    }
}
