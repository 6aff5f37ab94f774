//! Opcodes whose lanes use elements of other lanes: dot products of four, distances of two, planes
//! of eight. Also opcodes on bits and on short formats.

use half::f16;

use super::{Case, check};

fn floats(input: &mut [u8; 384], at: usize, values: impl IntoIterator<Item = f32>) {
    for (n, value) in values.into_iter().enumerate() {
        input[at + n * 4..][..4].copy_from_slice(&value.to_le_bytes());
    }
}

/// Returns small whole numbers, whose sums are exact in any order.
fn number(n: usize) -> f32 {
    (n * 7 % 13) as f32 - 6.0
}

fn bytes(of: impl Fn(usize) -> f32) -> Vec<u8> {
    (0..16).flat_map(|n| of(n).to_le_bytes()).collect()
}

#[test]
fn products_of_four() {
    let (a, b) = (number, |n: usize| number(n * 3 + 5));
    let mut input = [0; 384];
    floats(&mut input, 0, (0..32).map(a));
    floats(&mut input, 128, (0..32).map(b));
    let product = |n: usize, count: usize| {
        (0..count).map(|k| a(n / 4 * 4 + k) * b(n / 4 * 4 + k)).sum::<f32>()
    };
    let mut cases = vec![];
    for (name, count) in [("dp2", 2), ("dp3", 3), ("dp4", 4)] {
        let text = format!("{name} (M1, 16) Df(0,0)<1> Af(0,0)<1;1,0> Bf(0,0)<1;1,0>");
        cases.push(Case::new(text, &bytes(|n| product(n, count))));
    }
    let text = "dph (M1, 16) Df(0,0)<1> Af(0,0)<1;1,0> Bf(0,0)<1;1,0>";
    cases.push(Case::new(text.into(), &bytes(|n| product(n, 3) + b(n / 4 * 4 + 3))));
    let text = "line (M1, 16) Df(0,0)<1> Af(0,4)<0;4,1> Bf(0,0)<1;1,0>";
    cases.push(Case::new(text.into(), &bytes(|n| a(4) * b(n) + a(7))));
    // The second coordinates of each eight lanes follow their first coordinates.
    let text = "plane (M1, 16) Df(0,0)<1> Af(0,4)<0;4,1> Bf(0,0)<1;1,0>";
    let at = |n: usize, v: usize| b(n / 8 * 16 + v * 8 + n % 8);
    cases.push(Case::new(text.into(), &bytes(|n| a(4) * at(n, 0) + a(5) * at(n, 1) + a(7))));
    check("skl", 16, 0xffff, &input, &cases);
}

#[test]
fn distances_of_two() {
    let mut input = [0; 384];
    for n in 0..32 {
        input[n] = (n * 53) as u8;
        input[128 + n] = (n * 91 + 17) as u8;
        input[256 + n * 2..][..2].copy_from_slice(&(n as u16 * 300).to_le_bytes());
    }
    for (ty, distance) in [
        ("ub", (|a: u8, b: u8| u32::from(a.abs_diff(b))) as fn(u8, u8) -> u32),
        ("b", |a, b| (a as i8).abs_diff(b as i8).into()),
    ] {
        let sum = |n: usize| {
            distance(input[n], input[128 + n]) + distance(input[n + 1], input[128 + n + 1])
        };
        // The results of odd lanes are undefined.
        let lanes = |of: &dyn Fn(usize) -> u32| {
            let mut expected = vec![None; super::STRIDE];
            for n in (0..16).step_by(2) {
                let word = (of(n) as u16).to_le_bytes();
                (expected[n * 2], expected[n * 2 + 1]) = (Some(word[0]), Some(word[1]));
            }
            expected
        };
        let text = |name: &str, more: &str| {
            format!("{name} (M1, 16) Duw(0,0)<1> A{ty}(0,0)<1;1,0> B{ty}(0,0)<1;1,0>{more}")
        };
        let cases = [
            Case { text: text("sad2", ""), expected: lanes(&sum) },
            Case {
                text: text("sad2add", " Cuw(0,0)<1;1,0>"),
                expected: lanes(&|n| sum(n) + n as u32 * 300),
            },
        ];
        check("skl", 16, 0xffff, &input, &cases);
    }
}

/// `bfn` computes all functions of three bits.
#[test]
fn every_function_of_three_sources() {
    let words = [0x00ff_0f33_u32, 0xf0f0_aa55, 0x1357_9bdf];
    let mut input = [0; 384];
    for (part, word) in words.iter().enumerate() {
        for n in 0..16 {
            input[part * 128 + n * 4..][..4]
                .copy_from_slice(&word.rotate_left(n as u32 * (part as u32 + 1)).to_le_bytes());
        }
    }
    let word = |part: usize, n: usize| {
        u32::from_le_bytes(input[part * 128 + n * 4..][..4].try_into().unwrap())
    };
    let case = |function: u32| {
        let of = |n: usize| -> u32 {
            let [a, b, c] = [0, 1, 2].map(|part| word(part, n));
            (0..32)
                .map(|bit| {
                    (function >> (a >> bit & 1 | (b >> bit & 1) << 1 | (c >> bit & 1) << 2) & 1)
                        << bit
                })
                .sum()
        };
        let text = format!(
            "bfn.x{function:x} (M1, 16) Dud(0,0)<1> Aud(0,0)<1;1,0> Bud(0,0)<1;1,0> Cud(0,0)<1;1,0>"
        );
        Case::new(text, &(0..16).flat_map(|n| of(n).to_le_bytes()).collect::<Vec<_>>())
    };
    let cases: Vec<_> = (0..256).map(case).collect();
    check("dg2", 16, 0xffff, &input, &cases);
}

/// Conversions to `tf32` and to the 8-bit float that is the upper half of a half, and sums whose
/// overflow is a predicate.
#[test]
fn short_formats_and_overflow() {
    let values = [
        0.0_f32,
        -0.0,
        1.0,
        1.000_1,
        -3.156_592_7,
        65504.0,
        1.0e-40,
        f32::INFINITY,
        0.333_333_34,
        2.5e-3,
    ];
    let mut input = [0; 384];
    floats(&mut input, 0, values);
    let tf32 = |value: f32| {
        // `tf32` has ten bits of mantissa, rounded to nearest even, and no denormals.
        let bits = value.to_bits();
        if value.is_infinite() || value.abs() < f32::MIN_POSITIVE {
            return if value.is_infinite() { bits } else { bits & 1 << 31 };
        }
        (bits + 0xfff + (bits >> 13 & 1)) & !0x1fff
    };
    let expected: Vec<u8> = values.iter().flat_map(|&value| tf32(value).to_le_bytes()).collect();
    let mut short = Case::new("fcvt (M1_NM, 16) Dud(0,0)<1> Af(0,0)<1;1,0>".into(), &expected);
    short.expected[values.len() * 4..64].fill(None);
    check("pvc", 16, 0xffff, &input, &[short]);

    let halves: [f16; 16] = std::array::from_fn(|n| f16::from_f32((n as f32 - 7.0) * 1.37));
    let mut input = [0; 384];
    for (n, half) in halves.iter().enumerate() {
        input[n * 2..][..2].copy_from_slice(&half.to_le_bytes());
    }
    let nearest = |bits: u16| ((u32::from(bits) + 0x7f + u32::from(bits >> 8 & 1)) >> 8) as u8;
    let bytes: Vec<u8> = halves.iter().map(|half| nearest(half.to_bits())).collect();
    let back: Vec<u8> =
        bytes.iter().flat_map(|&byte| (u16::from(byte) << 8).to_le_bytes()).collect();
    let cases = [
        Case::new("fcvt (M1_NM, 16) Dub(0,0)<1> Ahf(0,0)<1;1,0>".into(), &bytes),
        Case::new(
            "fcvt (M1_NM, 16) Eub(0,0)<1> Ahf(0,0)<1;1,0>\nfcvt (M1_NM, 16) Dhf(0,0)<1> Eub(0,0)<1;1,0>".into(),
            &back,
        ),
    ];
    check("pvc", 16, 0xffff, &input, &cases);

    let mut input = [0; 384];
    let numbers: [[i32; 16]; 3] = std::array::from_fn(|k| {
        std::array::from_fn(|n| {
            (n as i32).wrapping_mul(0x1357_9bdf).wrapping_mul(k as i32 * 2 + 1) / (n as i32 % 3 + 1)
        })
    });
    for (part, numbers) in numbers.iter().enumerate() {
        for (n, number) in numbers.iter().enumerate() {
            input[part * 128 + n * 4..][..4].copy_from_slice(&number.to_le_bytes());
        }
    }
    let over = |n: usize| -> u32 {
        let sum: i64 = numbers.iter().map(|numbers| i64::from(numbers[n])).sum();
        if i32::try_from(sum).is_err() { 1 } else { 0 }
    };
    assert!((0..16).any(|n| over(n) == 1) && (0..16).any(|n| over(n) == 0));
    let text = "setp (M1_NM, 32) P1 0x0:ud\n(P1) add3.o (M1, 16) Ed(0,0)<1> Ad(0,0)<1;1,0> Bd(0,0)<1;1,0> Cd(0,0)<1;1,0>\n\
                (P1) sel (M1, 16) Dud(0,0)<1> 0x1:ud 0x0:ud";
    let case =
        Case::new(text.into(), &(0..16).flat_map(|n| over(n).to_le_bytes()).collect::<Vec<_>>());
    check("pvc", 16, 0xffff, &input, &[case]);
}

/// `srnd` adds random bits to the bits that it cuts off, and rounds up on a carry.
#[test]
fn random_rounding() {
    let mut input = [0; 384];
    let value = 1.0 + 1.5 / 1024.0;
    floats(&mut input, 0, [value; 16]);
    for n in 0..16_u32 {
        input[128 + n as usize * 4..][..4]
            .copy_from_slice(&(n * 0x200 + 0xffff_0000).to_le_bytes());
    }
    // The cut bits are half a unit: 0x1000 of 0x2000.
    let of = |n: u32| f16::from_bits(if n * 0x200 + 0x1000 >= 0x2000 { 0x3c02 } else { 0x3c01 });
    let expected: Vec<u8> = (0..16).flat_map(|n| of(n).to_le_bytes()).collect();
    let text = "srnd (M1, 16) Dhf(0,0)<1> Af(0,0)<1;1,0> Bud(0,0)<1;1,0>";
    check("pvc", 16, 0xffff, &input, &[Case::new(text.into(), &expected)]);

    // The 8-bit float is the upper half of a half, so its unit is 0x100; infinities stay.
    let halves: [u16; 16] = std::array::from_fn(|n| match n {
        0 => 0x7c00,
        1 => 0xfc00,
        _ => (n as u16 * 0x0b37) ^ if n % 2 == 0 { 0 } else { 0x8000 },
    });
    let mut input = [0; 384];
    for (n, half) in halves.iter().enumerate() {
        input[n * 2..][..2].copy_from_slice(&half.to_le_bytes());
        input[128 + n * 4..][..4].copy_from_slice(&(n as u32 * 0x91 + 0xabc0_0000).to_le_bytes());
    }
    let of = |(n, &half): (usize, &u16)| match half & 0x7fff {
        0x7c00 => (half >> 8) as u8,
        _ => ((u32::from(half) + ((n as u32 * 0x91) & 0xff)) >> 8) as u8,
    };
    let expected: Vec<u8> = halves.iter().enumerate().map(of).collect();
    let text = "srnd (M1, 16) Dub(0,0)<1> Ahf(0,0)<1;1,0> Bud(0,0)<1;1,0>";
    check("pvc", 16, 0xffff, &input, &[Case::new(text.into(), &expected)]);
}

/// An 8-bit float converts to its half. A half between two 8-bit floats converts to the nearest, or
/// in the middle to the even one.
#[test]
fn floats_of_eight_bits() {
    for first in (0..256).step_by(16) {
        let mut input = [0; 384];
        let halves: Vec<u16> = (first..first + 16).map(|byte| (byte as u16) << 8).collect();
        for n in 0..16_usize {
            input[n] = (first + n) as u8;
            for (k, more) in [(0, 0x80), (1, 0x7f), (2, 0x81)] {
                let place = 128 + k * 32 + n * 2;
                input[place..place + 2].copy_from_slice(&(halves[n] + more).to_le_bytes());
            }
        }
        let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
        let mut cases =
            vec![Case::new("fcvt (M1_NM, 16) Dhf(0,0)<1> Aub(0,0)<1;1,0>".into(), &bytes)];
        for k in 0..3 {
            let mut case =
                Case::new(format!("fcvt (M1_NM, 16) Dub(0,0)<1> Bhf({k},0)<1;1,0>"), &[]);
            for n in 0..16_usize {
                let byte = (first + n) as u8;
                let more = match k {
                    0 => byte & 1,
                    1 => 0,
                    _ => 1,
                };
                // Halves above infinity are NaNs.
                let nan = byte & 0x7f >= 0x7c;
                case.expected[n] = (!nan).then_some(byte.wrapping_add(more));
            }
            cases.push(case);
        }
        // A register of this platform has 32 bytes.
        check("dg2", 16, 0xffff, &input, &cases);
    }
    let input = super::pattern();
    let text = "fcvt (M1_NM, 16) Df(0,0)<1> Aud(0,0)<1;1,0>";
    check("dg2", 16, 0xffff, &input, &[Case::new(text.into(), &input[..64])]);
}
