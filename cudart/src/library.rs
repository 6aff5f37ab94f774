//! Libraries of device code that a program loads itself. CUDA 11 has none.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use crate::api::{api, put};
use crate::context::{device, enter};
use crate::driver;
use crate::registry::know;
use crate::types::{DevicePointer, Handle};

api! {
    /// Loads a library from memory. Options have the driver's numbers.
    fn cudaLibraryLoadData(
        library: *mut Handle, code: *const c_void, jit_options: *mut c_int, jit_values: *mut *mut c_void, jit_count: c_uint,
        options: *mut c_int, values: *mut *mut c_void, count: c_uint,
    ) {
        enter()?;
        driver::cuLibraryLoadData(library, code, jit_options, jit_values, jit_count, options, values, count)
    }

    /// Loads a library from a file.
    fn cudaLibraryLoadFromFile(
        library: *mut Handle, path: *const c_char, jit_options: *mut c_int, jit_values: *mut *mut c_void, jit_count: c_uint,
        options: *mut c_int, values: *mut *mut c_void, count: c_uint,
    ) {
        enter()?;
        driver::cuLibraryLoadFromFile(library, path, jit_options, jit_values, jit_count, options, values, count)
    }

    /// Unloads a library.
    fn cudaLibraryUnload(library: Handle) {
        driver::cuLibraryUnload(library)
    }

    /// Gets a library's kernel by its name.
    fn cudaLibraryGetKernel(into: *mut Handle, library: Handle, name: *const c_char) {
        enter()?;
        let mut found = null_mut();
        driver::cuLibraryGetKernel(&mut found, library, name)?;
        know(found);
        put(into, found)
    }

    /// Gets the number of a library's kernels.
    fn cudaLibraryGetKernelCount(count: *mut c_uint, library: Handle) {
        driver::cuLibraryGetKernelCount(count, library)
    }

    /// Gets a library's kernels.
    fn cudaLibraryEnumerateKernels(kernels: *mut Handle, count: c_uint, library: Handle) {
        driver::cuLibraryEnumerateKernels(kernels, count, library)?;
        for at in 0..count as usize {
            know(*kernels.add(at));
        }
        Ok(())
    }

    /// Gets the address and size of a library's variable by its name.
    fn cudaLibraryGetGlobal(pointer: *mut *mut c_void, bytes: *mut usize, library: Handle, name: *const c_char) {
        enter()?;
        driver::cuLibraryGetGlobal(pointer.cast::<DevicePointer>(), bytes, library, name)
    }

    /// Gets the address and size of a library's managed variable by its name.
    fn cudaLibraryGetManaged(pointer: *mut *mut c_void, bytes: *mut usize, library: Handle, name: *const c_char) {
        enter()?;
        driver::cuLibraryGetManaged(pointer.cast::<DevicePointer>(), bytes, library, name)
    }

    /// Gets a library's function that all processors reach at one address.
    fn cudaLibraryGetUnifiedFunction(function: *mut *mut c_void, library: Handle, name: *const c_char) {
        enter()?;
        driver::cuLibraryGetUnifiedFunction(function, library, name)
    }

    /// Sets one of a kernel's attributes, on one device.
    fn cudaKernelSetAttributeForDevice(kernel: Handle, attribute: c_int, value: c_int, on: c_int) {
        driver::cuKernelSetAttribute(attribute, value, kernel, device(on)?)
    }
}
