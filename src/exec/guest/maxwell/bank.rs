//! What the hardware and the driver provide to a Maxwell kernel: constant bank 0.
//!
//! Source: `facts/maxwell.md`, "Launch environment". The kernel's own section of the bank is its initial content.

use warploom_runtime::window::Windows;

/// Byte offsets in the bank.
mod at {
    pub const SHARED_WINDOW: usize = 0x0;
    pub const LOCAL_WINDOW: usize = 0x4;
    pub const NTID: usize = 0x8;
    pub const NCTAID: usize = 0x14;
    pub const STACK: usize = crate::isa::maxwell::lift::service::STACK_END as usize;
    /// %envreg1 and %envreg2: the address of the grid's workspace, high word first.
    pub const WORKSPACE: usize = 0x34;
    pub const CONSTANTS: usize = 0xd0;
    pub const DYNAMIC_SHARED: usize = 0xfc;
}

/// Where the bank's parameters start at the earliest.
const FIRST_PARAM: usize = 0x140;

/// What a launch gives to its kernel in the bank.
pub(super) struct Bank<'a> {
    pub windows: Windows,
    pub block: [u32; 3],
    pub grid: [u32; 3],
    /// The stack pointer at the start: the end of local memory, but for the arguments of services.
    pub stack: u32,
    /// Address of a cooperative grid's workspace; else 0.
    pub workspace: u64,
    /// Generic address of constant bank 3.
    pub constants: u64,
    pub dynamic_shared: u32,
    /// Where parameters start in the bank.
    pub param_base: u32,
    pub params: &'a [u8],
}

impl Bank<'_> {
    /// The bank, given its initial content.
    pub fn content(&self, mut content: Vec<u8>) -> Vec<u8> {
        let param_base = self.param_base as usize;
        let end = (param_base + self.params.len()).max(FIRST_PARAM);
        content.resize(content.len().max(end), 0);
        let mut put = |at: usize, bytes: &[u8]| content[at..at + bytes.len()].copy_from_slice(bytes);
        put(at::SHARED_WINDOW, &(self.windows.shared as u32).to_le_bytes());
        put(at::LOCAL_WINDOW, &(self.windows.local as u32).to_le_bytes());
        for axis in 0..3 {
            put(at::NTID + 4 * axis, &self.block[axis].to_le_bytes());
            put(at::NCTAID + 4 * axis, &self.grid[axis].to_le_bytes());
        }
        put(at::STACK, &self.stack.to_le_bytes());
        put(at::WORKSPACE, &((self.workspace >> 32) as u32).to_le_bytes());
        put(at::WORKSPACE + 4, &(self.workspace as u32).to_le_bytes());
        put(at::CONSTANTS, &self.constants.to_le_bytes());
        put(at::DYNAMIC_SHARED, &self.dynamic_shared.to_le_bytes());
        put(param_base, self.params);
        content
    }
}
