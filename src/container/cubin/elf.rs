//! ELF sections, symbols and relocations of a cubin -> [`Module`].

use std::collections::BTreeMap;

use object::LittleEndian as LE;
use object::elf::{
    EM_CUDA, ET_REL, FileHeader64, SHN_UNDEF, SHT_NOBITS, SHT_REL, SHT_RELA, SHT_SYMTAB, STB_LOCAL,
    STB_WEAK, STT_FUNC, STT_OBJECT, STT_SECTION, SectionHeader64, SectionType, Sym64,
};
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym, SymbolTable};

use super::info::Attributes;
use super::{Refused, lines, reloc};
use crate::{
    Binding, Error, Function, Isa, Module, Relocation, Section, SectionId, SectionKind,
    SharedSections, Symbol, SymbolId, SymbolKind, Unreadable,
};

pub(super) type Header = FileHeader64<LE>;

/// Section types of the vendor.
mod sht {
    use object::elf::SectionType;

    pub const CUDA_INFO: SectionType = SectionType(0x7000_0000);
    /// Memory without file content, like `SHT_NOBITS`.
    pub const CUDA_GLOBAL: SectionType = SectionType(0x7000_0007);
    pub const CUDA_LOCAL: SectionType = SectionType(0x7000_0009);
    pub const CUDA_SHARED: SectionType = SectionType(0x7000_000a);
    /// Constant bank n has `CUDA_CONSTANT_B0 + n`.
    pub const CUDA_CONSTANT_B0: u32 = 0x7000_0064;
}

/// Symbol types of the vendor.
mod stt {
    use object::elf::SymbolType;

    pub const CUDA_TEXTURE: SymbolType = SymbolType(10);
    pub const CUDA_SAMPLER: SymbolType = SymbolType(11);
    pub const CUDA_SURFACE: SymbolType = SymbolType(12);
    pub const CUDA_OBJECT: SymbolType = SymbolType(13);
}

/// Bits in `st_other`.
const STO_CUDA_ENTRY: u8 = 0x10;
const STO_CUDA_SPACE: u8 = 0xe0;
const STO_CUDA_SHARED: u8 = 0x40;

/// The last constant bank that an instruction can name. `MAX_BANK_BYTES`: the longest bank.
const LAST_BANK: u32 = 17;
const MAX_BANK_BYTES: u64 = 1 << 16;

/// The module from the ELF part. The attributes are still to be applied.
pub(super) struct File {
    pub module: Module,
    pub info: Vec<Attributes>,
    /// The module's symbol for each index of the file's symbol table.
    pub symbol_of_index: Vec<Option<SymbolId>>,
    code_headers: BTreeMap<SectionId, CodeHeader>,
    pub unreadable: Refused,
}

/// The data in a code section's header.
///
/// Registers are in `sh_info >> 24`, barriers in bits 20 to 26 of `sh_flags`.
struct CodeHeader {
    registers: u32,
    barriers: u32,
}

/// The file's bytes, with the number of bytes that may still be taken.
///
/// A well-formed file uses each byte for one section, and names of symbols overlap little. A
/// hostile file could otherwise demand any amount of memory.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    content_left: u64,
    names_left: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn content(
        &mut self,
        section: &SectionHeader64<LE>,
        name: &str,
    ) -> Result<&'a [u8], Error> {
        let (offset, size) = (section.sh_offset.get(LE), section.sh_size.get(LE));
        let data = slice(self.bytes, offset, size).ok_or_else(|| {
            Error::malformed(
                offset,
                format!("section {name} of {size} bytes"),
                within(self.bytes, "it to lie"),
            )
        })?;
        self.content_left = self.content_left.checked_sub(size).ok_or_else(|| {
            Error::malformed(offset, format!("section {name}"), "sections that do not overlap")
        })?;
        Ok(data)
    }

    fn name(&mut self, raw: &[u8], offset: u64) -> Result<String, Error> {
        self.names_left = self.names_left.checked_sub(raw.len() as u64).ok_or_else(|| {
            Error::malformed(offset, "names", "names that do not overlap in the string table")
        })?;
        Ok(String::from_utf8_lossy(raw).into_owned())
    }
}

fn slice(bytes: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let end = offset.checked_add(size)?;
    bytes.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
}

fn within(bytes: &[u8], what: &str) -> String {
    format!("{what} within the file's {} bytes", bytes.len())
}

pub(super) fn read(bytes: &[u8]) -> Result<File, Error> {
    let header = Header::parse(bytes).map_err(|e| {
        Error::malformed(0, format!("ELF header: {e}"), "a 64-bit little-endian ELF file")
    })?;
    let endian = header
        .endian()
        .map_err(|_| Error::malformed(5, "ELF data encoding", "little-endian (1)"))?;
    if header.e_machine(endian) != EM_CUDA {
        let what = format!("machine {}", header.e_machine(endian).0);
        return Err(Error::malformed(0x12, what, format!("{} (NVIDIA CUDA)", EM_CUDA.0)));
    }
    let isa = isa(header.e_ident().abi_version, header.e_flags(endian).0)?;
    let table_at = header.e_shoff(endian);
    let sections = header.sections(endian, bytes).map_err(|e| {
        Error::malformed(
            table_at,
            format!("section table: {e}"),
            within(bytes, "a table of section headers"),
        )
    })?;
    let symbols = sections.symbols(endian, bytes, SHT_SYMTAB).map_err(|e| {
        Error::malformed(
            table_at,
            format!("symbol table: {e}"),
            within(bytes, "symbols and their strings"),
        )
    })?;
    let mut reader =
        Reader { bytes, content_left: bytes.len() as u64, names_left: 4 * bytes.len() as u64 };
    let mut file = File {
        module: Module::new(isa, vec![]),
        info: vec![],
        symbol_of_index: vec![None; symbols.len()],
        code_headers: BTreeMap::new(),
        unreadable: Refused::default(),
    };
    let section_of_index = read_sections(&mut reader, &sections, &mut file, table_at)?;
    read_symbols(&mut reader, &symbols, &sections, &section_of_index, &mut file)?;
    if header.e_type(endian) == ET_REL {
        place_shared_variables(&mut file.module);
    }
    count_shared(&mut file.module);
    read_relocations(&mut reader, &sections, &section_of_index, &mut file)?;
    file.module.lines = lines::read(&mut reader, &sections, &file);
    Ok(file)
}

/// Returns the instruction set from the GPU in the first byte of the flags.
///
/// Files of CUDA 13, whose ABI has version 8, have it in the second byte.
fn isa(abi_version: u8, flags: u32) -> Result<Isa, Error> {
    let sm = if abi_version >= 8 { flags >> 8 } else { flags } & 0xff;
    match sm {
        sm @ (50 | 52 | 53) => Ok(Isa::Maxwell { sm }),
        // Code for sm_90 is listed only.
        sm @ (75 | 80 | 86 | 87 | 89 | 90) => Ok(Isa::Turing { sm }),
        sm => Err(Error::NotExecuted { sm }),
    }
}

/// Returns the run-time meaning of a section, if it has one.
///
/// `owner` is the section's `sh_info`, already translated.
fn kind(name: &str, ty: SectionType, owner: Option<SectionId>) -> Option<SectionKind> {
    if name == ".text" || name.starts_with(".text.") {
        return Some(SectionKind::Code);
    }
    if let Some(rest) = name.strip_prefix(".nv.constant") {
        let bank: u32 = rest.split('.').next()?.parse().ok()?;
        return (bank <= LAST_BANK).then_some(SectionKind::Constant { bank: bank as u8, owner });
    }
    match (name, ty) {
        (".nv.global" | ".nv.global.init", _) => Some(SectionKind::Global),
        _ if name.starts_with(".nv.shared") || ty == sht::CUDA_SHARED => {
            Some(SectionKind::Shared { owner })
        }
        _ => {
            let bank = ty.0.checked_sub(sht::CUDA_CONSTANT_B0).filter(|&bank| bank <= LAST_BANK)?;
            Some(SectionKind::Constant { bank: bank as u8, owner })
        }
    }
}

fn read_sections(
    reader: &mut Reader<'_>,
    sections: &SectionTable<'_, Header>,
    file: &mut File,
    table_at: u64,
) -> Result<Vec<Option<SectionId>>, Error> {
    let mut ids = vec![None; sections.len()];
    let mut names = Vec::with_capacity(sections.len());
    for (i, header) in sections.iter().enumerate() {
        let at = table_at + (i * std::mem::size_of::<SectionHeader64<LE>>()) as u64;
        let raw = sections.section_name(LE, header).map_err(|e| {
            Error::malformed(at, format!("name of section {i}: {e}"), "an offset in .shstrtab")
        })?;
        names.push(reader.name(raw, at)?);
    }
    // Code sections come first: constants and shared memory name their code.
    for code in [true, false] {
        for (i, header) in sections.iter().enumerate() {
            let (name, ty) = (&names[i], header.sh_type(LE));
            let owner = ids.get(header.sh_info(LE) as usize).copied().flatten();
            if ty == sht::CUDA_INFO
                && !code
                && (name == ".nv.info" || name.starts_with(".nv.info."))
            {
                let data = reader.content(header, name)?.to_vec();
                file.info.push(Attributes {
                    section: name.clone(),
                    at: header.sh_offset(LE),
                    owner,
                    data,
                });
                continue;
            }
            let Some(kind) = kind(name, ty, owner) else { continue };
            if (kind == SectionKind::Code) != code {
                continue;
            }
            let empty =
                matches!(ty, SHT_NOBITS | sht::CUDA_GLOBAL | sht::CUDA_LOCAL | sht::CUDA_SHARED);
            let data = if empty { vec![] } else { reader.content(header, name)?.to_vec() };
            let align = header.sh_addralign(LE).max(1);
            if !align.is_power_of_two() || align > 1 << 20 {
                let what = format!("alignment {align} of section {name}");
                return Err(Error::malformed(
                    header.sh_offset(LE),
                    what,
                    "a power of two up to 1 MiB",
                ));
            }
            ids[i] = Some(SectionId(file.module.sections.len()));
            let size = header.sh_size(LE);
            if matches!(kind, SectionKind::Constant { .. }) && size > MAX_BANK_BYTES {
                let what = format!("section {name} of {size} bytes");
                return Err(Error::malformed(
                    header.sh_offset(LE),
                    what,
                    "a constant bank of at most 64 KiB",
                ));
            }
            file.module.sections.push(Section { name: name.clone(), kind, align, size, data });
            if kind == SectionKind::Code {
                let (registers, barriers) =
                    (header.sh_info(LE) >> 24, (header.sh_flags(LE).0 >> 20) as u32 & 0x7f);
                file.code_headers.insert(
                    SectionId(file.module.sections.len() - 1),
                    CodeHeader { registers, barriers },
                );
            }
        }
    }
    Ok(ids)
}

fn read_symbols(
    reader: &mut Reader<'_>,
    symbols: &SymbolTable<'_, Header>,
    sections: &SectionTable<'_, Header>,
    section_of_index: &[Option<SectionId>],
    file: &mut File,
) -> Result<(), Error> {
    let table = sections.section(symbols.section()).map(|s| s.sh_offset(LE)).unwrap_or(0);
    for (index, symbol) in symbols.enumerate() {
        let at = table + (index.0 * std::mem::size_of::<Sym64<LE>>()) as u64;
        let section_index = symbols.symbol_section(LE, symbol, index).map_err(|e| {
            Error::malformed(at, format!("section of symbol {}: {e}", index.0), "a section index")
        })?;
        let section = section_index.and_then(|i| section_of_index.get(i.0).copied().flatten());
        let kind = match symbol.st_type() {
            STT_FUNC => SymbolKind::Function,
            STT_OBJECT | stt::CUDA_OBJECT => SymbolKind::Object,
            STT_SECTION => SymbolKind::Section,
            stt::CUDA_TEXTURE => SymbolKind::Texture,
            stt::CUDA_SAMPLER => SymbolKind::Sampler,
            stt::CUDA_SURFACE => SymbolKind::Surface,
            _ => continue,
        };
        let other = symbol.st_other().0;
        let undefined = symbol.st_shndx(LE) == SHN_UNDEF;
        let raw = match (kind, section) {
            (SymbolKind::Section, None) => continue,
            (SymbolKind::Section, Some(id)) => file.module.section(id).name.clone().into_bytes(),
            _ => symbol
                .name(LE, symbols.strings())
                .map_err(|e| {
                    Error::malformed(
                        at,
                        format!("name of symbol {}: {e}", index.0),
                        "an offset in .strtab",
                    )
                })?
                .to_vec(),
        };
        let id = SymbolId(file.module.symbols.len());
        file.symbol_of_index[index.0] = Some(id);
        let name = reader.name(&raw, at)?;
        if let (SymbolKind::Function, Some(section)) = (kind, section)
            && file.module.section(section).kind == SectionKind::Code
        {
            let (offset, size) = (symbol.st_value(LE), symbol.st_size(LE));
            let kernel = other & STO_CUDA_ENTRY != 0;
            let end = offset
                .checked_add(size)
                .filter(|&end| end <= file.module.section(section).data.len() as u64);
            if end.is_none() || offset % 8 != 0 {
                let what = format!("function {name} at {offset:#x} of {size} bytes");
                let expected = format!(
                    "it to lie within {}, 8-byte aligned",
                    file.module.section(section).name
                );
                let error = Error::malformed(at, what, expected);
                if !kernel {
                    return Err(error);
                }
                file.module.unreadable.push(Unreadable::new(name.clone(), error));
            } else {
                let mut function = Function::new(name.clone(), id, section, offset, size, kernel);
                if let Some(header) = file.code_headers.get(&section) {
                    (function.registers, function.barriers) = (header.registers, header.barriers);
                }
                file.module.functions.push(function);
            }
        }
        file.module.symbols.push(Symbol {
            name,
            kind,
            section,
            offset: symbol.st_value(LE),
            size: symbol.st_size(LE),
            binding: match symbol.st_bind() {
                STB_LOCAL => Binding::Local,
                STB_WEAK => Binding::Weak,
                _ => Binding::Global,
            },
            dynamic_shared: undefined
                && kind == SymbolKind::Object
                && other & STO_CUDA_SPACE == STO_CUDA_SHARED,
        });
    }
    Ok(())
}

/// Places variables in shared memory.
///
/// In a relocatable file, the value of such a variable is its alignment: the linker places it.
fn place_shared_variables(module: &mut Module) {
    let mut used = vec![0_u64; module.sections.len()];
    for symbol in module.symbols.iter_mut().filter(|s| s.kind == SymbolKind::Object) {
        let Some(id) = symbol
            .section
            .filter(|id| matches!(module.sections[id.0].kind, SectionKind::Shared { .. }))
        else {
            continue;
        };
        let align = if symbol.offset.is_power_of_two() { symbol.offset.min(1 << 16) } else { 1 };
        symbol.offset = used[id.0].saturating_add(align - 1) / align * align;
        used[id.0] = symbol.offset.saturating_add(symbol.size);
    }
    for (section, used) in module.sections.iter_mut().zip(used) {
        section.size = section.size.max(used);
    }
}

/// Counts the static shared memory of each kernel: the module's, then the kernel's.
fn count_shared(module: &mut Module) {
    let shared = SharedSections::of(module);
    let bytes: Vec<u64> =
        module.functions.iter().map(|function| shared.layout(function.section).1).collect();
    for (function, bytes) in module.functions.iter_mut().zip(bytes) {
        function.shared_bytes = bytes;
    }
}

fn read_relocations(
    reader: &mut Reader<'_>,
    sections: &SectionTable<'_, Header>,
    section_of_index: &[Option<SectionId>],
    file: &mut File,
) -> Result<(), Error> {
    for header in sections.iter() {
        let (ty, at) = (header.sh_type(LE), header.sh_offset(LE));
        let Some(section) = section_of_index.get(header.sh_info(LE) as usize).copied().flatten()
        else {
            continue;
        };
        // Nothing brings content to shared memory. cuBLAS and cuDNN have handwritten kernels whose
        // shared sections are relocated against symbols that no file defines.
        if matches!(file.module.section(section).kind, SectionKind::Shared { .. }) {
            continue;
        }
        let entry_bytes = match ty {
            SHT_REL => 16,
            SHT_RELA => 24,
            _ => continue,
        };
        let data = reader.content(header, "of relocations")?;
        if data.len() % entry_bytes != 0 {
            let what = format!("relocations of {} bytes", data.len());
            return Err(Error::malformed(at, what, format!("a multiple of {entry_bytes}")));
        }
        for (i, entry) in data.chunks_exact(entry_bytes).enumerate() {
            if reloc::is_optional(u32::from_le_bytes([entry[8], entry[9], entry[10], entry[11]])) {
                continue;
            }
            let at = at + (i * entry_bytes) as u64;
            match relocation(file, section, entry, at) {
                Ok(relocation) => file.module.relocations.push(relocation),
                Err(error) => file.unreadable.add(&file.module, Some(section), error)?,
            }
        }
    }
    Ok(())
}

/// Reads a relocation of a section from a table's entry.
///
/// `at` is the entry's offset in the file.
fn relocation(file: &File, section: SectionId, entry: &[u8], at: u64) -> Result<Relocation, Error> {
    let word = |i: usize| {
        entry
            .get(i * 8..i * 8 + 8)
            .map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()))
    };
    let (offset, info) = (word(0).unwrap_or(0), word(1).unwrap_or(0));
    let (number, index) = (info as u32, (info >> 32) as usize);
    let target = file.module.section(section);
    let (kind, name) = reloc::kind(number).ok_or_else(|| Error::Unsupported {
        what: format!("relocation type {number} (at offset {at:#x}, of {})", target.name),
        why: "its meaning is not known".into(),
    })?;
    let symbol = file.symbol_of_index.get(index).copied().flatten().ok_or_else(|| {
        Error::malformed(
            at,
            format!("relocation against symbol {index}"),
            "a variable, function or section",
        )
    })?;
    if offset.checked_add(kind.bytes()).is_none_or(|end| end > target.data.len() as u64) {
        let what = format!("relocation of {} at {offset:#x}", target.name);
        return Err(Error::malformed(
            at,
            what,
            format!("a place in its {:#x} bytes", target.data.len()),
        ));
    }
    Ok(Relocation {
        section,
        offset,
        kind,
        name,
        symbol,
        addend: word(2).map(|addend| addend as i64),
    })
}
