//! Start, versions, errors and the addresses of functions.

use std::ffi::{c_char, c_void};

use super::table;
use crate::boundary::{Ptr, early_api};
use crate::error::Error;
use crate::{driver, names};

early_api! {
    fn cuInit(flags: u32) {
        super::require(flags == 0)?;
        driver::init()
    }

    fn cuDriverGetVersion(version: Ptr<i32>) {
        version.set(driver::VERSION)
    }

    fn cuGetErrorName(error: u32, name: Ptr<Ptr<c_char>>) {
        let known = names::error(error);
        name.set(known.map_or(Ptr::NULL, |error| Ptr::constant(names::texts(error).0)))?;
        known.map(|_| ()).ok_or(super::INVALID)
    }

    fn cuGetErrorString(error: u32, text: Ptr<Ptr<c_char>>) {
        let known = names::error(error);
        text.set(known.map_or(Ptr::NULL, |error| Ptr::constant(names::texts(error).1)))?;
        known.map(|_| ()).ok_or(super::INVALID)
    }

    fn cuGetProcAddress(name: Ptr<c_char>, function: Ptr<Ptr<c_void>>, version: i32, flags: u64) {
        table::resolve(name, function, version, flags, Ptr::NULL)
    }

    fn cuGetProcAddress_v2(name: Ptr<c_char>, function: Ptr<Ptr<c_void>>, version: i32, flags: u64, status: Ptr<i32>) {
        table::resolve(name, function, version, flags, status)
    }

    fn cuGetProcAddress_v2_ptsz(name: Ptr<c_char>, function: Ptr<Ptr<c_void>>, version: i32, flags: u64, status: Ptr<i32>) {
        table::resolve(name, function, version, flags, status)
    }

    /// No table of NVIDIA's is imitated. Programs that carry NVIDIA's runtime ask for some, and cannot go on.
    fn cuGetExportTable(table: Ptr<Ptr<c_void>>, id: Ptr<[u8; 16]>) {
        id.required()?;
        table.set(Ptr::NULL)?;
        crate::trace::export_table(id.get()?);
        Err(Error::CUDA_ERROR_NOT_SUPPORTED)
    }
}
