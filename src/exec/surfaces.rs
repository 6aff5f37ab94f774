//! The images and samplers of a captured launch in guest memory.

use std::ops::Range;
use std::sync::Arc;

use warploom_runtime::memory::{Access, HostBuffer, Memory, PAGE_BYTES, Place, Unbound};

use super::guest::{Guest, Image};
use super::{Arg, Error, ImagePool};
use crate::capture::{Launch, Surface};
use warploom_ir::image::layout::{Layout, Plane};

/// Images, in the order of the manifest's surfaces.
pub(super) struct Surfaces<'c> {
    surfaces: &'c [Surface],
    images: Vec<Image>,
    pub pool: Option<ImagePool>,
}

impl<'c> Surfaces<'c> {
    pub fn new(guest: &dyn Guest, memory: &Memory, launch: &'c Launch) -> Result<Self, Error> {
        let surfaces = &launch.surfaces;
        let image = |surface: &'c Surface| {
            let image = guest.image(memory, surface)?;
            let texels = texel_bytes(&image);
            if let Some(content) = &surface.content
                && content.len() as u64 != texels
            {
                let problem = format!("{} bytes of data: its rows have {texels}", content.len());
                return Err(Error::Surface { name: surface.name.clone(), problem });
            }
            Ok(image)
        };
        let images = surfaces.iter().map(image).collect::<Result<Vec<_>, _>>()?;
        let pool = match &launch.image_pool {
            Some(pool) => Some(guest.captured_pool(memory, pool)?),
            None => guest.image_pool(memory, &images, &launch.textures)?,
        };
        Ok(Surfaces { surfaces, images, pool })
    }

    /// The argument that stands for an image.
    pub fn argument(&self, guest: &dyn Guest, memory: &Memory, i: usize) -> Result<Arg, Error> {
        guest.image_argument(memory, i, &self.images[i])
    }

    /// The words of an image's descriptor.
    pub fn descriptor(&self, i: usize) -> &[u32] {
        &self.images[i].object
    }

    /// Calls `f` with the address of every part of an image that lies together in memory and is resident, and where it is
    /// among the texels without gaps.
    fn each_part(&self, i: usize, mut f: impl FnMut(u64, Range<usize>) -> Result<(), Error>) -> Result<(), Error> {
        let (image, resident) = (&self.images[i], &self.surfaces[i].description.resident);
        let mut done = 0;
        for (offset, plane) in &image.planes {
            each_run(plane, |at, length| {
                let (mut at, end) = (offset + at, offset + at + length as u64);
                while at < end {
                    let next = end.min((at / PAGE_BYTES + 1) * PAGE_BYTES);
                    let part = done..done + (next - at) as usize;
                    done = part.end;
                    if resident.as_ref().is_none_or(|pages| pages.contains(&(at / PAGE_BYTES))) {
                        f(image.address + at, part)?;
                    }
                    at = next;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The texels of an image without gaps; 0 where it is not resident.
    pub fn texels(&self, memory: &Memory, i: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; texel_bytes(&self.images[i]) as usize];
        self.each_part(i, |address, part| Ok(memory.read(address, &mut bytes[part])?))?;
        Ok(bytes)
    }

    /// Puts texels to what they are before the launch.
    pub fn fill(&self, memory: &Memory) -> Result<(), Error> {
        for (i, (surface, image)) in self.surfaces.iter().zip(&self.images).enumerate() {
            match &surface.description.resident {
                None => memory.fill(image.address, image.bytes, 0)?,
                Some(pages) => {
                    pages.iter().try_for_each(|page| memory.fill(image.address + page * PAGE_BYTES, PAGE_BYTES, 0))?
                }
            }
            if let Some(content) = &surface.content {
                self.each_part(i, |address, part| Ok(memory.write(address, &content[part])?))?;
            }
        }
        Ok(())
    }
}

/// Of an image with pages that are not resident, and so take no memory: its texels are compared as a whole.
const MAX_SPARSE_BYTES: u64 = 4 << 30;

/// Memory for an image, of which some pages may not be resident.
pub(super) fn room(memory: &Memory, surface: &Surface, bytes: u64, align: u64) -> Result<u64, Error> {
    let Some(resident) = &surface.description.resident else { return Ok(memory.alloc(bytes, align)?) };
    let wrong = |problem| Error::Surface { name: surface.name.clone(), problem };
    if bytes > MAX_SPARSE_BYTES {
        return Err(wrong(format!("{bytes} bytes, of which few are resident: expected at most {MAX_SPARSE_BYTES}")));
    }
    let pages = bytes.div_ceil(PAGE_BYTES);
    if let Some(page) = resident.iter().find(|&&page| page >= pages) {
        return Err(wrong(format!("resident page {page}: the image has {pages} pages of 64 KiB")));
    }
    let address = memory.reserve(Place::ANYWHERE, pages * PAGE_BYTES, Unbound::Sparse)?;
    for page in resident {
        memory.bind(address + page * PAGE_BYTES, PAGE_BYTES, Access::READ_WRITE)?;
    }
    Ok(address)
}

fn texel_bytes(image: &Image) -> u64 {
    let of = |(_, plane): &(u64, Plane)| u64::from(plane.row_bytes) * u64::from(plane.rows) * u64::from(plane.slices);
    image.planes.iter().map(of).sum()
}

/// Calls `f` with the offset and the length of what lies together in memory, in the order of rows without gaps.
fn each_run(plane: &Plane, mut f: impl FnMut(u64, usize) -> Result<(), Error>) -> Result<(), Error> {
    let run = match plane.layout {
        Layout::Pitch(_) => plane.row_bytes.max(1),
        Layout::Blocks(_) => Plane::RUN,
    };
    for z in 0..plane.slices {
        for y in 0..plane.rows {
            for x in (0..plane.row_bytes).step_by(run as usize) {
                f(plane.offset(x, y, z), run.min(plane.row_bytes - x) as usize)?;
            }
        }
    }
    Ok(())
}

/// Words that the guest can only read; their address.
pub(super) fn object(memory: &Memory, words: &[u32]) -> Result<u64, Error> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok(memory.map_host(Place::ANYWHERE, Arc::new(HostBuffer::from_bytes(&bytes)?), Access::READ)?)
}
