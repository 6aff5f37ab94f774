//! The machine code of a program: a module of Cranelift's JIT. Code is compiled outside of its lock and then defined as bytes with
//! their relocations; helpers and what Cranelift calls for want of an instruction are symbols.

mod gdb;
mod libcalls;
mod memory;
mod names;

use std::sync::{Mutex, PoisonError};

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir as clif;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::{CodegenResult, CompiledCode, Context, FinalizedRelocTarget};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleReloc};

use super::helpers::{self, Helper};
use super::{JitError, Target};
use memory::CodePages;
use names::Names;
pub use names::keep_frames;

/// The code of one program, which lives as long as this.
pub struct CodeModule {
    /// None once it is dropped.
    module: Mutex<Option<(JITModule, Names)>>,
}

/// A function's code. It may be called while its [`CodeModule`] lives.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    start: *const u8,
    bytes: usize,
}

// SAFETY: it is an address of code that no one writes.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    pub fn address(self) -> *const u8 {
        self.start
    }

    pub fn bytes(self) -> usize {
        self.bytes
    }
}

/// Machine code that is not in its place yet.
pub struct MachineCode {
    pub compiled: CompiledCode,
    function: clif::Function,
}

impl MachineCode {
    /// Compiles a function. `hides_uses`: whether parameters of blocks hide how often values are used.
    /// `Context::compile` would make values of them again where there is one way into the block.
    pub fn new(function: clif::Function, hides_uses: bool, isa: &OwnedTargetIsa) -> Result<MachineCode, JitError> {
        MachineCode::compile(function, hides_uses, isa, false)
    }

    /// The same, with the code generator's own listing of it.
    pub fn with_listing(
        function: clif::Function,
        hides_uses: bool,
        isa: &OwnedTargetIsa,
    ) -> Result<MachineCode, JitError> {
        MachineCode::compile(function, hides_uses, isa, true)
    }

    fn compile(
        function: clif::Function,
        hides_uses: bool,
        isa: &OwnedTargetIsa,
        listing: bool,
    ) -> Result<MachineCode, JitError> {
        let mut context = Context::for_function(function);
        let mut prepare = || -> CodegenResult<()> {
            context.verify_if(&**isa)?;
            context.compute_cfg();
            context.compute_domtree();
            context.eliminate_unreachable_code(&**isa)?;
            if !hides_uses {
                context.remove_constant_phis(&**isa)?;
            }
            context.func.dfg.resolve_all_aliases();
            Ok(())
        };
        prepare().map_err(|error| JitError::Codegen(format!("{error:?}")))?;
        let Context { func: function, domtree, .. } = context;
        let compiled = generate(&function, &domtree, isa, listing)?;
        Ok(MachineCode { compiled, function })
    }

    /// The same function compiled by another code generator of the same host.
    pub fn compiled_by(self, isa: &OwnedTargetIsa) -> Result<MachineCode, JitError> {
        let function = self.function;
        let domtree = DominatorTree::with_function(&function, &ControlFlowGraph::with_function(&function));
        let compiled = generate(&function, &domtree, isa, false)?;
        Ok(MachineCode { compiled, function })
    }

    /// Bytes of the host's stack that a call takes.
    pub fn frame_bytes(&self) -> u32 {
        self.compiled.buffer.frame_layout().map_or(0, |frame| frame.frame_to_fp_offset)
    }

    pub fn bytes(&self) -> &[u8] {
        self.compiled.code_buffer()
    }
}

/// Allocates registers and writes machine code.
fn generate(
    function: &clif::Function,
    domtree: &DominatorTree,
    isa: &OwnedTargetIsa,
    listing: bool,
) -> Result<CompiledCode, JitError> {
    let (mut registers, mut control) = (regalloc2::Ctx::default(), ControlPlane::default());
    let code = isa.compile_function(function, domtree, &mut registers, listing, &mut control);
    let code = code.map_err(|error| JitError::Codegen(format!("{error:?}")))?;
    Ok(code.apply_params(&function.params))
}

impl CodeModule {
    /// An empty module for this host, whose code may call helpers.
    pub fn new() -> Result<CodeModule, JitError> {
        let trampolines = helpers::trampolines()?;
        CodeModule::with_symbols(&trampolines.map(|(helper, code)| (helper.name(), code.address())))
    }

    /// The module that the trampolines are in.
    pub fn of_trampolines() -> Result<CodeModule, JitError> {
        CodeModule::with_symbols(&Helper::ALL.map(|helper| (helper.name(), helper.address())))
    }

    /// Helpers are the first functions of a module: their numbers are the helpers'.
    fn with_symbols(helpers: &[(&str, *const u8)]) -> Result<CodeModule, JitError> {
        let isa = Target::host()?.isa(super::Effort::Quick).clone();
        let mut builder = JITBuilder::with_isa(isa.clone(), Box::new(libcalls::name));
        builder.memory_provider(Box::new(CodePages::default()));
        builder.symbols(libcalls::symbols());
        builder.symbols(helpers.iter().map(|&(name, address)| (name, address)));
        let mut module = JITModule::new(builder);
        for helper in Helper::ALL {
            let signature = helper.signature(isa.default_call_conv());
            let id = module.declare_function(helper.name(), Linkage::Import, &signature)?;
            debug_assert_eq!(id.as_u32(), helper as u32);
        }
        Ok(CodeModule { module: Mutex::new(Some((module, Names::default()))) })
    }

    /// Puts code in its place. The name is what profilers and debuggers show, and is not used a second time.
    pub fn define(&self, name: &str, code: &MachineCode) -> Result<Code, JitError> {
        Ok(self.define_all(&[(name, code)])?[0])
    }

    /// The same for several functions, on pages that they share.
    pub fn define_all(&self, functions: &[(&str, &MachineCode)]) -> Result<Vec<Code>, JitError> {
        let mut module = self.module.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((module, names)) = module.as_mut() else { unreachable!("the module lives as long as this") };
        let mut ids = Vec::new();
        for &(name, code) in functions {
            let id = module.declare_function(name, Linkage::Local, &code.function.signature)?;
            let relocations = relocations(code, id)?;
            module.define_function_bytes(id, code.compiled.buffer.alignment.into(), code.bytes(), &relocations)?;
            ids.push(id);
        }
        module.finalize_definitions()?;
        let placed = functions.iter().zip(ids).map(|(&(name, code), id)| {
            let code = Code { start: module.get_finalized_function(id), bytes: code.bytes().len() };
            names.add(name, code);
            code
        });
        Ok(placed.collect())
    }
}

/// Relocations of code, all of which can be resolved.
fn relocations(code: &MachineCode, id: FuncId) -> Result<Vec<ModuleReloc>, JitError> {
    let convert = |reloc| match reloc {
        &cranelift_codegen::FinalizedMachReloc {
            target: FinalizedRelocTarget::ExternalName(clif::ExternalName::LibCall(call)),
            ..
        } if !libcalls::is_provided(call) => Err(JitError::Codegen(format!("a call of {call} is not provided"))),
        reloc => Ok(ModuleReloc::from_mach_reloc(reloc, &code.function, id)),
    };
    code.compiled.buffer.relocs().iter().map(convert).collect()
}

impl Drop for CodeModule {
    fn drop(&mut self) {
        let module = self.module.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((module, names)) = module.take() {
            drop(names);
            // SAFETY: code is called through its program, which owns this and is being dropped.
            unsafe { module.free_memory() };
        }
    }
}
