//! `warploom run`

use std::path::PathBuf;
use std::time::Duration;

use warploom::EngineKind;
use warploom_engine::Effort;
use warploom_replay::engine_run::{Agreement, Checks, Compared, EngineRun, RunOptions, report};
use warploom_replay::report::Report;
use warploom_replay::{Launch, Suppressions};

use super::cache::pieces_of_code;
use super::progress::Progress;
use super::text::{grouped, plural, rate, time};
use super::{
    Ending, EngineChoice, Error, GpuChoice, direct, effort, note, print, print_json, results,
    seconds, session,
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
    #[arg(long, value_name = "SECONDS", value_parser = limit)]
    pub time_limit: Option<Duration>,
    /// Puts the end of each buffer, except those with fixed addresses, at the end of a page: an
    /// access past it is a fault, at the speed of any launch. Exact to 16 bytes.
    #[arg(long)]
    guard: bool,
    /// Reports mistakes of the kernel that need not change the results here.
    #[arg(long, value_name = "CHECK", value_delimiter = ',')]
    check: Vec<Check>,
    /// A file with findings that are not reported: a check or `*`, regular expressions for the
    /// kernel and perhaps for the place, on each line.
    #[arg(long, value_name = "FILE", requires = "check")]
    suppress: Option<PathBuf>,
}

/// `--check`
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Check {
    /// Accesses to global memory past the end of a buffer or of the module's variables.
    Memory,
    /// Accesses of two threads to a byte of shared or global memory without an order between them.
    Race,
    /// Reads of shared memory that the block has not written, and of local memory that the lane has
    /// not written.
    Init,
    /// Barriers in divergent code, or for different numbers of threads; wrong masks of lanes.
    Sync,
    /// GFX9: results of loads that code uses before it has waited for them.
    Waitcnt,
    /// NVIDIA from Turing on: registers that code uses before a scoreboard or a stall count
    /// protects them.
    Hazards,
}

fn limit(text: &str) -> Result<Duration, String> {
    let limit = seconds(text)?;
    if limit.is_zero() { Err("expected more than 0 seconds".into()) } else { Ok(limit) }
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let Some(mut launch) = options.direct.launch(&options.file, &options.gpu)? else {
        return Ok(Ending::Success);
    };
    launch.arch = options.gpu.arch.or(launch.arch);
    launch.guard = options.guard;
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
    let start = |&engine| start(options, &launch, engine);
    let mut runs = choice.engines().iter().map(start).collect::<Result<Vec<_>, _>>()?;
    let checks = Checks::of(&runs, &launch).map_err(Error::exec(&options.file))?;

    let mut ending = Ending::Success;
    let mut notes = String::new();
    let complain = |what: &dyn std::fmt::Display| {
        super::complain(&format_args!("{}: {what}", options.file.display()))
    };
    for name in launch.unreachable_buffers() {
        complain(&format_args!("warning: buffer.{name}: nothing has its address"));
    }
    if let Some(fault) = &runs[0].first.fault {
        complain(fault);
        ending = Ending::Fault;
    }
    for overrun in &checks.overruns {
        complain(&format_args!("warning: {overrun}"));
    }
    for mismatch in checks.mismatches() {
        complain(&mismatch);
        ending = Ending::Mismatch;
    }
    for Compared { name, comparison, .. } in &checks.compared {
        if comparison.mismatches == 0 {
            notes += &format!("{name}: {comparison}\n");
        }
    }
    if checks.printed == Some(None) {
        notes += "printf: text as expected\n";
    }
    for region in &runs[0].first.uncompiled {
        complain(&format_args!("warning: interpreted, since no code could be made: {region}"));
    }
    if options.check.iter().any(|check| matches!(check, Check::Waitcnt | Check::Hazards)) {
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
    match &checks.engines {
        Agreement::OneEngine => {}
        Agreement::Stopped => {
            notes += "the engines are not compared: one was stopped by the time limit, or with several threads by that of instructions\n"
        }
        Agreement::Agree => notes += "both engines agree\n",
        Agreement::Differ(difference) => {
            complain(&format_args!("the engines differ: {difference}"));
            ending = ending.max(Ending::Mismatch);
        }
    }
    if let Some(out) = &options.out {
        for name in results::write(&runs[0].session, out, &launch)? {
            notes += &format!("wrote {}\n", out.join(name).display());
        }
    }
    let has = |check| options.check.contains(&check);
    let wanted = warploom::Checks {
        memory: has(Check::Memory),
        race: has(Check::Race),
        init: has(Check::Init),
        sync: has(Check::Sync),
    };
    let mut findings = vec![];
    let suppressed = options.suppress.as_deref().map(Suppressions::read).transpose();
    let suppressed = suppressed.map_err(Error::Other)?.unwrap_or_default();
    if !wanted.is_empty() {
        findings = runs[0].checked(wanted).map_err(Error::exec(&options.file))?.findings;
        findings.retain(|finding| !suppressed.cover(finding));
    }
    for finding in &findings {
        complain(finding);
        ending = Ending::Fault;
    }
    for run in &mut runs {
        let bar = Progress::new(format!("{} launches ({})", options.repeat, run.engine));
        run.repeat(options.repeat, &|done, total| bar.show(done, total))
            .map_err(|e| Error::Other(format!("a repeated launch: {e}")))?;
    }
    if options.report.is_some() || options.json {
        let failed = |e| Error::Other(format!("a launch that is counted: {e}"));
        let steady = options.steady.then(|| runs[0].steady()).transpose().map_err(failed)?;
        let executed = runs[0].profile().map_err(failed)?;
        let manifest = options.file.display().to_string();
        let findings = findings.iter().map(Into::into).collect();
        let mut report =
            Report { manifest, steady, findings, ..report(&runs, &launch, &checks, executed) };
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

/// Launches on an engine for the first time.
fn start<'c>(
    options: &Options,
    launch: &'c Launch,
    engine: EngineKind,
) -> Result<EngineRun<'c>, Error> {
    let failed = |e| Error::exec(&launch.path)(e);
    let session = session(launch)?;
    let cache = if engine == EngineKind::Jit { super::cache::of_environment() } else { None };
    let given = RunOptions {
        threads: options.threads.into(),
        effort: options.effort,
        instruction_limit: options.instruction_limit,
        time_limit: options.time_limit,
        cache: cache.map(|cache| cache as _),
    };
    let bar = Progress::new(format!("{} ({engine})", session.kernel().map_err(failed)?.name()));
    EngineRun::start(session, engine, &given, Some(&|done, total| bar.show(done, total)))
        .map_err(failed)
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
