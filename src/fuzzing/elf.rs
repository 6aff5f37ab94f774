//! Changes to ELF files that know what they change: fields of headers, of sections' entries, sections that change places. A fuzzer that knows
//! nothing of the format mostly breaks what all else hangs on.

use std::ops::Range;

use warploom_testing::ir::{Random, Source};

/// Where a field is in its header, and its bytes.
type Field = (usize, usize);

/// Type, machine, program headers, section headers, flags, sizes and numbers of both, section of names.
const FILE: [Field; 11] = [
    (0x10, 2),
    (0x12, 2),
    (0x20, 8),
    (0x28, 8),
    (0x30, 4),
    (0x34, 2),
    (0x36, 2),
    (0x38, 2),
    (0x3a, 2),
    (0x3c, 2),
    (0x3e, 2),
];
/// Name, type, flags, address, offset, size, link, info, alignment, size of an entry.
const SECTION: [Field; 10] =
    [(0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8), (56, 8)];
const SECTION_BYTES: usize = 64;
/// Type, flags, offset, addresses, sizes, alignment.
const SEGMENT: [Field; 8] = [(0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 8), (48, 8)];
const SEGMENT_BYTES: usize = 56;

/// Changes one of the ELF files in a file, by itself or in a container; whether there is one.
pub fn mutate(file: &mut [u8], seed: u32) -> bool {
    let mut random = Random::new(seed.into());
    let starts: Vec<usize> =
        file.windows(4).enumerate().filter(|(_, w)| *w == b"\x7fELF").map(|(at, _)| at).collect();
    if starts.is_empty() {
        return false;
    }
    let elf = &mut file[starts[random.below(starts.len() as u32) as usize]..];
    let sections = table(elf, 0x28, 0x3c, SECTION_BYTES);
    let segments = table(elf, 0x20, 0x38, SEGMENT_BYTES);
    match (random.below(8), pick(&sections, &mut random), pick(&segments, &mut random)) {
        (0, Some(one), _) => {
            let other = pick(&sections, &mut random).expect("there is one");
            let header = elf[one.clone()].to_vec();
            if random.below(2) == 0 {
                elf.copy_within(other.clone(), one.start);
            }
            elf[other].copy_from_slice(&header);
        }
        (1..=3, Some(section), _) => change(elf, section.start, &SECTION, &mut random),
        (4, _, Some(segment)) => change(elf, segment.start, &SEGMENT, &mut random),
        (5..=6, Some(section), _) => {
            // Entries of symbols, relocations, notes and the like are words.
            let number = |at: usize| {
                usize::try_from(read(elf, (section.start + at, 8))).unwrap_or(usize::MAX)
            };
            let end = number(24).saturating_add(number(32)).min(elf.len());
            let words = end.saturating_sub(number(24)) / 4;
            if words > 0 {
                let at = number(24) + 4 * random.below(words.min(1 << 20) as u32) as usize;
                change(elf, at, &[(0, 4), (0, 1), (0, 2), (0, 8)], &mut random);
            }
        }
        _ => change(elf, 0, &FILE, &mut random),
    }
    true
}

/// The entries of a table of headers, where they lie in the file.
fn table(elf: &[u8], offset: usize, count: usize, bytes: usize) -> Vec<Range<usize>> {
    let start = usize::try_from(read(elf, (offset, 8))).unwrap_or(usize::MAX);
    let entry = |n: usize| start.checked_add(n * bytes).map(|at| at..at.saturating_add(bytes));
    let entries = (0..read(elf, (count, 2)) as usize).filter_map(entry);
    entries.filter(|entry| entry.end <= elf.len()).collect()
}

fn pick(entries: &[Range<usize>], random: &mut Random) -> Option<Range<usize>> {
    entries.get(random.below(entries.len().max(1) as u32) as usize).cloned()
}

/// A field's number; of what is past the end nothing.
fn read(elf: &[u8], (at, bytes): Field) -> u64 {
    let mut number = [0; 8];
    let there = elf.get(at..at + bytes).unwrap_or_default();
    number[..there.len()].copy_from_slice(there);
    u64::from_le_bytes(number)
}

/// Gives one of the fields of what is at an offset another number: one that is near, or at an edge.
fn change(elf: &mut [u8], start: usize, fields: &[Field], random: &mut Random) {
    let (at, bytes) = fields[random.below(fields.len() as u32) as usize];
    let (at, length) = (start + at, elf.len() as u64);
    let old = read(elf, (at, bytes));
    let number = match random.below(12) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << (8 * bytes - 1),
        3 => old.wrapping_mul(2),
        4 => old / 2,
        5 => length,
        6 => length.wrapping_sub(old),
        7 => old ^ (1 << random.below(8 * bytes as u32)),
        8 => random.below(256).into(),
        9 => old.wrapping_add(random.below(64).into()),
        10 => old.wrapping_sub(random.below(64).into()),
        _ => u64::from(random.below(u32::MAX)) << random.below(32),
    };
    if let Some(field) = elf.get_mut(at..at + bytes) {
        field.copy_from_slice(&number.to_le_bytes()[..bytes]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn what_is_changed_is_an_elf_file_still() {
        for end in [".cubin", ".hsaco"] {
            let file = crate::prepare::files("examples", end).remove(0);
            let (mut found, mut loads) = (HashSet::new(), 0);
            for seed in 0..500 {
                let mut changed = file.clone();
                assert!(mutate(&mut changed, seed));
                assert_eq!(&changed[..4], b"\x7fELF");
                loads += usize::from(warploom_container::modules(&changed).is_ok());
                crate::container(&changed);
                found.insert(changed);
            }
            assert!(found.len() > 300, "{end}: {} files", found.len());
            assert!((50..450).contains(&loads), "{end}: {loads} load");
        }
        assert!(!mutate(&mut b"no file".to_vec(), 1));
        // Cut anywhere.
        let file = crate::prepare::files("examples", ".cubin").remove(0);
        for (seed, length) in (0..file.len()).step_by(7).enumerate() {
            mutate(&mut file[..length].to_vec(), seed as u32);
        }
    }
}
