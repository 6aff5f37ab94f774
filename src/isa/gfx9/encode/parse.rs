//! Parses text to the fields of an encoding.

use super::super::disasm::{constant, control_text, special};
use super::super::instruction::{DppControl, Instruction, source_number};
use super::super::operand::Operand;
use super::super::row::{Encoding, Role, Slot, SourceModifiers};
use super::super::trailer::{Trailer, trailers};
use super::Encoder;
use super::read::{inverse, number, operands, signed_hex, token, within};

type Accept<'a> = &'a dyn Fn(&Instruction) -> bool;

/// Returns the bytes of the instruction in `text` that `accept` accepts.
pub fn instruction(encoder: Encoder, text: &str, accept: Accept<'_>) -> Option<Vec<u8>> {
    slots(encoder, encoder.row.operands, text, accept)
}

/// Parses the operands of the slots `rest`, then the trailers.
fn slots(encoder: Encoder, rest: &[Slot], text: &str, accept: Accept<'_>) -> Option<Vec<u8>> {
    let Some((slot, later)) = rest.split_first() else { return finish(encoder, text, accept) };
    let here = choices(encoder, slot, text).into_iter().find_map(|(encoder, text)| {
        slots(encoder, later, text.strip_prefix(", ").unwrap_or(text), accept)
    });
    // The text omits this operand: no data, VCC or 0.
    here.or_else(|| slots(encoder, later, text, accept))
}

/// Returns the ways to read one operand, each with the rest of the text.
fn choices<'a>(encoder: Encoder, slot: &Slot, text: &'a str) -> Vec<(Encoder, &'a str)> {
    let (word, rest) = token(text);
    let mut next = encoder;
    let set16 = |next: &mut Encoder, value: Option<u16>| next.set(0, 16, value?.into());
    let done = match slot.role {
        Role::Vcc => None,
        Role::K if encoder.encoding == Encoding::Sopk => constant::parse_word(word)
            .and_then(|value| next.operand(Role::K, Operand::Literal(value))),
        Role::K => number(word)
            .and_then(|value| next.operand(Role::K, Operand::Literal(value.try_into().ok()?))),
        Role::Simm16 | Role::OptionalSimm16 | Role::Label => {
            let value = constant::parse_word(word).map(|value| value as u16);
            set16(&mut next, value)
        }
        Role::Hwreg => set16(&mut next, inverse(0..=u16::MAX, word, special::hwreg)),
        Role::Message => set16(&mut next, inverse(0..=u16::MAX, word, special::message)),
        Role::GprIdx => {
            inverse(0..=255, word, special::gpr_idx).and_then(|value| next.set(8, 8, value.into()))
        }
        Role::GprIdxMode => set16(&mut next, inverse(0..=u16::MAX, word, special::gpr_idx)),
        Role::Waitcnt => {
            let value =
                inverse((0..=u16::MAX).filter(|bits| bits & 0x3080 == 0), text, special::waitcnt);
            return set16(&mut next, value).map(|()| (next, "")).into_iter().collect();
        }
        Role::Parameter => {
            let (lo, bits) = if encoder.encoding == Encoding::Vintrp { (0, 8) } else { (41, 9) };
            inverse(0..512, word, special::parameter)
                .and_then(|value| next.set(lo, bits, value.into()))
        }
        Role::Attribute => attribute(&mut next, word),
        Role::Probe => constant::parse_word(word).and_then(|value| next.set(6, 7, value.into())),
        Role::Offset => return smem_offset(encoder, text).into_iter().collect(),
        Role::Export => return export(encoder, text).into_iter().collect(),
        Role::Saddr | Role::Vaddr if word == "off" => Some(()),
        _ => {
            return sources(encoder, slot, word)
                .into_iter()
                .map(|encoder| (encoder, rest))
                .collect();
        }
    };
    done.map(|()| (next, rest)).into_iter().collect()
}

/// Returns the ways to read a register or constant with its modifiers.
fn sources(encoder: Encoder, slot: &Slot, text: &str) -> Vec<Encoder> {
    let (mut text, mut neg, mut abs, mut sext) = (text, false, false, false);
    if let Some(inner) = within(text, "neg(", ")") {
        (text, neg) = (inner, true);
    } else if let Some(inner) =
        text.strip_prefix('-').filter(|inner| !inner.starts_with(|c: char| c.is_ascii_digit()))
    {
        (text, neg) = (inner, true);
    }
    if let Some(inner) = within(text, "sext(", ")") {
        (text, sext) = (inner, true);
    }
    if let Some(inner) = within(text, "|", "|") {
        (text, abs) = (inner, true);
    }
    let with = |operand| {
        let mut next = encoder;
        next.operand(slot.role, operand)?;
        if let Some(n @ 0..=2) = source_number(slot.role) {
            let float = slot.modifiers == SourceModifiers::Float;
            let (neg_bit, abs_bit, sext_bit) = match encoder.encoding {
                Encoding::Vop3 | Encoding::Vop3p => (61 + n, 8 + n, 61 + n),
                Encoding::Sdwa => (52 + 8 * n, 53 + 8 * n, 51 + 8 * n),
                Encoding::Dpp => (52 + 2 * n, 53 + 2 * n, 52 + 2 * n),
                _ => return (!neg && !abs && !sext).then_some(next),
            };
            for (on, bit) in [(neg, neg_bit), (abs, abs_bit), (sext && !float, sext_bit)] {
                if on {
                    next.set(bit, 1, 1)?;
                }
            }
        }
        Some(next)
    };
    operands(text).into_iter().filter_map(with).collect()
}

fn attribute(encoder: &mut Encoder, text: &str) -> Option<()> {
    let (attribute, channel) = text.strip_prefix("attr")?.split_once('.')?;
    let channel = ["x", "y", "z", "w"].iter().position(|name| *name == channel)?;
    let (lo, channel_lo) = if encoder.encoding == Encoding::Vintrp { (10, 8) } else { (32, 38) };
    encoder.set(lo, 6, attribute.parse().ok()?)?;
    encoder.set(channel_lo, 2, channel as u64)
}

/// Parses a constant, a register, or a register and `offset:` with a constant.
fn smem_offset(mut encoder: Encoder, text: &str) -> Option<(Encoder, &str)> {
    let (word, rest) = token(text);
    if let Some(constant) = signed_hex(word) {
        encoder.set(17, 1, 1)?;
        encoder.set_signed(32, 21, constant)?;
        return Some((encoder, rest));
    }
    let Some(Operand::Scalar(register)) = operands(word).first().copied() else { return None };
    let Some(behind) = rest.strip_prefix(" offset:") else {
        encoder.set(32, 7, register.into())?;
        return Some((encoder, rest));
    };
    let (constant, rest) = token(behind);
    encoder.set(17, 1, 1)?;
    encoder.set(14, 1, 1)?;
    encoder.set(57, 7, register.into())?;
    encoder.set_signed(32, 21, signed_hex(constant)?)?;
    Some((encoder, rest))
}

/// Parses a target and four sources.
///
/// `compr`, behind the sources, decides which fields hold the registers.
fn export(mut encoder: Encoder, text: &str) -> Option<(Encoder, &str)> {
    let (target, rest) = token(text);
    encoder.set(4, 6, inverse(0..64, target, |number| special::target(number as u8))?.into())?;
    let compressed = text.split(' ').any(|word| word == "compr");
    let mut rest = rest.strip_prefix(' ')?;
    for i in 0..4 {
        let (word, behind) = token(rest);
        if let Some(register) = word.strip_prefix('v') {
            encoder.set(i, 1, 1)?;
            let from = if compressed { i / 2 } else { i };
            encoder.set(32 + 8 * from, 8, register.parse().ok()?)?;
        }
        rest = behind.strip_prefix(", ").unwrap_or(behind);
    }
    Some((encoder, rest))
}

/// Parses the words behind the operands and returns the bytes.
fn finish(mut encoder: Encoder, text: &str, accept: Accept<'_>) -> Option<Vec<u8>> {
    let mut text = text.trim_start();
    for trailer in trailers(encoder.encoding, encoder.format, encoder.row) {
        let (word, rest) = token(text);
        text = if trailer_bits(&mut encoder, trailer, word)? { rest.trim_start() } else { text };
    }
    let (instruction, bytes) = encoder.finish().filter(|_| text.is_empty())?;
    accept(&instruction).then_some(bytes)
}

/// Sets the bits of a trailer and returns whether `word` is this trailer.
///
/// If `word` is another trailer, the bits have their usual value. Returns none if the bits cannot
/// be set.
fn trailer_bits(encoder: &mut Encoder, trailer: Trailer, word: &str) -> Option<bool> {
    let named = |name| word.strip_prefix(name).and_then(|rest: &str| rest.strip_prefix(':'));
    match trailer {
        Trailer::Flag { name, bit } if name == word => encoder.set(bit, 1, 1)?,
        Trailer::Decimal { name, lo, bits, signed } => {
            match named(name).and_then(|value| value.parse().ok()) {
                Some(value) if signed => encoder.set_signed(lo, bits, value)?,
                Some(value) => encoder.set(lo, bits, u64::try_from(value).ok()?)?,
                None => return Some(false),
            }
        }
        Trailer::Hex { name, lo, bits, .. } => match named(name).and_then(number) {
            Some(value) => encoder.set(lo, bits, value)?,
            None => return Some(false),
        },
        Trailer::Word { name, lo, bits, words } => match named(name) {
            Some(value) => {
                encoder.set(lo, bits, words.iter().position(|word| *word == value)? as u64)?
            }
            None => return Some(false),
        },
        Trailer::Bare { lo, bits, words } => {
            match words.iter().position(|one| *one == word).filter(|_| !word.is_empty()) {
                Some(value) => encoder.set(lo, bits, value as u64)?,
                None => return Some(false),
            }
        }
        Trailer::Bits { name, bits, count, usual } => {
            let values = named(name).and_then(|list| within(list, "[", "]"));
            let mut digits = values.unwrap_or_default().split(',');
            for bit in bits.iter().take(count.into()) {
                let value = if values.is_some() { digits.next()? == "1" } else { usual };
                encoder.set(*bit, 1, value.into())?;
            }
            return Some(values.is_some());
        }
        Trailer::DppControl => {
            let print = |raw| DppControl::of(raw).map_or_else(String::new, control_text);
            encoder.set(40, 9, inverse(0..512, word, print)?.into())?;
        }
        Trailer::Swizzle => match inverse(1..=u16::MAX, word, special::swizzle) {
            Some(value) => encoder.set(0, 16, value.into())?,
            None => return Some(false),
        },
        Trailer::BufferFormat => {
            let print =
                |format: u16| special::buffer_format(format as u8 & 15, (format >> 4) as u8);
            // The text omits `format:` for the usual format.
            let shown = word.starts_with("format:");
            encoder.set(19, 7, inverse(0..128, if shown { word } else { "" }, print)?.into())?;
            return Some(shown);
        }
        Trailer::Flag { .. } => return Some(false),
    }
    Some(true)
}
