//! Textures and surfaces: the pool of headers that a driver keeps, and what lifted code finds of it.
//!
//! Source: facts, `maxwell-surfaces.md`, sections 1 and 6.

use warploom_runtime::memory::{Access, Memory, Place};

use super::super::{Image, KnownImages, Launching};
use crate::capture::manifest::{self, AddressMode, Dim, Layout as Arrangement};
use crate::capture::{Surface, Texture};
use crate::container::Code;
use crate::exec::program::ReadOnly;
use crate::exec::{Error, ImagePool};
use crate::ir::image::layout::{Blocks, Layout, MAX_BLOCK};
use crate::ir::image::sampler::{Filter, Sampler, Wrap};
use crate::ir::image::{self, Kind, RECORD_BYTES, Shape};
use crate::isa::maxwell::driver::{self, HEADER_BITS, MAX_KNOWN};
use crate::isa::maxwell::field::Field;
use crate::isa::maxwell::header::{self, Format, Header, PITCH_ALIGN};
use crate::isa::maxwell::sampler;
use crate::isa::maxwell::{Opcode, code};

/// Images in memory begin at multiples of this: all that headers and pages ask for.
const IMAGE_ALIGN: u64 = 1 << 16;
/// Headers of a pool, at most.
const MAX_HEADERS: u64 = 1 << HEADER_BITS;
const MAX_SAMPLERS: u64 = 1 << (32 - HEADER_BITS);

/// What a launch has of images.
pub struct Images {
    /// Content of the driver's bank.
    pub bank: Vec<u8>,
    pub known: KnownImages,
    /// One record for each header, and one of zeros.
    pub records: ReadOnly,
}

type Record = [u8; RECORD_BYTES];
/// A header or a sampler, as it lies in memory.
type Descriptor = [u32; 8];

impl Images {
    /// For a kernel that finds `bank` in constant bank 0. None: it uses no images.
    pub fn new(launch: &Launching<'_>, bank: &[u8]) -> Result<Option<Images>, Error> {
        let program = launch.kernel.program;
        let Some(handles) = program.handles(launch.kernel.id, handles) else { return Ok(None) };
        let mut records = match &launch.options.images {
            Some(pool) => records(program.memory(), pool)?,
            None => vec![],
        };
        let headers = records.len() as u32;
        records.push([0; RECORD_BYTES]);
        let samplers = match &launch.options.images {
            Some(pool) => samplers(program.memory(), pool)?,
            None => vec![],
        };
        let count = samplers.len() as u32;
        let mut tables = records.concat();
        let samplers_at = tables.len() as u64;
        tables.extend(samplers.iter().chain([&Sampler::default()]).flat_map(Sampler::record));
        let mut pages = program.lend(tables.len() as u64)?;
        pages.fill(tables)?;

        let mut content = vec![0; driver::at::KNOWN as usize];
        content[driver::at::RECORDS as usize..][..8].copy_from_slice(&pages.address.to_le_bytes());
        content[driver::at::HEADERS as usize..][..4].copy_from_slice(&headers.to_le_bytes());
        content[driver::at::SAMPLERS as usize..][..8].copy_from_slice(&(pages.address + samplers_at).to_le_bytes());
        content[driver::at::SAMPLER_COUNT as usize..][..4].copy_from_slice(&count.to_le_bytes());
        let mut known = Vec::new();
        for &at in &*handles {
            let word = bank.get(at as usize..).and_then(|bytes| bytes.first_chunk()).copied().unwrap_or_default();
            let index = u32::from_le_bytes(word) & ((1 << HEADER_BITS) - 1);
            let record = &records[index.min(headers) as usize];
            content.extend_from_slice(record);
            known.push((at, Shape::of(record)));
        }
        Ok(Some(Images { bank: content, known, records: pages }))
    }
}

/// Byte offsets in bank 0 of the handles that instructions name. None: no instruction uses an image.
fn handles(code: &Code) -> Option<Vec<u32>> {
    let mut handles = Vec::new();
    let mut used = false;
    for word in code::words(&code.bytes) {
        let Some(instruction) = word.instruction else { continue };
        let word = match instruction.opcode() {
            Opcode::Suld | Opcode::Sust | Opcode::Sured | Opcode::Suatom | Opcode::SuatomCas => instruction.c().imm(),
            Opcode::Tex
            | Opcode::Texs
            | Opcode::Tld
            | Opcode::Tlds
            | Opcode::Tld4
            | Opcode::Tld4s
            | Opcode::Txd
            | Opcode::Txq => instruction.field(Field::handle),
            _ => continue,
        };
        used = true;
        handles.extend(word.map(|word| word as u32 * 4));
    }
    handles.sort_unstable();
    handles.dedup();
    handles.truncate(MAX_KNOWN);
    used.then_some(handles)
}

/// The entries of a table of descriptors.
fn table(memory: &Memory, what: &'static str, address: u64, count: u64, most: u64) -> Result<Vec<Descriptor>, Error> {
    if count > most {
        return Err(Error::ImagePool { what, count, most });
    }
    let mut bytes = vec![0; count as usize * size_of::<Descriptor>()];
    memory.read(address, &mut bytes)?;
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let entry = |bytes: &[u8]| std::array::from_fn(|i| word(&bytes[4 * i..]));
    Ok(bytes.chunks_exact(size_of::<Descriptor>()).map(entry).collect())
}

/// The records of all headers of a pool.
fn records(memory: &Memory, pool: &ImagePool) -> Result<Vec<Record>, Error> {
    let headers = table(memory, "texture headers", pool.headers, u64::from(pool.last_header) + 1, MAX_HEADERS)?;
    Ok(headers.iter().map(record).collect())
}

/// The samplers of a pool.
fn samplers(memory: &Memory, pool: &ImagePool) -> Result<Vec<Sampler>, Error> {
    let count = if pool.samplers == 0 { 0 } else { u64::from(pool.last_sampler) + 1 };
    let entries = table(memory, "samplers", pool.samplers, count, MAX_SAMPLERS)?;
    Ok(entries.iter().map(sampler::decode).collect())
}

fn record(header: &Header) -> Record {
    match header::decode(header) {
        Ok(None) => [0; RECORD_BYTES],
        Ok(Some(image)) => image.record().unwrap_or_else(image::unsupported),
        Err(_) => image::unsupported(),
    }
}

/// The handle of the `number`th image of a launch. Header 0 is no image, so that a handle of 0 names none.
pub fn handle(number: usize) -> u64 {
    number as u64 + 1
}

/// The same with the sampler of the `texture`th texture. Sampler 0 is the default one.
pub fn sampled_handle(image: usize, texture: usize) -> u64 {
    handle(image) | (texture as u64 + 1) << HEADER_BITS
}

/// A pool of the headers of a launch's images and the samplers of its textures.
pub fn pool(memory: &Memory, images: &[Image], textures: &[Texture]) -> Result<Option<ImagePool>, Error> {
    if images.is_empty() {
        return Ok(None);
    }
    let none = Header::default();
    let headers = none.iter().chain(images.iter().flat_map(|image| &image.object)).copied().collect();
    let samplers = textures.iter().map(|texture| sampler(&texture.sampler));
    let samplers = [Sampler::default()].into_iter().chain(samplers).flat_map(|sampler| sampler::encode(&sampler));
    Ok(Some(ImagePool {
        headers: put(memory, headers)?,
        last_header: images.len() as u32,
        samplers: put(memory, samplers.collect())?,
        last_sampler: textures.len() as u32,
    }))
}

/// Words in memory of their own; their address.
fn put(memory: &Memory, words: Vec<u32>) -> Result<u64, Error> {
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let address = memory.alloc_at(Place::ANYWHERE, bytes.len() as u64, Access::READ_WRITE)?;
    memory.write(address, &bytes)?;
    Ok(address)
}

fn sampler(description: &manifest::Sampler) -> Sampler {
    let wrap = match description.address {
        AddressMode::ClampToEdge => Wrap::ClampToEdge,
        AddressMode::ClampToBorder => Wrap::Border,
        AddressMode::Repeat => Wrap::Repeat,
        AddressMode::MirroredRepeat => Wrap::Mirror,
    };
    let filter = match description.filter {
        manifest::Filter::Nearest => Filter::Point,
        manifest::Filter::Linear => Filter::Linear,
    };
    let force_unnormalized = !description.normalized;
    Sampler { wrap: [wrap; 3], mag: filter, min: filter, force_unnormalized, srgb_allowed: true, ..Sampler::default() }
}

/// Reserves memory for an image of a manifest, and makes its header.
pub fn image(memory: &Memory, surface: &Surface) -> Result<Image, Error> {
    let description = &surface.description;
    let wrong = |problem: String| Error::Surface { name: surface.name.clone(), problem };
    let format = Format::named(&description.format);
    let format = format.ok_or_else(|| wrong(format!("unknown format `{}`", description.format)))?;
    let (kind, array) = match description.dim {
        Dim::D1Buffer => (Kind::Buffer, false),
        Dim::D1 => (Kind::D1, false),
        Dim::D1Array => (Kind::D1, true),
        Dim::D2 => (Kind::D2, false),
        Dim::D2Array => (Kind::D2, true),
        Dim::D3 => (Kind::D3, false),
    };
    let [width, height, depth] = description.size;
    let (flat, shallow) = (matches!(kind, Kind::Buffer | Kind::D1), !array && kind != Kind::D3);
    if flat && height != 1 || shallow && depth != 1 {
        return Err(wrong(format!("size {:?}: expected 1 where there is no such axis", description.size)));
    }
    let log = |name: &str, value: Option<u32>, default: u32| match value.unwrap_or(default) {
        count if count.is_power_of_two() && count.ilog2() <= u32::from(MAX_BLOCK) => Ok(count.ilog2() as u8),
        count => Err(wrong(format!("{name} = {count}: expected 1, 2, 4, 8, 16 or 32 GOBs"))),
    };
    let row_bytes = width.checked_mul(format.bytes.into());
    let row_bytes = row_bytes.ok_or_else(|| wrong(format!("a width of {width}: expected rows below 4 GiB")))?;
    let layout = match (description.layout, kind) {
        (_, Kind::Buffer) => Layout::Pitch(0),
        (Arrangement::Pitch, Kind::D2) if !array => Layout::Pitch(row_bytes.next_multiple_of(PITCH_ALIGN)),
        // What has layers or slices, or one row, is never in rows: facts, section 1.2.
        _ => Layout::Blocks(Blocks {
            height: log("block_height", description.block_height, 16)?,
            depth: log("block_depth", description.block_depth, 1)?,
        }),
    };
    let size = [width, height, if kind == Kind::D3 { depth } else { 1 }];
    let mut image = image::Image {
        array,
        layers: if array { depth } else { 1 },
        // The sampler may say otherwise.
        normalized: kind != Kind::Buffer,
        ..format.image(kind, size, layout)
    };
    let bytes = image.total_bytes();
    image.base = memory.alloc(bytes, IMAGE_ALIGN)?;
    let object = header::encode(&image).map_err(|what| wrong(format!("a header cannot say {what}")))?;
    let plane = image.plane(0);
    let planes = (0..u64::from(image.layers)).map(|layer| (layer * image.layer_stride(), plane)).collect();
    Ok(Image { address: image.base, bytes, planes, object: object.to_vec() })
}
