//! The programs of the corpus with the results that NumPy computed.

use warploom::capture::Launch;
use warploom::exec::{EngineKind, Session};

use crate::support::{fixture, run};

#[test]
fn programs_give_what_is_expected() {
    for name in ["perspective", "transform"] {
        let launch = Launch::read(&fixture(&format!("{name}.toml"))).unwrap_or_else(|error| panic!("{name}: {error}"));
        let shader = launch.shader.as_ref().expect("a shader");
        for engine in [EngineKind::Interp, EngineKind::Jit] {
            let session = Session::new(&launch).unwrap_or_else(|error| panic!("{name}: {error}"));
            let outcome = session.launch(&session.options(engine, 1), None).expect("a launch");
            assert!(outcome.fault.is_none(), "{name}: {:?}", outcome.fault);
            let comparisons = shader.compare(&session.exported().expect("exports").expect("exports"));
            assert!(comparisons.len() >= 3, "{name}");
            for (target, comparison) in comparisons {
                assert_eq!(comparison.mismatches, 0, "{name}, {engine}, {target}: {comparison:?}");
            }
        }
        run(&launch).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// The code of a program without its header, with the header in a file of its own.
#[test]
fn the_header_may_be_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(fixture("transform.toml")).expect("the manifest");
    for entry in std::fs::read_dir(fixture("")).expect("the folder") {
        let path = entry.expect("entry").path();
        std::fs::copy(&path, folder.path().join(path.file_name().expect("a name"))).expect("a copy");
    }
    let binary = std::fs::read(fixture("transform.bin")).expect("the program");
    let (header, code) = binary.split_at(80);
    std::fs::write(folder.path().join("header.bin"), header).expect("the header");
    // Behind the branch to itself there may be anything.
    std::fs::write(folder.path().join("code.bin"), [code, &[0xff; 77]].concat()).expect("the code");
    let apart = text
        .replace("\"transform.bin\"", "\"code.bin\"\nheader = \"header.bin\"")
        .replace("maxwell-sph", "maxwell-raw");
    let path = folder.path().join("apart.toml");
    std::fs::write(&path, apart).expect("the manifest");
    let whole = Launch::read(&fixture("transform.toml")).expect("the launch");
    assert_eq!(run(&Launch::read(&path).expect("the launch")).expect("a run"), run(&whole).expect("a run"));
}
