//! Textures and surfaces: the pool of headers that a driver keeps, and its form for lifted code.
//!
//! Source: facts, `maxwell-surfaces.md`, sections 1 and 6.

use warploom_container::Code;
use warploom_guest::images::driver::{self, HEADER_BITS, MAX_KNOWN};
use warploom_ir::image::layout::{Blocks, Layout, MAX_BLOCK};
use warploom_ir::image::sampler::{CompareFn, Filter, MipFilter, Sampler, Wrap};
use warploom_ir::image::{self, Kind, RECORD_BYTES, Shape};
use warploom_maxwell::header::{self, Format, Header, PITCH_ALIGN};
use warploom_maxwell::sampler;
use warploom_runtime::memory::{Access, Memory, Placement};

use super::super::{Image, ImageDriver, KnownImages, Launching};
use super::queries::{self, Sampled};
use crate::images::{
    self as given, AddressMode, Dim, ImageDescription, Layout as Arrangement, Texture,
};
use crate::program::ReadOnly;
use crate::{Arg, Error, ImagePool};

/// The alignment of images in memory, which suits all headers and pages.
const IMAGE_ALIGN: u64 = 1 << 16;
/// The most headers of a pool.
const MAX_HEADERS: u64 = 1 << HEADER_BITS;
const MAX_SAMPLERS: u64 = 1 << (32 - HEADER_BITS);

/// The driver of images of all NVIDIA guests.
pub struct Driver;

impl ImageDriver for Driver {
    fn image(
        &self,
        memory: &Memory,
        name: &str,
        description: &ImageDescription,
    ) -> Result<Image, Error> {
        image(memory, name, description)
    }

    fn image_argument(&self, _: &Memory, number: usize, _: &Image) -> Result<Arg, Error> {
        Ok(Arg::from(u64::from(handle(number, false))))
    }

    fn handle(&self, number: usize, sampled: bool) -> Option<u32> {
        Some(handle(number, sampled))
    }

    fn image_pool(
        &self,
        memory: &Memory,
        images: &[Image],
        textures: &[Texture],
    ) -> Result<Option<ImagePool>, Error> {
        pool(memory, images, textures)
    }

    fn captured_pool(
        &self,
        memory: &Memory,
        headers: &[u8],
        samplers: &[u8],
    ) -> Result<ImagePool, Error> {
        put_pool(memory, headers, samplers)
    }
}

/// The images of a launch.
pub struct Images {
    /// Content of the driver's bank.
    pub bank: Vec<u8>,
    pub known: KnownImages,
    /// One record for each header, and one of zeros.
    pub records: ReadOnly,
    /// Addresses of the tables that queries read.
    pub queries: [u64; 3],
}

type Record = [u8; RECORD_BYTES];
/// A header or a sampler, as it lies in memory.
type Descriptor = [u32; 8];

impl Images {
    /// Returns the images for a kernel whose code has these handles, each with its name. `fixed`:
    /// samplers that the module defines, whose indices are the last possible ones
    /// ([`fixed_sampler`]). `queries`: where textures have their samplers, if code reads the tables
    /// of queries.
    pub fn new(
        launch: &Launching<'_>,
        handles: &[(u32, u32)],
        fixed: &[Sampler],
        queries: Option<Sampled>,
    ) -> Result<Images, Error> {
        let program = launch.kernel.program;
        let pool = launch.options.images.as_ref();
        let images = pool.map_or(Ok(vec![]), |pool| images(program.memory(), pool))?;
        let mut records: Vec<Record> = images.iter().map(record).collect();
        let headers = records.len() as u32;
        records.push([0; RECORD_BYTES]);
        let mut samplers = pool.map_or(Ok(vec![]), |pool| samplers(program.memory(), pool))?;
        if !fixed.is_empty() {
            let (count, most) =
                (samplers.len() as u64, MAX_SAMPLERS.saturating_sub(fixed.len() as u64));
            if count > most {
                return Err(Error::ImagePool {
                    what: "samplers besides the module's own",
                    count,
                    most,
                });
            }
            samplers.resize(most as usize, Sampler::default());
            samplers.extend(fixed.iter().rev());
        }
        let count = samplers.len() as u32;
        let mut tables = records.concat();
        let samplers_at = tables.len() as u64;
        tables.extend(samplers.iter().chain([&Sampler::default()]).flat_map(Sampler::record));
        let mut places = [0; 3];
        // A few kernels ask for properties that headers do not have.
        if let Some(sampled) = queries {
            for (at, table) in places.iter_mut().zip(queries::tables(sampled, &images, &samplers)) {
                *at = tables.len() as u64;
                tables.extend(table);
            }
        }
        let mut pages = program.lend(tables.len() as u64)?;
        pages.fill(program.memory(), tables)?;
        let queries = places.map(|at| pages.address + at);

        let mut bank = vec![0; driver::at::KNOWN as usize];
        let mut put =
            |at: u32, bytes: &[u8]| bank[at as usize..][..bytes.len()].copy_from_slice(bytes);
        put(driver::at::RECORDS, &pages.address.to_le_bytes());
        put(driver::at::HEADERS, &headers.to_le_bytes());
        put(driver::at::SAMPLERS, &(pages.address + samplers_at).to_le_bytes());
        put(driver::at::SAMPLER_COUNT, &count.to_le_bytes());
        for (at, address) in driver::at::QUERIES.into_iter().zip(queries) {
            put(at, &address.to_le_bytes());
        }
        let mut known = Vec::new();
        for &(name, handle) in handles.iter().take(MAX_KNOWN) {
            let index = handle & ((1 << HEADER_BITS) - 1);
            let record = &records[index.min(headers) as usize];
            bank.extend_from_slice(record);
            known.push((name, Shape::of(record)));
        }
        Ok(Images { bank, known, records: pages, queries })
    }

    /// Returns the images for a kernel that finds `bank` in constant bank 0, or `None` if it uses
    /// no images. `find` returns the offsets in the bank of the handles that instructions name, or
    /// `None` if no instruction uses an image. A module may also read the tables of queries.
    pub fn of_code(
        launch: &Launching<'_>,
        bank: &[u8],
        find: impl FnOnce(&Code) -> Option<Vec<u32>>,
    ) -> Result<Option<Images>, Error> {
        let program = launch.kernel.program;
        let find = |code: &Code| {
            let mut handles = find(code)?;
            handles.sort_unstable();
            handles.dedup();
            handles.truncate(MAX_KNOWN);
            Some(handles)
        };
        let module = program.module();
        let sampled = queries::asks(module).then(|| queries::sampled(module));
        let words = match (program.handles(launch.kernel.id, find), sampled) {
            (None, None) => return Ok(None),
            (words, _) => words.unwrap_or_default(),
        };
        let handle = |&at: &u32| {
            let word = bank
                .get(at as usize..)
                .and_then(|bytes| bytes.first_chunk())
                .copied()
                .unwrap_or_default();
            (at, u32::from_le_bytes(word))
        };
        let handles: Vec<(u32, u32)> = words.iter().map(handle).collect();
        Ok(Some(Images::new(launch, &handles, &[], sampled)?))
    }

    /// Puts the addresses of the tables of queries into constant bank 0.
    pub fn put_queries(&self, bank: &mut [u8], offsets: [u32; 3]) {
        for (at, address) in offsets.into_iter().zip(self.queries) {
            bank[at as usize..][..8].copy_from_slice(&address.to_le_bytes());
        }
    }
}

/// Returns the entries of a table of descriptors.
fn table(
    memory: &Memory,
    what: &'static str,
    address: u64,
    count: u64,
    most: u64,
) -> Result<Vec<Descriptor>, Error> {
    if count > most {
        return Err(Error::ImagePool { what, count, most });
    }
    let mut bytes = vec![0; count as usize * size_of::<Descriptor>()];
    memory.read(address, &mut bytes)?;
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let entry = |bytes: &[u8]| std::array::from_fn(|i| word(&bytes[4 * i..]));
    Ok(bytes.chunks_exact(size_of::<Descriptor>()).map(entry).collect())
}

/// A decoded header: an image, no image, or the reason why it is not supported.
pub type Decoded = Result<Option<image::Image>, &'static str>;

/// Returns the images of a pool.
fn images(memory: &Memory, pool: &ImagePool) -> Result<Vec<Decoded>, Error> {
    let headers = table(
        memory,
        "texture headers",
        pool.headers,
        u64::from(pool.last_header) + 1,
        MAX_HEADERS,
    )?;
    Ok(headers.iter().map(header::decode).collect())
}

/// Returns the samplers of a pool.
fn samplers(memory: &Memory, pool: &ImagePool) -> Result<Vec<Sampler>, Error> {
    let count = if pool.samplers == 0 { 0 } else { u64::from(pool.last_sampler) + 1 };
    let entries = table(memory, "samplers", pool.samplers, count, MAX_SAMPLERS)?;
    Ok(entries.iter().map(sampler::decode).collect())
}

fn record(image: &Decoded) -> Record {
    match image {
        Ok(None) => [0; RECORD_BYTES],
        Ok(Some(image)) => image.record().unwrap_or_else(image::unsupported),
        Err(_) => image::unsupported(),
    }
}

/// Returns the handle of image or texture `number` of a launch. Header 0 is no image, so that a
/// handle of 0 names none. Sampler 0 is the default sampler.
fn handle(number: usize, sampled: bool) -> u32 {
    let index = number as u32 + 1;
    if sampled { index | index << HEADER_BITS } else { index }
}

/// Returns the handle of sampler `number` that a module itself defines.
pub fn fixed_sampler(number: usize) -> u32 {
    (MAX_SAMPLERS as u32).wrapping_sub(1 + number as u32) << HEADER_BITS
}

/// Makes a pool of the headers of a launch's images and textures. Samplers of textures have the
/// indices of the textures' headers.
fn pool(
    memory: &Memory,
    images: &[Image],
    textures: &[Texture],
) -> Result<Option<ImagePool>, Error> {
    if images.is_empty() {
        return Ok(None);
    }
    let count = (1 + images.len() + textures.len()) as u64;
    if count > MAX_SAMPLERS {
        return Err(Error::ImagePool { what: "surfaces and textures", count, most: MAX_SAMPLERS });
    }
    let none = Header::default();
    let sampled = textures.iter().map(|texture| &images[texture.image]);
    let headers = none
        .iter()
        .chain(images.iter().chain(sampled).flat_map(|image| &image.object))
        .copied()
        .collect();
    let mut samplers = vec![Sampler::default(); 1 + images.len()];
    for texture in textures {
        samplers.push(sampler(texture)?);
    }
    let samplers = samplers.iter().flat_map(sampler::encode);
    let bytes = |words: Vec<u32>| words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    Ok(Some(put_pool(memory, &bytes(headers), &bytes(samplers.collect()))?))
}

/// Puts headers and samplers into memory.
fn put_pool(memory: &Memory, headers: &[u8], samplers: &[u8]) -> Result<ImagePool, Error> {
    let put = |bytes: &[u8]| -> Result<u64, Error> {
        let address =
            memory.alloc_at(Placement::ANYWHERE, bytes.len() as u64, Access::READ_WRITE)?;
        memory.write(address, bytes)?;
        Ok(address)
    };
    let last =
        |bytes: &[u8]| u32::try_from(bytes.len() / size_of::<Descriptor>() - 1).unwrap_or(u32::MAX);
    let pool = ImagePool {
        headers: put(headers)?,
        last_header: last(headers),
        samplers: 0,
        last_sampler: 0,
    };
    if samplers.is_empty() {
        return Ok(pool);
    }
    Ok(ImagePool { samplers: put(samplers)?, last_sampler: last(samplers), ..pool })
}

fn sampler(texture: &Texture) -> Result<Sampler, Error> {
    let description = &texture.sampling;
    let wrap = description.address.0.map(|mode| match mode {
        AddressMode::ClampToEdge => Wrap::ClampToEdge,
        AddressMode::ClampToBorder => Wrap::Border,
        AddressMode::Repeat => Wrap::Repeat,
        AddressMode::MirroredRepeat => Wrap::Mirror,
    });
    let filter = match description.filter {
        given::Filter::Nearest => Filter::Point,
        given::Filter::Linear => Filter::Linear,
    };
    let compare = |name: &String| {
        CompareFn::named(name).ok_or_else(|| {
            let known = CompareFn::ALL.map(CompareFn::name).join(", ");
            let problem = format!("unknown comparison `{name}`: expected one of {known}");
            Error::Surface { name: texture.name.clone(), problem }
        })
    };
    let defaults = Sampler::default();
    Ok(Sampler {
        wrap,
        mag: filter,
        min: filter,
        mip: match description.mip_filter {
            None => MipFilter::None,
            Some(given::Filter::Nearest) => MipFilter::Point,
            Some(given::Filter::Linear) => MipFilter::Linear,
        },
        compare: description.compare.as_ref().map(compare).transpose()?,
        force_unnormalized: !description.normalized,
        srgb_allowed: true,
        border: description.border.map(f32::to_bits),
        srgb_border: [0, 1, 2]
            .map(|i| (description.border[i].clamp(0.0, 1.0) * 255.0).round() as u8),
        lod_bias: description.lod_bias,
        min_lod: description.min_lod.unwrap_or(defaults.min_lod),
        max_lod: description.max_lod.unwrap_or(defaults.max_lod),
        ..defaults
    })
}

/// Reserves memory for an image of a manifest, and makes its header.
fn image(memory: &Memory, name: &str, description: &ImageDescription) -> Result<Image, Error> {
    let wrong = |problem: String| Error::Surface { name: name.into(), problem };
    let format = Format::named(&description.format);
    let format = format.ok_or_else(|| wrong(format!("unknown format `{}`", description.format)))?;
    let (kind, array) = match description.dim {
        Dim::D1Buffer => (Kind::Buffer, false),
        Dim::D1 => (Kind::D1, false),
        Dim::D1Array => (Kind::D1, true),
        Dim::D2 => (Kind::D2, false),
        Dim::D2Array => (Kind::D2, true),
        Dim::D3 => (Kind::D3, false),
        Dim::Cube => (Kind::Cube, false),
        Dim::CubeArray => (Kind::Cube, true),
    };
    let [width, height, depth] = description.size;
    let deepest = if kind == Kind::Cube { 6 << 14 } else { 1 << 14 };
    let most = if kind == Kind::Buffer { [u32::MAX, 1, 1] } else { [1 << 16, 1 << 16, deepest] };
    if (0..3).any(|axis| description.size[axis] > most[axis]) {
        return Err(wrong(format!("size {:?}: expected at most {most:?}", description.size)));
    }
    let flat = matches!(kind, Kind::Buffer | Kind::D1);
    let shallow = !array && matches!(kind, Kind::Buffer | Kind::D1 | Kind::D2);
    if flat && height != 1 || shallow && depth != 1 {
        return Err(wrong(format!(
            "size {:?}: expected 1 where there is no such axis",
            description.size
        )));
    }
    if kind == Kind::Cube && (width != height || !depth.is_multiple_of(6) || !array && depth != 6) {
        return Err(wrong(format!(
            "size {:?}: expected squares, and six of them for each cube",
            description.size
        )));
    }
    let log = |name: &str, value: Option<u32>, default: u32| match value.unwrap_or(default) {
        count if count.is_power_of_two() && count.ilog2() <= u32::from(MAX_BLOCK) => {
            Ok(count.ilog2() as u8)
        }
        count => Err(wrong(format!("{name} = {count}: expected 1, 2, 4, 8, 16 or 32 GOBs"))),
    };
    let row_bytes = width.checked_mul(format.bytes.into());
    let row_bytes =
        row_bytes.ok_or_else(|| wrong(format!("a width of {width}: expected rows below 4 GiB")))?;
    let levels = description.levels;
    if levels > 1 && (kind == Kind::Buffer || description.layout == Arrangement::Pitch) {
        return Err(wrong(format!(
            "levels = {levels}: expected layout = \"block_linear\", and no buffer"
        )));
    }
    let layout = match (description.layout, kind) {
        (_, Kind::Buffer) => Layout::Pitch(0),
        (Arrangement::Pitch, Kind::D2) if !array => {
            Layout::Pitch(row_bytes.next_multiple_of(PITCH_ALIGN))
        }
        // Images with layers or slices, or with one row, are never stored in rows: facts, section
        // 1.2.
        _ => Layout::Blocks(Blocks {
            height: log("block_height", description.block_height, 16)?,
            depth: log("block_depth", description.block_depth, 1)?,
        }),
    };
    let size = [width, height, if kind == Kind::D3 { depth } else { 1 }];
    let layers = match kind {
        Kind::Cube => depth / 6,
        _ if array => depth,
        _ => 1,
    };
    let levels = levels as u8;
    let mut image = image::Image {
        array,
        layers,
        levels,
        last_level: levels - 1,
        // The sampler may override this.
        normalized: kind != Kind::Buffer,
        ..format.image(kind, size, layout)
    };
    let bytes = image.total_bytes();
    image.base = given::room(memory, (name, description), bytes, IMAGE_ALIGN)?;
    let object =
        header::encode(&image).map_err(|what| wrong(format!("a header cannot say {what}")))?;
    let layers = u64::from(image.layers) * u64::from(image.faces());
    let planes = (0..levels)
        .flat_map(|level| {
            let place = move |layer| {
                (layer * image.layer_stride() + image.level_offset(level), image.plane(level))
            };
            (0..layers).map(place)
        })
        .collect();
    Ok(Image {
        address: image.base,
        bytes,
        planes,
        object: object.to_vec(),
        resident: description.resident.clone(),
    })
}
