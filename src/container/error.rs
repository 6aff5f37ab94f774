//! Errors in a file.

use super::foreign::Foreign;
use super::{Arch, Isa};

/// An error in a binary.
///
/// Offsets are bytes from the start of the file, or of the fat binary's member that
/// [`Error::Member`] names.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(
        "not a GPU binary: expected a cubin or an HSA code object (ELF), a fat binary, an offload bundle, or a host ELF \
         file with an .nv_fatbin or .hip_fatbin section, PTX, an Intel zebin or vISA, a Maxwell graphics program with its header, or text that begins with .target (a plain stream of GFX9 instructions can be run by a manifest that \
         says so, and disassembled with --isa gfx9); the file starts with {}", HexStart(.start)
    )]
    Unrecognised { start: Vec<u8> },

    /// The file is of a kind that no GPU driver takes.
    #[error("not a GPU binary, but {}: {}", .0.kind, .0.advice)]
    Foreign(Foreign),

    /// The file is truncated or violates its format.
    #[error("at offset {offset:#x}: {what}: expected {expected}")]
    Malformed { offset: u64, what: String, expected: String },

    /// Errors in PTX: line, column and message of each.
    #[cfg(feature = "ptx")]
    #[error(transparent)]
    Ptx(#[from] warploom_ptx::ReadErrors),

    /// Errors in several linked PTX modules.
    #[cfg(feature = "ptx")]
    #[error(transparent)]
    PtxLink(#[from] warploom_ptx::LinkErrors),

    #[error("in {name}: {problem}")]
    Linked { name: String, problem: Box<Error> },

    #[error("found {found}, expected PTX: modules that are linked are text of it")]
    NotPtx { found: String },

    #[error(
        "found PTX, expected code for a GPU, as in the first file: PTX is not linked with code"
    )]
    NotCode,

    #[error("found code for {found}, expected code for {expected}, as in the first file")]
    OtherGpu { found: Isa, expected: Isa },

    #[error("`{name}` is defined in {first} too")]
    DefinedTwice { name: String, first: String },

    #[error("nothing to link")]
    NothingToLink,

    #[error("ze_info and platform are of vISA, and the binary is {found}")]
    NotVisa { found: String },

    /// Errors in vISA text: line, column and message of each.
    #[cfg(feature = "visa")]
    #[error(transparent)]
    Visa(#[from] warploom_visa::text::ReadErrors),

    /// An error in vISA's binary form.
    #[cfg(feature = "visa")]
    #[error(transparent)]
    VisaBinary(#[from] warploom_visa::binary::BinaryError),

    /// An error in assembly.
    #[error("line {line}: {problem}")]
    Text { line: usize, problem: String },

    /// An error in the header of a graphics program.
    #[error(transparent)]
    ShaderHeader(#[from] warploom_guest::header::HeaderError),

    #[error("the function of the IR: {problem}")]
    Ir { problem: String },

    #[error(
        "{what} is left out of this build of warploom: expected one with the feature `{feature}`"
    )]
    Absent { what: &'static str, feature: &'static str },

    #[error("{what} is not supported: {why}")]
    Unsupported { what: String, why: String },

    /// Machine code of a GPU whose code is not executed.
    #[error(
        "code for sm_{sm} is not supported: warploom runs sm_50 to sm_53 (Maxwell) and sm_75 to sm_89 (Turing to Ada)"
    )]
    NotExecuted { sm: u32 },

    #[error("in {member} at offset {offset:#x}: {source}")]
    Member { member: String, offset: u64, source: Box<Error> },

    #[error(
        "no code that warploom can run: expected a cubin for sm_50 to sm_53 or sm_75 to sm_89, PTX, \
         or a code object for gfx900 to gfx906; the file holds {found}"
    )]
    NoCandidate { found: String },

    #[error("no code for {arch} that warploom runs: the file holds {found}")]
    NotForArch { arch: Arch, found: String },

    #[error("{place}: relocation {kind} against {symbol}: {problem}")]
    Relocation { place: String, kind: &'static str, symbol: String, problem: String },
}

impl Error {
    pub(super) fn malformed(
        offset: u64,
        what: impl Into<String>,
        expected: impl Into<String>,
    ) -> Error {
        Error::Malformed { offset, what: what.into(), expected: expected.into() }
    }
}

struct HexStart<'a>(&'a [u8]);

impl std::fmt::Display for HexStart<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing (it is empty)");
        }
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}
