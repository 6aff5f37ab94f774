//! Values of the whole warp, in general registers, zero-extended to 64 bits.

use warploom_engine::abi;
use warploom_ir::{
    Access, BinaryOp, CellKind, ConvertOp, Extend, IntCc, Op, Reg as IrReg, Space, Special, Type,
    UnaryOp, Value,
};

use super::build::{context, registers};
use super::region::Selector;
use crate::asm::{Condition, opcode};
use crate::machine::{Base, Mem, Reg, Rm};

pub fn condition(cc: IntCc) -> Condition {
    match cc {
        IntCc::Eq => Condition::Equal,
        IntCc::Ne => Condition::NotEqual,
        IntCc::LtS => Condition::Less,
        IntCc::LeS => Condition::LessOrEqual,
        IntCc::GtS => Condition::Greater,
        IntCc::GeS => Condition::GreaterOrEqual,
        IntCc::LtU => Condition::Below,
        IntCc::LeU => Condition::BelowOrEqual,
        IntCc::GtU => Condition::Above,
        IntCc::GeU => Condition::AboveOrEqual,
    }
}

impl Selector<'_> {
    /// Emits an operation on uniform values.
    pub fn scalar_op(&mut self, op: &Op, results: &[Value]) {
        let result = results[0];
        let made = match *op {
            Op::Special(special) => self.launch_value(special),
            Op::Unary { op, a } => self.scalar_unary(op, a),
            Op::Binary { op, a, b } => self.scalar_binary(op, a, b),
            Op::AddCarry { a, b, carry: None } => {
                let (x, y) = (self.scalar(a), self.scalar(b));
                let sum = self.general(opcode::ADD, x, Rm::Reg(y));
                let sum = self.cut(self.ty(a), sum);
                self.cmp(sum, Rm::Reg(x));
                let carry = self.all_if(Condition::Below);
                self.set_scalar(results[1], carry);
                sum
            }
            Op::ICmp { cc, a, b } => {
                let condition = self.compare_scalars(cc, a, b);
                self.all_if(condition)
            }
            Op::FCmp { cc, a, b, flush } => {
                let lanes = self.compare_floats(cc, a, b, flush, 0);
                let bits = self.general_of(opcode::KMOVW_TO, Rm::Reg(lanes));
                self.test_imm(bits, 1);
                self.all_if(Condition::NotEqual)
            }
            Op::UniformSelect { cond, a, b } => {
                let (yes, no) = (self.scalar(a), self.scalar(b));
                let cond = self.scalar(cond);
                self.test(cond);
                self.choose(Condition::NotEqual, yes, no)
            }
            Op::Convert { op, to, a } => self.scalar_convert(op, to, a),
            Op::Concat { lo, hi } => {
                let (low, high) = (self.scalar(lo), self.scalar(hi));
                let high = self.general_imm(opcode::SHL_IMM, high, 32);
                self.general(opcode::OR, high, Rm::Reg(low))
            }
            ref op => unreachable!("{op:?} is not supported"),
        };
        self.set_scalar(result, made);
    }

    /// Returns all lanes of the warp if the flags satisfy the condition, else none.
    fn all_if(&mut self, condition: Condition) -> Reg {
        let (all, none) = (self.number(self.warp_mask()), self.number(0));
        self.choose(condition, all, none)
    }

    /// Compares and sets the flags. Returns the flags' condition that means true.
    pub fn compare_scalars(&mut self, cc: IntCc, a: Value, b: Value) -> Condition {
        let (cc, a, b) = if self.constant(a).is_some() { (cc.swapped(), b, a) } else { (cc, a, b) };
        let ty = self.ty(a);
        let mut x = self.scalar(a);
        if cc.is_signed() {
            x = self.sign_extended(ty, x);
        }
        match self
            .constant(b)
            .map(|bits| if cc.is_signed() { signed(ty, bits) } else { bits as i64 })
        {
            Some(number) if i32::try_from(number).is_ok() => self.cmp_imm(x, number),
            _ => {
                let mut y = self.scalar(b);
                if cc.is_signed() {
                    y = self.sign_extended(ty, y);
                }
                self.cmp(x, Rm::Reg(y));
            }
        }
        condition(cc)
    }

    /// Clears the bits above a value's type.
    fn cut(&mut self, ty: Type, a: Reg) -> Reg {
        match ty.bits() {
            64 => a,
            32 => self.general_of(opcode::MOV_32, Rm::Reg(a)),
            _ => self.general_imm(opcode::AND_IMM, a, ty.bit_mask() as i64),
        }
    }

    /// Sign-extends a value to 64 bits.
    fn sign_extended(&mut self, ty: Type, a: Reg) -> Reg {
        match ty.bits() {
            64 => a,
            32 => self.general_of(opcode::MOVSXD, Rm::Reg(a)),
            16 => self.general_of(opcode::MOVSX_16, Rm::Reg(a)),
            _ => self.general_of(opcode::MOVSX_8, Rm::Reg(a)),
        }
    }

    fn scalar_binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Reg {
        let ty = self.ty(a);
        let (x, y) = (self.scalar(a), self.scalar(b));
        match op {
            BinaryOp::Shl | BinaryOp::ShrU | BinaryOp::ShrS => {
                return self.scalar_shift(op, ty, x, y);
            }
            BinaryOp::MinS | BinaryOp::MinU | BinaryOp::MaxS | BinaryOp::MaxU => {
                let signed = matches!(op, BinaryOp::MinS | BinaryOp::MaxS);
                let [u, v] = [x, y].map(|v| if signed { self.sign_extended(ty, v) } else { v });
                self.cmp(u, Rm::Reg(v));
                let condition = match op {
                    BinaryOp::MinS => Condition::Less,
                    BinaryOp::MinU => Condition::Below,
                    BinaryOp::MaxS => Condition::Greater,
                    _ => Condition::Above,
                };
                return self.choose(condition, x, y);
            }
            BinaryOp::MulHiS | BinaryOp::MulHiU => {
                let [u, v] = [x, y]
                    .map(|v| if op == BinaryOp::MulHiS { self.sign_extended(ty, v) } else { v });
                let product = self.general(opcode::IMUL, u, Rm::Reg(v));
                let high = self.general_imm(opcode::SHR_IMM, product, ty.bits().into());
                return self.cut(ty, high);
            }
            _ => {}
        }
        let opcode = match op {
            BinaryOp::Add => opcode::ADD,
            BinaryOp::Sub => opcode::SUB,
            BinaryOp::Mul => opcode::IMUL,
            BinaryOp::And => opcode::AND,
            BinaryOp::Or => opcode::OR,
            BinaryOp::Xor => opcode::XOR,
            _ => unreachable!("not supported"),
        };
        let result = self.general(opcode, x, Rm::Reg(y));
        match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => result,
            _ => self.cut(ty, result),
        }
    }

    /// Shifts a value. The host's instructions only use the low bits of the count.
    fn scalar_shift(&mut self, op: BinaryOp, ty: Type, x: Reg, count: Reg) -> Reg {
        let bits = i64::from(ty.bits());
        let x = if op == BinaryOp::ShrS { self.sign_extended(ty, x) } else { x };
        let opcode = match op {
            BinaryOp::Shl => opcode::SHLX,
            BinaryOp::ShrU => opcode::SHRX,
            _ => opcode::SARX,
        };
        let shifted = self.general_free(opcode, count, Rm::Reg(x));
        let beyond = match op {
            BinaryOp::ShrS => self.general_imm(opcode::SAR_IMM, x, 63),
            _ => self.number(0),
        };
        self.cmp_imm(count, bits);
        let result = self.choose(Condition::Below, shifted, beyond);
        self.cut(ty, result)
    }

    fn scalar_unary(&mut self, op: UnaryOp, a: Value) -> Reg {
        let ty = self.ty(a);
        let bits = i64::from(ty.bits());
        let x = self.scalar(a);
        match op {
            UnaryOp::Not => {
                let not = self.general_imm(opcode::NOT, x, 0);
                self.cut(ty, not)
            }
            UnaryOp::Neg => {
                let negative = self.general_imm(opcode::NEG, x, 0);
                self.cut(ty, negative)
            }
            UnaryOp::Abs => {
                let x = self.sign_extended(ty, x);
                let negative = self.general_imm(opcode::NEG, x, 0);
                self.test(x);
                let abs = self.choose(Condition::Less, negative, x);
                self.cut(ty, abs)
            }
            UnaryOp::Popcnt => self.general_of(opcode::POPCNT, Rm::Reg(x)),
            UnaryOp::Clz => {
                let zeros = self.general_of(opcode::LZCNT, Rm::Reg(x));
                self.plus(zeros, (bits - 64) as i32)
            }
            UnaryOp::Ctz => {
                let zeros = self.general_of(opcode::TZCNT, Rm::Reg(x));
                let most = self.number(bits as u64);
                self.cmp(zeros, Rm::Reg(most));
                self.choose(Condition::Below, zeros, most)
            }
            UnaryOp::FNeg | UnaryOp::FAbs => {
                let sign = 1 << (bits - 1);
                let (opcode, bits) =
                    if op == UnaryOp::FNeg { (opcode::XOR, sign) } else { (opcode::AND, sign - 1) };
                let bits = self.number(bits);
                self.general(opcode, x, Rm::Reg(bits))
            }
            UnaryOp::BitReverse => unreachable!("not supported"),
        }
    }

    fn scalar_convert(&mut self, op: ConvertOp, to: Type, a: Value) -> Reg {
        let (from, x) = (self.ty(a), self.scalar(a));
        match op {
            ConvertOp::Trunc => self.cut(to, x),
            ConvertOp::ZeroExtend | ConvertOp::FromMask => x,
            ConvertOp::SignExtend => {
                let wide = self.sign_extended(from, x);
                self.cut(to, wide)
            }
            ConvertOp::HighHalf => self.general_imm(opcode::SHR_IMM, x, 32),
            ConvertOp::ToMask => self.inside_warp(x),
            ConvertOp::Bitcast => unreachable!("the same bits"),
        }
    }

    fn launch_value(&mut self, special: Special) -> Reg {
        let word = |offset: i32, axis: u8| (opcode::MOV_32, offset + 4 * i32::from(axis));
        let (opcode, offset) = match special {
            Special::Ctaid(axis) => word(abi::CTAID, axis),
            Special::Ntid(axis) => word(abi::NTID, axis),
            Special::Nctaid(axis) => word(abi::NCTAID, axis),
            Special::WarpId => word(abi::WARP, 0),
            Special::WarpSlot => word(abi::SLOT, 0),
            Special::LaunchMask => (opcode::MOV, abi::LAUNCH_MASK),
            Special::Clock => (opcode::MOV, abi::INSTRUCTIONS),
            Special::BarrierResult => word(abi::BARRIER_RESULT, 0),
            Special::BarrierReleased => (opcode::MOV, abi::BARRIER_RELEASED),
            Special::SharedBytes => word(abi::SHARED_BYTES, 0),
            Special::Tid(_) => unreachable!("it varies"),
        };
        self.general_of(opcode, context(offset))
    }

    /// Loads a scalar at a known address in a constant bank.
    pub fn load_constant(&mut self, access: &Access, extend: Extend) -> Reg {
        let Space::Const(bank) = access.space else { unreachable!("not supported") };
        let address = self.constant(access.address).expect("not supported");
        let at = (address as u32).wrapping_add(access.offset as u32);
        let base = self.general_of(opcode::MOV, context(abi::CONSTANTS + 8 * i32::from(bank)));
        self.load_scalar(access.ty, extend, Rm::Memory(Mem::at(Base::Reg(base), at as i32)))
    }

    fn load_scalar(&mut self, ty: Type, extend: Extend, from: Rm) -> Reg {
        let signed = extend == Extend::Signed;
        let opcode = match ty.bits() {
            16 if signed => opcode::MOVSX_16,
            8 if signed => opcode::MOVSX_8,
            _ => Self::cell_opcode(ty),
        };
        let loaded = self.general_of(opcode, from);
        if signed { self.cut(Type::I32, loaded) } else { loaded }
    }

    pub fn cell_type(&self, reg: IrReg) -> Type {
        match self.function().bank(reg.bank).kind {
            CellKind::Uniform(ty) => ty,
            _ => Type::Mask,
        }
    }

    pub fn cell_opcode(ty: Type) -> opcode::Opcode {
        match ty.bits() {
            64 => opcode::MOV,
            32 => opcode::MOV_32,
            16 => opcode::MOVZX_16,
            _ => opcode::MOVZX_8,
        }
    }

    pub fn read_cell(&mut self, result: Value, reg: IrReg) {
        if self.forms.of(result).scalar.is_some() || self.forms.of(result).masks[0].is_some() {
            return;
        }
        let offset = self.prepared.layout().offset(reg);
        let cell = self.general_of(Self::cell_opcode(self.cell_type(reg)), registers(offset));
        self.set_scalar(result, cell);
    }

    pub fn write_cell(&mut self, reg: IrReg, value: Value) {
        let value = self.scalar(value);
        let offset = self.prepared.layout().offset(reg);
        self.store(opcode::MOV_STORE, value, registers(offset));
    }

    /// Returns the location of an indexed cell, from the first register of its range. For an index
    /// outside the range, it is the first cell, and the flags say *above or equal*.
    fn indexed_cell(&mut self, first: IrReg, count: u32, index: Value) -> Mem {
        let index = self.scalar(index);
        let zero = self.number(0);
        self.cmp_imm(index, count.into());
        let inside = self.choose(Condition::Below, index, zero);
        let displacement = self.prepared.layout().offset(first) as i32;
        Mem { base: Base::Registers, index: Some((inside, 3)), displacement }
    }

    pub fn gather_cell(&mut self, first: IrReg, count: u32, index: Value) -> Reg {
        let place = self.indexed_cell(first, count, index);
        let index = self.scalar(index);
        let cell = self.general_of(Self::cell_opcode(self.cell_type(first)), Rm::Memory(place));
        let zero = self.number(0);
        self.cmp_imm(index, count.into());
        self.choose(Condition::Below, cell, zero)
    }

    pub fn scatter_cell(&mut self, first: IrReg, count: u32, index: Value, value: Value) {
        let value = self.scalar(value);
        let place = self.indexed_cell(first, count, index);
        let index = self.scalar(index);
        let (write, done) = (self.body.block(), self.body.block());
        self.cmp_imm(index, count.into());
        self.body.branch(Condition::Below, (write, Vec::new()), (done, Vec::new()));
        self.body.switch_to(write);
        self.store(opcode::MOV_STORE, value, Rm::Memory(place));
        self.body.jump(done, Vec::new());
        self.body.switch_to(done);
    }
}

/// Returns the bits of a type as a signed number.
fn signed(ty: Type, bits: u64) -> i64 {
    let above = 64 - ty.bits();
    (bits << above) as i64 >> above
}
