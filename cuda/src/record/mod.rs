//! Launches written as manifests that `warploom run` replays (`WARPLOOM_CAPTURE=DIR`), and what the process leaves for `warploom cuda`.
//!
//! `launch` writes a launch, whoever runs it: this library, or the driver that calls are forwarded to. Here is which ones are written, and what is told of all.

mod launch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use launch::{Before, Machine, Subject, names};
use regex_lite::Regex;
use warploom_replay::summary::{self, Running, Summary};

const DEFAULT_MAX_BYTES: u64 = 256 << 20;

/// Which launches are written, and where.
pub struct Settings {
    folder: PathBuf,
    kernel: Option<Regex>,
    nth: Option<u64>,
    max_bytes: u64,
}

impl Settings {
    /// What the environment says; settings that are wrong are told of, and none of it is done.
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

    /// This launch of a kernel, if it is to be captured.
    pub fn choose(&'static self, kernel: &str) -> Option<Choice> {
        if self.kernel.as_ref().is_some_and(|pattern| !pattern.is_match(kernel)) {
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
    /// How often the kernel was launched, this time included.
    count: u64,
}

impl Choice {
    /// It cannot be written, or not whole.
    pub fn cannot(&self, why: impl std::fmt::Display) {
        note(|summary| {
            summary.not_captured.push(format!("{}, launch {}: {why}", self.kernel, self.count))
        });
    }
}

/// The summary of this process so far, and its launches that have not ended.
static DONE: Mutex<Done> = Mutex::new(Done {
    summary: None,
    running: BTreeMap::new(),
    begun: 0,
    busy_since: None,
    is_new: false,
});

struct Done {
    summary: Option<Summary>,
    /// Launches that have not ended, by number.
    running: BTreeMap<u64, (String, Instant)>,
    /// Launches that have begun so far.
    begun: u64,
    /// When the first of the running ones began.
    busy_since: Option<Instant>,
    /// It changed after it was last written.
    is_new: bool,
}

/// How often the summary is written while the process goes on, for when it is killed.
const EACH: Duration = Duration::from_millis(200);

fn done() -> MutexGuard<'static, Done> {
    DONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds to what this process has done.
pub fn note(add: impl FnOnce(&mut Summary)) {
    let mut done = done();
    done.is_new = true;
    add(done.summary.get_or_insert_default());
}

/// A launch that has begun, by number. It ends when this is dropped.
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
    /// Takes a launch from those that run, if it has not ended before.
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
    /// Notes that the kernel has run, and how long translation took of it. Returns how long it took.
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
        // The lock is free before `drop` takes it.
        drop(done);
        took
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        done().finish(self);
    }
}

/// The summary as of now, unless the last one that was written says as much.
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

/// Leaves what the process does on a GPU for `warploom cuda`, if that asked for it: now and then,
/// so that a process that is killed has left something, and at its end.
pub fn leave_summaries() {
    if std::env::var_os(summary::VARIABLE).is_none() {
        return;
    }
    note(|_| {});
    let writer = std::thread::Builder::new().name("warploom summary".into());
    // Without a thread it is written at the end only.
    let _ = writer.spawn(|| {
        loop {
            std::thread::sleep(EACH);
            leave_summary();
        }
    });
}

/// Leaves what is new.
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
    // Nobody is there any more to be told of an error.
    let _ = serde_json::to_vec(&summary)
        .map(|text| std::fs::write(&half, text).and_then(|()| std::fs::rename(&half, &path)));
}

/// Leaves the summary at the end of a process. If nobody asked for one, says why nothing has run.
pub fn end() {
    if std::env::var_os(summary::VARIABLE).is_some() {
        leave_summary();
    } else if let Some(advice) = done().summary.as_ref().and_then(Summary::advice) {
        eprint!("warploom: {advice}");
    }
}

/// How often a kernel of this name was launched, this time included.
fn number_of(name: &str) -> u64 {
    static COUNTS: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = counts.entry(name.to_string()).or_default();
    *count += 1;
    *count
}
