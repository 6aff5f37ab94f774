//! Small parsers of words and numbers.

use super::super::disasm::{constant, special};
use super::super::operand::Operand;

/// Splits the text before the first `, ` or blank outside brackets and quotes.
pub fn token(text: &str) -> (&str, &str) {
    let (mut depth, mut quoted) = (0i32, false);
    let end = text.char_indices().find(|&(i, c)| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '"' => quoted = !quoted,
            _ => {}
        }
        depth <= 0 && !quoted && (c == ' ' || text[i..].starts_with(", "))
    });
    text.split_at(end.map_or(text.len(), |(i, _)| i))
}

/// Returns the text between `open` and `close`.
pub fn within<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

/// Parses `0x10` or `-0x10`.
pub fn signed_hex(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = i64::from_str_radix(digits.strip_prefix("0x")?, 16).ok()?;
    Some(if negative { -value } else { value })
}

/// Parses `0x10` or `16`.
pub fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Returns the first of `values` that prints as `text`.
pub fn inverse(
    values: impl IntoIterator<Item = u16>,
    text: &str,
    print: impl Fn(u16) -> String,
) -> Option<u16> {
    values.into_iter().find(|value| print(*value) == text)
}

/// Parses a register without modifiers.
fn register(text: &str) -> Option<Operand> {
    let first = |prefix: &str| -> Option<u8> {
        let rest = text.strip_prefix(prefix)?;
        match within(rest, "[", "]") {
            Some(range) => range.split_once(':')?.0.parse().ok(),
            None => rest.parse().ok(),
        }
    };
    let named =
        || (102..128).find(|number| (1..3).any(|dwords| special::scalar(*number, dwords) == text));
    if let Some(number) = first("v") {
        return Some(Operand::Vector(number));
    }
    let scalar = first("s")
        .or_else(|| first("ttmp").map(|number| number.saturating_add(108)))
        .or_else(named)?;
    Some(Operand::Scalar(scalar))
}

/// Returns the operands that a text without modifiers can mean, inline constants before literals.
pub fn operands(text: &str) -> Vec<Operand> {
    let special = match text {
        "src_shared_base" => Some(Operand::SharedBase),
        "src_shared_limit" => Some(Operand::SharedLimit),
        "src_private_base" => Some(Operand::PrivateBase),
        "src_private_limit" => Some(Operand::PrivateLimit),
        "src_pops_exiting_wave_id" => Some(Operand::PopsExitingWaveId),
        "src_vccz" => Some(Operand::Vccz),
        "src_execz" => Some(Operand::Execz),
        "src_scc" => Some(Operand::Scc),
        "src_lds_direct" => Some(Operand::LdsDirect),
        _ => register(text),
    };
    if let Some(operand) = special {
        return vec![operand];
    }
    let value = constant::parse_word(text);
    let decimal = text.parse().ok().map(Operand::Int);
    let float = constant::inline_number(text).map(Operand::Float);
    let half = value.and_then(constant::inline_half).map(Operand::Float);
    // A 16-bit source shows the low half of its literal. Hex digits for an inline constant mean
    // that the upper half is not 0; any nonzero upper half will do.
    let upper =
        value.filter(|&value| value < 1 << 16).map(|value| Operand::Literal(value | 1 << 16));
    [decimal, float, half, value.map(Operand::Literal), upper].into_iter().flatten().collect()
}
