//! Descriptors of random images and samplers.

use arbitrary::{Result, Unstructured};

use crate::case::DATA_BYTES;

/// Texels of a row and rows of a layer: two layers of the longest texels take all data of random
/// kernels.
const WIDTH: u32 = 8;
const HEIGHT: u32 = 4;
const _: () = assert!(2 * WIDTH * HEIGHT * 16 == DATA_BYTES);

/// The components in their own order.
const SAME: u32 = 0xfac;
/// Images without tiles: lines, planes, volumes, cubes, arrays of lines, arrays of planes.
const KINDS: [u32; 6] = [8, 9, 10, 11, 12, 13];

/// A bit of little meaning in an image's second word and in a sampler's words: the least level of
/// an image, and the comparison. With the bit, the words are no inline constants, which are written
/// in other ways.
const NOTHING: u32 = 1 << 12;

/// Returns an image's descriptor without its address. Most descriptors are of images that can
/// exist. No word but 0 is an inline constant.
pub fn image(u: &mut Unstructured<'_>) -> Result<[u32; 8]> {
    let any = u.ratio(1, 16)?;
    let data = if any {
        u.int_in_range(0..=63)?
    } else {
        *u.choose(&[1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 16, 19, 34])?
    };
    let number = if any { u.int_in_range(0..=15)? } else { *u.choose(&[0, 1, 2, 3, 4, 5, 7, 9])? };
    let kind = if any { u.int_in_range(8..=15)? } else { *u.choose(&KINDS)? };
    let selectors = if u.ratio(1, 4)? { u.int_in_range(1..=0xfff)? } else { SAME };
    let (width, height) = (u.int_in_range(1..=WIDTH)?, u.int_in_range(2..=HEIGHT)?);
    let last = u.int_in_range(0..=1)?;
    let size = (width - 1) | ((height - 1) << 14);
    // Two levels of one layer are within the data too.
    let levels = if last == 0 { u.int_in_range(0..=1)? } else { 0 };
    let views = selectors | u.int_in_range(0..=levels)? << 12 | levels << 16 | kind << 28;
    Ok([
        0,
        data << 20 | number << 26 | NOTHING,
        size,
        views,
        (WIDTH - 1) << 13 | last,
        levels << 28,
        0,
        0,
    ])
}

/// Returns a sampler's descriptor.
pub fn sampler(u: &mut Unstructured<'_>) -> Result<[u32; 4]> {
    let (modes, unnormalized) = (u.int_in_range(0..=0x1ff)?, u.int_in_range(0..=1)?);
    let (filters, border) = (u.int_in_range(0..=3)?, u.int_in_range(0..=3)?);
    let (compare, mips, levels) =
        (u.int_in_range(0..=7)?, u.int_in_range(0..=2)?, u.int_in_range(0..=0xf_ffff)?);
    // The bias is 16 levels up or down, plus a part of a level.
    let bias = u.int_in_range(0..=0xff)? | NOTHING | if u.arbitrary()? { 1 << 13 } else { 0 };
    let first = modes | compare << 12 | unnormalized << 15 | 1 << 28;
    Ok([
        first,
        levels | 1 << 23,
        bias | filters << 20 | filters << 22 | mips << 26,
        border << 30 | NOTHING,
    ])
}
