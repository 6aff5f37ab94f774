//! Logarithm, power, sine and cosine as AMD's and Intel's guests have them: polynomials in `f64`,
//! rounded once to `f32`.
//!
//! The JIT follows these definitions operation by operation (`src/cranelift/lower/special`). They
//! use only sums, products, one quotient, and bits, which every host has in vectors and rounds
//! alike. The polynomials are within 2^-50 of the functions, so results are correctly rounded
//! except for a few of 2^26 operands. Coefficients, lowest first, interpolate the functions at
//! Chebyshev's nodes.

/// A number whose unit in the last place is 1. If it is added to another number, the low word of
/// the sum is the other number, rounded to an integer.
pub const UNITS_OF_1: f64 = 6_755_399_441_055_744.0;

/// `2^x` for x from -1/2 to 1/2.
pub const POWER: [f64; 11] = [
    1.0,
    0.6931471805599462,
    0.24022650695910075,
    0.05550410866465167,
    0.009618129107618665,
    0.0013333558200794592,
    0.00015403530424776529,
    1.5252672924850737e-05,
    1.3215451633221434e-06,
    1.0205905413765595e-07,
    7.070977866508138e-09,
];

/// The exponent beyond which powers are 0 or infinite as `f32`.
pub const MOST_POWER: f64 = 200.0;

/// `log2((1 + q) / (1 - q)) / q` in powers of the square of `q`, for numbers between the roots of
/// 1/2 and 2.
pub const LOGARITHM: [f64; 7] = [
    2.885390081777927,
    0.9617966939243335,
    0.5770780172467822,
    0.4121984019742357,
    0.3206163935263423,
    0.26144407006393944,
    0.2429183013526297,
];

/// The root of 1/2 as an `f32`: the least mantissa.
pub const LEAST_MANTISSA: u32 = 0x3f35_04f3;
/// The bits of exponent and sign.
pub const EXPONENT: u32 = 0xff80_0000;

/// `sin(2 pi x) / x` in powers of the square of `x`, up to an eighth of a turn.
pub const SINE: [f64; 7] = [
    std::f64::consts::TAU,
    -41.341702240399634,
    81.60524927594804,
    -76.70585970427454,
    42.058685020160894,
    -15.093804209987114,
    3.7808689593022957,
];

/// `cos(2 pi x)` in powers of the square of `x`, up to an eighth of a turn.
pub const COSINE: [f64; 7] = [
    1.0,
    -19.739208802178705,
    64.93939402261259,
    -85.45681716509442,
    60.244630008143865,
    -26.424853147906646,
    7.823560405842185,
];

/// The number of turns beyond which sines are 0 and cosines are 1.
pub const MOST_TURNS: f32 = 256.0;

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients
        .iter()
        .rev()
        .copied()
        .reduce(|sum, coefficient| sum * x + coefficient)
        .unwrap_or(0.0)
}

/// 2^x. Results below the normal floats are not flushed to zero here.
pub fn exp2(x: f32) -> f32 {
    let x = f64::from(x);
    let x = if x > MOST_POWER { MOST_POWER } else { x };
    let x = if x < -MOST_POWER { -MOST_POWER } else { x };
    let units = x + UNITS_OF_1;
    let power = polynomial(&POWER, x - (units - UNITS_OF_1));
    f64::from_bits(power.to_bits().wrapping_add(units.to_bits() << 52)) as f32
}

/// log2(x) for normal numbers, zeros, infinities and NaNs.
pub fn log2(x: f32) -> f32 {
    if x <= 0.0 {
        return if x == 0.0 { f32::NEG_INFINITY } else { f32::NAN };
    }
    if x == f32::INFINITY || x.is_nan() {
        return x;
    }
    let above = x.to_bits().wrapping_sub(LEAST_MANTISSA);
    let exponent = f64::from(above as i32 >> 23);
    let mantissa = f64::from(f32::from_bits(x.to_bits().wrapping_sub(above & EXPONENT)));
    let quotient = (mantissa - 1.0) / (mantissa + 1.0);
    (exponent + quotient * polynomial(&LOGARITHM, quotient * quotient)) as f32
}

/// The sine or cosine of x turns. The remainder of x after whole quarters is exact.
pub fn turns(x: f32, cosine: bool) -> f32 {
    if x.abs() > MOST_TURNS {
        // The product makes a NaN of infinity.
        return if cosine { 1.0 } else { 0.0 } + x * 0.0;
    }
    let wide = f64::from(x);
    let units = wide * 4.0 + UNITS_OF_1;
    let rest = wide - (units - UNITS_OF_1) * 0.25;
    let quarter = (units.to_bits() as u32).wrapping_add(cosine.into());
    let square = rest * rest;
    let value = if quarter & 1 == 0 {
        rest * polynomial(&SINE, square)
    } else {
        polynomial(&COSINE, square)
    } as f32;
    let value = f32::from_bits(value.to_bits() ^ (quarter & 2) << 30);
    match (value == 0.0, cosine) {
        (false, _) => value,
        (true, true) => 0.0,
        (true, false) => 0f32.copysign(x),
    }
}
