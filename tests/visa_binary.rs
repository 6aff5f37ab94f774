//! vISA's binary form: files of the corpus, every opcode, damaged files.

mod support {
    pub mod visa;
    pub mod visa_random;
}

use std::path::{Path, PathBuf};

use support::visa::{corpus, without_trailing_blanks};
use support::visa_random::{Random, random_instruction, routine};
use warploom::isa::visa::module::{BinaryParts, Instruction, LabelId, Module, Operand, Routine};
use warploom::isa::visa::table;
use warploom::isa::visa::types::Version;
use warploom::isa::visa::{binary, text};

fn read(path: &Path, bytes: &[u8]) -> Module {
    binary::read(bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of the same routine next to a file.
fn text_of(path: &Path, number: usize) -> Option<Vec<u8>> {
    let stem = path.file_stem()?.to_str()?;
    let name = if number == 0 { format!("{stem}.visaasm") } else { format!("{stem}_f{}.visaasm", number - 1) };
    std::fs::read(path.with_file_name(name)).ok()
}

fn one(routine: &Routine) -> Module {
    Module { routines: vec![routine.clone()], platform: None }
}

#[test]
fn files_print_the_compilers_text() {
    let (mut lines, mut compared) = (0, 0);
    for (path, bytes) in corpus(&["isa"]) {
        let module = read(&path, &bytes);
        for (number, routine) in module.routines.iter().enumerate() {
            let Some(theirs) = text_of(&path, number) else { continue };
            compared += 1;
            let (ours, theirs) = (text::print(&one(routine)), String::from_utf8(theirs).unwrap());
            let (ours, theirs) = (without_trailing_blanks(&ours), without_trailing_blanks(&theirs));
            for (a, b) in ours.iter().zip(&theirs) {
                assert_eq!(a, b, "{}", path.display());
            }
            assert_eq!(ours.len(), theirs.len(), "{}", path.display());
            lines += ours.len();
        }
    }
    assert!(compared >= 9 && lines > 2_000, "{compared} texts, {lines} lines");
}

/// Numbers the labels as another routine numbers those of the same name.
fn with_labels_of(mut routine: Routine, other: &Routine) -> Routine {
    let printed = |routine: &Routine, n: usize| {
        let of = Operand::Label(LabelId(n as u16));
        let label = Instruction {
            row: table::find(0x31, None).unwrap(),
            at: 0,
            exec: None,
            predicate: None,
            saturate: false,
            operands: [of].into_iter().collect(),
        };
        text::instruction_text(routine, &label)
    };
    let names: Vec<_> = (0..other.labels.len()).map(|n| printed(other, n)).collect();
    let places: Vec<_> = (0..routine.labels.len())
        .map(|n| names.iter().position(|name| *name == printed(&routine, n)).expect("a label of the other"))
        .collect();
    for operand in routine.code.iter_mut().flat_map(|one| &mut one.operands) {
        match operand {
            Operand::Label(id) => id.0 = places[usize::from(id.0)] as u16,
            Operand::Labels(all) => all.iter_mut().for_each(|id| id.0 = places[usize::from(id.0)] as u16),
            _ => {}
        }
    }
    routine
}

#[test]
fn binary_to_text_to_binary_is_the_identity() {
    let (mut instructions, mut exceptions) = (0, 0);
    for (path, bytes) in corpus(&["isa"]) {
        let module = read(&path, &bytes);
        for routine in &module.routines {
            let parts = routine.binary.as_ref().unwrap();
            let printed = text::print(&one(routine));
            let again = text::read(printed.as_bytes()).unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
            let mut again = with_labels_of(again.routines[0].clone(), routine);
            // Names of functions are numbers of strings, which the text does not have.
            again.binary = Some(BinaryParts { strings: parts.strings.clone(), ..BinaryParts::default() });
            let code = binary::write_code(&again).unwrap();
            let mut theirs = bytes[parts.code_at as usize..][..code.len()].to_vec();
            // The text says `fence_sw` whatever the other bits of such a fence are: these are the exceptions.
            for fence in routine.code.iter().filter(|one| one.row.name == "fence") {
                let bits = &mut theirs[(fence.at - parts.code_at) as usize + 1];
                if *bits > 0x80 {
                    *bits = 0x80;
                    exceptions += 1;
                }
            }
            assert!(code == theirs, "{}: the code of `{}`", path.display(), routine.name);
            assert_eq!(routine.code.len(), again.code.len());
            instructions += routine.code.len();
        }
    }
    assert!(instructions > 2_000, "{instructions} instructions");
    assert!(exceptions * 1000 <= instructions * 5, "{exceptions} exceptions of {instructions}");
}

/// Without places in the file.
fn meaning(module: &Module) -> String {
    let mut module = module.clone();
    for routine in &mut module.routines {
        routine.code.iter_mut().for_each(|one| one.at = 0);
        if let Some(parts) = &mut routine.binary {
            parts.code_at = 0;
        }
    }
    format!("{module:?}")
}

#[test]
fn written_files_are_those_that_were_read() {
    for (path, bytes) in corpus(&["isa"]) {
        let module = read(&path, &bytes);
        let written = binary::write(&module).unwrap();
        let again = read(&path, &written);
        assert!(meaning(&module) == meaning(&again), "{}", path.display());
        // The routines are the same bytes; machine code behind them is not written.
        for (theirs, ours) in module.routines.iter().zip(&again.routines) {
            let place = |routine: &Routine| routine.binary.as_ref().unwrap().code_at as usize;
            let (theirs, ours) = (place(theirs), place(ours));
            let tables = theirs.min(ours) - 8 * 16;
            assert!(bytes[theirs - tables..theirs] == written[ours - tables..ours], "{}", path.display());
        }
    }
}

#[test]
fn hand_written_text_is_assembled_as_by_the_compiler() {
    let find = |extension: &str, end: &str| -> (PathBuf, Vec<u8>) {
        corpus(&[extension]).into_iter().find(|(path, _)| path.ends_with(end)).unwrap()
    };
    let (path, bytes) = find("isa", "typed_atomic.skl.isa");
    let theirs = read(&path, &bytes);
    let (_, source) = find("visaasm", "typed_atomic.visaasm");
    let ours = text::read(&source).unwrap();
    let names = |routine: &Routine| -> Vec<_> { routine.code.iter().map(|one| one.row.name).collect() };
    assert_eq!(names(&ours.routines[0]), names(&theirs.routines[0]));
    for (ours, theirs) in ours.routines[0].code.iter().zip(&theirs.routines[0].code).skip(2) {
        let (ours, theirs) = (Instruction { at: 0, ..ours.clone() }, Instruction { at: 0, ..theirs.clone() });
        assert_eq!(ours, theirs);
    }
}

fn without_place(instruction: &Instruction) -> Instruction {
    Instruction { at: 0, ..instruction.clone() }
}

const VERSIONS: [Version; 12] = [
    Version::new(3, 0),
    Version::new(3, 1),
    Version::new(3, 2),
    Version::new(3, 3),
    Version::new(3, 4),
    Version::new(3, 5),
    Version::new(3, 6),
    Version::new(3, 7),
    Version::new(3, 8),
    Version::new(4, 0),
    Version::new(4, 1),
    Version::new(4, 8),
];

#[test]
fn every_opcode_has_an_encoding_that_is_read_back() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for row in table::rows().iter().filter(|row| row.code < 0x93 && (row.code, row.sub) != (0x60, Some(2))) {
        let mut written = 0;
        for turn in 0..VERSIONS.len() * 40 {
            let version = VERSIONS[turn % VERSIONS.len()];
            let mut routine = routine(version);
            let instruction = random_instruction(row, &mut random);
            routine.code.push(instruction.clone());
            let Ok(bytes) = binary::write(&one(&routine)) else { continue };
            written += 1;
            let again =
                binary::read(&bytes).unwrap_or_else(|error| panic!("{} {version}: {error}\n{instruction:?}", row.name));
            let back = again.routines[0].code.last().unwrap();
            if version >= Version::new(3, 6) {
                assert_eq!(without_place(back), instruction, "{} {version}", row.name);
            }
            // What old versions cannot say is what they do not write.
            assert_eq!(binary::write(&again).unwrap(), bytes, "{} {version}", row.name);
        }
        assert!(written >= 100, "`{}` has {written} encodings", row.name);
    }
}

#[test]
fn every_opcode_has_a_text_that_is_read_back() {
    let mut random = Random(0xfeed_5678_9abc_def1);
    for row in table::rows() {
        let version = if row.code < 0x93 { Version::new(4, 0) } else { Version::new(4, 2) };
        let mut same = 0;
        for _ in 0..2_000 {
            let mut routine = routine(version);
            let instruction = random_instruction(row, &mut random);
            routine.code.push(instruction.clone());
            let printed = text::print(&one(&routine));
            // Numbers that have no name are not read.
            let Ok(again) = text::read(printed.as_bytes()) else { continue };
            let reprinted = text::print(&again);
            assert_eq!(printed, reprinted);
            same += usize::from(without_place(again.routines[0].code.last().unwrap()) == instruction);
            if same == 20 {
                break;
            }
        }
        assert!(same >= 3, "`{}` reads back {same} times:\n{}", row.name, {
            let mut routine = routine(version);
            routine.code.push(random_instruction(row, &mut random));
            let printed = text::print(&one(&routine));
            format!(
                "{:?}\n{:?}\n{:?}",
                text::read(printed.as_bytes()).map(|one| one.routines[0].code.last().cloned()),
                routine.code.last(),
                printed.lines().last()
            )
        });
    }
}

#[test]
fn versions_that_do_not_exist_are_refused() {
    let mut bytes = corpus(&["isa"])[0].1.clone();
    for (major, minor) in [(4, 2), (5, 0), (2, 9), (3, 9), (0, 0)] {
        (bytes[4], bytes[5]) = (major, minor);
        let error = binary::read(&bytes).unwrap_err().to_string();
        assert!(error.contains(&format!("version {major}.{minor}, expected 3.0 to 3.8")), "{error}");
    }
}

/// The writer of autumn 2022 lost the last operands of instructions.
#[test]
fn corrupt_files_are_refused_with_the_reason() {
    let (path, bytes) = corpus(&["isa"]).into_iter().find(|(path, _)| path.ends_with("typed_atomic.skl.isa")).unwrap();
    let module = read(&path, &bytes);
    let code = module.routines[0].binary.as_ref().unwrap().code_at as usize;
    let second = module.routines[0].code[3].at as usize;
    assert!(second > code);
    // The instruction before it without its last bytes, others in their place.
    let mut bytes = bytes;
    bytes.copy_within(second..second + 40, second - 9);
    let error = binary::read(&bytes).unwrap_err().to_string();
    assert!(error.contains("1.0.12198 to 1.0.13063"), "{error}");
}

#[test]
fn damaged_files_are_errors() {
    let mut random = Random(99);
    for (_, bytes) in corpus(&["isa"]) {
        for length in (0..bytes.len()).step_by(bytes.len().div_ceil(300)) {
            let _ = binary::read(&bytes[..length]);
        }
        let mut refused = 0;
        for _ in 0..2_000 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(damaged.len() as u64) as usize;
                damaged[at] = random.below(256) as u8;
            }
            match binary::read(&damaged) {
                // It prints, whatever it is.
                Ok(module) => drop(text::print(&module)),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 100, "{refused}");
    }
}
