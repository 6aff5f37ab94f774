//! The format of a file. It does not depend on the guests of this build.

use warploom_guest::header::{HEADER_BYTES, Header};

use super::{fatbin, hsaco, text};

/// The first bytes of vISA's old binaries.
const VISA_BINARY: &[u8] = b"CISA";
/// The machine numbers of OpenCL files, with addresses of 32 and 64 bits.
pub(crate) const OPENCL_MACHINES: [u16; 2] = [0xaf5a, 0xaf5b];
/// The machine of zebins.
const ZEBIN_MACHINE: u16 = 205;
/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// An NVIDIA ELF file with the code of one GPU.
    Cubin,
    /// One or several NVIDIA fat binaries.
    FatBinary,
    /// An AMD ELF file with the code of one GPU.
    Hsaco,
    /// A binary of AMD's OpenCL 2 drivers, with a code object in it.
    AmdOpenCl,
    /// One or several of clang's offload bundles.
    OffloadBundle,
    /// An ELF file of another machine. Its sections may contain fat binaries and offload bundles.
    HostElf,
    /// NVIDIA's PTX, text that a driver compiles.
    Ptx,
    /// An ELF file of Intel's compiler.
    Zebin,
    /// vISA as text.
    VisaText,
    /// vISA in its old binary form.
    VisaBinary,
    /// A graphics program for NVIDIA Maxwell: its header and its code.
    MaxwellShader,
    /// Text, see [`text`].
    Assembly,
    /// A function in the text form of the IR, see [`warploom_ir::print`].
    Ir,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Format::Cubin => "NVIDIA cubin",
            Format::FatBinary => "NVIDIA fat binary",
            Format::Hsaco => "AMD HSA code object",
            Format::AmdOpenCl => "AMD OpenCL 2 binary",
            Format::OffloadBundle => "offload bundle",
            Format::HostElf => "ELF file of a host",
            Format::Ptx => "NVIDIA PTX",
            Format::Zebin => "Intel zebin",
            Format::VisaText => "Intel vISA",
            Format::VisaBinary => "Intel vISA binary",
            Format::MaxwellShader => "Maxwell graphics program",
            Format::Assembly => "assembly",
            Format::Ir => "function of the IR",
        })
    }
}

/// Returns the format of a file by its first bytes.
pub fn recognise(bytes: &[u8]) -> Option<Format> {
    use hsaco::{bundle, compressed};
    if bytes.starts_with(&fatbin::MAGIC) {
        return Some(Format::FatBinary);
    }
    if bytes.starts_with(bundle::MAGIC) || bytes.starts_with(compressed::MAGIC) {
        return Some(Format::OffloadBundle);
    }
    if bytes.starts_with(VISA_BINARY) {
        return Some(Format::VisaBinary);
    }
    if !bytes.starts_with(b"\x7fELF") {
        if is_shader(bytes) {
            return Some(Format::MaxwellShader);
        }
        if is_visa_text(bytes) {
            return Some(Format::VisaText);
        }
        return if is_ptx(bytes) { Some(Format::Ptx) } else { text::recognise(bytes) };
    }
    let machine = bytes.get(0x12..0x14)?;
    let machine = u16::from_le_bytes([machine[0], machine[1]]);
    if OPENCL_MACHINES.contains(&machine) {
        return Some(Format::AmdOpenCl);
    }
    if machine == ZEBIN_MACHINE {
        return Some(Format::Zebin);
    }
    Some(match object::elf::Machine(machine) {
        object::elf::EM_CUDA => Format::Cubin,
        object::elf::EM_AMDGPU => Format::Hsaco,
        _ => Format::HostElf,
    })
}

/// Tells whether a file is PTX: text whose first directive is `.version`.
pub(crate) fn is_ptx(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    loop {
        rest = rest.trim_ascii_start();
        let skipped = match rest {
            [b'/', b'/', ..] | [b'#' | b'@', ..] => rest.iter().position(|&byte| byte == b'\n'),
            [b'/', b'*', ..] => {
                rest.windows(2).skip(2).position(|two| two == b"*/").map(|at| at + 3)
            }
            _ => return rest.starts_with(b".version"),
        };
        match skipped {
            Some(skipped) => rest = &rest[skipped + 1..],
            None => return false,
        }
    }
}

/// Tells whether a file is vISA: text whose first directives are `.version` and a routine's
/// directive.
fn is_visa_text(bytes: &[u8]) -> bool {
    if !is_ptx(bytes) {
        return false;
    }
    // Comments may stand before and between the directives. The version's number is on the line of
    // its directive.
    let mut rest = bytes;
    loop {
        rest = rest.trim_ascii_start();
        let line = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        match rest {
            [] => return false,
            [b'/', b'*', ..] => match rest.windows(2).skip(2).position(|two| two == b"*/") {
                Some(at) => rest = &rest[at + 4..],
                None => return false,
            },
            [b'/', b'/', ..] => rest = &rest[line..],
            _ if rest.starts_with(b".version") => rest = &rest[line..],
            _ => return rest.starts_with(b".kernel") || rest.starts_with(b".global_function"),
        }
    }
}

/// Tells whether bytes begin with a header and a scheduling word.
fn is_shader(bytes: &[u8]) -> bool {
    let scheduling = bytes
        .get(HEADER_BYTES..)
        .and_then(|code| code.first_chunk().copied())
        .map(u64::from_le_bytes);
    // A scheduling word has three fields of 21 bits; a bundle of 0 is no code.
    scheduling.is_some_and(|word| word != 0 && word >> 63 == 0) && Header::read(bytes).is_ok()
}
