//! The images and samplers of a captured launch in guest memory.

use std::sync::Arc;

use warploom_runtime::memory::{Access, HostBuffer, Memory, Place};

use super::guest::{Guest, Image};
use super::{Arg, Error, ImagePool};
use crate::capture::{Surface, Texture};
use crate::ir::image::layout::{Layout, Plane};

/// Images, in the order of the manifest's surfaces.
pub(super) struct Surfaces<'c> {
    surfaces: &'c [Surface],
    images: Vec<Image>,
    pub pool: Option<ImagePool>,
}

impl<'c> Surfaces<'c> {
    pub fn new(
        guest: &dyn Guest,
        memory: &Memory,
        surfaces: &'c [Surface],
        textures: &[Texture],
    ) -> Result<Self, Error> {
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
        let pool = guest.image_pool(memory, &images, textures)?;
        Ok(Surfaces { surfaces, images, pool })
    }

    /// The argument that stands for an image.
    pub fn argument(&self, guest: &dyn Guest, memory: &Memory, i: usize) -> Result<Arg, Error> {
        guest.image_argument(memory, i, &self.images[i])
    }

    /// The texels of an image without gaps.
    pub fn texels(&self, memory: &Memory, i: usize) -> Result<Vec<u8>, Error> {
        let image = &self.images[i];
        let mut bytes = vec![0; texel_bytes(image) as usize];
        let mut rest = &mut bytes[..];
        for (offset, plane) in &image.planes {
            each_run(plane, |at, length| {
                let (run, others) = std::mem::take(&mut rest).split_at_mut(length);
                rest = others;
                Ok(memory.read(image.address + offset + at, run)?)
            })?;
        }
        Ok(bytes)
    }

    /// Puts texels to what they are before the launch.
    pub fn fill(&self, memory: &Memory) -> Result<(), Error> {
        for (surface, image) in self.surfaces.iter().zip(&self.images) {
            memory.fill(image.address, image.bytes, 0)?;
            let Some(mut rest) = surface.content.as_deref() else { continue };
            for (offset, plane) in &image.planes {
                each_run(plane, |at, length| {
                    let (run, others) = rest.split_at(length);
                    rest = others;
                    Ok(memory.write(image.address + offset + at, run)?)
                })?;
            }
        }
        Ok(())
    }
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
