//! A rasteriser for triangles: makes a fragment program's quads from a vertex program's exports.
//!
//! Source: the Vulkan specification, "Vertex post-processing" and "Rasterization": clipping to the
//! near and far planes, the viewport, places in 256ths of a pixel, pixels at their centres, edges
//! that belong to the triangle above or to the left. Everything is computed in doubles.
//!
//! Along a row an edge's function only rises or only falls, and rounding keeps that order. So a
//! triangle covers a range of pixels of a row. The range's ends are where the edges cross the row,
//! or next to it. The rasteriser keeps these ranges; `quads` has the lanes.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use warploom_runtime::launch::share;

use super::WAVE_QUADS;
use super::keys::{Side, Winding};

/// The triangles to draw, and their window.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Clip coordinates of the corners of each triangle.
    pub triangles: Vec<[[f32; 4]; 3]>,
    /// Left, top, width and height in pixels. A negative height flips the picture.
    pub viewport: [f32; 4],
    pub depth_range: [f32; 2],
    pub cull: Option<Side>,
    pub front: Winding,
}

/// The quads that triangles touch, triangle by triangle.
#[derive(Clone, Debug, Default)]
pub struct Raster {
    pub(super) parts: Vec<Part>,
    pub(super) spans: Vec<Span>,
    /// The number of quads of all spans.
    pub(super) quads: usize,
    /// The span with the first quad of each wave.
    pub(super) waves: Vec<u32>,
    pub(super) depth_range: [f64; 2],
}

/// A drawn part of a triangle. A clipped triangle may have several.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The number of the triangle.
    pub triangle: u32,
    /// The clip coordinates w of the triangle's corners.
    pub triangle_w: [f64; 3],
    /// The corners, clockwise where rows go down.
    pub corners: [Corner; 3],
    /// The places of the corners, in pixels.
    pub places: [[f64; 2]; 3],
    /// 1 over twice the area. `inverse_w`: 1 over clip coordinates w of the corners.
    ///
    /// They are kept because each quad would divide by them.
    pub inverse_area: f64,
    pub inverse_w: [f64; 3],
    pub front: bool,
}

/// A corner of a part: its clip coordinates, and its weights of the triangle's own corners.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub clip: [f64; 4],
    pub weights: [f64; 3],
}

/// Quads side by side that a part touches.
#[derive(Clone, Debug)]
pub(super) struct Span {
    /// The number of the first quad. `part`: the number of the part.
    pub first: u32,
    pub part: u32,
    /// The upper row of the quads.
    pub y: u16,
    /// The columns of the quads.
    pub columns: Range<u16>,
    /// The covered columns of each row.
    pub covered: [Range<u16>; 2],
}

impl Span {
    fn quads(&self) -> usize {
        usize::from(self.columns.end - self.columns.start) / 2
    }

    /// Returns the number after the span's last quad.
    pub fn end(&self) -> usize {
        self.first as usize + self.quads()
    }
}

/// The largest side of a picture.
const MAX_SIDE: f64 = 16384.0;
const SUBPIXELS: f64 = 256.0;
/// The least w that counts: vertices at or behind the eye are clipped.
const LEAST_W: f64 = 1e-9;
/// The number of triangles that a thread takes at once.
const TOGETHER: usize = 64;

/// The columns and rows of the picture.
struct Window([Range<i64>; 2]);

fn window([left, top, width, height]: [f32; 4]) -> Result<Window, String> {
    let span = |start: f32, size: f32| {
        let ends = [f64::from(start), f64::from(start) + f64::from(size)];
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let inside = low >= 0.0 && high <= MAX_SIDE && low < high;
        inside.then(|| low.floor() as i64..high.ceil() as i64)
    };
    let spans = span(left, width).zip(span(top, height));
    let (x, y) = spans
        .ok_or_else(|| format!("expected a rectangle within {MAX_SIDE} x {MAX_SIDE} pixels"))?;
    Ok(Window([x, y]))
}

/// Clips a polygon to the half space where a plane's distance is not negative.
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
    /// Returns the quads, rasterised on so many threads.
    ///
    /// # Errors
    /// The viewport is no rectangle within the largest picture, or there are more than `most`
    /// lanes.
    pub fn raster(&self, most: u64, threads: usize) -> Result<Raster, String> {
        let window = window(self.viewport)?;
        let lanes = AtomicU64::new(0);
        let pieces = share(threads, self.triangles.len().div_ceil(TOGETHER), |piece| {
            let first = piece * TOGETHER;
            let end = self.triangles.len().min(first + TOGETHER);
            let mut raster = Raster::default();
            for number in first..end {
                let before = raster.quads;
                self.triangle(&window, number, &mut raster);
                let more = 4 * (raster.quads - before) as u64;
                if lanes.fetch_add(more, Relaxed) + more > most {
                    break;
                }
            }
            raster
        });
        if lanes.into_inner() > most {
            return Err(format!("more than {most} lanes"));
        }
        let mut all = Raster { depth_range: self.depth_range.map(f64::from), ..Raster::default() };
        pieces.into_iter().for_each(|piece| all.append(piece));
        for (span, number) in all.spans.iter().zip(0..) {
            let begun = span.end().div_ceil(WAVE_QUADS);
            all.waves.resize(begun, number);
        }
        Ok(all)
    }

    /// Adds the quads that a triangle touches.
    fn triangle(&self, window: &Window, number: usize, raster: &mut Raster) {
        let triangle = &self.triangles[number];
        if triangle.iter().flatten().any(|coordinate| !coordinate.is_finite()) {
            return;
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
            let corners = [polygon[0], polygon[i - 1], polygon[i]];
            if let Some(part) = self.part(number, corners) {
                raster.draw(window, part);
            }
        }
    }

    /// Returns the part with these corners, if it is drawn.
    fn part(&self, number: usize, mut corners: [Corner; 3]) -> Option<Part> {
        let mut places = corners.map(|corner| self.place(corner.clip));
        let area = cross(places[0], places[1], places[2]);
        // Rows go down: the corners of a positive area are clockwise in the picture.
        let front = (area < 0.0) == (self.front == Winding::CounterClockwise);
        let side = if front { Side::Front } else { Side::Back };
        if area == 0.0 || self.cull == Some(side) {
            return None;
        }
        if area < 0.0 {
            corners.swap(1, 2);
            places.swap(1, 2);
        }
        let triangle_w = self.triangles[number].map(|[.., w]| f64::from(w));
        let (inverse_area, inverse_w) =
            (1.0 / area.abs(), corners.map(|corner| 1.0 / corner.clip[3]));
        Some(Part {
            triangle: number as u32,
            triangle_w,
            corners,
            places,
            inverse_area,
            inverse_w,
            front,
        })
    }

    /// Returns the place in the window, in pixels.
    fn place(&self, [x, y, _, w]: [f64; 4]) -> [f64; 2] {
        let [left, top, width, height] = self.viewport.map(f64::from);
        let along = |start: f64, size: f64, clip: f64| start + (clip / w + 1.0) * size / 2.0;
        [along(left, width, x), along(top, height, y)]
            .map(|at| (at * SUBPIXELS).round_ties_even() / SUBPIXELS)
    }
}

impl Raster {
    /// Adds a part and the quads that it touches.
    fn draw(&mut self, window: &Window, part: Part) {
        let [columns, rows] = [0, 1].map(|axis| part.quads_along(axis, &window.0[axis]));
        let edges = part.edges();
        let row = |y: i64| match window.0[1].contains(&y) {
            true => edges.iter().fold(columns.clone(), |columns, edge| edge.covered(columns, y)),
            false => 0..0,
        };
        for y in rows.step_by(2) {
            self.add_row(y, [row(y), row(y + 1)]);
        }
        self.parts.push(part);
    }

    /// Adds the quads of two rows with these covered columns.
    fn add_row(&mut self, y: i64, covered: [Range<i64>; 2]) {
        let quads = covered.clone().map(|columns| columns.start & !1..(columns.end + 1) & !1);
        let has = covered.clone().map(|columns| !columns.is_empty());
        let [a, b] = &quads;
        let all = match has {
            [false, false] => return,
            [true, false] => [a.clone(), 0..0],
            [false, true] => [b.clone(), 0..0],
            // Between the two ranges of a flat triangle, there may be quads that it does not touch.
            _ if a.end < b.start => quads,
            _ if b.end < a.start => [b.clone(), a.clone()],
            _ => [a.start.min(b.start)..a.end.max(b.end), 0..0],
        };
        for columns in all.into_iter().filter(|columns| !columns.is_empty()) {
            let narrow = |range: &Range<i64>| range.start as u16..range.end.max(range.start) as u16;
            let span = Span {
                first: self.quads as u32,
                part: self.parts.len() as u32,
                y: y as u16,
                columns: narrow(&columns),
                covered: [narrow(&covered[0]), narrow(&covered[1])],
            };
            self.quads = span.end();
            self.spans.push(span);
        }
    }

    /// Appends quads that are drawn later.
    fn append(&mut self, after: Raster) {
        let (quads, parts) = (self.quads as u32, self.parts.len() as u32);
        let moved =
            |span: Span| Span { first: span.first + quads, part: span.part + parts, ..span };
        self.spans.extend(after.spans.into_iter().map(moved));
        self.parts.extend(after.parts);
        self.quads += after.quads;
    }
}

impl Part {
    /// Returns the columns or rows of the window's quads that the part's box touches.
    ///
    /// The range is clamped to the window.
    fn quads_along(&self, axis: usize, window: &Range<i64>) -> Range<i64> {
        let along = self.places.map(|place| place[axis]);
        let (low, high) = (
            along.into_iter().fold(f64::MAX, f64::min),
            along.into_iter().fold(f64::MIN, f64::max),
        );
        // The conversions saturate: values far outside stay outside.
        let (low, high) =
            ((low.floor() as i64).max(window.start), (high.ceil() as i64).min(window.end));
        let low = low & !1;
        match axis {
            // Columns outside the window are never covered.
            0 => low.max(window.start)..((high + 1) & !1).min(window.end),
            _ => low..high,
        }
    }

    /// Returns the edges. Edge i runs between the other two corners, opposite corner i.
    fn edges(&self) -> [Edge; 3] {
        [0, 1, 2].map(|i| Edge { from: self.places[(i + 1) % 3], to: self.places[(i + 2) % 3] })
    }
}

/// An edge. The inside is on its right.
struct Edge {
    from: [f64; 2],
    to: [f64; 2],
}

impl Edge {
    /// Returns the columns of a row that are inside: all up to a column, or all from a column on.
    fn covered(&self, columns: Range<i64>, y: i64) -> Range<i64> {
        let Edge { from, to } = self;
        // A point on an edge is inside if the edge is at the top or on the left.
        let owns = to[1] < from[1] || to[1] == from[1] && to[0] > from[0];
        let inside = |x: i64| {
            let distance = cross(*from, *to, [x as f64 + 0.5, y as f64 + 0.5]);
            distance > 0.0 || distance == 0.0 && owns
        };
        // Where the edge crosses the row. An edge along the row gives an arbitrary guess.
        let slope = (to[0] - from[0]) / (to[1] - from[1]);
        let guess = (from[0] + (y as f64 + 0.5 - from[1]) * slope + 0.5) as i64;
        match to[1] > from[1] {
            true => columns.start..first(columns, guess, |x| !inside(x)),
            false => first(columns.clone(), guess, inside)..columns.end,
        }
    }
}

/// Returns the first number of a range for which `holds` is true, or the range's end.
///
/// Once `holds` is true, it must be true for all later numbers. The search begins beside a guess,
/// and continues everywhere.
fn first(range: Range<i64>, guess: i64, holds: impl Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (range.start, range.end.max(range.start));
    for near in [guess, guess.saturating_sub(1), guess.saturating_add(1)] {
        if !(low..high).contains(&near) {
            continue;
        }
        if holds(near) { high = near } else { low = near + 1 }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// Returns on which side of the edge from a to b a point lies, by the sign.
fn cross(a: [f64; 2], b: [f64; 2], point: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])
}

#[cfg(test)]
mod tests;
