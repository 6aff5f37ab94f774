//! Products of warpgroups: four warps, of which each has 16 of 64 rows.
//!
//! Factors come from shared memory by descriptors. Hardware executes them asynchronously; here they
//! are done where they are issued. Code may not touch the registers and memory that take part
//! before a later wait, so it cannot tell.
//!
//! A descriptor has three fields of 14 bits, at bits 0, 16 and 32: the start, and the leading and
//! the stride distance, in units of 16 bytes. The phase of the start has three bits at 49. The
//! swizzle at 62 gives the length of the rows that lie together in groups of eight: 16 bytes for 0,
//! and 128, 64 or 32 for 1, 2, 3. In the latter three, the 16 bytes that an address names are
//! exchanged by the address bits from 7 on.

use warploom_guest::divergence::Mask;
use warploom_ir::matrix::{Factor, Sum};
use warploom_ir::{Extend, IntCc, Space, Special, Type, Value};

use super::super::context::{Cx, Insn};
use super::super::convert::pack;
use super::super::{Lifted, Unsupported};
use super::{Registers, factor, product, registers, set_registers, shape, sum};
use crate::module::Operand;
use crate::types::Ty;
use crate::word::Word;
use warploom_guest::matrix::lane_parts;

/// Bytes of a row of a core matrix, which has eight rows.
const ROW: u32 = 16;

/// A factor in shared memory. `mn` is the row of A, or the column of B.
struct Shared {
    start: Value,
    leading: Value,
    stride: Value,
    /// Bytes of phase to subtract from an address before it is swizzled.
    phase: Value,
    /// Log2 of the bytes of a row, and the bytes.
    log: Value,
    row: Value,
    /// The lanes whose rows have 16 bytes.
    plain: Mask,
    /// Whether elements along `mn`, and not along the depth, are adjacent.
    by_mn: bool,
}

impl Shared {
    fn of(cx: &mut Cx<'_>, operand: &Operand, by_mn: bool) -> Shared {
        let descriptor = cx.bits(operand, Ty::B64);
        let (low, high) = (cx.b.trunc(Type::I32, descriptor), cx.b.high_half(descriptor));
        let field = |cx: &mut Cx<'_>, word: Value, first: u32, bits: u32, scale: u32| {
            let (first, mask, scale) = (cx.word(first), cx.word((1 << bits) - 1), cx.word(scale));
            let field = cx.b.shr_u(word, first);
            let field = cx.b.and(field, mask);
            cx.b.shl(field, scale)
        };
        let [start, leading, stride] =
            [(low, 0), (low, 16), (high, 0)].map(|(word, first)| field(cx, word, first, 14, 4));
        let (phase, mode) = (field(cx, high, 17, 3, 7), field(cx, high, 30, 2, 0));
        let (none, eight, four, one) =
            (cx.word(0), cx.word(8), cx.word(ROW.trailing_zeros()), cx.word(1));
        let plain = Mask::Lanes(cx.b.icmp(IntCc::Eq, mode, none));
        let swizzled = cx.b.sub(eight, mode);
        let log = cx.select(plain, four, swizzled);
        let row = cx.b.shl(one, log);
        Shared { start, leading, stride, phase, log, row, plain, by_mn }
    }

    /// Returns the word of two 16-bit elements, or of more smaller elements, along the depth.
    ///
    /// `mn` is `group * 8 + within`. The depth in bytes is `chunk * 16 + k`; with `by_mn` it is
    /// `chunk * 8 + k` in elements. `k` lies in one chunk.
    fn word(&self, cx: &mut Cx<'_>, [group, within]: [Value; 2], chunk: u32, k: Value) -> Value {
        if self.by_mn {
            let one = cx.word(1);
            let next = cx.b.add(k, one);
            let [low, high] = [k, next].map(|k| self.element(cx, [group, within], chunk, k));
            return pack(cx, low, high);
        }
        let (chunk, unit) = (cx.word(chunk), cx.word(ROW));
        let distance = cx.select(self.plain, self.leading, unit);
        let along = cx.b.mul(chunk, distance);
        let row = cx.b.mul(within, self.row);
        let eight_rows = cx.b.mul(group, self.stride);
        let address = self.sum(cx, &[k, along, row, eight_rows]);
        self.load(cx, Type::I32, address)
    }

    /// Returns an element of 16 bits, if elements along `mn` are adjacent.
    fn element(&self, cx: &mut Cx<'_>, [group, within]: [Value; 2], chunk: u32, k: Value) -> Value {
        let (one, four) = (cx.word(1), cx.word(ROW.trailing_zeros()));
        // Bytes within the row of all groups, cut into rows.
        let (group, within) = (cx.b.shl(group, four), cx.b.shl(within, one));
        let bytes = cx.b.add(group, within);
        let mask = cx.b.sub(self.row, one);
        let (inner, outer) = (cx.b.and(bytes, mask), cx.b.shr_u(bytes, self.log));
        let across = cx.select(self.plain, self.stride, self.leading);
        let outer = cx.b.mul(outer, across);
        let chunk = cx.word(chunk);
        let deeper = cx.select(self.plain, self.leading, self.stride);
        let chunk = cx.b.mul(chunk, deeper);
        let row = cx.b.mul(k, self.row);
        let address = self.sum(cx, &[inner, outer, chunk, row]);
        self.load(cx, Type::I16, address)
    }

    fn sum(&self, cx: &mut Cx<'_>, parts: &[Value]) -> Value {
        parts.iter().fold(self.start, |sum, &part| cx.b.add(sum, part))
    }

    fn load(&self, cx: &mut Cx<'_>, ty: Type, address: Value) -> Value {
        let (unit, three) = (cx.word(ROW), cx.word(3));
        let mask = cx.b.sub(self.row, unit);
        let from = cx.b.sub(address, self.phase);
        let from = cx.b.shr_u(from, three);
        let exchanged = cx.b.and(from, mask);
        let address = cx.b.xor(address, exchanged);
        let address = cx.b.splat(address);
        let access = cx.b.access(Space::Shared, ty, 1, address, 0);
        cx.b.load_access(access, Extend::None)[0]
    }

    /// Returns a fragment of rows (columns) from `8 * group` on: for A with the next eight, for B
    /// without.
    fn fragment(&self, cx: &mut Cx<'_>, group: Value, tall: bool) -> Registers {
        let [g, t] = lane_parts(cx);
        // 4 bytes a lane, or 2 elements of 16 bits.
        let scale = cx.word(if self.by_mn { 1 } else { 2 });
        let k = cx.b.shl(t, scale);
        let mut result = Registers::new();
        for chunk in 0..2 {
            result.push(self.word(cx, [group, g], chunk, k));
            if tall {
                let one = cx.word(1);
                let below = cx.b.add(group, one);
                result.push(self.word(cx, [below, g], chunk, k));
            }
        }
        result
    }
}

/// Immediate operands: whether factors are negated, and whether they are stored by rows of B
/// (columns of A).
#[derive(Default)]
struct Immediates {
    negated: bool,
    transposed: [bool; 2],
}

fn immediates(
    insn: &Insn<'_>,
    from_memory: bool,
    factor: Factor,
) -> Result<Immediates, Unsupported> {
    let number = |n: usize| match insn.operands.get(n) {
        Some(&Operand::Integer(bits)) => Ok(bits as i64),
        _ => Err(Unsupported),
    };
    if matches!(factor, Factor::S8 | Factor::U8 | Factor::B1) {
        return Ok(Immediates::default());
    }
    let negated = (number(4)? < 0) != (number(5)? < 0);
    let transposed = match (factor, from_memory) {
        (Factor::F16 | Factor::Bf16, true) => [number(6)? != 0, number(7)? != 0],
        (Factor::F16 | Factor::Bf16, false) => [false, number(6)? != 0],
        _ => [false; 2],
    };
    Ok(Immediates { negated, transposed })
}

/// Flips the signs of all elements in registers.
fn negate(cx: &mut Cx<'_>, registers: &mut Registers, factor: Factor) {
    let signs = match factor.bits() {
        32 => 0x8000_0000,
        16 => 0x8000_8000,
        _ => 0x8080_8080,
    };
    let signs = cx.word(signs);
    registers.iter_mut().for_each(|register| *register = cx.b.xor(*register, signs));
}

/// Lifts `wgmma`: `d = a * b + d`, or `d = a * b` if the operand `scale-d` is false.
pub fn wgmma(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let form = insn.form;
    let ([64, columns, depth], 3) = (shape(form)?, form.types.len()) else {
        return Err(Unsupported);
    };
    let (d, a, b): (Sum, Factor, Factor) =
        (sum(form.ty(0))?, factor(form.ty(1))?, factor(form.ty(2))?);
    let product = product(form, 16, depth, [a, b], [d, d])?;
    let [count_a, count_b, count_c, _] = product.registers();
    if !product.is_valid() || (count_a, count_b) != (4, 2) || form.has(Word::Xor) {
        return Err(Unsupported);
    }
    let from_memory = !matches!(insn.operand(1), Operand::Vector(_));
    let Immediates { negated, transposed } = immediates(insn, from_memory, a)?;
    let tiles = columns / 8;
    let sums = registers(cx, insn.operand(0), tiles * count_c, Type::I32)?;
    let mut left = if from_memory {
        let shared = Shared::of(cx, insn.operand(1), transposed[0]);
        let (warp, three, one) = (cx.b.special(Special::WarpId), cx.word(3), cx.word(1));
        let warp = cx.b.and(warp, three);
        let group = cx.b.shl(warp, one);
        shared.fragment(cx, group, true)
    } else {
        registers(cx, insn.operand(1), count_a, Type::I32)?
    };
    if negated {
        negate(cx, &mut left, a);
    }
    let right = Shared::of(cx, insn.operand(2), transposed[1]);
    let keeps = cx.pred(insn.operand(3));
    let none = cx.word(0);
    let mut results = Vec::new();
    for (tile, sums) in (0..).zip(sums.chunks(count_c.into())) {
        let group = cx.word(tile);
        let mut args = left.clone();
        args.extend(right.fragment(cx, group, false));
        for &sum in sums {
            args.push(cx.select(keeps, sum, none));
        }
        results.extend(cx.b.product(product, &args));
    }
    set_registers(cx, insn.operand(0), &results);
    Ok(())
}
