//! Long code: 100,000 instructions in a line that depend on each other, 10,000 blocks, control flow nested 1,000 deep,
//! each on a thread with a stack of 2 MiB.
//!
//! `cargo test --release --test long_code -- --ignored` measures that time grows as the code does.

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

/// Bytes of the stack of a thread that nobody asked to be larger.
const STACK: usize = 2 << 20;

/// Runs something on a thread with a stack of [`STACK`] bytes.
fn on_small_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, run)
            .expect("a thread starts");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Runs a function alike on the interpreter, after analysis and as code made with little effort and with much.
fn runs_alike(function: &Function) {
    for way in [0, 2] {
        if let Err(difference) =
            compare(function, [32, 1, 1], &[], std::slice::from_ref(&WAYS[way]))
        {
            panic!("{}, {}", difference.engine, difference.what);
        }
    }
}

/// Something that takes so long for an input of a size takes at most three times as long for twice the size.
fn grows_linearly(name: &str, size: usize, mut work: impl FnMut(usize)) {
    // The least of several turns: the machine does other work meanwhile.
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
