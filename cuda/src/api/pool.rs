//! Memory pools, and stream-ordered allocation.

use super::device::check;
use super::require;
use crate::boundary::{Ptr, api, plain};
use crate::error::{Answer, Error};
use crate::graph_memory::{self, GraphMemory};
use crate::operation::Operation;
use crate::{allocations, pool, stream};

plain! {
    /// `CUmemPoolProps`.
    pub struct Properties {
        kind: u32,
        handles: u32,
        location: [u32; 2],
        security: u64,
        most: usize,
        usage: u16,
        reserved: [u8; 54],
    }

    /// `CUmemAccessDesc`: the location that accesses the memory, and the access.
    pub struct AccessDescription {
        pub(super) location: [u32; 2],
        pub(super) flags: u32,
    }
}

const _: () = assert!(size_of::<Properties>() == size_of::<cudarc::driver::sys::CUmemPoolProps>());
const _: () =
    assert!(size_of::<AccessDescription>() == size_of::<cudarc::driver::sys::CUmemAccessDesc>());

impl AccessDescription {
    /// Checks that this is full access by the device, which it always has.
    pub(super) fn check(&self) -> Answer {
        require(self.location[0] == 1)?;
        check(self.location[1] as i32)?;
        require(self.flags == 3)
    }
}

impl Properties {
    /// The only supported properties: pinned memory of the device.
    pub(super) const OF_DEVICE: Properties = Properties {
        kind: 1,
        handles: 0,
        location: [1, 0],
        security: 0,
        most: 0,
        usage: 0,
        reserved: [0; 54],
    };

    /// Checks for pinned memory of the device, the only supported kind. Handles for other processes
    /// are not supported.
    pub(super) fn check(&self) -> Answer {
        require(self.kind == 1 && self.location[0] == 1)?;
        check(self.location[1] as i32)?;
        if self.handles == 0 { Ok(()) } else { Err(Error::CUDA_ERROR_NOT_SUPPORTED) }
    }
}

fn allocate(out: Ptr<u64>, bytes: usize, pool: u64, stream: u64) -> Answer {
    out.required()?;
    require(bytes > 0)?;
    let (stream, context) = stream::get(stream)?;
    if stream.capture().is_some() {
        let memory = GraphMemory::new(bytes as u64)?;
        stream.submit(&context, Operation::Hold(memory.clone()))?;
        return out.set(memory.address);
    }
    // No work used the memory before, so it need not wait for the stream.
    out.set(pool::allocate(&context, pool, bytes as u64)?)
}

/// Checks for pinned memory of the device, the only kind of memory in pools.
fn is_device(location: Ptr<[u32; 2]>, kind: u32) -> Answer {
    let [place, device] = location.get()?;
    require(place == 1 && kind == 1)?;
    check(device as i32)
}

api! {
    fn cuMemAllocAsync(out: Ptr<u64>, bytes: usize, stream: u64) / cuMemAllocAsync_ptsz {
        allocate(out, bytes, pool::current(), stream)
    }

    fn cuMemAllocFromPoolAsync(out: Ptr<u64>, bytes: usize, pool: u64, stream: u64) / cuMemAllocFromPoolAsync_ptsz {
        pool::get(pool)?;
        allocate(out, bytes, pool, stream)
    }

    fn cuMemFreeAsync(address: u64, stream: u64) / cuMemFreeAsync_ptsz {
        let (stream, context) = stream::get(stream)?;
        if address == 0 {
            return Ok(());
        }
        let found = allocations::find(address).filter(|found| found.address == address && !found.is_host());
        found.ok_or(super::INVALID)?;
        stream.submit(&context, Operation::Free(address))
    }

    fn cuMemPoolCreate(out: Ptr<u64>, properties: Ptr<Properties>) {
        out.required()?;
        let properties = properties.get()?;
        properties.check()?;
        out.set(pool::create(properties.most as u64))
    }

    fn cuMemPoolDestroy(handle: u64) {
        pool::destroy(handle)
    }

    fn cuMemPoolTrimTo(handle: u64, keep: usize) {
        let _ = keep;
        pool::get(handle).map(|_| ())
    }

    fn cuMemPoolSetAttribute(handle: u64, attribute: u32, value: Ptr<u64>) {
        let pool = pool::get(handle)?;
        pool.set(attribute, value)
    }

    fn cuMemPoolGetAttribute(handle: u64, attribute: u32, value: Ptr<u64>) {
        let pool = pool::get(handle)?;
        pool.put(handle, attribute, value)
    }

    fn cuMemPoolSetAccess(handle: u64, descriptions: Ptr<AccessDescription>, count: usize) {
        pool::get(handle)?;
        descriptions.list(count)?.iter().try_for_each(AccessDescription::check)
    }

    fn cuMemPoolGetAccess(flags: Ptr<u32>, handle: u64, location: Ptr<[u32; 2]>) {
        pool::get(handle)?;
        let location = location.get()?;
        require(location[0] == 1)?;
        check(location[1] as i32)?;
        flags.set(3)
    }

    fn cuDeviceGetGraphMemAttribute(device: i32, which: u32, value: Ptr<u64>) {
        check(device)?;
        graph_memory::attribute(which, value)
    }

    fn cuDeviceSetGraphMemAttribute(device: i32, which: u32, value: Ptr<u64>) {
        check(device)?;
        graph_memory::set_attribute(which, value)
    }

    fn cuDeviceGetDefaultMemPool(out: Ptr<u64>, device: i32) {
        check(device)?;
        out.set(pool::default())
    }

    fn cuDeviceGetMemPool(out: Ptr<u64>, device: i32) {
        check(device)?;
        out.set(pool::current())
    }

    fn cuMemGetDefaultMemPool(out: Ptr<u64>, location: Ptr<[u32; 2]>, kind: u32) {
        is_device(location, kind)?;
        out.set(pool::default())
    }

    fn cuMemGetMemPool(out: Ptr<u64>, location: Ptr<[u32; 2]>, kind: u32) {
        is_device(location, kind)?;
        out.set(pool::current())
    }

    fn cuMemSetMemPool(location: Ptr<[u32; 2]>, kind: u32, handle: u64) {
        is_device(location, kind)?;
        pool::get(handle)?;
        pool::set_current(handle);
        Ok(())
    }

    fn cuDeviceSetMemPool(device: i32, handle: u64) {
        check(device)?;
        pool::get(handle)?;
        pool::set_current(handle);
        Ok(())
    }
}
