//! Control flow, the exec mask and the mode: SOPP, and the non-arithmetic part of SOP1 and SOPK.
//!
//! Source: "Vega" Instruction Set Architecture, "SOPP Instructions", "SOP1 Instructions", "SOPK
//! Instructions".

use warploom_ir::{IntCc, TrapKind, Type, Value};

use super::context::Cx;
use super::flow::Condition;
use super::known::KnownScalars;
use super::scalars::M0;
use super::{Flow, Lifted, Unsupported, graphics};
use crate::{Instruction, Operand};

// Waits, hints and operations on the instruction cache have no effect here.
macro_rules! nothing {
    ($($name:ident)*) => {$(
        pub fn $name(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
            Ok(Flow::Next)
        }
    )*};
}

nothing! { s_nop s_sleep s_setprio s_icache_inv s_ttracedata s_incperflevel s_decperflevel s_wakeup }

/// Lifts S_WAITCNT, which has no effect here. It orders the accesses of a wave to LDS.
pub fn s_waitcnt(cx: &mut Cx<'_>, _: &Instruction) -> Lifted {
    cx.b.observe_fence();
    Ok(Flow::Next)
}

pub fn s_branch(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::Jump(i.branch_target(cx.pc)))
}

macro_rules! branches {
    ($($name:ident: $on:ident, $nonzero:literal;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            Ok(Flow::Branch { on: Condition::$on, nonzero: $nonzero, target: i.branch_target(cx.pc) })
        }
    )*};
}

branches! {
    s_cbranch_scc0: Scc, false;
    s_cbranch_scc1: Scc, true;
    s_cbranch_vccz: Vcc, false;
    s_cbranch_vccnz: Vcc, true;
    s_cbranch_execz: Exec, false;
    s_cbranch_execnz: Exec, true;
}

// There is no debugger.
nothing! { s_cbranch_cdbgsys s_cbranch_cdbguser s_cbranch_cdbgsys_or_user s_cbranch_cdbgsys_and_user }

pub fn s_endpgm(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Exit)
}

pub fn s_endpgm_saved(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Exit)
}

pub fn s_endpgm_ordered_ps_done(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Exit)
}

pub fn s_barrier(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Barrier)
}

pub fn s_trap(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Trap(TrapKind::Guest))
}

/// Traps if bit 0 is set: a halt ends in the trap handler, which does not exist here.
pub fn s_sethalt(_: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.simm16() & 1 == 0 { Ok(Flow::Next) } else { Ok(Flow::Trap(TrapKind::Guest)) }
}

/// Emits a message to the fixed functions of graphics or to the host.
///
/// Only messages of geometry programs have a receiver. Messages that ask for an answer are
/// unsupported.
fn send(cx: &mut Cx<'_>, i: &Instruction) -> Result<(), Unsupported> {
    const GEOMETRY: u16 = 2;
    const GET_DOORBELL: u16 = 10;
    let bits = i.simm16() as u16;
    // Bits 0 to 3 are the message's number. Numbers above 10 are reserved or read system registers.
    match bits & 15 {
        GEOMETRY => graphics::message(cx, bits >> 4 & 3, u32::from(bits >> 8 & 3)),
        1..GET_DOORBELL => {}
        _ => return Err(Unsupported),
    }
    Ok(())
}

pub fn s_sendmsg(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    send(cx, i)?;
    Ok(Flow::Next)
}

pub fn s_sendmsghalt(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    send(cx, i)?;
    Ok(Flow::Exit)
}

// Addresses.

pub fn s_getpc_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let next = cx.long(cx.next);
    cx.set_s64(i, next);
    Ok(Flow::Next)
}

pub fn s_setpc_b64(_: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::Indirect(i.src(0).operand))
}

pub fn s_swappc_b64(_: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::IndirectCall { link: i.dst(), to: i.src(0).operand })
}

pub fn s_call_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::Call { link: i.dst(), target: i.branch_target(cx.pc) })
}

// The exec mask: `D = exec; exec = op(S, exec); SCC = exec is not 0`.

fn save_exec(
    cx: &mut Cx<'_>,
    i: &Instruction,
    op: impl FnOnce(&mut Cx<'_>, Value, Value) -> Value,
) -> Lifted {
    let (source, exec) = (cx.s64_mask(i, 0), cx.exec());
    let result = op(cx, source, exec);
    cx.set_s64(i, exec);
    cx.set_exec(result);
    cx.set_scc_nonzero(result);
    Ok(Flow::Next)
}

/// Emits `exec = op(S, exec); D = exec; SCC = exec is not 0`.
fn write_exec(
    cx: &mut Cx<'_>,
    i: &Instruction,
    op: impl FnOnce(&mut Cx<'_>, Value, Value) -> Value,
) -> Lifted {
    let (source, exec) = (cx.s64_mask(i, 0), cx.exec());
    let result = op(cx, source, exec);
    cx.set_s64(i, result);
    cx.set_exec(result);
    cx.set_scc_nonzero(result);
    Ok(Flow::Next)
}

fn and_not(cx: &mut Cx<'_>, a: Value, b: Value) -> Value {
    let others = cx.b.not(b);
    cx.b.and(a, others)
}

fn or_not(cx: &mut Cx<'_>, a: Value, b: Value) -> Value {
    let others = cx.b.not(b);
    cx.b.or(a, others)
}

pub fn s_and_saveexec_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    save_exec(cx, i, |cx, s, exec| cx.b.and(s, exec))
}

pub fn s_or_saveexec_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    save_exec(cx, i, |cx, s, exec| cx.b.or(s, exec))
}

pub fn s_xor_saveexec_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    save_exec(cx, i, |cx, s, exec| cx.b.xor(s, exec))
}

pub fn s_andn2_saveexec_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    save_exec(cx, i, and_not)
}

pub fn s_orn2_saveexec_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    save_exec(cx, i, or_not)
}

pub fn s_nand_saveexec_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    save_exec(cx, i, |cx, s, exec| {
        let both = cx.b.and(s, exec);
        cx.b.not(both)
    })
}

pub fn s_nor_saveexec_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    save_exec(cx, i, |cx, s, exec| {
        let either = cx.b.or(s, exec);
        cx.b.not(either)
    })
}

pub fn s_xnor_saveexec_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    save_exec(cx, i, |cx, s, exec| {
        let different = cx.b.xor(s, exec);
        cx.b.not(different)
    })
}

pub fn s_andn1_saveexec_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    save_exec(cx, i, |cx, s, exec| and_not(cx, exec, s))
}

pub fn s_orn1_saveexec_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    save_exec(cx, i, |cx, s, exec| or_not(cx, exec, s))
}

pub fn s_andn1_wrexec_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    write_exec(cx, i, |cx, s, exec| and_not(cx, exec, s))
}

pub fn s_andn2_wrexec_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    write_exec(cx, i, and_not)
}

// Indexing of vector registers by m0.

pub fn s_set_gpr_idx_on(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let indexed = i.gpr_idx();
    if i.bits(12, 4) != 0 {
        return Err(Unsupported);
    }
    let index = cx.s32(i, 0);
    set_index(cx, index, Some(indexed));
    Ok(Flow::SetMode(cx.mode.with_indexed(Some(indexed))))
}

pub fn s_set_gpr_idx_off(cx: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::SetMode(cx.mode.with_indexed(None)))
}

pub fn s_set_gpr_idx_idx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let index = cx.s32(i, 0);
    set_index(cx, index, None);
    Ok(Flow::Next)
}

pub fn s_set_gpr_idx_mode(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let indexed = (i.simm16() & 15) as u8;
    if i.simm16() & !15 != 0 {
        return Err(Unsupported);
    }
    let m0 = cx.scalar(Operand::Scalar(M0));
    set_index(cx, m0, Some(indexed));
    // The instruction does not switch indexing on.
    Ok(match cx.mode.indexed {
        Some(_) => Flow::SetMode(cx.mode.with_indexed(Some(indexed))),
        None => Flow::Next,
    })
}

/// Writes m0: the index to bits 0 to 7, and the set of indexed operands to bits 12 to 15.
fn set_index(cx: &mut Cx<'_>, index: Value, indexed: Option<u8>) {
    let m0 = cx.scalar(Operand::Scalar(M0));
    let index = cx.and_bits(index, 0xff);
    let rest = match indexed {
        Some(bits) => {
            let rest = cx.and_bits(m0, 0xffff_0f00);
            let bits = cx.int(u32::from(bits) << 12);
            cx.b.or(rest, bits)
        }
        None => cx.and_bits(m0, 0xffff_ff00),
    };
    let m0 = cx.b.or(rest, index);
    cx.set_scalar(Operand::Scalar(M0), m0);
}

// Scalar registers indexed by m0.

fn moved_index(cx: &mut Cx<'_>, operand: Operand) -> Result<Value, Unsupported> {
    let Operand::Scalar(number) = operand else { return Err(Unsupported) };
    if u32::from(number) >= 2 * INDEXED_PAIRS {
        return Err(Unsupported);
    }
    let (m0, first) = (cx.scalar(Operand::Scalar(M0)), cx.int(number.into()));
    Ok(cx.b.add(m0, first))
}

/// The number of pairs of scalar registers that may be indexed.
const INDEXED_PAIRS: u32 = 51;

/// Returns the pair that holds register `index`, its content, and 1 if the register is its second.
///
/// No register exists past s101: s0 is read instead.
fn indexed_scalar(cx: &mut Cx<'_>, index: Value) -> (Value, Value, Value) {
    let (count, zero) = (cx.int(2 * INDEXED_PAIRS), cx.int(0));
    let exists = cx.b.icmp(IntCc::LtU, index, count);
    let read = cx.b.uniform_select(exists, index, zero);
    let pair = cx.shr(read, 1);
    let whole = cx.b.rf_gather(cx.banks.scalars, 0, INDEXED_PAIRS, pair);
    let whole = cx.b.from_mask(whole);
    let odd = cx.and_bits(read, 1);
    (pair, whole, odd)
}

pub fn s_movrels_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let index = moved_index(cx, i.src(0).operand)?;
    let (_, whole, odd) = indexed_scalar(cx, index);
    let (low, high) = (cx.b.trunc(Type::I32, whole), cx.b.high_half(whole));
    let value = cx.b.uniform_select(odd, high, low);
    cx.set_s32(i, value);
    Ok(Flow::Next)
}

pub fn s_movrels_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let index = moved_index(cx, i.src(0).operand)?;
    let (_, whole, _) = indexed_scalar(cx, index);
    cx.set_s64(i, whole);
    Ok(Flow::Next)
}

pub fn s_movreld_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let index = moved_index(cx, i.dst())?;
    let value = cx.s32(i, 0);
    let (_, whole, odd) = indexed_scalar(cx, index);
    let pair = cx.shr(index, 1);
    let (low, high) = (cx.b.trunc(Type::I32, whole), cx.b.high_half(whole));
    let (low, high) = (cx.b.uniform_select(odd, low, value), cx.b.uniform_select(odd, value, high));
    let whole = cx.b.concat(low, high);
    scatter(cx, pair, whole)
}

pub fn s_movreld_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let index = moved_index(cx, i.dst())?;
    let value = cx.s64(i, 0);
    let pair = cx.shr(index, 1);
    scatter(cx, pair, value)
}

fn scatter(cx: &mut Cx<'_>, pair: Value, value: Value) -> Lifted {
    let mask = cx.mask_of(value);
    cx.b.rf_scatter(cx.banks.scalars, 0, INDEXED_PAIRS, pair, mask);
    cx.raw.clear();
    cx.known = KnownScalars::NOTHING;
    Ok(Flow::Next)
}
