//! Host memory that the operating system provides when it is first touched.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Bytes on either side of the memory that hold [`CANARY`] in debug builds. No sanitizer watches
/// JIT code.
const FENCE: usize = if cfg!(debug_assertions) { 64 } else { 0 };
const CANARY: u8 = 0xa5;

/// Owned zeroed memory, aligned to any power of two.
///
/// A larger allocation provides the alignment: the allocator would clear, and so touch, an aligned
/// allocation as a whole.
#[derive(Debug)]
pub(crate) struct Zeroed {
    allocation: NonNull<u8>,
    layout: Layout,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is owned. The holder of the pointer answers for its uses.
unsafe impl Send for Zeroed {}
// SAFETY: as above.
unsafe impl Sync for Zeroed {}

impl Zeroed {
    /// Allocates `bytes` bytes, aligned to `align`, a power of two. Returns `None` if the host has
    /// no memory for them.
    pub(crate) fn new(bytes: u64, align: usize) -> Option<Zeroed> {
        let bytes = usize::try_from(bytes.max(1)).ok()?;
        let size = bytes.checked_add(align)?.checked_add(2 * FENCE)?;
        let layout = Layout::from_size_align(size, 16).ok()?;
        // SAFETY: the size is not 0.
        let allocation = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let skip = FENCE + ((allocation.addr().get() + FENCE).wrapping_neg() & (align - 1));
        // SAFETY: `skip` is less than `align` and a fence together, which were added to the size.
        let start = unsafe { allocation.add(skip) };
        let memory = Zeroed { allocation, layout, start, bytes };
        for fence in memory.fences() {
            // SAFETY: a fence lies in the allocation, and nobody has it yet.
            unsafe { fence.write_bytes(CANARY, FENCE) };
        }
        Some(memory)
    }

    pub(crate) fn pointer(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Returns the first bytes of the fences.
    fn fences(&self) -> [NonNull<u8>; 2] {
        // SAFETY: `new` left room for a fence on either side.
        unsafe { [self.start.sub(FENCE), self.start.add(self.bytes)] }
    }

    fn is_fenced(&self) -> bool {
        // SAFETY: the fences lie in the allocation, and nobody but the owner has it any more.
        let bytes =
            |fence: NonNull<u8>| unsafe { std::slice::from_raw_parts(fence.as_ptr(), FENCE) };
        self.fences().into_iter().all(|fence| bytes(fence).iter().all(|&byte| byte == CANARY))
    }
}

impl Drop for Zeroed {
    fn drop(&mut self) {
        let fenced = self.is_fenced();
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.allocation.as_ptr(), self.layout) };
        assert!(
            fenced || std::thread::panicking(),
            "host memory beside an allocation of the guest was written"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_zero() {
        for (bytes, align) in [(0, 1), (1, 64), (1000, 64), (5000, 4096)] {
            let memory = Zeroed::new(bytes, align).unwrap();
            assert_eq!(memory.pointer().addr().get() % align, 0);
            // SAFETY: the memory has these bytes.
            let held =
                unsafe { std::slice::from_raw_parts(memory.pointer().as_ptr(), bytes as usize) };
            assert!(held.iter().all(|&byte| byte == 0));
        }
        assert!(Zeroed::new(u64::MAX, 64).is_none());
    }

    #[test]
    #[cfg(debug_assertions)]
    fn what_is_written_beside_it_is_noticed() {
        for place in [-1, 100, 163] {
            let memory = Zeroed::new(100, 64).unwrap();
            // SAFETY: a fence of 64 bytes is on either side.
            unsafe { memory.pointer().as_ptr().offset(place).write(0) };
            assert!(!memory.is_fenced());
            // SAFETY: as above.
            unsafe { memory.pointer().as_ptr().offset(place).write(CANARY) };
            assert!(memory.is_fenced());
        }
    }
}
