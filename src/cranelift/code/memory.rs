//! Executable memory. Code that is finalised together lies on pages of its own. They are writable
//! before and executable afterwards, never both: other threads may run code that is already there.

use std::io;

use cranelift_jit::{BranchProtection, JITMemoryKind, JITMemoryProvider};
use cranelift_module::{ModuleError, ModuleResult};
use memmap2::{Mmap, MmapMut};
use wasmtime_jit_icache_coherence as icache;

/// The least number of bytes of a mapping: a page.
const PAGE: usize = 1 << 12;

/// The mappings of one module's code.
#[derive(Default)]
pub struct CodePages {
    /// Mappings that are written and not yet executable.
    open: Vec<Open>,
    executable: Vec<Mmap>,
}

struct Open {
    map: MmapMut,
    used: usize,
}

impl JITMemoryProvider for CodePages {
    fn allocate(&mut self, size: usize, align: u64, kind: JITMemoryKind) -> io::Result<*mut u8> {
        if !matches!(kind, JITMemoryKind::Executable) || align > PAGE as u64 {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "code only, aligned to a page at most",
            ));
        }
        let start = |open: &Open| open.used.next_multiple_of(align.max(1) as usize);
        if self.open.last().is_none_or(|open| start(open) + size > open.map.len()) {
            let map = MmapMut::map_anon(size.max(1).next_multiple_of(PAGE))?;
            self.open.push(Open { map, used: 0 });
        }
        let Some(open) = self.open.last_mut() else { unreachable!("one was pushed") };
        let start = start(open);
        open.used = start + size;
        Ok(open.map[start..].as_mut_ptr())
    }

    /// Frees all pages, including pages that were not finalised.
    unsafe fn free_memory(&mut self) {
        *self = CodePages::default();
    }

    fn finalize(&mut self, _: BranchProtection) -> ModuleResult<()> {
        let failed = |error: io::Error| ModuleError::Allocation { err: error };
        for open in self.open.drain(..) {
            // SAFETY: the mapping has these bytes. The call does nothing on hosts whose instruction
            // caches see stores.
            unsafe { icache::clear_cache(open.map.as_ptr().cast(), open.map.len()) }
                .map_err(|error| ModuleError::Backend(error.into()))?;
            self.executable.push(open.map.make_exec().map_err(failed)?);
        }
        icache::pipeline_flush_mt().map_err(|error| ModuleError::Backend(error.into()))
    }
}
