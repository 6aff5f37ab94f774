//! Known contents of scalar registers and descriptors, for which code is specialised.

use warploom_ir::Value;
use warploom_ir::image::Shape;

use super::context::Cx;
use super::entry::{Initial, InitialScalar, KnownWord};
use super::image::bits;
use crate::Operand;

/// The known content of a scalar register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    Literal(u32),
    /// The word at this offset of the constant bank.
    Word(u32),
    /// The word at this offset, to which a carry may have been added: part of a base address plus
    /// an offset.
    WordAndCarry(u32),
}

/// The known contents of scalar registers, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownScalars([Option<Known>; 128]);

impl KnownScalars {
    pub const NOTHING: KnownScalars = KnownScalars([None; 128]);
    /// Stands for the content that was known before: no bank is so long.
    const UNTOUCHED: Known = Known::Word(u32::MAX);

    /// Returns the known contents when a wave starts.
    pub fn at_start(initial: &Initial) -> KnownScalars {
        let mut known = Self::NOTHING;
        for &(number, scalar) in &initial.scalars {
            if let InitialScalar::Constant(offset) = scalar {
                known.set(number, Some(Known::Word(offset)));
            }
        }
        known
    }

    pub fn untouched() -> KnownScalars {
        KnownScalars([Some(Self::UNTOUCHED); 128])
    }

    /// Returns the registers whose known contents differ from [`KnownScalars::untouched`].
    pub fn touched(&self) -> impl Iterator<Item = (u8, Option<Known>)> {
        (0..).zip(self.0).filter(|&(_, known)| known != Some(Self::UNTOUCHED))
    }

    pub fn get(&self, number: u8) -> Option<Known> {
        self.0.get(usize::from(number)).copied().flatten()
    }

    pub fn set(&mut self, number: u8, known: Option<Known>) {
        if let Some(place) = self.0.get_mut(usize::from(number)) {
            *place = known;
        }
    }

    /// Returns the offset in the bank of the content of a pair of registers.
    pub fn long(&self, first: u8) -> Option<u32> {
        match (self.get(first)?, self.get(first.checked_add(1)?)?) {
            (Known::Word(low), Known::Word(high)) if low.checked_add(4) == Some(high) => Some(low),
            _ => None,
        }
    }

    /// Drops contents that `other` does not share, and returns whether it dropped any.
    pub fn meet(&mut self, other: &KnownScalars) -> bool {
        let before = self.clone();
        for (known, other) in self.0.iter_mut().zip(other.0) {
            *known = known.filter(|_| *known == other);
        }
        *self != before
    }
}

/// The kind of descriptor that the bank has a copy of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Object {
    Image = 1,
    Sampler = 2,
}

/// The bits of DATA_FORMAT and NUM_FORMAT in an image's second word. The rest is its address.
const FORMAT: u32 = 0xfff0_0000;

impl Object {
    /// Returns the part of a descriptor that code is specialised for.
    ///
    /// For an image, the shape says how texels are read, not where they are or how many. For a
    /// sampler, it is everything.
    pub fn shape(self, words: [u32; 4]) -> Shape {
        let [a, b, c, d] = words;
        match self {
            Object::Image => Shape::new([self as u32, 0, b & FORMAT, 0, d, 0]),
            Object::Sampler => Shape::new([self as u32, a, b, c, d, 0]),
        }
    }

    /// Returns the bits of a descriptor's word that its shape determines.
    fn mask(shape: &Shape, word: u32) -> u32 {
        match (shape.words()[0], word) {
            (kind, 1) if kind == Object::Image as u32 => FORMAT,
            (kind, 3) if kind == Object::Image as u32 => u32::MAX,
            (kind, 0..4) if kind == Object::Sampler as u32 => u32::MAX,
            _ => 0,
        }
    }
}

/// Bytes of a descriptor's copy in the bank, enough for the longest descriptor.
pub const OBJECT_BYTES: u32 = 32;

impl Cx<'_> {
    /// Returns the mask of the known bits of a scalar register, and their values.
    fn known_bits(&self, number: u8) -> (u32, u32) {
        match self.known.get(number) {
            Some(Known::Literal(bits)) => (u32::MAX, bits),
            Some(Known::WordAndCarry(at)) => {
                let (mask, bits) = self.known_word(at);
                (mask & 0xffff_0000, bits & 0xffff_0000)
            }
            Some(Known::Word(at)) => {
                let within =
                    |place: u32| at.checked_sub(place).filter(|distance| *distance < OBJECT_BYTES);
                let found = self
                    .objects
                    .iter()
                    .find_map(|(place, shape)| Some((within(*place)? / 4, shape)));
                found.map_or_else(
                    || self.known_word(at),
                    |(word, shape)| {
                        (
                            Object::mask(shape, word),
                            shape.words().get(word as usize + 1).copied().unwrap_or(0),
                        )
                    },
                )
            }
            None => (0, 0),
        }
    }

    /// Returns the mask and values of the bits of a bank's word that are equal in every launch.
    fn known_word(&self, at: u32) -> (u32, u32) {
        let word = self.words.iter().find(|word| word.offset == at);
        word.map_or((0, 0), |&KnownWord { mask, bits, .. }| (mask, bits))
    }

    /// Returns the known content of a register after only a carry is added to it.
    pub fn with_carry(&self, number: u8) -> Option<Known> {
        match self.known.get(number)? {
            Known::Word(at) if self.known_word(at).0 & 0xffff != 0xffff => {
                Some(Known::WordAndCarry(at))
            }
            _ => None,
        }
    }

    /// Returns some bits of the scalar register `number`, if they are known.
    pub fn known_field(&self, number: u8, lo: u32, count: u32) -> Option<u32> {
        let mask = u32::MAX >> (32 - count);
        let (known, content) = self.known_bits(number);
        (known >> lo & mask == mask).then_some(content >> lo & mask)
    }

    /// Returns some bits of the scalar register `number`: a constant if they are known.
    pub fn field(&mut self, number: u8, lo: u32, count: u32) -> Value {
        if let Some(content) = self.known_field(number, lo, count) {
            return self.int(content);
        }
        let word = self.scalar(Operand::Scalar(number));
        bits(self, word, lo, count)
    }
}
