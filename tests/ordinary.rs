//! The programs of `benches/ordinary`, for which nothing was tuned, in a small size. For every
//! guest and on both engines, they give the results of their source compiled for the host.

use std::path::{Path, PathBuf};

use warploom::EngineKind;
use warploom_replay::{Launch, Session, compare};

fn folders() -> Vec<PathBuf> {
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/ordinary/small");
    let listed = std::fs::read_dir(&small).unwrap_or_else(|e| panic!("{}: {e}", small.display()));
    let mut found: Vec<PathBuf> =
        listed.map(|entry| entry.expect("a readable folder").path()).collect();
    found.sort();
    assert!(found.len() >= 53, "{found:?}");
    found
}

/// Runs the programs that have a binary with this suffix, at least `at_least` of them.
fn check(suffix: &str, at_least: usize) {
    let mut count = 0;
    for folder in folders() {
        let name = folder.file_name().expect("a folder's name").to_string_lossy().into_owned();
        let mut launch = Launch::read(&folder.join(format!("{name}.maxwell.toml")))
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(launch.expects_something(), "{name}: nothing is expected");
        launch.binary_path = folder.join(format!("../../programs/{name}.{suffix}"));
        if !launch.binary_path.exists() {
            continue;
        }
        count += 1;
        launch.binary =
            std::fs::read(&launch.binary_path).unwrap_or_else(|e| panic!("{name}.{suffix}: {e}"));
        let session = Session::new(&launch).unwrap_or_else(|e| panic!("{name}.{suffix}: {e}"));
        for engine in [EngineKind::Jit, EngineKind::Interp] {
            let label = format!("{name}.{suffix} ({engine})");
            session.reset().unwrap_or_else(|e| panic!("{label}: {e}"));
            let outcome = session
                .launch(&session.options(engine, 1), None)
                .unwrap_or_else(|e| panic!("{label}: {e}"));
            if let Some(fault) = outcome.fault {
                panic!("{label}: {fault}");
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
        }
    }
    assert!(count >= at_least, "{count} programs");
}

#[test]
fn maxwell() {
    check("sm_50.cubin", 53);
}

#[test]
fn turing() {
    check("sm_80.cubin", 53);
}

#[test]
fn ptx() {
    check("sm_70.ptx", 53);
}

#[test]
fn gfx9() {
    check("gfx900.hsaco", 53);
}

#[test]
fn visa() {
    check("skl.zebin", 52);
}
