//! The GPU of a code object: ELF identification and `e_flags`.

use object::LittleEndian as LE;
use object::elf::{EM_AMDGPU, ET_DYN};
use object::read::elf::FileHeader;
use warploom_guest::chip::Chip;

use super::Header;
use super::notes::Note;
use crate::Error;

/// The `EI_OSABI` of code objects for the HSA runtime.
const ELFOSABI_AMDGPU_HSA: u8 = 64;
/// The `EI_ABIVERSION` of code object version 2. The values of versions 3 to 6 follow.
const ABIVERSION_V2: u8 = 0;
const ABIVERSION_V3: u8 = 1;
const ABIVERSION_V6: u8 = 4;
/// `NT_AMD_HSA_ISA_VERSION`: the GPU, in version 2.
const NOTE_ISA: (&[u8], u32) = (b"AMD", 3);
/// For GFX version 9.0: the stepping, the GPU, and whether XNACK is on.
///
/// Source: AMDGPUUsage of LLVM 14, "Code Object V2 Supported Processors and Fixed Target Feature
/// Settings".
const STEPPINGS: [(u32, Gfx9, bool); 8] = [
    (0, Gfx9::Gfx900, false),
    (1, Gfx9::Gfx900, true),
    (2, Gfx9::Gfx902, false),
    (3, Gfx9::Gfx902, true),
    (4, Gfx9::Gfx904, false),
    (5, Gfx9::Gfx904, true),
    (6, Gfx9::Gfx906, false),
    (7, Gfx9::Gfx906, true),
];

/// A GPU of the GFX9 generation whose code warploom runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gfx9 {
    Gfx900,
    Gfx902,
    Gfx904,
    Gfx906,
    Gfx909,
    Gfx90c,
    /// Code that runs on all GFX9 GPUs.
    Generic,
    /// The GPU of a plain stream, which does not say it.
    Unspecified,
}

impl Gfx9 {
    /// Returns the chip with the GPU's instructions.
    pub const fn chip(self) -> Chip {
        match self {
            Gfx9::Gfx900 | Gfx9::Gfx902 | Gfx9::Gfx909 | Gfx9::Gfx90c => Chip::Gfx900,
            Gfx9::Gfx904 => Chip::Gfx904,
            Gfx9::Gfx906 => Chip::Gfx906,
            Gfx9::Generic => Chip::Generic,
            Gfx9::Unspecified => Chip::Any,
        }
    }

    /// Returns the GPU with a name, for example `gfx906`, if warploom runs its code.
    pub(crate) fn named(name: &str) -> Option<Gfx9> {
        MACHS.iter().find(|(_, known, _)| *known == name).and_then(|&(.., mach)| mach)
    }
}

impl Gfx9 {
    pub(crate) fn all() -> impl Iterator<Item = Gfx9> {
        MACHS.iter().filter_map(|&(_, _, mach)| mach)
    }
}

impl std::fmt::Display for Gfx9 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = MACHS.iter().find(|(.., mach)| *mach == Some(*self));
        f.write_str(known.map_or("gfx9", |&(_, name, _)| name))
    }
}

/// Whether code asks for a feature of the GPU to be on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The GPU does not have it.
    Unsupported,
    /// Code works either way.
    Any,
    Off,
    On,
}

impl std::fmt::Display for Feature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Feature::Unsupported => "unsupported",
            Feature::Any => "any",
            Feature::Off => "off",
            Feature::On => "on",
        })
    }
}

/// `EF_AMDGPU_MACH`, bits 0 to 7 of `e_flags`.
///
/// Numbers and names are from AMDGPUUsage, table "AMDGPU EF_AMDGPU_MACH Values". Entries without a
/// [`Gfx9`] only serve messages.
const MACHS: &[(u32, &str, Option<Gfx9>)] = &[
    (0x20, "gfx600", None),
    (0x21, "gfx601", None),
    (0x22, "gfx700", None),
    (0x23, "gfx701", None),
    (0x24, "gfx702", None),
    (0x25, "gfx703", None),
    (0x26, "gfx704", None),
    (0x28, "gfx801", None),
    (0x29, "gfx802", None),
    (0x2a, "gfx803", None),
    (0x2b, "gfx810", None),
    (0x2c, "gfx900", Some(Gfx9::Gfx900)),
    (0x2d, "gfx902", Some(Gfx9::Gfx902)),
    (0x2e, "gfx904", Some(Gfx9::Gfx904)),
    (0x2f, "gfx906", Some(Gfx9::Gfx906)),
    (0x30, "gfx908", None),
    (0x31, "gfx909", Some(Gfx9::Gfx909)),
    (0x32, "gfx90c", Some(Gfx9::Gfx90c)),
    (0x33, "gfx1010", None),
    (0x34, "gfx1011", None),
    (0x35, "gfx1012", None),
    (0x36, "gfx1030", None),
    (0x37, "gfx1031", None),
    (0x38, "gfx1032", None),
    (0x39, "gfx1033", None),
    (0x3d, "gfx1035", None),
    (0x3e, "gfx1034", None),
    (0x3f, "gfx90a", None),
    (0x40, "gfx940", None),
    (0x41, "gfx1100", None),
    (0x45, "gfx1036", None),
    (0x46, "gfx1101", None),
    (0x47, "gfx1102", None),
    (0x4b, "gfx941", None),
    (0x4c, "gfx942", None),
    (0x51, "gfx9-generic", Some(Gfx9::Generic)),
];

/// The facts of the header, and in version 2 of a note.
pub(super) struct Target {
    pub mach: Gfx9,
    /// The code object version.
    pub version: u8,
    pub xnack: Feature,
    pub sramecc: Feature,
}

/// Checks that this is a code object of a known version.
pub(super) fn check(header: &Header) -> Result<(), Error> {
    if header.e_machine(LE) != EM_AMDGPU {
        let what = format!("machine {}", header.e_machine(LE).0);
        return Err(Error::malformed(0x12, what, format!("{} (AMD GPU)", EM_AMDGPU.0)));
    }
    let ident = header.e_ident();
    let (abi, abi_version) = (ident.os_abi.0, ident.abi_version);
    if abi != ELFOSABI_AMDGPU_HSA {
        let kind = match abi {
            65 => " (PAL, for graphics drivers)",
            66 => " (Mesa 3D)",
            _ => "",
        };
        let what = format!("OS ABI {abi}{kind}");
        return Err(Error::malformed(7, what, format!("{ELFOSABI_AMDGPU_HSA} (HSA)")));
    }
    if abi_version > ABIVERSION_V6 {
        let version = format!("a code object with ABI version {abi_version}");
        return Err(Error::malformed(
            8,
            version,
            "code object version 2 to 6 (ABI version 0 to 4)",
        ));
    }
    if header.e_type(LE) != ET_DYN {
        let what = format!("ELF file of type {}", header.e_type(LE).0);
        return Err(Error::malformed(
            0x10,
            what,
            format!("a linked code object (type {}, shared object)", ET_DYN.0),
        ));
    }
    Ok(())
}

pub(super) fn read(header: &Header, notes: &[Note<'_>]) -> Result<Target, Error> {
    let abi_version = header.e_ident().abi_version;
    if abi_version == ABIVERSION_V2
        && let Some(target) = of_notes(notes)?
    {
        return Ok(target);
    }
    let flags = header.e_flags(LE).0;
    let mach = mach(flags).map_err(|name| unsupported(&name))?;
    let (xnack, sramecc) = if abi_version <= ABIVERSION_V3 {
        let feature = |bit: u32| if flags >> bit & 1 == 1 { Feature::On } else { Feature::Off };
        (feature(8), feature(9))
    } else {
        let feature = |at: u32| match flags >> at & 3 {
            0 => Feature::Unsupported,
            1 => Feature::Any,
            2 => Feature::Off,
            _ => Feature::On,
        };
        (feature(8), feature(10))
    };
    Ok(Target { mach, version: abi_version + 2, xnack, sramecc })
}

/// Returns the target of a code object of version 1 or 2.
pub(super) fn of_notes(notes: &[Note<'_>]) -> Result<Option<Target>, Error> {
    let Some(note) = notes.iter().find(|note| (note.owner, note.kind) == NOTE_ISA) else {
        return Ok(None);
    };
    // Lengths of two names in 16 bits each, then major version, minor version and stepping.
    let number =
        |at: usize| note.content.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    let (Some(major), Some(minor), Some(stepping)) = (number(4), number(8), number(12)) else {
        let what = format!("note with the GPU's version, of {} bytes", note.content.len());
        return Err(Error::malformed(note.at, what, "at least 16"));
    };
    let known = STEPPINGS.iter().find(|&&(known, ..)| (major, minor, stepping) == (9, 0, known));
    let &(_, mach, xnack) =
        known.ok_or_else(|| unsupported(&format!("gfx{major}{minor}{stepping:x}")))?;
    let sramecc = if mach == Gfx9::Gfx906 { Feature::Any } else { Feature::Unsupported };
    Ok(Some(Target {
        mach,
        version: 2,
        xnack: if xnack { Feature::On } else { Feature::Off },
        sramecc,
    }))
}

fn unsupported(gpu: &str) -> Error {
    let known: Vec<String> = Gfx9::all().map(|mach| mach.to_string()).collect();
    Error::Unsupported {
        what: format!("code for {gpu}"),
        why: format!("it is not GFX9 that warploom runs: expected {}", known.join(", ")),
    }
}

/// Returns the GPU in `e_flags`, or as an error the name of a GPU whose code is not run.
fn mach(flags: u32) -> Result<Gfx9, String> {
    match MACHS.iter().find(|&&(number, ..)| number == flags & 0xff) {
        Some(&(_, _, Some(mach))) => Ok(mach),
        Some((_, name, None)) => Err(name.to_string()),
        None => Err(format!("machine number {:#x}", flags & 0xff)),
    }
}
