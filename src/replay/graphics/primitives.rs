//! The data of primitives: attributes at their corners, or triangles for the rasteriser.

use std::path::Path;
use std::sync::Arc;

use half::f16;

use super::keys::{Given, Pixels, Winding};
use super::raster::Scene;
use super::read::{MAX_LANES, fragment, words};
use super::{Drawn, Parameters, PrimitiveVertices, Rows, Shader};
use crate::Error;
use crate::array::Dtype;
use crate::resolve::Source;

/// Returns a - b for both halves of words.
fn difference_of_halves(a: u32, b: u32) -> u32 {
    let half = |word: u32| f16::from_bits(word as u16);
    // Computing in singles gives the result of a single rounding.
    let of =
        |shift: u32| f16::from_f32(half(a >> shift).to_f32() - half(b >> shift).to_f32()).to_bits();
    u32::from(of(0)) | u32::from(of(16)) << 16
}

/// The corners of a primitive.
const CORNERS: usize = 3;
/// The attributes that `v_interp_*` can name.
const MAX_ATTRIBUTES: usize = 64;

impl Source<'_> {
    /// Makes the lanes of triangles.
    pub(super) fn drawn(&self, pixels: &Pixels, file: &Given) -> Result<Shader, Error> {
        let Pixels { covered, primitive, parameters, vertices, vertex_w, draw, .. } = pixels;
        let arrays = [covered, primitive, parameters, vertices, vertex_w];
        if arrays.into_iter().any(Option::is_some)
            || !pixels.inputs.is_empty()
            || !pixels.attribute.is_empty()
        {
            return Err(self.wrong(
                "pixels.triangles",
                "it gives the arrays of lanes and of primitives: expected none of these",
            ));
        }
        let (path, array) = self.given(file, Dtype::F32)?;
        let wrong =
            |path: &Path, problem: String| Error::Array { path: path.to_path_buf(), problem };
        if array.shape.len() != 2 || array.shape[1] != 4 || array.dtype != Dtype::F32 {
            let problem = format!("shape {:?}: expected f32 of [vertices, 4]", array.shape);
            return Err(wrong(&path, problem));
        }
        let count = array.shape[0] as usize;
        let coordinates = words(&array).map_err(|problem| wrong(&path, problem))?;
        let places: Vec<[f32; 4]> =
            coordinates.as_chunks::<4>().0.iter().map(|place| place.map(f32::from_bits)).collect();
        let indices = match &draw.indices {
            Some(file) => {
                let (path, array) = self.given(file, Dtype::U32)?;
                let indices = words(&array).map_err(|problem| wrong(&path, problem))?;
                if let Some(index) = indices.iter().find(|&&index| index as usize >= count) {
                    return Err(wrong(&path, format!("vertex {index}: there are {count}")));
                }
                indices
            }
            None => (0..count as u32).collect(),
        };
        let (triangles, rest) = indices.as_chunks::<CORNERS>();
        if triangles.is_empty() || !rest.is_empty() {
            let problem = format!("{} vertices: expected three for each triangle", indices.len());
            return Err(self.wrong("pixels.triangles", problem));
        }
        let scene = Scene {
            triangles: triangles
                .iter()
                .map(|corners| corners.map(|index| places[index as usize]))
                .collect(),
            viewport: draw.viewport.ok_or_else(|| self.wrong("pixels.viewport", "missing"))?,
            depth_range: draw.depth_range.unwrap_or([0.0, 1.0]),
            cull: draw.cull,
            front: draw.front.unwrap_or(Winding::CounterClockwise),
        };
        let raster =
            scene.raster(MAX_LANES, 1).map_err(|problem| self.wrong("pixels.viewport", problem))?;
        if raster.lanes() == 0 {
            return Err(self.wrong("pixels.triangles", "they cover no pixel of the viewport"));
        }
        let mut varyings = Vec::new();
        for (i, file) in draw.varyings.iter().enumerate() {
            let rows = self.rows(&format!("pixels.varyings {}", i + 1), file, count)?;
            if rows.components() > Parameters::COMPONENTS {
                let problem =
                    format!("{} numbers for each vertex: expected at most 4", rows.components());
                return Err(self.wrong(format!("pixels.varyings {}", i + 1), problem));
            }
            varyings.push(rows);
        }
        let word = |rows: &Rows, component: usize, vertex: u32| {
            if component < rows.components() { rows.row(component)[vertex as usize] } else { 0 }
        };
        let components =
            || varyings.iter().flat_map(|rows| (0..Parameters::COMPONENTS).map(move |i| (rows, i)));
        let of_primitives = triangles.iter().flat_map(|corners| {
            components().map(|(rows, i)| corners.map(|vertex| word(rows, i, vertex)))
        });
        let parameters = self.setup(of_primitives, varyings.len(), pixels)?;
        let of_vertices = triangles
            .iter()
            .flatten()
            .flat_map(|&vertex| components().map(move |(rows, i)| word(rows, i, vertex)));
        let vertices = PrimitiveVertices {
            words: varyings.len() * Parameters::COMPONENTS,
            values: of_vertices.collect(),
            w: scene.triangles.iter().flatten().map(|&[.., w]| w).collect(),
        };
        let covered = raster.quads().flat_map(|quad| quad.covered()).collect();
        let drawn = Some(Arc::new(Drawn { scene, raster }));
        Ok(Shader {
            drawn,
            parameters: Some(Arc::new(parameters)),
            vertices: Some(Arc::new(vertices)),
            ..fragment(covered)
        })
    }

    /// GFX9: reads P0, P1 and P2 and returns P0, P1 - P0 and P2 - P0, rounded like the setup of
    /// primitives.
    pub(super) fn parameters(
        &self,
        file: &Given,
        pixels: &Pixels,
        last: u32,
    ) -> Result<Parameters, Error> {
        let (path, array) = self.given(file, Dtype::U32)?;
        let wrong = |problem: String| Error::Array { path: path.clone(), problem };
        let given = words(&array).map_err(wrong)?;
        let attributes = match array.shape[..] {
            [primitives, attributes, 4, 3]
                if primitives > u64::from(last) && attributes <= MAX_ATTRIBUTES as u64 =>
            {
                attributes as usize
            }
            _ => {
                let problem = format!(
                    "shape {:?}: expected [primitives, attributes, 4, 3], more than {last} primitives, and at most {MAX_ATTRIBUTES} attributes",
                    array.shape
                );
                return Err(wrong(problem));
            }
        };
        self.setup(given.as_chunks::<CORNERS>().0.iter().copied(), attributes, pixels)
    }

    /// GFX9: computes P0, P1 - P0 and P2 - P0 from words at the corners.
    ///
    /// `components` are ordered by primitive, then attribute, then component.
    fn setup(
        &self,
        components: impl Iterator<Item = [u32; CORNERS]>,
        attributes: usize,
        Pixels { flat, half, .. }: &Pixels,
    ) -> Result<Parameters, Error> {
        for (key, list) in [("pixels.flat", flat), ("pixels.half", half)] {
            if let Some(attribute) =
                list.iter().find(|&&attribute| attribute as usize >= attributes)
            {
                return Err(
                    self.wrong(key, format!("attribute {attribute}: there are {attributes}"))
                );
            }
        }
        let mut words = Vec::new();
        for (i, corners) in components.enumerate() {
            let attribute = (i / Parameters::COMPONENTS % attributes.max(1)) as u32;
            let difference = match (flat.contains(&attribute), half.contains(&attribute)) {
                (true, _) => |_, _| 0,
                (_, true) => difference_of_halves,
                _ => |a, b| (f32::from_bits(a) - f32::from_bits(b)).to_bits(),
            };
            let [p0, p1, p2] = corners;
            words.extend([p0, difference(p1, p0), difference(p2, p0)]);
        }
        Ok(Parameters { attributes, words })
    }

    pub(super) fn primitive_vertices(
        &self,
        file: &Given,
        w: Option<&Given>,
        last: u32,
    ) -> Result<PrimitiveVertices, Error> {
        let (path, array) = self.given(file, Dtype::U32)?;
        let wrong =
            |path: &Path, problem: String| Error::Array { path: path.to_path_buf(), problem };
        let values = words(&array).map_err(|problem| wrong(&path, problem))?;
        let (primitives, count) = match array.shape[..] {
            [primitives, 3, count] if primitives > u64::from(last) => (primitives, count as usize),
            _ => {
                let problem = format!(
                    "shape {:?}: expected [primitives, 3, words], more than {last} primitives",
                    array.shape
                );
                return Err(wrong(&path, problem));
            }
        };
        let w = match w {
            Some(file) => {
                let (path, array) = self.given(file, Dtype::F32)?;
                if array.shape != [primitives, 3] || array.dtype != Dtype::F32 {
                    let problem =
                        format!("shape {:?}: expected f32 of [{primitives}, 3]", array.shape);
                    return Err(wrong(&path, problem));
                }
                array
                    .bytes
                    .as_chunks::<4>()
                    .0
                    .iter()
                    .map(|&bytes| f32::from_le_bytes(bytes))
                    .collect()
            }
            None => vec![],
        };
        Ok(PrimitiveVertices { words: count, values, w })
    }
}
