//! Constant bank 0: the words that hardware and driver put there.
//!
//! Source: code of ptxas (`docs/facts/sass.md`, "Launch").

use warploom_sass::Reg;

/// The pair from which a stand-in of a driver's function takes the address to return to.
pub const RETURN_ADDRESS: Reg = Reg(20);

/// The bytes of a block's shared memory that are the system's, in kernels that name them. They are
/// behind the block's own.
pub const RESERVED_SHARED: u32 = 1 << 10;

/// Byte offsets of words in constant bank 0.
pub mod word {
    /// Three words.
    pub const NTID: u32 = 0x0;
    /// Three words.
    pub const NCTAID: u32 = 0xc;
    /// The bases of the shared window and of the local window: 64 bits each.
    pub const SHARED_WINDOW: u32 = 0x18;
    pub const LOCAL_WINDOW: u32 = 0x20;
    pub const STACK: u32 = 0x28;
    pub const DYNAMIC_SHARED: u32 = 0x2c;
    /// Generic address of constant bank 3: 64 bits.
    pub const CONSTANTS: u32 = 0x50;
    /// The addresses of the tables that `suq` and `txq` read, of surfaces, textures and samplers: 64
    /// bits each.
    pub const QUERIES: [u32; 3] = [0x80, 0x70, 0x78];
    /// %envreg1 and %envreg2: the address of the grid's workspace, high word first.
    pub const WORKSPACE: u32 = 0x8c;
    /// The number of multiprocessors.
    pub const MULTIPROCESSORS: u32 = 0x10c;
    /// From sm_80 on: the bytes of shared memory that are the system's, the offset of their end, and
    /// the second offset (`%reserved_smem_offset_1`). SR_SMEMSZ counts these bytes.
    pub const RESERVED_BYTES: u32 = 0x114;
    pub const RESERVED_END: u32 = 0x120;
    pub const RESERVED_SECOND: u32 = 0x124;
    /// The descriptor of global memory: 64 bits.
    pub const DESCRIPTOR: u32 = 0x118;
    /// The lowest offset where the bank's parameters may start.
    pub const FIRST_PARAM: u32 = 0x160;
}
