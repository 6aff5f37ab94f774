//! The tables that `suq` and `txq` read for properties that a texture header does not have: numbers
//! of PTX and OpenCL, in entries for each header and each sampler.
//!
//! Source: facts, `maxwell-surfaces.md`, section 6, items 3 to 5. The numbers of formats,
//! addressing and filters are from OpenCL's `cl.h`, since PTX leaves them to the source language.

use warploom_container::Module;
use warploom_guest::images::driver::{QUERY_BYTES, query};
use warploom_ir::image::layout::Layout;
use warploom_ir::image::sampler::{Filter, Sampler, Wrap};
use warploom_ir::image::{Image, Source};
use warploom_ir::texel::TexelKind;

use super::images::Decoded;

/// Symbols whose values are the distance between entries.
const STRIDE_SYMBOLS: [&str; 4] = [
    ".nv.surfrefDescSize",
    UNIFIED_TEXTURES,
    ".nv.independent.texrefDescSize",
    ".nv.independent.samplerrefDescSize",
];
const UNIFIED_TEXTURES: &str = ".nv.unified.texrefDescSize";

type Entry = [u32; QUERY_BYTES / 4];

/// The place of textures' samplers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampled {
    /// With the textures: a texture's addressing and filter are from the sampler with its header's
    /// index, since drivers keep header and sampler together.
    Together,
    Apart,
}

/// Returns the value of a symbol that the driver defines.
pub fn symbol(name: &str) -> Option<u64> {
    STRIDE_SYMBOLS.contains(&name).then_some(QUERY_BYTES as u64)
}

/// Returns whether code of a module reads the tables.
pub fn asks(module: &Module) -> bool {
    STRIDE_SYMBOLS.iter().any(|name| names(module, name))
}

fn names(module: &Module, name: &str) -> bool {
    module.symbols.iter().any(|symbol| symbol.name == name)
}

pub fn sampled(module: &Module) -> Sampled {
    if names(module, UNIFIED_TEXTURES) { Sampled::Together } else { Sampled::Apart }
}

/// Returns the tables, in the order of their pointers, with an entry of zeros behind each.
pub fn tables(sampled: Sampled, images: &[Decoded], samplers: &[Sampler]) -> [Vec<u8>; 3] {
    let default = Sampler::default();
    let texture = |i: usize, image: &Image| match sampled {
        Sampled::Together => sampled_texture(image, samplers.get(i).unwrap_or(&default)),
        Sampled::Apart => texture(image),
    };
    let of_images = |entry: &dyn Fn(usize, &Image) -> Entry| {
        let entries = images.iter().enumerate().map(|(i, image)| match image {
            Ok(Some(image)) => entry(i, image),
            _ => Entry::default(),
        });
        bytes(entries)
    };
    [
        of_images(&|_, image| surface(image)),
        of_images(&texture),
        bytes(samplers.iter().map(sampler)),
    ]
}

fn bytes(entries: impl Iterator<Item = Entry>) -> Vec<u8> {
    entries.chain([Entry::default()]).flatten().flat_map(u32::to_le_bytes).collect()
}

/// Writes words from a byte offset on.
fn put<const N: usize>(entry: &mut Entry, at: u32, words: [u32; N]) {
    entry[at as usize / 4..][..N].copy_from_slice(&words);
}

fn surface(image: &Image) -> Entry {
    let mut entry = Entry::default();
    let linear = matches!(image.layout, Layout::Pitch(_));
    put(&mut entry, query::surface::DATA_TYPE, [data_type(image), order(image), linear.into()]);
    put(&mut entry, query::surface::LAYERS, [layers(image)]);
    entry
}

/// Returns the entry of a texture with a sampler.
fn sampled_texture(image: &Image, sampler: &Sampler) -> Entry {
    let mut entry = Entry::default();
    put(&mut entry, query::sampled::UNNORMALIZED, [sampler.force_unnormalized.into()]);
    put(&mut entry, query::sampled::ADDRESS, sampler.wrap.map(address_mode));
    put(&mut entry, query::sampled::FILTER, [filter(sampler)]);
    // The driver keeps a texture's kind of coordinates in the header.
    let normalized = image.normalized && !sampler.force_unnormalized;
    put(&mut entry, query::sampled::TEXTURE, of_texture(&Image { normalized, ..*image }));
    entry
}

fn texture(image: &Image) -> Entry {
    let mut entry = Entry::default();
    put(&mut entry, query::TEXTURE, of_texture(image));
    entry
}

/// Returns normalized coordinates, data type, order, layers, levels, samples.
fn of_texture(image: &Image) -> [u32; 6] {
    [image.normalized.into(), data_type(image), order(image), layers(image), image.levels.into(), 1]
}

fn sampler(sampler: &Sampler) -> Entry {
    let mut entry = Entry::default();
    put(&mut entry, query::sampler::ADDRESS, sampler.wrap.map(address_mode));
    put(&mut entry, query::sampler::FILTER, [filter(sampler), sampler.force_unnormalized.into()]);
    entry
}

/// Returns the number of layers, or 0 for an image without layers.
fn layers(image: &Image) -> u32 {
    if image.array { image.layers } else { 0 }
}

/// Returns the `cl_channel_type`, or 0 if OpenCL has no number for it.
fn data_type(image: &Image) -> u32 {
    let widths = image.format.widths();
    let by_bytes = |numbers: [u32; 3]| match widths[0] {
        8 => numbers[0],
        16 => numbers[1],
        32 => numbers[2],
        _ => 0,
    };
    match image.format.kind() {
        Some(TexelKind::Unorm) if widths == [5, 6, 5, 0] => 0x10d4,
        Some(TexelKind::Unorm) if widths == [10, 10, 10, 2] => 0x10e0,
        Some(TexelKind::Snorm) => by_bytes([0x10d0, 0x10d1, 0]),
        Some(TexelKind::Unorm) => by_bytes([0x10d2, 0x10d3, 0]),
        Some(TexelKind::Sint) => by_bytes([0x10d7, 0x10d8, 0x10d9]),
        Some(TexelKind::Uint) => by_bytes([0x10da, 0x10db, 0x10dc]),
        Some(TexelKind::FloatCut) => by_bytes([0, 0x10dd, 0x10de]),
        _ => 0,
    }
}

/// Returns the `cl_channel_order`.
fn order(image: &Image) -> u32 {
    let components = image.format.widths().iter().filter(|&&width| width > 0).count();
    match (components, image.sources[0] == Source::B, image.srgb) {
        (1, ..) => 0x10b0,
        (2, ..) => 0x10b2,
        (3, _, false) => 0x10b4,
        (3, _, true) => 0x10bf,
        (_, false, false) => 0x10b5,
        (_, true, false) => 0x10b6,
        (_, false, true) => 0x10c1,
        (_, true, true) => 0x10c2,
    }
}

/// Returns the `cl_addressing_mode`. Modes without a number in OpenCL have the number of the
/// nearest mode.
fn address_mode(wrap: Wrap) -> u32 {
    match wrap {
        Wrap::ClampToEdge | Wrap::MirrorOnceToEdge => 0x1131,
        Wrap::Border | Wrap::Clamp | Wrap::MirrorOnceBorder | Wrap::MirrorOnceClamp => 0x1132,
        Wrap::Repeat => 0x1133,
        Wrap::Mirror => 0x1134,
    }
}

/// Returns the `cl_filter_mode`.
fn filter(sampler: &Sampler) -> u32 {
    if sampler.mag == Filter::Linear { 0x1141 } else { 0x1140 }
}
