//! Texture and surface objects.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use crate::api::{api, get, put, required};
use crate::array::{descriptor, from_driver, to_driver};
use crate::context::enter;
use crate::driver;
use crate::error::{INVALID_VALUE, Result};
use crate::types::{
    DriverLinear, DriverPitched, Linear, Pitched, Resource, ResourceDescriptor,
    ResourceDescriptorOf, ResourceOf, Texture, TextureDescriptor,
};

const ARRAY: c_int = 0;
const MIPMAPPED: c_int = 1;
const LINEAR: c_int = 2;
const PITCHED: c_int = 3;

/// Bits of a driver's texture descriptor.
pub const READ_AS_INTEGER: c_uint = 1;
pub const NORMALIZED: c_uint = 2;
pub const SRGB: c_uint = 0x10;
const NO_TRILINEAR_OPTIMIZATION: c_uint = 0x20;
const SEAMLESS_CUBE: c_uint = 0x40;

fn resource_to_driver(resource: &Resource) -> Result<ResourceDescriptor> {
    let mut result = ResourceDescriptor {
        kind: resource.kind,
        of: ResourceDescriptorOf { reserved: [0; 32] },
        flags: 0,
    };
    // SAFETY: the kind says which member of the union the caller has set
    unsafe {
        match resource.kind {
            ARRAY | MIPMAPPED => result.of.array = resource.of.array,
            LINEAR => {
                let Linear { pointer, format, bytes } = resource.of.linear;
                let (format, channels) = to_driver(format)?;
                result.of.linear = DriverLinear { pointer, format, channels, bytes };
            }
            PITCHED => {
                let Pitched { pointer, format, width, height, pitch } = resource.of.pitched;
                let (format, channels) = to_driver(format)?;
                result.of.pitched =
                    DriverPitched { pointer, format, channels, width, height, pitch };
            }
            _ => return Err(INVALID_VALUE),
        }
    }
    Ok(result)
}

fn resource_from_driver(resource: &ResourceDescriptor) -> Result<Resource> {
    // SAFETY: the kind says which member of the union the driver has set
    let of = unsafe {
        match resource.kind {
            ARRAY | MIPMAPPED => ResourceOf { array: resource.of.array },
            LINEAR => {
                let DriverLinear { pointer, format, channels, bytes } = resource.of.linear;
                ResourceOf {
                    linear: Linear { pointer, format: from_driver(format, channels)?, bytes },
                }
            }
            PITCHED => {
                let DriverPitched { pointer, format, channels, width, height, pitch } =
                    resource.of.pitched;
                ResourceOf {
                    pitched: Pitched {
                        pointer,
                        format: from_driver(format, channels)?,
                        width,
                        height,
                        pitch,
                    },
                }
            }
            _ => return Err(INVALID_VALUE),
        }
    };
    Ok(Resource {
        kind: resource.kind,
        of,
        #[cfg(runtime = "13")]
        flags: resource.flags,
    })
}

fn texture_to_driver(texture: &Texture) -> TextureDescriptor {
    let flag = |bit, set: bool| if set { bit } else { 0 };
    let flags = flag(READ_AS_INTEGER, texture.read_mode == 0)
        | flag(NORMALIZED, texture.normalized != 0)
        | flag(SRGB, texture.srgb != 0)
        | flag(NO_TRILINEAR_OPTIMIZATION, texture.no_trilinear_optimization != 0)
        | flag(SEAMLESS_CUBE, texture.seamless_cube != 0);
    TextureDescriptor {
        address: texture.address,
        filter: texture.filter,
        flags,
        max_anisotropy: texture.max_anisotropy,
        mip_filter: texture.mip_filter,
        mip_bias: texture.mip_bias,
        min_level: texture.min_level,
        max_level: texture.max_level,
        border: texture.border,
        reserved: [0; 12],
    }
}

fn texture_from_driver(texture: &TextureDescriptor) -> Texture {
    let is = |bit| c_int::from(texture.flags & bit != 0);
    Texture {
        address: texture.address,
        filter: texture.filter,
        read_mode: c_int::from(texture.flags & READ_AS_INTEGER == 0),
        srgb: is(SRGB),
        border: texture.border,
        normalized: is(NORMALIZED),
        max_anisotropy: texture.max_anisotropy,
        mip_filter: texture.mip_filter,
        mip_bias: texture.mip_bias,
        min_level: texture.min_level,
        max_level: texture.max_level,
        no_trilinear_optimization: is(NO_TRILINEAR_OPTIMIZATION),
        seamless_cube: is(SEAMLESS_CUBE),
    }
}

const NO_RESOURCE: ResourceDescriptor =
    ResourceDescriptor { kind: 0, of: ResourceDescriptorOf { reserved: [0; 32] }, flags: 0 };

/// Tells whether a resource's elements are 32-bit integers. Textures read them unchanged, whatever
/// read mode the program asks for.
fn of_words(resource: &ResourceDescriptor) -> Result<bool> {
    const WORDS: [c_int; 2] = [3, 10];
    // SAFETY: the kind says which member of the union is set
    let format = unsafe {
        match resource.kind {
            ARRAY => descriptor(resource.of.array)?.format,
            LINEAR => resource.of.linear.format,
            PITCHED => resource.of.pitched.format,
            _ => return Ok(false),
        }
    };
    Ok(WORDS.contains(&format))
}

/// # Safety
///
/// The contract of `cudaCreateTextureObject`.
unsafe fn create(
    object: *mut c_ulonglong,
    resource: *const Resource,
    texture: Texture,
    view: *const c_void,
) -> Result<()> {
    enter()?;
    required(object)?;
    // SAFETY: the caller's promise
    unsafe {
        let resource = resource_to_driver(get(resource)?)?;
        let mut texture = texture_to_driver(&texture);
        if of_words(&resource)? {
            texture.flags |= READ_AS_INTEGER;
        }
        let mut made = 0;
        // The runtime's view has the driver's fields in the driver's places. The driver's remaining
        // fields are reserved.
        let view = if view.is_null() { None } else { Some(wide_view(view)) };
        let view = view.as_ref().map_or(std::ptr::null(), |view| view.as_ptr().cast());
        driver::cuTexObjectCreate(&mut made, &resource, &texture, view)?;
        put(object, made)
    }
}

/// Returns a texture object's read settings.
fn settings(object: c_ulonglong) -> Result<Texture> {
    // SAFETY: zeros are a structure of numbers, and the output is this function's
    unsafe {
        let mut found: TextureDescriptor = std::mem::zeroed();
        driver::cuTexObjectGetTextureDesc(&mut found, object)?;
        Ok(texture_from_driver(&found))
    }
}

/// Bytes of a `cudaTextureDesc`. The structure of CUDA 11 ends before the last field.
const TEXTURE_BYTES: usize = if cfg!(runtime = "11") {
    std::mem::offset_of!(Texture, seamless_cube)
} else {
    size_of::<Texture>()
};

/// # Safety
///
/// The pointer is null or leads to a `cudaTextureDesc`.
unsafe fn described(texture: *const Texture) -> Result<Texture> {
    if texture.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: zeros are a structure of numbers; the caller promises `TEXTURE_BYTES` bytes
    unsafe {
        let mut result: Texture = std::mem::zeroed();
        std::ptr::copy_nonoverlapping(
            texture.cast::<u8>(),
            (&raw mut result).cast(),
            TEXTURE_BYTES,
        );
        Ok(result)
    }
}

/// # Safety
///
/// The pointer is null or leads to room for a `cudaTextureDesc`.
unsafe fn put_described(into: *mut Texture, texture: Texture) -> Result<()> {
    if into.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller promises room for `TEXTURE_BYTES` bytes
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const texture).cast::<u8>(), into.cast(), TEXTURE_BYTES)
    };
    Ok(())
}

#[cfg(runtime = "11")]
api! {
    /// Makes a texture object from the structure of CUDA 12.
    fn cudaCreateTextureObject_v2(
        object: *mut c_ulonglong, resource: *const Resource, texture: *const Texture, view: *const c_void,
    ) {
        create(object, resource, *get(texture)?, view)
    }

    /// Gets a texture object's read settings, in the structure of CUDA 12.
    fn cudaGetTextureObjectTextureDesc_v2(texture: *mut Texture, object: c_ulonglong) {
        put(texture, settings(object)?)
    }
}

api! {
    /// Makes a texture object.
    fn cudaCreateTextureObject(
        object: *mut c_ulonglong, resource: *const Resource, texture: *const Texture, view: *const c_void,
    ) {
        create(object, resource, described(texture)?, view)
    }

    /// Destroys a texture object.
    fn cudaDestroyTextureObject(object: c_ulonglong) {
        if object == 0 { Ok(()) } else { driver::cuTexObjectDestroy(object) }
    }

    /// Gets the resource from which a texture object was made.
    fn cudaGetTextureObjectResourceDesc(resource: *mut Resource, object: c_ulonglong) {
        let mut found = NO_RESOURCE;
        driver::cuTexObjectGetResourceDesc(&mut found, object)?;
        put(resource, resource_from_driver(&found)?)
    }

    /// Gets a texture object's read settings.
    fn cudaGetTextureObjectTextureDesc(texture: *mut Texture, object: c_ulonglong) {
        put_described(texture, settings(object)?)
    }

    /// Gets a texture object's view: the part of its resource that it reads, and the format.
    fn cudaGetTextureObjectResourceViewDesc(view: *mut c_void, object: c_ulonglong) {
        if view.is_null() {
            return Err(INVALID_VALUE);
        }
        let mut found = [0_u64; VIEW_WORDS];
        driver::cuTexObjectGetResourceViewDesc(found.as_mut_ptr().cast(), object)?;
        std::ptr::copy_nonoverlapping(found.as_ptr(), view.cast::<u64>(), SHOWN_VIEW_WORDS);
        Ok(())
    }

    /// Makes a surface object.
    fn cudaCreateSurfaceObject(object: *mut c_ulonglong, resource: *const Resource) {
        enter()?;
        required(object)?;
        let resource = resource_to_driver(get(resource)?)?;
        let mut made = 0;
        driver::cuSurfObjectCreate(&mut made, &resource)?;
        put(object, made)
    }

    /// Destroys a surface object.
    fn cudaDestroySurfaceObject(object: c_ulonglong) {
        if object == 0 { Ok(()) } else { driver::cuSurfObjectDestroy(object) }
    }

    /// Gets the resource from which a surface object was made.
    fn cudaGetSurfaceObjectResourceDesc(resource: *mut Resource, object: c_ulonglong) {
        let mut found = NO_RESOURCE;
        driver::cuSurfObjectGetResourceDesc(&mut found, object)?;
        put(resource, resource_from_driver(&found)?)
    }
}

/// Words of a driver's resource view, and of the runtime's view, which is shorter up to CUDA 12.
const VIEW_WORDS: usize = 14;
const SHOWN_VIEW_WORDS: usize = if cfg!(runtime = "13") { VIEW_WORDS } else { 6 };

/// # Safety
///
/// The view is a `cudaResourceViewDesc`: format, three sizes and four numbers.
unsafe fn wide_view(view: *const c_void) -> [u64; VIEW_WORDS] {
    let mut wide = [0; VIEW_WORDS];
    // SAFETY: in every version the runtime's view has at least six words: 4 bytes and their
    // padding, 3 * 8, 4 * 4
    unsafe { std::ptr::copy_nonoverlapping(view.cast::<u64>(), wide.as_mut_ptr(), 6) };
    wide
}
