//! The upper half of a product of 64-bit numbers, which 32-bit code sums up of products of words.
//!
//! With `a = a0 + 2^32 a1` and `b` likewise, the product is `a0 b0 + 2^32 (a0 b1 + a1 b0) + 2^64 a1 b1`. Compilers add the words of the four
//! products in columns, in many orders, with carries from one column to the next. So no order is looked for: the pair that may be the
//! upper half is written as a sum, exactly. A sum of words `x + y + c` is its low word plus 2^32 times its carry. Where both go on, at
//! 2^32 of one another, all of the sum does. Where the carry alone goes on, the sum does less the low word, which is cut. Where the low word
//! alone goes on, nothing may be carried, or only past 2^128, where it does not matter.
//!
//! If the words of products that are left are those of `a b` but for the low word of `a0 b0`, that and what was cut are the rest of a
//! division of `a b` by 2^64, as long as they are less than that. A pair that is added to the upper half, as in steps of Newton's for a
//! reciprocal, may be among the words: what is carried past 2^128 does not matter then either.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use smallvec::SmallVec;
use warploom_ir::{BinaryOp, ConvertOp, Inst, Op, Type, Value, Window};

use super::editor::Editor;

/// Sums of a pair at most.
const MOST_SUMS: usize = 16;
/// 2^32
const WORD: i128 = 1 << 32;

/// A word of the product of two words, of which the factors are in order.
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

/// What is left of a pair: words of products and how often they count, in units of 2^-64 of the pair's.
#[derive(Default)]
struct Sum {
    words: BTreeMap<Word, i128>,
    /// Words that are of no product, in the place of the pair's low and its high one.
    added: [Option<Value>; 2],
    /// Sums that are to be written out, by their place: how often the low word and the carry count.
    open: BTreeMap<usize, [i128; 2]>,
    /// How often words were cut that the sum has too much.
    cut: i128,
}

/// The upper half of a product of two pairs of words, and a pair that is added to it.
struct High {
    factors: [(Value, Value); 2],
    added: Option<(Value, Value)>,
}

impl Editor {
    /// If the sum at `upper`, and that of which it takes the carry, are the upper half of a product: has them be that.
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
        // The compiler may have taken the low word up before the high one was there.
        self.renew_users(lower + 1..upper);
        Some(())
    }

    /// Computes once more, now of the values that are to be used by now, what was computed of those which these replace.
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

    /// The words of the factors, of whose product the pair is the upper half, and those of what is added to it.
    fn high_of(&self, lo: Value, hi: Value, window: Window) -> Option<High> {
        let mut sum = Sum::default();
        self.put(&mut sum, lo, WORD * WORD)?;
        self.put(&mut sum, hi, WORD * WORD * WORD)?;
        for _ in 0..MOST_SUMS {
            let Some((at, counts)) = sum.open.pop_last() else { break };
            self.write_out(&mut sum, at, counts, window)?;
        }
        // With the low word of the low product, what was cut is at most (2^32 + 1) (2^32 - 1).
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

    /// Puts the summands of a sum in place of its low word and its carry.
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
        // No upper word of a product is all ones.
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

    /// A word as it was before it was extended.
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
