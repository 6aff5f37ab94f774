//! Random functions for the environment of [`super::compare`], with the shapes that lifters make and that the JIT treats
//! specially: predicates merged under the active mask, lanes that leave, loops that may stay resident, addresses that are evenly
//! spaced and that are not.

use arbitrary::{Result, Unstructured};

use super::compare::{BUFFER_BYTES, SHARED_BYTES};
use crate::ir::builder::{BlockBuilder, FunctionBuilder};
use crate::ir::*;

const WORDS: u32 = 6;
const LONGS: u32 = 2;
const MASKS: u32 = 3;
const UNIFORMS: u32 = 2;

struct Banks {
    words: BankId,
    longs: BankId,
    masks: BankId,
    uniforms: BankId,
}

/// What the operations of a block may use.
struct Pool {
    words: Vec<Value>,
    longs: Vec<Value>,
    floats: Vec<Value>,
    doubles: Vec<Value>,
    masks: Vec<Value>,
}

/// A function for warps of 8, 32 or 64 lanes.
pub fn function(u: &mut Unstructured<'_>) -> Result<Function> {
    let lanes = *u.choose(&[32, 32, 32, 8, 64])?;
    let nan = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8 << 48 };
    let mut f = FunctionBuilder::new("random", lanes, nan);
    let active = f.bank("active", CellKind::Mask, 1).reg(0);
    f.set_active(active);
    let banks = Banks {
        words: f.bank("r", CellKind::Lane(Type::I32), WORDS),
        longs: f.bank("d", CellKind::Lane(Type::I64), LONGS),
        masks: f.bank("p", CellKind::Mask, MASKS),
        uniforms: f.bank("u", CellKind::Uniform(Type::I32), UNIFORMS),
    };
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
        block(&mut b, &banks, &body, i, last, u)?;
    }
    f.at(last).exit();
    Ok(f.finish().expect("generated operations are well-typed"))
}

fn prologue(b: &mut BlockBuilder<'_>, banks: &Banks, next: BlockId, u: &mut Unstructured<'_>) -> Result<()> {
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
    for i in 0..MASKS {
        let mask = b.iconst(Type::I64, long(u)?);
        b.rf_write(banks.masks.reg(i), mask);
    }
    b.jump(next);
    Ok(())
}

/// Interesting numbers, and any.
fn word(u: &mut Unstructured<'_>) -> Result<u32> {
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

fn block(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    body: &[BlockId],
    index: usize,
    last: BlockId,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    let mut pool = Pool { words: vec![], longs: vec![], floats: vec![], doubles: vec![], masks: vec![] };
    let lane = b.lane_id();
    let k = b.iconst(Type::I32, word(u)?.into());
    pool.words.extend([lane, k]);
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
    match u.int_in_range(0..=3)? {
        0 => b.jump(body.get(index + 1).copied().unwrap_or(last)),
        1 => {
            let exit = target(u)?;
            // The shape of a resident loop, if the block is fit for one.
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

fn operation(b: &mut BlockBuilder<'_>, banks: &Banks, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    match u.int_in_range(0..=19)? {
        0..=2 => {
            let v = b.rf_read(banks.words.reg(u.int_in_range(0..=WORDS - 1)?));
            pool.words.push(v);
            let f = b.bitcast(Type::F32, v);
            pool.floats.push(f);
        }
        3..=5 => {
            let v = *u.choose(&pool.words)?;
            guarded(b, pool, u)?;
            b.rf_write(banks.words.reg(u.int_in_range(0..=WORDS - 1)?), v);
            unguarded(b);
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
        7 => masks(b, banks, pool, u)?,
        8 => predicate(b, banks, pool, u)?,
        9 => {
            // Lanes leave.
            let mask = *u.choose(&pool.masks)?;
            let active = b.read_active();
            let rest = b.and(active, mask);
            b.write_active(rest);
        }
        10 | 11 => integer(b, pool, u)?,
        12 | 13 => float(b, pool, u)?,
        14 => wide(b, pool, u)?,
        15 => cross(b, banks, pool, u)?,
        16 => uniform(b, banks, pool, u)?,
        _ => memory(b, pool, u)?,
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

fn masks(b: &mut BlockBuilder<'_>, banks: &Banks, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    let (x, y) = (*u.choose(&pool.masks)?, *u.choose(&pool.masks)?);
    let reg = banks.masks.reg(u.int_in_range(0..=MASKS - 1)?);
    let v = match u.int_in_range(0..=7)? {
        0 => b.and(x, y),
        1 => b.or(x, y),
        2 => b.xor(x, y),
        3 => b.not(x),
        4 => b.rf_read(reg),
        5 => {
            let half = *u.choose(&[Part::Lo, Part::Hi])?;
            let part = b.rf_read_part(reg, half);
            b.rf_write_part(reg, *u.choose(&[Part::Lo, Part::Hi])?, part);
            let wide = b.splat(part);
            pool.words.push(wide);
            return Ok(());
        }
        _ => {
            b.rf_write(reg, x);
            return Ok(());
        }
    };
    pool.masks.push(v);
    Ok(())
}

/// A predicate as Maxwell's lifter writes it: bits of other lanes stay.
fn predicate(b: &mut BlockBuilder<'_>, banks: &Banks, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    const INT: [IntCc; 10] = [
        IntCc::Eq,
        IntCc::Ne,
        IntCc::LtS,
        IntCc::LeS,
        IntCc::GtS,
        IntCc::GeS,
        IntCc::LtU,
        IntCc::LeU,
        IntCc::GtU,
        IntCc::GeU,
    ];
    const FLOAT: [FloatCc; 14] = [
        FloatCc::Eq,
        FloatCc::Ne,
        FloatCc::Lt,
        FloatCc::Le,
        FloatCc::Gt,
        FloatCc::Ge,
        FloatCc::EqU,
        FloatCc::NeU,
        FloatCc::LtU,
        FloatCc::LeU,
        FloatCc::GtU,
        FloatCc::GeU,
        FloatCc::Num,
        FloatCc::Nan,
    ];
    let v = match u.int_in_range(0..=3)? {
        0 => {
            let (x, y) = (*u.choose(&pool.words)?, *u.choose(&pool.words)?);
            b.icmp(*u.choose(&INT)?, x, y)
        }
        1 => {
            let (x, y) = (*u.choose(&pool.longs)?, *u.choose(&pool.longs)?);
            b.icmp(*u.choose(&INT)?, x, y)
        }
        2 => {
            let (x, y) = (*u.choose(&pool.floats)?, *u.choose(&pool.floats)?);
            b.fcmp(*u.choose(&FLOAT)?, u.arbitrary()?, x, y)
        }
        _ => {
            let (x, y) = (*u.choose(&pool.doubles)?, *u.choose(&pool.doubles)?);
            b.fcmp(*u.choose(&FLOAT)?, false, x, y)
        }
    };
    pool.masks.push(v);
    if u.arbitrary()? {
        let reg = banks.masks.reg(u.int_in_range(0..=MASKS - 1)?);
        let active = b.read_active();
        let old = b.rf_read(reg);
        let others = b.not(active);
        let kept = b.and(old, others);
        let new = b.and(v, active);
        let merged = b.or(kept, new);
        b.rf_write(reg, merged);
    }
    Ok(())
}

fn integer(b: &mut BlockBuilder<'_>, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    const UNARY: [UnaryOp; 7] =
        [UnaryOp::Not, UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Popcnt, UnaryOp::Clz, UnaryOp::Ctz, UnaryOp::BitReverse];
    const BINARY: [BinaryOp; 15] = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::MulHiS,
        BinaryOp::MulHiU,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Xor,
        BinaryOp::Shl,
        BinaryOp::ShrU,
        BinaryOp::ShrS,
        BinaryOp::MinS,
        BinaryOp::MinU,
        BinaryOp::MaxS,
        BinaryOp::MaxU,
    ];
    let (x, y) = (*u.choose(&pool.words)?, *u.choose(&pool.words)?);
    let (lx, ly) = (*u.choose(&pool.longs)?, *u.choose(&pool.longs)?);
    match u.int_in_range(0..=8)? {
        0 => {
            let v = b.unary(*u.choose(&UNARY)?, x);
            pool.words.push(v);
        }
        1 => {
            let v = b.unary(*u.choose(&UNARY)?, lx);
            pool.longs.push(v);
        }
        2 => {
            let v = b.binary(*u.choose(&BINARY)?, lx, ly);
            pool.longs.push(v);
        }
        3 => {
            let carry = u.ratio(1, 2)?.then_some(*u.choose(&pool.masks)?);
            let (sum, out) = b.add_carry(x, y, carry);
            pool.words.push(sum);
            pool.masks.push(out);
        }
        4 => {
            let mask = *u.choose(&pool.masks)?;
            let v = b.select(mask, x, y);
            pool.words.push(v);
        }
        5 => {
            let k = b.iconst(Type::I32, u.int_in_range(0..=40)?);
            let v = b.binary(*u.choose(&[BinaryOp::Shl, BinaryOp::ShrU, BinaryOp::ShrS])?, x, k);
            pool.words.push(v);
        }
        6 => {
            let narrow = *u.choose(&[Type::I8, Type::I16])?;
            let v = b.trunc(narrow, x);
            let v = b.binary(*u.choose(&BINARY)?, v, v);
            let v = if u.arbitrary()? { b.sign_extend(Type::I32, v) } else { b.zero_extend(Type::I32, v) };
            pool.words.push(v);
        }
        _ => {
            let v = b.binary(*u.choose(&BINARY)?, x, y);
            pool.words.push(v);
        }
    }
    Ok(())
}

fn attrs(u: &mut Unstructured<'_>) -> Result<FloatAttrs> {
    let round = if u.ratio(1, 8)? { *u.choose(&[Round::Zero, Round::Down, Round::Up])? } else { Round::Nearest };
    Ok(FloatAttrs { round, flush: u.ratio(1, 4)?, saturate: u.ratio(1, 6)? })
}

fn float(b: &mut BlockBuilder<'_>, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    const BINARY: [FloatBinaryOp; 6] = [
        FloatBinaryOp::Add,
        FloatBinaryOp::Sub,
        FloatBinaryOp::Mul,
        FloatBinaryOp::Div,
        FloatBinaryOp::Min,
        FloatBinaryOp::Max,
    ];
    const SHARED: [SharedFn; 7] = [
        SharedFn::Rcp,
        SharedFn::Rsq,
        SharedFn::SqrtApprox,
        SharedFn::Lg2,
        SharedFn::Ex2,
        SharedFn::Sin,
        SharedFn::Cos,
    ];
    let pick = |pool: &Pool, u: &mut Unstructured<'_>| Ok::<_, arbitrary::Error>(*u.choose(&pool.floats)?);
    let (x, y, z) = (pick(pool, u)?, pick(pool, u)?, pick(pool, u)?);
    let (dx, dy) = (*u.choose(&pool.doubles)?, *u.choose(&pool.doubles)?);
    let attrs = attrs(u)?;
    match u.int_in_range(0..=11)? {
        0 => {
            let v = b.fbinary(*u.choose(&BINARY)?, attrs, dx, dy);
            pool.doubles.push(v);
            let bits = b.bitcast(Type::I64, v);
            pool.longs.push(bits);
            return Ok(());
        }
        1 => {
            let v = b.float_to_int(Type::I32, u.arbitrary()?, attrs.round, attrs.flush, 0, x);
            pool.words.push(v);
            return Ok(());
        }
        2 => {
            let v = b.float_to_int(Type::I64, u.arbitrary()?, attrs.round, false, 1 << 63, dx);
            pool.longs.push(v);
            return Ok(());
        }
        3 => {
            let v = b.fconvert(Type::F64, attrs, x);
            pool.doubles.push(v);
            return Ok(());
        }
        _ => {}
    }
    let v = match u.int_in_range(0..=9)? {
        0 => b.funary(FloatUnaryOp::Sqrt, attrs, x),
        1 => b.funary(FloatUnaryOp::Integral, attrs, x),
        2 => b.funary(FloatUnaryOp::Copy, attrs, x),
        3 => b.fma(attrs, x, y, z),
        4 => b.unary(*u.choose(&[UnaryOp::FNeg, UnaryOp::FAbs])?, x),
        5 => b.shared(*u.choose(&SHARED)?, x),
        6 => b.fconvert(Type::F32, attrs, dx),
        7 => {
            let w = *u.choose(&pool.words)?;
            b.int_to_float(Type::F32, u.arbitrary()?, attrs.round, w)
        }
        8 => {
            let w = *u.choose(&pool.longs)?;
            b.int_to_float(Type::F32, u.arbitrary()?, Round::Nearest, w)
        }
        _ => b.fbinary(*u.choose(&BINARY)?, attrs, x, y),
    };
    pool.floats.push(v);
    if u.ratio(2, 3)? {
        let bits = b.bitcast(Type::I32, v);
        pool.words.push(bits);
    }
    Ok(())
}

/// Between 32 and 64 bits, among them the shapes that analysis fuses.
fn wide(b: &mut BlockBuilder<'_>, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    let (x, y) = (*u.choose(&pool.words)?, *u.choose(&pool.words)?);
    let l = *u.choose(&pool.longs)?;
    let v = match u.int_in_range(0..=6)? {
        0 => b.concat(x, y),
        1 => b.sign_extend(Type::I64, x),
        2 => b.zero_extend(Type::I64, x),
        3 => {
            let v = b.trunc(Type::I32, l);
            pool.words.push(v);
            let v = b.high_half(l);
            pool.words.push(v);
            return Ok(());
        }
        4 => {
            let (lo, carry) = b.add_carry(x, y, None);
            let (hi, _) = b.add_carry(y, x, Some(carry));
            b.concat(lo, hi)
        }
        5 => {
            let k = u.int_in_range(1..=31)?;
            let up = b.iconst(Type::I32, k);
            let down = b.iconst(Type::I32, 32 - k);
            let lo = b.shl(x, up);
            let hi = if u.arbitrary()? { b.shr_s(x, down) } else { b.shr_u(x, down) };
            b.concat(lo, hi)
        }
        _ => multiply(b, pool, x, y, u)?,
    };
    let v = if b.ty(v).is_uniform() { b.splat(v) } else { v };
    pool.longs.push(v);
    Ok(())
}

/// The XMAD idiom.
fn multiply(b: &mut BlockBuilder<'_>, pool: &Pool, x: Value, y: Value, u: &mut Unstructured<'_>) -> Result<Value> {
    let c = *u.choose(&pool.words)?;
    let mask = b.iconst(Type::I32, 0xffff);
    let half = b.iconst(Type::I32, 16);
    let (xl, yl) = (b.and(x, mask), b.and(y, mask));
    let (xh, yh) = (b.shr_u(x, half), b.shr_u(y, half));
    let p = b.mul(xl, yl);
    let t = b.add(p, c);
    let p = b.mul(xl, yh);
    let low = b.and(p, mask);
    let shifted = b.shl(y, half);
    let m = b.or(low, shifted);
    let mh = b.shr_u(m, half);
    let p = b.mul(xh, mh);
    let p = b.shl(p, half);
    let m = b.shl(m, half);
    let c = b.add(t, m);
    let r = b.add(p, c);
    Ok(b.sign_extend(Type::I64, r))
}

fn cross(b: &mut BlockBuilder<'_>, banks: &Banks, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    let x = *u.choose(&pool.words)?;
    let x = if b.ty(x).is_uniform() { b.splat(x) } else { x };
    match u.int_in_range(0..=3)? {
        0 => {
            let index = *u.choose(&pool.words)?;
            let index = if b.ty(index).is_uniform() { b.splat(index) } else { index };
            let v = b.lane_gather(x, index);
            pool.words.push(v);
        }
        1 => {
            let lane = b.iconst(Type::I32, u.int_in_range(0..=70)?);
            let v = b.lane_read(x, lane);
            let v = b.splat(v);
            pool.words.push(v);
        }
        2 => {
            let mask = *u.choose(&pool.masks)?;
            let n = b.unary(UnaryOp::Popcnt, mask);
            let n = b.trunc(Type::I32, n);
            b.rf_write(banks.uniforms.reg(0), n);
            let v = b.splat(n);
            pool.words.push(v);
        }
        _ => {
            let index = *u.choose(&pool.words)?;
            let k = b.iconst(Type::I32, u64::from(WORDS));
            let index = b.and(index, k);
            let v = b.rf_gather(banks.words, 0, WORDS, index);
            let v = if b.ty(v).is_uniform() { b.splat(v) } else { v };
            pool.words.push(v);
            let index = if b.ty(index).is_uniform() { b.splat(index) } else { index };
            guarded(b, pool, u)?;
            b.rf_scatter(banks.words, 0, WORDS, index, x);
            unguarded(b);
        }
    }
    Ok(())
}

fn uniform(b: &mut BlockBuilder<'_>, banks: &Banks, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    let reg = banks.uniforms.reg(u.int_in_range(0..=UNIFORMS - 1)?);
    let v = b.rf_read(reg);
    let k = b.iconst(Type::I32, word(u)?.into());
    let v = match u.int_in_range(0..=4)? {
        0 => b.add(v, k),
        1 => b.xor(v, k),
        2 => b.shr_u(v, k),
        3 => {
            let mask = b.icmp(IntCc::LtU, v, k);
            pool.masks.push(mask);
            b.uniform_select(mask, v, k)
        }
        _ => b.rf_gather(banks.uniforms, 0, UNIFORMS, k),
    };
    b.rf_write(reg, v);
    let v = b.splat(v);
    pool.words.push(v);
    Ok(())
}

fn memory(b: &mut BlockBuilder<'_>, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    let ty = *u.choose(&[Type::I32, Type::I32, Type::I32, Type::I8, Type::I16])?;
    let (count, align) =
        if ty == Type::I32 { *u.choose(&[(1, 4), (1, 4), (2, 8), (4, 16)])? } else { (1, ty.bytes() as u8) };
    let bytes = u64::from(ty.bytes()) * u64::from(count);
    let index = match u.int_in_range(0..=2)? {
        0 => b.lane_id(),
        1 => {
            let k = b.iconst(Type::I32, u.int_in_range(0..=20)?);
            b.splat(k)
        }
        _ => *u.choose(&pool.words)?,
    };
    // Sometimes out of range or misaligned.
    let shared = u.arbitrary()?;
    let limit = if shared { SHARED_BYTES } else { BUFFER_BYTES };
    let wild = u.ratio(1, 24)?;
    let bound = if wild { 0x3_ffff } else { u64::from(limit) / bytes - 1 };
    let bound = b.iconst(Type::I32, bound);
    let index = b.and(index, bound);
    let scale = b.iconst(Type::I32, if wild { 1 } else { bytes });
    let at = b.mul(index, scale);
    let at = if b.ty(at).is_uniform() { b.splat(at) } else { at };
    let (space, address) = if shared {
        (Space::Shared, at)
    } else {
        let base = b.load_const(0, 0, Type::I64);
        let wide = if u.arbitrary()? { b.zero_extend(Type::I64, at) } else { b.sign_extend(Type::I64, at) };
        (*u.choose(&[Space::Global, Space::Generic])?, b.add(wide, base))
    };
    guarded(b, pool, u)?;
    b.set_nomask(false);
    let access = Access { align, ..b.access(space, ty, count, address, 0) };
    match u.int_in_range(0..=4)? {
        0 | 1 => {
            let extend = if ty == Type::I32 { Extend::None } else { *u.choose(&[Extend::Signed, Extend::Unsigned])? };
            for v in b.load_access(access, extend) {
                pool.words.push(v);
            }
        }
        2 | 3 => {
            let values: Vec<Value> = (0..count).map(|_| u.choose(&pool.words).copied()).collect::<Result<_>>()?;
            let values: Vec<Value> =
                values.into_iter().map(|v| if ty == Type::I32 { v } else { b.trunc(ty, v) }).collect();
            b.store_access(access, &values);
        }
        _ => {
            const OPS: [AtomicOp; 13] = [
                AtomicOp::Add,
                AtomicOp::Sub,
                AtomicOp::MinS,
                AtomicOp::MinU,
                AtomicOp::MaxS,
                AtomicOp::MaxU,
                AtomicOp::And,
                AtomicOp::Or,
                AtomicOp::Xor,
                AtomicOp::Exchange,
                AtomicOp::Inc,
                AtomicOp::Dec,
                AtomicOp::CompareExchange,
            ];
            if ty == Type::I32 {
                let op = *u.choose(&OPS)?;
                let (value, compare) = (*u.choose(&pool.words)?, *u.choose(&pool.words)?);
                let access = Access { count: 1, align: 4, ..access };
                let compare = (op == AtomicOp::CompareExchange).then_some(compare);
                let v = b.atomic(access, op, value, compare);
                pool.words.push(v);
            }
        }
    }
    unguarded(b);
    Ok(())
}
