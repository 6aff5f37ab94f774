//! SOP1, SOP2, SOPC and SOPK: results and SCC.

use super::operands::Random;
use super::support::{M0, Probe, State};

/// The function that returns the result, cut to the destination's bits, and SCC.
type Reference = fn(u64, u64, bool) -> (u64, bool);

fn low(x: u64) -> u64 {
    x & 0xffff_ffff
}

fn signed(x: u64) -> i64 {
    i64::from(x as i32)
}

/// Returns a word and whether it is not 0.
fn word(x: u64) -> (u64, bool) {
    (low(x), low(x) != 0)
}

fn long(x: u64) -> (u64, bool) {
    (x, x != 0)
}

fn fits(x: i64) -> (u64, bool) {
    (x as u64, x != i64::from(x as i32))
}

/// Returns the field that the second operand describes, bit by bit.
fn field(x: u64, spec: u64, bits: u32, signed: bool) -> u64 {
    let (offset, width) = (spec as u32 & (bits - 1), (spec >> 16) as u32 & 127);
    let sign = signed && x >> (bits - 1) & 1 != 0;
    let bit = |at: u32| if at < bits { x >> at & 1 != 0 } else { sign };
    // A field that reaches past the top has the sign there, as do the bits above it.
    let top = signed && width > 0 && bit(offset + width - 1);
    (0..bits).fold(0, |all, n| all | u64::from(if n < width { bit(offset + n) } else { top }) << n)
}

fn mask(size: u64, offset: u64, bits: u64) -> u64 {
    (0..size % bits).map(|n| n + offset % bits).filter(|&n| n < bits).fold(0, |all, n| all | 1 << n)
}

fn any_of_quads(x: u64) -> impl Iterator<Item = u64> {
    (0..16).filter(move |quad| x >> (4 * quad) & 15 != 0)
}

fn whole_quads(x: u64) -> u64 {
    any_of_quads(x).fold(0, |all, quad| all | 15 << (4 * quad))
}

fn quad_mask(x: u64) -> u64 {
    any_of_quads(x).fold(0, |all, quad| all | 1 << quad)
}

/// Returns the lowest position of a bit that satisfies `is`, counted from the bottom or the top, or
/// -1.
fn place(bits: u32, from_top: bool, is: impl Fn(u32) -> bool) -> u64 {
    (0..bits).find(|&n| is(if from_top { bits - 1 - n } else { n })).map_or(u64::MAX, u64::from)
}

fn bit(x: u64, at: u32) -> bool {
    x >> at & 1 != 0
}

fn signed_place(x: u64, bits: u32) -> u64 {
    place(bits, true, |n| bit(x, n) != bit(x, bits - 1))
}

fn replicated(x: u64) -> u64 {
    (0..32).filter(|&n| bit(x, n)).fold(0, |all, n| all | 3 << (2 * n))
}

const W: [u32; 3] = [32; 3];
const L: [u32; 3] = [64; 3];
/// A 64-bit operand and a word.
const LW: [u32; 3] = [64, 64, 32];

/// The name, and the bits of the destination and of both sources.
const TWO: &[(&str, [u32; 3], Reference)] = &[
    ("s_add_u32", W, |a, b, _| (a + b, a + b > 0xffff_ffff)),
    ("s_sub_u32", W, |a, b, _| (a.wrapping_sub(b), a < b)),
    ("s_add_i32", W, |a, b, _| fits(signed(a) + signed(b))),
    ("s_sub_i32", W, |a, b, _| fits(signed(a) - signed(b))),
    ("s_addc_u32", W, |a, b, c| (a + b + u64::from(c), a + b + u64::from(c) > 0xffff_ffff)),
    ("s_subb_u32", W, |a, b, c| (a.wrapping_sub(b + u64::from(c)), a < b + u64::from(c))),
    ("s_min_i32", W, |a, b, _| (signed(a).min(signed(b)) as u64, signed(a) < signed(b))),
    ("s_min_u32", W, |a, b, _| (a.min(b), a < b)),
    ("s_max_i32", W, |a, b, _| (signed(a).max(signed(b)) as u64, signed(a) > signed(b))),
    ("s_max_u32", W, |a, b, _| (a.max(b), a > b)),
    ("s_cselect_b32", W, |a, b, c| (if c { a } else { b }, c)),
    ("s_cselect_b64", L, |a, b, c| (if c { a } else { b }, c)),
    ("s_and_b32", W, |a, b, _| word(a & b)),
    ("s_and_b64", L, |a, b, _| long(a & b)),
    ("s_or_b32", W, |a, b, _| word(a | b)),
    ("s_or_b64", L, |a, b, _| long(a | b)),
    ("s_xor_b32", W, |a, b, _| word(a ^ b)),
    ("s_xor_b64", L, |a, b, _| long(a ^ b)),
    ("s_andn2_b32", W, |a, b, _| word(a & !b)),
    ("s_andn2_b64", L, |a, b, _| long(a & !b)),
    ("s_orn2_b32", W, |a, b, _| word(a | !b)),
    ("s_orn2_b64", L, |a, b, _| long(a | !b)),
    ("s_nand_b32", W, |a, b, _| word(!(a & b))),
    ("s_nand_b64", L, |a, b, _| long(!(a & b))),
    ("s_nor_b32", W, |a, b, _| word(!(a | b))),
    ("s_nor_b64", L, |a, b, _| long(!(a | b))),
    ("s_xnor_b32", W, |a, b, _| word(!(a ^ b))),
    ("s_xnor_b64", L, |a, b, _| long(!(a ^ b))),
    ("s_lshl_b32", W, |a, b, _| word(a << (b & 31))),
    ("s_lshl_b64", LW, |a, b, _| long(a << (b & 63))),
    ("s_lshr_b32", W, |a, b, _| word(a >> (b & 31))),
    ("s_lshr_b64", LW, |a, b, _| long(a >> (b & 63))),
    ("s_ashr_i32", W, |a, b, _| word((signed(a) >> (b & 31)) as u64)),
    ("s_ashr_i64", LW, |a, b, _| long((a as i64 >> (b & 63)) as u64)),
    ("s_bfm_b32", W, |a, b, c| (mask(a, b, 32), c)),
    ("s_bfm_b64", [64, 32, 32], |a, b, c| (mask(a, b, 64), c)),
    ("s_mul_i32", W, |a, b, c| (a.wrapping_mul(b), c)),
    ("s_bfe_u32", W, |a, b, _| word(field(a, b, 32, false))),
    ("s_bfe_i32", W, |a, b, _| word(field(a, b, 32, true))),
    ("s_bfe_u64", LW, |a, b, _| long(field(a, b, 64, false))),
    ("s_bfe_i64", LW, |a, b, _| long(field(a, b, 64, true))),
    // The difference wraps around before it becomes positive.
    ("s_absdiff_i32", W, |a, b, _| word((a as i32).wrapping_sub(b as i32).unsigned_abs().into())),
    ("s_mul_hi_u32", W, |a, b, c| ((a * b) >> 32, c)),
    ("s_mul_hi_i32", W, |a, b, c| ((signed(a) * signed(b)) as u64 >> 32, c)),
    ("s_lshl1_add_u32", W, |a, b, _| ((a << 1) + b, (a << 1) + b > 0xffff_ffff)),
    ("s_lshl2_add_u32", W, |a, b, _| ((a << 2) + b, (a << 2) + b > 0xffff_ffff)),
    ("s_lshl3_add_u32", W, |a, b, _| ((a << 3) + b, (a << 3) + b > 0xffff_ffff)),
    ("s_lshl4_add_u32", W, |a, b, _| ((a << 4) + b, (a << 4) + b > 0xffff_ffff)),
    ("s_pack_ll_b32_b16", W, |a, b, c| (a & 0xffff | b << 16, c)),
    ("s_pack_lh_b32_b16", W, |a, b, c| (a & 0xffff | b & 0xffff_0000, c)),
    ("s_pack_hh_b32_b16", W, |a, b, c| (a >> 16 | b & 0xffff_0000, c)),
];

/// The second operand of the reference is the destination's old value.
const ONE: &[(&str, [u32; 2], Reference)] = &[
    ("s_mov_b32", [32, 32], |a, _, c| (a, c)),
    ("s_mov_b64", [64, 64], |a, _, c| (a, c)),
    ("s_cmov_b32", [32, 32], |a, old, c| (if c { a } else { old }, c)),
    ("s_cmov_b64", [64, 64], |a, old, c| (if c { a } else { old }, c)),
    ("s_not_b32", [32, 32], |a, _, _| word(!a)),
    ("s_not_b64", [64, 64], |a, _, _| long(!a)),
    ("s_wqm_b32", [32, 32], |a, _, _| word(whole_quads(a))),
    ("s_wqm_b64", [64, 64], |a, _, _| long(whole_quads(a))),
    ("s_brev_b32", [32, 32], |a, _, c| ((a as u32).reverse_bits().into(), c)),
    ("s_brev_b64", [64, 64], |a, _, c| (a.reverse_bits(), c)),
    ("s_bcnt0_i32_b32", [32, 32], |a, _, _| word(32 - u64::from(a.count_ones()))),
    ("s_bcnt0_i32_b64", [32, 64], |a, _, _| word(64 - u64::from(a.count_ones()))),
    ("s_bcnt1_i32_b32", [32, 32], |a, _, _| word(a.count_ones().into())),
    ("s_bcnt1_i32_b64", [32, 64], |a, _, _| word(a.count_ones().into())),
    ("s_ff0_i32_b32", [32, 32], |a, _, c| (place(32, false, |n| !bit(a, n)), c)),
    ("s_ff0_i32_b64", [32, 64], |a, _, c| (place(64, false, |n| !bit(a, n)), c)),
    ("s_ff1_i32_b32", [32, 32], |a, _, c| (place(32, false, |n| bit(a, n)), c)),
    ("s_ff1_i32_b64", [32, 64], |a, _, c| (place(64, false, |n| bit(a, n)), c)),
    ("s_flbit_i32_b32", [32, 32], |a, _, c| (place(32, true, |n| bit(a, n)), c)),
    ("s_flbit_i32_b64", [32, 64], |a, _, c| (place(64, true, |n| bit(a, n)), c)),
    ("s_flbit_i32", [32, 32], |a, _, c| (signed_place(a, 32), c)),
    ("s_flbit_i32_i64", [32, 64], |a, _, c| (signed_place(a, 64), c)),
    ("s_sext_i32_i8", [32, 32], |a, _, c| (a as i8 as u64, c)),
    ("s_sext_i32_i16", [32, 32], |a, _, c| (a as i16 as u64, c)),
    ("s_bitset0_b32", [32, 32], |a, old, c| (old & !(1 << (a & 31)), c)),
    ("s_bitset0_b64", [64, 32], |a, old, c| (old & !(1 << (a & 63)), c)),
    ("s_bitset1_b32", [32, 32], |a, old, c| (old | 1 << (a & 31), c)),
    ("s_bitset1_b64", [64, 32], |a, old, c| (old | 1 << (a & 63), c)),
    ("s_quadmask_b32", [32, 32], |a, _, _| word(quad_mask(a))),
    ("s_quadmask_b64", [64, 64], |a, _, _| long(quad_mask(a))),
    ("s_abs_i32", [32, 32], |a, _, _| word((a as i32).unsigned_abs().into())),
    ("s_bitreplicate_b64_b32", [64, 32], |a, _, c| (replicated(a), c)),
];

/// The comparisons: name, bits of the sources, and SCC.
const COMPARES: &[(&str, [u32; 2], fn(u64, u64) -> bool)] = &[
    ("s_cmp_eq_i32", [32, 32], |a, b| a == b),
    ("s_cmp_lg_i32", [32, 32], |a, b| a != b),
    ("s_cmp_gt_i32", [32, 32], |a, b| signed(a) > signed(b)),
    ("s_cmp_ge_i32", [32, 32], |a, b| signed(a) >= signed(b)),
    ("s_cmp_lt_i32", [32, 32], |a, b| signed(a) < signed(b)),
    ("s_cmp_le_i32", [32, 32], |a, b| signed(a) <= signed(b)),
    ("s_cmp_eq_u32", [32, 32], |a, b| a == b),
    ("s_cmp_lg_u32", [32, 32], |a, b| a != b),
    ("s_cmp_gt_u32", [32, 32], |a, b| a > b),
    ("s_cmp_ge_u32", [32, 32], |a, b| a >= b),
    ("s_cmp_lt_u32", [32, 32], |a, b| a < b),
    ("s_cmp_le_u32", [32, 32], |a, b| a <= b),
    ("s_cmp_eq_u64", [64, 64], |a, b| a == b),
    ("s_cmp_lg_u64", [64, 64], |a, b| a != b),
    ("s_bitcmp0_b32", [32, 32], |a, b| !bit(a, b as u32 & 31)),
    ("s_bitcmp1_b32", [32, 32], |a, b| bit(a, b as u32 & 31)),
    ("s_bitcmp0_b64", [64, 32], |a, b| !bit(a, b as u32 & 63)),
    ("s_bitcmp1_b64", [64, 32], |a, b| bit(a, b as u32 & 63)),
];

const EDGES: [u64; 20] = [
    0,
    1,
    5,
    31,
    32,
    63,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0xffff_8080,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_8000_0001,
    u64::MAX,
    0x0040_0010_0010_0400,
    // The fields: 16 from 8, 16 from 24, 32 from 0, 64 from 0 and 127 from 33.
    0x0010_0008,
    0x0010_0018,
    0x0020_0000,
    0x0040_0000,
    0x007f_0021,
];

/// Returns all pairs of these values, and random pairs.
fn pairs() -> Vec<[u64; 2]> {
    let mut pairs: Vec<[u64; 2]> = EDGES.iter().flat_map(|&a| EDGES.map(|b| [a, b])).collect();
    let mut random = Random::new(17);
    pairs.extend((0..40).map(|_| [random.next(), random.next()]));
    pairs
}

fn register(number: usize, bits: u32) -> String {
    if bits == 64 { format!("s[{number}:{}]", number + 1) } else { format!("s{number}") }
}

fn cut(x: u64, bits: u32) -> u64 {
    if bits == 64 { x } else { low(x) }
}

/// Checks an instruction on s0 (and s1), s2 and s4. The first of `bits` is the destination's.
fn check(
    text: &str,
    bits: [u32; 3],
    keeps: bool,
    reference: impl Fn([u64; 3], bool) -> (u64, bool),
) {
    let probe = Probe::new(&[text], 0x3f0);
    for (n, [a, b]) in pairs().into_iter().enumerate() {
        let mut before = State::new();
        before.scc = n % 2 != 0;
        if keeps {
            before.set_pair(0, b);
        }
        before.set_pair(2, a);
        before.set_pair(4, b);
        let mut expected = before.clone();
        let old = cut(before.pair(0), bits[0]);
        let (result, scc) = reference([old, cut(a, bits[1]), cut(b, bits[2])], before.scc);
        if bits[0] == 64 {
            expected.set_pair(0, result);
        } else if bits[0] == 32 {
            expected.scalars[0] = result as u32;
        }
        expected.scc = scc;
        for (engine, found) in probe.run(&before) {
            let of = |state: &State| (cut(state.pair(0), bits[0]), state.scc);
            assert!(
                found == expected,
                "{engine}, {text}, {a:#x}, {b:#x}, {}: {:x?} for {:x?}",
                before.scc,
                of(&found),
                of(&expected)
            );
        }
    }
}

#[test]
fn two_operands() {
    for &(name, bits, reference) in TWO {
        let text = format!(
            "{name} {}, {}, {}",
            register(0, bits[0]),
            register(2, bits[1]),
            register(4, bits[2])
        );
        check(&text, bits, false, |[_, a, b], scc| reference(a, b, scc));
    }
}

#[test]
fn one_operand() {
    for &(name, [to, from], reference) in ONE {
        let text = format!("{name} {}, {}", register(0, to), register(2, from));
        check(&text, [to, from, 64], true, |[old, a, _], scc| reference(a, old, scc));
    }
}

#[test]
fn compares() {
    for &(name, [a, b], holds) in COMPARES {
        let text = format!("{name} {}, {}", register(2, a), register(4, b));
        check(&text, [0, a, b], false, |[_, a, b], _| (0, holds(a, b)));
    }
}

/// In SOPK, signed immediates are extended by their sign, and others by zeros.
#[test]
fn immediates() {
    type Compare = (&'static str, fn(i64, i64) -> bool);
    let relations: [Compare; 6] = [
        ("eq", |a, b| a == b),
        ("lg", |a, b| a != b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
    ];
    for (relation, holds) in relations {
        for (ty, immediate) in [("i32", -1i64), ("i32", 31), ("u32", 0xffff), ("u32", 31)] {
            let text = format!("s_cmpk_{relation}_{ty} s2, {immediate:#x}")
                .replace("0xffffffffffffffff", "-1");
            let number = |x: u64| if ty == "i32" { signed(x) } else { x as i64 };
            check(&text, [0, 32, 32], false, |[_, a, _], _| (0, holds(number(a), immediate)));
        }
    }
    for immediate in [-32768i64, 31, -1] {
        let text = |name: &str| format!("{name} s0, {immediate}");
        let wide = immediate as u64;
        check(&text("s_movk_i32"), W, true, |_, scc| (wide, scc));
        check(&text("s_cmovk_i32"), W, true, |[old, ..], scc| (if scc { wide } else { old }, scc));
        check(&text("s_addk_i32"), W, true, |[old, ..], _| fits(signed(old) + immediate));
        check(&text("s_mulk_i32"), W, true, |[old, ..], scc| (old.wrapping_mul(wide), scc));
    }
}

/// The sign extends constants of 64-bit signed operands.
#[test]
fn constants() {
    let cases: [(&str, u64); 8] = [
        ("s_mov_b64 s[0:1], -5", -5i64 as u64),
        ("s_mov_b64 s[0:1], 64", 64),
        ("s_mov_b64 s[0:1], 0x89abcdef", 0x89ab_cdef),
        ("s_mov_b64 s[0:1], 0.5", 0.5f64.to_bits()),
        ("s_mov_b64 s[0:1], vcc", 0x1234_5678_9abc_def0),
        ("s_ashr_i64 s[0:1], 0x89abcdef, 4", 0xffff_ffff_f89a_bcde),
        ("s_lshr_b64 s[0:1], 0x89abcdef, 4", 0x089a_bcde),
        ("s_flbit_i32_i64 s0, 0x89abcdef", 0x5ca1_0001_0000_0021),
    ];
    for (text, wanted) in cases {
        let mut before = State::new();
        before.set_pair(super::support::VCC, 0x1234_5678_9abc_def0);
        for (engine, found) in Probe::new(&[text], 0x3f0).run(&before) {
            assert!(
                found.pair(0) == wanted,
                "{engine}, {text}: {:x} for {wanted:x}",
                found.pair(0)
            );
        }
    }
}

/// m0 numbers registers.
#[test]
fn registers_by_number() {
    for index in [0u32, 1, 2, 5] {
        let cases: [(&str, &[usize], fn(usize) -> usize); 2] = [
            ("s_movrels_b32 s0, s8", &[0], |n| n + 8),
            ("s_movrels_b64 s[0:1], s[8:9]", &[0, 1], |n| n + 8),
        ];
        for (text, destinations, from) in cases {
            let index = if destinations.len() == 2 { index & !1 } else { index };
            let mut before = State::new();
            before.scalars[M0] = index;
            let mut expected = before.clone();
            for &n in destinations {
                expected.scalars[n] = before.scalars[from(n) + index as usize];
            }
            for (engine, found) in Probe::new(&[text], 0x3f0).run(&before) {
                assert!(found == expected, "{engine}, {text}, {index}");
            }
        }
        for (text, words) in [("s_movreld_b32 s8, s2", 1), ("s_movreld_b64 s[8:9], s[2:3]", 2)] {
            let index = if words == 2 { index & !1 } else { index };
            let mut before = State::new();
            before.scalars[M0] = index;
            let mut expected = before.clone();
            for n in 0..words {
                expected.scalars[8 + n + index as usize] = before.scalars[2 + n];
            }
            for (engine, found) in Probe::new(&[text], 0x3f0).run(&before) {
                assert!(found == expected, "{engine}, {text}, {index}");
            }
        }
    }
}
