//! The assembler: text to a word, by the instruction table, for tests and for programs written by
//! hand.
//!
//! [`assemble`] takes the disassembler's output. A bit that the text does not show is 0. An omitted
//! operand has the value for which the disassembler omits it. A text without a unique word (NaN
//! payloads, reserved values) gives one of its words.

use std::cell::Cell;

use warploom_guest::suggest::did_you_mean;

use super::Guest;
use super::field::Style;
use super::read::{
    address, decimal, float, half_float, halves, hex, predicate, register, single, take_while,
    uniform,
};
use super::row::{FieldSlot, ImmKind, Location, Memory, OperandSlot, PartKind, Piece, Row};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    #[error("`{text}`: the guard is not `@P0` to `@!PT`")]
    Guard { text: String },
    #[error("`{text}`: no encoding in the table prints this{hint}")]
    NoEncoding {
        text: String,
        /// How far the text is understood, or the nearest mnemonic.
        hint: String,
    },
}

/// Returns the word whose text at `pc` on `model` is `text`. Branch targets are numbers.
///
/// # Errors
/// No word has this text.
pub fn assemble<G: Guest>(text: &str, pc: u64, model: u8) -> Result<u128, AssembleError> {
    let text = text.trim().trim_end_matches(';').trim_end();
    let (guard, uniform, body) = split_guard(text)?;
    let table = G::table();
    let rows = || table.rows().filter(|row| row.models.contain(model));
    let rest = Cell::new(body.len());
    let mut candidates = rows().filter(|row| row.guarded() || guard == PT).filter_map(|row| {
        let mut encoder = Encoder { row, pc, model, fixed: row.mask, word: row.bits, rest: &rest };
        if row.guarded() {
            (guard == PT || row.uniform_guard() == uniform).then_some(())?;
            encoder.set(G::GUARD, 4, guard)?;
        }
        encoder.pieces(row.pieces, body, State::START)
    });
    candidates
        .find(|&word| {
            table.decode(word, model).is_some_and(|instruction| instruction.text(pc) == text)
        })
        .ok_or_else(|| {
            let names = rows().map(|row| base(row.format.trim_start_matches(['*', '^'])));
            let hint = hint(body, rest.get(), &names.collect::<Vec<_>>());
            AssembleError::NoEncoding { text: text.to_owned(), hint }
        })
}

/// Returns a mnemonic without its modifiers.
fn base(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default()
}

/// Tells how far a text is understood, of which the last `rest` bytes are not, or what its mnemonic
/// may have meant.
fn hint(text: &str, rest: usize, names: &[&str]) -> String {
    let name = base(text);
    if !names.contains(&name) {
        let nearest = did_you_mean(name, names.iter().copied());
        return format!(": no instruction is called `{name}`{nearest}");
    }
    match text.split_at(text.len() - rest) {
        (_, "") => ": an operand is missing, or these do not go together".into(),
        (before, rest) => format!(": `{rest}` cannot follow `{}`", before.trim_end()),
    }
}

/// The number that follows the last register.
const NO_REGISTER: u64 = 255;
/// The number of PT as a guard.
pub(super) const PT: u64 = 7;

/// Returns the guard's bits, whether it is uniform, and the rest of the text.
fn split_guard(text: &str) -> Result<(u64, bool, &str), AssembleError> {
    let Some(guarded) = text.strip_prefix('@') else { return Ok((PT, false, text)) };
    let wrong = || AssembleError::Guard { text: text.to_owned() };
    let (guard, body) = guarded.split_once(' ').ok_or_else(wrong)?;
    for (file, uniform) in [("P", false), ("UP", true)] {
        if let Some((index, not, "")) = predicate(guard, file) {
            return Ok((index | u64::from(not) << 3, uniform, body.trim_start()));
        }
    }
    Err(wrong())
}

/// Returns the values whose names start a text, each with the rest of the text.
fn named<'a>(names: &[(u8, &str)], text: &'a str) -> Vec<(u64, &'a str)> {
    names
        .iter()
        .filter_map(|(value, name)| Some((u64::from(*value), text.strip_prefix(name)?)))
        .collect()
}

/// The state of the text before, as far as the rule for separators needs it.
#[derive(Clone, Copy)]
struct State {
    /// The last piece printed something.
    printed: bool,
    /// The text so far ends with a blank.
    blank: bool,
}

impl State {
    const START: State = State { printed: true, blank: false };

    fn after(self, consumed: &str) -> State {
        let blank = if consumed.is_empty() { self.blank } else { consumed.ends_with(' ') };
        State { printed: !consumed.is_empty(), blank }
    }
}

/// A word under construction; the bits in `fixed` may not change any more.
struct Encoder<'a, G: Guest> {
    row: &'static Row<G>,
    pc: u64,
    model: u8,
    fixed: u128,
    word: u128,
    /// The fewest bytes at the end of the text that no row has understood.
    rest: &'a Cell<usize>,
}

impl<G: Guest> Clone for Encoder<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Guest> Copy for Encoder<'_, G> {}

impl<G: Guest> Encoder<'_, G> {
    /// Sets `bits` bits from bit `lo`. None: the value is too wide, or fixed bits differ from it.
    fn set(&mut self, lo: u8, bits: u8, value: u64) -> Option<()> {
        let ones = u64::MAX >> (64 - u32::from(bits));
        if value & !ones != 0 {
            return None;
        }
        let (mask, value) = (u128::from(ones) << lo, u128::from(value) << lo);
        if (self.word ^ value) & mask & self.fixed != 0 {
            return None;
        }
        self.word |= value;
        self.fixed |= mask;
        Some(())
    }

    fn set_signed(&mut self, lo: u8, bits: u8, value: i64) -> Option<()> {
        let unused = 64 - u32::from(bits);
        (value << unused >> unused == value).then_some(())?;
        self.set(lo, bits, value as u64 & u64::MAX >> unused)
    }

    /// Encodes the rest of the text and returns the word.
    fn pieces(self, pieces: &[Piece<G::Field>], text: &str, state: State) -> Option<u128> {
        self.rest.set(self.rest.get().min(text.len()));
        let Some((piece, later)) = pieces.split_first() else {
            return (text.is_empty() && self.row.matches(self.word)).then_some(self.word);
        };
        match piece {
            Piece::Text { start, end } => {
                let literal = &self.row.format[*start as usize..*end as usize];
                let skip = !state.printed && state.blank && literal.starts_with(", ");
                let literal = if skip { &literal[2..] } else { literal };
                let rest = match text.strip_prefix(literal) {
                    Some(rest) => rest,
                    // Separators at the end of the text are cut off.
                    None if literal.trim_end_matches([' ', ',']).is_empty() && text.is_empty() => {
                        ""
                    }
                    None if later.is_empty() || literal.trim_end_matches([' ', ',']) == text => {
                        text.strip_prefix(literal.trim_end_matches([' ', ',']))?
                    }
                    None => return None,
                };
                self.pieces(later, rest, state.after(literal))
            }
            Piece::Phase => self.pieces(later, text, State { printed: false, ..state }),
            Piece::Field(slot) if slot.silent => {
                self.pieces(later, text, State { printed: false, ..state })
            }
            Piece::Field(slot) => self.field(slot, text).into_iter().find_map(|(value, rest)| {
                let mut next = self;
                next.set(slot.lo, slot.bits, value & u64::MAX >> (64 - u32::from(slot.bits)))?;
                if slot.hi_bits > 0 {
                    next.set(slot.hi, slot.hi_bits, value >> slot.bits)?;
                }
                next.pieces(later, rest, state.after(&text[..text.len() - rest.len()]))
            }),
            Piece::Operand(slot) => {
                let absent = slot.attributes.optional.then_some(text);
                let present = self.operand(slot, text).and_then(|(next, rest)| {
                    next.pieces(later, rest, state.after(&text[..text.len() - rest.len()]))
                });
                present.or_else(|| {
                    let mut next = self;
                    next.omit(slot)?;
                    next.pieces(later, absent?, State { printed: false, ..state })
                })
            }
        }
    }

    /// Returns the values that the start of the text may denote, each with the rest of the text,
    /// the longest text first.
    fn field<'a>(&self, slot: &FieldSlot<G::Field>, text: &'a str) -> Vec<(u64, &'a str)> {
        let number = hex(text).map(|(value, rest)| (value as u64, rest));
        match G::info(slot.field).style {
            Style::Names { names, otherwise } => {
                let mut found = named(names, text);
                let other = text
                    .strip_prefix(otherwise)
                    .filter(|_| !otherwise.is_empty())
                    .and_then(decimal);
                // A value with a name is not printed as a number.
                let is_named = |value| names.iter().any(|&(named, _)| u64::from(named) == value);
                found.extend(other.filter(|&(value, _)| value < 64 && !is_named(value)));
                found.sort_by_key(|(_, rest)| rest.len());
                found
            }
            Style::Hex => number.into_iter().collect(),
            Style::HexUnless(usual) => number.into_iter().chain([(usual, text)]).collect(),
            Style::SignedHex { scale } => {
                let ones = u64::MAX >> (64 - u32::from(slot.bits + slot.hi_bits));
                hex(text)
                    .filter(|(value, _)| value % scale == 0)
                    .map(|(value, rest)| ((value / scale) as u64 & ones, rest))
                    .into_iter()
                    .chain([(0, text)])
                    .collect()
            }
            Style::Test { prefix, names, usual } => {
                let test = text.strip_prefix(prefix);
                let mut found = test.map_or_else(Vec::new, |test| named(names, test));
                found.sort_by_key(|(_, rest)| rest.len());
                found.push((usual, text));
                found
            }
            Style::BitSet => {
                let set = text.strip_prefix('{').and_then(|text| text.split_once('}')).and_then(
                    |(set, rest)| {
                        let bits: Option<Vec<u32>> =
                            set.split(',').map(|bit| bit.trim().parse().ok()).collect();
                        Some((
                            bits?
                                .iter()
                                .fold(0, |set, bit| set | 1u64.checked_shl(*bit).unwrap_or(0)),
                            rest,
                        ))
                    },
                );
                set.into_iter().chain([(0, text)]).collect()
            }
            Style::Swizzle(names) => {
                let (pairs, rest) = take_while(text, |c| matches!(c, 'P' | 'N' | 'Z'));
                let value = pairs.as_bytes().chunks(2).try_fold(0u64, |value, pair| {
                    let code = names.iter().position(|name| name.as_bytes() == pair)?;
                    Some(value << 2 | code as u64)
                });
                value.map(|value| (value, rest)).into_iter().collect()
            }
            Style::SpecialRegister => {
                let (name, rest) =
                    take_while(text, |c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                let named =
                    (0..=u8::MAX).find(|&n| G::special_register(n, self.model) == Some(name));
                let number = named.or_else(|| name.strip_prefix("SR")?.parse().ok());
                number.map(|number| (number.into(), rest)).into_iter().collect()
            }
        }
    }

    /// Sets the bits of an operand that the text omits.
    fn omit(&mut self, slot: &OperandSlot) -> Option<()> {
        match slot.location {
            Location::Register { lo } => self.set(lo, 8, 255),
            Location::Uniform { lo } => self.set(lo, 6, 63),
            Location::Predicate { lo, inverted, .. } => self.predicate(lo, inverted, PT),
            Location::Short { lo, width, .. } => self.set(lo, width, 0),
            _ => None,
        }
    }

    fn operand<'a>(mut self, slot: &OperandSlot, text: &'a str) -> Option<(Self, &'a str)> {
        match slot.location {
            Location::Predicate { lo, uniform, inverted } => {
                let (index, not, rest) = predicate(text, if uniform { "UP" } else { "P" })?;
                self.predicate(lo, inverted, index)?;
                self.flag(slot.attributes.not, not)?;
                Some((self, rest))
            }
            Location::Barrier { lo } => {
                let (number, rest) = decimal(text.strip_prefix('B')?)?;
                self.set(lo, 4, number)?;
                Some((self, rest))
            }
            Location::Memory(memory) => self.memory(memory, text),
            Location::ConstMemory { bank, base, offset, width, descriptor, uniform_base } => {
                let rest = self.bank(bank, descriptor, text)?;
                let (found, rest) = address(rest)?;
                if uniform_base {
                    self.set(base, 6, found.uniform?)?;
                } else {
                    self.set(base, 8, found.base.unwrap_or(NO_REGISTER))?;
                }
                self.set_signed(offset, width, found.offset)?;
                Some((self, rest))
            }
            Location::Target { lo, width, scale } => {
                let (target, rest) = hex(text)?;
                let distance =
                    target.wrapping_sub(self.pc as i64).wrapping_sub(G::WORD_BYTES as i64);
                (distance % i64::from(scale) == 0).then_some(())?;
                let high = self.low_target(distance / i64::from(scale), width)?;
                self.set_signed(lo, width, high)?;
                Some((self, rest))
            }
            Location::AbsoluteTarget { lo, width, scale, signed } => {
                let (target, rest) = hex(text)?;
                (target % i64::from(scale) == 0).then_some(())?;
                let value = self.low_target(target / i64::from(scale), width)?;
                if signed {
                    self.set_signed(lo, width, value)?;
                } else {
                    self.set(lo, width, value as u64)?;
                }
                Some((self, rest))
            }
            _ => self.source(slot, text),
        }
    }

    /// Encodes the low bits of a target, if the model has them, and returns the others.
    fn low_target(&mut self, target: i64, width: u8) -> Option<i64> {
        let Some(lo) = G::low_target(self.model, width) else { return Some(target) };
        self.set(lo, 8, target as u64 & 0xff)?;
        Some(target >> 8)
    }

    /// Encodes `c[0x0]` or `cx[UR0]`.
    fn bank<'a>(&mut self, bank: u8, descriptor: Option<u8>, text: &'a str) -> Option<&'a str> {
        let rest = match descriptor {
            Some(lo) => {
                let (number, rest) = uniform(text.strip_prefix("cx[")?)?;
                self.set(lo, 6, number)?;
                rest
            }
            None => {
                let (number, rest) = hex(text.strip_prefix("c[")?)?;
                self.set(bank, 5, number as u64)?;
                rest
            }
        };
        rest.strip_prefix(']')
    }

    fn memory(mut self, memory: Memory, text: &str) -> Option<(Self, &str)> {
        let text = if memory.attribute { text.strip_prefix('a')? } else { text };
        let (found, rest) = address(text)?;
        match memory.base {
            Some(lo) => self.set(lo, 8, found.base.unwrap_or(NO_REGISTER))?,
            None => found.base.is_none().then_some(())?,
        }
        match memory.uniform {
            Some(lo) => self.set(lo, 6, found.uniform?)?,
            None => found.uniform.is_none().then_some(())?,
        }
        match memory.factor {
            Some(lo) => self.set(lo, 2, found.factor)?,
            None => (found.factor == 0).then_some(())?,
        }
        match memory.wide {
            Some(bit) => self.set(bit, 1, found.wide.unwrap_or(false).into())?,
            None => found.wide.is_none().then_some(())?,
        }
        match (memory.descriptor, memory.shown) {
            (Some(lo), _) if self.model >= G::SHOWS_DESCRIPTORS => {
                self.set(lo, 6, found.descriptor?)?;
            }
            (Some(lo), Some(shown)) => {
                self.set(shown, 1, found.descriptor.is_some().into())?;
                self.set(lo, 6, found.descriptor.unwrap_or(0))?;
            }
            _ => found.descriptor.is_none().then_some(())?,
        }
        if memory.width == 0 {
            return (found.offset == 0).then_some((self, rest));
        }
        let step = i64::from(memory.scale.max(1));
        (found.offset % step == 0).then_some(())?;
        let value = found.offset / step;
        let absolute = found.base.is_none_or(|base| base == NO_REGISTER) && found.uniform.is_none();
        if memory.scale == 0 || memory.attribute && memory.scale > 1 || absolute {
            let ones = u64::MAX >> (64 - u32::from(memory.width));
            self.set(memory.offset, memory.width, value as u64 & ones)
        } else {
            self.set_signed(memory.offset, memory.width, value)
        }?;
        Some((self, rest))
    }

    fn predicate(&mut self, lo: u8, inverted: bool, index: u64) -> Option<()> {
        self.set(lo, 3, if inverted { PT - index } else { index })
    }

    fn flag(&mut self, bit: Option<u8>, on: bool) -> Option<()> {
        match bit {
            Some(bit) => self.set(bit, 1, on.into()),
            None => (!on).then_some(()),
        }
    }

    fn source<'a>(mut self, slot: &OperandSlot, text: &'a str) -> Option<(Self, &'a str)> {
        let attributes = slot.attributes;
        let is_value = matches!(
            slot.location,
            Location::Register { .. }
                | Location::RegisterAfter { .. }
                | Location::Zero
                | Location::Uniform { .. }
                | Location::Constant { .. }
        );
        if !is_value {
            return self.immediate(slot, text);
        }
        let mut rest = text;
        let mut prefix = |mark| {
            let stripped = rest.strip_prefix(mark);
            rest = stripped.unwrap_or(rest);
            stripped.is_some()
        };
        self.flag(attributes.neg, prefix('-'))?;
        self.flag(attributes.inv, prefix('~'))?;
        let abs = prefix('|');
        self.flag(attributes.abs, abs)?;
        let mut rest = match slot.location {
            Location::Register { lo } => {
                let (number, rest) = register(rest)?;
                self.set(lo, 8, number)?;
                rest
            }
            Location::RegisterAfter { lo, plus } => match rest.strip_prefix("???255") {
                // Another operand, if there is one, names the preceding register.
                Some(rest) => {
                    if plus == 0 {
                        self.set(lo, 8, NO_REGISTER)?;
                    }
                    rest
                }
                None => {
                    let (number, rest) = register(rest)?;
                    self.set(lo, 8, number.checked_sub(plus.into())?)?;
                    rest
                }
            },
            Location::Zero => register(rest)?.1,
            Location::Uniform { lo } => {
                let (number, rest) = uniform(rest)?;
                self.set(lo, 6, number)?;
                rest
            }
            Location::Constant { offset: at, width, scale, bank, descriptor } => {
                let rest = self.bank(bank, descriptor, rest)?.trim_start_matches(' ');
                let (offset, rest) = hex(rest.strip_prefix('[')?)?;
                (offset % i64::from(scale) == 0).then_some(())?;
                let offset = offset / i64::from(scale);
                match descriptor {
                    Some(_) => self.set(at, width, offset as u64)?,
                    None => self.set_signed(at, width, offset)?,
                }
                rest.strip_prefix(']')?
            }
            _ => return None,
        };
        let behind = G::PART_BEHIND_BARS && slot.part_behind_bars();
        if !behind {
            rest = self.part(slot, rest)?;
        }
        if abs {
            rest = rest.strip_prefix('|')?;
        }
        if behind {
            rest = self.part(slot, rest)?;
        }
        Some((self, rest))
    }

    /// Encodes the suffix that selects a part.
    fn part<'a>(&mut self, slot: &OperandSlot, text: &'a str) -> Option<&'a str> {
        let Some(part) = slot.attributes.part else { return Some(text) };
        // The type of a video operation names the part; the bits that choose it are the type's.
        if part.kind == PartKind::Video {
            return text.strip_prefix(part.kind.names()[(self.word >> part.lo & 7) as usize]);
        }
        let names = part.kind.names().iter().enumerate();
        let halves = PartKind::SIZED_HALVES.iter().enumerate();
        let halves = halves.filter(|_| part.kind == PartKind::Sized);
        let (value, name) = names
            .chain(halves)
            .filter(|(_, name)| text.starts_with(**name))
            .max_by_key(|(_, name)| name.len())?;
        if part.kind.bits() > 0 {
            self.set(part.lo, part.kind.bits(), value as u64)?;
        }
        Some(&text[name.len()..])
    }

    fn immediate<'a>(mut self, slot: &OperandSlot, text: &'a str) -> Option<(Self, &'a str)> {
        let attributes = slot.attributes;
        let mut rest = match slot.location {
            Location::Short { lo, width, signed } => {
                let negative = attributes.neg.is_some() && text.starts_with('-');
                self.flag(attributes.neg, negative)?;
                let (value, rest) = hex(if negative { &text[1..] } else { text })?;
                if signed {
                    self.set_signed(lo, width, value)
                } else {
                    self.set(lo, width, value as u64)
                }?;
                rest
            }
            Location::ImmF16 { lo } => {
                let (bits, rest) = half_float(text)?;
                self.set(lo, 16, bits.into())?;
                rest
            }
            Location::Imm20(kind) => {
                let (bits, rest) = match kind {
                    ImmKind::Int | ImmKind::Bits => {
                        let (value, rest) = hex(text)?;
                        let fits = if kind == ImmKind::Int {
                            value << 44 >> 44 == value
                        } else {
                            value >> 20 == 0
                        };
                        fits.then_some((value as u64 & 0xf_ffff, rest))?
                    }
                    ImmKind::F32 => {
                        let (bits, rest) = single(text)?;
                        (u64::from(bits) >> 12, rest)
                    }
                    ImmKind::F64 => {
                        let (value, rest) = float(text)?;
                        (value.to_bits() >> 44, rest)
                    }
                    ImmKind::Halves | ImmKind::Brains => {
                        let ([high, low], rest) = halves(text)?;
                        (u64::from(high >> 6) << 10 | u64::from(low >> 6), rest)
                    }
                };
                self.set(20, 19, bits & 0x7_ffff)?;
                self.set(56, 1, bits >> 19)?;
                rest
            }
            Location::Imm32 { lo, kind } => {
                let (bits, rest) = match kind {
                    ImmKind::Int | ImmKind::Bits => {
                        let (value, rest) = hex(text)?;
                        (i32::try_from(value).is_ok() || u32::try_from(value).is_ok())
                            .then_some((value as u32, rest))?
                    }
                    ImmKind::F32 => single(text)?,
                    ImmKind::F64 => {
                        let (value, rest) = float(text)?;
                        ((value.to_bits() >> 32) as u32, rest)
                    }
                    ImmKind::Halves => {
                        let ([high, low], rest) = halves(text)?;
                        (u32::from(high) << 16 | u32::from(low), rest)
                    }
                    ImmKind::Brains => {
                        let (high, rest) = single(text)?;
                        let (low, rest) = single(rest.strip_prefix(", ")?)?;
                        (high >> 16 << 16 | low >> 16, rest)
                    }
                };
                self.set(lo, 32, bits.into())?;
                rest
            }
            _ => return None,
        };
        let short = matches!(slot.location, Location::Short { .. });
        for (bit, suffix) in [
            (attributes.neg.filter(|_| !short), ".NEG"),
            (attributes.abs, ".ABS"),
            (attributes.inv, ".INV"),
        ] {
            let Some(bit) = bit else { continue };
            let stripped = rest.strip_prefix(suffix);
            self.set(bit, 1, stripped.is_some().into())?;
            rest = stripped.unwrap_or(rest);
        }
        let rest = self.part(slot, rest)?;
        Some((self, rest))
    }
}
