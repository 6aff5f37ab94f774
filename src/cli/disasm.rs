//! `warploom disasm`

pub(super) mod json;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use warploom_container::{
    Binding, Function, Isa, Module, Modules, SectionId, SectionKind, SymbolKind,
};
use warploom_guest::chip::Chip;
use warploom_guest::platform::Platform;
use warploom_guest::suggest::{did_you_mean, first_of};
use warploom_maxwell::Instruction;
use warploom_maxwell::listing::{Section, Symbol, listing};
use warploom_replay::{Launch, read};
use warploom_sass::text::Context;

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
        let lines = |module: &Module| module_text(module, function, false);
        print_json(&json::report(options.file.display().to_string(), &found, function, lines))?;
        return Ok(Ending::Success);
    }
    let text = match options.isa {
        Some(isa) if options.hex_lines => hex_lines(isa, options, &bytes)?,
        Some(IsaChoice::Gfx9) => stream(&bytes, 0, Chip::Any, options.hex),
        Some(IsaChoice::Maxwell) => {
            return Err(Error::Other("--isa maxwell: expected --hex-lines with it".into()));
        }
        None => binary(options, &bytes)?,
    };
    print(&text)?;
    Ok(Ending::Success)
}

/// Lists the instructions of a launch's kernel that are no NOPs, with their offsets.
pub(super) fn without_nops(launch: &Launch) -> Result<String, Error> {
    if launch.raw.is_some() {
        let listing = stream(&launch.binary, 0, Chip::Any, false);
        let lines = listing.lines().filter(|line| !line.ends_with("  s_nop 0"));
        return Ok(lines.map(|line| format!("{line}\n")).collect());
    }
    let failed = |source| Error::Container { path: launch.binary_path.clone(), source };
    let found = warploom_container::read_for(&launch.binary, launch.arch).map_err(failed)?;
    let report = json::report(String::new(), &found, launch.entry.as_deref(), |_| vec![]);
    let sections = report.modules.into_iter().flat_map(|module| module.sections);
    let instructions = sections.flat_map(|section| section.instructions);
    let is_nop = |text: &str| text == "NOP" || text == "s_nop 0";
    let lines = instructions.filter_map(|one| {
        let text = one.text.unwrap_or_else(|| "illegal".into());
        (!is_nop(&text)).then(|| format!("{:06x}  {text}\n", one.offset))
    });
    Ok(lines.collect())
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

/// Lists plain GFX9 instructions, which begin at address `start`.
fn stream(code: &[u8], start: u64, chip: Chip, hex: bool) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(word) = code[at..].first_chunk::<4>() {
        let pc = start + at as u64;
        let instruction = warploom_gfx9::decode(chip, &code[at..]);
        let (bytes, text) = match &instruction {
            Some(instruction) => (instruction.bytes() as usize, chip.named(instruction.text(pc))),
            None => (4, format!("illegal word {:#010x}", u32::from_le_bytes(*word))),
        };
        // Writing to a string does not fail.
        let _ = write!(out, "{pc:06x}  {text}");
        if hex {
            let words = code[at..at + bytes]
                .as_chunks::<4>()
                .0
                .iter()
                .map(|word| u32::from_le_bytes(*word));
            let words: Vec<_> = words.map(|word| format!("{word:08x}")).collect();
            let _ = write!(out, "  // {}", words.join(" "));
        }
        out.push('\n');
        at += bytes;
    }
    if at < code.len() {
        let _ =
            writeln!(out, "{:06x}  {} bytes that are no word", start + at as u64, code.len() - at);
    }
    out
}

/// Lists a code object's function at its address in the image.
fn function(module: &Module, function: &Function, chip: Chip, hex: bool) -> String {
    let image = &module.sections[function.section.0].data;
    let after = module
        .functions
        .iter()
        .filter(|next| next.section == function.section && next.offset > function.offset);
    // A function of unknown size ends where the next function begins.
    let next = after.map(|next| next.offset).min().unwrap_or(image.len() as u64);
    let end = if function.size == 0 { next } else { function.offset.saturating_add(function.size) };
    let code = image.get(function.offset as usize..end as usize).unwrap_or_default();
    format!("{}:\n{}", function.name, stream(code, function.offset, chip, hex))
}

/// Lists all code of a code object, at its addresses in the image.
///
/// A function's name stands where it begins.
fn code_object(module: &Module, chip: Chip, hex: bool) -> String {
    let image = &module.sections[0].data;
    let mut listings = Vec::new();
    for range in module.hsa.as_ref().map_or(&[][..], |hsa| &hsa.code) {
        let mut names: BTreeMap<u64, String> = BTreeMap::from([(range.start, String::new())]);
        for function in module.functions.iter().filter(|function| range.contains(&function.offset))
        {
            let label = names.entry(function.offset).or_default();
            label.push_str(&function.name);
            label.push_str(":\n");
        }
        let ends = names.keys().copied().skip(1).chain([range.end]);
        let pieces = names.iter().zip(ends).map(|((&start, label), end)| {
            let code = image.get(start as usize..end as usize).unwrap_or_default();
            format!("{label}{}", stream(code, start, chip, hex))
        });
        listings.extend(pieces);
    }
    listings.join("\n")
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
        texts.extend(module_text(module, options.kernel.as_deref(), options.hex));
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

/// Returns the offsets of relocations against functions, with the functions' names.
fn external_targets(module: &Module, section: SectionId) -> Vec<(u64, &str)> {
    let of_section = module.relocations.iter().filter(|relocation| relocation.section == section);
    let target = of_section.map(|relocation| (relocation.offset, module.symbol(relocation.symbol)));
    target
        .filter(|(_, symbol)| symbol.kind == SymbolKind::Function)
        .map(|(at, symbol)| (at, &*symbol.name))
        .collect()
}

/// Lists the code sections of a cubin of Turing, Ampere or Ada, or only the section with the
/// function. Targets of branches have labels, numbered in the order of their first use.
fn turing_text(module: &Module, sm: u32, function: Option<&str>, hex: bool) -> Vec<String> {
    let mut texts = Vec::new();
    let mut count = 0;
    for (number, section) in module.sections.iter().enumerate() {
        let functions: BTreeMap<u64, &str> = module
            .functions
            .iter()
            .filter(|one| one.section == SectionId(number))
            .map(|one| (one.offset, one.name.as_str()))
            .collect();
        let is_wanted = function.is_none_or(|name| functions.values().any(|&one| one == name));
        if section.kind != SectionKind::Code || !is_wanted {
            continue;
        }
        let external: BTreeMap<u64, &str> =
            external_targets(module, SectionId(number)).into_iter().collect();
        let words = section.data.as_chunks::<16>().0.iter().zip((0..).step_by(16));
        let words: Vec<_> = words
            .map(|(bytes, pc)| {
                let word = u128::from_le_bytes(*bytes);
                (pc, word, warploom_turing::Instruction::decode(word, sm as u8))
            })
            .collect();
        let mut labels: BTreeMap<u64, String> =
            functions.iter().map(|(&at, &name)| (at, name.to_owned())).collect();
        for (pc, _, instruction) in &words {
            let target = instruction.and_then(|one| one.raw_target(*pc));
            if let Some(target) = target.filter(|_| !external.contains_key(pc)) {
                labels.entry(target).or_insert_with(|| {
                    count += 1;
                    format!(".L_x_{}", count - 1)
                });
            }
        }
        let mut text = format!("{}:\n", section.name);
        for (pc, word, instruction) in words {
            if let Some(label) = labels.get(&pc) {
                let _ = writeln!(text, "{label}:");
            }
            let external = external.get(&pc).map(|&name| name.to_owned());
            let label = |at: u64| external.clone().or_else(|| labels.get(&at).cloned());
            let shown = instruction.map_or_else(
                || "illegal".into(),
                |one| {
                    let reuse = one.control().reuse;
                    one.text_in(&Context { pc, reuse, label: Some(&label) })
                },
            );
            let _ = write!(text, "        /*{pc:04x}*/  {shown} ;");
            if hex {
                let _ = write!(text, "  /* {word:#034x} */");
            }
            text.push('\n');
        }
        texts.push(text);
    }
    texts
}

/// Returns the text of each vISA routine, or only of the routine of that name.
fn visa_text(module: &Module, platform: Option<Platform>, function: Option<&str>) -> Vec<String> {
    let routines = module.visa.iter().flat_map(|visa| &visa.module.routines);
    let wanted = routines.filter(|routine| function.is_none_or(|name| routine.name == name));
    wanted
        .map(|routine| {
            warploom_visa::text::print(&warploom_visa::module::Module {
                routines: vec![routine.clone()],
                platform,
                ..Default::default()
            })
        })
        .collect()
}

/// Lists every code section, or only sections with the function.
///
/// For a code object, lists only the function.
fn module_text(module: &Module, function: Option<&str>, hex: bool) -> Vec<String> {
    match module.isa {
        Isa::Ptx { .. } => {
            return module.ptx.iter().map(|ptx| warploom_ptx::text::print(&ptx.module)).collect();
        }
        Isa::Visa { platform } => return visa_text(module, platform, function),
        Isa::Ir => {
            return module
                .sections
                .iter()
                .map(|section| String::from_utf8_lossy(&section.data).into_owned())
                .collect();
        }
        Isa::Gfx9 { mach } => {
            let Some(name) = function else { return vec![code_object(module, mach.chip(), hex)] };
            let named = module.functions.iter().filter(|function| function.name == name);
            return named.map(|one| self::function(module, one, mach.chip(), hex)).collect();
        }
        Isa::Turing { sm } => return turing_text(module, sm, function, hex),
        Isa::Maxwell { .. } => {}
    }
    let code: Vec<_> = (0..module.sections.len())
        .filter(|&i| module.sections[i].kind == SectionKind::Code)
        .collect();
    let functions_of =
        |i: usize| module.functions.iter().filter(move |f| f.section == SectionId(i));
    let indirect: Vec<Vec<_>> = code
        .iter()
        .map(|&i| {
            let branches = functions_of(i).flat_map(|f| &f.indirect_branches);
            branches
                .map(|b| (u64::from(b.at), b.targets.iter().map(|&t| u64::from(t)).collect()))
                .collect()
        })
        .collect();
    let external: Vec<Vec<_>> =
        code.iter().map(|&i| external_targets(module, SectionId(i))).collect();
    let sections: Vec<_> = code
        .iter()
        .zip(indirect.iter().zip(&external))
        .map(|(&i, (indirect, external))| Section {
            name: &module.sections[i].name,
            code: &module.sections[i].data,
            align: module.sections[i].align,
            registers: functions_of(i).map(|f| f.registers).max().unwrap_or(0),
            barriers: functions_of(i).map(|f| f.barriers).max().unwrap_or(0),
            indirect,
            external,
        })
        .collect();
    let symbols: Vec<_> = module
        .functions
        .iter()
        .filter_map(|f| {
            let section = code.iter().position(|&i| f.section == SectionId(i))?;
            let visible = match module.symbols.get(f.symbol.0)?.binding {
                Binding::Local => None,
                Binding::Global => Some(".global"),
                Binding::Weak => Some(".weak"),
            };
            Some(Symbol {
                name: &f.name,
                section,
                offset: f.offset,
                size: f.size,
                visible,
                kernel: f.kernel,
            })
        })
        .collect();
    let texts = listing(&sections, &symbols, hex);
    let wanted =
        |i: usize| function.is_none_or(|name| functions_of(code[i]).any(|f| f.name == name));
    texts.into_iter().enumerate().filter(|(i, _)| wanted(*i)).map(|(_, text)| text).collect()
}
