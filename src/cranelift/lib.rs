//! The back end that makes code with Cranelift, for every host that Cranelift serves.
//!
//! `lower` lowers a region to CLIF. `target` describes the host that code is made for. `code` holds
//! machine code and puts it in its place. `helpers` has the functions that code calls. [`dump`]
//! shows CLIF and code. [`size`] and [`executed`] count instructions.

mod code;
pub mod dump;
pub mod executed;
mod forms;
mod helpers;
mod lower;
pub mod size;
mod target;
mod tuning;

use std::sync::Arc;

use code::{CodeModule, MachineCode};
use lower::{Lowered, lower_region};
pub use target::{HOST_FEATURES, Target};
use warploom_engine::object::Object;
use warploom_engine::{Backend, CodeSpace, Effort, JitError, Prepared, abi};
use warploom_ir::BlockId;

/// The number of lanes that code executes at a time: eight words are two vectors of 128 bits.
pub const CHUNK: u32 = 8;

const _: () = assert!(CHUNK as usize <= warploom_engine::helpers::MAX_LANES);

/// The back end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cranelift;

/// Returns the back end in the form that programs take.
pub fn backend() -> Arc<dyn Backend> {
    Arc::new(Cranelift)
}

// SAFETY: `lower` keeps the contract. Accesses of guest memory are checked against the page table's
// entries in the context. Accesses of the context have offsets of `abi`. Accesses of the register
// file end before `register_bytes`.
unsafe impl Backend for Cranelift {
    fn description(&self) -> Result<String, JitError> {
        let build = (env!("CARGO_PKG_VERSION"), env!("WARPLOOM_BUILD"), cranelift_codegen::VERSION);
        Ok(format!("{build:?} {}", Target::host()?.description()))
    }

    fn chunk(&self) -> u32 {
        CHUNK
    }

    fn space(&self) -> Result<Box<dyn CodeSpace>, JitError> {
        Ok(Box::new(CodeModule::new()?))
    }

    fn compile(
        &self,
        prepared: &Prepared,
        blocks: &[BlockId],
        effort: Effort,
    ) -> Result<Object, JitError> {
        compile(prepared, blocks, effort, lower_region(prepared, blocks, effort, Target::host()?))
    }

    fn listing(
        &self,
        prepared: &Prepared,
        blocks: &[BlockId],
        effort: Effort,
    ) -> Result<String, JitError> {
        dump::listing(prepared, blocks, effort, Target::host()?)
    }
}

/// Compiles a region from its CLIF.
fn compile(
    prepared: &Prepared,
    blocks: &[BlockId],
    effort: Effort,
    lowered: Lowered,
) -> Result<Object, JitError> {
    let Lowered { function, sites, hides_uses, .. } = lowered;
    let register_bytes = prepared.register_bytes(blocks, effort)?;
    let mut code = MachineCode::new(function, hides_uses, Target::host()?.isa(effort))?;
    if code.frame_bytes() > abi::MAX_FRAME && !effort.is_fast() {
        // The single-pass register allocator gives each spilled value a slot of its own.
        code = code.compiled_by(Target::host()?.isa(Effort::Full))?;
    }
    if code.frame_bytes() > abi::MAX_FRAME {
        return Err(JitError::Frame { bytes: code.frame_bytes(), max: abi::MAX_FRAME });
    }
    Ok(Object { code: code.relocatable()?, register_bytes, sites })
}
