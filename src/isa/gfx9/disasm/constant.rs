//! The text of constants.
//!
//! A literal that an inline constant could replace has the text of the inline constant.

use crate::row::{OperandType, Slot, SourceModifiers};

/// An inline float: its number, its text, and its bits as F16, F32 and F64.
struct Inline {
    number: u8,
    text: &'static str,
    f16: u16,
    f32: u32,
    f64: u64,
}

const fn inline(number: u8, text: &'static str, f16: u16, f32: u32, f64: u64) -> Inline {
    Inline { number, text, f16, f32, f64 }
}

const INLINE: [Inline; 9] = [
    inline(240, "0.5", 0x3800, 0x3f00_0000, 0x3fe0_0000_0000_0000),
    inline(241, "-0.5", 0xb800, 0xbf00_0000, 0xbfe0_0000_0000_0000),
    inline(242, "1.0", 0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000),
    inline(243, "-1.0", 0xbc00, 0xbf80_0000, 0xbff0_0000_0000_0000),
    inline(244, "2.0", 0x4000, 0x4000_0000, 0x4000_0000_0000_0000),
    inline(245, "-2.0", 0xc000, 0xc000_0000, 0xc000_0000_0000_0000),
    inline(246, "4.0", 0x4400, 0x4080_0000, 0x4010_0000_0000_0000),
    inline(247, "-4.0", 0xc400, 0xc080_0000, 0xc010_0000_0000_0000),
    inline(248, "0.15915494", 0x3118, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
];

/// 1/(2 pi) as an F64.
const INVERSE_PERIOD: &str = "0.15915494309189532";

/// Returns whether a slot is a 16-bit integer, for which an inline float is its bits.
fn short_integer(slot: &Slot) -> bool {
    matches!(slot.ty, OperandType::I16 | OperandType::U16 | OperandType::B16)
        && slot.modifiers == SourceModifiers::None
}

fn text_of(inline: &Inline, wide: bool) -> String {
    if wide && inline.number == 248 { INVERSE_PERIOD.into() } else { inline.text.into() }
}

/// Returns the text of the inline float with a number.
pub fn inline_float(number: u8, slot: &Slot) -> String {
    match INLINE.iter().find(|inline| inline.number == number) {
        Some(inline) if short_integer(slot) => format!("{:#x}", inline.f16),
        Some(inline) => text_of(inline, slot.ty.dwords() == 2),
        None => String::new(),
    }
}

fn inline_integer(value: i64) -> Option<String> {
    (-16..=64).contains(&value).then(|| value.to_string())
}

/// Returns the text of a dword.
pub fn word(value: u32) -> String {
    let float =
        || INLINE.iter().find(|inline| inline.f32 == value).map(|inline| inline.text.into());
    inline_integer(i64::from(value as i32)).or_else(float).unwrap_or_else(|| format!("{value:#x}"))
}

/// Returns the text of the dword behind the instruction, as an operand of this slot.
pub fn literal(value: u32, slot: &Slot) -> String {
    let low = value as u16;
    match slot.ty {
        OperandType::F16 => {
            let float =
                || INLINE.iter().find(|inline| inline.f16 == low).map(|inline| inline.text.into());
            inline_integer(i64::from(low as i16))
                .or_else(float)
                .unwrap_or_else(|| format!("{low:#x}"))
        }
        _ if short_integer(slot) => {
            inline_integer(i64::from(value as i32)).unwrap_or_else(|| format!("{low:#x}"))
        }
        // The literal is the high half.
        OperandType::F64 => {
            let bits = u64::from(value) << 32;
            let float = || {
                INLINE.iter().find(|inline| inline.f64 == bits).map(|inline| text_of(inline, true))
            };
            inline_integer(bits as i64).or_else(float).unwrap_or_else(|| format!("{value:#x}"))
        }
        ty if ty.dwords() == 2 => {
            inline_integer(value.into()).unwrap_or_else(|| format!("{value:#x}"))
        }
        _ => word(value),
    }
}

/// Returns the number of the inline float with a text.
pub fn inline_number(text: &str) -> Option<u8> {
    let text = if text == INVERSE_PERIOD { "0.15915494" } else { text };
    INLINE.iter().find(|inline| inline.text == text).map(|inline| inline.number)
}

/// Returns the number of the inline float whose F16 has these bits.
pub fn inline_half(bits: u32) -> Option<u8> {
    INLINE.iter().find(|inline| u32::from(inline.f16) == bits).map(|inline| inline.number)
}

/// Parses a text of [`word`].
pub fn parse_word(text: &str) -> Option<u32> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok();
    }
    let float = || INLINE.iter().find(|inline| inline.text == text).map(|inline| inline.f32);
    text.parse::<i32>().ok().map(|value| value as u32).or_else(float)
}
