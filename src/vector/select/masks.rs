//! Masks: made lane by lane, or as numbers.

use warploom_ir::{BinaryOp, UnaryOp, Value};

use super::region::Selector;
use crate::asm::opcode;
use crate::machine::{Reg, Rm};

impl Selector<'_> {
    /// Combines two masks in a piece.
    pub fn mask_binary_lanes(&mut self, op: BinaryOp, a: Value, b: Value, piece: usize) -> Reg {
        let opcode = match op {
            BinaryOp::And => {
                if let Some(not) = self.complemented(b) {
                    let (not, a) = (self.mask_lanes(not, piece), self.mask_lanes(a, piece));
                    return self.mask(opcode::KANDNW, not, a);
                }
                opcode::KANDW
            }
            BinaryOp::Or => opcode::KORW,
            _ => opcode::KXORW,
        };
        let (a, b) = (self.mask_lanes(a, piece), self.mask_lanes(b, piece));
        self.mask(opcode, a, b)
    }

    fn complemented(&self, mask: Value) -> Option<Value> {
        match *self.facts.op(mask) {
            warploom_ir::Op::Unary { op: UnaryOp::Not, a } => Some(a),
            _ => None,
        }
    }

    pub fn mask_not_lanes(&mut self, a: Value, piece: usize) -> Reg {
        let a = self.mask_lanes(a, piece);
        self.mask_of(opcode::KNOTW, a, 0)
    }

    pub fn mask_binary_number(&mut self, op: BinaryOp, a: Value, b: Value) -> Reg {
        let opcode = match op {
            BinaryOp::And => opcode::AND,
            BinaryOp::Or => opcode::OR,
            _ => opcode::XOR,
        };
        let (a, b) = (self.mask_number(a), self.mask_number(b));
        self.general(opcode, a, Rm::Reg(b))
    }

    /// Returns the complement of a mask within the warp.
    pub fn mask_not_number(&mut self, a: Value) -> Reg {
        let a = self.mask_number(a);
        let not = self.general_imm(opcode::NOT, a, 0);
        self.inside_warp(not)
    }

    /// Clears the bits past the last lane.
    pub fn inside_warp(&mut self, bits: Reg) -> Reg {
        match self.function().lanes {
            64 => bits,
            32 => self.general_of(opcode::MOV_32, Rm::Reg(bits)),
            _ => self.general_imm(opcode::AND_IMM, bits, self.warp_mask() as i64),
        }
    }
}
