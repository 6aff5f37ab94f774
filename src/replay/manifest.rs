//! The launch manifest, key by key: a TOML file that describes one launch.
//!
//! Paths in a manifest are relative to it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
pub use warploom::images::{
    AddressMode, AddressModes, Dim, Filter, ImageDescription, Layout, Sampler, Sampling,
};
use warploom_container::Arch;
use warploom_guest::suggest::did_you_mean;
use warploom_ir::special::Reciprocals;

use super::Dtype;
use super::graphics::{Bank, Exports, Pixels, Primitives, Stage, Tessellation, Vertices};
use super::raw::{BinaryFormat, Part, Raw};
#[cfg(feature = "schema")]
use crate::schema;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// The path of the binary. Its content tells its kind.
    pub binary: PathBuf,
    /// PTX modules to link with the binary, which is PTX too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<PathBuf>,
    /// The format of a binary that cannot be recognised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<BinaryFormat>,
    /// The stage of a shader.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub stage: Option<Stage>,
    /// The header of a Maxwell shader whose code does not begin with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<PathBuf>,
    /// A Maxwell vertex program that runs before the binary in the same lanes.
    ///
    /// Dumps call it vertex program A.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertex_a: Option<PathBuf>,
    /// The constant bank in which instructions of a Maxwell shader find handles of images.
    #[serde(default, skip_serializing_if = "is_default")]
    pub texture_bank: u8,
    /// The kernel's name. May be left out if the binary has one kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// The GPU whose driver selects among code for several GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub arch: Option<Arch>,
    /// The reciprocals of Maxwell kernels.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::reciprocals"))]
    pub reciprocals: Reciprocals,
    /// The file with the driver's facts about vISA kernels, where the binary lacks them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ze_info: Option<PathBuf>,
    /// The GPU that vISA is for, where the binary does not say it: see
    /// [`Platform`](warploom_guest::platform::Platform).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
}

/// Reads exactly `N` elements.
///
/// The array type's own deserialization would leave elements after them unread.
pub(super) fn exactly<'de, D: Deserializer<'de>, T: Deserialize<'de>, const N: usize>(
    from: D,
) -> Result<[T; N], D::Error> {
    let elements = Vec::deserialize(from)?;
    let count = elements.len();
    elements.try_into().map_err(|_| D::Error::custom(format!("{count} elements: expected {N}")))
}

/// Reads one to three sizes. Missing sizes are 1.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The number of blocks.
    ///
    /// Both `grid` and `block` are left out (0) where arrays of lanes imply them.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "exactly")]
    pub grid: [u32; 3],
    /// The number of lanes of a block.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "exactly")]
    pub block: [u32; 3],
    /// The bytes of dynamic shared memory.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shared_bytes: u32,
    /// A lane's bytes of local memory for calls whose depth the compiler cannot know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<u32>,
    /// The bytes of the heap of device code (`malloc`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap_bytes: Option<u64>,
    /// Whether all blocks are resident and may wait for each other.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cooperative: bool,
    /// The number of guest instructions (of warps) after which the launch faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction_limit: Option<u64>,
    /// The seconds after which the launch faults.
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
    /// Passes the bytes of a number.
    Number(Dtype, toml::Value),
    /// Passes raw bytes of a structure, given in hex.
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
                let known = expected.split([',', ' ']).filter(|name| *name != "or");
                let hint = did_you_mean(&key, known);
                return Err(format!(
                    "unknown key `{key}` of an [[arg]]{hint}, expected {expected}"
                ));
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
            // Words and a flag can always be written as TOML.
            Arg::Sampler(sampler) => {
                ("sampler", toml::Value::try_from(sampler).unwrap_or(toml::Value::Boolean(false)))
            }
            Arg::Number(dtype, value) => (dtype.name(), value),
        };
        toml::Table::from_iter([(key.to_string(), value)])
    }
}

/// `[buffer.NAME]`: device memory.
///
/// Exactly one of `file`, `zeros` and `values` gives its initial content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// A `.npy` file, or raw bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The number of zero bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zeros: Option<u64>,
    /// Numbers of type `dtype`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<serde_json::Value>>"))]
    pub values: Option<Vec<toml::Value>>,
    /// The element type, where the file does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtype: Option<Dtype>,
    /// The guest address, a multiple of 64 KiB.
    ///
    /// An integer, or a string with an integer that is too large for TOML.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub address: Option<toml::Value>,
    /// The `.npy` file that the buffer is compared with after the launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtol: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atol: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub png: Option<Png>,
    /// Addresses and descriptors of buffers that the buffer holds from the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// `png = { size = [w, h], map = "iterations", max = 256 }`: an image of unsigned integers.
///
/// Its rows go from top to bottom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Png {
    /// Width and height in pixels.
    #[serde(deserialize_with = "exactly")]
    pub size: [u32; 2],
    pub map: ColourMap,
    /// The value of the last colour. Without it, the greatest value that occurs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ColourMap {
    /// Cyclic colours. `max` and greater values are black.
    Iterations,
    /// From black through warm colours to white, by the logarithm.
    Density,
    /// Grey, in proportion.
    Grey,
}

/// `[surface.NAME]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Surface {
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::dim"))]
    pub dim: Dim,
    /// Width, height, and depth (or layers; six for each cube). Missing sizes are 1.
    #[serde(deserialize_with = "up_to_three")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::up_to_three"))]
    pub size: [u32; 3],
    /// The levels of a mip chain: each is half as large as the level before.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub levels: u32,
    /// The format, for example `r32_uint`.
    pub format: String,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::layout"))]
    pub layout: Layout,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_height: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_depth: Option<u32>,
    /// Numbers of the resident 64 KiB pages, from the first byte in memory. Without it, all are
    /// resident.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident: Option<Vec<u64>>,
    /// A file of `.npy`, PNG or raw bytes. Without it, zeros.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The file that the surface is compared with after the launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtol: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atol: Option<f64>,
    /// Whether the surface is also written as PNG.
    #[serde(default, skip_serializing_if = "is_default")]
    pub png: bool,
}

/// `[texture.NAME]`: a surface that kernels of NVIDIA sample.
///
/// An `[[arg]]` names it with `texture = "NAME"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Texture {
    /// The name of the surface.
    pub surface: String,
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::filter"))]
    pub filter: Filter,
    /// The mode of all axes, or a list of modes. The last mode also applies to missing axes.
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::address"))]
    pub address: AddressModes,
    /// Whether coordinates are from 0 to 1, not to the size of the image.
    #[serde(default)]
    pub normalized: bool,
    /// The filter between levels. Without it, only the first level is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::filter"))]
    pub mip_filter: Option<Filter>,
    /// The comparison of the reference with a texel, for example `less`.
    ///
    /// The sampled value is the share of texels that fulfil it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<String>,
    /// The red, green, blue and alpha beyond the edges, for `clamp_to_border`.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "exactly")]
    pub border: [f32; 4],
    /// The bias that is added to levels of detail.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lod_bias: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_lod: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_lod: Option<f32>,
}

impl Surface {
    /// Returns the description of the image, without its content.
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
    /// Returns how kernels sample the surface.
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

/// `[image_pool]`: descriptors in an NVIDIA driver's form, instead of surfaces and textures.
///
/// Images lie where the headers say, as buffers with an `address`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ImagePool {
    /// The file of texture headers of 32 bytes, from index 0 on.
    pub headers: PathBuf,
    /// The file of samplers of 32 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samplers: Option<PathBuf>,
    /// The handles of the module's variables for textures and surfaces.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, u32>,
}

/// `[symbol.NAME]`: a `__constant__` or `__device__` variable; keys as for buffers.
///
/// Without `file`, `zeros` and `values`, the variable keeps the module's content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Symbol {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zeros: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<serde_json::Value>>"))]
    pub values: Option<Vec<toml::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtype: Option<Dtype>,
    /// The file that the variable, from its start, is compared with after the launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtol: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atol: Option<f64>,
}

/// `[printf]`: the text that device code prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Printf {
    /// The room for the text in bytes. Text without room is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The file with the expected text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<PathBuf>,
}

/// `[sparse.NAME]`: a reserved range, of which only some pages are resident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sparse {
    pub bytes: u64,
    /// Numbers of the resident 64 KiB pages, from the start of the range.
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
