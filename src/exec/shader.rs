//! The arrays of a shader's launch in guest memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use warploom_runtime::memory::{Access, HostBuffer, Memory, Place};

use super::{Arg, Error};
use crate::capture::graphics::Exported;
use crate::capture::{RawLaunch, RawValue, Shader};
use crate::container::{ExportTarget, Parameter, ShaderArray, ShaderKernel, Stage};

/// Rows have room for a multiple of so many lanes: whole warps of every instruction set.
const LANES: usize = 64;
/// Size of a parameter that is an address.
pub(super) const ADDRESS_BYTES: u32 = 8;

/// The arrays of a shader, each at its guest address.
pub(super) struct Arrays {
    lanes: usize,
    addresses: BTreeMap<ShaderArray, u64>,
}

/// What an array holds when the launch begins.
enum Content<'a> {
    /// Words that the program can only read.
    Given(Cow<'a, [u32]>),
    /// A row that the program writes, with this in each lane at first.
    Written(u32),
}

/// What a launch has for a shader. `raw`: its registers, of GFX9; `read`: what its code interpolates.
fn content<'a>(
    shader: &'a Shader,
    raw: Option<&'a RawLaunch>,
    read: &BTreeSet<Parameter>,
) -> BTreeMap<ShaderArray, Content<'a>> {
    let borrowed = |words: &'a [u32]| Content::Given(words.into());
    let mut arrays = BTreeMap::new();
    let covered = shader.covered.iter().map(|&covered| u32::from(covered)).collect();
    arrays.insert(ShaderArray::Covered, Content::Given(covered));
    if shader.stage == Stage::Fragment {
        arrays.insert(ShaderArray::Written, Content::Written(0));
    }
    if let Some(vertices) = &shader.vertices
        && raw.is_none()
    {
        let stride = 4 * vertices.stride() as u32;
        let primitive = shader.primitive.iter().map(|&primitive| primitive * stride);
        arrays.insert(ShaderArray::Primitive, Content::Given(primitive.collect()));
        arrays.insert(ShaderArray::Table, Content::Given(vertices.table().into()));
    }
    if let Some(parameters) = shader.parameters.as_ref().filter(|_| shader.one_primitive().is_none()) {
        // What is no instruction may look like one.
        let exists = |parameter: &&Parameter| parameter.index() < parameters.stride();
        for &parameter in read.iter().filter(exists) {
            let word =
                |&primitive: &u32| parameters.words[primitive as usize * parameters.stride() + parameter.index()];
            let row = shader.primitive.iter().map(word);
            arrays.insert(ShaderArray::Parameter(parameter), Content::Given(row.collect()));
        }
    }
    for (&input, rows) in &shader.inputs {
        for component in 0..rows.components() {
            arrays.insert(ShaderArray::Input(input, component as u8), borrowed(rows.row(component)));
        }
    }
    for (&address, rows) in &shader.attributes {
        for component in 0..rows.components() {
            let word = address + 4 * component as u32;
            arrays.insert(ShaderArray::Attribute(word), borrowed(rows.row(component)));
        }
    }
    for target in &shader.exports {
        for row in 0..target.rows() {
            // Where no sample mask is exported, all samples are kept.
            let is_mask =
                target.place == ExportTarget::SampleMask || target.place == ExportTarget::Depth && row == MASK;
            let first = if is_mask { u32::MAX } else { 0 };
            arrays.insert(export(target.place, row), Content::Written(first));
        }
    }
    for (first, value) in raw.iter().flat_map(|raw| &raw.vgpr) {
        if let RawValue::Lanes(words) = value {
            arrays.insert(ShaderArray::Lanes(*first as u8), borrowed(words));
        }
    }
    if raw.is_some() && shader.stage == Stage::Fragment {
        arrays.insert(ShaderArray::PrimMask, Content::Given(shader.prim_masks().into()));
    }
    arrays
}

/// The row of a word of a target.
fn export(place: ExportTarget, row: usize) -> ShaderArray {
    match place {
        ExportTarget::Attribute(address) => ShaderArray::Export(ExportTarget::Attribute(address + 4 * row as u32), 0),
        place => ShaderArray::Export(place, row as u8),
    }
}

/// Which word of `mrtz` has the sample mask.
const MASK: usize = 2;

/// The shader's kernel: its arrays are parameters from number `first` on, in their order.
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
    ShaderKernel {
        stage: shader.stage,
        attributes,
        texture_bank: 0,
        lanes: shader.lanes as u32,
        parameters: None,
        arrays: content(shader, raw, read).into_keys().zip(first..).collect(),
    }
}

impl Arrays {
    pub fn new(
        memory: &Memory,
        shader: &Shader,
        raw: Option<&RawLaunch>,
        read: &BTreeSet<Parameter>,
    ) -> Result<Arrays, Error> {
        let bytes = 4 * shader.lanes.next_multiple_of(LANES);
        let mut addresses = BTreeMap::new();
        for (array, content) in content(shader, raw, read) {
            let address = match content {
                Content::Given(words) => {
                    let mut given: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                    given.resize(given.len().max(bytes), 0);
                    memory.map_host(Place::ANYWHERE, Arc::new(HostBuffer::from_bytes(&given)?), Access::READ)?
                }
                Content::Written(_) => memory.alloc(bytes as u64, 64)?,
            };
            addresses.insert(array, address);
        }
        Ok(Arrays { lanes: shader.lanes, addresses })
    }

    /// The arguments, in the order of [`kernel`]'s parameters.
    pub fn args(&self) -> Vec<Arg> {
        self.addresses.values().map(|&address| Arg::pointer(address)).collect()
    }

    /// Puts rows back to what they are before the launch.
    pub fn fill(&self, memory: &Memory, shader: &Shader, raw: Option<&RawLaunch>) -> Result<(), Error> {
        let bytes = 4 * self.lanes.next_multiple_of(LANES) as u64;
        for (array, content) in content(shader, raw, &BTreeSet::new()) {
            if let (Content::Written(word), Some(&address)) = (content, self.addresses.get(&array)) {
                memory.fill(address, bytes, word as u8)?;
            }
        }
        Ok(())
    }

    fn row(&self, memory: &Memory, array: ShaderArray) -> Result<Option<Vec<u32>>, Error> {
        let Some(&address) = self.addresses.get(&array) else { return Ok(None) };
        let mut bytes = vec![0; 4 * self.lanes];
        memory.read(address, &mut bytes)?;
        Ok(Some(bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect()))
    }

    /// What the program has left.
    pub fn exported(&self, memory: &Memory, shader: &Shader) -> Result<Exported, Error> {
        let mut kept = shader.covered.clone();
        if let Some(written) = self.row(memory, ShaderArray::Written)? {
            kept.iter_mut().zip(written).for_each(|(kept, written)| *kept &= written != 0);
        }
        let mut targets = Vec::with_capacity(shader.exports.len());
        for target in &shader.exports {
            let rows = (0..target.rows()).map(|row| self.row(memory, export(target.place, row)));
            let rows = rows.collect::<Result<Vec<_>, _>>()?;
            let word = |row: &Option<Vec<u32>>, lane: usize| row.as_ref().map_or(0, |row| row[lane]);
            let lanes = (0..self.lanes).map(|lane| rows.iter().map(|row| word(row, lane)).collect());
            let lanes: Vec<Vec<u32>> = lanes.collect();
            for (kept, lane) in kept.iter_mut().zip(&lanes) {
                *kept &= target.keeps(lane);
            }
            targets.push(lanes);
        }
        Ok(Exported { targets, kept })
    }
}

/// Grid and block of so many lanes: blocks in a line.
pub(super) fn shape(lanes: usize) -> ([u32; 3], [u32; 3]) {
    ([lanes.div_ceil(LANES) as u32, 1, 1], [LANES as u32, 1, 1])
}
