//! Compares the vector back end with Cranelift: hot code of kernels of the suite, launch beside
//! launch in one process, and the time of translation. See `docs/vector-gate.md`.
//!
//!     cargo bench --features vector --bench vector [-- CASE...]

#[path = "suite/mod.rs"]
#[allow(dead_code, reason = "shared with other benchmarks, which use more of it")]
mod suite;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use suite::{Ready, Size};
use warploom::{Effort, EngineKind, LaunchOptions, Stage};
use warploom_analysis::LaunchClass;
use warploom_engine::{Backend, Program};
use warploom_ir::parse::parse;
use warploom_replay::{Launch, Session};

/// The numbers of pairs of launches, and of translations.
const PAIRS: usize = 101;
const TRANSLATIONS: usize = 21;

fn main() {
    let named: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if !warploom_vector::is_supported() {
        println!("this host has no AVX-512: nothing to measure");
        return;
    }
    println!("{}, {:.2} GHz", cpu(), gigahertz());
    println!(
        "kernel, guest: ms by Cranelift, ms by vectors, times as fast (median of pairs; least, greatest)"
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("vector");
    for mut case in suite::cases(Size::Full) {
        let wanted = if named.is_empty() {
            ["compute", "mandelbrot"].contains(&case.name)
        } else {
            named.iter().any(|name| name == case.name)
        };
        if !wanted {
            continue;
        }
        let folder = case.write(&folder);
        for target in case.targets.iter().map(|target| target.name).filter(|&name| name != "visa") {
            measure(case.name, target, &folder.join(target).with_extension("toml"));
        }
    }
}

fn backend(vectors: bool) -> Arc<dyn Backend> {
    if vectors { warploom_vector::backend() } else { warploom_cranelift::backend() }
}

/// Returns a launch whose hot code one back end has made and run once.
fn prepared(manifest: &Path, vectors: bool) -> (Ready, LaunchOptions) {
    let ready = Ready::read_for(manifest, backend(vectors));
    let options = LaunchOptions { effort: Effort::Full, ..ready.options(EngineKind::Jit, 1) };
    ready.launch(&options);
    ready.check();
    (ready, options)
}

fn measure(case: &str, target: &str, manifest: &Path) {
    let [cranelift, vectors] = [false, true].map(|vectors| prepared(manifest, vectors));
    let time = |(ready, options): &(Ready, LaunchOptions)| {
        let start = Instant::now();
        let outcome = black_box(ready.launch(options));
        (start.elapsed().as_secs_f64() * 1e3, outcome.counts.instructions)
    };
    let pairs: Vec<[f64; 2]> = (0..PAIRS)
        .map(|_| {
            let [(before, counted), (now, same)] = [time(&cranelift), time(&vectors)];
            assert_eq!(counted, same, "{case}, {target}: instructions");
            [before, now]
        })
        .collect();
    let mut ratios: Vec<f64> = pairs.iter().map(|[before, now]| before / now).collect();
    ratios.sort_by(f64::total_cmp);
    let [before, now] = [0, 1].map(|which| median(pairs.iter().map(|pair| pair[which]).collect()));
    let ratio = median(ratios.clone());
    let (least, greatest) = (ratios[PAIRS / 20], ratios[PAIRS - 1 - PAIRS / 20]);
    println!(
        "{case}, {target}: {before:.3} {now:.3} {ratio:.2} ({least:.2} to {greatest:.2} without a twentieth at each end)"
    );
    let [cranelift, vectors] = [false, true].map(|vectors| translation(manifest, vectors));
    println!(
        "    translated in {cranelift:.2} ms by Cranelift, in {vectors:.2} ms by vectors, all analysis included"
    );
    let [cranelift, vectors] = [false, true].map(|vectors| code(manifest, vectors));
    println!("    of that the code: {cranelift:.2} ms, {vectors:.2} ms");
    left_to_cranelift(manifest).iter().for_each(|why| println!("    {why}"));
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the median time of a piece of work, in milliseconds.
fn median_ms(mut work: impl FnMut() -> Duration) -> f64 {
    median((0..TRANSLATIONS).map(|_| work().as_secs_f64() * 1e3).collect())
}

fn read(manifest: &Path) -> Launch {
    Launch::read(manifest).unwrap_or_else(|e| panic!("{e}"))
}

fn session(launch: &Launch, vectors: bool) -> Session<'_> {
    let mut session = Session::new(launch).unwrap_or_else(|e| panic!("{e}"));
    session.set_backend(backend(vectors));
    session
}

/// Returns the milliseconds of a kernel's translation with full effort, from the lifted function
/// on.
fn translation(manifest: &Path, vectors: bool) -> f64 {
    let launch = read(manifest);
    median_ms(|| {
        let session = session(&launch, vectors);
        session
            .kernel()
            .expect("the kernel")
            .translate(launch.shape.block, 1, Effort::Full)
            .expect("a translation")
    })
}

/// Returns the milliseconds that the code alone takes, from the analysed function on.
fn code(manifest: &Path, vectors: bool) -> f64 {
    let launch = read(manifest);
    let session = session(&launch, vectors);
    let text = session
        .kernel()
        .expect("the kernel")
        .dump(Stage::Ir, launch.shape.block, None)
        .expect("a function");
    let function = parse(&text).expect("what is printed can be read");
    let class =
        LaunchClass::of(launch.shape.block, function.lanes.into(), warploom_cranelift::CHUNK);
    median_ms(|| {
        let program = Program::new(&function, class, true, backend(vectors)).expect("a program");
        let start = Instant::now();
        program.compile_all(Effort::Full).expect("code is made");
        start.elapsed()
    })
}

/// Returns the reasons why the vector back end leaves regions to Cranelift.
fn left_to_cranelift(manifest: &Path) -> Vec<String> {
    let launch = read(manifest);
    let session = session(&launch, true);
    let kernel = session.kernel().expect("the kernel");
    let dump = kernel.dump(Stage::Host(Effort::Full), launch.shape.block, None).expect("host code");
    dump.lines().filter(|line| line.contains("has no vectors")).map(String::from).collect()
}

/// Returns the CPU's name, as the operating system tells it.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let family = info.lines().find_map(|line| line.strip_prefix("cpu family")?.split(": ").nth(1));
    format!("{}, family {}", name.unwrap_or("an unknown CPU"), family.unwrap_or("unknown"))
}

/// Returns the frequency, from steps that each take six cycles: three shifts and three exclusive
/// ors, one after the other.
fn gigahertz() -> f64 {
    const STEPS: u64 = 100_000_000;
    let start = Instant::now();
    let mut state = black_box(0x1234_5678_9abc_def1u64);
    for _ in 0..STEPS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
    6.0 * STEPS as f64 / start.elapsed().as_nanos() as f64
}
