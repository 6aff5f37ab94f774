//! The advice for managed memory. All managed memory is the host's, so advice is only stored for
//! queries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `CUmemLocation`: the kind of location (device, host or NUMA node of the host) and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    pub kind: u32,
    pub id: i32,
}

pub const DEVICE: u32 = 1;
pub const HOST: u32 = 2;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    pub read_mostly: bool,
    pub preferred: Option<Location>,
    pub accessed_by: BTreeSet<Location>,
    pub prefetched: Option<Location>,
}

/// Ranges with one advice each: start, end and advice. Bytes in no range have the default advice.
type Ranges = BTreeMap<u64, (u64, Advice)>;

static RANGES: Mutex<Ranges> = Mutex::new(BTreeMap::new());

fn lock() -> MutexGuard<'static, Ranges> {
    RANGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Splits the range that spans an address, so that a range begins there.
fn cut(ranges: &mut Ranges, at: u64) {
    if let Some((_, (end, advice))) = ranges.range_mut(..at).next_back()
        && *end > at
    {
        let rest = (*end, advice.clone());
        *end = at;
        ranges.insert(at, rest);
    }
}

/// Changes the advice for `bytes` bytes from an address.
pub fn change(address: u64, bytes: u64, change: impl Fn(&mut Advice)) {
    let (mut ranges, stop) = (lock(), address.saturating_add(bytes));
    cut(&mut ranges, address);
    cut(&mut ranges, stop);
    let mut at = address;
    let mut gaps = vec![];
    for (&start, (end, advice)) in ranges.range_mut(address..stop) {
        gaps.push((at, start));
        at = *end;
        change(advice);
    }
    gaps.push((at, stop));
    for (start, end) in gaps.into_iter().filter(|(start, end)| start < end) {
        let mut advice = Advice::default();
        change(&mut advice);
        ranges.insert(start, (end, advice));
    }
}

/// Returns the advice of each range within `bytes` bytes from an address, gaps included.
pub fn of(address: u64, bytes: u64) -> Vec<Advice> {
    let (mut ranges, stop) = (lock(), address.saturating_add(bytes));
    cut(&mut ranges, address);
    cut(&mut ranges, stop);
    let mut at = address;
    let mut found = vec![];
    for (&start, (end, advice)) in ranges.range(address..stop) {
        if at < start {
            found.push(Advice::default());
        }
        found.push(advice.clone());
        at = *end;
    }
    if at < stop {
        found.push(Advice::default());
    }
    found
}

/// Drops the advice for memory that was freed.
pub fn forget(address: u64, bytes: u64) {
    lock().retain(|start, _| !(address..address.saturating_add(bytes)).contains(start));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_of_the_bytes_that_it_was_given_for() {
        let at = 1 << 60;
        change(at + 100, 100, |advice| advice.read_mostly = true);
        let is_read_mostly = |start, bytes| {
            of(at + start, bytes).iter().map(|advice| advice.read_mostly).collect::<Vec<_>>()
        };
        assert_eq!(is_read_mostly(100, 100), [true]);
        assert_eq!(is_read_mostly(150, 10), [true]);
        assert!(is_read_mostly(0, 300).contains(&false) && is_read_mostly(0, 300).contains(&true));
        assert_eq!(is_read_mostly(0, 100), [false]);
        assert_eq!(is_read_mostly(200, 1), [false]);
        change(at, 150, |advice| advice.read_mostly = !advice.read_mostly);
        assert_eq!(is_read_mostly(0, 100), [true]);
        assert!(is_read_mostly(100, 50).iter().all(|&is| !is));
        assert!(is_read_mostly(150, 50).iter().all(|&is| is));
        forget(at, 300);
        assert_eq!(is_read_mostly(0, 300), [false]);
    }
}
