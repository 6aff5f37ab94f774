//! PTX texture instructions on images whose texels say where they are. The tests work out the
//! expected texels from the facts.

#[path = "../support/ptx_case.rs"]
mod case;
mod options;
mod queries;

use case::{Case, module};

/// Returns a kernel of a texture `%rd1`. Each lane has four words of input (`%c1` to `%c4`, and as
/// floats `%f1` to `%f4`) and writes `%v1` to `%v4`.
fn kernel(body: &str) -> String {
    module(&format!(
        ".global .texref named;
.visible .entry k(.param .u64 t, .param .u64 in, .param .u64 out) {{
    .reg .b64 %rd<8>; .reg .b32 %c<8>; .reg .f32 %f<8>; .reg .b32 %v<8>; .reg .b16 %h<8>; .reg .b32 %t; .reg .pred %p<4>;
    ld.param.u64 %rd1, [t];
    ld.param.u64 %rd2, [in];
    ld.param.u64 %rd3, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %rd2, %t, 16, %rd2;
    mad.wide.u32 %rd3, %t, 16, %rd3;
    ld.global.v4.b32 {{%c1, %c2, %c3, %c4}}, [%rd2];
    mov.b32 %f1, %c1;
    mov.b32 %f2, %c2;
    mov.b32 %f3, %c3;
    mov.b32 %f4, %c4;
{body}    st.global.v4.b32 [%rd3], {{%v1, %v2, %v3, %v4}};
    ret;
}}
"
    ))
}

/// The image and the texture of a case: `t` is the texture, `s` the image with the file's content.
struct Sky<'a> {
    surface: &'a str,
    texture: &'a str,
    texels: Vec<u8>,
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn bytes(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

impl Sky<'_> {
    fn try_run(&self, text: &str, input: &[[u32; 4]]) -> Result<Vec<[u32; 4]>, String> {
        let case = Case::new(text, [input.len() as u32, 1, 1]);
        case.file("s.bin", &self.texels);
        case.file("in.bin", &bytes(input.iter().flatten().copied()));
        let rest = format!(
            "arg = [{{ texture = \"named\" }}, {{ buffer = \"in\" }}, {{ buffer = \"out\" }}]
[surface]
s = {{ {}, file = \"s.bin\" }}
[texture]
named = {{ surface = \"s\", {} }}
[buffer]
in = {{ file = \"in.bin\", dtype = \"u8\" }}
out = {{ zeros = {} }}
",
            self.surface,
            self.texture,
            16 * input.len()
        );
        let found = case.try_run(&rest, |session| words(&session.buffer(1).unwrap()))?;
        Ok(found.chunks_exact(4).map(|words| words.try_into().unwrap()).collect())
    }

    fn run(&self, body: &str, input: &[[u32; 4]]) -> Vec<[u32; 4]> {
        self.try_run(&kernel(body), input).unwrap_or_else(|error| panic!("{error}\n{body}"))
    }
}

const NEAREST: &str = "filter = \"nearest\", address = \"clamp_to_edge\", normalized = false";

/// The geometries: word, the manifest's shape, size, and the coordinates in the order x, y, z.
const SHAPES: [(&str, &str, [u32; 3], &str); 6] = [
    ("1d", "dim = \"1d\", size = [9, 1, 1], layout = \"block_linear\"", [9, 1, 1], "{X1}"),
    ("1d", "dim = \"1d_buffer\", size = [9, 1, 1]", [9, 1, 1], "{X1}"),
    ("2d", "dim = \"2d\", size = [9, 5, 1], layout = \"pitch\"", [9, 5, 1], "{X1, X2}"),
    (
        "3d",
        "dim = \"3d\", size = [9, 5, 4], layout = \"block_linear\"",
        [9, 5, 4],
        "{X1, X2, X3, X4}",
    ),
    (
        "a1d",
        "dim = \"1d_array\", size = [9, 1, 6], layout = \"block_linear\"",
        [9, 1, 6],
        "{%c3, X1}",
    ),
    (
        "a2d",
        "dim = \"2d_array\", size = [9, 5, 3], layout = \"block_linear\"",
        [9, 5, 3],
        "{%c3, X1, X2, X4}",
    ),
];

/// Returns the number of a texel.
fn number([width, height, _]: [u32; 3], [x, y, z]: [u32; 3]) -> u32 {
    7 + x + width * (y + height * z)
}

/// Returns places in an image and around it.
fn places([width, height, depth]: [u32; 3], negative_layers: bool) -> Vec<[i32; 3]> {
    let axis = |size: u32| {
        if size == 1 { vec![0] } else { vec![-3, 0, 1, size as i32 - 1, size as i32 + 2] }
    };
    let layers: Vec<i32> =
        if negative_layers { vec![-1, 0, depth as i32 - 1, depth as i32 + 1] } else { axis(depth) };
    let mut all = Vec::new();
    for &z in &layers {
        for &y in &axis(height) {
            all.extend(axis(width).iter().map(|&x| [x, y, z]));
        }
    }
    all
}

/// Returns the texel of a place, or `None` beyond the border.
fn placed(size: [u32; 3], array: bool, place: [i32; 3], border: bool) -> Option<[u32; 3]> {
    let mut found = [0; 3];
    for (axis, found) in found.iter_mut().enumerate() {
        let (at, last) = (place[axis], size[axis] as i32 - 1);
        *found = match axis {
            // A layer's index is unsigned, and at most the last layer.
            2 if array => (at as u32).min(last as u32),
            _ if (0..=last).contains(&at) => at as u32,
            _ if border => return None,
            _ => at.clamp(0, last) as u32,
        };
    }
    Some(found)
}

#[test]
fn texels_by_number() {
    for (word, shape, size, vector) in SHAPES {
        let array = word.starts_with('a');
        let (rows, slices) = (0..size[1], 0..size[2]);
        let texels = slices.flat_map(|z| {
            rows.clone().flat_map(move |y| (0..size[0]).map(move |x| number(size, [x, y, z])))
        });
        let texels = bytes(texels);
        for (address, border) in
            [("clamp_to_edge", false), ("clamp_to_border", true), ("repeat", false)]
        {
            for (format, dtype) in [("r32_uint", "u32"), ("r32_sint", "s32"), ("r32_float", "f32")]
            {
                let sky = Sky {
                    surface: &format!("{shape}, format = \"{format}\""),
                    texture: &format!(
                        "filter = \"linear\", address = \"{address}\", normalized = true, border = [1.0, 2.0, 3.0, 4.0]"
                    ),
                    texels: texels.clone(),
                };
                let places = places(size, array);
                let input: Vec<[u32; 4]> =
                    places.iter().map(|&[x, y, z]| [x as u32, y as u32, z as u32, 99]).collect();
                let vector = vector.replace('X', "%c");
                let registers = if dtype == "f32" { "%f" } else { "%v" };
                let moves = if dtype == "f32" {
                    (1..5).map(|n| format!("    mov.b32 %v{n}, %f{n};\n")).collect::<String>()
                } else {
                    String::new()
                };
                let r = registers;
                let body = format!(
                    "    tex.{word}.v4.{dtype}.s32 {{{r}1, {r}2, {r}3, {r}4}}, [%rd1, {vector}];\n{moves}"
                );
                let one = if format == "r32_float" { 1f32.to_bits() } else { 1 };
                let found = sky.run(&body, &input);
                for (&place, found) in places.iter().zip(found) {
                    let buffer = shape.contains("buffer");
                    let at = placed(size, array, place, border || buffer);
                    let expected = match at {
                        Some(at) => [number(size, at), 0, 0, one],
                        None if buffer => [0; 4],
                        None => [1.0f32, 2.0, 3.0, 4.0].map(f32::to_bits),
                    };
                    assert_eq!(found, expected, "{word} {address} {format} at {place:?}");
                }
            }
        }
    }
}

#[test]
fn nearest_texels() {
    for (word, shape, size, vector) in
        SHAPES.into_iter().filter(|(_, shape, ..)| !shape.contains("buffer"))
    {
        let array = word.starts_with('a');
        let texels = (0..size[2]).flat_map(|z| {
            (0..size[1])
                .flat_map(move |y| (0..size[0]).map(move |x| number(size, [x, y, z]) as f32))
        });
        let texels = floats(texels);
        for normalized in [false, true] {
            let sky = Sky {
                surface: &format!("{shape}, format = \"r32_float\""),
                texture: &format!(
                    "filter = \"nearest\", address = \"clamp_to_edge\", normalized = {normalized}"
                ),
                texels: texels.clone(),
            };
            let places = places(size, array);
            let input: Vec<[u32; 4]> = places
                .iter()
                .map(|&place| {
                    let mut input = [0x7fc0_0000; 4];
                    for (axis, input) in input.iter_mut().enumerate().take(3) {
                        let middle = place[axis] as f32 + 0.5;
                        let scaled = if normalized { middle / size[axis] as f32 } else { middle };
                        *input =
                            if array && axis == 2 { place[2] as u32 } else { scaled.to_bits() };
                    }
                    input
                })
                .collect();
            let vector = vector.replace('X', "%f");
            for modifier in ["", ".base"] {
                let body = format!(
                    "    tex{modifier}.{word}.v4.f32.f32 {{%f1, %f2, %f3, %f4}}, [named, {vector}];\n    mov.b32 %v1, %f1;\n    mov.b32 %v2, %f2;\n    mov.b32 %v3, %f3;\n    mov.b32 %v4, %f4;\n"
                );
                for (&place, found) in places.iter().zip(sky.run(&body, &input)) {
                    let at = placed(size, array, place, false).unwrap();
                    let expected = [number(size, at) as f32, 0.0, 0.0, 1.0].map(f32::to_bits);
                    assert_eq!(
                        found, expected,
                        "{word}{modifier} at {place:?}, normalized = {normalized}"
                    );
                }
            }
        }
    }
}

/// A ramp stays a ramp between texels; fractions of eight bits are exact.
#[test]
fn texels_between() {
    let sky = Sky {
        surface: "dim = \"2d\", size = [8, 8, 1], layout = \"block_linear\", format = \"r32_float\"",
        texture: "filter = \"linear\", address = \"clamp_to_edge\", normalized = false",
        texels: floats((0..64).map(|n| (n % 8 + 16 * (n / 8)) as f32)),
    };
    let input: Vec<[u32; 4]> = (0..32u32)
        .map(|n| [0.5 + n as f32 / 8.0, 1.0 + n as f32 / 16.0, 0.0, 0.0].map(f32::to_bits))
        .collect();
    let body = "    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];\n    mov.b32 %v1, %f1;\n    mov.b32 %v2, %f2;\n    mov.b32 %v3, %f3;\n    mov.b32 %v4, %f4;\n";
    for (input, found) in input.iter().zip(sky.run(body, &input)) {
        let [x, y] = [f32::from_bits(input[0]) - 0.5, f32::from_bits(input[1]) - 0.5];
        assert_eq!(f32::from_bits(found[0]), x + 16.0 * y, "at {x}, {y}");
    }
}

/// Coordinates along the axes name the faces of cubes, alone and in arrays.
#[test]
fn faces_of_cubes() {
    let axes = [
        [1.0f32, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
    ];
    for (word, dim, cubes, vector) in [
        ("cube", "cube", 1u32, "{%f1, %f2, %f3, %f1}"),
        ("acube", "cube_array", 2, "{%c4, %f1, %f2, %f3}"),
    ] {
        let sky = Sky {
            surface: &format!(
                "dim = \"{dim}\", size = [4, 4, {}], layout = \"block_linear\", format = \"r32_uint\"",
                6 * cubes
            ),
            texture: NEAREST,
            texels: bytes((0..6 * cubes).flat_map(|face| vec![face; 16])),
        };
        let input: Vec<[u32; 4]> = (0..6 * cubes)
            .map(|n| {
                let [x, y, z] = axes[n as usize % 6].map(|x| (3.0 * x).to_bits());
                [x, y, z, n / 6]
            })
            .collect();
        let body = format!("    tex.{word}.v4.u32.f32 {{%v1, %v2, %v3, %v4}}, [%rd1, {vector}];\n");
        let found: Vec<u32> = sky.run(&body, &input).into_iter().map(|texel| texel[0]).collect();
        assert_eq!(found, (0..6 * cubes).collect::<Vec<_>>(), "{word}");
    }
}

#[test]
fn images_of_another_shape() {
    let sky = Sky {
        surface: "dim = \"2d\", size = [2, 2, 1], layout = \"pitch\", format = \"r32_uint\"",
        texture: NEAREST,
        texels: vec![0; 16],
    };
    for (word, vector) in [
        ("1d", "{%f1}"),
        ("3d", "{%f1, %f1, %f1, %f1}"),
        ("a2d", "{%c1, %f1, %f1, %f1}"),
        ("cube", "{%f1, %f1, %f1, %f1}"),
    ] {
        let text = kernel(&format!(
            "    tex.{word}.v4.u32.f32 {{%v1, %v2, %v3, %v4}}, [%rd1, {vector}];\n"
        ));
        let error = sky.try_run(&text, &[[0; 4]]).expect_err(word);
        assert!(error.contains("invalid surface"), "{word}: {error}");
    }
    let text = kernel("    tex.2d.v4.u32.f32 {%v1, %v2, %v3, %v4}, [other, {%f1, %f1}];\n")
        .replace(".global .texref named;", ".global .texref other;");
    let error = sky.try_run(&text, &[[0; 4]]).expect_err("a variable without a texture");
    assert!(error.contains("[texture.other]"), "{error}");
}
