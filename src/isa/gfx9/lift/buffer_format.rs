//! MUBUF and MTBUF: buffers with conversion from and to the format of the descriptor or
//! instruction.
//!
//! Source: "Vega" Instruction Set Architecture, "Buffer data" and "MTBUF". A texel is in range as a
//! whole or not at all.

use warploom_ir::Value;
use warploom_ir::texel::TexelFormat;

use super::buffer::{BufferAddress, fields};
use super::context::Cx;
use super::texels::{BUFFER_FORMATS, Texel, bytes_of, look_up};
use super::vector_memory::{lifts, register};
use super::{Flow, Lifted};
use crate::{Encoding, Instruction};

/// The part of a texel that registers hold.
#[derive(Clone, Copy)]
struct Shape {
    components: usize,
    /// `Some` if the components are halves; `Some(true)` if the one component is in the upper half.
    half: Option<bool>,
}

const fn words(components: usize) -> Shape {
    Shape { components, half: None }
}

const fn halves(components: usize) -> Shape {
    Shape { components, half: Some(false) }
}

const HIGH: Shape = Shape { components: 1, half: Some(true) };

/// Returns the texel, its address and the lanes that have a texel in range.
fn place(
    cx: &mut Cx<'_>,
    i: &Instruction,
) -> Result<(Texel, BufferAddress, Value), super::Unsupported> {
    let buffer = fields(i)?;
    register(buffer.vdata)?;
    let place = BufferAddress::new(cx, &buffer, i.encoding());
    let texel = if i.encoding() == Encoding::Mtbuf {
        Texel::fixed(cx, BUFFER_FORMATS[usize::from(buffer.dfmt & 15)], buffer.nfmt)
    } else {
        let descriptor = place.format;
        let (kind, data) = (cx.shr(descriptor, 12), cx.shr(descriptor, 15));
        let kind = cx.and_bits(kind, 7);
        let widths = look_up(cx, data, &BUFFER_FORMATS.map(TexelFormat::widths_only));
        let bytes = look_up(cx, data, &BUFFER_FORMATS.map(bytes_of));
        Texel::of(cx, widths, kind, bytes, descriptor)
    };
    let size = texel.size(cx);
    let guard = place.guard_of(cx, size);
    Ok((texel, place, guard))
}

fn load(cx: &mut Cx<'_>, i: &Instruction, shape: Shape) -> Lifted {
    let (texel, place, guard) = place(cx, i)?;
    let components = texel.load(cx, guard, |cx, word| place.word(cx, word));
    texel.write(cx, register(i.buffer().vdata)?, &components[..shape.components], shape.half);
    Ok(Flow::Next)
}

fn store(cx: &mut Cx<'_>, i: &Instruction, shape: Shape) -> Lifted {
    let (texel, place, guard) = place(cx, i)?;
    let components = texel.read(cx, register(i.buffer().vdata)?, shape.components, shape.half);
    texel.store(cx, guard, components, |cx, word| place.word(cx, word));
    Ok(Flow::Next)
}

lifts! {
    buffer_load_format_x: load(words(1));
    buffer_load_format_xy: load(words(2));
    buffer_load_format_xyz: load(words(3));
    buffer_load_format_xyzw: load(words(4));
    buffer_load_format_d16_x: load(halves(1));
    buffer_load_format_d16_xy: load(halves(2));
    buffer_load_format_d16_xyz: load(halves(3));
    buffer_load_format_d16_xyzw: load(halves(4));
    buffer_load_format_d16_hi_x: load(HIGH);
    buffer_store_format_x: store(words(1));
    buffer_store_format_xy: store(words(2));
    buffer_store_format_xyz: store(words(3));
    buffer_store_format_xyzw: store(words(4));
    buffer_store_format_d16_x: store(halves(1));
    buffer_store_format_d16_xy: store(halves(2));
    buffer_store_format_d16_xyz: store(halves(3));
    buffer_store_format_d16_xyzw: store(halves(4));
    buffer_store_format_d16_hi_x: store(HIGH);
    tbuffer_load_format_x: load(words(1));
    tbuffer_load_format_xy: load(words(2));
    tbuffer_load_format_xyz: load(words(3));
    tbuffer_load_format_xyzw: load(words(4));
    tbuffer_load_format_d16_x: load(halves(1));
    tbuffer_load_format_d16_xy: load(halves(2));
    tbuffer_load_format_d16_xyz: load(halves(3));
    tbuffer_load_format_d16_xyzw: load(halves(4));
    tbuffer_store_format_x: store(words(1));
    tbuffer_store_format_xy: store(words(2));
    tbuffer_store_format_xyz: store(words(3));
    tbuffer_store_format_xyzw: store(words(4));
    tbuffer_store_format_d16_x: store(halves(1));
    tbuffer_store_format_d16_xy: store(halves(2));
    tbuffer_store_format_d16_xyz: store(halves(3));
    tbuffer_store_format_d16_xyzw: store(halves(4));
}
