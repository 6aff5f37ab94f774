//! The amount of translation: which code launches translate, and how often.

use std::path::Path;
use std::time::Duration;

use warploom::{Arg, Effort, EngineKind, INTERPRETED, LaunchOptions, LaunchOutcome, Program};

/// A program, and the launch of one of its kernels in a shape.
struct Launcher {
    program: Program,
    kernel: &'static str,
}

impl Launcher {
    fn new(cubin: &str, kernel: &'static str) -> Launcher {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(cubin);
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Launcher {
            program: Program::load(&bytes, Some(kernel)).expect("a module with this kernel"),
            kernel,
        }
    }

    fn zeros(&self, bytes: u64) -> Arg {
        Arg::pointer(self.program.memory().alloc(bytes, 16).expect("memory for a buffer"))
    }

    fn launch(&self, args: &[Arg], grid: u32, block: u32, threads: usize) -> LaunchOutcome {
        let kernel = self.program.kernel(self.kernel).expect("the kernel");
        let mut options = LaunchOptions::new([grid, 1, 1], [block, 1, 1]);
        (options.engine, options.threads) = (EngineKind::Jit, threads);
        let outcome = kernel.launch(args, &options).expect("a launch");
        assert_eq!(outcome.fault, None);
        outcome
    }
}

#[test]
fn a_second_launch_translates_nothing() {
    let saxpy = Launcher::new("examples/saxpy/saxpy.sm_50.cubin", "saxpy");
    let (x, y) = (saxpy.zeros(1 << 16), saxpy.zeros(1 << 16));
    let args = |n: i32, a: f32| [Arg::from(n), Arg::from(a), x.clone(), y.clone()];
    assert_ne!(saxpy.launch(&args(1000, 1.0), 4, 256, 1).translate, Duration::ZERO);
    // Another grid, other parameters, and a block of another size but of an equal class.
    for (n, a, grid, block) in
        [(1000, 1.0, 4, 256), (5000, -3.5, 20, 256), (1, 0.0, 1, 256), (5000, 2.0, 10, 512)]
    {
        let outcome = saxpy.launch(&args(n, a), grid, block, 1);
        assert_eq!(outcome.translate, Duration::ZERO, "n {n}, grid {grid}, block {block}");
    }
}

#[test]
fn hot_code_is_made_again_in_the_launch_and_leaves_the_same() {
    const PIXELS: u32 = 96 * 32;
    let run = |effort| {
        let mandelbrot = Launcher::new("examples/mandelbrot/mandelbrot.sm_50.cubin", "mandelbrot");
        let memory = mandelbrot.program.memory();
        let image = memory.alloc(2 * u64::from(PIXELS), 16).expect("memory for the image");
        let view = [-1.5f32, 0.05, 0.0005, 0.01].map(Arg::from);
        let args = [
            &[Arg::pointer(image), Arg::from(PIXELS), Arg::from(1)][..],
            &view,
            &[Arg::from(2000)],
        ]
        .concat();
        let kernel = mandelbrot.program.kernel("mandelbrot").expect("the kernel");
        let options =
            LaunchOptions { effort, ..LaunchOptions::new([PIXELS / 32, 1, 1], [32, 1, 1]) };
        let counts = kernel.launch(&args, &options).expect("a launch").counts;
        // The launch has already made the code for this effort.
        let hot = if effort.is_fast() { effort } else { Effort::Likely };
        let again = kernel.translate([32, 1, 1], 1, hot).expect("a translation");
        assert_eq!(again, Duration::ZERO, "{effort:?}, {counts:?}");
        let mut pixels = vec![0; 2 * PIXELS as usize];
        memory.read(image, &mut pixels).expect("the image");
        (pixels, counts.instructions, counts.lane_instructions)
    };
    assert!(run(Effort::Quick) == run(Effort::Full));
}

/// Code of the first fast tier relies on full warps.
#[test]
fn where_what_is_likely_does_not_hold_code_is_made_a_third_time() {
    let saxpy = Launcher::new("examples/saxpy/saxpy.sm_50.cubin", "saxpy");
    let kernel = saxpy.program.kernel("saxpy").expect("the kernel");
    let grid = 16_000u32;
    let n = grid * 64;
    let args = [
        Arg::from(n),
        Arg::from(2.0f32),
        saxpy.zeros(4 * u64::from(n)),
        saxpy.zeros(4 * u64::from(n)),
    ];
    // With blocks of 48 lanes, half the warps are full; the launch has more than 10,000 partial
    // warps.
    for (block, third) in [(64, false), (48, true)] {
        saxpy.launch(&args, grid, block, 1);
        let made =
            |effort| kernel.translate([block, 1, 1], 1, effort).expect("a translation").is_zero();
        assert!(made(Effort::Likely), "blocks of {block}");
        assert_eq!(made(Effort::Full), third, "blocks of {block}");
    }
}

/// The first launch analyses the kernel. The last launch that interprets instructions makes code.
#[test]
fn code_that_is_executed_seldom_is_interpreted() {
    let saxpy = Launcher::new("examples/saxpy/saxpy.sm_50.cubin", "saxpy");
    let kernel = saxpy.program.kernel("saxpy").expect("the kernel");
    let args = [Arg::from(32), Arg::from(2.0f32), saxpy.zeros(128), saxpy.zeros(128)];
    let options =
        LaunchOptions { interpreted: INTERPRETED, ..LaunchOptions::new([1; 3], [32, 1, 1]) };
    let launches = (0..2 * INTERPRETED).map(|_| kernel.launch(&args, &options).expect("a launch"));
    let translating = launches.map(|outcome| {
        assert_eq!((outcome.fault, outcome.counts.interp_instructions), (None, 0));
        outcome.translate > Duration::ZERO
    });
    let translating: Vec<bool> = translating.collect();
    let expected = |launch| launch == 0 || launch == INTERPRETED - 1;
    assert_eq!(translating, (0..2 * INTERPRETED).map(expected).collect::<Vec<bool>>());
}

#[test]
fn forty_block_sizes_make_at_most_four_variants() {
    let saxpy = Launcher::new("examples/saxpy/saxpy.sm_50.cubin", "saxpy");
    let args = [Arg::from(1000), Arg::from(2.0f32), saxpy.zeros(4096), saxpy.zeros(4096)];
    let sizes = (1..=40).map(|k| k * 25 + k % 7);
    let translated = sizes.filter(|&block| {
        saxpy.launch(&args, 1000u32.div_ceil(block), block, 1).translate > Duration::ZERO
    });
    assert!((1..=4).contains(&translated.count()));
}

#[test]
fn a_kernel_of_more_than_ten_thousand_instructions() {
    let unroll = Launcher::new("benches/fixtures/unroll10k.sm_50.cubin", "unroll10k");
    let n = 77;
    let outcome = unroll.launch(
        &[unroll.zeros(4 * (n + 64)), unroll.zeros(4 * n * 48), Arg::from(n as u32)],
        3,
        32,
        1,
    );
    assert!(outcome.counts.instructions > 3 * 10_000);
}

/// Hot code stays native: helpers and the interpreter are for rare cases.
#[test]
fn hot_kernels_call_next_to_no_helpers() {
    let saxpy = Launcher::new("examples/saxpy/saxpy.sm_50.cubin", "saxpy");
    let n = 40_000u32;
    let args = [
        Arg::from(n),
        Arg::from(2.0f32),
        saxpy.zeros(4 * u64::from(n)),
        saxpy.zeros(4 * u64::from(n)),
    ];
    assert_native("saxpy", &saxpy.launch(&args, n.div_ceil(256), 256, 1));

    let mandelbrot = Launcher::new("examples/mandelbrot/mandelbrot.sm_50.cubin", "mandelbrot");
    let view = [-2.2f32, 0.1, 0.03, 0.01].map(Arg::from);
    let args = [
        [mandelbrot.zeros(2 * 100), Arg::from(100), Arg::from(1)].as_slice(),
        &view,
        &[Arg::from(500)],
    ]
    .concat();
    assert_native("mandelbrot", &mandelbrot.launch(&args, 4, 32, 1));

    let fma = Launcher::new("benches/fixtures/fma.sm_50.cubin", "fma_chains");
    let args = [fma.zeros(4 * 5000), fma.zeros(4 * 5000), Arg::from(5000), Arg::from(10)];
    assert_native("fma_chains", &fma.launch(&args, 20, 256, 1));

    let histogram = Launcher::new("examples/histogram/histogram.sm_50.cubin", "histogram_shared");
    let args = [histogram.zeros(200_000), histogram.zeros(1024), Arg::from(200_000)];
    assert_native("histogram_shared", &histogram.launch(&args, 4, 256, 1));

    let nbody = Launcher::new("examples/nbody/nbody.sm_50.cubin", "nbody");
    let kernel = nbody.program.kernel("nbody").expect("the kernel");
    let mut args: Vec<Arg> = (0..5).map(|_| nbody.zeros(1 << 14)).collect();
    args.extend([
        Arg::from(512),
        Arg::from(0.1f32),
        Arg::from(0.1f32),
        Arg::from(8),
        Arg::from(8),
        Arg::from(1.0f32),
    ]);
    let mut options = LaunchOptions::new([2, 1, 1], [256, 1, 1]);
    options.shared_bytes = 4096;
    assert_native("nbody", &kernel.launch(&args, &options).expect("a launch"));
}

/// Asserts at most one helper call and one interpreted instruction in a hundred instructions.
#[track_caller]
fn assert_native(name: &str, outcome: &LaunchOutcome) {
    let counts = outcome.counts;
    assert!(counts.helper_calls * 100 <= counts.instructions, "{name}: {counts:?}");
    assert!(counts.interp_instructions * 100 <= counts.instructions, "{name}: {counts:?}");
}
