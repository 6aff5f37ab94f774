//! Arrays: images with a layout that only the driver knows.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use crate::api::{api, get, put, required};
use crate::context::{device, enter};
use crate::driver;
use crate::error::{INVALID_CHANNEL_DESCRIPTOR, INVALID_VALUE, Result};
use crate::types::{Array3DDescriptor, ChannelFormat, Extent, Handle};

/// Kind of the components (0 signed, 1 unsigned, 2 float), their bits, and the `CUarray_format`.
const FORMATS: [(c_int, c_int, c_int); 8] = [
    (1, 8, 1),
    (1, 16, 2),
    (1, 32, 3),
    (0, 8, 8),
    (0, 16, 9),
    (0, 32, 10),
    (2, 16, 0x10),
    (2, 32, 0x20),
];

/// Returns the driver's format and the number of components.
pub fn to_driver(format: ChannelFormat) -> Result<(c_int, c_uint)> {
    let channels = format.bits.iter().take_while(|bits| **bits != 0).count();
    let alike = format.bits[..channels].iter().all(|bits| *bits == format.bits[0]);
    let rest_empty = format.bits[channels..].iter().all(|bits| *bits == 0);
    if !matches!(channels, 1 | 2 | 4) || !alike || !rest_empty {
        return Err(INVALID_CHANNEL_DESCRIPTOR);
    }
    let known =
        FORMATS.iter().find(|(kind, bits, _)| (*kind, *bits) == (format.kind, format.bits[0]));
    known.map(|(_, _, driver)| (*driver, channels as c_uint)).ok_or(INVALID_CHANNEL_DESCRIPTOR)
}

/// Returns the runtime's form of a driver's format.
pub fn from_driver(format: c_int, channels: c_uint) -> Result<ChannelFormat> {
    let (kind, bits, _) = FORMATS
        .iter()
        .find(|(_, _, driver)| *driver == format)
        .ok_or(INVALID_CHANNEL_DESCRIPTOR)?;
    Ok(ChannelFormat {
        bits: std::array::from_fn(|at| if at < channels as usize { *bits } else { 0 }),
        kind: *kind,
    })
}

/// Returns the driver's description of an array.
pub fn descriptor(array: Handle) -> Result<Array3DDescriptor> {
    enter()?;
    let mut descriptor = Array3DDescriptor::default();
    // SAFETY: the output is this function's; the driver checks the array
    unsafe { driver::cuArray3DGetDescriptor_v2(&mut descriptor, array)? };
    Ok(descriptor)
}

/// Returns the bytes of one element of an array.
pub fn element_bytes(array: Handle) -> Result<usize> {
    let descriptor = descriptor(array)?;
    let format = from_driver(descriptor.format, descriptor.channels)?;
    Ok(format.bits.iter().sum::<c_int>() as usize / 8)
}

/// Returns an array's size in elements.
pub fn extent_of(array: Handle) -> Result<Extent> {
    let Array3DDescriptor { width, height, depth, .. } = descriptor(array)?;
    Ok(Extent { width, height, depth })
}

/// Returns the driver's description of a requested array. The flags have the driver's bits.
fn described(format: &ChannelFormat, extent: Extent, flags: c_uint) -> Result<Array3DDescriptor> {
    let (format, channels) = to_driver(*format)?;
    let Extent { width, height, depth } = extent;
    Ok(Array3DDescriptor { width, height, depth, format, channels, flags })
}

/// # Safety
///
/// Pointers are null or valid.
unsafe fn create(
    array: *mut Handle,
    format: *const ChannelFormat,
    extent: Extent,
    flags: c_uint,
) -> Result<()> {
    enter()?;
    required(array)?;
    let mut made = null_mut();
    // SAFETY: the caller's promise; the output is this function's
    unsafe {
        let descriptor = described(get(format)?, extent, flags)?;
        driver::cuArray3DCreate_v2(&mut made, &descriptor)?;
        put(array, made)
    }
}

api! {
    /// Allocates an array of one or two dimensions.
    fn cudaMallocArray(array: *mut Handle, format: *const ChannelFormat, width: usize, height: usize, flags: c_uint) {
        create(array, format, Extent { width, height, depth: 0 }, flags)
    }

    /// Allocates an array of any kind.
    fn cudaMalloc3DArray(array: *mut Handle, format: *const ChannelFormat, extent: Extent, flags: c_uint) {
        create(array, format, extent, flags)
    }

    /// Frees an array.
    fn cudaFreeArray(array: Handle) {
        if array.is_null() { Ok(()) } else { driver::cuArrayDestroy(array) }
    }

    /// Allocates an array with mipmaps.
    fn cudaMallocMipmappedArray(
        array: *mut Handle, format: *const ChannelFormat, extent: Extent, levels: c_uint, flags: c_uint,
    ) {
        enter()?;
        required(array)?;
        let descriptor = described(get(format)?, extent, flags)?;
        let mut made = null_mut();
        driver::cuMipmappedArrayCreate(&mut made, &descriptor, levels)?;
        put(array, made)
    }

    /// Gets one level of a mipmapped array.
    fn cudaGetMipmappedArrayLevel(level: *mut Handle, array: Handle, index: c_uint) {
        driver::cuMipmappedArrayGetLevel(level, array, index)
    }

    /// Frees a mipmapped array.
    fn cudaFreeMipmappedArray(array: Handle) {
        if array.is_null() { Ok(()) } else { driver::cuMipmappedArrayDestroy(array) }
    }

    /// Gets one plane of a multi-planar array.
    fn cudaArrayGetPlane(plane: *mut Handle, array: Handle, index: c_uint) {
        driver::cuArrayGetPlane(plane, array, index)
    }

    /// Gets the bytes and alignment that an array needs on a device.
    fn cudaArrayGetMemoryRequirements(requirements: *mut c_void, array: Handle, on: c_int) {
        driver::cuArrayGetMemoryRequirements(requirements, array, device(on)?)
    }

    /// Gets the bytes and alignment that a mipmapped array needs on a device.
    fn cudaMipmappedArrayGetMemoryRequirements(requirements: *mut c_void, array: Handle, on: c_int) {
        driver::cuMipmappedArrayGetMemoryRequirements(requirements, array, device(on)?)
    }

    /// Gets the tiles of a sparse array.
    fn cudaArrayGetSparseProperties(properties: *mut c_void, array: Handle) {
        driver::cuArrayGetSparseProperties(properties, array)
    }

    /// Gets the tiles of a sparse mipmapped array.
    fn cudaMipmappedArrayGetSparseProperties(properties: *mut c_void, array: Handle) {
        driver::cuMipmappedArrayGetSparseProperties(properties, array)
    }

    /// Gets the largest width of a one-dimensional texture of linear memory, in elements.
    fn cudaDeviceGetTexture1DLinearMaxWidth(width: *mut usize, format: *const ChannelFormat, of: c_int) {
        let (format, channels) = to_driver(*get(format)?)?;
        driver::cuDeviceGetTexture1DLinearMaxWidth(width, format, channels, device(of)?)
    }

    /// Gets an array's format, size and flags. A null pointer skips its value.
    fn cudaArrayGetInfo(format: *mut ChannelFormat, extent: *mut Extent, flags: *mut c_uint, array: Handle) {
        let found = descriptor(array)?;
        if !format.is_null() {
            put(format, from_driver(found.format, found.channels)?)?;
        }
        if !extent.is_null() {
            put(extent, extent_of(array)?)?;
        }
        if !flags.is_null() {
            put(flags, found.flags)?;
        }
        Ok(())
    }

    /// Gets the format of an array.
    fn cudaGetChannelDesc(format: *mut ChannelFormat, array: Handle) {
        if array.is_null() {
            return Err(INVALID_VALUE);
        }
        let found = descriptor(array)?;
        put(format, from_driver(found.format, found.channels)?)
    }
}

/// Returns a format with the given bits for each component.
#[unsafe(no_mangle)]
pub extern "C" fn cudaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    kind: c_int,
) -> ChannelFormat {
    ChannelFormat { bits: [x, y, z, w], kind }
}
