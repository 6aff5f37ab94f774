//! Tests against Rust's own integers and the exact arithmetic of `i128`. `tests/float_hardware.rs`
//! tests floats wider than `f16` against the host's instructions.

use half::f16;

use super::super::op::*;
use super::super::types::Type;
use super::*;

const NAN: NanPolicy = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8 << 48 };

fn binary1(op: BinaryOp, ty: Type, a: u64, b: u64) -> u64 {
    single(|out| binary(op, ty, &[a], &[b], out))
}

#[test]
fn every_pair_of_bytes() {
    for (a, b) in (0..=255u8).flat_map(|a| (0..=255u8).map(move |b| (a, b))) {
        let (sa, sb) = (a as i8, b as i8);
        let expected: [(BinaryOp, u8); 19] = [
            (BinaryOp::Add, a.wrapping_add(b)),
            (BinaryOp::Sub, a.wrapping_sub(b)),
            (BinaryOp::Mul, a.wrapping_mul(b)),
            (BinaryOp::MulHiS, ((i16::from(sa) * i16::from(sb)) >> 8) as u8),
            (BinaryOp::MulHiU, ((u16::from(a) * u16::from(b)) >> 8) as u8),
            (BinaryOp::DivS, if b == 0 { 0xff } else { sa.wrapping_div(sb) as u8 }),
            (BinaryOp::RemS, if b == 0 { 0xff } else { sa.wrapping_rem(sb) as u8 }),
            (BinaryOp::DivU, a.checked_div(b).unwrap_or(0xff)),
            (BinaryOp::RemU, a.checked_rem(b).unwrap_or(0xff)),
            (BinaryOp::And, a & b),
            (BinaryOp::Or, a | b),
            (BinaryOp::Xor, a ^ b),
            (BinaryOp::Shl, a.checked_shl(b.into()).unwrap_or(0)),
            (BinaryOp::ShrU, a.checked_shr(b.into()).unwrap_or(0)),
            (BinaryOp::ShrS, sa.checked_shr(b.into()).unwrap_or(if sa < 0 { -1 } else { 0 }) as u8),
            (BinaryOp::MinS, sa.min(sb) as u8),
            (BinaryOp::MinU, a.min(b)),
            (BinaryOp::MaxS, sa.max(sb) as u8),
            (BinaryOp::MaxU, a.max(b)),
        ];
        for (op, expected) in expected {
            assert_eq!(
                binary1(op, Type::I8, a.into(), b.into()),
                u64::from(expected),
                "{op:?} {a} {b}"
            );
        }
        let relations = [
            (IntCc::Eq, a == b),
            (IntCc::Ne, a != b),
            (IntCc::LtS, sa < sb),
            (IntCc::LeS, sa <= sb),
            (IntCc::GtS, sa > sb),
            (IntCc::GeS, sa >= sb),
            (IntCc::LtU, a < b),
            (IntCc::LeU, a <= b),
            (IntCc::GtU, a > b),
            (IntCc::GeU, a >= b),
        ];
        for (cc, expected) in relations {
            assert_eq!(
                icmp(cc, Type::I8, &[a.into()], &[b.into()]),
                u64::from(expected),
                "{cc:?} {a} {b}"
            );
        }
        for carry in [0, 1] {
            let mut sum = [0];
            let out = add_carry(Type::I8, &[a.into()], &[b.into()], carry, &mut sum);
            assert_eq!(sum[0] | out << 8, u64::from(a) + u64::from(b) + carry);
        }
    }
}

#[test]
fn every_byte() {
    for a in 0..=255u8 {
        let expected: [(UnaryOp, u64); 7] = [
            (UnaryOp::Not, (!a).into()),
            (UnaryOp::Neg, a.wrapping_neg().into()),
            (UnaryOp::Abs, (a as i8).wrapping_abs() as u8 as u64),
            (UnaryOp::Popcnt, a.count_ones().into()),
            (UnaryOp::Clz, a.leading_zeros().into()),
            (UnaryOp::Ctz, a.trailing_zeros().into()),
            (UnaryOp::BitReverse, a.reverse_bits().into()),
        ];
        for (op, expected) in expected {
            assert_eq!(single(|out| unary(op, Type::I8, &[a.into()], out)), expected, "{op:?} {a}");
        }
    }
}

#[test]
fn wide_integers() {
    let edges = [
        0,
        1,
        2,
        31,
        32,
        63,
        64,
        65,
        i64::MAX as u64,
        i64::MIN as u64,
        u64::MAX,
        u64::MAX - 1,
        1 << 32,
    ];
    for (a, b) in edges.into_iter().flat_map(|a| edges.map(|b| (a, b))) {
        let high_s = ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64;
        let high_u = ((u128::from(a) * u128::from(b)) >> 64) as u64;
        assert_eq!(binary1(BinaryOp::MulHiS, Type::I64, a, b), high_s);
        assert_eq!(binary1(BinaryOp::MulHiU, Type::I64, a, b), high_u);
        let count = u32::try_from(b).unwrap_or(u32::MAX);
        assert_eq!(binary1(BinaryOp::Shl, Type::I64, a, b), a.checked_shl(count).unwrap_or(0));
        let sign = (a as i64) >> 63;
        assert_eq!(
            binary1(BinaryOp::ShrS, Type::I64, a, b),
            (a as i64).checked_shr(count).unwrap_or(sign) as u64
        );
        let (a, b) = (a & 0xffff_ffff, b & 0xffff_ffff);
        let count = b as u32;
        assert_eq!(
            binary1(BinaryOp::Shl, Type::I32, a, b),
            u64::from((a as u32).checked_shl(count).unwrap_or(0))
        );
        assert_eq!(
            binary1(BinaryOp::Mul, Type::I32, a, b),
            u64::from((a as u32).wrapping_mul(b as u32))
        );
    }
}

#[test]
fn masks_follow_the_first_lane() {
    let op = Op::ICmp { cc: IntCc::LtU, a: super::super::Value(0), b: super::super::Value(1) };
    let output = lanewise(&op, Type::I32, NAN, (64, 5), &[&[1, 9, 3], &[4, 4, 4]], &mut [0; 3]);
    assert_eq!(output, Some(Output::Mask(0b101 << 5)));
    // `Not` gives the other lanes of the warp; `ToMask` keeps only lanes that the warp has.
    for (lanes, all) in [(5, 0x1f), (32, 0xffff_ffff), (64, u64::MAX)] {
        let one = |op: Op, ty, bits: u64| {
            let mut out = [0];
            lanewise(&op, ty, NAN, (lanes, 0), &[&[bits]], &mut out).map(|_| out[0])
        };
        let a = super::super::Value(0);
        assert_eq!(one(Op::Unary { op: UnaryOp::Not, a }, Type::Mask, 0b101), Some(all & !0b101));
        let bits = 0xa5a5_a5a5_a5a5_a5a5;
        assert_eq!(
            one(Op::Convert { op: ConvertOp::ToMask, to: Type::Mask, a }, Type::I64, bits),
            Some(all & bits)
        );
        assert_eq!(
            one(Op::Convert { op: ConvertOp::FromMask, to: Type::I64, a }, Type::Mask, all),
            Some(all)
        );
    }
    let mut out = [0; 3];
    select(0b010, &[1, 2, 3], &[7, 8, 9], &mut out);
    assert_eq!(out, [7, 2, 9]);
}

/// The exact value of an f16 in units of 2^-48; `None` if it is not finite.
fn units(x: f16) -> Option<i128> {
    let bits = x.to_bits();
    let (exponent, fraction) = (i128::from(bits >> 10 & 31), i128::from(bits & 0x3ff));
    let magnitude = match exponent {
        31 => return None,
        0 => fraction << 24,
        _ => (0x400 | fraction) << (24 + exponent - 1),
    };
    Some(if bits >> 15 != 0 { -magnitude } else { magnitude })
}

/// The f16 to which a number of units rounds, found by a search through the values of one sign. The
/// caller handles 0.
fn rounded(exact: i128, round: Round) -> f16 {
    let (negative, magnitude) = (exact < 0, exact.unsigned_abs() as i128);
    // Infinity stands for the number that would have the next exponent.
    let at = |bits: u16| units(f16::from_bits(bits)).unwrap_or(1 << (16 + 48));
    let (mut low, mut high) = (0u16, 0x7c00u16);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if at(middle) <= magnitude { low = middle } else { high = middle }
    }
    let up = match round {
        _ if at(low) == magnitude => false,
        Round::Nearest => {
            let (below, above) = (magnitude - at(low), at(high) - magnitude);
            above < below || above == below && low & 1 == 1
        }
        Round::Zero => false,
        Round::Down => negative,
        Round::Up => !negative,
    };
    f16::from_bits(if up { high } else { low } | u16::from(negative) << 15)
}

#[test]
fn half_precision_rounds_once() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut tried = 0;
    while tried < 100_000 {
        let [a, b, c] = [(); 3].map(|()| f16::from_bits(random.u32(..1 << 16) as u16));
        let (Some(x), Some(y), Some(z)) = (units(a), units(b), units(c)) else { continue };
        let round = [Round::Nearest, Round::Zero, Round::Down, Round::Up][random.u32(..4) as usize];
        let attrs = FloatAttrs { round, ..FloatAttrs::IEEE };
        let [a, b, c] = [a, b, c].map(|x| u64::from(x.to_bits()));
        // Products are in units of 2^-96; each factor has 24 zeros at its end.
        let product = (x >> 24) * (y >> 24);
        let cases = [
            (
                x + y,
                single(|out| fbinary(FloatBinaryOp::Add, Type::F16, attrs, NAN, &[a], &[b], out)),
            ),
            (
                x - y,
                single(|out| fbinary(FloatBinaryOp::Sub, Type::F16, attrs, NAN, &[a], &[b], out)),
            ),
            (
                product,
                single(|out| fbinary(FloatBinaryOp::Mul, Type::F16, attrs, NAN, &[a], &[b], out)),
            ),
            (product + z, single(|out| fma(Type::F16, attrs, NAN, &[a], &[b], &[c], out))),
        ];
        for (exact, found) in cases {
            if exact != 0 {
                let expected = rounded(exact, round).to_bits();
                assert_eq!(found, u64::from(expected), "{round:?} {a:#x} {b:#x} {c:#x}");
            }
        }
        tried += 1;
    }
}

#[test]
fn float_relations() {
    let numbers =
        [f64::NAN, f64::NEG_INFINITY, -1.0, -1e-310, -0.0, 0.0, 5e-324, 1.0, f64::INFINITY];
    for (a, b) in numbers.into_iter().flat_map(|a| numbers.map(|b| (a, b))) {
        let unordered = a.is_nan() || b.is_nan();
        let plain = [
            (FloatCc::Eq, FloatCc::EqU, a == b),
            (FloatCc::Ne, FloatCc::NeU, a != b && !unordered),
            (FloatCc::Lt, FloatCc::LtU, a < b),
            (FloatCc::Le, FloatCc::LeU, a <= b),
            (FloatCc::Gt, FloatCc::GtU, a > b),
            (FloatCc::Ge, FloatCc::GeU, a >= b),
            (FloatCc::Num, FloatCc::Nan, !unordered),
        ];
        for (ordered, or_unordered, holds) in plain {
            let f = |cc| fcmp(cc, Type::F64, false, &[a.to_bits()], &[b.to_bits()]) != 0;
            assert_eq!(f(ordered), holds, "{ordered:?} {a} {b}");
            let with_nan =
                if or_unordered == FloatCc::Nan { unordered } else { holds || unordered };
            assert_eq!(f(or_unordered), with_nan, "{or_unordered:?} {a} {b}");
        }
    }
}

#[test]
fn float_to_integer_clamps() {
    let f = |x: f64, to, signed| {
        single(|out| {
            float_to_int(Type::F64, to, signed, Round::Nearest, false, 7, &[x.to_bits()], out)
        })
    };
    assert_eq!(f(f64::NAN, Type::I32, true), 7);
    assert_eq!(f(1e300, Type::I64, true), i64::MAX as u64);
    assert_eq!(f(1e300, Type::I64, false), u64::MAX);
    assert_eq!(f(-1e300, Type::I64, true), i64::MIN as u64);
    assert_eq!(f(-0.6, Type::I64, false), 0);
    assert_eq!(f(-129.0, Type::I8, true), 0x80);
    assert_eq!(f(128.0, Type::I8, true), 0x7f);
    assert_eq!(f(255.5, Type::I8, false), 0xff);
    assert_eq!(f(2.5, Type::I16, true), 2);
    assert_eq!(f(-3.5, Type::I16, true), 0xfffc);
    assert_eq!(f(9007199254740993.0, Type::I64, true), 9007199254740992);
}

#[test]
fn saturation() {
    let attrs = FloatAttrs { saturate: true, ..FloatAttrs::IEEE };
    let f = |ty, x| single(|out| funary(FloatUnaryOp::Copy, ty, attrs, NAN, &[x], out));
    for (x, expected) in
        [(-0.0, 0.0), (-5.0, 0.0), (0.25, 0.25), (1.0, 1.0), (1.5, 1.0), (f32::NAN, 0.0)]
    {
        assert_eq!(f(Type::F32, f32::to_bits(x).into()), u64::from(f32::to_bits(expected)));
    }
    assert_eq!(f(Type::F32, 0xffc0_0000), 0);
    assert_eq!(f(Type::F32, 1), 1);
    assert_eq!(f(Type::F64, f64::INFINITY.to_bits()), 1f64.to_bits());
    assert_eq!(f(Type::F16, 0x4000), 0x3c00);
}
