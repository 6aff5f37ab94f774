//! The interface between the engine and back ends. `docs/engine-contract.md` has the rules that
//! code keeps.

use warploom_ir::BlockId;

use crate::object::{Object, Relocatable};
use crate::prepared::Prepared;
use crate::{Effort, JitError};

/// Makes machine code of regions.
///
/// # Safety
/// Code of [`Backend::compile`] keeps `docs/engine-contract.md`: it is an
/// [`abi::Entry`](crate::abi::Entry), may be entered at each of the blocks, and touches nothing but
/// the context and guest memory that its page table has.
pub unsafe trait Backend: Send + Sync {
    /// Returns all that code depends on besides the function. It is part of the key of stored code.
    ///
    /// # Errors
    /// The back end does not serve this host.
    fn description(&self) -> Result<String, JitError>;

    /// Returns the number of lanes that code executes at a time. Analysis says which values are
    /// evenly spaced over so many lanes.
    fn chunk(&self) -> u32;

    /// Returns memory for the code of one program.
    ///
    /// # Errors
    /// The back end does not serve this host.
    fn space(&self) -> Result<Box<dyn CodeSpace>, JitError>;

    /// Returns the code of some blocks.
    ///
    /// # Errors
    /// The code generator rejects the blocks, or the code needs too much of the host's stack or of
    /// the register file.
    fn compile(
        &self,
        prepared: &Prepared,
        blocks: &[BlockId],
        effort: Effort,
    ) -> Result<Object, JitError>;

    /// Returns the code that [`Backend::compile`] makes, as text.
    ///
    /// # Errors
    /// As [`Backend::compile`].
    fn listing(
        &self,
        prepared: &Prepared,
        blocks: &[BlockId],
        effort: Effort,
    ) -> Result<String, JitError>;
}

/// Memory for code.
///
/// # Safety
/// A [`Code`] has the bytes that were to be placed, with the addresses that its relocations name,
/// for as long as the space lives.
pub unsafe trait CodeSpace: Send + Sync {
    /// Places code. Profilers and debuggers show `name`, which no other code of the space may have.
    ///
    /// # Errors
    /// The code refers to an unknown symbol, or there is no memory for it.
    fn define(&self, name: &str, code: &Relocatable) -> Result<Code, JitError>;
}

/// A function's code. It may be called while its [`CodeSpace`] lives.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    start: *const u8,
    bytes: usize,
}

// SAFETY: a `Code` is an address of code that nobody writes.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    /// Returns the code of `bytes` bytes at `start`.
    pub fn new(start: *const u8, bytes: usize) -> Code {
        Code { start, bytes }
    }

    pub fn address(self) -> *const u8 {
        self.start
    }

    pub fn bytes(self) -> usize {
        self.bytes
    }
}
