//! Bitwise functions, permutations of bytes, fields, counts; and functions of predicates.

use warploom_guest::bits::{self, sequence};
use warploom_guest::divergence::Mask;
use warploom_ir::{IntCc, Type};
use warploom_sass::lift::{Cx, Flag};
use warploom_sass::{Part, Role, Source};

use super::flow::{Flow, Lifted, Unsupported};
use super::operand::{nonzero, set, set_pred, wants, zero};
use crate::Instruction;
use crate::field::{ByteIndex, PermuteMode, Sign};

/// Lifts LOP3 and ULOP3: each bit is bit `4a + 2b + c` of the truth table. The predicate says that
/// a bit of the result is set, or Ps; with `.PAND` and Ps.
pub fn lop3(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, c) = (cx.word(i.a()), cx.word(i.b()), cx.word(i.c()));
    let result = bits::by_table(cx, i.truth_table() as u8, [a, b, c]);
    if wants(i, Role::Pd) {
        let (any, with) = (nonzero(cx, result), cx.pred(i.ps()));
        let truth = if i.pand() { cx.and(any, with) } else { cx.or(any, with) };
        set_pred(cx, i, Role::Pd, truth);
    }
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Returns the function of three masks that a truth table defines.
fn by_table(cx: &mut Cx<'_>, table: u8, [a, b, c]: [Mask; 3]) -> Mask {
    // For each value of A, a function of B and C; for each value of B, one of C.
    let of_c = |cx: &mut Cx<'_>, table: u8| match table & 3 {
        0 => Mask::Never,
        1 => cx.not(c),
        2 => c,
        _ => Mask::Always,
    };
    let of_b = |cx: &mut Cx<'_>, table: u8| {
        let (clear, set) = (of_c(cx, table), of_c(cx, table >> 2));
        set.merge(b, clear, &mut cx.b)
    };
    let (clear, set) = (of_b(cx, table), of_b(cx, table >> 4));
    set.merge(a, clear, &mut cx.b)
}

/// Lifts PLOP3 and UPLOP3: two functions of three predicates, or signs of words.
pub fn plop3(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let roles = [(Role::A, Role::Pa), (Role::B, Role::Pb), (Role::C, Role::Pc)];
    let inputs = roles.map(|(word, predicate)| match i.source(word) {
        Some(source) => {
            let (word, zero) = (cx.raw(source), cx.int(0));
            Mask::Lanes(cx.b.icmp(IntCc::LtS, word, zero))
        }
        None => cx.pred(i.predicate(predicate)),
    });
    let first = by_table(cx, i.truth_table() as u8, inputs);
    let second = by_table(cx, i.second_truth_table() as u8, inputs);
    set_pred(cx, i, Role::Pd, first);
    set_pred(cx, i, Role::Pe, second);
    Ok(Flow::Next)
}

/// Lifts PRMT and UPRMT: bytes of C:A (A the low word), selected by B.
pub fn prmt(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (low, high) = (cx.word(i.a()), cx.word(i.c()));
    // For modes that are sequences, the selector of each start.
    let starts = match i.permute_mode() {
        PermuteMode::Index => None,
        PermuteMode::F4e => Some(sequence::F4E),
        PermuteMode::B4e => Some(sequence::B4E),
        PermuteMode::Rc8 => Some(sequence::RC8),
        PermuteMode::Ecl => Some(sequence::ECL),
        PermuteMode::Ecr => Some(sequence::ECR),
        PermuteMode::Rc16 => Some(sequence::RC16),
        PermuteMode::Reserved => return Err(Unsupported),
    };
    let some = |source: Source, value| {
        Some(value).filter(|_| !source.reg().is_some_and(|reg| reg.is_zero()))
    };
    let result = match (i.b().imm(), starts) {
        (Some(selector), starts) => {
            let selector = selector as u32;
            let selector = starts.map_or(selector, |starts| starts[selector as usize & 3]);
            bits::permute_known(cx, some(i.a(), low), some(i.c(), high), selector)
        }
        (None, None) => {
            let selector = cx.word(i.b());
            bits::permute(cx, low, high, selector)
        }
        (None, Some(starts)) => {
            let start = cx.word(i.b());
            let selector = bits::start_selector(cx, starts, start);
            bits::permute(cx, low, high, selector)
        }
    };
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Returns a count of bits: modulo 32 with `.W`, at most 32 without.
fn count(cx: &mut Cx<'_>, source: Source, wrap: bool) -> warploom_ir::Value {
    if let Some(count) = source.imm() {
        let count = count as u32;
        return cx.int(if wrap { count & 31 } else { count.min(32) });
    }
    let count = cx.word(source);
    let bound = cx.int(if wrap { 31 } else { 32 });
    if wrap { cx.b.and(count, bound) } else { cx.b.min_u(count, bound) }
}

/// Lifts SGXT and USGXT: the low B bits of A, extended.
pub fn sgxt(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let signed = i.signed() == Sign::Signed;
    let value = cx.word(i.a());
    let result = match i.b().imm() {
        Some(bits) if !i.wrap() && bits as u32 >= 32 => value,
        Some(bits) if bits & 31 != 0 => cx.bit_range(value, 0, bits as u32 & 31, signed),
        _ => {
            let (zero, len) = (cx.int(0), count(cx, i.b(), i.wrap()));
            bits::field(cx, value, zero, len, signed)
        }
    };
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts BMSK and UBMSK: B ones from bit A on.
pub fn bmsk(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (first, len) = (count(cx, i.a(), i.wrap()), count(cx, i.b(), i.wrap()));
    let result = bits::ones(cx, Type::I32, first, len);
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts FLO and UFLO: the index of the highest 1 (for a negative signed number, the highest 0), or
/// -1; with `.SH` 31 less the index. The predicate says that there is none.
pub fn flo(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if wants(i, Role::Pd) {
        return Err(Unsupported);
    }
    let mut value = cx.word(i.b());
    if i.signed() == Sign::Signed {
        let count = cx.int(31);
        let sign = cx.b.shr_s(value, count);
        value = cx.b.xor(value, sign);
    }
    let above = cx.b.clz(value);
    let result = if i.shift_amount() {
        let (none, empty) = (cx.int(u32::MAX), zero(cx, value));
        cx.select(empty, none, above)
    } else {
        let top = cx.int(31);
        cx.b.sub(top, above)
    };
    set(cx, i, result);
    Ok(Flow::Next)
}

pub fn brev(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = cx.word(i.b());
    let result = cx.b.bit_reverse(value);
    set(cx, i, result);
    Ok(Flow::Next)
}

pub fn popc(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = cx.word(i.b());
    let result = cx.b.popcnt(value);
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Returns the flag of bit `n` of a byte of predicates.
fn flag(i: &Instruction, n: u8) -> Flag {
    if i.row.format.contains("UPR") { Flag::uniform(n) } else { Flag::predicate(n) }
}

/// Lifts P2R and UP2UR: A with a byte replaced by predicates, where the mask B has a bit.
pub fn p2r(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let Some(mask) = i.b().imm() else { return Err(Unsupported) };
    let shift = match i.byte_index() {
        ByteIndex::B0 => 0,
        ByteIndex::B1 => 8,
        ByteIndex::B2 => 16,
        ByteIndex::B3 => 24,
    };
    let (mut result, replaced) = (cx.word(i.a()), (mask as u32 & 0x7f) << shift);
    let keep = cx.int(!replaced);
    result = cx.b.and(result, keep);
    for n in (0..7).filter(|n| mask >> n & 1 != 0) {
        let lanes = cx.flag(flag(i, n));
        let (one, zero) = (cx.int(1 << (u32::from(n) + shift)), cx.int(0));
        let placed = cx.select(lanes, one, zero);
        result = cx.b.or(result, placed);
    }
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts R2P and UR2UP: predicates from a byte of A, where the mask B has a bit.
pub fn r2p(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mask = match i.source(Role::B) {
        Some(mask) => mask.imm().ok_or(Unsupported)?,
        None => 0x7f,
    };
    let shift = match i.a().part {
        Part::Byte(byte) => u32::from(byte) * 8,
        _ => 0,
    };
    let word = cx.raw(i.a());
    for n in (0..7).filter(|n| mask >> n & 1 != 0) {
        let probe = cx.int(1 << (u32::from(n) + shift));
        let bit = cx.b.and(word, probe);
        let lanes = nonzero(cx, bit);
        cx.set_flag(flag(i, n), lanes);
    }
    Ok(Flow::Next)
}
