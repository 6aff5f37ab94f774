//! Sums and comparisons of signed with unsigned 64-bit integers. They use 128 bits, so results are
//! exact. Facts, `visa-semantics.md` 2.

use warploom_ir::{IntCc, Type, Value};

use super::operand::{Source, is_signed};
use super::storage::int_type;
use super::{Cx, Unsupported};
use crate::types::Ty;

/// A number in two parts, `i64` each; the upper part has the sign.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    low: Value,
    high: Value,
}

impl Cx<'_> {
    pub fn long(&mut self, source: Source) -> Long {
        let (least, most) = source.range();
        let low = self.integer(source, Type::I64);
        let high = if least < 0 && most <= i64::MAX.into() {
            self.sign(low)
        } else {
            self.constant(Type::I64, 0)
        };
        Long { low, high }
    }

    /// Returns all ones if a value is negative, else 0.
    fn sign(&mut self, value: Value) -> Value {
        let last = self.constant(Type::I64, 63);
        self.b.shr_s(value, last)
    }

    pub fn long_sum(&mut self, a: Long, b: Long) -> Long {
        let low = self.b.add(a.low, b.low);
        let carry = self.b.icmp(IntCc::LtU, low, a.low);
        let (one, zero) = (self.constant(Type::I64, 1), self.constant(Type::I64, 0));
        let carry = self.pick(carry, one, zero);
        let high = self.b.add(a.high, b.high);
        Long { low, high: self.b.add(high, carry) }
    }

    pub fn long_less(&mut self, a: Long, b: Long) -> Value {
        let (above, same) =
            (self.b.icmp(IntCc::LtS, a.high, b.high), self.b.icmp(IntCc::Eq, a.high, b.high));
        let below = self.b.icmp(IntCc::LtU, a.low, b.low);
        let below = self.b.and(same, below);
        self.b.or(above, below)
    }

    pub fn long_equal(&mut self, a: Long, b: Long) -> Value {
        let (high, low) =
            (self.b.icmp(IntCc::Eq, a.high, b.high), self.b.icmp(IntCc::Eq, a.low, b.low));
        self.b.and(high, low)
    }

    pub fn long_pick(&mut self, mask: Value, a: Long, b: Long) -> Long {
        Long { low: self.pick(mask, a.low, b.low), high: self.pick(mask, a.high, b.high) }
    }

    /// Returns a destination's integer: the low bits of a number, or the nearest number of the
    /// type.
    pub fn long_to(&mut self, number: Long, to: Ty, saturate: bool) -> Result<Value, Unsupported> {
        if !saturate {
            return self.integer_to(number.low, true, to, false);
        }
        let signed = is_signed(to);
        let (fits, limit) = if signed {
            let sign = self.sign(number.low);
            let most = self.constant(Type::I64, i64::MAX as u64);
            let of_all = self.sign(number.high);
            (self.b.icmp(IntCc::Eq, number.high, sign), self.b.xor(of_all, most))
        } else {
            let zero = self.constant(Type::I64, 0);
            let of_all = self.sign(number.high);
            (self.b.icmp(IntCc::Eq, number.high, zero), self.b.not(of_all))
        };
        let nearest = self.pick(fits, number.low, limit);
        let nearest = self.clamped(nearest, signed, to);
        Ok(self.resize(nearest, int_type(to.size()), signed))
    }
}
