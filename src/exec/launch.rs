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

use super::guest::{Environment, Launching, Lifting};
use super::services::{Printed, Serving, linear};
use super::translate::{Dimensions, Translated, Wanted};
use super::{EngineKind, Error, Fault, Kernel, Stage};

/// What device code may print in one launch, and its heap, in bytes: the driver's defaults.
const PRINTF_BYTES: usize = 1 << 20;
const HEAP_BYTES: u64 = 8 << 20;

/// Bytes of one argument, as they lie in the parameter block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    content: ArgContent,
    /// Of a buffer that it is the address of, how many bytes there are.
    extent: Option<u64>,
}

/// What stands for an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArgContent {
    Bytes(Vec<u8>),
    /// So many bytes of dynamic shared memory, of which the kernel gets the offset.
    Local(u32),
}

impl Arg {
    /// A guest address.
    pub fn pointer(address: u64) -> Arg {
        Arg::bytes(address.to_le_bytes())
    }

    /// The guest address of a buffer of so many bytes: where kernels get a surface that covers it, that ends there.
    pub fn buffer(address: u64, bytes: u64) -> Arg {
        Arg { extent: Some(bytes), ..Arg::pointer(address) }
    }

    /// A structure.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Arg {
        Arg { content: ArgContent::Bytes(bytes.into()), extent: None }
    }

    /// So many bytes of dynamic shared memory of each block: a `local` pointer of OpenCL.
    pub fn local(bytes: u32) -> Arg {
        Arg { content: ArgContent::Local(bytes), extent: None }
    }

    /// What is passed; none of dynamic shared memory.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &self.content {
            ArgContent::Bytes(bytes) => Some(bytes),
            ArgContent::Local(_) => None,
        }
    }

    pub(super) fn content(&self) -> &ArgContent {
        &self.content
    }

    /// Of a buffer, how many bytes there are from the address on, if that is known.
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

/// Where a driver has put the descriptors of images and samplers. They are read when a launch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImagePool {
    /// Guest address of texture headers of 32 bytes, and the last one's index (`MaximumIndex`).
    pub headers: u64,
    pub last_header: u32,
    /// The same of samplers.
    pub samplers: u64,
    pub last_sampler: u32,
}

/// Something that is done when a block begins, before its first instruction: a graphics pipeline hands over pixels.
pub trait BlockStart: std::fmt::Debug + Send + Sync {
    /// `block`: its number in the grid, along x. `slot`: a number that no other block has that runs at the same time.
    ///
    /// # Errors
    /// Memory that is to be written is not there: the block has a fault.
    fn begin(&self, memory: &Memory, block: usize, slot: usize) -> Result<(), CopyError>;
}

/// Dimensions and limits of a launch. [`LaunchOptions::new`] has the defaults; the fields are then set.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// Blocks per axis.
    pub grid: [u32; 3],
    /// Lanes of a block per axis.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// Stack of a lane for calls whose depth the compiler could not know.
    pub stack_bytes: Option<u32>,
    /// Worker threads.
    pub threads: usize,
    /// Others use the memory meanwhile: atomics are the host's even where one worker runs.
    pub concurrent: bool,
    pub engine: EngineKind,
    /// If code is made for speed, all is made so before the launch begins; else what proves hot is made again.
    pub effort: Effort,
    /// How often the JIT interprets each instruction of a region, on average, before it translates the region: 0, or
    /// [`super::INTERPRETED`] where a launch is to be over soon. A launch of many warps has no region interpreted.
    pub interpreted: u64,
    /// Guest instructions (of warps).
    pub instruction_limit: Option<u64>,
    pub time_limit: Option<Duration>,
    /// All blocks are resident at once and may wait for each other.
    pub cooperative: bool,
    /// For how long no block may have been able to go on for the launch to end with a deadlock.
    /// More than 0 if others change the memory meanwhile.
    pub deadlock_after: Duration,
    /// What all `printf` of the launch may print; what finds no room is dropped.
    pub printf_bytes: usize,
    /// Texture headers and samplers that handles are indices of.
    pub images: Option<ImagePool>,
    /// Content of constant banks of a graphics program of Maxwell, by number.
    pub banks: Vec<(u8, Vec<u8>)>,
    /// An action at the start of each block.
    pub block_start: Option<Arc<dyn BlockStart>>,
    /// The heap of device code, which the first launch makes whose kernel can call `malloc`.
    pub heap_bytes: u64,
}

impl LaunchOptions {
    pub(super) fn shape(&self) -> Dimensions {
        Dimensions { grid: self.grid, block: self.block }
    }

    /// One thread, the JIT, no limits.
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

    /// Worker threads that engines must reckon with.
    fn engine_threads(&self) -> usize {
        if self.concurrent { self.threads.max(2) } else { self.threads }
    }
}

/// What a launch came to. Its results are in guest memory.
#[derive(Clone, Debug)]
pub struct LaunchOutcome {
    pub counts: Counts,
    /// Blocks that ended without a fault.
    pub blocks_done: u64,
    pub fault: Option<Fault>,
    /// Whether a block was found to wait in a loop: how often that went round depends on the
    /// engine.
    pub spun: bool,
    /// What device code printed: with a fault, in the blocks up to the faulting one.
    pub printed: Printed,
    /// Spent on translation for this launch: nothing if another has done it already.
    pub translate: Duration,
    /// From the first instruction to the last; on one thread less what was spent on translation meanwhile. On several, some
    /// translate while others run.
    pub run: Duration,
    /// What of the kernel the JIT could make no code for and interprets instead, and why.
    pub uncompiled: Vec<String>,
    /// How often each rule of analysis has rewritten something in the kernel, so far.
    pub rules: Firings,
    /// How many pieces of the kernel's code the cache had, so far.
    pub found_in_cache: u64,
}

impl<'p> Kernel<'p> {
    pub fn name(&self) -> &'p str {
        &self.function().name
    }

    /// What the binary says about the kernel.
    pub fn function(&self) -> &'p Function {
        self.program.module().function(self.id)
    }

    /// What uses a result of memory before the code has waited for it, in words. Engines have results at once, so that such
    /// code runs here.
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
            plain: true,
        };
        let found = self.program.guest().check_waits(&kernel);
        Ok(found.ok_or_else(|| Error::NoCheck { kernel: self.name().into() })??)
    }

    /// Runs the kernel over a grid, to its end or its first fault.
    pub fn launch(&self, args: &[Arg], options: &LaunchOptions) -> Result<LaunchOutcome, Error> {
        self.launch_with_progress(args, options, None)
    }

    /// As [`Kernel::launch`]; `progress` is called now and then with the blocks done and their number.
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
            let before = translated.nanoseconds();
            let start = Instant::now();
            let (outcome, printed, assertion) =
                self.run(translated, &*engine, &environment.config, options, progress)?;
            let elapsed = start.elapsed();
            let buffered =
                environment.print.as_ref().map(|buffer| buffer.text(self.program)).transpose()?;
            let alone = options.threads <= 1;
            let while_running = if alone { translated.nanoseconds() - before } else { 0 };
            let fault =
                outcome.fault.map(|fault| Fault::new(fault, assertion, self.program, self.id));
            Ok(LaunchOutcome {
                counts: outcome.counts,
                blocks_done: outcome.blocks_done,
                spun: outcome.spun,
                fault,
                printed: buffered.unwrap_or(printed),
                translate: Duration::from_nanos(translated.take_nanoseconds()),
                run: elapsed.saturating_sub(Duration::from_nanos(while_running)),
                uncompiled: translated.uncompiled(),
                rules: translated.firings(),
                found_in_cache: translated.found_in_cache(),
            })
        })
    }

    /// Translates the kernel ahead of its launches of up to 2^14 blocks (along x) of this shape on so many threads, which then need not.
    /// With full effort, it is as if all its code had proved hot. Gives the time that was spent.
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

    /// The kernel at a stage of its translation for up to 2^14 blocks (along x) of this shape, as text.
    ///
    /// `target`: the host to translate for, if not this one.
    pub fn dump(
        &self,
        stage: Stage,
        block: [u32; 3],
        target: Option<&Target>,
    ) -> Result<String, Error> {
        self.program.translated(self.id, &[])?.dump(stage, Dimensions::of_blocks(block), target)
    }

    /// How often each rule of analysis rewrites something in the kernel, for launches of up to 2^14 blocks (along x) of
    /// this shape.
    ///
    /// # Errors
    /// The kernel cannot be lifted, or its function does not verify.
    pub fn firings(&self, block: [u32; 3]) -> Result<Firings, Error> {
        self.program.translated(self.id, &[])?.firings_for(Dimensions::of_blocks(block))
    }

    /// The same of the kernel as a launch specialises it.
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

    /// Runs an engine over the grid. The outcome, what was printed, and the condition that a faulting assertion names.
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

    /// Checks a launch, lays out what the kernel will find, and does something with that and the kernel as it is for it.
    /// What the launch held is given back, whatever came of it.
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
                // It would be zeroed for each warp.
                environment.config.local_bytes = 0;
            }
            run(&translated, &mut environment)
        });
        let released = self.release(environment);
        let result = result?;
        released?;
        Ok(result)
    }

    /// Gives back what a launch held.
    fn release(&self, environment: Environment) -> Result<(), Error> {
        environment.lent.into_iter().for_each(|pages| self.program.give_back(pages));
        environment
            .held
            .iter()
            .try_for_each(|&address| Ok(self.program.memory().release_later(address)?))
    }
}

/// An engine for blocks that begin with something.
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
