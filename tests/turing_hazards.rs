//! `--check hazards`: compilers' code has none; code with less protection has.

use std::path::Path;

use warploom::Program;
use warploom_container::{Module, SectionKind};
use warploom_runtime::memory::MemoryConfig;

fn module(name: &str) -> Module {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/turing").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    warploom_container::cubin::parse(&bytes).unwrap()
}

/// Returns the hazards of all kernels of a module.
fn hazards(module: Module) -> Vec<String> {
    let program = Program::new(module, MemoryConfig::default()).unwrap();
    let names: Vec<String> = program.module().kernel_names().map(str::to_owned).collect();
    names.iter().flat_map(|name| program.kernel(name).unwrap().check_waits().unwrap()).collect()
}

/// Changes the scheduling of each instruction: 21 bits from bit 105 on.
fn with_scheduling(mut module: Module, change: impl Fn(u32) -> u32) -> Module {
    let code = module.sections.iter_mut().filter(|section| section.kind == SectionKind::Code);
    for section in code {
        for word in section.data.as_chunks_mut::<16>().0 {
            let bits = u128::from_le_bytes(*word);
            let mask = 0x1f_ffff_u128 << 105;
            let changed = u128::from(change((bits >> 105) as u32 & 0x1f_ffff)) << 105;
            *word = (bits & !mask | changed).to_le_bytes();
        }
    }
    module
}

fn examples() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/turing");
    let mut names = vec![];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        for file in std::fs::read_dir(&path).into_iter().flatten() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "cubin") {
                let folder = path.file_name().unwrap().to_string_lossy().into_owned();
                names.push(format!("{folder}/{}", file.file_name().unwrap().to_string_lossy()));
            }
        }
    }
    names.sort();
    assert!(names.len() >= 10, "{names:?}");
    names
}

#[test]
fn compiled_code_has_no_hazards() {
    for name in examples() {
        assert_eq!(hazards(module(&name)), [""; 0], "{name}");
    }
}

#[test]
fn less_protection_is_found() {
    for name in examples() {
        let waits = with_scheduling(module(&name), |bits| bits & !(0x3f << 11));
        let found = hazards(waits);
        assert!(found.iter().any(|line| line.contains("is waited for")), "{name}: {found:?}");
        let stalls = with_scheduling(module(&name), |bits| bits & !0xf | 1);
        let found = hazards(stalls);
        assert!(found.iter().any(|line| line.contains("has written it")), "{name}: {found:?}");
    }
}

#[test]
fn a_hazard_names_both_instructions() {
    let name = &examples()[0];
    let found = hazards(with_scheduling(module(name), |bits| bits & !(0x3f << 11)));
    let line = found.first().expect("a hazard");
    assert!(line.starts_with("at pc 0x") && line.contains("before scoreboard"), "{line}");
}
