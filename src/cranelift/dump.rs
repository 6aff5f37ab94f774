//! Prints a kernel as text: CLIF, and host code.

mod listing;
mod plan;

use std::fmt::Write;

pub use listing::write as write_x86;
pub use plan::plan;
use warploom_engine::{Effort, JitError, Prepared, Program};
use warploom_ir::BlockId;

use crate::Target;
use crate::code::MachineCode;
use crate::lower::lower_region;

/// Returns the CLIF of every region.
pub fn clif(program: &Program, effort: Effort, target: &Target) -> String {
    let mut out = String::new();
    for (number, region) in program.regions().enumerate() {
        let lowered = lower_region(program.prepared(), region, effort, target);
        let text = lowered.function.display();
        let _ = writeln!(out, "; region {number}: blocks {:?}\n{text}", numbers(region));
    }
    out
}

/// Returns the disassembled code of every region for a target: by iced-x86 for x86-64, else as the
/// code generator lists it.
///
/// # Errors
/// The code generator rejects a region.
pub fn host(program: &Program, effort: Effort, target: &Target) -> Result<String, JitError> {
    let mut out = String::new();
    for (number, region) in program.regions().enumerate() {
        let _ = write!(out, "; region {number}: ");
        out.push_str(&listing(program.prepared(), region, effort, target)?);
    }
    Ok(out)
}

/// Returns the code of a region, after a line with the numbers of its blocks.
pub(crate) fn listing(
    prepared: &Prepared,
    blocks: &[BlockId],
    effort: Effort,
    target: &Target,
) -> Result<String, JitError> {
    let lowered = lower_region(prepared, blocks, effort, target);
    let code = MachineCode::with_listing(lowered.function, lowered.hides_uses, target.isa(effort))?;
    let mut out = format!("blocks {:?}, {} bytes\n", numbers(blocks), code.bytes().len());
    match &code.compiled.vcode {
        Some(listing) if !target.is_x86() => out.push_str(listing),
        _ => listing::write(code.bytes(), &mut out),
    }
    Ok(out)
}

fn numbers(blocks: &[BlockId]) -> Vec<u32> {
    blocks.iter().map(|id| id.0).collect()
}
