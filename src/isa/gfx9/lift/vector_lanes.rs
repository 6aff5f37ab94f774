//! Moves between lanes, and between vector and scalar registers.
//!
//! Source: "Vega" Instruction Set Architecture, "VOP1 Instructions", "VOP3A & VOP3B Instructions".

use warploom_guest::divergence::first_lane;
use warploom_ir::{Type, Value};

use super::context::Cx;
use super::{Flow, Lifted, Unsupported};
use crate::{Instruction, Operand};

/// Emits the value of the first active lane, or of lane 0 if no lane is active.
pub fn v_readfirstlane_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (value, exec) = (cx.word(i, 0), cx.exec());
    let value = cx.b.splat(value);
    // The lane is 64 if no lane is active. A read of lane 64 reads lane 0.
    let lane = first_lane(&mut cx.b, exec);
    let read = cx.b.lane_read(value, lane);
    cx.set_scalar(i.dst(), read);
    Ok(Flow::Next)
}

/// Reads any lane, active or not.
pub fn v_readlane_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (value, lane) = (cx.word(i, 0), cx.s32(i, 1));
    let value = cx.b.splat(value);
    let read = cx.b.lane_read(value, lane);
    cx.set_scalar(i.dst(), read);
    Ok(Flow::Next)
}

/// Checks that m0 indexes no operand.
///
/// No document says which operands m0 indexes in instructions that write no ordinary destination.
fn not_indexed(cx: &Cx<'_>) -> Result<(), Unsupported> {
    if cx.relative == 0 { Ok(()) } else { Err(Unsupported) }
}

/// Writes any lane, active or not.
pub fn v_writelane_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let Operand::Vector(number) = i.dst() else { return Err(Unsupported) };
    not_indexed(cx)?;
    let (value, lane) = (cx.s32(i, 0), cx.s32(i, 1));
    let lane = cx.and_bits(lane, 63);
    let (lane, one) = (cx.b.zero_extend(Type::I64, lane), cx.long(1));
    let bit = cx.b.shl(one, lane);
    let lanes = cx.b.to_mask(bit);
    cx.b.set_guard(Some(lanes));
    cx.b.set_nomask(true);
    cx.set_vector(number, value);
    cx.b.set_nomask(false);
    cx.b.set_guard(None);
    Ok(Flow::Next)
}

pub fn v_swap_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (Operand::Vector(to), Operand::Vector(from)) = (i.dst(), i.src(0).operand) else {
        return Err(Unsupported);
    };
    not_indexed(cx)?;
    let (x, y) = (cx.vector(to), cx.vector(from));
    cx.set_vector(to, y);
    cx.set_vector(from, x);
    Ok(Flow::Next)
}

/// Emits the number of bits of a mask for lanes below each lane, plus source 1.
///
/// If `high`, the mask has the bits of lanes 32 to 63, else of lanes 0 to 31.
fn count_below(cx: &mut Cx<'_>, i: &Instruction, high: bool) -> Lifted {
    let (mask, sum) = (cx.word(i, 0), cx.word(i, 1));
    let (lane, half) = (cx.b.lane_id(), cx.int(32));
    let lower = if high {
        let lane = cx.b.max_u(lane, half);
        cx.b.sub(lane, half)
    } else {
        cx.b.min_u(lane, half)
    };
    let count = if i.src(0).operand == Operand::Int(-1) {
        lower
    } else {
        // A shift by 32 gives 0, so `below` is all ones.
        let one = cx.int(1);
        let bit = cx.b.shl(one, lower);
        let below = cx.b.sub(bit, one);
        let bits = cx.b.and(mask, below);
        cx.b.popcnt(bits)
    };
    let result: Value = cx.b.add(count, sum);
    cx.set_word(i, result);
    Ok(Flow::Next)
}

pub fn v_mbcnt_lo_u32_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    count_below(cx, i, false)
}

pub fn v_mbcnt_hi_u32_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    count_below(cx, i, true)
}

// These instructions do nothing.
pub fn v_nop(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Next)
}

pub fn v_clrexcp(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Next)
}
