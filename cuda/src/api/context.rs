//! Contexts.

use std::sync::atomic::Ordering::Relaxed;

use super::device::check;
use super::require;
use crate::boundary::{Ptr, api};
use crate::context::{self, Context};
use crate::error::Error;

/// Returns whether these are valid `CUctx_flags`: at most one way of waiting, mapped host memory,
/// local memory that stays, core dumps, synchronous memory operations.
pub(super) fn are_flags(flags: u32) -> bool {
    flags & !0xff == 0 && matches!(flags & 7, 0 | 1 | 2 | 4)
}

/// The API version that contexts report.
const API_VERSION: u32 = 3020;

fn create(out: Ptr<u64>, flags: u32, device: i32) -> crate::error::Answer {
    out.required()?;
    check(device)?;
    require(are_flags(flags))?;
    out.set(Context::create(flags).handle)
}

api! {
    fn cuCtxCreate_v2(out: Ptr<u64>, flags: u32, device: i32) {
        create(out, flags, device)
    }

    fn cuCtxCreate_v3(out: Ptr<u64>, affinity: Ptr<u8>, count: i32, flags: u32, device: i32) {
        if !affinity.is_null() && count > 0 {
            return Err(Error::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
        }
        create(out, flags, device)
    }

    fn cuCtxCreate_v4(out: Ptr<u64>, params: Ptr<[u64; 3]>, flags: u32, device: i32) {
        // The execution affinities and their number, and the parameters for graphics.
        if !params.is_null() && params.get()?.iter().any(|&param| param != 0) {
            return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
        }
        create(out, flags, device)
    }

    fn cuCtxDestroy(handle: u64) {
        context::destroy(handle)
    }

    fn cuCtxDestroy_v2(handle: u64) {
        context::destroy(handle)
    }

    fn cuCtxAttach(out: Ptr<u64>, flags: u32) {
        require(flags == 0)?;
        out.set(context::current()?.handle)
    }

    fn cuCtxDetach(handle: u64) {
        if context::get(handle)?.is_primary { Ok(()) } else { context::destroy(handle) }
    }

    fn cuCtxPushCurrent(handle: u64) {
        context::get(handle)?;
        context::push(handle);
        Ok(())
    }

    fn cuCtxPushCurrent_v2(handle: u64) {
        context::get(handle)?;
        context::push(handle);
        Ok(())
    }

    fn cuCtxPopCurrent(out: Ptr<u64>) {
        out.set_if(context::pop()?);
        Ok(())
    }

    fn cuCtxPopCurrent_v2(out: Ptr<u64>) {
        out.set_if(context::pop()?);
        Ok(())
    }

    fn cuCtxSetCurrent(handle: u64) {
        if handle != 0 {
            context::get(handle)?;
        }
        context::set_current(handle);
        Ok(())
    }

    fn cuCtxGetCurrent(out: Ptr<u64>) {
        out.set(context::current_handle())
    }

    fn cuCtxGetDevice(device: Ptr<i32>) {
        device.required()?;
        context::current_even_failed()?;
        device.set(0)
    }

    fn cuCtxGetDevice_v2(device: Ptr<i32>, handle: u64) {
        device.required()?;
        if handle == 0 {
            context::current_even_failed()?;
        } else {
            context::get(handle)?;
        }
        device.set(0)
    }

    fn cuCtxGetFlags(flags: Ptr<u32>) {
        flags.set(context::current()?.flags.load(Relaxed))
    }

    fn cuCtxSetFlags(flags: u32) {
        require(are_flags(flags))?;
        context::current()?.flags.store(flags, Relaxed);
        Ok(())
    }

    fn cuCtxGetId(handle: u64, id: Ptr<u64>) {
        let context = if handle == 0 { context::current()? } else { context::get(handle)? };
        id.set(context.handle)
    }

    fn cuCtxGetApiVersion(handle: u64, version: Ptr<u32>) {
        if handle == 0 {
            context::current()?;
        } else {
            context::get(handle)?;
        }
        version.set(API_VERSION)
    }

    fn cuCtxSynchronize() {
        let context = context::current()?;
        if context.is_capturing() {
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        }
        context.synchronize()
    }

    fn cuCtxSynchronize_v2(handle: u64) {
        context::get(handle)?.synchronize()
    }

    fn cuCtxGetLimit(value: Ptr<usize>, limit: u32) {
        value.required()?;
        let found = context::current()?.limit(limit);
        value.set(found.ok_or(Error::CUDA_ERROR_UNSUPPORTED_LIMIT)? as usize)
    }

    fn cuCtxSetLimit(limit: u32, value: usize) {
        context::current()?.set_limit(limit, value as u64)
    }

    fn cuCtxGetCacheConfig(config: Ptr<u32>) {
        config.set(context::current()?.cache_config.load(Relaxed))
    }

    fn cuCtxSetCacheConfig(config: u32) {
        require(config <= 3)?;
        context::current()?.cache_config.store(config, Relaxed);
        Ok(())
    }

    fn cuCtxGetSharedMemConfig(config: Ptr<u32>) {
        config.set(context::current()?.shared_config.load(Relaxed))
    }

    fn cuCtxSetSharedMemConfig(config: u32) {
        require(config <= 2)?;
        context::current()?.shared_config.store(config, Relaxed);
        Ok(())
    }

    fn cuCtxGetStreamPriorityRange(least: Ptr<i32>, greatest: Ptr<i32>) {
        context::current()?;
        least.set_if(0);
        greatest.set_if(super::stream::GREATEST_PRIORITY);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache() {
        context::current().map(|_| ())
    }

    fn cuCtxEnablePeerAccess(peer: u64, flags: u32) {
        require(flags == 0)?;
        context::get(peer)?;
        // There is no second device, and a device is not its own peer.
        Err(Error::CUDA_ERROR_INVALID_DEVICE)
    }

    fn cuCtxDisablePeerAccess(peer: u64) {
        context::get(peer)?;
        Err(Error::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
    }

    fn cuCtxGetExecAffinity(affinity: Ptr<u8>, kind: u32) {
        let _ = (affinity, kind);
        Err(Error::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)
    }

    fn cuCtxRecordEvent(handle: u64, event: u64) {
        let (context, (event, _)) = (context::get(handle)?, crate::event::get(event)?);
        let number = event.ask();
        context.synchronize()?;
        event.come(number);
        Ok(())
    }

    fn cuCtxWaitEvent(handle: u64, event: u64) {
        let (context, (event, _)) = (context::get(handle)?, crate::event::get(event)?);
        event.wait(&context)
    }

    /// Does nothing, as there is no profile to collect.
    fn cuProfilerStart() {
        context::current().map(|_| ())
    }

    fn cuProfilerStop() {
        context::current().map(|_| ())
    }

    fn cuFlushGPUDirectRDMAWrites(target: u32, scope: u32) {
        let _ = (target, scope);
        Err(Error::CUDA_ERROR_NOT_SUPPORTED)
    }
}
