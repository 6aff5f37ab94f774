//! Names that programs link, and that answer that they are not supported.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::Status;

/// Each is said once on standard error.
static TOLD: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

fn refuse(name: &'static str) -> u32 {
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
        eprintln!("warploom: {name} is not provided (CUBLAS_STATUS_NOT_SUPPORTED)");
    }
    Status::NotSupported as u32
}

macro_rules! refused {
    ($($name:ident)*) => { $(
        // SAFETY: as in `api`. What it is called with stays in registers and on the caller's stack.
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> u32 {
            refuse(stringify!($name))
        }
    )* };
}

refused! {
    cublasCdotc_v2 cublasCdotu_v2 cublasZdotc_v2 cublasZdotu_v2
    cublasCgemm_v2 cublasZgemm_v2 cublasCgemmStridedBatched cublasZgemmStridedBatched cublasCgemv_v2 cublasZgemv_v2
    cublasSgelsBatched cublasDgelsBatched cublasCgelsBatched cublasZgelsBatched
    cublasSgeqrfBatched cublasDgeqrfBatched cublasCgeqrfBatched cublasZgeqrfBatched
    cublasSgetrfBatched cublasDgetrfBatched cublasCgetrfBatched cublasZgetrfBatched
    cublasSgetrsBatched cublasDgetrsBatched cublasCgetrsBatched cublasZgetrsBatched
    cublasStrsm_v2 cublasDtrsm_v2 cublasCtrsm_v2 cublasZtrsm_v2
    cublasStrsmBatched cublasDtrsmBatched cublasCtrsmBatched cublasZtrsmBatched
}
