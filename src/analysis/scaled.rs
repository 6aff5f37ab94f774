//! Recognises reciprocal square roots that are made correct for denormals by scaling.
//!
//! The hardware instruction takes denormal operands as zeros. So compilers scale small operands up
//! before it and the result after it: 1/sqrt(x) is 2^n / sqrt(x 2^2n). Scaling by powers of two is
//! exact, so the sequence equals one root that takes denormals.

use warploom_ir::{
    ConvertOp, FloatAttrs, FloatBinaryOp, FloatCc, Op, SharedFn, Type, UnaryOp, Value, ValueType,
    Window,
};

use super::editor::Editor;

/// The bits of the least normal `f32`.
const LEAST_NORMAL: u64 = 0x0080_0000;
/// The exponent of the power of two that scales the least denormal to the least normal number.
const OF_LEAST_DENORMAL: i32 = 23;

/// A value that is multiplied by a power of two in the lanes of a mask.
struct Scaled {
    x: Value,
    mask: Value,
    power: i32,
}

impl Editor {
    /// Emits one root if a select or product scales the root of a scaled operand back.
    pub(super) fn root_of_scaled(&mut self, op: &Op, window: Window) -> Option<Value> {
        let Scaled { x: root, mask, power } = self.scaled(op, window)?;
        let &Op::Shared { function: SharedFn::Rsq, a } = self.def_in(root, window)? else {
            return None;
        };
        let operand = self.scaled(self.def_in(self.bare(a), window)?, window)?;
        let small = operand.mask == mask && self.is_small(mask, &operand, window);
        if operand.power != 2 * power || self.ty(operand.x).is_uniform() || !small {
            return None;
        }
        let x = self.convert(ConvertOp::Bitcast, Type::F32, operand.x, window);
        let ty = ValueType::varying(Type::F32);
        let root =
            self.pure(Op::Shared { function: SharedFn::RsqDenormal, a: x }, window, &[ty])[0];
        let to = match *op {
            Op::Select { a, .. } => self.ty(a).ty,
            _ => Type::F32,
        };
        Some(self.convert(ConvertOp::Bitcast, to, root, window))
    }

    /// Matches an operation as `mask ? x 2^n : x`, or as `x (mask ? 2^n : 1)`.
    fn scaled(&self, op: &Op, window: Window) -> Option<Scaled> {
        let product = |op: &Op| match *op {
            Op::FBinary { op: FloatBinaryOp::Mul, attrs: FloatAttrs::IEEE, a, b } => Some((a, b)),
            _ => None,
        };
        if let Op::Select { mask, a, b } = *op {
            let x = self.bare(b);
            let (y, factor) = product(self.def_in(self.bare(a), window)?)?;
            let (y, factor) = if self.constant(y).is_some() { (factor, y) } else { (y, factor) };
            return (self.bare(y) == x).then_some(Scaled {
                x,
                mask,
                power: self.power_of_two(factor)?,
            });
        }
        let (y, z) = product(op)?;
        [(y, z), (z, y)].into_iter().find_map(|(x, factor)| {
            match *self.def_in(self.bare(factor), window)? {
                Op::Select { mask, a, b } if self.power_of_two(b) == Some(0) => {
                    Some(Scaled { x: self.bare(x), mask, power: self.power_of_two(a)? })
                }
                _ => None,
            }
        })
    }

    /// Returns whether a mask has exactly the lanes whose operand is below a suitable bound.
    ///
    /// Scaling then turns denormals into normal numbers and makes no infinities; the other operands
    /// are no denormals.
    fn is_small(&self, mask: Value, operand: &Scaled, window: Window) -> bool {
        let (compare, inverse) = match self.def_in(mask, window) {
            Some(&Op::Unary { op: UnaryOp::Not, a }) => (a, true),
            _ => (mask, false),
        };
        let Some(&Op::FCmp { cc, flush: false, a, b }) = self.def_in(compare, window) else {
            return false;
        };
        let (cc, x, bound) = match if inverse { cc.inverse() } else { cc } {
            cc if self.constant(b).is_some() => (cc, a, b),
            FloatCc::Gt => (FloatCc::Lt, b, a),
            _ => return false,
        };
        // Roots of negative numbers are NaN, scaled or not. So the compare may include the sign.
        let x = match self.def_in(self.bare(x), window) {
            Some(&Op::Unary { op: UnaryOp::FAbs, a }) => self.bare(a),
            _ => self.bare(x),
        };
        let Some(bound) = self.constant(bound) else { return false };
        // Less than 2^103: the product with 2^24 is finite.
        let finite = bound <= u64::from(2f32.powi(127 - operand.power).to_bits());
        let normal = bound >= LEAST_NORMAL && operand.power >= OF_LEAST_DENORMAL;
        cc == FloatCc::Lt && x == operand.x && normal && finite
    }

    /// Returns the value under any bitcasts.
    fn bare(&self, v: Value) -> Value {
        match *self.def(v) {
            Op::Convert { op: ConvertOp::Bitcast, a, .. } => self.bare(a),
            _ => v,
        }
    }

    /// Returns the operation that defines a value, if the operation has this window.
    fn def_in(&self, v: Value, window: Window) -> Option<&Op> {
        let inst = &self.insts[self.def_at(v).0];
        (inst.window == window).then_some(&inst.op)
    }

    /// Returns the n of a constant 2^n.
    fn power_of_two(&self, v: Value) -> Option<i32> {
        let bits = self.constant(v)?;
        let (exponent, mantissa) = ((bits >> 23) as i32, bits & 0x7f_ffff);
        (mantissa == 0 && (1..255).contains(&exponent)).then_some(exponent - 127)
    }
}
