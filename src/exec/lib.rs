//! warploom runs captured GPU binaries on a CPU: it translates their kernels to native code, and
//! launches them.
//!
//! A [`Program`] is a binary in guest memory, and a [`Kernel`] is one of its entry points.
//! [`Kernel::launch`] runs a launch, and a [`Fault`] is the place where a launch went wrong.
//!
//! ```no_run
//! use warploom::{Arg, LaunchOptions, Program};
//!
//! let program = Program::load(&std::fs::read("saxpy.cubin")?, Some("saxpy"))?;
//! let (x, y) = (program.memory().alloc(4096, 1)?, program.memory().alloc(4096, 1)?);
//! program.memory().write(x, &1.0_f32.to_le_bytes())?;
//! let kernel = program.kernel("saxpy")?;
//! let args = [Arg::from(1024), Arg::from(2.0_f32), Arg::pointer(x), Arg::pointer(y)];
//! let outcome = kernel.launch(&args, &LaunchOptions::new([4, 1, 1], [256, 1, 1]))?;
//! if let Some(fault) = &outcome.fault {
//!     eprintln!("{fault}"); // pc, instruction, block, warp, lane, address
//! }
//! let mut results = vec![0; 4096];
//! program.memory().read(y, &mut results)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `program` has a module in memory. `launch` checks and runs a launch. `guest` has the
//! differences between instruction sets. `images` describes images and samplers. `services` has
//! the driver's services for running code, with `printf`. `translate` makes engines and keeps
//! them. `fault` writes faults as text. `check` finds mistakes of kernels.
//! `profile` counts instructions (`variant` is a copy of a kernel that does more), and `coverage` lists instructions that are not executed.

#![cfg_attr(
    not(all(feature = "maxwell", feature = "gfx9", feature = "ptx", feature = "visa")),
    allow(
        dead_code,
        unused_imports,
        reason = "some of what guests share is used by those alone that are left out"
    )
)]

mod check;
mod coverage;
mod error;
mod fault;
mod guest;
pub mod images;
mod launch;
mod printf;
mod profile;
mod program;
#[doc(hidden)]
pub mod services;
mod translate;
mod variant;

use std::sync::Arc;

pub use check::{
    Action, Allocation, Allocations, CheckedLaunch, Checks, CodePlace, Finding, MemoryKind,
    Mistake, Who, Written,
};
pub use coverage::{Count, Coverage, Stop};
pub use error::Error;
pub use fault::Fault;
pub use guest::SourcePlace;
pub use images::{Image, ImageDescription, Sampling, Texture};
pub use launch::{Arg, BlockStart, ImagePool, LaunchOptions, LaunchOutcome};
pub use profile::{Counted, CountedLaunch, Executed, FidelityClass};
pub use program::{Kernel, Program, Variable, read_module};
pub use services::Printed;
pub use translate::Stage;
use warploom_engine::Backend;
pub use warploom_engine::{Effort, INTERPRETED};
pub use warploom_ir::special::Reciprocals;
pub use warploom_runtime::fault::FaultKind;
pub use warploom_runtime::memory::Memory;

/// Returns the content of a mutex, even if a thread panicked with it: no change in this crate is
/// left half done.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The environment variable that makes the back end for AVX-512 compile hot code, if it is `on`.
#[cfg(all(feature = "vector", target_arch = "x86_64"))]
pub const VECTOR: &str = "WARPLOOM_VECTOR";

/// Returns the default back end, which makes native code.
fn backend() -> Arc<dyn Backend> {
    #[cfg(all(feature = "vector", target_arch = "x86_64"))]
    if std::env::var_os(VECTOR).is_some_and(|value| value == "on") {
        return warploom_vector::backend();
    }
    warploom_cranelift::backend()
}

/// The engine that runs a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// Native code.
    #[default]
    Jit,
    /// The reference engine.
    Interp,
}

impl EngineKind {
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Jit => "jit",
            EngineKind::Interp => "interp",
        }
    }
}

impl std::fmt::Display for EngineKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
