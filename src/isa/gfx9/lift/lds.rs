//! Shared memory (LDS), and the chip's global data share (GDS): reads and writes.
//!
//! Source: "Vega" Instruction Set Architecture, "Data share operations"; CLRX, "GCN ISA DS
//! instructions". An access begins at the address register plus the offset, modulo 2^32, as
//! compilers rely on. An access that is not wholly in the block's memory reads 0 and is not
//! written. For the global data share (the `gds` bit), m0 gives a launch a part: it begins at the
//! upper 16 bits of m0 and has as many bytes as the lower 16 bits say.

use warploom_ir::{AtomicOp, IntCc, Space, Special, Type, Value};

use super::context::Cx;
use super::entry::BANK;
use super::scalars::M0;
use super::vector_memory::{Item, lifts, nothing, register, within};
use super::{Flow, Lifted, Unsupported};
use crate::{Ds, Instruction, Operand};

/// Returns the instruction's fields if it does not access the global data share.
pub(super) fn fields(i: &Instruction) -> Result<Ds, Unsupported> {
    let ds = i.ds();
    if ds.gds { Err(Unsupported) } else { Ok(ds) }
}

/// The memory that an instruction accesses.
#[derive(Clone, Copy)]
pub(super) enum Share {
    Lds,
    /// `size` bytes (`i32`) from the global address `start` (`i64`) on.
    Gds {
        start: Value,
        size: Value,
    },
}

/// Returns an instruction's fields, and the memory that it accesses.
pub(super) fn shared(cx: &mut Cx<'_>, i: &Instruction) -> Result<(Ds, Share), Unsupported> {
    let ds = i.ds();
    if !ds.gds {
        return Ok((ds, Share::Lds));
    }
    let bank = cx.data_share.ok_or(Unsupported)?;
    let (all, part) = (cx.b.load_const(BANK, bank, Type::I64), cx.scalar(Operand::Scalar(M0)));
    let (first, size) = (cx.shr(part, 16), cx.and_bits(part, 0xffff));
    let first = cx.b.zero_extend(Type::I64, first);
    Ok((ds, Share::Gds { start: cx.b.add(all, first), size }))
}

impl Share {
    /// Returns the place of `bytes` bytes from `address + offset` on.
    ///
    /// The place is the space, the address and offset there, and the lanes in which the bytes
    /// exist.
    pub fn place(
        self,
        cx: &mut Cx<'_>,
        address: Value,
        offset: u32,
        bytes: u32,
    ) -> (Space, Value, i32, Value) {
        match self {
            Share::Lds => {
                let guard = in_range(cx, address, offset, bytes);
                (Space::Shared, address, offset as i32, guard)
            }
            Share::Gds { start, size } => {
                let offset = cx.int(offset);
                let (at, bytes) = (cx.b.add(address, offset), cx.int(bytes));
                let guard = within(cx, at, bytes, size);
                let at = cx.b.zero_extend(Type::I64, at);
                (Space::Global, cx.b.add(start, at), 0, guard)
            }
        }
    }
}

/// Returns the lanes whose bytes from `address + offset` on lie in shared memory.
pub(super) fn in_range(cx: &mut Cx<'_>, address: Value, offset: u32, bytes: u32) -> Value {
    let at = if offset == 0 {
        address
    } else {
        let offset = cx.int(offset);
        cx.b.add(address, offset)
    };
    let (bytes, size) = (cx.int(bytes), cx.b.special(Special::SharedBytes));
    within(cx, at, bytes, size)
}

fn load(cx: &mut Cx<'_>, share: Share, item: Item, address: Value, offset: u32) -> Vec<Value> {
    let (space, address, offset, guard) = share.place(cx, address, offset, item.bytes());
    let access = item.access(space, address, offset, Some(guard));
    cx.b.load_access(access, item.extend()).to_vec()
}

pub(super) fn store(
    cx: &mut Cx<'_>,
    share: Share,
    item: Item,
    address: Value,
    offset: u32,
    values: &[Value],
) {
    let (space, address, offset, guard) = share.place(cx, address, offset, item.bytes());
    let access = item.access(space, address, offset, Some(guard));
    cx.b.store_access(access, values);
}

fn read(cx: &mut Cx<'_>, i: &Instruction, item: Item) -> Lifted {
    let (ds, share) = shared(cx, i)?;
    let (address, dst) = (register(ds.addr)?, register(ds.dst)?);
    let address = cx.vector(address);
    let values = load(cx, share, item, address, ds.offset().into());
    item.write(cx, dst, &values);
    Ok(Flow::Next)
}

fn write(cx: &mut Cx<'_>, i: &Instruction, item: Item) -> Lifted {
    let (ds, share) = shared(cx, i)?;
    let (address, data) = (register(ds.addr)?, register(ds.data0)?);
    let address = cx.vector(address);
    let values = item.read(cx, data);
    store(cx, share, item, address, ds.offset().into(), &values);
    Ok(Flow::Next)
}

/// Returns the two offsets of an instruction with two accesses, in bytes.
pub(super) fn two_offsets(ds: &Ds, unit: u32) -> [u32; 2] {
    [ds.offset0, ds.offset1].map(|offset| u32::from(offset) * unit)
}

fn read2(cx: &mut Cx<'_>, i: &Instruction, item: Item, unit: u32) -> Lifted {
    let (ds, share) = shared(cx, i)?;
    let (address, dst) = (register(ds.addr)?, register(ds.dst)?);
    let address = cx.vector(address);
    let mut values = Vec::new();
    for offset in two_offsets(&ds, unit) {
        values.extend(load(cx, share, item, address, offset));
    }
    Item::Words(2 * item.elements()).write(cx, dst, &values);
    Ok(Flow::Next)
}

fn write2(cx: &mut Cx<'_>, i: &Instruction, item: Item, unit: u32) -> Lifted {
    let (ds, share) = shared(cx, i)?;
    let (address, data) = (register(ds.addr)?, [register(ds.data0)?, register(ds.data1)?]);
    let address = cx.vector(address);
    for (offset, data) in two_offsets(&ds, unit).into_iter().zip(data) {
        let values = item.read(cx, data);
        store(cx, share, item, address, offset, &values);
    }
    Ok(Flow::Next)
}

lifts! {
    ds_read_u8: read(Item::UBYTE);
    ds_read_i8: read(Item::SBYTE);
    ds_read_u16: read(Item::USHORT);
    ds_read_i16: read(Item::SSHORT);
    ds_read_u8_d16: read(Item::UBYTE_D16);
    ds_read_u8_d16_hi: read(Item::UBYTE_D16_HI);
    ds_read_i8_d16: read(Item::SBYTE_D16);
    ds_read_i8_d16_hi: read(Item::SBYTE_D16_HI);
    ds_read_u16_d16: read(Item::SHORT_D16);
    ds_read_u16_d16_hi: read(Item::SHORT_D16_HI);
    ds_read_b32: read(Item::Words(1));
    ds_read_b64: read(Item::Words(2));
    ds_read_b96: read(Item::Words(3));
    ds_read_b128: read(Item::Words(4));
    ds_read2_b32: read2(Item::Words(1), 4);
    ds_read2_b64: read2(Item::Words(2), 8);
    ds_read2st64_b32: read2(Item::Words(1), 4 * 64);
    ds_read2st64_b64: read2(Item::Words(2), 8 * 64);
    ds_write_b8: write(Item::UBYTE);
    ds_write_b8_d16_hi: write(Item::UBYTE_D16_HI);
    ds_write_b16: write(Item::USHORT);
    ds_write_b16_d16_hi: write(Item::SHORT_D16_HI);
    ds_write_b32: write(Item::Words(1));
    ds_write_b64: write(Item::Words(2));
    ds_write_b96: write(Item::Words(3));
    ds_write_b128: write(Item::Words(4));
    ds_write2_b32: write2(Item::Words(1), 4);
    ds_write2_b64: write2(Item::Words(2), 8);
    ds_write2st64_b32: write2(Item::Words(1), 4 * 64);
    ds_write2st64_b64: write2(Item::Words(2), 8 * 64);
}

/// Returns `src_lds_direct`: the value at the address m0[15:0], equal in all lanes.
///
/// m0[18:16] is the value's type. A reserved type faults.
pub(super) fn direct(cx: &mut Cx<'_>) -> Value {
    const TYPES: [(u32, Item); 5] = [
        (0, Item::UBYTE),
        (1, Item::USHORT),
        (2, Item::Words(1)),
        (4, Item::SBYTE),
        (5, Item::SSHORT),
    ];
    let m0 = cx.scalar(Operand::Scalar(M0));
    let (address, ty) = (cx.and_bits(m0, 0xffff), cx.shr(m0, 16));
    let ty = cx.and_bits(ty, 7);
    let (mut value, mut known) = (cx.int(0), cx.lanes(0));
    for (number, item) in TYPES {
        let number = cx.int(number);
        let this = cx.b.icmp(IntCc::Eq, ty, number);
        let within = in_range(cx, address, 0, item.bytes());
        let guard = cx.b.and(this, within);
        let loaded =
            cx.b.load_access(item.access(Space::Shared, address, 0, Some(guard)), item.extend())[0];
        value = cx.b.or(value, loaded);
        known = cx.b.or(known, this);
    }
    // No shared memory is so large, so this load faults.
    let (reserved, nowhere) = (cx.b.not(known), cx.int(u32::MAX));
    cx.b.load_access(
        Item::UBYTE.access(Space::Shared, nowhere, 0, Some(reserved)),
        Item::UBYTE.extend(),
    );
    value
}

/// Returns the address of each lane's word, from m0 on.
fn lane_address(cx: &mut Cx<'_>) -> Value {
    let (lane, base) = (cx.b.lane_id(), cx.scalar(Operand::Scalar(M0)));
    let (lane, base) = (cx.shl(lane, 2), cx.and_bits(base, 0xffff));
    cx.b.add(lane, base)
}

pub fn ds_read_addtid_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ds = fields(i)?;
    let dst = register(ds.dst)?;
    let address = lane_address(cx);
    let values = load(cx, Share::Lds, Item::Words(1), address, ds.offset().into());
    cx.set_vector(dst, values[0]);
    Ok(Flow::Next)
}

pub fn ds_write_addtid_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ds = fields(i)?;
    let data = register(ds.data0)?;
    let address = lane_address(cx);
    let value = cx.vector(data);
    store(cx, Share::Lds, Item::Words(1), address, ds.offset().into(), &[value]);
    Ok(Flow::Next)
}

pub fn ds_nop(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    nothing()
}

/// Copies an item from the second address of a lane to its first.
fn copy(cx: &mut Cx<'_>, i: &Instruction, item: Item) -> Lifted {
    let (ds, share) = shared(cx, i)?;
    let address = register(ds.addr)?;
    let first = cx.vector(address);
    let second = second_address(cx, &ds, first);
    let values = load(cx, share, item, second, 0);
    store(cx, share, item, first, 0, &values);
    Ok(Flow::Next)
}

lifts! {
    ds_write_src2_b32: copy(Item::Words(1));
    ds_write_src2_b64: copy(Item::Words(2));
}

/// Returns the second address of an instruction that has one, in words away from the first.
///
/// If the offset's bit 15 is set, the distance is in bits 17 to 31 of the register, signed.
/// Otherwise it is the offset, 15 bits, signed.
pub(super) fn second_address(cx: &mut Cx<'_>, ds: &Ds, first: Value) -> Value {
    let distance = if ds.offset1 & 0x80 != 0 {
        let words = cx.sar(first, 17);
        cx.shl(words, 2)
    } else {
        cx.int(((u32::from(ds.offset()) << 17) as i32 >> 17 << 2) as u32)
    };
    cx.b.add(first, distance)
}

/// Adds the number of active lanes to the word at m0 plus the offset, or subtracts it, once.
///
/// Each active lane gets the word's old value.
fn count(cx: &mut Cx<'_>, i: &Instruction, op: AtomicOp) -> Lifted {
    let ds = fields(i)?;
    let dst = register(ds.dst)?;
    let (exec, base) = (cx.exec(), cx.scalar(Operand::Scalar(M0)));
    let exec = cx.b.from_mask(exec);
    let lanes = cx.b.popcnt(exec);
    let lanes = cx.b.trunc(Type::I32, lanes);
    let (base, offset) = (cx.and_bits(base, 0xffff), cx.int(ds.offset().into()));
    let address = cx.b.add(base, offset);
    let within = in_range(cx, address, 0, 4);
    // The address is uniform, so the atomic runs once for the wave.
    let access = cx.b.access(Space::Shared, Type::I32, 1, address, 0);
    let access = warploom_ir::Access { guard: Some(within), ..access };
    let old = cx.b.atomic(access, op, lanes, None);
    let old = cx.b.splat(old);
    cx.set_vector(dst, old);
    Ok(Flow::Next)
}

lifts! {
    ds_append: count(AtomicOp::Add);
    ds_consume: count(AtomicOp::Sub);
}
