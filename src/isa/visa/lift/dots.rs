//! Sums of products of neighbours, and of bytes. Facts, `visa-semantics.md` 3.

use warploom_guest::bits;
use warploom_ir::{FloatAttrs, Type, Value};

use super::numbers::{Kind, float_type};
use super::operand::{Source, is_signed};
use super::{Cx, Lifted, Unsupported};
use crate::instruction::{General, Instruction, Operand};
use crate::types::{Region, Ty};

/// Returns an instruction whose `n`th operand has another region, which begins `more` elements
/// later.
fn moved(
    insn: &Instruction,
    n: usize,
    more: u8,
    region: impl Fn(Region) -> Option<Region>,
) -> Result<Instruction, Unsupported> {
    let mut moved = insn.clone();
    let Some(Operand::General(general)) = moved.operands.get_mut(n) else {
        return Err(Unsupported);
    };
    let region = region(general.region).ok_or(Unsupported)?;
    *general = General {
        column: general.column.checked_add(more).ok_or(Unsupported)?,
        region,
        ..*general
    };
    Ok(moved)
}

/// Returns the distance between elements of a region that is evenly spaced, in elements.
fn stride(region: Region) -> Option<u8> {
    let (vertical, width, horizontal) = (region.vertical?, region.width?, region.horizontal?);
    (vertical == width.checked_mul(horizontal)? || width == 1).then_some(if width == 1 {
        vertical
    } else {
        horizontal
    })
}

/// Returns element `k` of each four elements of a source, in all four lanes.
fn component(cx: &mut Cx<'_>, insn: &Instruction, n: usize, k: u8) -> Result<Source, Unsupported> {
    let Some(Operand::General(general)) = insn.operands.get(n) else { return cx.source(insn, n) };
    let step = stride(general.region).ok_or(Unsupported)?;
    let fours = Region {
        vertical: Some(step.checked_mul(4).ok_or(Unsupported)?),
        width: Some(4),
        horizontal: Some(0),
    };
    let moved = moved(insn, n, k * step, |_| Some(fours))?;
    cx.source(&moved, n)
}

/// Writes a sum of products of the first `count` of each four elements.
///
/// If `more`, the sum includes the second source's last element.
fn product_of_fours(cx: &mut Cx<'_>, insn: &Instruction, count: u8, more: bool) -> Lifted {
    let attrs = cx.mode.attrs(Type::F32, false);
    let mut sum = None;
    for k in 0..count {
        let sources = [component(cx, insn, 1, k)?, component(cx, insn, 2, k)?];
        let [a, b] = [cx.float(sources[0], Type::F32)?, cx.float(sources[1], Type::F32)?];
        sum = Some(match sum {
            None => cx.b.fmul(attrs, a, b),
            Some(sum) => cx.b.fma(attrs, a, b, sum),
        });
    }
    let mut sum = sum.ok_or(Unsupported)?;
    if more {
        let last = component(cx, insn, 2, 3)?;
        let last = cx.float(last, Type::F32)?;
        sum = cx.b.fadd(attrs, sum, last);
    }
    set_f32(cx, insn, sum)
}

fn set_f32(cx: &mut Cx<'_>, insn: &Instruction, value: Value) -> Lifted {
    let saturate = cx.saturates(insn, Type::F32);
    let value = cx.to_float(value, Type::F32, saturate);
    cx.set_float(insn, value)
}

pub fn dp2(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    product_of_fours(cx, insn, 2, false)
}

pub fn dp3(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    product_of_fours(cx, insn, 3, false)
}

pub fn dp4(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    product_of_fours(cx, insn, 4, false)
}

pub fn dph(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    product_of_fours(cx, insn, 3, true)
}

/// Returns one element of a source, for all lanes.
fn single(cx: &mut Cx<'_>, insn: &Instruction, n: usize, k: u8) -> Result<Value, Unsupported> {
    let moved = moved(insn, n, k, |_| Some(Region::SCALAR))?;
    let source = cx.source(&moved, n)?;
    cx.float(source, Type::F32)
}

/// Lifts `line`: p * x + r.
pub fn line(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let (p, r) = (single(cx, insn, 1, 0)?, single(cx, insn, 1, 3)?);
    let x = cx.source(insn, 2)?;
    let x = cx.float(x, Type::F32)?;
    let attrs = cx.mode.attrs(Type::F32, false);
    let result = cx.b.fma(attrs, p, x, r);
    set_f32(cx, insn, result)
}

/// Lifts `plane`: p * u + q * v + r, where each eight elements of v follow eight elements of u.
pub fn plane(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let [p, q, r] = [single(cx, insn, 1, 0)?, single(cx, insn, 1, 1)?, single(cx, insn, 1, 3)?];
    let eights = |_| Some(Region { vertical: Some(16), width: Some(8), horizontal: Some(1) });
    let (u, v) = (moved(insn, 2, 0, eights)?, moved(insn, 2, 8, eights)?);
    let (u, v) = (cx.source(&u, 2)?, cx.source(&v, 2)?);
    let (u, v) = (cx.float(u, Type::F32)?, cx.float(v, Type::F32)?);
    let attrs = cx.mode.attrs(Type::F32, false);
    let sum = cx.b.fma(attrs, p, u, r);
    let result = cx.b.fma(attrs, q, v, sum);
    set_f32(cx, insn, result)
}

/// Lifts `dp4a`: the first source plus the products of the other sources' bytes.
pub fn dp4a(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 3] = cx.sources(insn, 1)?;
    if cx.kind(&sources) != Kind::Integer || sources.iter().any(|source| source.ty.size() != 4) {
        return Err(Unsupported);
    }
    let [a, b] = [sources[1], sources[2]];
    let (x, y) = (cx.integer(a, Type::I32), cx.integer(b, Type::I32));
    let mut sum = None;
    for n in 0..4 {
        let x = bits::range(cx, x, n * 8, 8, is_signed(a.ty));
        let y = bits::range(cx, y, n * 8, 8, is_signed(b.ty));
        let product = cx.b.mul(x, y);
        sum = Some(match sum {
            None => product,
            Some(sum) => cx.b.add(sum, product),
        });
    }
    let sum = sum.ok_or(Unsupported)?;
    let ty = if insn.saturate { Type::I64 } else { Type::I32 };
    let sum = cx.resize(sum, ty, true);
    let base = cx.integer(sources[0], ty);
    let sum = cx.b.add(base, sum);
    cx.set_integer(insn, sum, true)
}

/// Returns, for even elements, the distance of the sources plus the distance of their neighbours.
fn distances(cx: &mut Cx<'_>, insn: &Instruction) -> Result<Value, Unsupported> {
    let mut sum = None;
    for k in 0..2 {
        let mut values = vec![];
        for n in 1..=2 {
            let source = match insn.operands.get(n) {
                Some(Operand::General(general)) => {
                    let step = stride(general.region).ok_or(Unsupported)?;
                    let moved = moved(insn, n, k * step, Some)?;
                    cx.source(&moved, n)?
                }
                _ => cx.source(insn, n)?,
            };
            if source.ty.size() > 2 || source.ty == Ty::Bool {
                return Err(Unsupported);
            }
            values.push(cx.integer(source, Type::I32));
        }
        let distance = cx.b.sub(values[0], values[1]);
        let distance = cx.b.abs(distance);
        sum = Some(match sum {
            None => distance,
            Some(sum) => cx.b.add(sum, distance),
        });
    }
    sum.ok_or(Unsupported)
}

pub fn sad2(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sum = distances(cx, insn)?;
    cx.set_integer(insn, sum, true)
}

pub fn sad2add(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sum = distances(cx, insn)?;
    let more = cx.source(insn, 3)?;
    let more = cx.integer(more, Type::I32);
    let sum = cx.b.add(sum, more);
    cx.set_integer(insn, sum, true)
}

/// Lifts `srnd`: rounds by adding random bits to the bits that are cut.
///
/// It converts `f` to `hf`, or `hf` to the float of 8 bits that is the upper half of an `hf`.
pub fn srnd(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    use warploom_ir::{IntCc, Round};
    let [value, random]: [Source; 2] = cx.sources(insn, 1)?;
    let (mask, infinity, all) = match (value.ty, cx.destination_type(insn, 0)?) {
        (Ty::F, Ty::Hf) => (0x1fff, 0x7f80_0000, 0x7fff_ffff),
        (Ty::Hf, Ty::Ub) => (0xff, 0x7c00, 0x7fff),
        _ => return Err(Unsupported),
    };
    let own = float_type(value.ty);
    let number = cx.float(value, own)?;
    let word = cx.b.bitcast(own.as_int(), number);
    let word = cx.resize(word, Type::I32, false);
    let random = cx.integer(random, Type::I32);
    let mask = cx.word(mask);
    let random = cx.b.and(random, mask);
    let sum = cx.b.add(word, random);
    // Infinities and NaNs stay.
    let (all, infinity) = (cx.word(all), cx.word(infinity));
    let magnitude = cx.b.and(word, all);
    let finite = cx.b.icmp(IntCc::LtU, magnitude, infinity);
    let sum = cx.pick(finite, sum, word);
    let result = if own == Type::F16 {
        let quiet = cx.word(0x7e00);
        let is_nan = cx.b.icmp(IntCc::GtU, magnitude, infinity);
        let sum = cx.pick(is_nan, quiet, sum);
        let byte = bits::shr(cx, sum, 8);
        cx.b.trunc(Type::I8, byte)
    } else {
        let sum = cx.b.bitcast(Type::F32, sum);
        let cut = FloatAttrs { round: Round::Zero, ..FloatAttrs::IEEE };
        cx.b.fconvert(Type::F16, cut, sum)
    };
    cx.set(insn, 0, result);
    Ok(())
}

/// Lifts `fcvt`.
///
/// It rounds `f` to `tf32`, whose mantissa has 10 bits: to nearest, without denormals. It also
/// converts between `hf` and the bytes that are its upper half.
pub fn fcvt(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    use warploom_ir::{FloatCc, IntCc};
    let source = cx.source(insn, 1)?;
    let to = cx.destination_type(insn, 0)?;
    match (source.ty, to) {
        (Ty::Ud, Ty::F) => cx.set(insn, 0, source.value),
        (Ty::F, Ty::Ud) => {
            let word = source.value;
            let (more, keep) = (bits::to_even(cx, word, 13), cx.word(!0x1fff));
            let rounded = cx.b.add(word, more);
            let (magnitude, infinity, least) =
                (cx.word(0x7fff_ffff), cx.word(0x7f80_0000), cx.word(0x80_0000));
            let magnitude = cx.b.and(word, magnitude);
            let finite = cx.b.icmp(IntCc::LtU, magnitude, infinity);
            let rounded = cx.pick(finite, rounded, word);
            let rounded = cx.b.and(rounded, keep);
            let float = cx.b.bitcast(Type::F32, word);
            let nan = cx.b.fcmp(FloatCc::Nan, false, float, float);
            let quiet = cx.word(0x7fc0_0000);
            let rounded = cx.pick(nan, quiet, rounded);
            let (small, sign) = (cx.b.icmp(IntCc::LtU, magnitude, least), cx.word(1 << 31));
            let sign = cx.b.and(word, sign);
            let result = cx.pick(small, sign, rounded);
            cx.set(insn, 0, result);
        }
        (Ty::Ub, Ty::Hf) => {
            let word = cx.b.zero_extend(Type::I16, source.value);
            let eight = cx.constant(Type::I16, 8);
            let result = cx.b.shl(word, eight);
            cx.set(insn, 0, result);
        }
        (Ty::Hf, Ty::Ub) => {
            let word = cx.b.zero_extend(Type::I32, source.value);
            let more = bits::to_even(cx, word, 8);
            let rounded = cx.b.add(word, more);
            let (magnitude, infinity, nan) = (cx.word(0x7fff), cx.word(0x7c00), cx.word(0x7e00));
            let magnitude = cx.b.and(word, magnitude);
            let is_nan = cx.b.icmp(IntCc::GtU, magnitude, infinity);
            let rounded = cx.pick(is_nan, nan, rounded);
            let byte = bits::shr(cx, rounded, 8);
            let byte = cx.b.trunc(Type::I8, byte);
            cx.set(insn, 0, byte);
        }
        _ => return Err(Unsupported),
    }
    Ok(())
}
