//! Surface instructions of Maxwell against a model that follows the documents alone: `model.py`.
//! With the model, `cases.py` makes `cases.json.gz`: instructions with their surfaces, coordinates
//! and data, and the model's results.

#[path = "../support/maxwell_case.rs"]
mod case;
mod kernels;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use base64::Engine as _;
use case::{LANES, RESULT, kernel};
use serde::Deserialize;
use warploom::{Arg, EngineKind, ImagePool, LaunchOptions, Program};
use warploom_ir::image::layout::{Blocks, Layout};
use warploom_ir::image::{Image, Kind};
use warploom_maxwell::header::{self, Format};
use warploom_runtime::memory::{Access, Memory, MemoryConfig, Placement, Unbound};

const PAGE: u64 = 1 << 16;

#[derive(Deserialize)]
struct Cases {
    surfaces: BTreeMap<String, Surface>,
    coords: BTreeMap<String, Vec<[u32; 3]>>,
    data: BTreeMap<String, Vec<[u32; 4]>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Surface {
    dim: String,
    size: [u32; 3],
    format: String,
    layout: String,
    #[serde(default)]
    block_height: u8,
    #[serde(default)]
    block_depth: u8,
    #[serde(default)]
    pitch: u32,
    memory: String,
    #[serde(default)]
    sparse_pages: Vec<u64>,
    handle: String,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    surface: String,
    coords: String,
    data: String,
    result: Option<Vec<Vec<u32>>>,
    ps: Option<Vec<u32>>,
    fault: Option<Fault>,
    crc: u32,
}

#[derive(Deserialize, PartialEq, Debug)]
struct Fault {
    kind: String,
    lane: u32,
}

impl Surface {
    fn bytes(&self) -> Vec<u8> {
        base64::engine::general_purpose::STANDARD.decode(&self.memory).expect("base64")
    }

    fn image(&self, base: u64) -> Image {
        let format =
            Format::named(&self.format).unwrap_or_else(|| panic!("format {}", self.format));
        let (kind, array) = match self.dim.as_str() {
            "1d" => (Kind::D1, false),
            "1d_buffer" => (Kind::Buffer, false),
            "1d_array" => (Kind::D1, true),
            "2d" => (Kind::D2, false),
            "2d_array" => (Kind::D2, true),
            "3d" => (Kind::D3, false),
            other => panic!("dim {other}"),
        };
        let [width, height, depth] = self.size;
        let layout = match self.layout.as_str() {
            "pitch" => Layout::Pitch(self.pitch),
            "linear" => Layout::Pitch(0),
            "block_linear" => {
                Layout::Blocks(Blocks { height: self.block_height, depth: self.block_depth })
            }
            other => panic!("layout {other}"),
        };
        let size = [width, height, if kind == Kind::D3 { depth } else { 1 }];
        let layers = if array { depth } else { 1 };
        Image { base, array, layers, ..format.image(kind, size, layout) }
    }
}

/// Puts an image into memory and returns its address. Linear images without sparse pages begin at
/// no multiple of 16.
fn place(memory: &Memory, surface: &Surface, bytes: &[u8]) -> u64 {
    let room = bytes.len() as u64 + 64;
    let base =
        memory.reserve(Placement::ANYWHERE, room.next_multiple_of(PAGE), Unbound::Sparse).unwrap();
    for page in 0..room.div_ceil(PAGE) {
        if !surface.sparse_pages.contains(&page) {
            memory.bind(base + page * PAGE, PAGE, Access::READ_WRITE).unwrap();
        }
    }
    base + if surface.layout == "linear" && surface.sparse_pages.is_empty() { 8 } else { 0 }
}

/// Returns the image's current bytes. For pages that are not resident, it returns the bytes of
/// `before`, which nobody can see.
fn image_bytes(memory: &Memory, surface: &Surface, base: u64, before: &[u8]) -> Vec<u8> {
    let mut bytes = before.to_vec();
    for (page, bytes) in (0..).zip(bytes.chunks_mut(PAGE as usize)) {
        if !surface.sparse_pages.contains(&page) {
            memory.read(base + page * PAGE, bytes).unwrap();
        }
    }
    bytes
}

fn write(memory: &Memory, surface: &Surface, base: u64, bytes: &[u8]) {
    for (page, bytes) in (0..).zip(bytes.chunks(PAGE as usize)) {
        if !surface.sparse_pages.contains(&page) {
            memory.write(base + page * PAGE, bytes).unwrap();
        }
    }
}

fn check(cases: &Cases, case: &Case) -> Result<(), String> {
    let surface = &cases.surfaces[&case.surface];
    let program = Program::new(
        kernel(&case.text).map_err(|error| error.to_string())?,
        MemoryConfig::default(),
    )
    .unwrap();
    let memory = program.memory();
    let before = surface.bytes();
    let base = place(memory, surface, &before);
    let headers = memory.alloc(64, 32).unwrap();
    let encoded = header::encode(&surface.image(base)).unwrap();
    let encoded = if surface.handle == "null" { [0; 8] } else { encoded };
    memory.write(headers + 32, &encoded.map(u32::to_le_bytes).concat()).unwrap();
    // The upper bits of a handle are a sampler's.
    let handle = 0xabc0_0000_u64 | if surface.handle == "too_large" { 7 } else { 1 };

    let words = |words: Vec<u32>| words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    let coordinates =
        words(cases.coords[&case.coords].iter().flat_map(|&[x, y, z]| [x, y, z, 0]).collect());
    let data = words(cases.data[&case.data].concat());
    let inputs = memory.alloc(1 << 12, 16).unwrap();
    memory.write(inputs, &coordinates).unwrap();
    memory.write(inputs + 1024, &data).unwrap();
    let output = memory.alloc(1 << 12, 16).unwrap();
    let args = [
        Arg::from(handle),
        Arg::pointer(inputs),
        Arg::pointer(inputs + 1024),
        Arg::pointer(output),
    ];

    for engine in [EngineKind::Interp, EngineKind::Jit] {
        write(memory, surface, base, &before);
        memory.fill(output, 1 << 12, 0).unwrap();
        let mut options = LaunchOptions::new([1; 3], [LANES as u32, 1, 1]);
        options.engine = engine;
        options.images = Some(ImagePool { headers, last_header: 1, samplers: 0, last_sampler: 0 });
        let outcome = program.kernel("case").unwrap().launch(&args, &options).unwrap();
        let fault = outcome
            .fault
            .as_ref()
            .map(|f| Fault { kind: f.kind().name().into(), lane: f.fault.lane });
        if fault != case.fault {
            return Err(format!("{engine:?}: fault {fault:?}, expected {:?}", case.fault));
        }
        // The interpreter converts formats and executes atomics of pairs.
        let inline = case.text.contains(".D.") && !case.text.contains("F16x2") && fault.is_none();
        if engine == EngineKind::Jit && inline && outcome.counts.interp_instructions != 0 {
            return Err("the interpreter did some of it".into());
        }
        let crc = crc32fast::hash(&image_bytes(memory, surface, base, &before));
        if let Some(expected) = &case.result {
            let mut bytes = vec![0; LANES * RESULT + LANES * 4];
            memory.read(output, &mut bytes).unwrap();
            let found: Vec<u32> =
                bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
            for (lane, expected) in expected.iter().enumerate() {
                let registers = &found[4 * lane..][..expected.len()];
                if registers != expected {
                    let at = cases.coords[&case.coords][lane];
                    return Err(format!(
                        "{engine:?}: lane {lane} at {at:x?}: {registers:x?}, expected {expected:x?}"
                    ));
                }
            }
            if let Some(expected) = &case.ps {
                let status = &found[4 * LANES..];
                if status != expected {
                    return Err(format!(
                        "{engine:?}: sparse status {status:?}, expected {expected:?}"
                    ));
                }
            }
        }
        if crc != case.crc {
            return Err(format!(
                "{engine:?}: the image's CRC is {crc:#x}, expected {:#x}",
                case.crc
            ));
        }
    }
    Ok(())
}

#[test]
fn instructions_do_what_the_model_does() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/maxwell_surfaces/cases.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    let cases: Cases = serde_json::from_str(&text).unwrap();
    let only = std::env::var("WARPLOOM_CASE").unwrap_or_default();
    let (next, failures) = (AtomicUsize::new(0), std::sync::Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases.cases.get(next.fetch_add(1, Relaxed)) {
                    if !case.text.contains(&only) {
                        continue;
                    }
                    if let Err(problem) = check(&cases, case) {
                        let Case { text, surface, coords, data, .. } = case;
                        let failure = format!("{text} on {surface}, {coords}, {data}: {problem}");
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} of {} fail:\n{}",
        failures.len(),
        cases.cases.len(),
        failures.join("\n")
    );
}

/// Ten million additions to one texel from two threads all count.
#[test]
fn contended_additions_are_all_there() {
    const BLOCKS: u32 = 312_500;
    let lanes = u64::from(BLOCKS) * LANES as u64;
    for (ty, one, format, expected) in [
        ("", [1, 0], "r32_uint", lanes),
        (".U64", [1, 0], "rg32_uint", lanes),
        (".F32.FTZ.RN", [1f32.to_bits(), 0], "r32_float", (lanes as f32).to_bits().into()),
    ] {
        for text in [
            "SUATOM.D.2D.ADD{ty}.TRAP R8, [R4], R12, 0x50",
            "SURED.D.BA.2D.ADD{ty}.TRAP [R4], R12, 0x50",
        ] {
            let text = text.replace("{ty}", ty);
            let surface = Surface {
                dim: "2d".into(),
                size: [16, 16, 1],
                format: format.into(),
                layout: "block_linear".into(),
                block_height: 1,
                block_depth: 0,
                pitch: 0,
                memory: String::new(),
                sparse_pages: vec![],
                handle: "valid".into(),
            };
            let program = Program::new(kernel(&text).unwrap(), MemoryConfig::default()).unwrap();
            let memory = program.memory();
            let base = place(memory, &surface, &[0; 4096]);
            let image = surface.image(base);
            let headers = memory.alloc(64, 32).unwrap();
            memory
                .write(
                    headers + 32,
                    &header::encode(&image).unwrap().map(u32::to_le_bytes).concat(),
                )
                .unwrap();
            let inputs = memory.alloc(1 << 12, 16).unwrap();
            // The coordinate of byte 8, in elements of one, eight or four bytes.
            let x = if text.contains(".BA") {
                8
            } else if ty == ".U64" {
                1
            } else {
                2
            };
            for lane in 0..LANES as u64 {
                memory
                    .write(inputs + 16 * lane, &[x, 1, 0, 0].map(u32::to_le_bytes).concat())
                    .unwrap();
                memory
                    .write(inputs + 1024 + 16 * lane, &one.map(u32::to_le_bytes).concat())
                    .unwrap();
            }
            let output = memory.alloc(1 << 12, 16).unwrap();
            let args = [
                Arg::from(1u64),
                Arg::pointer(inputs),
                Arg::pointer(inputs + 1024),
                Arg::pointer(output),
            ];
            let mut options = LaunchOptions::new([BLOCKS, 1, 1], [LANES as u32, 1, 1]);
            options.threads = 2;
            options.images =
                Some(ImagePool { headers, last_header: 1, samplers: 0, last_sampler: 0 });
            let outcome = program.kernel("case").unwrap().launch(&args, &options).unwrap();
            assert!(outcome.fault.is_none(), "{text}: {:?}", outcome.fault);
            let mut sum = [0; 8];
            memory.read(base + image.plane(0).offset(8, 1, 0), &mut sum).unwrap();
            assert_eq!(u64::from_le_bytes(sum), expected, "{text}");
        }
    }
}
