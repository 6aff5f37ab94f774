//! Lanes exchange values through the hardware of shared memory, without touching the memory.
//!
//! Source: "Vega" Instruction Set Architecture, DS_SWIZZLE_B32, DS_PERMUTE_B32, DS_BPERMUTE_B32. An
//! inactive lane gives 0.

use warploom_ir::Value;

use super::context::Cx;
use super::lds::fields;
use super::vector_memory::{active_at, register};
use super::{Flow, Lifted};
use crate::Instruction;

/// Gives lane i the value of lane `index[i]` (less than 64) if that lane is active, else 0.
fn pull(cx: &mut Cx<'_>, value: Value, index: Value) -> Value {
    let gathered = cx.b.lane_gather(value, index);
    let (active, zero) = (active_at(cx, index), cx.int(0));
    cx.b.select(active, gathered, zero)
}

/// Returns the lane that an address register plus the offset names: in words, modulo 64.
fn lane_of(cx: &mut Cx<'_>, address: Value, offset: u16) -> Value {
    let offset = cx.int(offset.into());
    let bytes = cx.b.add(address, offset);
    let lane = cx.shr(bytes, 2);
    cx.and_bits(lane, 63)
}

pub fn ds_bpermute_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ds = i.ds();
    let (address, data, dst) = (register(ds.addr)?, register(ds.data0)?, register(ds.dst)?);
    let (address, value) = (cx.vector(address), cx.vector(data));
    let index = lane_of(cx, address, ds.offset());
    let result = pull(cx, value, index);
    cx.set_vector(dst, result);
    Ok(Flow::Next)
}

pub fn ds_permute_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ds = i.ds();
    let (address, data, dst) = (register(ds.addr)?, register(ds.data0)?, register(ds.dst)?);
    let (address, value) = (cx.vector(address), cx.vector(data));
    let index = lane_of(cx, address, ds.offset());
    let exec = cx.exec();
    let result = cx.b.lane_scatter(value, index, exec);
    cx.set_vector(dst, result);
    Ok(Flow::Next)
}

pub fn ds_swizzle_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ds = fields(i)?;
    let (source, dst) = (register(ds.addr)?, register(ds.dst)?);
    let value = cx.vector(source);
    let index =
        cx.lane_table(&std::array::from_fn(|lane| swizzled(ds.offset(), lane as u32) as u8));
    let result = pull(cx, value, index);
    cx.set_vector(dst, result);
    Ok(Flow::Next)
}

/// Returns the lane that a lane reads. Lanes stay in their half of 32.
fn swizzled(control: u16, lane: u32) -> u32 {
    let control = u32::from(control);
    let (half, place) = (lane & 32, lane & 31);
    let field = |lo: u32| control >> lo & 31;
    match control {
        // Reverses the bits of the lane, except the bits of the mask, as a Fourier transform's
        // steps need it.
        0xe000.. => {
            let mask = field(0);
            let reversed = place.reverse_bits() >> 27 >> mask.count_ones();
            half | reversed | place & mask
        }
        // Turns lanes by `field(5)` lanes, backward with bit 10, among lanes that differ outside
        // the mask.
        0xc000.. => {
            let mask = field(0);
            let turn = if control & 0x400 != 0 { field(5).wrapping_neg() } else { field(5) };
            half | place & mask | place.wrapping_add(turn) & !mask & 31
        }
        // Within each four lanes, two bits for each lane name its source.
        0x8000.. => lane & !3 | control >> (2 * (lane & 3)) & 3,
        _ => half | ((place & field(0) | field(5)) ^ field(10)),
    }
}
