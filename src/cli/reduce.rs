//! `warploom reduce`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use warploom_replay::reduce::{self, ReduceError, Reduced};
use warploom_replay::{Launch, Manifest, listing};

use super::text::{grouped, time};
use super::{Ending, Error, GpuChoice, note, print, seconds};

#[derive(clap::Args)]
pub struct Options {
    /// A launch that ends in a fault, or on which the engines differ.
    manifest: PathBuf,
    #[command(flatten)]
    gpu: GpuChoice,
    /// The folder for the reduced launch and its code.
    #[arg(long, value_name = "DIR", default_value = "reduced")]
    out: PathBuf,
    /// The seconds after which the smallest launch so far is the result.
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = seconds)]
    seconds: Duration,
}

/// The file with the instructions that are left of machine code.
const LISTING: &str = "kernel.txt";

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let mut manifest = Manifest::read(&options.manifest)?;
    manifest.kernel.arch = options.gpu.arch.or(manifest.kernel.arch);
    let path = options.out.join("launch.toml");
    if path.exists() {
        let path = path.display();
        return Err(Error::Other(format!(
            "{path}: it exists, and would be replaced: name another folder with --out"
        )));
    }
    let wanted =
        reduce::Options { out: options.out.clone(), time: Some(options.seconds), backend: None };
    let start = Instant::now();
    let mut shown = Instant::now();
    let reduced = reduce::reduce(&manifest, &options.manifest, &wanted, |left| {
        if shown.elapsed() >= Duration::from_secs(10) {
            shown = Instant::now();
            note(&format!("{}: {left} lines or instructions\n", time(start.elapsed())));
        }
        true
    });
    let reduced = reduced.map_err(|error| match error {
        ReduceError::Manifest(error) => Error::Capture(error),
        ReduceError::Launch(error) => Error::exec(&options.manifest)(error),
        other => Error::Other(format!("{}: {other}", options.manifest.display())),
    })?;
    let Reduced { manifest, shows, units: (before, after), left, tries, .. } = reduced;
    note(&format!("{}: {} launches tried\n", time(start.elapsed()), grouped(tries)));
    let what = if left.is_some() { "instructions" } else { "lines" };
    print(format!("{}: {shows}; {before} {what}, now {after}\n", manifest.display()))?;
    if left.is_some() {
        let launch = Launch::read(&manifest)?;
        let failed = |source| Error::Container { path: launch.binary_path.clone(), source };
        let listing = listing::without_nops(&launch).map_err(failed)?;
        let path = options.out.join(LISTING);
        warploom_replay::write::file(&path, |into| into.write_all(listing.as_bytes()))?;
        print(format!("{}: the instructions that are left\n", path.display()))?;
    }
    Ok(Ending::Success)
}
