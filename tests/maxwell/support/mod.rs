//! Running a few Maxwell instructions from a given state on every engine.

pub mod probe;
pub mod state;

use std::sync::Arc;

use warploom_engine::Effort;
use warploom_interp::Interpreter;
use warploom_ir::Function;
use warploom_runtime::launch::Engine;

/// Engines by name.
pub type Engines = Vec<(&'static str, Arc<dyn Engine>)>;

/// Returns every engine, by name, for a block of `lanes` lanes.
pub fn engines(function: &Arc<Function>, lanes: u32) -> Engines {
    let interpreter = Interpreter::new(Arc::clone(function))
        .unwrap_or_else(|error| panic!("interp: {error}\n{function}"));
    let mut engines: Engines = vec![("interp", Arc::new(interpreter))];
    for (name, effort) in [("jit, made quickly", Effort::Quick), ("jit", Effort::Full)] {
        let kernel =
            warploom_engine::Kernel::new(Arc::clone(function), warploom_cranelift::backend());
        let native = kernel
            .program([1; 3], [lanes, 1, 1], 1)
            .unwrap_or_else(|error| panic!("jit: {error}\n{function}"));
        native.compile_all(effort).unwrap_or_else(|error| panic!("{name}: {error}\n{function}"));
        engines.push((name, native));
    }
    engines
}
