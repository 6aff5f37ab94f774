//! Pixels that the rasteriser makes, against equal pixels given as arrays.

use warploom_replay::graphics::{Input, name_of};

use crate::support::{Case, list};

/// Clip coordinates of a fan around a point, some of it behind the eye.
fn corners() -> Vec<[f32; 4]> {
    let rim = |i: usize| {
        let (sin, cos) = (i as f32 * 0.9).sin_cos();
        let w = 0.7 + 0.3 * (i % 3) as f32 - if i == 4 { 1.2 } else { 0.0 };
        [1.2 * cos * w, 1.2 * sin * w, 0.4 * w, w]
    };
    (0..7).flat_map(|i| [[-0.2, 0.1, 0.5, 1.0], rim(i), rim(i + 1)]).collect()
}

const CODE: &str = "
    IPA.PASS R0, a[0x70], RZ
    IPA.PASS R1, a[0x74], RZ
    IPA.PASS R2, a[0x78], RZ
    IPA.PASS R3, a[0x7c], RZ
    IPA.PASS R4, a[0x80], RZ
    IPA.PASS R5, a[0x94], RZ
    IPA.CONSTANT R6, a[0xa8], RZ
    IPA.CONSTANT R7, a[0x3fc], RZ
    PIXLD.COVMASK R8, [RZ]
    S2R R9, SR_THREAD_KILL
    MOV32I R12, 0x80
    IPA.IDX.PASS R10, a[R12], RZ, PT
    FSWZADD R11, R5, R5, PNPNPNPN";

#[test]
fn what_is_drawn_is_what_arrays_would_give() {
    let corners = corners();
    let words = |i: usize| [0, 1, 2, 3].map(|n| 0.75 * i as f32 - 1.5 * n as f32);
    let varying: Vec<[f32; 4]> = (0..corners.len()).map(words).collect();
    let directives = ".input 0x70 xyzw\n.input 0x80 x perspective\n.input 0x90 y linear\n.input 0xa0 z constant\n\
        .output target0 rgba\n.output target1 rgba\n.output target2 rgba";
    let exports = "[export.target0]\n[export.target1]\n[export.target2]";
    let drawn = Case::of("fragment", directives, CODE)
        .with(&format!(
            "[pixels]\ntriangles = {corners:?}\nvaryings = [{varying:?}, {varying:?}, {varying:?}]"
        ))
        .with(&format!("viewport = [0.0, 0.0, 31.0, 23.0]\ndepth_range = [1.0, 0.0]\n{exports}"));
    let launch = drawn.launch(&[]).unwrap_or_else(|error| panic!("{error}"));
    let shader = launch.shader.as_ref().unwrap();
    let raster = &shader.drawn.as_ref().expect("it is drawn").raster;
    assert!(!shader.lanes.is_multiple_of(64) && shader.lanes > 500);

    let covered: Vec<u32> = raster.quads().flat_map(|quad| quad.covered()).map(u32::from).collect();
    let primitive: Vec<u32> = raster.quads().map(|quad| quad.primitive()).collect();
    let mut pixels = format!("primitive = {}\n", list(&primitive));
    for input in
        [Input::X, Input::Y, Input::Z, Input::InverseW, Input::Front, Input::SampleCoverage]
    {
        let words: Vec<u32> = raster.quads().flat_map(|quad| quad.input(input)[0]).collect();
        pixels += &format!("{} = {}\n", name_of(input), list(&words));
    }
    let weights: Vec<[u32; 2]> = raster
        .quads()
        .flat_map(|quad| {
            let [i, j, _] = quad.input(Input::Barycentric);
            [0, 1, 2, 3].map(|lane| [i[lane], j[lane]])
        })
        .collect();
    let of_vertices = |of: &dyn Fn(usize) -> Vec<f32>| {
        (0..corners.len() / 3).map(|i| [0, 1, 2].map(|v| of(3 * i + v))).collect::<Vec<_>>()
    };
    let vertices = of_vertices(&|i| [varying[i]; 3].concat());
    let w: Vec<[f32; 3]> =
        corners.chunks(3).map(|corners| [0, 1, 2].map(|v| corners[v][3])).collect();
    let given = Case::fragment(directives, CODE, &covered).with(&format!(
        "{pixels}barycentric = {weights:?}\nvertices = {vertices:?}\nvertex_w = {w:?}\n{exports}"
    ));

    let (found, expected) = (drawn.run(), given.run());
    assert_eq!(expected.fault, None);
    assert_eq!(found, expected);
    assert!(found.kept.contains(&true) && found.kept.contains(&false));
}
