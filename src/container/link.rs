//! [`Linked`]: a module whose sections have guest addresses and whose relocations are applied.

/// Code as one kernel sees it.
///
/// A kernel's own section starts at address 0, so that its addresses are those of a disassembly; sections of device
/// functions that are no kernels follow at addresses that are the same for all kernels of the module.
#[derive(Clone, Debug)]
pub struct Code {
    /// Instruction memory from address 0.
    pub bytes: Vec<u8>,
    /// Address of the kernel's first instruction.
    pub entry: u64,
    /// Addresses that indirect branches and calls may reach, as far as the file says; sorted.
    pub targets: Vec<u64>,
}
