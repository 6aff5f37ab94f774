//! Tessellation and geometry programs: lanes that are vertices and threads of primitives, messages,
//! exports of vertices that a tessellator made.

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};
use warploom_replay::Manifest;
use warploom_replay::graphics::{
    Export, Exports, Given, Input, Primitives, Stage, Strips, Tessellation, Vertices, WaveInput,
};
use warploom_replay::raw::{Register, Value};

use super::pixels::PRIM_MASK;
use super::{TEMPORARY, Writer, register};
use crate::program::Node;

/// The register with the numbers of a wave's lanes that are vertices, and that are threads.
const WAVE_INFO: u8 = PRIM_MASK;
/// The registers with the numbers of a primitive, and of its thread.
const PRIMITIVE: u8 = 3;
const THREAD: u8 = 4;
/// The number of vertices that primitives have in common.
const ROWS: u32 = 9;

/// A launch of a program for primitives.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub stage: Stage,
    primitives: u32,
    /// The vertices of a primitive.
    vertices: u32,
    threads: u32,
    most: u32,
    /// The primitives of a workgroup.
    group: u32,
}

impl Shape {
    pub(super) fn choose(u: &mut Unstructured<'_>) -> Result<Shape> {
        let stage = *u.choose(&[Stage::TessControl, Stage::TessEval, Stage::Geometry])?;
        let threads = if stage == Stage::TessEval { 1 } else { u.int_in_range(1..=4)? };
        let (primitives, vertices, most) =
            (u.int_in_range(1..=40)?, u.int_in_range(1..=4)?, u.int_in_range(1..=4)?);
        Ok(Shape { stage, primitives, vertices, threads, most, group: u.int_in_range(1..=40)? })
    }

    pub(super) fn lanes(&self) -> u32 {
        self.primitives * self.threads
    }

    /// Returns the largest number of waves of the launch.
    pub(super) fn waves(&self, wave: u32) -> u32 {
        self.primitives.div_ceil(self.group)
            * (self.group * self.vertices.max(self.threads)).div_ceil(wave)
    }

    /// Returns lines that compute the number of each thread in the launch, and turn off lanes
    /// without a thread.
    pub(super) fn start(&self) -> Vec<String> {
        if self.stage == Stage::TessEval {
            return Vec::new();
        }
        vec![
            "v_mbcnt_lo_u32_b32 v1, -1, 0".into(),
            "v_mbcnt_hi_u32_b32 v1, -1, v1".into(),
            format!("s_bfe_u32 s{TEMPORARY}, s{WAVE_INFO}, 0x80008"),
            format!("v_cmp_gt_u32_e32 vcc, s{TEMPORARY}, v1"),
            "s_and_b64 exec, exec, vcc".into(),
            format!("v_mul_u32_u24_e32 v0, {}, v{PRIMITIVE}", self.threads),
            format!("v_add_u32_e32 v0, v0, v{THREAD}"),
            "v_mov_b32_e32 v1, 0".into(),
            "v_mov_b32_e32 v2, 0".into(),
        ]
    }

    /// Returns the lines before the end.
    pub(super) fn end(&self) -> Vec<String> {
        match self.stage {
            Stage::TessEval => vec!["exp pos0 v0, v1, v2, v3 done".into()],
            Stage::Geometry => vec!["s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)".into()],
            _ => Vec::new(),
        }
    }

    /// Returns the registers that replace the registers of a compute kernel.
    pub(super) fn registers(&self, sgpr: &mut Vec<Register>) -> Vec<Register> {
        if self.stage == Stage::TessEval {
            return vec![
                register(0, Value::Words((0..self.lanes()).collect())),
                register(PRIMITIVE, Value::Input(Input::TessU)),
                register(THREAD, Value::Input(Input::PatchId)),
            ];
        }
        sgpr.push(register(WAVE_INFO, Value::Wave(WaveInput::WaveInfo)));
        vec![
            register(PRIMITIVE, Value::Input(Input::PrimitiveId)),
            register(THREAD, Value::Input(Input::InvocationId)),
        ]
    }

    /// Makes the manifest one of the program.
    pub(super) fn manifest(&self, u: &mut Unstructured<'_>, manifest: &mut Manifest) -> Result<()> {
        manifest.kernel.stage = Some(self.stage);
        (manifest.launch.grid, manifest.launch.block) = ([0; 3], [0; 3]);
        let mut any = |count: u32| {
            let number = |_| Ok(i64::from(u.int_in_range(0..=ROWS - 1)?).into());
            Ok(Given::Numbers((0..count).map(number).collect::<Result<_>>()?))
        };
        let mut vertices = Vertices {
            count: ROWS,
            instances: 1,
            first: 0,
            attribute: BTreeMap::new(),
            patch: None,
            inputs: BTreeMap::new(),
        };
        let targets: &[&str] = match self.stage {
            Stage::TessEval => &["pos0", "param0", "param3"],
            Stage::Geometry => &["emitted"],
            _ => &[],
        };
        let targets = targets.iter().map(|&name| (name.to_owned(), Export::default()));
        manifest.exports = Exports { targets: targets.collect(), ..Exports::default() };
        if self.stage == Stage::TessEval {
            vertices.count = self.primitives;
            vertices.patch = Some(any(self.primitives)?);
            let place = (0..self.primitives).map(|n| (f64::from(n) / 64.0).into()).collect();
            vertices.inputs = BTreeMap::from([(Input::TessU, Given::Numbers(place))]);
            manifest.vertices = Some(vertices);
            return Ok(());
        }
        let indices = any(self.primitives * self.vertices)?;
        let geometry = self.stage == Stage::Geometry;
        manifest.vertices = Some(vertices);
        manifest.primitives = Some(Primitives {
            vertices: self.vertices,
            indices: Some(indices),
            threads: Some(self.threads),
            max_vertices: geometry.then_some(self.most),
            strips: Strips::default(),
            group: geometry.then_some(self.group),
            item_words: None,
            ring_words: None,
            attribute: BTreeMap::new(),
            patch: BTreeMap::new(),
        });
        if !geometry {
            manifest.tessellation =
                Some(Tessellation { group: Some(self.group), ..Tessellation::default() });
        }
        Ok(())
    }
}

impl Writer<'_, '_> {
    /// Returns a node that only programs for primitives have.
    pub(super) fn primitives(&mut self, stage: Stage) -> Result<Node> {
        let stream = self.u.int_in_range(0..=3)?;
        match (stage, self.u.int_in_range(0..=4)?) {
            (Stage::Geometry, 0) => Ok(Node::line("s_sendmsg sendmsg(MSG_GS, GS_OP_CUT, 0)")),
            (Stage::Geometry, 1) => {
                Ok(Node::line(format!("s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT_CUT, {stream})")))
            }
            (Stage::Geometry, _) => {
                Ok(Node::line(format!("s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, {stream})")))
            }
            (Stage::TessEval, _) => self.export(&["pos0", "param0", "param3", "param31", "null"]),
            // Threads of a patch pass words to each other by LDS alone.
            _ => self.lds(),
        }
    }
}
