//! Writes instructions for [`super::code`] to read.

use super::code::{render_target_raws, render_target_sources};
use super::stream::Sink;
use super::{write_lsc, write_operand};
use crate::module::*;
use crate::table::Field;
use crate::types::{Exec, Version};

/// A function that finds the index of a string.
pub(super) type StringIndex<'a> = &'a mut dyn FnMut(&str) -> u32;

/// Writes an instruction. Returns None if the version lacks the instruction.
pub(super) fn instruction(
    sink: &mut Sink,
    routine: &Routine,
    one: &Instruction,
    string: StringIndex<'_>,
) -> Option<()> {
    sink.byte(one.row.code);
    if sink.version < Version::new(3, 2)
        && matches!(one.row.name, "gather4_typed" | "scatter4_typed")
    {
        return old_typed(sink, one);
    }
    let mut operands = one.operands.iter();
    let mut saturate = one.saturate;
    for &field in &one.row.fields {
        match field {
            Field::Exec => exec(sink, one.exec?)?,
            Field::OldExec => old_exec(sink, one.exec?)?,
            Field::Predicate => write_operand::predicate_use(sink, one.predicate)?,
            Field::Sub => sink.byte(one.row.sub?),
            Field::LabelCount => match one.operands.last()? {
                Operand::Labels(labels) => sink.byte(u8::try_from(labels.len()).ok()?),
                _ => return None,
            },
            Field::Destination => {
                let saturate = std::mem::take(&mut saturate);
                write_operand::vector(sink, routine, operands.next()?, saturate)?;
            }
            Field::RenderTarget => {
                let Operand::Number(mode) = one.operands.first()? else { return None };
                let sources = render_target_sources(*mode);
                for n in 0..1 + sources + render_target_raws(*mode) {
                    let field = if (1..=sources).contains(&n) { Field::Source } else { Field::Raw };
                    operand(sink, routine, one, field, operands.next()?, string)?;
                }
            }
            _ => operand(sink, routine, one, field, operands.next()?, string)?,
        }
    }
    Some(())
}

fn operand(
    sink: &mut Sink,
    routine: &Routine,
    one: &Instruction,
    field: Field,
    operand: &Operand,
    string: StringIndex<'_>,
) -> Option<()> {
    match (field, operand) {
        (Field::SampleOp, &Operand::Number(flags)) => {
            let (op, flags) = (one.row.sub?, u8::try_from(flags).ok()?);
            match sink.version.major < 4 {
                true if op < 32 => sink.byte(op | flags << 5),
                true => return None,
                false => sink.word(u16::from(op) | u16::from(flags) << 8),
            }
        }
        (Field::TexelOffsets, Operand::Immediate { bits, .. })
            if sink.version < Version::new(3, 4) =>
        {
            sink.word(u16::try_from(*bits).ok()?);
        }
        (Field::WaitMask, _) if sink.version < Version::new(3, 1) => {}
        (Field::Ffid, _) if sink.version < Version::new(3, 6) => {}
        (Field::TextOnly, Operand::Number(0)) | (Field::Paired, Operand::Raw(Raw::NULL)) => {}
        (Field::TexelOffsets | Field::WaitMask | Field::Source | Field::AddressOf, operand) => {
            write_operand::vector(sink, routine, operand, false)?;
        }
        (Field::Raw, &Operand::Raw(raw)) => write_operand::raw(sink, raw)?,
        (Field::Raws, Operand::Raws(raws)) => {
            sink.byte(u8::try_from(raws.len()).ok()?);
            for &raw in raws {
                write_operand::raw(sink, raw)?;
            }
        }
        (Field::Byte | Field::Ffid, &Operand::Number(number)) => {
            sink.byte(u8::try_from(number).ok()?)
        }
        (Field::Word, &Operand::Number(number)) => sink.word(u16::try_from(number).ok()?),
        (Field::Dword, &Operand::Number(number)) => sink.dword(number),
        (Field::Surface, Operand::Surface(surface)) => sink.byte(surface.0),
        (Field::Sampler, Operand::Sampler(sampler)) => sink.byte(sampler.0),
        (Field::Label, Operand::Label(label)) => sink.word(label.0),
        (Field::Labels, Operand::Labels(labels)) => {
            labels.iter().for_each(|label| sink.word(label.0))
        }
        (Field::Name, Operand::Name(name)) => {
            let index = string(name);
            match one.row.name {
                "FILE" => sink.index(index)?,
                _ => sink.word(u16::try_from(index).ok()?),
            }
        }
        (
            Field::Lsc
            | Field::LscTyped
            | Field::LscBlock
            | Field::LscTypedBlock
            | Field::LscCounter,
            Operand::Lsc(lsc),
        ) => {
            write_lsc::write(sink, lsc, field)?;
        }
        (Field::Lifetime, &Operand::Lifetime { end, of }) => {
            let (class, index) = match of {
                Living::Variable(id) => (0, id.0),
                Living::Address(id) => (1, id.0.into()),
                Living::Predicate(id) => (2, id.0.into()),
            };
            sink.byte(class << 4 | u8::from(end));
            sink.index(index)?;
        }
        _ => return None,
    }
    Some(())
}

fn exec(sink: &mut Sink, exec: Exec) -> Option<()> {
    if sink.version != Version::new(3, 0) {
        sink.byte(exec.code());
    } else if exec.no_mask {
        (exec.offset == 0).then_some(())?;
        sink.byte(exec.size.trailing_zeros() as u8 | 8 << 4);
    } else {
        sink.byte(exec.code());
    }
    Some(())
}

fn old_exec(sink: &mut Sink, one: Exec) -> Option<()> {
    let number = match one.size {
        8 => 0,
        16 => 1,
        1 => 2,
        _ => return None,
    };
    exec(sink, one)?;
    let byte = sink.bytes.last_mut()?;
    *byte = *byte & 0xf0 | number;
    Some(())
}

fn old_typed(sink: &mut Sink, one: &Instruction) -> Option<()> {
    let [
        Operand::Number(mask),
        Operand::Surface(surface),
        Operand::Raw(u),
        Operand::Raw(v),
        Operand::Raw(r),
        Operand::Raw(Raw::NULL),
        Operand::Raw(data),
    ] = &one.operands[..]
    else {
        return None;
    };
    let size = one.exec.filter(|exec| exec.size == 8)?;
    sink.byte(!*mask as u8 & 15);
    exec(sink, Exec { size: 1, ..size })?;
    sink.byte(surface.0);
    [u, v, r, data].into_iter().try_for_each(|&raw| write_operand::raw(sink, raw))
}
