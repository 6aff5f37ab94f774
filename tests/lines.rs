//! Faults and findings in machine code name the line of the source: cubins of Maxwell and Ampere,
//! linked files, code objects of GFX9 with line tables of two versions. Tables that are damaged
//! lose lines.

use std::ops::Range;
use std::path::{Path, PathBuf};

use object::LittleEndian as LE;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader};
use warploom::{Allocation, Allocations, Arg, Checks, EngineKind, LaunchOptions, Program};
use warploom_container::{Module, SectionId, linked, modules};
use warploom_runtime::memory::MemoryConfig;

const FILES: [&str; 6] = [
    "lines.sm_50.cubin",
    "lines.sm_80.cubin",
    "lines.sm_50.o",
    "lines.sm_80.o",
    "lines.dwarf4.hsaco",
    "lines.dwarf5.hsaco",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/lines")
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

/// Returns the number of the line with a comment.
fn line_with(source: &str, comment: &str) -> u32 {
    let text = std::fs::read_to_string(folder().join(source)).unwrap();
    text.lines().position(|line| line.ends_with(comment)).unwrap() as u32 + 1
}

/// Returns the fault of a launch at an address without memory, and the findings of a launch whose
/// buffer is too short, as text.
fn mistakes(program: &Program, kernel: &str, engine: EngineKind) -> [String; 2] {
    let kernel = program.kernel(kernel).unwrap();
    let options = LaunchOptions { engine, ..LaunchOptions::new([1, 1, 1], [16, 1, 1]) };
    let fault = kernel.launch(&[Arg::pointer(0x100)], &options).unwrap().fault.unwrap();
    let memory = program.memory();
    let address = memory.alloc(32, 4).unwrap();
    let live = vec![Allocation { name: "out".into(), address, bytes: 32 }];
    let allocations = Allocations { live, ..Allocations::default() };
    let checks = Checks { memory: true, ..Checks::default() };
    let checked =
        kernel.launch_checked(&[Arg::pointer(address)], &options, checks, &allocations).unwrap();
    let [finding] = &checked.findings[..] else { panic!("{:?}", checked.findings) };
    [fault.to_string(), finding.to_string()]
}

/// Tests that faults and findings of a program name the lines of its stores.
fn names_lines(name: &str, program: &Program) {
    for (kernel, source, comment) in
        [("here", "lines.cu", "store of here"), ("there", "lines.h", "store of there")]
    {
        // GFX9's compiler knows the folder of only headers before version 5 of DWARF.
        let place = format!("{source}:{}: ", line_with(source, comment));
        for engine in [EngineKind::Jit, EngineKind::Interp] {
            for text in mistakes(program, kernel, engine) {
                let (_, said) = text.rsplit_once(", at ").unwrap_or_else(|| panic!("{text}"));
                assert!(said.contains(&place), "{name}: {text}");
            }
        }
    }
}

#[test]
fn faults_and_findings_name_lines_of_the_source() {
    for name in FILES {
        names_lines(name, &Program::load(&bytes(name), None).unwrap());
    }
}

#[test]
fn a_linked_program_has_the_lines_of_each_file() {
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/turing/link/b.sm_80.o");
    let (other, own) = (std::fs::read(other).unwrap(), bytes("lines.sm_80.o"));
    for files in [[("other", &other[..]), ("own", &own)], [("own", &own), ("other", &other)]] {
        let module = linked(&files, None).unwrap();
        names_lines("linked", &Program::new(module, MemoryConfig::default()).unwrap());
    }
}

/// The lines of a module: for each offset of each section, the file and the line.
type Found = Vec<Option<(String, u32)>>;

fn all_lines(bytes: &[u8]) -> (Module, Found) {
    let module = modules(bytes).unwrap().pop().unwrap();
    let of_section = |(id, section): (usize, &warploom_container::Section)| {
        // No instruction begins in between.
        let offsets = (0..section.data.len() as u64).step_by(4);
        offsets.map(|at| module.lines.find(SectionId(id), at)).collect::<Vec<_>>()
    };
    let found = module.sections.iter().enumerate().flat_map(of_section).collect();
    (module, found)
}

/// A section of line tables: its name, the place of its size in the file, and its own place.
struct Part {
    name: String,
    size_at: usize,
    content: Range<usize>,
}

fn parts(bytes: &[u8]) -> Vec<Part> {
    let header = FileHeader64::<LE>::parse(bytes).unwrap();
    let sections = header.sections(LE, bytes).unwrap();
    let mut parts = vec![];
    for (i, section) in sections.iter().enumerate() {
        let name = String::from_utf8_lossy(sections.section_name(LE, section).unwrap());
        if name.contains(".debug_line") || name.ends_with(".debug_str") {
            let (offset, size) = section.file_range(LE).unwrap();
            let size_at = header.e_shoff.get(LE) as usize + 64 * i + 32;
            let content = offset as usize..(offset + size) as usize;
            parts.push(Part { name: name.into_owned(), size_at, content });
        }
    }
    assert!(parts.iter().any(|part| part.name == ".debug_line"));
    parts
}

/// Tests that a damaged table changes nothing but lines, and returns them.
fn damaged(bytes: &[u8], whole: &Module) -> Found {
    let (module, found) = all_lines(bytes);
    let content = |module: &Module| -> Vec<Vec<u8>> {
        module.sections.iter().map(|section| section.data.clone()).collect()
    };
    assert_eq!(content(&module), content(whole));
    assert!(module.kernel_names().eq(whole.kernel_names()));
    found
}

#[test]
fn tables_that_end_early_lose_lines() {
    for name in FILES {
        let original = bytes(name);
        let (module, whole) = all_lines(&original);
        let lost = |changed: &[u8], what: &str| {
            let found = damaged(changed, &module);
            let is_subset =
                found.iter().zip(&whole).all(|(now, then)| now.is_none() || now == then);
            assert!(is_subset, "{name}: {what}");
        };
        for part in parts(&original) {
            for size in 0..part.content.len() {
                // Half a relocation is none.
                let mut changed = original.clone();
                changed[part.size_at..][..8].copy_from_slice(&(size as u64).to_le_bytes());
                lost(&changed, &format!("{} of {size} bytes", part.name));
            }
            if part.name != ".debug_line" {
                continue;
            }
            // The program ends early, and what follows is no unit.
            for bytes in 0..part.content.len() as u32 - 4 {
                let mut changed = original.clone();
                changed[part.content.start..][..4].copy_from_slice(&bytes.to_le_bytes());
                changed[part.content.clone()][4 + bytes as usize..].fill(0xff);
                lost(&changed, &format!("a unit of {bytes} bytes"));
            }
        }
    }
}

#[test]
fn tables_with_wrong_bits_are_read() {
    for name in FILES {
        let original = bytes(name);
        let (module, whole) = all_lines(&original);
        assert!(whole.iter().any(Option::is_some));
        let mut changed = original.clone();
        for part in parts(&original) {
            for at in part.content {
                for wrong in (0..8).map(|bit| original[at] ^ 1 << bit).chain([0, 0x7f, 0x80, 0xff])
                {
                    changed[at] = wrong;
                    damaged(&changed, &module);
                }
                changed[at] = original[at];
            }
        }
    }
}
