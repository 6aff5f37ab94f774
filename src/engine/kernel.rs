//! [`Kernel`]: the programs made of one function.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use warploom_analysis::{Firings, LaunchClass, Launched};
use warploom_ir::Function;

use crate::backend::Backend;
use crate::{CodeStore, JitError, Program, tuning};

/// The programs made of one function, one for each class of launches that was asked for.
pub struct Kernel {
    function: Arc<Function>,
    backend: Arc<dyn Backend>,
    cache: Option<Arc<dyn CodeStore>>,
    variants: Mutex<HashMap<(Launched, bool), Arc<Program>>>,
}

impl Kernel {
    pub fn new(function: Arc<Function>, backend: Arc<dyn Backend>) -> Kernel {
        Kernel { function, backend, cache: None, variants: Mutex::new(HashMap::new()) }
    }

    /// Returns this kernel with a cache for its code, if there is one.
    pub fn with_cache(self, cache: Option<Arc<dyn CodeStore>>) -> Kernel {
        Kernel { cache, ..self }
    }

    /// Returns the program for launches of this shape on this many worker threads.
    pub fn program(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        threads: usize,
    ) -> Result<Arc<Program>, JitError> {
        let launch = Launched::of(grid, block, self.function.lanes.into(), self.backend.chunk());
        let mut variants = self.variants.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut key = (launch, threads <= 1);
        if !variants.contains_key(&key) && variants.len() >= tuning::MAX_VARIANTS {
            key = (LaunchClass::Any.into(), false);
        }
        if let Some(program) = variants.get(&key) {
            return Ok(program.clone());
        }
        let (launch, one_worker) = key;
        tracing::debug!(kernel = %self.function.name, ?launch, one_worker, "new variant");
        let program = Program::new(&self.function, key.0, key.1, self.backend.clone())?;
        let program = Arc::new(match &self.cache {
            Some(cache) => program.with_cache(cache.clone())?,
            None => program,
        });
        variants.insert(key, program.clone());
        Ok(program)
    }

    /// Lists the regions of all programs that could not be compiled so far, with the reasons.
    pub fn uncompiled(&self) -> Vec<String> {
        let variants = self.variants.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        variants.values().flat_map(|program| program.uncompiled()).collect()
    }

    /// Returns how often each rule of analysis has rewritten something, in all programs.
    pub fn firings(&self) -> Firings {
        let variants = self.variants.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut firings = Firings::default();
        variants.values().for_each(|program| firings.add(program.firings()));
        firings
    }

    /// Returns the nanoseconds spent on translation so far.
    pub fn translate_ns(&self) -> u64 {
        let variants = self.variants.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        variants.values().map(|program| program.translate_ns()).sum()
    }

    /// Returns how many pieces of code the cache had.
    pub fn found_in_cache(&self) -> u64 {
        let variants = self.variants.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        variants.values().map(|program| program.found_in_cache()).sum()
    }
}
