//! Bit fields, counts and permutations of bytes.
//!
//! Source: facts, `maxwell-semantics.md` 2.1 (POPC, FLO) and 2.3.

use warploom_guest::bits::{self, sequence};
use warploom_ir::Value;

use super::cc;
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use crate::field::{PermuteMode, Sign};
use crate::{Instruction, Part, Source};

fn finish(cx: &mut Cx<'_>, i: &Instruction, result: Value) -> Lifted {
    cc::write_result(cx, i, result);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Returns position and length of a bit field: bytes 0 and 1 of B.
fn field(cx: &mut Cx<'_>, source: Source) -> (Value, Value) {
    match source.imm() {
        Some(imm) => (cx.int(imm as u32 & 0xff), cx.int(imm as u32 >> 8 & 0xff)),
        None => {
            let word = cx.word(source);
            (cx.part(word, Part::Byte(0), false), cx.part(word, Part::Byte(1), false))
        }
    }
}

/// Lifts BFE: `len` bits of A from bit `pos`. Bits past 31 read as 0, or as bit 31 if signed; a
/// field of no bits is 0.
pub fn bfe(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mut value = cx.word(i.a());
    if i.brev() {
        value = cx.b.bit_reverse(value);
    }
    let (pos, len) = field(cx, i.b());
    let result = bits::field(cx, value, pos, len, i.sign() == Sign::Signed);
    finish(cx, i, result)
}

/// Lifts BFI: C with `len` bits of A at bit `pos`, cut at bit 31.
pub fn bfi(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (value, base) = (cx.word(i.a()), cx.word(i.c()));
    let (pos, len) = field(cx, i.b());
    let result = bits::insert(cx, base, value, pos, len);
    finish(cx, i, result)
}

/// Lifts FLO: the index of the highest 1 (for a negative signed number, the highest 0), or -1; with
/// `.SH` 31 less the index.
pub fn flo(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mut value = cx.word(i.b());
    if i.sign() == Sign::Signed {
        let count = cx.int(31);
        let sign = cx.b.shr_s(value, count);
        value = cx.b.xor(value, sign);
    }
    let above = cx.b.clz(value);
    let result = if i.shift_amount() {
        let (none, empty) = (cx.int(u32::MAX), cc::zero(cx, value));
        cx.select(empty, none, above)
    } else {
        let top = cx.int(31);
        cx.b.sub(top, above)
    };
    finish(cx, i, result)
}

/// Lifts POPC: the number of 1 bits of B.
pub fn popc(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = cx.word(i.b());
    let result = cx.b.popcnt(value);
    finish(cx, i, result)
}

/// Lifts PRMT: bytes of C:A (A the low word), selected by B.
pub fn prmt(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (low, high) = (cx.word(i.a()), cx.word(i.c()));
    // For modes that are sequences, the selector of each start.
    let starts: [u32; 4] = match i.permute_mode() {
        PermuteMode::Index => {
            let result = match i.b().imm() {
                Some(selector) => bits::permute_known(cx, Some(low), Some(high), selector as u32),
                None => {
                    let selector = cx.word(i.b());
                    bits::permute(cx, low, high, selector)
                }
            };
            return finish(cx, i, result);
        }
        PermuteMode::F4e => sequence::F4E,
        PermuteMode::B4e => sequence::B4E,
        PermuteMode::Rc8 => sequence::RC8,
        PermuteMode::Ecl => sequence::ECL,
        PermuteMode::Ecr => sequence::ECR,
        PermuteMode::Rc16 => sequence::RC16,
        PermuteMode::Reserved => return Err(Unsupported),
    };
    let result = match i.b().imm() {
        Some(start) => bits::permute_known(cx, Some(low), Some(high), starts[start as usize & 3]),
        None => {
            let start = cx.word(i.b());
            let selector = bits::start_selector(cx, starts, start);
            bits::permute(cx, low, high, selector)
        }
    };
    finish(cx, i, result)
}
