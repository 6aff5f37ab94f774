//! Accesses of texels by their format.
//!
//! Source: facts, `maxwell-surfaces.md`, section 4.4. [`texel`](warploom_ir::texel) converts
//! texels.

use warploom_ir::image::{Source, at, flag};
use warploom_ir::{Access, Extend, Type, Value, Values};

use super::place::SurfaceAccess;
use super::{Lifter, Record};
use crate::divergence::Mask;

const COMPONENTS: [Source; 4] = [Source::R, Source::G, Source::B, Source::A];

/// A texel in memory: elements of a type, and how an element becomes 32 bits.
#[derive(Clone, Copy)]
pub struct Elements {
    pub ty: Type,
    pub count: u8,
    pub extend: Extend,
}

impl Elements {
    pub const U8: Elements = Elements { ty: Type::I8, count: 1, extend: Extend::Unsigned };
    pub const S8: Elements = Elements { ty: Type::I8, count: 1, extend: Extend::Signed };
    pub const U16: Elements = Elements { ty: Type::I16, count: 1, extend: Extend::Unsigned };
    pub const S16: Elements = Elements { ty: Type::I16, count: 1, extend: Extend::Signed };

    pub const fn words(count: u8) -> Elements {
        Elements { ty: Type::I32, count, extend: Extend::None }
    }

    pub fn bytes(self) -> u32 {
        self.ty.bytes() * u32::from(self.count)
    }
}

/// Returns the lanes whose texels have 2^log bytes.
pub fn texels_of<'a>(cx: &mut impl Lifter<'a>, record: &Record, log: u32) -> Mask {
    record.field_is(cx, at::TEXEL_SHIFT, (0, 32), log)
}

/// Returns the memory elements of each texel size, with the lanes whose texels have that size.
pub fn texel_elements<'a>(cx: &mut impl Lifter<'a>, record: &Record) -> Vec<(Elements, Mask)> {
    let sizes =
        [Elements::U8, Elements::U16, Elements::words(1), Elements::words(2), Elements::words(4)];
    let with = |(log, elements): (u32, Elements)| (elements, texels_of(cx, record, log));
    (0..).zip(sizes).map(with).filter(|&(_, lanes)| lanes != Mask::Never).collect()
}

/// Returns the number 1 in the component type of the image's format.
fn one<'a>(cx: &mut impl Lifter<'a>, record: &Record) -> Value {
    let integers = record.has(cx, flag::INTEGERS);
    let (integer, float) = (cx.number(1), cx.number(1f32.to_bits()));
    cx.choose(integers, integer, float)
}

/// Returns the alpha of a texel. If the format lacks alpha, it is 1, even outside of the image.
pub fn alpha<'a>(cx: &mut impl Lifter<'a>, record: &Record, found: Value) -> Value {
    let one = one(cx, record);
    let one = cx.builder().splat(one);
    let lacks = comes_from(cx, record, 3, Source::One);
    cx.choose(lacks, one, found)
}

/// Returns the lanes in which red, green, blue or alpha (`output`) comes from `from`: a component
/// or a number.
fn comes_from<'a>(cx: &mut impl Lifter<'a>, record: &Record, output: usize, from: Source) -> Mask {
    record.field_is(cx, at::SOURCES, (4 * output as u32, 4), from as u32)
}

/// Selects red, green, blue or alpha from a texel's components and the number `one`; else 0.
pub fn output<'a>(
    cx: &mut impl Lifter<'a>,
    record: &Record,
    output: usize,
    texel: [Value; 4],
    one: Value,
    zero: Value,
) -> Value {
    let mut value = zero;
    for (from, component) in COMPONENTS.into_iter().zip(texel).chain([(Source::One, one)]) {
        let lanes = comes_from(cx, record, output, from);
        value = cx.choose(lanes, component, value);
    }
    value
}

/// Loads texels and returns red, green, blue and alpha of each by its format, 32 bits each. Outside
/// the image a texel reads as zeros, but outputs that the format lacks keep their constants. `load`
/// loads some elements.
pub fn load<'a, C: Lifter<'a>>(
    cx: &mut C,
    place: &SurfaceAccess,
    mut load: impl FnMut(&mut C, Access, Extend) -> Values,
) -> [Value; 4] {
    let zero = cx.number(0);
    let zero = cx.builder().splat(zero);
    let mut words = [zero; 4];
    for (elements, lanes) in texel_elements(cx, &place.record) {
        let access = place.access(cx, elements.ty, elements.count, lanes);
        let values = load(cx, access, elements.extend);
        for (word, &value) in words.iter_mut().zip(&values) {
            *word = if *word == zero { value } else { cx.builder().or(*word, value) };
        }
    }
    let format = place.record.word(cx, at::FORMAT);
    let texel = cx.builder().unpack(format, words);
    let one = one(cx, &place.record);
    [0, 1, 2, 3].map(|n| output(cx, &place.record, n, texel, one, zero))
}

/// Stores outputs, each with its number. An output goes to the component that a load takes it from.
/// Components without an output are 0.
pub fn store<'a>(cx: &mut impl Lifter<'a>, place: &SurfaceAccess, given: &[(usize, Value)]) {
    let zero = cx.number(0);
    let texel = COMPONENTS.map(|component| {
        given.iter().fold(zero, |value, &(output, new)| {
            let lanes = comes_from(cx, &place.record, output, component);
            cx.choose(lanes, new, value)
        })
    });
    let format = place.record.word(cx, at::FORMAT);
    let words = cx.builder().pack(format, texel);
    for (elements, lanes) in texel_elements(cx, &place.record) {
        let access = place.access(cx, elements.ty, elements.count, lanes);
        let words: Vec<Value> = words[..usize::from(elements.count)]
            .iter()
            .map(|&word| cx.builder().splat(word))
            .collect();
        cx.builder().store_access(access, &words);
    }
}
