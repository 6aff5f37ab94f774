//! The images of a captured launch in guest memory.

use warploom::{Arg, Error, Image, ImagePool, Program, Texture};

use crate::{Launch, Surface};

/// The images, in the order of the manifest's surfaces.
pub(super) struct Surfaces<'c> {
    surfaces: &'c [Surface],
    images: Vec<Image>,
    pub pool: Option<ImagePool>,
}

impl<'c> Surfaces<'c> {
    pub fn new(program: &Program, launch: &'c Launch) -> Result<Self, Error> {
        let surfaces = &launch.surfaces;
        let image = |surface: &'c Surface| {
            let image = program.image(&surface.name, &surface.description.description())?;
            let texels = image.texel_bytes();
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
            Some(pool) => Some(program.captured_pool(&pool.headers, &pool.samplers)?),
            None => {
                let textures: Vec<Texture> =
                    launch.textures.iter().map(crate::Texture::sampled).collect();
                program.image_pool(&images, &textures)?
            }
        };
        Ok(Surfaces { surfaces, images, pool })
    }

    /// Returns the argument for an image.
    pub fn argument(&self, program: &Program, i: usize) -> Result<Arg, Error> {
        program.image_argument(i, &self.images[i])
    }

    /// Returns the words of an image's descriptor.
    pub fn descriptor(&self, i: usize) -> &[u32] {
        self.images[i].descriptor()
    }

    /// Returns the texels of an image without gaps. Texels that are not resident are 0.
    pub fn texels(&self, program: &Program, i: usize) -> Result<Vec<u8>, Error> {
        self.images[i].texels(program.memory())
    }

    /// Restores texels to their state before the launch.
    pub fn fill(&self, program: &Program) -> Result<(), Error> {
        let mut images = self.surfaces.iter().zip(&self.images);
        images.try_for_each(|(surface, image)| {
            image.fill(program.memory(), surface.content.as_deref())
        })
    }
}
