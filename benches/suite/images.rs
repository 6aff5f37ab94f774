//! Kernels that read and write images.

use super::Content::*;
use super::draw::Draw;
use super::{Case, Content, Images, Size, on, plain};

pub fn cases(size: Size) -> Vec<Case> {
    vec![filter(size), histogram(size), copy(size)]
}

fn side(size: Size) -> usize {
    size.of(512, 128)
}

/// A picture of red, green, blue and alpha.
fn picture(side: usize) -> Vec<u8> {
    Draw::new(11).vec(side * side * 4, |draw| draw.u32() as u8)
}

impl Case {
    /// Adds the kernel of `examples/surface` in CUDA, on block-linear and pitch surfaces and as
    /// PTX, and the kernel in OpenCL, for GFX9 and as vISA.
    fn surfaces(self, entry: &'static str) -> Case {
        let (maxwell, gfx9) = (
            "examples/surface/surface.sm_50.cubin",
            format!("benches/fixtures/{}.gfx900.hsaco", self.name),
        );
        self.target("maxwell", maxwell, entry, Images::Surfaces("block_linear"))
            .target("maxwell_pitch", maxwell, entry, Images::Surfaces("pitch"))
            .target(
                "ptx",
                "examples/ptx/surface/surface.sm_70.ptx",
                entry,
                Images::Surfaces("block_linear"),
            )
            .target("gfx9", gfx9, entry, Images::OpenCl)
            .visa("dg2", entry)
    }
}

/// Sharpens an image by each pixel's eight neighbours.
fn filter(size: Size) -> Case {
    let side = side(size);
    Case::new("surface_filter", "pixel", side * side)
        .surfaces("sharpen")
        .pixels([side; 2])
        .reads("from", picture(side))
        .image(&[side; 2], "rgba8_uint")
        .gives("to", vec![0u8; side * side * 4])
        .image(&[side; 2], "rgba8_uint")
        .i32(side)
        .i32(side)
        .plain("plain", on!([U8(from), U8(to)] => plain::sharpen(from.as_chunks().0, to.as_chunks_mut().0, side)))
}

/// Counts pixels by brightness, with reductions on a surface. OpenCL kernels count in a buffer.
fn histogram(size: Size) -> Case {
    let side = side(size);
    Case::new("surface_histogram", "pixel", side * side)
        .surfaces("brightness")
        .pixels([side; 2])
        .reads("picture", picture(side))
        .image(&[side; 2], "rgba8_uint")
        .gives("bins", vec![0u32; 256])
        .image(&[256], "r32_uint")
        .i32(side)
        .i32(side)
        .plain(
            "plain",
            on!([U8(picture), U32(bins)] => plain::brightness(picture.as_chunks().0, bins)),
        )
}

/// Copies an image of floats: through surfaces, and as an array.
fn copy(size: Size) -> Case {
    let side = size.of(1_024, 64);
    let binary = "benches/fixtures/surface.sm_50.cubin";
    Case::new("copy", "float", side * side)
        .target("global", binary, "copy_global", Images::Arrays)
        .target("pitch", binary, "copy_surface", Images::Surfaces("pitch"))
        .target("block_linear", binary, "copy_surface", Images::Surfaces("block_linear"))
        .without_opencl()
        .pixels([side; 2])
        .reads("from", (0..side * side).map(|i| i as f32).collect::<Vec<_>>())
        .image(&[side; 2], "r32_float")
        .gives("to", vec![0f32; side * side])
        .image(&[side; 2], "r32_float")
        .i32(side)
        .i32(side)
        .plain("plain", on!([F32(from), F32(to)] => to.copy_from_slice(from)))
}
