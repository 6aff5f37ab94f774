//! vISA's binary form: files of the corpus, every opcode, damaged files.

mod support {
    pub mod visa;
    pub mod visa_random;
}

use std::path::{Path, PathBuf};

use support::visa::{corpus, without_trailing_blanks};
use support::visa_random::{Random, random_instruction, routine};
use warploom_visa::module::{BinaryParts, Instruction, LabelId, Module, Operand, Routine};
use warploom_visa::types::Version;
use warploom_visa::{binary, table, text};

fn all_files() -> Vec<(PathBuf, Vec<u8>)> {
    corpus(&["isa"])
}

/// Returns the files of the corpus, except the corrupt one.
fn good_files() -> Vec<(PathBuf, Vec<u8>)> {
    all_files().into_iter().filter(|(path, _)| !path.ends_with("typed_atomic.skl.isa")).collect()
}

fn read(path: &Path, bytes: &[u8]) -> Module {
    binary::read(bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the text of a file's routine, from the text file next to it.
fn text_of(path: &Path, number: usize) -> Option<Vec<u8>> {
    let stem = path.file_stem()?.to_str()?;
    let name = if number == 0 {
        format!("{stem}.visaasm")
    } else {
        format!("{stem}_f{}.visaasm", number - 1)
    };
    std::fs::read(path.with_file_name(name)).ok()
}

fn one(routine: &Routine) -> Module {
    Module { routines: vec![routine.clone()], ..Module::default() }
}

#[test]
fn files_print_the_compilers_text() {
    let (mut lines, mut compared) = (0, 0);
    for (path, bytes) in good_files() {
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
    assert!(compared >= 9 && lines > 1_500, "{compared} texts, {lines} lines");
}

/// Numbers the labels as another routine numbers labels of equal names.
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
        .map(|n| {
            names
                .iter()
                .position(|name| *name == printed(&routine, n))
                .expect("a label of the other")
        })
        .collect();
    for operand in routine.code.iter_mut().flat_map(|one| &mut one.operands) {
        match operand {
            Operand::Label(id) => id.0 = places[usize::from(id.0)] as u16,
            Operand::Labels(all) => {
                all.iter_mut().for_each(|id| id.0 = places[usize::from(id.0)] as u16)
            }
            _ => {}
        }
    }
    routine
}

#[test]
fn binary_to_text_to_binary_is_the_identity() {
    let (mut instructions, mut exceptions) = (0, 0);
    for (path, bytes) in good_files() {
        let module = read(&path, &bytes);
        for routine in &module.routines {
            let parts = routine.binary.as_ref().unwrap();
            let printed = text::print(&one(routine));
            let again = text::read(printed.as_bytes())
                .unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
            let mut again = with_labels_of(again.routines[0].clone(), routine);
            // The code names functions by the numbers of strings, which the text does not have.
            again.binary =
                Some(BinaryParts { strings: parts.strings.clone(), ..BinaryParts::default() });
            let code = binary::write_code(&again).unwrap();
            let mut theirs = bytes[parts.code_at as usize..][..code.len()].to_vec();
            // Fences with other bits beside `fence_sw` are exceptions: the text does not say these
            // bits.
            for fence in routine.code.iter().filter(|one| one.row.name == "fence") {
                let bits = &mut theirs[(fence.at - parts.code_at) as usize + 1];
                if *bits > 0x80 {
                    *bits = 0x80;
                    exceptions += 1;
                }
            }
            // A string may occur twice; either of its two numbers is right.
            for call in routine.code.iter().filter(|one| one.row.name == "fcall") {
                let at = (call.at - parts.code_at) as usize + 4;
                let name = |code: &[u8]| {
                    &parts.strings[usize::from(u16::from_le_bytes([code[at], code[at + 1]]))]
                };
                assert_eq!(name(&theirs), name(&code));
                theirs[at..at + 2].copy_from_slice(&code[at..at + 2]);
            }
            let different = code.iter().zip(&theirs).position(|(a, b)| a != b);
            assert!(
                code == theirs,
                "{}: byte {different:?} of the code of `{}`",
                path.display(),
                routine.name
            );
            assert_eq!(routine.code.len(), again.code.len());
            instructions += routine.code.len();
        }
    }
    assert!(instructions > 800, "{instructions} instructions");
    assert!(exceptions * 100 <= instructions, "{exceptions} exceptions of {instructions}");
}

/// Variables of equal names get different names, because a text tells variables apart only by name.
#[test]
fn variables_of_equal_names_get_different_ones() {
    let mut routine = routine(Version::new(3, 6));
    let count = routine.variables.len();
    routine.variables[1].name = routine.variables[0].name.clone();
    let module = binary::read(&binary::write(&one(&routine)).unwrap()).unwrap();
    let [first, second, ..] = &module.routines[0].variables[..] else {
        panic!("there are {count}")
    };
    assert_eq!(second.name, format!("{}$1", first.name));
    let printed = text::print(&module);
    let again =
        text::read(printed.as_bytes()).unwrap_or_else(|errors| panic!("{errors}\n{printed}"));
    assert_eq!((again.routines[0].variables.len(), text::print(&again)), (count, printed));
}

/// Returns a module's content, without places in the file and without the platform.
fn meaning(module: &Module) -> String {
    let mut module = module.clone();
    for routine in &mut module.routines {
        routine.code.iter_mut().for_each(|one| one.at = 0);
        if let Some(parts) = &mut routine.binary {
            parts.code_at = 0;
        }
    }
    module.platform = None;
    format!("{module:?}")
}

#[test]
fn written_files_are_those_that_were_read() {
    let mut same = 0;
    for (path, bytes) in good_files() {
        let module = read(&path, &bytes);
        let written = binary::write(&module).unwrap();
        let again = read(&path, &written);
        assert!(meaning(&module) == meaning(&again), "{}", path.display());
        // The routines are the same bytes; machine code behind them is not written.
        for (theirs, ours) in module.routines.iter().zip(&again.routines) {
            // If a string occurs twice, either of its numbers is right.
            let strings = &theirs.binary.as_ref().unwrap().strings;
            if (1..strings.len()).all(|n| !strings[n..].contains(&strings[n - 1])) {
                let (theirs, ours) = (of_routine(&bytes, theirs), of_routine(&written, ours));
                let different = theirs.iter().zip(ours).position(|(a, b)| a != b);
                assert!(
                    theirs == ours,
                    "{}: byte {different:?} of {}",
                    path.display(),
                    theirs.len()
                );
                same += 1;
            }
        }
    }
    assert!(same >= 8, "{same} routines");
}

/// The bytes of a routine from its strings to its code.
fn of_routine<'a>(bytes: &'a [u8], routine: &Routine) -> &'a [u8] {
    let parts = routine.binary.as_ref().unwrap();
    let strings: Vec<u8> = parts.strings.iter().flat_map(|one| one.bytes().chain([0])).collect();
    let at = bytes.windows(strings.len()).position(|window| window == strings).unwrap();
    &bytes[at..parts.code_at as usize]
}

/// A compiler assembled the file from the text, but lost the last two operands of each message.
#[test]
fn messages_are_encoded_as_by_the_compiler() {
    let find = |end: &str| {
        corpus(&["isa", "visaasm"]).into_iter().find(|(path, _)| path.ends_with(end)).unwrap().1
    };
    let (file, source) = (find("typed_atomic.skl.isa"), find("typed_atomic.visaasm"));
    let ours = &text::read(&source).unwrap().routines[0];
    let mut messages = 0;
    for one in ours
        .code
        .iter()
        .filter(|one| matches!(one.row.name, "typed_atomic" | "gather4_typed" | "scatter4_typed"))
    {
        let code =
            binary::write_code(&Routine { code: vec![one.clone()], ..ours.clone() }).unwrap();
        let kept = &code[..code.len() - 12];
        assert!(
            file.windows(kept.len()).any(|window| window == kept),
            "{}",
            text::instruction_text(ours, one)
        );
        messages += 1;
    }
    assert_eq!(messages, 5);
    // A directive acts as the subroutine's label; another label behind it has its own number.
    assert!(file.windows(6).any(|window| {
        window
            == binary::write_code(&Routine { code: ours.code[..2].to_vec(), ..ours.clone() })
                .unwrap()
    }));
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
    for row in
        table::rows().iter().filter(|row| row.code < 0x93 && (row.code, row.sub) != (0x60, Some(2)))
    {
        let mut written = 0;
        for turn in 0..VERSIONS.len() * 40 {
            let version = VERSIONS[turn % VERSIONS.len()];
            let mut routine = routine(version);
            let instruction = random_instruction(row, &mut random);
            routine.code.push(instruction.clone());
            let Ok(bytes) = binary::write(&one(&routine)) else { continue };
            written += 1;
            let again = binary::read(&bytes)
                .unwrap_or_else(|error| panic!("{} {version}: {error}\n{instruction:?}", row.name));
            let back = again.routines[0].code.last().unwrap();
            if version >= Version::new(3, 6) {
                assert_eq!(without_place(back), instruction, "{} {version}", row.name);
            }
            // Old versions do not write parts that they cannot express: only the bytes agree.
            assert_eq!(binary::write(&again).unwrap(), bytes, "{} {version}", row.name);
        }
        assert!(written >= 100, "`{}` has {written} encodings", row.name);
    }
}

#[test]
fn every_opcode_has_a_text_that_is_read_back() {
    let mut random = Random(0xfeed_5678_9abc_def1);
    // The routine already has labels. Newer numbers of two sampler messages have older numbers'
    // names.
    let is_tested = |row: &&table::Row| {
        let is_label = matches!(row.name, "subroutine" | "label");
        let has_older_name = matches!((row.code, row.sub), (0x6f, Some(40 | 48)));
        !is_label && !has_older_name
    };
    for row in table::rows().iter().filter(is_tested) {
        let version = if row.code < 0x93 { Version::new(4, 0) } else { Version::new(4, 2) };
        let mut same = 0;
        for _ in 0..2_000 {
            let mut routine = routine(version);
            let instruction = random_instruction(row, &mut random);
            routine.code.push(instruction.clone());
            let printed = text::print(&one(&routine));
            // The reader of texts refuses numbers that have no name.
            let Ok(again) = text::read(printed.as_bytes()) else { continue };
            let reprinted = text::print(&again);
            assert_eq!(printed, reprinted);
            same +=
                usize::from(without_place(again.routines[0].code.last().unwrap()) == instruction);
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
    let mut bytes = all_files()[0].1.clone();
    for (major, minor) in [(4, 2), (5, 0), (2, 9), (3, 9), (0, 0)] {
        (bytes[4], bytes[5]) = (major, minor);
        let error = binary::read(&bytes).unwrap_err().to_string();
        assert!(
            error.contains(&format!("version {major}.{minor}, expected 3.0 to 3.8")),
            "{error}"
        );
    }
}

/// The writer of autumn 2022 lost the last operands of instructions, so its files are refused.
#[test]
fn corrupt_files_are_refused_with_the_reason() {
    let (_, bytes) =
        all_files().into_iter().find(|(path, _)| path.ends_with("typed_atomic.skl.isa")).unwrap();
    let error = binary::read(&bytes).unwrap_err().to_string();
    assert!(error.contains("at offset 0x2") && error.contains("1.0.12198 to 1.0.13063"), "{error}");
}

#[test]
fn damaged_files_are_errors() {
    let mut random = Random(99);
    for (_, bytes) in good_files() {
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
                // The module must print, whatever it contains.
                Ok(module) => drop(text::print(&module)),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 100, "{refused}");
    }
}
