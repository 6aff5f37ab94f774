//! Host memory that the operating system provides when it is first touched.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Owned zeroed memory, aligned to any power of two. Aligned by allocating more: the allocator would clear, and so
/// touch, an aligned allocation as a whole.
#[derive(Debug)]
pub(crate) struct Zeroed {
    allocation: NonNull<u8>,
    layout: Layout,
    start: NonNull<u8>,
}

// SAFETY: the memory is owned; what is done with it is up to the holder of the pointer.
unsafe impl Send for Zeroed {}
// SAFETY: as above.
unsafe impl Sync for Zeroed {}

impl Zeroed {
    /// `None` if the host has no such memory. `align` is a power of two.
    pub(crate) fn new(bytes: u64, align: usize) -> Option<Zeroed> {
        let size = bytes.max(1).checked_add(align as u64)?;
        let layout = Layout::from_size_align(usize::try_from(size).ok()?, 16).ok()?;
        // SAFETY: the size is not 0.
        let allocation = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let skip = allocation.addr().get().wrapping_neg() & (align - 1);
        // SAFETY: `skip` is less than `align`, which was added to the size.
        let start = unsafe { allocation.add(skip) };
        Some(Zeroed { allocation, layout, start })
    }

    pub(crate) fn pointer(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Zeroed {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.allocation.as_ptr(), self.layout) };
    }
}
