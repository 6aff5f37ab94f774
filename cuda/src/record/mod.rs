//! Launches written as manifests that `warploom run` replays (`WARPLOOM_CAPTURE=DIR`), and what the process leaves for `warploom cuda`.
//!
//! `launch` writes a launch, whoever runs it: this library, or the driver that calls are forwarded to. Here is which ones are written, and what is told of all.

mod launch;

pub use launch::{Before, Machine, Subject, names};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use regex_lite::Regex;
use warploom::summary::{self, Summary};

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
            variable(name).map(|value| value.parse::<u64>().map_err(|_| format!("{name}={value}: expected a number")))
        };
        let read = || -> Result<Settings, String> {
            let kernel =
                variable("WARPLOOM_CAPTURE_KERNEL").map(|pattern| Regex::new(&pattern).map_err(|e| e.to_string()));
            Ok(Settings {
                kernel: kernel.transpose()?,
                nth: number("WARPLOOM_CAPTURE_NTH").transpose()?,
                max_bytes: number("WARPLOOM_CAPTURE_MAX_BYTES").transpose()?.unwrap_or(DEFAULT_MAX_BYTES),
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
        note(|summary| summary.not_captured.push(format!("{}, launch {}: {why}", self.kernel, self.count)));
    }
}

/// What this process has done so far.
static DONE: Mutex<Option<Summary>> = Mutex::new(None);

fn done() -> MutexGuard<'static, Option<Summary>> {
    DONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds to what this process has done.
pub fn note(add: impl FnOnce(&mut Summary)) {
    add(done().get_or_insert_default());
}

/// Notes one launch.
pub fn launched(name: &str, took: Duration, fault: Option<String>) {
    note(|summary| {
        if !summary.kernels.contains_key(name) {
            summary.kernels.insert(name.to_string(), Default::default());
        }
        let kernel = summary.kernels.get_mut(name).expect("it was just put in");
        kernel.launches += 1;
        kernel.ns += took.as_nanos() as u64;
        summary.faults.extend(fault);
    });
}

/// Leaves what the process has done on a GPU of this kind for `warploom cuda`, if that asked for it.
pub fn leave_summary(device: &str) {
    let (Some(folder), Some(mut summary)) = (std::env::var_os(summary::VARIABLE), done().take()) else { return };
    summary.device = device.into();
    summary.calls_ns = crate::trace::spent();
    let path = Path::new(&folder).join(format!("{}.json", std::process::id()));
    // Nobody is there any more to be told of an error.
    let _ = serde_json::to_vec(&summary).map(|text| std::fs::write(path, text));
}

/// How often a kernel of this name was launched, this time included.
fn number_of(name: &str) -> u64 {
    static COUNTS: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = counts.entry(name.to_string()).or_default();
    *count += 1;
    *count
}
