//! Lane windows and byte regions, as in instructions for some of a thread's channels.

use arbitrary::{Result, Unstructured};
use warploom_ir::*;

use super::{ARRAY_BYTES, ARRAYS, Banks, Pool, WORDS, guarded, unguarded};

/// Emits an instruction in a window: sources from registers or byte arrays, a sum, and a
/// destination of either kind.
pub fn instruction(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    pool: &mut Pool,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    let (all, window) = (b.window(), window(b.window(), u)?);
    b.set_window(window);
    let ty = *u.choose(&[Type::I32, Type::I32, Type::I16, Type::I8, Type::I64])?;
    let (x, y) = (source(b, banks, pool, ty, u)?, source(b, banks, pool, ty, u)?);
    let sum = b.add(x, y);
    if ty == Type::I32 && b.ty(x).is_uniform() == b.ty(y).is_uniform() {
        // The mask has only bits of the window.
        let mask = b.icmp(IntCc::LtU, x, y);
        pool.masks.push(mask);
    }
    guarded(b, pool, u)?;
    if ty == Type::I32 && u.ratio(1, 3)? {
        b.rf_write(banks.words.reg(u.int_in_range(0..=WORDS - 1)?), sum);
    } else {
        let (reg, region) = place(banks, ty, u)?;
        match index(b, pool, u)? {
            Some(index) => b.region_write_at(reg, index, region, sum),
            None => b.region_write(reg, region, sum),
        }
    }
    unguarded(b);
    b.set_window(all);
    Ok(())
}

/// Returns the whole warp, a part that is usual in instructions, or any window.
fn window(all: Window, u: &mut Unstructured<'_>) -> Result<Window> {
    let count = *u.choose(&[all.count, all.count, all.count / 2, 8, 4, 1])?;
    let count = count.clamp(1, all.count);
    let first = if u.ratio(1, 8)? {
        u.int_in_range(0..=all.count - count)?
    } else {
        count * u.int_in_range(0..=all.count / count - 1)?
    };
    Ok(Window { first, count })
}

fn source(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    pool: &mut Pool,
    ty: Type,
    u: &mut Unstructured<'_>,
) -> Result<Value> {
    if ty == Type::I32 && u.ratio(1, 3)? {
        return u.choose(&pool.words).copied();
    }
    let (reg, region) = place(banks, ty, u)?;
    if u.ratio(1, 6)? {
        return Ok(b.region_read_uniform(reg, region, ty));
    }
    let read = match index(b, pool, u)? {
        Some(index) => b.region_read_at(reg, index, region, ty),
        None => b.region_read(reg, region, ty),
    };
    if ty == Type::I32 {
        pool.words.push(read);
    }
    Ok(read)
}

fn place(banks: &Banks, ty: Type, u: &mut Unstructured<'_>) -> Result<(Reg, Region)> {
    let reg = banks.arrays.reg(u.int_in_range(0..=ARRAYS - 1)?);
    let last = ARRAY_BYTES / ty.bytes() + 1;
    let offset = ty.bytes() * u.int_in_range(0..=last)? + if u.ratio(1, 8)? { 1 } else { 0 };
    let region = match u.int_in_range(0..=3)? {
        0 => Region::packed(offset),
        1 => Region { offset, vstride: *u.choose(&[2, 4])?, width: 1, hstride: 0 },
        2 => Region { offset, vstride: 0, width: 1, hstride: 0 },
        _ => {
            let strides = [0, 1, 2, 4, 8, 16];
            Region {
                offset,
                vstride: *u.choose(&strides)?,
                width: *u.choose(&strides[1..])?,
                hstride: *u.choose(&strides[..4])?,
            }
        }
    };
    Ok((reg, region))
}

/// Sometimes returns an index, mostly in the array.
fn index(b: &mut BlockBuilder<'_>, pool: &Pool, u: &mut Unstructured<'_>) -> Result<Option<Value>> {
    if !u.ratio(1, 3)? {
        return Ok(None);
    }
    let index = if u.arbitrary()? {
        *u.choose(&pool.words)?
    } else {
        b.iconst(Type::I32, u.int_in_range(0..=u64::from(ARRAY_BYTES))?)
    };
    if u.ratio(1, 6)? {
        return Ok(Some(index));
    }
    let within = b.iconst(Type::I32, u64::from(ARRAY_BYTES / 2 - 1));
    Ok(Some(b.and(index, within)))
}
