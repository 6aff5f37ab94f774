//! Textures: TEX, TEXS, TLD, TLDS, TLD4, TLD4S, TXD, TXQ, TMML.
//!
//! Source: facts, `maxwell-surfaces.md`, sections 5 and 6; the order of operands as in Mesa's and
//! Ryujinx's compilers, and ptxas. [`sample`](warploom_ir::image::sample) defines the result for a
//! coordinate.

use warploom_guest::images::Record;
use warploom_guest::images::texture::{Level, Texture, sizes};
use warploom_guest::shader::Stage;
use warploom_ir::image::sample::Operation;
use warploom_ir::{Type, Value};
use warploom_sass::lift::texture::{Dim, NARROW, Request, Vector, WIDE, write_pairs};

use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use crate::Instruction;
use crate::field::{
    FetchLod, Field, GatherOffsets, MaskPair, MaskSingle, TexelFormat, TextureDim, TextureLod,
    TextureQuery,
};

fn dim_of(dim: TextureDim) -> Result<Dim, Unsupported> {
    Ok(match dim {
        TextureDim::D1 => Dim::D1,
        TextureDim::ArrayD1 => Dim::ARRAY_D1,
        TextureDim::D2 => Dim::D2,
        TextureDim::ArrayD2 => Dim::ARRAY_D2,
        TextureDim::D3 => Dim::D3,
        TextureDim::Cube => Dim::CUBE,
        TextureDim::ArrayCube => Dim::ARRAY_CUBE,
        TextureDim::ArrayD3 => return Err(Unsupported),
    })
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

/// Returns the source of the level of an instruction without a level: neighbours, for pixels and
/// where the code says that quads are whole. Elsewhere differences are 0.
fn automatic(cx: &Cx<'_>, i: &Instruction) -> Level {
    let has_neighbours = i.ndv() || cx.shader_of(Stage::Fragment).is_ok();
    if has_neighbours { Level::Neighbours } else { Level::Flat }
}

pub fn tex(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = dim_of(i.texture_dim())?;
    if i.lod_bound() {
        return Err(Unsupported);
    }
    let (mut a, mut b) = (Vector::of(i.a())?, Vector::of(i.b())?);
    let texture = named_texture(cx, i, &mut b)?;
    let mut request = Request::new(texture, dim);
    request.place(cx, |cx| a.take(cx));
    request.asked.level = match i.texture_lod() {
        TextureLod::Lz | TextureLod::Ll => Level::Given,
        TextureLod::Auto | TextureLod::Lb => automatic(cx, i),
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
    let components = request.ask(cx, i.pd(), Operation::Sample);
    write(cx, i, components)
}

pub fn tld(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = dim_of(i.texture_dim())?;
    if i.multisample() {
        return Err(Unsupported);
    }
    let operation = if i.coordinate_clamp() { Operation::FetchNearest } else { Operation::Fetch };
    let (mut a, mut b) = (Vector::of(i.a())?, Vector::of(i.b())?);
    let texture = named_texture(cx, i, &mut b)?;
    let mut request = Request::new(texture, dim);
    request.place(cx, |cx| a.take(cx));
    if i.fetch_lod() == FetchLod::Ll {
        request.asked.lod = Some(b.take(cx));
    }
    if i.offsets() {
        let packed = b.take(cx);
        request.set_offset(cx, packed, NARROW);
    }
    let components = request.ask(cx, i.pd(), operation);
    write(cx, i, components)
}

pub fn tld4(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = dim_of(i.texture_dim())?;
    let offsets = i.gather_offsets();
    if matches!(offsets, GatherOffsets::Ptp | GatherOffsets::Reserved) {
        return Err(Unsupported);
    }
    let (mut a, mut b) = (Vector::of(i.a())?, Vector::of(i.b())?);
    let texture = named_texture(cx, i, &mut b)?;
    let mut request = Request::new(texture, dim);
    request.place(cx, |cx| a.take(cx));
    if offsets == GatherOffsets::Aoffi {
        let packed = b.take(cx);
        request.set_offset(cx, packed, WIDE);
    }
    if i.depth_compare() {
        request.asked.reference = Some(b.take(cx));
    }
    let component = i.gather_component() as u8;
    let components = request.ask(cx, i.pd(), Operation::Gather { component });
    write(cx, i, components)
}

/// Lifts TXD: B holds the derivatives along x and y of each coordinate in turn.
pub fn txd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = dim_of(i.texture_dim())?;
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
        let packed = a.take(cx);
        request.set_packed(cx, packed, i.offsets());
    }
    request.gradients(cx, |cx| b.take(cx));
    let components = request.ask(cx, i.pd(), Operation::Sample);
    write(cx, i, components)
}

/// Lifts TMML: the level of detail that neighbours' coordinates give.
pub fn tmml(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = dim_of(i.texture_dim())?;
    let mut a = Vector::of(i.a())?;
    let mut handle = Vector::of(if is_bindless(i) { i.b() } else { i.a() })?;
    let texture = named_texture(cx, i, &mut handle)?;
    let mut request = Request::new(texture, dim);
    request.place(cx, |cx| a.take(cx));
    request.asked.level = automatic(cx, i);
    let components = request.ask(cx, i.pd(), Operation::Level);
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
    let sizes = sizes(cx, &texture.record, level);
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
    write_pairs(cx, [i.d(), i.e()], &chosen);
    Ok(Flow::Next)
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
    request.place(cx, |cx| {
        taken += 1;
        if taken <= in_a { a.take(cx) } else { b.take(cx) }
    });
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
        request.asked.level = automatic(cx, i);
    }
    if level {
        request.asked.lod = Some(b.take(cx));
    }
    if compare {
        request.asked.reference = Some(b.take(cx));
    }
    let components = request.ask(cx, i.pd(), Operation::Sample);
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
    let components = request.ask(cx, i.pd(), Operation::Fetch);
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
    let components = request.ask(cx, i.pd(), Operation::Gather { component });
    write_pairs(cx, [i.d(), i.e()], &components);
    Ok(Flow::Next)
}
