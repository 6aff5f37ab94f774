//! Long chains: one block whose operations depend on each other, thousands in a row.
//!
//! A round is a few *links*. Each link computes a value that the chain carries from carried values.
//! All rounds are alike, so that a walk along a chain goes as deep as the block is long.

use arbitrary::{Result, Unstructured};
use warploom_ir::*;

use super::super::compare::{BUFFER_BYTES, LOCAL_BYTES, SHARED_BYTES};
use super::{NAN, long, word};

/// Values that a chain carries.
struct Carried {
    words: [Value; 2],
    longs: [Value; 2],
    /// The words of two pairs. The chain's end makes a pair of the first two words again.
    halves: [[Value; 2]; 2],
    floats: [Value; 3],
    doubles: [Value; 3],
    mask: Value,
    /// Another mask, which makes no guard.
    others: Value,
    /// Evenly spaced words.
    spaced: Value,
    /// A uniform value.
    uniform: Value,
    base: Value,
}

/// Bytes of the array that links read and write.
const ARRAY_BYTES: u32 = 512;

const WORD: BankId = BankId(1);
const LONG: BankId = BankId(2);
const FLOAT: BankId = BankId(3);
const DOUBLE: BankId = BankId(4);
const MASK: BankId = BankId(5);
const UNIFORM: BankId = BankId(6);
const ARRAY: BankId = BankId(7);

type Link = fn(&mut Carried, &mut BlockBuilder<'_>);

/// The number of kinds of links.
pub const LINKS: usize = TABLE.len();

/// Returns the name of a link's operation.
pub fn name(link: usize) -> &'static str {
    TABLE[link].0
}

/// All links by name.
const TABLE: [(&str, Link); 38] = [
    ("sum of words", |c, b| c.words[0] = b.add(c.words[0], c.words[1])),
    ("product of words", |c, b| c.words[1] = b.mul(c.words[1], c.words[0])),
    ("exclusive or of words", |c, b| c.words[0] = b.xor(c.words[0], c.words[1])),
    ("quotient of words", |c, b| c.words[0] = b.binary(BinaryOp::DivU, c.words[0], c.words[1])),
    ("rotated word", |c, b| {
        let (up, down) = (b.iconst(Type::I32, 7), b.iconst(Type::I32, 25));
        let (high, low) = (b.shl(c.words[1], up), b.shr_u(c.words[1], down));
        c.words[1] = b.or(high, low);
    }),
    ("chosen word", |c, b| c.words[0] = b.select(c.mask, c.words[1], c.words[0])),
    ("sorted words", |c, b| {
        let [x, y] = c.words;
        let less = b.icmp(IntCc::LtU, x, y);
        c.words = [b.select(less, x, y), b.select(less, y, x)];
    }),
    ("pairs changed about", |c, b| {
        let [x, y] = c.longs;
        let halves = |b: &mut BlockBuilder<'_>, v| [b.trunc(Type::I32, v), b.high_half(v)];
        let ([a, c1], [d, e]) = (halves(b, x), halves(b, y));
        let (low, high) = (b.select(c.mask, a, d), b.select(c.mask, c1, e));
        let (low2, high2) = (b.select(c.mask, d, a), b.select(c.mask, e, c1));
        c.longs = [b.concat(low, high), b.concat(low2, high2)];
    }),
    ("halves changed about", |c, b| {
        let [x, y] = c.halves;
        let less = b.icmp(IntCc::LtU, x[0], y[0]);
        let mut choose =
            |a: [Value; 2], c: [Value; 2]| [0, 1].map(|half| b.select(less, a[half], c[half]));
        c.halves = [choose(x, y), choose(y, x)];
    }),
    ("sum with a carry", |c, b| {
        let (sum, carry) = b.add_carry(c.words[0], c.words[1], Some(c.mask));
        (c.words[0], c.mask) = (sum, carry);
    }),
    ("sum of pairs", |c, b| {
        let (low, carry) = b.add_carry(c.words[0], c.words[1], None);
        let (high, _) = b.add_carry(c.words[1], c.words[0], Some(carry));
        c.words = [low, high];
    }),
    ("pair of words", |c, b| c.longs[0] = b.concat(c.words[0], c.words[1])),
    ("words of a pair", |c, b| c.words = [b.trunc(Type::I32, c.longs[0]), b.high_half(c.longs[0])]),
    ("sum of longs", |c, b| c.longs[0] = b.add(c.longs[0], c.longs[1])),
    ("product of longs", |c, b| c.longs[1] = b.mul(c.longs[1], c.longs[0])),
    ("high product", |c, b| c.longs[0] = b.binary(BinaryOp::MulHiU, c.longs[0], c.longs[1])),
    ("mask and compare", |c, b| {
        let less = b.icmp(IntCc::LtS, c.words[0], c.words[1]);
        c.mask = b.and(c.mask, less);
    }),
    ("mask or compare of floats", |c, b| {
        let less = b.fcmp(FloatCc::Lt, false, c.floats[0], c.floats[1]);
        c.mask = b.or(c.mask, less);
    }),
    ("inverted mask", |c, b| c.mask = b.unary(UnaryOp::Not, c.mask)),
    ("mask changed by a compare", |c, b| {
        let equal = b.icmp(IntCc::GeU, c.words[1], c.spaced);
        c.mask = b.xor(c.mask, equal);
    }),
    ("masks changed about", |c, b| {
        let (p, q) = (c.mask, c.others);
        let (not_p, not_q) = (b.unary(UnaryOp::Not, p), b.unary(UnaryOp::Not, q));
        let (first, second) = (b.and(p, not_q), b.and(q, not_p));
        (c.mask, c.others) = (b.or(first, q), b.or(second, first));
    }),
    ("masks crossed", |c, b| {
        let (p, q) = (c.mask, c.others);
        (c.mask, c.others) = (b.and(p, q), b.or(p, q));
        c.words =
            [b.select(c.mask, c.words[0], c.words[1]), b.select(c.others, c.words[1], c.words[0])];
    }),
    ("mask of what is evenly spaced", |c, b| {
        let low = b.trunc(Type::I32, c.uniform);
        let less = b.icmp(IntCc::LtU, c.spaced, low);
        c.mask = b.or(c.mask, less);
        c.others = b.and(c.others, c.mask);
    }),
    ("evenly spaced sum", |c, b| {
        let low = b.trunc(Type::I32, c.uniform);
        c.spaced = b.add(c.spaced, low);
    }),
    ("evenly spaced word", |c, b| c.words[0] = b.xor(c.words[0], c.spaced)),
    ("uniform product", |c, b| {
        let k = b.iconst(Type::I64, 0x9e37_79b9_7f4a_7c15);
        c.uniform = b.mul(c.uniform, k);
    }),
    ("uniform sum", |c, b| {
        let bits = b.from_mask(c.mask);
        let count = b.unary(UnaryOp::Popcnt, bits);
        c.uniform = b.add(c.uniform, count);
    }),
    ("fused product of floats", |c, b| {
        c.floats[0] = b.fma(FloatAttrs::IEEE, c.floats[0], c.floats[1], c.floats[2]);
    }),
    ("quotient of floats", |c, b| {
        c.floats[1] = b.fbinary(FloatBinaryOp::Div, FloatAttrs::IEEE, c.floats[1], c.floats[0]);
    }),
    ("sum rounded down", |c, b| {
        let down = FloatAttrs { round: Round::Down, ..FloatAttrs::IEEE };
        c.floats[0] = b.fbinary(FloatBinaryOp::Add, down, c.floats[0], c.floats[2]);
    }),
    ("power of two", |c, b| c.floats[2] = b.shared(SharedFn::Ex2, c.floats[2])),
    ("sum of doubles", |c, b| {
        let sum = b.fbinary(FloatBinaryOp::Add, FloatAttrs::IEEE, c.doubles[0], c.doubles[1]);
        c.doubles[0] = b.fma(FloatAttrs::IEEE, sum, c.doubles[2], c.doubles[1]);
    }),
    ("numbers converted", |c, b| {
        c.floats[0] = b.int_to_float(Type::F32, true, Round::Nearest, c.words[0]);
        c.doubles[1] = b.fconvert(Type::F64, FloatAttrs::IEEE, c.floats[0]);
        c.words[0] = b.float_to_int(Type::I32, true, Round::Zero, false, 0, c.doubles[1]);
    }),
    ("word found in memory", |c, b| {
        let bound = b.iconst(Type::I32, u64::from(BUFFER_BYTES) / 2 - 4);
        let at = b.and(c.words[0], bound);
        let at = b.zero_extend(Type::I64, at);
        let address = b.add(c.base, at);
        b.set_guard(Some(c.mask));
        c.words[0] = b.load(Space::Global, Type::I32, Extend::None, address, 0);
        b.set_guard(None);
    }),
    ("row of memory", |c, b| {
        let four = b.iconst(Type::I32, 4);
        let lane = b.lane_id();
        let at = b.mul(lane, four);
        let at = b.zero_extend(Type::I64, at);
        let address = b.add(c.base, at);
        b.store(Space::Global, Type::I32, address, 0, c.words[0]);
        c.words[1] = b.load(Space::Global, Type::I32, Extend::None, address, 64);
    }),
    ("words of shared and local memory", |c, b| {
        for (space, bytes) in [(Space::Shared, SHARED_BYTES), (Space::Local, LOCAL_BYTES)] {
            let bound = b.iconst(Type::I32, u64::from(bytes) - 4);
            let at = b.and(c.words[0], bound);
            b.store(space, Type::I32, at, 0, c.words[1]);
            c.words[0] = b.load(space, Type::I32, Extend::None, at, 0);
        }
    }),
    ("exchanged word", |c, b| c.words[0] = b.lane_gather(c.words[0], c.words[1])),
    ("region of bytes", |c, b| {
        let at = Region::packed(0);
        b.region_write(ARRAY.reg(0), at, c.words[0]);
        c.words[0] = b.region_read(ARRAY.reg(0), Region { offset: 4, ..at }, Type::I32);
    }),
];

/// Returns a function of one block with `rounds` rounds of some links, by number.
pub fn chain(links: &[usize], rounds: u32, u: &mut Unstructured<'_>) -> Result<Function> {
    let lanes = *u.choose(&[32, 32, 32, 8, 64])?;
    let mut f = FunctionBuilder::new("chain", lanes, NAN);
    let active = f.bank("active", CellKind::Mask, 1).reg(0);
    f.set_active(active);
    let kinds = [
        ("r", CellKind::Lane(Type::I32), 3),
        ("d", CellKind::Lane(Type::I64), 2),
        ("f", CellKind::Lane(Type::F32), 3),
        ("e", CellKind::Lane(Type::F64), 3),
        ("p", CellKind::Mask, 2),
        ("u", CellKind::Uniform(Type::I64), 1),
        ("x", CellKind::Bytes(ARRAY_BYTES), 1),
    ];
    for (name, kind, count) in kinds {
        f.bank(name, kind, count);
    }
    let [entry, body] = [0, 8].map(|pc| f.new_block(pc));
    f.set_cost(body, 1);
    let mut b = f.at(entry);
    begin(&mut b, u)?;
    b.jump(body);
    let mut b = f.at(body);
    let mut carried = Carried::read(&mut b);
    for round in 0..rounds {
        b.set_pc(8 + 8 * u64::from(round));
        links.iter().for_each(|&link| TABLE[link].1(&mut carried, &mut b));
    }
    carried.write(&mut b);
    b.exit();
    Ok(f.finish().expect("generated operations are well-typed"))
}

/// Returns a function of some links, with as many rounds as a fuzzer has time for: seldom a block
/// of 20,000 operations.
pub fn any_chain(u: &mut Unstructured<'_>) -> Result<Function> {
    let count = u.int_in_range(1..=4)?;
    let links: Vec<usize> = (0..count).map(|_| u.choose_index(LINKS)).collect::<Result<_>>()?;
    let operations = match u.int_in_range(0..=63)? {
        63 => 20_000,
        56..=62 => 4_000,
        // Also where the input has no more bytes.
        _ => 600,
    };
    chain(&links, operations / count, u)
}

/// Writes the registers that the chain begins with.
fn begin(b: &mut BlockBuilder<'_>, u: &mut Unstructured<'_>) -> Result<()> {
    let lane = b.lane_id();
    for i in 0..3 {
        let k = b.iconst(Type::I32, word(u)?.into());
        let scale = b.iconst(Type::I32, word(u)?.into());
        let value = b.mul(lane, scale);
        let value = b.add(value, k);
        b.rf_write(WORD.reg(i), value);
        let float = b.int_to_float(Type::F32, true, Round::Nearest, value);
        b.rf_write(FLOAT.reg(i), float);
        let double = b.int_to_float(Type::F64, true, Round::Nearest, value);
        b.rf_write(DOUBLE.reg(i), double);
    }
    for i in 0..2 {
        let k = b.iconst(Type::I64, long(u)?);
        let wide = b.sign_extend(Type::I64, lane);
        let value = b.xor(wide, k);
        b.rf_write(LONG.reg(i), value);
    }
    for i in 0..2 {
        let mask = b.lanes_of(long(u)?);
        b.rf_write(MASK.reg(i), mask);
    }
    let uniform = b.iconst(Type::I64, long(u)?);
    b.rf_write(UNIFORM.reg(0), uniform);
    Ok(())
}

impl Carried {
    fn read(b: &mut BlockBuilder<'_>) -> Carried {
        let mut read = |bank: BankId, index| b.rf_read(bank.reg(index));
        let (words, longs) = ([0, 1].map(|i| read(WORD, i)), [0, 1].map(|i| read(LONG, i)));
        let (floats, doubles) =
            ([0, 1, 2].map(|i| read(FLOAT, i)), [0, 1, 2].map(|i| read(DOUBLE, i)));
        let (mask, others, uniform) = (read(MASK, 0), read(MASK, 1), read(UNIFORM, 0));
        let halves = longs.map(|pair| [b.trunc(Type::I32, pair), b.high_half(pair)]);
        let (spaced, base) = (b.lane_id(), b.load_const(0, 0, Type::I64));
        Carried { words, longs, halves, floats, doubles, mask, others, spaced, uniform, base }
    }

    fn write(&mut self, b: &mut BlockBuilder<'_>) {
        // An analysis that fuses halves looks through both chains at once.
        let [low, high] = self.halves[0];
        let pair = b.concat(low, high);
        self.longs[1] = b.xor(self.longs[1], pair);
        let mut write = |bank: BankId, values: &[Value]| {
            for (&value, index) in values.iter().zip(0..) {
                b.rf_write(bank.reg(index), value);
            }
        };
        write(WORD, &self.words);
        write(LONG, &self.longs);
        write(FLOAT, &self.floats);
        write(DOUBLE, &self.doubles);
        write(MASK, &[self.mask, self.others]);
        write(UNIFORM, &[self.uniform]);
        b.rf_write(WORD.reg(2), self.spaced);
    }
}
