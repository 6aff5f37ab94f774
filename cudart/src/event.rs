//! Events, and the profiler's switches.

use std::ffi::c_uint;

use crate::api::api;
use crate::context::enter;
use crate::driver;
use crate::types::{Handle, Stream};

api! {
    /// Makes an event.
    fn cudaEventCreate(event: *mut Handle) {
        enter()?;
        driver::cuEventCreate(event, 0)
    }

    /// Makes an event with flags.
    fn cudaEventCreateWithFlags(event: *mut Handle, flags: c_uint) {
        enter()?;
        driver::cuEventCreate(event, flags)
    }

    /// Destroys an event.
    fn cudaEventDestroy(event: Handle) {
        driver::cuEventDestroy_v2(event)
    }

    /// Records the current work of a stream in an event.
    fn cudaEventRecord(event: Handle, stream: Stream) / ptsz(stream) {
        enter()?;
        driver::cuEventRecord(event, stream)
    }

    /// Records the current work of a stream in an event.
    fn cudaEventRecordWithFlags(event: Handle, stream: Stream, flags: c_uint) / ptsz(stream) {
        enter()?;
        driver::cuEventRecordWithFlags(event, stream, flags)
    }

    /// Returns success if the recorded work is done, else `cudaErrorNotReady`.
    fn cudaEventQuery(event: Handle) {
        driver::cuEventQuery(event)
    }

    /// Waits until the recorded work is done.
    fn cudaEventSynchronize(event: Handle) {
        driver::cuEventSynchronize(event)
    }

    /// Gets the milliseconds between two events.
    fn cudaEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) {
        driver::cuEventElapsedTime(milliseconds, start, end)
    }

    /// Gets the milliseconds between two events.
    #[cfg(runtime = "12")]
    fn cudaEventElapsedTime_v2(milliseconds: *mut f32, start: Handle, end: Handle) {
        driver::cuEventElapsedTime(milliseconds, start, end)
    }

    /// Begins profiling.
    fn cudaProfilerStart() {
        driver::cuProfilerStart()
    }

    /// Ends profiling.
    fn cudaProfilerStop() {
        driver::cuProfilerStop()
    }
}
