//! `warploom disasm`

use std::fmt::Write;
use std::path::PathBuf;

use clap::ValueEnum;

use super::{Ending, Error, print, read};
use crate::container::{self, Module, SectionId, SectionKind};
use crate::isa::maxwell::Instruction;
use crate::isa::maxwell::code::words;
use crate::isa::maxwell::disasm::Context;

#[derive(clap::Args)]
pub struct Options {
    /// A GPU binary, or with --hex-lines a text file.
    file: PathBuf,
    /// A kernel or function of the binary; without it all code.
    kernel: Option<String>,
    /// Prints encodings too.
    #[arg(long)]
    hex: bool,
    /// FILE has one instruction a line, in hex; prints its text, or `illegal`, line for line.
    #[arg(long, requires = "isa", conflicts_with_all = ["kernel", "hex"])]
    hex_lines: bool,
    /// The instruction set of --hex-lines.
    #[arg(long)]
    isa: Option<IsaChoice>,
}

#[derive(Clone, Copy, ValueEnum)]
enum IsaChoice {
    /// NVIDIA sm_50, a word as one 64-bit number.
    Maxwell,
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let bytes = read(&options.file)?;
    let text = match options.isa.filter(|_| options.hex_lines) {
        Some(IsaChoice::Maxwell) => hex_lines(options, &bytes)?,
        None => binary(options, &bytes)?,
    };
    print(&text)?;
    Ok(Ending::Success)
}

fn hex_lines(options: &Options, bytes: &[u8]) -> Result<String, Error> {
    let mut out = String::new();
    for (i, line) in String::from_utf8_lossy(bytes).lines().enumerate() {
        let digits = line.trim().trim_start_matches("0x");
        let word = u64::from_str_radix(digits, 16).map_err(|_| {
            let place = format!("{}, line {}", options.file.display(), i + 1);
            Error::Other(format!("{place}: `{line}`: expected up to 16 hex digits"))
        })?;
        out += &Instruction::decode(word).map_or_else(|| "illegal".into(), |instruction| instruction.text(0));
        out.push('\n');
    }
    Ok(out)
}

fn binary(options: &Options, bytes: &[u8]) -> Result<String, Error> {
    let failed = |source| Error::Container { path: options.file.clone(), source };
    let modules = container::modules(bytes).map_err(failed)?;
    let mut out = String::new();
    let mut names = Vec::new();
    for module in &modules {
        for (i, section) in module.sections.iter().enumerate() {
            if section.kind != SectionKind::Code {
                continue;
            }
            let id = SectionId(i);
            names.extend(module.functions.iter().filter(|f| f.section == id).map(|f| f.name.clone()));
            let range = match &options.kernel {
                None => Some(0..section.data.len() as u64),
                Some(name) => module
                    .functions
                    .iter()
                    .find(|f| f.section == id && f.name == *name)
                    .map(|f| f.offset..f.offset + f.size),
            };
            if let Some(range) = range {
                section_text(module, id, range, options.hex, &mut out);
            }
        }
    }
    match &options.kernel {
        Some(name) if out.is_empty() => {
            let known = if names.is_empty() { "no functions".into() } else { names.join(", ") };
            Err(Error::Other(format!("{}: no function `{name}`: the binary has {known}", options.file.display())))
        }
        _ => Ok(out),
    }
}

/// Instructions of a part of a section, with the names of the functions that start there.
fn section_text(module: &Module, id: SectionId, range: std::ops::Range<u64>, hex: bool, out: &mut String) {
    let section = module.section(id);
    let function_at = |pc: u64| module.functions.iter().find(|f| f.section == id && f.offset == pc);
    let label = |pc: u64| function_at(pc).map(|f| f.name.clone());
    let mut started = Vec::new();
    // Writing to a string does not fail.
    let _ = writeln!(out, "// {}", section.name);
    for word in words(&section.data).filter(|w| range.contains(&w.pc) || range.contains(&(w.pc - w.pc % 32))) {
        // A function may start with the control word before its first instruction.
        let starts = if word.pc % 32 == 8 { word.pc - 8..=word.pc } else { word.pc..=word.pc };
        for function in starts.filter_map(function_at) {
            if !started.contains(&function.symbol) {
                let _ = writeln!(out, "{}:", function.name);
                started.push(function.symbol);
            }
        }
        let context = Context { pc: word.pc, reuse: word.control.reuse, label: Some(&label) };
        let text = word.instruction.map_or_else(|| "illegal".into(), |i| i.text_in(&context));
        let text = format!("{text} ;");
        let _ = match hex {
            true => writeln!(out, "        /*{:04x}*/ {text:<60} /* {:#018x} */", word.pc, word.word),
            false => writeln!(out, "        /*{:04x}*/ {text}", word.pc),
        };
    }
    out.push('\n');
}
