//! `warploom bench`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::text::{grouped, rate, time};
use super::{Ending, Error, print, session};
use crate::capture::Launch;
use crate::exec::EngineKind;

#[derive(clap::Args)]
pub struct Options {
    /// The launch, a TOML file.
    manifest: PathBuf,
    /// Worker threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// How long to go on with each engine.
    #[arg(long, value_name = "SECONDS", default_value_t = 1)]
    seconds: u32,
}

/// What an engine needs for one launch.
struct Measured {
    translate: Duration,
    best: Duration,
    launches: u32,
    lane_instructions: u64,
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let launch = Launch::read(&options.manifest)?;
    let mut text = String::new();
    let mut best = Vec::new();
    for engine in [EngineKind::Jit, EngineKind::Interp] {
        let measured = match measure(options, &launch, engine)? {
            Ok(measured) => measured,
            Err(fault) => {
                super::complain(&format_args!("{}: {fault}", options.manifest.display()));
                return Ok(Ending::Fault);
            }
        };
        text += &format!(
            "{:<7} {:>9} a launch (best of {}), translated in {}, {} lane-instructions, {}\n",
            engine.name(),
            time(measured.best),
            measured.launches,
            time(measured.translate),
            grouped(measured.lane_instructions),
            rate(measured.lane_instructions, measured.best)
        );
        best.push(measured.best.as_secs_f64().max(1e-9));
    }
    text += &format!("the JIT is {:.1} times as fast\n", best[1] / best[0]);
    print(&text)?;
    Ok(Ending::Success)
}

fn measure(
    options: &Options,
    launch: &Launch,
    engine: EngineKind,
) -> Result<Result<Measured, crate::exec::Fault>, Error> {
    let failed = |e| Error::exec(&launch.path)(e);
    let session = session(launch)?;
    let shape = session.options(engine, options.threads.into());
    let mut measured = Measured { translate: Duration::ZERO, best: Duration::MAX, launches: 0, lane_instructions: 0 };
    let start = Instant::now();
    while measured.launches < 2 || start.elapsed() < Duration::from_secs(options.seconds.into()) {
        session.reset().map_err(failed)?;
        let outcome = session.launch(&shape, None).map_err(failed)?;
        if let Some(fault) = outcome.fault {
            return Ok(Err(fault));
        }
        measured.translate += outcome.translate;
        measured.best = measured.best.min(outcome.run);
        measured.launches += 1;
        measured.lane_instructions = outcome.counts.lane_instructions;
    }
    Ok(Ok(measured))
}
