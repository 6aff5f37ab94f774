//! Images and samplers as arguments of GFX9 kernels, on both engines.

use std::path::{Path, PathBuf};

use warploom::EngineKind;
use warploom_replay::{Launch, Session, compare};

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gfx9").join(name)
}

fn run<'c>(launch: &'c Launch, engine: EngineKind) -> Session<'c> {
    let session = Session::new(launch).unwrap();
    // The second launch starts from the same texels.
    for _ in 0..2 {
        session.reset().unwrap();
        let outcome = session.launch(&session.options(engine, 1), None).unwrap();
        assert_eq!(outcome.fault, None, "{engine}");
    }
    session
}

#[test]
fn texels_by_number_and_by_sampler() {
    let launch = Launch::read(&fixture("image/image.toml")).unwrap();
    let expect = launch.buffers[0].expect.as_ref().unwrap();
    let sums = expect.array.bytes.as_chunks::<4>().0;
    let written: Vec<u8> = sums.iter().map(|word| word[0]).collect();
    for engine in ENGINES {
        let session = run(&launch, engine);
        let comparison = compare(&session.buffer(0).unwrap(), &expect.array, expect.tolerance);
        assert_eq!(comparison.mismatches, 0, "{engine}: {comparison}");
        let to = launch.surfaces.iter().position(|surface| surface.name == "to").unwrap();
        assert_eq!(session.surface(to).unwrap(), written, "{engine}");
    }
}

/// Returns a launch of the corpus kernel that copies an image of this format and content to an
/// image of floats.
fn copy(format: &str, content: &[u8], sampler: &str) -> Result<Launch, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture("corpus/k10_image.hsaco"), folder.path().join("k.hsaco")).unwrap();
    std::fs::write(folder.path().join("from.bin"), content).unwrap();
    let manifest = format!(
        r#"
[kernel]
binary = "k.hsaco"
[launch]
grid = [3, 2, 1]
block = [8, 8, 1]
[[arg]]
texture = "from"
[[arg]]
surface = "to"
[[arg]]
sampler = {{ {sampler} }}
[surface.from]
dim = "2d"
size = [19, 11, 1]
format = "{format}"
file = "from.bin"
[surface.to]
dim = "2d"
size = [19, 11, 1]
format = "rgba32_float"
"#
    );
    let path = folder.path().join("m.toml");
    std::fs::write(&path, manifest).unwrap();
    Launch::read(&path).map_err(|e| e.to_string())
}

/// The kernel adds the image's width to each component.
#[track_caller]
fn assert_copies(format: &str, content: &[u8], sampler: &str, expected: &[[f32; 4]]) {
    let launch = copy(format, content, sampler).unwrap();
    let to = launch.surfaces.iter().position(|surface| surface.name == "to").unwrap();
    let expected: Vec<f32> = expected.iter().flatten().map(|component| component + 19.0).collect();
    for engine in ENGINES {
        let bytes = run(&launch, engine).surface(to).unwrap();
        let got: Vec<f32> =
            bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect();
        assert_eq!(got, expected, "{engine}, {format}, {sampler}");
    }
}

const NEAREST: &str = "filter = \"nearest\", address = \"clamp_to_edge\"";

#[test]
fn formats() {
    let bytes: Vec<u8> = (0..19 * 11 * 4_u32).map(|i| (i * 37 % 251) as u8).collect();
    let texels = bytes.as_chunks::<4>().0;
    // Sums of fractions of 255 are rounded twice; only 0 and 255 are exact.
    let rough: Vec<u8> = bytes.iter().map(|&byte| if byte & 1 == 1 { 255 } else { 0 }).collect();
    let colours: Vec<_> = rough
        .as_chunks::<4>()
        .0
        .iter()
        .map(|texel| texel.map(|byte| f32::from(byte & 1)))
        .collect();
    assert_copies("rgba8_unorm", &rough, NEAREST, &colours);
    let swapped: Vec<_> = colours.iter().map(|&[b, g, r, a]| [r, g, b, a]).collect();
    assert_copies("bgra8_unorm", &rough, NEAREST, &swapped);

    let floats: Vec<f32> = bytes.iter().map(|&byte| f32::from(byte) * 0.25 - 8.0).collect();
    let content: Vec<u8> = floats.iter().flat_map(|float| float.to_le_bytes()).collect();
    assert_copies("rgba32_float", &content, NEAREST, floats.as_chunks::<4>().0);
    let content: Vec<u8> =
        floats.iter().flat_map(|&float| half::f16::from_f32(float).to_le_bytes()).collect();
    assert_copies("rgba16_float", &content, NEAREST, floats.as_chunks::<4>().0);
    let red: Vec<f32> = texels.iter().map(|texel| f32::from(texel[0])).collect();
    let content: Vec<u8> = red.iter().flat_map(|float| float.to_le_bytes()).collect();
    let expected: Vec<_> = red.iter().map(|&red| [red, 0.0, 0.0, 1.0]).collect();
    assert_copies("r32_float", &content, NEAREST, &expected);
}

#[test]
fn samplers() {
    let floats: Vec<f32> = (0..19 * 11).map(|i: i32| (i * 29 % 97) as f32).collect();
    let content: Vec<u8> = floats.iter().flat_map(|float| float.to_le_bytes()).collect();
    let plain: Vec<_> = floats.iter().map(|&red| [red, 0.0, 0.0, 1.0]).collect();
    // At the centre of texels, linear filters have nothing to mix.
    for address in ["clamp_to_edge", "clamp_to_border"] {
        for filter in ["nearest", "linear"] {
            let sampler = format!("filter = \"{filter}\", address = \"{address}\"");
            assert_copies("r32_float", &content, &sampler, &plain);
        }
    }
    // Normalized coordinates of 0.5, 1.5, ... are the centre of the image, again and again.
    let middle = floats[5 * 19 + 9];
    let mixed: Vec<_> = floats.iter().map(|&red| [(red + middle) / 2.0, 0.0, 0.0, 1.0]).collect();
    for address in ["repeat", "mirrored_repeat"] {
        let sampler = format!("filter = \"linear\", address = \"{address}\", normalized = true");
        assert_copies("r32_float", &content, &sampler, &mixed);
    }
}

/// The kernel reads descriptors that a guest could write where it uses them.
#[test]
fn descriptors_in_buffers() {
    let floats: Vec<f32> = (0..32 * 11).map(|i: i32| (i * 29 % 97) as f32).collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture("corpus/k10_image.hsaco"), folder.path().join("k.hsaco")).unwrap();
    let file: Vec<u8> = floats.iter().flat_map(|float| float.to_le_bytes()).collect();
    std::fs::write(folder.path().join("texels.bin"), file).unwrap();
    // A 19 x 11 image in rows of 32, with one or four float components; a width for queries
    // follows.
    let descriptor = |address: u64, data: u32| {
        let (low, high) = ((address >> 8) as u32, (address >> 40) as u32);
        let select = if data == 4 { 0o1004 } else { 0o7654 };
        let shape = [18 | 10 << 14, select | 9 << 28, 31 << 13];
        [&[low, high | data << 20 | 7 << 26][..], &shape, &[0, 0, 0, 0, 0, 19, 0]].concat()
    };
    let (from, to) = (0x10_0000, 0x20_0000);
    let manifest = format!(
        r#"
kernel = {{ binary = "k.hsaco" }}
launch = {{ grid = [3, 2, 1], block = [8, 8, 1] }}
arg = [{{ buffer = "from" }}, {{ buffer = "to" }}, {{ buffer = "sampler" }}]
[buffer.from]
dtype = "u32"
values = {:?}
[buffer.to]
dtype = "u32"
values = {:?}
[buffer.sampler]
dtype = "u32"
values = [0x1000b092, 0xfff000, 0, 0, 0, 0, 0, 0]
[buffer.texels]
address = {from}
file = "texels.bin"
dtype = "f32"
[buffer.written]
address = {to}
zeros = {}
"#,
        descriptor(from, 4),
        descriptor(to, 14),
        32 * 11 * 16
    );
    let path = folder.path().join("m.toml");
    std::fs::write(&path, manifest).unwrap();
    let launch = Launch::read(&path).unwrap();
    let written = launch.buffers.iter().position(|buffer| buffer.name == "written").unwrap();
    let texel =
        |i: usize| if i % 32 < 19 { [floats[i] + 19.0, 19.0, 19.0, 20.0] } else { [0.0; 4] };
    let expected: Vec<f32> = (0..floats.len()).flat_map(texel).collect();
    for engine in ENGINES {
        let bytes = run(&launch, engine).buffer(written).unwrap();
        let got: Vec<f32> =
            bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect();
        assert_eq!(got, expected, "{engine}");
    }
}

#[test]
fn images_that_cannot_be() {
    let message = |format: &str, bytes: usize| {
        let launch = copy(format, &vec![0; bytes], NEAREST).unwrap();
        Session::new(&launch).map(|_| ()).unwrap_err().to_string()
    };
    for format in ["rgba8", "rgb8_unorm", "r32_unorm", "r8_float", "r8_half"] {
        let text = message(format, 4);
        assert!(
            text.contains("surface `from`") && text.contains(&format!("unknown format `{format}`")),
            "{text}"
        );
    }
    let text = message("rgba8_unorm", 19 * 11 * 4 - 1);
    assert!(text.contains("835 bytes of data") && text.contains("its rows have 836"), "{text}");
}
