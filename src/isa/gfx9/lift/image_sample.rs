//! MIMG: samples of images.
//!
//! Sources: "Vega" Instruction Set Architecture, "Image sampler resource"; the sampler descriptors that Mesa makes; the Vulkan
//! specification, "Texel coordinate systems" and "Wrapping operation". What images there are says `image`.

use crate::ir::{FloatAttrs, FloatCc, FloatUnaryOp, IntCc, Round, Type, Value};
use crate::isa::gfx9::{Instruction, Operand};

use super::context::Cx;
use super::image::{Descriptor, chosen, fields, word_of};
use super::vector_memory::{lifts, register};
use super::{Flow, Lifted};

const IEEE: FloatAttrs = FloatAttrs::IEEE;

/// What a sampler says, but for what concerns an axis alone. Conditions are all ones or 0.
struct Sampler {
    /// The first of its scalar registers.
    first: u8,
    /// Coordinates count texels.
    texels: Value,
    bilinear: Value,
    /// The border: white, and with an alpha of 1.
    white: Value,
    opaque: Value,
}

/// All ones if bits of a scalar register are one of these numbers.
fn field_is(cx: &mut Cx<'_>, register: u8, lo: u32, count: u32, of: &[u32]) -> Value {
    let field = cx.field(register, lo, count);
    let mut any = cx.long(0);
    for &number in of {
        let number = cx.int(number);
        let this = cx.b.icmp(IntCc::Eq, field, number);
        any = cx.b.or(any, this);
    }
    any
}

impl Sampler {
    fn new(cx: &mut Cx<'_>, first: Operand, unorm: bool) -> Sampler {
        let first = if let Operand::Scalar(number) = first { number } else { 0 };
        let (filters, border) = (first.wrapping_add(2), first.wrapping_add(3));
        Sampler {
            first,
            texels: if unorm { cx.long(u64::MAX) } else { field_is(cx, first, 15, 1, &[1]) },
            bilinear: field_is(cx, filters, 20, 2, &[1, 3]),
            white: field_is(cx, border, 30, 2, &[2]),
            opaque: field_is(cx, border, 30, 2, &[1, 2]),
        }
    }
}

/// The two texels of an axis, the weight of the second, and the lanes for which each exists.
struct Axis {
    texels: [Value; 2],
    exist: [Value; 2],
    weight: Value,
}

fn floor(cx: &mut Cx<'_>, x: Value) -> Value {
    cx.b.funary(FloatUnaryOp::Integral, FloatAttrs { round: Round::Down, ..IEEE }, x)
}

/// An axis from its coordinate, its number, and the image's size.
fn axis(cx: &mut Cx<'_>, sampler: &Sampler, number: u32, x: Value, size: Value) -> Axis {
    let mode = |cx: &mut Cx<'_>, of: &[u32]| field_is(cx, sampler.first, 3 * number, 3, of);
    let (wraps, mirrors, once) = (mode(cx, &[0]), mode(cx, &[1]), mode(cx, &[3, 5, 7]));
    let border = mode(cx, &[4, 5, 6, 7]);
    let x = cx.cast(Type::F32, x);

    // Into the image, by the mode; in texels only mirrored once.
    let whole = floor(cx, x);
    let fraction = cx.b.fsub(IEEE, x, whole);
    let (half, one, two) = (cx.b.f32const(0.5), cx.b.f32const(1.0), cx.b.f32const(2.0));
    let pairs = cx.b.fmul(IEEE, x, half);
    let pairs = floor(cx, pairs);
    let pairs = cx.b.fmul(IEEE, pairs, two);
    let within = cx.b.fsub(IEEE, x, pairs);
    let back = cx.b.fsub(IEEE, two, within);
    let returns = cx.b.fcmp(FloatCc::Gt, false, within, one);
    let mirrored = cx.b.select(returns, back, within);
    let positive = cx.b.fabs(x);
    let place = cx.b.select(mirrors, mirrored, x);
    let place = cx.b.select(wraps, fraction, place);
    let count = cx.b.int_to_float(Type::F32, false, Round::Nearest, size);
    let place = cx.b.fmul(IEEE, place, count);
    let place = cx.b.select(sampler.texels, x, place);
    let scaled = cx.b.fmul(IEEE, positive, count);
    let scaled = cx.b.select(sampler.texels, positive, scaled);
    let place = cx.b.select(once, scaled, place);

    let zero = cx.b.f32const(0.0);
    let shift = cx.b.uniform_select(sampler.bilinear, half, zero);
    let place = cx.b.fsub(IEEE, place, shift);
    let whole = floor(cx, place);
    let weight = cx.b.fsub(IEEE, place, whole);
    let first = cx.b.float_to_int(Type::I32, true, Round::Nearest, false, 0, whole);
    let one = cx.int(1);
    let second = cx.b.add(first, one);
    let mut exist = [sampler.bilinear; 2];
    let mut texels = [first, second];
    for (texel, exist) in texels.iter_mut().zip(&mut exist) {
        let inside = cx.b.icmp(IntCc::LtU, *texel, size);
        let clamps = cx.b.not(border);
        *exist = cx.b.or(inside, clamps);
        // One off either end comes back at the other one.
        let zero = cx.int(0);
        let (under, over) = (cx.b.icmp(IntCc::LtS, *texel, zero), cx.b.icmp(IntCc::GeS, *texel, size));
        let (more, less) = (cx.b.add(*texel, size), cx.b.sub(*texel, size));
        let wrapped = cx.b.select(over, less, *texel);
        let wrapped = cx.b.select(under, more, wrapped);
        let texel_or_wrapped = cx.b.select(wraps, wrapped, *texel);
        let last = cx.b.sub(size, one);
        let clamped = cx.b.min_s(texel_or_wrapped, last);
        *texel = cx.b.max_s(clamped, zero);
    }
    Axis { texels, exist, weight }
}

fn sample(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let image = fields(i)?;
    let (first, dst) = (register(image.vaddr)?, register(image.vdata)?);
    let descriptor = Descriptor::new(cx, &image);
    let sampler = Sampler::new(cx, image.ssamp, image.unorm);
    let given = std::array::from_fn(|i| cx.vector(first.wrapping_add(i as u8)));
    let [x, y, z] = descriptor.coordinates(cx, given);
    let (x, y) = (axis(cx, &sampler, 0, x, descriptor.width), axis(cx, &sampler, 1, y, descriptor.height));
    // Layers are rounded and clamped.
    let z = cx.cast(Type::F32, z);
    let z = cx.b.float_to_int(Type::I32, true, Round::Nearest, false, 0, z);
    let z = descriptor.clamped_layer(cx, z);

    let (zero, one) = (cx.b.f32const(0.0), cx.b.f32const(1.0));
    let (color, alpha) =
        (cx.b.uniform_select(sampler.white, one, zero), cx.b.uniform_select(sampler.opaque, one, zero));
    let all = cx.long(u64::MAX);
    let mut taps = Vec::new();
    for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let place = [x.texels[column], y.texels[row], z];
        let (address, inside) = descriptor.place(cx, place);
        let exists = cx.b.and(x.exist[column], y.exist[row]);
        let needed = if (row, column) == (0, 0) { all } else { sampler.bilinear };
        let read = cx.b.and(exists, inside);
        let read = cx.b.and(read, needed);
        let texel = descriptor.texel.load(cx, read, |cx, word| word_of(cx, address, word));
        taps.push([0, 1, 2, 3].map(|i| {
            let tap = cx.cast(Type::F32, texel[i]);
            let border = if i == 3 { alpha } else { color };
            cx.b.select(exists, tap, border)
        }));
    }
    let mut components = Vec::new();
    for i in chosen(&image) {
        let mix = |cx: &mut Cx<'_>, a: Value, b: Value, weight: Value| {
            let difference = cx.b.fsub(IEEE, b, a);
            cx.b.fma(IEEE, difference, weight, a)
        };
        let upper = mix(cx, taps[0][i], taps[1][i], x.weight);
        let lower = mix(cx, taps[2][i], taps[3][i], x.weight);
        let mixed = mix(cx, upper, lower, y.weight);
        let value = cx.b.select(sampler.bilinear, mixed, taps[0][i]);
        components.push(cx.cast(Type::I32, value));
    }
    descriptor.texel.write(cx, dst, &components, image.d16.then_some(false));
    Ok(Flow::Next)
}

lifts! {
    /// Approximate: linear images of one level and sample; weights are not rounded; volumes are not filtered between planes.
    image_sample: sample();
    /// Approximate: linear images of one level and sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_l: sample();
    /// Approximate: linear images of one level and sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_lz: sample();
}
