//! Intel vISA: zebins (ELF files of machine 205 with the text in sections), text files, and old
//! binary files.
//!
//! `zebin` reads the ELF file, and `info` its `.ze_info` with the places of arguments. `data` reads
//! sections, symbols and relocations of data. The code of the module is the concatenated texts, or
//! the binary file: the address of an instruction is its position there. Source: facts, `visa.md` 1
//! and 2, `visa-semantics.md` 8, 9 and 13.

mod data;
pub mod info;
mod zebin;

use std::sync::Arc;

pub use info::{KernelInfo, ZeInfo};
use warploom_guest::platform::Platform;
use warploom_visa::{binary, module as visa, text};
pub(super) use zebin::parse as parse_zebin;

use super::Error;
use super::module::{
    Binding, Function, Isa, Module, Param, Section, SectionId, SectionKind, Symbol, SymbolId,
    SymbolKind, Unreadable,
};

/// A kernel that only carries symbols.
const SYMBOL_TABLE_KERNEL: &str = "Intel_Symbol_Table_Void_Program";
const CODE: SectionId = SectionId(0);

/// A module of vISA with the facts that the rest of warploom needs.
#[derive(Clone, Debug)]
pub struct VisaModule {
    pub module: visa::Module,
    /// The `.ze_info`; `None` if there is only text or an old binary.
    pub info: Option<ZeInfo>,
}

/// A module is equal only to itself.
impl PartialEq for VisaModule {
    fn eq(&self, other: &VisaModule) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for VisaModule {}

/// The data of a vISA function.
#[derive(Clone, Debug, PartialEq)]
pub struct VisaKernel {
    /// Index into the routines of [`VisaModule::module`].
    pub routine: usize,
    /// The kernel's facts in `.ze_info`; `None` without a `.ze_info`.
    pub info: Option<KernelInfo>,
}

/// Makes the module of a text.
pub(super) fn parse_text(bytes: &[u8]) -> Result<Module, Error> {
    let text::Read { platform, routines } = text::read_each(bytes)?;
    let routines =
        routines.into_iter().map(|one| one.map_err(|one| Unreadable::new(one.name, one.errors)));
    of_routines(platform, routines, bytes.to_vec()).readable()
}

/// Makes the module of an old binary file.
pub(super) fn parse_binary(bytes: &[u8]) -> Result<Module, Error> {
    let binary::Read { platform, routines } = binary::read_each(bytes)?;
    let routines =
        routines.into_iter().map(|one| one.map_err(|(name, error)| Unreadable::new(name, error)));
    of_routines(platform, routines, bytes.to_vec()).readable()
}

/// Makes the module of readable and unreadable routines.
fn of_routines(
    platform: Option<Platform>,
    routines: impl Iterator<Item = Result<visa::Routine, Unreadable>>,
    code: Vec<u8>,
) -> Module {
    let mut all = visa::Module { platform, ..visa::Module::default() };
    let mut unreadable = vec![];
    for routine in routines {
        match routine {
            Ok(routine) => all.routines.push(routine),
            Err(one) => unreadable.push(one),
        }
    }
    Module { unreadable, ..module(all, code) }
}

/// Converts vISA to the form that all binaries have.
fn module(visa: visa::Module, code: Vec<u8>) -> Module {
    let size = code.len() as u64;
    let code =
        Section { name: ".visaasm".into(), kind: SectionKind::Code, align: 1, size, data: code };
    let mut module = Module::new(Isa::Visa { platform: visa.platform }, vec![code]);
    for (number, routine) in visa.routines.iter().enumerate() {
        if routine.name == SYMBOL_TABLE_KERNEL {
            continue;
        }
        let symbol = SymbolId(module.symbols.len());
        let offset = routine.code.first().map_or(0, |first| first.at.into());
        let last = routine.code.last().map_or(offset, |last| u64::from(last.at));
        module.symbols.push(Symbol {
            name: routine.name.clone(),
            kind: SymbolKind::Function,
            section: Some(CODE),
            offset,
            size: last - offset,
            binding: Binding::Global,
            dynamic_shared: false,
        });
        let mut function = Function::new(
            routine.name.clone(),
            symbol,
            CODE,
            offset,
            last - offset,
            routine.kernel,
        );
        function.visa = Some(Box::new(VisaKernel { routine: number, info: None }));
        module.functions.push(function);
    }
    module.visa = Some(Arc::new(VisaModule { module: visa, info: None }));
    module
}

/// Adds facts to a vISA module that its file lacks: the content of a `.ze_info`, and the GPU.
///
/// # Errors
///
/// The module is not vISA, or [`apply`] fails.
pub fn describe(
    module: &mut Module,
    ze_info: Option<&[u8]>,
    platform: Option<Platform>,
) -> Result<(), Error> {
    let Some(visa) = &mut module.visa else {
        return Err(Error::NotVisa { found: module.isa.to_string() });
    };
    if let Some(platform) = platform {
        Arc::make_mut(visa).module.platform = Some(platform);
        module.isa = Isa::Visa { platform: Some(platform) };
    }
    match ze_info {
        None => Ok(()),
        Some(text) => {
            let malformed = |what| Error::malformed(0, what, "YAML as Intel's compiler writes it");
            apply(module, ZeInfo::read(text).map_err(malformed)?)
        }
    }
}

/// Gives the kernels of a module their facts in a `.ze_info`.
///
/// A kernel without an entry, or with a wrong one, is unreadable.
///
/// # Errors
///
/// No kernel is left.
pub fn apply(module: &mut Module, info: ZeInfo) -> Result<(), Error> {
    let mut unreadable = vec![];
    module.functions.retain_mut(|function| {
        if !function.kernel {
            return true;
        }
        let Some(kernel) = info.kernels.iter().find(|kernel| kernel.name == function.name) else {
            let problem = info.unreadable.iter().find(|(name, _)| *name == function.name);
            let what = match problem {
                Some((_, problem)) => format!(".ze_info: kernel `{}`: {problem}", function.name),
                None => format!(".ze_info without kernel `{}`", function.name),
            };
            unreadable.push(Unreadable::new(
                function.name.clone(),
                Error::malformed(
                    0,
                    what,
                    "an entry for each kernel, as Intel's compiler writes it",
                ),
            ));
            return false;
        };
        function.params = kernel.params();
        let ends = function.params.iter().map(|param| param.offset.saturating_add(param.size));
        function.param_bytes = ends.max().unwrap_or(0);
        function.shared_bytes = kernel.env.slm_size;
        function.barriers = kernel.env.barrier_count;
        function.registers = kernel.env.grf_count;
        function.required_threads = kernel.env.required_work_group_size;
        if let Some(visa) = &mut function.visa {
            visa.info = Some(kernel.clone());
        }
        true
    });
    module.unreadable.append(&mut unreadable);
    if module.kernels().next().is_none()
        && let Some(first) = module.unreadable.first()
    {
        return Err(first.error.clone());
    }
    if let Some(visa) = &mut module.visa {
        Arc::make_mut(visa).info = Some(info);
    }
    Ok(())
}

impl KernelInfo {
    /// Returns each argument with its first place in the payload.
    ///
    /// Arguments that the payload does not have take 0 bytes.
    fn params(&self) -> Vec<Param> {
        (0..self.arguments()).map(|number| self.param(number)).collect()
    }

    fn param(&self, number: u32) -> Param {
        let of = |arg: &&info::PayloadArgument| arg.arg_index == Some(number);
        let by_value = |arg: &&info::PayloadArgument| arg.kind == info::ArgumentKind::ByValue;
        let all = || self.payload.iter().filter(of);
        let first = all().map(|arg| arg.offset).min().unwrap_or(0);
        // A structure has several parts.
        let value =
            all().filter(by_value).map(|arg| arg.source_offset.saturating_add(arg.size)).max();
        let pointer = || all().map(|arg| arg.size).max().unwrap_or(0);
        Param { offset: first, size: value.unwrap_or_else(pointer) }
    }
}
