//! Operands near boundaries of formats, of roundings, and of cases that the lowering distinguishes.

use warploom_ir::{FloatAttrs, NanPolicy, Type, eval};
use warploom_testing::ir::{Random, Source};

use super::variable::variable;

/// Rows of operands: all combinations of edge cases first, then random operands. With a seed in
/// `WARPLOOM_SEED`, all operands are random.
pub struct Operands {
    types: Vec<Type>,
    edges: Vec<Vec<u64>>,
    combination: usize,
    random: Random,
}

impl Operands {
    pub fn new(types: &[Type]) -> Operands {
        let edges: Vec<Vec<u64>> = types.iter().map(|&ty| edges(ty, types.len())).collect();
        let seed = variable("WARPLOOM_SEED");
        let combination = if seed.is_some() { edges.iter().map(Vec::len).product() } else { 0 };
        Operands {
            types: types.to_vec(),
            edges,
            combination,
            random: Random::new(seed.unwrap_or(0)),
        }
    }

    /// Returns a row for each operand.
    pub fn rows(&mut self, lanes: usize) -> Vec<Vec<u64>> {
        let mut rows = vec![Vec::with_capacity(lanes); self.types.len()];
        for _ in 0..lanes {
            for (row, operand) in rows.iter_mut().zip(self.next()) {
                row.push(operand);
            }
        }
        rows
    }

    fn next(&mut self) -> Vec<u64> {
        let combinations: usize = self.edges.iter().map(Vec::len).product();
        if self.combination < combinations {
            let mut left = self.combination;
            self.combination += 1;
            let pick = |edges: &Vec<u64>| {
                let edge = edges[left % edges.len()];
                left /= edges.len();
                edge
            };
            return self.edges.iter().map(pick).collect();
        }
        let mut operands: Vec<u64> = Vec::new();
        for i in 0..self.types.len() {
            let ty = self.types[i];
            operands.push(if ty.is_float() { self.float(ty) } else { self.int(ty) });
        }
        self.relate(&mut operands);
        operands
    }

    fn bits(&mut self) -> u64 {
        u64::from(self.random.below(u32::MAX)) << 32 | u64::from(self.random.below(u32::MAX))
    }

    fn int(&mut self, ty: Type) -> u64 {
        // Any magnitude and sign, with few bits or many.
        let shift = self.random.below(ty.bits());
        let bits = ((self.bits() << (64 - ty.bits())) as i64 >> (64 - ty.bits()) >> shift) as u64;
        let bits =
            if self.random.below(3) == 0 { bits & !0 << self.random.below(64) } else { bits };
        bits & ty.bit_mask()
    }

    fn float(&mut self, ty: Type) -> u64 {
        let mantissa = mantissa(ty);
        let exponents = (1u64 << (ty.bits() - 1 - mantissa)) - 1;
        let random = self.bits();
        let exponent = match self.random.below(8) {
            0 => 0,
            1 => exponents - u64::from(self.random.below(3)),
            2 => 1 + u64::from(self.random.below(mantissa)),
            // Near 1, so that sums cancel and products stay in range.
            3 | 4 => (exponents >> 1) - 8 + u64::from(self.random.below(16)),
            // Values near the ends of integers.
            5 => (exponents >> 1) + u64::from(self.random.below(66)),
            _ => (random >> 40) % (exponents + 1),
        };
        let ones = (1u64 << mantissa) - 1;
        let fraction = match self.random.below(4) {
            0 => 0,
            1 => ones - u64::from(self.random.below(3)),
            2 => u64::from(self.random.below(4)) << self.random.below(mantissa - 2),
            _ => random & ones,
        };
        (random >> 63) << (ty.bits() - 1) | exponent.min(exponents) << mantissa | fraction
    }

    /// Sometimes changes the last operand so that the sum cancels, wholly or nearly.
    fn relate(&mut self, operands: &mut [u64]) {
        let ty = self.types[0];
        if !ty.is_float() || self.random.below(3) > 0 {
            return;
        }
        let sign = 1u64 << (ty.bits() - 1);
        let ulps = u64::from(self.random.below(5)).wrapping_sub(2);
        let other = match operands {
            [] | [_] => return,
            [a, _] => *a,
            [a, b, ..] => {
                // This is the rounded product; the last places of the exact product lie below it.
                let nan = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0x7ff8 << 48 };
                eval::single(|out| {
                    let product = warploom_ir::FloatBinaryOp::Mul;
                    eval::fbinary(product, ty, FloatAttrs::IEEE, nan, &[*a], &[*b], out);
                })
            }
        };
        *operands.last_mut().expect("two operands") =
            (other ^ sign).wrapping_add(ulps) & ty.bit_mask();
    }
}

fn mantissa(ty: Type) -> u32 {
    match ty {
        Type::F16 => 10,
        Type::F32 => 23,
        _ => 52,
    }
}

/// Returns edge cases. With fewer than three operands, they include each width's ends and halves.
fn edges(ty: Type, operands: usize) -> Vec<u64> {
    if !ty.is_float() {
        let ends = [
            0,
            1,
            2,
            3,
            ty.bit_mask(),
            ty.bit_mask() >> 1,
            (ty.bit_mask() >> 1) + 1,
            ty.bit_mask() - 1,
        ];
        let powers =
            (0..ty.bits()).flat_map(|n| [1u64 << n, (1u64 << n).wrapping_sub(1), (1u64 << n) + 1]);
        let near_f32 = [
            0x1_0000_0001u64,
            0x100_0001,
            0x100_0002,
            0x100_0003,
            0x7fff_ff80,
            0x7fff_ffc0,
            0xffff_ff80,
        ];
        let near_f64 = [
            (1u64 << 53) + 1,
            (1 << 53) + 2,
            (1 << 53) + 3,
            !0 << 10,
            i64::MAX as u64 & !0 << 9,
            0xffff_fe00_0000_0000,
        ];
        let all: Vec<u64> =
            ends.into_iter().chain(powers).chain(near_f32).chain(near_f64).collect();
        return all
            .iter()
            .flat_map(|&x| [x, x.wrapping_neg()])
            .map(|x| x & ty.bit_mask())
            .collect();
    }
    let mantissa = mantissa(ty);
    let sign = 1u64 << (ty.bits() - 1);
    let least_normal = 1u64 << mantissa;
    let infinity = sign - least_normal;
    let one = (infinity >> 1) & infinity;
    let mut edges = vec![
        0,
        1,
        2,
        3,
        least_normal - 1,
        least_normal,
        least_normal + 1,
        infinity - 1,
        infinity - 2,
        infinity,
        infinity + 1,
        infinity | least_normal >> 1 | 5,
        one,
        one + 1,
        one - 1,
        // A half, 1.5, 3.
        one - least_normal,
        one + (least_normal >> 1),
        one + least_normal + (least_normal >> 1),
        // The units in the last place of 1 and of the greatest number, their halves, and three
        // halves of the greatest number's unit.
        one - (u64::from(mantissa) << mantissa),
        one - (u64::from(mantissa + 1) << mantissa),
        infinity - (u64::from(mantissa + 1) << mantissa),
        infinity - (u64::from(mantissa + 2) << mantissa),
        infinity - (u64::from(mantissa + 1) << mantissa) + (least_normal >> 1),
    ];
    if operands < 3 {
        // Ends of integers and of narrower floats, with their neighbours, and halves between
        // integers.
        let of_f64 = |x: f64| match ty {
            Type::F16 => u64::from(half::f16::from_f64(x).to_bits()),
            Type::F32 => u64::from((x as f32).to_bits()),
            _ => x.to_bits(),
        };
        let widths = [7, 8, 15, 16, 31, 32, 63, 64].map(|n: i32| 2f64.powi(n));
        let narrow = [
            65504.0,
            65519.0,
            65520.0,
            65536.0,
            f64::from(f32::MAX),
            2f64.powi(128),
            2f64.powi(-14),
        ];
        let tiny =
            [2f64.powi(-24), 2f64.powi(-25), 2f64.powi(-126), 2f64.powi(-149), 2f64.powi(-150)];
        let scaled =
            [2f64.powi(-800), 2f64.powi(-900), 2f64.powi(-450), 2f64.powi(424), 2f64.powi(600)];
        for x in widths.into_iter().chain(narrow).chain(tiny).chain(scaled) {
            edges.extend([of_f64(x), of_f64(x) + 1, of_f64(x).saturating_sub(1)]);
        }
        edges.extend(
            [0.5, 1.5, 2.5, 127.5, 128.5, 255.5, 32767.5, 65535.5, 2147483647.5, 4294967295.5]
                .map(of_f64),
        );
    } else {
        edges.retain(|&x| x != infinity + 1);
    }
    edges.iter().flat_map(|&x| [x & (sign - 1), x | sign]).collect()
}
