//! FLAT, GLOBAL and SCRATCH instructions.

use warploom_gfx9::lift::apertures;

use super::encode::{flat, implemented};
use super::wave::{After, MEMORY, Wave};
use super::{Kind, Random, atomic, read_number};

/// The size of the test's memory: a part that instructions address directly, then the wave's
/// scratch memory.
const BYTES: usize = 0x10000;
const SCRATCH: usize = 0x8000;
const SHARED: usize = 1008;

/// The registers: address in v1 and v2, data in v4 to v7, results in v12 to v15, a base in
/// s[10:11].
const ADDRESS: u8 = 1;
const DATA: u8 = 4;
const RESULT: u8 = 12;
const BASE: u8 = 10;

fn wave(random: &mut Random) -> Wave {
    let exec = random.bits() | random.bits();
    let mut wave =
        Wave { exec, shared: random.bytes(SHARED), memory: random.bytes(BYTES), ..Wave::default() };
    for number in (DATA..DATA + 4).chain(RESULT..RESULT + 4) {
        wave.vectors.insert(number, random.row());
    }
    wave.set_pair(102, MEMORY + SCRATCH as u64);
    wave
}

fn active(wave: &Wave) -> impl Iterator<Item = usize> + use<> {
    let exec = wave.exec;
    (0..64).filter(move |lane| exec >> lane & 1 != 0)
}

fn before(wave: &Wave) -> After {
    let vectors =
        (0..32).map(|number| wave.vectors.get(&number).copied().unwrap_or([0; 64])).collect();
    After { vectors, shared: wave.shared.clone(), memory: wave.memory.clone(), fault: None }
}

/// The place of a byte of a lane's access: in `memory` or in shared memory.
#[derive(Clone, Copy)]
enum Byte {
    Memory(usize),
    Shared(usize),
}

fn scratch_byte(lane: usize, offset: u32) -> Byte {
    let offset = offset as usize;
    Byte::Memory(SCRATCH + offset / 4 * 256 + lane * 4 + offset % 4)
}

fn cell<'a>(after: &'a mut After, byte: &Byte) -> &'a mut u8 {
    match *byte {
        Byte::Memory(at) => &mut after.memory[at],
        Byte::Shared(at) => &mut after.shared[at],
    }
}

/// Returns the state after a load or store, lane by lane.
fn expect(name: &str, wave: &Wave, place: impl Fn(usize, u32) -> Byte) -> After {
    let kind = Kind::of(name);
    let mut after = before(wave);
    for lane in active(wave) {
        let places: Vec<Byte> = (0..kind.bytes() as u32).map(|i| place(lane, i)).collect();
        if name.contains("load") {
            let bytes: Vec<u8> = places.iter().map(|byte| *cell(&mut after, byte)).collect();
            let first = usize::from(RESULT);
            for (i, word) in
                kind.loaded(&bytes, &[after.vectors[first][lane]]).into_iter().enumerate()
            {
                after.vectors[first + i][lane] = word;
            }
        } else {
            let data: Vec<u32> = (0..4).map(|i| wave.vectors[&(DATA + i)][lane]).collect();
            for (byte, value) in places.iter().zip(kind.stored(&data)) {
                *cell(&mut after, byte) = value;
            }
        }
    }
    after
}

fn accesses(prefix: &str) -> Vec<&'static str> {
    let names: Vec<_> =
        implemented(prefix).into_iter().filter(|name| !name.contains("atomic")).collect();
    assert_eq!(names.len(), 22, "{prefix}");
    names
}

#[test]
fn global() {
    let mut random = Random(11);
    for name in accesses("global_") {
        for saddr in [None, Some(BASE)] {
            let mut wave = wave(&mut random);
            let offset = random.below(0x2000) as i32 - 0x1000;
            // The addresses are anywhere, aligned or not.
            let at: [usize; 64] =
                std::array::from_fn(|_| random.below(SCRATCH as u64 - 16) as usize);
            let whole = at.map(|at| (MEMORY + at as u64).wrapping_sub(offset as i64 as u64));
            if saddr.is_some() {
                wave.set_pair(BASE, MEMORY - 0xf000_0000);
                // The register's offset has no sign.
                wave.vectors.insert(
                    ADDRESS,
                    whole.map(|address| (address - (MEMORY - 0xf000_0000)) as u32),
                );
                wave.vectors.insert(ADDRESS + 1, random.row());
            } else {
                wave.set_addresses(ADDRESS, &whole);
            }
            let after = wave.run(&[flat(name, RESULT, ADDRESS, DATA, saddr, offset, false)]);
            after.check(&expect(name, &wave, |lane, i| Byte::Memory(at[lane] + i as usize)), name);
        }
    }
}

#[test]
fn results_in_the_last_registers() {
    let mut random = Random(12);
    for (name, first) in
        [("global_load_dword", 255), ("global_load_dwordx2", 254), ("global_load_dwordx4", 252)]
    {
        let mut wave = wave(&mut random);
        wave.set_addresses(ADDRESS, &[MEMORY; 64]);
        let after = wave.run(&[flat(name, first, ADDRESS, DATA, None, 0, false)]);
        after.check(&before(&wave), name);
    }
}

#[test]
fn scratch() {
    let mut random = Random(12);
    for name in accesses("scratch_") {
        let align = Kind::of(name).bytes().min(4) as u64;
        for by_scalar in [false, true] {
            let mut wave = wave(&mut random);
            let offset = random.below(12) as i32 * 4 - 24;
            let at: [u32; 64] = std::array::from_fn(|_| (random.below(96 / align) * align) as u32);
            let at = if by_scalar { [at[0]; 64] } else { at };
            wave.vectors.insert(ADDRESS, at.map(|at| at.wrapping_sub(offset as u32)));
            wave.scalars.insert(BASE, at[0].wrapping_sub(offset as u32));
            let (address, saddr) = if by_scalar { (0, Some(BASE)) } else { (ADDRESS, None) };
            let after = wave.run(&[flat(name, RESULT, address, DATA, saddr, offset, false)]);
            after.check(&expect(name, &wave, |lane, i| scratch_byte(lane, at[lane] + i)), name);
        }
    }
}

#[test]
fn flat_addresses() {
    let mut random = Random(13);
    for name in accesses("flat_") {
        let align = Kind::of(name).bytes().min(4) as u64;
        // All lanes access one place, or each lane accesses any place.
        for only in [Some(0), Some(1), Some(2), None] {
            let mut wave = wave(&mut random);
            let offset = random.below(24) as i32 * 4;
            let place: [u64; 64] = std::array::from_fn(|_| only.unwrap_or(random.below(3)));
            let at: [u64; 64] = std::array::from_fn(|lane| match place[lane] {
                0 => random.below(SCRATCH as u64 - 16),
                1 => random.below(SHARED as u64 - 16),
                _ => random.below(96 / align) * align,
            });
            let base = [MEMORY, apertures::SHARED, apertures::PRIVATE];
            let skipped = |lane: usize| if place[lane] == 0 { offset as u64 } else { 0 };
            // The address in shared and scratch memory is the whole place, without the offset.
            let addresses: [u64; 64] =
                std::array::from_fn(|lane| base[place[lane] as usize] + at[lane] - skipped(lane));
            wave.set_addresses(ADDRESS, &addresses);
            let offset = if only == Some(0) { offset } else { 0 };
            let shift = |lane: usize| (skipped(lane) as usize).saturating_sub(offset as usize);
            let after = wave.run(&[flat(name, RESULT, ADDRESS, DATA, None, offset, false)]);
            let expected = expect(name, &wave, |lane, i| match place[lane] {
                0 => Byte::Memory((at[lane] as usize + i as usize).wrapping_sub(shift(lane))),
                1 => Byte::Shared(at[lane] as usize + i as usize),
                _ => scratch_byte(lane, at[lane] as u32 + i),
            });
            if (0..64).any(|lane| place[lane] == 0 && (at[lane] as usize) < shift(lane)) {
                continue;
            }
            after.check(&expected, name);
        }
        // The instruction's offset applies in shared and scratch memory.
        for (base, place) in [(apertures::SHARED, 1), (apertures::PRIVATE, 2)] {
            let mut wave = wave(&mut random);
            let at: [u64; 64] = std::array::from_fn(|_| random.below(48 / align) * align);
            wave.set_addresses(ADDRESS, &at.map(|at| base + at));
            let after = wave.run(&[flat(name, RESULT, ADDRESS, DATA, None, 40, false)]);
            let expected = expect(name, &wave, |lane, i| {
                let offset = at[lane] as u32 + 40 + i;
                if place == 1 { Byte::Shared(offset as usize) } else { scratch_byte(lane, offset) }
            });
            after.check(&expected, name);
        }
    }
}

#[test]
fn atomics() {
    let mut random = Random(14);
    for prefix in ["flat_atomic", "global_atomic"] {
        let names = implemented(prefix);
        assert_eq!(names.len(), 26);
        for name in names {
            let bytes = if name.ends_with("x2") { 8 } else { 4 };
            for round in 0..4 {
                let mut wave = wave(&mut random);
                let (glc, shared) = (round % 2 == 0, prefix == "flat_atomic" && round >= 2);
                // Small numbers in places that collide, then large numbers.
                if round % 2 == 1 {
                    for number in DATA..DATA + 4 {
                        let high = bytes == 8 && number % 2 == 1;
                        wave.vectors.insert(
                            number,
                            std::array::from_fn(|_| if high { 0 } else { random.below(4) as u32 }),
                        );
                    }
                    for memory in [&mut wave.memory, &mut wave.shared] {
                        for (i, byte) in memory.iter_mut().enumerate() {
                            *byte = if i % bytes == 0 { *byte % 4 } else { 0 };
                        }
                    }
                }
                let at: [usize; 64] = std::array::from_fn(|_| random.below(16) as usize * 8);
                let base = if shared { apertures::SHARED } else { MEMORY };
                wave.set_addresses(ADDRESS, &at.map(|at| base + at as u64));
                let after = wave.run(&[flat(name, RESULT, ADDRESS, DATA, None, 8, glc)]);
                let mut expected = before(&wave);
                for lane in active(&wave) {
                    let operand = |n: usize| {
                        let word = |i: usize| u64::from(wave.vectors[&(DATA + i as u8)][lane]);
                        if bytes == 8 { word(2 * n) | word(2 * n + 1) << 32 } else { word(n) }
                    };
                    let memory = if shared { &mut expected.shared } else { &mut expected.memory };
                    let cell = &mut memory[at[lane] + 8..at[lane] + 8 + bytes];
                    let old = read_number(cell);
                    let new = atomic(name, bytes as u32 * 8, old, operand(0), operand(1));
                    cell.copy_from_slice(&new.to_le_bytes()[..bytes]);
                    if glc {
                        expected.vectors[usize::from(RESULT)][lane] = old as u32;
                        if bytes == 8 {
                            expected.vectors[usize::from(RESULT) + 1][lane] = (old >> 32) as u32;
                        }
                    }
                }
                after.check(&expected, name);
            }
        }
    }
}

#[test]
fn faults_are_those_of_the_first_lane() {
    let mut random = Random(15);
    for name in
        ["global_load_dword", "global_store_dwordx4", "flat_load_dwordx2", "flat_store_byte"]
    {
        let mut wave = wave(&mut random);
        wave.exec = !0b111;
        let mut addresses = std::array::from_fn(|lane| MEMORY + 16 * lane as u64);
        // Lane 1 is inactive.
        addresses[1] = 0x1000;
        addresses[9] = 0x5555_0000_0000;
        addresses[12] = 0x6666_0000_0000;
        wave.set_addresses(ADDRESS, &addresses);
        let after = wave.run(&[flat(name, RESULT, ADDRESS, DATA, None, 4, false)]);
        let (_, lane, address) = after.fault.expect("a fault");
        assert_eq!((lane, address), (9, 0x5555_0000_0004), "{name}");
    }
}
