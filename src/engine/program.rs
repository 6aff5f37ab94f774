//! [`Program`]: an engine for the runtime. A back end compiles a region of blocks when the region
//! is first entered, and again when it is hot. The program runs warps in this code.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use warploom_analysis::{Execution, Firings, Launched};
use warploom_interp::Interpreter;
use warploom_ir::{BlockId, Function, Terminator};
use warploom_runtime::launch::Engine;
use warploom_runtime::warp::{ExitCode, WarpContext};

use crate::backend::{Backend, CodeSpace};
use crate::descriptions::Descriptions;
use crate::object::Object;
use crate::prepared::Prepared;
use crate::store::{CodeStore, Pieces};
use crate::tier::{Compiled, Region};
use crate::{Effort, JitError, abi, tuning};

/// An engine: one function, translated for one class of launches.
pub struct Program {
    prepared: Prepared,
    backend: Arc<dyn Backend>,
    register_file_bytes: usize,
    regions: Vec<Region>,
    region_of: Vec<usize>,
    translate_ns: AtomicU64,
    cache: Option<Cached>,
    /// Memory for the code of the regions.
    space: Box<dyn CodeSpace>,
}

/// The stored code of a program.
struct Cached {
    pieces: Box<dyn Pieces>,
    /// The number of regions whose code was there.
    found: AtomicU64,
}

impl Program {
    /// Makes a program with regions of the default size.
    ///
    /// # Errors
    /// The function does not verify, its registers are too large, or the back end does not serve
    /// this host.
    pub fn new(
        function: &Function,
        launch: impl Into<Launched>,
        one_worker: bool,
        backend: Arc<dyn Backend>,
    ) -> Result<Program, JitError> {
        Program::in_regions(function, launch.into(), one_worker, backend, tuning::REGION_INSTS)
    }

    /// Makes a program in which each block is a region of its own.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn in_small_regions(
        function: &Function,
        launch: impl Into<Launched>,
        one_worker: bool,
        backend: Arc<dyn Backend>,
    ) -> Result<Program, JitError> {
        Program::in_regions(function, launch.into(), one_worker, backend, 0)
    }

    /// Makes a program whose regions have more than one block only if they have at most
    /// `region_insts` instructions.
    fn in_regions(
        function: &Function,
        launch: Launched,
        one_worker: bool,
        backend: Arc<dyn Backend>,
        region_insts: usize,
    ) -> Result<Program, JitError> {
        let start = Instant::now();
        // An unsupported host is reported here.
        let space = backend.space()?;
        let execution = Execution { launch, chunk: backend.chunk() };
        let prepared = Prepared::new(function, execution, one_worker)?;
        let function = prepared.function();
        let (regions, region_of) = divide(function, region_insts);
        let has_indirect =
            function.blocks.iter().any(|block| matches!(block.term, Terminator::Indirect { .. }));
        let region = |blocks: Vec<BlockId>| {
            let cost =
                |&id: &BlockId| (u64::from(function.block(id).cost), prepared.is_in_loop(id));
            let costs: Vec<(u64, bool)> = blocks.iter().map(cost).collect();
            Region::new(blocks, costs.into_iter(), function.lanes.into(), has_indirect)
        };
        Ok(Program {
            regions: regions.into_iter().map(region).collect(),
            register_file_bytes: prepared.register_file_bytes()?,
            region_of,
            translate_ns: AtomicU64::new(start.elapsed().as_nanos() as u64),
            cache: None,
            backend,
            space,
            prepared,
        })
    }

    /// Returns this program with a cache for its code.
    ///
    /// # Errors
    /// There is no code generator for this host.
    pub fn with_cache(mut self, store: Arc<dyn CodeStore>) -> Result<Program, JitError> {
        let start = Instant::now();
        self.cache =
            Some(Cached { pieces: store.of_program(&self.identity()?), found: AtomicU64::new(0) });
        self.translate_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        Ok(self)
    }

    /// Returns everything that code of this program depends on, as text.
    ///
    /// # Errors
    /// The back end does not serve this host.
    pub fn identity(&self) -> Result<String, JitError> {
        Ok(format!("{} {}", self.backend.description()?, self.prepared.identity()))
    }

    /// Returns the function after analysis, from which code is made.
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// Returns the blocks of each region.
    pub fn regions(&self) -> impl ExactSizeIterator<Item = &[BlockId]> {
        self.regions.iter().map(|region| &*region.blocks)
    }

    pub fn function(&self) -> &Function {
        self.prepared.function()
    }

    fn interpreter(&self) -> &Interpreter {
        self.prepared.interpreter()
    }

    /// Returns the nanoseconds spent on translation so far.
    pub fn translate_ns(&self) -> u64 {
        self.translate_ns.load(Relaxed)
    }

    /// Returns how many pieces of code the cache had.
    pub fn found_in_cache(&self) -> u64 {
        self.cache.as_ref().map_or(0, |cached| cached.found.load(Relaxed))
    }

    /// Places the code of a region.
    fn define(&self, region: usize, effort: Effort, object: &Object) -> Result<Compiled, JitError> {
        self.place(
            &*self.space,
            &format!("{}.region{region}.{}", self.function().name, effort.name()),
            object,
        )
    }

    /// Returns whether code could be placed as a region of this program. The code is not run.
    pub fn takes(&self, object: &Object) -> bool {
        self.backend.space().and_then(|space| self.place(&*space, "read", object).map(drop)).is_ok()
    }

    fn place(
        &self,
        space: &dyn CodeSpace,
        name: &str,
        object: &Object,
    ) -> Result<Compiled, JitError> {
        let descriptions = Descriptions::new(self.prepared.interpreter(), &object.sites);
        let descriptions =
            descriptions.ok_or_else(|| JitError::Codegen("it is of another function".into()))?;
        self.prepared.check_register_file(object.register_bytes as usize)?;
        let code = space.define(name, &object.code)?;
        Ok(Compiled { code, register_bytes: object.register_bytes, descriptions })
    }

    /// Installs code of a region that this program's back end did not make.
    ///
    /// # Safety
    /// The code is of this region, and keeps the promises of [`Backend::compile`].
    ///
    /// # Errors
    /// The code cannot be placed, or the region has code of this effort.
    pub unsafe fn install(
        &self,
        region: usize,
        effort: Effort,
        object: &Object,
    ) -> Result<(), JitError> {
        let compiled = self.define(region, effort, object)?;
        let put = self.regions[region].code[effort as usize].set(Ok(compiled));
        put.map_err(|_| JitError::Codegen(format!("region {region} has code")))
    }

    /// Returns the unplaced code of a region, as the back end makes it.
    ///
    /// # Errors
    /// The code generator rejects the region.
    pub fn compile_region(&self, region: usize, effort: Effort) -> Result<Object, JitError> {
        self.backend.compile(&self.prepared, &self.regions[region].blocks, effort)
    }

    /// Makes code, stores it in the cache and places it.
    fn made(&self, region: usize, effort: Effort) -> Result<Compiled, JitError> {
        let object = self.compile_region(region, effort)?;
        if let Some(Cached { pieces, .. }) = &self.cache {
            pieces.store(region, effort, &object);
        }
        self.define(region, effort, &object)
    }

    /// Returns the code of a region from the cache, if it is there.
    fn cached(&self, region: usize, effort: Effort) -> Option<Compiled> {
        let Cached { pieces, found } = self.cache.as_ref()?;
        let compiled = self.define(region, effort, &pieces.load(region, effort)?);
        let compiled =
            compiled.inspect_err(|error| pieces.reject(region, effort, &error.to_string())).ok()?;
        found.fetch_add(1, Relaxed);
        Some(compiled)
    }

    /// Takes a region's fastest code from the cache, on the first call for the region.
    fn ask_cache(&self, region: usize) {
        let Region { asked_cache, code, .. } = &self.regions[region];
        asked_cache.get_or_init(|| {
            let start = Instant::now();
            let fast = [Effort::Full, Effort::Likely].into_iter();
            let found =
                fast.filter_map(|effort| Some((effort, self.cached(region, effort)?))).next();
            if let Some((effort, compiled)) = found {
                let _ = code[effort as usize].set(Ok(compiled));
            }
            self.translate_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        });
    }

    /// Compiles every region now. Launches do not need this: a region is compiled when it is first
    /// entered, and interpreted if that fails.
    pub fn compile_all(&self, effort: Effort) -> Result<(), &JitError> {
        (0..self.regions.len())
            .try_for_each(|region| self.compiled(region, effort).as_ref().map(|_| ()))
    }

    /// Returns the code of every region, as text.
    ///
    /// # Errors
    /// The code generator rejects a region.
    pub fn listing(&self, effort: Effort) -> Result<String, JitError> {
        let of_region = |(number, blocks): (usize, &[BlockId])| {
            Ok(format!(
                "; region {number}: {}",
                self.backend.listing(&self.prepared, blocks, effort)?
            ))
        };
        self.regions().enumerate().map(of_region).collect()
    }

    /// Returns how often each rule of analysis has rewritten something.
    pub fn firings(&self) -> &Firings {
        self.prepared.firings()
    }

    /// Lists the regions that could not be compiled so far, each with its pc and the reason.
    pub fn uncompiled(&self) -> Vec<String> {
        let of_region = |(number, region): (usize, &Region)| {
            let error = Effort::ALL
                .iter()
                .find_map(|&effort| region.code[effort as usize].get()?.as_ref().err());
            let pc = region.blocks.first().map_or(0, |&block| self.function().block(block).pc);
            error.map(|error| {
                format!("{}: region {number}, from pc {pc:#x} on: {error}", self.function().name)
            })
        };
        self.regions.iter().enumerate().filter_map(of_region).collect()
    }

    /// Returns the code of a region. Makes it now if there is none yet.
    fn compiled(&self, region: usize, effort: Effort) -> &Result<Compiled, JitError> {
        self.ask_cache(region);
        self.regions[region].code[effort as usize].get_or_init(|| {
            let start = Instant::now();
            let quick = (effort == Effort::Quick).then(|| self.cached(region, effort)).flatten();
            let compiled = quick.map_or_else(|| self.made(region, effort), Ok);
            let spent = start.elapsed();
            self.translate_ns.fetch_add(spent.as_nanos() as u64, Relaxed);
            let kernel = &self.function().name;
            match &compiled {
                Ok(_) => tracing::debug!(%kernel, region, ?effort, ?spent, "compiled a region"),
                Err(error) => {
                    tracing::warn!("{kernel}: region {region} is not compiled: {error}")
                }
            }
            compiled
        })
    }

    /// Returns the code of a region that has none made for speed, or its careful code; `None` if it
    /// cannot be compiled.
    fn slow_code(&self, region: usize, context: &WarpContext, careful: bool) -> Option<&Compiled> {
        if careful {
            return self.compiled(region, Effort::Quick).as_ref().ok();
        }
        self.regions[region].made(Effort::Quick).or_else(|| self.first_code(region, context))
    }

    /// Sets the context to go on at the target of an indirect jump out of its region. The context's
    /// block tells whether the jump goes backward. Returns false if a backward jump uses up the
    /// turn, and `None` if the target is not known.
    fn jump_indirectly(&self, context: &mut WarpContext) -> Option<bool> {
        let target = self.interpreter().indirect_target(context.indirect_pc)?;
        let backward = target.0 <= context.resume;
        context.resume = target.0;
        context.back_edges = context.back_edges.wrapping_sub(backward.into());
        Some(!backward || context.back_edges as i64 > 0)
    }

    /// Runs code from the context's block on.
    fn enter(&self, compiled: &Compiled, context: &mut WarpContext) -> u32 {
        // SAFETY: the code of a region is a function of this type, and it lives as long as the
        // program.
        let entry =
            unsafe { std::mem::transmute::<*const u8, abi::Entry>(compiled.code.address()) };
        let block = context.resume;
        compiled.descriptions.install(context);
        // Code addresses the register file without a check.
        assert!(
            context.register_bytes() >= compiled.register_bytes,
            "the register file is too small"
        );
        // SAFETY: the scheduler made the context: its register file has `register_bytes`, its
        // pointers are valid for the call, and no other thread uses it. The code touches guest
        // memory only through these pointers. Its descriptions are installed, and live as long as
        // the code.
        unsafe { entry(context, block) }
    }

    /// Runs fast code from the context's block on, and then for the warps whose turns come next, as
    /// long as they go on in this region.
    fn enter_in_step(&self, region: usize, compiled: &Compiled, context: &mut WarpContext) -> u32 {
        loop {
            let code = self.enter(compiled, context);
            let passed = ExitCode::from_number(code).is_some_and(|code| context.pass_on(code));
            if !passed {
                return code;
            }
            if self.region_of[context.resume as usize] != region
                || context.register_bytes() < compiled.register_bytes
            {
                return abi::CONTINUE;
            }
        }
    }

    /// Runs quick code from the context's block on, and compiles better code when the region is
    /// hot. Turns are cut into slices, so that a loop can go on in the better code.
    fn warm(
        &self,
        number: usize,
        compiled: &Compiled,
        context: &mut WarpContext,
        careful: bool,
    ) -> u32 {
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
        // Beginning again costs as much as a helper.
        let helped = context.helper_calls - before.1 + context.interp_instructions - before.2
            + u64::from(careful);
        // The warp that makes a region hot compiles it, while other threads go on with the existing
        // code.
        let executed = context.instructions - before.0;
        let by_the_clock = begun.elapsed().as_nanos() as u64 / tuning::COUNTED_NS;
        let spent = by_the_clock.clamp(executed, executed.saturating_mul(tuning::MOST_COUNTED));
        if heat.add(spent + tuning::HELPED * helped) && !is_best {
            let _ = self.compiled(number, better);
        }
        code
    }

    /// Interprets a region until the warp leaves it, or until its instructions have been executed
    /// `rounds` times on average, so that translation is worth its cost. In both cases it returns
    /// [`abi::CONTINUE`].
    fn interpret(&self, number: usize, context: &mut WarpContext, rounds: u64) -> u32 {
        let heat = &self.regions[number].heat;
        let (before, interpreted) = (context.instructions, context.interp_instructions);
        let end = before.saturating_add(heat.left_of(rounds));
        let stays =
            |block: BlockId, executed| self.region_of[block.0 as usize] == number && executed < end;
        let code = self.interpreter().run_while(context, stays);
        // Code can be made for this region, so that these instructions do not count as left to the
        // interpreter.
        context.interp_instructions = interpreted;
        if heat.add(context.instructions - before) {
            let _ = self.compiled(number, Effort::Likely);
        }
        code.map_or(abi::CONTINUE, |code| code as u32)
    }

    /// Returns whether a region is not worth code yet, if each instruction may be interpreted
    /// `rounds` times.
    fn is_cold(&self, region: usize, context: &WarpContext, rounds: u64) -> bool {
        self.ask_cache(region);
        let region = &self.regions[region];
        !region.is_translated()
            && region.heat.left_of(rounds) > 0
            && warps(context) <= tuning::FEW_WARPS
    }

    /// Returns the code of a region that has none yet. The code is made for speed at once if the
    /// launch has so many warps that the region will be hot.
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

/// Returns the number of warps in the warp's launch.
fn warps(context: &WarpContext) -> u64 {
    let blocks =
        context.nctaid().iter().fold(1u64, |blocks, &count| blocks.saturating_mul(count.into()));
    blocks.saturating_mul(context.warps().into())
}

impl Program {
    /// Runs a warp for a turn. Regions are interpreted at first, `rounds` times per instruction on
    /// average.
    pub(crate) fn run_after(&self, rounds: u64, context: &mut WarpContext) -> ExitCode {
        assert_eq!(context.lanes(), self.lanes(), "code is for warps of another length");
        let mut careful = false;
        loop {
            let region = self.region_of[context.resume as usize];
            let code = if rounds > 0 && self.is_cold(region, context, rounds) {
                self.interpret(region, context, rounds)
            } else {
                let fast = self.regions[region].fast().filter(|_| !careful);
                let Some(compiled) = fast.or_else(|| self.slow_code(region, context, careful))
                else {
                    return self.interpreter().run(context);
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
            if careful {
                tracing::trace!(kernel = %self.function().name, region, "bailed out");
            }
            match ExitCode::from_number(code) {
                // The warp goes on in another region, or in careful code.
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
        self.function().lanes.into()
    }

    fn register_file_bytes(&self) -> usize {
        self.register_file_bytes
    }

    fn outside(&self) -> Option<u64> {
        self.interpreter().outside()
    }

    fn deadlocked(&self, context: &mut WarpContext<'_>) -> Vec<(u64, u64)> {
        self.interpreter().deadlocked(context)
    }

    fn run(&self, context: &mut WarpContext) -> ExitCode {
        self.run_after(0, context)
    }

    fn block_pc(&self, block: u32) -> u64 {
        self.function().blocks.get(block as usize).map_or(0, |block| block.pc)
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
