//! The results of instructions on bit patterns, computed by `rustc_apfloat` (exact, rounded once)
//! and not by the IR's definitions.

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    H,
    S,
    D,
}

use Ty::{D, H, S};

impl Ty {
    pub fn bits(self) -> u32 {
        match self {
            H => 16,
            S => 32,
            D => 64,
        }
    }

    pub fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    pub fn infinity(self) -> u64 {
        match self {
            H => 0x7c00,
            S => 0x7f80_0000,
            D => 0x7ff0 << 48,
        }
    }

    pub fn nan(self) -> u64 {
        match self {
            H => 0x7e00,
            S => 0x7fc0_0000,
            D => 0x7ff8 << 48,
        }
    }

    /// Returns the bits of an exact number.
    pub fn of(self, x: f64) -> u64 {
        convert(D, self, Round::NearestTiesToEven, x.to_bits())
    }

    pub fn least_normal(self) -> u64 {
        1 << self.infinity().trailing_zeros()
    }
}

/// The value of the MODE register.
#[derive(Clone, Copy, Debug)]
pub struct Mode(pub u32);

impl Mode {
    pub fn round(self, ty: Ty) -> Round {
        match self.0 >> if ty == S { 0 } else { 2 } & 3 {
            0 => Round::NearestTiesToEven,
            1 => Round::TowardPositive,
            2 => Round::TowardNegative,
            _ => Round::TowardZero,
        }
    }

    pub fn flushes(self, ty: Ty) -> bool {
        self.0 >> if ty == S { 4 } else { 6 } & 3 != 3
    }

    pub fn ieee(self) -> bool {
        self.0 & 0x200 != 0
    }

    /// Returns a value as an instruction reads or writes it in this mode.
    pub fn flush(self, ty: Ty, x: u64) -> u64 {
        if self.flushes(ty) { flush(ty, x) } else { x }
    }

    pub fn result(self, ty: Ty, x: u64) -> u64 {
        self.flush(ty, canonical(ty, x))
    }
}

pub fn flush(ty: Ty, x: u64) -> u64 {
    if x & !ty.sign() < ty.least_normal() { x & ty.sign() } else { x }
}

pub fn canonical(ty: Ty, x: u64) -> u64 {
    if is_nan(ty, x) { ty.nan() } else { x }
}

pub fn is_nan(ty: Ty, x: u64) -> bool {
    x & !ty.sign() > ty.infinity()
}

pub fn is_signaling(ty: Ty, x: u64) -> bool {
    is_nan(ty, x) && x & !ty.sign() < ty.nan()
}

macro_rules! with {
    ($ty:expr, $f:ident($($arg:expr),*)) => {
        match $ty {
            H => $f::<Half>($($arg),*),
            S => $f::<Single>($($arg),*),
            D => $f::<Double>($($arg),*),
        }
    };
}

fn of<F: Float>(x: u64) -> F {
    F::from_bits(x.into())
}

fn bits<F: Float>(x: F) -> u64 {
    x.to_bits() as u64
}

pub fn raw_add(ty: Ty, round: Round, a: u64, b: u64) -> u64 {
    fn go<F: Float>(round: Round, a: u64, b: u64) -> u64 {
        bits(of::<F>(a).add_r(of(b), round).value)
    }
    with!(ty, go(round, a, b))
}

pub fn raw_mul(ty: Ty, round: Round, a: u64, b: u64) -> u64 {
    fn go<F: Float>(round: Round, a: u64, b: u64) -> u64 {
        bits(of::<F>(a).mul_r(of(b), round).value)
    }
    with!(ty, go(round, a, b))
}

pub fn raw_div(ty: Ty, round: Round, a: u64, b: u64) -> u64 {
    fn go<F: Float>(round: Round, a: u64, b: u64) -> u64 {
        bits(of::<F>(a).div_r(of(b), round).value)
    }
    with!(ty, go(round, a, b))
}

pub fn raw_fma(ty: Ty, round: Round, [a, b, c]: [u64; 3]) -> u64 {
    fn go<F: Float>(round: Round, a: u64, b: u64, c: u64) -> u64 {
        bits(of::<F>(a).mul_add_r(of(b), of(c), round).value)
    }
    with!(ty, go(round, a, b, c))
}

pub fn raw_integral(ty: Ty, round: Round, a: u64) -> u64 {
    fn go<F: Float>(round: Round, a: u64) -> u64 {
        bits(of::<F>(a).round_to_integral(round).value)
    }
    with!(ty, go(round, a))
}

pub fn raw_scaled(ty: Ty, round: Round, a: u64, n: i32) -> u64 {
    fn go<F: Float>(round: Round, a: u64, n: i32) -> u64 {
        bits(of::<F>(a).scalbn_r(n, round))
    }
    with!(ty, go(round, a, n.clamp(-5000, 5000)))
}

pub fn convert(from: Ty, to: Ty, round: Round, a: u64) -> u64 {
    fn go<F: FloatConvert<Half> + FloatConvert<Single> + FloatConvert<Double>>(
        to: Ty,
        round: Round,
        a: u64,
    ) -> u64 {
        let (a, mut loses) = (of::<F>(a), false);
        match to {
            H => bits::<Half>(a.convert_r(round, &mut loses).value),
            S => bits::<Single>(a.convert_r(round, &mut loses).value),
            D => bits::<Double>(a.convert_r(round, &mut loses).value),
        }
    }
    with!(from, go(to, round, a))
}

pub fn to_int(ty: Ty, round: Round, signed: bool, a: u64) -> u32 {
    let x = f64::from_bits(convert(ty, D, Round::NearestTiesToEven, a));
    let x = match round {
        Round::NearestTiesToEven => x.round_ties_even(),
        Round::TowardPositive => x.ceil(),
        Round::TowardNegative => x.floor(),
        _ => x.trunc(),
    };
    if signed { x as i32 as u32 } else { x as u32 }
}

pub fn from_int(ty: Ty, round: Round, x: i64) -> u64 {
    fn go<F: Float>(round: Round, x: i64) -> u64 {
        bits(F::from_i128_r(x.into(), round).value)
    }
    with!(ty, go(round, x))
}

/// Returns a value as an `f64`, for comparisons.
pub fn number(ty: Ty, a: u64) -> f64 {
    f64::from_bits(convert(ty, D, Round::NearestTiesToEven, a))
}

impl Mode {
    fn three(self, ty: Ty, x: [u64; 3]) -> [u64; 3] {
        x.map(|x| self.flush(ty, x))
    }

    pub fn add(self, ty: Ty, a: u64, b: u64) -> u64 {
        self.result(ty, raw_add(ty, self.round(ty), self.flush(ty, a), self.flush(ty, b)))
    }

    pub fn sub(self, ty: Ty, a: u64, b: u64) -> u64 {
        let b = if is_nan(ty, b) { b } else { b ^ ty.sign() };
        self.add(ty, a, b)
    }

    pub fn mul(self, ty: Ty, a: u64, b: u64) -> u64 {
        self.result(ty, raw_mul(ty, self.round(ty), self.flush(ty, a), self.flush(ty, b)))
    }

    pub fn fma(self, ty: Ty, x: [u64; 3]) -> u64 {
        self.result(ty, raw_fma(ty, self.round(ty), self.three(ty, x)))
    }

    /// Rounds twice and flushes denormals.
    pub fn mad(self, ty: Ty, x: [u64; 3]) -> u64 {
        let flushing = Mode(self.0 & !0xf0);
        flushing.add(ty, flushing.mul(ty, x[0], x[1]), x[2])
    }

    /// Follows the documents' pseudocode of minimum and maximum.
    fn extreme(self, ty: Ty, a: u64, b: u64, a_wins: impl Fn(f64, f64) -> bool, zero: u64) -> u64 {
        let [fa, fb] = [a, b].map(|x| self.flush(ty, x));
        let (x, y) = (number(ty, fa), number(ty, fb));
        let result = if self.ieee() && (is_signaling(ty, a) || is_signaling(ty, b)) {
            ty.nan()
        } else if x.is_nan() {
            fb
        } else if y.is_nan() {
            fa
        } else if x == 0.0 && y == 0.0 {
            if fa == fb { fa } else { zero }
        } else if a_wins(x, y) {
            fa
        } else {
            fb
        };
        canonical(ty, result)
    }

    pub fn min(self, ty: Ty, a: u64, b: u64) -> u64 {
        self.extreme(ty, a, b, |a, b| a < b, ty.sign())
    }

    pub fn max(self, ty: Ty, a: u64, b: u64) -> u64 {
        self.extreme(ty, a, b, |a, b| a > b, 0)
    }

    pub fn min3(self, ty: Ty, [a, b, c]: [u64; 3]) -> u64 {
        self.min(ty, self.min(ty, a, b), c)
    }

    pub fn max3(self, ty: Ty, [a, b, c]: [u64; 3]) -> u64 {
        self.max(ty, self.max(ty, a, b), c)
    }

    pub fn med3(self, ty: Ty, x @ [a, b, c]: [u64; 3]) -> u64 {
        let [na, nb, nc] = x.map(|x| number(ty, self.flush(ty, x)));
        if na.is_nan() || nb.is_nan() || nc.is_nan() {
            return self.min3(ty, x);
        }
        let greatest = number(ty, self.max3(ty, x));
        if greatest == na {
            self.max(ty, b, c)
        } else if greatest == nb {
            self.max(ty, a, c)
        } else {
            self.max(ty, a, b)
        }
    }

    pub fn integral(self, ty: Ty, round: Round, a: u64) -> u64 {
        let a = self.flush(ty, a);
        canonical(ty, raw_integral(ty, round, a))
    }

    pub fn fract(self, ty: Ty, a: u64) -> u64 {
        let rest = self.sub(ty, a, self.integral(ty, Round::TowardNegative, a));
        if is_nan(ty, rest) || rest & ty.sign() != 0 { rest } else { rest.min(ty.of(1.0) - 1) }
    }

    pub fn ldexp(self, ty: Ty, a: u64, n: i32) -> u64 {
        self.result(ty, raw_scaled(ty, self.round(ty), self.flush(ty, a), n))
    }

    /// Returns the fraction and the exponent.
    pub fn frexp(self, ty: Ty, a: u64) -> (u64, i32) {
        let a = self.flush(ty, a);
        let x = number(ty, a);
        if x == 0.0 || !x.is_finite() {
            return (canonical(ty, a), 0);
        }
        // Scaling by powers of two is exact; the least numbers take several steps.
        let (mut m, mut e) = (x, 0);
        while m.abs() >= 1.0 {
            (m, e) = (m / 2.0, e + 1);
        }
        while m.abs() < 0.5 {
            (m, e) = (m * 2.0, e - 1);
        }
        (ty.of(m), e)
    }
}

/// Returns the bit of the operand's class in a class mask.
pub fn class(ty: Ty, a: u64) -> u32 {
    let (negative, magnitude) = (a & ty.sign() != 0, a & !ty.sign());
    let pair = if is_signaling(ty, a) {
        return 1;
    } else if is_nan(ty, a) {
        return 2;
    } else if magnitude == ty.infinity() {
        [9, 2]
    } else if magnitude >= ty.least_normal() {
        [8, 3]
    } else if magnitude != 0 {
        [7, 4]
    } else {
        [6, 5]
    };
    1 << pair[usize::from(negative)]
}
