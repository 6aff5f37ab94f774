//! The Cranelift engine.
//!
//! A [`Kernel`] holds the programs made of one function, one for each [`LaunchClass`] that launches have asked for. A
//! [`Program`] is an engine for the runtime: it compiles a region of blocks when it is first entered and runs warps in
//! it. `plan` decides about a block, `lower` makes CLIF of a region, `code` holds the machine code, `helpers` is what
//! code calls, `dump` shows what was made, `size` counts it.

mod abi;
mod code;
pub mod dump;
mod forms;
mod helpers;
mod lower;
mod plan;
pub mod size;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use cranelift_codegen::isa::{self, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use warploom_runtime::launch::Engine;
use warploom_runtime::warp::{ExitCode, WarpContext};

use crate::analysis::{self, LaunchClass};
use crate::interp::{InterpError, Interpreter};
use crate::ir::layout::RegLayout;
use crate::ir::{BlockId, Function, Reg};
use code::CodeMemory;
use lower::{Lowered, lower_region};
use plan::BlockPlan;

/// Why a function could not be translated.
#[derive(Debug, thiserror::Error)]
pub enum JitError {
    #[error(transparent)]
    Function(#[from] InterpError),
    #[error("this host is not supported by the code generator: {0}")]
    Host(String),
    #[error("the code generator rejected a region: {0}")]
    Codegen(String),
    #[error("no executable memory: {0}")]
    Memory(#[from] std::io::Error),
    #[error("the trampolines of the helpers could not be made: {0}")]
    Trampoline(String),
    #[error("the register file of {kernel} with its spill slots has {bytes} bytes; at most {max} are supported")]
    RegisterFile { kernel: String, bytes: usize, max: usize },
}

/// Instructions of the IR that a region holds before the next one begins.
const REGION_INSTS: usize = 600;
/// A register file with its spill slots.
const MAX_REGISTER_FILE: usize = 1 << 25;
/// Programs of one kernel; further launch classes share the most general one.
const MAX_VARIANTS: usize = 4;

/// The host's code generator, made once.
fn host_isa() -> Result<OwnedTargetIsa, JitError> {
    static ISA: OnceLock<Result<OwnedTargetIsa, String>> = OnceLock::new();
    let isa = ISA.get_or_init(|| generator(cranelift_native::builder()?, &[]));
    isa.clone().map_err(JitError::Host)
}

/// A code generator as this engine wants it, with further settings.
fn generator(builder: isa::Builder, further: &[(&str, &str)]) -> Result<OwnedTargetIsa, String> {
    let settings = [
        ("opt_level", "none"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ("unwind_info", "false"),
        ("enable_probestack", "false"),
        ("is_pic", "false"),
    ];
    let mut flags = settings::builder();
    for (name, value) in settings.iter().chain(further) {
        flags.set(name, value).map_err(|error| format!("{name}: {error}"))?;
    }
    builder.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
}

/// Compiles CLIF that needs no relocation.
fn compile(context: &mut cranelift_codegen::Context, isa: &OwnedTargetIsa) -> Result<CodeMemory, JitError> {
    let compiled = context
        .compile(&**isa, &mut cranelift_codegen::control::ControlPlane::default())
        .map_err(|error| JitError::Codegen(format!("{:?}", error.inner)))?;
    if let Some(relocation) = compiled.buffer.relocs().first() {
        return Err(JitError::Codegen(format!("unexpected relocation {relocation:?}")));
    }
    Ok(CodeMemory::new(compiled.code_buffer())?)
}

/// The code of one region.
struct Compiled {
    code: CodeMemory,
    _owned: lower::Owned,
}

/// One function translated for one class of launches: an engine.
pub struct Program {
    function: Arc<Function>,
    layout: RegLayout,
    plans: Vec<BlockPlan>,
    read_first: Vec<Reg>,
    one_worker: bool,
    register_file_bytes: usize,
    regions: Vec<Vec<BlockId>>,
    region_of: Vec<usize>,
    code: Vec<OnceLock<Result<Compiled, JitError>>>,
    isa: OwnedTargetIsa,
    translate_ns: AtomicU64,
    /// Goes on where code could not be made.
    interpreter: Interpreter,
}

impl Program {
    pub fn new(function: &Function, launch: LaunchClass, one_worker: bool) -> Result<Program, JitError> {
        let start = Instant::now();
        let isa = host_isa()?;
        let analysis::Optimized { function, flow, read_first } = analysis::optimize(function);
        let function = Arc::new(function);
        let interpreter = Interpreter::new(function.clone())?;
        let layout = interpreter.layout().clone();
        let facts = analysis::facts(&function, &flow, launch);
        let in_loops = analysis::in_loops(&function, &flow);
        let plan = |(index, facts): (usize, &analysis::Facts)| {
            BlockPlan::of(&function, &layout, BlockId(index as u32), in_loops[index], launch, facts)
        };
        let plans: Vec<BlockPlan> = facts.iter().enumerate().map(plan).collect();
        let register_file_bytes = plans.iter().map(|plan| plan.bytes).max().unwrap_or(layout.bytes() as usize);
        let register_file_bytes = register_file_bytes.next_multiple_of(64);
        if register_file_bytes > MAX_REGISTER_FILE {
            return Err(JitError::RegisterFile {
                kernel: function.name.clone(),
                bytes: register_file_bytes,
                max: MAX_REGISTER_FILE,
            });
        }
        let (regions, region_of) = divide(&function);
        let program = Program {
            read_first,
            code: regions.iter().map(|_| OnceLock::new()).collect(),
            layout,
            plans,
            one_worker,
            register_file_bytes,
            regions,
            region_of,
            isa,
            translate_ns: AtomicU64::new(0),
            interpreter,
            function,
        };
        program.translate_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        Ok(program)
    }

    pub fn function(&self) -> &Function {
        &self.function
    }

    fn layout(&self) -> &RegLayout {
        &self.layout
    }

    fn plan(&self, id: BlockId) -> &BlockPlan {
        &self.plans[id.0 as usize]
    }

    fn read_first(&self) -> &[Reg] {
        &self.read_first
    }

    fn one_worker(&self) -> bool {
        self.one_worker
    }

    fn indirect_targets(&self) -> Vec<(u64, BlockId)> {
        self.function.indirect_targets().collect()
    }

    /// Nanoseconds spent on translation so far.
    pub fn translate_ns(&self) -> u64 {
        self.translate_ns.load(Relaxed)
    }

    fn lower(&self, region: usize) -> Result<Lowered, JitError> {
        lower_region(self, &self.regions[region], &self.isa)
    }

    fn compile_region(&self, region: usize) -> Result<Compiled, JitError> {
        let Lowered { function, owned } = self.lower(region)?;
        let mut context = cranelift_codegen::Context::for_function(function);
        Ok(Compiled { code: compile(&mut context, &self.isa)?, _owned: owned })
    }

    /// Compiles every region now. Launches need not: a region is compiled when it is first entered, and interpreted if
    /// that fails.
    pub fn compile_all(&self) -> Result<(), &JitError> {
        (0..self.regions.len()).try_for_each(|region| self.compiled(region).as_ref().map(|_| ()))
    }

    /// The code of a region, made now if there is none yet.
    fn compiled(&self, region: usize) -> &Result<Compiled, JitError> {
        self.code[region].get_or_init(|| {
            let start = Instant::now();
            let compiled = self.compile_region(region);
            self.translate_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
            compiled
                .inspect_err(|error| tracing::error!("{}: region {region} is interpreted: {error}", self.function.name))
        })
    }

    /// The entry of a region; `None` if it cannot be compiled.
    fn entry(&self, region: usize) -> Option<abi::Entry> {
        let compiled = self.compiled(region).as_ref().ok()?;
        // SAFETY: the code of a region is a function of this type, and it lives as long as the program.
        Some(unsafe { std::mem::transmute::<*const u8, abi::Entry>(compiled.code.address()) })
    }
}

impl Engine for Program {
    fn lanes(&self) -> u32 {
        self.function.lanes.into()
    }

    fn register_file_bytes(&self) -> usize {
        self.register_file_bytes
    }

    fn run(&self, context: &mut WarpContext) -> ExitCode {
        loop {
            let block = context.resume;
            let Some(entry) = self.entry(self.region_of[block as usize]) else {
                return self.interpreter.run(context);
            };
            // SAFETY: the scheduler made the context: its register file has `register_file_bytes`, its pointers are
            // valid for the call, and no other thread uses it. The code touches guest memory through them only.
            let code = unsafe { entry(context, block) };
            match code {
                abi::CONTINUE => {}
                0 => return ExitCode::Done,
                1 => return ExitCode::Barrier,
                2 => return ExitCode::Yield,
                3 => return ExitCode::Fault,
                4 => return ExitCode::UnknownPc,
                _ => return ExitCode::Service,
            }
        }
    }

    fn block_pc(&self, block: u32) -> u64 {
        self.function.blocks.get(block as usize).map_or(0, |block| block.pc)
    }
}

/// Cuts a function into regions of neighbouring blocks.
fn divide(function: &Function) -> (Vec<Vec<BlockId>>, Vec<usize>) {
    let mut regions: Vec<Vec<BlockId>> = Vec::new();
    let mut region_of = Vec::with_capacity(function.blocks.len());
    let mut size = usize::MAX;
    for (index, block) in function.blocks.iter().enumerate() {
        let insts = block.insts.len() + 4;
        if size.saturating_add(insts) > REGION_INSTS {
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
    variants: Mutex<HashMap<(LaunchClass, bool), Arc<Program>>>,
}

impl Kernel {
    pub fn new(function: Arc<Function>) -> Kernel {
        Kernel { function, variants: Mutex::new(HashMap::new()) }
    }

    /// The program for blocks of this size on this many worker threads.
    pub fn program(&self, block: [u32; 3], threads: usize) -> Result<Arc<Program>, JitError> {
        let launch = LaunchClass::of(block, self.function.lanes.into());
        let mut variants = self.variants.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut key = (launch, threads <= 1);
        if !variants.contains_key(&key) && variants.len() >= MAX_VARIANTS {
            key = (LaunchClass::Any, false);
        }
        if let Some(program) = variants.get(&key) {
            return Ok(program.clone());
        }
        let program = Arc::new(Program::new(&self.function, key.0, key.1)?);
        variants.insert(key, program.clone());
        Ok(program)
    }

    /// Nanoseconds spent on translation so far, and the number of programs.
    pub fn translated(&self) -> (u64, usize) {
        let variants = self.variants.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        (variants.values().map(|program| program.translate_ns()).sum(), variants.len())
    }
}
