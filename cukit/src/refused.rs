//! Functions that programs link, and that return "not supported".

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The functions that were already named on standard error. Each is named once.
static TOLD: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

/// Names a function, and the name of the error that it returns, on standard error.
pub fn tell(name: &'static str, error: &str) {
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
        eprintln!("warploom: {name} is not provided ({error})");
    }
}

/// Defines functions that return "not supported", by the name of this error.
#[allow(clippy::crate_in_macro_def, reason = "each library has its own numbers of errors")]
#[macro_export]
macro_rules! refused {
    ($error:literal: $($name:ident)*) => { $(
        // SAFETY: as in `api`. The arguments stay in registers and on the caller's stack.
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> u32 {
            $crate::refused::tell(stringify!($name), $error);
            crate::code($crate::Status::NotSupported)
        }
    )* };
}
