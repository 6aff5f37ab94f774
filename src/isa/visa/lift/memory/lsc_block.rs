//! LSC messages with two-dimensional blocks.

use warploom_ir::{Type, Value};

use super::super::{Cx, Lifted, Unsupported};
use super::block::{Layout, Rectangle};
use super::item::Item;
use super::lsc::said;
use crate::instruction::{Instruction, Lsc, Raw};

/// Operand numbers: destination, base, width, height and pitch (each less one), x, y, and the
/// source.
mod at {
    pub const DST: usize = 1;
    pub const BASE: usize = 2;
    pub const WIDTH: usize = 3;
    pub const HEIGHT: usize = 4;
    pub const PITCH: usize = 5;
    pub const X: usize = 6;
    pub const Y: usize = 7;
    pub const SRC: usize = 8;
}

/// Returns the rectangle of a message's first block, its layout in registers, and the number of
/// blocks.
fn blocks(
    cx: &mut Cx<'_>,
    i: &Instruction,
    lsc: &Lsc,
) -> Result<(Rectangle, Layout, u32), Unsupported> {
    let block = lsc.block.ok_or(Unsupported)?;
    let item = Item::of(lsc.data);
    let (width, height) = (u32::from(block.width), u32::from(block.height));
    if !(1..=64).contains(&width) || !(1..=64).contains(&height) || !(1..=8).contains(&block.count)
    {
        return Err(Unsupported);
    }
    let interleaved = if block.vnni { 4 / item.bytes().min(4) } else { 1 };
    if block.vnni && lsc.transposed && interleaved > 1 {
        return Err(Unsupported);
    }
    let one = cx.word(1);
    let next = |cx: &mut Cx<'_>, n: usize| -> Result<Value, Unsupported> {
        let value = cx.scalar(i, n, Type::I32)?;
        Ok(cx.b.add(value, one))
    };
    let moved = |cx: &mut Cx<'_>, n: usize, by: i32| -> Result<Value, Unsupported> {
        let (value, by) = (cx.scalar(i, n, Type::I32)?, cx.word(by as u32));
        Ok(cx.b.add(value, by))
    };
    let x = moved(cx, at::X, lsc.offsets[0])?;
    let size = cx.word(item.bytes());
    let base = cx.scalar(i, at::BASE, Type::I64)?;
    let rectangle = Rectangle {
        base,
        width: next(cx, at::WIDTH)?,
        height: next(cx, at::HEIGHT)?,
        pitch: next(cx, at::PITCH)?,
        x: cx.b.mul(x, size),
        y: moved(cx, at::Y, lsc.offsets[1])?,
        clamps: false,
    };
    let layout =
        Layout { item, width, height, transposed: lsc.transposed, interleaved, least_row: 1 };
    Ok((rectangle, layout, block.count.into()))
}

/// Calls `f` for each block. Blocks side by side take consecutive registers.
fn each(
    cx: &mut Cx<'_>,
    i: &Instruction,
    operand: usize,
    f: fn(&Rectangle, &mut Cx<'_>, Layout, Raw),
) -> Lifted {
    let (mut rectangle, layout, count) = blocks(cx, i, said(i)?)?;
    let mut raw = cx.raw_operand(i, operand)?;
    let width = cx.word(layout.width * layout.item.bytes());
    for _ in 0..count {
        f(&rectangle, cx, layout, raw);
        rectangle.x = cx.b.add(rectangle.x, width);
        if raw != Raw::NULL {
            raw.offset += layout.bytes().next_multiple_of(cx.grf());
        }
    }
    Ok(())
}

pub fn lsc_load_block2d(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    each(cx, i, at::DST, Rectangle::load)
}

pub fn lsc_store_block2d(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    each(cx, i, at::SRC, Rectangle::store)
}
