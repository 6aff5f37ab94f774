//! Long code: lines of 100,000 instructions that depend on each other, 10,000 blocks, control flow
//! nested 1,000 deep. Each test runs on a thread with a stack of 2 MiB.
//!
//! `cargo test --release --test long_code -- --ignored` checks that time grows linearly with the
//! code.

mod gfx9;
mod ir;
mod maxwell;
mod ptx;
mod visa;

use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

use warploom_ir::Function;
use warploom_testing::compare::{WAYS, compare};

/// The default stack size of a thread, in bytes.
const STACK: usize = 2 << 20;

/// Runs a closure on a thread with a stack of [`STACK`] bytes.
fn on_small_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, run)
            .expect("a thread starts");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Checks that the interpreter and, after analysis, code made with little and with much effort
/// agree.
fn runs_alike(function: &Function) {
    for way in [0, 2] {
        if let Err(difference) =
            compare(function, [32, 1, 1], &[], std::slice::from_ref(&WAYS[way]))
        {
            panic!("{}, {}", difference.engine, difference.what);
        }
    }
}

/// Checks that `work` takes at most three times as long for `size` as for half of it.
fn grows_linearly(name: &str, size: usize, mut work: impl FnMut(usize)) {
    // The shortest of several runs counts, because the machine may do other work.
    let mut best = |size: usize| {
        let turn = |work: &mut dyn FnMut(usize)| {
            let start = Instant::now();
            work(size);
            start.elapsed()
        };
        (0..3).map(|_| turn(&mut work)).min().unwrap_or_default()
    };
    let (half, whole) = (best(size / 2), best(size));
    println!("{name}: {half:?} for {}, {whole:?} for {size}", size / 2);
    assert!(
        whole <= half * 3 + Duration::from_millis(200),
        "{name}: {half:?} for half of it, {whole:?} for {size}"
    );
}
