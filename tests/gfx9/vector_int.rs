//! Vector integer instructions in VOP1, VOP2 and VOP3, each against plain Rust.

use Width::{Half, HalfKept, Long, Word};

use super::operands::{Random, Width, check};
use super::support::{EXEC, LANES, Probe, State, VCC};

type Reference = fn([u64; 3]) -> u64;

fn low(x: u64) -> u64 {
    x & 0xffff_ffff
}

fn s(x: u64) -> i64 {
    i64::from(x as i32)
}

fn h(x: u64) -> i64 {
    i64::from(x as i16)
}

fn u(x: i64) -> u64 {
    x as u64
}

fn low24(x: u64) -> u64 {
    x & 0xff_ffff
}

fn signed24(x: u64) -> i64 {
    (x << 40) as i64 >> 40
}

fn median(x: [i64; 3]) -> u64 {
    let mut x = x;
    x.sort_unstable();
    x[1] as u64
}

/// Returns up to `width` bits from `offset` on; for signed numbers, the sign continues.
fn field(x: u64, offset: u64, width: u64, signed: bool) -> u64 {
    let moved = if signed { (s(x) >> (offset & 31)) as u64 } else { x >> (offset & 31) };
    match width & 31 {
        0 => 0,
        width if signed => ((moved << (64 - width)) as i64 >> (64 - width)) as u64,
        width => moved & ((1 << width) - 1),
    }
}

fn permuted([x, y, selector]: [u64; 3]) -> u64 {
    let bytes = (x << 32 | low(y)).to_le_bytes();
    let byte = |selector: u8| match selector {
        0..8 => bytes[usize::from(selector)],
        8..12 => (bytes[usize::from(selector) % 4 * 2 + 1] as i8 >> 7) as u8,
        12 => 0,
        _ => 255,
    };
    u32::from_le_bytes((selector as u32).to_le_bytes().map(byte)).into()
}

fn byte(x: u64, n: u32) -> u64 {
    x >> (8 * n) & 255
}

/// Returns the sum of the bytes' differences; `masked` skips bytes that are 0 in `b`.
fn differences(a: u64, b: u64, masked: bool) -> u64 {
    (0..4).filter(|&n| !masked || byte(b, n) != 0).map(|n| byte(a, n).abs_diff(byte(b, n))).sum()
}

fn packed_differences([a, b, c]: [u64; 3], masked: bool, clamp: bool) -> u64 {
    let half = |n: u32| {
        let sum = differences(a >> (8 * n), b, masked) + (c >> (16 * n) & 0xffff);
        if clamp { sum.min(0xffff) } else { sum & 0xffff }
    };
    (0..4).fold(0, |all, n| all | half(n) << (16 * n))
}

fn lerp([a, b, c]: [u64; 3]) -> u64 {
    (0..4).fold(0, |all, n| all | ((byte(a, n) + byte(b, n) + (byte(c, n) & 1)) / 2) << (8 * n))
}

fn first(bits: impl Iterator<Item = bool>) -> u64 {
    bits.enumerate().find(|&(_, set)| set).map_or(0xffff_ffff, |(n, _)| n as u64)
}

fn bit(x: u64, n: u32) -> bool {
    x >> n & 1 != 0
}

const W: [Width; 3] = [Word; 3];

/// Instructions on words: the operands and the result are cut to 32 bits.
const WORDS: &[(&str, usize, Reference)] = &[
    ("v_mov_b32", 1, |[x, ..]| x),
    ("v_not_b32", 1, |[x, ..]| !x),
    ("v_bfrev_b32", 1, |[x, ..]| (x as u32).reverse_bits().into()),
    ("v_ffbh_u32", 1, |[x, ..]| first((0..32).rev().map(|n| bit(x, n)))),
    ("v_ffbl_b32", 1, |[x, ..]| first((0..32).map(|n| bit(x, n)))),
    ("v_ffbh_i32", 1, |[x, ..]| first((0..32).rev().map(|n| bit(x, n) != bit(x, 31)))),
    ("v_mul_i32_i24", 2, |[x, y, _]| u(signed24(x) * signed24(y))),
    ("v_mul_hi_i32_i24", 2, |[x, y, _]| u((signed24(x) * signed24(y)) >> 32)),
    ("v_mul_u32_u24", 2, |[x, y, _]| low24(x) * low24(y)),
    ("v_mul_hi_u32_u24", 2, |[x, y, _]| (low24(x) * low24(y)) >> 32),
    ("v_min_i32", 2, |[x, y, _]| u(s(x).min(s(y)))),
    ("v_max_i32", 2, |[x, y, _]| u(s(x).max(s(y)))),
    ("v_min_u32", 2, |[x, y, _]| x.min(y)),
    ("v_max_u32", 2, |[x, y, _]| x.max(y)),
    ("v_lshrrev_b32", 2, |[n, x, _]| x >> (n & 31)),
    ("v_ashrrev_i32", 2, |[n, x, _]| u(s(x) >> (n & 31))),
    ("v_lshlrev_b32", 2, |[n, x, _]| x << (n & 31)),
    ("v_and_b32", 2, |[x, y, _]| x & y),
    ("v_or_b32", 2, |[x, y, _]| x | y),
    ("v_xor_b32", 2, |[x, y, _]| x ^ y),
    ("v_xnor_b32", 2, |[x, y, _]| !(x ^ y)),
    ("v_add_u32", 2, |[x, y, _]| x + y),
    ("v_sub_u32", 2, |[x, y, _]| x.wrapping_sub(y)),
    ("v_subrev_u32", 2, |[x, y, _]| y.wrapping_sub(x)),
    ("v_add_i32", 2, |[x, y, _]| x + y),
    ("v_sub_i32", 2, |[x, y, _]| x.wrapping_sub(y)),
    ("v_mul_lo_u32", 2, |[x, y, _]| x.wrapping_mul(y)),
    ("v_mul_hi_u32", 2, |[x, y, _]| (x * y) >> 32),
    ("v_mul_hi_i32", 2, |[x, y, _]| u((s(x) * s(y)) >> 32)),
    ("v_bcnt_u32_b32", 2, |[x, y, _]| u64::from(x.count_ones()) + y),
    ("v_bfm_b32", 2, |[n, at, _]| ((1 << (n & 31)) - 1) << (at & 31)),
    ("v_cvt_pk_u16_u32", 2, |[x, y, _]| x.min(0xffff) | y.min(0xffff) << 16),
    ("v_cvt_pk_i16_i32", 2, |[x, y, _]| {
        let half = |x| u(s(x).clamp(-0x8000, 0x7fff)) & 0xffff;
        half(x) | half(y) << 16
    }),
    ("v_mad_i32_i24", 3, |[x, y, z]| u(signed24(x) * signed24(y)).wrapping_add(z)),
    ("v_mad_u32_u24", 3, |[x, y, z]| low24(x) * low24(y) + z),
    ("v_bfe_u32", 3, |[x, at, n]| field(x, at, n, false)),
    ("v_bfe_i32", 3, |[x, at, n]| field(x, at, n, true)),
    ("v_bfi_b32", 3, |[x, y, z]| x & y | !x & z),
    ("v_lerp_u8", 3, lerp),
    ("v_alignbit_b32", 3, |[x, y, n]| (x << 32 | y) >> (n & 31)),
    ("v_alignbyte_b32", 3, |[x, y, n]| (x << 32 | y) >> (8 * (n & 3))),
    ("v_min3_i32", 3, |[x, y, z]| u(s(x).min(s(y)).min(s(z)))),
    ("v_min3_u32", 3, |[x, y, z]| x.min(y).min(z)),
    ("v_max3_i32", 3, |[x, y, z]| u(s(x).max(s(y)).max(s(z)))),
    ("v_max3_u32", 3, |[x, y, z]| x.max(y).max(z)),
    ("v_med3_i32", 3, |x| median(x.map(s))),
    ("v_med3_u32", 3, |x| median(x.map(|x| x as i64))),
    ("v_sad_u8", 3, |[x, y, z]| differences(x, y, false) + z),
    ("v_sad_hi_u8", 3, |[x, y, z]| (differences(x, y, false) << 16) + z),
    ("v_sad_u16", 3, |[x, y, z]| {
        (x & 0xffff).abs_diff(y & 0xffff) + (x >> 16).abs_diff(y >> 16) + z
    }),
    ("v_sad_u32", 3, |[x, y, z]| x.abs_diff(y) + z),
    ("v_msad_u8", 3, |[x, y, z]| differences(x, y, true) + z),
    ("v_perm_b32", 3, permuted),
    ("v_mad_u32_u16", 3, |[x, y, z]| (x & 0xffff) * (y & 0xffff) + z),
    ("v_mad_i32_i16", 3, |[x, y, z]| u(h(x) * h(y)).wrapping_add(z)),
    ("v_xad_u32", 3, |[x, y, z]| (x ^ y) + z),
    ("v_lshl_add_u32", 3, |[x, n, z]| (x << (n & 31)) + z),
    ("v_add_lshl_u32", 3, |[x, y, n]| (x + y) << (n & 31)),
    ("v_add3_u32", 3, |[x, y, z]| x + y + z),
    ("v_lshl_or_b32", 3, |[x, n, z]| x << (n & 31) | z),
    ("v_and_or_b32", 3, |[x, y, z]| x & y | z),
    ("v_or3_b32", 3, |[x, y, z]| x | y | z),
];

/// Instructions on halves, with flags for signed operands and for whether clamping applies.
const HALVES: &[(&str, usize, fn([i64; 3]) -> i64, bool, bool)] = &[
    ("v_add_u16", 2, |[x, y, _]| x + y, false, true),
    ("v_sub_u16", 2, |[x, y, _]| x - y, false, true),
    ("v_subrev_u16", 2, |[x, y, _]| y - x, false, true),
    ("v_mul_lo_u16", 2, |[x, y, _]| x * y, false, false),
    ("v_lshlrev_b16", 2, |[n, x, _]| x << (n & 15), false, false),
    ("v_lshrrev_b16", 2, |[n, x, _]| x >> (n & 15), false, false),
    ("v_ashrrev_i16", 2, |[n, x, _]| x >> (n & 15), true, false),
    ("v_max_u16", 2, |[x, y, _]| x.max(y), false, false),
    ("v_max_i16", 2, |[x, y, _]| x.max(y), true, false),
    ("v_min_u16", 2, |[x, y, _]| x.min(y), false, false),
    ("v_min_i16", 2, |[x, y, _]| x.min(y), true, false),
    ("v_mad_legacy_u16", 3, |[x, y, z]| x * y + z, false, true),
    ("v_mad_legacy_i16", 3, |[x, y, z]| x * y + z, true, true),
    ("v_add_i16", 2, |[x, y, _]| x + y, true, true),
    ("v_sub_i16", 2, |[x, y, _]| x - y, true, true),
    ("v_mad_u16", 3, |[x, y, z]| x * y + z, false, true),
    ("v_mad_i16", 3, |[x, y, z]| x * y + z, true, true),
    ("v_min3_i16", 3, |[x, y, z]| x.min(y).min(z), true, false),
    ("v_min3_u16", 3, |[x, y, z]| x.min(y).min(z), false, false),
    ("v_max3_i16", 3, |[x, y, z]| x.max(y).max(z), true, false),
    ("v_max3_u16", 3, |[x, y, z]| x.max(y).max(z), false, false),
    ("v_med3_i16", 3, |x| median(x) as i64, true, false),
    ("v_med3_u16", 3, |x| median(x) as i64, false, false),
];

/// Instructions that only VOP3 has: they choose halves and keep the destination's other half.
const KEEPING: [&str; 10] = [
    "v_add_i16",
    "v_sub_i16",
    "v_mad_u16",
    "v_mad_i16",
    "v_min3_i16",
    "v_min3_u16",
    "v_max3_i16",
    "v_max3_u16",
    "v_med3_i16",
    "v_med3_u16",
];

const EDGES: [u64; 22] = [
    0,
    1,
    2,
    4,
    7,
    16,
    31,
    33,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7f_ffff,
    0x80_0000,
    0xff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0xff80_7f01,
    0x0c0d_070b,
    0x0a09_0804,
];

/// Returns all pairs of edge cases as the first two operands, then random rows. A wave's lanes run
/// a part of the rows.
fn rows() -> Vec<[u64; 3]> {
    let mut random = Random::new(99);
    let mut third = EDGES.iter().cycle();
    let mut rows = Vec::new();
    for a in EDGES {
        for b in EDGES {
            rows.push([a, b, *third.next().expect("one more")]);
        }
        third.next();
    }
    rows.extend(
        (0..64 * 2).map(|n| [(); 3].map(|()| random.next() >> if n % 4 == 0 { 56 } else { 32 })),
    );
    rows
}

/// Returns rows with upper words for 64-bit operands.
fn long_rows() -> Vec<[u64; 3]> {
    let rows = rows();
    let upper = rows.iter().rev().map(|row| [row[1], row[2], row[0]]);
    rows.iter().zip(upper).map(|(a, b)| [0, 1, 2].map(|n| a[n] | b[n] << 32)).collect()
}

fn sources(arity: usize) -> String {
    ["v2", "v4", "v6"][..arity].join(", ")
}

#[test]
fn words() {
    for &(name, arity, reference) in WORDS {
        check(&format!("{name} v0, {}", sources(arity)), 0x3f0, W, Word, &rows(), |x| {
            low(reference(x))
        });
    }
}

#[test]
fn halves() {
    let rows: Vec<[u64; 3]> = rows().iter().map(|row| row.map(|x| x & 0xffff)).collect();
    for &(name, arity, exact, signed, clamps) in HALVES {
        let dst = if KEEPING.contains(&name) { HalfKept } else { Half };
        let number = |x: u64| if signed { h(x) } else { x as i64 };
        for clamp in [false, true].into_iter().take(if clamps { 2 } else { 1 }) {
            let text =
                format!("{name} v0, {}{}", sources(arity), if clamp { " clamp" } else { "" });
            check(&text, 0x3f0, [Half; 3], dst, &rows, |x| {
                let exact = exact(x.map(number));
                let (least, most) = if signed { (-0x8000, 0x7fff) } else { (0, 0xffff) };
                u(if clamp { exact.clamp(least, most) } else { exact }) & 0xffff
            });
        }
    }
    check("v_sat_pk_u8_i16 v0, v2", 0x3f0, W, Word, &long_rows(), |[x, ..]| {
        u(h(x).clamp(0, 255)) | u(h(x >> 16).clamp(0, 255)) << 8
    });
    // Selects the upper halves.
    let numbered: Vec<[u64; 3]> = super::vector_int::rows()
        .iter()
        .enumerate()
        .map(|(n, row)| [row[0], row[1], n as u64 % 64])
        .collect();
    check("v_add_i16 v0, v2, v4 op_sel:[1,0,1]", 0x3f0, W, Word, &numbered, |[x, y, lane]| {
        ((x >> 16) + y) << 16 & 0xffff_0000 | lane
    });
    check("v_pack_b32_f16 v0, v2, v4", 0x3f0, W, Word, &numbered, |[x, y, _]| {
        x & 0xffff | y << 16 & 0xffff_0000
    });
    check("v_pack_b32_f16 v0, v2, v4 op_sel:[1,1,0]", 0x3f0, W, Word, &numbered, |[x, y, _]| {
        x >> 16 | y & 0xffff_0000
    });
}

#[test]
fn clamped() {
    let cases: &[(&str, usize, fn([i128; 3]) -> i128, bool)] = &[
        ("v_add_u32", 2, |[x, y, _]| x + y, false),
        ("v_sub_u32", 2, |[x, y, _]| x - y, false),
        ("v_subrev_u32", 2, |[x, y, _]| y - x, false),
        ("v_add_i32", 2, |[x, y, _]| x + y, true),
        ("v_sub_i32", 2, |[x, y, _]| x - y, true),
        ("v_sad_u32", 3, |[x, y, z]| (x - y).abs() + z, false),
    ];
    for &(name, arity, exact, signed) in cases {
        let text = format!("{name} v0, {} clamp", sources(arity));
        check(&text, 0x3f0, W, Word, &rows(), |x| {
            let number = |x: u64| if signed { i128::from(x as i32) } else { i128::from(x as u32) };
            let (least, most) =
                if signed { (i32::MIN.into(), i32::MAX.into()) } else { (0, u32::MAX.into()) };
            low(exact(x.map(number)).clamp(least, most) as u64)
        });
    }
    let text = "v_mad_u32_u24 v0, v2, v4, v6 clamp";
    check(text, 0x3f0, W, Word, &rows(), |[x, y, z]| (low24(x) * low24(y) + z).min(0xffff_ffff));
    check("v_mad_i32_i24 v0, v2, v4, v6 clamp", 0x3f0, W, Word, &rows(), |[x, y, z]| {
        low(u((signed24(x) * signed24(y) + s(z)).clamp(i32::MIN.into(), i32::MAX.into())))
    });
}

#[test]
fn long_words() {
    let rows = long_rows();
    let shift = [Word, Long, Word];
    check("v_lshlrev_b64 v[0:1], v2, v[4:5]", 0x3f0, shift, Long, &rows, |[n, x, _]| x << (n & 63));
    check("v_lshrrev_b64 v[0:1], v2, v[4:5]", 0x3f0, shift, Long, &rows, |[n, x, _]| x >> (n & 63));
    check("v_ashrrev_i64 v[0:1], v2, v[4:5]", 0x3f0, shift, Long, &rows, |[n, x, _]| {
        u(x as i64 >> (n & 63))
    });
    for (name, masked) in [("v_qsad_pk_u16_u8", false), ("v_mqsad_pk_u16_u8", true)] {
        for (form, clamp) in [("", false), (" clamp", true)] {
            let text = format!("{name} v[0:1], v[2:3], v4, v[6:7]{form}");
            check(&text, 0x3f0, [Long, Word, Long], Long, &rows, |[a, b, c]| {
                packed_differences([a, low(b), c], masked, clamp)
            });
        }
    }
}

/// Runs an instruction on v2, v4 and v6, with VCC and some lanes inactive, and compares the whole
/// state.
fn wave(text: &str, reference: impl Fn(&mut State, usize, [u64; 3], bool)) {
    let probe = Probe::new(&[text], 0x3f0);
    for (n, chunk) in long_rows().chunks(LANES).enumerate() {
        let mut before = State::new();
        for (lane, row) in chunk.iter().enumerate() {
            (0..3).for_each(|n| before.set_long(2 + 2 * n, lane, row[n]));
        }
        let exec = [u64::MAX, 0xffff_0f0f_1234_fffe, 0, 1 << 63][n % 4];
        before.set_pair(EXEC, exec);
        before.set_pair(VCC, 0x5a5a_ffff_1357_0000);
        let mut expected = before.clone();
        // Bits of inactive lanes become 0.
        if text.contains("s[6:7],") {
            expected.set_pair(6, 0);
        } else if text.contains("_co_") && text.matches("vcc").count() > 0 {
            expected.set_pair(VCC, 0);
        }
        for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
            let row = [2, 4, 6].map(|number| before.long(number, lane));
            reference(&mut expected, lane, row, before.pair(VCC) >> lane & 1 != 0);
        }
        for (engine, found) in probe.run(&before) {
            for lane in 0..LANES {
                let of = |state: &State| {
                    (state.long(0, lane), state.pair(VCC) >> lane & 1, state.pair(6) >> lane & 1)
                };
                let (f, e) = (of(&found), of(&expected));
                assert!(f == e, "{engine}, {text}, {exec:x}, lane {lane}: {f:x?} for {e:x?}");
            }
            assert!(found == expected, "{engine}, {text}, {exec:x}: another register changed");
        }
    }
}

fn set_bit(state: &mut State, pair: usize, lane: usize, bit: bool) {
    let bits = state.pair(pair) & !(1 << lane) | u64::from(bit) << lane;
    state.set_pair(pair, bits);
}

#[test]
fn carries() {
    type Exact = fn(i64, i64, i64) -> i64;
    let cases: [(&str, bool, Exact); 6] = [
        ("v_add_co_u32", false, |x, y, _| x + y),
        ("v_sub_co_u32", false, |x, y, _| x - y),
        ("v_subrev_co_u32", false, |x, y, _| y - x),
        ("v_addc_co_u32", true, |x, y, c| x + y + c),
        ("v_subb_co_u32", true, |x, y, c| x - y - c),
        ("v_subbrev_co_u32", true, |x, y, c| y - x - c),
    ];
    for (name, takes, exact) in cases {
        for (to, pair) in [("vcc", VCC), ("s[6:7]", 6)] {
            let text = format!("{name} v0, {to}, v2, v4{}", if takes { ", vcc" } else { "" });
            for clamp in [false, true].into_iter().take(if pair == 6 { 2 } else { 1 }) {
                let text = format!("{text}{}", if clamp { " clamp" } else { "" });
                wave(&text, |state, lane, [x, y, _], carry| {
                    let exact = exact(low(x) as i64, low(y) as i64, carry.into());
                    let most = i64::from(u32::MAX);
                    state.vectors[0][lane] =
                        (if clamp { exact.clamp(0, most) } else { exact }) as u32;
                    set_bit(state, pair, lane, !(0..=most).contains(&exact));
                });
            }
        }
    }
}

#[test]
fn wide_products() {
    for (form, clamp) in [("", false), (" clamp", true)] {
        wave(
            &format!("v_mad_u64_u32 v[0:1], s[6:7], v2, v4, v[6:7]{form}"),
            |state, lane, [x, y, z], _| {
                let exact = u128::from(low(x) * low(y)) + u128::from(z);
                let carry = exact >> 64 != 0;
                state.set_long(0, lane, if clamp && carry { u64::MAX } else { exact as u64 });
                set_bit(state, 6, lane, carry);
            },
        );
        // Bit 64 of the 65-bit sum is the carry.
        wave(
            &format!("v_mad_i64_i32 v[0:1], s[6:7], v2, v4, v[6:7]{form}"),
            |state, lane, [x, y, z], _| {
                let exact = i128::from(s(x) * s(y)) + i128::from(z as i64);
                let clamped = exact.clamp(i64::MIN.into(), i64::MAX.into());
                state.set_long(0, lane, if clamp { clamped } else { exact } as u64);
                set_bit(state, 6, lane, exact < 0);
            },
        );
    }
    wave("v_mqsad_u32_u8 v[8:11], v[2:3], v4, v[4:7]", |state, lane, [a, b, c], _| {
        let before = [b, b >> 32, c, c >> 32].map(low);
        for n in 0..4 {
            let sum = differences(a >> (8 * n), low(b), true) + before[n];
            state.vectors[8 + n][lane] = sum as u32;
        }
    });
}

#[test]
fn selection_and_exchange() {
    wave("v_cndmask_b32 v0, v2, v4, vcc", |state, lane, [x, y, _], takes| {
        state.vectors[0][lane] = if takes { y } else { x } as u32;
    });
    wave("v_swap_b32 v2, v4", |state, lane, [x, y, _], _| {
        (state.vectors[2][lane], state.vectors[4][lane]) = (y as u32, x as u32);
    });
    wave("v_mbcnt_lo_u32_b32 v0, v2, v4", |state, lane, [x, y, _], _| {
        let below = u32::MAX.unbounded_shr(32u32.saturating_sub(lane as u32));
        state.vectors[0][lane] = (x as u32 & below).count_ones().wrapping_add(y as u32);
    });
    wave("v_mbcnt_hi_u32_b32 v0, v2, v4", |state, lane, [x, y, _], _| {
        let below = u32::MAX.unbounded_shr(64 - (lane as u32).max(32));
        state.vectors[0][lane] = (x as u32 & below).count_ones().wrapping_add(y as u32);
    });
    wave("v_mbcnt_lo_u32_b32 v0, -1, 0", |state, lane, _, _| {
        state.vectors[0][lane] = lane.min(32) as u32
    });
}
