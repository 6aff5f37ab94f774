//! The names of the API, the CUDA versions that added or changed them, and the functions behind
//! them.
//!
//! An entry is `[version function]`, with `ptds` or `ptsz` if a null stream means the thread's own.
//! A `refused` function exists and answers that it is not supported. `extra` has functions that
//! programs find only by their names.

use std::ffi::c_char;

#[allow(clippy::wildcard_imports, reason = "the table has them all")]
use super::*;
use crate::boundary::{Function, Ptr, Target, define_refused};
use crate::error::{Answer, Error};

/// A function that a name means from a version on.
struct Entry {
    name: &'static str,
    version: i32,
    /// Whether a null stream means the thread's own.
    per_thread: bool,
    /// The symbol that C links by the function's name, and the function that it jumps to.
    exported: Function,
    target: &'static Target,
}

/// A value of `CUdriverProcAddress_flags`.
const PER_THREAD: u64 = 2;

/// Values of `CUdriverProcAddressQueryResult`.
const FOUND: i32 = 0;
const UNKNOWN: i32 = 1;
const NEWER: i32 = 2;

/// Writes the newest function of a name up to a version. With `PER_THREAD`, functions with
/// per-thread streams come first.
pub(super) fn resolve(
    name: Ptr<c_char>,
    out: Ptr<u64>,
    version: i32,
    flags: u64,
    status: Ptr<i32>,
) -> Answer {
    let name = name.text()?;
    out.set(0)?;
    super::require(flags <= PER_THREAD)?;
    if let Some(entry) = find(&name, version, flags) {
        status.set_if(FOUND);
        return out.set(entry.exported.address());
    }
    status.set_if(if of(&name).next().is_some() { NEWER } else { UNKNOWN });
    Err(Error::CUDA_ERROR_NOT_FOUND)
}

fn of(name: &str) -> impl Iterator<Item = &'static Entry> {
    let start = ENTRIES.partition_point(|entry| entry.name < name);
    ENTRIES[start..].iter().take_while(move |entry| entry.name == name)
}

fn find(name: &str, version: i32, flags: u64) -> Option<&'static Entry> {
    let newest = |per_thread: bool| {
        of(name)
            .filter(|entry| entry.version <= version && entry.per_thread == per_thread)
            .max_by_key(|entry| entry.version)
    };
    let own = if flags & PER_THREAD != 0 { newest(true) } else { None };
    own.or_else(|| newest(false))
}

/// Returns the function that a name means for a program of this version, with its address.
pub(crate) fn function(name: &str, version: i32, flags: u64) -> Option<(&'static str, Function)> {
    find(name, version, flags).map(|entry| (entry.target.name(), entry.exported))
}

/// Returns the targets of all functions. Some occur several times.
pub(crate) fn functions() -> impl Iterator<Item = &'static Target> {
    ENTRIES.iter().map(|entry| entry.target)
}

/// Returns the address of a function by its linker name.
pub(crate) fn exported(name: &str) -> Option<Function> {
    ENTRIES.iter().find(|entry| entry.target.name() == name).map(|entry| entry.exported)
}

macro_rules! entry {
    ($name:ident $version:literal refused $function:ident) => {
        entry!(@ $name $version false $function)
    };
    ($name:ident $version:literal $kind:ident refused $function:ident) => {
        entry!(@ $name $version true $function)
    };
    ($name:ident $version:literal $function:ident) => {
        entry!(@ $name $version false $function)
    };
    ($name:ident $version:literal $kind:ident $function:ident) => {
        entry!(@ $name $version true $function)
    };
    (@ $name:ident $version:literal $per_thread:literal $function:ident) => {
        Entry {
            name: stringify!($name),
            version: $version,
            per_thread: $per_thread,
            exported: $function::EXPORTED,
            target: &$function::TARGET,
        }
    };
}

macro_rules! refuse {
    ($version:literal refused $function:ident) => {
        define_refused! { $function }
    };
    ($version:literal $kind:ident refused $function:ident) => {
        define_refused! { $function }
    };
    ($($other:tt)*) => {};
}

macro_rules! table {
    ($($name:ident $([$($entry:tt)*])*;)*) => {
        /// All entries, sorted by name.
        static ENTRIES: &[Entry] = &[$($(entry!($name $($entry)*),)*)*];
        $($(refuse! { $($entry)* })*)*
    };
}

table! {
    cuArray3DCreate [2000 refused cuArray3DCreate] [3020 cuArray3DCreate_v2];
    cuArray3DGetDescriptor [2000 refused cuArray3DGetDescriptor] [3020 cuArray3DGetDescriptor_v2];
    cuArrayCreate [2000 refused cuArrayCreate] [3020 cuArrayCreate_v2];
    cuArrayDestroy [2000 cuArrayDestroy];
    cuArrayGetDescriptor [2000 refused cuArrayGetDescriptor] [3020 cuArrayGetDescriptor_v2];
    cuArrayGetMemoryRequirements [11060 cuArrayGetMemoryRequirements];
    cuArrayGetPlane [11020 cuArrayGetPlane];
    cuArrayGetSparseProperties [11010 cuArrayGetSparseProperties];
    cuCheckpointOperationComplete [13040 refused cuCheckpointOperationComplete];
    cuCheckpointProcessCheckpoint [12080 refused cuCheckpointProcessCheckpoint];
    cuCheckpointProcessGetRestoreThreadId [12080 refused cuCheckpointProcessGetRestoreThreadId];
    cuCheckpointProcessGetState [12080 refused cuCheckpointProcessGetState];
    cuCheckpointProcessLock [12080 refused cuCheckpointProcessLock];
    cuCheckpointProcessRestore [12080 refused cuCheckpointProcessRestore];
    cuCheckpointProcessUnlock [12080 refused cuCheckpointProcessUnlock];
    cuCoredumpDeregisterCompleteCallback [13020 refused cuCoredumpDeregisterCompleteCallback];
    cuCoredumpDeregisterStartCallback [13020 refused cuCoredumpDeregisterStartCallback];
    cuCoredumpGetAttribute [12010 refused cuCoredumpGetAttribute];
    cuCoredumpGetAttributeGlobal [12010 refused cuCoredumpGetAttributeGlobal];
    cuCoredumpRegisterCompleteCallback [13020 refused cuCoredumpRegisterCompleteCallback];
    cuCoredumpRegisterStartCallback [13020 refused cuCoredumpRegisterStartCallback];
    cuCoredumpSetAttribute [12010 refused cuCoredumpSetAttribute];
    cuCoredumpSetAttributeGlobal [12010 refused cuCoredumpSetAttributeGlobal];
    cuCtxAttach [2000 cuCtxAttach];
    cuCtxCreate [2000 refused cuCtxCreate] [3020 cuCtxCreate_v2] [11040 cuCtxCreate_v3] [12050 cuCtxCreate_v4];
    cuCtxDestroy [2000 cuCtxDestroy] [4000 cuCtxDestroy_v2];
    cuCtxDetach [2000 cuCtxDetach];
    cuCtxDisablePeerAccess [4000 cuCtxDisablePeerAccess];
    cuCtxEnablePeerAccess [4000 cuCtxEnablePeerAccess];
    cuCtxFromGreenCtx [12040 refused cuCtxFromGreenCtx];
    cuCtxGetApiVersion [3020 cuCtxGetApiVersion];
    cuCtxGetCacheConfig [3020 cuCtxGetCacheConfig];
    cuCtxGetCurrent [4000 cuCtxGetCurrent];
    cuCtxGetDevResource [12040 refused cuCtxGetDevResource];
    cuCtxGetDevice [2000 cuCtxGetDevice] [13000 cuCtxGetDevice_v2];
    cuCtxGetExecAffinity [11040 cuCtxGetExecAffinity];
    cuCtxGetFlags [7000 cuCtxGetFlags];
    cuCtxGetId [12000 cuCtxGetId];
    cuCtxGetLimit [3010 cuCtxGetLimit];
    cuCtxGetSharedMemConfig [4020 cuCtxGetSharedMemConfig];
    cuCtxGetStreamPriorityRange [5050 cuCtxGetStreamPriorityRange];
    cuCtxPopCurrent [2000 cuCtxPopCurrent] [4000 cuCtxPopCurrent_v2];
    cuCtxPushCurrent [2000 cuCtxPushCurrent] [4000 cuCtxPushCurrent_v2];
    cuCtxRecordEvent [12050 cuCtxRecordEvent];
    cuCtxResetPersistingL2Cache [11000 cuCtxResetPersistingL2Cache];
    cuCtxSetCacheConfig [3020 cuCtxSetCacheConfig];
    cuCtxSetCurrent [4000 cuCtxSetCurrent];
    cuCtxSetFlags [12010 cuCtxSetFlags];
    cuCtxSetLimit [3010 cuCtxSetLimit];
    cuCtxSetSharedMemConfig [4020 cuCtxSetSharedMemConfig];
    cuCtxSynchronize [2000 cuCtxSynchronize] [13000 cuCtxSynchronize_v2];
    cuCtxWaitEvent [12050 cuCtxWaitEvent];
    cuDestroyExternalMemory [10000 refused cuDestroyExternalMemory];
    cuDestroyExternalSemaphore [10000 refused cuDestroyExternalSemaphore];
    cuDevResourceGenerateDesc [12040 refused cuDevResourceGenerateDesc];
    cuDevSmResourceSplit [13010 refused cuDevSmResourceSplit];
    cuDevSmResourceSplitByCount [12040 refused cuDevSmResourceSplitByCount];
    cuDeviceCanAccessPeer [4000 cuDeviceCanAccessPeer];
    cuDeviceComputeCapability [2000 cuDeviceComputeCapability];
    cuDeviceGet [2000 cuDeviceGet];
    cuDeviceGetAttribute [2000 cuDeviceGetAttribute];
    cuDeviceGetByPCIBusId [4010 cuDeviceGetByPCIBusId];
    cuDeviceGetCliqueCount [13040 refused cuDeviceGetCliqueCount];
    cuDeviceGetCliqueInfo [13040 refused cuDeviceGetCliqueInfo];
    cuDeviceGetCount [2000 cuDeviceGetCount];
    cuDeviceGetDefaultMemPool [11020 cuDeviceGetDefaultMemPool];
    cuDeviceGetDevResource [12040 refused cuDeviceGetDevResource];
    cuDeviceGetExecAffinitySupport [11040 cuDeviceGetExecAffinitySupport];
    cuDeviceGetFabricClusterUuid [13040 refused cuDeviceGetFabricClusterUuid];
    cuDeviceGetGraphMemAttribute [11040 cuDeviceGetGraphMemAttribute];
    cuDeviceGetHostAtomicCapabilities [13000 cuDeviceGetHostAtomicCapabilities];
    cuDeviceGetLuid [10000 cuDeviceGetLuid];
    cuDeviceGetMemPool [11020 cuDeviceGetMemPool];
    cuDeviceGetName [2000 cuDeviceGetName];
    cuDeviceGetNvSciSyncAttributes [10020 refused cuDeviceGetNvSciSyncAttributes];
    cuDeviceGetP2PAtomicCapabilities [13000 refused cuDeviceGetP2PAtomicCapabilities];
    cuDeviceGetP2PAttribute [8000 cuDeviceGetP2PAttribute];
    cuDeviceGetPCIBusId [4010 cuDeviceGetPCIBusId];
    cuDeviceGetProperties [2000 cuDeviceGetProperties];
    cuDeviceGetTexture1DLinearMaxWidth [11010 cuDeviceGetTexture1DLinearMaxWidth];
    cuDeviceGetUuid [9020 cuDeviceGetUuid] [11040 cuDeviceGetUuid_v2];
    cuDeviceGraphMemTrim [11040 cuDeviceGraphMemTrim];
    cuDevicePrimaryCtxGetState [7000 cuDevicePrimaryCtxGetState];
    cuDevicePrimaryCtxRelease [7000 cuDevicePrimaryCtxRelease] [11000 cuDevicePrimaryCtxRelease_v2];
    cuDevicePrimaryCtxReset [7000 cuDevicePrimaryCtxReset] [11000 cuDevicePrimaryCtxReset_v2];
    cuDevicePrimaryCtxRetain [7000 cuDevicePrimaryCtxRetain];
    cuDevicePrimaryCtxSetFlags [7000 cuDevicePrimaryCtxSetFlags] [11000 cuDevicePrimaryCtxSetFlags_v2];
    cuDeviceRegisterAsyncNotification [12040 refused cuDeviceRegisterAsyncNotification];
    cuDeviceSetGraphMemAttribute [11040 cuDeviceSetGraphMemAttribute];
    cuDeviceSetMemPool [11020 cuDeviceSetMemPool];
    cuDeviceTotalMem [2000 refused cuDeviceTotalMem] [3020 cuDeviceTotalMem_v2];
    cuDeviceUnregisterAsyncNotification [12040 refused cuDeviceUnregisterAsyncNotification];
    cuDriverGetVersion [2020 cuDriverGetVersion];
    cuEventCreate [2000 cuEventCreate];
    cuEventDestroy [2000 cuEventDestroy] [4000 cuEventDestroy_v2];
    cuEventElapsedTime [2000 cuEventElapsedTime] [12080 cuEventElapsedTime_v2];
    cuEventQuery [2000 cuEventQuery];
    cuEventRecord [2000 cuEventRecord] [7000 ptsz cuEventRecord_ptsz];
    cuEventRecordWithFlags [11010 cuEventRecordWithFlags] [11010 ptsz cuEventRecordWithFlags_ptsz];
    cuEventSynchronize [2000 cuEventSynchronize];
    cuExternalMemoryGetMappedBuffer [10000 refused cuExternalMemoryGetMappedBuffer];
    cuExternalMemoryGetMappedMipmappedArray [10000 refused cuExternalMemoryGetMappedMipmappedArray];
    cuFabricCpyBatchAsync [13050 refused cuFabricCpyBatchAsync] [13050 ptsz refused cuFabricCpyBatchAsync_ptsz];
    cuFlushGPUDirectRDMAWrites [11030 cuFlushGPUDirectRDMAWrites];
    cuFuncGetAttribute [2020 cuFuncGetAttribute];
    cuFuncGetModule [11000 cuFuncGetModule];
    cuFuncGetName [12030 cuFuncGetName];
    cuFuncGetParamCount [13020 cuFuncGetParamCount];
    cuFuncGetParamInfo [12040 cuFuncGetParamInfo];
    cuFuncIsLoaded [12040 cuFuncIsLoaded];
    cuFuncLoad [12040 cuFuncLoad];
    cuFuncSetAttribute [9000 cuFuncSetAttribute];
    cuFuncSetBlockShape [2000 cuFuncSetBlockShape];
    cuFuncSetCacheConfig [3000 cuFuncSetCacheConfig];
    cuFuncSetSharedMemConfig [4020 cuFuncSetSharedMemConfig];
    cuFuncSetSharedSize [2000 cuFuncSetSharedSize];
    cuGetErrorName [6000 cuGetErrorName];
    cuGetErrorString [6000 cuGetErrorString];
    cuGetExportTable [3000 cuGetExportTable];
    cuGetProcAddress [11030 cuGetProcAddress] [12000 cuGetProcAddress_v2];
    cuGraphAddBatchMemOpNode [11070 cuGraphAddBatchMemOpNode];
    cuGraphAddChildGraphNode [10000 cuGraphAddChildGraphNode];
    cuGraphAddDependencies [10000 cuGraphAddDependencies] [12030 cuGraphAddDependencies_v2];
    cuGraphAddEmptyNode [10000 cuGraphAddEmptyNode];
    cuGraphAddEventRecordNode [11010 cuGraphAddEventRecordNode];
    cuGraphAddEventWaitNode [11010 cuGraphAddEventWaitNode];
    cuGraphAddExternalSemaphoresSignalNode [11020 refused cuGraphAddExternalSemaphoresSignalNode];
    cuGraphAddExternalSemaphoresWaitNode [11020 refused cuGraphAddExternalSemaphoresWaitNode];
    cuGraphAddHostNode [10000 cuGraphAddHostNode];
    cuGraphAddKernelNode [10000 cuGraphAddKernelNode] [12000 cuGraphAddKernelNode_v2];
    cuGraphAddMemAllocNode [11040 cuGraphAddMemAllocNode];
    cuGraphAddMemFreeNode [11040 cuGraphAddMemFreeNode];
    cuGraphAddMemcpyNode [10000 cuGraphAddMemcpyNode];
    cuGraphAddMemsetNode [10000 cuGraphAddMemsetNode];
    cuGraphAddNode [12020 cuGraphAddNode] [12030 cuGraphAddNode_v2] [13040 cuGraphAddNode_v3];
    cuGraphBatchMemOpNodeGetParams [11070 cuGraphBatchMemOpNodeGetParams];
    cuGraphBatchMemOpNodeSetParams [11070 cuGraphBatchMemOpNodeSetParams];
    cuGraphChildGraphNodeGetGraph [10000 cuGraphChildGraphNodeGetGraph];
    cuGraphClone [10000 cuGraphClone];
    cuGraphConditionalHandleCreate [12030 cuGraphConditionalHandleCreate];
    cuGraphCreate [10000 cuGraphCreate];
    cuGraphDebugDotPrint [11030 cuGraphDebugDotPrint];
    cuGraphDestroy [10000 cuGraphDestroy];
    cuGraphDestroyNode [10000 cuGraphDestroyNode];
    cuGraphEventRecordNodeGetEvent [11010 cuGraphEventRecordNodeGetEvent];
    cuGraphEventRecordNodeSetEvent [11010 cuGraphEventRecordNodeSetEvent];
    cuGraphEventWaitNodeGetEvent [11010 cuGraphEventWaitNodeGetEvent];
    cuGraphEventWaitNodeSetEvent [11010 cuGraphEventWaitNodeSetEvent];
    cuGraphExecBatchMemOpNodeSetParams [11070 cuGraphExecBatchMemOpNodeSetParams];
    cuGraphExecChildGraphNodeSetParams [11010 cuGraphExecChildGraphNodeSetParams];
    cuGraphExecDestroy [10000 cuGraphExecDestroy];
    cuGraphExecEventRecordNodeSetEvent [11010 cuGraphExecEventRecordNodeSetEvent];
    cuGraphExecEventWaitNodeSetEvent [11010 cuGraphExecEventWaitNodeSetEvent];
    cuGraphExecExternalSemaphoresSignalNodeSetParams [11020 refused cuGraphExecExternalSemaphoresSignalNodeSetParams];
    cuGraphExecExternalSemaphoresWaitNodeSetParams [11020 refused cuGraphExecExternalSemaphoresWaitNodeSetParams];
    cuGraphExecGetFlags [12000 cuGraphExecGetFlags];
    cuGraphExecGetId [13010 cuGraphExecGetId];
    cuGraphExecHostNodeSetParams [10020 cuGraphExecHostNodeSetParams];
    cuGraphExecKernelNodeSetParams [10010 cuGraphExecKernelNodeSetParams] [12000 cuGraphExecKernelNodeSetParams_v2];
    cuGraphExecMemcpyNodeSetParams [10020 cuGraphExecMemcpyNodeSetParams];
    cuGraphExecMemsetNodeSetParams [10020 cuGraphExecMemsetNodeSetParams];
    cuGraphExecNodeSetParams [12020 cuGraphExecNodeSetParams];
    cuGraphExecUpdate [10020 cuGraphExecUpdate] [12000 cuGraphExecUpdate_v2];
    cuGraphExternalSemaphoresSignalNodeGetParams [11020 refused cuGraphExternalSemaphoresSignalNodeGetParams];
    cuGraphExternalSemaphoresSignalNodeSetParams [11020 refused cuGraphExternalSemaphoresSignalNodeSetParams];
    cuGraphExternalSemaphoresWaitNodeGetParams [11020 refused cuGraphExternalSemaphoresWaitNodeGetParams];
    cuGraphExternalSemaphoresWaitNodeSetParams [11020 refused cuGraphExternalSemaphoresWaitNodeSetParams];
    cuGraphGetEdges [10000 cuGraphGetEdges] [12030 cuGraphGetEdges_v2];
    cuGraphGetId [13010 cuGraphGetId];
    cuGraphGetNodes [10000 cuGraphGetNodes];
    cuGraphGetRootNodes [10000 cuGraphGetRootNodes];
    cuGraphHostNodeGetParams [10000 cuGraphHostNodeGetParams];
    cuGraphHostNodeSetParams [10000 cuGraphHostNodeSetParams];
    cuGraphInstantiate [10000 cuGraphInstantiate] [11000 cuGraphInstantiateWithFlags];
    cuGraphInstantiateWithFlags [11040 cuGraphInstantiateWithFlags];
    cuGraphInstantiateWithParams [12000 cuGraphInstantiateWithParams] [12000 ptsz cuGraphInstantiateWithParams_ptsz];
    cuGraphKernelNodeCopyAttributes [11000 cuGraphKernelNodeCopyAttributes];
    cuGraphKernelNodeGetAttribute [11000 cuGraphKernelNodeGetAttribute];
    cuGraphKernelNodeGetParams [10000 cuGraphKernelNodeGetParams] [12000 cuGraphKernelNodeGetParams_v2];
    cuGraphKernelNodeSetAttribute [11000 cuGraphKernelNodeSetAttribute];
    cuGraphKernelNodeSetParams [10000 cuGraphKernelNodeSetParams] [12000 cuGraphKernelNodeSetParams_v2];
    cuGraphLaunch [10000 cuGraphLaunch] [10000 ptsz cuGraphLaunch_ptsz];
    cuGraphMemAllocNodeGetParams [11040 cuGraphMemAllocNodeGetParams];
    cuGraphMemFreeNodeGetParams [11040 cuGraphMemFreeNodeGetParams];
    cuGraphMemcpyNodeGetParams [10000 cuGraphMemcpyNodeGetParams];
    cuGraphMemcpyNodeSetParams [10000 cuGraphMemcpyNodeSetParams];
    cuGraphMemsetNodeGetParams [10000 cuGraphMemsetNodeGetParams];
    cuGraphMemsetNodeSetParams [10000 cuGraphMemsetNodeSetParams];
    cuGraphNodeFindInClone [10000 cuGraphNodeFindInClone];
    cuGraphNodeGetContainingGraph [13010 cuGraphNodeGetContainingGraph];
    cuGraphNodeGetDependencies [10000 cuGraphNodeGetDependencies] [12030 cuGraphNodeGetDependencies_v2];
    cuGraphNodeGetDependentNodes [10000 cuGraphNodeGetDependentNodes] [12030 cuGraphNodeGetDependentNodes_v2];
    cuGraphNodeGetEnabled [11060 cuGraphNodeGetEnabled];
    cuGraphNodeGetLocalId [13010 cuGraphNodeGetLocalId];
    cuGraphNodeGetParams [13020 cuGraphNodeGetParams];
    cuGraphNodeGetToolsId [13010 cuGraphNodeGetToolsId];
    cuGraphNodeGetType [10000 cuGraphNodeGetType];
    cuGraphNodeSetEnabled [11060 cuGraphNodeSetEnabled];
    cuGraphNodeSetParams [12020 cuGraphNodeSetParams] [13040 cuGraphNodeSetParams_v2];
    cuGraphReleaseUserObject [11030 cuGraphReleaseUserObject];
    cuGraphRemoveDependencies [10000 cuGraphRemoveDependencies] [12030 cuGraphRemoveDependencies_v2];
    cuGraphRetainUserObject [11030 cuGraphRetainUserObject];
    cuGraphUpload [11010 cuGraphUpload] [11010 ptsz cuGraphUpload_ptsz];
    cuGraphicsMapResources [3000 refused cuGraphicsMapResources] [7000 ptsz refused cuGraphicsMapResources_ptsz];
    cuGraphicsResourceGetMappedMipmappedArray [5000 refused cuGraphicsResourceGetMappedMipmappedArray];
    cuGraphicsResourceGetMappedPointer [3000 refused cuGraphicsResourceGetMappedPointer] [3020 refused cuGraphicsResourceGetMappedPointer_v2];
    cuGraphicsResourceSetMapFlags [3000 refused cuGraphicsResourceSetMapFlags] [6050 refused cuGraphicsResourceSetMapFlags_v2];
    cuGraphicsSubResourceGetMappedArray [3000 refused cuGraphicsSubResourceGetMappedArray];
    cuGraphicsUnmapResources [3000 refused cuGraphicsUnmapResources] [7000 ptsz refused cuGraphicsUnmapResources_ptsz];
    cuGraphicsUnregisterResource [3000 refused cuGraphicsUnregisterResource];
    cuGreenCtxCreate [12040 refused cuGreenCtxCreate];
    cuGreenCtxDestroy [12040 refused cuGreenCtxDestroy];
    cuGreenCtxGetDevResource [12040 refused cuGreenCtxGetDevResource];
    cuGreenCtxGetId [12090 refused cuGreenCtxGetId];
    cuGreenCtxRecordEvent [12040 refused cuGreenCtxRecordEvent];
    cuGreenCtxStreamCreate [12050 refused cuGreenCtxStreamCreate];
    cuGreenCtxWaitEvent [12040 refused cuGreenCtxWaitEvent];
    cuImportExternalMemory [10000 refused cuImportExternalMemory];
    cuImportExternalSemaphore [10000 refused cuImportExternalSemaphore];
    cuInit [2000 cuInit];
    cuIpcCloseMemHandle [4010 refused cuIpcCloseMemHandle];
    cuIpcGetEventHandle [4010 refused cuIpcGetEventHandle];
    cuIpcGetMemHandle [4010 refused cuIpcGetMemHandle];
    cuIpcOpenEventHandle [4010 refused cuIpcOpenEventHandle];
    cuIpcOpenMemHandle [4010 refused cuIpcOpenMemHandle] [11000 refused cuIpcOpenMemHandle_v2];
    cuKernelGetAttribute [12000 cuKernelGetAttribute];
    cuKernelGetFunction [12000 cuKernelGetFunction];
    cuKernelGetLibrary [12050 cuKernelGetLibrary];
    cuKernelGetName [12030 cuKernelGetName];
    cuKernelGetParamCount [13020 cuKernelGetParamCount];
    cuKernelGetParamInfo [12040 cuKernelGetParamInfo];
    cuKernelSetAttribute [12000 cuKernelSetAttribute];
    cuKernelSetCacheConfig [12000 cuKernelSetCacheConfig];
    cuLaunch [2000 cuLaunch];
    cuLaunchCooperativeKernel [9000 cuLaunchCooperativeKernel] [9000 ptsz cuLaunchCooperativeKernel_ptsz];
    cuLaunchCooperativeKernelMultiDevice [9000 cuLaunchCooperativeKernelMultiDevice];
    cuLaunchGrid [2000 cuLaunchGrid];
    cuLaunchGridAsync [2000 cuLaunchGridAsync];
    cuLaunchHostFunc [10000 cuLaunchHostFunc] [13010 cuLaunchHostFunc_v2] [10000 ptsz cuLaunchHostFunc_ptsz] [13010 ptsz cuLaunchHostFunc_v2_ptsz];
    cuLaunchKernel [4000 cuLaunchKernel] [7000 ptsz cuLaunchKernel_ptsz];
    cuLaunchKernelEx [11060 cuLaunchKernelEx] [11060 ptsz cuLaunchKernelEx_ptsz];
    cuLibraryEnumerateKernels [12040 cuLibraryEnumerateKernels];
    cuLibraryGetGlobal [12000 cuLibraryGetGlobal];
    cuLibraryGetKernel [12000 cuLibraryGetKernel];
    cuLibraryGetKernelCount [12040 cuLibraryGetKernelCount];
    cuLibraryGetManaged [12000 cuLibraryGetManaged];
    cuLibraryGetModule [12000 cuLibraryGetModule];
    cuLibraryGetUnifiedFunction [12000 cuLibraryGetUnifiedFunction];
    cuLibraryLoadData [12000 cuLibraryLoadData];
    cuLibraryLoadFromFile [12000 cuLibraryLoadFromFile];
    cuLibraryUnload [12000 cuLibraryUnload];
    cuLinkAddData [5050 cuLinkAddData] [6050 cuLinkAddData_v2];
    cuLinkAddFile [5050 cuLinkAddFile] [6050 cuLinkAddFile_v2];
    cuLinkComplete [5050 cuLinkComplete];
    cuLinkCreate [5050 cuLinkCreate] [6050 cuLinkCreate_v2];
    cuLinkDestroy [5050 cuLinkDestroy];
    cuLogicalEndpointAddDevice [13030 refused cuLogicalEndpointAddDevice];
    cuLogicalEndpointBindAddr [13030 refused cuLogicalEndpointBindAddr];
    cuLogicalEndpointBindMem [13030 refused cuLogicalEndpointBindMem];
    cuLogicalEndpointCreate [13030 refused cuLogicalEndpointCreate];
    cuLogicalEndpointDestroy [13030 refused cuLogicalEndpointDestroy];
    cuLogicalEndpointExport [13030 refused cuLogicalEndpointExport];
    cuLogicalEndpointGetLimits [13030 refused cuLogicalEndpointGetLimits];
    cuLogicalEndpointIdRelease [13030 refused cuLogicalEndpointIdRelease];
    cuLogicalEndpointIdReserve [13030 refused cuLogicalEndpointIdReserve];
    cuLogicalEndpointImport [13030 refused cuLogicalEndpointImport];
    cuLogicalEndpointQuery [13030 refused cuLogicalEndpointQuery];
    cuLogicalEndpointUnbind [13030 refused cuLogicalEndpointUnbind];
    cuLogsCurrent [12090 refused cuLogsCurrent];
    cuLogsDumpToFile [12090 refused cuLogsDumpToFile];
    cuLogsDumpToMemory [12090 refused cuLogsDumpToMemory];
    cuLogsRegisterCallback [12090 refused cuLogsRegisterCallback];
    cuLogsUnregisterCallback [12090 refused cuLogsUnregisterCallback];
    cuMemAddressFree [10020 cuMemAddressFree];
    cuMemAddressReserve [10020 cuMemAddressReserve];
    cuMemAdvise [8000 cuMemAdvise] [12020 cuMemAdvise_v2];
    cuMemAlloc [2000 refused cuMemAlloc] [3020 cuMemAlloc_v2];
    cuMemAllocAsync [11020 cuMemAllocAsync] [11020 ptsz cuMemAllocAsync_ptsz];
    cuMemAllocFromPoolAsync [11020 cuMemAllocFromPoolAsync] [11020 ptsz cuMemAllocFromPoolAsync_ptsz];
    cuMemAllocHost [2000 refused cuMemAllocHost] [3020 cuMemAllocHost_v2];
    cuMemAllocManaged [6000 cuMemAllocManaged];
    cuMemAllocPitch [2000 refused cuMemAllocPitch] [3020 cuMemAllocPitch_v2];
    cuMemBatchDecompressAsync [12060 refused cuMemBatchDecompressAsync] [12060 ptsz refused cuMemBatchDecompressAsync_ptsz];
    cuMemCreate [10020 cuMemCreate];
    cuMemDiscardAndPrefetchBatchAsync [13000 cuMemDiscardAndPrefetchBatchAsync] [13000 ptsz cuMemDiscardAndPrefetchBatchAsync_ptsz];
    cuMemDiscardBatchAsync [13000 cuMemDiscardBatchAsync] [13000 ptsz cuMemDiscardBatchAsync_ptsz];
    cuMemExportToShareableHandle [10020 refused cuMemExportToShareableHandle];
    cuMemFree [2000 refused cuMemFree] [3020 cuMemFree_v2];
    cuMemFreeAsync [11020 cuMemFreeAsync] [11020 ptsz cuMemFreeAsync_ptsz];
    cuMemFreeHost [2000 cuMemFreeHost];
    cuMemGetAccess [10020 cuMemGetAccess];
    cuMemGetAddressRange [2000 refused cuMemGetAddressRange] [3020 cuMemGetAddressRange_v2];
    cuMemGetAllocationGranularity [10020 cuMemGetAllocationGranularity];
    cuMemGetAllocationPropertiesFromHandle [10020 cuMemGetAllocationPropertiesFromHandle];
    cuMemGetDefaultMemPool [13000 cuMemGetDefaultMemPool];
    cuMemGetHandleForAddressRange [11070 refused cuMemGetHandleForAddressRange];
    cuMemGetInfo [2000 refused cuMemGetInfo] [3020 cuMemGetInfo_v2];
    cuMemGetLocationInfo [13040 refused cuMemGetLocationInfo];
    cuMemGetMemPool [13000 cuMemGetMemPool];
    cuMemHostAlloc [2020 cuMemHostAlloc];
    cuMemHostGetDevicePointer [2020 refused cuMemHostGetDevicePointer] [3020 cuMemHostGetDevicePointer_v2];
    cuMemHostGetFlags [2030 cuMemHostGetFlags];
    cuMemHostRegister [4000 cuMemHostRegister] [6050 cuMemHostRegister_v2];
    cuMemHostUnregister [4000 cuMemHostUnregister];
    cuMemImportFromShareableHandle [10020 refused cuMemImportFromShareableHandle];
    cuMemMap [10020 cuMemMap];
    cuMemMapArrayAsync [11010 refused cuMemMapArrayAsync] [11010 ptsz refused cuMemMapArrayAsync_ptsz];
    cuMemPoolCreate [11020 cuMemPoolCreate];
    cuMemPoolDestroy [11020 cuMemPoolDestroy];
    cuMemPoolExportPointer [11020 refused cuMemPoolExportPointer];
    cuMemPoolExportToShareableHandle [11020 refused cuMemPoolExportToShareableHandle];
    cuMemPoolGetAccess [11020 cuMemPoolGetAccess];
    cuMemPoolGetAttribute [11020 cuMemPoolGetAttribute];
    cuMemPoolImportFromShareableHandle [11020 refused cuMemPoolImportFromShareableHandle];
    cuMemPoolImportPointer [11020 refused cuMemPoolImportPointer];
    cuMemPoolSetAccess [11020 cuMemPoolSetAccess];
    cuMemPoolSetAttribute [11020 cuMemPoolSetAttribute];
    cuMemPoolTrimTo [11020 cuMemPoolTrimTo];
    cuMemPrefetchAsync [8000 cuMemPrefetchAsync] [12020 cuMemPrefetchAsync_v2] [8000 ptsz cuMemPrefetchAsync_ptsz] [12020 ptsz cuMemPrefetchAsync_v2_ptsz];
    cuMemPrefetchBatchAsync [13000 cuMemPrefetchBatchAsync] [13000 ptsz cuMemPrefetchBatchAsync_ptsz];
    cuMemRangeGetAttribute [8000 cuMemRangeGetAttribute];
    cuMemRangeGetAttributes [8000 cuMemRangeGetAttributes];
    cuMemRelease [10020 cuMemRelease];
    cuMemRetainAllocationHandle [11000 cuMemRetainAllocationHandle];
    cuMemSetAccess [10020 cuMemSetAccess];
    cuMemSetMemPool [13000 cuMemSetMemPool];
    cuMemUnmap [10020 cuMemUnmap];
    cuMemcpy [4000 cuMemcpy] [7000 ptds cuMemcpy_ptds];
    cuMemcpy2D [2000 refused cuMemcpy2D] [3020 cuMemcpy2D_v2] [7000 ptds cuMemcpy2D_v2_ptds];
    cuMemcpy2DAsync [2000 refused cuMemcpy2DAsync] [3020 cuMemcpy2DAsync_v2] [7000 ptsz cuMemcpy2DAsync_v2_ptsz];
    cuMemcpy2DUnaligned [2000 refused cuMemcpy2DUnaligned] [3020 cuMemcpy2DUnaligned_v2] [7000 ptds cuMemcpy2DUnaligned_v2_ptds];
    cuMemcpy3D [2000 refused cuMemcpy3D] [3020 cuMemcpy3D_v2] [7000 ptds cuMemcpy3D_v2_ptds];
    cuMemcpy3DAsync [2000 refused cuMemcpy3DAsync] [3020 cuMemcpy3DAsync_v2] [7000 ptsz cuMemcpy3DAsync_v2_ptsz];
    cuMemcpy3DBatchAsync [12080 cuMemcpy3DBatchAsync] [13000 cuMemcpy3DBatchAsync_v2] [12080 ptsz cuMemcpy3DBatchAsync_ptsz] [13000 ptsz cuMemcpy3DBatchAsync_v2_ptsz];
    cuMemcpy3DPeer [4000 cuMemcpy3DPeer] [7000 ptds cuMemcpy3DPeer_ptds];
    cuMemcpy3DPeerAsync [4000 cuMemcpy3DPeerAsync] [7000 ptsz cuMemcpy3DPeerAsync_ptsz];
    cuMemcpy3DWithAttributesAsync [13020 cuMemcpy3DWithAttributesAsync] [13020 ptsz cuMemcpy3DWithAttributesAsync_ptsz];
    cuMemcpyAsync [4000 cuMemcpyAsync] [7000 ptsz cuMemcpyAsync_ptsz];
    cuMemcpyAtoA [2000 refused cuMemcpyAtoA] [3020 cuMemcpyAtoA_v2] [7000 ptds cuMemcpyAtoA_v2_ptds];
    cuMemcpyAtoD [2000 refused cuMemcpyAtoD] [3020 cuMemcpyAtoD_v2] [7000 ptds cuMemcpyAtoD_v2_ptds];
    cuMemcpyAtoH [2000 refused cuMemcpyAtoH] [3020 cuMemcpyAtoH_v2] [7000 ptds cuMemcpyAtoH_v2_ptds];
    cuMemcpyAtoHAsync [2000 refused cuMemcpyAtoHAsync] [3020 cuMemcpyAtoHAsync_v2] [7000 ptsz cuMemcpyAtoHAsync_v2_ptsz];
    cuMemcpyBatchAsync [12080 cuMemcpyBatchAsync] [13000 cuMemcpyBatchAsync_v2] [12080 ptsz cuMemcpyBatchAsync_ptsz] [13000 ptsz cuMemcpyBatchAsync_v2_ptsz];
    cuMemcpyDtoA [2000 refused cuMemcpyDtoA] [3020 cuMemcpyDtoA_v2] [7000 ptds cuMemcpyDtoA_v2_ptds];
    cuMemcpyDtoD [2000 refused cuMemcpyDtoD] [3020 cuMemcpyDtoD_v2] [7000 ptds cuMemcpyDtoD_v2_ptds];
    cuMemcpyDtoDAsync [3000 refused cuMemcpyDtoDAsync] [3020 cuMemcpyDtoDAsync_v2] [7000 ptsz cuMemcpyDtoDAsync_v2_ptsz];
    cuMemcpyDtoH [2000 refused cuMemcpyDtoH] [3020 cuMemcpyDtoH_v2] [7000 ptds cuMemcpyDtoH_v2_ptds];
    cuMemcpyDtoHAsync [2000 refused cuMemcpyDtoHAsync] [3020 cuMemcpyDtoHAsync_v2] [7000 ptsz cuMemcpyDtoHAsync_v2_ptsz];
    cuMemcpyHtoA [2000 refused cuMemcpyHtoA] [3020 cuMemcpyHtoA_v2] [7000 ptds cuMemcpyHtoA_v2_ptds];
    cuMemcpyHtoAAsync [2000 refused cuMemcpyHtoAAsync] [3020 cuMemcpyHtoAAsync_v2] [7000 ptsz cuMemcpyHtoAAsync_v2_ptsz];
    cuMemcpyHtoD [2000 refused cuMemcpyHtoD] [3020 cuMemcpyHtoD_v2] [7000 ptds cuMemcpyHtoD_v2_ptds];
    cuMemcpyHtoDAsync [2000 refused cuMemcpyHtoDAsync] [3020 cuMemcpyHtoDAsync_v2] [7000 ptsz cuMemcpyHtoDAsync_v2_ptsz];
    cuMemcpyPeer [4000 cuMemcpyPeer] [7000 ptds cuMemcpyPeer_ptds];
    cuMemcpyPeerAsync [4000 cuMemcpyPeerAsync] [7000 ptsz cuMemcpyPeerAsync_ptsz];
    cuMemcpyWithAttributesAsync [13020 cuMemcpyWithAttributesAsync] [13020 ptsz cuMemcpyWithAttributesAsync_ptsz];
    cuMemsetD16 [2000 refused cuMemsetD16] [3020 cuMemsetD16_v2] [7000 ptds cuMemsetD16_v2_ptds];
    cuMemsetD16Async [3020 cuMemsetD16Async] [7000 ptsz cuMemsetD16Async_ptsz];
    cuMemsetD2D16 [2000 refused cuMemsetD2D16] [3020 cuMemsetD2D16_v2] [7000 ptds cuMemsetD2D16_v2_ptds];
    cuMemsetD2D16Async [3020 cuMemsetD2D16Async] [7000 ptsz cuMemsetD2D16Async_ptsz];
    cuMemsetD2D32 [2000 refused cuMemsetD2D32] [3020 cuMemsetD2D32_v2] [7000 ptds cuMemsetD2D32_v2_ptds];
    cuMemsetD2D32Async [3020 cuMemsetD2D32Async] [7000 ptsz cuMemsetD2D32Async_ptsz];
    cuMemsetD2D8 [2000 refused cuMemsetD2D8] [3020 cuMemsetD2D8_v2] [7000 ptds cuMemsetD2D8_v2_ptds];
    cuMemsetD2D8Async [3020 cuMemsetD2D8Async] [7000 ptsz cuMemsetD2D8Async_ptsz];
    cuMemsetD32 [2000 refused cuMemsetD32] [3020 cuMemsetD32_v2] [7000 ptds cuMemsetD32_v2_ptds];
    cuMemsetD32Async [3020 cuMemsetD32Async] [7000 ptsz cuMemsetD32Async_ptsz];
    cuMemsetD8 [2000 refused cuMemsetD8] [3020 cuMemsetD8_v2] [7000 ptds cuMemsetD8_v2_ptds];
    cuMemsetD8Async [3020 cuMemsetD8Async] [7000 ptsz cuMemsetD8Async_ptsz];
    cuMipmappedArrayCreate [5000 cuMipmappedArrayCreate];
    cuMipmappedArrayDestroy [5000 cuMipmappedArrayDestroy];
    cuMipmappedArrayGetLevel [5000 cuMipmappedArrayGetLevel];
    cuMipmappedArrayGetMemoryRequirements [11060 cuMipmappedArrayGetMemoryRequirements];
    cuMipmappedArrayGetSparseProperties [11010 cuMipmappedArrayGetSparseProperties];
    cuModuleEnumerateFunctions [12040 cuModuleEnumerateFunctions];
    cuModuleGetFunction [2000 cuModuleGetFunction];
    cuModuleGetFunctionCount [12040 cuModuleGetFunctionCount];
    cuModuleGetGlobal [2000 refused cuModuleGetGlobal] [3020 cuModuleGetGlobal_v2];
    cuModuleGetLoadingMode [11070 cuModuleGetLoadingMode];
    cuModuleGetSurfRef [3000 cuModuleGetSurfRef];
    cuModuleGetTexRef [2000 cuModuleGetTexRef];
    cuModuleLoad [2000 cuModuleLoad];
    cuModuleLoadData [2000 cuModuleLoadData];
    cuModuleLoadDataEx [2010 cuModuleLoadDataEx];
    cuModuleLoadFatBinary [2000 cuModuleLoadFatBinary];
    cuModuleUnload [2000 cuModuleUnload];
    cuMulticastAddDevice [12010 refused cuMulticastAddDevice];
    cuMulticastBindAddr [12010 refused cuMulticastBindAddr] [13010 refused cuMulticastBindAddr_v2];
    cuMulticastBindMem [12010 refused cuMulticastBindMem] [13010 refused cuMulticastBindMem_v2];
    cuMulticastCreate [12010 refused cuMulticastCreate];
    cuMulticastGetGranularity [12010 refused cuMulticastGetGranularity];
    cuMulticastUnbind [12010 refused cuMulticastUnbind];
    cuOccupancyAvailableDynamicSMemPerBlock [10020 cuOccupancyAvailableDynamicSMemPerBlock];
    cuOccupancyMaxActiveBlocksPerMultiprocessor [6050 cuOccupancyMaxActiveBlocksPerMultiprocessor];
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags [7000 cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags];
    cuOccupancyMaxActiveClusters [11070 cuOccupancyMaxActiveClusters];
    cuOccupancyMaxPotentialBlockSize [6050 cuOccupancyMaxPotentialBlockSize];
    cuOccupancyMaxPotentialBlockSizeWithFlags [7000 cuOccupancyMaxPotentialBlockSizeWithFlags];
    cuOccupancyMaxPotentialClusterSize [11070 cuOccupancyMaxPotentialClusterSize];
    cuParamSetSize [2000 cuParamSetSize];
    cuParamSetTexRef [2000 cuParamSetTexRef];
    cuParamSetf [2000 cuParamSetf];
    cuParamSeti [2000 cuParamSeti];
    cuParamSetv [2000 cuParamSetv];
    cuPointerGetAttribute [4000 cuPointerGetAttribute];
    cuPointerGetAttributes [7000 cuPointerGetAttributes];
    cuPointerSetAttribute [6000 cuPointerSetAttribute];
    cuProfilerInitialize [4000 refused cuProfilerInitialize];
    cuProfilerStart [4000 cuProfilerStart];
    cuProfilerStop [4000 cuProfilerStop];
    cuSignalExternalSemaphoresAsync [10000 refused cuSignalExternalSemaphoresAsync] [10000 ptsz refused cuSignalExternalSemaphoresAsync_ptsz];
    cuStreamAddCallback [5000 cuStreamAddCallback] [7000 ptsz cuStreamAddCallback_ptsz];
    cuStreamAttachMemAsync [6000 cuStreamAttachMemAsync] [7000 ptsz cuStreamAttachMemAsync_ptsz];
    cuStreamBatchMemOp [8000 cuStreamBatchMemOp] [11070 cuStreamBatchMemOp_v2] [8000 ptsz cuStreamBatchMemOp_ptsz] [11070 ptsz cuStreamBatchMemOp_v2_ptsz];
    cuStreamBeginCapture [10000 cuStreamBeginCapture] [10010 cuStreamBeginCapture_v2] [10000 ptsz cuStreamBeginCapture_ptsz] [10010 ptsz cuStreamBeginCapture_v2_ptsz];
    cuStreamBeginCaptureToCig [13010 refused cuStreamBeginCaptureToCig] [13010 ptsz refused cuStreamBeginCaptureToCig_ptsz];
    cuStreamBeginCaptureToGraph [12030 cuStreamBeginCaptureToGraph] [12030 ptsz cuStreamBeginCaptureToGraph_ptsz];
    cuStreamBeginRecaptureToGraph [13030 refused cuStreamBeginRecaptureToGraph] [13030 ptsz refused cuStreamBeginRecaptureToGraph_ptsz];
    cuStreamCopyAttributes [11000 cuStreamCopyAttributes] [11000 ptsz cuStreamCopyAttributes_ptsz];
    cuStreamCreate [2000 cuStreamCreate];
    cuStreamCreateWithPriority [5050 cuStreamCreateWithPriority];
    cuStreamDestroy [2000 cuStreamDestroy] [4000 cuStreamDestroy_v2];
    cuStreamEndCapture [10000 cuStreamEndCapture] [10000 ptsz cuStreamEndCapture_ptsz];
    cuStreamEndCaptureToCig [13010 refused cuStreamEndCaptureToCig] [13010 ptsz refused cuStreamEndCaptureToCig_ptsz];
    cuStreamGetAttribute [11000 cuStreamGetAttribute] [11000 ptsz cuStreamGetAttribute_ptsz];
    cuStreamGetCaptureInfo [10010 cuStreamGetCaptureInfo] [11030 cuStreamGetCaptureInfo_v2] [12030 cuStreamGetCaptureInfo_v3] [10010 ptsz cuStreamGetCaptureInfo_ptsz] [11030 ptsz cuStreamGetCaptureInfo_v2_ptsz] [12030 ptsz cuStreamGetCaptureInfo_v3_ptsz];
    cuStreamGetCtx [9020 cuStreamGetCtx] [12050 cuStreamGetCtx_v2] [9020 ptsz cuStreamGetCtx_ptsz] [12050 ptsz cuStreamGetCtx_v2_ptsz];
    cuStreamGetDevResource [13010 refused cuStreamGetDevResource] [13010 ptsz refused cuStreamGetDevResource_ptsz];
    cuStreamGetDevice [12080 cuStreamGetDevice] [12080 ptsz cuStreamGetDevice_ptsz];
    cuStreamGetFlags [5050 cuStreamGetFlags] [7000 ptsz cuStreamGetFlags_ptsz];
    cuStreamGetGreenCtx [12040 cuStreamGetGreenCtx];
    cuStreamGetId [12000 cuStreamGetId] [12000 ptsz cuStreamGetId_ptsz];
    cuStreamGetPriority [5050 cuStreamGetPriority] [7000 ptsz cuStreamGetPriority_ptsz];
    cuStreamIsCapturing [10000 cuStreamIsCapturing] [10000 ptsz cuStreamIsCapturing_ptsz];
    cuStreamQuery [2000 cuStreamQuery] [7000 ptsz cuStreamQuery_ptsz];
    cuStreamSetAttribute [11000 cuStreamSetAttribute] [11000 ptsz cuStreamSetAttribute_ptsz];
    cuStreamSynchronize [2000 cuStreamSynchronize] [7000 ptsz cuStreamSynchronize_ptsz];
    cuStreamUpdateCaptureDependencies [11030 cuStreamUpdateCaptureDependencies] [12030 cuStreamUpdateCaptureDependencies_v2] [11030 ptsz cuStreamUpdateCaptureDependencies_ptsz] [12030 ptsz cuStreamUpdateCaptureDependencies_v2_ptsz];
    cuStreamWaitEvent [3020 cuStreamWaitEvent] [7000 ptsz cuStreamWaitEvent_ptsz];
    cuStreamWaitValue32 [8000 cuStreamWaitValue32] [11070 cuStreamWaitValue32_v2] [8000 ptsz cuStreamWaitValue32_ptsz] [11070 ptsz cuStreamWaitValue32_v2_ptsz];
    cuStreamWaitValue64 [9000 cuStreamWaitValue64] [11070 cuStreamWaitValue64_v2] [9000 ptsz cuStreamWaitValue64_ptsz] [11070 ptsz cuStreamWaitValue64_v2_ptsz];
    cuStreamWriteValue32 [8000 cuStreamWriteValue32] [11070 cuStreamWriteValue32_v2] [8000 ptsz cuStreamWriteValue32_ptsz] [11070 ptsz cuStreamWriteValue32_v2_ptsz];
    cuStreamWriteValue64 [9000 cuStreamWriteValue64] [11070 cuStreamWriteValue64_v2] [9000 ptsz cuStreamWriteValue64_ptsz] [11070 ptsz cuStreamWriteValue64_v2_ptsz];
    cuSurfObjectCreate [5000 cuSurfObjectCreate];
    cuSurfObjectDestroy [5000 cuSurfObjectDestroy];
    cuSurfObjectGetResourceDesc [5000 cuSurfObjectGetResourceDesc];
    cuSurfRefGetArray [3000 cuSurfRefGetArray];
    cuSurfRefSetArray [3000 cuSurfRefSetArray];
    cuTensorMapEncodeIm2col [12000 refused cuTensorMapEncodeIm2col];
    cuTensorMapEncodeIm2colWide [12080 refused cuTensorMapEncodeIm2colWide];
    cuTensorMapEncodeTiled [12000 refused cuTensorMapEncodeTiled];
    cuTensorMapReplaceAddress [12000 refused cuTensorMapReplaceAddress];
    cuTensorMapSetAllocationClass [13050 refused cuTensorMapSetAllocationClass];
    cuTexObjectCreate [5000 cuTexObjectCreate];
    cuTexObjectDestroy [5000 cuTexObjectDestroy];
    cuTexObjectGetResourceDesc [5000 cuTexObjectGetResourceDesc];
    cuTexObjectGetResourceViewDesc [5000 cuTexObjectGetResourceViewDesc];
    cuTexObjectGetTextureDesc [5000 cuTexObjectGetTextureDesc];
    cuTexRefCreate [2000 cuTexRefCreate];
    cuTexRefDestroy [2000 cuTexRefDestroy];
    cuTexRefGetAddress [2000 refused cuTexRefGetAddress] [3020 cuTexRefGetAddress_v2];
    cuTexRefGetAddressMode [2000 cuTexRefGetAddressMode];
    cuTexRefGetArray [2000 cuTexRefGetArray];
    cuTexRefGetBorderColor [8000 cuTexRefGetBorderColor];
    cuTexRefGetFilterMode [2000 cuTexRefGetFilterMode];
    cuTexRefGetFlags [2000 cuTexRefGetFlags];
    cuTexRefGetFormat [2000 cuTexRefGetFormat];
    cuTexRefGetMaxAnisotropy [5000 cuTexRefGetMaxAnisotropy];
    cuTexRefGetMipmapFilterMode [5000 cuTexRefGetMipmapFilterMode];
    cuTexRefGetMipmapLevelBias [5000 cuTexRefGetMipmapLevelBias];
    cuTexRefGetMipmapLevelClamp [5000 cuTexRefGetMipmapLevelClamp];
    cuTexRefGetMipmappedArray [5000 cuTexRefGetMipmappedArray];
    cuTexRefSetAddress [2000 refused cuTexRefSetAddress] [3020 cuTexRefSetAddress_v2];
    cuTexRefSetAddress2D [2020 refused cuTexRefSetAddress2D] [3020 cuTexRefSetAddress2D_v2] [4010 cuTexRefSetAddress2D_v3];
    cuTexRefSetAddressMode [2000 cuTexRefSetAddressMode];
    cuTexRefSetArray [2000 cuTexRefSetArray];
    cuTexRefSetBorderColor [8000 cuTexRefSetBorderColor];
    cuTexRefSetFilterMode [2000 cuTexRefSetFilterMode];
    cuTexRefSetFlags [2000 cuTexRefSetFlags];
    cuTexRefSetFormat [2000 cuTexRefSetFormat];
    cuTexRefSetMaxAnisotropy [5000 cuTexRefSetMaxAnisotropy];
    cuTexRefSetMipmapFilterMode [5000 cuTexRefSetMipmapFilterMode];
    cuTexRefSetMipmapLevelBias [5000 cuTexRefSetMipmapLevelBias];
    cuTexRefSetMipmapLevelClamp [5000 cuTexRefSetMipmapLevelClamp];
    cuTexRefSetMipmappedArray [5000 cuTexRefSetMipmappedArray];
    cuThreadExchangeStreamCaptureMode [10010 cuThreadExchangeStreamCaptureMode];
    cuUserObjectCreate [11030 cuUserObjectCreate];
    cuUserObjectRelease [11030 cuUserObjectRelease];
    cuUserObjectRetain [11030 cuUserObjectRetain];
    cuWaitExternalSemaphoresAsync [10000 refused cuWaitExternalSemaphoresAsync] [10000 ptsz refused cuWaitExternalSemaphoresAsync_ptsz];
    extra [0 cuGetProcAddress_v2_ptsz];
    extra [0 cuGraphInstantiate_v2];
    extra [0 warploomHostAddress];
    extra [0 warploomLaunchHostFunc];
    extra [0 warploomMemoryWritten];
    extra [0 warploomRefused];
}

#[cfg(test)]
mod tests {
    use super::ENTRIES;

    #[test]
    fn entries_are_in_the_order_of_names() {
        assert!(ENTRIES.is_sorted_by_key(|entry| entry.name));
        assert!(ENTRIES.len() > 600);
    }
}
