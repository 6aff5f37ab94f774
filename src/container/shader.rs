//! Shaders: programs of one stage of a graphics pipeline, without the hardware around it.
//!
//! The inputs that hardware would give to lanes, and the exports of lanes, are *rows* in guest
//! memory. A row is a word for each lane of the launch, with room for whole warps at the end. A
//! shader's parameters are the addresses of rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
pub use warploom_guest::shader::{Parameter, Stage, emitted};

/// An input that hardware gives to lanes before they start.
///
/// It is an array of `[pixels]`, and a `builtin` of `[[raw.vgpr]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Vertices: the number within the instance. `InstanceId`: the number of the instance.
    VertexId,
    InstanceId,
    /// The weights of vertices 1 and 2 (I, J), with or without perspective.
    PerspSample,
    PerspCenter,
    PerspCentroid,
    /// I / w, J / w, 1 / w.
    PerspPullModel,
    LinearSample,
    LinearCenter,
    LinearCentroid,
    LineStipple,
    /// The place in the window, the depth, and the clip coordinate w.
    PosX,
    PosY,
    PosZ,
    PosW,
    /// Nonzero in front faces.
    FrontFace,
    /// The sample number in bits 8 to 11.
    Ancillary,
    SampleCoverage,
    PosFixed,
    /// Maxwell: the place in the window, the depth and 1 / w.
    X,
    Y,
    Z,
    InverseW,
    /// Maxwell: the screen-linear weights of vertices 1 and 2.
    Barycentric,
    /// Maxwell: all ones in front faces.
    Front,
    /// Maxwell: the sample of the lane. `CentroidOffset`: the place of the centroid.
    ///
    /// It is in 4096ths of a pixel from the centre: two signed halves, x below.
    SampleIndex,
    CentroidOffset,
    /// Merged stages, first half: the number of the vertex in the workgroup.
    VertexInGroup,
    /// The position of a vertex in its patch.
    TessU,
    TessV,
    /// The number of a vertex's patch in the workgroup that made it. `PatchId`: the number in the
    /// launch.
    PatchInGroup,
    PatchId,
    /// Threads of a patch: the patch's number in the workgroup in bits 0 to 7.
    ///
    /// From bit 8 on: the thread's number in the patch.
    PatchThread,
    /// Threads of a primitive: the primitive's number. `InvocationId`: the thread's number.
    PrimitiveId,
    InvocationId,
    /// The places of a primitive's vertices in LDS, in words: two halves each.
    #[serde(rename = "vertices_01")]
    Vertices01,
    #[serde(rename = "vertices_23")]
    Vertices23,
    #[serde(rename = "vertices_45")]
    Vertices45,
    /// The place of a vertex in the ring of a geometry program, in words.
    RingVertex,
}

/// An input that hardware gives to GFX9 waves before they start.
///
/// It is a `builtin` of `[[raw.sgpr]]` in shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaveInput {
    /// Fragment programs: the quads that begin a primitive, and whether centroids are centres.
    PrimMask,
    /// Merged stages: the lanes of both halves, and the number of the wave in the workgroup.
    WaveInfo,
    /// Bytes from the start of the off-chip buffer to the workgroup's patches.
    OffchipOffset,
    /// Bytes from the start of the buffer of tessellation factors to the factors of the workgroup's
    /// patches.
    FactorOffset,
    /// Bytes from the start of a geometry program's ring to the wave's part.
    RingOffset,
}

impl Input {
    /// Returns the number of words of a lane.
    pub const fn components(self) -> usize {
        use Input::*;
        match self {
            PerspSample | PerspCenter | PerspCentroid | LinearSample | LinearCenter
            | LinearCentroid | Barycentric => 2,
            PerspPullModel => 3,
            VertexId | InstanceId | LineStipple | PosX | PosY | PosZ | PosW | FrontFace
            | Ancillary | SampleCoverage | PosFixed | X | Y | Z | InverseW | Front
            | SampleIndex | CentroidOffset | VertexInGroup | TessU | TessV | PatchInGroup
            | PatchId | PatchThread | PrimitiveId | InvocationId | Vertices01 | Vertices23
            | Vertices45 | RingVertex => 1,
        }
    }
}

/// A target of a shader's exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportTarget {
    /// A render target.
    Colour(u8),
    /// Depth; on GFX9 also stencil and sample mask (`mrtz`).
    Depth,
    /// Maxwell: the sample mask.
    SampleMask,
    Position(u8),
    Parameter(u8),
    /// Maxwell: words of the attribute space from this address on.
    Attribute(u32),
    /// Maxwell: words of patches from this address on.
    Patch(u32),
    /// The state of each vertex of a geometry program's thread: see [`emitted`].
    Emitted,
}

impl ExportTarget {
    /// Returns the target with this name in manifests.
    pub fn from_name(name: &str) -> Option<ExportTarget> {
        let number = |prefix: &str, count: u8| {
            let digits = name.strip_prefix(prefix).filter(|digits| !digits.starts_with('+'))?;
            digits.parse().ok().filter(|number| *number < count)
        };
        let (of, digits): (fn(u32) -> ExportTarget, _) = match name.strip_prefix("patch") {
            Some(name) => (ExportTarget::Patch, name.strip_prefix("0x")),
            None => (ExportTarget::Attribute, name.strip_prefix("0x")),
        };
        if let Some(digits) = digits {
            let address = u32::from_str_radix(digits, 16).ok()?;
            return Some(of(address)).filter(|_| address.is_multiple_of(4) && address < 0x400);
        }
        match name {
            "emitted" => return Some(ExportTarget::Emitted),
            "mrtz" | "depth" => return Some(ExportTarget::Depth),
            "mask" => return Some(ExportTarget::SampleMask),
            _ => {}
        }
        let colour = number("mrt", 8).or_else(|| number("target", 8)).map(ExportTarget::Colour);
        let position = || number("pos", 4).map(ExportTarget::Position);
        colour.or_else(position).or_else(|| number("param", 32).map(ExportTarget::Parameter))
    }
}

/// An array of a shader's launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShaderArray {
    /// A row: nonzero in lanes that exist and are no helpers.
    Covered,
    /// A row: the program leaves a nonzero word in lanes that it keeps.
    Written,
    /// Maxwell, a row: bytes from the start of [`ShaderArray::Table`] to the data of the lane's
    /// primitive.
    Primitive,
    /// Maxwell: the data of primitives: `[vertex][word]`, then w of each vertex.
    Table,
    /// GFX9: a row for a word of an attribute's component: P0, P1 - P0, P2 - P0 of the lane's
    /// primitive.
    Parameter(Parameter),
    /// GFX9: a word for each warp, with which its scalar registers begin.
    Wave(WaveInput),
    /// A row for each component of an input.
    Input(Input, u8),
    /// A row for each input word of the attribute space, by its address.
    Attribute(u32),
    /// Maxwell: a row for each word of the lane's patch, by its address.
    Patch(u32),
    /// A row: words of a vector register, GFX9.
    Lanes(u8),
    /// A row for each vertex that a lane may emit, and a row after the last, 0 at first: see
    /// [`emitted`].
    Emitted,
    /// GFX9, a row: the number of the lane's next vertex.
    NextVertex,
    /// A row, 0 at first, for each word that lanes export to a target.
    ///
    /// The word of an attribute is the word at its address, and has number 0. A geometry program
    /// has a row for each vertex that a lane may emit.
    Export(ExportTarget, u8),
}

/// A shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShaderKernel {
    pub stage: Stage,
    /// GFX9: the attributes of a primitive. Maxwell: the words of a vertex.
    pub attributes: u32,
    /// The constant bank in which instructions of Maxwell find handles of images.
    pub texture_bank: u8,
    /// The lanes of the launch.
    pub lanes: u32,
    /// The vertices of an input primitive.
    pub vertices: u32,
    /// The most vertices that a lane of a geometry program may emit.
    pub max_vertices: u32,
    /// Bytes from a row to the row of the next vertex.
    pub stride: u32,
    /// The bytes between the input rows of two slots: each slot has input rows for one warp.
    ///
    /// 0: input rows are of the launch.
    pub slot_bytes: u32,
    /// For launches of one primitive: the function's parameter with its words.
    ///
    /// The words are `[attribute][component][3]`.
    pub parameters: Option<usize>,
    /// The function's parameter with the address of each array, of 8 bytes.
    ///
    /// The launch does not have arrays that are not here.
    pub arrays: BTreeMap<ShaderArray, usize>,
}
