//! Integer operations.

use super::{Expected, Random, Same, check};

const ALL: Same = |found, expected| found == expected;
/// Accepts an equal low word, for kernels that return a 32-bit unsigned number.
const LOW: Same = |found, expected| found as u32 == expected as u32;
const WORD: u64 = 0xffff_ffff;

pub const EDGES: [u64; 22] = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    63,
    64,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    0xffff_ffff_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_8000_0000,
    u64::MAX,
];

/// Returns an edge case, a number with few or many digits, or an arbitrary number.
pub fn operand(random: &mut Random) -> u64 {
    let (choice, bits) = (random.bits() % 4, random.bits());
    match choice {
        0 => EDGES[bits as usize % EDGES.len()],
        1 => bits >> (random.bits() % 64),
        2 => (bits as i64 >> (random.bits() % 64)) as u64,
        _ => bits,
    }
}

#[test]
fn integer_operations() {
    check("integer.sm_50.cubin", operand, &EDGES, KERNELS);
}

fn mulhi_s32(x: u64, y: u64) -> i64 {
    (i64::from(x as i32) * i64::from(y as i32)) >> 32
}

fn low24(x: u64) -> i64 {
    i64::from((x as i32) << 8 >> 8)
}

/// Returns the result of PTX `bfe`: bits past 31 read as 0, or in signed numbers as the sign of the
/// field.
pub fn bfe(a: u32, pos: u32, len: u32, signed: bool) -> u32 {
    let sign_at = pos.saturating_add(len.saturating_sub(1)).min(31);
    let sign = signed && len > 0 && a >> sign_at & 1 != 0;
    (0..32).fold(0, |result, i| {
        let inside = i < len && pos + i <= 31;
        let bit = if inside { a >> (pos + i) & 1 != 0 } else { sign };
        result | u32::from(bit) << i
    })
}

/// Returns the result of PTX `bfi`.
pub fn bfi(a: u32, b: u32, pos: u32, len: u32) -> u32 {
    (0..len)
        .take_while(|i| pos + i <= 31)
        .fold(b, |result, i| result & !(1 << (pos + i)) | (a >> i & 1) << (pos + i))
}

pub fn prmt(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let pick = |i: u32| {
        let nibble = selector >> (4 * i) & 0xf;
        let byte = bytes[nibble as usize & 7];
        if nibble & 8 != 0 { if byte & 0x80 != 0 { 0xff } else { 0 } } else { byte }
    };
    u32::from_le_bytes([pick(0), pick(1), pick(2), pick(3)])
}

pub fn prmt_mode(a: u64, b: u64, n: u64, index: fn(u32, u32) -> u32) -> u64 {
    let n = n as u32 & 3;
    let selector = (0..4).fold(0, |selector, i| selector | index(n, i) << (4 * i));
    prmt(a as u32, b as u32, selector).into()
}

pub fn lop3(lut: u8, x: u64, y: u64, z: u64) -> u64 {
    (0..32).fold(0, |result, i| {
        let bit = |value: u64| value >> i & 1;
        result | u64::from(lut >> (bit(x) * 4 + bit(y) * 2 + bit(z)) & 1) << i
    })
}

fn relations<T: PartialOrd>(x: T, y: T) -> u64 {
    let bits = [x < y, x <= y, x == y, x != y, x > y, x >= y];
    bits.iter().enumerate().fold(0, |all, (i, &bit)| all | u64::from(bit) << i)
}

fn shl(x: u32, count: u64) -> u32 {
    x.checked_shl(count as u32).unwrap_or(0)
}

fn shr(x: u32, count: u64) -> u32 {
    x.checked_shr(count as u32).unwrap_or(0)
}

fn sar(x: u32, count: u64) -> u32 {
    (x as i32 >> (count as u32).min(31)) as u32
}

fn s(x: u64) -> i32 {
    x as i32
}

fn w(x: u64) -> u32 {
    x as u32
}

/// Returns the divisor that the kernels use.
fn some(y: u64) -> u64 {
    y.max(1)
}

fn some_s32(x: u64, y: u64) -> i32 {
    if s(y) == 0 || (s(x) == i32::MIN && s(y) == -1) { 1 } else { s(y) }
}

fn some_s64(y: u64) -> i64 {
    if y == 0 || y as i64 == -1 { 1 } else { y as i64 }
}

fn wide(x: u64, y: u64) -> u64 {
    (y & WORD) << 32 | (x & WORD)
}

/// Returns the final mix of Splitmix64.
fn mix(z: u64) -> u64 {
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

const KERNELS: &[(&str, Same, Expected)] = &[
    ("add", LOW, |x, y, _| x.wrapping_add(y)),
    ("sub", LOW, |x, y, _| x.wrapping_sub(y)),
    ("neg", LOW, |x, _, _| x.wrapping_neg()),
    ("add3", LOW, |x, y, z| x.wrapping_add(y).wrapping_add(z)),
    ("sub3", LOW, |x, y, z| x.wrapping_sub(y).wrapping_sub(z)),
    ("addsub", LOW, |x, y, z| x.wrapping_sub(y).wrapping_add(z)),
    ("mul", LOW, |x, y, _| x.wrapping_mul(y)),
    ("mul_const", LOW, |x, _, _| x.wrapping_mul(0x9e37_79b9)),
    ("mul_small", LOW, |x, _, _| x.wrapping_mul(13)),
    ("mad", LOW, |x, y, z| x.wrapping_mul(y).wrapping_add(z)),
    ("msub", LOW, |x, y, z| z.wrapping_sub(x.wrapping_mul(y))),
    ("mul_hi_u32", LOW, |x, y, _| (x & WORD).wrapping_mul(y & WORD) >> 32),
    ("mul_hi_s32", LOW, |x, y, _| mulhi_s32(x, y) as u64),
    ("mad_hi_u32", LOW, |x, y, z| ((x & WORD).wrapping_mul(y & WORD) >> 32).wrapping_add(z)),
    ("mad_hi_s32", LOW, |x, y, z| (mulhi_s32(x, y) as u64).wrapping_add(z)),
    ("mad_hi_sat", LOW, |x, y, z| u64::from((mulhi_s32(x, y) as i32).saturating_add(s(z)) as u32)),
    ("mad24_lo_s32", LOW, |x, y, z| ((low24(x) * low24(y)) as u64).wrapping_add(z)),
    ("mad24_hi_u32", LOW, |x, y, z| (((x & 0xff_ffff) * (y & 0xff_ffff)) >> 16).wrapping_add(z)),
    ("mul24_u32", LOW, |x, y, _| (x & 0xff_ffff) * (y & 0xff_ffff)),
    ("mul24_s32", LOW, |x, y, _| (low24(x) * low24(y)) as u64),
    ("mul_wide_u32", ALL, |x, y, _| (x & WORD).wrapping_mul(y & WORD)),
    ("mul_wide_s32", ALL, |x, y, _| (i64::from(s(x)) * i64::from(s(y))) as u64),
    ("mul_u16", LOW, |x, y, _| (x & 0xffff) * (y & 0xffff)),
    ("mul_s16", LOW, |x, y, _| (i64::from(x as i16) * i64::from(y as i16)) as u64),
    ("add_sat_s32", LOW, |x, y, _| u64::from(s(x).saturating_add(s(y)) as u32)),
    ("sub_sat_s32", LOW, |x, y, _| u64::from(s(x).saturating_sub(s(y)) as u32)),
    ("add64", ALL, |x, y, _| x.wrapping_add(y)),
    ("sub64", ALL, |x, y, _| x.wrapping_sub(y)),
    ("neg64", ALL, |x, _, _| x.wrapping_neg()),
    ("add64x3", ALL, |x, y, z| x.wrapping_add(y).wrapping_add(z)),
    ("sub64x3", ALL, |x, y, z| x.wrapping_sub(y).wrapping_sub(z)),
    ("mul64", ALL, |x, y, _| x.wrapping_mul(y)),
    ("mul_hi_u64", ALL, |x, y, _| ((u128::from(x) * u128::from(y)) >> 64) as u64),
    ("mul_hi_s64", ALL, |x, y, _| ((i128::from(x as i64) * i128::from(y as i64)) >> 64) as u64),
    ("mad64", ALL, |x, y, z| x.wrapping_mul(y).wrapping_add(z)),
    ("lea64", ALL, |x, y, _| x.wrapping_add((y & WORD) << 3)),
    ("lea64s", ALL, |x, y, _| x.wrapping_add((i64::from(s(y)) << 2) as u64)),
    ("scale_add", LOW, |x, y, _| (x << 5).wrapping_add(y)),
    ("scale_sub", LOW, |x, y, _| y.wrapping_sub(x << 4)),
    ("div_u32", LOW, |x, y, _| u64::from(w(x) / w(y).max(1))),
    ("rem_u32", LOW, |x, y, _| u64::from(w(x) % w(y).max(1))),
    ("div_s32", LOW, |x, y, _| (s(x) / some_s32(x, y)) as u64),
    ("rem_s32", LOW, |x, y, _| (s(x) % some_s32(x, y)) as u64),
    ("div_u64", ALL, |x, y, _| x / some(y)),
    ("rem_u64", ALL, |x, y, _| x % some(y)),
    ("div_s64", ALL, |x, y, _| (x as i64).wrapping_div(some_s64(y)) as u64),
    ("rem_s64", ALL, |x, y, _| (x as i64).wrapping_rem(some_s64(y)) as u64),
    ("div_u32_7", LOW, |x, _, _| u64::from(w(x) / 7)),
    ("div_s32_10", LOW, |x, _, _| (s(x) / 10) as u64),
    ("rem_u32_1000", LOW, |x, _, _| u64::from(w(x) % 1000)),
    ("div_u16", LOW, |x, y, _| u64::from(x as u16 / (y as u16).max(1))),
    ("div_u64_1000", ALL, |x, _, _| x / 1000),
    ("shl", LOW, |x, y, _| shl(w(x), y & WORD).into()),
    ("shr_u32", LOW, |x, y, _| shr(w(x), y & WORD).into()),
    ("shr_s32", LOW, |x, y, _| sar(w(x), y & WORD).into()),
    ("shl_small", LOW, |x, y, _| shl(w(x), y & 63).into()),
    ("shr_u_small", LOW, |x, y, _| shr(w(x), y & 63).into()),
    ("shr_s_small", LOW, |x, y, _| sar(w(x), y & 63).into()),
    ("shl64", ALL, |x, y, _| x << (y & 63)),
    ("shr64", ALL, |x, y, _| x >> (y & 63)),
    ("sar64", ALL, |x, y, _| (x as i64 >> (y & 63)) as u64),
    ("shl64_5", ALL, |x, _, _| x << 5),
    ("shr64_37", ALL, |x, _, _| x >> 37),
    ("sar64_9", ALL, |x, _, _| (x as i64 >> 9) as u64),
    ("funnel_l_wrap", LOW, |x, y, z| wide(x, y) << (z & 31) >> 32),
    ("funnel_r_wrap", LOW, |x, y, z| wide(x, y) >> (z & 31)),
    ("funnel_l_clamp", LOW, |x, y, z| wide(x, y) << (z & 63).min(32) >> 32),
    ("funnel_r_clamp", LOW, |x, y, z| wide(x, y) >> (z & 63).min(32)),
    ("rotate_7", LOW, |x, _, _| w(x).rotate_left(7).into()),
    ("bfe_u32", LOW, |x, y, z| bfe(w(x), w(y) & 0xff, w(z) & 0xff, false).into()),
    ("bfe_s32", LOW, |x, y, z| bfe(w(x), w(y) & 0xff, w(z) & 0xff, true).into()),
    ("bfe_u_small", LOW, |x, y, z| bfe(w(x), w(y) & 31, w(z) & 31, false).into()),
    ("bfe_s_small", LOW, |x, y, z| bfe(w(x), w(y) & 31, w(z) & 31, true).into()),
    ("bfi", LOW, |x, y, z| bfi(w(x), w(y), w(z) & 0xff, w(z) >> 8 & 0xff).into()),
    ("bfi_small", LOW, |x, y, z| bfi(w(x), w(y), w(z) & 31, w(z) >> 8 & 31).into()),
    ("bfe_const", LOW, |x, _, _| bfe(w(x), 5, 9, true).into()),
    ("bfi_const", LOW, |x, y, _| bfi(w(x), w(y), 11, 13).into()),
    ("prmt", LOW, |x, y, z| prmt(w(x), w(y), w(z)).into()),
    ("prmt_c1", LOW, |x, y, _| prmt(w(x), w(y), 0x4210).into()),
    ("prmt_c2", LOW, |x, y, _| prmt(w(x), w(y), 0x5410).into()),
    ("prmt_c3", LOW, |x, y, _| prmt(w(x), w(y), 0x8a62).into()),
    ("prmt_bswap", LOW, |x, _, _| w(x).swap_bytes().into()),
    ("prmt_f4e_", LOW, |x, y, z| prmt_mode(x, y, z, |n, i| n + i)),
    ("prmt_b4e_", LOW, |x, y, z| prmt_mode(x, y, z, |n, i| n.wrapping_sub(i) & 7)),
    ("prmt_rc8_", LOW, |x, y, z| prmt_mode(x, y, z, |n, _| n)),
    ("prmt_ecl_", LOW, |x, y, z| prmt_mode(x, y, z, |n, i| n.max(i))),
    ("prmt_ecr_", LOW, |x, y, z| prmt_mode(x, y, z, |n, i| n.min(i))),
    ("prmt_rc16_", LOW, |x, y, z| prmt_mode(x, y, z, |n, i| (n & 1) * 2 + (i & 1))),
    ("brev", LOW, |x, _, _| w(x).reverse_bits().into()),
    ("popc", LOW, |x, _, _| w(x).count_ones().into()),
    ("clz", LOW, |x, _, _| w(x).leading_zeros().into()),
    ("bfind_u32", LOW, |x, _, _| u64::from(31u32.wrapping_sub(w(x).leading_zeros()))),
    ("bfind_s32", LOW, |x, _, _| {
        u64::from(31u32.wrapping_sub((w(x) ^ sar(w(x), 31)).leading_zeros()))
    }),
    ("bfind_shiftamt", LOW, |x, _, _| if w(x) == 0 { WORD } else { w(x).leading_zeros().into() }),
    ("popc64", LOW, |x, _, _| x.count_ones().into()),
    ("clz64", LOW, |x, _, _| x.leading_zeros().into()),
    ("ffs", LOW, |x, _, _| if w(x) == 0 { 0 } else { u64::from(w(x).trailing_zeros() + 1) }),
    ("and_", LOW, |x, y, _| x & y),
    ("or_", LOW, |x, y, _| x | y),
    ("xor_", LOW, |x, y, _| x ^ y),
    ("not_", LOW, |x, _, _| !x),
    ("andnot", LOW, |x, y, _| x & !y),
    ("and_const", LOW, |x, _, _| x & 0x1234_5678),
    ("lop3_96_", LOW, |x, y, z| lop3(0x96, x, y, z)),
    ("lop3_e8_", LOW, |x, y, z| lop3(0xe8, x, y, z)),
    ("lop3_ca_", LOW, |x, y, z| lop3(0xca, x, y, z)),
    ("lop3_1b_", LOW, |x, y, z| lop3(0x1b, x, y, z)),
    ("lop3_d2_", LOW, |x, y, z| lop3(0xd2, x, y, z)),
    ("lop3_40_", LOW, |x, y, z| lop3(0x40, x, y, z)),
    ("lop3_f4_", LOW, |x, y, z| lop3(0xf4, x, y, z)),
    ("lop3_2b_", LOW, |x, y, z| lop3(0x2b, x, y, z)),
    ("min_u32", LOW, |x, y, _| w(x).min(w(y)).into()),
    ("max_u32", LOW, |x, y, _| w(x).max(w(y)).into()),
    ("min_s32", LOW, |x, y, _| s(x).min(s(y)) as u64),
    ("max_s32", LOW, |x, y, _| s(x).max(s(y)) as u64),
    ("min_u64", ALL, |x, y, _| x.min(y)),
    ("max_u64", ALL, |x, y, _| x.max(y)),
    ("min_s64", ALL, |x, y, _| (x as i64).min(y as i64) as u64),
    ("max_s64", ALL, |x, y, _| (x as i64).max(y as i64) as u64),
    ("abs_s32", LOW, |x, _, _| s(x).wrapping_abs() as u64),
    ("abs_s64", ALL, |x, _, _| (x as i64).wrapping_abs() as u64),
    ("relations_u32", LOW, |x, y, _| relations(w(x), w(y))),
    ("relations_s32", LOW, |x, y, _| relations(s(x), s(y))),
    ("relations_u64", LOW, |x, y, _| relations(x, y)),
    ("relations_s64", LOW, |x, y, _| relations(x as i64, y as i64)),
    ("select_and_or", LOW, |x, y, z| {
        if (s(x) > 5 && s(y) < 7) || (w(z) == 3 && w(x) != w(y)) { x } else { y }
    }),
    ("select_xor", LOW, |x, y, _| if (s(x) > 5) ^ (s(y) < 7) { x } else { y }),
    ("sign_select", LOW, |x, y, z| if s(z) < 0 { x } else { y }),
    ("test_bits64", LOW, |x, y, _| if x & y != 0 { 1 } else { 2 }),
    ("extend_s8", ALL, |x, _, _| i64::from(x as i8) as u64),
    ("extend_u8_2", LOW, |x, _, _| x >> 16 & 0xff),
    ("extend_s16_hi", LOW, |x, _, _| (s(x) >> 16) as u64),
    ("extend_s8_1", LOW, |x, _, _| i64::from((x >> 8) as i8) as u64),
    ("trunc_u16", LOW, |x, _, _| x & 0xffff),
    ("mul_17_bits", LOW, |x, _, _| x.wrapping_mul(100_000)),
    ("mul_high_half", LOW, |x, _, _| x.wrapping_mul(0x5_0000)),
    ("mul_16_bits", LOW, |x, y, _| x.wrapping_mul(0xfffd).wrapping_add(y)),
    ("square", LOW, |x, _, _| x.wrapping_mul(x)),
    ("square64", ALL, |x, _, _| x.wrapping_mul(x)),
    ("square_wide", ALL, |x, _, _| (x & WORD) * (x & WORD)),
    ("mul64_const", ALL, |x, _, _| x.wrapping_mul(0xbf58_476d_1ce4_e5b9)),
    ("mul64_small", ALL, |x, _, _| x.wrapping_mul(1000)),
    ("mul64_word", ALL, |x, y, _| x.wrapping_mul(y & WORD)),
    ("mul64_high_word", ALL, |x, y, _| x.wrapping_mul(y << 32)),
    ("mad_wide", ALL, |x, y, z| ((x & WORD) * (y & WORD)).wrapping_add(z)),
    ("mul64_add", ALL, |x, y, _| x.wrapping_mul(y).wrapping_add(x >> 32)),
    ("mix", ALL, |x, y, _| mix(x).wrapping_add(mix(y))),
    ("rotate64_9", ALL, |x, _, _| x.rotate_left(9)),
    ("rotate64_41", ALL, |x, _, _| x.rotate_left(41)),
    ("xorshift64", ALL, |x, y, z| (x ^ x << 13 ^ y >> 7) & !(z << 17)),
    ("xxhash", ALL, |x, y, _| {
        let y = y.wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
        x.wrapping_add(y).rotate_left(31).wrapping_mul(0x9e37_79b1_85eb_ca87)
    }),
];
