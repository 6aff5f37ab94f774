//! Texture sampling against a model that follows the documents alone: `model.py`. With the model,
//! `cases.py` makes `cases.json.gz`: images, samplers and queries, and the model's results.

#[path = "../support/maxwell_case.rs"]
mod case;
mod hardware;
mod instructions;
mod kernels;

use std::collections::BTreeMap;
use std::io::Read;

use base64::Engine as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use warploom_ir::image::layout::{Blocks, Layout};
use warploom_ir::image::sample::{Operation, Query, View};
use warploom_ir::image::sampler::{CompareFn, Filter, MipFilter, Sampler, Wrap};
use warploom_ir::image::{Image, Kind, Source};
use warploom_maxwell::header::Format;
use warploom_maxwell::sampler as entry;

/// The address of images that are not in guest memory.
const BASE: u64 = 0x1_2340_0000;

#[derive(Deserialize)]
struct Cases {
    images: BTreeMap<String, Texture>,
    /// Coordinates, layer, level of detail, reference and offset.
    queries: BTreeMap<String, Vec<[i64; 9]>>,
    cases: Vec<Case>,
    gradients: Vec<Gradient>,
}

#[derive(Deserialize)]
struct Texture {
    kind: String,
    array: bool,
    size: [u32; 3],
    layers: u32,
    levels: u8,
    first_level: u8,
    last_level: u8,
    layout: String,
    block_height: u8,
    block_depth: u8,
    pitch: u32,
    format: String,
    normalized: bool,
    min_lod: f32,
    sources: String,
    memory: String,
}

#[derive(Deserialize)]
struct Settings {
    wrap: Option<[String; 3]>,
    mag: Option<String>,
    min: Option<String>,
    mip: Option<String>,
    compare: Option<String>,
    #[serde(default)]
    srgb_allowed: bool,
    #[serde(default)]
    seamless: bool,
    #[serde(default)]
    force_unnormalized: bool,
    #[serde(default)]
    lod_bias: f32,
    #[serde(default)]
    min_lod: f32,
    max_lod: Option<f32>,
    #[serde(default)]
    border: [u32; 4],
    #[serde(default)]
    srgb_border: [u8; 3],
}

#[derive(Deserialize)]
struct Case {
    image: String,
    sampler: Settings,
    operation: String,
    queries: String,
    results: Vec<[u32; 4]>,
}

#[derive(Deserialize)]
struct Gradient {
    image: String,
    sampler: Settings,
    dx: [u32; 3],
    dy: [u32; 3],
    lod: u32,
}

fn load<T: DeserializeOwned>(name: &str) -> T {
    let path = format!("{}/tests/maxwell_textures/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    serde_json::from_str(&text).unwrap()
}

impl Texture {
    fn bytes(&self) -> Vec<u8> {
        base64::engine::general_purpose::STANDARD.decode(&self.memory).expect("base64")
    }

    /// Returns the image after a round trip through its record.
    fn image(&self, base: u64) -> Image {
        let format =
            Format::named(&self.format).unwrap_or_else(|| panic!("format {}", self.format));
        let kind = match self.kind.as_str() {
            "buffer" => Kind::Buffer,
            "1d" => Kind::D1,
            "2d" => Kind::D2,
            "3d" => Kind::D3,
            "cube" => Kind::Cube,
            other => panic!("kind {other}"),
        };
        let mut sources = [Source::Zero; 4];
        for (source, name) in sources.iter_mut().zip(self.sources.chars()) {
            *source = match name {
                '0' => Source::Zero,
                '1' => Source::One,
                'r' => Source::R,
                'g' => Source::G,
                'b' => Source::B,
                _ => Source::A,
            };
        }
        let layout = match self.layout.as_str() {
            "block_linear" => {
                Layout::Blocks(Blocks { height: self.block_height, depth: self.block_depth })
            }
            _ => Layout::Pitch(self.pitch),
        };
        let image = Image {
            base,
            array: self.array,
            layers: self.layers,
            levels: self.levels,
            first_level: self.first_level,
            last_level: self.last_level,
            sources,
            normalized: self.normalized,
            min_lod: self.min_lod,
            ..format.image(kind, self.size, layout)
        };
        Image::from_record(&image.record().unwrap()).unwrap()
    }
}

impl Settings {
    /// Returns the sampler after round trips through a driver's entry and through its record.
    fn sampler(&self) -> Sampler {
        let filter = |name: &Option<String>| match name.as_deref() {
            Some("linear") => Filter::Linear,
            _ => Filter::Point,
        };
        let plain = Sampler::default();
        let wrap = |names: &[String; 3]| [0, 1, 2].map(|axis| Wrap::named(&names[axis]).unwrap());
        let sampler = Sampler {
            wrap: self.wrap.as_ref().map_or(plain.wrap, wrap),
            mag: filter(&self.mag),
            min: filter(&self.min),
            mip: match self.mip.as_deref() {
                Some("point") => MipFilter::Point,
                Some("linear") => MipFilter::Linear,
                _ => MipFilter::None,
            },
            compare: self.compare.as_deref().map(|name| CompareFn::named(name).unwrap()),
            srgb_allowed: self.srgb_allowed,
            seamless: self.seamless,
            lod_bias: self.lod_bias,
            min_lod: self.min_lod,
            max_lod: self.max_lod.unwrap_or(plain.max_lod),
            force_unnormalized: self.force_unnormalized,
            border: self.border,
            srgb_border: self.srgb_border,
        };
        let decoded = entry::decode(&entry::encode(&sampler));
        assert_eq!(decoded, sampler);
        Sampler::from_record(&decoded.record())
    }
}

/// Returns the result of a query to an image that begins at [`BASE`].
fn ask(
    operation: &str,
    image: &Image,
    sampler: &Sampler,
    query: &[i64; 9],
    memory: &[u8],
) -> [u32; 4] {
    let word = |i: usize| query[i] as u32;
    let float = |i: usize| f32::from_bits(word(i));
    let mut query = Query {
        coords: [word(0), word(1), word(2)],
        layer: word(3),
        lod: word(4),
        reference: word(5),
        offset: [6, 7, 8].map(|i| word(i) as i32),
    };
    let operation = match operation {
        "sample" => Operation::Sample,
        "fetch" => Operation::Fetch,
        "nearest" => Operation::FetchNearest,
        // The gradients follow the coordinates.
        "grad" => {
            let (dx, dy) = ([3, 4, 5].map(float), [6, 7, 8].map(float));
            let lod = View::new(image, sampler).level_of_gradients(dx, dy).to_bits();
            query = Query { coords: query.coords, lod, ..Query::default() };
            Operation::Sample
        }
        gather => Operation::Gather { component: gather["gather".len()..].parse().unwrap() },
    };
    let read = |at: u64, bytes: &mut [u8]| {
        let texel =
            at.checked_sub(BASE).and_then(|at| memory.get(at as usize..)?.get(..bytes.len()));
        bytes.copy_from_slice(texel.ok_or("outside of the image")?);
        Ok::<_, &str>(false)
    };
    View::new(image, sampler).sample(operation, &query, read).unwrap().0
}

#[test]
fn samples_are_what_the_model_says() {
    let cases: Cases = load("cases.json.gz");
    let images: BTreeMap<_, _> = cases
        .images
        .iter()
        .map(|(name, texture)| {
            let (image, memory) = (texture.image(BASE), texture.bytes());
            assert_eq!(image.total_bytes(), memory.len() as u64, "{name}");
            (name, (image, memory))
        })
        .collect();
    let only = std::env::var("WARPLOOM_CASE").unwrap_or_default();
    let mut failures = Vec::new();
    let mut checked = 0;
    for case in &cases.cases {
        let (image, memory) = &images[&case.image];
        let sampler = case.sampler.sampler();
        let queries = &cases.queries[&case.queries];
        assert_eq!(queries.len(), case.results.len());
        for (query, expected) in queries.iter().zip(&case.results) {
            let found = ask(&case.operation, image, &sampler, query, memory);
            checked += 1;
            if found != *expected {
                let coords = [0, 1, 2].map(|i| f32::from_bits(query[i] as u32));
                let values = expected.map(f32::from_bits);
                let failure = format!(
                    "{} of {}, {} at {coords:?} {query:x?} with {sampler:x?}: {found:x?}, expected {expected:x?} {values:?}",
                    case.operation, case.image, case.queries
                );
                if failure.contains(&only) {
                    failures.push(failure);
                }
                break;
            }
        }
    }
    assert!(checked > 20_000, "{checked}");
    let some = &failures[..failures.len().min(20)];
    assert!(
        failures.is_empty(),
        "{} of {} cases fail:\n{}",
        failures.len(),
        cases.cases.len(),
        some.join("\n")
    );
}

#[test]
fn gradients_are_levels_as_the_model_says() {
    let cases: Cases = load("cases.json.gz");
    for Gradient { image, sampler, dx, dy, lod } in &cases.gradients {
        let [dx, dy] = [dx, dy].map(|gradient| gradient.map(f32::from_bits));
        let found = View::new(&cases.images[image].image(BASE), &sampler.sampler())
            .level_of_gradients(dx, dy);
        assert_eq!(
            found.to_bits(),
            *lod,
            "{image}: {dx:?} {dy:?}: {found}, expected {}",
            f32::from_bits(*lod)
        );
    }
}
