//! Capture of the work of streams as a graph.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use crate::context::CONTEXTS;
use crate::error::{Answer, Error};
use crate::graph::{self, Graph};
use crate::handles::fresh;
use crate::operation::Operation;
use crate::stream::{NON_BLOCKING, Stream};

pub struct Capture {
    pub id: u64,
    pub graph: Arc<Graph>,
    pub graph_handle: u64,
    /// The number of the stream that began the capture.
    pub origin: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The nodes that the next node of each stream comes after, by the stream's number.
    tails: FxHashMap<u64, Vec<u64>>,
    streams: Vec<Arc<Stream>>,
    /// The last tail whose address a program has seen.
    shown: Option<Arc<Vec<u64>>>,
    failed: bool,
}

/// Counts the streams of a context that capture and are in order with the legacy stream.
fn count(stream: &Stream, begins: bool) {
    if stream.flags & NON_BLOCKING != 0 {
        return;
    }
    if let Some(context) = CONTEXTS.find(stream.context) {
        if begins {
            context.captures.fetch_add(1, Relaxed);
        } else {
            context.captures.fetch_sub(1, Relaxed);
        }
    }
}

/// Ends the capture in a stream.
fn leave(stream: &Stream) {
    if stream.capture.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
        count(stream, false);
    }
}

/// Removes a destroyed stream from its capture.
///
/// A capture that the stream began fails. Nodes that it added to the capture of another stream
/// stay, and must still be joined.
pub fn abandon(stream: &Stream) {
    if let Some(capture) = stream.capture() {
        if capture.origin == stream.id {
            capture.fail();
        }
        leave(stream);
    }
}

impl Capture {
    /// Begins a capture by a stream, into a graph, after existing nodes of the graph.
    pub fn begin(
        stream: &Arc<Stream>,
        graph: Arc<Graph>,
        graph_handle: u64,
        after: Vec<u64>,
    ) -> Answer {
        if stream.is_legacy() {
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        }
        if stream.capture().is_some() {
            return Err(Error::CUDA_ERROR_ILLEGAL_STATE);
        }
        let state = Mutex::default();
        let capture =
            Arc::new(Capture { id: fresh(), graph, graph_handle, origin: stream.id, state });
        capture.join(stream, after);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a stream to the capture, or adds nodes that its next node comes after.
    pub fn join(self: &Arc<Self>, stream: &Arc<Stream>, after: Vec<u64>) {
        let mut state = self.lock();
        let tail = state.tails.entry(stream.id).or_default();
        for node in after {
            if !tail.contains(&node) {
                tail.push(node);
            }
        }
        let mut own = stream.capture.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() {
            *own = Some(self.clone());
            state.streams.push(stream.clone());
            count(stream, true);
        }
    }

    /// Adds a node of a stream. Returns the operation if the capture has ended meanwhile.
    pub fn add(&self, stream: &Stream, operation: Operation) -> Result<Option<Operation>, Error> {
        let kind = graph::kind_of(&operation);
        let mut state = self.lock();
        if !state.streams.iter().any(|own| own.id == stream.id) {
            return Ok(Some(operation));
        }
        // A callback is for one call, so no graph accepts it.
        if let Operation::Callback { .. } = operation {
            state.failed = true;
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        }
        if state.failed {
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        }
        let after = state.tails.get(&stream.id).cloned().unwrap_or_default();
        let node = self.graph.add(operation, kind, after)?;
        state.tails.insert(stream.id, vec![node]);
        Ok(None)
    }

    /// Returns the nodes that the next node of a stream comes after.
    pub fn tail(&self, stream: &Stream) -> Vec<u64> {
        self.lock().tails.get(&stream.id).cloned().unwrap_or_default()
    }

    /// Returns the tail of a stream at an address that stays valid until the next call.
    pub fn shown_tail(&self, stream: &Stream) -> Arc<Vec<u64>> {
        let tail = Arc::new(self.tail(stream));
        self.lock().shown = Some(tail.clone());
        tail
    }

    pub fn set_tail(&self, stream: &Stream, nodes: Vec<u64>) {
        self.lock().tails.insert(stream.id, nodes);
    }

    /// Fails the capture, after a call that cannot be captured.
    pub fn fail(&self) {
        self.lock().failed = true;
    }

    pub fn has_failed(&self) -> bool {
        self.lock().failed
    }

    /// Ends the capture, in the stream that began it.
    pub fn end(&self, stream: &Stream) -> Answer {
        if self.origin != stream.id {
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
        }
        let mut state = self.lock();
        for joined in std::mem::take(&mut state.streams) {
            leave(&joined);
        }
        if state.failed {
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        }
        // All nodes of other streams must come before the end.
        let own = state.tails.get(&stream.id).cloned().unwrap_or_default();
        let mut reached: Vec<u64> = vec![];
        let mut left = own;
        let nodes = self.graph.lock();
        while let Some(node) = left.pop() {
            if !reached.contains(&node) {
                reached.push(node);
                left.extend(nodes.get(&node).into_iter().flat_map(|node| &node.after));
            }
        }
        let unjoined = state
            .tails
            .iter()
            .any(|(&id, tail)| id != stream.id && tail.iter().any(|node| !reached.contains(node)));
        if unjoined { Err(Error::CUDA_ERROR_STREAM_CAPTURE_UNJOINED) } else { Ok(()) }
    }
}
