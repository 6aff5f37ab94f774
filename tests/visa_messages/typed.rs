//! Typed reads and writes of texels of some formats, and sampler messages that fetch and look up.

use warploom_replay::{Launch, Session};

use super::Random;
use super::atomics::{LSC, combine, numbers, sources};
use super::visa_launch::{ENGINES, Files, words_of};

/// The width and height of the images.
const SIZE: [usize; 2] = [16, 4];

/// Returns a kernel of 16 lanes that reads texel (x, 1) of one image and writes it to row 2 of the
/// other image. x is a lane's number plus `shift`.
fn kernel(read: &str, shift: u32) -> String {
    format!(
        ".version 4.1\n.kernel \"k\"\n.decl FROM v_type=G type=ud num_elts=2 align=qword\n.decl TO v_type=G type=ud num_elts=2 align=qword\n\
         .decl OUT v_type=G type=uq num_elts=1 align=qword\n.decl SAMPLER v_type=G type=ud num_elts=2 align=qword\n\
         .decl X v_type=G type=ud num_elts=16 align=GRF\n.decl Y v_type=G type=ud num_elts=16 align=GRF\n.decl Z v_type=G type=ud num_elts=16 align=GRF\n\
         .decl FX v_type=G type=f num_elts=16 align=GRF\n.decl FY v_type=G type=f num_elts=16 align=GRF\n\
         .decl D v_type=G type=ud num_elts=64 align=GRF\n\
         .input FROM offset=32 size=8\n.input TO offset=40 size=8\n.input OUT offset=48 size=8\n.input SAMPLER offset=56 size=8\n.kernel_attr SimdSize=16\nmain:\n\
         mov (M1, 8) X(0,0)<1> 0x76543210:uv\nadd (M3, 8) X(1,0)<1> X(0,0)<1;1,0> 0x8:ud\n\
         add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> {shift:#x}:ud\nmov (M1, 16) Y(0,0)<1> 0x1:ud\nmov (M1, 16) Z(0,0)<1> 0x2:ud\n\
         mov (M1, 16) FX(0,0)<1> X(0,0)<1;1,0>\nmov (M1, 16) FY(0,0)<1> 0x3f800000:f\n\
         movs (M1_NM, 1) %bss(0) FROM(0,0)<0;1,0>\nmovs (M1_NM, 1) S31(0) SAMPLER(0,0)<0;1,0>\n{read}\n\
         movs (M1_NM, 1) %bss(0) TO(0,0)<0;1,0>\nscatter4_typed.RGBA (M1, 16) %bss X.0 Z.0 %null.0 %null.0 D.0\n\
         lsc_store.ugm (M1_NM, 1) flat[OUT]:a64 D:d32x64t\nret (M1, 1)\n"
    )
}

const ARGUMENTS: &str = "arg_bypointer:0:8:0:bindless:image,arg_bypointer:8:8:1:bindless:image,\
                         arg_bypointer:16:8:2:stateless:global,arg_bypointer:24:8:3:bindless:sampler";

/// Returns a launch of the kernel: `from` and `to` are images, with their dimensions, format and
/// bytes.
fn launch(code: &str, from: (&str, [u32; 3], &str, &[u8]), to: &str, out: &[u8]) -> Launch {
    let bytes = match to {
        "rgba32_float" | "rgba32_uint" => 16,
        _ => from.3.len() / from.1.iter().product::<u32>() as usize,
    };
    let mut files = Files::new("dg2", 16, ARGUMENTS);
    files.text(code);
    files.surface("from", from.0, from.1, from.2, from.3);
    files.surface("to", "2d", [16, 4, 1], to, &vec![0; SIZE[0] * SIZE[1] * bytes]);
    files.buffer("out", out, "u32");
    files
        .arg("sampler = { filter = \"nearest\", address = \"clamp_to_edge\", normalized = false }");
    files.launch([1, 1, 1], [16, 1, 1])
}

/// Launches on each engine, demands that no fault occurs, and checks the session.
fn each_engine(launch: &Launch, name: &str, check: impl Fn(&Session<'_>, String)) {
    for engine in ENGINES {
        let session = Session::new(launch).unwrap();
        let outcome = session.launch(&session.options(engine, 1), None).unwrap();
        assert!(outcome.fault.is_none(), "{engine}, {name}: {}", outcome.fault.unwrap());
        check(&session, format!("{engine}, {name}"));
    }
}

fn surface_number(launch: &Launch, name: &str) -> usize {
    launch.surfaces.iter().position(|surface| surface.name == name).unwrap()
}

/// A texel's bytes, and its components as registers hold them.
type Texel = (Vec<u8>, [u32; 4]);

fn run(read: &str, format: &str, texels: &[Texel], absent: [u32; 4], shift: usize) {
    let bytes = texels[0].0.len();
    let row: Vec<u8> = texels.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
    let empty = vec![0; SIZE[0] * bytes];
    let image = [&empty, &row, &empty, &empty].map(Vec::as_slice).concat();
    let launch =
        launch(&kernel(read, shift as u32), ("2d", [16, 4, 1], format, &image), format, &[0; 256]);
    each_engine(&launch, &format!("{format}, {read}"), |session, name| {
        let out = words_of(&session.buffer(0).unwrap());
        let mut written = empty.clone();
        for lane in 0..16 {
            let found: Vec<u32> = (0..4).map(|channel| out[channel * 16 + lane]).collect();
            let expected = texels.get(lane + shift).map_or(absent, |texel| texel.1);
            assert_eq!(found, expected, "{name}: lane {lane}");
            if let Some((texel, _)) = texels.get(lane + shift) {
                written[(lane + shift) * bytes..][..bytes].copy_from_slice(texel);
            }
        }
        let expected = [&empty, &empty, &written, &empty].map(Vec::as_slice).concat();
        let found = session.surface(surface_number(&launch, "to")).unwrap();
        assert!(found == expected, "{name}: what is written");
    });
}

fn floats(values: [f32; 4]) -> [u32; 4] {
    values.map(f32::to_bits)
}

/// Returns formats with texels, and with the components of a texel outside.
fn formats() -> Vec<(&'static str, Vec<Texel>, [u32; 4])> {
    let sixteen = |texel: fn(u32) -> Texel| (0..16).map(texel).collect::<Vec<Texel>>();
    vec![
        (
            "rgba8_unorm",
            sixteen(|n| {
                let bytes = [n as u8 * 17, 255 - n as u8, 0, n as u8];
                (bytes.to_vec(), floats(bytes.map(|byte| f32::from(byte) / 255.0)))
            }),
            [0; 4],
        ),
        (
            "r8_unorm",
            sixteen(|n| {
                (vec![n as u8 * 9], floats([f32::from(n as u8 * 9) / 255.0, 0.0, 0.0, 1.0]))
            }),
            floats([0.0, 0.0, 0.0, 1.0]),
        ),
        (
            "rgba32_float",
            sixteen(|n| {
                let values = [n as f32 * 0.3, -1.5, f32::INFINITY, 1e-40];
                (values.iter().flat_map(|value| value.to_le_bytes()).collect(), floats(values))
            }),
            [0; 4],
        ),
        (
            "rg16_sint",
            sixteen(|n| {
                let values = [n as i16 - 8, -32768 + n as i16];
                (
                    values.iter().flat_map(|value| value.to_le_bytes()).collect(),
                    [i32::from(values[0]) as u32, i32::from(values[1]) as u32, 0, 1],
                )
            }),
            [0, 0, 0, 1],
        ),
        (
            "rgba16_uint",
            sixteen(|n| {
                let values = [n as u16, 65535 - n as u16, 1, 2];
                (
                    values.iter().flat_map(|value| value.to_le_bytes()).collect(),
                    values.map(u32::from),
                )
            }),
            [0; 4],
        ),
        (
            "r32_uint",
            sixteen(|n| ((n * 0x0101_0101).to_le_bytes().to_vec(), [n * 0x0101_0101, 0, 0, 1])),
            [0, 0, 0, 1],
        ),
        (
            "r16_float",
            sixteen(|n| {
                let value = half::f16::from_f32(n as f32 * 0.7 - 3.0);
                (value.to_le_bytes().to_vec(), floats([value.to_f32(), 0.0, 0.0, 1.0]))
            }),
            floats([0.0, 0.0, 0.0, 1.0]),
        ),
        (
            "bgra8_unorm",
            sixteen(|n| {
                let bytes = [n as u8, 200, 3, 77 + n as u8];
                (bytes.to_vec(), floats([2, 1, 0, 3].map(|at| f32::from(bytes[at]) / 255.0)))
            }),
            [0; 4],
        ),
    ]
}

#[test]
fn texels_are_read_and_written() {
    for (format, texels, absent) in formats() {
        // With a shift, some texels are outside: the kernel neither reads nor writes them.
        for shift in [0, 5] {
            run(
                "gather4_typed.RGBA (M1, 16) %bss X.0 Y.0 %null.0 %null.0 D.0",
                format,
                &texels,
                absent,
                shift,
            );
        }
        run("lsc_load_quad.tgm (M1, 16) D:d32.xyzw bss(FROM)[X,Y]:a32", format, &texels, absent, 0);
        run("load_lz.RGBA (M1, 16) 0x0:uw %bss D.0 X.0 Y.0", format, &texels, absent, 0);
        run("sample_lz.RGBA (M1, 16) 0x0:uw S31 %bss D.0 FX.0 FY.0", format, &texels, absent, 0);
        // All messages name the only level: by its number, by neighbours, by gradients.
        for read in [
            "load_3d.RGBA (M1, 16) 0x0:uw %bss D.0 X.0 Y.0 %null.0",
            "sample_l.RGBA (M1, 16) 0x0:uw S31 %bss D.0 %null.0 FX.0 FY.0",
            "sample_3d.RGBA (M1, 16) 0x0:uw S31 %bss D.0 FX.0 FY.0",
            "sample_b.RGBA (M1, 16) 0x0:uw S31 %bss D.0 %null.0 FX.0 FY.0",
            // Samplers of manifests compare nothing, whatever the reference is.
            "sample_c.RGBA (M1, 16) 0x0:uw S31 %bss D.0 FX.0 FX.0 FY.0",
            "sample_c_lz.RGBA (M1, 16) 0x0:uw S31 %bss D.0 FX.0 FX.0 FY.0",
            // A message writes texels, and another message reads them again.
            "gather4_typed.RGBA (M1, 16) %bss X.0 Y.0 %null.0 %null.0 D.0\nlsc_store_quad.tgm (M1, 16) bss(FROM)[X,Z]:a32 D:d32.xyzw\n\
             lsc_load_quad.tgm (M1, 16) D:d32.xyzw bss(FROM)[X,Z]:a32",
            "sample_d.RGBA (M1, 16) 0x0:uw S31 %bss D.0 FX.0 %null.0 %null.0 FY.0 %null.0 %null.0",
        ] {
            run(read, format, &texels, absent, 0);
        }
        // Coordinates lie three texels to the left and a row further: the offsets move them back.
        let moved = "add (M1, 16) FX(0,0)<1> FX(0,0)<1;1,0> 0xc0400000:f\nmov (M1, 16) FY(0,0)<1> 0x40000000:f\n\
                     sample_lz.RGBA (M1, 16) 0x3f0:uw S31 %bss D.0 FX.0 FY.0";
        run(moved, format, &texels, absent, 0);
    }
}

/// Four texels of one component around a place: lower left, lower right, upper right, upper left.
#[test]
fn four_texels_are_gathered() {
    let row = |n: u32, channel: u32| (n * 16 + channel * 3 + 5) as f32;
    let image: Vec<u8> = (0..SIZE[1] as u32)
        .flat_map(|y| {
            (0..SIZE[0] as u32)
                .flat_map(move |x| (0..4).map(move |channel| row(x, channel) + y as f32 * 1000.0))
        })
        .flat_map(f32::to_le_bytes)
        .collect();
    for (component, channel, name, reference) in [
        ("R", 0, "sample4", ""),
        ("G", 1, "sample4", ""),
        ("A", 3, "sample4", ""),
        ("B", 2, "sample4_c", "FX.0 "),
    ] {
        let read = format!("{name}.{component} (M1, 16) 0x0:uw S31 %bss D.0 {reference}FX.0 FY.0");
        let launch = launch(
            &kernel(&read, 0),
            ("2d", [16, 4, 1], "rgba32_float", &image),
            "rgba32_float",
            &[0; 256],
        );
        each_engine(&launch, &read, |session, name| {
            let out = words_of(&session.buffer(0).unwrap());
            for lane in 0..16_u32 {
                // The place is the corner between four texels.
                let (left, right) = (lane.saturating_sub(1), lane);
                let expected = [(left, 1.0), (right, 1.0), (right, 0.0), (left, 0.0)];
                for (n, (x, y)) in expected.into_iter().enumerate() {
                    let found = f32::from_bits(out[n * 16 + lane as usize]);
                    assert_eq!(
                        found,
                        row(x, channel) + y * 1000.0,
                        "{name}: lane {lane}, texel {n}"
                    );
                }
            }
        });
    }
}

/// Each lane updates one texel. Texels outside give 0, and the message does not write them.
#[test]
fn lsc_atomics_of_texels() {
    for (seed, op) in (1..).zip(LSC) {
        for shift in [0, 5] {
            let mut random = Random(seed * 91 + shift as u64);
            let [texels, first, second] =
                [64, 16, 16].map(|count| numbers(&mut random, op, 32, count));
            let bytes = |words: &[&[u64]]| {
                words.concat().iter().flat_map(|&word| (word as u32).to_le_bytes()).collect()
            };
            let given: Vec<u8> = bytes(&[&first, &second, &[0; 32]]);
            let image: Vec<u8> = bytes(&[&texels]);
            let operands = sources(op).replace('S', "D.0").replace('B', "D.64");
            let code = format!(
                "lsc_load.ugm (M1_NM, 1) D:d32x64t flat[OUT]:a64\n\
                 lsc_atomic_{op}.tgm (M1, 16) D.128:d32 bss(FROM)[X,Y]:a32 {operands}"
            );
            let format = if op.starts_with('f') { "r32_float" } else { "r32_uint" };
            let from = ("2d", [16, 4, 1], format, &image[..]);
            let launch = launch(&kernel(&code, shift), from, "rgba32_uint", &given);
            let mut expected: Vec<u32> = texels.iter().map(|&texel| texel as u32).collect();
            let given_back: Vec<u32> = (0..16)
                .map(|lane| match expected.get_mut(16 + lane + shift as usize) {
                    Some(texel) if lane + (shift as usize) < 16 => {
                        let old = *texel;
                        *texel = combine(op, 32, old.into(), [first[lane], second[lane]]) as u32;
                        old
                    }
                    _ => 0,
                })
                .collect();
            each_engine(&launch, &code, |session, name| {
                let out = words_of(&session.buffer(0).unwrap());
                assert_eq!(out[32..48], given_back, "{name}: what it gives");
                let found = words_of(&session.surface(surface_number(&launch, "from")).unwrap());
                assert_eq!(found, expected, "{name}: texels");
            });
        }
    }
}

/// `resinfo` returns the width, height, layers and levels.
#[test]
fn sizes_of_images() {
    let read = "resinfo.RGBA (M1_NM, 16) %bss %null.0 D.0\nmov (M1_NM, 16) X(0,0)<1> 0x100:ud";
    let from = ("2d_array", [16, 4, 3], "r32_uint", &[0; 16 * 4 * 3 * 4][..]);
    let launch = launch(&kernel(read, 0), from, "rgba32_uint", &[0; 256]);
    each_engine(&launch, read, |session, name| {
        let out = words_of(&session.buffer(0).unwrap());
        for lane in 0..16 {
            let found = [0, 1, 2, 3].map(|number| out[number * 16 + lane]);
            assert_eq!(found, [16, 4, 3, 1], "{name}: lane {lane}");
        }
    });
}

/// The bytes that a block stores outside of the image are dropped.
#[test]
fn media_blocks_are_stored() {
    for (x, y, width, height) in [(2_i32, 1_i32, 8, 2), (-2, -1, 8, 3), (13, 2, 4, 4)] {
        let write = format!(
            "movs (M1_NM, 1) %bss(0) FROM(0,0)<0;1,0>\nlsc_load.ugm (M1_NM, 1) D:d32x64t flat[OUT]:a64\n\
             media_st.nomod  ({width},{height}) %bss 0x0 {:#x}:d {:#x}:d D.0\nmov (M1_NM, 16) X(0,0)<1> 0x100:ud",
            x as u32, y as u32
        );
        let source: Vec<u8> = (0..256).map(|n| (n * 7 + 3) as u8).collect();
        let before: Vec<u8> = (0..64).map(|n| 200 - n).collect();
        let launch = launch(
            &kernel(&write, 0),
            ("2d", [16, 4, 1], "r8_uint", &before),
            "rgba32_uint",
            &source,
        );
        let mut expected = before.clone();
        for (column, row) in (0..width).flat_map(|column| (0..height).map(move |row| (column, row)))
        {
            let (to_x, to_y) = (x + column, y + row);
            if (0..16).contains(&to_x) && (0..4).contains(&to_y) {
                let pitch = (width as usize).next_power_of_two().max(4);
                expected[(to_y * 16 + to_x) as usize] =
                    source[row as usize * pitch + column as usize];
            }
        }
        each_engine(&launch, &write, |session, name| {
            assert_eq!(
                session.surface(surface_number(&launch, "from")).unwrap(),
                expected,
                "{name}"
            );
        });
    }
}

/// Bytes beyond the edges equal the nearest bytes of the image.
#[test]
fn media_blocks() {
    let image: Vec<u8> = (0..64).map(|n| n * 3 + 1).collect();
    for (x, y, width, height) in [(2, 1, 8, 2), (-2, -1, 8, 3), (13, 2, 4, 4), (0, 0, 3, 2)] {
        let read = format!(
            "media_ld.nomod  ({width},{height}) %bss 0x0 {:#x}:d {:#x}:d D.0",
            x as u32, y as u32
        );
        let launch = launch(
            &kernel(&read, 0),
            ("2d", [16, 4, 1], "r8_uint", &image),
            "rgba32_uint",
            &[0; 256],
        );
        each_engine(&launch, &read, |session, name| {
            let out = session.buffer(0).unwrap();
            for (column, row) in
                (0..width).flat_map(|column| (0..height).map(move |row| (column, row)))
            {
                let nearest = ((y + row).clamp(0, 3) * 16 + (x + column).clamp(0, 15)) as usize;
                let pitch = (width as usize).next_power_of_two().max(4);
                let found = out[row as usize * pitch + column as usize];
                assert_eq!(found, image[nearest], "{name}: column {column}, row {row}");
            }
        });
    }
}
