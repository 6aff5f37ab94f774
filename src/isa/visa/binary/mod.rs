//! The binary form of vISA, `.isa`, of versions 3.0 to 3.8, 4.0, 4.1 and 4.8. Facts, `visa.md` 2.
//!
//! [`read`] makes a module of a file, [`read_each`] routines of which some may be unreadable,
//! [`write()`] a file of a module. `stream` has the numbers of which the format is made, `file` and
//! `write_file` what is around the code, `code` and `operand` instructions.

mod code;
mod error;
mod file;
mod lsc;
mod operand;
mod stream;
mod write_code;
mod write_file;
mod write_lsc;
mod write_operand;

pub use error::BinaryError;
pub use file::{Read, read, read_each};
pub use write_file::{WriteError, write, write_code};

use super::types::Version;

/// What a file begins with: `CISA`.
pub const MAGIC: [u8; 4] = *b"CISA";

/// Whether the binary form has that version.
pub fn is_known(version: Version) -> bool {
    matches!((version.major, version.minor), (3, 0..=8) | (4, 0 | 1 | 8))
}

/// Since version 3.4 indices of strings and variables are dwords.
fn has_wide_indices(version: Version) -> bool {
    version >= Version::new(3, 4)
}
