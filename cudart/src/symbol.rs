//! Variables of device code by their shadows on the host, and copies from and to them.

use std::ffi::{c_int, c_void};

use crate::api::put;
use crate::copy::{DEFAULT, DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, linear};
use crate::error::{INVALID_MEMCPY_DIRECTION, INVALID_VALUE, Result};
use crate::registry::variable;
use crate::stream::{PER_THREAD, When};

/// The address of a variable's byte at `offset`, with `bytes` bytes behind it.
fn place(symbol: *const c_void, bytes: usize, offset: usize) -> Result<*mut c_void> {
    let variable = variable(symbol)?;
    match offset.checked_add(bytes) {
        Some(end) if end <= variable.bytes => Ok((variable.address()? + offset as u64) as *mut c_void),
        _ => Err(INVALID_VALUE),
    }
}

/// # Safety
///
/// As of a copy.
unsafe fn to(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    when: When,
) -> Result<()> {
    if ![HOST_TO_DEVICE, DEVICE_TO_DEVICE, DEFAULT].contains(&kind) {
        return Err(INVALID_MEMCPY_DIRECTION);
    }
    // SAFETY: the caller's promise
    unsafe { linear(place(symbol, bytes, offset)?, from, bytes, kind, when) }
}

/// # Safety
///
/// As of a copy.
unsafe fn from(
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    when: When,
) -> Result<()> {
    if ![DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT].contains(&kind) {
        return Err(INVALID_MEMCPY_DIRECTION);
    }
    // SAFETY: the caller's promise
    unsafe { linear(to, place(symbol, bytes, offset)?, bytes, kind, when) }
}

api! {
    /// Copies into a variable.
    fn cudaMemcpyToSymbol(symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: c_int) {
        to(symbol, src, count, offset, kind, When::Now)
    }

    /// Copies into a variable.
    fn cudaMemcpyToSymbol_ptds(symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: c_int) {
        to(symbol, src, count, offset, kind, When::After(PER_THREAD))
    }

    /// Copies into a variable, in a stream.
    fn cudaMemcpyToSymbolAsync / cudaMemcpyToSymbolAsync_ptsz(
        symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: c_int; stream
    ) {
        to(symbol, src, count, offset, kind, When::In(stream))
    }

    /// Copies out of a variable.
    fn cudaMemcpyFromSymbol(dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: c_int) {
        from(dst, symbol, count, offset, kind, When::Now)
    }

    /// Copies out of a variable.
    fn cudaMemcpyFromSymbol_ptds(dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: c_int) {
        from(dst, symbol, count, offset, kind, When::After(PER_THREAD))
    }

    /// Copies out of a variable, in a stream.
    fn cudaMemcpyFromSymbolAsync / cudaMemcpyFromSymbolAsync_ptsz(
        dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: c_int; stream
    ) {
        from(dst, symbol, count, offset, kind, When::In(stream))
    }

    /// Where a variable lies in device memory.
    fn cudaGetSymbolAddress(address: *mut *mut c_void, symbol: *const c_void) {
        put(address, variable(symbol)?.address()? as *mut c_void)
    }

    /// A variable's size in bytes.
    fn cudaGetSymbolSize(bytes: *mut usize, symbol: *const c_void) {
        put(bytes, variable(symbol)?.bytes)
    }
}
