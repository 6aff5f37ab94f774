//! Integers of a piece's lanes. Narrow integers are zero-extended in lanes of 32 bits.

use warploom_engine::abi;
use warploom_ir::{BinaryOp, IntCc, Op, Special, Type, UnaryOp, Value};

use super::PIECE;
use super::build::{context, sized};
use super::region::Selector;
use super::values::Part;
use crate::asm::opcode;
use crate::machine::{Base, Mem, Reg, Rm};

/// Numbers of relations, as integer compares encode them.
pub const EQUAL: i64 = 0;
pub const LESS: i64 = 1;
pub const LESS_OR_EQUAL: i64 = 2;
pub const NOT_EQUAL: i64 = 4;
pub const NOT_LESS: i64 = 5;
pub const NOT_LESS_OR_EQUAL: i64 = 6;

fn relation(cc: IntCc) -> i64 {
    match cc {
        IntCc::Eq => EQUAL,
        IntCc::Ne => NOT_EQUAL,
        IntCc::LtS | IntCc::LtU => LESS,
        IntCc::LeS | IntCc::LeU => LESS_OR_EQUAL,
        IntCc::GeS | IntCc::GeU => NOT_LESS,
        IntCc::GtS | IntCc::GtU => NOT_LESS_OR_EQUAL,
    }
}

/// Returns whether the operands may be exchanged.
fn commutes(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Add
            | BinaryOp::Mul
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::MinS
            | BinaryOp::MinU
            | BinaryOp::MaxS
            | BinaryOp::MaxU
    )
}

impl Selector<'_> {
    /// Makes a register for each vector of a piece.
    pub fn each_part(&mut self, wide: bool, mut make: impl FnMut(&mut Self, usize) -> Reg) -> Part {
        let first = make(self, 0);
        [first, if wide { make(self, 1) } else { first }]
    }

    pub fn lane_ids(&mut self, piece: usize) -> Part {
        let word = |i: usize| {
            let lane = (piece * PIECE + 2 * i) as u64;
            lane | (lane + 1) << 32
        };
        [self.vector_constant(std::array::from_fn(word)); 2]
    }

    /// Loads thread indices from the launch's table.
    pub fn thread_index(&mut self, index: usize, piece: usize) -> Part {
        let Op::Special(Special::Tid(axis)) = self.facts.block.insts[index].op else {
            unreachable!("no other value of the launch varies")
        };
        let result = self.facts.block.insts[index].results[0];
        let address = match self.forms.of(result).scalar {
            Some(address) => address,
            None => {
                let warp = self.general_of(opcode::MOV_32, context(abi::WARP));
                let mut lane = self.times(Rm::Reg(warp), self.function().lanes.into());
                if axis > 0 {
                    let row = self.times(context(abi::TID_STRIDE), axis.into());
                    lane = self.general(opcode::ADD, lane, Rm::Reg(row));
                }
                let table = self.general_of(opcode::MOV, context(abi::TID_TABLE));
                let place = Mem { base: Base::Reg(table), index: Some((lane, 2)), displacement: 0 };
                let address = self.general_of(opcode::LEA, Rm::Memory(place));
                self.forms.of(result).scalar = Some(address);
                address
            }
        };
        let place = Mem::at(Base::Reg(address), (piece * PIECE * 4) as i32);
        [self.vector_of(opcode::VMOVDQU32, Rm::Memory(place)); 2]
    }

    /// Clears the bits above a narrow integer.
    pub fn narrowed(&mut self, ty: Type, a: Reg) -> Reg {
        if ty.bits() < 32 { self.vector(opcode::VPANDD, a, Rm::Constant(ty.bit_mask())) } else { a }
    }

    /// Sign-extends a narrow integer to its lane.
    pub fn extended(&mut self, ty: Type, a: Reg) -> Reg {
        if ty.bits() >= 32 {
            return a;
        }
        let by = i64::from(32 - ty.bits());
        let up = self.vector_imm(opcode::VPSLLD_IMM, Rm::Reg(a), by);
        self.vector_imm(opcode::VPSRAD_IMM, Rm::Reg(up), by)
    }

    pub fn compare_ints(&mut self, cc: IntCc, a: Value, b: Value, piece: usize) -> Reg {
        let (cc, a, b) = if self.constant(a).is_some() { (cc.swapped(), b, a) } else { (cc, a, b) };
        let (ty, wide) = (self.ty(a), self.is_wide(a));
        let opcode = match cc.is_signed() {
            true => sized(wide, [opcode::VPCMPD, opcode::VPCMPQ]),
            false => sized(wide, [opcode::VPCMPUD, opcode::VPCMPUQ]),
        };
        let extends = cc.is_signed() && ty.bits() < 32;
        let mut compare = |part: usize| {
            let mut x = self.lanes(a, piece)[part];
            let mut y = if extends {
                Rm::Reg(self.lanes(b, piece)[part])
            } else {
                self.last(b, piece, part)
            };
            if let (true, Rm::Reg(reg)) = (extends, y) {
                (x, y) = (self.extended(ty, x), Rm::Reg(self.extended(ty, reg)));
            }
            self.compare(opcode, relation(cc), x, y)
        };
        let low = compare(0);
        if !wide {
            return low;
        }
        let high = compare(1);
        self.join_masks([low, high])
    }

    pub fn binary_lanes(&mut self, op: BinaryOp, a: Value, b: Value, piece: usize) -> Part {
        let (a, b) = if commutes(op) && self.constant(a).is_some() { (b, a) } else { (a, b) };
        let (ty, wide) = (self.ty(a), self.is_wide(a));
        if let (BinaryOp::Shl | BinaryOp::ShrU | BinaryOp::ShrS, Some(count)) =
            (op, self.constant(b))
        {
            return self.each_part(wide, |selector, part| {
                let x = selector.lanes(a, piece)[part];
                selector.shifted(op, ty, x, count)
            });
        }
        if let BinaryOp::MulHiS | BinaryOp::MulHiU = op {
            let (x, y) = (self.lanes(a, piece)[0], self.lanes(b, piece)[0]);
            return [self.high_product(op == BinaryOp::MulHiS, x, y); 2];
        }
        let signed = matches!(op, BinaryOp::MinS | BinaryOp::MaxS | BinaryOp::ShrS);
        let opcode = match op {
            BinaryOp::Add => sized(wide, [opcode::VPADDD, opcode::VPADDQ]),
            BinaryOp::Sub => sized(wide, [opcode::VPSUBD, opcode::VPSUBQ]),
            BinaryOp::Mul => sized(wide, [opcode::VPMULLD, opcode::VPMULLQ]),
            BinaryOp::And => opcode::VPANDD,
            BinaryOp::Or => opcode::VPORD,
            BinaryOp::Xor => opcode::VPXORD,
            BinaryOp::Shl => sized(wide, [opcode::VPSLLVD, opcode::VPSLLVQ]),
            BinaryOp::ShrU => sized(wide, [opcode::VPSRLVD, opcode::VPSRLVQ]),
            BinaryOp::ShrS => sized(wide, [opcode::VPSRAVD, opcode::VPSRAVQ]),
            BinaryOp::RotL => sized(wide, [opcode::VPROLVD, opcode::VPROLVQ]),
            BinaryOp::MinS => sized(wide, [opcode::VPMINSD, opcode::VPMINSQ]),
            BinaryOp::MinU => sized(wide, [opcode::VPMINUD, opcode::VPMINUQ]),
            BinaryOp::MaxS => sized(wide, [opcode::VPMAXSD, opcode::VPMAXSQ]),
            BinaryOp::MaxU => sized(wide, [opcode::VPMAXUD, opcode::VPMAXUQ]),
            BinaryOp::MulHiS | BinaryOp::MulHiU => unreachable!("done above"),
            BinaryOp::DivS | BinaryOp::DivU | BinaryOp::RemS | BinaryOp::RemU => {
                unreachable!("not supported")
            }
        };
        self.each_part(wide, |selector, part| {
            let mut x = selector.lanes(a, piece)[part];
            // Bitwise instructions have 32-bit elements, so they cannot take a 64-bit constant.
            let bitwise = opcode.element() == 4 && wide;
            let mut y = match bitwise || signed && ty.bits() < 32 {
                true => Rm::Reg(selector.lanes(b, piece)[part]),
                false => selector.last(b, piece, part),
            };
            if signed && ty.bits() < 32 {
                x = selector.extended(ty, x);
                if let (Rm::Reg(reg), false) = (y, op == BinaryOp::ShrS) {
                    y = Rm::Reg(selector.extended(ty, reg));
                }
            }
            let result = selector.vector(opcode, x, y);
            let stays = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::ShrU)
                || matches!(op, BinaryOp::MinU | BinaryOp::MaxU);
            if stays { result } else { selector.narrowed(ty, result) }
        })
    }

    /// Shifts by a constant. The instructions handle counts of the width or more without a special
    /// case.
    fn shifted(&mut self, op: BinaryOp, ty: Type, x: Reg, count: u64) -> Reg {
        let wide = ty.bits() == 64;
        let opcode = match op {
            BinaryOp::Shl => sized(wide, [opcode::VPSLLD_IMM, opcode::VPSLLQ_IMM]),
            BinaryOp::ShrU => sized(wide, [opcode::VPSRLD_IMM, opcode::VPSRLQ_IMM]),
            _ => sized(wide, [opcode::VPSRAD_IMM, opcode::VPSRAQ_IMM]),
        };
        let x = if op == BinaryOp::ShrS { self.extended(ty, x) } else { x };
        let result = self.vector_imm(opcode, Rm::Reg(x), count.min(64) as i64);
        if op == BinaryOp::ShrU { result } else { self.narrowed(ty, result) }
    }

    /// Returns the high words of products of words. Even lanes are multiplied first, then odd
    /// lanes.
    fn high_product(&mut self, signed: bool, x: Reg, y: Reg) -> Reg {
        let opcode = if signed { opcode::VPMULDQ } else { opcode::VPMULUDQ };
        let even = self.vector(opcode, x, Rm::Reg(y));
        let [x, y] = [x, y].map(|v| self.vector_imm(opcode::VPSRLQ_IMM, Rm::Reg(v), 32));
        let odd = self.vector(opcode, x, Rm::Reg(y));
        let word = |i: u64| (2 * i + 1) | (16 + 2 * i + 1) << 32;
        let high = self.vector_constant(std::array::from_fn(|i| word(i as u64)));
        self.vector_tied(opcode::VPERMT2D, even, high, Rm::Reg(odd), 0)
    }

    pub fn unary_lanes(&mut self, op: UnaryOp, a: Value, piece: usize) -> Part {
        let (ty, wide) = (self.ty(a), self.is_wide(a));
        self.each_part(wide, |selector, part| {
            let x = selector.lanes(a, piece)[part];
            let reg = Rm::Reg(x);
            match op {
                UnaryOp::Not => {
                    let ones = selector.constant_vector(ty.bit_mask(), wide);
                    selector.vector(opcode::VPXORD, ones, reg)
                }
                UnaryOp::Neg => {
                    let zero = selector.constant_vector(0, wide);
                    let negative =
                        selector.vector(sized(wide, [opcode::VPSUBD, opcode::VPSUBQ]), zero, reg);
                    selector.narrowed(ty, negative)
                }
                UnaryOp::Abs => {
                    let x = selector.extended(ty, x);
                    let abs = selector
                        .vector_of(sized(wide, [opcode::VPABSD, opcode::VPABSQ]), Rm::Reg(x));
                    selector.narrowed(ty, abs)
                }
                UnaryOp::Popcnt => {
                    selector.vector_of(sized(wide, [opcode::VPOPCNTD, opcode::VPOPCNTQ]), reg)
                }
                UnaryOp::Clz => {
                    let zeros =
                        selector.vector_of(sized(wide, [opcode::VPLZCNTD, opcode::VPLZCNTQ]), reg);
                    match 32u32.checked_sub(ty.bits()) {
                        None | Some(0) => zeros,
                        Some(above) => {
                            selector.vector(opcode::VPSUBD, zeros, Rm::Constant(above.into()))
                        }
                    }
                }
                UnaryOp::Ctz => selector.trailing_zeros(ty, x),
                UnaryOp::FNeg | UnaryOp::FAbs => {
                    let sign = 1 << (ty.bits() - 1);
                    let (opcode, bits) = if op == UnaryOp::FNeg {
                        (opcode::VPXORD, sign)
                    } else {
                        (opcode::VPANDD, sign - 1)
                    };
                    let bits = selector.constant_vector(bits, wide);
                    selector.vector(opcode, x, Rm::Reg(bits))
                }
                UnaryOp::BitReverse => unreachable!("not supported"),
            }
        })
    }

    /// Counts the zeros below the lowest set bit of each lane.
    fn trailing_zeros(&mut self, ty: Type, x: Reg) -> Reg {
        let wide = ty.bits() == 64;
        let ones = self.constant_vector(if wide { u64::MAX } else { 0xffff_ffff }, wide);
        let less = self.vector(sized(wide, [opcode::VPADDD, opcode::VPADDQ]), x, Rm::Reg(ones));
        // The bits of `less` that are not set in `x`.
        let below = self.vector_tied(opcode::VPTERNLOGD, less, x, Rm::Reg(x), 0x30);
        let below = self.narrowed(ty, below);
        self.vector_of(sized(wide, [opcode::VPOPCNTD, opcode::VPOPCNTQ]), Rm::Reg(below))
    }

    /// Returns a sum, and its carry if the carry is used.
    pub fn add_carry_lanes(
        &mut self,
        out: Value,
        a: Value,
        b: Value,
        carry: Option<Value>,
        piece: usize,
    ) -> (Part, Option<Reg>) {
        let (ty, wide) = (self.ty(a), self.is_wide(a));
        let add = sized(wide, [opcode::VPADDD, opcode::VPADDQ]);
        let less = sized(wide, [opcode::VPCMPUD, opcode::VPCMPUQ]);
        let incoming = carry.map(|carry| self.mask_lanes(carry, piece));
        let mut carries = Vec::new();
        let sum = self.each_part(wide, |selector, part| {
            let (x, y) = (selector.lanes(a, piece)[part], selector.lanes(b, piece)[part]);
            let sum = selector.vector(add, x, Rm::Reg(y));
            let mut sum = selector.narrowed(ty, sum);
            let mut out = selector.compare(less, LESS, sum, Rm::Reg(x));
            if let Some(incoming) = incoming {
                let mask = selector.part_mask(incoming, part);
                let one = selector.constant_vector(1, wide);
                let more = selector.vector_where(add, mask, sum, Some(sum), Rm::Reg(one));
                let more = selector.narrowed(ty, more);
                let wrapped = selector.compare(less, LESS, more, Rm::Reg(sum));
                out = selector.mask(opcode::KORW, out, wrapped);
                sum = more;
            }
            carries.push(out);
            sum
        });
        let is_used = self.facts.uses[out] > 0;
        let carry = match carries[..] {
            [one] if is_used => Some(one),
            [low, high] if is_used => Some(self.join_masks([low, high])),
            _ => None,
        };
        (sum, carry)
    }
}
