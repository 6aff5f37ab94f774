//! MIMG: loads, stores and atomics of images, and their sizes.
//!
//! Sources: "Vega" Instruction Set Architecture, "Vector memory image instructions"; the image
//! descriptors that Mesa makes for GFX9, with the levels of linear images below each other. Images
//! are linear, with one sample per texel: an access to an image of another kind faults. Texels out
//! of range read 0 and are not written.

use warploom_ir::texel::{TexelFormat, TexelKind};
use warploom_ir::{Access, AtomicOp, IntCc, Space, Type, Value};

use super::context::Cx;
use super::texels::{BUFFER_FORMATS, Texel, bytes_of, look_up};
use super::vector_memory::{Item, lifts, operand_of, register, write_back};
use super::{Flow, Lifted, Unsupported};
use crate::{Image, Instruction, Operand};

/// Widths of the components of image formats, by number: the formats of buffers, then more.
const FORMATS: [[u32; 4]; 64] = {
    let mut formats = [[0; 4]; 64];
    let mut i = 0;
    while i < BUFFER_FORMATS.len() {
        formats[i] = BUFFER_FORMATS[i];
        i += 1;
    }
    formats[16] = [5, 6, 5, 0];
    formats[17] = [5, 5, 5, 1];
    formats[18] = [1, 5, 5, 5];
    formats[19] = [4; 4];
    formats[SHARED_EXPONENT] = [9, 9, 9, 5];
    formats
};

/// The format of three mantissas and an exponent.
const SHARED_EXPONENT: usize = 34;

/// The address of images that are not supported: no page is there.
const NOWHERE: u64 = 0xdead << 32;

/// Kinds of images.
pub(super) mod kind {
    pub const LINE: u32 = 8;
    pub const VOLUME: u32 = 10;
    pub const CUBE: u32 = 11;
    pub const LINES: u32 = 12;
    /// Kinds with a third coordinate: volumes, cubes and arrays of planes.
    pub const DEEP: [u32; 3] = [VOLUME, CUBE, 13];
    /// The first kind with several samples per texel.
    pub const SAMPLES: u32 = 14;
}

/// The fields of a descriptor: uniform `i32`s, except the address.
pub(super) struct Descriptor {
    /// The guest address of the first texel.
    base: Value,
    pub width: Value,
    pub height: Value,
    /// The last layer, or the depth minus one.
    last: Value,
    first: Value,
    /// Texels from one row to the next, and rows of all levels from one layer to the next.
    pitch: Value,
    chain: Value,
    kind: Value,
    levels: [Value; 2],
    pub texel: Texel,
}

/// Returns `count` bits of a word, from bit `lo` on.
pub(super) fn bits(cx: &mut Cx<'_>, word: Value, lo: u32, count: u32) -> Value {
    let word = if lo == 0 { word } else { cx.shr(word, lo) };
    cx.low_bits(word, count, false)
}

/// Returns all lanes if `number` is in the list `of`, else none.
fn one_of(cx: &mut Cx<'_>, number: Value, of: &[u32]) -> Value {
    let mut any = cx.lanes(0);
    for &one in of {
        let one = cx.int(one);
        let this = cx.b.icmp(IntCc::Eq, number, one);
        any = cx.b.or(any, this);
    }
    any
}

impl Descriptor {
    pub fn new(cx: &mut Cx<'_>, image: &Image) -> Descriptor {
        let first = if let Operand::Scalar(number) = image.srsrc { number } else { 0 };
        let field = |cx: &mut Cx<'_>, word: u8, lo: u32, count: u32| {
            cx.field(first.wrapping_add(word), lo, count)
        };
        let one = cx.int(1);
        let plus_one = |cx: &mut Cx<'_>, value: Value| cx.b.add(value, one);

        // Bits 8 to 47 of the address. The bits above repeat bit 47.
        let [low, high] = [0, 1].map(|word| cx.scalar(Operand::Scalar(first.wrapping_add(word))));
        let base = cx.b.concat(low, high);
        let base = cx.shl(base, 24);
        let base = cx.sar(base, 16);
        let (tiling, kind) = (field(cx, 3, 20, 5), field(cx, 3, 28, 4));
        let many = cx.int(kind::SAMPLES);
        let (tiled, sampled) = (bits_are_set(cx, tiling), cx.b.icmp(IntCc::GeU, kind, many));
        let strange = cx.b.or(tiled, sampled);
        let nowhere = cx.long(NOWHERE);
        let base = cx.b.uniform_select(strange, nowhere, base);

        let (width, height, pitch) =
            (field(cx, 2, 0, 14), field(cx, 2, 14, 14), field(cx, 4, 13, 16));
        let data = field(cx, 1, 20, 6);
        let (number, shared) = (field(cx, 1, 26, 4), cx.int(TexelKind::SharedExponent as u32));
        let is_shared = one_of(cx, data, &[SHARED_EXPONENT as u32]);
        let number = cx.b.uniform_select(is_shared, shared, number);
        let widths = look_up(cx, data, &FORMATS.map(TexelFormat::widths_only));
        let bytes = look_up(cx, data, &FORMATS.map(bytes_of));
        let selectors = field(cx, 3, 0, 12);
        let (height, most) = (plus_one(cx, height), field(cx, 5, 28, 4));
        let most = plus_one(cx, most);
        Descriptor {
            base,
            chain: rows_before(cx, height, most),
            width: plus_one(cx, width),
            height,
            last: field(cx, 4, 0, 13),
            first: field(cx, 5, 0, 13),
            pitch: plus_one(cx, pitch),
            kind,
            levels: [field(cx, 3, 12, 4), field(cx, 3, 16, 4)],
            texel: Texel::of(cx, widths, number, bytes, selectors),
        }
    }

    /// Returns the three coordinates that address registers hold: x, y, and z or the layer.
    pub fn coordinates(&self, cx: &mut Cx<'_>, given: [Value; 3]) -> [Value; 3] {
        let zero = cx.int(0);
        let (line, lines) = (
            one_of(cx, self.kind, &[kind::LINE, kind::LINES]),
            one_of(cx, self.kind, &[kind::LINES]),
        );
        let deep = one_of(cx, self.kind, &kind::DEEP);
        let y = cx.b.select(line, zero, given[1]);
        let layer = cx.b.select(lines, given[1], zero);
        [given[0], y, cx.b.select(deep, given[2], layer)]
    }

    /// Returns all lanes if the image has one axis, else none. `is_volume` tests for three axes.
    pub fn is_line(&self, cx: &mut Cx<'_>) -> Value {
        one_of(cx, self.kind, &[kind::LINE, kind::LINES])
    }

    pub fn is_volume(&self, cx: &mut Cx<'_>) -> Value {
        one_of(cx, self.kind, &[kind::VOLUME])
    }

    pub fn is_cube(&self, cx: &mut Cx<'_>) -> Value {
        one_of(cx, self.kind, &[kind::CUBE])
    }

    /// Returns whether the image is known to be of another kind.
    pub fn is_known_other_than(&self, cx: &Cx<'_>, kind: u32) -> bool {
        cx.b.constant(self.kind).is_some_and(|known| known != u64::from(kind))
    }

    /// Returns the register behind the coordinates, out of the second to the fourth address
    /// register.
    pub fn behind_coordinates(
        &self,
        cx: &mut Cx<'_>,
        [second, third, fourth]: [Value; 3],
    ) -> Value {
        let (line, deep) =
            (one_of(cx, self.kind, &[kind::LINE]), one_of(cx, self.kind, &kind::DEEP));
        let other = cx.b.select(deep, fourth, third);
        cx.b.select(line, second, other)
    }

    /// Returns the depth of a volume.
    pub fn depth(&self, cx: &mut Cx<'_>) -> Value {
        let one = cx.int(1);
        cx.b.add(self.last, one)
    }

    /// Returns the last visible level, counted from the first visible level.
    pub fn last_level(&self, cx: &mut Cx<'_>) -> Value {
        let none = cx.int(0);
        let [base, last] = self.levels;
        let last = cx.b.max_u(last, base);
        let levels = cx.b.sub(last, base);
        cx.b.max_s(levels, none)
    }

    /// Returns whether the image is known to have one level, the first in memory.
    pub fn has_one_level(&self, cx: &Cx<'_>) -> bool {
        self.levels.iter().all(|&level| cx.b.constant(level) == Some(0))
    }

    /// Returns a level, counted from the first visible level. `None` is the first visible level.
    pub fn level(&self, cx: &mut Cx<'_>, number: Option<Value>) -> Level {
        let base = self.levels[0];
        if number.is_none() && cx.b.constant(base) == Some(0) {
            return Level { width: self.width, height: self.height, last: self.last, rows: None };
        }
        let number = number.map_or(base, |number| cx.b.add(base, number));
        let one = cx.int(1);
        let [width, height] = [self.width, self.height].map(|size| {
            let size = cx.b.shr_u(size, number);
            cx.b.max_u(size, one)
        });
        let depth = self.depth(cx);
        let slices = cx.b.shr_u(depth, number);
        let slices = cx.b.max_u(slices, one);
        let volume = self.is_volume(cx);
        let slices = cx.b.select(volume, slices, depth);
        let last = cx.b.sub(slices, one);
        Level { width, height, last, rows: Some(rows_before(cx, self.height, number)) }
    }

    /// Returns the existing layer that is nearest to `z`.
    pub fn clamped_layer(&self, cx: &mut Cx<'_>, level: &Level, z: Value) -> Value {
        let zero = cx.int(0);
        let most = cx.b.sub(level.last, self.first);
        let z = cx.b.min_s(z, most);
        cx.b.max_s(z, zero)
    }

    /// Returns the address of a texel, and the lanes whose texel is in the image.
    pub fn place(&self, cx: &mut Cx<'_>, level: &Level, [x, y, z]: [Value; 3]) -> (Value, Value) {
        let z = cx.b.add(z, self.first);
        let (right, below) =
            (cx.b.icmp(IntCc::LtU, x, level.width), cx.b.icmp(IntCc::LtU, y, level.height));
        let above = cx.b.icmp(IntCc::GeU, z, self.first);
        let within = cx.b.icmp(IntCc::LeU, z, level.last);
        // A plane without layers has only the first layer.
        let layered =
            one_of(cx, self.kind, &[kind::LINES, kind::DEEP[0], kind::DEEP[1], kind::DEEP[2]]);
        let single = cx.b.not(layered);
        let within = cx.b.and(above, within);
        let within = cx.b.or(within, single);
        let inside = cx.b.and(right, below);
        let inside = cx.b.and(inside, within);

        let y = level.rows.map_or(y, |rows| cx.b.add(y, rows));
        let [x, y, z] = [x, y, z].map(|value| cx.b.zero_extend(Type::I64, value));
        let [height, pitch] =
            [self.chain, self.pitch].map(|value| cx.b.zero_extend(Type::I64, value));
        let row = cx.b.mul(z, height);
        let row = cx.b.add(row, y);
        let texel = cx.b.mul(row, pitch);
        let texel = cx.b.add(texel, x);
        let bytes = self.texel.size(cx);
        let bytes = cx.b.zero_extend(Type::I64, bytes);
        let distance = cx.b.mul(texel, bytes);
        let address = cx.b.add(self.base, distance);
        (cx.b.splat(address), inside)
    }
}

/// A level of an image.
pub(super) struct Level {
    pub width: Value,
    pub height: Value,
    /// The last layer, or the depth minus one.
    last: Value,
    /// The number of rows of the levels before this level.
    rows: Option<Value>,
}

impl Level {
    /// Returns the number of layers from the first in memory on, or the depth.
    pub fn slices(&self, cx: &mut Cx<'_>) -> Value {
        let one = cx.int(1);
        cx.b.add(self.last, one)
    }
}

/// Returns the number of rows of an image's first `levels` levels.
///
/// Halves are rounded up. With height h and x = h - 1, level i has (x >> i) + 1 rows. Over all i,
/// the sum of x >> i is 2 x less the number of bits that are set in x.
fn rows_before(cx: &mut Cx<'_>, height: Value, levels: Value) -> Value {
    let one = cx.int(1);
    let x = cx.b.sub(height, one);
    let rest = cx.b.shr_u(x, levels);
    let [all, rest] = [x, rest].map(|x| {
        let (twice, bits) = (cx.shl(x, 1), cx.b.popcnt(x));
        cx.b.sub(twice, bits)
    });
    let rows = cx.b.sub(all, rest);
    cx.b.add(rows, levels)
}

/// Returns all lanes if a uniform number is not 0, else none.
fn bits_are_set(cx: &mut Cx<'_>, number: Value) -> Value {
    let zero = cx.int(0);
    cx.b.icmp(IntCc::Ne, number, zero)
}

/// Returns the instruction's fields if it is supported.
///
/// Addresses must have 32 bits, descriptors 256 bits, `dmask` must not be 0, and no status may be
/// returned.
pub(super) fn fields(i: &Instruction) -> Result<Image, Unsupported> {
    let image = i.image();
    if image.a16 || image.tfe || image.lwe || image.dmask == 0 {
        Err(Unsupported)
    } else {
        Ok(image)
    }
}

/// Returns the descriptor, and the address and mask of the texels that coordinates in registers
/// name.
///
/// With `mip`, the register behind the coordinates names the level.
fn texels(
    cx: &mut Cx<'_>,
    image: &Image,
    mip: bool,
) -> Result<(Descriptor, Value, Value), Unsupported> {
    let first = register(image.vaddr)?;
    register(image.vdata)?;
    let descriptor = Descriptor::new(cx, image);
    let given = std::array::from_fn(|i| cx.vector(first.wrapping_add(i as u8)));
    let coordinates = descriptor.coordinates(cx, given);
    if !mip {
        let level = descriptor.level(cx, None);
        let (address, inside) = descriptor.place(cx, &level, coordinates);
        return Ok((descriptor, address, inside));
    }
    let behind = [1, 2, 3].map(|i| cx.vector(first.wrapping_add(i)));
    let (number, last) = (descriptor.behind_coordinates(cx, behind), descriptor.last_level(cx));
    let exists = cx.b.icmp(IntCc::LeU, number, last);
    let level = descriptor.level(cx, Some(number));
    let (address, inside) = descriptor.place(cx, &level, coordinates);
    let inside = cx.b.and(inside, exists);
    Ok((descriptor, address, inside))
}

/// Returns the components that an instruction moves.
pub(super) fn chosen(image: &Image) -> Vec<usize> {
    (0..4).filter(|i| image.dmask >> i & 1 != 0).collect()
}

/// Returns the address of a word of a texel.
pub(super) fn word_of(cx: &mut Cx<'_>, address: Value, word: u32) -> Value {
    let distance = cx.long(u64::from(word) * 4);
    cx.b.add(address, distance)
}

/// Approximate: images that are not linear, or have several samples, fault.
pub fn image_load(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    load(cx, i, false)
}

/// Approximate: images that are not linear, or have several samples, fault.
pub fn image_load_mip(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    load(cx, i, true)
}

fn load(cx: &mut Cx<'_>, i: &Instruction, mip: bool) -> Lifted {
    let image = fields(i)?;
    let (descriptor, address, inside) = texels(cx, &image, mip)?;
    let components = descriptor.texel.load(cx, inside, |cx, word| word_of(cx, address, word));
    let components: Vec<Value> = chosen(&image).into_iter().map(|i| components[i]).collect();
    descriptor.texel.write(cx, register(image.vdata)?, &components, image.d16.then_some(false));
    Ok(Flow::Next)
}

/// Approximate: images that are not linear, or have several samples, fault; integers are clamped.
pub fn image_store(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    store(cx, i, false)
}

/// Approximate: images that are not linear, or have several samples, fault; integers are clamped.
pub fn image_store_mip(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    store(cx, i, true)
}

fn store(cx: &mut Cx<'_>, i: &Instruction, mip: bool) -> Lifted {
    let image = fields(i)?;
    let (descriptor, address, inside) = texels(cx, &image, mip)?;
    let chosen = chosen(&image);
    let given =
        descriptor.texel.read(cx, register(image.vdata)?, chosen.len(), image.d16.then_some(false));
    let mut components = [cx.int(0); 4];
    for (place, value) in chosen.into_iter().zip(given) {
        components[place] = value;
    }
    descriptor.texel.store(cx, inside, components, |cx, word| word_of(cx, address, word));
    Ok(Flow::Next)
}

fn atomic(cx: &mut Cx<'_>, i: &Instruction, op: AtomicOp) -> Lifted {
    let image = fields(i)?;
    // The number of data registers gives the width.
    let ty = match (image.dmask.count_ones(), op.has_compare()) {
        (1, false) | (2, true) => Type::I32,
        (2, false) | (4, true) => Type::I64,
        _ => return Err(Unsupported),
    };
    let data = register(image.vdata)?;
    let (_, address, inside) = texels(cx, &image, false)?;
    let value = operand_of(cx, ty, data);
    let compare =
        op.has_compare().then(|| operand_of(cx, ty, data.wrapping_add((ty.bytes() / 4) as u8)));
    let access = Access { guard: Some(inside), ..cx.b.access(Space::Global, ty, 1, address, 0) };
    let old = cx.b.atomic(access, op, value, compare);
    if image.glc {
        write_back(cx, data, old);
    }
    Ok(Flow::Next)
}

lifts! {
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_swap: atomic(AtomicOp::Exchange);
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_cmpswap: atomic(AtomicOp::CompareExchange);
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_add: atomic(AtomicOp::Add);
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_sub: atomic(AtomicOp::Sub);
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_smin: atomic(AtomicOp::MinS);
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_umin: atomic(AtomicOp::MinU);
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_smax: atomic(AtomicOp::MaxS);
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_umax: atomic(AtomicOp::MaxU);
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_and: atomic(AtomicOp::And);
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_or: atomic(AtomicOp::Or);
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_xor: atomic(AtomicOp::Xor);
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_inc: atomic(AtomicOp::Inc);
    /// Approximate: images that are not linear, or have several samples, fault.
    image_atomic_dec: atomic(AtomicOp::Dec);
}

/// Emits width, height, and depth or layers of the level that the address register names, and the
/// number of levels.
pub fn image_get_resinfo(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let image = fields(i)?;
    let (first, dst) = (register(image.vaddr)?, register(image.vdata)?);
    let descriptor = Descriptor::new(cx, &image);
    let level = cx.vector(first);
    let (one, zero) = (cx.int(1), cx.int(0));
    let of_level = |cx: &mut Cx<'_>, size: Value| {
        let size = cx.b.shr_u(size, level);
        cx.b.max_u(size, one)
    };
    let (width, height) = (of_level(cx, descriptor.width), of_level(cx, descriptor.height));
    let depth = cx.b.add(descriptor.last, one);
    let layers = cx.b.sub(depth, descriptor.first);
    let depth = of_level(cx, depth);
    let volume = one_of(cx, descriptor.kind, &[kind::VOLUME]);
    let depth = cx.b.select(volume, depth, layers);
    let [base, last] = descriptor.levels;
    let levels = cx.b.sub(last, base);
    let levels = cx.b.add(levels, one);
    let exists = cx.b.icmp(IntCc::LtU, level, levels);
    let sizes = [width, height, depth].map(|size| cx.b.select(exists, size, zero));
    let levels = cx.b.splat(levels);
    let all = [sizes[0], sizes[1], sizes[2], levels];
    let values: Vec<Value> = chosen(&image).into_iter().map(|i| all[i]).collect();
    Item::Words(values.len() as u8).write(cx, dst, &values);
    Ok(Flow::Next)
}
