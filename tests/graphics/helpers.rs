//! Helpers, uncovered or killed, take no part in stores and atomics of fragment programs, however
//! code switched their lanes on.
//!
//! Source: facts, `graphics.md`, section 2.4. A loop over the lanes that take part gives the
//! expected memory.

use std::fmt::Write;

use super::{assembled, list, run};

/// The number of lanes, with a short last wave.
const LANES: usize = 140;
/// The number of words of the buffer: lanes share the words from 0 on; each lane has its own word
/// from 64 on.
const WORDS: usize = 64 + LANES;
/// The number of columns and of rows of the image.
const IMAGE: [usize; 2] = [16, 9];

/// The way in which lanes become helpers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Whole quads run, and code switches lanes off for the access.
    WholeQuads,
    /// Whole quads run, and code kills some lanes before the access: they go on as helpers.
    Demoted,
    /// Killed lanes are off for good.
    Discarded,
    /// Hardware behaviour alone: uncovered lanes are off.
    Plain,
}

const WAYS: [Way; 4] = [Way::WholeQuads, Way::Demoted, Way::Discarded, Way::Plain];

/// The covered lanes: all, few, whole quads, none of a wave.
const COVERAGES: [fn(usize) -> bool; 5] = [
    |_| true,
    |lane| lane * 7 % 5 == 0,
    |lane| lane / 4 % 3 != 1,
    |lane| lane >= 64,
    |lane| lane == 77,
];

fn is_killed(lane: usize) -> bool {
    lane * 11 % 7 < 3
}

fn data(lane: usize) -> u32 {
    (lane as u32).wrapping_mul(0x9e37_79b9) >> 3
}

/// The effect of one lane's access on a word, given the lane's data. On shared words, the order of
/// lanes makes no difference.
type Act = fn(u32, u32) -> u32;

/// An access: its text, whether lanes share its words, and its effect.
///
/// v2 is the offset in bytes (for images, v4 and v5 are the place), v3 the data, s[4:5] the
/// buffer's address, s[8:11] its descriptor, s[16:23] the image's descriptor.
struct Access {
    text: &'static str,
    shared: bool,
    act: Act,
}

const fn access(text: &'static str, shared: bool, act: Act) -> Access {
    Access { text, shared, act }
}

const ACCESSES: [Access; 24] = [
    access("buffer_store_dword v3, v2, s[8:11], 0 offen", false, |_, data| data),
    access("buffer_store_format_x v3, v2, s[8:11], 0 offen", false, |_, data| data),
    access("buffer_atomic_add v3, v2, s[8:11], 0 offen", true, u32::wrapping_add),
    access("buffer_atomic_sub v3, v2, s[8:11], 0 offen", true, u32::wrapping_sub),
    access("buffer_atomic_umax v3, v2, s[8:11], 0 offen", true, |old, data| old.max(data)),
    access("buffer_atomic_smin v3, v2, s[8:11], 0 offen", true, |old, data| {
        (old as i32).min(data as i32) as u32
    }),
    access("buffer_atomic_swap v3, v2, s[8:11], 0 offen", false, |_, data| data),
    access("buffer_atomic_inc v3, v2, s[8:11], 0 offen", false, |old, data| {
        if old >= data { 0 } else { old + 1 }
    }),
    access("global_store_dword v2, v3, s[4:5]", false, |_, data| data),
    access("global_store_short v2, v3, s[4:5]", false, |old, data| {
        old & 0xffff_0000 | data & 0xffff
    }),
    access("global_atomic_or v2, v3, s[4:5]", true, |old, data| old | data),
    access("global_atomic_xor v2, v3, s[4:5]", true, |old, data| old ^ data),
    access("global_atomic_add v6, v2, v3, s[4:5] glc", true, u32::wrapping_add),
    access("global_atomic_smax v2, v3, s[4:5]", true, |old, data| {
        (old as i32).max(data as i32) as u32
    }),
    access("flat_store_dword v[10:11], v3", false, |_, data| data),
    access("flat_atomic_umin v[10:11], v3", true, |old, data| old.min(data)),
    access("image_store v3, v4, s[16:23] dmask:0x1 unorm", false, |_, data| data),
    access("image_atomic_add v3, v4, s[16:23] dmask:0x1 unorm", true, u32::wrapping_add),
    access("image_atomic_sub v3, v4, s[16:23] dmask:0x1 unorm", true, u32::wrapping_sub),
    access("image_atomic_umax v3, v4, s[16:23] dmask:0x1 unorm", true, |old, data| old.max(data)),
    access("image_atomic_and v3, v4, s[16:23] dmask:0x1 unorm", true, |old, data| old & data),
    access("image_atomic_swap v3, v4, s[16:23] dmask:0x1 unorm", false, |_, data| data),
    access("image_atomic_inc v3, v4, s[16:23] dmask:0x1 unorm glc", false, |old, data| {
        if old >= data { 0 } else { old + 1 }
    }),
    access("image_atomic_xor v3, v4, s[16:23] dmask:0x1 unorm", true, |old, data| old ^ data),
];

fn program(access: &Access, way: Way) -> String {
    let mut code = String::from(
        "v_add_co_u32_e32 v10, vcc, s4, v2\nv_mov_b32_e32 v11, s5\nv_addc_co_u32_e32 v11, vcc, 0, v11, vcc\n",
    );
    // v1 is 1 in lanes that are killed.
    let kill = "v_cmp_ne_u32_e32 vcc, 0, v1\n";
    // Helpers with other addresses would show in the derivative.
    let derivative = "v_mov_b32_dpp v7, v3 quad_perm:[1,1,3,3] row_mask:0xf bank_mask:0xf\n";
    let _ = match way {
        Way::WholeQuads => write!(
            code,
            "s_mov_b64 s[12:13], exec\ns_wqm_b64 exec, exec\n{derivative}s_mov_b64 s[14:15], exec\ns_mov_b64 exec, s[12:13]\n{0}\n\
             s_mov_b64 exec, s[14:15]\n{derivative}s_mov_b64 exec, s[12:13]\n",
            access.text
        ),
        Way::Demoted => write!(
            code,
            "s_mov_b64 s[12:13], exec\ns_wqm_b64 exec, exec\n{kill}s_andn2_b64 s[12:13], s[12:13], vcc\n\
             s_and_saveexec_b64 s[14:15], s[12:13]\n{0}\ns_mov_b64 exec, s[14:15]\n{derivative}s_mov_b64 exec, s[12:13]\n",
            access.text
        ),
        Way::Discarded => write!(code, "{kill}s_andn2_b64 exec, exec, vcc\n{0}\n", access.text),
        Way::Plain => writeln!(code, "{}", access.text),
    };
    code + "exp null off, off, off, off done vm"
}

#[test]
fn helpers_and_killed_lanes_change_nothing() {
    let word = |lane: usize, shared: bool| if shared { lane * 5 % 7 } else { 64 + lane };
    let texel = |lane: usize, shared: bool| if shared { lane * 5 % 7 } else { lane };
    for access in &ACCESSES {
        let image = access.text.starts_with("image");
        let place = |lane: usize| {
            if image { texel(lane, access.shared) } else { word(lane, access.shared) }
        };
        let columns = [
            (0..LANES).map(|lane| u32::from(is_killed(lane))).collect::<Vec<_>>(),
            (0..LANES).map(|lane| 4 * place(lane) as u32).collect(),
            (0..LANES).map(data).collect(),
            (0..LANES).map(|lane| (place(lane) % IMAGE[0]) as u32).collect(),
            (0..LANES).map(|lane| (place(lane) / IMAGE[0]) as u32).collect(),
        ];
        for covered in COVERAGES {
            for way in WAYS {
                let mut rest = String::from(
                    "[raw]\nvgprs = 12\n[[raw.sgpr]]\nfirst = 4\nbuffer = \"memory\"\n[[raw.sgpr]]\nfirst = 8\n\
                     buffer_descriptor = { buffer = \"memory\", word3 = 0x00024fac }\n\
                     [[raw.sgpr]]\nfirst = 16\nimage_descriptor = { surface = \"picture\" }\n",
                );
                for (column, first) in columns.iter().zip(1..) {
                    let _ =
                        writeln!(rest, "[[raw.vgpr]]\nfirst = {first}\nvalues = {}", list(column));
                }
                let initial: Vec<u32> =
                    (0..WORDS as u32).map(|i| i.wrapping_mul(0x85eb_ca6b) >> 5).collect();
                let _ = write!(
                    rest,
                    "[buffer.memory]\ndtype = \"u32\"\nvalues = {initial:?}\n\
                     [surface.picture]\ndim = \"2d\"\nsize = [{}, {}]\nformat = \"r32_uint\"\n[pixels]\ncovered = {}\n",
                    IMAGE[0],
                    IMAGE[1],
                    list((0..LANES).map(|lane| u32::from(covered(lane))))
                );
                let launch = assembled(&program(access, way), "fragment", &rest)
                    .unwrap_or_else(|error| panic!("{error}"));
                let label = format!("{} {way:?}", access.text);
                let (session, exported) = run(&launch, &label);
                let takes_part = |lane: usize| {
                    covered(lane)
                        && (matches!(way, Way::WholeQuads | Way::Plain) || !is_killed(lane))
                };
                let mut expected = if image { vec![0; IMAGE[0] * IMAGE[1]] } else { initial };
                for lane in (0..LANES).filter(|&lane| takes_part(lane)) {
                    let word = &mut expected[place(lane)];
                    *word = (access.act)(*word, data(lane));
                }
                let got = if image { session.surface(0) } else { session.buffer(0) }.unwrap();
                let got: Vec<u32> =
                    got.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
                assert_eq!(got, expected, "{label}");
                let kept: Vec<bool> = (0..LANES).map(takes_part).collect();
                assert_eq!(exported.kept, kept, "{label}");
            }
        }
    }
}
