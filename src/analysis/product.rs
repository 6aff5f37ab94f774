//! Fuses 32-bit and 64-bit products that 32-bit code computes from 16-bit products.
//!
//! Maxwell has no 32-bit multiplier. Its compilers emit `XMAD`, a product of 16-bit halves plus a
//! word. They compute
//!
//! - the low word of `a * b + c`: `t = lo(a) * lo(b) + c`; `.MRG u = lo(a) * hi(b) | b << 16`;
//!   `.PSL.CBCC (hi(a) * hi(u) << 16) + (t + (u << 16))`; with a `b` of 16 bits
//!   `(hi(a) * b << 16) + t`
//! - the high word of `a * b`: `.CHI x = hi(a) * lo(b) + (lo(a) * lo(b) >> 16)`;
//!   `IADD3.RS (x + lo(a) * hi(b) >> 16) + hi(a) * hi(b)`, where the sum has 33 bits
//! - the high word of a product of signed words, whose high halves are signed: the sum takes `x`
//!   and `lo(a) * hi(b)` as unsigned numbers, so `.CSFU` subtracts 0x10000 from the rest for each
//!   of the two that is negative
//! - a product of 64-bit factors: the low word as above, and the high word of the product of the
//!   low words plus both products of a low and a high word
//!
//! The rules see `XMAD` as it is lifted. A half of a constant is a constant by then.

use warploom_ir::{BinaryOp, ConvertOp, IntCc, Op, Type, UnaryOp, Value, Window};

use super::editor::Editor;

/// The most summands of a product's high word, including their sums.
const MOST_SUMMANDS: usize = 5;

/// A factor of a 16-bit product.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// `v & 0xffff`
    Low(Value),
    /// `v >> 16`
    High(Value),
    /// `v >> 16` with the sign.
    Signed(Value),
    Number(u64),
}

/// A factor of a whole product.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Of(Value),
    Number(u64),
}

impl Part {
    /// Returns the word with these halves.
    fn join(low: Part, high: Part) -> Option<Word> {
        match (low, high) {
            (Part::Low(a), Part::High(b)) if a == b => Some(Word::Of(a)),
            (Part::Number(a @ ..=0xffff), Part::Number(b @ ..=0xffff)) => {
                Some(Word::Number(b << 16 | a))
            }
            _ => None,
        }
    }

    /// Returns the word with these halves, the high one signed.
    fn join_signed(low: Part, high: Part) -> Option<Word> {
        match (low, high) {
            (Part::Low(a), Part::Signed(b)) if a == b => Some(Word::Of(a)),
            (Part::Number(a @ ..=0xffff), Part::Number(b)) if b == b as i16 as u32 as u64 => {
                Some(Word::Number((b << 16 | a) & 0xffff_ffff))
            }
            _ => None,
        }
    }
}

impl Editor {
    /// Fuses a sum `p + q` to the low word of `a * b`, plus a word if there is one. `p` is
    /// `hi(a) * .. << 16`, `q` the rest.
    pub(super) fn fuse_low_word(&mut self, p: Value, q: Value, window: Window) -> Option<Value> {
        let (high_a, y) = self.parts(self.matches_shift(p, 16)?)?;
        let merged = match self.matches_binary(q, BinaryOp::Add) {
            Some((t, shifted)) if self.matches_shift(shifted, 16).is_some() => {
                let u = self.matches_shift(shifted, 16)?;
                (y == Part::High(u))
                    .then(|| self.merged(u))
                    .flatten()
                    .map(|(low_a, b)| (t, low_a, b))
            }
            _ => None,
        };
        // The factor b, the rest, and the low half of a if it is known by now.
        let (t, low_a, b) = match (merged, y) {
            (Some((t, low_a, b)), _) => (t, Some(low_a), b),
            (None, Part::Number(b @ ..=0xffff)) => (q, None, Word::Number(b)),
            _ => return None,
        };
        let (factors, addend) = match self.parts(t).filter(|parts| self.are_low(*parts, b)) {
            Some(factors) => (factors, None),
            None => {
                let (x, addend) = self.matches_binary(t, BinaryOp::Add)?;
                (self.parts(x).filter(|parts| self.are_low(*parts, b))?, Some(addend))
            }
        };
        let a = Part::join(factors.0, high_a)?;
        if low_a.is_some_and(|low_a| low_a != factors.0) {
            return None;
        }
        let (a, b) = (self.word(a), self.word(b));
        let full = self.binary(BinaryOp::Mul, a, b, window);
        Some(match addend {
            Some(c) => self.binary(BinaryOp::Add, full, c, window),
            None => full,
        })
    }

    /// Returns whether the second of two factors is the low half of `b`.
    fn are_low(&self, (_, second): (Part, Part), b: Word) -> bool {
        match b {
            Word::Of(b) => second == Part::Low(b),
            Word::Number(n) => second == Part::Number(n & 0xffff),
        }
    }

    /// Returns `lo(a)` and `b` of `(lo(a) * hi(b) & 0xffff) | b << 16`.
    fn merged(&self, u: Value) -> Option<(Part, Word)> {
        let (product, shifted) = self.matches_binary(u, BinaryOp::Or)?;
        let Part::Low(product) = self.part(product)? else { return None };
        let (low_a, high_b) = self.parts(product)?;
        let low_b = match self.constant(shifted) {
            Some(shifted) => Part::Number(shifted >> 16),
            None => Part::Low(self.matches_shift(shifted, 16)?),
        };
        Some((low_a, Part::join(low_b, high_b)?))
    }

    /// Fuses a sum `p + q` to the high word of `a * b`, plus a word if there is one. `p` is
    /// `x + lo(a) * hi(b) >> 16`, `q` is `hi(a) * hi(b)`.
    pub(super) fn fuse_high_word(&mut self, p: Value, q: Value, window: Window) -> Option<Value> {
        let (low, carry) = self.matches_binary(p, BinaryOp::Or)?;
        let Op::Select { mask, a: top, b: none } = *self.def(carry) else { return None };
        let Part::High(sum) = self.part(low)? else { return None };
        let (at, 0) = self.def_at(sum) else { return None };
        let Op::AddCarry { a: x, b: low_high, carry: None } = self.insts[at].op else {
            return None;
        };
        if self.def_at(mask) != (at, 1)
            || self.constant(top) != Some(0x10000)
            || self.constant(none) != Some(0)
        {
            return None;
        }
        let (high_low, low_low) = self.matches_binary(x, BinaryOp::Add)?;
        let Part::High(low_low) = self.part(low_low)? else { return None };
        let products = [low_low, high_low, low_high].map(|v| self.parts(v));
        let [Some((low_a, low_b)), Some((high_a, again_b)), Some((again_a, high_b))] = products
        else {
            return None;
        };
        if again_a != low_a || again_b != low_b {
            return None;
        }
        let is_upper = |editor: &Editor, v: Value| editor.parts(v) == Some((high_a, high_b));
        // The sum of the last product may include the word that the compiler adds to the high word.
        let unsigned = match self.matches_binary(q, BinaryOp::Add) {
            _ if is_upper(self, q) => Some(None),
            Some((product, c)) if is_upper(self, product) => Some(Some(c)),
            _ => None,
        };
        let words = Part::join(low_a, high_a).zip(Part::join(low_b, high_b));
        let (extend, (a, b), addend) = if let (Some(addend), Some(words)) = (unsigned, words) {
            (ConvertOp::ZeroExtend, words, addend)
        } else {
            let (high_high, rest) = self.matches_binary(q, BinaryOp::Add)?;
            let (rest, second) = self.matches_binary(rest, BinaryOp::Sub)?;
            let (addend, first) = self.matches_binary(rest, BinaryOp::Sub)?;
            if self.parts(high_high) != Some((high_a, high_b))
                || !self.is_correction(first, high_a, low_b)
                || !self.is_correction(second, high_b, low_a)
            {
                return None;
            }
            let words = (Part::join_signed(low_a, high_a)?, Part::join_signed(low_b, high_b)?);
            (ConvertOp::SignExtend, words, Some(addend))
        };
        let (a, b) = (self.word(a), self.word(b));
        let wide = [a, b].map(|v| self.convert(extend, Type::I64, v, window));
        let product = self.binary(BinaryOp::Mul, wide[0], wide[1], window);
        let high = self.high_word(product, (a, b), window);
        Some(match addend {
            Some(c) => self.binary(BinaryOp::Add, high, c, window),
            None => high,
        })
    }

    /// Returns whether a value is 0x10000 where `high` is negative and `low` is not 0, and 0
    /// elsewhere.
    fn is_correction(&self, v: Value, high: Part, low: Part) -> bool {
        let compares = |mask: Value, wanted: IntCc, part: Part| match *self.def(mask) {
            Op::ICmp { cc, a, b } => {
                cc == wanted && self.constant(b) == Some(0) && self.part(a) == Some(part)
            }
            _ => false,
        };
        let Op::Select { mask, a: top, b: none } = *self.def(v) else { return false };
        let Some((negative, there)) = self.matches_binary(mask, BinaryOp::And) else {
            return false;
        };
        let Op::Unary { op: UnaryOp::Not, a: empty } = *self.def(there) else { return false };
        self.constant(top) == Some(0x10000)
            && self.constant(none) == Some(0)
            && compares(negative, IntCc::LtS, high)
            && compares(empty, IntCc::Eq, low)
    }

    /// Fuses a sum `m + high` to the high word of a 64-bit product with raised factors.
    ///
    /// `high` is the high word of a 64-bit product. `m` is a product of words, or a sum of two
    /// products, that supplies the high word of a factor.
    pub(super) fn fuse_cross(&mut self, m: Value, high: Value, window: Window) -> Option<Value> {
        if let Some((x, y)) = self.matches_binary(m, BinaryOp::Mul) {
            let Op::Convert { op: ConvertOp::HighHalf, a: product, .. } = *self.def(high) else {
                return None;
            };
            let (p, q) = self.matches_binary(product, BinaryOp::Mul)?;
            for (p, q) in [(p, q), (q, p)] {
                let (Some(low), Some(b)) = (self.low_word(p), self.extended(q)) else { continue };
                let other = if self.same(low, x) {
                    y
                } else if self.same(low, y) {
                    x
                } else {
                    continue;
                };
                let raised = self.concat(b, other, window);
                let old = self.convert(ConvertOp::Trunc, Type::I32, product, window);
                let product = self.binary(BinaryOp::Mul, p, raised, window);
                let new = self.convert(ConvertOp::Trunc, Type::I32, product, window);
                self.replace(old, new);
                return Some(self.high_word(product, (low, b), window));
            }
            return None;
        }
        let (first, second) = self.matches_binary(m, BinaryOp::Add)?;
        self.matches_binary(first, BinaryOp::Mul)?;
        let once = self.fuse_cross(second, high, window)?;
        self.fuse_cross(first, once, window)
    }

    /// Fuses two words to a product of 64-bit numbers.
    ///
    /// `lo` is the product of two words. `hi` is the high word of that product, plus products of
    /// one of these words and a word that raises the other.
    pub(super) fn fuse_whole_product(
        &mut self,
        lo: Value,
        hi: Value,
        window: Window,
    ) -> Option<Value> {
        let (a, b) = self.matches_binary(lo, BinaryOp::Mul)?;
        let (mut raised, mut whole) = ([None; 2], false);
        let mut terms = smallvec::SmallVec::<[Value; 4]>::from_slice(&[hi]);
        for _ in 0..MOST_SUMMANDS {
            let Some(term) = terms.pop() else { break };
            match *self.def(term) {
                Op::Binary { op: BinaryOp::Add, a, b } => terms.extend([a, b]),
                Op::Binary { op: BinaryOp::MulHiU, a: x, b: y } if !whole => {
                    whole =
                        self.same(x, a) && self.same(y, b) || self.same(x, b) && self.same(y, a);
                    whole.then_some(())?;
                }
                Op::Binary { op: BinaryOp::Mul, a: x, b: y } => {
                    // A word that raises a factor is multiplied with the other factor.
                    let found = [(x, y), (y, x)].into_iter().find_map(|(with, word)| {
                        let factor = [b, a].into_iter().position(|other| self.same(with, other));
                        factor
                            .filter(|&factor| raised[factor].is_none())
                            .map(|factor| (factor, word))
                    });
                    let (factor, word) = found.or_else(|| {
                        let square = self.same(a, b) && raised[1].is_none();
                        let word = if self.same(x, a) { y } else { x };
                        (square && (self.same(x, a) || self.same(y, a))).then_some((1, word))
                    })?;
                    raised[factor] = Some(word);
                }
                _ => return None,
            }
        }
        if !whole || !terms.is_empty() {
            return None;
        }
        let mut wide = |low: Value, high: Option<Value>| match high {
            Some(high) => self.concat(low, high, window),
            None => self.convert(ConvertOp::ZeroExtend, Type::I64, low, window),
        };
        let (a, b) = (wide(a, raised[0]), wide(b, raised[1]));
        Some(self.binary(BinaryOp::Mul, a, b, window))
    }

    /// Emits the high word of a 64-bit product. Uses of the product of the `factors`, which is the
    /// low word, then use the low word of `product`.
    fn high_word(&mut self, product: Value, (a, b): (Value, Value), window: Window) -> Value {
        let low = self.convert(ConvertOp::Trunc, Type::I32, product, window);
        for (a, b) in [(a, b), (b, a)] {
            if let Some(known) = self.find(&Op::Binary { op: BinaryOp::Mul, a, b }, window)
                && self.ty(known) == self.ty(low)
            {
                self.replace(known, low);
            }
        }
        self.convert(ConvertOp::HighHalf, Type::I32, product, window)
    }

    /// Returns the low word of a 64-bit value, if there is a value for it.
    pub(super) fn low_word(&mut self, v: Value) -> Option<Value> {
        if let Some(bits) = self.constant(v) {
            return Some(self.iconst(Type::I32, bits));
        }
        match *self.def(v) {
            Op::Concat { lo, .. } => Some(lo),
            _ => self.zero_extended(v).or_else(|| self.low_words.get(&v).copied()),
        }
    }

    /// Returns the word whose zero extension a 64-bit value is.
    fn extended(&mut self, v: Value) -> Option<Value> {
        if let Some(bits) = self.constant(v) {
            return (bits >> 32 == 0).then(|| self.iconst(Type::I32, bits));
        }
        self.zero_extended(v)
    }

    /// Returns the word whose zero extension a 64-bit value is, unless the value is a constant.
    pub(super) fn zero_extended(&self, v: Value) -> Option<Value> {
        match *self.def(v) {
            Op::Convert { op: ConvertOp::ZeroExtend, a, .. } if self.ty(a).ty == Type::I32 => {
                Some(a)
            }
            _ => None,
        }
    }

    fn same(&self, a: Value, b: Value) -> bool {
        let constant = self.constant(a);
        self.current(a) == self.current(b) || (constant.is_some() && constant == self.constant(b))
    }

    fn word(&mut self, word: Word) -> Value {
        match word {
            Word::Of(v) => v,
            Word::Number(n) => self.iconst(Type::I32, n),
        }
    }

    /// Returns the factors of a product. The second factor is 1 if `v` is no product.
    fn parts(&self, v: Value) -> Option<(Part, Part)> {
        match self.matches_binary(v, BinaryOp::Mul) {
            Some((x, y)) => Some((self.part(x)?, self.part(y)?)),
            None => Some((self.part(v)?, Part::Number(1))),
        }
    }

    fn part(&self, v: Value) -> Option<Part> {
        match *self.def(v) {
            Op::Binary { op: BinaryOp::And, a, b } if self.constant(b) == Some(0xffff) => {
                Some(Part::Low(self.current(a)))
            }
            Op::Binary { op: BinaryOp::ShrU, a, b } if self.constant(b) == Some(16) => {
                Some(Part::High(self.current(a)))
            }
            Op::Binary { op: BinaryOp::ShrS, a, b } if self.constant(b) == Some(16) => {
                Some(Part::Signed(self.current(a)))
            }
            _ => self.constant(v).map(Part::Number),
        }
    }

    pub(super) fn matches_binary(&self, v: Value, wanted: BinaryOp) -> Option<(Value, Value)> {
        match *self.def(v) {
            Op::Binary { op, a, b } if op == wanted => Some((a, b)),
            _ => None,
        }
    }

    fn matches_shift(&self, v: Value, count: u64) -> Option<Value> {
        let (a, b) = self.matches_binary(v, BinaryOp::Shl)?;
        (self.constant(b) == Some(count)).then_some(a)
    }
}
