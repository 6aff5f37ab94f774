//! `warploom fuzz`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use warploom_replay::Manifest;
use warploom_replay::fuzz::{self, FuzzError, Progress};

use super::text::{grouped, plural, time};
use super::{Ending, Error, GpuChoice, note, print, seconds};

#[derive(clap::Args)]
pub struct Options {
    /// The launch, a TOML file. Its buffers and the arguments that are numbers or structures are
    /// changed.
    manifest: PathBuf,
    #[command(flatten)]
    gpu: GpuChoice,
    /// The end: so many seconds. Without this and --inputs, 60.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    seconds: Option<Duration>,
    /// The end: so many inputs.
    #[arg(long, value_name = "N")]
    inputs: Option<u64>,
    /// The end: so many findings.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    findings: u32,
    /// A buffer, or the number of an argument from 1, that stays as it is.
    #[arg(long, value_name = "NAME")]
    keep: Vec<String>,
    /// The folder for findings: each has a folder with a manifest for `warploom run`.
    #[arg(long, value_name = "DIR", default_value = "findings")]
    out: PathBuf,
    /// The folder with inputs to begin with. Inputs that reach something new are added.
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Removes inputs from --corpus that reach nothing of their own, in place of fuzzing.
    #[arg(long, requires = "corpus")]
    minimize: bool,
    /// The seed of random changes: equal seeds give equal runs.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

const DEFAULT_TIME: Duration = Duration::from_secs(60);

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let mut manifest = Manifest::read(&options.manifest)?;
    manifest.kernel.arch = options.gpu.arch.or(manifest.kernel.arch);
    let time = options.seconds.or(options.inputs.is_none().then_some(DEFAULT_TIME));
    let wanted = fuzz::Options {
        seed: options.seed,
        time,
        inputs: options.inputs,
        findings: options.findings as usize,
        keep: options.keep.iter().cloned().collect(),
        corpus: options.corpus.clone(),
        out: options.out.clone(),
        backend: None,
    };
    let failed = |error| match error {
        FuzzError::Manifest(error) => Error::Capture(error),
        FuzzError::Launch(error) => Error::exec(&options.manifest)(error),
        other => Error::Other(format!("{}: {other}", options.manifest.display())),
    };
    if options.minimize {
        let (before, after) =
            fuzz::minimize(&manifest, &options.manifest, &wanted).map_err(failed)?;
        note(&format!("{before} inputs, of which {after} are left\n"));
        return Ok(Ending::Success);
    }
    let path = options.out.join("finding-1");
    if path.exists() {
        let path = path.display();
        return Err(Error::Other(format!(
            "{path}: it exists, and would be replaced: name another folder with --out"
        )));
    }
    let start = Instant::now();
    let mut shown = Instant::now();
    let done = fuzz::fuzz(&manifest, &options.manifest, &wanted, |progress| {
        if shown.elapsed() >= Duration::from_secs(10) {
            shown = Instant::now();
            note(&summary(progress, start.elapsed()));
        }
        true
    })
    .map_err(failed)?;
    note(&summary(&done, start.elapsed()));
    for finding in &done.findings {
        print(format!(
            "{}: {} ({} byte{} changed)\n",
            finding.manifest.display(),
            finding.message,
            finding.changed,
            plural(finding.changed as u64)
        ))?;
    }
    Ok(if done.findings.is_empty() { Ending::Success } else { Ending::Mismatch })
}

fn summary(progress: &Progress, spent: Duration) -> String {
    let (reached, all) = progress.points;
    format!(
        "{}: {} inputs, {} in the corpus, {reached} of {all} points, {} finding{}\n",
        time(spent),
        grouped(progress.inputs),
        progress.corpus,
        progress.findings.len(),
        plural(progress.findings.len() as u64)
    )
}
