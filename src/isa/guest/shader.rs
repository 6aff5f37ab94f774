//! Graphics programs, as instruction sets know them.

use serde::{Deserialize, Serialize};

/// The stage of the graphics pipeline that a program implements.
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
    pub const ALL: [Stage; 5] =
        [Stage::Vertex, Stage::TessControl, Stage::TessEval, Stage::Geometry, Stage::Fragment];

    /// Returns the name in manifests.
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

/// Bits of the word about a vertex that a thread of a geometry program may emit. Bits from 8 on are
/// the stream.
pub mod emitted {
    /// The vertex was emitted.
    pub const VERTEX: u32 = 1;
    /// A strip ends before this vertex.
    pub const CUT: u32 = 2;
    pub const STREAM_SHIFT: u32 = 8;
}

/// A word that GFX9 interpolates with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parameter {
    pub attribute: u8,
    /// 0 to 3: x to w.
    pub component: u8,
    /// 0: P0, 1: P1 - P0, 2: P2 - P0.
    pub word: u8,
}

impl Parameter {
    /// Iterates over all possible parameters, in the order of [`Parameter::index`].
    pub fn all() -> impl Iterator<Item = Parameter> {
        (0..64).flat_map(|attribute| {
            (0..4).flat_map(move |component| {
                (0..3).map(move |word| Parameter { attribute, component, word })
            })
        })
    }

    /// Returns the parameter's number among the words of a primitive: `[attribute][component][3]`.
    pub fn index(self) -> usize {
        (usize::from(self.attribute) * 4 + usize::from(self.component)) * 3 + usize::from(self.word)
    }
}
