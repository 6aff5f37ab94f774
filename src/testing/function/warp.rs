//! Operations on the whole warp: cross-lane operations and uniform registers.

use arbitrary::{Result, Unstructured};
use warploom_ir::*;

use super::{Banks, Pool, UNIFORMS, WORDS, guarded, unguarded, word};

pub fn cross(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    pool: &mut Pool,
    u: &mut Unstructured<'_>,
) -> Result<()> {
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
            let bits = b.from_mask(mask);
            let n = b.unary(UnaryOp::Popcnt, bits);
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

pub fn uniform(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    pool: &mut Pool,
    u: &mut Unstructured<'_>,
) -> Result<()> {
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
