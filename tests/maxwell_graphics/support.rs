//! A program as text with the arrays of its lanes, run on both engines, each with one and two
//! threads.

use std::fmt::Write;
use std::path::Path;

use warploom::{EngineKind, Error};
use warploom_replay::{Launch, Session};

/// Returns numbers in the form of a manifest.
pub fn list(words: &[u32]) -> String {
    format!("{words:?}")
}

pub fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| float.to_bits()).collect()
}

/// A program's text and the manifest that runs it.
pub struct Case {
    pub program: String,
    pub manifest: String,
}

/// The results of a launch, which are equal on every engine.
#[derive(Debug, PartialEq)]
pub struct After {
    /// For each `[export.NAME]`, in the order of the names: the words of each lane.
    pub exported: Vec<Vec<Vec<u32>>>,
    pub kept: Vec<bool>,
    pub buffers: Vec<Vec<u32>>,
    pub surfaces: Vec<Vec<u32>>,
    /// The kind and place of the fault that ended the launch.
    pub fault: Option<String>,
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
}

impl Case {
    /// Returns a case with a fragment program; `directives` and `code` are lines of assembly.
    pub fn fragment(directives: &str, code: &str, covered: &[u32]) -> Case {
        let mut case = Case::of("fragment", directives, code);
        let _ = writeln!(case.manifest, "[pixels]\ncovered = {}", list(covered));
        case
    }

    pub fn vertex(directives: &str, code: &str, count: usize) -> Case {
        let mut case = Case::of("vertex", directives, code);
        let _ = writeln!(case.manifest, "[vertices]\ncount = {count}");
        case
    }

    /// Returns a case without lanes.
    pub fn of(stage: &str, directives: &str, code: &str) -> Case {
        let program = format!(".target sm_53\n.stage {stage}\n{directives}\n{code}\nEXIT\n");
        let manifest = format!(
            "[kernel]\nbinary = \"program.sass\"\nformat = \"maxwell-sph\"\nstage = \"{stage}\"\ntexture_bank = 2\n"
        );
        Case { program, manifest }
    }

    /// Adds lines to the manifest: keys of its last table, then other tables.
    pub fn with(mut self, lines: &str) -> Case {
        self.manifest.push_str(lines);
        self.manifest.push('\n');
        self
    }

    pub fn launch(&self, files: &[(&str, &[u8])]) -> Result<Launch, warploom_replay::Error> {
        let folder = tempfile::tempdir().expect("a folder");
        let own = [("program.sass", self.program.as_bytes()), ("m.toml", self.manifest.as_bytes())];
        for (name, content) in own.iter().chain(files) {
            std::fs::write(folder.path().join(name), content).expect("a file");
        }
        Launch::read(&folder.path().join("m.toml"))
    }

    pub fn run(&self) -> After {
        self.run_with(&[])
    }

    /// Runs the case beside files that the manifest names.
    pub fn run_with(&self, files: &[(&str, &[u8])]) -> After {
        let launch =
            self.launch(files).unwrap_or_else(|error| panic!("{error}\n{}", self.manifest));
        run(&launch).unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.manifest, self.program))
    }

    /// Returns the reason why the case does not run.
    pub fn problem(&self) -> String {
        self.problem_with(&[])
    }

    /// Returns the reason why the case does not run beside files that the manifest names.
    pub fn problem_with(&self, files: &[(&str, &[u8])]) -> String {
        match self.launch(files) {
            Err(error) => error.to_string(),
            Ok(launch) => run(&launch).expect_err("it should not run").to_string(),
        }
    }

    /// Returns the words of the lanes of the only export.
    pub fn words(&self) -> Vec<Vec<u32>> {
        let after = self.run();
        assert_eq!(after.fault, None, "{}", self.program);
        assert_eq!(after.exported.len(), 1);
        after.exported.into_iter().next().expect("one")
    }
}

/// Runs a launch on both engines, with one thread and with two, and checks that all results agree.
pub fn run(launch: &Launch) -> Result<After, Error> {
    let mut first: Option<After> = None;
    for engine in [EngineKind::Interp, EngineKind::Jit] {
        for threads in [1, 2] {
            let session = Session::new(launch)?;
            let mut options = session.options(engine, threads);
            options.instruction_limit = Some(1 << 20);
            let outcome = session.launch(&options, None)?;
            assert_eq!(outcome.uncompiled, Vec::<String>::new());
            let exported = session.exported()?.expect("exports");
            let buffers = (0..launch.buffers.len())
                .map(|i| Ok(words(&session.buffer(i)?)))
                .collect::<Result<_, Error>>()?;
            let surfaces = (0..launch.surfaces.len())
                .map(|i| Ok(words(&session.surface(i)?)))
                .collect::<Result<_, Error>>()?;
            let fault = outcome.fault.map(|fault| fault.to_string());
            let after =
                After { exported: exported.targets, kept: exported.kept, buffers, surfaces, fault };
            match &first {
                None => first = Some(after),
                Some(first) => assert_eq!(*first, after, "{engine} on {threads} threads"),
            }
        }
    }
    Ok(first.expect("an engine"))
}

pub fn fixture(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/graphics/maxwell").join(path)
}

/// A generator of numbers that look random; its floats are from -2 to 2.
pub struct Draw(pub u32);

impl Draw {
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 >> 8
    }

    pub fn float(&mut self) -> f32 {
        self.next() as f32 / (1 << 22) as f32 - 2.0
    }

    pub fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.float()).collect()
    }
}
