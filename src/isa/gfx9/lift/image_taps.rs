//! MIMG: the texels that a sample is made of.
//!
//! Sources: the sources of `image_sample`; Vulkan specification, "Cube Map Edge Handling". All
//! instruction sets share the faces of cubes: `ir::image::sample::cube`.

use warploom_ir::image::sample::beyond_face;
use warploom_ir::{FloatAttrs, FloatCc, FloatUnaryOp, IntCc, Round, SharedFn, Type, Value};

use super::context::Cx;
use super::image::{Level, kind, word_of};
use super::image_sample::{Bilinear, Sampler, Taking, field_is};

const IEEE: FloatAttrs = FloatAttrs::IEEE;

/// The two texels of an axis, the weight of the second, and the lanes in which each exists.
struct Axis {
    texels: [Value; 2],
    exist: [Value; 2],
    weight: Value,
    /// The lanes in which each texel is before the first texel, and past the last.
    beyond: [[Value; 2]; 2],
}

fn floor(cx: &mut Cx<'_>, x: Value) -> Value {
    cx.b.funary(FloatUnaryOp::Integral, FloatAttrs { round: Round::Down, ..IEEE }, x)
}

/// How an axis is filtered.
#[derive(Clone, Copy)]
struct Along<'a> {
    sampler: &'a Sampler,
    bilinear: Bilinear,
    /// The lanes that ignore the sampler's mode: they filter across the edges of cubes.
    seams: Option<Value>,
}

/// Returns an axis from its number, its coordinate and the image's size.
fn axis(cx: &mut Cx<'_>, along: Along<'_>, number: u32, x: Value, size: Value) -> Axis {
    let Along { sampler, bilinear, seams } = along;
    let counts = seams.map(|seams| cx.b.not(seams));
    let mode = |cx: &mut Cx<'_>, of: &[u32]| {
        let is = field_is(cx, sampler.first, 3 * number, 3, of);
        counts.map_or(is, |counts| cx.b.and(is, counts))
    };
    let (wraps, mirrors, once) = (mode(cx, &[0]), mode(cx, &[1]), mode(cx, &[3, 5, 7]));
    let border = mode(cx, &[4, 5, 6, 7]);
    let x = cx.cast(Type::F32, x);

    // Moves the coordinate into the image by the mode. A coordinate in texels is only mirrored
    // once.
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
    let mut beyond = [[bilinear.mask; 2]; 2];
    for ((texel, exist), beyond) in texels.iter_mut().zip(&mut exist).zip(&mut beyond) {
        let inside = cx.b.icmp(IntCc::LtU, *texel, size);
        let clamps = cx.b.not(border);
        *exist = cx.b.or(inside, clamps);
        // A texel one off either end comes back at the other end.
        let zero = cx.int(0);
        let (under, over) =
            (cx.b.icmp(IntCc::LtS, *texel, zero), cx.b.icmp(IntCc::GeS, *texel, size));
        *beyond = [under, over];
        let (more, less) = (cx.b.add(*texel, size), cx.b.sub(*texel, size));
        let wrapped = cx.b.select(over, less, *texel);
        let wrapped = cx.b.select(under, more, wrapped);
        let texel_or_wrapped = cx.b.select(wraps, wrapped, *texel);
        let last = cx.b.sub(size, one);
        let clamped = cx.b.min_s(texel_or_wrapped, last);
        *texel = cx.b.max_s(clamped, zero);
    }
    Axis { texels, exist, weight, beyond }
}

/// Returns the coordinate plus the operand's offset along an axis.
///
/// The offset counts texels. It is divided by the image's size unless coordinates count texels.
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

/// Returns 1 if the reference compares with a texel as the sampler says, else 0.
///
/// Bit 0 of the sampler's field is for less, bit 1 for equal, bit 2 for greater.
fn compared(cx: &mut Cx<'_>, sampler: &Sampler, reference: Value, texel: Value) -> Value {
    let reference = cx.cast(Type::F32, reference);
    let mut holds = cx.lanes(0);
    for (bit, cc) in [FloatCc::Lt, FloatCc::Eq, FloatCc::Gt].into_iter().enumerate() {
        let asked = field_is(cx, sampler.first, 12 + bit as u32, 1, &[1]);
        let this = cx.b.fcmp(cc, false, reference, texel);
        let this = cx.b.and(this, asked);
        holds = cx.b.or(holds, this);
    }
    let (one, zero) = (cx.b.f32const(1.0), cx.b.f32const(0.0));
    cx.b.select(holds, one, zero)
}

/// The texels of a level at a place.
pub(super) struct Taps {
    /// Four texels, first row first. If volumes are filtered along their third axis, the four
    /// texels of the next plane follow.
    pub planes: Vec<[[Value; 4]; 4]>,
    /// The weights of the second column, row and plane.
    pub weights: [Value; 3],
    /// The lanes that mix planes.
    pub deep: Value,
}

/// Where a sample looks for the texels of a level.
struct Spot {
    x: Axis,
    y: Axis,
    layer: Value,
    /// The face of a cube.
    face: Value,
    seams: Option<Value>,
    /// The lanes that need the texels.
    only: Option<Value>,
}

/// Returns the filter of the third axis of volumes, or `None` if that axis is not filtered.
fn deep(cx: &mut Cx<'_>, taking: &Taking<'_>) -> Option<Bilinear> {
    let Taking { descriptor, sampler, bilinear, .. } = *taking;
    if descriptor.is_known_other_than(cx, kind::VOLUME) {
        return None;
    }
    let filters = sampler.first.wrapping_add(2);
    // The third axis has its own filter, or else uses the planes' filter.
    let (as_planes, linear) =
        (field_is(cx, filters, 24, 2, &[0]), field_is(cx, filters, 24, 2, &[2, 3]));
    let (volume, as_planes) = (descriptor.is_volume(cx), cx.b.and(as_planes, bilinear.mask));
    let linear = cx.b.or(linear, as_planes);
    Some(Bilinear { mask: cx.b.and(volume, linear), ..bilinear })
}

/// Returns the lanes that filter across the edges of a cube's faces, or `None` if no lane does.
fn seams(cx: &mut Cx<'_>, taking: &Taking<'_>) -> Option<Value> {
    let Taking { descriptor, sampler, bilinear, .. } = *taking;
    if descriptor.is_known_other_than(cx, kind::CUBE) {
        return None;
    }
    let (cube, wraps) = (descriptor.is_cube(cx), field_is(cx, sampler.first, 28, 1, &[0]));
    let wraps = cx.b.and(cube, wraps);
    Some(cx.b.and(wraps, bilinear.mask))
}

/// Returns the texels at a place of a level. `only`: the lanes that need them.
pub(super) fn taps(
    cx: &mut Cx<'_>,
    taking: &Taking<'_>,
    level: &Level,
    only: Option<Value>,
) -> Taps {
    let Taking { descriptor, sampler, operands, bilinear, .. } = *taking;
    let [x, y, z] = operands.coordinates;
    // On a cube, a face's coordinates go from 1 to 2, and each cube counts eight faces.
    let (cube, zero, one) = (descriptor.is_cube(cx), cx.b.f32const(0.0), cx.b.f32const(1.0));
    let start = cx.b.uniform_select(cube, one, zero);
    let [x, y] = [x, y].map(|coordinate| {
        let coordinate = cx.cast(Type::F32, coordinate);
        cx.b.fsub(IEEE, coordinate, start)
    });
    let (x, y) = (moved(cx, taking, 0, x, level.width), moved(cx, taking, 1, y, level.height));
    let seams = seams(cx, taking);
    let along = Along { sampler, bilinear, seams };
    let x = axis(cx, along, 0, x, level.width);
    let y = axis(cx, along, 1, y, level.height);
    // Layers are rounded and clamped.
    let number = cx.cast(Type::F32, z);
    let layer = cx.b.float_to_int(Type::I32, true, Round::Nearest, false, 0, number);
    let face = cx.low_bits(layer, 3, false);
    let (none, two) = (cx.int(0), cx.int(2));
    let (unused, cubes) = (cx.b.uniform_select(cube, two, none), cx.shr(layer, 3));
    let unused = cx.b.mul(cubes, unused);
    let layer = cx.b.sub(layer, unused);
    let layer = descriptor.clamped_layer(cx, level, layer);
    let (volume, depth) = (descriptor.is_volume(cx), level.slices(cx));
    let z = moved(cx, taking, 2, z, depth);
    let nearest = Bilinear { mask: cx.lanes(0), uniform: true };
    let deep = deep(cx, taking);
    let z =
        axis(cx, Along { sampler, bilinear: deep.unwrap_or(nearest), seams: None }, 2, z, depth);

    let (weights, flat) = ([x.weight, y.weight, z.weight], cx.b.not(volume));
    let mut spot = Spot { x, y, layer, face, seams, only };
    let mut planes = Vec::new();
    for plane in 0..=usize::from(deep.is_some()) {
        spot.layer = cx.b.select(volume, z.texels[plane], layer);
        if let (1, Some(deep)) = (plane, deep) {
            spot.only = Some(only.map_or(deep.mask, |only| cx.b.and(only, deep.mask)));
        }
        let exists = cx.b.or(z.exist[plane], flat);
        planes.push(spot.texels(cx, taking, level, exists));
    }
    Taps { planes, weights, deep: deep.map_or(nearest, |deep| deep).mask }
}

impl Spot {
    /// Returns four texels of a plane, which exists in the lanes of `plane`.
    fn texels(
        &self,
        cx: &mut Cx<'_>,
        taking: &Taking<'_>,
        level: &Level,
        plane: Value,
    ) -> [[Value; 4]; 4] {
        let Taking { descriptor, sampler, operands, bilinear, .. } = *taking;
        let (zero, one) = (cx.b.f32const(0.0), cx.b.f32const(1.0));
        let (color, alpha) = (
            cx.b.uniform_select(sampler.white, one, zero),
            cx.b.uniform_select(sampler.opaque, one, zero),
        );
        let all = cx.lanes(u64::MAX);
        let places = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let taps = places.map(|(row, column)| {
            let place = self.place(cx, level, row, column);
            let (address, inside) = descriptor.place(cx, level, place);
            let exists = cx.b.and(self.x.exist[column], self.y.exist[row]);
            let exists = cx.b.and(exists, plane);
            let needed = if (row, column) == (0, 0) { all } else { bilinear.mask };
            let read = cx.b.and(exists, inside);
            let read = cx.b.and(read, needed);
            let read = self.only.map_or(read, |only| cx.b.and(read, only));
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
        let Some(seams) = self.seams else { return taps };
        // Beyond a corner there is no texel: the mean of the other three texels replaces it.
        std::array::from_fn(|at| {
            let (row, column) = places[at];
            let [aside, across] = [self.x.is_beyond(cx, column), self.y.is_beyond(cx, row)];
            let corner = cx.b.and(aside, across);
            let corner = cx.b.and(corner, seams);
            std::array::from_fn(|i| {
                let others = (0..4).filter(|&other| other != at).map(|other| taps[other][i]);
                let sum = others.reduce(|a, b| cx.b.fadd(IEEE, a, b)).expect("three");
                let third = cx.b.f32const(1.0 / 3.0);
                let mean = cx.b.fmul(IEEE, sum, third);
                cx.b.select(corner, mean, taps[at][i])
            })
        })
    }

    /// Returns the place of a texel. Beyond an edge of a cube's face, it is on the next face.
    fn place(&self, cx: &mut Cx<'_>, level: &Level, row: usize, column: usize) -> [Value; 3] {
        let (x, y) = (self.x.texels[column], self.y.texels[row]);
        let Some(seams) = self.seams else { return [x, y, self.layer] };
        let [aside, across] = [self.x.is_beyond(cx, column), self.y.is_beyond(cx, row)];
        let crosses = cx.b.xor(aside, across);
        let crosses = cx.b.and(crosses, seams);
        // Each word that the edge picks has a number for each face.
        let edges = [self.x.beyond[column], self.y.beyond[row]];
        let by_edge = |cx: &mut Cx<'_>, words: [u32; 4]| {
            let words = words.map(|word| cx.int(word));
            let row = cx.b.select(edges[1][0], words[2], words[3]);
            let right = cx.b.select(edges[0][1], words[1], row);
            cx.b.select(edges[0][0], words[0], right)
        };
        let (faces, ways) = (by_edge(cx, SEAMS.0), by_edge(cx, SEAMS.1));
        let [next, way] = [(faces, 3), (ways, 4)].map(|(words, bits)| {
            let bits_of_face = cx.int(bits);
            let count = cx.b.mul(self.face, bits_of_face);
            let number = cx.b.shr_u(words, count);
            cx.low_bits(number, bits, false)
        });
        let (one, zero) = (cx.int(1), cx.int(0));
        let last = cx.b.sub(level.width, one);
        let along = cx.b.select(aside, y, x);
        let back = cx.b.sub(last, along);
        let [to_x, to_y] = [0, 2].map(|first| {
            let way = if first == 0 { way } else { cx.shr(way, first) };
            let way = cx.low_bits(way, 2, false);
            let numbers: [Value; 3] = [1, 2, 3].map(|number| {
                let number = cx.int(number);
                cx.b.icmp(IntCc::Eq, way, number)
            });
            [last, along, back]
                .into_iter()
                .zip(numbers)
                .fold(zero, |at, (place, this)| cx.b.select(this, place, at))
        });
        let layer = cx.b.sub(self.layer, self.face);
        let layer = cx.b.add(layer, next);
        [(to_x, x), (to_y, y), (layer, self.layer)]
            .map(|(across, own)| cx.b.select(crosses, across, own))
    }
}

impl Axis {
    fn is_beyond(&self, cx: &mut Cx<'_>, texel: usize) -> Value {
        let [under, over] = self.beyond[texel];
        cx.b.or(under, over)
    }
}

/// The way across each edge of a cube's faces, by the left, right, upper and lower edge.
///
/// A word has a field for each face, from bit 0 on. The first words hold the next face, three bits.
/// The second words tell how to find its column and row, two bits each: 0, the last one, as far
/// along the edge as here, or as far from its other end.
const SEAMS: ([u32; 4], [u32; 4]) = {
    let (mut faces, mut ways) = ([0; 4], [0; 4]);
    let mut edge = 0;
    while edge < 4 {
        let mut face = 0;
        while face < 6 {
            let (next, at) = beyond_face(face, edge);
            faces[edge] |= next << (3 * face);
            ways[edge] |= (at[0] as u32 | (at[1] as u32) << 2) << (4 * face);
            face += 1;
        }
        edge += 1;
    }
    (faces, ways)
};
