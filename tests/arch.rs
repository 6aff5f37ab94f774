//! Files with code for several GPUs: `--arch`, `[kernel] arch`, and the choice without either.

#[path = "support/fat_file.rs"]
mod fat_file;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fat_file::{fat, host, member};
use warploom_container::{Arch, Isa};
use warploom_replay::npy;

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn warploom(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
    command.env("WARPLOOM_CACHE", "off");
    command.env_remove("WARPLOOM_ENGINE").args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a host's file with saxpy for sm_50, and a saxpy for sm_52 that does nothing.
fn library() -> Vec<u8> {
    let saxpy = std::fs::read(fixture("tests/fixtures/maxwell/kernels/saxpy.sm_50.cubin")).unwrap();
    let mut other = saxpy.clone();
    other[0x30] = 52;
    // Replaces the first instruction, MOV R1, c[0x0][0x20], with EXIT.
    let first =
        other.windows(8).position(|word| word == 0x4c98_0780_0087_0001_u64.to_le_bytes()).unwrap();
    other[first..first + 8].copy_from_slice(&0xe300_0000_0007_000f_u64.to_le_bytes());
    host(&[(
        ".nv_fatbin",
        &fat(&[member(2, 50, &saxpy, false, ""), member(2, 52, &other, true, "")]),
    )])
}

const MANIFEST: &str = r#"
[kernel]
binary = "library"
ARCH
[launch]
grid = [1, 1, 1]
block = [4, 1, 1]
[[arg]]
i32 = 4
[[arg]]
f32 = 2.0
[[arg]]
buffer = "x"
[[arg]]
buffer = "y"
[buffer.x]
values = [1, 2, 3, 4]
dtype = "f32"
[buffer.y]
values = [10, 20, 30, 40]
dtype = "f32"
"#;

#[test]
fn the_code_that_was_chosen_runs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("library"), library()).unwrap();
    let (manifest, out) = (folder.path().join("m.toml"), folder.path().join("out"));
    let (manifest, out) = (manifest.to_str().unwrap(), out.to_str().unwrap());
    let computes = |arch: &str, options: &[&str]| {
        std::fs::write(manifest, MANIFEST.replace("ARCH", arch)).unwrap();
        let _ = std::fs::remove_dir_all(out);
        let ran =
            warploom(&[&["run", manifest, "--engine", "both", "--out", out], options].concat());
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        let Ok(y) = std::fs::read(Path::new(out).join("y.npy")) else { return false };
        let y: Vec<f32> = npy::read(&y)
            .unwrap()
            .bytes
            .chunks(4)
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
            .collect();
        assert_eq!(y, [12.0, 24.0, 36.0, 48.0]);
        true
    };
    // The driver of an sm_52 prefers code for sm_52; the driver of an sm_50 has no choice.
    assert!(!computes("", &[]));
    assert!(computes("arch = \"sm_50\"", &[]));
    assert!(computes("", &["--arch", "sm_50"]));
    assert!(!computes("arch = \"sm_50\"", &["--arch", "sm_52"]));

    for (command, more) in [
        ("inspect", &[][..]),
        ("disasm", &[]),
        ("dump", &["saxpy", "--stage", "blocks"]),
        ("bench", &[]),
    ] {
        let library = folder.path().join("library");
        let file = if command == "bench" { manifest } else { library.to_str().unwrap() };
        let ran = warploom(&[&[command, file, "--arch", "sm_53"], more].concat());
        let message = text(&ran.stderr);
        assert_eq!(ran.status.code(), Some(3), "{command}: {message}");
        let expected =
            "no code for sm_53 that warploom runs: the file holds cubin for sm_50, cubin for sm_52";
        assert!(message.contains(expected), "{command}: {message}");
    }
    let library = folder.path().join("library");
    for (arch, first) in [("sm_50", "MOV R1, c[0x0][0x20]"), ("sm_52", "EXIT")] {
        let ran = warploom(&["disasm", library.to_str().unwrap(), "--arch", arch]);
        assert!(
            text(&ran.stdout).contains(&format!("/*0008*/                   {first} ;")),
            "{arch}"
        );
        let ran = warploom(&["inspect", library.to_str().unwrap(), "--arch", arch]);
        assert!(
            text(&ran.stdout).contains(&format!("module for NVIDIA {arch} (Maxwell)")),
            "{arch}"
        );
    }
}

#[test]
fn wrong_names_are_refused() {
    let binary = fixture("tests/fixtures/maxwell/kernels/saxpy.sm_50.cubin");
    let ran = warploom(&["inspect", binary.to_str().unwrap(), "--arch", "sm_33"]);
    assert_eq!(ran.status.code(), Some(3));
    assert!(
        text(&ran.stderr)
            .contains("expected a GPU of NVIDIA's, such as sm_52 or sm_80, or one of gfx900"),
        "{}",
        text(&ran.stderr)
    );
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("m.toml");
    std::fs::write(&manifest, MANIFEST.replace("ARCH", "arch = \"gfx1030\"")).unwrap();
    let ran = warploom(&["run", manifest.to_str().unwrap()]);
    assert_eq!(ran.status.code(), Some(3));
    let message = text(&ran.stderr);
    assert!(
        message.contains("line 4") && message.contains("`gfx1030`: expected a GPU"),
        "{message}"
    );
}

/// Proves that a file with a single module is checked against the requested GPU, too.
#[test]
fn single_modules() {
    let modules = |path: &str, arch: &str| {
        let arch: Arch = arch.parse().unwrap();
        let modules =
            warploom_container::modules_for(&std::fs::read(fixture(path)).unwrap(), Some(arch));
        modules.map(|modules| modules[0].isa).map_err(|e| e.to_string())
    };
    let saxpy = "tests/fixtures/maxwell/kernels/saxpy.sm_50.cubin";
    assert_eq!(modules(saxpy, "sm_52"), Ok(Isa::Maxwell { sm: 50 }));
    let message = modules(saxpy, "gfx900").unwrap_err();
    assert!(
        message.contains(
            "no code for gfx900 that warploom runs: the file holds NVIDIA sm_50 (Maxwell)"
        ),
        "{message}"
    );
    let with_xnack = "tests/fixtures/gfx9/containers/variants.xnack.hsaco";
    for (arch, runs) in
        [("gfx900", true), ("gfx900:xnack+", true), ("gfx900:xnack-", false), ("gfx906", false)]
    {
        assert_eq!(modules(with_xnack, arch).is_ok(), runs, "{arch}");
    }
}

/// Proves that a bundle gives a member for each requested GPU or, without one, the message of a
/// driver.
#[test]
fn members_of_bundles() {
    for name in ["variables.bundle", "host.o"] {
        let bytes = std::fs::read(fixture("tests/fixtures/gfx9/containers").join(name)).unwrap();
        let of = |arch: &str| {
            let modules = warploom_container::modules_for(&bytes, Some(arch.parse().unwrap()));
            modules.map(|modules| modules[0].isa.to_string()).map_err(|e| e.to_string())
        };
        for arch in ["gfx900", "gfx906", "gfx906:sramecc+:xnack-"] {
            let chip = arch.split(':').next().unwrap();
            assert_eq!(of(arch).unwrap(), format!("AMD {chip} (GFX9)"));
        }
        let message = of("gfx902").unwrap_err();
        assert!(
            message.contains("no code for gfx902 that warploom runs")
                && message.contains("gfx1030"),
            "{message}"
        );
        let mut labels = Vec::new();
        warploom_container::each_module(&bytes, &mut |label, module| {
            labels.push((label.to_string(), module.unwrap().isa.to_string()))
        })
        .unwrap();
        let [(a, gfx900), (b, gfx906)] = &labels[..] else { panic!("{labels:?}") };
        assert!(a.ends_with("gfx900") && b.ends_with("gfx906"), "{labels:?}");
        assert_eq!([gfx900.as_str(), gfx906], ["AMD gfx900 (GFX9)", "AMD gfx906 (GFX9)"]);
    }
}
