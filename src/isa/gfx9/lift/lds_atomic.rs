//! Shared memory (LDS) and the global data share: atomics.
//!
//! Each atomic exists without and with a returned old value, and with the second operand from
//! memory.
//!
//! Source: "Vega" Instruction Set Architecture, "LDS & GDS instructions". An atomic out of range
//! does nothing and finds 0.

use warploom_ir::{Access, AtomicOp, Type, Value};

use super::context::Cx;
use super::lds::{Share, second_address, shared, two_offsets};
use super::vector_memory::{lifts, operand_of, register, write_back};
use super::{Flow, Lifted};
use crate::Instruction;

fn apply(
    cx: &mut Cx<'_>,
    share: Share,
    (address, offset): (Value, u32),
    op: AtomicOp,
    ty: Type,
    value: Value,
    compare: Option<Value>,
) -> Value {
    let (space, address, offset, guard) = share.place(cx, address, offset, ty.bytes());
    let access = cx.b.access(space, ty, 1, address, offset);
    cx.b.atomic(Access { guard: Some(guard), ..access }, op, value, compare)
}

/// The meaning of an atomic's registers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Data {
    /// Only the operand.
    One,
    /// First `compare`, then the operand.
    CompareFirst,
    /// First the operand, then `compare`.
    CompareLast,
}

fn atomic(
    cx: &mut Cx<'_>,
    i: &Instruction,
    ty: Type,
    op: AtomicOp,
    data: Data,
    returns: bool,
) -> Lifted {
    let (ds, share) = shared(cx, i)?;
    let (address, first) = (register(ds.addr)?, register(ds.data0)?);
    let second = if data == Data::One { first } else { register(ds.data1)? };
    let dst = if returns { Some(register(ds.dst)?) } else { None };
    let address = cx.vector(address);
    let (a, b) = (operand_of(cx, ty, first), operand_of(cx, ty, second));
    let (value, compare) = match data {
        Data::One => (a, None),
        Data::CompareFirst => (b, Some(a)),
        Data::CompareLast => (a, Some(b)),
    };
    let old = apply(cx, share, (address, ds.offset().into()), op, ty, value, compare);
    if let Some(dst) = dst {
        write_back(cx, dst, old);
    }
    Ok(Flow::Next)
}

/// Emits an atomic whose operand is in memory, too.
fn atomic_src2(cx: &mut Cx<'_>, i: &Instruction, ty: Type, op: AtomicOp) -> Lifted {
    let (ds, share) = shared(cx, i)?;
    let address = register(ds.addr)?;
    let first = cx.vector(address);
    let second = second_address(cx, &ds, first);
    let (space, second, offset, guard) = share.place(cx, second, 0, ty.bytes());
    let access = cx.b.access(space, ty, 1, second, offset);
    let value = cx
        .b
        .load_access(Access { guard: Some(guard), align: 1, ..access }, warploom_ir::Extend::None)
        [0];
    apply(cx, share, (first, 0), op, ty, value, None);
    Ok(Flow::Next)
}

/// Emits an addition with the mode's treatment of denormals.
fn add_f32(cx: &mut Cx<'_>, i: &Instruction, returns: bool) -> Lifted {
    let flush = cx.mode.flush(Type::F32);
    atomic(cx, i, Type::F32, AtomicOp::FAdd { flush }, Data::One, returns)
}

fn add_f32_src2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let flush = cx.mode.flush(Type::F32);
    atomic_src2(cx, i, Type::F32, AtomicOp::FAdd { flush })
}

/// Emits two exchanges.
fn exchange2(cx: &mut Cx<'_>, i: &Instruction, ty: Type, unit: u32) -> Lifted {
    let (ds, share) = shared(cx, i)?;
    let (address, dst) = (register(ds.addr)?, register(ds.dst)?);
    let data = [register(ds.data0)?, register(ds.data1)?];
    let address = cx.vector(address);
    let values = data.map(|data| operand_of(cx, ty, data));
    let mut old = Vec::new();
    for (offset, value) in two_offsets(&ds, unit).into_iter().zip(values) {
        old.push(apply(cx, share, (address, offset), AtomicOp::Exchange, ty, value, None));
    }
    let words = (ty.bytes() / 4) as u8;
    write_back(cx, dst, old[0]);
    write_back(cx, dst.wrapping_add(words), old[1]);
    Ok(Flow::Next)
}

/// Declares atomics: names without and with a returned value, and with the operand in memory; type
/// and operation.
macro_rules! atomics {
    ($($(#[$doc:meta])* $plain:ident $returns:ident $src2:ident: $ty:ident $op:ident;)*) => {$(
        $(#[$doc])*
        pub fn $plain(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            atomic(cx, i, Type::$ty, AtomicOp::$op, Data::One, false)
        }

        $(#[$doc])*
        pub fn $returns(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            atomic(cx, i, Type::$ty, AtomicOp::$op, Data::One, true)
        }

        $(#[$doc])*
        pub fn $src2(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            atomic_src2(cx, i, Type::$ty, AtomicOp::$op)
        }
    )*};
}

atomics! {
    ds_add_u32 ds_add_rtn_u32 ds_add_src2_u32: I32 Add;
    ds_sub_u32 ds_sub_rtn_u32 ds_sub_src2_u32: I32 Sub;
    ds_rsub_u32 ds_rsub_rtn_u32 ds_rsub_src2_u32: I32 ReverseSub;
    ds_inc_u32 ds_inc_rtn_u32 ds_inc_src2_u32: I32 Inc;
    ds_dec_u32 ds_dec_rtn_u32 ds_dec_src2_u32: I32 Dec;
    ds_min_i32 ds_min_rtn_i32 ds_min_src2_i32: I32 MinS;
    ds_max_i32 ds_max_rtn_i32 ds_max_src2_i32: I32 MaxS;
    ds_min_u32 ds_min_rtn_u32 ds_min_src2_u32: I32 MinU;
    ds_max_u32 ds_max_rtn_u32 ds_max_src2_u32: I32 MaxU;
    ds_and_b32 ds_and_rtn_b32 ds_and_src2_b32: I32 And;
    ds_or_b32 ds_or_rtn_b32 ds_or_src2_b32: I32 Or;
    ds_xor_b32 ds_xor_rtn_b32 ds_xor_src2_b32: I32 Xor;
    /// Approximate: denormals are kept; a number wins against one NaN; -0 is less than +0.
    ds_min_f32 ds_min_rtn_f32 ds_min_src2_f32: F32 FMin;
    /// Approximate: denormals are kept; a number wins against one NaN; -0 is less than +0.
    ds_max_f32 ds_max_rtn_f32 ds_max_src2_f32: F32 FMax;
    ds_add_u64 ds_add_rtn_u64 ds_add_src2_u64: I64 Add;
    ds_sub_u64 ds_sub_rtn_u64 ds_sub_src2_u64: I64 Sub;
    ds_rsub_u64 ds_rsub_rtn_u64 ds_rsub_src2_u64: I64 ReverseSub;
    ds_inc_u64 ds_inc_rtn_u64 ds_inc_src2_u64: I64 Inc;
    ds_dec_u64 ds_dec_rtn_u64 ds_dec_src2_u64: I64 Dec;
    ds_min_i64 ds_min_rtn_i64 ds_min_src2_i64: I64 MinS;
    ds_max_i64 ds_max_rtn_i64 ds_max_src2_i64: I64 MaxS;
    ds_min_u64 ds_min_rtn_u64 ds_min_src2_u64: I64 MinU;
    ds_max_u64 ds_max_rtn_u64 ds_max_src2_u64: I64 MaxU;
    ds_and_b64 ds_and_rtn_b64 ds_and_src2_b64: I64 And;
    ds_or_b64 ds_or_rtn_b64 ds_or_src2_b64: I64 Or;
    ds_xor_b64 ds_xor_rtn_b64 ds_xor_src2_b64: I64 Xor;
    /// Approximate: denormals are kept; a number wins against one NaN; -0 is less than +0.
    ds_min_f64 ds_min_rtn_f64 ds_min_src2_f64: F64 FMin;
    /// Approximate: denormals are kept; a number wins against one NaN; -0 is less than +0.
    ds_max_f64 ds_max_rtn_f64 ds_max_src2_f64: F64 FMax;
}

lifts! {
    /// Approximate: rounded to nearest whatever the mode, a NaN has no payload.
    ds_add_f32: add_f32(false);
    /// Approximate: rounded to nearest whatever the mode, a NaN has no payload.
    ds_add_rtn_f32: add_f32(true);
    /// Approximate: rounded to nearest whatever the mode, a NaN has no payload.
    ds_add_src2_f32: add_f32_src2();
    ds_wrxchg_rtn_b32: atomic(Type::I32, AtomicOp::Exchange, Data::One, true);
    ds_wrxchg_rtn_b64: atomic(Type::I64, AtomicOp::Exchange, Data::One, true);
    ds_wrxchg2_rtn_b32: exchange2(Type::I32, 4);
    ds_wrxchg2_rtn_b64: exchange2(Type::I64, 8);
    ds_wrxchg2st64_rtn_b32: exchange2(Type::I32, 4 * 64);
    ds_wrxchg2st64_rtn_b64: exchange2(Type::I64, 8 * 64);
    ds_mskor_b32: atomic(Type::I32, AtomicOp::MaskedOr, Data::CompareFirst, false);
    ds_mskor_rtn_b32: atomic(Type::I32, AtomicOp::MaskedOr, Data::CompareFirst, true);
    ds_mskor_b64: atomic(Type::I64, AtomicOp::MaskedOr, Data::CompareFirst, false);
    ds_mskor_rtn_b64: atomic(Type::I64, AtomicOp::MaskedOr, Data::CompareFirst, true);
    ds_wrap_rtn_b32: atomic(Type::I32, AtomicOp::Wrap, Data::CompareLast, true);
    ds_cmpst_b32: atomic(Type::I32, AtomicOp::CompareExchange, Data::CompareFirst, false);
    ds_cmpst_rtn_b32: atomic(Type::I32, AtomicOp::CompareExchange, Data::CompareFirst, true);
    ds_cmpst_b64: atomic(Type::I64, AtomicOp::CompareExchange, Data::CompareFirst, false);
    ds_cmpst_rtn_b64: atomic(Type::I64, AtomicOp::CompareExchange, Data::CompareFirst, true);
    ds_cmpst_f32: atomic(Type::F32, AtomicOp::FCompareExchange, Data::CompareFirst, false);
    ds_cmpst_rtn_f32: atomic(Type::F32, AtomicOp::FCompareExchange, Data::CompareFirst, true);
    ds_cmpst_f64: atomic(Type::F64, AtomicOp::FCompareExchange, Data::CompareFirst, false);
    ds_cmpst_rtn_f64: atomic(Type::F64, AtomicOp::FCompareExchange, Data::CompareFirst, true);
}
