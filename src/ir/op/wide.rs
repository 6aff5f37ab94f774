//! Memory operations on more bytes than an element has.

use super::super::types::Type;
use super::AtomicOp;

/// An operation that lanes of the execution mask do one after the other, in ascending order: each whole or, with a fault of the first
/// byte that may not be touched, not at all. Local and constant memory cannot be touched; to do so is the fault *invalid address
/// space*. None orders other operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WideOp {
    /// `to`, `from`, `bytes`. All are multiples of 16, else the fault is *misaligned*. If both overlap, it is as if all was read first,
    /// up to [`WideOp::BUFFER`] bytes at a time.
    Copy,
    /// `to`, `bytes`: sets bytes to 0. Both are multiples of 16.
    Zero,
    /// `to`, `from`, `bytes`, as in a copy: an atomic of its own on each element of `to`, with the element of `from` as operand.
    Reduce { op: AtomicOp, ty: Type },
    /// `address`, `low`, `high`: stores the halves of 128 bits, and gives what was there. The address is a multiple of 16. Such
    /// operations are atomic among themselves.
    Exchange,
    /// `address`, `low`, `high`, and the halves of what must be there for them to be stored.
    CompareExchange,
}

impl WideOp {
    /// Bytes that are moved at once.
    pub const BUFFER: usize = 4096;

    /// How many operands it has.
    pub fn operands(self) -> usize {
        match self {
            WideOp::Zero => 2,
            WideOp::Copy | WideOp::Reduce { .. } | WideOp::Exchange => 3,
            WideOp::CompareExchange => 5,
        }
    }

    /// How many results it has.
    pub fn results(self) -> usize {
        match self {
            WideOp::Copy | WideOp::Zero | WideOp::Reduce { .. } => 0,
            WideOp::Exchange | WideOp::CompareExchange => 2,
        }
    }

    /// Whether its types agree.
    pub fn is_valid(self) -> bool {
        match self {
            WideOp::Reduce { op, ty } => ty.bits() >= 16 && op.takes(ty) && !op.has_compare(),
            _ => true,
        }
    }
}
