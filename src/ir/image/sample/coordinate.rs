//! Coordinates along an axis, and the texels there. Source: facts, `maxwell-surfaces.md`, sections 5.2 to 5.4.

use super::super::sampler::Wrap;

/// Stands for a texel outside of the image, in place of its number.
pub const BORDER: u32 = u32::MAX;

/// The numbers of two neighbours, and the weight of the second. Section 5.3.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    pub index: [u32; 2],
    pub weight: f32,
}

/// 0 for a NaN.
pub fn number(x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x }
}

/// No image is that large; from here on all numbers are integers.
const FAR: f32 = (1u64 << 40) as f32;
/// From here on floats are integers.
const WHOLE: f32 = (1 << 24) as f32;

/// Of any number that is below [`FAR`] either way.
#[inline]
fn floor(x: f32) -> i64 {
    let towards_zero = x as i64;
    towards_zero - i64::from(towards_zero as f32 > x)
}

/// The nearest number of 256ths, of two the even one.
#[inline]
pub fn round(x: f32) -> i64 {
    // Addition rounds where a double's places are worth 1. Faster than rounding, which older processors do not have.
    const PLACES: f64 = (3u64 << 51) as f64;
    let fixed = f64::from((x * 256.0).clamp(-FAR, FAR));
    (fixed + PLACES).to_bits() as i64 - PLACES.to_bits() as i64
}

/// How coordinates along an axis are texels.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    pub wrap: Wrap,
    /// In texels.
    pub size: u32,
    pub normalized: bool,
    pub offset: i32,
}

impl Axis {
    /// Coordinates in texels know no repetition: section 1.4.
    #[inline]
    fn wrap(&self) -> Wrap {
        match self.wrap {
            Wrap::Repeat | Wrap::Mirror if !self.normalized => Wrap::ClampToEdge,
            wrap => wrap,
        }
    }

    /// The coordinate in texels, and whether the image is turned around there.
    #[inline]
    fn place(&self, x: f32) -> (f32, bool) {
        let (x, offset, size) = (number(x), self.offset as f32, self.size as f32);
        let fraction = |x: f32| if x.abs() < WHOLE { x - floor(x) as f32 } else { 0.0 };
        let (u, mirrored) = match self.wrap() {
            Wrap::Repeat => (fraction(x) * size + offset, false),
            // The offset leads away from where the image begins, so back along it.
            Wrap::Mirror if x.abs() < WHOLE && floor(x) & 1 != 0 => ((1.0 - fraction(x)) * size - offset, true),
            Wrap::Mirror => (fraction(x) * size + offset, false),
            _ if self.normalized => (x * size + offset, false),
            _ => (x + offset, false),
        };
        match self.wrap() {
            Wrap::Clamp => (u.clamp(0.0, size), false),
            Wrap::MirrorOnceToEdge | Wrap::MirrorOnceBorder => (u.abs(), u < 0.0),
            Wrap::MirrorOnceClamp => (u.abs().min(size), u < 0.0),
            _ => (u, mirrored),
        }
    }

    /// The number of the texel that stands in this place.
    #[inline]
    fn index(&self, i: i64) -> u32 {
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
            Wrap::Border | Wrap::MirrorOnceBorder | Wrap::Clamp | Wrap::MirrorOnceClamp => return BORDER,
        };
        index as u32
    }

    /// The texel at a coordinate.
    #[inline]
    pub fn point(&self, x: f32) -> u32 {
        let i = floor(self.place(x).0.clamp(-FAR, FAR));
        match self.wrap() {
            // The end belongs to the last texel. Source: OpenGL 1.5, section 3.8.8.
            Wrap::Clamp | Wrap::MirrorOnceClamp => self.index(i.min(i64::from(self.size) - 1)),
            _ => self.index(i),
        }
    }

    /// The texels whose centres are around a coordinate.
    #[inline]
    pub fn linear(&self, x: f32) -> Span {
        let (u, mirrored) = self.place(x);
        let (i, weight) = around(u);
        let [low, high] = [self.index(i), self.index(i + 1)];
        if mirrored { Span { index: [high, low], weight: 1.0 - weight } } else { Span { index: [low, high], weight } }
    }

    /// The number of the first of these texels, which may lie outside, and the weight of the second.
    pub fn unwrapped(&self, x: f32) -> (i64, f32) {
        around(self.place(x).0)
    }
}

#[inline]
fn around(u: f32) -> (i64, f32) {
    let fixed = round(u - 0.5);
    (fixed >> 8, (fixed & 255) as f32 / 256.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guides_example() {
        let axis = Axis { wrap: Wrap::Border, size: 4, normalized: false, offset: 0 };
        let span = axis.linear(2.49805);
        assert_eq!((span.index, span.weight), ([2, 3], 0.0));
        assert_eq!(axis.linear(-0.25).index, [BORDER, 0]);
    }

    #[test]
    fn rounding_is_to_even() {
        let numbers = [0.5, 1.5, 2.5, -0.5, -1.5, 0.49, -2.51, 1e6];
        assert_eq!(numbers.map(|x| round(x / 256.0)), [0, 2, 2, 0, -2, 0, -3, 1_000_000]);
        assert_eq!([f32::INFINITY, f32::MIN].map(round), [1 << 40, -1 << 40]);
    }

    #[test]
    fn offsets_go_back_in_mirrors() {
        let axis = |offset| Axis { wrap: Wrap::Mirror, size: 4, normalized: true, offset };
        // Texels of three periods: 3 2 1 0, 0 1 2 3, 3 2 1 0.
        let row = |offset| [-0.6, -0.1, 0.1, 0.9, 1.1, 1.4].map(|x| axis(offset).point(x));
        assert_eq!(row(0), [2, 0, 0, 3, 3, 2]);
        assert_eq!(row(1), [1, 0, 1, 3, 2, 1]);
        assert_eq!((axis(0).linear(1.5).index, axis(0).linear(0.5).index), ([2, 1], [1, 2]));
    }
}
