//! An experimental second back end, for hot code on x86-64 with AVX-512.
//!
//! `asm` encodes instructions. `machine` has functions with virtual registers, which regalloc2
//! allocates. `select` makes these functions from the IR. Varying values are vectors of 16 lanes,
//! called *pieces*. Masks are numbers or mask registers, one for each piece. If `select::support`
//! does not list an operation of a region, another back end compiles the whole region.

mod asm;
mod machine;
mod select;

use std::fmt::Write;
use std::sync::{Arc, OnceLock};

use select::unsupported;
pub use select::unsupported as left_out;
use warploom_cranelift::dump;
use warploom_engine::object::{Object, Referent, Relocatable, Relocation};
use warploom_engine::{Backend, CodeSpace, Effort, JitError, Prepared, abi};
use warploom_ir::BlockId;

/// Returns whether this host can run the code.
pub fn is_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| {
        std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512dq")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("avx512vpopcntdq")
            && std::is_x86_feature_detected!("avx512cd")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("lzcnt")
            && std::is_x86_feature_detected!("popcnt")
    })
}

/// The back end. It leaves quick code, and regions that it does not support, to another back end.
pub struct Vector {
    rest: Arc<dyn Backend>,
}

/// Returns this back end over Cranelift's, or Cranelift's alone if the host lacks AVX-512.
pub fn backend() -> Arc<dyn Backend> {
    let rest = warploom_cranelift::backend();
    if is_supported() { Arc::new(Vector { rest }) } else { rest }
}

// SAFETY: the other back end keeps the contract. `select` keeps it too: accesses of guest memory
// are checked against the page table's entries in the context, accesses of the context have offsets
// of `abi`, and accesses of the register file end before `register_bytes`. [`backend`] makes a
// `Vector` only if the host has the instructions.
unsafe impl Backend for Vector {
    fn description(&self) -> Result<String, JitError> {
        Ok(format!("vectors, {}", self.rest.description()?))
    }

    fn chunk(&self) -> u32 {
        self.rest.chunk()
    }

    fn space(&self) -> Result<Box<dyn CodeSpace>, JitError> {
        self.rest.space()
    }

    fn compile(
        &self,
        prepared: &Prepared,
        blocks: &[BlockId],
        effort: Effort,
    ) -> Result<Object, JitError> {
        let makes_it = effort.is_fast() && unsupported(prepared, blocks).is_none();
        if makes_it {
            compile(prepared, blocks)
        } else {
            self.rest.compile(prepared, blocks, effort)
        }
    }

    fn listing(
        &self,
        prepared: &Prepared,
        blocks: &[BlockId],
        effort: Effort,
    ) -> Result<String, JitError> {
        if !effort.is_fast() {
            return self.rest.listing(prepared, blocks, effort);
        }
        if let Some(why) = unsupported(prepared, blocks) {
            let listing = self.rest.listing(prepared, blocks, effort)?;
            return Ok(format!("no vectors: {why}, {listing}"));
        }
        let code = compile(prepared, blocks)?.code.bytes;
        let numbers: Vec<u32> = blocks.iter().map(|id| id.0).collect();
        let mut out = String::new();
        let _ = writeln!(out, "blocks {numbers:?}, vectors, {} bytes", code.len());
        dump::write_x86(&code, &mut out);
        Ok(out)
    }
}

/// Compiles a region. All its operations must be supported.
///
/// # Errors
/// The register allocator rejects the function, or its frame is too large.
fn compile(prepared: &Prepared, blocks: &[BlockId]) -> Result<Object, JitError> {
    let (body, sites) = select::select(prepared, blocks);
    let function = body.finish();
    let output = machine::allocate(&function).map_err(JitError::Codegen)?;
    let machine::MachineFunction { code, frame_bytes } = machine::emit(&function, &output);
    if frame_bytes > abi::MAX_FRAME {
        return Err(JitError::Frame { bytes: frame_bytes, max: abi::MAX_FRAME });
    }
    let relocation = |&(offset, helper)| Relocation { offset, to: Referent::Helper(helper) };
    let relocations = code.helpers.iter().map(relocation).collect();
    let code = Relocatable { bytes: code.bytes, alignment: asm::ALIGNMENT as u32, relocations };
    Ok(Object { code, register_bytes: prepared.layout().bytes().into(), sites })
}
