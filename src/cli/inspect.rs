//! `warploom inspect`

use std::fmt::Write;
use std::path::PathBuf;

use warploom_container::fatbin::{self, MemberKind};
use warploom_container::hsaco::{HsaKernel, HsaModule, bundle};
use warploom_container::{Format, Function, Module, SectionKind, SymbolKind};
use warploom_replay::read;

use super::text::grouped;
use super::{Ending, Error, GpuChoice, coverage, inspect_ptx, print, print_json};

/// Adds a line; writing to a string does not fail.
macro_rules! line {
    ($out:expr, $($arg:tt)*) => {{ let _ = writeln!($out, $($arg)*); }};
}

pub(super) mod json;
mod shader;
mod visa;

#[derive(clap::Args)]
pub struct Options {
    /// A cubin, an HSA code object, a fat binary, an offload bundle, a host's ELF file with these
    /// in it, PTX, a zebin, vISA, a graphics program for Maxwell, or assembly.
    file: PathBuf,
    #[command(flatten)]
    gpu: GpuChoice,
    /// Lifts every kernel, without --arch for all GPUs, and lists instructions that are not
    /// executed.
    #[arg(long)]
    coverage: bool,
    /// Prints modules, kernels and symbols as JSON.
    #[arg(long, conflicts_with = "coverage")]
    json: bool,
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let failed = |source| Error::Container { path: options.file.clone(), source };
    let bytes = read::file(&options.file)?;
    if options.coverage {
        return coverage::run(&options.file, &bytes, options.gpu.arch);
    }
    if options.json {
        let format = warploom_container::recognise(&bytes).map(|format| format.to_string());
        let found = warploom_container::read_for(&bytes, options.gpu.arch).map_err(failed)?;
        print_json(&json::report(options.file.display().to_string(), format, &found))?;
        return Ok(Ending::Success);
    }
    let mut out = String::new();
    match warploom_container::recognise(&bytes) {
        None
        | Some(
            Format::Cubin
            | Format::Hsaco
            | Format::Ptx
            | Format::Zebin
            | Format::VisaText
            | Format::VisaBinary
            | Format::MaxwellShader
            | Format::Assembly
            | Format::Ir,
        ) => {}
        Some(format) => members(&bytes, format, &mut out).map_err(failed)?,
    }
    match warploom_container::read_for(&bytes, options.gpu.arch) {
        Ok(found) => {
            found.modules.iter().for_each(|module| show(module, &mut out));
            found.unreadable.iter().for_each(|error| line!(out, "\nnot read: {error}"));
        }
        // The list of members is printed anyway.
        Err(
            e @ (warploom_container::Error::NoCandidate { .. }
            | warploom_container::Error::NotForArch { .. }),
        ) if !out.is_empty() => {
            print(&out)?;
            return Err(failed(e));
        }
        Err(e) => return Err(failed(e)),
    }
    print(&out)?;
    Ok(Ending::Success)
}

fn members(
    bytes: &[u8],
    format: Format,
    out: &mut String,
) -> Result<(), warploom_container::Error> {
    line!(out, "{format}");
    let mut last = None;
    fatbin::visit(bytes, format, &|_| true, &mut |visited| {
        let (member, indent) = (visited.member, "  ".repeat(visited.depth));
        if last.replace(visited.unit) != Some(visited.unit) {
            line!(out, "{}fat binary {}", "  ".repeat(visited.depth - 1), visited.unit + 1);
        }
        let target = if member.kind == MemberKind::Cubin { "sm" } else { "compute" };
        let name = member.name.as_ref().map_or(String::new(), |n| format!(", {n}"));
        let problem = visited
            .content
            .as_ref()
            .and_then(|content| content.as_ref().err())
            .map_or(String::new(), |e| format!(": {e}"));
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
    for (i, bundle) in bundle::bundles(bytes, format)?.iter().enumerate() {
        let packing = if bundle.compressed { " (compressed)" } else { "" };
        line!(out, "offload bundle {}{packing}", i + 1);
        for entry in &bundle.entries {
            line!(
                out,
                "  {}, {} bytes, at {:#x}",
                entry.id,
                grouped(entry.content.len() as u64),
                entry.offset
            );
        }
    }
    line!(out, "");
    Ok(())
}

fn show(module: &Module, out: &mut String) {
    if let Some(ptx) = &module.ptx {
        return inspect_ptx::show(module, ptx, out);
    }
    line!(out, "module for {}", module.isa);
    if let Some(hsa) = &module.hsa {
        hsa_module(module, hsa, out);
    }
    for (_, function) in module.kernels() {
        kernel(module, function, out);
    }
    for kernel in &module.unreadable {
        line!(out, "\nkernel {}\n  unreadable {}", kernel.name, kernel.error);
    }
    let mut titled = false;
    for function in module.functions.iter().filter(|f| !f.kernel) {
        if !std::mem::replace(&mut titled, true) {
            line!(out, "\ndevice functions");
        }
        let place = format!("{}+{:#x}", module.section(function.section).name, function.offset);
        if module.hsa.is_some() || module.visa.is_some() {
            line!(out, "  {}: {} bytes at {place}", function.name, function.size);
            continue;
        }
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
        let addend =
            relocation.addend.filter(|&a| a != 0).map_or(String::new(), |a| format!(" + {a:#x}"));
        line!(
            out,
            "  {place}: {} {}{addend}",
            relocation.name,
            module.symbol(relocation.symbol).name
        );
    }
}

/// Adds the facts about a whole code object.
fn hsa_module(module: &Module, hsa: &HsaModule, out: &mut String) {
    line!(
        out,
        "  code object version {}, XNACK {}, SRAM ECC {}",
        hsa.version,
        hsa.xnack,
        hsa.sramecc
    );
    if let Some(target) = &hsa.target {
        line!(out, "  target      {target}");
    }
    for section in &module.sections {
        line!(
            out,
            "  {}       {} bytes, {} of content",
            section.name,
            section.size,
            section.data.len()
        );
    }
    for format in &hsa.printf {
        line!(out, "  printf      {format:?}");
    }
}

/// Adds the facts about a kernel of a code object.
fn hsa_kernel(module: &Module, f: &Function, hsa: &HsaKernel, out: &mut String) {
    let d = &hsa.descriptor;
    let section = &module.section(f.section).name;
    line!(out, "\nkernel {}", f.name);
    line!(
        out,
        "  code       {} bytes at {section}+{:#x}, descriptor at {:#x}",
        f.size,
        f.offset,
        hsa.descriptor_at
    );
    line!(
        out,
        "  registers  {} VGPRs ({} used), {} SGPRs ({} used)",
        d.vgprs(),
        hsa.vgprs,
        d.sgprs(),
        hsa.sgprs
    );
    if (hsa.vgpr_spills, hsa.sgpr_spills) != (0, 0) {
        line!(out, "  spilled    {} VGPRs, {} SGPRs", hsa.vgpr_spills, hsa.sgpr_spills);
    }
    let dynamic = if hsa.uses_dynamic_stack { " and what calls need" } else { "" };
    line!(out, "  scratch    {} bytes{dynamic}", d.private_segment_bytes);
    line!(out, "  LDS        {} bytes", d.group_segment_bytes);
    let mode = d.float_mode();
    let denormals =
        |bits| ["flushed", "kept in operands", "kept in results", "kept"][usize::from(bits & 3)];
    line!(
        out,
        "  floats     rounding {} (f32) {} (f16, f64), denormals {} (f32) {} (f16, f64), DX10 clamp {}, IEEE {}",
        mode.round_32,
        mode.round_64_16,
        denormals(mode.denorm_32),
        denormals(mode.denorm_64_16),
        on(mode.dx10_clamp),
        on(mode.ieee)
    );
    let mut registers: Vec<String> = d
        .user_sgprs()
        .map(|(sgpr, first)| range(first, sgpr.registers()) + &format!(" {sgpr:?}"))
        .collect();
    registers.extend(d.system_sgprs().map(|(sgpr, at)| format!("s{at} {sgpr:?}")));
    line!(out, "  SGPRs      {}", registers.join(", "));
    line!(out, "  VGPRs      v0 to v{}: work-item id", d.workitem_ids() - 1);
    if let Some(shape) = hsa.reqd_workgroup_size {
        line!(out, "  workgroup  exactly {shape:?} lanes");
    } else if let Some(lanes) = hsa.max_flat_workgroup_size {
        line!(out, "  workgroup  at most {lanes} lanes");
    }
    line!(
        out,
        "  arguments  {} in {} bytes, aligned to {}",
        hsa.args.len(),
        hsa.kernarg_bytes,
        hsa.kernarg_align
    );
    for (i, arg) in hsa.args.iter().enumerate() {
        let space = arg.address_space.map_or(String::new(), |space| format!(" ({})", space.name()));
        let names: Vec<&str> =
            [&arg.type_name, &arg.name].into_iter().flatten().map(String::as_str).collect();
        let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(" ")) };
        let (offset, size, kind) = (arg.offset, arg.size, arg.kind.name());
        line!(out, "    {:<2} offset {offset:#05x}, {size} bytes, {kind}{space}{names}", i + 1);
    }
    for arg in &hsa.hidden {
        line!(
            out,
            "    -- offset {:#05x}, {} bytes, hidden_{}",
            arg.offset,
            arg.size,
            arg.kind.name()
        );
    }
}

fn on(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Formats registers as assemblers do.
fn range(first: u32, count: u32) -> String {
    if count == 1 { format!("s{first}") } else { format!("s[{first}:{}]", first + count - 1) }
}

fn kernel(module: &Module, f: &Function, out: &mut String) {
    if let Some(hsa) = &f.hsa {
        return hsa_kernel(module, f, hsa, out);
    }
    if let Some(visa) = &f.visa {
        return visa::kernel(module, f, visa, out);
    }
    if let Some(header) = &f.header {
        return shader::program(module, f, header, out);
    }
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
        line!(
            out,
            "  block      at most {} lanes",
            shape.iter().fold(1, |n: u64, &axis| n * u64::from(axis))
        );
    }
    line!(
        out,
        "  parameters {} in {} bytes at c[0x0][{:#x}]",
        f.params.len(),
        f.param_bytes,
        f.param_base
    );
    for (i, param) in f.params.iter().enumerate() {
        let at = f.param_base + param.offset;
        line!(
            out,
            "    {:<2} offset {:#05x}, {} bytes, c[0x0][{at:#x}]",
            i + 1,
            param.offset,
            param.size
        );
    }
    if !f.externs.is_empty() {
        let names: Vec<&str> =
            f.externs.iter().map(|&id| module.symbol(id).name.as_str()).collect();
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
            (SymbolKind::Section | SymbolKind::Descriptor, _) | (SymbolKind::Function, Some(_)) => {
                continue;
            }
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
                    SectionKind::Image => "the image".into(),
                };
                let zero = symbol.offset >= section.data.len() as u64;
                let initial = if zero { "zeros" } else { "initialised" };
                let shared = matches!(section.kind, SectionKind::Shared { .. });
                let initial = if shared { String::new() } else { format!(", {initial}") };
                format!(
                    "{} bytes in {space} at {}+{:#x}{initial}",
                    symbol.size, section.name, symbol.offset
                )
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
        // The driver fills bank 0.
        if bank == 0 {
            continue;
        }
        for (i, row) in section.data.chunks(16).enumerate() {
            let words: Vec<String> = row
                .chunks(4)
                .map(|w| w.iter().rev().map(|b| format!("{b:02x}")).collect::<String>())
                .collect();
            line!(out, "    {:04x}: {}", i * 16, words.join(" "));
        }
    }
}
