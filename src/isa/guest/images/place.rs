//! The place of a surface access: coordinates, bounds and address.
//!
//! Source: seeds `nvidia-suatom.txt` and `nvidia-ptx-surface.txt`; facts, `maxwell-surfaces.md`,
//! sections 3, 4.1 to 4.3, 4.6 and 4.7.

use warploom_ir::image::{at, flag};
use warploom_ir::{Access, IntCc, LaneFault, Space, Type, Value};

use super::{Lifter, Record, lanes_of, raise};
use crate::bits;
use crate::divergence::Mask;

/// The unit of x, and the size of the access.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes; the access has this many.
    Bytes(u32),
    /// Elements of this many bytes.
    Elements(u32),
    /// Texels.
    Texels,
}

/// The effect of an access out of range.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// Loads give 0, stores write nothing.
    Nothing,
    /// The access goes to the nearest place.
    Nearest,
    Fault,
}

/// A slice of a volume, or a layer.
#[derive(Clone, Copy)]
pub struct Slice {
    pub number: Value,
    /// A negative number is clamped to the first slice.
    pub signed: bool,
}

/// The target of an access.
#[derive(Clone, Copy)]
pub struct Target {
    pub record: Record,
    pub unit: Unit,
    pub beyond: Beyond,
    /// All coordinates are varying.
    pub x: Value,
    pub y: Option<Value>,
    pub z: Option<Slice>,
    /// No x above 2^31 - 1 is inside.
    pub signed: bool,
    /// The lanes whose image does not allow this access.
    pub misfit: Mask,
}

/// The operands of a surface access, except its data.
pub struct SurfaceAccess {
    pub record: Record,
    /// `i64`, varying.
    pub address: Value,
    /// The lanes that access memory, under the guard.
    pub inside: Mask,
    /// A known divisor of the address, at most 16.
    pub align: u32,
}

impl SurfaceAccess {
    /// Computes the place of an access. Lanes for which the instruction traps fault here.
    pub fn of<'a>(cx: &mut impl Lifter<'a>, target: Target) -> SurfaceAccess {
        let Target { record, unit, beyond, x, .. } = target;
        check(cx, &target);
        let near = beyond == Beyond::Nearest;
        let (xb, mut inside) = column(cx, &record, unit, target.signed, x, near);
        let mut axes = [None, None];
        let rows = target.y.map(|y| Slice { number: y, signed: true });
        for (axis, (slice, size)) in
            [(rows, at::ROWS), (target.z, at::SLICES)].into_iter().enumerate()
        {
            let Some(slice) = slice else { continue };
            let count = record.word(cx, size);
            let (value, within) = index(cx, slice.number, count, near, slice.signed);
            inside = cx.both(inside, within);
            axes[axis] = Some(value);
        }
        // Faults come before any lane acts: first of misaligned lanes, in range or not, then of
        // lanes out of range.
        if let Unit::Bytes(bytes @ 2..) = unit {
            // The coordinate counts, not the address: a buffer may begin anywhere.
            let (low, zero) = (cx.number(bytes - 1), cx.number(0));
            let rest = cx.builder().and(x, low);
            let misaligned = Mask::Lanes(cx.builder().icmp(IntCc::Ne, rest, zero));
            let present = record.has(cx, flag::PRESENT);
            let misaligned = cx.both(misaligned, present);
            raise(cx, LaneFault::Misaligned, misaligned);
        }
        if beyond == Beyond::Fault {
            let outside = cx.others(inside);
            raise(cx, LaneFault::SurfaceOutOfRange, outside);
            inside = Mask::Always;
        }
        let aligned = record.has(cx, flag::ALIGNED) == Mask::Always;
        let [y, z] = axes;
        let address = address(cx, &record, Coordinates { x: xb, y, z });
        SurfaceAccess {
            record,
            address: cx.builder().splat(address),
            inside,
            align: if aligned { 16 } else { 1 },
        }
    }

    /// Returns an access of the inside lanes that are also in `only`.
    pub fn access<'a>(&self, cx: &mut impl Lifter<'a>, ty: Type, count: u8, only: Mask) -> Access {
        let mut access = cx.builder().access(Space::Global, ty, count, self.address, 0);
        let lanes = cx.both(self.inside, only);
        let guard = cx.guard();
        let lanes = cx.both(guard, lanes);
        access.align = access.align.min(self.align as u8);
        access.guard = lanes_of(cx, lanes);
        access
    }
}

/// Raises the faults of images that the instruction cannot access.
fn check<'a>(cx: &mut impl Lifter<'a>, target: &Target) {
    let record = &target.record;
    let present = record.has(cx, flag::PRESENT);
    let mut wrong = record.has(cx, flag::UNSUPPORTED);
    wrong = cx.either(wrong, target.misfit);
    if target.unit == Unit::Texels {
        let formatted = record.has(cx, flag::FORMATTED);
        let raw = cx.others(formatted);
        let raw = cx.both(present, raw);
        wrong = cx.either(wrong, raw);
    }
    if target.beyond == Beyond::Fault {
        let absent = cx.others(present);
        wrong = cx.either(wrong, absent);
    }
    raise(cx, LaneFault::InvalidSurface, wrong);
}

/// Returns an index, and the lanes for which it is less than `count`. With `near`, clamps it to the
/// nearest index that is.
fn index<'a>(
    cx: &mut impl Lifter<'a>,
    index: Value,
    count: Value,
    near: bool,
    signed: bool,
) -> (Value, Mask) {
    if !near {
        return (index, Mask::Lanes(cx.builder().icmp(IntCc::LtU, index, count)));
    }
    let (zero, one) = (cx.number(0), cx.number(1));
    let last = cx.builder().sub(count, one);
    let index = if signed { cx.builder().max_s(index, zero) } else { index };
    let index = cx.builder().min_u(index, last);
    (index, Mask::Lanes(cx.builder().icmp(IntCc::Ne, count, zero)))
}

/// Returns the byte offset of x in its row, and the lanes for which the whole access lies in the
/// row. `signed`: no x above 2^31 - 1 is inside.
fn column<'a>(
    cx: &mut impl Lifter<'a>,
    record: &Record,
    unit: Unit,
    signed: bool,
    x: Value,
    near: bool,
) -> (Value, Mask) {
    // The row's bytes, or its number of elements or texels.
    let row = record.load(cx, at::ROW_BYTES, Type::I32);
    let shift = match unit {
        Unit::Bytes(_) => None,
        Unit::Elements(bytes) => Some(cx.number(bytes.ilog2())),
        Unit::Texels => Some(record.word(cx, at::TEXEL_SHIFT)),
    };
    let mut size = shift.map_or(row, |shift| cx.builder().shr_u(row, shift));
    if signed {
        let most = cx.number(1 << 31);
        size = cx.builder().min_u(size, most);
    }
    let Unit::Bytes(bytes) = unit else {
        let (x, inside) = index(cx, x, size, near, true);
        return (shift.map_or(x, |shift| cx.builder().shl(x, shift)), inside);
    };
    let (count, zero) = (cx.number(bytes), cx.number(0));
    let enough = match record.has(cx, flag::WIDE) {
        Mask::Always => Mask::Always,
        _ => Mask::Lanes(cx.builder().icmp(IntCc::GeU, size, count)),
    };
    let last = cx.builder().sub(size, count);
    let x = if near { cx.builder().max_s(x, zero) } else { x };
    let inside = cx.builder().icmp(IntCc::LeU, x, last);
    if !near {
        return (x, cx.both(Mask::Lanes(inside), enough));
    }
    let whole = cx.number(!(bytes - 1));
    let nearest = cx.builder().and(last, whole);
    (cx.builder().select(inside, x, nearest), enough)
}

/// A byte of a row of a slice. A coordinate that the instruction lacks is 0.
#[derive(Clone, Copy)]
struct Coordinates {
    x: Value,
    y: Option<Value>,
    z: Option<Value>,
}

fn address<'a>(cx: &mut impl Lifter<'a>, record: &Record, at: Coordinates) -> Value {
    let blocks = record.has(cx, flag::BLOCKS);
    let pitch = (blocks != Mask::Always).then(|| in_rows(cx, record, at));
    let block = (blocks != Mask::Never).then(|| in_blocks(cx, record, at));
    let offset = match (pitch, block) {
        (Some(pitch), Some(block)) => cx.choose(blocks, block, pitch),
        (offset, None) | (None, offset) => offset.unwrap_or(at.x),
    };
    let offset = cx.builder().zero_extend(Type::I64, offset);
    let base = record.load(cx, at::BASE, Type::I64);
    let mut address = cx.builder().add(base, offset);
    if let Some(z) = at.z {
        let depth = record.word(cx, at::BLOCK_DEPTH);
        let slices = cx.builder().shr_u(z, depth);
        let slices = cx.builder().zero_extend(Type::I64, slices);
        let stride = record.load(cx, at::SLICE_STRIDE, Type::I64);
        let distance = cx.builder().mul(slices, stride);
        address = cx.builder().add(address, distance);
    }
    address
}

/// Returns the offset in a layer that consists of rows.
fn in_rows<'a>(cx: &mut impl Lifter<'a>, record: &Record, at: Coordinates) -> Value {
    let Some(y) = at.y else { return at.x };
    let stride = record.load(cx, at::ROW_STRIDE, Type::I32);
    let row = cx.builder().mul(y, stride);
    cx.builder().add(row, at.x)
}

/// Returns the offset in a layer that consists of blocks of GOBs: facts, sections 3.1 and 3.2.
fn in_blocks<'a, C: Lifter<'a>>(cx: &mut C, record: &Record, at: Coordinates) -> Value {
    let [height, depth] = [at::BLOCK_HEIGHT, at::BLOCK_DEPTH].map(|at| record.word(cx, at));
    let one = cx.number(1);
    // The GOB in its block.
    let low_bits = |cx: &mut C, value: Value, bits: Value| {
        let count = cx.builder().shl(one, bits);
        let mask = cx.builder().sub(count, one);
        cx.builder().and(value, mask)
    };
    let mut gob = None;
    if let Some(y) = at.y {
        let row = bits::shr(cx, y, 3);
        gob = Some(low_bits(cx, row, height));
    }
    if let Some(z) = at.z {
        let slice = low_bits(cx, z, depth);
        let slice = cx.builder().shl(slice, height);
        gob = Some(gob.map_or(slice, |gob| cx.builder().or(gob, slice)));
    }
    // The block in its row, and the bits of x and y within a GOB.
    let gobs = cx.builder().add(height, depth);
    let nine = cx.number(9);
    let block_bits = cx.builder().add(gobs, nine);
    let column = bits::shr(cx, at.x, 6);
    let mut offset = cx.builder().shl(column, block_bits);
    let x_bits = [(at.x, 15, 0), (at.x, 16, 1), (at.x, 32, 3)];
    let y_bits = at.y.map(|y| [(y, 1, 4), (y, 6, 5)]);
    let gob_bits = gob.map(|gob| (gob, u32::MAX, 9));
    for (value, mask, left) in
        x_bits.into_iter().chain(y_bits.into_iter().flatten()).chain(gob_bits)
    {
        let mask = cx.number(mask);
        let bits = cx.builder().and(value, mask);
        let bits = if left == 0 { bits } else { bits::shl(cx, bits, left) };
        offset = cx.builder().or(offset, bits);
    }
    if let Some(y) = at.y {
        let three = cx.number(3);
        let block_rows = cx.builder().add(height, three);
        let row = cx.builder().shr_u(y, block_rows);
        let stride = record.load(cx, at::ROW_STRIDE, Type::I32);
        let distance = cx.builder().mul(row, stride);
        offset = cx.builder().add(offset, distance);
    }
    offset
}
