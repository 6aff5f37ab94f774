//! Quotients and roots of NVIDIA's compilers. `analysis/exact.rs` claims that their results are
//! rounded correctly. The operands are numbers nearest to a midpoint of two numbers, and many
//! other numbers.

use warploom_ir::division::Build;
use warploom_ir::{BlockBuilder, ConvertOp, FloatAttrs, FloatUnaryOp, Op, SharedFn, Type, Value};

use super::{compare, is_quotient, operands, random};

const IEEE: FloatAttrs = FloatAttrs::IEEE;

fn single_steps(b: &mut BlockBuilder<'_>, x: Value, y: Value) -> Value {
    let (one, zero) = (b.iconst(Type::F32, 0x3f80_0000), b.iconst(Type::F32, 0));
    let r = b.shared(SharedFn::Rcp, y);
    let minus = b.fneg(y);
    let e = b.fma(IEEE, r, minus, one);
    let r = b.fma(IEEE, r, e, r);
    let q = b.fma(IEEE, r, x, zero);
    let e = b.fma(IEEE, q, minus, x);
    b.fma(IEEE, r, e, q)
}

fn high_word(b: &mut BlockBuilder<'_>, x: Value) -> Value {
    let bits = b.bitcast(Type::I64, x);
    b.put(Op::Convert { op: ConvertOp::HighHalf, to: Type::I32, a: bits })
}

fn of_words(b: &mut BlockBuilder<'_>, lo: Value, hi: Value) -> Value {
    let bits = b.put(Op::Concat { lo, hi });
    b.bitcast(Type::F64, bits)
}

fn double_steps(b: &mut BlockBuilder<'_>, x: Value, y: Value) -> Value {
    let one = b.iconst(Type::F64, 1f64.to_bits());
    let word = b.iconst(Type::I32, 1);
    let high = high_word(b, y);
    let estimate = b.shared(SharedFn::Rcp64High, high);
    let r = of_words(b, word, estimate);
    let minus = b.fneg(r);
    let e = b.fma(IEEE, y, minus, one);
    let e = b.fma(IEEE, e, e, e);
    let r = b.fma(IEEE, r, e, r);
    let minus = b.fneg(r);
    let e = b.fma(IEEE, y, minus, one);
    let r = b.fma(IEEE, r, e, r);
    let q = b.fmul(IEEE, x, r);
    let minus = b.fneg(q);
    let e = b.fma(IEEE, y, minus, x);
    b.fma(IEEE, r, e, q)
}

fn root_steps(b: &mut BlockBuilder<'_>, x: Value) -> Value {
    let [one, half, more] = [1.0f64, 0.5, 0.375].map(|x| b.iconst(Type::F64, x.to_bits()));
    let high = high_word(b, x);
    let step = b.iconst(Type::I32, 0xfcb0_0000);
    let low = b.add(high, step);
    let estimate = b.shared(SharedFn::Rsq64High, high);
    let r = of_words(b, low, estimate);
    let square = b.fmul(IEEE, r, r);
    let minus = b.fneg(square);
    let e = b.fma(IEEE, x, minus, one);
    let factor = b.fma(IEEE, e, more, half);
    let product = b.fmul(IEEE, r, e);
    let r = b.fma(IEEE, factor, product, r);
    let s = b.fmul(IEEE, x, r);
    let bits = b.bitcast(Type::I64, r);
    let (low, high) = (b.trunc(Type::I32, bits), high_word(b, r));
    let step = b.iconst(Type::I32, 0xfff0_0000);
    let high = b.add(high, step);
    let half = of_words(b, low, high);
    let minus = b.fneg(s);
    let e = b.fma(IEEE, s, minus, x);
    b.fma(IEEE, e, half, s)
}

/// Returns the inverse of an odd number modulo 2^64.
fn inverse(b: u64) -> u64 {
    (0..6).fold(b, |x, _| x.wrapping_mul(2u64.wrapping_sub(b.wrapping_mul(x))))
}

/// Returns all whole numbers a of `p` bits for which some e and some `m` of p bits exist such that
/// 2^e a and (m + 1/2) b differ by k / 2.
fn near_midpoints(p: u32, b: u64, k: i64) -> Vec<u64> {
    let twos = b.trailing_zeros();
    if k % (1 << twos) != 0 {
        return Vec::new();
    }
    // Find odd numbers M = 2m + 1 of p + 1 bits such that M b - k = 2^e a.
    let (odd, rest) = (b >> twos, (k >> twos) as u64);
    let mut found = Vec::new();
    for e in [p, p + 1] {
        let modulus = 1u64 << (e - twos);
        let first = rest.wrapping_mul(inverse(odd)) & (modulus - 1);
        let all = (0..).map(|i| first + i * modulus).take_while(|&m| m < 1 << (p + 1));
        for m in all.filter(|m| m % 2 == 1 && *m >= 1 << p) {
            let a = (i128::from(m) * i128::from(b) - i128::from(k)) >> e;
            found.extend(u64::try_from(a).ok().filter(|&a| a >> (p - 1) == 1));
        }
    }
    found
}

/// Returns a number of 24 bits as a float below 2.
fn single(x: u64) -> f32 {
    x as f32 / (1u32 << 23) as f32
}

fn double(x: u64) -> u64 {
    (x as f64 / (1u64 << 52) as f64).to_bits()
}

fn check_single(b: u64, most: i64) {
    let y = single(b);
    let r = 1.0 / y;
    let r = r.mul_add(r.mul_add(-y, 1.0), r);
    for k in (-most..=most).filter(|&k| k != 0) {
        for a in near_midpoints(24, b, k) {
            let x = single(a);
            let q = r.mul_add(x, 0.0);
            let q = r.mul_add(q.mul_add(-y, x), q);
            assert_eq!(q.to_bits(), (x / y).to_bits(), "{x:?} / {y:?}");
        }
    }
}

#[test]
fn singles() {
    compare("f32", Type::F32, single_steps, is_quotient, operands(Type::F32));
    (1..=1 << 14).for_each(|s| check_single((1 << 24) - s, 16));
    (1 << 23..1 << 24).for_each(|b| check_single(b, 4));
}

#[test]
fn doubles() {
    let mut near = operands(Type::F64);
    let mut add = |b: u64, most: i64| {
        let ks = (-most..=most).filter(|&k| k != 0);
        near.extend(ks.flat_map(|k| near_midpoints(53, b, k)).map(|a| (double(a), double(b))));
    };
    (1..=256).for_each(|s| add((1 << 53) - s, 16));
    let mut state = 11;
    (0..20_000).for_each(|_| add(random(&mut state) >> 12 | 1 << 52, 2));
    compare("f64", Type::F64, double_steps, is_quotient, near);
}

/// Returns all whole numbers x of 53 bits for which some e and some `m` of 53 bits exist such that
/// 2^e x and m^2 + m differ by `c`. Their roots are near m + 1/2.
fn roots_near_midpoints(c: i64) -> Vec<u64> {
    let value = |m: u64| i128::from(m) * i128::from(m) + i128::from(m) + i128::from(c);
    let mut found = Vec::new();
    for e in [52, 53] {
        for first in [0, 1] {
            // Since 2m + 1 is odd, m is found bit by bit.
            let m = (1..e).fold(first, |m, bit| m | (((value(m) >> bit) & 1) as u64) << bit);
            let candidates = [m, m + (1 << 52)].into_iter().filter(|m| m >> 52 == 1);
            let exact = candidates.filter(|&m| value(m) & ((1 << e) - 1) == 0);
            found.extend(exact.map(|m| (value(m) >> e) as u64).filter(|x| x >> 52 == 1));
        }
    }
    found
}

#[test]
fn double_roots() {
    let is_root =
        |op: &Op| matches!(op, Op::FUnary { op: FloatUnaryOp::Sqrt, attrs: FloatAttrs::IEEE, .. });
    let mut near = operands(Type::F64);
    for c in (-1024..=1024).filter(|c| c % 2 == 0) {
        let found = roots_near_midpoints(c);
        // Both parities of exponents.
        near.extend(
            found.into_iter().flat_map(|x| [double(x), double(x) + (1 << 52)]).map(|x| (x, x)),
        );
    }
    compare("root", Type::F64, |b, x, _| root_steps(b, x), is_root, near);
}
