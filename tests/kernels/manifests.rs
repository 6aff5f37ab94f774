//! The manifests of all examples, random programs and cases (programs that were wrong once) give
//! their expected files on the JIT with one and two threads, and on the interpreter with one or two.

use std::path::{Path, PathBuf};

use warploom::EngineKind;
use warploom_replay::{Launch, Session, compare};

fn manifests() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = |folder: &str| -> Vec<PathBuf> {
        let folder = root.join(folder);
        let listed =
            std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        listed.map(|entry| entry.expect("a readable folder").path()).collect()
    };
    let folders = [
        "examples",
        "examples/gfx9",
        "examples/ptx",
        "examples/turing",
        "examples/visa",
        "tests/fixtures/random_sources",
        "tests/fixtures/cases",
    ];
    let compilers = entries("tests/fixtures/ptx").into_iter().filter(|path| path.is_dir());
    let compilers = compilers.map(|path| path.to_string_lossy().into_owned());
    let folders =
        folders.into_iter().map(str::to_owned).chain(compilers).flat_map(|folder| entries(&folder));
    let folders = folders.filter(|path| path.is_dir());
    let mut found: Vec<PathBuf> =
        folders.flat_map(|folder| entries(&folder.to_string_lossy())).collect();
    found.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    found.sort();
    found
}

/// Tests every other manifest from `first` on, so that two tests run side by side.
fn give_the_expected_files(first: usize) {
    let manifests = manifests();
    assert!(manifests.len() >= 382, "{manifests:?}");
    for (number, path) in manifests.into_iter().skip(first).step_by(2).enumerate() {
        let launch = Launch::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let session = Session::new(&launch).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(launch.expects_something(), "{}: nothing is expected", path.display());
        for (engine, threads) in
            [(EngineKind::Jit, 1), (EngineKind::Jit, 2), (EngineKind::Interp, 1 + number % 2)]
        {
            let label = format!("{} ({engine}, {threads} threads)", path.display());
            session.reset().unwrap_or_else(|e| panic!("{label}: {e}"));
            let options = session.options(engine, threads);
            let outcome = session.launch(&options, None).unwrap_or_else(|e| panic!("{label}: {e}"));
            if let Some(fault) = outcome.fault {
                panic!("{label}: {fault}");
            }
            if let Some(expect) = &launch.printf.expect {
                assert!(
                    outcome.printed.text == *expect,
                    "{label}: {}",
                    String::from_utf8_lossy(&outcome.printed.text)
                );
            }
            for (i, buffer) in launch.buffers.iter().enumerate() {
                let Some(expect) = &buffer.expect else { continue };
                let got = session.buffer(i).unwrap_or_else(|e| panic!("{label}: {e}"));
                let comparison = compare(&got, &expect.array, expect.tolerance);
                assert_eq!(
                    comparison.mismatches, 0,
                    "{label}: buffer `{}`: {comparison}",
                    buffer.name
                );
            }
            for (i, symbol) in launch.symbols.iter().enumerate() {
                let Some(expect) = &symbol.expect else { continue };
                let got = session.variable(i).unwrap_or_else(|e| panic!("{label}: {e}"));
                let comparison =
                    compare(&got[..expect.array.bytes.len()], &expect.array, expect.tolerance);
                assert_eq!(
                    comparison.mismatches, 0,
                    "{label}: variable `{}`: {comparison}",
                    symbol.name
                );
            }
            for (i, surface) in launch.surfaces.iter().enumerate() {
                let Some(expect) = &surface.expect else { continue };
                let texels = session.surface(i).unwrap_or_else(|e| panic!("{label}: {e}"));
                let comparison = compare(&texels, &expect.array, expect.tolerance);
                assert_eq!(
                    comparison.mismatches, 0,
                    "{label}: surface `{}`: {comparison}",
                    surface.name
                );
            }
        }
    }
}

#[test]
fn one_half_gives_the_expected_files() {
    give_the_expected_files(0);
}

#[test]
fn the_other_half_gives_the_expected_files() {
    give_the_expected_files(1);
}
