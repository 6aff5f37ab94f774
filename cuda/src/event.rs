//! Events: points in streams, with the time when work reached them.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use crate::capture::Capture;
use crate::context::{CONTEXTS, Context};
use crate::error::{Answer, Error};
use crate::handles::Table;
use crate::lines::Point;

pub static EVENTS: Table<Event> = Table::new();

/// A flag of `CUevent_flags`.
pub const DISABLE_TIMING: u32 = 2;

/// The resolution of times that programs measure, in milliseconds.
const RESOLUTION: f32 = 0.0005;

pub struct Event {
    pub context: u64,
    pub flags: u32,
    recorded: Mutex<Recorded>,
    came: Condvar,
}

/// The last record of an event. Without records, the event counts as done.
#[derive(Default)]
struct Recorded {
    /// The number of records so far, and the number of the last record that work reached.
    asked: u64,
    done: u64,
    point: Option<Point>,
    /// A lower bound of that point: the piece after the line's end when the record was requested.
    near: Option<Point>,
    time: Option<Instant>,
    /// The capture in which the event was last recorded, and the nodes that work after the event
    /// comes after.
    captured: Option<(Arc<Capture>, Vec<u64>)>,
}

impl Event {
    pub fn new(context: u64, flags: u32) -> Event {
        Event { context, flags, recorded: Mutex::default(), came: Condvar::new() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a record and returns its number.
    pub fn ask(&self) -> u64 {
        let mut recorded = self.lock();
        recorded.asked += 1;
        (recorded.point, recorded.near) = (None, None);
        recorded.asked
    }

    /// Begins a record as the next piece of a line, or as a later piece if other threads add pieces
    /// meanwhile.
    pub fn ask_behind(&self, tail: Point) -> u64 {
        let number = self.ask();
        self.lock().near = Some(Point { number: tail.number + 1, ..tail });
        number
    }

    /// Sets the point of a record, if it is still the last one.
    pub fn place(&self, number: u64, point: Point) {
        let mut recorded = self.lock();
        if recorded.asked == number {
            recorded.point = Some(point);
        }
    }

    pub fn capture(&self, captured: Option<(Arc<Capture>, Vec<u64>)>) {
        self.lock().captured = captured;
    }

    pub fn captured(&self) -> Option<(Arc<Capture>, Vec<u64>)> {
        self.lock().captured.clone()
    }

    /// Notes that work has reached the record.
    pub fn come(&self, number: u64) {
        let mut recorded = self.lock();
        if number >= recorded.done {
            recorded.done = number;
            recorded.time = Some(Instant::now());
        }
        self.came.notify_all();
    }

    /// Returns the point that work must come after; none: it need not wait.
    pub fn point(&self) -> Option<Point> {
        let recorded = self.lock();
        recorded.point.filter(|_| recorded.done < recorded.asked)
    }

    /// Returns whether the last record is done and its stream has moved on.
    pub fn is_done(&self, context: &Context) -> bool {
        let recorded = self.lock();
        recorded.done >= recorded.asked
            && recorded.near.is_none_or(|point| context.lines.is_done(point))
    }

    pub fn wait(&self, context: &Context) -> Answer {
        let mut recorded = self.lock();
        let wanted = recorded.asked;
        while recorded.done < wanted && context.check().is_ok() {
            let wait = std::time::Duration::from_millis(50);
            recorded =
                self.came.wait_timeout(recorded, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        let near = recorded.near.filter(|_| recorded.done >= recorded.asked);
        drop(recorded);
        // When the host knows that the stream has reached the record, the stream must have moved
        // on.
        if let Some(near) = near {
            context.lines.wait_for(near);
        }
        context.check()
    }

    /// Returns the milliseconds from one event to another.
    pub fn elapsed(from: &Event, to: &Event) -> Result<f32, Error> {
        let time = |event: &Event| {
            let recorded = event.lock();
            if event.flags & DISABLE_TIMING != 0 || recorded.asked == 0 {
                return Err(Error::CUDA_ERROR_INVALID_HANDLE);
            }
            recorded
                .time
                .filter(|_| recorded.done >= recorded.asked)
                .ok_or(Error::CUDA_ERROR_NOT_READY)
        };
        let (from, to) = (time(from)?, time(to)?);
        let milliseconds = match to.checked_duration_since(from) {
            Some(later) => later.as_secs_f32() * 1e3,
            None => -(from.duration_since(to).as_secs_f32() * 1e3),
        };
        // Programs divide by the result, so it is never 0.
        Ok(if milliseconds.abs() < RESOLUTION { RESOLUTION } else { milliseconds })
    }
}

/// Returns the event of a handle, with its context.
pub fn get(handle: u64) -> Result<(Arc<Event>, Arc<Context>), Error> {
    let event = EVENTS.get(handle)?;
    let context = CONTEXTS.find(event.context).ok_or(Error::CUDA_ERROR_CONTEXT_IS_DESTROYED)?;
    Ok((event, context))
}

/// Drops the events of a context that has ended.
pub fn forget(context: u64) {
    EVENTS.retain(|event| event.context != context);
}
