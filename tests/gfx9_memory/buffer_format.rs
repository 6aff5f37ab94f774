//! MUBUF and MTBUF instructions that convert formats.

use super::Random;
use super::buffer::{ADDRESS, DATA, DESCRIPTOR, Descriptor, IDENTITY, START, active, before, wave};
use super::encode::{Bits, buffer, implemented};

/// Returns the bits of each component of a format, from the lowest.
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

/// Returns the four components of a texel.
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

/// Returns the formats that make sense.
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

/// Returns components as registers hold them in halves.
fn halves(kind: u32, words: &[u32]) -> Vec<u32> {
    let ints = kind == 4 || kind == 5;
    words
        .iter()
        .map(|&word| if ints { word & 0xffff } else { half_of(f32::from_bits(word)) })
        .collect()
}

/// Returns the nearest half; values in the tests are exact or not near a tie.
fn half_of(value: f32) -> u32 {
    let candidates = 0..0x7c01u32;
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    // Searches for the greatest half that is not above the value.
    let (mut low, mut high) = (candidates.start, candidates.end - 1);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if half(middle) <= magnitude { low = middle } else { high = middle - 1 }
    }
    let up = low < 0x7c00 && {
        let next = if low + 1 == 0x7c00 { 65536.0 } else { half(low + 1) };
        let (below, above) =
            (f64::from(magnitude) - f64::from(half(low)), f64::from(next) - f64::from(magnitude));
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
            // Skips d16 where the format's numbers may not fit in a half.
            if d16 && (widths(format.0)[0] == 32 || format.1 == 2 || format.1 == 3)
                || n % 6 != random.below(6) as usize
            {
                continue;
            }
            let typed = name.starts_with('t');
            let bytes = widths(format.0).iter().sum::<u32>() / 8;
            let select = if random.below(2) == 0 { IDENTITY } else { 6 | 5 << 3 | 4 << 6 | 1 << 9 };
            let descriptor =
                Descriptor { stride: 16, records: 40, format, select, ..Descriptor::default() };
            let bits = Bits { idxen: true, format, ..Bits::default() };
            let mut wave = wave(&mut random, descriptor);
            wave.vectors.insert(ADDRESS, std::array::from_fn(|_| random.below(50) as u32));
            let index = wave.vectors[&ADDRESS];
            if format.1 == 7 {
                // Clears upper exponent bits, so that the memory holds numbers and no NaNs.
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
                    texel = swizzled(
                        select,
                        texel,
                        if format.1 == 4 || format.1 == 5 { 1 } else { 1f32.to_bits() },
                    );
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
            // Skips formats that a half cannot reproduce: halves hold no 32 bits, and not the 16 of
            // a fraction.
            if d16 && widths(format.0)[0] > 10 && format.1 < 4
                || d16 && format.1 == 6
                || d16 && widths(format.0)[0] == 32
                || n % 6 != random.below(6) as usize
            {
                continue;
            }
            let bytes = widths(format.0).iter().sum::<u32>() as usize / 8;
            let descriptor = Descriptor {
                stride: 16,
                records: 40,
                format,
                select: IDENTITY,
                ..Descriptor::default()
            };
            let bits = Bits { idxen: true, format, ..Bits::default() };
            let mut wave = wave(&mut random, descriptor);
            wave.vectors.insert(ADDRESS, std::array::from_fn(|lane| lane as u32));
            // The stored data are the components of random texels.
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
            let given: Vec<[u32; 4]> =
                texels.iter().map(|texel| components(format, texel)).collect();
            for i in 0..4 {
                wave.vectors.insert(DATA + i, std::array::from_fn(|lane| given[lane][i as usize]));
            }
            if d16 {
                let parts: Vec<Vec<u32>> =
                    given.iter().map(|words| halves(format.1, words)).collect();
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
            for (lane, given) in given.iter().enumerate() {
                let at = START + lane * 16;
                let written = lane < 40 && wave.exec >> lane & 1 != 0;
                let mut texel = [0; 16];
                texel[..bytes].copy_from_slice(&after.memory[at..at + bytes]);
                assert_eq!(
                    after.memory[at + bytes..at + 16],
                    wave.memory[at + bytes..at + 16],
                    "{name} {format:?}"
                );
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
                    // Compares components, not bytes: the two least signed fractions are equal.
                    let zero = components(format, &[0; 16])[i];
                    let want = if i < count {
                        given[i]
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

/// Loads from an invalid format give 0, also where 1 is selected, and stores write nothing.
///
/// MTBUF uses the instruction's format, not the descriptor's.
#[test]
fn invalid_formats() {
    let mut random = Random(29);
    let prefixes = [
        "buffer_load_format",
        "buffer_store_format",
        "tbuffer_load_format",
        "tbuffer_store_format",
    ];
    for name in prefixes.into_iter().flat_map(implemented) {
        let (typed, count) = (name.starts_with('t'), name.rsplit('_').next().unwrap().len());
        let d16 = name.contains("d16");
        for (descriptors, given) in [((0, 4), (14, 4)), ((0, 4), (0, 4)), ((14, 4), (0, 4))] {
            let format = if typed { given } else { descriptors };
            // All components come from the texel, or all are 1.
            for select in [IDENTITY, 1 | 1 << 3 | 1 << 6 | 1 << 9] {
                if format.0 != 0 && (select != IDENTITY || d16 || name.contains("store")) {
                    continue;
                }
                let descriptor = Descriptor {
                    stride: 16,
                    records: 64,
                    format: descriptors,
                    select,
                    ..Descriptor::default()
                };
                let mut wave = wave(&mut random, descriptor);
                wave.vectors.insert(ADDRESS, std::array::from_fn(|lane| lane as u32));
                let bits = Bits { idxen: true, format: given, ..Bits::default() };
                let after = wave.run(&[buffer(name, DATA, ADDRESS, DESCRIPTOR, 128, bits)]);
                let mut expected = before(&wave);
                let registers = if d16 { count.div_ceil(2) } else { count };
                for lane in active(&wave).filter(|_| name.contains("load")) {
                    let at = START + lane * 16;
                    let texel = components(format, &wave.memory[at..at + 16]);
                    for (i, word) in texel.into_iter().enumerate().take(registers) {
                        let number = usize::from(DATA) + i;
                        let kept = match (d16, name.contains("hi")) {
                            (true, true) => 0xffff,
                            (true, false) if count % 2 == 1 && i + 1 == registers => 0xffff_0000,
                            _ => 0,
                        };
                        let value = if format.0 == 0 { 0 } else { word };
                        expected.vectors[number][lane] =
                            expected.vectors[number][lane] & kept | value;
                    }
                }
                after.check(
                    &expected,
                    &format!("{name} {descriptors:?} {given:?} select {select:#x}"),
                );
            }
        }
    }
}
