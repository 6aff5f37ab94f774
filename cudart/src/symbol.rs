//! Device variables, which host code names by their shadows, and copies from and to them.

use std::ffi::{c_int, c_void};

use crate::api::{api, put};
use crate::copy::{
    DEFAULT, DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, described_range, linear,
};
use crate::error::{INVALID_MEMCPY_DIRECTION, INVALID_VALUE, Result};
use crate::registry::variable;
use crate::stream::When;
use crate::types::{Copy3D, Stream};

/// Returns the address of a variable's byte at `offset`, if the variable has `bytes` bytes from
/// there.
fn place(symbol: *const c_void, bytes: usize, offset: usize) -> Result<*mut c_void> {
    let variable = variable(symbol)?;
    match offset.checked_add(bytes) {
        Some(end) if end <= variable.bytes => {
            Ok((variable.address()? + offset as u64) as *mut c_void)
        }
        _ => Err(INVALID_VALUE),
    }
}

/// Allowed directions of copies into a variable, and of copies out of a variable.
const INTO: [c_int; 3] = [HOST_TO_DEVICE, DEVICE_TO_DEVICE, DEFAULT];
const OUT_OF: [c_int; 3] = [DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT];

fn check(kind: c_int, allowed: [c_int; 3]) -> Result<()> {
    if allowed.contains(&kind) { Ok(()) } else { Err(INVALID_MEMCPY_DIRECTION) }
}

/// # Safety
///
/// The contract of a copy.
unsafe fn to(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    when: When,
) -> Result<()> {
    check(kind, INTO)?;
    // SAFETY: the caller's promise
    unsafe { linear(place(symbol, bytes, offset)?, from, bytes, kind, when) }
}

/// # Safety
///
/// The contract of a copy.
unsafe fn from(
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    when: When,
) -> Result<()> {
    check(kind, OUT_OF)?;
    // SAFETY: the caller's promise
    unsafe { linear(to, place(symbol, bytes, offset)?, bytes, kind, when) }
}

/// Describes a copy into a variable, for a node of a graph.
pub fn described_to(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> Result<Copy3D> {
    check(kind, INTO)?;
    described_range(place(symbol, bytes, offset)?, from, bytes, kind)
}

/// Describes a copy out of a variable, for a node of a graph.
pub fn described_from(
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> Result<Copy3D> {
    check(kind, OUT_OF)?;
    described_range(to, place(symbol, bytes, offset)?, bytes, kind)
}

api! {
    /// Copies into a variable.
    fn cudaMemcpyToSymbol(symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: c_int) / ptds(when) {
        to(symbol, src, count, offset, kind, when)
    }

    /// Copies into a variable, in a stream.
    fn cudaMemcpyToSymbolAsync(
        symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: c_int, stream: Stream,
    ) / ptsz(stream) {
        to(symbol, src, count, offset, kind, When::In(stream))
    }

    /// Copies out of a variable.
    fn cudaMemcpyFromSymbol(dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: c_int) / ptds(when) {
        from(dst, symbol, count, offset, kind, when)
    }

    /// Copies out of a variable, in a stream.
    fn cudaMemcpyFromSymbolAsync(
        dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: c_int, stream: Stream,
    ) / ptsz(stream) {
        from(dst, symbol, count, offset, kind, When::In(stream))
    }

    /// Gets a variable's address in device memory.
    fn cudaGetSymbolAddress(address: *mut *mut c_void, symbol: *const c_void) {
        put(address, variable(symbol)?.address()? as *mut c_void)
    }

    /// Gets a variable's size in bytes.
    fn cudaGetSymbolSize(bytes: *mut usize, symbol: *const c_void) {
        put(bytes, variable(symbol)?.bytes)
    }
}
