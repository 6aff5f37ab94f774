//! The place of a surface instruction's access: the handle's image, the coordinates.
//!
//! Source: seed `nvidia-suatom.txt`; facts, `maxwell-surfaces.md`, sections 4.1 and 4.7.

use warploom_guest::divergence::Mask;
use warploom_guest::images::Record;
use warploom_guest::images::place::{Beyond, Slice, SurfaceAccess, Target, Unit};
use warploom_ir::Type;
use warploom_ir::image::flag;

use super::context::Cx;
use super::flow::Unsupported;
use crate::field::{SurfaceClamp, SurfaceDim};
use crate::{Instruction, Source, Value as Operand};

/// Returns the image record of a handle operand: a register, or the index of a word of bank 0.
fn record(cx: &mut Cx<'_>, handle: Source) -> Record {
    let handle = match handle.value {
        Operand::Imm(word) => {
            if let Some(known) = Record::known(cx, word as u32 * 4) {
                return known;
            }
            let bank = cx.handle_bank();
            cx.bank(bank, word as i32 * 4, Type::I32)
        }
        _ => cx.raw(handle),
    };
    Record::of(cx, handle)
}

/// Returns the place that an instruction accesses. Lanes for which it traps fault here.
pub fn place(cx: &mut Cx<'_>, i: &Instruction, unit: Unit) -> Result<SurfaceAccess, Unsupported> {
    let dim = i.surface_dim();
    let beyond = match i.surface_clamp() {
        SurfaceClamp::Ignore => Beyond::Nothing,
        SurfaceClamp::Near => Beyond::Nearest,
        SurfaceClamp::Trap => Beyond::Fault,
        SurfaceClamp::Reserved => return Err(Unsupported),
    };
    if matches!(dim, SurfaceDim::Reserved6 | SurfaceDim::Reserved7) {
        return Err(Unsupported);
    }
    let coordinates = i.a().reg().ok_or(Unsupported)?;
    let record = record(cx, i.c());
    let buffer = record.has(cx, flag::BUFFER);
    let misfit = match dim {
        SurfaceDim::D1 => Mask::Never,
        SurfaceDim::D1Buffer => cx.not(buffer),
        _ => buffer,
    };
    let present = record.has(cx, flag::PRESENT);
    let misfit = cx.and(present, misfit);
    let signed = dim != SurfaceDim::D1Buffer || beyond == Beyond::Nearest;
    let x = cx.varying_reg(coordinates);
    let (y, z) = match dim {
        SurfaceDim::D2 => (Some(1), None),
        SurfaceDim::D2Array | SurfaceDim::D3 => (Some(1), Some(2)),
        SurfaceDim::D1Array => (None, Some(1)),
        _ => (None, None),
    };
    let y = y.map(|register| cx.nth(coordinates, register));
    let z = z.map(|register| {
        let mut number = cx.nth(coordinates, register);
        if dim != SurfaceDim::D3 {
            let mask = cx.int(0xffff);
            number = cx.b.and(number, mask);
        }
        Slice { number, signed: true }
    });
    let signed = signed && buffer != Mask::Never;
    Ok(SurfaceAccess::of(cx, Target { record, unit, beyond, x, y, z, signed, misfit }))
}
