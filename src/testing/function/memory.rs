//! Loads, stores and atomics.

use arbitrary::{Result, Unstructured};
use warploom_ir::*;
use warploom_runtime::memory::PAGE_BYTES;

use super::super::compare::{BUFFER_BYTES, FORMATS_AT, LOCAL_BYTES, SHARED_BYTES};
use super::super::format;
use super::{Banks, Pool, guarded, named_where, unguarded, word};

pub fn memory(b: &mut BlockBuilder<'_>, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    let ty = *u.choose(&[Type::I32, Type::I32, Type::I32, Type::I8, Type::I16])?;
    let count = if ty == Type::I32 { *u.choose(&[1, 1, 2, 4])? } else { 1 };
    let bytes = u64::from(ty.bytes()) * u64::from(count);
    let align = if u.ratio(7, 8)? { bytes as u8 } else { *u.choose(&[1, 2, 4, 8, 16])? };
    let index = match u.int_in_range(0..=2)? {
        0 => b.lane_id(),
        1 => {
            let k = b.iconst(Type::I32, u.int_in_range(0..=20)?);
            b.splat(k)
        }
        _ => *u.choose(&pool.words)?,
    };
    // The address is sometimes out of range or misaligned.
    let shared = u.arbitrary()?;
    let limit = if shared { SHARED_BYTES } else { BUFFER_BYTES };
    let wild = u.ratio(1, 24)?;
    let bound = if wild { 0x3_ffff } else { u64::from(limit) / bytes - 1 };
    let bound = b.iconst(Type::I32, bound);
    let index = b.and(index, bound);
    let scale = b.iconst(Type::I32, if wild { 1 } else { bytes });
    let at = b.mul(index, scale);
    let at = in_lanes(b, at);
    let (space, address) = if shared {
        (Space::Shared, at)
    } else {
        let base = b.load_const(0, 0, Type::I64);
        let wide = if u.arbitrary()? {
            b.zero_extend(Type::I64, at)
        } else {
            b.sign_extend(Type::I64, at)
        };
        (*u.choose(&[Space::Global, Space::Generic])?, b.add(wide, base))
    };
    guarded(b, pool, u)?;
    b.set_nomask(false);
    let access = Access { align, ..b.access(space, ty, count, address, 0) };
    match u.int_in_range(0..=4)? {
        0 | 1 => {
            let extend = extend_of(ty, u)?;
            pool.words.extend(b.load_access(access, extend));
        }
        2 | 3 => {
            let values: Vec<Value> =
                (0..count).map(|_| u.choose(&pool.words).copied()).collect::<Result<_>>()?;
            let values: Vec<Value> = values
                .into_iter()
                .map(|v| if ty == Type::I32 { v } else { b.trunc(ty, v) })
                .collect();
            b.store_access(access, &values);
        }
        _ => {
            if ty == Type::I32 {
                let op = named_where(u, |op: AtomicOp| op.takes(Type::I32))?;
                let (value, compare) = (*u.choose(&pool.words)?, *u.choose(&pool.words)?);
                let access = Access { count: 1, align: 4, ..access };
                let compare = op.has_compare().then_some(compare);
                let v = b.atomic(access, op, value, compare);
                pool.words.push(v);
            }
        }
    }
    unguarded(b);
    Ok(())
}

/// Prints values from the buffer, mostly by a real format, then goes on to `next`.
pub fn print(
    b: &mut BlockBuilder<'_>,
    pool: &Pool,
    next: BlockId,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    let base = b.load_const(0, 0, Type::I64);
    let start = if u.ratio(7, 8)? { FORMATS_AT + format::any(u)? } else { word(u)? };
    let start = b.iconst(Type::I64, start.into());
    let format = b.add(base, start);
    let (index, bound) = (*u.choose(&pool.words)?, b.iconst(Type::I32, (BUFFER_BYTES - 1).into()));
    let at = b.and(index, bound);
    let at = in_lanes(b, at);
    let at = b.zero_extend(Type::I64, at);
    let arguments = if u.ratio(7, 8)? { b.add(at, base) } else { *u.choose(&pool.longs)? };
    let slot = b.iconst(Type::I32, LOCAL_BYTES.into());
    let slot = b.splat(slot);
    for (value, offset) in [(format, 0), (arguments, 8)] {
        let value = in_lanes(b, value);
        let halves = [b.trunc(Type::I32, value), b.high_half(value)];
        let access = b.access(Space::Local, Type::I32, 2, slot, offset);
        b.store_access(access, &halves);
    }
    b.service(Service::Print, *u.choose(&pool.masks)?, next);
    Ok(())
}

fn in_lanes(b: &mut BlockBuilder<'_>, v: Value) -> Value {
    if b.ty(v).is_uniform() { b.splat(v) } else { v }
}

/// Returns how a load of the type fills words.
fn extend_of(ty: Type, u: &mut Unstructured<'_>) -> Result<Extend> {
    if ty == Type::I32 {
        Ok(Extend::None)
    } else {
        Ok(*u.choose(&[Extend::Signed, Extend::Unsigned])?)
    }
}

/// Writes the halves of an address to the first two words.
fn write_halves(b: &mut BlockBuilder<'_>, banks: &Banks, address: Value) {
    let (low, high) = (b.trunc(Type::I32, address), b.high_half(address));
    b.rf_write(banks.words.reg(0), low);
    b.rf_write(banks.words.reg(1), high);
}

/// Writes an address of each lane to the first long register and to the first two words. The
/// address is in the buffer or near its page's end.
pub fn pointers(b: &mut BlockBuilder<'_>, banks: &Banks, u: &mut Unstructured<'_>) -> Result<()> {
    let base = b.load_const(0, 0, Type::I64);
    let start = b.iconst(Type::I64, *u.choose(&[0, 128, 1, PAGE_BYTES - 36])?);
    let (lane, scale) = (b.lane_id(), b.iconst(Type::I32, *u.choose(&[0, 4, 12])?));
    let at = b.mul(lane, scale);
    let at = b.zero_extend(Type::I64, at);
    let address = b.add(base, start);
    let address = b.add(at, address);
    b.rf_write(banks.longs.reg(0), address);
    write_halves(b, banks, address);
    Ok(())
}

/// Loads from an address of [`pointers`], and advances the address.
pub fn follow(
    b: &mut BlockBuilder<'_>,
    banks: &Banks,
    pool: &mut Pool,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    let step = *u.choose(&[4i64, 4, 8, 12, -4])?;
    let words = u.arbitrary()?;
    let [low, high] = [0, 1].map(|i| banks.words.reg(i));
    let address = if words {
        let (low, high) = (b.rf_read(low), b.rf_read(high));
        b.concat(low, high)
    } else {
        b.rf_read(banks.longs.reg(0))
    };
    let align = *u.choose(&[4, 4, 1])?;
    let offset = *u.choose(&[0, 0, 4, -8])?;
    let access = Access { align, ..b.access(Space::Global, Type::I32, 1, address, offset) };
    pool.words.extend(b.load_access(access, Extend::None));
    if !words {
        let step = b.iconst(Type::I64, step as u64);
        let next = b.add(address, step);
        b.rf_write(banks.longs.reg(0), next);
    } else if u.arbitrary()? {
        let step = b.iconst(Type::I64, step as u64);
        let next = b.add(address, step);
        write_halves(b, banks, next);
    } else {
        let (old_low, old_high) = (b.rf_read(low), b.rf_read(high));
        let (less, more) = (
            b.iconst(Type::I32, u64::from(step as u32)),
            b.iconst(Type::I32, (step >> 32) as u32 as u64),
        );
        let (next_low, carry) = b.add_carry(less, old_low, None);
        let (next_high, _) = b.add_carry(old_high, more, Some(carry));
        b.rf_write(low, next_low);
        b.rf_write(high, next_high);
    }
    Ok(())
}

/// Loads from an address that is computed from another load's result or from any word.
pub fn find(b: &mut BlockBuilder<'_>, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
    for _ in 0..u.int_in_range(1..=2)? {
        let ty = *u.choose(&[Type::I32, Type::I32, Type::I16, Type::I8])?;
        let count = if ty == Type::I32 { *u.choose(&[1, 1, 2])? } else { 1 };
        let last = pool.words.len() - 1;
        let index = pool.words[u.int_in_range(last.saturating_sub(2)..=last)?];
        let bound = b.iconst(Type::I32, if u.ratio(1, 12)? { 0x1f_ffff } else { 0x3f8 });
        let index = b.and(index, bound);
        let align = *u.choose(&[ty.bytes() as u8, 1])?;
        let size = b.iconst(Type::I32, ty.bytes().into());
        let at = if align == 1 { index } else { b.mul(index, size) };
        let at = in_lanes(b, at);
        let wide = b.zero_extend(Type::I64, at);
        let base = b.load_const(0, 0, Type::I64);
        let address = b.add(wide, base);
        let guard = if u.ratio(1, 3)? { Some(*u.choose(&pool.masks)?) } else { None };
        b.set_guard(guard);
        let extend = extend_of(ty, u)?;
        let access = Access { align, ..b.access(Space::Global, ty, count, address, 0) };
        pool.words.extend(b.load_access(access, extend));
        b.set_guard(None);
    }
    Ok(())
}
