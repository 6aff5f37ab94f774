//! A back end with a wrong constant, for tests of what finds differences of engines.

use std::sync::Arc;

use warploom_cranelift::Cranelift;
use warploom_engine::object::Object;
use warploom_engine::{Backend, CodeSpace, Effort, JitError, Prepared};
use warploom_ir::BlockId;

/// Returns Cranelift with another constant in place of 0x12345678.
pub fn wrong() -> Arc<dyn Backend> {
    Arc::new(Wrong(Cranelift))
}

struct Wrong(Cranelift);

// SAFETY: only an operand of an arithmetic instruction differs from code that keeps the contract.
unsafe impl Backend for Wrong {
    fn description(&self) -> Result<String, JitError> {
        Ok(self.0.description()? + " with a wrong constant")
    }

    fn chunk(&self) -> u32 {
        self.0.chunk()
    }

    fn space(&self) -> Result<Box<dyn CodeSpace>, JitError> {
        self.0.space()
    }

    fn compile(
        &self,
        prepared: &Prepared,
        blocks: &[BlockId],
        effort: Effort,
    ) -> Result<Object, JitError> {
        let mut object = self.0.compile(prepared, blocks, effort)?;
        let bytes = &mut object.code.bytes;
        let right = 0x1234_5678_u32.to_le_bytes();
        let places: Vec<usize> =
            (0..bytes.len().saturating_sub(4)).filter(|&at| bytes[at..][..4] == right).collect();
        places.into_iter().for_each(|at| bytes[at] ^= 1);
        Ok(object)
    }

    fn listing(
        &self,
        prepared: &Prepared,
        blocks: &[BlockId],
        effort: Effort,
    ) -> Result<String, JitError> {
        self.0.listing(prepared, blocks, effort)
    }
}
