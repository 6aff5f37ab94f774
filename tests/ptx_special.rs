//! Special registers of PTX on both engines.

use warploom::{Arg, EngineKind, LaunchOptions, Program};

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];
const GRID: [u32; 3] = [2, 3, 2];
const BLOCK: [u32; 3] = [5, 4, 3];
const LANES: u64 = 5 * 4 * 3;

#[derive(Clone, Copy)]
struct Setup<'a> {
    target: &'a str,
    before: &'a str,
    directives: &'a str,
    dynamic: u32,
    cooperative: bool,
}

const PLAIN: Setup<'_> =
    Setup { target: "sm_90", before: "", directives: "", dynamic: 0, cooperative: false };

fn text(setup: &Setup<'_>, body: &str) -> String {
    format!(
        ".version 8.1\n.target {}\n.address_size 64\n{}\n\
         .visible .entry k(.param .u64 pout) {}\n{{\n\
         .reg .b64 %out, %at, %result, %d<8>; .reg .b32 %b<8>, %lanes, %r<16>; .reg .b16 %h<8>; .reg .pred %p<4>;\n\
         ld.param.u64 %out, [pout]; mov.b64 %result, 0; mov.b32 %r0, 0;\n{body}\n\
         mov.u32 %b0, %ctaid.x; mov.u32 %b1, %ctaid.y; mov.u32 %b2, %ctaid.z;\n\
         mad.lo.u32 %b0, %b1, {}, %b0; mad.lo.u32 %b0, %b2, {}, %b0;\n\
         mov.u32 %b3, %tid.x; mov.u32 %b4, %tid.y; mov.u32 %b5, %tid.z;\n\
         mad.lo.u32 %b3, %b4, {}, %b3; mad.lo.u32 %b3, %b5, {}, %b3; mad.lo.u32 %b3, %b0, {LANES}, %b3;\n\
         mad.wide.u32 %at, %b3, 8, %out; st.global.u64 [%at], %result; ret;\n}}\n",
        setup.target,
        setup.before,
        setup.directives,
        GRID[0],
        GRID[0] * GRID[1],
        BLOCK[0],
        BLOCK[0] * BLOCK[1],
    )
}

/// Returns `%result` of all lanes of all blocks, after each of `count` launches of one program.
fn launches(setup: &Setup<'_>, body: &str, count: usize, engine: EngineKind) -> Vec<Vec<u64>> {
    let text = text(setup, body);
    let program =
        Program::load(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut bytes = vec![0; GRID.iter().product::<u32>() as usize * LANES as usize * 8];
    let out = program.memory().alloc(bytes.len() as u64, 256).unwrap();
    let options = LaunchOptions {
        engine,
        threads: 2,
        shared_bytes: setup.dynamic,
        cooperative: setup.cooperative,
        ..LaunchOptions::new(GRID, BLOCK)
    };
    let mut launch = || {
        let outcome = program.kernel("k").unwrap().launch(&[Arg::pointer(out)], &options).unwrap();
        assert!(
            outcome.fault.is_none(),
            "{engine}: {:?}\n{text}",
            outcome.fault.map(|fault| fault.to_string())
        );
        program.memory().read(out, &mut bytes).unwrap();
        bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
    };
    (0..count).map(|_| launch()).collect()
}

fn run_with(setup: &Setup<'_>, body: &str) -> Vec<u64> {
    let [a, b] = ENGINES.map(|engine| launches(setup, body, 1, engine).remove(0));
    assert_eq!(a, b, "the engines differ\n{body}");
    a
}

/// Returns a register of 32 bits, as `mov` gives it.
fn word(register: &str) -> Vec<u64> {
    run_with(&PLAIN, &format!("mov.u32 %r1, {register}; cvt.u64.u32 %result, %r1;"))
}

/// Returns each lane's value, from the lane's index in the block and the block's index.
fn each(of: impl Fn([u32; 3], [u32; 3]) -> u32) -> Vec<u64> {
    let indices = |[nx, ny, nz]: [u32; 3]| {
        (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
    };
    indices(GRID)
        .flat_map(|block| indices(BLOCK).map(move |lane| (lane, block)))
        .map(|(l, b)| of(l, b).into())
        .collect()
}

fn linear([x, y, z]: [u32; 3]) -> u32 {
    x + BLOCK[0] * (y + BLOCK[1] * z)
}

#[test]
fn indices_and_sizes() {
    for (n, axis) in ["x", "y", "z"].into_iter().enumerate() {
        assert_eq!(word(&format!("%tid.{axis}")), each(|lane, _| lane[n]), "{axis}");
        for name in ["ctaid", "clusterid"] {
            assert_eq!(
                word(&format!("%{name}.{axis}")),
                each(|_, block| block[n]),
                "%{name}.{axis}"
            );
        }
        assert_eq!(word(&format!("%ntid.{axis}")), each(|_, _| BLOCK[n]), "{axis}");
        for name in ["nctaid", "nclusterid"] {
            assert_eq!(word(&format!("%{name}.{axis}")), each(|_, _| GRID[n]), "%{name}.{axis}");
        }
        assert_eq!(word(&format!("%cluster_ctaid.{axis}")), each(|_, _| 0), "{axis}");
        assert_eq!(word(&format!("%cluster_nctaid.{axis}")), each(|_, _| 1), "{axis}");
    }
    for name in ["tid", "ctaid", "clusterid", "cluster_ctaid"] {
        assert_eq!(word(&format!("%{name}.w")), each(|_, _| 0), "%{name}.w");
    }
    for name in ["ntid", "nctaid", "nclusterid", "cluster_nctaid"] {
        assert_eq!(word(&format!("%{name}.w")), each(|_, _| 1), "%{name}.w");
    }
    assert_eq!(word("%cluster_ctarank"), each(|_, _| 0));
    assert_eq!(word("%cluster_nctarank"), each(|_, _| 1));
}

#[test]
fn whole_vectors_and_halves() {
    let body = "mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid; mov.v4.u32 {%r5, %r6, %r7, %r8}, %ntid;
        mad.lo.u32 %r1, %r2, 16, %r1; mad.lo.u32 %r1, %r3, 256, %r1; mad.lo.u32 %r1, %r4, 4096, %r1;
        mad.lo.u32 %r1, %r5, 0x10000, %r1; mad.lo.u32 %r1, %r6, 0x100000, %r1; mad.lo.u32 %r1, %r7, 0x1000000, %r1;
        mad.lo.u32 %r1, %r8, 0x10000000, %r1; cvt.u64.u32 %result, %r1;";
    assert_eq!(run_with(&PLAIN, body), each(|[x, y, z], _| 0x1345_0000 | z << 8 | y << 4 | x));
    let body = "mov.u16 %h1, %tid.y; mov.u16 %h2, %nctaid.y; mul.wide.u16 %r1, %h1, %h2; cvt.u64.u32 %result, %r1;";
    assert_eq!(run_with(&PLAIN, body), each(|[_, y, _], _| 3 * y));
    assert_eq!(run_with(&PLAIN, "cvt.u64.u32 %result, %tid.z;"), each(|[_, _, z], _| z));
}

#[test]
fn lanes_and_their_masks() {
    let lane = |at: [u32; 3]| linear(at) % 32;
    assert_eq!(word("%laneid"), each(|at, _| lane(at)));
    assert_eq!(word("%warpid"), each(|at, _| linear(at) / 32));
    assert_eq!(word("%lanemask_eq"), each(|at, _| 1 << lane(at)));
    assert_eq!(word("%lanemask_lt"), each(|at, _| (1 << lane(at)) - 1));
    assert_eq!(word("%lanemask_le"), each(|at, _| u32::MAX >> (31 - lane(at))));
    assert_eq!(word("%lanemask_ge"), each(|at, _| u32::MAX << lane(at)));
    assert_eq!(word("%lanemask_gt"), each(|at, _| (u64::from(u32::MAX) << (lane(at) + 1)) as u32));
    assert_eq!(
        run_with(&PLAIN, "mov.u32 %r1, WARP_SZ; cvt.u64.u32 %result, %r1;"),
        each(|_, _| 32)
    );
}

#[test]
fn processors_have_numbers_below_their_count() {
    for (number, count) in [("smid", "nsmid"), ("warpid", "nwarpid")] {
        let numbers = word(&format!("%{number}"));
        let counts = word(&format!("%{count}"));
        assert!(numbers.iter().zip(&counts).all(|(number, count)| number < count), "%{number}");
        assert!(counts.iter().all(|count| *count == counts[0]), "%{count}");
    }
}

#[test]
fn what_is_always_zero() {
    for n in 0..8 {
        assert_eq!(word(&format!("%pm{n}")), each(|_, _| 0));
        assert_eq!(run_with(&PLAIN, &format!("mov.u64 %result, %pm{n}_64;")), each(|_, _| 0));
    }
    for n in 0..32 {
        assert_eq!(
            run_with(&PLAIN, &format!("mov.b32 %r1, %envreg{n}; cvt.u64.u32 %result, %r1;")),
            each(|_, _| 0)
        );
    }
    assert_eq!(run_with(&PLAIN, "mov.u64 %result, %current_graph_exec;"), each(|_, _| 0));
}

#[test]
fn cooperative_grids_have_a_workspace() {
    let setup = Setup { cooperative: true, ..PLAIN };
    let body = "mov.b32 %r1, %envreg1; mov.b32 %r2, %envreg2; mov.b64 %d1, {%r2, %r1}; ld.global.u32 %r3, [%d1];
        cvt.u64.u32 %result, %r3;";
    assert_eq!(run_with(&setup, body), each(|_, _| 8), "the size of the workspace");
}

#[test]
fn grids_are_numbered() {
    for engine in ENGINES {
        let body = "mov.u64 %result, %gridid;";
        for (grid, number) in launches(&PLAIN, body, 3, engine).into_iter().zip(1..) {
            assert!(grid.iter().all(|&found| found == number), "{engine}: launch {number}");
        }
        let body = "mov.u32 %r1, %gridid; mov.u16 %h1, %gridid; cvt.u32.u16 %r2, %h1; mov.b64 %result, {%r1, %r2};";
        assert_eq!(
            launches(&PLAIN, body, 2, engine)[1],
            each(|_, _| 2).iter().map(|n| n | n << 32).collect::<Vec<_>>()
        );
    }
}

/// Returns a loop of 1000 steps between two readings.
fn between(read: &str) -> String {
    format!(
        "{read} mov.b64 %d1, %d0; mov.u32 %r1, 0; mov.u32 %r3, %tid.x;
        again: add.u32 %r1, %r1, 1; mul.lo.u32 %r3, %r3, 5; setp.lt.u32 %p1, %r1, 1000; @%p1 bra again;
        {read} sub.u64 %result, %d0, %d1;"
    )
}

#[test]
fn clocks_grow() {
    let words = "mov.u32 %r4, %clock; mov.u32 %r5, %clock_hi; mov.b64 %d0, {%r4, %r5};";
    let nanoseconds =
        "mov.u32 %r4, %globaltimer_lo; mov.u32 %r5, %globaltimer_hi; mov.b64 %d0, {%r4, %r5};";
    for read in ["mov.u64 %d0, %clock64;", words, "mov.u64 %d0, %globaltimer;", nanoseconds] {
        let found = run_with(&PLAIN, &between(read));
        assert!(found.iter().all(|&steps| (1000..100_000).contains(&steps)), "{read}: {found:?}");
    }
}

#[test]
fn a_nanosecond_is_a_cycle_and_time_goes_on_between_launches() {
    for engine in ENGINES {
        let read = "mov.u64 %d4, %clock64; mov.u64 %d5, %globaltimer; sub.u64 %d0, %d5, %d4;";
        let differences = launches(&PLAIN, &between(read), 1, engine).remove(0);
        let first = differences[0] as i64;
        assert!(
            differences.iter().all(|&difference| (difference as i64).abs() <= 2),
            "{engine}: {first}"
        );
        let times = launches(&PLAIN, "mov.u64 %result, %globaltimer;", 3, engine);
        for pair in times.windows(2) {
            assert!(pair[0].iter().max() < pair[1].iter().min(), "{engine}: {pair:?}");
        }
    }
}

#[test]
fn readings_in_one_line_differ() {
    let body = "mov.u64 %d0, %clock64; mov.u64 %d1, %clock64; sub.u64 %result, %d1, %d0;";
    let found = run_with(&PLAIN, body);
    assert!(found.iter().all(|&steps| (1..10).contains(&steps)), "{}", found[0]);
}

#[test]
fn shared_memory_is_counted() {
    let size = |setup: &Setup<'_>, register: &str| {
        let body =
            format!("mov.u64 %d0, memory; mov.b32 %r1, {register}; cvt.u64.u32 %result, %r1;");
        let found = run_with(setup, &body);
        assert!(found.iter().all(|size| *size == found[0]), "{register}");
        found[0]
    };
    // The kernel itself has 300 bytes.
    let before = ".shared .align 4 .b8 memory[300];";
    let old = Setup { target: "sm_75", before, dynamic: 100, ..PLAIN };
    assert_eq!(size(&old, "%dynamic_smem_size"), 100);
    assert_eq!(size(&old, "%total_smem_size"), 512, "a multiple of 256");
    // ptxas ignores `.extern` if the declaration has a size.
    let declared = Setup { before: ".extern .shared .align 4 .b8 memory[300];", ..old };
    assert_eq!(size(&declared, "%total_smem_size"), 512);
    let new = Setup { target: "sm_90", before, dynamic: 1000, ..PLAIN };
    assert_eq!(size(&new, "%dynamic_smem_size"), 1000);
    assert_eq!(size(&new, "%total_smem_size"), 1408, "a multiple of 128");
    assert_eq!(size(&new, "%aggr_smem_size"), 1408 + 1024);
    let [begin, end] =
        ["begin", "end"].map(|name| size(&new, &format!("%reserved_smem_offset_{name}")));
    assert_eq!((begin, end), (1408, 2432), "behind what the block has");
    assert_eq!(size(&new, "%reserved_smem_offset_cap"), 1024);
    for name in ["0", "1"] {
        assert!(
            (begin..end).contains(&size(&new, &format!("%reserved_smem_offset_{name}"))),
            "{name}"
        );
    }
}

#[test]
fn clusters_are_explicit_if_the_kernel_says_so() {
    for (directives, expected) in [("", 0), (".explicitcluster", 1), (".reqnctapercluster 1", 1)] {
        let setup = Setup { directives, ..PLAIN };
        let body = "mov.pred %p1, %is_explicit_cluster; selp.u64 %result, 1, 0, %p1;";
        assert_eq!(run_with(&setup, body), each(|_, _| expected), "{directives}");
    }
}
