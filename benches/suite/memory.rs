//! Kernels that read or write more than they compute.

use super::Content::*;
use super::draw::Draw;
use super::{Case, Content, Size, on, plain};

pub fn cases(size: Size) -> Vec<Case> {
    // Blocks have the greatest size or a usual size: the cost of a block itself is a large part of
    // a kernel as short as this.
    let mut saxpy_1024 = saxpy(1024).without_opencl();
    saxpy_1024.name = "saxpy_1024";
    vec![saxpy(256), saxpy_1024, gather(), spmv(), stencil(size)]
}

const ELEMENTS: usize = 131_072;

fn saxpy(block: usize) -> Case {
    let n = ELEMENTS;
    // The factor is small, so that no number of launches makes y infinite.
    let a = 1e-6f32;
    let x: Vec<f32> = (0..n).map(|i| (i % 17) as f32 - 8.0).collect();
    Case::new("saxpy", "element", n)
        .example("saxpy", "saxpy")
        .visa("dg2", "saxpy")
        .lanes(n, block)
        .i32(n)
        .f32(a)
        .reads("x", x.clone())
        .gives("y", x)
        .plain("plain", on!([F32(x), F32(y)] => plain::saxpy(a, x, y)))
}

fn gather() -> Case {
    let n = ELEMENTS;
    let mut draw = Draw::new(4);
    let x = draw.vec(n, |draw| draw.f32(1.0));
    let from = draw.vec(n, |draw| draw.below(n as u32));
    Case::new("gather", "element", n)
        .fixture("gather", "gather")
        .visa("dg2", "gather")
        .lanes(n, 256)
        .reads("x", x)
        .reads("from", from)
        .gives("y", vec![0f32; n])
        .i32(n)
        .plain("plain", on!([F32(x), U32(from), F32(y)] => plain::gather(x, from, y)))
}

/// Multiplies a sparse matrix whose rows have 0 to 15 numbers, in any column.
fn spmv() -> Case {
    let rows = 16_384;
    let mut draw = Draw::new(5);
    let mut starts = vec![0u32];
    for row in 0..rows {
        starts.push(starts[row] + draw.below(16));
    }
    let count = starts[rows] as usize;
    let columns = draw.vec(count, |draw| draw.below(rows as u32));
    let values = draw.vec(count, |draw| draw.f32(1.0));
    let x = draw.vec(rows, |draw| draw.f32(1.0));
    let mut case = Case::new("spmv", "number", count)
        .fixture("spmv", "spmv")
        .visa("dg2", "spmv")
        .lanes(rows, 256)
        .reads("starts", starts)
        .reads("columns", columns)
        .reads("values", values)
        .reads("x", x)
        .gives("y", vec![0f32; rows])
        .i32(rows)
        .plain(
            "plain",
            on!([U32(starts), U32(columns), F32(values), F32(x), F32(y)] => plain::spmv(starts, columns, values, x, y)),
        );
    case.opencl = Some("examples/gfx9/spmv/spmv.cl".into());
    case
}

fn stencil(size: Size) -> Case {
    let (w, h) = size.of((512, 256), (256, 128));
    let rate = 0.2;
    Case::new("stencil", "point", w * h)
        .fixture("heat", "heat")
        .visa("skl", "heat")
        .pixels([w, h])
        .reads("now", Draw::new(6).vec(w * h, Draw::f64))
        .gives("next", vec![0f64; w * h])
        .i32(w)
        .i32(h)
        .f64(rate)
        .plain("plain", on!([F64(now), F64(next)] => plain::heat(now, next, w, rate)))
}
