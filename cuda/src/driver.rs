//! The driver, one per process: the device, its memory, settings.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;
use std::time::Duration;

use warploom::{Checks, EngineKind};
use warploom_cache::Cache;
use warploom_replay::Suppressions;
use warploom_runtime::memory::{Memory, MemoryConfig};

use crate::device::Profile;
use crate::error::{Answer, Error, of_map};
use crate::{boundary, forward, record};

/// The version that [`cuDriverGetVersion`](crate::api::cuDriverGetVersion) returns: that of the
/// newest known function.
pub const VERSION: i32 = 13050;

/// The most device memory without a setting. Half of the machine's memory also limits it.
const MAX_MEMORY: u64 = 64 << 30;

/// The default time that all blocks of a kernel may wait for a value that nobody changes.
const DEADLOCK_AFTER: Duration = Duration::from_secs(10);

pub struct Driver {
    pub profile: Profile,
    /// Whether each allocation ends with its page, so that an access past the end is a fault.
    pub guard: bool,
    /// The checks of launches.
    pub checks: Option<Checks>,
    /// Findings of checks that are not reported.
    pub suppressed: Suppressions,
    pub memory: Arc<Memory>,
    /// The bytes of device memory.
    pub capacity: u64,
    /// The number of threads that run blocks.
    pub threads: usize,
    pub engine: EngineKind,
    /// The cache of compiled code.
    pub cache: Option<Arc<Cache>>,
    /// Whether every call waits until its work is done (`CUDA_LAUNCH_BLOCKING`).
    pub blocking: bool,
    pub eager: bool,
    /// The settings of launches to write as manifests.
    pub capture: Option<record::Settings>,
    /// The limits of a launch: instructions, and time in seconds.
    pub instruction_limit: Option<u64>,
    pub time_limit: Option<f64>,
    /// The time that a kernel may wait for the host or for other streams.
    pub deadlock_after: Duration,
    /// The number of allocations that host code reads and writes while kernels run.
    pub shared_with_host: AtomicU64,
}

static DRIVER: OnceLock<Result<Driver, Error>> = OnceLock::new();

/// Returns whether `cuInit` was called and succeeded.
pub fn is_ready() -> bool {
    matches!(DRIVER.get(), Some(Ok(_)))
}

/// Returns the driver. The call must come after `cuInit`.
pub fn get() -> &'static Driver {
    match DRIVER.get() {
        Some(Ok(driver)) => driver,
        _ => unreachable!("the boundary lets no call through before cuInit"),
    }
}

/// Returns the GPU that this library claims to be, such as `sm_52`.
pub fn device() -> String {
    format!("sm_{}", get().profile.sm)
}

pub fn memory() -> &'static Arc<Memory> {
    &get().memory
}

/// Creates the driver on the first call.
pub fn init() -> Answer {
    if boundary::is_forked() {
        return Err(Error::CUDA_ERROR_NOT_INITIALIZED);
    }
    DRIVER.get_or_init(Driver::new).as_ref().map(|_| ()).map_err(|&error| error)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Parses a number of bytes, which may end in K, M or G.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let shift = match text.chars().last()?.to_ascii_uppercase() {
        'K' => 10,
        'M' => 20,
        'G' => 30,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Returns whether the program shall see the device.
fn is_visible() -> bool {
    let Ok(visible) = std::env::var("CUDA_VISIBLE_DEVICES") else { return true };
    let first = visible.split(',').next().unwrap_or_default().trim();
    first == "0"
        || first
            .strip_prefix("GPU-")
            .is_some_and(|start| crate::device::uuid_text().starts_with(start))
}

fn host_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse().ok()
    });
    total.map_or(4 << 30, |kib: u64| kib << 10)
}

/// Warns of an invalid setting. The default applies instead, except for `WARPLOOM_DEVICE`.
fn wrong(name: &str, value: &str, expected: &str) {
    eprintln!("warploom: {name}={value}: expected {expected}");
}

/// Returns a setting, and warns if it is invalid.
fn setting<T>(name: &str, expected: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let value = variable(name)?;
    let parsed = parse(&value);
    if parsed.is_none() {
        wrong(name, &value, expected);
    }
    parsed
}

impl Driver {
    fn new() -> Result<Driver, Error> {
        if !is_visible() {
            return Err(Error::CUDA_ERROR_NO_DEVICE);
        }
        let capacity = setting("WARPLOOM_MEMORY", "a number of bytes, such as 2G", bytes);
        let capacity =
            capacity.unwrap_or_else(|| (host_memory() / 2).min(MAX_MEMORY)).max(64 << 20);
        let memory = Memory::new(MemoryConfig {
            cap_bytes: capacity,
            in_place: true,
            ..MemoryConfig::default()
        });
        let threads = setting("WARPLOOM_THREADS", "a number of threads, from 1 on", |value| {
            value.parse::<usize>().ok().filter(|&threads| (1..=1024).contains(&threads))
        });
        let engine = setting("WARPLOOM_ENGINE", "`jit` or `interp`", |value| match value {
            "jit" => Some(EngineKind::Jit),
            "interp" => Some(EngineKind::Interp),
            _ => None,
        });
        let checks =
            setting("WARPLOOM_CHECK", "some of `memory`, `race`, `init`, `sync`", Checks::named);
        let suppressed =
            variable("WARPLOOM_SUPPRESS").map(|path| Suppressions::read(path.as_ref()));
        let suppressed = suppressed.transpose().unwrap_or_else(|problem| {
            eprintln!("warploom: WARPLOOM_SUPPRESS: {problem}");
            None
        });
        // Programs choose their code by the device, so no other device can take its place.
        let profile = variable("WARPLOOM_DEVICE").map(|name| Profile::named(&name)).transpose();
        let profile = profile.map_err(|problem| {
            eprintln!("warploom: WARPLOOM_DEVICE={problem}");
            Error::CUDA_ERROR_NO_DEVICE
        })?;
        boundary::watch_forks();
        let mut capture = None;
        // A library that forwards to this one writes the captures and the summary itself.
        if !forward::is_behind() {
            boundary::at_exit();
            record::leave_summaries();
            capture = record::Settings::from_environment();
        }
        Ok(Driver {
            profile: profile.unwrap_or_default(),
            guard: variable("WARPLOOM_GUARD").is_some_and(|value| value == "1"),
            checks,
            suppressed: suppressed.unwrap_or_default(),
            memory: Arc::new(memory.map_err(of_map)?),
            capacity,
            threads: threads
                .unwrap_or_else(|| available_parallelism().map_or(1, usize::from).min(1024)),
            engine: engine.unwrap_or_default(),
            cache: Cache::of_environment(|problem| eprintln!("warploom: {problem}")),
            blocking: capture.is_some()
                || variable("CUDA_LAUNCH_BLOCKING").is_some_and(|value| value != "0"),
            capture,
            eager: variable("CUDA_MODULE_LOADING")
                .is_some_and(|value| value.eq_ignore_ascii_case("eager")),
            instruction_limit: setting("WARPLOOM_INSTRUCTION_LIMIT", "a number", |value| {
                value.parse().ok()
            }),
            time_limit: setting("WARPLOOM_TIME_LIMIT", "a number of seconds", |value| {
                value.parse().ok()
            }),
            deadlock_after: setting("WARPLOOM_DEADLOCK_AFTER", "a number of seconds", |value| {
                value.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            })
            .unwrap_or(DEADLOCK_AFTER),
            shared_with_host: AtomicU64::new(0),
        })
    }

    /// Returns whether host code can access device memory while a kernel runs, other than by calls.
    pub fn is_shared_with_host(&self) -> bool {
        self.shared_with_host.load(Relaxed) > 0
    }
}
