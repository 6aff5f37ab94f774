//! Moves, comparisons, choices, addresses, state. Facts, `visa-semantics.md` 3 and 5.

use warploom_ir::{FloatBinaryOp, FloatCc, IntCc, Type, Value};

use super::numbers::{Domain, Kind};
use super::operand::{Destination, Source};
use super::storage::int_type;
use super::{Cx, Lifted, Unsupported};
use crate::instruction::{Instruction, Modifier, Operand};
use crate::types::Ty;
use crate::words::Relation;

pub fn mov(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let source = cx.source(insn, 1)?;
    let to = match cx.destination(insn, 0)? {
        Destination::Predicate => {
            if source.ty != Ty::Bool {
                return Err(Unsupported);
            }
            let bits = if source.modifier == Modifier::Not {
                cx.b.not(source.value)
            } else {
                source.value
            };
            cx.set(insn, 0, bits);
            return Ok(());
        }
        Destination::Of(to) => to,
    };
    let value = match insn.operands.get(1) {
        // All bits of the predicate, in a piece of one element.
        Some(&Operand::Predicate { predicate, modifier }) => {
            if !cx.piece().is_scalar() {
                return Err(Unsupported);
            }
            let reg = cx.predicate_reg(predicate);
            let mut bits = cx.predicate_bits(reg, false);
            if modifier == Modifier::Not {
                bits = cx.b.not(bits);
            }
            bits = cx.bits_as_number(bits);
            let elements = cx.routine().predicate(predicate).map_or(32, |one| one.elements);
            let mask = cx.constant(Type::I64, super::mask::ones(elements.min(32)));
            let bits = cx.b.and(bits, mask);
            cx.integer_to(bits, false, to, false)?
        }
        _ => cx.converted(source, to, insn.saturate)?,
    };
    cx.set(insn, 0, value);
    Ok(())
}

/// Lifts `setp`: sets bits of a predicate from a scalar's bits, or from the lowest bit of each
/// lane.
pub fn setp(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let source = cx.source(insn, 1)?;
    if source.ty == Ty::Bool || source.ty.size() == 8 {
        return Err(Unsupported);
    }
    let value = cx.resize(source.value, Type::I32, false);
    let piece = cx.piece();
    if cx.b.ty(value).is_uniform() {
        let bits = cx.b.zero_extend(Type::I64, value);
        let bits = cx.move_bits(bits, piece.element, piece.lane.into(), Type::Mask);
        cx.set(insn, 0, bits);
        return Ok(());
    }
    let one = cx.word(1);
    let bit = cx.b.and(value, one);
    let zero = cx.word(0);
    let bits = cx.b.icmp(IntCc::Ne, bit, zero);
    cx.set(insn, 0, bits);
    Ok(())
}

/// Returns the IR's conditions of a relation, for integers and for floats.
fn conditions(relation: Relation, signed: bool) -> (IntCc, FloatCc) {
    match (relation, signed) {
        (Relation::Eq, _) => (IntCc::Eq, FloatCc::Eq),
        (Relation::Ne, _) => (IntCc::Ne, FloatCc::NeU),
        (Relation::Gt, true) => (IntCc::GtS, FloatCc::Gt),
        (Relation::Gt, false) => (IntCc::GtU, FloatCc::Gt),
        (Relation::Ge, true) => (IntCc::GeS, FloatCc::Ge),
        (Relation::Ge, false) => (IntCc::GeU, FloatCc::Ge),
        (Relation::Lt, true) => (IntCc::LtS, FloatCc::Lt),
        (Relation::Lt, false) => (IntCc::LtU, FloatCc::Lt),
        (Relation::Le, true) => (IntCc::LeS, FloatCc::Le),
        (Relation::Le, false) => (IntCc::LeU, FloatCc::Le),
    }
}

pub fn cmp(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let relation = Relation::from_code(cx.number(insn, 0)? as u8).ok_or(Unsupported)?;
    let sources: [Source; 2] = cx.sources(insn, 2)?;
    if sources.iter().any(|source| source.ty == Ty::Bool) {
        return Err(Unsupported);
    }
    let mask = match cx.kind(&sources) {
        Kind::Float(ty) => {
            let (a, b) = (cx.float(sources[0], ty)?, cx.float(sources[1], ty)?);
            let flush = cx.mode.flushes(ty);
            cx.b.fcmp(conditions(relation, true).1, flush, a, b)
        }
        Kind::Integer => integers(cx, relation, sources),
    };
    match cx.destination(insn, 1)? {
        Destination::Predicate => cx.set(insn, 1, mask),
        Destination::Of(to) => {
            let ty = int_type(to.size());
            let (all, none) = (cx.constant(ty, u64::MAX), cx.constant(ty, 0));
            let value = cx.pick(mask, all, none);
            cx.set(insn, 1, value);
        }
    }
    Ok(())
}

/// Compares integers by their exact values.
fn integers(cx: &mut Cx<'_>, relation: Relation, sources: [Source; 2]) -> Value {
    let domain = Domain::of(&[sources[0].range(), sources[1].range()]);
    if domain != Domain::Wide {
        let [a, b] = sources.map(|source| cx.integer(source, domain.ty()));
        return cx.b.icmp(conditions(relation, domain.is_signed()).0, a, b);
    }
    let [a, b] = sources.map(|source| cx.long(source));
    let (holds, inverted) = match relation {
        Relation::Eq => (cx.long_equal(a, b), false),
        Relation::Ne => (cx.long_equal(a, b), true),
        Relation::Lt => (cx.long_less(a, b), false),
        Relation::Ge => (cx.long_less(a, b), true),
        Relation::Gt => (cx.long_less(b, a), false),
        Relation::Le => (cx.long_less(b, a), true),
    };
    if inverted { cx.b.not(holds) } else { holds }
}

fn extreme(cx: &mut Cx<'_>, insn: &Instruction, most: bool) -> Lifted {
    let sources: [Source; 2] = cx.sources(insn, 1)?;
    match cx.kind(&sources) {
        Kind::Float(ty) => {
            let (a, b) = (cx.float(sources[0], ty)?, cx.float(sources[1], ty)?);
            let attrs = cx.mode.attrs(ty, cx.saturates(insn, ty));
            let op = if most { FloatBinaryOp::Max } else { FloatBinaryOp::Min };
            let result = cx.b.fbinary(op, attrs, a, b);
            cx.set_float(insn, result)
        }
        Kind::Integer => {
            let domain = Domain::of(&[sources[0].range(), sources[1].range()]);
            if domain == Domain::Wide {
                let to = cx.destination_type(insn, 0)?;
                let [a, b] = sources.map(|source| cx.long(source));
                let less = cx.long_less(a, b);
                let (first, second) = if most { (b, a) } else { (a, b) };
                let number = cx.long_pick(less, first, second);
                let result = cx.long_to(number, to, insn.saturate)?;
                cx.set(insn, 0, result);
                return Ok(());
            }
            let [a, b] = sources.map(|source| cx.integer(source, domain.ty()));
            let result = match (most, domain.is_signed()) {
                (true, true) => cx.b.max_s(a, b),
                (true, false) => cx.b.max_u(a, b),
                (false, true) => cx.b.min_s(a, b),
                (false, false) => cx.b.min_u(a, b),
            };
            cx.set_integer(insn, result, domain.is_signed())
        }
    }
}

pub fn min(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    extreme(cx, insn, false)
}

pub fn max(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    extreme(cx, insn, true)
}

/// Lifts `sel`. Its predicate selects a source and masks no lanes.
pub fn sel(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 2] = cx.sources(insn, 1)?;
    let to = cx.destination_type(insn, 0)?;
    let a = cx.converted(sources[0], to, insn.saturate)?;
    let Some(used) = insn.predicate else {
        cx.set(insn, 0, a);
        return Ok(());
    };
    let b = cx.converted(sources[1], to, insn.saturate)?;
    // One value may be unconverted bits, the other a computed number.
    let [a, b] = [a, b].map(|value| cx.bits_as(value, int_type(to.size())));
    let mut mask = cx.predicate_at_lanes(used);
    if cx.piece().is_scalar() {
        let bit = cx.constant(Type::Mask, 1 << cx.piece().lane);
        mask = cx.b.and(mask, bit);
    }
    let value = cx.pick(mask, a, b);
    cx.set(insn, 0, value);
    Ok(())
}

/// Lifts `addr_add`: a variable's address, or an address, plus a number of bytes.
pub fn addr_add(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let base = match insn.operands.get(1) {
        Some(&Operand::AddressOf { of, offset, modifier: Modifier::None, .. }) => {
            let place = cx.address_of(of, offset);
            cx.word(place)
        }
        Some(Operand::Address { .. }) => cx.source(insn, 1)?.value,
        _ => return Err(Unsupported),
    };
    let more = cx.source(insn, 2)?;
    let more = cx.integer(more, Type::I32);
    let sum = cx.b.add(base, more);
    cx.set(insn, 0, sum);
    Ok(())
}

/// Lifts `movs`: moves into state variables, out of them, or between them.
pub fn movs(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let value = match insn.operands.get(1) {
        Some(&Operand::State { state, element }) => {
            let reg = cx.state_reg(state, element);
            cx.b.rf_read(reg)
        }
        _ => cx.scalar(insn, 1, Type::I32)?,
    };
    match insn.operands.first() {
        Some(Operand::State { .. }) => {
            if cx.piece().element == 0 {
                cx.set(insn, 0, value);
            }
        }
        _ => return cx.set_integer(insn, value, false),
    }
    Ok(())
}

/// Lifts `faddr`: the address of a function or of data.
pub fn faddr(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let Some(Operand::Name(name)) = insn.operands.first() else { return Err(Unsupported) };
    let address = *cx.kernel.symbols.get(name).ok_or(Unsupported)?;
    let to = cx.destination_type(insn, 1)?;
    let value = cx.constant(int_type(to.size()), address);
    cx.set(insn, 1, value);
    Ok(())
}
