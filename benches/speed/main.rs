//! Measures the kernels of `benches/suite` in the JIT, in the interpreter and as plain Rust loops.
//! See `docs/benchmarking.md`.

mod measure;
#[path = "../suite/peak.rs"]
mod peak;
mod ratios;
#[path = "../suite/mod.rs"]
mod suite;

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use suite::{Case, Ready, Size};
use warploom::{Effort, EngineKind, LaunchOptions};

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if measure::run(&arguments) {
        return;
    }
    let mut criterion = Criterion::default().configure_from_args();
    let mut measured = vec![];
    for case in suite::cases(Size::Full) {
        measured.push((case.name, case.targets.iter().map(|target| target.name).collect()));
        bench(&mut criterion, case);
    }
    criterion.final_summary();
    ratios::print(&measured);
}

/// Measures a case: its plain loops, then each target in the JIT with one and two threads, and in
/// the interpreter.
fn bench(c: &mut Criterion, mut case: Case) {
    let folder = case.write(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("suite"));
    let mut group = c.benchmark_group(case.name);
    group.throughput(Throughput::Elements(case.work)).sample_size(20);
    group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2));
    let first = case.contents();
    for (name, plain) in &mut case.plain {
        let mut now = first.clone();
        if case.reset {
            group.bench_function(*name, |b| {
                b.iter_batched_ref(
                    || first.clone(),
                    |now| plain(black_box(now)),
                    BatchSize::LargeInput,
                )
            });
        } else {
            group.bench_function(*name, |b| b.iter(|| plain(black_box(&mut now))));
        }
    }
    for target in &case.targets {
        let ready = Ready::read(&folder.join(target.name).with_extension("toml"));
        for threads in [1, 2] {
            launches(
                &mut group,
                &case,
                &ready,
                BenchmarkId::new(target.name, threads),
                EngineKind::Jit,
                threads,
            );
        }
        group.sample_size(10);
        launches(
            &mut group,
            &case,
            &ready,
            BenchmarkId::new(target.name, "interp"),
            EngineKind::Interp,
            1,
        );
        group.sample_size(20);
    }
    group.finish();
}

/// Checks the results of one engine on a target, then measures the engine.
fn launches(
    group: &mut BenchmarkGroup<WallTime>,
    case: &Case,
    ready: &Ready,
    id: BenchmarkId,
    engine: EngineKind,
    threads: usize,
) {
    // The JIT compiles hot code with full effort.
    let options = LaunchOptions { effort: Effort::Full, ..ready.options(engine, threads) };
    // Runs only if the benchmark was asked for.
    let prepare = || {
        ready.reset();
        let first = ready.launch(&options);
        ready.check();
        ready.reset();
        let counts = ready.launch(&options);
        assert!(
            counts.translate.is_zero(),
            "{}: the second launch translated for {:?}",
            case.name,
            counts.translate
        );
        println!(
            "translated in {:?}; a launch: {} guest instructions, {} of lanes, {} helper calls, {} in the interpreter",
            first.translate,
            counts.counts.instructions,
            counts.counts.lane_instructions,
            counts.counts.helper_calls,
            counts.counts.interp_instructions
        );
    };
    let mut prepared = false;
    group.bench_function(id, |b| {
        if !std::mem::replace(&mut prepared, true) {
            prepare();
        }
        if case.reset {
            b.iter_batched(|| ready.reset(), |()| ready.launch(&options), BatchSize::PerIteration);
        } else {
            b.iter(|| ready.launch(&options));
        }
    });
}
