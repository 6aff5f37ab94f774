//! A manifest with everything that it names: [`Launch`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use warploom_container::Arch;
use warploom_guest::platform::Platform;
use warploom_guest::suggest::did_you_mean;
use warploom_ir::special::Reciprocals;

use super::array::{Array, Dtype};
use super::compare::Tolerance;
use super::content::{Given, Initial};
use super::graphics::{Shader, Stage};
use super::manifest::{self, Manifest, Png};
use super::raw::{BinaryFormat, Part};
use super::registers::{RawLaunch, RawValue};
use super::surface::Surface;
use super::{Error, read};

/// `[bank.N]`
#[derive(Clone, Debug)]
pub struct ConstantBank {
    pub number: u8,
    pub content: Vec<u8>,
    /// Values that the bank also holds, by offset.
    pub parts: Vec<(u32, RawValue)>,
}

/// A launch that is ready to run: files are read, values checked.
///
/// Nothing that depends on the binary is checked yet.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The manifest's own path.
    pub path: PathBuf,
    pub binary_path: PathBuf,
    pub binary: Vec<u8>,
    /// The modules that are linked with the binary: paths as the manifest has them, and contents.
    pub linked: Vec<(PathBuf, Vec<u8>)>,
    pub entry: Option<String>,
    /// The GPU whose driver selects among code for several GPUs.
    pub arch: Option<Arch>,
    pub reciprocals: Reciprocals,
    /// For vISA without them: the content of a `.ze_info` file, and in `platform` the GPU.
    pub ze_info: Option<Vec<u8>>,
    pub platform: Option<Platform>,
    /// The kind of the binary, if its content does not tell.
    pub format: Option<BinaryFormat>,
    /// The header of a Maxwell shader whose binary does not begin with it.
    pub header: Option<Vec<u8>>,
    /// The start of waves. Present if the binary is a plain GFX9 instruction stream.
    pub raw: Option<RawLaunch>,
    /// The vertex program of Maxwell that runs before the binary.
    pub vertex_a: Option<Vec<u8>>,
    /// The shader's launch. Present if the binary is a shader.
    pub shader: Option<Shader>,
    /// Constant banks of a Maxwell shader, by number.
    pub banks: Vec<ConstantBank>,
    /// The bank in which instructions find handles of images.
    pub texture_bank: u8,
    pub shape: manifest::Launch,
    pub args: Vec<ArgValue>,
    pub buffers: Vec<Buffer>,
    pub symbols: Vec<Symbol>,
    pub sparse: Vec<Sparse>,
    pub surfaces: Vec<Surface>,
    pub textures: Vec<Texture>,
    pub image_pool: Option<ImagePool>,
    pub printf: Printf,
    /// Whether each buffer ends with its page, so that an access past the end is a fault. A manifest
    /// does not tell.
    pub guard: bool,
}

/// The value of one argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgValue {
    /// The address of `buffers[i]`.
    Buffer(usize),
    /// The address of `sparse[i]`.
    Sparse(usize),
    /// The handle of `surfaces[i]`; for `Texture`, the handle of its texture.
    Surface(usize),
    Texture(usize),
    /// The handle of `textures[i]`.
    Sampled(usize),
    /// These bytes, and the manifest's name of their type, for example `f32`.
    Bytes(Vec<u8>, &'static str),
    /// The address of so many bytes of dynamic shared memory, after the parts of earlier arguments.
    Local(u32),
    Sampler(warploom::images::Sampler),
}

/// The initial content of memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Zeros(u64),
    Bytes(Vec<u8>),
}

impl Content {
    /// Returns the length in bytes.
    #[allow(clippy::len_without_is_empty, reason = "no content is empty")]
    pub fn len(&self) -> u64 {
        match self {
            Content::Zeros(n) => *n,
            Content::Bytes(bytes) => bytes.len() as u64,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Buffer {
    pub name: String,
    pub content: Content,
    /// The guest address that the buffer must have, a multiple of 64 KiB.
    pub address: Option<u64>,
    /// Values that it also holds at first, each at an offset in bytes within it. No builtins.
    pub parts: Vec<(u32, RawValue)>,
    /// The element type and the shape of the file that is written after the launch.
    pub dtype: Dtype,
    pub shape: Vec<u64>,
    pub expect: Option<Expectation>,
    pub png: Option<Png>,
}

/// The expected content after the launch. An expectation of a buffer covers the whole buffer.
#[derive(Clone, Debug)]
pub struct Expectation {
    pub path: PathBuf,
    pub array: Array,
    pub tolerance: Tolerance,
}

#[derive(Clone, Debug)]
pub struct Symbol {
    pub name: String,
    /// The initial content, from the variable's start. `None`: the content that the module has.
    pub content: Option<Content>,
    /// The element type of the file that is written after the launch.
    pub dtype: Dtype,
    /// The expected content, no longer than the variable.
    pub expect: Option<Expectation>,
}

impl Symbol {
    /// Returns a content of the variable as an array, of bytes if it has no whole elements.
    pub fn array(&self, content: Vec<u8>) -> Array {
        let is_whole = content.len().is_multiple_of(self.dtype.bytes());
        Array::flat(if is_whole { self.dtype } else { Dtype::U8 }, content)
    }
}

#[derive(Clone, Debug)]
pub struct Sparse {
    pub name: String,
    pub bytes: u64,
    /// Numbers of resident pages: sorted, unique, within the range.
    pub resident: Vec<u64>,
}

/// A surface with a sampler.
#[derive(Clone, Debug)]
pub struct Texture {
    pub name: String,
    /// The index of the surface.
    pub surface: usize,
    pub description: manifest::Texture,
}

impl Texture {
    /// Returns the texture in the form that a program takes.
    pub(crate) fn sampled(&self) -> warploom::Texture {
        warploom::Texture {
            name: self.name.clone(),
            image: self.surface,
            sampling: self.description.sampling(),
        }
    }
}

/// Image descriptors in the form that a driver keeps.
#[derive(Clone, Debug)]
pub struct ImagePool {
    pub headers: Vec<u8>,
    pub samplers: Vec<u8>,
    /// The handles of the module's variables.
    pub variables: BTreeMap<String, u32>,
}

/// The size of a descriptor of a pool.
const DESCRIPTOR_BYTES: usize = 32;

/// Text that device code prints.
#[derive(Clone, Debug)]
pub struct Printf {
    /// The room for the text in bytes.
    pub bytes: Option<u64>,
    pub expect: Option<Vec<u8>>,
}

/// The size of a page of memory.
const PAGE_BYTES: u64 = 1 << 16;

impl Manifest {
    /// Parses a manifest; `path` is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Manifest, Error> {
        toml::from_str(text).map_err(|error| {
            if let Some((line, number, problem)) = wrong_argument(text) {
                return Error::value(path, format!("line {line}, arg {number}"), problem);
            }
            let message = format!("{}{}", error.to_string().trim_end(), suggestion(&error));
            Error::Toml { path: path.to_path_buf(), message }
        })
    }

    /// Serialises the manifest as TOML.
    pub fn to_text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    pub fn read(path: &Path) -> Result<Manifest, Error> {
        Manifest::of_bytes(&read::file(path)?, path)
    }

    /// Parses the content of a file, and names the kind of a file that is no manifest.
    pub fn of_bytes(bytes: &[u8], path: &Path) -> Result<Manifest, Error> {
        let not = |kind: String| Error::NotManifest { path: path.to_path_buf(), kind };
        if let Some(format) = warploom_container::recognise(bytes) {
            return Err(not(format!("GPU code ({format}), for which `warploom init` writes one")));
        }
        let says_so = path.extension().is_some_and(|extension| extension == "toml")
            || bytes.windows(8).any(|word| word == b"[kernel]");
        if let Some(found) = warploom_container::foreign_kind(bytes).filter(|_| !says_so) {
            return Err(not(format!("{}: {}", found.kind, found.advice)));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| {
            not("neither text nor a GPU binary; `disasm --isa` reads plain streams".into())
        })?;
        if !says_so && toml::from_str::<toml::Table>(text).is_err() {
            return Err(not("text of another kind, and no GPU code".into()));
        }
        Manifest::parse(text, path)
    }
}

impl Launch {
    /// Tells whether the manifest has any expectation of the launch's results.
    pub fn expects_something(&self) -> bool {
        self.printf.expect.is_some()
            || self.buffers.iter().any(|buffer| buffer.expect.is_some())
            || self.surfaces.iter().any(|surface| surface.expect.is_some())
            || self.symbols.iter().any(|symbol| symbol.expect.is_some())
            || self.shader.as_ref().is_some_and(Shader::expects_something)
    }

    /// Returns the names of buffers whose address nothing has: no argument, register, constant bank
    /// or other buffer. Code can still know the address of a buffer with a fixed address.
    pub fn unreachable_buffers(&self) -> Vec<&str> {
        let of_args = self.args.iter().filter_map(|arg| match arg {
            ArgValue::Buffer(i) => Some(*i),
            _ => None,
        });
        let parts = self.buffers.iter().flat_map(|buffer| &buffer.parts);
        let banks = self.banks.iter().flat_map(|bank| &bank.parts);
        let raw = self.raw.iter().flat_map(|raw| raw.sgpr.iter().chain(&raw.vgpr));
        let held = parts.chain(banks).chain(raw).filter_map(|(_, value)| value.buffer());
        let reached: std::collections::BTreeSet<usize> = of_args.chain(held).collect();
        let unknown = |(i, buffer): (usize, &Buffer)| {
            buffer.address.is_none() && self.shader.is_none() && !reached.contains(&i)
        };
        let all = self.buffers.iter().enumerate();
        all.filter(|&one| unknown(one)).map(|(_, buffer)| buffer.name.as_str()).collect()
    }

    /// Reads a manifest and all files that it names.
    pub fn read(path: &Path) -> Result<Launch, Error> {
        Launch::resolve(Manifest::read(path)?, path)
    }

    /// Reads the files that a manifest names, relative to the folder of `path`.
    pub fn resolve(manifest: Manifest, path: &Path) -> Result<Launch, Error> {
        let binary_path = path.parent().unwrap_or(Path::new("")).join(&manifest.kernel.binary);
        let binary = read::file(&binary_path)?;
        Launch::with_binary(manifest, path, binary)
    }

    /// Resolves the manifest like [`Launch::resolve`], with `binary` as the binary's content.
    pub fn with_binary(manifest: Manifest, path: &Path, binary: Vec<u8>) -> Result<Launch, Error> {
        let from = Source { path, folder: path.parent().unwrap_or(Path::new("")) };
        let binary_path = from.folder.join(&manifest.kernel.binary);
        if let Some(limit) = manifest.launch.time_limit
            && !(limit > 0.0 && limit.is_finite())
        {
            return Err(from.wrong(
                "launch.time_limit",
                format!("{limit}: expected a number of seconds above 0"),
            ));
        }
        if manifest.kernel.stage.is_none()
            && [manifest.launch.grid, manifest.launch.block].contains(&[0; 3])
        {
            return Err(from.wrong("launch", "expected `grid` and `block`"));
        }
        let buffers = manifest
            .buffers
            .iter()
            .map(|(name, b)| from.buffer(name, b))
            .collect::<Result<Vec<_>, _>>()?;
        let buffers = from.parts(&manifest, buffers)?;
        let shader = from.shader(&manifest)?;
        let raw = from.raw_stream(&manifest, &buffers, shader.as_ref(), binary.len())?;
        let banks = from.banks(&manifest, &buffers)?;
        let header = manifest
            .kernel
            .header
            .as_ref()
            .map(|file| read::file(&from.folder.join(file)))
            .transpose()?;
        let vertex_a = manifest
            .kernel
            .vertex_a
            .as_ref()
            .map(|file| read::file(&from.folder.join(file)))
            .transpose()?;
        let maxwell = matches!(
            manifest.kernel.format,
            Some(BinaryFormat::MaxwellSph | BinaryFormat::MaxwellRaw)
        );
        if vertex_a.is_some() && !(maxwell && manifest.kernel.stage == Some(Stage::Vertex)) {
            return Err(from.wrong("kernel.vertex_a", "it belongs to vertex programs of Maxwell"));
        }
        let linked = from.linked(&manifest)?;
        let ze_info = manifest
            .kernel
            .ze_info
            .as_ref()
            .map(|file| read::file(&from.folder.join(file)))
            .transpose()?;
        let platform =
            manifest.kernel.platform.as_ref().map(|name| from.platform(name)).transpose()?;
        let symbols = manifest
            .symbols
            .iter()
            .map(|(name, s)| from.symbol(name, s))
            .collect::<Result<Vec<_>, _>>()?;
        let sparse = manifest
            .sparse
            .iter()
            .map(|(name, s)| from.sparse(name, s))
            .collect::<Result<Vec<_>, _>>()?;
        let surfaces = manifest
            .surfaces
            .iter()
            .map(|(name, s)| from.surface(name, s))
            .collect::<Result<Vec<_>, _>>()?;
        from.check_names(&manifest)?;
        let position = |kind: &str, name: &str, names: Vec<&str>, key: String| {
            names.iter().position(|n| *n == name).ok_or_else(|| {
                let known = if names.is_empty() {
                    "there is none".into()
                } else {
                    format!("there is {}", names.join(", "))
                };
                from.wrong(key, format!("no [{kind}.{name}] in the manifest: {known}"))
            })
        };
        let surface = |name: &str, key| {
            position(
                "surface",
                name,
                surfaces.iter().map(|s: &Surface| s.name.as_str()).collect(),
                key,
            )
        };
        let texture = |(name, texture): (&String, &manifest::Texture)| {
            let surface = surface(&texture.surface, format!("texture.{name}.surface"))?;
            Ok(Texture { name: name.clone(), surface, description: texture.clone() })
        };
        let textures = manifest.textures.iter().map(texture).collect::<Result<Vec<_>, Error>>()?;
        let image_pool = manifest
            .image_pool
            .as_ref()
            .map(|pool| from.image_pool(pool, &surfaces))
            .transpose()?;
        let mut args = Vec::with_capacity(manifest.args.len());
        for (i, arg) in manifest.args.into_iter().enumerate() {
            let key = format!("arg {}", i + 1);
            args.push(match arg {
                manifest::Arg::Buffer(name) => {
                    let names = buffers.iter().map(|b: &Buffer| b.name.as_str()).collect();
                    ArgValue::Buffer(position("buffer", &name, names, key)?)
                }
                manifest::Arg::Sparse(name) => {
                    let names = sparse.iter().map(|s: &Sparse| s.name.as_str()).collect();
                    ArgValue::Sparse(position("sparse", &name, names, key)?)
                }
                manifest::Arg::Surface(name) => ArgValue::Surface(surface(&name, key)?),
                manifest::Arg::Texture(name) => {
                    let names = textures.iter().map(|t: &Texture| t.name.as_str());
                    let names = names.chain(surfaces.iter().map(|s| s.name.as_str())).collect();
                    let at = position("texture", &name, names, key)?;
                    at.checked_sub(textures.len()).map_or(ArgValue::Sampled(at), ArgValue::Texture)
                }
                manifest::Arg::Number(dtype, value) => ArgValue::Bytes(
                    dtype.encode(&value).map_err(|problem| from.wrong(key, problem))?,
                    dtype.name(),
                ),
                manifest::Arg::Local(bytes) => ArgValue::Local(bytes),
                manifest::Arg::Sampler(sampler) => ArgValue::Sampler(sampler),
                manifest::Arg::Bytes(hex) => ArgValue::Bytes(
                    bytes_of_hex(&hex).map_err(|problem| from.wrong(key, problem))?,
                    "bytes",
                ),
            });
        }
        let printf = Printf {
            bytes: manifest.printf.bytes,
            expect: match manifest.printf.expect.map(|file| from.folder.join(file)) {
                Some(path) => Some(read::file(&path)?),
                None => None,
            },
        };
        Ok(Launch {
            path: path.to_path_buf(),
            binary_path,
            binary,
            linked,
            entry: manifest.kernel.entry,
            arch: manifest.kernel.arch,
            reciprocals: manifest.kernel.reciprocals,
            ze_info,
            platform,
            format: manifest.kernel.format,
            header,
            vertex_a,
            raw,
            shader,
            banks,
            texture_bank: manifest.kernel.texture_bank,
            shape: manifest.launch,
            args,
            buffers,
            symbols,
            sparse,
            surfaces,
            textures,
            image_pool,
            printf,
            guard: false,
        })
    }
}

/// Returns a suggestion for an error of an unknown name that lists the known names.
fn suggestion(error: &toml::de::Error) -> String {
    let message = error.message();
    let is_name = ["unknown field", "unknown variant"].iter().any(|one| message.starts_with(one));
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next().filter(|_| is_name) {
        Some(name) => did_you_mean(name, quoted),
        None => String::new(),
    }
}

/// Returns the line, the number from 1, and the problem of the first wrong `[[arg]]`. The parser
/// would name the line of the first one.
fn wrong_argument(text: &str) -> Option<(usize, usize, String)> {
    let table: toml::Table = text.parse().ok()?;
    let (number, problem) =
        table.get("arg")?.as_array()?.iter().zip(1..).find_map(|(arg, n)| {
            let arg = arg.as_table()?.clone();
            Some((n, manifest::Arg::try_from(arg).err()?))
        })?;
    let is_header = |(line, _): &(&str, usize)| line.trim_start().starts_with("[[arg]]");
    let (_, line) = text.lines().zip(1..).filter(is_header).nth(number - 1)?;
    Some((line, number, problem))
}

fn bytes_of_hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let wrong = || format!("bytes = \"{text}\": expected pairs of hex digits");
    let (pairs, rest) = digits.as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let digit = |d: u8| char::from(d).to_digit(16);
        Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8)
    };
    if !rest.is_empty() {
        return Err(wrong());
    }
    pairs.iter().map(|pair| byte(pair).ok_or_else(wrong)).collect()
}

/// The manifest's path, which messages name, and the folder of its files.
pub(super) struct Source<'a> {
    path: &'a Path,
    folder: &'a Path,
}

impl Source<'_> {
    pub(super) fn wrong(&self, key: impl Into<String>, problem: impl Into<String>) -> Error {
        Error::value(self.path, key, problem)
    }

    /// Returns the manifest's own path.
    pub(super) fn manifest(&self) -> &Path {
        self.path
    }

    pub(super) fn file(&self, path: &Path) -> Result<(PathBuf, Vec<u8>), Error> {
        let path = self.folder.join(path);
        let bytes = read::file(&path)?;
        Ok((path, bytes))
    }

    /// Checks that a name can be the name of a file: results are written to files of these names.
    pub(super) fn check_name(&self, key: &str, name: &str) -> Result<(), Error> {
        if name.is_empty() || name.contains(['/', '\\', '\0']) || name.starts_with('.') {
            return Err(self.wrong(
                key,
                "the name becomes a file's name: expected no slashes and no leading dot",
            ));
        }
        Ok(())
    }

    fn buffer(&self, name: &str, buffer: &manifest::Buffer) -> Result<Buffer, Error> {
        let key = format!("buffer.{name}");
        self.check_name(&key, name)?;
        let manifest::Buffer {
            file,
            zeros,
            values,
            dtype,
            expect,
            rtol,
            atol,
            png,
            address,
            parts: _,
        } = buffer;
        let given = Given { file, zeros: *zeros, values, dtype: *dtype };
        let Initial { content, dtype, shape } = self.initial(&key, &given)?;
        let expect = self.expectation(&key, expect, [*rtol, *atol], dtype)?;
        if let Some(Expectation { path, array, .. }) = &expect
            && array.bytes.len() as u64 != content.len()
        {
            let problem =
                format!("{} bytes of data, but {key} has {}", array.bytes.len(), content.len());
            return Err(Error::Array { path: path.clone(), problem });
        }
        let (dtype, shape) = match (&expect, dtype, shape) {
            (_, Some(dtype), Some(shape)) => (dtype, shape),
            (Some(expect), ..) => (expect.array.dtype, expect.array.shape.clone()),
            (None, dtype, _) => {
                let dtype = dtype.unwrap_or(Dtype::U8);
                (dtype, vec![content.len() / dtype.bytes() as u64])
            }
        };
        if let Some(png) = png {
            super::image::pixel_type(png, content.len())
                .map_err(|e| self.wrong(format!("{key}.png"), e))?;
        }
        let address = match address {
            None => None,
            Some(value) => {
                let wrong = || {
                    self.wrong(
                        format!("{key}.address"),
                        format!("{value}: expected a multiple of 65536"),
                    )
                };
                let bytes: [u8; 8] = Dtype::U64
                    .encode(value)
                    .ok()
                    .and_then(|b| b.try_into().ok())
                    .ok_or_else(wrong)?;
                let address = u64::from_le_bytes(bytes);
                Some(Some(address).filter(|a| a.is_multiple_of(PAGE_BYTES)).ok_or_else(wrong)?)
            }
        };
        Ok(Buffer {
            name: name.into(),
            content,
            address,
            parts: vec![],
            dtype,
            shape,
            expect,
            png: png.clone(),
        })
    }

    /// Adds to the buffers the addresses and descriptors that they hold.
    fn parts(&self, manifest: &Manifest, mut buffers: Vec<Buffer>) -> Result<Vec<Buffer>, Error> {
        for (i, (name, buffer)) in manifest.buffers.iter().enumerate() {
            let (key, bytes) = (format!("buffer.{name}"), buffers[i].content.len());
            buffers[i].parts = self.values_at(&key, &buffer.parts, bytes, &buffers, manifest)?;
        }
        Ok(buffers)
    }

    /// Reads the `parts` of an item of so many bytes, sorted by offset.
    pub(super) fn values_at(
        &self,
        table: &str,
        parts: &[Part],
        bytes: u64,
        buffers: &[Buffer],
        manifest: &Manifest,
    ) -> Result<Vec<(u32, RawValue)>, Error> {
        let mut values = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            let key = format!("{table}.parts {}", number + 1);
            let value = self.raw_value(&key, part.value.clone(), buffers, manifest)?;
            if matches!(value, RawValue::Builtin(_) | RawValue::Input(_)) {
                return Err(self.wrong(key, "a builtin, which is in registers only"));
            }
            let end = u64::from(part.at) + 4 * value.length() as u64;
            if end > bytes || !part.at.is_multiple_of(4) {
                let problem = format!("at {}: expected a multiple of 4 in {bytes} bytes", part.at);
                return Err(self.wrong(key, problem));
            }
            values.push((part.at, value));
        }
        Ok(values)
    }

    /// Reads the modules that are linked with the binary.
    fn linked(&self, manifest: &Manifest) -> Result<Vec<(PathBuf, Vec<u8>)>, Error> {
        let files = &manifest.kernel.link;
        if manifest.kernel.format.is_some() && !files.is_empty() {
            return Err(self.wrong(
                "kernel.link",
                "modules of PTX are linked, and `kernel.format` says otherwise",
            ));
        }
        files.iter().map(|file| Ok((file.clone(), read::file(&self.folder.join(file))?))).collect()
    }

    fn platform(&self, name: &str) -> Result<Platform, Error> {
        Platform::from_name(name).ok_or_else(|| {
            let known = Platform::ALL.map(Platform::name).join(", ");
            self.wrong("kernel.platform", format!("`{name}`: expected one of {known}"))
        })
    }

    /// Reads the keys of a plain instruction stream, if the binary is one.
    fn raw_stream(
        &self,
        manifest: &Manifest,
        buffers: &[Buffer],
        shader: Option<&Shader>,
        binary: usize,
    ) -> Result<Option<RawLaunch>, Error> {
        let Some(format) = manifest.kernel.format else {
            return match &manifest.raw {
                None => Ok(None),
                Some(_) => Err(self.wrong("raw", "expected kernel.format = \"gfx9-raw\" with it")),
            };
        };
        if manifest.kernel.entry.is_some() {
            return Err(
                self.wrong("kernel.entry", "a plain stream has no names: expected raw.entry")
            );
        }
        if !manifest.args.is_empty() {
            return Err(
                self.wrong("arg 1", "a plain stream has no parameters: expected [[raw.sgpr]]")
            );
        }
        match (format, &manifest.raw) {
            (BinaryFormat::Gfx9Raw, Some(raw)) => {
                self.raw(raw.clone(), buffers, manifest, shader, binary).map(Some)
            }
            (BinaryFormat::Gfx9Raw, None) => {
                Err(self.wrong("kernel.format", "expected [raw] with it"))
            }
            (BinaryFormat::MaxwellSph | BinaryFormat::MaxwellRaw, Some(_)) => {
                Err(self.wrong("raw", "expected kernel.format = \"gfx9-raw\" with it"))
            }
            (BinaryFormat::MaxwellSph | BinaryFormat::MaxwellRaw, None) if shader.is_none() => {
                Err(self.wrong("kernel.stage", "missing: this format is that of shaders"))
            }
            (BinaryFormat::MaxwellSph | BinaryFormat::MaxwellRaw, None) => Ok(None),
        }
    }

    fn image_pool(
        &self,
        pool: &manifest::ImagePool,
        surfaces: &[Surface],
    ) -> Result<ImagePool, Error> {
        if !surfaces.is_empty() {
            return Err(self.wrong(
                "image_pool",
                "expected no [surface.NAME] beside it: its headers say where images are",
            ));
        }
        let descriptors = |file: &PathBuf| {
            let (path, bytes) = self.file(file)?;
            if bytes.is_empty() || bytes.len() % DESCRIPTOR_BYTES != 0 {
                let problem = format!(
                    "{} bytes: expected a multiple of {DESCRIPTOR_BYTES}, and not 0",
                    bytes.len()
                );
                return Err(Error::Array { path, problem });
            }
            Ok(bytes)
        };
        let samplers = pool.samplers.as_ref().map(descriptors).transpose()?.unwrap_or_default();
        Ok(ImagePool {
            headers: descriptors(&pool.headers)?,
            samplers,
            variables: pool.variables.clone(),
        })
    }

    fn sparse(&self, name: &str, sparse: &manifest::Sparse) -> Result<Sparse, Error> {
        let key = format!("sparse.{name}");
        if sparse.bytes == 0 {
            return Err(self.wrong(key + ".bytes", "0: expected at least 1"));
        }
        let pages = sparse.bytes.div_ceil(PAGE_BYTES);
        let mut resident = sparse.resident.clone();
        resident.sort_unstable();
        resident.dedup();
        if let Some(&page) = resident.last().filter(|&&page| page >= pages) {
            let problem = format!("page {page}: the range has {pages} pages of 64 KiB");
            return Err(self.wrong(key + ".resident", problem));
        }
        Ok(Sparse { name: name.into(), bytes: sparse.bytes, resident })
    }
}
