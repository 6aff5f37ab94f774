//! A kernel over a buffer with some pages that are not resident.

use std::path::Path;

use warploom::{Arg, EngineKind, LaunchOptions, Program};
use warploom_runtime::memory::{Access, PAGE_BYTES, Placement, Unbound};

use crate::reference;
use crate::support::bytes_of;

/// The number of floats of a page.
const PAGE: usize = PAGE_BYTES as usize / 4;

/// Computes y = 2 x + y with three pages of y, of which the middle page is not resident: it reads 0
/// and drops writes. After the page is bound, it keeps writes.
#[test]
fn what_is_not_resident_reads_zero_and_drops_writes() {
    let cubin = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/saxpy/saxpy.sm_50.cubin");
    let binary = std::fs::read(&cubin).unwrap_or_else(|e| panic!("{}: {e}", cubin.display()));
    let n = 3 * PAGE - 5;
    let x: Vec<f32> = (0..n).map(|i| (i % 101) as f32).collect();
    for (engine, threads) in [(EngineKind::Interp, 1), (EngineKind::Jit, 1), (EngineKind::Jit, 2)] {
        let program = Program::load(&binary, None).expect("the example");
        let memory = program.memory();
        let x_address = memory.alloc(4 * n as u64, 4).expect("memory for x");
        memory.write(x_address, &bytes_of(&x)).expect("x");
        let y_address = memory
            .reserve(Placement::ANYWHERE, 3 * PAGE_BYTES, Unbound::Sparse)
            .expect("a range for y");
        let bind = |page: u64| {
            memory
                .bind(y_address + page * PAGE_BYTES, PAGE_BYTES, Access::READ_WRITE)
                .expect("a page")
        };
        let mut y = vec![0.0f32; n];
        let run = |y: &mut Vec<f32>, middle: bool| {
            let args = [
                Arg::from(n as i32),
                Arg::from(2.0f32),
                Arg::pointer(x_address),
                Arg::pointer(y_address),
            ];
            let mut options = LaunchOptions::new([n.div_ceil(192) as u32, 1, 1], [192, 1, 1]);
            (options.engine, options.threads) = (engine, threads);
            let outcome = program
                .kernel("saxpy")
                .expect("the kernel")
                .launch(&args, &options)
                .expect("a launch");
            assert_eq!(outcome.fault, None);
            *y = reference::saxpy(2.0, &x, y);
            if !middle {
                y[PAGE..2 * PAGE].fill(0.0);
            }
            let mut bytes = vec![0; 4 * n];
            memory.read(y_address, &mut bytes).expect("y");
            assert!(
                bytes == bytes_of(y),
                "{engine}, {threads} threads, middle page bound: {middle}"
            );
        };
        bind(0);
        bind(2);
        run(&mut y, false);
        run(&mut y, false);
        bind(1);
        run(&mut y, true);
    }
}
