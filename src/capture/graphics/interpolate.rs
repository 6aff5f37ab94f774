//! What the setup of triangles gives a fragment program of Maxwell: attributes at the centres of pixels.
//!
//! Source: facts, `graphics.md`, section 1.4. Computed in doubles and rounded once.

use std::collections::BTreeSet;

use super::{Input, PrimitiveVertices, Rows, Shader};
use crate::isa::maxwell::shader::{Interpolation, attribute};

impl Shader {
    /// Makes rows of the attributes of vertices that are interpolated, but for those that are given: of lanes, what PASS gives.
    ///
    /// # Errors
    /// What is missing for that, by the manifest's key.
    pub fn interpolate(&mut self, how: impl Fn(u16) -> Interpolation) -> Result<(), String> {
        let Some(vertices) = &self.vertices else { return Ok(()) };
        let words = |(&address, rows): (&u32, &Rows)| (0..rows.components() as u32).map(move |n| address + 4 * n);
        let given: BTreeSet<u32> = self.attributes.iter().flat_map(words).collect();
        let mut rows = Vec::new();
        for word in 0..vertices.words {
            let address = u32::from(attribute::GENERIC) + 4 * word as u32;
            let how = if address < 0x400 { how(address as u16) } else { Interpolation::Unused };
            if given.contains(&address) || matches!(how, Interpolation::Unused | Interpolation::Constant) {
                continue;
            }
            let weights = self.inputs.get(&Input::Barycentric);
            let weights =
                weights.ok_or_else(|| format!("a[{address:#x}] is interpolated: [pixels] has no `barycentric`"))?;
            let perspective = how == Interpolation::Perspective;
            if perspective && vertices.w.is_empty() {
                return Err(format!("a[{address:#x}] is interpolated with perspective: [pixels] has no `vertex_w`"));
            }
            let at = |lane: usize| {
                let weights = [0, 1].map(|n| f64::from(f32::from_bits(weights.row(n)[lane])));
                vertices.at(self.primitive[lane] as usize, word, perspective, weights).to_bits()
            };
            rows.push((address, Rows { lanes: self.lanes, words: (0..self.lanes).map(at).collect() }));
        }
        self.attributes.extend(rows);
        Ok(())
    }
}

impl PrimitiveVertices {
    /// A word of a primitive, or with perspective that over w, weighted by the weights of vertices 1 and 2.
    fn at(&self, primitive: usize, word: usize, perspective: bool, [b1, b2]: [f64; 2]) -> f32 {
        let corners = [1.0 - b1 - b2, b1, b2].into_iter().enumerate();
        let sum: f64 = corners
            .map(|(corner, weight)| {
                let vertex = 3 * primitive + corner;
                let value = f64::from(f32::from_bits(self.values[vertex * self.words + word]));
                let value = if perspective { value / f64::from(self.w[vertex]) } else { value };
                value * weight
            })
            .sum();
        sum as f32
    }
}
