//! Conversions, selects and concatenations of a piece's lanes.

use warploom_ir::{ConvertOp, FloatAttrs, Type, Value};

use super::region::Selector;
use super::values::Part;
use crate::asm::opcode;
use crate::machine::{Reg, Rm, VECTOR};

impl Selector<'_> {
    /// Returns `a` where a mask is set, else `b`.
    pub fn select_lanes(
        &mut self,
        result: Value,
        mask: Value,
        a: Value,
        b: Value,
        piece: usize,
    ) -> Part {
        let wide = self.is_wide(result);
        let mask = self.mask_lanes(mask, piece);
        self.each_part(wide, |selector, part| {
            let mask = selector.part_mask(mask, part);
            let (yes, no) = (selector.last(a, piece, part), selector.lanes(b, piece)[part]);
            selector.blend(wide, mask, yes, no)
        })
    }

    pub fn convert_lanes(&mut self, op: ConvertOp, to: Type, a: Value, piece: usize) -> Part {
        let from = self.ty(a);
        let lanes = self.lanes(a, piece);
        match op {
            ConvertOp::Trunc => {
                let words = if from.bits() == 64 { self.words(lanes, 0) } else { lanes[0] };
                [self.narrowed(to, words); 2]
            }
            ConvertOp::HighHalf => [self.words(lanes, 1); 2],
            ConvertOp::ZeroExtend if to.bits() == 64 => self.widened(lanes[0], false),
            ConvertOp::ZeroExtend => lanes,
            ConvertOp::SignExtend => {
                let words = self.extended(from, lanes[0]);
                if to.bits() == 64 {
                    self.widened(words, true)
                } else {
                    [self.narrowed(to, words); 2]
                }
            }
            ConvertOp::Bitcast | ConvertOp::FromMask | ConvertOp::ToMask => {
                unreachable!("of no lanes, or no code")
            }
        }
    }

    /// Returns the low (0) or high (1) words of 64-bit lanes.
    fn words(&mut self, [low, high]: Part, which: u64) -> Reg {
        let word = |i: u64| (4 * i + which) | (4 * i + 2 + which) << 32;
        let index = self.vector_constant(std::array::from_fn(|i| word(i as u64)));
        self.vector_tied(opcode::VPERMT2D, low, index, Rm::Reg(high), 0)
    }

    /// Extends words to 64-bit lanes.
    fn widened(&mut self, words: Reg, signed: bool) -> Part {
        let opcode = if signed { opcode::VPMOVSXDQ } else { opcode::VPMOVZXDQ };
        let upper = self.upper_half(words);
        [words, upper].map(|half| self.vector_of(opcode, Rm::Reg(half)))
    }

    /// Moves the upper half of a vector into the lower half of another vector.
    pub fn upper_half(&mut self, a: Reg) -> Reg {
        let result = self.body.reg(VECTOR);
        let op = crate::machine::Op::new(opcode::VEXTRACTI64X4, Some(result), Some(a), Rm::None);
        self.body.op(crate::machine::Op { imm: 1, ..op });
        result
    }

    /// Makes 64-bit lanes from their halves.
    pub fn concat_lanes(&mut self, low: Value, high: Value, piece: usize) -> Part {
        let (low, high) = (self.lanes(low, piece)[0], self.lanes(high, piece)[0]);
        [0, 8].map(|first| {
            let word = |i: u64| (first + i) | (16 + first + i) << 32;
            let index = self.vector_constant(std::array::from_fn(|i| word(i as u64)));
            self.vector_tied(opcode::VPERMT2D, low, index, Rm::Reg(high), 0)
        })
    }

    /// Converts between `f32` and `f64`, rounded to nearest.
    pub fn convert_float(
        &mut self,
        result: Value,
        to: Type,
        attrs: FloatAttrs,
        a: Value,
        piece: usize,
    ) -> Part {
        debug_assert!(!attrs.flush && !attrs.saturate, "not supported");
        let lanes = self.lanes(a, piece);
        let made = match to {
            Type::F64 => {
                let upper = self.upper_half(lanes[0]);
                [lanes[0], upper].map(|half| self.vector_of(opcode::VCVTPS2PD, Rm::Reg(half)))
            }
            _ => {
                let [low, high] =
                    lanes.map(|part| self.vector_of(opcode::VCVTPD2PS, Rm::Reg(part)));
                // Each half has the results of eight 64-bit lanes, in four words of 64 bits.
                let index = self.vector_constant([0, 1, 2, 3, 8, 9, 10, 11]);
                [self.vector_tied(opcode::VPERMT2Q, low, index, Rm::Reg(high), 0); 2]
            }
        };
        let wide = to == Type::F64;
        self.each_part(wide, |selector, part| selector.canonical_if_seen(result, made[part]))
    }
}
