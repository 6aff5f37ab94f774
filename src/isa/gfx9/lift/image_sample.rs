//! MIMG: samples of images.
//!
//! Sources: "Vega" Instruction Set Architecture, "Image sampler resource"; the sampler descriptors
//! that Mesa makes; the Vulkan specification, "Texel coordinate systems" and "Wrapping operation".
//! `image` says which images are supported.

use warploom_ir::{FloatAttrs, FloatCc, IntCc, Type, Value};

use super::context::Cx;
use super::image::{Descriptor, Level, chosen, fields};
use super::image_level::{Chosen, Form, Levels, Lod, Operands};
use super::image_taps::{Taps, taps};
use super::vector_memory::{lifts, register};
use super::{Flow, Lifted, Unsupported};
use crate::{Image, Instruction, Operand};

const IEEE: FloatAttrs = FloatAttrs::IEEE;

/// The fields of a sampler, except fields of a single axis. Conditions are all lanes or none.
pub(super) struct Sampler {
    /// The number of the sampler's first scalar register.
    pub first: u8,
    /// All lanes if coordinates count texels, else none.
    pub texels: Value,
    /// The border: whether it is white, and whether its alpha is 1.
    pub white: Value,
    pub opaque: Value,
}

/// Returns all lanes if bits of a scalar register are one of these numbers, else none.
pub(super) fn field_is(cx: &mut Cx<'_>, register: u8, lo: u32, count: u32, of: &[u32]) -> Value {
    let field = cx.field(register, lo, count);
    let mut any = cx.lanes(0);
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
            texels: if unorm { cx.lanes(u64::MAX) } else { field_is(cx, first, 15, 1, &[1]) },
            white: field_is(cx, border, 30, 2, &[2]),
            opaque: field_is(cx, border, 30, 2, &[1, 2]),
        }
    }
}

/// The lanes that mix four texels.
#[derive(Clone, Copy)]
pub(super) struct Bilinear {
    pub mask: Value,
    /// True if the mask is equal in all lanes.
    pub uniform: bool,
}

impl Bilinear {
    const LINEAR: [u32; 2] = [1, 3];

    /// Returns the lanes with a linear filter.
    ///
    /// One filter is for magnification, where the level of detail is at most 0; the other filter is
    /// for minification.
    fn new(cx: &mut Cx<'_>, sampler: &Sampler, lod: Option<Value>) -> Bilinear {
        let filters = sampler.first.wrapping_add(2);
        let magnified = field_is(cx, filters, 20, 2, &Self::LINEAR);
        let (a, b) = (cx.field(filters, 20, 2), cx.field(filters, 22, 2));
        let alike = cx.b.constant(a).is_some_and(|bits| cx.b.constant(b) == Some(bits));
        let Some(lod) = lod.filter(|_| !alike) else {
            return Bilinear { mask: magnified, uniform: true };
        };
        let minified = field_is(cx, filters, 22, 2, &Self::LINEAR);
        let zero = cx.b.f32const(0.0);
        let small = cx.b.fcmp(FloatCc::Gt, false, lod, zero);
        let (minified, others) = (cx.b.and(small, minified), cx.b.not(small));
        let magnified = cx.b.and(others, magnified);
        Bilinear { mask: cx.b.or(minified, magnified), uniform: false }
    }

    pub fn pick(self, cx: &mut Cx<'_>, linear: Value, nearest: Value) -> Value {
        if self.uniform {
            cx.b.uniform_select(self.mask, linear, nearest)
        } else {
            cx.b.select(self.mask, linear, nearest)
        }
    }
}

/// The inputs of a sample.
pub(super) struct Taking<'a> {
    image: &'a Image,
    pub descriptor: &'a Descriptor,
    pub sampler: &'a Sampler,
    pub operands: &'a Operands,
    pub bilinear: Bilinear,
}

fn mix(cx: &mut Cx<'_>, a: Value, b: Value, weight: Value) -> Value {
    let difference = cx.b.fsub(IEEE, b, a);
    cx.b.fma(IEEE, difference, weight, a)
}

/// Returns the components that the instruction asks for, at a place of a level.
fn at_level(
    cx: &mut Cx<'_>,
    taking: &Taking<'_>,
    level: &Level,
    only: Option<Value>,
) -> Vec<Value> {
    let Taps { planes, weights: [right, below, behind], deep } = taps(cx, taking, level, only);
    let component = |i: usize| {
        let planes = planes.iter().map(|taps| {
            let upper = mix(cx, taps[0][i], taps[1][i], right);
            let lower = mix(cx, taps[2][i], taps[3][i], right);
            let mixed = mix(cx, upper, lower, below);
            cx.b.select(taking.bilinear.mask, mixed, taps[0][i])
        });
        let planes: Vec<Value> = planes.collect();
        let &[front, back] = &planes[..] else { return planes[0] };
        let mixed = mix(cx, front, back, behind);
        cx.b.select(deep, mixed, front)
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
    let taking = Taking {
        image: &image,
        descriptor: &descriptor,
        sampler: &sampler,
        operands: &operands,
        bilinear,
    };
    let components = match lod.filter(|_| !descriptor.has_one_level(cx)) {
        None => {
            let level = descriptor.level(cx, None);
            at_level(cx, &taking, &level, None)
        }
        Some(lod) => {
            let mip = cx.field(filters, 26, 2);
            let chosen = Chosen::new(cx, &descriptor, mip, lod);
            let [level, next] = chosen.levels.map(|number| descriptor.level(cx, Some(number)));
            let (level, next) = (
                at_level(cx, &taking, &level, None),
                at_level(cx, &taking, &next, Some(chosen.between)),
            );
            let pairs = level.into_iter().zip(next);
            let mixed = pairs.map(|(level, next)| {
                let mixed = mix(cx, level, next, chosen.weight);
                cx.b.select(chosen.between, mixed, level)
            });
            mixed.collect()
        }
    };
    let components: Vec<Value> =
        components.into_iter().map(|component| cx.cast(Type::I32, component)).collect();
    descriptor.texel.write(cx, dst, &components, image.d16.then_some(false));
    Ok(Flow::Next)
}

/// Returns the level of detail.
///
/// `None` if it makes no difference: the first level is read, and its filter is known.
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

/// Emits a component of the four texels of a linear filter, counterclockwise from the lower left.
fn gather(cx: &mut Cx<'_>, i: &Instruction, form: Form) -> Lifted {
    let image = fields(i)?;
    let (first, dst) = (register(image.vaddr)?, register(image.vdata)?);
    let descriptor = Descriptor::new(cx, &image);
    let sampler = Sampler::new(cx, image.ssamp, image.unorm);
    let operands = Operands::read(cx, form, &descriptor, first);
    let bilinear = Bilinear { mask: cx.lanes(u64::MAX), uniform: true };
    let taking = Taking {
        image: &image,
        descriptor: &descriptor,
        sampler: &sampler,
        operands: &operands,
        bilinear,
    };
    let [component] = chosen(&image)[..] else { return Err(Unsupported) };
    let lod = level_of_detail(cx, &sampler, &descriptor, &operands, form);
    let number = lod.filter(|_| !descriptor.has_one_level(cx)).map(|lod| {
        let nearest = cx.int(1);
        Chosen::new(cx, &descriptor, nearest, lod).levels[0]
    });
    let level = descriptor.level(cx, number);
    let taps = taps(cx, &taking, &level, None).planes[0];
    let values = [2, 3, 1, 0].map(|tap| cx.cast(Type::I32, taps[tap][component]));
    descriptor.texel.write(cx, dst, &values, image.d16.then_some(false));
    Ok(Flow::Next)
}

lifts! {
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample: sample(const { Form::named("") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_l: sample(const { Form::named("_l") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_lz: sample(const { Form::named("_lz") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_cl: sample(const { Form::named("_cl") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_d: sample(const { Form::named("_d") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_d_cl: sample(const { Form::named("_d_cl") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_b: sample(const { Form::named("_b") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_b_cl: sample(const { Form::named("_b_cl") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c: sample(const { Form::named("_c") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_cl: sample(const { Form::named("_c_cl") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_d: sample(const { Form::named("_c_d") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_d_cl: sample(const { Form::named("_c_d_cl") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_l: sample(const { Form::named("_c_l") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_b: sample(const { Form::named("_c_b") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_b_cl: sample(const { Form::named("_c_b_cl") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_lz: sample(const { Form::named("_c_lz") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_o: sample(const { Form::named("_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_cl_o: sample(const { Form::named("_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_d_o: sample(const { Form::named("_d_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_d_cl_o: sample(const { Form::named("_d_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_l_o: sample(const { Form::named("_l_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_b_o: sample(const { Form::named("_b_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_b_cl_o: sample(const { Form::named("_b_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_lz_o: sample(const { Form::named("_lz_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_o: sample(const { Form::named("_c_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_cl_o: sample(const { Form::named("_c_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_d_o: sample(const { Form::named("_c_d_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_d_cl_o: sample(const { Form::named("_c_d_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_l_o: sample(const { Form::named("_c_l_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_b_o: sample(const { Form::named("_c_b_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_b_cl_o: sample(const { Form::named("_c_b_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_lz_o: sample(const { Form::named("_c_lz_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_cd: sample(const { Form::named("_cd") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_cd_cl: sample(const { Form::named("_cd_cl") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_cd: sample(const { Form::named("_c_cd") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_cd_cl: sample(const { Form::named("_c_cd_cl") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_cd_o: sample(const { Form::named("_cd_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_cd_cl_o: sample(const { Form::named("_cd_cl_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_cd_o: sample(const { Form::named("_c_cd_o") });
    /// Approximate: linear images of one sample; weights are not rounded.
    image_sample_c_cd_cl_o: sample(const { Form::named("_c_cd_cl_o") });
    /// Approximate: linear images of one sample.
    image_gather4: gather(const { Form::named("") });
    /// Approximate: linear images of one sample.
    image_gather4_cl: gather(const { Form::named("_cl") });
    /// Approximate: linear images of one sample.
    image_gather4_l: gather(const { Form::named("_l") });
    /// Approximate: linear images of one sample.
    image_gather4_b: gather(const { Form::named("_b") });
    /// Approximate: linear images of one sample.
    image_gather4_b_cl: gather(const { Form::named("_b_cl") });
    /// Approximate: linear images of one sample.
    image_gather4_lz: gather(const { Form::named("_lz") });
    /// Approximate: linear images of one sample.
    image_gather4_c: gather(const { Form::named("_c") });
    /// Approximate: linear images of one sample.
    image_gather4_c_cl: gather(const { Form::named("_c_cl") });
    /// Approximate: linear images of one sample.
    image_gather4_c_l: gather(const { Form::named("_c_l") });
    /// Approximate: linear images of one sample.
    image_gather4_c_b: gather(const { Form::named("_c_b") });
    /// Approximate: linear images of one sample.
    image_gather4_c_b_cl: gather(const { Form::named("_c_b_cl") });
    /// Approximate: linear images of one sample.
    image_gather4_c_lz: gather(const { Form::named("_c_lz") });
    /// Approximate: linear images of one sample.
    image_gather4_o: gather(const { Form::named("_o") });
    /// Approximate: linear images of one sample.
    image_gather4_cl_o: gather(const { Form::named("_cl_o") });
    /// Approximate: linear images of one sample.
    image_gather4_l_o: gather(const { Form::named("_l_o") });
    /// Approximate: linear images of one sample.
    image_gather4_b_o: gather(const { Form::named("_b_o") });
    /// Approximate: linear images of one sample.
    image_gather4_b_cl_o: gather(const { Form::named("_b_cl_o") });
    /// Approximate: linear images of one sample.
    image_gather4_lz_o: gather(const { Form::named("_lz_o") });
    /// Approximate: linear images of one sample.
    image_gather4_c_o: gather(const { Form::named("_c_o") });
    /// Approximate: linear images of one sample.
    image_gather4_c_cl_o: gather(const { Form::named("_c_cl_o") });
    /// Approximate: linear images of one sample.
    image_gather4_c_l_o: gather(const { Form::named("_c_l_o") });
    /// Approximate: linear images of one sample.
    image_gather4_c_b_o: gather(const { Form::named("_c_b_o") });
    /// Approximate: linear images of one sample.
    image_gather4_c_b_cl_o: gather(const { Form::named("_c_b_cl_o") });
    /// Approximate: linear images of one sample.
    image_gather4_c_lz_o: gather(const { Form::named("_c_lz_o") });
}
