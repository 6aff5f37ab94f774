//! [`Session`]: a captured launch in guest memory, to be run any number of times.

use std::time::Duration;

use warploom_runtime::memory::{Access, PAGE_BYTES, Place, Unbound};

use super::{Arg, EngineKind, Error, Executed, Kernel, LaunchOptions, LaunchOutcome, Program};
use crate::capture::{ArgValue, Content, Launch};

/// A captured launch with its buffers in the memory of a program of its own.
pub struct Session<'c> {
    launch: &'c Launch,
    program: Program,
    kernel: String,
    /// Guest address of each buffer.
    buffers: Vec<u64>,
    /// Guest address of each sparse range.
    sparse: Vec<u64>,
    args: Vec<Arg>,
}

/// Bytes compared or filled at once.
const PIECE: u64 = 1 << 20;

impl<'c> Session<'c> {
    /// Loads the binary and puts every buffer at an address. The same launch gets the same addresses each time.
    pub fn new(launch: &'c Launch) -> Result<Session<'c>, Error> {
        if let Some(surface) = launch.surfaces.first() {
            return Err(Error::Surface { name: surface.name.clone() });
        }
        if let Some(i) = launch.args.iter().position(|arg| matches!(arg, ArgValue::Sampler(_))) {
            return Err(Error::Sampler { number: i + 1 });
        }
        if launch.raw.is_some() {
            return Err(Error::RawStream);
        }
        if let Some(buffer) = launch.buffers.iter().find(|b| b.address.is_some() || !b.parts.is_empty()) {
            return Err(Error::PlacedBuffer { name: buffer.name.clone() });
        }
        let program = Program::load(&launch.binary, launch.entry.as_deref())?;
        let kernel = match &launch.entry {
            Some(name) => program.kernel(name)?,
            None => program.only_kernel()?,
        };
        let kernel = kernel.name().to_string();
        let memory = program.memory();
        let alloc = |size: u64| memory.alloc(size, 1);
        let buffers = launch.buffers.iter().map(|b| alloc(b.content.len())).collect::<Result<Vec<_>, _>>()?;
        let mut sparse = Vec::with_capacity(launch.sparse.len());
        for range in &launch.sparse {
            let address = memory.reserve(Place::ANYWHERE, range.bytes, Unbound::Sparse)?;
            for page in &range.resident {
                memory.bind(address + page * PAGE_BYTES, PAGE_BYTES, Access::READ_WRITE)?;
            }
            sparse.push(address);
        }
        let arg = |value: &ArgValue| match value {
            ArgValue::Buffer(i) => Arg::pointer(buffers[*i]),
            ArgValue::Sparse(i) => Arg::pointer(sparse[*i]),
            ArgValue::Bytes(bytes, _) => Arg::bytes(bytes.as_slice()),
            ArgValue::Local(bytes) => Arg::local(*bytes),
            // Refused above.
            ArgValue::Sampler(_) => Arg::bytes([]),
            // There are no surfaces.
            ArgValue::Surface(i) | ArgValue::Texture(i) => Arg::pointer(*i as u64),
        };
        let args = launch.args.iter().map(arg).collect();
        let session = Session { launch, program, kernel, buffers, sparse, args };
        session.fill()?;
        Ok(session)
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn kernel(&self) -> Result<Kernel<'_>, Error> {
        self.program.kernel(&self.kernel)
    }

    /// What the manifest says about the launch.
    pub fn options(&self, engine: EngineKind, threads: usize) -> LaunchOptions {
        let (shape, room) = (&self.launch.shape, self.launch.printf.bytes);
        let defaults = LaunchOptions::new(shape.grid, shape.block);
        LaunchOptions {
            shared_bytes: shape.shared_bytes,
            stack_bytes: shape.stack_bytes,
            threads,
            engine,
            instruction_limit: shape.instruction_limit,
            time_limit: shape.time_limit.map(|s| Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX)),
            cooperative: shape.cooperative,
            printf_bytes: room.map_or(defaults.printf_bytes, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            heap_bytes: shape.heap_bytes.unwrap_or(defaults.heap_bytes),
            ..defaults
        }
    }

    /// Puts all memory back to what it is before the launch.
    pub fn reset(&self) -> Result<(), Error> {
        self.program.reset()?;
        let memory = self.program.memory();
        for (buffer, &address) in self.launch.buffers.iter().zip(&self.buffers) {
            if let Content::Zeros(size) = buffer.content {
                // What is zero is left alone: the host may not have had to provide it yet.
                self.pieces(address, size, |address, piece| {
                    let dirty = piece.iter().any(|&byte| byte != 0);
                    if dirty { memory.fill(address, piece.len() as u64, 0) } else { Ok(()) }
                })?;
            }
        }
        for (range, &address) in self.launch.sparse.iter().zip(&self.sparse) {
            for page in &range.resident {
                memory.fill(address + page * PAGE_BYTES, PAGE_BYTES, 0)?;
            }
        }
        self.fill()
    }

    /// Writes the initial content of variables and buffers that are not zero.
    fn fill(&self) -> Result<(), Error> {
        for symbol in &self.launch.symbols {
            match &symbol.content {
                Content::Bytes(bytes) => self.program.write_variable(&symbol.name, bytes)?,
                Content::Zeros(size) => {
                    let variable = self.program.variable(&symbol.name)?;
                    let wrong = Error::VariableSize { name: symbol.name.clone(), bytes: *size, size: variable.size };
                    let size = usize::try_from(*size).ok().filter(|_| *size <= variable.size).ok_or(wrong)?;
                    self.program.write_variable(&symbol.name, &vec![0; size])?;
                }
            }
        }
        for (buffer, &address) in self.launch.buffers.iter().zip(&self.buffers) {
            if let Content::Bytes(bytes) = &buffer.content {
                self.program.memory().write(address, bytes)?;
            }
        }
        Ok(())
    }

    /// Runs the kernel once.
    pub fn launch(&self, options: &LaunchOptions, progress: Option<&dyn Fn(u64, u64)>) -> Result<LaunchOutcome, Error> {
        self.kernel()?.launch_with_progress(&self.args, options, progress)
    }

    /// Runs the kernel once and counts what it executes.
    pub fn profile(&self, options: &LaunchOptions) -> Result<Vec<Executed>, Error> {
        self.kernel()?.profile(&self.args, options)
    }

    /// What is in the `i`th buffer of the launch now.
    pub fn buffer(&self, i: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.launch.buffers[i].content.len() as usize];
        self.program.memory().read(self.buffers[i], &mut bytes)?;
        Ok(bytes)
    }

    /// Whether the `i`th buffer is not what it was before the launch.
    pub fn has_changed(&self, i: usize) -> Result<bool, Error> {
        let content = &self.launch.buffers[i].content;
        let mut changed = false;
        self.read_buffer(i, |at, piece| {
            changed |= match content {
                Content::Zeros(_) => piece.iter().any(|&byte| byte != 0),
                Content::Bytes(bytes) => bytes[at..][..piece.len()] != *piece,
            };
        })?;
        Ok(changed)
    }

    /// Shows the `i`th buffer as it is now in consecutive pieces, with the offset of each. Pieces are whole elements of
    /// any type.
    pub fn read_buffer(&self, i: usize, mut show: impl FnMut(usize, &[u8])) -> Result<(), Error> {
        let start = self.buffers[i];
        self.pieces(start, self.launch.buffers[i].content.len(), |address, piece| {
            show((address - start) as usize, piece);
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
