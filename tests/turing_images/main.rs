//! PTX's instructions on textures and surfaces, compiled by ptxas for sm_75, sm_80 and sm_89, do
//! what the PTX guest does, on both engines. `forms.py` writes the fixtures.

#[allow(dead_code, reason = "other tests write their PTX")]
#[path = "../support/ptx_case.rs"]
mod case;

use std::fmt::Write;
use std::io::Read;

use case::{Case, Random};

/// A last quad that is whole, and a warp that is not.
const LANES: usize = 40;
const WORDS: usize = 32;
const GPUS: [&str; 3] = ["sm_75", "sm_80", "sm_89"];

fn unpacked(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/turing/images/{name}.gz", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut content = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut content)
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    content
}

/// A kernel of a fixture: the shape of its image, and its instruction.
struct Form {
    number: usize,
    shape: String,
    compares: bool,
    instruction: String,
}

/// Returns the kernels of a PTX text, which comments describe.
fn forms(text: &[u8]) -> Vec<Form> {
    let text = String::from_utf8(text.to_vec()).unwrap();
    let comments = text.lines().filter_map(|line| line.strip_prefix("// "));
    let form = |(number, comment): (usize, &str)| {
        let (shape, instruction) = comment.split_once(": ").unwrap();
        let compares = shape.ends_with(" compare");
        let shape = shape.trim_end_matches(" compare").to_owned();
        Form { number, shape, compares, instruction: instruction.to_owned() }
    };
    comments.enumerate().map(form).collect()
}

/// Returns the manifest's name and the size of an image of a shape.
fn image(shape: &str) -> (&'static str, [u32; 3]) {
    match shape {
        "1d" => ("1d", [23, 1, 1]),
        "2d" => ("2d", [21, 13, 1]),
        "3d" => ("3d", [9, 7, 5]),
        "a1d" => ("1d_array", [19, 1, 6]),
        "a2d" => ("2d_array", [17, 11, 5]),
        "cube" => ("cube", [8, 8, 6]),
        _ => ("cube_array", [8, 8, 18]),
    }
}

fn floats(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.below(1 << 20) as f32 / (1 << 20) as f32).collect()
}

/// Returns the input of all lanes: floats, bits, then integers. Without `inside`, some coordinates
/// are out of range.
fn input(random: &mut Random, inside: bool) -> Vec<u8> {
    let mut words = Vec::new();
    for _ in 0..LANES {
        let mut lane = [0; WORDS];
        let values = floats(random, 12);
        for (n, word) in lane.iter_mut().enumerate().take(12) {
            let value = match n {
                0..3 => values[n] * 3.4 - 1.2,
                3 => values[n] * 5.0 - 1.0,
                4 => values[n],
                _ => values[n] * 0.8 - 0.4,
            };
            *word = value.to_bits();
        }
        lane[12..16].fill_with(|| random.word());
        for word in &mut lane[16..19] {
            *word = match random.below(if inside { 1 } else { 6 }) {
                0..5 => random.below(4),
                _ => random.below(27).wrapping_sub(3),
            };
        }
        lane[20..23].fill_with(|| random.below(16).wrapping_sub(8));
        lane[24] = random.below(if inside { 5 } else { 7 });
        words.extend(lane);
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Launches a kernel of some code, and returns buffer and image, or the fault without its place.
fn run(
    file: &str,
    code: &[u8],
    number: usize,
    rest: &str,
    files: &[(&str, &[u8])],
) -> Result<[Vec<u8>; 2], String> {
    let case = Case::of_file(file, code, &format!("k{number}"), [LANES as u32, 1, 1]);
    for (name, content) in files {
        case.file(name, content);
    }
    let result =
        case.try_run(rest, |session| [session.buffer(1).unwrap(), session.surface(0).unwrap()]);
    result.map_err(|fault| fault.split(" at ").next().unwrap_or_default().to_owned())
}

/// Runs each kernel of a fixture as PTX and as code of each GPU. `manifest` describes the image of a
/// form, and returns its content.
fn compare(
    fixture: &str,
    argument: &str,
    manifest: impl Fn(&Form, &mut Random) -> (String, Vec<u8>),
) {
    let text = unpacked(&format!("{fixture}.ptx"));
    let code = GPUS.map(|gpu| unpacked(&format!("{fixture}.{gpu}.cubin")));
    let mut wrong = String::new();
    let mut finished = 0;
    for form in forms(&text) {
        let random = &mut Random::new(form.number as u64);
        let (image, texels) = manifest(&form, random);
        let given = input(random, form.instruction.contains(".trap") && form.number % 4 != 0);
        let rest = format!(
            "arg = [{{ {argument} }}, {{ buffer = \"in\" }}, {{ buffer = \"out\" }}]\n{image}
[buffer]
in = {{ file = \"in.bin\", dtype = \"u8\" }}
out = {{ zeros = {} }}\n",
            32 * LANES
        );
        let files: [(&str, &[u8]); 2] = [("s.bin", &texels), ("in.bin", &given)];
        let expected = run("k.ptx", &text, form.number, &rest, &files);
        finished += usize::from(expected.is_ok());
        for (gpu, code) in GPUS.iter().zip(&code) {
            let found = run("k.cubin", code, form.number, &rest, &files);
            if found != expected {
                writeln!(wrong, "{gpu}, k{}: {}", form.number, form.instruction).unwrap();
            }
        }
    }
    assert!(finished > 90, "only {finished} kernels finished");
    assert!(wrong.is_empty(), "other results than PTX's:\n{wrong}");
}

#[test]
fn textures_are_read_as_ptx_says() {
    compare("textures", "texture = \"t\"", |form, random| {
        let (dim, size) = image(&form.shape);
        let levels = if form.compares { 1 } else { 1 + form.number as u32 % 3 };
        let level = |n: u32| {
            let [width, height, depth] = size.map(|axis| (axis >> n).max(1));
            width * height * if dim == "3d" { depth } else { size[2] }
        };
        let texels: u32 = (0..levels).map(level).sum();
        let (format, content) = if form.compares || form.number.is_multiple_of(2) {
            let texels = floats(random, texels as usize);
            ("r32_float", texels.into_iter().flat_map(f32::to_le_bytes).collect())
        } else {
            ("rgba8_unorm", random.bytes(4 * texels as usize))
        };
        let filter = ["nearest", "linear"][form.number / 2 % 2];
        // A line's border also counts along y: docs/fidelity.md.
        let modes = if form.shape == "1d" { 2 } else { 3 };
        let address = ["clamp_to_edge", "repeat", "clamp_to_border"][form.number % modes];
        let mut sampling = format!(
            "[texture.t]\nsurface = \"s\"\nfilter = \"{filter}\"\naddress = \"{address}\"
normalized = true\n"
        );
        if levels > 1 {
            sampling += "mip_filter = \"linear\"\n";
        }
        if form.compares {
            sampling += "compare = \"less\"\n";
        }
        let surface = format!(
            "[surface.s]\ndim = \"{dim}\"\nsize = {size:?}\nformat = \"{format}\"
layout = \"block_linear\"\nlevels = {levels}\nfile = \"s.bin\"\n"
        );
        (surface + &sampling, content)
    });
}

#[test]
fn surfaces_are_accessed_as_ptx_says() {
    compare("surfaces", "surface = \"s\"", |form, random| {
        let (dim, size) = image(&form.shape);
        let formatted = form.instruction.starts_with("sust.p");
        let (format, bytes) = match form.number % 3 {
            _ if form.instruction.starts_with("sured.p") => ("r32_uint", 4),
            0 if formatted => ("rgba8_unorm", 4),
            1 if formatted => ("rgba16_float", 8),
            _ if formatted => ("r32_uint", 4),
            _ => ("rg32_uint", 8),
        };
        let content = random.bytes((size.iter().product::<u32>() * bytes) as usize);
        let surface = format!(
            "[surface.s]\ndim = \"{dim}\"\nsize = {size:?}\nformat = \"{format}\"
layout = \"block_linear\"\nfile = \"s.bin\"\n"
        );
        (surface, content)
    });
}
