//! The manifest's keys for shaders: `[vertices]`, `[primitives]`, `[tessellation]`, `[pixels]`,
//! `[bank.N]`, `[export]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use warploom_container::Input;

use super::format::{ExportFormat, TargetFormat};
use crate::Dtype;
use crate::manifest::{exactly, is_default, is_one, one};
use crate::raw::Part;

/// An array: a file, or numbers in nested lists, one level for each axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Given {
    File(PathBuf),
    Numbers(
        #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))] Vec<toml::Value>,
    ),
}

/// `[vertices]`: the inputs of all stages but the fragment stage, instance after instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Vertices {
    /// The number of vertices of an instance.
    pub count: u32,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub instances: u32,
    /// The `vertex_id` of the first vertex.
    #[serde(default, skip_serializing_if = "is_default")]
    pub first: u32,
    /// Maxwell: words of the attribute space from an address on, for example `attribute."0x80"`. A
    /// row for each vertex.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attribute: BTreeMap<String, Given>,
    /// The number of each vertex's patch, where a tessellator made the vertices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Given>,
    /// Arrays of vertices: the position of each in its patch, or in the ring of a geometry program.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, Given>"))]
    pub inputs: BTreeMap<Input, Given>,
}

/// `[primitives]`: the primitives of tessellation and geometry programs. Patches are primitives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Primitives {
    /// The number of vertices of a primitive.
    pub vertices: u32,
    /// Indices into the vertices of `[vertices]`. Without them, primitives take consecutive
    /// vertices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indices: Option<Given>,
    /// Control points of an output patch; without it, as many as the input has.
    ///
    /// For geometry programs: the number of instances; without it, 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Geometry: the most vertices that a thread may emit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_vertices: Option<u32>,
    /// Geometry: the kind of primitives that the emitted vertices form.
    #[serde(default, skip_serializing_if = "is_default")]
    pub strips: Strips,
    /// Geometry, GFX9: primitives of a workgroup. Without it, as many as a wave has lanes for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Geometry, GFX9: the words in LDS from one vertex to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_words: Option<u32>,
    /// Geometry, GFX9: the words of a thread in the ring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring_words: Option<u32>,
    /// Tessellation evaluation, Maxwell: words of control points, by address. A row for each vertex
    /// of each patch.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attribute: BTreeMap<String, Given>,
    /// Tessellation evaluation, Maxwell: words of patches, by address.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub patch: BTreeMap<String, Given>,
}

/// The kind of primitives that emitted vertices form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Strips {
    Points,
    Lines,
    #[default]
    Triangles,
}

/// `[tessellation]`: how GFX9 groups patches into workgroups, and the sizes of its patch data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tessellation {
    /// Patches of a workgroup. Without it, as many as a wave has lanes for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Bytes in the off-chip buffer from one workgroup's patches to the next workgroup's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offchip_bytes: Option<u32>,
    /// Bytes of a patch's tessellation factors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor_bytes: Option<u32>,
}

/// `[pixels]`: the lanes of a fragment program.
///
/// Each quad has four: (x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pixels {
    /// A number for each lane: 0 marks a helper lane. With `triangles`, which imply it, it may be
    /// left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered: Option<Given>,
    /// The primitive of each quad.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primitive: Option<Given>,
    /// GFX9: words of `[primitive][attribute][component][vertex]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Given>,
    /// GFX9: attributes without interpolation: their differences between vertices are 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flat: Vec<u32>,
    /// GFX9: attributes whose words are two halves. Each half is interpolated by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub half: Vec<u32>,
    /// Maxwell: words of `[primitive][vertex][word]`, from the first generic attribute on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<Given>,
    /// Maxwell: the clip coordinates w of `[primitive][vertex]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertex_w: Option<Given>,
    /// Maxwell: values of lanes by the attribute's address, instead of interpolation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attribute: BTreeMap<String, Given>,
    /// The triangles for the rasteriser, instead of arrays of lanes.
    #[serde(flatten)]
    pub draw: Draw,
    /// Arrays of lanes.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, Given>"))]
    pub inputs: BTreeMap<Input, Given>,
}

/// Triangles for the rasteriser: keys of `[pixels]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Draw {
    /// The clip coordinates x, y, z, w of vertices, three vertices per triangle.
    ///
    /// A vertex program exports them as position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triangles: Option<Given>,
    /// Indices of vertices, three per triangle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indices: Option<Given>,
    /// The vertices' words of each attribute, up to four words each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varyings: Vec<Given>,
    /// Left, top, width and height in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewport: Option<[f32; 4]>,
    /// The depths of z = 0 and of z = w.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth_range: Option<[f32; 2]>,
    /// The side of triangles that is not drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cull: Option<Side>,
    /// The winding of the front side: the order of its vertices in the picture.
    #[serde(default, rename = "winding", skip_serializing_if = "Option::is_none")]
    pub front: Option<Winding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Front,
    Back,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Winding {
    Clockwise,
    CounterClockwise,
}

/// `[bank.N]`: a constant bank of a Maxwell shader.
///
/// It has exactly one of `file`, `zeros` and `values`, like a buffer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bank {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zeros: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<serde_json::Value>>"))]
    pub values: Option<Vec<toml::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtype: Option<Dtype>,
    /// Addresses of buffers and numbers that the bank holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// `[export]`: the outputs of a shader for the next stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exports {
    /// A number for each lane that tells whether any of its exports is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Given>,
    /// The picture of the first colour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub png: Option<Picture>,
    /// `[export.NAME]`.
    #[serde(flatten)]
    pub targets: BTreeMap<String, Export>,
}

/// `[export.NAME]`: one target.
///
/// GFX9: `pos0` to `pos3`, `param0` to `param31`, `mrt0` to `mrt7`, `mrtz`. Maxwell: `target0` to
/// `target7`, `mask`, `depth`; for vertices, the address of the first word, for example `"0x70"`;
/// for patches, for example, `"patch0x20"`. Geometry programs also have `emitted`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// The format of the exported words, by name or by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub format: Option<ExportFormat>,
    /// The format that decoded words are converted to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub target: Option<TargetFormat>,
    /// Maxwell: the types of words, where they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<Dtype>>,
    /// The expected rows, one per lane. Only rows of kept lanes are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Given>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atol: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtol: Option<f64>,
    /// The share of lanes that may differ by more than the tolerance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differ: Option<f64>,
}

/// `png = { size = [w, h] }` of `[export]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// Width and height in pixels.
    #[serde(deserialize_with = "exactly")]
    pub size: [u32; 2],
    /// Whether a pixel is drawn only if it is nearer than the pixel drawn there before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub depth_test: bool,
}
