//! Loads, stores and atomics.

use arbitrary::{Result, Unstructured};

use super::super::compare::{BUFFER_BYTES, SHARED_BYTES};
use super::{Pool, guarded, named_where, unguarded};
use crate::ir::*;

pub fn memory(b: &mut BlockBuilder<'_>, pool: &mut Pool, u: &mut Unstructured<'_>) -> Result<()> {
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
            if ty == Type::I32 {
                let op = named_where(u, |op: AtomicOp| !op.is_float())?;
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
