//! `warploom doctor`: what works on this machine, and what is in the way.

use std::path::Path;
use std::time::Instant;

use warploom::EngineKind;
use warploom_guest::suggest::did_you_mean;
use warploom_replay::manifest::{Arg, Buffer, Kernel, Launch as Shape};
use warploom_replay::{Dtype, Launch, Manifest, Session};

use super::text::time;
use super::{Ending, Error, print};

/// A kernel that needs arithmetic, memory, a branch and a barrier.
const KERNEL: &str = "
.version 6.0
.target sm_50
.address_size 64
.visible .entry sums(.param .u64 .ptr .global x, .param .u32 n)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .pred %p;
    .shared .align 4 .b32 first;
    ld.param.u64 %rd0, [x];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p, %r1, 0;
    @%p st.shared.u32 [first], %r0;
    bar.sync 0;
    ld.shared.u32 %r2, [first];
    mov.u32 %r3, 0;
LOOP:
    add.u32 %r3, %r3, %r1;
    sub.u32 %r2, %r2, 1;
    setp.ne.u32 %p, %r2, 0;
    @%p bra LOOP;
    mul.wide.u32 %rd1, %r1, 4;
    add.u64 %rd1, %rd0, %rd1;
    st.global.u32 [%rd1], %r3;
    ret;
}
";
const LANES: u32 = 64;
const ROUNDS: i64 = 10;

/// The lines of a report, and whether something does not work.
#[derive(Default)]
struct Report {
    text: String,
    fails: bool,
}

impl Report {
    fn line(&mut self, mark: &str, what: impl std::fmt::Display) {
        self.text += &format!("{mark:<8} {what}\n");
    }

    fn note(&mut self, what: impl std::fmt::Display) {
        self.line("", what);
    }

    fn works(&mut self, what: impl std::fmt::Display) {
        self.line("ok", what);
    }

    fn warns(&mut self, what: impl std::fmt::Display) {
        self.line("note", what);
    }

    fn fails(&mut self, what: impl std::fmt::Display) {
        self.fails = true;
        self.line("FAILS", what);
    }
}

pub(super) fn run() -> Result<Ending, Error> {
    let mut report = Report::default();
    report.note(super::version::long());
    processor(&mut report);
    engines(&mut report);
    cache(&mut report);
    #[cfg(target_os = "linux")]
    libraries(&mut report);
    environment(&mut report);
    print(&report.text)?;
    Ok(if report.fails { Ending::Mismatch } else { Ending::Success })
}

/// Reports the CPU's level, by which the speed of native code is decided.
fn processor(report: &mut Report) {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    report.note(format!("{cores} cores for --threads"));
    #[cfg(target_arch = "x86_64")]
    {
        let wanted = super::version::level_3();
        let lacking: Vec<&str> =
            wanted.iter().filter(|(is, _)| !is).map(|(_, name)| *name).collect();
        if lacking.is_empty() {
            report.works("the CPU has the level x86-64-v3: native code is as fast as it can be");
        } else {
            let lacking = lacking.join(", ");
            report.warns(format!("the CPU lacks {lacking}: native code runs, more slowly"));
        }
    }
}

/// Runs a small kernel on both engines, and compares the results with the right ones.
fn engines(report: &mut Report) {
    for engine in [EngineKind::Interp, EngineKind::Jit] {
        match launched(engine) {
            Ok(text) => report.works(text),
            Err(problem) => report.fails(format!("{engine}: {problem}")),
        }
    }
}

fn launched(engine: EngineKind) -> Result<String, String> {
    let buffer =
        Buffer { zeros: Some(u64::from(4 * LANES)), dtype: Some(Dtype::U32), ..Buffer::default() };
    let manifest = Manifest {
        kernel: Kernel { binary: "sums.ptx".into(), ..Kernel::default() },
        launch: Shape { grid: [1; 3], block: [LANES, 1, 1], ..Shape::default() },
        args: vec![Arg::Buffer("x".into()), Arg::Number(Dtype::U32, ROUNDS.into())],
        buffers: [("x".to_string(), buffer)].into(),
        ..Manifest::default()
    };
    let launch = Launch::with_binary(manifest, Path::new("doctor"), KERNEL.into())
        .map_err(|error| error.to_string())?;
    let start = Instant::now();
    let session = Session::new(&launch).map_err(|error| error.to_string())?;
    let options = session.options(engine, 1);
    let outcome = session.launch(&options, None).map_err(|error| error.to_string())?;
    if let Some(fault) = outcome.fault {
        return Err(fault.to_string());
    }
    if let Some(problem) = outcome.uncompiled.first() {
        return Err(format!("no native code could be made: {problem}"));
    }
    let bytes = session.buffer(0).map_err(|error| error.to_string())?;
    let found = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    let expected = (0..LANES).map(|lane| lane * ROUNDS as u32);
    if !found.eq(expected) {
        return Err("a test kernel gave wrong results".into());
    }
    Ok(format!("{engine}: a test kernel ran in {}, with the right results", time(start.elapsed())))
}

/// Reports the folder of compiled code, and whether it can be written.
fn cache(report: &mut Report) {
    let Some(cache) = super::cache::of_environment() else {
        return report.warns("no compiled code is kept between runs");
    };
    let folder = cache.folder();
    let write = std::fs::create_dir_all(folder)
        .and_then(|()| tempfile::NamedTempFile::new_in(folder).map(drop));
    match write {
        Ok(()) => report.works(format!(
            "compiled code is kept in {}, at most {} MiB",
            folder.display(),
            cache.max_bytes() >> 20
        )),
        Err(error) => report.warns(format!(
            "{}: compiled code cannot be kept: {error}: set WARPLOOM_CACHE to another folder, or \
             to off",
            folder.display()
        )),
    }
}

/// Reports the libraries for `warploom cuda`.
#[cfg(target_os = "linux")]
fn libraries(report: &mut Report) {
    match super::cuda::found_libraries() {
        Ok((folder, missing)) if missing.is_empty() => {
            report.works(format!("the CUDA libraries are in {}", folder.display()));
        }
        Ok((folder, missing)) => report.warns(format!(
            "{}: CUDA libraries that were not built: {}",
            folder.display(),
            missing.join(", ")
        )),
        Err(error) => report.warns(format!("`warploom cuda` cannot run: {error}")),
    }
    for device in ["/dev/nvidiactl", "/dev/kfd"] {
        if Path::new(device).exists() {
            report.note(format!("{device}: there is a GPU driver too; warploom does not use it"));
        }
    }
}

/// Reports variables of the environment that change results, and those that are in the way.
fn environment(report: &mut Report) {
    let mut own: Vec<(String, String)> = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into(), value.to_string_lossy().into()))
        .filter(|(name, _): &(String, String)| name.starts_with("WARPLOOM_"))
        .collect();
    own.sort();
    for (name, value) in own {
        match VARIABLES.contains(&name.as_str()) {
            true => report.note(format!("{name} is `{value}`")),
            false => {
                let hint = did_you_mean(&name, VARIABLES);
                report.warns(format!("{name} is `{value}`: no such variable is read{hint}"));
            }
        }
    }
    if let Err(error) = super::EngineChoice::of(None) {
        report.fails(error);
    }
    let in_the_way = [
        (
            "CUDA_VISIBLE_DEVICES",
            "programs see only these devices; `-1` or an empty list hides all",
        ),
        ("LD_PRELOAD", "libraries that are loaded before warploom's own"),
        ("NUMBA_ENABLE_CUDASIM", "numba simulates kernels in Python, without warploom"),
        ("CUDA_LAUNCH_BLOCKING", "each launch waits for its end"),
        ("TRITON_INTERPRET", "Triton interprets kernels in Python, without warploom"),
    ];
    for (name, effect) in in_the_way {
        if let Ok(value) = std::env::var(name) {
            report.warns(format!("{name} is `{value}`: {effect}"));
        }
    }
}

/// The variables that this command and its libraries read.
const VARIABLES: [&str; 21] = [
    "WARPLOOM_CACHE",
    "WARPLOOM_CACHE_SIZE",
    "WARPLOOM_CAPTURE",
    "WARPLOOM_CAPTURE_KERNEL",
    "WARPLOOM_CAPTURE_MAX_BYTES",
    "WARPLOOM_CAPTURE_NTH",
    "WARPLOOM_CUDA_TRACE",
    "WARPLOOM_DEADLOCK_AFTER",
    "WARPLOOM_DEVICE",
    "WARPLOOM_ENGINE",
    "WARPLOOM_HOST_FEATURES",
    "WARPLOOM_INSTRUCTION_LIMIT",
    "WARPLOOM_JIT_NAMES",
    "WARPLOOM_LOG",
    "WARPLOOM_MEMORY",
    "WARPLOOM_NVIDIA_CUDART",
    "WARPLOOM_REAL_CUDA",
    "WARPLOOM_RULES",
    "WARPLOOM_THREADS",
    "WARPLOOM_TIME_LIMIT",
    "WARPLOOM_VECTOR",
];
