//! The functions that NVIDIA's hardware approximates, bit by bit as an H200 for every operand that
//! was tried, which is every mantissa of every function. Source: facts, `maxwell-semantics.md` 4.1.
//!
//! The operand's mantissa, or fraction, has 23 bits. The upper bits choose an interval, in which
//! the function is a polynomial of the other bits. Their square lacks the partial products below a
//! place.

mod tables;

use serde::{Deserialize, Serialize};
use tables::{
    LOGARITHM, POWER, RECIPROCAL, RECIPROCAL_ROOT, RECIPROCAL_ROOT_OF_DOUBLE, ROOT, ROOT_OF_DOUBLE,
    SINE,
};

use super::{Function, Op, SharedFn};

/// The source of MUFU.RCP and MUFU.RSQ, the approximate reciprocal and reciprocal root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reciprocals {
    /// The nearest float. This is fast.
    #[default]
    Rounded,
    /// The result of an H200, bit by bit, which is another float for 13 % (reciprocals) and 22 %
    /// (roots) of operands. An instruction takes much longer.
    Table,
}

/// Takes reciprocals and reciprocal roots of a function from the tables, instead of rounding
/// correctly.
pub fn use_tables(function: &mut Function) {
    for inst in function.blocks.iter_mut().flat_map(|block| &mut block.insts) {
        if let Op::Shared { function, .. } = &mut inst.op {
            *function = match *function {
                SharedFn::Rcp => SharedFn::TableRcp,
                SharedFn::Rsq => SharedFn::TableRsq,
                other => other,
            };
        }
    }
}

/// A row of a table as numbers whose sums and products are exact in `f64`, for vector code.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Row {
    /// The constant including the bias, in 2^-17 of a unit.
    pub constant: f64,
    pub slope: f32,
    /// The curvature times 4: it applies to the square's upper 15 bits.
    pub curvature: f32,
}

/// Rows for the equal parts of an interval, or of two consecutive intervals.
#[derive(Clone, Copy)]
pub struct Rows {
    pub rows: &'static [Row],
    /// The number of rows of an interval, as a power of two.
    pub parts: u32,
}

macro_rules! rows {
    ($parts:literal, $($table:ident),+) => {{
        static ROWS: [[Row; 1 << $parts]; [$(&$table.rows),+].len()] = [$($table.exact()),+];
        Rows { rows: ROWS.as_flattened(), parts: $parts }
    }};
}

/// The table of a function. Roots have a second interval, for numbers whose exponent is odd.
pub fn rows(function: SharedFn) -> Option<Rows> {
    Some(match function {
        SharedFn::TableRcp | SharedFn::Rcp64High => rows!(7, RECIPROCAL),
        SharedFn::TableRsq | SharedFn::Rsq64High => {
            rows!(6, RECIPROCAL_ROOT, RECIPROCAL_ROOT_OF_DOUBLE)
        }
        SharedFn::TableSqrt => rows!(6, ROOT, ROOT_OF_DOUBLE),
        SharedFn::TableLg2 => rows!(6, LOGARITHM),
        SharedFn::TableEx2 => rows!(6, POWER),
        SharedFn::TableSin | SharedFn::TableCos => rows!(6, SINE),
        _ => return None,
    })
}

/// Polynomials for the equal parts of an interval.
struct Table<const N: usize> {
    /// A number added to all values, in 2^-17 of a unit.
    bias: i64,
    /// The constant in quarters of a unit; slope and curvature over a part, in units.
    rows: [(i32, i32, i32); N],
}

/// The NaN that arithmetic makes.
pub const NAN: u32 = 0x7fff_ffff;
const INFINITY: u32 = f32::INFINITY.to_bits();
const ONE: u32 = 1f32.to_bits();
const SIGN: u32 = 1 << 31;

/// The bits of a fraction; below, the bits of the part of it that the polynomials take.
pub const FRACTION: u32 = 23;
pub const PART: u32 = 17;

impl<const N: usize> Table<N> {
    const fn exact(&self) -> [Row; N] {
        let mut rows = [Row { constant: 0.0, slope: 0.0, curvature: 0.0 }; N];
        let mut at = 0;
        while at < N {
            let (constant, slope, curvature) = self.rows[at];
            let constant = ((constant as i64) << (PART - 2)) + self.bias;
            rows[at] = Row {
                constant: constant as f64,
                slope: slope as f32,
                curvature: (curvature * 4) as f32,
            };
            at += 1;
        }
        rows
    }

    /// The value at a fraction of 23 bits, in 2^-17 of a unit.
    fn at(&self, fraction: u32) -> i64 {
        let bits = FRACTION - N.ilog2();
        let (constant, slope, curvature) = self.rows[(fraction >> bits) as usize];
        let rest = (fraction & ((1 << bits) - 1)) << (PART - bits);
        (i64::from(constant) << (PART - 2))
            + self.bias
            + i64::from(slope) * i64::from(rest)
            + ((i64::from(curvature) * i64::from(square(rest))) << 2)
    }
}

/// The upper 15 bits of the square of 17 bits, without the carries from products of single bits
/// below these 15 bits.
fn square(x: u32) -> u32 {
    const DROPPED: u32 = 2 * PART - 15;
    // Products of the lower nine bits with each other contribute nothing.
    let upper = x >> 9;
    let squares = (upper * upper - (upper & 1)) / 2;
    (2..9).fold(squares, |sum, bit| sum + (x >> bit & 1) * (x >> (DROPPED - 1 - bit)))
}

/// The mantissa of a number with its implied bit, and its exponent. Denormals are zeros.
fn parts(x: u32) -> (u32, i32) {
    (x & 0x007f_ffff | 0x0080_0000, (x >> FRACTION & 255) as i32 - 127)
}

fn is_nan(x: u32) -> bool {
    x & !SIGN > INFINITY
}

fn is_zero(x: u32) -> bool {
    x & INFINITY == 0
}

/// `magnitude` times two to the power of `unit`, truncated to the places of a float. The result
/// must not be denormal.
fn cut(magnitude: u64, unit: i32) -> u32 {
    if magnitude == 0 {
        return 0;
    }
    let above = 63 - magnitude.leading_zeros() as i32;
    let places = if above > 23 { magnitude >> (above - 23) } else { magnitude << (23 - above) };
    ((above + unit + 127) as u32) << FRACTION | places as u32 & 0x007f_ffff
}

/// 1/x. Denormals become 0.
pub fn rcp(x: u32) -> u32 {
    let sign = x & SIGN;
    match x & !SIGN {
        _ if is_nan(x) => return NAN,
        _ if is_zero(x) => return sign | INFINITY,
        INFINITY => return sign,
        _ => {}
    }
    let (mantissa, exponent) = parts(x);
    sign | FLOAT.encode(RECIPROCAL.at(mantissa & 0x007f_ffff) >> PART, -exponent)
}

/// 1/sqrt(x); infinite for denormals.
pub fn rsq(x: u32) -> u32 {
    match x {
        _ if is_nan(x) => return NAN,
        _ if is_zero(x) => return x & SIGN | INFINITY,
        _ if x & SIGN != 0 => return NAN,
        INFINITY => return 0,
        _ => {}
    }
    let (mantissa, exponent) = parts(x);
    let fraction = mantissa & 0x007f_ffff;
    let even = exponent & 1 == 0;
    let value =
        if fraction == 0 && even { 1 << 24 } else { root_table(exponent).at(fraction) >> PART };
    FLOAT.encode(value, -(exponent >> 1))
}

/// The table for reciprocal roots of numbers with this exponent. The root's exponent is half of it,
/// rounded down.
fn root_table(exponent: i32) -> &'static Table<64> {
    if exponent & 1 == 0 { &RECIPROCAL_ROOT } else { &RECIPROCAL_ROOT_OF_DOUBLE }
}

/// sqrt(x); for a denormal, a zero of its sign.
pub fn sqrt(x: u32) -> u32 {
    match x {
        _ if is_nan(x) => return NAN,
        _ if is_zero(x) => return x & SIGN,
        _ if x & SIGN != 0 => return NAN,
        INFINITY => return INFINITY,
        _ => {}
    }
    let (mantissa, exponent) = parts(x);
    let table = if exponent & 1 == 0 { &ROOT } else { &ROOT_OF_DOUBLE };
    FLOAT.encode(table.at(mantissa & 0x007f_ffff) >> (PART + 1), (exponent >> 1) + 1)
}

/// The encoding of a number in a word.
struct Word {
    /// The bits of the fraction.
    fraction: u32,
    bias: i32,
}

const FLOAT: Word = Word { fraction: FRACTION, bias: 127 };
/// The upper half of an `f64`.
const HIGH: Word = Word { fraction: 20, bias: 1023 };

impl Word {
    /// `value` times two to the power of `exponent`. `value` is 1, or a fraction of 1 with one bit
    /// more than this encoding has, with its first bit set. A denormal result becomes 0.
    fn encode(&self, value: i64, exponent: i32) -> u32 {
        let above = (value >> (self.fraction + 1)) as i32;
        match exponent + self.bias - 1 + above {
            biased @ 1.. => {
                let places = if above > 0 { 0 } else { value as u32 & ((1 << self.fraction) - 1) };
                (biased as u32) << self.fraction | places
            }
            _ => 0,
        }
    }
}

/// 2^x. Denormals become 0.
pub fn ex2(x: u32) -> u32 {
    match x {
        _ if is_nan(x) => return NAN,
        _ if is_zero(x) => return ONE,
        _ => {}
    }
    let (mantissa, exponent) = parts(x);
    let negative = x & SIGN != 0;
    if exponent > 7 {
        return if negative { 0 } else { INFINITY };
    }
    let magnitude = match exponent {
        0.. => i64::from(mantissa) << exponent,
        _ => i64::from(mantissa.checked_shr(-exponent as u32).unwrap_or(0)),
    };
    // The bits of a negative number are inverted; a whole number is negated exactly.
    let whole = magnitude & ((1 << FRACTION) - 1) == 0;
    let fixed = if negative { !magnitude + i64::from(whole) } else { magnitude };
    let value = POWER.at(fixed as u32 & ((1 << FRACTION) - 1)) >> PART;
    match fixed >> FRACTION {
        128.. => INFINITY,
        power @ -126.. => ((power + 127) as u32) << FRACTION | value as u32 & 0x007f_ffff,
        _ => 0,
    }
}

/// The places behind the point of a logarithm. Lower places are truncated.
pub const PLACES: i32 = 36;

/// log2(x); for a denormal as for 0.
pub fn lg2(x: u32) -> u32 {
    match x {
        _ if is_nan(x) => return NAN,
        _ if is_zero(x) => return INFINITY | SIGN,
        _ if x & SIGN != 0 => return NAN,
        INFINITY => return INFINITY,
        ONE => return 0,
        _ => {}
    }
    let (mantissa, exponent) = parts(x);
    let fraction = LOGARITHM.at(mantissa & 0x007f_ffff) >> (24 + PART as i32 - PLACES);
    let sum = (i64::from(exponent) << PLACES) + fraction;
    // The bits of a negative sum are inverted.
    if sum < 0 { SIGN | cut(!sum as u64, -PLACES) } else { cut(sum as u64, -PLACES) }
}

/// The sine or cosine of x turns.
fn turn(x: u32, cosine: bool) -> u32 {
    if x & !SIGN >= INFINITY {
        return NAN;
    }
    let (mantissa, exponent) = parts(x);
    // The angle is in 2^-25 of one turn.
    let places = exponent + 2;
    let angle = match places {
        _ if is_zero(x) => 0,
        0..25 => mantissa << places & ((1 << 25) - 1),
        25.. => 0,
        _ => mantissa.checked_shr(-places as u32).unwrap_or(0),
    };
    let angle = if cosine { angle + (1 << FRACTION) } else { angle };
    let (quarter, fraction) = (angle >> FRACTION & 3, angle & ((1 << FRACTION) - 1));
    let fraction = if quarter & 1 != 0 { (1 << FRACTION) - 1 - fraction } else { fraction };
    let sign = (quarter & 2) << 30 ^ if cosine { 0 } else { x & SIGN };
    sign | cut(SINE.at(fraction) as u64, -24 - PART as i32)
}

/// sin(2 pi x). The angle is truncated to 2^-25 of a turn. In odd quarters, counted from 0, it
/// counts as 2^-25 of a turn more.
pub(crate) fn sine_of_turns(x: u32) -> u32 {
    turn(x, false)
}

/// cos(2 pi x), computed like the sine.
pub(crate) fn cosine_of_turns(x: u32) -> u32 {
    turn(x, true)
}

/// The parts of an `f64`'s high word. The error is infinity for zeros and denormals, 0 for
/// infinity, and a NaN for a NaN.
fn high_parts(x: u32) -> Result<(u32, i32), u32> {
    const HIGH_INFINITY: u32 = 0x7ff0_0000;
    match x & HIGH_INFINITY {
        0 => Err(x & SIGN | HIGH_INFINITY),
        HIGH_INFINITY if x & !SIGN == HIGH_INFINITY => Err(x & SIGN),
        HIGH_INFINITY => Err(NAN),
        exponent => Ok((x & 0x000f_ffff, (exponent >> 20) as i32 - 1023)),
    }
}

/// The high word of 1/x, for the high word of an `f64`.
pub(crate) fn rcp64_high(x: u32) -> u32 {
    high_parts(x).map_or_else(
        |special| special,
        |(mantissa, exponent)| {
            x & SIGN | HIGH.encode(RECIPROCAL.at(mantissa << 3) >> (PART + 3), -exponent)
        },
    )
}

/// The high word of 1/sqrt(x), for the high word of an `f64`.
pub(crate) fn rsq64_high(x: u32) -> u32 {
    match high_parts(x) {
        Err(special) if special == SIGN => NAN,
        Err(special) => special,
        Ok(_) if x & SIGN != 0 => NAN,
        Ok((0, exponent)) if exponent & 1 == 0 => ((1023 - exponent / 2) as u32) << 20,
        Ok((mantissa, exponent)) => {
            HIGH.encode(root_table(exponent).at(mantissa << 3) >> (PART + 3), -(exponent >> 1))
        }
    }
}

#[cfg(test)]
mod tests;
