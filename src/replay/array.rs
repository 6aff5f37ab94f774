//! Arrays of numbers, little-endian, in C order.

use half::f16;
use serde::{Deserialize, Serialize};

/// The element type of an array. Its variants have the names that manifests use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

/// An element's value, without loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Element {
    Int(i128),
    Float(f64),
}

impl Dtype {
    pub const ALL: [Dtype; 11] = [
        Dtype::I8,
        Dtype::U8,
        Dtype::I16,
        Dtype::U16,
        Dtype::I32,
        Dtype::U32,
        Dtype::I64,
        Dtype::U64,
        Dtype::F16,
        Dtype::F32,
        Dtype::F64,
    ];

    /// Returns the size of an element in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Dtype::I8 | Dtype::U8 => 1,
            Dtype::I16 | Dtype::U16 | Dtype::F16 => 2,
            Dtype::I32 | Dtype::U32 | Dtype::F32 => 4,
            Dtype::I64 | Dtype::U64 | Dtype::F64 => 8,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Dtype::I8 => "i8",
            Dtype::U8 => "u8",
            Dtype::I16 => "i16",
            Dtype::U16 => "u16",
            Dtype::I32 => "i32",
            Dtype::U32 => "u32",
            Dtype::I64 => "i64",
            Dtype::U64 => "u64",
            Dtype::F16 => "f16",
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
        }
    }

    pub fn from_name(name: &str) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|d| d.name() == name)
    }

    /// Returns the unsigned type of this size, if there is one.
    pub fn unsigned(bytes: u64) -> Option<Dtype> {
        [Dtype::U8, Dtype::U16, Dtype::U32, Dtype::U64]
            .into_iter()
            .find(|d| d.bytes() as u64 == bytes)
    }

    const fn is_float(self) -> bool {
        matches!(self, Dtype::F16 | Dtype::F32 | Dtype::F64)
    }

    const fn is_signed(self) -> bool {
        matches!(self, Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64)
    }

    /// Returns the least and the greatest integer of the type.
    const fn range(self) -> (i128, i128) {
        let bits = self.bytes() * 8;
        if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }

    /// Returns the element that these bytes encode. There must be [`Dtype::bytes`] of them.
    pub fn element(self, bytes: &[u8]) -> Element {
        let mut wide = [0; 8];
        wide[..self.bytes()].copy_from_slice(&bytes[..self.bytes()]);
        let bits = u64::from_le_bytes(wide);
        match self {
            Dtype::F16 => Element::Float(f16::from_bits(bits as u16).into()),
            Dtype::F32 => Element::Float(f32::from_bits(bits as u32).into()),
            Dtype::F64 => Element::Float(f64::from_bits(bits)),
            _ if self.is_signed() => {
                let unused = 64 - self.bytes() as u32 * 8;
                Element::Int(((bits << unused) as i64 >> unused).into())
            }
            _ => Element::Int(bits.into()),
        }
    }

    /// Encodes a number of a manifest as bytes. Floats round to the nearest; integers must fit.
    pub fn encode(self, value: &toml::Value) -> Result<Vec<u8>, String> {
        let wrong = || {
            let (least, greatest) = self.range();
            match self.is_float() {
                true => format!("{value} is no {}: expected a number", self.name()),
                false => format!(
                    "{value} is no {}: expected an integer from {least} to {greatest}",
                    self.name()
                ),
            }
        };
        if self.is_float() {
            let number = match value {
                toml::Value::Float(f) => *f,
                toml::Value::Integer(i) => *i as f64,
                _ => return Err(wrong()),
            };
            let (bytes, fits) = match self {
                Dtype::F16 => {
                    let half = f16::from_f64(number);
                    (half.to_le_bytes().to_vec(), half.is_finite())
                }
                Dtype::F32 => ((number as f32).to_le_bytes().to_vec(), (number as f32).is_finite()),
                _ => (number.to_le_bytes().to_vec(), true),
            };
            if number.is_finite() && !fits {
                return Err(format!("{value} is no {}: it is too large", self.name()));
            }
            return Ok(bytes);
        }
        let integer = match value {
            toml::Value::Integer(i) => i128::from(*i),
            // TOML has no integers beyond 63 bits: manifests write them as text.
            toml::Value::String(text) => match text.strip_prefix("0x") {
                Some(hex) => i128::from_str_radix(hex, 16).map_err(|_| wrong())?,
                None => text.parse().map_err(|_| wrong())?,
            },
            _ => return Err(wrong()),
        };
        let (least, greatest) = self.range();
        if !(least..=greatest).contains(&integer) {
            return Err(wrong());
        }
        Ok(integer.to_le_bytes()[..self.bytes()].to_vec())
    }
}

/// An array, with its bytes as guest memory holds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    pub dtype: Dtype,
    pub shape: Vec<u64>,
    /// The elements in C order, little-endian.
    pub bytes: Vec<u8>,
}

impl Array {
    /// Makes a one-dimensional array. The bytes must be whole elements.
    pub fn flat(dtype: Dtype, bytes: Vec<u8>) -> Array {
        Array { dtype, shape: vec![(bytes.len() / dtype.bytes()) as u64], bytes }
    }
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Element::Int(i) => write!(f, "{i}"),
            Element::Float(x) => write!(f, "{x:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked_against_their_type() {
        let encode = |dtype: Dtype, text: &str| {
            let table: toml::Table = format!("v = {text}").parse().unwrap();
            dtype.encode(&table["v"])
        };
        assert_eq!(encode(Dtype::I8, "-128").unwrap(), [0x80]);
        assert_eq!(encode(Dtype::U8, "255").unwrap(), [0xff]);
        assert!(encode(Dtype::U8, "256").unwrap_err().contains("from 0 to 255"));
        assert!(encode(Dtype::I32, "1.5").unwrap_err().contains("expected an integer"));
        assert_eq!(encode(Dtype::U64, "\"0xffffffffffffffff\"").unwrap(), [0xff; 8]);
        assert!(encode(Dtype::U64, "\"18446744073709551616\"").is_err());
        assert_eq!(encode(Dtype::F32, "2").unwrap(), 2.0_f32.to_le_bytes());
        assert_eq!(encode(Dtype::F16, "-inf").unwrap(), [0x00, 0xfc]);
        assert_eq!(encode(Dtype::F32, "nan").unwrap(), f32::NAN.to_le_bytes());
        assert!(encode(Dtype::F64, "\"x\"").unwrap_err().contains("expected a number"));
    }

    #[test]
    fn elements_keep_their_sign() {
        assert_eq!(Dtype::I16.element(&[0xff, 0xff]), Element::Int(-1));
        assert_eq!(Dtype::U16.element(&[0xff, 0xff]), Element::Int(0xffff));
        assert_eq!(Dtype::U64.element(&[0xff; 8]), Element::Int(u64::MAX.into()));
        assert_eq!(Dtype::F16.element(&[0x00, 0x3c]), Element::Float(1.0));
    }
}
