//! The code of a binary as text, as the vendors' disassemblers print it.
//!
//! `report` has the same code as data, for `--json`.

pub mod report;

use std::collections::BTreeMap;
use std::fmt::Write;

use warploom_container::{Binding, Function, Isa, Module, SectionId, SectionKind, SymbolKind};
use warploom_guest::chip::Chip;
use warploom_guest::platform::Platform;
use warploom_maxwell::listing::{Section, Symbol, listing};
use warploom_sass::text::Context;

use crate::Launch;

/// Lists the instructions of a launch's kernel that are no NOPs, with their offsets.
///
/// # Errors
/// The binary cannot be read.
pub fn without_nops(launch: &Launch) -> Result<String, warploom_container::Error> {
    if launch.raw.is_some() {
        let listing = stream(&launch.binary, 0, Chip::Any, false);
        let lines = listing.lines().filter(|line| !line.ends_with("  s_nop 0"));
        return Ok(lines.map(|line| format!("{line}\n")).collect());
    }
    let found = warploom_container::read_for(&launch.binary, launch.arch)?;
    let sections =
        found.modules.iter().flat_map(|module| report::sections(module, launch.entry.as_deref()));
    let instructions = sections.flat_map(|section| section.instructions);
    let is_nop = |text: &str| text == "NOP" || text == "s_nop 0";
    let lines = instructions.filter_map(|one| {
        let text = one.text.unwrap_or_else(|| "illegal".into());
        (!is_nop(&text)).then(|| format!("{:06x}  {text}\n", one.offset))
    });
    Ok(lines.collect())
}

/// Lists plain GFX9 instructions, which begin at address `start`.
pub fn stream(code: &[u8], start: u64, chip: Chip, hex: bool) -> String {
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

/// Lists every code section, or only sections with the function. `hex` adds encodings.
///
/// PTX is listed as a whole. Of a code object or vISA, only the function is listed.
pub fn module_text(module: &Module, function: Option<&str>, hex: bool) -> Vec<String> {
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
