//! The intermediate representation: each operation acts on a whole warp.
//!
//! `types`, `register`, `op` and `function` are the data; `builder` makes it, `verify` checks it,
//! `print` and `parse` are its text form. The documentation of [`op::Op`] defines every operation;
//! the interpreter is the reference execution. This crate knows no instruction set and no engine.

pub mod builder;
pub mod division;
pub mod elementary;
pub mod eval;
pub mod function;
pub mod image;
pub mod layout;
pub mod matrix;
pub mod names;
pub mod observe;
pub mod op;
pub mod operands;
pub mod parse;
pub mod print;
pub mod register;
pub mod shared;
pub mod special;
pub mod texel;
pub mod types;
pub mod typing;
pub mod verify;
#[cfg(test)]
mod verify_tests;

pub use builder::{BlockBuilder, BuildError, FunctionBuilder};
pub use function::{
    Barrier, BarrierCounts, BarrierKind, Block, BlockId, Defs, Function, Inst, LaneEvent,
    NanPolicy, Service, Terminator, TrapKind, Value, Values, defs, entry_mask, exit_mask,
    may_write, numbered, table,
};
pub use layout::RegLayout;
pub use op::*;
pub use register::{Bank, BankId, CellKind, Part, Reg, Region};
pub use types::{Shape, Type, ValueType, Window};
pub use typing::{TypeError, op_types};
