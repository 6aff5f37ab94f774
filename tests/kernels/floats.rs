//! Float arithmetic bit by bit: NaN payloads, signed zeros, denormals, rounding.
//!
//! The rules are Maxwell's as far as they are known (`docs/fidelity.md`): a NaN result is
//! 0x7fffffff.

use crate::draw::Draw;
use crate::reference::Shape;
use crate::support::Case;

const NAN: u32 = 0x7fff_ffff;

fn canonical(v: f32) -> u32 {
    if v.is_nan() { NAN } else { v.to_bits() }
}

/// Flushes a denormal to a zero of its sign.
fn flush(v: f32) -> f32 {
    if v.is_subnormal() { 0.0f32.copysign(v) } else { v }
}

fn min(a: f32, b: f32) -> u32 {
    if a.is_nan() || b.is_nan() {
        return canonical(if a.is_nan() { b } else { a });
    }
    // -0 is less than +0.
    (if a < b || a == b && a.is_sign_negative() { a } else { b }).to_bits()
}

fn max(a: f32, b: f32) -> u32 {
    if a.is_nan() || b.is_nan() { min(a, b) } else { min(-a, -b) ^ 1 << 31 }
}

fn saturate(v: f32) -> u32 {
    // NaN and -0 become +0, too.
    if v > 0.0 { v.min(1.0).to_bits() } else { 0 }
}

/// Returns the sum rounded toward zero. The computed error of the rounded sum is exact (Knuth's
/// two-sum) as long as nothing overflows.
fn add_toward_zero(a: f32, b: f32) -> u32 {
    let sum = a + b;
    if sum.is_infinite() && a.is_finite() && b.is_finite() {
        return f32::MAX.copysign(sum).to_bits();
    }
    if !sum.is_finite() || sum == 0.0 {
        return canonical(sum);
    }
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let too_far = error != 0.0 && error.is_sign_negative() != sum.is_sign_negative();
    if too_far { sum.to_bits() - 1 } else { sum.to_bits() }
}

/// Returns the product rounded up. The product is exact in double precision.
fn mul_up(a: f32, b: f32) -> u32 {
    let exact = f64::from(a) * f64::from(b);
    let nearest = exact as f32;
    if f64::from(nearest) < exact { nearest.next_up().to_bits() } else { canonical(nearest) }
}

/// Returns the rows of `float_bits.cu` for one lane.
fn rows(i: usize, [a, b, c]: [u32; 3]) -> [u32; 16] {
    let [fa, fb, fc] = [a, b, c].map(f32::from_bits);
    let [za, zb, zc] = [fa, fb, fc].map(flush);
    let compare = [fa < fb, fa <= fb, fa == fb, fa != fb, fa > fb, fa >= fb];
    [
        canonical(fa + fb),
        canonical(fa - fb),
        canonical(fa * fb),
        canonical(fa.mul_add(fb, fc)),
        min(fa, fb),
        max(fa, fb),
        canonical(-fa),
        canonical(fa.abs()),
        canonical(flush(za + zb)),
        canonical(flush(za * zb)),
        canonical(flush(za.mul_add(zb, zc))),
        saturate(fa + fb),
        compare.into_iter().rev().fold(0, |bits, c| bits << 1 | u32::from(c)),
        if i.is_multiple_of(3) { b } else { a },
        add_toward_zero(fa, fb),
        mul_up(fa, fb),
    ]
}

#[test]
fn bit_patterns() {
    let special: [u32; 20] = [
        0,
        1 << 31,
        1,
        0x8000_0001,
        0x007f_ffff,
        0x807f_ffff,
        0x0080_0000,
        0x8080_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x3f7f_ffff,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0xffc1_2345,
        0x7f80_0001,
        0xff85_5555,
        0x4b00_0001,
    ];
    let mut lanes: Vec<[u32; 3]> = vec![];
    for a in special {
        for b in special {
            lanes.extend(
                [0, 5, 13, 17, 2].map(|k| [a, b, special[(k + lanes.len()) % special.len()]]),
            );
        }
    }
    let mut draw = Draw::new(1);
    // The exponents are close, so that some sums cancel and some products are denormal.
    lanes.extend(draw.vec(1500, |d| {
        let exponent = d.below(255);
        [0, 0, 0].map(|_: u32| d.u32() & 0x807f_ffff | ((exponent + d.below(30)) % 255) << 23)
    }));
    lanes.extend(draw.vec(503, |d| [d.u32(), d.u32(), d.u32()]));
    let n = lanes.len();
    let column = |k: usize| lanes.iter().map(|lane| lane[k]).collect::<Vec<u32>>();
    let results: Vec<[u32; 16]> =
        lanes.iter().enumerate().map(|(i, &lane)| rows(i, lane)).collect();
    let out: Vec<u32> = (0..16).flat_map(|row| results.iter().map(move |r| r[row])).collect();
    for block in [256, 77] {
        Case::behaviour("float_bits", "float_bits")
            .shape(Shape::covering(n, block))
            .input(&column(0))
            .input(&column(1))
            .input(&column(2))
            .output(&out)
            .value(n as i32)
            .check();
    }
}
