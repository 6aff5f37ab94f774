//! Reads instructions.

use super::cursor::Cursor;
use super::error::Result;
use super::operand::exec;
use super::reader::Reader;
use super::suffix;
use crate::module::*;
use crate::table::{self, Field, Item, Row, Suffix};
use crate::types::{Exec, Ty};

/// The lanes of a message without lanes in its text. It is one message of the whole thread.
const UNWRITTEN_EXEC: Exec = Exec { size: 1, offset: 0, no_mask: true };

/// An instruction while it is being read, with its operands so far in the order of the row's
/// fields.
struct Found {
    made: Instruction,
    slots: Vec<Option<Operand>>,
}

impl Found {
    /// Adds bits to a number that is part of the mnemonic.
    fn add_number(&mut self, slot: usize, bits: u32) {
        let before = match self.slots.get(slot) {
            Some(Some(Operand::Number(number))) => *number,
            _ => 0,
        };
        self.set(slot, Operand::Number(before | bits));
    }

    fn set(&mut self, slot: usize, operand: Operand) {
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, None);
        }
        self.slots[slot] = Some(operand);
    }
}

impl Reader {
    pub fn statement(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let place = *cursor;
        self.current(&place)?;
        let predicate = self.predicate_use(cursor)?;
        cursor.blanks();
        let name_place = *cursor;
        let rest = cursor.rest();
        let mnemonic = &rest[..rest.find([' ', '\t', '(']).unwrap_or(rest.len())];
        let Some((rows, _)) = table::with_name(mnemonic) else {
            return Err(name_place.wrong(format!("instruction `{mnemonic}`, which is none")));
        };
        let mut problem = None;
        // Several rows may have this name. The first row that accepts the line is taken.
        for row in rows {
            let mut ahead = name_place;
            match self.instruction(&mut ahead, row, predicate) {
                Ok(made) => {
                    *cursor = ahead;
                    self.current(&place)?.code.push(made);
                    return Ok(());
                }
                // The error that is further on in the line says more.
                Err(wrong) => match &problem {
                    Some(held @ super::error::Wrong { .. }) if held.at >= wrong.at => {}
                    _ => problem = Some(wrong),
                },
            }
        }
        Err(problem.unwrap_or_else(|| name_place.expected("an instruction")))
    }

    fn instruction(
        &mut self,
        cursor: &mut Cursor<'_>,
        row: &'static Row,
        predicate: Option<PredicateUse>,
    ) -> Result<Instruction> {
        if predicate.is_some() && !row.has(Field::Predicate) {
            return Err(cursor.wrong(format!("`{}` takes no predicate", row.name)));
        }
        let operands = Default::default();
        let at = self.line_at + cursor.at as u32;
        let made = Instruction { row, at, exec: None, predicate, saturate: false, operands };
        cursor.at += row.name.len();
        let mut found = Found { made, slots: vec![] };
        if row.items == [Item::Lsc] {
            self.lsc(cursor, &mut found.made)?;
            found.made.exec.get_or_insert(UNWRITTEN_EXEC);
            return Ok(found.made);
        }
        let fields: Vec<Field> = row.operands().collect();
        let mut joined = true;
        for &item in &row.items {
            if joined && !matches!(item, Item::Suffix(..) | Item::Lifetime(_)) {
                joined = false;
                saturation(cursor, &fields, &mut found.made)?;
            }
            self.item(cursor, item, &fields, &mut found)?;
        }
        if joined {
            saturation(cursor, &fields, &mut found.made)?;
        }
        if !cursor.is_at_end() && cursor.here() != b'}' {
            return Err(cursor.expected("the line's end"));
        }
        complete(cursor, &fields, found)
    }

    fn item(
        &mut self,
        cursor: &mut Cursor<'_>,
        item: Item,
        fields: &[Field],
        found: &mut Found,
    ) -> Result<()> {
        match item {
            Item::Suffix(suffix, slot) => {
                let read = suffix::read(suffix, cursor.rest(), self.version);
                let (number, length) = read.ok_or_else(|| cursor.expected(&expected(suffix)))?;
                cursor.at += length;
                found.add_number(slot, number);
            }
            Item::Exec => found.made.exec = Some(exec(cursor)?),
            Item::Gap | Item::Lsc => {}
            Item::Operand(slot) => self.slot(cursor, fields, slot, false, found)?,
            Item::Bare(slot) => self.slot(cursor, fields, slot, true, found)?,
            Item::Rest(slot) => self.rest(cursor, fields, slot, found)?,
            Item::Owords(slot) => {
                cursor.expect("(")?;
                let place = *cursor;
                let count = cursor.number("a number of owords")?;
                if count > 16 || !count.is_power_of_two() {
                    return Err(place.wrong(format!("{count} owords, expected 1, 2, 4, 8 or 16")));
                }
                found.add_number(slot, count.trailing_zeros());
                cursor.expect(")")?;
            }
            Item::Pair(slot) => self.group(cursor, fields, slot..slot + 2, found)?,
            Item::Triple(slot) => self.group(cursor, fields, slot..slot + 3, found)?,
            Item::Hex(slot) => {
                found.set(slot, Operand::Number(cursor.number_below(1 << 32, "a number")? as u32))
            }
            Item::Labels(slot) => {
                cursor.expect("(")?;
                let mut labels = vec![self.branch_target(cursor)?];
                while cursor.takes(",") {
                    labels.push(self.branch_target(cursor)?);
                }
                cursor.expect(")")?;
                found.set(slot, Operand::Labels(labels));
            }
            Item::Lifetime(slot) => self.lifetime(cursor, slot, found)?,
        }
        Ok(())
    }

    fn group(
        &mut self,
        cursor: &mut Cursor<'_>,
        fields: &[Field],
        slots: std::ops::Range<usize>,
        found: &mut Found,
    ) -> Result<()> {
        cursor.expect("(")?;
        for slot in slots.clone() {
            if slot > slots.start {
                cursor.expect(",")?;
            }
            self.slot(cursor, fields, slot, false, found)?;
        }
        cursor.expect(")")
    }

    fn branch_target(&mut self, cursor: &mut Cursor<'_>) -> Result<LabelId> {
        let place = *cursor;
        let name = cursor.label("a label")?;
        self.label(&place, &name)
    }

    /// Reads an operand.
    fn slot(
        &mut self,
        cursor: &mut Cursor<'_>,
        fields: &[Field],
        slot: usize,
        bare: bool,
        found: &mut Found,
    ) -> Result<()> {
        let operand = match fields.get(slot) {
            Some(
                Field::Destination
                | Field::Source
                | Field::AddressOf
                | Field::TexelOffsets
                | Field::WaitMask,
            ) => self.vector(cursor, bare)?,
            // Texts before version 4.2 lack the paired resource.
            Some(Field::Paired) if !self.version.is_text_only() => Operand::Raw(Raw::NULL),
            Some(Field::Raw | Field::Paired) => Operand::Raw(self.raw(cursor, true)?),
            Some(Field::Surface) => Operand::Surface(self.surface(cursor)?),
            Some(Field::Sampler) => Operand::Sampler(self.sampler(cursor)?),
            Some(Field::Label) => Operand::Label(self.branch_target(cursor)?),
            Some(Field::Name) => Operand::Name(cursor.name_or_quoted("a name")?),
            Some(Field::Byte | Field::Ffid) => {
                Operand::Number(cursor.number_below(256, "a number")? as u32)
            }
            Some(Field::Word) => Operand::Number(cursor.number_below(1 << 16, "a number")? as u32),
            _ => Operand::Number(cursor.number_below(1 << 32, "a number")? as u32),
        };
        found.set(slot, operand);
        Ok(())
    }

    /// Reads all operands that are left.
    fn rest(
        &mut self,
        cursor: &mut Cursor<'_>,
        fields: &[Field],
        slot: usize,
        found: &mut Found,
    ) -> Result<()> {
        if fields.get(slot) == Some(&Field::Raws) {
            let mut raws = vec![];
            while !cursor.is_at_end() {
                if raws.len() >= u8::MAX.into() {
                    return Err(cursor.wrong("more operands than a message may have"));
                }
                raws.push(self.raw(cursor, true)?);
            }
            found.set(slot, Operand::Raws(raws));
            return Ok(());
        }
        // A render target write has raw operands and sources in any order.
        let mut slot = slot;
        while !cursor.is_at_end() {
            let mut ahead = *cursor;
            let operand = match self.raw(&mut ahead, true) {
                Ok(raw) => {
                    *cursor = ahead;
                    Operand::Raw(raw)
                }
                Err(_) => self.vector(cursor, false)?,
            };
            found.set(slot, operand);
            slot += 1;
        }
        Ok(())
    }

    fn lifetime(&mut self, cursor: &mut Cursor<'_>, slot: usize, found: &mut Found) -> Result<()> {
        let end = match () {
            () if cursor.joined(".start") => false,
            () if cursor.joined(".end") => true,
            () => return Err(cursor.expected("`.start` or `.end`")),
        };
        cursor.blanks();
        let place = *cursor;
        let of = match self.names.find(cursor.name("a variable")?) {
            Some(super::reader::Name::Variable(id)) => Living::Variable(id),
            Some(super::reader::Name::Address(id)) => Living::Address(id),
            Some(super::reader::Name::Predicate(id)) => Living::Predicate(id),
            _ => return Err(place.expected("a variable, address or predicate")),
        };
        found.set(slot, Operand::Lifetime { end, of });
        Ok(())
    }
}

/// Reads the saturation: `.sat`.
fn saturation(cursor: &mut Cursor<'_>, fields: &[Field], made: &mut Instruction) -> Result<()> {
    made.saturate = cursor.joined(".sat");
    if made.saturate && !fields.contains(&Field::Destination) {
        return Err(cursor.wrong(format!("`{}` does not saturate", made.row.name)));
    }
    match cursor.here() {
        0 | b' ' | b'\t' | b'\r' | b'(' => Ok(()),
        _ => Err(cursor.expected("an operand")),
    }
}

/// Completes an instruction. Unwritten operands are 0 or null.
fn complete(cursor: &Cursor<'_>, fields: &[Field], found: Found) -> Result<Instruction> {
    let Found { mut made, mut slots } = found;
    if made.exec.is_none() && made.row.has(Field::Exec) {
        made.exec = Some(UNWRITTEN_EXEC);
    }
    slots.resize(slots.len().max(fields.len()), None);
    for (n, slot) in slots.into_iter().enumerate() {
        let default = || match fields.get(n) {
            Some(Field::Source) => Some(Operand::Immediate { ty: Ty::Ub, bits: 0 }),
            Some(Field::Byte | Field::Word | Field::Dword | Field::TextOnly) => {
                Some(Operand::Number(0))
            }
            _ => None,
        };
        let operand = slot.or_else(default);
        made.operands.push(operand.ok_or_else(|| cursor.wrong("an operand is missing"))?);
    }
    Ok(made)
}

fn expected(suffix: Suffix) -> String {
    match suffix {
        Suffix::Atomic => "an atomic operation".into(),
        Suffix::Channels | Suffix::MaskedChannels => "channels, as `.RGBA`".into(),
        Suffix::Channel => "a channel, as `.R`".into(),
        Suffix::Relation => "a relation, as `.lt`".into(),
        Suffix::Function => "a function, as `.x96`".into(),
        Suffix::FenceSfid => "a unit, as `.ugm`".into(),
        _ => format!("a word ({suffix:?})"),
    }
}
