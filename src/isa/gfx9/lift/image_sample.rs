//! MIMG: samples of images.
//!
//! Sources: "Vega" Instruction Set Architecture, "Image sampler resource"; the sampler descriptors that Mesa makes; the Vulkan
//! specification, "Texel coordinate systems" and "Wrapping operation". What images there are says `image`.

use crate::ir::{FloatAttrs, FloatCc, FloatUnaryOp, IntCc, Round, SharedFn, Type, Value};
use crate::isa::gfx9::{Image, Instruction, Operand};

use super::context::Cx;
use super::image::{Descriptor, Level, chosen, fields, word_of};
use super::image_level::{Chosen, Form, Levels, Lod, Operands};
use super::vector_memory::{lifts, register};
use super::{Flow, Lifted, Unsupported};

const IEEE: FloatAttrs = FloatAttrs::IEEE;

/// What a sampler says, but for what concerns an axis alone. Conditions are all ones or 0.
struct Sampler {
    /// The first of its scalar registers.
    first: u8,
    /// Coordinates count texels.
    texels: Value,
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
        let border = first.wrapping_add(3);
        Sampler {
            first,
            texels: if unorm { cx.long(u64::MAX) } else { field_is(cx, first, 15, 1, &[1]) },
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

/// Where four texels are mixed.
#[derive(Clone, Copy)]
struct Bilinear {
    mask: Value,
    /// It is the same in all lanes.
    uniform: bool,
}

impl Bilinear {
    const LINEAR: [u32; 2] = [1, 3];

    /// A filter is for magnification, where the level of detail is at most 0, or for minification.
    fn new(cx: &mut Cx<'_>, sampler: &Sampler, lod: Option<Value>) -> Bilinear {
        let filters = sampler.first.wrapping_add(2);
        let magnified = field_is(cx, filters, 20, 2, &Self::LINEAR);
        let (a, b) = (cx.field(filters, 20, 2), cx.field(filters, 22, 2));
        let alike = cx.b.constant(a).is_some_and(|bits| cx.b.constant(b) == Some(bits));
        let Some(lod) = lod.filter(|_| !alike) else { return Bilinear { mask: magnified, uniform: true } };
        let minified = field_is(cx, filters, 22, 2, &Self::LINEAR);
        let zero = cx.b.f32const(0.0);
        let small = cx.b.fcmp(FloatCc::Gt, false, lod, zero);
        let (minified, others) = (cx.b.and(small, minified), cx.b.not(small));
        let magnified = cx.b.and(others, magnified);
        Bilinear { mask: cx.b.or(minified, magnified), uniform: false }
    }

    fn pick(self, cx: &mut Cx<'_>, linear: Value, nearest: Value) -> Value {
        if self.uniform {
            cx.b.uniform_select(self.mask, linear, nearest)
        } else {
            cx.b.select(self.mask, linear, nearest)
        }
    }
}

/// An axis from its coordinate, its number, and the image's size.
fn axis(cx: &mut Cx<'_>, sampler: &Sampler, bilinear: Bilinear, number: u32, x: Value, size: Value) -> Axis {
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
    let shift = bilinear.pick(cx, half, zero);
    let place = cx.b.fsub(IEEE, place, shift);
    let whole = floor(cx, place);
    let weight = cx.b.fsub(IEEE, place, whole);
    let first = cx.b.float_to_int(Type::I32, true, Round::Nearest, false, 0, whole);
    let one = cx.int(1);
    let second = cx.b.add(first, one);
    let mut exist = [bilinear.mask; 2];
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

/// How a sample is taken.
struct Taking<'a> {
    image: &'a Image,
    descriptor: &'a Descriptor,
    sampler: &'a Sampler,
    operands: &'a Operands,
    bilinear: Bilinear,
}

/// The operand's offset along an axis, as a part of the image's size or, if coordinates count texels, of a texel.
fn moved(cx: &mut Cx<'_>, taking: &Taking<'_>, axis: u32, x: Value, size: Value) -> Value {
    let Some(offset) = taking.operands.offset else { return x };
    let x = cx.cast(Type::F32, x);
    let bits = cx.shr(offset, 8 * axis);
    let texels = cx.low_bits(bits, 6, true);
    let texels = cx.b.int_to_float(Type::F32, true, Round::Nearest, texels);
    let size = cx.b.int_to_float(Type::F32, false, Round::Nearest, size);
    let part = cx.b.shared(SharedFn::Rcp, size);
    let part = cx.b.fmul(IEEE, texels, part);
    let distance = cx.b.select(taking.sampler.texels, texels, part);
    cx.b.fadd(IEEE, x, distance)
}

/// Whether the reference compares with a texel as the sampler says, as 1 or 0: bit 0 of its field is for less, 1 for equal, 2 for
/// greater.
fn compared(cx: &mut Cx<'_>, sampler: &Sampler, reference: Value, texel: Value) -> Value {
    let reference = cx.cast(Type::F32, reference);
    let mut holds = cx.long(0);
    for (bit, cc) in [FloatCc::Lt, FloatCc::Eq, FloatCc::Gt].into_iter().enumerate() {
        let asked = field_is(cx, sampler.first, 12 + bit as u32, 1, &[1]);
        let this = cx.b.fcmp(cc, false, reference, texel);
        let this = cx.b.and(this, asked);
        holds = cx.b.or(holds, this);
    }
    let (one, zero) = (cx.b.f32const(1.0), cx.b.f32const(0.0));
    cx.b.select(holds, one, zero)
}

/// The four texels at a place of a level, first row first, and the weights of the second column and row. `only`: the lanes that need them.
fn taps(cx: &mut Cx<'_>, taking: &Taking<'_>, level: &Level, only: Option<Value>) -> ([[Value; 4]; 4], [Value; 2]) {
    let Taking { descriptor, sampler, operands, bilinear, .. } = *taking;
    let [x, y, z] = operands.coordinates;
    // Of a cube a face's coordinates are from 1 to 2, and faces count eight for each cube.
    let (cube, zero, one) = (descriptor.is_cube(cx), cx.b.f32const(0.0), cx.b.f32const(1.0));
    let start = cx.b.uniform_select(cube, one, zero);
    let [x, y] = [x, y].map(|coordinate| {
        let coordinate = cx.cast(Type::F32, coordinate);
        cx.b.fsub(IEEE, coordinate, start)
    });
    let (x, y) = (moved(cx, taking, 0, x, level.width), moved(cx, taking, 1, y, level.height));
    let x = axis(cx, sampler, bilinear, 0, x, level.width);
    let y = axis(cx, sampler, bilinear, 1, y, level.height);
    // Layers are rounded and clamped.
    let number = cx.cast(Type::F32, z);
    let layer = cx.b.float_to_int(Type::I32, true, Round::Nearest, false, 0, number);
    let (none, two) = (cx.int(0), cx.int(2));
    let (unused, cubes) = (cx.b.uniform_select(cube, two, none), cx.shr(layer, 3));
    let unused = cx.b.mul(cubes, unused);
    let layer = cx.b.sub(layer, unused);
    let layer = descriptor.clamped_layer(cx, level, layer);
    let (volume, depth) = (descriptor.is_volume(cx), level.slices(cx));
    let z = moved(cx, taking, 2, z, depth);
    let nearest = Bilinear { mask: cx.long(0), uniform: true };
    let z = axis(cx, sampler, nearest, 2, z, depth);
    let layer = cx.b.select(volume, z.texels[0], layer);

    let (color, alpha) =
        (cx.b.uniform_select(sampler.white, one, zero), cx.b.uniform_select(sampler.opaque, one, zero));
    let all = cx.long(u64::MAX);
    let taps = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(row, column)| {
        let place = [x.texels[column], y.texels[row], layer];
        let (address, inside) = descriptor.place(cx, level, place);
        let exists = cx.b.and(x.exist[column], y.exist[row]);
        let needed = if (row, column) == (0, 0) { all } else { bilinear.mask };
        let read = cx.b.and(exists, inside);
        let read = cx.b.and(read, needed);
        let read = only.map_or(read, |only| cx.b.and(read, only));
        let texel = descriptor.texel.load(cx, read, |cx, word| word_of(cx, address, word));
        let tap = [0, 1, 2, 3].map(|i| {
            let tap = cx.cast(Type::F32, texel[i]);
            let border = if i == 3 { alpha } else { color };
            cx.b.select(exists, tap, border)
        });
        match operands.reference {
            Some(reference) => [compared(cx, sampler, reference, tap[0]); 4],
            None => tap,
        }
    });
    (taps, [x.weight, y.weight])
}

fn mix(cx: &mut Cx<'_>, a: Value, b: Value, weight: Value) -> Value {
    let difference = cx.b.fsub(IEEE, b, a);
    cx.b.fma(IEEE, difference, weight, a)
}

/// The components that the instruction asks for, at a place of a level.
fn at_level(cx: &mut Cx<'_>, taking: &Taking<'_>, level: &Level, only: Option<Value>) -> Vec<Value> {
    let (taps, [right, below]) = taps(cx, taking, level, only);
    let component = |i: usize| {
        let upper = mix(cx, taps[0][i], taps[1][i], right);
        let lower = mix(cx, taps[2][i], taps[3][i], right);
        let mixed = mix(cx, upper, lower, below);
        cx.b.select(taking.bilinear.mask, mixed, taps[0][i])
    };
    chosen(taking.image).into_iter().map(component).collect()
}

fn sample(cx: &mut Cx<'_>, i: &Instruction, form: Form) -> Lifted {
    let image = fields(i)?;
    let (first, dst) = (register(image.vaddr)?, register(image.vdata)?);
    let descriptor = Descriptor::new(cx, &image);
    let sampler = Sampler::new(cx, image.ssamp, image.unorm);
    let operands = Operands::read(cx, form, &descriptor, first);
    let filters = sampler.first.wrapping_add(2);
    let lod = level_of_detail(cx, &sampler, &descriptor, &operands, form);
    let bilinear = Bilinear::new(cx, &sampler, lod);
    let taking = Taking { image: &image, descriptor: &descriptor, sampler: &sampler, operands: &operands, bilinear };
    let components = match lod.filter(|_| !descriptor.has_one_level(cx)) {
        None => {
            let level = descriptor.level(cx, None);
            at_level(cx, &taking, &level, None)
        }
        Some(lod) => {
            let mip = cx.field(filters, 26, 2);
            let chosen = Chosen::new(cx, &descriptor, mip, lod);
            let [level, next] = chosen.levels.map(|number| descriptor.level(cx, Some(number)));
            let (level, next) =
                (at_level(cx, &taking, &level, None), at_level(cx, &taking, &next, Some(chosen.between)));
            let pairs = level.into_iter().zip(next);
            let mixed = pairs.map(|(level, next)| {
                let mixed = mix(cx, level, next, chosen.weight);
                cx.b.select(chosen.between, mixed, level)
            });
            mixed.collect()
        }
    };
    let components: Vec<Value> = components.into_iter().map(|component| cx.cast(Type::I32, component)).collect();
    descriptor.texel.write(cx, dst, &components, image.d16.then_some(false));
    Ok(Flow::Next)
}

/// None: it makes no difference, as the first level is read, and its filter is known.
fn level_of_detail(
    cx: &mut Cx<'_>,
    sampler: &Sampler,
    descriptor: &Descriptor,
    operands: &Operands,
    form: Form,
) -> Option<Value> {
    let filters = sampler.first.wrapping_add(2);
    let (magnified, minified) = (cx.field(filters, 20, 2), cx.field(filters, 22, 2));
    let alike = cx.b.constant(magnified).is_some_and(|bits| cx.b.constant(minified) == Some(bits));
    if form.lod == Lod::Zero || alike && descriptor.has_one_level(cx) {
        return None;
    }
    let levels = Levels { sampler: sampler.first, form, texels: sampler.texels };
    Some(levels.of(cx, descriptor, operands))
}

/// A component of the four texels that a linear filter takes, from the lower left one on against the clock.
fn gather(cx: &mut Cx<'_>, i: &Instruction, form: Form) -> Lifted {
    let image = fields(i)?;
    let (first, dst) = (register(image.vaddr)?, register(image.vdata)?);
    let descriptor = Descriptor::new(cx, &image);
    let sampler = Sampler::new(cx, image.ssamp, image.unorm);
    let operands = Operands::read(cx, form, &descriptor, first);
    let bilinear = Bilinear { mask: cx.long(u64::MAX), uniform: true };
    let taking = Taking { image: &image, descriptor: &descriptor, sampler: &sampler, operands: &operands, bilinear };
    let [component] = chosen(&image)[..] else { return Err(Unsupported) };
    let lod = level_of_detail(cx, &sampler, &descriptor, &operands, form);
    let number = lod.filter(|_| !descriptor.has_one_level(cx)).map(|lod| {
        let nearest = cx.int(1);
        Chosen::new(cx, &descriptor, nearest, lod).levels[0]
    });
    let level = descriptor.level(cx, number);
    let (taps, _) = taps(cx, &taking, &level, None);
    let values = [2, 3, 1, 0].map(|tap| cx.cast(Type::I32, taps[tap][component]));
    descriptor.texel.write(cx, dst, &values, image.d16.then_some(false));
    Ok(Flow::Next)
}

lifts! {
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample: sample(const { Form::named("") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_l: sample(const { Form::named("_l") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_lz: sample(const { Form::named("_lz") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_cl: sample(const { Form::named("_cl") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_d: sample(const { Form::named("_d") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_d_cl: sample(const { Form::named("_d_cl") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_b: sample(const { Form::named("_b") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_b_cl: sample(const { Form::named("_b_cl") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c: sample(const { Form::named("_c") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_cl: sample(const { Form::named("_c_cl") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_d: sample(const { Form::named("_c_d") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_d_cl: sample(const { Form::named("_c_d_cl") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_l: sample(const { Form::named("_c_l") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_b: sample(const { Form::named("_c_b") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_b_cl: sample(const { Form::named("_c_b_cl") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_lz: sample(const { Form::named("_c_lz") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_o: sample(const { Form::named("_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_cl_o: sample(const { Form::named("_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_d_o: sample(const { Form::named("_d_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_d_cl_o: sample(const { Form::named("_d_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_l_o: sample(const { Form::named("_l_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_b_o: sample(const { Form::named("_b_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_b_cl_o: sample(const { Form::named("_b_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_lz_o: sample(const { Form::named("_lz_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_o: sample(const { Form::named("_c_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_cl_o: sample(const { Form::named("_c_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_d_o: sample(const { Form::named("_c_d_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_d_cl_o: sample(const { Form::named("_c_d_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_l_o: sample(const { Form::named("_c_l_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_b_o: sample(const { Form::named("_c_b_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_b_cl_o: sample(const { Form::named("_c_b_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_lz_o: sample(const { Form::named("_c_lz_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_cd: sample(const { Form::named("_cd") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_cd_cl: sample(const { Form::named("_cd_cl") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_cd: sample(const { Form::named("_c_cd") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_cd_cl: sample(const { Form::named("_c_cd_cl") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_cd_o: sample(const { Form::named("_cd_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_cd_cl_o: sample(const { Form::named("_cd_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_cd_o: sample(const { Form::named("_c_cd_o") });
    /// Approximate: linear images of one sample; weights are not rounded; volumes are not filtered between planes.
    image_sample_c_cd_cl_o: sample(const { Form::named("_c_cd_cl_o") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4: gather(const { Form::named("") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_cl: gather(const { Form::named("_cl") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_l: gather(const { Form::named("_l") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_b: gather(const { Form::named("_b") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_b_cl: gather(const { Form::named("_b_cl") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_lz: gather(const { Form::named("_lz") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_c: gather(const { Form::named("_c") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_c_cl: gather(const { Form::named("_c_cl") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_c_l: gather(const { Form::named("_c_l") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_c_b: gather(const { Form::named("_c_b") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_c_b_cl: gather(const { Form::named("_c_b_cl") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_c_lz: gather(const { Form::named("_c_lz") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_o: gather(const { Form::named("_o") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_cl_o: gather(const { Form::named("_cl_o") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_l_o: gather(const { Form::named("_l_o") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_b_o: gather(const { Form::named("_b_o") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_b_cl_o: gather(const { Form::named("_b_cl_o") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_lz_o: gather(const { Form::named("_lz_o") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_c_o: gather(const { Form::named("_c_o") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_c_cl_o: gather(const { Form::named("_c_cl_o") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_c_l_o: gather(const { Form::named("_c_l_o") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_c_b_o: gather(const { Form::named("_c_b_o") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_c_b_cl_o: gather(const { Form::named("_c_b_cl_o") });
    /// Approximate: linear images of one sample; volumes are not filtered between planes.
    image_gather4_c_lz_o: gather(const { Form::named("_c_lz_o") });
}
