//! Capture of streams.

use std::cell::Cell;

use super::require;
use crate::boundary::{Ptr, address_of, api};
use crate::capture::Capture;
use crate::error::{Answer, Error};
use crate::graph::{GRAPHS, Graph};
use crate::stream;

/// Values of `CUstreamCaptureStatus`.
const NONE: u32 = 0;
const ACTIVE: u32 = 1;
const INVALIDATED: u32 = 2;

/// The last `CUstreamCaptureMode`. The modes forbid unsafe calls to all threads, to this thread, or
/// to none.
const LAST_MODE: u32 = 2;

thread_local! {
    /// The capture mode of the thread. No call of this driver is unsafe during capture, so the mode
    /// is only stored.
    static MODE: Cell<u32> = const { Cell::new(0) };
}

fn begin(handle: u64, mode: u32) -> Answer {
    require(mode <= LAST_MODE)?;
    let (stream, _) = stream::get(handle)?;
    let graph = std::sync::Arc::new(Graph::default());
    let graph_handle = GRAPHS.insert(graph.clone());
    let begun = Capture::begin(&stream, graph, graph_handle, vec![]);
    if begun.is_err() {
        GRAPHS.remove(graph_handle)?;
    }
    begun
}

fn begin_to_graph(handle: u64, graph: u64, after: Ptr<u64>, count: usize, mode: u32) -> Answer {
    require(mode <= LAST_MODE)?;
    let (stream, _) = stream::get(handle)?;
    Capture::begin(&stream, GRAPHS.get(graph)?, graph, after.list(count)?)
}

/// Writes the capture's status, number and graph, and the nodes that the next node comes after.
fn info(
    handle: u64,
    status: Ptr<u32>,
    id: Ptr<u64>,
    graph: Ptr<u64>,
    after: Ptr<u64>,
    count: Ptr<usize>,
) -> Answer {
    status.required()?;
    let (stream, context) = stream::get(handle)?;
    let Some(capture) = stream.capture() else {
        if stream.is_legacy() && context.is_capturing() {
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        }
        id.set_if(0);
        count.set_if(0);
        return status.set(NONE);
    };
    if capture.has_failed() {
        return status.set(INVALIDATED);
    }
    id.set_if(capture.id);
    graph.set_if(capture.graph_handle);
    let tail = capture.shown_tail(&stream);
    count.set_if(tail.len());
    after.set_if(address_of(&tail));
    status.set(ACTIVE)
}

/// Changes the nodes that the next node of the stream comes after. If `flags` is 0, `nodes` are
/// added, if 1, they replace the old ones.
fn update(handle: u64, nodes: Ptr<u64>, count: usize, flags: u32) -> Answer {
    require(flags <= 1)?;
    let (stream, _) = stream::get(handle)?;
    let capture = stream.capture().ok_or(Error::CUDA_ERROR_ILLEGAL_STATE)?;
    let nodes = nodes.list(count)?;
    {
        let known = capture.graph.lock();
        require(nodes.iter().all(|node| known.contains_key(node)))?;
    }
    if flags == 0 {
        capture.join(&stream, nodes);
    } else {
        capture.set_tail(&stream, nodes);
    }
    Ok(())
}

api! {
    fn cuStreamBeginCapture(handle: u64) / cuStreamBeginCapture_ptsz {
        begin(handle, 0)
    }

    fn cuStreamBeginCapture_v2(handle: u64, mode: u32) / cuStreamBeginCapture_v2_ptsz {
        begin(handle, mode)
    }

    fn cuStreamBeginCaptureToGraph(handle: u64, graph: u64, after: Ptr<u64>, edges: Ptr<u64>, count: usize, mode: u32) / cuStreamBeginCaptureToGraph_ptsz {
        let _ = edges;
        begin_to_graph(handle, graph, after, count, mode)
    }

    fn cuStreamEndCapture(handle: u64, graph: Ptr<u64>) / cuStreamEndCapture_ptsz {
        let (stream, _) = stream::get(handle)?;
        let capture = stream.capture().ok_or(Error::CUDA_ERROR_ILLEGAL_STATE)?;
        graph.set_if(0);
        capture.end(&stream)?;
        // A program that captures into its own graph may pass no pointer for the graph.
        graph.set_if(capture.graph_handle);
        Ok(())
    }

    fn cuStreamIsCapturing(handle: u64, status: Ptr<u32>) / cuStreamIsCapturing_ptsz {
        info(handle, status, Ptr::NULL, Ptr::NULL, Ptr::NULL, Ptr::NULL)
    }

    fn cuStreamGetCaptureInfo(handle: u64, status: Ptr<u32>, id: Ptr<u64>) / cuStreamGetCaptureInfo_ptsz {
        info(handle, status, id, Ptr::NULL, Ptr::NULL, Ptr::NULL)
    }

    fn cuStreamGetCaptureInfo_v2(handle: u64, status: Ptr<u32>, id: Ptr<u64>, graph: Ptr<u64>, after: Ptr<u64>, count: Ptr<usize>) / cuStreamGetCaptureInfo_v2_ptsz {
        info(handle, status, id, graph, after, count)
    }

    fn cuStreamGetCaptureInfo_v3(handle: u64, status: Ptr<u32>, id: Ptr<u64>, graph: Ptr<u64>, after: Ptr<u64>, edges: Ptr<u64>, count: Ptr<usize>) / cuStreamGetCaptureInfo_v3_ptsz {
        // Edges carry no data.
        edges.set_if(0);
        info(handle, status, id, graph, after, count)
    }

    fn cuStreamUpdateCaptureDependencies(handle: u64, nodes: Ptr<u64>, count: usize, flags: u32) / cuStreamUpdateCaptureDependencies_ptsz {
        update(handle, nodes, count, flags)
    }

    fn cuStreamUpdateCaptureDependencies_v2(handle: u64, nodes: Ptr<u64>, edges: Ptr<u64>, count: usize, flags: u32) / cuStreamUpdateCaptureDependencies_v2_ptsz {
        let _ = edges;
        update(handle, nodes, count, flags)
    }

    fn cuThreadExchangeStreamCaptureMode(mode: Ptr<u32>) {
        let new = mode.get()?;
        require(new <= LAST_MODE)?;
        mode.set(MODE.replace(new))
    }
}
