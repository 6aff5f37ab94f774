//! Tests code for every kind of host: compiles it for all hosts, and runs it with features of this
//! host switched off.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use arbitrary::Unstructured;
use warploom::{Effort, EngineKind, LaunchOptions, Stage};
use warploom_analysis::LaunchClass;
use warploom_cranelift::{HOST_FEATURES, Target, dump};
use warploom_engine::Program;
use warploom_ir::parse;
use warploom_replay::{Launch, Session, compare};
use warploom_testing::ir::{Random, Source};
use warploom_testing::{Case, check, gfx9, maxwell};

const HOSTS: [&str; 6] = [
    "x86_64-unknown-linux-gnu",
    "x86_64-unknown-linux-gnu,x86-64-v2",
    "x86_64-unknown-linux-gnu,x86-64-v3",
    "x86_64-unknown-linux-gnu,x86-64-v4",
    "aarch64-unknown-linux-gnu",
    "riscv64gc-unknown-linux-gnu,+v",
];

fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let listed =
            std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        listed.map(|entry| entry.expect("a readable folder").path()).collect()
    };
    let folders = [root.clone(), root.join("gfx9")].into_iter().flat_map(|folder| entries(&folder));
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| entries(&folder));
    let found: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    assert!(found.len() >= 80, "{found:?}");
    found
}

#[test]
fn examples_compile_for_every_host() {
    let targets = HOSTS.map(|host| (host, Target::named(host).expect("a host")));
    // Launches of one kernel give equal code.
    let mut kernels = std::collections::BTreeSet::new();
    for path in examples() {
        let launch = Launch::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let session = Session::new(&launch).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let name = session.kernel().expect("a kernel").name().to_owned();
        if !kernels.insert((launch.binary_path.clone(), name)) {
            continue;
        }
        for (host, target) in &targets {
            let text = session.dump(Stage::Host(Effort::Likely), None, Some(target));
            let text = text.unwrap_or_else(|e| panic!("{} for {host}: {e}", path.display()));
            assert!(text.lines().count() > 10, "{} for {host}", path.display());
        }
    }
}

/// Compiles the functions of `tests/lower`, which have operations that no example has.
#[test]
fn every_class_of_operation_compiles_for_every_host() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lower");
    let listed =
        std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("a file").path());
    let functions: Vec<PathBuf> =
        listed.filter(|path| path.extension().is_some_and(|e| e == "ir")).collect();
    assert!(functions.len() >= 40, "{functions:?}");
    for path in functions {
        let text = std::fs::read_to_string(&path).expect("a function");
        let function = parse::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let program = Program::new(
            &Arc::new(function),
            LaunchClass::Line,
            true,
            warploom_cranelift::backend(),
        )
        .expect("a program");
        for host in HOSTS {
            let target = Target::named(host).expect("a host");
            dump::host(&program, Effort::Likely, &target)
                .unwrap_or_else(|e| panic!("{} for {host}: {e}", path.display()));
        }
    }
}

#[test]
fn hosts_that_cannot_be_served_are_errors() {
    for (host, expected) in [
        ("riscv64gc-unknown-linux-gnu", "riscv64 without vectors (extension V) is not supported"),
        ("s390x-unknown-linux-gnu", "`s390x-unknown-linux-gnu`: this build has no code generator"),
        ("nowhere", "`nowhere` is no triple"),
        ("x86_64-unknown-linux-gnu,+nope", "feature `+nope`"),
        ("aarch64-unknown-linux-gnu,-sse41", "feature `-sse41`"),
    ] {
        let error =
            Target::named(host).err().unwrap_or_else(|| panic!("{host} is served")).to_string();
        assert!(error.contains(expected), "{host}: {error}");
    }
}

/// Proves that results do not depend on the host's features. A process has one host, so children
/// run with fewer features.
#[test]
fn results_do_not_depend_on_features_of_the_host() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    for features in ["-fma", "-fma,-sse41", "-sse3"] {
        let child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "with_the_features_that_the_environment_says", "--ignored"])
            .env(HOST_FEATURES, features)
            .output()
            .expect("a child");
        let text = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && text.contains("1 passed"), "{features}:\n{text}");
    }
}

/// Checks that examples give expected results, that random kernels agree with the interpreter, and
/// that the code generator rejects no region.
#[test]
#[ignore = "for children of another test"]
fn with_the_features_that_the_environment_says() {
    for path in examples() {
        let launch = Launch::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let session = Session::new(&launch).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let options =
            LaunchOptions { effort: Effort::Likely, ..session.options(EngineKind::Jit, 1) };
        let outcome =
            session.launch(&options, None).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(outcome.uncompiled, Vec::<String>::new(), "{}", path.display());
        assert!(outcome.fault.is_none(), "{}", path.display());
        for (number, buffer) in launch.buffers.iter().enumerate() {
            let Some(expect) = &buffer.expect else { continue };
            let got = session.buffer(number).expect("the buffer");
            let comparison = compare(&got, &expect.array, expect.tolerance);
            assert_eq!(
                comparison.mismatches,
                0,
                "{}: buffer `{}`: {comparison}",
                path.display(),
                buffer.name
            );
        }
    }
    let kernel: [fn(&mut Unstructured<'_>) -> arbitrary::Result<Case>; 2] =
        [maxwell::kernel, gfx9::kernel];
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let bytes: Vec<u8> = (0..700).map(|_| random.below(256) as u8).collect();
        for kernel in kernel {
            let case = kernel(&mut Unstructured::new(&bytes)).expect("enough bytes");
            let ran =
                check(&case, "host").unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
            assert_eq!(ran.uncompiled, 0, "seed {seed}");
        }
    }
}

/// Returns a command that runs an example with names for a reader, with its temporary files in a
/// folder.
fn run_with_names(reader: &str, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
    command.env("WARPLOOM_CACHE", "off");
    command.args(["run", "examples/saxpy/saxpy.toml"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.env("WARPLOOM_JIT_NAMES", reader).env("TMPDIR", folder);
    command
}

#[test]
#[cfg(unix)]
fn the_map_for_perf_names_kernels() {
    let folder = tempfile::tempdir().expect("a folder");
    let status = run_with_names("perf", folder.path()).output().expect("a run").status;
    assert!(status.success());
    let mut maps = std::fs::read_dir(folder.path()).expect("the folder");
    let map = maps.find_map(|file| {
        let path = file.expect("a file").path();
        let name = path.file_name()?.to_str()?;
        (name.starts_with("perf-") && name.ends_with(".map"))
            .then(|| std::fs::read_to_string(&path).expect("the map"))
    });
    let map = map.expect("a map");
    let line = map
        .lines()
        .find(|line| line.contains(" saxpy.region0."))
        .unwrap_or_else(|| panic!("{map}"));
    let [start, bytes, _] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
    let [start, bytes] =
        [start, bytes].map(|hex| u64::from_str_radix(hex, 16).unwrap_or_else(|_| panic!("{line}")));
    assert!(start > 0 && bytes > 100, "{line}");
}

#[test]
#[cfg(target_os = "linux")]
fn gdb_shows_frames_of_compiled_code() {
    if Command::new("gdb").arg("--version").output().is_err() {
        eprintln!("gdb is not installed");
        return;
    }
    // The first access of a page calls a helper.
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script.gdb");
    let helpers = include_str!("../src/engine/helpers.rs");
    let calls =
        helpers.lines().zip(1..).filter(|(line, _)| line.contains("context.helper_calls += 1;"));
    let breaks: String = calls.map(|(_, number)| format!("break helpers.rs:{number}\n")).collect();
    std::fs::write(&script, format!("set pagination off\n{breaks}run\nbacktrace 4\nkill\n"))
        .expect("a script");
    let run = run_with_names("gdb", folder.path());
    let output = Command::new("gdb")
        .args(["-batch", "-nx", "-x"])
        .arg(&script)
        .arg("--args")
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("WARPLOOM_JIT_NAMES", "gdb")
        .output()
        .expect("gdb");
    let text = String::from_utf8_lossy(&output.stdout);
    if !text.contains("Breakpoint 1") || text.contains("ptrace") {
        eprintln!("gdb cannot run programs here: {text}");
        return;
    }
    assert!(
        text.contains("warploom_access_trampoline") && text.contains("saxpy.region0"),
        "{text}"
    );
}
