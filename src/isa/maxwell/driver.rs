//! Constant banks, and what hardware and driver put there.

/// Constant banks that instructions can name: 0 to this, exclusive. What the driver tells besides is in
/// [`images::driver`](warploom_guest::images::driver).
pub const BANKS: u8 = 18;

/// The constant bank that the compiler fills, for the code alone.
pub const COMPILED: u8 = 2;

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

    /// Of which axis the block's size stands at an offset.
    pub fn axis_of_ntid(offset: u32) -> Option<u8> {
        (0..3).find(|&axis| offset == NTID + 4 * u32::from(axis))
    }
}

/// Whether a word of constant bank 0 is one of the above, of the addresses of tables that `suq` and `txq` read (0xb0 to 0xc7), or a
/// parameter. Of the others it is not known what a driver puts there
/// (or it is nothing that warploom has: the number of the grid, other %envreg); they are 0.
pub(crate) const fn has_word(offset: u32) -> bool {
    matches!(offset, 0..0x24 | 0x34..0x3c | 0xb0..0xc8 | 0xd0..0xd8 | 0xfc..0x100 | word::FIRST_PARAM..)
}
