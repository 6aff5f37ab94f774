//! Where variables and functions are, for one kernel.

use crate::isa::ptx::module::{FunctionId, VariableId};

/// Addresses of variables, each in its own space, and of functions.
#[derive(Clone, Debug, Default)]
pub struct Places {
    variables: Vec<u64>,
    functions: Vec<u64>,
}

impl Places {
    /// All at 0.
    pub fn new(variables: usize, functions: usize) -> Places {
        Places { variables: vec![0; variables], functions: vec![0; functions] }
    }

    pub fn variable(&self, id: VariableId) -> u64 {
        self.variables[id.0 as usize]
    }

    pub fn set_variable(&mut self, id: VariableId, address: u64) {
        self.variables[id.0 as usize] = address;
    }

    /// An opaque value that is not 0.
    pub fn function(&self, id: FunctionId) -> u64 {
        self.functions[id.0 as usize]
    }

    pub fn set_function(&mut self, id: FunctionId, address: u64) {
        self.functions[id.0 as usize] = address;
    }
}
