//! Programs as text: assembly for handwritten programs and reproducers, and the IR's own text form.
//!
//! ```text
//! // A comment.
//! .target sm_50          // or sm_75, sm_80, sm_86, sm_89, gfx900, gfx906, ...; the first thing in
//!                        // the file
//! .kernel scale          // this and the other directives: NVIDIA only
//! .param 8               // size of a parameter in bytes, in order; each lies at a multiple of its
//!                        // size, at most 8
//! .shared 1024           // static shared memory in bytes
//! .local 256             // local memory of a lane in bytes
//! .L1:                   // a label
//!     @P0 BRA .L1        // an instruction as the disassembler prints it; a label for the number
//!                        // of a target
//!     JCAL `(vprintf)    // a function of the driver's, which the text does not define; from
//!                        // sm_75 on CALL.ABS.NOINC, with the address to return to in R20 and R21
//! ```
//!
//! A graphics program for Maxwell has directives for its header:
//!
//! ```text
//! .target sm_53
//! .stage fragment            // or vertex, tess_control, tess_eval, geometry
//! .input 0x80 xyz perspective // words of attribute space; of a fragment program constant,
//!                             // perspective or linear
//! .output target0 rgba       // or mask, depth; of other stages words: .output 0x70 xyzw
//! .forbid kills stores       // of kills, stores, memory, doubles, and targets (target 0 is then
//!                            // that of all)
//! .local 256                 // also .threads 3 and .max_vertices 6
//! ```
//!
//! After `.target`, NVIDIA's code of one function as `warploom disasm` lists it is assembly too.
//!
//! Assembly for GFX9 is a plain stream: how its waves start is in the launch's manifest.

#[cfg(feature = "gfx9")]
mod gfx9;
mod listed;
#[cfg(feature = "maxwell")]
mod sass;
mod stage;

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use warploom_guest::header::Header;
use warploom_ir::{parse, verify};

use super::hsaco::Gfx9;
use super::module::{
    Binding, Function, Isa, Module, Section, SectionId, SectionKind, Symbol, SymbolId, SymbolKind,
};
use super::{Error, Format};

const TARGET: &str = ".target";
const COMMENT: &str = "//";
/// The start of a label.
const LABEL: &str = ".L";
/// The start of a function of the IR. `IR_COMMENT`: the start of a comment there.
const FUNCTION: &str = "function ";
const IR_COMMENT: &str = "#";
/// The signs around the name of a target in the vendor's disassembly.
///
/// The target is a label or an undefined function.
const NAMED: (&str, char) = ("`(", ')');
const STAGE: &str = ".stage ";
/// The alignment of code on Maxwell.
const CODE_ALIGN: u64 = 32;
/// The name of a kernel without a name.
const UNNAMED: &str = "kernel";

/// Returns the kind of a text by its first line that is not empty or a comment.
pub(super) fn recognise(bytes: &[u8]) -> Option<Format> {
    let says = |line: &&str| {
        !line.is_empty() && !line.starts_with(COMMENT) && !line.starts_with(IR_COMMENT)
    };
    let text = bytes.utf8_chunks().next()?.valid();
    let first = text.lines().map(str::trim).find(says)?;
    if first.starts_with(TARGET) {
        return Some(Format::Assembly);
    }
    first.starts_with(FUNCTION).then_some(Format::Ir)
}

#[cfg(not(feature = "maxwell"))]
impl Source<'_> {
    fn maxwell(&self) -> Result<Module, Error> {
        Err(Error::Absent { what: "Maxwell", feature: "maxwell" })
    }
}

#[cfg(not(feature = "turing"))]
impl Source<'_> {
    fn turing(&self, _: u8) -> Result<Module, Error> {
        Err(Error::Absent { what: "Turing", feature: "turing" })
    }
}

#[cfg(not(feature = "gfx9"))]
impl Source<'_> {
    fn gfx9(&self, _: warploom_guest::chip::Chip) -> Result<Vec<u8>, Error> {
        Err(Error::Absent { what: "GFX9", feature: "gfx9" })
    }
}

/// Makes the module of a text.
pub(super) fn parse(bytes: &[u8], format: Format) -> Result<Module, Error> {
    if format == Format::Ir {
        return function(text_of(bytes)?);
    }
    let source = Source::read(bytes)?;
    match source.target {
        Target::Maxwell => source.maxwell(),
        Target::Turing(model) => source.turing(model),
        Target::Gfx9(_) => Err(Error::Unsupported {
            what: "assembly for GFX9 by itself".into(),
            why: "a manifest has to say what registers hold (kernel.format = \"gfx9-raw\")".into(),
        }),
    }
}

/// Returns the plain GFX9 stream of a file: the file itself, or its assembled text.
///
/// # Errors
/// The file is assembly that cannot be assembled, or is for another GPU.
pub fn stream(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    if recognise(bytes) != Some(Format::Assembly) {
        return Ok(bytes.to_vec());
    }
    let source = Source::read(bytes)?;
    match source.target {
        Target::Gfx9(mach) => source.gfx9(mach.chip()),
        Target::Maxwell | Target::Turing(_) => Err(Error::Text {
            line: source.target_line,
            problem: "expected gfx900 for a plain stream".into(),
        }),
    }
}

/// Returns the GPU of a plain stream's assembly. For other files the GPU is not known.
pub fn stream_target(bytes: &[u8]) -> Gfx9 {
    if recognise(bytes) == Some(Format::Assembly)
        && let Ok(Source { target: Target::Gfx9(mach), .. }) = Source::read(bytes)
    {
        return mach;
    }
    Gfx9::Unspecified
}

/// Reads the header of a Maxwell graphics program from assembly without instructions.
pub(super) fn header(bytes: &[u8]) -> Result<Header, Error> {
    Source::read(bytes)?.header()
}

fn text_of(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes)
        .map_err(|e| Error::malformed(e.valid_up_to() as u64, "text", "UTF-8"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Maxwell,
    /// The number of the GPU.
    Turing(u8),
    Gfx9(Gfx9),
}

/// A line that is neither empty nor a comment.
struct Line<'a> {
    number: usize,
    text: Cow<'a, str>,
}

impl Line<'_> {
    fn wrong(&self, problem: impl Into<String>) -> Error {
        Error::Text { line: self.number, problem: problem.into() }
    }
}

/// Assembly, line by line.
struct Source<'a> {
    target: Target,
    target_line: usize,
    /// Lines that are neither labels nor instructions.
    directives: Vec<Line<'a>>,
    instructions: Vec<Line<'a>>,
    /// The number of the instruction after each label.
    labels: FxHashMap<String, usize>,
}

impl<'a> Source<'a> {
    fn read(bytes: &'a [u8]) -> Result<Source<'a>, Error> {
        let text = text_of(bytes)?;
        let without_comment =
            |line: &'a str| line.split_once(COMMENT).map_or(line, |(before, _)| before).trim();
        let lines = text.lines().zip(1..).map(|(line, number)| (number, without_comment(line)));
        let lines = lines.map(|(number, text)| Line { number, text: text.into() });
        let mut lines = lines.filter(|line| !line.text.is_empty());
        let first = lines
            .next()
            .ok_or_else(|| Error::Text { line: 1, problem: "expected .target".into() })?;
        let target = match first.text.strip_prefix(TARGET).map(str::trim) {
            Some("sm_50" | "sm_52" | "sm_53") => Target::Maxwell,
            Some("sm_75") => Target::Turing(75),
            Some("sm_80") => Target::Turing(80),
            Some("sm_86") => Target::Turing(86),
            Some("sm_89") => Target::Turing(89),
            // Handwritten text may use all instructions.
            Some("gfx900") => Target::Gfx9(Gfx9::Unspecified),
            Some(name) if let Some(mach) = Gfx9::named(name) => Target::Gfx9(mach),
            _ => {
                return Err(first.wrong(format!(
                    "`{}`: expected .target with sm_50, sm_75, sm_80, sm_86, sm_89 or gfx900",
                    first.text
                )));
            }
        };
        let mut source = Source {
            target,
            target_line: first.number,
            directives: vec![],
            instructions: vec![],
            labels: FxHashMap::default(),
        };
        // Listings of NVIDIA's code are assembly too.
        let is_nvidia = !matches!(target, Target::Gfx9(_));
        for line in lines {
            let line = match line.text {
                Cow::Borrowed(text) if is_nvidia => {
                    Line { number: line.number, text: listed::statement(text) }
                }
                text => Line { number: line.number, text },
            };
            if line.text.is_empty() {
                continue;
            }
            // In a listing, functions and sections are labels too.
            let is_label = |label: &&str| is_nvidia || label.starts_with(LABEL);
            if let Some(label) = line.text.strip_suffix(':').filter(is_label) {
                if source.labels.insert(label.to_owned(), source.instructions.len()).is_some() {
                    return Err(line.wrong(format!("label `{label}` stands for two places")));
                }
            } else if line.text.starts_with('.') {
                if !is_nvidia || !listed::is_ignored(&line.text) {
                    source.directives.push(line);
                }
            } else {
                source.instructions.push(line);
            }
        }
        Ok(source)
    }

    /// Replaces the label in a line, if it has one, with the number of `place(label)`.
    ///
    /// A label is for example `.L1`, or the name of any label in a listing's form.
    fn with_target(
        &self,
        line: &Line<'_>,
        place: impl FnOnce(usize) -> Result<String, String>,
    ) -> Result<String, Error> {
        let text = &*line.text;
        let (before, label, after) = if let Some((before, name, after)) = named(text) {
            (before, name, after)
        } else {
            // Modifiers may begin like a label, as in `BRA CC.LE, .L1`, but not after a blank.
            let is_label = |&(at, _): &(usize, &str)| text[..at].ends_with([' ', ',']);
            let Some((at, _)) = text.match_indices(LABEL).find(is_label) else {
                return Ok(text.into());
            };
            let (before, rest) = text.split_at(at);
            let (label, after) = rest.split_at(rest.find([' ', ',', ';']).unwrap_or(rest.len()));
            (before, label, after)
        };
        let target = self
            .labels
            .get(label)
            .ok_or_else(|| line.wrong(format!("there is no label `{label}`")))?;
        let number = place(*target).map_err(|problem| line.wrong(problem))?;
        Ok(format!("{before}{number}{after}"))
    }

    /// Returns the header that `.stage` begins, if there is one.
    fn stage(&self) -> Result<Option<Header>, Error> {
        let mut header = None;
        for line in &self.directives {
            if let Some(name) = line.text.strip_prefix(STAGE) {
                header = Some(stage::header(name.trim()).map_err(|problem| line.wrong(problem))?);
            }
        }
        Ok(header)
    }

    /// Returns the header of a graphics program from its directives, without its code.
    fn header(&self) -> Result<Header, Error> {
        let expected = || Error::Text {
            line: self.target_line,
            problem: "expected .stage for a graphics program".into(),
        };
        let mut header = self.stage()?.ok_or_else(expected)?;
        for line in self.directives.iter().filter(|line| !line.text.starts_with(STAGE)) {
            let (name, value) =
                line.text.split_once(char::is_whitespace).unwrap_or((&line.text, ""));
            if !stage::directive(&mut header, name, value.trim())
                .map_err(|problem| line.wrong(problem))?
            {
                return Err(line.wrong(format!("`{name}`: expected what a header says")));
            }
        }
        if let Some(line) = self.instructions.first() {
            return Err(line.wrong("expected what a header says, and no instructions"));
        }
        Ok(header)
    }
}

/// Splits a text into the part before a name in `( ), the name, and the part after it.
fn named(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(NAMED.0)?;
    let (name, after) = rest.split_once(NAMED.1).filter(|(name, _)| !name.is_empty())?;
    Some((before, name, after))
}

/// Makes a module of a function of the IR. Its code is its text.
fn function(text: &str) -> Result<Module, Error> {
    let wrong = |problem: String| Error::Ir { problem };
    let parsed = parse::parse(text).map_err(|e| wrong(e.to_string()))?;
    let errors = verify::verify_all(&parsed);
    if !errors.is_empty() {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        return Err(wrong(errors.join("\n")));
    }
    let function =
        Function::new(parsed.name, SymbolId(0), SectionId(0), 0, text.len() as u64, true);
    Ok(module(Isa::Ir, text.into(), function))
}

fn module(isa: Isa, code: Vec<u8>, function: Function) -> Module {
    let symbol = symbol_of(function.name.clone(), Some(SectionId(0)), function.size);
    let name = format!(".text.{}", function.name);
    let section = Section {
        name,
        kind: SectionKind::Code,
        align: CODE_ALIGN,
        size: function.size,
        data: code,
    };
    Module { symbols: vec![symbol], functions: vec![function], ..Module::new(isa, vec![section]) }
}

fn symbol_of(name: String, section: Option<SectionId>, size: u64) -> Symbol {
    let (kind, binding) = (SymbolKind::Function, Binding::Global);
    Symbol { name, kind, section, offset: 0, size, binding, dynamic_shared: false }
}
