//! SVM messages, which have 64-bit addresses.

use warploom_ir::Type;

use super::super::{Cx, Lifted, Unsupported};
use super::atomic::Operation;
use super::atomic_message;
use super::block::Block;
use super::item::Item;
use super::lanes::{self, channels, consecutive};
use super::place::{MessageTarget, Target};
use crate::instruction::Instruction;
use crate::words::Atomic;

/// The bytes of an oword.
pub const OWORD: u32 = 16;

fn flat(address: warploom_ir::Value) -> MessageTarget {
    MessageTarget { target: Target::Flat, address, offset: 0 }
}

fn block(cx: &mut Cx<'_>, i: &Instruction) -> Result<Block, Unsupported> {
    let owords = 1 << (cx.number(i, 0)? & 7);
    let address = cx.scalar(i, 1, Type::I64)?;
    Ok(Block { place: flat(address), item: Item::DWORD, count: owords * OWORD / 4 })
}

pub fn svm_block_ld(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let block = block(cx, i)?;
    let dst = cx.raw_operand(i, 2)?;
    block.load(cx, dst);
    Ok(())
}

pub fn svm_block_st(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let block = block(cx, i)?;
    let src = cx.raw_operand(i, 2)?;
    block.store(cx, src);
    Ok(())
}

/// Returns the element and the number of elements that each lane moves, in blocks of 1, 4 or 8
/// bytes.
///
/// Blocks of one byte share a dword, or a qword if there are eight.
fn elements(cx: &Cx<'_>, i: &Instruction) -> Result<(Item, u32), Unsupported> {
    let count = 1 << cx.number(i, 1)?;
    match (cx.number(i, 0)?, count) {
        (0, 1 | 2 | 4) => Ok((Item::in_dword(count), 1)),
        (0, 8) => Ok((Item::QWORD, 1)),
        (1, 1..=8) => Ok((Item::DWORD, count)),
        (2, 1..=8) => Ok((Item::QWORD, count)),
        _ => Err(Unsupported),
    }
}

pub fn svm_gather(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (item, count) = elements(cx, i)?;
    let addresses = cx.raw_operand(i, 2)?;
    let address = lanes::addresses(cx, addresses, Type::I64, 1);
    let dst = cx.raw_operand(i, 3)?;
    lanes::load(cx, flat(address), item, &consecutive(item, count), dst);
    Ok(())
}

pub fn svm_scatter(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (item, count) = elements(cx, i)?;
    let addresses = cx.raw_operand(i, 2)?;
    let address = lanes::addresses(cx, addresses, Type::I64, 1);
    let src = cx.raw_operand(i, 3)?;
    lanes::store(cx, flat(address), item, &consecutive(item, count), src);
    Ok(())
}

pub fn svm_atomic(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let atomic = Atomic::from_code(cx.number(i, 0)?).ok_or(Unsupported)?;
    let addresses = cx.raw_operand(i, 1)?;
    let address = lanes::addresses(cx, addresses, Type::I64, 1);
    let item =
        if atomic.bits == 64 { Item::QWORD } else { Item::in_dword(u32::from(atomic.bits) / 8) };
    let (sources, dst) = ([cx.raw_operand(i, 2)?, cx.raw_operand(i, 3)?], cx.raw_operand(i, 4)?);
    atomic_message(cx, flat(address), Operation::old(atomic), item, sources, dst);
    Ok(())
}

fn scaled(cx: &mut Cx<'_>, i: &Instruction) -> Result<MessageTarget, Unsupported> {
    let base = cx.scalar(i, 2, Type::I64)?;
    let offsets = cx.raw_operand(i, 3)?;
    let offset = lanes::addresses(cx, offsets, Type::I64, 1);
    Ok(flat(cx.b.add(base, offset)))
}

pub fn svm_gather4scaled(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let place = scaled(cx, i)?;
    let dst = cx.raw_operand(i, 4)?;
    let channels = channels(cx.number(i, 0)?);
    lanes::load(cx, place, Item::DWORD, &channels, dst);
    Ok(())
}

pub fn svm_scatter4scaled(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let place = scaled(cx, i)?;
    let src = cx.raw_operand(i, 4)?;
    let channels = channels(cx.number(i, 0)?);
    lanes::store(cx, place, Item::DWORD, &channels, src);
    Ok(())
}
