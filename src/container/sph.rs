//! Graphics programs for NVIDIA Maxwell as drivers and emulators keep them: a header of 80 bytes, then the code. Facts, `graphics.md`,
//! sections 1.1 and 1.2.

use super::module::{Binding, Function, Isa, Module, Section, SectionId, SectionKind, Symbol, SymbolId, SymbolKind};
use super::{Error, Format, text};
use crate::isa::maxwell::shader::{HEADER_BYTES, Header};
use crate::isa::maxwell::{BUNDLE_BYTES, WORD_BYTES};

/// A branch to itself, as compilers put it behind a program: with two kinds of guard.
const ENDS: [u64; 2] = [0xe240_0fff_ff87_000f, 0xe240_0fff_ff07_000f];

/// Whether bytes begin with a header, and behind it with a scheduling word.
pub(super) fn recognise(bytes: &[u8]) -> bool {
    let scheduling = bytes.get(HEADER_BYTES..).and_then(|code| code.first_chunk().copied()).map(u64::from_le_bytes);
    // It has three fields of 21 bits; a bundle of 0 is no code.
    scheduling.is_some_and(|word| word != 0 && word >> 63 == 0) && Header::read(bytes).is_ok()
}

/// The module of a header and its code; its only kernel has the name of its stage.
pub(super) fn parse(bytes: &[u8]) -> Result<Module, Error> {
    let header = Header::read(bytes)?;
    module(header.stage().name(), header, &bytes[HEADER_BYTES..])
}

/// The module of a header and its code, or of assembly that says both.
pub fn with_header(name: &str, bytes: &[u8]) -> Result<Module, Error> {
    if text::recognise(bytes) == Some(Format::Assembly) {
        return text::parse(bytes, Format::Assembly);
    }
    module(name, Header::read(bytes)?, bytes.get(HEADER_BYTES..).unwrap_or_default())
}

/// The module of code whose header, or assembly that says it, is in another file.
pub fn without_header(name: &str, code: &[u8], header: &[u8]) -> Result<Module, Error> {
    let header = match text::recognise(header) {
        Some(Format::Assembly) => text::header(header)?,
        _ => Header::read(header)?,
    };
    module(name, header, code)
}

/// What lies behind the end of the code is left out.
fn module(name: &str, header: Header, code: &[u8]) -> Result<Module, Error> {
    let (words, rest) = code.as_chunks::<{ WORD_BYTES as usize }>();
    let end = words.iter().position(|word| ENDS.contains(&u64::from_le_bytes(*word)));
    if end.is_none() && !rest.is_empty() {
        return Err(Error::malformed(code.len() as u64, "code of a graphics program", "a multiple of 8 bytes"));
    }
    let words = &words[..end.map_or(words.len(), |end| end + 1)];
    Ok(assembled(name, header, words.as_flattened().to_vec()))
}

/// The same of code that ends where it ends.
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
    let section =
        Section { name: format!(".text.{name}"), kind: SectionKind::Code, align: BUNDLE_BYTES, size, data: code };
    // The GPU of the consoles whose programs are dumped.
    Module { symbols: vec![symbol], functions: vec![function], ..Module::new(Isa::Maxwell { sm: 53 }, vec![section]) }
}
