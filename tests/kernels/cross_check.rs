//! Compares this folder's references with the examples' expected files, which a C program made. The
//! two accounts of each kernel share nothing.

use std::path::Path;

use warploom_replay::npy;

use crate::reference::{self, Gravity, HashTable, Picture, Shape, View};
use crate::support::bytes_of;

/// Returns the elements of an example's array as bytes.
fn array(example: &str, name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(example)
        .join(format!("{name}.npy"));
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    npy::read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display())).bytes
}

fn halves(name: &str) -> Vec<u16> {
    array("half", name).as_chunks().0.iter().map(|b| u16::from_le_bytes(*b)).collect()
}

fn longs(name: &str) -> Vec<u64> {
    array("hashtable", name).as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect()
}

fn doubles(name: &str) -> Vec<f64> {
    array("stencil", name).as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect()
}

fn floats(example: &str, name: &str) -> Vec<f32> {
    array(example, name).as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

fn words(example: &str, name: &str) -> Vec<u32> {
    array(example, name).as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
}

#[test]
fn saxpy_and_matmul() {
    let saxpy = reference::saxpy(2.5, &floats("saxpy", "x"), &floats("saxpy", "y"));
    assert_eq!(saxpy, floats("saxpy", "y.expected"));
    let matmul = reference::matmul(&floats("matmul", "a"), &floats("matmul", "b"), 100, 75, 53);
    assert_eq!(matmul, floats("matmul", "c.expected"));
}

#[test]
fn reduce() {
    for (name, grid, block) in [("reduce", 13, 256), ("reduce-odd", 7, 100)] {
        let (partial, maximum) = reference::reduce(&floats("reduce", "x"), Shape { grid, block });
        assert_eq!(partial, floats("reduce", &format!("{name}.partial.expected")));
        assert_eq!(bytes_of(&[maximum]), array("reduce", &format!("{name}.maximum.expected")));
    }
}

#[test]
fn histogram_and_scan() {
    assert_eq!(
        reference::histogram(&array("histogram", "data")),
        words("histogram", "bins.expected")
    );
    let data = words("scan", "data");
    assert_eq!(reference::scan_blocks(&data, data.len()), words("scan", "scan.expected"));
    assert_eq!(reference::scan_blocks(&data, 256), words("scan", "scan-blocks.expected"));
}

#[test]
fn mandelbrot() {
    let whole = View { w: 640, h: 427, x0: -2.25, y0: -1.0, dx: 0.005, dy: 0.0046875 };
    let detail = View { w: 101, h: 67, x0: -0.755, y0: 0.05, dx: 0.0003, dy: 0.0003 };
    for (name, view) in [("mandelbrot", whole), ("mandelbrot-odd", detail)] {
        let counts = bytes_of(&reference::mandelbrot(view, 256));
        assert!(counts == array("mandelbrot", &format!("{name}.expected")), "{name}");
    }
}

#[test]
fn nbody() {
    let rows = |name| floats("nbody", name).as_chunks().0.to_vec();
    let gravity =
        Gravity { dt: 0.0078125, softening2: 0.0025, w: 256, h: 256, pixels_per_unit: 56.0 };
    let after = reference::nbody(&rows("position"), &rows("velocity"), gravity);
    assert_eq!(after.positions, rows("position.expected"));
    assert_eq!(after.velocities, rows("velocity.expected"));
    assert_eq!(after.image, words("nbody", "image.expected"));
}

#[test]
fn stencil() {
    let mut picture = Picture { w: 128, h: 96, cells: doubles("picture") };
    for _ in 0..12 {
        picture = picture.smooth(8.0, 0.2);
    }
    assert_eq!(picture.cells, doubles("picture.expected"));
    assert_eq!(picture.grey(), array("stencil", "grey.expected"));
}

#[test]
fn quicksort() {
    let starts: Vec<i32> = words("quicksort", "starts").into_iter().map(|v| v as i32).collect();
    assert_eq!(
        reference::sort_segments(&floats("quicksort", "data"), &starts),
        floats("quicksort", "data.expected")
    );
}

#[test]
fn convolution_and_fft() {
    let convolution =
        reference::convolution(&floats("convolution", "taps"), &floats("convolution", "signal"));
    assert_eq!(convolution, floats("convolution", "signal.expected"));
    let pairs = |name| floats("fft", name).as_chunks().0.to_vec();
    let spectrum: Vec<_> =
        pairs("signal").chunks(1024).flat_map(|row| reference::fft(row, &pairs("roots"))).collect();
    assert_eq!(spectrum, pairs("spectrum.expected"));
}

#[test]
fn hashtable() {
    let table = HashTable::new(&longs("keys"), 4096);
    assert_eq!(table.0, longs("table.expected"));
    let slots: Vec<i32> = longs("wanted").into_iter().map(|key| table.find(key)).collect();
    assert_eq!(bytes_of(&slots), array("hashtable", "slots.expected"));
}

#[test]
fn half() {
    let (light, grey) = reference::blend(&halves("sky"), &halves("ground"), &halves("mask"), 1.5);
    assert_eq!(light, halves("light.expected"));
    assert_eq!(grey, array("half", "grey.expected"));
}
