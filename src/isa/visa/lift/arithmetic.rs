//! Sums, products, quotients. Facts, `visa-semantics.md` 2 and 3.

use warploom_ir::{FloatAttrs, FloatBinaryOp, IntCc, Type, Value};

use super::long::Long;
use super::numbers::{Domain, Kind};
use super::operand::{Source, is_signed};
use super::write::Target;
use super::{Cx, Lifted, Unsupported};
use crate::instruction::{General, Instruction, Operand};

/// Returns a type in which the low bits of a destination are computed.
fn low_type(cx: &Cx<'_>, insn: &Instruction) -> Result<Type, Unsupported> {
    Ok(if cx.destination_type(insn, 0)?.size() == 8 { Type::I64 } else { Type::I32 })
}

/// Writes the sum of integer sources, which is exact if the destination saturates.
fn integer_sum(cx: &mut Cx<'_>, insn: &Instruction, sources: &[Source]) -> Lifted {
    if !insn.saturate {
        let ty = low_type(cx, insn)?;
        let values: Vec<Value> = sources.iter().map(|&source| cx.integer(source, ty)).collect();
        let sum = values.into_iter().reduce(|a, b| cx.b.add(a, b)).ok_or(Unsupported)?;
        return cx.set_integer(insn, sum, true);
    }
    let total = sources.iter().fold((0, 0), |sum: (i128, i128), source| {
        let range = source.range();
        (sum.0 + range.0, sum.1 + range.1)
    });
    let domain = Domain::of(&[total]);
    if matches!(domain, Domain::Wide) || sources.iter().any(|source| source.ty.size() == 8) {
        return long_sum(cx, insn, sources);
    }
    let values: Vec<Value> =
        sources.iter().map(|&source| cx.integer(source, domain.ty())).collect();
    let sum = values.into_iter().reduce(|a, b| cx.b.add(a, b)).ok_or(Unsupported)?;
    cx.set_integer(insn, sum, domain.is_signed())
}

/// Writes a saturated sum that may have more than 64 bits.
fn long_sum(cx: &mut Cx<'_>, insn: &Instruction, sources: &[Source]) -> Lifted {
    let to = cx.destination_type(insn, 0)?;
    let numbers: Vec<Long> = sources.iter().map(|&source| cx.long(source)).collect();
    let sum = numbers.into_iter().reduce(|a, b| cx.long_sum(a, b)).ok_or(Unsupported)?;
    let sum = cx.long_to(sum, to, true)?;
    cx.set(insn, 0, sum);
    Ok(())
}

fn float_binary(
    cx: &mut Cx<'_>,
    insn: &Instruction,
    op: FloatBinaryOp,
    sources: [Source; 2],
    ty: Type,
) -> Lifted {
    let [a, b] = [cx.float(sources[0], ty)?, cx.float(sources[1], ty)?];
    let attrs = cx.mode.attrs(ty, cx.saturates(insn, ty));
    let result = cx.b.fbinary(op, attrs, a, b);
    cx.set_float(insn, result)
}

pub fn add(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 2] = cx.sources(insn, 1)?;
    match cx.kind(&sources) {
        Kind::Integer => integer_sum(cx, insn, &sources),
        Kind::Float(ty) => float_binary(cx, insn, FloatBinaryOp::Add, sources, ty),
    }
}

pub fn add3(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 3] = cx.sources(insn, 1)?;
    match cx.kind(&sources) {
        Kind::Integer => integer_sum(cx, insn, &sources),
        Kind::Float(_) => Err(Unsupported),
    }
}

/// Lifts `add3.o`: its predicate receives whether the sum is outside the destination's range.
pub fn add3_overflow(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 3] = cx.sources(insn, 1)?;
    let to = cx.destination_type(insn, 0)?;
    if cx.kind(&sources) != Kind::Integer || to.size() > 4 {
        return Err(Unsupported);
    }
    let values = sources.map(|source| cx.integer(source, Type::I64));
    let sum = cx.b.add(values[0], values[1]);
    let sum = cx.b.add(sum, values[2]);
    if let Some(used) = insn.predicate {
        let nearest = cx.clamped(sum, true, to);
        let over = cx.b.icmp(IntCc::Ne, nearest, sum);
        let reg = cx.predicate_reg(used.predicate);
        let elements = cx.routine().predicate(used.predicate).map_or(32, |one| one.elements);
        cx.later(Target::Predicate { reg, elements }, over);
    }
    cx.set_integer(insn, sum, true)
}

fn words(cx: &mut Cx<'_>, insn: &Instruction, first: usize) -> Result<(Value, Value), Unsupported> {
    let sources: [Source; 2] = cx.sources(insn, first)?;
    if cx.kind(&sources) != Kind::Integer {
        return Err(Unsupported);
    }
    Ok((cx.integer(sources[0], Type::I32), cx.integer(sources[1], Type::I32)))
}

/// Lifts `addc`: sum and carry.
pub fn addc(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let (a, b) = words(cx, insn, 2)?;
    let sum = cx.b.add(a, b);
    let carry = cx.b.icmp(IntCc::LtU, sum, a);
    two_results(cx, insn, sum, carry)
}

/// Lifts `subb`: difference and borrow.
pub fn subb(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let (a, b) = words(cx, insn, 2)?;
    let difference = cx.b.sub(a, b);
    let borrow = cx.b.icmp(IntCc::LtU, a, b);
    two_results(cx, insn, difference, borrow)
}

fn two_results(cx: &mut Cx<'_>, insn: &Instruction, result: Value, bit: Value) -> Lifted {
    let (one, zero) = (cx.word(1), cx.word(0));
    let bit = cx.pick(bit, one, zero);
    for (n, value) in [result, bit].into_iter().enumerate() {
        if cx.destination_type(insn, n)?.size() != 4 {
            return Err(Unsupported);
        }
        cx.set(insn, n, value);
    }
    Ok(())
}

/// Lifts `avg`: (a + b + 1) >> 1.
pub fn avg(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 2] = cx.sources(insn, 1)?;
    if cx.kind(&sources) != Kind::Integer || sources.iter().any(|source| source.ty.size() > 4) {
        return Err(Unsupported);
    }
    let values = sources.map(|source| cx.integer(source, Type::I64));
    let one = cx.constant(Type::I64, 1);
    let sum = cx.b.add(values[0], values[1]);
    let sum = cx.b.add(sum, one);
    let half = cx.b.shr_s(sum, one);
    cx.set_integer(insn, half, true)
}

pub fn mul(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 2] = cx.sources(insn, 1)?;
    match cx.kind(&sources) {
        Kind::Float(ty) => float_binary(cx, insn, FloatBinaryOp::Mul, sources, ty),
        Kind::Integer => {
            let product = integer_product(cx, insn, sources)?;
            cx.set_integer(insn, product, true)
        }
    }
}

fn integer_product(
    cx: &mut Cx<'_>,
    insn: &Instruction,
    sources: [Source; 2],
) -> Result<Value, Unsupported> {
    let ty = if insn.saturate { Type::I64 } else { low_type(cx, insn)? };
    let [a, b] = sources.map(|source| cx.integer(source, ty));
    Ok(cx.b.mul(a, b))
}

pub fn mad(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 3] = cx.sources(insn, 1)?;
    match cx.kind(&sources) {
        Kind::Float(ty) => {
            let [a, b, c] =
                [cx.float(sources[0], ty)?, cx.float(sources[1], ty)?, cx.float(sources[2], ty)?];
            let attrs = cx.mode.attrs(ty, cx.saturates(insn, ty));
            let result = cx.b.fma(attrs, a, b, c);
            cx.set_float(insn, result)
        }
        Kind::Integer => {
            let product = integer_product(cx, insn, [sources[0], sources[1]])?;
            let ty = cx.b.ty(product).ty;
            let c = cx.integer(sources[2], ty);
            let sum = cx.b.add(product, c);
            cx.set_integer(insn, sum, true)
        }
    }
}

/// Lifts `mulh`: the upper half of a product of dwords.
pub fn mulh(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 2] = cx.sources(insn, 1)?;
    if cx.kind(&sources) != Kind::Integer || sources.iter().any(|source| source.ty.size() > 4) {
        return Err(Unsupported);
    }
    let high = match Domain::of(&[sources[0].range(), sources[1].range()]) {
        domain @ (Domain::S32 | Domain::U32) => {
            let [a, b] = sources.map(|source| cx.integer(source, Type::I32));
            if domain.is_signed() { cx.b.mul_hi_s(a, b) } else { cx.b.mul_hi_u(a, b) }
        }
        _ => {
            let [a, b] = sources.map(|source| cx.integer(source, Type::I64));
            let product = cx.b.mul(a, b);
            cx.b.high_half(product)
        }
    };
    cx.set_integer(insn, high, true)
}

/// Lifts `madw`: a product of dwords plus a dword, in 64 bits.
///
/// The low words come first, the high words in registers of their own.
pub fn madw(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 3] = cx.sources(insn, 1)?;
    let Some(Operand::General(to)) = insn.operands.first() else { return Err(Unsupported) };
    if cx.kind(&sources) != Kind::Integer || cx.destination_type(insn, 0)?.size() != 4 {
        return Err(Unsupported);
    }
    let [a, b, c] = sources.map(|source| cx.integer(source, Type::I64));
    let product = cx.b.mul(a, b);
    let sum = cx.b.add(product, c);
    let (low, high) = (cx.b.trunc(Type::I32, sum), cx.b.high_half(sum));
    let rows = (u32::from(cx.exec().size) * 4).div_ceil(cx.grf());
    cx.set(insn, 0, low);
    let mut upper = insn.clone();
    upper.operands[0] = Operand::General(General { row: to.row.wrapping_add(rows as u8), ..*to });
    cx.set(&upper, 0, high);
    Ok(())
}

/// Writes a quotient or remainder, also for a division by 0.
fn divided(cx: &mut Cx<'_>, insn: &Instruction, sources: [Source; 2], remainder: bool) -> Lifted {
    if sources.iter().any(|source| source.ty.size() > 4) {
        return Err(Unsupported);
    }
    let domain = Domain::of(&[sources[0].range(), sources[1].range()]);
    let ty = domain.ty();
    let [a, b] = sources.map(|source| cx.integer(source, ty));
    let result = match (domain.is_signed(), remainder) {
        (true, false) => cx.b.div_s(a, b),
        (true, true) => cx.b.rem_s(a, b),
        (false, false) => cx.b.div_u(a, b),
        (false, true) => cx.b.rem_u(a, b),
    };
    let zero = cx.constant(ty, 0);
    let by_zero = cx.b.icmp(IntCc::Eq, b, zero);
    let limit = if is_signed(cx.destination_type(insn, 0)?) {
        let (most, least) = (cx.constant(ty, 0x7fff_ffff), cx.constant(ty, 0x8000_0000));
        if domain.is_signed() {
            let negative = cx.b.icmp(IntCc::LtS, a, zero);
            cx.pick(negative, least, most)
        } else {
            most
        }
    } else {
        cx.constant(ty, 0xffff_ffff)
    };
    let result = cx.pick(by_zero, limit, result);
    cx.set_integer(insn, result, true)
}

pub fn div(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 2] = cx.sources(insn, 1)?;
    match cx.kind(&sources) {
        Kind::Integer => divided(cx, insn, sources, false),
        Kind::Float(ty) => quotient(cx, insn, sources, ty),
    }
}

pub fn modulo(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 2] = cx.sources(insn, 1)?;
    match cx.kind(&sources) {
        Kind::Integer => divided(cx, insn, sources, true),
        Kind::Float(_) => Err(Unsupported),
    }
}

/// Lifts `divm`.
pub fn exact_div(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 2] = cx.sources(insn, 1)?;
    match cx.kind(&sources) {
        Kind::Integer => Err(Unsupported),
        Kind::Float(ty) => quotient(cx, insn, sources, ty),
    }
}

/// Writes a quotient that is rounded to nearest, whatever the mode says of rounding.
fn quotient(cx: &mut Cx<'_>, insn: &Instruction, sources: [Source; 2], ty: Type) -> Lifted {
    let [a, b] = [cx.float(sources[0], ty)?, cx.float(sources[1], ty)?];
    let (flush, saturate) = (cx.mode.flushes(ty), cx.saturates(insn, ty));
    let result = cx.b.fdiv(FloatAttrs { flush, saturate, ..FloatAttrs::IEEE }, a, b);
    cx.set_float(insn, result)
}
