//! How exported words are decoded and how a target converts them.
//!
//! Sources: "Vega" Instruction Set Architecture, "Export"; Mesa's register descriptions,
//! `SPI_SHADER_COL_FORMAT`.

use half::f16;
use serde::{Deserialize, Serialize};

use crate::Dtype;

/// The values of `SPI_SHADER_COL_FORMAT`. `SPI_SHADER_Z_FORMAT` has some of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "toml::Value", into = "String")]
pub enum ExportFormat {
    R32,
    Gr32,
    Ar32,
    Fp16,
    Unorm16,
    Snorm16,
    Uint16,
    Sint16,
    #[default]
    Abgr32,
}

impl ExportFormat {
    const ALL: [(&'static str, ExportFormat); 9] = [
        ("32_r", ExportFormat::R32),
        ("32_gr", ExportFormat::Gr32),
        ("32_ar", ExportFormat::Ar32),
        ("fp16_abgr", ExportFormat::Fp16),
        ("unorm16_abgr", ExportFormat::Unorm16),
        ("snorm16_abgr", ExportFormat::Snorm16),
        ("uint16_abgr", ExportFormat::Uint16),
        ("sint16_abgr", ExportFormat::Sint16),
        ("32_abgr", ExportFormat::Abgr32),
    ];

    /// Decodes four exported words as red, green, blue and alpha: floats or integers.
    ///
    /// In packed formats, two of the words have all components.
    fn unpack(self, words: [u32; 4]) -> [Component; 4] {
        let [x, y, z, w] = words;
        let packed = |component: fn(u16) -> Component| {
            [x as u16, (x >> 16) as u16, z as u16, (z >> 16) as u16].map(component)
        };
        let zero = Component::Word(0);
        match self {
            ExportFormat::R32 => [Component::Word(x), zero, zero, zero],
            ExportFormat::Gr32 => [Component::Word(x), Component::Word(y), zero, zero],
            ExportFormat::Ar32 => [Component::Word(x), zero, zero, Component::Word(w)],
            ExportFormat::Fp16 => packed(|bits| Component::Float(f16::from_bits(bits).into())),
            ExportFormat::Unorm16 => packed(|bits| Component::Float(f32::from(bits) / 65535.0)),
            ExportFormat::Snorm16 => {
                packed(|bits| Component::Float((f32::from(bits as i16) / 32767.0).max(-1.0)))
            }
            ExportFormat::Uint16 => packed(|bits| Component::Word(bits.into())),
            ExportFormat::Sint16 => packed(|bits| Component::Word(i32::from(bits as i16) as u32)),
            ExportFormat::Abgr32 => [x, y, z, w].map(Component::Word),
        }
    }
}

impl TryFrom<toml::Value> for ExportFormat {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<ExportFormat, String> {
        let named = |name: &str| ExportFormat::ALL.iter().find(|(known, _)| *known == name);
        let found = match &value {
            toml::Value::Integer(number) => number
                .checked_sub(1)
                .and_then(|at| ExportFormat::ALL.get(usize::try_from(at).ok()?)),
            toml::Value::String(name) => named(name),
            _ => None,
        };
        found.map(|&(_, format)| format).ok_or_else(|| {
            let known = ExportFormat::ALL.map(|(name, _)| name).join(", ");
            format!(
                "{value} is no format of exports: expected a number from 1 to 9, or one of {known}"
            )
        })
    }
}

impl From<ExportFormat> for String {
    fn from(format: ExportFormat) -> String {
        let found = ExportFormat::ALL.into_iter().find(|&(_, known)| known == format);
        found.map_or("", |(name, _)| name).to_owned()
    }
}

/// A component before the target's conversion.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Component {
    /// The bits of a float or an integer: the target determines which.
    Word(u32),
    Float(f32),
}

impl Component {
    fn float(self) -> f32 {
        match self {
            Component::Word(bits) => f32::from_bits(bits),
            Component::Float(x) => x,
        }
    }

    /// Returns the bits for an integer target.
    fn bits(self) -> u32 {
        match self {
            Component::Word(bits) => bits,
            Component::Float(x) => x.to_bits(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Unorm,
    Snorm,
    Float,
    Uint,
    Sint,
}

/// A format of render targets, named as in GLSL: `rgba8`, `rgba16s`, `rg32f`, `r32ui`, `rgba16i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TargetFormat {
    components: u8,
    bits: u8,
    number: Number,
}

impl TargetFormat {
    /// The format of exported words unless the manifest says otherwise.
    pub const FLOATS: TargetFormat =
        TargetFormat { components: 4, bits: 32, number: Number::Float };

    /// Returns the number of components of a texel.
    pub fn components(self) -> usize {
        self.components.into()
    }

    /// Returns the element type: `f32` for floats and normalized numbers, else integers of the
    /// target's width.
    pub fn dtype(self) -> Dtype {
        match (self.number, self.bits) {
            (Number::Uint, 8) => Dtype::U8,
            (Number::Uint, 16) => Dtype::U16,
            (Number::Uint, _) => Dtype::U32,
            (Number::Sint, 8) => Dtype::I8,
            (Number::Sint, 16) => Dtype::I16,
            (Number::Sint, _) => Dtype::I32,
            _ => Dtype::F32,
        }
    }

    /// Converts words that were exported in `format` to a texel: elements of
    /// [`TargetFormat::dtype`].
    pub fn texel(self, format: ExportFormat, words: [u32; 4]) -> Vec<u8> {
        let components = format.unpack(words).into_iter().take(self.components());
        components.flat_map(|component| self.component(component)).collect()
    }

    fn component(self, component: Component) -> Vec<u8> {
        let steps = |bits: u8| ((1_u64 << bits) - 1) as f32;
        // Conversions to normalized numbers turn NaN into 0.
        let quantized = |least: f32, steps: f32| {
            let x = component.float();
            let x = if x.is_nan() { 0.0 } else { x.clamp(least, 1.0) };
            ((x * steps).round_ties_even() / steps).to_le_bytes().to_vec()
        };
        match self.number {
            Number::Unorm => quantized(0.0, steps(self.bits)),
            Number::Snorm => quantized(-1.0, steps(self.bits - 1)),
            Number::Float if self.bits == 16 => {
                f32::from(f16::from_f32(component.float())).to_le_bytes().to_vec()
            }
            Number::Float => component.float().to_le_bytes().to_vec(),
            Number::Uint | Number::Sint => {
                // Values beyond the target's range are clamped, as in the exports' own conversions.
                let bits = component.bits();
                let wide = match (self.number, self.bits) {
                    (_, 32) => bits,
                    (Number::Uint, width) => bits.min((1 << width) - 1),
                    (_, width) => {
                        (bits as i32).clamp(-(1 << (width - 1)), (1 << (width - 1)) - 1) as u32
                    }
                };
                wide.to_le_bytes()[..usize::from(self.bits / 8)].to_vec()
            }
        }
    }
}

impl TryFrom<String> for TargetFormat {
    type Error = String;

    fn try_from(name: String) -> Result<TargetFormat, String> {
        let wrong = || {
            format!(
                "`{name}` is no format of targets: expected r, rg or rgba, 8, 16 or 32 bits, and nothing, s, f, ui or i, such as rgba8"
            )
        };
        let digits = name.find(|c: char| c.is_ascii_digit()).ok_or_else(wrong)?;
        let (channels, rest) = name.split_at(digits);
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (bits, suffix) = rest.split_at(end);
        let components = ["r", "rg", "rgb", "rgba"]
            .iter()
            .position(|&known| known == channels)
            .ok_or_else(wrong)?;
        let bits: u8 =
            bits.parse().ok().filter(|bits| matches!(bits, 8 | 16 | 32)).ok_or_else(wrong)?;
        let number = match suffix {
            "" if bits < 32 => Number::Unorm,
            "s" if bits < 32 => Number::Snorm,
            "f" if bits > 8 => Number::Float,
            "ui" => Number::Uint,
            "i" => Number::Sint,
            _ => return Err(wrong()),
        };
        Ok(TargetFormat { components: components as u8 + 1, bits, number })
    }
}

impl From<TargetFormat> for String {
    fn from(format: TargetFormat) -> String {
        let channels = &"rgba"[..format.components()];
        let suffix = match format.number {
            Number::Unorm => "",
            Number::Snorm => "s",
            Number::Float => "f",
            Number::Uint => "ui",
            Number::Sint => "i",
        };
        format!("{channels}{}{suffix}", format.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str) -> TargetFormat {
        TargetFormat::try_from(name.to_string()).unwrap_or_else(|problem| panic!("{problem}"))
    }

    fn floats(bytes: &[u8]) -> Vec<f32> {
        bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }

    #[test]
    fn formats_have_names() {
        for name in ["r32ui", "rg32f", "rgba8", "rgba16s", "rgba16i", "rgba16f", "rgba8ui"] {
            assert_eq!(String::from(target(name)), name);
        }
        for name in ["", "rgba", "rgba32", "x8", "rgba8f", "rgba64f", "rgba8u"] {
            assert!(TargetFormat::try_from(name.to_string()).is_err(), "{name}");
        }
        assert_eq!(ExportFormat::try_from(toml::Value::from(7)), Ok(ExportFormat::Uint16));
        assert!(ExportFormat::try_from(toml::Value::from(10)).is_err());
    }

    #[test]
    fn components_are_packed_and_normalized() {
        // 1.0 and -2.0, then 0.5 and a NaN, as halves.
        let words = [0xc000_3c00, 0, 0x7e00_3800, 0];
        assert_eq!(
            floats(&target("rgba8").texel(ExportFormat::Fp16, words)),
            [1.0, 0.0, 128.0 / 255.0, 0.0]
        );
        let words = [0x8000_7fff, 0, 0x0000_4000, 0];
        let expected = [1.0, -1.0, 16384.0 / 32767.0, 0.0];
        assert_eq!(floats(&target("rgba16s").texel(ExportFormat::Snorm16, words)), expected);
        assert_eq!(
            target("rgba8ui").texel(ExportFormat::Uint16, [0x0102_0003, 0, 7, 0]),
            [3, 255, 7, 0]
        );
        assert_eq!(target("r32ui").texel(ExportFormat::R32, [0x0403_0201, 5, 6, 7]), [1, 2, 3, 4]);
        assert_eq!(
            floats(&target("rgba32f").texel(ExportFormat::Ar32, [0x3f80_0000, 5, 6, 0x4000_0000])),
            [1.0, 0.0, 0.0, 2.0]
        );
    }

    /// Checks each format against the bits' meaning in Direct3D 11's functional specification
    /// ("Data Conversion").
    ///
    /// A component that the export leaves out is 0.
    #[test]
    fn every_format_has_its_components() {
        let [x, y, z, w] = [1.5_f32, -2.25, 0.375, 4096.5].map(f32::to_bits);
        let all = |format, words| floats(&TargetFormat::FLOATS.texel(format, words));
        assert_eq!(all(ExportFormat::R32, [x, y, z, w]), [1.5, 0.0, 0.0, 0.0]);
        assert_eq!(all(ExportFormat::Gr32, [x, y, z, w]), [1.5, -2.25, 0.0, 0.0]);
        assert_eq!(all(ExportFormat::Ar32, [x, y, z, w]), [1.5, 0.0, 0.0, 4096.5]);
        assert_eq!(all(ExportFormat::Abgr32, [x, y, z, w]), [1.5, -2.25, 0.375, 4096.5]);
        // Packed: red and green are the halves of word 0, blue and alpha the halves of word 2.
        let packed =
            |of: [u16; 4]| [0, 1].map(|n| u32::from(of[2 * n]) | u32::from(of[2 * n + 1]) << 16);
        let four = |of: [u16; 4]| [packed(of)[0], 77, packed(of)[1], 78];
        assert_eq!(
            all(ExportFormat::Fp16, four([0x3c00, 0xc080, 0x0001, 0x7bff])),
            [1.0, -2.25, 2.0_f32.powi(-24), 65504.0]
        );
        let unorm = [0, 65535, 32768, 13107];
        assert_eq!(all(ExportFormat::Unorm16, four(unorm)), [0.0, 1.0, 32768.0 / 65535.0, 0.2]);
        // Both -32,768 and -32,767 are -1.
        let snorm = [0x8000, 0x8001, 0x7fff, 0xc000];
        assert_eq!(all(ExportFormat::Snorm16, four(snorm)), [-1.0, -1.0, 1.0, -16384.0 / 32767.0]);
        let integers = [1, 0x8000, 0xffff, 0x7fff];
        let wide = |name, format| {
            let texel = target(name).texel(format, four(integers));
            texel
                .as_chunks::<4>()
                .0
                .iter()
                .map(|&bytes| i64::from(i32::from_le_bytes(bytes)))
                .collect::<Vec<_>>()
        };
        assert_eq!(wide("rgba32ui", ExportFormat::Uint16), [1, 0x8000, 0xffff, 0x7fff]);
        assert_eq!(wide("rgba32i", ExportFormat::Sint16), [1, -0x8000, -1, 0x7fff]);
    }
}
