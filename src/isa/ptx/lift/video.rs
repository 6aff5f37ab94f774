//! Video instructions.
//!
//! Source: facts, `ptx.md` 2.13; PTX ISA, *Video Instructions*.

use warploom_guest::bits;
use warploom_guest::video::{Number, ProductSum, clamp, extend, merged, shifted_left, wide};
use warploom_ir::{Type, Value};

use super::compare::int_condition;
use super::context::{Cx, Insn};
use super::integer::extreme_of;
use super::{Lifted, Unsupported};
use crate::module::Operand;
use crate::types::Ty;
use crate::word::Word;

/// An operand with its modifiers.
#[derive(Clone, Copy)]
struct Part<'a> {
    of: &'a Operand,
    negated: bool,
    /// The selector without its dot; empty for a whole word.
    selector: &'static str,
}

fn part(operand: &Operand) -> Part<'_> {
    match operand {
        Operand::Selected { register, negated, selector } => {
            Part { of: register, negated: *negated, selector: selector.trim_start_matches('.') }
        }
        of => Part { of, negated: matches!(of, Operand::Negated(_)), selector: "" },
    }
}

impl Part<'_> {
    fn word(self, cx: &mut Cx<'_>) -> Value {
        match *self.of {
            Operand::Negated(register) => cx.bits(&Operand::Register(register), Ty::B32),
            _ => cx.bits(self.of, Ty::B32),
        }
    }

    /// Returns its lowest bit and its width.
    fn range(self) -> Result<(u32, u32), Unsupported> {
        Ok(match self.selector {
            "" => (0, 32),
            "b0" => (0, 8),
            "b1" => (8, 8),
            "b2" => (16, 8),
            "b3" => (24, 8),
            "h0" => (0, 16),
            "h1" => (16, 16),
            _ => return Err(Unsupported),
        })
    }

    /// Returns it as a number of a type, without applying a negation.
    fn number(self, cx: &mut Cx<'_>, ty: Ty) -> Result<Number, Unsupported> {
        let (lo, width) = self.range()?;
        let word = self.word(cx);
        let signed = ty.is_signed();
        let part = if width == 32 { word } else { bits::range(cx, word, lo, width, signed) };
        Ok(Number { value: extend(cx, part, signed), signed })
    }
}

/// Returns the two sources of a scalar form, whose types begin with type `first`.
fn sources(cx: &mut Cx<'_>, insn: &Insn<'_>, first: usize) -> Result<[Number; 2], Unsupported> {
    // Check all that may be refused before anything is written.
    part(insn.operand(0)).range()?;
    let a = part(insn.operand(1)).number(cx, insn.form.ty(first))?;
    Ok([a, part(insn.operand(2)).number(cx, insn.form.ty(first + 1))?])
}

/// Saturates an exact result to the destination's type, which is narrow if it is merged into c.
/// Then applies the second operation, on words of that type.
fn finish(cx: &mut Cx<'_>, insn: &Insn<'_>, mut value: Value, ty: Ty) -> Lifted {
    let to = part(insn.operand(0));
    let (lo, width) = to.range()?;
    if insn.form.has(Word::Sat) {
        value = clamp(cx, value, ty.is_signed(), width);
    }
    let value = cx.b.trunc(Type::I32, value);
    let c = insn.operands.get(3).map(|c| cx.bits(c, Ty::B32));
    let result = match (c, insn.form.one_of(&[Word::Add, Word::Min, Word::Max])) {
        (Some(c), Some(Word::Add)) => cx.b.add(value, c),
        (Some(c), Some(op)) => extreme_of(cx, ty, op == Word::Max, value, c),
        (Some(c), None) if width < 32 => merged(cx, value, c, lo, width),
        _ => value,
    };
    cx.set(to.of, ty, result);
    Ok(())
}

type Exact = fn(&mut Cx<'_>, Value, Value) -> Value;

fn scalar(cx: &mut Cx<'_>, insn: &Insn<'_>, operation: Exact) -> Lifted {
    let [a, b] = sources(cx, insn, 1)?;
    let value = operation(cx, a.value, b.value);
    finish(cx, insn, value, insn.form.ty(0))
}

fn distance(cx: &mut Cx<'_>, a: Value, b: Value) -> Value {
    let difference = cx.b.sub(a, b);
    cx.b.abs(difference)
}

/// Returns the mean, rounded up unless the sum is negative.
fn mean(cx: &mut Cx<'_>, a: Value, b: Value) -> Value {
    let (sum, top, one) = (cx.b.add(a, b), cx.word(31), cx.word(1));
    let negative = cx.b.shr_u(sum, top);
    let up = cx.b.sub(one, negative);
    let rounded = cx.b.add(sum, up);
    cx.b.shr_s(rounded, one)
}

pub fn add(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    scalar(cx, insn, |cx, a, b| cx.b.add(a, b))
}

pub fn sub(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    scalar(cx, insn, |cx, a, b| cx.b.sub(a, b))
}

pub fn absdiff(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    scalar(cx, insn, distance)
}

pub fn min(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    scalar(cx, insn, |cx, a, b| cx.b.min_s(a, b))
}

pub fn max(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    scalar(cx, insn, |cx, a, b| cx.b.max_s(a, b))
}

/// Returns a number and its shift: at most 32, or with `.wrap` modulo 32.
fn shift_sources(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Result<(Number, Value), Unsupported> {
    let [a, b] = sources(cx, insn, 1)?;
    let count = if insn.form.has(Word::Wrap) {
        let mask = wide(cx, 31);
        cx.b.and(b.value, mask)
    } else {
        let most = wide(cx, 32);
        cx.b.min_u(b.value, most)
    };
    Ok((a, count))
}

pub fn shl(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (a, count) = shift_sources(cx, insn)?;
    let value = shifted_left(cx, a, count, insn.form.has(Word::Sat));
    finish(cx, insn, value, insn.form.ty(0))
}

pub fn shr(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (a, count) = shift_sources(cx, insn)?;
    let value = cx.b.shr_s(a.value, count);
    finish(cx, insn, value, insn.form.ty(0))
}

/// Lifts `vmad`: a * b + c, scaled. Negations of both factors cancel.
pub fn mad(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let scale = match insn.form.one_of(&[Word::Shr7, Word::Shr15]) {
        Some(Word::Shr7) => 7,
        Some(_) => 15,
        None => 0,
    };
    let (a, b, c) = (part(insn.operand(1)), part(insn.operand(2)), part(insn.operand(3)));
    let sum = ProductSum {
        factors: sources(cx, insn, 1)?,
        product_negated: a.negated != b.negated,
        c: c.word(cx),
        c_negated: c.negated,
        plus_one: insn.form.has(Word::Po),
        scale,
        saturate: insn.form.has(Word::Sat),
    };
    let result = sum.emit(cx);
    cx.set(insn.operand(0), insn.form.ty(0), result);
    Ok(())
}

/// Returns 1 where the comparison holds, else 0, as a number of type `ty`.
fn compared(
    cx: &mut Cx<'_>,
    insn: &Insn<'_>,
    ty: Type,
    a: Value,
    b: Value,
) -> Result<Value, Unsupported> {
    let cc =
        insn.form.words.iter().find_map(|&word| int_condition(word, true)).ok_or(Unsupported)?;
    let holds = cx.b.icmp(cc, a, b);
    let (one, zero) = (cx.constant(ty, 1), cx.constant(ty, 0));
    Ok(cx.b.select(holds, one, zero))
}

pub fn set(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let [a, b] = sources(cx, insn, 0)?;
    let value = compared(cx, insn, Type::I64, a.value, b.value)?;
    finish(cx, insn, value, Ty::U32)
}

/// Returns the elements of b:a that a selector of packed sources names, for the lowest lane first.
fn elements(selector: &str, lanes: u32, otherwise: [u32; 4]) -> Result<[u32; 4], Unsupported> {
    if selector.is_empty() {
        return Ok(otherwise);
    }
    let mut elements = [0; 4];
    let named = selector[1..].chars().rev();
    if named.clone().count() != lanes as usize {
        return Err(Unsupported);
    }
    for (element, digit) in elements.iter_mut().zip(named) {
        *element = digit.to_digit(10).filter(|&digit| digit < 2 * lanes).ok_or(Unsupported)?;
    }
    Ok(elements)
}

/// Lifts `vadd2`, `vset4` and similar: an operation on two halves or four bytes.
pub fn simd(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let name = insn.form.row.opcode.split('.').next().unwrap_or_default();
    let (operation, lanes) =
        match name.split_at_checked(name.len().saturating_sub(1)).ok_or(Unsupported)? {
            (operation, "2") => (operation, 2),
            (operation, "4") => (operation, 4),
            _ => return Err(Unsupported),
        };
    let operation: Option<Exact> = match operation {
        "vadd" => Some(|cx, a, b| cx.b.add(a, b)),
        "vsub" => Some(|cx, a, b| cx.b.sub(a, b)),
        "vavrg" => Some(mean),
        "vabsdiff" => Some(distance),
        "vmin" => Some(|cx, a, b| cx.b.min_s(a, b)),
        "vmax" => Some(|cx, a, b| cx.b.max_s(a, b)),
        "vset" => None,
        _ => return Err(Unsupported),
    };
    let first = usize::from(operation.is_some());
    let (width, form) = (32 / lanes, insn.form);
    let [d, a, b] = [0, 1, 2].map(|n| part(insn.operand(n)));
    let from_a = elements(a.selector, lanes, [0, 1, 2, 3])?;
    let from_b = elements(b.selector, lanes, [lanes, lanes + 1, lanes + 2, lanes + 3])?;
    let is_written = |lane: u32| {
        d.selector.is_empty() || d.selector[1..].contains(['0', '1', '2', '3'][lane as usize])
    };
    let words = [a.word(cx), b.word(cx)];
    let c = cx.bits(insn.operand(3), Ty::B32);
    let number = |cx: &mut Cx<'_>, element: u32, ty: Ty| {
        bits::range(
            cx,
            words[(element / lanes) as usize],
            element % lanes * width,
            width,
            ty.is_signed(),
        )
    };
    let mut result = c;
    for lane in (0..lanes).filter(|&lane| is_written(lane)) {
        let x = number(cx, from_a[lane as usize], form.ty(first));
        let y = number(cx, from_b[lane as usize], form.ty(first + 1));
        let mut value = match operation {
            Some(operation) => operation(cx, x, y),
            None => compared(cx, insn, Type::I32, x, y)?,
        };
        if form.has(Word::Sat) {
            value = clamp(cx, value, form.ty(0).is_signed(), width);
        }
        result = if form.has(Word::Add) {
            cx.b.add(result, value)
        } else {
            merged(cx, value, result, lane * width, width)
        };
    }
    cx.set(d.of, Ty::B32, result);
    Ok(())
}
