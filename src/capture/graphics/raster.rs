//! A rasteriser for triangles: the lanes of a fragment program from what a vertex program has exported.
//!
//! Source: the Vulkan specification, "Vertex post-processing" and "Rasterization": clipping to the near and far planes, the viewport, places in 256ths of a pixel,
//! pixels at their centres, edges that belong to the triangle above or to the left. Barycentrics are computed in doubles and rounded once.

use std::collections::BTreeMap;

use super::keys::{Side, Winding};
use super::{Input, Rows};

/// What is drawn, and where.
pub(super) struct Scene {
    /// Clip coordinates of the corners of each triangle.
    pub triangles: Vec<[[f32; 4]; 3]>,
    /// Left, top, width and height in pixels; a negative height turns the picture over.
    pub viewport: [f32; 4],
    pub depth_range: [f32; 2],
    pub cull: Option<Side>,
    pub front: Winding,
}

/// Lanes in quads.
#[derive(Default)]
pub(super) struct Lanes {
    pub covered: Vec<bool>,
    /// Number of the triangle of each lane.
    pub primitive: Vec<u32>,
    pub inputs: BTreeMap<Input, Rows>,
}

/// The largest picture.
const MAX_SIDE: f64 = 16384.0;
const SUBPIXELS: f64 = 256.0;
/// Vertices at or behind the eye are none.
const LEAST_W: f64 = 1e-9;

/// A corner of a part of a triangle: clip coordinates, and weights of the triangle's own corners.
#[derive(Clone, Copy)]
struct Corner {
    clip: [f64; 4],
    weights: [f64; 3],
}

/// A lane's pixel.
struct Pixel {
    x: f64,
    y: f64,
    /// Of the triangle's corners, with and without perspective.
    persp: [f64; 3],
    linear: [f64; 3],
    depth: f64,
    w: f64,
    front: bool,
}

/// Columns and rows, ends excluded.
struct Window {
    x: [i64; 2],
    y: [i64; 2],
}

fn window([left, top, width, height]: [f32; 4]) -> Result<Window, String> {
    let span = |start: f32, size: f32| {
        let ends = [f64::from(start), f64::from(start) + f64::from(size)];
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let inside = low >= 0.0 && high <= MAX_SIDE && low < high;
        inside.then(|| [low.floor() as i64, high.ceil() as i64])
    };
    let spans = span(left, width).zip(span(top, height));
    let (x, y) = spans.ok_or_else(|| format!("expected a rectangle within {MAX_SIDE} x {MAX_SIDE} pixels"))?;
    Ok(Window { x, y })
}

/// The part of a polygon where a plane's distance is not negative.
fn clip(polygon: &[Corner], distance: impl Fn(&[f64; 4]) -> f64) -> Vec<Corner> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (i, corner) in polygon.iter().enumerate() {
        let next = &polygon[(i + 1) % polygon.len()];
        let (here, there) = (distance(&corner.clip), distance(&next.clip));
        if here >= 0.0 {
            kept.push(*corner);
        }
        if (here >= 0.0) != (there >= 0.0) {
            let part = here / (here - there);
            let mix = |a: f64, b: f64| a + (b - a) * part;
            kept.push(Corner {
                clip: std::array::from_fn(|i| mix(corner.clip[i], next.clip[i])),
                weights: std::array::from_fn(|i| mix(corner.weights[i], next.weights[i])),
            });
        }
    }
    kept
}

impl Scene {
    /// The lanes of all quads that triangles touch, triangle by triangle, at most so many.
    pub fn lanes(&self, most: u64) -> Result<Lanes, String> {
        let window = window(self.viewport)?;
        let mut pixels: Vec<Pixel> = Vec::new();
        let mut lanes = Lanes::default();
        for (number, triangle) in self.triangles.iter().enumerate() {
            if triangle.iter().flatten().any(|coordinate| !coordinate.is_finite()) {
                continue;
            }
            let corner = |i: usize| {
                let mut weights = [0.0; 3];
                weights[i] = 1.0;
                Corner { clip: triangle[i].map(f64::from), weights }
            };
            let mut polygon = vec![corner(0), corner(1), corner(2)];
            polygon = clip(&polygon, |&[.., w]| w - LEAST_W);
            polygon = clip(&polygon, |&[_, _, z, _]| z);
            polygon = clip(&polygon, |&[_, _, z, w]| w - z);
            for i in 2..polygon.len() {
                let part = [polygon[0], polygon[i - 1], polygon[i]];
                self.draw(&window, triangle, part, &mut |covered, pixel| {
                    lanes.covered.push(covered);
                    lanes.primitive.push(number as u32);
                    pixels.push(pixel);
                });
                if pixels.len() as u64 > most {
                    return Err(format!("more than {most} lanes"));
                }
            }
        }
        lanes.inputs = inputs(&pixels);
        Ok(lanes)
    }

    /// Place in the window, in pixels.
    fn place(&self, [x, y, _, w]: [f64; 4]) -> [f64; 2] {
        let [left, top, width, height] = self.viewport.map(f64::from);
        let along = |start: f64, size: f64, clip: f64| start + (clip / w + 1.0) * size / 2.0;
        [along(left, width, x), along(top, height, y)].map(|at| (at * SUBPIXELS).round_ties_even() / SUBPIXELS)
    }

    /// Calls `add` with the lanes of each quad that a part of a triangle touches.
    fn draw(&self, window: &Window, triangle: &[[f32; 4]; 3], part: [Corner; 3], add: &mut impl FnMut(bool, Pixel)) {
        let mut part = part;
        let area = area(part.map(|corner| self.place(corner.clip)));
        // Rows go down: a positive area has its corners clockwise in the picture.
        let front = (area < 0.0) == (self.front == Winding::CounterClockwise);
        let culled = if front { Side::Front } else { Side::Back };
        if area == 0.0 || self.cull == Some(culled) {
            return;
        }
        if area < 0.0 {
            part.swap(1, 2);
        }
        let (area, places) = (area.abs(), part.map(|corner| self.place(corner.clip)));
        let bounds = |axis: usize, [least, most]: [i64; 2]| {
            let along = places.map(|place| place[axis]);
            let (low, high) = (along.into_iter().fold(f64::MAX, f64::min), along.into_iter().fold(f64::MIN, f64::max));
            // The saturating conversions keep what is far outside there.
            let (low, high) = ((low.floor() as i64).max(least), (high.ceil() as i64).min(most));
            (low & !1, high)
        };
        let ((left, right), (top, bottom)) = (bounds(0, window.x), bounds(1, window.y));
        let inside =
            |x: i64, y: i64| (window.x[0]..window.x[1]).contains(&x) && (window.y[0]..window.y[1]).contains(&y);
        for y in (top..bottom).step_by(2) {
            for x in (left..right).step_by(2) {
                let quad = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
                let edges = quad.map(|(x, y)| edges(&places, [x as f64 + 0.5, y as f64 + 0.5]));
                let covered: [bool; 4] =
                    std::array::from_fn(|i| inside(quad[i].0, quad[i].1) && is_inside(&places, &edges[i]));
                if covered.contains(&true) {
                    for (i, (x, y)) in quad.into_iter().enumerate() {
                        let weights = edges[i].map(|edge| edge / area);
                        let place = [x as f64 + 0.5, y as f64 + 0.5];
                        add(covered[i], self.pixel(triangle, &part, weights, place, front));
                    }
                }
            }
        }
    }

    /// A pixel by its screen-linear weights of the part's corners.
    fn pixel(
        &self,
        triangle: &[[f32; 4]; 3],
        part: &[Corner; 3],
        weights: [f64; 3],
        [x, y]: [f64; 2],
        front: bool,
    ) -> Pixel {
        let over_w: [f64; 3] = std::array::from_fn(|i| weights[i] / part[i].clip[3]);
        let w = 1.0 / over_w.iter().sum::<f64>();
        let persp: [f64; 3] = std::array::from_fn(|k| (0..3).map(|i| over_w[i] * w * part[i].weights[k]).sum());
        let ndc: f64 = (0..3).map(|i| weights[i] * part[i].clip[2] / part[i].clip[3]).sum();
        let [near, far] = self.depth_range.map(f64::from);
        // Of the triangle's own corners, behind the eye too: what is linear over the screen is what is over w.
        let linear: [f64; 3] = std::array::from_fn(|k| persp[k] * f64::from(triangle[k][3]) / w);
        Pixel { x, y, persp, linear, depth: near + (far - near) * ndc, w, front }
    }
}

/// Twice the area, positive if corners are clockwise where rows go down.
fn area([a, b, c]: [[f64; 2]; 3]) -> f64 {
    cross(a, b, c)
}

/// Where a point lies to the edge from a to b.
fn cross(a: [f64; 2], b: [f64; 2], point: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])
}

/// Of each corner, the distance from the edge across.
fn edges(places: &[[f64; 2]; 3], point: [f64; 2]) -> [f64; 3] {
    [0, 1, 2].map(|i| cross(places[(i + 1) % 3], places[(i + 2) % 3], point))
}

/// A point on an edge is inside if the edge is at the top or on the left.
fn is_inside(places: &[[f64; 2]; 3], edges: &[f64; 3]) -> bool {
    edges.iter().enumerate().all(|(i, &edge)| {
        let (a, b) = (places[(i + 1) % 3], places[(i + 2) % 3]);
        let owns = b[1] < a[1] || b[1] == a[1] && b[0] > a[0];
        edge > 0.0 || edge == 0.0 && owns
    })
}

/// What both kinds of hardware give lanes: samples and centroids are centres.
fn inputs(pixels: &[Pixel]) -> BTreeMap<Input, Rows> {
    type Words = fn(&Pixel) -> [u32; 3];
    fn one(x: f64) -> [u32; 3] {
        [(x as f32).to_bits(), 0, 0]
    }
    fn two([_, i, j]: [f64; 3]) -> [u32; 3] {
        [(i as f32).to_bits(), (j as f32).to_bits(), 0]
    }
    let rows: [(Input, Words); 20] = [
        (Input::PerspSample, |pixel| two(pixel.persp)),
        (Input::PerspCenter, |pixel| two(pixel.persp)),
        (Input::PerspCentroid, |pixel| two(pixel.persp)),
        (Input::PerspPullModel, |pixel| {
            let [i, j, _] = two(pixel.persp.map(|weight| weight / pixel.w));
            [i, j, one(1.0 / pixel.w)[0]]
        }),
        (Input::LinearSample, |pixel| two(pixel.linear)),
        (Input::LinearCenter, |pixel| two(pixel.linear)),
        (Input::LinearCentroid, |pixel| two(pixel.linear)),
        (Input::PosX, |pixel| one(pixel.x)),
        (Input::PosY, |pixel| one(pixel.y)),
        (Input::PosZ, |pixel| one(pixel.depth)),
        (Input::PosW, |pixel| one(pixel.w)),
        (Input::FrontFace, |pixel| [if pixel.front { u32::MAX } else { 0 }, 0, 0]),
        (Input::Ancillary, |_| [0; 3]),
        (Input::SampleCoverage, |_| [1, 0, 0]),
        (Input::X, |pixel| one(pixel.x)),
        (Input::Y, |pixel| one(pixel.y)),
        (Input::Z, |pixel| one(pixel.depth)),
        (Input::InverseW, |pixel| one(1.0 / pixel.w)),
        (Input::Barycentric, |pixel| two(pixel.linear)),
        (Input::Front, |pixel| [if pixel.front { u32::MAX } else { 0 }, 0, 0]),
    ];
    let row = |(input, words): (Input, Words)| {
        let components = 0..input.components();
        let words = components.flat_map(|component| pixels.iter().map(move |pixel| words(pixel)[component]));
        (input, Rows { lanes: pixels.len(), words: words.collect() })
    };
    rows.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(triangles: Vec<[[f32; 4]; 3]>) -> Scene {
        let viewport = [0.0, 0.0, 8.0, 6.0];
        Scene { triangles, viewport, depth_range: [0.0, 1.0], cull: None, front: Winding::CounterClockwise }
    }

    fn float(lanes: &Lanes, input: Input, component: usize, lane: usize) -> f32 {
        f32::from_bits(lanes.inputs[&input].row(component)[lane])
    }

    /// Places of the covered lanes, sorted.
    fn covered(lanes: &Lanes) -> Vec<(u32, u32)> {
        let all = (0..lanes.covered.len()).filter(|&lane| lanes.covered[lane]);
        let place = |lane| {
            let [x, y] = [Input::PosX, Input::PosY].map(|input| float(lanes, input, 0, lane) as u32);
            (y, x)
        };
        let mut places: Vec<_> = all.map(place).collect();
        places.sort_unstable();
        places
    }

    #[test]
    fn triangles_that_share_an_edge_cover_each_pixel_once() {
        // Two halves of the picture, whose diagonal goes through pixels' centres where it is steep enough.
        let [a, b, c, d] = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]].map(|[x, y]| [x, y, 0.5, 1.0]);
        for halves in [[[a, b, c], [b, d, c]], [[a, b, d], [d, c, a]], [[c, b, a], [b, c, d]]] {
            let lanes = scene(halves.to_vec()).lanes(1 << 10).unwrap_or_else(|problem| panic!("{problem}"));
            let all: Vec<_> = (0..6).flat_map(|y| (0..8).map(move |x| (y, x))).collect();
            assert_eq!(covered(&lanes), all);
        }
    }

    #[test]
    fn barycentrics_are_those_of_clip_space() {
        let corners = [[-1.0, -1.0, 0.0, 1.0], [6.0, -2.0, 1.0, 2.0], [-4.0, 12.0, 2.0, 4.0]];
        let lanes = scene(vec![corners]).lanes(1 << 10).unwrap_or_else(|problem| panic!("{problem}"));
        assert!(lanes.covered.len() > 40);
        for lane in 0..lanes.covered.len() {
            let [i, j] = [0, 1].map(|k| f64::from(float(&lanes, Input::PerspCenter, k, lane)));
            let clip: [f64; 4] = std::array::from_fn(|k| {
                (1.0 - i - j) * f64::from(corners[0][k]) + i * f64::from(corners[1][k]) + j * f64::from(corners[2][k])
            });
            let w = f64::from(float(&lanes, Input::PosW, 0, lane));
            // Corners are at 256ths of a pixel.
            assert!((clip[3] - w).abs() < 1e-5, "lane {lane}: w {w}, {clip:?}");
            let x = (clip[0] / clip[3] + 1.0) * 4.0;
            assert!((x - f64::from(float(&lanes, Input::PosX, 0, lane))).abs() < 0.02, "lane {lane}");
            let [p, q] = [0, 1].map(|k| f64::from(float(&lanes, Input::LinearCenter, k, lane)));
            let over_w = (1.0 - p - q) / 1.0 + p / 2.0 + q / 4.0;
            assert!((1.0 / over_w - w).abs() < 1e-5, "lane {lane}");
        }
    }

    #[test]
    fn what_is_behind_the_eye_is_clipped() {
        let corners = [[0.0, -1.0, 0.5, 1.0], [1.0, 1.0, 0.5, 1.0], [-1.0, 1.0, -3.0, -1.0]];
        let lanes = scene(vec![corners]).lanes(1 << 10).unwrap_or_else(|problem| panic!("{problem}"));
        assert!(lanes.covered.contains(&true));
        for lane in (0..lanes.covered.len()).filter(|&lane| lanes.covered[lane]) {
            let z = float(&lanes, Input::PosZ, 0, lane);
            assert!((-1e-3..=1.001).contains(&z) && float(&lanes, Input::PosW, 0, lane) > 0.0, "{z}");
        }
        let behind = corners.map(|[x, y, z, _]| [x, y, z, -1.0]);
        assert!(scene(vec![behind]).lanes(1 << 10).is_ok_and(|lanes| lanes.covered.is_empty()));
    }

    #[test]
    fn sides_can_be_left_out() {
        let [a, b, c] = [[-1.0, -1.0, 0.5, 1.0], [1.0, -1.0, 0.5, 1.0], [-1.0, 1.0, 0.5, 1.0]];
        for (triangle, front) in [([a, b, c], false), ([a, c, b], true)] {
            for cull in [Side::Front, Side::Back] {
                let scene = Scene { cull: Some(cull), ..scene(vec![triangle]) };
                let lanes = scene.lanes(1 << 10).unwrap_or_else(|problem| panic!("{problem}"));
                assert_eq!(lanes.covered.is_empty(), front == (cull == Side::Front));
            }
        }
        assert!(scene(vec![[a, b, c]]).lanes(8).is_err());
    }
}
