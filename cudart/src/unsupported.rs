//! What is not done: interoperation with graphics and other processes, memory and semaphores from outside, and some forms of graphs.
//!
//! The names are there, since a program may be linked with all of them, and return the documented error.

use crate::error::NOT_SUPPORTED;

/// Defines entry points that refuse. They look at no argument, so any number of them may be passed.
macro_rules! unsupported {
    ($($name:ident)*) => {$(
        #[doc = "Not supported."]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> core::ffi::c_int {
            crate::error::entry(|| Err(NOT_SUPPORTED))
        }
    )*};
}

unsupported! {
    cudaArrayGetMemoryRequirements
    cudaArrayGetSparseProperties
    cudaDestroyExternalMemory
    cudaDestroyExternalSemaphore
    cudaDeviceFlushGPUDirectRDMAWrites
    cudaDeviceGetNvSciSyncAttributes
    cudaDeviceGetTexture1DLinearMaxWidth
    cudaDeviceRegisterAsyncNotification
    cudaDeviceUnregisterAsyncNotification
    cudaEGLStreamConsumerAcquireFrame
    cudaEGLStreamConsumerConnect
    cudaEGLStreamConsumerConnectWithFlags
    cudaEGLStreamConsumerDisconnect
    cudaEGLStreamConsumerReleaseFrame
    cudaEGLStreamProducerConnect
    cudaEGLStreamProducerDisconnect
    cudaEGLStreamProducerPresentFrame
    cudaEGLStreamProducerReturnFrame
    cudaEventCreateFromEGLSync
    cudaExternalMemoryGetMappedBuffer
    cudaExternalMemoryGetMappedMipmappedArray
    cudaGLGetDevices
    cudaGLMapBufferObject
    cudaGLMapBufferObjectAsync
    cudaGLRegisterBufferObject
    cudaGLSetBufferObjectMapFlags
    cudaGLSetGLDevice
    cudaGLUnmapBufferObject
    cudaGLUnmapBufferObjectAsync
    cudaGLUnregisterBufferObject
    cudaGetDriverEntryPointByVersion_ptsz
    cudaGetTextureObjectResourceViewDesc
    cudaGraphAddDependencies_v2
    cudaGraphAddExternalSemaphoresSignalNode
    cudaGraphAddExternalSemaphoresWaitNode
    cudaGraphAddMemAllocNode
    cudaGraphAddMemFreeNode
    cudaGraphAddMemcpyNodeFromSymbol
    cudaGraphAddMemcpyNodeToSymbol
    cudaGraphAddNode
    cudaGraphAddNode_v2
    cudaGraphChildGraphNodeGetGraph
    cudaGraphConditionalHandleCreate
    cudaGraphEventRecordNodeGetEvent
    cudaGraphEventRecordNodeSetEvent
    cudaGraphEventWaitNodeGetEvent
    cudaGraphEventWaitNodeSetEvent
    cudaGraphExecChildGraphNodeSetParams
    cudaGraphExecEventRecordNodeSetEvent
    cudaGraphExecEventWaitNodeSetEvent
    cudaGraphExecExternalSemaphoresSignalNodeSetParams
    cudaGraphExecExternalSemaphoresWaitNodeSetParams
    cudaGraphExecGetFlags
    cudaGraphExecHostNodeSetParams
    cudaGraphExecMemcpyNodeSetParams
    cudaGraphExecMemcpyNodeSetParams1D
    cudaGraphExecMemcpyNodeSetParamsFromSymbol
    cudaGraphExecMemcpyNodeSetParamsToSymbol
    cudaGraphExecMemsetNodeSetParams
    cudaGraphExecNodeSetParams
    cudaGraphExternalSemaphoresSignalNodeGetParams
    cudaGraphExternalSemaphoresSignalNodeSetParams
    cudaGraphExternalSemaphoresWaitNodeGetParams
    cudaGraphExternalSemaphoresWaitNodeSetParams
    cudaGraphGetEdges_v2
    cudaGraphHostNodeGetParams
    cudaGraphHostNodeSetParams
    cudaGraphInstantiateWithParams
    cudaGraphInstantiateWithParams_ptsz
    cudaGraphKernelNodeCopyAttributes
    cudaGraphKernelNodeGetAttribute
    cudaGraphKernelNodeGetParams
    cudaGraphKernelNodeSetAttribute
    cudaGraphMemAllocNodeGetParams
    cudaGraphMemFreeNodeGetParams
    cudaGraphMemcpyNodeGetParams
    cudaGraphMemcpyNodeSetParams
    cudaGraphMemcpyNodeSetParams1D
    cudaGraphMemcpyNodeSetParamsFromSymbol
    cudaGraphMemcpyNodeSetParamsToSymbol
    cudaGraphMemsetNodeGetParams
    cudaGraphMemsetNodeSetParams
    cudaGraphNodeFindInClone
    cudaGraphNodeGetDependencies_v2
    cudaGraphNodeGetDependentNodes_v2
    cudaGraphNodeGetEnabled
    cudaGraphNodeSetEnabled
    cudaGraphNodeSetParams
    cudaGraphReleaseUserObject
    cudaGraphRemoveDependencies_v2
    cudaGraphRetainUserObject
    cudaGraphicsEGLRegisterImage
    cudaGraphicsGLRegisterBuffer
    cudaGraphicsGLRegisterImage
    cudaGraphicsMapResources
    cudaGraphicsResourceGetMappedEglFrame
    cudaGraphicsResourceGetMappedMipmappedArray
    cudaGraphicsResourceGetMappedPointer
    cudaGraphicsResourceSetMapFlags
    cudaGraphicsSubResourceGetMappedArray
    cudaGraphicsUnmapResources
    cudaGraphicsUnregisterResource
    cudaGraphicsVDPAURegisterOutputSurface
    cudaGraphicsVDPAURegisterVideoSurface
    cudaImportExternalMemory
    cudaImportExternalSemaphore
    cudaLaunchCooperativeKernelMultiDevice
    cudaMemPoolExportPointer
    cudaMemPoolExportToShareableHandle
    cudaMemPoolImportFromShareableHandle
    cudaMemPoolImportPointer
    cudaMemPrefetchAsync_ptsz
    cudaMemPrefetchAsync_v2_ptsz
    cudaMemcpyArrayToArray_ptds
    cudaMipmappedArrayGetMemoryRequirements
    cudaMipmappedArrayGetSparseProperties
    cudaSignalExternalSemaphoresAsync
    cudaSignalExternalSemaphoresAsync_ptsz
    cudaSignalExternalSemaphoresAsync_v2
    cudaSignalExternalSemaphoresAsync_v2_ptsz
    cudaStreamBeginCaptureToGraph
    cudaStreamBeginCaptureToGraph_ptsz
    cudaStreamCopyAttributes_ptsz
    cudaStreamGetAttribute_ptsz
    cudaStreamGetCaptureInfo_ptsz
    cudaStreamGetCaptureInfo_v3_ptsz
    cudaStreamSetAttribute_ptsz
    cudaStreamUpdateCaptureDependencies_ptsz
    cudaStreamUpdateCaptureDependencies_v2
    cudaStreamUpdateCaptureDependencies_v2_ptsz
    cudaThreadGetCacheConfig
    cudaThreadSetCacheConfig
    cudaUserObjectCreate
    cudaUserObjectRelease
    cudaUserObjectRetain
    cudaVDPAUGetDevice
    cudaVDPAUSetVDPAUDevice
    cudaWaitExternalSemaphoresAsync
    cudaWaitExternalSemaphoresAsync_ptsz
    cudaWaitExternalSemaphoresAsync_v2
    cudaWaitExternalSemaphoresAsync_v2_ptsz
}

/// What only programs of CUDA 11 are linked with: references to textures and surfaces.
#[cfg(runtime = "11")]
mod references {
    unsupported! {
        cudaBindSurfaceToArray
        cudaBindTexture
        cudaBindTexture2D
        cudaBindTextureToArray
        cudaBindTextureToMipmappedArray
        cudaGetSurfaceReference
        cudaGetTextureAlignmentOffset
        cudaGetTextureReference
        cudaUnbindTexture
    }
}
