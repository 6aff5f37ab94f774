//! How many values searches look at.
//!
//! Analysis and lowering search the definitions of values for patterns. The ways through definitions that share parts
//! are exponentially many, so each search has a memo or a bound. Searches count here what they look at, and tests hold
//! the count to grow as the code does.

use std::cell::Cell;

thread_local! {
    static VISITS: Cell<u64> = const { Cell::new(0) };
}

/// Counts a value that a search looks at.
pub fn visit() {
    VISITS.set(VISITS.get().wrapping_add(1));
}

/// Values that searches of this thread have looked at.
pub fn visits() -> u64 {
    VISITS.get()
}
