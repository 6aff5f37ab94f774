//! Evaluation of pure operations on bit patterns: the only definition behind the interpreter, the
//! JIT's slow helpers and the constant folder.
//!
//! Functions work on rows, one `u64` per lane, zero above the type's width. `out` and all operands
//! of one call have equal lengths (1 for a single value). In masks, bit `i` belongs to element `i`
//! of the row.

mod convert;
mod float;
mod int;
mod soft;

pub use convert::{convert, fconvert, float_to_int, int_to_float};
pub use float::{fbinary, fcmp, fma, funary};
pub use int::{add_carry, binary, icmp, unary};

use super::function::NanPolicy;
use super::op::{ConvertOp, Op, UnaryOp};
use super::shared;
use super::types::Type;

/// The output of [`lanewise`] besides the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The row is the only result.
    Row,
    /// This mask is the only result; the row is untouched.
    Mask(u64),
    /// The first result is the row, the second result this mask.
    RowAndMask(u64),
}

/// Evaluates a lane-wise operation; `None` if `op` is not lane-wise. `args` are the operands in the
/// order of [`Op::operands`], and `ty` is the type of the first operand. Mask operands (of
/// `Select`, `AddCarry`, and the condition of `UniformSelect`) are read from element 0 of their
/// row. Bit `first` of masks that go in and out belongs to element 0 of the rows. `lanes` is the
/// width of a warp.
pub fn lanewise(
    op: &Op,
    ty: Type,
    nan: NanPolicy,
    (lanes, first): (u8, u32),
    args: &[&[u64]],
    out: &mut [u64],
) -> Option<Output> {
    let all = Type::Mask.bits_of_lanes(lanes);
    match (op, args) {
        (Op::Const { bits, .. }, _) => out.fill(*bits),
        (Op::Splat { .. }, [a]) => out.copy_from_slice(a),
        (Op::Unary { op: UnaryOp::Not, .. }, [a]) if ty == Type::Mask => {
            each1(a, out, |a| !a & all)
        }
        (Op::Unary { op, .. }, [a]) => unary(*op, ty, a, out),
        (Op::Binary { op, .. }, [a, b]) => binary(*op, ty, a, b, out),
        (Op::AddCarry { .. }, [a, b, carry @ ..]) => {
            let carry = carry.first().map_or(0, |mask| mask[0] >> first);
            return Some(Output::RowAndMask(add_carry(ty, a, b, carry, out) << first));
        }
        (Op::ICmp { cc, .. }, [a, b]) => return Some(Output::Mask(icmp(*cc, ty, a, b) << first)),
        (Op::FCmp { cc, flush, .. }, [a, b]) => {
            return Some(Output::Mask(fcmp(*cc, ty, *flush, a, b) << first));
        }
        (Op::Select { .. }, [mask, a, b]) => select(mask[0] >> first, a, b, out),
        (Op::UniformSelect { .. }, [cond, a, b]) => {
            out.copy_from_slice(if cond[0] != 0 { a } else { b })
        }
        (Op::Convert { op: ConvertOp::ToMask, .. }, [a]) => each1(a, out, |a| a & all),
        (Op::Convert { op, to, .. }, [a]) => convert(*op, ty, *to, a, out),
        (Op::Concat { .. }, [lo, hi]) => each2(lo, hi, out, |lo, hi| lo | hi << 32),
        (Op::FUnary { op, attrs, .. }, [a]) => funary(*op, ty, *attrs, nan, a, out),
        (Op::FBinary { op, attrs, .. }, [a, b]) => fbinary(*op, ty, *attrs, nan, a, b, out),
        (Op::Fma { attrs, .. }, [a, b, c]) => fma(ty, *attrs, nan, a, b, c, out),
        (Op::FConvert { to, attrs, .. }, [a]) => fconvert(ty, *to, *attrs, nan, a, out),
        (Op::IntToFloat { to, signed, round, .. }, [a]) => {
            int_to_float(ty, *to, *signed, *round, a, out)
        }
        (Op::FloatToInt { to, signed, round, flush, nan, .. }, [a]) => {
            float_to_int(ty, *to, *signed, *round, *flush, *nan, a, out)
        }
        (Op::Shared { function, .. }, [a]) => shared::eval(*function, nan.f32, a, out),
        _ => return None,
    }
    Some(Output::Row)
}

/// Selects element `i` of `a` if bit `i` is set, else of `b`.
pub fn select(mask: u64, a: &[u64], b: &[u64], out: &mut [u64]) {
    for (i, ((out, &a), &b)) in out.iter_mut().zip(a).zip(b).enumerate() {
        *out = if mask >> i & 1 != 0 { a } else { b };
    }
}

/// Returns one value from a row function: `single(|out| unary(op, ty, &[a], out))`.
pub fn single(f: impl FnOnce(&mut [u64])) -> u64 {
    let mut out = [0];
    f(&mut out);
    out[0]
}

/// The value as a signed number.
pub const fn sign_extend(ty: Type, x: u64) -> i64 {
    let unused = 64 - ty.bits();
    (x << unused) as i64 >> unused
}

#[inline(always)]
fn each1(a: &[u64], out: &mut [u64], f: impl Fn(u64) -> u64) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = f(a);
    }
}

#[inline(always)]
fn each2(a: &[u64], b: &[u64], out: &mut [u64], f: impl Fn(u64, u64) -> u64) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

#[inline(always)]
fn mask_of(a: &[u64], b: &[u64], holds: impl Fn(u64, u64) -> bool) -> u64 {
    a.iter().zip(b).enumerate().fold(0, |mask, (i, (&a, &b))| mask | u64::from(holds(a, b)) << i)
}

#[cfg(test)]
mod tests;
