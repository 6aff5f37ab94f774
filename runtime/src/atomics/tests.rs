use std::thread;

use super::*;
use crate::rounds;

const NAN: u64 = 0x7fff_ffff;
const INTEGERS: [AtomicType; 4] =
    [AtomicType::I8, AtomicType::I16, AtomicType::I32, AtomicType::I64];
const KINDS: [AtomicKind; 18] = [
    AtomicKind::Add,
    AtomicKind::Sub,
    AtomicKind::MinS,
    AtomicKind::MinU,
    AtomicKind::MaxS,
    AtomicKind::MaxU,
    AtomicKind::And,
    AtomicKind::Or,
    AtomicKind::Xor,
    AtomicKind::Exchange,
    AtomicKind::Inc,
    AtomicKind::Dec,
    AtomicKind::SafeAdd,
    AtomicKind::CompareExchange,
    AtomicKind::FAdd { flush: false, nan: NAN },
    AtomicKind::FMin { nan: NAN },
    AtomicKind::FMax { nan: NAN },
    AtomicKind::FCompareExchange,
];

/// Does the operation on a cell that holds `m`, and returns the old value and the stored value.
fn apply(ty: AtomicType, kind: AtomicKind, m: u64, b: u64, compare: u64) -> (u64, u64) {
    let mut cell = [m, 0x5555_5555_5555_5555];
    // SAFETY: 8-byte aligned, and owned.
    let old = unsafe { apply_at((&raw mut cell).cast(), ty, kind, b, compare) };
    assert_eq!(cell[1], 0x5555_5555_5555_5555);
    let mask = u64::MAX >> (64 - 8 * ty.bytes());
    assert_eq!(cell[0] & !mask, m & !mask, "only the cell is written");
    (old, cell[0] & mask)
}

/// A deterministic sequence of operands, rich in corner cases.
fn operands(ty: AtomicType) -> Vec<u64> {
    let bits = 8 * ty.bytes();
    let mut values = vec![
        0,
        1,
        2,
        0x7f,
        0x80,
        0xff,
        u64::MAX,
        u64::MAX >> 1,
        1 << (bits - 1),
        (1 << (bits - 1)) - 1,
    ];
    values.extend([
        0x3c00,
        0xbc00,
        0x7c00,
        0x7e01,
        0x8000,
        0x8001,
        0x03ff,
        0x0400,
        0x3c00_4200,
        0x7e00_8001,
    ]);
    values.extend(
        [1.0, -1.5, 1e-40, -0.0, f32::INFINITY, f32::NAN, f32::MAX].map(|f| u64::from(f.to_bits())),
    );
    values.extend([1.0, -1.5, 1e-310, -0.0, f64::INFINITY, f64::NAN, f64::MAX].map(f64::to_bits));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    values.extend((0..12).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }));
    values.into_iter().step_by(if cfg!(miri) { 11 } else { 1 }).collect()
}

#[test]
fn on_memory_as_computed() {
    for ty in [AtomicType::F16, AtomicType::F16x2, AtomicType::F32, AtomicType::F64]
        .into_iter()
        .chain(INTEGERS)
    {
        let mask = u64::MAX >> (64 - 8 * ty.bytes());
        let values = operands(ty);
        for kind in KINDS {
            for &m in &values {
                for &b in &values {
                    for compare in [m, b, m ^ 1 << (8 * ty.bytes() - 1)] {
                        let expect = (m & mask, compute(ty, kind, m, b, compare));
                        assert_eq!(
                            apply(ty, kind, m, b, compare),
                            expect,
                            "{ty:?} {kind:?} {m:#x} {b:#x}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn integers_as_the_standard_library_has_them() {
    macro_rules! check {
        ($ty:expr, $unsigned:ty, $signed:ty) => {
            for m in operands($ty) {
                for b in operands($ty) {
                    let stored = |kind| compute($ty, kind, m, b, 0) as $unsigned;
                    let (m, b) = (m as $unsigned, b as $unsigned);
                    assert_eq!(stored(AtomicKind::Add), m.wrapping_add(b));
                    assert_eq!(stored(AtomicKind::Sub), m.wrapping_sub(b));
                    assert_eq!(stored(AtomicKind::MinU), m.min(b));
                    assert_eq!(stored(AtomicKind::MaxU), m.max(b));
                    assert_eq!(
                        stored(AtomicKind::MinS),
                        (m as $signed).min(b as $signed) as $unsigned
                    );
                    assert_eq!(
                        stored(AtomicKind::MaxS),
                        (m as $signed).max(b as $signed) as $unsigned
                    );
                    assert_eq!(stored(AtomicKind::Xor), m ^ b);
                }
            }
        };
    }
    check!(AtomicType::I8, u8, i8);
    check!(AtomicType::I16, u16, i16);
    check!(AtomicType::I32, u32, i32);
    check!(AtomicType::I64, u64, i64);
}

/// The table of `nvidia-atom`: INC, DEC and CAS.
#[test]
fn wrapping_counters_and_compare_exchange() {
    let inc = |m, b| compute(AtomicType::I32, AtomicKind::Inc, m, b, 0);
    assert_eq!(
        [inc(0, 5), inc(4, 5), inc(5, 5), inc(9, 5), inc(0xffff_ffff, 0xffff_ffff)],
        [1, 5, 0, 0, 0]
    );
    let dec = |m, b| compute(AtomicType::I32, AtomicKind::Dec, m, b, 0);
    assert_eq!([dec(0, 5), dec(1, 5), dec(5, 5), dec(6, 5), dec(0, 0)], [5, 0, 4, 5, 0]);
    let inc16 = compute(AtomicType::I16, AtomicKind::Inc, 0xffff, 0xffff, 0);
    assert_eq!(inc16, 0);
    assert_eq!(apply(AtomicType::I64, AtomicKind::CompareExchange, 7, 9, 7), (7, 9));
    assert_eq!(apply(AtomicType::I64, AtomicKind::CompareExchange, 7, 9, 8), (7, 7));
    // Only the low bits count.
    assert_eq!(apply(AtomicType::I8, AtomicKind::CompareExchange, 7, 0x109, 0x207), (7, 9));
}

fn flush32(f: f32) -> f32 {
    if f.is_subnormal() { 0.0_f32.copysign(f) } else { f }
}

#[test]
fn float_addition_against_a_wider_type() {
    for m in operands(AtomicType::F32) {
        for b in operands(AtomicType::F32) {
            let (x, y) = (f32::from_bits(m as u32), f32::from_bits(b as u32));
            // 53 >= 2 * 24 + 2: rounding twice is rounding once.
            for flush in [false, true] {
                let wide = if flush {
                    f64::from(flush32(x)) + f64::from(flush32(y))
                } else {
                    f64::from(x) + f64::from(y)
                };
                let sum = if flush { flush32(wide as f32) } else { wide as f32 };
                let expect = if sum.is_nan() { NAN } else { u64::from(sum.to_bits()) };
                let got = compute(AtomicType::F32, AtomicKind::FAdd { flush, nan: NAN }, m, b, 0);
                assert_eq!(got, expect, "{x:e} + {y:e}, flush {flush}");
            }
        }
    }
}

/// All pairs of a dense sample of halves, added exactly in f64 and rounded once.
#[test]
fn half_addition_rounds_once() {
    let add = |m: u16, b: u16| {
        compute(
            AtomicType::F16,
            AtomicKind::FAdd { flush: false, nan: 0x7fff },
            u64::from(m),
            u64::from(b),
            0,
        ) as u16
    };
    // How often `f16::from_f64` rounds depends on the host, so its arguments are already halves.
    let nearest = |x: f64| {
        let exponent = (x.abs().to_bits() >> 52).max(1023 - 14);
        let unit = f64::from_bits((exponent - 10) << 52);
        f16::from_f64(if x.is_finite() { (x / unit).round_ties_even() * unit } else { x })
    };
    let sparse = if cfg!(miri) { 40 } else { 1 };
    for m in (0..=u16::MAX).step_by(37 * sparse) {
        for b in (0..=u16::MAX).step_by(41 * sparse) {
            let sum = nearest(f16::from_bits(m).to_f64() + f16::from_bits(b).to_f64());
            let expect = if sum.is_nan() { 0x7fff } else { sum.to_bits() };
            assert_eq!(add(m, b), expect, "{m:#x} + {b:#x}");
        }
    }
}

#[test]
fn packed_halves_do_not_mix() {
    let add = AtomicKind::FAdd { flush: true, nan: 0x7fff };
    // 1.5 + 2 and -1 + 1; then a NaN and a denormal beside a number.
    assert_eq!(compute(AtomicType::F16x2, add, 0x3e00_bc00, 0x4000_3c00, 0), 0x4300_0000);
    assert_eq!(compute(AtomicType::F16x2, add, 0x7e01_0001, 0x0000_0000, 0), 0x7fff_0000);
    let max = AtomicKind::FMax { nan: 0x7fff };
    assert_eq!(compute(AtomicType::F16x2, max, 0x8000_7e00, 0x0000_c000, 0), 0x0000_c000);
    let min = AtomicKind::FMin { nan: 0x7fff };
    assert_eq!(compute(AtomicType::F16x2, min, 0x0000_7e00, 0x8000_fe01, 0), 0x8000_7fff);
}

#[test]
fn minimum_and_maximum_order_zeros_and_ignore_one_nan() {
    let bits = |f: f32| u64::from(f.to_bits());
    let min = |a, b| compute(AtomicType::F32, AtomicKind::FMin { nan: NAN }, bits(a), bits(b), 0);
    let max = |a, b| compute(AtomicType::F32, AtomicKind::FMax { nan: NAN }, bits(a), bits(b), 0);
    for (a, b, least, most) in [
        (1.0, 2.0, 1.0, 2.0),
        (-1.0, -2.0, -2.0, -1.0),
        (-0.0, 0.0, -0.0, 0.0),
        (f32::NEG_INFINITY, 1e-45, f32::NEG_INFINITY, 1e-45),
        (f32::NAN, 3.0, 3.0, 3.0),
    ] {
        assert_eq!([min(a, b), min(b, a)], [bits(least); 2]);
        assert_eq!([max(a, b), max(b, a)], [bits(most); 2]);
    }
    assert_eq!([min(f32::NAN, -f32::NAN), max(f32::NAN, f32::NAN)], [NAN; 2]);
}

#[test]
fn float_compare_exchange_compares_values() {
    let bits = |f: f32| u64::from(f.to_bits());
    let stored = |m, compare| {
        compute(AtomicType::F32, AtomicKind::FCompareExchange, bits(m), 99, bits(compare))
    };
    assert_eq!(stored(1.0, 1.0), 99);
    assert_eq!(stored(0.0, -0.0), 99);
    assert_eq!(stored(f32::NAN, f32::NAN), bits(f32::NAN));
    assert_eq!(stored(1.0, 2.0), bits(1.0));
}

/// A queue of 8 whose pointers have wrapped.
#[test]
fn a_put_pointer_stops_before_it_overtakes() {
    let queue = |put: u32, get: u32| u64::from(put) | u64::from(get) << 32;
    let add = |m, count| compute(AtomicType::I64, AtomicKind::SafeAdd, m, queue(count, 8), 0);
    assert_eq!(add(queue(0, 0), 8), queue(8, 0));
    assert_eq!(add(queue(0, 0), 9), queue(0, 0));
    assert_eq!(add(queue(7, 0), 1), queue(8, 0));
    assert_eq!(add(queue(8, 0), 1), queue(8, 0));
    assert_eq!(add(queue(u32::MAX, u32::MAX - 6), 1), queue(0, u32::MAX - 6));
    assert_eq!(add(queue(0, u32::MAX - 6), 1), queue(1, u32::MAX - 6));
    assert_eq!(add(queue(1, u32::MAX - 6), 1), queue(1, u32::MAX - 6));
    assert_eq!(add(queue(0, 0), u32::MAX), queue(0, 0));
}

/// Four threads on one cell lose nothing, however the operation is implemented.
#[test]
fn threads_race_without_loss() {
    const N: u64 = rounds(20_000);
    let add = AtomicKind::FAdd { flush: false, nan: NAN };
    // (type, kind, operand, start, end)
    let cases = [
        (AtomicType::I32, AtomicKind::Add, 3, 0, (12 * N) & 0xffff_ffff),
        (AtomicType::I16, AtomicKind::Add, 1, 0, (4 * N) & 0xffff),
        (AtomicType::I8, AtomicKind::Sub, 1, 0, (4 * N).wrapping_neg() & 0xff),
        (AtomicType::I64, AtomicKind::Inc, 999, 0, 4 * N % 1000),
        (AtomicType::I32, AtomicKind::Dec, 999, 0, (1000 - 4 * N % 1000) % 1000),
        (
            AtomicType::F32,
            add,
            u64::from(1.0f32.to_bits()),
            0,
            u64::from((4.0 * N as f32).to_bits()),
        ),
        (AtomicType::F64, add, 0.5f64.to_bits(), 0, (2.0 * N as f64).to_bits()),
    ];
    for (ty, kind, operand, start, end) in cases {
        let cell = AtomicU64::new(start);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..N {
                        // SAFETY: aligned, and touched through atomics only.
                        unsafe { apply_at(cell.as_ptr().cast(), ty, kind, operand, 0) };
                    }
                });
            }
        });
        assert_eq!(cell.into_inner(), end, "{ty:?} {kind:?}");
    }
}
