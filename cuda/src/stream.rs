//! Streams: lines of work in a context.

use std::cell::RefCell;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::capture::Capture;
use crate::context::{self, CONTEXTS, Context};
use crate::error::{Answer, Error};
use crate::event::Event;
use crate::handles::{Table, fresh};
use crate::lines::{LEGACY, Point};
use crate::operation::Operation;
use crate::{boundary, driver};

static STREAMS: Table<Stream> = Table::new();

/// Handles that have the same meaning in every context.
const HANDLE_LEGACY: u64 = 1;
const HANDLE_PER_THREAD: u64 = 2;

/// A flag of `CUstream_flags`: not in order with the legacy stream.
pub const NON_BLOCKING: u32 = 1;

pub struct Stream {
    /// The handle of the context.
    pub context: u64,
    pub line: u64,
    pub flags: u32,
    pub priority: i32,
    /// A unique number.
    pub id: u64,
    pub capture: Mutex<Option<Arc<Capture>>>,
    /// A value that programs store (`CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY`).
    pub policy: AtomicU64,
}

thread_local! {
    /// The thread's own stream of each context.
    static OWN: RefCell<FxHashMap<u64, Arc<Stream>>> = RefCell::default();
}

impl Stream {
    fn new(context: u64, line: u64, flags: u32, priority: i32) -> Stream {
        let (capture, policy) = (Mutex::new(None), AtomicU64::new(0));
        Stream { context, line, flags, priority, id: fresh(), capture, policy }
    }

    pub fn legacy(context: u64) -> Stream {
        Stream::new(context, LEGACY, 0, 0)
    }

    pub fn create(context: &Context, flags: u32, priority: i32) -> u64 {
        let line = context.lines.open(flags & NON_BLOCKING == 0);
        STREAMS.insert(Arc::new(Stream::new(context.handle, line, flags, priority)))
    }

    /// Returns the capture that the stream is in.
    pub fn capture(&self) -> Option<Arc<Capture>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn is_legacy(&self) -> bool {
        self.line == LEGACY
    }

    /// Does work in order: at once if nobody could notice, else later. While the stream captures,
    /// the work becomes a node of a graph.
    pub fn submit(self: &Arc<Self>, context: &Arc<Context>, operation: Operation) -> Answer {
        let mut operation = operation;
        while let Some(capture) = self.capture() {
            match capture.add(self, operation)? {
                Some(left) => operation = left,
                None => return Ok(()),
            }
        }
        self.refuse_during_capture(context)?;
        let blocking = driver::get().blocking || operation.is_waited_for();
        let alone = || context.lines.is_alone(self.line) && !driver::get().is_shared_with_host();
        if blocking || !operation.needs_thread() && alone() {
            let answer = self.run(context, || operation.run(context));
            return match answer {
                // As if the work ran later: callers that wait for it get the error.
                Err(error) if !blocking => {
                    context.fail(error);
                    Ok(())
                }
                answer => answer,
            };
        }
        let operation = operation.ready()?;
        let (line, inner) = (self.line, context.clone());
        let work = Box::new(move || {
            if inner.check().is_ok() {
                // Errors of work that nobody waits for become errors of the context.
                if let Err(error) = operation.run(&inner) {
                    inner.fail(error);
                }
            }
        });
        context.lines.give(line, work);
        Ok(())
    }

    /// Does work in order and waits until it is done.
    pub fn wait_and<R>(
        &self,
        context: &Context,
        work: impl FnOnce() -> Result<R, Error>,
    ) -> Result<R, Error> {
        if self.capture().is_some() {
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        }
        self.refuse_during_capture(context)?;
        self.run(context, work)
    }

    fn run<R>(
        &self,
        context: &Context,
        work: impl FnOnce() -> Result<R, Error>,
    ) -> Result<R, Error> {
        context.lines.run(self.line, || {
            context.check()?;
            work()
        })
    }

    /// Refuses work of the legacy stream while other streams capture, as it would come in between.
    fn refuse_during_capture(&self, context: &Context) -> Answer {
        if self.is_legacy() && context.is_capturing() {
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        }
        Ok(())
    }

    fn tail(&self, context: &Context) -> Point {
        context.lines.tail(self.line)
    }

    /// Records an event in the stream. While the stream captures, the event stands for the nodes
    /// that the next node comes after.
    pub fn record(self: &Arc<Self>, context: &Arc<Context>, event: &Arc<Event>) -> Answer {
        if let Some(capture) = self.capture() {
            event.capture(Some((capture.clone(), capture.tail(self))));
            return Ok(());
        }
        event.capture(None);
        let number = event.ask_behind(self.tail(context));
        self.submit(context, Operation::Record(event.clone(), number))?;
        event.place(number, self.tail(context));
        Ok(())
    }

    /// Makes the stream's next work come after an event.
    pub fn wait_for_event(
        self: &Arc<Self>,
        context: &Context,
        event: &Arc<Event>,
        other: &Context,
    ) -> Answer {
        match (event.captured(), self.capture()) {
            (Some((capture, nodes)), None) => {
                if self.is_legacy() {
                    return Err(Error::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
                }
                capture.join(self, nodes);
                Ok(())
            }
            (Some((capture, nodes)), Some(own)) if Arc::ptr_eq(&capture, &own) => {
                capture.join(self, nodes);
                Ok(())
            }
            (Some(_), Some(own)) => {
                own.fail();
                Err(Error::CUDA_ERROR_STREAM_CAPTURE_MERGE)
            }
            (None, Some(own)) => {
                own.fail();
                Err(Error::CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
            }
            (None, None) => {
                let Some(point) = event.point() else { return Ok(()) };
                if context.handle == other.handle {
                    context.lines.come_after(self.line, point);
                } else {
                    other.lines.wait_for(point);
                }
                Ok(())
            }
        }
    }
}

/// Returns the stream of a handle, and its context.
pub fn get(handle: u64) -> Result<(Arc<Stream>, Arc<Context>), Error> {
    let handle = match handle {
        0 if boundary::per_thread_stream() => HANDLE_PER_THREAD,
        0 => HANDLE_LEGACY,
        handle => handle,
    };
    if handle == HANDLE_LEGACY {
        let context = context::current()?;
        return Ok((context.legacy.clone(), context));
    }
    if handle == HANDLE_PER_THREAD {
        let context = context::current()?;
        return Ok((own(&context), context));
    }
    let stream = STREAMS.get(handle)?;
    let context = CONTEXTS.find(stream.context).ok_or(Error::CUDA_ERROR_CONTEXT_IS_DESTROYED)?;
    context.check()?;
    Ok((stream, context))
}

/// Returns the thread's own stream in a context.
fn own(context: &Context) -> Arc<Stream> {
    OWN.with_borrow_mut(|own| {
        let make = || Arc::new(Stream::new(context.handle, context.lines.open(true), 0, 0));
        own.entry(context.handle).or_insert_with(make).clone()
    })
}

/// Destroys a stream. Work that is in the stream is still done.
pub fn destroy(handle: u64) -> Answer {
    let stream = STREAMS.remove(handle)?;
    crate::capture::abandon(&stream);
    if let Some(context) = CONTEXTS.find(stream.context) {
        context.lines.close(stream.line);
    }
    Ok(())
}

/// Drops the streams of a context that has ended.
pub fn forget(context: u64) {
    STREAMS.retain(|stream| stream.context != context);
}
