//! MIMG: operands of samples, and the level of an image that they read.
//!
//! Sources: "Vega" Instruction Set Architecture, "Image instructions" and "Image address" for the
//! order of operands; the Vulkan specification, "Level-of-detail operation". If the instruction has
//! no level of detail, it comes from the differences of register contents in the quad of lanes 4k
//! to 4k + 3, lane by lane, also in inactive lanes.

use warploom_ir::{FloatAttrs, FloatBinaryOp, FloatUnaryOp, IntCc, Round, SharedFn, Type, Value};

use super::context::Cx;
use super::image::Descriptor;

const IEEE: FloatAttrs = FloatAttrs::IEEE;

/// The source of the level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lod {
    Quad,
    Gradients,
    Given,
    Zero,
}

/// The form of a sample, as its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub lod: Lod,
    pub bias: bool,
    pub compare: bool,
    pub clamp: bool,
    pub offset: bool,
}

impl Form {
    /// Returns the form by the letters behind the name, such as `_c_d_cl_o`.
    pub const fn named(letters: &str) -> Form {
        let mut form =
            Form { lod: Lod::Quad, bias: false, compare: false, clamp: false, offset: false };
        let bytes = letters.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let next = if at + 1 < bytes.len() { bytes[at + 1] } else { b'_' };
            match (bytes[at], next) {
                (b'_', _) => {}
                (b'c', b'l') => (form.clamp, at) = (true, at + 1),
                (b'c', b'd') => (form.lod, at) = (Lod::Gradients, at + 1),
                (b'l', b'z') => (form.lod, at) = (Lod::Zero, at + 1),
                (b'c', _) => form.compare = true,
                (b'd', _) => form.lod = Lod::Gradients,
                (b'l', _) => form.lod = Lod::Given,
                (b'b', _) => form.bias = true,
                (b'o', _) => form.offset = true,
                _ => panic!("an unknown letter"),
            }
            at += 1;
        }
        form
    }
}

/// The contents of the address registers. All are words.
pub(super) struct Operands {
    /// Offsets in texels, six bits for each axis.
    pub offset: Option<Value>,
    bias: Option<Value>,
    pub reference: Option<Value>,
    /// Gradients along x and along y of the screen, of three axes each.
    gradients: Option<[[Value; 3]; 2]>,
    pub coordinates: [Value; 3],
    /// The level, or its least value.
    last: Option<Value>,
}

impl Operands {
    pub fn read(cx: &mut Cx<'_>, form: Form, descriptor: &Descriptor, first: u8) -> Operands {
        let mut at = first;
        let mut next = |cx: &mut Cx<'_>, there: bool| {
            there.then(|| {
                at = at.wrapping_add(1);
                cx.vector(at.wrapping_sub(1))
            })
        };
        let (offset, bias, reference) =
            (next(cx, form.offset), next(cx, form.bias), next(cx, form.compare));
        let word = |cx: &mut Cx<'_>, i: u8| cx.vector(at.wrapping_add(i));
        let (line, volume) = (descriptor.is_line(cx), descriptor.is_volume(cx));
        // Picks one of three registers: for images with one axis, for volumes, and for other
        // images.
        let pick = |cx: &mut Cx<'_>, [of_line, of_volume, of_plane]: [Value; 3]| {
            let other = cx.b.select(volume, of_volume, of_plane);
            cx.b.select(line, of_line, other)
        };
        let (gradients, starts) = if form.lod == Lod::Gradients {
            let zero = cx.int(0);
            let words: [Value; 6] = std::array::from_fn(|i| word(cx, i as u8));
            let x =
                [words[0], pick(cx, [zero, words[1], words[1]]), pick(cx, [zero, words[2], zero])];
            let y = [
                pick(cx, [words[1], words[3], words[2]]),
                pick(cx, [zero, words[4], words[3]]),
                pick(cx, [zero, words[5], zero]),
            ];
            (Some([x, y]), [2, 6, 4])
        } else {
            (None, [0; 3])
        };
        let from_start = |cx: &mut Cx<'_>, i: u8| {
            if starts == [0; 3] {
                return word(cx, i);
            }
            let words = starts.map(|start| word(cx, start + i));
            pick(cx, words)
        };
        let given = std::array::from_fn(|i| from_start(cx, i as u8));
        let last = (form.clamp || form.lod == Lod::Given).then(|| {
            let words = [1, 2, 3].map(|i| from_start(cx, i));
            descriptor.behind_coordinates(cx, words)
        });
        Operands {
            offset,
            bias,
            reference,
            gradients,
            coordinates: descriptor.coordinates(cx, given),
            last,
        }
    }
}

/// The inputs that decide about levels.
pub(super) struct Levels {
    /// The number of the sampler's first scalar register.
    pub sampler: u8,
    pub form: Form,
    /// All lanes if coordinates count texels, else none.
    pub texels: Value,
}

impl Levels {
    /// Returns the level of detail, a float, counted from the image's first visible level.
    pub fn of(&self, cx: &mut Cx<'_>, descriptor: &Descriptor, operands: &Operands) -> Value {
        let zero = cx.b.f32const(0.0);
        let word = |cx: &mut Cx<'_>, register: u8, lo, count| {
            cx.field(self.sampler.wrapping_add(register), lo, count)
        };
        let mut lod = match (self.form.lod, operands.last) {
            (Lod::Zero, _) => return zero,
            (Lod::Given, Some(level)) => cx.cast(Type::F32, level),
            _ => self.by_gradients(cx, descriptor, operands),
        };
        let bias = word(cx, 2, 0, 14);
        let bias = cx.low_bits(bias, 14, true);
        let bias = fixed(cx, bias, true);
        lod = cx.b.fadd(IEEE, lod, bias);
        if let Some(bias) = operands.bias {
            let bias = cx.cast(Type::F32, bias);
            lod = cx.b.fadd(IEEE, lod, bias);
        }
        let (least, most) = (word(cx, 1, 0, 12), word(cx, 1, 12, 12));
        let (mut least, most) = (fixed(cx, least, false), fixed(cx, most, false));
        if let (true, Some(clamp)) = (self.form.clamp, operands.last) {
            let clamp = cx.cast(Type::F32, clamp);
            least = cx.b.fbinary(FloatBinaryOp::Max, IEEE, least, clamp);
        }
        lod = cx.b.fbinary(FloatBinaryOp::Max, IEEE, lod, least);
        cx.b.fbinary(FloatBinaryOp::Min, IEEE, lod, most)
    }

    /// Returns log2 of the longer of the two gradients, in texels.
    fn by_gradients(&self, cx: &mut Cx<'_>, descriptor: &Descriptor, operands: &Operands) -> Value {
        let zero = cx.b.f32const(0.0);
        let gradients = match operands.gradients {
            Some(given) => given.map(|axes| axes.map(|axis| cx.cast(Type::F32, axis))),
            None => {
                let [x, y, z] =
                    operands.coordinates.map(|coordinate| cx.cast(Type::F32, coordinate));
                // A layer has no gradient.
                let volume = descriptor.is_volume(cx);
                let z = cx.b.select(volume, z, zero);
                // The differences between the left and right neighbours, and between the upper and
                // lower neighbours.
                [[[0, 0, 2, 2], [1, 1, 3, 3]], [[0, 1, 0, 1], [2, 3, 2, 3]]].map(|[from, to]| {
                    [x, y, z].map(|axis| {
                        let (from, to) = (in_quad(cx, axis, from), in_quad(cx, axis, to));
                        cx.b.fsub(IEEE, to, from)
                    })
                })
            }
        };
        let sizes = [descriptor.width, descriptor.height, descriptor.depth(cx)];
        let sizes = sizes.map(|size| {
            let size = cx.b.int_to_float(Type::F32, false, Round::Nearest, size);
            let one = cx.b.f32const(1.0);
            cx.b.uniform_select(self.texels, one, size)
        });
        let [x, y] = gradients.map(|axes| {
            let mut sum = zero;
            for (axis, size) in axes.into_iter().zip(sizes) {
                let texels = cx.b.fmul(IEEE, axis, size);
                sum = cx.b.fma(IEEE, texels, texels, sum);
            }
            sum
        });
        let longer = cx.b.fbinary(FloatBinaryOp::Max, IEEE, x, y);
        let (log, half) = (cx.b.shared(SharedFn::Lg2, longer), cx.b.f32const(0.5));
        cx.b.fmul(IEEE, log, half)
    }
}

/// Converts a number in 256ths to a float.
fn fixed(cx: &mut Cx<'_>, number: Value, signed: bool) -> Value {
    let number = cx.b.int_to_float(Type::F32, signed, Round::Nearest, number);
    let unit = cx.b.f32const(1.0 / 256.0);
    cx.b.fmul(IEEE, number, unit)
}

/// Returns, for each lane of a quad, the value of the quad's lane that `of` names.
fn in_quad(cx: &mut Cx<'_>, value: Value, of: [u8; 4]) -> Value {
    let table = std::array::from_fn(|lane| (lane & !3) as u8 | of[lane & 3]);
    let index = cx.lane_table(&table);
    let value = cx.b.splat(value);
    cx.b.lane_gather(value, index)
}

/// The existing levels that a level of detail chooses, counted from the image's first visible
/// level.
///
/// The nearest level, or the two levels around it and the weight of the second level.
pub(super) struct Chosen {
    pub levels: [Value; 2],
    pub weight: Value,
    /// The lanes in which the second level counts.
    pub between: Value,
}

impl Chosen {
    /// Chooses levels. `mip` is a sampler's field: 0 the first level, 1 the nearest, 2 between two.
    pub fn new(cx: &mut Cx<'_>, descriptor: &Descriptor, mip: Value, lod: Value) -> Chosen {
        let (zero, none) = (cx.b.f32const(0.0), cx.int(0));
        let last = descriptor.last_level(cx);
        let most = cx.b.int_to_float(Type::F32, false, Round::Nearest, last);
        let lod = cx.b.fbinary(FloatBinaryOp::Max, IEEE, lod, zero);
        let lod = cx.b.fbinary(FloatBinaryOp::Min, IEEE, lod, most);
        let is = |cx: &mut Cx<'_>, number: u32| {
            let number = cx.int(number);
            cx.b.icmp(IntCc::Eq, mip, number)
        };
        let (first, linear) = (is(cx, 0), is(cx, 2));
        let down =
            cx.b.funary(FloatUnaryOp::Integral, FloatAttrs { round: Round::Down, ..IEEE }, lod);
        let near = cx.b.funary(FloatUnaryOp::Integral, IEEE, lod);
        let level = cx.b.select(linear, down, near);
        let level = cx.b.select(first, zero, level);
        let weight = cx.b.fsub(IEEE, lod, level);
        let weight = cx.b.select(linear, weight, zero);
        let level = cx.b.float_to_int(Type::I32, true, Round::Nearest, false, 0, level);
        let one = cx.int(1);
        let next = cx.b.add(level, one);
        let next = cx.b.min_s(next, last);
        let bits = cx.bits_of(weight);
        let between = cx.b.icmp(IntCc::Ne, bits, none);
        Chosen { levels: [level, next], weight, between }
    }
}
