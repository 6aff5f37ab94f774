//! The function of a texture unit: the value of an image at a coordinate, through a sampler.
//!
//! Source: facts, `maxwell-surfaces.md`, section 5, which for the most part describes an H200. It
//! leaves some points open, which are decided here:
//! - Offsets are added to the coordinate in texels. Repeated and mirrored images continue beside
//!   the first image. Cubes take no offsets.
//! - The image's kind decides which coordinates, derivatives and layers count; a line is a plane of
//!   one row.
//! - The choice between the filters uses the level of detail after the sampler's clamp and before
//!   the image's clamp.
//! - A level of detail that is a NaN counts as 0.
//! - A bias of the image, if not 0, replaces the sampler's bias.
//! - Gathers read the first level of the view.
//! - Comparisons take the texel's red after the swizzle, and all components get the result.
//!   Integers are not compared.
//! - A filtered NaN is `0x7fffffff`, as in all arithmetic.
//! - Seamless cubes of integers: the texel beyond a corner is the corner's texel of the face
//!   itself.
//! - An image that is larger than descriptors can express, or has no texel or level, reads as 0.

mod coordinate;
mod cube;
mod filter;
mod srgb;
#[cfg(test)]
mod tests;
mod texel;

use self::coordinate::{Axis, BORDER, Span};
pub use self::cube::beyond_face;
use self::filter::{Sum, WHOLE, share, weights};
use self::texel::{Format, Texels};
use super::layout::{Layout, MAX_BLOCK, Plane};
use super::sampler::{Filter, MipFilter, Sampler, Wrap};
use super::{Image, Kind};

/// The coordinates and parameters of a texture operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The bits of floats; for fetches, signed integers. For a fetch from a cube, the third is the
    /// face.
    pub coords: [u32; 3],
    /// The layer of an array, or the cube of an array of cubes.
    pub layer: u32,
    /// The level of detail without bias, as bits of a float; for fetches the level, a signed
    /// integer. Gathers ignore it.
    pub lod: u32,
    /// The reference of samplers that compare, as bits of a float. Fetches do not compare.
    pub reference: u32,
    /// The offset in texels.
    pub offset: [i32; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Sample,
    /// Samples at the level of the gradients, plus the given level: [`View::level_of_gradients`].
    SampleGradients,
    /// Returns the level of detail of the gradients instead of the value, in 256ths: first
    /// unclamped, as a signed number, then the level, or the position between two levels, that
    /// would be read.
    Level,
    /// Fetches a texel by its number; out of range it is 0.
    Fetch,
    /// Fetches a texel by its number; out of range along an axis or of the layers, it is the
    /// nearest existing texel.
    FetchNearest,
    /// Fetches a texel by its number. Out of range along an axis, the sampler's rule for
    /// coordinates in texels holds; out of range of the layers, it is the last layer; out of range
    /// of a buffer, it is 0.
    FetchAddressed,
    /// Returns a component of the four texels that a linear filter takes: lower left, lower right,
    /// upper right, upper left, where lower means the greater y. With a comparison, returns its
    /// four results.
    Gather {
        component: u8,
    },
}

impl Operation {
    /// Returns whether coordinates are integers, the numbers of texels.
    pub fn fetches(self) -> bool {
        matches!(self, Operation::Fetch | Operation::FetchNearest | Operation::FetchAddressed)
    }
}

/// A source of texels: guest memory.
pub trait Read {
    type Error;

    /// Reads bytes of a texel. Returns true if they belong to a non-resident sparse page, and thus
    /// are 0.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<bool, Self::Error>;
}

impl<E, F: FnMut(u64, &mut [u8]) -> Result<bool, E>> Read for F {
    type Error = E;

    #[inline]
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<bool, E> {
        self(address, bytes)
    }
}

/// The limits of descriptors: sizes in texels, layers, and bytes of a row.
const MAX_SIZE: u32 = 1 << 17;
const MAX_LAYERS: u32 = 1 << 17;
const MAX_PITCH: u32 = 1 << 24;
const MAX_LEVELS: u8 = 16;
const MAX_TEXEL_BYTES: u8 = 16;

/// An image as a sampler reads it.
pub struct View {
    image: Image,
    sampler: Sampler,
    /// Whether coordinates are from 0 to 1.
    normalized: bool,
    /// Whether texels are filtered across the edges of a cube's faces.
    seamless: bool,
    /// The levels from the first visible level on; empty if nothing is visible.
    levels: Vec<Level>,
    /// The bytes from a layer to the next.
    layer_stride: u64,
    format: Format,
}

impl View {
    /// Makes a view. If the sampler compares, samples and gathers compare.
    pub fn new(image: &Image, sampler: &Sampler) -> View {
        let last = last_level(image);
        let cube = image.kind == Kind::Cube;
        View {
            image: *image,
            sampler: *sampler,
            normalized: cube || image.normalized && !sampler.force_unnormalized,
            seamless: sampler.seamless && cube && image.size[0] == image.size[1],
            levels: last.map_or_else(Vec::new, |last| {
                (0..=last).map(|level| Level::new(image, level)).collect()
            }),
            layer_stride: if last.is_some() && image.kind != Kind::Buffer {
                image.layer_stride()
            } else {
                0
            },
            format: Format::new(image, sampler),
        }
    }

    /// The value of the image: four components after the swizzle, as the bits of registers, and
    /// whether any of its texels belongs to a non-resident sparse page.
    ///
    /// # Errors
    /// The errors of `read`.
    pub fn sample<R: Read>(
        &self,
        operation: Operation,
        query: &Query,
        read: R,
    ) -> Result<([u32; 4], bool), R::Error> {
        let image = &self.image;
        let Some(last) = self.levels.len().checked_sub(1) else { return Ok(([0; 4], false)) };
        let reference = f32::from_bits(query.reference);
        let mut texels =
            Texels::new(&self.format, Some(reference).filter(|_| !operation.fetches()), read);
        if operation.fetches() {
            let value = self.fetch(query, operation, &mut texels)?;
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
        let place = SamplePoint { view: self, coords, offset, face, layer };
        if let Operation::Gather { component } = operation {
            let value = place.gather(component, &mut texels)?;
            return Ok((value, texels.sparse));
        }

        let base = cut(f32::from_bits(query.lod));
        let lod = self.clamped_lod(base);
        let filter = if self.format.integers {
            Filter::Point
        } else if lod > 0.0 {
            self.sampler.min
        } else {
            self.sampler.mag
        };
        let lod = lod.max(image.min_lod).max(0.0).min(last as f32);
        let (level, fraction) = match self.sampler.mip {
            MipFilter::None => (0, 0),
            MipFilter::Linear if !self.format.integers => {
                ((lod * 256.0) as u32 >> 8, (lod * 256.0) as u32 & 255)
            }
            _ => ((lod + 0.5) as u32, 0),
        };
        // The level is in range already, unless bits of the image are NaNs.
        let level = (level as usize).min(last);
        if operation == Operation::Level {
            // If no coordinate changes, the level is infinite, and becomes the least value.
            let whole = (base.clamp(-128.0, 127.0) * 256.0) as i32 as u32;
            return Ok(([whole, (level as u32) << 8 | fraction, 0, 0], false));
        }
        if filter == Filter::Point && fraction == 0 {
            let value = place.nearest(level, &mut texels)?;
            return Ok((value, texels.sparse));
        }
        let mut sum = Sum::new(self.format.numbers);
        place.add_level(level, WHOLE - fraction, filter, &mut texels, &mut sum)?;
        if fraction > 0 {
            place.add_level((level + 1).min(last), fraction, filter, &mut texels, &mut sum)?;
        }
        Ok((sum.bits(), texels.sparse))
    }

    /// The level of detail from derivatives of the coordinates along x and y of the screen. It is
    /// the logarithm of the longer derivative, in texels of the first visible level. A derivative's
    /// length is approximated by its greatest component and fractions of its other components. For
    /// cubes, the coordinates' largest component counts as 1 and as constant. Section 5.6.
    pub fn level_of_gradients(&self, dx: [f32; 3], dy: [f32; 3]) -> f32 {
        let image = &self.image;
        let axes = if image.kind == Kind::Cube { 3 } else { axes(image.kind) };
        let first = size(image, 0);
        let scale = |axis: usize| match image.kind {
            _ if !self.normalized => 1.0,
            Kind::Cube => f64::from(first[0]) / 2.0,
            _ => f64::from(first[axis]),
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

    /// Adds the bias, and clamps as the sampler demands: part of section 5.6.
    fn clamped_lod(&self, base: f32) -> f32 {
        let (image, sampler) = (&self.image, &self.sampler);
        let bias = if image.lod_bias != 0.0 { image.lod_bias } else { sampler.lod_bias };
        (base + bias).max(sampler.min_lod).min(sampler.max_lod)
    }

    /// The address of a layer of a level. A layer of a cube is a face.
    fn layer(&self, level: &Level, layer: u32) -> u64 {
        level.address.wrapping_add(self.layer_stride.wrapping_mul(layer.into()))
    }

    /// Fetches a texel: section 5.5.
    fn fetch<R: Read>(
        &self,
        query: &Query,
        operation: Operation,
        texels: &mut Texels<'_, R>,
    ) -> Result<[u32; 4], R::Error> {
        let image = &self.image;
        let nearest = operation == Operation::FetchNearest;
        if operation == Operation::FetchAddressed && image.kind != Kind::Buffer {
            return self.fetch_addressed(query, texels);
        }
        let cube = image.kind == Kind::Cube;
        let Some(level) = self.levels.get(query.lod as usize) else { return Ok([0; 4]) };
        let mut size = level.size;
        size[2] = if cube { image.faces() } else { size[2] };
        let offset = if cube { [0; 3] } else { query.offset };
        let within = |i: u32, size: u32| match nearest && size > 0 {
            // The numbers of texels are signed.
            true => Some((i as i32).clamp(0, size.min(i32::MAX as u32) as i32 - 1) as u32),
            false => (i < size).then_some(i),
        };
        let [x, y, z] = [0, 1, 2]
            .map(|axis| within(query.coords[axis].wrapping_add_signed(offset[axis]), size[axis]));
        let layer = match image.array {
            true if nearest => Some(query.layer.min(image.layers - 1)),
            true => within(query.layer, image.layers),
            false => Some(0),
        };
        let (Some(x), Some(y), Some(z), Some(layer)) = (x, y, z, layer) else { return Ok([0; 4]) };
        let (layer, slice) = if cube { (6 * layer + z, 0) } else { (layer, z) };
        texels.at(level.texel(self.layer(level, layer), [x, y, slice]))
    }

    fn fetch_addressed<R: Read>(
        &self,
        query: &Query,
        texels: &mut Texels<'_, R>,
    ) -> Result<[u32; 4], R::Error> {
        let image = &self.image;
        let Some(level) = self.levels.get(query.lod as usize) else { return Ok([0; 4]) };
        let place = SamplePoint { view: self, coords: [0.0; 3], offset: [0; 3], face: 0, layer: 0 };
        let mut index = [0; 3];
        for (axis, index) in index.iter_mut().enumerate().take(axes(image.kind)) {
            let number = i64::from(query.coords[axis] as i32) + i64::from(query.offset[axis]);
            *index = Axis { normalized: false, ..place.axis(axis, level.size) }.index(number);
        }
        let layer = if image.array { query.layer.min(image.layers - 1) } else { 0 };
        texels.at(level.texel(self.layer(level, layer * image.faces()), index))
    }
}

/// The number of the last visible level, counted from the first visible level. None if nothing is
/// visible.
fn last_level(image: &Image) -> Option<u8> {
    if image.kind == Kind::Buffer {
        let plain =
            matches!(image.layout, Layout::Pitch(_)) && !image.array && image.first_level == 0;
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

fn axes(kind: Kind) -> usize {
    match kind {
        Kind::Buffer => 1,
        Kind::D1 | Kind::D2 | Kind::Cube => 2,
        Kind::D3 => 3,
    }
}

/// The size of a level of the view in texels; 1 for axes that the image does not have.
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

/// Truncates a level of detail to 256ths; 0 for a NaN.
fn cut(lod: f32) -> f32 {
    const FAR: f32 = 1000.0;
    let places = coordinate::number(lod).clamp(-FAR, FAR) * 256.0;
    (places as i32) as f32 / 256.0
}

/// A level of an image, with the location of its texels.
struct Level {
    /// The size in texels.
    size: [u32; 3],
    /// The address of the first layer.
    address: u64,
    plane: Plane,
    /// The bytes of a texel.
    bytes: u32,
}

impl Level {
    /// Makes a level of the view.
    fn new(image: &Image, number: u8) -> Self {
        let level = image.first_level + number;
        let address =
            image.base.wrapping_add(if level == 0 { 0 } else { image.level_offset(level) });
        Level {
            size: size(image, number),
            address,
            plane: image.plane(level),
            bytes: image.bytes.into(),
        }
    }

    // Offsets are sums of the offsets of a column, a row and a slice: section 3.2. Positions beyond
    // the image have no offset.

    #[inline]
    fn column(&self, x: u32) -> Option<u64> {
        let bytes = || match self.plane.layout {
            Layout::Pitch(_) => u64::from(x) * u64::from(self.bytes),
            Layout::Blocks(_) => self.plane.offset(x * self.bytes, 0, 0),
        };
        (x != BORDER).then(bytes)
    }

    #[inline]
    fn row(&self, y: u32) -> Option<u64> {
        (y != BORDER).then(|| self.plane.offset(0, y, 0))
    }

    #[inline]
    fn slice(&self, z: u32) -> Option<u64> {
        match z {
            0 => Some(0),
            BORDER => None,
            z => Some(self.plane.offset(0, 0, z)),
        }
    }

    /// The address of a texel in the layer that begins at `layer`.
    #[inline]
    fn texel(&self, layer: u64, [x, y, z]: [u32; 3]) -> Option<u64> {
        address(layer, self.column(x), self.row(y), self.slice(z))
    }
}

/// The sum of the parts of an address; none beyond the image.
#[inline]
fn address(layer: u64, column: Option<u64>, row: Option<u64>, slice: Option<u64>) -> Option<u64> {
    Some(layer.wrapping_add(column?).wrapping_add(row?).wrapping_add(slice?))
}

/// The position of a query, for all levels.
struct SamplePoint<'a> {
    view: &'a View,
    /// The coordinates; for cubes, on the face.
    coords: [f64; 3],
    offset: [i32; 3],
    face: u32,
    layer: u32,
}

impl SamplePoint<'_> {
    fn axis(&self, axis: usize, size: [u32; 3]) -> Axis {
        let view = self.view;
        Axis {
            wrap: if view.seamless { Wrap::ClampToEdge } else { view.sampler.wrap[axis] },
            size: size[axis],
            normalized: view.normalized,
            offset: self.offset[axis],
        }
    }

    /// The address of the layer, or of a face of it.
    fn layer(&self, level: &Level, face: u32) -> u64 {
        self.view.layer(level, self.layer * self.view.image.faces() + face)
    }

    /// The texel at the position.
    fn nearest<R: Read>(
        &self,
        level: usize,
        texels: &mut Texels<'_, R>,
    ) -> Result<[u32; 4], R::Error> {
        let level = &self.view.levels[level];
        let mut index = [0; 3];
        for (axis, index) in index.iter_mut().enumerate().take(axes(self.view.image.kind)) {
            *index = self.axis(axis, level.size).point(self.coords[axis]);
        }
        texels.at(level.texel(self.layer(level, self.face), index))
    }

    /// Adds a level's texels, which share a weight.
    fn add_level<R: Read>(
        &self,
        number: usize,
        weight: u32,
        filter: Filter,
        texels: &mut Texels<'_, R>,
        sum: &mut Sum,
    ) -> Result<(), R::Error> {
        if filter == Filter::Point {
            sum.add(&[(self.nearest(number, texels)?, weight)]);
            return Ok(());
        }
        let level = &self.view.levels[number];
        if self.view.seamless {
            return self.add_across_faces(level, weight, texels, sum);
        }
        let layer = self.layer(level, self.face);
        let axes = axes(self.view.image.kind);
        let span = |axis: usize| match axis < axes {
            true => self.axis(axis, level.size).linear(self.coords[axis]),
            false => Span::default(),
        };
        let (x, y, z) = (span(0), span(1), span(2));
        let (columns, rows) = (x.index.map(|x| level.column(x)), y.index.map(|y| level.row(y)));
        let slices = z.index.map(|z| level.slice(z));
        for (slice, z) in weights(weight, [x, y, z].map(|span| span.weight)).into_iter().zip(slices)
        {
            if slice == [[0; 2]; 2] {
                continue;
            }
            let corner = |right: usize, down: usize| address(layer, columns[right], rows[down], z);
            let corners = slice.as_flattened().iter().zip([(0, 0), (1, 0), (0, 1), (1, 1)]);
            let corners = corners.filter(|(weight, _)| **weight > 0);
            if texels.format.doubled {
                for (&weight, (right, down)) in corners {
                    texels.add(corner(right, down), weight, sum)?;
                }
                continue;
            }
            let mut quad = [([0; 4], 0); 4];
            for (entry, (&weight, (right, down))) in quad.iter_mut().zip(corners) {
                *entry = (texels.at(corner(right, down))?, weight);
            }
            sum.add(&quad);
        }
        Ok(())
    }

    fn gather<R: Read>(
        &self,
        component: u8,
        texels: &mut Texels<'_, R>,
    ) -> Result<[u32; 4], R::Error> {
        /// The ends of the spans along x and y.
        const CORNERS: [[usize; 2]; 4] = [[0, 1], [1, 1], [1, 0], [0, 0]];
        let view = self.view;
        let level = &view.levels[0];
        let component = usize::from(component % 4);
        let mut result = [0; 4];
        // Each texel passes the filter by itself.
        let filtered = |quad: &[([u32; 4], u32)]| match quad {
            [(texel, _), ..] if view.format.integers => texel[component],
            quad => {
                let mut sum = Sum::new(view.format.numbers);
                sum.add(quad);
                sum.bits()[component]
            }
        };
        if view.seamless {
            let [(x, _), (y, _)] =
                [0, 1].map(|axis| self.axis(axis, level.size).unwrapped(self.coords[axis]));
            for (result, [right, down]) in result.iter_mut().zip(CORNERS) {
                let (i, j) = (x + right as i64, y + down as i64);
                *result = filtered(&self.beyond(level, [i, j], WHOLE, texels)?);
            }
            return Ok(result);
        }
        let layer = self.layer(level, self.face);
        let mut spans = [Span::default(); 2];
        for (axis, span) in spans.iter_mut().enumerate() {
            *span = self.axis(axis, level.size).linear(self.coords[axis]);
        }
        let z = if view.image.kind == Kind::D3 {
            self.axis(2, level.size).point(self.coords[2])
        } else {
            0
        };
        for (result, [right, down]) in result.iter_mut().zip(CORNERS) {
            let address = level.texel(layer, [spans[0].index[right], spans[1].index[down], z]);
            *result = filtered(&[(texels.at(address)?, WHOLE)]);
        }
        Ok(result)
    }

    /// Adds a cube's texels, also across the edges of faces.
    fn add_across_faces<R: Read>(
        &self,
        level: &Level,
        weight: u32,
        texels: &mut Texels<'_, R>,
        sum: &mut Sum,
    ) -> Result<(), R::Error> {
        let [(i, u), (j, v)] =
            [0, 1].map(|axis| self.axis(axis, level.size).unwrapped(self.coords[axis]));
        let [[above, below], _] = weights(weight, [u, v, 0]);
        let mut quad = [([0; 4], 0); 6];
        let mut entries = quad.iter_mut();
        for (weights, j) in [(above, j), (below, j + 1)] {
            for (weight, i) in weights.into_iter().zip([i, i + 1]) {
                if weight > 0 {
                    let parts = self.beyond(level, [i, j], weight, texels)?;
                    // At most one of the four positions is beyond a corner.
                    for (part, entry) in
                        parts.into_iter().filter(|(_, part)| *part > 0).zip(entries.by_ref())
                    {
                        *entry = part;
                    }
                }
            }
        }
        sum.add(&quad);
        Ok(())
    }

    /// A texel of the face, or of the face beyond an edge; beyond a corner, the three texels at it.
    /// Each has its part of the weight.
    fn beyond<R: Read>(
        &self,
        level: &Level,
        place: [i64; 2],
        weight: u32,
        texels: &mut Texels<'_, R>,
    ) -> Result<[([u32; 4], u32); 3], R::Error> {
        let size = level.size[0];
        let mut at = |place: [i64; 2]| {
            let (face, [x, y]) = cube::texel(self.face, place, size);
            texels.at(level.texel(self.layer(level, face), [x, y, 0]))
        };
        let [x, y] = place.map(|k| k.clamp(0, i64::from(size) - 1));
        if self.view.format.integers || x == place[0] || y == place[1] {
            return Ok([(at(place)?, weight), ([0; 4], 0), ([0; 4], 0)]);
        }
        let third = share(weight, 85);
        Ok([
            (at([x, y])?, weight - 2 * third),
            (at([place[0], y])?, third),
            (at([x, place[1]])?, third),
        ])
    }
}
