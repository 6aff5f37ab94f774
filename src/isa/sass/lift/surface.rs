//! Accesses to surfaces.
//!
//! Source: seeds `nvidia-suatom.txt` and `nvidia-ptx-surface.txt`; facts, `maxwell-surfaces.md`,
//! section 4. [`texel`](warploom_ir::texel) converts texels.

use warploom_guest::divergence::Mask;
use warploom_guest::images::formatted::{self, Elements, texels_of};
use warploom_guest::images::place::{Beyond, Slice, SurfaceAccess, Target, Unit};
use warploom_guest::images::reduction::{Kind, Operation};
use warploom_guest::images::{Record, raise};
use warploom_ir::image::flag;
use warploom_ir::{Access, LaneFault, Value};

use super::Cx;
use super::memory::{atomic, load, operand};
use super::texture::Dim;
use crate::Reg;

/// The operands of an access, except its data.
#[derive(Clone, Copy)]
pub struct Surface {
    pub record: Record,
    pub dim: Dim,
    /// The instruction is for buffers.
    pub is_buffer: bool,
    pub beyond: Beyond,
    /// The first register of the coordinates.
    pub coordinates: Reg,
}

impl Surface {
    /// Returns the place of the access. Lanes for which the instruction traps fault here.
    pub fn place(self, cx: &mut Cx<'_>, unit: Unit) -> SurfaceAccess {
        let Surface { record, dim, is_buffer, beyond, coordinates } = self;
        let buffer = record.has(cx, flag::BUFFER);
        let misfit = match dim {
            _ if is_buffer => cx.not(buffer),
            Dim::D1 => Mask::Never,
            _ => buffer,
        };
        let present = record.has(cx, flag::PRESENT);
        let misfit = cx.and(present, misfit);
        let signed = !is_buffer || beyond == Beyond::Nearest;
        let x = cx.varying_reg(coordinates);
        let y = (dim.axes > 1).then(|| cx.nth(coordinates, 1));
        let z = (dim.axes > 2 || dim.array).then(|| {
            let mut number = cx.nth(coordinates, dim.coordinates() as u8 - 1);
            if dim.array {
                let mask = cx.int(0xffff);
                number = cx.b.and(number, mask);
            }
            Slice { number, signed: true }
        });
        let signed = signed && buffer != Mask::Never;
        SurfaceAccess::of(cx, Target { record, unit, beyond, x, y, z, signed, misfit })
    }
}

/// Returns the unit of x in an access of `bytes` bytes.
pub fn raw_unit(in_bytes: bool, bytes: u32) -> Unit {
    if in_bytes { Unit::Bytes(bytes) } else { Unit::Elements(bytes) }
}

/// Returns the components of a mask.
fn components(mask: u64) -> impl Iterator<Item = usize> {
    (0..4).filter(move |component| mask >> component & 1 != 0)
}

/// Loads the components of a mask from texels by their format.
pub fn load_formatted(cx: &mut Cx<'_>, (d, status): (Reg, u8), surface: Surface, mask: u64) {
    let place = surface.place(cx, Unit::Texels);
    let zero = cx.int(0);
    let zero = cx.b.splat(zero);
    let mut met = Mask::Never;
    let texel = formatted::load(cx, &place, |cx, access, extend| {
        let (values, sparse) = load(cx, status, access, extend);
        met = cx.or(met, sparse);
        values
    });
    cx.set_pred(status, met);
    for (n, output) in (0..).zip(components(mask)) {
        // Outside the image the result is 0, not the outputs of a texel of zeros.
        let value = cx.select(place.inside, texel[output], zero);
        let register = cx.after(d, n);
        cx.set(register, value);
    }
}

/// Stores the components of a mask to texels by their format.
pub fn store_formatted(cx: &mut Cx<'_>, data: Reg, surface: Surface, mask: u64) {
    let place = surface.place(cx, Unit::Texels);
    let given: Vec<(usize, Value)> =
        components(mask).zip(0..).map(|(output, n)| (output, cx.nth(data, n))).collect();
    formatted::store(cx, &place, &given);
}

/// Stores elements.
pub fn store_raw(cx: &mut Cx<'_>, data: Reg, (surface, unit): (Surface, Unit), what: Elements) {
    let place = surface.place(cx, unit);
    let access = place.access(cx, what.ty, what.count, Mask::Always);
    let values: Vec<Value> = (0..what.count).map(|n| cx.nth(data, n)).collect();
    cx.b.store_access(access, &values);
}

/// Emits an atomic operation on a data register, with a second operand for a compare. Writes the
/// sparse status and returns the old value.
pub fn perform<'a>(
    cx: &mut Cx<'a>,
    (data, status): (Reg, u8),
    (surface, unit): (Surface, Unit),
    operation: Operation,
    compares: bool,
) -> Value {
    let place = surface.place(cx, unit);
    if unit == Unit::Texels {
        let words = texels_of(cx, &place.record, 2);
        let (others, present) = (cx.not(words), place.record.has(cx, flag::PRESENT));
        let others = cx.and(present, others);
        raise(cx, LaneFault::InvalidSurface, others);
    }
    let once = |cx: &mut Cx<'a>, (op, ty): Kind, lanes: Mask| {
        // The address of an atomic operation must be aligned too.
        let access = Access { align: ty.bytes() as u8, ..place.access(cx, ty, 1, lanes) };
        let first = operand(cx, data, ty);
        let first = cx.b.splat(first);
        let (value, compare) = if compares {
            let swap = cx.after(data, (ty.bytes() / 4) as u8);
            let swap = operand(cx, swap, ty);
            (cx.b.splat(swap), Some(first))
        } else {
            (first, None)
        };
        atomic(cx, status, access, op, value, compare)
    };
    let (old, met) = operation.perform(cx, &place, once);
    cx.set_pred(status, met);
    old
}
