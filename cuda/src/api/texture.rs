//! Texture and surface objects, and texture and surface references of modules.

use std::ffi::c_char;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::array::Flat;
use super::require;
use crate::array::{ARRAYS, MIPMAPS};
use crate::boundary::{Ptr, api, plain};
use crate::context::CONTEXTS;
use crate::error::{Answer, Error};
use crate::handles::Table;
use crate::lines::{Lines, Point};
use crate::module::MODULES;
use crate::texture::{self, Reading, Resource};

plain! {
    /// `CUDA_RESOURCE_DESC`: the kind of resource, and 32 words that depend on it.
    pub struct ResourceDescription {
        kind: u32,
        words: [u64; 16],
        flags: u32,
    }

    /// `CUDA_TEXTURE_DESC`.
    pub struct TextureDescription {
        wrap: [u32; 3],
        filter: u32,
        flags: u32,
        anisotropy: u32,
        level_filter: u32,
        bias: f32,
        levels: [f32; 2],
        border: [f32; 4],
        reserved: [u32; 12],
    }

    /// `CUDA_RESOURCE_VIEW_DESC`.
    pub struct ViewDescription {
        format: u32,
        size: [usize; 3],
        levels: [u32; 2],
        layers: [u32; 2],
        reserved: [u32; 16],
    }
}

const _: () = assert!(
    size_of::<ResourceDescription>() == size_of::<cudarc::driver::sys::CUDA_RESOURCE_DESC>()
);
const _: () =
    assert!(size_of::<TextureDescription>() == size_of::<cudarc::driver::sys::CUDA_TEXTURE_DESC>());
const _: () = assert!(
    size_of::<ViewDescription>() == size_of::<cudarc::driver::sys::CUDA_RESOURCE_VIEW_DESC>()
);

/// Values of `CUresourcetype`.
const ARRAY: u32 = 0;
const MIPMAP: u32 = 1;
const LINEAR: u32 = 2;
const PITCH: u32 = 3;

impl ResourceDescription {
    fn resource(&self) -> Result<Resource, Error> {
        let w = self.words;
        let (format, channels) = (w[1] as u32, (w[1] >> 32) as u32);
        match self.kind {
            ARRAY => Ok(Resource::Array(ARRAYS.get(w[0])?)),
            MIPMAP => Ok(Resource::Array(MIPMAPS.get(w[0])?)),
            LINEAR => Ok(Resource::Linear { address: w[0], format, channels, bytes: w[2] }),
            PITCH => Ok(Resource::Pitch {
                address: w[0],
                format,
                channels,
                size: [w[2], w[3]],
                pitch: w[4],
            }),
            _ => Err(super::INVALID),
        }
    }
}

impl TextureDescription {
    fn reading(&self) -> Reading {
        Reading {
            wrap: self.wrap,
            linear: self.filter == 1,
            linear_levels: self.level_filter == 1,
            flags: self.flags,
            bias: self.bias,
            levels: self.levels,
            border: self.border,
        }
    }
}

/// A texture object or a surface object.
struct Object {
    index: u32,
    resource: ResourceDescription,
    /// The sampling of a texture; none for surfaces.
    how: Option<(TextureDescription, Option<ViewDescription>)>,
    /// Keeps the resource alive as long as the object.
    _kept: Resource,
}

impl Drop for Object {
    fn drop(&mut self) {
        texture::release(self.index);
    }
}

static OBJECTS: Table<Object> = Table::new();

/// A destroyed object that work submitted earlier may still use.
struct Leaving {
    _object: Arc<Object>,
    /// The ends of all lines at the time of the destruction.
    ends: Vec<(Arc<Lines>, Point)>,
}

static LEAVING: Mutex<Vec<Leaving>> = Mutex::new(Vec::new());

/// Drops the destroyed objects whose work is done.
fn drop_unused(leaving: &mut Vec<Leaving>) {
    leaving.retain(|object| object.ends.iter().any(|(lines, end)| !lines.is_done(*end)));
}

fn leaving() -> MutexGuard<'static, Vec<Leaving>> {
    LEAVING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn create(
    out: Ptr<u64>,
    resource: ResourceDescription,
    how: Option<(TextureDescription, Option<ViewDescription>)>,
) -> Answer {
    out.required()?;
    crate::context::current()?;
    let kept = resource.resource()?;
    let reading = how.map(|(texture, _)| texture.reading());
    let mut image = texture::image(&kept, reading.as_ref())?;
    if let Some((_, Some(view))) = how {
        require(view.levels[0] <= view.levels[1] && view.levels[1] < u32::from(image.levels))?;
        (image.first_level, image.last_level) = (view.levels[0] as u8, view.levels[1] as u8);
    }
    drop_unused(&mut leaving());
    let index = texture::reserve()?;
    let object = Object { index, resource, how, _kept: kept };
    texture::put(index, &image, &texture::sampler_of(&reading.unwrap_or_default()))?;
    let handle = u64::from(texture::handle(index, how.is_some()));
    OBJECTS.insert_at(handle, Arc::new(object));
    out.set(handle)
}

fn destroy(handle: u64, sampled: bool) -> Answer {
    require(OBJECTS.find(handle).is_some_and(|object| object.how.is_some() == sampled))?;
    let object = OBJECTS.remove(handle)?;
    let mut ends = Vec::new();
    for context in CONTEXTS.all() {
        ends.extend(context.lines.ends().into_iter().map(|end| (context.lines.clone(), end)));
    }
    let mut leaving = leaving();
    leaving.push(Leaving { _object: object, ends });
    drop_unused(&mut leaving);
    Ok(())
}

fn get(handle: u64) -> Result<Arc<Object>, Error> {
    OBJECTS.find(handle).ok_or(super::INVALID)
}

/// A texture or surface reference.
struct Reference {
    index: u32,
    /// The resource, and how it is read.
    state: Mutex<State>,
    /// The handle of the array that the program set.
    array: AtomicU64,
    mipmap: AtomicU64,
    anisotropy: AtomicU32,
    /// Whether the program created the reference, so that no module has it.
    own: bool,
}

impl Drop for Reference {
    fn drop(&mut self) {
        if self.own {
            texture::release(self.index);
        }
    }
}

impl Reference {
    fn new(index: u32, own: bool) -> Arc<Reference> {
        let (array, mipmap, anisotropy) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU32::new(0));
        Arc::new(Reference { index, state: Mutex::default(), array, mipmap, anisotropy, own })
    }
}

#[derive(Clone, Default)]
struct State {
    resource: Option<Resource>,
    reading: Reading,
    /// The format of linear memory.
    format: u32,
    channels: u32,
}

static REFERENCES: Table<Reference> = Table::new();

fn reference(out: Ptr<u64>, module: u64, name: Ptr<c_char>) -> Answer {
    out.required()?;
    let index = MODULES.get(module)?.image(&name.text()?).ok_or(Error::CUDA_ERROR_NOT_FOUND)?;
    out.set(REFERENCES.insert(Reference::new(index, false)))
}

/// Changes a reference and writes its descriptors, which kernels read.
fn change(handle: u64, sampled: bool, change: impl FnOnce(&mut State) -> Answer) -> Answer {
    let reference = REFERENCES.get(handle)?;
    let mut state = reference.state.lock().unwrap_or_else(PoisonError::into_inner);
    change(&mut state)?;
    let Some(resource) = &state.resource else { return Ok(()) };
    let image = texture::image(resource, sampled.then_some(&state.reading))?;
    texture::put(reference.index, &image, &texture::sampler_of(&state.reading))
}

fn show<R>(handle: u64, show: impl FnOnce(&State) -> R) -> Result<R, Error> {
    let reference = REFERENCES.get(handle)?;
    let state = reference.state.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(show(&state))
}

fn set_array(handle: u64, array: u64, sampled: bool) -> Answer {
    let found = ARRAYS.get(array)?;
    REFERENCES.get(handle)?.array.store(array, Relaxed);
    change(handle, sampled, |state| {
        (state.format, state.channels) = (found.description.format, found.description.channels);
        state.resource = Some(Resource::Array(found));
        Ok(())
    })
}

fn set_pitch(handle: u64, description: Ptr<Flat>, address: u64, pitch: usize) -> Answer {
    let description = description.get()?.description();
    change(handle, true, |state| {
        let [width, height, _] = description.size;
        let (format, channels) = (description.format, description.channels);
        state.resource = Some(Resource::Pitch {
            address,
            format,
            channels,
            size: [width, height],
            pitch: pitch as u64,
        });
        Ok(())
    })
}

api! {
    fn cuTexObjectCreate(out: Ptr<u64>, resource: Ptr<ResourceDescription>, texture: Ptr<TextureDescription>, view: Ptr<ViewDescription>) {
        let view = if view.is_null() { None } else { Some(view.get()?) };
        create(out, resource.get()?, Some((texture.get()?, view)))
    }

    fn cuTexObjectDestroy(handle: u64) {
        destroy(handle, true)
    }

    fn cuTexObjectGetResourceDesc(out: Ptr<ResourceDescription>, handle: u64) {
        out.set(get(handle)?.resource)
    }

    fn cuTexObjectGetTextureDesc(out: Ptr<TextureDescription>, handle: u64) {
        out.set(get(handle)?.how.ok_or(super::INVALID)?.0)
    }

    fn cuTexObjectGetResourceViewDesc(out: Ptr<ViewDescription>, handle: u64) {
        out.set(get(handle)?.how.and_then(|(_, view)| view).ok_or(super::INVALID)?)
    }

    fn cuSurfObjectCreate(out: Ptr<u64>, resource: Ptr<ResourceDescription>) {
        let resource = resource.get()?;
        require(resource.kind == ARRAY)?;
        create(out, resource, None)
    }

    fn cuSurfObjectDestroy(handle: u64) {
        destroy(handle, false)
    }

    fn cuSurfObjectGetResourceDesc(out: Ptr<ResourceDescription>, handle: u64) {
        out.set(get(handle)?.resource)
    }

    fn cuModuleGetTexRef(out: Ptr<u64>, module: u64, name: Ptr<c_char>) {
        reference(out, module, name)
    }

    fn cuModuleGetSurfRef(out: Ptr<u64>, module: u64, name: Ptr<c_char>) {
        reference(out, module, name)
    }

    fn cuSurfRefSetArray(handle: u64, array: u64, flags: u32) {
        require(flags == 0)?;
        set_array(handle, array, false)
    }

    fn cuSurfRefGetArray(out: Ptr<u64>, handle: u64) {
        out.set(REFERENCES.get(handle)?.array.load(Relaxed))
    }

    fn cuTexRefSetArray(handle: u64, array: u64, flags: u32) {
        // `CU_TRSA_OVERRIDE_FORMAT`: the format is the array's.
        require(flags == 1)?;
        set_array(handle, array, true)
    }

    fn cuTexRefGetArray(out: Ptr<u64>, handle: u64) {
        let array = REFERENCES.get(handle)?.array.load(Relaxed);
        if array == 0 { Err(super::INVALID) } else { out.set(array) }
    }

    fn cuTexRefSetMipmappedArray(handle: u64, mipmap: u64, flags: u32) {
        require(flags == 1)?;
        let found = MIPMAPS.get(mipmap)?;
        REFERENCES.get(handle)?.mipmap.store(mipmap, Relaxed);
        change(handle, true, |state| {
            state.resource = Some(Resource::Array(found));
            Ok(())
        })
    }

    fn cuTexRefSetAddress_v2(offset: Ptr<usize>, handle: u64, address: u64, bytes: usize) {
        offset.set_if(0);
        change(handle, true, |state| {
            let (format, channels) = (state.format, state.channels);
            state.resource = Some(Resource::Linear { address, format, channels, bytes: bytes as u64 });
            Ok(())
        })
    }

    fn cuTexRefSetAddress2D_v2(handle: u64, description: Ptr<Flat>, address: u64, pitch: usize) {
        set_pitch(handle, description, address, pitch)
    }

    fn cuTexRefSetAddress2D_v3(handle: u64, description: Ptr<Flat>, address: u64, pitch: usize) {
        set_pitch(handle, description, address, pitch)
    }

    fn cuTexRefGetAddress_v2(out: Ptr<u64>, handle: u64) {
        let address = show(handle, |state| match state.resource {
            Some(Resource::Linear { address, .. } | Resource::Pitch { address, .. }) => Some(address),
            _ => None,
        })?;
        out.set(address.ok_or(super::INVALID)?)
    }

    fn cuTexRefSetFormat(handle: u64, format: u32, channels: i32) {
        crate::array::format(format, channels as u32, false, false)?;
        change(handle, true, |state| {
            (state.format, state.channels) = (format, channels as u32);
            Ok(())
        })
    }

    fn cuTexRefGetFormat(format: Ptr<u32>, channels: Ptr<i32>, handle: u64) {
        let found = show(handle, |state| (state.format, state.channels))?;
        format.set_if(found.0);
        channels.set_if(found.1 as i32);
        Ok(())
    }

    fn cuTexRefSetAddressMode(handle: u64, axis: i32, mode: u32) {
        require((0..3).contains(&axis) && mode <= 3)?;
        change(handle, true, |state| {
            state.reading.wrap[axis as usize] = mode;
            Ok(())
        })
    }

    fn cuTexRefGetAddressMode(mode: Ptr<u32>, handle: u64, axis: i32) {
        require((0..3).contains(&axis))?;
        mode.set(show(handle, |state| state.reading.wrap[axis as usize])?)
    }

    fn cuTexRefSetFilterMode(handle: u64, mode: u32) {
        require(mode <= 1)?;
        change(handle, true, |state| {
            state.reading.linear = mode == 1;
            Ok(())
        })
    }

    fn cuTexRefGetFilterMode(mode: Ptr<u32>, handle: u64) {
        mode.set(show(handle, |state| state.reading.linear.into())?)
    }

    fn cuTexRefSetMipmapFilterMode(handle: u64, mode: u32) {
        require(mode <= 1)?;
        change(handle, true, |state| {
            state.reading.linear_levels = mode == 1;
            Ok(())
        })
    }

    fn cuTexRefSetMipmapLevelBias(handle: u64, bias: f32) {
        change(handle, true, |state| {
            state.reading.bias = bias;
            Ok(())
        })
    }

    fn cuTexRefSetMipmapLevelClamp(handle: u64, least: f32, greatest: f32) {
        change(handle, true, |state| {
            state.reading.levels = [least, greatest];
            Ok(())
        })
    }

    fn cuTexRefSetBorderColor(handle: u64, colour: Ptr<[f32; 4]>) {
        let colour = colour.get()?;
        change(handle, true, |state| {
            state.reading.border = colour;
            Ok(())
        })
    }

    /// Stores the anisotropy, which has no effect: the filter is isotropic.
    fn cuTexRefSetMaxAnisotropy(handle: u64, most: u32) {
        REFERENCES.get(handle)?.anisotropy.store(most, Relaxed);
        Ok(())
    }

    fn cuTexRefGetMaxAnisotropy(most: Ptr<i32>, handle: u64) {
        most.set(REFERENCES.get(handle)?.anisotropy.load(Relaxed) as i32)
    }

    fn cuTexRefGetMipmappedArray(out: Ptr<u64>, handle: u64) {
        let mipmap = REFERENCES.get(handle)?.mipmap.load(Relaxed);
        if mipmap == 0 { Err(super::INVALID) } else { out.set(mipmap) }
    }

    fn cuTexRefGetMipmapFilterMode(mode: Ptr<u32>, handle: u64) {
        mode.set(show(handle, |state| state.reading.linear_levels.into())?)
    }

    fn cuTexRefGetMipmapLevelBias(bias: Ptr<f32>, handle: u64) {
        bias.set(show(handle, |state| state.reading.bias)?)
    }

    fn cuTexRefGetMipmapLevelClamp(least: Ptr<f32>, greatest: Ptr<f32>, handle: u64) {
        let levels = show(handle, |state| state.reading.levels)?;
        least.set_if(levels[0]);
        greatest.set_if(levels[1]);
        Ok(())
    }

    fn cuTexRefGetBorderColor(colour: Ptr<[f32; 4]>, handle: u64) {
        colour.set(show(handle, |state| state.reading.border)?)
    }

    /// Creates a reference that no module reads.
    fn cuTexRefCreate(out: Ptr<u64>) {
        out.required()?;
        crate::context::current()?;
        out.set(REFERENCES.insert(Reference::new(texture::reserve()?, true)))
    }

    fn cuTexRefDestroy(handle: u64) {
        require(REFERENCES.get(handle)?.own)?;
        REFERENCES.remove(handle).map(|_| ())
    }

    /// Only checks its arguments, as code itself names the references that it reads.
    fn cuParamSetTexRef(function: u64, unit: i32, handle: u64) {
        const DEFAULT: i32 = -1;
        require(unit == DEFAULT)?;
        crate::module::FUNCTIONS.get(function)?;
        REFERENCES.get(handle).map(|_| ())
    }

    fn cuTexRefSetFlags(handle: u64, flags: u32) {
        change(handle, true, |state| {
            state.reading.flags = flags;
            Ok(())
        })
    }

    fn cuTexRefGetFlags(flags: Ptr<u32>, handle: u64) {
        flags.set(show(handle, |state| state.reading.flags)?)
    }
}
