//! Writes operands for [`super::operand`] to read.

use super::operand::{MODIFIERS, REGISTER_BYTES, SATURATE, class};
use super::stream::Sink;
use crate::module::*;
use crate::types::Ty;

/// The result of a writer: None if the version lacks the operand.
type Written = Option<()>;

fn tag(sink: &mut Sink, class: u8, modifier: Modifier, saturate: bool) {
    let number = MODIFIERS.iter().position(|&one| one == Some(modifier)).unwrap_or(0) as u8;
    sink.byte(class | if saturate { SATURATE } else { number } << 3);
}

pub(super) fn raw(sink: &mut Sink, raw: Raw) -> Written {
    sink.index(raw.variable.0)?;
    sink.word(u16::try_from(raw.offset).ok()?);
    Some(())
}

pub(super) fn predicate_use(sink: &mut Sink, used: Option<PredicateUse>) -> Written {
    let Some(used) = used else {
        sink.word(0);
        return Some(());
    };
    let combine = match used.combine {
        Combine::None => 0,
        Combine::Any => 1,
        Combine::All => 2,
    };
    if used.predicate.0 > 0xfff {
        return None;
    }
    sink.word(used.predicate.0 | combine << 13 | u16::from(used.invert) << 15);
    Some(())
}

fn state(sink: &mut Sink, state: State, element: u8) {
    tag(sink, class::STATE, Modifier::None, false);
    let (class, number) = match state {
        State::Surface(id) => (0, id.0),
        State::Sampler(id) => (1, id.0),
    };
    sink.byte(class);
    sink.word(number.into());
    sink.byte(element);
}

fn general(sink: &mut Sink, general: &General, saturate: bool) -> Written {
    tag(sink, class::GENERAL, general.modifier, saturate);
    sink.index(general.variable.0)?;
    sink.byte(general.row);
    sink.byte(general.column);
    sink.word(general.region.code());
    Some(())
}

fn immediate(sink: &mut Sink, ty: Ty, bits: u64) -> Written {
    if ty.code() > 15 {
        return None;
    }
    tag(sink, class::IMMEDIATE, Modifier::None, false);
    sink.byte(ty.code());
    match ty {
        Ty::Df | Ty::Q | Ty::Uq => sink.qword(bits),
        _ => sink.dword(bits as u32),
    }
    Some(())
}

/// Writes a vector operand, or the address of a variable or state variable.
pub(super) fn vector(
    sink: &mut Sink,
    routine: &Routine,
    operand: &Operand,
    saturate: bool,
) -> Written {
    match operand {
        Operand::General(one) => general(sink, one, saturate)?,
        &Operand::Address { address, element, width, modifier } => {
            tag(sink, class::ADDRESS, modifier, saturate);
            sink.word(address.0);
            sink.byte(element);
            sink.byte(width.trailing_zeros() as u8);
        }
        &Operand::Predicate { predicate, modifier } => {
            tag(sink, class::PREDICATE, modifier, saturate);
            sink.word(predicate.0);
        }
        Operand::Indirect(indirect) => {
            tag(sink, class::INDIRECT, indirect.modifier, saturate);
            sink.word(indirect.address.0);
            sink.byte(indirect.element);
            sink.word(indirect.offset as u16);
            if indirect.ty.code() > 15 {
                return None;
            }
            sink.byte(indirect.ty.code());
            sink.word(indirect.region.code());
        }
        Operand::Immediate { .. } | Operand::State { .. } | Operand::AddressOfState { .. }
            if saturate =>
        {
            return None;
        }
        &Operand::Immediate { ty, bits } => immediate(sink, ty, bits)?,
        &Operand::State { state: one, element }
        | &Operand::AddressOfState { state: one, element } => {
            state(sink, one, element);
        }
        &Operand::AddressOf { of, offset, region, modifier } => {
            let size = routine.ty(of).size();
            let (row, rest) = (offset / REGISTER_BYTES, offset % REGISTER_BYTES);
            let (row, column) =
                (u8::try_from(row).ok()?, (rest % size == 0).then_some((rest / size) as u8)?);
            general(sink, &General { variable: of, row, column, region, modifier }, false)?;
        }
        _ => return None,
    }
    Some(())
}
