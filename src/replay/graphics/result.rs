//! Compares exports with expectations, and draws them as a picture.

use std::borrow::Cow;

use super::{ExportTarget, Input, Picture, Shader, Target, TargetFormat, emitted};
use crate::array::{Array, Dtype, Element};
use crate::{Comparison, image};

/// The exports of a shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// For each target of the launch, the words of each lane. Words that no program exported are 0.
    pub targets: Vec<Vec<Vec<u32>>>,
    /// The rows that are kept.
    pub kept: Vec<bool>,
    /// For each thread of a geometry program: the state of its vertices, and of the place after the
    /// last.
    pub emitted: Vec<Vec<u32>>,
}

impl Target {
    /// Returns the elements of a lane in the target's form.
    fn elements(&self, words: &[u32], components: usize) -> Vec<u8> {
        match self.target {
            Some(target) => {
                let four = std::array::from_fn(|i| words.get(i).copied().unwrap_or(0));
                let mut texel = target.texel(self.format, four);
                texel.truncate(components * target.dtype().bytes());
                texel
            }
            None => words[..components].iter().flat_map(|word| word.to_le_bytes()).collect(),
        }
    }

    /// Returns the exports as an array with a row for each lane. Rows of lanes that are not kept
    /// are 0.
    pub fn array(&self, words: &[Vec<u32>], kept: &[bool]) -> Array {
        let (dtype, components) = match (&self.expect, self.target) {
            (Some(expect), _) => (expect.array.dtype, super::components(&expect.array)),
            (None, Some(target)) => (target.dtype(), target.components()),
            (None, None) => (Dtype::U32, words.first().map_or(0, Vec::len)),
        };
        let mut bytes = Vec::with_capacity(words.len() * components * dtype.bytes());
        for (lane, &kept) in words.iter().zip(kept) {
            let elements = self.elements(lane, components);
            if kept {
                bytes.extend(elements)
            } else {
                bytes.resize(bytes.len() + elements.len(), 0)
            }
        }
        let lanes = words.len() as u64;
        let shape = if components == 1 { vec![lanes] } else { vec![lanes, components as u64] };
        Array { dtype, shape, bytes }
    }

    /// Returns an opaque colour.
    fn colour(&self, words: &[u32]) -> [u8; 4] {
        let target = self.target.unwrap_or(TargetFormat::FLOATS);
        let texel = self.elements(words, target.components());
        let mut colour = [0, 0, 0, 255];
        for (channel, element) in
            colour[..3].iter_mut().zip(texel.chunks_exact(target.dtype().bytes()))
        {
            *channel = match target.dtype().element(element) {
                Element::Float(x) => (x.clamp(0.0, 1.0) * 255.0).round() as u8,
                Element::Int(number) => number.clamp(0, 255) as u8,
            };
        }
        colour
    }

    /// Compares the exports of kept lanes with the expectation.
    ///
    /// The result has no mismatches if at most the allowed share of lanes differs.
    fn compare(&self, words: &[Vec<u32>], kept: &[bool]) -> Option<Comparison> {
        let expect = self.expect.as_ref()?;
        let components = super::components(&expect.array);
        let mut all = Comparison::default();
        let (mut lanes, mut off) = (0_usize, 0_usize);
        let size = expect.array.dtype.bytes();
        for (i, (lane, _)) in words.iter().zip(kept).enumerate().filter(|(_, (_, kept))| **kept) {
            let got = self.elements(lane, components);
            let expected = &expect.array.bytes[i * got.len()..][..got.len()];
            let mut of_lane = Comparison::default();
            for (n, (got, expected)) in
                got.chunks_exact(size).zip(expected.chunks_exact(size)).enumerate()
            {
                let dtype = self.words.as_ref().map_or(expect.array.dtype, |words| words[n]);
                of_lane.add(got, expected, dtype, expect.tolerance);
            }
            lanes += 1;
            off += usize::from(of_lane.mismatches > 0);
            all.append(of_lane, i * components);
        }
        if off as f64 <= self.differ * lanes as f64 {
            all.forgive();
        }
        Some(all)
    }
}

/// The target that pictures show.
const COLOUR: ExportTarget = ExportTarget::Colour(0);

impl Shader {
    /// Returns the name of the target that pictures show.
    pub fn colour_name(&self) -> &str {
        self.exports.iter().find(|target| target.place == COLOUR).map_or("", |target| &target.name)
    }

    /// Tells whether the manifest has any expectation of the exports.
    pub fn expects_something(&self) -> bool {
        self.written.is_some() || self.exports.iter().any(|target| target.expect.is_some())
    }

    /// Compares the kept lanes, and every target that has an expectation.
    pub fn compare(&self, exported: &Exported) -> Vec<(&str, Comparison)> {
        let mut all = Vec::new();
        let mut both = exported.kept.clone();
        if let Some(written) = &self.written {
            let size = written.dtype.bytes();
            let expected: Vec<u8> = written
                .bytes
                .chunks_exact(size)
                .map(|lane| lane.iter().any(|&byte| byte != 0).into())
                .collect();
            let got: Vec<u8> = exported.kept.iter().map(|&kept| kept.into()).collect();
            let mut comparison = Comparison::default();
            comparison.add(&got, &expected, Dtype::U8, Default::default());
            all.push(("written", comparison));
            both.iter_mut().zip(expected).for_each(|(both, expected)| *both &= expected != 0);
        }
        for (target, words) in self.exports.iter().zip(&exported.targets) {
            let kept = self.kept(target, exported, &both);
            all.extend(
                target.compare(words, &kept).map(|comparison| (target.name.as_str(), comparison)),
            );
        }
        all
    }

    /// Returns the rows of a target that are kept if `lanes` are kept.
    fn kept<'e>(&self, target: &Target, exported: &Exported, lanes: &'e [bool]) -> Cow<'e, [bool]> {
        match target.place {
            ExportTarget::Patch(_) | ExportTarget::Emitted => {
                vec![true; self.rows_of(target.place)].into()
            }
            _ if self.max_vertices() > 0 => {
                let vertices =
                    exported.emitted.iter().flat_map(|thread| &thread[..self.max_vertices()]);
                vertices.map(|word| word & emitted::VERTEX != 0).collect()
            }
            _ => lanes.into(),
        }
    }

    /// Returns the exports with their names.
    pub fn arrays<'s>(&'s self, exported: &'s Exported) -> impl Iterator<Item = (&'s str, Array)> {
        let exports = self.exports.iter().zip(&exported.targets).map(|(target, words)| {
            let kept = self.kept(target, exported, &exported.kept);
            (target.name.as_str(), target.array(words, &kept))
        });
        exports.chain(self.strips(exported))
    }

    /// Draws the picture of the first colour, transparent where nothing was drawn.
    ///
    /// The last lane of a pixel counts, or with a depth test the first of the nearest lanes.
    ///
    /// # Errors
    /// No target is a colour, or a depth test has no depths.
    pub fn draw(&self, picture: Picture, exported: &Exported) -> Result<Vec<u8>, String> {
        let colour = self.exports.iter().position(|target| target.place == COLOUR);
        let colour = colour.ok_or("[export] png: expected [export.mrt0] or [export.target0]")?;
        let depth: Box<dyn Fn(usize) -> f32 + '_> = if !picture.depth_test {
            Box::new(|_| 0.0)
        } else if let Some(at) =
            self.exports.iter().position(|target| target.place == ExportTarget::Depth)
        {
            Box::new(move |lane| f32::from_bits(exported.targets[at][lane][0]))
        } else if let Some(drawn) = &self.drawn {
            let depths: Vec<f32> = drawn.raster.quads().flat_map(|quad| quad.depths()).collect();
            Box::new(move |lane| depths[lane])
        } else {
            let rows = self.inputs.get(&Input::PosZ).or_else(|| self.inputs.get(&Input::Z));
            let z =
                rows.ok_or("[export] png: a depth test needs `pos_z` or `z` in [pixels], or an exported depth")?.row(0);
            Box::new(|lane| f32::from_bits(z[lane]))
        };
        let [width, height] = picture.size.map(|axis| axis as usize);
        let mut pixels = vec![0_u8; 4 * width * height];
        let mut nearest = vec![f32::INFINITY; if picture.depth_test { width * height } else { 0 }];
        for (lane, place) in self.places.iter().enumerate().filter(|&(lane, _)| exported.kept[lane])
        {
            let [x, y] = place.map(|axis| axis as usize);
            if x >= width || y >= height {
                continue;
            }
            let at = y * width + x;
            if let Some(nearest) = nearest.get_mut(at) {
                let z = depth(lane);
                if z >= *nearest {
                    continue;
                }
                *nearest = z;
            }
            pixels[4 * at..][..4]
                .copy_from_slice(&self.exports[colour].colour(&exported.targets[colour][lane]));
        }
        image::encode(picture.size, png::ColorType::Rgba, &pixels)
    }
}
