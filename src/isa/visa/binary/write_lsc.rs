//! Writes LSC descriptions for [`super::lsc`] to read.

use super::stream::Sink;
use crate::module::Lsc;
use crate::table::Field;
use crate::words::VECTOR_SIZES;

fn shape(sink: &mut Sink, lsc: &Lsc) {
    sink.byte(lsc.data.code());
    sink.byte(1 + u8::from(lsc.transposed));
    sink.byte(
        VECTOR_SIZES.iter().position(|&size| size == lsc.elements).map_or(0, |at| at as u8 + 1),
    );
    sink.byte(lsc.channels);
}

/// Writes a description. Returns None if the binary form does not have it.
pub(super) fn write(sink: &mut Sink, lsc: &Lsc, field: Field) -> Option<()> {
    if lsc.offsets != [0; 3] || lsc.surface_index != 0 {
        return None;
    }
    if !matches!(field, Field::LscTyped | Field::LscTypedBlock) {
        sink.byte(lsc.sfid.code());
    }
    lsc.caches.iter().for_each(|cache| sink.byte(cache.code()));
    if field == Field::LscBlock {
        let block = lsc.block?;
        sink.byte(lsc.data.code());
        sink.byte(1 + u8::from(lsc.transposed));
        sink.byte(block.count);
        sink.word(block.width);
        sink.word(block.height);
        sink.byte(block.vnni.into());
        return Some(());
    }
    sink.byte(lsc.model.code());
    match field {
        Field::Lsc => {
            sink.word(lsc.scale);
            sink.dword(lsc.offset as u32);
            sink.byte(lsc.address_size.code());
            shape(sink, lsc);
        }
        Field::LscTyped => {
            sink.byte(lsc.address_size.code());
            shape(sink, lsc);
        }
        Field::LscTypedBlock => {
            let block = lsc.block?;
            sink.word(block.width);
            sink.word(block.height);
        }
        _ => shape(sink, lsc),
    }
    Some(())
}
