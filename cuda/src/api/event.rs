//! Events.

use std::sync::Arc;

use super::require;
use crate::boundary::{Ptr, api};
use crate::error::{Answer, Error};
use crate::event::{self, EVENTS, Event};
use crate::{context, stream};

/// All `CUevent_flags`: a sleeping host wait, no timing, use by other processes.
const FLAGS: u32 = 7;
const INTERPROCESS: u32 = 4;

/// Records the event in a stream.
pub(super) fn record(event: u64, stream: u64) -> Answer {
    let (event, _) = event::get(event)?;
    let (stream, context) = stream::get(stream)?;
    stream.record(&context, &event)
}

fn elapsed(milliseconds: Ptr<f32>, from: u64, to: u64) -> Answer {
    milliseconds.required()?;
    let (from, to) = (event::get(from)?.0, event::get(to)?.0);
    milliseconds.set(Event::elapsed(&from, &to)?)
}

api! {
    fn cuEventCreate(out: Ptr<u64>, flags: u32) {
        out.required()?;
        require(flags & !FLAGS == 0)?;
        let context = context::current()?;
        if flags & INTERPROCESS != 0 {
            return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
        }
        out.set(EVENTS.insert(Arc::new(Event::new(context.handle, flags))))
    }

    fn cuEventDestroy(handle: u64) {
        EVENTS.remove(handle).map(|_| ())
    }

    fn cuEventDestroy_v2(handle: u64) {
        EVENTS.remove(handle).map(|_| ())
    }

    fn cuEventRecord(handle: u64, stream: u64) / cuEventRecord_ptsz {
        record(handle, stream)
    }

    fn cuEventRecordWithFlags(handle: u64, stream: u64, flags: u32) / cuEventRecordWithFlags_ptsz {
        require(flags <= 1)?;
        record(handle, stream)
    }

    fn cuEventQuery(handle: u64) {
        let (event, context) = event::get(handle)?;
        context.check()?;
        if event.is_done(&context) { Ok(()) } else { Err(Error::CUDA_ERROR_NOT_READY) }
    }

    fn cuEventSynchronize(handle: u64) {
        let (event, context) = event::get(handle)?;
        event.wait(&context)
    }

    fn cuEventElapsedTime(milliseconds: Ptr<f32>, from: u64, to: u64) {
        elapsed(milliseconds, from, to)
    }

    fn cuEventElapsedTime_v2(milliseconds: Ptr<f32>, from: u64, to: u64) {
        elapsed(milliseconds, from, to)
    }
}
