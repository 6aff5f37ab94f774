//! The differences between instruction sets when a kernel is translated and launched: a file for
//! each instruction set.

#[cfg(feature = "gfx9")]
mod gfx9;
mod ir;
#[cfg(feature = "maxwell")]
mod maxwell;
#[cfg(feature = "maxwell")]
mod nvidia;
#[cfg(any(feature = "gfx9", feature = "visa"))]
mod print_buffer;
#[cfg(feature = "ptx")]
mod ptx;
#[cfg(feature = "turing")]
mod turing;
#[cfg(feature = "visa")]
mod visa;

use warploom_container::{Code, CodePlace, FunctionId, Isa, Linked, Module, SymbolId};
use warploom_guest::LiftError;
use warploom_guest::fidelity::Fidelity;
use warploom_ir::Function;
use warploom_ir::image::Shape;
use warploom_runtime::launch::LaunchConfig;
use warploom_runtime::memory::Memory;
use warploom_runtime::window::Windows;

use super::images::Image;
use super::launch::ArgContent;
use super::program::{Program, ReadOnly};
use super::services::Printed;
use super::{Arg, Error, FidelityClass, ImagePool, Kernel, LaunchOptions};
use crate::images::{self as given, ImageDescription, Sampler, Texture};

/// An instruction set with its driver.
pub(super) trait Guest: Sync {
    /// Returns the places of shared and local memory in the generic address space.
    fn windows(&self) -> Windows;

    /// Returns the IR of a kernel.
    fn lift(&self, kernel: &Lifting<'_>) -> Result<Function, LiftError>;

    /// Returns whether lifting follows code from the entry on, so that another entry finds other
    /// code.
    fn lifts_from_entry(&self) -> bool {
        false
    }

    /// Lists, as text, a kernel's undefined accesses, such as uses of a result before the kernel
    /// has waited for memory. Returns `None` if this instruction set has no such check.
    fn check_waits(&self, _: &Lifting<'_>) -> Option<Result<Vec<String>, LiftError>> {
        None
    }

    /// Returns the instruction at an address, legal or not, or `None` if there is no code.
    fn instruction(&self, code: &Code, pc: u64) -> Option<Placed>;

    /// Returns the line of a place in code that is text, and the source line that machine code was
    /// compiled from.
    fn line(&self, linked: &Linked, place: &CodePlace) -> Option<SourcePlace> {
        let source = linked.module().lines.find(place.section?, place.offset)?;
        Some(SourcePlace { part: None, line: None, source: Some(source) })
    }

    /// Returns whether the host provides a function that the module does not define.
    fn provides(&self, name: &str) -> bool;

    /// Checks a launch and prepares the environment of the kernel.
    fn environment(&self, launch: &Launching<'_>) -> Result<Environment, Error>;

    /// Returns the driver of images.
    fn images(&self) -> &dyn ImageDriver {
        &NoImages
    }

    /// Adds the driver's own functions that a module calls.
    fn complete(&self, module: Module) -> Result<Module, Error> {
        Ok(module)
    }

    /// Returns the value of a symbol that the driver defines.
    fn driver_symbol(&self, _name: &str) -> Option<u64> {
        None
    }

    /// Returns the handles of objects that a module itself defines, such as a sampler with an
    /// initial content.
    fn own_handles(&self, _: &Module) -> Vec<(SymbolId, u32)> {
        vec![]
    }
}

/// The images of an instruction set: their form in memory, and how kernels find them.
pub(super) trait ImageDriver {
    /// Reserves memory for an image.
    fn image(&self, _: &Memory, name: &str, _: &ImageDescription) -> Result<Image, Error> {
        let problem = "images of this instruction set are not executed yet".into();
        Err(Error::Surface { name: name.into(), problem })
    }

    /// Returns the argument for an image, which is image `number` of the launch.
    fn image_argument(&self, memory: &Memory, _number: usize, image: &Image) -> Result<Arg, Error> {
        Ok(Arg::pointer(crate::images::object(memory, &image.object)?))
    }

    /// Returns the handle of image `number` of a launch; textures are numbered behind the images.
    /// Returns `None` if there are no handles.
    fn handle(&self, _number: usize, _sampled: bool) -> Option<u32> {
        None
    }

    /// Returns the driver's pool of all images of a launch, or `None` if arguments are enough.
    fn image_pool(
        &self,
        _: &Memory,
        _: &[Image],
        _: &[Texture],
    ) -> Result<Option<ImagePool>, Error> {
        Ok(None)
    }

    /// Puts descriptors that a driver kept into memory.
    fn captured_pool(
        &self,
        _: &Memory,
        _headers: &[u8],
        _samplers: &[u8],
    ) -> Result<ImagePool, Error> {
        Err(Error::NoPool)
    }

    /// Returns whether images have descriptors that kernels read from buffers.
    fn has_descriptors(&self) -> bool {
        false
    }

    /// Returns the descriptor of a texture's sampler, as kernels read it from buffers.
    ///
    /// # Errors
    /// The instruction set has no such descriptors, or a descriptor cannot express the texture's
    /// sampling.
    fn sampler_descriptor(&self, _: &given::Sampling) -> Result<[u32; 4], String> {
        Err("descriptors of samplers in buffers and registers are those of GFX9".into())
    }

    /// Returns the words of a sampler, or `None` if samplers are not executed yet.
    fn sampler(&self, _: Sampler) -> Option<Vec<u32>> {
        None
    }
}

/// The driver of an instruction set without images.
struct NoImages;

impl ImageDriver for NoImages {}

/// Images whose handles are words of constant bank 0, by byte offset in the bank.
pub(super) type KnownImages = Vec<(u32, Shape)>;

/// A kernel to lift.
pub(super) struct Lifting<'a> {
    pub linked: &'a Linked,
    pub kernel: FunctionId,
    pub code: &'a Code,
    /// Seen targets of indirect jumps that the module does not list, in the order in which they
    /// were seen.
    pub discovered: &'a [u64],
    pub images: &'a [(u32, Shape)],
    pub purpose: Purpose,
}

/// The purpose of lifting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Launches,
    /// Blocks are consecutive guest instructions.
    Reports,
    /// As for reports, and the code tells observers what operations do not show
    /// ([`warploom_ir::observe`]).
    Checks,
}

/// A kernel to launch.
pub(super) struct Launching<'a> {
    pub kernel: &'a Kernel<'a>,
    pub args: &'a [Arg],
    pub options: &'a LaunchOptions,
}

/// The environment in which a kernel starts.
pub(super) struct Environment {
    pub config: LaunchConfig,
    /// Images for which the kernel may be specialised.
    pub images: KnownImages,
    /// Guest memory that is released when the launch is over.
    pub held: Vec<u64>,
    /// The part of `held` in which each thread has its own bytes.
    pub scratch: Vec<u64>,
    /// Pages that are given back when the launch is over.
    pub lent: Vec<ReadOnly>,
    /// The kernel's printed text; `None` if the kernel asks the host to print, or prints nothing.
    pub print: Option<Box<dyn Prints>>,
}

impl Environment {
    /// Returns an environment without images and without memory of its own.
    pub fn new(config: LaunchConfig) -> Environment {
        Environment {
            config,
            images: vec![],
            held: vec![],
            scratch: vec![],
            lent: vec![],
            print: None,
        }
    }
}

/// The place where a kernel leaves its printed text.
pub(super) trait Prints {
    /// Returns the text, when the launch is over.
    fn text(&self, program: &Program) -> Result<Printed, Error>;
}

/// The line of an instruction in code that is text, and the line of the source that it was compiled
/// from, as far as they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The name of the text, if several texts were linked.
    pub part: Option<String>,
    /// The number of the line of text, from 1 on. `None` for machine code.
    pub line: Option<u32>,
    /// The path of the file, as the compiler wrote it, and the line in it.
    pub source: Option<(String, u32)>,
}

impl std::fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}")?;
        }
        if let Some(part) = &self.part {
            write!(f, " of {part}")?;
        }
        match &self.source {
            Some((file, line)) if self.line.is_some() => write!(f, " ({file}:{line})"),
            Some((file, line)) => write!(f, "at {file}:{line}"),
            None => Ok(()),
        }
    }
}

/// An instruction at its address.
pub(super) struct Placed {
    pub pc: u64,
    /// The address after it.
    pub next: u64,
    /// The text of a disassembler; for a word that is no instruction, its bits.
    pub text: String,
    /// The name with its modifiers, without operands.
    pub mnemonic: String,
    pub class: FidelityClass,
}

#[cfg(any(feature = "gfx9", feature = "maxwell"))]
impl Placed {
    /// Returns a word that is no instruction.
    fn illegal(pc: u64, next: u64, word: impl std::fmt::LowerHex, digits: usize) -> Placed {
        let text = format!("illegal word {word:#0width$x}", width = digits + 2);
        Placed { pc, next, text, mnemonic: "illegal".into(), class: FidelityClass::Illegal }
    }
}

/// Returns `count` instructions from an address on.
pub(super) fn instructions<'a>(
    guest: &'a dyn Guest,
    code: &'a Code,
    pc: u64,
    count: u32,
) -> impl Iterator<Item = Placed> + 'a {
    let first = guest.instruction(code, pc);
    std::iter::successors(first, |at| guest.instruction(code, at.next)).take(count as usize)
}

pub(super) fn of(isa: Isa) -> &'static dyn Guest {
    match isa {
        #[cfg(feature = "maxwell")]
        Isa::Maxwell { .. } => &maxwell::Maxwell,
        #[cfg(feature = "turing")]
        Isa::Turing { sm } => turing::of(sm),
        #[cfg(feature = "gfx9")]
        Isa::Gfx9 { mach } => gfx9::of(mach.chip()),
        #[cfg(feature = "ptx")]
        Isa::Ptx { .. } => &ptx::Ptx,
        #[cfg(feature = "visa")]
        Isa::Visa { .. } => &visa::Visa,
        Isa::Ir => &ir::Ir,
        // Readers of binaries make no modules of guests that are not compiled in.
        #[allow(unreachable_patterns, reason = "no guest may be left out")]
        _ => &ir::Ir,
    }
}

impl From<Fidelity> for FidelityClass {
    fn from(fidelity: Fidelity) -> FidelityClass {
        match fidelity {
            Fidelity::Exact => FidelityClass::Exact,
            Fidelity::Approximate(bound) => FidelityClass::Approximate(bound),
            Fidelity::Unimplemented => FidelityClass::Unimplemented,
        }
    }
}

impl Launching<'_> {
    /// Returns the shape and limits of the options.
    fn config(&self) -> LaunchConfig {
        let mut config = LaunchConfig::new(self.options.grid, self.options.block);
        config.threads = self.options.threads;
        config.instruction_limit = self.options.instruction_limit;
        config.time_limit = self.options.time_limit;
        config.cooperative = self.options.cooperative;
        config.deadlock_after = self.options.deadlock_after;
        if self.options.block_start.is_some() {
            // The data that a block begins with lies in rows of the workers that run at once.
            config.aside_blocks = 0;
        }
        config
    }

    /// Returns the static and dynamic shared memory of a block.
    fn shared_bytes(&self, dynamic: u32) -> Result<u32, Error> {
        let static_bytes = self.kernel.function().shared_bytes;
        let total = static_bytes.saturating_add(dynamic.into());
        u32::try_from(total).map_err(|_| Error::SharedMemory { total, static_bytes, dynamic })
    }

    /// Returns the static and dynamic shared memory of a block as NVIDIA's GPUs allot it, in
    /// vectors of 16 bytes. Compilers do not know where dynamic shared memory ends, and read it in
    /// vectors.
    fn shared_bytes_in_vectors(&self) -> Result<u32, Error> {
        const VECTOR: u32 = 16;
        let dynamic = self.options.shared_bytes;
        self.shared_bytes(if dynamic == 0 {
            0
        } else {
            dynamic.checked_next_multiple_of(VECTOR).unwrap_or(dynamic)
        })
    }

    fn check_block(&self) -> Result<(), Error> {
        let (function, block) = (self.kernel.function(), self.options.block);
        let kernel = || function.name.clone();
        if let Some(required) = function.required_threads.filter(|&r| r != block) {
            return Err(Error::RequiredBlock { kernel: kernel(), block, required });
        }
        let lanes =
            |shape: [u32; 3]| shape.iter().fold(1_u64, |n, &axis| n.saturating_mul(axis.into()));
        match function.max_threads.map(lanes) {
            Some(limit) if lanes(block) > limit => {
                Err(Error::BlockBound { kernel: kernel(), block, limit })
            }
            _ => Ok(()),
        }
    }

    /// Returns the bytes of each argument, none of which may be local memory.
    fn bytes(&self) -> Result<Vec<Vec<u8>>, Error> {
        let kernel = || self.kernel.function().name.clone();
        let bytes = |(n, arg): (usize, &Arg)| match arg.content() {
            ArgContent::Bytes(bytes) => Ok(bytes.clone()),
            ArgContent::Local(_) => Err(Error::LocalArgument { kernel: kernel(), number: n + 1 }),
        };
        self.args.iter().enumerate().map(bytes).collect()
    }

    /// Returns the parameter block: the bytes of each argument at its parameter's offset.
    fn params(&self, args: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        let function = self.kernel.function();
        let (expected, given) = (function.params.len(), args.len());
        if expected != given {
            return Err(Error::ArgumentCount { kernel: function.name.clone(), expected, given });
        }
        let ends = function.params.iter().map(|p| p.offset + p.size);
        let mut block = vec![0; ends.max().unwrap_or(0).max(function.param_bytes) as usize];
        for (i, (param, bytes)) in function.params.iter().zip(args).enumerate() {
            if bytes.len() != param.size as usize {
                return Err(Error::ArgumentSize {
                    kernel: function.name.clone(),
                    number: i + 1,
                    offset: param.offset,
                    expected: param.size,
                    given: bytes.len(),
                });
            }
            block[param.offset as usize..][..bytes.len()].copy_from_slice(bytes);
        }
        Ok(block)
    }
}
