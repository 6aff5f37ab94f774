//! A short run of every target on stable Rust: the project's own files, the same with a few changes, and pseudo-random
//! bytes. It shows that the targets work; finding more is the fuzzer's.

use std::fs;
use std::path::{Path, PathBuf};

use warploom::ir::generate::{Random, Source};

/// Inputs larger than this take too long here.
const MAX_BYTES: u64 = 1 << 20;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Contents of all files below a folder of the project whose name ends so.
fn files(folder: &str, end: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut folders = vec![project().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let entry = entry.expect("an entry");
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(end) && entry.metadata().expect("its size").len() <= MAX_BYTES {
                found.push(fs::read(&path).expect("a file"));
            }
        }
    }
    assert!(!found.is_empty(), "no {end} in {folder}");
    // Folders are read in any order.
    found.sort();
    found
}

fn random(random: &mut Random, bytes: u32) -> Vec<u8> {
    (0..bytes).map(|_| random.below(256) as u8).collect()
}

/// The input with a few bytes changed, or cut short.
fn change(source: &mut Random, input: &[u8]) -> Vec<u8> {
    let mut changed = input.to_vec();
    let length = changed.len() as u32;
    for _ in 0..=source.below(4) {
        match source.below(4) {
            0 => changed.truncate(source.below(length + 1) as usize),
            1 => changed.insert(source.below(changed.len() as u32 + 1) as usize, source.below(128) as u8),
            _ if !changed.is_empty() => {
                let at = source.below(changed.len() as u32) as usize;
                changed[at] ^= 1 << source.below(8);
            }
            _ => {}
        }
    }
    changed
}

/// Runs a target on every input as it is, and on so many changed and random ones.
fn run(target: fn(&[u8]), inputs: &[Vec<u8>], count: u32, bytes: u32) {
    for input in inputs {
        target(input);
    }
    let mut source = Random::new(1);
    for _ in 0..count {
        if !inputs.is_empty() {
            let input = &inputs[source.below(inputs.len() as u32) as usize];
            target(&change(&mut source, input));
        }
        let length = source.below(bytes);
        target(&random(&mut source, length));
    }
}

#[test]
fn array() {
    run(super::array, &files("examples", ".npy"), 200, 200);
}

#[test]
fn container() {
    let amd = [files("tests", ".hsaco"), files("tests", ".bundle")].concat();
    run(super::container, &[files("examples", ".cubin"), files("tests", "bin"), amd].concat(), 200, 200);
}

#[test]
fn manifest() {
    run(super::manifest, &files("examples", ".toml"), 400, 200);
}

#[test]
fn ir_text() {
    // A file holds several functions, each with its cases behind it.
    let mut functions = Vec::new();
    for file in files("tests/ir", ".ir") {
        let text = String::from_utf8(file).expect("text");
        let from = |at: usize| text[at..].find("\n}").map(|end| text.as_bytes()[at..at + end + 3].to_vec());
        functions.extend(text.match_indices("function ").filter_map(|(at, _)| from(at)));
    }
    run(super::ir_text, &functions, 100, 200);
}

#[test]
fn maxwell_decode() {
    run(super::maxwell_decode, &files("examples", ".cubin"), 100, 256);
}

#[test]
fn gfx9_decode() {
    run(super::gfx9_decode, &files("examples", ".hsaco"), 2000, 256);
}

#[test]
fn maxwell_code() {
    run(super::maxwell_code, &[], 50, 1000);
}

#[test]
fn engines() {
    run(super::engines, &[], 50, 2000);
}
