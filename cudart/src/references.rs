//! Texture and surface references of CUDA 11: textures and surfaces that device code names. A
//! program binds memory to them.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::api::{api, get, put};
use crate::array::to_driver;
use crate::context::enter;
use crate::driver;
use crate::error::{Code, INVALID_VALUE, NOT_FOUND, Result};
use crate::registry::{Binary, binary_of, name};
use crate::texture::{NORMALIZED, READ_AS_INTEGER, SRGB};
use crate::types::{ArrayDescriptor, ChannelFormat, DevicePointer, Handle};

const INVALID_TEXTURE: Code = Code(18);
const INVALID_TEXTURE_BINDING: Code = Code(19);
const INVALID_SURFACE: Code = Code(37);

/// `textureReference`: the program owns it and may change it before it binds memory.
#[repr(C)]
pub struct TextureReference {
    normalized: c_int,
    filter: c_int,
    address: [c_int; 3],
    format: ChannelFormat,
    srgb: c_int,
    max_anisotropy: c_uint,
    mip_filter: c_int,
    mip_bias: f32,
    min_level: f32,
    max_level: f32,
    no_trilinear_optimization: c_int,
    reserved: [c_int; 14],
}

const _: () = assert!(size_of::<TextureReference>() == 124);

/// A registered texture or surface.
#[derive(Clone)]
struct Reference {
    of: &'static Binary,
    name: CString,
    is_texture: bool,
    /// The texture reads integers as fractions of their range.
    is_fraction: bool,
    is_bound: bool,
}

/// The registered references, by the address of the program's structure.
static REFERENCES: Mutex<Option<HashMap<usize, Reference>>> = Mutex::new(None);

fn references() -> MutexGuard<'static, Option<HashMap<usize, Reference>>> {
    REFERENCES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets the references that a fat binary has registered.
pub fn forget(binary: &Binary) {
    if let Some(all) = references().as_mut() {
        all.retain(|_, reference| !std::ptr::eq(reference.of, binary));
    }
}

/// # Safety
///
/// The handle came from `__cudaRegisterFatBinary`, and the name ends with 0.
unsafe fn register(
    binary: *mut *mut c_void,
    shadow: usize,
    device_name: *const c_char,
    kind: (bool, bool),
) {
    // SAFETY: the caller's promise
    if let (Some(of), Some(name)) = unsafe { (binary_of(binary), name(device_name)) } {
        let (is_texture, is_fraction) = kind;
        let reference = Reference { of, name, is_texture, is_fraction, is_bound: false };
        references().get_or_insert_default().insert(shadow, reference);
    }
}

/// Returns the reference that is registered for a program's structure, and the driver's handle.
fn find(shadow: usize, is_texture: bool) -> Result<(Reference, Handle)> {
    let unknown = if is_texture { INVALID_TEXTURE } else { INVALID_SURFACE };
    let found = references().as_ref().and_then(|all| all.get(&shadow)).cloned();
    let reference = found.filter(|reference| reference.is_texture == is_texture).ok_or(unknown)?;
    let (mut module, mut handle) = (null_mut(), null_mut());
    enter()?;
    let library = reference.of.library()?;
    // SAFETY: outputs are this function's, the library was loaded, and the name ends with 0
    unsafe {
        driver::cuLibraryGetModule(&mut module, library)?;
        let by_name =
            if is_texture { driver::cuModuleGetTexRef } else { driver::cuModuleGetSurfRef };
        by_name(&mut handle, module, reference.name.as_ptr())
            .map_err(|code| if code == NOT_FOUND { unknown } else { code })?;
    }
    Ok((reference, handle))
}

/// Binds memory to a texture with the read settings of the program's structure.
///
/// # Safety
///
/// The structure is null or the program's.
unsafe fn bind(
    texture: *const TextureReference,
    format: ChannelFormat,
    memory: impl FnOnce(Handle, c_int, c_uint) -> Result<()>,
) -> Result<()> {
    const INTEGERS: [c_int; 2] = [0, 1];
    // SAFETY: the caller's promise
    let settings = unsafe { get(texture)? };
    let (reference, handle) = find(texture as usize, true)?;
    let (driver_format, channels) = to_driver(format)?;
    let flag = |bit, set: bool| if set { bit } else { 0 };
    let as_integer = INTEGERS.contains(&format.kind) && !reference.is_fraction;
    let flags = flag(READ_AS_INTEGER, as_integer)
        | flag(NORMALIZED, settings.normalized != 0)
        | flag(SRGB, settings.srgb != 0);
    // SAFETY: the handle is the driver's, which checks the numbers
    unsafe {
        driver::cuTexRefSetFormat(handle, driver_format, channels as c_int)?;
        driver::cuTexRefSetFlags(handle, flags)?;
        driver::cuTexRefSetFilterMode(handle, settings.filter)?;
        for (axis, mode) in (0..).zip(settings.address) {
            driver::cuTexRefSetAddressMode(handle, axis, mode)?;
        }
        driver::cuTexRefSetMaxAnisotropy(handle, settings.max_anisotropy)?;
        driver::cuTexRefSetMipmapFilterMode(handle, settings.mip_filter)?;
        driver::cuTexRefSetMipmapLevelBias(handle, settings.mip_bias)?;
        driver::cuTexRefSetMipmapLevelClamp(handle, settings.min_level, settings.max_level)?;
    }
    memory(handle, driver_format, channels)?;
    if let Some(reference) = references().as_mut().and_then(|all| all.get_mut(&(texture as usize)))
    {
        reference.is_bound = true;
    }
    Ok(())
}

/// Returns the bytes from an address to the end of its allocation, but at most `most`.
fn available(pointer: DevicePointer, most: usize) -> Result<usize> {
    let (mut base, mut bytes) = (0, 0);
    // SAFETY: outputs are this function's
    unsafe { driver::cuMemGetAddressRange_v2(&mut base, &mut bytes, pointer)? };
    Ok(most.min(bytes - (pointer - base) as usize))
}

api! {
    /// Binds linear memory to a texture. The default size in C++ exceeds every allocation.
    fn cudaBindTexture(
        offset: *mut usize, texture: *const TextureReference, pointer: *const c_void, format: *const ChannelFormat, bytes: usize,
    ) {
        let pointer = pointer as DevicePointer;
        bind(texture, *get(format)?, |handle, _, _| {
            driver::cuTexRefSetAddress_v2(offset, handle, pointer, available(pointer, bytes)?)
        })
    }

    /// Binds rows of linear memory to a texture.
    fn cudaBindTexture2D(
        offset: *mut usize, texture: *const TextureReference, pointer: *const c_void, format: *const ChannelFormat, width: usize,
        height: usize, pitch: usize,
    ) {
        bind(texture, *get(format)?, |handle, format, channels| {
            let rows = ArrayDescriptor { width, height, format, channels };
            driver::cuTexRefSetAddress2D_v3(handle, &rows, pointer as DevicePointer, pitch)
        })?;
        if !offset.is_null() {
            put(offset, 0)?;
        }
        Ok(())
    }

    /// Binds an array to a texture.
    fn cudaBindTextureToArray(texture: *const TextureReference, array: Handle, format: *const ChannelFormat) {
        bind(texture, *get(format)?, |handle, _, _| driver::cuTexRefSetArray(handle, array, FORMAT_OF_ARRAY))
    }

    /// Binds a mipmapped array to a texture.
    fn cudaBindTextureToMipmappedArray(texture: *const TextureReference, array: Handle, format: *const ChannelFormat) {
        bind(texture, *get(format)?, |handle, _, _| driver::cuTexRefSetMipmappedArray(handle, array, FORMAT_OF_ARRAY))
    }

    /// Ends the binding of a texture. Nothing is read through it from then on.
    fn cudaUnbindTexture(texture: *const TextureReference) {
        let mut references = references();
        let all = references.as_mut().ok_or(INVALID_TEXTURE)?;
        all.get_mut(&(texture as usize)).ok_or(INVALID_TEXTURE)?.is_bound = false;
        Ok(())
    }

    /// Gets the offset of a bound texture's first element in its memory, which is always 0.
    fn cudaGetTextureAlignmentOffset(offset: *mut usize, texture: *const TextureReference) {
        let references = references();
        let all = references.as_ref().ok_or(INVALID_TEXTURE)?;
        if !all.get(&(texture as usize)).ok_or(INVALID_TEXTURE)?.is_bound {
            return Err(INVALID_TEXTURE_BINDING);
        }
        put(offset, 0)
    }

    /// Gets a texture's structure, whose address is also the program's symbol for the texture.
    fn cudaGetTextureReference(texture: *mut *const c_void, symbol: *const c_void) {
        find(symbol as usize, true)?;
        put(texture, symbol)
    }

    /// Binds an array to a surface.
    fn cudaBindSurfaceToArray(surface: *const c_void, array: Handle, format: *const ChannelFormat) {
        if format.is_null() {
            return Err(INVALID_VALUE);
        }
        driver::cuSurfRefSetArray(find(surface as usize, false)?.1, array, 0)
    }

    /// Gets a surface's structure, whose address is also the program's symbol for the surface.
    fn cudaGetSurfaceReference(surface: *mut *const c_void, symbol: *const c_void) {
        find(symbol as usize, false)?;
        put(surface, symbol)
    }
}

/// `CU_TRSA_OVERRIDE_FORMAT`
const FORMAT_OF_ARRAY: c_uint = 1;

/// Registers a texture by the address of the program's structure.
///
/// # Safety
///
/// The handle came from `__cudaRegisterFatBinary`, and the name ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterTexture(
    binary: *mut *mut c_void,
    shadow: *const c_void,
    _device_shadow: *const *const c_void,
    device_name: *const c_char,
    _dimensions: c_int,
    is_fraction: c_int,
    _external: c_int,
) {
    // SAFETY: the caller's promise
    unsafe { register(binary, shadow as usize, device_name, (true, is_fraction != 0)) };
}

/// Registers a surface by the address of the program's structure.
///
/// # Safety
///
/// The handle came from `__cudaRegisterFatBinary`, and the name ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterSurface(
    binary: *mut *mut c_void,
    shadow: *const c_void,
    _device_shadow: *const *const c_void,
    device_name: *const c_char,
    _dimensions: c_int,
    _external: c_int,
) {
    // SAFETY: the caller's promise
    unsafe { register(binary, shadow as usize, device_name, (false, false)) };
}
