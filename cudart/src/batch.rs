//! Batches of copies, and copies that state when their source may be read. CUDA 11 has neither.
//!
//! The structures have the driver's layouts.

#[cfg(runtime = "13")]
use std::ffi::c_int;
use std::ffi::{c_ulonglong, c_void};

use crate::api::api;
use crate::context::enter;
use crate::driver;
#[cfg(runtime = "13")]
use crate::types::Handle;
use crate::types::Stream;

#[cfg(runtime = "12")]
api! {
    /// Copies ranges. On an error `failed` names the range, if the driver reports it.
    fn cudaMemcpyBatchAsync(
        to: *mut *mut c_void, from: *mut *mut c_void, sizes: *mut usize, count: usize, attributes: *mut c_void, starts: *mut usize,
        number: usize, failed: *mut usize, stream: Stream,
    ) / ptsz(stream) {
        enter()?;
        driver::cuMemcpyBatchAsync(to, from, sizes, count, attributes, starts, number, failed, stream)
    }

    /// Copies boxes. On an error `failed` names the box, if the driver reports it.
    fn cudaMemcpy3DBatchAsync(
        count: usize, list: *mut c_void, failed: *mut usize, flags: c_ulonglong, stream: Stream,
    ) / ptsz(stream) {
        enter()?;
        driver::cuMemcpy3DBatchAsync(count, list, failed, flags, stream)
    }
}

#[cfg(runtime = "13")]
api! {
    /// Copies ranges.
    fn cudaMemcpyBatchAsync(
        to: *mut *mut c_void, from: *mut *mut c_void, sizes: *mut usize, count: usize, attributes: *mut c_void, starts: *mut usize,
        number: usize, stream: Stream,
    ) / ptsz(stream) {
        enter()?;
        driver::cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, starts, number, stream)
    }

    /// Copies boxes.
    fn cudaMemcpy3DBatchAsync(count: usize, list: *mut c_void, flags: c_ulonglong, stream: Stream) / ptsz(stream) {
        enter()?;
        driver::cuMemcpy3DBatchAsync_v2(count, list, flags, stream)
    }

    /// Copies a range.
    fn cudaMemcpyWithAttributesAsync(
        to: *mut c_void, from: *const c_void, bytes: usize, attributes: *mut c_void, stream: Stream,
    ) / ptsz(stream) {
        enter()?;
        driver::cuMemcpyWithAttributesAsync(to, from, bytes, attributes, stream)
    }

    /// Copies a box.
    fn cudaMemcpy3DWithAttributesAsync(copy: *mut c_void, flags: c_ulonglong, stream: Stream) / ptsz(stream) {
        enter()?;
        driver::cuMemcpy3DWithAttributesAsync(copy, flags, stream)
    }

    /// Moves managed ranges.
    fn cudaMemPrefetchBatchAsync(
        pointers: *mut *mut c_void, sizes: *mut usize, count: usize, places: *mut c_void, starts: *mut usize, number: usize,
        flags: c_ulonglong, stream: Stream,
    ) / ptsz(stream) {
        enter()?;
        driver::cuMemPrefetchBatchAsync(pointers, sizes, count, places, starts, number, flags, stream)
    }

    /// Discards the content of managed ranges, which nobody needs.
    fn cudaMemDiscardBatchAsync(
        pointers: *mut *mut c_void, sizes: *mut usize, count: usize, flags: c_ulonglong, stream: Stream,
    ) / ptsz(stream) {
        enter()?;
        driver::cuMemDiscardBatchAsync(pointers, sizes, count, flags, stream)
    }

    /// Discards the content of managed ranges and moves the ranges.
    fn cudaMemDiscardAndPrefetchBatchAsync(
        pointers: *mut *mut c_void, sizes: *mut usize, count: usize, places: *mut c_void, starts: *mut usize, number: usize,
        flags: c_ulonglong, stream: Stream,
    ) / ptsz(stream) {
        enter()?;
        driver::cuMemDiscardAndPrefetchBatchAsync(pointers, sizes, count, places, starts, number, flags, stream)
    }

    /// Gets the default memory pool of a location.
    fn cudaMemGetDefaultMemPool(pool: *mut Handle, place: *mut c_void, kind: c_int) {
        enter()?;
        driver::cuMemGetDefaultMemPool(pool, place, kind)
    }

    /// Gets the current memory pool of a location.
    fn cudaMemGetMemPool(pool: *mut Handle, place: *mut c_void, kind: c_int) {
        enter()?;
        driver::cuMemGetMemPool(pool, place, kind)
    }

    /// Sets the current memory pool of a location.
    fn cudaMemSetMemPool(place: *mut c_void, kind: c_int, pool: Handle) {
        enter()?;
        driver::cuMemSetMemPool(place, kind, pool)
    }
}
