//! Comparison and selection.
//!
//! Source: facts, `ptx.md` 2.4.

use smallvec::{SmallVec, smallvec};
use warploom_guest::bits;
use warploom_guest::brain::from_bf16;
use warploom_guest::divergence::Mask;
use warploom_ir::{FloatCc, IntCc, Type, Value};

use super::context::{Cx, Insn, int_type};
use super::convert::pack;
use super::{Lifted, Unsupported};
use crate::module::Operand;
use crate::table::Form;
use crate::types::{Kind, Ty};
use crate::word::Word;

/// The results of a comparison, of one number or of two halves.
type Truths = SmallVec<[Mask; 2]>;

/// Combines `x` and `y` by the form's word; without one, returns `x`.
pub fn combined(cx: &mut Cx<'_>, form: &Form, x: Mask, y: Mask) -> Mask {
    match form.one_of(&[Word::And, Word::Or, Word::Xor]) {
        Some(Word::And) => cx.and(x, y),
        Some(Word::Or) => cx.or(x, y),
        Some(_) => cx.xor(x, y),
        None => x,
    }
}

/// Returns the comparison of integers that a word means.
pub fn int_condition(word: Word, signed: bool) -> Option<IntCc> {
    let pick = |if_signed, if_unsigned| if signed { if_signed } else { if_unsigned };
    Some(match word {
        Word::Eq => IntCc::Eq,
        Word::Ne => IntCc::Ne,
        Word::Lt => pick(IntCc::LtS, IntCc::LtU),
        Word::Le => pick(IntCc::LeS, IntCc::LeU),
        Word::Gt => pick(IntCc::GtS, IntCc::GtU),
        Word::Ge => pick(IntCc::GeS, IntCc::GeU),
        Word::Lo => IntCc::LtU,
        Word::Ls => IntCc::LeU,
        Word::Hi => IntCc::GtU,
        Word::Hs => IntCc::GeU,
        _ => return None,
    })
}

fn float_condition(word: Word) -> Option<FloatCc> {
    Some(match word {
        Word::Eq => FloatCc::Eq,
        Word::Ne => FloatCc::Ne,
        Word::Lt => FloatCc::Lt,
        Word::Le => FloatCc::Le,
        Word::Gt => FloatCc::Gt,
        Word::Ge => FloatCc::Ge,
        Word::Equ => FloatCc::EqU,
        Word::Neu => FloatCc::NeU,
        Word::Ltu => FloatCc::LtU,
        Word::Leu => FloatCc::LeU,
        Word::Gtu => FloatCc::GtU,
        Word::Geu => FloatCc::GeU,
        Word::Num => FloatCc::Num,
        Word::IsNan => FloatCc::Nan,
        _ => return None,
    })
}

/// Returns the numbers of a float operand in types that the IR compares: `bf16` as `f32`.
fn floats(cx: &mut Cx<'_>, operand: &Operand, ty: Ty) -> Result<SmallVec<[Value; 2]>, Unsupported> {
    Ok(match ty {
        Ty::F16 | Ty::F32 | Ty::F64 => smallvec![cx.float(operand, ty)],
        Ty::Bf16 => {
            let bits = cx.bits(operand, Ty::B16);
            smallvec![from_bf16(cx, bits)]
        }
        Ty::F16x2 | Ty::Bf16x2 => {
            let word = cx.bits(operand, Ty::B32);
            let high = bits::shr(cx, word, 16);
            let halves = [word, high].map(|bits| cx.b.trunc(Type::I16, bits));
            let half =
                |bits| if ty == Ty::F16x2 { cx.cast(Type::F16, bits) } else { from_bf16(cx, bits) };
            halves.into_iter().map(half).collect()
        }
        _ => return Err(Unsupported),
    })
}

/// Returns the lanes where the first two sources compare as the form says. Packed types give the
/// low half first.
fn compared(cx: &mut Cx<'_>, insn: &Insn<'_>, ty: Ty) -> Result<Truths, Unsupported> {
    let mut words = insn.form.words.iter();
    if ty.is_float() {
        let cc = words.find_map(|&word| float_condition(word)).ok_or(Unsupported)?;
        let flush = insn.form.has(Word::Ftz);
        let (a, b) = (floats(cx, insn.operand(1), ty)?, floats(cx, insn.operand(2), ty)?);
        return Ok(a
            .into_iter()
            .zip(b)
            .map(|(a, b)| Mask::Lanes(cx.b.fcmp(cc, flush, a, b)))
            .collect());
    }
    if !matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed)
        || !matches!(ty.bits(), 16 | 32 | 64)
    {
        return Err(Unsupported);
    }
    let cc = words.find_map(|&word| int_condition(word, ty.is_signed())).ok_or(Unsupported)?;
    let (a, b) = (cx.bits(insn.operand(1), ty), cx.bits(insn.operand(2), ty));
    Ok(smallvec![Mask::Lanes(cx.b.icmp(cc, a, b))])
}

/// Returns the predicate that a comparison is combined with.
fn with(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Mask {
    match insn.form.one_of(&[Word::And, Word::Or, Word::Xor]) {
        Some(_) => cx.pred(insn.operand(3)),
        None => Mask::Never,
    }
}

/// Lifts `setp`, which writes one predicate or two. Packed types write one for each half; other
/// types write the comparison and its complement.
pub fn setp(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let truths = compared(cx, insn, insn.form.ty(0))?;
    let with = with(cx, insn);
    let first = combined(cx, insn.form, truths[0], with);
    let Operand::Pair(pair) = insn.operand(0) else {
        cx.set_pred(insn.operand(0), first);
        return Ok(());
    };
    let second = match truths.get(1) {
        Some(&high) => high,
        None => cx.not(truths[0]),
    };
    let second = combined(cx, insn.form, second, with);
    cx.set_pred(&pair[0], first);
    cx.set_pred(&pair[1], second);
    Ok(())
}

/// Returns the bits of "true" in a type; for packed types, in one half.
fn true_bits(ty: Ty) -> Option<u64> {
    Some(match ty {
        Ty::F16 | Ty::F16x2 => 0x3c00,
        Ty::Bf16 | Ty::Bf16x2 => 0x3f80,
        Ty::F32 => 1f32.to_bits().into(),
        Ty::U16 | Ty::S16 | Ty::U32 | Ty::S32 => u64::MAX,
        _ => return None,
    })
}

/// Lifts `set`: true is all ones or 1.0, false is 0.
pub fn set(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (to, from) = (insn.form.ty(0), insn.form.ty(1));
    let bits = true_bits(to).ok_or(Unsupported)?;
    let truths = compared(cx, insn, from)?;
    let with = with(cx, insn);
    let mut results = SmallVec::<[Value; 2]>::new();
    let element = if truths.len() == 2 { Type::I16 } else { int_type(to.bits()) };
    let (yes, no) = (cx.constant(element, bits), cx.constant(element, 0));
    for truth in truths {
        let truth = combined(cx, insn.form, truth, with);
        results.push(cx.select(truth, yes, no));
    }
    let result = match results[..] {
        [low, high] => pack(cx, low, high),
        _ => results[0],
    };
    cx.set(insn.operand(0), to, result);
    Ok(())
}

pub fn selp(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = insn.form.ty(0);
    if !matches!(ty.bits(), 16 | 32 | 64) {
        return Err(Unsupported);
    }
    let (a, b) = (cx.bits(insn.operand(1), ty), cx.bits(insn.operand(2), ty));
    let choice = cx.pred(insn.operand(3));
    let result = cx.select(choice, a, b);
    cx.set(insn.operand(0), ty, result);
    Ok(())
}

/// Lifts `slct`: `c >= 0 ? a : b`. -0 is not less than 0; a NaN selects `b`.
pub fn slct(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (ty, by) = (insn.form.ty(0), insn.form.ty(1));
    if !matches!(ty.bits(), 16 | 32 | 64) || !matches!(by, Ty::S32 | Ty::F32) {
        return Err(Unsupported);
    }
    let (a, b) = (cx.bits(insn.operand(1), ty), cx.bits(insn.operand(2), ty));
    let choice = if by == Ty::F32 {
        let (c, zero) = (cx.float(insn.operand(3), by), cx.constant(Type::F32, 0));
        cx.b.fcmp(FloatCc::Ge, insn.form.has(Word::Ftz), c, zero)
    } else {
        let (c, zero) = (cx.bits(insn.operand(3), by), cx.word(0));
        cx.b.icmp(IntCc::GeS, c, zero)
    };
    let result = cx.b.select(choice, a, b);
    cx.set(insn.operand(0), ty, result);
    Ok(())
}
