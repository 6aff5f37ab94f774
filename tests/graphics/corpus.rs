//! Pipelines as RADV compiles them for Vega 10, and programs for Maxwell.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use warploom_replay::{Array, Launch, compare, npy};

use super::run;

fn manifests(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let list =
        |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = list(root).filter(|path| path.is_dir()).flat_map(list);
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

/// Checks all expectations of a manifest.
fn meets_expectations(path: &Path) {
    let label = path.display().to_string();
    let launch = Launch::read(path).unwrap_or_else(|error| panic!("{error}"));
    let shader = launch.shader.as_ref().expect("a shader");
    let (session, exported) = run(&launch, &label);
    let mut all = shader.compare(&exported);
    for (i, buffer) in launch.buffers.iter().enumerate() {
        let Some(expect) = &buffer.expect else { continue };
        all.push((
            &buffer.name,
            compare(&session.buffer(i).unwrap(), &expect.array, expect.tolerance),
        ));
    }
    for (i, surface) in launch.surfaces.iter().enumerate() {
        let Some(expect) = &surface.expect else { continue };
        all.push((
            &surface.name,
            compare(&session.surface(i).unwrap(), &expect.array, expect.tolerance),
        ));
    }
    assert!(!all.is_empty(), "{label}");
    for (name, comparison) in all {
        assert_eq!(comparison.mismatches, 0, "{label}: {name}: {comparison}");
        assert!(comparison.elements > 0, "{label}: {name}: nothing is compared");
    }
}

#[test]
fn pipelines_give_what_is_expected() {
    let manifests = manifests("tests/fixtures/graphics");
    assert_eq!(manifests.len(), 20);
    manifests.iter().for_each(|path| meets_expectations(path));
}

#[test]
fn the_examples_give_what_is_expected() {
    let manifests = manifests("examples/shaders");
    assert!(manifests.len() >= 2, "{manifests:?}");
    for path in manifests.iter().filter(|path| !path.ends_with("fragment.toml")) {
        meets_expectations(path);
    }
}

/// Fixed function can draw a geometry program's messages: they give triangles, and places in the
/// ring for the program that reads it.
#[test]
fn what_geometry_programs_emit_can_be_drawn() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/graphics/stages");
    for name in ["geometry", "both"] {
        let launch = Launch::read(&folder.join(format!("{name}.esgs.toml"))).unwrap();
        let (_, exported) = run(&launch, name);
        let shader = launch.shader.as_ref().unwrap();
        let arrays: BTreeMap<&str, Array> = shader.arrays(&exported).collect();
        let ring =
            npy::read(&std::fs::read(folder.join(format!("{name}.ring_vertex.npy"))).unwrap())
                .unwrap();
        assert_eq!(arrays["ring_vertex"], ring, "{name}");
        // Each thread emits two triangles, whose corners are in order.
        let (indices, threads) = (&arrays["indices"], shader.row_count() as u32);
        let expected: Vec<u8> = (0..6 * threads).flat_map(u32::to_le_bytes).collect();
        assert_eq!(
            (&indices.shape[..], &indices.bytes),
            (&[2 * u64::from(threads), 3][..], &expected),
            "{name}"
        );
    }
}

/// A launch may have any number of vertices: the results of `transform` are a prefix of the full
/// results.
#[test]
fn vertices_may_be_any_number() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/graphics/transform/transform.toml");
    let whole = Launch::read(&path).unwrap();
    let (_, all) = run(&whole, "all");
    let text = std::fs::read_to_string(&path).unwrap();
    for count in [1, 2, 63, 64, 65] {
        // The manifest without its expectations for 70 vertices.
        let (head, _) = text.split_once("[export]").unwrap();
        let text = head.replace("count = 70", &format!("count = {count}"))
            + "[export.pos0]\n[export.param0]\n[export.param1]\n";
        let manifest = warploom_replay::Manifest::parse(&text, &path).unwrap();
        let launch = Launch::resolve(manifest, &path).unwrap();
        let (_, some) = run(&launch, "some");
        assert_eq!(some.kept.len(), count);
        for name in ["pos0", "param0", "param1"] {
            let of = |launch: &Launch| {
                launch
                    .shader
                    .as_ref()
                    .unwrap()
                    .exports
                    .iter()
                    .position(|target| target.name == name)
                    .unwrap()
            };
            assert_eq!(
                some.targets[of(&launch)],
                all.targets[of(&whole)][..count],
                "{name} of {count}"
            );
        }
    }
}
