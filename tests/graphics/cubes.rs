//! Samples of cubes as compilers write them: `v_cube*` gives a direction's face and place, and a
//! sample follows. The reference is Vulkan's table of faces ("Cube Map Face Selection").

use super::{assembled, error, list, run};

const LANES: usize = 140;
const SIDE: usize = 4;
/// The number of cubes of the array.
const CUBES: usize = 3;

/// Returns a direction whose axes are all different, and the number of its cube.
fn direction(lane: usize) -> ([f32; 3], usize) {
    let axis = |n: usize| ((lane * [37, 53, 71][n] + n * 11) % 97) as f32 / 48.0 - 1.003;
    ([axis(0), axis(1), axis(2)], lane % CUBES)
}

/// Returns the face, and the place on it from 0 to 1.
fn place([x, y, z]: [f32; 3]) -> (usize, [f32; 2]) {
    let [ax, ay, az] = [x, y, z].map(f32::abs);
    let (face, s, t, major) = if az >= ax && az >= ay {
        if z >= 0.0 { (4, x, -y, az) } else { (5, -x, -y, az) }
    } else if ay >= ax {
        if y >= 0.0 { (2, x, z, ay) } else { (3, x, -z, ay) }
    } else if x >= 0.0 {
        (0, -z, -y, ax)
    } else {
        (1, z, -y, ax)
    };
    (face, [s, t].map(|axis| 0.5 * (axis / major) + 0.5))
}

fn texel(cube: usize, face: usize, x: usize, y: usize) -> f32 {
    ((((cube * 6 + face) * SIDE + y) * SIDE + x) * 7 % 101) as f32
}

/// Returns the texel of a face at a place.
fn expected(cube: usize, face: usize, at: [f32; 2]) -> f32 {
    let [x, y] = at.map(|axis| ((axis * SIDE as f32) as usize).min(SIDE - 1));
    texel(cube, face, x, y)
}

#[test]
fn faces_and_places() {
    for (dim, cubes) in [("cube", 1), ("cube_array", CUBES)] {
        let folder = tempfile::tempdir().unwrap();
        let texels = (0..cubes).flat_map(|cube| (0..6).map(move |face| (cube, face)));
        let texels = texels.flat_map(|(cube, face)| {
            (0..SIDE * SIDE)
                .map(move |n| texel(cube, face, n % SIDE, n / SIDE).to_bits().to_le_bytes())
        });
        let file = folder.path().join("cube.bin");
        std::fs::write(&file, texels.flatten().collect::<Vec<u8>>()).unwrap();
        let cube_of = |lane: usize| if cubes == 1 { 0 } else { direction(lane).1 };
        let vgprs: String = (0..4)
            .map(|n| {
                let word = |lane| if n < 3 { direction(lane).0[n] } else { cube_of(lane) as f32 };
                format!(
                    "[[raw.vgpr]]\nfirst = {n}\nvalues = {}\n",
                    list((0..LANES).map(|lane| word(lane).to_bits()))
                )
            })
            .collect();
        let rest = format!(
            "[raw]\nvgprs = 12\n{vgprs}[[raw.sgpr]]\nfirst = 8\nimage_descriptor = {{ texture = \"t\" }}\n\
             [[raw.sgpr]]\nfirst = 16\nsampler_descriptor = {{ texture = \"t\" }}\n[pixels]\ncovered = {}\n\
             [surface.s]\ndim = \"{dim}\"\nsize = [{SIDE}, {SIDE}, {}]\nformat = \"r32_float\"\nfile = \"{}\"\n\
             [texture.t]\nsurface = \"s\"\nfilter = \"nearest\"\naddress = \"clamp_to_edge\"\nnormalized = true\n[export.mrt0]\n",
            list((0..LANES).map(|_| 1)),
            6 * cubes,
            file.display()
        );
        let code = "v_cubema_f32 v4, v0, v1, v2\nv_rcp_f32_e64 v4, |v4|\nv_cubesc_f32 v5, v0, v1, v2\n\
            v_cubetc_f32 v6, v0, v1, v2\nv_cubeid_f32 v7, v0, v1, v2\n\
            v_madak_f32 v5, v5, v4, 0x3fc00000\nv_madak_f32 v6, v6, v4, 0x3fc00000\n\
            v_mov_b32_e32 v8, 0x41000000\nv_mac_f32_e32 v7, v3, v8\n\
            image_sample_lz v9, v5, s[8:15], s[16:19] dmask:0x1 da\nexp mrt0 v9, v7, off, off done vm";
        let launch = assembled(code, "fragment", &rest).unwrap_or_else(|error| panic!("{error}"));
        let (_, exported) = run(&launch, dim);
        for lane in 0..LANES {
            let (face, at) = place(direction(lane).0);
            let [found, number] = [0, 1].map(|i| f32::from_bits(exported.targets[0][lane][i]));
            assert_eq!(number, (8 * cube_of(lane) + face) as f32, "lane {lane}");
            let expected = expected(cube_of(lane), face, at);
            assert!(
                (found - expected).abs() < 1e-3,
                "{dim}, lane {lane}: {found}, expected {expected}"
            );
        }
    }
}

#[test]
fn cubes_are_squares() {
    for size in ["[4, 2, 6]", "[4, 4, 5]", "[4, 4, 12]"] {
        let rest = format!(
            "[raw]\nvgprs = 1\n[pixels]\ncovered = [1, 1, 1, 1]\n[surface.s]\ndim = \"cube\"\nsize = {size}\nformat = \"r32_float\"\n"
        );
        let found = error("s_nop 0", "fragment", &rest);
        assert!(
            found.contains("expected squares") || found.contains("expected at most"),
            "{size}: {found}"
        );
    }
}
