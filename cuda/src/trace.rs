//! The trace of calls on standard error, if `WARPLOOM_CUDA_TRACE=1` asks for it: each call with its
//! answer. A call of an unsupported function is always reported, once per function. The time of
//! calls is measured for the summary of a process.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Instant;

use warploom_replay::summary;

use crate::error::Answer;

static EACH: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("WARPLOOM_CUDA_TRACE").is_some_and(|value| value != "0"));
static TOLD: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

/// Whether a summary needs the time of calls.
static TIMED: LazyLock<bool> = LazyLock::new(|| std::env::var_os(summary::VARIABLE).is_some());
static SPENT: AtomicU64 = AtomicU64::new(0);

/// Begins a call. Returns the time if calls are timed.
pub fn begin() -> Option<Instant> {
    TIMED.then(Instant::now)
}

/// Returns the nanoseconds that all threads spent in calls so far.
pub fn spent() -> u64 {
    SPENT.load(Relaxed)
}

/// Ends a call.
pub fn call(name: &str, answer: Answer, begun: Option<Instant>) {
    if let Some(begun) = begun {
        SPENT.fetch_add(begun.elapsed().as_nanos() as u64, Relaxed);
    }
    if *EACH {
        match answer {
            Ok(()) => eprintln!("warploom: {name}"),
            Err(error) => eprintln!("warploom: {name}: {error:?}"),
        }
    }
}

/// Counts a call of an unsupported function, for the summary.
pub fn count_refused(name: &str) {
    crate::record::note(|summary| *summary.unsupported.entry(name.to_string()).or_default() += 1);
}

/// Reports and counts a call of an unsupported function.
pub fn refused(name: &'static str) {
    count_refused(name);
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
        eprintln!("warploom: {name} is not provided (CUDA_ERROR_NOT_SUPPORTED)");
    }
}

/// Counts a request for one of NVIDIA's tables. NVIDIA's runtime asks for them to find out whether
/// the driver is NVIDIA's; compilers ask for one and can do without.
pub fn export_table(id: [u8; 16]) {
    // The tables that NVIDIA's runtime looks for.
    const RUNTIME: [u8; 4] = [0xf8, 0xcf, 0xf9, 0x51];
    const TOOLS: [u8; 4] = [0x6b, 0xd5, 0xfb, 0x6c];
    if id.starts_with(&RUNTIME) || id.starts_with(&TOOLS) {
        crate::record::note(|summary| summary.private_tables += 1);
        // A program whose runtime gives up may crash next.
        crate::record::leave_summary();
    }
}

/// Reports the failure of an image whose log nobody asked for.
pub fn failure(text: &str) {
    eprintln!("warploom: {text}");
    crate::record::note(|summary| {
        if !summary.not_loaded.iter().any(|known| known == text) {
            summary.not_loaded.push(text.to_string());
        }
    });
}
