//! A random program under test: run, and if it fails, made smaller and written down for the user.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Once;

use rustc_hash::FxHasher;
use warploom_replay::{Manifest, write};

/// Why a program is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It is no program: the generator's mistake.
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

/// Something that is run on all engines.
pub trait Subject: Sized {
    /// What it comes to if the engines agree.
    type Outcome;

    fn run(&self) -> Result<Self::Outcome, Failure>;

    /// A smaller one that still fails.
    fn reduced(&self, fails: &dyn Fn(&Self) -> bool) -> Self;

    /// A launch as files that `warploom run` takes. None: it is none.
    fn reproducer(&self) -> Option<Reproducer>;
}

/// A launch as files.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproducer {
    /// Its `kernel.binary` is not set.
    pub manifest: Manifest,
    /// Assembly or IR, in place of a binary.
    pub text: String,
    /// The `.ze_info` of vISA.
    pub ze_info: Option<String>,
}

/// The folder for reproducers.
pub const REPRODUCERS: &str = "WARPLOOM_REPRODUCERS";

/// Runs a subject. If it fails and the environment names a folder for reproducers, a smaller one that fails the same way is
/// written there.
///
/// # Errors
/// How it fails, in words, with the reproducer's path.
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

/// The same kind of failure: what differs first is another thing in another program.
fn is_alike(found: &Failure, expected: &Failure) -> bool {
    std::mem::discriminant(found) == std::mem::discriminant(expected)
}

thread_local! {
    /// Panics of this thread are caught.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What a test gives, a panic being a failure. The process's panic hook learns nothing of it: a fuzzer's ends the process.
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
    /// Writes the manifest and the text into a folder, under a name that is made from the text. The manifest's path.
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
