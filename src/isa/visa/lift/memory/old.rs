//! Messages on surfaces that are not LSC's.

use warploom_ir::image::at;
use warploom_ir::{Type, Value};

use super::super::{Cx, Lifted, Unsupported};
use super::atomic::Operation;
use super::block::{Block, Layout, Rectangle};
use super::item::Item;
use super::lanes::{self, channels, consecutive};
use super::place::{MessageTarget, Target};
use super::svm::OWORD;
use super::{atomic_message, surface_of};
use crate::instruction::Instruction;
use crate::words::Atomic;

/// Returns a block of owords of a surface, by the number of the first oword or by a byte offset.
fn block(
    cx: &mut Cx<'_>,
    i: &Instruction,
    surface: usize,
    in_bytes: bool,
) -> Result<Block, Unsupported> {
    let owords = 1 << (cx.number(i, 0)? & 7);
    let target = surface_of(cx, i, surface)?;
    let mut address = cx.scalar(i, surface + 1, Type::I32)?;
    if !in_bytes {
        let shift = cx.constant(Type::I32, u64::from(OWORD.ilog2()));
        address = cx.b.shl(address, shift);
    }
    let place = MessageTarget { target, address, offset: 0 };
    Ok(Block { place, item: Item::DWORD, count: owords * OWORD / 4 })
}

pub fn oword_ld(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let block = block(cx, i, 2, false)?;
    let dst = cx.raw_operand(i, 4)?;
    block.load(cx, dst);
    Ok(())
}

pub fn oword_ld_unaligned(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let block = block(cx, i, 2, true)?;
    let dst = cx.raw_operand(i, 4)?;
    block.load(cx, dst);
    Ok(())
}

pub fn oword_st(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let block = block(cx, i, 1, false)?;
    let src = cx.raw_operand(i, 3)?;
    block.store(cx, src);
    Ok(())
}

/// Returns places in a surface: the lanes' offsets plus a shared offset, both times a scale.
fn place(
    cx: &mut Cx<'_>,
    i: &Instruction,
    from: usize,
    scale: u32,
) -> Result<MessageTarget, Unsupported> {
    let target = surface_of(cx, i, from)?;
    let shared = cx.scalar(i, from + 1, Type::I32)?;
    let offsets = cx.raw_operand(i, from + 2)?;
    let offset = lanes::addresses(cx, offsets, Type::I32, 1);
    let mut address = cx.b.add(shared, offset);
    if scale > 1 {
        let scale = cx.constant(Type::I32, scale.into());
        address = cx.b.mul(address, scale);
    }
    Ok(MessageTarget { target, address, offset: 0 })
}

/// Returns the element of the oldest messages, whose offsets count elements.
fn element(cx: &Cx<'_>, i: &Instruction) -> Result<Item, Unsupported> {
    match cx.number(i, 0)? {
        log @ 0..=2 => Ok(Item::in_dword(1 << log)),
        _ => Err(Unsupported),
    }
}

pub fn gather(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let item = element(cx, i)?;
    let place = place(cx, i, 2, item.bytes())?;
    let dst = cx.raw_operand(i, 5)?;
    lanes::load(cx, place, item, &consecutive(item, 1), dst);
    Ok(())
}

pub fn scatter(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let item = element(cx, i)?;
    let place = place(cx, i, 1, item.bytes())?;
    let src = cx.raw_operand(i, 4)?;
    lanes::store(cx, place, item, &consecutive(item, 1), src);
    Ok(())
}

/// Returns an element whose bytes, a power of two, take one dword.
fn scaled(cx: &Cx<'_>, i: &Instruction) -> Result<Item, Unsupported> {
    match cx.number(i, 1)? {
        log @ 0..=2 => Ok(Item::in_dword(1 << log)),
        _ => Err(Unsupported),
    }
}

pub fn gather_scaled(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let item = scaled(cx, i)?;
    let place = place(cx, i, 3, 1)?;
    let dst = cx.raw_operand(i, 6)?;
    lanes::load(cx, place, item, &consecutive(item, 1), dst);
    Ok(())
}

pub fn scatter_scaled(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let item = scaled(cx, i)?;
    let place = place(cx, i, 3, 1)?;
    let src = cx.raw_operand(i, 6)?;
    lanes::store(cx, place, item, &consecutive(item, 1), src);
    Ok(())
}

pub fn gather4_scaled(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let place = place(cx, i, 2, 1)?;
    let dst = cx.raw_operand(i, 5)?;
    let channels = channels(cx.number(i, 0)?);
    lanes::load(cx, place, Item::DWORD, &channels, dst);
    Ok(())
}

pub fn scatter4_scaled(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let place = place(cx, i, 2, 1)?;
    let src = cx.raw_operand(i, 5)?;
    let channels = channels(cx.number(i, 0)?);
    lanes::store(cx, place, Item::DWORD, &channels, src);
    Ok(())
}

/// Returns the places of a message, and the number of qwords at each offset.
fn qwords(cx: &mut Cx<'_>, i: &Instruction) -> Result<(MessageTarget, u32), Unsupported> {
    let count = 1 << (cx.number(i, 0)? & 3);
    let target = surface_of(cx, i, 1)?;
    let offsets = cx.raw_operand(i, 2)?;
    let address = lanes::addresses(cx, offsets, Type::I32, 1);
    Ok((MessageTarget { target, address, offset: 0 }, count))
}

pub fn qw_gather(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (place, count) = qwords(cx, i)?;
    let dst = cx.raw_operand(i, 3)?;
    lanes::load(cx, place, Item::QWORD, &consecutive(Item::QWORD, count), dst);
    Ok(())
}

pub fn qw_scatter(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (place, count) = qwords(cx, i)?;
    let src = cx.raw_operand(i, 3)?;
    lanes::store(cx, place, Item::QWORD, &consecutive(Item::QWORD, count), src);
    Ok(())
}

pub fn dword_atomic(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let atomic = Atomic::from_code(cx.number(i, 0)?).ok_or(Unsupported)?;
    let target = surface_of(cx, i, 1)?;
    let offsets = cx.raw_operand(i, 2)?;
    let address = lanes::addresses(cx, offsets, Type::I32, 1);
    let place = MessageTarget { target, address, offset: 0 };
    let item =
        if atomic.bits == 64 { Item::QWORD } else { Item::in_dword(u32::from(atomic.bits) / 8) };
    let (sources, dst) = ([cx.raw_operand(i, 3)?, cx.raw_operand(i, 4)?], cx.raw_operand(i, 5)?);
    atomic_message(cx, place, Operation::old(atomic), item, sources, dst);
    Ok(())
}

/// Returns a two-dimensional block of bytes of a surface.
fn media(
    cx: &mut Cx<'_>,
    i: &Instruction,
    clamps: bool,
) -> Result<(Rectangle, Layout), Unsupported> {
    let target = surface_of(cx, i, 1)?;
    let Target::Surface(record) = target else { return Err(Unsupported) };
    target.check(cx);
    let (width, height) = (cx.number(i, 3)?, cx.number(i, 4)?);
    if !(1..=64).contains(&width) || !(1..=64).contains(&height) {
        return Err(Unsupported);
    }
    let word = |cx: &mut Cx<'_>, at: u32| -> Value { record.load(cx, at, Type::I32) };
    let rectangle = Rectangle {
        base: record.load(cx, at::BASE, Type::I64),
        width: word(cx, at::ROW_BYTES),
        height: word(cx, at::ROWS),
        pitch: word(cx, at::ROW_STRIDE),
        x: cx.scalar(i, 5, Type::I32)?,
        y: cx.scalar(i, 6, Type::I32)?,
        clamps,
    };
    // Rows take at least a dword.
    let layout = Layout {
        item: Item::same(Type::I8),
        width,
        height,
        transposed: false,
        interleaved: 1,
        least_row: 4,
    };
    Ok((rectangle, layout))
}

pub fn media_ld(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (rectangle, layout) = media(cx, i, true)?;
    let dst = cx.raw_operand(i, 7)?;
    rectangle.load(cx, layout, dst);
    Ok(())
}

pub fn media_st(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (rectangle, layout) = media(cx, i, false)?;
    let src = cx.raw_operand(i, 7)?;
    rectangle.store(cx, layout, src);
    Ok(())
}
