//! Constant bank 0, as the hardware and the driver provide it to a Maxwell kernel.
//!
//! Source: `facts/maxwell.md`, "Launch environment". The kernel's own section of the bank is its
//! initial content.

use warploom_maxwell::driver::word as at;
use warploom_runtime::window::Windows;

/// The values that a launch puts into the bank for its kernel.
pub(super) struct Bank<'a> {
    pub windows: Windows,
    pub block: [u32; 3],
    pub grid: [u32; 3],
    /// The stack pointer at the start: the end of local memory, less the arguments of services.
    pub stack: u32,
    /// Address of a cooperative grid's workspace, or 0.
    pub workspace: u64,
    /// Generic address of constant bank 3.
    pub constants: u64,
    pub dynamic_shared: u32,
    /// The offset of parameters in the bank.
    pub param_base: u32,
    pub params: &'a [u8],
}

impl Bank<'_> {
    /// Returns the bank, given its initial content.
    pub fn content(&self, mut content: Vec<u8>) -> Vec<u8> {
        let param_base = self.param_base as usize;
        let end = (param_base + self.params.len()).max(at::FIRST_PARAM as usize);
        content.resize(content.len().max(end), 0);
        let mut put =
            |at: u32, bytes: &[u8]| content[at as usize..][..bytes.len()].copy_from_slice(bytes);
        put(at::SHARED_WINDOW, &(self.windows.shared as u32).to_le_bytes());
        put(at::LOCAL_WINDOW, &(self.windows.local as u32).to_le_bytes());
        for (axis, (block, grid)) in (0..).zip(self.block.iter().zip(&self.grid)) {
            put(at::NTID + 4 * axis, &block.to_le_bytes());
            put(at::NCTAID + 4 * axis, &grid.to_le_bytes());
        }
        put(at::STACK, &self.stack.to_le_bytes());
        put(at::WORKSPACE, &((self.workspace >> 32) as u32).to_le_bytes());
        put(at::WORKSPACE + 4, &(self.workspace as u32).to_le_bytes());
        put(at::CONSTANTS, &self.constants.to_le_bytes());
        put(at::DYNAMIC_SHARED, &self.dynamic_shared.to_le_bytes());
        put(self.param_base, self.params);
        content
    }
}
