//! Manifests of shaders: their meaning, and the error messages for wrong manifests.

use warploom_replay::Launch;

use super::{assembled, error, fault, run};

const RAW: &str = "[raw]\nvgprs = 4\n";

/// Returns the manifest lines of a register with one value.
fn register(kind: &str, value: &str) -> String {
    format!("[[raw.{kind}]]\nfirst = 0\n{value}\n")
}

#[test]
fn what_is_wrong_says_where() {
    let pixels = |more: &str| format!("{RAW}[pixels]\ncovered = [1, 0, 0, 1]\n{more}");
    let sgpr = |value: &str, rest: &str| register("sgpr", value) + rest;
    let vgpr = |value: &str, rest: &str| register("vgpr", value) + rest;
    let table = [
        // Lanes.
        ("fragment", RAW.to_owned(), "pixels: a fragment program has [pixels]"),
        ("vertex", RAW.to_owned(), "vertices: a program of stage vertex has [vertices]"),
        ("vertex", pixels(""), "vertices: a program of stage vertex has [vertices]"),
        ("vertex", format!("{RAW}[vertices]\ncount = 0\n"), "vertices.count: 0 vertices"),
        ("fragment", format!("{RAW}[pixels]\n"), "pixels.covered: missing"),
        (
            "fragment",
            format!("{RAW}[pixels]\ncovered = [1, 1]\n"),
            "2 lanes: expected four for each quad",
        ),
        (
            "fragment",
            format!(
                "{RAW}[launch]\ngrid = [1, 1, 1]\nblock = [64, 1, 1]\n[pixels]\ncovered = [1, 1, 1, 1]\n"
            ),
            "launch.grid: the arrays of a shader",
        ),
        ("fragment", pixels("primitive = [0, 0]\n"), "expected a row for each quad of 1"),
        (
            "fragment",
            pixels("persp_center = [1.0, 2.0, 3.0, 4.0]\n"),
            "pixels.persp_center: 1 numbers for each lane: expected 2",
        ),
        ("fragment", pixels("pos_x = [1.0, 2.0]\n"), "expected a row for each lane of 4"),
        ("fragment", pixels("pos_q = [1.0, 2.0]\n"), "pos_q"),
        (
            "fragment",
            pixels("pos_x = [[1.0], [2.0, 3.0], [1.0], [2.0]]\n"),
            "a list of 2: others have 1",
        ),
        (
            "fragment",
            pixels("vertex_id = [1, 2, 3, 4]\n"),
            "pixels.vertex_id: it belongs to programs of other stages",
        ),
        (
            "fragment",
            pixels("parameters = [1.0, 2.0]\n"),
            "expected [primitives, attributes, 4, 3]",
        ),
        (
            "fragment",
            pixels("half = [1]\nparameters = [[[[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]]]]\n"),
            "pixels.half: attribute 1: there are 1",
        ),
        (
            "fragment",
            pixels("flat = [0]\nparameters = [[]]\n"),
            "expected [primitives, attributes, 4, 3]",
        ),
        // Registers.
        (
            "fragment",
            vgpr("builtin = \"persp_center\"", &pixels("")),
            "raw.vgpr 1: expected `persp_center` in [pixels]",
        ),
        (
            "fragment",
            sgpr("builtin = \"persp_center\"", &pixels("")),
            "raw.sgpr 1: a builtin that is in no sgpr",
        ),
        (
            "fragment",
            sgpr("builtin = \"workgroup_id_x\"", &pixels("")),
            "raw.sgpr 1: the hardware gives this to compute programs",
        ),
        (
            "vertex",
            sgpr("builtin = \"prim_mask\"", &format!("{RAW}[vertices]\ncount = 1\n")),
            "raw.sgpr 1: expected a program of stage fragment",
        ),
        (
            "fragment",
            vgpr("values = [1, 2]", &pixels("")),
            "2 values: expected one for each of 4 lanes",
        ),
        ("fragment", sgpr("image_descriptor = { surface = \"x\" }", &pixels("")), "no [surface.x]"),
        (
            "fragment",
            sgpr("sampler_descriptor = { surface = \"x\" }", &pixels("")),
            "a sampler is that of a texture",
        ),
        ("fragment", sgpr("image_descriptor = \"x\"", &pixels("")), "expected { surface = "),
        // Exports.
        ("fragment", pixels("[export.colour]\n"), "export.colour: expected mrt0 to mrt7"),
        ("fragment", pixels("[export.mrt8]\n"), "export.mrt8: expected mrt0 to mrt7"),
        ("fragment", pixels("[export.mrt0]\nformat = 12\n"), "12 is no format of exports"),
        (
            "fragment",
            pixels("[export.mrt0]\ntarget = \"rgba9\"\n"),
            "`rgba9` is no format of targets",
        ),
        (
            "fragment",
            pixels("[export.mrt0]\natol = 0.5\n"),
            "export.mrt0.atol: there is no `expect` for it",
        ),
        (
            "fragment",
            pixels("[export.mrt0]\ndiffer = 2.0\n"),
            "export.mrt0.differ: 2: expected a share",
        ),
        (
            "fragment",
            pixels("[export.mrt0]\nexpect = [1.0, 2.0]\n"),
            "expected a row for each lane of 4",
        ),
        (
            "fragment",
            pixels("[export.mrt0]\ntarget = \"r32ui\"\nexpect = [1.0, 2.0, 3.0, 4.0]\n"),
            "1 f32 for each lane: expected u32",
        ),
        ("fragment", pixels("[export]\nwritten = [1, 1]\n"), "expected a row for each lane of 4"),
        (
            "fragment",
            pixels("[export]\npng = { size = [4, 4] }\n"),
            "export.png: expected places of pixels",
        ),
        // The rasteriser.
        ("fragment", pixels("viewport = [0.0, 0.0, 4.0, 4.0]\n"), "pixels.triangles: missing"),
        (
            "fragment",
            format!("{RAW}[pixels]\ntriangles = [[0.0, 0.0, 0.0, 1.0]]\n"),
            "pixels.triangles: 1 vertices: expected three",
        ),
        (
            "fragment",
            format!(
                "{RAW}[pixels]\ntriangles = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]]\n"
            ),
            "pixels.viewport: missing",
        ),
        (
            "fragment",
            format!(
                "{RAW}[pixels]\nviewport = [0.0, 0.0, 1e9, 4.0]\ntriangles = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]]\n"
            ),
            "expected a rectangle within",
        ),
        (
            "fragment",
            format!(
                "{RAW}[pixels]\nviewport = [0.0, 0.0, 4.0, 4.0]\nindices = [0, 1, 3]\ntriangles = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]]\n"
            ),
            "vertex 3: there are 3",
        ),
        (
            "fragment",
            format!(
                "{RAW}[pixels]\nviewport = [0.0, 0.0, 4.0, 4.0]\ntriangles = [[9.0, 0.0, 0.0, 1.0], [9.0, 0.0, 0.0, 1.0], [9.0, 1.0, 0.0, 1.0]]\n"
            ),
            "they cover no pixel",
        ),
        // Banks are Maxwell's, but their form is checked.
        ("fragment", pixels("[bank.18]\nzeros = 4\n"), "bank.18: expected a number below 18"),
        ("fragment", pixels("[bank.3]\nzeros = 65540\n"), "bank.3: 65540 bytes"),
    ];
    for (stage, rest, expected) in table {
        let found = error("s_nop 0", stage, &rest);
        assert!(found.contains(expected), "{rest}\nfound: {found}\nexpected: {expected}");
    }
}

/// A launch reports attributes that code reads and the manifest lacks.
#[test]
fn missing_attributes_are_errors() {
    let code = "v_interp_p1_f32_e32 v0, v0, attr2.y\nexp mrt0 v0, off, off, off done vm";
    let found = error(code, "fragment", &format!("{RAW}[pixels]\ncovered = [1, 1, 1, 1]\n"));
    assert!(
        found.contains("v_interp_p1_f32_e32 v0, v0, attr2.y") && found.contains("of 0 attributes"),
        "{found}"
    );
    // Code that is not reached does not count.
    let code = format!("s_endpgm\n{code}");
    let launch =
        assembled(&code, "fragment", &format!("{RAW}[pixels]\ncovered = [1, 1, 1, 1]\n")).unwrap();
    run(&launch, "not reached");
}

/// Only shaders have the key `stage`, and compute launches have a shape.
#[test]
fn compute_manifests_stay_as_they_are() {
    let parse = |text: &str| {
        let path = std::path::Path::new("m.toml");
        let manifest =
            warploom_replay::Manifest::parse(text, path).map_err(|error| error.to_string())?;
        Launch::with_binary(manifest, path, b".target gfx900\ns_endpgm\n".to_vec())
            .map_err(|error| error.to_string())
    };
    let head = "[kernel]\nbinary = \"k.s\"\nformat = \"gfx9-raw\"\n";
    let shape = "[launch]\ngrid = [1, 1, 1]\nblock = [64, 1, 1]\n";
    for (rest, expected) in [
        (
            format!("{RAW}[pixels]\ncovered = [1, 1, 1, 1]\n{shape}"),
            "pixels: expected kernel.stage with it",
        ),
        (format!("{RAW}[export.mrt0]\n{shape}"), "export: expected kernel.stage with it"),
        (RAW.to_owned(), "launch: expected `grid` and `block`"),
        (
            register("sgpr", "builtin = \"prim_mask\"") + RAW + shape,
            "raw.sgpr 1: expected a program of stage fragment",
        ),
        (
            register("vgpr", "builtin = \"pos_x\"") + RAW + shape,
            "raw.vgpr 1: expected `pos_x` in [pixels]",
        ),
    ] {
        let found = parse(&format!("{head}{rest}")).expect_err("an error");
        assert!(found.contains(expected), "{rest}: {found}");
    }
    // Exports and interpolation belong to shaders.
    for code in ["exp mrt0 v0, v0, v0, v0 done vm", "v_interp_mov_f32_e32 v0, p0, attr0.x"] {
        let text = format!("{head}{RAW}{shape}");
        let path = std::path::Path::new("m.toml");
        let manifest = warploom_replay::Manifest::parse(&text, path).unwrap();
        let binary = format!(".target gfx900\n{code}\ns_endpgm\n").into_bytes();
        let launch = Launch::with_binary(manifest, path, binary).unwrap();
        assert!(fault(&launch).contains(code));
    }
}
