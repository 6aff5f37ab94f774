//! Kernels that Intel's compiler made for all platforms, against results of numpy:
//! `tests/fixtures/visa`.

use std::path::Path;

use warploom::EngineKind;
use warploom_replay::compare::compare;
use warploom_replay::{Launch, Session};

use super::ENGINES;

/// Kernels that read images through samplers.
const SAMPLE: [&str; 3] = ["edge", "image", "lookup"];

/// The beginning of the text that `hello` prints.
const PRINTED: &[u8] = b"item 0 has ";

#[test]
fn compiled_kernels_give_their_results() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/visa");
    // Zebins, and old binary files with a `.ze_info` beside them.
    let files = ["kernels", "skl-4.0"]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(fixtures.join(folder)).unwrap());
    let mut count = 0;
    for entry in files {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        count += 1;
        let launch =
            Launch::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for engine in ENGINES {
            for threads in [1, 2] {
                let name = format!("{}, {engine}, {threads} threads", path.display());
                let session =
                    Session::new(&launch).unwrap_or_else(|error| panic!("{name}: {error}"));
                let outcome = session.launch(&session.options(engine, threads), None).unwrap();
                assert!(outcome.fault.is_none(), "{name}: {}", outcome.fault.unwrap());
                assert!(outcome.uncompiled.is_empty(), "{name}: {:?}", outcome.uncompiled);
                // All instructions that compilers emit for OpenCL are compiled, except sampling,
                // which has one definition for both engines.
                let samples = SAMPLE.iter().any(|kernel| {
                    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(kernel))
                });
                if engine == EngineKind::Jit && !samples {
                    assert_eq!(outcome.counts.interp_instructions, 0, "{name}");
                }
                for (i, buffer) in launch.buffers.iter().enumerate() {
                    let Some(expect) = &buffer.expect else { continue };
                    let comparison =
                        compare(&session.buffer(i).unwrap(), &expect.array, expect.tolerance);
                    assert_eq!(comparison.mismatches, 0, "{name}, {}: {comparison:?}", buffer.name);
                }
                for (i, surface) in launch.surfaces.iter().enumerate() {
                    let Some(expect) = &surface.expect else { continue };
                    let comparison =
                        compare(&session.surface(i).unwrap(), &expect.array, expect.tolerance);
                    assert_eq!(
                        comparison.mismatches, 0,
                        "{name}, {}: {comparison:?}",
                        surface.name
                    );
                }
                if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("hello"))
                {
                    assert!(
                        outcome.printed.text.starts_with(PRINTED),
                        "{name}: {:?}",
                        outcome.printed
                    );
                }
            }
        }
    }
    assert!(count >= 40, "{count} manifests");
}
