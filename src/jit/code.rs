//! Executable memory. A mapping is writable while code is copied into it and executable afterwards, never both.

use memmap2::{Mmap, MmapMut};

/// The machine code of one region.
pub struct CodeMemory {
    map: Mmap,
}

impl CodeMemory {
    /// Copies position-independent code into fresh executable memory.
    pub fn new(code: &[u8]) -> std::io::Result<CodeMemory> {
        let mut map = MmapMut::map_anon(code.len().max(1))?;
        map[..code.len()].copy_from_slice(code);
        Ok(CodeMemory { map: map.make_exec()? })
    }

    pub fn address(&self) -> *const u8 {
        self.map.as_ptr()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.map
    }
}
