//! Tessellation and geometry programs: attributes of vertices and patches, words that other threads
//! of a patch wrote, vertices that are emitted.

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};
use warploom_replay::Manifest;
use warploom_replay::graphics::{
    Export, Exports, Given, Input, Primitives, Stage, Strips, Vertices,
};

use super::{ELEMENT, LOCAL_BYTES, TEMPORARY, THREAD, Writer, pixels};
use crate::program::Node;

/// The register with the number of the next vertex.
const VERTEX: u64 = 32;
/// The number of vertices that primitives have in common, or of patches that a tessellator made
/// vertices of.
const ROWS: u32 = 9;
const STRIPS: [Strips; 3] = [Strips::Points, Strips::Lines, Strips::Triangles];

/// A launch of a program for primitives.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub stage: Stage,
    primitives: u32,
    /// The vertices of a primitive.
    vertices: u32,
    threads: u32,
    most: u32,
}

impl Shape {
    pub(super) fn choose(u: &mut Unstructured<'_>) -> Result<Shape> {
        let stage = *u.choose(&[Stage::TessControl, Stage::TessEval, Stage::Geometry])?;
        let threads = if stage == Stage::TessEval { 1 } else { u.int_in_range(1..=4)? };
        let (primitives, vertices, most) =
            (u.int_in_range(1..=40)?, u.int_in_range(1..=4)?, u.int_in_range(1..=4)?);
        Ok(Shape { stage, primitives, vertices, threads, most })
    }

    pub(super) fn lanes(&self) -> u32 {
        self.primitives * self.threads
    }

    /// Returns the directives of a program, and lines that compute the numbers of its threads.
    pub(super) fn head(&self) -> Vec<String> {
        let mut lines = vec![
            ".target sm_53".to_owned(),
            format!(".stage {}", self.stage.name()),
            ".input 0x70 xyzw".into(),
            ".input 0x80 xyzw".into(),
            ".output 0x70 xyzw".into(),
            ".output 0x80 xy".into(),
            format!(".local {LOCAL_BYTES}"),
        ];
        if self.stage == Stage::Geometry {
            lines.push(format!(".max_vertices {}", self.most));
        }
        if self.stage == Stage::TessEval {
            lines.extend([
                format!("S2R R{THREAD}, SR_LANEID"),
                format!("ALD.O R{ELEMENT}, a[0x2f0], R{THREAD}"),
            ]);
        } else {
            lines.insert(2, format!(".threads {}", self.threads));
            lines.extend([
                format!("S2R R{THREAD}, SR_INVOCATION_ID"),
                format!("ALD R{ELEMENT}, a[0x60]"),
                format!("MOV32I R{TEMPORARY}, {:#x}", self.threads),
                format!("XMAD R{ELEMENT}, R{ELEMENT}, R{TEMPORARY}, R{THREAD}"),
            ]);
        }
        lines.extend([
            format!("LOP32I.AND R{THREAD}, R{ELEMENT}, 0x3f"),
            format!("MOV R{VERTEX}, RZ"),
        ]);
        lines
    }

    /// Makes the manifest one of the program.
    pub(super) fn manifest(
        &self,
        u: &mut Unstructured<'_>,
        words: [u32; 2],
        manifest: &mut Manifest,
    ) -> Result<()> {
        pixels::shader(self.stage, words, manifest);
        let numbers = |count: u32, of: &mut dyn FnMut(u32) -> Result<u32>| {
            Ok(Given::Numbers(
                (0..count).map(|n| Ok(i64::from(of(n)?).into())).collect::<Result<_>>()?,
            ))
        };
        let mut rows = |count: u32, words: u32| {
            let mut float = || Ok(toml::Value::Float(f64::from(u.int_in_range(-64..=64)?) / 8.0));
            let row =
                |_| Ok(toml::Value::from((0..words).map(|_| float()).collect::<Result<Vec<_>>>()?));
            Ok(Given::Numbers((0..count).map(row).collect::<Result<_>>()?))
        };
        let evaluates = self.stage == Stage::TessEval;
        // The last vertex is of the last patch, so there are as many patches as rows.
        let points = if evaluates { ROWS * self.vertices } else { ROWS };
        let attributes = BTreeMap::from([
            ("0x70".to_owned(), rows(points, 4)?),
            ("0x80".to_owned(), rows(points, 4)?),
        ]);
        let patches = rows(ROWS, 2)?;
        let mut primitives = Primitives {
            vertices: self.vertices,
            indices: None,
            threads: None,
            max_vertices: (self.stage == Stage::Geometry).then_some(self.most),
            strips: if self.stage == Stage::Geometry {
                *u.choose(&STRIPS)?
            } else {
                Strips::default()
            },
            group: None,
            item_words: None,
            ring_words: None,
            attribute: BTreeMap::new(),
            patch: BTreeMap::new(),
        };
        let mut any = |count: u32| numbers(count, &mut |_| u.int_in_range(0..=ROWS - 1));
        let mut vertices = Vertices {
            count: ROWS,
            instances: 1,
            first: 0,
            attribute: BTreeMap::new(),
            patch: None,
            inputs: BTreeMap::new(),
        };
        if evaluates {
            vertices.count = self.primitives;
            let mut patch = |n| {
                if n + 1 == self.primitives { Ok(ROWS - 1) } else { u.int_in_range(0..=ROWS - 1) }
            };
            vertices.patch = Some(numbers(self.primitives, &mut patch)?);
            let place = numbers(self.primitives, &mut Ok)?;
            vertices.inputs =
                BTreeMap::from([(Input::TessU, place.clone()), (Input::TessV, place)]);
            primitives.attribute = attributes;
            primitives.patch = BTreeMap::from([("0x20".to_owned(), patches)]);
        } else {
            vertices.attribute = attributes;
            primitives.indices = Some(any(self.primitives * self.vertices)?);
            primitives.threads = Some(self.threads);
        }
        (manifest.vertices, manifest.primitives) = (Some(vertices), Some(primitives));
        let more = match self.stage {
            Stage::Geometry => Some("emitted"),
            Stage::TessControl => Some("patch0x20"),
            _ => None,
        };
        let targets = ["0x70", "0x80"]
            .into_iter()
            .chain(more)
            .map(|name| (name.to_owned(), Export::default()));
        manifest.exports = Exports { targets: targets.collect(), ..Exports::default() };
        Ok(())
    }
}

impl Writer<'_, '_> {
    /// Returns a node that only programs for primitives have.
    pub(super) fn primitives(&mut self, stage: Stage) -> Result<Node> {
        let (to, of) = (self.value()?, self.value()?);
        let word = 0x70 + 4 * self.u.int_in_range(0..=7)?;
        let written = 0x70 + 4 * self.u.int_in_range(0..=5)?;
        // The vertex often exists.
        let near = format!("LOP32I.AND R{TEMPORARY}, R{of}, {:#x}", self.u.int_in_range(0..=7)?);
        Ok(match (self.u.int_in_range(0..=7)?, stage) {
            (0, _) => Node::line(format!("ALD R{to}, a[{word:#x}], R{of}")),
            (1 | 2, _) => Node::lines([near, format!("ALD R{to}, a[{word:#x}], R{TEMPORARY}")]),
            (3, _) => self.asked_of_primitives(to, of)?,
            (4 | 5, Stage::Geometry) => {
                let stream = *self.u.choose(&["RZ", "RZ", "0x1", "0x3"])?;
                let what = match self.u.int_in_range(0..=4)? {
                    0 => format!("OUT.CUT R{VERTEX}, R{VERTEX}, RZ"),
                    1 => format!("OUT.EMIT_THEN_CUT R{VERTEX}, R{VERTEX}, {stream}"),
                    _ => format!("OUT.EMIT R{VERTEX}, R{VERTEX}, {stream}"),
                };
                self.guarded(&what)?
            }
            (_, Stage::Geometry) => Node::line(format!("AST a[{written:#x}], R{of}, R{VERTEX}")),
            (4, Stage::TessControl) => {
                Node::lines([near, format!("ALD.O R{to}, a[{written:#x}], R{TEMPORARY}")])
            }
            (5, Stage::TessControl) => {
                let at = *self.u.choose(&[0x20, 0x24])?;
                let store = format!("AST.P a[{at:#x}], R{of}");
                if self.u.arbitrary()? {
                    Node::line(format!("ALD.O.P R{to}, a[{at:#x}]"))
                } else {
                    self.guarded(&store)?
                }
            }
            (4, _) => Node::line(format!("ALD.P R{to}, a[{:#x}]", *self.u.choose(&[0x20, 0x24])?)),
            (5, _) => Node::line(format!("ALD.O R{to}, a[{written:#x}]")),
            _ => Node::line(format!("AST a[{written:#x}], R{of}")),
        })
    }

    fn asked_of_primitives(&mut self, to: u64, of: u64) -> Result<Node> {
        Ok(Node::line(match self.u.int_in_range(0..=5)? {
            0 => format!("S2R R{to}, SR_INVOCATION_INFO"),
            1 => format!("S2R R{to}, SR_PRIM_TYPE"),
            2 => format!("S2R R{to}, SR_INVOCATION_ID"),
            3 => format!("ALD R{to}, a[0x60]"),
            4 => format!("AL2P R{to}, R{of}, 0x10"),
            _ => format!("ISBERD R{to}, [R{of}]"),
        }))
    }
}
