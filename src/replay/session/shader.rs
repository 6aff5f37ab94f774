//! The arrays of a shader's launch in guest memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use warploom::{Arg, Error};
use warploom_container::{ExportTarget, Parameter, ShaderArray, ShaderKernel, Stage, WaveInput};
use warploom_runtime::memory::{Access, HostBuffer, Memory, Placement};

use super::drawing::{BLOCK_ROW, DrawnRow, DrawnRows, SLOTS};
use crate::graphics::{Exported, Input};
use crate::{RawLaunch, RawValue, Shader};

/// The size of a parameter that is an address.
pub(super) const ADDRESS_BYTES: u32 = 8;

/// The guest addresses of a shader's arrays.
pub(super) struct Arrays {
    addresses: BTreeMap<ShaderArray, u64>,
    /// The rows of drawn pixels.
    pub drawn: DrawnRows,
}

/// The initial content of an array.
enum Content<'a> {
    /// Words that the program can only read.
    Given(Cow<'a, [u32]>),
    /// Read-only words that are made of drawn quads when a block begins.
    Drawn(DrawnRow),
    /// Rows that the program writes. Each lane begins with `word`.
    Written { word: u32, rows: usize },
}

/// A row that begins with zeros.
const ZEROS: Content<'static> = Content::Written { word: 0, rows: 1 };

/// Returns the arrays of a shader.
///
/// `raw`: the registers, for GFX9. `read`: the parameters that the code interpolates.
fn content<'a>(
    shader: &'a Shader,
    raw: Option<&'a RawLaunch>,
    read: &BTreeSet<Parameter>,
) -> BTreeMap<ShaderArray, Content<'a>> {
    let borrowed = |words: &'a [u32]| Content::Given(words.into());
    let mut arrays = BTreeMap::new();
    // Inputs of lanes are given by the manifest, or made of drawn quads.
    let of_lanes = |given: &dyn Fn() -> Vec<u32>, drawn: DrawnRow| match shader.drawn {
        Some(_) => Content::Drawn(drawn),
        None => Content::Given(given().into()),
    };
    let covered = || shader.covered.iter().map(|&covered| u32::from(covered)).collect();
    arrays.insert(ShaderArray::Covered, of_lanes(&covered, DrawnRow::Covered));
    if shader.stage == Stage::Fragment {
        arrays.insert(ShaderArray::Written, ZEROS);
    }
    if let Some(vertices) = &shader.vertices
        && raw.is_none()
    {
        let stride = 4 * vertices.stride() as u32;
        let primitive = || shader.primitive.iter().map(|&primitive| primitive * stride).collect();
        arrays.insert(ShaderArray::Primitive, of_lanes(&primitive, DrawnRow::Primitive(stride)));
        arrays.insert(ShaderArray::Table, Content::Given(vertices.table().into()));
    }
    if let Some(parameters) =
        shader.parameters.as_ref().filter(|_| shader.one_primitive().is_none())
    {
        // Data can look like an instruction, so a parameter may not exist.
        let exists = |parameter: &&Parameter| parameter.index() < parameters.stride();
        for &parameter in read.iter().filter(exists) {
            let word = |&primitive: &u32| {
                parameters.words[primitive as usize * parameters.stride() + parameter.index()]
            };
            let row = || shader.primitive.iter().map(word).collect();
            arrays.insert(
                ShaderArray::Parameter(parameter),
                of_lanes(&row, DrawnRow::Parameter(parameter.index())),
            );
        }
    }
    for (&input, rows) in &shader.inputs {
        for component in 0..rows.components() {
            arrays
                .insert(ShaderArray::Input(input, component as u8), borrowed(rows.row(component)));
        }
    }
    for input in drawn_inputs(shader, raw) {
        for component in 0..input.components() {
            let row = DrawnRow::Input(input, component);
            arrays.insert(ShaderArray::Input(input, component as u8), Content::Drawn(row));
        }
    }
    for &word in &shader.interpolated {
        arrays.insert(
            ShaderArray::Attribute(word.address),
            Content::Drawn(DrawnRow::Attribute(word)),
        );
    }
    for (&address, rows) in &shader.attributes {
        for component in 0..rows.components() {
            let word = address + 4 * component as u32;
            arrays.insert(ShaderArray::Attribute(word), borrowed(rows.row(component)));
        }
    }
    for (&address, rows) in &shader.patches {
        for component in 0..rows.components() {
            let word = address + 4 * component as u32;
            arrays.insert(ShaderArray::Patch(word), borrowed(rows.row(component)));
        }
    }
    let vertices = shader.max_vertices();
    for target in shader.exports.iter().filter(|target| target.place != ExportTarget::Emitted) {
        for row in 0..target.rows() {
            // If no sample mask is exported, all samples are kept.
            let is_mask = target.place == ExportTarget::SampleMask
                || target.place == ExportTarget::Depth && row == MASK;
            let word = if is_mask { u32::MAX } else { 0 };
            arrays.insert(
                export(target.place, row),
                Content::Written { word, rows: vertices.max(1) },
            );
        }
    }
    if vertices > 0 {
        arrays.insert(ShaderArray::Emitted, Content::Written { word: 0, rows: vertices + 1 });
        if raw.is_some() {
            arrays.insert(ShaderArray::NextVertex, ZEROS);
        }
    }
    for (first, value) in raw.iter().flat_map(|raw| &raw.vgpr) {
        if let RawValue::Lanes(words) = value {
            arrays.insert(ShaderArray::Lanes(*first as u8), borrowed(words));
        }
    }
    for (&input, words) in shader.waves.iter().filter(|_| raw.is_some()) {
        arrays.insert(ShaderArray::Wave(input), borrowed(words));
    }
    if shader.drawn.is_some() && raw.is_some() {
        arrays.insert(ShaderArray::Wave(WaveInput::PrimMask), Content::Drawn(DrawnRow::PrimMask));
    }
    arrays
}

/// Returns the bytes of a slot's drawn rows: for GFX9, whose blocks are one warp.
fn slot_bytes(content: &BTreeMap<ShaderArray, Content<'_>>, raw: Option<&RawLaunch>) -> usize {
    let drawn = content.values().filter(|content| matches!(content, Content::Drawn(_)));
    if raw.is_some() { BLOCK_ROW * drawn.count() } else { 0 }
}

/// Returns the inputs that the rasteriser makes for a program.
///
/// For GFX9, these are the inputs of start registers; for Maxwell, all that a program can ask for.
fn drawn_inputs(shader: &Shader, raw: Option<&RawLaunch>) -> Vec<Input> {
    let of_register = |(_, value): &(u32, RawValue)| match value {
        RawValue::Input(input) => Some(*input),
        _ => None,
    };
    match (&shader.drawn, raw) {
        (None, _) => vec![],
        (_, Some(raw)) => raw.vgpr.iter().filter_map(of_register).collect(),
        _ => {
            vec![Input::X, Input::Y, Input::Z, Input::InverseW, Input::Front, Input::SampleCoverage]
        }
    }
}

/// Returns the array of a target's word.
fn export(place: ExportTarget, row: usize) -> ShaderArray {
    match place {
        ExportTarget::Attribute(address) => {
            ShaderArray::Export(ExportTarget::Attribute(address + 4 * row as u32), 0)
        }
        ExportTarget::Patch(address) => {
            ShaderArray::Export(ExportTarget::Patch(address + 4 * row as u32), 0)
        }
        place => ShaderArray::Export(place, row as u8),
    }
}

/// The word of `mrtz` that has the sample mask.
const MASK: usize = 2;

/// Returns the shader's kernel.
///
/// Its arrays are parameters from number `first` on, in the order of the arrays.
pub(super) fn kernel(
    shader: &Shader,
    raw: Option<&RawLaunch>,
    read: &BTreeSet<Parameter>,
    first: usize,
) -> ShaderKernel {
    let attributes = match (&shader.parameters, &shader.vertices) {
        (Some(parameters), _) => parameters.attributes as u32,
        (None, Some(vertices)) => vertices.words as u32,
        (None, None) => 0,
    };
    let content = content(shader, raw, read);
    ShaderKernel {
        stage: shader.stage,
        attributes,
        texture_bank: 0,
        lanes: shader.lanes as u32,
        vertices: shader.of_primitives.as_ref().map_or(0, |of| of.vertices),
        max_vertices: shader.max_vertices() as u32,
        stride: row_bytes(shader) as u32,
        parameters: None,
        slot_bytes: slot_bytes(&content, raw) as u32,
        arrays: content.into_keys().zip(first..).collect(),
    }
}

impl Arrays {
    pub fn new(
        memory: &Memory,
        shader: &Shader,
        raw: Option<&RawLaunch>,
        read: &BTreeSet<Parameter>,
    ) -> Result<Arrays, Error> {
        let bytes = row_bytes(shader);
        let mut addresses = BTreeMap::new();
        let mut drawn = DrawnRows { by_slot: raw.is_some(), ..DrawnRows::default() };
        let content = content(shader, raw, read);
        let read_only = |buffer: HostBuffer| {
            memory
                .map_host(Placement::ANYWHERE, Arc::new(buffer), Access::READ)
                .map_err(Error::from)
        };
        let area = match slot_bytes(&content, raw) {
            0 => 0,
            bytes => read_only(HostBuffer::new((SLOTS * bytes) as u64)?)?,
        };
        let is_parameter = |array: &ShaderArray| matches!(array, ShaderArray::Parameter(_));
        let parameters = content.keys().filter(|array| is_parameter(array)).count();
        // The addresses of the next row of parameters and of the next other row.
        let [mut next, mut other] = [0, parameters].map(|row| area + (BLOCK_ROW * row) as u64);
        for (array, content) in content {
            let address = match content {
                Content::Given(words) => {
                    let mut given: Vec<u8> =
                        words.iter().flat_map(|word| word.to_le_bytes()).collect();
                    given.resize(given.len().max(bytes), 0);
                    read_only(HostBuffer::from_bytes(&given)?)?
                }
                Content::Drawn(row) => {
                    let place = if is_parameter(&array) { &mut next } else { &mut other };
                    let address = match raw {
                        Some(_) => std::mem::replace(place, *place + BLOCK_ROW as u64),
                        None => read_only(HostBuffer::new(bytes as u64)?)?,
                    };
                    drawn.given.push((row, address));
                    address
                }
                Content::Written { word, rows } => {
                    let address = memory.alloc((rows * bytes) as u64, 64)?;
                    if shader.drawn.is_some() {
                        drawn.written.push((address, word));
                    }
                    address
                }
            };
            addresses.insert(array, address);
        }
        drawn.given.sort_by_key(|&(_, address)| address);
        Ok(Arrays { addresses, drawn })
    }

    /// Returns the arguments, in the order of [`kernel`]'s parameters.
    pub fn args(&self) -> Vec<Arg> {
        self.addresses.values().map(|&address| Arg::pointer(address)).collect()
    }

    /// Restores rows to their state before the launch.
    pub fn fill(
        &self,
        memory: &Memory,
        shader: &Shader,
        raw: Option<&RawLaunch>,
    ) -> Result<(), Error> {
        if shader.drawn.is_some() {
            // Blocks write their rows when they begin.
            return Ok(());
        }
        let bytes = row_bytes(shader) as u64;
        for (array, content) in content(shader, raw, &BTreeSet::new()) {
            if let (Content::Written { word, rows }, Some(&address)) =
                (content, self.addresses.get(&array))
            {
                memory.fill(address, rows as u64 * bytes, word as u8)?;
            }
        }
        Ok(())
    }

    /// Returns the words of an array's rows, row after row.
    fn rows(
        &self,
        memory: &Memory,
        array: ShaderArray,
        bytes: usize,
    ) -> Result<Option<Vec<u32>>, Error> {
        let Some(&address) = self.addresses.get(&array) else { return Ok(None) };
        let mut content = vec![0; bytes];
        memory.read(address, &mut content)?;
        Ok(Some(content.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect()))
    }

    /// Returns the program's exports.
    pub fn exported(&self, memory: &Memory, shader: &Shader) -> Result<Exported, Error> {
        let (bytes, room, vertices) = (row_bytes(shader), shader.room(), shader.max_vertices());
        let rows = || (0..shader.row_count()).map(|row| shader.lane(row));
        let mut kept: Vec<bool> = rows().map(|lane| shader.covered[lane]).collect();
        if let Some(written) = self.rows(memory, ShaderArray::Written, bytes)? {
            kept.iter_mut().zip(rows()).for_each(|(kept, lane)| *kept &= written[lane] != 0);
        }
        let emitted = self.rows(memory, ShaderArray::Emitted, (vertices + 1) * bytes)?;
        let of_thread = |words: &Vec<u32>, lane: usize| {
            (0..=vertices).map(|vertex| words[vertex * room + lane]).collect()
        };
        let emitted: Vec<Vec<u32>> = emitted
            .iter()
            .flat_map(|words| rows().map(move |lane| of_thread(words, lane)))
            .collect();
        let mut targets = Vec::with_capacity(shader.exports.len());
        for target in &shader.exports {
            if target.place == ExportTarget::Emitted {
                targets.push(emitted.clone());
                continue;
            }
            let words = (0..target.rows())
                .map(|row| self.rows(memory, export(target.place, row), vertices.max(1) * bytes))
                .collect::<Result<Vec<_>, _>>()?;
            let places: Vec<usize> = match (target.place, &shader.of_primitives) {
                (ExportTarget::Patch(_), Some(of)) => {
                    of.first.iter().map(|&lane| lane as usize).collect()
                }
                _ => rows()
                    .flat_map(|lane| (0..vertices.max(1)).map(move |vertex| vertex * room + lane))
                    .collect(),
            };
            let word = |words: &Option<Vec<u32>>, place: usize| {
                words.as_ref().map_or(0, |words| words[place])
            };
            let of_rows = places
                .into_iter()
                .map(|place| words.iter().map(|words| word(words, place)).collect());
            let of_rows: Vec<Vec<u32>> = of_rows.collect();
            for (kept, words) in kept.iter_mut().zip(&of_rows) {
                *kept &= target.keeps(words);
            }
            targets.push(of_rows);
        }
        Ok(Exported { targets, kept, emitted })
    }
}

/// Returns the bytes of a row.
fn row_bytes(shader: &Shader) -> usize {
    4 * shader.room()
}

/// Returns grid and block for a shader's lanes: blocks in a line.
pub(super) fn shape(shader: &Shader) -> ([u32; 3], [u32; 3]) {
    ([shader.lanes.div_ceil(shader.block) as u32, 1, 1], [shader.block as u32, 1, 1])
}
