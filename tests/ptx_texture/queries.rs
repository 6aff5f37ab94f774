//! Queries of textures.

use super::case::{Case, module};
use super::words;

const ALL: [&str; 15] = [
    "width",
    "height",
    "depth",
    "channel_data_type",
    "channel_order",
    "normalized_coords",
    "array_size",
    "num_mipmap_levels",
    "num_samples",
    "filter_mode",
    "addr_mode_0",
    "addr_mode_1",
    "addr_mode_2",
    "level.width",
    "level.height",
];

fn ask(operand: &str, texture: &str) -> Vec<u32> {
    let queries = ALL.iter().enumerate().map(|(n, query)| {
        let level = if query.starts_with("level") { ", 2" } else { "" };
        format!(
            "    txq.{query}.b32 %v1, [{operand}]{level};\n    st.global.b32 [%rd2+{}], %v1;\n",
            4 * n
        )
    });
    let queries: String = queries.collect();
    let text = module(&format!(
        ".global .texref named;
.visible .entry k(.param .u64 t, .param .u64 out) {{
    .reg .b64 %rd<4>; .reg .b32 %v<4>;
    ld.param.u64 %rd1, [t];
    ld.param.u64 %rd2, [out];
{queries}    ret;
}}
"
    ));
    let rest = format!(
        "arg = [{{ texture = \"named\" }}, {{ buffer = \"out\" }}]
[surface]
other = {{ dim = \"2d\", size = [3, 3, 1], layout = \"pitch\", format = \"r8_uint\" }}
s = {{ dim = \"2d_array\", size = [20, 12, 3], levels = 3, layout = \"block_linear\", format = \"rg16_float\" }}
[texture]
first = {{ surface = \"other\", filter = \"nearest\", address = \"clamp_to_edge\" }}
named = {{ surface = \"s\", {texture} }}
[buffer]
out = {{ zeros = 60 }}
"
    );
    let case = Case::new(&text, [1, 1, 1]);
    case.run(&rest, |session| words(&session.buffer(0).unwrap()))
}

#[test]
fn all_that_can_be_asked() {
    for operand in ["%rd1", "named"] {
        // Formats, filters and addressing have OpenCL's numbers.
        let found =
            ask(operand, "filter = \"linear\", address = \"mirrored_repeat\", normalized = true");
        let expected =
            [20, 12, 3, 0x10dd, 0x10b2, 1, 3, 3, 1, 0x1141, 0x1134, 0x1134, 0x1134, 5, 3];
        assert_eq!(found, expected, "{operand}");
        let found =
            ask(operand, "filter = \"nearest\", address = \"clamp_to_border\", normalized = false");
        let expected =
            [20, 12, 3, 0x10dd, 0x10b2, 0, 3, 3, 1, 0x1140, 0x1132, 0x1132, 0x1132, 5, 3];
        assert_eq!(found, expected, "{operand}");
    }
}
