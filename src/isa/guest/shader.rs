//! Graphics programs, as instruction sets know them.

use serde::{Deserialize, Serialize};

/// Which stage of the graphics pipeline a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Vertex,
    TessControl,
    TessEval,
    Geometry,
    Fragment,
}

impl Stage {
    pub const ALL: [Stage; 5] = [Stage::Vertex, Stage::TessControl, Stage::TessEval, Stage::Geometry, Stage::Fragment];

    /// As manifests name it.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Vertex => "vertex",
            Stage::TessControl => "tess_control",
            Stage::TessEval => "tess_eval",
            Stage::Geometry => "geometry",
            Stage::Fragment => "fragment",
        }
    }
}

/// Bits of a word that says what became of a vertex that a thread of a geometry program may emit; those from 8 on are the stream.
pub mod emitted {
    /// It was emitted.
    pub const VERTEX: u32 = 1;
    /// A strip ends before this vertex.
    pub const CUT: u32 = 2;
    pub const STREAM_SHIFT: u32 = 8;
}
