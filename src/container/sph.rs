//! Graphics programs for NVIDIA Maxwell in the form of drivers and emulators.
//!
//! A program is a header of 80 bytes, then the code. Facts, `graphics.md`, sections 1.1 and 1.2.

use warploom_guest::header::{HEADER_BYTES, Header};
use warploom_maxwell::{BUNDLE_BYTES, Opcode, WORD_BYTES, code};

use super::module::{
    Binding, Function, Isa, Module, Section, SectionId, SectionKind, Symbol, SymbolId, SymbolKind,
};
use super::{Error, Format, Stage, text};

/// A branch to itself, which compilers put behind a program, with two kinds of guard.
const ENDS: [u64; 2] = [0xe240_0fff_ff87_000f, 0xe240_0fff_ff07_000f];

/// BRA without condition.
///
/// The following constants: the position of its distance, the end of its reach, and the bits of the
/// guard and the test of condition codes, which EXIT has too.
const BRANCH: u64 = 0xe240_0000_0000_0000;
const BRANCH_AT: u32 = 20;
const BRANCH_BYTES: u64 = 1 << 23;
const CONDITION: u64 = 0xf_001f;

/// Makes the module of a header and its code. The only kernel has the name of its stage.
pub(super) fn parse(bytes: &[u8]) -> Result<Module, Error> {
    let header = Header::read(bytes)?;
    module(header.stage().name(), header, &bytes[HEADER_BYTES..])
}

/// Makes the module of a header and its code, or of assembly that has both.
pub fn with_header(name: &str, bytes: &[u8]) -> Result<Module, Error> {
    if text::recognise(bytes) == Some(Format::Assembly) {
        return text::parse(bytes, Format::Assembly);
    }
    module(name, Header::read(bytes)?, bytes.get(HEADER_BYTES..).unwrap_or_default())
}

/// Makes the module of code whose header, or the header's assembly, is in another file.
pub fn without_header(name: &str, code: &[u8], header: &[u8]) -> Result<Module, Error> {
    let header = match text::recognise(header) {
        Some(Format::Assembly) => text::header(header)?,
        _ => Header::read(header)?,
    };
    module(name, header, code)
}

/// Joins two vertex programs that a thread runs in sequence with registers kept.
///
/// The first program continues in the second where it ends. Facts, section 1.2.
///
/// # Errors
/// A program is of another stage, or the code is too long for a branch.
pub fn joined(first: &Module, second: Module) -> Result<Module, Error> {
    let header = |module: &Module| {
        module.functions.first().and_then(|function| function.header.as_deref().copied())
    };
    let stages = [first, &second].map(|module| header(module).map(|header| header.stage()));
    let (Some(of_first), Some(of_second), [Some(Stage::Vertex), Some(Stage::Vertex)]) =
        (header(first), header(&second), stages)
    else {
        return Err(Error::malformed(0, "two programs in one", "both to be vertex programs"));
    };
    let mut code = first.sections[0].data.clone();
    let start = (code.len() as u64).next_multiple_of(BUNDLE_BYTES);
    if start >= BRANCH_BYTES {
        return Err(Error::malformed(
            start,
            "the end of the first of two programs",
            "a place that a branch reaches",
        ));
    }
    for word in code::words(&first.sections[0].data) {
        if word.instruction.is_some_and(|insn| insn.opcode() == Opcode::Exit) {
            // The branch has the guard and the test of the EXIT.
            let distance = start - (word.pc + WORD_BYTES);
            let branch = BRANCH | distance << BRANCH_AT | word.word & CONDITION;
            code[word.pc as usize..][..WORD_BYTES as usize].copy_from_slice(&branch.to_le_bytes());
        }
    }
    code.resize(start as usize, 0);
    code.extend(&second.sections[0].data);
    Ok(assembled(&second.functions[0].name, of_second.with(&of_first), code))
}

/// Makes a module of the code, without bytes after the code's end.
fn module(name: &str, header: Header, code: &[u8]) -> Result<Module, Error> {
    let (words, rest) = code.as_chunks::<{ WORD_BYTES as usize }>();
    let end = words.iter().position(|word| ENDS.contains(&u64::from_le_bytes(*word)));
    if end.is_none() && !rest.is_empty() {
        return Err(Error::malformed(
            code.len() as u64,
            "code of a graphics program",
            "a multiple of 8 bytes",
        ));
    }
    let words = &words[..end.map_or(words.len(), |end| end + 1)];
    Ok(assembled(name, header, words.as_flattened().to_vec()))
}

/// Makes a module of code whose end is the last byte.
pub(super) fn assembled(name: &str, header: Header, code: Vec<u8>) -> Module {
    let size = code.len() as u64;
    let mut function = Function::new(name.into(), SymbolId(0), SectionId(0), 0, size, true);
    function.stack_bytes = Some(header.local_bytes());
    function.crs_bytes = header.crs_bytes();
    function.header = Some(Box::new(header));
    let symbol = Symbol {
        name: name.into(),
        kind: SymbolKind::Function,
        section: Some(SectionId(0)),
        offset: 0,
        size,
        binding: Binding::Global,
        dynamic_shared: false,
    };
    let section = Section {
        name: format!(".text.{name}"),
        kind: SectionKind::Code,
        align: BUNDLE_BYTES,
        size,
        data: code,
    };
    // sm_53 is the GPU of the consoles whose programs are dumped.
    Module {
        symbols: vec![symbol],
        functions: vec![function],
        ..Module::new(Isa::Maxwell { sm: 53 }, vec![section])
    }
}
