//! Streams, and when an operation happens.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::ptr::null_mut;

use crate::api::put;
use crate::context::{enter, primary};
use crate::driver;
use crate::error::{INVALID_VALUE, NOT_SUPPORTED, Result};
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
    pub fn run(self, now: impl FnOnce() -> Result<()>, queued: impl FnOnce(Stream) -> Result<()>) -> Result<()> {
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
    if stream.is_null() {
        return Err(INVALID_VALUE);
    }
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
    fn cudaStreamSynchronize / cudaStreamSynchronize_ptsz(; stream) {
        enter()?;
        driver::cuStreamSynchronize(stream)
    }

    /// Whether all in a stream is done: else `cudaErrorNotReady`.
    fn cudaStreamQuery / cudaStreamQuery_ptsz(; stream) {
        enter()?;
        driver::cuStreamQuery(stream)
    }

    /// What a stream was made with.
    fn cudaStreamGetFlags(stream: Stream, flags: *mut c_uint) {
        enter()?;
        driver::cuStreamGetFlags(stream, flags)
    }

    /// What a stream was made with.
    fn cudaStreamGetFlags_ptsz(stream: Stream, flags: *mut c_uint) {
        enter()?;
        driver::cuStreamGetFlags(per_thread(stream), flags)
    }

    /// A stream's priority.
    fn cudaStreamGetPriority(stream: Stream, priority: *mut c_int) {
        enter()?;
        driver::cuStreamGetPriority(stream, priority)
    }

    /// A stream's priority.
    fn cudaStreamGetPriority_ptsz(stream: Stream, priority: *mut c_int) {
        enter()?;
        driver::cuStreamGetPriority(per_thread(stream), priority)
    }

    /// A number that no other stream has.
    fn cudaStreamGetId(stream: Stream, id: *mut c_ulonglong) {
        enter()?;
        driver::cuStreamGetId(stream, id)
    }

    /// A number that no other stream has.
    fn cudaStreamGetId_ptsz(stream: Stream, id: *mut c_ulonglong) {
        enter()?;
        driver::cuStreamGetId(per_thread(stream), id)
    }

    /// The device that a stream is of: the current one, since streams of others are not current.
    fn cudaStreamGetDevice(_stream: Stream, device: *mut c_int) {
        put(device, crate::context::current_device()?)
    }

    /// Lets a stream wait for an event.
    fn cudaStreamWaitEvent(stream: Stream, event: Handle, flags: c_uint) {
        enter()?;
        driver::cuStreamWaitEvent(stream, event, flags)
    }

    /// Lets a stream wait for an event.
    fn cudaStreamWaitEvent_ptsz(stream: Stream, event: Handle, flags: c_uint) {
        enter()?;
        driver::cuStreamWaitEvent(per_thread(stream), event, flags)
    }

    /// Calls a function of the host when all before it in the stream is done.
    fn cudaStreamAddCallback(stream: Stream, callback: StreamCallback, data: *mut c_void, flags: c_uint) {
        enter()?;
        driver::cuStreamAddCallback(stream, callback, data, flags)
    }

    /// Calls a function of the host when all before it in the stream is done.
    fn cudaStreamAddCallback_ptsz(stream: Stream, callback: StreamCallback, data: *mut c_void, flags: c_uint) {
        enter()?;
        driver::cuStreamAddCallback(per_thread(stream), callback, data, flags)
    }

    /// Calls a function of the host in a stream.
    fn cudaLaunchHostFunc(stream: Stream, function: HostFunction, data: *mut c_void) {
        enter()?;
        driver::cuLaunchHostFunc(stream, function, data)
    }

    /// Calls a function of the host in a stream.
    fn cudaLaunchHostFunc_ptsz(stream: Stream, function: HostFunction, data: *mut c_void) {
        enter()?;
        driver::cuLaunchHostFunc(per_thread(stream), function, data)
    }

    /// Says which stream uses managed memory.
    fn cudaStreamAttachMemAsync(stream: Stream, pointer: *mut c_void, bytes: usize, flags: c_uint) {
        enter()?;
        driver::cuStreamAttachMemAsync(stream, pointer as DevicePointer, bytes, flags)
    }

    /// Says which stream uses managed memory.
    fn cudaStreamAttachMemAsync_ptsz(stream: Stream, pointer: *mut c_void, bytes: usize, flags: c_uint) {
        enter()?;
        driver::cuStreamAttachMemAsync(per_thread(stream), pointer as DevicePointer, bytes, flags)
    }

    /// Copies a stream's attributes to another.
    fn cudaStreamCopyAttributes(to: Stream, from: Stream) {
        enter()?;
        driver::cuStreamCopyAttributes(to, from)
    }

    /// One of a stream's attributes.
    fn cudaStreamGetAttribute(stream: Stream, attribute: c_int, value: *mut c_void) {
        enter()?;
        driver::cuStreamGetAttribute(stream, attribute, value)
    }

    /// Sets one of a stream's attributes.
    fn cudaStreamSetAttribute(stream: Stream, attribute: c_int, value: *const c_void) {
        enter()?;
        driver::cuStreamSetAttribute(stream, attribute, value)
    }

    /// Begins to record what is put into a stream as a graph.
    fn cudaStreamBeginCapture(stream: Stream, mode: c_int) {
        enter()?;
        driver::cuStreamBeginCapture_v2(stream, mode)
    }

    /// Begins to record what is put into a stream as a graph.
    fn cudaStreamBeginCapture_ptsz(stream: Stream, mode: c_int) {
        enter()?;
        driver::cuStreamBeginCapture_v2(per_thread(stream), mode)
    }

    /// Ends a recording.
    fn cudaStreamEndCapture(stream: Stream, graph: *mut Handle) {
        enter()?;
        driver::cuStreamEndCapture(stream, graph)
    }

    /// Ends a recording.
    fn cudaStreamEndCapture_ptsz(stream: Stream, graph: *mut Handle) {
        enter()?;
        driver::cuStreamEndCapture(per_thread(stream), graph)
    }

    /// Whether a stream is recorded.
    fn cudaStreamIsCapturing(stream: Stream, status: *mut c_int) {
        enter()?;
        driver::cuStreamIsCapturing(stream, status)
    }

    /// Whether a stream is recorded.
    fn cudaStreamIsCapturing_ptsz(stream: Stream, status: *mut c_int) {
        enter()?;
        driver::cuStreamIsCapturing(per_thread(stream), status)
    }

    /// What a stream's recording has come to.
    fn cudaStreamGetCaptureInfo_v2(
        stream: Stream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut Handle, dependencies: *mut *const Handle, count: *mut usize,
    ) {
        enter()?;
        driver::cuStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count)
    }

    /// What a stream's recording has come to.
    fn cudaStreamGetCaptureInfo_v2_ptsz(
        stream: Stream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut Handle, dependencies: *mut *const Handle, count: *mut usize,
    ) {
        enter()?;
        driver::cuStreamGetCaptureInfo_v2(per_thread(stream), status, id, graph, dependencies, count)
    }

    /// Sets what the next node of a recording depends on.
    fn cudaStreamUpdateCaptureDependencies(stream: Stream, dependencies: *mut Handle, count: usize, flags: c_uint) {
        enter()?;
        driver::cuStreamUpdateCaptureDependencies(stream, dependencies, count, flags)
    }

    /// Swaps what the thread may do while a stream is recorded.
    fn cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) {
        driver::cuThreadExchangeStreamCaptureMode(mode)
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

/// A newer form of what a recording has come to, with data of edges: that is said to be not done if there is a recording.
///
/// # Safety
///
/// Pointers are null or valid for writes.
unsafe fn capture_info_with_edges(
    stream: Stream,
    status: *mut c_int,
    id: *mut c_ulonglong,
    graph: *mut Handle,
    dependencies: *mut *const Handle,
    edges: *mut *const c_void,
    count: *mut usize,
) -> Result<()> {
    enter()?;
    // SAFETY: the caller's promise
    unsafe {
        driver::cuStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count)?;
        if let Some(edges) = edges.as_mut() {
            *edges = null_mut();
            let of_ordinary_edges = count.as_ref().is_none_or(|count| *count == 0);
            if !of_ordinary_edges && status.as_ref().is_some_and(|status| *status != 0) {
                return Err(NOT_SUPPORTED);
            }
        }
    }
    Ok(())
}

#[cfg(not(runtime = "13"))]
api! {
    /// What a stream's recording has come to.
    fn cudaStreamGetCaptureInfo(stream: Stream, status: *mut c_int, id: *mut c_ulonglong) {
        enter()?;
        driver::cuStreamGetCaptureInfo_v2(stream, status, id, null_mut(), null_mut(), null_mut())
    }

    /// What a stream's recording has come to, with data of edges.
    fn cudaStreamGetCaptureInfo_v3(
        stream: Stream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut Handle, dependencies: *mut *const Handle,
        edges: *mut *const c_void, count: *mut usize,
    ) {
        capture_info_with_edges(stream, status, id, graph, dependencies, edges, count)
    }
}

#[cfg(runtime = "13")]
api! {
    /// What a stream's recording has come to, with data of edges.
    fn cudaStreamGetCaptureInfo(
        stream: Stream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut Handle, dependencies: *mut *const Handle,
        edges: *mut *const c_void, count: *mut usize,
    ) {
        capture_info_with_edges(stream, status, id, graph, dependencies, edges, count)
    }
}
