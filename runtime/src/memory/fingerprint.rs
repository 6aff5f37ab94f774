//! The fingerprint of memory: a number for all bytes that guests may write, which tells changes.

use super::{Memory, PAGE_BITS, PAGE_BYTES, Page, raw};

/// The number of bytes that are read at once.
const PIECE: usize = 4096;

/// An odd number: 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Memory {
    /// Returns a number that changes, but for a chance of about 2^-64, when bytes of writable pages
    /// change. Memory that is no whole page (`map_bytes`) is left out.
    ///
    /// A launch must be running, so that no page's host memory is freed meanwhile.
    pub(crate) fn fingerprint(&self) -> u64 {
        // The lock is not held while pages are read, so that others can allocate meanwhile.
        let ranges = self.lock().ranges();
        let mut sums = [FACTOR; 4];
        let mut bytes = [0; PIECE];
        for page in ranges.into_iter().flat_map(|(start, length)| {
            let first = start >> PAGE_BITS;
            first..first + length.div_ceil(PAGE_BYTES)
        }) {
            let Page::Resident { host, access } = self.table.lookup(page) else { continue };
            if !access.write {
                continue;
            }
            for offset in (0..PAGE_BYTES as usize).step_by(PIECE) {
                // SAFETY: a resident page has `PAGE_BYTES` bytes of host memory. They stay until
                // the launch is over, and guest memory is written through atomics only.
                unsafe { raw::copy_out(host.as_ptr().add(offset).cast_const(), &mut bytes) };
                mix(&mut sums, &bytes);
            }
        }
        sums.into_iter().fold(0, step)
    }
}

fn mix(sums: &mut [u64; 4], bytes: &[u8; PIECE]) {
    for words in bytes.as_chunks::<32>().0 {
        for (sum, word) in sums.iter_mut().zip(words.as_chunks::<8>().0) {
            *sum = step(*sum, u64::from_le_bytes(*word));
        }
    }
}

/// Mixes a word into a sum. The function is a bijection in each of its two arguments.
fn step(sum: u64, word: u64) -> u64 {
    (sum.rotate_left(29) ^ word).wrapping_mul(FACTOR)
}
