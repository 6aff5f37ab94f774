//! The forms of values: vectors for each piece, one vector for all pieces, a general register, mask
//! registers. Most forms are made on first use.

use cranelift_entity::{EntityRef, SecondaryMap};
use warploom_ir::{BinaryOp, Block, ConvertOp, Op, Reg as IrReg, Type, UnaryOp, Value, table};

use super::PIECE;
use super::region::Selector;
use crate::asm::opcode;
use crate::machine::{Reg, Rm};

/// The vectors of one piece: one vector (twice), or two vectors of 64-bit lanes.
pub type Part = [Reg; 2];

/// The forms that one value has so far.
#[derive(Clone, Copy, Default)]
pub struct Form {
    pub lanes: [Option<Part>; 4],
    /// One vector for all pieces.
    pub same: Option<Reg>,
    pub scalar: Option<Reg>,
    /// The lanes of a mask, in one register for each piece.
    pub masks: [Option<Reg>; 4],
}

/// The forms of a block's values.
#[derive(Clone, Default)]
pub struct Forms(Vec<Form>);

impl Forms {
    pub fn new(values: usize) -> Forms {
        Forms(vec![Form::default(); values])
    }

    pub fn of(&mut self, v: Value) -> &mut Form {
        &mut self.0[v.index()]
    }
}

/// Returns the masks of a block that are made lane by lane. `carried` tells which mask registers
/// carry lane masks.
pub fn lane_masks(block: &Block, carried: impl Fn(IrReg) -> bool) -> SecondaryMap<Value, bool> {
    let mut lanes: SecondaryMap<Value, bool> = table(block.values.len(), false);
    for inst in &block.insts {
        let varying = |v: Value| !block.ty(v).is_uniform();
        let made = match inst.op {
            Op::ICmp { a, b, .. } | Op::FCmp { a, b, .. } => varying(a) || varying(b),
            Op::AddCarry { .. } => {
                lanes[inst.results[1]] = varying(inst.results[0]);
                continue;
            }
            Op::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, a, b }
                if block.ty(a).ty == Type::Mask =>
            {
                lanes[a] || lanes[b]
            }
            Op::Unary { op: UnaryOp::Not, a } if block.ty(a).ty == Type::Mask => lanes[a],
            Op::RfRead { reg, .. } if block.ty(inst.results[0]).ty == Type::Mask => carried(reg),
            _ => false,
        };
        if made {
            lanes[inst.results[0]] = true;
        }
    }
    lanes
}

impl Selector<'_> {
    /// Returns the value behind splats and bitcasts.
    pub fn root(&self, mut v: Value) -> Value {
        while let Op::Splat { a } | Op::Convert { op: ConvertOp::Bitcast, a, .. } =
            *self.facts.op(v)
        {
            v = a;
        }
        v
    }

    pub fn constant(&self, v: Value) -> Option<u64> {
        match *self.facts.op(self.root(v)) {
            Op::Const { bits, .. } => Some(bits),
            _ => None,
        }
    }

    /// Returns whether lanes have 64 bits.
    pub fn is_wide(&self, v: Value) -> bool {
        self.ty(v).bits() == 64
    }

    /// Returns the vectors of a piece.
    pub fn lanes(&mut self, v: Value, piece: usize) -> Part {
        let root = self.root(v);
        if self.value_type(root).is_uniform() {
            return [self.same(root); 2];
        }
        self.forms.of(root).lanes[piece].expect("operands come first")
    }

    /// Returns a vector of a piece, as the last operand of an instruction.
    pub fn last(&mut self, v: Value, piece: usize, part: usize) -> Rm {
        if let Some(bits) = self.constant(v)
            && !self.constants.contains_key(&(bits, self.is_wide(v)))
        {
            return Rm::Constant(bits);
        }
        Rm::Reg(self.lanes(v, piece)[part])
    }

    pub fn set_lanes(&mut self, v: Value, piece: usize, lanes: Part) {
        self.forms.of(v).lanes[piece] = Some(lanes);
    }

    /// Returns a vector with a constant in all lanes.
    pub fn constant_vector(&mut self, bits: u64, wide: bool) -> Reg {
        if let Some(&known) = self.constants.get(&(bits, wide)) {
            return known;
        }
        let word = if wide { bits } else { bits & 0xffff_ffff | bits << 32 };
        let made = self.vector_constant([word; 8]);
        self.constants.insert((bits, wide), made);
        made
    }

    /// Returns a vector with a uniform value in all lanes.
    fn same(&mut self, v: Value) -> Reg {
        if let Some(bits) = self.constant(v) {
            return self.constant_vector(bits, self.is_wide(v));
        }
        if let Some(same) = self.forms.of(v).same {
            return same;
        }
        let scalar = self.forms.of(v).scalar.expect("operands come first");
        let opcode = if self.is_wide(v) {
            opcode::VPBROADCASTQ_GENERAL
        } else {
            opcode::VPBROADCASTD_GENERAL
        };
        let same = self.vector_of(opcode, Rm::Reg(scalar));
        self.forms.of(v).same = Some(same);
        same
    }

    /// Returns a uniform value, or the bits of a mask.
    pub fn scalar(&mut self, v: Value) -> Reg {
        let root = self.root(v);
        if self.ty(root) == Type::Mask {
            return self.mask_number(root);
        }
        if let Some(bits) = self.constant(root) {
            return self.number(bits);
        }
        if let Some(scalar) = self.forms.of(root).scalar {
            return scalar;
        }
        let same = self.forms.of(root).same.expect("operands come first");
        let scalar = self.first_lane(self.is_wide(root), same);
        self.forms.of(root).scalar = Some(scalar);
        scalar
    }

    pub fn set_scalar(&mut self, v: Value, scalar: Reg) {
        self.forms.of(v).scalar = Some(scalar);
    }

    /// Returns the simplest value that is known to equal a mask.
    pub fn equal_mask(&self, v: Value) -> Value {
        self.facts.equal_masks.get(&v).copied().unwrap_or(v)
    }

    /// Returns the bits of a mask. For a mask made lane by lane, only the pieces in `group` have
    /// bits.
    pub fn mask_number(&mut self, v: Value) -> Reg {
        let v = self.equal_mask(v);
        if let Some(bits) = self.constant(v) {
            return self.number(bits);
        }
        if let Some(number) = self.forms.of(v).scalar {
            return number;
        }
        let lanes = self.forms.of(v).masks;
        let masks: Vec<Reg> =
            self.group.clone().map(|piece| lanes[piece].expect("made before")).collect();
        let number = self.number_of_masks(&masks);
        self.set_scalar(v, number);
        number
    }

    pub fn number_of_masks(&mut self, masks: &[Reg]) -> Reg {
        match *masks {
            [one] => self.general_of(opcode::KMOVW_TO, Rm::Reg(one)),
            [low, high] => {
                let both = self.mask(opcode::KUNPCKWD, high, low);
                self.general_of(opcode::KMOVD_TO, Rm::Reg(both))
            }
            [a, b, c, d] => {
                let [low, high] =
                    [[a, b], [c, d]].map(|[low, high]| self.mask(opcode::KUNPCKWD, high, low));
                let all = self.mask(opcode::KUNPCKDQ, high, low);
                self.general_of(opcode::KMOVQ_TO, Rm::Reg(all))
            }
            _ => unreachable!("warps have 16, 32 or 64 lanes"),
        }
    }

    /// Returns the lanes of a mask in a piece: the low 16 bits of a mask register. Its other bits
    /// mean nothing.
    pub fn mask_lanes(&mut self, v: Value, piece: usize) -> Reg {
        let v = self.equal_mask(v);
        if let Some(lanes) = self.forms.of(v).masks[piece] {
            return lanes;
        }
        let number = self.mask_number(v);
        let masks = self.masks_of_number(number);
        for (piece, &mask) in masks.iter().enumerate() {
            self.forms.of(v).masks[piece] = Some(mask);
        }
        masks[piece]
    }

    pub fn masks_of_number(&mut self, number: Reg) -> Vec<Reg> {
        let pieces = self.pieces();
        let from = [opcode::KMOVW_FROM, opcode::KMOVD_FROM, opcode::KMOVQ_FROM][pieces / 2];
        let all = self.mask_of(from, number, 0);
        let shift = if pieces == 4 { opcode::KSHIFTRQ } else { opcode::KSHIFTRD };
        let of = |piece: usize, selector: &mut Self| match piece {
            0 => all,
            _ => selector.mask_of(shift, all, (piece * PIECE) as i64),
        };
        (0..pieces).map(|piece| of(piece, self)).collect()
    }

    /// Returns the mask of one vector of a piece, for instructions on 64-bit lanes.
    pub fn part_mask(&mut self, mask: Reg, part: usize) -> Reg {
        if part == 0 { mask } else { self.mask_of(opcode::KSHIFTRW, mask, 8) }
    }

    /// Joins the masks of a piece's two vectors of 64-bit lanes.
    pub fn join_masks(&mut self, [low, high]: [Reg; 2]) -> Reg {
        self.mask(opcode::KUNPCKBW, high, low)
    }
}
