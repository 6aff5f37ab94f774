//! Rounds results of `f64` once to floats of all types. It is known on which side of its `f64` each
//! exact result lies.

/// A float type: its name, bytes, digits, and the exponent of its least normal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float {
    pub name: &'static str,
    pub size: usize,
    digits: i32,
    least: i32,
}

pub const HF: Float = Float { name: "hf", size: 2, digits: 11, least: -14 };
pub const BF: Float = Float { name: "bf", size: 2, digits: 8, least: -126 };
pub const F: Float = Float { name: "f", size: 4, digits: 24, least: -126 };
pub const DF: Float = Float { name: "df", size: 8, digits: 53, least: -1022 };

/// The values of the rounding bits of `%cr0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Nearest = 0,
    Up = 1,
    Down = 2,
    Zero = 3,
}

fn power(exponent: i32) -> f64 {
    // Two factors, so that both are normal.
    2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2)
}

impl Float {
    pub fn of_bits(self, bits: u64) -> f64 {
        match self.name {
            "hf" => half::f16::from_bits(bits as u16).to_f64(),
            "bf" => f32::from_bits((bits as u32) << 16).into(),
            "f" => f32::from_bits(bits as u32).into(),
            _ => f64::from_bits(bits),
        }
    }

    /// Returns the bits of a number that the type can hold, or of the type's NaN.
    pub fn bits(self, number: f64) -> u64 {
        match self.name {
            "hf" if number.is_nan() => 0x7e00,
            "bf" if number.is_nan() => 0x7fc0,
            "f" if number.is_nan() => 0x7fc0_0000,
            "df" if number.is_nan() => 0x7ff8 << 48,
            "hf" => half::f16::from_f64(number).to_bits().into(),
            "bf" => ((number as f32).to_bits() >> 16).into(),
            "f" => (number as f32).to_bits().into(),
            _ => number.to_bits(),
        }
    }

    fn most(self) -> f64 {
        let digits = power(self.digits);
        (digits - 1.0) * power(2 - self.least - self.digits)
    }

    /// Returns the number of this type that a result rounds to.
    pub fn rounded(self, result: Exact, mode: Mode) -> f64 {
        if result.cancels {
            return if mode == Mode::Down { -0.0 } else { 0.0 };
        }
        if self == DF {
            return match mode {
                Mode::Nearest => result.near,
                Mode::Up if result.rest > 0.0 => result.near.next_up(),
                Mode::Down if result.rest < 0.0 => result.near.next_down(),
                Mode::Zero if result.rest * result.near < 0.0 => {
                    (result.near.abs().next_down()).copysign(result.near)
                }
                _ => result.near,
            };
        }
        let exact = result.odd();
        if exact == 0.0 || !exact.is_finite() {
            return exact;
        }
        let mut exponent = self.least;
        while power(exponent + 1) <= exact.abs() {
            exponent += 1;
        }
        let unit = power(exponent - self.digits + 1);
        let units = exact / unit;
        let whole = match mode {
            Mode::Nearest => units.round_ties_even(),
            Mode::Up => units.ceil(),
            Mode::Down => units.floor(),
            Mode::Zero => units.trunc(),
        };
        let result = (whole * unit).copysign(exact);
        let away = match mode {
            Mode::Nearest => true,
            Mode::Up => exact > 0.0,
            Mode::Down => exact < 0.0,
            Mode::Zero => false,
        };
        match result.abs() > self.most() {
            true if away => f64::INFINITY.copysign(exact),
            true => self.most().copysign(exact),
            false => result,
        }
    }

    /// Returns the number, or a zero of its sign if the number is below the least normal number.
    pub fn flushed(self, number: f64) -> f64 {
        if number.abs() < power(self.least) { 0.0_f64.copysign(number) } else { number }
    }
}

/// A result: the nearest `f64`, and the sign of the rest.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    pub near: f64,
    rest: f64,
    /// The result is a zero, which is negative if results are rounded down.
    cancels: bool,
}

impl Exact {
    pub fn is(near: f64) -> Exact {
        Exact { near, rest: 0.0, cancels: false }
    }

    /// Returns `near`, or, if `near` is inexact and even, its neighbour on the side of the exact
    /// result. A shorter float rounds from this number as from the exact result.
    fn odd(self) -> f64 {
        match self.near {
            near if !near.is_finite() || near.to_bits() & 1 == 1 => near,
            near if self.rest > 0.0 => near.next_up(),
            near if self.rest < 0.0 => near.next_down(),
            near => near,
        }
    }
}

pub fn sum(a: f64, b: f64) -> Exact {
    let near = a + b;
    let of_b = near - a;
    let cancels = near == 0.0 && a.is_sign_negative() != b.is_sign_negative();
    Exact { near, rest: (a - (near - of_b)) + (b - of_b), cancels }
}

pub fn product(a: f64, b: f64) -> Exact {
    let near = a * b;
    Exact { rest: a.mul_add(b, -near), ..Exact::is(near) }
}

/// Returns `a * b + c`. If the product is inexact, the result is the nearest `f64` without a rest.
pub fn fused(a: f64, b: f64, c: f64) -> Exact {
    let product = product(a, b);
    // The rest of a product of tiny doubles may be smaller than the least double.
    let exact = product.rest == 0.0 && (product.near == 0.0 || product.near.abs() > 1.0e-200);
    if exact { sum(product.near, c) } else { Exact::is(a.mul_add(b, c)) }
}

pub fn quotient(a: f64, b: f64) -> Exact {
    let near = a / b;
    Exact { rest: (-near).mul_add(b, a) / b, ..Exact::is(near) }
}

pub fn root(a: f64) -> Exact {
    let near = a.sqrt();
    Exact { rest: (-near).mul_add(near, a), ..Exact::is(near) }
}
