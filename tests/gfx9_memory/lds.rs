//! DS instructions.

use super::encode::{ds, implemented};
use super::wave::{After, Wave};
use super::{Kind, Random, atomic, read_number};

const BYTES: usize = 1008;

/// The registers: address in v1, data in v4 to v7 and v8 to v11, results in v12 to v15.
const ADDRESS: u8 = 1;
const DATA: [u8; 2] = [4, 8];
const RESULT: u8 = 12;

fn wave(random: &mut Random) -> Wave {
    let mut wave = Wave {
        exec: random.bits() | random.bits(),
        shared: random.bytes(BYTES),
        ..Wave::default()
    };
    for number in (DATA[0]..DATA[1] + 4).chain(RESULT..RESULT + 4) {
        wave.vectors.insert(number, random.row());
    }
    wave
}

/// Returns addresses in range, at its ends, and in range by the offset alone.
fn addresses(random: &mut Random, offset: u32) -> [u32; 64] {
    std::array::from_fn(|_| {
        let near = random.below(40) as u32;
        match random.below(8) {
            0 => near.wrapping_sub(20),
            1 => (BYTES as u32 - 20 + near).wrapping_sub(offset),
            2 => near.wrapping_sub(20).wrapping_sub(offset),
            3 => random.word(),
            _ => (random.below(BYTES as u64) as u32).wrapping_sub(offset),
        }
    })
}

/// Returns the place of so many bytes, if they are in range.
fn place(address: u32, offset: u32, bytes: usize) -> Option<usize> {
    let at = address.wrapping_add(offset) as usize;
    (at + bytes <= BYTES).then_some(at)
}

fn active(wave: &Wave) -> impl Iterator<Item = usize> + use<> {
    let exec = wave.exec;
    (0..64).filter(move |lane| exec >> lane & 1 != 0)
}

fn before(wave: &Wave) -> After {
    let vectors =
        (0..32).map(|number| wave.vectors.get(&number).copied().unwrap_or([0; 64])).collect();
    After { vectors, shared: wave.shared.clone(), memory: vec![], fault: None }
}

/// Returns the offsets of an instruction's one or two accesses, in bytes.
fn offsets(name: &str, bytes: usize, offset: u16) -> Vec<u32> {
    if !name.contains('2') || !["read2", "write2", "wrxchg2"].iter().any(|part| name.contains(part))
    {
        return vec![offset.into()];
    }
    let unit = bytes as u32 * if name.contains("st64") { 64 } else { 1 };
    vec![u32::from(offset & 0xff) * unit, u32::from(offset >> 8) * unit]
}

#[test]
fn reads_and_writes() {
    let mut random = Random(1);
    let names = implemented("ds_read").into_iter().chain(implemented("ds_write"));
    for name in names.filter(|name| !name.contains("addtid") && !name.contains("src2")) {
        let kind = Kind::of(name);
        for round in 0..6 {
            let mut wave = wave(&mut random);
            let double = name.contains("read2") || name.contains("write2");
            let offset = match round {
                0 => 0,
                1 if !double => random.word() as u16,
                _ if double => (random.below(12) | random.below(12) << 8) as u16,
                _ => random.below(200) as u16,
            };
            let rows = addresses(&mut random, if double { 0 } else { offset.into() });
            wave.vectors.insert(ADDRESS, rows);
            let after = wave.run(&[ds(name, RESULT, ADDRESS, DATA, offset)]);
            let mut expected = before(&wave);
            let words = kind.bytes().div_ceil(4);
            for (n, offset) in offsets(name, kind.bytes(), offset).into_iter().enumerate() {
                for lane in active(&wave) {
                    let at = place(rows[lane], offset, kind.bytes());
                    if name.contains("read") {
                        let nothing = vec![0; kind.bytes()];
                        let bytes =
                            at.map_or(&nothing[..], |at| &wave.shared[at..at + kind.bytes()]);
                        let first = usize::from(RESULT) + n * words;
                        let old = [expected.vectors[first][lane]];
                        for (i, word) in kind.loaded(bytes, &old).into_iter().enumerate() {
                            expected.vectors[first + i][lane] = word;
                        }
                    } else if let Some(at) = at {
                        let data: Vec<u32> =
                            (0..4).map(|i| wave.vectors[&(DATA[n] + i)][lane]).collect();
                        expected.shared[at..at + kind.bytes()].copy_from_slice(&kind.stored(&data));
                    }
                }
            }
            after.check(&expected, &format!("{name} offset {offset:#x}"));
        }
    }
}

#[test]
fn atomics() {
    let mut random = Random(2);
    let families = [
        "add", "sub", "rsub", "inc", "dec", "min", "max", "and", "or", "xor", "mskor", "cmpst",
        "wrap", "wrxchg",
    ];
    for name in families.into_iter().flat_map(|family| {
        implemented(&format!("ds_{family}_"))
            .into_iter()
            .chain(implemented(&format!("ds_{family}2")))
    }) {
        if name.contains("_f32") || name.contains("_f64") || name.contains("src2") {
            continue;
        }
        let bits = if name.ends_with("64") { 64 } else { 32 };
        let bytes = bits as usize / 8;
        for round in 0..4 {
            let mut wave = wave(&mut random);
            // Small numbers that collide, so that comparisons have both results.
            for number in DATA[0]..DATA[1] + 4 {
                if round % 2 == 1 {
                    wave.vectors.insert(
                        number,
                        std::array::from_fn(|_| {
                            if bits == 64 && number % 2 == 1 { 0 } else { random.below(4) as u32 }
                        }),
                    );
                }
            }
            if round % 2 == 1 {
                for (i, byte) in wave.shared.iter_mut().enumerate() {
                    *byte = if i % bytes == 0 { *byte % 4 } else { 0 };
                }
            }
            let two = name.contains("wrxchg2");
            let offset = if two { 0x0301 } else { 8 * random.below(4) as u16 };
            let slots = if round < 2 { 160 } else { 8 };
            let rows: [u32; 64] = std::array::from_fn(|_| (random.below(slots) * 8) as u32);
            wave.vectors.insert(ADDRESS, rows);
            let after = wave.run(&[ds(name, RESULT, ADDRESS, DATA, offset)]);
            let mut expected = before(&wave);
            for (n, offset) in offsets(name, bytes, offset).into_iter().enumerate() {
                for lane in active(&wave) {
                    let operand = |first: u8| {
                        let low = u64::from(wave.vectors[&first][lane]);
                        if bits == 64 {
                            low | u64::from(wave.vectors[&(first + 1)][lane]) << 32
                        } else {
                            low
                        }
                    };
                    let (b, c) = match name {
                        _ if name.contains("cmpst") || name.contains("mskor") => {
                            (operand(DATA[1]), operand(DATA[0]))
                        }
                        _ if name.contains("wrap") => (operand(DATA[0]), operand(DATA[1])),
                        _ => (operand(DATA[n]), 0),
                    };
                    let mut old = 0;
                    if let Some(at) = place(rows[lane], offset, bytes) {
                        let cell = &mut expected.shared[at..at + bytes];
                        old = read_number(cell);
                        cell.copy_from_slice(&atomic(name, bits, old, b, c).to_le_bytes()[..bytes]);
                    }
                    if name.contains("rtn") {
                        let first = usize::from(RESULT) + n * bytes / 4;
                        expected.vectors[first][lane] = old as u32;
                        if bits == 64 {
                            expected.vectors[first + 1][lane] = (old >> 32) as u32;
                        }
                    }
                }
            }
            after.check(&expected, &format!("{name} round {round}"));
        }
    }
}

#[test]
fn atomics_of_floats() {
    for (bits, names) in [
        (
            32,
            &[
                "ds_add_f32",
                "ds_min_f32",
                "ds_max_f32",
                "ds_add_rtn_f32",
                "ds_min_rtn_f32",
                "ds_max_rtn_f32",
            ][..],
        ),
        (32, &["ds_cmpst_f32", "ds_cmpst_rtn_f32"][..]),
        (
            64,
            &[
                "ds_min_f64",
                "ds_max_f64",
                "ds_min_rtn_f64",
                "ds_max_rtn_f64",
                "ds_cmpst_f64",
                "ds_cmpst_rtn_f64",
            ][..],
        ),
    ] {
        let numbers = [0.0, -0.0, 1.0, -2.5, 1e30, f64::INFINITY];
        let mut random = Random(3);
        let encode =
            |x: f64| if bits == 32 { u64::from((x as f32).to_bits()) } else { x.to_bits() };
        let decode = |x: u64| {
            if bits == 32 { f64::from(f32::from_bits(x as u32)) } else { f64::from_bits(x) }
        };
        let bytes = bits / 8;
        for name in names {
            let mut wave = wave(&mut random);
            let data: [[f64; 64]; 2] =
                std::array::from_fn(|_| std::array::from_fn(|_| numbers[random.below(6) as usize]));
            for n in 0..2 {
                for half in 0..2 {
                    let row = data[n].map(|x| (encode(x) >> (32 * half)) as u32);
                    wave.vectors.insert(DATA[n] + half, row);
                }
            }
            for cell in wave.shared.chunks_mut(bytes) {
                cell.copy_from_slice(
                    &encode(numbers[random.below(6) as usize]).to_le_bytes()[..bytes],
                );
            }
            let rows: [u32; 64] = std::array::from_fn(|_| (random.below(20) * 8) as u32);
            wave.vectors.insert(ADDRESS, rows);
            let after = wave.run(&[ds(name, RESULT, ADDRESS, DATA, 0)]);
            let mut expected = before(&wave);
            for lane in active(&wave) {
                let cell = &mut expected.shared[rows[lane] as usize..][..bytes];
                let old = read_number(cell);
                let (m, b, c) = (decode(old), data[0][lane], data[1][lane]);
                let new = if name.contains("add") {
                    encode(f64::from(m as f32 + b as f32))
                } else if name.contains("cmpst") {
                    if m == b { encode(c) } else { old }
                } else {
                    let less = m < b || m == b && m.is_sign_negative();
                    if less == name.contains("min") { old } else { encode(b) }
                };
                cell.copy_from_slice(&new.to_le_bytes()[..bytes]);
                if name.contains("rtn") {
                    expected.vectors[usize::from(RESULT)][lane] = old as u32;
                    if bits == 64 {
                        expected.vectors[usize::from(RESULT) + 1][lane] = (old >> 32) as u32;
                    }
                }
            }
            after.check(&expected, name);
        }
    }
}

#[test]
fn operands_in_memory() {
    let mut random = Random(4);
    for name in table_names("src2") {
        let bits = if name.ends_with("64") { 64 } else { 32 };
        let bytes = bits as usize / 8;
        for by_address in [false, true] {
            let mut wave = wave(&mut random);
            if name.contains("_f") {
                // Small floats need no rounding.
                for (i, cell) in wave.shared.chunks_mut(bytes).enumerate() {
                    let bits = if bits == 32 {
                        u64::from((i as f32).to_bits())
                    } else {
                        (i as f64).to_bits()
                    };
                    cell.copy_from_slice(&bits.to_le_bytes()[..bytes]);
                }
            }
            // By offset, lanes write places that no lane reads: the operand is 496 bytes on. By
            // address, bits 17 and up hold the distance, which puts the address out of range: only
            // lane 0 finds anything.
            let rows: [u32; 64] = std::array::from_fn(|lane| {
                if by_address && lane > 0 { (lane as u32) << 17 } else { lane as u32 % 32 * 8 }
            });
            wave.vectors.insert(ADDRESS, rows);
            let offset = if by_address { 0x8000 } else { 124 };
            let after = wave.run(&[ds(name, RESULT, ADDRESS, DATA, offset)]);
            let mut expected = before(&wave);
            for lane in active(&wave) {
                let distance = if by_address { (rows[lane] as i32 >> 17 << 2) as u32 } else { 496 };
                let b = place(rows[lane].wrapping_add(distance), 0, bytes)
                    .map_or(0, |at| read_number(&wave.shared[at..at + bytes]));
                if let Some(at) = place(rows[lane], 0, bytes) {
                    let old = read_number(&expected.shared[at..at + bytes]);
                    let float = |x: u64| {
                        if bits == 32 {
                            f64::from(f32::from_bits(x as u32))
                        } else {
                            f64::from_bits(x)
                        }
                    };
                    let new = match name {
                        _ if name.contains("write") => b,
                        _ if name.contains("add_src2_f") => {
                            ((float(old) + float(b)) as f32).to_bits().into()
                        }
                        // Positive floats have the order of their bits.
                        _ => atomic(name, bits, old, b, 0),
                    };
                    expected.shared[at..at + bytes].copy_from_slice(&new.to_le_bytes()[..bytes]);
                }
            }
            after.check(&expected, &format!("{name} {by_address}"));
        }
    }
}

fn table_names(part: &str) -> Vec<&'static str> {
    let names: Vec<_> = implemented("ds_").into_iter().filter(|name| name.contains(part)).collect();
    assert!(!names.is_empty());
    names
}

#[test]
fn by_lane_and_for_all() {
    let mut random = Random(5);
    for m0 in [0u32, 16, 0xffff_0100, 900] {
        let mut wave = wave(&mut random);
        wave.scalars.insert(124, m0);
        let base = m0 & 0xffff;
        let after = wave.run(&[ds("ds_read_addtid_b32", RESULT, 0, [0; 2], 8)]);
        let mut expected = before(&wave);
        for lane in active(&wave) {
            let word = place(base + 4 * lane as u32, 8, 4)
                .map_or(0, |at| read_number(&wave.shared[at..at + 4]) as u32);
            expected.vectors[usize::from(RESULT)][lane] = word;
        }
        after.check(&expected, "by lane");

        let after = wave.run(&[ds("ds_write_addtid_b32", 0, 0, DATA, 8)]);
        let mut expected = before(&wave);
        for lane in active(&wave) {
            if let Some(at) = place(base + 4 * lane as u32, 8, 4) {
                expected.shared[at..at + 4]
                    .copy_from_slice(&wave.vectors[&DATA[0]][lane].to_le_bytes());
            }
        }
        after.check(&expected, "by lane");

        for name in ["ds_append", "ds_consume"] {
            let after = wave.run(&[ds(name, RESULT, 0, [0; 2], 8)]);
            let mut expected = before(&wave);
            let mut old = 0;
            if let Some(at) = place(base, 8, 4) {
                old = read_number(&wave.shared[at..at + 4]) as u32;
                let count = wave.exec.count_ones();
                let new = if name == "ds_append" {
                    old.wrapping_add(count)
                } else {
                    old.wrapping_sub(count)
                };
                expected.shared[at..at + 4].copy_from_slice(&new.to_le_bytes());
            }
            for lane in active(&wave) {
                expected.vectors[usize::from(RESULT)][lane] = old;
            }
            after.check(&expected, name);
        }
    }
}

/// A control word, and the lane that each lane reads.
type Swizzle = (u16, fn(usize) -> usize);

#[test]
fn lanes_exchange_values() {
    let mut random = Random(6);
    for _ in 0..4 {
        let mut wave = wave(&mut random);
        let rows = std::array::from_fn(|_| {
            (random.below(100) as u32).wrapping_sub(20).wrapping_mul(4) + random.below(4) as u32
        });
        wave.vectors.insert(ADDRESS, rows);
        let data = wave.vectors[&DATA[0]];
        let offset = 4 * random.below(80) as u16;
        let lane_of = |lane: usize| (rows[lane].wrapping_add(offset.into()) / 4 % 64) as usize;
        let is_active = |lane: usize| wave.exec >> lane & 1 != 0;
        let given = |lane: usize| if is_active(lane) { data[lane] } else { 0 };

        let after = wave.run(&[ds("ds_bpermute_b32", RESULT, ADDRESS, DATA, offset)]);
        let mut expected = before(&wave);
        for lane in active(&wave) {
            expected.vectors[usize::from(RESULT)][lane] = given(lane_of(lane));
        }
        after.check(&expected, "bpermute");

        let after = wave.run(&[ds("ds_permute_b32", RESULT, ADDRESS, DATA, offset)]);
        let mut pushed = [0; 64];
        for lane in active(&wave) {
            pushed[lane_of(lane)] = data[lane];
        }
        let mut expected = before(&wave);
        for lane in active(&wave) {
            expected.vectors[usize::from(RESULT)][lane] = pushed[lane];
        }
        after.check(&expected, "permute");

        let controls: [Swizzle; 11] = [
            // Quads: reversed, and a broadcast of the third.
            (0x8000 | 0b00_01_10_11, |lane| lane ^ 3),
            (0x8000 | 0b10_10_10_10, |lane| lane & !3 | 2),
            // Swapped neighbours, the lowest lane of each eight, and mirrored halves.
            (0x041f, |lane| lane ^ 1),
            (0x0018, |lane| lane & !7),
            (0x7c1f, |lane| lane ^ 31),
            (0x00e5, |lane| lane & 0x25 | 7),
            // Rotated by three each way among 32, and among eights.
            (0xc060, |lane| lane & 32 | (lane + 3) & 31),
            (0xc460, |lane| lane & 32 | (lane + 29) & 31),
            (0xc078, |lane| lane & !7 | (lane + 3) & 7),
            // Bits reversed, and no bit of five.
            (0xe000, |lane| lane & 32 | ((lane as u8) << 3).reverse_bits() as usize & 31),
            (0xe01f, |lane| lane),
        ];
        for (control, source) in controls {
            // The source is in the field of the address register.
            let after = wave.run(&[ds("ds_swizzle_b32", RESULT, DATA[0], [0; 2], control)]);
            let mut expected = before(&wave);
            for lane in active(&wave) {
                expected.vectors[usize::from(RESULT)][lane] = given(source(lane));
            }
            after.check(&expected, &format!("swizzle {control:#x}"));
        }
    }
    let wave = wave(&mut random);
    wave.run(&[ds("ds_nop", 0, 0, [0; 2], 0)]).check(&before(&wave), "nop");
}
