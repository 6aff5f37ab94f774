//! Textures and surfaces: descriptors in memory, by index.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warploom::ImagePool;
use warploom_ir::image::layout::Layout;
use warploom_ir::image::sampler::{Filter, MipFilter, Sampler, Wrap};
use warploom_ir::image::{Image, Kind};
use warploom_maxwell::{header, sampler};

use crate::array::{self, Array};
use crate::driver;
use crate::error::{Answer, Error, of_copy, of_map};

/// The number of descriptors of each kind.
const COUNT: u32 = 4000;
const BYTES: u64 = 32;
/// In a handle, the number of the sampler is above that of the header.
const SAMPLER_SHIFT: u32 = 20;

struct Pool {
    /// The address of the headers, with the samplers behind them at the same indices; 0: there are
    /// none yet.
    address: u64,
    /// The used indices, with the address and bytes of the image of each.
    used: BTreeMap<u32, (u64, u64)>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { address: 0, used: BTreeMap::new() });

fn lock() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the pool of descriptors that handles are indices of.
pub fn pool() -> Option<ImagePool> {
    let pool = lock();
    let (&last, _) = pool.used.last_key_value()?;
    let samplers = pool.address + u64::from(COUNT) * BYTES;
    Some(ImagePool { headers: pool.address, last_header: last, samplers, last_sampler: last })
}

/// Reserves an unused index. Header 0 is no image.
pub fn reserve() -> Result<u32, Error> {
    let mut pool = lock();
    if pool.address == 0 {
        pool.address =
            driver::memory().alloc(2 * u64::from(COUNT) * BYTES, BYTES).map_err(of_map)?;
    }
    let index = (1..COUNT)
        .find(|index| !pool.used.contains_key(index))
        .ok_or(Error::CUDA_ERROR_OUT_OF_MEMORY)?;
    pool.used.insert(index, (0, 0));
    Ok(index)
}

/// Releases an index, so that its header is no image any more.
pub fn release(index: u32) {
    let mut pool = lock();
    let _ = driver::memory().fill(pool.address + u64::from(index) * BYTES, BYTES, 0);
    pool.used.remove(&index);
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Writes the descriptors of an image and a sampler at an index.
pub fn put(index: u32, image: &Image, how: &Sampler) -> Answer {
    let header = header::encode(image).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
    let mut pool = lock();
    pool.used.insert(index, (image.base, image.total_bytes()));
    let at = pool.address + u64::from(index) * BYTES;
    driver::memory().write(at, &bytes(&header)).map_err(of_copy)?;
    driver::memory()
        .write(at + u64::from(COUNT) * BYTES, &bytes(&sampler::encode(how)))
        .map_err(of_copy)
}

/// All descriptors up to the last used one, and the memory of their images.
pub struct Content {
    pub headers: Vec<u8>,
    pub samplers: Vec<u8>,
    pub memory: Vec<(u64, u64)>,
}

pub fn content() -> Option<Content> {
    let ImagePool { headers, last_header, samplers, .. } = pool()?;
    let read = |address| {
        let mut content = vec![0; (last_header as usize + 1) * BYTES as usize];
        driver::memory().read(address, &mut content).ok()?;
        Some(content)
    };
    let memory = lock().used.values().copied().filter(|&(_, bytes)| bytes > 0).collect();
    Some(Content { headers: read(headers)?, samplers: read(samplers)?, memory })
}

/// Returns whether an aligned word of the bytes is the handle of a texture or a surface.
pub fn is_named_in(bytes: &[u8]) -> bool {
    let pool = lock();
    bytes.chunks_exact(8).any(|word| {
        let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
        let index = word as u32 & ((1 << SAMPLER_SHIFT) - 1);
        let handles = [false, true].map(|sampled| u64::from(handle(index, sampled)));
        pool.used.contains_key(&index) && handles.contains(&word)
    })
}

/// Returns the handle of a texture (`sampled`) or of a surface.
pub fn handle(index: u32, sampled: bool) -> u32 {
    if sampled { index | index << SAMPLER_SHIFT } else { index }
}

/// The memory that a texture or a surface reads.
#[derive(Clone)]
pub enum Resource {
    Array(Arc<Array>),
    Linear { address: u64, format: u32, channels: u32, bytes: u64 },
    Pitch { address: u64, format: u32, channels: u32, size: [u64; 2], pitch: u64 },
}

/// The way in which a texture is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// `CUaddress_mode` along each axis.
    pub wrap: [u32; 3],
    pub linear: bool,
    pub linear_levels: bool,
    pub flags: u32,
    pub bias: f32,
    pub levels: [f32; 2],
    pub border: [f32; 4],
}

/// Flags of `CUDA_TEXTURE_DESC`.
const READ_AS_INTEGER: u32 = 1;
const NORMALIZED_COORDINATES: u32 = 2;
const SRGB: u32 = 0x10;
const SEAMLESS: u32 = 0x40;

impl Default for Reading {
    fn default() -> Self {
        let (wrap, flags, levels) = ([1; 3], 0, [0.0, 0.0]);
        Reading {
            wrap,
            linear: false,
            linear_levels: false,
            flags,
            bias: 0.0,
            levels,
            border: [0.0; 4],
        }
    }
}

/// Returns the image of a resource for a way of reading, or for a surface if `reading` is none.
pub fn image(resource: &Resource, reading: Option<&Reading>) -> Result<Image, Error> {
    let flags = reading.map_or(READ_AS_INTEGER, |reading| reading.flags);
    let (fraction, srgb) = (flags & READ_AS_INTEGER == 0, flags & SRGB != 0);
    let wrong = Error::CUDA_ERROR_INVALID_VALUE;
    match resource {
        Resource::Array(array) => {
            let description = array.description;
            let format = array::format(description.format, description.channels, fraction, srgb)?;
            let view = array.view();
            Ok(Image {
                format: format.texel,
                srgb: format.srgb,
                formatted: format.formatted,
                ..view
            })
        }
        &Resource::Linear { address, format, channels, bytes } => {
            let format = array::format(format, channels, fraction, srgb)?;
            let count = u32::try_from(bytes / u64::from(format.bytes))
                .ok()
                .filter(|&count| count > 0)
                .ok_or(wrong)?;
            Ok(Image {
                base: address,
                ..format.image(Kind::Buffer, [count, 1, 1], Layout::Pitch(0))
            })
        }
        &Resource::Pitch { address, format, channels, size, pitch } => {
            let format = array::format(format, channels, fraction, srgb)?;
            let row = size[0] * u64::from(format.bytes);
            let fits = size.iter().all(|&n| (1..=1 << 16).contains(&n))
                && pitch >= row
                && pitch.is_multiple_of(32);
            let pitch = u32::try_from(pitch)
                .ok()
                .filter(|_| fits && address.is_multiple_of(32))
                .ok_or(wrong)?;
            let layout = Layout::Pitch(pitch);
            let image = format.image(Kind::D2, [size[0] as u32, size[1] as u32, 1], layout);
            Ok(Image { base: address, normalized: true, ..image })
        }
    }
}

/// Returns the sampler for a way of reading.
pub fn sampler_of(reading: &Reading) -> Sampler {
    let normalized = reading.flags & NORMALIZED_COORDINATES != 0;
    let wrap = |mode: u32| match mode {
        // Coordinates in texels never repeat.
        0 if normalized => Wrap::Repeat,
        2 if normalized => Wrap::Mirror,
        3 => Wrap::Border,
        _ => Wrap::ClampToEdge,
    };
    let filter = if reading.linear { Filter::Linear } else { Filter::Point };
    let many = reading.levels[1] > 0.0;
    let mip = match (many, reading.linear_levels) {
        (false, _) => MipFilter::None,
        (true, false) => MipFilter::Point,
        (true, true) => MipFilter::Linear,
    };
    let defaults = Sampler::default();
    Sampler {
        wrap: reading.wrap.map(wrap),
        mag: filter,
        min: filter,
        mip,
        srgb_allowed: true,
        seamless: reading.flags & SEAMLESS != 0,
        lod_bias: reading.bias,
        min_lod: reading.levels[0],
        max_lod: if many { reading.levels[1] } else { defaults.max_lod },
        force_unnormalized: !normalized,
        border: reading.border.map(f32::to_bits),
        srgb_border: [0, 1, 2].map(|i| (reading.border[i].clamp(0.0, 1.0) * 255.0).round() as u8),
        ..defaults
    }
}
