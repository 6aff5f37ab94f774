//! Samplers: the mapping from coordinates to texels, and from texels to a value.
//!
//! Source: facts, `maxwell-surfaces.md`, section 1.4, in a form of our own that all instruction
//! sets share.

/// The continuation of an image beyond its edges along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Wrap {
    /// The image repeats. Like `ClampToEdge` if coordinates are not normalized.
    Repeat = 0,
    /// The image repeats, mirrored every other time. Like `ClampToEdge` if coordinates are not
    /// normalized.
    Mirror = 1,
    /// The outermost texel.
    ClampToEdge = 2,
    /// The border colour.
    Border = 3,
    /// Coordinates end at the image's edge: half the outermost texel, half the border colour if
    /// texels are filtered.
    Clamp = 4,
    /// The image is mirrored at 0, then continues like the mode of similar name.
    MirrorOnceToEdge = 5,
    MirrorOnceBorder = 6,
    MirrorOnceClamp = 7,
}

impl Wrap {
    /// All modes, by number.
    pub const ALL: [Wrap; 8] = {
        use Wrap::*;
        [
            Repeat,
            Mirror,
            ClampToEdge,
            Border,
            Clamp,
            MirrorOnceToEdge,
            MirrorOnceBorder,
            MirrorOnceClamp,
        ]
    };

    /// The mode with a number. Bits past the third are ignored.
    pub fn numbered(number: u32) -> Wrap {
        Self::ALL[number as usize % 8]
    }

    pub fn name(self) -> &'static str {
        match self {
            Wrap::Repeat => "wrap",
            Wrap::Mirror => "mirror",
            Wrap::ClampToEdge => "clamp_to_edge",
            Wrap::Border => "border",
            Wrap::Clamp => "clamp",
            Wrap::MirrorOnceToEdge => "mirror_once_to_edge",
            Wrap::MirrorOnceBorder => "mirror_once_border",
            Wrap::MirrorOnceClamp => "mirror_once_clamp",
        }
    }

    pub fn named(name: &str) -> Option<Wrap> {
        Self::ALL.into_iter().find(|wrap| wrap.name() == name)
    }
}

/// The filter that makes a value from texels of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Filter {
    Point = 0,
    Linear = 1,
}

/// The filter that makes a value from levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MipFilter {
    /// Only the first visible level counts.
    None = 0,
    Point = 1,
    Linear = 2,
}

/// The relation of the reference to the texel, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CompareFn {
    Never = 0,
    Less = 1,
    Equal = 2,
    LessEqual = 3,
    Greater = 4,
    NotEqual = 5,
    GreaterEqual = 6,
    Always = 7,
}

impl CompareFn {
    /// All relations, by number.
    pub const ALL: [CompareFn; 8] = {
        use CompareFn::*;
        [Never, Less, Equal, LessEqual, Greater, NotEqual, GreaterEqual, Always]
    };

    /// The relation with a number. Bits past the third are ignored.
    pub fn numbered(number: u32) -> CompareFn {
        Self::ALL[number as usize % 8]
    }

    pub fn name(self) -> &'static str {
        match self {
            CompareFn::Never => "never",
            CompareFn::Less => "less",
            CompareFn::Equal => "equal",
            CompareFn::LessEqual => "lequal",
            CompareFn::Greater => "greater",
            CompareFn::NotEqual => "notequal",
            CompareFn::GreaterEqual => "gequal",
            CompareFn::Always => "always",
        }
    }

    pub fn named(name: &str) -> Option<CompareFn> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }

    /// Returns whether the relation holds. For a NaN only `NotEqual` and `Always` hold.
    pub fn holds(self, reference: f32, texel: f32) -> bool {
        match self {
            CompareFn::Never => false,
            CompareFn::Less => reference < texel,
            CompareFn::Equal => reference == texel,
            CompareFn::LessEqual => reference <= texel,
            CompareFn::Greater => reference > texel,
            CompareFn::NotEqual => reference != texel,
            CompareFn::GreaterEqual => reference >= texel,
            CompareFn::Always => true,
        }
    }
}

/// A sampler, as its descriptor describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampler {
    /// The modes along x, y and z.
    pub wrap: [Wrap; 3],
    /// The filter for levels of detail up to 0; then the filter above 0.
    pub mag: Filter,
    pub min: Filter,
    pub mip: MipFilter,
    /// If present, the value is the share of the texels that fulfil this relation.
    pub compare: Option<CompareFn>,
    /// Whether colours of sRGB encoded images are decoded.
    pub srgb_allowed: bool,
    /// Whether texels are filtered across the edges of a cube's faces; `wrap` does not count for
    /// cubes.
    pub seamless: bool,
    pub lod_bias: f32,
    pub min_lod: f32,
    pub max_lod: f32,
    /// Whether coordinates are in texels, whatever the image says.
    pub force_unnormalized: bool,
    /// The bits of the border colour's components as they are returned.
    pub border: [u32; 4],
    /// Red, green and blue of the border if texels are sRGB decoded.
    pub srgb_border: [u8; 3],
}

/// The greatest level of detail of descriptors: fixed point, four bits and eight places.
const MAX_LOD: f32 = 4095.0 / 256.0;

impl Default for Sampler {
    /// One texel of the first level; beyond the edge, the outermost texel.
    fn default() -> Self {
        Sampler {
            wrap: [Wrap::ClampToEdge; 3],
            mag: Filter::Point,
            min: Filter::Point,
            mip: MipFilter::None,
            compare: None,
            srgb_allowed: false,
            seamless: false,
            lod_bias: 0.0,
            min_lod: 0.0,
            max_lod: MAX_LOD,
            force_unnormalized: false,
            border: [0; 4],
            srgb_border: [0; 3],
        }
    }
}

/// The bytes of a sampler's record.
pub const RECORD_BYTES: usize = 64;

/// Bits of a record's first word.
mod bit {
    /// The mode of x; three bits for each axis.
    pub const WRAP: u32 = 0;
    pub const MAG: u32 = 9;
    pub const MIN: u32 = 10;
    /// Two bits.
    pub const MIP: u32 = 11;
    /// Whether there is a comparison; then its three bits.
    pub const COMPARES: u32 = 13;
    pub const COMPARE: u32 = 14;
    pub const SRGB: u32 = 17;
    pub const SEAMLESS: u32 = 18;
    pub const UNNORMALIZED: u32 = 19;
}

impl Sampler {
    /// The sampler as bytes that guest memory can hold.
    pub fn record(&self) -> [u8; RECORD_BYTES] {
        let axis = |axis: u32| (self.wrap[axis as usize] as u32) << (bit::WRAP + 3 * axis);
        let compare = self
            .compare
            .map_or(0, |function| 1 << bit::COMPARES | (function as u32) << bit::COMPARE);
        let flags = axis(0)
            | axis(1)
            | axis(2)
            | (self.mag as u32) << bit::MAG
            | (self.min as u32) << bit::MIN
            | (self.mip as u32) << bit::MIP
            | compare
            | u32::from(self.srgb_allowed) << bit::SRGB
            | u32::from(self.seamless) << bit::SEAMLESS
            | u32::from(self.force_unnormalized) << bit::UNNORMALIZED;
        let [r, g, b] = self.srgb_border;
        let floats = [self.lod_bias, self.min_lod, self.max_lod].map(f32::to_bits);
        let words = [flags]
            .into_iter()
            .chain(floats)
            .chain(self.border)
            .chain([u32::from_le_bytes([r, g, b, 0])]);
        let mut record = [0; RECORD_BYTES];
        for (bytes, word) in record.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        record
    }

    /// Reads a sampler from a record. Any bytes are a valid sampler.
    pub fn from_record(record: &[u8; RECORD_BYTES]) -> Sampler {
        let mut words = [0; RECORD_BYTES / 4];
        for (word, bytes) in words.iter_mut().zip(record.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        let [flags, bias, min, max, red, green, blue, alpha, srgb, ..] = words;
        let has = |bit: u32| flags >> bit & 1 != 0;
        let filter = |bit: u32| if has(bit) { Filter::Linear } else { Filter::Point };
        let [r, g, b, _] = srgb.to_le_bytes();
        Sampler {
            wrap: [0, 3, 6].map(|axis| Wrap::numbered(flags >> (bit::WRAP + axis))),
            mag: filter(bit::MAG),
            min: filter(bit::MIN),
            mip: match flags >> bit::MIP & 3 {
                0 => MipFilter::None,
                1 => MipFilter::Point,
                _ => MipFilter::Linear,
            },
            compare: has(bit::COMPARES).then(|| CompareFn::numbered(flags >> bit::COMPARE)),
            srgb_allowed: has(bit::SRGB),
            seamless: has(bit::SEAMLESS),
            lod_bias: f32::from_bits(bias),
            min_lod: f32::from_bits(min),
            max_lod: f32::from_bits(max),
            force_unnormalized: has(bit::UNNORMALIZED),
            border: [red, green, blue, alpha],
            srgb_border: [r, g, b],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplers_come_back() {
        let mut samplers = vec![Sampler::default()];
        for (i, (wrap, function)) in Wrap::ALL.into_iter().zip(CompareFn::ALL).enumerate() {
            samplers.push(Sampler {
                wrap: [wrap, Wrap::ALL[(i + 3) % 8], Wrap::ALL[(i + 5) % 8]],
                mag: if i % 2 == 0 { Filter::Linear } else { Filter::Point },
                min: if i % 3 == 0 { Filter::Linear } else { Filter::Point },
                mip: [MipFilter::None, MipFilter::Point, MipFilter::Linear][i % 3],
                compare: Some(function),
                srgb_allowed: i % 2 == 1,
                seamless: i % 4 > 1,
                lod_bias: i as f32 - 4.5,
                min_lod: 0.25 * i as f32,
                max_lod: 7.0,
                force_unnormalized: i > 4,
                border: [i as u32, u32::MAX, 1, 0x3f80_0000],
                srgb_border: [i as u8, 255, 7],
            });
            assert_eq!(
                (Wrap::named(wrap.name()), CompareFn::named(function.name())),
                (Some(wrap), Some(function))
            );
        }
        for sampler in samplers {
            assert_eq!(Sampler::from_record(&sampler.record()), sampler);
        }
    }

    #[test]
    fn any_record_is_a_sampler() {
        let all = Sampler::from_record(&[0xff; RECORD_BYTES]);
        assert_eq!(
            (all.mip, all.compare, all.border),
            (MipFilter::Linear, Some(CompareFn::Always), [u32::MAX; 4])
        );
        let none = Sampler::from_record(&[0; RECORD_BYTES]);
        assert_eq!((none.wrap, none.compare), ([Wrap::Repeat; 3], None));
    }
}
