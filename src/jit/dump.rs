//! What is made of a kernel when it is hot, as text: CLIF, and host code.

mod listing;

use std::fmt::Write;

use super::lower::lower_region;
use super::{Effort, JitError, Program};

/// The CLIF of every region.
pub fn clif(program: &Program) -> Result<String, JitError> {
    let mut out = String::new();
    for region in 0..program.regions.len() {
        let lowered = lower_region(program, region, Effort::Likely, &Effort::Likely.isa()?)?;
        let _ =
            writeln!(out, "; region {region}: blocks {:?}\n{}", blocks(program, region), lowered.function.display());
    }
    Ok(out)
}

/// The host code of every region, disassembled where the host is x86-64.
pub fn host(program: &Program) -> Result<String, JitError> {
    let mut out = String::new();
    for region in 0..program.regions.len() {
        let compiled = program.compile_region(region, Effort::Likely)?;
        let _ = writeln!(
            out,
            "; region {region}: blocks {:?}, {} bytes",
            blocks(program, region),
            compiled.code.bytes().len()
        );
        if cfg!(target_arch = "x86_64") {
            listing::write(compiled.code.bytes(), &mut out);
        }
    }
    Ok(out)
}

fn blocks(program: &Program, region: usize) -> Vec<u32> {
    program.regions[region].blocks.iter().map(|id| id.0).collect()
}
