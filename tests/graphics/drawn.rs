//! Pixels that the rasteriser makes, against equal pixels given as arrays: the values computed when
//! a block begins equal the values of the arrays' rows.

use warploom_replay::Launch;
use warploom_replay::graphics::{Input, name_of};

use super::{assembled, list, run};

/// Clip coordinates of a fan around a point, with and without perspective, some of it behind the
/// eye.
fn corners() -> Vec<[f32; 4]> {
    let rim = |i: usize| {
        let (sin, cos) = (i as f32 * 0.7).sin_cos();
        let w = 0.6 + 0.2 * (i % 4) as f32 - if i == 5 { 1.0 } else { 0.0 };
        [1.3 * cos * w, 1.3 * sin * w, 0.3 * w, w]
    };
    (0..9).flat_map(|i| [[0.1, -0.2, 0.5, 1.0], rim(i), rim(i + 1)]).collect()
}

/// Returns four words of each vertex.
fn varying() -> Vec<[f32; 4]> {
    (0..corners().len())
        .map(|i| [i as f32, 0.5 * (i % 5) as f32, 1.0 - i as f32, 7.0 / (i + 1) as f32])
        .collect()
}

const INPUTS: [Input; 10] = [
    Input::PerspCenter,
    Input::PerspPullModel,
    Input::LinearCentroid,
    Input::PosX,
    Input::PosY,
    Input::PosZ,
    Input::PosW,
    Input::FrontFace,
    Input::Ancillary,
    Input::SampleCoverage,
];

/// Returns a program that exports the initial registers and interpolated values.
fn program(pixels: &str) -> Launch {
    let mut rest =
        String::from("[raw]\nvgprs = 24\n[[raw.sgpr]]\nfirst = 2\nbuiltin = \"prim_mask\"\n");
    let mut first = 0;
    for input in INPUTS {
        rest += &format!("[[raw.vgpr]]\nfirst = {first}\nbuiltin = \"{}\"\n", name_of(input));
        first += input.components();
    }
    assert_eq!(first, 14);
    let code = "s_mov_b32 m0, s2\nv_mov_b32_e32 v14, s2
        v_interp_p1_f32_e32 v16, v0, attr0.x\nv_interp_p2_f32_e32 v16, v1, attr0.x
        v_interp_p1_f32_e32 v17, v5, attr1.w\nv_interp_p2_f32_e32 v17, v6, attr1.w
        v_interp_mov_f32_e32 v18, p20, attr0.z\nv_interp_mov_f32_e32 v19, p0, attr1.y
        exp mrt0 v0, v1, v2, v3\nexp mrt1 v4, v5, v6, v7\nexp mrt2 v8, v9, v10, v11
        exp mrt3 v12, v13, v14, v14\nexp mrt4 v16, v17, v18, v19 done vm";
    let targets: String = (0..5).map(|target| format!("[export.mrt{target}]\n")).collect();
    assembled(code, "fragment", &format!("{rest}{pixels}{targets}"))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Drawn pixels equal given pixels, also in a short last wave, and if one triangle has all lanes.
#[test]
fn what_is_drawn_is_what_arrays_would_give() {
    for (count, size) in [(27, [37, 29]), (3, [64, 64]), (27, [6, 6])] {
        let (corners, varying) = (&corners()[..count], &varying()[..count]);
        let drawn = program(&format!(
            "[pixels]\ntriangles = {corners:?}\nvaryings = [{varying:?}, {varying:?}]\nviewport = [0.0, 0.0, {}.0, {}.0]\n\
             depth_range = [0.25, 0.75]\n",
            size[0], size[1]
        ));
        let shader = drawn.shader.as_ref().unwrap();
        let raster = &shader.drawn.as_ref().expect("it is drawn").raster;
        assert!(count == 3 || !shader.lanes.is_multiple_of(64));
        let covered = list(raster.quads().flat_map(|quad| quad.covered()).map(u32::from));
        let primitive = list(raster.quads().map(|quad| quad.primitive()));
        let mut pixels = format!("[pixels]\ncovered = {covered}\nprimitive = {primitive}\n");
        for input in INPUTS {
            let rows = raster.quads().flat_map(|quad| {
                let words = quad.input(input);
                (0..4).map(move |lane| {
                    (0..input.components()).map(|i| words[i][lane]).collect::<Vec<u32>>()
                })
            });
            let rows = match input.components() {
                1 => list(rows.flatten()),
                _ => list(rows),
            };
            pixels += &format!("{} = {rows}\n", name_of(input));
        }
        let parameters: Vec<_> = (varying.chunks(3))
            .map(|corners| [0, 1].map(|_| [0, 1, 2, 3].map(|c| [0, 1, 2].map(|v| corners[v][c]))))
            .collect();
        let given = program(&format!("{pixels}parameters = {parameters:?}\n"));
        let (_, expected) = run(&given, "given");
        let (session, found) = run(&drawn, "drawn");
        assert_eq!(found, expected, "{count} corners");
        assert!(found.kept.contains(&true));
        // Another launch computes the values again.
        session.reset().unwrap();
        assert_eq!(
            session.launch(&session.options(Default::default(), 3), None).unwrap().fault,
            None
        );
        assert_eq!(session.exported().unwrap().unwrap(), expected);
    }
}

#[test]
fn drawn_launches_are_not_cooperative() {
    let launch = program(&format!(
        "[pixels]\ntriangles = {:?}\nvaryings = [{1:?}, {1:?}]\nviewport = [0.0, 0.0, 8.0, 8.0]\n",
        &corners()[..3],
        &varying()[..3]
    ));
    let session = warploom_replay::Session::new(&launch).unwrap();
    let mut options = session.options(Default::default(), 1);
    options.cooperative = true;
    let error = session.launch(&options, None).expect_err("an error").to_string();
    assert!(error.contains("expected no cooperative launch"), "{error}");
}

/// Whole wave mode runs lanes that are off and helpers, too: exec is all ones, and code sets the
/// values of inactive lanes.
#[test]
fn whole_waves_have_all_lanes() {
    const LANES: usize = 72;
    let covered = |lane: usize| lane.is_multiple_of(3);
    let code = "s_mov_b64 s[4:5], exec\nv_mov_b32_e32 v2, v0
        s_not_b64 exec, exec\nv_mov_b32_e32 v2, 0x3e8\ns_not_b64 exec, exec
        s_or_saveexec_b64 s[6:7], -1
        v_mov_b32_e32 v3, 0
        v_mov_b32_dpp v3, v2 row_shr:1 row_mask:0xf bank_mask:0xf
        v_add_u32_e32 v3, v2, v3
        s_mov_b64 exec, s[6:7]
        exp mrt0 v3, off, off, off done vm";
    let rest = format!(
        "[raw]\nvgprs = 8\n[[raw.vgpr]]\nfirst = 0\nvalues = {}\n[pixels]\ncovered = {}\n[export.mrt0]\n",
        list(0..LANES),
        list((0..LANES).map(|lane| u32::from(covered(lane))))
    );
    let launch = assembled(code, "fragment", &rest).unwrap_or_else(|error| panic!("{error}"));
    let (_, exported) = run(&launch, "whole waves");
    let value = |lane: usize| if covered(lane) { lane as u32 } else { 1000 };
    for lane in (0..LANES).filter(|&lane| covered(lane)) {
        let before = if lane % 16 == 0 { 0 } else { value(lane - 1) };
        assert_eq!(exported.targets[0][lane][0], value(lane) + before, "lane {lane}");
    }
}
