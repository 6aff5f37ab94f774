//! Changes of inputs.

use fastrand::Rng;

use super::input::{Layout, Part};
use crate::Dtype;

/// Floats of which code makes exceptions.
const FLOATS: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1e-40,
    1e38,
    65504.0,
    4294967296.0,
];

/// The most changes in one step.
const MOST: usize = 4;

pub struct Mutator {
    random: Rng,
    /// Numbers of the kernel's code, and those beside them.
    numbers: Vec<u64>,
}

impl Mutator {
    pub fn new(seed: u64, layout: &Layout, constants: impl Iterator<Item = u64>) -> Mutator {
        let mut numbers: Vec<u64> = (0..64).map(|bit| 1_u64 << bit).collect();
        numbers.extend(constants);
        let beside: Vec<u64> =
            numbers.iter().flat_map(|n| [n.wrapping_sub(1), n.wrapping_neg()]).collect();
        numbers.extend(beside);
        numbers.push(0);
        numbers.push(layout.len() as u64);
        numbers.sort_unstable();
        numbers.dedup();
        Mutator { random: Rng::with_seed(seed), numbers }
    }

    /// Returns a new input, made of one or two of the corpus.
    pub fn next(&mut self, layout: &Layout, corpus: &[Vec<u8>]) -> Vec<u8> {
        let random = &mut self.random;
        // Later inputs reach more.
        let pick = |random: &mut Rng| {
            let (a, b) = (random.usize(..corpus.len().max(1)), random.usize(..corpus.len().max(1)));
            corpus.get(a.max(b)).cloned()
        };
        let mut input = pick(random).unwrap_or_else(|| vec![0; layout.len()]);
        if random.u8(..8) == 0
            && let Some(other) = pick(random)
        {
            let part = &layout.parts[random.usize(..layout.parts.len())];
            input[part.bytes.clone()].copy_from_slice(&other[part.bytes.clone()]);
        }
        for _ in 0..random.usize(1..=MOST) {
            // Small parts, mostly numbers, matter as much as large ones.
            let part = layout.parts[self.random.usize(..layout.parts.len())].clone();
            self.change(&part, &mut input[part.bytes.clone()]);
        }
        input
    }

    fn change(&mut self, part: &Part, bytes: &mut [u8]) {
        // A buffer may hold other elements than the manifest says, or a structure.
        let sizes = [part.dtype.bytes(), part.dtype.bytes(), part.dtype.bytes(), 1, 2, 4, 8];
        let size = sizes[self.random.usize(..sizes.len())].min(bytes.len());
        let dtype = if size == part.dtype.bytes() { part.dtype } else { Dtype::U64 };
        let elements = bytes.len() / size;
        let at = self.random.usize(..elements) * size;
        match self.random.u8(..10) {
            0 => bytes[self.random.usize(..bytes.len())] ^= 1 << self.random.u8(..8),
            1 => bytes[self.random.usize(..bytes.len())] = self.random.u8(..),
            2 | 3 => {
                let value = self.number(dtype);
                bytes[at..at + size].copy_from_slice(&value[..size]);
            }
            4 | 5 => {
                let mut word = [0; 8];
                word[..size].copy_from_slice(&bytes[at..at + size]);
                let step = self.random.i64(-16..=16);
                let value = u64::from_le_bytes(word).wrapping_add_signed(step);
                bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
            6 => {
                // A run of equal elements.
                let value = self.number(dtype);
                let count = self.random.usize(1..=elements);
                for element in bytes[at..].chunks_exact_mut(size).take(count) {
                    element.copy_from_slice(&value[..size]);
                }
            }
            7 => {
                let from = self.random.usize(..elements) * size;
                let count = self.random.usize(1..=elements) * size;
                let count = count.min(bytes.len() - at.max(from));
                bytes.copy_within(from..from + count, at);
            }
            8 => self.random.fill(&mut bytes[at..at + size]),
            _ => {
                let count = self.random.usize(1..=elements).min(64) * size;
                let end = bytes.len().min(at + count);
                self.random.fill(&mut bytes[at..end]);
            }
        }
    }

    /// Returns the bytes of a number that code may compare with.
    fn number(&mut self, dtype: Dtype) -> [u8; 8] {
        let float = FLOATS[self.random.usize(..FLOATS.len())];
        let known = self.numbers[self.random.usize(..self.numbers.len())];
        match dtype {
            Dtype::F64 if self.random.bool() => float.to_le_bytes(),
            Dtype::F32 if self.random.bool() => wide(&(float as f32).to_le_bytes()),
            Dtype::F16 if self.random.bool() => wide(&half::f16::from_f64(float).to_le_bytes()),
            _ => known.to_le_bytes(),
        }
    }
}

fn wide(bytes: &[u8]) -> [u8; 8] {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    wide
}
