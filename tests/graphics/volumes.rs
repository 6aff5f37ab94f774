//! Samples of volumes, filtered between planes, and of cubes, filtered across edges, against models
//! of the Vulkan specification ("Texel Filtering", "Cube Map Edge Handling").

use super::{assembled, list, run};

const LANES: usize = 148;

/// Returns rows of registers with a float for each lane.
fn registers(count: usize, float: impl Fn(usize, usize) -> f32) -> String {
    let words = |n: usize| list((0..LANES).map(|lane| float(lane, n).to_bits()));
    (0..count).map(|n| format!("[[raw.vgpr]]\nfirst = {n}\nvalues = {}\n", words(n))).collect()
}

/// Returns the first word that the code exports, in each lane.
fn sampled(
    dim: &str,
    size: [usize; 3],
    texels: &[f32],
    texture: &str,
    code: &str,
    vgprs: &str,
) -> Vec<f32> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("image.bin");
    std::fs::write(&file, texels.iter().flat_map(|texel| texel.to_le_bytes()).collect::<Vec<u8>>())
        .unwrap();
    let rest = format!(
        "[raw]\nvgprs = 12\n{vgprs}[[raw.sgpr]]\nfirst = 8\nimage_descriptor = {{ texture = \"t\" }}\n\
         [[raw.sgpr]]\nfirst = 16\nsampler_descriptor = {{ texture = \"t\" }}\n[pixels]\ncovered = {}\n\
         [surface.s]\ndim = \"{dim}\"\nsize = {size:?}\nformat = \"r32_float\"\nfile = \"{}\"\n\
         [texture.t]\nsurface = \"s\"\nnormalized = true\n{texture}[export.mrt0]\n",
        list((0..LANES).map(|_| 1)),
        file.display()
    );
    let launch = assembled(code, "fragment", &rest).unwrap_or_else(|error| panic!("{error}"));
    let (_, exported) = run(&launch, dim);
    exported.targets[0].iter().map(|words| f32::from_bits(words[0])).collect()
}

/// Returns the texels that a filter combines along an axis: their numbers and weights.
fn along(at: f64, size: usize, linear: bool, mode: &str) -> [(Option<usize>, f64); 2] {
    let size = size as i64;
    let wrapped = |k: i64| match mode {
        "repeat" => Some(k.rem_euclid(size)),
        "mirrored_repeat" => {
            let k = k.rem_euclid(2 * size);
            Some(if k < size { k } else { 2 * size - 1 - k })
        }
        "clamp_to_edge" => Some(k.clamp(0, size - 1)),
        _ => Some(k).filter(|k| (0..size).contains(k)),
    };
    let texel = |k: i64| wrapped(k).map(|k| k as usize);
    let place = at * size as f64;
    if !linear {
        return [(texel(place.floor() as i64), 1.0), (Some(0), 0.0)];
    }
    let (first, part) = ((place - 0.5).floor(), (place - 0.5) - (place - 0.5).floor());
    [(texel(first as i64), 1.0 - part), (texel(first as i64 + 1), part)]
}

#[test]
fn volumes_are_filtered_between_planes() {
    const SIZE: [usize; 3] = [6, 5, 4];
    let texel = |x: usize, y: usize, z: usize| ((x * 7 + y * 31 + z * 53) % 97) as f32;
    let places = (0..SIZE[2])
        .flat_map(|z| (0..SIZE[1]).flat_map(move |y| (0..SIZE[0]).map(move |x| (x, y, z))));
    let texels: Vec<f32> = places.map(|(x, y, z)| texel(x, y, z)).collect();
    // No place lies between two texels or on a texel, where rounding would decide.
    let at = |lane: usize, axis: usize| {
        ((lane * [37, 53, 71][axis] + 5 * axis) % 101) as f32 / 50.0 - 0.4871
    };
    for filter in ["linear", "nearest"] {
        for mode in ["repeat", "mirrored_repeat", "clamp_to_edge", "clamp_to_border"] {
            let texture = format!(
                "filter = \"{filter}\"\naddress = \"{mode}\"\nborder = [1.0, 1.0, 1.0, 1.0]\n"
            );
            let code = "image_sample_lz v9, v0, s[8:15], s[16:19] dmask:0x1\nexp mrt0 v9, off, off, off done vm";
            let found = sampled("3d", SIZE, &texels, &texture, code, &registers(3, at));
            for (lane, found) in found.into_iter().enumerate() {
                let axes = [0, 1, 2]
                    .map(|axis| along(at(lane, axis).into(), SIZE[axis], filter == "linear", mode));
                let mut expected = 0.0;
                for (x, a) in axes[0] {
                    for (y, b) in axes[1] {
                        for (z, c) in axes[2] {
                            let value = match (x, y, z) {
                                (Some(x), Some(y), Some(z)) => f64::from(texel(x, y, z)),
                                _ => 1.0,
                            };
                            expected += a * b * c * value;
                        }
                    }
                }
                assert!(
                    (f64::from(found) - expected).abs() < 1e-3,
                    "{filter}, {mode}, lane {lane}: {found}, expected {expected}"
                );
            }
        }
    }
}

const SIDE: usize = 4;

/// By face: the part of a direction that selects the face, and the parts along its rows and
/// columns, as axis and sign.
const FACES: [[(usize, f64); 3]; 6] = [
    [(0, 1.0), (2, -1.0), (1, -1.0)],
    [(0, -1.0), (2, 1.0), (1, -1.0)],
    [(1, 1.0), (0, 1.0), (2, 1.0)],
    [(1, -1.0), (0, 1.0), (2, -1.0)],
    [(2, 1.0), (0, 1.0), (1, -1.0)],
    [(2, -1.0), (0, -1.0), (1, -1.0)],
];

/// Returns the face that a direction leads to, and the place on it from -1 to 1.
fn project(direction: [f64; 3]) -> (usize, [f64; 2]) {
    let (face, major) = (0..6)
        .map(|face| (face, direction[FACES[face][0].0] * FACES[face][0].1))
        .reduce(|a, b| if b.1 > a.1 { b } else { a })
        .expect("six faces");
    (face, [1, 2].map(|part| direction[FACES[face][part].0] * FACES[face][part].1 / major))
}

fn cube_texel(cube: usize, face: usize, x: usize, y: usize) -> f32 {
    ((((cube * 6 + face) * SIDE + y) * SIDE + x) * 7 % 101) as f32
}

/// Returns the texel at a place of a face. Beyond an edge, the face that the direction leads to has
/// it. None: beyond a corner.
fn beyond(cube: usize, face: usize, [x, y]: [i64; 2]) -> Option<f64> {
    let inside = [x, y].map(|k| (0..SIDE as i64).contains(&k));
    if inside == [false, false] {
        return None;
    }
    // A texel beyond an edge lies at an equal distance from the edge on the next face: half a texel
    // from the edge, seen from the cube's centre.
    let centre = |k: i64| ((2 * k + 1) as f64 / SIDE as f64 - 1.0).clamp(-1.0, 1.0);
    let inward = if inside == [true, true] { 1.0 } else { 1.0 - 1.0 / SIDE as f64 };
    let mut direction = [0.0; 3];
    for ((axis, sign), along) in FACES[face].into_iter().zip([inward, centre(x), centre(y)]) {
        direction[axis] = sign * along;
    }
    let (face, at) = project(direction);
    let [x, y] = at.map(|at| (((at + 1.0) / 2.0 * SIDE as f64).floor() as usize).min(SIDE - 1));
    Some(cube_texel(cube, face, x, y).into())
}

/// Returns a component of a direction, which lies near an edge or a corner in most lanes.
fn direction(lane: usize, axis: usize) -> f32 {
    let number = (lane * [37, 53, 71][axis] + axis * 11) % 97;
    let far = if number.is_multiple_of(2) { 1.003 } else { -0.997 };
    if lane % 4 < 3 { far - (number % 7) as f32 / 23.0 * far } else { number as f32 / 48.0 - 1.003 }
}

#[test]
fn cubes_are_filtered_across_edges() {
    for (dim, cubes) in [("cube", 1), ("cube_array", 3)] {
        let texels: Vec<f32> = (0..cubes * 6 * SIDE * SIDE)
            .map(|n| cube_texel(0, n / (SIDE * SIDE), n % SIDE, n / SIDE % SIDE))
            .collect();
        let cube_of = |lane: usize| lane % cubes;
        let vgprs =
            registers(4, |lane, n| if n < 3 { direction(lane, n) } else { cube_of(lane) as f32 });
        let code = "v_cubema_f32 v4, v0, v1, v2\nv_rcp_f32_e64 v4, |v4|\nv_cubesc_f32 v5, v0, v1, v2\n\
            v_cubetc_f32 v6, v0, v1, v2\nv_cubeid_f32 v7, v0, v1, v2\n\
            v_madak_f32 v5, v5, v4, 0x3fc00000\nv_madak_f32 v6, v6, v4, 0x3fc00000\n\
            v_mov_b32_e32 v8, 0x41000000\nv_mac_f32_e32 v7, v3, v8\n\
            image_sample_lz v9, v5, s[8:15], s[16:19] dmask:0x1 da\nexp mrt0 v9, off, off, off done vm";
        // The sampler's address mode has no effect.
        for mode in ["repeat", "clamp_to_edge", "clamp_to_border"] {
            let texture = format!("filter = \"linear\"\naddress = \"{mode}\"\n");
            let found = sampled(dim, [SIDE, SIDE, 6 * cubes], &texels, &texture, code, &vgprs);
            let (mut crossed, mut corners) = (0, 0);
            for (lane, found) in found.into_iter().enumerate() {
                let (face, at) = project([0, 1, 2].map(|axis| f64::from(direction(lane, axis))));
                let [x, y] = at.map(|at| (at + 1.0) / 2.0 * SIDE as f64 - 0.5);
                let (left, top) = (x.floor(), y.floor());
                let taps = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(row, column)| {
                    let weight = |at: f64, k: i64| {
                        if k == 0 { 1.0 - (at - at.floor()) } else { at - at.floor() }
                    };
                    (
                        beyond(cube_of(lane), face, [left as i64 + column, top as i64 + row]),
                        weight(x, column) * weight(y, row),
                    )
                });
                let there: Vec<f64> = taps.iter().filter_map(|tap| tap.0).collect();
                let mean = there.iter().sum::<f64>() / there.len() as f64;
                let expected: f64 =
                    taps.iter().map(|(texel, weight)| texel.unwrap_or(mean) * weight).sum();
                assert!(
                    (f64::from(found) - expected).abs() < 2e-3,
                    "{dim}, {mode}, lane {lane}: {found}, expected {expected}"
                );
                corners += usize::from(there.len() == 3);
                crossed += usize::from(
                    left < 0.0
                        || top < 0.0
                        || left as usize + 1 >= SIDE
                        || top as usize + 1 >= SIDE,
                );
            }
            assert!(
                crossed > LANES / 3 && corners > 5,
                "{crossed} lanes cross edges, {corners} are at corners"
            );
        }
    }
}
