//! Reads LSC messages. Behind the name are unit, caches and lanes, then data and address in the
//! order of the message's kind.

use super::cursor::Cursor;
use super::error::Result;
use super::operand::{exec, row_and_column};
use super::reader::Reader;
use crate::module::*;
use crate::table::{Field, Row};
use crate::types::{Region, Ty};
use crate::words::*;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Load,
    Store,
    Atomic,
    /// `lsc_read_state_info`
    Info,
}

pub(super) fn kind(row: &Row) -> Kind {
    match row.name {
        "lsc_read_state_info" => Kind::Info,
        name if name.starts_with("lsc_load") => Kind::Load,
        name if name.starts_with("lsc_store") => Kind::Store,
        _ => Kind::Atomic,
    }
}

/// Returns whether a message names its channels.
pub(super) fn has_channels(row: &Row) -> bool {
    row.name.contains("quad")
}

/// Returns whether a message has lanes in its text.
pub(super) fn has_exec(row: &Row, field: Field) -> bool {
    field != Field::LscTypedBlock && kind(row) != Kind::Info
}

/// Returns the field that describes the message.
pub(super) fn field(row: &Row) -> Field {
    row.operands().next().unwrap_or(Field::Lsc)
}

/// Operands of a message in the order of the row's fields. Unwritten operands are null.
struct Parts {
    lsc: Lsc,
    surface: Operand,
    data: Raw,
    /// Addresses, or coordinates.
    at: Vec<Operand>,
    sources: [Raw; 2],
}

const NOTHING: Operand = Operand::Immediate { ty: Ty::Ud, bits: 0 };

impl Reader {
    pub fn lsc(&mut self, cursor: &mut Cursor<'_>, made: &mut Instruction) -> Result<()> {
        let (row, field) = (made.row, field(made.row));
        let sfid_place = *cursor;
        let sfid = cursor
            .joined(".")
            .then(|| cursor.name("a unit").ok())
            .flatten()
            .and_then(Sfid::from_name);
        let sfid =
            sfid.ok_or_else(|| sfid_place.expected("a unit: `.ugm`, `.ugml`, `.tgm` or `.slm`"))?;
        let is_typed = matches!(field, Field::LscTyped | Field::LscTypedBlock);
        if is_typed != (sfid == Sfid::Tgm) {
            return Err(sfid_place.expected(if is_typed {
                "`.tgm`"
            } else {
                "`.ugm`, `.ugml` or `.slm`"
            }));
        }
        let mut lsc = Lsc::new(sfid);
        caches(cursor, &mut lsc)?;
        if has_exec(row, field) {
            made.exec = Some(exec(cursor)?);
        }
        let mut parts =
            Parts { lsc, surface: NOTHING, data: Raw::NULL, at: vec![], sources: [Raw::NULL; 2] };
        match kind(row) {
            Kind::Load => {
                self.data(cursor, row, field, &mut parts)?;
                self.place(cursor, field, &mut parts)?;
            }
            Kind::Store => {
                self.place(cursor, field, &mut parts)?;
                self.data(cursor, row, field, &mut parts)?;
                parts.sources[0] = std::mem::replace(&mut parts.data, Raw::NULL);
            }
            Kind::Atomic => {
                self.data(cursor, row, field, &mut parts)?;
                if field == Field::LscCounter {
                    self.model(cursor, &mut parts)?;
                    let destination = parts.data;
                    self.data(cursor, row, field, &mut parts)?;
                    parts.sources[0] = std::mem::replace(&mut parts.data, destination);
                } else {
                    self.place(cursor, field, &mut parts)?;
                    parts.sources = [self.raw(cursor, false)?, self.raw(cursor, false)?];
                }
            }
            Kind::Info => {
                parts.data = self.raw(cursor, false)?;
                self.place(cursor, field, &mut parts)?;
            }
        }
        if !cursor.is_at_end() {
            return Err(cursor.expected("the line's end"));
        }
        made.operands = in_order(field, row, parts);
        Ok(())
    }

    /// Reads data: `V32:d32x4t`, `V32:d32.xyzw`, `V32:d16.2x8x16nn`, `V32:64x4`.
    fn data(
        &self,
        cursor: &mut Cursor<'_>,
        row: &Row,
        field: Field,
        parts: &mut Parts,
    ) -> Result<()> {
        parts.data = self.raw(cursor, false)?;
        cursor.expect(":")?;
        let place = *cursor;
        let lsc = &mut parts.lsc;
        if field == Field::LscTypedBlock {
            let width = small(cursor)?;
            cursor.expect("x")?;
            lsc.block = Some(Block { count: 1, width, height: small(cursor)?, vnni: false });
            return Ok(());
        }
        let rest = cursor.rest();
        let word = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len())];
        // Takes the longest size that it begins with: `d16u32h` before `d16`.
        let spellings =
            DataSize::ALL.iter().flat_map(|size| [(size.name(), *size), (size.old_name(), *size)]);
        let size =
            spellings.filter(|(name, _)| word.starts_with(name)).max_by_key(|(name, _)| name.len());
        let (name, size) = size.ok_or_else(|| place.expected("a size of data, as `d32`"))?;
        cursor.at += name.len();
        lsc.data = size;
        if field == Field::LscBlock {
            cursor.expect(".")?;
            return block(cursor, lsc);
        }
        if has_channels(row) {
            cursor.expect(".")?;
            lsc.elements = 0;
            for (bit, letter) in LSC_CHANNELS.into_iter().enumerate() {
                if cursor.here() == letter {
                    cursor.at += 1;
                    lsc.channels |= 1 << bit;
                }
            }
            return Ok(());
        }
        if cursor.joined("x") {
            let place = *cursor;
            let count = digits(cursor)?;
            let known = VECTOR_SIZES.into_iter().find(|&size| u64::from(size) == count);
            lsc.elements = known.ok_or_else(|| {
                place.wrong(format!("{count} elements, expected 1 to 4, 8, 16, 32 or 64"))
            })?;
        }
        lsc.transposed = cursor.joined("t");
        Ok(())
    }

    /// Reads an address model: `flat`, `bss(V32)`, `bti(0x4)`.
    fn model(&self, cursor: &mut Cursor<'_>, parts: &mut Parts) -> Result<()> {
        cursor.blanks();
        let place = *cursor;
        let model = AddressModel::from_name(cursor.name("an address")?);
        parts.lsc.model =
            model.ok_or_else(|| place.expected("`flat`, `bss`, `ss`, `bti`, `arg` or `surf`"))?;
        if cursor.takes("(") {
            parts.surface = self.lsc_vector(cursor)?;
            if cursor.takes(",") {
                parts.lsc.surface_index = cursor.number_below(1 << 32, "an index")? as u32;
            }
            cursor.expect(")")?;
        }
        Ok(())
    }

    /// Reads an address: `flat[V32+0x10]:a64`, `bss(V32)[V33,V34]:a32`.
    fn place(&self, cursor: &mut Cursor<'_>, field: Field, parts: &mut Parts) -> Result<()> {
        self.model(cursor, parts)?;
        cursor.expect("[")?;
        match field {
            Field::LscBlock | Field::LscTypedBlock => {
                let last = if field == Field::LscBlock { 5 } else { 1 };
                for n in 0..=last {
                    if n > 0 {
                        cursor.expect(",")?;
                    }
                    parts.at.push(self.lsc_vector(cursor)?);
                    if n + 1 >= last {
                        parts.lsc.offsets[usize::from(n == last)] = signed(cursor)?;
                    }
                }
                cursor.expect("]")?;
                return Ok(());
            }
            Field::LscTyped => {
                for n in 0..4 {
                    if n > 0 && !cursor.takes(",") {
                        break;
                    }
                    parts.at.push(Operand::Raw(self.raw(cursor, false)?));
                    if let Some(offset) = parts.lsc.offsets.get_mut(n) {
                        *offset = signed(cursor)?;
                    }
                }
            }
            _ => self.untyped(cursor, parts)?,
        }
        cursor.expect("]")?;
        if cursor.takes(":") {
            let place = *cursor;
            let size = AddressSize::from_name(cursor.name("a size of addresses")?);
            parts.lsc.address_size = size.ok_or_else(|| place.expected("`a16`, `a32` or `a64`"))?;
        }
        Ok(())
    }

    /// Reads the address of an untyped message: `0x4*V32+0x10, 0x40`.
    fn untyped(&self, cursor: &mut Cursor<'_>, parts: &mut Parts) -> Result<()> {
        if cursor.next().is_ascii_digit() {
            parts.lsc.scale = cursor.number_below(1 << 16, "a scale")? as u16;
            cursor.expect("*")?;
        }
        parts.at.push(Operand::Raw(self.raw(cursor, false)?));
        parts.lsc.offset = signed(cursor)?;
        if cursor.takes(",") {
            parts.at.push(self.lsc_vector(cursor)?);
        }
        Ok(())
    }

    /// Reads a scalar: an immediate without a type, or a variable without a region.
    fn lsc_vector(&self, cursor: &mut Cursor<'_>) -> Result<Operand> {
        if cursor.next().is_ascii_digit() {
            return Ok(Operand::Immediate { ty: Ty::Ud, bits: cursor.number("a number")? });
        }
        let variable = self.variable(cursor)?;
        let (row, column) = row_and_column(cursor)?;
        let modifier = Modifier::None;
        Ok(Operand::General(General { variable, row, column, region: Region::SCALAR, modifier }))
    }
}

/// Returns the operands of a message in order, with the unwritten operands.
fn in_order(field: Field, row: &Row, parts: Parts) -> Operands {
    let Parts { lsc, surface, data, mut at, sources: [first, second] } = parts;
    let mut all = Operands::new();
    all.push(Operand::Lsc(Box::new(lsc)));
    if field != Field::LscBlock {
        all.push(surface);
    }
    all.push(Operand::Raw(data));
    let is_strided = row.name.contains("strided");
    let coordinates = match field {
        Field::LscTyped => 4,
        Field::LscCounter => 0,
        _ => at.len(),
    };
    at.resize(coordinates, Operand::Raw(Raw::NULL));
    if is_strided && at.len() == 1 {
        at.push(NOTHING);
    }
    all.extend(at);
    all.push(Operand::Raw(first));
    if field == Field::LscTyped || field == Field::Lsc && !is_strided {
        all.push(Operand::Raw(second));
    }
    all
}

/// Reads cache options: `.ca.cc`, or nothing.
fn caches(cursor: &mut Cursor<'_>, lsc: &mut Lsc) -> Result<()> {
    for cache in &mut lsc.caches {
        let mut ahead = *cursor;
        if !ahead.joined(".") {
            return Ok(());
        }
        let word = ahead.name("a cache option")?;
        *cache =
            Cache::from_name(word).ok_or_else(|| cursor.expected("a cache option, as `.ca`"))?;
        *cursor = ahead;
    }
    Ok(())
}

/// Reads a number in decimal digits, with no blank before it.
fn digits(cursor: &mut Cursor<'_>) -> Result<u64> {
    let rest = cursor.rest();
    let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..length].parse().map_err(|_| cursor.expected("a number"))?;
    cursor.at += length;
    Ok(number)
}

fn small(cursor: &mut Cursor<'_>) -> Result<u16> {
    let place = *cursor;
    u16::try_from(digits(cursor)?).map_err(|_| place.wrong("a number past 65,535"))
}

/// Reads an offset: `+0x10`, `-4`, or nothing.
fn signed(cursor: &mut Cursor<'_>) -> Result<i32> {
    let place = *cursor;
    let negative = match () {
        () if cursor.takes("+") => false,
        () if cursor.takes("-") => true,
        () => return Ok(0),
    };
    let number = cursor.number("an offset")?;
    let number = i64::try_from(number).ok().map(|number| if negative { -number } else { number });
    number
        .and_then(|number| i32::try_from(number).ok())
        .ok_or_else(|| place.wrong("an offset of more than 32 bits"))
}

/// Reads a two-dimensional block: `2x8x16nn`.
fn block(cursor: &mut Cursor<'_>, lsc: &mut Lsc) -> Result<()> {
    let place = *cursor;
    let mut numbers = vec![small(cursor)?];
    while numbers.len() < 3 && cursor.joined("x") {
        numbers.push(small(cursor)?);
    }
    let (count, width, height) = match numbers[..] {
        [width, height] => (1, width, height),
        [count, width, height] => (count, width, height),
        _ => return Err(place.expected("a block, as `8x16nn`")),
    };
    let count = u8::try_from(count).map_err(|_| place.wrong(format!("{count} blocks")))?;
    let mut flag = || match () {
        () if cursor.joined("t") => Ok(true),
        () if cursor.joined("n") => Ok(false),
        () => Err(cursor.expected("`n` or `t`")),
    };
    lsc.transposed = flag()?;
    let vnni = flag()?;
    lsc.block = Some(Block { count, width, height, vnni });
    Ok(())
}
