//! Requests of instructions to textures.
//!
//! Source: facts, `maxwell-surfaces.md`, sections 5 and 6. [`sample`](warploom_ir::image::sample)
//! defines the result for a coordinate.

use warploom_ir::image::sample::Operation;
use warploom_ir::image::{at, flag};
use warploom_ir::{FloatAttrs, FloatBinaryOp, LaneFault, Type, Value};

use super::{Lifter, Record, raise, record_address, sampler_address};
use crate::divergence::Mask;

/// The source of the level of detail.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The given level, or 0.
    Given,
    /// The neighbours' coordinates, plus the given bias.
    Neighbours,
    /// Neighbours with equal coordinates, plus the given bias.
    Flat,
    /// Gradients, plus the given bias.
    Gradients([[Value; 2]; 3]),
}

/// An image and a sampler.
#[derive(Clone, Copy)]
pub struct Texture {
    pub record: Record,
    image: Value,
    sampler: Value,
}

impl Texture {
    /// Builds a texture from the addresses of the image's record and the sampler's record.
    pub fn new(record: Record, image: Value, sampler: Value) -> Texture {
        Texture { record, image, sampler }
    }

    /// Returns the image of one handle with the sampler of another, or the same, handle. `known` is
    /// the image's record, if known.
    pub fn of<'a>(
        cx: &mut impl Lifter<'a>,
        known: Option<Record>,
        [image, sampler]: [Value; 2],
    ) -> Texture {
        let image = record_address(cx, image);
        let sampler = sampler_address(cx, sampler);
        Texture::new(known.unwrap_or(Record::At(image)), image, sampler)
    }
}

/// The request of an instruction to a texture. Missing values are 0; a missing y is the middle of a
/// line.
#[derive(Clone, Copy)]
pub struct Request {
    pub texture: Texture,
    pub coords: [Option<Value>; 3],
    pub layer: Option<Value>,
    pub level: Level,
    pub lod: Option<Value>,
    pub reference: Option<Value>,
    /// Offsets in texels.
    pub offset: [Option<Value>; 3],
    /// The lanes whose image does not allow this request.
    pub misfit: Mask,
}

impl Request {
    pub fn new(texture: Texture) -> Request {
        let (coords, layer, lod, reference, offset) = ([None; 3], None, None, None, [None; 3]);
        Request {
            texture,
            coords,
            layer,
            level: Level::Given,
            lod,
            reference,
            offset,
            misfit: Mask::Never,
        }
    }

    /// Emits the request. Returns the components, and the lanes that met a sparse page.
    pub fn ask<'a>(self, cx: &mut impl Lifter<'a>, operation: Operation) -> ([Value; 4], Value) {
        let unsupported = self.texture.record.has(cx, flag::UNSUPPORTED);
        let wrong = cx.either(unsupported, self.misfit);
        raise(cx, LaneFault::InvalidSurface, wrong);
        let zero = cx.number(0);
        let has_levels = operation == Operation::Level
            || self.texture.record.has(cx, flag::LEVELS) != Mask::Never;
        let gradients = match self.level {
            Level::Given => None,
            Level::Gradients(gradients) => Some(gradients),
            Level::Neighbours if has_levels => {
                Some(self.coords.map(|x| x.map_or([zero; 2], |x| neighbours(cx, x))))
            }
            Level::Flat if has_levels => Some([[zero; 2]; 3]),
            Level::Neighbours | Level::Flat => None,
        };
        let operation = match operation {
            Operation::Sample if gradients.is_some() => Operation::SampleGradients,
            other => other,
        };
        let [ox, oy, oz] = self.offset.map(|offset| offset.unwrap_or(zero));
        // A line is a plane of one row, and y is the middle of that row. Fetches take integer rows
        // and slices.
        let middle = if operation.fetches() { zero } else { cx.number(0.5f32.to_bits()) };
        let [x, y, z] = self.coords;
        let (x, y, z) = (x.unwrap_or(zero), y.unwrap_or(middle), z.unwrap_or(zero));
        let [gx, gy, gz] = gradients.unwrap_or([[zero; 2]; 3]);
        let [layer, lod, reference] =
            [self.layer, self.lod, self.reference].map(|value| value.unwrap_or(zero));
        let args =
            [x, y, z, layer, lod, reference, ox, oy, oz, gx[0], gy[0], gz[0], gx[1], gy[1], gz[1]];
        let descriptors = [self.texture.image, self.texture.sampler];
        cx.builder().sample(operation, self.reference.is_some(), descriptors, args)
    }
}

/// Returns a coordinate's differences from the quad's first lane to the lane beside it and to the
/// lane below it. A difference is 0 where one of its two lanes does not execute.
fn neighbours<'a>(cx: &mut impl Lifter<'a>, x: Value) -> [Value; 2] {
    let lane = cx.builder().lane_id();
    let quad = cx.number(!3);
    let quad = cx.builder().and(lane, quad);
    let executing = cx.executing();
    let executing = cx.builder().from_mask(executing);
    let first = of_quad(cx, x, quad, 0);
    [1, 2].map(|other| {
        let value = of_quad(cx, x, quad, other);
        let difference = cx.builder().fbinary(FloatBinaryOp::Sub, FloatAttrs::IEEE, value, first);
        let difference = cx.cast_to(Type::I32, difference);
        // A bit for each quad whose two lanes execute, spread over the quad.
        let count = cx.constant_of(Type::I64, other.into());
        let shifted = cx.builder().shr_u(executing, count);
        let both = cx.builder().and(executing, shifted);
        let firsts = cx.constant_of(Type::I64, 0x1111_1111_1111_1111);
        let quads = cx.builder().and(both, firsts);
        let lanes = cx.constant_of(Type::I64, 15);
        let lanes = cx.builder().mul(quads, lanes);
        let lanes = cx.builder().to_mask(lanes);
        let zero = cx.number(0);
        cx.builder().select(lanes, difference, zero)
    })
}

/// Returns the float of lane `lane` of the quad that begins at lane `quad`.
fn of_quad<'a>(cx: &mut impl Lifter<'a>, x: Value, quad: Value, lane: u32) -> Value {
    let number = cx.number(lane);
    let number = cx.builder().or(quad, number);
    let value = cx.builder().lane_gather(x, number);
    cx.cast_to(Type::F32, value)
}

/// Returns width, height, and depth or layers of a level; 0 where there is no image.
pub fn sizes<'a>(cx: &mut impl Lifter<'a>, record: &Record, level: Value) -> [Value; 3] {
    let one = cx.number(1);
    let volume = record.has(cx, flag::VOLUME);
    let present = record.has(cx, flag::PRESENT);
    [at::WIDTH, at::HEIGHT, at::DEPTH].map(|place| {
        let size = record.load(cx, place, Type::I32);
        let size = cx.builder().splat(size);
        let smaller = cx.builder().shr_u(size, level);
        let smaller = cx.builder().max_u(smaller, one);
        let scales = if place == at::DEPTH { volume } else { Mask::Always };
        let size = cx.choose(scales, smaller, size);
        let zero = cx.number(0);
        cx.choose(present, size, zero)
    })
}
