//! Listings of whole files, line for line and column for column.

use std::path::{Path, PathBuf};

use warploom::container::{self, SectionKind};
use warploom::isa::maxwell::listing::{Section, Symbol, listing};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Our listing of every code section: its name and its lines.
fn ours(cubin: &Path, hex: bool) -> Vec<(String, Vec<String>)> {
    let module = container::modules(&std::fs::read(cubin).unwrap()).unwrap().remove(0);
    let code: Vec<_> = (0..module.sections.len()).filter(|&i| module.sections[i].kind == SectionKind::Code).collect();
    let indirect: Vec<Vec<(u64, Vec<u64>)>> = code
        .iter()
        .map(|&i| {
            let functions = module.functions.iter().filter(|f| f.section.0 == i);
            let branches = functions.flat_map(|f| &f.indirect_branches);
            branches.map(|b| (u64::from(b.at), b.targets.iter().map(|&t| u64::from(t)).collect())).collect()
        })
        .collect();
    let sections: Vec<_> =
        code.iter().zip(&indirect).map(|(&i, indirect)| Section { code: &module.sections[i].data, indirect }).collect();
    let symbols: Vec<_> = module
        .functions
        .iter()
        .filter_map(|f| {
            let section = code.iter().position(|&i| i == f.section.0)?;
            Some(Symbol { name: &f.name, section, offset: f.offset, size: f.size })
        })
        .collect();
    let texts = listing(&sections, &symbols, hex);
    let lines = |text: &String| text.lines().map(|line| line.trim_end().to_owned()).collect();
    code.iter().map(|&i| module.sections[i].name.clone()).zip(texts.iter().map(lines)).collect()
}

/// nvdisasm's listing, without the headers of the sections.
fn theirs(path: &Path) -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut sections: Vec<(String, Vec<String>)> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix(".text.").and_then(|line| line.strip_suffix(':')) {
            sections.push((format!(".text.{name}"), Vec::new()));
            open = true;
        } else if line.is_empty() {
            open = false;
        } else if let Some((_, lines)) = sections.last_mut().filter(|_| open) {
            lines.push(line.trim_end().to_owned());
        }
    }
    sections
}

fn check(cubin: &str, fixture: &str, hex: bool) {
    let ours = ours(&project(cubin), hex);
    let theirs = theirs(&project(&format!("tests/fixtures/maxwell/listings/{fixture}")));
    assert!(!theirs.is_empty(), "{fixture} has no code");
    for (name, lines) in &theirs {
        let (_, found) = ours.iter().find(|(section, _)| section == name).unwrap_or_else(|| panic!("no {name}"));
        for (n, (found, expected)) in found.iter().zip(lines).enumerate() {
            assert_eq!(found, expected, "{fixture}, {name}, line {n}");
        }
        assert_eq!(found.len(), lines.len(), "{fixture}, {name}: number of lines");
    }
}

#[test]
fn corpus_listings_with_encodings() {
    for name in ["saxpy", "mandel", "matmul", "reduce", "local"] {
        check(&format!("tests/fixtures/maxwell/kernels/{name}.sm_50.cubin"), &format!("corpus-{name}.sass"), true);
    }
}

#[test]
fn corpus_listings_plain() {
    for name in ["calls", "atomics", "tex", "surf"] {
        check(
            &format!("tests/fixtures/maxwell/kernels/{name}.sm_50.cubin"),
            &format!("plain/corpus-{name}.txt"),
            false,
        );
    }
}

#[test]
fn example_listings() {
    for name in ["saxpy", "mandelbrot", "matmul", "nbody", "reduce", "scan", "histogram"] {
        check(&format!("examples/{name}/{name}.sm_50.cubin"), &format!("example-{name}.sass"), true);
    }
}
