//! Manifests: what can be read can be written, and reads the same.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use warploom::capture::Manifest;

fuzz_target!(|text: &str| {
    let Ok(manifest) = Manifest::parse(text, Path::new("m.toml")) else { return };
    let written = manifest.to_text().expect("a manifest can be written");
    let again = Manifest::parse(&written, Path::new("m.toml")).expect("what was written can be read");
    // Numbers that are NaN are not equal to themselves.
    assert!(again == manifest || written.contains("nan"));
});
