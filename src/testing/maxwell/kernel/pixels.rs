//! Fragment programs: lanes in quads, some of which are helpers, attributes of primitives, outputs
//! at the end, pixels that are killed.

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};
use warploom_replay::graphics::{Bank, Export, Exports, Given, Input, Pixels, Stage};
use warploom_replay::raw::{BinaryFormat, Part, Value};
use warploom_replay::{Dtype, Manifest};

use super::{
    COUNTERS, ELEMENT, FLOAT, FORMATS_AT, LOCAL_BYTES, LOCAL_WINDOW, OUT, OWNED, SHARED_DATA,
    SHARED_WINDOW, SURFACE, SURFACES, TABLE, TEXTURE, TEXTURES, THREAD, WORD, Writer,
};
use crate::program::Node;

const PRIMITIVES: u32 = 3;
/// Words of a vertex: the inputs from 0x80 on in the header below.
const WORDS: usize = 8;
const BANK_BYTES: u64 = 0x1a0;
/// The start of generic addresses of local memory. A fragment program has no shared memory.
const LOCAL: u32 = 0x200_0000;
/// The number of a handle's bits that are the index of the texture header.
const HEADER_BITS: u32 = 20;

/// Returns the directives of a program, and lines that compute the numbers of its lanes.
pub(super) fn head() -> Vec<String> {
    let mut lines: Vec<String> = [
        ".target sm_53",
        ".stage fragment",
        ".input 0x70 xyzw",
        ".input 0x80 xyzw perspective",
        ".input 0x90 xy linear",
        ".input 0x98 xy constant",
        ".input 0xa0 x linear",
        ".output target0 rgba",
        ".output target3 rg",
        ".output depth",
    ]
    .map(Into::into)
    .into();
    lines.push(format!(".local {LOCAL_BYTES}"));
    lines.extend([
        format!("IPA.PASS R{ELEMENT}, a[0xa0], RZ"),
        format!("LOP32I.AND R{THREAD}, R{ELEMENT}, 0x3f"),
    ]);
    lines
}

/// Makes the manifest one of a fragment program with `lanes` lanes, a multiple of 4. The parameters
/// of kernels are in bank 0.
pub(super) fn manifest(
    u: &mut Unstructured<'_>,
    lanes: u32,
    words: [u32; 2],
    manifest: &mut Manifest,
) -> Result<()> {
    shader(Stage::Fragment, words, manifest);
    let helpers = u.int_in_range(0..=4)?;
    let numbers = |numbers: Vec<u32>| {
        Given::Numbers(numbers.into_iter().map(|n| i64::from(n).into()).collect())
    };
    let covered = (0..lanes)
        .map(|_| Ok(u32::from(u.int_in_range(0..=4)? >= helpers)))
        .collect::<Result<_>>()?;
    let primitive =
        (0..lanes / 4).map(|_| u.int_in_range(0..=PRIMITIVES - 1)).collect::<Result<_>>()?;
    let front = (0..lanes).map(|lane| lane / 8 % 2).collect();
    let mut float = || Ok(toml::Value::Float(f64::from(u.int_in_range(-64..=64)?) / 8.0));
    let mut floats = |count: u32| (0..count).map(|_| float()).collect::<Result<Vec<toml::Value>>>();
    let nested = |list: Vec<toml::Value>, length: usize| {
        list.chunks(length).map(|part| toml::Value::from(part.to_vec())).collect::<Vec<_>>()
    };
    let vertices = nested(nested(floats(PRIMITIVES * 3 * WORDS as u32)?, WORDS), 3);
    let w = nested(floats(PRIMITIVES * 3)?, 3);
    let mut inputs = BTreeMap::from([
        (Input::Barycentric, Given::Numbers(nested(floats(2 * lanes)?, 2))),
        (Input::Front, numbers(front)),
        (
            Input::CentroidOffset,
            numbers((0..lanes).map(|lane| lane.wrapping_mul(0x0123_0457)).collect()),
        ),
    ]);
    for input in [Input::X, Input::Y, Input::Z, Input::InverseW] {
        inputs.insert(input, Given::Numbers(floats(lanes)?));
    }
    manifest.pixels = Some(Pixels {
        covered: Some(numbers(covered)),
        primitive: Some(numbers(primitive)),
        vertices: Some(Given::Numbers(vertices)),
        vertex_w: Some(Given::Numbers(w)),
        attribute: BTreeMap::from([("0xa0".into(), numbers((0..lanes).collect()))]),
        inputs,
        ..Pixels::default()
    });
    let targets = ["target0", "target3", "depth"].map(|name| (name.to_owned(), Export::default()));
    manifest.exports = Exports { targets: targets.into(), ..Exports::default() };
    Ok(())
}

/// Sets the parts that all shaders' manifests have.
pub(super) fn shader(stage: Stage, words: [u32; 2], manifest: &mut Manifest) {
    (manifest.kernel.format, manifest.kernel.stage) = (Some(BinaryFormat::MaxwellSph), Some(stage));
    (manifest.launch.grid, manifest.launch.block) = ([0; 3], [0; 3]);
    manifest.args.clear();
    let bank = Bank { zeros: Some(BANK_BYTES), parts: parts(words), ..Bank::default() };
    manifest.banks = BTreeMap::from([("0".into(), bank)]);
}

fn parts([word, float]: [u32; 2]) -> Vec<Part> {
    let part = |at: u64, value| Part { at: at as u32, value };
    let number =
        |at: u64, number: u32| part(at, Value::Number(Dtype::U32, i64::from(number).into()));
    let mut parts: Vec<Part> = [
        (OUT, "out"),
        (TABLE, "table"),
        (OWNED, "own"),
        (SHARED_DATA, "data"),
        (COUNTERS, "counters"),
        (FORMATS_AT, "formats"),
    ]
    .map(|(at, name)| part(at, Value::Address(name.into())))
    .into();
    parts.extend([
        number(SHARED_WINDOW, LOCAL),
        number(LOCAL_WINDOW, LOCAL),
        number(WORD, word),
        number(FLOAT, float),
    ]);
    // Handles are numbers in the order of names. Textures come behind surfaces.
    let place =
        |names: &[&str], name: &str| names.iter().filter(|other| **other < name).count() as u32 + 1;
    parts.extend(
        (SURFACE..).step_by(8).zip(SURFACES).map(|(at, name)| number(at, place(&SURFACES, name))),
    );
    parts.extend((TEXTURE..).step_by(8).zip(TEXTURES).map(|(at, name)| {
        let index = SURFACES.len() as u32 + place(&TEXTURES, name);
        number(at, index | index << HEADER_BITS)
    }));
    parts
}

impl Writer<'_, '_> {
    /// Returns a node that only fragment programs have.
    pub(super) fn pixels(&mut self) -> Result<Node> {
        match self.u.int_in_range(0..=7)? {
            0..=3 => self.interpolation(),
            4 => self.guarded("KIL"),
            5 => self.asked(),
            _ => self.derivative(),
        }
    }

    fn interpolation(&mut self) -> Result<Node> {
        let (to, factor, offset) = (self.value()?, self.value()?, self.value()?);
        let mode = *self.u.choose(&[".PASS", "", ".CONSTANT", ".SC"])?;
        let place = *self.u.choose(&["", "", ".CENTROID", ".OFFSET"])?;
        let saturates = if self.u.ratio(1, 4)? { ".SAT" } else { "" };
        let factor = if matches!(mode, "" | ".SC") { format!("R{factor}") } else { "RZ".into() };
        let offset = if place == ".OFFSET" { format!(", R{offset}") } else { String::new() };
        if self.u.ratio(1, 6)? {
            let index = self.value()?;
            return Ok(Node::line(format!(
                "IPA.IDX{mode}{place}{saturates} R{to}, a[R{index}], {factor}{offset}, PT"
            )));
        }
        let address = match self.u.int_in_range(0..=16)? {
            16 => 0x3fc,
            word => 0x70 + 4 * word,
        };
        // Words from 0xa4 on are not given, so 0xa0 replaces them.
        let address = if (0xa4..0x3fc).contains(&address) { 0xa0 } else { address };
        Ok(Node::line(format!(
            "IPA{mode}{place}{saturates} R{to}, a[{address:#x}], {factor}{offset}"
        )))
    }

    /// Returns an instruction that asks a pixel about itself.
    fn asked(&mut self) -> Result<Node> {
        let to = self.value()?;
        Ok(Node::line(match self.u.int_in_range(0..=2)? {
            0 => format!("S2R R{to}, SR_THREAD_KILL"),
            1 => format!("PIXLD.CENTROID_OFFSET R{to}, [RZ]"),
            _ => format!("PIXLD.COVMASK R{to}, [RZ]"),
        }))
    }

    /// Returns a derivative of the lanes' values, to the right or downwards.
    fn derivative(&mut self) -> Result<Node> {
        let (of, other, to) = (self.value()?, self.value()?, self.value()?);
        let (distance, signs) = *self.u.choose(&[("0x1", "PNNPPNNP"), ("0x2", "PNPNNPNP")])?;
        Ok(Node::lines([
            format!("SHFL.BFLY PT, R{other}, R{of}, {distance}, 0x1c03"),
            format!("FSWZADD R{to}, R{other}, R{of}, {signs}"),
        ]))
    }
}
