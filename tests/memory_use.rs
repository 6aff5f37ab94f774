//! A process that runs a launch takes less than 100 MiB besides the guest's buffers.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};

/// A launch of a long kernel: its translation needs more memory than its small buffers.
const UNROLL: &str = r#"
kernel = { binary = "unroll10k.sm_50.cubin" }
launch = { grid = [1, 1, 1], block = [32, 1, 1] }
arg = [{ buffer = "in" }, { buffer = "out" }, { i32 = 31 }]
buffer = { in = { zeros = 4096 }, out = { zeros = 8192 } }
"#;

/// Returns the peak in KiB of the children that have ended. This process's memory counts too, since
/// each child began as a copy of it.
fn peak_kib() -> i64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage of the children").max_rss()
}

fn run(manifest: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
    command.env("WARPLOOM_CACHE", "off");
    command
        .arg("run")
        .arg(manifest)
        .args(["--engine", "jit"])
        .env_remove("WARPLOOM_LOG")
        .stdout(Stdio::null());
    let status = command.status().expect("the command starts");
    assert!(status.success(), "{}: {status}", manifest.display());
    let peak = peak_kib();
    assert!(peak < 100 << 10, "{}: {peak} KiB", manifest.display());
}

#[test]
fn a_process_takes_less_than_100_mib() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The buffers of these examples have less than 1 MiB.
    for example in ["mandelbrot/mandelbrot.toml", "nbody/nbody.toml"] {
        run(&root.join("examples").join(example));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let cubin = "unroll10k.sm_50.cubin";
    std::fs::copy(root.join("benches/fixtures").join(cubin), folder.path().join(cubin))
        .expect("a copy");
    let manifest = folder.path().join("m.toml");
    std::fs::write(&manifest, UNROLL).expect("a manifest");
    run(&manifest);
    // A lower figure would not be the memory of a run.
    assert!(peak_kib() > 1 << 10);
}
