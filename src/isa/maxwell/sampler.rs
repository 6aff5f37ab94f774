//! Sampler entries: the 32-byte entries that the high bits of a handle index.
//!
//! Source: facts, `maxwell-surfaces.md`, section 1.4. Every bit pattern is some sampler.
//! Unsupported features are ignored: anisotropy counts as 1, minimum and maximum of texels and the
//! font filter do not exist, the trilinear slope does not count.

use warploom_ir::image::sampler::{CompareFn, Filter, MipFilter, Sampler, Wrap};

/// A sampler as words.
pub type Entry = [u32; 8];

/// A field: index of its word, lowest bit, and number of bits.
type Field = (usize, u32, u32);

const WRAP: [Field; 3] = [(0, 0, 3), (0, 3, 3), (0, 6, 3)];
const COMPARES: Field = (0, 9, 1);
const COMPARE: Field = (0, 10, 3);
const SRGB_ALLOWED: Field = (0, 13, 1);
const MAG: Field = (1, 0, 2);
const MIN: Field = (1, 4, 2);
const MIP: Field = (1, 6, 2);
/// The upper of the two bits of cube edge filtering.
const SEAMLESS: Field = (1, 9, 1);
const LOD_BIAS: Field = (1, 12, 13);
const FORCE_UNNORMALIZED: Field = (1, 25, 1);
const MIN_LOD: Field = (2, 0, 12);
const MAX_LOD: Field = (2, 12, 12);
const SRGB_BORDER: [Field; 3] = [(2, 24, 8), (3, 12, 8), (3, 20, 8)];
/// Index of the word of the border's red; green, blue and alpha follow.
const BORDER: usize = 4;

const POINT: u32 = 1;
const LINEAR: u32 = 2;
const MIP_NONE: u32 = 1;
const MIP_POINT: u32 = 2;
const MIP_LINEAR: u32 = 3;
/// Units per level of detail: fields have eight fractional bits.
const PLACES: f32 = 256.0;

fn get(entry: &Entry, (word, at, count): Field) -> u32 {
    entry[word] >> at & (u32::MAX >> (32 - count))
}

fn put(entry: &mut Entry, (word, at, count): Field, value: u32) {
    entry[word] |= (value & (u32::MAX >> (32 - count))) << at;
}

/// Decodes a sampler entry.
pub fn decode(entry: &Entry) -> Sampler {
    let has = |field| get(entry, field) != 0;
    // The value 3 asks for anisotropy.
    let filter = |field| if get(entry, field) >= LINEAR { Filter::Linear } else { Filter::Point };
    let (_, _, bits) = LOD_BIAS;
    let bias = (get(entry, LOD_BIAS) << (32 - bits)) as i32 >> (32 - bits);
    Sampler {
        wrap: WRAP.map(|field| Wrap::numbered(get(entry, field))),
        mag: filter(MAG),
        min: filter(MIN),
        mip: match get(entry, MIP) {
            MIP_LINEAR => MipFilter::Linear,
            MIP_POINT => MipFilter::Point,
            _ => MipFilter::None,
        },
        compare: has(COMPARES).then(|| CompareFn::numbered(get(entry, COMPARE))),
        srgb_allowed: has(SRGB_ALLOWED),
        seamless: has(SEAMLESS),
        lod_bias: bias as f32 / PLACES,
        min_lod: get(entry, MIN_LOD) as f32 / PLACES,
        max_lod: get(entry, MAX_LOD) as f32 / PLACES,
        force_unnormalized: has(FORCE_UNNORMALIZED),
        border: [0, 1, 2, 3].map(|i| entry[BORDER + i]),
        srgb_border: SRGB_BORDER.map(|field| get(entry, field) as u8),
    }
}

/// Encodes a sampler, as a driver writes it. Levels of detail are rounded to the nearest value that
/// entries can hold.
pub fn encode(sampler: &Sampler) -> Entry {
    let filter = |filter| if filter == Filter::Linear { LINEAR } else { POINT };
    // A NaN becomes 0.
    let fixed = |value: f32, least: f32, most: f32| {
        (value * PLACES).round_ties_even().clamp(least, most) as i32 as u32
    };
    let mut entry = Entry::default();
    let mut put = |field, value| put(&mut entry, field, value);
    for (field, wrap) in WRAP.into_iter().zip(sampler.wrap) {
        put(field, wrap as u32);
    }
    put(COMPARES, sampler.compare.is_some().into());
    put(COMPARE, sampler.compare.map_or(0, |function| function as u32));
    put(SRGB_ALLOWED, sampler.srgb_allowed.into());
    put(MAG, filter(sampler.mag));
    put(MIN, filter(sampler.min));
    put(MIP, [MIP_NONE, MIP_POINT, MIP_LINEAR][sampler.mip as usize]);
    put(SEAMLESS, sampler.seamless.into());
    put(LOD_BIAS, fixed(sampler.lod_bias, -4096.0, 4095.0));
    put(FORCE_UNNORMALIZED, sampler.force_unnormalized.into());
    put(MIN_LOD, fixed(sampler.min_lod, 0.0, 4095.0));
    put(MAX_LOD, fixed(sampler.max_lod, 0.0, 4095.0));
    for (field, value) in SRGB_BORDER.into_iter().zip(sampler.srgb_border) {
        put(field, value.into());
    }
    entry[BORDER..].copy_from_slice(&sampler.border);
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_they_should_be() {
        let mut entry = Entry::default();
        entry[0] = 1 | 2 << 3 | 7 << 6 | 1 << 9 | 6 << 10 | 1 << 13;
        entry[1] = 1 | 2 << 4 | 3 << 6 | 2 << 8 | 0x1f80 << 12 | 1 << 25;
        entry[2] = 0x180 | 0xa40 << 12 | 0x11 << 24;
        entry[3] = 0x22 << 12 | 0x33 << 20;
        entry[4..].copy_from_slice(&[5, 6, 7, 8]);
        let sampler = Sampler {
            wrap: [Wrap::Mirror, Wrap::ClampToEdge, Wrap::MirrorOnceClamp],
            mag: Filter::Point,
            min: Filter::Linear,
            mip: MipFilter::Linear,
            compare: Some(CompareFn::GreaterEqual),
            srgb_allowed: true,
            seamless: true,
            lod_bias: -0.5,
            min_lod: 1.5,
            max_lod: 10.25,
            force_unnormalized: true,
            border: [5, 6, 7, 8],
            srgb_border: [0x11, 0x22, 0x33],
        };
        assert_eq!(decode(&entry), sampler);
        assert_eq!(encode(&sampler), entry);
        assert_eq!(decode(&encode(&Sampler::default())), Sampler::default());
    }

    #[test]
    fn every_entry_is_a_sampler() {
        let mut seed = 1u32;
        let entries = [[0; 8], [u32::MAX; 8]];
        let random = (0..2000).map(|_| {
            [0; 8].map(|_: u32| {
                seed = seed.wrapping_mul(0x915f_77f5).wrapping_add(0x2545_f491);
                seed ^ seed >> 15
            })
        });
        for entry in entries.into_iter().chain(random) {
            let sampler = decode(&entry);
            assert_eq!(decode(&encode(&sampler)), sampler);
        }
    }

    #[test]
    fn what_entries_cannot_say_becomes_the_nearest() {
        let sampler =
            Sampler { lod_bias: -100.0, min_lod: f32::NAN, max_lod: 1000.0, ..Sampler::default() };
        let said = decode(&encode(&sampler));
        assert_eq!((said.lod_bias, said.min_lod, said.max_lod), (-16.0, 0.0, 4095.0 / 256.0));
    }
}
