//! `warploom cuda`: runs a CUDA program with warploom's driver and runtime libraries before any
//! others.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

use regex_lite::Regex;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use warploom::Checks;
use warploom_container::Arch;
use warploom_replay::Suppressions;
use warploom_replay::summary::{self, Summary};

use super::{Ending, Error, ptxas};

#[derive(clap::Args)]
pub struct Options {
    /// The GPU that programs see, else sm_89: sm_50 to sm_53 and sm_75 to sm_89 run SASS and PTX,
    /// others PTX.
    #[arg(long, value_name = "GPU", value_parser = device)]
    device: Option<u32>,
    /// The engine.
    #[arg(long, value_parser = ["jit", "interp"])]
    engine: Option<String>,
    /// Worker threads.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// The folder with warploom's libraries, if they are not beside this command.
    #[arg(long, value_name = "DIR")]
    libraries: Option<PathBuf>,
    /// The number of kernels in the summary at the end; 0 prints no summary.
    #[arg(long, value_name = "N", default_value_t = 10)]
    summary: usize,
    /// Puts the end of each allocation at the end of a page: an access past it is a fault, at the
    /// speed of any launch. Exact to 16 bytes.
    #[arg(long)]
    guard: bool,
    /// Reports mistakes of kernels that need not change the results here: `memory`, accesses past the
    /// ends of allocations and to freed memory; `race`, races on shared and global memory; `init`,
    /// reads of shared and local memory that nobody has written; `sync`, wrong barriers and masks of
    /// lanes. Findings make the exit code 2. Launches are slower.
    #[arg(long, value_name = "CHECK", value_delimiter = ',', value_parser = Checks::NAMES)]
    check: Vec<String>,
    /// A file with findings that are not reported: a check or `*`, regular expressions for the
    /// kernel and perhaps for the place, on each line.
    #[arg(long, value_name = "FILE", requires = "check")]
    suppress: Option<PathBuf>,
    #[command(flatten)]
    capture: CaptureOptions,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(clap::Args)]
struct CaptureOptions {
    /// Writes each launch to this folder, as a manifest for `warploom run` with buffers and
    /// results.
    #[arg(long, value_name = "DIR")]
    capture: Option<PathBuf>,
    /// Captures only kernels whose name, in the binary or as the summary shows it, this regular
    /// expression matches.
    #[arg(long, value_name = "REGEX", requires = "capture")]
    kernel: Option<String>,
    /// Captures only the Nth launch of each kernel, from 1 on.
    #[arg(long, value_name = "N", requires = "capture", value_parser = clap::value_parser!(u64).range(1..))]
    nth: Option<u64>,
    /// Captures no launch whose buffers have more bytes in all.
    #[arg(long, value_name = "N", requires = "capture")]
    max_bytes: Option<u64>,
}

fn device(name: &str) -> Result<u32, String> {
    warploom_container::cuda_device(name)
}

/// The libraries: Cargo's file names, and the names that programs load.
const LIBRARIES: [(&str, &[&str]); 11] = [
    ("libcuda.so", &["libcuda.so.1", "libcuda.so"]),
    ("libcudart11.so", &["libcudart.so.11.0"]),
    ("libcudart12.so", &["libcudart.so.12"]),
    ("libcudart13.so", &["libcudart.so.13"]),
    ("libcublas12.so", &["libcublas.so.12"]),
    ("libcublas13.so", &["libcublas.so.13"]),
    // JAX needs these two. PyTorch goes on with NVIDIA's, which it does not use.
    ("libcudnn9.so", &["libcudnn9.so"]),
    ("libcublaslt12.so", &["libcublaslt12.so"]),
    ("libcufft11.so", &["libcufft.so.11"]),
    ("libcufft12.so", &["libcufft.so.12"]),
    ("libnvidia_ml.so", &["libnvidia-ml.so.1"]),
];

/// Libraries in place of NVIDIA's linkers, for GPUs whose machine code does not run.
const LINKERS: [(&str, &[&str]); 2] = [
    ("libnvjitlink12.so", &["libnvJitLink.so.12"]),
    ("libnvjitlink13.so", &["libnvJitLink.so.13"]),
];

/// A module that Python imports at its start.
const PYTHON_START: (&str, &str) = ("sitecustomize.py", include_str!("sitecustomize.py"));

/// The variable that names the driver to which calls are forwarded, if the user sets it.
const REAL: &str = "WARPLOOM_REAL_CUDA";

fn forwards() -> bool {
    std::env::var_os(REAL).is_some_and(|path| !path.is_empty())
}

/// Returns the folder of the libraries: beside this command, or `lib/warploom` of an installation.
fn libraries(given: Option<&Path>) -> Result<PathBuf, Error> {
    let command = std::env::current_exe().map_err(|source| Error::Io {
        path: "this command".into(),
        doing: "cannot be found",
        source,
    })?;
    let beside = command.parent().unwrap_or(Path::new("."));
    let folders = match given {
        Some(folder) => vec![folder.to_path_buf()],
        None => vec![beside.to_path_buf(), beside.join("../lib/warploom")],
    };
    let found = folders.iter().find(|folder| folder.join(LIBRARIES[0].0).is_file());
    found.and_then(|folder| folder.canonicalize().ok()).ok_or_else(|| {
        let [first, ..] = &folders[..] else { unreachable!("there is one at least") };
        Error::Other(format!(
            "{}: no {} there: build it with `cargo build --release --workspace`, or say where it is with --libraries",
            first.display(),
            LIBRARIES[0].0
        ))
    })
}

/// Returns the folder of the libraries, and those that are not there.
pub fn found_libraries() -> Result<(PathBuf, Vec<&'static str>), Error> {
    let folder = libraries(None)?;
    let files = LIBRARIES.iter().chain(&LINKERS).map(|(file, _)| *file);
    let missing = files.filter(|file| !folder.join(file).is_file()).collect();
    Ok((folder, missing))
}

/// Fills a folder with links that have the names that programs ask for.
///
/// Returns the links that must be loaded before all other libraries. `only_ptx`: see [`only_ptx`].
fn link(from: &Path, into: &Path, only_ptx: bool) -> Result<Vec<PathBuf>, Error> {
    let mut first = Vec::new();
    // NVIDIA's runtime works with NVIDIA's driver behind our driver.
    let files = if forwards() { &LIBRARIES[..1] } else { &LIBRARIES[..] };
    let linkers = if only_ptx { &LINKERS[..] } else { &[] };
    for (file, names) in files.iter().chain(linkers) {
        let file = from.join(file);
        if !file.is_file() {
            continue;
        }
        for name in *names {
            let link = into.join(name);
            symlink(&file, &link).map_err(|source| Error::Io {
                path: link.clone(),
                doing: "cannot be made",
                source,
            })?;
            // A program may find its own library by a path (RPATH), which counts before the library
            // path. A library that is already loaded under the name counts before RPATH.
            let by_path = ["libcudart", "libcublas", "libcufft", "libnvJitLink"];
            if by_path.iter().any(|start| name.starts_with(start)) {
                first.push(link);
            }
        }
    }
    Ok(first)
}

/// Returns a variable's value with paths put before its present value.
fn before(variable: &str, first: &[PathBuf]) -> OsString {
    let mut value =
        first.iter().map(|path| path.as_os_str()).collect::<Vec<_>>().join(OsStr::new(":"));
    if let Some(rest) = std::env::var_os(variable).filter(|rest| !rest.is_empty()) {
        value.push(":");
        value.push(rest);
    }
    value
}

/// Returns whether the GPU's machine code does not run, so that PTX takes its place.
fn only_ptx(options: &Options) -> bool {
    let sm = options.device.or_else(|| device(&std::env::var("WARPLOOM_DEVICE").ok()?).ok());
    !forwards() && sm.is_some_and(|sm| !Arch::Sm(sm).runs())
}

/// Puts this command where programs look for NVIDIA's assembler. A user's choice stays.
fn assembler(folder: &Path, command: &mut Command) -> io::Result<()> {
    std::fs::create_dir(folder)?;
    let link = folder.join(ptxas::NAME);
    symlink(std::env::current_exe()?, &link)?;
    command.env("PATH", before("PATH", &[folder.to_path_buf()]));
    for variable in ["TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"] {
        if std::env::var_os(variable).is_none() {
            command.env(variable, &link);
        }
    }
    Ok(())
}

/// Sets the environment of the program. `python`: the folder of [`PYTHON_START`].
fn environment(
    options: &Options,
    [folder, python]: [&Path; 2],
    first: &[PathBuf],
    command: &mut Command,
) {
    command.env("LD_LIBRARY_PATH", before("LD_LIBRARY_PATH", &[folder.to_path_buf()]));
    command.env("LD_PRELOAD", before("LD_PRELOAD", first));
    // Triton looks for the driver itself.
    command.env("TRITON_LIBCUDA_PATH", folder);
    if !forwards() {
        // PyTorch's layers then use cuBLAS, which is there, instead of cuBLASLt.
        command.env("DISABLE_ADDMM_CUDA_LT", "1");
        command.env("PYTHONPATH", before("PYTHONPATH", &[python.to_path_buf()]));
    }
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            command.env(name, value);
        }
    };
    set("WARPLOOM_DEVICE", options.device.map(|sm| format!("sm_{sm}")));
    set("WARPLOOM_ENGINE", options.engine.clone());
    set("WARPLOOM_GUARD", options.guard.then(|| "1".into()));
    set("WARPLOOM_CHECK", Some(options.check.join(",")).filter(|checks| !checks.is_empty()));
    let suppress = options.suppress.as_ref().and_then(|path| std::path::absolute(path).ok());
    set("WARPLOOM_SUPPRESS", suppress.map(|path| path.display().to_string()));
    set("WARPLOOM_THREADS", options.threads.map(|threads| threads.to_string()));
    let CaptureOptions { capture: _, kernel, nth, max_bytes } = &options.capture;
    set("WARPLOOM_CAPTURE_KERNEL", kernel.clone());
    set("WARPLOOM_CAPTURE_NTH", nth.map(|nth| nth.to_string()));
    set("WARPLOOM_CAPTURE_MAX_BYTES", max_bytes.map(|bytes| bytes.to_string()));
}

/// Returns the sum of all processes' summaries, if there are any.
fn summaries(folder: &Path) -> Option<Summary> {
    let files = std::fs::read_dir(folder).ok()?;
    // A process that was killed while it wrote also leaves a file of another name.
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    let whole = paths.filter(|path| path.extension() == Some(OsStr::new("json")));
    let read = whole.filter_map(|path| serde_json::from_slice(&std::fs::read(path).ok()?).ok());
    read.reduce(|mut sum: Summary, other| {
        sum.add(other);
        sum
    })
}

/// Returns the program's exit code, or like shells 128 plus the number of its signal.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Runs the program. Returns its exit code.
pub(super) fn run(options: &Options) -> Result<u8, Error> {
    if forwards() && options.capture.capture.is_none() {
        return Err(Error::Other(format!(
            "{REAL} is set: calls are forwarded to another driver to capture launches: expected --capture DIR"
        )));
    }
    if let Some(pattern) = &options.capture.kernel {
        Regex::new(pattern).map_err(|e| Error::Other(format!("--kernel {pattern}: {e}")))?;
    }
    if let Some(file) = &options.suppress {
        Suppressions::read(file).map_err(Error::Other)?;
    }
    let from = libraries(options.libraries.as_deref())?;
    let cannot = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::Io { path, doing: "cannot be made a folder", source }
    };
    let folder = tempfile::tempdir().map_err(cannot(Path::new("a temporary folder")))?;
    let [linked, left, python] = ["lib", "summary", "python"].map(|name| folder.path().join(name));
    for path in [&linked, &left, &python] {
        std::fs::create_dir(path).map_err(cannot(path))?;
    }
    let (name, content) = PYTHON_START;
    warploom_replay::write::file(&python.join(name), |into| into.write_all(content.as_bytes()))?;
    let only_ptx = only_ptx(options);
    let first = link(&from, &linked, only_ptx)?;
    let (program, arguments) = options.command.split_first().expect("clap requires a command");
    let mut command = Command::new(program);
    command.args(arguments);
    environment(options, [&linked, &python], &first, &mut command);
    if only_ptx {
        let programs = folder.path().join("bin");
        assembler(&programs, &mut command).map_err(cannot(&programs))?;
    }
    command.env(summary::VARIABLE, &left);
    if let Some(capture) = &options.capture.capture {
        std::fs::create_dir_all(capture).map_err(cannot(capture))?;
        let absolute = capture.canonicalize().map_err(cannot(capture))?;
        command.env("WARPLOOM_CAPTURE", absolute);
    }
    let cannot_run = |source| Error::Io { path: program.into(), doing: "cannot be run", source };
    let status = wait(command.spawn().map_err(cannot_run)?).map_err(cannot_run)?;
    let summary = summaries(&left).unwrap_or_default();
    if options.summary > 0 {
        eprint!("warploom: {}", summary.text(options.summary, super::text::time));
        if options.capture.capture.is_some() && summary.captured == 0 {
            let pattern = options.capture.kernel.as_ref();
            let of =
                pattern.map_or(String::new(), |pattern| format!(" of kernels like `{pattern}`"));
            eprintln!("captured: no launch{of}");
        }
    }
    Ok(if summary.findings.is_empty() { code(status) } else { Ending::Fault as u8 })
}

/// Waits for the program's end.
///
/// A signal that tells this process to end is passed to the program. So the summary still follows.
fn wait(mut program: Child) -> io::Result<ExitStatus> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let handle = signals.handle();
    let pid = i32::try_from(program.id()).ok().and_then(Pid::from_raw);
    // A terminal sends SIGINT to the program itself.
    let from_terminal = io::stdin().is_terminal();
    let teller = std::thread::spawn(move || {
        for signal in signals.forever().filter(|&signal| !(signal == SIGINT && from_terminal)) {
            let known = [(SIGINT, Signal::INT), (SIGTERM, Signal::TERM), (SIGHUP, Signal::HUP)];
            let signal = known.into_iter().find(|(number, _)| *number == signal);
            // A program that has ended needs no signal.
            let _ = pid.zip(signal).map(|(pid, (_, signal))| kill_process(pid, signal));
        }
    });
    let status = program.wait();
    handle.close();
    let _ = teller.join();
    status
}
