//! Addresses of variables and functions, for one kernel.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::module::{FunctionId, VariableId};

/// Addresses of variables, each in its own space, and of functions.
#[derive(Clone, Debug, Default)]
pub struct VariableAddresses {
    /// Addresses that are the same wherever a function is called from.
    common: Arc<Common>,
    /// Addresses of local variables and parameters of one call.
    own: FxHashMap<VariableId, u64>,
    /// Whether `own` counts from the start of a frame, whose address differs between lanes.
    in_frame: bool,
}

#[derive(Clone, Debug, Default)]
struct Common {
    variables: FxHashMap<VariableId, u64>,
    functions: FxHashMap<FunctionId, u64>,
}

impl VariableAddresses {
    pub fn new(
        variables: FxHashMap<VariableId, u64>,
        functions: FxHashMap<FunctionId, u64>,
    ) -> VariableAddresses {
        VariableAddresses {
            common: Arc::new(Common { variables, functions }),
            own: FxHashMap::default(),
            in_frame: false,
        }
    }

    /// Returns these addresses with a call's own variables.
    pub fn with(&self, own: FxHashMap<VariableId, u64>, in_frame: bool) -> VariableAddresses {
        VariableAddresses { common: self.common.clone(), own, in_frame }
    }

    /// Whether the address of a variable counts from the start of the lane's frame.
    pub fn is_in_frame(&self, id: VariableId) -> bool {
        self.in_frame && self.own.contains_key(&id)
    }

    /// Returns the address of a variable, or 0 if it has none.
    pub fn variable(&self, id: VariableId) -> u64 {
        self.own.get(&id).or_else(|| self.common.variables.get(&id)).copied().unwrap_or(0)
    }

    /// Returns the address of a function: an opaque value that is not 0, or 0 if it is unknown.
    pub fn function(&self, id: FunctionId) -> u64 {
        self.common.functions.get(&id).copied().unwrap_or(0)
    }
}
