//! Textures: TEX, TEXS, TLD, TLDS, TLD4, TLD4S, TXD, TXQ, TMML.
//!
//! Source: facts, `maxwell-surfaces.md`, sections 5 and 6; the order of operands as in Mesa's and
//! Ryujinx's compilers, and ptxas. [`sample`](warploom_ir::image::sample) defines the result for a
//! coordinate.

use warploom_guest::divergence::Mask;
use warploom_guest::images::Record;
use warploom_guest::images::texture::{self, Level, Texture};
use warploom_ir::image::sample::Operation;
use warploom_ir::{Type, Value};

use super::context::{Cx, PT};
use super::flow::{Flow, Lifted, Unsupported};
use crate::field::{
    FetchLod, Field, GatherOffsets, MaskPair, MaskSingle, TexelFormat, TextureDim, TextureLod,
    TextureQuery,
};
use crate::{Instruction, Reg, Source};

/// Consecutive registers of an operand.
struct Vector {
    first: Reg,
    taken: u8,
}

impl Vector {
    fn of(source: Source) -> Result<Vector, Unsupported> {
        Ok(Vector { first: source.reg().ok_or(Unsupported)?, taken: 0 })
    }

    fn take(&mut self, cx: &mut Cx<'_>) -> Value {
        let register = cx.after(self.first, self.taken);
        self.taken += 1;
        cx.varying_reg(register)
    }
}

/// The shape that an instruction expects of the image.
#[derive(Clone, Copy)]
struct Dim {
    axes: usize,
    array: bool,
}

impl Dim {
    const D1: Dim = Dim { axes: 1, array: false };
    const D2: Dim = Dim { axes: 2, array: false };
    const D3: Dim = Dim { axes: 3, array: false };
    const CUBE: Dim = Dim::D3;
    const ARRAY_D2: Dim = Dim { axes: 2, array: true };

    fn of(dim: TextureDim) -> Result<Dim, Unsupported> {
        Ok(match dim {
            TextureDim::D1 => Dim::D1,
            TextureDim::ArrayD1 => Dim { axes: 1, array: true },
            TextureDim::D2 => Dim::D2,
            TextureDim::ArrayD2 => Dim::ARRAY_D2,
            TextureDim::D3 => Dim::D3,
            TextureDim::Cube => Dim::CUBE,
            TextureDim::ArrayCube => Dim { axes: 3, array: true },
            TextureDim::ArrayD3 => return Err(Unsupported),
        })
    }
}

/// Returns texture and sampler of a handle: a word of bank 0 that the instruction names, or a
/// register.
fn texture_of(
    cx: &mut Cx<'_>,
    i: &Instruction,
    register: Option<Value>,
) -> Result<Texture, Unsupported> {
    let (known, handle) = match register {
        Some(handle) => (None, handle),
        None => {
            let word = i.field(Field::handle).ok_or(Unsupported)? as u32;
            let bank = cx.handle_bank();
            (Record::known(cx, word * 4), cx.bank(bank, word as i32 * 4, Type::I32))
        }
    };
    Ok(Texture::of(cx, known, [handle, handle]))
}

/// The request of an instruction to a texture, with the shape that it expects of the image.
struct Request {
    asked: texture::Request,
    dim: Dim,
}

impl Request {
    fn new(texture: Texture, dim: Dim) -> Request {
        Request { asked: texture::Request::new(texture), dim }
    }

    /// Takes layer, then coordinates: their order in the first operand.
    fn place(&mut self, cx: &mut Cx<'_>, vector: &mut Vector) {
        if self.dim.array {
            let layer = vector.take(cx);
            self.set_layer(cx, layer);
        }
        for axis in 0..self.dim.axes {
            self.asked.coords[axis] = Some(vector.take(cx));
        }
    }

    fn set_layer(&mut self, cx: &mut Cx<'_>, layer: Value) {
        let low = cx.int(0xffff);
        self.asked.layer = Some(cx.b.and(layer, low));
    }

    /// Sets packed offsets: each has `bits` bits, `distance` bits from the next.
    fn set_offset(&mut self, cx: &mut Cx<'_>, packed: Value, (bits, distance): (u32, u32)) {
        for axis in 0..self.dim.axes {
            self.asked.offset[axis] =
                Some(cx.bit_range(packed, axis as u32 * distance, bits, true));
        }
    }

    /// Emits the request, sets the sparse status and returns the components.
    fn ask(self, cx: &mut Cx<'_>, i: &Instruction, operation: Operation) -> [Value; 4] {
        let (components, sparse) = self.asked.ask(cx, operation);
        if i.pd() != PT {
            cx.set_pred(i.pd(), Mask::Lanes(sparse));
        }
        components
    }
}

/// Writes the components of a mask to consecutive registers.
fn write(cx: &mut Cx<'_>, i: &Instruction, components: [Value; 4]) -> Lifted {
    let mask = i.field(Field::component_mask).ok_or(Unsupported)?;
    for (n, component) in (0..4).filter(|component| mask >> component & 1 != 0).enumerate() {
        let register = cx.after(i.d(), n as u8);
        cx.set(register, components[component]);
    }
    Ok(Flow::Next)
}

/// Whether the handle is in a register: the encoding names no word of a bank.
fn is_bindless(i: &Instruction) -> bool {
    i.field(Field::handle).is_none()
}

fn named_texture(
    cx: &mut Cx<'_>,
    i: &Instruction,
    vector: &mut Vector,
) -> Result<Texture, Unsupported> {
    let register = is_bindless(i).then(|| vector.take(cx));
    texture_of(cx, i, register)
}

/// Bits and distance of packed offsets: four bits each.
const NARROW: (u32, u32) = (4, 4);
/// Bits and distance of packed offsets of gathers: six bits, in bytes.
const WIDE: (u32, u32) = (6, 8);

pub fn tex(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = Dim::of(i.texture_dim())?;
    if i.lod_bound() {
        return Err(Unsupported);
    }
    let (mut a, mut b) = (Vector::of(i.a())?, Vector::of(i.b())?);
    let texture = named_texture(cx, i, &mut b)?;
    let mut request = Request::new(texture, dim);
    request.place(cx, &mut a);
    request.asked.level = match i.texture_lod() {
        TextureLod::Lz | TextureLod::Ll => Level::Given,
        TextureLod::Auto | TextureLod::Lb => Level::Neighbours,
        _ => return Err(Unsupported),
    };
    if matches!(i.texture_lod(), TextureLod::Ll | TextureLod::Lb) {
        request.asked.lod = Some(b.take(cx));
    }
    if i.offsets() {
        let packed = b.take(cx);
        request.set_offset(cx, packed, NARROW);
    }
    if i.depth_compare() {
        request.asked.reference = Some(b.take(cx));
    }
    let components = request.ask(cx, i, Operation::Sample);
    write(cx, i, components)
}

pub fn tld(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = Dim::of(i.texture_dim())?;
    if i.multisample() {
        return Err(Unsupported);
    }
    let operation = if i.coordinate_clamp() { Operation::FetchNearest } else { Operation::Fetch };
    let (mut a, mut b) = (Vector::of(i.a())?, Vector::of(i.b())?);
    let texture = named_texture(cx, i, &mut b)?;
    let mut request = Request::new(texture, dim);
    request.place(cx, &mut a);
    if i.fetch_lod() == FetchLod::Ll {
        request.asked.lod = Some(b.take(cx));
    }
    if i.offsets() {
        let packed = b.take(cx);
        request.set_offset(cx, packed, NARROW);
    }
    let components = request.ask(cx, i, operation);
    write(cx, i, components)
}

pub fn tld4(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = Dim::of(i.texture_dim())?;
    let offsets = i.gather_offsets();
    if matches!(offsets, GatherOffsets::Ptp | GatherOffsets::Reserved) {
        return Err(Unsupported);
    }
    let (mut a, mut b) = (Vector::of(i.a())?, Vector::of(i.b())?);
    let texture = named_texture(cx, i, &mut b)?;
    let mut request = Request::new(texture, dim);
    request.place(cx, &mut a);
    if offsets == GatherOffsets::Aoffi {
        let packed = b.take(cx);
        request.set_offset(cx, packed, WIDE);
    }
    if i.depth_compare() {
        request.asked.reference = Some(b.take(cx));
    }
    let component = i.gather_component() as u8;
    let components = request.ask(cx, i, Operation::Gather { component });
    write(cx, i, components)
}

/// Lifts TXD: B holds the derivatives along x and y of each coordinate in turn.
pub fn txd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = Dim::of(i.texture_dim())?;
    if i.lod_bound() {
        return Err(Unsupported);
    }
    let (mut a, mut b) = (Vector::of(i.a())?, Vector::of(i.b())?);
    let texture = named_texture(cx, i, &mut a)?;
    let mut request = Request::new(texture, dim);
    for axis in 0..dim.axes {
        request.asked.coords[axis] = Some(a.take(cx));
    }
    if dim.array || i.offsets() {
        // The layer, with offsets above it.
        let packed = a.take(cx);
        if dim.array {
            request.set_layer(cx, packed);
        }
        if i.offsets() {
            let offsets = cx.shr(packed, 16);
            request.set_offset(cx, offsets, NARROW);
        }
    }
    let zero = cx.int(0);
    let mut gradients = [[zero; 2]; 3];
    for gradient in gradients.iter_mut().take(dim.axes) {
        *gradient = [b.take(cx), b.take(cx)];
    }
    request.asked.level = Level::Gradients(gradients);
    let components = request.ask(cx, i, Operation::Sample);
    write(cx, i, components)
}

/// Lifts TMML: the level of detail that neighbours' coordinates give.
pub fn tmml(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = Dim::of(i.texture_dim())?;
    let mut a = Vector::of(i.a())?;
    let mut handle = Vector::of(if is_bindless(i) { i.b() } else { i.a() })?;
    let texture = named_texture(cx, i, &mut handle)?;
    let mut request = Request::new(texture, dim);
    request.place(cx, &mut a);
    request.asked.level = Level::Neighbours;
    let components = request.ask(cx, i, Operation::Level);
    write(cx, i, components)
}

/// Lifts TXQ: width, height, and depth or layers of the level in A.
pub fn txq(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mask = i.field(Field::component_mask).ok_or(Unsupported)?;
    if i.texture_query() != TextureQuery::Dimension || mask & 8 != 0 {
        return Err(Unsupported);
    }
    let mut a = Vector::of(i.a())?;
    let texture = named_texture(cx, i, &mut a)?;
    let level = a.take(cx);
    let sizes = texture::sizes(cx, &texture.record, level);
    let zero = cx.int(0);
    write(cx, i, [sizes[0], sizes[1], sizes[2], zero])
}

/// Writes the components that a short instruction asks for.
fn write_short(cx: &mut Cx<'_>, i: &Instruction, components: [Value; 4]) -> Lifted {
    const R: usize = 0;
    const G: usize = 1;
    const B: usize = 2;
    const A: usize = 3;
    let chosen: &[usize] = if i.field(Field::mask_single).is_some() {
        match i.mask_single() {
            MaskSingle::R => &[R],
            MaskSingle::G => &[G],
            MaskSingle::B => &[B],
            MaskSingle::A => &[A],
            MaskSingle::Rg => &[R, G],
            MaskSingle::Ra => &[R, A],
            MaskSingle::Ga => &[G, A],
            MaskSingle::Ba => &[B, A],
        }
    } else {
        match i.mask_pair() {
            MaskPair::Rgb => &[R, G, B],
            MaskPair::Rga => &[R, G, A],
            MaskPair::Rba => &[R, B, A],
            MaskPair::Gba => &[G, B, A],
            MaskPair::Rgba => &[R, G, B, A],
            _ => return Err(Unsupported),
        }
    };
    let chosen: Vec<Value> = chosen.iter().map(|&component| components[component]).collect();
    write_pairs(cx, i, &chosen);
    Ok(Flow::Next)
}

/// Writes up to four values: the first two to D and behind it, further values to E.
fn write_pairs(cx: &mut Cx<'_>, i: &Instruction, values: &[Value]) {
    for (n, &value) in values.iter().enumerate() {
        let reg = if n < 2 { i.d() } else { i.e() };
        let register = cx.after(reg, n as u8 % 2);
        cx.set(register, value);
    }
}

/// Returns bits 53 to 56, in which the encodings of short instructions differ.
fn variant(i: &Instruction) -> u64 {
    i.bits(53, 4)
}

/// Reads the operands of a short instruction: layer and coordinates come first; operands that do
/// not fit in A are in B.
fn short(
    cx: &mut Cx<'_>,
    i: &Instruction,
    dim: Dim,
    in_a: usize,
) -> Result<(Request, Vector), Unsupported> {
    if i.field(Field::texel_format).is_some() && i.texel_format() == TexelFormat::F16 {
        return Err(Unsupported);
    }
    let (mut a, mut b) = (Vector::of(i.a())?, Vector::of(i.b())?);
    let texture = texture_of(cx, i, None)?;
    let mut request = Request::new(texture, dim);
    let mut taken = 0;
    let mut take = |cx: &mut Cx<'_>| {
        taken += 1;
        if taken <= in_a { a.take(cx) } else { b.take(cx) }
    };
    if dim.array {
        let layer = take(cx);
        request.set_layer(cx, layer);
    }
    for axis in 0..dim.axes {
        request.asked.coords[axis] = Some(take(cx));
    }
    Ok((request, b))
}

pub fn texs(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    // Dimension, coordinates in A, level of neighbours, a level in B, a reference in B.
    let (dim, in_a, neighbours, level, compare) = match variant(i) {
        0 => (Dim::D1, 1, false, false, false),
        1 => (Dim::D2, 1, true, false, false),
        2 => (Dim::D2, 1, false, false, false),
        3 => (Dim::D2, 2, false, true, false),
        4 => (Dim::D2, 2, true, false, true),
        5 => (Dim::D2, 2, false, true, true),
        6 => (Dim::D2, 2, false, false, true),
        7 => (Dim::ARRAY_D2, 2, true, false, false),
        8 => (Dim::ARRAY_D2, 2, false, false, false),
        9 => (Dim::ARRAY_D2, 2, false, false, true),
        10 => (Dim::D3, 2, true, false, false),
        11 => (Dim::D3, 2, false, false, false),
        12 => (Dim::CUBE, 2, true, false, false),
        13 => (Dim::CUBE, 2, false, true, false),
        _ => return Err(Unsupported),
    };
    let (mut request, mut b) = short(cx, i, dim, in_a)?;
    if neighbours {
        request.asked.level = Level::Neighbours;
    }
    if level {
        request.asked.lod = Some(b.take(cx));
    }
    if compare {
        request.asked.reference = Some(b.take(cx));
    }
    let components = request.ask(cx, i, Operation::Sample);
    write_short(cx, i, components)
}

pub fn tlds(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    // Dimension, coordinates in A, a level in B, offsets in B.
    let (dim, in_a, level, offsets) = match variant(i) {
        0 => (Dim::D1, 1, false, false),
        1 => (Dim::D1, 1, true, false),
        2 => (Dim::D2, 1, false, false),
        4 => (Dim::D2, 2, false, true),
        5 => (Dim::D2, 2, true, false),
        7 => (Dim::D3, 2, false, false),
        8 => (Dim::ARRAY_D2, 2, false, false),
        12 => (Dim::D2, 2, true, true),
        _ => return Err(Unsupported),
    };
    let (mut request, mut b) = short(cx, i, dim, in_a)?;
    if level {
        request.asked.lod = Some(b.take(cx));
    }
    if offsets {
        let packed = b.take(cx);
        request.set_offset(cx, packed, NARROW);
    }
    let components = request.ask(cx, i, Operation::Fetch);
    write_short(cx, i, components)
}

pub fn tld4s(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.half() {
        return Err(Unsupported);
    }
    let (offsets, compare) = (i.offsets(), i.depth_compare());
    let (mut request, mut b) = short(cx, i, Dim::D2, if offsets || compare { 2 } else { 1 })?;
    if offsets {
        let packed = b.take(cx);
        request.set_offset(cx, packed, WIDE);
    }
    if compare {
        request.asked.reference = Some(b.take(cx));
    }
    let component = i.gather_component() as u8;
    let components = request.ask(cx, i, Operation::Gather { component });
    write_pairs(cx, i, &components);
    Ok(Flow::Next)
}
