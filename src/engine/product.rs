//! The helper for matrix products: it finds the matrices' registers in the register file.

use smallvec::SmallVec;
use warploom_ir::matrix::{self, Product};
use warploom_ir::{NanPolicy, Shape};
use warploom_runtime::warp::WarpContext;

use crate::descriptions::Descriptions;

/// A product, and the places of its operands and results in the register file.
#[derive(Debug)]
pub struct ProductDesc {
    pub product: Product,
    pub nan: NanPolicy,
    pub lanes: u8,
    /// Offset and shape of each operand: a row of lanes, or a uniform value of 8 bytes.
    pub args: Vec<(u32, Shape)>,
    pub results: Vec<u32>,
}

/// Computes product `number` of the region.
///
/// # Safety
/// As for the other helpers: `context` is the running warp's context, and nothing else refers to
/// it. The caller is code whose descriptions are installed.
pub unsafe extern "C" fn product(context: *mut WarpContext, number: u32) {
    // SAFETY: the caller's promise.
    let context = unsafe { &mut *context };
    // SAFETY: as above; the calling code keeps its descriptions for the length of the call.
    let desc = &unsafe { Descriptions::of(context) }.products[number as usize];
    context.helper_calls += 1;
    let registers = context.registers();
    match desc.product.a.register().cell_bytes() {
        8 => product_of_rows(desc, registers, u64::from_le_bytes, u64::to_le_bytes),
        _ => {
            product_of_rows(desc, registers, u32::from_le_bytes, |lane| (lane as u32).to_le_bytes())
        }
    }
}

/// Computes a product whose registers all have lanes of `N` bytes.
fn product_of_rows<const N: usize, L: Copy + Default + Into<u64>>(
    desc: &ProductDesc,
    registers: &mut [u8],
    from: fn([u8; N]) -> L,
    to: fn(u64) -> [u8; N],
) {
    let lanes = usize::from(desc.lanes);
    let row = |&(offset, shape): &(u32, Shape)| {
        let cells = registers[offset as usize..].as_chunks::<N>().0;
        let mut row = [L::default(); matrix::LANES];
        for (i, lane) in row.iter_mut().take(lanes).enumerate() {
            *lane = from(cells[if shape == Shape::Uniform { 0 } else { i }]);
        }
        row
    };
    let args: SmallVec<[matrix::Row<L>; 16]> = desc.args.iter().map(row).collect();
    let results = matrix::evaluate(&desc.product, desc.nan, &args);
    for (&offset, result) in desc.results.iter().zip(&results) {
        let cells = registers[offset as usize..].as_chunks_mut::<N>().0;
        for (cell, &lane) in cells.iter_mut().zip(result).take(lanes) {
            *cell = to(lane);
        }
    }
}
