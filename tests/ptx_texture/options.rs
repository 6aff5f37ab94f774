//! Levels, gradients, offsets, comparisons, gathers, halves, residency, separate samplers.

use super::case::Case;
use super::{NEAREST, Sky, bytes, floats, kernel, words};

const FLOATS: &str =
    "    mov.b32 %v1, %f1;\n    mov.b32 %v2, %f2;\n    mov.b32 %v3, %f3;\n    mov.b32 %v4, %f4;\n";

/// Returns three levels, each of one value: 1, 2 and 3.
fn levels() -> Vec<u8> {
    [(1.0, 64), (2.0, 16), (3.0, 4)]
        .into_iter()
        .flat_map(|(value, texels)| floats(vec![value; texels]))
        .collect()
}

const MIPS: &str =
    "dim = \"2d\", size = [8, 8, 1], levels = 3, layout = \"block_linear\", format = \"r32_float\"";

fn first(sky: &Sky<'_>, body: &str, input: &[[u32; 4]]) -> Vec<f32> {
    sky.run(&format!("{body}{FLOATS}"), input)
        .into_iter()
        .map(|texel| f32::from_bits(texel[0]))
        .collect()
}

#[test]
fn levels_of_detail() {
    let texture = "filter = \"linear\", address = \"clamp_to_edge\", normalized = true, mip_filter = \"linear\"";
    let sky = Sky { surface: MIPS, texture, texels: levels() };
    let lods = [-1.0f32, 0.0, 0.25, 1.0, 1.5, 2.0, 9.0];
    let input: Vec<[u32; 4]> =
        lods.iter().map(|lod| [0.5f32.to_bits(), 0.5f32.to_bits(), lod.to_bits(), 0]).collect();
    let found = first(
        &sky,
        "    tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], %f3;\n",
        &input,
    );
    assert_eq!(found, lods.map(|lod| lod.clamp(0.0, 2.0) + 1.0));
    // The given level also counts for integer coordinates.
    let input: Vec<[u32; 4]> = (0..4).map(|level| [1, 1, level, 0]).collect();
    let found = first(
        &sky,
        "    tex.level.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%c1, %c2}], %c3;\n",
        &input,
    );
    assert_eq!(found, [1.0, 2.0, 3.0, 0.0]);
    // A gradient of two texels selects the second level.
    let input = [[0.5f32.to_bits(), 0.5f32.to_bits(), 0.25f32.to_bits(), 0]];
    let grad = "    mov.f32 %f5, 0f00000000;\n    tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], {%f3, %f5}, {%f5, %f3};\n";
    assert_eq!(first(&sky, grad, &input), [2.0]);
    // Neighbouring lanes do not select a level.
    let quad: Vec<[u32; 4]> = (0..4u32)
        .map(|n| [(n % 2) as f32 / 4.0, (n / 2) as f32 / 4.0, 0.0, 0.0].map(f32::to_bits))
        .collect();
    let tex = |mode: &str| {
        format!("    tex{mode}.2d.v4.f32.f32 {{%f1, %f2, %f3, %f4}}, [%rd1, {{%f1, %f2}}];\n")
    };
    assert_eq!(first(&sky, &tex(""), &quad), [1.0; 4]);
    assert_eq!(first(&sky, &tex(".base"), &quad), [1.0; 4]);
}

/// Returns an image whose texels are 10 y + x.
fn numbered() -> Sky<'static> {
    Sky {
        surface: "dim = \"2d\", size = [8, 4, 1], layout = \"pitch\", format = \"rg32_uint\"",
        texture: NEAREST,
        texels: bytes((0..32).flat_map(|n| [n / 8 * 10 + n % 8, 100 + n])),
    }
}

#[test]
fn offsets() {
    let input: Vec<[u32; 4]> =
        (0..3).map(|n| [2.5f32.to_bits(), 1.5f32.to_bits(), n, (n as i32 - 2) as u32]).collect();
    let body = "    tex.2d.v4.u32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}], {%c3, %c4};\n";
    let found: Vec<u32> = numbered().run(body, &input).iter().map(|texel| texel[0]).collect();
    // Rows before the first row read the first row.
    assert_eq!(found, [2, 3, 14]);
}

#[test]
fn gathers() {
    let input = [[3.0f32.to_bits(), 2.0f32.to_bits(), 1, 0]];
    for (component, expected) in
        [("r", [22, 23, 13, 12]), ("g", [118, 119, 111, 110]), ("b", [0; 4]), ("a", [1; 4])]
    {
        let body = format!(
            "    tld4.{component}.2d.v4.u32.f32 {{%v1, %v2, %v3, %v4}}, [%rd1, {{%f1, %f2}}];\n"
        );
        assert_eq!(numbered().run(&body, &input), [expected], "{component}");
    }
    let moved = "    tld4.r.2d.v4.u32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}], {%c3, %c4};\n";
    assert_eq!(numbered().run(moved, &input), [[23, 24, 14, 13]]);
}

#[test]
fn comparisons() {
    let sky = Sky {
        surface: "dim = \"2d\", size = [2, 1, 1], layout = \"pitch\", format = \"r32_float\"",
        texture: "filter = \"nearest\", address = \"clamp_to_edge\", normalized = false, compare = \"less\"",
        texels: floats([0.25, 0.75]),
    };
    let input: Vec<[u32; 4]> =
        (0..2).map(|n| [n as f32 + 0.5, 0.5, 0.5, 0.0].map(f32::to_bits)).collect();
    let found = first(
        &sky,
        "    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], %f3;\n",
        &input,
    );
    assert_eq!(found, [0.0, 1.0]);
    let gathered = sky.run(
        &format!(
            "    tld4.r.2d.v4.f32.f32 {{%f1, %f2, %f3, %f4}}, [%rd1, {{%f3, %f3}}], %f3;\n{FLOATS}"
        ),
        &[[0, 0, 0.6f32.to_bits(), 0]],
    );
    // The texels around (0.6, 0.6) are columns 0 and 1 of the only row.
    assert_eq!(gathered, [[0.0, 1.0, 1.0, 0.0].map(f32::to_bits)]);
}

#[test]
fn halves() {
    let sky = Sky {
        surface: "dim = \"2d\", size = [1, 1, 1], layout = \"pitch\", format = \"rgba32_float\"",
        texture: NEAREST,
        texels: floats([1.0, -2.5, 65519.0, 0.333_333_34]),
    };
    const EXPECTED: [u32; 4] = [0x3c00, 0xc100, 0x7bff, 0x3555];
    let apart = "    tex.2d.v4.f16.f32 {%h1, %h2, %h3, %h4}, [%rd1, {%f1, %f2}];
    cvt.u32.u16 %v1, %h1;
    cvt.u32.u16 %v2, %h2;
    cvt.u32.u16 %v3, %h3;
    cvt.u32.u16 %v4, %h4;
";
    assert_eq!(sky.run(apart, &[[0; 4]]), [EXPECTED]);
    let pairs = "    mov.b32 %v3, 0;\n    mov.b32 %v4, 0;\n    tex.2d.v2.f16x2.s32 {%v1, %v2}, [%rd1, {%c1, %c2}];\n";
    assert_eq!(
        sky.run(pairs, &[[0; 4]]),
        [[EXPECTED[1] << 16 | EXPECTED[0], EXPECTED[3] << 16 | EXPECTED[2], 0, 0]]
    );
}

#[test]
fn residency() {
    let case = Case::new(
        &kernel(
            "    tex.2d.v4.u32.s32 {%v1, %v2, %v3, %v4}|%p1, [%rd1, {%c1, %c2}];\n    selp.b32 %v4, 1, 0, %p1;\n",
        ),
        [2, 1, 1],
    );
    case.file("in.bin", &bytes([0, 0, 0, 0, 0, 255, 0, 0]));
    let rest = "arg = [{ texture = \"t\" }, { buffer = \"in\" }, { buffer = \"out\" }]
[surface]
s = { dim = \"2d\", size = [256, 256, 1], layout = \"pitch\", format = \"r32_uint\", resident = [0] }
[texture]
t = { surface = \"s\", filter = \"nearest\", address = \"clamp_to_edge\" }
named = { surface = \"s\", filter = \"nearest\", address = \"clamp_to_edge\" }
[buffer]
in = { file = \"in.bin\", dtype = \"u8\" }
out = { zeros = 32 }
";
    let found = case.run(rest, |session| words(&session.buffer(1).unwrap()));
    assert_eq!([found[3], found[7]], [1, 0]);
}

/// A fetch uses the image of one texture with the sampler of another texture.
#[test]
fn samplers_of_their_own() {
    let text = kernel("    tex.2d.v4.u32.f32 {%v1, %v2, %v3, %v4}, [named, edge, {%f1, %f2}];\n    tex.2d.v4.u32.f32 {%v2, _, _, _}, [%rd1, beyond, {%f1, %f2}];\n")
        .replace(".target sm_70", ".target sm_70, texmode_independent")
        .replace(".global .texref named;", ".global .texref named;\n.global .samplerref edge;\n.global .samplerref beyond;");
    let case = Case::new(&text, [1, 1, 1]);
    case.file("s.bin", &bytes([5; 4]));
    case.file("in.bin", &bytes([(-1.0f32).to_bits(), 0, 0, 0]));
    let rest = "arg = [{ texture = \"named\" }, { buffer = \"in\" }, { buffer = \"out\" }]
[surface]
s = { dim = \"2d\", size = [2, 2, 1], layout = \"pitch\", format = \"r32_uint\", file = \"s.bin\" }
[texture]
named = { surface = \"s\", filter = \"nearest\", address = \"repeat\" }
edge = { surface = \"s\", filter = \"nearest\", address = \"clamp_to_edge\" }
beyond = { surface = \"s\", filter = \"nearest\", address = \"clamp_to_border\" }
[buffer]
in = { file = \"in.bin\", dtype = \"u8\" }
out = { zeros = 16 }
";
    let found = case.run(rest, |session| words(&session.buffer(1).unwrap()));
    assert_eq!(found[..2], [5, 0]);
    // A module's own description of its samplers holds if the manifest has none.
    let said_text = text
        .replace(
            ".samplerref beyond;",
            ".samplerref beyond = { addr_mode_0 = clamp_to_border, filter_mode = nearest };",
        )
        .replace(
            ".samplerref edge;",
            ".samplerref edge = { addr_mode_0 = clamp_to_edge, addr_mode_1 = clamp_to_edge };",
        );
    let lines =
        rest.lines().filter(|line| !line.starts_with("edge") && !line.starts_with("beyond"));
    let said = Case::new(&said_text, [1, 1, 1]);
    said.file("s.bin", &bytes([5; 4]));
    said.file("in.bin", &bytes([(-1.0f32).to_bits(), 0, 0, 0]));
    let rest: String = lines.flat_map(|line| [line, "\n"]).collect();
    let found = said.run(&rest, |session| words(&session.buffer(1).unwrap()));
    assert_eq!(found[..2], [5, 0]);
    // The sampler's handle may be stored in memory.
    let held = said_text
        .replace(
            "filter_mode = nearest };",
            "filter_mode = nearest };\n.global .u64 held = beyond;",
        )
        .replace(
            "    tex.2d.v4.u32.f32 {%v2,",
            "    .reg .u64 %held;\n    ld.global.u64 %held, [held];\n    tex.2d.v4.u32.f32 {%v2,",
        )
        .replace("[%rd1, beyond,", "[%rd1, %held,");
    let held = Case::new(&held, [1, 1, 1]);
    held.file("s.bin", &bytes([5; 4]));
    held.file("in.bin", &bytes([(-1.0f32).to_bits(), 0, 0, 0]));
    let found = held.run(&rest, |session| words(&session.buffer(1).unwrap()));
    assert_eq!(found[..2], [5, 0]);
}
