//! `warploom inspect`

use std::fmt::Write;
use std::path::PathBuf;

use super::text::grouped;
use super::{Ending, Error, print, read};
use crate::container::fatbin::{self, MemberKind};
use crate::container::{self, Format, Function, Module, SectionKind, SymbolKind};

#[derive(clap::Args)]
pub struct Options {
    /// A cubin, a fat binary, or a host's ELF file with fat binaries in it.
    file: PathBuf,
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let failed = |source| Error::Container { path: options.file.clone(), source };
    let bytes = read(&options.file)?;
    let mut out = String::new();
    match container::recognise(&bytes) {
        None | Some(Format::Cubin) => {}
        Some(format) => members(&bytes, format, &mut out).map_err(failed)?,
    }
    match container::modules(&bytes) {
        Ok(modules) => modules.iter().for_each(|module| show(module, &mut out)),
        // There is something to see all the same.
        Err(e @ container::Error::NoCandidate { .. }) if !out.is_empty() => {
            print(&out)?;
            return Err(failed(e));
        }
        Err(e) => return Err(failed(e)),
    }
    print(&out)?;
    Ok(Ending::Success)
}

/// Adds a line; writing to a string does not fail.
macro_rules! line {
    ($out:expr, $($arg:tt)*) => {{ let _ = writeln!($out, $($arg)*); }};
}

fn members(bytes: &[u8], format: Format, out: &mut String) -> Result<(), container::Error> {
    line!(out, "{format}");
    let mut last = None;
    fatbin::visit(bytes, format, &mut |visited| {
        let (member, indent) = (visited.member, "  ".repeat(visited.depth));
        if last.replace(visited.unit) != Some(visited.unit) {
            line!(out, "{}fat binary {}", "  ".repeat(visited.depth - 1), visited.unit + 1);
        }
        let target = if member.kind == MemberKind::Cubin { "sm" } else { "compute" };
        let name = member.name.as_ref().map_or(String::new(), |n| format!(", {n}"));
        let problem = visited.content.as_ref().err().map_or(String::new(), |e| format!(": {e}"));
        line!(
            out,
            "{indent}{} {target}_{}, {} bytes, {}, at {:#x}{name}{problem}",
            member.kind,
            member.arch,
            grouped(member.size),
            member.packing,
            member.offset
        );
    })?;
    line!(out, "");
    Ok(())
}

fn show(module: &Module, out: &mut String) {
    line!(out, "module for {}", module.isa);
    for (_, function) in module.kernels() {
        kernel(module, function, out);
    }
    let mut titled = false;
    for function in module.functions.iter().filter(|f| !f.kernel) {
        if !std::mem::replace(&mut titled, true) {
            line!(out, "\ndevice functions");
        }
        let place = format!("{}+{:#x}", module.section(function.section).name, function.offset);
        line!(
            out,
            "  {}: {} bytes at {place}, {} registers, frame {} bytes",
            function.name,
            function.size,
            function.registers,
            function.frame_bytes
        );
    }
    symbols(module, out);
    constants(module, out);
    titled = false;
    for relocation in &module.relocations {
        if !std::mem::replace(&mut titled, true) {
            line!(out, "\nrelocations");
        }
        let place = format!("{}+{:#x}", module.section(relocation.section).name, relocation.offset);
        let addend = relocation.addend.filter(|&a| a != 0).map_or(String::new(), |a| format!(" + {a:#x}"));
        line!(out, "  {place}: {} {}{addend}", relocation.name, module.symbol(relocation.symbol).name);
    }
}

fn kernel(module: &Module, f: &Function, out: &mut String) {
    let section = module.section(f.section);
    line!(out, "\nkernel {}", f.name);
    line!(out, "  code       {} bytes in {}", f.size, section.name);
    let stack = match f.stack_bytes {
        Some(bytes) => format!("{} bytes", bytes.max(f.frame_bytes)),
        None => format!("{} bytes and what calls need", f.frame_bytes),
    };
    line!(out, "  registers  {}", f.registers);
    line!(out, "  stack      {stack}");
    if f.crs_bytes > 0 {
        line!(out, "  CRS stack  {} bytes", f.crs_bytes);
    }
    line!(out, "  shared     {} bytes", f.shared_bytes);
    line!(out, "  barriers   {}", f.barriers);
    if let Some(shape) = f.required_threads {
        line!(out, "  block      exactly {shape:?} lanes");
    }
    if let Some(shape) = f.max_threads {
        line!(out, "  block      at most {} lanes", shape.iter().fold(1, |n: u64, &axis| n * u64::from(axis)));
    }
    line!(out, "  parameters {} in {} bytes at c[0x0][{:#x}]", f.params.len(), f.param_bytes, f.param_base);
    for (i, param) in f.params.iter().enumerate() {
        let at = f.param_base + param.offset;
        line!(out, "    {:<2} offset {:#05x}, {} bytes, c[0x0][{at:#x}]", i + 1, param.offset, param.size);
    }
    if !f.externs.is_empty() {
        let names: Vec<&str> = f.externs.iter().map(|&id| module.symbol(id).name.as_str()).collect();
        line!(out, "  needs      {}", names.join(", "));
    }
    for branch in &f.indirect_branches {
        let targets: Vec<String> = branch.targets.iter().map(|t| format!("{t:#x}")).collect();
        let targets = if targets.is_empty() { "unknown".into() } else { targets.join(", ") };
        line!(out, "  indirect   branch at {:#x} to {targets}", branch.at);
    }
}

fn symbols(module: &Module, out: &mut String) {
    let mut titled = false;
    for symbol in &module.symbols {
        let what = match (symbol.kind, symbol.section) {
            (SymbolKind::Section, _) | (SymbolKind::Function, Some(_)) => continue,
            (SymbolKind::Function, None) => "function, not defined here".to_string(),
            (SymbolKind::Texture, _) => "texture".into(),
            (SymbolKind::Surface, _) => "surface".into(),
            (SymbolKind::Sampler, _) => "sampler".into(),
            (SymbolKind::Object, None) if symbol.dynamic_shared => "dynamic shared memory".into(),
            (SymbolKind::Object, None) => "variable, not defined here".into(),
            (SymbolKind::Object, Some(id)) => {
                let section = module.section(id);
                let space = match section.kind {
                    SectionKind::Code => "code".into(),
                    SectionKind::Constant { bank, .. } => format!("constant bank {bank}"),
                    SectionKind::Global => "device memory".into(),
                    SectionKind::Shared { .. } => "shared memory".into(),
                };
                let zero = symbol.offset >= section.data.len() as u64;
                let initial = if zero { "zeros" } else { "initialised" };
                let shared = matches!(section.kind, SectionKind::Shared { .. });
                let initial = if shared { String::new() } else { format!(", {initial}") };
                format!("{} bytes in {space} at {}+{:#x}{initial}", symbol.size, section.name, symbol.offset)
            }
        };
        if !std::mem::replace(&mut titled, true) {
            line!(out, "\nsymbols");
        }
        line!(out, "  {}: {what}", symbol.name);
    }
}

fn constants(module: &Module, out: &mut String) {
    let mut titled = false;
    for section in &module.sections {
        let SectionKind::Constant { bank, owner } = section.kind else { continue };
        if !std::mem::replace(&mut titled, true) {
            line!(out, "\nconstant banks");
        }
        let owner = owner.map_or("the module".into(), |id| module.section(id).name.clone());
        line!(out, "  bank {bank} of {owner}: {} bytes", section.size);
        // Bank 0 is what the driver fills in.
        if bank == 0 {
            continue;
        }
        for (i, row) in section.data.chunks(16).enumerate() {
            let words: Vec<String> =
                row.chunks(4).map(|w| w.iter().rev().map(|b| format!("{b:02x}")).collect::<String>()).collect();
            line!(out, "    {:04x}: {}", i * 16, words.join(" "));
        }
    }
}
