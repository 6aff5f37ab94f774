//! The ELF file of Intel's compiler.

use object::LittleEndian as LE;
use object::elf::{FileHeader64, SectionHeader64};
use object::read::elf::{FileHeader, SectionHeader, SectionTable};

use super::info::ZeInfo;
use super::{apply, data, module};
use crate::container::{Error, Module};
use crate::isa::visa::module as visa;
use crate::isa::visa::platform::Platform;
use crate::isa::visa::text;

pub(super) type Header = FileHeader64<LE>;
pub(super) type Sections<'a> = SectionTable<'a, Header>;

const VISA_TEXT: u32 = 0xff00_0013;
const INFO: u32 = 0xff00_0011;
const NOTES: &[u8] = b".note.intelgt.compat";
/// Types of notes: the product, and the family of cores, which is 0 in those of compilers before 2023.
const PRODUCT: u32 = 1;
const CORE_FAMILY: u32 = 2;

/// Reads a zebin.
pub(in crate::container) fn parse(bytes: &[u8]) -> Result<Module, Error> {
    let header = Header::parse(bytes)
        .map_err(|e| Error::malformed(0, format!("ELF header: {e}"), "a 64-bit little-endian ELF file"))?;
    let sections = header.sections(LE, bytes).map_err(|e| {
        Error::malformed(header.e_shoff.get(LE), format!("section table: {e}"), "a table of section headers")
    })?;
    // Sections may be the same bytes: all of them together are no more than the file.
    let contents = sections.iter().filter(|section| section.sh_type(LE).0 != object::elf::SHT_NOBITS.0);
    let total = contents.map(|section| section.sh_size(LE)).fold(0, u64::saturating_add);
    if total > bytes.len() as u64 {
        let what = format!("sections of {total:#x} bytes in all");
        return Err(Error::malformed(header.e_shoff.get(LE), what, "no more than the file has"));
    }
    let mut code = vec![];
    let mut all = visa::Module::default();
    for section in sections.iter().filter(|section| section.sh_type(LE).0 == VISA_TEXT) {
        let (at, content) = (section.sh_offset(LE), content(bytes, section)?);
        let name = String::from_utf8_lossy(sections.section_name(LE, section).unwrap_or_default()).into_owned();
        let member = |source| Error::Member { member: format!("section {name}"), offset: at, source: Box::new(source) };
        let mut read = text::read(content).map_err(|errors| member(errors.into()))?;
        let base = u32::try_from(code.len()).map_err(|_| Error::malformed(at, "code", "less than 4 GiB of it"))?;
        for one in read.routines.iter_mut().flat_map(|routine| &mut routine.code) {
            one.at += base;
        }
        code.extend(content);
        if code.last() != Some(&b'\n') {
            code.push(b'\n');
        }
        all.platform = all.platform.or(read.platform);
        all.routines.append(&mut read.routines);
    }
    if all.routines.is_empty() {
        return Err(Error::Unsupported {
            what: "a zebin without vISA sections (.visaasm)".into(),
            why: "it has machine code alone; Intel's compiler embeds vISA with the option -ze-emit-zebin-visa-sections"
                .into(),
        });
    }
    if let Some(platform) = platform(bytes, &sections)? {
        all.platform = Some(platform);
    }
    let Some(section) = sections.iter().find(|section| section.sh_type(LE).0 == INFO) else {
        return Err(Error::malformed(0, "a zebin without .ze_info", "a section of type 0xff000011"));
    };
    let info = ZeInfo::read(content(bytes, section)?).map_err(|problem| {
        Error::malformed(section.sh_offset(LE), format!(".ze_info: {problem}"), "YAML of a zebin")
    })?;
    give_names(&mut all, &info);
    one_of_each_name(&all)?;
    let mut module = module(all, code);
    apply(&mut module, info)?;
    data::read(bytes, &sections, &mut module)?;
    Ok(module)
}

/// What compilers of 2022 call each kernel in the text, if they write no files beside it.
const NAMELESS: &str = "kernel";

/// Names kernels that have none in the text: they come in the order of `.ze_info`.
fn give_names(all: &mut visa::Module, info: &ZeInfo) {
    let mut kernels: Vec<_> = all.routines.iter_mut().filter(|routine| routine.kernel).collect();
    let nameless = kernels.iter().all(|kernel| kernel.name == NAMELESS);
    if nameless && kernels.len() == info.kernels.len() {
        kernels.iter_mut().zip(&info.kernels).for_each(|(kernel, known)| kernel.name.clone_from(&known.name));
    }
}

fn one_of_each_name(all: &visa::Module) -> Result<(), Error> {
    let mut names: Vec<_> = all.routines.iter().map(|routine| &routine.name).collect();
    names.sort_unstable();
    match names.windows(2).find(|two| two[0] == two[1]) {
        Some(two) => Err(Error::malformed(0, format!("two routines `{}`", two[0]), "one of each name")),
        None => Ok(()),
    }
}

pub(super) fn content<'a>(bytes: &'a [u8], section: &SectionHeader64<LE>) -> Result<&'a [u8], Error> {
    let at = section.sh_offset(LE);
    section
        .data(LE, bytes)
        .map_err(|e| Error::malformed(at, format!("a section's content: {e}"), "bytes within the file"))
}

/// What the notes say of the GPU; none if they are not there.
///
/// # Errors
///
/// It is one that warploom does not know.
fn platform(bytes: &[u8], sections: &Sections<'_>) -> Result<Option<Platform>, Error> {
    let is_it = |section: &&SectionHeader64<LE>| sections.section_name(LE, section).is_ok_and(|name| name == NOTES);
    let Some(section) = sections.iter().find(is_it) else { return Ok(None) };
    let at = section.sh_offset(LE);
    let malformed = |e: object::Error| Error::malformed(at, format!("notes: {e}"), "ELF notes");
    let Some(mut notes) = section.notes(LE, bytes).map_err(malformed)? else { return Ok(None) };
    let (mut product, mut family) = (None, None);
    while let Some(note) = notes.next().map_err(malformed)? {
        let place = match note.n_type(LE).0 {
            PRODUCT if note.name() == b"IntelGT" => &mut product,
            CORE_FAMILY if note.name() == b"IntelGT" => &mut family,
            _ => continue,
        };
        *place = note.desc().first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes)).filter(|&number| number != 0);
    }
    let known = match (family, product) {
        (Some(family), _) => Platform::from_core_family(family).ok_or_else(|| format!("core family {family:#x}")),
        (None, Some(product)) => Platform::from_product(product).ok_or_else(|| format!("product {product:#x}")),
        (None, None) => return Ok(None),
    };
    known.map(Some).map_err(|what| Error::Unsupported {
        what: format!("vISA for {what}"),
        why: "warploom knows Gen9 (core family 0xc), Gen12LP (0x12), XeHPG (0xc07), XeHPC (0xc08) and Xe2 (0xc09)"
            .into(),
    })
}
