//! Moves, special registers, and loads of constants to uniform registers.

use warploom_guest::divergence::Mask;
use warploom_ir::{IntCc, Space, Special, Type, Value};
use warploom_sass::lift::Cx;
use warploom_sass::{Role, Value as Operand};

use super::emit::of_first_lane;
use super::flow::{Flow, Lifted, Unsupported};
use super::memory::{elements, load_constant};
use super::operand::{nonzero, set, set_nth, set_pair, set_pred, wants};
use crate::Instruction;
use crate::driver::word;
use crate::field::ClockWidth;

/// Numbers of special registers.
mod sr {
    pub const LANEID: u8 = 0;
    pub const CLOCK: u8 = 1;
    pub const VIRTCFG: u8 = 2;
    pub const VIRTID: u8 = 3;
    pub const TID: u8 = 32;
    pub const TID_X: u8 = 33;
    pub const TID_Z: u8 = 35;
    pub const CTAID_X: u8 = 37;
    pub const CTAID_Z: u8 = 39;
    pub const NTID: u8 = 40;
    pub const LWINHI: u8 = 46;
    pub const SWINHI: u8 = 47;
    pub const SWINLO: u8 = 48;
    pub const SWINSZ: u8 = 49;
    pub const SMEMSZ: u8 = 50;
    pub const LWINLO: u8 = 52;
    pub const LWINSZ: u8 = 53;
    pub const LMEMLOSZ: u8 = 54;
    pub const LMEMHIOFF: u8 = 55;
    pub const EQMASK: u8 = 56;
    pub const LTMASK: u8 = 57;
    pub const LEMASK: u8 = 58;
    pub const GTMASK: u8 = 59;
    pub const GEMASK: u8 = 60;
    pub const VIRTUALSMID: u8 = 67;
    pub const CLOCKLO: u8 = 80;
    pub const CLOCKHI: u8 = 81;
    pub const GLOBALTIMERLO: u8 = 82;
    pub const GLOBALTIMERHI: u8 = 83;
    pub const ZERO: u8 = 255;
}

/// The size of the shared window and of the local window in the generic address space.
pub const WINDOW_BYTES: u32 = 1 << 24;

/// Lifts MOV and UMOV: D = B in the chosen lanes of each quad; other lanes keep D.
pub fn mov(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mut value = cx.word(i.b());
    let quad = i.field(crate::Field::quad_mask).unwrap_or(0xf);
    if quad != 0xf {
        let lanes = cx.constant(Type::Mask, quad * 0x1111_1111);
        let old = cx.varying_reg(i.d());
        value = cx.select(Mask::Lanes(lanes), value, old);
    }
    set(cx, i, value);
    Ok(Flow::Next)
}

/// Whether an instruction reads a clock or the time.
pub fn is_clock(i: &Instruction) -> bool {
    let number = i.special_register() as u8;
    number == sr::CLOCK || (sr::CLOCKLO..=sr::GLOBALTIMERHI).contains(&number)
}

/// Lifts S2R and S2UR: D = a special register.
pub fn s2r(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mut value = special(cx, i.special_register() as u8)?;
    if matches!(i.source(Role::D).map(|d| d.value), Some(Operand::Uniform(_))) {
        value = of_first_lane(cx, value);
    }
    set(cx, i, value);
    Ok(Flow::Next)
}

/// Lifts CS2R: one or two special registers.
pub fn cs2r(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let number = i.special_register() as u8;
    if i.clock_width() == ClockWidth::B32 {
        return s2r(cx, i);
    }
    let value = match number {
        sr::CLOCK | sr::CLOCKLO | sr::GLOBALTIMERLO => cx.b.special(Special::Clock),
        sr::ZERO => cx.constant(Type::I64, 0),
        _ => return Err(Unsupported),
    };
    set_pair(cx, i, value);
    Ok(Flow::Next)
}

fn special(cx: &mut Cx<'_>, number: u8) -> Result<Value, Unsupported> {
    let axes = |at: fn(u8) -> Special| [0, 1, 2].map(at);
    Ok(match number {
        sr::LANEID => cx.b.lane_id(),
        sr::TID_X..=sr::TID_Z => cx.b.special(Special::Tid(number - sr::TID_X)),
        sr::CTAID_X..=sr::CTAID_Z => cx.b.special(Special::Ctaid(number - sr::CTAID_X)),
        sr::TID => packed(cx, axes(Special::Tid)),
        sr::NTID => packed(cx, axes(Special::Ntid)),
        sr::EQMASK => lane_bit(cx),
        sr::LTMASK => lanes_below(cx),
        sr::LEMASK => lanes_up_to(cx),
        sr::GTMASK => {
            let others = lanes_up_to(cx);
            cx.b.not(others)
        }
        sr::GEMASK => {
            let others = lanes_below(cx);
            cx.b.not(others)
        }
        // Time is counted in guest instructions; an instruction takes a nanosecond.
        sr::CLOCK | sr::CLOCKLO | sr::GLOBALTIMERLO => {
            let clock = cx.b.special(Special::Clock);
            cx.b.trunc(Type::I32, clock)
        }
        sr::CLOCKHI | sr::GLOBALTIMERHI => {
            let clock = cx.b.special(Special::Clock);
            cx.b.high_half(clock)
        }
        // Bits 8 to 13 are the warp's number. Bits from 20 on are the multiprocessor's number: 0,
        // as there is only one.
        sr::VIRTID => {
            let (warp, mask) = (cx.b.special(Special::WarpId), cx.int(0x3f));
            let warp = cx.b.and(warp, mask);
            cx.shl(warp, 8)
        }
        sr::VIRTCFG => cx.int(1 << 20),
        sr::VIRTUALSMID | sr::ZERO => cx.int(0),
        sr::SMEMSZ => cx.b.special(Special::SharedBytes),
        sr::SWINLO => cx.b.load_const(0, word::SHARED_WINDOW, Type::I32),
        sr::SWINHI => cx.b.load_const(0, word::SHARED_WINDOW + 4, Type::I32),
        sr::LWINLO => cx.b.load_const(0, word::LOCAL_WINDOW, Type::I32),
        sr::LWINHI => cx.b.load_const(0, word::LOCAL_WINDOW + 4, Type::I32),
        sr::SWINSZ | sr::LWINSZ => cx.int(WINDOW_BYTES),
        // All of a lane's local memory is in the hardware's high part, which has the stack and
        // starts at 0.
        sr::LMEMHIOFF | sr::LMEMLOSZ => cx.int(0),
        _ => return Err(Unsupported),
    })
}

/// Packs x in bits 0 to 15, y in 16 to 25, z in 26 to 31.
fn packed(cx: &mut Cx<'_>, [x, y, z]: [Special; 3]) -> Value {
    let (x, y, z) = (cx.b.special(x), cx.b.special(y), cx.b.special(z));
    let (y, z) = (cx.shl(y, 16), cx.shl(z, 26));
    let yz = cx.b.or(y, z);
    cx.b.or(x, yz)
}

fn lane_bit(cx: &mut Cx<'_>) -> Value {
    let (one, lane) = (cx.int(1), cx.b.lane_id());
    cx.b.shl(one, lane)
}

fn lanes_below(cx: &mut Cx<'_>) -> Value {
    let (bit, one) = (lane_bit(cx), cx.int(1));
    cx.b.sub(bit, one)
}

fn lanes_up_to(cx: &mut Cx<'_>) -> Value {
    let (bit, below) = (lane_bit(cx), lanes_below(cx));
    cx.b.or(bit, below)
}

/// Lifts R2UR: the value of the first lane. The predicate says that the lane has another value.
pub fn r2ur(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.row.format.contains(".OR") {
        return Err(Unsupported);
    }
    let value = cx.word(i.a());
    let first = of_first_lane(cx, value);
    if wants(i, Role::Pd) {
        let differs = cx.b.icmp(IntCc::Ne, value, first);
        set_pred(cx, i, Role::Pd, Mask::Lanes(differs));
    }
    set(cx, i, first);
    Ok(Flow::Next)
}

/// Lifts LEPC: the address of the instruction.
pub fn lepc(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let pc = cx.constant(Type::I64, cx.pc);
    set_pair(cx, i, pc);
    Ok(Flow::Next)
}

/// Lifts ULDC.
pub fn uldc(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let what = elements(i.const_size())?;
    let (bank, offset) = match i.source(Role::B).map(|b| b.value) {
        Some(Operand::Const { bank, offset }) if what.count <= 2 => (bank, offset & 0xffff),
        Some(_) => return Err(Unsupported),
        None => return load_constant(cx, i),
    };
    if what.ty != Type::I32 || offset % 4 != 0 {
        let address = cx.int(offset as u32);
        let value = cx.b.load(Space::Const(bank), what.ty, what.extend, address, 0);
        set(cx, i, value);
        return Ok(Flow::Next);
    }
    for n in 0..what.count {
        let value = cx.bank(bank, offset + 4 * i32::from(n), Type::I32);
        set_nth(cx, i, n, value);
    }
    Ok(Flow::Next)
}

/// Lifts B2R.RESULT: the result of the last reducing barrier, as a number and as a predicate that
/// it is not 0.
pub fn b2r_result(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let result = cx.b.special(Special::BarrierResult);
    set(cx, i, result);
    let truth = nonzero(cx, result);
    set_pred(cx, i, Role::Pd, truth);
    Ok(Flow::Next)
}
