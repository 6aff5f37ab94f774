//! Surfaces and samplers of a launch: images of the manifest, buffers behind handles, and the
//! binding table.
//!
//! A handle is the shifted number of an entry, which code passes on unchanged. The tables are in
//! the form that all instruction sets share ([`warploom_guest::images`]): no code reads the form of
//! an Intel driver (`RENDER_SURFACE_STATE`). Entry 0 is no surface. Images are linear, slice behind
//! slice. Source: facts, `visa-semantics.md` 7, "Surfaces and samplers".

use warploom_container::visa::info::InlineSampler;
use warploom_guest::images::driver;
use warploom_ir::image::layout::Layout;
use warploom_ir::image::sampler::{self, Filter, Sampler, Wrap};
use warploom_ir::image::{self, Kind, RECORD_BYTES, Shape};
use warploom_ir::texel::{TexelFormat, TexelKind};
use warploom_maxwell::header::Format;
use warploom_runtime::memory::{Access, Memory, Placement};
use warploom_visa::lift::surface::{Named, tables};

use super::super::{Image, KnownImages, Launching};
use crate::images::{self as given, AddressMode, Dim, ImageDescription, Layout as Arrangement};
use crate::program::ReadOnly;
use crate::{Arg, Error, ImagePool};

/// The alignments of images, and of rows.
const IMAGE_ALIGN: u64 = 1 << 12;
const ROW_ALIGN: u64 = 64;
/// The most texels along an axis, and bytes of a buffer.
const MAX_SIDE: u32 = 1 << 14;
const MAX_DEPTH: u32 = 1 << 11;
const MAX_BUFFER: u32 = 1 << 27;
/// The most entries of a table.
const MAX_ENTRIES: u64 = 1 << 16;

type Record = [u8; RECORD_BYTES];

/// Returns the handle of an entry.
fn shifted(entry: usize) -> u32 {
    (entry as u32) << tables::HANDLE_SHIFT
}

/// Reserves memory for an image of a manifest, and makes its record.
pub fn image(memory: &Memory, name: &str, description: &ImageDescription) -> Result<Image, Error> {
    let wrong = |problem: String| Error::Surface { name: name.into(), problem };
    if description.layout != Arrangement::Pitch {
        return Err(wrong("expected layout = \"pitch\"".into()));
    }
    if description.levels != 1 {
        return Err(wrong(format!("levels = {}: expected 1", description.levels)));
    }
    let format = Format::named(&description.format).filter(|format| format.bytes.is_power_of_two());
    let format = format.ok_or_else(|| wrong(format!("unknown format `{}`", description.format)))?;
    let (kind, array, most) = match description.dim {
        Dim::D1Buffer => (Kind::Buffer, false, [MAX_BUFFER, 1, 1]),
        Dim::D1 => (Kind::D1, false, [MAX_SIDE, 1, 1]),
        Dim::D1Array => (Kind::D1, true, [MAX_SIDE, 1, MAX_DEPTH]),
        Dim::D2 => (Kind::D2, false, [MAX_SIDE, MAX_SIDE, 1]),
        Dim::D2Array => (Kind::D2, true, [MAX_SIDE, MAX_SIDE, MAX_DEPTH]),
        Dim::D3 => (Kind::D3, false, [MAX_SIDE, MAX_SIDE, MAX_DEPTH]),
        Dim::Cube | Dim::CubeArray => {
            return Err(wrong("cubes of this instruction set are not executed".into()));
        }
    };
    let [width, height, depth] = description.size;
    if (0..3).any(|axis| description.size[axis] > most[axis]) {
        return Err(wrong(format!("size {:?}: expected at most {most:?}", description.size)));
    }
    let row_bytes = u64::from(width) * u64::from(format.bytes);
    let pitch = if kind == Kind::Buffer { 0 } else { row_bytes.next_multiple_of(ROW_ALIGN) as u32 };
    let size = [width, height, if kind == Kind::D3 { depth } else { 1 }];
    // Stores round numbers to nearest even.
    let texel = match format.texel.kind() {
        Some(TexelKind::FloatCut) => TexelFormat::new(TexelKind::Float, format.texel.widths()),
        _ => format.texel,
    };
    let mut image = image::Image {
        format: texel,
        formatted: !format.srgb,
        array,
        layers: if array { depth } else { 1 },
        // The sampler may override this.
        normalized: kind != Kind::Buffer,
        ..format.image(kind, size, Layout::Pitch(pitch))
    };
    let bytes = image.total_bytes();
    image.base = given::room(memory, (name, description), bytes, IMAGE_ALIGN)?;
    let record = image.record().ok_or_else(|| wrong("4 GiB or more".into()))?;
    let planes = (0..u64::from(image.layers))
        .map(|layer| (layer * image.layer_stride(), image.plane(0)))
        .collect();
    Ok(Image {
        address: image.base,
        bytes,
        planes,
        object: words(&record),
        resident: description.resident.clone(),
    })
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// Returns the words of a sampler that is an argument of its own. The argument is the address of
/// the words.
pub fn sampler_words(sampler: given::Sampler) -> Vec<u32> {
    words(&with(sampler.address, sampler.filter, sampler.normalized).record())
}

fn with(address: AddressMode, filter: given::Filter, normalized: bool) -> Sampler {
    let wrap = match address {
        AddressMode::ClampToEdge => Wrap::ClampToEdge,
        AddressMode::ClampToBorder => Wrap::Border,
        AddressMode::Repeat => Wrap::Repeat,
        AddressMode::MirroredRepeat => Wrap::Mirror,
    };
    let filter = match filter {
        given::Filter::Nearest => Filter::Point,
        given::Filter::Linear => Filter::Linear,
    };
    let defaults = Sampler::default();
    Sampler {
        wrap: [wrap; 3],
        mag: filter,
        min: filter,
        srgb_allowed: true,
        force_unnormalized: !normalized,
        ..defaults
    }
}

/// Returns a sampler that the source declares.
fn inline(said: &InlineSampler) -> Sampler {
    let address = match said.address_mode.as_str() {
        "repeat" => AddressMode::Repeat,
        "mirror" => AddressMode::MirroredRepeat,
        "clamp_border" => AddressMode::ClampToBorder,
        // Without a mode, coordinates are in range.
        _ => AddressMode::ClampToEdge,
    };
    let filter =
        if said.filter == "linear" { given::Filter::Linear } else { given::Filter::Nearest };
    with(address, filter, said.normalized)
}

fn sampler_at(launch: &Launching<'_>, address: u64) -> Result<Sampler, Error> {
    let mut record = [0; sampler::RECORD_BYTES];
    launch.kernel.program.memory().read(address, &mut record)?;
    Ok(Sampler::from_record(&record))
}

/// A sampler that code names by an index.
pub enum Bound<'a> {
    At(u64),
    Inline(&'a InlineSampler),
}

/// Puts the records of a launch's images at the entries that their handles name.
pub fn pool(memory: &Memory, images: &[Image]) -> Result<Option<ImagePool>, Error> {
    if images.is_empty() {
        return Ok(None);
    }
    let mut records = vec![0; RECORD_BYTES];
    records
        .extend(images.iter().flat_map(|image| &image.object).flat_map(|word| word.to_le_bytes()));
    let headers = memory.alloc_at(Placement::ANYWHERE, records.len() as u64, Access::READ_WRITE)?;
    memory.write(headers, &records)?;
    let last_header = (records.len() / RECORD_BYTES - 1) as u32;
    Ok(Some(ImagePool { headers, last_header, samplers: 0, last_sampler: 0 }))
}

/// The tables of a launch under construction.
pub struct Tables {
    surfaces: Vec<Record>,
    samplers: Vec<Sampler>,
    /// Entries of the binding table, by index.
    bound: Vec<usize>,
    known: Vec<(Named, usize)>,
}

/// The surfaces and samplers of a launch.
pub struct Images {
    /// Content of the bank [`driver::BANK`].
    pub bank: Vec<u8>,
    pub known: KnownImages,
    /// Pages that are given back when the launch is over.
    pub records: ReadOnly,
}

impl Tables {
    /// Makes tables with the launch's images.
    pub fn new(launch: &Launching<'_>) -> Result<Tables, Error> {
        let mut surfaces = vec![[0; RECORD_BYTES]];
        if let Some(pool) = launch.options.images {
            let count = u64::from(pool.last_header) + 1;
            if count > MAX_ENTRIES {
                return Err(Error::ImagePool {
                    what: "surfaces and textures",
                    count,
                    most: MAX_ENTRIES,
                });
            }
            let mut bytes = vec![0; count as usize * RECORD_BYTES];
            launch.kernel.program.memory().read(pool.headers, &mut bytes)?;
            surfaces = bytes
                .chunks_exact(RECORD_BYTES)
                .map(|record| record.try_into().unwrap_or([0; RECORD_BYTES]))
                .collect();
        }
        Ok(Tables { surfaces, samplers: vec![Sampler::default()], bound: vec![], known: vec![] })
    }

    /// Returns the image behind a handle.
    pub fn image(&self, handle: u32) -> Option<image::Image> {
        image::Image::from_record(self.surfaces.get((handle >> tables::HANDLE_SHIFT) as usize)?)
    }

    /// Adds a buffer of `bytes` bytes at an address, and returns its handle. A buffer of more than
    /// 4 GiB is cut at 4 GiB.
    pub fn add_buffer(&mut self, address: u64, bytes: u64) -> u32 {
        let format = TexelFormat::new(TexelKind::Uint, [8, 0, 0, 0]);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let plain = Format::named("r8_uint")
            .map(|plain| plain.image(Kind::Buffer, [bytes, 1, 1], Layout::Pitch(0)));
        let record =
            plain.and_then(|plain| image::Image { base: address, format, ..plain }.record());
        self.surfaces.push(record.unwrap_or([0; RECORD_BYTES]));
        shifted(self.surfaces.len() - 1)
    }

    /// Adds the sampler at an argument's address, and returns its handle.
    pub fn add_sampler_at(&mut self, launch: &Launching<'_>, address: u64) -> Result<u32, Error> {
        self.samplers.push(sampler_at(launch, address)?);
        Ok(shifted(self.samplers.len() - 1))
    }

    /// Adds a sampler that the source declares, and returns its handle.
    pub fn add_inline_sampler(&mut self, said: &InlineSampler) -> u32 {
        self.samplers.push(inline(said));
        shifted(self.samplers.len() - 1)
    }

    /// Binds a sampler index that code names to the sampler at an argument's address, or to a
    /// sampler of the source. Handles must not be given out before.
    pub fn bind_sampler(
        &mut self,
        launch: &Launching<'_>,
        index: u8,
        of: Bound<'_>,
    ) -> Result<(), Error> {
        let sampler = match of {
            Bound::At(address) => sampler_at(launch, address)?,
            Bound::Inline(said) => inline(said),
        };
        let entry = usize::from(index) + 1;
        self.samplers.resize(self.samplers.len().max(entry + 1), Sampler::default());
        self.samplers[entry] = sampler;
        Ok(())
    }

    /// Binds an index of the binding table to a surface.
    pub fn bind(&mut self, index: u8, handle: u32) {
        let (index, entry) = (usize::from(index), (handle >> tables::HANDLE_SHIFT) as usize);
        self.bound.resize(self.bound.len().max(index + 1), 0);
        self.bound[index] = entry;
        self.known.push((Named::Bound(index as u8), entry));
    }

    /// Lets code for this launch rely on the image behind the handle at a place of the payload.
    pub fn know(&mut self, payload: u32, handle: u32) {
        self.known.push((Named::Payload(payload), (handle >> tables::HANDLE_SHIFT) as usize));
    }

    /// Puts the tables where code finds them.
    pub fn finish(self, launch: &Launching<'_>) -> Result<Images, Error> {
        let none = [0; RECORD_BYTES];
        let record = |entry: usize| self.surfaces.get(entry).unwrap_or(&none);
        let count = self.surfaces.len();
        // The entry behind each table serves indices outside the table.
        let mut bytes = self.surfaces.concat();
        bytes.extend(none);
        let bound_at = bytes.len() as u64;
        self.bound.iter().for_each(|&entry| bytes.extend(record(entry)));
        bytes.extend(none);
        let samplers_at = bytes.len() as u64;
        bytes.extend(self.samplers.iter().chain([&Sampler::default()]).flat_map(Sampler::record));
        let mut pages = launch.kernel.program.lend(bytes.len() as u64)?;
        pages.fill(launch.kernel.program.memory(), bytes)?;

        let mut bank = vec![0; driver::at::KNOWN as usize];
        let mut put =
            |at: u32, bytes: &[u8]| bank[at as usize..][..bytes.len()].copy_from_slice(bytes);
        put(driver::at::RECORDS, &pages.address.to_le_bytes());
        put(driver::at::HEADERS, &(count as u32).to_le_bytes());
        put(driver::at::SAMPLERS, &(pages.address + samplers_at).to_le_bytes());
        put(driver::at::SAMPLER_COUNT, &(self.samplers.len() as u32).to_le_bytes());
        put(tables::BOUND, &(pages.address + bound_at).to_le_bytes());
        put(tables::BOUND_COUNT, &(self.bound.len() as u32).to_le_bytes());
        let mut known = vec![];
        for &(named, entry) in self.known.iter().take(driver::MAX_KNOWN) {
            bank.extend(record(entry));
            known.push((named.number(), Shape::of(record(entry))));
        }
        Ok(Images { bank, known, records: pages })
    }
}

/// Returns the argument for image `number` of a launch.
pub fn argument(number: usize) -> Arg {
    Arg::from(u64::from(shifted(number + 1)))
}
