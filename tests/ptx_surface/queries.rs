//! Queries, and the ways to name a surface.

use super::case::{Case, module};

const QUERIES: [&str; 7] = [
    "width",
    "height",
    "depth",
    "channel_data_type",
    "channel_order",
    "array_size",
    "memory_layout",
];

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Returns a kernel that makes all queries of a surface operand, after `setup`.
fn asking(setup: &str, operand: &str, params: &str) -> String {
    let queries = QUERIES.iter().enumerate().map(|(n, query)| {
        format!("    suq.{query}.b32 %v1, [{operand}];\n    st.global.b32 [%rd2+{}], %v1;\n", 4 * n)
    });
    let queries: String = queries.collect();
    module(&format!(
        ".global .surfref named;
.visible .entry k(.param .u64 out{params}) {{
    .reg .b64 %rd<4>; .reg .b32 %v<4>;
    ld.param.u64 %rd2, [out];
{setup}{queries}    ret;
}}
"
    ))
}

fn answers(text: &str, rest: &str) -> Vec<u32> {
    let case = Case::new(text, [1, 1, 1]);
    let rest = format!("{rest}[buffer.out]\nzeros = 28\n");
    case.run(&rest, |session| words(&session.buffer(0).unwrap()))
}

#[test]
fn every_query_of_every_shape() {
    let ask = asking("    ld.param.u64 %rd1, [s];\n", "%rd1", ", .param .u64 s");
    for (shape, expected) in [
        // OpenCL defines the numbers of formats.
        (
            "dim = \"1d\", size = [13, 1, 1], format = \"r32_uint\", layout = \"block_linear\"",
            [13, 1, 1, 0x10dc, 0x10b0, 0, 0],
        ),
        (
            "dim = \"1d_buffer\", size = [130, 1, 1], format = \"rg16_sint\"",
            [130, 1, 1, 0x10d8, 0x10b2, 0, 1],
        ),
        (
            "dim = \"2d\", size = [20, 10, 1], format = \"rgba8_unorm\", layout = \"pitch\"",
            [20, 10, 1, 0x10d2, 0x10b5, 0, 1],
        ),
        (
            "dim = \"2d\", size = [20, 10, 1], format = \"bgra8_unorm\", layout = \"block_linear\"",
            [20, 10, 1, 0x10d2, 0x10b6, 0, 0],
        ),
        (
            "dim = \"3d\", size = [20, 10, 5], format = \"rgba16_float\", layout = \"block_linear\"",
            [20, 10, 5, 0x10dd, 0x10b5, 0, 0],
        ),
        (
            "dim = \"1d_array\", size = [20, 1, 7], format = \"r8_sint\", layout = \"block_linear\"",
            [20, 1, 7, 0x10d7, 0x10b0, 7, 0],
        ),
        (
            "dim = \"2d_array\", size = [20, 10, 3], format = \"rg32_float\", layout = \"block_linear\"",
            [20, 10, 3, 0x10de, 0x10b2, 3, 0],
        ),
    ] {
        let rest = format!(
            "arg = [{{ buffer = \"out\" }}, {{ surface = \"s\" }}]\n[surface]\ns = {{ {shape} }}\n"
        );
        assert_eq!(answers(&ask, &rest), expected, "{shape}");
    }
}

const SHAPE: &str =
    "dim = \"2d\", size = [20, 10, 1], format = \"rgba8_unorm\", layout = \"pitch\"";
const ANSWERS: [u32; 7] = [20, 10, 1, 0x10d2, 0x10b5, 0, 1];

#[test]
fn a_variable_is_the_surface_of_its_name() {
    let rest = format!("arg = [{{ buffer = \"out\" }}]\n[surface]\nnamed = {{ {SHAPE} }}\n");
    assert_eq!(answers(&asking("", "named", ""), &rest), ANSWERS);
    // The variable's address in a register names the surface too.
    assert_eq!(answers(&asking("    mov.u64 %rd1, named;\n", "%rd1", ""), &rest), ANSWERS);
}

#[test]
fn a_parameter_may_be_a_surface() {
    let rest = format!(
        "arg = [{{ buffer = \"out\" }}, {{ surface = \"s\" }}]\n[surface]\ns = {{ {SHAPE} }}\n"
    );
    assert_eq!(answers(&asking("", "s", ", .param .surfref s"), &rest), ANSWERS);
}

#[test]
fn an_address_in_memory_names_a_surface() {
    let text = asking("    ld.global.u64 %rd1, [table];\n", "%rd1", "").replace(
        ".global .surfref named;",
        ".global .surfref named;\n.global .align 8 .u64 table[1] = {named};",
    );
    let rest = format!("arg = [{{ buffer = \"out\" }}]\n[surface]\nnamed = {{ {SHAPE} }}\n");
    assert_eq!(answers(&text, &rest), ANSWERS);
}

/// Lanes access different surfaces in one instruction.
#[test]
fn each_lane_has_its_own_surface() {
    let text = module(
        ".visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b) {
    .reg .b64 %rd<8>; .reg .b32 %v<8>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [a];
    ld.param.u64 %rd3, [b];
    mov.u32 %v1, %tid.x;
    and.b32 %v2, %v1, 1;
    setp.ne.u32 %p, %v2, 0;
    selp.b64 %rd4, %rd3, %rd2, %p;
    shl.b32 %v3, %v1, 2;
    suld.b.1d.b32.zero %v4, [%rd4, {%v3}];
    suq.width.b32 %v5, [%rd4];
    mad.wide.u32 %rd5, %v1, 8, %rd1;
    st.global.v2.b32 [%rd5], {%v4, %v5};
    ret;
}
",
    );
    let case = Case::new(&text, [8, 1, 1]);
    for (name, first, count) in [("a.bin", 100u32, 8), ("b.bin", 200, 4)] {
        case.file(name, &(first..first + count).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
    }
    let rest = "arg = [{ buffer = \"out\" }, { surface = \"a\" }, { surface = \"b\" }]
[surface]
a = { dim = \"1d\", size = [8, 1, 1], format = \"r32_uint\", layout = \"block_linear\", file = \"a.bin\" }
b = { dim = \"1d_buffer\", size = [4, 1, 1], format = \"r32_uint\", file = \"b.bin\" }
[buffer.out]
zeros = 64
";
    let found = case.run(rest, |session| words(&session.buffer(0).unwrap()));
    let expected: Vec<u32> = (0..8u32)
        .flat_map(|lane| match lane % 2 {
            0 => [100 + lane, 8],
            _ => [if lane < 4 { 200 + lane } else { 0 }, 4],
        })
        .collect();
    assert_eq!(found, expected);
}
