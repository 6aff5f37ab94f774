//! Streams, and when an operation happens.

use std::ffi::{c_int, c_uint, c_void};

use crate::api::{api, required};
use crate::context::{enter, primary};
use crate::driver;
use crate::error::Result;
use crate::types::{DevicePointer, Handle, HostFunction, Stream, StreamCallback};

/// The default stream of the calling thread.
pub const PER_THREAD: Stream = std::ptr::without_provenance_mut(2);

/// The stream that a function for programs with a default stream for each thread means.
pub fn per_thread(stream: Stream) -> Stream {
    if stream.is_null() { PER_THREAD } else { stream }
}

/// When an operation happens.
#[derive(Clone, Copy)]
pub enum When {
    /// Before the call returns, ordered as the legacy default stream is.
    Now,
    /// Before the call returns, after what is in this stream.
    After(Stream),
    /// In order in this stream.
    In(Stream),
}

impl When {
    /// Does an operation: `now` without a stream, else `queued` in one, for which it waits if it has to.
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
                // SAFETY: a stream that the driver just took
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
    // SAFETY: not null, and the caller's promise
    unsafe { driver::cuStreamCreateWithPriority(stream, flags, priority) }
}

api! {
    /// A new stream that waits for the legacy default stream.
    fn cudaStreamCreate(stream: *mut Stream) {
        create(stream, 0, 0)
    }

    /// A new stream with flags.
    fn cudaStreamCreateWithFlags(stream: *mut Stream, flags: c_uint) {
        create(stream, flags, 0)
    }

    /// A new stream with flags and a priority.
    fn cudaStreamCreateWithPriority(stream: *mut Stream, flags: c_uint, priority: c_int) {
        create(stream, flags, priority)
    }

    /// Destroys a stream; what is in it is still done.
    fn cudaStreamDestroy(stream: Stream) {
        driver::cuStreamDestroy_v2(stream)
    }

    /// Waits until all in a stream is done.
    fn cudaStreamSynchronize(stream: Stream) / ptsz(stream) {
        enter()?;
        driver::cuStreamSynchronize(stream)
    }

    /// Whether all in a stream is done: else `cudaErrorNotReady`.
    fn cudaStreamQuery(stream: Stream) / ptsz(stream) {
        enter()?;
        driver::cuStreamQuery(stream)
    }

    /// What a stream was made with.
    fn cudaStreamGetFlags(stream: Stream, flags: *mut c_uint) / ptsz(stream) {
        enter()?;
        driver::cuStreamGetFlags(stream, flags)
    }

    /// A stream's priority.
    fn cudaStreamGetPriority(stream: Stream, priority: *mut c_int) / ptsz(stream) {
        enter()?;
        driver::cuStreamGetPriority(stream, priority)
    }

    /// A number that no other stream has.
    #[cfg(not(runtime = "11"))]
    fn cudaStreamGetId(stream: Stream, id: *mut std::ffi::c_ulonglong) / ptsz(stream) {
        enter()?;
        driver::cuStreamGetId(stream, id)
    }

    /// The device that a stream is of.
    #[cfg(not(runtime = "11"))]
    fn cudaStreamGetDevice(stream: Stream, device: *mut c_int) / ptsz(stream) {
        enter()?;
        driver::cuStreamGetDevice(stream, device)
    }

    /// Lets a stream wait for an event.
    fn cudaStreamWaitEvent(stream: Stream, event: Handle, flags: c_uint) / ptsz(stream) {
        enter()?;
        driver::cuStreamWaitEvent(stream, event, flags)
    }

    /// Calls a function of the host when all before it in the stream is done.
    fn cudaStreamAddCallback(stream: Stream, callback: StreamCallback, data: *mut c_void, flags: c_uint) / ptsz(stream) {
        enter()?;
        driver::cuStreamAddCallback(stream, callback, data, flags)
    }

    /// Calls a function of the host in a stream, and says how the stream waits for it.
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

    /// Says which stream uses managed memory.
    fn cudaStreamAttachMemAsync(stream: Stream, pointer: *mut c_void, bytes: usize, flags: c_uint) / ptsz(stream) {
        enter()?;
        driver::cuStreamAttachMemAsync(stream, pointer as DevicePointer, bytes, flags)
    }

    /// One of a stream's attributes.
    fn cudaStreamGetAttribute(stream: Stream, attribute: c_int, value: *mut c_void) / ptsz(stream) {
        enter()?;
        driver::cuStreamGetAttribute(stream, attribute, value)
    }

    /// Sets one of a stream's attributes.
    fn cudaStreamSetAttribute(stream: Stream, attribute: c_int, value: *const c_void) / ptsz(stream) {
        enter()?;
        driver::cuStreamSetAttribute(stream, attribute, value)
    }

    /// Copies a stream's attributes to another.
    fn cudaStreamCopyAttributes(to: Stream, from: Stream) {
        enter()?;
        driver::cuStreamCopyAttributes(to, from)
    }

    /// Copies a stream's attributes to another. Either may be the thread's own.
    fn cudaStreamCopyAttributes_ptsz(to: Stream, from: Stream) {
        enter()?;
        driver::cuStreamCopyAttributes(per_thread(to), per_thread(from))
    }

    /// The range of priorities that streams can have.
    fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        enter()?;
        driver::cuCtxGetStreamPriorityRange(least, greatest)
    }

    /// Lets the current device reach another's memory.
    fn cudaDeviceEnablePeerAccess(peer: c_int, flags: c_uint) {
        enter()?;
        driver::cuCtxEnablePeerAccess(primary(peer)?, flags)
    }

    /// Takes that back.
    fn cudaDeviceDisablePeerAccess(peer: c_int) {
        enter()?;
        driver::cuCtxDisablePeerAccess(primary(peer)?)
    }
}
