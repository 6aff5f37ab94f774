//! What the driver tells lifted code about a launch besides the guest's own constant banks: a constant bank that no
//! instruction can name.

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
