//! Arrays: images in memory in the block layout of texture units.

use std::sync::Arc;

use warploom_ir::image::layout::{Blocks, Layout, Plane};
use warploom_ir::image::{Image, Kind};
use warploom_maxwell::header::Format;

use crate::driver;
use crate::error::{Answer, Error, of_copy, of_map};
use crate::handles::Table;

pub static ARRAYS: Table<Array> = Table::new();
pub static MIPMAPS: Table<Array> = Table::new();

/// Flags of `CUDA_ARRAY3D_DESCRIPTOR`.
pub mod flag {
    pub const LAYERED: u32 = 1;
    pub const CUBEMAP: u32 = 4;
    /// All flags, including flags for surfaces, gathers, depth and graphics.
    pub const ALL: u32 = 0x3f;
}

/// The alignment of images.
pub const ALIGN: u64 = 1 << 16;
/// The height of a block, as a power of two.
const BLOCK_HEIGHT: u8 = 4;

/// The description of an array by the program.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    pub size: [u64; 3],
    /// `CUarray_format`.
    pub format: u32,
    pub channels: u32,
    pub flags: u32,
}

/// The memory of an image, released when nobody holds it.
struct Storage {
    address: u64,
}

impl Drop for Storage {
    fn drop(&mut self) {
        // Errors do not matter: memory that is not there needs no release.
        let _ = driver::memory().release_later(self.address);
    }
}

/// An image, or one level of it.
pub struct Array {
    pub context: u64,
    pub description: Description,
    pub image: Image,
    /// The level if the array is one level of a mipmap, else 0.
    pub level: u8,
    storage: Arc<Storage>,
}

/// Returns a format as texture headers name it. If `normalized`, integers are read as fractions.
pub fn format(format: u32, channels: u32, normalized: bool, srgb: bool) -> Result<Format, Error> {
    let names = match channels {
        1 => "r",
        2 => "rg",
        4 => "rgba",
        _ => return Err(Error::CUDA_ERROR_INVALID_VALUE),
    };
    let (bits, integer, fraction) = match format {
        1 => (8, "uint", Some("unorm")),
        2 => (16, "uint", Some("unorm")),
        3 => (32, "uint", None),
        8 => (8, "sint", Some("snorm")),
        9 => (16, "sint", Some("snorm")),
        10 => (32, "sint", None),
        0x10 => (16, "float", None),
        0x20 => (32, "float", None),
        _ => return Err(Error::CUDA_ERROR_NOT_SUPPORTED),
    };
    let kind = match fraction.filter(|_| normalized) {
        Some(_) if srgb && format == 1 => "srgb",
        Some(fraction) => fraction,
        None => integer,
    };
    Format::named(&format!("{names}{bits}_{kind}")).ok_or(Error::CUDA_ERROR_NOT_SUPPORTED)
}

impl Description {
    /// Returns the image with base address 0.
    fn image(&self, levels: u8) -> Result<Image, Error> {
        let wrong = Err(Error::CUDA_ERROR_INVALID_VALUE);
        let format = format(self.format, self.channels, false, false)?;
        let [width, height, depth] = self.size;
        if width == 0 || self.flags & !flag::ALL != 0 || self.size.iter().any(|&n| n > 1 << 17) {
            return wrong;
        }
        let (layered, cube) = (self.flags & flag::LAYERED != 0, self.flags & flag::CUBEMAP != 0);
        let (kind, layers) = match (cube, layered) {
            (true, _)
                if width != height
                    || depth == 0
                    || !depth.is_multiple_of(6)
                    || !layered && depth != 6 =>
            {
                return wrong;
            }
            (true, _) => (Kind::Cube, depth / 6),
            (false, true) if depth == 0 => return wrong,
            (false, true) => (if height == 0 { Kind::D1 } else { Kind::D2 }, depth),
            (false, false) if depth > 0 && height == 0 => return wrong,
            (false, false) if depth > 0 => (Kind::D3, 1),
            (false, false) => (if height == 0 { Kind::D1 } else { Kind::D2 }, 1),
        };
        let most = width.max(height).max(if kind == Kind::D3 { depth } else { 1 });
        if levels == 0 || u32::from(levels) > most.ilog2() + 1 {
            return wrong;
        }
        let size =
            [width as u32, height.max(1) as u32, if kind == Kind::D3 { depth as u32 } else { 1 }];
        Ok(Image {
            array: layered,
            layers: layers as u32,
            levels,
            last_level: levels - 1,
            normalized: true,
            ..format.image(kind, size, Layout::Blocks(Blocks { height: BLOCK_HEIGHT, depth: 0 }))
        })
    }
}

impl Array {
    pub fn new(context: u64, description: Description, levels: u8) -> Result<Array, Error> {
        let mut image = description.image(levels)?;
        let address = driver::memory().alloc(image.total_bytes(), ALIGN).map_err(of_map)?;
        image.base = address;
        Ok(Array { context, description, image, level: 0, storage: Arc::new(Storage { address }) })
    }

    /// Returns a level as a separate array.
    pub fn at_level(&self, level: u32) -> Result<Array, Error> {
        let level = u8::try_from(level).ok().filter(|&level| level < self.image.levels);
        let level = level.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        let mut description = self.description;
        let is_layers = description.flags & (flag::LAYERED | flag::CUBEMAP) != 0;
        for (axis, n) in description.size.iter_mut().enumerate() {
            if *n > 0 && !(axis == 2 && is_layers) {
                *n = (*n >> level).max(1);
            }
        }
        Ok(Array {
            context: self.context,
            description,
            image: self.image,
            level,
            storage: self.storage.clone(),
        })
    }

    /// Returns the image as a texture or surface reads it.
    pub fn view(&self) -> Image {
        Image {
            first_level: self.level,
            last_level: if self.level > 0 { self.level } else { self.image.last_level },
            ..self.image
        }
    }

    fn place(&self, level: u32) -> Result<(u8, Plane), Error> {
        let level = u8::try_from(u32::from(self.level) + level)
            .ok()
            .filter(|&level| level < self.image.levels);
        let level = level.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        Ok((level, self.image.plane(level)))
    }

    /// Checks that a block of bytes, rows and slices lies within a level.
    pub fn check(&self, level: u32, at: [u64; 3], size: [u64; 3]) -> Answer {
        let (_, plane) = self.place(level)?;
        let layers = u64::from(self.image.layers) * u64::from(self.image.faces());
        let slices = if self.image.kind == Kind::D3 { u64::from(plane.slices) } else { layers };
        let whole = [u64::from(plane.row_bytes), u64::from(plane.rows), slices];
        let inside = (0..3)
            .all(|axis| at[axis].checked_add(size[axis]).is_some_and(|end| end <= whole[axis]));
        if inside { Ok(()) } else { Err(Error::CUDA_ERROR_INVALID_VALUE) }
    }

    /// Calls `f` with each contiguous piece of a row: its address, and its range of the row's
    /// bytes.
    fn pieces(
        &self,
        level: u32,
        [x, y, z]: [u64; 3],
        bytes: usize,
        mut f: impl FnMut(u64, std::ops::Range<usize>) -> Answer,
    ) -> Answer {
        let (level, plane) = self.place(level)?;
        let (layer, slice) = if self.image.kind == Kind::D3 { (0, z) } else { (z, 0) };
        let start =
            self.image.base + layer * self.image.layer_stride() + self.image.level_offset(level);
        let (x, mut done) = (x as usize, 0);
        while done < bytes {
            let run = Plane::RUN as usize;
            let length = (run - (x + done) % run).min(bytes - done);
            let offset = plane.offset((x + done) as u32, y as u32, slice as u32);
            f(start + offset, done..done + length)?;
            done += length;
        }
        Ok(())
    }

    /// Reads a part of a row.
    pub fn read(&self, level: u32, at: [u64; 3], into: &mut [u8]) -> Answer {
        self.check(level, at, [into.len() as u64, 1, 1])?;
        self.pieces(level, at, into.len(), |address, part| {
            driver::memory().read(address, &mut into[part]).map_err(of_copy)
        })
    }

    pub fn write(&self, level: u32, at: [u64; 3], from: &[u8]) -> Answer {
        self.check(level, at, [from.len() as u64, 1, 1])?;
        self.pieces(level, at, from.len(), |address, part| {
            driver::memory().write(address, &from[part]).map_err(of_copy)
        })
    }
}

pub fn get(handle: u64) -> Result<Arc<Array>, Error> {
    ARRAYS.get(handle)
}

/// Drops the arrays of a context that has ended.
pub fn forget(context: u64) {
    ARRAYS.retain(|array| array.context != context);
    MIPMAPS.retain(|array| array.context != context);
}
