//! The manifest's keys for shaders: `[vertices]`, `[primitives]`, `[tessellation]`, `[pixels]`, `[bank.N]`, `[export]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use warploom_container::Input;

use super::format::{ExportFormat, TargetFormat};
use crate::Dtype;
use crate::manifest::{exactly, is_default, is_one, one};
use crate::raw::Part;

/// An array: a file, or numbers, in lists of lists where it has several axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Given {
    File(PathBuf),
    Numbers(Vec<toml::Value>),
}

/// `[vertices]`: what all stages but the fragment stage begin with, instance after instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vertices {
    /// Of an instance.
    pub count: u32,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub instances: u32,
    /// The first one's `vertex_id`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub first: u32,
    /// Maxwell: words of the attribute space from an address on, such as `attribute."0x80"`. A row for each vertex.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attribute: BTreeMap<String, Given>,
    /// The number of the patch that each vertex is of, where a tessellator made them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Given>,
    /// Arrays of vertices: where each is in its patch, or in the ring of a geometry program.
    #[serde(flatten)]
    pub inputs: BTreeMap<Input, Given>,
}

/// `[primitives]`: what tessellation and geometry programs run for. Patches are primitives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Primitives {
    /// Vertices of each.
    pub vertices: u32,
    /// Numbers of its vertices among those of `[vertices]`; without it they are one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indices: Option<Given>,
    /// Control points that a patch has afterwards; without it as many as before. Of geometry programs instances; without it 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Geometry: vertices that a thread may emit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_vertices: Option<u32>,
    /// Geometry: what the emitted vertices make.
    #[serde(default, skip_serializing_if = "is_default")]
    pub strips: Strips,
    /// Geometry, GFX9: primitives of a workgroup; without it as many as a wave has lanes for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Geometry, GFX9: words in LDS from a vertex to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_words: Option<u32>,
    /// Geometry, GFX9: words that a thread has in the ring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring_words: Option<u32>,
    /// Tessellation evaluation, Maxwell: words of control points, by address. A row for each vertex of each patch.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attribute: BTreeMap<String, Given>,
    /// Likewise words of patches.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub patch: BTreeMap<String, Given>,
}

/// What vertices that a geometry program emits make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strips {
    Points,
    Lines,
    #[default]
    Triangles,
}

/// `[tessellation]`: how GFX9 has patches in workgroups, and what it keeps of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tessellation {
    /// Patches of a workgroup; without it as many as a wave has lanes for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Bytes in the off-chip buffer from a workgroup's patches to the next one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offchip_bytes: Option<u32>,
    /// Bytes of a patch's tessellation factors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor_bytes: Option<u32>,
}

/// `[pixels]`: the lanes of a fragment program, four for each quad: (x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pixels {
    /// A number for each lane; 0: it is a helper. It may be left out with `triangles`, which says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered: Option<Given>,
    /// The primitive of each quad.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primitive: Option<Given>,
    /// GFX9: words of `[primitive][attribute][component][vertex]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Given>,
    /// GFX9: attributes that are not interpolated, so that their differences between vertices are 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flat: Vec<u32>,
    /// GFX9: attributes whose words are two halves, each of which is interpolated by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub half: Vec<u32>,
    /// Maxwell: words of `[primitive][vertex][word]`, from the first generic attribute on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<Given>,
    /// Maxwell: clip coordinates w of `[primitive][vertex]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertex_w: Option<Given>,
    /// Maxwell: values of lanes, by the attribute's address, in place of interpolation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attribute: BTreeMap<String, Given>,
    /// What the rasteriser draws, in place of arrays of lanes.
    #[serde(flatten)]
    pub draw: Draw,
    /// Arrays of lanes.
    #[serde(flatten)]
    pub inputs: BTreeMap<Input, Given>,
}

/// Triangles for the rasteriser: keys of `[pixels]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Draw {
    /// Clip coordinates x, y, z, w of vertices, three in turn for each triangle: what a vertex program exports as position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triangles: Option<Given>,
    /// Numbers of vertices, three in turn for each triangle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indices: Option<Given>,
    /// What the vertices have of each attribute, up to four words each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varyings: Vec<Given>,
    /// Left, top, width and height in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewport: Option<[f32; 4]>,
    /// Depths of z = 0 and of z = w.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth_range: Option<[f32; 2]>,
    /// Triangles of which one side is not drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cull: Option<Side>,
    /// Which side is the front: that whose vertices are in this order in the picture.
    #[serde(default, rename = "winding", skip_serializing_if = "Option::is_none")]
    pub front: Option<Winding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Front,
    Back,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Winding {
    Clockwise,
    CounterClockwise,
}

/// `[bank.N]`: a constant bank of a Maxwell shader; exactly one of `file`, `zeros` and `values`, as for buffers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bank {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zeros: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<toml::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtype: Option<Dtype>,
    /// Addresses of buffers and numbers in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// `[export]`: what a shader hands to the next stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exports {
    /// A number for each lane that says whether anything of it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Given>,
    /// A picture of the first colour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub png: Option<Picture>,
    /// `[export.NAME]`.
    #[serde(flatten)]
    pub targets: BTreeMap<String, Export>,
}

/// `[export.NAME]`: one target. GFX9 `pos0` to `pos3`, `param0` to `param31`, `mrt0` to `mrt7`, `mrtz`; Maxwell `target0` to `target7`, `mask`,
/// `depth`, of vertices the address of the first word, such as `"0x70"`, and of patches `"patch0x20"`. Of geometry programs `emitted`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// How exported words are read; by name or by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<ExportFormat>,
    /// What they are converted to then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetFormat>,
    /// Maxwell: the types of words, where they are not alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<Dtype>>,
    /// A row for each lane, of which those that are kept are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Given>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atol: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtol: Option<f64>,
    /// The share of lanes that may be further off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differ: Option<f64>,
}

/// `png = { size = [w, h] }` of `[export]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// Width and height in pixels.
    #[serde(deserialize_with = "exactly")]
    pub size: [u32; 2],
    /// Only what is nearer than what was drawn there before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub depth_test: bool,
}
