//! `warploom disasm`

use std::path::PathBuf;

use clap::ValueEnum;
use warploom_container::{Module, Modules};
use warploom_guest::chip::Chip;
use warploom_guest::suggest::{did_you_mean, first_of};
use warploom_maxwell::Instruction;
use warploom_replay::{listing, read};

use super::{Ending, Error, GpuChoice, print, print_json};

#[derive(clap::Args)]
pub struct Options {
    /// A GPU binary, or with --hex-lines a text file.
    file: PathBuf,
    /// A kernel or function of the binary; without it all code.
    kernel: Option<String>,
    #[command(flatten)]
    gpu: GpuChoice,
    /// Prints encodings too.
    #[arg(long)]
    hex: bool,
    /// Reads one instruction a line from FILE, in hex. Prints its text or `illegal`, line for line.
    #[arg(long, requires = "isa", conflicts_with_all = ["kernel", "hex"])]
    hex_lines: bool,
    /// The instruction set of --hex-lines. Without --hex-lines, FILE is a plain stream of GFX9
    /// instructions.
    #[arg(long, conflicts_with = "kernel")]
    isa: Option<IsaChoice>,
    /// Prints offsets, encodings and texts as JSON; PTX, vISA and the IR line for line.
    #[arg(long, conflicts_with_all = ["hex", "isa"])]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum IsaChoice {
    /// NVIDIA sm_50, a word as one 64-bit number.
    Maxwell,
    /// AMD gfx900 and gfx906, the bytes as they are stored.
    Gfx9,
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let bytes = read::file(&options.file)?;
    if options.json {
        let failed = |source| Error::Container { path: options.file.clone(), source };
        let found = warploom_container::read_for(&bytes, options.gpu.arch).map_err(failed)?;
        let function = options.kernel.as_deref();
        if let Some(name) = function {
            check_function(options, name, &found)?;
        }
        let file = options.file.display().to_string();
        print_json(&listing::report::report(file, &found, function))?;
        return Ok(Ending::Success);
    }
    let text = match options.isa {
        Some(isa) if options.hex_lines => hex_lines(isa, options, &bytes)?,
        Some(IsaChoice::Gfx9) => listing::stream(&bytes, 0, Chip::Any, options.hex),
        Some(IsaChoice::Maxwell) => {
            return Err(Error::Other("--isa maxwell: expected --hex-lines with it".into()));
        }
        None => binary(options, &bytes)?,
    };
    print(&text)?;
    Ok(Ending::Success)
}

/// Returns the text of an instruction in hex.
///
/// The inner `None`: the instruction is illegal. The outer `None`: the text is not hex.
type TextOf = fn(&str) -> Option<Option<String>>;

fn hex_lines(isa: IsaChoice, options: &Options, bytes: &[u8]) -> Result<String, Error> {
    let (expected, text): (_, TextOf) = match isa {
        IsaChoice::Maxwell => ("up to 16 hex digits", maxwell_text),
        IsaChoice::Gfx9 => ("bytes of two hex digits each", gfx9_text),
    };
    let mut out = String::new();
    for (i, line) in String::from_utf8_lossy(bytes).lines().enumerate() {
        let digits = line.trim().trim_start_matches("0x");
        let text = text(digits).ok_or_else(|| {
            let place = format!("{}, line {}", options.file.display(), i + 1);
            Error::Other(format!("{place}: `{line}`: expected {expected}"))
        })?;
        out += text.as_deref().unwrap_or("illegal");
        out.push('\n');
    }
    Ok(out)
}

/// Returns the text of a Maxwell instruction word.
fn maxwell_text(digits: &str) -> Option<Option<String>> {
    let word = u64::from_str_radix(digits, 16).ok()?;
    Some(Instruction::decode(word).map(|instruction| instruction.text(0)))
}

/// Returns the text of a single GFX9 instruction.
fn gfx9_text(digits: &str) -> Option<Option<String>> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| match pair {
        [_, _] => u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok(),
        _ => None,
    };
    let code: Vec<u8> = pairs.map(byte).collect::<Option<_>>()?;
    let instruction =
        warploom_gfx9::Instruction::decode(&code).filter(|one| one.bytes() as usize == code.len());
    Some(instruction.map(|instruction| instruction.text(0)))
}

fn no_function(options: &Options, name: &str, modules: &[Module]) -> Error {
    let names: Vec<_> =
        modules.iter().flat_map(|m| &m.functions).map(|f| f.name.as_str()).collect();
    let known = if names.is_empty() { "no functions".into() } else { first_of(&names) };
    let (file, hint) = (options.file.display(), did_you_mean(name, names));
    Error::Other(format!("{file}: no function `{name}`{hint}: the binary has {known}"))
}

/// Checks that a file has a function.
fn check_function(options: &Options, name: &str, found: &Modules) -> Result<(), Error> {
    let mut functions = found.modules.iter().flat_map(|module| &module.functions);
    if functions.any(|function| function.name == name) {
        return Ok(());
    }
    Err(no_function(options, name, &found.modules))
}

fn binary(options: &Options, bytes: &[u8]) -> Result<String, Error> {
    let failed = |source| Error::Container { path: options.file.clone(), source };
    let Modules { modules, unreadable } =
        warploom_container::read_for(bytes, options.gpu.arch).map_err(failed)?;
    let mut texts = Vec::new();
    for module in &modules {
        texts.extend(listing::module_text(module, options.kernel.as_deref(), options.hex));
    }
    let kernels = || modules.iter().flat_map(|module| &module.unreadable);
    match &options.kernel {
        Some(name)
            if texts.is_empty()
                && let Some(kernel) = kernels().find(|kernel| kernel.name == *name) =>
        {
            Err(failed(kernel.error.clone()))
        }
        Some(_) if texts.is_empty() && !unreadable.is_empty() => Err(failed(unreadable[0].clone())),
        Some(name) if texts.is_empty() => Err(no_function(options, name, &modules)),
        Some(_) => Ok(texts.join("\n\n")),
        None => {
            let problems =
                kernels().map(|kernel| format!("kernel {}: {}", kernel.name, kernel.error));
            let problems = problems.chain(unreadable.iter().map(ToString::to_string));
            texts.extend(
                problems
                    .map(|problem| format!("// not read: {}\n", problem.replace('\n', "\n// "))),
            );
            Ok(texts.join("\n\n"))
        }
    }
}
