//! Host threads that count in shared words lose no increment.

use warploom::{Arg, EngineKind, LaunchOptions, Program};

const GRID: u32 = 32;
const BLOCK: u32 = 128;

/// Lets every lane of the grid count `n` times, and checks all sums.
fn count(engine: EngineKind, threads: usize, n: u32) {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/maxwell/behaviour/contend.sm_50.cubin"
    );
    let binary = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let program = Program::load(&binary, None).expect("a program");
    let [word, wide, real, ring, cas, seen] =
        [(); 6].map(|()| program.memory().alloc(8, 8).expect("memory"));
    let args = [
        Arg::from(n),
        Arg::pointer(word),
        Arg::pointer(wide),
        Arg::pointer(real),
        Arg::pointer(ring),
    ];
    let args = args.into_iter().chain([Arg::pointer(cas), Arg::pointer(seen)]).collect::<Vec<_>>();
    let mut options = LaunchOptions::new([GRID, 1, 1], [BLOCK, 1, 1]);
    (options.engine, options.threads) = (engine, threads);
    let outcome =
        program.only_kernel().expect("one kernel").launch(&args, &options).expect("a launch");
    assert_eq!(outcome.fault, None);
    let read = |address| {
        let mut bytes = [0; 8];
        program.memory().read(address, &mut bytes).expect("a result");
        u64::from_le_bytes(bytes)
    };
    let lanes = u64::from(GRID * BLOCK);
    let total = lanes * u64::from(n);
    let label = format!("{engine}, {threads} threads");
    assert_eq!(read(word), total, "{label}: 32 bits");
    assert_eq!(read(wide), total << 32 | total, "{label}: 64 bits");
    assert_eq!(
        f32::from_bits(read(real) as u32),
        (lanes * u64::from(n.div_ceil(64))) as f32,
        "{label}: float"
    );
    assert_eq!(read(ring), total % 1000, "{label}: wrapping");
    assert_eq!(read(cas), lanes * u64::from(n.div_ceil(16)), "{label}: compare and swap");
    // Low word: the greatest old value. High word: the sum of the blocks' counts in shared memory.
    assert_eq!(read(seen), total << 32 | (total - 1), "{label}: old values, and shared memory");
}

#[test]
fn ten_million_increments() {
    let n = 10_000_000_u32.div_ceil(GRID * BLOCK);
    for threads in [2, 4] {
        count(EngineKind::Jit, threads, n);
    }
}

#[test]
fn in_the_interpreter() {
    count(EngineKind::Interp, 2, 20);
}
