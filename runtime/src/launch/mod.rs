//! Running a grid: [`launch`].
//!
//! Worker threads take blocks in ascending order, a few at a time. A worker has one
//! [`WarpContext`](crate::warp::WarpContext) and runs a block's warps in turn. The usual block,
//! whose warps neither wait nor yield, is one call of the [`Engine`], which chains them. A block
//! that waits for other blocks is set aside, and has turns among the blocks that were set aside
//! before. This module does not know the computations of an engine.

mod barrier;
mod block;
mod config;
mod engine;
mod lanes;
mod outcome;
mod repeats;
mod schedule;
mod step;
mod suspended;
mod threads;
mod worker;

pub use config::{ConstBank, LaunchConfig, LaunchError, MAX_BLOCK_LANES, MAX_GRID, MAX_THREADS};
pub use engine::Engine;
pub use outcome::{Counts, Fault, Outcome, Waiting};
pub use schedule::launch;
pub(crate) use step::{DONE, NO_BARRIER, Step, Turn};
pub use threads::share;

#[cfg(test)]
mod tests;
