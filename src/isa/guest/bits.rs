//! Shared bit operations of lifters: fields, bitwise functions by a truth table, byte permutations,
//! carries.

use warploom_ir::{BlockBuilder, IntCc, Type, Value};

use super::divergence::Mask;

/// A block under construction, with its constants.
pub trait Emit<'a> {
    fn builder(&mut self) -> &mut BlockBuilder<'a>;

    fn constant_of(&mut self, ty: Type, bits: u64) -> Value;

    /// Selects `a` in the lanes of a mask and `b` elsewhere. For uniform values in an instruction
    /// of one lane, the result is uniform.
    fn one_of(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.builder().select(mask, a, b)
    }
}

fn word<'a>(cx: &mut impl Emit<'a>, bits: u32) -> Value {
    cx.constant_of(Type::I32, bits.into())
}

/// Shifts an `i32` left by a known count.
pub fn shl<'a>(cx: &mut impl Emit<'a>, value: Value, count: u32) -> Value {
    let count = word(cx, count);
    cx.builder().shl(value, count)
}

/// Shifts an `i32` right logically by a known count.
pub fn shr<'a>(cx: &mut impl Emit<'a>, value: Value, count: u32) -> Value {
    let count = word(cx, count);
    cx.builder().shr_u(value, count)
}

/// Returns the addend that rounds an `i32` to nearest, ties to even, when its lower `dropped` bits
/// are then cut.
pub fn to_even<'a>(cx: &mut impl Emit<'a>, value: Value, dropped: u32) -> Value {
    let (one, half) = (word(cx, 1), word(cx, (1 << (dropped - 1)) - 1));
    let last = shr(cx, value, dropped);
    let last = cx.builder().and(last, one);
    cx.builder().add(half, last)
}

/// Extracts `bits` bits (fewer than 32) of an `i32` from bit `lo`, and extends them.
pub fn range<'a>(cx: &mut impl Emit<'a>, value: Value, lo: u32, bits: u32, signed: bool) -> Value {
    let above = 32 - bits - lo;
    if above == 0 || signed {
        let left = if above == 0 { value } else { shl(cx, value, above) };
        let count = word(cx, 32 - bits);
        return if signed {
            cx.builder().shr_s(left, count)
        } else {
            cx.builder().shr_u(left, count)
        };
    }
    let right = if lo == 0 { value } else { shr(cx, value, lo) };
    let mask = word(cx, (1 << bits) - 1);
    cx.builder().and(right, mask)
}

/// Extracts `len` bits from bit `pos` on; `len` and `pos` have the value's type. Bits past the
/// highest bit read as 0, or as the highest bit if `signed`. A field of no bits is 0.
pub fn field<'a>(
    cx: &mut impl Emit<'a>,
    value: Value,
    pos: Value,
    len: Value,
    signed: bool,
) -> Value {
    let ty = cx.builder().ty(value).ty;
    let width = cx.constant_of(ty, ty.bits().into());
    let len = cx.builder().min_u(len, width);
    // The bits move to the top and back, which fills in zeros or the sign of the highest bit.
    let rest = cx.builder().sub(width, len);
    let b = cx.builder();
    if signed {
        let low = b.shr_s(value, pos);
        let high = b.shl(low, rest);
        b.shr_s(high, rest)
    } else {
        let low = b.shr_u(value, pos);
        let high = b.shl(low, rest);
        b.shr_u(high, rest)
    }
}

/// Returns a word with `len` ones from bit `pos` on; `len` and `pos` have type `ty`. Ones past the
/// highest bit are cut.
pub fn ones<'a>(cx: &mut impl Emit<'a>, ty: Type, pos: Value, len: Value) -> Value {
    let one = cx.constant_of(ty, 1);
    let beyond = cx.builder().shl(one, len);
    let ones = cx.builder().sub(beyond, one);
    cx.builder().shl(ones, pos)
}

/// Inserts `len` bits of `value` in `base` at bit `pos`.
pub fn insert<'a>(
    cx: &mut impl Emit<'a>,
    base: Value,
    value: Value,
    pos: Value,
    len: Value,
) -> Value {
    let ty = cx.builder().ty(value).ty;
    let mask = ones(cx, ty, pos, len);
    let b = cx.builder();
    let placed = b.shl(value, pos);
    let keep = b.not(mask);
    let (new, old) = (b.and(placed, mask), b.and(base, keep));
    b.or(new, old)
}

/// Returns the sum and the carry out.
pub fn add_carry<'a>(cx: &mut impl Emit<'a>, a: Value, b: Value, carry: Mask) -> (Value, Mask) {
    let carry = match carry {
        Mask::Never => None,
        some => Some(some.value(cx.builder())),
    };
    let (sum, carry) = cx.builder().add_carry(a, b, carry);
    (sum, Mask::Lanes(carry))
}

/// Applies a truth table bit by bit: a result bit is bit `4a + 2b + c` of the table.
pub fn by_table<'a>(cx: &mut impl Emit<'a>, table: u8, [a, b, c]: [Value; 3]) -> Value {
    // Where a is 1, the upper four entries apply, else the lower four.
    let (high, low) = (table >> 4, table & 0xf);
    if high ^ low == 0xf && !matches!(low, 0 | 0xf) {
        let low = of_two(cx, low, b, c).value(cx);
        return cx.builder().xor(low, a);
    }
    let (high, low) = (of_two(cx, high, b, c), of_two(cx, low, b, c));
    choose(cx, a, high, low)
}

/// The result of a bitwise function, as far as it is known.
#[derive(Clone, Copy, PartialEq)]
enum Bits {
    Zeros,
    Ones,
    Value(Value),
}

impl Bits {
    fn value<'a>(self, cx: &mut impl Emit<'a>) -> Value {
        match self {
            Bits::Zeros => word(cx, 0),
            Bits::Ones => word(cx, u32::MAX),
            Bits::Value(value) => value,
        }
    }
}

/// Applies a truth table of four entries: a result bit is bit `2b + c` of the table.
fn of_two<'a>(cx: &mut impl Emit<'a>, table: u8, b: Value, c: Value) -> Bits {
    let build = cx.builder();
    Bits::Value(match table {
        0b0000 => return Bits::Zeros,
        0b1111 => return Bits::Ones,
        0b1100 => b,
        0b0011 => build.not(b),
        0b1010 => c,
        0b0101 => build.not(c),
        0b1000 => build.and(b, c),
        0b1110 => build.or(b, c),
        0b0110 => build.xor(b, c),
        0b0100 => {
            let c = build.not(c);
            build.and(b, c)
        }
        0b0010 => {
            let b = build.not(b);
            build.and(b, c)
        }
        // This table is the complement of a table above.
        _ => {
            let inverse = of_two(cx, !table & 0xf, b, c).value(cx);
            cx.builder().not(inverse)
        }
    })
}

/// Selects `high` where a bit of `a` is set, else `low`.
fn choose<'a>(cx: &mut impl Emit<'a>, a: Value, high: Bits, low: Bits) -> Value {
    match (high, low) {
        _ if high == low => high.value(cx),
        (Bits::Ones, Bits::Zeros) => a,
        (Bits::Zeros, Bits::Ones) => cx.builder().not(a),
        (Bits::Value(high), Bits::Zeros) => cx.builder().and(a, high),
        (Bits::Ones, Bits::Value(low)) => cx.builder().or(a, low),
        _ => {
            // low ^ (a & (high ^ low))
            let (high, low) = (high.value(cx), low.value(cx));
            let b = cx.builder();
            let differ = b.xor(high, low);
            let change = b.and(a, differ);
            b.xor(low, change)
        }
    }
}

/// Selectors of the permutation modes that are sequences, one for each of the four starts.
pub mod sequence {
    pub const F4E: [u32; 4] = [0x3210, 0x4321, 0x5432, 0x6543];
    pub const B4E: [u32; 4] = [0x5670, 0x6701, 0x7012, 0x0123];
    pub const RC8: [u32; 4] = [0x0000, 0x1111, 0x2222, 0x3333];
    pub const ECL: [u32; 4] = [0x3210, 0x3211, 0x3222, 0x3333];
    pub const ECR: [u32; 4] = [0x0000, 0x1110, 0x2210, 0x3210];
    pub const RC16: [u32; 4] = [0x1010, 0x3232, 0x1010, 0x3232];
}

/// Returns the selector of a sequence whose start is the low two bits of an `i32`.
pub fn start_selector<'a>(cx: &mut impl Emit<'a>, starts: [u32; 4], start: Value) -> Value {
    let mask = word(cx, 3);
    let start = cx.builder().and(start, mask);
    let first = word(cx, starts[0]);
    (1..4).fold(first, |selector, n| {
        let (this, n) = (word(cx, starts[n as usize]), word(cx, n));
        let matches = cx.builder().icmp(IntCc::Eq, start, n);
        cx.builder().select(matches, this, selector)
    })
}

/// Permutes four bytes of `high:low` by a known selector. Each nibble of the selector names a byte;
/// bit 3 of the nibble asks for the sign of that byte instead. A word that is `None` is 0.
pub fn permute_known<'a>(
    cx: &mut impl Emit<'a>,
    low: Option<Value>,
    high: Option<Value>,
    selector: u32,
) -> Value {
    let mut result = None;
    let mut at = 0;
    while at < 4 {
        let nibble = selector >> (at * 4) & 0xf;
        let (source, byte) = (if nibble & 4 == 0 { low } else { high }, nibble & 3);
        let Some(source) = source else {
            at += 1;
            continue;
        };
        let mut count = 1;
        let piece = if nibble & 8 != 0 {
            let sign = range(cx, source, byte * 8 + 7, 1, true);
            let mask = word(cx, 0xff << (at * 8));
            cx.builder().and(sign, mask)
        } else {
            // Neighbouring bytes that stay neighbours move together.
            let follows = |count: u32| {
                at + count < 4
                    && byte + count < 4
                    && selector >> ((at + count) * 4) & 0xf == nibble + count
            };
            while follows(count) {
                count += 1;
            }
            let bits = count * 8;
            if at + count == 4 && byte == 0 && at > 0 {
                // The shift drops the bytes above.
                shl(cx, source, at * 8)
            } else {
                let piece =
                    if bits == 32 { source } else { range(cx, source, byte * 8, bits, false) };
                if at == 0 { piece } else { shl(cx, piece, at * 8) }
            }
        };
        result = Some(match result {
            Some(rest) => cx.builder().or(rest, piece),
            None => piece,
        });
        at += count;
    }
    match result {
        Some(result) => result,
        None => word(cx, 0),
    }
}

/// Permutes four bytes of `high:low` by a selector that each lane holds.
pub fn permute<'a>(cx: &mut impl Emit<'a>, low: Value, high: Value, selector: Value) -> Value {
    let bytes = cx.builder().concat(low, high);
    let mut result = word(cx, 0);
    for at in 0..4 {
        let (index, replicate) =
            (range(cx, selector, at * 4, 3, false), range(cx, selector, at * 4 + 3, 1, true));
        let offset = shl(cx, index, 3);
        let offset = cx.builder().zero_extend(Type::I64, offset);
        let shifted = cx.builder().shr_u(bytes, offset);
        let byte = cx.builder().trunc(Type::I32, shifted);
        let (value, sign) = (range(cx, byte, 0, 8, false), range(cx, byte, 7, 1, true));
        let (mask, copy) = (word(cx, 0xff), cx.builder().not(replicate));
        let (sign, value) = (cx.builder().and(sign, replicate), cx.builder().and(value, copy));
        let chosen = cx.builder().or(sign, value);
        let chosen = cx.builder().and(chosen, mask);
        let placed = shl(cx, chosen, at * 8);
        result = cx.builder().or(result, placed);
    }
    result
}
