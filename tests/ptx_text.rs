//! Reads all PTX of the corpora.

#[path = "support/files.rs"]
mod files;

use std::path::{Path, PathBuf};

use files::files;
use warploom_ptx::module::{Function, Module, Variable};
use warploom_ptx::text::print;

/// Returns the files of the repository, and of the larger corpus if it is there.
fn corpus() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/ptx/corpus", "shared/corpus/ptx"];
    let found = folders.iter().flat_map(|folder| files(&root.join(folder), &["ptx"]));
    found.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn corpus_is_read() {
    let mut wrong = String::new();
    for (path, text) in corpus() {
        if let Err(errors) = warploom_ptx::read(&text) {
            wrong += &format!("{}:\n{errors}\n", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Returns a module's content, without places in the text and names inside functions.
fn meaning(module: &Module) -> Vec<String> {
    let mut all = vec![format!(
        "{:?} {:?} {} {} {:?}",
        module.version,
        module.target,
        module.address_size,
        module.independent_textures,
        module.files
    )];
    for variable in &module.variables {
        let name = if variable.owner.is_none() { &variable.name } else { "" };
        all.push(format!(
            "{name} {:?}",
            Variable { name: String::new(), at: 0, ..variable.clone() }
        ));
    }
    for function in &module.functions {
        let head = Function { body: None, at: 0, ..function.clone() };
        all.push(format!("{head:?}"));
        let Some(body) = &function.body else { continue };
        let types: Vec<_> = body.registers.iter().map(|register| register.ty).collect();
        let labels: Vec<_> = body.labels.iter().map(|label| label.statement).collect();
        all.push(format!("{types:?} {labels:?} {:?} {:?}", body.branch_targets, body.call_targets));
        all.push(format!("{:?} {:?}", body.prototypes, body.lines));
        for statement in &body.statements {
            let form = module.form(statement.form);
            let form = format!("{} {:?} {:?}", form.row.opcode, form.words, form.types);
            all.push(format!("{form} {:?} {:?}", statement.guard, statement.operands));
        }
    }
    all
}

/// Prints a module and reads it again.
fn reads_back(module: &Module, what: &str) {
    let printed = print(module);
    let again = warploom_ptx::read(printed.as_bytes())
        .unwrap_or_else(|errors| panic!("{what}: printed text:\n{errors}\n{printed}"));
    for (a, b) in meaning(module).iter().zip(&meaning(&again)) {
        assert_eq!(a, b, "{what}");
    }
    assert_eq!(meaning(module).len(), meaning(&again).len(), "{what}");
    assert_eq!(printed, print(&again), "{what}");
}

#[test]
fn printed_text_reads_back() {
    for (path, text) in corpus() {
        let module = warploom_ptx::read(&text).unwrap();
        reads_back(&module, &path.display().to_string());
    }
}

/// Deterministic numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

/// Bytes and words that valid text has at other places.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "\"",
    "/*",
    "//",
    "@",
    "!",
    "-",
    "|",
    "+",
    ".reg",
    ".param",
    ".b8",
    ".align 8",
    "[]",
    "<4000000000>",
    "[1152921504606846976]",
    "0x",
    "0f",
    "1e5",
    "%r",
    "_",
    "{_,",
    ".extern",
    ".func",
    "\0",
    "\u{80}",
    "((((((((",
    "{{{{{{{{",
    "= {",
    ".branchtargets",
    "call",
    "bra",
    "WARP_SZ",
    "%tid",
    "9999999999999999999999",
];

#[test]
fn damaged_texts_never_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let texts = corpus();
    for (path, text) in &texts {
        let rounds = if text.len() < 8192 { 60 } else { 2 };
        for _ in 0..rounds {
            let mut text = text.clone();
            text.truncate(16384);
            match random.below(3) {
                0 => text.truncate(random.below(text.len())),
                1 => {
                    for _ in 0..1 + random.below(8) {
                        let at = random.below(text.len());
                        text[at] = random.below(256) as u8;
                    }
                }
                _ => {
                    for _ in 0..1 + random.below(4) {
                        let at = random.below(text.len());
                        let piece = PIECES[random.below(PIECES.len())].bytes();
                        let end = (at + random.below(6)).min(text.len());
                        text.splice(at..end, piece);
                    }
                }
            }
            let errors = match warploom_ptx::read(&text) {
                Ok(module) => {
                    reads_back(&module, &format!("{} with changes", path.display()));
                    continue;
                }
                Err(errors) => errors,
            };
            assert!((1..=20).contains(&errors.errors.len()), "{}", path.display());
            for error in &errors.errors {
                assert!(error.at as usize <= text.len() && error.line >= 1 && error.column >= 1);
            }
        }
    }
    assert!(!texts.is_empty());
}
