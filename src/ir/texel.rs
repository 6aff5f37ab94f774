//! Texels: the elements of typed buffers and images, and their values as components.
//!
//! [`Op::Unpack`](super::Op::Unpack) and [`Op::Pack`](super::Op::Pack) take a [`TexelFormat`] as a
//! number; [`unpack`] and [`pack`] are their definitions. Sources: the data format chapters of the
//! Vulkan and Direct3D specifications.

use half::f16;

/// The interpretation of a component's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TexelKind {
    /// 0 to the greatest integer stands for 0 to 1.
    Unorm = 0,
    /// The integers stand for -1 to 1; the least integer is -1 too.
    Snorm = 1,
    /// The integer, as a float.
    Uscaled = 2,
    Sscaled = 3,
    Uint = 4,
    Sint = 5,
    /// The least to the greatest integer stand for evenly spaced numbers from -1 to 1, without a
    /// zero.
    SnormEven = 6,
    /// A float of 32 or 16 bits, or an unsigned float of 11 or 10 bits, which has five bits of
    /// exponent like 16 bits.
    Float = 7,
    /// Like `Float`, but stored numbers are truncated towards 0: at most the greatest number,
    /// unless they are infinite.
    FloatCut = 8,
    /// Like `Unorm`; the first three components are sRGB encoded.
    Srgb = 9,
    /// The components are mantissas with one exponent, which is in the fourth field.
    SharedExponent = 10,
}

/// The format of a texel. Bits 0 to 23 are the widths of its four components, six bits each; bits
/// 24 to 27 are the number of the [`TexelKind`]. Components are consecutive from the lowest bit. A
/// component of width 0 is absent; a width above 32 counts as 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TexelFormat(pub u32);

impl TexelFormat {
    pub const fn new(kind: TexelKind, widths: [u32; 4]) -> Self {
        TexelFormat(Self::widths_only(widths) | (kind as u32) << 24)
    }

    /// The format's bits without the kind.
    pub const fn widths_only(widths: [u32; 4]) -> u32 {
        widths[0] | widths[1] << 6 | widths[2] << 12 | widths[3] << 18
    }

    pub fn widths(self) -> [u32; 4] {
        [0, 6, 12, 18].map(|shift| match self.0 >> shift & 63 {
            width @ 0..=32 => width,
            _ => 0,
        })
    }

    /// The kind; none if the number is not the number of a kind.
    pub fn kind(self) -> Option<TexelKind> {
        use TexelKind::*;
        [
            Unorm,
            Snorm,
            Uscaled,
            Sscaled,
            Uint,
            Sint,
            SnormEven,
            Float,
            FloatCut,
            Srgb,
            SharedExponent,
        ]
        .into_iter()
        .find(|&kind| kind as u32 == self.0 >> 24 & 15)
    }

    pub fn bits(self) -> u32 {
        self.widths().iter().sum()
    }
}

/// The components of a texel, given as its first four words: floats or integers of 32 bits. Of
/// absent components, the first three are 0 and the last is 1. If the kind's number is invalid, all
/// are 0.
pub fn unpack(format: TexelFormat, words: [u32; 4]) -> [u32; 4] {
    let Some(kind) = format.kind() else { return [0; 4] };
    let one = if matches!(kind, TexelKind::Uint | TexelKind::Sint) { 1 } else { 1f32.to_bits() };
    let mut result = [0, 0, 0, one];
    let texel = words.iter().rev().fold(0u128, |texel, &word| texel << 32 | u128::from(word));
    let mut at = 0;
    let fields = format.widths().map(|width| {
        let field = if width == 0 { 0 } else { (texel >> at) as u32 & u32::MAX >> (32 - width) };
        at += width;
        field
    });
    if kind == TexelKind::SharedExponent {
        let scale = 2f64.powi((fields[3] & 31) as i32 - 24);
        for (result, &field) in result.iter_mut().zip(&fields[..3]) {
            *result = ((f64::from(field) * scale) as f32).to_bits();
        }
        return result;
    }
    for (i, (width, field)) in
        format.widths().into_iter().zip(fields).enumerate().filter(|(_, (width, _))| *width > 0)
    {
        result[i] = match kind {
            TexelKind::Srgb if i < 3 => from_srgb(normal(field, width)).to_bits(),
            _ => component(kind, width, field),
        };
    }
    result
}

/// The words of a texel with these components. Floats are clamped to the format's range, and
/// rounded to nearest even, except for [`TexelKind::FloatCut`]. A NaN becomes 0 if the format has
/// none. Integers are clamped. Absent components and bits past the texel are 0.
pub fn pack(format: TexelFormat, components: [u32; 4]) -> [u32; 4] {
    let Some(kind) = format.kind() else { return [0; 4] };
    let fields = if kind == TexelKind::SharedExponent {
        shared_exponent(components.map(f32::from_bits))
    } else {
        let widths = format.widths();
        std::array::from_fn(|i| match (kind, widths[i]) {
            (_, 0) => 0,
            (TexelKind::Srgb, width) if i < 3 => {
                let encoded = to_srgb(f32::from_bits(components[i]).clamp(0.0, 1.0));
                field(kind, width, encoded.to_bits())
            }
            (_, width) => field(kind, width, components[i]),
        })
    };
    let (mut texel, mut at) = (0u128, 0);
    for (width, field) in format.widths().into_iter().zip(fields) {
        texel |= u128::from(field & ((1u64 << width) - 1) as u32).checked_shl(at).unwrap_or(0);
        at += width;
    }
    [0, 32, 64, 96].map(|shift| (texel >> shift) as u32)
}

fn signed(field: u32, width: u32) -> i32 {
    (field << (32 - width)) as i32 >> (32 - width)
}

fn normal(field: u32, width: u32) -> f32 {
    (f64::from(field) / f64::from(u32::MAX >> (32 - width))) as f32
}

/// A component from its bits.
fn component(kind: TexelKind, width: u32, field: u32) -> u32 {
    let whole = signed(field, width);
    let most = f64::from(u32::MAX >> (32 - width));
    let value = match kind {
        TexelKind::Uint => return field,
        TexelKind::Sint => return whole as u32,
        TexelKind::Float | TexelKind::FloatCut => return small_float(width, field),
        TexelKind::Unorm | TexelKind::Srgb => return normal(field, width).to_bits(),
        // A single bit is only the sign.
        TexelKind::Snorm if width == 1 => f64::from(whole),
        TexelKind::Snorm => (f64::from(whole) / f64::from(u32::MAX >> (33 - width))).max(-1.0),
        TexelKind::SnormEven => (2.0 * f64::from(whole) + 1.0) / most,
        TexelKind::Uscaled => field.into(),
        TexelKind::Sscaled | TexelKind::SharedExponent => whole.into(),
    };
    (value as f32).to_bits()
}

fn small_float(width: u32, field: u32) -> u32 {
    match width {
        32 => field,
        16 => f16::from_bits(field as u16).to_f32().to_bits(),
        11 => f16::from_bits((field << 4) as u16).to_f32().to_bits(),
        10 => f16::from_bits((field << 5) as u16).to_f32().to_bits(),
        _ => 0,
    }
}

/// The bits of a component.
fn field(kind: TexelKind, width: u32, component: u32) -> u32 {
    let mask = u32::MAX >> (32 - width);
    let (least, most) = (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1);
    let value = f64::from(f32::from_bits(component));
    // For a NaN this is 0.
    let rounded = |value: f64| value.round_ties_even() as i64;
    let whole = match kind {
        TexelKind::Uint => i64::from(component.min(mask)),
        TexelKind::Sint => i64::from(component as i32).clamp(least, most),
        TexelKind::Float => return to_small_float(width, component),
        TexelKind::FloatCut => return cut_to_small_float(width, component),
        TexelKind::Unorm | TexelKind::Srgb => rounded(value.clamp(0.0, 1.0) * f64::from(mask)),
        TexelKind::Snorm => rounded(value.clamp(-1.0, 1.0) * most as f64),
        TexelKind::SnormEven => rounded((value.clamp(-1.0, 1.0) * f64::from(mask) - 1.0) / 2.0),
        TexelKind::Uscaled => rounded(value).clamp(0, mask.into()),
        TexelKind::Sscaled | TexelKind::SharedExponent => rounded(value).clamp(least, most),
    };
    whole as u32 & mask
}

fn to_small_float(width: u32, component: u32) -> u32 {
    let value = f32::from_bits(component);
    match width {
        32 => component,
        16 => f16::from_f32(value).to_bits().into(),
        10 | 11 => {
            let dropped = if width == 11 { 4 } else { 5 };
            if value.is_nan() {
                return 0x7ff0 >> dropped;
            }
            // The places that stay, below the exponent of one; fewer for denormal numbers.
            let places = 10 - dropped;
            let value = f64::from(value.max(0.0));
            let exponent = if value < 2f64.powi(-14) { -14 } else { value.log2().floor() as i32 };
            let unit = 2f64.powi(exponent - places);
            let rounded = (value / unit).round_ties_even() * unit;
            u32::from(f16::from_f64(rounded.min(65536.0)).to_bits()) >> dropped
        }
        _ => 0,
    }
}

fn cut_to_small_float(width: u32, component: u32) -> u32 {
    let value = f32::from_bits(component);
    if width == 16 && value.is_nan() {
        // A NaN keeps the upper bits of its payload, or gets a bit that is set.
        return component >> 16 & 0x8000 | 0x7c00 | (component >> 13 & 0x3ff).max(1);
    }
    if width == 32 || !value.is_finite() {
        return to_small_float(width, component);
    }
    // The places that stay, below the exponent of one; floats of 16 bits have a sign.
    let places = width as i32 - if width == 16 { 6 } else { 5 };
    let size = f64::from(if width == 16 { value.abs() } else { value.max(0.0) });
    // The exponent, as for a normal number. The greatest result is the greatest number below 2^16.
    let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(-14);
    let unit = 2f64.powi(exponent - places);
    let cut = ((size / unit).trunc() * unit).min(65536.0 - 2f64.powi(15 - places));
    to_small_float(width, (cut as f32).copysign(value).to_bits())
}

/// A power, rounded once, and equal on every host.
fn power(base: f32, exponent: f32) -> f32 {
    libm::pow(base.into(), exponent.into()) as f32
}

fn from_srgb(value: f32) -> f32 {
    if value <= 0.04045 { value / 12.92 } else { power((value + 0.055) / 1.055, 2.4) }
}

fn to_srgb(value: f32) -> f32 {
    if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * power(value, 1.0 / 2.4) - 0.055 }
}

/// Mantissas of nine bits and their exponent, biased by 15.
fn shared_exponent(components: [f32; 4]) -> [u32; 4] {
    let most = 65408.0;
    let clamped = components
        .map(|component| if component > 0.0 { f64::from(component).min(most) } else { 0.0 });
    let largest = clamped[..3].iter().fold(0.0, |a: f64, &b| a.max(b));
    let least = largest.max(2f64.powi(-16)).log2().floor() as i32 + 16;
    let scale = |exponent: i32| 2f64.powi(exponent - 24);
    let exponent = least + i32::from((largest / scale(least)).round_ties_even() >= 512.0);
    let mantissa = |component: f64| (component / scale(exponent)).round_ties_even() as u32;
    [mantissa(clamped[0]), mantissa(clamped[1]), mantissa(clamped[2]), exponent as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(format: TexelFormat, words: [u32; 4]) -> [f32; 4] {
        unpack(format, words).map(f32::from_bits)
    }

    #[test]
    fn components_of_known_texels() {
        use TexelKind::*;
        let bytes = [8; 4];
        assert_eq!(
            floats(TexelFormat::new(Unorm, bytes), [0xff00_3380, 0, 0, 0]),
            [128.0 / 255.0, 0.2, 0.0, 1.0]
        );
        assert_eq!(
            floats(TexelFormat::new(Snorm, bytes), [0x7f80_8100, 0, 0, 0]),
            [0.0, -1.0, -1.0, 1.0]
        );
        assert_eq!(
            floats(TexelFormat::new(SnormEven, bytes), [0x7f80_00ff, 0, 0, 0])[1..],
            [1.0 / 255.0, -1.0, 1.0]
        );
        assert_eq!(
            floats(TexelFormat::new(Sscaled, [16, 16, 0, 0]), [0x8000_0005, 0, 0, 0]),
            [5.0, -32768.0, 0.0, 1.0]
        );
        assert_eq!(
            unpack(TexelFormat::new(Sint, [8, 0, 0, 0]), [0x80, 0, 0, 0]),
            [0xffff_ff80, 0, 0, 1]
        );
        assert_eq!(
            unpack(TexelFormat::new(Uint, [10, 10, 10, 2]), [0xc010_0401, 0, 0, 0]),
            [1, 1, 1, 3]
        );
        assert_eq!(unpack(TexelFormat::new(Uint, [32; 4]), [1, 2, 3, 4]), [1, 2, 3, 4]);
        assert_eq!(
            floats(TexelFormat::new(Float, [16, 16, 16, 16]), [0xc000_3c00, 0x7c00_0001, 0, 0])
                [..2],
            [1.0, -2.0]
        );
        // 1.0 in all three components: exponent 15.
        let packed = 15 << 6 | (15 << 6) << 11 | (15 << 5) << 22;
        assert_eq!(floats(TexelFormat::new(Float, [11, 11, 10, 0]), [packed, 0, 0, 0]), [1.0; 4]);
        let shared = 256 | 128 << 9 | 16 << 27;
        assert_eq!(
            floats(TexelFormat::new(SharedExponent, [9, 9, 9, 5]), [shared, 0, 0, 0]),
            [1.0, 0.5, 0.0, 1.0]
        );
        assert_eq!(
            floats(TexelFormat::new(Srgb, bytes), [0x80ff_0000, 0, 0, 0]),
            [0.0, 0.0, 1.0, 128.0 / 255.0]
        );
    }

    #[test]
    fn stored_floats_are_cut() {
        let stored = |width: u32, value: f32| {
            pack(
                TexelFormat::new(TexelKind::FloatCut, [width, 0, 0, 0]),
                [value.to_bits(), 0, 0, 0],
            )[0]
        };
        // Source: an H200.
        let halves =
            [65023.0, 7_893.539, -56_596.81, 0.999_999_94, 8.940_697e-8, 65536.0, -69829.07, -0.0];
        let expected = [0x7bef, 0x6fb5, 0xfae8, 0x3bff, 0x0001, 0x7bff, 0xfbff, 0x8000];
        assert_eq!(halves.map(|value| stored(16, value)), expected);
        let nans = [0x7fc0_0000, 0x7f80_0001, 0xffff_ffff].map(f32::from_bits);
        assert_eq!(nans.map(|value| stored(16, value)), [0x7e00, 0x7c01, 0xffff]);
        assert_eq!([f32::INFINITY, 5e-8].map(|value| stored(16, value)), [0x7c00, 0]);
        assert_eq!(
            [1.999, -3.0, 1e9, f32::INFINITY].map(|value| stored(11, value)),
            [0x3ff, 0, 0x7bf, 0x7c0]
        );
        assert_eq!([1.999, 1e9].map(|value| stored(10, value)), [0x1ff, 0x3df]);
        assert_eq!(stored(32, 0.1), 0.1f32.to_bits());
    }

    #[test]
    fn every_texel_comes_back() {
        use TexelKind::*;
        let widths = [
            [8, 8, 8, 8],
            [16, 0, 0, 0],
            [10, 10, 10, 2],
            [5, 6, 5, 0],
            [4, 4, 4, 4],
            [8, 0, 0, 0],
            [16, 16, 0, 0],
        ];
        for widths in widths {
            for kind in [Unorm, Snorm, Uint, Sint, Uscaled, Sscaled, SnormEven, Srgb] {
                let format = TexelFormat::new(kind, widths);
                let mask = ((1u64 << format.bits()) - 1) as u32;
                for i in 0..2000u32 {
                    let texel = i.wrapping_mul(0x9e37_79b9) & mask;
                    let mut expected = texel;
                    // The least signed integer means the same value as the next integer.
                    if kind == Snorm {
                        let mut at = 0;
                        for width in widths.into_iter().filter(|&width| width > 0) {
                            let field = texel >> at & u32::MAX >> (32 - width);
                            expected |= u32::from(field == 1 << (width - 1)) << at;
                            at += width;
                        }
                    }
                    assert_eq!(
                        pack(format, unpack(format, [texel, 0, 0, 0]))[0],
                        expected,
                        "{kind:?} {widths:?} {texel:#x}"
                    );
                }
            }
        }
        for texel in (0..1u32 << 11).filter(|texel| texel >> 6 < 31) {
            let format = TexelFormat::new(Float, [11, 0, 0, 0]);
            assert_eq!(pack(format, unpack(format, [texel, 0, 0, 0]))[0], texel);
        }
    }

    #[test]
    fn what_does_not_fit_is_clamped() {
        use TexelKind::*;
        let one = |kind, width, component: f32| {
            pack(TexelFormat::new(kind, [width, 0, 0, 0]), [component.to_bits(), 0, 0, 0])[0]
        };
        assert_eq!([one(Unorm, 8, 2.0), one(Unorm, 8, -1.0), one(Unorm, 8, f32::NAN)], [255, 0, 0]);
        assert_eq!(
            [one(Snorm, 8, 2.0), one(Snorm, 8, -2.0), one(Snorm, 8, f32::NAN)],
            [127, 0x81, 0]
        );
        assert_eq!([one(Uscaled, 8, 1e9), one(Sscaled, 8, -1e9)], [255, 0x80]);
        assert_eq!(
            [one(Float, 11, 1e9), one(Float, 11, -1.0), one(Float, 11, f32::INFINITY)],
            [0x7c0, 0, 0x7c0]
        );
        assert_eq!(one(Float, 11, 65504.0), 0x7c0);
        assert_eq!(one(Float, 16, 1e9), 0x7c00);
        assert_eq!(pack(TexelFormat::new(Uint, [8, 0, 0, 0]), [300, 0, 0, 0])[0], 255);
        assert_eq!(
            pack(TexelFormat::new(Sint, [8, 0, 0, 0]), [(-300i32) as u32, 0, 0, 0])[0],
            0x80
        );
        let shared = TexelFormat::new(SharedExponent, [9, 9, 9, 5]);
        let floats = [1.0f32, 0.5, 0.0, 0.0].map(f32::to_bits);
        assert_eq!(unpack(shared, pack(shared, floats)).map(f32::from_bits), [1.0, 0.5, 0.0, 1.0]);
        assert_eq!(
            unpack(shared, pack(shared, [1e9f32.to_bits(); 4])).map(f32::from_bits),
            [65408.0, 65408.0, 65408.0, 1.0]
        );
        assert_eq!(unpack(TexelFormat(11 << 24), [1; 4]), [0; 4]);
    }
}
