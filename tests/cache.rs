//! Compiled code on disk: a restarted command runs it, and gives equal results.

#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use warploom_analysis::LaunchClass;
use warploom_cache::Reader;
use warploom_engine::Program;
use warploom_ir::parse::parse;

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn command(cache: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
    command
        .env("WARPLOOM_CACHE", cache)
        .env_remove("WARPLOOM_CACHE_SIZE")
        .env_remove("WARPLOOM_ENGINE");
    command
}

#[track_caller]
fn succeeds(output: Output) -> [String; 2] {
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    [out, err]
}

/// Runs a launch and checks the manifest's expectations. Returns the number of pieces of code that
/// the cache had, and the text on standard error.
#[track_caller]
fn run(manifest: &Path, cache: &Path, arguments: &[&str]) -> (u64, String) {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let mut command = command(cache);
    command.arg("run").arg(manifest).args(["--quiet", "--report"]).arg(&report).args(arguments);
    let [_, err] = succeeds(command.output().unwrap());
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    (report["found_in_cache"].as_u64().unwrap(), err)
}

fn entries(cache: &Path) -> Vec<PathBuf> {
    fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Adds the manifests below a folder to `into`.
fn manifests(folder: &Path, into: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        if path.is_dir() {
            manifests(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "toml")
            && path.with_extension("npy") != path
        {
            into.push(path);
        }
    }
}

#[test]
fn all_examples_run_from_kept_code_as_they_should() {
    let cache = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    manifests(&project("examples"), &mut all);
    assert!(all.len() > 40, "{} manifests", all.len());
    let mut found = 0;
    for manifest in &all {
        run(manifest, cache.path(), &[]);
        let (pieces, err) = run(manifest, cache.path(), &[]);
        assert!(
            pieces > 0 && err.is_empty(),
            "{}: {pieces} pieces of code: {err}",
            manifest.display()
        );
        found += pieces;
    }
    assert!(found as usize > all.len());
}

#[test]
fn each_effort_is_kept() {
    let cache = tempfile::tempdir().unwrap();
    let manifest = project("examples/nbody/nbody.toml");
    for effort in ["quick", "likely", "full"] {
        run(&manifest, cache.path(), &["--effort", effort]);
        assert!(run(&manifest, cache.path(), &["--effort", effort]).0 > 0, "{effort}");
    }
}

#[test]
fn damaged_entries_are_made_anew_with_a_message() {
    let cache = tempfile::tempdir().unwrap();
    let manifest = project("examples/saxpy/saxpy.toml");
    run(&manifest, cache.path(), &[]);
    for entry in entries(cache.path()) {
        let bytes = fs::read(&entry).unwrap();
        fs::write(&entry, &bytes[..bytes.len() / 2]).unwrap();
    }
    let (found, err) = run(&manifest, cache.path(), &[]);
    assert!(
        found == 0 && err.contains("kept code is ignored") && err.contains("it is damaged"),
        "{found}: {err}"
    );
    assert!(run(&manifest, cache.path(), &[]).0 > 0);
}

#[test]
fn only_the_users_own_files_are_taken() {
    let cache = tempfile::tempdir().unwrap();
    let manifest = project("examples/saxpy/saxpy.toml");
    run(&manifest, cache.path(), &[]);
    for entry in entries(cache.path()) {
        fs::set_permissions(entry, Permissions::from_mode(0o666)).unwrap();
    }
    let (found, err) = run(&manifest, cache.path(), &[]);
    assert!(found == 0 && err.contains("other users may write it"), "{found}: {err}");
    fs::set_permissions(cache.path(), Permissions::from_mode(0o777)).unwrap();
    let (found, err) = run(&manifest, cache.path(), &[]);
    assert!(
        found == 0 && err.contains("no code is kept") && err.contains("other users may write it"),
        "{found}: {err}"
    );
}

#[test]
fn code_is_kept_for_each_host() {
    let cache = tempfile::tempdir().unwrap();
    let manifest = project("examples/saxpy/saxpy.toml");
    run(&manifest, cache.path(), &[]);
    let mut other = command(cache.path());
    other.env("WARPLOOM_HOST_FEATURES", if cfg!(target_arch = "x86_64") { "-sse41" } else { "" });
    let [_, err] = succeeds(other.arg("run").arg(&manifest).output().unwrap());
    assert_eq!(err.contains("from the cache"), !cfg!(target_arch = "x86_64"), "{err}");
}

#[test]
fn processes_share_a_folder() {
    let cache = tempfile::tempdir().unwrap();
    let manifest = project("examples/reduce/reduce.toml");
    let start = |_| {
        command(cache.path()).arg("run").arg(&manifest).stdout(std::process::Stdio::piped()).spawn()
    };
    let processes: Vec<_> = (0..4).map(start).collect::<Result<_, _>>().unwrap();
    processes.into_iter().for_each(|process| drop(succeeds(process.wait_with_output().unwrap())));
    let (found, err) = run(&manifest, cache.path(), &[]);
    assert!(found > 0 && err.is_empty(), "{found}: {err}");
}

#[test]
fn a_command_shows_the_cache_and_empties_it() {
    let cache = tempfile::tempdir().unwrap();
    run(&project("examples/saxpy/saxpy.toml"), cache.path(), &[]);
    let cached = |action| {
        succeeds(command(cache.path()).args(["cache", action]).output().unwrap())[0].clone()
    };
    let info = cached("info");
    assert!(
        info.contains(&*cache.path().to_string_lossy()) && info.contains("of at most 1,024 MiB"),
        "{info}"
    );
    assert!(!info.contains(": 0 pieces"), "{info}");
    assert!(cached("clear").contains("removed"));
    assert!(cached("info").contains(": 0 pieces of code, 0.0 MiB"));
    assert!(entries(cache.path()).is_empty());
}

#[test]
fn settings_that_cannot_be_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "no folder").unwrap();
    let manifest = project("examples/saxpy/saxpy.toml");
    let (found, err) = run(&manifest, &file, &[]);
    assert!(found == 0 && err.contains("no code is kept") && err.contains("file"), "{err}");
    let mut sized = command(folder.path());
    let [_, err] = succeeds(
        sized.env("WARPLOOM_CACHE_SIZE", "much").arg("run").arg(&manifest).output().unwrap(),
    );
    assert!(err.contains("WARPLOOM_CACHE_SIZE=much: expected a number of MiB"), "{err}");
    let off = Path::new("off");
    run(&manifest, off, &[]);
    assert_eq!(run(&manifest, off, &[]).0, 0);
    let [out, _] = succeeds(command(off).args(["cache", "info"]).output().unwrap());
    assert_eq!(out, "no compiled code is kept\n");
}

/// The number of bytes before a file's payload: the start that all files share, and a digest.
const HEADER: usize = 16 + 32;

const STORE: &str = "function \"store\" lanes 32 nan 0x7fff 0x7fffffff 0x7ff8000000000000 {
    bank p: mask x 1
    active p[0]
    b0 pc 0 cost 1:
      v0 = lane.id
      v1 = zext.i64 v0
      store.global.i32 [v1], v0 align 1
      exit
}";

fn program() -> Program {
    Program::new(&parse(STORE).unwrap(), LaunchClass::Any, true, warploom_cranelift::backend())
        .unwrap()
}

#[test]
fn a_file_is_taken_whole_or_not_at_all() {
    let program = program();
    let reader = Reader::new(&program).unwrap();
    let file = reader.file().unwrap();
    assert!(reader.takes(&file) && reader.takes(&reader.sealed(Reader::payload(&file))));
    for length in [0, 1, 16, HEADER, file.len() - 1] {
        assert!(!reader.takes(&file[..length]), "{length} bytes");
    }
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 1;
        assert!(!reader.takes(&changed), "byte {at}");
    }
    let longer = [Reader::payload(&file), &[0]].concat();
    assert!(!reader.takes(&reader.sealed(&longer)));
}

/// Proves that changed or truncated payloads do no harm, whether they are taken or not.
#[test]
fn any_payload_is_taken_or_not() {
    const LARGEST: [&[u8]; 3] = [
        &[0xff],
        &[0xff, 0xff, 0xff, 0xff, 0x0f],
        &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
    ];
    let program = program();
    let reader = Reader::new(&program).unwrap();
    let file = reader.file().unwrap();
    let payload = Reader::payload(&file);
    for at in 0..payload.len() {
        reader.takes(&reader.sealed(&payload[..at]));
        for number in LARGEST {
            let changed = [&payload[..at], number, &payload[at + 1..]].concat();
            reader.takes(&reader.sealed(&changed));
        }
    }
}

#[test]
fn code_of_another_function_is_not_taken() {
    let without = "function \"store\" lanes 32 nan 0x7fff 0x7fffffff 0x7ff8000000000000 {
        bank p: mask x 1
        active p[0]
        b0 pc 0 cost 1:
          exit
    }";
    let (with, without) = (
        program(),
        Program::new(
            &parse(without).unwrap(),
            LaunchClass::Any,
            true,
            warploom_cranelift::backend(),
        )
        .unwrap(),
    );
    let (with, without) = (Reader::new(&with).unwrap(), Reader::new(&without).unwrap());
    let file = with.file().unwrap();
    assert!(!without.takes(&file));
    // A right checksum does not help: the program without a store rejects the payload.
    assert!(!without.takes(&without.sealed(Reader::payload(&file))));
}

#[test]
fn programs_have_identities_of_their_own() {
    let function = parse(STORE).unwrap();
    let of = |class: LaunchClass, one_worker| {
        Program::new(&function, class, one_worker, warploom_cranelift::backend())
            .unwrap()
            .identity()
            .unwrap()
    };
    let any = of(LaunchClass::Any, true);
    assert_eq!(any, of(LaunchClass::Any, true));
    assert_ne!(any, of(LaunchClass::Line, true));
    assert_ne!(any, of(LaunchClass::Any, false));
}
