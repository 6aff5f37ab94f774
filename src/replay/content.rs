//! The content of buffers and variables: at first, and as expected after a launch.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::array::{Array, Dtype};
use super::compare::Tolerance;
use super::graphics::{Shader, Stage};
use super::manifest::{self, Manifest};
use super::resolve::{Content, Expectation, Source, Symbol};
use super::{Error, npy};

/// The initial content, as a manifest gives it.
pub(super) struct Given<'a> {
    pub file: &'a Option<PathBuf>,
    pub zeros: Option<u64>,
    pub values: &'a Option<Vec<toml::Value>>,
    pub dtype: Option<Dtype>,
}

/// Initial content, with the type and shape of its elements where they are known.
pub(super) struct Initial {
    pub content: Content,
    pub dtype: Option<Dtype>,
    pub shape: Option<Vec<u64>>,
}

impl Source<'_> {
    /// Reads an array from a file.
    ///
    /// A file is `.npy` by its content or its name. Other files hold raw elements of type `raw`.
    /// The result's flag is true for `.npy`.
    pub(super) fn array(&self, path: &Path, raw: Dtype) -> Result<(PathBuf, Array, bool), Error> {
        let (path, bytes) = self.file(path)?;
        let wrong = |problem| Error::Array { path: path.clone(), problem };
        if bytes.starts_with(npy::MAGIC)
            || path.extension().is_some_and(|extension| extension == "npy")
        {
            let array = npy::read(&bytes).map_err(wrong)?;
            return Ok((path, array, true));
        }
        if bytes.len() % raw.bytes() != 0 {
            let size = raw.bytes();
            return Err(wrong(format!(
                "{} bytes: expected a multiple of {size} ({})",
                bytes.len(),
                raw.name()
            )));
        }
        Ok((path, Array::flat(raw, bytes), false))
    }

    pub(super) fn initial(&self, key: &str, source: &Given<'_>) -> Result<Initial, Error> {
        let initial = match (source.file, source.zeros, source.values) {
            (Some(file), None, None) => {
                let (path, array, typed) = self.array(file, source.dtype.unwrap_or(Dtype::U8))?;
                if let Some(dtype) = source.dtype.filter(|&d| d != array.dtype) {
                    let problem = format!(
                        "elements are {}: expected {} ({key}.dtype)",
                        array.dtype.name(),
                        dtype.name()
                    );
                    return Err(Error::Array { path, problem });
                }
                let known = typed || source.dtype.is_some();
                Initial {
                    dtype: known.then_some(array.dtype),
                    shape: known.then_some(array.shape),
                    content: Content::Bytes(array.bytes),
                }
            }
            (None, Some(zeros), None) => {
                if let Some(dtype) = source.dtype.filter(|d| zeros % d.bytes() as u64 != 0) {
                    let problem = format!(
                        "{zeros}: expected a multiple of {} bytes ({})",
                        dtype.bytes(),
                        dtype.name()
                    );
                    return Err(self.wrong(format!("{key}.zeros"), problem));
                }
                Initial { content: Content::Zeros(zeros), dtype: source.dtype, shape: None }
            }
            (None, None, Some(values)) => {
                let Some(dtype) = source.dtype else {
                    return Err(self
                        .wrong(format!("{key}.dtype"), "missing: `values` need an element type"));
                };
                let mut bytes = Vec::with_capacity(values.len() * dtype.bytes());
                for (i, value) in values.iter().enumerate() {
                    let encoded = dtype.encode(value);
                    bytes
                        .extend(encoded.map_err(|problem| {
                            self.wrong(format!("{key}.values[{i}]"), problem)
                        })?);
                }
                Initial { content: Content::Bytes(bytes), dtype: Some(dtype), shape: None }
            }
            _ => {
                return Err(self.wrong(key, "expected exactly one of `file`, `zeros` and `values`"));
            }
        };
        if initial.content.len() == 0 {
            return Err(self.wrong(key, "it is empty: expected at least one byte"));
        }
        Ok(initial)
    }

    /// Returns the tolerance for the item that `key` names.
    ///
    /// # Errors
    /// There is a tolerance without an expectation, or one that is not a finite number from 0.
    pub(super) fn tolerance(
        &self,
        key: &str,
        [rtol, atol]: [Option<f64>; 2],
        expected: bool,
    ) -> Result<Tolerance, Error> {
        for (tolerance, which) in [(rtol, "rtol"), (atol, "atol")] {
            let key = format!("{key}.{which}");
            match tolerance {
                Some(_) if !expected => return Err(self.wrong(key, "there is no `expect` for it")),
                Some(t) if !(t >= 0.0 && t.is_finite()) => {
                    return Err(self.wrong(key, format!("{t}: expected a number from 0")));
                }
                _ => {}
            }
        }
        Ok(Tolerance { rtol, atol })
    }

    /// Reads the expected content of the item that `key` names. The type of its elements may be
    /// unknown.
    pub(super) fn expectation(
        &self,
        key: &str,
        file: &Option<PathBuf>,
        tolerances: [Option<f64>; 2],
        dtype: Option<Dtype>,
    ) -> Result<Option<Expectation>, Error> {
        let tolerance = self.tolerance(key, tolerances, file.is_some())?;
        let Some(file) = file else { return Ok(None) };
        let (path, array, _) = self.array(file, dtype.unwrap_or(Dtype::U8))?;
        if let Some(dtype) = dtype.filter(|&d| d != array.dtype) {
            let problem =
                format!("elements are {}, but {key} has {}", array.dtype.name(), dtype.name());
            return Err(Error::Array { path, problem });
        }
        Ok(Some(Expectation { path, array, tolerance }))
    }

    pub(super) fn symbol(&self, name: &str, symbol: &manifest::Symbol) -> Result<Symbol, Error> {
        let key = format!("symbol.{name}");
        self.check_name(&key, name)?;
        let manifest::Symbol { file, zeros, values, dtype, expect, rtol, atol } = symbol;
        let is_given = file.is_some() || zeros.is_some() || values.is_some();
        let (content, dtype) = if is_given || expect.is_none() {
            let initial =
                self.initial(&key, &Given { file, zeros: *zeros, values, dtype: *dtype })?;
            (Some(initial.content), initial.dtype)
        } else {
            (None, *dtype)
        };
        let expect = self.expectation(&key, expect, [*rtol, *atol], dtype)?;
        let dtype = dtype.or(expect.as_ref().map(|expect| expect.array.dtype)).unwrap_or(Dtype::U8);
        Ok(Symbol { name: name.into(), content, dtype, expect })
    }

    /// Checks that names are unique: each changed item is written to a file of its name.
    pub(super) fn check_names(&self, manifest: &Manifest) -> Result<(), Error> {
        let kinds = [
            ("buffer", manifest.buffers.keys().collect::<Vec<_>>()),
            ("surface", manifest.surfaces.keys().collect()),
            ("symbol", manifest.symbols.keys().collect()),
            ("export", manifest.exports.targets.keys().collect()),
        ];
        // Geometry programs also write files of these names.
        let geometry = manifest.kernel.stage == Some(Stage::Geometry);
        let mut names: BTreeSet<&str> =
            Shader::OF_GEOMETRY.into_iter().filter(|_| geometry).collect();
        for (kind, name) in
            kinds.iter().flat_map(|(kind, names)| names.iter().map(move |name| (kind, *name)))
        {
            if !names.insert(name.as_str()) {
                let problem = format!(
                    "{name}.npy would hold two things: expected another name than that of a buffer or a surface"
                );
                return Err(self.wrong(format!("{kind}.{name}"), problem));
            }
        }
        Ok(())
    }
}
