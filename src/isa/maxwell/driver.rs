//! Constant banks, and the words that hardware and driver put there.

pub use warploom_sass::lift::context::{BANKS, COMPILED};

/// Byte offsets of the words that hardware and driver put into constant bank 0.
pub mod word {
    pub const SHARED_WINDOW: u32 = 0x0;
    pub const LOCAL_WINDOW: u32 = 0x4;
    /// Three words.
    pub const NTID: u32 = 0x8;
    /// Three words.
    pub const NCTAID: u32 = 0x14;
    pub const STACK: u32 = 0x20;
    /// %envreg1 and %envreg2: the address of the grid's workspace, high word first.
    pub const WORKSPACE: u32 = 0x34;
    /// The addresses of the tables that `suq` and `txq` read, of surfaces, textures and samplers: 64
    /// bits each.
    pub const QUERIES: [u32; 3] = [0xc0, 0xb0, 0xb8];
    /// Generic address of constant bank 3: 64 bits.
    pub const CONSTANTS: u32 = 0xd0;
    pub const DYNAMIC_SHARED: u32 = 0xfc;
    /// The lowest offset where the bank's parameters may start.
    pub const FIRST_PARAM: u32 = 0x140;
}

/// Whether warploom fills a word of constant bank 0: a word listed above, an address of the tables
/// that `suq` and `txq` read (0xb0 to 0xc7), or a parameter. All other words are 0: either the
/// driver's content is unknown, or warploom has no such content (the number of the grid, other
/// %envreg).
pub(crate) const fn has_word(offset: u32) -> bool {
    matches!(offset, 0..0x24 | 0x34..0x3c | 0xb0..0xc8 | 0xd0..0xd8 | 0xfc..0x100 | word::FIRST_PARAM..)
}
