//! The lanes of quads that a rasteriser makes: what hardware gives a fragment program of them.
//!
//! Source: the Vulkan specification, "Basic Triangle Rasterization". All is computed in doubles and rounded once. Samples and centroids are centres.

use super::raster::{Part, Raster, Span};
use super::{Input, WAVE_QUADS};

/// Lanes of a quad: (x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1).
pub const QUAD: usize = 4;

/// Something of each lane.
type Lanes<T> = [T; QUAD];

#[inline(always)]
fn lanes<T>(of: impl FnMut(usize) -> T) -> Lanes<T> {
    std::array::from_fn(of)
}

/// A quad that a part of a triangle touches.
#[derive(Clone, Copy)]
pub struct Quad<'r> {
    raster: &'r Raster,
    part: &'r Part,
    span: &'r Span,
    x: u16,
}

/// A lane's place among the triangle's corners.
struct Weights {
    /// On the screen, of the part's corners, over w. The sum is 1 / w.
    over_w: [Lanes<f64>; 3],
    w: Lanes<f64>,
}

impl Raster {
    /// What lanes of it are given.
    pub const INPUTS: [Input; 20] = [
        Input::PerspSample,
        Input::PerspCenter,
        Input::PerspCentroid,
        Input::PerspPullModel,
        Input::LinearSample,
        Input::LinearCenter,
        Input::LinearCentroid,
        Input::PosX,
        Input::PosY,
        Input::PosZ,
        Input::PosW,
        Input::FrontFace,
        Input::Ancillary,
        Input::SampleCoverage,
        Input::X,
        Input::Y,
        Input::Z,
        Input::InverseW,
        Input::Barycentric,
        Input::Front,
    ];

    /// The triangle of all quads, if there is only one.
    pub fn one_triangle(&self) -> Option<u32> {
        let mut drawn = self.spans.iter().map(|span| self.parts[span.part as usize].triangle);
        let first = drawn.next()?;
        drawn.all(|triangle| triangle == first).then_some(first)
    }

    /// Of all quads.
    pub fn lanes(&self) -> usize {
        QUAD * self.quads
    }

    /// All quads.
    pub fn quads(&self) -> impl Iterator<Item = Quad<'_>> {
        self.spans.iter().flat_map(|span| self.quads_of(span))
    }

    /// Those of a wave, less than [`WAVE_QUADS`] of the last one; none of those after it.
    pub fn wave(&self, number: usize) -> impl Iterator<Item = Quad<'_>> {
        let first = number * WAVE_QUADS;
        let spans = self.waves.get(number).map_or(&[][..], |&span| &self.spans[span as usize..]);
        let skipped = spans.first().map_or(0, |span| first - span.first as usize);
        spans.iter().flat_map(|span| self.quads_of(span)).skip(skipped).take(WAVE_QUADS)
    }

    fn quads_of<'r>(&'r self, span: &'r Span) -> impl Iterator<Item = Quad<'r>> {
        let part = &self.parts[span.part as usize];
        span.columns.clone().step_by(2).map(move |x| Quad { raster: self, part, span, x })
    }
}

impl Quad<'_> {
    /// The number of its triangle.
    pub fn primitive(&self) -> u32 {
        self.part.triangle
    }

    /// Which lanes are no helpers.
    pub fn covered(&self) -> Lanes<bool> {
        lanes(|lane| self.span.covered[lane / 2].contains(&(self.x + lane as u16 % 2)))
    }

    /// The column and the row of each pixel.
    pub fn places(&self) -> Lanes<[u32; 2]> {
        lanes(|lane| {
            [u32::from(self.x) + lane as u32 % 2, u32::from(self.span.y) + lane as u32 / 2]
        })
    }

    /// Up to three words of each lane, component by component. 0 of what the rasteriser does not make.
    #[inline(always)]
    pub fn input(&self, input: Input) -> [Lanes<u32>; 3] {
        use Input::*;
        let all = |word: u32| [[word; QUAD], [0; QUAD], [0; QUAD]];
        let one = |of: Lanes<f64>| [rounded(of), [0; QUAD], [0; QUAD]];
        match input {
            PerspSample | PerspCenter | PerspCentroid => {
                let weights = self.weights();
                [rounded(self.persp(&weights, 1)), rounded(self.persp(&weights, 2)), [0; QUAD]]
            }
            PerspPullModel => {
                let weights = self.weights();
                let over_w = |of: Lanes<f64>| rounded(lanes(|lane| of[lane] / weights.w[lane]));
                [
                    over_w(self.persp(&weights, 1)),
                    over_w(self.persp(&weights, 2)),
                    over_w([1.0; QUAD]),
                ]
            }
            LinearSample | LinearCenter | LinearCentroid | Barycentric => {
                let weights = self.weights();
                [rounded(self.linear(&weights, 1)), rounded(self.linear(&weights, 2)), [0; QUAD]]
            }
            PosX | X => one(lanes(|lane| self.centres()[0][lane % 2])),
            PosY | Y => one(lanes(|lane| self.centres()[1][lane / 2])),
            PosZ | Z => one(self.depth()),
            PosW => one(self.weights().w),
            InverseW => one(self.weights().w.map(|w| 1.0 / w)),
            FrontFace | Front => all(if self.part.front { u32::MAX } else { 0 }),
            SampleCoverage => all(1),
            _ => all(0),
        }
    }

    /// The depth that is interpolated.
    pub fn depths(&self) -> Lanes<f32> {
        self.depth().map(|depth| depth as f32)
    }

    /// Of the columns and of the rows of pixels.
    #[inline(always)]
    fn centres(&self) -> [[f64; 2]; 2] {
        let [x, y] = [f64::from(self.x), f64::from(self.span.y)];
        [[x + 0.5, x + 1.5], [y + 0.5, y + 1.5]]
    }

    /// Weights of the part's corners on the screen: the distances from the edges across, of which a column and a row have a part each.
    #[inline(always)]
    fn screen(&self) -> [Lanes<f64>; 3] {
        let Part { places, inverse_area, .. } = self.part;
        let [columns, rows] = self.centres();
        let of = |i: usize| {
            let (from, to) = (places[(i + 1) % 3], places[(i + 2) % 3]);
            let down = |y: f64| (to[0] - from[0]) * (y - from[1]);
            let along = |x: f64| (to[1] - from[1]) * (x - from[0]);
            let (down, along) =
                ([down(rows[0]), down(rows[1])], [along(columns[0]), along(columns[1])]);
            lanes(|lane| (down[lane / 2] - along[lane % 2]) * inverse_area)
        };
        [of(0), of(1), of(2)]
    }

    #[inline(always)]
    fn weights(&self) -> Weights {
        let screen = self.screen();
        let over = |i: usize| lanes(|lane| screen[i][lane] * self.part.inverse_w[i]);
        let over_w = [over(0), over(1), over(2)];
        let w = lanes(|lane| 1.0 / (over_w[0][lane] + over_w[1][lane] + over_w[2][lane]));
        Weights { over_w, w }
    }

    /// Of the triangle's own corner, with perspective.
    #[inline(always)]
    fn persp(&self, Weights { over_w, w }: &Weights, corner: usize) -> Lanes<f64> {
        let of = |i: usize, lane: usize| {
            over_w[i][lane] * w[lane] * self.part.corners[i].weights[corner]
        };
        lanes(|lane| of(0, lane) + of(1, lane) + of(2, lane))
    }

    /// The same on the screen; of corners behind the eye too, as what is linear over the screen is what is over w.
    #[inline(always)]
    fn linear(&self, weights: &Weights, corner: usize) -> Lanes<f64> {
        let persp = self.persp(weights, corner);
        lanes(|lane| persp[lane] * self.part.triangle_w[corner] / weights.w[lane])
    }

    #[inline(always)]
    fn depth(&self) -> Lanes<f64> {
        let (screen, [near, far]) = (self.screen(), self.raster.depth_range);
        let of = |i: usize, lane: usize| {
            let [_, _, z, _] = self.part.corners[i].clip;
            screen[i][lane] * z * self.part.inverse_w[i]
        };
        lanes(|lane| near + (far - near) * (of(0, lane) + of(1, lane) + of(2, lane)))
    }
}

#[inline(always)]
fn rounded(of: Lanes<f64>) -> Lanes<u32> {
    lanes(|lane| (of[lane] as f32).to_bits())
}
