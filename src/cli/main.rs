//! The command: `warploom run`, `inspect`, `disasm`, `dump`, `bench`, `cuda`, `cache`.
//!
//! Each subcommand has one file (`engine_run` and `report` are parts of `run`). The libraries do
//! the work. This crate has options, messages and exit codes: 0 success, 1 an unexpected result (or
//! two engines that disagree), 2 a fault of the guest, 3 bad input.

mod bench;
mod cache;
mod coverage;
#[cfg(target_os = "linux")]
mod cuda;
mod disasm;
mod dump;
mod engine_run;
mod inspect;
mod inspect_ptx;
mod progress;
mod report;
mod run;
mod text;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;
use warploom_container::Arch;
use warploom_engine::Effort;
use warploom_replay::{Launch, Session};

/// Runs captured GPU binaries on a CPU.
#[derive(Parser)]
#[command(name = "warploom", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str =
    "Exit codes: 0 success, 1 an unexpected result, 2 a fault of the guest, 3 bad input.
Environment:
  WARPLOOM_ENGINE      the engine, unless --engine names one
  WARPLOOM_LOG         the events to log on standard error, such as `debug`
  WARPLOOM_CACHE       the folder for compiled code, or `off`
  WARPLOOM_CACHE_SIZE  the size of this folder in MiB, at most";

#[derive(Subcommand)]
enum Command {
    /// Runs the launch that a manifest describes.
    Run(run::Options),
    /// Shows what is in a GPU binary: kernels, arguments, registers, shared memory, symbols,
    /// relocations.
    Inspect(inspect::Options),
    /// Prints the instructions of a GPU binary, or of words in a text file.
    Disasm(disasm::Options),
    /// Shows a stage of a kernel's translation.
    Dump(dump::Options),
    /// Measures the JIT against the interpreter on the launch of a manifest.
    Bench(bench::Options),
    /// Runs a program that uses CUDA on this CPU, without a GPU or its driver.
    #[cfg(target_os = "linux")]
    Cuda(cuda::Options),
    /// Shows or empties the folder where compiled code is kept.
    #[command(subcommand)]
    Cache(cache::Action),
}

/// `--arch`, of commands that read a GPU binary.
#[derive(clap::Args)]
struct GpuChoice {
    /// The GPU whose driver chooses among code for several, such as sm_50 or gfx906:xnack-.
    #[arg(long, value_name = "GPU")]
    arch: Option<Arch>,
}

/// Parses the value of `--effort`.
fn effort() -> impl TypedValueParser<Value = Effort> {
    PossibleValuesParser::new(Effort::ALL.map(Effort::name)).map(|name| {
        Effort::ALL.into_iter().find(|effort| effort.name() == name).expect("one of the names")
    })
}

/// The ending of a command, as its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Success = 0,
    Mismatch = 1,
    Fault = 2,
}

/// Bad input: exit code 3.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Capture(#[from] warploom_replay::Error),
    #[error("{}: {source}", .path.display())]
    Exec { path: PathBuf, source: Box<warploom::Error> },
    #[error("{}: {source}", .path.display())]
    Container { path: PathBuf, source: warploom_container::Error },
    #[error("{}: {doing}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: std::io::Error },
    #[error("{0}")]
    Other(String),
}

impl Error {
    fn exec(path: &Path) -> impl FnOnce(warploom::Error) -> Error {
        move |source| Error::Exec { path: path.to_path_buf(), source: Box::new(source) }
    }
}

/// Loads a launch into memory.
///
/// Errors in the binary name its file; all other errors name the manifest.
fn session(launch: &Launch) -> Result<Session<'_>, Error> {
    Session::new(launch).map_err(|source| {
        let of_binary = matches!(
            source,
            warploom::Error::Container(_)
                | warploom::Error::NoKernels
                | warploom::Error::Unreadable { .. }
        );
        Error::exec(if of_binary { &launch.binary_path } else { &launch.path })(source)
    })
}

/// `--engine`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineChoice {
    /// Native code.
    Jit,
    /// The reference engine.
    Interp,
    /// Both, one after the other, and reports the first difference.
    Both,
}

impl EngineChoice {
    /// Returns the engine of the option, else of the environment, else the JIT.
    fn of(option: Option<EngineChoice>) -> Result<EngineChoice, Error> {
        const VARIABLE: &str = "WARPLOOM_ENGINE";
        match (option, std::env::var(VARIABLE)) {
            (Some(choice), _) => Ok(choice),
            (None, Err(_)) => Ok(EngineChoice::Jit),
            (None, Ok(name)) => EngineChoice::from_str(&name, false).map_err(|_| {
                Error::Other(format!("{VARIABLE} is `{name}`: expected jit, interp or both"))
            }),
        }
    }

    fn engines(self) -> &'static [warploom::EngineKind] {
        match self {
            EngineChoice::Jit => &[warploom::EngineKind::Jit],
            EngineChoice::Interp => &[warploom::EngineKind::Interp],
            EngineChoice::Both => &[warploom::EngineKind::Jit, warploom::EngineKind::Interp],
        }
    }
}

/// Reads the command line, runs the command, and reports how it ended.
fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) => {
            // A request for help is no error. A closed terminal is nobody's fault.
            let _ = message.print();
            return if message.use_stderr() { ExitCode::from(3) } else { ExitCode::SUCCESS };
        }
    };
    match start_log().and_then(|()| execute(&cli.command)) {
        Ok(code) => code,
        Err(error) => {
            complain(&error);
            ExitCode::from(3)
        }
    }
}

fn execute(command: &Command) -> Result<ExitCode, Error> {
    let ending = match command {
        Command::Run(options) => run::run(options),
        Command::Inspect(options) => inspect::run(options),
        Command::Disasm(options) => disasm::run(options),
        Command::Dump(options) => dump::run(options),
        Command::Bench(options) => bench::run(options),
        #[cfg(target_os = "linux")]
        Command::Cuda(options) => return cuda::run(options).map(ExitCode::from),
        Command::Cache(action) => cache::run(action),
    };
    ending.map(|ending| ExitCode::from(ending as u8))
}

/// Reports an error on standard error. If that is closed, nobody wants to know.
fn complain(what: &dyn std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "warploom: {}", text::in_short(&what.to_string()));
}

/// Begins to log the events that the environment asks for.
fn start_log() -> Result<(), Error> {
    const VARIABLE: &str = "WARPLOOM_LOG";
    let Some(text) = std::env::var_os(VARIABLE) else { return Ok(()) };
    let text = text.to_string_lossy();
    let filter: Targets = text
        .parse()
        .map_err(|problem| Error::Other(format!("{VARIABLE} is `{text}`: {problem}")))?;
    let colours = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(colours);
    tracing_subscriber::registry().with(lines.with_filter(filter)).init();
    Ok(())
}

/// Prints to standard output. If the reader has gone away, the command ends quietly.
fn print(text: impl AsRef<[u8]>) -> Result<(), Error> {
    match std::io::stdout().lock().write_all(text.as_ref()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::Io { path: "standard output".into(), doing: "cannot be written", source: e })
        }
        _ => Ok(()),
    }
}
