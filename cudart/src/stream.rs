//! Streams, and the times at which operations happen.

use std::ffi::{c_int, c_uint, c_void};

use crate::api::{api, required};
use crate::context::{enter, primary};
use crate::driver;
use crate::error::Result;
use crate::types::{DevicePointer, Handle, HostFunction, Stream, StreamCallback};

/// The default stream of the calling thread.
pub const PER_THREAD: Stream = std::ptr::without_provenance_mut(2);

/// Returns the stream that a function with a default stream per thread uses for `stream`.
pub fn per_thread(stream: Stream) -> Stream {
    if stream.is_null() { PER_THREAD } else { stream }
}

/// The time at which an operation happens.
#[derive(Clone, Copy)]
pub enum When {
    /// Before the call returns, in the order of the legacy default stream.
    Now,
    /// Before the call returns, after the work of this stream.
    After(Stream),
    /// In order in this stream.
    In(Stream),
}

impl When {
    /// Does an operation: `now` without a stream, else `queued` in a stream. Waits for `queued` if
    /// the operation has to end before the call returns.
    pub fn run(
        self,
        now: impl FnOnce() -> Result<()>,
        queued: impl FnOnce(Stream) -> Result<()>,
    ) -> Result<()> {
        enter()?;
        match self {
            When::Now => now(),
            When::In(stream) => queued(stream),
            When::After(stream) => {
                queued(stream)?;
                // SAFETY: the driver just took this stream
                unsafe { driver::cuStreamSynchronize(stream) }
            }
        }
    }
}

/// # Safety
///
/// The pointer is null or valid for a write.
unsafe fn create(stream: *mut Stream, flags: c_uint, priority: c_int) -> Result<()> {
    enter()?;
    required(stream)?;
    // SAFETY: the pointer is not null, and the caller promises the rest
    unsafe { driver::cuStreamCreateWithPriority(stream, flags, priority) }
}

api! {
    /// Makes a stream that waits for the legacy default stream.
    fn cudaStreamCreate(stream: *mut Stream) {
        create(stream, 0, 0)
    }

    /// Makes a stream with flags.
    fn cudaStreamCreateWithFlags(stream: *mut Stream, flags: c_uint) {
        create(stream, flags, 0)
    }

    /// Makes a stream with flags and a priority.
    fn cudaStreamCreateWithPriority(stream: *mut Stream, flags: c_uint, priority: c_int) {
        create(stream, flags, priority)
    }

    /// Destroys a stream. The work in it still runs.
    fn cudaStreamDestroy(stream: Stream) {
        driver::cuStreamDestroy_v2(stream)
    }

    /// Waits until all work in a stream is done.
    fn cudaStreamSynchronize(stream: Stream) / ptsz(stream) {
        enter()?;
        driver::cuStreamSynchronize(stream)
    }

    /// Returns success if all work in a stream is done, else `cudaErrorNotReady`.
    fn cudaStreamQuery(stream: Stream) / ptsz(stream) {
        enter()?;
        driver::cuStreamQuery(stream)
    }

    /// Gets the flags with which a stream was made.
    fn cudaStreamGetFlags(stream: Stream, flags: *mut c_uint) / ptsz(stream) {
        enter()?;
        driver::cuStreamGetFlags(stream, flags)
    }

    /// Gets a stream's priority.
    fn cudaStreamGetPriority(stream: Stream, priority: *mut c_int) / ptsz(stream) {
        enter()?;
        driver::cuStreamGetPriority(stream, priority)
    }

    /// Gets a number that no other stream has.
    #[cfg(not(runtime = "11"))]
    fn cudaStreamGetId(stream: Stream, id: *mut std::ffi::c_ulonglong) / ptsz(stream) {
        enter()?;
        driver::cuStreamGetId(stream, id)
    }

    /// Gets the device of a stream.
    #[cfg(not(runtime = "11"))]
    fn cudaStreamGetDevice(stream: Stream, device: *mut c_int) / ptsz(stream) {
        enter()?;
        driver::cuStreamGetDevice(stream, device)
    }

    /// Makes a stream wait for an event.
    fn cudaStreamWaitEvent(stream: Stream, event: Handle, flags: c_uint) / ptsz(stream) {
        enter()?;
        driver::cuStreamWaitEvent(stream, event, flags)
    }

    /// Calls a function of the host when all earlier work in the stream is done.
    fn cudaStreamAddCallback(stream: Stream, callback: StreamCallback, data: *mut c_void, flags: c_uint) / ptsz(stream) {
        enter()?;
        driver::cuStreamAddCallback(stream, callback, data, flags)
    }

    /// Calls a function of the host in a stream. `mode` states how the stream waits for it.
    #[cfg(runtime = "13")]
    fn cudaLaunchHostFunc_v2(stream: Stream, function: HostFunction, data: *mut c_void, mode: c_uint) / ptsz(stream) {
        enter()?;
        driver::cuLaunchHostFunc_v2(stream, function, data, mode)
    }

    /// Calls a function of the host in a stream.
    fn cudaLaunchHostFunc(stream: Stream, function: HostFunction, data: *mut c_void) / ptsz(stream) {
        enter()?;
        driver::cuLaunchHostFunc(stream, function, data)
    }

    /// Sets which stream uses managed memory.
    fn cudaStreamAttachMemAsync(stream: Stream, pointer: *mut c_void, bytes: usize, flags: c_uint) / ptsz(stream) {
        enter()?;
        driver::cuStreamAttachMemAsync(stream, pointer as DevicePointer, bytes, flags)
    }

    /// Gets one of a stream's attributes.
    fn cudaStreamGetAttribute(stream: Stream, attribute: c_int, value: *mut c_void) / ptsz(stream) {
        enter()?;
        driver::cuStreamGetAttribute(stream, attribute, value)
    }

    /// Sets one of a stream's attributes.
    fn cudaStreamSetAttribute(stream: Stream, attribute: c_int, value: *const c_void) / ptsz(stream) {
        enter()?;
        driver::cuStreamSetAttribute(stream, attribute, value)
    }

    /// Copies a stream's attributes to another stream.
    fn cudaStreamCopyAttributes(to: Stream, from: Stream) {
        enter()?;
        driver::cuStreamCopyAttributes(to, from)
    }

    /// Copies a stream's attributes to another stream. A null stream is the thread's own.
    fn cudaStreamCopyAttributes_ptsz(to: Stream, from: Stream) {
        enter()?;
        driver::cuStreamCopyAttributes(per_thread(to), per_thread(from))
    }

    /// Gets the range of priorities that streams can have.
    fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        enter()?;
        driver::cuCtxGetStreamPriorityRange(least, greatest)
    }

    /// Lets the current device access another device's memory.
    fn cudaDeviceEnablePeerAccess(peer: c_int, flags: c_uint) {
        enter()?;
        driver::cuCtxEnablePeerAccess(primary(peer)?, flags)
    }

    /// Ends the current device's access to another device's memory.
    fn cudaDeviceDisablePeerAccess(peer: c_int) {
        enter()?;
        driver::cuCtxDisablePeerAccess(primary(peer)?)
    }
}
