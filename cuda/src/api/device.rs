//! The device; there is one.

use std::ffi::c_char;

use super::require;
use crate::boundary::{Ptr, api};
use crate::error::{Answer, Error};
use crate::{context, device, driver};

/// Checks that a device handle is 0, the number of the one device.
pub(super) fn check(device: i32) -> Answer {
    if device == 0 { Ok(()) } else { Err(Error::CUDA_ERROR_INVALID_DEVICE) }
}

/// The PCI address of the board that this device pretends to be on.
const PCI: &str = "0000:01:00.0";

api! {
    fn cuDeviceGet(device: Ptr<i32>, ordinal: i32) {
        device.required()?;
        check(ordinal)?;
        device.set(ordinal)
    }

    fn cuDeviceGetCount(count: Ptr<i32>) {
        count.set(1)
    }

    fn cuDeviceGetName(name: Ptr<c_char>, length: i32, device: i32) {
        name.required()?;
        check(device)?;
        require(length > 0)?;
        name.put_text(&driver::get().profile.name(), length as usize);
        Ok(())
    }

    fn cuDeviceGetUuid(uuid: Ptr<[u8; 16]>, device: i32) {
        uuid.required()?;
        check(device)?;
        uuid.set(device::uuid())
    }

    fn cuDeviceGetUuid_v2(uuid: Ptr<[u8; 16]>, device: i32) {
        uuid.required()?;
        check(device)?;
        uuid.set(device::uuid())
    }

    fn cuDeviceGetLuid(luid: Ptr<u64>, mask: Ptr<u32>, device: i32) {
        let _ = (luid, mask);
        check(device)?;
        Err(Error::CUDA_ERROR_NOT_SUPPORTED)
    }

    fn cuDeviceTotalMem_v2(bytes: Ptr<usize>, device: i32) {
        bytes.required()?;
        check(device)?;
        bytes.set(driver::get().capacity as usize)
    }

    fn cuDeviceGetAttribute(value: Ptr<i32>, attribute: i32, device: i32) {
        value.required()?;
        check(device)?;
        value.set(driver::get().profile.attribute(attribute).ok_or(super::INVALID)?)
    }

    fn cuDeviceComputeCapability(major: Ptr<i32>, minor: Ptr<i32>, device: i32) {
        major.required()?;
        check(device)?;
        let sm = driver::get().profile.sm as i32;
        major.set(sm / 10)?;
        minor.set(sm % 10)
    }

    fn cuDeviceGetProperties(properties: Ptr<[u32; 13]>, device: i32) {
        check(device)?;
        let attribute = |number| driver::get().profile.attribute(number).unwrap_or(0) as u32;
        // Threads, block and grid dimensions, shared memory, constants, warp, pitch, registers,
        // clock, alignment.
        let numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map(attribute);
        properties.set(numbers)?;
        properties.cast::<u32>().set_at(13, attribute(14));
        Ok(())
    }

    fn cuDeviceGetPCIBusId(text: Ptr<c_char>, length: i32, device: i32) {
        text.required()?;
        check(device)?;
        require(length > 0)?;
        text.put_text(PCI, length as usize);
        Ok(())
    }

    fn cuDeviceGetByPCIBusId(device: Ptr<i32>, text: Ptr<c_char>) {
        let text = text.text()?;
        let known = [PCI, "01:00.0", "0000:01:00", "01:00"].contains(&text.to_ascii_lowercase().as_str());
        if known { device.set(0) } else { Err(Error::CUDA_ERROR_INVALID_DEVICE) }
    }

    fn cuDeviceCanAccessPeer(can: Ptr<i32>, device: i32, peer: i32) {
        check(device)?;
        check(peer)?;
        can.set(0)
    }

    fn cuDeviceGetP2PAttribute(value: Ptr<i32>, attribute: u32, from: i32, to: i32) {
        let _ = (value, attribute);
        check(from)?;
        check(to)?;
        // A device is not its own peer.
        Err(Error::CUDA_ERROR_INVALID_DEVICE)
    }

    fn cuDeviceGetTexture1DLinearMaxWidth(width: Ptr<usize>, format: u32, channels: u32, device: i32) {
        let _ = (format, channels);
        check(device)?;
        width.set(driver::get().profile.attribute(69).unwrap_or(0) as usize)
    }

    fn cuDeviceGetExecAffinitySupport(supported: Ptr<i32>, kind: u32, device: i32) {
        let _ = kind;
        check(device)?;
        supported.set(0)
    }

    fn cuDeviceGetHostAtomicCapabilities(capabilities: Ptr<u32>, operations: Ptr<u32>, count: u32, device: i32) {
        let _ = operations;
        check(device)?;
        for i in 0..count as usize {
            capabilities.set_at(i, 0);
        }
        Ok(())
    }

    fn cuDevicePrimaryCtxRetain(out: Ptr<u64>, device: i32) {
        out.required()?;
        check(device)?;
        out.set(context::retain_primary())
    }

    fn cuDevicePrimaryCtxRelease(device: i32) {
        check(device)?;
        context::release_primary()
    }

    fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        check(device)?;
        context::release_primary()
    }

    fn cuDevicePrimaryCtxReset(device: i32) {
        check(device)?;
        context::reset_primary()
    }

    fn cuDevicePrimaryCtxReset_v2(device: i32) {
        check(device)?;
        context::reset_primary()
    }

    fn cuDevicePrimaryCtxSetFlags(device: i32, flags: u32) {
        check(device)?;
        require(super::context::are_flags(flags))?;
        context::set_primary_flags(flags);
        Ok(())
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) {
        check(device)?;
        require(super::context::are_flags(flags))?;
        context::set_primary_flags(flags);
        Ok(())
    }

    fn cuDevicePrimaryCtxGetState(device: i32, flags: Ptr<u32>, active: Ptr<i32>) {
        check(device)?;
        let (now, is_active) = context::primary_state();
        flags.set(now)?;
        active.set(is_active.into())
    }
}
