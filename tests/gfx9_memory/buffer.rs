//! MUBUF and MTBUF instructions.

use super::encode::{Bits, buffer, implemented};
use super::wave::{After, MEMORY, Wave};
use super::{Kind, Random, atomic, read_number};

const BYTES: usize = 0x8000;
/// The offset of the buffer in the test's memory.
pub const START: usize = 0x100;

/// The registers: index and offset in v1 and v2, data in v4 to v7, the descriptor in s[20:23], an
/// offset in s3.
pub const ADDRESS: u8 = 1;
pub const DATA: u8 = 4;
pub const DESCRIPTOR: u8 = 20;
const SOFFSET: u8 = 3;

#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    pub stride: u32,
    pub swizzle: bool,
    pub records: u32,
    /// The data format and the number format.
    pub format: (u32, u32),
    /// Bits 0 to 11 of the last word.
    pub select: u32,
    pub index_stride: u32,
    pub add_tid: bool,
}

/// A buffer of 32-bit records that has no records.
impl Default for Descriptor {
    fn default() -> Descriptor {
        let format = (4, 7);
        Descriptor {
            stride: 0,
            swizzle: false,
            records: 0,
            format,
            select: 0,
            index_stride: 0,
            add_tid: false,
        }
    }
}

/// The data format that marks an unbound buffer.
const INVALID: (u32, u32) = (0, 7);

/// A stride that fits only where lanes are records.
const LONG: u32 = 1 << 14 | 16;

/// The selection that gives each component its own source.
pub const IDENTITY: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;

impl Descriptor {
    fn words(self) -> [u32; 4] {
        let base = MEMORY + START as u64;
        let (data, more) = if self.add_tid { (self.stride >> 14, 0) } else { self.format };
        let word1 =
            (base >> 32) as u32 | (self.stride & 0x3fff) << 16 | u32::from(self.swizzle) << 31;
        let word3 = self.select
            | more << 12
            | data << 15
            | self.index_stride << 21
            | u32::from(self.add_tid) << 23;
        [base as u32, word1, self.records, word3]
    }

    /// Returns the place of a word of a lane's record, if it is in range.
    fn place(
        self,
        bits: Bits,
        lane: u32,
        (index, offset): (u32, u32),
        soffset: u32,
        word: u32,
        bytes: u32,
    ) -> Option<usize> {
        // With `add_tid`, the format field is a part of the stride.
        if self.format == INVALID && !self.add_tid {
            return None;
        }
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

pub fn wave(random: &mut Random, descriptor: Descriptor) -> Wave {
    let mut wave = Wave {
        exec: random.bits() | random.bits(),
        memory: random.bytes(BYTES),
        ..Wave::default()
    };
    for number in DATA..DATA + 4 {
        wave.vectors.insert(number, random.row());
    }
    for (i, word) in descriptor.words().into_iter().enumerate() {
        wave.scalars.insert(DESCRIPTOR + i as u8, word);
    }
    wave
}

pub fn active(wave: &Wave) -> impl Iterator<Item = usize> + use<> {
    let exec = wave.exec;
    (0..64).filter(move |lane| exec >> lane & 1 != 0)
}

pub fn before(wave: &Wave) -> After {
    let vectors =
        (0..32).map(|number| wave.vectors.get(&number).copied().unwrap_or([0; 64])).collect();
    After { vectors, shared: vec![], memory: wave.memory.clone(), fault: None }
}

/// Returns descriptors and kinds of addresses that occur.
fn cases(random: &mut Random) -> Vec<(Descriptor, Bits)> {
    let bits = |offset, offen, idxen| Bits { offset, offen, idxen, ..Bits::default() };
    let raw = Descriptor { records: 1000, ..Descriptor::default() };
    let scratch = Descriptor {
        swizzle: true,
        records: u32::MAX,
        index_stride: 3,
        add_tid: true,
        ..Descriptor::default()
    };
    let structured = Descriptor { stride: 24, records: 50, ..Descriptor::default() };
    vec![
        (raw, bits(8 * random.below(10) as u32, false, false)),
        (raw, bits(random.below(100) as u32, true, false)),
        (raw, bits(4, true, true)),
        (scratch, bits(4 * random.below(20) as u32, false, false)),
        (scratch, bits(4 * random.below(20) as u32, true, false)),
        (structured, bits(4, false, true)),
        (structured, bits(4, true, true)),
        // Without an index, the structured buffer acts as a raw one.
        (structured, bits(4, true, false)),
        (Descriptor { swizzle: true, index_stride: 1, ..structured }, bits(4, true, true)),
        (
            Descriptor { swizzle: true, index_stride: 0, records: 400, ..structured },
            bits(4, true, false),
        ),
        (Descriptor { add_tid: true, ..structured }, bits(0, true, true)),
        (Descriptor { add_tid: true, stride: LONG, records: 2, ..structured }, bits(0, true, true)),
        (Descriptor { format: INVALID, ..raw }, bits(0, false, false)),
        (Descriptor { format: INVALID, ..raw }, bits(8, true, false)),
        (Descriptor { format: INVALID, ..structured }, bits(4, false, true)),
        (Descriptor { format: INVALID, ..structured }, bits(4, true, true)),
        (
            Descriptor { format: INVALID, swizzle: true, index_stride: 1, ..structured },
            bits(4, true, true),
        ),
        (Descriptor { format: INVALID, ..scratch }, bits(4, true, false)),
    ]
}

/// Sets the addresses of the lanes and returns each lane's index and offset.
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
                // The offset is far out of range; with the instruction's offset, the sum wraps.
                offset = (random.below(4) as u32 * 8).wrapping_sub(16);
            }
            if descriptor.stride == LONG {
                return ((random.below(3) as u32).wrapping_sub(lane), offset);
            }
            (random.below(60) as u32, offset)
        })
        .collect();
    let column =
        |index: bool| std::array::from_fn(|lane| if index { rows[lane].0 } else { rows[lane].1 });
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
            // Stores write one word of all lanes after another.
            let mut writes = Vec::new();
            for lane in active(&wave) {
                let words = kind.bytes().div_ceil(4);
                let bytes = kind.bytes().min(4);
                let data: Vec<u32> = (0..4).map(|i| wave.vectors[&(DATA + i)][lane]).collect();
                let stored = kind.stored(&data);
                let mut loaded = vec![0; kind.bytes()];
                for word in 0..words {
                    let place = descriptor.place(
                        bits,
                        lane as u32,
                        rows[lane],
                        soffset,
                        word as u32,
                        bytes as u32,
                    );
                    let Some(at) = place else { continue };
                    if name.contains("load") {
                        loaded[4 * word..4 * word + bytes]
                            .copy_from_slice(&wave.memory[at..at + bytes]);
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
                wave.vectors.insert(
                    number,
                    std::array::from_fn(|_| if high { 0 } else { random.below(4) as u32 }),
                );
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
                if let Some(at) =
                    descriptor.place(bits, lane as u32, rows[lane], 0, 0, bytes as u32)
                {
                    let cell = &mut expected.memory[at..at + bytes];
                    old = read_number(cell);
                    cell.copy_from_slice(
                        &atomic(name, bytes as u32 * 8, old, operand(0), operand(1)).to_le_bytes()
                            [..bytes],
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

#[test]
fn cache_control_does_nothing() {
    let mut random = Random(25);
    let wave = wave(&mut random, Descriptor::default());
    for name in ["buffer_wbinvl1", "buffer_wbinvl1_vol"] {
        wave.run(&[buffer(name, 0, 0, 0, 0, Bits::default())]).check(&before(&wave), name);
    }
}
