//! Stream capture: a stream's work is recorded as a graph.

#[cfg(not(runtime = "11"))]
use std::ffi::c_void;
use std::ffi::{c_int, c_uint, c_ulonglong};
#[cfg(not(runtime = "13"))]
use std::ptr::null_mut;

use crate::api::api;
use crate::context::enter;
use crate::driver;
use crate::types::{Handle, Stream};

api! {
    /// Begins to capture a stream's work as a graph.
    fn cudaStreamBeginCapture(stream: Stream, mode: c_int) / ptsz(stream) {
        enter()?;
        driver::cuStreamBeginCapture_v2(stream, mode)
    }

    /// Begins to capture a stream's work as nodes of an existing graph, after some of the graph's
    /// nodes.
    #[cfg(not(runtime = "11"))]
    fn cudaStreamBeginCaptureToGraph(
        stream: Stream, graph: Handle, dependencies: *const Handle, edges: *const c_void, count: usize, mode: c_int,
    ) / ptsz(stream) {
        enter()?;
        driver::cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges, count, mode)
    }

    /// Ends a capture.
    fn cudaStreamEndCapture(stream: Stream, graph: *mut Handle) / ptsz(stream) {
        enter()?;
        driver::cuStreamEndCapture(stream, graph)
    }

    /// Gets whether a stream captures.
    fn cudaStreamIsCapturing(stream: Stream, status: *mut c_int) / ptsz(stream) {
        enter()?;
        driver::cuStreamIsCapturing(stream, status)
    }

    /// Exchanges the thread's capture mode, which limits the thread's calls while a stream
    /// captures.
    fn cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) {
        driver::cuThreadExchangeStreamCaptureMode(mode)
    }
}

#[cfg(not(runtime = "13"))]
api! {
    /// Gets whether a stream captures, and the number of the capture.
    fn cudaStreamGetCaptureInfo(stream: Stream, status: *mut c_int, id: *mut c_ulonglong) / ptsz(stream) {
        enter()?;
        driver::cuStreamGetCaptureInfo_v2(stream, status, id, null_mut(), null_mut(), null_mut())
    }

    /// Gets the state of a stream's capture.
    fn cudaStreamGetCaptureInfo_v2(
        stream: Stream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut Handle, dependencies: *mut *const Handle,
        count: *mut usize,
    ) / ptsz(stream) {
        enter()?;
        driver::cuStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count)
    }

    /// Sets the dependencies of a capture's next node.
    fn cudaStreamUpdateCaptureDependencies(
        stream: Stream, dependencies: *mut Handle, count: usize, flags: c_uint,
    ) / ptsz(stream) {
        enter()?;
        driver::cuStreamUpdateCaptureDependencies(stream, dependencies, count, flags)
    }
}

/// Defines functions with data of edges. Their names differ between CUDA 12 and CUDA 13.
#[cfg(not(runtime = "11"))]
macro_rules! with_edges {
    ($info:ident $update:ident) => {
        api! {
            /// Gets the state of a stream's capture, with data of edges.
            fn $info(
                stream: Stream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut Handle, dependencies: *mut *const Handle,
                edges: *mut *const c_void, count: *mut usize,
            ) / ptsz(stream) {
                enter()?;
                driver::cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count)
            }

            /// Sets the dependencies of a capture's next node, with data of edges.
            fn $update(
                stream: Stream, dependencies: *mut Handle, edges: *const c_void, count: usize, flags: c_uint,
            ) / ptsz(stream) {
                enter()?;
                driver::cuStreamUpdateCaptureDependencies_v2(stream, dependencies, edges, count, flags)
            }
        }
    };
}

#[cfg(runtime = "12")]
with_edges! { cudaStreamGetCaptureInfo_v3 cudaStreamUpdateCaptureDependencies_v2 }
#[cfg(runtime = "13")]
with_edges! { cudaStreamGetCaptureInfo cudaStreamUpdateCaptureDependencies }
