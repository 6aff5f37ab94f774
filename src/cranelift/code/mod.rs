//! The machine code of a program, a module of Cranelift's JIT. Code is compiled outside of the
//! module's lock, and then defined as bytes with relocations. Symbols are helpers, tables, and
//! functions that Cranelift calls for want of an instruction.

mod gdb;
mod libcalls;
mod memory;
mod names;

use std::sync::{Mutex, PoisonError};

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::{
    CodegenResult, CompiledCode, Context, FinalizedMachReloc, FinalizedRelocTarget, ir as clif,
};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, ModuleError, ModuleReloc, ModuleRelocTarget};
use memory::CodePages;
use names::Names;
pub use names::keep_frames;
use warploom_engine::helpers::Helper;
use warploom_engine::object::{Referent, Relocatable, Relocation};
use warploom_engine::{Code, CodeSpace, Effort, JitError};

use crate::lower::{self, Table};
use crate::{Target, helpers};

/// The code of one program. It lives as long as this value.
pub struct CodeModule {
    /// `None` once it is dropped.
    module: Mutex<Option<(JITModule, Names)>>,
}

/// Machine code that is not in its place yet.
pub struct MachineCode {
    pub compiled: CompiledCode,
    function: clif::Function,
}

impl MachineCode {
    /// Compiles a function. `hides_uses` says whether block parameters hide how often values are
    /// used. `Context::compile` would turn parameters back into values where a block has one
    /// predecessor.
    pub fn new(
        function: clif::Function,
        hides_uses: bool,
        isa: &OwnedTargetIsa,
    ) -> Result<MachineCode, JitError> {
        MachineCode::compile(function, hides_uses, isa, false)
    }

    /// Compiles a function, and keeps the code generator's own listing of it.
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

    /// Compiles the same function by another code generator of the same host.
    pub fn compiled_by(self, isa: &OwnedTargetIsa) -> Result<MachineCode, JitError> {
        let function = self.function;
        let domtree =
            DominatorTree::with_function(&function, &ControlFlowGraph::with_function(&function));
        let compiled = generate(&function, &domtree, isa, false)?;
        Ok(MachineCode { compiled, function })
    }

    /// Returns the bytes of the host's stack that a call takes.
    pub fn frame_bytes(&self) -> u32 {
        self.compiled.buffer.frame_layout().map_or(0, |frame| frame.frame_to_fp_offset)
    }

    pub fn bytes(&self) -> &[u8] {
        self.compiled.code_buffer()
    }

    /// Returns the code in a form that can be put anywhere.
    ///
    /// # Errors
    /// The code calls a function that is not provided.
    pub fn relocatable(&self) -> Result<Relocatable, JitError> {
        let relocations = self.compiled.buffer.relocs().iter();
        let relocations = relocations.map(|found| relocation(found, &self.function));
        Ok(Relocatable {
            bytes: self.bytes().to_vec(),
            alignment: self.compiled.buffer.alignment,
            relocations: relocations.collect::<Result<_, _>>()?,
        })
    }
}

/// Converts a relocation of the code generator.
fn relocation(
    found: &FinalizedMachReloc,
    function: &clif::Function,
) -> Result<Relocation, JitError> {
    let &FinalizedMachReloc { offset, kind, ref target, addend } = found;
    let unknown = || JitError::Codegen(format!("code refers to {target:?} + {addend} by {kind:?}"));
    let to =
        match target {
            FinalizedRelocTarget::ExternalName(clif::ExternalName::User(name)) => {
                let name = &function.params.user_named_funcs()[*name];
                match name.namespace {
                    helpers::NAMESPACE => Referent::Helper(name.index),
                    lower::TABLES => Referent::Table(name.index),
                    _ => return Err(unknown()),
                }
            }
            FinalizedRelocTarget::ExternalName(clif::ExternalName::LibCall(call)) => {
                let number = libcalls::number(*call);
                Referent::LibCall(number.ok_or_else(|| {
                    JitError::Codegen(format!("a call of {call} is not provided"))
                })?)
            }
            _ => return Err(unknown()),
        };
    if (kind, addend) == (Reloc::Abs8, 0) { Ok(Relocation { offset, to }) } else { Err(unknown()) }
}

/// Converts a relocation to the form of a module. Returns `None` if it refers to a helper, table or
/// function that the module does not have, or lies outside of the code.
fn resolved(relocation: &Relocation, length: usize) -> Option<ModuleReloc> {
    let fits = (relocation.offset as usize).checked_add(8).is_some_and(|end| end <= length);
    let name = match relocation.to {
        Referent::Helper(number) if (number as usize) < Helper::ALL.len() => {
            ModuleRelocTarget::user(helpers::NAMESPACE, number)
        }
        Referent::Table(number) if (number as usize) < Table::all().len() => {
            ModuleRelocTarget::user(lower::TABLES, number)
        }
        Referent::LibCall(number) => ModuleRelocTarget::LibCall(libcalls::numbered(number)?),
        _ => return None,
    };
    fits.then_some(ModuleReloc { offset: relocation.offset, kind: Reloc::Abs8, name, addend: 0 })
}

/// Allocates registers and writes machine code.
fn generate(
    function: &clif::Function,
    domtree: &DominatorTree,
    isa: &OwnedTargetIsa,
    listing: bool,
) -> Result<CompiledCode, JitError> {
    let mut control = ControlPlane::default();
    let code =
        isa.compile_function(function, domtree, &mut Default::default(), listing, &mut control);
    let code = code.map_err(|error| JitError::Codegen(format!("{error:?}")))?;
    Ok(code.apply_params(&function.params))
}

impl CodeModule {
    /// Makes an empty module for this host, whose code may call helpers.
    pub fn new() -> Result<CodeModule, JitError> {
        let trampolines = helpers::trampolines()?;
        CodeModule::with_symbols(&trampolines.map(|(helper, code)| (helper.name(), code.address())))
    }

    /// Makes the module for the trampolines.
    pub fn of_trampolines() -> Result<CodeModule, JitError> {
        CodeModule::with_symbols(&Helper::ALL.map(|helper| (helper.name(), helper.address())))
    }

    /// Makes a module. Helpers are its first functions, and tables are its data, so their numbers
    /// in the module are the numbers of helpers and tables.
    fn with_symbols(helpers: &[(&str, *const u8)]) -> Result<CodeModule, JitError> {
        let isa = Target::host()?.isa(Effort::Quick).clone();
        let mut builder = JITBuilder::with_isa(isa.clone(), Box::new(libcalls::name));
        builder.memory_provider(Box::new(CodePages::default()));
        builder.symbols(libcalls::symbols());
        builder.symbols(helpers.iter().map(|&(name, address)| (name, address)));
        builder.symbols(Table::all().iter().map(|table| (table.name(), table.address())));
        let mut module = JITModule::new(builder);
        for helper in Helper::ALL {
            let signature = helpers::signature(helper, isa.default_call_conv());
            let id = module
                .declare_function(helper.name(), Linkage::Import, &signature)
                .map_err(module_error)?;
            debug_assert_eq!(id.as_u32(), helper as u32);
        }
        for (number, table) in (0..).zip(Table::all()) {
            let id = module
                .declare_data(&table.name(), Linkage::Import, false, false)
                .map_err(module_error)?;
            debug_assert_eq!(id.as_u32(), number);
        }
        Ok(CodeModule { module: Mutex::new(Some((module, Names::default()))) })
    }

    /// Puts several functions in their places, on pages that they share. Profilers and debuggers
    /// show the names. Each name must be used only once.
    ///
    /// # Errors
    /// The code refers to something other than helpers, tables and library calls, or there is no
    /// memory for it.
    pub fn define_all(&self, functions: &[(&str, &Relocatable)]) -> Result<Vec<Code>, JitError> {
        let mut module = self.module.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((module, names)) = module.as_mut() else {
            unreachable!("the module lives as long as this")
        };
        let mut ids = Vec::new();
        for &(name, code) in functions {
            // Nothing in the module calls the function, so its signature does not matter.
            let id = module
                .declare_function(name, Linkage::Local, &module.make_signature())
                .map_err(module_error)?;
            let resolve = |relocation: &Relocation| {
                let problem =
                    || JitError::Codegen(format!("code of {name} refers to {relocation:?}"));
                resolved(relocation, code.bytes.len()).ok_or_else(problem)
            };
            let relocations =
                code.relocations.iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
            module
                .define_function_bytes(id, code.alignment.into(), &code.bytes, &relocations)
                .map_err(module_error)?;
            ids.push(id);
        }
        module.finalize_definitions().map_err(module_error)?;
        let placed = functions.iter().zip(ids).map(|(&(name, code), id)| {
            let code = Code::new(module.get_finalized_function(id), code.bytes.len());
            names.add(name, code);
            code
        });
        Ok(placed.collect())
    }
}

// SAFETY: the module has the bytes with its relocations applied, does not write them again, and
// frees them when it is dropped.
unsafe impl CodeSpace for CodeModule {
    fn define(&self, name: &str, code: &Relocatable) -> Result<Code, JitError> {
        Ok(self.define_all(&[(name, code)])?[0])
    }
}

fn module_error(error: ModuleError) -> JitError {
    JitError::Module(error.to_string())
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
