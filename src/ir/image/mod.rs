//! Images: the contents of a descriptor, in a form of our own that all instruction sets share.
//!
//! A driver's descriptors are decoded when a launch begins, each into a [record](Image::record) of
//! [`RECORD_BYTES`] in guest memory that guest code can only read. Lifted code reads an image's
//! address arithmetic from this record.

pub mod layout;
pub mod sample;
pub mod sampler;

use layout::{Blocks, Layout, Plane};

use super::texel::{TexelFormat, TexelKind};

/// The shape of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Elements without rows, addressed by byte.
    Buffer,
    D1,
    D2,
    D3,
    /// A cube: six faces for each layer.
    Cube,
}

/// The source of a component of a texel's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Source {
    Zero = 0,
    /// 1 if the format's components are integers, else 1.0.
    One = 1,
    R = 4,
    G = 5,
    B = 6,
    A = 7,
}

impl Source {
    /// Returns the source with a number, if there is one.
    fn numbered(number: u32) -> Option<Source> {
        use Source::*;
        [Zero, One, R, G, B, A].into_iter().find(|&source| source as u32 == number)
    }
}

/// An image, as its descriptor describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Image {
    /// The guest address of level 0 of layer 0.
    pub base: u64,
    pub kind: Kind,
    /// Whether the image has layers; cubes have six faces for each of `layers`.
    pub array: bool,
    /// The width, height and depth of level 0 in texels.
    pub size: [u32; 3],
    pub layers: u32,
    /// The number of levels in memory; then the first and the last visible level.
    pub levels: u8,
    pub first_level: u8,
    pub last_level: u8,
    /// The layout of level 0; smaller levels have smaller blocks.
    pub layout: Layout,
    pub format: TexelFormat,
    /// Whether colours are sRGB encoded, if the sampler allows it.
    pub srgb: bool,
    /// The bytes of a texel.
    pub bytes: u8,
    /// The sources of red, green, blue and alpha.
    pub sources: [Source; 4],
    /// Whether formatted loads and stores are possible.
    pub formatted: bool,
    /// Whether coordinates are 0 to 1 across the image.
    pub normalized: bool,
    pub lod_bias: f32,
    /// The least level of detail, counted from `first_level`.
    pub min_lod: f32,
}

impl Image {
    fn axis(&self, axis: usize, level: u8) -> u32 {
        (self.size[axis] >> level).max(1)
    }

    pub fn plane(&self, level: u8) -> Plane {
        let [width, height, depth] = [0, 1, 2].map(|axis| self.axis(axis, level));
        Plane::new(width.saturating_mul(self.bytes.into()), height, depth, self.layout)
    }

    /// The offset of a level from level 0 of its layer.
    pub fn level_offset(&self, level: u8) -> u64 {
        (0..level).map(|level| self.plane(level).bytes()).sum()
    }

    /// The bytes from a layer to the next. Source: facts, `maxwell-surfaces.md`, section 3.4.
    pub fn layer_stride(&self) -> u64 {
        let levels = self.level_offset(self.levels);
        match self.plane(0).layout {
            Layout::Pitch(_) => levels,
            Layout::Blocks(blocks) => levels.next_multiple_of(blocks.bytes().into()),
        }
    }

    pub fn faces(&self) -> u32 {
        if self.kind == Kind::Cube { 6 } else { 1 }
    }

    /// The bytes of all layers.
    pub fn total_bytes(&self) -> u64 {
        match self.kind {
            Kind::Buffer => u64::from(self.size[0]) * u64::from(self.bytes),
            _ => self.layer_stride() * u64::from(self.layers) * u64::from(self.faces()),
        }
    }

    /// The record of the level that surface instructions access. None if this level has 4 GiB or
    /// more.
    pub fn record(&self) -> Option<[u8; RECORD_BYTES]> {
        let plane = self.plane(self.first_level);
        let row_bytes = u64::from(self.axis(0, self.first_level)) * u64::from(self.bytes);
        let (slices, stride, blocks) = match plane.layout {
            Layout::Blocks(blocks) if self.kind == Kind::D3 => {
                (plane.slices, plane.slice_stride(), blocks)
            }
            Layout::Blocks(blocks) => (self.layers * self.faces(), self.layer_stride(), blocks),
            Layout::Pitch(_) if self.kind == Kind::D3 => {
                (plane.slices, plane.slice_stride(), Blocks::default())
            }
            Layout::Pitch(_) if self.layers > 1 => {
                (self.layers, self.layer_stride(), Blocks::default())
            }
            Layout::Pitch(_) => (1, 0, Blocks::default()),
        };
        let integers = matches!(self.format.kind(), Some(TexelKind::Uint | TexelKind::Sint));
        let mut flags = flag::PRESENT;
        flags |= if matches!(plane.layout, Layout::Blocks(_)) { flag::BLOCKS } else { 0 };
        flags |= if self.kind == Kind::Buffer { flag::BUFFER } else { 0 };
        flags |= if self.formatted { flag::FORMATTED } else { 0 };
        flags |= if self.format.kind() == Some(TexelKind::Sint) { flag::SIGNED } else { 0 };
        flags |= if integers { flag::INTEGERS } else { 0 };
        flags |= if self.last_level > self.first_level { flag::LEVELS } else { 0 };
        flags |= if self.kind == Kind::D3 { flag::VOLUME } else { 0 };
        flags |= if self.base.is_multiple_of(16) { flag::ALIGNED } else { 0 };
        flags |= if row_bytes >= 16 { flag::WIDE } else { 0 };
        flags |= self.form() << flag::FORM.0;
        let row_bytes = u32::try_from(row_bytes).ok()?;
        u32::try_from(plane.slice_stride()).ok()?;
        let layout = match self.layout {
            Layout::Pitch(pitch) => pitch,
            Layout::Blocks(Blocks { height, depth }) => u32::from_le_bytes([height, depth, 0, 0]),
        };
        let sources = self.sources.iter().rev().fold(0, |all, &source| all << 4 | source as u32);
        let mut record = [0; RECORD_BYTES];
        let mut put =
            |at: u32, bytes: &[u8]| record[at as usize..][..bytes.len()].copy_from_slice(bytes);
        put(at::BASE, &(self.base + self.level_offset(self.first_level)).to_le_bytes());
        put(at::SLICE_STRIDE, &stride.to_le_bytes());
        put(at::WHOLE_BASE, &self.base.to_le_bytes());
        let words = [
            (at::ROW_BYTES, row_bytes),
            (at::ROWS, plane.rows),
            (at::SLICES, slices),
            (at::ROW_STRIDE, u32::try_from(plane.row_stride()).ok()?),
            (at::FLAGS, flags),
            (at::BLOCK_HEIGHT, blocks.height.into()),
            (at::BLOCK_DEPTH, if self.kind == Kind::D3 { blocks.depth.into() } else { 0 }),
            (at::FORMAT, self.format.0),
            (at::TEXEL_SHIFT, self.bytes.max(1).ilog2()),
            (at::SOURCES, sources),
            (at::WIDTH, self.axis(0, self.first_level)),
            (at::HEIGHT, self.axis(1, self.first_level)),
            (
                at::DEPTH,
                if self.kind == Kind::D3 { self.axis(2, self.first_level) } else { self.layers },
            ),
            (at::WHOLE_SIZE, self.size[0]),
            (at::WHOLE_SIZE + 4, self.size[1]),
            (at::WHOLE_SIZE + 8, self.size[2]),
            (at::LAYERS, self.layers),
            (
                at::LEVELS,
                u32::from_le_bytes([self.levels, self.first_level, self.last_level, self.bytes]),
            ),
            (at::TRAITS, self.traits()),
            (at::LAYOUT, layout),
            (at::LOD_BIAS, self.lod_bias.to_bits()),
            (at::MIN_LOD, self.min_lod.to_bits()),
        ];
        words.iter().for_each(|&(at, word)| put(at, &word.to_le_bytes()));
        Some(record)
    }

    /// The number of the [`Kind`], and above it whether there are layers: the value of
    /// [`flag::FORM`].
    pub fn form(&self) -> u32 {
        form(self.kind, self.array)
    }

    /// The value of [`at::TRAITS`].
    fn traits(&self) -> u32 {
        let pitch = matches!(self.layout, Layout::Pitch(_));
        let flags = [self.array, self.srgb, self.normalized, self.formatted, pitch];
        flags
            .into_iter()
            .enumerate()
            .fold(self.kind as u32, |all, (i, flag)| all | u32::from(flag) << (8 + i))
    }

    /// The image from which a record was made. None if the record means no image, or describes an
    /// impossible image.
    pub fn from_record(record: &[u8; RECORD_BYTES]) -> Option<Image> {
        let bytes = |at: u32| <[u8; 4]>::try_from(&record[at as usize..][..4]).unwrap_or_default();
        let word = |at: u32| u32::from_le_bytes(bytes(at));
        if word(at::FLAGS) & flag::PRESENT == 0 {
            return None;
        }
        let traits = word(at::TRAITS);
        let is = |i: u32| traits >> (8 + i) & 1 != 0;
        let kinds = [Kind::Buffer, Kind::D1, Kind::D2, Kind::D3, Kind::Cube];
        let [levels, first_level, last_level, texel_bytes] = bytes(at::LEVELS);
        let [height, depth, ..] = bytes(at::LAYOUT);
        let mut sources = [Source::Zero; 4];
        for (i, source) in sources.iter_mut().enumerate() {
            *source = Source::numbered(word(at::SOURCES) >> (4 * i) & 15)?;
        }
        Some(Image {
            base: u64::from(word(at::WHOLE_BASE + 4)) << 32 | u64::from(word(at::WHOLE_BASE)),
            kind: kinds.into_iter().find(|&kind| kind as u32 == traits & 255)?,
            array: is(0),
            size: [0, 4, 8].map(|axis| word(at::WHOLE_SIZE + axis)),
            layers: word(at::LAYERS),
            levels,
            first_level,
            last_level,
            layout: if is(4) {
                Layout::Pitch(word(at::LAYOUT))
            } else {
                Layout::Blocks(Blocks { height, depth })
            },
            format: TexelFormat(word(at::FORMAT)),
            srgb: is(1),
            bytes: texel_bytes,
            sources,
            formatted: is(3),
            normalized: is(2),
            lod_bias: f32::from_bits(word(at::LOD_BIAS)),
            min_lod: f32::from_bits(word(at::MIN_LOD)),
        })
    }
}

/// The value of [`flag::FORM`] for an image of this kind, with layers or without.
pub fn form(kind: Kind, array: bool) -> u32 {
    kind as u32 | u32::from(array) << 3
}

/// The bytes of an image's record. A record of zeros stands for a missing image.
pub const RECORD_BYTES: usize = 128;

/// The record of an image that exists but is not supported.
pub fn unsupported() -> [u8; RECORD_BYTES] {
    let mut record = [0; RECORD_BYTES];
    record[at::FLAGS as usize] = flag::UNSUPPORTED as u8;
    record
}

/// Offsets in an image's record. All fields are 32-bit words except three fields of 64 bits.
pub mod at {
    /// The address of the first texel of the level, 64 bits.
    pub const BASE: u32 = 0;
    pub const ROW_BYTES: u32 = 8;
    pub const ROWS: u32 = 12;
    /// The slices of a volume, or the layers.
    pub const SLICES: u32 = 16;
    /// The bytes from a row, or row of blocks, to the next.
    pub const ROW_STRIDE: u32 = 20;
    /// The bytes from a layer, or from all slices of a block, to the next, 64 bits.
    pub const SLICE_STRIDE: u32 = 24;
    /// Bits of [`flag`](super::flag). From here on, [`Shape`](super::Shape) has the words.
    pub const FLAGS: u32 = 32;
    /// Logarithms of GOBs. Layers are not parts of blocks: their depth is 0.
    pub const BLOCK_HEIGHT: u32 = 36;
    pub const BLOCK_DEPTH: u32 = 40;
    /// The number of a [`TexelFormat`](crate::texel::TexelFormat).
    pub const FORMAT: u32 = 44;
    /// The logarithm of a texel's bytes.
    pub const TEXEL_SHIFT: u32 = 48;
    /// A [`Source`](super::Source) in four bits for each of red, green, blue, alpha.
    pub const SOURCES: u32 = 52;
    /// The size of the first visible level, in texels. The depth is the depth of a volume, else the
    /// number of layers or cubes.
    pub const WIDTH: u32 = 64;
    pub const HEIGHT: u32 = 68;
    pub const DEPTH: u32 = 72;
    /// The address of the whole image, 64 bits. The fields from here on serve
    /// [`Image::from_record`](super::Image::from_record), which needs all levels.
    pub const WHOLE_BASE: u32 = 80;
    /// The size of the whole image: three words.
    pub const WHOLE_SIZE: u32 = 88;
    pub const LAYERS: u32 = 100;
    /// Four bytes: the number of levels, the first and the last visible level, the bytes of a
    /// texel.
    pub const LEVELS: u32 = 104;
    /// The number of a [`Kind`](super::Kind), and from bit 8 on: array, sRGB, normalized,
    /// formatted, pitch.
    pub const TRAITS: u32 = 108;
    /// The bytes of a row, or in two bytes the logarithms of a block's height and depth.
    pub const LAYOUT: u32 = 112;
    /// Floats.
    pub const LOD_BIAS: u32 = 116;
    pub const MIN_LOD: u32 = 120;
}

/// Bits of [`at::FLAGS`].
pub mod flag {
    pub const PRESENT: u32 = 1;
    /// There is an image that is not supported.
    pub const UNSUPPORTED: u32 = 64;
    /// The layout has blocks of GOBs.
    pub const BLOCKS: u32 = 2;
    pub const BUFFER: u32 = 4;
    pub const FORMATTED: u32 = 8;
    /// Components are signed integers.
    pub const SIGNED: u32 = 16;
    /// A row has at least 16 bytes, so that any access fits in it.
    pub const WIDE: u32 = 1024;
    /// There are several visible levels.
    pub const LEVELS: u32 = 256;
    /// The image is a volume.
    pub const VOLUME: u32 = 512;
    /// The first bit and the number of bits of the form: see [`form`](super::form).
    pub const FORM: (u32, u32) = (11, 4);
    /// Components are integers.
    pub const INTEGERS: u32 = 128;
    /// The address is a multiple of 16, which it is for all images but buffers.
    pub const ALIGNED: u32 = 32;
}

/// The properties of an image for which code is specialised: the part of a record from
/// [`at::FLAGS`] on, or an instruction set's replacement for this part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape([u32; 6]);

impl Shape {
    pub fn new(words: [u32; 6]) -> Shape {
        Shape(words)
    }

    pub fn words(&self) -> [u32; 6] {
        self.0
    }

    pub fn of(record: &[u8; RECORD_BYTES]) -> Shape {
        let words = record[at::FLAGS as usize..].chunks_exact(4);
        let mut shape = Shape([0; 6]);
        for (word, bytes) in shape.0.iter_mut().zip(words) {
            *word = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        }
        shape
    }

    /// The word at an offset of the record; none if the word is not part of the shape.
    pub fn word(&self, at: u32) -> Option<u32> {
        at.checked_sub(at::FLAGS).and_then(|at| self.0.get(at as usize / 4)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images() -> Vec<Image> {
        let plain = Image {
            base: 0x7fff_1234_5678,
            kind: Kind::D2,
            array: false,
            size: [101, 61, 1],
            layers: 1,
            levels: 1,
            first_level: 0,
            last_level: 0,
            layout: Layout::Pitch(416),
            format: TexelFormat::new(TexelKind::Unorm, [8; 4]),
            srgb: true,
            bytes: 4,
            sources: [Source::B, Source::G, Source::R, Source::A],
            formatted: false,
            normalized: true,
            lod_bias: -1.5,
            min_lod: 0.25,
        };
        let blocks = Image {
            layout: Layout::Blocks(Blocks { height: 4, depth: 3 }),
            levels: 7,
            last_level: 6,
            ..plain
        };
        let words = TexelFormat::new(TexelKind::Sint, [32; 4]);
        vec![
            plain,
            Image {
                kind: Kind::Buffer,
                size: [1 << 20, 1, 1],
                normalized: false,
                formatted: true,
                ..plain
            },
            Image { first_level: 2, last_level: 4, srgb: false, ..blocks },
            Image { kind: Kind::D1, size: [9, 1, 1], array: true, layers: 12, ..blocks },
            Image { kind: Kind::D3, size: [9, 10, 11], first_level: 1, ..blocks },
            Image {
                kind: Kind::Cube,
                size: [64, 64, 1],
                layers: 3,
                array: true,
                format: words,
                bytes: 16,
                ..blocks
            },
            Image {
                sources: [Source::Zero, Source::One, Source::A, Source::One],
                min_lod: 15.0,
                ..blocks
            },
        ]
    }

    #[test]
    fn images_come_back_from_records() {
        for image in images() {
            assert_eq!(Image::from_record(&image.record().unwrap()), Some(image));
        }
        assert_eq!(Image::from_record(&[0; RECORD_BYTES]), None);
        assert_eq!(Image::from_record(&unsupported()), None);
        assert_eq!(Image::from_record(&[0xff; RECORD_BYTES]), None);
    }

    #[test]
    fn records_say_the_size_that_is_seen() {
        let size = |image: &Image| {
            let record = image.record().unwrap();
            [at::WIDTH, at::HEIGHT, at::DEPTH].map(|at| u32::from(record[at as usize]))
        };
        let images = images();
        assert_eq!(size(&images[2]), [25, 15, 1]);
        assert_eq!(size(&images[3]), [9, 1, 12]);
        assert_eq!(size(&images[4]), [4, 5, 5]);
        assert_eq!(size(&images[5]), [64, 64, 3]);
    }
}
