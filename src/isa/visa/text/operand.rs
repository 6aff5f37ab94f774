//! Reads operands.

use super::cursor::Cursor;
use super::error::Result;
use super::reader::{Name, Reader};
use crate::module::*;
use crate::types::{Exec, Region};

impl Reader {
    /// Reads the use of a predicate: `(!P1.any)`, or nothing.
    pub fn predicate_use(&self, cursor: &mut Cursor<'_>) -> Result<Option<PredicateUse>> {
        if !cursor.takes("(") {
            return Ok(None);
        }
        let invert = cursor.takes("!");
        let predicate = self.predicate(cursor)?;
        let combine = match () {
            () if cursor.takes(".any") => Combine::Any,
            () if cursor.takes(".all") => Combine::All,
            () => Combine::None,
        };
        cursor.expect(")")?;
        Ok(Some(PredicateUse { predicate, invert, combine }))
    }

    fn named(&self, cursor: &mut Cursor<'_>, what: &str) -> Result<Name> {
        cursor.blanks();
        let place = *cursor;
        let name = cursor.name(what)?;
        self.names.find(name).ok_or_else(|| place.wrong(format!("`{name}` is not declared")))
    }

    fn predicate(&self, cursor: &mut Cursor<'_>) -> Result<PredicateId> {
        cursor.blanks();
        let place = *cursor;
        match self.named(cursor, "a predicate")? {
            Name::Predicate(id) => Ok(id),
            _ => Err(place.expected("a predicate")),
        }
    }

    pub fn variable(&self, cursor: &mut Cursor<'_>) -> Result<VariableId> {
        cursor.blanks();
        let place = *cursor;
        match self.named(cursor, "a variable")? {
            Name::Variable(id) => Ok(id),
            _ => Err(place.expected("a variable")),
        }
    }

    pub fn surface(&self, cursor: &mut Cursor<'_>) -> Result<SurfaceId> {
        cursor.blanks();
        let place = *cursor;
        match self.named(cursor, "a surface")? {
            Name::Surface(id) => Ok(id),
            _ => Err(place.expected("a surface")),
        }
    }

    pub fn sampler(&self, cursor: &mut Cursor<'_>) -> Result<SamplerId> {
        cursor.blanks();
        let place = *cursor;
        match self.named(cursor, "a sampler")? {
            Name::Sampler(id) => Ok(id),
            _ => Err(place.expected("a sampler")),
        }
    }

    /// Reads a raw operand: `V32.64`. It may lack its offset unless `needs_offset`.
    pub fn raw(&self, cursor: &mut Cursor<'_>, needs_offset: bool) -> Result<Raw> {
        let variable = self.variable(cursor)?;
        if !cursor.joined(".") {
            return match needs_offset {
                false => Ok(Raw { variable, offset: 0 }),
                true => Err(cursor.expected("`.` and an offset")),
            };
        }
        let offset = match cursor.here() {
            b'(' => cursor.expression()?,
            _ => cursor.number("an offset")? as i64,
        };
        let offset = u32::try_from(offset).ok().filter(|&offset| offset <= 1 << 16);
        Ok(Raw { variable, offset: offset.ok_or_else(|| cursor.wrong("an offset past 65,536"))? })
    }

    fn modifier(&self, cursor: &mut Cursor<'_>) -> Modifier {
        let with_text = Modifier::ALL.into_iter().filter(|&one| one != Modifier::None);
        with_text.into_iter().find(|one| cursor.takes(one.text())).unwrap_or(Modifier::None)
    }

    /// Reads a vector operand that is written or read. It may lack its region if `bare`.
    pub fn vector(&self, cursor: &mut Cursor<'_>, bare: bool) -> Result<Operand> {
        let modifier = self.modifier(cursor);
        match cursor.next() {
            b'r' if cursor.takes("r[") => return self.indirect(cursor, modifier),
            b'&' => return self.address_of(cursor, modifier),
            b'0'..=b'9' | b'-' if modifier == Modifier::None => {
                let (ty, bits) = cursor.immediate()?;
                return Ok(Operand::Immediate { ty, bits });
            }
            _ => {}
        }
        let place = *cursor;
        match self.named(cursor, "an operand")? {
            Name::Variable(variable) => {
                let (row, column) = row_and_column(cursor)?;
                let has_region = cursor.next() == b'<';
                if !has_region && !bare {
                    return Err(cursor.expected("a region"));
                }
                let region = if has_region { region(cursor)? } else { Region::default() };
                Ok(Operand::General(General { variable, row, column, region, modifier }))
            }
            Name::Predicate(predicate) => Ok(Operand::Predicate { predicate, modifier }),
            Name::Address(address) => {
                let element = element(cursor)?;
                let width = if cursor.next() == b'<' { width(cursor)? } else { 1 };
                Ok(Operand::Address { address, element, width, modifier })
            }
            _ if modifier != Modifier::None => Err(place.wrong("a modifier of what has none")),
            Name::Surface(id) => {
                Ok(Operand::State { state: State::Surface(id), element: element(cursor)? })
            }
            Name::Sampler(id) => {
                Ok(Operand::State { state: State::Sampler(id), element: element(cursor)? })
            }
        }
    }

    /// Reads the rest of an indirect operand: `A0(2),16]<1,0>:ud`.
    fn indirect(&self, cursor: &mut Cursor<'_>, modifier: Modifier) -> Result<Operand> {
        cursor.blanks();
        let place = *cursor;
        let Name::Address(address) = self.named(cursor, "an address variable")? else {
            return Err(place.expected("an address variable"));
        };
        let element = element(cursor)?;
        cursor.expect(",")?;
        let place = *cursor;
        let offset = cursor.expression()?;
        let offset = i16::try_from(offset)
            .map_err(|_| place.wrong(format!("an offset of {offset} bytes")))?;
        cursor.expect("]")?;
        let region = region(cursor)?;
        cursor.expect(":")?;
        Ok(Operand::Indirect(Indirect {
            address,
            element,
            offset,
            ty: cursor.ty()?,
            region,
            modifier,
        }))
    }

    /// Reads the address of a variable: `&V4[32]`.
    fn address_of(&self, cursor: &mut Cursor<'_>, modifier: Modifier) -> Result<Operand> {
        cursor.expect("&")?;
        let place = *cursor;
        let name = self.named(cursor, "a variable or surface")?;
        let mut offset = 0;
        if cursor.takes("[") {
            offset = cursor.expression()?;
            cursor.expect("]")?;
        }
        let bad = || place.wrong(format!("an address with offset {offset}"));
        match name {
            Name::Variable(of) => {
                let offset = u32::try_from(offset)
                    .ok()
                    .filter(|&offset| offset < 1 << 16)
                    .ok_or_else(bad)?;
                Ok(Operand::AddressOf { of, offset, region: Region::SCALAR, modifier })
            }
            Name::Surface(id) if modifier == Modifier::None => {
                let element = u8::try_from(offset / 4).map_err(|_| bad())?;
                Ok(Operand::AddressOfState { state: State::Surface(id), element })
            }
            _ => Err(bad()),
        }
    }
}

/// Reads lanes: `(M1_NM, 16)` or `(16)`.
pub(super) fn exec(cursor: &mut Cursor<'_>) -> Result<Exec> {
    cursor.expect("(")?;
    let (mut offset, mut no_mask) = (0, false);
    if !cursor.next().is_ascii_digit() {
        let place = *cursor;
        let mask = cursor.name("a mask")?;
        let (number, is_no_mask) = match mask.strip_suffix("_NM") {
            Some(number) => (number, true),
            None => (mask, false),
        };
        no_mask = is_no_mask || mask == "NoMask";
        let number = if mask == "NoMask" {
            Some(1)
        } else {
            number.strip_prefix('M').and_then(|n| n.parse::<u8>().ok())
        };
        let number = number
            .filter(|number| (1..=8).contains(number))
            .ok_or_else(|| place.expected("a mask, M1 to M8_NM"))?;
        offset = (number - 1) * 4;
        cursor.expect(",")?;
    }
    let size = lanes(cursor)?;
    cursor.expect(")")?;
    Ok(Exec { size, offset, no_mask })
}

fn lanes(cursor: &mut Cursor<'_>) -> Result<u8> {
    cursor.blanks();
    let place = *cursor;
    let size = cursor.number("an execution size")?;
    match size <= 32 && size.is_power_of_two() {
        true => Ok(size as u8),
        false => Err(place.wrong(format!("{size} lanes, expected 1, 2, 4, 8, 16 or 32"))),
    }
}

/// Reads a row and column: `(1,2)`, or nothing.
pub(super) fn row_and_column(cursor: &mut Cursor<'_>) -> Result<(u8, u8)> {
    if cursor.here() != b'(' {
        return Ok((0, 0));
    }
    cursor.expect("(")?;
    let part = |cursor: &mut Cursor<'_>| {
        let place = *cursor;
        let number = cursor.expression()?;
        u8::try_from(number)
            .map_err(|_| place.wrong(format!("row or column {number}, expected up to 255")))
    };
    let row = part(cursor)?;
    cursor.expect(",")?;
    let column = part(cursor)?;
    cursor.expect(")")?;
    Ok((row, column))
}

/// Reads an element number: `(2)`.
fn element(cursor: &mut Cursor<'_>) -> Result<u8> {
    cursor.expect("(")?;
    let element = cursor.number_below(256, "an element")?;
    cursor.expect(")")?;
    Ok(element as u8)
}

/// Reads a width: `<4>`.
fn width(cursor: &mut Cursor<'_>) -> Result<u8> {
    cursor.expect("<")?;
    let width = lanes(cursor)?;
    cursor.expect(">")?;
    Ok(width)
}

fn stride(cursor: &mut Cursor<'_>) -> Result<Option<u8>> {
    cursor.blanks();
    let place = *cursor;
    let number = cursor.number("a stride")?;
    match Region::is_stride(number) {
        true => Ok(Some(number as u8)),
        false => {
            Err(place.wrong(format!("stride or width {number}, expected 0, 1, 2, 4, 8, 16 or 32")))
        }
    }
}

/// Reads a region: `<1>`, `<1,0>`, `<8;8,1>`.
fn region(cursor: &mut Cursor<'_>) -> Result<Region> {
    cursor.expect("<")?;
    let mut region = Region { vertical: None, width: None, horizontal: stride(cursor)? };
    if cursor.takes(";") {
        region.vertical = region.horizontal;
        region.width = stride(cursor)?;
        cursor.expect(",")?;
        region.horizontal = stride(cursor)?;
    } else if cursor.takes(",") {
        region.width = region.horizontal;
        region.horizontal = stride(cursor)?;
    }
    cursor.expect(">")?;
    Ok(region)
}
