//! The Cranelift engine.
//!
//! A [`Kernel`] holds the programs made of one function, one for each [`LaunchClass`] that launches have asked for. A
//! [`Program`] is an engine for the runtime: it compiles a region of blocks when it is first entered and runs warps in
//! it, and once more when it is hot (`tier`). `plan` decides about a block, `lower` makes CLIF of a region, `code` holds
//! the machine code, `cache` keeps it on disk, `helpers` has the functions that code calls, and `descriptions` the
//! instructions that it calls them for. `dump` shows CLIF and code, `size` and `executed` count instructions.

mod abi;
pub mod cache;
mod code;
mod descriptions;
pub mod dump;
pub mod executed;
mod exit_masks;
mod forms;
mod helpers;
mod lower;
mod plan;
mod product;
pub mod size;
mod target;
mod tier;
mod tuning;
#[cfg(all(feature = "vector", target_arch = "x86_64"))]
pub mod vector;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use warploom_runtime::launch::Engine;
use warploom_runtime::warp::{ExitCode, WarpContext};

use cache::{Cache, Entry, Key};
use code::{CodeModule, MachineCode};
use cranelift_entity::PrimaryMap;
use descriptions::Descriptions;
use executed::Counting;
use lower::{Lowered, lower_region};
use plan::BlockPlan;
use rustc_hash::FxHashSet;
pub use target::{HOST_FEATURES, Target};
pub use tier::Effort;
use tier::{Compiled, Region};
pub use tuning::INTERPRETED;
use warploom_analysis::{self as analysis, Flow, LaunchClass, Launched};
use warploom_interp::{InterpError, Interpreter};
use warploom_ir::layout::RegLayout;
use warploom_ir::{BlockId, Function, Op, Reg, Terminator};

/// Why a function could not be translated.
#[derive(Debug, thiserror::Error)]
pub enum JitError {
    #[error(transparent)]
    Function(#[from] InterpError),
    #[error("this host is not supported by the code generator: {0}")]
    Host(String),
    #[error("the code generator rejected a region: {0}")]
    Codegen(String),
    #[error("code of a region takes {bytes} bytes of stack; at most {max} are supported")]
    Frame { bytes: u32, max: u32 },
    #[error("code could not be put in its place: {0}")]
    Module(String),
    #[error("the trampolines of the helpers could not be made: {0}")]
    Trampoline(String),
    #[error("the register file of {kernel} with its spill slots has {bytes} bytes; at most {max} are supported")]
    RegisterFile { kernel: String, bytes: usize, max: usize },
}

impl From<cranelift_module::ModuleError> for JitError {
    fn from(error: cranelift_module::ModuleError) -> JitError {
        JitError::Module(error.to_string())
    }
}

/// Bytes of the host's stack for code of a region: threads may have 2 MiB.
const MAX_FRAME: u32 = 1 << 18;

/// A register file with its spill slots.
const MAX_REGISTER_FILE: usize = 1 << 25;

/// One function translated for one class of launches: an engine.
pub struct Program {
    function: Arc<Function>,
    flow: Flow,
    in_loops: PrimaryMap<BlockId, bool>,
    launch: Launched,
    read_first: Vec<Reg>,
    liveness: analysis::Liveness,
    one_worker: bool,
    register_file_bytes: usize,
    code: CodeModule,
    regions: Vec<Region>,
    region_of: Vec<usize>,
    /// Registers that are written in loops.
    written_in_loops: OnceLock<FxHashSet<Reg>>,
    /// Of each block, for code made quickly and for code made for speed.
    plans: [OnceLock<PrimaryMap<BlockId, BlockPlan>>; 2],
    translate_ns: AtomicU64,
    cache: Option<Cached>,
    /// Whether code for speed is made by the vector back end where that can.
    #[cfg(all(feature = "vector", target_arch = "x86_64"))]
    vector: bool,
    /// Goes on where code could not be made, and does what code leaves to it.
    interpreter: Arc<Interpreter>,
}

/// Where code of a program is kept.
struct Cached {
    cache: Arc<Cache>,
    key: Key,
    /// Regions whose code was there.
    found: AtomicU64,
}

impl Program {
    pub fn new(function: &Function, launch: impl Into<Launched>, one_worker: bool) -> Result<Program, JitError> {
        Program::in_regions(function, launch.into(), one_worker, tuning::REGION_INSTS)
    }

    /// A program whose regions have more than one block only if they have at most so many
    /// instructions.
    fn in_regions(
        function: &Function,
        launch: Launched,
        one_worker: bool,
        region_insts: usize,
    ) -> Result<Program, JitError> {
        let start = Instant::now();
        // A host that no code can be made for is told of here.
        let code = CodeModule::new()?;
        let analysis::Optimized { function, flow, read_first, liveness } =
            analysis::optimize(function).map_err(InterpError::from)?;
        let function = Arc::new(function);
        let interpreter = Arc::new(Interpreter::new(function.clone())?);
        let (regions, region_of) = divide(&function, region_insts);
        let in_loops = analysis::in_loops(&function, &flow);
        let has_indirect = function.blocks.iter().any(|block| matches!(block.term, Terminator::Indirect { .. }));
        let region = |blocks: Vec<BlockId>| {
            let cost = |&id: &BlockId| (u64::from(function.block(id).cost), in_loops[id]);
            let costs: Vec<(u64, bool)> = blocks.iter().map(cost).collect();
            Region::new(blocks, costs.into_iter(), function.lanes.into(), has_indirect)
        };
        let mut program = Program {
            regions: regions.into_iter().map(region).collect(),
            in_loops,
            written_in_loops: OnceLock::new(),
            plans: Default::default(),
            read_first,
            liveness,
            flow,
            launch,
            one_worker,
            register_file_bytes: 0,
            code,
            region_of,
            translate_ns: AtomicU64::new(0),
            cache: None,
            #[cfg(all(feature = "vector", target_arch = "x86_64"))]
            vector: vector::is_wanted(),
            interpreter,
            function,
        };
        let slots = program.plans(Effort::Quick).values().map(|plan| plan.bytes).max();
        program.register_file_bytes = slots.unwrap_or(program.layout().bytes() as usize).next_multiple_of(64);
        program.check_register_file(program.register_file_bytes)?;
        program.translate_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        Ok(program)
    }

    /// This program, with a cache for its code.
    ///
    /// # Errors
    /// There is no code generator for this host.
    pub fn with_cache(mut self, cache: Arc<Cache>) -> Result<Program, JitError> {
        let start = Instant::now();
        self.cache = Some(Cached { cache, key: self.key()?, found: AtomicU64::new(0) });
        self.translate_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        Ok(self)
    }

    fn key(&self) -> Result<Key, JitError> {
        Ok(Key::of_program(&self.function, self.launch, self.one_worker, Target::host()?))
    }

    fn check_register_file(&self, bytes: usize) -> Result<(), JitError> {
        let kernel = || self.function.name.clone();
        let max = MAX_REGISTER_FILE;
        if bytes <= max { Ok(()) } else { Err(JitError::RegisterFile { kernel: kernel(), bytes, max }) }
    }

    pub fn function(&self) -> &Function {
        &self.function
    }

    fn layout(&self) -> &RegLayout {
        self.interpreter.layout()
    }

    /// What was decided about each block.
    fn plans(&self, effort: Effort) -> &PrimaryMap<BlockId, BlockPlan> {
        self.plans[usize::from(effort.is_fast())].get_or_init(|| {
            // Only what a whole warp does at once relies on facts.
            let facts = effort.is_fast().then(|| analysis::facts(&self.function, &self.flow, self.launch));
            let plan = |index: usize| {
                let facts = facts.as_ref().map(|facts| &facts[index]);
                let id = BlockId(index as u32);
                BlockPlan::of(&self.function, self.layout(), id, self.in_loops[id], self.launch, facts)
            };
            (0..self.function.blocks.len()).map(plan).collect()
        })
    }

    fn written_in_loops(&self) -> &FxHashSet<Reg> {
        self.written_in_loops.get_or_init(|| {
            let blocks = self.function.blocks.iter().zip(self.in_loops.values());
            let insts = blocks.filter(|&(_, &in_loop)| in_loop).flat_map(|(block, _)| &block.insts);
            insts.filter_map(|inst| if let Op::RfWrite { reg, .. } = inst.op { Some(reg) } else { None }).collect()
        })
    }

    fn read_first(&self) -> &[Reg] {
        &self.read_first
    }

    fn liveness(&self) -> &analysis::Liveness {
        &self.liveness
    }

    fn one_worker(&self) -> bool {
        self.one_worker
    }

    /// Nanoseconds spent on translation so far.
    pub fn translate_ns(&self) -> u64 {
        self.translate_ns.load(Relaxed)
    }

    /// Bytes of the register file that a region's code needs.
    fn register_bytes(&self, region: usize, effort: Effort) -> Result<u64, JitError> {
        let bytes = self.wanted_register_bytes(region, effort);
        self.check_register_file(bytes)?;
        Ok(bytes as u64)
    }

    /// Likewise, however many these are.
    fn wanted_register_bytes(&self, region: usize, effort: Effort) -> usize {
        let plans = self.plans(effort);
        self.regions[region].blocks.iter().map(|&block| plans[block].bytes).max().unwrap_or(0)
    }

    /// How many pieces of code the cache had.
    pub fn found_in_cache(&self) -> u64 {
        self.cache.as_ref().map_or(0, |cached| cached.found.load(Relaxed))
    }

    /// Compiles what a region was lowered to.
    fn compile(&self, region: usize, effort: Effort, lowered: Lowered) -> Result<Entry, JitError> {
        let Lowered { function, sites, hides_uses } = lowered;
        let register_bytes = self.register_bytes(region, effort)?;
        let mut code = MachineCode::new(function, hides_uses, Target::host()?.isa(effort))?;
        if code.frame_bytes() > MAX_FRAME && !effort.is_fast() {
            // The single-pass register allocator gives each value that it spills a slot of its own.
            code = code.compiled_by(Target::host()?.isa(Effort::Full))?;
        }
        if code.frame_bytes() > MAX_FRAME {
            return Err(JitError::Frame { bytes: code.frame_bytes(), max: MAX_FRAME });
        }
        Ok(Entry { code: code.relocatable()?, register_bytes, sites })
    }

    /// Puts code in its place.
    fn define(&self, region: usize, effort: Effort, entry: &Entry) -> Result<Compiled, JitError> {
        self.place(&self.code, &format!("{}.region{region}.{}", self.function.name, effort.name()), entry)
    }

    fn place(&self, module: &CodeModule, name: &str, entry: &Entry) -> Result<Compiled, JitError> {
        let descriptions = Descriptions::new(&self.interpreter, &entry.sites);
        let descriptions = descriptions.ok_or_else(|| JitError::Codegen("it is of another function".into()))?;
        self.check_register_file(entry.register_bytes as usize)?;
        let code = module.define(name, &entry.code)?;
        Ok(Compiled { code, register_bytes: entry.register_bytes, descriptions })
    }

    fn compile_region(&self, region: usize, effort: Effort) -> Result<Entry, JitError> {
        #[cfg(all(feature = "vector", target_arch = "x86_64"))]
        if let Some(compiled) = self.vectors(region, effort) {
            return compiled;
        }
        self.compile(region, effort, lower_region(self, region, effort, Target::host()?))
    }

    /// Makes code, puts it in its place and keeps it.
    fn made(&self, region: usize, effort: Effort) -> Result<Compiled, JitError> {
        let entry = self.compile_region(region, effort)?;
        if let Some(Cached { cache, key, .. }) = &self.cache {
            cache.store(key.of_region(region, effort), &entry);
        }
        self.define(region, effort, &entry)
    }

    /// The code of a region that the cache has.
    fn cached(&self, region: usize, effort: Effort) -> Option<Compiled> {
        let Cached { cache, key, found } = self.cache.as_ref()?;
        let key = key.of_region(region, effort);
        let compiled = self.define(region, effort, &cache.load(key)?);
        let compiled = compiled.inspect_err(|error| cache.reject(key, &error.to_string())).ok()?;
        found.fetch_add(1, Relaxed);
        Some(compiled)
    }

    /// Takes a region's fastest code from the cache when it is asked for the first time.
    fn ask_cache(&self, region: usize) {
        let Region { asked_cache, code, .. } = &self.regions[region];
        asked_cache.get_or_init(|| {
            let start = Instant::now();
            let fast = [Effort::Full, Effort::Likely].into_iter();
            let found = fast.filter_map(|effort| Some((effort, self.cached(region, effort)?))).next();
            if let Some((effort, compiled)) = found {
                let _ = code[effort as usize].set(Ok(compiled));
            }
            self.translate_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        });
    }

    /// Compiles every region now. Launches need not: a region is compiled when it is first entered, and interpreted if
    /// that fails.
    pub fn compile_all(&self, effort: Effort) -> Result<(), &JitError> {
        (0..self.regions.len()).try_for_each(|region| self.compiled(region, effort).as_ref().map(|_| ()))
    }

    /// Regions that could not be compiled so far, each with where it is and why.
    pub fn uncompiled(&self) -> Vec<String> {
        let of_region = |(number, region): (usize, &Region)| {
            let error = Effort::ALL.iter().find_map(|&effort| region.code[effort as usize].get()?.as_ref().err());
            let pc = region.blocks.first().map_or(0, |&block| self.function.block(block).pc);
            error.map(|error| format!("{}: region {number}, from pc {pc:#x} on: {error}", self.function.name))
        };
        self.regions.iter().enumerate().filter_map(of_region).collect()
    }

    /// The code of a region, made now if there is none yet.
    fn compiled(&self, region: usize, effort: Effort) -> &Result<Compiled, JitError> {
        self.ask_cache(region);
        self.regions[region].code[effort as usize].get_or_init(|| {
            let start = Instant::now();
            let quick = (effort == Effort::Quick).then(|| self.cached(region, effort)).flatten();
            let compiled = quick.map_or_else(|| self.made(region, effort), Ok);
            self.translate_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
            compiled
                .inspect_err(|error| tracing::warn!("{}: region {region} is not compiled: {error}", self.function.name))
        })
    }

    /// The code of a region that has none for speed, or its careful code; `None` if it cannot be compiled.
    fn slow_code(&self, region: usize, context: &WarpContext, careful: bool) -> Option<&Compiled> {
        if careful {
            return self.compiled(region, Effort::Quick).as_ref().ok();
        }
        self.regions[region].made(Effort::Quick).or_else(|| self.first_code(region, context))
    }

    /// Has an indirect jump out of its region, by the block that the context names, go on at its target. False if it was a jump
    /// backwards too many for this turn. None: its target is not known.
    fn jump_indirectly(&self, context: &mut WarpContext) -> Option<bool> {
        let target = self.interpreter.indirect_target(context.indirect_pc)?;
        let backward = target.0 <= context.resume;
        context.resume = target.0;
        context.back_edges = context.back_edges.wrapping_sub(backward.into());
        Some(!backward || context.back_edges as i64 > 0)
    }

    /// Runs code from the context's block on.
    fn enter(&self, compiled: &Compiled, context: &mut WarpContext) -> u32 {
        // SAFETY: the code of a region is a function of this type, and it lives as long as the program.
        let entry = unsafe { std::mem::transmute::<*const u8, abi::Entry>(compiled.code.address()) };
        let block = context.resume;
        compiled.descriptions.install(context);
        // Code addresses the register file without a check.
        assert!(context.register_bytes() >= compiled.register_bytes, "the register file is too small");
        // SAFETY: the scheduler made the context: its register file has `register_bytes`, its pointers are
        // valid for the call, and no other thread uses it. The code touches guest memory through them only. Its descriptions are
        // installed, and live as long as the code.
        unsafe { entry(context, block) }
    }

    /// The same of fast code, and then for the warps whose turns come next, as long as they go on in this region.
    fn enter_in_step(&self, region: usize, compiled: &Compiled, context: &mut WarpContext) -> u32 {
        loop {
            let code = self.enter(compiled, context);
            let passed = ExitCode::from_number(code).is_some_and(|code| context.pass_on(code));
            if !passed {
                return code;
            }
            if self.region_of[context.resume as usize] != region || context.register_bytes() < compiled.register_bytes {
                return abi::CONTINUE;
            }
        }
    }

    /// The same of code that is not for speed: when it is hot, better code is made. Turns are cut into slices, so that a loop can go
    /// on in that.
    fn warm(&self, number: usize, compiled: &Compiled, context: &mut WarpContext, careful: bool) -> u32 {
        let region = &self.regions[number];
        let (heat, better, slice) = match careful {
            true => (&region.careful_heat, Effort::Full, tuning::CAREFUL_SLICE),
            false => (&region.heat, Effort::Likely, tuning::SLICE),
        };
        let before = (context.instructions, context.helper_calls, context.interp_instructions);
        let turn = context.back_edges;
        let is_best = region.made(Effort::Full).is_some();
        let slice = if heat.is_hot() || is_best { turn } else { turn.min(slice) };
        context.back_edges = slice;
        let begun = Instant::now();
        let code = self.enter(compiled, context);
        context.back_edges = context.back_edges.wrapping_add(turn - slice);
        // To begin again costs as much as a helper.
        let helped = context.helper_calls - before.1 + context.interp_instructions - before.2 + u64::from(careful);
        // Whoever makes a region hot compiles it, while others go on with the code that there is.
        let executed = context.instructions - before.0;
        let by_the_clock = begun.elapsed().as_nanos() as u64 / tuning::COUNTED_NS;
        let spent = by_the_clock.clamp(executed, executed.saturating_mul(tuning::MOST_COUNTED));
        if heat.add(spent + tuning::HELPED * helped) && !is_best {
            let _ = self.compiled(number, better);
        }
        code
    }

    /// Interprets a region until it is left, or each of its instructions has been executed so often, on average, that
    /// translation is worth it: what the warp came to is then [`abi::CONTINUE`].
    fn interpret(&self, number: usize, context: &mut WarpContext, rounds: u64) -> u32 {
        let heat = &self.regions[number].heat;
        let (before, interpreted) = (context.instructions, context.interp_instructions);
        let end = before.saturating_add(heat.left_of(rounds));
        let stays = |block: BlockId, executed| self.region_of[block.0 as usize] == number && executed < end;
        let code = self.interpreter.run_while(context, stays);
        // Code for it can be made: that there is none yet is no fall.
        context.interp_instructions = interpreted;
        if heat.add(context.instructions - before) {
            let _ = self.compiled(number, Effort::Likely);
        }
        code.map_or(abi::CONTINUE, |code| code as u32)
    }

    /// Whether a region is worth no code yet, of which each instruction may be interpreted so often.
    fn is_cold(&self, region: usize, context: &WarpContext, rounds: u64) -> bool {
        self.ask_cache(region);
        let region = &self.regions[region];
        !region.is_translated() && region.heat.left_of(rounds) > 0 && warps(context) <= tuning::FEW_WARPS
    }

    /// The code of a region that has none yet: made for speed at once if the launch has so many warps that it will be hot.
    fn first_code(&self, region: usize, context: &WarpContext) -> Option<&Compiled> {
        self.ask_cache(region);
        if let Some(fast) = self.regions[region].fast() {
            return Some(fast);
        }
        let will_be_hot = self.regions[region].heat.expect(warps(context));
        let fast = will_be_hot.then(|| self.compiled(region, Effort::Likely).as_ref().ok());
        fast.flatten().or_else(|| self.compiled(region, Effort::Quick).as_ref().ok())
    }
}

/// Those of the launch that a warp is in.
fn warps(context: &WarpContext) -> u64 {
    let blocks = context.nctaid().iter().fold(1u64, |blocks, &count| blocks.saturating_mul(count.into()));
    blocks.saturating_mul(context.warps().into())
}

impl Program {
    /// Runs a warp for a turn. Regions are interpreted at first, each instruction so often on average.
    fn run_after(&self, rounds: u64, context: &mut WarpContext) -> ExitCode {
        assert_eq!(context.lanes(), self.lanes(), "code is for warps of another length");
        let mut careful = false;
        loop {
            let region = self.region_of[context.resume as usize];
            let code = if rounds > 0 && self.is_cold(region, context, rounds) {
                self.interpret(region, context, rounds)
            } else {
                let fast = self.regions[region].fast().filter(|_| !careful);
                let Some(compiled) = fast.or_else(|| self.slow_code(region, context, careful)) else {
                    return self.interpreter.run(context);
                };
                if context.register_bytes() < compiled.register_bytes {
                    context.register_bytes_wanted = compiled.register_bytes;
                    return ExitCode::Grow;
                }
                match fast {
                    Some(fast) => self.enter_in_step(region, fast, context),
                    None => self.warm(region, compiled, context, careful),
                }
            };
            careful = code == abi::CAREFUL;
            match ExitCode::from_number(code) {
                // Goes on in another region, or in careful code.
                None => debug_assert!(matches!(code, abi::CONTINUE | abi::CAREFUL), "code {code}"),
                // The slice is over, the turn is not.
                Some(ExitCode::Yield) if context.back_edges as i64 > 0 => {}
                Some(ExitCode::UnknownPc) => match self.jump_indirectly(context) {
                    Some(true) => {}
                    Some(false) => return ExitCode::Yield,
                    None => return ExitCode::UnknownPc,
                },
                Some(code) if context.pass_on(code) => {}
                Some(code) => return code,
            }
        }
    }
}

impl Engine for Program {
    fn lanes(&self) -> u32 {
        self.function.lanes.into()
    }

    fn register_file_bytes(&self) -> usize {
        self.register_file_bytes
    }

    fn outside(&self) -> Option<u64> {
        self.interpreter.outside()
    }

    fn deadlocked(&self, context: &mut WarpContext<'_>) -> Vec<(u64, u64)> {
        self.interpreter.deadlocked(context)
    }

    fn run(&self, context: &mut WarpContext) -> ExitCode {
        self.run_after(0, context)
    }

    fn block_pc(&self, block: u32) -> u64 {
        self.function.blocks.get(block as usize).map_or(0, |block| block.pc)
    }
}

/// A program whose regions are interpreted at first, until each instruction has been so often, on average.
pub struct Deferred {
    pub program: Arc<Program>,
    pub rounds: u64,
}

impl Engine for Deferred {
    fn lanes(&self) -> u32 {
        self.program.lanes()
    }

    fn register_file_bytes(&self) -> usize {
        self.program.register_file_bytes()
    }

    fn outside(&self) -> Option<u64> {
        self.program.outside()
    }

    fn deadlocked(&self, context: &mut WarpContext<'_>) -> Vec<(u64, u64)> {
        self.program.deadlocked(context)
    }

    fn run(&self, context: &mut WarpContext) -> ExitCode {
        self.program.run_after(self.rounds, context)
    }

    fn block_pc(&self, block: u32) -> u64 {
        self.program.block_pc(block)
    }
}

/// Cuts a function into regions of neighbouring blocks.
fn divide(function: &Function, region_insts: usize) -> (Vec<Vec<BlockId>>, Vec<usize>) {
    let mut regions: Vec<Vec<BlockId>> = Vec::new();
    let mut region_of = Vec::with_capacity(function.blocks.len());
    let mut size = usize::MAX;
    for (index, block) in function.blocks.iter().enumerate() {
        let insts = block.insts.len() + 4;
        if size.saturating_add(insts) > region_insts {
            regions.push(Vec::new());
            size = 0;
        }
        size += insts;
        region_of.push(regions.len() - 1);
        regions.last_mut().expect("just pushed").push(BlockId(index as u32));
    }
    (regions, region_of)
}

/// The programs made of one function.
pub struct Kernel {
    function: Arc<Function>,
    cache: Option<Arc<Cache>>,
    variants: Mutex<HashMap<(Launched, bool), Arc<Program>>>,
}

impl Kernel {
    pub fn new(function: Arc<Function>) -> Kernel {
        Kernel::with_cache(function, None)
    }

    /// A kernel with a cache for its code.
    pub fn with_cache(function: Arc<Function>, cache: Option<Arc<Cache>>) -> Kernel {
        Kernel { function, cache, variants: Mutex::new(HashMap::new()) }
    }

    /// The program for launches of this shape on this many worker threads.
    pub fn program(&self, grid: [u32; 3], block: [u32; 3], threads: usize) -> Result<Arc<Program>, JitError> {
        let launch = Launched::of(grid, block, self.function.lanes.into());
        let mut variants = self.variants.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut key = (launch, threads <= 1);
        if !variants.contains_key(&key) && variants.len() >= tuning::MAX_VARIANTS {
            key = (LaunchClass::Any.into(), false);
        }
        if let Some(program) = variants.get(&key) {
            return Ok(program.clone());
        }
        let program = Program::new(&self.function, key.0, key.1)?;
        let program = Arc::new(match &self.cache {
            Some(cache) => program.with_cache(cache.clone())?,
            None => program,
        });
        variants.insert(key, program.clone());
        Ok(program)
    }

    /// A program for launches of this shape on one worker thread that counts what it executes.
    pub fn counting(&self, grid: [u32; 3], block: [u32; 3]) -> Result<Counting, JitError> {
        let launch = Launched::of(grid, block, self.function.lanes.into());
        Counting::new(Program::new(&self.function, launch, true)?)
    }

    /// What of any program could not be compiled so far, and why.
    pub fn uncompiled(&self) -> Vec<String> {
        let variants = self.variants.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        variants.values().flat_map(|program| program.uncompiled()).collect()
    }

    /// Nanoseconds spent on translation so far.
    pub fn translate_ns(&self) -> u64 {
        let variants = self.variants.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        variants.values().map(|program| program.translate_ns()).sum()
    }

    /// How many pieces of code the cache had.
    pub fn found_in_cache(&self) -> u64 {
        let variants = self.variants.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        variants.values().map(|program| program.found_in_cache()).sum()
    }
}
