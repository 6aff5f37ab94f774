//! `warploom run`

use std::cell::OnceCell;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::report::{ExpectReport, FaultReport, Report};
use super::text::{grouped, plural, rate, time};
use super::{Ending, EngineChoice, Error, print};
use crate::capture::{self, Array, Launch, compare};
use crate::exec::{EngineKind, Executed, LaunchOptions, LaunchOutcome, Session};

#[derive(clap::Args)]
pub struct Options {
    /// The launch, a TOML file.
    manifest: PathBuf,
    /// Which engine runs it.
    #[arg(long)]
    engine: Option<EngineChoice>,
    /// Writes every buffer that changed here, as NAME.npy, and images that the manifest asks for.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Worker threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Writes what the run came to, as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Launches so many times from the same initial buffers; written and compared is the first launch's result.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Instructions (of warps) after which the launch is stopped, in place of the manifest's limit.
    #[arg(long, value_name = "N")]
    instruction_limit: Option<u64>,
    /// Seconds after which the launch is stopped, in place of the manifest's limit.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_string())?;
    let limit = Duration::try_from_secs_f64(number).map_err(|e| e.to_string())?;
    if limit.is_zero() { Err("expected more than 0 seconds".into()) } else { Ok(limit) }
}

/// What one engine made of the launch.
struct EngineRun<'c> {
    engine: EngineKind,
    session: Session<'c>,
    options: LaunchOptions,
    first: LaunchOutcome,
    translate: Duration,
    kernel: Vec<Duration>,
    /// Buffers after the first launch, where something needs them.
    buffers: Vec<Option<Vec<u8>>>,
    changed: Vec<bool>,
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let launch = Launch::read(&options.manifest)?;
    if let Some(out) = &options.out {
        std::fs::create_dir_all(out).map_err(|source| Error::Io {
            path: out.clone(),
            doing: "cannot be made a folder",
            source,
        })?;
    }
    let choice = EngineChoice::of(options.engine)?;
    let mut runs = Vec::new();
    for &engine in choice.engines() {
        runs.push(run_engine(options, &launch, engine, choice == EngineChoice::Both)?);
    }
    let difference = match runs.as_slice() {
        [a, b] => first_difference(&launch, a, b),
        _ => None,
    };
    let run = &runs[0];
    let mut ending = Ending::Success;
    let mut text = summary(options, &launch, &runs);
    let mut expect = Vec::new();
    if let Some(fault) = &run.first.fault {
        eprintln!("warploom: {}: {fault}", options.manifest.display());
        ending = Ending::Fault;
    } else {
        for (buffer, got) in launch.buffers.iter().zip(&run.buffers) {
            let (Some(expectation), Some(got)) = (&buffer.expect, got) else { continue };
            let comparison = compare(got, &expectation.array, expectation.tolerance);
            if comparison.mismatches > 0 {
                eprintln!("warploom: {}: buffer `{}`: {comparison}", options.manifest.display(), buffer.name);
                ending = Ending::Mismatch;
            } else {
                text += &format!("{}: {comparison}\n", buffer.name);
            }
            expect.push(ExpectReport::new(&buffer.name, &comparison));
        }
    }
    if choice == EngineChoice::Both {
        match &difference {
            Some(difference) => {
                eprintln!("warploom: {}: the engines differ: {difference}", options.manifest.display());
                ending = ending.max(Ending::Mismatch);
            }
            None => text += "both engines agree\n",
        }
    }
    if let Some(out) = &options.out {
        for name in write_buffers(out, &launch, run)? {
            text += &format!("wrote {}\n", out.join(name).display());
        }
    }
    if let Some(path) = &options.report {
        let executed = profile(run)?;
        let report = report(options, &launch, &runs, executed, expect, difference);
        capture::write::file(path, |into| serde_json::to_writer_pretty(into, &report).map_err(Into::into))?;
    }
    print(&text)?;
    Ok(ending)
}

fn run_engine<'c>(
    options: &Options,
    launch: &'c Launch,
    engine: EngineKind,
    need_all: bool,
) -> Result<EngineRun<'c>, Error> {
    let failed = |e| Error::exec(&launch.path)(e);
    let session = Session::new(launch).map_err(failed)?;
    let mut shape = session.options(engine, options.threads.into());
    shape.instruction_limit = options.instruction_limit.or(shape.instruction_limit);
    shape.time_limit = options.time_limit.or(shape.time_limit);
    let bar = Progress::new(format!("{} ({engine})", session.kernel().map_err(failed)?.name()));
    let first = session.launch(&shape, Some(&|done, total| bar.show(done, total))).map_err(failed)?;
    let mut buffers = Vec::new();
    let mut changed = Vec::new();
    for (i, buffer) in launch.buffers.iter().enumerate() {
        let is_changed = session.has_changed(i).map_err(failed)?;
        let needed = need_all || buffer.expect.is_some() || is_changed && options.out.is_some();
        buffers.push(if needed { Some(session.buffer(i).map_err(failed)?) } else { None });
        changed.push(is_changed);
    }
    let mut run = EngineRun {
        engine,
        translate: first.translate,
        kernel: vec![first.run],
        session,
        options: shape,
        first,
        buffers,
        changed,
    };
    for _ in 1..options.repeat {
        if run.first.fault.is_some() {
            break;
        }
        run.session.reset().map_err(failed)?;
        let outcome = run.session.launch(&run.options, Some(&|done, total| bar.show(done, total))).map_err(failed)?;
        run.kernel.push(outcome.run);
        run.translate += outcome.translate;
    }
    Ok(run)
}

/// A progress bar that shows itself on a terminal when a launch takes long.
struct Progress {
    start: Instant,
    name: String,
    bar: OnceCell<ProgressBar>,
}

impl Progress {
    const PATIENCE: Duration = Duration::from_millis(700);

    fn new(name: String) -> Progress {
        Progress { start: Instant::now(), name, bar: OnceCell::new() }
    }

    fn show(&self, done: u64, total: u64) {
        if self.start.elapsed() < Self::PATIENCE || !std::io::stderr().is_terminal() {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} blocks, {eta} left");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(self.name.clone());
            bar
        });
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

fn summary(options: &Options, launch: &Launch, runs: &[EngineRun<'_>]) -> String {
    let [x, y, z] = launch.shape.grid;
    let [bx, by, bz] = launch.shape.block;
    let name = runs[0].session.kernel().map_or(String::new(), |k| k.name().to_string());
    let mut text = format!("{name}: grid {x} x {y} x {z}, block {bx} x {by} x {bz}\n");
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

/// What two engines disagree about first.
fn first_difference(launch: &Launch, a: &EngineRun<'_>, b: &EngineRun<'_>) -> Option<String> {
    let (name_a, name_b) = (a.engine, b.engine);
    let say = |fault: &Option<_>| fault.as_ref().map_or("no fault".into(), |f: &crate::exec::Fault| f.to_string());
    if a.first.fault != b.first.fault {
        return Some(format!("{name_a}: {}; {name_b}: {}", say(&a.first.fault), say(&b.first.fault)));
    }
    for (i, buffer) in launch.buffers.iter().enumerate() {
        let (Some(x), Some(y)) = (&a.buffers[i], &b.buffers[i]) else { continue };
        if x == y {
            continue;
        }
        let expected = Array::flat(buffer.dtype, y.clone());
        let comparison = compare(x, &expected, Default::default());
        if let Some(first) = &comparison.first {
            return Some(format!(
                "buffer `{}`: {} of {} elements, first element {}: {name_a} {}, {name_b} {}",
                buffer.name, comparison.mismatches, comparison.elements, first.index, first.got, first.expected
            ));
        }
    }
    let counts = |run: &EngineRun<'_>| (run.first.counts.instructions, run.first.counts.lane_instructions);
    (counts(a) != counts(b) && a.first.fault.is_none())
        .then(|| format!("instructions and lane-instructions: {name_a} {:?}, {name_b} {:?}", counts(a), counts(b)))
}

/// Writes what changed; the names of the files.
fn write_buffers(out: &Path, launch: &Launch, run: &EngineRun<'_>) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for (i, buffer) in launch.buffers.iter().enumerate() {
        let (Some(bytes), true) = (&run.buffers[i], run.changed[i]) else { continue };
        let name = format!("{}.npy", buffer.name);
        let array = Array { dtype: buffer.dtype, shape: buffer.shape.clone(), bytes: bytes.clone() };
        capture::write::array(&out.join(&name), &array)?;
        names.push(name);
        if let Some(png) = &buffer.png {
            let name = format!("{}.png", buffer.name);
            let image = capture::image::draw(png, bytes).map_err(Error::Other)?;
            capture::write::file(&out.join(&name), |into| into.write_all(&image))?;
            names.push(name);
        }
    }
    Ok(names)
}

/// Runs once more and counts; results were taken before.
fn profile(run: &EngineRun<'_>) -> Result<Vec<Executed>, Error> {
    let failed = |e| Error::Other(format!("profile: {e}"));
    run.session.reset().map_err(failed)?;
    run.session.profile(&run.options).map_err(failed)
}

fn report(
    options: &Options,
    launch: &Launch,
    runs: &[EngineRun<'_>],
    executed: Vec<Executed>,
    expect: Vec<ExpectReport>,
    difference: Option<String>,
) -> Report {
    let run = &runs[0];
    let counts = run.first.counts;
    Report {
        manifest: options.manifest.display().to_string(),
        kernel: run.session.kernel().map_or(String::new(), |k| k.name().to_string()),
        engine: if runs.len() == 2 { "both" } else { run.engine.name() },
        threads: options.threads.into(),
        grid: launch.shape.grid,
        block: launch.shape.block,
        translate_ns: run.translate.as_nanos() as u64,
        kernel_ns: run.kernel.iter().map(|d| d.as_nanos() as u64).collect(),
        instructions: counts.instructions,
        lane_instructions: counts.lane_instructions,
        helper_calls: counts.helper_calls,
        interp_instructions: counts.interp_instructions,
        blocks_done: run.first.blocks_done,
        faults: run.first.fault.iter().map(FaultReport::from).collect(),
        fidelity: executed.into_iter().map(Into::into).collect(),
        expect,
        difference,
    }
}
