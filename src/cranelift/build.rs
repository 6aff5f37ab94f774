//! Names the state of the engine's sources. Code kept on disk must not outlive a change of them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The files and folders that decide which code is made, and how code and the runtime meet.
const SOURCES: [&str; 9] = [
    "../../Cargo.toml",
    "../../Cargo.lock",
    "../../runtime/src",
    "../ir",
    "../analysis",
    "../interp",
    "../engine",
    "../vector",
    ".",
];

/// The variables of Cargo that a compiler is started with.
const SETTINGS: [&str; 5] =
    ["TARGET", "PROFILE", "OPT_LEVEL", "DEBUG", "CARGO_CFG_DEBUG_ASSERTIONS"];

fn main() -> io::Result<()> {
    let mut files = Vec::new();
    for source in SOURCES {
        if fs::exists(source)? {
            println!("cargo:rerun-if-changed={source}");
        }
        add(Path::new(source), &mut files)?;
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        (file.to_string_lossy(), fs::read(&file)?).hash(&mut hasher);
    }
    for setting in SETTINGS {
        env::var_os(setting).hash(&mut hasher);
    }
    let compiler =
        Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV").output()?;
    compiler.stdout.hash(&mut hasher);
    println!("cargo:rustc-env=WARPLOOM_BUILD={:016x}", hasher.finish());
    Ok(())
}

/// Adds a file, or all files of a folder. Missing files are left out: a published package has no
/// lock file of a workspace.
fn add(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        files.push(path.to_path_buf());
    } else if path.is_dir() {
        for entry in fs::read_dir(path)? {
            add(&entry?.path(), files)?;
        }
    }
    Ok(())
}
