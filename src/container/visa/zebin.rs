//! The ELF file of Intel's compiler.

use object::LittleEndian as LE;
use object::elf::{FileHeader64, SectionHeader64};
use object::read::elf::{FileHeader, SectionHeader, SectionTable};
use warploom_guest::platform::Platform;
use warploom_visa::{module as visa, text};

use super::info::ZeInfo;
use super::{apply, data, of_routines};
use crate::{Error, Module, Unreadable};

pub(super) type Header = FileHeader64<LE>;
pub(super) type Sections<'a> = SectionTable<'a, Header>;

const VISA_TEXT: u32 = 0xff00_0013;
const INFO: u32 = 0xff00_0011;
const NOTES: &[u8] = b".note.intelgt.compat";
/// Types of notes: the product, and the family of cores.
///
/// Compilers before 2023 write the family as 0.
const PRODUCT: u32 = 1;
const CORE_FAMILY: u32 = 2;

/// Reads a zebin.
pub(crate) fn parse(bytes: &[u8]) -> Result<Module, Error> {
    let header = Header::parse(bytes).map_err(|e| {
        Error::malformed(0, format!("ELF header: {e}"), "a 64-bit little-endian ELF file")
    })?;
    let sections = header.sections(LE, bytes).map_err(|e| {
        Error::malformed(
            header.e_shoff.get(LE),
            format!("section table: {e}"),
            "a table of section headers",
        )
    })?;
    // Sections may share bytes, so their total size is limited to the file's size.
    let contents =
        sections.iter().filter(|section| section.sh_type(LE).0 != object::elf::SHT_NOBITS.0);
    let total = contents.map(|section| section.sh_size(LE)).fold(0, u64::saturating_add);
    if total > bytes.len() as u64 {
        let what = format!("sections of {total:#x} bytes in all");
        return Err(Error::malformed(header.e_shoff.get(LE), what, "no more than the file has"));
    }
    let mut texts = Texts::default();
    for section in sections.iter().filter(|section| section.sh_type(LE).0 == VISA_TEXT) {
        let name = String::from_utf8_lossy(sections.section_name(LE, section).unwrap_or_default())
            .into_owned();
        texts.add(name, section.sh_offset(LE), content(bytes, section)?)?;
    }
    if texts.routines.is_empty() && texts.strays.is_empty() {
        return Err(Error::Unsupported {
            what: "a zebin without vISA sections (.visaasm)".into(),
            why: "it has machine code alone; Intel's compiler embeds vISA with the option -ze-emit-zebin-visa-sections"
                .into(),
        });
    }
    let platform = platform(bytes, &sections)?.or(texts.platform);
    let Some(section) = sections.iter().find(|section| section.sh_type(LE).0 == INFO) else {
        return Err(Error::malformed(
            0,
            "a zebin without .ze_info",
            "a section of type 0xff000011",
        ));
    };
    let info = ZeInfo::read(content(bytes, section)?).map_err(|problem| {
        Error::malformed(section.sh_offset(LE), format!(".ze_info: {problem}"), "YAML of a zebin")
    })?;
    texts.give_names(&info);
    texts.one_of_each_name()?;
    texts.name_strays(&info)?;
    let mut module = of_routines(platform, texts.routines.into_iter(), texts.code);
    apply(&mut module, info)?;
    data::read(bytes, &sections, &mut module)?;
    module.readable()
}

/// The vISA sections, concatenated.
#[derive(Default)]
struct Texts {
    code: Vec<u8>,
    platform: Option<Platform>,
    routines: Vec<Result<visa::Routine, Unreadable>>,
    /// The errors of sections that do not say which routine they have.
    strays: Vec<Error>,
}

impl Texts {
    fn add(&mut self, name: String, at: u64, content: &[u8]) -> Result<(), Error> {
        let member = |source: Error| Error::Member {
            member: format!("section {name}"),
            offset: at,
            source: Box::new(source),
        };
        let read = match text::read_each(content) {
            Ok(read) => read,
            Err(errors) => {
                self.strays.push(member(errors.into()));
                return Ok(());
            }
        };
        let base = u32::try_from(self.code.len())
            .map_err(|_| Error::malformed(at, "code", "less than 4 GiB of it"))?;
        for routine in read.routines {
            self.routines.push(match routine {
                Ok(mut routine) => {
                    routine.code.iter_mut().for_each(|one| one.at += base);
                    Ok(routine)
                }
                Err(one) => Err(Unreadable::new(one.name, member(one.errors.into()))),
            });
        }
        self.code.extend(content);
        if self.code.last() != Some(&b'\n') {
            self.code.push(b'\n');
        }
        self.platform = self.platform.or(read.platform);
        Ok(())
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.routines
            .iter()
            .map(|routine| routine.as_ref().map_or_else(|one| &one.name, |one| &one.name))
    }

    /// Names kernels without a name in the text: they have the order of `.ze_info`.
    fn give_names(&mut self, info: &ZeInfo) {
        let is_kernel = |routine: &&mut Result<visa::Routine, Unreadable>| {
            routine.as_ref().map_or_else(|one| one.name == NAMELESS, |one| one.kernel)
        };
        let kernels = self.routines.iter_mut().filter(is_kernel);
        let mut names: Vec<&mut String> = kernels
            .map(|routine| routine.as_mut().map_or_else(|one| &mut one.name, |one| &mut one.name))
            .collect();
        let nameless = names.iter().all(|name| **name == NAMELESS);
        if nameless && names.len() == info.names.len() {
            names.iter_mut().zip(&info.names).for_each(|(name, known)| known.clone_into(name));
        }
    }

    fn one_of_each_name(&self) -> Result<(), Error> {
        let mut names: Vec<_> = self.names().collect();
        names.sort_unstable();
        match names.windows(2).find(|two| two[0] == two[1]) {
            Some(two) => {
                Err(Error::malformed(0, format!("two routines `{}`", two[0]), "one of each name"))
            }
            None => Ok(()),
        }
    }

    /// Names the kernels of unreadable sections.
    ///
    /// An unreadable section belongs to a kernel that has no other section.
    fn name_strays(&mut self, info: &ZeInfo) -> Result<(), Error> {
        let known: Vec<&String> = self.names().collect();
        let missing: Vec<String> =
            info.names.iter().filter(|name| !known.contains(name)).cloned().collect();
        let mut missing = missing.into_iter();
        for error in std::mem::take(&mut self.strays) {
            let name = missing.next().ok_or_else(|| error.clone())?;
            self.routines.push(Err(Unreadable::new(name, error)));
        }
        Ok(())
    }
}

/// The name that compilers of 2022 give each kernel in the text, if they write no files beside it.
const NAMELESS: &str = "kernel";

pub(super) fn content<'a>(
    bytes: &'a [u8],
    section: &SectionHeader64<LE>,
) -> Result<&'a [u8], Error> {
    let at = section.sh_offset(LE);
    section.data(LE, bytes).map_err(|e| {
        Error::malformed(at, format!("a section's content: {e}"), "bytes within the file")
    })
}

/// Returns the GPU in the notes; `None` without notes.
///
/// # Errors
///
/// The GPU is not known to warploom.
fn platform(bytes: &[u8], sections: &Sections<'_>) -> Result<Option<Platform>, Error> {
    let is_it = |section: &&SectionHeader64<LE>| {
        sections.section_name(LE, section).is_ok_and(|name| name == NOTES)
    };
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
        *place = note
            .desc()
            .first_chunk::<4>()
            .map(|bytes| u32::from_le_bytes(*bytes))
            .filter(|&number| number != 0);
    }
    let known = match (family, product) {
        (Some(family), _) => {
            Platform::from_core_family(family).ok_or_else(|| format!("core family {family:#x}"))
        }
        (None, Some(product)) => {
            Platform::from_product(product).ok_or_else(|| format!("product {product:#x}"))
        }
        (None, None) => return Ok(None),
    };
    known.map(Some).map_err(|what| Error::Unsupported {
        what: format!("vISA for {what}"),
        why: "warploom knows Gen9 (core family 0xc), Gen12LP (0x12), XeHPG (0xc07), XeHPC (0xc08) and Xe2 (0xc09)"
            .into(),
    })
}
