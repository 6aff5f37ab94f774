//! The generic address space: where shared and local memory appear in it.

/// The length of both windows in bytes: at least the length of the guests' own windows.
pub const WINDOW_BYTES: u64 = 1 << 24;

/// The lowest generic addresses of the shared and the local window.
///
/// Both are multiples of [`WINDOW_BYTES`]. Global memory is never mapped in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    pub shared: u64,
    pub local: u64,
}

/// The memory that a generic address refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Offset in the block's shared memory.
    Shared(u32),
    /// Offset in the lane's local memory.
    Local(u32),
    /// Guest address.
    Global(u64),
}

impl Default for Windows {
    fn default() -> Self {
        Windows { shared: 0x0100_0000, local: 0x0200_0000 }
    }
}

impl Windows {
    /// Returns whether both bases are aligned and differ.
    pub const fn is_valid(self) -> bool {
        let mask = WINDOW_BYTES - 1;
        self.shared & mask == 0 && self.local & mask == 0 && self.shared != self.local
    }

    /// Returns the memory that a generic address refers to.
    ///
    /// The address lies in a window if its upper 40 bits equal the upper bits of the window's base.
    /// The low 24 bits are then the offset.
    #[inline]
    pub const fn classify(self, address: u64) -> Target {
        let base = address & !(WINDOW_BYTES - 1);
        let offset = (address & (WINDOW_BYTES - 1)) as u32;
        if base == self.shared {
            Target::Shared(offset)
        } else if base == self.local {
            Target::Local(offset)
        } else {
            Target::Global(address)
        }
    }

    /// The generic address of an offset in shared memory.
    pub const fn shared_address(self, offset: u32) -> u64 {
        self.shared | offset as u64
    }

    /// The generic address of an offset in local memory.
    pub const fn local_address(self, offset: u32) -> u64 {
        self.local | offset as u64
    }

    /// Whether a window touches `[first, last]`.
    pub(crate) fn overlap(self, first: u64, last: u64) -> bool {
        let hit = |base: u64| first <= base + (WINDOW_BYTES - 1) && last >= base;
        hit(self.shared) || hit(self.local)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_by_the_upper_bits() {
        let windows = Windows { shared: 0x0100_0000, local: 0xff00_0000 };
        assert!(windows.is_valid());
        assert_eq!(windows.classify(0x0100_0000), Target::Shared(0));
        assert_eq!(windows.classify(0x01ff_ffff), Target::Shared(0xff_ffff));
        assert_eq!(windows.classify(0x0200_0000), Target::Global(0x0200_0000));
        assert_eq!(windows.classify(0xff12_3456), Target::Local(0x12_3456));
        assert_eq!(windows.classify(0x1_0100_0000), Target::Global(0x1_0100_0000));
        assert_eq!(windows.classify(windows.local_address(0x42)), Target::Local(0x42));
        assert_eq!(windows.classify(windows.shared_address(0x42)), Target::Shared(0x42));
        assert!(!Windows { shared: 1, local: 0 }.is_valid());
        assert!(!Windows { shared: 0x0100_0000, local: 0x0100_0000 }.is_valid());
    }
}
