//! Binaries in memory, and launches of their kernels.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use serde::Serialize;
use warploom::{
    Allocation, Allocations, Arg, Checks, Finding, LaunchOptions, LaunchOutcome, Program,
};
use warploom_cache::Cache;
use warploom_container::{Arch, FunctionId};
use warploom_guest::suggest::{did_you_mean, first_of};
use warploom_replay::arguments::{self, Form};
use warploom_replay::listing::module_text;
use warploom_replay::report::{FaultReport, FindingReport};
use warploom_runtime::memory::{Access, MemoryConfig, PAGE_BYTES, Placement};

use super::failed;
use super::images::{Described, Idle, Images};
use super::options::Options;

/// A module of a binary, in guest memory of its own.
#[pyclass(frozen)]
pub struct Module {
    program: Program,
    /// Memory that no launch uses.
    idle: Mutex<IdlePages>,
    /// The sizes of arrays in memory, by address.
    arrays: Mutex<BTreeMap<u64, u64>>,
    images: Idle,
}

/// Ranges of whole pages, kept because the host takes long to provide memory.
#[derive(Default)]
struct IdlePages {
    /// The addresses of ranges, by size in bytes.
    ranges: BTreeMap<u64, Vec<u64>>,
    bytes: u64,
}

impl IdlePages {
    /// The most bytes that are kept.
    const MOST: u64 = 64 << 20;
}

/// Loads the modules of a binary. Also returns, as text, why other modules cannot be read.
#[pyfunction]
pub fn load(
    py: Python<'_>,
    binary: PyBackedBytes,
    arch: Option<&str>,
) -> PyResult<(Vec<Module>, Vec<String>)> {
    let arch: Option<Arch> = arch.map(str::parse).transpose().map_err(failed)?;
    py.detach(|| {
        let found = warploom_container::read_for(&binary, arch).map_err(failed)?;
        let cache = Cache::of_environment(|problem| eprintln!("warploom: {problem}"));
        let load = |module| {
            let mut program = Program::new(module, MemoryConfig::default()).map_err(failed)?;
            program.set_cache(cache.clone().map(|cache| cache as _));
            Ok(Module {
                program,
                idle: Mutex::default(),
                arrays: Mutex::default(),
                images: Idle::default(),
            })
        };
        let modules = found.modules.into_iter().map(load).collect::<PyResult<_>>()?;
        Ok((modules, found.unreadable.iter().map(ToString::to_string).collect()))
    })
}

/// The description of an argument in a binary.
#[derive(Serialize)]
struct Argument {
    name: Option<String>,
    #[serde(rename = "type")]
    type_name: Option<String>,
    size: u32,
    /// The name of the form: see [`Form::name`].
    form: &'static str,
    /// The type of a buffer's elements.
    element: Option<&'static str>,
}

/// An argument of a launch.
#[derive(FromPyObject)]
enum Value {
    /// `buffers[i]` of the launch.
    #[pyo3(transparent)]
    Index(Kind),
    /// The bytes of a number or a structure.
    #[pyo3(transparent)]
    Bytes(PyBackedBytes),
    /// JSON of a sampler.
    #[pyo3(transparent)]
    Sampler(String),
}

/// A kind, and an index or a number of bytes: `("buffer", 0)`.
type Kind = (String, u64);

/// The outcome of a launch, as JSON.
#[derive(Serialize)]
struct Report {
    kernel: String,
    instructions: u64,
    lane_instructions: u64,
    helper_calls: u64,
    interp_instructions: u64,
    blocks_done: u64,
    translate_seconds: f64,
    run_seconds: f64,
    printed: String,
    prints_dropped: u64,
    uncompiled: Vec<String>,
    rules: BTreeMap<&'static str, u32>,
    findings: Vec<FindingReport>,
    fault: Option<FaultReport>,
}

impl Report {
    fn new(kernel: &str, outcome: &LaunchOutcome, findings: &[Finding]) -> Report {
        let counts = outcome.counts;
        Report {
            kernel: kernel.into(),
            instructions: counts.instructions,
            lane_instructions: counts.lane_instructions,
            helper_calls: counts.helper_calls,
            interp_instructions: counts.interp_instructions,
            blocks_done: outcome.blocks_done,
            translate_seconds: outcome.translate.as_secs_f64(),
            run_seconds: outcome.run.as_secs_f64(),
            printed: String::from_utf8_lossy(&outcome.printed.text).into_owned(),
            prints_dropped: outcome.printed.dropped,
            uncompiled: outcome.uncompiled.clone(),
            rules: outcome.firings.iter().collect(),
            findings: findings.iter().map(FindingReport::from).collect(),
            fault: outcome.fault.as_ref().map(FaultReport::from),
        }
    }
}

/// The content of an array after a launch; `None` if the launch left it unchanged.
type After<'py> = Option<Bound<'py, PyBytes>>;

#[pymethods]
impl Module {
    /// The instruction set, such as `NVIDIA sm_50 (Maxwell)`.
    #[getter]
    fn isa(&self) -> String {
        self.program.module().isa.to_string()
    }

    /// The names of the kernels that can be launched.
    #[getter]
    fn kernels(&self) -> Vec<String> {
        let kernels = self.program.module().kernels();
        let compute = kernels.filter(|(_, kernel)| arguments::is_compute(kernel));
        compute.map(|(_, kernel)| kernel.name.clone()).collect()
    }

    /// The names of the kernels that cannot be read, with the reasons.
    #[getter]
    fn unreadable(&self) -> Vec<(String, String)> {
        let unreadable = self.program.module().unreadable.iter();
        unreadable.map(|kernel| (kernel.name.clone(), kernel.error.to_string())).collect()
    }

    /// The names of the variables, each with its size in bytes and whether it is constant.
    #[getter]
    fn variables(&self) -> Vec<(String, u64, bool)> {
        let symbols = self.program.module().symbols.iter();
        let variable = |name: &String| {
            let found = self.program.variable(name).ok()?;
            Some((name.clone(), found.size, found.constant))
        };
        symbols.filter_map(|symbol| variable(&symbol.name)).collect()
    }

    /// Returns what the binary says of a kernel's arguments, as JSON.
    fn arguments(&self, kernel: &str) -> PyResult<String> {
        let argument = |argument: arguments::Argument| Argument {
            form: argument.form.name(),
            element: match argument.form {
                Form::Buffer(element) => element.map(warploom_replay::Dtype::name),
                _ => None,
            },
            name: argument.name,
            type_name: argument.type_name,
            size: argument.size,
        };
        let all = arguments::arguments(self.program.module(), self.id(kernel)?);
        let all: Vec<Argument> = all.into_iter().map(argument).collect();
        serde_json::to_string(&all).map_err(failed)
    }

    /// Returns a kernel's name and arguments as its source may have them.
    fn signature(&self, kernel: &str) -> PyResult<String> {
        Ok(arguments::signature(self.program.module(), self.id(kernel)?))
    }

    /// Returns the text of the code, or of one function.
    fn disassemble(&self, function: Option<&str>, hex: bool) -> PyResult<String> {
        let module = self.program.module();
        let texts = module_text(module, function, hex);
        match function {
            Some(name) if texts.is_empty() => {
                let names: Vec<&str> = module.functions.iter().map(|f| f.name.as_str()).collect();
                let (known, hint) = (first_of(&names), did_you_mean(name, names));
                Err(failed(format!("no function `{name}`{hint}: the binary has {known}")))
            }
            _ => Ok(texts.join("\n\n")),
        }
    }

    fn read_variable(&self, name: &str) -> PyResult<Vec<u8>> {
        self.program.read_variable(name).map_err(failed)
    }

    fn write_variable(&self, name: &str, content: &[u8]) -> PyResult<()> {
        self.program.write_variable(name, content).map_err(failed)
    }

    /// Gives variables the values that they have after loading.
    fn reset(&self) -> PyResult<()> {
        self.program.reset().map_err(failed)
    }

    /// Allocates zeroed memory. Returns its guest address.
    fn alloc(&self, bytes: u64) -> PyResult<u64> {
        let address = self.take(bytes)?;
        self.program.memory().fill(address, whole_pages(bytes)?, 0).map_err(failed)?;
        lock(&self.arrays).insert(address, bytes);
        Ok(address)
    }

    /// Frees memory of [`Module::alloc`].
    fn free(&self, address: u64) -> PyResult<()> {
        let bytes = lock(&self.arrays).remove(&address);
        let bytes = bytes.ok_or_else(|| failed(format!("{address:#x}: no array is there")))?;
        self.give_back(address, bytes)
    }

    fn read(&self, address: u64, bytes: usize) -> PyResult<Vec<u8>> {
        let range = self.program.memory().range_of(address);
        let room = range.map_or(0, |(start, size)| start + size - address);
        if bytes as u64 > room {
            return Err(failed(format!("{bytes} bytes at {address:#x}: {room} are mapped there")));
        }
        let mut content = vec![0; bytes];
        self.program.memory().read(address, &mut content).map_err(failed)?;
        Ok(content)
    }

    fn write(&self, address: u64, content: &[u8]) -> PyResult<()> {
        self.program.memory().write(address, content).map_err(failed)
    }

    /// Launches a kernel.
    ///
    /// `args` are the arguments in order: bytes, `("buffer", i)`, `("surface", i)`,
    /// `("texture", i)`, `("local", bytes)`, or JSON of a sampler. `buffers` are the contents of
    /// buffers, `surfaces` JSON and texels of surfaces, `textures` JSON of textures with the index of
    /// the surface. Returns the report as JSON, and the contents of buffers and surfaces that the
    /// launch changed.
    #[allow(clippy::too_many_arguments, reason = "an argument is a part of the launch")]
    fn launch<'py>(
        &self,
        py: Python<'py>,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        args: Vec<Value>,
        buffers: Vec<PyBackedBytes>,
        surfaces: Vec<(String, Option<PyBackedBytes>)>,
        textures: Vec<(usize, String)>,
        options: &str,
    ) -> PyResult<(String, Vec<After<'py>>, Vec<After<'py>>)> {
        let options = Options::parse(options).map_err(failed)?;
        let checks = options.checks().map_err(failed)?;
        let options = options.of_launch(grid, block).map_err(failed)?;
        let (surfaces, texels) = surfaces.into_iter().unzip();
        let described = Described { surfaces, textures };
        let launch = Launch { kernel, args, buffers, texels, options, checks };
        let done = py.detach(|| {
            let images = self.images.take(&self.program, &described).map_err(failed)?;
            let done = self.run(&launch, &images);
            self.images.give_back(described, images);
            done
        })?;
        let bytes = |after: Option<Vec<u8>>| after.map(|bytes| PyBytes::new(py, &bytes));
        let [buffers, surfaces] =
            [done.buffers, done.surfaces].map(|all| all.into_iter().map(bytes).collect());
        Ok((done.report, buffers, surfaces))
    }
}

struct Launch<'l> {
    kernel: &'l str,
    args: Vec<Value>,
    buffers: Vec<PyBackedBytes>,
    texels: Vec<Option<PyBackedBytes>>,
    options: LaunchOptions,
    checks: Checks,
}

/// A launch that has ended. Buffers and surfaces are `None` if they are unchanged.
struct Done {
    report: String,
    buffers: Vec<Option<Vec<u8>>>,
    surfaces: Vec<Option<Vec<u8>>>,
}

impl Module {
    fn id(&self, kernel: &str) -> PyResult<FunctionId> {
        self.program.kernel(kernel).map_err(failed)?;
        self.program.module().kernel(kernel).ok_or_else(|| failed("no such kernel"))
    }

    /// Returns whole pages with any content.
    fn take(&self, bytes: u64) -> PyResult<u64> {
        let bytes = whole_pages(bytes)?;
        let idle = &mut *lock(&self.idle);
        if let Some(address) = idle.ranges.get_mut(&bytes).and_then(Vec::pop) {
            idle.bytes -= bytes;
            return Ok(address);
        }
        let place = self.program.place();
        self.program.memory().alloc_at(place, bytes, Access::READ_WRITE).map_err(failed)
    }

    fn give_back(&self, address: u64, bytes: u64) -> PyResult<()> {
        let bytes = whole_pages(bytes)?;
        let idle = &mut *lock(&self.idle);
        // The host memory of low addresses stays until the module goes.
        let is_low = matches!(self.program.place(), Placement::Low { .. });
        if is_low || idle.bytes + bytes <= IdlePages::MOST {
            idle.ranges.entry(bytes).or_default().push(address);
            idle.bytes += bytes;
            return Ok(());
        }
        self.program.memory().release_later(address).map_err(failed)
    }

    /// Puts buffers into memory, runs a launch, and frees the buffers.
    fn run(&self, launch: &Launch<'_>, images: &Images) -> PyResult<Done> {
        images.fill(&self.program, &launch.texels).map_err(failed)?;
        let mut placed = vec![];
        let done = self.place(launch, &mut placed).and_then(|()| self.go(launch, images, &placed));
        for (&address, content) in placed.iter().zip(&launch.buffers) {
            self.give_back(address, content.len() as u64)?;
        }
        done
    }

    fn place(&self, launch: &Launch<'_>, placed: &mut Vec<u64>) -> PyResult<()> {
        for content in &launch.buffers {
            let bytes = content.len() as u64;
            let address = self.take(bytes)?;
            placed.push(address);
            self.program.memory().write(address, content).map_err(failed)?;
            let rest = whole_pages(bytes)? - bytes;
            self.program.memory().fill(address + bytes, rest, 0).map_err(failed)?;
        }
        Ok(())
    }

    fn go(&self, launch: &Launch<'_>, images: &Images, placed: &[u64]) -> PyResult<Done> {
        let kernel = self.program.kernel(launch.kernel).map_err(failed)?;
        let mut args = vec![];
        for (number, value) in launch.args.iter().enumerate() {
            let arg = match value {
                Value::Bytes(bytes) => Ok(Arg::bytes(&bytes[..])),
                Value::Sampler(json) => self.images.sampler(&self.program, json),
                Value::Index((kind, of)) => {
                    let param = kernel.function().params.get(number);
                    let is_narrow =
                        self.program.module().ptx.is_some() && param.is_some_and(|p| p.size == 4);
                    self.index(kind, *of, launch, images, placed, is_narrow)
                }
            };
            args.push(arg.map_err(|e| failed(format!("argument {}: {e}", number + 1)))?);
        }
        let options = LaunchOptions { images: images.pool, ..launch.options.clone() };
        let checks = launch.checks;
        let (outcome, findings) = if checks.is_empty() {
            kernel.launch(&args, &options).map(|outcome| (outcome, vec![]))
        } else {
            let allocations = match checks.memory {
                true => self.allocations(launch, placed),
                false => Allocations::default(),
            };
            let checked = kernel.launch_checked(&args, &options, checks, &allocations);
            checked.map(|checked| (checked.outcome, checked.findings))
        }
        .map_err(failed)?;
        let report = serde_json::to_string(&Report::new(launch.kernel, &outcome, &findings));
        let changed = |after: Vec<u8>, before: Option<&[u8]>| {
            let same = match before {
                Some(before) => after == before,
                None => after.iter().all(|&byte| byte == 0),
            };
            (!same).then_some(after)
        };
        let mut buffers = vec![];
        for (&address, before) in placed.iter().zip(&launch.buffers) {
            let mut after = vec![0; before.len()];
            self.program.memory().read(address, &mut after).map_err(failed)?;
            buffers.push(changed(after, Some(before)));
        }
        let texels = images.texels(&self.program).map_err(failed)?;
        let surfaces = texels.into_iter().zip(&launch.texels);
        let surfaces = surfaces.map(|(after, before)| changed(after, before.as_deref())).collect();
        Ok(Done { report: report.map_err(failed)?, buffers, surfaces })
    }

    /// Returns the allocations that a launch may use: its buffers, arrays that stay in memory, and
    /// the module's variables.
    fn allocations(&self, launch: &Launch<'_>, placed: &[u64]) -> Allocations {
        let mut all: Vec<Allocation> = self.program.allocations().collect();
        for (i, (&address, content)) in placed.iter().zip(&launch.buffers).enumerate() {
            let is_this = |value: &Value| match value {
                Value::Index((kind, of)) => kind == "buffer" && *of == i as u64,
                Value::Bytes(_) | Value::Sampler(_) => false,
            };
            let number = launch.args.iter().position(is_this).map_or(0, |at| at + 1);
            let bytes = content.len() as u64;
            all.push(Allocation { name: format!("argument {number}"), address, bytes });
        }
        for (&address, &bytes) in lock(&self.arrays).iter() {
            all.push(Allocation { name: format!("array at {address:#x}"), address, bytes });
        }
        Allocations { live: all, ..Allocations::default() }
    }

    /// Returns the argument of a kind and an index or a number of bytes.
    fn index(
        &self,
        kind: &str,
        of: u64,
        launch: &Launch<'_>,
        images: &Images,
        placed: &[u64],
        is_narrow: bool,
    ) -> Result<Arg, String> {
        let index = usize::try_from(of).unwrap_or(usize::MAX);
        let none = || format!("there is no {kind} {of}");
        match kind {
            "buffer" => {
                let (&address, content) =
                    placed.get(index).zip(launch.buffers.get(index)).ok_or_else(none)?;
                match u32::try_from(address) {
                    Ok(address) if is_narrow => Ok(Arg::from(address)),
                    _ => Ok(Arg::buffer(address, content.len() as u64)),
                }
            }
            "surface" => images.surface(index).ok_or_else(none),
            "texture" => images.texture(index).ok_or_else(none),
            "local" => u32::try_from(of).map(Arg::local).map_err(|_| format!("{of} bytes")),
            _ => Err(format!("`{kind}` is no kind of argument")),
        }
    }
}

/// Returns the content of a mutex, even if a thread panicked with it: no change is left half done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Rounds up to whole pages. Empty buffers have a page, too.
fn whole_pages(bytes: u64) -> PyResult<u64> {
    let whole = bytes.max(1).checked_next_multiple_of(PAGE_BYTES);
    whole.ok_or_else(|| failed(format!("{bytes} bytes: too many")))
}
