//! Code that is long: blocks of thousands of operations that depend on each other. It runs in about linear time, on
//! threads with a stack of 2 MiB.

mod gfx9;
mod ir;
mod maxwell;

use std::thread;

use warploom::generate::compare::{WAYS, compare};
use warploom::ir::Function;

/// Bytes of the stack of a thread that a test harness starts.
const STACK: usize = 2 << 20;

/// Runs something on a thread with a stack of [`STACK`] bytes.
fn on_a_small_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).expect("a thread starts");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Runs a function alike on the interpreter, after analysis and as code made with little effort and with much.
fn runs_alike(function: &Function) {
    for way in [0, 2] {
        if let Err(difference) = compare(function, [32, 1, 1], &[], std::slice::from_ref(&WAYS[way])) {
            panic!("{}, {}", difference.engine, difference.what);
        }
    }
}
