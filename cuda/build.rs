//! Names the library as programs look for it.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    // Programs close and open it again while threads of it run.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Cargo calls the file `libcuda.so`; most programs ask for `libcuda.so.1`. Where that cannot be made, a user can.
    if let Some(folder) = std::env::var_os("OUT_DIR")
        .map(PathBuf::from)
        .as_deref()
        .and_then(|out| out.ancestors().nth(3))
    {
        let _ = link(folder);
    }
}

fn link(folder: &Path) -> std::io::Result<()> {
    let path = folder.join("libcuda.so.1");
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("libcuda.so", path)?;
    Ok(())
}
