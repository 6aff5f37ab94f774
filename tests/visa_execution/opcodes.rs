//! Every opcode that computes, on edge operands, against Rust.

use super::{Case, check};

/// Returns an instruction's result from a lane's elements of A, B and C.
type Expect = fn(u32, u32, u32) -> u32;

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn s(bits: u32) -> i64 {
    i64::from(bits as i32)
}

fn u(bits: u32) -> i64 {
    bits.into()
}

fn all(is: bool) -> u32 {
    if is { u32::MAX } else { 0 }
}

fn clamp(value: i64, least: i64, most: i64) -> u32 {
    value.clamp(least, most) as u32
}

const D_MIN: i64 = i32::MIN as i64;
const D_MAX: i64 = i32::MAX as i64;
const UD_MAX: i64 = u32::MAX as i64;

/// The integer instructions; [`text`] adds the operands' regions.
const INTEGERS: &[(&str, Expect)] = &[
    ("add Dud Aud Bud", |a, b, _| a.wrapping_add(b)),
    ("add.sat Dud Aud Bud", |a, b, _| clamp(u(a) + u(b), 0, UD_MAX)),
    ("add.sat Dd Ad Bd", |a, b, _| clamp(s(a) + s(b), D_MIN, D_MAX)),
    ("add.sat Dud Ad (-)Bud", |a, b, _| clamp(s(a) - u(b), 0, UD_MAX)),
    ("add Dd (abs)Ad (-)Bd", |a, b, _| (s(a).abs() - s(b)) as u32),
    ("add.sat Dd (abs)Ad 0x0:d", |a, _, _| clamp(s(a).abs(), D_MIN, D_MAX)),
    ("add3 Dd Ad Bd Cd", |a, b, c| a.wrapping_add(b).wrapping_add(c)),
    ("add3.sat Dd Ad Bd Cd", |a, b, c| clamp(s(a) + s(b) + s(c), D_MIN, D_MAX)),
    ("avg Dd Ad Bd", |a, b, _| ((s(a) + s(b) + 1) >> 1) as u32),
    ("avg Dud Aud Bud", |a, b, _| ((u(a) + u(b) + 1) >> 1) as u32),
    ("mul Dud Aud Bud", |a, b, _| a.wrapping_mul(b)),
    ("mulh Dud Aud Bud", |a, b, _| ((u64::from(a) * u64::from(b)) >> 32) as u32),
    ("mulh Dd Ad Bd", |a, b, _| ((s(a) * s(b)) >> 32) as u32),
    ("mad Dd Ad Bd Cd", |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    ("div Dd Ad Bd", |a, b, _| match b {
        0 if (a as i32) < 0 => 0x8000_0000,
        0 => 0x7fff_ffff,
        b => (a as i32).wrapping_div(b as i32) as u32,
    }),
    ("div Dud Aud Bud", |a, b, _| a.checked_div(b).unwrap_or(u32::MAX)),
    ("mod Dd Ad Bd", |a, b, _| match b {
        0 if (a as i32) < 0 => 0x8000_0000,
        0 => 0x7fff_ffff,
        b => (a as i32).wrapping_rem(b as i32) as u32,
    }),
    ("mod Dud Aud Bud", |a, b, _| a.checked_rem(b).unwrap_or(u32::MAX)),
    ("dp4a Dd Ad Bd Cd", |a, b, c| dot(a, b, c, true, true)),
    ("dp4a Dud Aud Bud Cud", |a, b, c| dot(a, b, c, false, false)),
    ("dp4a Dd Ad Bd Cud", |a, b, c| dot(a, b, c, true, false)),
    ("and Dud Aud (~)Bud", |a, b, _| a & !b),
    ("or Dud Aud Bud", |a, b, _| a | b),
    ("xor Dud Aud Bud", |a, b, _| a ^ b),
    ("not Dud Aud", |a, _, _| !a),
    ("shl Dud Aud Bud", |a, b, _| a << (b & 31)),
    ("shr Dud Aud Bud", |a, b, _| a >> (b & 31)),
    ("asr Dd Ad Bd", |a, b, _| ((a as i32) >> (b & 31)) as u32),
    ("asr Dud Aud Bud", |a, b, _| a >> (b & 31)),
    ("rol Dud Aud Bud", |a, b, _| a.rotate_left(b & 31)),
    ("ror Dud Aud Bud", |a, b, _| a.rotate_right(b & 31)),
    ("bfn.x96 Dud Aud Bud Cud", |a, b, c| a ^ b ^ c),
    ("bfn.xca Dud Aud Bud Cud", |a, b, c| table(0xca, a, b, c)),
    ("bfn.x1e Dud Aud Bud Cud", |a, b, c| table(0x1e, a, b, c)),
    ("bfe Dud Aud Bud Cud", |a, b, c| field(a & 31, b & 31, c, false)),
    ("bfe Dd Ad Bd Cd", |a, b, c| field(a & 31, b & 31, c, true)),
    ("bfi Dud Aud Bud Cud 0x12345678:ud", |a, b, c| {
        let mask = (((1_u64 << (a & 31)) - 1) << (b & 31)) as u32;
        (c << (b & 31)) & mask | 0x1234_5678 & !mask
    }),
    ("bfrev Dud Aud", |a, _, _| a.reverse_bits()),
    ("cbit Dud Aud", |a, _, _| a.count_ones()),
    ("lzd Dud Aud", |a, _, _| a.leading_zeros()),
    ("fbl Dud Aud", |a, _, _| if a == 0 { u32::MAX } else { a.trailing_zeros() }),
    ("fbh Dud Aud", |a, _, _| if a == 0 { u32::MAX } else { a.leading_zeros() }),
    ("fbh Dud Ad", |a, _, _| match a as i32 {
        0 | -1 => u32::MAX,
        a if a < 0 => (!a).leading_zeros(),
        a => a.leading_zeros(),
    }),
    ("min Dd Ad Bd", |a, b, _| s(a).min(s(b)) as u32),
    ("max Dd Ad Bd", |a, b, _| s(a).max(s(b)) as u32),
    ("min Dud Aud Bud", |a, b, _| a.min(b)),
    ("max.sat Dd Aud Bd", |a, b, _| clamp(u(a).max(s(b)), D_MIN, D_MAX)),
    ("cmp.lt Dd Ad Bd", |a, b, _| all(s(a) < s(b))),
    ("cmp.ge Dud Aud Bud", |a, b, _| all(a >= b)),
    ("cmp.lt Dud Aud Bd", |a, b, _| all(u(a) < s(b))),
    ("cmp.gt Dud Ad Bud", |a, b, _| all(s(a) > u(b))),
    ("cmp.eq Dud (abs)Ad Bud", |a, b, _| all(s(a).abs() == u(b))),
    ("cmp.ne Dud Ad 0xfffe:w", |a, _, _| all(s(a) != -2)),
    ("sel Dud Aud Bud", |a, _, _| a),
    ("mov Dd (-)Ad", |a, _, _| a.wrapping_neg()),
    ("mov.sat Dd (-)Ad", |a, _, _| clamp(-s(a), D_MIN, D_MAX)),
];

fn dot(base: u32, a: u32, b: u32, signed_a: bool, signed_b: bool) -> u32 {
    let number =
        |byte: u8, signed: bool| if signed { i32::from(byte as i8) } else { i32::from(byte) };
    let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    pairs.fold(base, |sum, (a, b)| {
        sum.wrapping_add((number(a, signed_a) * number(b, signed_b)) as u32)
    })
}

fn table(table: u32, a: u32, b: u32, c: u32) -> u32 {
    (0..32).map(|n| (table >> (a >> n & 1 | (b >> n & 1) << 1 | (c >> n & 1) << 2) & 1) << n).sum()
}

fn field(width: u32, offset: u32, value: u32, signed: bool) -> u32 {
    if width == 0 {
        return 0;
    }
    // Bits past the highest are zeros.
    let width = width.min(32 - offset);
    let bits = value << (32 - width - offset);
    if signed { ((bits as i32) >> (32 - width)) as u32 } else { bits >> (32 - width) }
}

const FLOATS: &[(&str, Expect)] = &[
    ("add Df Af Bf", |a, b, _| (f(a) + f(b)).to_bits()),
    ("add Df Af (-)Bf", |a, b, _| (f(a) - f(b)).to_bits()),
    ("add.sat Df Af Bf", |a, b, _| unit(f(a) + f(b))),
    ("mul Df Af (abs)Bf", |a, b, _| (f(a) * f(b).abs()).to_bits()),
    ("mad Df Af Bf Cf", |a, b, c| f(a).mul_add(f(b), f(c)).to_bits()),
    ("div Df Af Bf", |a, b, _| (f(a) / f(b)).to_bits()),
    ("divm Df Af Bf", |a, b, _| (f(a) / f(b)).to_bits()),
    ("inv Df Af", |a, _, _| (1.0 / f(a)).to_bits()),
    ("sqrt Df Af", |a, _, _| f(a).sqrt().to_bits()),
    ("sqrtm Df Af", |a, _, _| f(a).sqrt().to_bits()),
    ("rndd Df Af", |a, _, _| f(a).floor().to_bits()),
    ("rndu Df Af", |a, _, _| f(a).ceil().to_bits()),
    ("rnde Df Af", |a, _, _| f(a).round_ties_even().to_bits()),
    ("rndz Df Af", |a, _, _| f(a).trunc().to_bits()),
    ("frc Df Af", |a, _, _| below_one(f(a) - f(a).floor())),
    ("lrp Df Af Bf Cf", |a, b, c| f(b).mul_add(f(a), f(c) * (1.0 - f(a))).to_bits()),
    ("cmp.lt Dud Af Bf", |a, b, _| all(f(a) < f(b))),
    ("cmp.ne Dud Af Bf", |a, b, _| all(f(a) != f(b))),
    ("cmp.ge Df Af Bf", |a, b, _| all(f(a) >= f(b))),
    ("sel Df Af Bf", |a, _, _| a),
    ("mov Dud Af", |a, _, _| f(a) as u32),
    ("mov Dd Af", |a, _, _| f(a) as i32 as u32),
];

/// Keeps a fraction below 1.
fn below_one(value: f32) -> u32 {
    if value == 1.0 { 1.0_f32.next_down().to_bits() } else { value.to_bits() }
}

fn unit(value: f32) -> u32 {
    if value.is_nan() || value <= 0.0 { 0 } else { value.min(1.0).to_bits() }
}

/// Returns the bytes of the operands A, B and C.
fn input(words: [[u32; 16]; 3]) -> [u8; 384] {
    let mut input = [0; 384];
    for (words, part) in words.iter().zip(input.chunks_mut(128)) {
        for (word, bytes) in words.iter().zip(part.chunks_mut(4)) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }
    input
}

/// Returns an instruction's text. Its operands are variables or immediates.
fn text(short: &str, exec: &str) -> String {
    let mut words = short.split(' ');
    let mut text = format!("{} ({exec})", words.next().unwrap());
    for (n, word) in words.enumerate() {
        text += " ";
        text += word;
        if !word.contains(':') {
            text += if n == 0 { "(0,0)<1>" } else { "(0,0)<1;1,0>" };
        }
    }
    text
}

fn cases(rows: &[(&str, Expect)], words: [[u32; 16]; 3], is_float: bool) -> Vec<Case> {
    let row = |&(short, expect): &(&str, Expect)| {
        let mut case = Case::new(text(short, "M1, 16"), &[]);
        let [a, b, c] = words;
        for (n, ((a, b), c)) in a.into_iter().zip(b).zip(c).enumerate() {
            let result = expect(a, b, c);
            // Only copies and comparisons define which NaN they return.
            let any = is_float
                && f(result).is_nan()
                && short.contains(" Df")
                && !short.starts_with("sel")
                && !short.starts_with("cmp");
            for k in 0..4 {
                case.expected[n * 4 + k] = (!any).then(|| result.to_le_bytes()[k]);
            }
        }
        case
    };
    rows.iter().map(row).collect()
}

const EDGES: [u32; 16] = [
    0,
    1,
    2,
    31,
    32,
    0x7f,
    0x80,
    0xff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
    0x1234_5678,
];

const FLOAT_EDGES: [f32; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    2.5,
    0.5,
    -0.5,
    3.0e38,
    1.0e-40,
    -1.0e-38,
    16_777_216.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    1.0e10,
    -123.456,
];

fn rotated(words: [u32; 16], by: usize) -> [u32; 16] {
    std::array::from_fn(|n| words[(n + by) % 16])
}

#[test]
fn integer_opcodes() {
    for by in [0, 1, 5, 12] {
        let words = [EDGES, rotated(EDGES, by), rotated(EDGES, by * 3 + 7)];
        check("dg2", 16, 0xffff, &input(words), &cases(INTEGERS, words, false));
    }
}

#[test]
fn float_opcodes() {
    let edges = FLOAT_EDGES.map(f32::to_bits);
    for by in [0, 1, 5, 12] {
        let words = [edges, rotated(edges, by), rotated(edges, by * 3 + 7)];
        check("dg2", 16, 0xffff, &input(words), &cases(FLOATS, words, true));
    }
}

/// Each element of an instruction without a mask is scalar.
#[test]
fn scalar_opcodes() {
    let words = [EDGES, rotated(EDGES, 3), rotated(EDGES, 6)];
    let mut scalars = vec![];
    for &(short, expect) in INTEGERS {
        let text = text(short, "M1_NM, 4");
        let expected: Vec<u8> = (0..4)
            .flat_map(|n| expect(words[0][n], words[1][n], words[2][n]).to_le_bytes())
            .collect();
        scalars.push(Case::new(text, &expected));
    }
    check("pvc", 16, 1, &input(words), &scalars);
}

/// Opcodes with two results, or with elements of other lanes.
#[test]
fn opcodes_of_several_elements() {
    let words = [EDGES, rotated(EDGES, 5), rotated(EDGES, 9)];
    let bytes =
        |of: &dyn Fn(usize) -> u32| (0..16).flat_map(|n| of(n).to_le_bytes()).collect::<Vec<u8>>();
    let [a, b, c] = words;
    let mut cases = vec![
        Case::new(
            "addc (M1, 16) Eud(0,0)<1> Dud(0,0)<1> Aud(0,0)<1;1,0> Bud(0,0)<1;1,0>".into(),
            &bytes(&|n| a[n].overflowing_add(b[n]).1.into()),
        ),
        Case::new(
            "subb (M1, 16) Eud(0,0)<1> Dud(0,0)<1> Aud(0,0)<1;1,0> Bud(0,0)<1;1,0>".into(),
            &bytes(&|n| (a[n] < b[n]).into()),
        ),
    ];
    let wide = |n: usize| i128::from(s(a[n])) * i128::from(s(b[n])) + i128::from(s(c[n]));
    let mut both = bytes(&|n| wide(n) as u32);
    both.extend(bytes(&|n| (wide(n) >> 32) as u32));
    cases.push(Case::new(
        "madw (M1, 16) Dd(0,0)<1> Ad(0,0)<1;1,0> Bd(0,0)<1;1,0> Cd(0,0)<1;1,0>".into(),
        &both,
    ));
    let lanes = |n: usize| if 0x5a3c_u32 >> n & 1 != 0 { a[n] } else { b[n] };
    cases.push(Case::new(
        "setp (M1_NM, 16) P1 0x5a3c:ud\n(P1) sel (M1, 16) Dud(0,0)<1> Aud(0,0)<1;1,0> Bud(0,0)<1;1,0>".into(),
        &bytes(&lanes),
    ));
    let chosen = |n: usize| if a[n] < b[n] { u32::from_le_bytes([super::DST; 4]) } else { c[n] };
    cases.push(Case::new(
        "cmp.lt (M1, 16) P1 Aud(0,0)<1;1,0> Bud(0,0)<1;1,0>\n(!P1) mov (M1, 16) Dud(0,0)<1> Cud(0,0)<1;1,0>".into(),
        &bytes(&chosen),
    ));
    let ballot = (0..16).filter(|&n| a[n] < b[n]).map(|n| 1_u32 << n).sum::<u32>();
    cases.push(Case::new(
        "setp (M1_NM, 32) P1 0x0:ud\ncmp.lt (M1, 16) P1 Aud(0,0)<1;1,0> Bud(0,0)<1;1,0>\nmov (M1_NM, 1) Dud(0,0)<1> P1"
            .into(),
        &ballot.to_le_bytes(),
    ));
    for (combine, mask, holds) in
        [("any", 0_u32, false), ("any", 8, true), ("all", 0xffff, true), ("all", 0xfffe, false)]
    {
        let text = format!(
            "setp (M1_NM, 32) P1 {mask:#x}:ud\n(P1.{combine}) mov (M1, 16) Dud(0,0)<1> Aud(0,0)<1;1,0>"
        );
        cases.push(Case::new(text, &if holds { bytes(&|n| a[n]) } else { vec![] }));
    }
    let logic = "setp (M1_NM, 32) P1 0xff0f:ud\nsetp (M1_NM, 32) P2 0x3c3c:ud\nxor (M1_NM, 32) P3 P1 P2\nnot (M1_NM, 32) P3 P3\nmov (M1_NM, 1) Dud(0,0)<1> P3";
    cases.push(Case::new(logic.into(), &(!(0xff0f_u32 ^ 0x3c3c)).to_le_bytes()));
    let low = |n: usize| u32::from(a[n] as u16) | (u32::from(b[n] as u16) << 16);
    cases.push(Case::new(
        "mov (M1, 16) Duw(0,0)<2> Auw(0,0)<2;1,0>\nmov (M1, 16) Duw(0,1)<2> Buw(0,0)<2;1,0>".into(),
        &bytes(&low),
    ));
    let nibbles: Vec<u8> =
        (0..16).flat_map(|n| [0_i32, 1, 2, 3, 4, 5, 6, -8][n % 8].to_le_bytes()).collect();
    cases.push(Case::new("mov (M1, 16) Dd(0,0)<1> 0x86543210:v".into(), &nibbles));
    check("dg2", 16, 0xffff, &input(words), &cases);
}
