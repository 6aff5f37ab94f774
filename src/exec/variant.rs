//! A copy of a kernel whose code does more than the kernel's: it counts, or tells an observer.

use std::sync::Arc;

use warploom_interp::Interpreter;
use warploom_ir::Function;
use warploom_runtime::launch::Engine;

use super::{EngineKind, Error, LaunchOptions};

/// A copy, for any number of launches.
pub(super) struct Variant {
    function: Arc<Function>,
    jit: warploom_engine::Kernel,
}

impl Variant {
    pub fn new(function: Function) -> Variant {
        let function = Arc::new(function);
        let jit = warploom_engine::Kernel::new(function.clone(), super::backend());
        Variant { function, jit }
    }

    /// Returns an engine for launches with these options.
    pub fn engine(&self, options: &LaunchOptions) -> Result<Arc<dyn Engine + Send>, Error> {
        if options.engine == EngineKind::Interp {
            return Ok(Arc::new(Interpreter::new(self.function.clone())?));
        }
        let (grid, block, threads) = (options.grid, options.block, options.engine_threads());
        let program = self.jit.program(grid, block, threads);
        Ok(program.map_err(|problem| Error::Stage {
            kernel: self.function.name.clone(),
            stage: "a copy".into(),
            problem: problem.to_string(),
        })?)
    }
}
