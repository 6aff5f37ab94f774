//! Symbols of a code object, and the functions they name.

use std::collections::{BTreeMap, BTreeSet};

use object::LittleEndian as LE;
use object::elf::{
    SHN_UNDEF, SHT_DYNSYM, SHT_SYMTAB, STB_LOCAL, STB_WEAK, STT_FUNC, STT_NOTYPE, STT_OBJECT,
    SectionType, Sym64, SymbolType,
};
use object::read::elf::{SectionHeader, SectionTable, Sym, SymbolTable};

use super::metadata::{Kernel, Kernels};
use super::{Header, HsaKernel, KernelDescriptor, kernel_code};
use crate::{
    Binding, Error, Function, Module, Param, SectionId, Symbol, SymbolId, SymbolKind, Unreadable,
};

/// `STT_AMDGPU_HSA_KERNEL`: a kernel in code objects of version 2.
pub(super) const STT_KERNEL: SymbolType = SymbolType(10);
/// The suffix of a kernel descriptor's symbol.
const DESCRIPTOR_SUFFIX: &str = ".kd";
/// The most user SGPRs that GFX9 sets up.
const MAX_USER_SGPRS: u32 = 16;
/// The size of the smallest instruction, and the alignment of all instructions.
const INSTRUCTION_BYTES: u64 = 4;

/// The symbols that relocations refer to.
pub(super) struct Dynamic {
    /// The image itself.
    pub image: SymbolId,
    /// The module's symbol for each index of `.dynsym`.
    pub symbols: Vec<Option<SymbolId>>,
}

/// Reads the symbols of `.dynsym`, and further (local) symbols of `.symtab`, which may be stripped.
///
/// `version` is the version of the code object.
pub(super) fn read(
    bytes: &[u8],
    sections: &SectionTable<'_, Header>,
    version: u8,
    module: &mut Module,
) -> Result<Dynamic, Error> {
    let image = SymbolId(module.symbols.len());
    let section = module.section(SectionId(0));
    module.symbols.push(Symbol {
        name: section.name.clone(),
        kind: SymbolKind::Section,
        section: Some(SectionId(0)),
        offset: 0,
        size: section.size,
        binding: Binding::Local,
        dynamic_shared: false,
    });
    let mut reader =
        Reader { bytes, sections, version, names_left: 4 * bytes.len(), known: BTreeSet::new() };
    let symbols = reader.table(SHT_DYNSYM, module)?;
    reader.table(SHT_SYMTAB, module)?;
    Ok(Dynamic { image, symbols })
}

struct Reader<'a> {
    bytes: &'a [u8],
    sections: &'a SectionTable<'a, Header>,
    version: u8,
    /// The bytes of names that may still be read.
    ///
    /// Names overlap little in a well-formed file; a hostile file could otherwise demand any amount
    /// of memory.
    names_left: usize,
    /// The added symbols, by address and name.
    known: BTreeSet<(u64, &'a [u8])>,
}

impl<'a> Reader<'a> {
    fn table(
        &mut self,
        ty: SectionType,
        module: &mut Module,
    ) -> Result<Vec<Option<SymbolId>>, Error> {
        let table: SymbolTable<'a, Header> =
            self.sections.symbols(LE, self.bytes, ty).map_err(|e| {
                Error::malformed(0x28, format!("symbol table: {e}"), "symbols and their strings")
            })?;
        let at = self.sections.section(table.section()).map_or(0, |s| s.sh_offset(LE));
        let mut ids = vec![None; table.len()];
        for (index, symbol) in table.enumerate() {
            let at = at + (index.0 * size_of::<Sym64<LE>>()) as u64;
            let name = symbol.name(LE, table.strings()).map_err(|e| {
                Error::malformed(
                    at,
                    format!("name of symbol {}: {e}", index.0),
                    "an offset in strings",
                )
            })?;
            if let Some(symbol) = self.symbol(symbol, name, at, ty == SHT_DYNSYM, module)? {
                ids[index.0] = Some(SymbolId(module.symbols.len()));
                module.symbols.push(symbol);
            }
        }
        Ok(ids)
    }

    /// Adds the symbol if it is a function or a variable that is not known yet.
    fn symbol(
        &mut self,
        symbol: &Sym64<LE>,
        raw: &'a [u8],
        at: u64,
        dynamic: bool,
        module: &Module,
    ) -> Result<Option<Symbol>, Error> {
        let index = symbol.st_shndx(LE);
        let defined = index != SHN_UNDEF && !index.is_reserved();
        let (offset, size) = (symbol.st_value(LE), symbol.st_size(LE));
        let mut kind = match symbol.st_type() {
            STT_FUNC => SymbolKind::Function,
            STT_OBJECT => SymbolKind::Object,
            STT_KERNEL if self.version == 2 && defined => SymbolKind::Descriptor,
            // An undefined symbol has no type, nor has a label.
            STT_NOTYPE if dynamic && !raw.is_empty() => SymbolKind::Object,
            _ => return Ok(None),
        };
        if !dynamic && !defined || !self.known.insert((offset, raw)) {
            return Ok(None);
        }
        self.names_left = self.names_left.checked_sub(raw.len()).ok_or_else(|| {
            Error::malformed(at, "names", "names that do not overlap in the string table")
        })?;
        let name = String::from_utf8_lossy(raw).into_owned();
        if self.version > 2
            && defined
            && kind == SymbolKind::Object
            && name.ends_with(DESCRIPTOR_SUFFIX)
        {
            kind = SymbolKind::Descriptor;
        }
        let image = module.section(SectionId(0)).size;
        if defined && offset.checked_add(size).is_none_or(|end| end > image) {
            let what = format!("symbol {name} at {offset:#x} of {size:#x} bytes");
            return Err(Error::malformed(
                at,
                what,
                format!("it to lie within the image's {image:#x} bytes"),
            ));
        }
        Ok(Some(Symbol {
            name,
            kind,
            section: defined.then_some(SectionId(0)),
            offset,
            size,
            binding: match symbol.st_bind() {
                STB_LOCAL => Binding::Local,
                STB_WEAK => Binding::Weak,
                _ => Binding::Global,
            },
            dynamic_shared: false,
        }))
    }
}

/// Makes a function of each kernel descriptor, and of each function that is no kernel's entry.
///
/// A kernel whose descriptor or description is wrong is unreadable.
pub(super) fn functions(module: &mut Module, kernels: Kernels, version: u8) {
    let mut by_descriptor: BTreeMap<String, Result<Kernel, Error>> = BTreeMap::new();
    for kernel in kernels.described {
        let symbol = kernel.symbol.clone();
        let entry = match by_descriptor.contains_key(&symbol) {
            true => Err(kernel.wrong("it is described twice", "one entry for each kernel")),
            false => Ok(kernel),
        };
        by_descriptor.insert(symbol, entry);
    }
    by_descriptor
        .extend(kernels.unreadable.into_iter().map(|(symbol, error)| (symbol, Err(error))));
    let descriptors = || {
        module
            .symbols
            .iter()
            .enumerate()
            .filter(|(_, symbol)| symbol.kind == SymbolKind::Descriptor)
    };
    let known: BTreeSet<&str> = descriptors().map(|(_, symbol)| symbol.name.as_str()).collect();
    let mut unreadable = Vec::new();
    for (symbol, kernel) in
        by_descriptor.extract_if(.., |symbol, _| !known.contains(symbol.as_str()))
    {
        let absent = |kernel: Kernel| {
            kernel.wrong("there is no such symbol", "a kernel descriptor in the image")
        };
        unreadable
            .push(Unreadable::new(kernel_name(&symbol), kernel.map_or_else(|error| error, absent)));
    }
    // A wrong name may mean a descriptor that has no description.
    let misnamed = unreadable.first().map(|kernel| kernel.error.clone());
    let place = |s: &Symbol| (s.offset, s.name.clone());
    let is_code = |s: &&Symbol| s.kind == SymbolKind::Function && s.section.is_some();
    let mut code: BTreeMap<(u64, String), SymbolId> = (module.symbols.iter().enumerate())
        .filter(|(_, s)| is_code(s))
        .map(|(i, s)| (place(s), SymbolId(i)))
        .collect();
    let mut functions = Vec::new();
    for (i, symbol) in descriptors() {
        let described =
            by_descriptor.remove(&symbol.name).or_else(|| misnamed.clone().map(Err)).transpose();
        match described
            .and_then(|described| kernel(module, SymbolId(i), described, &mut code, version))
        {
            Ok(function) => functions.push(function),
            Err(error) => unreadable.push(Unreadable::new(kernel_name(&symbol.name), error)),
        }
    }
    for id in code.into_values() {
        let symbol = module.symbol(id);
        match instruction_at(module, symbol.offset, &symbol.name) {
            Ok(()) => {
                let (offset, size) = (symbol.offset, symbol.size);
                functions.push(Function::new(
                    symbol.name.clone(),
                    id,
                    SectionId(0),
                    offset,
                    size,
                    false,
                ));
            }
            Err(error) => unreadable.push(Unreadable::new(symbol.name.clone(), error)),
        }
    }
    module.functions = functions;
    module.unreadable.append(&mut unreadable);
}

fn kernel_name(symbol: &str) -> &str {
    symbol.trim_end_matches(DESCRIPTOR_SUFFIX)
}

/// Makes the function of a kernel from its descriptor's symbol. Removes its entry from `code`.
fn kernel(
    module: &Module,
    id: SymbolId,
    described: Option<Kernel>,
    code: &mut BTreeMap<(u64, String), SymbolId>,
    version: u8,
) -> Result<Function, Error> {
    let symbol = module.symbol(id);
    let name = kernel_name(&symbol.name);
    let (descriptor, entry) = descriptor(module, symbol, version)?;
    let entry_symbol = code.remove(&(entry, name.to_string()));
    let own_size =
        if version == 2 { (symbol.offset + symbol.size).saturating_sub(entry) } else { 0 };
    let size = entry_symbol.map_or(own_size, |id| module.symbol(id).size);
    let mut function = Function::new(
        name.to_string(),
        entry_symbol.unwrap_or(id),
        SectionId(0),
        entry,
        size,
        true,
    );
    let hsa = match described {
        Some(kernel) => kernel.check(&descriptor)?,
        None => HsaKernel::without_metadata(descriptor),
    };
    let hsa = HsaKernel { descriptor_at: symbol.offset, descriptor, ..hsa };
    function.params =
        hsa.args.iter().map(|arg| Param { offset: arg.offset, size: arg.size }).collect();
    function.param_bytes = hsa.kernarg_bytes;
    function.registers = descriptor.vgprs();
    function.shared_bytes = descriptor.group_segment_bytes.into();
    function.required_threads = hsa.reqd_workgroup_size;
    function.hsa = Some(Box::new(hsa));
    Ok(function)
}

/// Returns a kernel's descriptor, and the address of its code.
fn descriptor(
    module: &Module,
    symbol: &Symbol,
    version: u8,
) -> Result<(KernelDescriptor, u64), Error> {
    let (name, at) = (&symbol.name, symbol.offset);
    let image = &module.section(SectionId(0)).data;
    let content = usize::try_from(at).ok().and_then(|at| image.get(at..)).unwrap_or_default();
    let short = |bytes: usize| {
        let what = format!("kernel descriptor {name} at address {at:#x}");
        Error::malformed(at, what, format!("{bytes} bytes of the image's content"))
    };
    let wrong = |what: String, expected: String| {
        Error::malformed(at, format!("kernel descriptor {name}: {what}"), expected)
    };
    let descriptor = if version == 2 {
        let bytes = content.first_chunk().ok_or_else(|| short(kernel_code::BYTES))?;
        kernel_code::decode(bytes).map_err(|(what, expected)| wrong(what, expected.into()))?
    } else {
        KernelDescriptor::decode(
            content.first_chunk().ok_or_else(|| short(KernelDescriptor::BYTES))?,
        )
    };
    if descriptor.is_wave32() {
        return Err(wrong("waves of 32 lanes".into(), "64 lanes, as GFX9 has".into()));
    }
    let needed: u32 = descriptor.user_sgprs().map(|(sgpr, _)| sgpr.registers()).sum();
    let count = descriptor.user_sgpr_count();
    if !(needed..=MAX_USER_SGPRS).contains(&count) {
        return Err(wrong(format!("{count} user SGPRs"), format!("{needed} to {MAX_USER_SGPRS}")));
    }
    let entry = at.wrapping_add_signed(descriptor.entry_offset);
    instruction_at(module, entry, name)?;
    Ok((descriptor, entry))
}

/// Checks that an instruction of the function fits at the address.
fn instruction_at(module: &Module, address: u64, function: &str) -> Result<(), Error> {
    let image = module.section(SectionId(0)).data.len() as u64;
    let end = address.checked_add(INSTRUCTION_BYTES).filter(|&end| end <= image);
    if end.is_none() || !address.is_multiple_of(INSTRUCTION_BYTES) {
        let what = format!("code of {function} at address {address:#x}");
        return Err(Error::malformed(
            address,
            what,
            format!("a multiple of 4 in the image's {image:#x} bytes"),
        ));
    }
    Ok(())
}
