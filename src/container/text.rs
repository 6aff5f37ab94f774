//! Programs as text: assembly for programs written by hand and for reproducers, and the IR's own text form.
//!
//! ```text
//! // A comment.
//! .target sm_50          // or gfx900, gfx906, ...; the first thing in the file
//! .kernel scale          // this and the other directives: Maxwell only
//! .param 8               // size of a parameter in bytes, in order; each lies at a multiple of its size, at most 8
//! .shared 1024           // static shared memory in bytes
//! .local 256             // local memory of a lane in bytes
//! .L1:                   // a label
//!     @P0 BRA .L1        // an instruction as the disassembler prints it; a label for the number of a target
//!     JCAL `(vprintf)    // a function of the driver's, which the text does not define
//! ```
//!
//! A graphics program for Maxwell says what its header says:
//!
//! ```text
//! .target sm_53
//! .stage fragment            // or vertex, tess_control, tess_eval, geometry
//! .input 0x80 xyz perspective // words of attribute space; of a fragment program constant, perspective or linear
//! .output target0 rgba       // or mask, depth; of other stages words: .output 0x70 xyzw
//! .forbid kills stores       // of kills, stores, memory, doubles, and targets (target 0 is then that of all)
//! .local 256                 // also .threads 3 and .max_vertices 6
//! ```
//!
//! A listing of one function, as `warploom disasm` prints it for Maxwell, is assembly too, behind `.target`.
//!
//! Assembly for GFX9 is a plain stream: how its waves start is in the launch's manifest.

mod listed;
mod stage;

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use warploom_gfx9 as gfx9;
use warploom_gfx9::Chip;
use warploom_ir::{parse, verify};
use warploom_maxwell as maxwell;
use warploom_maxwell::shader::Header;
use warploom_maxwell::{BUNDLE_BYTES, WORD_BYTES};

use super::cubin::reloc;
use super::hsaco::Gfx9;
use super::module::{
    Binding, Function, Isa, Module, Param, Relocation, Section, SectionId, SectionKind, Symbol, SymbolId, SymbolKind,
};
use super::{Error, Format, sph};

const TARGET: &str = ".target";
const COMMENT: &str = "//";
/// How a label begins.
const LABEL: &str = ".L";
/// How a function of the IR begins, and a comment there.
const FUNCTION: &str = "function ";
const IR_COMMENT: &str = "#";
/// Around the name of a target, as the vendor's disassembler has it: a label, or a function that is not defined.
const NAMED: (&str, char) = ("`(", ')');
/// The type of the relocation that gives JCAL and JMP the address of such a function: R_CUDA_ABS32_20.
const EXTERN_ADDRESS: u32 = 42;
/// Where the parameters of a Maxwell kernel start in constant bank 0.
const PARAM_BASE: u32 = 0x140;
/// Parameters and memory of a kernel at most, in bytes.
const MAX_BYTES: u32 = 1 << 16;
const STAGE: &str = ".stage ";
/// The name of a kernel that has none.
const UNNAMED: &str = "kernel";
/// Instructions in a bundle, behind its control word.
const BUNDLE: usize = 3;

/// What a text is, by its first line that says anything.
pub(super) fn recognise(bytes: &[u8]) -> Option<Format> {
    let says = |line: &&str| !line.is_empty() && !line.starts_with(COMMENT) && !line.starts_with(IR_COMMENT);
    let text = bytes.utf8_chunks().next()?.valid();
    let first = text.lines().map(str::trim).find(says)?;
    if first.starts_with(TARGET) {
        return Some(Format::Assembly);
    }
    first.starts_with(FUNCTION).then_some(Format::Ir)
}

/// The module of a text.
pub(super) fn parse(bytes: &[u8], format: Format) -> Result<Module, Error> {
    if format == Format::Ir {
        return function(text_of(bytes)?);
    }
    let source = Source::read(bytes)?;
    match source.target {
        Target::Maxwell => source.maxwell(),
        Target::Gfx9(_) => Err(Error::Unsupported {
            what: "assembly for GFX9 by itself".into(),
            why: "a manifest has to say what registers hold (kernel.format = \"gfx9-raw\")".into(),
        }),
    }
}

/// The plain stream of GFX9 instructions that a file is: itself, or what its assembly stands for.
///
/// # Errors
/// The file is assembly that cannot be assembled, or for something else.
pub fn stream(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    if recognise(bytes) != Some(Format::Assembly) {
        return Ok(bytes.to_vec());
    }
    let source = Source::read(bytes)?;
    match source.target {
        Target::Gfx9(mach) => source.gfx9(mach.chip()),
        Target::Maxwell => {
            Err(Error::Text { line: source.target_line, problem: "expected gfx900 for a plain stream".into() })
        }
    }
}

/// What the plain stream of a file is for, if it is assembly; else that is not known.
pub fn stream_target(bytes: &[u8]) -> Gfx9 {
    if recognise(bytes) == Some(Format::Assembly)
        && let Ok(Source { target: Target::Gfx9(mach), .. }) = Source::read(bytes)
    {
        return mach;
    }
    Gfx9::Unspecified
}

/// The header of a graphics program of Maxwell, as assembly without instructions says it.
pub(super) fn header(bytes: &[u8]) -> Result<Header, Error> {
    Source::read(bytes)?.header()
}

fn text_of(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|e| Error::malformed(e.valid_up_to() as u64, "text", "UTF-8"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Maxwell,
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
    /// What is neither a label nor an instruction.
    directives: Vec<Line<'a>>,
    instructions: Vec<Line<'a>>,
    /// The number of the instruction behind each label.
    labels: FxHashMap<String, usize>,
}

impl<'a> Source<'a> {
    fn read(bytes: &'a [u8]) -> Result<Source<'a>, Error> {
        let text = text_of(bytes)?;
        let without_comment = |line: &'a str| line.split_once(COMMENT).map_or(line, |(before, _)| before).trim();
        let lines = text.lines().zip(1..).map(|(line, number)| (number, without_comment(line)));
        let lines = lines.map(|(number, text)| Line { number, text: text.into() });
        let mut lines = lines.filter(|line| !line.text.is_empty());
        let first = lines.next().ok_or_else(|| Error::Text { line: 1, problem: "expected .target".into() })?;
        let target = match first.text.strip_prefix(TARGET).map(str::trim) {
            Some("sm_50" | "sm_52" | "sm_53") => Target::Maxwell,
            // What is written by hand may have all instructions.
            Some("gfx900") => Target::Gfx9(Gfx9::Unspecified),
            Some(name) if let Some(mach) = Gfx9::named(name) => Target::Gfx9(mach),
            _ => return Err(first.wrong(format!("`{}`: expected .target sm_50 or .target gfx900", first.text))),
        };
        let mut source = Source {
            target,
            target_line: first.number,
            directives: vec![],
            instructions: vec![],
            labels: FxHashMap::default(),
        };
        for line in lines {
            let line = match (target, line.text) {
                (Target::Maxwell, Cow::Borrowed(text)) => Line { number: line.number, text: listed::statement(text) },
                (_, text) => Line { number: line.number, text },
            };
            if line.text.is_empty() {
                continue;
            }
            // In a listing functions and sections are labels as well.
            let is_label = |label: &&str| target == Target::Maxwell || label.starts_with(LABEL);
            if let Some(label) = line.text.strip_suffix(':').filter(is_label) {
                if source.labels.insert(label.to_owned(), source.instructions.len()).is_some() {
                    return Err(line.wrong(format!("label `{label}` stands for two places")));
                }
            } else if line.text.starts_with('.') {
                if target != Target::Maxwell || !listed::is_ignored(&line.text) {
                    source.directives.push(line);
                }
            } else {
                source.instructions.push(line);
            }
        }
        Ok(source)
    }

    /// The line with the number of `place(label)` for its label, if it has one: `.L1`, or the name of any label as a listing
    /// has it.
    fn with_target(
        &self,
        line: &Line<'_>,
        place: impl FnOnce(usize) -> Result<String, String>,
    ) -> Result<String, Error> {
        let text = &*line.text;
        let (before, label, after) = if let Some((before, name, after)) = named(text) {
            (before, name, after)
        } else {
            // Modifiers may begin like a label, as in `BRA CC.LE, .L1`, but not behind a blank.
            let is_label = |&(at, _): &(usize, &str)| text[..at].ends_with([' ', ',']);
            let Some((at, _)) = text.match_indices(LABEL).find(is_label) else { return Ok(text.into()) };
            let (before, rest) = text.split_at(at);
            let (label, after) = rest.split_at(rest.find([' ', ',', ';']).unwrap_or(rest.len()));
            (before, label, after)
        };
        let target = self.labels.get(label).ok_or_else(|| line.wrong(format!("there is no label `{label}`")))?;
        let number = place(*target).map_err(|problem| line.wrong(problem))?;
        Ok(format!("{before}{number}{after}"))
    }

    /// The header that `.stage` begins, if there is one.
    fn stage(&self) -> Result<Option<Header>, Error> {
        let mut header = None;
        for line in &self.directives {
            if let Some(name) = line.text.strip_prefix(STAGE) {
                header = Some(stage::header(name.trim()).map_err(|problem| line.wrong(problem))?);
            }
        }
        Ok(header)
    }

    /// The header of a graphics program that directives say, without its code.
    fn header(&self) -> Result<Header, Error> {
        let expected =
            || Error::Text { line: self.target_line, problem: "expected .stage for a graphics program".into() };
        let mut header = self.stage()?.ok_or_else(expected)?;
        for line in self.directives.iter().filter(|line| !line.text.starts_with(STAGE)) {
            let (name, value) = line.text.split_once(char::is_whitespace).unwrap_or((&line.text, ""));
            if !stage::directive(&mut header, name, value.trim()).map_err(|problem| line.wrong(problem))? {
                return Err(line.wrong(format!("`{name}`: expected what a header says")));
            }
        }
        if let Some(line) = self.instructions.first() {
            return Err(line.wrong("expected what a header says, and no instructions"));
        }
        Ok(header)
    }

    fn maxwell(&self) -> Result<Module, Error> {
        let (mut code, mut externs) = (Vec::new(), Externs::default());
        for (number, line) in self.instructions.iter().enumerate() {
            let text = match named(&line.text) {
                None if line.text.contains(NAMED.0) => {
                    return Err(line.wrong(format!("expected `(NAME) in `{}`", line.text)));
                }
                Some(named) if !self.labels.contains_key(named.1) => {
                    externs.without_name(line, named, maxwell_pc(number))?
                }
                _ => self.with_target(line, |target| Ok(format!("{:#x}", maxwell_pc(target))))?,
            };
            let word = maxwell::assemble(&text, maxwell_pc(number)).map_err(|e| line.wrong(e.to_string()))?;
            if number.is_multiple_of(BUNDLE) {
                code.extend([0; WORD_BYTES as usize]);
            }
            code.extend(word.to_le_bytes());
        }
        let size = code.len() as u64;
        let mut function = Function::new(UNNAMED.into(), SymbolId(0), SectionId(0), 0, size, true);
        function.param_base = PARAM_BASE;
        function.stack_bytes = Some(0);
        let mut param_bytes = 0_u32;
        let mut header = self.stage()?;
        for line in self.directives.iter().filter(|line| !line.text.starts_with(STAGE)) {
            let (name, value) = line.text.split_once(char::is_whitespace).unwrap_or((&line.text, ""));
            let value = value.trim();
            if let Some(header) = &mut header
                && stage::directive(header, name, value).map_err(|problem| line.wrong(problem))?
            {
                continue;
            }
            let bytes = |least| {
                let bytes = value.parse().ok().filter(|bytes| (least..=MAX_BYTES).contains(bytes));
                bytes.ok_or_else(|| line.wrong(format!("`{value}`: expected {least} to {MAX_BYTES} bytes")))
            };
            match name {
                ".kernel" if !value.is_empty() => function.name = value.into(),
                ".kernel" => return Err(line.wrong("expected a name")),
                ".shared" | ".param" if header.is_some() => {
                    return Err(line.wrong(format!("`{name}`: a graphics program has none")));
                }
                ".shared" => function.shared_bytes = bytes(0)?.into(),
                ".local" => function.stack_bytes = Some(bytes(0)?),
                ".param" => {
                    let size = bytes(1)?;
                    let offset = param_bytes.next_multiple_of(size.next_power_of_two().min(8));
                    param_bytes =
                        Some(offset + size).filter(|&end| end <= MAX_BYTES - PARAM_BASE).ok_or_else(|| {
                            line.wrong(format!("expected at most {} bytes of parameters", MAX_BYTES - PARAM_BASE))
                        })?;
                    function.params.push(Param { offset, size });
                }
                _ => {
                    return Err(
                        line.wrong(format!("`{name}`: expected .kernel, .param, .shared, .local, .stage or a label"))
                    );
                }
            }
        }
        if let Some(header) = header {
            let name = if function.name == UNNAMED { header.stage().name() } else { &function.name };
            return Ok(sph::assembled(name, header, code));
        }
        function.param_bytes = param_bytes;
        function.externs = (1..=externs.names.len()).map(SymbolId).collect();
        let mut module = module(Isa::Maxwell { sm: 50 }, code, function);
        module.symbols.extend(externs.names.iter().map(|&name| symbol_of(name.into(), None, 0)));
        module.relocations = externs.calls;
        Ok(module)
    }

    fn gfx9(&self, chip: Chip) -> Result<Vec<u8>, Error> {
        if let Some(line) = self.directives.first() {
            return Err(line.wrong(format!("`{}`: expected instructions and labels only", line.text)));
        }
        // Where instructions are is not known in the first round, but how long they are is.
        let mut starts = vec![0; self.instructions.len() + 1];
        let mut code = Vec::new();
        for _ in 0..2 {
            code.clear();
            for (number, line) in self.instructions.iter().enumerate() {
                starts[number] = code.len() as i64;
                let next = code.len() as i64 + 4;
                let distance = |target: usize| {
                    let words = i16::try_from((starts[target] - next) / 4);
                    words.map(|words| words.cast_unsigned().to_string()).map_err(|_| "the label is too far".into())
                };
                let text = self.with_target(line, distance)?;
                code.extend(gfx9::assemble_for(&text, chip).map_err(|e| line.wrong(e.to_string()))?);
            }
            starts[self.instructions.len()] = code.len() as i64;
        }
        Ok(code)
    }
}

/// Functions that a text names without defining them.
#[derive(Default)]
struct Externs<'a> {
    names: Vec<&'a str>,
    symbols: FxHashMap<&'a str, SymbolId>,
    calls: Vec<Relocation>,
}

impl<'a> Externs<'a> {
    /// The line with 0 for the name of such a function.
    fn without_name(
        &mut self,
        line: &Line<'_>,
        (before, name, after): (&str, &'a str, &str),
        pc: u64,
    ) -> Result<String, Error> {
        let operation = before.split_whitespace().find(|word| !word.starts_with('@'));
        if !matches!(operation, Some("JCAL" | "JMP")) {
            return Err(line.wrong(format!("`{}`: only JCAL and JMP reach a function by its name", line.text)));
        }
        // Behind the kernel's own.
        let next = SymbolId(1 + self.names.len());
        let symbol = *self.symbols.entry(name).or_insert(next);
        if symbol == next {
            self.names.push(name);
        }
        let (kind, name) = reloc::kind(EXTERN_ADDRESS).expect("a type of the table");
        self.calls.push(Relocation { section: SectionId(0), offset: pc, kind, name, symbol, addend: None });
        Ok(format!("{before}0x0{after}"))
    }
}

/// What stands before a name in `( ), the name, and what stands behind it.
fn named(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(NAMED.0)?;
    let (name, after) = rest.split_once(NAMED.1).filter(|(name, _)| !name.is_empty())?;
    Some((before, name, after))
}

/// Address of an instruction by its number.
const fn maxwell_pc(number: usize) -> u64 {
    (number / BUNDLE) as u64 * BUNDLE_BYTES + (number % BUNDLE + 1) as u64 * WORD_BYTES
}

/// A function of the IR as a module. Its code is its text.
fn function(text: &str) -> Result<Module, Error> {
    let wrong = |problem: String| Error::Ir { problem };
    let parsed = parse::parse(text).map_err(|e| wrong(e.to_string()))?;
    verify::verify(&parsed).map_err(|e| wrong(e.to_string()))?;
    let function = Function::new(parsed.name, SymbolId(0), SectionId(0), 0, text.len() as u64, true);
    Ok(module(Isa::Ir, text.into(), function))
}

fn module(isa: Isa, code: Vec<u8>, function: Function) -> Module {
    let symbol = symbol_of(function.name.clone(), Some(SectionId(0)), function.size);
    let name = format!(".text.{}", function.name);
    let section = Section { name, kind: SectionKind::Code, align: BUNDLE_BYTES, size: function.size, data: code };
    Module { symbols: vec![symbol], functions: vec![function], ..Module::new(isa, vec![section]) }
}

fn symbol_of(name: String, section: Option<SectionId>, size: u64) -> Symbol {
    let (kind, binding) = (SymbolKind::Function, Binding::Global);
    Symbol { name, kind, section, offset: 0, size, binding, dynamic_shared: false }
}
