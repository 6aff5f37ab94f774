//! Functions that the runtime does not provide are named once, and counted for the summary.

mod support;

use support::{Runtime, call};

const NOT_SUPPORTED: i32 = 801;
/// The variable that is set for the process that makes the calls.
const CALLS: &str = "WARPLOOM_TEST_CALLS";

#[test]
fn refused_functions_are_named_once_and_counted() {
    if std::env::var_os(CALLS).is_some() {
        let r = Runtime::get();
        assert_eq!(call!(r, cudaImportExternalMemory(0 => u64, 0 => u64)), NOT_SUPPORTED);
        assert_eq!(call!(r, cudaImportExternalMemory(0 => u64, 0 => u64)), NOT_SUPPORTED);
        assert_eq!(
            call!(r, cudaStreamGetDevResource_ptsz(0 => u64, 0 => u64, 0 => i32)),
            NOT_SUPPORTED
        );
        assert_eq!(call!(r, cudaGetLastError()), NOT_SUPPORTED);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.arg("--nocapture").env(CALLS, "1").env("WARPLOOM_SUMMARY", folder.path());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    for name in ["cudaImportExternalMemory", "cudaStreamGetDevResource_ptsz"] {
        let line = format!("warploom: {name} is not provided (cudaErrorNotSupported)");
        assert_eq!(text.lines().filter(|found| *found == line).count(), 1, "{text}");
    }
    let summary = std::fs::read_dir(folder.path())
        .unwrap()
        .next()
        .expect("a summary is left")
        .unwrap()
        .path();
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(summary).unwrap()).unwrap();
    let counted =
        serde_json::json!({"cudaImportExternalMemory": 2, "cudaStreamGetDevResource_ptsz": 1});
    assert_eq!(summary["unsupported"], counted);
}
