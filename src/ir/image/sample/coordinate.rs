//! Coordinates along an axis, and their texels. Source: facts, `maxwell-surfaces.md`, sections 5.2
//! to 5.4.

use super::super::sampler::Wrap;

/// Stands for the number of a texel outside the image.
pub const BORDER: u32 = u32::MAX;

/// The numbers of two neighbours, and the weight of the second neighbour in 256ths. Section 5.3.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    pub index: [u32; 2],
    pub weight: u32,
}

/// Replaces a NaN by 0.
pub fn number(x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x }
}

/// Replaces a NaN or a denormal by 0.
pub fn normal(x: f32) -> f64 {
    if x.is_nan() || x.abs() < f32::MIN_POSITIVE { 0.0 } else { x.into() }
}

/// The binary places of a coordinate's fraction.
const PLACES: u32 = 21;
const ONE: i64 = 1 << PLACES;
/// A bound on coordinates: no image is that large.
const FAR: i64 = 1 << 42;

/// The whole part of a coordinate, and the first places of its fraction. Far-away coordinates
/// become even integers. Section 5.2.
#[inline]
fn fixed(x: f64) -> i64 {
    const EVEN: f64 = (1u64 << 46) as f64;
    let scaled = (x * ONE as f64).clamp(-EVEN, EVEN);
    let towards_zero = scaled as i64;
    towards_zero - i64::from(towards_zero as f64 > scaled)
}

/// The mapping from coordinates along an axis to texels.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    pub wrap: Wrap,
    /// The size in texels.
    pub size: u32,
    pub normalized: bool,
    pub offset: i32,
}

impl Axis {
    /// The wrap mode in effect. Coordinates in texels do not repeat: section 1.4.
    #[inline]
    fn wrap(&self) -> Wrap {
        match self.wrap {
            Wrap::Repeat | Wrap::Mirror if !self.normalized => Wrap::ClampToEdge,
            wrap => wrap,
        }
    }

    /// The coordinate in texels, with [`PLACES`] of a fraction. Repeated and mirrored images
    /// continue beside the first image.
    #[inline]
    fn place(&self, x: f64) -> i64 {
        let (x, size, offset) = (fixed(x), i64::from(self.size), i64::from(self.offset) << PLACES);
        let place = offset
            + match self.wrap() {
                Wrap::Repeat | Wrap::Mirror => x.rem_euclid(2 * ONE) * size,
                _ if self.normalized => x.clamp(-FAR, FAR) * size,
                _ => x.clamp(-FAR, FAR),
            };
        match self.wrap() {
            Wrap::Clamp => place.clamp(0, size << PLACES),
            Wrap::MirrorOnceToEdge | Wrap::MirrorOnceBorder => place.abs(),
            Wrap::MirrorOnceClamp => place.abs().min(size << PLACES),
            _ => place,
        }
    }

    /// The number of the texel at this position.
    #[inline]
    pub fn index(&self, i: i64) -> u32 {
        let size = i64::from(self.size);
        if (0..size).contains(&i) {
            return i as u32;
        }
        let index = match self.wrap() {
            Wrap::Repeat => i.rem_euclid(size),
            Wrap::Mirror => {
                let i = i.rem_euclid(2 * size);
                if i < size { i } else { 2 * size - 1 - i }
            }
            Wrap::ClampToEdge | Wrap::MirrorOnceToEdge => i.clamp(0, size - 1),
            Wrap::Border | Wrap::MirrorOnceBorder | Wrap::Clamp | Wrap::MirrorOnceClamp => {
                return BORDER;
            }
        };
        index as u32
    }

    /// The texel at a coordinate.
    #[inline]
    pub fn point(&self, x: f64) -> u32 {
        let i = self.place(x) >> PLACES;
        match self.wrap() {
            // The end belongs to the last texel. Source: OpenGL 1.5, section 3.8.8.
            Wrap::Clamp | Wrap::MirrorOnceClamp => self.index(i.min(i64::from(self.size) - 1)),
            _ => self.index(i),
        }
    }

    /// The texels whose centres surround a coordinate.
    #[inline]
    pub fn linear(&self, x: f64) -> Span {
        let (i, weight) = self.unwrapped(x);
        let at_edge = match self.wrap() {
            Wrap::ClampToEdge | Wrap::MirrorOnceToEdge => {
                !(0..i64::from(self.size) - 1).contains(&i)
            }
            _ => false,
        };
        Span { index: [self.index(i), self.index(i + 1)], weight: if at_edge { 0 } else { weight } }
    }

    /// The number of the first texel of the span, which may lie outside, and the weight of the
    /// second texel.
    #[inline]
    pub fn unwrapped(&self, x: f64) -> (i64, u32) {
        // Rounds to 256ths, ties up, and moves half a texel back.
        let place = ((self.place(x) + (1 << (PLACES - 9))) >> (PLACES - 8)) - 128;
        (place >> 8, (place & 255) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guides_example() {
        let axis = Axis { wrap: Wrap::Border, size: 4, normalized: false, offset: 0 };
        let span = axis.linear(2.49805);
        assert_eq!((span.index, span.weight), ([2, 3], 0));
        assert_eq!(axis.linear(-0.25).index, [BORDER, 0]);
    }

    #[test]
    fn places_are_rounded() {
        let axis = Axis { wrap: Wrap::ClampToEdge, size: 4, normalized: false, offset: 0 };
        let weight = |places: f64| axis.linear(1.5 + places / 256.0).weight;
        assert_eq!([0.49, 0.5, 1.49, 1.5, 2.5, 255.4].map(weight), [0, 1, 1, 2, 3, 255]);
        // Beyond the centres of the first and last texel, nothing is interpolated.
        assert_eq!([0.3, 3.7, -9.0, f64::INFINITY].map(|x| axis.linear(x).weight), [0; 4]);
        // 21 places of a third are kept, so the coordinate lies before the second texel.
        let thirds = Axis { wrap: Wrap::ClampToEdge, size: 3, normalized: true, offset: 0 };
        assert_eq!([1.0 / 3.0, 0.333_334].map(|x| thirds.point(x)), [0, 1]);
    }

    #[test]
    fn mirrored_images_go_on() {
        let axis = |offset| Axis { wrap: Wrap::Mirror, size: 4, normalized: true, offset };
        // Texels of three periods: 3 2 1 0, 0 1 2 3, 3 2 1 0.
        let row = |offset| [-0.6, -0.1, 0.1, 0.9, 1.1, 1.4].map(|x| axis(offset).point(x));
        assert_eq!(row(0), [2, 0, 0, 3, 3, 2]);
        assert_eq!(row(1), [1, 0, 1, 3, 2, 1]);
        assert_eq!((axis(0).linear(1.5).index, axis(0).linear(0.5).index), ([2, 1], [1, 2]));
    }
}
