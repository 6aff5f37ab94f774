//! The inputs and outputs of a graphics program's launch: arrays in guest memory, with addresses in
//! the driver's constant bank.
//!
//! Except for the table, an array is a row: a word for each lane of the launch. Lanes are numbered
//! with the block's x fastest. A row has room for all lanes of all blocks, even lanes that do not
//! take part.

use warploom_guest::header::{ATTRIBUTE_WORDS, TARGETS};
pub use warploom_guest::shader::emitted;

/// Offsets in the bank [`images::driver::BANK`](warploom_guest::images::driver::BANK), behind the
/// records of images.
pub mod at {
    pub const START: u32 = 0xa000;
    /// The number of lanes that take part.
    pub const LANES: u32 = START;
    /// The number of vertices of an input primitive.
    pub const VERTICES: u32 = START + 4;
    /// The distance in bytes from a row to the row of the next vertex: 64 bits. It applies to
    /// inputs of a primitive's vertices and outputs of a geometry program.
    pub const STRIDE: u32 = START + 8;
    /// Addresses of the arrays, 64 bits each; 0 for an array that the launch lacks.
    pub const TABLE: u32 = START + 16;
    pub const END: u32 = TABLE + 8 * super::SLOTS;
}

/// An array of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Array {
    /// An input word, by its number in attribute space. In a fragment program it is the word that
    /// PASS gives.
    Attribute(u16),
    /// An input word of the patch.
    Patch(u16),
    /// Words of primitives; not a row. For each primitive and each of its three vertices it has the
    /// words from the first generic attribute on.
    Table,
    /// Bytes from the start of the table to the lane's primitive.
    Primitive,
    /// Not 0 in lanes that take part. In fragment programs, not 0 in lanes that are pixels: the
    /// other lanes are helpers.
    Covered,
    /// The covered samples of the pixel, a bit for each.
    Samples,
    /// The sample that the lane computes.
    Sample,
    /// The centroid's offset from the pixel's centre: two signed halves in 4096ths, x in the low
    /// half.
    Centroid,
    /// The number of a thread in its patch or primitive.
    Invocation,
    /// A word of output attributes. A geometry program has such a row for each vertex it may emit.
    Output(u16),
    /// An output word of a patch, in the word of the patch's first lane.
    PatchOutput(u16),
    /// A component of a target.
    Target(u8, u8),
    SampleMask,
    Depth,
    /// 1 in lanes whose pixel was kept.
    Written,
    /// A word for each vertex that a geometry program may emit: see [`emitted`].
    Emitted,
}

const WORDS: u32 = ATTRIBUTE_WORDS as u32;
const INPUTS: u32 = 2 * WORDS;
const OUTPUTS: u32 = INPUTS + 7;
const PIXELS: u32 = OUTPUTS + 2 * WORDS;
const LAST: u32 = PIXELS + 4 * TARGETS as u32;
const SLOTS: u32 = LAST + 4;

impl Array {
    const fn slot(self) -> u32 {
        match self {
            Array::Attribute(word) => word as u32,
            Array::Patch(word) => WORDS + word as u32,
            Array::Covered => INPUTS,
            Array::Samples => INPUTS + 1,
            Array::Sample => INPUTS + 2,
            Array::Centroid => INPUTS + 3,
            Array::Invocation => INPUTS + 4,
            Array::Table => INPUTS + 5,
            Array::Primitive => INPUTS + 6,
            Array::Output(word) => OUTPUTS + word as u32,
            Array::PatchOutput(word) => OUTPUTS + WORDS + word as u32,
            Array::Target(target, component) => PIXELS + 4 * target as u32 + component as u32,
            Array::SampleMask => LAST,
            Array::Depth => LAST + 1,
            Array::Written => LAST + 2,
            Array::Emitted => LAST + 3,
        }
    }

    /// Returns the byte offset of the array's address in the bank.
    pub const fn offset(self) -> u32 {
        at::TABLE + 8 * self.slot()
    }
}

/// The set of arrays that a launch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arrays([u64; SLOTS.div_ceil(64) as usize]);

impl Arrays {
    pub const NONE: Arrays = Arrays([0; SLOTS.div_ceil(64) as usize]);
    /// The set of all arrays, for code that does not know its launch.
    pub const ALL: Arrays = Arrays([u64::MAX; SLOTS.div_ceil(64) as usize]);

    pub fn insert(&mut self, array: Array) {
        self.0[array.slot() as usize / 64] |= 1 << (array.slot() % 64);
    }

    pub fn has(&self, array: Array) -> bool {
        self.0[array.slot() as usize / 64] >> (array.slot() % 64) & 1 != 0
    }
}

impl FromIterator<Array> for Arrays {
    fn from_iter<T: IntoIterator<Item = Array>>(arrays: T) -> Arrays {
        arrays.into_iter().fold(Arrays::NONE, |mut all, array| {
            all.insert(array);
            all
        })
    }
}

#[cfg(test)]
mod tests {
    use warploom_guest::images::driver;

    use super::*;

    #[test]
    fn arrays_have_places_of_their_own() {
        let words = [Array::Attribute, Array::Patch, Array::Output, Array::PatchOutput];
        let words = words.into_iter().flat_map(|of| (0..ATTRIBUTE_WORDS).map(of));
        let targets = (0..TARGETS).flat_map(|target| (0..4).map(move |n| Array::Target(target, n)));
        let pixels = [Array::Covered, Array::Samples, Array::Sample, Array::Centroid];
        let inputs = [Array::Invocation, Array::Table, Array::Primitive];
        let outputs = [Array::SampleMask, Array::Depth, Array::Written, Array::Emitted];
        let mut seen = Arrays::NONE;
        for array in words.chain(targets).chain(pixels).chain(inputs).chain(outputs) {
            assert!(!seen.has(array), "{array:?}");
            seen.insert(array);
            assert!(array.offset() + 8 <= at::END && Arrays::ALL.has(array));
        }
        let records =
            driver::at::KNOWN + (driver::MAX_KNOWN * warploom_ir::image::RECORD_BYTES) as u32;
        assert!(records <= at::START && at::END <= 1 << 16);
    }
}
