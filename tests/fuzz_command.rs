//! `warploom fuzz` and its library: a store out of range, a store past a buffer, and a difference of
//! engines, each behind conditions that random bytes rarely meet.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

#[path = "support/wrong_backend.rs"]
mod wrong_backend;

use warploom_engine::Backend;
use warploom_replay::Manifest;
use warploom_replay::fuzz::{self, Kind};
use wrong_backend::wrong;

/// Copies data to out. Where an element is 0x5eed, it also stores to an element of out that data[2]
/// names, and where the next element is negative, `WRONG`.
const KERNEL: &str = "
.version 6.0
.target sm_50
.address_size 64
.visible .entry look(.param .u64 .ptr .global data, .param .u64 .ptr .global out, .param .u32 n)
{
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    .reg .pred %p<4>;
    ld.param.u64 %rd0, [data];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p0, %r1, %r0;
    @%p0 bra DONE;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd0, %rd2;
    ld.global.u32 %r2, [%rd3];
    add.u64 %rd4, %rd1, %rd2;
    st.global.u32 [%rd4], %r2;
    setp.ne.u32 %p1, %r2, 0x5eed;
    @%p1 bra DONE;
    ld.global.u32 %r3, [%rd0+8];
    and.b32 %r3, %r3, MASK;
    mul.wide.u32 %rd5, %r3, 4;
    add.u64 %rd6, %rd1, %rd5;
    st.global.u32 [%rd6], %r3;
    ld.global.s32 %r4, [%rd3+4];
    setp.ge.s32 %p2, %r4, 0;
    @%p2 bra DONE;
    mov.u32 %r5, 0x12345678;
    xor.b32 %r5, %r5, %r4;
    st.global.u32 [%rd4], %r5;
DONE:
    ret;
}
";

const MANIFEST: &str = "
[kernel]
binary = \"k.ptx\"
[launch]
grid = [1, 1, 1]
block = [16, 1, 1]
[[arg]]
buffer = \"data\"
[[arg]]
buffer = \"out\"
[[arg]]
u32 = 16
[buffer.data]
zeros = 128
dtype = \"u32\"
[buffer.out]
zeros = 64
dtype = \"u32\"
";

/// A folder with the kernel, where indices of the second store have these bits.
fn folder(mask: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.toml"), MANIFEST).unwrap();
    let kernel = KERNEL.replace("MASK", &mask.to_string());
    std::fs::write(folder.path().join("k.ptx"), kernel).unwrap();
    folder
}

fn warploom(folder: &Path, line: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
    command.env("WARPLOOM_CACHE", "off").env_remove("WARPLOOM_ENGINE").current_dir(folder);
    let output = command.args(line.split(' ')).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_store_out_of_range_is_found() {
    let folder = folder(0x00ff_ffff);
    let line = "fuzz m.toml --inputs 200000 --keep 3 --corpus corpus --out found";
    let (code, out, err) = warploom(folder.path(), line);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("found/finding-1/launch.toml: address out of range"), "{out}");
    // The finding stands by itself, and little of the input is changed.
    let (code, _, err) = warploom(folder.path(), "run found/finding-1/launch.toml");
    assert_eq!(code, Some(2), "{err}");
    let data = std::fs::read(folder.path().join("found/finding-1/data.bin")).unwrap();
    assert!(data.iter().filter(|&&byte| byte != 0).count() <= 6, "{data:?}");
    let inputs = |folder: &Path| std::fs::read_dir(folder.join("corpus")).unwrap().count();
    assert!(inputs(folder.path()) > 1);
    // A second run begins with the corpus, and does not write over findings.
    let (code, _, err) = warploom(folder.path(), line);
    assert!(code == Some(3) && err.contains("finding-1"), "{err}");
    let (code, _, err) = warploom(folder.path(), "fuzz m.toml --corpus corpus --minimize --keep 3");
    assert!(code == Some(0) && err.contains("inputs, of which"), "{err}");
    let (code, _, err) =
        warploom(folder.path(), "fuzz m.toml --inputs 100 --keep 3 --corpus corpus --out again");
    assert!(matches!(code, Some(0 | 1)), "{err}");
}

#[test]
fn a_store_past_a_buffer_is_found() {
    // Element 16 is behind the buffer, in the same page.
    let folder = folder(16);
    let line = "fuzz m.toml --inputs 200000 --keep 3 --out found";
    let (code, out, err) = warploom(folder.path(), line);
    assert_eq!(code, Some(1), "{out}{err}");
    let found = "a store past the end of buffer `out`: byte 64 of 64";
    assert!(out.contains(found), "{out}");
    // `run` shows it again.
    let (_, _, err) = warploom(folder.path(), "run found/finding-1/launch.toml");
    assert!(err.contains(found), "{err}");
}

#[test]
fn what_cannot_be_fuzzed_is_an_error() {
    let folder = folder(0);
    let wrong = |line: &str, part: &str| {
        let (code, _, err) = warploom(folder.path(), line);
        assert!(code == Some(3) && err.contains(part), "{line}: {err}");
    };
    wrong("fuzz m.toml --keep date", "`date` is no buffer and no argument");
    wrong("fuzz m.toml --keep 3 --keep data --keep out", "nothing to change");
    wrong("fuzz k.ptx", "expected a manifest");
    wrong("fuzz m.toml --minimize", "--corpus");
    let (code, out, err) = warploom(folder.path(), "fuzz m.toml --inputs 2000 --keep 3");
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
}

fn options(folder: &Path, backend: Option<Arc<dyn Backend>>) -> fuzz::Options {
    fuzz::Options {
        seed: 7,
        time: None,
        inputs: Some(300_000),
        findings: 1,
        keep: ["3".to_string()].into(),
        corpus: None,
        out: folder.join("found"),
        backend,
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_difference_of_engines_is_found() {
    let folder = folder(0);
    let path: PathBuf = folder.path().join("m.toml");
    let manifest = Manifest::read(&path).unwrap();
    let wrong = options(folder.path(), Some(wrong()));
    let done = fuzz::fuzz(&manifest, &path, &wrong, |_| true).unwrap();
    let [finding] = &done.findings[..] else { panic!("{done:?}") };
    assert_eq!(finding.kind, Kind::Difference, "{done:?}");
    assert!(finding.message.contains("buffer `out`"), "{finding:?}");
    assert!(finding.changed <= 8, "{finding:?}");
    // The usual back end agrees on it.
    let (code, _, err) = warploom(folder.path(), "run found/finding-1/launch.toml --engine both");
    assert!(code == Some(0) && err.contains("both engines agree"), "{err}");
}
