//! The command: `warploom run`, `init`, `inspect`, `disasm`, `dump`, `bench`, `cuda` and others.
//!
//! Each subcommand has one file (`direct` is a part of `run`, `complete` has `completions` and
//! `man`). The libraries do the work. This crate has options, messages and
//! exit codes: 0 success, 1 an unexpected result (or two engines that disagree), 2 a fault of the
//! guest, 3 bad input.

mod bench;
mod cache;
mod complete;
mod coverage;
#[cfg(target_os = "linux")]
mod cuda;
mod direct;
mod disasm;
mod doctor;
mod dump;
mod fuzz;
mod init;
mod inspect;
mod inspect_ptx;
mod progress;
mod ptxas;
mod reduce;
mod results;
mod run;
mod schema;
mod text;
mod version;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
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

const RUN_EXAMPLES: &str = "Examples:
  warploom run saxpy.toml --engine both
  warploom run k.cubin                      lists the kernels, with commands
  warploom run k.cubin saxpy --grid 40 --block 256 --arg i32=10007 --arg f32=2.5 \\
      --arg buffer=x.npy --arg zeros=f32[10007] --out out";

#[derive(Subcommand)]
enum Command {
    /// Runs a kernel: the launch that a manifest describes, or a kernel of a binary with arguments
    /// from the command line.
    #[command(after_help = RUN_EXAMPLES)]
    Run(run::Options),
    /// Writes a manifest for a kernel of a binary, to be filled in.
    #[command(after_help = "Example: warploom init k.cubin saxpy --out saxpy.toml")]
    Init(init::Options),
    /// Shows what is in a GPU binary: kernels, arguments, registers, shared memory, symbols,
    /// relocations.
    #[command(after_help = "Examples:
  warploom inspect k.cubin
  warploom inspect libtorch_cuda.so --coverage --arch sm_80")]
    Inspect(inspect::Options),
    /// Prints the instructions of a GPU binary, or of words in a text file.
    #[command(after_help = "Examples:
  warploom disasm k.cubin saxpy --hex
  warploom disasm --isa gfx9 stream.bin")]
    Disasm(disasm::Options),
    /// Shows a stage of a kernel's translation.
    #[command(after_help = "Example: warploom dump k.cubin saxpy --stage plan --effort full")]
    Dump(dump::Options),
    /// Measures the JIT against the interpreter on the launch of a manifest.
    #[command(after_help = "Example: warploom bench saxpy.toml --seconds 5")]
    Bench(bench::Options),
    /// Looks for inputs of a launch that end in a fault, or on which the engines differ.
    #[command(
        after_help = "Example: warploom fuzz saxpy.toml --seconds 600 --corpus corpus --keep 1"
    )]
    Fuzz(fuzz::Options),
    /// Makes a launch and its code small that still show a fault or a difference of the engines.
    #[command(after_help = "Example: warploom reduce findings/finding-1/launch.toml --out small")]
    Reduce(reduce::Options),
    /// Runs a program that uses CUDA on this CPU, without a GPU or its driver.
    #[cfg(target_os = "linux")]
    #[command(after_help = "Example: warploom cuda --device sm_80 -- python script.py")]
    Cuda(cuda::Options),
    /// Shows or empties the folder where compiled code is kept.
    #[command(subcommand)]
    Cache(cache::Action),
    /// Prints the JSON schema of a file that the command reads or prints.
    Schema(schema::Options),
    /// Tells what works on this machine, and what is in the way.
    Doctor,
    /// Prints what a shell needs to complete this command's options.
    Completions(complete::Options),
    /// Writes the manual pages of this command.
    Man(complete::Pages),
}

/// `--arch`, of commands that read a GPU binary.
#[derive(clap::Args)]
struct GpuChoice {
    /// The GPU whose driver chooses among code for several, such as sm_50 or gfx906:xnack-.
    #[arg(long, value_name = "GPU")]
    arch: Option<Arch>,
}

/// Parses a time in seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_string())?;
    Duration::try_from_secs_f64(number).map_err(|e| e.to_string())
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
    let mut arguments = std::env::args();
    if arguments.next().is_some_and(|program| ptxas::is_called(program.as_ref())) {
        let Err(problem) = ptxas::run(arguments) else { return ExitCode::SUCCESS };
        eprintln!("ptxas fatal   : {problem}");
        return ExitCode::from(255);
    }
    let parsed = command().try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    let cli = match parsed {
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

/// Returns the command line's grammar, with the long version.
fn command() -> clap::Command {
    Cli::command().long_version(version::long())
}

fn execute(command: &Command) -> Result<ExitCode, Error> {
    let ending = match command {
        Command::Run(options) => run::run(options),
        Command::Init(options) => init::run(options),
        Command::Inspect(options) => inspect::run(options),
        Command::Disasm(options) => disasm::run(options),
        Command::Dump(options) => dump::run(options),
        Command::Bench(options) => bench::run(options),
        Command::Fuzz(options) => fuzz::run(options),
        Command::Reduce(options) => reduce::run(options),
        #[cfg(target_os = "linux")]
        Command::Cuda(options) => return cuda::run(options).map(ExitCode::from),
        Command::Cache(action) => cache::run(action),
        Command::Schema(options) => schema::run(options),
        Command::Doctor => doctor::run(),
        Command::Completions(options) => complete::run(options),
        Command::Man(options) => complete::pages(options),
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

/// Prints JSON to standard output.
fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value);
    let text = text.map_err(|e| Error::Other(format!("the report cannot be written: {e}")))?;
    print(text + "\n")
}

/// Prints facts about a run to standard error: standard output has what the guest prints.
fn note(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
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
