//! The output of a geometry program, in fixed function's form.

use super::{Exported, Shader, Strips, emitted};
use crate::array::{Array, Dtype};

impl Shader {
    /// The names of the arrays of [`Shader::strips`].
    pub(crate) const OF_GEOMETRY: [&str; 2] = ["indices", "ring_vertex"];

    /// Returns the vertex numbers of a geometry program's points, lines or triangles of stream 0.
    ///
    /// A vertex's number is its row's number. For GFX9, a second array has the place of each row's
    /// vertex in the ring, in words.
    pub(super) fn strips(&self, exported: &Exported) -> Vec<(&'static str, Array)> {
        let Some(of) = self.of_primitives.as_ref().filter(|of| of.max_vertices > 0) else {
            return vec![];
        };
        let most = of.max_vertices as usize;
        let mut indices = Vec::new();
        for (thread, words) in exported.emitted.iter().enumerate() {
            let mut strip: Vec<u32> = vec![];
            for (vertex, &word) in words[..most].iter().enumerate() {
                if word & emitted::CUT != 0 {
                    strip.clear();
                }
                if word & emitted::VERTEX == 0 || word >> emitted::STREAM_SHIFT != 0 {
                    continue;
                }
                strip.push((thread * most + vertex) as u32);
                match (of.strips, &strip[..]) {
                    (Strips::Points, [.., a]) => indices.push(*a),
                    (Strips::Lines, [.., a, b]) => indices.extend([a, b]),
                    // Every other triangle is reversed: its last two vertices are exchanged.
                    (Strips::Triangles, [.., a, b, c]) if strip.len() % 2 == 1 => {
                        indices.extend([a, b, c])
                    }
                    (Strips::Triangles, [.., a, b, c]) => indices.extend([a, c, b]),
                    _ => {}
                }
            }
        }
        let corners = [1, 2, 3][of.strips as usize];
        let shape = vec![indices.len() as u64 / corners, corners];
        let mut arrays = vec![(Self::OF_GEOMETRY[0], words(shape, &indices))];
        if let Some(ring) = of.ring_words {
            // The ring interleaves records of 16 lanes, as its descriptor says.
            const TOGETHER: usize = 16;
            let place = |row: usize, vertex: usize| {
                let lane = self.lane(row);
                let (record, column) = (lane / TOGETHER, lane % TOGETHER);
                ((record * ring as usize + vertex) * TOGETHER + column) as u32
            };
            let all: Vec<u32> = (0..self.row_count())
                .flat_map(|row| (0..most).map(move |vertex| place(row, vertex)))
                .collect();
            arrays.push((Self::OF_GEOMETRY[1], words(vec![all.len() as u64], &all)));
        }
        arrays
    }
}

fn words(shape: Vec<u64>, words: &[u32]) -> Array {
    Array {
        dtype: Dtype::U32,
        shape,
        bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
    }
}
