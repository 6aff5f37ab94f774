//! The scheduler's interface to an engine.

use crate::warp::{ExitCode, WarpContext};

/// Runs warps of one kernel.
///
/// The worker threads share the engine. All state of a warp is in its context.
pub trait Engine: Sync {
    /// Returns the number of lanes of a warp, 1 to 64.
    fn lanes(&self) -> u32;

    /// Returns the initial size of a warp's register file in bytes.
    ///
    /// An engine that finds more code while it runs may ask for a larger file ([`ExitCode::Grow`]).
    /// A fresh warp's file holds the values of an earlier warp: block 0 initialises it.
    fn register_file_bytes(&self) -> usize;

    /// Runs the warp in `context` from block `resume` until it is done, waits, yields or faults.
    ///
    /// When the warp is done, the engine goes on with the warps after it up to `chain_end` (see
    /// [`WarpContext::chain`]), and perhaps with the warps of later blocks up to `row_end`. When
    /// the warp waits or is done, the next warp that has its turn may follow (see
    /// [`WarpContext::pass_on`]). An engine that returns [`ExitCode::Service`] needs a wrapper that
    /// serves; the scheduler knows no services.
    fn run(&self, context: &mut WarpContext<'_>) -> ExitCode;

    /// Returns the guest address of the block with this number, or 0 if it is unknown. Messages
    /// about warps that wait there name it.
    fn block_pc(&self, block: u32) -> u64 {
        let _ = block;
        0
    }

    /// Returns a number that changes with all state outside of registers and memory that code can
    /// observe.
    ///
    /// `None` if code can observe the time: a loop that comes back to a state may still end then.
    fn outside(&self) -> Option<u64> {
        Some(0)
    }

    /// Returns the waiting lanes of the context's warp, and the guest addresses before which they
    /// wait.
    ///
    /// The scheduler calls this after the fault
    /// [`FaultKind::Deadlock`](crate::fault::FaultKind::Deadlock). `resume` is the block that found
    /// the deadlock.
    fn deadlocked(&self, context: &mut WarpContext<'_>) -> Vec<(u64, u64)> {
        let _ = context;
        Vec::new()
    }
}
