//! Where a surface access goes: the handle's image, the coordinates, bounds, and the address.
//!
//! Source: seed `nvidia-suatom.txt`; facts, `maxwell-surfaces.md`, sections 3, 4.1 to 4.3, 4.6 and 4.7.

use crate::ir::image::{RECORD_BYTES, Shape, at, flag, sampler};
use crate::ir::{Access, Extend, IntCc, LaneFault, Space, Type, Value};
use crate::isa::divergence::Mask;
use crate::isa::maxwell::driver::{self, BANK, HEADER_BITS};
use crate::isa::maxwell::field::{SurfaceClamp, SurfaceDim};
use crate::isa::maxwell::{Instruction, Source, instruction};

use super::context::Cx;
use super::flow::Unsupported;

/// The record of the image that a handle names.
#[derive(Clone, Copy)]
pub enum Record {
    /// In the driver's bank from this offset on; of that shape.
    Known { offset: u32, shape: Shape },
    /// At this guest address.
    At(Value),
}

impl Record {
    /// Of a handle operand: a register, or the index of a word of bank 0.
    pub fn of(cx: &mut Cx<'_>, handle: Source) -> Record {
        let handle = match handle.value {
            instruction::Value::Imm(word) => {
                if let Some(known) = Record::known(cx, word as u32) {
                    return known;
                }
                cx.bank(0, word as i32 * 4, Type::I32)
            }
            _ => cx.raw(handle),
        };
        Record::At(record_address(cx, handle))
    }

    /// Of the handle in this word of bank 0, if the kernel is specialised for it.
    pub fn known(cx: &Cx<'_>, word: u32) -> Option<Record> {
        let number = cx.images.iter().position(|&(at, _)| at == word * 4)?;
        let offset = driver::at::KNOWN + (number * RECORD_BYTES) as u32;
        Some(Record::Known { offset, shape: cx.images[number].1 })
    }

    pub fn word(&self, cx: &mut Cx<'_>, at: u32) -> Value {
        match *self {
            Record::Known { shape, .. } if let Some(word) = shape.word(at) => cx.int(word),
            _ => self.load(cx, at, Type::I32),
        }
    }

    pub fn load(&self, cx: &mut Cx<'_>, at: u32, ty: Type) -> Value {
        match *self {
            Record::Known { offset, .. } => cx.bank(BANK, (offset + at) as i32, ty),
            Record::At(address) => {
                let key = (address, at, cx.guard());
                if let Some(&word) = cx.records.get(&key) {
                    return word;
                }
                let access = cx.b.access(Space::Global, ty, 1, address, at as i32);
                let word = cx.b.load_access(access, Extend::None)[0];
                cx.records.insert(key, word);
                word
            }
        }
    }

    /// The lanes whose image has this value in `bits` bits of a word of the record.
    pub fn field_is(&self, cx: &mut Cx<'_>, at: u32, (lo, bits): (u32, u32), value: u32) -> Mask {
        match *self {
            Record::Known { shape, .. } => {
                Mask::of(shape.word(at).is_some_and(|word| word >> lo & (u32::MAX >> (32 - bits)) == value))
            }
            Record::At(_) => {
                let word = self.word(cx, at);
                let field = if bits == 32 { word } else { cx.bit_range(word, lo, bits, false) };
                let value = cx.int(value);
                Mask::Lanes(cx.b.icmp(IntCc::Eq, field, value))
            }
        }
    }

    /// Whether the image has one of these flags.
    pub fn has(&self, cx: &mut Cx<'_>, flags: u32) -> Mask {
        match *self {
            Record::Known { shape, .. } => Mask::of(shape.word(at::FLAGS).is_some_and(|word| word & flags != 0)),
            Record::At(_) => {
                let (word, flags, zero) = (self.word(cx, at::FLAGS), cx.int(flags), cx.int(0));
                let bits = cx.b.and(word, flags);
                Mask::Lanes(cx.b.icmp(IntCc::Ne, bits, zero))
            }
        }
    }
}

/// Address of the record of the image that a handle names.
pub fn record_address(cx: &mut Cx<'_>, handle: Value) -> Value {
    let mask = cx.int((1 << HEADER_BITS) - 1);
    let index = cx.b.and(handle, mask);
    entry(cx, index, (driver::at::RECORDS, driver::at::HEADERS), RECORD_BYTES)
}

/// Address of the record of the sampler that a handle names.
pub fn sampler_address(cx: &mut Cx<'_>, handle: Value) -> Value {
    let index = cx.shr(handle, HEADER_BITS);
    entry(cx, index, (driver::at::SAMPLERS, driver::at::SAMPLER_COUNT), sampler::RECORD_BYTES)
}

/// Address of an entry of a table, of which the driver's bank has address and count. Behind the last one is another for
/// handles that name none.
fn entry(cx: &mut Cx<'_>, index: Value, (table, count): (u32, u32), bytes: usize) -> Value {
    let count = cx.bank(BANK, count as i32, Type::I32);
    let index = cx.b.min_u(index, count);
    let index = cx.b.zero_extend(Type::I64, index);
    let shift = cx.constant(Type::I64, bytes.ilog2().into());
    let distance = cx.b.shl(index, shift);
    let table = cx.bank(BANK, table as i32, Type::I64);
    cx.b.add(table, distance)
}

/// What x counts, and how much is accessed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes; accesses of so many.
    Bytes(u32),
    /// Elements of so many bytes.
    Elements(u32),
    /// Texels.
    Texels,
}

/// A surface access: what it needs besides its data.
pub struct Place {
    pub record: Record,
    /// `i64`, varying.
    pub address: Value,
    /// The lanes that access memory, under the guard.
    pub inside: Mask,
    /// What the address is known to be a multiple of, at most 16.
    pub align: u32,
}

impl Place {
    /// Where an instruction accesses its surface. Lanes for which it traps fault here.
    pub fn of(cx: &mut Cx<'_>, i: &Instruction, unit: Unit) -> Result<Place, Unsupported> {
        let (dim, clamp) = (i.surface_dim(), i.surface_clamp());
        if matches!(dim, SurfaceDim::Reserved6 | SurfaceDim::Reserved7) || clamp == SurfaceClamp::Reserved {
            return Err(Unsupported);
        }
        let coordinates = i.a().reg().ok_or(Unsupported)?;
        let record = Record::of(cx, i.c());
        check(cx, &record, dim, clamp, unit);

        let buffer = record.has(cx, flag::BUFFER);
        let near = clamp == SurfaceClamp::Near;
        let signed = dim != SurfaceDim::D1Buffer || near;
        let x = cx.varying_reg(coordinates);
        let (xb, mut inside) = column(cx, &record, unit, signed && buffer != Mask::Never, x, near);
        let mut axes = [None, None];
        let (rows, slices) = match dim {
            SurfaceDim::D2 => (Some(1), None),
            SurfaceDim::D2Array | SurfaceDim::D3 => (Some(1), Some(2)),
            SurfaceDim::D1Array => (None, Some(1)),
            _ => (None, None),
        };
        let layers = matches!(dim, SurfaceDim::D1Array | SurfaceDim::D2Array);
        for (axis, (register, size)) in [(rows, at::ROWS), (slices, at::SLICES)].into_iter().enumerate() {
            let Some(register) = register else { continue };
            let mut value = cx.nth(coordinates, register);
            if layers && axis == 1 {
                let mask = cx.int(0xffff);
                value = cx.b.and(value, mask);
            }
            let count = record.word(cx, size);
            let (value, within) = index(cx, value, count, near);
            inside = cx.and(inside, within);
            axes[axis] = Some(value);
        }
        // Faults come before any lane acts: first those misaligned, in range or not, then those out of range.
        if let Unit::Bytes(bytes @ 2..) = unit {
            // The coordinate counts, not the address: a buffer may begin anywhere.
            let (low, zero) = (cx.int(bytes - 1), cx.int(0));
            let rest = cx.b.and(x, low);
            let misaligned = Mask::Lanes(cx.b.icmp(IntCc::Ne, rest, zero));
            let present = record.has(cx, flag::PRESENT);
            let misaligned = cx.and(misaligned, present);
            raise(cx, LaneFault::Misaligned, misaligned);
        }
        if clamp == SurfaceClamp::Trap {
            let outside = cx.not(inside);
            raise(cx, LaneFault::SurfaceOutOfRange, outside);
            inside = Mask::Always;
        }
        let aligned = record.has(cx, flag::ALIGNED) == Mask::Always;
        let [y, z] = axes;
        let address = address(cx, &record, Coordinates { x: xb, y, z });
        Ok(Place { record, address: cx.b.splat(address), inside, align: if aligned { 16 } else { 1 } })
    }

    /// An access of the lanes inside that are in `only` too.
    pub fn access(&self, cx: &mut Cx<'_>, ty: Type, count: u8, only: Mask) -> Access {
        let mut access = cx.b.access(Space::Global, ty, count, self.address, 0);
        let lanes = cx.and(self.inside, only);
        let lanes = cx.and(cx.guard(), lanes);
        access.align = access.align.min(self.align as u8);
        access.guard = lanes_of(cx, lanes);
        access
    }
}

/// A mask as a guard.
fn lanes_of(cx: &mut Cx<'_>, mask: Mask) -> Option<Value> {
    match mask {
        Mask::Always => None,
        Mask::Never => Some(cx.constant(Type::I64, 0)),
        Mask::Lanes(lanes) => Some(lanes),
    }
}

/// Raises a fault in the lanes of a mask that execute the instruction.
pub fn raise(cx: &mut Cx<'_>, fault: LaneFault, lanes: Mask) {
    let lanes = cx.and(cx.guard(), lanes);
    if lanes == Mask::Never {
        return;
    }
    let lanes = lanes_of(cx, lanes).unwrap_or_else(|| cx.constant(Type::I64, u64::MAX));
    cx.b.raise(fault, lanes);
}

/// Faults of images that the instruction cannot access.
fn check(cx: &mut Cx<'_>, record: &Record, dim: SurfaceDim, clamp: SurfaceClamp, unit: Unit) {
    let present = record.has(cx, flag::PRESENT);
    let buffer = record.has(cx, flag::BUFFER);
    let mut wrong = record.has(cx, flag::UNSUPPORTED);
    let kind = match dim {
        SurfaceDim::D1 => Mask::Never,
        SurfaceDim::D1Buffer => cx.not(buffer),
        _ => buffer,
    };
    let kind = cx.and(present, kind);
    wrong = cx.or(wrong, kind);
    if unit == Unit::Texels {
        let formatted = record.has(cx, flag::FORMATTED);
        let raw = cx.not(formatted);
        let raw = cx.and(present, raw);
        wrong = cx.or(wrong, raw);
    }
    if clamp == SurfaceClamp::Trap {
        let absent = cx.not(present);
        wrong = cx.or(wrong, absent);
    }
    raise(cx, LaneFault::InvalidSurface, wrong);
}

/// An index, and the lanes for which it is less than `count`; with `near` the nearest that is.
fn index(cx: &mut Cx<'_>, index: Value, count: Value, near: bool) -> (Value, Mask) {
    if !near {
        return (index, Mask::Lanes(cx.b.icmp(IntCc::LtU, index, count)));
    }
    let (zero, one) = (cx.int(0), cx.int(1));
    let last = cx.b.sub(count, one);
    let index = cx.b.max_s(index, zero);
    let index = cx.b.min_u(index, last);
    (index, Mask::Lanes(cx.b.icmp(IntCc::Ne, count, zero)))
}

/// The first byte in its row of what x counts, and the lanes for which it and those behind it are in the row. `signed`: no x
/// above 2^31 - 1 is inside.
fn column(cx: &mut Cx<'_>, record: &Record, unit: Unit, signed: bool, x: Value, near: bool) -> (Value, Mask) {
    // The row's bytes, or how many elements or texels it has.
    let row = record.load(cx, at::ROW_BYTES, Type::I32);
    let shift = match unit {
        Unit::Bytes(_) => None,
        Unit::Elements(bytes) => Some(cx.int(bytes.ilog2())),
        Unit::Texels => Some(record.word(cx, at::TEXEL_SHIFT)),
    };
    let mut size = shift.map_or(row, |shift| cx.b.shr_u(row, shift));
    if signed {
        let most = cx.int(1 << 31);
        size = cx.b.min_u(size, most);
    }
    let Unit::Bytes(bytes) = unit else {
        let (x, inside) = index(cx, x, size, near);
        return (shift.map_or(x, |shift| cx.b.shl(x, shift)), inside);
    };
    let (count, zero) = (cx.int(bytes), cx.int(0));
    let enough = match record.has(cx, flag::WIDE) {
        Mask::Always => Mask::Always,
        _ => Mask::Lanes(cx.b.icmp(IntCc::GeU, size, count)),
    };
    let last = cx.b.sub(size, count);
    let x = if near { cx.b.max_s(x, zero) } else { x };
    let inside = cx.b.icmp(IntCc::LeU, x, last);
    if !near {
        return (x, cx.and(Mask::Lanes(inside), enough));
    }
    let whole = cx.int(!(bytes - 1));
    let nearest = cx.b.and(last, whole);
    (cx.b.select(inside, x, nearest), enough)
}

/// A byte of a row of a slice; what the instruction has no coordinate for is 0.
#[derive(Clone, Copy)]
struct Coordinates {
    x: Value,
    y: Option<Value>,
    z: Option<Value>,
}

fn address(cx: &mut Cx<'_>, record: &Record, at: Coordinates) -> Value {
    let blocks = record.has(cx, flag::BLOCKS);
    let pitch = (blocks != Mask::Always).then(|| in_rows(cx, record, at));
    let block = (blocks != Mask::Never).then(|| in_blocks(cx, record, at));
    let offset = match (pitch, block) {
        (Some(pitch), Some(block)) => cx.select(blocks, block, pitch),
        (offset, None) | (None, offset) => offset.unwrap_or(at.x),
    };
    let offset = cx.b.zero_extend(Type::I64, offset);
    let base = record.load(cx, at::BASE, Type::I64);
    let mut address = cx.b.add(base, offset);
    if let Some(z) = at.z {
        let depth = record.word(cx, at::BLOCK_DEPTH);
        let slices = cx.b.shr_u(z, depth);
        let slices = cx.b.zero_extend(Type::I64, slices);
        let stride = record.load(cx, at::SLICE_STRIDE, Type::I64);
        let distance = cx.b.mul(slices, stride);
        address = cx.b.add(address, distance);
    }
    address
}

/// The offset in a layer of rows.
fn in_rows(cx: &mut Cx<'_>, record: &Record, at: Coordinates) -> Value {
    let Some(y) = at.y else { return at.x };
    let stride = record.load(cx, at::ROW_STRIDE, Type::I32);
    let row = cx.b.mul(y, stride);
    cx.b.add(row, at.x)
}

/// The offset in a layer of blocks of GOBs: facts, sections 3.1 and 3.2.
fn in_blocks(cx: &mut Cx<'_>, record: &Record, at: Coordinates) -> Value {
    let [height, depth] = [at::BLOCK_HEIGHT, at::BLOCK_DEPTH].map(|at| record.word(cx, at));
    let one = cx.int(1);
    // Which of the block's GOBs.
    let low_bits = |cx: &mut Cx<'_>, value: Value, bits: Value| {
        let count = cx.b.shl(one, bits);
        let mask = cx.b.sub(count, one);
        cx.b.and(value, mask)
    };
    let mut gob = None;
    if let Some(y) = at.y {
        let row = cx.shr(y, 3);
        gob = Some(low_bits(cx, row, height));
    }
    if let Some(z) = at.z {
        let slice = low_bits(cx, z, depth);
        let slice = cx.b.shl(slice, height);
        gob = Some(gob.map_or(slice, |gob| cx.b.or(gob, slice)));
    }
    // The block in its row, and what x and y say in a GOB.
    let gobs = cx.b.add(height, depth);
    let nine = cx.int(9);
    let block_bits = cx.b.add(gobs, nine);
    let column = cx.shr(at.x, 6);
    let mut offset = cx.b.shl(column, block_bits);
    let x_bits = [(at.x, 15, 0), (at.x, 16, 1), (at.x, 32, 3)];
    let y_bits = at.y.map(|y| [(y, 1, 4), (y, 6, 5)]);
    let gob_bits = gob.map(|gob| (gob, u32::MAX, 9));
    for (value, mask, left) in x_bits.into_iter().chain(y_bits.into_iter().flatten()).chain(gob_bits) {
        let mask = cx.int(mask);
        let bits = cx.b.and(value, mask);
        let bits = if left == 0 { bits } else { cx.shl(bits, left) };
        offset = cx.b.or(offset, bits);
    }
    if let Some(y) = at.y {
        let three = cx.int(3);
        let block_rows = cx.b.add(height, three);
        let row = cx.b.shr_u(y, block_rows);
        let stride = record.load(cx, at::ROW_STRIDE, Type::I32);
        let distance = cx.b.mul(row, stride);
        offset = cx.b.add(offset, distance);
    }
    offset
}
