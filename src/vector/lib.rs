//! A second back end, for hot code on x86-64 with AVX-512: experimental.
//!
//! `asm` encodes instructions, `machine` has functions of them with virtual registers and gives
//! those to regalloc2, `select` makes them of the IR. Varying values take vectors of 16 lanes,
//! their *pieces*; masks are mask registers, one for each piece, or numbers. A region with an
//! operation that `select::support` does not list is left to another back end as a whole.

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

/// Whether this host can run the code.
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

/// The back end, which leaves code that is not for speed, and regions that it does not support, to another one.
pub struct Vector {
    rest: Arc<dyn Backend>,
}

/// The back end over Cranelift's; Cranelift's alone where the host has no AVX-512.
pub fn backend() -> Arc<dyn Backend> {
    let rest = warploom_cranelift::backend();
    if is_supported() { Arc::new(Vector { rest }) } else { rest }
}

// SAFETY: the other back end keeps the contract. So does `select`: accesses of guest memory are checked against the page
// table's entries that the context has, those of the context have offsets of `abi`, and those of the register file end
// before `register_bytes`. [`backend`] makes it only where the host has the instructions.
unsafe impl Backend for Vector {
    fn description(&self) -> Result<String, JitError> {
        Ok(format!("vectors, {}", self.rest.description()?))
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

/// Code for a region all of whose operations are supported.
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
