//! Allocation of device, host and managed memory.

use std::ffi::c_void;

use super::require;
use crate::allocations::{self, Kind};
use crate::boundary::{Ptr, api};
use crate::error::Error;
use crate::{context, driver};

/// The alignment of rows of pitched memory.
const PITCH: u64 = 512;
/// Flags of `cuMemHostAlloc`: portable, mapped, write combined.
const HOST_FLAGS: u32 = 7;
const DEVICE_MAP: u32 = 2;
/// Flags of `cuMemHostRegister`: portable, mapped, I/O memory of a device, read only.
const REGISTER_FLAGS: u32 = 0xf;

fn is_device(kind: Kind) -> bool {
    matches!(kind, Kind::Device | Kind::Managed | Kind::Pool(_) | Kind::Graph)
}

fn register(pointer: Ptr<c_void>, bytes: usize, flags: u32) -> crate::error::Answer {
    pointer.required()?;
    require(flags & !REGISTER_FLAGS == 0 && bytes > 0)?;
    let context = context::current()?;
    allocations::register(&context, pointer, bytes as u64, flags | DEVICE_MAP)
}

api! {
    fn cuMemGetInfo_v2(free: Ptr<usize>, total: Ptr<usize>) {
        context::current()?;
        free.set_if(allocations::free_bytes() as usize);
        total.set_if(driver::get().capacity as usize);
        Ok(())
    }

    fn cuMemAlloc_v2(out: Ptr<u64>, bytes: usize) {
        out.required()?;
        require(bytes > 0)?;
        let context = context::current()?;
        out.set(allocations::allocate(&context, bytes as u64, Kind::Device, 0)?)
    }

    fn cuMemAllocPitch_v2(out: Ptr<u64>, pitch: Ptr<usize>, width: usize, height: usize, element: u32) {
        out.required()?;
        pitch.required()?;
        require(width > 0 && height > 0 && matches!(element, 4 | 8 | 16))?;
        let context = context::current()?;
        let row = (width as u64).checked_next_multiple_of(PITCH).ok_or(Error::CUDA_ERROR_OUT_OF_MEMORY)?;
        let bytes = row.checked_mul(height as u64).ok_or(Error::CUDA_ERROR_OUT_OF_MEMORY)?;
        out.set(allocations::allocate(&context, bytes, Kind::Device, 0)?)?;
        pitch.set(row as usize)
    }

    fn cuMemFree_v2(address: u64) {
        context::current()?;
        if address == 0 { Ok(()) } else { allocations::free(address, is_device) }
    }

    fn cuMemGetAddressRange_v2(base: Ptr<u64>, size: Ptr<usize>, address: u64) {
        context::current()?;
        let found = allocations::find(address);
        let (start, bytes) = match found {
            Some(found) => (found.address, found.bytes),
            None => driver::memory().range_of(address).ok_or(Error::CUDA_ERROR_NOT_FOUND)?,
        };
        base.set_if(start);
        size.set_if(bytes as usize);
        Ok(())
    }

    fn cuMemAllocManaged(out: Ptr<u64>, bytes: usize, flags: u32) {
        out.required()?;
        // Attached to all streams, or first to the host.
        require(bytes > 0 && matches!(flags, 1 | 2))?;
        let context = context::current()?;
        out.set(allocations::allocate(&context, bytes as u64, Kind::Managed, flags)?)
    }

    fn cuMemAllocHost_v2(out: Ptr<u64>, bytes: usize) {
        out.required()?;
        let context = context::current()?;
        out.set(allocations::allocate(&context, bytes as u64, Kind::Pinned, DEVICE_MAP)?)
    }

    fn cuMemHostAlloc(out: Ptr<u64>, bytes: usize, flags: u32) {
        out.required()?;
        require(flags & !HOST_FLAGS == 0)?;
        let context = context::current()?;
        out.set(allocations::allocate(&context, bytes as u64, Kind::Pinned, flags | DEVICE_MAP)?)
    }

    fn cuMemFreeHost(pointer: Ptr<c_void>) {
        context::current()?;
        if pointer.is_null() {
            return Ok(());
        }
        allocations::free(pointer.address(), |kind| kind == Kind::Pinned)
    }

    fn cuMemHostGetDevicePointer_v2(out: Ptr<u64>, pointer: Ptr<c_void>, flags: u32) {
        out.required()?;
        require(flags == 0)?;
        context::current()?;
        let found = allocations::find(pointer.address()).filter(|found| found.is_for_host());
        found.ok_or(super::INVALID)?;
        out.set(pointer.address())
    }

    fn cuMemHostGetFlags(flags: Ptr<u32>, pointer: Ptr<c_void>) {
        flags.required()?;
        context::current()?;
        let found = allocations::find(pointer.address()).filter(|found| found.kind == Kind::Pinned);
        flags.set(found.ok_or(super::INVALID)?.flags)
    }

    fn cuMemHostRegister(pointer: Ptr<c_void>, bytes: usize, flags: u32) {
        register(pointer, bytes, flags)
    }

    fn cuMemHostRegister_v2(pointer: Ptr<c_void>, bytes: usize, flags: u32) {
        register(pointer, bytes, flags)
    }

    fn cuMemHostUnregister(pointer: Ptr<c_void>) {
        pointer.required()?;
        context::current()?;
        allocations::unregister(pointer.address())
    }
}

/// Returns whether a word is a valid `CUmemLocation`: the kind (device, host and its parts), and
/// the number.
pub(super) fn is_location(location: u64) -> bool {
    let (kind, id) = (location as u32, (location >> 32) as i32);
    match kind {
        1 => id == 0,
        2..=4 => true,
        _ => false,
    }
}

/// Checks that the bytes are managed memory.
pub(super) fn managed(address: u64, bytes: u64) -> crate::error::Answer {
    context::current()?;
    let found = allocations::find(address).filter(|found| found.kind == Kind::Managed);
    let found = found.ok_or(super::INVALID)?;
    require(bytes <= found.bytes - (address - found.address))
}
