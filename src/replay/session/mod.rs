//! [`Session`]: a captured launch in guest memory, which can run any number of times.

mod compare;
mod drawing;
mod maxwell;
mod raw;
mod shader;
mod surfaces;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use compare::{Run, first_difference};
use drawing::Drawing;
use shader::Arrays;
use surfaces::Surfaces;
use warploom::{
    Allocation, Allocations, Arg, CheckedLaunch, Checks, Counted, CountedLaunch, EngineKind, Error,
    Executed, Kernel, LaunchOptions, LaunchOutcome, Program, Stage,
};
use warploom_container::hsaco::Gfx9;
use warploom_container::{Arch, Module, text};
use warploom_cranelift::Target;
use warploom_engine::{Backend, CodeStore};
use warploom_runtime::launch::Counts;
use warploom_runtime::memory::{Access, PAGE_BYTES, Placement, Unbound};

use crate::graphics::Exported;
use crate::{ArgValue, Buffer, ConstantBank, Content, Launch, Placed, RawValue, Shader, Texture};

/// A captured launch with its buffers in the memory of a program of its own.
pub struct Session<'c> {
    launch: &'c Launch,
    program: Program,
    kernel: String,
    /// The guest address of each buffer.
    buffers: Vec<u64>,
    /// The words of each buffer's parts, by offset in bytes.
    parts: Vec<BTreeMap<usize, u32>>,
    /// The guest address of each sparse range.
    sparse: Vec<u64>,
    surfaces: Surfaces<'c>,
    /// The initial content of each variable of the launch.
    variables: Vec<Vec<u8>>,
    args: Vec<Arg>,
    /// The lanes of a shader, completed from the manifest's data.
    shader: Option<Cow<'c, Shader>>,
    arrays: Option<Arrays>,
    /// The constant banks of the launch.
    banks: Vec<(u8, Vec<u8>)>,
    /// Contents of buffers in place of the launch's.
    replaced: BTreeMap<usize, Vec<u8>>,
}

/// A store past the end of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overrun<'c> {
    pub buffer: &'c str,
    /// The offset of the first changed byte.
    pub byte: u64,
    /// The size of the buffer in bytes.
    pub bytes: u64,
}

impl std::fmt::Display for Overrun<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Overrun { buffer, byte, bytes } = self;
        write!(f, "a store past the end of buffer `{buffer}`: byte {byte} of {bytes}")
    }
}

/// The addresses of a launch's memory.
struct Places<'a> {
    buffers: &'a [u64],
    surfaces: &'a Surfaces<'a>,
    textures: &'a [Texture],
    program: &'a Program,
}

impl Placed for Places<'_> {
    fn buffer(&self, i: usize) -> u64 {
        self.buffers[i]
    }

    fn image(&self, i: usize) -> [u32; 8] {
        let object = self.surfaces.descriptor(i);
        std::array::from_fn(|word| object.get(word).copied().unwrap_or(0))
    }

    fn sampler(&self, i: usize) -> [u32; 4] {
        // An earlier check has made sure that there is a descriptor.
        self.program
            .sampler_descriptor(&self.textures[i].description.sampling())
            .unwrap_or_default()
    }
}

/// Checks that only GFX9 programs have descriptors in registers and buffers.
fn check_descriptors(program: &Program, launch: &Launch) -> Result<(), Error> {
    let values = launch.buffers.iter().flat_map(|buffer| &buffer.parts).map(|(_, value)| value);
    let raw =
        launch.raw.iter().flat_map(|raw| raw.sgpr.iter().chain(&raw.vgpr)).map(|(_, value)| value);
    for value in values.chain(raw) {
        let problem = "descriptors of images in buffers and registers are those of GFX9";
        match value {
            RawValue::Image(i) if !program.has_descriptors() => {
                return Err(Error::Surface {
                    name: launch.surfaces[*i].name.clone(),
                    problem: problem.into(),
                });
            }
            RawValue::Sampler(i) => {
                let texture = &launch.textures[*i];
                let name = texture.name.clone();
                let described = program.sampler_descriptor(&texture.description.sampling());
                described.map_err(|problem| Error::Surface { name, problem })?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn no_textures(name: &str) -> Error {
    let problem =
        "kernels of this instruction set take images and samplers as arguments of their own".into();
    Error::Surface { name: name.into(), problem }
}

/// Returns the GPU that a plain stream is for.
fn mach(arch: Option<Arch>, binary: &[u8]) -> Result<Gfx9, warploom_container::Error> {
    match arch {
        None => Ok(text::stream_target(binary)),
        Some(Arch::Gfx9(target)) => Ok(target.mach),
        Some(arch) => Err(warploom_container::Error::NotForArch {
            arch,
            found: "a plain stream of GFX9".into(),
        }),
    }
}

/// Links the binary with the other modules of the launch.
fn linked(launch: &Launch) -> Result<Module, warploom_container::Error> {
    let own = launch.binary_path.file_name().map_or(launch.binary_path.as_path(), Path::new);
    let others = launch.linked.iter().map(|(path, file)| (path.as_path(), file.as_slice()));
    let files = std::iter::once((own, launch.binary.as_slice())).chain(others);
    let files: Vec<(String, &[u8])> =
        files.map(|(path, file)| (path.display().to_string(), file)).collect();
    warploom_container::linked(
        &files.iter().map(|(name, file)| (name.as_str(), *file)).collect::<Vec<_>>(),
        launch.arch,
    )
}

/// Returns the handle in a module's variable for an image or a sampler.
///
/// The variable is the texture or surface of its name, or has the handle of a captured pool.
fn handle(module: &Module, launch: &Launch, name: &str) -> Option<u32> {
    if let Some(pool) = &launch.image_pool {
        return pool.variables.get(name).copied();
    }
    match launch.textures.iter().position(|texture| texture.name == name) {
        Some(texture) => Program::handle(module, launch.surfaces.len() + texture, true),
        None => Program::handle(
            module,
            launch.surfaces.iter().position(|surface| surface.name == name)?,
            false,
        ),
    }
}

/// The bytes that are compared or filled at once.
const PIECE: u64 = 1 << 20;

impl<'c> Session<'c> {
    /// Loads the binary and puts every buffer at an address.
    ///
    /// Equal launches get equal addresses.
    pub fn new(launch: &'c Launch) -> Result<Session<'c>, Error> {
        let mut shader = launch.shader.as_ref().map(Cow::Borrowed);
        let mut module = match (&launch.raw, launch.format) {
            (Some(raw), _) => {
                let name = launch.binary_path.file_stem().map(|name| name.to_string_lossy());
                let code = text::stream(&launch.binary)?;
                let mach = mach(launch.arch, &launch.binary)?;
                raw::module(
                    name.as_deref().unwrap_or("stream"),
                    &code,
                    mach,
                    raw,
                    launch.shader.as_ref(),
                )
            }
            (None, Some(format)) => {
                let given = launch.shader.as_ref().ok_or(Error::NoShaders)?;
                let (module, lanes) = maxwell::shader(launch, given, format)?;
                shader = Some(Cow::Owned(lanes));
                module
            }
            (None, None) if !launch.linked.is_empty() => linked(launch)?,
            (None, None) => {
                warploom::read_module(&launch.binary, launch.entry.as_deref(), launch.arch)?
            }
        };
        if launch.ze_info.is_some() || launch.platform.is_some() {
            warploom_container::visa::describe(
                &mut module,
                launch.ze_info.as_deref(),
                launch.platform,
            )?;
        }
        let memory = Program::memory_for(&module)?;
        // Buffers with a fixed address come first: all other memory can go anywhere.
        for buffer in &launch.buffers {
            if let Some(address) = buffer.address {
                let placed = memory.alloc_at(
                    Placement::At(address),
                    buffer.content.len(),
                    Access::READ_WRITE,
                );
                placed.map_err(|problem| Error::Placed { name: buffer.name.clone(), problem })?;
            }
        }
        let handles: BTreeMap<String, u32> = module
            .symbols
            .iter()
            .filter_map(|symbol| {
                Some((symbol.name.clone(), handle(&module, launch, &symbol.name)?))
            })
            .collect();
        let mut program =
            Program::in_memory(module, Arc::new(memory), |name| handles.get(name).copied())?;
        program.set_reciprocals(launch.reciprocals)?;
        let kernel = match &launch.entry {
            Some(name) => program.kernel(name)?,
            None => program.only_kernel()?,
        };
        let kernel = kernel.name().to_string();
        let memory = program.memory();
        let place = program.place();
        let address = |buffer: &Buffer| match buffer.address {
            Some(address) => Ok(address),
            None if launch.guard => memory.alloc_before_end(place, buffer.content.len()),
            None => memory.alloc_at(place, buffer.content.len(), Access::READ_WRITE),
        };
        let buffers = launch.buffers.iter().map(address).collect::<Result<Vec<_>, _>>()?;
        let mut sparse = Vec::with_capacity(launch.sparse.len());
        for range in &launch.sparse {
            let address = memory.reserve(Placement::ANYWHERE, range.bytes, Unbound::Sparse)?;
            for page in &range.resident {
                memory.bind(address + page * PAGE_BYTES, PAGE_BYTES, Access::READ_WRITE)?;
            }
            sparse.push(address);
        }
        let surfaces = Surfaces::new(&program, launch)?;
        check_descriptors(&program, launch)?;
        let places = Places {
            buffers: &buffers,
            surfaces: &surfaces,
            textures: &launch.textures,
            program: &program,
        };
        let parts = launch.buffers.iter().map(|buffer| words(buffer, &places)).collect();
        let read = if launch.raw.is_some() {
            raw::interpolated(&text::stream(&launch.binary)?)
        } else {
            BTreeSet::new()
        };
        let arrays = match &shader {
            Some(shader) => Some(Arrays::new(memory, shader, launch.raw.as_ref(), &read)?),
            None => None,
        };
        let params = &program.kernel(&kernel)?.function().params;
        let is_narrow = |n: usize| {
            program.module().ptx.is_some() && params.get(n).is_some_and(|param| param.size == 4)
        };
        let arg = |(n, value): (usize, &ArgValue)| {
            Ok(match value {
                ArgValue::Buffer(i) if is_narrow(n) && u32::try_from(buffers[*i]).is_ok() => {
                    Arg::from(buffers[*i] as u32)
                }
                ArgValue::Buffer(i) => Arg::buffer(buffers[*i], launch.buffers[*i].content.len()),
                ArgValue::Sparse(i) => Arg::pointer(sparse[*i]),
                ArgValue::Bytes(bytes, _) => Arg::bytes(bytes.as_slice()),
                ArgValue::Local(bytes) => Arg::local(*bytes),
                ArgValue::Surface(i) | ArgValue::Texture(i) => surfaces.argument(&program, *i)?,
                ArgValue::Sampled(i) => {
                    let handle = Program::handle(program.module(), launch.surfaces.len() + i, true);
                    Arg::from(u64::from(
                        handle.ok_or_else(|| no_textures(&launch.textures[*i].name))?,
                    ))
                }
                ArgValue::Sampler(sampler) => {
                    program.sampler_argument(*sampler)?.ok_or(Error::Sampler { number: n + 1 })?
                }
            })
        };
        let mut args =
            launch.args.iter().enumerate().map(arg).collect::<Result<Vec<Arg>, Error>>()?;
        if let Some(raw) = &launch.raw {
            args = raw::args(raw, memory, &places, shader.as_deref().zip(arrays.as_ref()))?;
        } else if let Some(arrays) = &arrays {
            args = arrays.args();
        }
        let banks = launch.banks.iter().map(|bank| constants(bank, &places)).collect();
        let variables = vec![];
        let mut session = Session {
            launch,
            program,
            kernel,
            buffers,
            parts,
            sparse,
            surfaces,
            variables,
            args,
            shader,
            arrays,
            banks,
            replaced: BTreeMap::new(),
        };
        session.fill()?;
        session.variables =
            (0..launch.symbols.len()).map(|i| session.variable(i)).collect::<Result<_, _>>()?;
        for (symbol, initial) in launch.symbols.iter().zip(&session.variables) {
            let bytes = symbol.expect.as_ref().map_or(0, |expect| expect.array.bytes.len());
            if bytes > initial.len() {
                let (name, bytes, size) = (symbol.name.clone(), bytes as u64, initial.len() as u64);
                return Err(Error::VariableSize { name, bytes, size });
            }
        }
        Ok(session)
    }

    /// Returns the captured launch.
    pub fn captured(&self) -> &'c Launch {
        self.launch
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Sets the back end, see [`Program::set_backend`].
    pub fn set_backend(&mut self, backend: Arc<dyn Backend>) {
        self.program.set_backend(backend);
    }

    /// Sets the cache, see [`Program::set_cache`].
    pub fn set_cache(&mut self, cache: Option<Arc<dyn CodeStore>>) {
        self.program.set_cache(cache);
    }

    pub fn kernel(&self) -> Result<Kernel<'_>, Error> {
        self.program.kernel(&self.kernel)
    }

    /// Returns the launch options of the manifest.
    pub fn options(&self, engine: EngineKind, threads: usize) -> LaunchOptions {
        let (shape, room) = (&self.launch.shape, self.launch.printf.bytes);
        let (grid, block) = match &self.launch.shader {
            Some(shader) => shader::shape(shader),
            None => (shape.grid, shape.block),
        };
        let defaults = LaunchOptions::new(grid, block);
        LaunchOptions {
            shared_bytes: shape.shared_bytes,
            stack_bytes: shape.stack_bytes,
            threads,
            engine,
            instruction_limit: shape.instruction_limit,
            time_limit: shape
                .time_limit
                .map(|s| Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX)),
            cooperative: shape.cooperative,
            printf_bytes: room.map_or(defaults.printf_bytes, |bytes| {
                usize::try_from(bytes).unwrap_or(usize::MAX)
            }),
            images: self.surfaces.pool,
            banks: self.banks.clone(),
            heap_bytes: shape.heap_bytes.unwrap_or(defaults.heap_bytes),
            ..defaults
        }
    }

    /// Replaces the value of an argument that is a number or a structure, which keeps its size.
    pub fn set_argument(&mut self, number: usize, bytes: &[u8]) {
        self.args[number] = Arg::bytes(bytes);
    }

    /// Replaces the content of the `i`th buffer, from its start, in later launches. It counts from
    /// the next [`Session::reset`] on.
    pub fn replace_buffer(&mut self, i: usize, content: Vec<u8>) {
        self.replaced.insert(i, content);
    }

    /// Returns the bytes behind the `i`th buffer, up to the end of its last page.
    fn rest(&self, i: usize) -> u64 {
        let end = self.buffers[i] + self.launch.buffers[i].content.len();
        end.next_multiple_of(PAGE_BYTES) - end
    }

    /// Returns the allocations of the launch: buffers, and the module's variables.
    fn allocations(&self) -> impl Iterator<Item = Allocation> {
        let buffer = |(buffer, &address): (&Buffer, &u64)| Allocation {
            name: buffer.name.clone(),
            address,
            bytes: buffer.content.len(),
        };
        let buffers = self.launch.buffers.iter().zip(&self.buffers).map(buffer);
        buffers.chain(self.program.allocations())
    }

    /// Returns the buffers behind whose end the launch has changed a byte. Memory has pages, so that
    /// such stores are no faults.
    pub fn overruns(&self) -> Result<Vec<Overrun<'c>>, Error> {
        let mut found = vec![];
        let buffers = self.launch.buffers.iter().zip(&self.buffers);
        for (i, (buffer, &address)) in buffers.enumerate() {
            let size = buffer.content.len();
            let mut behind = vec![0; self.rest(i) as usize];
            self.program.memory().read(address + size, &mut behind)?;
            if let Some(at) = behind.iter().position(|&byte| byte != 0) {
                let (buffer, byte, bytes) = (buffer.name.as_str(), size + at as u64, size);
                found.push(Overrun { buffer, byte, bytes });
            }
        }
        Ok(found)
    }

    /// Restores all memory to its state before the launch.
    pub fn reset(&self) -> Result<(), Error> {
        self.program.reset()?;
        let memory = self.program.memory();
        for (i, (buffer, &address)) in self.launch.buffers.iter().zip(&self.buffers).enumerate() {
            let size = buffer.content.len();
            // The guest can also access the rest of the last page.
            let first = match &buffer.content {
                Content::Zeros(_) => self.replaced.get(&i).map_or(0, |bytes| bytes.len() as u64),
                Content::Bytes(_) => size,
            };
            // Zeros are left alone: the host may not have had to provide the memory yet.
            self.pieces(address + first, size + self.rest(i) - first, |address, piece| {
                let dirty = piece.iter().any(|&byte| byte != 0);
                if dirty { memory.fill(address, piece.len() as u64, 0) } else { Ok(()) }
            })?;
        }
        for (range, &address) in self.launch.sparse.iter().zip(&self.sparse) {
            for page in &range.resident {
                memory.fill(address + page * PAGE_BYTES, PAGE_BYTES, 0)?;
            }
        }
        self.fill()
    }

    /// Writes the initial content of variables, and nonzero initial content of buffers.
    fn fill(&self) -> Result<(), Error> {
        for symbol in &self.launch.symbols {
            match &symbol.content {
                None => {}
                Some(Content::Bytes(bytes)) => self.program.write_variable(&symbol.name, bytes)?,
                Some(Content::Zeros(size)) => {
                    let variable = self.program.variable(&symbol.name)?;
                    let wrong = Error::VariableSize {
                        name: symbol.name.clone(),
                        bytes: *size,
                        size: variable.size,
                    };
                    let size = usize::try_from(*size)
                        .ok()
                        .filter(|_| *size <= variable.size)
                        .ok_or(wrong)?;
                    self.program.write_variable(&symbol.name, &vec![0; size])?;
                }
            }
        }
        let memory = self.program.memory();
        self.surfaces.fill(&self.program)?;
        if let (Some(arrays), Some(shader)) = (&self.arrays, &self.shader) {
            arrays.fill(memory, shader, self.launch.raw.as_ref())?;
        }
        let buffers = self.launch.buffers.iter().zip(&self.parts).zip(&self.buffers);
        for (i, ((buffer, parts), &address)) in buffers.enumerate() {
            match (self.replaced.get(&i), &buffer.content) {
                (Some(bytes), _) | (None, Content::Bytes(bytes)) => memory.write(address, bytes)?,
                (None, Content::Zeros(_)) => {}
            }
            for (&at, word) in parts {
                memory.write(address + at as u64, &word.to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Runs the kernel once.
    pub fn launch(
        &self,
        options: &LaunchOptions,
        progress: Option<&dyn Fn(u64, u64)>,
    ) -> Result<LaunchOutcome, Error> {
        let start = Instant::now();
        let options = self.drawing(options)?;
        let drawn = start.elapsed();
        let mut outcome = self.kernel()?.launch_with_progress(&self.args, &options, progress)?;
        outcome.run += drawn;
        if let Some(fault) = &mut outcome.fault {
            fault.compare_with(self.allocations());
        }
        Ok(outcome)
    }

    /// Adds the drawing of the launch to the options.
    fn drawing<'o>(&self, options: &'o LaunchOptions) -> Result<Cow<'o, LaunchOptions>, Error> {
        let (Some(arrays), Some(shader)) = (&self.arrays, &self.shader) else {
            return Ok(Cow::Borrowed(options));
        };
        let wrong = |problem| Error::ShaderInput { problem };
        let Some(drawing) = Drawing::of(shader, &arrays.drawn, options.threads).map_err(wrong)?
        else {
            return Ok(Cow::Borrowed(options));
        };
        if options.cooperative {
            return Err(wrong("triangles are drawn: expected no cooperative launch".into()));
        }
        Ok(Cow::Owned(LaunchOptions { block_start: Some(Arc::new(drawing)), ..options.clone() }))
    }

    /// Makes a copy of the kernel that counts how often it leaves each block.
    pub fn counted(&self, options: &LaunchOptions) -> Result<Counted, Error> {
        self.kernel()?.counted(&self.args, options)
    }

    /// Runs the copy of the kernel that counts.
    pub fn launch_counted(
        &self,
        counted: &Counted,
        options: &LaunchOptions,
    ) -> Result<CountedLaunch, Error> {
        let options = self.drawing(options)?;
        self.kernel()?.launch_counted(counted, &self.args, options.as_ref())
    }

    /// Runs the kernel once and counts executed instructions.
    pub fn profile(&self, options: &LaunchOptions) -> Result<Vec<Executed>, Error> {
        self.kernel()?.profile(&self.args, self.drawing(options)?.as_ref())
    }

    /// Runs the kernel once with checks ([`Kernel::launch_checked`]). Its allocations are the buffers
    /// and the module's variables.
    pub fn checked(&self, options: &LaunchOptions, checks: Checks) -> Result<CheckedLaunch, Error> {
        let live = self.allocations().filter(|_| checks.memory).collect();
        let allocations = Allocations { live, ..Allocations::default() };
        let options = self.drawing(options)?;
        self.kernel()?.launch_checked(&self.args, options.as_ref(), checks, &allocations)
    }

    /// Runs the kernel once and counts the host instructions of its code
    /// ([`Kernel::host_instructions`]).
    pub fn host_instructions(&self, options: &LaunchOptions) -> Result<(u64, Counts), Error> {
        self.kernel()?.host_instructions(&self.args, self.drawing(options)?.as_ref())
    }

    /// Returns the kernel at a stage of its translation, as text.
    ///
    /// `block` replaces the launch's block shape. `target` is the host to translate for, if not
    /// this host.
    pub fn dump(
        &self,
        stage: Stage,
        block: Option<[u32; 3]>,
        target: Option<&Target>,
    ) -> Result<String, Error> {
        let mut options = self.options(EngineKind::Jit, 1);
        options.block = block.unwrap_or(options.block);
        self.kernel()?.dump_for(stage, &self.args, &options, target)
    }

    /// Returns the current content of the `i`th buffer of the launch.
    pub fn buffer(&self, i: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.launch.buffers[i].content.len() as usize];
        self.program.memory().read(self.buffers[i], &mut bytes)?;
        Ok(bytes)
    }

    /// Returns the current texels of the `i`th surface of the launch, row by row without gaps.
    pub fn surface(&self, i: usize) -> Result<Vec<u8>, Error> {
        self.surfaces.texels(&self.program, i)
    }

    /// Returns the texels of the `i`th surface if the launch changed them.
    pub fn changed_surface(&self, i: usize) -> Result<Option<Vec<u8>>, Error> {
        let texels = self.surface(i)?;
        let changed = match &self.launch.surfaces[i].content {
            Some(content) => *content != texels,
            None => texels.iter().any(|&byte| byte != 0),
        };
        Ok(changed.then_some(texels))
    }

    /// Returns the exports of a shader.
    pub fn exported(&self) -> Result<Option<Exported>, Error> {
        match (&self.arrays, &self.shader) {
            (Some(arrays), Some(shader)) => {
                arrays.exported(self.program.memory(), shader).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns the current content of the `i`th variable of the launch.
    pub fn variable(&self, i: usize) -> Result<Vec<u8>, Error> {
        self.program.read_variable(&self.launch.symbols[i].name)
    }

    /// Returns the current content of the `i`th variable of the launch if the launch changed it.
    pub fn changed_variable(&self, i: usize) -> Result<Option<Vec<u8>>, Error> {
        let content = self.variable(i)?;
        Ok(Some(content).filter(|content| *content != self.variables[i]))
    }

    /// Tells whether the launch changed the `i`th buffer.
    pub fn has_changed(&self, i: usize) -> Result<bool, Error> {
        let (content, parts) = (&self.launch.buffers[i].content, &self.parts[i]);
        let mut changed = false;
        let differs = |at: usize, piece: &[u8]| match content {
            Content::Zeros(_) => piece.iter().any(|&byte| byte != 0),
            Content::Bytes(bytes) => bytes[at..][..piece.len()] != *piece,
        };
        self.read_buffer(i, |at, piece| {
            // Pieces are whole words. Words of parts are compared with the parts, other bytes with
            // the content.
            let mut done = 0;
            for (&word_at, word) in parts.range(at..at + piece.len()) {
                let from = word_at - at;
                changed |= differs(at + done, &piece[done..from])
                    || piece[from..from + 4] != word.to_le_bytes();
                done = from + 4;
            }
            changed |= differs(at + done, &piece[done..]);
        })?;
        Ok(changed)
    }

    /// Calls `show` with consecutive pieces of the `i`th buffer and the offset of each.
    ///
    /// Pieces are whole elements of any type.
    pub fn read_buffer(&self, i: usize, mut show: impl FnMut(usize, &[u8])) -> Result<(), Error> {
        let start = self.buffers[i];
        self.pieces(start, self.launch.buffers[i].content.len(), |address, piece| {
            show((address - start) as usize, piece);
            Ok(())
        })
    }

    /// Reads the buffer beside the same buffer of another session of this captured launch.
    pub(super) fn read_buffer_beside(
        &self,
        other: &Session<'_>,
        i: usize,
        mut show: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Error> {
        let (start, size) = (self.buffers[i], self.launch.buffers[i].content.len());
        let mut theirs = vec![0; PIECE.min(size) as usize];
        self.pieces(start, size, |address, piece| {
            let theirs = &mut theirs[..piece.len()];
            other.program.memory().read(other.buffers[i] + (address - start), theirs)?;
            show(piece, theirs);
            Ok(())
        })
    }

    /// Calls `each` with consecutive pieces of guest memory.
    fn pieces(
        &self,
        start: u64,
        size: u64,
        mut each: impl FnMut(u64, &[u8]) -> Result<(), warploom_runtime::memory::CopyError>,
    ) -> Result<(), Error> {
        let mut piece = vec![0; PIECE.min(size) as usize];
        let mut done = 0;
        while done < size {
            let length = PIECE.min(size - done) as usize;
            self.program.memory().read(start + done, &mut piece[..length])?;
            each(start + done, &piece[..length])?;
            done += length as u64;
        }
        Ok(())
    }
}

/// Returns the words of a buffer's parts, by offset in bytes.
///
/// Where parts overlap, the last part counts.
fn words(buffer: &Buffer, places: &Places<'_>) -> BTreeMap<usize, u32> {
    words_at(&buffer.parts, places)
}

/// Returns a constant bank with the words of its parts.
fn constants(bank: &ConstantBank, places: &Places<'_>) -> (u8, Vec<u8>) {
    let mut content = bank.content.clone();
    for (at, word) in words_at(&bank.parts, places) {
        content[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    (bank.number, content)
}

fn words_at(parts: &[(u32, RawValue)], places: &Places<'_>) -> BTreeMap<usize, u32> {
    let words = |(at, value): &(u32, RawValue)| {
        let at = *at as usize;
        let words = value.words(places).unwrap_or_default();
        words.into_iter().enumerate().map(move |(i, word)| (at + 4 * i, word)).collect::<Vec<_>>()
    };
    parts.iter().flat_map(words).collect()
}
