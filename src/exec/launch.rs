//! One launch of a kernel.

use std::sync::Arc;
use std::time::{Duration, Instant};

use warploom_analysis::Firings;
use warploom_container::Function;
use warploom_cranelift::Target;
use warploom_engine::Effort;
use warploom_runtime::fault::FaultKind;
use warploom_runtime::launch::{Counts, Engine, LaunchConfig, Outcome};
use warploom_runtime::memory::{CopyError, Memory};
use warploom_runtime::warp::{ExitCode, SERVICE_BYTES, WarpContext};

use super::guest::{Environment, Launching, Lifting, Purpose};
use super::services::{Printed, Serving, linear};
use super::translate::{Dimensions, Translated, Wanted};
use super::{EngineKind, Error, Fault, Kernel, Stage};

/// The driver's defaults, in bytes: the most output of device code in one launch, and its heap.
const PRINTF_BYTES: usize = 1 << 20;
const HEAP_BYTES: u64 = 8 << 20;

/// Bytes of one argument, as they lie in the parameter block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    content: ArgContent,
    /// For the address of a buffer, the size of the buffer in bytes.
    extent: Option<u64>,
}

/// The content of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArgContent {
    Bytes(Vec<u8>),
    /// So many bytes of dynamic shared memory. The kernel gets the offset.
    Local(u32),
}

impl Arg {
    /// Makes an argument of a guest address.
    pub fn pointer(address: u64) -> Arg {
        Arg::bytes(address.to_le_bytes())
    }

    /// Makes an argument of the guest address of a buffer with `bytes` bytes. If kernels get a
    /// surface for the buffer, the surface ends at the buffer's end.
    pub fn buffer(address: u64, bytes: u64) -> Arg {
        Arg { extent: Some(bytes), ..Arg::pointer(address) }
    }

    /// Makes an argument of the bytes of a structure.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Arg {
        Arg { content: ArgContent::Bytes(bytes.into()), extent: None }
    }

    /// Makes an argument of so many bytes of dynamic shared memory of each block: a `local` pointer
    /// of OpenCL.
    pub fn local(bytes: u32) -> Arg {
        Arg { content: ArgContent::Local(bytes), extent: None }
    }

    /// Returns the passed bytes, or `None` for dynamic shared memory.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &self.content {
            ArgContent::Bytes(bytes) => Some(bytes),
            ArgContent::Local(_) => None,
        }
    }

    pub(super) fn content(&self) -> &ArgContent {
        &self.content
    }

    /// Returns a buffer's bytes from the address on, if their number is known.
    pub(super) fn extent(&self) -> Option<u64> {
        self.extent
    }
}

macro_rules! arg_from {
    ($($t:ty),*) => {
        $(impl From<$t> for Arg {
            fn from(value: $t) -> Arg {
                Arg::bytes(value.to_le_bytes())
            }
        })*
    };
}
arg_from!(i8, u8, i16, u16, i32, u32, i64, u64, half::f16, f32, f64);

/// The place where a driver has put the descriptors of images and samplers. They are read when a
/// launch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImagePool {
    /// Guest address of texture headers of 32 bytes, and the index of the last header
    /// (`MaximumIndex`).
    pub headers: u64,
    pub last_header: u32,
    /// Guest address of samplers of 32 bytes, and the index of the last sampler.
    pub samplers: u64,
    pub last_sampler: u32,
}

/// An action at the start of a block, before its first instruction. A graphics pipeline hands over
/// pixels this way.
pub trait BlockStart: std::fmt::Debug + Send + Sync {
    /// Runs the action. `block` is the block's number in the grid, along x. `slot` is a number that
    /// differs between blocks that run concurrently.
    ///
    /// # Errors
    /// Memory to be written is not there; the block then has a fault.
    fn begin(&self, memory: &Memory, block: usize, slot: usize) -> Result<(), CopyError>;
}

/// Dimensions and limits of a launch. [`LaunchOptions::new`] gives the defaults; callers then set
/// fields.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// Blocks per axis.
    pub grid: [u32; 3],
    /// Lanes of a block per axis.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// Stack of a lane, for calls whose depth the compiler could not know.
    pub stack_bytes: Option<u32>,
    /// Worker threads.
    pub threads: usize,
    /// Other threads use the memory meanwhile: atomics are the host's even if one worker runs.
    pub concurrent: bool,
    pub engine: EngineKind,
    /// If code is made for speed, all of it is made before the launch begins. Otherwise only hot
    /// code is made again for speed.
    pub effort: Effort,
    /// How often the JIT interprets each instruction of a region, on average, before it translates
    /// the region: 0, or [`super::INTERPRETED`] for launches that should end soon. A launch of many
    /// warps interprets no region.
    pub interpreted: u64,
    /// The most guest instructions of warps.
    pub instruction_limit: Option<u64>,
    pub time_limit: Option<Duration>,
    /// All blocks are resident at once and may wait for each other.
    pub cooperative: bool,
    /// The launch ends with a deadlock after no block was able to go on for this time. More than 0
    /// if other threads change the memory meanwhile.
    pub deadlock_after: Duration,
    /// The most bytes that all `printf` of the launch may print. Text that finds no room is
    /// dropped.
    pub printf_bytes: usize,
    /// Texture headers and samplers that handles are indices of.
    pub images: Option<ImagePool>,
    /// Content of constant banks of a Maxwell graphics program, by number.
    pub banks: Vec<(u8, Vec<u8>)>,
    /// An action at the start of each block.
    pub block_start: Option<Arc<dyn BlockStart>>,
    /// The size of the heap of device code. The first launch whose kernel can call `malloc` makes
    /// the heap.
    pub heap_bytes: u64,
}

impl LaunchOptions {
    pub(super) fn shape(&self) -> Dimensions {
        Dimensions { grid: self.grid, block: self.block }
    }

    /// Returns options of one thread and the JIT, without limits.
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> LaunchOptions {
        LaunchOptions {
            grid,
            block,
            shared_bytes: 0,
            stack_bytes: None,
            threads: 1,
            concurrent: false,
            engine: EngineKind::default(),
            effort: Effort::Quick,
            interpreted: 0,
            instruction_limit: None,
            time_limit: None,
            cooperative: false,
            deadlock_after: Duration::ZERO,
            printf_bytes: PRINTF_BYTES,
            heap_bytes: HEAP_BYTES,
            images: None,
            banks: vec![],
            block_start: None,
        }
    }

    /// Returns the number of worker threads that engines must assume.
    pub(super) fn engine_threads(&self) -> usize {
        if self.concurrent { self.threads.max(2) } else { self.threads }
    }
}

/// The outcome of a launch. Its results are in guest memory.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaunchOutcome {
    pub counts: Counts,
    /// Blocks that ended without a fault.
    pub blocks_done: u64,
    pub fault: Option<Fault>,
    /// Whether a block was found to wait in a loop. The number of the loop's rounds depends on the
    /// engine.
    pub spun: bool,
    /// The output of device code. After a fault, only the output of the blocks up to the faulting
    /// block.
    pub printed: Printed,
    /// Time spent on translation for this launch: none if another launch has translated the kernel.
    pub translate: Duration,
    /// Time from the first instruction to the last. On one thread, it excludes translation. On
    /// several threads, some translate while others run.
    pub run: Duration,
    /// The regions of the kernel that the JIT could not compile and interprets instead, with the
    /// reasons.
    pub uncompiled: Vec<String>,
    /// How often each rule of analysis has rewritten something in the kernel, so far.
    pub firings: Firings,
    /// How many pieces of the kernel's code the cache had, so far.
    pub found_in_cache: u64,
}

impl<'p> Kernel<'p> {
    pub fn name(&self) -> &'p str {
        &self.function().name
    }

    /// Returns the binary's information about the kernel.
    pub fn function(&self) -> &'p Function {
        self.program.module().function(self.id)
    }

    /// Lists, as text, the instructions that use a result of memory before the code has waited for
    /// it. Engines have results at once, so that code with this error runs here.
    ///
    /// # Errors
    /// The instruction set has no such check, or the kernel has no code.
    pub fn check_waits(&self) -> Result<Vec<String>, Error> {
        let linked = self.program.linked();
        let code = linked.code(self.id);
        let kernel = Lifting {
            linked,
            kernel: self.id,
            code: &code,
            discovered: &[],
            images: &[],
            purpose: Purpose::Reports,
        };
        let found = self.program.guest().check_waits(&kernel);
        Ok(found.ok_or_else(|| Error::NoCheck { kernel: self.name().into() })??)
    }

    /// Runs the kernel over a grid, to its end or its first fault.
    pub fn launch(&self, args: &[Arg], options: &LaunchOptions) -> Result<LaunchOutcome, Error> {
        self.launch_with_progress(args, options, None)
    }

    /// Runs the kernel as [`Kernel::launch`] does. `progress` is called now and then with the
    /// number of finished blocks and of all blocks.
    pub fn launch_with_progress(
        &self,
        args: &[Arg],
        options: &LaunchOptions,
        progress: Option<&dyn Fn(u64, u64)>,
    ) -> Result<LaunchOutcome, Error> {
        self.in_environment(args, options, |translated, environment| {
            if options.engine == EngineKind::Jit && options.effort.is_fast() {
                translated.compile(options.shape(), options.engine_threads(), options.effort)?;
            }
            let (kind, shape, threads) =
                (options.engine, options.shape(), options.engine_threads());
            let engine = translated.engine(Wanted {
                kind,
                shape,
                threads,
                interpreted: options.interpreted,
            })?;
            self.outcome(translated, &*engine, environment, options, progress)
        })
    }

    /// Runs an engine over the grid.
    pub(super) fn outcome(
        &self,
        translated: &Translated,
        engine: &dyn Engine,
        environment: &Environment,
        options: &LaunchOptions,
        progress: Option<&dyn Fn(u64, u64)>,
    ) -> Result<LaunchOutcome, Error> {
        let before = translated.nanoseconds();
        let start = Instant::now();
        let (outcome, printed, assertion) =
            self.run(translated, engine, &environment.config, options, progress)?;
        let elapsed = start.elapsed();
        let buffered =
            environment.print.as_ref().map(|buffer| buffer.text(self.program)).transpose()?;
        let alone = options.threads <= 1;
        let while_running = if alone { translated.nanoseconds() - before } else { 0 };
        let fault = outcome.fault.map(|fault| Fault::new(fault, assertion, self.program, self.id));
        Ok(LaunchOutcome {
            counts: outcome.counts,
            blocks_done: outcome.blocks_done,
            spun: outcome.spun,
            fault,
            printed: buffered.unwrap_or(printed),
            translate: Duration::from_nanos(translated.take_nanoseconds()),
            run: elapsed.saturating_sub(Duration::from_nanos(while_running)),
            uncompiled: translated.uncompiled(),
            firings: translated.firings(),
            found_in_cache: translated.found_in_cache(),
        })
    }

    /// Translates the kernel ahead of launches of up to 2^14 blocks (along x) of this shape on
    /// `threads` threads, so that they need no translation. With full effort, all its code is
    /// treated as hot. Returns the time that was spent.
    pub fn translate(
        &self,
        block: [u32; 3],
        threads: usize,
        effort: Effort,
    ) -> Result<Duration, Error> {
        let translated = self.program.translated(self.id, &[])?;
        translated.compile(Dimensions::of_blocks(block), threads, effort)?;
        Ok(Duration::from_nanos(translated.take_nanoseconds()))
    }

    /// Returns the kernel at a stage of its translation, as text, for up to 2^14 blocks (along x)
    /// of this shape.
    ///
    /// `target`: the host to translate for, if not this host.
    pub fn dump(
        &self,
        stage: Stage,
        block: [u32; 3],
        target: Option<&Target>,
    ) -> Result<String, Error> {
        self.program.translated(self.id, &[])?.dump(stage, Dimensions::of_blocks(block), target)
    }

    /// Returns how often each rule of analysis rewrites something in the kernel, for launches of up
    /// to 2^14 blocks (along x) of this shape.
    ///
    /// # Errors
    /// The kernel cannot be lifted, or its function does not verify.
    pub fn firings(&self, block: [u32; 3]) -> Result<Firings, Error> {
        self.program.translated(self.id, &[])?.firings_for(Dimensions::of_blocks(block))
    }

    /// Returns the kernel, as a launch specialises it, at a stage of its translation, as text.
    pub fn dump_for(
        &self,
        stage: Stage,
        args: &[Arg],
        options: &LaunchOptions,
        target: Option<&Target>,
    ) -> Result<String, Error> {
        self.in_environment(args, options, |translated, _| {
            translated.dump(stage, options.shape(), target)
        })
    }

    /// Runs an engine over the grid. Returns the outcome, the output, and the condition of a failed
    /// assertion.
    pub(super) fn run(
        &self,
        translated: &Translated,
        engine: &dyn Engine,
        config: &LaunchConfig,
        options: &LaunchOptions,
        progress: Option<&dyn Fn(u64, u64)>,
    ) -> Result<(Outcome, Printed, Option<String>), Error> {
        let memory = self.program.memory();
        if let Some(start) = &options.block_start {
            let engine = Starting { engine, start: &**start };
            return Ok((
                warploom_runtime::launch::launch(memory, &engine, config, progress)?,
                Printed::default(),
                None,
            ));
        }
        if !translated.asks_host() {
            return Ok((
                warploom_runtime::launch::launch(memory, engine, config, progress)?,
                Printed::default(),
                None,
            ));
        }
        let serving = Serving::new(
            engine,
            self.program.heap(options.heap_bytes)?,
            options.printf_bytes,
            options.time_limit,
        );
        let outcome = warploom_runtime::launch::launch(memory, &serving, config, progress)?;
        let (printed, assertion) =
            serving.end(outcome.fault.as_ref().map(|fault| linear(fault.block, options.grid)));
        Ok((outcome, printed, assertion))
    }

    /// Checks a launch, prepares its environment, and calls `run` with the specialised kernel and
    /// the environment. The launch's resources are given back in any case.
    pub(super) fn in_environment<T>(
        &self,
        args: &[Arg],
        options: &LaunchOptions,
        run: impl FnOnce(&Arc<Translated>, &mut Environment) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut environment =
            self.program.guest().environment(&Launching { kernel: self, args, options })?;
        let result = self.program.translated(self.id, &environment.images).and_then(|translated| {
            if translated.asks_host() {
                let bytes = &mut environment.config.local_bytes;
                *bytes = bytes.saturating_add(SERVICE_BYTES);
            } else if !translated.reaches_local() {
                // Local memory would be zeroed for each warp.
                environment.config.local_bytes = 0;
            }
            run(&translated, &mut environment)
        });
        let released = self.release(environment);
        let result = result?;
        released?;
        Ok(result)
    }

    /// Gives back the resources of a launch.
    fn release(&self, environment: Environment) -> Result<(), Error> {
        environment.lent.into_iter().for_each(|pages| self.program.give_back(pages));
        environment
            .held
            .iter()
            .try_for_each(|&address| Ok(self.program.memory().release_later(address)?))
    }
}

/// An engine for blocks that begin with an action.
struct Starting<'a> {
    engine: &'a dyn Engine,
    start: &'a dyn BlockStart,
}

impl Engine for Starting<'_> {
    fn lanes(&self) -> u32 {
        self.engine.lanes()
    }

    fn register_file_bytes(&self) -> usize {
        self.engine.register_file_bytes()
    }

    fn run(&self, context: &mut WarpContext<'_>) -> ExitCode {
        if context.resume == 0 && context.warp() == 0 {
            let [block, ..] = context.ctaid();
            let begun = self.start.begin(context.memory(), block as usize, context.slot() as usize);
            if let Err(CopyError { address, .. }) = begun {
                return context.set_fault(
                    FaultKind::AddressOutOfRange,
                    0,
                    self.block_pc(0),
                    address,
                );
            }
            context.stay_in_block();
        }
        self.engine.run(context)
    }

    fn block_pc(&self, block: u32) -> u64 {
        self.engine.block_pc(block)
    }

    fn outside(&self) -> Option<u64> {
        self.engine.outside()
    }

    fn deadlocked(&self, context: &mut WarpContext<'_>) -> Vec<(u64, u64)> {
        self.engine.deadlocked(context)
    }
}
