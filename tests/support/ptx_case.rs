//! Launches PTX texts of tests.

use std::path::PathBuf;

use warploom::EngineKind;
use warploom_replay::{Launch, Session};

/// Returns the text of a module with these kernels.
pub fn module(body: &str) -> String {
    format!(".version 8.1\n.target sm_70\n.address_size 64\n{body}")
}

/// A launch, with its own folder.
pub struct Case {
    folder: tempfile::TempDir,
    head: String,
}

impl Case {
    /// Creates a launch of a module's only kernel.
    pub fn new(text: &str, block: [u32; 3]) -> Case {
        let head = format!(
            "kernel = {{ binary = \"k.ptx\" }}\nlaunch = {{ grid = [1, 1, 1], block = {block:?} }}\n"
        );
        let case = Case { folder: tempfile::tempdir().unwrap(), head };
        case.file("k.ptx", text.as_bytes());
        case
    }

    /// Creates a launch of a kernel of a binary file.
    #[allow(dead_code, reason = "most tests write PTX")]
    pub fn of_file(name: &str, content: &[u8], kernel: &str, block: [u32; 3]) -> Case {
        let head = format!(
            "kernel = {{ binary = \"{name}\", entry = \"{kernel}\" }}\nlaunch = {{ grid = [1, 1, 1], block = {block:?} }}\n"
        );
        let case = Case { folder: tempfile::tempdir().unwrap(), head };
        case.file(name, content);
        case
    }

    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn launch(&self, rest: &str) -> Result<Launch, String> {
        let path = self.file("m.toml", format!("{}{rest}", self.head).as_bytes());
        Launch::read(&path).map_err(|error| error.to_string())
    }

    /// Runs the launch on both engines, which must agree. Returns the value of `of` after it, or
    /// the error.
    pub fn try_run<T: PartialEq + std::fmt::Debug>(
        &self,
        rest: &str,
        of: impl Fn(&Session<'_>) -> T,
    ) -> Result<T, String> {
        let launch = self.launch(rest)?;
        let mut results = Vec::new();
        for engine in [EngineKind::Interp, EngineKind::Jit] {
            let session = Session::new(&launch).map_err(|error| error.to_string())?;
            let outcome = session
                .launch(&session.options(engine, 1), None)
                .map_err(|error| error.to_string())?;
            results.push(match outcome.fault {
                None => Ok(of(&session)),
                Some(fault) => Err(fault.to_string()),
            });
        }
        assert_eq!(results[0], results[1], "the engines agree");
        results.swap_remove(0)
    }

    pub fn run<T: PartialEq + std::fmt::Debug>(
        &self,
        rest: &str,
        of: impl Fn(&Session<'_>) -> T,
    ) -> T {
        self.try_run(rest, of).unwrap_or_else(|error| panic!("{error}\n{rest}"))
    }
}

/// A generator of reproducible numbers.
pub struct Random(u64);

#[allow(dead_code, reason = "not every test draws all kinds")]
impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 32) as u32 ^ (self.0 >> 40) as u32
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        self.word() % limit
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.word() as u8).collect()
    }
}
