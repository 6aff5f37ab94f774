//! What the driver tells lifted code about a launch besides the guest's own constant banks: a constant bank that no
//! instruction can name.

/// Constant banks that instructions can name: 0 to this, exclusive.
pub const BANKS: u8 = 18;

/// The bank.
pub const BANK: u8 = 32;

/// Where what is in the bank.
pub mod at {
    /// Guest address of the table of image records ([`crate::ir::image`]), one for each texture header and one of zeros behind
    /// them: 64 bits.
    pub const RECORDS: u32 = 0;
    /// Number of texture headers.
    pub const HEADERS: u32 = 8;
    /// Guest address of the table of sampler records, one for each sampler and one for handles that name none: 64 bits.
    pub const SAMPLERS: u32 = 16;
    pub const SAMPLER_COUNT: u32 = 24;
    /// From here on are the records of the images whose handles are known words of bank 0, in order.
    pub const KNOWN: u32 = crate::ir::image::RECORD_BYTES as u32;
}

/// Bits of a handle that are the index of a texture header; the others are that of a sampler.
pub const HEADER_BITS: u32 = 20;

/// Handles that can be known.
pub const MAX_KNOWN: usize = 256;

/// Byte offsets of what hardware and driver put into constant bank 0.
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
    /// Generic address of constant bank 3: 64 bits.
    pub const CONSTANTS: u32 = 0xd0;
    pub const DYNAMIC_SHARED: u32 = 0xfc;
    /// Where the bank's parameters start at the earliest.
    pub const FIRST_PARAM: u32 = 0x140;
}

/// Whether a word of constant bank 0 is one of the above, of the addresses of tables that `suq` and `txq` read (0xb0 to 0xc7), or a
/// parameter. Of the others it is not known what a driver puts there
/// (or it is nothing that warploom has: the number of the grid, other %envreg); they are 0.
pub const fn has_word(offset: u32) -> bool {
    matches!(offset, 0..0x24 | 0x34..0x3c | 0xb0..0xc8 | 0xd0..0xd8 | 0xfc..0x100 | word::FIRST_PARAM..)
}
