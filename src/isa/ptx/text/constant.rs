//! Constant expressions. Facts, `ptx.md` 1.2.

use super::lexer::Kind;
use super::reader::{Reader, Result};
use crate::types::{Kind as TyKind, Ty};

/// The limit of the nesting of expressions.
const MAX_DEPTH: u32 = 256;

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Integer { bits: u64, unsigned: bool },
    Decimal(f64),
    Bits32(u32),
    Bits64(u64),
}

/// Binary operators, from the lowest precedence to the highest.
const LEVELS: &[&[Kind]] = &[
    &[Kind::OrOr],
    &[Kind::AndAnd],
    &[Kind::Punct(b'|')],
    &[Kind::Punct(b'^')],
    &[Kind::Punct(b'&')],
    &[Kind::Equal, Kind::NotEqual],
    &[Kind::Punct(b'<'), Kind::Punct(b'>'), Kind::LessEqual, Kind::GreaterEqual],
    &[Kind::ShiftLeft, Kind::ShiftRight],
    &[Kind::Punct(b'+'), Kind::Punct(b'-')],
    &[Kind::Punct(b'*'), Kind::Punct(b'/'), Kind::Punct(b'%')],
];

fn signed(value: bool) -> Value {
    Value::Integer { bits: value.into(), unsigned: false }
}

impl Reader<'_> {
    /// Whether a constant expression begins here. `-` and `!` may also precede a register.
    pub fn at_constant(&self) -> bool {
        match self.token.kind {
            Kind::Integer { .. } | Kind::Bits32 | Kind::Bits64 | Kind::Decimal => true,
            Kind::Punct(byte) => matches!(byte, b'(' | b'+' | b'-' | b'!' | b'~'),
            Kind::Name => self.here() == "WARP_SZ",
            _ => false,
        }
    }

    pub fn constant(&mut self) -> Result<Value> {
        self.conditional(0)
    }

    /// Reads a constant expression of integers, and returns its low bits.
    pub fn integer(&mut self, what: &str) -> Result<u64> {
        let at = self.token.at;
        match self.constant()? {
            Value::Integer { bits, .. } => Ok(bits),
            _ => self.fail(at, format!("found a float, expected {what}")),
        }
    }

    fn deeper(&mut self, depth: u32) -> Result<u32> {
        match depth < MAX_DEPTH {
            true => Ok(depth + 1),
            false => self.fail(self.token.at, format!("an expression deeper than {MAX_DEPTH}")),
        }
    }

    fn conditional(&mut self, depth: u32) -> Result<Value> {
        let depth = self.deeper(depth)?;
        let at = self.token.at;
        let condition = self.binary(0, depth)?;
        if !self.take(b'?') {
            return Ok(condition);
        }
        let Value::Integer { bits, .. } = condition else {
            return self.fail(at, "found a float, expected an integer condition");
        };
        let at = self.token.at;
        let yes = self.conditional(depth)?;
        self.expect(b':', "`:` of `?:`")?;
        let no = self.conditional(depth)?;
        let chosen = if bits != 0 { yes } else { no };
        match (yes, no) {
            (Value::Integer { unsigned: a, .. }, Value::Integer { unsigned: b, .. }) => {
                match chosen {
                    Value::Integer { bits, .. } => Ok(Value::Integer { bits, unsigned: a | b }),
                    other => Ok(other),
                }
            }
            (Value::Decimal(_), Value::Decimal(_)) => Ok(chosen),
            _ => self.fail(at, "`?:` takes two integers or two decimal floats"),
        }
    }

    fn binary(&mut self, level: usize, depth: u32) -> Result<Value> {
        let depth = self.deeper(depth)?;
        let mut left = self.unary(depth)?;
        while let Some(found) =
            LEVELS[level..].iter().position(|kinds| kinds.contains(&self.token.kind))
        {
            let (kind, at) = (self.token.kind, self.token.at);
            self.advance();
            let right = match level + found + 1 {
                next if next < LEVELS.len() => self.binary(next, depth)?,
                _ => self.unary(depth)?,
            };
            left = self.apply(kind, at, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self, depth: u32) -> Result<Value> {
        let depth = self.deeper(depth)?;
        let at = self.token.at;
        let Kind::Punct(byte @ (b'+' | b'-' | b'!' | b'~')) = self.token.kind else {
            return self.primary(depth);
        };
        self.advance();
        let value = self.unary(depth)?;
        match (byte, value) {
            (b'+', Value::Integer { .. } | Value::Decimal(_)) => Ok(value),
            (b'-', Value::Integer { bits, unsigned }) => {
                Ok(Value::Integer { bits: bits.wrapping_neg(), unsigned })
            }
            (b'-', Value::Decimal(value)) => Ok(Value::Decimal(-value)),
            (b'!', Value::Integer { bits, .. }) => Ok(signed(bits == 0)),
            (b'~', Value::Integer { bits, .. }) => {
                Ok(Value::Integer { bits: !bits, unsigned: true })
            }
            _ => self.fail(at, format!("`{}` does not take this float", char::from(byte))),
        }
    }

    fn primary(&mut self, depth: u32) -> Result<Value> {
        let token = self.token;
        let value = match token.kind {
            Kind::Integer { unsigned } => Value::Integer { bits: token.value, unsigned },
            Kind::Bits32 => Value::Bits32(token.value as u32),
            Kind::Bits64 => Value::Bits64(token.value),
            Kind::Decimal => Value::Decimal(f64::from_bits(token.value)),
            Kind::Name if self.here() == "WARP_SZ" => Value::Integer { bits: 32, unsigned: false },
            Kind::Punct(b'(') => {
                self.advance();
                return self.parenthesised(depth);
            }
            _ => return self.unexpected("a constant"),
        };
        self.advance();
        Ok(value)
    }

    /// Reads the part after `(`: an expression, or the type of a cast.
    fn parenthesised(&mut self, depth: u32) -> Result<Value> {
        let unsigned = match self.token.kind {
            Kind::Word => match self.word() {
                "s64" => false,
                "u64" => true,
                _ => return self.unexpected("`.s64` or `.u64`"),
            },
            _ => {
                let value = self.conditional(depth)?;
                self.expect(b')', "`)`")?;
                return Ok(value);
            }
        };
        self.advance();
        self.expect(b')', "`)`")?;
        let at = self.token.at;
        match self.unary(depth)? {
            Value::Integer { bits, .. } => Ok(Value::Integer { bits, unsigned }),
            _ => self.fail(at, "found a float, expected an integer behind a cast"),
        }
    }

    fn apply(&mut self, kind: Kind, at: u32, left: Value, right: Value) -> Result<Value> {
        match (left, right) {
            (
                Value::Integer { bits: a, unsigned: ua },
                Value::Integer { bits: b, unsigned: ub },
            ) => {
                if b == 0 && matches!(kind, Kind::Punct(b'/' | b'%')) {
                    return self.fail(at, "a division by zero");
                }
                Ok(integers(kind, (a, ua), (b, ub)))
            }
            (Value::Decimal(a), Value::Decimal(b)) => match kind {
                Kind::Punct(b'+') => Ok(Value::Decimal(a + b)),
                Kind::Punct(b'-') => Ok(Value::Decimal(a - b)),
                Kind::Punct(b'*') => Ok(Value::Decimal(a * b)),
                Kind::Punct(b'/') => Ok(Value::Decimal(a / b)),
                _ => self.fail(at, "floats have `+ - * /` alone"),
            },
            (Value::Bits32(_) | Value::Bits64(_), _) | (_, Value::Bits32(_) | Value::Bits64(_)) => {
                self.fail(at, "a float in hexadecimal digits stands in no expression")
            }
            _ => self.fail(at, "an integer and a float in one expression"),
        }
    }
}

/// Applies a binary operator. The caller checks that a divisor `b` is not 0.
fn integers(kind: Kind, (a, a_unsigned): (u64, bool), (b, b_unsigned): (u64, bool)) -> Value {
    let either = a_unsigned || b_unsigned;
    let (sa, sb) = (a as i64, b as i64);
    let of = |bits: u64, unsigned: bool| Value::Integer { bits, unsigned };
    let less = if either { a < b } else { sa < sb };
    match kind {
        Kind::Punct(b'+') => of(a.wrapping_add(b), either),
        Kind::Punct(b'-') => of(a.wrapping_sub(b), either),
        Kind::Punct(b'*') => of(a.wrapping_mul(b), either),
        Kind::Punct(b'/') if either => of(a / b, true),
        Kind::Punct(b'/') => of(sa.wrapping_div(sb) as u64, false),
        Kind::Punct(b'%') => of(a % b, true),
        Kind::ShiftLeft => of(a.wrapping_shl(b as u32), a_unsigned),
        Kind::ShiftRight if a_unsigned => of(a.wrapping_shr(b as u32), true),
        Kind::ShiftRight => of(sa.wrapping_shr(b as u32) as u64, false),
        Kind::Punct(b'<') => signed(less),
        Kind::GreaterEqual => signed(!less),
        Kind::Punct(b'>') => signed(!less && a != b),
        Kind::LessEqual => signed(less || a == b),
        Kind::Equal => signed(a == b),
        Kind::NotEqual => signed(a != b),
        Kind::Punct(b'&') => of(a & b, either),
        Kind::Punct(b'|') => of(a | b, either),
        Kind::Punct(b'^') => of(a ^ b, either),
        Kind::AndAnd => signed(a != 0 && b != 0),
        _ => signed(a != 0 || b != 0),
    }
}

/// Returns the bits of a constant in a variable of a type, or an error message.
pub(super) fn bits_of(value: Value, ty: Ty) -> std::result::Result<u64, &'static str> {
    match (value, ty.kind()) {
        (Value::Integer { bits, .. }, TyKind::Bits | TyKind::Unsigned | TyKind::Signed) => Ok(bits),
        (Value::Bits32(bits), TyKind::Bits) if ty.bits() == 32 => Ok(bits.into()),
        (Value::Bits64(bits), TyKind::Bits) if ty.bits() == 64 => Ok(bits),
        (Value::Bits32(bits), TyKind::Float) if matches!(ty.bits(), 32 | 64) => Ok(bits.into()),
        (Value::Bits64(bits), TyKind::Float) if ty.bits() == 64 => Ok(bits),
        (Value::Bits64(bits), TyKind::Float) if ty.bits() == 32 => {
            Ok((f64::from_bits(bits) as f32).to_bits().into())
        }
        (Value::Decimal(value), TyKind::Float) if ty.bits() == 64 => Ok(value.to_bits()),
        (Value::Decimal(value), TyKind::Float) if ty.bits() == 32 => {
            let single = value as f32;
            match single.is_infinite() && value.is_finite() {
                true => Err("found a float out of range"),
                false => Ok(single.to_bits().into()),
            }
        }
        (Value::Integer { .. }, _) => Err("found an integer, expected a float"),
        _ => Err("found a float, expected an integer"),
    }
}
