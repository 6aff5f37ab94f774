//! Shaders of a graphics pipeline: a stage's program over arrays of lanes.
//!
//! `keys` is the manifest's part, `format` the formats of exports and targets. `read` reads what
//! the keys name into a [`Shader`], and `primitives` its attributes and triangles. `raster` makes
//! quads of triangles, and `quads` lanes of quads. `stages` makes the lanes of vertices,
//! tessellation and geometry, and `groups` puts them into workgroups. `result` compares exports
//! with expectations, and draws; `strips` is the output of geometry programs. Nothing here knows
//! how an instruction set takes its inputs.

mod format;
mod groups;
mod interpolate;
mod keys;
mod primitives;
mod quads;
mod raster;
mod read;
mod result;
mod stages;
mod strips;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use format::{ExportFormat, TargetFormat};
pub use interpolate::Interpolated;
pub use keys::{
    Bank, Draw, Export, Exports, Given, Picture, Pixels, Primitives, Side, Strips, Tessellation,
    Vertices, Winding,
};
pub use quads::{QUAD, Quad};
pub use raster::{Raster, Scene};
pub use result::Exported;
pub(super) use stages::{source_of, source_of_wave};
pub use warploom_container::{ExportTarget, Input, Stage, WaveInput, emitted};

use super::Expectation;
use super::array::{Array, Dtype};

/// Words of each lane, by component.
///
/// There are `components()` words per lane. All words of the first component come first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    pub lanes: usize,
    pub words: Vec<u32>,
}

impl Rows {
    pub fn components(&self) -> usize {
        self.words.len().checked_div(self.lanes).unwrap_or(0)
    }

    /// Returns the words of a component, one for each lane.
    pub fn row(&self, component: usize) -> &[u32] {
        &self.words[component * self.lanes..][..self.lanes]
    }
}

/// A shader's launch: its lanes, their inputs, and the expected exports.
#[derive(Clone, Debug)]
pub struct Shader {
    pub stage: Stage,
    /// The lanes of the launch, with idle lanes between workgroups; at least 1.
    pub lanes: usize,
    /// Lanes of a workgroup.
    pub block: usize,
    /// The lane of each row of arrays, where lane and row numbers differ.
    ///
    /// A row is a vertex, a lane of a quad, or a thread of a primitive.
    pub rows: Option<Vec<u32>>,
    /// The lanes that take part, without the helpers of fragment programs.
    pub covered: Vec<bool>,
    pub inputs: BTreeMap<Input, Rows>,
    /// GFX9: a word for each wave.
    pub waves: BTreeMap<WaveInput, Vec<u32>>,
    /// Maxwell: attributes by the address of the first word.
    ///
    /// For programs with primitives, the rows of vertices follow each other.
    pub attributes: BTreeMap<u32, Rows>,
    /// Maxwell: words of the lane's patch, likewise.
    pub patches: BTreeMap<u32, Rows>,
    /// The facts about primitives, for tessellation and geometry programs.
    pub of_primitives: Option<OfPrimitives>,
    /// Fragment programs: the primitive of each lane, equal within a quad. Empty if drawn.
    pub primitive: Vec<u32>,
    /// Fragment programs: the source of inputs and primitives, if the rasteriser makes the lanes.
    pub drawn: Option<Arc<Drawn>>,
    /// Maxwell: words of attributes to interpolate where the pixels are drawn.
    pub interpolated: Vec<Interpolated>,
    pub parameters: Option<Arc<Parameters>>,
    pub vertices: Option<Arc<PrimitiveVertices>>,
    /// The targets, in the order of their names.
    pub exports: Vec<Target>,
    /// The lanes that should be kept.
    pub written: Option<Array>,
    pub picture: Option<Picture>,
    /// The column and the row of each lane's pixel, for pictures.
    pub places: Vec<[u32; 2]>,
}

/// The rasteriser's output for triangles.
///
/// A launch computes it again, as a driver would for each frame.
#[derive(Debug)]
pub struct Drawn {
    pub scene: Scene,
    pub raster: Raster,
}

/// The extra facts of tessellation and geometry programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfPrimitives {
    /// The vertices of each primitive.
    pub vertices: u32,
    /// The threads of each primitive.
    pub threads: u32,
    /// The lane of the first thread of each primitive.
    pub first: Vec<u32>,
    /// The most vertices that a thread of a geometry program may emit; 0 in other programs.
    pub max_vertices: u32,
    pub strips: Strips,
    /// GFX9, geometry: the words of a thread in the ring.
    pub ring_words: Option<u32>,
}

/// Attributes of primitives in GFX9's form: P0, P1 - P0, P2 - P0 of each component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub attributes: usize,
    /// `[primitive][attribute][component][3]`. The differences of flat attributes are 0.
    pub words: Vec<u32>,
}

impl Parameters {
    /// The components of an attribute.
    pub const COMPONENTS: usize = 4;
    /// The words of a component.
    pub const WORDS: usize = 3;

    /// Returns the number of words of a primitive.
    pub fn stride(&self) -> usize {
        self.attributes * Self::COMPONENTS * Self::WORDS
    }
}

/// Attributes of primitives in Maxwell's form.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimitiveVertices {
    /// The words of a vertex, from address 0x80 on.
    pub words: usize,
    /// `[primitive][vertex][word]`, with three vertices.
    pub values: Vec<u32>,
    /// The clip coordinates w: `[primitive][vertex]`. Empty if none are given.
    pub w: Vec<f32>,
}

/// A shader's exports to one target.
#[derive(Clone, Debug)]
pub struct Target {
    /// The name in `[export.NAME]`.
    pub name: String,
    pub place: ExportTarget,
    pub format: ExportFormat,
    /// The target's conversion. `None`: the words are kept unchanged.
    pub target: Option<TargetFormat>,
    /// The types of unchanged words, where they differ.
    pub words: Option<Vec<Dtype>>,
    pub expect: Option<Expectation>,
    /// The share of lanes that may differ.
    pub differ: f64,
}

impl Target {
    /// Returns the number of words of a lane that a program may export to the target.
    pub fn rows(&self) -> usize {
        let expected = self.expect.as_ref().map_or(0, |expect| components(&expect.array));
        expected.max(4)
    }
}

/// Returns the numbers per lane of an array whose rows are lanes.
fn components(array: &Array) -> usize {
    array.shape[1..].iter().product::<u64>() as usize
}

impl Target {
    /// Tells whether the sample mask among GFX9's exported words keeps the pixel's sample.
    ///
    /// Maxwell's pixels are kept whatever their mask: fixed function looks at it.
    pub fn keeps(&self, words: &[u32]) -> bool {
        let mask = match self.place {
            // The mask is the low half of z if it is alone or with stencil, else all of z.
            ExportTarget::Depth
                if matches!(self.format, ExportFormat::Uint16 | ExportFormat::Abgr32) =>
            {
                words.get(2)
            }
            _ => None,
        };
        mask.is_none_or(|mask| mask & 1 != 0)
    }
}

impl PrimitiveVertices {
    /// Returns the words of a primitive in [`PrimitiveVertices::table`].
    pub fn stride(&self) -> usize {
        3 * (self.words + 1)
    }

    /// Returns for each primitive its `[vertex][word]`, then w of each vertex.
    pub fn table(&self) -> Vec<u32> {
        let values = self.values.chunks(3 * self.words.max(1));
        let w = |primitive: usize| {
            (0..3).map(move |vertex| self.w.get(3 * primitive + vertex).map_or(0, |w| w.to_bits()))
        };
        values.enumerate().flat_map(|(i, words)| words.iter().copied().chain(w(i))).collect()
    }
}

impl Shader {
    /// Returns the primitive of all lanes, if there is only one.
    pub fn one_primitive(&self) -> Option<u32> {
        if let Some(drawn) = &self.drawn {
            return drawn.raster.one_triangle();
        }
        let (&first, rest) = self.primitive.split_first()?;
        rest.iter().all(|&other| other == first).then_some(first)
    }

    /// Tells whether lanes have an input.
    pub fn has_input(&self, input: Input) -> bool {
        self.inputs.contains_key(&input) || self.drawn.is_some() && Raster::INPUTS.contains(&input)
    }

    /// Tells whether waves have an input.
    pub fn has_wave_input(&self, input: WaveInput) -> bool {
        self.waves.contains_key(&input) || self.drawn.is_some() && input == WaveInput::PrimMask
    }

    /// GFX9: returns the words of the only primitive.
    pub fn uniform_parameters(&self) -> Option<&[u32]> {
        let parameters = self.parameters.as_ref()?;
        let first = self.one_primitive()? as usize * parameters.stride();
        parameters.words.get(first..first + parameters.stride()).filter(|words| !words.is_empty())
    }
}

/// The lanes of a GFX9 wave.
const WAVE: usize = 64;
/// The quads of a GFX9 wave.
pub const WAVE_QUADS: usize = WAVE / QUAD;

/// GFX9: returns the word that tells a wave about its quads, from their primitives.
///
/// Bits 16 to 30: quads 1 to 15 that begin another primitive. Bit 31: centroids are centres in all
/// lanes. Source: facts, `graphics.md`, section 2.2.
pub fn prim_mask(primitives: impl Iterator<Item = u32> + Clone, centers: bool) -> u32 {
    let pairs = primitives.clone().zip(primitives.skip(1));
    let quads = pairs
        .zip(16..)
        .filter(|((before, here), _)| before != here)
        .fold(0, |mask, (_, bit)| mask | 1 << bit);
    quads | u32::from(centers) << 31
}

impl Shader {
    /// Returns the number of rows of arrays.
    pub fn row_count(&self) -> usize {
        self.rows.as_ref().map_or(self.lanes, Vec::len)
    }

    /// Returns the lane of a row.
    pub fn lane(&self, row: usize) -> usize {
        self.rows.as_ref().map_or(row, |rows| rows[row] as usize)
    }

    /// Returns the number of lanes in memory: whole workgroups.
    pub fn room(&self) -> usize {
        self.lanes.next_multiple_of(self.block)
    }

    /// Returns the most vertices that a thread of a geometry program may emit; 0 in other programs.
    pub fn max_vertices(&self) -> usize {
        self.of_primitives.as_ref().map_or(0, |of| of.max_vertices as usize)
    }

    /// Returns the number of rows of a target's exports.
    ///
    /// A geometry program has a row for each vertex that a thread may emit.
    pub fn rows_of(&self, place: ExportTarget) -> usize {
        match (place, &self.of_primitives) {
            (ExportTarget::Patch(_), Some(of)) => of.first.len(),
            (ExportTarget::Emitted, _) => self.row_count(),
            _ => self.row_count() * self.max_vertices().max(1),
        }
    }
}

impl Shader {
    /// GFX9: returns a word for each wave, see [`prim_mask`].
    fn prim_masks(&self) -> Vec<u32> {
        let row = |input: Input| self.inputs.get(&input);
        let center = [
            (Input::PerspCenter, Input::PerspCentroid),
            (Input::LinearCenter, Input::LinearCentroid),
        ];
        let is_center = |lane: usize| {
            center.iter().all(|&(center, centroid)| match (row(center), row(centroid)) {
                (Some(a), Some(b)) => (0..2).all(|i| a.row(i)[lane] == b.row(i)[lane]),
                _ => true,
            })
        };
        let waves = self.primitive.chunks(WAVE).enumerate();
        let mask = |(wave, lanes): (usize, &[u32])| {
            let centers = (wave * WAVE..wave * WAVE + lanes.len()).all(is_center);
            prim_mask(lanes.iter().step_by(QUAD).copied(), centers)
        };
        waves.map(mask).collect()
    }
}

/// Returns the name of an input in manifests.
pub fn name_of<T: serde::Serialize>(variant: T) -> String {
    toml::Value::try_from(variant)
        .ok()
        .and_then(|name| name.as_str().map(str::to_owned))
        .unwrap_or_default()
}
