//! Interpolated attributes at the centres of pixels, for fragment programs of Maxwell.
//!
//! The setup of triangles computes them. Source: facts, `graphics.md`, section 1.4. They are
//! computed in doubles and rounded once.

use std::collections::BTreeSet;

use warploom_guest::header::{Interpolation, attribute};

use super::{Input, PrimitiveVertices, QUAD, Quad, Rows, Shader};

/// A word of attributes that is interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interpolated {
    pub address: u32,
    /// The index of the word among the words of a vertex.
    word: usize,
    perspective: bool,
}

impl Shader {
    /// Makes rows of the interpolated attributes, as PASS gives them to lanes.
    ///
    /// Given attributes are kept. Where the rasteriser draws pixels, the attributes are only
    /// recorded.
    ///
    /// # Errors
    /// A key of the manifest that the interpolation needs is missing; the message names it.
    pub fn interpolate(&mut self, how: impl Fn(u16) -> Interpolation) -> Result<(), String> {
        let Some(vertices) = &self.vertices else { return Ok(()) };
        let words = |(&address, rows): (&u32, &Rows)| {
            (0..rows.components() as u32).map(move |n| address + 4 * n)
        };
        let given: BTreeSet<u32> = self.attributes.iter().flat_map(words).collect();
        let mut rows = Vec::new();
        for word in 0..vertices.words {
            let address = u32::from(attribute::GENERIC) + 4 * word as u32;
            let how = if address < 0x400 { how(address as u16) } else { Interpolation::Unused };
            if given.contains(&address)
                || matches!(how, Interpolation::Unused | Interpolation::Constant)
            {
                continue;
            }
            let (weights, perspective) =
                (self.inputs.get(&Input::Barycentric), how == Interpolation::Perspective);
            if weights.is_none() && self.drawn.is_none() {
                return Err(format!(
                    "a[{address:#x}] is interpolated: [pixels] has no `barycentric`"
                ));
            }
            if perspective && vertices.w.is_empty() {
                return Err(format!(
                    "a[{address:#x}] is interpolated with perspective: [pixels] has no `vertex_w`"
                ));
            }
            let word = Interpolated { address, word, perspective };
            let Some(weights) = weights else {
                self.interpolated.push(word);
                continue;
            };
            let at = |lane: usize| {
                let weights = [0, 1].map(|n| weights.row(n)[lane]);
                vertices.at(self.primitive[lane], word, weights)
            };
            rows.push((
                address,
                Rows { lanes: self.lanes, words: (0..self.lanes).map(at).collect() },
            ));
        }
        self.attributes.extend(rows);
        Ok(())
    }
}

impl Quad<'_> {
    /// Returns an interpolated word for each lane.
    pub fn attribute(&self, of: &PrimitiveVertices, word: Interpolated) -> [u32; QUAD] {
        let [b1, b2, _] = self.input(Input::Barycentric);
        std::array::from_fn(|lane| of.at(self.primitive(), word, [b1[lane], b2[lane]]))
    }
}

impl PrimitiveVertices {
    /// Interpolates a word of a primitive with the weights of vertices 1 and 2.
    ///
    /// With perspective, the word over w is interpolated.
    fn at(
        &self,
        primitive: u32,
        Interpolated { word, perspective, .. }: Interpolated,
        weights: [u32; 2],
    ) -> u32 {
        let [b1, b2] = weights.map(|bits| f64::from(f32::from_bits(bits)));
        let corners = [1.0 - b1 - b2, b1, b2].into_iter().enumerate();
        let sum: f64 = corners
            .map(|(corner, weight)| {
                let vertex = 3 * primitive as usize + corner;
                let value = f64::from(f32::from_bits(self.values[vertex * self.words + word]));
                let value = if perspective { value / f64::from(self.w[vertex]) } else { value };
                value * weight
            })
            .sum();
        (sum as f32).to_bits()
    }
}
