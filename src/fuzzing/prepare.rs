//! What a fuzzer starts from: seeds out of the project's own files, and dictionaries out of the instruction tables.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use arbitrary::Unstructured;
use warploom_cache::Reader;
use warploom_container::{Isa, SectionKind};
use warploom_gfx9::layout::Form;
use warploom_testing::ir::{Random, Source};
use warploom_testing::{gfx9 as gfx9_code, maxwell as maxwell_code, ptx as ptx_code};

use super::KEPT;

// Makes fat binaries for tests, too.
#[path = "../../tests/support/fat_file.rs"]
mod fat_file;

/// Inputs larger than this take too long.
const MAX_BYTES: u64 = 1 << 20;
/// Of a text of PTX that is a seed.
const MAX_TEXT: usize = 8 << 10;
/// Seeds that are nothing but choices, and their sizes in bytes.
const CHOICES: [u32; 8] = [100, 200, 400, 800, 1200, 1600, 2400, 3200];

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Contents of all files below a folder of the project whose name ends so.
pub fn files(folder: &str, end: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut folders = vec![project().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let entry = entry.expect("an entry");
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(end)
                && entry.metadata().expect("its size").len() <= MAX_BYTES
            {
                found.push(fs::read(&path).expect("a file"));
            }
        }
    }
    assert!(!found.is_empty(), "no {end} in {folder}");
    // Folders are read in any order.
    found.sort();
    found
}

pub fn random(random: &mut Random, bytes: u32) -> Vec<u8> {
    (0..bytes).map(|_| random.below(256) as u8).collect()
}

/// The seeds of a target.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    match target {
        "array" => files("examples", ".npy"),
        "assembly" => assembly(),
        "container" => {
            let amd = [".hsaco", ".bundle", ".ccob", "host.o", "opencl.bin", "hints.bin"]
                .map(|end| files("tests", end))
                .concat();
            let cubins = files("examples", ".cubin");
            let fat = [false, true].map(|packed| {
                fat_file::fat(&[fat_file::member(2, 50, &cubins[0], packed, "a.cu")])
            });
            let host = fat_file::host(&[(".nv_fatbin", &fat.concat())]);
            let intel = [".zebin", ".isa"].map(|end| files("tests/fixtures/visa", end)).concat();
            [cubins, amd, fat.into(), vec![host], intel, files("tests/fixtures/cuda", ".fatbin")]
                .concat()
        }
        // The first byte says whether a checksum is made.
        "cache" => {
            let file = Reader::new(&KEPT).and_then(|reader| reader.file()).expect("code");
            vec![[&[0], &file[..]].concat(), [&[1], Reader::payload(&file)].concat()]
        }
        "manifest" => files("examples", ".toml"),
        "ir_text" => functions(),
        "ptx_text" => modules(),
        "decode_visa" => visa(),
        "decode_maxwell" => code(|isa| matches!(isa, Isa::Maxwell { .. })),
        "decode_gfx9" => code(|isa| matches!(isa, Isa::Gfx9 { .. })),
        // The first byte is the GPU.
        "decode_turing" => dumb(&code(|isa| matches!(isa, Isa::Turing { .. })), 16 * 32),
        // The first byte is the shape of blocks.
        "diff_dumb_turing" => dumb(&code(|isa| matches!(isa, Isa::Turing { .. })), 16 * 64),
        "diff_dumb_maxwell" => dumb(&seeds("decode_maxwell"), 8 * 64),
        "diff_dumb_gfx9" => dumb(&seeds("decode_gfx9"), 4 * 64),
        _ => choices(),
    }
}

/// Bytes that choose something.
fn choices() -> Vec<Vec<u8>> {
    let mut source = Random::new(7);
    CHOICES.iter().map(|&bytes| random(&mut source, bytes)).collect()
}

/// Assembly of random kernels.
fn assembly() -> Vec<Vec<u8>> {
    let both = [maxwell_code::kernel, gfx9_code::kernel];
    let kernels = choices()
        .into_iter()
        .flat_map(|bytes| both.map(|kernel| kernel(&mut Unstructured::new(&bytes))));
    kernels.filter_map(|case| Some(case.ok()?.text().into_bytes())).collect()
}

/// PTX of compilers that is short, and random kernels.
fn modules() -> Vec<Vec<u8>> {
    let written =
        files("tests/fixtures/ptx", ".ptx").into_iter().filter(|text| text.len() <= MAX_TEXT);
    let kernels = choices()
        .into_iter()
        .filter_map(|bytes| ptx_code::kernel(&mut Unstructured::new(&bytes)).ok());
    written.chain(kernels.map(|case| case.text().into_bytes())).collect()
}

/// vISA of compilers: old binary files, and short texts.
fn visa() -> Vec<Vec<u8>> {
    let texts =
        files("tests/fixtures/visa", ".visaasm").into_iter().filter(|text| text.len() <= MAX_TEXT);
    files("tests/fixtures/visa", ".isa").into_iter().chain(texts).collect()
}

/// The functions of the tests of the IR, one by one.
fn functions() -> Vec<Vec<u8>> {
    let mut functions = Vec::new();
    for file in files("tests/ir", ".ir") {
        let text = String::from_utf8(file).expect("text");
        let from = |at: usize| {
            text[at..].find("\n}").map(|end| text.as_bytes()[at..at + end + 3].to_vec())
        };
        functions.extend(text.match_indices("function ").filter_map(|(at, _)| from(at)));
    }
    functions
}

/// Code of the examples.
fn code(wanted: fn(Isa) -> bool) -> Vec<Vec<u8>> {
    let binaries = [files("examples", ".cubin"), files("examples", ".hsaco")].concat();
    let modules =
        binaries.iter().filter_map(|bytes| warploom_container::modules(bytes).ok()).flatten();
    let modules = modules.filter(|module| wanted(module.isa));
    let code = modules.flat_map(|module| {
        let starts: Vec<_> =
            module.kernels().map(|(_, kernel)| (kernel.section, kernel.offset as usize)).collect();
        let is_code = |section: &warploom_container::Section| {
            matches!(section.kind, SectionKind::Code | SectionKind::Image)
        };
        let of = |(section, at)| {
            let section = module.section(section);
            is_code(section).then(|| section.data.get(at..).map(<[u8]>::to_vec)).flatten()
        };
        starts.into_iter().filter_map(of).collect::<Vec<_>>()
    });
    code.collect()
}

/// Pieces of code, with a byte in front.
fn dumb(code: &[Vec<u8>], bytes: usize) -> Vec<Vec<u8>> {
    let pieces = code.iter().flat_map(|code| code.chunks(bytes).take(4));
    pieces.map(|piece| [&[0], piece].concat()).collect()
}

/// The entries of a target's dictionary.
fn dictionary(target: &str) -> BTreeSet<Vec<u8>> {
    let words = |texts: Vec<Vec<u8>>| {
        let texts = texts.into_iter().filter_map(|text| String::from_utf8(text).ok());
        let is_word = |c: char| c.is_ascii_alphanumeric() || ['.', '_'].contains(&c);
        let words =
            |text: String| text.split(|c| !is_word(c)).map(str::to_owned).collect::<Vec<_>>();
        let is_name =
            |word: &String| word.len() > 1 && word.starts_with(|c: char| c.is_ascii_alphabetic());
        texts.flat_map(words).filter(is_name).map(String::into_bytes).collect()
    };
    match target {
        "decode_maxwell" | "diff_dumb_maxwell" => {
            warploom_maxwell::table::rows().map(|row| row.bits.to_le_bytes().into()).collect()
        }
        "decode_turing" | "diff_dumb_turing" => {
            warploom_turing::table::TABLE.rows().map(|row| row.bits.to_le_bytes().into()).collect()
        }
        "decode_gfx9" | "diff_dumb_gfx9" => {
            let forms = warploom_gfx9::table::rows().flat_map(|row| row.forms());
            let fixed = forms.filter_map(|(encoding, format, op)| {
                Some(Form::find(encoding, format)?.fixed(op).1)
            });
            fixed.map(|bits| bits.to_le_bytes().into()).collect()
        }
        "assembly" => warploom_gfx9::table::rows()
            .map(|row| row.mnemonic.as_bytes().into())
            .chain(
                [".target sm_50", ".target gfx900", ".kernel", ".param", ".shared", ".local", ".L"]
                    .map(Into::into),
            )
            .collect(),
        "ir_text" => words(functions()),
        "ptx_text" => {
            let words = [
                ".version 8.8",
                ".target sm_90a",
                ".address_size 64",
                ".visible",
                ".extern",
                ".weak",
                ".common",
                ".entry",
                ".func",
                ".reg",
                ".align",
                ".callprototype",
                ".calltargets",
                ".branchtargets",
                ".loc",
                ".file",
                ".section",
                ".maxntid",
                ".reqntid",
                ".minnctapersm",
                ".maxnreg",
                ".noreturn",
                ".pragma",
                ".alias",
                ".ptr",
                "%tid.x",
                "%laneid",
                "WARP_SZ",
            ];
            let vocabulary = warploom_ptx::table::random::vocabulary().into_iter();
            vocabulary.chain(words.map(Into::into)).map(String::into_bytes).collect()
        }
        "decode_visa" => {
            let names = warploom_visa::table::rows().iter().map(|row| row.name);
            let words = [
                "CISA",
                ".version 4.1",
                ".kernel",
                ".global_function",
                ".decl",
                ".input",
                ".kernel_attr",
                "%null.0",
                "(M1_NM, 1)",
            ];
            names.chain(words).map(|word| word.as_bytes().into()).collect()
        }
        "manifest" => words(files("docs", "manifest.md")),
        "container" => {
            let names = [
                ".nv.info",
                ".nv.constant0.",
                ".nv.shared.",
                ".text.",
                ".rela.text.",
                ".nv_fatbin",
                ".hip_fatbin",
                ".kd",
                ".visaasm",
                ".ze_info",
                ".note.intelgt.compat",
            ];
            let magics = [
                "__CLANG_OFFLOAD_BUNDLE__",
                "CCOB",
                "hipv4-amdgcn-amd-amdhsa--gfx900",
                "amdhsa.kernels",
                "AMDGPU",
            ];
            let binary = [
                &b"\x7fELF\x02\x01\x01"[..],
                b"\x50\xed\x55\xba\x01\x00\x10\x00",
                b"\xb1\x43\x62\x46",
            ];
            names
                .iter()
                .chain(&magics)
                .map(|text| text.as_bytes())
                .chain(binary)
                .map(Into::into)
                .collect()
        }
        _ => BTreeSet::new(),
    }
}

/// What a target does when it starts: if the fuzzer is given `fuzz/corpus/TARGET`, and that is empty, the seeds are written there,
/// and `fuzz/dictionaries/TARGET.dict`.
///
/// # Panics
/// If a file cannot be written.
pub fn prepare(target: &str) {
    let folder = project().join("fuzz");
    // A fleet's machine has corpora of its own.
    let Ok(corpus) = folder.join("corpus").join(target).canonicalize() else { return };
    let is_given = env::args_os()
        .skip(1)
        .any(|arg| Path::new(&arg).canonicalize().is_ok_and(|path| path == corpus));
    let is_empty = || fs::read_dir(&corpus).is_ok_and(|mut entries| entries.next().is_none());
    if is_given && is_empty() {
        write(target, &corpus, &folder.join("dictionaries"))
            .unwrap_or_else(|e| panic!("seeds of {target}: {e}"));
    }
}

fn write(target: &str, corpus: &Path, dictionaries: &Path) -> io::Result<()> {
    for (number, seed) in seeds(target).iter().enumerate() {
        fs::write(corpus.join(format!("seed-{number:04}")), seed)?;
    }
    // A dictionary may have no entries, but no fuzzer takes an empty file.
    let mut text = format!("# Out of the tables, by {target}\n");
    for entry in dictionary(target) {
        let bytes: String = entry.iter().map(|byte| format!("\\x{byte:02x}")).collect();
        // Writing to a string does not fail.
        let _ = writeln!(text, "\"{bytes}\"");
    }
    fs::create_dir_all(dictionaries)?;
    fs::write(dictionaries.join(format!("{target}.dict")), text)
}
