//! Recognises the words of 64-bit quotients and rests that compilers correct word by word.

use smallvec::SmallVec;
use warploom_ir::{BinaryOp, ConvertOp, Op, Type, UnaryOp, Value};

use super::{Half, Quotient};
use crate::editor::Editor;

/// An upper word as a sum: words with the number of times that each word counts, and a number.
#[derive(Default, PartialEq)]
struct Linear {
    words: Vec<(Value, i32)>,
    number: u32,
}

impl Linear {
    fn add(&mut self, word: Value, times: i32) {
        match self.words.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += times,
            None => self.words.push((word, times)),
        }
        self.words.retain(|&(_, count)| count != 0);
    }

    fn sorted(mut self) -> Linear {
        self.words.sort_unstable();
        self
    }
}

impl Editor {
    pub(super) fn is_half(&self, v: Value, half: Half, of: Value) -> bool {
        match *self.def(v) {
            Op::Convert { op, a, .. } if op == half.of() => a == of,
            _ => half == Half::Low && self.low_words.get(&of) == Some(&v),
        }
    }

    /// Returns whether a word is `number` more than `of`.
    pub(super) fn is_more(&self, v: Value, of: Value, number: u64) -> bool {
        self.raised_from(v, number).contains(&of)
    }

    /// Returns the words to which `number` is added to make a word.
    fn raised_from(&self, v: Value, number: u64) -> SmallVec<[Value; 2]> {
        let (at, 0) = self.def_at(v) else { return SmallVec::new() };
        let (Op::AddCarry { a, b, carry: None } | Op::Binary { op: BinaryOp::Add, a, b }) =
            self.insts[at].op
        else {
            return SmallVec::new();
        };
        let is_number = |v: Value| self.constant(v) == Some(number);
        [(a, b), (b, a)]
            .into_iter()
            .filter(|&(_, more)| is_number(more))
            .map(|(of, _)| of)
            .collect()
    }

    /// Returns whether a word is a half of `q + number`.
    pub(super) fn is_raised(&self, v: Value, half: Half, q: Value, number: u64) -> bool {
        if let Op::Convert { op, a, .. } = *self.def(v) {
            let sum = self.matches_binary(a, BinaryOp::Add);
            return op == half.of()
                && sum.is_some_and(|(x, y)| x == q && self.constant(y) == Some(number));
        }
        if half == Half::Low {
            return self
                .raised_from(v, number)
                .into_iter()
                .any(|of| self.is_half(of, Half::Low, q));
        }
        let Some(sum) = self.linear(v) else { return false };
        let [(p, 1), (c, 1)] = sum.words[..] else { return false };
        [(p, c), (c, p)].iter().any(|&(word, carry)| {
            let (at, result) = self.def_at(carry);
            let raised =
                result == 1 && self.is_raised(self.insts[at].results[0], Half::Low, q, number);
            sum.number == 0 && self.is_half(word, Half::High, q) && raised
        })
    }

    /// Returns whether a word is a half of the rest minus `times` y, computed by words.
    pub(super) fn is_lowered(&self, v: Value, half: Half, first: &Quotient, times: u32) -> bool {
        let lowered = || {
            let carry = |low: Value| {
                self.insts[self.def_at(low).0].results.get(1).map(|&carry| self.current(carry))
            };
            let mut low = self.low_words.get(&first.rest).copied()?;
            let mut carries = vec![carry(low)?];
            for _ in 0..times {
                low = self.less_word(low, first.y)?;
                carries.push(carry(low)?);
            }
            if half == Half::Low {
                return Some(v == low);
            }
            let (_, product) = self.matches_binary(first.rest, BinaryOp::Sub)?;
            let mut wanted = Linear { number: (times + 1).wrapping_neg(), ..Linear::default() };
            for (of, count) in [(first.n, 1), (product, -1), (first.y, -(times as i32))] {
                if let Some(word) = self.upper_word(of)? {
                    wanted.add(word, count);
                }
            }
            carries.into_iter().for_each(|carry| wanted.add(carry, 1));
            Some(self.linear(v)?.sorted() == wanted.sorted())
        };
        lowered() == Some(true)
    }

    /// Returns the upper word of a pair, if there is a value for it. The inner option is none if
    /// the word is 0.
    fn upper_word(&self, v: Value) -> Option<Option<Value>> {
        let window = self.insts[self.def_at(v).0].window;
        match *self.def(v) {
            Op::Concat { hi, .. } => Some(Some(self.current(hi))),
            Op::Convert { op: ConvertOp::ZeroExtend, .. } => Some(None),
            _ => self
                .find(&Op::Convert { op: ConvertOp::HighHalf, to: Type::I32, a: v }, window)
                .map(Some),
        }
    }

    /// Returns the existing value of a low word minus the low word of y, by a sum that also gives a
    /// carry.
    pub(super) fn less_word(&self, low: Value, y: Value) -> Option<Value> {
        let y_lo = match *self.def(y) {
            Op::Concat { lo, .. } | Op::Convert { op: ConvertOp::ZeroExtend, a: lo, .. } => lo,
            _ => return None,
        };
        let window = self.insts[self.def_at(y).0].window;
        let inverted = self.find(&Op::Unary { op: UnaryOp::Not, a: y_lo }, window)?;
        let all = self.window();
        let all = self.find(&Op::Const { ty: Type::Mask, bits: all.mask() }, all)?;
        self.find(&Op::AddCarry { a: low, b: inverted, carry: Some(all) }, window)
    }

    /// Returns an upper word, whose carry out nobody takes, as a sum of words and carries.
    fn linear(&self, v: Value) -> Option<Linear> {
        const MOST: u32 = 16;
        let (mut sum, mut open) = (Linear::default(), vec![(v, 1)]);
        for _ in 0..MOST {
            let Some((v, times)) = open.pop() else { return Some(sum) };
            let v = self.current(v);
            if let Some(bits) = self.constant(v) {
                sum.number = sum.number.wrapping_add((bits as u32).wrapping_mul(times as u32));
                continue;
            }
            match (self.def(v), self.def_at(v).1) {
                (&Op::AddCarry { a, b, carry: Some(carry) }, 0) => {
                    open.extend([(a, times), (b, times)]);
                    sum.add(self.current(carry), times);
                }
                (&Op::AddCarry { a, b, carry: None }, 0) => open.extend([(a, times), (b, times)]),
                (&Op::Binary { op: BinaryOp::Add, a, b }, _) => {
                    open.extend([(a, times), (b, times)])
                }
                (&Op::Binary { op: BinaryOp::Sub, a, b }, _) => {
                    open.extend([(a, times), (b, -times)])
                }
                (&Op::Unary { op: UnaryOp::Not, a }, _) => {
                    sum.number = sum.number.wrapping_sub(times as u32);
                    open.push((a, -times));
                }
                _ => sum.add(v, times),
            }
        }
        None
    }
}
