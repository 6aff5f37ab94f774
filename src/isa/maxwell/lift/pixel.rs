//! Pixels: IPA, PIXLD, KIL.
//!
//! Source: facts, `graphics.md`, sections 1.4 and 1.6.

use warploom_guest::divergence::{Mask, nonzero};
use warploom_guest::header::{ATTRIBUTE_WORDS, Interpolation, attribute};
use warploom_guest::shader::Stage;
use warploom_ir::{Extend, FloatAttrs, IntCc, Round, Type, Value};

use super::cc;
use super::context::{Cx, PT};
use super::flow::{Flow, Leave, Lifted, Unsupported};
use crate::Instruction;
use crate::arrays::Array;
use crate::field::{IpaMode, IpaPlace, PixelMode};

/// Steps of an offset per pixel.
const STEPS: f32 = 4096.0;

pub fn ipa(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let header = cx.shader_of(Stage::Fragment)?.program.header;
    let always = i.ps().index == PT && !i.ps().not;
    if !always || i.ipa_place() == IpaPlace::Reserved {
        return Err(Unsupported);
    }
    let indexed = i.bits(38, 1) != 0;
    let address = i.number() as u16;
    let constant = i.ipa_mode() == IpaMode::Constant
        || !indexed && header.input(address) == Interpolation::Constant;
    let word = if indexed {
        let address = cx.raw(i.a());
        let address = cx.b.splat(address);
        Word::Indexed(cx.bit_range(address, 2, ATTRIBUTE_WORDS.ilog2(), false))
    } else {
        Word::Known(address / 4)
    };
    let row = row(cx, word);
    let number = cx.lane_number();
    let mut value = match (row, word) {
        (None, Word::Known(word)) => cx.absent(word),
        _ => word_of(cx, row, number),
    };
    if constant {
        value = provoking(cx, word, value);
    }
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

/// An input word, by its number in attribute space.
#[derive(Clone, Copy)]
enum Word {
    Known(u16),
    Indexed(Value),
}

/// The address of a word's row, and the lanes that have the row.
type Row = Option<(Value, Mask)>;

fn row(cx: &mut Cx<'_>, word: Word) -> Row {
    match word {
        Word::Known(word) => {
            let array = Array::Attribute(word);
            cx.has(array).then(|| (cx.told(array.offset(), Type::I64), Mask::Always))
        }
        Word::Indexed(word) => {
            let array = cx.indexed(Array::Attribute(0), word);
            Some((array, Mask::Lanes(nonzero(&mut cx.b, array))))
        }
    }
}

/// Returns a lane's word in a row; 0 if there is none.
fn word_of(cx: &mut Cx<'_>, row: Row, number: Value) -> Value {
    let Some((array, given)) = row else {
        let zero = cx.int(0);
        return cx.b.splat(zero);
    };
    let address = cx.element(array, number);
    let access = cx.word_at(address, given);
    cx.b.load_access(access, Extend::None)[0]
}

/// Returns the provoking (first) vertex's word, where the table has the word; else `other`.
fn provoking(cx: &mut Cx<'_>, word: Word, other: Value) -> Value {
    const GENERIC: u16 = attribute::GENERIC / 4;
    let words = cx.shader.map_or(0, |shader| shader.program.vertex_words);
    if !cx.has(Array::Table) {
        return other;
    }
    let (offset, inside) = match word {
        Word::Known(word) if (GENERIC..GENERIC + words).contains(&word) => {
            (cx.int(4 * u32::from(word - GENERIC)), Mask::Always)
        }
        Word::Known(_) => return other,
        Word::Indexed(word) => {
            let (first, words) = (cx.int(GENERIC.into()), cx.int(words.into()));
            let word = cx.b.sub(word, first);
            let inside = Mask::Lanes(cx.b.icmp(IntCc::LtU, word, words));
            (cx.shl(word, 2), inside)
        }
    };
    let primitive = cx.input(Array::Primitive);
    let offset = cx.b.add(primitive, offset);
    let offset = cx.b.zero_extend(Type::I64, offset);
    let table = cx.told(Array::Table.offset(), Type::I64);
    let address = cx.b.add(table, offset);
    let access = cx.word_at(address, inside);
    let value = cx.b.load_access(access, Extend::None)[0];
    cx.select(inside, value, other)
}

fn saturating(saturate: bool) -> FloatAttrs {
    FloatAttrs { saturate, ..FloatAttrs::IEEE }
}

/// Returns a value at another place in the pixel. An interpolated value is linear on the screen, so
/// the quad's values give its change from pixel to pixel.
fn moved(cx: &mut Cx<'_>, row: Row, value: Value, offset: Value) -> Value {
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
            let word = word_of(cx, row, number);
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
        PixelMode::None | PixelMode::Covered | PixelMode::Reserved0 | PixelMode::Reserved1 => {
            return Err(Unsupported);
        }
    };
    cx.set(i.d(), value);
    Ok(Flow::Next)
}

/// Lifts KIL: a killed pixel goes on as a helper, while its quad has a pixel. A lane of a compute
/// kernel ends, which also leaves it without further effect.
pub fn kil(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if cx.shader().is_err() {
        return Ok(Flow::Leave(Leave::Exit));
    }
    cx.shader_of(Stage::Fragment)?;
    let test = cc::test(cx, i.cc_test())?;
    let executing = Mask::Lanes(cx.executing());
    let lanes = cx.and(executing, test);
    cx.kill(lanes);
    Ok(Flow::Kill)
}
