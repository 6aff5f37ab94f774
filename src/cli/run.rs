//! `warploom run`

use std::path::PathBuf;
use std::time::Duration;

use warploom::Executed;
use warploom_engine::Effort;
use warploom_replay::compare::line_difference;
use warploom_replay::{Launch, first_difference};
use warploom_runtime::fault::FaultKind;

use super::cache::pieces_of_code;
use super::engine_run::{EngineRun, compare_with_expected};
use super::report::{ExpectReport, FaultReport, Report};
use super::text::{grouped, plural, rate, time};
use super::{
    Ending, EngineChoice, Error, GpuChoice, SCHEMA, direct, effort, note, print, print_json,
};

#[derive(clap::Args)]
pub struct Options {
    /// The launch, a TOML file; or a GPU binary.
    file: PathBuf,
    #[command(flatten)]
    direct: direct::Options,
    #[command(flatten)]
    gpu: GpuChoice,
    /// The engine.
    #[arg(long)]
    engine: Option<EngineChoice>,
    /// Writes every buffer that changed here, as NAME.npy, and images that the manifest asks for.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The effort for code at first. quick: translates fast, and translates hot code again; likely:
    /// makes all code fast for the likely case; full: makes all code fast in every case.
    #[arg(long, default_value = "quick", value_parser = effort())]
    pub effort: Effort,
    /// Worker threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Writes times, counts, faults and comparisons to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Prints this report to standard output, with the text that device code printed, in place of
    /// the text and the summary.
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Prints no summary, only problems.
    #[arg(long, short)]
    quiet: bool,
    /// The number of launches, each from the initial buffers. The result of the first launch is
    /// written and compared.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Launches twice more, up to a half and up to nine tenths of the instructions. The report has
    /// the helper calls and interpreted instructions between these points.
    #[arg(long, requires = "report")]
    steady: bool,
    /// Stops the launch after so many instructions of warps, in place of the manifest's limit.
    #[arg(long, value_name = "N")]
    pub instruction_limit: Option<u64>,
    /// Stops the launch after so many seconds, in place of the manifest's limit.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<Duration>,
    /// Reports mistakes in the code that change nothing on this CPU, but do on a GPU.
    #[arg(long)]
    check: Option<Check>,
}

/// `--check`
#[derive(Clone, Copy, clap::ValueEnum)]
enum Check {
    /// GFX9: results of loads that code uses before it has waited for them.
    Waitcnt,
    /// NVIDIA from Turing on: registers that code uses before a scoreboard or a stall count
    /// protects them.
    Hazards,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_string())?;
    let limit = Duration::try_from_secs_f64(number).map_err(|e| e.to_string())?;
    if limit.is_zero() { Err("expected more than 0 seconds".into()) } else { Ok(limit) }
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let Some(mut launch) = options.direct.launch(&options.file, &options.gpu)? else {
        return Ok(Ending::Success);
    };
    launch.arch = options.gpu.arch.or(launch.arch);
    if let Some(path) = &options.report {
        warploom_replay::write::check(path)?;
    }
    if let Some(out) = &options.out {
        std::fs::create_dir_all(out).map_err(|source| Error::Io {
            path: out.clone(),
            doing: "cannot be made a folder",
            source,
        })?;
    }
    let choice = EngineChoice::of(options.engine)?;
    let start = |&engine| EngineRun::start(options, &launch, engine);
    let mut runs = choice.engines().iter().map(start).collect::<Result<Vec<_>, _>>()?;

    let mut ending = Ending::Success;
    let mut notes = String::new();
    let mut expect = Vec::new();
    let complain = |what: &dyn std::fmt::Display| {
        super::complain(&format_args!("{}: {what}", options.file.display()))
    };
    for name in launch.unreachable_buffers() {
        complain(&format_args!("warning: buffer.{name}: nothing has its address"));
    }
    match &runs[0].first.fault {
        Some(fault) => {
            complain(fault);
            ending = Ending::Fault;
        }
        None => {
            for (kind, name, comparison) in compare_with_expected(&runs[0].session, &launch)? {
                if comparison.mismatches > 0 {
                    complain(&format_args!("{kind} `{name}`: {comparison}"));
                    ending = Ending::Mismatch;
                } else {
                    notes += &format!("{name}: {comparison}\n");
                }
                expect.push(ExpectReport::new(name, &comparison));
            }
        }
    }
    if let (Some(expected), None) = (&launch.printf.expect, &runs[0].first.fault) {
        match line_difference(&runs[0].first.printed.text, expected) {
            Some(difference) => {
                complain(&format_args!("printf: {difference}"));
                ending = Ending::Mismatch;
            }
            None => notes += "printf: text as expected\n",
        }
    }
    for region in &runs[0].first.uncompiled {
        complain(&format_args!("warning: interpreted, since no code could be made: {region}"));
    }
    if options.check.is_some() {
        let found = runs[0].session.kernel().and_then(|kernel| kernel.check_waits());
        for hazard in found.map_err(Error::exec(&options.file))? {
            complain(&hazard);
            ending = ending.max(Ending::Mismatch);
        }
    }
    let dropped = runs[0].first.printed.dropped;
    if dropped > 0 {
        let room = runs[0].options.printf_bytes;
        complain(&format_args!(
            "printf: {dropped} calls printed nothing, for want of room: [printf] bytes = {room}"
        ));
    }
    let difference = compare_engines(options, &runs, &mut notes)?;
    if let Some(difference) = &difference {
        complain(&format_args!("the engines differ: {difference}"));
        ending = ending.max(Ending::Mismatch);
    }
    if let Some(out) = &options.out {
        for name in runs[0].write_buffers(out, &launch)? {
            notes += &format!("wrote {}\n", out.join(name).display());
        }
    }
    for run in &mut runs {
        run.repeat(options.repeat)?;
    }
    if options.report.is_some() || options.json {
        let steady = options.steady.then(|| runs[0].steady()).transpose()?;
        let executed = runs[0].profile()?;
        let mut report = Report { steady, ..report(options, &runs, executed, expect, difference) };
        if let Some(path) = &options.report {
            warploom_replay::write::file(path, |into| {
                serde_json::to_writer_pretty(into, &report).map_err(Into::into)
            })?;
        }
        if options.json {
            let text = &runs[0].first.printed.text;
            report.printed = Some(String::from_utf8_lossy(text).into_owned());
            print_json(&report)?;
            return Ok(ending);
        }
    }
    print(&runs[0].first.printed.text)?;
    if !options.quiet {
        note(&(summary(options, &launch, &runs) + &notes));
    }
    Ok(ending)
}

/// Returns the first difference between the engines, if two engines ran and are comparable.
///
/// `notes` gets the outcome of the comparison.
fn compare_engines(
    options: &Options,
    runs: &[EngineRun<'_>],
    notes: &mut String,
) -> Result<Option<String>, Error> {
    let [a, b] = runs else { return Ok(None) };
    // Runs do not stop at equal points at a time limit, or with several threads at an instruction
    // limit.
    let stopped_anywhere =
        |run: &EngineRun<'_>| match run.first.fault.as_ref().map(|fault| fault.kind()) {
            Some(FaultKind::TimeExceeded) => true,
            Some(FaultKind::BudgetExceeded) => options.threads > 1,
            _ => false,
        };
    if stopped_anywhere(a) || stopped_anywhere(b) {
        *notes += "the engines are not compared: one was stopped by the time limit, or with several threads by that of instructions\n";
        return Ok(None);
    }
    let difference =
        first_difference(&a.as_run(), &b.as_run()).map_err(Error::exec(&options.file))?;
    if difference.is_none() {
        *notes += "both engines agree\n";
    }
    Ok(difference)
}

fn summary(options: &Options, launch: &Launch, runs: &[EngineRun<'_>]) -> String {
    let [x, y, z] = runs[0].options.grid;
    let [bx, by, bz] = runs[0].options.block;
    let name = runs[0].session.kernel().map_or(String::new(), |k| k.name().to_string());
    let mut text = match &launch.shader {
        Some(shader) => {
            format!(
                "{name}: {} program, {} lanes\n",
                shader.stage.name(),
                grouped(shader.row_count() as u64)
            )
        }
        None => format!("{name}: grid {x} x {y} x {z}, block {bx} x {by} x {bz}\n"),
    };
    for run in runs {
        let best = run.kernel.iter().min().copied().unwrap_or_default();
        let threads = u64::from(options.threads);
        text += &format!(
            "{}, {threads} thread{}: translated in {}, ran in {}",
            run.engine,
            plural(threads),
            time(run.translate),
            time(run.kernel[0])
        );
        let found = run.first.found_in_cache;
        if found > 0 {
            text += &format!(" ({} from the cache)", pieces_of_code(found));
        }
        if run.kernel.len() > 1 {
            text += &format!(", best of {} {}", run.kernel.len(), time(best));
        }
        let counts = run.first.counts;
        text += &format!(
            "\n{} instructions, {} lane-instructions, {}\n",
            grouped(counts.instructions),
            grouped(counts.lane_instructions),
            rate(counts.lane_instructions, best)
        );
    }
    text
}

fn report(
    options: &Options,
    runs: &[EngineRun<'_>],
    executed: Vec<Executed>,
    expect: Vec<ExpectReport>,
    difference: Option<String>,
) -> Report {
    let run = &runs[0];
    let counts = run.first.counts;
    Report {
        schema: SCHEMA,
        manifest: options.file.display().to_string(),
        kernel: run.session.kernel().map_or(String::new(), |k| k.name().to_string()),
        engine: if runs.len() == 2 { "both" } else { run.engine.name() },
        threads: options.threads.into(),
        grid: run.options.grid,
        block: run.options.block,
        translate_ns: run.translate.as_nanos() as u64,
        found_in_cache: run.first.found_in_cache,
        kernel_ns: run.kernel.iter().map(|d| d.as_nanos() as u64).collect(),
        instructions: counts.instructions,
        lane_instructions: counts.lane_instructions,
        helper_calls: counts.helper_calls,
        interp_instructions: counts.interp_instructions,
        steady: None,
        blocks_done: run.first.blocks_done,
        printed: None,
        printed_bytes: run.first.printed.text.len(),
        prints_dropped: run.first.printed.dropped,
        uncompiled: run.first.uncompiled.clone(),
        rules: run.first.firings.iter().collect(),
        faults: run.first.fault.iter().map(FaultReport::from).collect(),
        fidelity: executed.into_iter().map(Into::into).collect(),
        expect,
        difference,
    }
}
