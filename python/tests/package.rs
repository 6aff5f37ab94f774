//! Runs the tests of the Python package (`python/tests/test_*.py`) with the native module that Cargo
//! has built beside this test.
//!
//! Python packages come from the package registry, once. Without Python or the registry the test is
//! skipped, and says so, unless `WARPLOOM_PYTHON=required`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGES: [&str; 5] = ["numpy", "pytest", "dask", "distributed", "fsspec"];

/// The libraries that belong beside the command. Those that are not built are left out, as are their
/// tests.
const LIBRARIES: [&str; 13] = [
    "libcuda.so",
    "libcudart11.so",
    "libcudart12.so",
    "libcudart13.so",
    "libcublas12.so",
    "libcublas13.so",
    "libcudnn9.so",
    "libcublaslt12.so",
    "libcufft11.so",
    "libcufft12.so",
    "libnvjitlink12.so",
    "libnvjitlink13.so",
    "libnvidia_ml.so",
];

/// Returns the Python of an environment with the packages.
fn environment() -> Result<PathBuf, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let (python, done) = (folder.join("bin/python"), folder.join("installed"));
    let packages = PACKAGES.join(" ");
    if std::fs::read_to_string(&done).is_ok_and(|installed| installed == packages) {
        return Ok(python);
    }
    let run = |command: &mut Command| match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(format!("{command:?}: {error}")),
    };
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    run(Command::new(&python).args(["-m", "pip", "install", "-q"]).args(PACKAGES))?;
    std::fs::write(done, packages)?;
    Ok(python)
}

#[test]
fn python_tests_pass() -> Result<(), Box<dyn Error>> {
    let python = match environment() {
        Ok(python) => python,
        Err(error) if std::env::var_os("WARPLOOM_PYTHON").is_some_and(|v| v == "required") => {
            return Err(error);
        }
        Err(error) => {
            eprintln!("skipped, for want of Python with its packages: {error}");
            return Ok(());
        }
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let test = std::env::current_exe()?;
    // Cargo leaves libraries here, and commands one folder above.
    let built = test.parent().ok_or("the test is not in Cargo's folder")?;
    std::fs::copy(built.join("lib_native.so"), folder.join("warploom/_native.abi3.so"))?;
    let installed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed");
    let _ = std::fs::remove_dir_all(&installed);
    std::fs::create_dir(&installed)?;
    for name in LIBRARIES.iter().filter(|name| built.join(name).is_file()) {
        std::fs::hard_link(built.join(name), installed.join(name))?;
    }
    let command = built.with_file_name("warploom");
    if command.is_file() {
        std::fs::hard_link(command, installed.join("warploom"))?;
    }
    let status = Command::new(python)
        .args(["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=3"])
        .current_dir(folder)
        .env("PYTHONPATH", folder)
        .env("WARPLOOM_COMMAND", installed.join("warploom"))
        .status()?;
    assert!(status.success(), "tests of the Python package fail: see above");
    Ok(())
}
