//! The images and samplers of a captured launch in guest memory.

use std::sync::Arc;

use warploom_runtime::memory::{Access, HostBuffer, Memory, Place};

use super::Error;
use super::guest::{Guest, Image};
use crate::capture::Surface;

/// Images, in the order of the manifest's surfaces.
pub(super) struct Surfaces<'c> {
    images: Vec<(&'c Surface, Image)>,
}

impl<'c> Surfaces<'c> {
    pub fn new(guest: &dyn Guest, memory: &Memory, surfaces: &'c [Surface]) -> Result<Self, Error> {
        let image = |surface: &'c Surface| {
            let image = guest.image(memory, surface)?;
            let (bytes, rows, row) = (surface.content.as_ref().map(Vec::len), image.rows, image.row_bytes);
            if bytes.is_some_and(|bytes| bytes as u64 != row * rows) {
                let problem = format!("{} bytes of data: {rows} rows of {row} have {}", bytes.unwrap_or(0), row * rows);
                return Err(Error::Surface { name: surface.name.clone(), problem });
            }
            Ok((surface, image))
        };
        Ok(Surfaces { images: surfaces.iter().map(image).collect::<Result<_, _>>()? })
    }

    /// Guest address of the object that stands for an image.
    pub fn object(&self, memory: &Memory, i: usize) -> Result<u64, Error> {
        object(memory, &self.images[i].1.object)
    }

    /// The texels of an image without gaps.
    pub fn texels(&self, memory: &Memory, i: usize) -> Result<Vec<u8>, Error> {
        let image = &self.images[i].1;
        let mut bytes = vec![0; (image.row_bytes * image.rows) as usize];
        for (n, row) in bytes.chunks_exact_mut(image.row_bytes as usize).enumerate() {
            memory.read(image.texels + n as u64 * image.pitch, row)?;
        }
        Ok(bytes)
    }

    /// Puts texels to what they are before the launch.
    pub fn fill(&self, memory: &Memory) -> Result<(), Error> {
        for (surface, image) in &self.images {
            memory.fill(image.texels, image.pitch * image.rows, 0)?;
            let rows = surface.content.iter().flat_map(|content| content.chunks_exact(image.row_bytes as usize));
            for (n, row) in rows.enumerate() {
                memory.write(image.texels + n as u64 * image.pitch, row)?;
            }
        }
        Ok(())
    }
}

/// Words that the guest can only read; their address.
pub(super) fn object(memory: &Memory, words: &[u32]) -> Result<u64, Error> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok(memory.map_host(Place::ANYWHERE, Arc::new(HostBuffer::from_bytes(&bytes)?), Access::READ)?)
}
