//! Tells the command the commit that it is built from, if it is built from a repository.

use std::path::Path;
use std::process::Command;

/// Git adds a line to this file for each new commit.
const LOG: &str = ".git/logs/HEAD";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if !Path::new(LOG).is_file() {
        return;
    }
    println!("cargo::rerun-if-changed={LOG}");
    let described = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    if let Ok(output) = described.as_ref()
        && output.status.success()
        && let Ok(commit) = std::str::from_utf8(&output.stdout)
    {
        println!("cargo::rustc-env=WARPLOOM_COMMIT={}", commit.trim());
    }
}
