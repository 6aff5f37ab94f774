//! Reads the arrays that a shader's keys name.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::keys::{self, Given, Pixels};
use super::stages::is_of_pixels;
use super::{ExportTarget, Input, Rows, Shader, Stage, Target, WAVE, WaveInput, name_of};
use crate::array::{Array, Dtype};
use crate::manifest::Manifest;
use crate::raw::BinaryFormat;
use crate::resolve::{Content, Source};
use crate::{Buffer, ConstantBank, Error, Expectation, content};

/// The most lanes: four times the pixels of a picture of 3,840 by 2,160.
pub(super) const MAX_LANES: u64 = 1 << 25;
/// The constant banks of Maxwell.
const BANKS: u8 = 18;
const BANK_BYTES: u64 = 1 << 16;

impl Source<'_> {
    /// Reads the manifest's shader, if its kernel is a shader.
    pub(crate) fn shader(&self, manifest: &Manifest) -> Result<Option<Shader>, Error> {
        let Manifest { vertices, primitives, tessellation, pixels, exports, .. } = manifest;
        let Some(stage) = manifest.kernel.stage else {
            let given = [
                ("vertices", vertices.is_some()),
                ("primitives", primitives.is_some()),
                ("tessellation", tessellation.is_some()),
                ("pixels", pixels.is_some()),
                ("export", *exports != keys::Exports::default()),
            ];
            return match given.into_iter().find(|(_, given)| *given) {
                Some((key, _)) => Err(self.wrong(key, "expected kernel.stage with it")),
                None => Ok(None),
            };
        };
        for (key, given) in
            [("launch.grid", manifest.launch.grid), ("launch.block", manifest.launch.block)]
        {
            if given != [0; 3] {
                return Err(self.wrong(
                    key,
                    "the arrays of a shader say how many lanes there are: expected none",
                ));
            }
        }
        let Some(format) = manifest.kernel.format else {
            return Err(self.wrong(
                "kernel.format",
                "missing: a stream of a shader's instructions cannot be recognised",
            ));
        };
        let mut shader = match (stage, vertices, pixels) {
            (Stage::Fragment, None, Some(pixels)) => self.pixels(pixels)?,
            (Stage::Fragment, ..) => {
                return Err(
                    self.wrong("pixels", "a fragment program has [pixels] and no [vertices]")
                );
            }
            (_, Some(vertices), None) => {
                let gfx9 = format == BinaryFormat::Gfx9Raw;
                self.of_vertices(stage, vertices, primitives.as_ref(), *tessellation, gfx9)?
            }
            _ => {
                let problem =
                    format!("a program of stage {} has [vertices] and no [pixels]", stage.name());
                return Err(self.wrong("vertices", problem));
            }
        };
        if stage == Stage::Fragment {
            for (key, given) in
                [("primitives", primitives.is_some()), ("tessellation", tessellation.is_some())]
            {
                if given {
                    return Err(self.wrong(key, "a fragment program has [pixels] alone"));
                }
            }
        }
        for (name, export) in &exports.targets {
            let target = self.target(&format!("export.{name}"), name, export, &shader)?;
            shader.exports.push(target);
        }
        let lanes = shader.row_count();
        shader.written = match &exports.written {
            Some(file) => Some(self.lanes_of(file, lanes, "lane")?.1),
            None => None,
        };
        shader.picture = exports.png;
        if let Some(picture) = &shader.picture {
            shader.places = match &shader.drawn {
                Some(drawn) => drawn.raster.quads().flat_map(|quad| quad.places()).collect(),
                None => places(&shader.inputs).or_else(|| row_major(picture.size, lanes)).ok_or_else(|| {
                    let problem = "expected places of pixels (`pos_x`, `pos_y`; `x`, `y`), or a quad for every 2 x 2 pixels of the size";
                    self.wrong("export.png", problem)
                })?,
            };
        }
        Ok(Some(shader))
    }

    /// Reads the `[bank.N]` tables, by number.
    pub(crate) fn banks(
        &self,
        manifest: &Manifest,
        buffers: &[Buffer],
    ) -> Result<Vec<ConstantBank>, Error> {
        let mut banks = Vec::new();
        for (name, bank) in &manifest.banks {
            let key = format!("bank.{name}");
            let number = name.parse().ok().filter(|number| *number < BANKS);
            let number = number
                .ok_or_else(|| self.wrong(&key, format!("expected a number below {BANKS}")))?;
            let keys::Bank { file, zeros, values, dtype, parts } = bank;
            let content = self
                .initial(&key, &content::Given { file, zeros: *zeros, values, dtype: *dtype })?
                .content;
            if content.len() > BANK_BYTES {
                let problem = format!("{} bytes: expected at most {BANK_BYTES}", content.len());
                return Err(self.wrong(&key, problem));
            }
            let parts = self.values_at(&key, parts, content.len(), buffers, manifest)?;
            let content = match content {
                Content::Zeros(bytes) => vec![0; bytes as usize],
                Content::Bytes(bytes) => bytes,
            };
            banks.push(ConstantBank { number, content, parts });
        }
        Ok(banks)
    }

    fn pixels(&self, pixels: &Pixels) -> Result<Shader, Error> {
        if let Some(file) = &pixels.draw.triangles {
            return self.drawn(pixels, file);
        }
        if pixels.draw != keys::Draw::default() {
            return Err(
                self.wrong("pixels.triangles", "missing: other keys say how triangles are drawn")
            );
        }
        let Some(covered) = &pixels.covered else {
            return Err(self.wrong("pixels.covered", "missing: expected it, or `triangles`"));
        };
        let (path, array) = self.given(covered, Dtype::U8)?;
        let lanes = array.bytes.len() / array.dtype.bytes();
        if lanes == 0 || lanes % 4 != 0 || lanes as u64 > MAX_LANES {
            let problem =
                format!("{lanes} lanes: expected four for each quad, and at most {MAX_LANES}");
            return Err(Error::Array { path, problem });
        }
        let covered = array
            .bytes
            .chunks(array.dtype.bytes())
            .map(|lane| lane.iter().any(|&byte| byte != 0))
            .collect();
        let primitive = match &pixels.primitive {
            Some(file) => {
                let (_, array) = self.lanes_of(file, lanes / 4, "quad")?;
                let quads =
                    words(&array).map_err(|problem| self.wrong("pixels.primitive", problem))?;
                quads.into_iter().flat_map(|primitive| [primitive; 4]).collect()
            }
            None => vec![0; lanes],
        };
        let mut inputs = BTreeMap::new();
        for (&input, file) in &pixels.inputs {
            let key = format!("pixels.{}", name_of(input));
            if !is_of_pixels(input) {
                return Err(self.wrong(key, "it belongs to programs of other stages"));
            }
            let rows = self.rows(&key, file, lanes)?;
            let (found, expected) = (rows.components(), input.components());
            if found != expected {
                return Err(
                    self.wrong(key, format!("{found} numbers for each lane: expected {expected}"))
                );
            }
            inputs.insert(input, rows);
        }
        let most = primitive.iter().copied().max().unwrap_or(0);
        let parameters = match &pixels.parameters {
            Some(file) => Some(Arc::new(self.parameters(file, pixels, most)?)),
            None => None,
        };
        let vertices = match &pixels.vertices {
            Some(file) => {
                Some(Arc::new(self.primitive_vertices(file, pixels.vertex_w.as_ref(), most)?))
            }
            None => None,
        };
        let attributes = self.attributes("pixels", &pixels.attribute, lanes)?;
        let mut shader =
            Shader { primitive, inputs, attributes, parameters, vertices, ..fragment(covered) };
        shader.waves.insert(WaveInput::PrimMask, shader.prim_masks());
        Ok(shader)
    }

    /// Reads values of lanes, by the address of their first word.
    pub(super) fn attributes(
        &self,
        table: &str,
        files: &BTreeMap<String, Given>,
        lanes: usize,
    ) -> Result<BTreeMap<u32, Rows>, Error> {
        let mut attributes = BTreeMap::new();
        for (name, file) in files {
            let key = format!("{table}.attribute.\"{name}\"");
            let address =
                name.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
            let address = address.filter(|address| address.is_multiple_of(4) && *address < 0x400);
            let address = address
                .ok_or_else(|| self.wrong(&key, "expected a multiple of 4 below 0x400, in hex"))?;
            attributes.insert(address, self.rows(&key, file, lanes)?);
        }
        Ok(attributes)
    }

    /// Reads an array, and returns the file that messages name. Elements of raw files have type
    /// `raw`.
    pub(super) fn given(&self, given: &Given, raw: Dtype) -> Result<(PathBuf, Array), Error> {
        match given {
            Given::File(file) => self.array(file, raw).map(|(path, array, _)| (path, array)),
            Given::Numbers(numbers) => {
                let path = self.manifest().to_path_buf();
                let array = numbered(numbers)
                    .map_err(|problem| Error::Array { path: path.clone(), problem })?;
                Ok((path, array))
            }
        }
    }

    /// Reads an array whose first axis has `count` lanes or quads.
    pub(super) fn lanes_of(
        &self,
        file: &Given,
        count: usize,
        what: &str,
    ) -> Result<(PathBuf, Array), Error> {
        let (path, array) = self.given(file, Dtype::U8)?;
        if array.shape.first() != Some(&(count as u64)) {
            let problem =
                format!("shape {:?}: expected a row for each {what} of {count}", array.shape);
            return Err(Error::Array { path, problem });
        }
        Ok((path, array))
    }

    pub(super) fn rows(&self, key: &str, file: &Given, lanes: usize) -> Result<Rows, Error> {
        let (_, array) = self.lanes_of(file, lanes, "lane")?;
        let given = words(&array).map_err(|problem| self.wrong(key, problem))?;
        let components = given.len() / lanes;
        let transposed = (0..components).flat_map(|i| given.iter().skip(i).step_by(components));
        Ok(Rows { lanes, words: transposed.copied().collect() })
    }

    fn target(
        &self,
        key: &str,
        name: &str,
        export: &keys::Export,
        shader: &Shader,
    ) -> Result<Target, Error> {
        let place = ExportTarget::from_name(name).ok_or_else(|| {
            let expected = "expected mrt0 to mrt7, mrtz, pos0 to pos3, param0 to param31; of Maxwell target0 to target7, depth, mask, an attribute's \
                            address, or patch and one; of geometry programs emitted";
            self.wrong(key, expected)
        })?;
        if place == ExportTarget::Emitted && shader.stage != Stage::Geometry {
            return Err(self.wrong(key, "it belongs to geometry programs"));
        }
        if matches!(place, ExportTarget::Patch(_)) && shader.stage != Stage::TessControl {
            return Err(self.wrong(key, "it belongs to tessellation control programs"));
        }
        let lanes = shader.rows_of(place);
        let keys::Export { format, target, words, expect, atol, rtol, differ } = export;
        let mut tolerance = self.tolerance(key, [*rtol, *atol], expect.is_some())?;
        let differ = differ.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&differ) {
            return Err(self.wrong(
                format!("{key}.differ"),
                format!("{differ}: expected a share from 0 to 1"),
            ));
        }
        if let Some(words) = words
            && words.iter().any(|dtype| dtype.bytes() != 4)
        {
            return Err(self.wrong(format!("{key}.words"), "expected types of 32 bits"));
        }
        let expect = match expect {
            Some(file) => {
                let (path, array) = self.lanes_of(file, lanes, "lane")?;
                let expected = target.map_or(array.dtype, |target| target.dtype());
                let most = target.map_or(usize::MAX, |target| target.components());
                let (found, named) = (super::components(&array), array.dtype.name());
                if array.dtype != expected || found > most || found == 0 {
                    let problem =
                        format!("{found} {named} for each lane: expected {}", expected.name());
                    return Err(Error::Array { path, problem });
                }
                if target.is_none() && array.dtype.bytes() != 4 {
                    return Err(Error::Array {
                        path,
                        problem: format!("elements are {named}: expected words"),
                    });
                }
                if words.as_ref().is_some_and(|words| words.len() != found) {
                    return Err(
                        self.wrong(format!("{key}.words"), format!("expected {found} types"))
                    );
                }
                Some(Expectation { path, array, tolerance: std::mem::take(&mut tolerance) })
            }
            None => None,
        };
        Ok(Target {
            name: name.into(),
            place,
            format: format.unwrap_or_default(),
            target: *target,
            words: words.clone(),
            expect,
            differ,
        })
    }
}

/// Makes a fragment program's launch of which only the lanes are known.
pub(super) fn fragment(covered: Vec<bool>) -> Shader {
    Shader {
        stage: Stage::Fragment,
        lanes: covered.len(),
        block: WAVE,
        rows: None,
        covered,
        inputs: BTreeMap::new(),
        waves: BTreeMap::new(),
        attributes: BTreeMap::new(),
        patches: BTreeMap::new(),
        of_primitives: None,
        primitive: vec![],
        drawn: None,
        interpolated: vec![],
        parameters: None,
        vertices: None,
        exports: vec![],
        written: None,
        picture: None,
        places: vec![],
    }
}

/// Makes an array of nested lists of numbers.
///
/// Its type is a float if any number is one, else a signed integer if any number is negative.
fn numbered(numbers: &[toml::Value]) -> Result<Array, String> {
    fn flatten<'a>(
        list: &'a [toml::Value],
        shape: &mut Vec<u64>,
        depth: usize,
        into: &mut Vec<&'a toml::Value>,
    ) -> Result<(), String> {
        let length = list.len() as u64;
        match shape.get(depth) {
            None => shape.push(length),
            Some(&expected) if expected == length => {}
            Some(expected) => return Err(format!("a list of {length}: others have {expected}")),
        }
        for value in list {
            match value.as_array() {
                Some(inner) if into.is_empty() || shape.len() > depth + 1 => {
                    flatten(inner, shape, depth + 1, into)?
                }
                None if shape.len() == depth + 1 => into.push(value),
                _ => return Err(format!("{value}: expected lists of the same length, or numbers")),
            }
        }
        Ok(())
    }
    let (mut shape, mut all) = (vec![], vec![]);
    flatten(numbers, &mut shape, 0, &mut all)?;
    let negative = |value: &&&toml::Value| value.as_integer().is_some_and(|number| number < 0);
    let dtype = match all.iter().any(|value| value.is_float()) {
        true => Dtype::F32,
        false if all.iter().any(|value| negative(&value)) => Dtype::I32,
        false => Dtype::U32,
    };
    let bytes =
        all.into_iter().map(|value| dtype.encode(value)).collect::<Result<Vec<_>, _>>()?.concat();
    Ok(Array { dtype, shape, bytes })
}

/// Returns the elements as 32-bit words. Smaller elements are extended, which keeps the number.
pub(super) fn words(array: &Array) -> Result<Vec<u32>, String> {
    let size = array.dtype.bytes();
    if array.dtype == Dtype::F16 || size > 4 {
        return Err(format!("elements are {}: expected words", array.dtype.name()));
    }
    let word = |bytes: &[u8]| match array.dtype {
        Dtype::I8 => i32::from(bytes[0] as i8) as u32,
        Dtype::I16 => i32::from(i16::from_le_bytes([bytes[0], bytes[1]])) as u32,
        _ => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)),
    };
    Ok(array.bytes.chunks_exact(size).map(word).collect())
}

/// Returns the pixels of lanes, if the inputs give them.
fn places(inputs: &BTreeMap<Input, Rows>) -> Option<Vec<[u32; 2]>> {
    let axis =
        |gfx9, maxwell| inputs.get(&gfx9).or_else(|| inputs.get(&maxwell)).map(|rows| rows.row(0));
    let (x, y) = axis(Input::PosX, Input::X).zip(axis(Input::PosY, Input::Y))?;
    // A float beyond all pictures becomes the greatest integer.
    let pixel = |bits: &u32| f32::from_bits(*bits).floor() as u32;
    Some(x.iter().zip(y).map(|(x, y)| [pixel(x), pixel(y)]).collect())
}

/// Returns the pixels of the quads of a whole picture, row by row.
fn row_major([width, height]: [u32; 2], lanes: usize) -> Option<Vec<[u32; 2]>> {
    let [columns, rows] = [width, height].map(|axis| u64::from(axis.div_ceil(2)));
    if columns * rows * 4 != lanes as u64 {
        return None;
    }
    let place = |lane: u64| {
        let quad = lane / 4;
        [quad % columns * 2 + lane % 2, quad / columns * 2 + lane / 2 % 2].map(|axis| axis as u32)
    };
    Some((0..lanes as u64).map(place).collect())
}
