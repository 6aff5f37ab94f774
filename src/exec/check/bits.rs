//! Sets of bytes, a bit for each byte.

/// Returns the words of 64 bits that stand for a range of bytes, each with a mask.
pub fn words(mut first: u64, mut bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    std::iter::from_fn(move || {
        let at = first % 64;
        let count = bytes.min(64 - at);
        let word = (count > 0).then(|| (first / 64, u64::MAX >> (64 - count) << at));
        (first, bytes) = (first.wrapping_add(count), bytes - count);
        word
    })
}

/// Returns the number of bytes of a range that are in a set, of which `word` returns the words.
pub fn count(word: impl Fn(u64) -> Option<u64>, first: u64, bytes: u64) -> u64 {
    let here =
        |(number, mask): (u64, u64)| u64::from((word(number).unwrap_or(0) & mask).count_ones());
    words(first, bytes).map(here).sum()
}

/// Enters a range of bytes, which lies within the set.
pub fn set(set: &mut [u64], first: u64, bytes: u64) {
    for (word, mask) in words(first, bytes) {
        set[word as usize] |= mask;
    }
}

/// Returns the runs of bytes of a range that are in a set: the first byte, and the byte behind the
/// last.
pub fn runs(set: &[u64], first: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let has = |byte: u64| set[byte as usize / 64] >> (byte % 64) & 1 != 0;
    let (mut at, end) = (first, first + bytes);
    std::iter::from_fn(move || {
        while at < end && !has(at) {
            at += 1;
        }
        let start = at;
        while at < end && has(at) {
            at += 1;
        }
        (start < at).then_some((start, at))
    })
}
