//! The resolved `[raw]`: the registers that a wave of a plain instruction stream starts with.

use warploom_container::hsaco::FloatMode;

use super::graphics::{Input, Shader, WaveInput, source_of, source_of_wave};
use super::raw::{self, BufferDescriptor, Builtin, ImageOf};
use super::resolve::{Buffer, Source};
use super::{Error, Manifest};

/// The SGPRs that a manifest can set: all below VCC.
const SGPRS: u32 = 104;
const MAX_VGPRS: u32 = 256;
/// The most LDS bytes of a workgroup.
const MAX_LDS: u32 = 1 << 16;
/// The most scratch bytes of a lane: a wave's size is 13 bits of 1,024 bytes
/// (`COMPUTE_TMPRING_SIZE`).
const MAX_SCRATCH: u32 = ((1 << 13) - 1) * 1024 / 64;
/// The most lanes of a workgroup.
const MAX_LANES: u64 = 1024;
/// The largest stride: the field for a record's size has 14 bits.
const MAX_STRIDE: u16 = (1 << 14) - 1;

/// How waves of a plain instruction stream start.
#[derive(Clone, Debug, PartialEq)]
pub struct RawLaunch {
    /// Offset of the first instruction in bytes, a multiple of 4 within the binary.
    pub entry: u32,
    /// The VGPRs of a lane, 1 to 256.
    pub vgprs: u32,
    pub lds_bytes: u32,
    /// The scratch bytes of a lane.
    pub scratch_bytes: u32,
    pub mode: FloatMode,
    /// First register and content, without overlaps. Other SGPRs are 0. No builtin here differs
    /// between lanes.
    pub sgpr: Vec<(u32, RawValue)>,
    /// First register and content, likewise. All builtins here differ between lanes.
    pub vgpr: Vec<(u32, RawValue)>,
}

/// The value of registers or of a part of a buffer, resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum RawValue {
    /// One word for each register. In VGPRs, all lanes have the word.
    Words(Vec<u32>),
    /// A VGPR with one word for each lane of the block.
    Lanes(Vec<u32>),
    /// The 64-bit address of `buffers[i]`.
    Address(usize),
    /// The low half of the address of `buffers[i]`.
    AddressLow(usize),
    Descriptor(RawDescriptor),
    /// A T# of `surfaces[i]`.
    Image(usize),
    /// An S# of `textures[i]`.
    Sampler(usize),
    Builtin(Builtin),
    /// An input in VGPRs of shaders.
    Input(Input),
    /// An input in SGPRs of shaders.
    Wave(WaveInput),
}

impl RawValue {
    /// Returns the index of the buffer whose address the value has.
    pub fn buffer(&self) -> Option<usize> {
        match self {
            RawValue::Address(i) | RawValue::AddressLow(i) => Some(*i),
            RawValue::Descriptor(descriptor) => Some(descriptor.buffer),
            RawValue::Words(_)
            | RawValue::Lanes(_)
            | RawValue::Image(_)
            | RawValue::Sampler(_)
            | RawValue::Builtin(_)
            | RawValue::Input(_)
            | RawValue::Wave(_) => None,
        }
    }
}

/// Supplies values that are known only when the launch has its memory.
pub trait Placed {
    /// Returns the address of `buffers[i]`.
    fn buffer(&self, i: usize) -> u64;
    /// Returns the T# of `surfaces[i]`.
    fn image(&self, i: usize) -> [u32; 8];
    /// Returns the S# of `textures[i]`.
    fn sampler(&self, i: usize) -> [u32; 4];
}

/// A V# whose buffer is resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct RawDescriptor {
    /// The index in `buffers`.
    pub buffer: usize,
    pub offset: u64,
    /// At most 16,383.
    pub stride: u16,
    pub num_records: u32,
    pub swizzle: bool,
    pub word3: u32,
}

impl RawDescriptor {
    /// Returns the V# of a buffer at address `buffer`.
    ///
    /// Source: AMD, "Vega" Instruction Set Architecture, "Buffer Resource Descriptor".
    pub fn words(&self, buffer: u64) -> [u32; 4] {
        let base = buffer.wrapping_add(self.offset);
        let high = (base >> 32) as u32 & 0xffff
            | u32::from(self.stride) << 16
            | u32::from(self.swizzle) << 31;
        [base as u32, high, self.num_records, self.word3]
    }
}

impl RawValue {
    /// Returns the number of registers, or of words of memory, that the value takes.
    pub fn length(&self) -> usize {
        match self {
            RawValue::Words(words) => words.len(),
            RawValue::Address(_) => 2,
            RawValue::AddressLow(_)
            | RawValue::Lanes(_)
            | RawValue::Builtin(_)
            | RawValue::Wave(_) => 1,
            RawValue::Descriptor(_) | RawValue::Sampler(_) => 4,
            RawValue::Image(_) => 8,
            RawValue::Input(input) => input.components(),
        }
    }

    /// Returns the words of the value, or `None` if it differs between lanes or blocks.
    pub fn words(&self, placed: &impl Placed) -> Option<Vec<u32>> {
        Some(match self {
            RawValue::Words(words) => words.clone(),
            RawValue::Address(i) => {
                vec![placed.buffer(*i) as u32, (placed.buffer(*i) >> 32) as u32]
            }
            RawValue::AddressLow(i) => vec![placed.buffer(*i) as u32],
            RawValue::Descriptor(descriptor) => {
                descriptor.words(placed.buffer(descriptor.buffer)).to_vec()
            }
            RawValue::Image(i) => placed.image(*i).to_vec(),
            RawValue::Sampler(i) => placed.sampler(*i).to_vec(),
            RawValue::Lanes(_) | RawValue::Builtin(_) | RawValue::Input(_) | RawValue::Wave(_) => {
                return None;
            }
        })
    }
}

impl Source<'_> {
    /// Checks and resolves `[raw]`, for a binary of so many bytes.
    pub(super) fn raw(
        &self,
        raw: raw::Raw,
        buffers: &[Buffer],
        manifest: &Manifest,
        shader: Option<&Shader>,
        binary: usize,
    ) -> Result<RawLaunch, Error> {
        if !raw.entry.is_multiple_of(4) || u64::from(raw.entry) + 4 > binary as u64 {
            let problem =
                format!("{}: expected a multiple of 4 in the binary's {binary} bytes", raw.entry);
            return Err(self.wrong("raw.entry", problem));
        }
        let block: u64 = manifest.launch.block.iter().map(|&axis| u64::from(axis)).product();
        let lanes = shader.map_or(block, |shader| shader.lanes as u64);
        for (key, value, least, most) in [
            ("raw.vgprs", u64::from(raw.vgprs), 1, u64::from(MAX_VGPRS)),
            ("raw.lds_bytes", raw.lds_bytes.into(), 0, MAX_LDS.into()),
            ("raw.scratch_bytes", raw.scratch_bytes.into(), 0, MAX_SCRATCH.into()),
            ("launch.block", if shader.is_some() { 1 } else { block }, 1, MAX_LANES),
        ] {
            if !(least..=most).contains(&value) {
                return Err(self.wrong(key, format!("{value}: expected {least} to {most}")));
            }
        }
        let mode = raw.mode;
        let fields = [mode.round_32, mode.round_64_16, mode.denorm_32, mode.denorm_64_16];
        if let Some(field) = fields.iter().find(|&&field| field > 3) {
            return Err(self.wrong("raw.mode", format!("{field}: expected 0 to 3")));
        }
        let registers = |list: Vec<raw::Register>, kind: &str, count: u32| {
            let mut taken = vec![false; count as usize];
            let mut values = Vec::with_capacity(list.len());
            for (i, register) in list.into_iter().enumerate() {
                let key = format!("raw.{kind} {}", i + 1);
                let value = match register.value {
                    raw::Value::Words(words) if kind == "vgpr" => RawValue::Lanes(words),
                    value => self.raw_value(&key, value, buffers, manifest)?,
                };
                match &value {
                    RawValue::Lanes(words) if words.len() as u64 != lanes => {
                        return Err(self.wrong(
                            key,
                            format!(
                                "{} values: expected one for each of {lanes} lanes",
                                words.len()
                            ),
                        ));
                    }
                    RawValue::Builtin(builtin) if builtin.is_varying() != (kind == "vgpr") => {
                        return Err(self.wrong(key, format!("a builtin that is in no {kind}")));
                    }
                    RawValue::Input(_) | RawValue::Wave(_)
                        if (kind == "vgpr") != matches!(value, RawValue::Input(_)) =>
                    {
                        return Err(self.wrong(key, format!("a builtin that is in no {kind}")));
                    }
                    RawValue::Input(input)
                        if shader.is_none_or(|shader| !shader.has_input(*input)) =>
                    {
                        return Err(self.wrong(key, format!("expected {}", source_of(*input))));
                    }
                    RawValue::Wave(input)
                        if shader.is_none_or(|shader| !shader.has_wave_input(*input)) =>
                    {
                        return Err(self.wrong(key, format!("expected {}", source_of_wave(*input))));
                    }
                    RawValue::Builtin(builtin) if shader.is_some() && !builtin.is_of_shaders() => {
                        return Err(self.wrong(key, "the hardware gives this to compute programs"));
                    }
                    _ => {}
                }
                let length = value.length();
                let range =
                    register.first as usize..(register.first as usize).saturating_add(length);
                let places = taken.get_mut(range).ok_or_else(|| {
                    self.wrong(
                        &key,
                        format!("{length} registers from {}: there are {count}", register.first),
                    )
                })?;
                if places.iter_mut().any(|taken| std::mem::replace(taken, true)) {
                    return Err(self.wrong(key, "it overlaps another one"));
                }
                values.push((register.first, value));
            }
            Ok(values)
        };
        Ok(RawLaunch {
            entry: raw.entry,
            vgprs: raw.vgprs,
            lds_bytes: raw.lds_bytes,
            scratch_bytes: raw.scratch_bytes,
            mode,
            sgpr: registers(raw.sgpr, "sgpr", SGPRS)?,
            vgpr: registers(raw.vgpr, "vgpr", raw.vgprs)?,
        })
    }

    /// Resolves the buffers, surfaces and textures of a value.
    pub(super) fn raw_value(
        &self,
        key: &str,
        value: raw::Value,
        buffers: &[Buffer],
        manifest: &Manifest,
    ) -> Result<RawValue, Error> {
        let among = |kind: &str, name: &str, at: Option<usize>| {
            at.ok_or_else(|| self.wrong(key, format!("no [{kind}.{name}] in the manifest")))
        };
        let surface = |name: &str| {
            among("surface", name, manifest.surfaces.keys().position(|known| known == name))
        };
        let texture = |name: &str| {
            among("texture", name, manifest.textures.keys().position(|known| known == name))
        };
        let position = |name: &str| {
            let found = buffers.iter().position(|buffer| buffer.name == name);
            found.ok_or_else(|| self.wrong(key, format!("no [buffer.{name}] in the manifest")))
        };
        Ok(match value {
            raw::Value::Number(dtype, value) => {
                let bytes = dtype.encode(&value).map_err(|problem| self.wrong(key, problem))?;
                RawValue::Words(
                    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect(),
                )
            }
            raw::Value::Words(words) if words.is_empty() => {
                return Err(self.wrong(key, "expected at least one value"));
            }
            raw::Value::Words(words) => RawValue::Words(words),
            raw::Value::Address(name) => RawValue::Address(position(&name)?),
            raw::Value::AddressLow(name) => RawValue::AddressLow(position(&name)?),
            raw::Value::Builtin(builtin) => RawValue::Builtin(builtin),
            raw::Value::Input(input) => RawValue::Input(input),
            raw::Value::Wave(input) => RawValue::Wave(input),
            raw::Value::ImageDescriptor(ImageOf::Surface(name)) => RawValue::Image(surface(&name)?),
            raw::Value::ImageDescriptor(ImageOf::Texture(name)) => {
                texture(&name)?;
                RawValue::Image(surface(&manifest.textures[&name].surface)?)
            }
            raw::Value::SamplerDescriptor(ImageOf::Texture(name)) => {
                RawValue::Sampler(texture(&name)?)
            }
            raw::Value::SamplerDescriptor(ImageOf::Surface(_)) => {
                return Err(self.wrong(
                    key,
                    "a sampler is that of a texture: expected { texture = \"NAME\" }",
                ));
            }
            raw::Value::BufferDescriptor(descriptor) => {
                let buffer = position(&descriptor.buffer)?;
                RawValue::Descriptor(self.descriptor(
                    key,
                    descriptor,
                    buffer,
                    buffers[buffer].content.len(),
                )?)
            }
        })
    }

    fn descriptor(
        &self,
        key: &str,
        descriptor: BufferDescriptor,
        buffer: usize,
        bytes: u64,
    ) -> Result<RawDescriptor, Error> {
        let BufferDescriptor { offset, stride, num_records, swizzle, word3, .. } = descriptor;
        let Some(left) = bytes.checked_sub(offset) else {
            return Err(self.wrong(key, format!("offset {offset}: the buffer has {bytes} bytes")));
        };
        if stride > MAX_STRIDE {
            return Err(self.wrong(key, format!("stride {stride}: expected 0 to {MAX_STRIDE}")));
        }
        let all = u32::try_from(left / u64::from(stride.max(1))).unwrap_or(u32::MAX);
        Ok(RawDescriptor {
            buffer,
            offset,
            stride,
            num_records: num_records.unwrap_or(all),
            swizzle,
            word3,
        })
    }
}
