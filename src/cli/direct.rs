//! Launches without a manifest: `warploom run BINARY KERNEL --grid X --block X --arg KIND=VALUE`.

use std::path::Path;

use warploom_container::{Arch, FunctionId, Module};
use warploom_guest::suggest::did_you_mean;
use warploom_replay::arguments::{self, is_compute, signature};
use warploom_replay::manifest::{Arg, Buffer, Kernel, Launch as Shape};
use warploom_replay::{Dtype, Launch, Manifest, read, skeleton};

use super::text::plural;
use super::{Error, GpuChoice, print};

/// The launch of a kernel of a binary.
#[derive(clap::Args)]
pub struct Options {
    /// The kernel of a binary. May be left out if the binary has one kernel.
    kernel: Option<String>,
    /// The blocks of the grid, such as 40 or 8,8. Without it, `run BINARY` lists the kernels.
    #[arg(long, value_name = "X,Y,Z", value_parser = shape, requires = "block")]
    grid: Option<[u32; 3]>,
    /// The lanes of a block.
    #[arg(long, value_name = "X,Y,Z", value_parser = shape, requires = "grid")]
    block: Option<[u32; 3]>,
    /// An argument of the kernel, in order. i8 to u64, f16 to f64: a number, such as f32=2.5;
    /// buffer=FILE: a buffer with the content of a file (.npy or raw bytes); zeros=f32[100] or
    /// zeros=400: a buffer of zeros; values=f32[1,2.5]: a buffer of these values; bytes=00ff: a
    /// structure; local=1024: bytes of dynamic shared memory.
    #[arg(long = "arg", value_name = "KIND=VALUE")]
    args: Vec<String>,
    /// The bytes of dynamic shared memory of a block.
    #[arg(long, value_name = "BYTES")]
    shared_bytes: Option<u32>,
}

/// Parses one to three sizes.
fn shape(text: &str) -> Result<[u32; 3], String> {
    let mut sizes = [1; 3];
    let parts: Vec<&str> = text.split([',', 'x']).map(str::trim).collect();
    if parts.len() > sizes.len() {
        return Err(format!("{} sizes: expected 1 to 3", parts.len()));
    }
    for (size, part) in sizes.iter_mut().zip(parts) {
        *size =
            part.parse().ok().filter(|&size| size > 0).ok_or_else(|| {
                format!("`{part}`: expected a number from 1, or three such as 8,8,1")
            })?;
    }
    Ok(sizes)
}

/// The path that messages name in place of a manifest's.
const COMMAND_LINE: &str = "command line";

impl Options {
    /// Returns an option that has no meaning for a manifest.
    fn given(&self) -> Option<&'static str> {
        let given = [
            (self.kernel.is_some(), "a kernel's name"),
            (self.grid.is_some(), "--grid"),
            (!self.args.is_empty(), "--arg"),
            (self.shared_bytes.is_some(), "--shared-bytes"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    /// Returns the launch of a manifest, or of a binary and these options.
    ///
    /// Without a grid, it lists the kernels of a binary and returns `None`.
    pub fn launch(&self, file: &Path, gpu: &GpuChoice) -> Result<Option<Launch>, Error> {
        let bytes = read::file(file)?;
        if warploom_container::recognise(&bytes).is_none() {
            return self.manifest(file, &bytes).map(Some);
        }
        let Some((grid, block)) = self.grid.zip(self.block) else {
            print(&self.listing(file, &bytes, gpu.arch)?)?;
            return Ok(None);
        };
        let mut manifest = Manifest {
            kernel: Kernel {
                binary: file.to_path_buf(),
                entry: self.kernel.clone(),
                ..Kernel::default()
            },
            launch: Shape {
                grid,
                block,
                shared_bytes: self.shared_bytes.unwrap_or(0),
                ..Shape::default()
            },
            ..Manifest::default()
        };
        for (text, number) in self.args.iter().zip(1..) {
            let arg = argument(&mut manifest, text, number)
                .map_err(|problem| Error::Other(format!("--arg {text}: {problem}")))?;
            manifest.args.push(arg);
        }
        Ok(Some(Launch::with_binary(manifest, Path::new(COMMAND_LINE), bytes)?))
    }

    fn manifest(&self, file: &Path, bytes: &[u8]) -> Result<Launch, Error> {
        let manifest = Manifest::of_bytes(bytes, file)?;
        if let Some(option) = self.given() {
            let file = file.display();
            let problem = format!("{file}: it is a manifest; {option} belongs to a GPU binary");
            return Err(Error::Other(problem));
        }
        Ok(Launch::resolve(manifest, file)?)
    }

    /// Returns the kernels of a binary, each with the command that runs it.
    fn listing(&self, file: &Path, bytes: &[u8], arch: Option<Arch>) -> Result<String, Error> {
        if let Some(option) = self.given().filter(|_| self.kernel.is_none()) {
            return Err(Error::Other(format!("{option} without --grid and --block")));
        }
        let failed = |source| Error::Container { path: file.to_path_buf(), source };
        let found = warploom_container::read_for(bytes, arch).map_err(failed)?;
        let is_wanted = |name: &str| self.kernel.as_ref().is_none_or(|kernel| kernel == name);
        let of_gpu = arch.map_or(String::new(), |arch| format!(" --arch {arch}"));
        let start = format!("{}{of_gpu}", shell(&file.display()));
        let mut text = String::new();
        for module in &found.modules {
            let wanted = module.kernels().filter(|(_, kernel)| is_wanted(&kernel.name));
            let mut kernels: String =
                wanted.map(|(id, _)| invocation(module, id, &start)).collect();
            for kernel in module.unreadable.iter().filter(|kernel| is_wanted(&kernel.name)) {
                kernels += &format!("\n  {}\n    cannot be read: {}\n", kernel.name, kernel.error);
            }
            if !kernels.is_empty() {
                let count = module.kernel_names().filter(|name| is_wanted(name)).count() as u64;
                let (file, isa, s) = (file.display(), module.isa, plural(count));
                text += &format!("{file}: {isa}, {count} kernel{s}\n{kernels}");
            }
        }
        if !text.is_empty() {
            let end =
                "\nFill in sizes and values; `warploom init` writes a manifest in their place.\n";
            return Ok(text + end);
        }
        let names = found.modules.iter().flat_map(|module| module.kernel_names());
        let names: Vec<String> = names.map(str::to_owned).collect();
        Err(Error::exec(file)(match &self.kernel {
            Some(name) if !names.is_empty() => {
                warploom::Error::NoSuchKernel { name: name.clone(), names }
            }
            _ => warploom::Error::NoKernels,
        }))
    }
}

/// Returns a kernel's name and arguments, and the command that runs it. `start` has the words of the
/// command before the kernel's name.
fn invocation(module: &Module, id: FunctionId, start: &str) -> String {
    let kernel = module.function(id);
    let named = format!("{start} {}", shell(&kernel.name));
    let command = match (is_compute(kernel), skeleton::options(module, id)) {
        (true, Ok(args)) => {
            let block = arguments::block(kernel);
            let last = block.iter().rposition(|&axis| axis > 1).unwrap_or(0);
            let block: Vec<_> = block[..=last].iter().map(ToString::to_string).collect();
            let args: String = args.iter().map(|arg| format!(" --arg {}", shell(arg))).collect();
            format!("warploom run {named} --grid 1 --block {}{args}", block.join(","))
        }
        (true, Err(number)) => format!(
            "argument {number} is an image or a sampler, which a manifest describes:\n    \
             warploom init {named}"
        ),
        (false, _) => "a program of a pipeline: see docs/graphics.md".into(),
    };
    format!("\n  {}\n    {command}\n", signature(module, id))
}

/// The kinds of `--arg` besides the types of numbers.
const KINDS: [&str; 5] = ["buffer", "zeros", "values", "bytes", "local"];

/// Returns an argument, and adds its buffer to the manifest.
fn argument(manifest: &mut Manifest, text: &str, number: usize) -> Result<Arg, String> {
    let (kind, value) = text.split_once('=').ok_or("expected KIND=VALUE, such as i32=7")?;
    let name = format!("arg{number}");
    if let Some(dtype) = Dtype::from_name(kind) {
        let value = self::number(value);
        dtype.encode(&value)?;
        return Ok(Arg::Number(dtype, value));
    }
    let (name, buffer) = match kind {
        "buffer" => {
            let file = Path::new(value);
            let stem = file.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
            // Names like those of other arguments would clash with them.
            let is_free =
                |stem: &String| !stem.starts_with("arg") && !manifest.buffers.contains_key(stem);
            (
                stem.filter(is_free).unwrap_or(name),
                Buffer { file: Some(file.into()), ..Buffer::default() },
            )
        }
        "zeros" => {
            let (dtype, count) = match value.strip_suffix(']').and_then(|v| v.split_once('[')) {
                Some((dtype, count)) => (Some(element(dtype)?), count),
                None => (None, value),
            };
            let count: u64 =
                count.parse().map_err(|_| format!("`{count}`: expected bytes, or f32[100]"))?;
            let bytes = count.checked_mul(dtype.map_or(1, Dtype::bytes) as u64);
            let bytes = bytes.ok_or_else(|| format!("{count} elements: too many"))?;
            (name, Buffer { zeros: Some(bytes), dtype, ..Buffer::default() })
        }
        "values" => {
            let (dtype, list) = value
                .strip_suffix(']')
                .and_then(|value| value.split_once('['))
                .ok_or("expected a type and values, such as f32[1,2.5]")?;
            let values = list.split(',').map(|value| self::number(value.trim())).collect();
            let dtype = Some(element(dtype)?);
            (name, Buffer { values: Some(values), dtype, ..Buffer::default() })
        }
        "bytes" => return Ok(Arg::Bytes(value.into())),
        "local" => {
            let bytes = value.parse().map_err(|_| format!("`{value}`: expected bytes"))?;
            return Ok(Arg::Local(bytes));
        }
        _ => {
            let known = || Dtype::ALL.map(Dtype::name).into_iter().chain(KINDS);
            let expected = known().collect::<Vec<_>>().join(", ");
            let hint = did_you_mean(kind, known());
            return Err(format!("`{kind}` is no kind{hint}: expected {expected}"));
        }
    };
    manifest.buffers.insert(name.clone(), buffer);
    Ok(Arg::Buffer(name))
}

fn element(name: &str) -> Result<Dtype, String> {
    Dtype::from_name(name).ok_or_else(|| {
        let known = Dtype::ALL.map(Dtype::name);
        let hint = did_you_mean(name, known);
        format!("`{name}` is no type of elements{hint}: expected one of {}", known.join(", "))
    })
}

/// Returns a number as a manifest has it. Other text stays text, which no number's type takes.
fn number(text: &str) -> toml::Value {
    let integer = text.parse().map(toml::Value::Integer);
    let float = || text.parse().map(toml::Value::Float).ok();
    integer.ok().or_else(float).unwrap_or_else(|| text.into())
}

/// Quotes a word for a shell, if it needs that.
fn shell(word: &impl std::fmt::Display) -> String {
    let word = word.to_string();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=,:+@%".contains(&byte);
    match word.bytes().all(plain) && !word.is_empty() {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
