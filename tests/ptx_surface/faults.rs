//! A fault says where it happened, in which lane, and with which variable.

use super::case::{Case, module};

const IMAGE: &str =
    "[surface.s]\ndim = \"2d\"\nsize = [8, 4, 1]\nformat = \"rgba8_uint\"\nlayout = \"pitch\"\n";

/// Returns a kernel of one instruction, which lanes from lane 5 on execute; `%lane` is the lane.
fn kernel(instruction: &str) -> String {
    module(&format!(
        ".global .surfref named;
.visible .entry k(.param .u64 s) {{
    .reg .b64 %rd<4>; .reg .b64 %d<4>; .reg .b32 %v<8>; .reg .b32 %lane; .reg .pred %p;
    ld.param.u64 %rd1, [s];
    mov.u32 %lane, %laneid;
    mov.u32 %v1, 0;
    setp.ge.u32 %p, %lane, 5;
    @%p {instruction}
    ret;
}}
"
    ))
}

fn fault(instruction: &str, argument: &str) -> String {
    let case = Case::new(&kernel(instruction), [32, 1, 1]);
    let rest = format!("arg = [{argument}]\n{IMAGE}");
    case.try_run(&rest, |_| ()).expect_err(instruction)
}

fn check(instruction: &str, argument: &str, what: &str, lane: u32) {
    let found = fault(instruction, argument);
    assert!(found.contains(what), "{instruction}: {found}");
    assert!(found.contains(&format!("lane {lane}")), "{instruction}: {found}");
}

const SURFACE: &str = "{ surface = \"s\" }";

#[test]
fn out_of_range() {
    for instruction in [
        // Lane 8 is the first lane beyond the row.
        "suld.b.2d.b32.trap %v2, [%rd1, {%x, %v1}];",
        "sust.b.2d.b32.trap [%rd1, {%x, %v1}], %v1;",
        "sured.b.add.2d.u32.trap [%rd1, {%x, %v1}], %v1;",
        "sust.p.2d.b32.trap [%rd1, {%lane, %v1}], %v1;",
        "sured.p.add.2d.b32.trap [%rd1, {%lane, %v1}], %v1;",
    ] {
        let text = instruction.replace("%x", "%v3");
        let text = kernel(&text)
            .replace("    mov.u32 %v1, 0;", "    mov.u32 %v1, 0;\n    shl.b32 %v3, %lane, 2;");
        let case = Case::new(&text, [32, 1, 1]);
        let found =
            case.try_run(&format!("arg = [{SURFACE}]\n{IMAGE}"), |_| ()).expect_err(instruction);
        assert!(
            found.contains("out of range") && found.contains("lane 8"),
            "{instruction}: {found}"
        );
    }
}

#[test]
fn misaligned() {
    for clamp in ["trap", "clamp", "zero"] {
        for instruction in [
            "suld.b.2d.b16.C %v2, [%rd1, {%lane, %v1}];",
            "sust.b.2d.v2.b8.C [%rd1, {%lane, %v1}], {%v1, %v1};",
        ] {
            // Lane 5, the first lane that executes, has an odd address already.
            check(&instruction.replace(".C", &format!(".{clamp}")), SURFACE, "misaligned", 5);
        }
        let reduction = format!("sured.b.or.2d.b32.{clamp} [%rd1, {{%lane, %v1}}], %v1;");
        check(&reduction, SURFACE, "misaligned", 5);
    }
}

#[test]
fn handles_that_name_no_surface() {
    for argument in ["{ u64 = 0 }", "{ u64 = 77 }"] {
        for instruction in [
            "suld.b.2d.b32.zero %v2, [%rd1, {%v1, %v1}];",
            "suld.b.2d.b32.clamp %v2, [%rd1, {%v1, %v1}];",
            "sust.b.2d.b32.trap [%rd1, {%v1, %v1}], %v1;",
            "sured.b.add.2d.u32.zero [%rd1, {%v1, %v1}], %v1;",
            "suq.width.b32 %v2, [%rd1];",
        ] {
            check(instruction, argument, "surface", 5);
        }
    }
}

#[test]
fn surfaces_of_another_shape() {
    for instruction in [
        "suld.b.1d.b32.zero %v2, [%rd1, {%v1}];",
        "suld.b.3d.b32.zero %v2, [%rd1, {%v1, %v1, %v1, %v1}];",
        "suld.b.a1d.b32.zero %v2, [%rd1, {%v1, %v1}];",
        "suld.b.a2d.b32.zero %v2, [%rd1, {%v1, %v1, %v1, %v1}];",
    ] {
        check(instruction, SURFACE, "surface", 5);
    }
}

#[test]
fn formats_that_stores_cannot_convert() {
    let case = Case::new(
        &kernel("sust.p.2d.v4.b32.zero [%rd1, {%v1, %v1}], {%v1, %v1, %v1, %v1};"),
        [32, 1, 1],
    );
    let image = IMAGE.replace("rgba8_uint", "rgba8_unorm_srgb");
    let found = case.try_run(&format!("arg = [{SURFACE}]\n{image}"), |_| ()).expect_err("sRGB");
    assert!(found.contains("surface"), "{found}");
}

#[test]
fn variables_without_a_surface() {
    let found = fault("suld.b.2d.b32.zero %v2, [named, {%v1, %v1}];", SURFACE);
    assert!(found.contains("named") && found.contains("[surface.named]"), "{found}");
}

#[test]
fn lanes_that_do_not_execute_do_not_fault() {
    let text = kernel("suld.b.2d.b32.trap %v2, [%rd1, {%v1, %v1}];").replace("5;", "40;");
    let case = Case::new(&text, [32, 1, 1]);
    case.run(&format!("arg = [{{ u64 = 0 }}]\n{IMAGE}"), |_| ());
}
