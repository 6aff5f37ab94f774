//! The launch manifest, key by key: a TOML file that describes one launch. Paths in it are relative to it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
pub use warploom::images::{
    AddressMode, AddressModes, Dim, Filter, ImageDescription, Layout, Sampler, Sampling,
};
use warploom_container::Arch;
use warploom_ir::special::Reciprocals;

use super::Dtype;
use super::graphics::{Bank, Exports, Pixels, Primitives, Stage, Tessellation, Vertices};
use super::raw::{BinaryFormat, Part, Raw};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub kernel: Kernel,
    #[serde(default)]
    pub launch: Launch,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<Vertices>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primitives: Option<Primitives>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tessellation: Option<Tessellation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pixels: Option<Pixels>,
    #[serde(default, rename = "bank", skip_serializing_if = "BTreeMap::is_empty")]
    pub banks: BTreeMap<String, Bank>,
    #[serde(default, rename = "export", skip_serializing_if = "is_default")]
    pub exports: Exports,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<Raw>,
    #[serde(default, rename = "arg", skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Arg>,
    #[serde(default, rename = "buffer", skip_serializing_if = "BTreeMap::is_empty")]
    pub buffers: BTreeMap<String, Buffer>,
    #[serde(default, rename = "surface", skip_serializing_if = "BTreeMap::is_empty")]
    pub surfaces: BTreeMap<String, Surface>,
    #[serde(default, rename = "texture", skip_serializing_if = "BTreeMap::is_empty")]
    pub textures: BTreeMap<String, Texture>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_pool: Option<ImagePool>,
    #[serde(default, rename = "symbol", skip_serializing_if = "BTreeMap::is_empty")]
    pub symbols: BTreeMap<String, Symbol>,
    #[serde(default, rename = "sparse", skip_serializing_if = "BTreeMap::is_empty")]
    pub sparse: BTreeMap<String, Sparse>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub printf: Printf,
}

/// `[kernel]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Recognised by its content.
    pub binary: PathBuf,
    /// Modules of PTX that are linked with the binary, which is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<PathBuf>,
    /// Of a binary that cannot be recognised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<BinaryFormat>,
    /// Of a shader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// The header of a Maxwell shader that has none in front of its code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<PathBuf>,
    /// A vertex program of Maxwell that runs before the binary in the same lanes: what dumps call vertex program A.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertex_a: Option<PathBuf>,
    /// The constant bank in which instructions of a Maxwell shader find handles of images.
    #[serde(default, skip_serializing_if = "is_default")]
    pub texture_bank: u8,
    /// May be left out if the binary has one kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// The GPU whose driver chooses among code for several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch: Option<Arch>,
    /// Of Maxwell kernels.
    #[serde(default)]
    pub reciprocals: Reciprocals,
    /// What the driver must know of kernels of vISA, where the binary does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ze_info: Option<PathBuf>,
    /// The GPU that vISA is for, where it does not say so: see [`Platform`](warploom_guest::platform::Platform).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
}

/// So many elements: of an array's type alone, serde would leave what follows them unread.
pub(super) fn exactly<'de, D: Deserializer<'de>, T: Deserialize<'de>, const N: usize>(
    from: D,
) -> Result<[T; N], D::Error> {
    let elements = Vec::deserialize(from)?;
    let count = elements.len();
    elements.try_into().map_err(|_| D::Error::custom(format!("{count} elements: expected {N}")))
}

/// One to three sizes; those that are left out are 1.
fn up_to_three<'de, D: Deserializer<'de>>(from: D) -> Result<[u32; 3], D::Error> {
    let given = Vec::deserialize(from)?;
    let count = given.len();
    let mut sizes = [1; 3];
    let places = sizes.get_mut(..count).filter(|places| !places.is_empty());
    places
        .ok_or_else(|| D::Error::custom(format!("{count} elements: expected 1 to 3")))?
        .copy_from_slice(&given);
    Ok(sizes)
}

/// `[launch]`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// In blocks. It is left out where arrays of lanes say how many there are, and so is `block`: 0 then.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "exactly")]
    pub grid: [u32; 3],
    /// In lanes.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "exactly")]
    pub block: [u32; 3],
    /// Dynamic shared memory.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shared_bytes: u32,
    /// Local memory of a lane for calls whose depth the compiler cannot know, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<u32>,
    /// The heap of device code (`malloc`), in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap_bytes: Option<u64>,
    /// All blocks are resident and may wait for each other.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cooperative: bool,
    /// Guest instructions (of warps) after which the launch is a fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction_limit: Option<u64>,
    /// Seconds after which the launch is a fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
}

/// `[[arg]]`: one key and its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "toml::Table", into = "toml::Table")]
pub enum Arg {
    /// Passes the guest address of a buffer.
    Buffer(String),
    /// Passes the guest address of a sparse range.
    Sparse(String),
    Surface(String),
    Texture(String),
    /// A number, as its bytes.
    Number(Dtype, toml::Value),
    /// Raw bytes of a structure, in hex.
    Bytes(String),
    /// Passes a part of so many bytes of dynamic shared memory: an OpenCL kernel's `local` pointer.
    Local(u32),
    /// Passes a sampler to a kernel that takes images.
    Sampler(Sampler),
}

impl TryFrom<toml::Table> for Arg {
    type Error = String;

    fn try_from(table: toml::Table) -> Result<Arg, String> {
        let mut entries = table.into_iter();
        let (Some((key, value)), None) = (entries.next(), entries.next()) else {
            return Err("an [[arg]] has exactly one key, such as buffer, i32 or f32".into());
        };
        if let Some(dtype) = Dtype::from_name(&key) {
            dtype.encode(&value)?;
            return Ok(Arg::Number(dtype, value));
        }
        if key == "local" {
            let bytes = value.as_integer().and_then(|bytes| u32::try_from(bytes).ok());
            return bytes
                .map(Arg::Local)
                .ok_or_else(|| format!("`local` of an [[arg]] is {value}: expected bytes"));
        }
        if key == "sampler" {
            let sampler = value
                .try_into()
                .map_err(|e: toml::de::Error| format!("`sampler`: {}", e.message()))?;
            return Ok(Arg::Sampler(sampler));
        }
        let make = match key.as_str() {
            "buffer" => Arg::Buffer,
            "sparse" => Arg::Sparse,
            "surface" => Arg::Surface,
            "texture" => Arg::Texture,
            "bytes" => Arg::Bytes,
            _ => {
                let expected = "buffer, sparse, surface, texture, sampler, bytes, local, i8, u8, i16, u16, i32, u32, i64, u64, \
                                f16, f32 or f64";
                return Err(format!("unknown key `{key}` of an [[arg]], expected {expected}"));
            }
        };
        match value {
            toml::Value::String(text) => Ok(make(text)),
            other => {
                Err(format!("`{key}` of an [[arg]] is {}: expected a string", other.type_str()))
            }
        }
    }
}

impl From<Arg> for toml::Table {
    fn from(arg: Arg) -> toml::Table {
        let (key, value) = match arg {
            Arg::Buffer(name) => ("buffer", name.into()),
            Arg::Sparse(name) => ("sparse", name.into()),
            Arg::Surface(name) => ("surface", name.into()),
            Arg::Texture(name) => ("texture", name.into()),
            Arg::Bytes(hex) => ("bytes", hex.into()),
            Arg::Local(bytes) => ("local", i64::from(bytes).into()),
            // Words and a flag: it can be written.
            Arg::Sampler(sampler) => {
                ("sampler", toml::Value::try_from(sampler).unwrap_or(toml::Value::Boolean(false)))
            }
            Arg::Number(dtype, value) => (dtype.name(), value),
        };
        toml::Table::from_iter([(key.to_string(), value)])
    }
}

/// `[buffer.NAME]`: device memory. Exactly one of `file`, `zeros` and `values` says what is in it at first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// `.npy`, or raw bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// So many zero bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zeros: Option<u64>,
    /// Numbers of type `dtype`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<toml::Value>>,
    /// Element type, where the file does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtype: Option<Dtype>,
    /// The guest address, a multiple of 64 KiB; an integer, or a string with one that is too large for TOML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<toml::Value>,
    /// `.npy` that the buffer is compared with after the launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtol: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atol: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub png: Option<Png>,
    /// Addresses and descriptors of buffers that it holds from the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// `png = { size = [w, h], map = "iterations", max = 256 }`: an image of unsigned integers, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Png {
    /// Width and height in pixels.
    #[serde(deserialize_with = "exactly")]
    pub size: [u32; 2],
    pub map: ColourMap,
    /// The value of the last colour; without it the greatest that occurs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColourMap {
    /// Cyclic colours; `max` and above is black.
    Iterations,
    /// From black through warm colours to white, by the logarithm.
    Density,
    /// Grey, in proportion.
    Grey,
}

/// `[surface.NAME]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    pub dim: Dim,
    /// Width, height, depth (or layers; six for each cube); of those that are left out there is 1.
    #[serde(deserialize_with = "up_to_three")]
    pub size: [u32; 3],
    /// Of a mip chain: each half as large as the one before.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub levels: u32,
    /// Such as `r32_uint`.
    pub format: String,
    #[serde(default)]
    pub layout: Layout,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_height: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_depth: Option<u32>,
    /// Numbers of the 64 KiB pages, from its first byte in memory, that are resident; without it all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident: Option<Vec<u64>>,
    /// `.npy`, PNG or raw bytes; without it zeros.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// What the surface is compared with after the launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtol: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atol: Option<f64>,
    /// Is also written as PNG.
    #[serde(default, skip_serializing_if = "is_default")]
    pub png: bool,
}

/// `[texture.NAME]`: a surface as kernels of NVIDIA sample it, `texture = "NAME"` of an `[[arg]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texture {
    /// Of a surface.
    pub surface: String,
    pub filter: Filter,
    /// Of all axes, or a list of one for each; the last counts for those that are left out.
    pub address: AddressModes,
    /// Coordinates are from 0 to 1, not to the size of the image.
    #[serde(default)]
    pub normalized: bool,
    /// Between levels; without it only the first is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mip_filter: Option<Filter>,
    /// What must hold of the reference and a texel, such as `less`: the value is how much of the texels fulfils it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<String>,
    /// Red, green, blue and alpha beyond the edges, for `clamp_to_border`.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "exactly")]
    pub border: [f32; 4],
    /// Added to levels of detail.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lod_bias: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_lod: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_lod: Option<f32>,
}

impl Surface {
    /// The image, without what is in it.
    pub fn description(&self) -> ImageDescription {
        ImageDescription {
            dim: self.dim,
            size: self.size,
            levels: self.levels,
            format: self.format.clone(),
            layout: self.layout,
            block_height: self.block_height,
            block_depth: self.block_depth,
            resident: self.resident.clone(),
        }
    }
}

impl Texture {
    /// How kernels sample the surface.
    pub fn sampling(&self) -> Sampling {
        Sampling {
            filter: self.filter,
            address: self.address,
            normalized: self.normalized,
            mip_filter: self.mip_filter,
            compare: self.compare.clone(),
            border: self.border,
            lod_bias: self.lod_bias,
            min_lod: self.min_lod,
            max_lod: self.max_lod,
        }
    }
}

/// `[image_pool]`: descriptors as an NVIDIA driver kept them, instead of surfaces and textures. Images lie where the headers
/// say, as buffers with an `address`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImagePool {
    /// Texture headers of 32 bytes, from index 0 on.
    pub headers: PathBuf,
    /// Samplers of 32 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samplers: Option<PathBuf>,
    /// The handles that variables of the module for textures and surfaces stand for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, u32>,
}

/// `[symbol.NAME]`: a `__constant__` or `__device__` variable; as for buffers. Without `file`, `zeros` and `values` it begins as the
/// module has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symbol {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zeros: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<toml::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtype: Option<Dtype>,
    /// What the variable, from its start, is compared with after the launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtol: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atol: Option<f64>,
}

/// `[printf]`: what device code prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printf {
    /// Of the text: what finds no room is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// A file with the text that is expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<PathBuf>,
}

/// `[sparse.NAME]`: a reserved range of which only some pages are resident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sparse {
    pub bytes: u64,
    /// Numbers of 64 KiB pages, from the start of the range.
    #[serde(default)]
    pub resident: Vec<u64>,
}

pub(super) fn one() -> u32 {
    1
}

pub(super) fn is_one(value: &u32) -> bool {
    *value == one()
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
