//! Barriers in guest memory: 8-byte objects at which threads arrive.
//!
//! The layout of a [`MemoryBarrier`] is our own: guests access it only through operations. That of
//! a [`CountingBarrier`] is the hardware's.

/// The width in bits of the counts of threads.
pub const COUNT_BITS: u32 = 20;
const COUNT: u64 = (1 << COUNT_BITS) - 1;
/// The width in bits of the count of bytes. It has one bit more for a sign: bytes may arrive before
/// they are announced.
pub const BYTES_BITS: u32 = 21;
const BYTES: u64 = (1 << BYTES_BITS) - 1;

const PENDING_AT: u32 = 0;
/// The lowest bit of the number of threads that each phase awaits.
pub const EXPECTED_AT: u32 = PENDING_AT + COUNT_BITS;
/// The lowest bit of the count of bytes.
pub const BYTES_AT: u32 = EXPECTED_AT + COUNT_BITS;
/// The lowest bit of the phase's number, modulo 8, which has the remaining bits.
pub const PHASE_AT: u32 = BYTES_AT + BYTES_BITS;

/// A barrier.
///
/// It holds the threads that its phase still awaits (bits 0 to 19), the threads that each phase
/// awaits (20 to 39), the bytes that the phase still awaits (40 to 60, with a sign), and the
/// phase's number (61 to 63).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBarrier(pub u64);

impl MemoryBarrier {
    /// Returns a barrier in phase 0 for `threads` threads (the low 20 bits).
    pub const fn new(threads: u64) -> MemoryBarrier {
        MemoryBarrier::of(0, threads, threads, 0)
    }

    const fn of(phase: u64, pending: u64, expected: u64, bytes: u64) -> MemoryBarrier {
        MemoryBarrier(
            phase << PHASE_AT
                | (bytes & BYTES) << BYTES_AT
                | (expected & COUNT) << EXPECTED_AT
                | (pending & COUNT) << PENDING_AT,
        )
    }

    pub const fn phase(self) -> u64 {
        self.0 >> PHASE_AT
    }

    pub const fn pending(self) -> u64 {
        self.0 >> PENDING_AT & COUNT
    }

    /// Returns the barrier after `threads` threads and `bytes` bytes have arrived.
    ///
    /// Both count down; a barrier awaits more from now on if they are negative. If no threads and
    /// no bytes are left, the next phase begins. With `drop`, later phases do not await the arrived
    /// threads.
    #[must_use]
    pub const fn arrive(self, threads: i64, bytes: i64, drop: bool) -> MemoryBarrier {
        let expected =
            (self.0 >> EXPECTED_AT).wrapping_sub(if drop { threads as u64 } else { 0 }) & COUNT;
        let pending = self.pending().wrapping_sub(threads as u64) & COUNT;
        let left = (self.0 >> BYTES_AT).wrapping_sub(bytes as u64) & BYTES;
        if pending == 0 && left == 0 {
            return MemoryBarrier::of(self.phase().wrapping_add(1), expected, expected, 0);
        }
        MemoryBarrier::of(self.phase(), pending, expected, left)
    }
}

/// A barrier of SASS for sm_80 to sm_89. Code makes and tests it by plain accesses.
///
/// The high word counts up to 0 in its low 31 bits; bit 31 is the parity of the phase. The low word
/// holds 0x4000_0000 less the number of threads that each phase awaits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountingBarrier(pub u64);

impl CountingBarrier {
    /// The lowest bit of the high word.
    pub const COUNT_AT: u32 = 32;
    /// The bits of the count.
    pub const COUNT: u32 = 0x7fff_ffff;
    /// The low word of a barrier whose phases await no thread.
    pub const NONE: u32 = 0x4000_0000;

    /// Returns the barrier after threads have arrived. The last one of a phase begins the next.
    #[must_use]
    pub const fn arrive(self, threads: u32) -> CountingBarrier {
        let awaited = self.0 as u32;
        let mut count = ((self.0 >> Self::COUNT_AT) as u32).wrapping_add(threads);
        if count & Self::COUNT == 0 {
            count |= awaited.wrapping_add(Self::NONE) & Self::COUNT;
        }
        CountingBarrier((count as u64) << Self::COUNT_AT | awaited as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::{CountingBarrier, MemoryBarrier};

    #[test]
    fn counts_begin_anew_with_each_phase() {
        // Two threads; the first phase has parity 0.
        let fresh = CountingBarrier(0x7fff_fffe_3fff_fffe);
        let one = fresh.arrive(1);
        assert_eq!(one, CountingBarrier(0x7fff_ffff_3fff_fffe));
        let next = one.arrive(1);
        assert_eq!(next, CountingBarrier(0xffff_fffe_3fff_fffe));
        assert_eq!(next.arrive(1).arrive(1), fresh);
    }

    #[test]
    fn a_phase_ends_when_threads_and_bytes_are_there() {
        let fresh = MemoryBarrier::new(3);
        let two = fresh.arrive(2, 0, false);
        assert_eq!((two.phase(), two.pending()), (0, 1));
        // Bytes arrive before they are announced.
        let early = two.arrive(0, 16, false);
        let announced = early.arrive(1, -48, false);
        assert_eq!((announced.phase(), announced.pending()), (0, 0));
        let next = announced.arrive(0, 32, false);
        assert_eq!(next, MemoryBarrier::new(3).with_phase(1));
    }

    #[test]
    fn threads_that_drop_are_not_awaited_again() {
        let barrier = MemoryBarrier::new(2).arrive(1, 0, true).arrive(1, 0, false);
        assert_eq!(barrier, MemoryBarrier::new(1).with_phase(1));
        let wrapped = (0..7).fold(barrier, |barrier, _| barrier.arrive(1, 0, false));
        assert_eq!(wrapped, MemoryBarrier::new(1));
    }

    impl MemoryBarrier {
        fn with_phase(self, phase: u64) -> MemoryBarrier {
            MemoryBarrier(self.0 | phase << super::PHASE_AT)
        }
    }
}
