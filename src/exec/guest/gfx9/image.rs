//! Images and samplers as arguments: the objects at the 64-bit addresses in the kernarg segment.
//!
//! Sources: "Vega" Instruction Set Architecture, "Image Resource Definition" and "Sampler resource
//! definition"; ROCr, `image_manager_ai.cpp`, for the words behind a descriptor, from which
//! OpenCL's queries read, and `hsa_ext_image.h` for their numbers. Images are linear.

use warploom_ir::image::layout::{self, Plane};
use warploom_runtime::memory::Memory;

use super::super::Image;
use crate::images::{AddressMode, Dim, Filter, ImageDescription, Layout, Sampler, Sampling};
use crate::{Error, images};

/// The alignment of rows of a linear image.
const ROW_ALIGN: u64 = 256;
/// Words of an image object.
const OBJECT_WORDS: usize = 12;
const MAX_SIDE: u32 = 1 << 14;
const MAX_DEPTH: u32 = 1 << 13;
/// The last level's number has four bits.
const MAX_LEVELS: u32 = 15;

/// Texels: name in a manifest, DATA_FORMAT, bytes of a component, the components that give red,
/// green, blue and alpha (DST_SEL: 0 and 1 are numbers, 4 to 7 components), and the channel order
/// of HSA.
const TEXELS: [(&str, u32, u32, [u32; 4], u32); 10] = [
    ("r8", 1, 1, [4, 0, 0, 1], 1),
    ("r16", 2, 2, [4, 0, 0, 1], 1),
    ("r32", 4, 4, [4, 0, 0, 1], 1),
    ("rg8", 3, 1, [4, 5, 0, 1], 3),
    ("rg16", 5, 2, [4, 5, 0, 1], 3),
    ("rg32", 11, 4, [4, 5, 0, 1], 3),
    ("rgba8", 10, 1, [4, 5, 6, 7], 8),
    ("rgba16", 12, 2, [4, 5, 6, 7], 8),
    ("rgba32", 14, 4, [4, 5, 6, 7], 8),
    ("bgra8", 10, 1, [6, 5, 4, 7], 9),
];

/// Numbers: name in a manifest, NUM_FORMAT, and the channel type of HSA for components of 1, 2 and
/// 4 bytes.
const NUMBERS: [(&str, u32, [Option<u32>; 3]); 5] = [
    ("unorm", 0, [Some(2), Some(3), None]),
    ("snorm", 1, [Some(0), Some(1), None]),
    ("uint", 4, [Some(11), Some(12), Some(13)]),
    ("sint", 5, [Some(8), Some(9), Some(10)]),
    ("float", 7, [None, Some(14), Some(15)]),
];

/// The fields that a format's name stands for.
struct Format {
    data: u32,
    number: u32,
    /// DST_SEL, in bits 0 to 11.
    select: u32,
    /// Bytes of a texel.
    bytes: u32,
    channel_type: u32,
    channel_order: u32,
}

/// Planes of a cube.
const FACES: u32 = 6;

impl Format {
    fn of(name: &str) -> Option<Format> {
        let (texel, number) = name.split_once('_')?;
        let &(_, data, bytes, select, channel_order) =
            TEXELS.iter().find(|known| known.0 == texel)?;
        let &(_, number, types) = NUMBERS.iter().find(|known| known.0 == number)?;
        let components = select.iter().filter(|&&component| component >= 4).count() as u32;
        Some(Format {
            data,
            number,
            select: select.iter().rev().fold(0, |all, one| all << 3 | one),
            bytes: bytes * components,
            channel_type: types[bytes.ilog2() as usize]?,
            channel_order,
        })
    }
}

/// Allocates an image's texels, with zeros, and makes the object that an argument points to.
pub(super) fn image(
    memory: &Memory,
    name: &str,
    description: &ImageDescription,
) -> Result<Image, Error> {
    let wrong = |problem: String| Error::Surface { name: name.into(), problem };
    if description.layout != Layout::Pitch {
        return Err(wrong("expected layout = \"pitch\"".into()));
    }
    let format = Format::of(&description.format);
    let format = format.ok_or_else(|| wrong(format!("unknown format `{}`", description.format)))?;
    let [width, height, depth] = description.size;
    let most = match description.dim {
        Dim::D1Buffer => [1 << 27, 1, 1],
        Dim::D1 => [MAX_SIDE, 1, 1],
        Dim::D2 => [MAX_SIDE, MAX_SIDE, 1],
        Dim::D1Array => [MAX_SIDE, 1, MAX_DEPTH],
        Dim::D2Array | Dim::D3 => [MAX_SIDE, MAX_SIDE, MAX_DEPTH],
        Dim::Cube => [MAX_SIDE, MAX_SIDE, FACES],
        Dim::CubeArray => [MAX_SIDE, MAX_SIDE, MAX_DEPTH],
    };
    if matches!(description.dim, Dim::Cube | Dim::CubeArray)
        && (width != height || depth % FACES != 0)
    {
        return Err(wrong(format!(
            "size {:?}: expected squares, six for each cube",
            description.size
        )));
    }
    if (0..3).any(|axis| description.size[axis] > most[axis]) {
        return Err(wrong(format!("size {:?}: expected at most {most:?}", description.size)));
    }
    let row_bytes = u64::from(width) * u64::from(format.bytes);
    let pitch = row_bytes.next_multiple_of(ROW_ALIGN);
    let levels = description.levels;
    let flat = matches!(description.dim, Dim::D1Buffer | Dim::D1 | Dim::D1Array);
    if levels > MAX_LEVELS || levels > 1 && flat {
        let problem = format!(
            "levels = {levels}: expected 1, and of planes and volumes at most {MAX_LEVELS}"
        );
        return Err(wrong(problem));
    }
    // Levels lie below each other in each slice, with halves of the height rounded up.
    let rows_of = |level: u32| u64::from((height - 1) >> level) + 1;
    let chain: u64 = (0..levels).map(rows_of).sum();
    let bytes = pitch * chain * u64::from(depth);
    let texels = images::room(memory, (name, description), bytes, ROW_ALIGN)?;
    let mut planes = Vec::new();
    for level in 0..levels {
        let half = |axis: u32| (axis >> level).max(1);
        let slices = if description.dim == Dim::D3 { half(depth) } else { depth };
        let layout = layout::Layout::Pitch(pitch as u32);
        let plane = Plane::new(half(width) * format.bytes, half(height), 1, layout);
        let above: u64 = (0..level).map(rows_of).sum();
        planes.extend((0..u64::from(slices)).map(|slice| (pitch * (slice * chain + above), plane)));
    }
    let mut object = [0; OBJECT_WORDS];
    let (low, high) = ((texels >> 8) as u32, (texels >> 40) as u32 & 0xff);
    let kind = match description.dim {
        Dim::D1 => 8,
        Dim::D2 => 9,
        Dim::D3 => 10,
        Dim::Cube | Dim::CubeArray => 11,
        Dim::D1Array => 12,
        Dim::D2Array => 13,
        Dim::D1Buffer => 0,
    };
    if kind == 0 {
        object[0] = texels as u32;
        object[1] = (texels >> 32) as u32 & 0xffff | format.bytes << 16;
        object[2] = width;
        object[3] = format.select | format.number << 12 | format.data << 15;
    } else {
        object[0] = low;
        object[1] = high | format.data << 20 | format.number << 26;
        object[2] = (width - 1) | (height - 1) << 14;
        object[3] = format.select | (levels - 1) << 16 | kind << 28;
        object[4] = (depth - 1) | ((pitch / u64::from(format.bytes)) as u32 - 1) << 13;
        object[5] = (levels - 1) << 28;
    }
    object[8..11].copy_from_slice(&[format.channel_type, format.channel_order, width]);
    Ok(Image {
        address: texels,
        bytes,
        planes,
        object: object.to_vec(),
        resident: description.resident.clone(),
    })
}

/// Returns the S# of a texture's sampler. Source: Mesa's register database, `SQ_IMG_SAMP_WORD0` to
/// `3`.
pub(super) fn texture_sampler(texture: &Sampling) -> Result<[u32; 4], String> {
    let modes = texture.address.0.into_iter().rev().fold(0, |bits, mode| bits << 3 | clamp(mode));
    let linear = |filter: Filter| u32::from(filter == Filter::Linear);
    // Levels of detail are unsigned, with 4.8 bits; the bias is signed, with 5.8 bits.
    let level = |lod: f32| (lod.clamp(0.0, 15.996) * 256.0).round() as u32 & 0xfff;
    let bias = (texture.lod_bias.clamp(-32.0, 31.996) * 256.0).round() as i32 as u32 & 0x3fff;
    let compare = match &texture.compare {
        None => 0,
        Some(name) => {
            let names =
                ["never", "less", "equal", "lequal", "greater", "notequal", "gequal", "always"];
            let found = names.iter().position(|known| known == name);
            found.ok_or_else(|| {
                format!("compare = \"{name}\": expected one of {}", names.join(", "))
            })? as u32
        }
    };
    let border = match texture.border {
        [0.0, 0.0, 0.0, 0.0] => 0,
        [0.0, 0.0, 0.0, 1.0] => 1,
        [1.0, 1.0, 1.0, 1.0] => 2,
        other => {
            return Err(format!(
                "border {other:?}: expected transparent or opaque black, or white"
            ));
        }
    };
    let mip = texture.mip_filter.map_or(0, |filter| 1 + linear(filter));
    let filter = linear(texture.filter);
    let first = modes | compare << 12 | u32::from(!texture.normalized) << 15;
    let levels =
        level(texture.min_lod.unwrap_or(0.0)) | level(texture.max_lod.unwrap_or(f32::MAX)) << 12;
    Ok([first, levels, bias | filter << 20 | filter << 22 | mip << 26, border << 30])
}

/// Returns the clamp mode of an axis.
fn clamp(address: AddressMode) -> u32 {
    match address {
        AddressMode::Repeat => 0,
        AddressMode::MirroredRepeat => 1,
        AddressMode::ClampToEdge => 2,
        AddressMode::ClampToBorder => 6,
    }
}

/// Returns the object of a sampler.
pub(super) fn sampler(sampler: Sampler) -> Vec<u32> {
    let clamp = clamp(sampler.address);
    let linear = u32::from(sampler.filter == Filter::Linear);
    // Bit 15: coordinates are not normalized. Bit 28: no seamless cubes.
    let first = (clamp * 0o111) | (u32::from(!sampler.normalized) << 15) | (1 << 28);
    // The level of detail has no limit. Magnification and minification use equal filters.
    vec![first, 0xfff << 12, linear << 20 | linear << 22, 0, 0, 0, 0, 0]
}
