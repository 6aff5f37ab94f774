//! Atomic operations on guest memory in host memory, and their definitions.
//!
//! Each operation is one atomic read-modify-write of the host: the host's own instruction if there
//! is one, else a compare-and-swap loop. All operations are sequentially consistent, as in compiled
//! code.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use half::{bf16, f16};

use crate::mbarrier::{CountingBarrier, MemoryBarrier};

/// Type of the memory cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicType {
    I8,
    I16,
    I32,
    I64,
    F16,
    /// Two halves in one 4-byte cell. The operation applies to each half.
    F16x2,
    Bf16,
    /// Two bfloat16 numbers, as in `F16x2`.
    Bf16x2,
    F32,
    F64,
}

impl AtomicType {
    /// Returns the size of the cell in bytes, which is also the alignment that it needs.
    pub const fn bytes(self) -> u32 {
        match self {
            AtomicType::I8 => 1,
            AtomicType::I16 | AtomicType::F16 | AtomicType::Bf16 => 2,
            AtomicType::I32 | AtomicType::F16x2 | AtomicType::Bf16x2 | AtomicType::F32 => 4,
            AtomicType::I64 | AtomicType::F64 => 8,
        }
    }
}

/// The value that an atomic stores for the memory value `m` and its operand `b`. All operations
/// return the old `m`.
///
/// The integer operations (all but `FAdd`, `FMin`, `FMax` and `FCompareExchange`) take the cell of
/// a float type as an integer. The float operations take the cell of an integer type as a float of
/// that size (8 bits: no sensible result).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicKind {
    Add,
    Sub,
    MinS,
    MinU,
    MaxS,
    MaxU,
    And,
    Or,
    Xor,
    Exchange,
    /// m >= b ? 0 : m + 1 (unsigned).
    Inc,
    /// m == 0 || m > b ? b : m - 1 (unsigned).
    Dec,
    /// Advances the put pointer of a circular queue if there is room.
    ///
    /// The lower half of `m` is the put pointer, the upper half the get pointer; both count on for
    /// ever. The lower half of `b` is the increment, the upper half the queue's capacity.
    SafeAdd,
    /// m == compare ? b : m, by bits.
    CompareExchange,
    /// b - m
    ReverseSub,
    /// m & !compare | b
    MaskedOr,
    /// m >= b ? m - b : m + compare (unsigned).
    Wrap,
    /// m + b, rounded to nearest even. A NaN result has the bits `nan` (of one element). With
    /// `flush` denormal operands and results become zeros of the same sign.
    FAdd {
        flush: bool,
        nan: u64,
    },
    /// minNum (`FMax`: maxNum). If one operand is a NaN, the result is the other operand. If both
    /// are, the result has the bits `nan`. -0 is less than +0.
    FMin {
        nan: u64,
    },
    FMax {
        nan: u64,
    },
    /// As `CompareExchange`, but compared as floats: zeros are equal, a NaN equals nothing.
    FCompareExchange,
    /// `b` threads and `compare` bytes (both signed) arrive at a [`MemoryBarrier`]. With `drop`,
    /// later phases await fewer threads.
    Arrive {
        drop: bool,
    },
    /// `b` threads arrive at a [`CountingBarrier`].
    ArriveCounting,
}

/// Does the operation on the cell at `pointer` and returns the old value, zero-extended.
///
/// Only the low bits of operands count. `compare` is the second operand of operations with two.
///
/// # Safety
/// The cell is aligned to its size. Until this returns, it stays allocated, readable and writable,
/// and is touched through atomics only.
#[inline]
pub(crate) unsafe fn apply_at(
    pointer: *mut u8,
    ty: AtomicType,
    kind: AtomicKind,
    value: u64,
    compare: u64,
) -> u64 {
    macro_rules! on_cell {
        ($atomic:ty, $unsigned:ty) => {{
            // SAFETY: the caller's promise.
            let cell = unsafe { &*pointer.cast::<$atomic>() };
            let b = value as $unsigned;
            let old = match kind {
                AtomicKind::Add => cell.fetch_add(b, SeqCst),
                AtomicKind::Sub => cell.fetch_sub(b, SeqCst),
                AtomicKind::MinU => cell.fetch_min(b, SeqCst),
                AtomicKind::MaxU => cell.fetch_max(b, SeqCst),
                AtomicKind::And => cell.fetch_and(b, SeqCst),
                AtomicKind::Or => cell.fetch_or(b, SeqCst),
                AtomicKind::Xor => cell.fetch_xor(b, SeqCst),
                AtomicKind::Exchange => cell.swap(b, SeqCst),
                AtomicKind::CompareExchange => {
                    let (Ok(old) | Err(old)) =
                        cell.compare_exchange(compare as $unsigned, b, SeqCst, SeqCst);
                    old
                }
                _ => {
                    let mut old = cell.load(Relaxed);
                    loop {
                        let new = compute(ty, kind, u64::from(old), value, compare) as $unsigned;
                        match cell.compare_exchange_weak(old, new, SeqCst, Relaxed) {
                            Ok(_) => break old,
                            Err(now) => old = now,
                        }
                    }
                }
            };
            u64::from(old)
        }};
    }
    match ty.bytes() {
        1 => on_cell!(AtomicU8, u8),
        2 => on_cell!(AtomicU16, u16),
        4 => on_cell!(AtomicU32, u32),
        _ => on_cell!(AtomicU64, u64),
    }
}

/// Returns the value that the operation stores: the definition of every [`AtomicKind`].
///
/// Only the low bits of operands count, as many as `ty` has. The result has no other bits.
pub fn compute(ty: AtomicType, kind: AtomicKind, m: u64, b: u64, compare: u64) -> u64 {
    let bits = 8 * ty.bytes();
    let mask = u64::MAX >> (64 - bits);
    let (m, b, compare) = (m & mask, b & mask, compare & mask);
    let signed = |value: u64| (value << (64 - bits)) as i64;
    let result = match kind {
        AtomicKind::Add => m.wrapping_add(b),
        AtomicKind::Sub => m.wrapping_sub(b),
        AtomicKind::MinS => {
            if signed(b) < signed(m) {
                b
            } else {
                m
            }
        }
        AtomicKind::MaxS => {
            if signed(b) > signed(m) {
                b
            } else {
                m
            }
        }
        AtomicKind::MinU => m.min(b),
        AtomicKind::MaxU => m.max(b),
        AtomicKind::And => m & b,
        AtomicKind::Or => m | b,
        AtomicKind::Xor => m ^ b,
        AtomicKind::Exchange => b,
        AtomicKind::Inc => {
            if m >= b {
                0
            } else {
                m + 1
            }
        }
        AtomicKind::Dec => {
            if m == 0 || m > b {
                b
            } else {
                m - 1
            }
        }
        AtomicKind::SafeAdd => {
            let half = bits / 2;
            let low = mask >> half;
            let filled = (m & low).wrapping_sub(m >> half) & low;
            if filled + (b & low) <= b >> half { m & !low | m.wrapping_add(b) & low } else { m }
        }
        AtomicKind::CompareExchange => {
            if m == compare {
                b
            } else {
                m
            }
        }
        AtomicKind::ReverseSub => b.wrapping_sub(m),
        AtomicKind::MaskedOr => m & !compare | b,
        AtomicKind::Wrap => {
            if m >= b {
                m - b
            } else {
                m.wrapping_add(compare)
            }
        }
        AtomicKind::Arrive { drop } => MemoryBarrier(m).arrive(b as i64, compare as i64, drop).0,
        AtomicKind::ArriveCounting => CountingBarrier(m).arrive(b as u32).0,
        AtomicKind::FAdd { .. }
        | AtomicKind::FMin { .. }
        | AtomicKind::FMax { .. }
        | AtomicKind::FCompareExchange => match ty {
            AtomicType::F64 | AtomicType::I64 => float(kind, &DOUBLE, m, b, compare),
            AtomicType::F32 | AtomicType::I32 => float(kind, &SINGLE, m, b, compare),
            AtomicType::F16 | AtomicType::I16 | AtomicType::I8 => float(kind, &HALF, m, b, compare),
            AtomicType::Bf16 => float(kind, &BRAIN, m, b, compare),
            AtomicType::F16x2 | AtomicType::Bf16x2 => {
                let format = if ty == AtomicType::F16x2 { &HALF } else { &BRAIN };
                let half = |shift: u32| {
                    float(
                        kind,
                        format,
                        m >> shift & 0xffff,
                        b >> shift & 0xffff,
                        compare >> shift & 0xffff,
                    )
                };
                half(0) | half(16) << 16
            }
        },
    };
    result & mask
}

/// A float format: its sign bit, the bits of infinity, and its addition.
struct Format {
    sign: u64,
    infinity: u64,
    /// The least normal number.
    normal: u64,
    add: fn(u64, u64) -> u64,
}

const HALF: Format = Format {
    sign: 1 << 15,
    infinity: 0x7c00,
    normal: 0x0400,
    // Rounding to 24 bits and then to 11 equals rounding once, since 24 >= 2 * 11 + 2.
    add: |a, b| {
        u64::from(
            f16::from_f32(f16::from_bits(a as u16).to_f32() + f16::from_bits(b as u16).to_f32())
                .to_bits(),
        )
    },
};
const BRAIN: Format = Format {
    sign: 1 << 15,
    infinity: 0x7f80,
    normal: 0x0080,
    // As above: 24 >= 2 * 8 + 2.
    add: |a, b| {
        u64::from(
            bf16::from_f32(bf16::from_bits(a as u16).to_f32() + bf16::from_bits(b as u16).to_f32())
                .to_bits(),
        )
    },
};
const SINGLE: Format = Format {
    sign: 1 << 31,
    infinity: 0x7f80_0000,
    normal: 0x0080_0000,
    add: |a, b| u64::from((f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits()),
};
const DOUBLE: Format = Format {
    sign: 1 << 63,
    infinity: 0x7ff0_0000_0000_0000,
    normal: 0x0010_0000_0000_0000,
    add: |a, b| (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
};

impl Format {
    fn is_nan(&self, a: u64) -> bool {
        a & !self.sign > self.infinity
    }

    fn flush(&self, a: u64) -> u64 {
        if a & !self.sign < self.normal { a & self.sign } else { a }
    }

    /// Maps floats that are not NaN to integers in the same order, -0 below +0.
    fn rank(&self, a: u64) -> i64 {
        let magnitude = (a & !self.sign) as i64;
        if a & self.sign != 0 { !magnitude } else { magnitude }
    }
}

/// The float operations on one element.
fn float(kind: AtomicKind, format: &Format, m: u64, b: u64, compare: u64) -> u64 {
    let least = |nan: u64, m_wins: bool| match (format.is_nan(m), format.is_nan(b)) {
        (true, true) => nan,
        (true, false) => b,
        (false, true) => m,
        (false, false) => {
            if m_wins {
                m
            } else {
                b
            }
        }
    };
    let result = match kind {
        AtomicKind::FAdd { flush, nan } => {
            let flushed = |a| if flush { format.flush(a) } else { a };
            let sum = flushed((format.add)(flushed(m), flushed(b)));
            if format.is_nan(sum) { nan } else { sum }
        }
        AtomicKind::FMin { nan } => least(nan, format.rank(m) <= format.rank(b)),
        AtomicKind::FMax { nan } => least(nan, format.rank(m) >= format.rank(b)),
        _ => {
            let zeros = (m | compare) & !format.sign == 0;
            let equal = zeros || m == compare && !format.is_nan(m);
            if equal { b } else { m }
        }
    };
    result & (format.sign | (format.sign - 1))
}

#[cfg(test)]
mod tests;
