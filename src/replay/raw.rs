//! The manifest's keys for plain GFX9 instruction streams: `[raw]`, registers, and parts of
//! buffers.

use serde::{Deserialize, Serialize};
use warploom_container::hsaco::FloatMode;

use super::Dtype;
use super::graphics::{Input, WaveInput};

/// `[raw]`: how a wave starts, which no file says.
///
/// In a block's first wave, lane 0 is the lane with index (0, 0, 0).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Raw {
    /// The offset of the first instruction in bytes.
    #[serde(default, skip_serializing_if = "super::manifest::is_default")]
    pub entry: u32,
    /// The VGPRs of a lane, at most 256.
    pub vgprs: u32,
    /// The LDS bytes of a workgroup. `launch.shared_bytes` is added.
    #[serde(default, skip_serializing_if = "super::manifest::is_default")]
    pub lds_bytes: u32,
    /// The scratch bytes of a lane.
    #[serde(default, skip_serializing_if = "super::manifest::is_default")]
    pub scratch_bytes: u32,
    /// The MODE register.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub mode: FloatMode,
    /// The values of SGPRs. Other SGPRs are 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sgpr: Vec<Register>,
    /// The values of VGPRs. Other VGPRs are 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vgpr: Vec<Register>,
}

/// The kind of the binary, where its content does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BinaryFormat {
    /// A plain stream of GFX9 instructions.
    #[serde(rename = "gfx9-raw")]
    Gfx9Raw,
    /// A Maxwell shader: its header and its code.
    #[serde(rename = "maxwell-sph")]
    MaxwellSph,
    /// The code of a Maxwell shader, whose header is `kernel.header`.
    #[serde(rename = "maxwell-raw")]
    MaxwellRaw,
}

/// `[[raw.sgpr]]`, `[[raw.vgpr]]`: a value that starts in register `first`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "toml::Table", into = "toml::Table")]
pub struct Register {
    pub first: u32,
    pub value: Value,
}

/// An entry of a buffer's `parts`: a value at byte `at` of the buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "toml::Table", into = "toml::Table")]
pub struct Part {
    pub at: u32,
    pub value: Value,
}

/// The value of registers or of a part of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number of 32 or 64 bits. In VGPRs, all lanes have it.
    Number(Dtype, toml::Value),
    /// Words: one for each SGPR, or in a VGPR one for each lane of the block.
    Words(Vec<u32>),
    /// The 64-bit address of a buffer.
    Address(String),
    /// The low half of the 64-bit address of a buffer.
    AddressLow(String),
    /// A V# for a buffer: four words.
    BufferDescriptor(BufferDescriptor),
    /// A T# of a surface, or of a texture's surface: eight words.
    ImageDescriptor(ImageOf),
    /// An S# of a texture: four words.
    SamplerDescriptor(ImageOf),
    /// A value that differs between blocks or lanes.
    Builtin(Builtin),
    /// An input of a shader's lanes. Each of its words has a register of its own, in order.
    Input(Input),
    /// An input of a shader's waves.
    Wave(WaveInput),
}

/// `{ surface = "NAME" }` or `{ texture = "NAME" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ImageOf {
    Surface(String),
    Texture(String),
}

/// A value that hardware gives to a wave.
///
/// `workgroup_*` and `scratch_wave_offset` are in an SGPR, `thread_id_*` in a VGPR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Builtin {
    WorkgroupIdX,
    WorkgroupIdY,
    WorkgroupIdZ,
    /// The number of waves of the block in bits 0 to 5; bit 31 is set in the first wave.
    WorkgroupInfo,
    ScratchWaveOffset,
    ThreadIdX,
    ThreadIdY,
    ThreadIdZ,
}

impl Builtin {
    /// Tells whether the value differs between lanes.
    pub const fn is_varying(self) -> bool {
        matches!(self, Builtin::ThreadIdX | Builtin::ThreadIdY | Builtin::ThreadIdZ)
    }

    /// Tells whether shaders have the value too.
    pub(super) const fn is_of_shaders(self) -> bool {
        matches!(self, Builtin::ScratchWaveOffset)
    }
}

/// A V# (buffer resource).
///
/// Source: AMD, "Vega" Instruction Set Architecture, "Buffer Resource Descriptor".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BufferDescriptor {
    /// The buffer whose address is the base.
    pub buffer: String,
    /// An offset that is added to the base.
    #[serde(default, skip_serializing_if = "super::manifest::is_default")]
    pub offset: u64,
    /// Bytes of a record, at most 16,383. With 0, records are bytes.
    #[serde(default, skip_serializing_if = "super::manifest::is_default")]
    pub stride: u16,
    /// The number of records. Without it, as many as the buffer has from `offset` on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_records: Option<u32>,
    #[serde(default, skip_serializing_if = "super::manifest::is_default")]
    pub swizzle: bool,
    /// The last word, unchanged: selections, formats, index stride, lane added to the index.
    #[serde(default = "raw_f32", skip_serializing_if = "is_raw_f32")]
    pub word3: u32,
}

/// `DST_SEL` x, y, z, w; `NUM_FORMAT` float; `DATA_FORMAT` 32.
const RAW_F32: u32 = 0x0002_7fac;

const fn raw_f32() -> u32 {
    RAW_F32
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_raw_f32(word: &u32) -> bool {
    *word == RAW_F32
}

/// Splits a table into the number of `position` and its only other value.
fn placed(mut table: toml::Table, position: &str) -> Result<(u32, Value), String> {
    let at = table.remove(position).ok_or_else(|| format!("`{position}` is missing"))?;
    let at = at.as_integer().and_then(|at| u32::try_from(at).ok());
    let at = at.ok_or_else(|| format!("`{position}`: expected a number from 0"))?;
    let mut entries = table.into_iter();
    let (Some((key, value)), None) = (entries.next(), entries.next()) else {
        return Err(format!("expected `{position}` and one of {KEYS}"));
    };
    Ok((at, Value::parse(&key, value)?))
}

pub(crate) const KEYS: &str = "u32, i32, f32, u64, i64, f64, values, buffer, buffer_low, buffer_descriptor, image_descriptor, \
                    sampler_descriptor, builtin";

impl Value {
    fn parse(key: &str, value: toml::Value) -> Result<Value, String> {
        let wrong = |expected: &str, value: &toml::Value| {
            format!("`{key}` is {value}: expected {expected}")
        };
        if let Some(dtype) = Dtype::from_name(key).filter(|dtype| dtype.bytes() >= 4) {
            dtype.encode(&value)?;
            return Ok(Value::Number(dtype, value));
        }
        match (key, value) {
            ("buffer", toml::Value::String(name)) => Ok(Value::Address(name)),
            ("buffer_low", toml::Value::String(name)) => Ok(Value::AddressLow(name)),
            ("buffer_descriptor", value) => {
                let descriptor = value
                    .try_into()
                    .map_err(|e: toml::de::Error| format!("`{key}`: {}", e.message()))?;
                Ok(Value::BufferDescriptor(descriptor))
            }
            ("image_descriptor" | "sampler_descriptor", value) => {
                let expected = "{ surface = \"NAME\" } or { texture = \"NAME\" }";
                let of = value
                    .clone()
                    .try_into()
                    .map_err(|_: toml::de::Error| wrong(expected, &value))?;
                Ok(if key == "image_descriptor" {
                    Value::ImageDescriptor(of)
                } else {
                    Value::SamplerDescriptor(of)
                })
            }
            ("builtin", value) => {
                let system = value.clone().try_into().map(Value::Builtin);
                let known = system.or_else(|_| value.clone().try_into().map(Value::Input));
                let known = known.or_else(|_| value.clone().try_into().map(Value::Wave));
                known.map_err(|_: toml::de::Error| wrong("a known builtin", &value))
            }
            ("values", toml::Value::Array(values)) => {
                let word = |value: &toml::Value| {
                    let bytes = Dtype::U32.encode(value)?;
                    Ok(bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)))
                };
                Ok(Value::Words(values.iter().map(word).collect::<Result<_, String>>()?))
            }
            ("buffer" | "buffer_low", value) => Err(wrong("the name of a buffer", &value)),
            ("values", value) => Err(wrong("a list of words", &value)),
            _ => Err(format!("unknown key `{key}`, expected one of {KEYS}")),
        }
    }

    fn into_entry(self) -> (&'static str, toml::Value) {
        // Plain data can always be written as TOML: descriptors and builtins are plain data.
        fn plain<T: Serialize>(value: T) -> toml::Value {
            toml::Value::try_from(value).unwrap_or(toml::Value::Boolean(false))
        }
        match self {
            Value::Number(dtype, value) => (dtype.name(), value),
            Value::Words(words) => {
                ("values", words.into_iter().map(i64::from).collect::<Vec<_>>().into())
            }
            Value::Address(name) => ("buffer", name.into()),
            Value::AddressLow(name) => ("buffer_low", name.into()),
            Value::BufferDescriptor(descriptor) => ("buffer_descriptor", plain(descriptor)),
            Value::ImageDescriptor(of) => ("image_descriptor", plain(of)),
            Value::SamplerDescriptor(of) => ("sampler_descriptor", plain(of)),
            Value::Builtin(builtin) => ("builtin", plain(builtin)),
            Value::Input(input) => ("builtin", plain(input)),
            Value::Wave(input) => ("builtin", plain(input)),
        }
    }

    fn into_table(self, position: &str, at: u32) -> toml::Table {
        let (key, value) = self.into_entry();
        toml::Table::from_iter([
            (position.to_string(), i64::from(at).into()),
            (key.to_string(), value),
        ])
    }
}

impl TryFrom<toml::Table> for Register {
    type Error = String;

    fn try_from(table: toml::Table) -> Result<Register, String> {
        placed(table, "first").map(|(first, value)| Register { first, value })
    }
}

impl From<Register> for toml::Table {
    fn from(register: Register) -> toml::Table {
        register.value.into_table("first", register.first)
    }
}

impl TryFrom<toml::Table> for Part {
    type Error = String;

    fn try_from(table: toml::Table) -> Result<Part, String> {
        placed(table, "at").map(|(at, value)| Part { at, value })
    }
}

impl From<Part> for toml::Table {
    fn from(part: Part) -> toml::Table {
        part.value.into_table("at", part.at)
    }
}
