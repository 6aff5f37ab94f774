//! Messages on surfaces of every dimension, with and without layers, against a model.
//!
//! The model follows the facts (`visa-semantics.md` 7, "Surfaces and samplers"), the seed
//! (`intel-typed-atomic.md`, "Notes"), and for a sampler's layer OpenCL C, "Image read functions":
//! the nearest integer, clamped to the layers.

use warploom_replay::{Launch, Session};

use super::Random;
use super::visa_launch::{ENGINES, Files, words_of};

const LANES: usize = 16;

/// An image whose texels each hold one signed integer: the texel's number plus 100.
#[derive(Clone, Copy, Debug)]
pub(super) struct Image {
    pub dim: &'static str,
    pub size: [u32; 3],
}

pub(super) const IMAGES: [Image; 6] = [
    Image { dim: "1d_buffer", size: [7, 1, 1] },
    Image { dim: "1d", size: [7, 1, 1] },
    Image { dim: "1d_array", size: [7, 1, 3] },
    Image { dim: "2d", size: [5, 4, 1] },
    Image { dim: "2d_array", size: [5, 4, 3] },
    Image { dim: "3d", size: [5, 4, 3] },
];

impl Image {
    /// Returns how many of U, V, R are coordinates in texels.
    fn axes(self) -> usize {
        match self.dim {
            "2d" | "2d_array" => 2,
            "3d" => 3,
            _ => 1,
        }
    }

    fn has_layers(self) -> bool {
        self.dim.ends_with("array")
    }

    /// Returns how many of U, V, R the surface takes. With layers, the last of them is the layer.
    fn parameters(self) -> usize {
        self.axes() + usize::from(self.has_layers())
    }

    /// Returns the number of the texel at whole coordinates and a layer, or `None` outside.
    fn index(self, texel: [i64; 3], layer: i64) -> Option<usize> {
        let mut index = if self.has_layers() { layer } else { 0 };
        let mut inside = !self.has_layers() || (0..i64::from(self.size[2])).contains(&layer);
        for axis in (0..self.axes()).rev() {
            let size = i64::from(self.size[axis]);
            inside &= (0..size).contains(&texel[axis]);
            index = index * size + texel[axis];
        }
        inside.then_some(index as usize)
    }

    /// Returns the texel that U, V, R name, with offsets that do not move the layer.
    fn named(self, at: [i64; 3], offset: [i64; 3]) -> Option<usize> {
        let layer = at[self.axes().min(2)];
        self.index([0, 1, 2].map(|axis| at[axis] + offset[axis]), layer)
    }

    fn texels(self) -> Vec<u32> {
        (0..self.size.iter().product()).map(|n| n + 100).collect()
    }
}

/// Returns red, green, blue, alpha: the format has one component, and texels outside are 0.
fn channels(texel: Option<usize>) -> [u32; 4] {
    [texel.map_or(0, |texel| texel as u32 + 100), 0, 0, 1]
}

/// The code that provides the surface's handle.
pub(super) const HANDLES: [&str; 3] = [
    "movs (M1_NM, 1) %bss(0) IMAGE(0,0)<0;1,0>",
    // The handle is a sum that no compiler can fold.
    "lsc_load.ugm (M1_NM, 1) H:d32x1t flat[POOL+0x200]:a64\nadd (M1_NM, 1) H(0,0)<1> H(0,0)<0;1,0> IMAGE(0,0)<0;1,0>\n\
     movs (M1_NM, 1) %bss(0) H(0,0)<0;1,0>",
    "movs (M1_NM, 1) T6(0) 0x5:ud",
];

/// A sampler for messages that use none.
pub(super) const PLAIN: &str = "address = \"clamp_to_edge\", normalized = false";

/// The bytes of the operands: U, V, R and zeros at `A`, the stored data at `S`, and zeros.
const POOL: usize = 528;

/// Returns the launch of a message that has its operands in `A` and `S`, and its result in `D`.
pub(super) fn launch(
    image: Image,
    message: &str,
    handle: &str,
    pool: &[u32],
    sampler: &str,
) -> Launch {
    let text = format!(
        ".version 4.1\n.kernel \"k\"\n.decl IMAGE v_type=G type=ud num_elts=2 align=qword\n\
         .decl SAMPLER v_type=G type=ud num_elts=2 align=qword\n.decl POOL v_type=G type=uq num_elts=1 align=qword\n\
         .decl OUT v_type=G type=uq num_elts=1 align=qword\n.decl H v_type=G type=ud num_elts=8 align=GRF\n\
         .decl A v_type=G type=ud num_elts=64 align=GRF\n.decl S v_type=G type=ud num_elts=64 align=GRF\n\
         .decl D v_type=G type=ud num_elts=64 align=GRF\n.decl T6 v_type=T num_elts=1\n.input IMAGE offset=32 size=8\n\
         .input SAMPLER offset=40 size=8\n.input POOL offset=48 size=8\n.input OUT offset=56 size=8\n\
         .kernel_attr SimdSize=16\nmain:\nlsc_load.ugm (M1_NM, 1) A:d32x64t flat[POOL]:a64\n\
         lsc_load.ugm (M1_NM, 1) S:d32x64t flat[POOL+0x100]:a64\n{handle}\nmovs (M1_NM, 1) S31(0) SAMPLER(0,0)<0;1,0>\n{message}\n\
         lsc_store.ugm (M1_NM, 1) flat[OUT]:a64 D:d32x64t\nret (M1, 1)\n"
    );
    let text = if handle.contains("T6") { text.replace("%bss", "T6") } else { text };
    let arguments = "arg_bypointer:0:8:0:bindless:image,arg_bypointer:8:8:1:bindless:sampler,\
                     arg_bypointer:16:8:2:stateless:global,arg_bypointer:24:8:3:stateless:global,binding:0:5";
    let mut files = Files::new("dg2", 16, arguments);
    files.text(&text);
    let bytes =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    files.surface("image", image.dim, image.size, "r32_sint", &bytes(&image.texels()));
    files.arg(&format!("sampler = {{ filter = \"nearest\", {sampler} }}"));
    let mut pool = pool.to_vec();
    pool.resize(POOL / 4, 0);
    files.buffer("pool", &bytes(&pool), "u32");
    files.buffer("out", &[0; 256], "u32");
    files.launch([1, 1, 1], [LANES as u32, 1, 1])
}

/// Executes a message. `D` must hold the expected four channels of each lane; texels must match
/// too.
fn check(
    image: Image,
    message: &str,
    pool: &[u32],
    sampler: &str,
    expected: &[[u32; 4]],
    texels: &[u32],
) {
    for handle in HANDLES {
        let launch = launch(image, message, handle, pool, sampler);
        let out = launch.buffers.iter().position(|buffer| buffer.name == "out").unwrap();
        let threads = if handle == HANDLES[0] { 1..=2 } else { 1..=1 };
        for (engine, threads) in
            ENGINES.into_iter().flat_map(|engine| threads.clone().map(move |n| (engine, n)))
        {
            let name = format!("{engine}, {image:?}, {message}, {handle}, {sampler}");
            let session = Session::new(&launch).unwrap();
            let outcome = session.launch(&session.options(engine, threads), None).unwrap();
            assert!(outcome.fault.is_none(), "{name}: {}", outcome.fault.unwrap());
            let found = words_of(&session.buffer(out).unwrap());
            for (lane, expected) in expected.iter().enumerate() {
                let found = [0, 1, 2, 3].map(|channel| found[channel * LANES + lane]);
                assert_eq!(found, *expected, "{name}: lane {lane} of {pool:x?}");
            }
            assert_eq!(words_of(&session.surface(0).unwrap()), texels, "{name}: texels");
        }
    }
}

/// Returns each lane's coordinates: inside, at the edges and outside. Axes that the image lacks
/// have any value.
fn places(image: Image, random: &mut Random) -> Vec<[i64; 3]> {
    let mut place = |axis: usize| {
        let parameters = image.parameters();
        let size = i64::from(if image.has_layers() && axis + 1 == parameters {
            image.size[2]
        } else {
            image.size[axis]
        });
        match random.below(8) {
            0 => -1,
            1 => size,
            2 if axis >= parameters => 3,
            _ => random.below(size as u64) as i64,
        }
    };
    (0..LANES).map(|_| [0, 1, 2].map(&mut place)).collect()
}

/// Returns columns of coordinates, as registers hold them.
fn columns(places: &[[i64; 3]], bits: impl Fn(usize, i64) -> u32) -> Vec<u32> {
    (0..3)
        .flat_map(|axis| places.iter().map(|place| bits(axis, place[axis])).collect::<Vec<_>>())
        .collect()
}

/// Offsets, each with the immediate that encodes them.
const OFFSETS: [([i64; 3], &str); 3] =
    [([0, 0, 0], "0x0:uw"), ([1, -1, 0], "0x1f0:uw"), ([-2, 1, -1], "0xe1f:uw")];

#[test]
fn texels_are_fetched() {
    let mut random = Random(17);
    for image in IMAGES {
        let places = places(image, &mut random);
        let pool = columns(&places, |_, at| at as u32);
        for (offset, immediate) in OFFSETS {
            let named: Vec<_> =
                places.iter().map(|&at| channels(image.named(at, offset))).collect();
            let message = format!("load_lz.RGBA (M1, 16) {immediate} %bss D.0 A.0 A.64 A.128");
            check(image, &message, &pool, PLAIN, &named, &image.texels());
            for (level, expected) in [("%null.0", &named), ("S.0", &vec![channels(None); LANES])] {
                // The only level, and the next level.
                let mut pool = pool.clone();
                pool.resize(64, 0);
                pool.extend([1; LANES]);
                let message =
                    format!("load_3d.RGBA (M1, 16) {immediate} %bss D.0 A.0 A.64 {level} A.128");
                check(image, &message, &pool, PLAIN, expected, &image.texels());
            }
        }
    }
}

#[test]
fn texels_are_sampled() {
    let mut random = Random(29);
    for image in IMAGES.into_iter().filter(|image| image.dim != "1d_buffer") {
        let places = places(image, &mut random);
        for (address, normalized) in [
            ("clamp_to_edge", false),
            ("clamp_to_border", false),
            ("clamp_to_edge", true),
            ("clamp_to_border", true),
        ] {
            let sampler = format!("address = \"{address}\", normalized = {normalized}");
            let layer_axis = image.has_layers().then_some(image.axes());
            let float = |axis: usize, at: i64| {
                // Layer coordinates lie halfway between two layers: the even layer counts.
                let value = match layer_axis == Some(axis) {
                    true => at as f32 + 0.5,
                    false if normalized && axis < image.axes() => {
                        (at as f32 + 0.25) / image.size[axis] as f32
                    }
                    false => at as f32 + 0.25,
                };
                value.to_bits()
            };
            let pool = columns(&places, float);
            for (offset, immediate) in OFFSETS.into_iter().skip(usize::from(normalized)) {
                let clamped = |at: [i64; 3]| {
                    let layer = ((at[image.axes().min(2)] as f32 + 0.5).round_ties_even() as i64)
                        .clamp(0, 2);
                    let texel = [0, 1, 2].map(|axis| {
                        let place = at[axis] + offset[axis];
                        let edge = address == "clamp_to_edge";
                        if edge { place.clamp(0, i64::from(image.size[axis]) - 1) } else { place }
                    });
                    channels(image.index(texel, layer))
                };
                let expected: Vec<_> = places.iter().map(|&at| clamped(at)).collect();
                for message in [
                    "sample_lz.RGBA (M1, 16) # S31 %bss D.0 A.0 A.64 A.128",
                    "sample_l.RGBA (M1, 16) # S31 %bss D.0 %null.0 A.0 A.64 A.128",
                    "sample_3d.RGBA (M1, 16) # S31 %bss D.0 A.0 A.64 A.128",
                    "sample_b.RGBA (M1, 16) # S31 %bss D.0 %null.0 A.0 A.64 A.128",
                    "sample_c_lz.RGBA (M1, 16) # S31 %bss D.0 A.0 A.0 A.64 A.128",
                    "sample_d.RGBA (M1, 16) # S31 %bss D.0 A.0 %null.0 %null.0 A.64 %null.0 %null.0 A.128",
                ] {
                    check(
                        image,
                        &message.replace('#', immediate),
                        &pool,
                        &sampler,
                        &expected,
                        &image.texels(),
                    );
                }
            }
        }
    }
}

/// Offsets of LSC's messages also move the layer, because they are part of the operand.
#[test]
fn typed_messages() {
    let mut random = Random(43);
    for image in IMAGES {
        let places = places(image, &mut random);
        let mut pool = columns(&places, |_, at| at as u32);
        pool.resize(64, 0);
        pool.extend((0..64).map(|n| 7000 + n));
        for offset in [[0_i64; 3], [1, -1, 1]] {
            let moved = |at: [i64; 3]| [0, 1, 2].map(|axis| at[axis] + offset[axis]);
            let read: Vec<_> =
                places.iter().map(|&at| channels(image.named(moved(at), [0; 3]))).collect();
            let mut written = image.texels();
            let mut taken = vec![];
            // Each texel has one lane, so that the order of lanes does not matter.
            let mut pool = pool.clone();
            for (lane, &at) in places.iter().enumerate() {
                match image.named(moved(at), [0; 3]) {
                    Some(texel) if taken.contains(&texel) => pool[lane] = 1000,
                    Some(texel) => {
                        taken.push(texel);
                        written[texel] = 7000 + lane as u32;
                    }
                    None => {}
                }
            }
            let at = |n: usize| {
                let sign = if offset[n] < 0 { '-' } else { '+' };
                let offset = if offset[n] == 0 {
                    String::new()
                } else {
                    format!("{sign}{:#x}", offset[n].abs())
                };
                format!("A.{}{offset}", n * 64)
            };
            let lsc = (0..image.parameters()).map(at).collect::<Vec<_>>().join(",");
            let loads = format!("lsc_load_quad.tgm (M1, 16) D:d32.xyzw bss(IMAGE)[{lsc}]:a32");
            check(
                image,
                &loads,
                &columns(&places, |_, at| at as u32),
                PLAIN,
                &read,
                &image.texels(),
            );
            let stores = format!("lsc_store_quad.tgm (M1, 16) bss(IMAGE)[{lsc}]:a32 S:d32.xyzw");
            check(image, &stores, &pool, PLAIN, &[], &written);
            let exchanges =
                format!("lsc_atomic_store.tgm (M1, 16) D:d32 bss(IMAGE)[{lsc}]:a32 S %null");
            check(image, &exchanges, &pool, PLAIN, &[], &written);
            if offset == [0; 3] {
                let of = |n: usize| {
                    if n < image.parameters() { format!("A.{}", n * 64) } else { "%null.0".into() }
                };
                let operands = [0, 1, 2].map(of).join(" ");
                let loads = format!("gather4_typed.RGBA (M1, 16) %bss {operands} %null.0 D.0");
                check(image, &loads, &pool[..48], PLAIN, &reread(image, &pool), &image.texels());
                let stores = format!("scatter4_typed.RGBA (M1, 16) %bss {operands} %null.0 S.0");
                check(image, &stores, &pool, PLAIN, &[], &written);
                let exchanges =
                    format!("typed_atomic.xchg (M1, 16) %bss {operands} %null.0 S.0 %null.0 D.0");
                check(image, &exchanges, &pool, PLAIN, &[], &written);
            }
        }
    }
}

fn reread(image: Image, pool: &[u32]) -> Vec<[u32; 4]> {
    let at = |lane: usize| [0, 1, 2].map(|axis| i64::from(pool[axis * LANES + lane] as i32));
    (0..LANES).map(|lane| channels(image.named(at(lane), [0; 3]))).collect()
}

#[test]
fn sizes() {
    for image in IMAGES {
        let [width, height, depth] = image.size;
        let expected = match image.dim {
            "1d_array" => [width, depth, depth, 1],
            _ => [width, height, depth, 1],
        };
        let message = "resinfo.RGBA (M1_NM, 16) %bss %null.0 D.0";
        check(image, message, &[], PLAIN, &[expected; LANES], &image.texels());
    }
}
