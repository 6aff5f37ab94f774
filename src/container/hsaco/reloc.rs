//! Dynamic relocations, which the loader applies when the image has its address.
//!
//! Source: AMDGPUUsage, "Relocation Records". Compilers leave RELATIVE64 and ABS64; other linkers
//! leave the rest.

use object::LittleEndian as LE;
use object::elf::{SHF_ALLOC, SHT_REL, SHT_RELA};
use object::read::elf::{SectionHeader, SectionTable};

use super::{Header, symbols};
use crate::{Error, Module, Part, RelocKind, Relocation, SectionId, SymbolId};

const fn absolute(part: Part, bits: u8) -> Option<RelocKind> {
    Some(RelocKind::Address { part, at: 0, bits })
}

const fn relative(part: Part, bits: u8) -> Option<RelocKind> {
    Some(RelocKind::PcRelative { part, at: 0, bits })
}

/// Number, name and meaning. A type without a meaning is for the linker, or writes nothing.
const TABLE: &[(u32, &str, Option<RelocKind>)] = &[
    (0, "R_AMDGPU_NONE", None),
    (1, "R_AMDGPU_ABS32_LO", absolute(Part::Low, 32)),
    (2, "R_AMDGPU_ABS32_HI", absolute(Part::High, 32)),
    (3, "R_AMDGPU_ABS64", absolute(Part::Whole, 64)),
    (4, "R_AMDGPU_REL32", relative(Part::Whole, 32)),
    (5, "R_AMDGPU_REL64", relative(Part::Whole, 64)),
    (6, "R_AMDGPU_ABS32", absolute(Part::Whole, 32)),
    (7, "R_AMDGPU_GOTPCREL", None),
    (8, "R_AMDGPU_GOTPCREL32_LO", None),
    (9, "R_AMDGPU_GOTPCREL32_HI", None),
    (10, "R_AMDGPU_REL32_LO", relative(Part::Low, 32)),
    (11, "R_AMDGPU_REL32_HI", relative(Part::High, 32)),
    // It has no symbol: the addend counts from the image's start.
    (RELATIVE64, "R_AMDGPU_RELATIVE64", absolute(Part::Whole, 64)),
    (14, "R_AMDGPU_REL16", None),
];
const NONE: u32 = 0;
const RELATIVE64: u32 = 13;

/// The image is the only section.
const IMAGE: SectionId = SectionId(0);

/// Reads the tables that are loaded with the image. Other tables are left over from linking.
pub(super) fn read(
    bytes: &[u8],
    sections: &SectionTable<'_, Header>,
    dynamic: &symbols::Dynamic,
    module: &mut Module,
) -> Result<(), Error> {
    let mut left = bytes.len();
    for header in sections.iter() {
        let entry_bytes = match header.sh_type(LE) {
            SHT_REL => 16,
            SHT_RELA => 24,
            _ => continue,
        };
        if header.sh_flags(LE).0 & SHF_ALLOC.0 == 0 {
            continue;
        }
        let at = header.sh_offset(LE);
        let within = || {
            Error::malformed(
                at,
                "dynamic relocations",
                "tables within the file that do not overlap",
            )
        };
        let data = header.data(LE, bytes).map_err(|_| within())?;
        left = left.checked_sub(data.len()).ok_or_else(within)?;
        if data.len() % entry_bytes != 0 {
            let what = format!("dynamic relocations of {} bytes", data.len());
            return Err(Error::malformed(at, what, format!("a multiple of {entry_bytes}")));
        }
        for (i, entry) in data.chunks_exact(entry_bytes).enumerate() {
            let at = at + (i * entry_bytes) as u64;
            let symbol = |index: usize| dynamic.symbols.get(index).copied().flatten();
            let symbol_of = |number, index| {
                if number == RELATIVE64 { Some(dynamic.image) } else { symbol(index) }
            };
            module.relocations.extend(relocation(entry, at, 0, symbol_of, module)?);
        }
    }
    Ok(())
}

/// Reads one entry: place (from `start` in the image), type, symbol, and for `SHT_RELA` the addend.
///
/// `symbol` returns the module's symbol for a type and an index.
pub(super) fn relocation(
    entry: &[u8],
    at: u64,
    start: u64,
    symbol: impl Fn(u32, usize) -> Option<SymbolId>,
    module: &Module,
) -> Result<Option<Relocation>, Error> {
    let (words, _) = entry.as_chunks::<8>();
    let word = |i: usize| words.get(i).map(|w| u64::from_le_bytes(*w));
    let (offset, info) = (start.saturating_add(word(0).unwrap_or(0)), word(1).unwrap_or(0));
    let (number, index) = (info as u32, (info >> 32) as usize);
    if number == NONE {
        return Ok(None);
    }
    let unsupported = |name: &str, why: &str| Error::Unsupported {
        what: format!("dynamic relocation {name} (at offset {at:#x})"),
        why: why.into(),
    };
    let known = TABLE.iter().find(|&&(n, ..)| n == number);
    let &(_, name, kind) = known
        .ok_or_else(|| unsupported(&format!("of type {number}"), "its meaning is not known"))?;
    let kind = kind.ok_or_else(|| unsupported(name, "it is for the linker, not for the loader"))?;
    let symbol = symbol(number, index).ok_or_else(|| {
        Error::malformed(
            at,
            format!("relocation {name} against symbol {index}"),
            "a variable or a function",
        )
    })?;
    let image = module.section(IMAGE).data.len() as u64;
    if offset.checked_add(kind.bytes()).is_none_or(|end| end > image) {
        let what = format!("relocation {name} at address {offset:#x}");
        return Err(Error::malformed(at, what, format!("a place in the image's {image:#x} bytes")));
    }
    let addend = word(2).map(|addend| addend as i64);
    Ok(Some(Relocation { section: IMAGE, offset, kind, name, symbol, addend }))
}
