//! Runs a random program under test. If the program fails, it is reduced and written down for the
//! user.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Once;

use rustc_hash::FxHasher;
use warploom_replay::{Manifest, write};

/// The reason why a program fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The program cannot run: the generator's mistake.
    #[error("it cannot be run: {0}")]
    Invalid(String),
    #[error("{0}")]
    Difference(String),
    #[error("it panics: {0}")]
    Panic(String),
}

impl Failure {
    pub(super) fn invalid(error: impl std::fmt::Display) -> Failure {
        Failure::Invalid(error.to_string())
    }
}

/// A subject of a test, which runs on all engines.
pub trait Subject: Sized {
    /// The outcome if the engines agree.
    type Outcome;

    fn run(&self) -> Result<Self::Outcome, Failure>;

    /// Returns a smaller subject that still fails.
    fn reduced(&self, fails: &dyn Fn(&Self) -> bool) -> Self;

    /// Returns a launch as files that `warploom run` takes, or none if files cannot describe it.
    fn reproducer(&self) -> Option<Reproducer>;
}

/// A launch as files.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproducer {
    /// The manifest, whose `kernel.binary` is not set.
    pub manifest: Manifest,
    /// Assembly or IR, in place of a binary.
    pub text: String,
    /// The `.ze_info` of vISA.
    pub ze_info: Option<String>,
}

/// The environment variable that names the folder for reproducers.
pub const REPRODUCERS: &str = "WARPLOOM_REPRODUCERS";

/// Runs a subject. If the subject fails and the environment names a folder for reproducers, a
/// smaller subject that fails in the same way is written there.
///
/// # Errors
/// The failure in words, with the reproducer's path.
pub fn check<S: Subject>(subject: &S, name: &str) -> Result<S::Outcome, String> {
    let failure = match caught(|| subject.run()) {
        Ok(outcome) => return Ok(outcome),
        Err(failure) => failure,
    };
    let Some(folder) = std::env::var_os(REPRODUCERS) else { return Err(failure.to_string()) };
    let fails =
        |subject: &S| caught(|| subject.run()).is_err_and(|found| is_alike(&found, &failure));
    let written = match subject.reduced(&fails).reproducer() {
        Some(reproducer) => match reproducer.write(Path::new(&folder), name) {
            Ok(path) => path.display().to_string(),
            Err(error) => error.to_string(),
        },
        None => "it has no reproducer".into(),
    };
    Err(format!("{failure}\n{written}"))
}

/// Tells whether failures are of the same kind. The first difference may be another one in another
/// program.
fn is_alike(found: &Failure, expected: &Failure) -> bool {
    std::mem::discriminant(found) == std::mem::discriminant(expected)
}

thread_local! {
    /// Whether panics of this thread are caught.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs a test and turns a panic into a failure. The process's panic hook does not see the panic: a
/// fuzzer's hook ends the process.
fn caught<T>(test: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                usual(panic);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(test));
    QUIET.set(false);
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        Err(Failure::Panic(text.unwrap_or_default()))
    })
}

impl Reproducer {
    /// Writes the manifest and the text into a folder, under a name with a hash of the text.
    /// Returns the manifest's path.
    pub fn write(mut self, folder: &Path, name: &str) -> Result<PathBuf, warploom_replay::Error> {
        std::fs::create_dir_all(folder)
            .map_err(|e| warploom_replay::Error::io(folder, "made a folder", e))?;
        let mut hasher = FxHasher::default();
        self.text.hash(&mut hasher);
        let path = folder.join(format!("{name}-{:08x}.toml", hasher.finish() as u32));
        let text = path.with_extension("s");
        write::file(&text, |into| into.write_all(self.text.as_bytes()))?;
        if let Some(ze_info) = &self.ze_info {
            let path = path.with_extension("zeinfo");
            write::file(&path, |into| into.write_all(ze_info.as_bytes()))?;
            self.manifest.kernel.ze_info = path.file_name().map(Into::into);
        }
        self.manifest.kernel.binary = text.file_name().unwrap_or_default().into();
        write::manifest(&path, &self.manifest)?;
        Ok(path)
    }
}
