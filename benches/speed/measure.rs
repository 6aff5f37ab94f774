//! Serves `benches/peers`: writes the suite as files, and takes single measurements in a process of
//! their own. Prints JSON.
//!
//!     --manifests FOLDER                        writes all launches below FOLDER and lists them
//!     --plain CASE full|small                   times the plain loops
//!     --launch MANIFEST ENGINE THREADS RESET    times a launch: the first, then repeated ones

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use warploom::EngineKind;

use crate::peak::peak_kib;
use crate::suite::{self, Case, Ready, Size, growth};

/// How long a measurement is repeated, and the bounds of its number of repetitions.
const GOING_ON: Duration = Duration::from_millis(300);
const SAMPLES: std::ops::RangeInclusive<usize> = 5..=2_000;

/// Runs the command that the arguments name. Returns false if they name no command of this module.
pub fn run(arguments: &[String]) -> bool {
    let start = Instant::now();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = match words[..] {
        ["--manifests", folder] => manifests(Path::new(folder)),
        ["--plain", name, size] => {
            plain(name, if size == "full" { Size::Full } else { Size::Small })
        }
        ["--launch", manifest, engine, threads, reset] => {
            let engine = if engine == "jit" { EngineKind::Jit } else { EngineKind::Interp };
            launch(
                start,
                Path::new(manifest),
                engine,
                threads.parse().expect("a number of threads"),
                reset == "true",
            )
        }
        _ => return false,
    };
    println!("{answer}");
    true
}

fn manifests(folder: &Path) -> Value {
    let write = |mut case: Case, name: &str| {
        let path = case.write(&folder.join(name));
        json!({
            "name": case.name,
            "folder": path,
            "unit": case.unit,
            "work": case.work,
            "reset": case.reset,
            "opencl": case.opencl.map(|path| Path::new(env!("CARGO_MANIFEST_DIR")).join(path)),
            "targets": case.targets.iter().map(|target| target.name).collect::<Vec<_>>(),
        })
    };
    let all = |size, name| {
        suite::cases(size).into_iter().map(|case| write(case, name)).collect::<Vec<_>>()
    };
    let blocks = growth::BLOCKS.map(|blocks| {
        let listed = write(growth::compute(blocks), &format!("blocks-{blocks}"));
        json!({ "blocks": blocks, "case": listed })
    });
    let code = growth::unrolled().map(|case| write(case, "code"));
    json!({ "full": all(Size::Full, "full"), "small": all(Size::Small, "small"), "blocks": blocks, "code": code })
}

/// Returns the seconds that each plain loop takes.
fn plain(name: &str, size: Size) -> Value {
    let mut cases = suite::cases(size).into_iter();
    let mut case = cases.find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"));
    let first = case.contents();
    let mut seconds = serde_json::Map::new();
    for (name, plain) in &mut case.plain {
        let mut now = first.clone();
        let reset = |now: &mut Vec<_>| {
            if case.reset {
                *now = first.clone();
            }
        };
        seconds.insert(
            (*name).to_string(),
            json!(median(&mut now, reset, |now| plain(black_box(now)))),
        );
    }
    Value::Object(seconds)
}

fn launch(
    start: Instant,
    manifest: &Path,
    engine: EngineKind,
    threads: usize,
    reset: bool,
) -> Value {
    let mut ready = Ready::read(manifest);
    let options = ready.options(engine, threads);
    let loaded = start.elapsed();
    let outcome = ready.launch(&options);
    let first = start.elapsed() - loaded;
    ready.check();
    // The peak includes the expected results, which are in memory.
    let peak = peak_kib();
    let reset = |ready: &mut Ready| {
        if reset {
            ready.reset();
        }
    };
    let seconds = median(&mut ready, reset, |ready| {
        black_box(ready.launch(&options));
    });
    json!({
        "load": loaded.as_secs_f64(),
        "first": first.as_secs_f64(),
        "translate": outcome.translate.as_secs_f64(),
        "peak_kib": peak,
        "seconds": seconds,
        "code_bytes": ready.code_bytes(),
        "instructions": outcome.counts.instructions,
        "host_instructions": ready.host_instructions().0,
        "lane_instructions": outcome.counts.lane_instructions,
        "helper_calls": outcome.counts.helper_calls,
    })
}

/// Returns the median time of `work` in seconds, over repeated calls. The time of `before` does not
/// count.
fn median<S>(state: &mut S, before: impl Fn(&mut S), mut work: impl FnMut(&mut S)) -> f64 {
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < *SAMPLES.start()
        || times.len() < *SAMPLES.end() && start.elapsed() < GOING_ON
    {
        before(state);
        let start = Instant::now();
        work(state);
        times.push(start.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}
