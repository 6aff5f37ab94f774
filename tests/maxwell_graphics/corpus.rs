//! A program of the corpus in another form; `tests/graphics` holds all of them against NumPy's
//! results.

use warploom_replay::Launch;

use crate::support::{fixture, run};

/// A manifest may name a program's code and its header in separate files.
#[test]
fn the_header_may_be_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(fixture("transform.toml")).expect("the manifest");
    for entry in std::fs::read_dir(fixture("")).expect("the folder") {
        let path = entry.expect("entry").path();
        std::fs::copy(&path, folder.path().join(path.file_name().expect("a name")))
            .expect("a copy");
    }
    let binary = std::fs::read(fixture("transform.bin")).expect("the program");
    let (header, code) = binary.split_at(80);
    std::fs::write(folder.path().join("header.bin"), header).expect("the header");
    // Any bytes may follow the branch to itself.
    std::fs::write(folder.path().join("code.bin"), [code, &[0xff; 77]].concat()).expect("the code");
    let apart = text
        .replace("\"transform.bin\"", "\"code.bin\"\nheader = \"header.bin\"")
        .replace("maxwell-sph", "maxwell-raw");
    let path = folder.path().join("apart.toml");
    std::fs::write(&path, apart).expect("the manifest");
    let whole = Launch::read(&fixture("transform.toml")).expect("the launch");
    assert_eq!(
        run(&Launch::read(&path).expect("the launch")).expect("a run"),
        run(&whole).expect("a run")
    );
}
