//! The surfaces and textures of launches.
//!
//! Images keep their memory between launches: a launch with images of equal descriptions uses it
//! again.

use std::collections::BTreeMap;
use std::sync::Mutex;

use pyo3::pybacked::PyBackedBytes;
use warploom::images::Sampler;
use warploom::{Arg, Image, ImagePool, Program, Texture};
use warploom_replay::manifest;

use super::module::lock;

/// The images of a launch: JSON of `[surface.NAME]` tables, and of `[texture.NAME]` tables each with
/// the index of its surface.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Described {
    pub surfaces: Vec<String>,
    pub textures: Vec<(usize, String)>,
}

/// Images in guest memory.
pub struct Images {
    images: Vec<Image>,
    /// The arguments for surfaces, and for textures.
    surfaces: Vec<Arg>,
    textures: Vec<Arg>,
    pub pool: Option<ImagePool>,
}

impl Images {
    fn new(program: &Program, described: &Described) -> Result<Images, String> {
        let mut images = vec![];
        for (i, json) in described.surfaces.iter().enumerate() {
            let surface: manifest::Surface =
                serde_json::from_str(json).map_err(|e| format!("surface {i}: {e}"))?;
            let image = program.image(&i.to_string(), &surface.description());
            images.push(image.map_err(|e| e.to_string())?);
        }
        let mut textures = vec![];
        for (i, (image, json)) in described.textures.iter().enumerate() {
            let texture: manifest::Texture =
                serde_json::from_str(json).map_err(|e| format!("texture {i}: {e}"))?;
            if *image >= images.len() {
                return Err(format!("texture {i}: there is no surface {image}"));
            }
            let (name, sampling) = (i.to_string(), texture.sampling());
            textures.push(Texture { name, image: *image, sampling });
        }
        let pool = program.image_pool(&images, &textures).map_err(|e| e.to_string())?;
        let surface = |(i, image)| program.image_argument(i, image).map_err(|e| e.to_string());
        let surfaces = images.iter().enumerate().map(surface).collect::<Result<_, _>>()?;
        let handle = |i| {
            let handle = Program::handle(program.module(), images.len() + i, true);
            let none = "kernels of this instruction set take a surface and a sampler: expected \
                        Surface and Sampler in place of a Texture";
            handle.map(|handle| Arg::from(u64::from(handle))).ok_or_else(|| none.to_string())
        };
        let textures = (0..textures.len()).map(handle).collect::<Result<_, _>>()?;
        Ok(Images { images, surfaces, textures, pool })
    }

    /// Sets the texels of all images. `None`: zeros.
    pub fn fill(&self, program: &Program, texels: &[Option<PyBackedBytes>]) -> Result<(), String> {
        for (i, (image, texels)) in self.images.iter().zip(texels).enumerate() {
            let expected = image.texel_bytes();
            if let Some(texels) = texels.as_ref().filter(|texels| texels.len() as u64 != expected) {
                return Err(format!("surface {i}: {} bytes, it has {expected}", texels.len()));
            }
            image.fill(program.memory(), texels.as_deref()).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// Returns the texels of all images.
    pub fn texels(&self, program: &Program) -> Result<Vec<Vec<u8>>, String> {
        let texels = |image: &Image| image.texels(program.memory()).map_err(|e| e.to_string());
        self.images.iter().map(texels).collect()
    }

    pub fn surface(&self, i: usize) -> Option<Arg> {
        self.surfaces.get(i).cloned()
    }

    pub fn texture(&self, i: usize) -> Option<Arg> {
        self.textures.get(i).cloned()
    }
}

/// The images and samplers of a module that no launch uses at the moment.
#[derive(Default)]
pub struct Idle {
    images: Mutex<BTreeMap<Described, Vec<Images>>>,
    samplers: Mutex<BTreeMap<String, Arg>>,
}

impl Idle {
    /// Returns images that fit the description.
    pub fn take(&self, program: &Program, described: &Described) -> Result<Images, String> {
        let mut idle = lock(&self.images);
        match idle.get_mut(described).and_then(Vec::pop) {
            Some(images) => Ok(images),
            None => Images::new(program, described),
        }
    }

    /// Takes images back.
    pub fn give_back(&self, described: Described, images: Images) {
        let mut idle = lock(&self.images);
        idle.entry(described).or_default().push(images);
    }

    /// Returns the argument for a sampler, which JSON describes.
    pub fn sampler(&self, program: &Program, json: &str) -> Result<Arg, String> {
        let mut samplers = lock(&self.samplers);
        if let Some(known) = samplers.get(json) {
            return Ok(known.clone());
        }
        let sampler: Sampler = serde_json::from_str(json).map_err(|e| format!("sampler: {e}"))?;
        let arg = program.sampler_argument(sampler).map_err(|e| e.to_string())?;
        let arg = arg.ok_or("samplers of this instruction set are no arguments: pass a Texture")?;
        samplers.insert(json.to_owned(), arg.clone());
        Ok(arg)
    }
}
