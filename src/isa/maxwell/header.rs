//! Texture headers: the 32-byte entries that the low bits of a handle index.
//!
//! Source: facts, `maxwell-surfaces.md`, sections 1.2 and 2: the Maxwell format, which the compute
//! class selects.

use warploom_ir::image::layout::{Blocks, Layout, MAX_BLOCK};
use warploom_ir::image::{Image, Kind, Source};
use warploom_ir::texel::{TexelFormat, TexelKind};

pub type Header = [u32; 8];

/// Component sizes: code, name, widths from the lowest bit, bytes of a texel, and whether formatted
/// loads and stores take them.
const FORMATS: [(u32, &str, [u32; 4], u8, bool); 20] = [
    (0x01, "rgba32", [32; 4], 16, true),
    (0x02, "rgb32", [32, 32, 32, 0], 12, false),
    (0x03, "rgba16", [16; 4], 8, true),
    (0x04, "rg32", [32, 32, 0, 0], 8, true),
    (0x07, "rgbx8", [8, 8, 8, 0], 4, false),
    (0x08, "rgba8", [8; 4], 4, true),
    (0x09, "rgb10a2", [10, 10, 10, 2], 4, true),
    (0x0c, "rg16", [16, 16, 0, 0], 4, true),
    (0x0f, "r32", [32, 0, 0, 0], 4, true),
    (0x12, "rgba4", [4; 4], 2, false),
    (0x13, "r1gba5", [1, 5, 5, 5], 2, false),
    (0x14, "rgb5a1", [5, 5, 5, 1], 2, false),
    (0x15, "r5g6b5", [5, 6, 5, 0], 2, false),
    (0x16, "rg5b6", [5, 5, 6, 0], 2, false),
    (0x18, "rg8", [8, 8, 0, 0], 2, true),
    (0x1b, "r16", [16, 0, 0, 0], 2, true),
    (0x1d, "r8", [8, 0, 0, 0], 1, true),
    (0x20, "rgb9e5", [9, 9, 9, 5], 4, false),
    (0x21, "r11g11b10", [11, 11, 10, 0], 4, true),
    (0x08, "bgra8", [8; 4], 4, true),
];
const SHARED_EXPONENT: u32 = 0x20;

/// Data types of components: code, name, and kind.
const TYPES: [(u32, &str, TexelKind); 6] = [
    (1, "snorm", TexelKind::Snorm),
    (2, "unorm", TexelKind::Unorm),
    (3, "sint", TexelKind::Sint),
    (4, "uint", TexelKind::Uint),
    (7, "float", TexelKind::FloatCut),
    (2, "srgb", TexelKind::Srgb),
];

/// Sources of components, by code.
const SOURCES: [(u32, Source); 7] = [
    (0, Source::Zero),
    (2, Source::R),
    (3, Source::G),
    (4, Source::B),
    (5, Source::A),
    (6, Source::One),
    (7, Source::One),
];
const INTEGER_ONE: u32 = 6;
const FLOAT_ONE: u32 = 7;

/// Header versions.
mod version {
    pub const BUFFER: u32 = 0;
    pub const PITCH: u32 = 2;
    pub const BLOCKS: u32 = 3;
}

/// Texture types: code, kind, and whether it has layers.
const KINDS: [(u32, Kind, bool); 9] = [
    (0, Kind::D1, false),
    (1, Kind::D2, false),
    (2, Kind::D3, false),
    (3, Kind::Cube, false),
    (4, Kind::D1, true),
    (5, Kind::D2, true),
    (6, Kind::Buffer, false),
    (7, Kind::D2, false),
    (8, Kind::Cube, true),
];
const WITHOUT_LEVELS: u32 = 7;

/// The border colour type for which the sampler gives the border colour.
const BORDER_OF_SAMPLER: u32 = 7;
const MAX_LEVELS: u8 = 15;

/// Rows of pitch images, and the distance between rows, are multiples of this number of bytes.
pub const PITCH_ALIGN: u32 = 32;

fn bits(word: u32, lo: u32, count: u32) -> u32 {
    word >> lo & (u32::MAX >> (32 - count))
}

/// Decodes a fixed point number of `count` bits, 8 of them fractional.
fn fixed(field: u32, count: u32, signed: bool) -> f32 {
    let field = field << (32 - count);
    let value = if signed {
        i64::from(field as i32 >> (32 - count))
    } else {
        i64::from(field >> (32 - count))
    };
    value as f32 / 256.0
}

/// Decodes a header. None: there is no image.
///
/// # Errors
/// The header asks for an unsupported feature, which the error names.
pub fn decode(w: &Header) -> Result<Option<Image>, &'static str> {
    if *w == [0; 8] {
        return Ok(None);
    }
    let (code, version) = (bits(w[0], 0, 7), bits(w[2], 21, 3));
    let &(_, _, widths, bytes, formatted) =
        FORMATS.iter().find(|format| format.0 == code).ok_or("component sizes")?;
    let types: [u32; 4] = std::array::from_fn(|i| bits(w[0], 7 + 3 * i as u32, 3));
    if (1..4).any(|i| widths[i] > 0 && types[i] != types[0]) {
        return Err("data types that differ");
    }
    let &(_, _, kind) = TYPES.iter().find(|ty| ty.0 == types[0]).ok_or("data type")?;
    let kind = if code == SHARED_EXPONENT { TexelKind::SharedExponent } else { kind };
    let mut sources = [Source::Zero; 4];
    for (i, source) in sources.iter_mut().enumerate() {
        let code = bits(w[0], 19 + 3 * i as u32, 3);
        *source = SOURCES.iter().find(|known| known.0 == code).ok_or("component source")?.1;
    }
    let &(_, shape, array) =
        KINDS.iter().find(|known| known.0 == bits(w[4], 23, 4)).ok_or("texture type")?;
    let srgb = bits(w[4], 22, 1) != 0;
    let high = u64::from(bits(w[2], 0, 16)) << 32;
    let texel = TexelFormat::new(kind, widths);
    let format = Format { texel, srgb, formatted: formatted && !srgb, bytes, sources };
    let size = [bits(w[4], 0, 16) + 1, bits(w[5], 0, 16) + 1, 1];
    let one_level = Image {
        base: high | u64::from(w[1]),
        array,
        normalized: bits(w[5], 31, 1) != 0,
        ..format.image(shape, size, Layout::Pitch(0))
    };
    match version {
        version::BUFFER => {
            let width = bits(w[4], 0, 16) | bits(w[3], 0, 16) << 16;
            let width = width.checked_add(1).ok_or("a buffer of 2^32 elements")?;
            Ok(Some(Image {
                kind: Kind::Buffer,
                array: false,
                size: [width, 1, 1],
                normalized: false,
                ..one_level
            }))
        }
        version::PITCH if shape == Kind::D2 && !array => {
            let layout = Layout::Pitch(bits(w[3], 0, 16) << 5);
            Ok(Some(Image {
                base: high | u64::from(w[1] & !(PITCH_ALIGN - 1)),
                layout,
                ..one_level
            }))
        }
        version::PITCH => Err("a pitch image that is not 2D"),
        version::BLOCKS => blocks(w, &one_level),
        _ => Err("header version"),
    }
}

/// Decodes a block-linear image.
fn blocks(w: &Header, image: &Image) -> Result<Option<Image>, &'static str> {
    let unsupported = [
        (bits(w[1], 5, 2) | bits(w[3], 13, 1), "3-D GOBs"),
        (bits(w[3], 0, 3), "blocks of several columns of GOBs"),
        (bits(w[3], 10, 3), "sparse tiles of several GOBs"),
        (bits(w[2], 16, 5) | bits(w[2], 29, 3) | bits(w[4], 16, 3), "a base layer"),
        (bits(w[7], 8, 4), "several samples"),
    ];
    if let Some((_, what)) = unsupported.into_iter().find(|&(field, _)| field != 0) {
        return Err(what);
    }
    let (height, depth) = (bits(w[3], 3, 3) as u8, bits(w[3], 6, 3) as u8);
    if height > MAX_BLOCK || depth > MAX_BLOCK {
        return Err("blocks of more than 32 GOBs");
    }
    let (first_level, last_level) = (bits(w[7], 0, 4) as u8, bits(w[7], 4, 4) as u8);
    if first_level > last_level {
        return Ok(None);
    }
    let layers = bits(w[5], 16, 14) + 1;
    let volume = image.kind == Kind::D3;
    let flat = image.kind == Kind::D1;
    Ok(Some(Image {
        base: image.base & !511,
        size: [
            image.size[0],
            if flat { 1 } else { image.size[1] },
            if volume { layers } else { 1 },
        ],
        layers: if volume || !(image.array || image.kind == Kind::Cube) { 1 } else { layers },
        levels: bits(w[3], 28, 4) as u8 + 1,
        first_level,
        last_level: last_level.min(bits(w[3], 28, 4) as u8),
        layout: Layout::Blocks(Blocks { height, depth }),
        // Without the header's own control, the sampler's bias applies.
        lod_bias: if bits(w[3], 26, 1) != 0 { fixed(bits(w[6], 6, 13), 13, true) } else { 0.0 },
        min_lod: fixed(bits(w[7], 12, 12), 12, false),
        ..*image
    }))
}

/// The meaning of a format's name, such as `rgba8_unorm`: the texel, its bytes, and the kind of its
/// components.
pub struct Format {
    pub texel: TexelFormat,
    pub srgb: bool,
    pub formatted: bool,
    pub bytes: u8,
    pub sources: [Source; 4],
}

impl Format {
    /// Returns an image of this format at address 0, with one level and one layer, and coordinates
    /// in texels.
    pub fn image(&self, kind: Kind, size: [u32; 3], layout: Layout) -> Image {
        Image {
            base: 0,
            kind,
            array: false,
            size,
            layers: 1,
            levels: 1,
            first_level: 0,
            last_level: 0,
            layout,
            format: self.texel,
            srgb: self.srgb,
            bytes: self.bytes,
            sources: self.sources,
            formatted: self.formatted,
            normalized: false,
            lod_bias: 0.0,
            min_lod: 0.0,
        }
    }

    /// Returns the format of a name. None: no format has that name.
    pub fn named(name: &str) -> Option<Format> {
        let (texel, number) = name.split_once('_')?;
        let &(code, name, widths, bytes, formatted) =
            FORMATS.iter().find(|format| format.1 == texel)?;
        let &(_, _, kind) = TYPES.iter().find(|ty| ty.1 == number)?;
        let normal = matches!(kind, TexelKind::Unorm | TexelKind::Snorm);
        let possible = match kind {
            _ if code == SHARED_EXPONENT || texel == "r11g11b10" => kind == TexelKind::FloatCut,
            TexelKind::FloatCut => widths[0] >= 16,
            TexelKind::Srgb => widths[0] == 8,
            TexelKind::Uint | TexelKind::Sint => formatted || widths[0] == 32,
            _ => normal && widths[0] <= 16,
        };
        let srgb = kind == TexelKind::Srgb;
        let kind = match kind {
            TexelKind::Srgb => TexelKind::Unorm,
            _ if code == SHARED_EXPONENT => TexelKind::SharedExponent,
            kind => kind,
        };
        let order = if name == "bgra8" { [2, 1, 0, 3] } else { [0, 1, 2, 3] };
        let from = [Source::R, Source::G, Source::B, Source::A];
        let has = |i: usize| widths[i] > 0 && !(code == SHARED_EXPONENT && i == 3);
        let absent = |i: usize| if i == 3 { Source::One } else { Source::Zero };
        let sources = [0, 1, 2, 3].map(|i| if has(order[i]) { from[order[i]] } else { absent(i) });
        possible.then_some(Format {
            texel: TexelFormat::new(kind, widths),
            srgb,
            formatted: formatted && !srgb,
            bytes,
            sources,
        })
    }
}

/// Encodes the header of an image, as a driver writes it. Levels of detail are rounded to the
/// nearest value that headers can hold.
///
/// # Errors
/// Headers cannot express the named property of the image.
pub fn encode(image: &Image) -> Result<Header, &'static str> {
    let kind = image.format.kind().ok_or("the format")?;
    let widths = image.format.widths();
    let &(code, ..) = FORMATS.iter().find(|format| format.2 == widths).ok_or("the format")?;
    let kind = if kind == TexelKind::SharedExponent { TexelKind::FloatCut } else { kind };
    let &(ty, ..) = TYPES.iter().find(|ty| ty.2 == kind).ok_or("the format")?;
    let integers = matches!(kind, TexelKind::Uint | TexelKind::Sint);
    let source = |source: Source| match source {
        Source::One if integers => INTEGER_ONE,
        Source::One => FLOAT_ONE,
        source => SOURCES.iter().find(|known| known.1 == source).map_or(0, |known| known.0),
    };
    let mut w = Header::default();
    w[0] = code | ty << 7 | ty << 10 | ty << 13 | ty << 16;
    for (i, &from) in image.sources.iter().enumerate() {
        w[0] |= source(from) << (19 + 3 * i);
    }
    w[1] = image.base as u32;
    w[2] = u32::try_from(image.base >> 32)
        .ok()
        .filter(|&high| high < 1 << 16)
        .ok_or("an address above 2^48")?;
    let (volume, flat) = (image.kind == Kind::D3, image.kind == Kind::D1);
    let deep = if volume { image.size[2] } else { image.layers };
    let texture_type = match (image.kind, image.array, image.layout) {
        (Kind::D2, false, Layout::Pitch(_)) => WITHOUT_LEVELS,
        (kind, array, _) => {
            KINDS
                .iter()
                .find(|known| (known.1, known.2) == (kind, array))
                .ok_or("the kind of image")?
                .0
        }
    };
    w[4] = texture_type << 23 | u32::from(image.srgb) << 22;
    if image.kind == Kind::Buffer {
        let last = image.size[0].checked_sub(1).ok_or("a buffer without elements")?;
        w[2] |= version::BUFFER << 21;
        w[3] = last >> 16;
        w[4] |= last & 0xffff;
        return Ok(w);
    }
    let field = |value: u32, count: u32, what| {
        value.checked_sub(1).filter(|&field| field < 1 << count).ok_or(what)
    };
    w[4] |= field(image.size[0], 16, "a width above 65536")? | BORDER_OF_SAMPLER << 29;
    w[5] = field(if flat { 1 } else { image.size[1] }, 16, "a height above 65536")?
        | field(deep, 14, "a depth above 16384")? << 16
        | u32::from(image.normalized) << 31;
    match image.layout {
        Layout::Pitch(pitch) => {
            if !(pitch.is_multiple_of(PITCH_ALIGN) && pitch >> 5 < 1 << 16) {
                return Err("a pitch that is not a multiple of 32 below 2 MiB");
            }
            w[2] |= version::PITCH << 21;
            w[3] = pitch >> 5;
        }
        Layout::Blocks(Blocks { height, depth }) => {
            if image.levels == 0 || image.levels > MAX_LEVELS || image.last_level >= image.levels {
                return Err("so many levels");
            }
            w[2] |= version::BLOCKS << 21;
            w[3] =
                u32::from(height) << 3 | u32::from(depth) << 6 | u32::from(image.levels - 1) << 28;
            // A NaN becomes 0.
            let fixed = |value: f32, least: f32, most: f32| {
                (value * 256.0).round_ties_even().clamp(least, most) as i32
            };
            let bias = fixed(image.lod_bias, -4096.0, 4095.0);
            w[3] |= u32::from(bias != 0) << 26;
            w[6] = (bias as u32 & 0x1fff) << 6;
            w[7] = u32::from(image.first_level) | u32::from(image.last_level) << 4;
            w[7] |= (fixed(image.min_lod, 0.0, 4095.0) as u32) << 12;
        }
    }
    Ok(w)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(name: &str) -> Image {
        let format = Format::named(name).unwrap();
        Image { base: 0x7fff_1234_5000, ..format.image(Kind::D2, [100, 60, 1], Layout::Pitch(416)) }
    }

    #[test]
    fn headers_say_what_images_are() {
        let blocks = Layout::Blocks(Blocks { height: 4, depth: 1 });
        let plain = image("rgba8_unorm");
        let images = [
            plain,
            Image {
                kind: Kind::Buffer,
                size: [1 << 20, 1, 1],
                layout: Layout::Pitch(0),
                ..image("rgb32_float")
            },
            Image { layout: blocks, base: 0x1_0000, levels: 7, last_level: 6, ..image("r32_uint") },
            Image {
                layout: blocks,
                kind: Kind::D3,
                size: [5, 6, 7],
                first_level: 1,
                last_level: 1,
                levels: 3,
                ..plain
            },
            Image {
                layout: blocks,
                kind: Kind::D2,
                array: true,
                layers: 9,
                normalized: true,
                ..image("rg16_sint")
            },
            Image {
                layout: blocks,
                kind: Kind::D1,
                array: true,
                layers: 9,
                size: [70, 1, 1],
                ..image("r16_float")
            },
            Image { layout: blocks, kind: Kind::Cube, layers: 1, ..image("rgba8_srgb") },
            Image { layout: blocks, lod_bias: -1.5, min_lod: 0.25, ..image("bgra8_unorm") },
            Image { layout: blocks, ..image("rgb9e5_float") },
        ];
        for mut image in images {
            if image.layout == blocks {
                image.base = 0x7fff_1234_5000;
            }
            assert_eq!(decode(&encode(&image).unwrap()), Ok(Some(image)));
        }
        assert_eq!(decode(&[0; 8]), Ok(None));
    }

    #[test]
    fn strange_headers_are_refused() {
        let good = encode(&image("r32_uint")).unwrap();
        let mut other = good;
        other[0] = other[0] & !0x7f | 0x24;
        assert_eq!(decode(&other), Err("component sizes"));
        let mut other = good;
        other[2] |= 7 << 21;
        assert_eq!(decode(&other), Err("header version"));
        assert!(encode(&Image { size: [1 << 17, 1, 1], ..image("r32_uint") }).is_err());
        assert!(Format::named("r8_float").is_none() && Format::named("r7_uint").is_none());
    }

    #[test]
    fn levels_follow_each_other() {
        // The test vector of the facts: 100 x 60, 4 bytes, 7 levels, blocks of 16 GOBs.
        let blocks = Layout::Blocks(Blocks { height: 4, depth: 0 });
        let image =
            Image { layout: blocks, base: 0, levels: 7, last_level: 6, ..image("r32_uint") };
        let offsets: Vec<u64> = (0..7).map(|level| image.level_offset(level)).collect();
        assert_eq!(offsets, [0, 28672, 36864, 38912, 39424, 39936, 40448]);
        assert_eq!(image.layer_stride(), 40960);
    }
}
