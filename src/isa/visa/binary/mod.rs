//! The binary form of vISA, `.isa`, of versions 3.0 to 3.8, 4.0, 4.1 and 4.8. Facts, `visa.md` 2.
//!
//! [`read`] turns a file into a module, [`read_each`] into routines of which some may be
//! unreadable. [`write()`] turns a module into a file. `stream` reads and writes the numbers of the
//! format, `file` and `write_file` the parts around the code, `code` and `operand` instructions.

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

/// The first bytes of a file: `CISA`.
pub const MAGIC: [u8; 4] = *b"CISA";

/// Returns whether the binary form has a version.
pub fn is_known(version: Version) -> bool {
    matches!((version.major, version.minor), (3, 0..=8) | (4, 0 | 1 | 8))
}

/// Returns whether indices of strings and variables are dwords, as since version 3.4.
fn has_wide_indices(version: Version) -> bool {
    version >= Version::new(3, 4)
}
