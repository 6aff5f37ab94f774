//! Reads the descriptions of LSC messages: addresses and data.

use super::BinaryError;
use super::stream::Stream;
use crate::module::{Block, Lsc};
use crate::table::Field;
use crate::words::{AddressModel, AddressSize, Cache, DataSize, Sfid, VECTOR_SIZES};

/// Reads a byte that stands for a member of an enumeration.
fn word<T>(
    stream: &mut Stream<'_>,
    what: &str,
    from_code: impl Fn(u8) -> Option<T>,
) -> Result<T, BinaryError> {
    let at = stream.at;
    let code = stream.byte(what)?;
    from_code(code).ok_or_else(|| BinaryError::new(at, format!("{what} {code}, which is none")))
}

fn order(stream: &mut Stream<'_>) -> Result<bool, BinaryError> {
    word(stream, "an order of elements", |code| match code {
        1 => Some(false),
        2 => Some(true),
        _ => None,
    })
}

fn shape(stream: &mut Stream<'_>, lsc: &mut Lsc) -> Result<(), BinaryError> {
    lsc.data = word(stream, "a size of elements", DataSize::from_code)?;
    lsc.transposed = order(stream)?;
    let number = |code: u8| match code {
        // A message with channels.
        0 => Some(0),
        _ => VECTOR_SIZES.get(usize::from(code) - 1).copied(),
    };
    lsc.elements = word(stream, "a number of elements", number)?;
    lsc.channels = word(stream, "a channel mask", |code| (code < 16).then_some(code))?;
    Ok(())
}

pub(super) fn read(stream: &mut Stream<'_>, field: Field) -> Result<Lsc, BinaryError> {
    let mut lsc = Lsc::new(Sfid::Tgm);
    if !matches!(field, Field::LscTyped | Field::LscTypedBlock) {
        lsc.sfid = word(stream, "a unit", Sfid::from_code)?;
    }
    for cache in &mut lsc.caches {
        *cache = word(stream, "a cache option", Cache::from_code)?;
    }
    if field == Field::LscBlock {
        lsc.data = word(stream, "a size of elements", DataSize::from_code)?;
        lsc.transposed = order(stream)?;
        let count = stream.byte("a number of blocks")?;
        let (width, height) = (stream.word("a block's width")?, stream.word("a block's height")?);
        let vnni = word(stream, "a transformation", |code| (code < 2).then_some(code == 1))?;
        lsc.block = Some(Block { count, width, height, vnni });
        return Ok(lsc);
    }
    lsc.model = word(stream, "an address model", AddressModel::from_code)?;
    match field {
        Field::Lsc => {
            lsc.scale = stream.word("a scale")?;
            lsc.offset = stream.dword("an offset")? as i32;
            lsc.address_size = word(stream, "a size of addresses", AddressSize::from_code)?;
            shape(stream, &mut lsc)?;
        }
        Field::LscTyped => {
            lsc.address_size = word(stream, "a size of addresses", AddressSize::from_code)?;
            shape(stream, &mut lsc)?;
        }
        Field::LscTypedBlock => {
            let (width, height) =
                (stream.word("a block's width")?, stream.word("a block's height")?);
            lsc.block = Some(Block { count: 1, width, height, vnni: false });
        }
        _ => shape(stream, &mut lsc)?,
    }
    Ok(lsc)
}
