//! Surfaces and textures: code that lifters share.
//!
//! The tables that [`driver`] places hold the data about images. Each instruction set defines its
//! handles: an NVIDIA handle is the index of a texture header, with the index of a sampler above
//! it.

pub mod driver;
pub mod formatted;
pub mod place;
pub mod reduction;
pub mod texture;

use rustc_hash::FxHashMap;
use warploom_ir::image::{RECORD_BYTES, Shape, at, sampler};
use warploom_ir::{Extend, IntCc, LaneFault, Space, Type, Value};

use self::driver::{BANK, HEADER_BITS};
use crate::bits::{self, Emit};
use crate::divergence::Mask;

/// Words of image records that are loaded already, by address, place and guard. Nothing writes to
/// the records.
pub type Records = FxHashMap<(Value, u32, Mask), Value>;

/// The interface of a lifter's state.
pub trait Lifter<'a>: Emit<'a> {
    /// The lanes for which the instruction is executed, among the active lanes.
    fn guard(&self) -> Mask;

    /// The lanes that execute the instruction.
    fn executing(&mut self) -> Value;

    /// The uniform value at an offset of a constant bank.
    fn driver_word(&mut self, bank: u8, offset: u32, ty: Type) -> Value;

    /// The images that code is specialised for, in the order of their records. The number of each
    /// names its handle.
    fn images(&self) -> &'a [(u32, Shape)];

    /// The loaded record words. They are dropped where other lanes become active.
    fn records(&mut self) -> &mut Records;

    /// An `i32` constant.
    fn number(&mut self, bits: u32) -> Value {
        self.constant_of(Type::I32, bits.into())
    }

    fn both(&mut self, x: Mask, y: Mask) -> Mask {
        x.and(y, self.builder())
    }

    fn either(&mut self, x: Mask, y: Mask) -> Mask {
        x.or(y, self.builder())
    }

    fn others(&mut self, x: Mask) -> Mask {
        x.not(self.builder())
    }

    /// Selects between values lane by lane.
    fn choose(&mut self, mask: Mask, a: Value, b: Value) -> Value {
        match mask {
            Mask::Always => a,
            Mask::Never => b,
            Mask::Lanes(mask) => self.builder().select(mask, a, b),
        }
    }

    /// Reinterprets a value as another type of its width.
    fn cast_to(&mut self, ty: Type, value: Value) -> Value {
        if self.builder().ty(value).ty == ty { value } else { self.builder().bitcast(ty, value) }
    }
}

/// The record of the image that a handle names.
#[derive(Clone, Copy)]
pub enum Record {
    /// In the driver's bank, at this offset; the image has this shape.
    Known { offset: u32, shape: Shape },
    /// At this guest address.
    At(Value),
}

impl Record {
    /// Returns the record of the handle with this name, if the kernel is specialised for it.
    pub fn known<'a>(cx: &impl Lifter<'a>, name: u32) -> Option<Record> {
        let number = cx.images().iter().position(|&(known, _)| known == name)?;
        let offset = driver::at::KNOWN + (number * RECORD_BYTES) as u32;
        Some(Record::Known { offset, shape: cx.images()[number].1 })
    }

    /// Returns the record of a handle, an `i32`.
    pub fn of<'a>(cx: &mut impl Lifter<'a>, handle: Value) -> Record {
        Record::At(record_address(cx, handle))
    }

    pub fn word<'a>(&self, cx: &mut impl Lifter<'a>, at: u32) -> Value {
        match *self {
            Record::Known { shape, .. } if let Some(word) = shape.word(at) => cx.number(word),
            _ => self.load(cx, at, Type::I32),
        }
    }

    pub fn load<'a>(&self, cx: &mut impl Lifter<'a>, at: u32, ty: Type) -> Value {
        match *self {
            Record::Known { offset, .. } => cx.driver_word(BANK, offset + at, ty),
            Record::At(address) => {
                let key = (address, at, cx.guard());
                if let Some(&word) = cx.records().get(&key) {
                    return word;
                }
                let access = cx.builder().access(Space::Global, ty, 1, address, at as i32);
                let word = cx.builder().load_access(access, Extend::None)[0];
                cx.records().insert(key, word);
                word
            }
        }
    }

    /// Returns the lanes whose image has this value in `bits` bits of a word of the record.
    pub fn field_is<'a>(
        &self,
        cx: &mut impl Lifter<'a>,
        at: u32,
        (lo, bits): (u32, u32),
        value: u32,
    ) -> Mask {
        match *self {
            Record::Known { shape, .. } if let Some(word) = shape.word(at) => {
                Mask::of(word >> lo & (u32::MAX >> (32 - bits)) == value)
            }
            _ => {
                let word = self.word(cx, at);
                let field = if bits == 32 { word } else { bits::range(cx, word, lo, bits, false) };
                let value = cx.number(value);
                Mask::Lanes(cx.builder().icmp(IntCc::Eq, field, value))
            }
        }
    }

    /// Returns the lanes whose image has one of these flags.
    pub fn has<'a>(&self, cx: &mut impl Lifter<'a>, flags: u32) -> Mask {
        match *self {
            Record::Known { shape, .. } => {
                Mask::of(shape.word(at::FLAGS).is_some_and(|word| word & flags != 0))
            }
            Record::At(_) => {
                let (word, flags, zero) =
                    (self.word(cx, at::FLAGS), cx.number(flags), cx.number(0));
                let bits = cx.builder().and(word, flags);
                Mask::Lanes(cx.builder().icmp(IntCc::Ne, bits, zero))
            }
        }
    }
}

/// Returns the address of the record of the image that a handle names.
pub(crate) fn record_address<'a>(cx: &mut impl Lifter<'a>, handle: Value) -> Value {
    let index = header(cx, handle);
    entry(cx, index, (driver::at::RECORDS, driver::at::HEADERS), RECORD_BYTES)
}

/// Returns the address of the record of the sampler that a handle names.
pub fn sampler_address<'a>(cx: &mut impl Lifter<'a>, handle: Value) -> Value {
    let index = bits::shr(cx, handle, HEADER_BITS);
    entry(cx, index, (driver::at::SAMPLERS, driver::at::SAMPLER_COUNT), sampler::RECORD_BYTES)
}

/// Returns the index of the texture header that a handle names.
fn header<'a>(cx: &mut impl Lifter<'a>, handle: Value) -> Value {
    let mask = cx.number((1 << HEADER_BITS) - 1);
    cx.builder().and(handle, mask)
}

/// The tables of queries, for properties that an image's record lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Surfaces,
    Textures,
    Samplers,
}

/// Loads a word of a handle's entry in a table of queries.
pub fn queried<'a>(cx: &mut impl Lifter<'a>, handle: Value, table: Table, at: u32) -> Value {
    let (index, count) = match table {
        Table::Samplers => (bits::shr(cx, handle, HEADER_BITS), driver::at::SAMPLER_COUNT),
        _ => (header(cx, handle), driver::at::HEADERS),
    };
    let entry = entry(cx, index, (driver::at::QUERIES[table as usize], count), driver::QUERY_BYTES);
    Record::At(entry).load(cx, at, Type::I32)
}

/// Returns the address of an entry of a table. The driver's bank holds the table's address and
/// count. An entry behind the last one serves handles that name none.
pub fn entry<'a>(
    cx: &mut impl Lifter<'a>,
    index: Value,
    (table, count): (u32, u32),
    bytes: usize,
) -> Value {
    let count = cx.driver_word(BANK, count, Type::I32);
    let index = cx.builder().min_u(index, count);
    let index = cx.builder().zero_extend(Type::I64, index);
    let shift = cx.constant_of(Type::I64, bytes.ilog2().into());
    let distance = cx.builder().shl(index, shift);
    let table = cx.driver_word(BANK, table, Type::I64);
    cx.builder().add(table, distance)
}

/// Converts a mask to a guard.
fn lanes_of<'a>(cx: &mut impl Lifter<'a>, mask: Mask) -> Option<Value> {
    match mask {
        Mask::Always => None,
        Mask::Never => Some(cx.constant_of(Type::Mask, 0)),
        Mask::Lanes(lanes) => Some(lanes),
    }
}

/// Raises a fault in the lanes of a mask that execute the instruction.
pub fn raise<'a>(cx: &mut impl Lifter<'a>, fault: LaneFault, lanes: Mask) {
    let guard = cx.guard();
    let lanes = cx.both(guard, lanes);
    if lanes == Mask::Never {
        return;
    }
    let lanes = lanes_of(cx, lanes).unwrap_or_else(|| cx.constant_of(Type::Mask, u64::MAX));
    cx.builder().raise(fault, lanes);
}
