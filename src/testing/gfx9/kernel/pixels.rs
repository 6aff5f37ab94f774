//! Fragment programs: lanes in quads, some of which are helpers, attributes of primitives, exports,
//! lanes that are taken out.

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};
use warploom_replay::Manifest;
use warploom_replay::graphics::{Export, Exports, Given, Input, Pixels, Stage, WaveInput};
use warploom_replay::raw::{Register, Value};

use super::super::words::VECTORS;
use super::{Scope, Writer, register};
use crate::program::Node;

/// The register with the value for M0.
pub(super) const PRIM_MASK: u8 = 19;
/// The registers of the weights I and J.
const WEIGHTS: u8 = 38;
const ATTRIBUTES: u32 = 2;
const PRIMITIVES: u32 = 3;
/// The pair with the lanes that are kept.
pub(super) const LIVE: u8 = 90;
/// The targets of the manifest. Exports to other targets are dropped.
const TARGETS: [&str; 3] = ["mrt0", "mrt3", "mrtz"];

/// Makes the manifest one of a fragment program with `lanes` lanes, a multiple of 4.
pub(super) fn manifest(
    u: &mut Unstructured<'_>,
    lanes: u32,
    manifest: &mut Manifest,
) -> Result<()> {
    manifest.kernel.stage = Some(Stage::Fragment);
    (manifest.launch.grid, manifest.launch.block) = ([0; 3], [0; 3]);
    let helpers = u.int_in_range(0..=4)?;
    let covered = (0..lanes)
        .map(|_| Ok(i64::from(u.int_in_range(0..=4)? >= helpers).into()))
        .collect::<Result<_>>()?;
    let mut quads = Vec::new();
    let mut primitive = 0_u32;
    for _ in 0..lanes / 4 {
        primitive = (primitive + u32::from(u.ratio(1, 4)?)) % PRIMITIVES;
        quads.push(i64::from(primitive).into());
    }
    let mut float = || Ok(toml::Value::Float(f64::from(u.int_in_range(-64..=64)?) / 8.0));
    let weights = (0..lanes).map(|_| Ok(vec![float()?, float()?].into())).collect::<Result<_>>()?;
    let corners = |_| Ok(vec![float()?, float()?, float()?].into());
    let all: Vec<toml::Value> =
        (0..PRIMITIVES * ATTRIBUTES * 4).map(corners).collect::<Result<_>>()?;
    let nested = |list: Vec<toml::Value>, length: usize| {
        list.chunks(length).map(|part| toml::Value::from(part.to_vec())).collect::<Vec<_>>()
    };
    manifest.pixels = Some(Pixels {
        covered: Some(Given::Numbers(covered)),
        primitive: Some(Given::Numbers(quads)),
        parameters: Some(Given::Numbers(nested(nested(all, 4), ATTRIBUTES as usize))),
        flat: if u.arbitrary()? { vec![1] } else { vec![] },
        inputs: BTreeMap::from([(Input::PerspCenter, Given::Numbers(weights))]),
        ..Pixels::default()
    });
    let targets = TARGETS.map(|name| (name.to_owned(), Export::default()));
    manifest.exports = Exports { targets: targets.into(), ..Exports::default() };
    Ok(())
}

/// Returns the registers that replace the registers of a compute kernel.
pub(super) fn registers(lanes: u32, sgpr: &mut Vec<Register>) -> Vec<Register> {
    sgpr.push(register(PRIM_MASK, Value::Wave(WaveInput::PrimMask)));
    vec![
        register(0, Value::Words((0..lanes).collect())),
        register(WEIGHTS, Value::Input(Input::PerspCenter)),
    ]
}

/// Returns the lines behind the setup of registers.
pub(super) fn start() -> Vec<String> {
    vec![format!("s_mov_b64 s[{LIVE}:{}], exec", LIVE + 1)]
}

/// Returns the lines before the end.
pub(super) fn end() -> Vec<String> {
    let live = format!("s[{LIVE}:{}]", LIVE + 1);
    vec![format!("s_and_b64 exec, exec, {live}"), "exp mrt0 v0, v1, v2, v3 done vm".into()]
}

impl Writer<'_, '_> {
    /// Returns a node that only fragment programs have.
    pub(super) fn pixels(&mut self, scope: Scope) -> Result<Node> {
        match self.u.int_in_range(0..=7)? {
            0..=2 => self.interpolation(),
            3 | 4 => self.export(&["mrt0", "mrt3", "mrtz", "mrt7", "null"]),
            5 => self.kill(),
            _ => self.whole_quads(scope),
        }
    }

    fn interpolation(&mut self) -> Result<Node> {
        let to = self.vector()?;
        let (attribute, channel) =
            (self.u.int_in_range(0..=ATTRIBUTES - 1)?, *self.u.choose(&["x", "y", "z", "w"])?);
        let of = format!("attr{attribute}.{channel}");
        let mut lines = vec![format!("s_mov_b32 m0, s{PRIM_MASK}")];
        if self.u.ratio(1, 3)? {
            let which = *self.u.choose(&["p0", "p10", "p20"])?;
            lines.push(format!("v_interp_mov_f32_e32 v{to}, {which}, {of}"));
        } else if self.u.ratio(1, 3)? {
            // The interpolation is of words with two halves.
            let (from, high) = (self.vector()?, *self.u.choose(&["", " high"])?);
            let last = *self.u.choose(&["v_interp_p2_f16", "v_interp_p2_legacy_f16"])?;
            lines.push(match self.u.arbitrary()? {
                true => format!("v_interp_p1ll_f16 v{to}, v{WEIGHTS}, {of}{high}"),
                false => format!("v_interp_p1lv_f16 v{to}, v{WEIGHTS}, {of}, v{from}{high}"),
            });
            lines.push(format!("{last} v{to}, v{}, {of}, v{to}{high}", WEIGHTS + 1));
        } else {
            lines.push(format!("v_interp_p1_f32_e32 v{to}, v{WEIGHTS}, {of}"));
            let weight = if self.u.ratio(1, 4)? { self.vector()? } else { WEIGHTS + 1 };
            lines.push(format!("v_interp_p2_f32_e32 v{to}, v{weight}, {of}"));
        }
        Ok(Node::lines(lines))
    }

    pub(super) fn export(&mut self, targets: &[&str]) -> Result<Node> {
        let target = *self.u.choose(targets)?;
        let packed = self.u.ratio(1, 3)?;
        let mut sources = Vec::new();
        for i in 0..4 {
            let register = self.vector()?;
            let there = self.u.ratio(3, 4)?;
            sources.push(match sources.last() {
                // Two halves are of one register.
                Some(last) if packed && i % 2 == 1 => String::clone(last),
                _ if there => format!("v{register}"),
                _ => "off".into(),
            });
        }
        let flags = if packed { " compr" } else { "" };
        let valid = if self.u.ratio(1, 8)? { " vm" } else { "" };
        Ok(Node::line(format!("exp {target} {}{flags}{valid}", sources.join(", "))))
    }

    /// Takes lanes out for good, or lets them go on as helpers.
    fn kill(&mut self) -> Result<Node> {
        let live = format!("s[{LIVE}:{}]", LIVE + 1);
        let mut lines = self.compare()?;
        lines.push(format!("s_andn2_b64 {live}, {live}, vcc"));
        if self.u.arbitrary()? {
            lines.push("s_andn2_b64 exec, exec, vcc".into());
        }
        Ok(Node::lines(lines))
    }

    /// Returns a body in which helpers take part.
    fn whole_quads(&mut self, scope: Scope) -> Result<Node> {
        if scope.depth >= super::MAX_DEPTH {
            return self.interpolation();
        }
        let kept = Self::kept(scope);
        let open = [format!("s_mov_b64 {kept}, exec"), "s_wqm_b64 exec, exec".into()];
        let body = self.body(Self::inner(scope))?;
        Ok(Node::around(open, body, [format!("s_and_b64 exec, exec, {kept}")]))
    }
}

const _: () = assert!(VECTORS < WEIGHTS);
