//! Finds the upper half of a product of 64-bit numbers that 32-bit code sums up from products of
//! words.
//!
//! With `a = a0 + 2^32 a1` and `b` likewise, the product is
//! `a0 b0 + 2^32 (a0 b1 + a1 b0) + 2^64 a1 b1`. Compilers add the words of the four products in
//! columns, in many orders, with carries from one column to the next. So this module looks for no
//! order: it writes the pair that may be the upper half as an exact sum. A sum of words `x + y + c`
//! is its low word plus 2^32 times its carry:
//!
//! - If low word and carry both count, the carry 2^32 times as much, the whole sum counts.
//! - If only the carry counts, the sum counts without its low word, which is cut.
//! - If only the low word counts, the sum must carry nothing, or only past 2^128, where it does not
//!   matter.
//!
//! Suppose that the remaining words of products are the words of `a b` but for the low word of
//! `a0 b0`. Then this word and the cut words are the remainder of a division of `a b` by 2^64, as
//! long as they are less than 2^64. A pair that is added to the upper half, as in Newton's steps
//! for a reciprocal, may be among the words: a carry past 2^128 does not matter then either.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use smallvec::SmallVec;
use warploom_ir::{BinaryOp, ConvertOp, Inst, Op, Type, Value, Window};

use super::editor::Editor;

/// The most sums of a pair that are written out.
const MOST_SUMS: usize = 16;
/// 2^32
const WORD: i128 = 1 << 32;

/// A word of the product of two words. The factors are sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Low(Value, Value),
    High(Value, Value),
}

impl Word {
    fn low(a: Value, b: Value) -> Word {
        Word::Low(a.min(b), a.max(b))
    }

    fn high(a: Value, b: Value) -> Word {
        Word::High(a.min(b), a.max(b))
    }
}

/// The terms of a pair: words of products and how often they count, in units of 2^-64 of the pair's
/// unit.
#[derive(Default)]
struct Sum {
    words: BTreeMap<Word, i128>,
    /// Words that are in no product, at the pair's low and high word.
    added: [Option<Value>; 2],
    /// Sums to be written out, by instruction: how often the low word and the carry count.
    open: BTreeMap<usize, [i128; 2]>,
    /// The number of cut words that the sum contains in excess.
    cut: i128,
}

/// The upper half of a product of two pairs of words, and a pair that is added to it.
struct High {
    factors: [(Value, Value); 2],
    added: Option<(Value, Value)>,
}

impl Editor {
    /// Replaces the sum at `upper`, and the sum whose carry it takes, by the upper half of a
    /// product. Returns `None` if they are no upper half.
    pub(super) fn fuse_high_product(&mut self, upper: usize, window: Window) -> Option<()> {
        let Op::AddCarry { carry: Some(carry), .. } = self.insts[upper].op else { return None };
        let (lower, 1) = self.def_at(carry) else { return None };
        let Op::AddCarry { .. } = self.insts[lower].op else { return None };
        let [lo, hi] = [lower, upper].map(|at| self.insts[at].results[0]);
        if self.ty(hi).ty != Type::I32 {
            return None;
        }
        let High { factors: [(a0, a1), (b0, b1)], added } = self.high_of(lo, hi, window)?;
        let (a, b) = (self.concat(a0, a1, window), self.concat(b0, b1, window));
        let mut pair = self.binary(BinaryOp::MulHiU, a, b, window);
        if let Some((lo, hi)) = added {
            let added = self.concat(lo, hi, window);
            pair = self.binary(BinaryOp::Add, pair, added, window);
        }
        for (op, half) in [(ConvertOp::Trunc, lo), (ConvertOp::HighHalf, hi)] {
            let by = self.convert(op, Type::I32, pair, window);
            let by = self.shaped(by, self.ty(half), window);
            self.replace(half, by);
        }
        // The guest's compiler may have used the low word before it computed the high word.
        self.renew_users(lower + 1..upper);
        Some(())
    }

    /// Recomputes the pure operations of a range that use replaced values, from the current values.
    fn renew_users(&mut self, range: Range<usize>) {
        for at in range {
            let Inst { mut op, results, window, pc } = self.insts[at].clone();
            if !self.is_pure(&op) || op.operands().iter().all(|&v| self.current(v) == v) {
                continue;
            }
            op.map_operands(|v| self.current(v));
            let types: SmallVec<[_; 2]> = results.iter().map(|&v| self.ty(v)).collect();
            let pc = std::mem::replace(&mut self.pc, pc);
            let renewed = self.pure(op, window, &types);
            self.pc = pc;
            results.iter().zip(renewed).for_each(|(&old, new)| self.replace(old, new));
        }
    }

    /// Returns the factors of the product that the pair is the upper half of, and the pair that is
    /// added.
    fn high_of(&self, lo: Value, hi: Value, window: Window) -> Option<High> {
        let mut sum = Sum::default();
        self.put(&mut sum, lo, WORD * WORD)?;
        self.put(&mut sum, hi, WORD * WORD * WORD)?;
        for _ in 0..MOST_SUMS {
            let Some((at, counts)) = sum.open.pop_last() else { break };
            self.write_out(&mut sum, at, counts, window)?;
        }
        // The low word of the low product and the cut words are at most (2^32 + 1) (2^32 - 1).
        if !sum.open.is_empty() || sum.cut > WORD {
            return None;
        }
        let added = match sum.added {
            [Some(lo), Some(hi)] => Some((lo, hi)),
            [None, None] => None,
            _ => return None,
        };
        let high_at = |count: i128| {
            let mut found = sum.words.iter().filter_map(|(&word, &times)| match word {
                Word::High(x, y) if times == count => Some((x, y)),
                _ => None,
            });
            found.next().filter(|_| found.next().is_none())
        };
        let ((a1, b1), (x, y)) = (high_at(WORD * WORD * WORD)?, high_at(WORD)?);
        let factors = [[(x, a1), (y, b1)], [(y, a1), (x, b1)]].into_iter().find(|factors| {
            let &[(a0, a1), (b0, b1)] = factors;
            let mut wanted = BTreeMap::new();
            for (a, b, count) in
                [(a0, b0, 1), (a0, b1, WORD), (a1, b0, WORD), (a1, b1, WORD * WORD)]
            {
                *wanted.entry(Word::low(a, b)).or_insert(0) += count;
                *wanted.entry(Word::high(a, b)).or_insert(0) += count * WORD;
            }
            if let Entry::Occupied(mut lowest) = wanted.entry(Word::low(a0, b0)) {
                *lowest.get_mut() -= 1;
                if *lowest.get() == 0 {
                    lowest.remove();
                }
            }
            wanted == sum.words
        });
        Some(High { factors: factors?, added })
    }

    /// Adds a word to a sum, `count` times.
    fn put(&self, sum: &mut Sum, word: Value, count: i128) -> Option<()> {
        let word = self.current(word);
        if self.constant(word) == Some(0) {
            return Some(());
        }
        if let Some(word) = self.word_of_product(word) {
            *sum.words.entry(word).or_insert(0) += count;
            return Some(());
        }
        let (at, result) = self.def_at(word);
        if matches!(self.insts[at].op, Op::AddCarry { .. }) {
            sum.open.entry(at).or_default()[result] += count;
            return Some(());
        }
        let place = [WORD * WORD, WORD * WORD * WORD].iter().position(|&one| one == count)?;
        sum.added[place].replace(word).is_none().then_some(())
    }

    /// Replaces the low word and the carry of a sum by its summands.
    fn write_out(
        &self,
        sum: &mut Sum,
        at: usize,
        [low, carried]: [i128; 2],
        window: Window,
    ) -> Option<()> {
        let Op::AddCarry { a, b, carry } = self.insts[at].op else { return None };
        if self.insts[at].window != window || carried % WORD != 0 {
            return None;
        }
        let times = if carried == 0 { low } else { carried / WORD };
        // No upper word of a product is all ones, so its sum with 0 and a carry carries nothing.
        let high = |v: Value| matches!(self.word_of_product(self.current(v)), Some(Word::High(..)));
        let never = [(a, b), (b, a)].iter().any(|&(x, y)| self.constant(x) == Some(0) && high(y));
        let is_past = low % (WORD * WORD * WORD) == 0;
        if carried == 0 && !never && !is_past || low > times {
            return None;
        }
        sum.cut += times - low;
        self.put(sum, a, times)?;
        self.put(sum, b, times)?;
        carry.map_or(Some(()), |carry| self.put(sum, carry, times))
    }

    fn word_of_product(&self, v: Value) -> Option<Word> {
        let factors = |v: Value, wanted: BinaryOp| {
            let (a, b) = self.matches_binary(self.current(v), wanted)?;
            Some((self.plain(a), self.plain(b)))
        };
        let words = |v: Value| {
            let (a, b) = factors(v, BinaryOp::Mul)?;
            Some((self.extended_from(a)?, self.extended_from(b)?))
        };
        let (a, b, is_high) = match *self.def(v) {
            Op::Binary { op: BinaryOp::Mul, .. } => {
                factors(v, BinaryOp::Mul).map(|(a, b)| (a, b, false))?
            }
            Op::Binary { op: BinaryOp::MulHiU, .. } => {
                factors(v, BinaryOp::MulHiU).map(|(a, b)| (a, b, true))?
            }
            Op::Convert { op: ConvertOp::Trunc, to: Type::I32, a } => {
                words(a).map(|(a, b)| (a, b, false))?
            }
            Op::Convert { op: ConvertOp::HighHalf, a, .. } => {
                words(a).map(|(a, b)| (a, b, true))?
            }
            _ => return None,
        };
        (self.ty(v).ty == Type::I32)
            .then(|| if is_high { Word::high(a, b) } else { Word::low(a, b) })
    }

    fn extended_from(&self, v: Value) -> Option<Value> {
        self.zero_extended(v).map(|word| self.plain(word))
    }

    /// Returns the word that `v` is a truncated extension of, else `v` itself.
    fn plain(&self, v: Value) -> Value {
        let v = self.current(v);
        match *self.def(v) {
            Op::Convert { op: ConvertOp::Trunc, to: Type::I32, a } => {
                self.extended_from(self.current(a)).unwrap_or(v)
            }
            _ => v,
        }
    }
}
