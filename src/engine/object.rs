//! Machine code of a region that is not in its place yet: a back end makes it, the cache keeps it.

use serde::{Deserialize, Serialize};

use crate::descriptions::Sites;

/// Code that is not in its place, with what it refers to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Relocatable {
    pub bytes: Vec<u8>,
    pub alignment: u32,
    pub relocations: Vec<Relocation>,
}

/// Eight bytes of code that are to be an address.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Relocation {
    /// Bytes from the start of the code.
    pub offset: u32,
    pub to: Referent,
}

/// By number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Referent {
    /// The trampoline of a [`Helper`](crate::helpers::Helper).
    Helper(u32),
    /// A table of constants of the back end.
    Table(u32),
    /// A function that the code generator calls for want of an instruction.
    LibCall(u32),
}

/// Code of one region.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Object {
    pub code: Relocatable,
    /// Bytes of the register file that it needs.
    pub register_bytes: u64,
    pub sites: Sites,
}
