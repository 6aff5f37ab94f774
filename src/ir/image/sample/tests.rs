use std::convert::Infallible;

use super::super::layout::Blocks;
use super::super::sampler::{CompareFn, RECORD_BYTES};
use super::super::{Source, TexelFormat, TexelKind};
use super::*;

/// A generator of numbers of low quality.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 32) as u32 ^ self.0 as u32 >> 13
    }

    fn below(&mut self, most: u32) -> u32 {
        self.word() % most
    }

    /// The bits of a float that is a plausible texture coordinate.
    fn coordinate(&mut self) -> u32 {
        match self.below(4) {
            0 => self.word(),
            1 => [f32::NAN, f32::INFINITY, -f32::INFINITY, 0.0, -0.0, 1.0, f32::MAX, f32::MIN]
                [self.below(8) as usize]
                .to_bits(),
            _ => (self.below(1 << 12) as f32 / 512.0 - 3.0).to_bits(),
        }
    }

    fn query(&mut self) -> Query {
        Query {
            coords: [0; 3]
                .map(|_| if self.below(2) == 0 { self.coordinate() } else { self.below(20) }),
            layer: if self.below(4) == 0 { self.word() } else { self.below(8) },
            lod: if self.below(2) == 0 { self.coordinate() } else { self.below(4) },
            reference: self.coordinate(),
            offset: [0; 3].map(|_| {
                if self.below(8) == 0 { self.word() as i32 } else { self.below(16) as i32 - 8 }
            }),
        }
    }

    fn operation(&mut self) -> Operation {
        match self.below(5) {
            0 => Operation::Sample,
            1 => Operation::Fetch,
            2 => Operation::FetchNearest,
            3 => Operation::FetchAddressed,
            _ => Operation::Gather { component: self.word() as u8 },
        }
    }

    fn sampler(&mut self) -> Sampler {
        Sampler::from_record(&[0; RECORD_BYTES].map(|_: u8| self.word() as u8))
    }

    fn image(&mut self) -> Image {
        let kind = [Kind::D1, Kind::D2, Kind::D3, Kind::Cube, Kind::Buffer][self.below(5) as usize];
        let buffer = kind == Kind::Buffer;
        let [width, height, depth] = [0; 3].map(|_| 1 + self.below(20));
        let levels = if buffer { 1 } else { 1 + self.below(5) as u8 };
        let array = !buffer && self.below(2) == 0;
        let pitch = Layout::Pitch(352);
        let blocks =
            Layout::Blocks(Blocks { height: self.below(6) as u8, depth: self.below(6) as u8 });
        Image {
            base: 0x12_3456_7800,
            kind,
            array,
            size: [
                width,
                if kind == Kind::D1 { 1 } else { height },
                if kind == Kind::D3 { depth } else { 1 },
            ],
            layers: if array { 1 + self.below(5) } else { 1 },
            levels,
            first_level: self.below(levels.into()) as u8,
            last_level: self.below(8) as u8,
            layout: if buffer || self.below(4) == 0 { pitch } else { blocks },
            format: TexelFormat::new(TexelKind::Float, [16; 4]),
            srgb: self.below(2) == 0,
            bytes: 8,
            sources: [Source::R, Source::One, Source::B, Source::A],
            formatted: true,
            normalized: self.below(2) == 0,
            lod_bias: 0.0,
            min_lod: self.below(3) as f32,
        }
    }
}

fn sample<R: Read>(
    operation: Operation,
    image: &Image,
    sampler: &Sampler,
    query: &Query,
    read: R,
) -> Result<([u32; 4], bool), R::Error> {
    View::new(image, sampler).sample(operation, query, read)
}

fn level_of_gradients(image: &Image, sampler: &Sampler, dx: [f32; 3], dy: [f32; 3]) -> f32 {
    View::new(image, sampler).level_of_gradients(dx, dy)
}

const SIZES: [u32; 10] = [0, 1, 2, 3, 100, 1 << 16, (1 << 16) + 1, 1 << 17, 1 << 31, u32::MAX];

#[test]
fn nothing_outside_of_an_image_is_read() {
    let mut random = Random(1);
    let mut reads = 0;
    for _ in 0..100_000 {
        let (operation, image, sampler, query) =
            (random.operation(), random.image(), random.sampler(), random.query());
        let all = image.base..image.base + image.total_bytes();
        let mut read = |at: u64, bytes: &mut [u8]| {
            reads += 1;
            let inside = all.contains(&at) && at + bytes.len() as u64 <= all.end;
            if inside { Ok(false) } else { Err(at - image.base) }
        };
        if let Err(at) = sample(operation, &image, &sampler, &query, &mut read) {
            panic!("{at:#x} of {image:?} read by {operation:?} {query:x?} {sampler:?}");
        }
    }
    assert!(reads > 50_000, "{reads}");
}

#[test]
fn strange_images_are_no_problem() {
    let mut random = Random(2);
    for _ in 0..200_000 {
        let mut image = random.image();
        for _ in 0..=random.below(3) {
            let word = random.word();
            match random.below(12) {
                0 => image.size = [0; 3].map(|_| SIZES[random.below(10) as usize]),
                1 => image.levels = word as u8,
                2 => image.first_level = word as u8,
                3 => image.last_level = word as u8,
                4 => image.bytes = word as u8,
                5 => image.layers = if word & 1 == 0 { word } else { word >> 15 },
                6 => image.layout = Layout::Pitch(if word & 1 == 0 { word } else { word >> 8 }),
                7 => {
                    image.layout =
                        Layout::Blocks(Blocks { height: word as u8, depth: (word >> 8) as u8 })
                }
                8 => image.format = TexelFormat(word),
                9 => image.base = u64::MAX - 100,
                10 => {
                    (image.min_lod, image.lod_bias) =
                        (f32::from_bits(word), f32::from_bits(random.word()))
                }
                _ => image.array = !image.array,
            }
        }
        let (operation, sampler, query) = (random.operation(), random.sampler(), random.query());
        let read = &mut |_: u64, bytes: &mut [u8]| {
            bytes.fill(0xa5);
            Ok::<_, Infallible>(true)
        };
        let _ = sample(operation, &image, &sampler, &query, read);
        let [dx, dy] = [0; 2].map(|_| [0; 3].map(|_| f32::from_bits(random.word())));
        level_of_gradients(&image, &sampler, dx, dy);
    }
}

/// 4 x 2 texels of one byte, which is the texel's number.
fn numbers() -> Image {
    Image {
        base: 0,
        kind: Kind::D2,
        array: false,
        size: [4, 2, 1],
        layers: 1,
        levels: 1,
        first_level: 0,
        last_level: 0,
        layout: Layout::Pitch(4),
        format: TexelFormat::new(TexelKind::Uint, [8, 0, 0, 0]),
        srgb: false,
        bytes: 1,
        sources: [Source::R, Source::Zero, Source::Zero, Source::One],
        formatted: true,
        normalized: true,
        lod_bias: 0.0,
        min_lod: 0.0,
    }
}

fn value(operation: Operation, image: &Image, sampler: &Sampler, query: Query) -> [u32; 4] {
    let read = &mut |at: u64, bytes: &mut [u8]| {
        bytes[0] = at as u8;
        Ok::<_, Infallible>(false)
    };
    sample(operation, image, sampler, &query, read).unwrap().0
}

#[test]
fn texels_of_a_small_image() {
    let at = |x: f32, y: f32| Query { coords: [x.to_bits(), y.to_bits(), 0], ..Query::default() };
    let sampler = Sampler::default();
    assert_eq!(value(Operation::Sample, &numbers(), &sampler, at(0.6, 0.6)), [6, 0, 0, 1]);
    // Counter-clockwise from the lower left; rows go down.
    assert_eq!(
        value(Operation::Gather { component: 0 }, &numbers(), &sampler, at(0.5, 0.5)),
        [5, 6, 2, 1]
    );
    let fetch = Query { coords: [3, 1, 0], ..Query::default() };
    assert_eq!(value(Operation::Fetch, &numbers(), &sampler, fetch), [7, 0, 0, 1]);
    let outside = Query { coords: [3, 2, 0], ..Query::default() };
    assert_eq!(value(Operation::Fetch, &numbers(), &sampler, outside), [0; 4]);
    assert_eq!(value(Operation::FetchNearest, &numbers(), &sampler, outside), [7, 0, 0, 1]);
    let before = Query { coords: [-3i32 as u32, 1, 0], ..Query::default() };
    assert_eq!(value(Operation::FetchNearest, &numbers(), &sampler, before), [4, 0, 0, 1]);
    let border = Sampler {
        wrap: [Wrap::Border, Wrap::Repeat, Wrap::ClampToEdge],
        border: [9, 8, 7, 6],
        ..sampler
    };
    assert_eq!(value(Operation::FetchAddressed, &numbers(), &sampler, outside), [7, 0, 0, 1]);
    assert_eq!(value(Operation::FetchAddressed, &numbers(), &border, outside), [7, 0, 0, 1]);
    assert_eq!(value(Operation::FetchAddressed, &numbers(), &border, before), [9, 8, 7, 6]);

    let format = TexelFormat::new(TexelKind::Unorm, [8, 0, 0, 0]);
    let colours = Image { format, ..numbers() };
    let linear = Sampler { mag: Filter::Linear, ..sampler };
    let middle = value(Operation::Sample, &colours, &linear, at(0.5, 0.5)).map(f32::from_bits);
    // The sum has 16 bits.
    assert_eq!(middle[0], 900.0 / 65535.0);
    let compare = Sampler { compare: Some(CompareFn::Less), ..linear };
    let query = Query { reference: (4.5f32 / 255.0).to_bits(), ..at(0.5, 0.5) };
    assert_eq!(value(Operation::Sample, &colours, &compare, query).map(f32::from_bits), [0.5; 4]);
}

#[test]
fn an_error_ends_all() {
    let read = &mut |at: u64, _: &mut [u8]| if at == 0 { Ok(true) } else { Err("no page") };
    let query = Query::default();
    let image = numbers();
    assert_eq!(
        sample(Operation::Sample, &image, &Sampler::default(), &query, &mut *read),
        Ok(([0, 0, 0, 1], true))
    );
    assert_eq!(
        sample(
            Operation::Gather { component: 0 },
            &image,
            &Sampler::default(),
            &Query { coords: [0x3f00_0000; 3], ..query },
            read
        ),
        Err("no page")
    );
}

#[test]
fn levels_from_gradients() {
    let image = Image { size: [64, 32, 1], levels: 3, last_level: 2, ..numbers() };
    let sampler = Sampler::default();
    assert_eq!(
        level_of_gradients(&image, &sampler, [1.0 / 16.0, 0.0, 9.0], [0.0, 1.0 / 16.0, 0.0]),
        2.0
    );
    let raw = Sampler { force_unnormalized: true, ..sampler };
    assert_eq!(
        level_of_gradients(&image, &raw, [3.0, 4.0, 0.0], [0.0; 3]),
        (4.0 + 3.0 * 11.0 / 32.0f32).log2()
    );
    assert_eq!(level_of_gradients(&image, &raw, [0.0; 3], [0.0; 3]), f32::NEG_INFINITY);
}
