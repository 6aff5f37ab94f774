//! Host memory that guest code may race on: it is touched only through relaxed atomics.
//!
//! Rust does not define a race of two threads on one place with accesses of different sizes. The
//! compiler's code generator does: each access is one load or store of the host, as guests expect
//! of racy code.
//!
//! All functions here need memory that stays allocated until they return. Whoever frees it has
//! ended all other uses: launches, whose TLBs hold host addresses, and methods of
//! [`Memory`](super::Memory) on other threads.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

/// Returns the little-endian value of `bytes` (1 to 16) bytes.
///
/// The load is one access if `bytes` is 1, 2, 4 or 8 and the pointer is aligned to it, two accesses
/// for aligned 16, else byte by byte.
///
/// # Safety
/// Until this returns, the bytes stay allocated and readable, and are written through atomics only.
#[inline]
pub(crate) unsafe fn load(pointer: *const u8, bytes: u32) -> u128 {
    let aligned = pointer.addr() & (bytes as usize - 1) == 0;
    // SAFETY: the caller's promise, and each arm has checked its alignment; 16 aligns both halves
    // to 8.
    unsafe {
        match bytes {
            1 => u128::from((*pointer.cast::<AtomicU8>()).load(Relaxed)),
            2 if aligned => u128::from(u16::from_le((*pointer.cast::<AtomicU16>()).load(Relaxed))),
            4 if aligned => u128::from(u32::from_le((*pointer.cast::<AtomicU32>()).load(Relaxed))),
            8 if aligned => u128::from(load_u64(pointer)),
            16 if aligned => {
                u128::from(load_u64(pointer)) | u128::from(load_u64(pointer.add(8))) << 64
            }
            _ => (0..bytes as usize).rev().fold(0, |value, i| {
                value << 8 | u128::from((*pointer.add(i).cast::<AtomicU8>()).load(Relaxed))
            }),
        }
    }
}

/// Stores the low `bytes` bytes of `value`, little endian, by the same accesses as [`load`].
///
/// # Safety
/// Until this returns, the bytes stay allocated and writable, and are touched through atomics only.
#[inline]
pub(crate) unsafe fn store(pointer: *mut u8, bytes: u32, value: u128) {
    let aligned = pointer.addr() & (bytes as usize - 1) == 0;
    // SAFETY: as in `load`.
    unsafe {
        match bytes {
            1 => (*pointer.cast::<AtomicU8>()).store(value as u8, Relaxed),
            2 if aligned => (*pointer.cast::<AtomicU16>()).store((value as u16).to_le(), Relaxed),
            4 if aligned => (*pointer.cast::<AtomicU32>()).store((value as u32).to_le(), Relaxed),
            8 if aligned => store_u64(pointer, value as u64),
            16 if aligned => {
                store_u64(pointer, value as u64);
                store_u64(pointer.add(8), (value >> 64) as u64);
            }
            _ => {
                for i in 0..bytes as usize {
                    (*pointer.add(i).cast::<AtomicU8>()).store((value >> (8 * i)) as u8, Relaxed);
                }
            }
        }
    }
}

/// # Safety
/// As [`load`], and the pointer is aligned to 8.
unsafe fn load_u64(pointer: *const u8) -> u64 {
    // SAFETY: the caller's promise.
    u64::from_le(unsafe { (*pointer.cast::<AtomicU64>()).load(Relaxed) })
}

/// # Safety
/// As [`store`], and the pointer is aligned to 8.
unsafe fn store_u64(pointer: *mut u8, value: u64) {
    // SAFETY: the caller's promise.
    unsafe { (*pointer.cast::<AtomicU64>()).store(value.to_le(), Relaxed) }
}

/// Bytes before the first multiple of 8, at most `length`.
fn head(pointer: *const u8, length: usize) -> usize {
    (pointer.addr().wrapping_neg() & 7).min(length)
}

/// Copies out of guest memory, mostly 8 bytes at a time.
///
/// # Safety
/// As [`load`], for `into.len()` bytes.
pub(crate) unsafe fn copy_out(pointer: *const u8, into: &mut [u8]) {
    let (first, rest) = into.split_at_mut(head(pointer, into.len()));
    let (words, last) = rest.as_chunks_mut::<8>();
    let mut at = pointer;
    // SAFETY: `at` stays within the bytes that the caller promised, and is aligned to 8 after
    // `first`.
    unsafe {
        for byte in first {
            *byte = load(at, 1) as u8;
            at = at.add(1);
        }
        for word in words {
            *word = load_u64(at).to_le_bytes();
            at = at.add(8);
        }
        for byte in last {
            *byte = load(at, 1) as u8;
            at = at.add(1);
        }
    }
}

/// Copies into guest memory, mostly 8 bytes at a time.
///
/// # Safety
/// As [`store`], for `from.len()` bytes.
pub(crate) unsafe fn copy_in(pointer: *mut u8, from: &[u8]) {
    let (first, rest) = from.split_at(head(pointer, from.len()));
    let (words, last) = rest.as_chunks::<8>();
    let mut at = pointer;
    // SAFETY: as in `copy_out`.
    unsafe {
        for &byte in first {
            store(at, 1, u128::from(byte));
            at = at.add(1);
        }
        for word in words {
            store_u64(at, u64::from_le_bytes(*word));
            at = at.add(8);
        }
        for &byte in last {
            store(at, 1, u128::from(byte));
            at = at.add(1);
        }
    }
}

/// Sets bytes of guest memory.
///
/// # Safety
/// As [`store`], for `bytes` bytes.
pub(crate) unsafe fn fill(pointer: *mut u8, bytes: usize, value: u8) {
    let pattern = [value; 256];
    let mut done = 0;
    while done < bytes {
        let step = (bytes - done).min(pattern.len());
        // SAFETY: within the bytes that the caller promised.
        unsafe { copy_in(pointer.add(done), &pattern[..step]) };
        done += step;
    }
}
