//! `warploom inspect --coverage`: the parts of kernels that warploom does not execute.

use std::path::Path;
use std::process::Command;

/// Returns the exit code, and the output for a file with this content.
fn coverage(content: &[u8], options: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, content).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
    command.env("WARPLOOM_CACHE", "off");
    let output = command.args(["inspect", "--coverage"]).arg(&file).args(options).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Proves that coverage looks at code after an instruction that is not executed, but not at code
/// that no warp reaches.
#[test]
fn maxwell() {
    let source = "
.target sm_50
.kernel k
    MOV R0, R1
    @P0 LEPC R2
    MUFU.SIN R3, R0
    LEPC R4
    EXIT
    LEPC R6
";
    let (code, text) = coverage(source.as_bytes(), &[]);
    assert_eq!(code, Some(1));
    for line in [
        "1 module, 1 kernel with 5 instructions\n",
        "1 kernel (100.00 %) can reach what is not executed\n",
        "  LEPC: unimplemented, 2 times in 1 kernel, such as `@P0 LEPC R2` at 0x10 in k\n",
        "  MUFU.SIN: 1 times; ",
    ] {
        assert!(text.contains(line), "{line:?}: {text}");
    }
}

/// Proves that coverage reports an unimplemented and an illegal first instruction of a code object.
#[test]
fn gfx9() {
    let object = fixture("examples/gfx9/mandelbrot/mandelbrot.gfx900.hsaco");
    assert_eq!(coverage(&object, &[]).0, Some(0));
    // s_load_dword s0, s[4:5], 0x34
    let first =
        object.windows(8).position(|bytes| bytes == [2, 0, 2, 0xc0, 0x34, 0, 0, 0]).unwrap();
    let with = |bytes: [u8; 8]| {
        let mut object = object.clone();
        object[first..first + 8].copy_from_slice(&bytes);
        coverage(&object, &[])
    };
    // LLVM's encoding of ds_gws_sema_v gds.
    let (code, text) = with([0, 0, 0x35, 0xd9, 0, 0, 0, 0]);
    assert_eq!(code, Some(1));
    let line = "  ds_gws_sema_v: unimplemented, 1 times in 1 kernel, such as `ds_gws_sema_v gds` at 0x1900 in mandelbrot\n";
    assert!(text.contains(line), "{text}");
    let (code, text) = with([0xff; 8]);
    assert_eq!(code, Some(1));
    assert!(
        text.contains(
            "  illegal: no instruction, 1 times in 1 kernel, such as `illegal word 0xffffffff` at"
        ),
        "{text}"
    );
}

/// Proves that a vISA block into which another block falls through does not count as separate code:
/// all of it is executed.
#[test]
fn code_that_nothing_leads_to_does_not_count() {
    let text = ".version 4.1\n.kernel \"k\"\n.decl V v_type=G type=d num_elts=16 align=GRF\n.decl P1 v_type=P num_elts=16\n\
                .kernel_attr SimdSize=16\nmain:\n(P1) goto (M1, 16) a\nadd (M1, 16) V(0,0)<1> V(0,0)<1;1,0> 0x1:d\na:\nret (M1, 1)\n";
    let (code, found) = coverage(text.as_bytes(), &[]);
    assert_eq!(code, Some(0), "{found}");
    assert!(
        found.starts_with("1 module, 1 kernel with 3 instructions\n0 kernels (0.00 %) can reach"),
        "{found}"
    );
}

#[test]
fn members_for_all_gpus_or_one() {
    let host = fixture("tests/fixtures/gfx9/containers/host.o");
    let (code, text) = coverage(&host, &[]);
    assert!(code == Some(0) && text.starts_with("2 modules, 2 kernels with "), "{text}");
    let (code, text) = coverage(&host, &["--arch", "gfx906"]);
    assert!(code == Some(0) && text.starts_with("1 module, 1 kernel with "), "{text}");
    // An unreadable member is named, and the other members are examined.
    let elf_for = |mach: u8| {
        (0..host.len()).find(|&i| host[i..].starts_with(b"\x7fELF") && host[i + 0x30] == mach)
    };
    let mut damaged = host.clone();
    damaged[elf_for(0x2c).unwrap() + 0x20] = 0xff;
    let (code, text) = coverage(&damaged, &[]);
    assert_eq!(code, Some(1));
    assert!(
        text.starts_with("not read: in ")
            && text.contains("gfx900")
            && text.contains("1 module, 1 kernel"),
        "{text}"
    );
}
