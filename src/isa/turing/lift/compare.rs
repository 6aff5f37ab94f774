//! Comparisons, selections, minimum and maximum of integers and floats.

use warploom_guest::divergence::Mask;
use warploom_ir::{FloatAttrs, FloatCc, IntCc, Type, Value};
use warploom_sass::Role;
use warploom_sass::lift::Cx;

use super::flow::{Flow, Lifted, Unsupported};
use super::operand::{set, set_pred, wants};
use crate::Instruction;
use crate::field::{BoolOp, FloatCompare, IntCompare, Sign};

/// Returns `x op y`.
///
/// # Errors
/// The operation is reserved.
pub fn combine(cx: &mut Cx<'_>, op: BoolOp, x: Mask, y: Mask) -> Result<Mask, Unsupported> {
    Ok(match op {
        BoolOp::And => cx.and(x, y),
        BoolOp::Or => cx.or(x, y),
        BoolOp::Xor => cx.xor(x, y),
        BoolOp::Reserved => return Err(Unsupported),
    })
}

/// Sets Pd = `holds` op Ps and Pe = not `holds` op Ps.
pub fn set_predicates(cx: &mut Cx<'_>, i: &Instruction, op: BoolOp, holds: Mask) -> Lifted {
    let with = cx.pred(i.ps());
    let pd = combine(cx, op, holds, with)?;
    let pe = if wants(i, Role::Pe) {
        let fails = cx.not(holds);
        combine(cx, op, fails, with)?
    } else {
        Mask::Never
    };
    set_pred(cx, i, Role::Pd, pd);
    set_pred(cx, i, Role::Pe, pe);
    Ok(Flow::Next)
}

/// Returns the lanes where `a` compares with `b`.
fn compare(cx: &mut Cx<'_>, op: IntCompare, sign: Sign, a: Value, b: Value) -> Mask {
    let signed = sign == Sign::Signed;
    let pick = |if_signed, if_unsigned| if signed { if_signed } else { if_unsigned };
    let cc = match op {
        IntCompare::False => return Mask::Never,
        IntCompare::True => return Mask::Always,
        IntCompare::Lt => pick(IntCc::LtS, IntCc::LtU),
        IntCompare::Le => pick(IntCc::LeS, IntCc::LeU),
        IntCompare::Gt => pick(IntCc::GtS, IntCc::GtU),
        IntCompare::Ge => pick(IntCc::GeS, IntCc::GeU),
        IntCompare::Eq => IntCc::Eq,
        IntCompare::Ne => IntCc::Ne,
    };
    Mask::Lanes(cx.b.icmp(cc, a, b))
}

/// Lifts ISETP and UISETP. With `.EX`, the words are high words, and a predicate is the comparison
/// of the low words.
pub fn isetp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (op, sign) = (i.int_compare(), i.signed());
    let (a, b) = (cx.word(i.a()), cx.word(i.b()));
    let holds = if i.row.format.contains(".EX") {
        let low = cx.pred(i.predicate(Role::Pc));
        let strictly = match op {
            IntCompare::Lt | IntCompare::Le => IntCompare::Lt,
            IntCompare::Gt | IntCompare::Ge => IntCompare::Gt,
            other => other,
        };
        match op {
            IntCompare::False | IntCompare::True => compare(cx, op, sign, a, b),
            IntCompare::Eq => {
                let high = compare(cx, op, sign, a, b);
                cx.and(high, low)
            }
            IntCompare::Ne => {
                let high = compare(cx, op, sign, a, b);
                cx.or(high, low)
            }
            _ => {
                let strictly = compare(cx, strictly, sign, a, b);
                let equal = compare(cx, IntCompare::Eq, sign, a, b);
                let by_low = cx.and(equal, low);
                cx.or(strictly, by_low)
            }
        }
    } else {
        compare(cx, op, sign, a, b)
    };
    set_predicates(cx, i, i.bool_op(), holds)
}

/// Lifts SEL and USEL: P ? A : B.
pub fn sel(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, choice) = (cx.word(i.a()), cx.word(i.b()), cx.pred(i.ps()));
    let result = cx.select(choice, a, b);
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts IMNMX: minimum if P, else maximum.
pub fn imnmx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, least) = (cx.word(i.a()), cx.word(i.b()), cx.pred(i.ps()));
    let signed = i.signed() == Sign::Signed;
    let min = |cx: &mut Cx<'_>| if signed { cx.b.min_s(a, b) } else { cx.b.min_u(a, b) };
    let max = |cx: &mut Cx<'_>| if signed { cx.b.max_s(a, b) } else { cx.b.max_u(a, b) };
    let result = match least {
        Mask::Always => min(cx),
        Mask::Never => max(cx),
        Mask::Lanes(_) => {
            let (min, max) = (min(cx), max(cx));
            cx.select(least, min, max)
        }
    };
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Returns the lanes where `a` compares with `b`, of any float type.
pub fn compare_floats(cx: &mut Cx<'_>, op: FloatCompare, flush: bool, a: Value, b: Value) -> Mask {
    let cc = match op {
        FloatCompare::False => return Mask::Never,
        FloatCompare::True => return Mask::Always,
        FloatCompare::Lt => FloatCc::Lt,
        FloatCompare::Eq => FloatCc::Eq,
        FloatCompare::Le => FloatCc::Le,
        FloatCompare::Gt => FloatCc::Gt,
        FloatCompare::Ne => FloatCc::Ne,
        FloatCompare::Ge => FloatCc::Ge,
        FloatCompare::Num => FloatCc::Num,
        FloatCompare::Nan => FloatCc::Nan,
        FloatCompare::Ltu => FloatCc::LtU,
        FloatCompare::Equ => FloatCc::EqU,
        FloatCompare::Leu => FloatCc::LeU,
        FloatCompare::Gtu => FloatCc::GtU,
        FloatCompare::Neu => FloatCc::NeU,
        FloatCompare::Geu => FloatCc::GeU,
    };
    Mask::Lanes(cx.b.fcmp(cc, flush, a, b))
}

fn singles(cx: &mut Cx<'_>, i: &Instruction) -> Mask {
    let (a, b) = (cx.f32(i.a()), cx.f32(i.b()));
    compare_floats(cx, i.float_compare(), i.ftz(), a, b)
}

pub fn fsetp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = singles(cx, i);
    set_predicates(cx, i, i.bool_op(), holds)
}

/// Lifts FSET.BF: 1.0 or 0.
pub fn fset(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = singles(cx, i);
    let with = cx.pred(i.ps());
    let truth = combine(cx, i.bool_op(), holds, with)?;
    let (one, zero) = (cx.int(1.0_f32.to_bits()), cx.int(0));
    let result = cx.select(truth, one, zero);
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts DSETP. With `.MIN` and `.MAX`, the first predicate says that A is the minimum or maximum,
/// the second that both are NaNs.
pub fn dsetp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b) = (cx.f64(i.a()), cx.f64(i.b()));
    let extreme = match i.double_compare() {
        FloatCompare::False => Some(cx.b.fmin(FloatAttrs::IEEE, a, b)),
        FloatCompare::True => Some(cx.b.fmax(FloatAttrs::IEEE, a, b)),
        _ => None,
    };
    if let Some(extreme) = extreme {
        let (extreme, bits) = (cx.cast(Type::I64, extreme), cx.cast(Type::I64, a));
        let is_a = Mask::Lanes(cx.b.icmp(IntCc::Eq, extreme, bits));
        let mut is_nan = |value| Mask::Lanes(cx.b.fcmp(FloatCc::Nan, false, value, value));
        let (a, b) = (is_nan(a), is_nan(b));
        let (nans, with) = (cx.and(a, b), cx.pred(i.ps()));
        let is_a = combine(cx, i.bool_op(), is_a, with)?;
        set_pred(cx, i, Role::Pd, is_a);
        set_pred(cx, i, Role::Pe, nans);
        return Ok(Flow::Next);
    }
    let holds = compare_floats(cx, i.double_compare(), false, a, b);
    set_predicates(cx, i, i.bool_op(), holds)
}
