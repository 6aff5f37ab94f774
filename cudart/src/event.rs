//! Events, and the profiler's switches.

use std::ffi::c_uint;

use crate::api::api;
use crate::context::enter;
use crate::driver;
use crate::types::{Handle, Stream};

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
    fn cudaEventRecord(event: Handle, stream: Stream) / ptsz(stream) {
        enter()?;
        driver::cuEventRecord(event, stream)
    }

    /// Records what is in a stream now.
    fn cudaEventRecordWithFlags(event: Handle, stream: Stream, flags: c_uint) / ptsz(stream) {
        enter()?;
        driver::cuEventRecordWithFlags(event, stream, flags)
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
    #[cfg(runtime = "12")]
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
}
