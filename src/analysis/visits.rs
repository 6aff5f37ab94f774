//! Counts the values that searches look at.
//!
//! Analysis and lowering search the definitions of values for patterns. Definitions share parts, so
//! the paths through them are exponentially many; each search has a memo or a bound. Searches count
//! their visits here, and tests check that the count grows only as the code does.

use std::cell::Cell;

thread_local! {
    static VISITS: Cell<u64> = const { Cell::new(0) };
}

/// Counts a value that a search looks at.
pub fn visit() {
    VISITS.set(VISITS.get().wrapping_add(1));
}

/// Returns the number of values that searches of this thread have looked at.
pub fn visits() -> u64 {
    VISITS.get()
}
