//! Readers of the parts of an instruction's text: each returns a value and the rest of the text.

use super::PT;

/// Reads a predicate: its number, whether it is negated, and the rest.
pub(super) fn predicate(text: &str) -> Option<(u64, bool, &str)> {
    let (not, rest) = match text.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let rest = rest.strip_prefix('P')?;
    if let Some(rest) = rest.strip_prefix('T') {
        return Some((PT, not, rest));
    }
    let (number, rest) = decimal(rest)?;
    (number < PT).then_some((number, not, rest))
}

pub(super) fn register(text: &str) -> Option<(u64, &str)> {
    let rest = text.strip_prefix('R')?;
    if let Some(rest) = rest.strip_prefix('Z') {
        return Some((255, rest));
    }
    decimal(rest).filter(|(number, _)| *number < 255)
}

pub(super) fn take_while(text: &str, accept: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !accept(c)).unwrap_or(text.len()))
}

pub(super) fn decimal(text: &str) -> Option<(u64, &str)> {
    let (digits, rest) = take_while(text, |c| c.is_ascii_digit());
    Some((digits.parse().ok()?, rest))
}

/// Reads `0x10` or `-0x10`.
pub(super) fn hex(text: &str) -> Option<(i64, &str)> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (digits, rest) = take_while(rest.strip_prefix("0x")?, |c| c.is_ascii_hexdigit());
    let magnitude = u64::from_str_radix(digits, 16).ok()? as i64;
    Some((if negative { magnitude.wrapping_neg() } else { magnitude }, rest))
}

/// Reads a float immediate as the disassembler prints it.
pub(super) fn float(text: &str) -> Option<(f64, &str)> {
    for (name, value) in [
        ("+INF ", f64::INFINITY),
        ("-INF ", f64::NEG_INFINITY),
        ("+QNAN ", f64::NAN),
        ("-QNAN ", -f64::NAN),
    ] {
        if let Some(rest) = text.strip_prefix(name.trim_end()) {
            return Some((value, rest.strip_prefix(' ').unwrap_or(rest)));
        }
    }
    for (name, sign) in [("+SNAN", 0), ("-SNAN", 1 << 63)] {
        if let Some(rest) = text.strip_prefix(name) {
            return Some((
                f64::from_bits(SIGNALLING | sign),
                rest.strip_prefix(' ').unwrap_or(rest),
            ));
        }
    }
    let end = text.char_indices().find(|&(i, c)| match c {
        '0'..='9' | 'e' => false,
        '.' => !text[i + 1..].starts_with(|c: char| c.is_ascii_digit()),
        '-' | '+' => i > 0 && !text[..i].ends_with('e'),
        _ => true,
    });
    let (number, rest) = text.split_at(end.map_or(text.len(), |(i, _)| i));
    let value = number.parse().ok()?;
    Some((value, if number == "-0.0" { rest.strip_prefix(' ').unwrap_or(rest) } else { rest }))
}

/// Reads a float immediate and returns the bits of an F16.
pub(super) fn half_float(text: &str) -> Option<(u16, &str)> {
    float(text).map(|(value, rest)| (half::f16::from_f64(value).to_bits(), rest))
}

/// Reads two F16, the high one first.
pub(super) fn halves(text: &str) -> Option<([u16; 2], &str)> {
    let (high, rest) = half_float(text)?;
    let (low, rest) = half_float(rest.strip_prefix(", ")?)?;
    Some(([high, low], rest))
}

/// An F64 whose top 20 bits make it a signalling NaN.
const SIGNALLING: u64 = 0x7ff4 << 48;

/// Reads `[R1+0x10]`, `[R1]` or `[0x10]`: register, offset and the rest.
pub(super) fn address(text: &str) -> Option<(u64, i64, &str)> {
    let text = text.strip_prefix('[')?;
    let (base, offset, rest) = match register(text) {
        Some((base, rest)) => match rest.strip_prefix('+') {
            Some(rest) => {
                let (offset, rest) = hex(rest)?;
                (base, offset, rest)
            }
            None => (base, 0, rest),
        },
        None => {
            let (offset, rest) = hex(text)?;
            (255, offset, rest)
        }
    };
    Some((base, offset, rest.strip_prefix(']')?))
}
