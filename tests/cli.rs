//! The command: its output, the files that it writes, and its exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use warploom_replay::{Array, Dtype, npy, write};

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
    command.env("WARPLOOM_CACHE", "off");
    command.env_remove("WARPLOOM_ENGINE").env_remove("WARPLOOM_LOG");
    command
}

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

fn warploom(args: &[&str]) -> Ran {
    command().args(args).output().unwrap().into()
}

/// Checks that a command ended with this code, without a panic, and that standard error has all
/// parts.
#[track_caller]
fn assert_ends(ran: &Ran, code: i32, parts: &[&str]) {
    for part in parts {
        assert!(ran.err.contains(part), "no {part:?} in: {}", ran.err);
    }
    assert_eq!(ran.code, Some(code), "{}{}", ran.out, ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}

/// A folder with a manifest `m.toml` and saxpy's cubin as `k.cubin`.
struct Folder(TempDir);

impl Folder {
    fn new(manifest: &str) -> Folder {
        Folder::of("tests/fixtures/maxwell/kernels/saxpy.sm_50.cubin", manifest)
    }

    fn of(binary: &str, manifest: &str) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        std::fs::copy(fixture(binary), folder.path("k.cubin")).unwrap();
        std::fs::write(folder.path("m.toml"), manifest).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, options: &[&str]) -> Ran {
        command().arg("run").arg(self.path("m.toml")).args(options).output().unwrap().into()
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        let array = npy::read(&std::fs::read(self.path(name)).unwrap()).unwrap();
        assert_eq!(array.dtype, Dtype::F32);
        array.bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

/// Returns the manifest of saxpy(int n, float a, const float *x, float *y) with n = 100 in blocks
/// of 32, with the given replacements.
fn saxpy(replace: &[(&str, &str)]) -> String {
    let mut text = r#"
[kernel]
binary = "k.cubin"
entry = "saxpy"
[launch]
grid = [4, 1, 1]
block = [32, 1, 1]
[[arg]]
i32 = 100
[[arg]]
f32 = 2.0
[[arg]]
buffer = "x"
[[arg]]
buffer = "y"
[buffer.x]
values = VALUES
dtype = "f32"
[buffer.y]
zeros = 400
dtype = "f32"
"#
    .to_string();
    for (from, to) in replace {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let values: Vec<String> = (0..100).map(|i| format!("{i}.5")).collect();
    text.replace("VALUES", &format!("[{}]", values.join(", ")))
}

/// Proves that the check reports code that does not wait, ends it with code 1, and accepts code
/// that waits.
#[test]
fn waits_are_checked() {
    let manifest = "[kernel]\nbinary = \"code.bin\"\nformat = \"gfx9-raw\"\n[launch]\ngrid = [1, 1, 1]\nblock = [64, 1, 1]\n\
                    [raw]\nvgprs = 1\n[[raw.sgpr]]\nfirst = 2\nbuffer = \"x\"\n[buffer.x]\nzeros = 64\n";
    let run = |lines: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let code: Vec<u8> =
            lines.iter().flat_map(|line| warploom_gfx9::assemble(line).unwrap()).collect();
        std::fs::write(folder.path().join("code.bin"), code).unwrap();
        std::fs::write(folder.path().join("m.toml"), manifest).unwrap();
        let path = folder.path().join("m.toml");
        warploom(&["run", path.to_str().unwrap(), "--check", "waitcnt"])
    };
    let load = "s_load_dword s4, s[2:3], 0x4";
    assert_ends(
        &run(&[load, "s_mov_b32 s5, s4", "s_endpgm"]),
        1,
        &["`s_mov_b32 s5, s4` does not wait for", "(s4)"],
    );
    let waits = [load, "s_waitcnt lgkmcnt(0)", "s_mov_b32 s5, s4", "s_endpgm"];
    assert_ends(&run(&waits), 0, &[]);
    // The check reports this code, and executes it.
    let perhaps = ["s_mov_b32 s6, 8", "s_load_dword s4, s[2:3], s6 offset:-0x4", "s_endpgm"];
    assert_ends(&run(&perhaps), 1, &["may have a negative offset"]);
    let negative = [
        "s_add_u32 s2, s2, 8",
        "s_load_dword s4, s[2:3], -0x4",
        "s_waitcnt lgkmcnt(0)",
        "s_endpgm",
    ];
    assert_ends(&run(&negative), 1, &["`s_load_dword s4, s[2:3], -0x4` has a negative offset"]);
}

/// Proves that the text of device code comes first, and is compared with the expected text.
#[test]
fn printf_reaches_standard_output() {
    let manifest = |expect: &str, bytes: u32| {
        format!(
            "[kernel]\nbinary = \"k.cubin\"\n[launch]\ngrid = [1, 1, 1]\nblock = [4, 1, 1]\n[[arg]]\ni32 = 4\n\
             [printf]\nexpect = \"{expect}\"\nbytes = {bytes}\n"
        )
    };
    let line = |i: u32, odd, root| {
        format!("{i:4} is prime: {odd}, root {root}, 0x000{i}, 2^i mod 64 = {}\n", 1 << i)
    };
    let expected = line(2, "even", "  1.4142") + &line(3, "odd", "  1.7321");
    let run = |expect: &str, bytes| {
        let folder = Folder::of("examples/printf/printf.sm_50.cubin", &manifest(expect, bytes));
        std::fs::write(folder.path("right.txt"), &expected).unwrap();
        std::fs::write(folder.path("wrong.txt"), expected.replace("odd", "even")).unwrap();
        warploom(&["run", "--engine", "both", folder.path("m.toml").to_str().unwrap()])
    };
    let ran = run("right.txt", 1000);
    assert_ends(&ran, 0, &[]);
    assert!(
        ran.out.starts_with(&expected) && ran.err.contains("printf: text as expected"),
        "{}",
        ran.err
    );
    assert_ends(
        &run("wrong.txt", 1000),
        1,
        &["printf: line 2: `   3 is prime: odd", "expected `   3 is prime: even"],
    );
    assert_ends(
        &run("right.txt", 80),
        1,
        &["1 calls printed nothing, for want of room: [printf] bytes = 80", "no such line"],
    );
    assert_ends(&run("missing.txt", 80), 3, &["missing.txt"]);
}

#[test]
fn a_launch_writes_what_changed() {
    for engine in ["jit", "interp", "both"] {
        let folder = Folder::new(&saxpy(&[]));
        let out = folder.path("results");
        let report = folder.path("report.json");
        let ran = folder.run(&[
            "--engine",
            engine,
            "--out",
            out.to_str().unwrap(),
            "--report",
            report.to_str().unwrap(),
            "--repeat",
            "3",
        ]);
        assert_ends(&ran, 0, &[]);
        assert!(ran.err.contains("saxpy: grid 4 x 1 x 1, block 32 x 1 x 1"), "{}", ran.err);
        assert_eq!(ran.err.contains("both engines agree"), engine == "both", "{}", ran.err);
        let expected: Vec<f32> = (0..100).map(|i| 2.0 * (i as f32 + 0.5)).collect();
        assert_eq!(folder.floats("results/y.npy"), expected);
        let files: Vec<_> =
            std::fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(files, ["y.npy"], "x did not change");

        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
        assert_eq!(report["engine"], engine);
        assert_eq!(report["kernel_ns"].as_array().unwrap().len(), 3);
        assert!(report["translate_ns"].as_u64().unwrap() > 0);
        // A warp that the EXIT in front does not end executes 22 instructions.
        assert_eq!(report["instructions"], 4 * 22);
        assert!(report["lane_instructions"].as_u64().unwrap() > 100 * 10);
        assert!(report["helper_calls"].is_u64() && report["interp_instructions"].is_u64());
        assert_eq!(report["faults"].as_array().unwrap().len(), 0);
        let fidelity = report["fidelity"].as_array().unwrap();
        let ffma = fidelity.iter().find(|f| f["instruction"] == "FFMA").unwrap();
        assert_eq!((&ffma["count"], &ffma["class"]), (&4.into(), &"exact".into()));
    }
}

#[test]
fn a_file_with_the_name_of_an_array_is_one() {
    let folder = Folder::new(&saxpy(&[("values = VALUES", "file = \"x.npy\"")]));
    std::fs::write(folder.path("x.npy"), [0; 400]).unwrap();
    assert_ends(&folder.run(&[]), 3, &["x.npy", "not a .npy file"]);
}

#[test]
fn code_is_made_with_any_effort() {
    let folder = Folder::new(&saxpy(&[]));
    for effort in ["quick", "likely", "full"] {
        let ran = folder.run(&["--engine", "both", "--effort", effort]);
        assert_ends(&ran, 0, &[]);
        assert!(ran.err.contains("both engines agree"), "{}", ran.err);
    }
    assert_ends(&folder.run(&["--effort", "none"]), 3, &["quick, likely, full"]);
    // Fast code finds memory in other ways.
    let helper_calls = |effort| {
        let report = folder.path("r.json");
        let ran = folder.run(&[
            "--engine",
            "jit",
            "--effort",
            effort,
            "--report",
            report.to_str().unwrap(),
        ]);
        assert_ends(&ran, 0, &[]);
        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
        report["helper_calls"].as_u64().unwrap()
    };
    assert_ne!(helper_calls("quick"), helper_calls("full"));
}

#[test]
fn a_report_that_cannot_be_written_is_known_before_the_launch() {
    let folder = Folder::new(&saxpy(&[]));
    for (report, problem) in [("none/r.json", "none/r.json: cannot be written"), ("", "directory")]
    {
        let [report, out] =
            [report, "out"].map(|name| folder.path(name).to_str().unwrap().to_string());
        assert_ends(&folder.run(&["--report", &report, "--out", &out]), 3, &[problem]);
        assert!(!Path::new(&out).exists(), "it was launched");
    }
}

#[test]
fn of_long_lines_of_a_file_little_is_said() {
    let folder = Folder::new(&format!("binary = \"k.cubin\"  {}", "x".repeat(1 << 20)));
    let ran = folder.run(&[]);
    assert_ends(&ran, 3, &["m.toml", "line 1", "[...]"]);
    assert!(ran.err.len() < 2000);
}

#[test]
#[cfg(unix)]
fn what_a_link_leads_to_is_written() {
    let folder = Folder::new(&saxpy(&[]));
    let (link, file) = (folder.path("link.json"), folder.path("file.json"));
    std::fs::write(&file, "before").unwrap();
    std::os::unix::fs::symlink("file.json", &link).unwrap();
    assert_ends(&folder.run(&["--report", link.to_str().unwrap()]), 0, &[]);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(std::fs::read(&file).unwrap().starts_with(b"{"));
}

#[test]
#[cfg(target_os = "linux")]
fn standard_error_may_be_full() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ran = command().args(["run", "none.toml"]).stderr(full).output().unwrap();
    assert_eq!(ran.status.code(), Some(3));
}

#[test]
fn the_engine_can_come_from_the_environment() {
    let folder = Folder::new(&saxpy(&[]));
    let run = |engine: &str, options: &[&str]| -> Ran {
        let mut command = command();
        command.arg("run").arg(folder.path("m.toml")).args(options).env("WARPLOOM_ENGINE", engine);
        command.output().unwrap().into()
    };
    assert!(run("interp", &[]).err.contains("interp, 1 thread"));
    assert!(run("interp", &["--engine", "jit", "--threads", "2"]).err.contains("jit, 2 threads"));
    assert_ends(
        &run("fast", &[]),
        3,
        &["WARPLOOM_ENGINE is `fast`", "expected jit, interp or both"],
    );
}

#[test]
fn the_environment_chooses_the_log() {
    let folder = Folder::new(&saxpy(&[]));
    let run = |log: &str| -> Ran {
        let mut command = command();
        command
            .args(["run", "--quiet"])
            .arg(folder.path("m.toml"))
            .env("WARPLOOM_LOG", log)
            .output()
            .unwrap()
            .into()
    };
    assert_eq!(run("error").err, "");
    assert!(run("warploom_engine=debug").err.contains("new variant"));
    assert_ends(&run("warploom=loud"), 3, &["WARPLOOM_LOG is `warploom=loud`"]);
}

#[test]
fn expectations_decide_the_exit_code() {
    let right: Vec<u8> = (0..100).flat_map(|i| (2.0 * (i as f32 + 0.5)).to_le_bytes()).collect();
    let mut wrong = right.clone();
    wrong[4 * 7..4 * 8].copy_from_slice(&15.5_f32.to_le_bytes());
    let with = |bytes: Vec<u8>, more: &str| {
        let folder = Folder::new(&saxpy(&[(
            "zeros = 400",
            &format!("zeros = 400\nexpect = \"e.npy\"\n{more}"),
        )]));
        write::array(&folder.path("e.npy"), &Array::flat(Dtype::F32, bytes)).unwrap();
        folder.run(&[])
    };
    let ran = with(right, "");
    assert_ends(&ran, 0, &[]);
    assert!(ran.err.contains("y: 100 elements as expected"), "{}", ran.err);
    assert_ends(
        &with(wrong.clone(), ""),
        1,
        &["buffer `y`", "1 of 100 elements differ, first element 7: got 15.0"],
    );
    assert_ends(&with(wrong.clone(), "rtol = 0.01"), 1, &["first element 7"]);
    assert_ends(&with(wrong, "atol = 0.5"), 0, &[]);
}

/// Replacements in the manifest, and parts that the message must have.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);

#[test]
fn bad_input_is_named_and_ends_with_3() {
    let cases: &[Case<'_>] = &[
        (
            &[("[[arg]]\ni32 = 100\n", "")],
            &["m.toml", "`saxpy` has 4 parameters: 3 arguments are given"],
        ),
        (
            &[("f32 = 2.0", "f64 = 2.0")],
            &["argument 2 of kernel `saxpy` has 8 bytes", "offset 0x4 has 4"],
        ),
        (&[("i32 = 100", "i32 = 1000000000000")], &["1000000000000 is no i32"]),
        (&[("binary = \"k.cubin\"", "binary = \"none.cubin\"")], &["none.cubin", "cannot be read"]),
        (
            &[("entry = \"saxpy\"", "entry = \"sexpy\"")],
            &["no kernel `sexpy` (did you mean `saxpy`?): it has saxpy"],
        ),
        (&[("grid = [4, 1, 1]", "grid = [0, 1, 1]")], &["[0, 1, 1]", "no dimension may be 0"]),
        (
            &[("grid = [4, 1, 1]", "grid = [2147483648, 1, 1]")],
            &["[2147483648, 1, 1]", "is more than"],
        ),
        (&[("grid = [4, 1, 1]", "grid = [-1, 1, 1]")], &["line 6", "-1"]),
        (&[("grid = [4, 1, 1]", "grid = [4, 1, 1, 1]")], &["line 6", "4 elements: expected 3"]),
        (&[("f32 = 2.0", "f32 = 1e300")], &["is no f32: it is too large"]),
        (&[("block = [32, 1, 1]", "block = [32, 0, 1]")], &["no dimension may be 0"]),
        (&[("block = [32, 1, 1]", "block = [1025, 1, 1]")], &["1025 lanes, more than 1024"]),
        (&[("zeros = 400", "zeros = 9000000000000000000")], &["9000000000000000000", "limit"]),
        (&[("zeros = 400", "zeros = 402")], &["buffer.y.zeros", "multiple of 4"]),
        (
            &[("values = VALUES", "file = \"k.cubin\"\nexpect = \"none.npy\"")],
            &["none.npy", "cannot be read"],
        ),
        (&[("values = VALUES", "values = [true]")], &["buffer.x.values[0]", "expected a number"]),
        (&[("buffer = \"x\"", "buffer = \"z\"")], &["arg 3", "no [buffer.z]"]),
        (
            &[("[launch]", "[launch]\nshared_bytes = 4294967295")],
            &["4294967295 bytes of shared memory"],
        ),
        (&[("[buffer.x]", "[symbol.c]\nzeros = 4\n[buffer.x]")], &["no variable `c`: it has none"]),
        (&[("[kernel]", "[kernel")], &["m.toml", "line 2"]),
        (
            &[(
                "[buffer.x]",
                "[surface.s]\ndim = \"2d\"\nsize = [1, 1, 1]\nformat = \"r31_uint\"\n[buffer.x]",
            )],
            &["surface `s`", "unknown format `r31_uint`"],
        ),
        (
            &[(
                "[buffer.x]",
                "[surface.s]\ndim = \"2d\"\nsize = [1, 1, 2]\nformat = \"r32_uint\"\n[buffer.x]",
            )],
            &["surface `s`", "[1, 1, 2]", "expected 1 where there is no such axis"],
        ),
        (
            &[(
                "[buffer.x]",
                "[surface.s]\ndim = \"3d\"\nsize = [1, 1, 2]\nformat = \"r32_uint\"\nblock_height = 3\n[buffer.x]",
            )],
            &["surface `s`", "block_height = 3", "1, 2, 4, 8, 16 or 32"],
        ),
        (
            &[(
                "[buffer.x]",
                "[surface.s]\ndim = \"2d\"\nsize = [4, 4, 1]\nformat = \"r8_unorm\"\nfile = \"k.cubin\"\n[buffer.x]",
            )],
            &["surface `s`", "bytes of data: its rows have 16"],
        ),
    ];
    for (replace, parts) in cases {
        let folder = Folder::new(&saxpy(replace));
        assert_ends(&folder.run(&["--out", folder.path("out").to_str().unwrap()]), 3, parts);
        let written = std::fs::read_dir(folder.path("out")).map_or(0, Iterator::count);
        assert_eq!(written, 0, "nothing is written: {replace:?}");
    }
}

#[test]
fn damaged_binaries_end_with_3() {
    let folder = Folder::new(&saxpy(&[]));
    let bytes = std::fs::read(folder.path("k.cubin")).unwrap();
    for length in [0, 3, 20, 63, 700, bytes.len() - 400] {
        std::fs::write(folder.path("k.cubin"), &bytes[..length]).unwrap();
        assert_ends(&folder.run(&[]), 3, &["k.cubin", "expected"]);
    }
    // Flips every ninth bit of the headers: every run must have a documented end.
    let sections = u64::from_le_bytes(bytes[0x28..0x30].try_into().unwrap()) as usize * 8;
    for bit in (0..512).chain(sections..sections + 12 * 512).step_by(9) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(folder.path("k.cubin"), flipped).unwrap();
        let ran = folder.run(&["--quiet", "--engine", "interp", "--instruction-limit", "10000"]);
        assert!(matches!(ran.code, Some(0 | 2 | 3)), "bit {bit}: {:?} {}", ran.code, ran.err);
        assert!(!ran.err.contains("panicked"), "bit {bit}: {}", ran.err);
        assert_eq!(ran.code == Some(0), ran.err.is_empty(), "bit {bit}: {}", ran.err);
    }
}

#[test]
fn wrong_options_end_with_3() {
    for args in [
        &["run"][..],
        &["run", "m.toml", "--engine", "fast"],
        &["run", "m.toml", "--threads", "0"],
        &["run", "m.toml", "--repeat", "0"],
        &["run", "m.toml", "--time-limit", "-1"],
        &["ran"],
        &[],
        &["dump", "k.cubin", "saxpy"],
        &["dump", "k.cubin", "saxpy", "--stage", "ir", "--block", "0,1"],
        &["dump", "k.cubin", "saxpy", "--stage", "host", "--effort", "most"],
        &["disasm", "--hex-lines", "words.txt"],
    ] {
        let ran = warploom(args);
        assert_eq!(ran.code, Some(3), "{args:?} {}", ran.err);
        assert!(!ran.err.is_empty());
    }
    for args in [&["--help"][..], &["run", "--help"], &["--version"]] {
        let ran = warploom(args);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    }
    assert_ends(&warploom(&["run", "/nowhere/m.toml"]), 3, &["/nowhere/m.toml", "cannot be read"]);
    assert_ends(
        &warploom(&["inspect", "/nowhere/k.cubin"]),
        3,
        &["/nowhere/k.cubin", "cannot be read"],
    );
    let manifest = fixture("examples/saxpy/saxpy.toml");
    let ran = warploom(&["run", manifest.to_str().unwrap(), "--out", "/dev/null/out"]);
    assert_ends(&ran, 3, &["/dev/null/out"]);
    assert_ends(
        &warploom(&["inspect", manifest.to_str().unwrap()]),
        3,
        &["saxpy.toml", "not a GPU binary"],
    );
}

/// Returns a folder for a launch of one block, with one buffer `out` of 4096 bytes.
fn behaviour(file: &str, entry: &str, block: u32, args: &str, launch: &str) -> Folder {
    let manifest = format!(
        "[kernel]\nbinary = \"k.cubin\"\nentry = \"{entry}\"\n[launch]\ngrid = [1, 1, 1]\nblock = [{block}, 1, 1]\n\
         {launch}\n[[arg]]\nbuffer = \"out\"\n{args}\n[buffer.out]\nzeros = 4096\n"
    );
    Folder::of(&format!("tests/fixtures/maxwell/behaviour/{file}.sm_50.cubin"), &manifest)
}

#[test]
fn faults_of_the_guest_end_with_2() {
    for engine in ["interp", "jit", "both"] {
        let folder = behaviour("out_of_range", "store_at", 32, "[[arg]]\ni64 = 0x10000000000", "");
        let report = folder.path("r.json");
        let ran = folder.run(&["--engine", engine, "--report", report.to_str().unwrap()]);
        let parts = [
            "m.toml",
            "address out of range",
            "block (0, 0, 0), warp 0, lane 0",
            "in kernel `store_at`",
            ": STG.E",
        ];
        assert_ends(&ran, 2, &parts);
        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
        let fault = &report["faults"][0];
        assert_eq!(
            (&fault["kind"], &fault["kernel"]),
            (&"address out of range".into(), &"store_at".into())
        );
        assert!(fault["instruction"].as_str().unwrap().starts_with("STG.E"));
        assert!(fault["address"].as_u64().unwrap() > 0x400_0000_0000);

        let ran = behaviour("out_of_range", "store_misaligned", 32, "[[arg]]\ni64 = 1", "")
            .run(&["--engine", engine]);
        assert_ends(&ran, 2, &["misaligned address", "lane 0"]);
        let ran = behaviour("stuck", "stuck_barrier", 64, "", "").run(&["--engine", engine]);
        assert_ends(&ran, 2, &["stuck barrier", "warp 0 at barrier 0", "warp 1 at barrier 1"]);
        let ran = behaviour("stuck", "endless", 64, "", "instruction_limit = 100000")
            .run(&["--engine", engine]);
        assert_ends(&ran, 2, &["instruction budget exceeded", "`endless`"]);
        let folder = behaviour("stuck", "endless", 64, "", "time_limit = 1000.0");
        assert_ends(
            &folder.run(&["--engine", engine, "--time-limit", "0.05"]),
            2,
            &["time limit exceeded"],
        );
        assert_ends(
            &folder.run(&["--engine", engine, "--instruction-limit", "9"]),
            2,
            &["budget exceeded"],
        );
    }
    let folder = behaviour("stuck", "endless", 64, "", "time_limit = 0.05");
    let ran = folder.run(&["--engine", "both"]);
    assert_ends(&ran, 2, &["time limit exceeded"]);
    assert!(
        ran.err.contains("not compared") && !ran.err.contains("differ"),
        "{}{}",
        ran.out,
        ran.err
    );
    // The worker that reaches the limit differs from run to run.
    let folder = behaviour("stuck", "endless", 64, "", "instruction_limit = 100000");
    for (threads, compared) in [("1", true), ("2", false)] {
        let ran = folder.run(&["--engine", "both", "--threads", threads]);
        assert_ends(&ran, 2, &["budget exceeded"]);
        assert_eq!(ran.err.contains("both engines agree"), compared, "{}", ran.err);
    }
}

/// Proves that the time limit ends calls of `printf`: a call may cost millions of instructions, but
/// counts as one.
#[test]
fn the_time_limit_ends_what_prints() {
    let manifest = r#"kernel = { binary = "k.ir" }
launch = { grid = [1, 1, 1], block = [32, 1, 1], stack_bytes = 256, time_limit = 0.05, instruction_limit = 1000 }
buffer = { format = { file = "format.bin", address = 0x100000 }, arguments = { zeros = 800000, address = 0x200000 } }
printf = { bytes = 100 }
"#;
    let folder = Folder::new(manifest);
    std::fs::write(folder.path("format.bin"), ["%s".repeat(30000).as_bytes(), b"\0"].concat())
        .unwrap();
    let print = r#"function "print" lanes 32 nan 0 0 0 {
bank m: mask x 1
active m[0]
b0 pc 0 cost 1:
  jump b1
b1 pc 8 cost 1:
  v0 = const.i32 0x100
  v1 = splat v0
  v2 = const.i32 0x100000
  v3 = splat v2
  v4 = const.i32 0x200000
  v5 = splat v4
  v6 = const.i32 0
  v7 = splat v6
  store.local.i32.x2 [v1], v3, v7 align 8
  store.local.i32.x2 [v1+8], v5, v7 align 8
  v8 = rf.read m[0]
  service.print v8 resume b1
}
"#;
    std::fs::write(folder.path("k.ir"), print).unwrap();
    for engine in ["interp", "jit"] {
        assert_ends(&folder.run(&["--engine", engine]), 2, &["time limit exceeded", "pc 0x8"]);
    }
}

#[test]
fn inspect_shows_code_objects() {
    let of = |name: &str| {
        let ran = warploom(&[
            "inspect",
            fixture(&format!("tests/fixtures/gfx9/{name}")).to_str().unwrap(),
        ]);
        assert_ends(&ran, 0, &[]);
        ran.out
    };
    let cases: &[(&str, &[&str])] = &[
        (
            "containers/variables.hsaco",
            &[
                "AMD gfx900 (GFX9)",
                "code object version 5, XNACK any",
                "kernel variables",
                "code       168 bytes at image+0x1c00, descriptor at 0xa00",
                "44 VGPRs (41 used)",
                "scratch    0 bytes and what calls need",
                "s[4:5] DispatchPtr, s[6:7] KernargSegmentPtr",
                "s15 ScratchWaveOffset",
                "1  offset 0x000, 8 bytes, global_buffer (global)",
                "hidden_group_size_x",
                "_ZL5firsti: 48 bytes at image+0x1b00",
                "zeros: 400 bytes in the image at image+0x3d80, zeros",
                "image+0x3d68: R_AMDGPU_RELATIVE64 image + 0x3d60",
            ],
        ),
        (
            "containers/variants.v5.hsaco",
            &["workgroup  exactly [64, 2, 1] lanes", "dynamic_shared_pointer (local): int*"],
        ),
        ("containers/printf.hsaco", &["printf", "item %d has"]),
        ("corpus/k09_scratch.hsaco", &["scratch    260 bytes", "LDS        4352 bytes"]),
        (
            "containers/host.o",
            &["ELF file of a host", "offload bundle 1", "--gfx906, 5", "kernel variables"],
        ),
        ("containers/variables.ccob", &["offload bundle 1 (compressed)", "kernel variables"]),
    ];
    for (name, parts) in cases {
        let shown = of(name);
        assert!(parts.iter().all(|part| shown.contains(part)), "{parts:?}: {shown}");
    }
}

#[test]
fn inspect_shows_what_is_there() {
    let of = |name: &str| {
        let ran = warploom(&["inspect", fixture(name).to_str().unwrap()]);
        assert_ends(&ran, 0, &[]);
        ran.out
    };
    let saxpy = of("tests/fixtures/maxwell/kernels/saxpy.sm_50.cubin");
    for part in [
        "sm_50",
        "kernel saxpy",
        "registers  7",
        "4 in 24 bytes at c[0x0][0x140]",
        "offset 0x008, 8 bytes, c[0x0][0x148]",
    ] {
        assert!(saxpy.contains(part), "{part}: {saxpy}");
    }
    let matmul = of("tests/fixtures/maxwell/kernels/matmul.sm_50.cubin");
    assert!(
        matmul.contains("shared     2112 bytes") && matmul.contains("barriers   1"),
        "{matmul}"
    );
    let linked = of("tests/fixtures/maxwell/containers/linked.sm_50.cubin");
    for part in [
        "vprintf: function, not defined here",
        "table: 40 bytes in constant bank 3",
        "counter: 4 bytes in device memory at .nv.global+0x0, zeros",
        ".text.linking+0xb0: R_CUDA_ABS32_20 external",
        "0000: 3f800000 40000000 40400000 00000000",
        "indirect   branch at 0x150 to unknown",
    ] {
        assert!(linked.contains(part), "{part}: {linked}");
    }
    let bounded = of("tests/fixtures/maxwell/containers/shared-linked.sm_50.cubin");
    assert!(bounded.contains("at most 96 lanes"), "{bounded}");
    let headers = of("tests/fixtures/maxwell/containers/headers.sm_50.cubin");
    assert!(
        headers.contains("exactly [8, 4, 2] lanes") && headers.contains("surface: surface"),
        "{headers}"
    );
}

#[test]
fn disasm_prints_code() {
    let saxpy = fixture("tests/fixtures/maxwell/kernels/saxpy.sm_50.cubin");
    let saxpy = saxpy.to_str().unwrap();
    let ran = warploom(&["disasm", saxpy]);
    assert_ends(&ran, 0, &[]);
    assert!(
        ran.out
            .contains(".text.saxpy:\n        /*0008*/                   MOV R1, c[0x0][0x20] ;\n"),
        "{}",
        ran.out
    );
    let ran = warploom(&["disasm", saxpy, "saxpy", "--hex"]);
    assert!(ran.out.contains("/* 0xe30000000000000f */"), "{}", ran.out);
    assert_ends(
        &warploom(&["disasm", saxpy, "sexpy"]),
        3,
        &["no function `sexpy` (did you mean `saxpy`?): the binary has saxpy"],
    );

    let object = fixture("examples/gfx9/mandelbrot/mandelbrot.gfx900.hsaco");
    let object = object.to_str().unwrap();
    for more in [&[][..], &["mandelbrot"]] {
        let ran = warploom(&[&["disasm", object], more].concat());
        assert_ends(&ran, 0, &[]);
        let (first, last) =
            ("mandelbrot:\n001900  s_load_dword s0, s[4:5], 0x34\n", "\n001a30  s_endpgm\n");
        assert!(ran.out.starts_with(first) && ran.out.ends_with(last), "{}", ran.out);
    }
    assert_ends(
        &warploom(&["disasm", object, "julia"]),
        3,
        &["no function `julia`: the binary has mandelbrot"],
    );

    let folder = tempfile::tempdir().unwrap();
    let words = folder.path().join("words.txt");
    std::fs::write(&words, "4c98078000870001\n0xe30000000000000f\nffffffffffffffff\n").unwrap();
    let ran = warploom(&["disasm", "--isa", "maxwell", "--hex-lines", words.to_str().unwrap()]);
    assert_eq!(ran.out, "MOV R1, c[0x0][0x20]\n@P0 EXIT\nillegal\n");
    std::fs::write(&words, "4c98078000870001\nxyz\n").unwrap();
    let ran = warploom(&["disasm", "--isa", "maxwell", "--hex-lines", words.to_str().unwrap()]);
    assert_ends(&ran, 3, &["words.txt, line 2", "`xyz`", "hex digits"]);
}

#[test]
fn dump_shows_stages() {
    let saxpy = fixture("tests/fixtures/maxwell/kernels/saxpy.sm_50.cubin");
    let dump =
        |stage: &str| warploom(&["dump", saxpy.to_str().unwrap(), "saxpy", "--stage", stage]);
    let blocks = dump("blocks");
    assert!(
        blocks.out.contains("b0: pc 0x8") && blocks.out.contains("0000e8  EXIT"),
        "{}",
        blocks.out
    );
    let ir = dump("ir");
    assert!(ir.out.starts_with("function \"saxpy\" lanes 32"), "{}", ir.out);
    let plan = dump("plan");
    assert!(plan.out.contains("steps 0 to 22: full warps, else quick code"), "{}", plan.out);
    let mandelbrot = fixture("examples/mandelbrot/mandelbrot.toml");
    let plan = warploom(&["dump", mandelbrot.to_str().unwrap(), "--stage", "plan"]);
    assert!(plan.out.contains(": loop in registers"), "{}", plan.out);
    let clif = dump("clif");
    assert_ends(&clif, 0, &[]);
    assert!(clif.out.contains("function"), "{}", clif.out);
    if cfg!(target_arch = "x86_64") {
        let host = dump("host");
        assert_ends(&host, 0, &[]);
        assert!(host.out.contains("ret"), "{}", host.out);
    }
    // Quick code has no groups.
    let quick = warploom(&[
        "dump",
        saxpy.to_str().unwrap(),
        "saxpy",
        "--stage",
        "clif",
        "--effort",
        "quick",
    ]);
    assert_ends(&quick, 0, &[]);
    assert!(quick.out.len() < clif.out.len() && quick.out.contains("function"), "{}", quick.out);
    let ran = warploom(&["dump", saxpy.to_str().unwrap(), "sexpy", "--stage", "ir"]);
    assert_ends(&ran, 3, &["no kernel `sexpy`"]);
}

#[test]
fn bench_measures_both_engines() {
    let bench = |folder: &Folder| {
        warploom(&["bench", folder.path("m.toml").to_str().unwrap(), "--seconds", "0"])
    };
    let ran = bench(&Folder::new(&saxpy(&[])));
    assert_ends(&ran, 0, &[]);
    for part in ["jit", "interp", "lane-instructions", "times as fast", "both engines agree"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let folder = Folder::new(&saxpy(&[("zeros = 400", "zeros = 400\nexpect = \"e.npy\"")]));
    write::array(&folder.path("e.npy"), &Array::flat(Dtype::F32, vec![0; 400])).unwrap();
    assert_ends(&bench(&folder), 1, &["buffer `y`", "of 100 elements differ"]);
}

#[test]
#[cfg(target_os = "linux")]
fn files_without_end_are_not_read() {
    let folder = Folder::new(&saxpy(&[("values = VALUES", "file = \"/dev/zero\"")]));
    assert_ends(
        &folder.run(&[]),
        3,
        &["/dev/zero: cannot be read: it is no regular file, and does not end"],
    );
}

#[test]
fn images_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = fixture("examples/mandelbrot/mandelbrot-odd.toml");
    let ran =
        warploom(&["run", manifest.to_str().unwrap(), "--out", folder.path().to_str().unwrap()]);
    assert_ends(&ran, 0, &[]);
    let png = std::fs::read(folder.path().join("out.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    assert_eq!(png[16..24], [0, 0, 0, 101, 0, 0, 0, 67]);
    assert!(folder.path().join("out.npy").exists());
}
