//! Pixels: IPA, PIXLD, KIL.
//!
//! Source: facts, `graphics.md`, sections 1.4 and 1.6.

use crate::container::Stage;
use crate::ir::{Extend, FloatAttrs, Round, Type, Value};
use crate::isa::divergence::{Mask, nonzero};
use crate::isa::maxwell::Instruction;
use crate::isa::maxwell::arrays::Array;
use crate::isa::maxwell::field::{IpaMode, IpaPlace, PixelMode};
use crate::isa::maxwell::shader::{ATTRIBUTE_WORDS, Interpolation};

use super::cc;
use super::context::{Cx, PT};
use super::flow::{Flow, Leave, Lifted, Unsupported};

/// Steps of an offset in a pixel.
const STEPS: f32 = 4096.0;

pub fn ipa(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let program = cx.shader_of(Stage::Fragment)?.program;
    let always = i.ps().index == PT && !i.ps().not;
    if !always || i.ipa_place() == IpaPlace::Reserved {
        return Err(Unsupported);
    }
    let indexed = i.bits(38, 1) != 0;
    let address = i.number() as u16;
    let constant =
        i.ipa_mode() == IpaMode::Constant || !indexed && program.header.input(address) == Interpolation::Constant;
    let of: fn(u16) -> Array = if constant { Array::Flat } else { Array::Attribute };
    let row = if indexed {
        let address = cx.raw(i.a());
        let address = cx.b.splat(address);
        let word = cx.bit_range(address, 2, ATTRIBUTE_WORDS.ilog2(), false);
        let array = cx.indexed(of(0), word);
        Some((array, Mask::Lanes(nonzero(&mut cx.b, array))))
    } else {
        let array = of(address / 4);
        let given = program.arrays.has(array);
        given.then(|| (cx.told(array.offset(), Type::I64), Mask::Always))
    };
    let number = cx.lane_number();
    let mut value = word(cx, row, number);
    let offset = match i.ipa_place() {
        _ if constant => None,
        IpaPlace::Offset => Some(cx.raw(i.c())),
        IpaPlace::Centroid => Some(cx.input(Array::Centroid)),
        IpaPlace::Center | IpaPlace::Reserved => None,
    };
    if let Some(offset) = offset {
        value = moved(cx, row, value, offset);
    }
    if matches!(i.ipa_mode(), IpaMode::Multiply | IpaMode::Sc) && !constant {
        let (factor, attrs) = (cx.f32(i.b()), saturating(i.sat()));
        let float = cx.cast(Type::F32, value);
        value = cx.b.fmul(attrs, float, factor);
    } else if i.sat() {
        // Adding -0 changes nothing.
        let (float, zero) = (cx.cast(Type::F32, value), cx.b.f32const(-0.0));
        value = cx.b.fadd(saturating(true), float, zero);
    }
    cx.set(i.d(), value);
    Ok(Flow::Next)
}

/// The word of a lane in a row that these lanes have; else 0.
fn word(cx: &mut Cx<'_>, row: Option<(Value, Mask)>, number: Value) -> Value {
    let Some((array, given)) = row else {
        let zero = cx.int(0);
        return cx.b.splat(zero);
    };
    let address = cx.element(array, number);
    let access = cx.word_at(address, given);
    cx.b.load_access(access, Extend::None)[0]
}

fn saturating(saturate: bool) -> FloatAttrs {
    FloatAttrs { saturate, ..FloatAttrs::IEEE }
}

/// A value at another place in the pixel: what is interpolated is linear on the screen, so that the quad's values say how it changes from
/// pixel to pixel.
fn moved(cx: &mut Cx<'_>, row: Option<(Value, Mask)>, value: Value, offset: Value) -> Value {
    let offset = cx.b.splat(offset);
    let number = cx.lane_number();
    let mut value = cx.cast(Type::F32, value);
    for (axis, bit) in [(0, 1), (1, 2)] {
        let steps = cx.bit_range(offset, 16 * axis, 16, true);
        let steps = cx.b.int_to_float(Type::F32, true, Round::Nearest, steps);
        let scale = cx.b.f32const(1.0 / STEPS);
        let distance = cx.b.fmul(FloatAttrs::IEEE, steps, scale);
        let (bit, others) = (cx.constant(Type::I64, bit), cx.constant(Type::I64, !bit));
        let (behind, before) = (cx.b.or(number, bit), cx.b.and(number, others));
        let [behind, before] = [behind, before].map(|number| {
            let word = word(cx, row, number);
            cx.cast(Type::F32, word)
        });
        let change = cx.b.fsub(FloatAttrs::IEEE, behind, before);
        value = cx.b.fma(FloatAttrs::IEEE, distance, change, value);
    }
    cx.cast(Type::I32, value)
}

pub fn pixld(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    cx.shader_of(Stage::Fragment)?;
    if i.pd() != PT {
        return Err(Unsupported);
    }
    let value = match i.pixel_mode() {
        PixelMode::CovMask => cx.input(Array::Samples),
        PixelMode::MyIndex => cx.input(Array::Sample),
        PixelMode::CentroidOffset => cx.input(Array::Centroid),
        // A pixel has one sample, at its centre.
        PixelMode::Offset => cx.int(0),
        PixelMode::None | PixelMode::Covered | PixelMode::Reserved0 | PixelMode::Reserved1 => return Err(Unsupported),
    };
    cx.set(i.d(), value);
    Ok(Flow::Next)
}

/// A pixel that is killed goes on as a helper. A lane of a compute kernel ends: it has no further effect either.
pub fn kil(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if cx.shader().is_err() {
        return Ok(Flow::Leave(Leave::Exit));
    }
    cx.shader_of(Stage::Fragment)?;
    let test = cc::test(cx, i.cc_test())?;
    let executing = Mask::Lanes(cx.executing());
    let lanes = cx.and(executing, test);
    cx.kill(lanes);
    Ok(Flow::Next)
}
