//! Compares coverage and barycentrics with their definitions.

use super::super::{Input, Quad};
use super::*;

fn scene(triangles: Vec<[[f32; 4]; 3]>) -> Scene {
    let viewport = [0.0, 0.0, 8.0, 6.0];
    Scene {
        triangles,
        viewport,
        depth_range: [0.0, 1.0],
        cull: None,
        front: Winding::CounterClockwise,
    }
}

fn drawn(scene: &Scene) -> Raster {
    scene.raster(1 << 10, 1).unwrap_or_else(|problem| panic!("{problem}"))
}

fn float(raster: &Raster, input: Input, component: usize, lane: usize) -> f32 {
    let quad = raster.quads().nth(lane / 4).expect("a quad");
    f32::from_bits(quad.input(input)[component][lane % 4])
}

fn covered_lanes(raster: &Raster) -> Vec<usize> {
    let covered = raster.quads().flat_map(|quad| quad.covered()).zip(0..);
    covered.filter(|(covered, _)| *covered).map(|(_, lane)| lane).collect()
}

/// Returns the sorted places of the covered lanes.
fn covered(raster: &Raster) -> Vec<(u32, u32)> {
    let place = |lane| {
        let [x, y] = [Input::PosX, Input::PosY].map(|input| float(raster, input, 0, lane) as u32);
        (y, x)
    };
    let mut places: Vec<_> = covered_lanes(raster).into_iter().map(place).collect();
    places.sort_unstable();
    places
}

#[test]
fn triangles_that_share_an_edge_cover_each_pixel_once() {
    // Two halves of the picture. A steep diagonal goes through centres of pixels.
    let [a, b, c, d] =
        [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]].map(|[x, y]| [x, y, 0.5, 1.0]);
    for halves in [[[a, b, c], [b, d, c]], [[a, b, d], [d, c, a]], [[c, b, a], [b, c, d]]] {
        let raster = drawn(&scene(halves.to_vec()));
        let all: Vec<_> = (0..6).flat_map(|y| (0..8).map(move |x| (y, x))).collect();
        assert_eq!(covered(&raster), all);
    }
}

#[test]
fn barycentrics_are_those_of_clip_space() {
    let corners = [[-1.0, -1.0, 0.0, 1.0], [6.0, -2.0, 1.0, 2.0], [-4.0, 12.0, 2.0, 4.0]];
    let raster = drawn(&scene(vec![corners]));
    assert!(raster.lanes() > 40);
    for lane in 0..raster.lanes() {
        let [i, j] = [0, 1].map(|k| f64::from(float(&raster, Input::PerspCenter, k, lane)));
        let clip: [f64; 4] = std::array::from_fn(|k| {
            (1.0 - i - j) * f64::from(corners[0][k])
                + i * f64::from(corners[1][k])
                + j * f64::from(corners[2][k])
        });
        let w = f64::from(float(&raster, Input::PosW, 0, lane));
        // Corners are at 256ths of a pixel.
        assert!((clip[3] - w).abs() < 1e-5, "lane {lane}: w {w}, {clip:?}");
        let x = (clip[0] / clip[3] + 1.0) * 4.0;
        assert!((x - f64::from(float(&raster, Input::PosX, 0, lane))).abs() < 0.02, "lane {lane}");
        let [p, q] = [0, 1].map(|k| f64::from(float(&raster, Input::LinearCenter, k, lane)));
        let over_w = (1.0 - p - q) / 1.0 + p / 2.0 + q / 4.0;
        assert!((1.0 / over_w - w).abs() < 1e-5, "lane {lane}");
    }
}

#[test]
fn what_is_behind_the_eye_is_clipped() {
    let corners = [[0.0, -1.0, 0.5, 1.0], [1.0, 1.0, 0.5, 1.0], [-1.0, 1.0, -3.0, -1.0]];
    let raster = drawn(&scene(vec![corners]));
    assert!(!covered_lanes(&raster).is_empty());
    for lane in covered_lanes(&raster) {
        let z = float(&raster, Input::PosZ, 0, lane);
        assert!((-1e-3..=1.001).contains(&z) && float(&raster, Input::PosW, 0, lane) > 0.0, "{z}");
    }
    let behind = corners.map(|[x, y, z, _]| [x, y, z, -1.0]);
    assert_eq!(drawn(&scene(vec![behind])).lanes(), 0);
}

#[test]
fn sides_can_be_left_out() {
    let [a, b, c] = [[-1.0, -1.0, 0.5, 1.0], [1.0, -1.0, 0.5, 1.0], [-1.0, 1.0, 0.5, 1.0]];
    for (triangle, front) in [([a, b, c], false), ([a, c, b], true)] {
        for cull in [Side::Front, Side::Back] {
            let scene = Scene { cull: Some(cull), ..scene(vec![triangle]) };
            assert_eq!(drawn(&scene).lanes() == 0, front == (cull == Side::Front));
        }
    }
    assert!(scene(vec![[a, b, c]]).raster(8, 1).is_err());
}

/// Returns random triangles, some much larger than the picture, some flat.
///
/// Corners are at quarters of pixels or anywhere.
fn some_triangles(count: usize) -> Vec<[[f32; 4]; 3]> {
    let mut state = 1_u32;
    let mut number = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let triangle = |i: usize| {
        let size = [0.3, 1.0, 4.0, 1e4][i % 4];
        let on_quarters =
            |at: f32| if i.is_multiple_of(3) { (at * 16.0).round() / 16.0 } else { at };
        let flat = if i.is_multiple_of(5) { 0.02 } else { 1.0 };
        std::array::from_fn(|_| {
            [on_quarters(number() * size), on_quarters(number() * size * flat), 0.5, 1.0]
        })
    };
    (0..count).map(triangle).collect()
}

/// Compares coverage with the edges at each pixel, in integers.
#[test]
fn rows_are_covered_where_their_pixels_are() {
    let mut seen = 0;
    for corners in some_triangles(600) {
        let scene = scene(vec![corners]);
        let mut places = corners.map(|[x, y, ..]| {
            let at = scene.place([x, y, 0.5, 1.0].map(f64::from));
            at.map(|at| (at * SUBPIXELS) as i128)
        });
        let edge = |a: [i128; 2], b: [i128; 2], at: [i128; 2]| {
            (b[0] - a[0]) * (at[1] - a[1]) - (b[1] - a[1]) * (at[0] - a[0])
        };
        let area = edge(places[0], places[1], places[2]);
        if area < 0 {
            places.swap(1, 2);
        }
        let inside = |x: u32, y: u32| {
            let at = [x, y].map(|at| i128::from(at) * 256 + 128);
            (0..3).all(|i| {
                let (a, b) = (places[i], places[(i + 1) % 3]);
                let top_or_left = b[1] < a[1] || b[1] == a[1] && b[0] > a[0];
                let distance = edge(a, b, at);
                distance > 0 || distance == 0 && top_or_left
            })
        };
        let all = (0..6).flat_map(|y| (0..8).map(move |x| (y, x)));
        let expected: Vec<_> = all.filter(|&(y, x)| area != 0 && inside(x, y)).collect();
        let raster = drawn(&scene);
        assert_eq!(covered(&raster), expected, "{corners:?}");
        // Each quad has a covered lane.
        assert!(raster.quads().all(|quad| quad.covered().contains(&true)), "{corners:?}");
        seen += expected.len();
    }
    assert!(seen > 1000, "{seen}");
}

#[test]
fn threads_change_nothing() {
    let scene = Scene { viewport: [0.0, 0.0, 64.0, 48.0], ..scene(some_triangles(300)) };
    type Found = (u32, [[u32; 2]; 4], [bool; 4]);
    let of = |quad: Quad<'_>| -> Found { (quad.primitive(), quad.places(), quad.covered()) };
    let raster =
        |threads| scene.raster(1 << 22, threads).unwrap_or_else(|problem| panic!("{problem}"));
    let all: Vec<Found> = raster(1).quads().map(of).collect();
    assert!(all.is_sorted_by_key(|(primitive, ..)| *primitive) && all.len() > 1000);
    for threads in [1, 3] {
        let raster = raster(threads);
        assert!(raster.quads().map(of).eq(all.iter().copied()), "{threads} threads");
        let waves: Vec<Vec<Found>> = (0..)
            .map(|n| raster.wave(n).map(of).collect())
            .take_while(|wave: &Vec<_>| !wave.is_empty())
            .collect();
        assert!(waves.iter().map(Vec::as_slice).eq(all.chunks(WAVE_QUADS)), "{threads} threads");
    }
}
