//! What is made of a kernel, as text: CLIF, and host code.

mod listing;

use std::fmt::Write;

use super::code::MachineCode;
use super::lower::lower_region;
use super::{Effort, JitError, Program, Target};

/// The CLIF of every region.
pub fn clif(program: &Program, effort: Effort, target: &Target) -> String {
    let mut out = String::new();
    for region in 0..program.regions.len() {
        let lowered = lower_region(program, region, effort, target);
        let text = lowered.function.display();
        let _ = writeln!(out, "; region {region}: blocks {:?}\n{text}", blocks(program, region));
    }
    out
}

/// The code of every region for a host, disassembled: by iced-x86 for x86-64, else as the code generator lists it.
///
/// # Errors
/// The code generator rejects a region.
pub fn host(program: &Program, effort: Effort, target: &Target) -> Result<String, JitError> {
    let mut out = String::new();
    let isa = target.isa(effort);
    for region in 0..program.regions.len() {
        #[cfg(all(feature = "vector", target_arch = "x86_64"))]
        if let Some(compiled) = program.vectors(region, effort) {
            let code = compiled?.code;
            let _ = writeln!(out, "; region {region}: blocks {:?}, vectors", blocks(program, region));
            listing::write(code.bytes(), &mut out);
            continue;
        } else if let Some(why) = program.left_to_cranelift(region) {
            let _ = writeln!(out, "; region {region} has no vectors: {why}");
        }
        let lowered = lower_region(program, region, effort, target);
        let code = MachineCode::with_listing(lowered.function, lowered.hides_uses, isa)?;
        let _ = writeln!(out, "; region {region}: blocks {:?}, {} bytes", blocks(program, region), code.bytes().len());
        match &code.compiled.vcode {
            Some(listing) if !target.is_x86() => out.push_str(listing),
            _ => listing::write(code.bytes(), &mut out),
        }
    }
    Ok(out)
}

fn blocks(program: &Program, region: usize) -> Vec<u32> {
    program.regions[region].blocks.iter().map(|id| id.0).collect()
}
