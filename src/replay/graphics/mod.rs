//! Shaders of a graphics pipeline: a stage's program over arrays of lanes.
//!
//! `keys` is the manifest's part, `format` the formats of exports and targets; `read` reads what the keys name into a [`Shader`], `primitives` its attributes and triangles, `raster` makes quads of triangles and `quads` lanes of these,
//! `stages` those of vertices, tessellation and geometry, which `groups` puts into workgroups; `result` holds exports against what is expected of them, and draws, `strips` is what geometry programs emit. Nothing here knows how an instruction set takes its inputs.

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

/// What is known of each lane, by component: `components()` times as many words as there are lanes, those of the first component first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    pub lanes: usize,
    pub words: Vec<u32>,
}

impl Rows {
    pub fn components(&self) -> usize {
        self.words.len().checked_div(self.lanes).unwrap_or(0)
    }

    /// The words of a component, one for each lane.
    pub fn row(&self, component: usize) -> &[u32] {
        &self.words[component * self.lanes..][..self.lanes]
    }
}

/// A shader's launch: its lanes, what they are given, and what is expected of them.
#[derive(Clone, Debug)]
pub struct Shader {
    pub stage: Stage,
    /// Of the launch, with those between workgroups that do nothing; at least 1.
    pub lanes: usize,
    /// Lanes of a workgroup.
    pub block: usize,
    /// The lane of each row of arrays, where it is not that of its number. A row is a vertex, a lane of a quad, a thread of a primitive.
    pub rows: Option<Vec<u32>>,
    /// Which lanes take part, and of fragment programs are no helpers.
    pub covered: Vec<bool>,
    pub inputs: BTreeMap<Input, Rows>,
    /// GFX9: a word for each wave.
    pub waves: BTreeMap<WaveInput, Vec<u32>>,
    /// Maxwell: by the address of the first word. Of programs with primitives the rows of vertices stand one behind the other.
    pub attributes: BTreeMap<u32, Rows>,
    /// Maxwell: likewise words of the lane's patch.
    pub patches: BTreeMap<u32, Rows>,
    /// Of tessellation and geometry programs.
    pub of_primitives: Option<OfPrimitives>,
    /// Of fragment programs: the primitive of each lane, the same in a quad. Not of those that are drawn.
    pub primitive: Vec<u32>,
    /// Of fragment programs whose lanes the rasteriser makes: what has their inputs and primitives.
    pub drawn: Option<Arc<Drawn>>,
    /// Maxwell: words of attributes that are interpolated where the pixels are drawn.
    pub interpolated: Vec<Interpolated>,
    pub parameters: Option<Arc<Parameters>>,
    pub vertices: Option<Arc<PrimitiveVertices>>,
    /// In the order of their names.
    pub exports: Vec<Target>,
    /// Which lanes should be kept.
    pub written: Option<Array>,
    pub picture: Option<Picture>,
    /// The column and the row of each lane's pixel, for pictures.
    pub places: Vec<[u32; 2]>,
}

/// What a rasteriser has made of triangles. A launch makes it again, as a driver would each frame.
#[derive(Debug)]
pub struct Drawn {
    pub scene: Scene,
    pub raster: Raster,
}

/// What tessellation and geometry programs have besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfPrimitives {
    /// Vertices of each primitive.
    pub vertices: u32,
    /// Threads for each.
    pub threads: u32,
    /// The lane of the first thread of each.
    pub first: Vec<u32>,
    /// Vertices that a thread of a geometry program may emit, of others 0.
    pub max_vertices: u32,
    pub strips: Strips,
    /// GFX9, geometry: words that a thread has in the ring.
    pub ring_words: Option<u32>,
}

/// Attributes of primitives as GFX9 has them: P0, P1 - P0, P2 - P0 of each component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub attributes: usize,
    /// `[primitive][attribute][component][3]`. Of flat attributes the differences are 0.
    pub words: Vec<u32>,
}

impl Parameters {
    /// Components of an attribute.
    pub const COMPONENTS: usize = 4;
    /// Words of a component.
    pub const WORDS: usize = 3;

    /// Words of a primitive.
    pub fn stride(&self) -> usize {
        self.attributes * Self::COMPONENTS * Self::WORDS
    }
}

/// Attributes of primitives as Maxwell has them.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimitiveVertices {
    /// Words of a vertex, from address 0x80 on.
    pub words: usize,
    /// `[primitive][vertex][word]`, of three vertices.
    pub values: Vec<u32>,
    /// Clip coordinates w: `[primitive][vertex]`. Empty: none is given.
    pub w: Vec<f32>,
}

/// What a shader exports to one target.
#[derive(Clone, Debug)]
pub struct Target {
    /// As in `[export.NAME]`.
    pub name: String,
    pub place: ExportTarget,
    pub format: ExportFormat,
    /// None: words as they are.
    pub target: Option<TargetFormat>,
    /// The types of words where they are as they are and not alike.
    pub words: Option<Vec<Dtype>>,
    pub expect: Option<Expectation>,
    /// The share of lanes that may be off.
    pub differ: f64,
}

impl Target {
    /// Words of a lane that a program may export to it.
    pub fn rows(&self) -> usize {
        let expected = self.expect.as_ref().map_or(0, |expect| components(&expect.array));
        expected.max(4)
    }
}

/// Numbers of a lane in an array whose rows are lanes.
fn components(array: &Array) -> usize {
    array.shape[1..].iter().product::<u64>() as usize
}

impl Target {
    /// Whether a sample mask among the words that GFX9 exports has the pixel's sample. Maxwell's pixels are kept whatever their mask: fixed function
    /// looks at it.
    pub fn keeps(&self, words: &[u32]) -> bool {
        let mask = match self.place {
            // Alone, or with stencil, it is the low half of z, else all of it.
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
    /// Words of a primitive in [`PrimitiveVertices::table`].
    pub fn stride(&self) -> usize {
        3 * (self.words + 1)
    }

    /// `[primitive]`, of which `[vertex][word]`, then w of each vertex.
    pub fn table(&self) -> Vec<u32> {
        let values = self.values.chunks(3 * self.words.max(1));
        let w = |primitive: usize| {
            (0..3).map(move |vertex| self.w.get(3 * primitive + vertex).map_or(0, |w| w.to_bits()))
        };
        values.enumerate().flat_map(|(i, words)| words.iter().copied().chain(w(i))).collect()
    }
}

impl Shader {
    /// The primitive of all lanes, if there is only one.
    pub fn one_primitive(&self) -> Option<u32> {
        if let Some(drawn) = &self.drawn {
            return drawn.raster.one_triangle();
        }
        let (&first, rest) = self.primitive.split_first()?;
        rest.iter().all(|&other| other == first).then_some(first)
    }

    /// Whether lanes have an input.
    pub fn has_input(&self, input: Input) -> bool {
        self.inputs.contains_key(&input) || self.drawn.is_some() && Raster::INPUTS.contains(&input)
    }

    /// Whether waves have an input.
    pub fn has_wave_input(&self, input: WaveInput) -> bool {
        self.waves.contains_key(&input) || self.drawn.is_some() && input == WaveInput::PrimMask
    }

    /// GFX9: the words of the only primitive.
    pub fn uniform_parameters(&self) -> Option<&[u32]> {
        let parameters = self.parameters.as_ref()?;
        let first = self.one_primitive()? as usize * parameters.stride();
        parameters.words.get(first..first + parameters.stride()).filter(|words| !words.is_empty())
    }
}

/// Lanes of a wave of GFX9.
const WAVE: usize = 64;
/// Quads of one.
pub const WAVE_QUADS: usize = WAVE / QUAD;

/// GFX9: what a wave is told of its quads, whose primitives are given. Bits 16 to 30: quads 1 to 15 that begin another primitive; bit 31: centroids are
/// centres in all lanes. Source: facts, `graphics.md`, section 2.2.
pub fn prim_mask(primitives: impl Iterator<Item = u32> + Clone, centers: bool) -> u32 {
    let pairs = primitives.clone().zip(primitives.skip(1));
    let quads = pairs
        .zip(16..)
        .filter(|((before, here), _)| before != here)
        .fold(0, |mask, (_, bit)| mask | 1 << bit);
    quads | u32::from(centers) << 31
}

impl Shader {
    /// Rows of arrays.
    pub fn row_count(&self) -> usize {
        self.rows.as_ref().map_or(self.lanes, Vec::len)
    }

    /// The lane of a row.
    pub fn lane(&self, row: usize) -> usize {
        self.rows.as_ref().map_or(row, |rows| rows[row] as usize)
    }

    /// Lanes in memory: whole workgroups.
    pub fn room(&self) -> usize {
        self.lanes.next_multiple_of(self.block)
    }

    /// Vertices that a thread of a geometry program may emit; of others 0.
    pub fn max_vertices(&self) -> usize {
        self.of_primitives.as_ref().map_or(0, |of| of.max_vertices as usize)
    }

    /// Rows of what is exported to a target: a geometry program has one for each vertex that a thread may emit.
    pub fn rows_of(&self, place: ExportTarget) -> usize {
        match (place, &self.of_primitives) {
            (ExportTarget::Patch(_), Some(of)) => of.first.len(),
            (ExportTarget::Emitted, _) => self.row_count(),
            _ => self.row_count() * self.max_vertices().max(1),
        }
    }
}

impl Shader {
    /// GFX9: a word for each wave, see [`prim_mask`].
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

/// The name of an input, as manifests have it.
pub fn name_of<T: serde::Serialize>(variant: T) -> String {
    toml::Value::try_from(variant)
        .ok()
        .and_then(|name| name.as_str().map(str::to_owned))
        .unwrap_or_default()
}
