//! MUBUF and MTBUF.

use super::encode::{Bits, buffer, implemented};
use super::wave::{After, MEMORY, Wave};
use super::{Kind, Random, atomic, read_number};

const BYTES: usize = 0x8000;
/// The buffer begins here in memory.
const START: usize = 0x100;

/// Index and offset in v1 and v2, data in v4 to v7; s[20:23] the descriptor, s3 an offset.
const ADDRESS: u8 = 1;
const DATA: u8 = 4;
const DESCRIPTOR: u8 = 20;
const SOFFSET: u8 = 3;

#[derive(Clone, Copy, Debug, Default)]
struct Descriptor {
    stride: u32,
    swizzle: bool,
    records: u32,
    /// Data and number format.
    format: (u32, u32),
    /// Bits 0 to 11 of the last word.
    select: u32,
    index_stride: u32,
    add_tid: bool,
}

/// A stride that only fits where lanes are records.
const LONG: u32 = 1 << 14 | 16;

/// To each component its own.
const IDENTITY: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;

impl Descriptor {
    fn words(self) -> [u32; 4] {
        let base = MEMORY + START as u64;
        let (data, more) = if self.add_tid { (self.stride >> 14, 0) } else { self.format };
        let word1 = (base >> 32) as u32 | (self.stride & 0x3fff) << 16 | u32::from(self.swizzle) << 31;
        let word3 = self.select | more << 12 | data << 15 | self.index_stride << 21 | u32::from(self.add_tid) << 23;
        [base as u32, word1, self.records, word3]
    }

    /// Where a word of a lane's record is, if it is in range.
    fn place(
        self,
        bits: Bits,
        lane: u32,
        (index, offset): (u32, u32),
        soffset: u32,
        word: u32,
        bytes: u32,
    ) -> Option<usize> {
        let index = if bits.idxen { index } else { 0 };
        let index = index.wrapping_add(if self.add_tid { lane } else { 0 });
        let offset = bits.offset.wrapping_add(if bits.offen { offset } else { 0 });
        let fits = |limit: u64| u64::from(offset) + u64::from(4 * word + bytes) <= limit;
        let in_range = if bits.idxen && self.stride != 0 {
            index < self.records && (!self.swizzle || fits(self.stride.into()))
        } else if !bits.idxen && self.add_tid {
            true
        } else {
            fits(u64::from(self.records.saturating_sub(soffset)))
        };
        let offset = offset.wrapping_add(4 * word);
        let at = if self.swizzle {
            let group = 8 << self.index_stride;
            let row = (index / group * self.stride).wrapping_add(offset / 4 * 4);
            row.wrapping_mul(group).wrapping_add(index % group * 4 + offset % 4)
        } else {
            index.wrapping_mul(self.stride).wrapping_add(offset)
        };
        in_range.then_some(START + (at as u64 + u64::from(soffset)) as usize)
    }
}

fn wave(random: &mut Random, descriptor: Descriptor) -> Wave {
    let mut wave = Wave { exec: random.bits() | random.bits(), memory: random.bytes(BYTES), ..Wave::default() };
    for number in DATA..DATA + 4 {
        wave.vectors.insert(number, random.row());
    }
    for (i, word) in descriptor.words().into_iter().enumerate() {
        wave.scalars.insert(DESCRIPTOR + i as u8, word);
    }
    wave
}

fn active(wave: &Wave) -> impl Iterator<Item = usize> + use<> {
    let exec = wave.exec;
    (0..64).filter(move |lane| exec >> lane & 1 != 0)
}

fn before(wave: &Wave) -> After {
    let vectors = (0..32).map(|number| wave.vectors.get(&number).copied().unwrap_or([0; 64])).collect();
    After { vectors, shared: vec![], memory: wave.memory.clone(), fault: None }
}

/// The descriptors and kinds of addresses that are met.
fn cases(random: &mut Random) -> Vec<(Descriptor, Bits)> {
    let bits = |offset, offen, idxen| Bits { offset, offen, idxen, ..Bits::default() };
    let raw = Descriptor { records: 1000, ..Descriptor::default() };
    let scratch =
        Descriptor { swizzle: true, records: u32::MAX, index_stride: 3, add_tid: true, ..Descriptor::default() };
    let structured = Descriptor { stride: 24, records: 50, ..Descriptor::default() };
    vec![
        (raw, bits(8 * random.below(10) as u32, false, false)),
        (raw, bits(random.below(100) as u32, true, false)),
        (raw, bits(4, true, true)),
        (scratch, bits(4 * random.below(20) as u32, false, false)),
        (scratch, bits(4 * random.below(20) as u32, true, false)),
        (structured, bits(4, false, true)),
        (structured, bits(4, true, true)),
        // Without an index it is as raw.
        (structured, bits(4, true, false)),
        (Descriptor { swizzle: true, index_stride: 1, ..structured }, bits(4, true, true)),
        (Descriptor { swizzle: true, index_stride: 0, records: 400, ..structured }, bits(4, true, false)),
        (Descriptor { add_tid: true, ..structured }, bits(0, true, true)),
        (Descriptor { add_tid: true, stride: LONG, records: 2, ..structured }, bits(0, true, true)),
    ]
}

/// Sets the addresses of the lanes; index and offset of each.
fn set_addresses(
    random: &mut Random,
    wave: &mut Wave,
    descriptor: Descriptor,
    bits: Bits,
    align: u64,
) -> Vec<(u32, u32)> {
    let structured = bits.idxen && descriptor.stride != 0;
    let limit = if structured {
        40
    } else if descriptor.add_tid {
        80
    } else {
        1020
    };
    let rows: Vec<(u32, u32)> = (0..64)
        .map(|lane| {
            let mut offset = (random.below(limit / align) * align) as u32;
            if !structured && !descriptor.add_tid && random.below(8) == 0 {
                // Out of range by far; with the instruction's offset the sum wraps.
                offset = (random.below(4) as u32 * 8).wrapping_sub(16);
            }
            if descriptor.stride == LONG {
                return ((random.below(3) as u32).wrapping_sub(lane), offset);
            }
            (random.below(60) as u32, offset)
        })
        .collect();
    let column = |index: bool| std::array::from_fn(|lane| if index { rows[lane].0 } else { rows[lane].1 });
    wave.vectors.insert(ADDRESS, column(bits.idxen));
    if bits.idxen {
        wave.vectors.insert(ADDRESS + 1, column(false));
    }
    rows
}

#[test]
fn loads_and_stores() {
    let mut random = Random(21);
    let names: Vec<_> = ["buffer_load_", "buffer_store_"]
        .into_iter()
        .flat_map(implemented)
        .filter(|name| !name.contains("format"))
        .collect();
    assert_eq!(names.len(), 22);
    for name in names {
        let kind = Kind::of(name);
        let align = kind.bytes().min(4) as u64;
        for (n, (descriptor, bits)) in cases(&mut random).into_iter().enumerate() {
            let bits = Bits { offset: bits.offset / align as u32 * align as u32, ..bits };
            let mut wave = wave(&mut random, descriptor);
            let rows = set_addresses(&mut random, &mut wave, descriptor, bits, align);
            let soffset = 16 * random.below(5) as u32;
            wave.scalars.insert(SOFFSET, soffset);
            let after = wave.run(&[buffer(
                name,
                DATA,
                if bits.offen || bits.idxen { ADDRESS } else { 0 },
                DESCRIPTOR,
                SOFFSET,
                bits,
            )]);
            let mut expected = before(&wave);
            // Words are stored one after the other, each of all lanes.
            let mut writes = Vec::new();
            for lane in active(&wave) {
                let words = kind.bytes().div_ceil(4);
                let bytes = kind.bytes().min(4);
                let data: Vec<u32> = (0..4).map(|i| wave.vectors[&(DATA + i)][lane]).collect();
                let stored = kind.stored(&data);
                let mut loaded = vec![0; kind.bytes()];
                for word in 0..words {
                    let place = descriptor.place(bits, lane as u32, rows[lane], soffset, word as u32, bytes as u32);
                    let Some(at) = place else { continue };
                    if name.contains("load") {
                        loaded[4 * word..4 * word + bytes].copy_from_slice(&wave.memory[at..at + bytes]);
                    } else {
                        writes.push((word, lane, at, stored[4 * word..4 * word + bytes].to_vec()));
                    }
                }
                if name.contains("load") {
                    for (i, word) in kind.loaded(&loaded, &data).into_iter().enumerate() {
                        expected.vectors[usize::from(DATA) + i][lane] = word;
                    }
                }
            }
            writes.sort();
            for (_, _, at, bytes) in writes {
                expected.memory[at..at + bytes.len()].copy_from_slice(&bytes);
            }
            after.check(&expected, &format!("{name} case {n} soffset {soffset}"));
        }
    }
}

#[test]
fn atomics() {
    let mut random = Random(22);
    let names = implemented("buffer_atomic");
    assert_eq!(names.len(), 26);
    for name in names {
        let bytes = if name.ends_with("x2") { 8 } else { 4 };
        for (n, (descriptor, bits)) in cases(&mut random).into_iter().enumerate() {
            if descriptor.swizzle {
                continue;
            }
            let bits = Bits { offset: bits.offset / 8 * 8, glc: n % 2 == 0, ..bits };
            let mut wave = wave(&mut random, descriptor);
            let rows = set_addresses(&mut random, &mut wave, descriptor, bits, 8);
            for number in DATA..DATA + 4 {
                let high = bytes == 8 && number % 2 == 1;
                wave.vectors.insert(number, std::array::from_fn(|_| if high { 0 } else { random.below(4) as u32 }));
            }
            for (i, byte) in wave.memory.iter_mut().enumerate() {
                *byte = if i % bytes == 0 { *byte % 4 } else { 0 };
            }
            let after = wave.run(&[buffer(
                name,
                DATA,
                if bits.offen || bits.idxen { ADDRESS } else { 0 },
                DESCRIPTOR,
                128,
                bits,
            )]);
            let mut expected = before(&wave);
            for lane in active(&wave) {
                let operand = |n: usize| {
                    let word = |i: usize| u64::from(wave.vectors[&(DATA + i as u8)][lane]);
                    if bytes == 8 { word(2 * n) | word(2 * n + 1) << 32 } else { word(n) }
                };
                let mut old = 0;
                if let Some(at) = descriptor.place(bits, lane as u32, rows[lane], 0, 0, bytes as u32) {
                    let cell = &mut expected.memory[at..at + bytes];
                    old = read_number(cell);
                    cell.copy_from_slice(
                        &atomic(name, bytes as u32 * 8, old, operand(0), operand(1)).to_le_bytes()[..bytes],
                    );
                }
                if bits.glc {
                    expected.vectors[usize::from(DATA)][lane] = old as u32;
                    if bytes == 8 {
                        expected.vectors[usize::from(DATA) + 1][lane] = (old >> 32) as u32;
                    }
                }
            }
            after.check(&expected, &format!("{name} case {n}"));
        }
    }
}

/// Bits of the components of a format, from the lowest.
fn widths(data: u32) -> &'static [u32] {
    match data {
        1 => &[8],
        2 => &[16],
        3 => &[8, 8],
        4 => &[32],
        5 => &[16, 16],
        6 => &[11, 11, 10],
        7 => &[10, 11, 11],
        8 => &[2, 10, 10, 10],
        9 => &[10, 10, 10, 2],
        10 => &[8, 8, 8, 8],
        11 => &[32, 32],
        12 => &[16, 16, 16, 16],
        13 => &[32, 32, 32],
        14 => &[32, 32, 32, 32],
        _ => &[],
    }
}

fn half(bits: u32) -> f32 {
    let (sign, exponent, mantissa) = (bits >> 15, bits >> 10 & 31, (bits & 0x3ff) as f32);
    let magnitude = match exponent {
        0 => mantissa * 2f32.powi(-24),
        31 if mantissa == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + mantissa) * 2f32.powi(exponent as i32 - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

/// The four components of a texel.
fn components((data, kind): (u32, u32), bytes: &[u8]) -> [u32; 4] {
    let mut result = [0, 0, 0, if kind == 4 || kind == 5 { 1 } else { 1f32.to_bits() }];
    let mut at = 0;
    for (result, &width) in result.iter_mut().zip(widths(data)) {
        let bit = |i: u32| u32::from(bytes[i as usize / 8] >> (i % 8) & 1);
        let field = (0..width).fold(0, |field, i| field | bit(at + i) << i);
        at += width;
        let signed = ((field << (32 - width)) as i32 >> (32 - width)) as f64;
        let most = f64::from(u32::MAX >> (32 - width));
        let half_most = f64::from(u32::MAX >> (33 - width));
        *result = match kind {
            0 => ((f64::from(field) / most) as f32).to_bits(),
            1 => ((signed / half_most).max(-1.0) as f32).to_bits(),
            2 => (field as f32).to_bits(),
            3 => (signed as f32).to_bits(),
            4 => field,
            5 => signed as i32 as u32,
            6 => (((2.0 * signed + 1.0) / most) as f32).to_bits(),
            _ => match width {
                32 => field,
                16 => half(field).to_bits(),
                11 => half(field << 4).to_bits(),
                10 => half(field << 5).to_bits(),
                _ => 0,
            },
        };
    }
    result
}

/// Formats that make sense.
fn formats() -> Vec<(u32, u32)> {
    let mut formats = Vec::new();
    for data in 1..15 {
        for kind in 0..8 {
            let wide = widths(data)[0] == 32;
            let mixed = data == 6 || data == 7;
            let fits = match kind {
                7 => wide || mixed || widths(data)[0] == 16,
                4 | 5 => !mixed,
                _ => !wide && !mixed,
            };
            if fits {
                formats.push((data, kind));
            }
        }
    }
    formats
}

/// As registers have components in halves.
fn halves(kind: u32, words: &[u32]) -> Vec<u32> {
    let ints = kind == 4 || kind == 5;
    words.iter().map(|&word| if ints { word & 0xffff } else { half_of(f32::from_bits(word)) }).collect()
}

/// The nearest half; the ones that tests meet are exact or not near a tie.
fn half_of(value: f32) -> u32 {
    let candidates = 0..0x7c01u32;
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    // Binary search for the last not above it.
    let (mut low, mut high) = (candidates.start, candidates.end - 1);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if half(middle) <= magnitude { low = middle } else { high = middle - 1 }
    }
    let up = low < 0x7c00 && {
        let next = if low + 1 == 0x7c00 { 65536.0 } else { half(low + 1) };
        let (below, above) = (f64::from(magnitude) - f64::from(half(low)), f64::from(next) - f64::from(magnitude));
        above < below || above == below && low % 2 == 1
    };
    sign | (low + u32::from(up))
}

fn swizzled(select: u32, components: [u32; 4], one: u32) -> [u32; 4] {
    std::array::from_fn(|i| match select >> (3 * i) & 7 {
        1 => one,
        n @ 4.. => components[n as usize - 4],
        _ => 0,
    })
}

#[test]
fn formats_are_loaded() {
    let mut random = Random(23);
    let names = ["buffer_load_format", "tbuffer_load_format"].into_iter().flat_map(implemented);
    for name in names.collect::<Vec<_>>() {
        let count = name.rsplit('_').next().unwrap().len();
        let d16 = name.contains("d16");
        for (n, format) in formats().into_iter().enumerate() {
            // d16 of wide floats that do not fit is not for a test.
            if d16 && (widths(format.0)[0] == 32 || format.1 == 2 || format.1 == 3) || n % 6 != random.below(6) as usize
            {
                continue;
            }
            let typed = name.starts_with('t');
            let bytes = widths(format.0).iter().sum::<u32>() / 8;
            let select = if random.below(2) == 0 { IDENTITY } else { 6 | 5 << 3 | 4 << 6 | 1 << 9 };
            let descriptor = Descriptor { stride: 16, records: 40, format, select, ..Descriptor::default() };
            let bits = Bits { idxen: true, format, ..Bits::default() };
            let mut wave = wave(&mut random, descriptor);
            wave.vectors.insert(ADDRESS, std::array::from_fn(|_| random.below(50) as u32));
            let index = wave.vectors[&ADDRESS];
            if format.1 == 7 {
                // Numbers, not NaNs: the exponents' upper bits are 0.
                wave.memory.iter_mut().enumerate().for_each(|(i, byte)| {
                    if i % 2 == 1 || bytes == 4 {
                        *byte &= 0x39
                    }
                });
            }
            let after = wave.run(&[buffer(name, DATA, ADDRESS, DESCRIPTOR, 128, bits)]);
            let mut expected = before(&wave);
            for lane in active(&wave) {
                let at = START + index[lane] as usize * 16;
                let mut texel = [0; 4];
                if index[lane] < 40 {
                    texel = components(format, &wave.memory[at..at + 16]);
                }
                if !typed {
                    texel = swizzled(select, texel, if format.1 == 4 || format.1 == 5 { 1 } else { 1f32.to_bits() });
                }
                let old: Vec<u32> = (0..4).map(|i| wave.vectors[&(DATA + i)][lane]).collect();
                let mut registers = texel[..count].to_vec();
                if d16 {
                    let parts = halves(format.1, &registers);
                    registers = parts
                        .chunks(2)
                        .enumerate()
                        .map(|(i, pair)| match *pair {
                            [low, high] => low | high << 16,
                            _ if name.contains("hi") => pair[0] << 16 | old[i] & 0xffff,
                            _ => pair[0] | old[i] & 0xffff_0000,
                        })
                        .collect();
                }
                for (i, word) in registers.into_iter().enumerate() {
                    expected.vectors[usize::from(DATA) + i][lane] = word;
                }
            }
            after.check(&expected, &format!("{name} {format:?} select {select:#x}"));
        }
    }
}

#[test]
fn formats_are_stored() {
    let mut random = Random(24);
    let names = ["buffer_store_format", "tbuffer_store_format"].into_iter().flat_map(implemented);
    for name in names.collect::<Vec<_>>() {
        let count = name.rsplit('_').next().unwrap().len();
        let d16 = name.contains("d16");
        for (n, format) in formats().into_iter().enumerate() {
            // What is loaded must be a number of the format again: halves hold no 32 bits, and no 16 of a fraction.
            if d16 && widths(format.0)[0] > 10 && format.1 < 4
                || d16 && format.1 == 6
                || d16 && widths(format.0)[0] == 32
                || n % 6 != random.below(6) as usize
            {
                continue;
            }
            let bytes = widths(format.0).iter().sum::<u32>() as usize / 8;
            let descriptor = Descriptor { stride: 16, records: 40, format, select: IDENTITY, ..Descriptor::default() };
            let bits = Bits { idxen: true, format, ..Bits::default() };
            let mut wave = wave(&mut random, descriptor);
            wave.vectors.insert(ADDRESS, std::array::from_fn(|lane| lane as u32));
            // Components of random texels.
            let texels: Vec<Vec<u8>> = (0..64)
                .map(|_| {
                    let mut texel = random.bytes(16);
                    if format.1 == 7 {
                        texel.iter_mut().enumerate().for_each(|(i, byte)| {
                            if i % 2 == 1 || bytes == 4 {
                                *byte &= 0x39
                            }
                        });
                    }
                    texel
                })
                .collect();
            let given: Vec<[u32; 4]> = texels.iter().map(|texel| components(format, texel)).collect();
            for i in 0..4 {
                wave.vectors.insert(DATA + i, std::array::from_fn(|lane| given[lane][i as usize]));
            }
            if d16 {
                let parts: Vec<Vec<u32>> = given.iter().map(|words| halves(format.1, words)).collect();
                for i in 0..2 {
                    let row = std::array::from_fn(|lane| {
                        let part = &parts[lane][2 * i..];
                        if name.contains("hi") { part[0] << 16 } else { part[0] | part[1] << 16 }
                    });
                    wave.vectors.insert(DATA + i as u8, row);
                }
            }
            let after = wave.run(&[buffer(name, DATA, ADDRESS, DESCRIPTOR, 128, bits)]);
            let expected = before(&wave);
            for lane in 0..64 {
                let at = START + lane * 16;
                let written = lane < 40 && wave.exec >> lane & 1 != 0;
                let mut texel = [0; 16];
                texel[..bytes].copy_from_slice(&after.memory[at..at + bytes]);
                assert_eq!(after.memory[at + bytes..at + 16], wave.memory[at + bytes..at + 16], "{name} {format:?}");
                if !written {
                    assert_eq!(
                        after.memory[at..at + bytes],
                        wave.memory[at..at + bytes],
                        "{name} {format:?} lane {lane}"
                    );
                    continue;
                }
                let found = components(format, &texel);
                let there = widths(format.0).len();
                for i in 0..there {
                    // The least of the signed is as good as the next.
                    let zero = components(format, &[0; 16])[i];
                    let want = if i < count {
                        given[lane][i]
                    } else if format.1 == 6 {
                        found[i]
                    } else {
                        zero
                    };
                    assert_eq!(found[i], want, "{name} {format:?} lane {lane} component {i}");
                }
            }
            assert_eq!(after.vectors, expected.vectors);
        }
    }
}

#[test]
fn cache_control_does_nothing() {
    let mut random = Random(25);
    let wave = wave(&mut random, Descriptor::default());
    for name in ["buffer_wbinvl1", "buffer_wbinvl1_vol"] {
        wave.run(&[buffer(name, 0, 0, 0, 0, Bits::default())]).check(&before(&wave), name);
    }
}
