//! A kernel of a fixture, ready to be launched again and again.

use std::path::Path;
use warploom::capture::{Launch, Manifest};
use warploom::exec::{Arg, EngineKind, LaunchOptions, LaunchOutcome, Program, Session};

/// What can be launched again and again.
pub trait Launches {
    /// One launch. Panics on a fault.
    fn launch(&self, engine: EngineKind, threads: usize) -> LaunchOutcome;
}

fn without_fault(outcome: LaunchOutcome) -> LaunchOutcome {
    if let Some(fault) = &outcome.fault {
        panic!("{fault}");
    }
    outcome
}

/// A launch as a manifest describes it, with surfaces.
pub struct Captured(Session<'static>);

impl Captured {
    /// Files are relative to the fixtures.
    pub fn new(manifest: &str) -> Captured {
        let at = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/fixtures/manifest.toml");
        let manifest = Manifest::parse(manifest, &at).expect("a manifest");
        let launch = Box::leak(Box::new(Launch::resolve(manifest, &at).expect("a launch")));
        Captured(Session::new(launch).expect("a session"))
    }
}

impl Launches for Captured {
    fn launch(&self, engine: EngineKind, threads: usize) -> LaunchOutcome {
        without_fault(self.0.launch(&self.0.options(engine, threads), None).expect("a launch"))
    }
}

/// A number as it lies in guest memory.
pub trait Number: Copy {
    fn bytes(self) -> impl Iterator<Item = u8>;
}

macro_rules! numbers {
    ($($t:ty)*) => { $(impl Number for $t {
        fn bytes(self) -> impl Iterator<Item = u8> {
            self.to_le_bytes().into_iter()
        }
    })* };
}
numbers!(f32 f64 u32 u64);

pub struct Guest {
    program: Program,
    entry: &'static str,
    args: Vec<Arg>,
    options: LaunchOptions,
}

impl Guest {
    /// `binary` is relative to the repository.
    pub fn new(binary: &str, entry: &'static str) -> Guest {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(binary);
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let program = Program::load(&bytes, Some(entry)).expect("a module with this kernel");
        Guest { program, entry, args: vec![], options: LaunchOptions::new([1; 3], [1; 3]) }
    }

    /// Blocks of the grid, and lanes of a block.
    pub fn grid(mut self, grid: [u32; 3], block: [u32; 3]) -> Guest {
        (self.options.grid, self.options.block) = (grid, block);
        self
    }

    pub fn shared_bytes(mut self, bytes: u32) -> Guest {
        self.options.shared_bytes = bytes;
        self
    }

    pub fn arg(mut self, arg: impl Into<Arg>) -> Guest {
        self.args.push(arg.into());
        self
    }

    /// A buffer with this content.
    pub fn buffer(mut self, content: &[u8]) -> Guest {
        let address = self.program.memory().alloc(content.len() as u64, 64).expect("memory for a buffer");
        self.program.memory().write(address, content).expect("the buffer's content");
        self.args.push(Arg::pointer(address));
        self
    }

    /// A buffer of numbers.
    pub fn numbers<T: Number>(self, content: &[T]) -> Guest {
        let bytes: Vec<u8> = content.iter().flat_map(|&v| v.bytes()).collect();
        self.buffer(&bytes)
    }

    pub fn zeros(self, bytes: usize) -> Guest {
        self.buffer(&vec![0; bytes])
    }
}

impl Launches for Guest {
    fn launch(&self, engine: EngineKind, threads: usize) -> LaunchOutcome {
        let options = LaunchOptions { engine, threads, ..self.options.clone() };
        let kernel = self.program.kernel(self.entry).expect("a kernel of the module");
        without_fault(kernel.launch(&self.args, &options).expect("a launch"))
    }
}
