//! MIMG instructions.

use super::encode::{ImageBits, Words, image, implemented};
use super::wave::{After, MEMORY, Wave};
use super::{Random, atomic, read_number};

const BYTES: usize = 0x8000;
/// The offset of the image in the test's memory: descriptors count in 256 bytes.
const START: usize = 0x100;

/// The registers: coordinates in v1 to v3, data in v4 to v7, the descriptor in s[24:31].
const ADDRESS: u8 = 1;
const DATA: u8 = 4;
const DESCRIPTOR: u8 = 24;

#[derive(Clone, Copy, Debug)]
struct Descriptor {
    /// 8: line, 9: plane, 10: volume, 11: cube, 12: lines, 13: planes.
    kind: u32,
    width: u32,
    height: u32,
    first: u32,
    last: u32,
    pitch: u32,
    /// The data format and the number format.
    format: (u32, u32),
    tiling: u32,
}

const PLANE: Descriptor = Descriptor {
    kind: 9,
    width: 13,
    height: 9,
    first: 0,
    last: 0,
    pitch: 16,
    format: (10, 4),
    tiling: 0,
};

impl Descriptor {
    fn words(self) -> [u32; 8] {
        let base = (MEMORY + START as u64) >> 8;
        let (data, kind) = self.format;
        [
            base as u32,
            (base >> 32) as u32 | data << 20 | kind << 26,
            (self.width - 1) | (self.height - 1) << 14,
            4 | 5 << 3 | 6 << 6 | 7 << 9 | 2 << 16 | self.tiling << 20 | self.kind << 28,
            self.last | (self.pitch - 1) << 13,
            self.first,
            0,
            0,
        ]
    }

    fn bytes(self) -> usize {
        match self.format.0 {
            4 | 10 => 4,
            11 => 8,
            14 => 16,
            1 => 1,
            0 => 0,
            _ => 2,
        }
    }

    /// Returns the place of a texel, if it is in range.
    fn place(self, [x, y, z]: [u32; 3]) -> Option<usize> {
        let (y, z) = match self.kind {
            8 => (0, 0),
            12 => (0, y),
            9 => (y, 0),
            _ => (y, z),
        };
        let z = z.wrapping_add(self.first);
        let layer = z >= self.first && z <= self.last || matches!(self.kind, 8 | 9);
        let inside = x < self.width && y < self.height && layer;
        inside.then(|| START + ((z * self.height + y) * self.pitch + x) as usize * self.bytes())
    }
}

fn wave(random: &mut Random, descriptor: Descriptor) -> Wave {
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

/// Runs code that reads descriptors from registers, and code that knows them because it writes
/// them.
fn run(wave: &Wave, code: &[Words]) -> After {
    let after = wave.run(code);
    // s_mov_b32 sN, literal
    let set = |(&number, &word): (&u8, &u32)| [0xbe80_00ff | u32::from(number) << 16, word];
    let known: Vec<Words> = wave.scalars.iter().map(set).chain(code.iter().copied()).collect();
    wave.run(&known).check(&after, "descriptors that are known");
    after
}

fn active(wave: &Wave) -> impl Iterator<Item = usize> + use<> {
    let exec = wave.exec;
    (0..64).filter(move |lane| exec >> lane & 1 != 0)
}

fn before(wave: &Wave) -> After {
    let vectors =
        (0..32).map(|number| wave.vectors.get(&number).copied().unwrap_or([0; 64])).collect();
    After { vectors, shared: vec![], memory: wave.memory.clone(), fault: None }
}

/// Returns coordinates of different texels, some out of range.
fn set_coordinates(random: &mut Random, wave: &mut Wave) -> Vec<[u32; 3]> {
    let far = |random: &mut Random, limit: u64| {
        if random.below(9) == 0 { random.word() } else { random.below(limit) as u32 }
    };
    let rows: Vec<[u32; 3]> =
        (0..64).map(|lane| [lane % 15, lane / 8 + far(random, 2) % 3, far(random, 5)]).collect();
    for i in 0..3 {
        wave.vectors.insert(ADDRESS + i, std::array::from_fn(|lane| rows[lane][usize::from(i)]));
    }
    rows
}

fn shapes() -> Vec<Descriptor> {
    vec![
        PLANE,
        Descriptor { kind: 8, height: 1, ..PLANE },
        Descriptor { kind: 10, last: 2, ..PLANE },
        Descriptor { kind: 11, last: 5, ..PLANE },
        Descriptor { kind: 12, height: 1, first: 1, last: 3, ..PLANE },
        Descriptor { kind: 13, first: 1, last: 3, ..PLANE },
        Descriptor { format: (1, 4), ..PLANE },
        Descriptor { format: (14, 7), ..PLANE },
        Descriptor { format: (11, 5), ..PLANE },
        // Without a format, nothing is loaded or stored.
        Descriptor { format: (0, 4), ..PLANE },
    ]
}

/// Returns the components of integers and whole words; buffer tests cover conversions.
fn components(descriptor: Descriptor, texel: &[u8]) -> [u32; 4] {
    let word = |i: usize| u32::from_le_bytes(texel[4 * i..4 * i + 4].try_into().unwrap());
    match descriptor.format {
        (0, _) => [0; 4],
        (10, _) => std::array::from_fn(|i| texel[i].into()),
        (1, _) => [texel[0].into(), 0, 0, 1],
        (11, _) => [word(0), word(1), 0, 1],
        (4, _) => [word(0), 0, 0, 1],
        _ => std::array::from_fn(word),
    }
}

#[test]
fn loads_and_stores() {
    let mut random = Random(31);
    for descriptor in shapes() {
        for dmask in [1, 0b1010, 0b1111] {
            let mut wave = wave(&mut random, descriptor);
            let rows = set_coordinates(&mut random, &mut wave);
            let chosen: Vec<usize> = (0..4).filter(|i| dmask >> i & 1 != 0).collect();
            let bits = ImageBits { dmask, unorm: true, ..ImageBits::default() };
            let after = run(&wave, &[image("image_load", DATA, ADDRESS, DESCRIPTOR, 0, bits)]);
            let mut expected = before(&wave);
            for lane in active(&wave) {
                let texel = descriptor
                    .place(rows[lane])
                    .map_or([0; 4], |at| components(descriptor, &wave.memory[at..]));
                for (n, &i) in chosen.iter().enumerate() {
                    expected.vectors[usize::from(DATA) + n][lane] = texel[i];
                }
            }
            after.check(&expected, &format!("load {descriptor:?} {dmask:#x}"));

            // Small numbers are not clamped.
            for number in DATA..DATA + 4 {
                wave.vectors.insert(number, std::array::from_fn(|_| random.below(256) as u32));
            }
            let after = run(&wave, &[image("image_store", DATA, ADDRESS, DESCRIPTOR, 0, bits)]);
            let mut expected = before(&wave);
            for lane in active(&wave) {
                let Some(at) = descriptor.place(rows[lane]) else { continue };
                let mut words = [0; 4];
                for (n, &i) in chosen.iter().enumerate() {
                    words[i] = wave.vectors[&(DATA + n as u8)][lane];
                }
                let bytes: Vec<u8> = match descriptor.format.0 {
                    1 | 10 => words.iter().map(|&word| word as u8).collect(),
                    _ => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
                };
                expected.memory[at..at + descriptor.bytes()]
                    .copy_from_slice(&bytes[..descriptor.bytes()]);
            }
            after.check(&expected, &format!("store {descriptor:?} {dmask:#x}"));
        }
    }
}

#[test]
fn halves() {
    let mut random = Random(32);
    let mut wave = wave(&mut random, PLANE);
    let rows = set_coordinates(&mut random, &mut wave);
    let bits = ImageBits { dmask: 0b111, d16: true, ..ImageBits::default() };
    let after = run(&wave, &[image("image_load", DATA, ADDRESS, DESCRIPTOR, 0, bits)]);
    let mut expected = before(&wave);
    for lane in active(&wave) {
        let texel =
            PLANE.place(rows[lane]).map_or([0; 4], |at| components(PLANE, &wave.memory[at..]));
        expected.vectors[4][lane] = texel[0] | texel[1] << 16;
        expected.vectors[5][lane] = texel[2] | expected.vectors[5][lane] & 0xffff_0000;
    }
    after.check(&expected, "load of halves");
}

#[test]
fn atomics() {
    let mut random = Random(33);
    let names = implemented("image_atomic");
    assert_eq!(names.len(), 13);
    for name in names {
        for (bytes, glc) in [(4, false), (4, true), (8, true)] {
            let descriptor = Descriptor { format: (if bytes == 4 { 4 } else { 11 }, 4), ..PLANE };
            let mut wave = wave(&mut random, descriptor);
            let mut rows = set_coordinates(&mut random, &mut wave);
            // Some lanes access one place.
            wave.vectors.insert(ADDRESS, std::array::from_fn(|lane| lane as u32 % 3));
            rows.iter_mut().enumerate().for_each(|(lane, row)| row[0] = lane as u32 % 3);
            for number in DATA..DATA + 4 {
                let high = bytes == 8 && number % 2 == 1;
                wave.vectors.insert(
                    number,
                    std::array::from_fn(|_| if high { 0 } else { random.below(4) as u32 }),
                );
            }
            wave.memory
                .iter_mut()
                .enumerate()
                .for_each(|(i, byte)| *byte = if i % bytes == 0 { *byte % 4 } else { 0 });
            let dmask = match (name.contains("cmp"), bytes) {
                (false, 4) => 1,
                (true, 4) | (false, _) => 3,
                _ => 15,
            };
            let bits = ImageBits { dmask, glc, ..ImageBits::default() };
            let after = run(&wave, &[image(name, DATA, ADDRESS, DESCRIPTOR, 0, bits)]);
            let mut expected = before(&wave);
            for lane in active(&wave) {
                let operand = |n: usize| {
                    let word = |i: usize| u64::from(wave.vectors[&(DATA + i as u8)][lane]);
                    if bytes == 8 { word(2 * n) | word(2 * n + 1) << 32 } else { word(n) }
                };
                let mut old = 0;
                if let Some(at) = descriptor.place(rows[lane]) {
                    let cell = &mut expected.memory[at..at + bytes];
                    old = read_number(cell);
                    let new = atomic(name, bytes as u32 * 8, old, operand(0), operand(1));
                    cell.copy_from_slice(&new.to_le_bytes()[..bytes]);
                }
                if glc {
                    expected.vectors[usize::from(DATA)][lane] = old as u32;
                    if bytes == 8 {
                        expected.vectors[usize::from(DATA) + 1][lane] = (old >> 32) as u32;
                    }
                }
            }
            after.check(&expected, &format!("{name} {bytes} {glc}"));
        }
    }
}

#[test]
fn sizes() {
    let mut random = Random(34);
    for (descriptor, depth) in [
        (PLANE, 1),
        (Descriptor { kind: 13, first: 1, last: 3, ..PLANE }, 3),
        (Descriptor { kind: 10, last: 6, ..PLANE }, 7),
    ] {
        let mut wave = wave(&mut random, descriptor);
        wave.vectors.insert(ADDRESS, std::array::from_fn(|lane| lane as u32 % 5));
        let bits = ImageBits { dmask: 15, ..ImageBits::default() };
        let after = run(&wave, &[image("image_get_resinfo", DATA, ADDRESS, DESCRIPTOR, 0, bits)]);
        let mut expected = before(&wave);
        for lane in active(&wave) {
            let level = lane % 5;
            let size = |size: u32| (size >> level).max(1);
            // The descriptor has three levels.
            let layers = if descriptor.kind == 10 { size(depth) } else { depth };
            let sizes = if level < 3 { [size(13), size(9), layers] } else { [0; 3] };
            for (i, value) in sizes.into_iter().chain([3]).enumerate() {
                expected.vectors[usize::from(DATA) + i][lane] = value;
            }
        }
        after.check(&expected, "sizes");
    }
}

#[test]
fn what_is_not_linear_faults() {
    let mut random = Random(35);
    let mut wave = wave(&mut random, Descriptor { tiling: 9, ..PLANE });
    wave.exec = u64::MAX;
    set_coordinates(&mut random, &mut wave);
    let bits = ImageBits { dmask: 15, ..ImageBits::default() };
    let after = run(&wave, &[image("image_load", DATA, ADDRESS, DESCRIPTOR, 0, bits)]);
    assert_eq!(after.fault.expect("a fault").0, "address out of range");
}

/// Returns one axis of a sample: two texels (`None` is the border) and the weight of the second.
fn axis(mode: u32, bilinear: bool, unorm: bool, x: f32, size: u32) -> ([Option<u32>; 2], f32) {
    let n = size as f32;
    let mut u = if unorm { x } else { x * n };
    if mode == 0 {
        u = (x - x.floor()) * n;
    } else if mode == 1 {
        let m = x - 2.0 * (x * 0.5).floor();
        u = if m > 1.0 { 2.0 - m } else { m } * n;
    } else if mode % 2 == 1 {
        u = u.abs();
    }
    if bilinear {
        u -= 0.5;
    }
    let i = u.floor() as i32;
    let place = |i: i32| match mode {
        0 => Some(i.rem_euclid(size as i32) as u32),
        4.. => (0..size as i32).contains(&i).then_some(i as u32),
        _ => Some(i.clamp(0, size as i32 - 1) as u32),
    };
    ([place(i), place(i + 1)], if bilinear { u - u.floor() } else { 0.0 })
}

/// The register at which operands of samples begin.
const OPERANDS: u8 = 8;

/// Returns the words before the coordinates of a sample of a plane, by its name: an offset, a bias,
/// a reference, gradients. Also tells whether a level or its minimum follows the coordinates.
fn operands(
    name: &str,
    offset: [i32; 2],
    bias: f32,
    reference: f32,
    gradient: f32,
) -> (Vec<u32>, bool) {
    let parts: Vec<&str> = name.split('_').skip(2).collect();
    let has = |part: &str| parts.contains(&part);
    let mut words = vec![];
    if has("o") {
        words.push(offset[0] as u32 & 0x3f | (offset[1] as u32 & 0x3f) << 8);
    }
    words.extend(has("b").then_some(bias.to_bits()));
    words.extend(has("c").then_some(reference.to_bits()));
    if has("d") || has("cd") {
        words.extend([gradient, 0.0, 0.0, gradient].map(f32::to_bits));
    }
    (words, has("l") || has("cl"))
}

/// Puts a sample's operands into registers.
fn set_operands(
    wave: &mut Wave,
    (before, behind): (Vec<u32>, bool),
    [x, y]: [[f32; 64]; 2],
    level: f32,
) {
    let mut rows: Vec<[u32; 64]> = before.into_iter().map(|word| [word; 64]).collect();
    rows.extend([x.map(f32::to_bits), y.map(f32::to_bits)]);
    rows.extend(behind.then_some([level.to_bits(); 64]));
    for (number, row) in (OPERANDS..).zip(rows) {
        wave.vectors.insert(number, row);
    }
}

/// Returns the result of a comparison: less, equal and greater are bits 0 to 2 of `function`.
fn compares(function: u32, reference: f32, texel: f32) -> f32 {
    let holds = [reference < texel, reference == texel, reference > texel];
    f32::from(u8::from((0..3).any(|bit| function >> bit & 1 != 0 && holds[bit])))
}

#[test]
fn samples() {
    let mut random = Random(36);
    let descriptor = Descriptor { format: (10, 0), ..PLANE };
    let gathers = implemented("image_gather4");
    assert_eq!(gathers.len(), 24);
    for (i, name) in implemented("image_sample").into_iter().chain(gathers).enumerate() {
        // Other instructions differ only in their operands.
        let all = ["image_sample", "image_sample_l", "image_sample_lz"].contains(&name);
        let gathered = name.starts_with("image_gather4");
        for mode in (0..8).filter(|&mode| all || mode == i as u32 % 8) {
            for bilinear in
                [false, true].into_iter().filter(|&bilinear| all || bilinear == (i / 8 % 2 == 0))
            {
                let unorm = mode == 2 || mode == 6 && bilinear;
                let mut wave = wave(&mut random, descriptor);
                let (border, function) = (random.below(3) as u32, random.below(8) as u32);
                wave.scalars.insert(12, mode | mode << 3 | function << 12);
                wave.scalars.insert(14, u32::from(bilinear) << 20);
                wave.scalars.insert(15, border << 30);
                // From -1.5 to 2.5 images, never near the edge of a texel.
                let mut coordinate = |size: u32| -> [f32; 64] {
                    std::array::from_fn(|_| {
                        let texel = random.below(4 * u64::from(size)) as f32 - 1.5 * size as f32;
                        let x = texel + [0.25, 0.375, 0.75][random.below(3) as usize];
                        if unorm { x } else { x / size as f32 }
                    })
                };
                let rows = [coordinate(descriptor.width), coordinate(descriptor.height)];
                let offset = [random.below(9) as i32 - 4, random.below(9) as i32 - 4];
                let offset = if name.ends_with("_o") { offset } else { [0; 2] };
                // With one level, operands that choose a level have no effect.
                let reference = random.below(256) as f32 / 255.0;
                let operands = operands(name, offset, 0.75, reference, 0.5);
                let compared = name.split('_').any(|part| part == "c");
                set_operands(&mut wave, operands, rows, 1.25);
                let component = random.below(4) as usize;
                let dmask = if gathered { 1 << component } else { 15 };
                let bits = ImageBits { dmask, unorm, ..ImageBits::default() };
                let after = run(&wave, &[image(name, DATA, OPERANDS, DESCRIPTOR, 12, bits)]);
                for lane in active(&wave) {
                    let moved = |axis: usize, size: u32| {
                        let texels = offset[axis] as f32;
                        rows[axis][lane] + if unorm { texels } else { texels / size as f32 }
                    };
                    let linear = bilinear || gathered;
                    let (x, y) = (moved(0, descriptor.width), moved(1, descriptor.height));
                    let (xs, wx) = axis(mode, linear, unorm, x, descriptor.width);
                    let (ys, wy) = axis(mode, linear, unorm, y, descriptor.height);
                    let tap = |x: Option<u32>, y: Option<u32>, i: usize| {
                        let i = if compared { 0 } else { i };
                        let texel = match (x, y) {
                            (Some(x), Some(y)) => {
                                let at = descriptor.place([x, y, 0]).expect("inside");
                                f32::from(wave.memory[at + i]) / 255.0
                            }
                            _ => f32::from(u8::from(border == 2 || border == 1 && i == 3)),
                        };
                        if compared { compares(function, reference, texel) } else { texel }
                    };
                    for i in 0..4 {
                        let row = |y| tap(xs[0], y, i) * (1.0 - wx) + tap(xs[1], y, i) * wx;
                        let expected = if gathered {
                            let (x, y) = [(0, 1), (1, 1), (1, 0), (0, 0)][i];
                            tap(xs[x], ys[y], component)
                        } else if bilinear {
                            row(ys[0]) * (1.0 - wy) + row(ys[1]) * wy
                        } else {
                            tap(xs[0], ys[0], i)
                        };
                        let found = f32::from_bits(after.vectors[usize::from(DATA) + i][lane]);
                        assert!(
                            (found - expected).abs() < 1e-4,
                            "{name} mode {mode} bilinear {bilinear} lane {lane} component {i}: {found}, not {expected}"
                        );
                    }
                }
            }
        }
    }
}

/// Three levels of 13 x 9, 6 x 4 and 3 x 2 texels, one below the other: rows of halves rounded up.
const LEVELS: u32 = 3;

fn with_levels(wave: &mut Wave) {
    *wave.scalars.get_mut(&(DESCRIPTOR + 5)).expect("a descriptor") |= (LEVELS - 1) << 28;
}

fn level_texel(descriptor: Descriptor, level: u32, [x, y]: [u32; 2]) -> Option<usize> {
    let [width, height] = [descriptor.width, descriptor.height].map(|size| (size >> level).max(1));
    let above: u32 = (0..level).map(|level| descriptor.height.div_ceil(1 << level)).sum();
    (level < LEVELS && x < width && y < height)
        .then(|| START + ((above + y) * descriptor.pitch + x) as usize * descriptor.bytes())
}

#[test]
fn levels_are_loaded_and_stored() {
    let mut random = Random(37);
    let mut wave = wave(&mut random, PLANE);
    with_levels(&mut wave);
    let places: Vec<[u32; 3]> = (0..64).map(|lane| [lane % 14, lane / 14 % 10, lane % 4]).collect();
    for axis in 0..3 {
        wave.vectors
            .insert(ADDRESS + axis, std::array::from_fn(|lane| places[lane][usize::from(axis)]));
    }
    let bits = ImageBits { dmask: 1, unorm: true, ..ImageBits::default() };
    let after = run(&wave, &[image("image_load_mip", DATA, ADDRESS, DESCRIPTOR, 0, bits)]);
    let mut expected = before(&wave);
    for lane in active(&wave) {
        let [x, y, level] = places[lane];
        let texel = level_texel(PLANE, level, [x, y]).map_or(0, |at| wave.memory[at].into());
        expected.vectors[usize::from(DATA)][lane] = texel;
    }
    after.check(&expected, "image_load_mip");
    wave.vectors.insert(DATA, std::array::from_fn(|lane| lane as u32 + 100));
    let after = run(&wave, &[image("image_store_mip", DATA, ADDRESS, DESCRIPTOR, 0, bits)]);
    let mut expected = before(&wave);
    for lane in active(&wave) {
        let [x, y, level] = places[lane];
        if let Some(at) = level_texel(PLANE, level, [x, y]) {
            expected.memory[at..at + 4].copy_from_slice(&[lane as u8 + 100, 0, 0, 0]);
        }
    }
    after.check(&expected, "image_store_mip");
}

/// The quad's coordinates, gradients, operands, biases and bounds each ask for the expected level.
#[test]
fn samples_choose_levels() {
    let mut random = Random(38);
    let descriptor = Descriptor { format: (10, 0), width: 8, height: 8, ..PLANE };
    for asked in 0..4 {
        for (name, spacing, level) in [
            ("image_sample", asked, asked),
            ("image_sample_b", 0, asked),
            ("image_sample_d", 0, asked),
            ("image_sample_cd", 0, asked),
            ("image_sample_l", 2, asked),
            ("image_sample_cl", 0, asked),
            ("image_sample_lz", asked, 0),
        ] {
            let mut wave = wave(&mut random, descriptor);
            wave.exec = u64::MAX;
            with_levels(&mut wave);
            // The sampler repeats and takes the nearest texel of the nearest level; levels go up to
            // 15.
            wave.scalars.insert(12, 0);
            wave.scalars.insert(13, 0xf00 << 12);
            wave.scalars.insert(14, 1 << 26);
            wave.scalars.insert(15, 0);
            let step = (1 << spacing) as f32 / 8.0;
            let x: [f32; 64] = std::array::from_fn(|lane| {
                (lane / 4) as f32 * 0.25 + 0.03 + (lane % 2) as f32 * step
            });
            let y: [f32; 64] = std::array::from_fn(|lane| {
                (lane / 16) as f32 * 0.25 + 0.03 + (lane / 2 % 2) as f32 * step
            });
            let gradient = (1 << asked) as f32 / 8.0;
            set_operands(
                &mut wave,
                operands(name, [0; 2], asked as f32, 0.0, gradient),
                [x, y],
                asked as f32,
            );
            let bits = ImageBits { dmask: 1, ..ImageBits::default() };
            let after = run(&wave, &[image(name, DATA, OPERANDS, DESCRIPTOR, 12, bits)]);
            let level = level.min(LEVELS - 1);
            for lane in 0..64 {
                let size = (8 >> level) as f32;
                let place = [x[lane], y[lane]].map(|at| ((at - at.floor()) * size) as u32);
                let at = level_texel(descriptor, level, place).expect("inside");
                let (found, expected) = (
                    f32::from_bits(after.vectors[usize::from(DATA)][lane]),
                    f32::from(wave.memory[at]) / 255.0,
                );
                assert!(
                    (found - expected).abs() < 1e-6,
                    "{name}, level {asked}, lane {lane}: {found}, not {expected}"
                );
            }
        }
    }
}
