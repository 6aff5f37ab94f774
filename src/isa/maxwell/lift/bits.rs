//! Bit fields, counts and permutations of bytes.
//!
//! Source: facts, `maxwell-semantics.md` 2.1 (POPC, FLO) and 2.3.

use crate::ir::{IntCc, Type, Value};
use crate::isa::divergence::Mask;
use crate::isa::maxwell::field::{PermuteMode, Sign};
use crate::isa::maxwell::{Instruction, Part, Source};

use super::cc;
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};

fn finish(cx: &mut Cx<'_>, i: &Instruction, result: Value) -> Lifted {
    cc::write_result(cx, i, result);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Position and length of a bit field: bytes 0 and 1 of B.
fn field(cx: &mut Cx<'_>, source: Source) -> (Value, Value) {
    match source.imm() {
        Some(imm) => (cx.int(imm as u32 & 0xff), cx.int(imm as u32 >> 8 & 0xff)),
        None => {
            let word = cx.word(source);
            (cx.part(word, Part::Byte(0), false), cx.part(word, Part::Byte(1), false))
        }
    }
}

/// `len` bits of A from bit `pos`. Bits past 31 read as 0, or signed as bit 31; no bits give 0.
pub fn bfe(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mut value = cx.word(i.a());
    if i.brev() {
        value = cx.b.bit_reverse(value);
    }
    let (pos, len) = field(cx, i.b());
    let width = cx.int(32);
    let len = cx.b.min_u(len, width);
    // The bits go to the top and come back, filled with zeros or with the sign of the highest.
    let rest = cx.b.sub(width, len);
    let result = match i.sign() {
        Sign::Unsigned => {
            let low = cx.b.shr_u(value, pos);
            let high = cx.b.shl(low, rest);
            cx.b.shr_u(high, rest)
        }
        Sign::Signed => {
            let low = cx.b.shr_s(value, pos);
            let high = cx.b.shl(low, rest);
            cx.b.shr_s(high, rest)
        }
    };
    finish(cx, i, result)
}

/// C with `len` bits of A at bit `pos`, cut at bit 31.
pub fn bfi(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (value, base) = (cx.word(i.a()), cx.word(i.c()));
    let (pos, len) = field(cx, i.b());
    let one = cx.int(1);
    let beyond = cx.b.shl(one, len);
    let ones = cx.b.sub(beyond, one);
    let (mask, placed) = (cx.b.shl(ones, pos), cx.b.shl(value, pos));
    let keep = cx.b.not(mask);
    let (new, old) = (cx.b.and(placed, mask), cx.b.and(base, keep));
    let result = cx.b.or(new, old);
    finish(cx, i, result)
}

/// Index of the highest 1 (for a negative signed number the highest 0), or -1; with `.SH` 31 less the index.
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

/// Number of 1 bits of B.
pub fn popc(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = cx.word(i.b());
    let result = cx.b.popcnt(value);
    finish(cx, i, result)
}

/// Bytes of C:A (A the low word) as B says.
pub fn prmt(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (low, high) = (cx.word(i.a()), cx.word(i.c()));
    // For the modes that are sequences, the selector of each start.
    let starts: [u32; 4] = match i.permute_mode() {
        PermuteMode::Index => {
            let result = match i.b().imm() {
                Some(selector) => pick_known(cx, low, high, selector as u32),
                None => {
                    let selector = cx.word(i.b());
                    pick(cx, low, high, selector)
                }
            };
            return finish(cx, i, result);
        }
        PermuteMode::F4e => [0x3210, 0x4321, 0x5432, 0x6543],
        PermuteMode::B4e => [0x5670, 0x6701, 0x7012, 0x0123],
        PermuteMode::Rc8 => [0x0000, 0x1111, 0x2222, 0x3333],
        PermuteMode::Ecl => [0x3210, 0x3211, 0x3222, 0x3333],
        PermuteMode::Ecr => [0x0000, 0x1110, 0x2210, 0x3210],
        PermuteMode::Rc16 => [0x1010, 0x3232, 0x1010, 0x3232],
        PermuteMode::Reserved => return Err(Unsupported),
    };
    let result = match i.b().imm() {
        Some(start) => pick_known(cx, low, high, starts[start as usize & 3]),
        None => {
            let (start, mask) = (cx.word(i.b()), cx.int(3));
            let start = cx.b.and(start, mask);
            let first = cx.int(starts[0]);
            let selector = (1..4).fold(first, |selector, n| {
                let (this, n) = (cx.int(starts[n as usize]), cx.int(n));
                let matches = Mask::Lanes(cx.b.icmp(IntCc::Eq, start, n));
                cx.select(matches, this, selector)
            });
            pick(cx, low, high, selector)
        }
    };
    finish(cx, i, result)
}

/// Each nibble of the selector names a byte, and with its bit 3 the sign of that byte instead.
fn pick_known(cx: &mut Cx<'_>, low: Value, high: Value, selector: u32) -> Value {
    let mut result = None;
    let mut at = 0;
    while at < 4 {
        let nibble = selector >> (at * 4) & 0xf;
        let (word, byte) = (if nibble & 4 == 0 { low } else { high }, nibble & 3);
        let mut count = 1;
        let piece = if nibble & 8 != 0 {
            let sign = cx.bit_range(word, byte * 8 + 7, 1, true);
            let mask = cx.int(0xff << (at * 8));
            cx.b.and(sign, mask)
        } else {
            // Neighbours that stay neighbours move together.
            let follows = |count: u32| {
                at + count < 4 && byte + count < 4 && selector >> ((at + count) * 4) & 0xf == nibble + count
            };
            while follows(count) {
                count += 1;
            }
            let bits = count * 8;
            let piece = if bits == 32 { word } else { cx.bit_range(word, byte * 8, bits, false) };
            if at == 0 { piece } else { cx.shl(piece, at * 8) }
        };
        result = Some(result.map_or(piece, |rest| cx.b.or(rest, piece)));
        at += count;
    }
    result.unwrap_or(low)
}

fn pick(cx: &mut Cx<'_>, low: Value, high: Value, selector: Value) -> Value {
    let bytes = cx.b.concat(low, high);
    let mut result = cx.int(0);
    for at in 0..4 {
        let (index, replicate) =
            (cx.bit_range(selector, at * 4, 3, false), cx.bit_range(selector, at * 4 + 3, 1, true));
        let offset = cx.shl(index, 3);
        let offset = cx.b.zero_extend(Type::I64, offset);
        let shifted = cx.b.shr_u(bytes, offset);
        let byte = cx.b.trunc(Type::I32, shifted);
        let (value, sign) = (cx.bit_range(byte, 0, 8, false), cx.bit_range(byte, 7, 1, true));
        let (mask, copy) = (cx.int(0xff), cx.b.not(replicate));
        let (sign, value) = (cx.b.and(sign, replicate), cx.b.and(value, copy));
        let chosen = cx.b.or(sign, value);
        let chosen = cx.b.and(chosen, mask);
        let placed = cx.shl(chosen, at * 8);
        result = cx.b.or(result, placed);
    }
    result
}
