//! What a texture unit does: the value of an image at a coordinate, through a sampler.
//!
//! Source: facts, `maxwell-surfaces.md`, section 5, which is for the most part what an H200 does. What that leaves open is decided
//! here:
//! - Offsets are added to the coordinate in texels. Repeated and mirrored images go on beside the first. Cubes take no offsets.
//! - The image's kind says which coordinates, derivatives and layer count; a line is a plane of one row.
//! - A level of detail chooses between the filters after the sampler's clamp, before the image's.
//! - A level of detail that is no number is 0.
//! - A bias of the image other than 0 is in place of the sampler's.
//! - Gathers read the first level of the view.
//! - Comparisons take the texel's red after the swizzle, and the result is in all components. Integers are not compared.
//! - A filtered NaN is `0x7fffffff`, as of all arithmetic.
//! - Seamless cubes of integers: the texel beyond a corner is that of its own face.
//! - An image that is larger than descriptors can say, or has no texel or level, reads as 0.

mod coordinate;
mod cube;
mod filter;
mod srgb;
#[cfg(test)]
mod tests;
mod texel;

use self::coordinate::{Axis, BORDER, Span};
use self::filter::{Sum, WHOLE, share, weights};
use self::texel::Texels;
use super::layout::{Layout, MAX_BLOCK, Plane};
use super::sampler::{Filter, MipFilter, Sampler, Wrap};
use super::{Image, Kind, TexelKind};

/// Where to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Bits of floats; of fetches integers with a sign. The third of a fetch from a cube is the face.
    pub coords: [u32; 3],
    /// Of arrays. Of arrays of cubes the cube.
    pub layer: u32,
    /// Level of detail without bias, the bits of a float; of fetches the level, an integer with a sign. Gathers have none.
    pub lod: u32,
    /// What samplers with a comparison compare texels with, the bits of a float. Fetches do not compare.
    pub reference: u32,
    /// In texels.
    pub offset: [i32; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Sample,
    /// At the level of the gradients, plus the given one: [`level_of_gradients`].
    SampleGradients,
    /// Not the value but the level of detail of the gradients, in 256ths: first as it is, a number with a sign, then that of the
    /// level, or of the place between two, that would be read.
    Level,
    /// A texel by its number; out of range 0.
    Fetch,
    /// The same; out of range along an axis or of the layers the nearest there is.
    FetchNearest,
    /// A component of the four texels that a linear filter takes: lower left, lower right, upper right, upper left, where
    /// lower is the greater y. With a comparison, its four results.
    Gather {
        component: u8,
    },
}

impl Operation {
    /// Texels by their numbers: coordinates are integers.
    pub fn fetches(self) -> bool {
        matches!(self, Operation::Fetch | Operation::FetchNearest)
    }
}

/// Fills in bytes of a texel from guest memory; whether they are of a sparse page that is not resident, and 0.
pub type Read<'a, E> = dyn FnMut(u64, &mut [u8]) -> Result<bool, E> + 'a;

/// Bounds of what descriptors can say: sizes in texels, layers, and bytes of a row.
const MAX_SIZE: u32 = 1 << 17;
const MAX_LAYERS: u32 = 1 << 17;
const MAX_PITCH: u32 = 1 << 24;
const MAX_LEVELS: u8 = 16;
const MAX_TEXEL_BYTES: u8 = 16;

/// The value of an image: four components after the swizzle, as the bits of registers, and whether a texel of it was of a
/// sparse page that is not resident.
///
/// # Errors
/// Those of `read`.
pub fn sample<E>(
    operation: Operation,
    image: &Image,
    sampler: &Sampler,
    query: &Query,
    read: &mut Read<'_, E>,
) -> Result<([u32; 4], bool), E> {
    let Some(levels) = levels(image) else { return Ok(([0; 4], false)) };
    let kind = image.format.kind();
    let integers = matches!(kind, Some(TexelKind::Uint | TexelKind::Sint));
    let compare = sampler.compare.filter(|_| !operation.fetches() && !integers);
    let reference = f32::from_bits(query.reference);
    let mut texels = Texels::new(image, kind, sampler, compare.map(|function| (function, reference)), read);
    if operation.fetches() {
        let value = fetch(image, levels, query, operation == Operation::FetchNearest, &mut texels)?;
        return Ok((value, texels.sparse));
    }
    if image.kind == Kind::Buffer {
        return Ok(([0; 4], false));
    }

    let coords = query.coords.map(f32::from_bits);
    let (face, coords, offset) = match image.kind {
        Kind::Cube => {
            let (face, [u, v]) = cube::project(coords.map(coordinate::number));
            (face, [u, v, 0.0], [0; 3])
        }
        _ => (0, coords.map(coordinate::normal), query.offset),
    };
    let layers = if image.array { image.layers } else { 1 };
    let layer = query.layer.min(layers - 1);
    let place = Place { image, sampler, coords, offset, face, layer, integers };
    if let Operation::Gather { component } = operation {
        let value = place.gather(component, &mut texels)?;
        return Ok((value, texels.sparse));
    }

    let base = cut(f32::from_bits(query.lod));
    let lod = clamped_lod(image, sampler, base);
    let filter = if integers {
        Filter::Point
    } else if lod > 0.0 {
        sampler.min
    } else {
        sampler.mag
    };
    let lod = lod.max(image.min_lod).max(0.0).min(levels.into());
    let (level, fraction) = match sampler.mip {
        MipFilter::None => (0, 0),
        MipFilter::Linear if !integers => ((lod * 256.0) as u32 >> 8, (lod * 256.0) as u32 & 255),
        _ => ((lod + 0.5) as u32, 0),
    };
    // In range already but for bits of images that are no numbers.
    let level = (level as u8).min(levels);
    if operation == Operation::Level {
        // Infinite where nothing changes: the least there is.
        let whole = (base.clamp(-128.0, 127.0) * 256.0) as i32 as u32;
        return Ok(([whole, u32::from(level) << 8 | fraction, 0, 0], false));
    }
    if filter == Filter::Point && fraction == 0 {
        let value = place.nearest(level, &mut texels)?;
        return Ok((value, texels.sparse));
    }
    let mut sum = Sum::new(texels.numbers());
    place.add_level(level, WHOLE - fraction, filter, &mut texels, &mut sum)?;
    if fraction > 0 {
        place.add_level((level + 1).min(levels), fraction, filter, &mut texels, &mut sum)?;
    }
    Ok((sum.bits(), texels.sparse))
}

/// Level of detail from derivatives of the coordinates along x and y of the screen: the logarithm of the longer one in
/// texels of the first level that may be seen, whose length is taken for the greatest component and parts of the others.
/// Cube: the coordinates' largest component is taken for 1, and for constant. Section 5.6.
pub fn level_of_gradients(image: &Image, sampler: &Sampler, dx: [f32; 3], dy: [f32; 3]) -> f32 {
    let axes = if image.kind == Kind::Cube { 3 } else { axes(image.kind) };
    let scaled = image.kind == Kind::Cube || normalized(image, sampler);
    let scale = |axis: usize| match image.kind {
        _ if !scaled => 1.0,
        Kind::Cube => f64::from(size(image, 0)[0]) / 2.0,
        _ => f64::from(size(image, 0)[axis]),
    };
    let length = |gradient: [f32; 3]| {
        let mut sides = [0.0f64; 3];
        for (axis, side) in sides.iter_mut().enumerate().take(axes) {
            *side = (f64::from(coordinate::number(gradient[axis])) * scale(axis)).abs();
        }
        sides.sort_by(f64::total_cmp);
        let [least, middle, most] = sides;
        most + 11.0 / 32.0 * middle + least / 4.0
    };
    libm::log2(length(dx).max(length(dy))) as f32
}

/// The last level from the first that may be seen on. None: nothing can be seen.
fn levels(image: &Image) -> Option<u8> {
    if image.kind == Kind::Buffer {
        let plain = matches!(image.layout, Layout::Pitch(_)) && !image.array && image.first_level == 0;
        return (plain && image.bytes <= MAX_TEXEL_BYTES).then_some(0);
    }
    let laid_out = match image.layout {
        Layout::Pitch(pitch) => pitch <= MAX_PITCH,
        Layout::Blocks(blocks) => blocks.height <= MAX_BLOCK && blocks.depth <= MAX_BLOCK,
    };
    let sound = image.bytes <= MAX_TEXEL_BYTES
        && (1..=MAX_LEVELS).contains(&image.levels)
        && (1..=MAX_LAYERS).contains(&image.layers)
        && image.size.iter().all(|size| (1..=MAX_SIZE).contains(size));
    let last = image.last_level.min(image.levels.wrapping_sub(1));
    last.checked_sub(image.first_level).filter(|_| sound && laid_out)
}

fn normalized(image: &Image, sampler: &Sampler) -> bool {
    image.normalized && !sampler.force_unnormalized
}

fn axes(kind: Kind) -> usize {
    match kind {
        Kind::Buffer => 1,
        Kind::D1 | Kind::D2 | Kind::Cube => 2,
        Kind::D3 => 3,
    }
}

/// In texels, of a level of the view; 1 for axes that the image does not have.
fn size(image: &Image, level: u8) -> [u32; 3] {
    let level = u32::from(image.first_level) + u32::from(level);
    let of = |axis: usize| (image.size[axis].checked_shr(level).unwrap_or(0)).max(1);
    match image.kind {
        Kind::Buffer => [image.size[0], 1, 1],
        Kind::D1 => [of(0), 1, 1],
        Kind::D2 | Kind::Cube => [of(0), of(1), 1],
        Kind::D3 => [of(0), of(1), of(2)],
    }
}

/// The sampler's part of section 5.6.
fn clamped_lod(image: &Image, sampler: &Sampler, base: f32) -> f32 {
    let bias = if image.lod_bias != 0.0 { image.lod_bias } else { sampler.lod_bias };
    (base + bias).max(sampler.min_lod).min(sampler.max_lod)
}

/// Of a level of detail, 256ths; 0 for what is no number.
fn cut(lod: f32) -> f32 {
    const FAR: f32 = 1000.0;
    let places = coordinate::number(lod).clamp(-FAR, FAR) * 256.0;
    (places as i32) as f32 / 256.0
}

/// Section 5.5.
fn fetch<E>(
    image: &Image,
    levels: u8,
    query: &Query,
    nearest: bool,
    texels: &mut Texels<'_, '_, E>,
) -> Result<[u32; 4], E> {
    let cube = image.kind == Kind::Cube;
    let Some(level) = u8::try_from(query.lod).ok().filter(|&level| level <= levels) else { return Ok([0; 4]) };
    let mut size = size(image, level);
    size[2] = if cube { image.faces() } else { size[2] };
    let offset = if cube { [0; 3] } else { query.offset };
    let within = |i: u32, size: u32| match nearest && size > 0 {
        // Numbers have a sign.
        true => Some((i as i32).clamp(0, size.min(i32::MAX as u32) as i32 - 1) as u32),
        false => (i < size).then_some(i),
    };
    let [x, y, z] = [0, 1, 2].map(|axis| within(query.coords[axis].wrapping_add_signed(offset[axis]), size[axis]));
    let layer = match image.array {
        true if nearest => Some(query.layer.min(image.layers - 1)),
        true => within(query.layer, image.layers),
        false => Some(0),
    };
    let (Some(x), Some(y), Some(z), Some(layer)) = (x, y, z, layer) else { return Ok([0; 4]) };
    let (layer, slice) = if cube { (6 * layer + z, 0) } else { (layer, z) };
    let level = Level::new(image, level);
    let layer = level.layer(layer);
    texels.at(layer.wrapping_add(level.column(x)).wrapping_add(level.row(y)).wrapping_add(level.slice(slice)))
}

/// A level of an image: where its texels are.
struct Level<'a> {
    image: &'a Image,
    /// Of the first layer.
    address: u64,
    plane: Plane,
}

impl<'a> Level<'a> {
    /// A level of the view.
    fn new(image: &'a Image, level: u8) -> Self {
        let level = image.first_level + level;
        let address = image.base.wrapping_add(if level == 0 { 0 } else { image.level_offset(level) });
        Level { image, address, plane: image.plane(level) }
    }

    /// Where a layer begins. One of a cube is a face.
    fn layer(&self, layer: u32) -> u64 {
        if layer == 0 {
            return self.address;
        }
        self.address.wrapping_add(self.image.layer_stride().wrapping_mul(layer.into()))
    }

    // Offsets are sums of a column's, a row's and a slice's: section 3.2.

    #[inline]
    fn column(&self, x: u32) -> u64 {
        let bytes = u32::from(self.image.bytes);
        match self.plane.layout {
            Layout::Pitch(_) => u64::from(x) * u64::from(bytes),
            Layout::Blocks(_) => self.plane.offset(x * bytes, 0, 0),
        }
    }

    fn row(&self, y: u32) -> u64 {
        self.plane.offset(0, y, 0)
    }

    fn slice(&self, z: u32) -> u64 {
        if z == 0 { 0 } else { self.plane.offset(0, 0, z) }
    }
}

/// Where a query looks, in all levels.
struct Place<'a> {
    image: &'a Image,
    sampler: &'a Sampler,
    /// Of cubes those on the face.
    coords: [f64; 3],
    offset: [i32; 3],
    face: u32,
    layer: u32,
    integers: bool,
}

impl Place<'_> {
    fn seamless(&self) -> bool {
        self.sampler.seamless && self.image.kind == Kind::Cube && self.image.size[0] == self.image.size[1]
    }

    fn axis(&self, axis: usize, size: [u32; 3]) -> Axis {
        let cube = self.image.kind == Kind::Cube;
        Axis {
            wrap: if self.seamless() { Wrap::ClampToEdge } else { self.sampler.wrap[axis] },
            size: size[axis],
            normalized: cube || normalized(self.image, self.sampler),
            offset: self.offset[axis],
        }
    }

    /// The layer, counting faces.
    fn layer(&self, face: u32) -> u32 {
        self.layer * self.image.faces() + face
    }

    /// The texel at the place.
    fn nearest<E>(&self, level: u8, texels: &mut Texels<'_, '_, E>) -> Result<[u32; 4], E> {
        let (size, level) = (size(self.image, level), Level::new(self.image, level));
        let mut index = [0; 3];
        for (axis, index) in index.iter_mut().enumerate().take(axes(self.image.kind)) {
            *index = self.axis(axis, size).point(self.coords[axis]);
        }
        Offsets::new(&level, index).texel(level.layer(self.layer(self.face)), texels)
    }

    /// Adds a level's texels, which share a weight.
    fn add_level<E>(
        &self,
        number: u8,
        weight: u32,
        filter: Filter,
        texels: &mut Texels<'_, '_, E>,
        sum: &mut Sum,
    ) -> Result<(), E> {
        if filter == Filter::Point {
            sum.add(&[(self.nearest(number, texels)?, weight)]);
            return Ok(());
        }
        let (size, level) = (size(self.image, number), Level::new(self.image, number));
        if self.seamless() {
            return self.add_across_faces(&level, size[0], weight, texels, sum);
        }
        let layer = level.layer(self.layer(self.face));
        let mut spans = [Span::default(); 3];
        for (axis, span) in spans.iter_mut().enumerate().take(axes(self.image.kind)) {
            *span = self.axis(axis, size).linear(self.coords[axis]);
        }
        let end = |end: usize| Offsets::new(&level, spans.map(|span| span.index[end]));
        let ends = [end(0), end(1)];
        for (slice, z) in weights(weight, spans.map(|span| span.weight)).into_iter().zip(&ends) {
            if slice == [[0; 2]; 2] {
                continue;
            }
            let mut quad = [([0; 4], 0); 4];
            let corners = slice.as_flattened().iter().zip([(0, 0), (1, 0), (0, 1), (1, 1)]);
            for (entry, (&weight, (right, down))) in quad.iter_mut().zip(corners) {
                if weight > 0 {
                    let offsets = Offsets { column: ends[right].column, row: ends[down].row, slice: z.slice };
                    *entry = (offsets.texel(layer, texels)?, weight);
                }
            }
            sum.add(&quad);
        }
        Ok(())
    }

    fn gather<E>(&self, component: u8, texels: &mut Texels<'_, '_, E>) -> Result<[u32; 4], E> {
        /// Ends of the spans along x and y.
        const CORNERS: [[usize; 2]; 4] = [[0, 1], [1, 1], [1, 0], [0, 0]];
        let (size, level) = (size(self.image, 0), Level::new(self.image, 0));
        let component = usize::from(component % 4);
        let mut result = [0; 4];
        let numbers = texels.numbers();
        // They come through the filter, by themselves.
        let filtered = |quad: &[([u32; 4], u32)]| match quad {
            [(texel, _), ..] if self.integers => texel[component],
            quad => {
                let mut sum = Sum::new(numbers);
                sum.add(quad);
                sum.bits()[component]
            }
        };
        if self.seamless() {
            let [(x, _), (y, _)] = [0, 1].map(|axis| self.axis(axis, size).unwrapped(self.coords[axis]));
            for (result, [right, down]) in result.iter_mut().zip(CORNERS) {
                let (i, j) = (x + right as i64, y + down as i64);
                *result = filtered(&self.beyond(&level, size[0], [i, j], WHOLE, texels)?);
            }
            return Ok(result);
        }
        let layer = level.layer(self.layer(self.face));
        let mut spans = [Span::default(); 2];
        for (axis, span) in spans.iter_mut().enumerate() {
            *span = self.axis(axis, size).linear(self.coords[axis]);
        }
        let z = if self.image.kind == Kind::D3 { self.axis(2, size).point(self.coords[2]) } else { 0 };
        for (result, [right, down]) in result.iter_mut().zip(CORNERS) {
            let offsets = Offsets::new(&level, [spans[0].index[right], spans[1].index[down], z]);
            *result = filtered(&[(offsets.texel(layer, texels)?, WHOLE)]);
        }
        Ok(result)
    }

    /// Adds a cube's texels, also across the edges of faces.
    fn add_across_faces<E>(
        &self,
        level: &Level<'_>,
        size: u32,
        weight: u32,
        texels: &mut Texels<'_, '_, E>,
        sum: &mut Sum,
    ) -> Result<(), E> {
        let [(i, u), (j, v)] = [0, 1].map(|axis| self.axis(axis, [size; 3]).unwrapped(self.coords[axis]));
        let [[above, below], _] = weights(weight, [u, v, 0]);
        let mut quad = [([0; 4], 0); 6];
        let mut entries = quad.iter_mut();
        for (weights, j) in [(above, j), (below, j + 1)] {
            for (weight, i) in weights.into_iter().zip([i, i + 1]) {
                if weight > 0 {
                    let parts = self.beyond(level, size, [i, j], weight, texels)?;
                    // Only one of the four places can be beyond a corner.
                    for (part, entry) in parts.into_iter().filter(|(_, part)| *part > 0).zip(entries.by_ref()) {
                        *entry = part;
                    }
                }
            }
        }
        sum.add(&quad);
        Ok(())
    }

    /// A texel of the face, or beyond one of its edges; beyond a corner the three at it. With their parts of a weight.
    fn beyond<E>(
        &self,
        level: &Level<'_>,
        size: u32,
        place: [i64; 2],
        weight: u32,
        texels: &mut Texels<'_, '_, E>,
    ) -> Result<[([u32; 4], u32); 3], E> {
        let mut at = |place: [i64; 2]| {
            let (face, [x, y]) = cube::texel(self.face, place, size);
            Offsets::new(level, [x, y, 0]).texel(level.layer(self.layer(face)), texels)
        };
        let [x, y] = place.map(|k| k.clamp(0, i64::from(size) - 1));
        if self.integers || x == place[0] || y == place[1] {
            return Ok([(at(place)?, weight), ([0; 4], 0), ([0; 4], 0)]);
        }
        let third = share(weight, 85);
        Ok([(at([x, y])?, weight - 2 * third), (at([place[0], y])?, third), (at([x, place[1]])?, third)])
    }
}

/// Of a texel from where its layer begins. None: it is the border.
struct Offsets {
    column: Option<u64>,
    row: Option<u64>,
    slice: Option<u64>,
}

impl Offsets {
    #[inline]
    fn new(level: &Level<'_>, [x, y, z]: [u32; 3]) -> Self {
        Offsets {
            column: (x != BORDER).then(|| level.column(x)),
            row: (y != BORDER).then(|| level.row(y)),
            slice: (z != BORDER).then(|| level.slice(z)),
        }
    }

    #[inline]
    fn texel<E>(&self, layer: u64, texels: &mut Texels<'_, '_, E>) -> Result<[u32; 4], E> {
        match (self.column, self.row, self.slice) {
            (Some(column), Some(row), Some(slice)) => {
                texels.at(layer.wrapping_add(column).wrapping_add(row).wrapping_add(slice))
            }
            _ => Ok(texels.border()),
        }
    }
}
