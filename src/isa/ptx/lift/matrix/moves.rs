//! `ldmatrix`, `stmatrix`, `movmatrix`.

use warploom_guest::matrix::{Rows, transpose};

use super::super::context::{Cx, Insn};
use super::super::{Lifted, Unsupported};
use super::{address, set_registers, space};
use crate::module::Operand;
use crate::types::Ty;
use crate::word::Word;

fn matrices(insn: &Insn<'_>) -> Result<u32, Unsupported> {
    let form = insn.form;
    if !form.has(Word::M8n8) || form.ty(0) != Ty::B16 {
        return Err(Unsupported);
    }
    match form.one_of(&[Word::X1, Word::X2, Word::X4]).ok_or(Unsupported)? {
        Word::X1 => Ok(1),
        Word::X2 => Ok(2),
        _ => Ok(4),
    }
}

fn rows(cx: &mut Cx<'_>, insn: &Insn<'_>, operand: &Operand) -> Result<Rows, Unsupported> {
    let (space, wide) = space(insn.form);
    let (addresses, offset, _) = address(cx, operand, wide)?;
    Ok(Rows { space, addresses, offset, transposed: insn.form.has(Word::Trans) })
}

pub fn ldmatrix(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let count = matrices(insn)?;
    if cx.elements(insn.operand(0)).len() != count as usize {
        return Err(Unsupported);
    }
    let rows = rows(cx, insn, insn.operand(1))?;
    let results: Vec<_> = (0..count).map(|matrix| rows.load(cx, matrix)).collect();
    set_registers(cx, insn.operand(0), &results);
    Ok(())
}

pub fn stmatrix(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let count = matrices(insn)?;
    let sources = cx.elements(insn.operand(1));
    if sources.len() != count as usize {
        return Err(Unsupported);
    }
    let rows = rows(cx, insn, insn.operand(0))?;
    for (matrix, source) in (0..).zip(sources) {
        let bits = cx.bits(source, Ty::B32);
        rows.store(cx, matrix, bits);
    }
    Ok(())
}

/// Lifts `movmatrix`, which transposes a matrix.
pub fn movmatrix(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    if !insn.form.has(Word::M8n8) || !insn.form.has(Word::Trans) || insn.form.ty(0) != Ty::B16 {
        return Err(Unsupported);
    }
    let bits = cx.bits(insn.operand(1), Ty::B32);
    let result = transpose(cx, bits);
    cx.set(insn.operand(0), Ty::B32, result);
    Ok(())
}
