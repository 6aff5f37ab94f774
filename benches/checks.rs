//! The cost of checks: the time of a launch with each check, and with guarded buffers, by the time
//! of the launch, on the kernels of the benchmark suite. Code is there before: each launch runs several times, and the
//! best time counts. See `docs/checks.md`, "Figures".
//!
//!     cargo bench --bench checks                # geometric means by guest, and the worst
//!     cargo bench --bench checks -- --all       # each kernel

#[allow(dead_code, reason = "shared with other benchmarks, which use more of it")]
mod suite;

use std::collections::BTreeMap;
use std::time::Duration;

use suite::{Ready, Size};
use warploom::{Checks, Effort, EngineKind, LaunchOptions};

/// Launches of which the best counts, after the first one.
const LAUNCHES: usize = 3;

const CHECKS: [&str; 5] = ["guard", "memory", "init", "race", "sync"];

fn best(mut launch: impl FnMut() -> Duration) -> f64 {
    launch();
    (0..LAUNCHES).map(|_| launch()).min().unwrap_or_default().as_secs_f64()
}

fn main() {
    let shows_all = std::env::args().any(|argument| argument == "--all");
    let folder = tempfile::tempdir().expect("a folder");
    // By guest and check: the logarithms of the ratios.
    let mut ratios: BTreeMap<(String, usize), Vec<f64>> = BTreeMap::new();
    let mut worst = CHECKS.map(|_| (0.0, String::new()));
    for mut case in suite::cases(Size::Small) {
        let written = case.write(folder.path());
        for target in &case.targets {
            let ready = Ready::read(&written.join(format!("{}.toml", target.name)));
            let options =
                LaunchOptions { effort: Effort::Full, ..ready.options(EngineKind::Jit, 1) };
            let plain = best(|| ready.launch(&options).run);
            let of = CHECKS.map(|check| {
                if check == "guard" {
                    let guarded = ready.guarded();
                    return best(|| guarded.launch(&options).run) / plain;
                }
                let checks = Checks::named(check).expect("a check");
                best(|| ready.checked(&options, checks).run) / plain
            });
            let guest = target.name.split(' ').next().unwrap_or_default().to_owned();
            let name = format!("{} {}", case.name, target.name);
            for (i, ratio) in of.into_iter().enumerate() {
                ratios.entry((guest.clone(), i)).or_default().push(ratio.ln());
                ratios.entry(("all".into(), i)).or_default().push(ratio.ln());
                if ratio > worst[i].0 {
                    worst[i] = (ratio, name.clone());
                }
            }
            if shows_all {
                println!("{name:36} {of:8.2?}");
            }
        }
    }
    for ((guest, i), logs) in ratios {
        let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        println!("{guest:10} {:7} {mean:7.2} times, {} kernels", CHECKS[i], logs.len());
    }
    for (check, (ratio, name)) in CHECKS.iter().zip(worst) {
        println!("worst      {check:7} {ratio:7.2} times, {name}");
    }
}
