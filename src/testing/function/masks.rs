//! Operations on masks, and comparisons.

use arbitrary::{Result, Unstructured};
use warploom_ir::*;

use super::{Banks, MASKS, Pool, named};

pub fn masks(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    pool: &mut Pool,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    let (x, y) = (*u.choose(&pool.masks)?, *u.choose(&pool.masks)?);
    let reg = banks.masks.reg(u.int_in_range(0..=MASKS - 1)?);
    let v = match u.int_in_range(0..=8)? {
        0 => b.and(x, y),
        1 => b.or(x, y),
        2 => b.xor(x, y),
        3 => b.not(x),
        4 => b.rf_read(reg),
        5 if b.function().function().lanes == 64 => {
            let half = *u.choose(&[Part::Lo, Part::Hi])?;
            let part = b.rf_read_part(reg, half);
            b.rf_write_part(reg, *u.choose(&[Part::Lo, Part::Hi])?, part);
            let wide = b.splat(part);
            pool.words.push(wide);
            return Ok(());
        }
        5 | 6 => {
            let bits = b.from_mask(x);
            let k = b.iconst(Type::I64, *u.choose(&[0, 1, 8, 33])?);
            let op = *u.choose(&[BinaryOp::Shl, BinaryOp::ShrU, BinaryOp::Sub, BinaryOp::Xor])?;
            let bits = b.binary(op, bits, k);
            b.to_mask(bits)
        }
        _ => {
            b.rf_write(reg, x);
            return Ok(());
        }
    };
    pool.masks.push(v);
    Ok(())
}

/// Emits a predicate as Maxwell's lifter does: bits of other lanes stay.
pub fn predicate(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    pool: &mut Pool,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    let v = match u.int_in_range(0..=3)? {
        0 => {
            let (x, y) = (*u.choose(&pool.words)?, *u.choose(&pool.words)?);
            b.icmp(named(u)?, x, y)
        }
        1 => {
            let (x, y) = (*u.choose(&pool.longs)?, *u.choose(&pool.longs)?);
            b.icmp(named(u)?, x, y)
        }
        2 => {
            let (x, y) = (*u.choose(&pool.floats)?, *u.choose(&pool.floats)?);
            b.fcmp(named(u)?, u.arbitrary()?, x, y)
        }
        _ => {
            let (x, y) = (*u.choose(&pool.doubles)?, *u.choose(&pool.doubles)?);
            b.fcmp(named(u)?, false, x, y)
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
