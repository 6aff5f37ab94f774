//! The operations of streams and graphs.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use crate::boundary::{self, HostFn, Owned, Ptr, StreamCallback};
use crate::conditional::Choice;
use crate::context::Context;
use crate::copies::{Copy, Fill};
use crate::error::{Answer, Error, of_copy};
use crate::event::Event;
use crate::graph::Plan;
use crate::graph_memory::{self, GraphMemory};
use crate::launch::Launch;
use crate::{allocations, driver};

#[derive(Clone)]
pub enum Operation {
    Nothing,
    Launch(Arc<Launch>),
    Copy(Box<Copy>),
    Fill(Fill),
    Host {
        function: HostFn,
        data: Ptr<c_void>,
        /// The owner of the data, unless the caller keeps it.
        _owner: Option<Arc<Owned>>,
    },
    Callback {
        function: StreamCallback,
        stream: u64,
        data: Ptr<c_void>,
    },
    /// An event's record of this number; 0: a new record.
    Record(Arc<Event>, u64),
    /// Waits for the last record that the event has when this operation runs.
    Await(Arc<Event>),
    Write {
        address: u64,
        value: u64,
        wide: bool,
    },
    Wait {
        address: u64,
        value: u64,
        wide: bool,
        how: u32,
    },
    Free(u64),
    /// Allocates memory of a graph.
    Hold(Arc<GraphMemory>),
    /// Writes of values and waits for values, with the C structures that they were read from.
    Batch {
        operations: Arc<Vec<Operation>>,
        words: Arc<Vec<u64>>,
    },
    Graph(Arc<Plan>),
    /// Runs a graph chosen by a value in memory, once or repeatedly.
    Choose(Arc<Choice>),
}

/// The time that a wait for a value sleeps.
const SLEEP: Duration = Duration::from_micros(50);

impl Operation {
    /// Returns whether the operation may wait for the calling thread's next actions.
    pub fn needs_thread(&self) -> bool {
        match self {
            Operation::Host { .. } | Operation::Callback { .. } | Operation::Wait { .. } => true,
            Operation::Batch { operations, .. } => operations.iter().any(Operation::needs_thread),
            Operation::Graph(plan) => plan.operations().any(Operation::needs_thread),
            Operation::Choose(choice) => choice.operations().any(Operation::needs_thread),
            _ => false,
        }
    }

    /// Returns whether the operation must be done before the call returns.
    pub fn is_waited_for(&self) -> bool {
        matches!(self, Operation::Copy(copy) if copy.ends_in_pageable())
    }

    /// Makes the operation independent of the call, so that it can run after the call.
    pub fn ready(self) -> Result<Operation, Error> {
        match self {
            Operation::Copy(copy) => Ok(Operation::Copy(Box::new(copy.ready()?))),
            other => Ok(other),
        }
    }

    pub fn run(&self, context: &Arc<Context>) -> Answer {
        match self {
            Operation::Nothing => Ok(()),
            Operation::Hold(memory) => {
                graph_memory::allocate(memory);
                Ok(())
            }
            Operation::Launch(launch) => launch.run(context),
            Operation::Copy(copy) => copy.run(),
            Operation::Fill(fill) => fill.run(),
            Operation::Host { function, data, .. } => {
                boundary::call_host(*function, *data);
                Ok(())
            }
            Operation::Callback { function, stream, data } => {
                let status = context.check().err().unwrap_or(Error::CUDA_SUCCESS) as u32;
                boundary::call_stream_callback(*function, *stream, status, *data);
                Ok(())
            }
            Operation::Record(event, number) => {
                event.come(if *number == 0 { event.ask() } else { *number });
                Ok(())
            }
            Operation::Await(event) => event.wait(context),
            Operation::Write { address, value, wide } => {
                let bytes = value.to_le_bytes();
                let bytes = if *wide { &bytes[..] } else { &bytes[..4] };
                Copy::linear(
                    crate::copies::CopySide::Bytes(bytes.into()),
                    crate::copies::CopySide::device(*address)?,
                    bytes.len() as u64,
                )
                .run()
            }
            Operation::Wait { address, value, wide, how } => {
                wait(context, *address, *value, *wide, *how)
            }
            Operation::Free(address) => {
                // The memory existed when the call was made, but a graph's memory may have gone
                // with its graph since.
                let _ = allocations::free_now(*address);
                Ok(())
            }
            Operation::Batch { operations, .. } => {
                operations.iter().try_for_each(|operation| operation.run(context))
            }
            Operation::Graph(plan) => plan.run(context),
            Operation::Choose(choice) => choice.run(context),
        }
    }
}

/// Reads a value in memory that other threads may change meanwhile.
fn value_at(address: u64, wide: bool) -> Result<u64, Error> {
    driver::memory().read_cell(address, if wide { 8 } else { 4 }).map_err(of_copy)
}

/// Waits until a value in memory meets a condition: greater or equal (in a cycle), equal, with
/// common bits, or not with all bits set.
fn wait(context: &Context, address: u64, value: u64, wide: bool, how: u32) -> Answer {
    let _ = driver::get();
    loop {
        context.check()?;
        if context.is_closed() || !allocations::is_mapped(address, if wide { 8 } else { 4 }) {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        let now = value_at(address, wide)?;
        let at_least = if wide {
            now.wrapping_sub(value) as i64 >= 0
        } else {
            (now as u32).wrapping_sub(value as u32) as i32 >= 0
        };
        let mask = if wide { u64::MAX } else { u64::from(u32::MAX) };
        let met = match how & 3 {
            0 => at_least,
            1 => now == value & mask,
            2 => now & value != 0,
            _ => !(now | value) & mask != 0,
        };
        if met {
            return Ok(());
        }
        std::thread::sleep(SLEEP);
    }
}
