//! LSC messages without a format, except two-dimensional blocks.

use warploom_ir::{Type, Value};

use super::super::{Cx, Lifted, Unsupported, surface};
use super::atomic::Operation;
use super::atomic_message;
use super::block::Block;
use super::item::Item;
use super::lanes::{self, Element, channels, consecutive};
use super::place::{MessageTarget, Target};
use crate::instruction::{Instruction, Lsc, Operand, Raw};
use crate::words::{AddressModel, AddressSize, Sfid};

/// Operand numbers, of all messages and of most messages.
mod at {
    pub const SURFACE: usize = 1;
    pub const DATA: usize = 2;
    pub const ADDRESS: usize = 3;
    pub const SOURCES: [usize; 2] = [4, 5];
    /// Operand numbers of messages with a stride.
    pub const PITCH: usize = 4;
    pub const STRIDED_SOURCE: usize = 5;
}

/// Returns the description of an LSC message.
pub fn said(i: &Instruction) -> Result<&Lsc, Unsupported> {
    match i.operands.first() {
        Some(Operand::Lsc(lsc)) => Ok(lsc),
        _ => Err(Unsupported),
    }
}

/// Returns the memory that addresses are relative to.
fn target(cx: &mut Cx<'_>, i: &Instruction, lsc: &Lsc) -> Result<Target, Unsupported> {
    Ok(match (lsc.sfid, lsc.model) {
        (Sfid::Slm, _) => Target::Slm,
        (_, AddressModel::Flat) => Target::Flat,
        // The thread's scratch surface is the only surface of this model.
        (_, AddressModel::Ss) => Target::Scratch,
        (_, AddressModel::Bss | AddressModel::Bti) => {
            Target::Surface(surface::of_lsc(cx, i, at::SURFACE, lsc)?)
        }
        (_, AddressModel::Arg | AddressModel::Surf) => return Err(Unsupported),
    })
}

/// Returns the type of addresses in registers.
fn address_type(size: AddressSize) -> Type {
    match size {
        AddressSize::A16 => Type::I16,
        AddressSize::A64 => Type::I64,
        AddressSize::A32 | AddressSize::A32u | AddressSize::A32s => Type::I32,
    }
}

/// Returns the places of addresses, which are integers, one for each lane.
fn place_of(cx: &mut Cx<'_>, lsc: &Lsc, target: Target, address: Value) -> MessageTarget {
    let signed = lsc.address_size == AddressSize::A32s && matches!(target, Target::Flat);
    let address = if signed { cx.resize(address, Type::I64, true) } else { address };
    target.place(cx, address).at_distance(cx, lsc.offset)
}

fn place(cx: &mut Cx<'_>, i: &Instruction, lsc: &Lsc) -> Result<MessageTarget, Unsupported> {
    let target = target(cx, i, lsc)?;
    let addresses = cx.raw_operand(i, at::ADDRESS)?;
    let address = lanes::addresses(cx, addresses, address_type(lsc.address_size), lsc.scale.into());
    Ok(place_of(cx, lsc, target, address))
}

/// Returns the block of consecutive elements at the address of the only lane.
fn block(place: MessageTarget, lsc: &Lsc) -> Block {
    Block { place, item: Item::of(lsc.data), count: lsc.elements.into() }
}

fn load_elements(cx: &mut Cx<'_>, i: &Instruction, item: Item, elements: &[Element]) -> Lifted {
    let (place, dst) = (place(cx, i, said(i)?)?, cx.raw_operand(i, at::DATA)?);
    lanes::load(cx, place, item, elements, dst);
    Ok(())
}

fn store_elements(cx: &mut Cx<'_>, i: &Instruction, item: Item, elements: &[Element]) -> Lifted {
    let (place, src) = (place(cx, i, said(i)?)?, cx.raw_operand(i, at::SOURCES[0])?);
    lanes::store(cx, place, item, elements, src);
    Ok(())
}

pub fn lsc_load(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (lsc, item) = (said(i)?, Item::of(said(i)?.data));
    if lsc.transposed {
        let (place, dst) = (place(cx, i, lsc)?, cx.raw_operand(i, at::DATA)?);
        block(place, lsc).load(cx, dst);
        return Ok(());
    }
    load_elements(cx, i, item, &consecutive(item, lsc.elements.into()))
}

pub fn lsc_store(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (lsc, item) = (said(i)?, Item::of(said(i)?.data));
    if lsc.transposed {
        let (place, src) = (place(cx, i, lsc)?, cx.raw_operand(i, at::SOURCES[0])?);
        block(place, lsc).store(cx, src);
        return Ok(());
    }
    store_elements(cx, i, item, &consecutive(item, lsc.elements.into()))
}

pub fn lsc_load_quad(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    load_elements(cx, i, Item::DWORD, &channels(said(i)?.channels.into()))
}

pub fn lsc_store_quad(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    store_elements(cx, i, Item::DWORD, &channels(said(i)?.channels.into()))
}

/// Returns the places of lanes that start at one address and follow at a stride in bytes.
fn strided(
    cx: &mut Cx<'_>,
    i: &Instruction,
) -> Result<(MessageTarget, Item, Vec<Element>), Unsupported> {
    let lsc = said(i)?;
    let item = Item::of(lsc.data);
    let elements = consecutive(item, lsc.elements.into());
    let target = target(cx, i, lsc)?;
    let base = cx.raw_operand(i, at::ADDRESS)?;
    let base = cx.raw_scalar(base, 0, address_type(lsc.address_size));
    let place = place_of(cx, lsc, target, base);
    let ty = cx.b.ty(place.address).ty;
    let pitch = match i.operands.get(at::PITCH) {
        Some(Operand::Immediate { bits: 0, .. }) => {
            cx.constant(ty, u64::from(item.bytes()) * u64::from(lsc.elements))
        }
        _ => cx.scalar(i, at::PITCH, ty)?,
    };
    let number = super::block::numbers(cx, 0);
    let number = cx.resize(number, ty, false);
    let distance = cx.b.mul(number, pitch);
    let address = cx.b.add(place.address, distance);
    Ok((MessageTarget { address, ..place }, item, elements))
}

pub fn lsc_load_strided(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (place, item, elements) = strided(cx, i)?;
    let dst = cx.raw_operand(i, at::DATA)?;
    lanes::load(cx, place, item, &elements, dst);
    Ok(())
}

pub fn lsc_store_strided(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (place, item, elements) = strided(cx, i)?;
    let src = cx.raw_operand(i, at::STRIDED_SOURCE)?;
    lanes::store(cx, place, item, &elements, src);
    Ok(())
}

/// Returns the operation of an LSC message, and its element.
pub fn operation(i: &Instruction) -> Result<(Operation, Item), Unsupported> {
    let item = Item::of(said(i)?.data);
    let name = i.row.name.strip_prefix("lsc_atomic_").ok_or(Unsupported)?;
    Ok((Operation::lsc(name, item.bytes() * 8).ok_or(Unsupported)?, item))
}

/// Lifts all LSC atomics of memory without a format.
pub fn lsc_atomic(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let lsc = said(i)?;
    let (place, dst) = (place(cx, i, lsc)?, cx.raw_operand(i, at::DATA)?);
    if i.row.name == "lsc_atomic_load" {
        let item = Item::of(lsc.data);
        lanes::load(cx, place, item, &consecutive(item, 1), dst);
        return Ok(());
    }
    let (operation, item) = operation(i)?;
    let sources: [Raw; 2] =
        [cx.raw_operand(i, at::SOURCES[0])?, cx.raw_operand(i, at::SOURCES[1])?];
    atomic_message(cx, place, operation, item, sources, dst);
    Ok(())
}
