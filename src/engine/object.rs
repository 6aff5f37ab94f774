//! Machine code of a region before it is placed: a back end makes it, and the cache keeps it.

use serde::{Deserialize, Serialize};

use crate::descriptions::Sites;

/// Unplaced code, with its relocations.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Relocatable {
    pub bytes: Vec<u8>,
    pub alignment: u32,
    pub relocations: Vec<Relocation>,
}

/// Eight bytes of code that will hold an address.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Relocation {
    /// The offset from the start of the code, in bytes.
    pub offset: u32,
    pub to: Referent,
}

/// The target of a relocation, by number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Referent {
    /// The trampoline of a [`Helper`](crate::helpers::Helper).
    Helper(u32),
    /// A table of constants of the back end.
    Table(u32),
    /// A function that the code generator calls in place of a missing instruction.
    LibCall(u32),
}

/// The code of one region.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Object {
    pub code: Relocatable,
    /// Bytes of the register file that the code needs.
    pub register_bytes: u64,
    pub sites: Sites,
}
