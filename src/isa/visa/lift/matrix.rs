//! `dpas`: rows of a matrix product. Facts, `visa-semantics.md` 12.

use warploom_guest::{bits, brain};
use warploom_ir::{FloatAttrs, Type, Value};

use super::{Cx, Lifted, Unsupported};
use crate::instruction::{Instruction, Operand, Raw};
use crate::module::VariableId;
use crate::types::Ty;
use crate::words::Precision;

/// The number of steps of a product. It is the systolic depth, which is always the hardware's
/// depth.
const DEPTH: u32 = 8;

fn width(precision: Precision) -> u32 {
    match precision {
        Precision::U2 | Precision::S2 => 2,
        Precision::U4 | Precision::S4 => 4,
        Precision::U8 | Precision::S8 => 8,
        Precision::Bf | Precision::Hf => 16,
        _ => 32,
    }
}

fn is_signed(precision: Precision) -> bool {
    matches!(precision, Precision::S2 | Precision::S4 | Precision::S8)
}

/// Returns element `n` of a dword, in the type of the multiplication.
fn element(
    cx: &mut Cx<'_>,
    word: Value,
    n: u32,
    precision: Precision,
) -> Result<Value, Unsupported> {
    let bits = width(precision);
    Ok(match precision {
        Precision::Bf | Precision::Hf => {
            let half = if n == 0 { word } else { bits::shr(cx, word, 16) };
            let half = cx.b.trunc(Type::I16, half);
            if precision == Precision::Bf {
                brain::from_bf16(cx, half)
            } else {
                let half = cx.b.bitcast(Type::F16, half);
                cx.b.fconvert(Type::F32, FloatAttrs::IEEE, half)
            }
        }
        Precision::Tf32 => {
            let keep = cx.word(!0x1fff);
            let word = cx.b.and(word, keep);
            cx.b.bitcast(Type::F32, word)
        }
        Precision::U2
        | Precision::S2
        | Precision::U4
        | Precision::S4
        | Precision::U8
        | Precision::S8 => bits::range(cx, word, n * bits, bits, is_signed(precision)),
        _ => return Err(Unsupported),
    })
}

/// Lifts `dpas`: D = C + A * B. Each row of A is uniform, and each lane has a column of B.
pub fn dpas(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let (to, base, of_b) =
        (cx.raw_operand(insn, 0)?, cx.raw_operand(insn, 1)?, cx.raw_operand(insn, 2)?);
    let code = cx.number(insn, 4)?;
    let precision =
        |shift: u32| Precision::from_code((code >> shift & 0xff) as u8).ok_or(Unsupported);
    let (b, a) = (precision(0)?, precision(8)?);
    let (depth, rows) = (code >> 16 & 0xff, code >> 24 & 0xff);
    if depth != DEPTH || !(1..=8).contains(&rows) || cx.piece().is_scalar() {
        return Err(Unsupported);
    }
    let (wide_a, wide_b) = (width(a), width(b));
    // The number of elements in a dword of the wider operand.
    let count = (32 / wide_a.max(wide_b)).min(8);
    let of_a = match insn.operands.get(3) {
        Some(Operand::General(general)) => {
            let ty = cx.routine().ty(general.variable).size();
            let at = u32::from(general.row) * cx.grf() + u32::from(general.column) * ty;
            Raw { variable: general.variable, offset: at }
        }
        Some(Operand::Raw(raw)) => *raw,
        _ => return Err(Unsupported),
    };
    let is_float = matches!(a, Precision::Bf | Precision::Hf | Precision::Tf32);
    let (to_ty, base_ty) = (cx.routine().ty(to.variable), cx.routine().ty(base.variable));
    let lanes = u32::from(cx.exec().size);
    let mut words: Vec<Value> = vec![];
    let per_word = 32 / (wide_b * count);
    for n in 0..DEPTH.div_ceil(per_word) {
        words.push(cx.raw(of_b, n * lanes * 4, Type::I32));
    }
    let mut columns = vec![];
    for step in 0..DEPTH {
        for k in 0..count {
            let n = step % per_word * count + k;
            columns.push(element(cx, words[(step / per_word) as usize], n, b)?);
        }
    }
    for row in 0..rows {
        let mut sum = accumulator(cx, base, row * lanes, base_ty, is_float)?;
        for (n, &column) in (0..).zip(&columns) {
            let bit = (row * DEPTH * count + n) * wide_a;
            let word = cx.raw_scalar(of_a, bit / 32 * 4, Type::I32);
            let value = element(cx, word, bit % 32 / wide_a, a)?;
            sum = if is_float {
                cx.b.fma(FloatAttrs::IEEE, value, column, sum)
            } else {
                let product = cx.b.mul(value, column);
                let ty = cx.b.ty(sum).ty;
                let product = cx.resize(product, ty, true);
                cx.b.add(sum, product)
            };
        }
        let result = match (is_float, to_ty) {
            (true, ty) => cx.float_to(sum, ty, insn.saturate)?,
            (false, ty) => cx.integer_to(sum, true, ty, insn.saturate)?,
        };
        let size = to_ty.size();
        cx.set_raw(to, row * lanes * size, result);
    }
    Ok(())
}

/// Returns a row of C, or 0 if C is the null variable.
fn accumulator(
    cx: &mut Cx<'_>,
    base: Raw,
    first: u32,
    ty: Ty,
    is_float: bool,
) -> Result<Value, Unsupported> {
    if base.variable == VariableId::NULL {
        return Ok(if is_float { cx.constant(Type::F32, 0) } else { cx.constant(Type::I64, 0) });
    }
    let at = first * ty.size();
    if !is_float {
        let value = cx.raw(base, at, Type::I32);
        return Ok(cx.resize(value, Type::I64, ty == Ty::D));
    }
    Ok(match ty {
        Ty::F => cx.raw(base, at, Type::F32),
        Ty::Hf => {
            let value = cx.raw(base, at, Type::F16);
            cx.b.fconvert(Type::F32, FloatAttrs::IEEE, value)
        }
        Ty::Bf => {
            let value = cx.raw(base, at, Type::I16);
            brain::from_bf16(cx, value)
        }
        _ => return Err(Unsupported),
    })
}
