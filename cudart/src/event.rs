//! Events, the profiler's switches, and handles for other processes.

use std::ffi::{c_int, c_uint, c_void};

use crate::context::enter;
use crate::driver;
use crate::error::NOT_SUPPORTED;
use crate::stream::per_thread;
use crate::types::{DevicePointer, Handle, IpcHandle, Stream};

api! {
    /// A new event.
    fn cudaEventCreate(event: *mut Handle) {
        enter()?;
        driver::cuEventCreate(event, 0)
    }

    /// A new event with flags.
    fn cudaEventCreateWithFlags(event: *mut Handle, flags: c_uint) {
        enter()?;
        driver::cuEventCreate(event, flags)
    }

    /// Destroys an event.
    fn cudaEventDestroy(event: Handle) {
        driver::cuEventDestroy_v2(event)
    }

    /// Records what is in a stream now.
    fn cudaEventRecord(event: Handle, stream: Stream) {
        enter()?;
        driver::cuEventRecord(event, stream)
    }

    /// Records what is in a stream now.
    fn cudaEventRecord_ptsz(event: Handle, stream: Stream) {
        enter()?;
        driver::cuEventRecord(event, per_thread(stream))
    }

    /// Records what is in a stream now.
    fn cudaEventRecordWithFlags(event: Handle, stream: Stream, flags: c_uint) {
        enter()?;
        driver::cuEventRecordWithFlags(event, stream, flags)
    }

    /// Records what is in a stream now.
    fn cudaEventRecordWithFlags_ptsz(event: Handle, stream: Stream, flags: c_uint) {
        enter()?;
        driver::cuEventRecordWithFlags(event, per_thread(stream), flags)
    }

    /// Whether what was recorded is done: else `cudaErrorNotReady`.
    fn cudaEventQuery(event: Handle) {
        driver::cuEventQuery(event)
    }

    /// Waits until what was recorded is done.
    fn cudaEventSynchronize(event: Handle) {
        driver::cuEventSynchronize(event)
    }

    /// Milliseconds between two events.
    fn cudaEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) {
        driver::cuEventElapsedTime(milliseconds, start, end)
    }

    /// Milliseconds between two events.
    fn cudaEventElapsedTime_v2(milliseconds: *mut f32, start: Handle, end: Handle) {
        driver::cuEventElapsedTime(milliseconds, start, end)
    }

    /// Begins to profile.
    fn cudaProfilerStart() {
        driver::cuProfilerStart()
    }

    /// Ends to profile.
    fn cudaProfilerStop() {
        driver::cuProfilerStop()
    }

    /// A handle of memory for another process.
    fn cudaIpcGetMemHandle(handle: *mut c_void, pointer: *mut c_void) {
        driver::cuIpcGetMemHandle(handle, pointer as DevicePointer)
    }

    /// A handle of an event for another process.
    fn cudaIpcGetEventHandle(handle: *mut c_void, event: Handle) {
        driver::cuIpcGetEventHandle(handle, event)
    }

    /// Memory of another process. Not done.
    fn cudaIpcOpenMemHandle(_pointer: *mut *mut c_void, _handle: IpcHandle, _flags: c_uint) {
        Err(NOT_SUPPORTED)
    }

    /// An event of another process. Not done.
    fn cudaIpcOpenEventHandle(_event: *mut Handle, _handle: IpcHandle) {
        Err(NOT_SUPPORTED)
    }

    /// Takes memory of another process back.
    fn cudaIpcCloseMemHandle(_pointer: *mut c_void) {
        Err(NOT_SUPPORTED)
    }

    /// Old name of the profiler's initialisation. Not done by drivers any more.
    fn cudaProfilerInitialize(_config: *const c_void, _output: *const c_void, _mode: c_int) {
        Err(NOT_SUPPORTED)
    }
}
