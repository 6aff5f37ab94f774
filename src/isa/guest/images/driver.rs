//! The information of NVIDIA's driver for lifted code about the images of a launch: a constant bank
//! that no instruction can name.

/// The number of the bank.
pub const BANK: u8 = 32;

/// Offsets in the bank.
pub mod at {
    /// Guest address of the table of image records ([`warploom_ir::image`]), 64 bits. The table has
    /// a record for each texture header, then a record of zeros.
    pub const RECORDS: u32 = 0;
    /// Number of texture headers.
    pub const HEADERS: u32 = 8;
    /// Guest address of the table of sampler records, 64 bits. The table has a record for each
    /// sampler, then one for handles that name no sampler.
    pub const SAMPLERS: u32 = 16;
    pub const SAMPLER_COUNT: u32 = 24;
    /// Guest addresses, 64 bits each, of the tables that queries read: of surfaces, textures and
    /// samplers. An entry of zeros ends each table.
    pub const QUERIES: [u32; 3] = [32, 40, 48];
    /// The records of the images with known handles begin here, in order.
    pub const KNOWN: u32 = warploom_ir::image::RECORD_BYTES as u32;
}

/// The number of low handle bits that index a texture header; the bits above index a sampler.
pub const HEADER_BITS: u32 = 20;

/// The most handles that can be known.
pub const MAX_KNOWN: usize = 256;

/// The distance in bytes between entries of the tables that queries read.
pub const QUERY_BYTES: usize = 64;

/// Offsets in an entry of a query table. Source: facts, `maxwell-surfaces.md`, section 6, item 3.
pub mod query {
    pub mod surface {
        pub const DATA_TYPE: u32 = 0xc;
        pub const ORDER: u32 = 0x10;
        pub const LINEAR: u32 = 0x14;
        pub const LAYERS: u32 = 0x1c;
    }

    /// Offsets for a texture that brings its sampler along. Its texture words begin at
    /// [`sampled::TEXTURE`].
    pub mod sampled {
        pub const UNNORMALIZED: u32 = 0;
        /// Three words.
        pub const ADDRESS: u32 = 0xc;
        pub const FILTER: u32 = 0x18;
        pub const TEXTURE: u32 = 0x1c;
    }

    /// Where the words that [`texture`] numbers begin in a texture without a sampler.
    pub const TEXTURE: u32 = 0xc;

    /// Byte offsets of a texture's properties from the start of its texture words.
    pub mod texture {
        pub const NORMALIZED: u32 = 0;
        pub const DATA_TYPE: u32 = 4;
        pub const ORDER: u32 = 8;
        pub const LAYERS: u32 = 12;
        pub const LEVELS: u32 = 16;
        pub const SAMPLES: u32 = 20;
    }

    pub mod sampler {
        /// Three words.
        pub const ADDRESS: u32 = 0;
        pub const FILTER: u32 = 0xc;
        pub const UNNORMALIZED: u32 = 0x10;
    }
}
