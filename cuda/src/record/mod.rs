//! Launches written as manifests that `warploom run` replays (`WARPLOOM_CAPTURE=DIR`), and the
//! summary of the process for `warploom cuda`.
//!
//! `launch` writes a launch of this library, or of the driver that calls are forwarded to. This
//! file chooses the launches to write, and keeps the summary.

mod launch;

use std::collections::{BTreeMap, HashSet};
use std::mem::{Discriminant, discriminant};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{driver, stacks};
pub use launch::{Before, Machine, Subject, names};
use regex_lite::Regex;
use warploom::{Finding, Mistake};
use warploom_replay::readable;
use warploom_replay::summary::{self, Running, Summary};

const DEFAULT_MAX_BYTES: u64 = 256 << 20;

/// The choice of launches to write, and their folder.
pub struct Settings {
    folder: PathBuf,
    kernel: Option<Regex>,
    nth: Option<u64>,
    max_bytes: u64,
}

impl Settings {
    /// Reads the settings from the environment. If a setting is invalid, prints it and captures
    /// nothing.
    pub fn from_environment() -> Option<Settings> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let folder = PathBuf::from(variable("WARPLOOM_CAPTURE")?);
        let number = |name| {
            variable(name).map(|value| {
                value.parse::<u64>().map_err(|_| format!("{name}={value}: expected a number"))
            })
        };
        let read = || -> Result<Settings, String> {
            let kernel = variable("WARPLOOM_CAPTURE_KERNEL")
                .map(|pattern| Regex::new(&pattern).map_err(|e| e.to_string()));
            Ok(Settings {
                kernel: kernel.transpose()?,
                nth: number("WARPLOOM_CAPTURE_NTH").transpose()?,
                max_bytes: number("WARPLOOM_CAPTURE_MAX_BYTES")
                    .transpose()?
                    .unwrap_or(DEFAULT_MAX_BYTES),
                folder: folder.clone(),
            })
        };
        read().map_err(|message| eprintln!("warploom: nothing is captured: {message}")).ok()
    }

    /// Returns this launch of a kernel, if it is to be captured. The pattern is for the kernel's name
    /// in the binary, or as the summary shows it.
    pub fn choose(&'static self, kernel: &str) -> Option<Choice> {
        let matches =
            |pattern: &Regex| pattern.is_match(kernel) || pattern.is_match(&readable(&[kernel])[0]);
        if self.kernel.as_ref().is_some_and(|pattern| !matches(pattern)) {
            return None;
        }
        let count = number_of(kernel);
        let chosen = self.nth.is_none_or(|nth| nth == count);
        chosen.then(|| Choice { settings: self, kernel: kernel.into(), count })
    }
}

/// A launch that is to be captured.
pub struct Choice {
    settings: &'static Settings,
    kernel: String,
    /// The number of launches of the kernel so far, this one included.
    count: u64,
}

impl Choice {
    /// Notes that the launch cannot be written, or not completely.
    pub fn cannot(&self, why: impl std::fmt::Display) {
        note(|summary| {
            summary.not_captured.push(format!("{}, launch {}: {why}", self.kernel, self.count))
        });
    }
}

/// The summary of this process so far, and its running launches.
static DONE: Mutex<Done> = Mutex::new(Done {
    summary: None,
    running: BTreeMap::new(),
    begun: 0,
    busy_since: None,
    is_new: false,
});

struct Done {
    summary: Option<Summary>,
    /// The running launches, by number.
    running: BTreeMap<u64, (String, Instant)>,
    /// The number of launches so far.
    begun: u64,
    /// The start of the first running launch.
    busy_since: Option<Instant>,
    /// Whether the summary changed after it was last written.
    is_new: bool,
}

/// The interval between writes of the summary, in case the process is killed.
const EACH: Duration = Duration::from_millis(200);

fn done() -> MutexGuard<'static, Done> {
    DONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds to the summary of this process.
pub fn note(add: impl FnOnce(&mut Summary)) {
    let mut done = done();
    done.is_new = true;
    add(done.summary.get_or_insert_default());
}

/// Reports what a check found, each mistake of an instruction once.
pub fn found(finding: &Finding) {
    type Place = (String, u64, Discriminant<Mistake>);
    static TOLD: LazyLock<Mutex<HashSet<Place>>> = LazyLock::new(Mutex::default);
    let place = (finding.kernel.clone(), finding.place.pc, discriminant(&finding.mistake));
    // Device code may free memory in a later launch.
    if matches!(finding.mistake, Mistake::Leaked(_)) || driver::get().suppressed.cover(finding) {
        return;
    }
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(place) {
        let stacks = match &finding.mistake {
            Mistake::PastEnd(allocation) | Mistake::Freed(allocation) => {
                stacks::text(allocation.address)
            }
            _ => String::new(),
        };
        report(&format!("{finding}{stacks}"));
    }
}

/// Reports a mistake of a kernel or of the program itself.
pub fn report(text: &str) {
    eprintln!("warploom: {text}");
    note(|summary| summary.findings.push(text.to_owned()));
}

/// The number of a running launch. Dropping this ends the launch.
pub struct Begun(u64);

/// Notes that a launch begins.
pub fn begin(kernel: &str) -> Begun {
    let (kernel, now) = (kernel.to_string(), Instant::now());
    let mut done = done();
    done.begun += 1;
    done.busy_since.get_or_insert(now);
    let number = done.begun;
    done.running.insert(number, (kernel, now));
    Begun(number)
}

impl Done {
    /// Removes a launch from the running launches, if it is still there.
    fn finish(&mut self, launch: &Begun) -> Option<(String, Instant)> {
        let finished = self.running.remove(&launch.0)?;
        self.is_new = true;
        if self.running.is_empty() {
            let busy = self.busy_since.take().map_or(0, |since| since.elapsed().as_nanos() as u64);
            self.summary.get_or_insert_default().busy_ns += busy;
        }
        Some(finished)
    }
}

impl Begun {
    /// Notes that the kernel has run, and the time of its translation. Returns the time of the
    /// launch.
    pub fn end(self, translate: Duration, fault: Option<String>) -> Duration {
        let mut done = done();
        let Some((kernel, at)) = done.finish(&self) else { return Duration::ZERO };
        let took = at.elapsed();
        let summary = done.summary.get_or_insert_default();
        let kernel = summary.kernels.entry(kernel).or_default();
        kernel.launches += 1;
        kernel.ns += took.as_nanos() as u64;
        kernel.translate_ns += translate.as_nanos() as u64;
        summary.faults.extend(fault);
        // Release the lock before `drop` takes it.
        drop(done);
        took
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        done().finish(self);
    }
}

/// Returns the current summary, unless the last written one is still valid.
fn unwritten() -> Option<Summary> {
    let mut done = done();
    if !std::mem::take(&mut done.is_new) && done.running.is_empty() {
        return None;
    }
    let mut summary = done.summary.clone().unwrap_or_default();
    let now = Instant::now();
    let ns = |since: Instant| now.saturating_duration_since(since).as_nanos() as u64;
    summary.busy_ns += done.busy_since.map_or(0, ns);
    let running =
        |(kernel, begun): &(String, Instant)| Running { kernel: kernel.clone(), ns: ns(*begun) };
    summary.running.extend(done.running.values().map(running));
    summary.calls_ns = crate::trace::spent();
    Some(summary)
}

/// Leaves the summary for `warploom cuda`, if that asked for it: periodically, so that a killed
/// process has left one, and at the end of the process.
pub fn leave_summaries() {
    if std::env::var_os(summary::VARIABLE).is_none() {
        return;
    }
    note(|_| {});
    let writer = std::thread::Builder::new().name("warploom summary".into());
    // Without a thread, the summary is only written at the end.
    let _ = writer.spawn(|| {
        loop {
            std::thread::sleep(EACH);
            leave_summary();
        }
    });
}

/// Writes the summary if it has changed.
pub fn leave_summary() {
    static WRITING: Mutex<()> = Mutex::new(());
    let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(folder), Some(mut summary)) = (std::env::var_os(summary::VARIABLE), unwritten())
    else {
        return;
    };
    summary.device = crate::forward::device().unwrap_or_else(crate::driver::device);
    let path = Path::new(&folder).join(format!("{}.json", std::process::id()));
    let half = path.with_extension("part");
    // Nobody remains to be told of an error.
    let _ = serde_json::to_vec(&summary)
        .map(|text| std::fs::write(&half, text).and_then(|()| std::fs::rename(&half, &path)));
}

/// Leaves the summary at the end of a process. If nobody asked for a summary, prints the reason why
/// nothing has run.
pub fn end() {
    if std::env::var_os(summary::VARIABLE).is_some() {
        leave_summary();
    } else if let Some(advice) = done().summary.as_ref().and_then(Summary::advice) {
        eprint!("warploom: {advice}");
    }
}

/// Returns the number of launches of kernels of this name, this one included.
fn number_of(name: &str) -> u64 {
    static COUNTS: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = counts.entry(name.to_string()).or_default();
    *count += 1;
    *count
}
