//! Kernels that compute more than they read.

use super::Content::*;
use super::draw::Draw;
use super::{Case, Check, Content, Images, Size, on, plain};

pub fn cases(size: Size) -> Vec<Case> {
    // A second thread shows its gain only if one thread takes long.
    let mut nbody_2048 = nbody(size.of(2_048, 256)).without_opencl();
    nbody_2048.name = "nbody_2048";
    let nbody = nbody(size.of(1_024, 256));
    vec![
        compute(size, size.of(64, 4)),
        compute_f64(size),
        hash(size),
        mandelbrot(size),
        nbody,
        nbody_2048,
        table(size),
    ]
}

/// Lanes of a block.
const BLOCK: usize = 256;

/// Returns how many times the work of an element is repeated.
fn rounds(size: Size) -> usize {
    size.of(64, 8)
}

/// Runs four chains of multiply-adds for each element.
pub fn compute(size: Size, blocks: usize) -> Case {
    let (n, rounds) = (blocks * BLOCK, rounds(size));
    let x: Vec<f32> = (0..n).map(|i| i as f32 / n as f32).collect();
    Case::new("compute", "multiply-add", n * rounds * 16)
        .fixture("fma", "fma_chains")
        .visa("dg2", "fma_chains")
        .lanes(n, BLOCK)
        .reads("x", x)
        .gives("y", vec![0f32; n])
        .i32(n)
        .i32(rounds)
        .plain("plain", on!([F32(x), F32(y)] => plain::fma_chains(x, y, rounds)))
        .plain("plain_vector", on!([F32(x), F32(y)] => plain::fma_chains_vector(x, y, rounds)))
}

/// Runs the chains of [`compute`] in double precision.
fn compute_f64(size: Size) -> Case {
    let (n, rounds) = (size.of(64, 4) * BLOCK, rounds(size));
    let x: Vec<f64> = (0..n).map(|i| i as f64 / n as f64).collect();
    Case::new("compute_f64", "multiply-add", n * rounds * 16)
        .fixture("dfma", "dfma_chains")
        .visa("skl", "dfma_chains")
        .lanes(n, BLOCK)
        .reads("x", x)
        .gives("y", vec![0f64; n])
        .i32(n)
        .i32(rounds)
        .plain("plain", on!([F64(x), F64(y)] => plain::dfma_chains(x, y, rounds)))
        .plain("plain_vector", on!([F64(x), F64(y)] => plain::dfma_chains_vector(x, y, rounds)))
}

/// Computes steps of Splitmix64.
fn hash(size: Size) -> Case {
    let (n, rounds) = (size.of(64, 4) * BLOCK, rounds(size));
    Case::new("hash", "step", n * rounds)
        .fixture("mix", "mix")
        .visa("dg2", "mix")
        .lanes(n, BLOCK)
        .reads("x", Draw::new(2).vec(n, Draw::u64))
        .gives("y", vec![0u64; n])
        .i32(n)
        .i32(rounds)
        .plain("plain", on!([U64(x), U64(y)] => plain::mix(x, y, rounds)))
        .plain("plain_vector", on!([U64(x), U64(y)] => plain::mix_vector(x, y, rounds)))
}

/// Computes the whole set, as in the example, with at most 256 iterations.
fn mandelbrot(size: Size) -> Case {
    let (w, h) = size.of((320, 214), (64, 43));
    let corner = [-2.25f32, -1.0];
    let pixel = [3.2 / w as f32, 2.0 / h as f32];
    let limit = 256;
    Case::new("mandelbrot", "pixel", w * h)
        .example("mandelbrot", "mandelbrot")
        .visa("dg2", "mandelbrot")
        .pixels([w, h])
        .gives("out", vec![0u16; w * h])
        .i32(w)
        .i32(h)
        .f32(corner[0])
        .f32(corner[1])
        .f32(pixel[0])
        .f32(pixel[1])
        .i32(limit)
        .plain("plain", on!([U16(out)] => plain::mandelbrot(out, w, corner, pixel, limit as i32)))
}

/// Computes one step of all pairs. A GPU's reciprocal square root is an approximation.
fn nbody(n: usize) -> Case {
    let (dt, softening2) = (0.01f32, 0.01f32);
    let coordinate = |i: usize, period: usize| (i * 37 % period) as f32 / period as f32;
    let positions: Vec<f32> = (0..n)
        .flat_map(|i| [coordinate(i, 1009), coordinate(i, 1013), coordinate(i, 1019), 1.0])
        .collect();
    let side = 64;
    let mut case = Case::new("nbody", "pair", n * n)
        .example("nbody", "nbody")
        .visa("dg2", "nbody")
        .lanes(n, BLOCK)
        .reads("position", positions)
        .reads("velocity", vec![0f32; 4 * n])
        .buffer("position_out", vec![0f32; 4 * n], Check::Within { rtol: 1e-5, atol: 1e-5 })
        .buffer("velocity_out", vec![0f32; 4 * n], Check::Within { rtol: 1e-4, atol: 1e-3 })
        // Rounding may move a body to the next pixel.
        .buffer("image", vec![0u32; side * side], Check::None)
        .i32(n)
        .f32(dt)
        .f32(softening2)
        .i32(side)
        .i32(side)
        .f32(side as f32 / 2.0)
        .plain(
            "plain",
            on!([F32(p), F32(v), F32(p_out), F32(v_out), _] => {
                let [p, v] = [p, v].map(|numbers| numbers.as_chunks().0);
                let [p_out, v_out] = [p_out, v_out].map(|numbers| numbers.as_chunks_mut().0);
                plain::nbody(p, v, p_out, v_out, dt, softening2)
            }),
        );
    case.shared_bytes = BLOCK as u32 * 16;
    case
}

/// Takes every item through one table. GFX9 code reads the table by scalar loads: from an address,
/// and through a buffer resource.
fn table(size: Size) -> Case {
    let (rows, items) = (1_024, size.of(4_096, 256));
    let table = Draw::new(3).vec(rows * 4, Draw::u32);
    let mut case = Case::new("table", "row", rows * items)
        .target("maxwell", "benches/fixtures/table.sm_50.cubin", "table", Images::Arrays)
        .target("ptx", "benches/fixtures/table.sm_70.ptx", "table", Images::Arrays)
        .target("gfx9", "examples/gfx9/table/table.gfx900.hsaco", "table", Images::Arrays)
        .target(
            "gfx9_buffer",
            "benches/fixtures/table_buffer.gfx900.hsaco",
            "table",
            Images::Arrays,
        )
        .visa("dg2", "table")
        .lanes(items, BLOCK)
        .reads("rows", table)
        .i32(rows)
        .gives("out", vec![0u32; items])
        .i32(items)
        .plain(
            "plain",
            on!([U32(rows), U32(out)] => plain::table(rows.as_chunks().0, out, BLOCK as u32)),
        );
    case.opencl = Some("examples/gfx9/table/table.cl".into());
    case
}
