//! The text of vISA, `.visaasm` and `.isaasm`.
//!
//! [`read`] turns a text into a module, [`read_each`] into routines of which some may be
//! unreadable. [`print()`] writes a module as Intel's compiler does.
//!
//! The reader goes line by line. `lines` removes comments and `declare` reads directives.
//! `statement` reads instructions by the items of their row; `operand`, `suffix` and `lsc` read
//! their parts. Facts, `visa.md` 3.

mod cursor;
mod declare;
mod error;
mod lines;
mod lsc;
mod number;
mod operand;
mod print;
mod print_code;
mod print_lsc;
mod reader;
mod statement;
mod suffix;

#[cfg(test)]
mod tests;

pub use error::{ReadError, ReadErrors};
pub use print::print;
pub use print_code::instruction_text;
pub use reader::{Read, Unreadable, read, read_each};
