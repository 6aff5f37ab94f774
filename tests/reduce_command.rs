//! `warploom reduce` and its library: text and machine code of all guests become small, and still
//! show the same.

use std::path::Path;
use std::process::Command;

#[path = "support/wrong_backend.rs"]
mod wrong_backend;

use warploom_replay::Manifest;
use warploom_replay::reduce;
use wrong_backend::wrong;

fn warploom(folder: &Path, line: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
    command.env("WARPLOOM_CACHE", "off").env_remove("WARPLOOM_ENGINE").current_dir(folder);
    let output = command.args(line.split(' ')).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Returns a kernel of about 2,000 lines, with loops, branches and a barrier. In the middle a
/// constant is 0x12345678, and at the end the result is stored at 4 * (n + the lane).
fn long_kernel() -> String {
    let mut text = String::from(
        ".version 6.0\n.target sm_50\n.address_size 64\n\
         .visible .entry long(\n.param .u64 .ptr .global out,\n.param .u32 n\n)\n{\n\
         .reg .b32 %r<40>;\n.reg .b64 %rd<4>;\n.reg .pred %p<3>;\n.shared .b32 shared[64];\n\
         ld.param.u64 %rd0, [out];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\n\
         add.u32 %r2, %r1, %r0;\n",
    );
    for round in 0..330 {
        let (a, b, c) = (3 + round % 30, 3 + (round * 7 + 1) % 30, 3 + (round * 11 + 2) % 30);
        text += &format!("mad.lo.u32 %r{a}, %r{b}, {}, %r1;\n", round * 13 + 1);
        text += &format!("xor.b32 %r{c}, %r{a}, %r2;\n");
        match round % 3 {
            0 => {
                text += &format!("mov.u32 %r33, 0;\nLOOP{round}:\nadd.u32 %r{b}, %r{b}, %r{c};\n");
                text += "add.u32 %r33, %r33, 1;\nsetp.lt.u32 %p0, %r33, 3;\n";
                text += &format!("@%p0 bra LOOP{round};\n");
            }
            1 => {
                text += &format!("setp.gt.u32 %p1, %r{a}, {round};\n@%p1 bra SKIP{round};\n");
                text += &format!("shl.b32 %r{b}, %r{b}, 1;\nSKIP{round}:\n");
            }
            _ => text += &format!("shr.u32 %r{c}, %r{c}, 1;\nbar.sync 0;\n"),
        }
        if round == 150 {
            text += "xor.b32 %r36, %r1, 0x12345678;\nadd.u32 %r7, %r7, %r36;\n";
        }
    }
    for register in 3..33 {
        text += &format!("add.u32 %r34, %r34, %r{register};\n");
    }
    text + "xor.b32 %r34, %r34, %r36;\nmul.wide.u32 %rd1, %r2, 4;\nadd.u64 %rd1, %rd0, %rd1;\n\
            st.global.u32 [%rd1], %r34;\nret;\n}\n"
}

/// Returns a folder with the long kernel; a launch stores from element `n` on.
fn long_folder(n: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), long_kernel()).unwrap();
    let manifest = format!(
        "[kernel]\nbinary = \"k.ptx\"\n[launch]\ngrid = [2, 1, 1]\nblock = [64, 1, 1]\n\
         [[arg]]\nbuffer = \"out\"\n[[arg]]\nu32 = {n}\n\
         [buffer.out]\nzeros = 256\ndtype = \"u32\"\n"
    );
    std::fs::write(folder.path().join("m.toml"), manifest).unwrap();
    folder
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap().lines().count()
}

#[test]
fn a_fault_in_a_long_kernel_becomes_small() {
    let folder = long_folder(1_000_000);
    assert!(long_kernel().lines().count() > 2000);
    let (code, out, err) = warploom(folder.path(), "reduce m.toml --out small");
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("address out of range at st.global.u32"), "{out}");
    let small = folder.path().join("small/k.ptx");
    assert!(lines(&small) <= 20, "{}", std::fs::read_to_string(&small).unwrap());
    let (code, _, err) = warploom(folder.path(), "run small/launch.toml");
    assert!(code == Some(2) && err.contains("block 1 x 1 x 1"), "{err}");
    let (code, _, err) = warploom(folder.path(), "reduce m.toml --out small");
    assert!(code == Some(3) && err.contains("it exists"), "{err}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_difference_of_engines_becomes_small() {
    let folder = long_folder(0);
    let path = folder.path().join("m.toml");
    let manifest = Manifest::read(&path).unwrap();
    let options =
        reduce::Options { out: folder.path().join("small"), time: None, backend: Some(wrong()) };
    let reduced = reduce::reduce(&manifest, &path, &options, |_| true).unwrap();
    assert_eq!(reduced.shows, "a difference of the engines");
    let small = std::fs::read_to_string(folder.path().join("small/k.ptx")).unwrap();
    assert!(small.lines().count() <= 20 && small.contains("305419896"), "{small}");
    // The usual back end shows nothing.
    let (code, _, err) = warploom(folder.path(), "reduce m.toml --out none");
    assert!(code == Some(3) && err.contains("nothing to reduce to"), "{err}");
}

/// Proves that machine code of each guest, and vISA, become small: saxpy with n beyond its buffers.
#[test]
fn code_of_all_guests_becomes_small() {
    let cases = [
        ("tests/fixtures/maxwell/kernels/saxpy.sm_50.cubin", "kernel.txt", 12),
        ("benches/fixtures/turing/saxpy.sm_80.cubin", "kernel.txt", 12),
        ("examples/gfx9/saxpy/saxpy.gfx900.hsaco", "kernel.txt", 12),
        ("tests/fixtures/visa/pvc/k01_saxpy.zebin", "k01_saxpy.visaasm", 30),
    ];
    for (binary, code_file, most) in cases {
        let project = Path::new(env!("CARGO_MANIFEST_DIR"));
        if !project.join(binary).exists() {
            panic!("{binary}");
        }
        let folder = tempfile::tempdir().unwrap();
        let name = Path::new(binary).file_name().unwrap().to_str().unwrap();
        std::fs::copy(project.join(binary), folder.path().join(name)).unwrap();
        let (code, text, err) = warploom(folder.path(), &format!("init {name}"));
        assert_eq!(code, Some(0), "{binary}: {err}");
        // All numbers are large, and there are many lanes: some lane is out of range.
        let text = text
            .replace("i32 = 0", "i32 = 100000000")
            .replace("u32 = 0", "u32 = 100000000")
            .replace("grid = [1, 1, 1]", "grid = [4000, 1, 1]");
        std::fs::write(folder.path().join("m.toml"), text).unwrap();
        let (code, out, err) = warploom(folder.path(), "reduce m.toml --out small");
        assert_eq!(code, Some(0), "{binary}: {out}{err}");
        assert!(out.contains("address out of range at"), "{binary}: {out}");
        let small = folder.path().join("small").join(code_file);
        assert!(
            lines(&small) <= most,
            "{binary}: {out}{}",
            std::fs::read_to_string(&small).unwrap()
        );
        let (code, _, err) = warploom(folder.path(), "run small/launch.toml --engine both");
        assert_eq!(code, Some(2), "{binary}: {err}");
    }
}
