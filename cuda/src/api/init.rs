//! Initialisation, versions, errors and addresses of functions.

use std::ffi::c_char;

use super::table;
use crate::boundary::{Ptr, address_of, early_api};
use crate::error::Error;
use crate::{allocations, driver, names};

early_api! {
    fn cuInit(flags: u32) {
        super::require(flags == 0)?;
        driver::init()
    }

    fn cuDriverGetVersion(version: Ptr<i32>) {
        version.set(driver::VERSION)
    }

    fn cuGetErrorName(error: u32, name: Ptr<u64>) {
        let known = names::error(error);
        name.set(known.map_or(0, |error| address_of(names::texts(error).0.to_bytes_with_nul())))?;
        known.map(|_| ()).ok_or(super::INVALID)
    }

    fn cuGetErrorString(error: u32, text: Ptr<u64>) {
        let known = names::error(error);
        text.set(known.map_or(0, |error| address_of(names::texts(error).1.to_bytes_with_nul())))?;
        known.map(|_| ()).ok_or(super::INVALID)
    }

    fn cuGetProcAddress(name: Ptr<c_char>, function: Ptr<u64>, version: i32, flags: u64) {
        table::resolve(name, function, version, flags, Ptr::NULL)
    }

    fn cuGetProcAddress_v2(name: Ptr<c_char>, function: Ptr<u64>, version: i32, flags: u64, status: Ptr<i32>) {
        table::resolve(name, function, version, flags, status)
    }

    fn cuGetProcAddress_v2_ptsz(name: Ptr<c_char>, function: Ptr<u64>, version: i32, flags: u64, status: Ptr<i32>) {
        table::resolve(name, function, version, flags, status)
    }

    /// Counts a call of a function that a library on top of the driver does not provide. The
    /// runtime library prints the function's name itself.
    fn warploomRefused(name: Ptr<c_char>) {
        crate::trace::count_refused(&name.text()?);
        Ok(())
    }

    /// Gets the host's address of device memory, for libraries that compute on the CPU. The bytes lie
    /// there one after the other, and can be read and written. Host functions may call this.
    fn warploomHostAddress(out: Ptr<u64>, address: u64, bytes: usize) {
        let found = driver::memory().host_address(address, bytes as u64);
        out.set(found.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?)
    }

    /// Notes that a library's host function writes to device memory, for the check of
    /// initialisation. Host functions may call this.
    fn warploomMemoryWritten(address: u64, bytes: usize) {
        if let Some(written) = allocations::written() {
            written.write(address, bytes as u64);
        }
        Ok(())
    }

    /// Provides none of NVIDIA's tables. Programs that contain NVIDIA's runtime ask for some and
    /// cannot continue.
    fn cuGetExportTable(table: Ptr<u64>, id: Ptr<[u8; 16]>) {
        id.required()?;
        table.set(0)?;
        crate::trace::export_table(id.get()?);
        Err(Error::CUDA_ERROR_NOT_SUPPORTED)
    }
}
