//! Images and samplers of launches: descriptions that do not depend on an instruction set, and
//! content in memory.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use warploom_container::Module;
use warploom_ir::image::layout::{Layout as Arrangement, Plane};
use warploom_runtime::memory::{Access, HostBuffer, Memory, PAGE_BYTES, Placement, Unbound};

use super::{Arg, Error, ImagePool, Program, guest};

/// An image.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageDescription {
    pub dim: Dim,
    /// Width, height, and depth or layers (six for each cube). An absent dimension is 1.
    pub size: [u32; 3],
    /// Levels of a mip chain. Each is half as large as the level before.
    pub levels: u32,
    /// The name of a format, for example `r32_uint`.
    pub format: String,
    pub layout: Layout,
    /// GOBs of a block of an NVIDIA image, if not as a driver would choose.
    pub block_height: Option<u32>,
    pub block_depth: Option<u32>,
    /// Numbers of the resident 64 KiB pages, counted from the image's first byte, in ascending
    /// order. `None` if all pages are resident.
    pub resident: Option<Vec<u64>>,
}

/// An image that kernels sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    pub name: String,
    /// The index of the image among the launch's images.
    pub image: usize,
    pub sampling: Sampling,
}

/// How kernels sample an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    pub filter: Filter,
    pub address: AddressModes,
    /// Coordinates range from 0 to 1, not to the size of the image.
    pub normalized: bool,
    /// The filter between levels. Without it, only the first level is read.
    pub mip_filter: Option<Filter>,
    /// The condition between the reference and a texel, such as `less`. The sampled value is the
    /// share of the texels that fulfil the condition.
    pub compare: Option<String>,
    /// Red, green, blue and alpha beyond the edges, for [`AddressMode::ClampToBorder`].
    pub border: [f32; 4],
    /// The bias added to levels of detail.
    pub lod_bias: f32,
    pub min_lod: Option<f32>,
    pub max_lod: Option<f32>,
}

/// A sampler that is an argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampler {
    pub filter: Filter,
    pub address: AddressMode,
    /// Coordinates range from 0 to 1, not to the size of the image.
    #[serde(default)]
    pub normalized: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    Nearest,
    Linear,
}

/// The texels that are read beyond an image's edges, by axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ModesGiven", into = "ModesGiven")]
pub struct AddressModes(pub [AddressMode; 3]);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ModesGiven {
    All(AddressMode),
    Axes(Vec<AddressMode>),
}

impl TryFrom<ModesGiven> for AddressModes {
    type Error = String;

    fn try_from(given: ModesGiven) -> Result<AddressModes, String> {
        let modes = match given {
            ModesGiven::All(mode) => vec![mode],
            ModesGiven::Axes(modes) => modes,
        };
        let wrong = || format!("{} modes: expected one for each of up to three axes", modes.len());
        let last = modes.last().filter(|_| modes.len() <= 3).ok_or_else(wrong)?;
        Ok(AddressModes(std::array::from_fn(|axis| *modes.get(axis).unwrap_or(last))))
    }
}

impl From<AddressModes> for ModesGiven {
    fn from(AddressModes(modes): AddressModes) -> ModesGiven {
        if modes == [modes[0]; 3] {
            ModesGiven::All(modes[0])
        } else {
            ModesGiven::Axes(modes.to_vec())
        }
    }
}

/// The texels that are read beyond an image's edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressMode {
    ClampToEdge,
    /// Zeros.
    ClampToBorder,
    Repeat,
    MirroredRepeat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dim {
    #[serde(rename = "1d")]
    D1,
    #[serde(rename = "1d_buffer")]
    D1Buffer,
    #[serde(rename = "1d_array")]
    D1Array,
    #[serde(rename = "2d")]
    D2,
    #[serde(rename = "2d_array")]
    D2Array,
    #[serde(rename = "3d")]
    D3,
    #[serde(rename = "cube")]
    Cube,
    #[serde(rename = "cube_array")]
    CubeArray,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    #[default]
    Pitch,
    BlockLinear,
}

/// An image in guest memory.
#[derive(Debug)]
pub struct Image {
    /// Guest address of the first byte, and the number of bytes.
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// The layers and levels in the order of a file's content, each with its offset from the
    /// address.
    pub(crate) planes: Vec<(u64, Plane)>,
    /// The descriptor.
    pub(crate) object: Vec<u32>,
    /// Resident pages, as [`ImageDescription::resident`].
    pub(crate) resident: Option<Vec<u64>>,
}

impl Image {
    /// Returns the words of the image's descriptor.
    pub fn descriptor(&self) -> &[u32] {
        &self.object
    }

    /// Returns the bytes of all texels without gaps: row after row, slice after slice, layer after
    /// layer, level after level.
    pub fn texel_bytes(&self) -> u64 {
        let of = |(_, plane): &(u64, Plane)| {
            u64::from(plane.row_bytes) * u64::from(plane.rows) * u64::from(plane.slices)
        };
        self.planes.iter().map(of).sum()
    }

    /// Calls `f` for every part that is contiguous in memory and resident, with its address and its
    /// range among the texels without gaps.
    fn each_part(
        &self,
        mut f: impl FnMut(u64, Range<usize>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut done = 0;
        for (offset, plane) in &self.planes {
            each_run(plane, |at, length| {
                let (mut at, end) = (offset + at, offset + at + length as u64);
                while at < end {
                    let next = end.min((at / PAGE_BYTES + 1) * PAGE_BYTES);
                    let part = done..done + (next - at) as usize;
                    done = part.end;
                    if self.resident.as_ref().is_none_or(|pages| pages.contains(&(at / PAGE_BYTES)))
                    {
                        f(self.address + at, part)?;
                    }
                    at = next;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Returns the texels without gaps; texels of pages that are not resident are 0.
    ///
    /// # Errors
    /// The image is not in this memory.
    pub fn texels(&self, memory: &Memory) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.texel_bytes() as usize];
        self.each_part(|address, part| Ok(memory.read(address, &mut bytes[part])?))?;
        Ok(bytes)
    }

    /// Writes texels without gaps to resident pages. Without texels, it writes zeros.
    ///
    /// # Errors
    /// The image is not in this memory.
    ///
    /// # Panics
    /// There are fewer bytes than [`Image::texel_bytes`].
    pub fn fill(&self, memory: &Memory, texels: Option<&[u8]>) -> Result<(), Error> {
        match &self.resident {
            None => memory.fill(self.address, self.bytes, 0)?,
            Some(pages) => pages.iter().try_for_each(|page| {
                memory.fill(self.address + page * PAGE_BYTES, PAGE_BYTES, 0)
            })?,
        }
        match texels {
            Some(texels) => {
                self.each_part(|address, part| Ok(memory.write(address, &texels[part])?))
            }
            None => Ok(()),
        }
    }
}

/// Images of launches.
impl Program {
    /// Returns the handle of image `number` of a launch, for [`Program::in_memory`]. Textures are
    /// numbered behind the images; `sampled` is for a texture. Returns `None` if the module's
    /// driver has no handles.
    pub fn handle(module: &Module, number: usize, sampled: bool) -> Option<u32> {
        guest::of(module.isa).images().handle(number, sampled)
    }

    /// Reserves memory for an image. The name is for messages.
    ///
    /// # Errors
    /// The instruction set has no images, or none of this format or size, or there is no memory.
    pub fn image(&self, name: &str, description: &ImageDescription) -> Result<Image, Error> {
        self.guest().images().image(self.memory(), name, description)
    }

    /// Returns the argument for an image, which is image `number` of the launch.
    ///
    /// # Errors
    /// There is no memory for its descriptor.
    pub fn image_argument(&self, number: usize, image: &Image) -> Result<Arg, Error> {
        self.guest().images().image_argument(self.memory(), number, image)
    }

    /// Returns the argument for a sampler, or `None` if samplers of this instruction set are not
    /// arguments.
    ///
    /// # Errors
    /// There is no memory for its descriptor.
    pub fn sampler_argument(&self, sampler: Sampler) -> Result<Option<Arg>, Error> {
        let words = self.guest().images().sampler(sampler);
        words.map(|words| Ok(Arg::pointer(object(self.memory(), &words)?))).transpose()
    }

    /// Writes the descriptors of all images and textures of a launch, or returns `None` if
    /// arguments are enough.
    ///
    /// # Errors
    /// There are too many, or a sampler cannot express a texture's sampling.
    pub fn image_pool(
        &self,
        images: &[Image],
        textures: &[Texture],
    ) -> Result<Option<ImagePool>, Error> {
        self.guest().images().image_pool(self.memory(), images, textures)
    }

    /// Puts descriptors that a driver kept into memory.
    ///
    /// # Errors
    /// Kernels of this instruction set have no pool of descriptors.
    pub fn captured_pool(&self, headers: &[u8], samplers: &[u8]) -> Result<ImagePool, Error> {
        self.guest().images().captured_pool(self.memory(), headers, samplers)
    }

    /// Returns whether images have descriptors that kernels read from buffers and registers.
    pub fn has_descriptors(&self) -> bool {
        self.guest().images().has_descriptors()
    }

    /// Returns the descriptor of a sampler, as kernels read it from buffers and registers.
    ///
    /// # Errors
    /// The instruction set has no such descriptors, or a descriptor cannot express the sampling.
    pub fn sampler_descriptor(&self, sampling: &Sampling) -> Result<[u32; 4], String> {
        self.guest().images().sampler_descriptor(sampling)
    }
}

/// The most bytes of an image with pages that are not resident. Those pages take no memory, but
/// texels are compared as a whole.
const MAX_SPARSE_BYTES: u64 = 4 << 30;

/// Allocates memory for an image, of which some pages may not be resident.
pub(crate) fn room(
    memory: &Memory,
    (name, description): (&str, &ImageDescription),
    bytes: u64,
    align: u64,
) -> Result<u64, Error> {
    let Some(resident) = &description.resident else { return Ok(memory.alloc(bytes, align)?) };
    let wrong = |problem| Error::Surface { name: name.into(), problem };
    if bytes > MAX_SPARSE_BYTES {
        return Err(wrong(format!(
            "{bytes} bytes, of which few are resident: expected at most {MAX_SPARSE_BYTES}"
        )));
    }
    let pages = bytes.div_ceil(PAGE_BYTES);
    if let Some(page) = resident.iter().find(|&&page| page >= pages) {
        return Err(wrong(format!("resident page {page}: the image has {pages} pages of 64 KiB")));
    }
    let address = memory.reserve(Placement::ANYWHERE, pages * PAGE_BYTES, Unbound::Sparse)?;
    for page in resident {
        memory.bind(address + page * PAGE_BYTES, PAGE_BYTES, Access::READ_WRITE)?;
    }
    Ok(address)
}

/// Calls `f` with the offset and the length of each contiguous part, in the order of rows without
/// gaps.
fn each_run(
    plane: &Plane,
    mut f: impl FnMut(u64, usize) -> Result<(), Error>,
) -> Result<(), Error> {
    let run = match plane.layout {
        Arrangement::Pitch(_) => plane.row_bytes.max(1),
        Arrangement::Blocks(_) => Plane::RUN,
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

/// Writes words that the guest can only read, and returns their address.
pub(crate) fn object(memory: &Memory, words: &[u32]) -> Result<u64, Error> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok(memory.map_host(
        Placement::ANYWHERE,
        Arc::new(HostBuffer::from_bytes(&bytes)?),
        Access::READ,
    )?)
}
