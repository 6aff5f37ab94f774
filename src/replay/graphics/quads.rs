//! The lanes of the rasteriser's quads: the inputs that hardware gives to a fragment program.
//!
//! Source: the Vulkan specification, "Basic Triangle Rasterization". Everything is computed in
//! doubles and rounded once. Samples and centroids are centres.

use super::raster::{Part, Raster, Span};
use super::{Input, WAVE_QUADS};

/// Lanes of a quad: (x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1).
pub const QUAD: usize = 4;

/// A value for each lane.
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

/// The weights of the triangle's corners in each lane.
struct Weights {
    /// The screen weights of the part's corners, over w. Their sum is 1 / w.
    over_w: [Lanes<f64>; 3],
    w: Lanes<f64>,
}

impl Raster {
    /// The inputs that the rasteriser gives to lanes.
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

    /// Returns the triangle of all quads, if there is only one.
    pub fn one_triangle(&self) -> Option<u32> {
        let mut drawn = self.spans.iter().map(|span| self.parts[span.part as usize].triangle);
        let first = drawn.next()?;
        drawn.all(|triangle| triangle == first).then_some(first)
    }

    /// Returns the number of lanes of all quads.
    pub fn lanes(&self) -> usize {
        QUAD * self.quads
    }

    /// Iterates over all quads.
    pub fn quads(&self) -> impl Iterator<Item = Quad<'_>> {
        self.spans.iter().flat_map(|span| self.quads_of(span))
    }

    /// Iterates over the quads of a wave.
    ///
    /// The last wave may have less than [`WAVE_QUADS`]; later waves have none.
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
    /// Returns the number of the quad's triangle.
    pub fn primitive(&self) -> u32 {
        self.part.triangle
    }

    /// Tells which lanes are covered, so no helpers.
    pub fn covered(&self) -> Lanes<bool> {
        lanes(|lane| self.span.covered[lane / 2].contains(&(self.x + lane as u16 % 2)))
    }

    /// Returns the column and the row of each pixel.
    pub fn places(&self) -> Lanes<[u32; 2]> {
        lanes(|lane| {
            [u32::from(self.x) + lane as u32 % 2, u32::from(self.span.y) + lane as u32 / 2]
        })
    }

    /// Returns up to three words of each lane, component by component.
    ///
    /// Inputs that the rasteriser does not make are 0.
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

    /// Returns the interpolated depths.
    pub fn depths(&self) -> Lanes<f32> {
        self.depth().map(|depth| depth as f32)
    }

    /// Returns the centres of the columns and of the rows of pixels.
    #[inline(always)]
    fn centres(&self) -> [[f64; 2]; 2] {
        let [x, y] = [f64::from(self.x), f64::from(self.span.y)];
        [[x + 0.5, x + 1.5], [y + 0.5, y + 1.5]]
    }

    /// Returns the weights of the part's corners on the screen.
    ///
    /// A weight is the distance from the opposite edge: a column's term plus a row's term.
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

    /// Returns the weights of the triangle's own corner, with perspective.
    #[inline(always)]
    fn persp(&self, Weights { over_w, w }: &Weights, corner: usize) -> Lanes<f64> {
        let of = |i: usize, lane: usize| {
            over_w[i][lane] * w[lane] * self.part.corners[i].weights[corner]
        };
        lanes(|lane| of(0, lane) + of(1, lane) + of(2, lane))
    }

    /// Returns the weights of the triangle's own corner on the screen.
    ///
    /// They also hold for corners behind the eye: linear over w means linear over the screen.
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
