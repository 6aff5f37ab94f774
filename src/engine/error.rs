//! Errors of translation.

use warploom_analysis::UnknownRule;
use warploom_interp::InterpError;

/// Why a function could not be translated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JitError {
    #[error(transparent)]
    Function(#[from] InterpError),
    #[error(transparent)]
    Rules(#[from] UnknownRule),
    #[error("this host is not supported by the code generator: {0}")]
    Host(String),
    #[error("the code generator rejected a region: {0}")]
    Codegen(String),
    #[error("code of a region takes {bytes} bytes of stack; at most {max} are supported")]
    Frame { bytes: u32, max: u32 },
    #[error("code could not be put in its place: {0}")]
    Module(String),
    #[error("the trampolines of the helpers could not be made: {0}")]
    Trampoline(String),
    #[error(
        "the register file of {kernel} with its spill slots has {bytes} bytes; at most {max} are supported"
    )]
    RegisterFile { kernel: String, bytes: usize, max: usize },
}
