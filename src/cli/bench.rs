//! `warploom bench`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use warploom::{EngineKind, LaunchOptions, LaunchOutcome};
use warploom_replay::engine_run::compare_with_expected;
use warploom_replay::report::{ExpectReport, SCHEMA};
use warploom_replay::{Launch, Run, Session, first_difference};

use super::text::{grouped, rate, time};
use super::{Ending, Error, GpuChoice, print, print_json, seconds, session};

#[derive(clap::Args)]
pub struct Options {
    /// The launch, a TOML file.
    manifest: PathBuf,
    #[command(flatten)]
    gpu: GpuChoice,
    /// Worker threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// The seconds for each engine.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    seconds: Duration,
    /// Prints the results as JSON.
    #[arg(long)]
    json: bool,
}

/// The results, as JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    /// The version of this form of a report.
    pub schema: u32,
    pub manifest: String,
    /// The JIT, then the interpreter.
    pub engines: Vec<EngineReport>,
    /// The interpreter's best time by the JIT's.
    pub ratio: f64,
    /// Code that the JIT could not compile and interpreted, and the reasons.
    pub uncompiled: Vec<String>,
    pub expect: Vec<ExpectReport>,
    /// The difference between the engines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
}

/// The launches on one engine. Times are in nanoseconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EngineReport {
    pub engine: &'static str,
    pub launches: u32,
    pub best_ns: u64,
    pub translate_ns: u64,
    /// Guest instructions of one launch.
    pub instructions: u64,
    pub lane_instructions: u64,
}

/// The session of an engine, and the outcome of its last launch.
struct Measured<'c> {
    session: Session<'c>,
    options: LaunchOptions,
    last: LaunchOutcome,
    translate: Duration,
    best: Duration,
    launches: u32,
}

impl Measured<'_> {
    fn as_run(&self) -> Run<'_, '_> {
        Run { session: &self.session, options: &self.options, outcome: &self.last }
    }

    fn report(&self) -> EngineReport {
        EngineReport {
            engine: self.options.engine.name(),
            launches: self.launches,
            best_ns: self.best.as_nanos() as u64,
            translate_ns: self.translate.as_nanos() as u64,
            instructions: self.last.counts.instructions,
            lane_instructions: self.last.counts.lane_instructions,
        }
    }
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let mut launch = Launch::read(&options.manifest)?;
    launch.arch = options.gpu.arch.or(launch.arch);
    let complain = |what: &dyn std::fmt::Display| {
        super::complain(&format_args!("{}: {what}", options.manifest.display()))
    };
    let mut text = String::new();
    let mut engines = Vec::new();
    for engine in [EngineKind::Jit, EngineKind::Interp] {
        let measured = measure(options, &launch, engine)?;
        if let Some(fault) = &measured.last.fault {
            complain(fault);
            return Ok(Ending::Fault);
        }
        let lane_instructions = measured.last.counts.lane_instructions;
        text += &format!(
            "{:<7} {:>9} a launch (best of {}), translated in {}, {} lane-instructions, {}\n",
            engine.name(),
            time(measured.best),
            measured.launches,
            time(measured.translate),
            grouped(lane_instructions),
            rate(lane_instructions, measured.best)
        );
        engines.push(measured);
    }
    let [jit, interp] = &engines[..] else { unreachable!("two engines") };
    let seconds = |measured: &Measured<'_>| measured.best.as_secs_f64().max(1e-9);
    let ratio = seconds(interp) / seconds(jit);
    text += &format!("the JIT is {ratio:.1} times as fast\n");
    // The speed of a wrong result says nothing, nor does the speed of the interpreter.
    let mut ending = Ending::Success;
    for region in &jit.last.uncompiled {
        complain(&format_args!("interpreted, since no code could be made: {region}"));
        ending = Ending::Mismatch;
    }
    let mut expect = Vec::new();
    let compared = compare_with_expected(&jit.session, &launch);
    for one in compared.map_err(Error::exec(&options.manifest))? {
        expect.push(ExpectReport::of(&one));
        if one.comparison.mismatches > 0 {
            complain(&format_args!("{} `{}`: {}", one.kind, one.name, one.comparison));
            ending = Ending::Mismatch;
        }
    }
    let difference = first_difference(&jit.as_run(), &interp.as_run())
        .map_err(Error::exec(&options.manifest))?;
    match &difference {
        Some(difference) => {
            complain(&format_args!("the engines differ: {difference}"));
            ending = Ending::Mismatch;
        }
        None => text += "both engines agree\n",
    }
    if options.json {
        print_json(&Report {
            schema: SCHEMA,
            manifest: options.manifest.display().to_string(),
            engines: engines.iter().map(Measured::report).collect(),
            ratio,
            uncompiled: jit.last.uncompiled.clone(),
            expect,
            difference,
        })?;
    } else {
        print(&text)?;
    }
    Ok(ending)
}

/// Launches until the time is up or a launch ends with a fault.
fn measure<'c>(
    options: &Options,
    launch: &'c Launch,
    engine: EngineKind,
) -> Result<Measured<'c>, Error> {
    let failed = |e| Error::exec(&launch.path)(e);
    let session = session(launch)?;
    let shape = session.options(engine, options.threads.into());
    let start = Instant::now();
    let (mut translate, mut best, mut launches) = (Duration::ZERO, Duration::MAX, 0);
    let last = loop {
        session.reset().map_err(failed)?;
        let outcome = session.launch(&shape, None).map_err(failed)?;
        translate += outcome.translate;
        best = best.min(outcome.run);
        launches += 1;
        let enough = launches >= 2 && start.elapsed() >= options.seconds;
        if enough || outcome.fault.is_some() {
            break outcome;
        }
    };
    Ok(Measured { session, options: shape, last, translate, best, launches })
}
