//! Moves and special registers.
//!
//! Source: facts, `maxwell-semantics.md` 5; `maxwell.md`, launch environment.

use warploom_guest::divergence::Mask;
use warploom_ir::{Special, Type, Value};

use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use super::shader;
use crate::Instruction;
use crate::special::SpecialRegister as Sr;

/// Lifts MOV: D = B in the chosen lanes of each quad; other lanes keep D.
pub fn mov(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mut value = cx.word(i.b());
    let quad = i.quad_mask();
    if quad != 0xf {
        let lanes = cx.constant(Type::Mask, quad * 0x1111_1111);
        let old = cx.varying_reg(i.d());
        value = cx.select(Mask::Lanes(lanes), value, old);
    }
    cx.set(i.d(), value);
    Ok(Flow::Next)
}

/// Lifts S2R and CS2R: D = a special register.
pub fn s2r(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = special(cx, Sr(i.special_register() as u8))?;
    cx.set(i.d(), value);
    Ok(Flow::Next)
}

/// The size of the shared window and of the local window in the generic address space.
const WINDOW_BYTES: u32 = 1 << 24;

fn special(cx: &mut Cx<'_>, register: Sr) -> Result<Value, Unsupported> {
    let axes = |at: fn(u8) -> Special| [0, 1, 2].map(at);
    Ok(match register {
        Sr::LANEID => cx.b.lane_id(),
        Sr::TID_X => cx.b.special(Special::Tid(0)),
        Sr::TID_Y => cx.b.special(Special::Tid(1)),
        Sr::TID_Z => cx.b.special(Special::Tid(2)),
        Sr::CTAID_X => cx.b.special(Special::Ctaid(0)),
        Sr::CTAID_Y => cx.b.special(Special::Ctaid(1)),
        Sr::CTAID_Z => cx.b.special(Special::Ctaid(2)),
        Sr::TID => packed(cx, axes(Special::Tid)),
        Sr::NTID => packed(cx, axes(Special::Ntid)),
        Sr::EQMASK => lane_bit(cx),
        Sr::LTMASK => lanes_below(cx),
        Sr::LEMASK => lanes_up_to(cx),
        Sr::GTMASK => {
            let others = lanes_up_to(cx);
            cx.b.not(others)
        }
        Sr::GEMASK => {
            let others = lanes_below(cx);
            cx.b.not(others)
        }
        // Time is counted in guest instructions; an instruction takes a nanosecond.
        Sr::CLOCK | Sr::CLOCKLO | Sr::GLOBALTIMERLO => {
            let clock = cx.b.special(Special::Clock);
            cx.b.trunc(Type::I32, clock)
        }
        Sr::CLOCKHI | Sr::GLOBALTIMERHI => {
            let clock = cx.b.special(Special::Clock);
            cx.b.high_half(clock)
        }
        // Bits 8 to 13 are the warp's number. Bits from 20 on are the multiprocessor's number: 0,
        // as there is only one.
        Sr::VIRTID => {
            let (warp, mask) = (cx.b.special(Special::WarpId), cx.int(0x3f));
            let warp = cx.b.and(warp, mask);
            cx.shl(warp, 8)
        }
        Sr::VIRTCFG => cx.int(1 << 20),
        Sr::SMEMSZ => cx.b.special(Special::SharedBytes),
        Sr::SWINLO => cx.b.load_const(0, 0, Type::I32),
        Sr::LWINLO => cx.b.load_const(0, 4, Type::I32),
        Sr::SWINSZ | Sr::LWINSZ => cx.int(WINDOW_BYTES),
        // All of a lane's local memory is in the hardware's high part, which has the stack and
        // starts at 0. Code compiled without optimisation compares its stack pointer with that
        // start.
        Sr::LMEMHIOFF | Sr::LMEMLOSZ => cx.int(0),
        _ => shader::special(cx, register)?,
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
