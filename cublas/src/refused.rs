//! Functions that programs link, and that return "not supported".

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::Status;

/// The functions that were already named on standard error. Each is named once.
static TOLD: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

fn refuse(name: &'static str) -> u32 {
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
        eprintln!("warploom: {name} is not provided (CUBLAS_STATUS_NOT_SUPPORTED)");
    }
    Status::NotSupported as u32
}

macro_rules! refused {
    ($($name:ident)*) => { $(
        // SAFETY: as in `api`. The arguments stay in registers and on the caller's stack.
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> u32 {
            refuse(stringify!($name))
        }
    )* };
}

refused! {
    cublasCaxpy_v2 cublasCcopy_v2 cublasCcopy_v2_64 cublasCdgmm cublasCdotc_v2 cublasCdotu_v2 cublasCgeam cublasCgeam_64
    cublasCgelsBatched cublasCgemmBatched cublasCgemmStridedBatched cublasCgemmStridedBatched_64 cublasCgemm_v2 cublasCgemm_v2_64
    cublasCgemvStridedBatched_64 cublasCgemv_v2 cublasCgemv_v2_64 cublasCgeqrfBatched cublasCgerc_v2 cublasCgerc_v2_64 cublasCgeru_v2
    cublasCgeru_v2_64 cublasCgetrfBatched cublasCgetriBatched cublasCgetrsBatched cublasChemm_v2 cublasChemm_v2_64 cublasChemv_v2
    cublasChemv_v2_64 cublasCher2_v2 cublasCher2k_v2 cublasCher2k_v2_64 cublasCher_v2 cublasCherk_v2 cublasCrot_v2 cublasCrotg_v2
    cublasCscal_v2 cublasCscal_v2_64 cublasCsrot_v2 cublasCsrot_v2_64 cublasCsscal_v2 cublasCsscal_v2_64 cublasCswap_v2
    cublasCswap_v2_64 cublasCsymm_v2 cublasCsymv_v2 cublasCsyr2_v2 cublasCsyr2k_v2 cublasCsyr_v2 cublasCsyrk_v2 cublasCsyrkx
    cublasCtrmm_v2 cublasCtrmm_v2_64 cublasCtrmv_v2 cublasCtrmv_v2_64 cublasCtrsmBatched cublasCtrsm_v2 cublasCtrsm_v2_64
    cublasCtrsv_v2 cublasDcopy_v2_64 cublasDdgmm cublasDgeam cublasDgeam_64 cublasDgelsBatched cublasDgemmStridedBatched_64
    cublasDgemm_v2_64 cublasDgemvStridedBatched_64 cublasDgemv_v2_64 cublasDgeqrfBatched cublasDger_v2 cublasDger_v2_64
    cublasDgetrfBatched cublasDgetriBatched cublasDgetrsBatched cublasDrot_v2 cublasDrot_v2_64 cublasDrotg_v2 cublasDrotm_v2
    cublasDrotmg_v2 cublasDsbmv_v2 cublasDscal_v2_64 cublasDswap_v2 cublasDswap_v2_64 cublasDsymm_v2 cublasDsymm_v2_64 cublasDsymv_v2
    cublasDsymv_v2_64 cublasDsyr2_v2 cublasDsyr2k_v2 cublasDsyr2k_v2_64 cublasDsyr_v2 cublasDsyrk_v2 cublasDsyrkx cublasDtpttr
    cublasDtrmm_v2 cublasDtrmm_v2_64 cublasDtrmv_v2 cublasDtrmv_v2_64 cublasDtrsmBatched cublasDtrsm_v2 cublasDtrsm_v2_64
    cublasDtrsv_v2 cublasDtrttp cublasDzasum_v2 cublasDznrm2_v2 cublasGetMatrixAsync cublasGetVectorAsync cublasIcamax_v2
    cublasIcamin_v2 cublasIdamax_v2 cublasIdamin_v2 cublasIsamax_v2 cublasIsamin_v2 cublasIzamax_v2 cublasIzamin_v2 cublasScasum_v2
    cublasScnrm2_v2 cublasScopy_v2_64 cublasSdgmm cublasSetMatrixAsync cublasSetVectorAsync cublasSgeam cublasSgeam_64
    cublasSgelsBatched cublasSgemmStridedBatched_64 cublasSgemm_v2_64 cublasSgemvStridedBatched_64 cublasSgemv_v2_64
    cublasSgeqrfBatched cublasSger_v2 cublasSger_v2_64 cublasSgetrfBatched cublasSgetriBatched cublasSgetrsBatched cublasSrot_v2
    cublasSrot_v2_64 cublasSrotg_v2 cublasSrotm_v2 cublasSrotmg_v2 cublasSsbmv_v2 cublasSscal_v2_64 cublasSswap_v2 cublasSswap_v2_64
    cublasSsymm_v2 cublasSsymm_v2_64 cublasSsymv_v2 cublasSsymv_v2_64 cublasSsyr2_v2 cublasSsyr2k_v2 cublasSsyr2k_v2_64 cublasSsyr_v2
    cublasSsyrk_v2 cublasSsyrkx cublasStpttr cublasStrmm_v2 cublasStrmm_v2_64 cublasStrmv_v2 cublasStrmv_v2_64 cublasStrsmBatched
    cublasStrsm_v2 cublasStrsm_v2_64 cublasStrsv_v2 cublasStrttp cublasXtCgemm cublasXtChemm cublasXtCher2k cublasXtCherk
    cublasXtCreate cublasXtCsymm cublasXtCsyr2k cublasXtCsyrk cublasXtCtrmm cublasXtCtrsm cublasXtDestroy cublasXtDeviceSelect
    cublasXtDgemm cublasXtDsymm cublasXtDsyr2k cublasXtDsyrk cublasXtDtrmm cublasXtDtrsm cublasXtMaxBoards cublasXtSetBlockDim
    cublasXtSetCpuRatio cublasXtSetCpuRoutine cublasXtSetPinningMemMode cublasXtSgemm cublasXtSsymm cublasXtSsyr2k cublasXtSsyrk
    cublasXtStrmm cublasXtStrsm cublasXtZgemm cublasXtZhemm cublasXtZher2k cublasXtZherk cublasXtZsymm cublasXtZsyr2k cublasXtZsyrk
    cublasXtZtrmm cublasXtZtrsm cublasZaxpy_v2 cublasZcopy_v2 cublasZcopy_v2_64 cublasZdgmm cublasZdotc_v2 cublasZdotu_v2
    cublasZdrot_v2 cublasZdrot_v2_64 cublasZdscal_v2 cublasZdscal_v2_64 cublasZgeam cublasZgeam_64 cublasZgelsBatched
    cublasZgemmBatched cublasZgemmStridedBatched cublasZgemmStridedBatched_64 cublasZgemm_v2 cublasZgemm_v2_64
    cublasZgemvStridedBatched_64 cublasZgemv_v2 cublasZgemv_v2_64 cublasZgeqrfBatched cublasZgerc_v2 cublasZgerc_v2_64 cublasZgeru_v2
    cublasZgeru_v2_64 cublasZgetrfBatched cublasZgetriBatched cublasZgetrsBatched cublasZhemm_v2 cublasZhemm_v2_64 cublasZhemv_v2
    cublasZhemv_v2_64 cublasZher2_v2 cublasZher2k_v2 cublasZher2k_v2_64 cublasZher_v2 cublasZherk_v2 cublasZrot_v2 cublasZrotg_v2
    cublasZscal_v2 cublasZscal_v2_64 cublasZswap_v2 cublasZswap_v2_64 cublasZsymm_v2 cublasZsymv_v2 cublasZsyr2_v2 cublasZsyr2k_v2
    cublasZsyr_v2 cublasZsyrk_v2 cublasZsyrkx cublasZtrmm_v2 cublasZtrmm_v2_64 cublasZtrmv_v2 cublasZtrmv_v2_64 cublasZtrsmBatched
    cublasZtrsm_v2 cublasZtrsm_v2_64 cublasZtrsv_v2
}
