//! Writes instructions as Intel's compiler does.

use std::fmt::Write;

use super::{lsc, suffix};
use crate::isa::visa::module::*;
use crate::isa::visa::predefined::{self, FIRST_SURFACE};
use crate::isa::visa::table::{Field, Item, Suffix};
use crate::isa::visa::types::Region;
use crate::isa::visa::words::LSC_CHANNELS;

/// The text of an instruction without its number. A label has its colon.
pub fn instruction_text(routine: &Routine, one: &Instruction) -> String {
    let mut printer = Printer { routine, out: String::new(), upper: false };
    printer.instruction(one);
    printer.out
}

/// Names of labels and functions have no dots and dollars in the text.
pub(super) fn plain_name(name: &str) -> String {
    name.replace(['.', '$'], "_")
}

/// A label's name in the text: that of a subroutine ends in its number. In names from a text it is there already.
pub(super) fn label_name(routine: &Routine, id: LabelId) -> String {
    let Some(label) = routine.labels.get(usize::from(id.0)) else { return format!("L{}", id.0) };
    let name = plain_name(&label.name);
    let suffix = format!("_{}", id.0);
    match label.kind == Label::SUBROUTINE && routine.binary.is_some() {
        true => name + &suffix,
        false => name,
    }
}

/// A string in quotes.
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

struct Printer<'r> {
    routine: &'r Routine,
    out: String,
    /// Hexadecimal digits are capitals: so they are behind a number of an LSC message.
    upper: bool,
}

/// Adds text; writing to a string does not fail.
macro_rules! put {
    ($printer:expr, $($arg:tt)*) => {{ let _ = write!($printer.out, $($arg)*); }};
}

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
                // What no name is known of keeps its number.
                put!(self, "{}", text.unwrap_or_else(|| format!(".{number}")));
            }
            Item::Exec => match one.exec {
                Some(exec) => put!(self, " {exec}"),
                None => {}
            },
            Item::Gap => put!(self, " "),
            Item::Operand(slot) => self.slot(one, slot, false),
            Item::Bare(slot) => self.slot(one, slot, true),
            Item::Rest(slot) => (slot..one.operands.len()).for_each(|slot| self.slot(one, slot, false)),
            Item::Owords(slot) => put!(self, " ({})", 1 << (Self::number(one, slot) & 7)),
            Item::Pair(slot) => self.group(one, slot..slot + 2),
            Item::Triple(slot) => self.group(one, slot..slot + 3),
            Item::Hex(slot) => put!(self, " {:#x}", Self::number(one, slot)),
            Item::Labels(slot) => {
                if let Some(Operand::Labels(labels)) = one.operands.get(slot) {
                    let names: Vec<_> = labels.iter().map(|&label| label_name(self.routine, label)).collect();
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

    /// A blank and an operand.
    fn slot(&mut self, one: &Instruction, slot: usize, bare: bool) {
        let Some(operand) = one.operands.get(slot) else { return };
        if one.row.fields.contains(&Field::Paired) && one.row.operands().nth(slot) == Some(Field::Paired) {
            // Texts before version 4.2 do not have it.
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
                "fcall" => put!(self, " {}", plain_name(name)),
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
                put!(self, "{}r[A{}({}),{}]", one.modifier.text(), one.address.0, one.element, one.offset);
                self.region(one.region);
                put!(self, ":{}", one.ty.name());
            }
            Operand::Address { address, element, width, modifier } => {
                put!(self, "{}A{}({element})<{width}>", modifier.text(), address.0);
            }
            Operand::Predicate { predicate, modifier } => put!(self, "{}P{}", modifier.text(), predicate.0),
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
            Operand::Raw(raw) => put!(self, "{}.{}", variable_name(self.routine, raw.variable), raw.offset),
            Operand::Surface(id) => put!(self, "{}", surface_name(*id)),
            Operand::Sampler(id) => put!(self, "S{}", id.0),
            Operand::Label(id) => put!(self, "{}", label_name(self.routine, *id)),
            Operand::Number(number) => put!(self, "{number}"),
            Operand::Labels(_) | Operand::Raws(_) | Operand::Name(_) | Operand::Lsc(_) | Operand::Lifetime { .. } => {}
        }
    }

    fn lsc(&mut self, one: &Instruction) {
        let (row, field) = (one.row, lsc::field(one.row));
        let Some(Operand::Lsc(message)) = one.operands.first() else { return };
        put!(self, ".{}", message.sfid.name());
        if message.caches.iter().any(|&cache| cache != crate::isa::visa::words::Cache::Default) {
            message.caches.iter().for_each(|cache| put!(self, ".{}", cache.name()));
        }
        if let Some(exec) = one.exec.filter(|_| lsc::has_exec(row, field)) {
            put!(self, " {exec}");
        }
        put!(self, "  ");
        let last = one.operands.len() - 1;
        let destination = usize::from(field != Field::LscBlock) + 1;
        match lsc::kind(row) {
            lsc::Kind::Load => {
                self.lsc_data(one, message, destination);
                put!(self, "  ");
                self.lsc_place(one, message);
            }
            lsc::Kind::Store => {
                self.lsc_place(one, message);
                put!(self, "  ");
                // The second source of a store is null.
                let source = if field == Field::LscTyped || field == Field::Lsc && !row.name.contains("strided") {
                    last - 1
                } else {
                    last
                };
                self.lsc_data(one, message, source);
            }
            lsc::Kind::Atomic if field == Field::LscCounter => {
                self.lsc_data(one, message, destination);
                put!(self, "  ");
                self.lsc_model(one, message);
                put!(self, "  ");
                self.lsc_data(one, message, last);
            }
            lsc::Kind::Atomic => {
                self.lsc_data(one, message, destination);
                put!(self, "  ");
                self.lsc_place(one, message);
                for slot in [last - 1, last] {
                    put!(self, "  ");
                    self.lsc_operand(one.operands.get(slot));
                }
            }
            lsc::Kind::Info => {
                self.lsc_operand(one.operands.get(destination));
                put!(self, "  ");
                self.lsc_model(one, message);
                put!(self, "[");
                self.lsc_operand(one.operands.get(destination + 1));
                put!(self, "]");
            }
        }
    }

    /// A raw operand without an offset of 0, or a scalar without type and region.
    fn lsc_operand(&mut self, operand: Option<&Operand>) {
        match operand {
            Some(&Operand::Raw(Raw { variable, offset })) => {
                put!(self, "{}", variable_name(self.routine, variable));
                if offset != 0 {
                    put!(self, ".{offset}");
                }
            }
            Some(Operand::General(one)) => {
                put!(self, "{}", variable_name(self.routine, one.variable));
                if (one.row, one.column) != (0, 0) {
                    put!(self, "({},{})", one.row, one.column);
                }
            }
            Some(Operand::Immediate { bits, .. }) => {
                self.upper = true;
                put!(self, "0x{bits:X}");
            }
            _ => {}
        }
    }

    fn lsc_data(&mut self, one: &Instruction, message: &Lsc, slot: usize) {
        self.lsc_operand(one.operands.get(slot));
        if let (Field::LscTypedBlock, Some(block)) = (lsc::field(one.row), message.block) {
            put!(self, ":{}x{}", block.width, block.height);
            return;
        }
        let is_new = self.routine.version.is_text_only();
        put!(self, ":{}", if is_new { message.data.name() } else { message.data.old_name() });
        if let Some(block) = message.block {
            let count = if block.count == 1 { String::new() } else { format!("{}x", block.count) };
            let flag = |set| if set { 't' } else { 'n' };
            put!(self, ".{count}{}x{}{}{}", block.width, block.height, flag(message.transposed), flag(block.vnni));
            return;
        }
        if lsc::has_channels(one.row) {
            put!(self, ".{}", suffix::channels(message.channels.into(), LSC_CHANNELS));
            return;
        }
        if message.elements > 1 {
            put!(self, "x{}", message.elements);
        }
        if message.transposed {
            put!(self, "t");
        }
    }

    /// `flat`, `bss(V32)`, `bti(0x4,0x1)`
    fn lsc_model(&mut self, one: &Instruction, message: &Lsc) {
        use crate::isa::visa::words::AddressModel;
        put!(self, "{}", message.model.name());
        if lsc::field(one.row) == Field::LscBlock {
            return;
        }
        let surface = one.operands.get(1);
        let is_nothing = matches!(surface, Some(Operand::Immediate { bits: 0, .. })) && message.surface_index == 0;
        if is_nothing && matches!(message.model, AddressModel::Flat | AddressModel::Arg) {
            return;
        }
        put!(self, "(");
        self.lsc_operand(surface);
        if message.surface_index != 0 {
            put!(self, ",0x{:X}", message.surface_index);
        }
        put!(self, ")");
    }

    fn lsc_place(&mut self, one: &Instruction, message: &Lsc) {
        self.lsc_model(one, message);
        put!(self, "[");
        let field = lsc::field(one.row);
        match field {
            Field::LscBlock | Field::LscTypedBlock => {
                let (first, count) = if field == Field::LscBlock { (2, 6) } else { (3, 2) };
                for n in 0..count {
                    put!(self, "{}", if n > 0 { "," } else { "" });
                    self.lsc_operand(one.operands.get(first + n));
                    let offset = if n + 2 >= count { message.offsets[n + 2 - count] } else { 0 };
                    self.signed(offset);
                }
                put!(self, "]");
                return;
            }
            Field::LscTyped => {
                for n in 0..4 {
                    let coordinate = one.operands.get(3 + n);
                    if coordinate == Some(&Operand::Raw(Raw::NULL)) {
                        break;
                    }
                    put!(self, "{}", if n > 0 { "," } else { "" });
                    self.lsc_operand(coordinate);
                    self.signed(message.offsets.get(n).copied().unwrap_or(0));
                }
            }
            _ => {
                if message.scale > 1 {
                    put!(self, "{:#x}*", message.scale);
                }
                self.lsc_operand(one.operands.get(3));
                let (sign, offset) = (if message.offset < 0 { '-' } else { '+' }, message.offset.unsigned_abs());
                match (offset, self.upper) {
                    (0, _) => {}
                    (_, false) => put!(self, "{sign}{offset:#x}"),
                    (_, true) => put!(self, "{sign}0x{offset:X}"),
                }
                if one.row.name.contains("strided") {
                    put!(self, ", ");
                    self.lsc_operand(one.operands.get(4));
                }
            }
        }
        put!(self, "]:{}", message.address_size.name());
    }

    fn signed(&mut self, offset: i32) {
        if offset != 0 {
            put!(self, "{offset:+}");
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let first = name.as_bytes().first();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
