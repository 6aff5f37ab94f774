//! Shared by the instruction tests: running a few Maxwell instructions from a given state on every engine.

pub mod probe;
pub mod state;

use std::sync::Arc;

use warploom::interp::Interpreter;
use warploom::ir::Function;
use warploom_runtime::launch::Engine;

/// Every engine that can run the function, by name.
pub fn engines(function: &Arc<Function>) -> Vec<(&'static str, Box<dyn Engine>)> {
    let interpreter =
        Interpreter::new(Arc::clone(function)).unwrap_or_else(|error| panic!("interp: {error}\n{function}"));
    vec![("interp", Box::new(interpreter))]
}
