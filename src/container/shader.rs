//! Shaders: programs of one stage of a graphics pipeline, without the hardware around it.
//!
//! What the hardware would give lanes, and where what they export goes, are *rows* in guest memory: a word for each lane of the launch, and
//! room for whole warps behind them. A shader's parameters are the addresses of these.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
pub use warploom_guest::shader::{Parameter, Stage, emitted};

/// What the hardware gives lanes before they start: an array of `[pixels]`, and a `builtin` of `[[raw.vgpr]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Of vertices: number within the instance, and the instance's.
    VertexId,
    InstanceId,
    /// Weights of vertices 1 and 2 (I, J), with or without perspective.
    PerspSample,
    PerspCenter,
    PerspCentroid,
    /// I / w, J / w, 1 / w.
    PerspPullModel,
    LinearSample,
    LinearCenter,
    LinearCentroid,
    LineStipple,
    /// Place in the window, depth, and the clip coordinate w.
    PosX,
    PosY,
    PosZ,
    PosW,
    /// Not 0 in front.
    FrontFace,
    /// Sample number in bits 8 to 11.
    Ancillary,
    SampleCoverage,
    PosFixed,
    /// Maxwell: place in the window, depth and 1 / w.
    X,
    Y,
    Z,
    InverseW,
    /// Maxwell: screen-linear weights of vertices 1 and 2.
    Barycentric,
    /// Maxwell: all ones in front.
    Front,
    /// Maxwell: which sample the lane is for, and where the centroid is, in 4096ths of a pixel from its centre: two signed halves, x below.
    SampleIndex,
    CentroidOffset,
    /// Of a vertex of the first half of merged stages: its number in the workgroup.
    VertexInGroup,
    /// Where a vertex is in its patch.
    TessU,
    TessV,
    /// The patch of a vertex: its number in the workgroup that made it, and in the launch.
    PatchInGroup,
    PatchId,
    /// Of a thread of a patch: the patch's number in the workgroup in bits 0 to 7, its own in the patch from bit 8 on.
    PatchThread,
    /// Of a thread of a primitive: the primitive's number, and its own.
    PrimitiveId,
    InvocationId,
    /// Where LDS has a primitive's vertices, in words: two halves each.
    #[serde(rename = "vertices_01")]
    Vertices01,
    #[serde(rename = "vertices_23")]
    Vertices23,
    #[serde(rename = "vertices_45")]
    Vertices45,
    /// Where the ring of a geometry program has a vertex, in words.
    RingVertex,
}

/// What the hardware gives waves of GFX9 before they start: a `builtin` of `[[raw.sgpr]]` in shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaveInput {
    /// Of fragment programs: which quads begin a primitive, and whether centroids are centres.
    PrimMask,
    /// Of merged stages: the lanes of both halves, and which wave of the workgroup it is.
    WaveInfo,
    /// Bytes from the start of the off-chip buffer to what it has of the workgroup's patches.
    OffchipOffset,
    /// Bytes from the start of the buffer of tessellation factors to those of the workgroup's patches.
    FactorOffset,
    /// Bytes from the start of a geometry program's ring to the wave's part.
    RingOffset,
}

impl Input {
    /// Words of a lane.
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

/// Where a shader exports to.
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
    /// Maxwell: the same of patches.
    Patch(u32),
    /// What a thread of a geometry program did with each vertex: see [`emitted`].
    Emitted,
}

impl ExportTarget {
    /// As manifests name it.
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
    /// A row: not 0 in lanes that exist and are no helpers.
    Covered,
    /// A row: the program leaves a word other than 0 in lanes that it keeps.
    Written,
    /// Maxwell, a row: bytes from the start of [`ShaderArray::Table`] to what it has of the lane's primitive.
    Primitive,
    /// Maxwell: what primitives have, `[vertex][word]`, then w of each vertex.
    Table,
    /// GFX9: a row for a word of an attribute's component: P0, P1 - P0, P2 - P0 of the lane's primitive.
    Parameter(Parameter),
    /// GFX9: a word for each warp, which its scalar registers begin with.
    Wave(WaveInput),
    /// A row for each component of an input.
    Input(Input, u8),
    /// A row for each word of the attribute space that lanes are given: its address.
    Attribute(u32),
    /// Maxwell: a row for each word of the lane's patch: its address.
    Patch(u32),
    /// A row: words of a vector register, GFX9.
    Lanes(u8),
    /// A row for each vertex that a lane may emit, and one behind the last, 0 at first: see [`emitted`].
    Emitted,
    /// GFX9: a row, the number of the lane's next vertex.
    NextVertex,
    /// A row, 0 at first, for each word that lanes export to a target; of attributes the word is that of the address, and has number 0. A geometry program
    /// has one for each vertex that a lane may emit.
    Export(ExportTarget, u8),
}

/// A shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShaderKernel {
    pub stage: Stage,
    /// Attributes of a primitive, GFX9; words of a vertex, Maxwell.
    pub attributes: u32,
    /// The constant bank in which instructions of Maxwell find handles of images.
    pub texture_bank: u8,
    /// Lanes of the launch.
    pub lanes: u32,
    /// Vertices of a primitive that comes in.
    pub vertices: u32,
    /// Vertices that a lane of a geometry program may emit.
    pub max_vertices: u32,
    /// Bytes from a row to that of the next vertex.
    pub stride: u32,
    /// What lanes are given are rows of a warp, again for each slot: so many bytes lie between those of two. 0: rows are of the launch.
    pub slot_bytes: u32,
    /// Of a launch of one primitive, which of the function's parameters has its words: `[attribute][component][3]`.
    pub parameters: Option<usize>,
    /// Which of the function's parameters is the address of an array, each of 8 bytes. What is not here, the launch does not have.
    pub arrays: BTreeMap<ShaderArray, usize>,
}
