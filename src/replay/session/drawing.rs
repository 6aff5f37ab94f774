//! Launches over triangles: the rasteriser's work, and the rows that waves begin with.
//!
//! The worker that runs a block makes the inputs of the block's lanes when the block begins. On
//! GFX9 they lie in the worker's own memory, which stays in its nearest cache. Inputs of the whole
//! launch would take many times the memory of the program's exports.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use smallvec::SmallVec;
use warploom::BlockStart;
use warploom_runtime::launch::MAX_THREADS;
use warploom_runtime::memory::{CopyError, Memory};

use crate::Shader;
use crate::graphics::{
    Input, Interpolated, Parameters, PrimitiveVertices, QUAD, Quad, Raster, WAVE_QUADS, prim_mask,
};

/// A row that is made of quads: a word for each lane of a block, except in [`DrawnRow::PrimMask`].
#[derive(Clone, Copy, Debug)]
pub(super) enum DrawnRow {
    Covered,
    /// Maxwell: the lane's primitive, times this factor.
    Primitive(u32),
    /// GFX9: the word with this index among the words of the lane's primitive.
    Parameter(usize),
    Input(Input, usize),
    Attribute(Interpolated),
    /// GFX9: one word, the mask of the wave.
    PrimMask,
}

/// The addresses of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct DrawnRows {
    /// Each row with its address. Parameters come first.
    pub given: Vec<(DrawnRow, u64)>,
    /// Whether the rows follow each other, once for each slot of a warp.
    ///
    /// Otherwise each row has a word for each lane of the launch.
    pub by_slot: bool,
    /// Rows of the launch that begin with one word in all lanes.
    pub written: Vec<(u64, u32)>,
}

/// The bytes of a block in a row: a block has as many lanes as a GFX9 wave.
pub(super) const BLOCK_ROW: usize = 4 * QUAD * WAVE_QUADS;
/// The slots of warps: a worker has one, as a GFX9 block is one warp.
pub(super) const SLOTS: usize = MAX_THREADS;

/// The rows that blocks of a launch begin with.
#[derive(Debug)]
pub struct Drawing {
    raster: Raster,
    parameters: Option<Arc<Parameters>>,
    vertices: Option<Arc<PrimitiveVertices>>,
    rows: DrawnRows,
    /// For each slot, 1 plus the triangle whose parameters are in all lanes of its rows; 0 for no
    /// triangle.
    held: Vec<AtomicU32>,
}

/// The words of quads as bytes.
struct Bytes(Vec<u8>);

impl Bytes {
    fn put(&mut self, words: [u32; QUAD]) {
        let bytes: [[u8; 4]; QUAD] = std::array::from_fn(|lane| words[lane].to_le_bytes());
        self.0.extend_from_slice(bytes.as_flattened());
    }
}

impl Drawing {
    /// Rasterises the shader's triangles on so many threads. `None`: the shader draws nothing.
    pub(super) fn of(
        shader: &Shader,
        rows: &DrawnRows,
        threads: usize,
    ) -> Result<Option<Drawing>, String> {
        let Some(drawn) = &shader.drawn else { return Ok(None) };
        let raster = drawn.scene.raster(shader.lanes as u64, threads)?;
        let (parameters, vertices) = (shader.parameters.clone(), shader.vertices.clone());
        let held = std::iter::repeat_with(AtomicU32::default).take(SLOTS).collect();
        Ok(Some(Drawing { raster, parameters, vertices, rows: rows.clone(), held }))
    }

    /// Returns the number of a slot's rows that need no writing.
    ///
    /// The rows of parameters are kept if all quads are of the triangle that the rows were last
    /// made for.
    fn kept(&self, quads: &[Quad<'_>], slot: usize) -> usize {
        let first = quads.first().map_or(0, Quad::primitive);
        let alike = quads.len() == WAVE_QUADS && quads.iter().all(|quad| quad.primitive() == first);
        let triangle = if alike { first + 1 } else { 0 };
        let held = self.held[slot].swap(triangle, Relaxed);
        let parameters =
            self.rows.given.iter().take_while(|(row, _)| matches!(row, DrawnRow::Parameter(_)));
        if alike && held == triangle { parameters.count() } else { 0 }
    }

    /// Appends the row's words of the quads. `input`: the words of the last requested input.
    fn row(
        &self,
        row: DrawnRow,
        quads: &[Quad<'_>],
        input: &mut Option<(Input, Words)>,
        bytes: &mut Bytes,
    ) {
        match row {
            DrawnRow::Covered => quads.iter().for_each(|quad| {
                let covered = quad.covered();
                bytes.put(std::array::from_fn(|lane| u32::from(covered[lane])));
            }),
            DrawnRow::Primitive(stride) => {
                quads.iter().for_each(|quad| bytes.put([quad.primitive() * stride; QUAD]))
            }
            DrawnRow::Parameter(index) => {
                let Some(parameters) = &self.parameters else { return };
                for alike in quads.chunk_by(|a, b| a.primitive() == b.primitive()) {
                    let word = parameters.words
                        [alike[0].primitive() as usize * parameters.stride() + index];
                    let words = [word.to_le_bytes(); QUAD * WAVE_QUADS];
                    bytes.0.extend_from_slice(&words.as_flattened()[..4 * QUAD * alike.len()]);
                }
            }
            DrawnRow::Input(of, component) => {
                if input.as_ref().is_none_or(|(last, _)| *last != of) {
                    *input = Some((of, quads.iter().map(|quad| quad.input(of)).collect()));
                }
                input
                    .iter()
                    .flat_map(|(_, words)| words)
                    .for_each(|words| bytes.put(words[component]));
            }
            DrawnRow::Attribute(word) => {
                let Some(vertices) = &self.vertices else { return };
                quads.iter().for_each(|quad| bytes.put(quad.attribute(vertices, word)));
            }
            DrawnRow::PrimMask => {
                let mask = prim_mask(quads.iter().map(Quad::primitive), true);
                bytes.0.extend_from_slice(&mask.to_le_bytes());
            }
        }
    }
}

impl BlockStart for Drawing {
    /// Writes the rows that a block begins with.
    fn begin(&self, memory: &Memory, block: usize, slot: usize) -> Result<(), CopyError> {
        let quads: SmallVec<[Quad<'_>; WAVE_QUADS]> = self.raster.wave(block).collect();
        let skipped = if self.rows.by_slot { self.kept(&quads, slot) } else { 0 };
        let given = &self.rows.given[skipped..];
        let mut bytes = Bytes(Vec::with_capacity(BLOCK_ROW * given.len()));
        let mut input = None;
        for (n, &(row, _)) in given.iter().enumerate() {
            self.row(row, &quads, &mut input, &mut bytes);
            bytes.0.resize(BLOCK_ROW * (n + 1), 0);
        }
        let at = |start: u64, number: usize, step: usize| start + (number * step) as u64;
        match given.first() {
            Some(&(_, first)) if self.rows.by_slot => {
                memory.overwrite(at(first, slot, BLOCK_ROW * self.rows.given.len()), &bytes.0)?;
            }
            _ => {
                for (row, &(_, start)) in bytes.0.chunks(BLOCK_ROW).zip(given) {
                    memory.overwrite(at(start, block, BLOCK_ROW), row)?;
                }
            }
        }
        for &(start, word) in &self.rows.written {
            let words = [word.to_le_bytes(); QUAD * WAVE_QUADS];
            memory.overwrite(at(start, block, BLOCK_ROW), words.as_flattened())?;
        }
        Ok(())
    }
}

/// For each quad, the words of an input in its lanes.
type Words = SmallVec<[[[u32; QUAD]; 3]; WAVE_QUADS]>;
