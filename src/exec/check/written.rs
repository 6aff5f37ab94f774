//! The bytes of global memory that have been written, for the check of initialisation.

use std::collections::BTreeMap;
use std::sync::Mutex;

use rustc_hash::FxHashMap;

use super::super::lock;
use super::bits;

/// Notes which bytes of allocations have been written, by launches and by their host. Memory outside
/// of these allocations counts as written.
#[derive(Debug, Default)]
pub struct Written(Mutex<BTreeMap<u64, Content>>);

/// The bytes of a part of an allocation.
const PART_BYTES: u64 = 4096;

/// The content of an allocation.
#[derive(Debug)]
struct Content {
    bytes: u64,
    /// The parts in which something has been written, by number.
    parts: FxHashMap<u64, Part>,
}

#[derive(Debug)]
enum Part {
    Whole,
    Bits(Box<[u64; PART_BYTES as usize / 64]>),
}

impl Written {
    /// Nothing has been written to a new allocation.
    pub fn allocated(&self, address: u64, bytes: u64) {
        lock(&self.0).insert(address, Content { bytes, parts: FxHashMap::default() });
    }

    pub fn freed(&self, address: u64) {
        lock(&self.0).remove(&address);
    }

    pub fn write(&self, address: u64, bytes: u64) {
        write(&mut lock(&self.0), address, bytes);
    }

    /// Bytes are copied from one address to another. A copy of bytes that nothing has written does
    /// not write.
    pub fn copy(&self, to: u64, from: u64, bytes: u64) {
        let all = &mut *lock(&self.0);
        for (start, end) in written(all, from, bytes) {
            write(all, start - from + to, end - start);
        }
    }

    /// Returns the number of bytes of a range that have been written.
    pub fn count(&self, address: u64, bytes: u64) -> u64 {
        let all = &*lock(&self.0);
        let mut missing = 0;
        for (start, content, end) in over(all, address, bytes) {
            for (number, first, count) in parts(start, end) {
                let written = match content.parts.get(&number) {
                    Some(Part::Whole) => count,
                    Some(Part::Bits(part)) => {
                        bits::count(|word| part.get(word as usize).copied(), first, count)
                    }
                    None => 0,
                };
                missing += count - written;
            }
        }
        bytes - missing
    }

    /// Returns whether all memory counts as written.
    pub fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }
}

/// Returns the allocations of a range, each with the range's first and last offset in it.
fn over(
    all: &BTreeMap<u64, Content>,
    address: u64,
    bytes: u64,
) -> impl Iterator<Item = (u64, &Content, u64)> {
    let end = address.saturating_add(bytes);
    let begun = all.range(..end).rev();
    begun.map_while(move |(&start, content)| {
        let (first, last) = (address.saturating_sub(start), (end - start).min(content.bytes));
        (first < last).then_some((first, content, last))
    })
}

/// Returns the parts of an allocation from one offset to another: number, first byte, bytes.
fn parts(first: u64, end: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    (first / PART_BYTES..end.div_ceil(PART_BYTES)).map(move |number| {
        let part = number * PART_BYTES;
        let first = first.max(part);
        (number, first - part, end.min(part + PART_BYTES) - first)
    })
}

fn write(all: &mut BTreeMap<u64, Content>, address: u64, bytes: u64) {
    let end = address.saturating_add(bytes);
    for (&start, content) in all.range_mut(..end).rev() {
        let (first, last) = (address.saturating_sub(start), (end - start).min(content.bytes));
        if first >= last {
            break;
        }
        for (number, first, count) in parts(first, last) {
            let empty = || Part::Bits(Box::new([0; PART_BYTES as usize / 64]));
            let part = content.parts.entry(number).or_insert_with(empty);
            if count == PART_BYTES {
                *part = Part::Whole;
            } else if let Part::Bits(part) = part {
                bits::set(&mut part[..], first, count);
            }
        }
    }
}

/// Returns the written ranges of a range, as addresses of the first byte and behind the last.
fn written(all: &BTreeMap<u64, Content>, address: u64, bytes: u64) -> Vec<(u64, u64)> {
    let end = address.saturating_add(bytes);
    let mut ranges = vec![];
    // Memory between allocations counts as written.
    let mut rest = end;
    for (&start, content) in all.range(..end).rev() {
        let (first, last) = (address.saturating_sub(start), (end - start).min(content.bytes));
        if first >= last {
            break;
        }
        ranges.push((start + last, rest));
        rest = start + first;
        for (number, first, count) in parts(first, last) {
            let base = start + number * PART_BYTES;
            match content.parts.get(&number) {
                Some(Part::Whole) => ranges.push((base + first, base + first + count)),
                Some(Part::Bits(part)) => {
                    let runs = bits::runs(&part[..], first, count);
                    ranges.extend(runs.map(|(first, end)| (base + first, base + end)));
                }
                None => {}
            }
        }
    }
    ranges.push((address, rest));
    ranges.retain(|(start, end)| start < end);
    ranges
}
