//! Texels as components: unpacked, decoded, swizzled and compared. Source: facts,
//! `maxwell-surfaces.md`, section 5.7.

use std::sync::LazyLock;

use super::super::sampler::{CompareFn, Sampler};
use super::super::{Image, Source};
use super::filter::{Numbers, SHORT, Sum, WORD, nearest};
use super::{Read, srgb};
use crate::texel::{TexelFormat, TexelKind, unpack};

/// The NaN that arithmetic makes. Source: facts, `maxwell-semantics.md`.
pub const NAN: u32 = 0x7fff_ffff;

/// The value of each byte as a component.
type Bytes = [u32; 256];

fn bytes_as(kind: TexelKind) -> Bytes {
    std::array::from_fn(|byte| {
        unpack(TexelFormat::new(kind, [8, 0, 0, 0]), [byte as u32, 0, 0, 0])[0]
    })
}

static UNORM: LazyLock<Bytes> = LazyLock::new(|| bytes_as(TexelKind::Unorm));
static SRGB: LazyLock<Bytes> = LazyLock::new(|| {
    std::array::from_fn(|byte| (f32::from(srgb::DECODED[byte]) / srgb::ONE).to_bits())
});

/// The formats of one to four components of this width.
const fn equal(width: u32) -> [u32; 4] {
    [
        TexelFormat::widths_only([width, 0, 0, 0]),
        TexelFormat::widths_only([width, width, 0, 0]),
        TexelFormat::widths_only([width, width, width, 0]),
        TexelFormat::widths_only([width; 4]),
    ]
}

/// The decoding of bits to components.
enum Decode {
    /// Each byte is a component; the number of components comes first.
    Bytes(usize, [&'static Bytes; 4]),
    /// Words are components as they are; the number of components, then the value for 1.
    Words(usize, u32),
    Any(TexelFormat),
    /// The first format, except one component, which has the second format.
    Alpha(TexelFormat, usize, TexelFormat),
}

impl Decode {
    fn new(format: TexelFormat, kind: Option<TexelKind>, widths: [u32; 4], srgb: bool) -> Decode {
        use TexelKind::*;
        // Formats of equal components, by the number of components.
        const BYTES: [u32; 4] = equal(8);
        const WORDS: [u32; 4] = equal(32);
        let all = TexelFormat::widths_only(widths);
        let [bytes, words] =
            [BYTES, WORDS].map(|formats| formats.iter().position(|&format| format == all));
        match (kind, bytes, words) {
            (Some(Unorm), Some(last), _) => {
                let (colour, alpha): (&Bytes, &Bytes) = (if srgb { &SRGB } else { &UNORM }, &UNORM);
                // The second of two components is alpha, like the fourth of four.
                Decode::Bytes(
                    last + 1,
                    [colour, if last == 1 { alpha } else { colour }, colour, alpha],
                )
            }
            (Some(Float | FloatCut), _, Some(last)) => Decode::Words(last + 1, 1f32.to_bits()),
            (Some(Uint | Sint), _, Some(last)) => Decode::Words(last + 1, 1),
            (Some(Unorm), ..) if srgb && widths[1] > 0 && widths[2] == 0 => {
                Decode::Alpha(TexelFormat::new(Srgb, widths), 1, format)
            }
            (Some(Unorm), ..) if srgb => Decode::Any(TexelFormat::new(Srgb, widths)),
            _ => Decode::Any(format),
        }
    }

    #[inline]
    fn components(&self, bytes: &[u8; 16]) -> [u32; 4] {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let words = || [word(0), word(4), word(8), word(12)];
        match *self {
            Decode::Bytes(4, [r, g, b, a]) => [
                r[usize::from(bytes[0])],
                g[usize::from(bytes[1])],
                b[usize::from(bytes[2])],
                a[usize::from(bytes[3])],
            ],
            Decode::Bytes(count, tables) => {
                let mut components = [0, 0, 0, 1f32.to_bits()];
                for (i, component) in components[..count].iter_mut().enumerate() {
                    *component = tables[i][usize::from(bytes[i])];
                }
                components
            }
            Decode::Words(count, one) => {
                let [x, y, z, w] = words();
                [
                    x,
                    if count > 1 { y } else { 0 },
                    if count > 2 { z } else { 0 },
                    if count > 3 { w } else { one },
                ]
            }
            Decode::Any(format) => unpack(format, words()),
            Decode::Alpha(colours, alpha, format) => {
                let mut components = unpack(colours, words());
                components[alpha] = unpack(format, words())[alpha];
                components
            }
        }
    }
}

/// Conversion of an image's texels to the components that a sampler requires.
pub struct Format {
    bytes: usize,
    sources: [Source; 4],
    /// Whether components are integers, which are neither filtered nor compared.
    pub integers: bool,
    one: u32,
    decode: Decode,
    pub compare: Option<CompareFn>,
    /// The way a filter adds up each component.
    pub numbers: [Numbers; 4],
    /// The texel outside the image: the sampler's colour, as the format can hold it.
    border: [u32; 4],
    /// Whether texels are bytes which a filter treats as numbers of 16 bits, each byte twice: this
    /// needs no floats.
    pub doubled: bool,
}

impl Format {
    /// Makes the conversion for an image with texels of at most 16 bytes.
    pub fn new(image: &Image, sampler: &Sampler) -> Format {
        let (kind, widths) = (image.format.kind(), image.format.widths());
        let integers = matches!(kind, Some(TexelKind::Uint | TexelKind::Sint));
        // Only components of up to eight bits are sRGB.
        let srgb = image.srgb
            && sampler.srgb_allowed
            && kind == Some(TexelKind::Unorm)
            && widths.iter().all(|&width| width <= 8);
        let compare = sampler.compare.filter(|_| !integers);
        let bytes = usize::from(image.bytes);
        let decode = Decode::new(image.format, kind, widths, srgb);
        let numbers = numbers(kind, widths, srgb, image.sources, compare.is_some());
        let all = matches!(decode, Decode::Bytes(count, _) if count == bytes);
        Format {
            bytes,
            sources: image.sources,
            integers,
            one: if integers { 1 } else { 1f32.to_bits() },
            decode,
            compare,
            numbers,
            border: border(kind, widths, srgb, sampler),
            doubled: all && !srgb && numbers == [SHORTS; 4],
        }
    }

    /// Swizzles components. `one` stands for 1.
    #[inline]
    fn swizzled<T: Copy + Default>(&self, one: T, [r, g, b, a]: [T; 4]) -> [T; 4] {
        // The usual order, kept in registers.
        if self.sources == [Source::R, Source::G, Source::B, Source::A] {
            return [r, g, b, a];
        }
        let zero = T::default();
        // Indexed by the numbers of sources.
        let from = [zero, one, zero, zero, r, g, b, a];
        self.sources.map(|source| from[source as usize])
    }
}

/// The way unsigned normalised numbers are added up.
const SHORTS: Numbers = Numbers::Integer { one: SHORT };

/// The way each component is added up: section 5.3.
fn numbers(
    kind: Option<TexelKind>,
    widths: [u32; 4],
    srgb: bool,
    sources: [Source; 4],
    compares: bool,
) -> [Numbers; 4] {
    const HALVES: Numbers = Numbers::Float { places: 11 };
    let widest = widths.into_iter().max().unwrap_or(0);
    let all = match kind {
        _ if compares => Numbers::Float { places: 24 },
        Some(TexelKind::Unorm) if srgb => {
            let alpha = if widths[2] == 0 { Source::G } else { Source::A };
            return sources.map(|source| if source == alpha { SHORTS } else { HALVES });
        }
        Some(TexelKind::Unorm) => SHORTS,
        Some(TexelKind::Snorm) if widest <= 8 => Numbers::SignedBytes,
        Some(TexelKind::Snorm) => Numbers::Integer { one: WORD },
        Some(TexelKind::Float | TexelKind::FloatCut | TexelKind::SharedExponent) if widest < 32 => {
            HALVES
        }
        _ => Numbers::Float { places: 24 },
    };
    [all; 4]
}

fn border(kind: Option<TexelKind>, widths: [u32; 4], srgb: bool, sampler: &Sampler) -> [u32; 4] {
    let mut components = sampler.border;
    if let Some(kind @ (TexelKind::Unorm | TexelKind::Snorm)) = kind {
        for (component, width) in components.iter_mut().zip(widths) {
            let places = if width == 0 { 16 } else { width };
            let (least, most) = match kind {
                TexelKind::Unorm => (0.0, ((1u64 << places) - 1) as f64),
                _ => (-1.0, ((1u64 << (places - 1)) - 1) as f64),
            };
            let value = f64::from(f32::from_bits(*component));
            let value = if value.is_nan() { 0.0 } else { value.clamp(least, 1.0) };
            *component = (libm::floor(value * most + 0.5) as f32 / most as f32).to_bits();
        }
    }
    if srgb {
        // The border is encoded like texels.
        let [red, green, blue] = sampler.srgb_border;
        components[..3].copy_from_slice(&[red, green, blue].map(|byte| SRGB[usize::from(byte)]));
    }
    components
}

/// A reader of texels.
pub struct Texels<'a, R> {
    pub format: &'a Format,
    /// The comparison and its reference.
    compare: Option<(CompareFn, f32)>,
    /// Whether a texel was on a non-resident page.
    pub sparse: bool,
    read: R,
}

impl<'a, R: Read> Texels<'a, R> {
    /// Makes a reader. It compares with `reference`, if there is one and the sampler compares.
    pub fn new(format: &'a Format, reference: Option<f32>, read: R) -> Self {
        Texels { format, compare: format.compare.zip(reference), sparse: false, read }
    }

    /// The texel at an address, or the border outside the image.
    #[inline]
    pub fn at(&mut self, address: Option<u64>) -> Result<[u32; 4], R::Error> {
        let Some(address) = address else { return Ok(self.compared(self.format.border)) };
        let mut bytes = [0; 16];
        self.fill(address, &mut bytes)?;
        let components = self.format.decode.components(&bytes);
        Ok(self.compared(self.format.swizzled(self.format.one, components)))
    }

    /// Adds the texel at an address, or the border outside the image, if [`Format::doubled`].
    #[inline]
    pub fn add(
        &mut self,
        address: Option<u64>,
        weight: u32,
        sum: &mut Sum,
    ) -> Result<(), R::Error> {
        let Some(address) = address else {
            sum.add_numbers(self.format.border.map(|bits| nearest(SHORT, bits)), weight);
            return Ok(());
        };
        let mut bytes = [0, 0, 0, 0xff];
        self.fill(address, &mut bytes)?;
        let numbers = bytes.map(|byte| i32::from(byte) * 0x101);
        sum.add_numbers(self.format.swizzled(SHORT as i32, numbers), weight);
        Ok(())
    }

    /// Reads the bytes at an address; later bytes of the array stay.
    #[inline(always)]
    fn fill<const N: usize>(&mut self, address: u64, bytes: &mut [u8; N]) -> Result<(), R::Error> {
        // A call for each usual length, so that the compiler knows the length.
        self.sparse |= match self.format.bytes {
            4 => self.read.read(address, &mut bytes[..4])?,
            8 if N > 4 => self.read.read(address, &mut bytes[..8])?,
            16 if N > 4 => self.read.read(address, &mut bytes[..16])?,
            length => self.read.read(address, &mut bytes[..length])?,
        };
        Ok(())
    }

    #[inline]
    fn compared(&self, texel: [u32; 4]) -> [u32; 4] {
        match self.compare {
            None => texel,
            Some((function, reference)) => {
                [f32::from(u8::from(function.holds(reference, f32::from_bits(texel[0])))).to_bits();
                    4]
            }
        }
    }
}
