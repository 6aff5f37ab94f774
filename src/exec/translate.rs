//! Engines for a kernel, made once and kept.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Instant;

use warploom_analysis::{Firings, Launched, Rules, rewrite_function};
use warploom_container::{Code, FunctionId, Linked};
use warploom_cranelift::executed::Counting;
use warploom_cranelift::{Target, dump};
use warploom_engine::{Backend, CodeStore, Effort, JitError};
use warploom_interp::{InterpError, Interpreter};
use warploom_ir::layout::RegLayout;
use warploom_ir::special::{self, Reciprocals};
use warploom_ir::{BlockId, Function, Terminator};
use warploom_runtime::launch::Engine;
use warploom_runtime::warp::{ExitCode, WarpContext};

use super::check::CheckedCopy;
use super::guest::{self, Guest, KnownImages, Lifting, Purpose, instructions};
use super::{EngineKind, Error, lock};

/// A stage of a translation that can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Guest instructions, block by block.
    Blocks,
    Ir,
    /// The IR from which code is made.
    Analysed,
    /// The steps of each block, and the order that code runs them in.
    Plan(Effort),
    /// The IR of Cranelift, as made with some effort.
    Clif(Effort),
    /// Host code.
    Host(Effort),
}

/// Choices for the translations of a kernel.
pub(super) struct Settings {
    /// The images for which the kernel is specialised.
    pub images: KnownImages,
    pub reciprocals: Reciprocals,
    pub backend: Arc<dyn Backend>,
    pub cache: Option<Arc<dyn CodeStore>>,
}

impl Settings {
    /// Rewrites a lifted function for all engines. Returns the counts of the rules.
    fn rewrite(&self, function: &mut Function) -> Result<Firings, Error> {
        if self.reciprocals == Reciprocals::Table {
            special::use_tables(function);
        }
        Ok(rewrite_function(function, Rules::of_environment()?).map_err(InterpError::from)?)
    }
}

/// A kernel's translations.
pub(super) struct Translated {
    linked: Arc<Linked>,
    kernel: FunctionId,
    code: Code,
    settings: Settings,
    asks_host: bool,
    reaches_local: bool,
    current: RwLock<Arc<Generation>>,
    /// Nanoseconds spent on lifting, and on engines of earlier generations.
    spent: AtomicU64,
    /// The part of all nanoseconds that [`Translated::take_nanoseconds`] has returned.
    taken: AtomicU64,
    /// Copies of the kernel for launches with checks.
    copies: Mutex<Vec<Arc<CheckedCopy>>>,
}

/// The kernel as far as it is known. A later generation has more blocks, found by indirect jumps,
/// and the registers of the earlier generations.
struct Generation {
    function: Arc<Function>,
    /// Counts of the rules that change the function for all engines.
    firings: Firings,
    jit: warploom_engine::Kernel,
    interpreter: OnceLock<Arc<Interpreter>>,
    discovered: Vec<u64>,
}

/// The most addresses that indirect jumps may add to a kernel.
const MAX_DISCOVERED: usize = 1024;

impl Translated {
    pub fn new(
        linked: Arc<Linked>,
        kernel: FunctionId,
        settings: Settings,
    ) -> Result<Translated, Error> {
        let code = linked.code(kernel);
        let start = Instant::now();
        let first = Generation::new(&linked, kernel, &code, &settings, vec![])?;
        let spent = AtomicU64::new(start.elapsed().as_nanos() as u64);
        // Stand-ins are known from the first generation on, unlike other targets of indirect jumps.
        let (asks_host, reaches_local) =
            (first.function.asks_host(), first.function.reaches_local());
        let current = RwLock::new(Arc::new(first));
        let taken = AtomicU64::new(0);
        Ok(Translated {
            linked,
            kernel,
            code,
            settings,
            asks_host,
            reaches_local,
            current,
            spent,
            taken,
            copies: Mutex::default(),
        })
    }

    fn current(&self) -> Arc<Generation> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of addresses that indirect jumps have added, and the copies of the kernel
    /// for launches with checks.
    pub fn copies(&self) -> (usize, &Mutex<Vec<Arc<CheckedCopy>>>) {
        (self.current().discovered.len(), &self.copies)
    }

    /// Returns the kernel in blocks of consecutive instructions.
    pub fn plain(&self) -> Result<Function, Error> {
        self.lifted(Purpose::Reports)
    }

    /// Returns the kernel as it was lifted for a purpose.
    fn lifted(&self, purpose: Purpose) -> Result<Function, Error> {
        let (linked, discovered) = (&*self.linked, &self.current().discovered);
        let (kernel, code, images) = (self.kernel, &self.code, &self.settings.images);
        let lifting = Lifting { linked, kernel, code, discovered, images, purpose };
        Ok(guest::of(linked.module().isa).lift(&lifting)?)
    }

    /// Returns the kernel for checks, with the same results as that of launches.
    pub fn for_checks(&self) -> Result<Function, Error> {
        let mut function = self.lifted(Purpose::Checks)?;
        self.settings.rewrite(&mut function)?;
        Ok(function)
    }

    /// Returns whether the kernel may ask for a service.
    pub fn asks_host(&self) -> bool {
        self.asks_host
    }

    /// Returns whether a launch needs local memory. The binary may ask for memory that is never
    /// used, mostly a stack with room for calls.
    pub fn reaches_local(&self) -> bool {
        self.reaches_local
    }

    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Returns an engine for launches of this shape on so many threads.
    pub fn engine(self: &Arc<Self>, wanted: Wanted) -> Result<Arc<dyn Engine + Send>, Error> {
        let generation = self.current();
        let engine: Arc<dyn Engine + Send> = match wanted.kind {
            EngineKind::Interp => self.interpreter(&generation)?,
            EngineKind::Jit => wanted
                .program(&generation)
                .map_err(|problem| generation.untranslatable(&problem))?,
        };
        let indirect = |b: &warploom_ir::Block| matches!(b.term, Terminator::Indirect { .. });
        if !generation.function.blocks.iter().any(indirect) {
            return Ok(engine);
        }
        let blocks = generation.function.blocks.len() as u32;
        let layout = RegLayout::new(&generation.function).map_err(InterpError::from)?;
        Ok(Arc::new(Discovering {
            translated: self.clone(),
            wanted,
            engine,
            blocks,
            layout,
            grown: Mutex::default(),
        }))
    }

    /// Makes all code now that launches of this shape on `threads` threads would make when they
    /// first need it, or when it is hot.
    pub fn compile(&self, shape: Dimensions, threads: usize, effort: Effort) -> Result<(), Error> {
        let generation = self.current();
        let program = generation
            .jit
            .program(shape.grid, shape.block, threads)
            .map_err(|problem| generation.untranslatable(&problem))?;
        program.compile_all(effort).map_err(|problem| generation.untranslatable(problem))
    }

    /// Returns an engine for launches of this shape on one thread that counts host instructions.
    pub fn counting(&self, shape: Dimensions) -> Result<Counting, Error> {
        let generation = self.current();
        let launch = Launched::of(
            shape.grid,
            shape.block,
            generation.function.lanes.into(),
            warploom_cranelift::CHUNK,
        );
        Counting::new(&generation.function, launch)
            .map_err(|problem| generation.untranslatable(&problem))
    }

    fn interpreter(&self, generation: &Generation) -> Result<Arc<Interpreter>, Error> {
        if let Some(interpreter) = generation.interpreter.get() {
            return Ok(interpreter.clone());
        }
        let start = Instant::now();
        let interpreter = Arc::new(Interpreter::new(generation.function.clone())?);
        self.spent.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        Ok(generation.interpreter.get_or_init(|| interpreter).clone())
    }

    /// Lists the regions that could not be compiled so far, with the reasons.
    pub fn uncompiled(&self) -> Vec<String> {
        self.current().jit.uncompiled()
    }

    /// Returns how often each rule of analysis has rewritten something so far.
    pub fn firings(&self) -> Firings {
        let generation = self.current();
        let mut firings = generation.firings.clone();
        firings.add(&generation.jit.firings());
        firings
    }

    /// Returns the nanoseconds spent on translation in all.
    pub fn nanoseconds(&self) -> u64 {
        self.spent.load(Relaxed) + self.current().jit.translate_ns()
    }

    /// Returns how many pieces of code the cache had, for the blocks that are known now.
    pub fn found_in_cache(&self) -> u64 {
        self.current().jit.found_in_cache()
    }

    /// Returns the nanoseconds spent on translation since the last call.
    pub fn take_nanoseconds(&self) -> u64 {
        let now = self.nanoseconds();
        now.saturating_sub(self.taken.swap(now, Relaxed))
    }

    /// Returns a generation that knows the block at this address, if possible.
    fn grown(&self, pc: u64) -> Option<Arc<Generation>> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.block_at(pc).is_some() {
            return Some(current.clone());
        }
        let guest = guest::of(self.linked.module().isa);
        guest.instruction(&self.code, pc).filter(|_| current.discovered.len() < MAX_DISCOVERED)?;
        let start = Instant::now();
        let discovered = current.discovered.iter().copied().chain([pc]).collect();
        let next =
            Generation::new(&self.linked, self.kernel, &self.code, &self.settings, discovered)
                .ok()?;
        self.spent
            .fetch_add(start.elapsed().as_nanos() as u64 + current.jit.translate_ns(), Relaxed);
        *current = Arc::new(next);
        Some(current.clone())
    }
}

impl Generation {
    fn untranslatable(&self, problem: &JitError) -> Error {
        Error::Stage {
            kernel: self.function.name.clone(),
            stage: "translation".into(),
            problem: problem.to_string(),
        }
    }

    fn new(
        linked: &Linked,
        kernel: FunctionId,
        code: &Code,
        settings: &Settings,
        discovered: Vec<u64>,
    ) -> Result<Generation, Error> {
        let Settings { images, backend, cache, .. } = settings;
        let guest = guest::of(linked.module().isa);
        let mut function = guest.lift(&Lifting {
            linked,
            kernel,
            code,
            discovered: &discovered,
            images,
            purpose: Purpose::Launches,
        })?;
        let firings = settings.rewrite(&mut function)?;
        let function = Arc::new(function);
        let jit = warploom_engine::Kernel::new(function.clone(), backend.clone())
            .with_cache(cache.clone());
        Ok(Generation { function, firings, jit, interpreter: OnceLock::new(), discovered })
    }

    fn block_at(&self, pc: u64) -> Option<BlockId> {
        self.function.indirect_targets().find(|&(at, _)| at == pc).map(|(_, block)| block)
    }
}

/// An engine for a function with indirect jumps. If a jump goes to unknown code, the code is
/// lifted, and the warp goes on in the larger kernel. Waiting warps go on in their own generation:
/// each generation numbers its blocks behind the blocks of the generation before.
struct Discovering {
    translated: Arc<Translated>,
    wanted: Wanted,
    engine: Arc<dyn Engine + Send>,
    /// The number of blocks of `engine`.
    blocks: u32,
    /// The places of registers in every generation: warps keep their register file between
    /// generations.
    layout: RegLayout,
    /// The generations beyond the first that have warps, and the newest generation.
    grown: Mutex<Vec<Arc<Grown>>>,
}

/// Blocks of a launch, and lanes of a block, per axis.
#[derive(Clone, Copy)]
pub struct Dimensions {
    pub grid: [u32; 3],
    pub block: [u32; 3],
}

impl Dimensions {
    /// Returns the dimensions of launches with few blocks of this size.
    pub fn of_blocks(block: [u32; 3]) -> Dimensions {
        Dimensions { grid: [1; 3], block }
    }
}

/// The launches that an engine is made for.
pub(super) struct Wanted {
    pub kind: EngineKind,
    pub shape: Dimensions,
    pub threads: usize,
    /// How often the JIT interprets instructions before it translates them: see
    /// [`super::LaunchOptions::interpreted`].
    pub interpreted: u64,
}

impl Wanted {
    /// Returns native code of a generation.
    fn program(&self, generation: &Generation) -> Result<Arc<dyn Engine + Send>, JitError> {
        let program = generation.jit.program(self.shape.grid, self.shape.block, self.threads)?;
        Ok(match self.interpreted {
            0 => program,
            rounds => Arc::new(warploom_engine::Deferred { program, rounds }),
        })
    }
}

/// A generation that a launch has found. It is interpreted until interpretation has taken longer
/// than translation will.
struct Grown {
    generation: Arc<Generation>,
    /// The number of its first block.
    first: u32,
    interpreter: Arc<Interpreter>,
    native: OnceLock<Option<Arc<dyn Engine + Send>>>,
    /// Warps that run or wait in this generation.
    warps: AtomicUsize,
    /// Guest instructions of warps that were interpreted.
    interpreted: AtomicU64,
    /// Guest instructions of the kernel.
    size: u64,
}

/// The most guest instructions of the generations that a launch keeps. Each takes about a kilobyte.
const MAX_KEPT: u64 = 1 << 22;

/// How often each of a kernel's instructions is interpreted, on average, before the kernel is
/// translated. Interpreting an instruction for a warp takes microseconds, translating it some ten.
const GROWN_INTERPRETED: u64 = 4;

impl Discovering {
    /// Returns the generation that has a block, or `None` for the first generation.
    fn generation_of(&self, block: u32) -> Option<Arc<Grown>> {
        lock(&self.grown).iter().rev().find(|grown| grown.first <= block).cloned()
    }

    /// Returns a generation that knows the code at an address, and the block there, for a warp that
    /// leaves the generation `before`.
    fn discover(&self, pc: u64, before: Option<&Grown>) -> Option<(Arc<Grown>, BlockId)> {
        let mut all = lock(&self.grown);
        if let Some(before) = before {
            before.warps.fetch_sub(1, Relaxed);
        }
        if let Some(newest) = all.last()
            && let Some(block) = newest.interpreter.indirect_target(pc)
        {
            newest.warps.fetch_add(1, Relaxed);
            return Some((newest.clone(), block));
        }
        let generation = self.translated.grown(pc)?;
        let interpreter = self.translated.interpreter(&generation).ok()?;
        assert_eq!(
            *interpreter.layout(),
            self.layout,
            "a generation has the registers of the one before"
        );
        let block = interpreter.indirect_target(pc)?;
        let first =
            all.last().map_or(Some(self.blocks), |last| last.first.checked_add(last.blocks()))?;
        let size: u64 = generation.function.blocks.iter().map(|block| u64::from(block.cost)).sum();
        all.retain(|grown| grown.warps.load(Relaxed) > 0);
        if all.iter().map(|grown| grown.size).sum::<u64>() + size > MAX_KEPT {
            return None;
        }
        let (native, warps, interpreted) =
            (OnceLock::new(), AtomicUsize::new(1), AtomicU64::new(0));
        let grown =
            Arc::new(Grown { generation, first, interpreter, native, warps, interpreted, size });
        all.push(grown.clone());
        Some((grown, block))
    }
}

impl Grown {
    fn blocks(&self) -> u32 {
        self.generation.function.blocks.len() as u32
    }

    fn run(&self, wanted: &Wanted, context: &mut WarpContext) -> ExitCode {
        if wanted.kind == EngineKind::Jit
            && self.interpreted.load(Relaxed) > GROWN_INTERPRETED * self.size
            && let Some(native) = self.native.get_or_init(|| wanted.program(&self.generation).ok())
        {
            return native.run(context);
        }
        let before = context.instructions;
        let code = self.interpreter.run(context);
        self.interpreted.fetch_add(context.instructions - before, Relaxed);
        code
    }
}

impl Engine for Discovering {
    fn lanes(&self) -> u32 {
        self.engine.lanes()
    }

    fn register_file_bytes(&self) -> usize {
        self.engine.register_file_bytes()
    }

    fn run(&self, context: &mut WarpContext) -> ExitCode {
        // Other warps may be in other generations.
        context.stay_in_warp();
        let mut grown = self.generation_of(context.resume);
        loop {
            let first = grown.as_ref().map_or(0, |grown| grown.first);
            context.resume = context.resume.wrapping_sub(first);
            let code = match &grown {
                Some(grown) => grown.run(&self.wanted, context),
                None => self.engine.run(context),
            };
            context.resume = context.resume.wrapping_add(first);
            match code {
                ExitCode::UnknownPc => {}
                ExitCode::Done | ExitCode::Fault => {
                    if let Some(grown) = grown {
                        grown.warps.fetch_sub(1, Relaxed);
                    }
                    return code;
                }
                ExitCode::Barrier | ExitCode::Yield | ExitCode::Service | ExitCode::Grow => {
                    return code;
                }
            }
            let Some((next, block)) = self.discover(context.indirect_pc, grown.as_deref()) else {
                return code;
            };
            context.resume = next.first + block.0;
            grown = Some(next);
        }
    }

    fn block_pc(&self, block: u32) -> u64 {
        match self.generation_of(block) {
            Some(grown) => grown.interpreter.block_pc(block - grown.first),
            None => self.engine.block_pc(block),
        }
    }

    fn outside(&self) -> Option<u64> {
        let grown = lock(&self.grown);
        let mut generations = grown.iter().map(|grown| grown.interpreter.outside());
        // A new generation is a change of the state.
        generations.try_fold(self.engine.outside()?, |sum, outside| Some(sum + outside? + 1))
    }

    fn deadlocked(&self, context: &mut WarpContext<'_>) -> Vec<(u64, u64)> {
        match self.generation_of(context.resume) {
            Some(grown) => {
                context.resume -= grown.first;
                let waiting = grown.interpreter.deadlocked(context);
                context.resume += grown.first;
                waiting
            }
            None => self.engine.deadlocked(context),
        }
    }
}

impl Translated {
    /// Returns how often each rule of analysis rewrites something for launches of this shape.
    pub fn firings_for(&self, shape: Dimensions) -> Result<Firings, Error> {
        let generation = self.current();
        let program = generation.jit.program(shape.grid, shape.block, 1);
        let program = program.map_err(|problem| generation.untranslatable(&problem))?;
        let mut firings = generation.firings.clone();
        firings.add(program.firings());
        Ok(firings)
    }

    /// Returns the kernel at a stage, as text. `target`: the host to translate for, if not this
    /// host.
    pub fn dump(
        &self,
        stage: Stage,
        shape: Dimensions,
        target: Option<&Target>,
    ) -> Result<String, Error> {
        let generation = self.current();
        let failed = |e: JitError| Error::Stage {
            kernel: generation.function.name.clone(),
            stage: "translation".into(),
            problem: e.to_string(),
        };
        let program = || generation.jit.program(shape.grid, shape.block, 1).map_err(failed);
        let known_target = || target.map_or_else(|| Target::host().map_err(failed), Ok);
        match stage {
            Stage::Blocks => {
                Ok(blocks(guest::of(self.linked.module().isa), &self.plain()?, &self.code))
            }
            Stage::Ir => Ok(generation.function.to_string()),
            Stage::Analysed => Ok(program()?.function().to_string()),
            Stage::Plan(effort) => Ok(dump::plan(&*program()?, effort, known_target()?)),
            Stage::Clif(effort) => Ok(dump::clif(&*program()?, effort, known_target()?)),
            Stage::Host(effort) => match target {
                Some(target) => dump::host(&*program()?, effort, target).map_err(failed),
                None => program()?.listing(effort).map_err(failed),
            },
        }
    }
}

/// Lists the guest instructions of each block, and its successors.
fn blocks(guest: &dyn Guest, function: &Function, code: &Code) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    for (i, block) in function.blocks.iter().enumerate() {
        let indirect = if block.indirect_target { ", indirect target" } else { "" };
        // Writing to a string does not fail.
        let _ = writeln!(out, "b{i}: pc {:#x}, {} instructions{indirect}", block.pc, block.cost);
        for placed in instructions(guest, code, block.pc, block.cost) {
            let _ = writeln!(out, "    {:06x}  {}", placed.pc, placed.text);
        }
        let _ = writeln!(out, "    -> {}", warploom_ir::print::TermOf(function, &block.term));
    }
    out
}
