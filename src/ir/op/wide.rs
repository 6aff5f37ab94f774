//! Memory operations on more bytes than an element has.

use super::super::types::Type;
use super::AtomicOp;

/// An operation that the lanes of the execution mask perform one by one, in ascending order. A
/// lane's operation happens whole or, with a fault of the first byte that may not be touched, not
/// at all. An access of local and constant memory is the fault *invalid address space*. No wide
/// operation orders other operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WideOp {
    /// `to`, `from`, `bytes`. All are multiples of 16, else the fault is *misaligned*. If the
    /// ranges overlap, the copy acts as if all data was read first, up to [`WideOp::BUFFER`] bytes
    /// at a time.
    Copy,
    /// `to`, `bytes`: sets bytes to 0. Both are multiples of 16.
    Zero,
    /// `to`, `from`, `bytes`, as in a copy: a separate atomic on each element of `to`, with the
    /// element of `from` as operand.
    Reduce { op: AtomicOp, ty: Type },
    /// `address`, `low`, `high`: stores the halves of 128 bits, and returns the old halves. The
    /// address is a multiple of 16. Exchanges are atomic among themselves.
    Exchange,
    /// `address`, `low`, `high`, and the halves that memory must contain for the store to happen.
    CompareExchange,
}

impl WideOp {
    /// The bytes that are moved at once.
    pub const BUFFER: usize = 4096;

    /// The number of operands.
    pub fn operands(self) -> usize {
        match self {
            WideOp::Zero => 2,
            WideOp::Copy | WideOp::Reduce { .. } | WideOp::Exchange => 3,
            WideOp::CompareExchange => 5,
        }
    }

    /// The number of results.
    pub fn results(self) -> usize {
        match self {
            WideOp::Copy | WideOp::Zero | WideOp::Reduce { .. } => 0,
            WideOp::Exchange | WideOp::CompareExchange => 2,
        }
    }

    /// Returns whether the types agree.
    pub fn is_valid(self) -> bool {
        match self {
            WideOp::Reduce { op, ty } => ty.bits() >= 16 && op.takes(ty) && !op.has_compare(),
            _ => true,
        }
    }
}
