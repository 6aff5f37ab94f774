//! Lane-wise integers and floats.

use arbitrary::{Result, Unstructured};
use warploom_ir::*;

use super::{Pool, named, named_where};

pub fn integer(b: &mut BlockBuilder<'_>, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    let unary = |u: &mut Unstructured<'_>| {
        named_where(u, |op| !matches!(op, UnaryOp::FNeg | UnaryOp::FAbs))
    };
    let (x, y) = (*u.choose(&pool.words)?, *u.choose(&pool.words)?);
    let (lx, ly) = (*u.choose(&pool.longs)?, *u.choose(&pool.longs)?);
    match u.int_in_range(0..=8)? {
        0 => {
            let v = b.unary(unary(u)?, x);
            pool.words.push(v);
        }
        1 => {
            let v = b.unary(unary(u)?, lx);
            pool.longs.push(v);
        }
        2 => {
            let v = b.binary(named(u)?, lx, ly);
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
            let v = b.binary(named(u)?, v, v);
            let v = if u.arbitrary()? {
                b.sign_extend(Type::I32, v)
            } else {
                b.zero_extend(Type::I32, v)
            };
            pool.words.push(v);
        }
        _ => {
            let v = b.binary(named(u)?, x, y);
            pool.words.push(v);
        }
    }
    Ok(())
}

fn attrs(u: &mut Unstructured<'_>) -> Result<FloatAttrs> {
    let round = if u.ratio(1, 8)? {
        *u.choose(&[Round::Zero, Round::Down, Round::Up])?
    } else {
        Round::Nearest
    };
    Ok(FloatAttrs { round, flush: u.ratio(1, 4)?, saturate: u.ratio(1, 6)? })
}

pub fn float(b: &mut BlockBuilder<'_>, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    let function = |u: &mut Unstructured<'_>| named_where(u, |f: SharedFn| f.ty() == Type::F32);
    let pick =
        |pool: &Pool, u: &mut Unstructured<'_>| Ok::<_, arbitrary::Error>(*u.choose(&pool.floats)?);
    let (x, y, z) = (pick(pool, u)?, pick(pool, u)?, pick(pool, u)?);
    let dx = *u.choose(&pool.doubles)?;
    let attrs = attrs(u)?;
    match u.int_in_range(0..=13)? {
        0 => {
            let v = double(b, pool, attrs, u)?;
            pool.doubles.push(v);
            let bits = b.bitcast(Type::I64, v);
            pool.longs.push(bits);
            return Ok(());
        }
        1 => {
            let (to, signed) =
                (*u.choose(&[Type::I8, Type::I16, Type::I32, Type::I32])?, u.arbitrary()?);
            let v = b.float_to_int(to, signed, attrs.round, attrs.flush, 0, x);
            let v = if to == Type::I32 { v } else { b.zero_extend(Type::I32, v) };
            pool.words.push(v);
            return Ok(());
        }
        2 => {
            let v = b.float_to_int(Type::I64, u.arbitrary()?, attrs.round, false, 1 << 63, dx);
            pool.longs.push(v);
            return Ok(());
        }
        4 => {
            let (h, k) = (b.fconvert(Type::F16, attrs, x), b.fconvert(Type::F16, attrs, dx));
            let v = match u.int_in_range(0..=2)? {
                0 => b.fma(attrs, h, k, h),
                1 => b.funary(FloatUnaryOp::Sqrt, attrs, h),
                _ => b.fbinary(named(u)?, attrs, h, k),
            };
            let v = b.fconvert(Type::F32, FloatAttrs::IEEE, v);
            pool.floats.push(v);
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
        5 => b.shared(function(u)?, x),
        6 => b.fconvert(Type::F32, attrs, dx),
        7 => {
            let w = *u.choose(&pool.words)?;
            b.int_to_float(Type::F32, u.arbitrary()?, attrs.round, w)
        }
        8 => {
            let w = *u.choose(&pool.longs)?;
            b.int_to_float(Type::F32, u.arbitrary()?, attrs.round, w)
        }
        _ => b.fbinary(named(u)?, attrs, x, y),
    };
    pool.floats.push(v);
    if u.ratio(2, 3)? {
        let bits = b.bitcast(Type::I32, v);
        pool.words.push(bits);
    }
    Ok(())
}

fn double(
    b: &mut BlockBuilder<'_>,
    pool: &Pool,
    attrs: FloatAttrs,
    u: &mut Unstructured<'_>,
) -> Result<Value> {
    let (x, y, z) =
        (*u.choose(&pool.doubles)?, *u.choose(&pool.doubles)?, *u.choose(&pool.doubles)?);
    Ok(match u.int_in_range(0..=6)? {
        0 | 1 => b.fma(attrs, x, y, z),
        2 => b.funary(FloatUnaryOp::Sqrt, attrs, x),
        3 => {
            let integer =
                if u.arbitrary()? { *u.choose(&pool.words)? } else { *u.choose(&pool.longs)? };
            b.int_to_float(Type::F64, u.arbitrary()?, attrs.round, integer)
        }
        _ => b.fbinary(named(u)?, attrs, x, y),
    })
}

/// Emits operations between 32 and 64 bits, among them the shapes that analysis fuses.
pub fn wide(b: &mut BlockBuilder<'_>, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
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

/// Emits the XMAD idiom.
fn multiply(
    b: &mut BlockBuilder<'_>,
    pool: &Pool,
    x: Value,
    y: Value,
    u: &mut Unstructured<'_>,
) -> Result<Value> {
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
