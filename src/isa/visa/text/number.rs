//! Reads numbers and constant expressions.

use super::cursor::{Cursor, is_word};
use super::error::Result;
use crate::types::Ty;

/// The deepest nesting of parentheses.
const MAX_DEPTH: u32 = 16;

impl Cursor<'_> {
    /// Reads a number without a sign, decimal or hexadecimal.
    pub fn number(&mut self, what: &str) -> Result<u64> {
        self.blanks();
        let rest = self.rest();
        let length = rest.bytes().position(|byte| !is_word(byte)).unwrap_or(rest.len());
        let digits = &rest[..length];
        let parsed = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        let is_digit = digits.as_bytes().first().is_some_and(u8::is_ascii_digit);
        match parsed {
            Ok(number) if is_digit => {
                self.at += length;
                Ok(number)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Reads a number below a limit.
    pub fn number_below(&mut self, limit: u64, what: &str) -> Result<u64> {
        self.blanks();
        let before = *self;
        let number = self.number(what)?;
        match number < limit {
            true => Ok(number),
            false => Err(before.wrong(format!("{what} {number}, expected one below {limit}"))),
        }
    }

    /// Reads a constant expression: sums, products, shifts, bits, parentheses.
    pub fn expression(&mut self) -> Result<i64> {
        self.level(0, MAX_DEPTH)
    }

    fn level(&mut self, level: usize, depth: u32) -> Result<i64> {
        const LEVELS: [&[&str]; 6] =
            [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/"]];
        let Some(operators) = LEVELS.get(level) else { return self.primary(depth) };
        let mut left = self.level(level + 1, depth)?;
        loop {
            let place = *self;
            let Some(operator) = operators.iter().find(|operator| self.takes(operator)) else {
                return Ok(left);
            };
            let right = self.level(level + 1, depth)?;
            let shift = u32::try_from(right).unwrap_or(64);
            let result = match *operator {
                "|" => Some(left | right),
                "^" => Some(left ^ right),
                "&" => Some(left & right),
                "<<" => left.checked_shl(shift),
                ">>" => left.checked_shr(shift),
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                _ => left.checked_div(right),
            };
            left = result.ok_or_else(|| place.wrong("a constant that cannot be computed"))?;
        }
    }

    fn primary(&mut self, depth: u32) -> Result<i64> {
        let place = *self;
        let inner =
            depth.checked_sub(1).ok_or_else(|| place.wrong("parentheses that nest too deep"))?;
        match self.next() {
            b'(' => {
                self.expect("(")?;
                let value = self.level(0, inner)?;
                self.expect(")")?;
                Ok(value)
            }
            b'-' => {
                self.expect("-")?;
                self.primary(inner)?
                    .checked_neg()
                    .ok_or_else(|| place.wrong("a constant that cannot be computed"))
            }
            b'~' => {
                self.expect("~")?;
                Ok(!self.primary(inner)?)
            }
            _ => Ok(self.number("a number")? as i64),
        }
    }

    /// Reads an immediate as type and bits: `0x1:d`, `-1:w`, `1.5:f`.
    pub fn immediate(&mut self) -> Result<(Ty, u64)> {
        self.blanks();
        let place = *self;
        let negative = self.takes("-");
        let is_hex = self.rest().starts_with("0x") || self.rest().starts_with("0X");
        let rest = self.rest();
        let float = |c: char| c.is_ascii_digit() || c == '.';
        let run = rest.find(|c| !float(c)).unwrap_or(rest.len());
        let decimal = (!is_hex && rest[..run].contains('.'))
            .then(|| rest[..run].parse::<f64>().ok())
            .flatten();
        if let Some(value) = decimal {
            self.at += run;
            let value = if negative { -value } else { value };
            let ty = if self.joined(":") {
                self.ty()?
            } else if self.joined("d") {
                Ty::Df
            } else {
                self.joined("f");
                Ty::F
            };
            let bits = match ty {
                Ty::F => u64::from((value as f32).to_bits()),
                Ty::Df => value.to_bits(),
                Ty::Hf => half::f16::from_f64(value).to_bits().into(),
                _ => return Err(place.wrong(format!("a float of type `{}`", ty.name()))),
            };
            return Ok((ty, bits));
        }
        let number = self.number("an immediate")?;
        self.expect(":")?;
        let ty = self.ty()?;
        let bits = if negative { number.wrapping_neg() } else { number };
        let wide = matches!(ty, Ty::Df | Ty::Q | Ty::Uq);
        if !wide && number > u32::MAX.into() {
            return Err(place.wrong(format!("{number:#x} in an immediate of type `{}`", ty.name())));
        }
        Ok((ty, if wide { bits } else { bits & 0xffff_ffff }))
    }

    /// Reads a type's name.
    pub fn ty(&mut self) -> Result<Ty> {
        let place = *self;
        let name = self.name("a type")?;
        Ty::from_name(&name.to_ascii_lowercase()).ok_or_else(|| place.expected("a type"))
    }
}
