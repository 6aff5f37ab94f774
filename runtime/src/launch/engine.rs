//! What the scheduler needs of an engine.

use crate::warp::{ExitCode, WarpContext};

/// Runs warps of one kernel. Shared by the worker threads; all state of a warp is in its context.
pub trait Engine: Sync {
    /// Lanes of a warp, 1 to 64.
    fn lanes(&self) -> u32;

    /// Size of the register file of a warp, to begin with: an engine that finds more code while it runs may ask for a larger one
    /// ([`ExitCode::Grow`]). A fresh warp's holds what an earlier one left: block 0 initialises it.
    fn register_file_bytes(&self) -> usize;

    /// Runs the warp in `context` from block `resume` until it is done, waits, yields or faults, and goes on with the
    /// warps after it up to `chain_end` when it is done (see [`WarpContext::chain`]), and perhaps with those of the blocks after it
    /// up to `row_end`. One that waits or is done may be followed by the next that has its turn (see [`WarpContext::pass_on`]). An engine
    /// that returns [`ExitCode::Service`] is wrapped by one that serves; the scheduler knows no services.
    fn run(&self, context: &mut WarpContext<'_>) -> ExitCode;

    /// Guest address of the block with this number, for messages about warps that wait there. 0 if unknown.
    fn block_pc(&self, block: u32) -> u64 {
        let _ = block;
        0
    }

    /// A number that changes with all that code can tell and that is neither in the warp's
    /// registers nor in memory. `None` if the time is: a loop that comes back to a state may end
    /// all the same.
    fn outside(&self) -> Option<u64> {
        Some(0)
    }

    /// After the fault [`FaultKind::Deadlock`](crate::fault::FaultKind::Deadlock): lanes of the context's warp that wait, and the
    /// guest address before which they do. `resume` is the block that found it.
    fn deadlocked(&self, context: &mut WarpContext<'_>) -> Vec<(u64, u64)> {
        let _ = context;
        Vec::new()
    }
}
