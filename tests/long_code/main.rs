//! Long code: 100,000 instructions in a line, 10,000 blocks, control flow nested 1,000 deep, each on a thread with a stack of 2 MiB and in about
//! linear time.

use std::time::{Duration, Instant};

mod ptx;

/// The stack of a thread that nobody asked to be larger.
const STACK: usize = 2 << 20;

/// Does something on a thread with that stack.
fn on_small_stack<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        builder.spawn_scoped(scope, f).expect("a thread").join().expect("no panic")
    })
}

/// Something that takes so long for an input of a size takes at most three times as long for twice the size.
fn grows_linearly(name: &str, size: usize, mut work: impl FnMut(usize)) {
    // What else the machine does makes some turns longer.
    let mut best = |size: usize| {
        let turn = |work: &mut dyn FnMut(usize)| {
            let start = Instant::now();
            work(size);
            start.elapsed()
        };
        (0..3).map(|_| turn(&mut work)).min().unwrap_or_default()
    };
    let (half, whole) = (best(size / 2), best(size));
    assert!(whole <= half * 3 + Duration::from_millis(200), "{name}: {half:?} for half of it, {whole:?} for {size}");
}
