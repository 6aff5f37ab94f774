//! Floats of a piece's lanes, rounded to nearest. A NaN result gets the function's bits if its bits
//! can be told apart.

use warploom_ir::{FloatAttrs, FloatBinaryOp, FloatCc, FloatUnaryOp, Round, Type, Value};

use super::build::sized;
use super::int::NOT_EQUAL;
use super::region::Selector;
use super::values::Part;
use crate::asm::opcode::{self, Opcode};
use crate::machine::{Reg, Rm};

/// Numbers of relations, as float compares encode them.
pub const UNORDERED: i64 = 3;
const LESS: i64 = 0x11;
const GREATER_OR_EQUAL: i64 = 0x1d;
const EQUAL: i64 = 0;

/// Returns the number of a quiet relation.
fn relation(cc: FloatCc) -> i64 {
    match cc {
        FloatCc::Eq => 0x00,
        FloatCc::Ne => 0x0c,
        FloatCc::Lt => 0x11,
        FloatCc::Le => 0x12,
        FloatCc::Gt => 0x1e,
        FloatCc::Ge => 0x1d,
        FloatCc::EqU => 0x08,
        FloatCc::NeU => 0x04,
        FloatCc::LtU => 0x19,
        FloatCc::LeU => 0x1a,
        FloatCc::GtU => 0x16,
        FloatCc::GeU => 0x15,
        FloatCc::Num => 0x07,
        FloatCc::Nan => UNORDERED,
    }
}

fn one(ty: Type) -> u64 {
    if ty == Type::F64 { 1f64.to_bits() } else { 1f32.to_bits().into() }
}

impl Selector<'_> {
    pub fn compare_opcode(ty: Type) -> Opcode {
        sized(ty == Type::F64, [opcode::VCMPPS, opcode::VCMPPD])
    }

    /// Returns a part of an operand, with denormals as zeros if the operation flushes them.
    fn operand(&mut self, ty: Type, flush: bool, v: Value, piece: usize, part: usize) -> Reg {
        let lanes = self.lanes(v, piece)[part];
        if flush { self.flushed(ty, lanes) } else { lanes }
    }

    /// Returns a part of an operand, as the last operand of an instruction.
    fn last_operand(&mut self, ty: Type, flush: bool, v: Value, piece: usize, part: usize) -> Rm {
        if flush {
            Rm::Reg(self.operand(ty, true, v, piece, part))
        } else {
            self.last(v, piece, part)
        }
    }

    /// Replaces denormals by zeros of equal sign.
    fn flushed(&mut self, ty: Type, x: Reg) -> Reg {
        let wide = ty == Type::F64;
        let exponent = self.constant_vector(if wide { 0x7ff0 << 48 } else { 0x7f80_0000 }, wide);
        let sign = self.constant_vector(1 << (ty.bits() - 1), wide);
        let test = if wide { opcode::VPTESTNMQ } else { opcode::VPTESTNMD };
        let tiny = self.compare(test, 0, x, Rm::Reg(exponent));
        let zero = self.vector(opcode::VPANDD, x, Rm::Reg(sign));
        self.blend(wide, tiny, Rm::Reg(zero), x)
    }

    /// Flushes and saturates a rounded result as the operation says.
    fn finished(&mut self, result: Value, attrs: FloatAttrs, x: Reg) -> Reg {
        let ty = self.ty(result);
        let mut x = if attrs.flush { self.flushed(ty, x) } else { x };
        if attrs.saturate {
            // For a NaN, and for two zeros, the instruction returns its last operand.
            x = self.vector(
                sized(ty == Type::F64, [opcode::VMAXPS, opcode::VMAXPD]),
                x,
                Rm::Constant(0),
            );
            x = self.vector(
                sized(ty == Type::F64, [opcode::VMINPS, opcode::VMINPD]),
                x,
                Rm::Constant(one(ty)),
            );
        }
        self.canonical_if_seen(result, x)
    }

    /// Makes NaNs canonical if the result's bits can be told apart.
    pub fn canonical_if_seen(&mut self, result: Value, x: Reg) -> Reg {
        if self.facts.bits_used[result] { self.canonical(self.ty(result), x) } else { x }
    }

    pub fn canonical(&mut self, ty: Type, x: Reg) -> Reg {
        let nan = self.compare(Self::compare_opcode(ty), UNORDERED, x, Rm::Reg(x));
        let bits = self.function().nan.canonical(ty);
        self.blend(ty == Type::F64, nan, Rm::Constant(bits), x)
    }

    /// Returns the lanes that have a NaN other than the function's.
    pub fn unusual_nans(&mut self, ty: Type, x: Reg) -> Reg {
        let nan = self.compare(Self::compare_opcode(ty), UNORDERED, x, Rm::Reg(x));
        let other = if ty == Type::F64 { opcode::VPCMPQ } else { opcode::VPCMPD };
        let bits = self.function().nan.canonical(ty);
        self.compare_where(nan, other, NOT_EQUAL, x, Rm::Constant(bits))
    }

    pub fn compare_floats(
        &mut self,
        cc: FloatCc,
        a: Value,
        b: Value,
        flush: bool,
        piece: usize,
    ) -> Reg {
        let ty = self.ty(a);
        let mut compare = |part: usize| {
            let x = self.operand(ty, flush, a, piece, part);
            let y = self.last_operand(ty, flush, b, piece, part);
            self.compare(Self::compare_opcode(ty), relation(cc), x, y)
        };
        let low = compare(0);
        if ty == Type::F32 {
            return low;
        }
        let high = compare(1);
        self.join_masks([low, high])
    }

    pub fn float_binary(
        &mut self,
        result: Value,
        op: FloatBinaryOp,
        attrs: FloatAttrs,
        a: Value,
        b: Value,
        piece: usize,
    ) -> Part {
        let ty = self.ty(a);
        let commutes = matches!(op, FloatBinaryOp::Add | FloatBinaryOp::Mul);
        let (a, b) = if commutes && self.constant(a).is_some() { (b, a) } else { (a, b) };
        let opcode = match op {
            FloatBinaryOp::Add => [opcode::VADDPS, opcode::VADDPD],
            FloatBinaryOp::Sub => [opcode::VSUBPS, opcode::VSUBPD],
            FloatBinaryOp::Mul => [opcode::VMULPS, opcode::VMULPD],
            FloatBinaryOp::Div => [opcode::VDIVPS, opcode::VDIVPD],
            FloatBinaryOp::Min => [opcode::VMINPS, opcode::VMINPD],
            FloatBinaryOp::Max => [opcode::VMAXPS, opcode::VMAXPD],
        };
        let opcode = sized(ty == Type::F64, opcode);
        self.each_part(ty == Type::F64, |selector, part| {
            let x = selector.operand(ty, attrs.flush, a, piece, part);
            let made = match op {
                FloatBinaryOp::Min | FloatBinaryOp::Max => {
                    let y = selector.operand(ty, attrs.flush, b, piece, part);
                    selector.least_or_greatest(opcode, op == FloatBinaryOp::Min, ty, x, y)
                }
                _ => {
                    let y = selector.last_operand(ty, attrs.flush, b, piece, part);
                    selector.vector(opcode, x, y)
                }
            };
            selector.finished(result, attrs, made)
        })
    }

    /// Lowers minNum and maxNum, with -0 below +0. The instruction's result is wrong only for equal
    /// operands, which differ at most in the sign of zero, and for NaN operands.
    fn least_or_greatest(&mut self, opcode: Opcode, least: bool, ty: Type, x: Reg, y: Reg) -> Reg {
        let wide = ty == Type::F64;
        let compare = Self::compare_opcode(ty);
        let chosen = self.vector(opcode, x, Rm::Reg(y));
        let equal = self.compare(compare, EQUAL, x, Rm::Reg(y));
        let both = self.vector(if least { opcode::VPORD } else { opcode::VPANDD }, x, Rm::Reg(y));
        let chosen = self.blend(wide, equal, Rm::Reg(both), chosen);
        // If one operand is a NaN, the instruction returns the second operand.
        let nan = self.compare(compare, UNORDERED, y, Rm::Reg(y));
        self.blend(wide, nan, Rm::Reg(x), chosen)
    }

    pub fn fma(
        &mut self,
        result: Value,
        attrs: FloatAttrs,
        [a, b, c]: [Value; 3],
        piece: usize,
    ) -> Part {
        let ty = self.ty(a);
        let (a, b) = if self.is_free(b) && !self.is_free(a) { (b, a) } else { (a, b) };
        let tie_sum = self.is_free(c) && !self.is_free(a);
        self.each_part(ty == Type::F64, |selector, part| {
            let operand =
                |selector: &mut Self, v| selector.operand(ty, attrs.flush, v, piece, part);
            let (x, y) = (operand(selector, a), operand(selector, b));
            let made = if tie_sum {
                let z = operand(selector, c);
                let opcode = sized(ty == Type::F64, [opcode::VFMADD231PS, opcode::VFMADD231PD]);
                selector.vector_tied(opcode, z, x, Rm::Reg(y), 0)
            } else {
                let z = selector.last_operand(ty, attrs.flush, c, piece, part);
                let opcode = sized(ty == Type::F64, [opcode::VFMADD213PS, opcode::VFMADD213PD]);
                selector.vector_tied(opcode, x, y, z, 0)
            };
            selector.finished(result, attrs, made)
        })
    }

    /// Returns whether nothing else uses a value's vector, so that an instruction may overwrite it.
    fn is_free(&self, v: Value) -> bool {
        let root = self.root(v);
        !self.value_type(root).is_uniform() && self.facts.uses[root] <= 1 && self.facts.uses[v] <= 1
    }

    pub fn float_unary(
        &mut self,
        result: Value,
        op: FloatUnaryOp,
        attrs: FloatAttrs,
        a: Value,
        piece: usize,
    ) -> Part {
        let ty = self.ty(a);
        self.each_part(ty == Type::F64, |selector, part| {
            let flush = attrs.flush && op != FloatUnaryOp::Copy;
            let x = selector.operand(ty, flush, a, piece, part);
            let made = match op {
                FloatUnaryOp::Sqrt => selector.vector_of(
                    sized(ty == Type::F64, [opcode::VSQRTPS, opcode::VSQRTPD]),
                    Rm::Reg(x),
                ),
                FloatUnaryOp::Integral => selector.integral(ty, attrs.round, x),
                FloatUnaryOp::Copy => x,
            };
            selector.finished(result, attrs, made)
        })
    }

    pub fn integral(&mut self, ty: Type, round: Round, x: Reg) -> Reg {
        // Suppresses the exception for inexact results.
        let mode = 8 | match round {
            Round::Nearest => 0,
            Round::Down => 1,
            Round::Up => 2,
            Round::Zero => 3,
        };
        self.vector_imm(
            sized(ty == Type::F64, [opcode::VRNDSCALEPS, opcode::VRNDSCALEPD]),
            Rm::Reg(x),
            mode,
        )
    }

    /// Converts floats to words: rounded, clamped, with `nan` for NaNs.
    pub fn float_to_int(
        &mut self,
        signed: bool,
        round: Round,
        flush: bool,
        nan: u64,
        a: Value,
        piece: usize,
    ) -> Part {
        let ty = self.ty(a);
        let x = self.operand(ty, flush, a, piece, 0);
        let whole = self.integral(ty, round, x);
        let is_nan = self.compare(opcode::VCMPPS, UNORDERED, x, Rm::Reg(x));
        let words = if signed {
            // If a result is out of range, the instruction returns the least integer.
            let words = self.vector_of(opcode::VCVTTPS2DQ, Rm::Reg(whole));
            let large = self.constant_vector(0x4f00_0000, false);
            let large = self.compare(opcode::VCMPPS, GREATER_OR_EQUAL, whole, Rm::Reg(large));
            self.blend(false, large, Rm::Constant(0x7fff_ffff), words)
        } else {
            // If a result is out of range, the instruction returns all ones.
            let words = self.vector_of(opcode::VCVTTPS2UDQ, Rm::Reg(whole));
            let zero = self.constant_vector(0, false);
            let negative = self.compare(opcode::VCMPPS, LESS, whole, Rm::Reg(zero));
            self.blend(false, negative, Rm::Reg(zero), words)
        };
        [self.blend(false, is_nan, Rm::Constant(nan), words); 2]
    }

    pub fn int_to_float(&mut self, signed: bool, a: Value, piece: usize) -> Part {
        let ty = self.ty(a);
        let x = self.lanes(a, piece)[0];
        let x = if signed { self.extended(ty, x) } else { x };
        [self.vector_of(if signed { opcode::VCVTDQ2PS } else { opcode::VCVTUDQ2PS }, Rm::Reg(x)); 2]
    }
}
