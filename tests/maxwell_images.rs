//! Manifests' descriptions of images besides one level of texels: mip levels, cubes, pages that are
//! not resident, pools as a driver kept them, references by name, and the answers of queries.

use std::path::{Path, PathBuf};

use warploom::EngineKind;
use warploom_ir::image::Kind;
use warploom_ir::image::layout::{Blocks, Layout};
use warploom_maxwell::header::{self, Format};
use warploom_replay::{Launch, Session};

fn fixture(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).to_str().unwrap().into()
}

/// A launch in a folder of its own.
struct Case {
    folder: tempfile::TempDir,
    head: String,
}

impl Case {
    fn new(binary: &str, entry: &str, block: [u32; 3], grid: [u32; 3]) -> Case {
        let binary = fixture(binary);
        let head = format!(
            "kernel = {{ binary = \"{binary}\", entry = \"{entry}\" }}\nlaunch = {{ grid = {grid:?}, block = {block:?} }}\n"
        );
        Case { folder: tempfile::tempdir().unwrap(), head }
    }

    fn images(entry: &str, lanes: u32) -> Case {
        Case::new("tests/fixtures/maxwell/images/images.sm_50.cubin", entry, [lanes, 1, 1], [1; 3])
    }

    /// Returns a case that copies 256 x 256 words.
    fn copy() -> Case {
        Case::new("benches/fixtures/surface.sm_50.cubin", "copy_surface", [32, 8, 1], [8, 32, 1])
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn launch(&self, rest: &str) -> Result<Launch, String> {
        let path = self.file("m.toml", format!("{}{rest}", self.head).as_bytes());
        Launch::read(&path).map_err(|error| error.to_string())
    }

    /// Returns the result of `of` after the launch, on which both engines must agree.
    fn run<T: PartialEq + std::fmt::Debug>(
        &self,
        rest: &str,
        of: impl Fn(&Session<'_>) -> T,
    ) -> Result<T, String> {
        let launch = self.launch(rest)?;
        let mut results = Vec::new();
        for engine in [EngineKind::Interp, EngineKind::Jit] {
            let session = Session::new(&launch).map_err(|error| error.to_string())?;
            let outcome = session
                .launch(&session.options(engine, 1), None)
                .map_err(|error| error.to_string())?;
            assert!(outcome.fault.is_none(), "{engine:?}: {}", outcome.fault.unwrap());
            results.push(of(&session));
        }
        assert_eq!(results[0], results[1]);
        Ok(results.swap_remove(0))
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn floats(numbers: impl IntoIterator<Item = f32>) -> Vec<u8> {
    numbers.into_iter().flat_map(f32::to_le_bytes).collect()
}

#[test]
fn queries_say_what_an_image_is() {
    let case = Case::images("queries", 1);
    let found = case
        .run(
            r#"
arg = [{ surface = "s" }, { texture = "t" }, { buffer = "out" }]
[surface]
s = { dim = "2d_array", size = [20, 10, 3], format = "rgba16_float", layout = "block_linear" }
mips = { dim = "2d", size = [32, 16, 1], levels = 4, format = "bgra8_unorm", layout = "block_linear" }
image = { dim = "2d", size = [4, 4, 1], format = "r32_uint", layout = "pitch" }
[texture]
t = { surface = "mips", filter = "linear", address = "mirrored_repeat", normalized = true, mip_filter = "nearest" }
picture = { surface = "mips", filter = "nearest", address = "repeat" }
[buffer]
out = { zeros = 96 }
"#,
            |session| words(&session.buffer(0).unwrap()),
        )
        .unwrap();
    let surface = [20, 10, 3, 0x10dd, 0x10b5, 0, 3];
    let texture = [32, 16, 1, 0x10d2, 0x10b6, 1, 0x1141, 0x1134, 0x1134, 0x1134, 0, 4, 1, 0];
    // The order of `image` and the levels of `picture`, by reference.
    assert_eq!(found, [&surface[..], &texture, &[0x10b0, 4, 0]].concat());
}

#[test]
fn references_are_surfaces_and_textures_by_name() {
    let case = Case::images("references", 1);
    case.file("image.bin", &(0..64u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
    // Three levels of 8 x 4, 4 x 2 and 2 x 1 texels.
    let levels = [(1.0, 32), (2.0, 8), (3.0, 2)].map(|(value, texels)| floats(vec![value; texels]));
    case.file("levels.bin", &levels.concat());
    for (lod, expected) in [(0.0, 1.0f32), (1.0, 2.0), (1.5, 2.5), (7.0, 3.0)] {
        let manifest = format!(
            r#"
arg = [{{ buffer = "out" }}, {{ f32 = {lod:?} }}]
[surface]
image = {{ dim = "2d", size = [8, 8, 1], format = "r32_uint", layout = "block_linear", file = "image.bin" }}
mips = {{ dim = "2d", size = [8, 4, 1], levels = 3, format = "r32_float", layout = "block_linear", file = "levels.bin" }}
[texture]
picture = {{ surface = "mips", filter = "linear", address = "repeat", normalized = true, mip_filter = "linear" }}
[buffer]
out = {{ zeros = 24 }}
"#
        );
        let found = case.run(&manifest, |session| words(&session.buffer(0).unwrap())).unwrap();
        let one = 1.0f32.to_bits();
        assert_eq!(found, [33, expected.to_bits(), 0, 0, one, one], "level {lod}");
    }
}

#[test]
fn cubes_have_six_faces() {
    let case = Case::images("cube", 6);
    case.file("faces.bin", &floats((0..6 * 16).map(|texel| (texel / 16 + 1) as f32)));
    let manifest = r#"
arg = [{ texture = "t" }, { buffer = "out" }]
[surface]
faces = { dim = "cube", size = [4, 4, 6], format = "r32_float", layout = "block_linear", file = "faces.bin" }
[texture]
t = { surface = "faces", filter = "linear", address = "clamp_to_edge", normalized = true }
[buffer]
out = { zeros = 24 }
"#;
    let found = case.run(manifest, |session| session.buffer(0).unwrap()).unwrap();
    assert_eq!(found, floats([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
}

/// The compiler makes lanes that have left take part (SAM, RAM), and handles one lane of each quad
/// at a time: the other lanes get this lane's coordinates, moved along its gradients.
#[test]
fn gradients_choose_the_level_of_a_volume() {
    let lanes = 29;
    let case = Case::new(
        "tests/fixtures/maxwell/images/volume.sm_50.cubin",
        "volume",
        [32, 1, 1],
        [2, 1, 1],
    );
    // Four levels of 8, 4, 2 and 1 texels a side.
    case.file(
        "levels.bin",
        &floats((0..4).flat_map(|level| vec![(level + 1) as f32; 512 >> (3 * level)])),
    );
    // A gradient of 1/8 is a texel of the first level.
    let level = |lane: usize| lane * 7 % 5;
    case.file("gradients.bin", &floats((0..64).map(|lane| 0.0625 * (1 << level(lane)) as f32)));
    for n in [lanes, 64] {
        let manifest = format!(
            r#"
arg = [{{ texture = "t" }}, {{ buffer = "out" }}, {{ buffer = "gradients" }}, {{ i32 = {n} }}]
[surface.levels]
dim = "3d"
size = [8, 8, 8]
levels = 4
format = "r32_float"
layout = "block_linear"
file = "levels.bin"
[texture]
t = {{ surface = "levels", filter = "linear", address = "repeat", normalized = true, mip_filter = "nearest" }}
[buffer]
gradients = {{ file = "gradients.bin", dtype = "f32" }}
out = {{ zeros = 256 }}
"#
        );
        let found = case.run(&manifest, |session| session.buffer(1).unwrap()).unwrap();
        // A gradient of half a texel magnifies: it uses the first level.
        let value = |lane: usize| if lane < n { level(lane).max(1) as f32 } else { 0.0 };
        assert_eq!(found, floats((0..64).map(value)), "{n} lanes");
    }
}

#[test]
fn pages_that_are_not_resident_read_zero_and_lose_what_is_written() {
    let case = Case::copy();
    case.file("in.bin", &(1..=65536u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
    let manifest = r#"
arg = [{ surface = "in" }, { surface = "out" }, { i32 = 256 }, { i32 = 256 }]
[surface]
in = { dim = "2d", size = [256, 256, 1], format = "r32_uint", layout = "block_linear", file = "in.bin", resident = [0, 2] }
out = { dim = "2d", size = [256, 256, 1], format = "r32_uint", layout = "pitch", resident = [1, 2, 3] }
"#;
    let [input, output] =
        case.run(manifest, |s| [0, 1].map(|i| words(&s.surface(i).unwrap()))).unwrap();
    // Blocks are 16 x 128 texels in 8 KiB. A row of blocks has sixteen: a page has half of a row.
    let expected_in = |x: usize, y: usize| if x < 128 { (y * 256 + x + 1) as u32 } else { 0 };
    for y in 0..256 {
        for x in 0..256 {
            assert_eq!(input[y * 256 + x], expected_in(x, y), "in at {x}, {y}");
            // A page has 64 rows.
            let expected = if y < 64 { 0 } else { expected_in(x, y) };
            assert_eq!(output[y * 256 + x], expected, "out at {x}, {y}");
        }
    }
}

#[test]
fn a_captured_pool_says_where_images_are() {
    let case = Case::copy();
    let format = Format::named("r32_uint").unwrap();
    let pitch = format.image(Kind::D2, [256, 256, 1], Layout::Pitch(1024));
    let blocks =
        format.image(Kind::D2, [256, 256, 1], Layout::Blocks(Blocks { height: 0, depth: 0 }));
    let addresses = [0x1_2345_0000u64, 0x1_3456_0000];
    let mut images = [pitch, blocks];
    images.iter_mut().zip(addresses).for_each(|(image, address)| image.base = address);
    let headers =
        [[0; 8], header::encode(&images[0]).unwrap(), header::encode(&images[1]).unwrap()];
    case.file(
        "headers.bin",
        &headers.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>(),
    );
    case.file("in.bin", &(1..=65536u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
    let rest = r#"
arg = [{ u64 = 1 }, { u64 = 2 }, { i32 = 256 }, { i32 = 256 }]
[image_pool]
headers = "headers.bin"
[buffer]
in = { file = "in.bin", address = "0x123450000" }
out = { zeros = 262144, address = "0x134560000" }
"#;
    let found = case.run(rest, |session| words(&session.buffer(1).unwrap())).unwrap();
    let plane = blocks.plane(0);
    for (y, x) in (0..256u32).flat_map(|y| (0..256u32).map(move |x| (y, x))) {
        assert_eq!(found[plane.offset(4 * x, y, 0) as usize / 4], y * 256 + x + 1, "at {x}, {y}");
    }

    let wrong = |rest: &str| case.run(rest, |_| ()).unwrap_err();
    let beside = r#"
surface = { s = { dim = "1d", size = [1, 1, 1], format = "r32_uint" } }
image_pool = { headers = "headers.bin" }
"#;
    assert!(wrong(beside).contains("image_pool: expected no [surface.NAME]"), "{}", wrong(beside));
    case.file("cut.bin", &[0; 33]);
    let cut = wrong("image_pool = { headers = \"cut.bin\" }");
    assert!(
        cut.contains("cut.bin") && cut.contains("33 bytes: expected a multiple of 32"),
        "{cut}"
    );
    let other = Case::new("examples/gfx9/saxpy/saxpy.gfx900.hsaco", "saxpy", [64, 1, 1], [1; 3]);
    other.file("headers.bin", &[0; 32]);
    let other = other.run("image_pool = { headers = \"headers.bin\" }", |_| ()).unwrap_err();
    assert!(other.contains("not from a pool"), "{other}");
}

#[test]
fn images_that_cannot_be() {
    let surface =
        |more: &str| format!("[surface]\ns = {{ dim = \"2d\", format = \"r32_uint\", {more} }}\n");
    let cases = [
        (surface("size = [8, 8, 1], levels = 5"), "surface.s.levels: expected 1 to 4"),
        (surface("size = [8, 8, 1], levels = 2"), "levels = 2: expected layout = \"block_linear\""),
        (
            surface("size = [8, 8, 1], resident = [0, 0]"),
            "surface.s.resident: expected numbers of pages",
        ),
        (surface("size = [8, 8, 1], resident = [1]"), "resident page 1: the image has 1 pages"),
        (surface("size = [65536, 65536, 1], resident = []"), "expected at most 4294967296"),
        (
            surface("size = [65537, 1, 1]"),
            "size [65537, 1, 1]: expected at most [65536, 65536, 16384]",
        ),
        (
            surface("size = [1, 1, 4294967295], block_depth = 32").replace("2d", "3d"),
            "expected at most [65536",
        ),
        (
            surface("size = [4294967295, 4294967295, 98310]").replace("2d", "cube_array"),
            "expected at most [65536, 65536, 98304]",
        ),
        (
            surface("size = [4294967295, 4294967295, 4294967295]").replace("2d", "2d_array"),
            "expected at most [65536",
        ),
        (surface("size = [8, 4, 6]").replace("2d", "cube"), "expected squares, and six of them"),
        (
            surface("size = [8, 8, 7]").replace("2d", "cube_array"),
            "expected squares, and six of them",
        ),
        (
            surface("size = [8, 8, 1]")
                + "[texture]\nt = { surface = \"s\", filter = \"linear\", address = \"repeat\", compare = \"more\" }",
            "unknown comparison `more`: expected one of never, less",
        ),
    ];
    let case = Case::images("cube", 6);
    for (text, problem) in cases {
        let found = case.run(&text, |_| ()).unwrap_err();
        assert!(found.contains(problem), "{text}: {found}");
    }
}
