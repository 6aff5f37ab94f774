//! A launch of a manifest, which can run repeatedly.

use std::path::Path;
use std::sync::Arc;

use warploom::{Checks, EngineKind, LaunchOptions, LaunchOutcome};
use warploom_engine::Backend;
use warploom_replay::{Launch, Session, compare};
use warploom_runtime::launch::Counts;

/// A launch in guest memory.
pub struct Ready {
    launch: &'static Launch,
    session: Session<'static>,
}

impl Ready {
    /// Reads a launch and keeps it for the rest of the process.
    pub fn read(manifest: &Path) -> Ready {
        Ready::read_for(manifest, warploom_cranelift::backend())
    }

    /// Reads a launch whose native code the given back end makes.
    pub fn read_for(manifest: &Path, backend: Arc<dyn Backend>) -> Ready {
        let launch = Launch::read(manifest).unwrap_or_else(|e| panic!("{e}"));
        Ready::new(launch, backend)
    }

    /// Keeps a launch for the rest of the process.
    fn new(launch: Launch, backend: Arc<dyn Backend>) -> Ready {
        let launch: &'static Launch = Box::leak(Box::new(launch));
        let mut session =
            Session::new(launch).unwrap_or_else(|e| panic!("{}: {e}", launch.path.display()));
        session.set_backend(backend);
        Ready { launch, session }
    }

    /// Returns the launch with each buffer at the end of a page.
    #[allow(dead_code, reason = "some benchmarks use it")]
    pub fn guarded(&self) -> Ready {
        let launch = Launch { guard: true, ..self.launch.clone() };
        Ready::new(launch, warploom_cranelift::backend())
    }

    pub fn options(&self, engine: EngineKind, threads: usize) -> LaunchOptions {
        self.session.options(engine, threads)
    }

    /// Returns the bytes of the kernel's function.
    pub fn code_bytes(&self) -> u64 {
        self.session.kernel().expect("the kernel that was launched").function().size
    }

    /// Runs the launch once. Panics on a fault.
    pub fn launch(&self, options: &LaunchOptions) -> LaunchOutcome {
        let outcome =
            self.session.launch(options, None).unwrap_or_else(|e| panic!("{}: {e}", self.name()));
        if let Some(fault) = &outcome.fault {
            panic!("{}: {fault}", self.name());
        }
        outcome
    }

    /// Runs the launch once with checks. Panics on a fault.
    #[allow(dead_code, reason = "some benchmarks use it")]
    pub fn checked(&self, options: &LaunchOptions, checks: Checks) -> LaunchOutcome {
        let checked = self.session.checked(options, checks);
        let checked = checked.unwrap_or_else(|e| panic!("{}: {e}", self.name()));
        if let Some(fault) = &checked.outcome.fault {
            panic!("{}: {fault}", self.name());
        }
        checked.outcome
    }

    /// Runs the launch once in the JIT and counts the host instructions.
    pub fn host_instructions(&self) -> (u64, Counts) {
        let counted = self.session.host_instructions(&self.options(EngineKind::Jit, 1));
        counted.unwrap_or_else(|e| panic!("{}: {e}", self.name()))
    }

    /// Restores the state before the first launch.
    pub fn reset(&self) {
        self.session.reset().expect("memory that was there before");
    }

    /// Panics if the results of one launch differ from the expected results.
    pub fn check(&self) {
        let buffers = self.launch.buffers.iter().enumerate();
        let buffers =
            buffers.map(|(i, buffer)| (&buffer.name, &buffer.expect, self.session.buffer(i)));
        let surfaces = self.launch.surfaces.iter().enumerate();
        let surfaces =
            surfaces.map(|(i, surface)| (&surface.name, &surface.expect, self.session.surface(i)));
        for (name, expect, found) in buffers.chain(surfaces) {
            let Some(expect) = expect else { continue };
            let comparison = compare(&found.expect("the result"), &expect.array, expect.tolerance);
            assert!(comparison.mismatches == 0, "{}, {name}: {comparison}", self.name());
        }
    }

    fn name(&self) -> std::path::Display<'_> {
        self.launch.path.display()
    }
}
