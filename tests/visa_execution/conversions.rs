//! `mov` of edge operands between all pairs of types, with and without saturation, against Rust's
//! conversions.

use half::{bf16, f16};

use super::{Case, STRIDE, TYPES, check};

/// A number of a type.
#[derive(Clone, Copy)]
enum Number {
    Integer(i128),
    Float(f64),
}

const LANES: usize = 8;

/// Returns the edge operands of a type, as bits.
fn operands(ty: &str) -> [u64; LANES] {
    match ty {
        "hf" => [0x8000, 0x3800, 0x3c01, 0x7bff, 0xfc00, 0x7e01, 0x0001, 0xd63f],
        "bf" => [0x8000, 0x3f00, 0x3f81, 0x7f7f, 0xff80, 0x7fc1, 0x0001, 0xc2fe],
        "f" => [
            0x8000_0000,
            0x3f00_0000,
            0x3f80_0001,
            0x4f7f_ffff,
            0xff80_0000,
            0x7fc0_0001,
            0x0000_0001,
            0xc300_8000,
        ],
        "df" => [
            1 << 63,
            0.5_f64.to_bits(),
            1.000_000_1_f64.to_bits(),
            4.3e9_f64.to_bits(),
            f64::NEG_INFINITY.to_bits(),
            f64::NAN.to_bits(),
            (-1.0e-310_f64).to_bits(),
            (-129.75_f64).to_bits(),
        ],
        _ => [0, 1, 0x7f, 0x80, 0xff81, 0x7fff_ffff, 0x8000_0001, 0xffff_ffff_ffff_fffe],
    }
}

fn is_signed(ty: &str) -> bool {
    matches!(ty, "b" | "w" | "d" | "q")
}

fn number(ty: &str, size: usize, bits: u64) -> Number {
    match ty {
        "hf" => Number::Float(f16::from_bits(bits as u16).to_f64()),
        "bf" => Number::Float(bf16::from_bits(bits as u16).to_f64()),
        "f" => Number::Float(f32::from_bits(bits as u32).into()),
        "df" => Number::Float(f64::from_bits(bits)),
        _ => {
            let above = 64 - size * 8;
            let signed = (bits << above) as i64 >> above;
            Number::Integer(if is_signed(ty) {
                signed.into()
            } else {
                (bits << above >> above).into()
            })
        }
    }
}

/// Returns a number's bits as another type, or `None` if the result is a NaN.
fn converted(number: Number, ty: &str, size: usize, saturate: bool) -> Option<u64> {
    let limit = |value: f64| {
        if saturate && (value.is_nan() || value <= 0.0) {
            0.0
        } else if saturate {
            value.min(1.0)
        } else {
            value
        }
    };
    let float = |value: f64| match ty {
        "hf" => f16::from_f64(value).to_bits().into(),
        "bf" => bf16::from_f64(value).to_bits().into(),
        "f" => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    };
    if matches!(ty, "hf" | "bf" | "f" | "df") {
        let value = match number {
            Number::Integer(number) if ty == "f" && !saturate => {
                return Some((number as f32).to_bits().into());
            }
            Number::Integer(number) => number as f64,
            Number::Float(value) => value,
        };
        let value = limit(value);
        return (!value.is_nan()).then(|| float(value));
    }
    let bits = size * 8;
    let (least, most) = if is_signed(ty) {
        (-(1_i128 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    };
    Some(
        match number {
            Number::Integer(number) if saturate => number.clamp(least, most) as u64,
            Number::Integer(number) => number as u64,
            Number::Float(value) => (value as i128).clamp(least, most) as u64,
        } & (u64::MAX >> (64 - bits)),
    )
}

#[test]
fn all_pairs_of_types() {
    for (from, size) in TYPES {
        let operands = operands(from);
        let mut input = [0; 384];
        for (n, bits) in operands.iter().enumerate() {
            input[n * size..][..size].copy_from_slice(&bits.to_le_bytes()[..size]);
        }
        let mut cases = vec![];
        for (to, bytes) in TYPES {
            for saturate in ["", ".sat"] {
                let mut expected = vec![Some(super::DST); STRIDE];
                for (n, &bits) in operands.iter().enumerate() {
                    let of = number(from, size, bits);
                    // Without saturation, `mov` copies between equal types.
                    let result = if from == to && saturate.is_empty() {
                        Some(bits & (u64::MAX >> (64 - size * 8)))
                    } else {
                        converted(of, to, bytes, !saturate.is_empty())
                    };
                    for k in 0..bytes {
                        expected[n * bytes + k] = result.map(|bits| bits.to_le_bytes()[k]);
                    }
                }
                let text = format!("mov{saturate} (M1, {LANES}) D{to}(0,0)<1> A{from}(0,0)<1;1,0>");
                cases.push(Case { text, expected });
            }
        }
        check("dg2", 8, 0xff, &input, &cases);
    }
}
