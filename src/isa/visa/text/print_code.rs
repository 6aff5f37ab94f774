//! Writes instructions as Intel's compiler does.

use std::fmt::Write;

use super::cursor::is_label;
use super::suffix;
use crate::module::*;
use crate::predefined::{self, FIRST_SURFACE};
use crate::table::{Field, Item, Suffix};
use crate::types::Region;

/// Returns the text of an instruction without its number. A label has its colon.
pub fn instruction_text(routine: &Routine, one: &Instruction) -> String {
    let mut printer = Printer { routine, out: String::new(), upper: false };
    printer.instruction(one);
    printer.out
}

/// Returns the name of a label or of a function in the text.
///
/// Names from a binary have no dots and dollars in the text.
fn plain_name(routine: &Routine, name: &str) -> String {
    match routine.binary {
        Some(_) => name.replace(['.', '$'], "_"),
        None => name.into(),
    }
}

/// Returns a label's name in the text.
///
/// A subroutine's name ends in its number. Names from a text already have the number.
pub(super) fn label_name(routine: &Routine, id: LabelId) -> String {
    let Some(label) = routine.labels.get(usize::from(id.0)) else { return format!("L{}", id.0) };
    let name = plain_name(routine, &label.name);
    let suffix = format!("_{}", id.0);
    match label.kind == Label::SUBROUTINE && routine.binary.is_some() {
        true => name + &suffix,
        false => name,
    }
}

/// Returns a string in quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

pub(super) fn variable_name(routine: &Routine, id: VariableId) -> String {
    match (routine.variable(id), predefined::VARIABLES.get(id.0 as usize)) {
        (Some(variable), _) => variable.name.clone(),
        (None, Some(one)) => one.name.into(),
        (None, None) => format!("V{}", id.0),
    }
}

pub(super) fn surface_name(id: SurfaceId) -> String {
    match id.0 < FIRST_SURFACE {
        true => predefined::SURFACES[usize::from(id.0)].into(),
        false => format!("T{}", id.0),
    }
}

pub(super) struct Printer<'r> {
    pub routine: &'r Routine,
    pub out: String,
    /// Whether hexadecimal digits are capitals, as they are behind a number of an LSC message.
    pub upper: bool,
}

/// Appends text. Writing to a string does not fail.
macro_rules! put {
    ($printer:expr, $($arg:tt)*) => {{ let _ = write!($printer.out, $($arg)*); }};
}
pub(super) use put;

impl Printer<'_> {
    fn instruction(&mut self, one: &Instruction) {
        if let (0x30 | 0x31, [Operand::Label(id)]) = (one.row.code, &one.operands[..]) {
            put!(self, "{}:", label_name(self.routine, *id));
            return;
        }
        if let Some(used) = one.predicate {
            let sign = if used.invert { "!" } else { "" };
            let combine = match used.combine {
                Combine::None => "",
                Combine::Any => ".any",
                Combine::All => ".all",
            };
            put!(self, "({sign}P{}{combine}) ", used.predicate.0);
        }
        put!(self, "{}", one.row.name);
        if one.row.items == [Item::Lsc] {
            self.lsc(one);
            return;
        }
        let mut joined = true;
        for &item in &one.row.items {
            if joined && !matches!(item, Item::Suffix(..)) {
                joined = false;
                put!(self, "{}", if one.saturate { ".sat" } else { "" });
            }
            self.item(one, item);
        }
    }

    fn number(one: &Instruction, slot: usize) -> u32 {
        match one.operands.get(slot) {
            Some(&Operand::Number(number)) => number,
            _ => 0,
        }
    }

    fn item(&mut self, one: &Instruction, item: Item) {
        let version = self.routine.version;
        match item {
            Item::Suffix(Suffix::Aligned, slot) => {
                put!(self, "{}", suffix::aligned(Self::number(one, slot), version));
            }
            Item::Suffix(kind, slot) => {
                let number = Self::number(one, slot);
                let text = match kind {
                    Suffix::Matrix => suffix::matrix(number),
                    _ => suffix::text(kind, number),
                };
                // A number without a known name is written as it is.
                put!(self, "{}", text.unwrap_or_else(|| format!(".{number}")));
            }
            Item::Exec => {
                if let Some(exec) = one.exec {
                    put!(self, " {exec}");
                }
            }
            Item::Gap => put!(self, " "),
            Item::Operand(slot) => self.slot(one, slot, false),
            Item::Bare(slot) => self.slot(one, slot, true),
            Item::Rest(slot) => {
                (slot..one.operands.len()).for_each(|slot| self.slot(one, slot, false))
            }
            Item::Owords(slot) => put!(self, " ({})", 1 << (Self::number(one, slot) & 7)),
            Item::Pair(slot) => self.group(one, slot..slot + 2),
            Item::Triple(slot) => self.group(one, slot..slot + 3),
            Item::Hex(slot) => put!(self, " {:#x}", Self::number(one, slot)),
            Item::Labels(slot) => {
                if let Some(Operand::Labels(labels)) = one.operands.get(slot) {
                    let names: Vec<_> =
                        labels.iter().map(|&label| label_name(self.routine, label)).collect();
                    put!(self, " ({})", names.join(", "));
                }
            }
            Item::Lifetime(slot) => {
                if let Some(&Operand::Lifetime { end, of }) = one.operands.get(slot) {
                    let name = match of {
                        Living::Variable(id) => variable_name(self.routine, id),
                        Living::Address(id) => format!("A{}", id.0),
                        Living::Predicate(id) => format!("P{}", id.0),
                    };
                    put!(self, ".{} {name}", if end { "end" } else { "start" });
                }
            }
            Item::Lsc => {}
        }
    }

    fn group(&mut self, one: &Instruction, slots: std::ops::Range<usize>) {
        let mut texts = vec![];
        for slot in slots {
            let before = self.out.len();
            self.slot(one, slot, false);
            texts.push(self.out.split_off(before).trim_start().to_string());
        }
        put!(self, "({})", texts.join(","));
    }

    /// Writes a blank and an operand.
    fn slot(&mut self, one: &Instruction, slot: usize, bare: bool) {
        let Some(operand) = one.operands.get(slot) else { return };
        if one.row.fields.contains(&Field::Paired)
            && one.row.operands().nth(slot) == Some(Field::Paired)
        {
            // Texts before version 4.2 lack the paired resource.
            if !self.routine.version.is_text_only() {
                return;
            }
        }
        match operand {
            Operand::General(general) if bare => {
                put!(self, " ");
                self.general(&General { region: Region::default(), ..*general });
            }
            Operand::Raws(raws) => raws.iter().for_each(|&raw| self.raw(raw)),
            Operand::Name(name) => match one.row.name {
                "fcall" if self.routine.binary.is_some() || is_label(name) => {
                    put!(self, " {}", plain_name(self.routine, name))
                }
                "faddr" if is_identifier(name) => put!(self, " {name}"),
                _ => put!(self, " {}", quoted(name)),
            },
            _ => self.operand(operand),
        }
    }

    fn raw(&mut self, raw: Raw) {
        put!(self, " {}.{}", variable_name(self.routine, raw.variable), raw.offset);
    }

    fn general(&mut self, one: &General) {
        let name = variable_name(self.routine, one.variable);
        put!(self, "{}{name}({},{})", one.modifier.text(), one.row, one.column);
        self.region(one.region);
    }

    fn region(&mut self, region: Region) {
        let number = |stride: Option<u8>| stride.unwrap_or(0);
        let horizontal = number(region.horizontal);
        match (region.vertical, region.width) {
            (_, None) if region == Region::default() => {}
            (_, None) => put!(self, "<{horizontal}>"),
            (None, Some(width)) => put!(self, "<{width},{horizontal}>"),
            (Some(vertical), Some(width)) => put!(self, "<{vertical};{width},{horizontal}>"),
        }
    }

    fn state(&mut self, state: State) {
        match state {
            State::Surface(id) => put!(self, "{}", surface_name(id)),
            State::Sampler(id) => put!(self, "S{}", id.0),
        }
    }

    fn operand(&mut self, operand: &Operand) {
        put!(self, " ");
        match operand {
            Operand::General(general) => self.general(general),
            Operand::Indirect(one) => {
                put!(
                    self,
                    "{}r[A{}({}),{}]",
                    one.modifier.text(),
                    one.address.0,
                    one.element,
                    one.offset
                );
                self.region(one.region);
                put!(self, ":{}", one.ty.name());
            }
            Operand::Address { address, element, width, modifier } => {
                put!(self, "{}A{}({element})<{width}>", modifier.text(), address.0);
            }
            Operand::Predicate { predicate, modifier } => {
                put!(self, "{}P{}", modifier.text(), predicate.0)
            }
            Operand::Immediate { ty, bits } => put!(self, "{bits:#x}:{}", ty.name()),
            Operand::State { state, element } => {
                self.state(*state);
                put!(self, "({element})");
            }
            Operand::AddressOf { of, offset, modifier, .. } => {
                put!(self, "{}&{}", modifier.text(), variable_name(self.routine, *of));
                if *offset != 0 {
                    put!(self, "[{offset}]");
                }
            }
            Operand::AddressOfState { state, element } => {
                put!(self, "&");
                self.state(*state);
                if *element != 0 {
                    put!(self, "[{}]", u32::from(*element) * 4);
                }
            }
            Operand::Raw(raw) => {
                put!(self, "{}.{}", variable_name(self.routine, raw.variable), raw.offset)
            }
            Operand::Surface(id) => put!(self, "{}", surface_name(*id)),
            Operand::Sampler(id) => put!(self, "S{}", id.0),
            Operand::Label(id) => put!(self, "{}", label_name(self.routine, *id)),
            Operand::Number(number) => put!(self, "{number}"),
            Operand::Labels(_)
            | Operand::Raws(_)
            | Operand::Name(_)
            | Operand::Lsc(_)
            | Operand::Lifetime { .. } => {}
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let first = name.as_bytes().first();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
