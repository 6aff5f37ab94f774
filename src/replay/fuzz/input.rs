//! The bytes of an input: which argument or buffer each belongs to, and the files of inputs.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{FuzzError, write_file};
use crate::manifest::{Arg, Buffer};
use crate::{ArgValue, Content, Dtype, Error, Launch, Manifest, Session, read, write};

/// Buffers beyond this size are changed in their first bytes only.
const MOST_OF_BUFFER: u64 = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Argument(usize),
    Buffer(usize),
}

/// A part of an input.
#[derive(Clone, Debug)]
pub struct Part {
    pub of: Of,
    pub bytes: Range<usize>,
    /// The type of its elements, as far as the manifest says it.
    pub dtype: Dtype,
}

/// The parts of an input, one after the other.
#[derive(Clone, Debug)]
pub struct Layout {
    pub parts: Vec<Part>,
}

impl Layout {
    pub fn of(launch: &Launch, keep: &BTreeSet<String>) -> Result<Layout, FuzzError> {
        let mut known = vec![];
        let mut parts = vec![];
        let mut end = 0;
        let mut add = |name: String, of, bytes, dtype| {
            if bytes > 0 && !keep.contains(&name) {
                parts.push(Part { of, bytes: end..end + bytes, dtype });
                end += bytes;
            }
            known.push(name);
        };
        for (i, arg) in launch.args.iter().enumerate() {
            if let ArgValue::Bytes(bytes, name) = arg {
                let dtype = Dtype::from_name(name).unwrap_or(Dtype::U8);
                add((i + 1).to_string(), Of::Argument(i), bytes.len(), dtype);
            }
        }
        for (i, buffer) in launch.buffers.iter().enumerate() {
            let bytes = buffer.content.len().min(MOST_OF_BUFFER) as usize;
            add(buffer.name.clone(), Of::Buffer(i), bytes, buffer.dtype);
        }
        if let Some(name) = keep.iter().find(|name| !known.contains(name)) {
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(FuzzError::NoSuchPart { name: name.clone(), known });
        }
        if parts.is_empty() { Err(FuzzError::NothingToChange) } else { Ok(Layout { parts }) }
    }

    pub fn len(&self) -> usize {
        self.parts.last().map_or(0, |part| part.bytes.end)
    }

    /// Returns the input of the launch itself.
    pub fn own(&self, launch: &Launch) -> Vec<u8> {
        let mut input = vec![0; self.len()];
        for part in &self.parts {
            let into = &mut input[part.bytes.clone()];
            match part.of {
                Of::Argument(i) => {
                    if let ArgValue::Bytes(bytes, _) = &launch.args[i] {
                        into.copy_from_slice(bytes);
                    }
                }
                Of::Buffer(i) => {
                    if let Content::Bytes(bytes) = &launch.buffers[i].content {
                        into.copy_from_slice(&bytes[..into.len()]);
                    }
                }
            }
        }
        input
    }

    /// Puts an input into a session.
    pub fn set(&self, session: &mut Session<'_>, input: &[u8]) {
        for part in &self.parts {
            let bytes = &input[part.bytes.clone()];
            match part.of {
                Of::Argument(i) => session.set_argument(i, bytes),
                Of::Buffer(i) => session.replace_buffer(i, bytes.to_vec()),
            }
        }
    }

    /// Reads the inputs of a folder, in the order of their names. Files of another length are left
    /// alone: another launch has left them.
    pub fn read_corpus(&self, folder: Option<&Path>) -> Result<Vec<Vec<u8>>, Error> {
        let mut inputs = vec![];
        for path in self.files(folder)? {
            let bytes = read::file(&path)?;
            if bytes.len() == self.len() {
                inputs.push(bytes);
            }
        }
        Ok(inputs)
    }

    fn files(&self, folder: Option<&Path>) -> Result<Vec<PathBuf>, Error> {
        let Some(folder) = folder.filter(|folder| folder.exists()) else { return Ok(vec![]) };
        let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, "read", e))?;
        let mut files = vec![];
        for entry in entries {
            let entry = entry.map_err(|e| Error::io(folder, "read", e))?;
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(PREFIX) {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(files)
    }

    pub fn write_input(&self, folder: &Path, input: &[u8]) -> Result<(), Error> {
        let mut hasher = DefaultHasher::new();
        input.hash(&mut hasher);
        write_file(folder, &format!("{PREFIX}{:016x}", hasher.finish()), input).map(drop)
    }

    /// Leaves only these inputs of this launch in a folder.
    pub fn replace_corpus(&self, folder: &Path, inputs: &[Vec<u8>]) -> Result<(), Error> {
        for path in self.files(Some(folder))? {
            let kept = read::file(&path)?;
            if kept.len() == self.len() && !inputs.contains(&kept) {
                std::fs::remove_file(&path).map_err(|e| Error::io(&path, "removed", e))?;
            }
        }
        Ok(())
    }

    /// Writes a launch with an input into a folder. Returns the path of its manifest.
    pub fn write(
        &self,
        manifest: &Manifest,
        launch: &Launch,
        input: &[u8],
        folder: &Path,
    ) -> Result<PathBuf, Error> {
        let mut manifest = manifest.clone();
        // The results of another input are others.
        let expects = |buffer: &mut Buffer| {
            (buffer.expect, buffer.rtol, buffer.atol) = (None, None, None);
        };
        manifest.buffers.values_mut().for_each(expects);
        manifest.printf.expect = None;
        manifest.symbols.values_mut().for_each(|symbol| {
            (symbol.expect, symbol.rtol, symbol.atol) = (None, None, None);
        });
        manifest.surfaces.values_mut().for_each(|surface| {
            (surface.expect, surface.rtol, surface.atol) = (None, None, None);
        });
        let name = launch.binary_path.file_name().map_or("binary".into(), PathBuf::from);
        write_file(folder, &name.to_string_lossy(), &launch.binary)?;
        manifest.kernel.binary = name;
        self.point_to_files(&mut manifest, launch)?;
        for part in &self.parts {
            let bytes = &input[part.bytes.clone()];
            match part.of {
                Of::Argument(i) => {
                    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                    manifest.args[i] = match number(part.dtype, bytes) {
                        Some(value) => Arg::Number(part.dtype, value),
                        None => Arg::Bytes(hex.concat()),
                    };
                }
                Of::Buffer(i) => {
                    let buffer = &launch.buffers[i];
                    let mut content = match &buffer.content {
                        Content::Bytes(bytes) => bytes.clone(),
                        Content::Zeros(size) => vec![0; *size as usize],
                    };
                    content[..bytes.len()].copy_from_slice(bytes);
                    let file = format!("{}.bin", buffer.name);
                    write_file(folder, &file, &content)?;
                    if let Some(given) = manifest.buffers.get_mut(&buffer.name) {
                        (given.file, given.zeros, given.values) = (Some(file.into()), None, None);
                        given.dtype = Some(buffer.dtype);
                    }
                }
            }
        }
        let path = folder.join("launch.toml");
        write::manifest(&path, &manifest)?;
        Ok(path)
    }

    /// Makes the paths of further files absolute: they stay where they are.
    fn point_to_files(&self, manifest: &mut Manifest, launch: &Launch) -> Result<(), Error> {
        let folder = launch.path.parent().unwrap_or(Path::new(""));
        let absolute = |path: &mut PathBuf| -> Result<(), Error> {
            let found = folder.join(&*path);
            *path = found.canonicalize().map_err(|e| Error::io(&found, "found", e))?;
            Ok(())
        };
        let kernel = &mut manifest.kernel;
        for path in kernel.link.iter_mut().chain(&mut kernel.header).chain(&mut kernel.ze_info) {
            absolute(path)?;
        }
        kernel.vertex_a.iter_mut().try_for_each(absolute)?;
        manifest.buffers.values_mut().filter_map(|one| one.file.as_mut()).try_for_each(absolute)?;
        manifest.symbols.values_mut().filter_map(|one| one.file.as_mut()).try_for_each(absolute)?;
        manifest.surfaces.values_mut().filter_map(|one| one.file.as_mut()).try_for_each(absolute)
    }
}

/// The start of the names of inputs in a corpus.
const PREFIX: &str = "input-";

/// Returns a number as a manifest has it, if its bits are those that the manifest's number has.
fn number(dtype: Dtype, bytes: &[u8]) -> Option<toml::Value> {
    use crate::array::Element;
    if bytes.len() != dtype.bytes() {
        return None;
    }
    let value = match dtype.element(bytes) {
        Element::Int(value) => match i64::try_from(value) {
            Ok(value) => toml::Value::Integer(value),
            Err(_) => toml::Value::String(format!("{value:#x}")),
        },
        Element::Float(value) => toml::Value::Float(value),
    };
    (dtype.encode(&value).ok()? == bytes).then_some(value)
}
