//! Readers of the parts of an instruction's text: each returns a value and the rest of the text.

use super::assemble::PT;

/// Reads a predicate, `P` or `UP` with its number: the number, whether it is negated, and the rest.
pub(super) fn predicate<'a>(text: &'a str, file: &str) -> Option<(u64, bool, &'a str)> {
    let (not, rest) = match text.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let rest = rest.strip_prefix(file)?;
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

pub(super) fn uniform(text: &str) -> Option<(u64, &str)> {
    let rest = text.strip_prefix("UR")?;
    if let Some(rest) = rest.strip_prefix('Z') {
        return Some((63, rest));
    }
    decimal(rest).filter(|(number, _)| *number < 63)
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
        ("+INF", f64::INFINITY),
        ("-INF", f64::NEG_INFINITY),
        ("+QNAN", f64::NAN),
        ("-QNAN", -f64::NAN),
        ("+SNAN", f64::from_bits(SIGNALLING)),
        ("-SNAN", f64::from_bits(SIGNALLING | 1 << 63)),
    ] {
        if let Some(rest) = text.strip_prefix(name) {
            return Some((value, rest.strip_prefix(' ').unwrap_or(rest)));
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
    let (value, rest) = float(text)?;
    let bits = match is_signalling(value) {
        true => HALF_SIGNALLING | u16::from(value.is_sign_negative()) << 15,
        false => half::f16::from_f64(value).to_bits(),
    };
    Some((bits, rest))
}

/// Reads a float immediate and returns the bits of an F32.
pub(super) fn single(text: &str) -> Option<(u32, &str)> {
    let (value, rest) = float(text)?;
    let bits = match is_signalling(value) {
        true => SINGLE_SIGNALLING | u32::from(value.is_sign_negative()) << 31,
        false => (value as f32).to_bits(),
    };
    Some((bits, rest))
}

/// Conversions make signalling NaNs quiet.
fn is_signalling(value: f64) -> bool {
    value.to_bits() & !(1 << 63) == SIGNALLING
}

/// Reads two F16, the high one first.
pub(super) fn halves(text: &str) -> Option<([u16; 2], &str)> {
    let (high, rest) = half_float(text)?;
    let (low, rest) = half_float(rest.strip_prefix(", ")?)?;
    Some(([high, low], rest))
}

/// An F64 whose top 20 bits make it a signalling NaN.
const SIGNALLING: u64 = 0x7ff4 << 48;
const SINGLE_SIGNALLING: u32 = 0x7fa0 << 16;
const HALF_SIGNALLING: u16 = 0x7d00;

/// The terms of an address, as the text has them.
#[derive(Default)]
pub(super) struct AddressText {
    pub base: Option<u64>,
    /// 0 to 3 for a factor of 1, 4, 8, 16.
    pub factor: u64,
    pub wide: Option<bool>,
    pub descriptor: Option<u64>,
    pub uniform: Option<u64>,
    pub offset: i64,
}

/// Reads `[R1+0x10]`, `[R1.X4+UR2]`, `[0x10]`: the terms and the rest.
pub(super) fn address(text: &str) -> Option<(AddressText, &str)> {
    let mut found = AddressText::default();
    let text = match text.strip_prefix("desc[") {
        Some(text) => {
            let (descriptor, rest) = uniform(text)?;
            found.descriptor = Some(descriptor);
            rest.strip_prefix(']')?
        }
        None => text,
    };
    let (terms, rest) = text.strip_prefix('[')?.split_once(']')?;
    for term in terms.split('+') {
        if let Some((number, rest)) = register(term) {
            found.base = Some(number);
            (found.factor, found.wide) = match rest {
                "" => (0, None),
                ".X4" => (1, None),
                ".X8" => (2, None),
                ".X16" => (3, None),
                ".64" => (0, Some(true)),
                ".U32" => (0, Some(false)),
                _ => return None,
            };
        } else if let Some((number, "")) = uniform(term) {
            found.uniform = Some(number);
        } else {
            let (offset, "") = hex(term)? else { return None };
            found.offset = offset;
        }
    }
    Some((found, rest))
}
