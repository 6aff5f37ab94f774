//! What scalar registers are known to hold, and what descriptors are known to say: what code is specialised for.

use warploom_ir::Value;
use warploom_ir::image::Shape;

use super::context::Cx;
use super::entry::{Initial, InitialScalar, KnownWord};
use super::image::bits;
use crate::Operand;

/// What a scalar register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    Literal(u32),
    /// The word at this offset of the constant bank.
    Word(u32),
    /// That word, to which a carry may have been added: a base address to which an offset was.
    WordAndCarry(u32),
}

/// What is known of scalar registers, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownScalars([Option<Known>; 128]);

impl KnownScalars {
    pub const NOTHING: KnownScalars = KnownScalars([None; 128]);
    /// Stands for whatever was known before: no bank is so long.
    const UNTOUCHED: Known = Known::Word(u32::MAX);

    /// When a wave starts.
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

    /// What is known differently than by [`KnownScalars::untouched`].
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

    /// The offset in the bank of what a pair of registers holds.
    pub fn long(&self, first: u8) -> Option<u32> {
        match (self.get(first)?, self.get(first.checked_add(1)?)?) {
            (Known::Word(low), Known::Word(high)) if low.checked_add(4) == Some(high) => Some(low),
            _ => None,
        }
    }

    /// Keeps what another one says too, and says whether that is less.
    pub fn meet(&mut self, other: &KnownScalars) -> bool {
        let before = self.clone();
        for (known, other) in self.0.iter_mut().zip(other.0) {
            *known = known.filter(|_| *known == other);
        }
        *self != before
    }
}

/// Which descriptor it is that the bank has a copy of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Object {
    Image = 1,
    Sampler = 2,
}

/// Of an image's second word: DATA_FORMAT and NUM_FORMAT. The rest is its address.
const FORMAT: u32 = 0xfff0_0000;

impl Object {
    /// What code is specialised for of a descriptor: of an image how texels are read, not where they are and how many; all of a
    /// sampler.
    pub fn shape(self, words: [u32; 4]) -> Shape {
        let [a, b, c, d] = words;
        match self {
            Object::Image => Shape::new([self as u32, 0, b & FORMAT, 0, d, 0]),
            Object::Sampler => Shape::new([self as u32, a, b, c, d, 0]),
        }
    }

    /// The bits of a word of a descriptor that its shape says.
    fn mask(shape: &Shape, word: u32) -> u32 {
        match (shape.words()[0], word) {
            (kind, 1) if kind == Object::Image as u32 => FORMAT,
            (kind, 3) if kind == Object::Image as u32 => u32::MAX,
            (kind, 0..4) if kind == Object::Sampler as u32 => u32::MAX,
            _ => 0,
        }
    }
}

/// Bytes of a descriptor's copy in the bank: of the longest.
pub const OBJECT_BYTES: u32 = 32;

impl Cx<'_> {
    /// The known bits of a scalar register: which, and what they are.
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

    /// The bits of a word of the bank that are the same in every launch.
    fn known_word(&self, at: u32) -> (u32, u32) {
        let word = self.words.iter().find(|word| word.offset == at);
        word.map_or((0, 0), |&KnownWord { mask, bits, .. }| (mask, bits))
    }

    /// What is known of a register to which a carry is added, with nothing else.
    pub fn with_carry(&self, number: u8) -> Option<Known> {
        match self.known.get(number)? {
            Known::Word(at) if self.known_word(at).0 & 0xffff != 0xffff => {
                Some(Known::WordAndCarry(at))
            }
            _ => None,
        }
    }

    /// Some bits of the scalar register `number`, if they are known.
    pub fn known_field(&self, number: u8, lo: u32, count: u32) -> Option<u32> {
        let mask = u32::MAX >> (32 - count);
        let (known, content) = self.known_bits(number);
        (known >> lo & mask == mask).then_some(content >> lo & mask)
    }

    /// Some bits of the scalar register `number`: a constant if they are known.
    pub fn field(&mut self, number: u8, lo: u32, count: u32) -> Value {
        if let Some(content) = self.known_field(number, lo, count) {
            return self.int(content);
        }
        let word = self.scalar(Operand::Scalar(number));
        bits(self, word, lo, count)
    }
}
