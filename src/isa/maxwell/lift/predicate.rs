//! Predicates and CC as values.
//!
//! Source: facts, `maxwell-semantics.md` 5.

use warploom_guest::divergence::Mask;
use warploom_ir::Value;

use super::cc;
use super::compare::{combine, set_predicates, set_register};
use super::context::{Cx, whole};
use super::flow::{Flow, Lifted, Unsupported};
use crate::field::{ByteIndex, PredFile};
use crate::{Instruction, Part};
use warploom_sass::lift::Flag;

/// Returns Pa op Pb.
fn logic(cx: &mut Cx<'_>, i: &Instruction) -> Result<Mask, Unsupported> {
    let (a, b) = (cx.pred(i.pa()), cx.pred(i.pb()));
    combine(cx, i.bool_op(), a, b)
}

pub fn psetp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = logic(cx, i)?;
    set_predicates(cx, i, i.bool_op2(), holds)
}

pub fn pset(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = logic(cx, i)?;
    set_register(cx, i, i.bool_op2(), holds)
}

/// Lifts CSETP: a test of CC to two predicates.
pub fn csetp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = cc::test(cx, i.cc_compare())?;
    set_predicates(cx, i, i.bool_op(), holds)
}

pub fn cset(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = cc::test(cx, i.cc_compare())?;
    set_register(cx, i, i.bool_op(), holds)
}

/// Returns the flags of a byte: bits 0 to 6 for predicates, bits 0 to 3 for CC.
fn flags(cc: bool) -> Vec<Flag> {
    if cc {
        vec![Flag::Z, Flag::S, Flag::C, Flag::O]
    } else {
        (0..7).map(Flag::predicate).collect()
    }
}

/// The bit of the private second carry where a program saves and restores all of CC: the bit above
/// O, which the hardware does not change.
const C2_BIT: u32 = 4;
const ALL_OF_CC: u64 = 0xf;

/// Lifts P2R: A with a byte replaced by predicates or CC, where the mask B has a bit.
pub fn p2r(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let cc = i.pred_file() == PredFile::Cc;
    let Some(mask) = i.b().imm() else { return Err(Unsupported) };
    let shift = match i.byte_index() {
        ByteIndex::B0 => 0,
        ByteIndex::B1 => 8,
        ByteIndex::B2 => 16,
        ByteIndex::B3 => 24,
    };
    let mut result = cx.word(whole(i.a()));
    let mut bits: Vec<(u32, Mask)> = Vec::new();
    for (bit, flag) in flags(cc).into_iter().enumerate().filter(|(bit, _)| mask >> bit & 1 != 0) {
        bits.push((bit as u32, cx.flag(flag)));
    }
    if cc && mask & 0xff == ALL_OF_CC {
        bits.push((C2_BIT, cx.flag(Flag::C2)));
    }
    let replaced = bits.iter().fold(0u32, |all, (bit, _)| all | 1 << bit) << shift;
    let keep = cx.int(!replaced);
    result = cx.b.and(result, keep);
    for (bit, lanes) in bits {
        let (one, zero) = (cx.int(1 << (bit + shift)), cx.int(0));
        let placed = cx.select(lanes, one, zero);
        result = cx.b.or(result, placed);
    }
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Lifts R2P: predicates or CC from a byte of A, where the mask B has a bit.
pub fn r2p(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let cc = i.pred_file() == PredFile::Cc;
    let Some(mask) = i.b().imm() else { return Err(Unsupported) };
    let shift = match i.a().part {
        Part::Byte(byte) => u32::from(byte) * 8,
        _ => 0,
    };
    let word = cx.word(whole(i.a()));
    for (bit, flag) in flags(cc).into_iter().enumerate().filter(|(bit, _)| mask >> bit & 1 != 0) {
        let lanes = bit_lanes(cx, word, bit as u32 + shift);
        cx.set_flag(flag, lanes);
    }
    if cc && mask & 0xff == ALL_OF_CC {
        let lanes = bit_lanes(cx, word, C2_BIT + shift);
        cx.set_flag(Flag::C2, lanes);
    }
    Ok(Flow::Next)
}

/// Returns the lanes where a bit of a word is set.
fn bit_lanes(cx: &mut Cx<'_>, word: Value, bit: u32) -> Mask {
    let probe = cx.int(1 << bit);
    let bit = cx.b.and(word, probe);
    let clear = cc::zero(cx, bit);
    cx.not(clear)
}
