//! Random functions for the environment of [`compare`](super::compare()), with the shapes that
//! lifters make and that the JIT treats specially: predicates merged under the active mask, lanes
//! that leave, loops that may stay resident, addresses with and without even spacing, lane windows
//! and byte regions.

mod arithmetic;
mod bytes;
pub mod chain;
mod elementwise;
mod masks;
mod memory;
mod rewritable;
mod waiting;
mod warp;

use arbitrary::{Result, Unstructured};
pub use elementwise::{Elementwise, elementwise};
pub use rewritable::rewritable;
pub use waiting::waiting;
use warploom_ir::names::Named;
use warploom_ir::*;

const WORDS: u32 = 6;
const LONGS: u32 = 2;
const MASKS: u32 = 3;
const UNIFORMS: u32 = 2;
/// The number of byte arrays, and the bytes of each.
const ARRAYS: u32 = 2;
const ARRAY_BYTES: u32 = 128;
const NAN: NanPolicy = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8 << 48 };

struct Banks {
    words: BankId,
    longs: BankId,
    masks: BankId,
    uniforms: BankId,
    arrays: BankId,
}

/// The values that the operations of a block may use.
struct Pool {
    words: Vec<Value>,
    longs: Vec<Value>,
    floats: Vec<Value>,
    doubles: Vec<Value>,
    masks: Vec<Value>,
}

impl Pool {
    /// Returns a pool with a value of each type and the lane's number.
    fn new(b: &mut BlockBuilder<'_>, u: &mut Unstructured<'_>) -> Result<Pool> {
        let lane = b.lane_id();
        Pool::with(b, lane, u)
    }

    /// Returns a pool with a value of each type and this word.
    fn with(b: &mut BlockBuilder<'_>, first: Value, u: &mut Unstructured<'_>) -> Result<Pool> {
        let mut pool =
            Pool { words: vec![], longs: vec![], floats: vec![], doubles: vec![], masks: vec![] };
        let k = b.iconst(Type::I32, word(u)?.into());
        pool.words.extend([first, k]);
        let k = b.iconst(Type::I64, long(u)?);
        let wide = b.splat(k);
        pool.longs.push(wide);
        let k = b.f32const(1.5);
        let f = b.splat(k);
        pool.floats.push(f);
        let k = b.f64const(-2.5);
        let d = b.splat(k);
        pool.doubles.push(d);
        let active = b.read_active();
        pool.masks.push(active);
        Ok(pool)
    }
}

/// Begins a function for warps of 8, 32 or 64 lanes.
fn begin(u: &mut Unstructured<'_>) -> Result<(FunctionBuilder, Banks)> {
    let lanes = *u.choose(&[32, 32, 32, 8, 64])?;
    let mut f = FunctionBuilder::new("random", lanes, NAN);
    let active = f.bank("active", CellKind::Mask, 1).reg(0);
    f.set_active(active);
    let banks = Banks {
        words: f.bank("r", CellKind::Lane(Type::I32), WORDS),
        longs: f.bank("d", CellKind::Lane(Type::I64), LONGS),
        masks: f.bank("p", CellKind::Mask, MASKS),
        uniforms: f.bank("u", CellKind::Uniform(Type::I32), UNIFORMS),
        arrays: f.bank("x", CellKind::Bytes(ARRAY_BYTES), ARRAYS),
    };
    Ok((f, banks))
}

/// Returns a function for warps of 8, 32 or 64 lanes.
pub fn function(u: &mut Unstructured<'_>) -> Result<Function> {
    let (mut f, banks) = begin(u)?;
    let count = u.int_in_range(1..=4)?;
    let entry = f.new_block(0);
    let body: Vec<BlockId> = (0..count).map(|i| f.new_block(8 * (i + 1))).collect();
    let last = f.new_block(8 * (count + 1));
    prologue(&mut f.at(entry), &banks, body[0], u)?;
    for (i, &id) in body.iter().enumerate() {
        let cost = u.int_in_range(0..=5)?;
        f.set_cost(id, cost.max(1));
        let mut b = f.at(id);
        b.set_pc(8 * (i as u64 + 1));
        if u.ratio(1, 4)? {
            resident_loop(&mut b, &banks, id, body.get(i + 1).copied().unwrap_or(last), u)?;
        } else {
            block(&mut b, &banks, &body, i, last, u)?;
        }
    }
    let mut b = f.at(last);
    // A register that all lanes overwrite is not live before.
    b.set_nomask(true);
    for i in 0..WORDS {
        if u.ratio(1, 4)? {
            let zero = b.iconst(Type::I32, 0);
            b.rf_write(banks.words.reg(i), zero);
        }
    }
    b.exit();
    Ok(f.finish().expect("generated operations are well-typed"))
}

fn prologue(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    next: BlockId,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    let lane = b.lane_id();
    for i in 0..WORDS {
        let k = word(u)?;
        let k = b.iconst(Type::I32, k.into());
        let scale = b.iconst(Type::I32, u.int_in_range(0..=5)?);
        let value = b.mul(lane, scale);
        let value = b.add(value, k);
        b.rf_write(banks.words.reg(i), value);
    }
    for i in 0..LONGS {
        let k = b.iconst(Type::I64, long(u)?);
        let wide = b.sign_extend(Type::I64, lane);
        let value = b.xor(wide, k);
        b.rf_write(banks.longs.reg(i), value);
    }
    if u.arbitrary()? {
        memory::pointers(b, banks, u)?;
    }
    for i in 0..MASKS {
        let mask = b.lanes_of(long(u)?);
        b.rf_write(banks.masks.reg(i), mask);
    }
    b.jump(next);
    Ok(())
}

/// Returns an interesting number, or any number.
pub(super) fn word(u: &mut Unstructured<'_>) -> Result<u32> {
    const EDGES: [u32; 16] = [
        0,
        1,
        2,
        31,
        32,
        33,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x3f80_0000,
        0xbf80_0000,
        0x7fc0_1234,
        0x0000_0001,
        0x807f_ffff,
        0x7f80_0000,
        0x4f00_0000,
    ];
    Ok(if u.ratio(1, 2)? { *u.choose(&EDGES)? } else { u.arbitrary()? })
}

fn long(u: &mut Unstructured<'_>) -> Result<u64> {
    const EDGES: [u64; 10] = [
        0,
        1,
        u64::MAX,
        1 << 63,
        0xffff_ffff,
        1 << 32,
        0x3ff0 << 48,
        0x7ff8_0000_0000_1234,
        0x000f_ffff_ffff_ffff,
        0x5555_5555_5555_5555,
    ];
    Ok(if u.ratio(1, 2)? { *u.choose(&EDGES)? } else { u.arbitrary()? })
}

/// Returns any member of an enumeration.
fn named<T: Named>(u: &mut Unstructured<'_>) -> Result<T> {
    named_where(u, |_| true)
}

/// Returns any member that fits.
fn named_where<T: Named>(u: &mut Unstructured<'_>, fits: impl Fn(T) -> bool) -> Result<T> {
    let fitting: Vec<T> =
        T::NAMES.iter().map(|&(member, _)| member).filter(|&member| fits(member)).collect();
    u.choose(&fitting).copied()
}

fn block(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    body: &[BlockId],
    index: usize,
    last: BlockId,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    let mut pool = Pool::new(b, u)?;
    for _ in 0..u.int_in_range(1..=24)? {
        operation(b, banks, &mut pool, u)?;
        if u.is_empty() {
            break;
        }
    }
    let active = b.read_active();
    let target = |u: &mut Unstructured<'_>| -> Result<BlockId> {
        let choice = u.int_in_range(0..=body.len())?;
        // Mostly forward, so that most programs end.
        Ok(match body.get(choice) {
            Some(&id) if choice > index || u.ratio(1, 3)? => id,
            _ => last,
        })
    };
    match u.int_in_range(0..=4)? {
        0 => b.jump(body.get(index + 1).copied().unwrap_or(last)),
        4 => memory::print(b, &pool, body.get(index + 1).copied().unwrap_or(last), u)?,
        1 => {
            let exit = target(u)?;
            b.branch(active, body[index], exit);
        }
        2 => {
            let cond = *u.choose(&pool.masks)?;
            let (then, otherwise) = (target(u)?, target(u)?);
            b.branch(cond, then, otherwise);
        }
        _ => {
            let to = target(u)?;
            b.jump(to);
        }
    }
    Ok(())
}

/// Emits a block that the JIT may run for a chunk, or for a lane, until all lanes have left: its
/// operations are lane-wise and write no memory, and only active lanes change registers. Most lanes
/// leave after a few rounds, each after its own number.
fn resident_loop(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    this: BlockId,
    exit: BlockId,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    let mut pool = Pool::new(b, u)?;
    if u.arbitrary()? {
        memory::follow(b, banks, &mut pool, u)?;
        memory::find(b, &mut pool, u)?;
    }
    for _ in 0..u.int_in_range(1..=12)? {
        match u.int_in_range(0..=8)? {
            0 | 1 => read(b, banks, &mut pool, u)?,
            2 | 3 => {
                let guard = if u.arbitrary()? { Some(*u.choose(&pool.masks)?) } else { None };
                b.set_guard(guard);
                write(b, banks, &pool, u)?;
            }
            4 => masks::predicate(b, banks, &mut pool, u)?,
            5 => arithmetic::integer(b, &mut pool, u)?,
            6 | 7 => arithmetic::float(b, &mut pool, u)?,
            _ => arithmetic::wide(b, &mut pool, u)?,
        }
    }
    let counter = banks.words.reg(u.int_in_range(0..=WORDS - 1)?);
    let mut staying = if u.arbitrary()? { counted(b, counter, u)? } else { odd(b, counter, u)? };
    if u.ratio(1, 3)? {
        staying = b.and(staying, *u.choose(&pool.masks)?);
    }
    let active = b.read_active();
    let active = if u.ratio(1, 4)? {
        // A mask keeps the lanes that leave.
        let left = banks.masks.reg(u.int_in_range(0..=MASKS - 1)?);
        let leaving = b.not(staying);
        let leaving = b.and(leaving, active);
        let before = b.rf_read(left);
        let gone = b.or(leaving, before);
        b.rf_write(left, gone);
        let others = b.not(gone);
        b.and(active, others)
    } else {
        b.and(active, staying)
    };
    b.write_active(active);
    b.branch(active, this, exit);
    Ok(())
}

/// Counts a round. Returns the lanes whose count is no multiple of a power of two.
fn odd(b: &mut BlockBuilder<'_>, counter: Reg, u: &mut Unstructured<'_>) -> Result<Value> {
    let (count, one) = (b.rf_read(counter), b.iconst(Type::I32, 1));
    let count = b.add(count, one);
    b.rf_write(counter, count);
    let period = b.iconst(Type::I32, *u.choose(&[1, 3, 7])?);
    let (rest, zero) = (b.and(count, period), b.iconst(Type::I32, 0));
    Ok(b.icmp(IntCc::Ne, rest, zero))
}

/// Counts a round up or down. Returns the lanes that have not reached a limit of their own, which
/// is near the first count of some lanes.
fn counted(b: &mut BlockBuilder<'_>, counter: Reg, u: &mut Unstructured<'_>) -> Result<Value> {
    let up = u.arbitrary()?;
    let before = b.rf_read(counter);
    let step = b.iconst(Type::I32, if up { 1 } else { u32::MAX.into() });
    let after = b.add(before, step);
    b.rf_write(counter, after);
    let (lane, scale) = (b.lane_id(), b.iconst(Type::I32, u.int_in_range(0..=6)?));
    let (near, ahead) = (b.mul(lane, scale), u.int_in_range(0..=20)?);
    let ahead = b.iconst(Type::I32, if up { ahead } else { 31 - ahead });
    let limit = b.add(near, ahead);
    let count = if u.arbitrary()? { after } else { before };
    let cc = *u.choose(if up {
        &[IntCc::LtU, IntCc::LtS, IntCc::Ne, IntCc::LeU]
    } else {
        &[IntCc::GtU, IntCc::GtS, IntCc::Ne, IntCc::GeS]
    })?;
    Ok(match u.int_in_range(0..=2)? {
        0 => b.icmp(cc, count, limit),
        1 => b.icmp(cc.swapped(), limit, count),
        _ => {
            let leaving = b.icmp(cc.inverse(), count, limit);
            b.not(leaving)
        }
    })
}

/// Reads a word, as an integer and as a float.
fn read(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    pool: &mut Pool,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    let v = b.rf_read(banks.words.reg(u.int_in_range(0..=WORDS - 1)?));
    pool.words.push(v);
    let f = b.bitcast(Type::F32, v);
    pool.floats.push(f);
    Ok(())
}

/// Writes a word under the current guard, and removes the guard.
fn write(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    pool: &Pool,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    let v = *u.choose(&pool.words)?;
    b.rf_write(banks.words.reg(u.int_in_range(0..=WORDS - 1)?), v);
    unguarded(b);
    Ok(())
}

fn operation(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    pool: &mut Pool,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    match u.int_in_range(0..=20)? {
        0..=2 => read(b, banks, pool, u)?,
        3..=5 => {
            guarded(b, pool, u)?;
            write(b, banks, pool, u)?;
        }
        6 => {
            let reg = banks.longs.reg(u.int_in_range(0..=LONGS - 1)?);
            if u.arbitrary()? {
                let v = b.rf_read(reg);
                pool.longs.push(v);
                let d = b.bitcast(Type::F64, v);
                pool.doubles.push(d);
            } else {
                let v = *u.choose(&pool.longs)?;
                guarded(b, pool, u)?;
                b.rf_write(reg, v);
                unguarded(b);
            }
        }
        7 => masks::masks(b, banks, pool, u)?,
        8 => masks::predicate(b, banks, pool, u)?,
        9 => {
            // Some lanes leave.
            let mask = *u.choose(&pool.masks)?;
            let active = b.read_active();
            let rest = b.and(active, mask);
            b.write_active(rest);
        }
        10 | 11 => arithmetic::integer(b, pool, u)?,
        12 | 13 => arithmetic::float(b, pool, u)?,
        14 => arithmetic::wide(b, pool, u)?,
        15 => warp::cross(b, banks, pool, u)?,
        16 => warp::uniform(b, banks, pool, u)?,
        17 => bytes::instruction(b, banks, pool, u)?,
        _ => memory::memory(b, pool, u)?,
    }
    Ok(())
}

fn guarded(b: &mut BlockBuilder<'_>, pool: &Pool, u: &mut Unstructured<'_>) -> Result<()> {
    if u.ratio(1, 3)? {
        let mask = *u.choose(&pool.masks)?;
        b.set_guard(Some(mask));
    }
    b.set_nomask(u.ratio(1, 16)?);
    Ok(())
}

fn unguarded(b: &mut BlockBuilder<'_>) {
    b.set_guard(None);
    b.set_nomask(false);
}
