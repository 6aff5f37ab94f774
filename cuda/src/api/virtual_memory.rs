//! Virtual memory management.

use super::device::check;
use super::pool::AccessDescription;
use super::require;
use crate::boundary::{Ptr, api, plain};
use crate::error::{Answer, Error};
use crate::virtual_memory::{self as memory, GRANULARITY};

plain! {
    /// `CUmemAllocationProp`.
    pub struct Properties {
        kind: u32,
        handles: u32,
        location: [u32; 2],
        rest: [u64; 2],
    }
}

const _: () =
    assert!(size_of::<Properties>() == size_of::<cudarc::driver::sys::CUmemAllocationProp>());

/// A value of `CUmemLocationType`.
const DEVICE: u32 = 1;

fn is_device(location: [u32; 2]) -> Answer {
    require(location[0] == DEVICE)?;
    check(location[1] as i32)
}

impl Properties {
    /// Checks for pinned memory of the device. Handles for other processes are not supported.
    fn check(&self) -> Answer {
        require(self.kind == 1)?;
        is_device(self.location)?;
        if self.handles == 0 { Ok(()) } else { Err(Error::CUDA_ERROR_NOT_SUPPORTED) }
    }

    fn words(&self) -> memory::Properties {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        [
            pair(self.kind, self.handles),
            pair(self.location[0], self.location[1]),
            self.rest[0],
            self.rest[1],
        ]
    }
}

api! {
    fn cuMemAddressReserve(out: Ptr<u64>, bytes: usize, align: usize, _wish: u64, flags: u64) {
        out.required()?;
        require(flags == 0)?;
        out.set(memory::reserve(bytes as u64, align as u64)?)
    }

    fn cuMemAddressFree(address: u64, bytes: usize) {
        memory::free(address, bytes as u64)
    }

    fn cuMemCreate(out: Ptr<u64>, bytes: usize, properties: Ptr<Properties>, flags: u64) {
        out.required()?;
        let properties = properties.get()?;
        properties.check()?;
        require(flags == 0)?;
        out.set(memory::create(bytes as u64, properties.words())?)
    }

    fn cuMemRelease(handle: u64) {
        memory::release(handle)
    }

    fn cuMemRetainAllocationHandle(out: Ptr<u64>, address: u64) {
        out.required()?;
        out.set(memory::retain(address)?)
    }

    fn cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, flags: u64) {
        require(offset == 0 && flags == 0)?;
        memory::map(address, bytes as u64, handle)
    }

    fn cuMemUnmap(address: u64, bytes: usize) {
        memory::unmap(address, bytes as u64)
    }

    fn cuMemSetAccess(address: u64, bytes: usize, descriptions: Ptr<AccessDescription>, count: usize) {
        require(count > 0)?;
        for description in descriptions.list(count)? {
            is_device(description.location)?;
            memory::set_access(address, bytes as u64, description.flags)?;
        }
        Ok(())
    }

    fn cuMemGetAccess(flags: Ptr<u64>, location: Ptr<[u32; 2]>, address: u64) {
        flags.required()?;
        is_device(location.get()?)?;
        flags.set(memory::access(address)?.into())
    }

    fn cuMemGetAllocationGranularity(out: Ptr<usize>, properties: Ptr<Properties>, option: u32) {
        out.required()?;
        properties.get()?.check()?;
        // The minimum and the recommended granularity.
        require(option <= 1)?;
        out.set(GRANULARITY as usize)
    }

    fn cuMemGetAllocationPropertiesFromHandle(out: Ptr<[u64; 4]>, handle: u64) {
        out.required()?;
        out.set(memory::get(handle)?.properties)
    }
}
