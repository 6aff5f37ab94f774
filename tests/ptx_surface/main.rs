//! PTX surface instructions against a model written from NVIDIA's text on them
//! (`nvidia-ptx-surface.txt`): every form, in range and out of range, on both engines.

#[path = "../support/ptx_case.rs"]
mod case;
mod faults;
mod model;
mod queries;

use std::fmt::Write;

use case::{Case, Random, module};
use model::{Beyond, Geometry, Model, Place};

const LANES: usize = 32;
/// The number of elements of a vector, and log2 of an element's bytes.
const MOVED: [(u32, u32); 11] =
    [(1, 0), (2, 0), (4, 0), (1, 1), (2, 1), (4, 1), (1, 2), (2, 2), (4, 2), (1, 3), (2, 3)];

/// A surface of a manifest.
struct Shape {
    geometry: Geometry,
    dim: &'static str,
    size: [u32; 3],
    format: &'static str,
    /// The bytes of a texel.
    texel: u32,
    layout: &'static str,
}

const fn shape(
    geometry: Geometry,
    dim: &'static str,
    size: [u32; 3],
    (format, texel): (&'static str, u32),
    layout: &'static str,
) -> Shape {
    Shape { geometry, dim, size, format, texel, layout }
}

const SHAPES: [Shape; 9] = [
    shape(Geometry::D1, "1d", [13, 1, 1], ("rgba8_uint", 4), "block_linear"),
    shape(Geometry::D1, "1d_buffer", [21, 1, 1], ("r16_uint", 2), "pitch"),
    shape(Geometry::D1, "1d_buffer", [9, 1, 1], ("r8_uint", 1), "pitch"),
    shape(Geometry::D2, "2d", [13, 7, 1], ("r32_uint", 4), "pitch"),
    shape(Geometry::D2, "2d", [40, 9, 1], ("rgba16_uint", 8), "block_linear"),
    shape(Geometry::D3, "3d", [9, 5, 4], ("rg8_uint", 2), "block_linear"),
    shape(Geometry::A1d, "1d_array", [17, 1, 5], ("r32_uint", 4), "block_linear"),
    shape(Geometry::A2d, "2d_array", [11, 6, 3], ("rgba32_uint", 16), "block_linear"),
    shape(Geometry::A2d, "cube", [12, 12, 6], ("r32_uint", 4), "block_linear"),
];

impl Shape {
    fn manifest(&self, format: &str) -> String {
        let Shape { dim, size, layout, .. } = self;
        format!(
            "[surface.s]\ndim = \"{dim}\"\nsize = {size:?}\nformat = \"{format}\"\nlayout = \"{layout}\"\nfile = \"s.bin\"\n"
        )
    }

    fn model(&self, texel: u32, random: &mut Random) -> Model {
        let [width, height, depth] = self.size;
        let bytes = random.bytes((width * texel * height * depth) as usize);
        Model { row_bytes: width * texel, rows: height, slices: depth, bytes }
    }

    /// Returns the number of columns, for elements of `bytes` bytes.
    fn columns(&self, texel: u32, bytes: u32) -> u32 {
        self.size[0] * texel / bytes
    }
}

/// Returns coordinates of each lane: column, row, slice or layer, and one that does not count. With
/// `inside`, no coordinate is out of range.
fn coordinates(shape: &Shape, columns: u32, inside: bool, random: &mut Random) -> Vec<[u32; 4]> {
    let mut axis = |size: u32, layer: bool| match random.below(if inside { 1 } else { 4 }) {
        0 => random.below(size.max(1)),
        1 => size.wrapping_add(random.below(3)),
        2 if layer => [u32::MAX, 1 << 16, (1 << 16) + 1][random.below(3) as usize],
        2 => random.below(5).wrapping_neg(),
        _ => random.below(size.max(1)),
    };
    let [_, rows, slices] = shape.size;
    let layers = matches!(shape.geometry, Geometry::A1d | Geometry::A2d);
    (0..LANES)
        .map(|_| [axis(columns, false), axis(rows, false), axis(slices, layers), 77])
        .collect()
}

fn place(shape: &Shape, [x, y, z, _]: [u32; 4], x_bytes: u32, bytes: u32) -> Place {
    let geometry = shape.geometry;
    Place {
        x: i64::from(x as i32) * i64::from(x_bytes),
        y: if matches!(geometry, Geometry::D1 | Geometry::A1d) { 0 } else { (y as i32).into() },
        z: match geometry {
            Geometry::D1 | Geometry::D2 => 0,
            Geometry::D3 => i64::from(z as i32),
            // A layer's index is unsigned.
            Geometry::A1d | Geometry::A2d => z.into(),
        },
        bytes,
    }
}

/// Returns `{a, b}` for several registers, or one register without braces.
fn vector(prefix: &str, count: u32) -> String {
    match count {
        1 => format!("{prefix}1"),
        _ => format!(
            "{{{}}}",
            (1..=count).map(|n| format!("{prefix}{n}")).collect::<Vec<_>>().join(", ")
        ),
    }
}

fn vec_word(count: u32) -> String {
    if count == 1 { String::new() } else { format!(".v{count}") }
}

/// Returns the prefix of registers for elements of 2^`log` bytes.
fn registers(log: u32) -> &'static str {
    ["%h", "%h", "%v", "%d"][log as usize]
}

/// Returns a kernel with a surface, coordinates (`%c1` to `%c4`) and data (at `%rd4`, `stride`
/// bytes for each lane).
fn kernel(name: &str, stride: usize, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 s, .param .u64 coords, .param .u64 data) {{
    .reg .b64 %rd<8>; .reg .b64 %d<8>; .reg .b32 %c<8>; .reg .b32 %v<8>; .reg .b32 %x; .reg .b16 %h<8>; .reg .b32 %t;
    ld.param.u64 %rd1, [s];
    ld.param.u64 %rd2, [coords];
    ld.param.u64 %rd3, [data];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %rd2, %t, 16, %rd2;
    ld.global.v4.u32 {{%c1, %c2, %c3, %c4}}, [%rd2];
    mad.wide.u32 %rd4, %t, {stride}, %rd3;
{body}    ret;
}}
"
    )
}

/// Runs a kernel, and returns the data and the surface afterwards.
fn run(
    shape: &Shape,
    format: &str,
    text: &str,
    inputs: (&Model, &[[u32; 4]], &[u8]),
) -> (Vec<u8>, Vec<u8>) {
    let (model, coords, data) = inputs;
    let case = Case::new(&module(text), [LANES as u32, 1, 1]);
    case.file("s.bin", &model.bytes);
    case.file(
        "c.bin",
        &coords.iter().flatten().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>(),
    );
    case.file("d.bin", data);
    let rest = format!(
        "arg = [{{ surface = \"s\" }}, {{ buffer = \"c\" }}, {{ buffer = \"d\" }}]\n{}[buffer.c]\nfile = \"c.bin\"\ndtype = \"u8\"\n[buffer.d]\nfile = \"d.bin\"\ndtype = \"u8\"\n",
        shape.manifest(format)
    );
    case.run(&rest, |session| (session.buffer(1).unwrap(), session.surface(0).unwrap()))
}

/// The words for accesses out of range, each with whether coordinates must be in range.
const CLAMPS: [(Beyond, &str, bool); 3] =
    [(Beyond::Trap, "trap", true), (Beyond::Clamp, "clamp", false), (Beyond::Zero, "zero", false)];

/// Calls `test` for each shape and each word.
fn for_all(mut test: impl FnMut(&Shape, Beyond, &str, &mut Random)) {
    let mut random = Random::new(1);
    for shape in &SHAPES {
        for (beyond, word, _) in CLAMPS {
            test(shape, beyond, word, &mut random);
        }
    }
}

#[test]
fn loads_of_bytes() {
    for_all(|shape, beyond, clamp, random| {
        let model = shape.model(shape.texel, random);
        let geometry = shape.geometry;
        let moved: Vec<_> =
            MOVED.into_iter().filter(|(count, log)| count << log <= model.row_bytes).collect();
        let widest = moved.iter().map(|(count, log)| count << log).max().unwrap();
        let columns = shape.columns(shape.texel, widest);
        let coords = coordinates(shape, columns, beyond == Beyond::Trap, random);
        let mut body = String::new();
        for (n, &(count, log)) in moved.iter().enumerate() {
            let (bits, vec, values) = (8 << log, vec_word(count), vector(registers(log), count));
            let shift = (count << log).ilog2();
            let at = geometry.operand("%x", "%c2", "%c3", "%c4");
            writeln!(body, "    shl.b32 %x, %c1, {shift};").unwrap();
            writeln!(
                body,
                "    suld.b.{}{vec}.b{bits}.{clamp} {values}, [%rd1, {at}];",
                geometry.word()
            )
            .unwrap();
            writeln!(body, "    st.global{vec}.b{bits} [%rd4+{}], {values};", 16 * n).unwrap();
        }
        let stride = 16 * moved.len();
        let (found, surface) = run(
            shape,
            shape.format,
            &kernel("k", stride, &body),
            (&model, &coords, &vec![0xee; stride * LANES]),
        );
        assert_eq!(surface, model.bytes, "loads change nothing");
        for (lane, &coordinates) in coords.iter().enumerate() {
            for (n, &(count, log)) in moved.iter().enumerate() {
                let bytes = count << log;
                let expected = model.load(place(shape, coordinates, bytes, bytes), beyond);
                let found = &found[lane * stride + 16 * n..][..bytes as usize];
                assert_eq!(
                    found,
                    expected,
                    "{} {clamp} {count} of {} at {coordinates:?}",
                    shape.dim,
                    1 << log
                );
            }
        }
    });
}

#[test]
fn stores_of_bytes() {
    for_all(|shape, beyond, clamp, random| {
        let mut model = shape.model(shape.texel, random);
        let geometry = shape.geometry;
        let row_bytes = model.row_bytes;
        for (count, log) in MOVED.into_iter().filter(|(count, log)| count << log <= row_bytes) {
            let bytes = count << log;
            let columns = shape.columns(shape.texel, bytes);
            let coords = coordinates(shape, columns, beyond == Beyond::Trap, random);
            let data = random.bytes(16 * LANES);
            let (bits, vec, values) = (8 << log, vec_word(count), vector(registers(log), count));
            let at = geometry.operand("%x", "%c2", "%c3", "%c4");
            let body = format!(
                "    shl.b32 %x, %c1, {};\n    ld.global{vec}.b{bits} {values}, [%rd4];\n    sust.b.{}{vec}.b{bits}.{clamp} [%rd1, {at}], {values};\n",
                bytes.ilog2(),
                geometry.word()
            );
            let (_, found) =
                run(shape, shape.format, &kernel("k", 16, &body), (&model, &coords, &data));
            for (&coordinates, data) in coords.iter().zip(data.chunks_exact(16)) {
                model.store(
                    place(shape, coordinates, bytes, bytes),
                    beyond,
                    &data[..bytes as usize],
                );
            }
            assert_eq!(found, model.bytes, "{} {clamp} {count} of {}", shape.dim, 1 << log);
        }
    });
}

/// A format: its name, components, and the memory form of a 32-bit component.
type Formatted = (&'static str, usize, fn(u32) -> Vec<u8>);

const FORMATS: [Formatted; 8] = [
    ("r32_uint", 1, |word| word.to_le_bytes().to_vec()),
    ("rgba32_sint", 4, |word| word.to_le_bytes().to_vec()),
    ("rg32_float", 2, |word| word.to_le_bytes().to_vec()),
    ("rgba8_uint", 4, |word| vec![word.min(255) as u8]),
    ("rg8_sint", 2, |word| vec![(word as i32).clamp(-128, 127) as u8]),
    ("rgba16_uint", 4, |word| (word.min(0xffff) as u16).to_le_bytes().to_vec()),
    ("r16_sint", 1, |word| ((word as i32).clamp(-0x8000, 0x7fff) as u16).to_le_bytes().to_vec()),
    ("rgba8_unorm", 4, |word| {
        let value = f32::from_bits(word);
        let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
        vec![(f64::from(value) * 255.0).round_ties_even() as u8]
    }),
];

#[test]
fn stores_by_format() {
    for_all(|shape, beyond, clamp, random| {
        for (format, components, encode) in FORMATS {
            let texel = (components * encode(0).len()) as u32;
            let mut model = shape.model(texel, random);
            for count in [1, 2, 4] {
                let coords = coordinates(shape, shape.size[0], beyond == Beyond::Trap, random);
                let mut data = random.bytes(16 * LANES);
                // Some words become small numbers, and some become floats about 1.
                for word in data.chunks_exact_mut(4) {
                    let number = random.below(400);
                    let new = match random.below(3) {
                        0 => continue,
                        1 => number.wrapping_sub(100),
                        _ => (number as f32 / 300.0 - 0.1).to_bits(),
                    };
                    word.copy_from_slice(&new.to_le_bytes());
                }
                let at = shape.geometry.operand("%c1", "%c2", "%c3", "%c4");
                let (vec, values) = (vec_word(count), vector("%v", count));
                let body = format!(
                    "    ld.global{vec}.b32 {values}, [%rd4];\n    sust.p.{}{vec}.b32.{clamp} [%rd1, {at}], {values};\n",
                    shape.geometry.word()
                );
                let (_, found) =
                    run(shape, format, &kernel("k", 16, &body), (&model, &coords, &data));
                for (&coordinates, data) in coords.iter().zip(data.chunks_exact(16)) {
                    let given = data.chunks_exact(4).take(count as usize);
                    let given = given.map(|word| u32::from_le_bytes(word.try_into().unwrap()));
                    // No text defines components that the store does not give; here they are 0.
                    let bytes: Vec<u8> =
                        given.chain([0; 4]).take(components).flat_map(encode).collect();
                    model.store(place(shape, coordinates, texel, texel), beyond, &bytes);
                }
                assert_eq!(found, model.bytes, "{} {format} {clamp} of {count}", shape.dim);
            }
        }
    });
}

/// Returns a reduction's result from the old value and the operand.
fn reduced(op: &str, ty: &str, old: u64, new: u64) -> u64 {
    let narrow = ty.ends_with("32");
    let signed = ty.starts_with('s');
    let number = |bits: u64| match (narrow, signed) {
        (true, true) => i128::from(bits as u32 as i32),
        (true, false) => i128::from(bits as u32),
        (false, true) => i128::from(bits as i64),
        (false, false) => i128::from(bits),
    };
    let (a, b) = (number(old), number(new));
    match op {
        "add" => (a + b) as u64,
        "min" => a.min(b) as u64,
        "max" => a.max(b) as u64,
        "and" => old & new,
        _ => old | new,
    }
}

fn reductions(
    addressing: &str,
    forms: &[(&str, &str)],
    format: &str,
    texel: u32,
    of: impl Fn(&str) -> &'static str,
) {
    let mut random = Random::new(7);
    let shapes =
        SHAPES.iter().filter(|shape| !matches!(shape.geometry, Geometry::A1d | Geometry::A2d));
    for shape in shapes {
        for (beyond, clamp, inside) in CLAMPS {
            let mut model = shape.model(texel, &mut random);
            for &(op, ty) in forms {
                let bytes = if ty.ends_with("64") { 8 } else { 4 };
                let coords = coordinates(shape, shape.columns(texel, bytes), inside, &mut random);
                let data = random.bytes(8 * LANES);
                let x = if addressing == "b" { "%x" } else { "%c1" };
                let at = shape.geometry.operand(x, "%c2", "%c3", "%c4");
                let value = if bytes == 8 { "%d1" } else { "%v1" };
                let body = format!(
                    "    shl.b32 %x, %c1, {};\n    ld.global.b{} {value}, [%rd4];\n    sured.{addressing}.{op}.{}.{ty}.{clamp} [%rd1, {at}], {value};\n",
                    bytes.ilog2(),
                    8 * bytes,
                    shape.geometry.word()
                );
                let (_, found) =
                    run(shape, format, &kernel("k", 8, &body), (&model, &coords, &data));
                for (&coordinates, data) in coords.iter().zip(data.chunks_exact(8)) {
                    let new = u64::from_le_bytes(data.try_into().unwrap());
                    let place = place(shape, coordinates, bytes, bytes);
                    model.change(place, beyond, |old| {
                        let mut word = [0; 8];
                        word[..old.len()].copy_from_slice(old);
                        let result =
                            reduced(op, of(ty), u64::from_le_bytes(word), new).to_le_bytes();
                        old.copy_from_slice(&result[..old.len()]);
                    });
                }
                assert_eq!(
                    found, model.bytes,
                    "sured.{addressing}.{op}.{ty}.{clamp} of {} {format}",
                    shape.dim
                );
            }
        }
    }
}

#[test]
fn reductions_of_bytes() {
    const FORMS: [(&str, &str); 13] = [
        ("add", "u32"),
        ("add", "s32"),
        ("add", "u64"),
        ("min", "u32"),
        ("min", "s32"),
        ("min", "u64"),
        ("min", "s64"),
        ("max", "u32"),
        ("max", "s32"),
        ("max", "u64"),
        ("max", "s64"),
        ("and", "b32"),
        ("or", "b32"),
    ];
    let of = |ty: &str| FORMS.iter().map(|(_, name)| *name).find(|name| *name == ty).unwrap();
    reductions("b", &FORMS, "r32_uint", 4, of);
    reductions("b", &FORMS, "rgba8_uint", 4, of);
}

#[test]
fn reductions_by_format() {
    const FORMS: [(&str, &str); 7] = [
        ("add", "b32"),
        ("min", "b32"),
        ("max", "b32"),
        ("and", "b32"),
        ("or", "b32"),
        ("min", "b64"),
        ("max", "b64"),
    ];
    let unsigned = |ty: &str| if ty == "b64" { "u64" } else { "u32" };
    let signed = |ty: &str| if ty == "b64" { "s64" } else { "s32" };
    reductions("p", &FORMS, "r32_uint", 4, unsigned);
    reductions("p", &FORMS, "r32_sint", 4, signed);
    reductions("p", &FORMS, "rg32_uint", 8, unsigned);
    reductions("p", &FORMS, "rg32_sint", 8, signed);
}
